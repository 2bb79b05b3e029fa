/* SPDX-License-Identifier: Apache-2.0 */
#include "net/internal.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

enum try_result {
    TRY_UP,      /* connected at once */
    TRY_WAITS,   /* connecting */
    TRY_REFUSED, /* failed for good; errno in *ret_error */
    TRY_FULL,    /* the unix socket's queue is full */
    TRY_LOCAL    /* a limit of this machine */
};

/* Where one try goes. */
struct target {
    int family;
    socklen_t len;
    const struct sockaddr *address;
    struct sockaddr_un unix_address;
};

struct net_endpoint *connection_peer(const struct net_connection *c)
{
    struct net_endpoint *endpoint = c->loop->endpoints[c->endpoint];
    return c->loop->proxy.host && !endpoint->unix_path ? &c->loop->proxy : endpoint;
}

static uint32_t address_count(const struct net_endpoint *peer)
{
    uint32_t count = 0;
    if (peer->unix_path)
        return 1;
    for (const struct addrinfo *a = peer->addresses; a && count < NET_ADDRESSES_MAX; a = a->ai_next)
        count++;
    return count;
}

static void target_fill(struct target *target, const struct net_endpoint *peer, uint32_t index)
{
    if (peer->unix_path) {
        memset(&target->unix_address, 0, sizeof target->unix_address);
        target->unix_address.sun_family = AF_UNIX;
        memcpy(target->unix_address.sun_path, peer->unix_path, strlen(peer->unix_path));
        target->family = AF_UNIX;
        target->len = sizeof target->unix_address;
        target->address = (const struct sockaddr *)&target->unix_address;
        return;
    }
    const struct addrinfo *a = peer->addresses;
    while (index--)
        a = a->ai_next;
    target->family = a->ai_family;
    target->len = a->ai_addrlen;
    target->address = a->ai_addr;
}

/* ---- failing ---- */

/* Takes the exchange off a connection that will not come up; its sentence may be filled then. */
static struct net_exchange *connection_give_up(struct net_connection *c)
{
    struct net_exchange *x = c->exchange;
    c->loop->counters.connect_failures++;
    c->exchange = NULL;
    connection_close(c, false);
    return x;
}

static void connection_fail(struct net_connection *c, const char *sentence)
{
    struct net_loop *loop = c->loop;
    struct net_exchange *x = connection_give_up(c);
    if (!x)
        return;
    snprintf(x->error, sizeof x->error, "%s", sentence);
    loop_end_later(loop, x, NET_END_CONNECT);
}

static bool is_local_limit(int error)
{
    return error == EMFILE || error == ENFILE || error == EADDRNOTAVAIL || error == ENOBUFS || error == ENOMEM ||
           error == ENOSPC || error == EAGAIN;
}

/* What to do about a limit of this machine; NULL = it is none. */
static const char *remedy_of(int error)
{
    switch (error) {
    case EMFILE:
        return "no file descriptors left: raise the limit (ulimit -n) or lower the concurrency";
    case ENFILE:
        return "the system's file table is full: raise fs.file-max";
    case EADDRNOTAVAIL:
        return "no local port or address left: keep connections alive or widen net.ipv4.ip_local_port_range";
    case ENOSPC:
        return "no epoll watches left: raise fs.epoll.max_user_watches";
    case ENOBUFS:
    case ENOMEM:
        return "the kernel has no memory left for sockets: lower the concurrency or raise net.ipv4.tcp_mem";
    default:
        return NULL;
    }
}

static void connection_fail_errno(struct net_connection *c, int error)
{
    struct net_loop *loop = c->loop;
    const struct net_endpoint *peer = connection_peer(c);
    const char *remedy = remedy_of(error);
    struct net_exchange *x = connection_give_up(c);
    if (!x)
        return;
    x->error_number = error;
    x->local_limit = is_local_limit(error);
    const char *what = peer == &loop->proxy ? "the proxy " : "";
    const char *why = remedy ? remedy : strerror(error);
    if (peer->unix_path)
        snprintf(x->error, sizeof x->error, "connecting to %.60s: %s", peer->unix_path, why);
    else
        snprintf(x->error, sizeof x->error, "connecting to %s%.40s port %u: %s", what, peer->host, (unsigned)peer->port,
                 why);
    loop_end_later(loop, x, NET_END_CONNECT);
}

