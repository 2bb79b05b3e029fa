/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_NET_NET_H
#define ASSAY_NET_NET_H

/*
 * The transport for measured traffic: HTTP/1.1 over TCP, TLS or a unix socket, one epoll loop a thread, a pool of
 * kept-alive connections an endpoint, kernel receive stamps. Takes a request as byte ranges (kept by the caller until
 * on_end), gives the response head and spans of the decoded body with the time they arrived. No redirect, no retry, no
 * compression, a proxy only by option. The one repetition: a reused connection that ends before any response byte is
 * replaced once by a fresh one, told by `reconnected`.
 *
 * A loop, its connections and exchanges belong to one thread; only net_loop_wake may be called from others. Endpoints
 * are shared and read-only after net_endpoint_resolve. After start-up nothing is allocated per request or event, except
 * for a response head or line that arrives in several reads.
 *
 * The response is read while the request is still being written: an answer that comes before the upload ended is given
 * as it is, written_ns then stays -1 and the connection is not reused. A write error never ends an exchange; what the
 * server sent before is read first.
 *
 * A name's addresses are tried one after another: the one that connected last first, then in the resolver's order,
 * each for 250 ms, then 1 s, 4 s, 16 s, until connect_timeout_ns; an address that refuses is not tried again.
 *
 * All instants are CLOCK_MONOTONIC in ns; -1 = not reached / unknown.
 */

#include "base/clock.h"
#include "base/status.h"
#include "http/response.h"

#include <netdb.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#define NET_REQUEST_PARTS_MAX 22

/* One server; where it is and how to speak to it. Strings are owned (net_endpoint_done). */
struct net_endpoint {
    char *name;        /* unique among the endpoints of a run */
    char *url;         /* as given, user-info removed, keys in the query replaced (base/url.h) */
    char *host;        /* without brackets; also TLS server name */
    char *host_header; /* value of Host: */
    char *path_prefix; /* "" or "/v1": no trailing slash */
    char *query;       /* "?a=b", sent behind every path, keys included; "" or NULL = none */
    char *unix_path;   /* NULL = TCP */
    uint16_t port;
    bool is_tls;
    struct addrinfo *addresses;    /* in resolver order; NULL before net_endpoint_resolve */
    _Atomic uint32_t good_address; /* index that last connected: tried first */
    int64_t dns_ns;                /* duration of the look-up, also of one that failed; -1 = none needed */
};

/*
 * Parses a base URL: http://host[:port][/path], https://…, unix:/path/to/socket[:/path], http+unix://%2Fpath/…, each
 * with an optional ?query; a bare host:port is http. `path` suffixes that name an API call (/chat/completions,
 * /completions, /audio/transcriptions, /images/generations, /models) are removed, then "/v1" is appended to an empty
 * path: base URL, base/v1 and full path give the same endpoint. A query is kept apart and sent behind every path; a
 * fragment is refused. `name` becomes the URL as it is shown; the caller may replace it. AS_E_INVALID names the fault.
 */
as_status net_endpoint_parse(const char *url, struct net_endpoint *ret, struct as_error *err) AS_NODISCARD;
/* Frees what it owns; one that is all zero is fine. */
void net_endpoint_done(struct net_endpoint *endpoint);
/*
 * Looks the name up (all addresses, AF_UNSPEC) within timeout_ns; a look-up that outlasts it is abandoned, never waited
 * for (AS_E_TIMEOUT); AS_E_NETWORK when there is no such name or no answer. Nothing to do for unix sockets; not needed
 * with a proxy.
 */
as_status net_endpoint_resolve(struct net_endpoint *endpoint, int64_t timeout_ns, struct as_error *err) AS_NODISCARD;

struct net_options {
    int64_t connect_timeout_ns; /* all addresses' TCP connects + tunnel + TLS handshake; ≤ 0 = no limit */
    int64_t idle_timeout_ns;    /* pooled connections older than this are not reused; ≤ 0 = no limit */
    int keepalive_s;            /* TCP keepalive idle time, 0 = off */
    uint32_t max_idle;          /* pooled idle connections an endpoint and loop */
    bool no_reuse;              /* Connection: close semantics: one connection a request */
    bool insecure;              /* TLS without verification */
    /* File or folder of PEM that replaces the system's; NULL = system's (SSL_CERT_FILE, SSL_CERT_DIR heeded). */
    const char *ca_cert;
    /* http://[user:password@]host:port: a CONNECT tunnel for https and for plain http alike; NULL = none. */
    const char *proxy;
    bool no_kernel_stamps; /* measure with user stamps alone (for comparison) */
    int busy_poll_us;      /* > 0: poll without sleeping for so long before each wait that may sleep */
};

/* When a read returned. */
struct net_stamp {
    int64_t kernel_ns;   /* newest segment's receive stamp on the monotonic clock, -1 = the kernel gave none */
    int64_t user_ns;     /* just after the read returned */
    int64_t previous_ns; /* user_ns of the previous read of this exchange, or written_ns: events earlier in this read
                            lie in between */
};

enum net_end {
    NET_END_COMPLETE, /* the response ended as its framing says */
    NET_END_CONNECT,  /* no connection: refused, unreachable, TLS failed, descriptor or port limit (local_limit) */
    NET_END_CONNECT_TIMEOUT,
    NET_END_CLOSED,    /* peer closed or reset before the first response byte */
    NET_END_TRUNCATED, /* peer closed or reset inside the response */
    NET_END_MALFORMED, /* not HTTP */
    NET_END_CANCELLED  /* net_exchange_cancel */
};

