/* SPDX-License-Identifier: Apache-2.0 */
#include "http/date.h"
#include "http/server_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <unistd.h>

/* Sockets are looked at again after so many timers, timers after so many sockets. */
#define TIMERS_AT_ONCE        64
#define EVENTS_BETWEEN_TIMERS 8
/* The kernel may be late by a thousandth of a wait: longer waits than this end early and are followed by a shorter one.
 */
#define EXACT_WAIT_NS NS_PER_MS
/* The Date field may be late by so much. */
#define DATE_CHECK_NS (50 * NS_PER_MS)

static void read_clock(struct http_loop *loop)
{
    loop->now_ns = mono_now().ns;
}

/* ---- making and freeing ---- */

static bool epoll_add(struct http_loop *loop, int fd, uint32_t events, void *watch)
{
    struct epoll_event event = {.events = events, .data.ptr = watch};
    return epoll_ctl(loop->epoll_fd, EPOLL_CTL_ADD, fd, &event) == 0;
}

as_status http_loop_new(struct http_server *server, uint32_t index, struct http_loop **ret, struct as_error *err)
{
    struct http_loop *loop = calloc(1, sizeof *loop);
    if (!loop)
        return error_set(err, AS_E_NOMEM, "no memory for a server loop");
    loop->kind = WATCH_WAKE;
    loop->server = server;
    loop->index = index;
    loop->date_s = INT64_MIN;
    loop->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    loop->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (loop->epoll_fd < 0 || loop->wake_fd < 0 || !epoll_add(loop, loop->wake_fd, EPOLLIN, loop)) {
        as_status status = error_set_errno(err, errno, "no epoll descriptor for a server loop");
        http_loop_free(loop);
        return status;
    }
    read_clock(loop);
    *ret = loop;
    return AS_OK;
}

void http_loop_free(struct http_loop *loop)
{
    if (!loop)
        return;
    if (loop->epoll_fd >= 0)
        close(loop->epoll_fd);
    if (loop->wake_fd >= 0)
        close(loop->wake_fd);
    timer_heap_free(&loop->timers);
    free(loop);
}

/* ---- small services ---- */

uint32_t http_loop_index(const struct http_loop *loop)
{
    return loop->index;
}

void http_loop_set_user(struct http_loop *loop, void *user)
{
    loop->user = user;
}

void *http_loop_user(const struct http_loop *loop)
{
    return loop->user;
}

const char *http_loop_date_line(struct http_loop *loop)
{
    if (loop->date_until_ns > loop->now_ns)
        return loop->date;
    int64_t now_s = wall_now().ns / NS_PER_S;
    loop->date_until_ns = loop->now_ns + DATE_CHECK_NS;
    if (now_s != loop->date_s) {
        memcpy(loop->date, "Date: ", 6);
        http_date_format(now_s, loop->date + 6);
        memcpy(loop->date + 6 + HTTP_DATE_BYTES - 1, "\r\n", 3);
        loop->date_s = now_s;
    }
    return loop->date;
}

as_status http_timer_set(struct http_loop *loop, struct http_timer *timer, struct mono due)
{
    return timer_heap_set(&loop->timers, timer, due) ? AS_OK : AS_E_NOMEM;
}

void http_timer_cancel(struct http_loop *loop, struct http_timer *timer)
{
    timer_heap_remove(&loop->timers, timer);
}

/* ---- messages ---- */

void http_loop_wake(struct http_loop *loop)
{
    uint64_t one = 1;
    (void)!write(loop->wake_fd, &one, sizeof one); /* full means that it is awake */
}

void http_loop_post(struct http_loop *loop, struct http_message *message)
{
    struct http_message *first = atomic_load(&loop->messages);
    do {
        message->next = first;
    } while (!atomic_compare_exchange_weak(&loop->messages, &first, message));
    if (!first)
        http_loop_wake(loop);
}

static void run_messages(struct http_loop *loop)
{
    struct http_message *newest = atomic_exchange(&loop->messages, NULL);
    struct http_message *oldest = NULL;
    while (newest) {
        struct http_message *next = newest->next;
        newest->next = oldest;
        oldest = newest;
        newest = next;
    }
    while (oldest) {
        struct http_message *next = oldest->next;
        oldest->on_message(oldest, loop);
        http_connection_settle_all(loop);
        oldest = next;
    }
}

/* ---- timers ---- */

/* True when more timers are due than were run. */
static bool run_timers(struct http_loop *loop)
{
    for (int i = 0; i < TIMERS_AT_ONCE; i++) {
        struct http_timer *timer = timer_heap_first(&loop->timers);
        if (!timer)
            return false;
        if (timer->due.ns > loop->now_ns) {
            read_clock(loop);
            if (timer->due.ns > loop->now_ns)
                return false;
        }
        timer_heap_remove(&loop->timers, timer);
        timer->on_fire(timer, (struct mono){loop->now_ns});
        http_connection_settle_all(loop);
    }
    read_clock(loop);
    return true;
}

/* ---- listeners ---- */

static bool accepts_here(const struct http_loop *loop, const struct http_listening *listening)
{
    return listening->loop == ALL_LOOPS || listening->loop == loop->index;
}

