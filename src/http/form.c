/* SPDX-License-Identifier: Apache-2.0 */
#include "http/form.h"

#include <string.h>

/* The parameter `name` of a field value ("form-data; name=\"file\""), quotes taken off; false when it is absent. */
static bool find_parameter(struct http_text value, const char *name, struct http_text *ret)
{
    const char *at = value.at, *end = at + value.len;
    size_t name_len = strlen(name);
    while ((at = memchr(at, ';', (size_t)(end - at)))) {
        at++;
        while (at < end && (*at == ' ' || *at == '\t'))
            at++;
        const char *key = at;
        while (at < end && *at != '=' && *at != ';')
            at++;
        if (at == end || *at == ';')
            continue;
        bool is_it = (size_t)(at - key) == name_len && http_text_equals((struct http_text){key, name_len}, name);
        at++;
        bool is_quoted = at < end && *at == '"';
        at += is_quoted;
        const char *start = at;
        while (at < end && (is_quoted ? *at != '"' : *at != ';'))
            at++;
        if (is_quoted && at == end)
            return false;
        if (is_it) {
            *ret = (struct http_text){start, (size_t)(at - start)};
            if (!is_quoted)
                *ret = http_text_trim(*ret);
            return true;
        }
    }
    return false;
}

bool http_form_boundary(struct http_text content_type, struct http_text *ret)
{
    struct http_text boundary;
    if (content_type.len == 0 || !http_text_equals(http_without_parameters(content_type), "multipart/form-data") ||
        !find_parameter(content_type, "boundary", &boundary))
        return false;
    if (boundary.len == 0 || boundary.len > HTTP_FORM_BOUNDARY_MAX)
        return false;
    *ret = boundary;
    return true;
}

/* A body being read; `at` is behind a delimiter's boundary. */
struct walk {
    const char *at, *end;
    char delimiter[HTTP_FORM_BOUNDARY_MAX + 4]; /* CR LF "--" boundary */
    size_t delimiter_len;
};

static as_status fail(struct as_error *err, const char *sentence)
{
    return error_set(err, AS_E_INVALID, "the form is damaged: %s", sentence);
}

/* The fields of a part, up to and with their blank line. */
static as_status read_fields(struct walk *walk, struct http_form_part *part, struct as_error *err)
{
    bool has_disposition = false;
    for (;;) {
        const char *line_end = memmem(walk->at, (size_t)(walk->end - walk->at), "\r\n", 2);
        if (!line_end)
            return fail(err, "the head of a part has no end");
        struct http_text line = {walk->at, (size_t)(line_end - walk->at)}, name, value;
        walk->at = line_end + 2;
        if (line.len == 0)
            break;
        if (http_field_split(line, &name, &value))
            return fail(err, "a field of a part is malformed");
        if (http_text_equals(name, "content-type"))
            part->content_type = value;
        if (!http_text_equals(name, "content-disposition"))
            continue;
        if (!http_text_equals(http_without_parameters(value), "form-data") ||
            !find_parameter(value, "name", &part->name))
            return fail(err, "a part is no form-data with a name");
        part->is_file = find_parameter(value, "filename", &part->file_name);
        has_disposition = true;
    }
    return has_disposition ? AS_OK : fail(err, "a part has no Content-Disposition");
}

static as_status read_part(struct walk *walk, struct http_form_part *ret, struct as_error *err)
{
    struct http_form_part part = {0};
    as_status status = read_fields(walk, &part, err);
    if (status != AS_OK)
        return status;
    /* An empty part's delimiter may begin with the CR LF that ended its head. */
    const char *from = walk->at - 2;
    const char *stop = memmem(from, (size_t)(walk->end - from), walk->delimiter, walk->delimiter_len);
    if (!stop)
        return fail(err, "a part has no end");
    part.data = (struct http_text){walk->at, stop > walk->at ? (size_t)(stop - walk->at) : 0};
    walk->at = stop + walk->delimiter_len;
    *ret = part;
    return AS_OK;
}

/* White space after a boundary, then CR LF (another part follows) or "--" before it (the end). */
static as_status after_boundary(struct walk *walk, bool *ret_end, struct as_error *err)
{
    *ret_end = walk->end - walk->at >= 2 && walk->at[0] == '-' && walk->at[1] == '-';
    if (*ret_end)
        return AS_OK;
    while (walk->at < walk->end && (*walk->at == ' ' || *walk->at == '\t'))
        walk->at++;
    if (walk->end - walk->at < 2 || walk->at[0] != '\r' || walk->at[1] != '\n')
        return fail(err, "a delimiter is malformed");
    walk->at += 2;
    return AS_OK;
}

static as_status first_boundary(struct walk *walk, struct as_error *err)
{
    size_t bare = walk->delimiter_len - 2, len = (size_t)(walk->end - walk->at);
    if (len >= bare && memcmp(walk->at, walk->delimiter + 2, bare) == 0) {
        walk->at += bare;
        return AS_OK;
    }
    const char *found = memmem(walk->at, len, walk->delimiter, walk->delimiter_len);
    if (!found)
        return fail(err, "its boundary is nowhere");
    walk->at = found + walk->delimiter_len;
    return AS_OK;
}

as_status http_form_read(struct http_text boundary, struct http_text body, struct http_form *ret, struct as_error *err)
{
    struct walk walk = {.at = body.at, .end = body.at + body.len, .delimiter_len = boundary.len + 4};
    bool is_end = false;
    ret->count = 0;
    if (boundary.len == 0 || boundary.len > HTTP_FORM_BOUNDARY_MAX)
        return fail(err, "its boundary is too long");
    memcpy(walk.delimiter, "\r\n--", 4);
    memcpy(walk.delimiter + 4, boundary.at, boundary.len);
    as_status status = first_boundary(&walk, err);
    if (status == AS_OK)
        status = after_boundary(&walk, &is_end, err);
    while (status == AS_OK && !is_end) {
        if (ret->count == HTTP_FORM_PARTS_MAX)
            return error_set(err, AS_E_LIMIT, "the form has more than %d parts", HTTP_FORM_PARTS_MAX);
        status = read_part(&walk, &ret->parts[ret->count], err);
        ret->count += status == AS_OK;
        if (status == AS_OK)
            status = after_boundary(&walk, &is_end, err);
    }
    return status;
}

const struct http_form_part *http_form_find(const struct http_form *form, const char *name)
{
    for (size_t i = 0; i < form->count; i++) {
        const struct http_text *got = &form->parts[i].name;
        if (got->len == strlen(name) && memcmp(got->at, name, got->len) == 0)
            return &form->parts[i];
    }
    return NULL;
}
