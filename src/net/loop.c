/* SPDX-License-Identifier: Apache-2.0 */
#include "base/strbuf.h"
#include "net/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <unistd.h>

/* ---- making and ending ---- */

static void free_proxy(struct net_loop *loop)
{
    for (uint32_t i = 0; loop->proxy_requests && i < loop->endpoint_count; i++)
        free(loop->proxy_requests[i]);
    free(loop->proxy_requests);
    net_endpoint_done(&loop->proxy);
}

/* user:password as the value of Proxy-Authorization; false without memory. */
static bool add_basic(struct strbuf *out, const char *user)
{
    size_t len = strlen(user);
    unsigned char *encoded = malloc(len / 3 * 4 + 5);
    if (!encoded)
        return false;
    EVP_EncodeBlock(encoded, (const unsigned char *)user, (int)len);
    strbuf_addf(out, "Proxy-Authorization: Basic %s\r\n", (const char *)encoded);
    free(encoded);
    return true;
}

static char *tunnel_request(const struct net_endpoint *endpoint, const char *user)
{
    struct strbuf out;
    bool is_ipv6 = strchr(endpoint->host, ':');
    strbuf_init(&out, 0);
    for (int line = 0; line < 2; line++)
        strbuf_addf(&out, is_ipv6 ? "%s[%s]:%u%s" : "%s%s:%u%s", line ? "Host: " : "CONNECT ", endpoint->host,
                    (unsigned)endpoint->port, line ? "\r\n" : " HTTP/1.1\r\n");
    bool is_whole = !user || add_basic(&out, user);
    strbuf_adds(&out, "\r\n");
    if (!is_whole || strbuf_status(&out) != AS_OK) {
        strbuf_done(&out);
        return NULL;
    }
    return out.data;
}

static as_status open_proxy(struct net_loop *loop, struct as_error *err)
{
    const char *url = loop->options.proxy;
    char *user = NULL;
    as_status status = net_endpoint_parse(url, &loop->proxy, err);
    if (status == AS_OK && (loop->proxy.is_tls || loop->proxy.unix_path))
        status = error_set(err, AS_E_INVALID, "only a proxy of the form http://host:port is possible");
    if (status == AS_OK)
        status = endpoint_user_info(url, &user, err);
    if (status == AS_OK)
        status = net_endpoint_resolve(
            &loop->proxy, loop->options.connect_timeout_ns > 0 ? loop->options.connect_timeout_ns : 30 * NS_PER_S, err);
    if (status != AS_OK) {
        free(user);
        error_prefix(err, "proxy");
        return status;
    }
    loop->proxy_requests = calloc(loop->endpoint_count, sizeof *loop->proxy_requests);
    for (uint32_t i = 0; loop->proxy_requests && i < loop->endpoint_count; i++) {
        loop->proxy_requests[i] = tunnel_request(loop->endpoints[i], user);
        if (!loop->proxy_requests[i])
            status = AS_E_NOMEM;
    }
    free(user);
    if (!loop->proxy_requests || status != AS_OK)
        return error_set(err, AS_E_NOMEM, "out of memory");
    return AS_OK;
}

static as_status open_descriptors(struct net_loop *loop, struct as_error *err)
{
    loop->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    loop->wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = NULL};
    if (loop->epoll_fd < 0 || loop->wake_fd < 0 || epoll_ctl(loop->epoll_fd, EPOLL_CTL_ADD, loop->wake_fd, &event) != 0)
        return error_set_errno(err, errno, "starting the network loop");
    if (!loop->options.no_kernel_stamps)
        loop->stamp_fd = stamp_socket_open();
    return AS_OK;
}

static bool needs_tls(const struct net_loop *loop)
{
    for (uint32_t i = 0; i < loop->endpoint_count; i++) {
        if (loop->endpoints[i]->is_tls)
            return true;
    }
    return false;
}

static as_status loop_open(struct net_loop *loop, struct net_endpoint *const *endpoints, struct as_error *err)
{
    loop->buffer = malloc(NET_READ_BYTES);
    loop->pools = calloc(loop->endpoint_count ? loop->endpoint_count : 1, sizeof *loop->pools);
    loop->endpoints = calloc(loop->endpoint_count ? loop->endpoint_count : 1, sizeof *loop->endpoints);
    if (!loop->buffer || !loop->pools || !loop->endpoints)
        return error_set(err, AS_E_NOMEM, "out of memory");
    for (uint32_t i = 0; i < loop->endpoint_count; i++) {
        loop->endpoints[i] = endpoints[i];
        link_init(&loop->pools[i].idle);
    }
    as_status status = open_descriptors(loop, err);
    if (status == AS_OK && needs_tls(loop))
        status = tls_open(loop, err);
    if (status == AS_OK && loop->options.proxy)
        status = open_proxy(loop, err);
    return status;
}