static void start_accepting(struct http_loop *loop)
{
    struct http_server *server = loop->server;
    for (uint32_t i = 0; i < server->listening_count && !loop->accepts; i++) {
        struct http_listening *listening = &server->listening[i];
        bool is_shared = listening->loop == ALL_LOOPS && server->options.loops > 1;
        if (accepts_here(loop, listening) &&
            !epoll_add(loop, listening->fd, EPOLLIN | (is_shared ? EPOLLEXCLUSIVE : 0u), listening))
            loop->accept_again_ns = loop->now_ns + NS_PER_S;
    }
    loop->accepts = true;
}

static void stop_accepting(struct http_loop *loop)
{
    struct http_server *server = loop->server;
    for (uint32_t i = 0; i < server->listening_count && loop->accepts; i++) {
        if (accepts_here(loop, &server->listening[i]))
            epoll_ctl(loop->epoll_fd, EPOLL_CTL_DEL, server->listening[i].fd, NULL);
    }
    loop->accepts = false;
}

/* Accepting rests while accept_again_ns lies ahead. */
static void check_accepting(struct http_loop *loop)
{
    bool rests = loop->accept_again_ns > loop->now_ns;
    if (rests && loop->accepts) {
        stop_accepting(loop);
    } else if (!rests && loop->accept_again_ns) {
        loop->accept_again_ns = 0;
        if (!loop->is_stopping)
            start_accepting(loop);
    }
}

/* ---- stopping ---- */

/* True while the loop must go on. */
static bool check_stop(struct http_loop *loop)
{
    int64_t stop_at_ns = atomic_load(&loop->server->stop_at_ns);
    if (!stop_at_ns)
        return true;
    if (!loop->is_stopping) {
        loop->is_stopping = true;
        stop_accepting(loop);
        if (atomic_fetch_sub(&loop->server->accepting_loops, 1) == 1)
            http_server_close_listeners(loop->server);
        http_connection_stop_all(loop, false);
    }
    if (loop->now_ns >= stop_at_ns)
        http_connection_stop_all(loop, true);
    http_connection_settle_all(loop);
    http_connection_free_dead(loop);
    return loop->connections != NULL;
}

/* ---- waiting ---- */

static void earlier(int64_t *next_ns, int64_t candidate_ns)
{
    if (candidate_ns < *next_ns)
        *next_ns = candidate_ns;
}

/* How long to wait at most for events, in ns; -1 = without end. */
static int64_t wait_ns(struct http_loop *loop, int64_t limits_ns)
{
    int64_t next_ns = limits_ns;
    int64_t stop_at_ns = atomic_load(&loop->server->stop_at_ns);
    const struct http_timer *timer = timer_heap_first(&loop->timers);
    if (stop_at_ns && stop_at_ns > loop->now_ns)
        earlier(&next_ns, stop_at_ns);
    if (loop->accept_again_ns)
        earlier(&next_ns, loop->accept_again_ns);
    if (timer && timer->due.ns <= next_ns) {
        int64_t until_ns = timer->due.ns - loop->server->options.spin_ns - mono_now().ns;
        if (until_ns <= 0)
            return 0;
        return until_ns > EXACT_WAIT_NS ? until_ns - until_ns / 32 : until_ns;
    }
    if (next_ns == INT64_MAX)
        return -1;
    return next_ns > loop->now_ns ? next_ns - loop->now_ns : 0;
}

static int wait_for_events(struct http_loop *loop, struct epoll_event *events, int64_t ns)
{
    struct timespec timeout = {.tv_sec = (time_t)(ns / NS_PER_S), .tv_nsec = (long)(ns % NS_PER_S)};
    int count = epoll_pwait2(loop->epoll_fd, events, LOOP_EVENTS, ns < 0 ? NULL : &timeout, NULL);
    read_clock(loop);
    return count < 0 ? 0 : count;
}

static void on_event(struct http_loop *loop, const struct epoll_event *event)
{
    uint64_t ignored;
    switch (*(const enum watch_kind *)event->data.ptr) {
    case WATCH_CONNECTION:
        http_connection_on_event(event->data.ptr, event->events);
        break;
    case WATCH_LISTENER:
        if (loop->accepts)
            http_connection_accept(loop, event->data.ptr);
        break;
    case WATCH_WAKE:
        (void)!read(loop->wake_fd, &ignored, sizeof ignored);
        run_messages(loop);
        break;
    }
    http_connection_settle_all(loop);
}

static void run_events(struct http_loop *loop, const struct epoll_event *events, int count)
{
    for (int i = 0; i < count; i++) {
        if (i % EVENTS_BETWEEN_TIMERS == EVENTS_BETWEEN_TIMERS - 1)
            run_timers(loop);
        on_event(loop, &events[i]);
    }
    http_connection_free_dead(loop);
}

void http_loop_run(struct http_loop *loop)
{
    const struct http_server_options *options = &loop->server->options;
    struct epoll_event events[LOOP_EVENTS];
    int slack_ns = prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0);
    prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
    read_clock(loop);
    if (options->handler->on_loop)
        options->handler->on_loop(options->context, loop, true);
    start_accepting(loop);
    for (;;) {
        bool has_more = run_timers(loop);
        int64_t limits_ns = http_connection_check_limits(loop);
        http_connection_settle_all(loop);
        http_connection_free_dead(loop);
        check_accepting(loop);
        if (!check_stop(loop))
            break;
        int count = wait_for_events(loop, events, has_more ? 0 : wait_ns(loop, limits_ns));
        run_events(loop, events, count);
    }
    if (options->handler->on_loop)
        options->handler->on_loop(options->context, loop, false);
    prctl(PR_SET_TIMERSLACK, slack_ns > 0 ? slack_ns : 0, 0, 0, 0);
}
