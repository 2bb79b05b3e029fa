/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/sim.h"

#include "base/file.h"
#include "base/log.h"
#include "sim/worker.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

/* Output that may wait on one connection, and how often a changed certificate is looked for. */
#define QUEUE_BYTES             ((size_t)256 << 10)
#define CERTIFICATE_INTERVAL_NS NS_PER_S
#define KEY_FILE_BYTES_MAX      4096

struct sim {
    const struct sim_settings *settings;
    struct arena arena; /* the profile's */
    struct sim_shared shared;
    struct http_server *server;
    struct http_tls *tls;
    struct strbuf api_key;
    char url[512];
    /* looks for a changed certificate, in loop 0 */
    struct http_timer certificate_timer;
    struct http_message certificate_start;
    struct timespec certificate_time;
};

/* A thousand streams need a thousand descriptors. */
static void raise_descriptor_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &limit);
    }
}

static as_status check_cpus(const struct sim_settings *settings, struct as_error *err)
{
    cpu_set_t set;
    if (settings->cpu == OPT_ABSENT || sched_getaffinity(0, sizeof(set), &set) != 0)
        return AS_OK;
    for (int64_t i = settings->cpu; i < settings->cpu + settings->threads; i++)
        if (i >= CPU_SETSIZE || !CPU_ISSET((size_t)i, &set))
            return error_set(err, AS_E_USAGE, "--cpu %lld with --threads %lld: this process may not run on CPU %lld",
                             (long long)settings->cpu, (long long)settings->threads, (long long)i);
    return AS_OK;
}

static as_status read_key(struct sim *sim, struct as_error *err)
{
    sim->shared.api_key = sim->settings->api_key;
    if (!sim->settings->api_key_file)
        return AS_OK;
    as_status status = file_read(sim->settings->api_key_file, &sim->api_key, err);
    if (status != AS_OK)
        return error_prefix(err, "--api-key-file");
    char *key = sim->api_key.data;
    if (key)
        key[strcspn(key, "\r\n")] = '\0';
    if (!key || !*key)
        return error_set(err, AS_E_INVALID, "%s: the first line is empty, it should hold the API key",
                         sim->settings->api_key_file);
    sim->shared.api_key = key;
    return AS_OK;
}

static as_status make_tls(struct sim *sim, struct as_error *err)
{
    const struct sim_settings *settings = sim->settings;
    if (settings->tls_cert) {
        as_status loaded = http_tls_new(settings->tls_cert, settings->tls_key, &sim->tls, err);
        return loaded == AS_OK ? AS_OK : error_prefix(err, "--tls-cert, --tls-key");
    }
    if (!settings->tls_self_signed)
        return AS_OK;
    struct strbuf cert AS_AUTO_STRBUF;
    struct strbuf key AS_AUTO_STRBUF;
    strbuf_init(&cert, 0);
    strbuf_init(&key, 0);
    as_status status = http_tls_self_signed("localhost,127.0.0.1,::1", 30, &cert, &key, err);
    return status == AS_OK ? http_tls_new_pem(cert.data, key.data, &sim->tls, err) : status;
}

static void make_url(struct sim *sim)
{
    const struct sim_settings *settings = sim->settings;
    if (settings->unix_path) {
        (void)snprintf(sim->url, sizeof(sim->url), "unix:%s", settings->unix_path);
        return;
    }
    const char *host = strcmp(settings->host, "0.0.0.0") == 0 ? "127.0.0.1"
                       : strcmp(settings->host, "::") == 0    ? "::1"
                                                              : settings->host;
    bool is_ipv6 = strchr(host, ':') != NULL;
    (void)snprintf(sim->url, sizeof(sim->url), is_ipv6 ? "%s://[%s]:%u" : "%s://%s:%u", sim->tls ? "https" : "http",
                   host, (unsigned)http_server_port(sim->server, 0));
}

static as_status make_server(struct sim *sim, struct as_error *err)
{
    const struct sim_settings *settings = sim->settings;
    const struct http_server_options options = {
        .handler = &sim_handler,
        .context = &sim->shared,
        .loops = (uint32_t)settings->threads,
        .reuse_port = settings->threads > 1 && !settings->unix_path,
        .max_queue_bytes = QUEUE_BYTES,
        .idle_timeout_ns = settings->keep_alive_ns > 0 ? settings->keep_alive_ns : -1,
        .server_name = "assay-sim",
    };
    const struct http_listener listener = {
        .host = settings->host,
        .port = (uint16_t)settings->port,
        .unix_path = settings->unix_path,
        .tls = sim->tls,
    };
    as_status status = http_server_new(&options, &sim->server, err);
    return status == AS_OK ? http_server_listen(sim->server, &listener, err) : status;
}

