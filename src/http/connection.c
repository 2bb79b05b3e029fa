/* SPDX-License-Identifier: Apache-2.0 */
#include "http/server_internal.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <openssl/err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

/* How long, and for how many bytes, a closing connection waits for the peer to read its last answer. */
#define LINGER_NS    (2 * NS_PER_S)
#define LINGER_BYTES ((uint64_t)16 * 1024 * 1024)
/* Accepting again after a failure for want of descriptors, or at the limit of connections. */
#define ACCEPT_PAUSE_NS (100 * NS_PER_MS)
#define ACCEPTS_AT_ONCE 64

/* ---- time limits ---- */

static void limit_remove(struct http_connection *c)
{
    if (c->limit == LIMIT_NONE)
        return;
    struct limit_list *list = &c->x.loop->limits[c->limit];
    *(c->limit_previous ? &c->limit_previous->limit_next : &list->first) = c->limit_next;
    *(c->limit_next ? &c->limit_next->limit_previous : &list->last) = c->limit_previous;
    c->limit_next = c->limit_previous = NULL;
    c->limit = LIMIT_NONE;
}

static void limit_start(struct http_connection *c, enum limit limit)
{
    limit_remove(c);
    if (limit == LIMIT_NONE)
        return;
    struct limit_list *list = &c->x.loop->limits[limit];
    c->limit = (uint8_t)limit;
    c->limit_since_ns = c->x.loop->now_ns;
    c->limit_previous = list->last;
    *(list->last ? &list->last->limit_next : &list->first) = c;
    list->last = c;
}

static enum limit wanted_limit(const struct http_connection *c)
{
    if (c->fd < 0)
        return LIMIT_NONE;
    if (c->out.len)
        return LIMIT_WRITE;
    switch (c->input) {
    case INPUT_HANDSHAKE:
        return LIMIT_HEAD;
    case INPUT_HEAD:
        return c->has_served && !c->in.len ? LIMIT_IDLE : LIMIT_HEAD;
    case INPUT_BODY:
        return c->answer == ANSWER_NONE ? LIMIT_BODY : LIMIT_NONE;
    case INPUT_LINGER:
        return LIMIT_LINGER;
    default:
        return LIMIT_NONE;
    }
}

void http_connection_watch(struct http_connection *c, bool restart)
{
    enum limit wanted = wanted_limit(c);
    if (restart || wanted != (enum limit)c->limit)
        limit_start(c, wanted);
}

static int64_t limit_ns(const struct http_server_options *options, enum limit limit)
{
    switch (limit) {
    case LIMIT_HEAD:
        return options->head_timeout_ns;
    case LIMIT_BODY:
        return options->body_timeout_ns;
    case LIMIT_IDLE:
        return options->idle_timeout_ns;
    case LIMIT_WRITE:
        return options->write_timeout_ns;
    default:
        return LINGER_NS;
    }
}

static void on_limit(struct http_connection *c, enum limit limit)
{
    limit_remove(c);
    if (limit == LIMIT_HEAD && c->input == INPUT_HEAD && c->in.len && c->answer == ANSWER_NONE)
        http_input_refuse(c, 408, "the request head took too long");
    else if (limit == LIMIT_BODY)
        http_input_refuse(c, 408, "the request body took too long");
    else
        http_connection_break(c);
}

int64_t http_connection_check_limits(struct http_loop *loop)
{
    int64_t next_ns = INT64_MAX;
    for (int limit = 0; limit < LIMIT_COUNT; limit++) {
        int64_t duration = limit_ns(&loop->server->options, (enum limit)limit);
        struct http_connection *c = loop->limits[limit].first;
        while (duration >= 0 && c && c->limit_since_ns + duration <= loop->now_ns) {
            on_limit(c, (enum limit)limit);
            c = loop->limits[limit].first;
        }
        if (duration >= 0 && c && c->limit_since_ns + duration < next_ns)
            next_ns = c->limit_since_ns + duration;
    }
    return next_ns;
}