as_status net_loop_new(const struct net_options *options, struct net_endpoint *const *endpoints,
                       uint32_t endpoint_count, struct net_loop **ret, struct as_error *err)
{
    struct net_loop *loop = calloc(1, sizeof *loop);
    if (!loop)
        return error_set(err, AS_E_NOMEM, "out of memory");
    loop->options = *options;
    loop->endpoint_count = endpoint_count;
    loop->epoll_fd = loop->wake_fd = loop->stamp_fd = -1;
    loop->next_timer_ns = INT64_MAX;
    loop->returned_ns = -1;
    loop->now_ns = mono_now().ns;
    stamp_clock_init(&loop->clock, clock_offset_measure);
    link_init(&loop->connecting);
    for (size_t i = 0; i < sizeof loop->tries / sizeof *loop->tries; i++)
        link_init(&loop->tries[i]);
    as_status status = loop_open(loop, endpoints, err);
    if (status != AS_OK) {
        net_loop_free(loop);
        return status;
    }
    *ret = loop;
    return AS_OK;
}

static void close_fd(int fd)
{
    if (fd >= 0)
        close(fd);
}

static void cancel_all(struct net_loop *loop)
{
    while (loop->pending_first)
        net_exchange_cancel(loop, loop->pending_first);
    for (struct net_connection *c = loop->all; c; c = c->next_all) {
        if (c->exchange)
            net_exchange_cancel(loop, c->exchange);
        else if (c->state != CONNECTION_CLOSED)
            connection_close(c, true);
    }
}

void net_loop_free(struct net_loop *loop)
{
    if (!loop)
        return;
    loop->is_ending = true;
    cancel_all(loop);
    for (struct net_connection *c = loop->all, *next; c; c = next) {
        next = c->next_all;
        free(c);
    }
    tls_close(loop);
    free_proxy(loop);
    close_fd(loop->epoll_fd);
    close_fd(loop->wake_fd);
    close_fd(loop->stamp_fd);
    free(loop->endpoints);
    free(loop->pools);
    free(loop->buffer);
    free(loop);
}

/* ---- exchanges ---- */

void loop_end_later(struct net_loop *loop, struct net_exchange *x, enum net_end end)
{
    x->connection = NULL;
    x->pending_end = end;
    x->is_pending = true;
    x->next = NULL;
    x->previous = loop->pending_last;
    if (loop->pending_last)
        loop->pending_last->next = x;
    else
        loop->pending_first = x;
    loop->pending_last = x;
}

void loop_forget_pending(struct net_loop *loop, struct net_exchange *x)
{
    if (x->previous)
        x->previous->next = x->next;
    else
        loop->pending_first = x->next;
    if (x->next)
        x->next->previous = x->previous;
    else
        loop->pending_last = x->previous;
    x->next = x->previous = NULL;
    x->is_pending = false;
}

/* Those on the list now, not those that join it meanwhile. */
static void tell_pending(struct net_loop *loop)
{
    size_t count = 0;
    for (const struct net_exchange *x = loop->pending_first; x; x = x->next)
        count++;
    for (; count > 0 && loop->pending_first; count--) {
        struct net_exchange *x = loop->pending_first;
        loop_forget_pending(loop, x);
        x->ops->on_end(x, x->pending_end);
    }
}

void net_exchange_start(struct net_loop *loop, struct net_exchange *x)
{
    if (loop->is_ending)
        return;
    x->connect_start_ns = x->connected_ns = x->tls_done_ns = x->written_ns = x->first_byte_ns = -1;
    x->bytes_sent = x->bytes_received = 0;
    x->reused = x->reconnected = x->unclean = x->local_limit = false;
    x->error_number = 0;
    x->error[0] = '\0';
    loop->counters.requests++;
    struct net_connection *c = pool_take(loop, x->endpoint);
    if (c) {
        x->reused = true;
        connection_begin(c, x);
    } else {
        connection_open(loop, x->endpoint, x);
    }
}

void net_exchange_cancel(struct net_loop *loop, struct net_exchange *x)
{
    struct net_connection *c = x->connection;
    if (x->is_pending)
        loop_forget_pending(loop, x);
    else if (c)
        connection_close(c, true);
    else
        return;
    x->connection = NULL;
    x->ops->on_end(x, NET_END_CANCELLED);
}

void net_loop_prewarm(struct net_loop *loop, uint32_t endpoint, uint32_t count)
{
    uint32_t idle = loop->pools[endpoint].idle_count;
    uint32_t room = loop->options.no_reuse || idle >= loop->options.max_idle ? 0 : loop->options.max_idle - idle;
    for (uint32_t i = 0; i < count && i < room; i++)
        connection_open(loop, endpoint, NULL);
}

void net_loop_counters(const struct net_loop *loop, struct net_counters *ret)
{
    *ret = loop->counters;
    ret->clock_step_ns = loop->clock.step_ns;
}

/* ---- time ---- */

void loop_arm(struct net_loop *loop, int64_t at_ns)
{
    if (at_ns < loop->next_timer_ns)
        loop->next_timer_ns = at_ns;
}

static struct net_connection *connection_of_try(struct link *link)
{
    return (struct net_connection *)(void *)((char *)link - offsetof(struct net_connection, in_tries));
}