void connection_deadline_expired(struct net_connection *c)
{
    static const char *const steps[] = {[CONNECTION_BACKOFF] = "to accept (its queue is full)",
                                        [CONNECTION_CONNECTING] = "to answer the TCP connect",
                                        [CONNECTION_TUNNEL] = "as a proxy to open the tunnel",
                                        [CONNECTION_HANDSHAKE] = "to complete the TLS handshake"};
    struct net_loop *loop = c->loop;
    const struct net_endpoint *peer = connection_peer(c);
    const char *step = steps[c->state];
    struct net_exchange *x = connection_give_up(c);
    if (!x)
        return;
    x->error_number = ETIMEDOUT;
    snprintf(x->error, sizeof x->error, "%.70s took longer than %.3g s %s",
             peer->unix_path ? peer->unix_path : peer->host,
             (double)loop->options.connect_timeout_ns / (double)NS_PER_S, step);
    loop_end_later(loop, x, NET_END_CONNECT_TIMEOUT);
}

/* ---- one address ---- */

static void set_options(const struct net_loop *loop, int fd, bool is_unix)
{
    int on = 1;
    if (!loop->options.no_kernel_stamps)
        setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on);
    if (is_unix)
        return;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (loop->options.keepalive_s > 0) {
        int idle_s = loop->options.keepalive_s;
        int interval_s = idle_s >= 3 ? idle_s / 3 : 1;
        int count = 3;
        setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
        setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, sizeof idle_s);
        setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval_s, sizeof interval_s);
        setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &count, sizeof count);
    }
}

static void drop_socket(struct net_connection *c)
{
    close(c->fd);
    c->fd = -1;
}

