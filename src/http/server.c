/* SPDX-License-Identifier: Apache-2.0 */
#include "http/server_internal.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define BACKLOG 4096

static void fill_defaults(struct http_server_options *options)
{
    static const struct http_server_options DEFAULTS = {
        .loops = 1,
        .max_head_bytes = (size_t)16 * 1024,
        .max_body_bytes = (size_t)1024 * 1024,
        .max_queue_bytes = (size_t)1024 * 1024,
        .max_connections = 65536,
        .head_timeout_ns = 15 * NS_PER_S,
        .body_timeout_ns = 30 * NS_PER_S,
        .idle_timeout_ns = 75 * NS_PER_S,
        .write_timeout_ns = 30 * NS_PER_S,
    };
#define FILL(member) options->member = options->member ? options->member : DEFAULTS.member
    FILL(loops);
    FILL(max_head_bytes);
    FILL(max_body_bytes);
    FILL(max_queue_bytes);
    FILL(max_connections);
    FILL(head_timeout_ns);
    FILL(body_timeout_ns);
    FILL(idle_timeout_ns);
    FILL(write_timeout_ns);
#undef FILL
}

as_status http_server_new(const struct http_server_options *options, struct http_server **ret, struct as_error *err)
{
    struct http_server *server = calloc(1, sizeof *server);
    if (!server)
        return error_set(err, AS_E_NOMEM, "no memory for a server");
    server->options = *options;
    fill_defaults(&server->options);
    server->loops = calloc(server->options.loops, sizeof(struct http_loop *));
    as_status status = server->loops ? AS_OK : error_set(err, AS_E_NOMEM, "no memory for server loops");
    for (uint32_t i = 0; status == AS_OK && i < server->options.loops; i++)
        status = http_loop_new(server, i, &server->loops[i], err);
    if (status != AS_OK) {
        http_server_free(server);
        return status;
    }
    atomic_store(&server->accepting_loops, server->options.loops);
    *ret = server;
    return AS_OK;
}

void http_server_close_listeners(struct http_server *server)
{
    for (uint32_t i = 0; i < server->listening_count; i++) {
        struct http_listening *listening = &server->listening[i];
        if (listening->fd >= 0 && listening->unix_path)
            unlink(listening->unix_path);
        if (listening->fd >= 0)
            close(listening->fd);
        listening->fd = -1;
    }
}

void http_server_free(struct http_server *server)
{
    if (!server)
        return;
    http_server_close_listeners(server);
    for (uint32_t i = 0; i < server->listening_count; i++)
        free(server->listening[i].unix_path);
    free(server->listening);
    for (uint32_t i = 0; server->loops && i < server->options.loops; i++)
        http_loop_free(server->loops[i]);
    free(server->loops);
    free(server);
}

struct http_loop *http_server_loop(struct http_server *server, uint32_t index)
{
    return server->loops[index];
}

uint16_t http_server_port(const struct http_server *server, uint32_t index)
{
    /* With reuse_port a listener is a row of sockets, of which only the first counts. */
    for (uint32_t i = 0, seen = 0; i < server->listening_count; i++) {
        bool is_first = server->listening[i].loop == ALL_LOOPS || server->listening[i].loop == 0;
        if (is_first && seen++ == index)
            return server->listening[i].port;
    }
    return 0;
}

/* ---- listening ---- */

static as_status add_listening(struct http_server *server, struct http_listening listening, struct as_error *err)
{
    size_t count = server->listening_count;
    struct http_listening *grown = realloc(server->listening, (count + 1) * sizeof *grown);
    if (!grown) {
        close(listening.fd);
        free(listening.unix_path);
        return error_set(err, AS_E_NOMEM, "no memory for a listener");
    }
    listening.kind = WATCH_LISTENER;
    server->listening = grown;
    server->listening[server->listening_count++] = listening;
    return AS_OK;
}

