/* SPDX-License-Identifier: Apache-2.0 */
#include "plane/plane.h"

#include "base/log.h"
#include "plane/auth.h"
#include "plane/first.h"
#include "plane/front.h"
#include "plane/state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define PATH_BYTES    4096
#define HASHERS       2
#define HASHERS_QUEUE 8
#define CONNECTIONS   4096
#define HEAD_BYTES    ((size_t)16 * 1024)
#define STORE_WAIT_NS (10 * NS_PER_S)
#define LOCAL_NAMES                                                                                                    \
    {                                                                                                                  \
        "localhost", "127.0.0.1", "::1", "ip6-localhost"                                                               \
    }

static bool is_local(const char *host)
{
    static const char *const names[] = LOCAL_NAMES;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(host, names[i]) == 0)
            return true;
    return strncmp(host, "127.", 4) == 0;
}

bool plane_is_postgresql(const char *database)
{
    return strncmp(database, "postgresql://", 13) == 0 || strncmp(database, "postgres://", 11) == 0;
}

as_status plane_open_store(const struct plane_settings *settings, bool creates, struct store **ret,
                           struct as_error *err)
{
    const struct store_options options = {
        .address = settings->database,
        .readers = (uint32_t)settings->readers,
        .wait_ns = STORE_WAIT_NS,
        .create = creates,
    };
    return store_open(&options, ret, err);
}

as_status plane_open_key(const struct plane_settings *settings, struct secret_key *ret, struct as_error *err)
{
    char path[PATH_BYTES];
    if (settings->key_file)
        return secret_key_load(settings->key_file, ret, err);
    if (plane_is_postgresql(settings->database))
        return error_set(err, AS_E_USAGE,
                         "--key-file is needed with PostgreSQL: where the key that seals secrets lies");
    if (snprintf(path, sizeof path, "%s.key", settings->database) >= (int)sizeof path)
        return error_set(err, AS_E_LIMIT, "the path of the database is too long");
    return secret_key_load(path, ret, err);
}

static as_status check_address(const struct plane_settings *settings, struct as_error *err)
{
    if (settings->unix_path || settings->tls_cert || settings->allow_plaintext_remote || is_local(settings->host))
        return AS_OK;
    return error_set(
        err, AS_E_USAGE,
        "--host %s can be reached by others: give --tls-cert and --tls-key, or --allow-plaintext-remote when "
        "something in front speaks TLS",
        settings->host);
}

static as_status listen_on(struct plane *plane, struct as_error *err)
{
    const struct plane_settings *settings = plane->settings;
    const struct http_server_options options = {
        .handler = &plane_handler,
        .context = plane,
        .loops = (uint32_t)settings->loops,
        .max_head_bytes = HEAD_BYTES,
        .max_connections = CONNECTIONS,
    };
    struct http_listener listener = {.host = settings->host, .port = (uint16_t)settings->port, .tls = plane->tls};
    if (settings->unix_path)
        listener = (struct http_listener){.unix_path = settings->unix_path, .unix_mode = 0660};
    as_status status = http_server_new(&options, &plane->server, err);
    if (status == AS_OK)
        status = http_server_listen(plane->server, &listener, err);
    if (status != AS_OK)
        return status;
    if (settings->unix_path)
        (void)snprintf(plane->url, sizeof plane->url, "unix:%s", settings->unix_path);
    else
        (void)snprintf(plane->url, sizeof plane->url, strchr(settings->host, ':') ? "%s://[%s]:%u" : "%s://%s:%u",
                       plane->tls ? "https" : "http", settings->host, http_server_port(plane->server, 0));
    return AS_OK;
}

static as_status open_parts(struct plane *plane, struct as_error *err)
{
    const struct plane_settings *settings = plane->settings;
    as_status status = AS_OK;
    if (settings->tls_cert)
        status = http_tls_new(settings->tls_cert, settings->tls_key, &plane->tls, err);
    if (status == AS_OK)
        status = plane_open_key(settings, &plane->key, err);
    if (status == AS_OK)
        status = plane_open_store(settings, true, &plane->store, err);
    if (status != AS_OK)
        return status;
    status = guess_new(&plane->guesses);
    if (status == AS_OK)
        status = event_hub_new(plane, &plane->events);
    if (status == AS_OK)
        status = watch_new(&plane->servers_heard);
    if (status == AS_OK)
        status = watch_new(&plane->attempts_heard);
    if (status == AS_OK)
        status = work_pool_new((uint32_t)settings->workers, (uint32_t)settings->queue, &plane->workers);
    if (status == AS_OK)
        status = work_pool_new(HASHERS, HASHERS_QUEUE, &plane->hashers);
    if (status == AS_OK && !route_table())
        status = AS_E_NOMEM;
    return status == AS_OK ? AS_OK : error_set(err, status, "%s", status_sentence(status));
}

as_status plane_open(const struct plane_settings *settings, struct plane **ret, struct strbuf *notice,
                     struct as_error *err)
{
    struct plane *plane;
    as_status status = check_address(settings, err);
    if (status != AS_OK)
        return status;
    plane = calloc(1, sizeof *plane);
    if (!plane)
        return error_set(err, AS_E_NOMEM, "out of memory");
    plane->settings = settings;
    status = open_parts(plane, err);
    if (status == AS_OK)
        status = first_start(plane, notice, err);
    if (status == AS_OK)
        status = listen_on(plane, err);
    if (status == AS_OK && keeper_new(plane, &plane->keeper) != AS_OK)
        status = error_set(err, AS_E_NOMEM, "out of memory");
    if (status != AS_OK) {
        plane_close(plane);
        return status;
    }
    *ret = plane;
    return AS_OK;
}

const char *plane_url(const struct plane *plane)
{
    return plane->url;
}

as_status plane_run(struct plane *plane, struct as_error *err)
{
    return http_server_run(plane->server, err);
}

void plane_stop(struct plane *plane, int64_t drain_ns)
{
    atomic_store(&plane->is_ending, true);
    http_server_stop(plane->server, drain_ns);
}

as_status plane_reload(struct plane *plane, struct as_error *err)
{
    return plane->tls ? http_tls_reload(plane->tls, err) : AS_OK;
}

void plane_close(struct plane *plane)
{
    if (!plane)
        return;
    keeper_free(plane->keeper);
    work_pool_free(plane->workers);
    work_pool_free(plane->hashers);
    http_server_free(plane->server);
    event_hub_free(plane->events);
    watch_free(plane->servers_heard);
    watch_free(plane->attempts_heard);
    guess_free(plane->guesses);
    store_close(plane->store);
    http_tls_free(plane->tls);
    OPENSSL_cleanse(&plane->key, sizeof plane->key);
    free(plane);
}
