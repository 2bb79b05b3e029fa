/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/request_head.h"

#include "base/json_write.h"
#include "base/strbuf.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* True when one of the header lines is called `name`. */
static bool has_header(const char *lines, const char *name)
{
    size_t len = strlen(name);
    for (const char *at = lines; at && *at; at = strchr(at, '\n')) {
        at += *at == '\n';
        if (strncasecmp(at, name, len) == 0 && at[len] == ':')
            return true;
    }
    return false;
}

/* Takes the buffer's text over. */
static char *take_text(struct strbuf *text, size_t *ret_len)
{
    char *data = text->data;
    *ret_len = text->len;
    text->data = NULL;
    return data;
}

as_status request_head_init(struct request_head *head, const struct engine_endpoint *endpoint,
                            const struct engine_options *options, struct as_error *err)
{
    AS_AUTO_STRBUF struct strbuf line, host, fixed, id;
    const char *extra = endpoint->headers ? endpoint->headers : "";
    strbuf_init(&line, 0);
    strbuf_init(&host, 0);
    strbuf_init(&fixed, 0);
    strbuf_init(&id, 0);
    memset(head, 0, sizeof *head);
    strbuf_addf(&line, "POST %s", endpoint->net->path_prefix);
    strbuf_addf(&host, "%s HTTP/1.1\r\n", endpoint->net->query ? endpoint->net->query : "");
    if (!has_header(extra, "Host"))
        strbuf_addf(&host, "Host: %s\r\n", endpoint->net->host_header);
    if (options->user_agent && !has_header(extra, "User-Agent"))
        strbuf_addf(&fixed, "User-Agent: %s\r\n", options->user_agent);
    if (!has_header(extra, "Accept-Encoding"))
        strbuf_adds(&fixed, "Accept-Encoding: identity\r\n");
    if (options->net.no_reuse && !has_header(extra, "Connection"))
        strbuf_adds(&fixed, "Connection: close\r\n");
    strbuf_addf(&fixed, "%s\r\n", extra);
    if (!has_header(extra, "x-assay-id"))
        strbuf_addf(&id, "x-assay-id: %s-", options->run_id ? options->run_id : "");
    if (strbuf_status(&line) || strbuf_status(&host) || strbuf_status(&fixed) || strbuf_status(&id))
        return error_set(err, AS_E_NOMEM, "no memory for the request head of %s", endpoint->net->name);
    head->line = take_text(&line, &head->line_len);
    head->host = take_text(&host, &head->host_len);
    head->fixed = take_text(&fixed, &head->fixed_len);
    head->id = take_text(&id, &head->id_len);
    head->has_accept = !has_header(extra, "Accept");
    head->has_content_type = !has_header(extra, "Content-Type");
    return AS_OK;
}

void request_head_done(struct request_head *head)
{
    free(head->line);
    free(head->host);
    free(head->fixed);
    free(head->id);
    memset(head, 0, sizeof *head);
}

void head_buffer_done(struct head_buffer *buffer)
{
    free(buffer->data);
    *buffer = (struct head_buffer){0};
}

static char *put(char *at, const void *data, size_t len)
{
    memcpy(at, data, len);
    return at + len;
}

static char *put_line(char *at, const char *name, size_t name_len, const char *value)
{
    at = put(at, name, name_len);
    at = put(at, value, strlen(value));
    return put(at, "\r\n", 2);
}

#define PUT_LINE(at, name, value) put_line(at, name, sizeof(name) - 1, value)

static int64_t body_bytes(const struct payload *payload)
{
    size_t bytes = 0;
    for (uint32_t i = 0; i < payload->part_count; i++)
        bytes += payload->parts[i].iov_len;
    return (int64_t)bytes;
}

as_status request_head_write(const struct request_head *head, const struct payload *payload, int64_t seq,
                             struct head_buffer *buffer, size_t *ret_len)
{
    size_t path_len = strlen(payload->path);
    /* Names of our own headers, two numbers and line ends take less than 128 bytes. */
    size_t needed = head->line_len + path_len + head->host_len + head->id_len + 128 +
                    (payload->accept ? strlen(payload->accept) : 0) +
                    (payload->content_type ? strlen(payload->content_type) : 0);
    if (needed > buffer->capacity) {
        size_t capacity = (needed + 127) / 128 * 128;
        char *data = realloc(buffer->data, capacity);
        if (!data)
            return AS_E_NOMEM;
        *buffer = (struct head_buffer){data, capacity};
    }
    char *at = put(buffer->data, head->line, head->line_len);
    at = put(at, payload->path, path_len);
    at = put(at, head->host, head->host_len);
    if (head->has_accept && payload->accept)
        at = PUT_LINE(at, "Accept: ", payload->accept);
    if (head->has_content_type && payload->content_type)
        at = PUT_LINE(at, "Content-Type: ", payload->content_type);
    at = put(at, "Content-Length: ", 16);
    at = int64_put(at, body_bytes(payload));
    at = put(at, "\r\n", 2);
    if (head->id_len > 0) {
        at = put(at, head->id, head->id_len);
        at = int64_put(at, seq);
        at = put(at, "\r\n", 2);
    }
    *ret_len = (size_t)(at - buffer->data);
    return AS_OK;
}
