/* SPDX-License-Identifier: Apache-2.0 */
#include "net/internal.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* Bytes so much older than an exchange were not sent in answer to it. */
#define STALE_MARGIN_NS (20 * NS_PER_US)
/* Requests up to this size are joined on the stack before they are sent. */
#define JOINED_BYTES_MAX ((size_t)2048)

static void connection_lost(struct net_connection *c);

static struct net_connection *connection_of_list(struct link *link)
{
    return (struct net_connection *)(void *)((char *)link - offsetof(struct net_connection, in_list));
}

/* ---- pool ---- */

static void pool_remove(struct net_connection *c)
{
    link_remove(&c->in_list);
    c->loop->pools[c->endpoint].idle_count--;
    c->loop->counters.idle_now--;
}

static void pool_put(struct net_connection *c)
{
    struct net_loop *loop = c->loop;
    struct pool *pool = &loop->pools[c->endpoint];
    if (loop->options.no_reuse || loop->options.max_idle == 0) {
        connection_close(c, true);
        return;
    }
    c->state = CONNECTION_IDLE;
    c->since_ns = loop->now_ns;
    link_insert_after(&pool->idle, &c->in_list);
    loop->counters.idle_now++;
    if (loop->options.idle_timeout_ns > 0)
        loop_arm(loop, loop->now_ns + loop->options.idle_timeout_ns);
    if (++pool->idle_count > loop->options.max_idle)
        connection_close(connection_of_list(pool->idle.previous), true);
}

struct net_connection *pool_take(struct net_loop *loop, uint32_t endpoint)
{
    struct pool *pool = &loop->pools[endpoint];
    if (link_is_empty(&pool->idle))
        return NULL;
    struct net_connection *c = connection_of_list(pool->idle.next);
    if (loop->options.idle_timeout_ns > 0 && loop->now_ns - c->since_ns > loop->options.idle_timeout_ns) {
        connection_close(c, true);
        return NULL;
    }
    pool_remove(c);
    return c;
}

int64_t pool_expire(struct net_loop *loop, int64_t now_ns)
{
    int64_t next_ns = INT64_MAX;
    if (loop->options.idle_timeout_ns <= 0)
        return next_ns;
    for (uint32_t i = 0; i < loop->endpoint_count; i++) {
        struct link *idle = &loop->pools[i].idle;
        while (!link_is_empty(idle)) {
            struct net_connection *oldest = connection_of_list(idle->previous);
            int64_t due_ns = oldest->since_ns + loop->options.idle_timeout_ns;
            if (due_ns > now_ns) {
                next_ns = due_ns < next_ns ? due_ns : next_ns;
                break;
            }
            connection_close(oldest, true);
        }
    }
    return next_ns;
}

void connection_close(struct net_connection *c, bool is_polite)
{
    struct net_loop *loop = c->loop;
    if (c->state == CONNECTION_IDLE)
        pool_remove(c);
    else if (c->state != CONNECTION_ACTIVE)
        loop->counters.connecting_now--;
    link_remove(&c->in_list);
    link_remove(&c->in_tries);
    if (c->tls)
        tls_detach(c, is_polite);
    http_response_done(&c->parser);
    if (c->fd >= 0)
        close(c->fd);
    c->fd = -1;
    c->state = CONNECTION_CLOSED;
    c->exchange = NULL;
    if (loop->read.owner == c)
        loop->read.owner = NULL;
    loop->counters.open_now--;
    c->next_spare = loop->closed;
    loop->closed = c;
}

/* ---- sending ---- */

void connection_want_out(struct net_connection *c, bool is_wanted)
{
    if (c->wants_out == is_wanted)
        return;
    struct epoll_event event = {.events = is_wanted ? EPOLLIN | EPOLLOUT : EPOLLIN, .data.ptr = c};
    epoll_ctl(c->loop->epoll_fd, EPOLL_CTL_MOD, c->fd, &event);
    c->wants_out = is_wanted;
}

