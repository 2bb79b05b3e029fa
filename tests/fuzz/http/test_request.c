/* SPDX-License-Identifier: Apache-2.0 */
/* What a client sent: a head that is accepted obeys the rules that keep two readers from differing about it. */
#include "http/chunked.h"
#include "http/request.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool condition)
{
    if (!condition)
        abort();
}

static void check_inside(struct http_text text, const char *head, size_t len)
{
    must(text.len == 0 || (text.at >= head && text.at + text.len <= head + len) ||
         (text.len == 1 && text.at[0] == '/'));
}

/* No bare CR or LF, no control byte but HTAB, no line that begins with white space. */
static void check_bytes(const char *head, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)head[i];
        must(c >= 0x20 || c == '\t' || c == '\r' || c == '\n');
        must(c != 0x7f);
        must(c != '\r' || (i + 1 < len && head[i + 1] == '\n'));
        must(c != '\n' || (i > 0 && head[i - 1] == '\r'));
        must(c != '\n' || i + 1 == len || (head[i + 1] != ' ' && head[i + 1] != '\t'));
    }
}

static void check_fields(const struct http_request *request, const char *head, size_t len)
{
    uint32_t lengths = 0, codings = 0, hosts = 0;
    for (uint32_t i = 0; i < request->field_count; i++) {
        const struct http_field *field = &request->fields[i];
        check_inside(field->name, head, len);
        check_inside(field->value, head, len);
        must(http_is_token(field->name));
        must(field->name.at[field->name.len] == ':');
        lengths += http_text_equals(field->name, "content-length");
        codings += http_text_equals(field->name, "transfer-encoding");
        hosts += http_text_equals(field->name, "host");
    }
    must(lengths <= 1 && hosts <= 1);
    must((request->content_length >= 0) == (lengths == 1));
    must(request->chunked == (codings > 0));
    must(!request->chunked || (request->content_length < 0 && request->minor == 1));
    must(request->minor == 0 || hosts == 1);
}

static void check_request(const char *head, size_t len)
{
    struct http_request request;
    struct http_refusal refusal = {0, NULL};
    char value[64];
    if (!http_request_parse(head, len, &request, &refusal)) {
        must(refusal.status >= 400 && refusal.status <= 505 && refusal.sentence);
        return;
    }
    check_bytes(head, len);
    check_inside(request.target, head, len);
    check_inside(request.path, head, len);
    check_inside(request.query, head, len);
    check_inside(request.host, head, len);
    must(http_is_token(request.method_name) && request.path.len > 0);
    check_fields(&request, head, len);
    (void)!http_percent_decode(request.path, false, value, sizeof value);
    (void)!http_query_get(&request, "a", value, sizeof value);
}

static void check_chunks(const char *at, const char *end)
{
    struct http_chunked chunked;
    const char *span;
    size_t len;
    http_chunked_init(&chunked, true);
    for (;;) {
        const char *before = at;
        enum http_result result = http_chunked_next(&chunked, &at, end, &span, &len);
        must(at >= before && at <= end);
        if (result != HTTP_SPAN)
            break;
        must(len > 0 && span >= before && span + len <= at);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    size_t len = http_request_head_length(text, size, 0);
    must(len <= size);
    if (len) {
        check_request(text, len);
        check_chunks(text + len, text + size);
    }
    return 0;
}
