/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_HTTP_SERVER_INTERNAL_H
#define ASSAY_HTTP_SERVER_INTERNAL_H

/*
 * What the files of the server share: server.c (life, listeners), loop.c (waiting, timers' due times, messages),
 * connection.c (life of a connection, its time limits), input.c (bytes to requests), output.c (bytes out), answer.c
 * (answers made of them), timers.c (the heap). All but the atomic members belong to the loop's thread.
 */

#include "http/chunked.h"
#include "http/server.h"

#include <pthread.h>
#include <stdatomic.h>

#define HTTP_DATE_LINE_BYTES 40

#define LOOP_READ_BYTES   ((size_t)64 * 1024)
#define LOOP_EVENTS       256
#define INPUT_AHEAD_BYTES ((size_t)64 * 1024)  /* read ahead of the request being served, at most */
#define BODY_STEP_BYTES   ((int64_t)16 * 1024) /* what must come in body_timeout_ns */

/* What an epoll event points to begins with one of these. */
enum watch_kind { WATCH_CONNECTION, WATCH_LISTENER, WATCH_WAKE };

/* Where a connection stands with its input. */
enum input_state {
    INPUT_HANDSHAKE, /* TLS is not up yet */
    INPUT_HEAD,      /* between requests, or inside a head */
    INPUT_BODY,      /* inside a body; also after an early answer */
    INPUT_DONE,      /* the request is complete: further bytes wait */
    INPUT_LINGER,    /* everything is said: bytes are dropped until the peer closes */
    INPUT_CLOSED     /* no socket any more */
};

enum answer_state { ANSWER_NONE, ANSWER_BEGUN, ANSWER_RAW, ANSWER_COMPLETE };

/* The time limit that runs for a connection; each has a list in the loop, ordered by its start. */
enum limit { LIMIT_HEAD, LIMIT_BODY, LIMIT_IDLE, LIMIT_WRITE, LIMIT_LINGER, LIMIT_COUNT, LIMIT_NONE = LIMIT_COUNT };

struct http_listening {
    enum watch_kind kind;
    int fd;
    uint16_t port;
    char *unix_path; /* to remove at the end, NULL = TCP */
    struct http_tls *tls;
    uint32_t loop; /* the only loop that accepts here, or ALL_LOOPS */
};
#define ALL_LOOPS UINT32_MAX

struct buffer {
    char *data;
    size_t start, len, capacity; /* bytes in use: [start, start + len) */
};

struct http_connection {
    enum watch_kind kind;
    int fd; /* -1 = closed */
    struct http_exchange x;
    SSL *ssl;                                /* NULL = plain */
    struct http_connection *next, *previous; /* all of the loop */
    struct http_connection *ready_next;      /* the loop's list of those that need http_connection_settle */
    struct http_connection *limit_next, *limit_previous;
    int64_t limit_since_ns;
    struct buffer in;           /* bytes that are no whole head yet, or came ahead */
    struct buffer out;          /* bytes that the kernel did not take */
    struct buffer body;         /* collected body */
    char *head;                 /* of the current request, when it must outlive one read */
    size_t head_len, head_seen; /* head_seen: bytes of `in` without a complete head */
    struct http_chunked chunks;
    int64_t left;           /* of a Content-Length body */
    int64_t body_step;      /* bytes since LIMIT_BODY was started */
    uint64_t dropped_bytes; /* while lingering */
    uint32_t holds;
    uint8_t input, answer, limit;
    bool is_ready;  /* is in the ready list */
    bool is_shown;  /* the handler knows the exchange: it is owed on_done */
    bool is_broken; /* the peer is gone, or a limit ended it: the socket is to be closed */
    bool is_abort_told;
    bool has_served;              /* a request before */
    bool wants_drop, wants_reset; /* http_drop */
    bool keep_alive;              /* of the current request, and later of its answer */
    bool is_head_method, is_http10, is_chunked_answer;
    bool drops_pieces; /* the answer has no body: HEAD, 204, 304 */
    bool body_is_here; /* the request's body lies in the same read: an early answer may keep the connection */
    bool has_body, has_chunks;
    bool is_asked_to_close; /* by the request */
    bool is_buried;         /* in the list of those to free */
    bool is_limited;        /* AS_E_LIMIT was returned: on_writable is owed */
    bool reads, writes;     /* registered with epoll for it */
    bool tls_wants_write;   /* TLS must write before it can read on */
    bool closes_input;      /* the peer has sent FIN */
    bool has_blank;         /* the one blank line before a request was skipped */
};

struct counters {
    _Atomic uint64_t accepted, requests, refused, aborted, bytes_read, bytes_sent;
};

