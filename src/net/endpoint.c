/* SPDX-License-Identifier: Apache-2.0 */
#include "base/strbuf.h"
#include "base/url.h"
#include "net/internal.h"

#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/un.h>

/* Paths that name an API call; the longer one of two that share an end comes first. */
static const char *const api_paths[] = {"/chat/completions", "/completions", "/audio/transcriptions",
                                        "/images/generations", "/models"};

static char *copy_text(const char *text, size_t len)
{
    char *copy = malloc(len + 1);
    if (copy) {
        memcpy(copy, text, len);
        copy[len] = '\0';
    }
    return copy;
}

/* ---- URL ---- */

/* A URL taken apart; the pieces point into it. */
struct url_parts {
    bool is_tls, is_unix;
    const char *user; /* NULL = none */
    size_t user_len;
    const char *host; /* the socket's path when is_unix */
    size_t host_len;
    bool is_bracketed;
    uint16_t port;
    bool has_port;
    const char *path; /* to the query or the end */
    size_t path_len;
    const char *query; /* with its '?', to the end of the URL */
};

static bool starts_with(const char *text, const char *prefix)
{
    return strncasecmp(text, prefix, strlen(prefix)) == 0;
}

/* Only visible ASCII may go into a request line and a Host field. */
static as_status check_characters(const char *url, struct as_error *err)
{
    for (size_t i = 0; url[i]; i++) {
        if (url[i] <= ' ' || url[i] == 0x7f)
            return error_set_at(
                err, AS_E_INVALID, 0, (int64_t)i,
                "endpoint URL: byte %zu is a blank, a control character or not ASCII; write it percent-encoded "
                "(a host name in its xn-- form)",
                i);
        if (url[i] == '#')
            return error_set_at(err, AS_E_INVALID, 0, (int64_t)i,
                                "endpoint URL: a fragment ('#') is never sent: leave it out, or write %%23");
    }
    return AS_OK;
}

static as_status parse_port(const char *text, size_t len, struct url_parts *parts, struct as_error *err)
{
    if (len == 0) {
        parts->has_port = false;
        return AS_OK;
    }
    unsigned value = 0;
    for (size_t i = 0; i < len; i++) {
        if (text[i] < '0' || text[i] > '9' || i >= 5)
            return error_set(err, AS_E_INVALID, "endpoint URL: the port \"%.*s\" is not a number from 1 to 65535",
                             (int)len, text);
        value = value * 10 + (unsigned)(text[i] - '0');
    }
    if (value == 0 || value > 65535)
        return error_set(err, AS_E_INVALID, "endpoint URL: the port %u is not from 1 to 65535", value);
    parts->port = (uint16_t)value;
    parts->has_port = true;
    return AS_OK;
}

/* [user@]host[:port] */
static as_status parse_authority(const char *at, const char *end, struct url_parts *parts, struct as_error *err)
{
    for (const char *p = end; p > at; p--) {
        if (p[-1] == '@') {
            parts->user = at;
            parts->user_len = (size_t)(p - 1 - at);
            at = p;
            break;
        }
    }
    const char *after;
    if (at < end && *at == '[') {
        const char *close = memchr(at, ']', (size_t)(end - at));
        if (!close)
            return error_set(err, AS_E_INVALID, "endpoint URL: '[' without ']' around an IPv6 address");
        parts->host = at + 1;
        parts->host_len = (size_t)(close - at - 1);
        parts->is_bracketed = true;
        after = close + 1;
        if (after < end && *after != ':')
            return error_set(err, AS_E_INVALID, "endpoint URL: a port after ']' begins with ':'");
    } else {
        const char *colon = memchr(at, ':', (size_t)(end - at));
        after = colon ? colon : end;
        parts->host = at;
        parts->host_len = (size_t)(after - at);
        if (colon && memchr(colon + 1, ':', (size_t)(end - colon - 1)))
            return error_set(err, AS_E_INVALID,
                             "endpoint URL: write an IPv6 address in brackets, for example http://[::1]:8000");
    }
    if (parts->host_len == 0)
        return error_set(err, AS_E_INVALID, "endpoint URL: the host name is missing");
    return after < end ? parse_port(after + 1, (size_t)(end - after - 1), parts, err) : AS_OK;
}

