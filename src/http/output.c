/* SPDX-License-Identifier: Apache-2.0 */
#include "http/server_internal.h"

#include <errno.h>
#include <limits.h>
#include <openssl/err.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

/* ---- buffers ---- */

bool buffer_reserve(struct buffer *buffer, size_t bytes)
{
    if (buffer->capacity - buffer->start - buffer->len >= bytes)
        return true;
    if (buffer->start && buffer->len)
        memmove(buffer->data, buffer->data + buffer->start, buffer->len);
    buffer->start = 0;
    if (buffer->capacity - buffer->len >= bytes)
        return true;
    size_t capacity = buffer->capacity ? buffer->capacity : 1024;
    while (capacity - buffer->len < bytes)
        capacity *= 2;
    char *grown = realloc(buffer->data, capacity);
    if (!grown)
        return false;
    buffer->data = grown;
    buffer->capacity = capacity;
    return true;
}

bool buffer_append(struct buffer *buffer, const void *data, size_t len)
{
    if (!len)
        return true;
    if (!buffer_reserve(buffer, len))
        return false;
    memcpy(buffer->data + buffer->start + buffer->len, data, len);
    buffer->len += len;
    return true;
}

void buffer_skip(struct buffer *buffer, size_t len)
{
    buffer->start += len;
    buffer->len -= len;
    if (!buffer->len)
        buffer->start = 0;
}

void buffer_free(struct buffer *buffer)
{
    free(buffer->data);
    *buffer = (struct buffer){0};
}

/* ---- sending ---- */

static size_t parts_bytes(const struct iovec *parts, int count)
{
    size_t bytes = 0;
    for (int i = 0; i < count; i++)
        bytes += parts[i].iov_len;
    return bytes;
}

/* Queues what lies behind the first `sent` bytes. */
static bool queue_rest(struct http_connection *c, const struct iovec *parts, int count, size_t sent)
{
    for (int i = 0; i < count; i++) {
        size_t skip = sent < parts[i].iov_len ? sent : parts[i].iov_len;
        if (!buffer_append(&c->out, (const char *)parts[i].iov_base + skip, parts[i].iov_len - skip))
            return false;
        sent -= skip;
    }
    return true;
}

/* Bytes taken by the kernel, 0 when it takes none now; -1: the connection is gone. */
static ssize_t send_plain(struct http_connection *c, const struct iovec *parts, int count)
{
    struct msghdr message = {.msg_iov = (struct iovec *)(uintptr_t)parts, .msg_iovlen = (size_t)count};
    ssize_t sent;
    do {
        if (count == 1)
            sent = send(c->fd, parts->iov_base, parts->iov_len, MSG_NOSIGNAL | MSG_DONTWAIT);
        else
            sent = sendmsg(c->fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    } while (sent < 0 && errno == EINTR);
    if (sent < 0)
        return errno == EAGAIN || errno == EWOULDBLOCK || errno == ENOBUFS ? 0 : -1;
    return sent;
}

/* The same for the queue's bytes over TLS. */
static ssize_t send_tls(struct http_connection *c, const char *data, size_t len)
{
    ERR_clear_error();
    int sent = SSL_write(c->ssl, data, len < INT_MAX ? (int)len : INT_MAX);
    if (sent > 0)
        return sent;
    int error = SSL_get_error(c->ssl, sent);
    ERR_clear_error();
    return error == SSL_ERROR_WANT_WRITE || error == SSL_ERROR_WANT_READ ? 0 : -1;
}

static void sent_bytes(struct http_connection *c, size_t len)
{
    counter_add(&c->x.loop->counters.bytes_sent, len);
}

/* Sends what is queued until the kernel takes no more. False: the connection is gone. */
static bool send_queue(struct http_connection *c)
{
    while (c->out.len) {
        struct iovec part = {c->out.data + c->out.start, c->out.len};
        ssize_t sent = c->ssl ? send_tls(c, part.iov_base, part.iov_len) : send_plain(c, &part, 1);
        if (sent < 0)
            return false;
        if (sent == 0)
            break;
        sent_bytes(c, (size_t)sent);
        buffer_skip(&c->out, (size_t)sent);
    }
    if (!c->out.len)
        buffer_free(&c->out);
    return true;
}

as_status http_output_send(struct http_connection *c, const struct iovec *parts, int count)
{
    size_t bytes = parts_bytes(parts, count);
    if (c->x.is_aborted || c->is_broken || c->fd < 0)
        return AS_E_NETWORK;
    if (c->out.len && c->out.len + bytes > c->x.loop->server->options.max_queue_bytes) {
        c->is_limited = true;
        return AS_E_LIMIT;
    }
    if (!bytes)
        return AS_OK;
    bool is_alive = true;
    if (c->out.len || c->ssl) {
        if (!queue_rest(c, parts, count, 0))
            return AS_E_NOMEM;
        is_alive = !c->ssl || send_queue(c);
    } else {
        ssize_t sent = send_plain(c, parts, count);
        is_alive = sent >= 0;
        if (sent > 0)
            sent_bytes(c, (size_t)sent);
        if (is_alive && (size_t)sent < bytes && !queue_rest(c, parts, count, (size_t)sent))
            is_alive = false; /* half an answer cannot be mended */
    }
    if (!is_alive) {
        http_connection_break(c);
        return AS_E_NETWORK;
    }
    if (c->out.len && !c->writes) {
        http_connection_register(c, c->reads, true);
        http_connection_watch(c, false);
    }
    return AS_OK;
}

void http_output_flush(struct http_connection *c)
{
    size_t before = c->out.len;
    if (!send_queue(c)) {
        http_connection_break(c);
        return;
    }
    if (c->out.len == before)
        return;
    if (!c->out.len) {
        http_connection_register(c, c->reads, c->tls_wants_write);
        http_connection_ready(c);
    }
    http_connection_watch(c, true);
}

as_status http_raw_send(struct http_exchange *x, const struct iovec *parts, int count)
{
    struct http_connection *c = x->connection;
    if (c->answer == ANSWER_COMPLETE)
        return AS_E_STATE;
    as_status status = http_output_send(c, parts, count);
    if (status == AS_OK && c->answer == ANSWER_NONE)
        c->answer = ANSWER_RAW;
    return status;
}

as_status http_raw_end(struct http_exchange *x, bool keep_alive)
{
    struct http_connection *c = x->connection;
    if (c->x.is_aborted || c->is_broken)
        return AS_E_NETWORK;
    if (c->answer == ANSWER_COMPLETE || c->answer == ANSWER_NONE)
        return AS_E_STATE;
    c->answer = ANSWER_COMPLETE;
    c->keep_alive = c->keep_alive && keep_alive;
    http_connection_ready(c);
    return AS_OK;
}

size_t http_queued_bytes(const struct http_exchange *x)
{
    return x->connection->out.len;
}
