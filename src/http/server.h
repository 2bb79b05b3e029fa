/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_HTTP_SERVER_H
#define ASSAY_HTTP_SERVER_H

/*
 * An HTTP/1.1 server: listeners (TCP, unix socket, TLS), one epoll loop a thread, requests given to a handler, answers
 * written by it at once, later, or piece by piece. Strict by RFC 9112 (see http/request.h); requests of one connection
 * are served one after another in their order.
 *
 * Threads. A connection belongs to one loop and all its callbacks run in that loop's thread; every function that takes
 * an exchange, a loop or a timer must be called there, too. From other threads only: http_loop_post, http_server_stop,
 * http_server_port, http_server_counters. Callbacks never run from inside a function of this header, but from the loop.
 *
 * Life of an exchange (one request and its answer):
 *   on_head      the head is there, the body perhaps not. May answer at once (then the body is not read), set
 * max_body_bytes or stream_body. May be NULL. `100 Continue` is sent after it, when asked for and no answer was begun.
 *   on_body      a piece of a streamed body.
 *   on_request   the request is complete. Not called when on_head has answered.
 *   on_writable  the output queue has become empty after a function returned AS_E_LIMIT. May be NULL.
 *   on_abort     the peer went away (also by a half-close: FIN before the answer is complete), or a limit, a time limit
 *                or the server's stop ended the exchange before its answer was complete. Nothing can be written from
 * now on. on_done      the last call: the answer is with the kernel, or on_abort was called, and nothing holds the
 * exchange (http_hold). Free here what `user` points to. After it the connection reads the next request. An exchange
 * that saw on_head or on_request sees on_done, exactly once. Requests that the server refuses by itself (malformed, too
 * large, too slow) and never showed to the handler see no callback.
 *
 * Memory: the request and the body belong to the server and are valid inside the callback that gives them.
 * Bytes given to write functions may be reused as soon as the function returns.
 */

#include "base/clock.h"
#include "base/status.h"
#include "http/request.h"
#include "http/tls.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

struct http_server;
struct http_loop;
struct http_connection;

/* One request and its answer; lives in its connection. */
struct http_exchange {
    const struct http_request *request; /* inside on_head, on_body and on_request; else NULL */
    const char *body;                   /* collected body, inside on_request; may hold NUL; not NUL-terminated */
    size_t body_len;                    /* of a streamed body: bytes given so far */
    size_t max_body_bytes;              /* may be set in on_head; a longer body is answered 413 */
    bool stream_body;                   /* may be set in on_head: pieces go to on_body instead of being collected */
    bool is_tls;
    bool is_aborted;      /* on_abort was or will be called: writing fails */
    struct mono received; /* when the read returned that completed the request, inside and after on_request */
    void *user;           /* the handler's own; NULL at first */
    struct http_loop *loop;
    struct http_connection *connection; /* the server's */
};

struct http_handler {
    /* A loop's thread has begun / is about to end: for state of one thread (http_loop_set_user). May be NULL. */
    void (*on_loop)(void *context, struct http_loop *loop, bool begins);
    void (*on_head)(void *context, struct http_exchange *x);
    void (*on_body)(void *context, struct http_exchange *x, const char *data, size_t len);
    void (*on_request)(void *context, struct http_exchange *x);
    void (*on_writable)(void *context, struct http_exchange *x);
    void (*on_abort)(void *context, struct http_exchange *x);
    void (*on_done)(void *context, struct http_exchange *x);
};

/* All times in ns; 0 means the default in brackets, < 0 no limit. */
struct http_server_options {
    const struct http_handler *handler; /* outlives the server */
    void *context;                      /* first argument of the callbacks */
    uint32_t loops;                     /* threads [1] */
    bool reuse_port;          /* one listening TCP socket a loop, balanced by the kernel; else all loops share one */
    size_t max_head_bytes;    /* request line and fields [16 KiB]; more is 431, a line alone longer than it 414 */
    size_t max_body_bytes;    /* default of x->max_body_bytes [1 MiB] */
    size_t max_queue_bytes;   /* output waiting on one connection [1 MiB]: see AS_E_LIMIT below */
    uint32_t max_connections; /* of the server [65536]; at the limit nothing is accepted until one closes */
    int64_t
        head_timeout_ns; /* from a request's first byte (or accept, TLS included) to the end of its head [15 s] → 408 */
    int64_t body_timeout_ns;  /* for each 16 KiB of body, or its rest [30 s] → 408 */
    int64_t idle_timeout_ns;  /* between requests [75 s] */
    int64_t write_timeout_ns; /* without progress while output waits [30 s] */
    int64_t spin_ns;          /* a timer due within it is awaited by polling, not by sleeping [0]: exact, burns CPU */
    const char *server_name;  /* Server field; NULL = none */
};

struct http_listener {
    const char *host; /* address or name to bind, NULL = 127.0.0.1; "::" and "0.0.0.0" are everything */
    uint16_t port;    /* 0 = any free one: see http_server_port */
    const char
        *unix_path;     /* instead of host and port; a socket file nobody listens on is replaced; removed at the end */
    unsigned unix_mode; /* permissions of the socket file, 0 = 0600 */
    struct http_tls *tls; /* NULL = plain; outlives the server */
};

/* ---- server ---- */

as_status http_server_new(const struct http_server_options *options, struct http_server **ret,
                          struct as_error *err) AS_NODISCARD;
/* Binds and listens at once (clients may connect), accepts while the server runs. Before http_server_run only. */
as_status http_server_listen(struct http_server *server, const struct http_listener *listener,
                             struct as_error *err) AS_NODISCARD;