/* unix:/path[:/path]: what follows "unix:". */
static as_status parse_unix(const char *at, struct url_parts *parts, struct as_error *err)
{
    if (at[0] == '/' && at[1] == '/' && at[2] == '/')
        at += 2;
    if (at[0] != '/' || at[1] == '\0')
        return error_set(err, AS_E_INVALID,
                         "endpoint URL: unix: takes an absolute path, for example unix:/run/server.sock");
    size_t len = strcspn(at, "?");
    const char *split = memmem(at, len, ":/", 2);
    parts->is_unix = true;
    parts->host = at;
    parts->host_len = split ? (size_t)(split - at) : len;
    parts->path = split ? split + 1 : at + len;
    return AS_OK;
}

static as_status parse_place(const char *url, struct url_parts *parts, struct as_error *err)
{
    const char *scheme_end = strstr(url, "://");
    const char *slash = strpbrk(url, "/?");
    if (starts_with(url, "unix:"))
        return parse_unix(url + 5, parts, err);
    const char *at = url;
    if (scheme_end && slash == scheme_end + 1) {
        at = scheme_end + 3;
        if (starts_with(url, "https://"))
            parts->is_tls = true;
        else if (starts_with(url, "http+unix://"))
            parts->is_unix = true;
        else if (!starts_with(url, "http://"))
            return error_set(err, AS_E_INVALID,
                             "endpoint URL: the scheme \"%.*s\" is none of http, https, unix, http+unix",
                             (int)(scheme_end - url > 40 ? 40 : scheme_end - url), url);
    }
    const char *end = at + strcspn(at, "/?");
    parts->path = end;
    if (!parts->is_unix)
        return parse_authority(at, end, parts, err);
    parts->host = at;
    parts->host_len = (size_t)(end - at);
    return AS_OK;
}

static as_status parse_url(const char *url, struct url_parts *parts, struct as_error *err)
{
    parts->host = parts->path = "";
    as_status status = check_characters(url, err);
    if (status == AS_OK)
        status = parse_place(url, parts, err);
    if (status != AS_OK)
        return status;
    parts->path_len = strcspn(parts->path, "?");
    parts->query = parts->path + parts->path_len;
    return AS_OK;
}

static int hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Percent-decodes in place; false when an escape is malformed or decodes to NUL. */
static bool percent_decode(char *text)
{
    char *to = text;
    for (const char *from = text; *from; from++) {
        int value = (unsigned char)*from;
        if (*from == '%') {
            int high = hex_value(from[1]);
            int low = high < 0 ? -1 : hex_value(from[2]);
            if (low < 0 || high * 16 + low == 0)
                return false;
            value = high * 16 + low;
            from += 2;
        }
        *to++ = (char)value;
    }
    *to = '\0';
    return true;
}

/* The prefix of all request paths; NULL without memory. */
static char *path_prefix_of(const char *path, size_t len)
{
    while (len > 0 && path[len - 1] == '/')
        len--;
    for (size_t i = 0; i < sizeof api_paths / sizeof *api_paths; i++) {
        size_t suffix = strlen(api_paths[i]);
        if (len >= suffix && memcmp(path + len - suffix, api_paths[i], suffix) == 0) {
            len -= suffix;
            break;
        }
    }
    while (len > 0 && path[len - 1] == '/')
        len--;
    return len ? copy_text(path, len) : copy_text("/v1", 3);
}

/* The URL without user-info and keys. */
static char *shown_url(const char *url, const struct url_parts *parts)
{
    AS_AUTO_STRBUF struct strbuf text;
    strbuf_init(&text, 0);
    if (parts->user)
        strbuf_add(&text, url, (size_t)(parts->user - url));
    url_add_query_shown(&text, parts->user ? parts->user + parts->user_len + 1 : url);
    return strbuf_status(&text) == AS_OK ? copy_text(strbuf_text(&text), text.len) : NULL;
}

static char *host_header_of(const struct net_endpoint *endpoint, const struct url_parts *parts)
{
    AS_AUTO_STRBUF struct strbuf text;
    strbuf_init(&text, 0);
    strbuf_addf(&text, parts->is_bracketed ? "[%s]" : "%s", endpoint->host);
    if (!parts->is_unix && endpoint->port != (parts->is_tls ? 443 : 80))
        strbuf_addf(&text, ":%u", (unsigned)endpoint->port);
    return strbuf_status(&text) == AS_OK ? copy_text(text.data, text.len) : NULL;
}