static struct net_connection *connection_of_connecting(struct link *link)
{
    return (struct net_connection *)(void *)((char *)link - offsetof(struct net_connection, in_list));
}

/* Each list is in the order of its deadlines. What expires may join a list again, later than `now_ns`. */
static void run_timers(struct net_loop *loop, int64_t now_ns)
{
    if (now_ns < loop->next_timer_ns)
        return;
    loop->next_timer_ns = INT64_MAX;
    while (!link_is_empty(&loop->connecting)) {
        struct net_connection *c = connection_of_connecting(loop->connecting.next);
        if (c->deadline_ns > now_ns) {
            loop_arm(loop, c->deadline_ns);
            break;
        }
        connection_deadline_expired(c);
    }
    for (size_t i = 0; i < sizeof loop->tries / sizeof *loop->tries; i++) {
        struct link *list = &loop->tries[i];
        while (!link_is_empty(list)) {
            struct net_connection *c = connection_of_try(list->next);
            if (c->try_deadline_ns > now_ns) {
                loop_arm(loop, c->try_deadline_ns);
                break;
            }
            connection_try_expired(c);
        }
    }
    loop_arm(loop, pool_expire(loop, now_ns));
}

/* ---- waiting ---- */

static int wait_once(struct net_loop *loop, int64_t timeout_ns)
{
    if (!loop->has_no_pwait2) {
        struct timespec timeout = {.tv_sec = (time_t)(timeout_ns / NS_PER_S), .tv_nsec = (long)(timeout_ns % NS_PER_S)};
        int n = epoll_pwait2(loop->epoll_fd, loop->events, NET_EVENTS_MAX, &timeout, NULL);
        if (n >= 0 || (errno != ENOSYS && errno != EPERM))
            return n;
        loop->has_no_pwait2 = true;
    }
    int64_t timeout_ms = timeout_ns / NS_PER_MS; /* the last part of a millisecond is spent without sleeping */
    return epoll_wait(loop->epoll_fd, loop->events, NET_EVENTS_MAX, timeout_ms > 60000 ? 60000 : (int)timeout_ms);
}

static int wait_busily(struct net_loop *loop, int64_t until_ns)
{
    int n;
    do {
        n = wait_once(loop, 0);
    } while (n == 0 && mono_now().ns < until_ns);
    return n;
}

/* Waits for events or until `until_ns`; sets now_ns. */
static int wait_for_events(struct net_loop *loop, int64_t until_ns)
{
    int64_t start_ns = mono_now().ns;
    if (loop->returned_ns >= 0 && start_ns - loop->returned_ns > loop->counters.max_loop_lag_ns)
        loop->counters.max_loop_lag_ns = start_ns - loop->returned_ns;
    if (loop->pending_first)
        until_ns = start_ns;
    int n = 0;
    if (loop->options.busy_poll_us > 0 && until_ns > start_ns) {
        int64_t busy_until_ns = start_ns + loop->options.busy_poll_us * NS_PER_US;
        n = wait_busily(loop, busy_until_ns < until_ns ? busy_until_ns : until_ns);
        start_ns = n == 0 ? mono_now().ns : start_ns;
    }
    if (n == 0)
        n = wait_once(loop, until_ns > start_ns ? until_ns - start_ns : 0);
    loop->now_ns = loop->returned_ns = mono_now().ns;
    loop->counters.wakeups++;
    return n;
}

static void clear_wake(struct net_loop *loop)
{
    uint64_t count;
    ssize_t n = read(loop->wake_fd, &count, sizeof count);
    (void)n;
}

static void dispatch(struct net_loop *loop, const struct epoll_event *event)
{
    struct net_connection *c = event->data.ptr;
    if (!c) {
        clear_wake(loop);
        return;
    }
    if (c->state == CONNECTION_ACTIVE || c->state == CONNECTION_IDLE)
        connection_event(c, event->events);
    else if (c->state != CONNECTION_CLOSED)
        connection_advance(c, event->events);
}

/* Closed connections that no event can name any more become spare ones. */
static void bury_closed(struct net_loop *loop)
{
    while (loop->closed) {
        struct net_connection *c = loop->closed;
        loop->closed = c->next_spare;
        c->next_spare = loop->spare;
        loop->spare = c;
    }
}

struct mono net_loop_poll(struct net_loop *loop, struct mono until)
{
    if (!loop->is_slack_set) {
        prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
        loop->is_slack_set = true;
    }
    bury_closed(loop);
    int n = wait_for_events(loop, until.ns < loop->next_timer_ns ? until.ns : loop->next_timer_ns);
    struct mono returned = {loop->now_ns};
    for (int i = 0; i < n; i++)
        dispatch(loop, &loop->events[i]);
    run_timers(loop, loop->now_ns);
    tell_pending(loop);
    bury_closed(loop);
    return returned;
}

void net_loop_wake(struct net_loop *loop)
{
    int saved = errno;
    uint64_t one = 1;
    ssize_t n = write(loop->wake_fd, &one, sizeof one);
    (void)n;
    errno = saved;
}