/* The parts after the first `sent` bytes; returns how many. */
static size_t parts_left(const struct net_exchange *x, uint64_t sent, struct iovec ret[NET_REQUEST_PARTS_MAX])
{
    size_t count = 0;
    for (uint32_t i = 0; i < x->part_count; i++) {
        size_t len = x->parts[i].iov_len;
        if (sent >= len) {
            sent -= len;
            continue;
        }
        ret[count].iov_base = (char *)x->parts[i].iov_base + sent;
        ret[count++].iov_len = len - sent;
        sent = 0;
    }
    return count;
}

/* As tls_write: > 0 = taken, 0 = the socket is full, -1 with errno. */
/* A request of few bytes goes out in one piece: joining it costs less than a message of several parts does in the kernel. */
static ssize_t send_joined(const struct net_connection *c)
{
    const struct net_exchange *x = c->exchange;
    char joined[JOINED_BYTES_MAX];
    size_t len = 0;
    for (uint32_t i = 0; i < x->part_count; i++) {
        memcpy(joined + len, x->parts[i].iov_base, x->parts[i].iov_len);
        len += x->parts[i].iov_len;
    }
    return send(c->fd, joined, len, MSG_NOSIGNAL);
}

static ssize_t send_plain(struct net_connection *c)
{
    struct net_exchange *x = c->exchange;
    struct iovec left[NET_REQUEST_PARTS_MAX];
    struct msghdr message = {.msg_iov = x->parts, .msg_iovlen = x->part_count};
    if (c->sent_bytes > 0) {
        message.msg_iov = left;
        message.msg_iovlen = parts_left(x, c->sent_bytes, left);
    }
    bool is_small = c->sent_bytes == 0 && c->request_bytes <= JOINED_BYTES_MAX;
    ssize_t n = is_small ? send_joined(c) : sendmsg(c->fd, &message, MSG_NOSIGNAL);
    return n < 0 && (errno == EAGAIN || errno == EINTR) ? 0 : n;
}

/* One record: from one part when it fills it, else gathered. */
static ssize_t send_tls(struct net_connection *c)
{
    struct iovec left[NET_REQUEST_PARTS_MAX] = {{NULL, 0}};
    size_t count = parts_left(c->exchange, c->sent_bytes, left);
    if (count == 1 || left[0].iov_len >= NET_PLAIN_BYTES)
        return tls_write(c, left[0].iov_base, left[0].iov_len < NET_PLAIN_BYTES ? left[0].iov_len : NET_PLAIN_BYTES);
    size_t len = 0;
    for (size_t i = 0; i < count && len < NET_PLAIN_BYTES; i++) {
        size_t room = NET_PLAIN_BYTES - len;
        size_t take = left[i].iov_len < room ? left[i].iov_len : room;
        memcpy(c->loop->gather + len, left[i].iov_base, take);
        len += take;
    }
    return tls_write(c, c->loop->gather, len);
}

static void connection_send(struct net_connection *c)
{
    struct net_exchange *x = c->exchange;
    while (c->sent_bytes < c->request_bytes) {
        ssize_t n = c->tls ? send_tls(c) : send_plain(c);
        if (n < 0) {
            c->is_write_broken = true;
            c->write_error = errno;
            connection_want_out(c, false);
            return;
        }
        c->sent_bytes += (uint64_t)n;
        x->bytes_sent += (uint64_t)n;
        if (n == 0 || (!c->tls && c->sent_bytes < c->request_bytes)) {
            connection_want_out(c, true);
            return;
        }
    }
    x->written_ns = mono_now().ns;
    connection_want_out(c, false);
}