static as_status fill_unix(struct net_endpoint *endpoint, const struct url_parts *parts, bool is_encoded,
                           struct as_error *err)
{
    endpoint->unix_path = copy_text(parts->host, parts->host_len);
    endpoint->host = copy_text("localhost", 9);
    if (!endpoint->unix_path || !endpoint->host)
        return error_set(err, AS_E_NOMEM, "out of memory");
    if (is_encoded && (!percent_decode(endpoint->unix_path) || endpoint->unix_path[0] != '/'))
        return error_set(
            err, AS_E_INVALID,
            "endpoint URL: http+unix: takes an absolute path, percent-encoded: http+unix://%%2Frun%%2Fserver.sock/v1");
    if (strlen(endpoint->unix_path) >= sizeof((struct sockaddr_un *)0)->sun_path)
        return error_set(err, AS_E_INVALID, "endpoint URL: the socket's path has more than %zu bytes",
                         sizeof((struct sockaddr_un *)0)->sun_path - 1);
    return AS_OK;
}

as_status net_endpoint_parse(const char *url, struct net_endpoint *ret, struct as_error *err)
{
    struct url_parts parts = {0};
    as_status status = parse_url(url, &parts, err);
    if (status != AS_OK)
        return status;
    struct net_endpoint made = {.is_tls = parts.is_tls, .dns_ns = -1};
    if (parts.is_unix) {
        status = fill_unix(&made, &parts, starts_with(url, "http+unix:"), err);
    } else {
        made.port = parts.has_port ? parts.port : parts.is_tls ? 443 : 80;
        made.host = copy_text(parts.host, parts.host_len);
    }
    if (status == AS_OK && made.host) {
        made.url = shown_url(url, &parts);
        made.name = made.url ? copy_text(made.url, strlen(made.url)) : NULL;
        made.path_prefix = path_prefix_of(parts.path, parts.path_len);
        made.query = copy_text(parts.query, parts.query[0] && parts.query[1] ? strlen(parts.query) : 0);
        made.host_header = host_header_of(&made, &parts);
    }
    if (status == AS_OK && (!made.name || !made.path_prefix || !made.query || !made.host_header))
        status = error_set(err, AS_E_NOMEM, "out of memory");
    if (status != AS_OK) {
        net_endpoint_done(&made);
        return status;
    }
    *ret = made;
    return AS_OK;
}

as_status endpoint_user_info(const char *url, char **ret, struct as_error *err)
{
    struct url_parts parts = {0};
    as_status status = parse_url(url, &parts, err);
    if (status != AS_OK)
        return status;
    char *user = NULL;
    if (parts.user) {
        user = copy_text(parts.user, parts.user_len);
        if (!user)
            return error_set(err, AS_E_NOMEM, "out of memory");
        if (!percent_decode(user)) {
            free(user);
            return error_set(err, AS_E_INVALID,
                             "the user name and password of the URL are not percent-encoded properly");
        }
    }
    *ret = user;
    return AS_OK;
}

void net_endpoint_done(struct net_endpoint *endpoint)
{
    if (!endpoint)
        return;
    free(endpoint->name);
    free(endpoint->url);
    free(endpoint->host);
    free(endpoint->host_header);
    free(endpoint->path_prefix);
    if (endpoint->query)
        explicit_bzero(endpoint->query, strlen(endpoint->query));
    free(endpoint->query);
    free(endpoint->unix_path);
    if (endpoint->addresses)
        freeaddrinfo(endpoint->addresses);
    *endpoint = (struct net_endpoint){.dns_ns = -1};
}

/* ---- look-up ---- */

/* One look-up in its own thread; freed by whoever lets go of it last. */
struct lookup {
    pthread_mutex_t mutex;
    pthread_cond_t done_signal;
    char *host;
    char port[6];
    bool is_done, is_abandoned;
    int result; /* of getaddrinfo */
    int error_number;
    struct addrinfo *addresses;
};

static void lookup_free(struct lookup *lookup)
{
    if (lookup->addresses)
        freeaddrinfo(lookup->addresses);
    pthread_cond_destroy(&lookup->done_signal);
    pthread_mutex_destroy(&lookup->mutex);
    free(lookup->host);
    free(lookup);
}

static int look_up(const char *host, const char *port, int flags, struct addrinfo **ret)
{
    struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV | flags};
    return getaddrinfo(host, port, &hints, ret);
}