/* ---- life ---- */

void http_connection_register(struct http_connection *c, bool reads, bool writes)
{
    uint32_t events = (reads ? EPOLLIN : 0u) | (writes ? EPOLLOUT : 0u) | (c->closes_input ? 0u : EPOLLRDHUP);
    struct epoll_event event = {.events = events, .data.ptr = c};
    c->reads = reads;
    c->writes = writes;
    if (epoll_ctl(c->x.loop->epoll_fd, EPOLL_CTL_MOD, c->fd, &event) != 0)
        http_connection_break(c);
}

static void pause_accepting(struct http_loop *loop)
{
    loop->accept_again_ns = loop->now_ns + ACCEPT_PAUSE_NS;
}

static struct http_connection *connection_new(struct http_loop *loop, int fd, const struct http_listening *listening)
{
    struct http_connection *c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    if (listening->tls) {
        c->ssl = http_tls_session(listening->tls);
        if (!c->ssl || !http_tls_attach(c->ssl, fd)) {
            SSL_free(c->ssl);
            ERR_clear_error();
            free(c);
            return NULL;
        }
    }
    c->fd = fd;
    c->input = c->ssl ? INPUT_HANDSHAKE : INPUT_HEAD;
    c->limit = LIMIT_NONE;
    c->reads = true;
    c->x.loop = loop;
    c->x.connection = c;
    c->next = loop->connections;
    if (c->next)
        c->next->previous = c;
    loop->connections = c;
    return c;
}

/* Takes over one accepted socket. */
static void take_socket(struct http_loop *loop, const struct http_listening *listening, int fd)
{
    struct http_connection *c = connection_new(loop, fd, listening);
    struct epoll_event event = {.events = EPOLLIN | EPOLLRDHUP, .data.ptr = c};
    atomic_fetch_add(&loop->server->connections, 1);
    counter_add(&loop->counters.accepted, 1);
    if (!c) {
        close(fd);
        atomic_fetch_sub(&loop->server->connections, 1);
    } else if (epoll_ctl(loop->epoll_fd, EPOLL_CTL_ADD, fd, &event) != 0) {
        http_connection_break(c);
    } else {
        http_connection_watch(c, true);
    }
}

void http_connection_accept(struct http_loop *loop, const struct http_listening *listening)
{
    /* Few at a time when several loops wait on one socket, so that each gets a share. */
    int count = loop->server->options.loops > 1 && listening->loop == ALL_LOOPS ? 4 : ACCEPTS_AT_ONCE;
    while (count-- > 0) {
        if (atomic_load(&loop->server->connections) >= loop->server->options.max_connections) {
            pause_accepting(loop);
            return;
        }
        int fd = accept4(listening->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd >= 0) {
            take_socket(loop, listening, fd);
            continue;
        }
        if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
            pause_accepting(loop);
        if (errno != EINTR && errno != ECONNABORTED)
            return;
    }
}

/* The socket goes; the struct stays until the handler has let go of the exchange. */
static void close_socket(struct http_connection *c, bool with_reset)
{
    if (c->fd < 0)
        return;
    limit_remove(c);
    if (with_reset) {
        struct linger linger = {.l_onoff = 1, .l_linger = 0};
        setsockopt(c->fd, SOL_SOCKET, SO_LINGER, &linger, sizeof linger);
        if (c->ssl)
            SSL_set_quiet_shutdown(c->ssl, 1);
    }
    if (c->ssl) {
        ERR_clear_error();
        if (SSL_is_init_finished(c->ssl) && !c->is_broken)
            SSL_shutdown(c->ssl);
        SSL_free(c->ssl);
        ERR_clear_error();
        c->ssl = NULL;
    }
    close(c->fd);
    c->fd = -1;
    c->input = INPUT_CLOSED;
    buffer_free(&c->in);
    buffer_free(&c->out);
    atomic_fetch_sub(&c->x.loop->server->connections, 1);
}