struct timer_entry {
    int64_t due_ns;
    uint64_t order; /* of setting */
    struct http_timer *timer;
};

struct timer_heap {
    struct timer_entry *entries;
    uint32_t count, capacity;
    uint64_t next_order;
};

struct limit_list {
    struct http_connection *first, *last;
};

struct http_loop {
    enum watch_kind kind; /* WATCH_WAKE, for the eventfd */
    struct http_server *server;
    uint32_t index;
    int epoll_fd, wake_fd;
    int64_t now_ns; /* of the last look at the clock */
    struct http_connection *connections, *ready, *dead;
    struct limit_list limits[LIMIT_COUNT];
    struct timer_heap timers;
    _Atomic(struct http_message *) messages;     /* newest first */
    struct http_request request;                 /* of the exchange in hand */
    const struct http_connection *request_owner; /* whose kept head `request` describes, NULL = none's */
    bool accepts, is_stopping;
    int64_t accept_again_ns;       /* accepting is paused until then, 0 = not */
    int64_t date_s, date_until_ns; /* what `date` says, and until when it is not looked at again */
    char date[HTTP_DATE_LINE_BYTES];
    struct counters counters;
    void *user;
    pthread_t thread;
    char buffer[LOOP_READ_BYTES];
};

struct http_server {
    struct http_server_options options; /* defaults filled in */
    struct http_listening *listening;
    uint32_t listening_count;
    struct http_loop **loops;
    _Atomic uint32_t connections;
    _Atomic uint32_t accepting_loops; /* the last one to stop closes the listeners */
    _Atomic int64_t stop_at_ns;       /* 0 = running; else when exchanges are aborted */
};

/* One writer; readers see whole values. */
static inline void counter_add(_Atomic uint64_t *counter, uint64_t n)
{
    atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + n, memory_order_relaxed);
}

/* buffers */
bool buffer_reserve(struct buffer *buffer, size_t bytes);
bool buffer_append(struct buffer *buffer, const void *data, size_t len);
void buffer_skip(struct buffer *buffer, size_t len);
void buffer_free(struct buffer *buffer);

/* timers.c */
void timer_heap_free(struct timer_heap *heap);
bool timer_heap_set(struct timer_heap *heap, struct http_timer *timer, struct mono due);
void timer_heap_remove(struct timer_heap *heap, struct http_timer *timer);
/* The timer that is due first, NULL when there is none. */
struct http_timer *timer_heap_first(const struct timer_heap *heap);

/* loop.c */
as_status http_loop_new(struct http_server *server, uint32_t index, struct http_loop **ret, struct as_error *err);
void http_loop_free(struct http_loop *loop);
void http_loop_run(struct http_loop *loop);
void http_loop_wake(struct http_loop *loop);
/* "Date: …\r\n" of the current second. */
const char *http_loop_date_line(struct http_loop *loop);

/* server.c */
void http_server_close_listeners(struct http_server *server);

/* connection.c */
void http_connection_accept(struct http_loop *loop, const struct http_listening *listening);
void http_connection_on_event(struct http_connection *c, uint32_t events);
/* Puts it into the ready list: something about it must be settled outside the handler's calls. */
void http_connection_ready(struct http_connection *c);
void http_connection_settle_all(struct http_loop *loop);
/* Nothing more can be said or heard: on_abort and on_done follow when they are owed. */
void http_connection_break(struct http_connection *c);
void http_connection_free_dead(struct http_loop *loop);
void http_connection_stop_all(struct http_loop *loop, bool now);
/* Sees that the time limit runs that its state asks for, anew when `restart`. */
void http_connection_watch(struct http_connection *c, bool restart);
/* The peer has sent FIN. */
void http_connection_peer_closed(struct http_connection *c);
/* Breaks or closes what is over its limit; the next due time, INT64_MAX = none. */
int64_t http_connection_check_limits(struct http_loop *loop);
/* Tells epoll what is wanted. */
void http_connection_register(struct http_connection *c, bool reads, bool writes);

/* input.c */
void http_input_read(struct http_connection *c, bool until_end);
/* Serves what came ahead. */
void http_input_go_on(struct http_connection *c);
/* Answers by itself and closes: before the handler knows the exchange, or instead of it. */
void http_input_refuse(struct http_connection *c, int status, const char *sentence);

/* output.c */
as_status http_output_send(struct http_connection *c, const struct iovec *parts, int count);
void http_output_flush(struct http_connection *c);

/* answer.c */
/* An answer of the server's own, with Connection: close. */
void http_answer_refusal(struct http_connection *c, int status, const char *sentence);

#endif