static void *lookup_main(void *argument)
{
    struct lookup *lookup = argument;
    struct addrinfo *addresses = NULL;
    int result = look_up(lookup->host, lookup->port, 0, &addresses);
    int error_number = errno;
    pthread_mutex_lock(&lookup->mutex);
    bool is_abandoned = lookup->is_abandoned;
    lookup->addresses = result == 0 ? addresses : NULL;
    lookup->result = result;
    lookup->error_number = error_number;
    lookup->is_done = true;
    pthread_cond_signal(&lookup->done_signal);
    pthread_mutex_unlock(&lookup->mutex);
    if (is_abandoned)
        lookup_free(lookup);
    return NULL;
}

static struct lookup *lookup_new(const struct net_endpoint *endpoint)
{
    struct lookup *lookup = calloc(1, sizeof *lookup);
    if (!lookup)
        return NULL;
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&lookup->done_signal, &attributes);
    pthread_condattr_destroy(&attributes);
    pthread_mutex_init(&lookup->mutex, NULL);
    snprintf(lookup->port, sizeof lookup->port, "%u", (unsigned)endpoint->port);
    lookup->host = copy_text(endpoint->host, strlen(endpoint->host));
    if (!lookup->host) {
        lookup_free(lookup);
        return NULL;
    }
    return lookup;
}

static bool lookup_start(struct lookup *lookup)
{
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    bool is_started = pthread_create(&thread, &attributes, lookup_main, lookup) == 0;
    pthread_attr_destroy(&attributes);
    return is_started;
}

/* Waits until the look-up is done or `deadline`; false = abandoned, the lookup is no longer the caller's. */
static bool lookup_wait(struct lookup *lookup, struct mono deadline)
{
    struct timespec until = {.tv_sec = (time_t)(deadline.ns / NS_PER_S), .tv_nsec = (long)(deadline.ns % NS_PER_S)};
    int result = 0;
    pthread_mutex_lock(&lookup->mutex);
    while (!lookup->is_done && result == 0)
        result = pthread_cond_timedwait(&lookup->done_signal, &lookup->mutex, &until);
    bool is_done = lookup->is_done;
    lookup->is_abandoned = !is_done;
    pthread_mutex_unlock(&lookup->mutex);
    return is_done;
}

static as_status lookup_error(const struct net_endpoint *endpoint, int result, int error_number, struct as_error *err)
{
    if (result == EAI_SYSTEM)
        return error_set(err, AS_E_NETWORK, "looking up the host \"%.200s\": %s", endpoint->host,
                         strerror(error_number));
    return error_set(err, AS_E_NETWORK, "looking up the host \"%.200s\": %s", endpoint->host, gai_strerror(result));
}

as_status net_endpoint_resolve(struct net_endpoint *endpoint, int64_t timeout_ns, struct as_error *err)
{
    if (endpoint->unix_path || endpoint->addresses)
        return AS_OK;
    char port[6];
    snprintf(port, sizeof port, "%u", (unsigned)endpoint->port);
    if (look_up(endpoint->host, port, AI_NUMERICHOST, &endpoint->addresses) == 0)
        return AS_OK;
    endpoint->addresses = NULL;
    struct mono start = mono_now();
    struct lookup *lookup = lookup_new(endpoint);
    if (!lookup)
        return error_set(err, AS_E_NOMEM, "out of memory");
    if (!lookup_start(lookup)) {
        lookup_free(lookup);
        return error_set(err, AS_E_IO, "looking up the host \"%.200s\": no thread can be started for it",
                         endpoint->host);
    }
    bool is_done = lookup_wait(lookup, mono_add_ns(start, timeout_ns > 0 ? timeout_ns : 0));
    endpoint->dns_ns = mono_diff_ns(mono_now(), start);
    if (!is_done)
        return error_set(err, AS_E_TIMEOUT,
                         "looking up the host \"%.200s\" took longer than %.1f s: is the name server reachable?",
                         endpoint->host, (double)timeout_ns / (double)NS_PER_S);
    as_status status = AS_OK;
    if (lookup->result == 0) {
        endpoint->addresses = lookup->addresses;
        lookup->addresses = NULL;
    } else {
        status = lookup_error(endpoint, lookup->result, lookup->error_number, err);
    }
    lookup_free(lookup);
    return status;
}