static enum try_result try_address(struct net_connection *c, const struct target *target, int *ret_error)
{
    c->fd = socket(target->family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (c->fd < 0) {
        *ret_error = errno;
        return errno == EAFNOSUPPORT ? TRY_REFUSED : TRY_LOCAL;
    }
    set_options(c->loop, c->fd, target->family == AF_UNIX);
    bool is_up = connect(c->fd, target->address, target->len) == 0;
    if (!is_up && errno != EINPROGRESS) {
        *ret_error = errno;
        drop_socket(c);
        return *ret_error == EAGAIN && target->family == AF_UNIX ? TRY_FULL : TRY_REFUSED;
    }
    struct epoll_event event = {.events = is_up ? EPOLLIN : EPOLLIN | EPOLLOUT, .data.ptr = c};
    if (epoll_ctl(c->loop->epoll_fd, EPOLL_CTL_ADD, c->fd, &event) != 0) {
        *ret_error = errno;
        drop_socket(c);
        return TRY_LOCAL;
    }
    c->wants_out = !is_up;
    return is_up ? TRY_UP : TRY_WAITS;
}

/* The address of the next try, -1 when all have failed for good. The one that connected last comes first. */
static int next_address(struct net_connection *c, uint32_t count)
{
    uint32_t all = count == 32 ? UINT32_MAX : (UINT32_C(1) << count) - 1;
    while ((c->refused_mask & all) != all) {
        while (c->try_position < count) {
            uint32_t position = c->try_position++;
            uint32_t index = position == 0 ? c->good_address : position <= c->good_address ? position - 1 : position;
            if (!(c->refused_mask >> index & 1))
                return (int)index;
        }
        c->try_position = 0;
        if (c->try_class + 1 < NET_TRY_CLASSES)
            c->try_class++;
    }
    return -1;
}

/* Keeps the first reason that tells something; that this machine has no IPv6 tells little. */
static void note_error(struct net_connection *c, int family, int error)
{
    bool is_weak = family == AF_INET6 && (error == EADDRNOTAVAIL || error == ENETUNREACH || error == EAFNOSUPPORT);
    if (c->first_error == 0 || (c->is_error_weak && !is_weak)) {
        c->first_error = error;
        c->is_error_weak = is_weak;
    }
}

static void start_try_limit(struct net_connection *c, uint32_t list, int64_t limit_ns)
{
    struct link *head = &c->loop->tries[list];
    c->try_deadline_ns = mono_now().ns + limit_ns;
    link_insert_after(head->previous, &c->in_tries);
    loop_arm(c->loop, c->try_deadline_ns);
}

static void connection_up(struct net_connection *c);

/* Goes to the next address until one connects, waits, or all have failed. */
static void connection_try(struct net_connection *c)
{
    const struct net_endpoint *peer = connection_peer(c);
    uint32_t count = address_count(peer);
    for (;;) {
        struct target target;
        int index = next_address(c, count);
        int error = 0;
        if (index < 0) {
            connection_fail_errno(c, c->first_error);
            return;
        }
        c->address = (uint8_t)index;
        target_fill(&target, peer, (uint32_t)index);
        switch (try_address(c, &target, &error)) {
        case TRY_UP:
            connection_up(c);
            return;
        case TRY_WAITS:
            c->state = CONNECTION_CONNECTING;
            if ((uint32_t)__builtin_popcount(c->refused_mask) + 1 < count)
                start_try_limit(c, c->try_class, (250 * NS_PER_MS) << (2 * c->try_class));
            return;
        case TRY_FULL:
            c->state = CONNECTION_BACKOFF;
            c->try_position = 0;
            start_try_limit(c, NET_TRY_BACKOFF, NS_PER_MS);
            return;
        case TRY_REFUSED:
            note_error(c, target.family, error);
            c->refused_mask |= UINT32_C(1) << index;
            break;
        case TRY_LOCAL:
            connection_fail_errno(c, error);
            return;
        }
    }
}

void connection_try_expired(struct net_connection *c)
{
    link_remove(&c->in_tries);
    if (c->fd >= 0)
        drop_socket(c);
    connection_try(c);
}

/* Loopback only: with nobody listening, a socket whose own port is the target connects to itself. */
static bool is_connected_to_itself(int fd)
{
    struct sockaddr_storage own, peer;
    socklen_t own_len = sizeof own, peer_len = sizeof peer;
    return getsockname(fd, (struct sockaddr *)&own, &own_len) == 0 &&
           getpeername(fd, (struct sockaddr *)&peer, &peer_len) == 0 && own_len == peer_len &&
           memcmp(&own, &peer, own_len) == 0;
}

static void check_connect(struct net_connection *c)
{
    int error = 0;
    socklen_t len = sizeof error;
    if (getsockopt(c->fd, SOL_SOCKET, SO_ERROR, &error, &len) != 0)
        error = errno;
    if (error == 0 && is_connected_to_itself(c->fd))
        error = ECONNREFUSED;
    link_remove(&c->in_tries);
    if (error == 0) {
        connection_up(c);
        return;
    }
    struct target target;
    target_fill(&target, connection_peer(c), c->address);
    note_error(c, target.family, error);
    c->refused_mask |= UINT32_C(1) << c->address;
    drop_socket(c);
    connection_try(c);
}

/* ---- above TCP ---- */

static void advance_handshake(struct net_connection *c)
{
    char sentence[sizeof((struct net_exchange *)0)->error];
    switch (tls_handshake(c, sentence, sizeof sentence)) {
    case TLS_WANT_READ:
        connection_want_out(c, false);
        return;
    case TLS_WANT_WRITE:
        connection_want_out(c, true);
        return;
    case TLS_FAILED:
        if (c->exchange)
            c->exchange->error_number = c->tls_end.error_number;
        connection_fail(c, sentence);
        return;
    case TLS_DONE:
        break;
    }
    if (c->exchange)
        c->exchange->tls_done_ns = mono_now().ns;
    if (tls_read(c) > 0)
        connection_fail(c, "the server sent data over TLS before there was a request");
    else
        connection_ready(c);
}

/* The way to the endpoint itself is open. */
static void connection_reached(struct net_connection *c)
{
    if (c->exchange)
        c->exchange->connected_ns = mono_now().ns;
    if (!c->loop->endpoints[c->endpoint]->is_tls) {
        connection_ready(c);
        return;
    }
    c->state = CONNECTION_HANDSHAKE;
    if (tls_attach(c))
        advance_handshake(c);
    else
        connection_fail(c, "out of memory");
}

static void send_tunnel_request(struct net_connection *c)
{
    const char *request = c->loop->proxy_requests[c->endpoint];
    ssize_t n = send(c->fd, request + c->sent_bytes, strlen(request) - c->sent_bytes, MSG_NOSIGNAL);
    if (n > 0)
        c->sent_bytes += (uint64_t)n;
    connection_want_out(c, (n > 0 && request[c->sent_bytes]) || (n < 0 && errno == EAGAIN));
}

static void read_tunnel_answer(struct net_connection *c)
{
    char sentence[sizeof((struct net_exchange *)0)->error];
    ssize_t n = connection_receive(c);
    if (n < 0 && errno == EAGAIN)
        return;
    if (n <= 0) {
        connection_fail(c, "the proxy closed the connection before it opened the tunnel");
        return;
    }
    const char *at = c->loop->buffer, *end = at + n, *span;
    size_t len;
    enum http_result result = http_response_next(&c->parser, &at, end, &span, &len);
    if (result == HTTP_MORE)
        return;
    if (result == HTTP_HEAD && c->parser.head.status / 100 == 2 && at == end) {
        http_response_done(&c->parser);
        connection_reached(c);
        return;
    }
    if (result == HTTP_HEAD)
        snprintf(sentence, sizeof sentence, "the proxy answered %d to CONNECT%s", c->parser.head.status,
                 c->parser.head.status / 100 == 2 ? " and sent more than that" : "");
    else
        snprintf(sentence, sizeof sentence, "the proxy's answer to CONNECT is not HTTP: %.80s", c->parser.error);
    connection_fail(c, sentence);
}

static void connection_up(struct net_connection *c)
{
    struct net_endpoint *peer = connection_peer(c);
    connection_want_out(c, false);
    if (atomic_load_explicit(&peer->good_address, memory_order_relaxed) != c->address)
        atomic_store_explicit(&peer->good_address, c->address, memory_order_relaxed);
    if (peer != &c->loop->proxy) {
        connection_reached(c);
        return;
    }
    c->state = CONNECTION_TUNNEL;
    c->sent_bytes = 0;
    http_response_init(&c->parser);
    c->parser.head_request = true;
    send_tunnel_request(c);
}

void connection_advance(struct net_connection *c, uint32_t events)
{
    switch (c->state) {
    case CONNECTION_CONNECTING:
        if (events & (EPOLLOUT | EPOLLERR | EPOLLHUP))
            check_connect(c);
        return;
    case CONNECTION_TUNNEL:
        if (events & EPOLLOUT)
            send_tunnel_request(c);
        if (events & (EPOLLIN | EPOLLERR | EPOLLHUP))
            read_tunnel_answer(c);
        return;
    case CONNECTION_HANDSHAKE:
        c->loop->read = (struct net_read){.owner = c, .may_receive = true};
        advance_handshake(c);
        return;
    default:
        return;
    }
}

/* ---- opening ---- */

static struct net_connection *connection_new(struct net_loop *loop)
{
    struct net_connection *c = loop->spare;
    if (c) {
        loop->spare = c->next_spare;
        struct net_connection *next_all = c->next_all;
        memset(c, 0, sizeof *c);
        c->next_all = next_all;
    } else {
        c = calloc(1, sizeof *c);
        if (!c)
            return NULL;
        c->next_all = loop->all;
        loop->all = c;
    }
    c->loop = loop;
    c->fd = -1;
    c->previous_ns = -1;
    link_init(&c->in_list);
    link_init(&c->in_tries);
    return c;
}

static void open_failed(struct net_loop *loop, struct net_exchange *x, const char *sentence)
{
    loop->counters.connect_failures++;
    if (!x)
        return;
    snprintf(x->error, sizeof x->error, "%s", sentence);
    loop_end_later(loop, x, NET_END_CONNECT);
}

void connection_open(struct net_loop *loop, uint32_t endpoint, struct net_exchange *x)
{
    struct net_connection *c = connection_new(loop);
    if (!c) {
        open_failed(loop, x, "out of memory");
        return;
    }
    c->endpoint = endpoint;
    c->exchange = x;
    c->state = CONNECTION_BACKOFF;
    loop->counters.connecting_now++;
    if (++loop->counters.open_now > loop->counters.open_peak)
        loop->counters.open_peak = loop->counters.open_now;
    int64_t now_ns = mono_now().ns;
    if (x) {
        x->connection = c;
        x->connect_start_ns = now_ns;
    }
    struct net_endpoint *peer = connection_peer(c);
    uint32_t count = address_count(peer);
    if (count == 0) {
        connection_fail(c, "the host name was not looked up");
        return;
    }
    uint32_t good = atomic_load_explicit(&peer->good_address, memory_order_relaxed);
    c->good_address = (uint8_t)(good < count ? good : 0);
    if (loop->options.connect_timeout_ns > 0) {
        c->deadline_ns = now_ns + loop->options.connect_timeout_ns;
        link_insert_after(loop->connecting.previous, &c->in_list);
        loop_arm(loop, c->deadline_ns);
    }
    connection_try(c);
}