static as_status make_workers(struct sim *sim, struct as_error *err)
{
    struct sim_shared *shared = &sim->shared;
    uint32_t count = (uint32_t)sim->settings->threads;
    as_status status = sim_vocab_new(shared->profile.seed, &shared->vocab);
    shared->workers = calloc(count, sizeof(*shared->workers));
    if (status != AS_OK || !shared->workers)
        return error_set(err, AS_E_NOMEM, "no memory for %u threads", count);
    for (uint32_t i = 0; i < count; i++) {
        status = sim_worker_new(shared, i, &shared->workers[i]);
        if (status != AS_OK)
            return error_set(err, status, "no memory for %u threads", count);
        shared->worker_count = i + 1;
    }
    return AS_OK;
}

static void sim_free(struct sim *sim)
{
    http_server_free(sim->server);
    for (uint32_t i = 0; i < sim->shared.worker_count; i++)
        sim_worker_free(sim->shared.workers[i]);
    free(sim->shared.workers);
    sim_vocab_free(sim->shared.vocab);
    http_tls_free(sim->tls);
    strbuf_done(&sim->api_key);
    arena_done(&sim->arena);
    free(sim);
}

as_status sim_new(const struct sim_settings *settings, struct sim **ret, struct as_error *err)
{
    struct sim *sim = calloc(1, sizeof(*sim));
    if (!sim)
        return error_set(err, AS_E_NOMEM, "no memory for the simulator");
    sim->settings = settings;
    sim->shared.first_cpu = settings->cpu == OPT_ABSENT ? -1 : (int)settings->cpu;
    sim->shared.wall_offset_ns = clock_offset_measure(5).offset_ns;
    arena_init(&sim->arena, 0, 0);
    strbuf_init(&sim->api_key, KEY_FILE_BYTES_MAX);
    raise_descriptor_limit();
    as_status status = check_cpus(settings, err);
    if (status == AS_OK)
        status = sim_profile_init(settings, &sim->arena, &sim->shared.profile, err);
    if (status == AS_OK)
        status = read_key(sim, err);
    if (status == AS_OK)
        status = make_tls(sim, err);
    if (status == AS_OK)
        status = make_workers(sim, err);
    if (status == AS_OK)
        status = make_server(sim, err);
    if (status == AS_OK && settings->truth_log)
        status = sim_truth_open(settings->truth_log, (uint32_t)settings->threads, 0, &sim->shared.truth, err);
    if (status != AS_OK) {
        sim_free(sim);
        return status;
    }
    make_url(sim);
    *ret = sim;
    return AS_OK;
}

const char *sim_url(const struct sim *sim)
{
    return sim->url;
}

static void on_certificate_timer(struct http_timer *timer, struct mono now)
{
    struct sim *sim = (struct sim *)(void *)((char *)timer - offsetof(struct sim, certificate_timer));
    struct stat info;
    if (stat(sim->settings->tls_cert, &info) == 0 &&
        (info.st_mtim.tv_sec != sim->certificate_time.tv_sec ||
         info.st_mtim.tv_nsec != sim->certificate_time.tv_nsec) &&
        http_tls_reload(sim->tls, NULL) == AS_OK) /* the old one stays until both files fit together */
        sim->certificate_time = info.st_mtim;
    if (http_timer_set(http_server_loop(sim->server, 0), timer, mono_add_ns(now, CERTIFICATE_INTERVAL_NS)) != AS_OK)
        log_debug("a changed certificate is not looked for any more: no memory");
}

static void watch_certificate(struct http_message *message, struct http_loop *loop)
{
    struct sim *sim = (struct sim *)(void *)((char *)message - offsetof(struct sim, certificate_start));
    sim->certificate_timer.on_fire = on_certificate_timer;
    if (http_timer_set(loop, &sim->certificate_timer, mono_add_ns(mono_now(), CERTIFICATE_INTERVAL_NS)) != AS_OK)
        log_debug("a changed certificate is not looked for: no memory");
}

as_status sim_run(struct sim *sim, struct as_error *err)
{
    struct stat info;
    if (sim->settings->tls_cert && stat(sim->settings->tls_cert, &info) == 0) {
        sim->certificate_time = info.st_mtim;
        sim->certificate_start.on_message = watch_certificate;
        http_loop_post(http_server_loop(sim->server, 0), &sim->certificate_start);
    }
    return http_server_run(sim->server, err);
}

void sim_stop(struct sim *sim)
{
    http_server_stop(sim->server, 0);
}

as_status sim_close(struct sim *sim, struct as_error *err)
{
    if (!sim)
        return AS_OK;
    as_status status = sim_truth_close(sim->shared.truth, err);
    sim_free(sim);
    return status;
}