/* Into the list of those to free: later events of this round may still point to it. */
static void bury(struct http_connection *c)
{
    struct http_loop *loop = c->x.loop;
    c->is_buried = true;
    if (c->next)
        c->next->previous = c->previous;
    *(c->previous ? &c->previous->next : &loop->connections) = c->next;
    if (loop->request_owner == c)
        loop->request_owner = NULL;
    free(c->head);
    buffer_free(&c->body);
    c->next = loop->dead;
    loop->dead = c;
}

void http_connection_free_dead(struct http_loop *loop)
{
    while (loop->dead) {
        struct http_connection *c = loop->dead;
        loop->dead = c->next;
        free(c);
    }
}

void http_connection_ready(struct http_connection *c)
{
    if (c->is_ready)
        return;
    c->is_ready = true;
    c->ready_next = c->x.loop->ready;
    c->x.loop->ready = c;
}

void http_connection_break(struct http_connection *c)
{
    c->is_broken = true;
    http_connection_ready(c);
}

void http_connection_peer_closed(struct http_connection *c)
{
    if (c->closes_input)
        return;
    c->closes_input = true;
    if (c->input == INPUT_DONE && c->answer == ANSWER_COMPLETE)
        http_connection_register(c, false, c->out.len > 0); /* what is left of the answer can still go out */
    else
        http_connection_break(c);
}

/* All of a request and its answer is over: says goodbye, waits until the peer has read it. */
static void begin_close(struct http_connection *c, bool is_clean)
{
    if (c->closes_input || is_clean) {
        close_socket(c, false);
        return;
    }
    if (c->ssl) {
        ERR_clear_error();
        SSL_shutdown(c->ssl);
        ERR_clear_error();
    }
    shutdown(c->fd, SHUT_WR);
    c->input = INPUT_LINGER;
    buffer_free(&c->in);
    buffer_free(&c->out);
    if (!c->reads || c->writes)
        http_connection_register(c, true, false);
    http_connection_watch(c, true);
}

/* ---- settling: what must not happen inside a call of the handler ---- */

static void tell_abort(struct http_connection *c)
{
    const struct http_server_options *options = &c->x.loop->server->options;
    c->is_abort_told = c->x.is_aborted = true;
    counter_add(&c->x.loop->counters.aborted, 1);
    if (options->handler->on_abort)
        options->handler->on_abort(options->context, &c->x);
}

static bool is_sent(const struct http_connection *c)
{
    return c->answer == ANSWER_COMPLETE && !c->out.len;
}

static void drop_or_break(struct http_connection *c)
{
    bool is_owed = c->is_shown && !c->is_abort_told && !c->wants_drop;
    if (is_owed && (c->x.is_aborted || (c->is_broken && !is_sent(c))))
        tell_abort(c);
    if (c->is_broken) {
        close_socket(c, c->out.len > 0);
    } else if (c->wants_drop && c->input != INPUT_LINGER && c->fd >= 0) {
        c->x.is_aborted = true;
        buffer_free(&c->out);
        if (c->wants_reset)
            close_socket(c, true);
        else
            begin_close(c, false);
    }
}

/* The next request of the connection, or its end. */
static void finish_exchange(struct http_connection *c)
{
    bool was_read = c->input == INPUT_DONE;
    bool has_all = was_read && !c->in.len; /* nothing of the client's is unread: closing gives no reset */
    if (!was_read || !c->keep_alive || c->x.loop->is_stopping || (c->closes_input && !c->in.len)) {
        begin_close(c, has_all && c->is_asked_to_close);
        return;
    }
    c->answer = ANSWER_NONE;
    c->input = INPUT_HEAD;
    c->has_served = true;
    c->is_abort_told = c->is_limited = c->has_blank = false;
    c->head_seen = 0;
    http_input_go_on(c);
    if (c->closes_input && c->input == INPUT_HEAD && c->fd >= 0)
        http_connection_break(c);
    else if (c->fd >= 0)
        http_connection_watch(c, false);
}

