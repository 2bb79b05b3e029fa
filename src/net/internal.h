/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_NET_INTERNAL_H
#define ASSAY_NET_INTERNAL_H

/*
 * What the files of this module share: the loop, its connections and their states. loop.c waits and dispatches,
 * connect.c brings connections up, connection.c sends, reads and pools, tls.c is OpenSSL, stamps.h the receive stamps.
 *
 * A connection's way: CONNECTING ⇄ BACKOFF → [TUNNEL] → [HANDSHAKE] → ACTIVE ⇄ IDLE → CLOSED. Failures before ACTIVE
 * are put on the loop's pending list and told in the next net_loop_poll; callbacks run only from there, from reading,
 * from cancel and free. A closed connection stays untouched until no event of the running round can name it, then goes
 * to the free list.
 */

#include "net/net.h"
#include "net/stamps.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdatomic.h>
#include <sys/epoll.h>

#define NET_READ_BYTES    ((size_t)64 * 1024)
#define NET_PLAIN_BYTES   ((size_t)16 * 1024) /* one TLS record's text */
#define NET_EVENTS_MAX    64              /* of one look; what ended among them is followed by new requests after it */
#define NET_ADDRESSES_MAX 32              /* of one name; more are not tried */
#define NET_TRY_CLASSES   4               /* a try lasts 250 ms, 1 s, 4 s, 16 s */
#define NET_TRY_BACKOFF   NET_TRY_CLASSES /* list of those that wait 1 ms before the same address once more */

/* A member of one circular list; a list is a head that is no member. */
struct link {
    struct link *next, *previous;
};

static inline void link_init(struct link *link)
{
    link->next = link->previous = link;
}

static inline bool link_is_empty(const struct link *head)
{
    return head->next == head;
}

static inline void link_remove(struct link *link)
{
    link->next->previous = link->previous;
    link->previous->next = link->next;
    link_init(link);
}

static inline void link_insert_after(struct link *at, struct link *link)
{
    link->previous = at;
    link->next = at->next;
    at->next->previous = link;
    at->next = link;
}

enum connection_state {
    CONNECTION_CLOSED,
    CONNECTION_BACKOFF, /* no socket: waits to try an address again */
    CONNECTION_CONNECTING,
    CONNECTION_TUNNEL, /* CONNECT sent to the proxy */
    CONNECTION_HANDSHAKE,
    CONNECTION_ACTIVE, /* has an exchange */
    CONNECTION_IDLE    /* in the pool */
};

/* The end of a TLS stream, as far as it was seen. */
struct tls_end {
    bool is_closed;       /* close_notify came */
    bool is_eof;          /* the peer's FIN came */
    int error_number;     /* the socket failed; 0 = no */
    unsigned long reason; /* the TLS layer failed: OpenSSL's error code; 0 = no */
};

struct net_connection {
    struct link in_list;                          /* pool, or connecting, or alone */
    struct link in_tries;                         /* one of the loop's try lists while an address has a limit */
    struct net_connection *next_all, *next_spare; /* every connection of the loop; free or closed ones */
    struct net_loop *loop;
    struct net_exchange *exchange; /* NULL: idle or opened ahead */
    uint32_t endpoint;
    int fd;               /* -1 = none */
    uint8_t state;        /* enum connection_state */
    bool wants_out;       /* EPOLLOUT is registered */
    bool has_head;        /* on_head ran */
    bool is_write_broken; /* EPIPE or reset while writing; write_error tells */
    int write_error;
    uint64_t request_bytes, sent_bytes; /* of the exchange's request; or of the proxy's */
    int64_t since_ns;                   /* ACTIVE: the exchange began then or a little later; IDLE: since when */
    int64_t previous_ns;                /* the exchange's last read, -1 = none */
    /* connecting */
    int64_t deadline_ns, try_deadline_ns;
    uint32_t refused_mask; /* addresses that failed for good */
    uint8_t try_class, try_position, good_address, address;
    int first_error;    /* errno of the first address that failed for a reason that counts */
    bool is_error_weak; /* … which any later one replaces */
    /* TLS */
    SSL *tls;
    struct tls_end tls_end;
    struct http_response parser;
};

/* Kept-alive connections to one endpoint: the one used last in front. */
struct pool {
    struct link idle;
    uint32_t idle_count;
    SSL_SESSION *session; /* newest, for resumption; NULL = none */
};

/* The read in progress: one recvmsg, its bytes in the loop's buffer. */
struct net_read {
    const struct net_connection *owner; /* whose bytes these are */
    const char *at, *end;               /* not yet taken by OpenSSL */
    bool may_receive;                   /* the one recvmsg of this readiness is still to be made */
    bool did_receive;                   /* it returned bytes; the stamp is set */
    int64_t kernel_ns, user_ns;
};