void connection_begin(struct net_connection *c, struct net_exchange *x)
{
    x->connection = c;
    c->exchange = x;
    c->state = CONNECTION_ACTIVE;
    c->since_ns = c->loop->now_ns;
    c->previous_ns = -1;
    c->has_head = false;
    c->is_write_broken = false;
    c->sent_bytes = 0;
    c->request_bytes = 0;
    for (uint32_t i = 0; i < x->part_count; i++)
        c->request_bytes += x->parts[i].iov_len;
    http_response_init(&c->parser);
    c->parser.memo = &c->loop->head_memo;
    connection_send(c);
}

void connection_ready(struct net_connection *c)
{
    link_remove(&c->in_list);
    c->loop->counters.connects++;
    c->loop->counters.connecting_now--;
    c->state = CONNECTION_ACTIVE;
    if (c->exchange)
        connection_begin(c, c->exchange);
    else
        pool_put(c);
}

/* ---- ends ---- */

/* Takes the exchange off; its connection goes to the pool or is closed; then tells it. */
static void exchange_end(struct net_connection *c, enum net_end end, bool is_reusable)
{
    struct net_exchange *x = c->exchange;
    c->exchange = NULL;
    x->connection = NULL;
    c->loop->counters.unclean_closes += x->unclean;
    if (is_reusable)
        pool_put(c);
    else
        connection_close(c, !c->tls_end.is_eof);
    x->ops->on_end(x, end);
}

static void exchange_complete(struct net_connection *c, bool has_more_bytes)
{
    struct net_exchange *x = c->exchange;
    bool is_open = !c->tls_end.is_closed && !c->tls_end.is_eof && !c->tls_end.reason && !c->tls_end.error_number;
    x->unclean = has_more_bytes || (c->tls && !is_open && !c->tls_end.is_closed);
    bool is_reusable = is_open && !has_more_bytes && c->parser.head.keep_alive && c->sent_bytes == c->request_bytes &&
                       !c->is_write_broken;
    exchange_end(c, NET_END_COMPLETE, is_reusable);
}

static void exchange_malformed(struct net_connection *c, const char *data, size_t len)
{
    struct net_exchange *x = c->exchange;
    bool is_tls_record = !c->has_head && len >= 2 && (data[0] == 0x15 || data[0] == 0x16) && data[1] == 0x03;
    if (is_tls_record && !c->tls)
        snprintf(x->error, sizeof x->error, "the server speaks TLS on this port: use https://");
    else
        snprintf(x->error, sizeof x->error, "malformed response: %.120s",
                 c->parser.error ? c->parser.error : "not HTTP");
    exchange_end(c, NET_END_MALFORMED, false);
}

/* A kept-alive connection was dead: once more on a fresh one. */
static void exchange_reconnect(struct net_connection *c)
{
    struct net_loop *loop = c->loop;
    struct net_exchange *x = c->exchange;
    uint32_t endpoint = c->endpoint;
    c->exchange = NULL;
    connection_close(c, false);
    loop->counters.reconnects++;
    x->reconnected = true;
    x->reused = false;
    x->written_ns = -1;
    connection_open(loop, endpoint, x);
}

/* What ended the connection, in words. */
static const char *loss_reason(const struct net_connection *c, int error)
{
    if (c->tls_end.reason) {
        const char *text = ERR_reason_error_string(c->tls_end.reason);
        return text ? text : "TLS failed";
    }
    if (error == 0 && c->is_write_broken)
        return "closed while the request was being sent";
    return error == 0 ? "closed" : strerror(error);
}

