/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Multipart bodies: lines of the input are names, values and a file in turn. As long as the boundary is apart from all
 * of them, a reader gets them back as they went in, but for what names may not hold.
 */
#include "http/form.h"
#include "modality/multipart.h"

#include <stdlib.h>
#include <string.h>

#define FIELDS 6

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
    if (!holds)
        abort();
}

/* The next line, as a NUL-terminated copy of at most 100 bytes in `ret`. */
static void take_name(const char **at, const char *end, char ret[101])
{
    const char *stop = memchr(*at, '\n', (size_t)(end - *at));
    size_t len = (size_t)((stop ? stop : end) - *at);
    size_t kept = len < 100 ? len : 100;
    memcpy(ret, *at, kept);
    ret[kept] = '\0';
    *at = stop ? stop + 1 : end;
}

static bool is_plain(const char *name)
{
    for (; *name; name++)
        if ((unsigned char)*name < 0x20 || *name == 0x7f || *name == '"')
            return false;
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *at = (const char *)data, *end = at + size;
    char names[FIELDS][101], boundary[MULTIPART_BOUNDARY_BYTES], file_name[101];
    struct http_text values[FIELDS];
    struct http_form form;
    AS_AUTO_STRBUF struct strbuf out;
    size_t count = 0;
    bool is_readable = true;
    strbuf_init(&out, 0);
    multipart_boundary(size, size ? data[0] : 0, boundary);
    if (!multipart_is_apart(boundary, data, size))
        return 0;
    take_name(&at, end, file_name);
    for (; count < FIELDS && at < end; count++) {
        take_name(&at, end, names[count]);
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        values[count] = (struct http_text){at, (size_t)((stop ? stop : end) - at)};
        at = stop ? stop + 1 : end;
        multipart_add_field(&out, boundary, names[count], values[count].at, values[count].len);
        is_readable = is_readable && is_plain(names[count]);
    }
    multipart_add_file(&out, boundary, "file", file_name, "audio/wav");
    is_readable = is_readable && is_plain(file_name);
    strbuf_add(&out, data, size);
    multipart_add_end(&out, boundary);
    must(strbuf_status(&out) == AS_OK);
    as_status status = http_form_read((struct http_text){boundary, strlen(boundary)},
                                      (struct http_text){out.data, out.len}, &form, NULL);
    if (!is_readable)
        return 0; /* control characters in a name: a reader may refuse them */
    must(status == AS_OK && form.count == count + 1);
    for (size_t i = 0; i < count; i++) {
        must(form.parts[i].name.len == strlen(names[i]) &&
             memcmp(form.parts[i].name.at, names[i], form.parts[i].name.len) == 0);
        must(form.parts[i].data.len == values[i].len &&
             memcmp(form.parts[i].data.at, values[i].at, values[i].len) == 0);
    }
    must(form.parts[count].is_file && form.parts[count].data.len == size &&
         memcmp(form.parts[count].data.at, data, size) == 0);
    return 0;
}