struct net_loop {
    int epoll_fd, wake_fd, stamp_fd; /* stamp_fd: a socket that keeps the kernel's stamping switched on */
    struct net_options options;
    struct net_endpoint **endpoints; /* the array is the loop's own */
    uint32_t endpoint_count;
    struct pool *pools; /* one an endpoint */
    struct net_endpoint proxy;
    char **proxy_requests; /* one an endpoint, NULL without a proxy */
    SSL_CTX *tls;
    struct link connecting;                 /* by deadline */
    struct link tries[NET_TRY_CLASSES + 1]; /* each by its own deadline */
    struct net_exchange *pending_first, *pending_last;
    struct net_connection *all, *spare, *closed;
    int64_t now_ns;        /* newest reading of the clock */
    int64_t next_timer_ns; /* nothing is due before; INT64_MAX = nothing at all */
    int64_t returned_ns;   /* the last wait's, -1 = none yet */
    struct http_head_memo head_memo;
    struct stamp_clock clock;
    struct net_counters counters;
    struct net_read read;
    bool is_slack_set, has_no_pwait2, is_ending;
    char *buffer; /* NET_READ_BYTES: what a recvmsg returned */
    char *plain;  /* NET_PLAIN_BYTES, only with TLS: what a record held */
    char *gather; /* NET_PLAIN_BYTES, only with TLS: parts of a request put together into one record */
    struct epoll_event events[NET_EVENTS_MAX];
};

/* endpoint.c: the decoded user:password of a URL, NULL when it has none; the caller frees it. */
as_status endpoint_user_info(const char *url, char **ret, struct as_error *err) AS_NODISCARD;

/* loop.c */
void loop_arm(struct net_loop *loop, int64_t at_ns); /* something falls due then */
/* Tells the exchange's end in the next round; its error fields are set already. */
void loop_end_later(struct net_loop *loop, struct net_exchange *x, enum net_end end);
void loop_forget_pending(struct net_loop *loop, struct net_exchange *x);

/* stamp_socket.c: a descriptor, -1 = none to be had */
int stamp_socket_open(void);

/* connect.c */
/* Opens a connection for an exchange (NULL = for the pool). */
void connection_open(struct net_loop *loop, uint32_t endpoint, struct net_exchange *x);
/* An event on a connection that is not up yet. */
void connection_advance(struct net_connection *c, uint32_t events);
/* The limit of its current address, or of all of them, has passed. */
void connection_try_expired(struct net_connection *c);
void connection_deadline_expired(struct net_connection *c);
/* The addresses it connects to: the endpoint's, or the proxy's. */
struct net_endpoint *connection_peer(const struct net_connection *c);

/* connection.c */
/* Gives back the descriptor, the TLS state and its places in lists. `is_polite`: with close_notify. */
void connection_close(struct net_connection *c, bool is_polite);
/* Everything is up: sends the exchange's request, or goes to the pool. */
void connection_ready(struct net_connection *c);
/* Gives an idle or fresh connection to the exchange and sends. */
void connection_begin(struct net_connection *c, struct net_exchange *x);
/* An event on an active or idle connection. */
void connection_event(struct net_connection *c, uint32_t events);
/* Registers or drops interest in writability. */
void connection_want_out(struct net_connection *c, bool is_wanted);
/*
 * One recvmsg into the loop's buffer; sets loop->read and counts. Returns bytes, 0 at the end, -1 with errno (EAGAIN:
 * nothing).
 */
ssize_t connection_receive(struct net_connection *c);
/* Connections that were idle for too long, closed; returns when the next one falls due. */
int64_t pool_expire(struct net_loop *loop, int64_t now_ns);
struct net_connection *pool_take(struct net_loop *loop, uint32_t endpoint);

/* tls.c */
/* The loop's context and buffers. */
as_status tls_open(struct net_loop *loop, struct as_error *err) AS_NODISCARD;
void tls_close(struct net_loop *loop);
bool tls_attach(struct net_connection *c); /* false: no memory */
void tls_detach(struct net_connection *c, bool is_polite);
enum tls_step { TLS_DONE, TLS_WANT_READ, TLS_WANT_WRITE, TLS_FAILED };
/* Goes on with the handshake; on TLS_FAILED `sentence` (size bytes) says why. */
enum tls_step tls_handshake(struct net_connection *c, char *sentence, size_t size);
/* Decrypts into loop->plain: bytes, or 0: no more now (look at c->tls_end). Receives once per loop->read.may_receive.
 */
size_t tls_read(struct net_connection *c);
/* True when part of a record is held. */
bool tls_is_inside_record(const struct net_connection *c);
/* Writes up to `len` bytes; > 0 = taken, 0 = the socket is full, -1 with errno. The same bytes again after 0. */
ssize_t tls_write(struct net_connection *c, const void *data, size_t len);

#endif