/* The peer closed or reset, or TLS failed: tls_end says what is known. */
static void connection_lost(struct net_connection *c)
{
    struct net_exchange *x = c->exchange;
    int error = c->tls_end.error_number;
    bool is_untouched = http_response_is_untouched(&c->parser);
    if (!x) {
        connection_close(c, false);
        return;
    }
    if (is_untouched && x->reused && !x->reconnected) {
        exchange_reconnect(c);
        return;
    }
    x->error_number = error ? error : c->is_write_broken ? c->write_error : 0;
    if (is_untouched) {
        snprintf(x->error, sizeof x->error, "the connection ended before the response began: %.80s",
                 loss_reason(c, error));
        exchange_end(c, NET_END_CLOSED, false);
        return;
    }
    bool is_proper = error == 0 && !c->tls_end.reason && (!c->tls || c->tls_end.is_closed);
    enum http_result result = http_response_eof(&c->parser);
    if (result == HTTP_END && is_proper) {
        exchange_complete(c, false);
        return;
    }
    const char *missing =
        result == HTTP_BAD && c->parser.error ? c->parser.error : "the end of the body is not certain";
    snprintf(x->error, sizeof x->error, "the connection ended inside the response (%.45s): %.65s",
             c->tls && !error && !c->tls_end.reason && !c->tls_end.is_closed ? "closed without close_notify"
                                                                             : loss_reason(c, error),
             missing);
    exchange_end(c, NET_END_TRUNCATED, false);
}

/* ---- reading ---- */