struct net_exchange;

/*
 * All run in the loop's thread, from net_loop_poll, net_exchange_cancel and net_loop_free only; they may start and
 * cancel any exchange, their own included, but not poll. on_end is last; from it the exchange may be started again and
 * then takes the connection it just gave back.
 */
struct net_exchange_ops {
    void (*on_head)(struct net_exchange *x, const struct http_response_head *head, const struct net_stamp *stamp);
    /* A piece of the decoded body; several may share one stamp (one read). */
    void (*on_span)(struct net_exchange *x, const char *data, size_t len, const struct net_stamp *stamp);
    /* Last of a read, once on_head ran; `between` = no byte of an unfinished chunk is held. May be NULL. */
    void (*on_read_end)(struct net_exchange *x, const struct net_stamp *stamp, bool between);
    void (*on_end)(struct net_exchange *x, enum net_end end);
};

/* One request and its response; embedded in the caller's slot, zeroed there before the first start. */
struct net_exchange {
    const struct net_exchange_ops *ops;
    uint32_t endpoint; /* index into the loop's endpoints */
    uint32_t part_count;
    struct iovec parts[NET_REQUEST_PARTS_MAX]; /* the request, head first; bytes kept by the caller */
    /* Set by the loop: */
    int64_t connect_start_ns, connected_ns, tls_done_ns; /* -1 on a reused connection; connect_start is the first
                                                            address', connected includes the proxy's tunnel */
    int64_t written_ns;                                  /* last request byte handed to the kernel */
    int64_t first_byte_ns;                               /* first response byte, by kernel stamp when there is one */
    uint64_t bytes_sent, bytes_received; /* on the wire above TLS, heads included, both sends of a reconnect */
    bool reused, reconnected;            /* reused: this connection was open before; false after a reconnect */
    bool unclean;                        /* ended without close_notify / with bytes after the response */
    bool local_limit;                    /* EMFILE, EADDRNOTAVAIL: this machine's fault */
    int error_number;                    /* errno, 0 = none */
    char error[160];                     /* sentence for every end but NET_END_COMPLETE and CANCELLED */
    /* The loop's own: */
    struct net_connection *connection;
    struct net_exchange *next, *previous; /* among those whose failure is still to be told */
    enum net_end pending_end;
    bool is_pending;
};

struct net_counters {
    uint64_t connects, connect_failures, reconnects, requests, reads, stamped_reads, unclean_closes;
    uint32_t open_now, open_peak;
    uint32_t connecting_now; /* of open_now: not ready yet; 0 = what net_loop_prewarm began has arrived or failed */
    uint32_t idle_now;       /* of open_now: pooled */
    uint64_t wakeups;        /* epoll waits that returned */
    int64_t max_loop_lag_ns; /* longest time between two epoll waits */
    int64_t clock_step_ns;   /* largest jump of wall − mono seen, beyond what slewing by 1000 ppm explains */
};

struct net_loop;

/*
 * `endpoints` and the strings of `options` outlive the loop. A TLS context is made only when an endpoint needs one; the
 * proxy's name is looked up here, within the connect timeout. AS_E_INVALID: proxy or ca_cert; AS_E_IO: no descriptors
 * left.
 */
as_status net_loop_new(const struct net_options *options, struct net_endpoint *const *endpoints,
                       uint32_t endpoint_count, struct net_loop **ret, struct as_error *err) AS_NODISCARD;
/* Ends every exchange as cancelled, closes everything; a start from those on_end does nothing. NULL is fine. */
void net_loop_free(struct net_loop *loop);
/*
 * Gives the large blocks that OpenSSL takes places of their own (net/tls_memory.c): without it a TLS connection costs twice
 * the memory while many shake hands. For the start of a program: after OpenSSL's first use it does nothing.
 */
void net_tls_memory_install(void);
/*
 * Starts an exchange that is not running: takes the pooled connection used last or opens one, and sends at once when it
 * can. Failures arrive by on_end, never from inside this call.
 */
void net_exchange_start(struct net_loop *loop, struct net_exchange *x);
/* Ends it at once: its connection is closed, on_end(NET_END_CANCELLED) runs before return. Nothing if not running. */
void net_exchange_cancel(struct net_loop *loop, struct net_exchange *x);
/* One round: waits for sockets or until `until`, reads, calls back. Returns the time the wait returned. */
struct mono net_loop_poll(struct net_loop *loop, struct mono until);
/* Makes a net_loop_poll that is waiting return; any thread, async-signal-safe. */
void net_loop_wake(struct net_loop *loop);
/*
 * The kernel begins to stamp packets some ms after the first program that runs asked for it, later on a busy machine.
 * Waits for it, at most timeout_ns; false: reads may come without kernel stamps at first. Sends a byte to itself, no
 * more.
 */
bool net_loop_await_stamps(struct net_loop *loop, int64_t timeout_ns);
/* Opens up to `count` connections (max_idle at most) ahead of use; they arrive in the pool while polling. */
void net_loop_prewarm(struct net_loop *loop, uint32_t endpoint, uint32_t count);
void net_loop_counters(const struct net_loop *loop, struct net_counters *ret);

#endif