static void settle(struct http_connection *c)
{
    const struct http_server_options *options = &c->x.loop->server->options;
    if (c->is_buried)
        return;
    drop_or_break(c);
    if (c->is_limited && !c->out.len && c->fd >= 0 && !c->x.is_aborted && c->answer != ANSWER_COMPLETE) {
        c->is_limited = false;
        if (options->handler->on_writable)
            options->handler->on_writable(options->context, &c->x);
    }
    bool is_over = c->fd < 0 || c->wants_drop || is_sent(c);
    if (c->is_shown && is_over && !c->holds) {
        c->is_shown = false;
        if (options->handler->on_done)
            options->handler->on_done(options->context, &c->x);
    }
    if (!c->is_shown && c->fd >= 0 && is_sent(c) && c->input != INPUT_LINGER)
        finish_exchange(c);
    if (!c->is_shown && c->fd < 0)
        bury(c);
}

void http_connection_settle_all(struct http_loop *loop)
{
    while (loop->ready) {
        struct http_connection *c = loop->ready;
        loop->ready = c->ready_next;
        c->is_ready = false;
        settle(c);
    }
}

/* ---- events ---- */

void http_connection_on_event(struct http_connection *c, uint32_t events)
{
    if (c->fd < 0)
        return;
    bool ends = events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR);
    if ((events & EPOLLOUT) && c->out.len)
        http_output_flush(c);
    if (ends && c->closes_input)
        http_connection_break(c); /* only a reset is reported after FIN */
    else if (ends || (events & EPOLLIN) || c->tls_wants_write)
        http_input_read(c, ends);
    if (c->input == INPUT_LINGER && c->dropped_bytes > LINGER_BYTES)
        http_connection_break(c);
    http_connection_watch(c, false);
}

void http_connection_stop_all(struct http_loop *loop, bool now)
{
    for (struct http_connection *c = loop->connections; c; c = c->next) {
        bool is_idle =
            c->input == INPUT_HANDSHAKE || (c->input == INPUT_HEAD && !c->in.len && c->answer == ANSWER_NONE);
        if (c->fd >= 0 && (now || is_idle))
            http_connection_break(c);
    }
}

void http_drop(struct http_exchange *x, bool with_reset)
{
    struct http_connection *c = x->connection;
    if (c->wants_drop || c->fd < 0)
        return;
    c->wants_drop = true;
    c->wants_reset = with_reset;
    http_connection_ready(c);
}

void http_hold(struct http_exchange *x)
{
    x->connection->holds++;
}

void http_release(struct http_exchange *x)
{
    struct http_connection *c = x->connection;
    if (--c->holds == 0)
        http_connection_ready(c);
}

void http_peer(const struct http_exchange *x, char ret_text[HTTP_PEER_BYTES])
{
    struct sockaddr_storage address;
    socklen_t len = sizeof address;
    char host[INET6_ADDRSTRLEN];
    snprintf(ret_text, HTTP_PEER_BYTES, "unknown");
    if (x->connection->fd < 0 || getpeername(x->connection->fd, (struct sockaddr *)&address, &len) != 0)
        return;
    if (address.ss_family == AF_INET) {
        const struct sockaddr_in *in = (const struct sockaddr_in *)(const void *)&address;
        if (inet_ntop(AF_INET, &in->sin_addr, host, sizeof host))
            snprintf(ret_text, HTTP_PEER_BYTES, "%s:%u", host, (unsigned)ntohs(in->sin_port));
    } else if (address.ss_family == AF_INET6) {
        const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)(const void *)&address;
        if (inet_ntop(AF_INET6, &in6->sin6_addr, host, sizeof host))
            snprintf(ret_text, HTTP_PEER_BYTES, "[%s]:%u", host, (unsigned)ntohs(in6->sin6_port));
    } else {
        snprintf(ret_text, HTTP_PEER_BYTES, "unix");
    }
}
