/* SPDX-License-Identifier: Apache-2.0 */
#include "fetch/wire.h"

#include "base/json.h"
#include "base/json_write.h"

#include <stdio.h>
#include <string.h>

/* Text members of a request: name and place. */
struct text_field {
    const char *name;
    size_t at;
};

static const struct text_field text_fields[] = {
    {"url", offsetof(struct fetch_request, url)},       {"method", offsetof(struct fetch_request, method)},
    {"bearer", offsetof(struct fetch_request, bearer)}, {"ca_cert", offsetof(struct fetch_request, ca_cert)},
    {"proxy", offsetof(struct fetch_request, proxy)},   {"unix_socket", offsetof(struct fetch_request, unix_socket)},
};
#define TEXT_FIELDS (sizeof text_fields / sizeof text_fields[0])

as_status fetch_write_request(const struct fetch_request *request, struct strbuf *out)
{
    struct json_writer writer;
    json_writer_init(&writer, out, 0);
    json_open_object(&writer);
    for (size_t i = 0; i < TEXT_FIELDS; i++) {
        const char *text = *(const char *const *)(const void *)((const char *)request + text_fields[i].at);
        if (text)
            json_member_string(&writer, text_fields[i].name, text);
    }
    json_key(&writer, "headers");
    json_open_array(&writer);
    for (size_t i = 0; i < request->header_count; i++)
        json_put_string(&writer, request->headers[i]);
    json_close_array(&writer);
    json_member_bool(&writer, "has_body", request->body != NULL);
    json_member_int(&writer, "body_len", request->body ? (int64_t)request->body_len : 0);
    json_member_int(&writer, "timeout_ns", request->timeout_ns);
    json_member_int(&writer, "connect_timeout_ns", request->connect_timeout_ns);
    json_member_int(&writer, "max_bytes", (int64_t)request->max_bytes);
    json_member_int(&writer, "max_redirects", request->max_redirects);
    json_member_bool(&writer, "insecure", request->insecure);
    json_close_object(&writer);
    as_status status = json_writer_status(&writer);
    strbuf_addc(out, '\n');
    return status == AS_OK ? strbuf_status(out) : status;
}

static int64_t int_member(const struct json_value *root, const char *name)
{
    int64_t value;
    return json_int64(json_get(root, name), &value) ? value : 0;
}

static as_status read_headers(const struct json_value *list, struct arena *arena, struct fetch_request *request)
{
    size_t count = list && list->type == JSON_ARRAY ? list->len : 0;
    const char **headers = arena_calloc(arena, count + 1, sizeof *headers);
    if (!headers)
        return AS_E_NOMEM;
    const struct json_value *item = count ? list->first : NULL;
    for (size_t i = 0; item; item = item->next)
        if (!json_string(item, &headers[i++]))
            return AS_E_INVALID;
    request->headers = headers;
    request->header_count = count;
    return AS_OK;
}

as_status fetch_read_request(const char *line, size_t len, struct arena *arena, struct fetch_request *ret,
                             struct as_error *err)
{
    const struct json_value *root;
    struct fetch_request request = {0};
    bool has_body = false;
    as_status status = json_parse(line, len, NULL, arena, &root, err);
    if (status != AS_OK)
        return status;
    for (size_t i = 0; i < TEXT_FIELDS; i++)
        json_string(json_get(root, text_fields[i].name), (const char **)(void *)((char *)&request + text_fields[i].at));
    if (!request.url)
        return error_set(err, AS_E_INVALID, "the request has no url");
    status = read_headers(json_get(root, "headers"), arena, &request);
    if (status != AS_OK)
        return error_set(err, status, "the headers are not a list of texts");
    json_bool(json_get(root, "has_body"), &has_body);
    json_bool(json_get(root, "insecure"), &request.insecure);
    request.body = has_body ? "" : NULL;
    request.body_len = (size_t)int_member(root, "body_len");
    request.timeout_ns = int_member(root, "timeout_ns");
    request.connect_timeout_ns = int_member(root, "connect_timeout_ns");
    request.max_bytes = (size_t)int_member(root, "max_bytes");
    request.max_redirects = (int)int_member(root, "max_redirects");
    *ret = request;
    return AS_OK;
}

as_status fetch_write_result(const struct fetch_result *result, struct strbuf *out)
{
    struct json_writer writer;
    json_writer_init(&writer, out, 0);
    json_open_object(&writer);
    json_member_int(&writer, "status_code", result->status_code);
    json_member_string(&writer, "message", result->message);
    json_member_int(&writer, "status", result->reply.status);
    json_member_string(&writer, "content_type", result->reply.content_type);
    json_member_string(&writer, "url", result->reply.url);
    json_member_int(&writer, "redirects", result->reply.redirects);
    json_member_int(&writer, "duration_ns", result->reply.duration_ns);
    json_member_int(&writer, "body_bytes", (int64_t)result->reply.body_bytes);
    json_close_object(&writer);
    return json_writer_status(&writer);
}

static void text_member(const struct json_value *root, const char *name, char *ret, size_t size)
{
    const char *text = "";
    json_string(json_get(root, name), &text);
    snprintf(ret, size, "%s", text);
}

as_status fetch_read_result(const char *text, size_t len, struct fetch_result *ret)
{
    struct arena arena;
    const struct json_value *root;
    struct fetch_result result = {.status_code = AS_E_INTERNAL};
    arena_init(&arena, 0, 16 * FETCH_RESULT_MAX_BYTES);
    as_status status = json_parse(text, len, NULL, &arena, &root, NULL);
    int64_t code = status == AS_OK ? int_member(root, "status_code") : -1;
    if (code >= AS_OK && code <= AS_E_INTERNAL) {
        result.status_code = (as_status)code;
        text_member(root, "message", result.message, sizeof result.message);
        text_member(root, "content_type", result.reply.content_type, sizeof result.reply.content_type);
        text_member(root, "url", result.reply.url, sizeof result.reply.url);
        result.reply.status = (int)int_member(root, "status");
        result.reply.redirects = (int)int_member(root, "redirects");
        result.reply.duration_ns = int_member(root, "duration_ns");
        result.reply.body_bytes = (uint64_t)int_member(root, "body_bytes");
        *ret = result;
    }
    arena_done(&arena);
    if (status == AS_OK && (code < AS_OK || code > AS_E_INTERNAL))
        return AS_E_INVALID;
    return status;
}