/* The port of the index-th listener, 0 for a unix socket. */
uint16_t http_server_port(const struct http_server *server, uint32_t index);
/* Runs loop 0 in the calling thread and the others in threads of their own; returns when all have stopped. Once only.
 */
as_status http_server_run(struct http_server *server, struct as_error *err) AS_NODISCARD;
/*
 * Ends http_server_run: listeners close, idle connections too, exchanges go on (their answers say Connection: close)
 * for at most drain_ns, then they are aborted. A second call may shorten the time. Any thread; async-signal-safe.
 */
void http_server_stop(struct http_server *server, int64_t drain_ns);
/* After http_server_run has returned, or without it. */
void http_server_free(struct http_server *server);

struct http_server_counters {
    uint64_t accepted, requests, refused,
        aborted;                     /* connections; heads understood; 4xx/5xx by the server itself; on_abort */
    uint64_t bytes_read, bytes_sent; /* above TLS */
    uint32_t connections;            /* open now */
};
/* Each figure is right, together they may be some events apart. */
void http_server_counters(const struct http_server *server, struct http_server_counters *ret);

/* ---- answers ---- */

/*
 * All return AS_OK (sent, or queued as far as the kernel did not take it); AS_E_LIMIT: output waits already and this
 * would pass max_queue_bytes, nothing was taken, on_writable will be called; AS_E_NETWORK: the exchange is aborted;
 * AS_E_STATE: not possible now (an answer was begun or completed already, or none was); AS_E_INVALID: a field's name or
 * value holds forbidden bytes; AS_E_NOMEM. Only the first piece of a large answer is limited, one answer with its body
 * is always taken when nothing waits.
 */
struct http_answer {
    int status;               /* 200–599 */
    const char *content_type; /* NULL = none */
    const struct http_field
        *fields; /* more fields; Date, Server, Content-Length, Transfer-Encoding, Connection are made here */
    uint32_t field_count;
    bool close; /* close the connection after this answer */
};

/* A whole answer with Content-Length (HEAD, 204 and 304: without the body). */
as_status http_answer(struct http_exchange *x, const struct http_answer *answer, const void *body,
                      size_t len) AS_NODISCARD;
/* The same for a status and text/plain; the usual way out of an error. */
as_status http_answer_text(struct http_exchange *x, int status, const char *text) AS_NODISCARD;
/* The head of an answer in pieces: chunked (HTTP/1.0: up to the close). Sent at once. */
as_status http_answer_begin(struct http_exchange *x, const struct http_answer *answer) AS_NODISCARD;
/* One chunk. len 0 does nothing. */
as_status http_answer_piece(struct http_exchange *x, const void *data, size_t len) AS_NODISCARD;
/* One SSE event as one chunk: `name` may be NULL; a line feed in `data` makes another data line. */
as_status http_answer_event(struct http_exchange *x, const char *name, const char *data, size_t len) AS_NODISCARD;
/* The end of an answer in pieces. */
as_status http_answer_end(struct http_exchange *x) AS_NODISCARD;

/*
 * The cheap and the unusual way: bytes as they are, nothing added: heads, chunk sizes and all. One sendmsg (send for
 * one part) while nothing waits, no copy of what the kernel takes. http_raw_end says that the answer is complete;
 * keep_alive false closes the connection then. Not to be mixed with the functions above, except that a head may be made
 * by http_answer_begin and go on raw, and that http_raw_end may end any answer.
 */
as_status http_raw_send(struct http_exchange *x, const struct iovec *parts, int count) AS_NODISCARD;
as_status http_raw_end(struct http_exchange *x, bool keep_alive) AS_NODISCARD;

/* Ends the connection now: what waits is dropped; with a reset (RST) or a FIN. on_done follows; no on_abort. */
void http_drop(struct http_exchange *x, bool with_reset);

/* Bytes that wait because the kernel did not take them. */
size_t http_queued_bytes(const struct http_exchange *x);
/* "192.0.2.1:4711", "[2001:db8::1]:4711" or "unix". */
#define HTTP_PEER_BYTES 64
void http_peer(const struct http_exchange *x, char ret_text[HTTP_PEER_BYTES]);
/* While held (a count) on_done is not called: for work in another thread that will post back. */
void http_hold(struct http_exchange *x);
void http_release(struct http_exchange *x);

/* ---- loops, timers, messages from other threads ---- */

uint32_t http_loop_index(const struct http_loop *loop);
void http_loop_set_user(struct http_loop *loop, void *user);
void *http_loop_user(const struct http_loop *loop);

/*
 * Fires once, at or after `due`, never before; embedded in the caller's struct, zeroed at first. From its callback it
 * may be set again, or freed. Setting one that is set moves it. O(log n); made for tens of thousands. Timers due at the
 * same instant fire in the order in which they were set.
 */
struct http_timer {
    void (*on_fire)(struct http_timer *timer, struct mono now);
    struct mono due;
    uint32_t place; /* the loop's: 1 + index in its heap, 0 = not set */
};
/* AS_E_NOMEM only when there are more timers than ever before. */
as_status http_timer_set(struct http_loop *loop, struct http_timer *timer, struct mono due) AS_NODISCARD;
void http_timer_cancel(struct http_loop *loop, struct http_timer *timer);

/* A call into a loop's thread; embedded in the caller's struct, which lives until it has run. */
struct http_message {
    void (*on_message)(struct http_message *message, struct http_loop *loop);
    struct http_message *next; /* the loop's */
};
/* Any thread. Messages of one thread run in their order. After http_server_run returned they do not run any more. */
void http_loop_post(struct http_loop *loop, struct http_message *message);
/* The index-th loop; valid from http_server_new on. */
struct http_loop *http_server_loop(struct http_server *server, uint32_t index);

#endif