static void set_option(int fd, int level, int name, int value)
{
    (void)setsockopt(fd, level, name, &value, sizeof value); /* none of them is worth a refusal */
}

/* A socket bound to `address` that listens, -1 and errno. */
static int bind_tcp(const struct addrinfo *address, bool reuse_port)
{
    int fd = socket(address->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    set_option(fd, SOL_SOCKET, SO_REUSEADDR, 1);
    if (reuse_port)
        set_option(fd, SOL_SOCKET, SO_REUSEPORT, 1);
    /* The accepted sockets inherit these. A peer that vanished without FIN is found after two minutes. */
    set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
    set_option(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
    set_option(fd, IPPROTO_TCP, TCP_KEEPIDLE, 60);
    set_option(fd, IPPROTO_TCP, TCP_KEEPINTVL, 15);
    set_option(fd, IPPROTO_TCP, TCP_KEEPCNT, 4);
    if (bind(fd, address->ai_addr, address->ai_addrlen) == 0 && listen(fd, BACKLOG) == 0)
        return fd;
    int saved = errno;
    close(fd);
    errno = saved;
    return -1;
}

static uint16_t bound_port(int fd)
{
    struct sockaddr_storage address;
    socklen_t len = sizeof address;
    if (getsockname(fd, (struct sockaddr *)&address, &len) != 0)
        return 0;
    if (address.ss_family == AF_INET6)
        return ntohs(((const struct sockaddr_in6 *)(const void *)&address)->sin6_port);
    return ntohs(((const struct sockaddr_in *)(const void *)&address)->sin_port);
}

static void set_port(struct addrinfo *address, uint16_t port)
{
    if (address->ai_family == AF_INET6)
        ((struct sockaddr_in6 *)(void *)address->ai_addr)->sin6_port = htons(port);
    else
        ((struct sockaddr_in *)(void *)address->ai_addr)->sin_port = htons(port);
}

/* Binds one address: once, or once a loop to the same port. */
static as_status listen_address(struct http_server *server, struct addrinfo *address,
                                const struct http_listener *listener, struct as_error *err)
{
    bool reuse = server->options.reuse_port && server->options.loops > 1;
    uint32_t count = reuse ? server->options.loops : 1;
    for (uint32_t i = 0; i < count; i++) {
        int fd = bind_tcp(address, reuse);
        if (fd < 0)
            return error_set_errno(err, errno, "cannot listen on %s port %u",
                                   listener->host ? listener->host : "127.0.0.1", (unsigned)listener->port);
        uint16_t port = bound_port(fd);
        set_port(address, port);
        struct http_listening listening = {.fd = fd, .port = port, .tls = listener->tls, .loop = reuse ? i : ALL_LOOPS};
        as_status status = add_listening(server, listening, err);
        if (status != AS_OK)
            return status;
    }
    return AS_OK;
}

static as_status listen_tcp(struct http_server *server, const struct http_listener *listener, struct as_error *err)
{
    struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE};
    struct addrinfo *addresses;
    char port[8];
    const char *host = listener->host ? listener->host : "127.0.0.1";
    snprintf(port, sizeof port, "%u", (unsigned)listener->port);
    int error = getaddrinfo(host, port, &hints, &addresses);
    if (error)
        return error_set(err, AS_E_NETWORK, "cannot look up %s: %s", host, gai_strerror(error));
    as_status status = listen_address(server, addresses, listener, err);
    freeaddrinfo(addresses);
    return status;
}

/* True when the file is a socket on which nobody listens. */
static bool is_stale_socket(const struct sockaddr_un *address)
{
    struct stat info;
    if (lstat(address->sun_path, &info) != 0 || !S_ISSOCK(info.st_mode))
        return false;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return false;
    bool is_stale = connect(fd, (const struct sockaddr *)address, sizeof *address) != 0 && errno == ECONNREFUSED;
    close(fd);
    return is_stale;
}

static as_status listen_unix(struct http_server *server, const struct http_listener *listener, struct as_error *err)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t len = strlen(listener->unix_path);
    if (len == 0 || len >= sizeof address.sun_path)
        return error_set(err, AS_E_INVALID, "the socket path is empty or longer than %zu bytes: %s",
                         sizeof address.sun_path - 1, listener->unix_path);
    memcpy(address.sun_path, listener->unix_path, len + 1);
    if (is_stale_socket(&address))
        unlink(listener->unix_path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    /* Nobody can connect before listen(), so the permissions are right by then. */
    mode_t mode = listener->unix_mode ? (mode_t)listener->unix_mode : 0600;
    bool is_bound = fd >= 0 && bind(fd, (struct sockaddr *)&address, sizeof address) == 0;
    if (!is_bound || chmod(listener->unix_path, mode) != 0 || listen(fd, BACKLOG) != 0) {
        as_status status = error_set_errno(err, errno, "cannot listen on %s", listener->unix_path);
        if (fd >= 0)
            close(fd);
        if (is_bound)
            unlink(listener->unix_path);
        return status;
    }
    char *path = strdup(listener->unix_path);
    if (!path) {
        close(fd);
        return error_set(err, AS_E_NOMEM, "no memory for a listener");
    }
    return add_listening(
        server, (struct http_listening){.fd = fd, .unix_path = path, .tls = listener->tls, .loop = ALL_LOOPS}, err);
}

as_status http_server_listen(struct http_server *server, const struct http_listener *listener, struct as_error *err)
{
    return listener->unix_path ? listen_unix(server, listener, err) : listen_tcp(server, listener, err);
}

/* ---- running ---- */

static void *thread_main(void *arg)
{
    http_loop_run(arg);
    return NULL;
}

as_status http_server_run(struct http_server *server, struct as_error *err)
{
    as_status status = AS_OK;
    uint32_t started = 1;
    for (; started < server->options.loops && status == AS_OK; started++) {
        struct http_loop *loop = server->loops[started];
        int error = pthread_create(&loop->thread, NULL, thread_main, loop);
        if (error) {
            status = error_set_errno(err, error, "cannot start a server thread");
            break;
        }
    }
    if (status != AS_OK)
        http_server_stop(server, 0);
    http_loop_run(server->loops[0]);
    for (uint32_t i = 1; i < started; i++)
        pthread_join(server->loops[i]->thread, NULL);
    return status;
}

void http_server_stop(struct http_server *server, int64_t drain_ns)
{
    int64_t stop_at_ns = mono_now().ns + (drain_ns > 0 ? drain_ns : 0);
    int64_t old_ns = atomic_load(&server->stop_at_ns);
    while ((!old_ns || stop_at_ns < old_ns) && !atomic_compare_exchange_weak(&server->stop_at_ns, &old_ns, stop_at_ns))
        ;
    for (uint32_t i = 0; i < server->options.loops; i++)
        http_loop_wake(server->loops[i]);
}

void http_server_counters(const struct http_server *server, struct http_server_counters *ret)
{
    struct http_server_counters sum = {.connections = atomic_load(&server->connections)};
    for (uint32_t i = 0; i < server->options.loops; i++) {
        const struct counters *counters = &server->loops[i]->counters;
        sum.accepted += atomic_load_explicit(&counters->accepted, memory_order_relaxed);
        sum.requests += atomic_load_explicit(&counters->requests, memory_order_relaxed);
        sum.refused += atomic_load_explicit(&counters->refused, memory_order_relaxed);
        sum.aborted += atomic_load_explicit(&counters->aborted, memory_order_relaxed);
        sum.bytes_read += atomic_load_explicit(&counters->bytes_read, memory_order_relaxed);
        sum.bytes_sent += atomic_load_explicit(&counters->bytes_sent, memory_order_relaxed);
    }
    *ret = sum;
}
