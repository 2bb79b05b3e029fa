/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Forms: the first line is the Content-Type, the rest the body. What is read lies inside the body, in order, and no
 * part holds the delimiter that ended it.
 */
#include "http/form.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
    if (!holds)
        abort();
}

static bool is_inside(struct http_text text, struct http_text whole)
{
    return text.len == 0 || (text.at >= whole.at && text.at + text.len <= whole.at + whole.len);
}

static void check(const struct http_form *form, struct http_text boundary, struct http_text body)
{
    const char *at = body.at;
    for (size_t i = 0; i < form->count; i++) {
        const struct http_form_part *part = &form->parts[i];
        must(is_inside(part->name, body) && is_inside(part->file_name, body) && is_inside(part->content_type, body));
        must(is_inside(part->data, body) && part->data.at >= at);
        must(part->is_file || part->file_name.len == 0);
        const char *found = memmem(part->data.at, part->data.len, boundary.at, boundary.len);
        must(!found || found < part->data.at + 4 || memcmp(found - 4, "\r\n--", 4) != 0);
        at = part->data.at + part->data.len;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data, *line_end = memchr(text, '\n', size);
    struct http_form form;
    struct http_text boundary;
    struct as_error err = {.message = ""};
    if (!line_end || !http_form_boundary((struct http_text){text, (size_t)(line_end - text)}, &boundary))
        return 0;
    struct http_text body = {line_end + 1, size - (size_t)(line_end + 1 - text)};
    as_status status = http_form_read(boundary, body, &form, &err);
    if (status == AS_OK)
        check(&form, boundary, body);
    else
        must(err.message[0]);
    return 0;
}