ssize_t connection_receive(struct net_connection *c)
{
    struct net_loop *loop = c->loop;
    struct net_read *read = &loop->read;
    char control[STAMP_CONTROL_BYTES] __attribute__((aligned(8)));
    struct iovec buffer = {loop->buffer, NET_READ_BYTES};
    struct msghdr message = {
        .msg_iov = &buffer, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    ssize_t n = recvmsg(c->fd, &message, 0);
    if (n <= 0) {
        if (n < 0 && errno == EINTR)
            errno = EAGAIN;
        return n;
    }
    read->user_ns = loop->now_ns = mono_now().ns;
    read->kernel_ns = -1;
    read->did_receive = true;
    loop->counters.reads++;
    int64_t wall_ns = stamp_of_message(&message);
    if (wall_ns >= 0) {
        read->kernel_ns = stamp_to_mono(&loop->clock, wall_ns, read->user_ns);
        loop->counters.stamped_reads += read->kernel_ns >= 0;
    }
    return n;
}

enum fed { FED_MORE, FED_END, FED_BAD, FED_GONE };

/* Parses what arrived and calls back. *ret_left: bytes after the response. FED_GONE: a callback ended the exchange. */
static enum fed connection_feed(struct net_connection *c, const char *at, size_t len, const struct net_stamp *stamp,
                                size_t *ret_left)
{
    struct net_exchange *x = c->exchange;
    const char *end = at + len;
    for (;;) {
        const char *span = NULL;
        size_t span_len = 0;
        switch (http_response_next(&c->parser, &at, end, &span, &span_len)) {
        case HTTP_MORE:
            return FED_MORE;
        case HTTP_HEAD:
            c->has_head = true;
            x->ops->on_head(x, &c->parser.head, stamp);
            break;
        case HTTP_SPAN:
            x->ops->on_span(x, span, span_len, stamp);
            break;
        case HTTP_END:
            *ret_left = (size_t)(end - at);
            return FED_END;
        case HTTP_BAD:
            return FED_BAD;
        }
        if (c->exchange != x)
            return FED_GONE;
    }
}

/* Bytes on a reused connection that arrived before its request was sent: the server's farewell, no answer. */
static bool is_stale(struct net_connection *c)
{
    const struct net_read *read = &c->loop->read;
    return c->exchange->reused && read->kernel_ns >= 0 && read->kernel_ns + STALE_MARGIN_NS < c->since_ns &&
           http_response_is_untouched(&c->parser) && stamp_clock_renew(&c->loop->clock);
}

static struct net_stamp stamp_of_read(struct net_connection *c)
{
    struct net_exchange *x = c->exchange;
    const struct net_read *read = &c->loop->read;
    if (x->first_byte_ns < 0)
        x->first_byte_ns = read->kernel_ns >= 0 ? read->kernel_ns : read->user_ns;
    return (struct net_stamp){read->kernel_ns, read->user_ns, c->previous_ns >= 0 ? c->previous_ns : x->written_ns};
}

/* Tells the end of a read; false when a callback ended the exchange. */
static bool tell_read_end(struct net_connection *c, const struct net_stamp *stamp)
{
    struct net_exchange *x = c->exchange;
    c->previous_ns = stamp->user_ns;
    if (!c->has_head || !x->ops->on_read_end)
        return true;
    x->ops->on_read_end(x, stamp, http_response_is_between(&c->parser) && (!c->tls || !tls_is_inside_record(c)));
    return c->exchange == x;
}

static void read_plain(struct net_connection *c)
{
    ssize_t n = connection_receive(c);
    if (n <= 0) {
        if (n < 0 && errno == EAGAIN)
            return;
        c->tls_end.is_eof = n == 0;
        c->tls_end.error_number = n < 0 ? errno : 0;
        connection_lost(c);
        return;
    }
    struct net_exchange *x = c->exchange;
    if (!x) {
        connection_close(c, false);
        return;
    }
    if (is_stale(c)) {
        exchange_reconnect(c);
        return;
    }
    struct net_stamp stamp = stamp_of_read(c);
    size_t left = 0;
    x->bytes_received += (uint64_t)n;
    enum fed fed = connection_feed(c, c->loop->buffer, (size_t)n, &stamp, &left);
    if (fed == FED_GONE || !tell_read_end(c, &stamp))
        return;
    if (fed == FED_END)
        exchange_complete(c, left > 0);
    else if (fed == FED_BAD)
        exchange_malformed(c, c->loop->buffer, (size_t)n);
}

/* Records of one recvmsg, as far as they belong to the response. */
struct tls_progress {
    enum fed fed;
    bool has_more_bytes; /* after the response */
    bool is_dead;        /* the connection was closed or given another exchange */
};

static void take_record(struct net_connection *c, size_t len, struct tls_progress *progress)
{
    size_t left = 0;
    if (!c->exchange) {
        connection_close(c, false);
        progress->is_dead = true;
        return;
    }
    if (progress->fed != FED_MORE) {
        progress->has_more_bytes = true;
        return;
    }
    if (is_stale(c)) {
        exchange_reconnect(c);
        progress->is_dead = true;
        return;
    }
    struct net_stamp stamp = stamp_of_read(c);
    c->exchange->bytes_received += len;
    progress->fed = connection_feed(c, c->loop->plain, len, &stamp, &left);
    progress->has_more_bytes = left > 0;
    progress->is_dead = progress->fed == FED_GONE;
}

static void read_tls(struct net_connection *c)
{
    struct tls_progress progress = {.fed = FED_MORE};
    size_t len;
    c->loop->read = (struct net_read){.owner = c, .may_receive = true, .kernel_ns = -1};
    while ((len = tls_read(c)) > 0) {
        take_record(c, len, &progress);
        if (progress.is_dead)
            return;
    }
    if (c->exchange && c->loop->read.did_receive) {
        struct net_stamp stamp = {c->loop->read.kernel_ns, c->loop->read.user_ns,
                                  c->previous_ns >= 0 ? c->previous_ns : c->exchange->written_ns};
        if (!tell_read_end(c, &stamp))
            return;
    }
    const struct tls_end *end = &c->tls_end;
    if (c->exchange && progress.fed == FED_END)
        exchange_complete(c, progress.has_more_bytes);
    else if (c->exchange && progress.fed == FED_BAD)
        exchange_malformed(c, "", 0);
    else if (end->is_closed || end->is_eof || end->error_number || end->reason)
        connection_lost(c);
}

void connection_event(struct net_connection *c, uint32_t events)
{
    struct net_exchange *x = c->exchange;
    if (events & (EPOLLIN | EPOLLERR | EPOLLHUP)) {
        if (c->tls)
            read_tls(c);
        else
            read_plain(c);
    }
    if (!(events & EPOLLOUT) || c->state != CONNECTION_ACTIVE || c->exchange != x || !c->wants_out)
        return;
    if (!c->is_write_broken)
        connection_send(c);
}
