/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_PLANE_PLANE_H
#define ASSAY_PLANE_PLANE_H

/*
 * The control plane: `assay serve`. Takes a store and addresses to listen on; serves the API of schema/openapi.yaml.
 * Loops (http/server.h) read requests and write answers; workers run what touches the store; passwords are hashed in a
 * pool of two. plane_run blocks until plane_stop; the other functions belong to the thread that called plane_open.
 * Nothing here prints: what is to be told (the first token, failures) goes through `notice` and log_debug.
 */

#include "base/status.h"
#include "base/strbuf.h"
#include "options/options.h"

#include <stdbool.h>
#include <stdint.h>

struct plane;

struct plane_settings {
    const char *database; /* path, or postgresql://… */
    const char *key_file; /* seals secrets and cursors; NULL = DATABASE.key beside a SQLite file */
    const char *host;
    int64_t port; /* 0 = any free one */
    const char *unix_path;
    const char *tls_cert, *tls_key;
    bool allow_plaintext_remote;
    bool behind_proxy;       /* X-Forwarded-For and X-Forwarded-Proto of the peer are believed */
    const char *data_folder; /* shipped recipes, NULL = beside the program */
    const char *token_file;  /* where the first admin token goes instead of to the notice */
    int64_t loops, workers, queue;
    int64_t readers;                      /* connections to the store */
    void (*failed)(const char *sentence); /* told of what is answered 500: for the log; NULL = nobody. Any thread. */
};

extern const struct opt_command plane_command;

/* Opens and migrates the store, seeds it at the first start, listens. `notice` gets what is told once (the first admin
 * token). */
as_status plane_open(const struct plane_settings *settings, struct plane **ret, struct strbuf *notice,
                     struct as_error *err) AS_NODISCARD;
/* "http://127.0.0.1:8080" or "unix:PATH"; lives as long as the plane. */
const char *plane_url(const struct plane *plane);
as_status plane_run(struct plane *plane, struct as_error *err) AS_NODISCARD;
/* Drains for at most drain_ns, then plane_run returns. Any thread; async-signal-safe. */
void plane_stop(struct plane *plane, int64_t drain_ns);
/* Reads certificate and key again; the old ones stay when that fails. */
as_status plane_reload(struct plane *plane, struct as_error *err) AS_NODISCARD;
/* NULL does nothing. After plane_run has returned. */
void plane_close(struct plane *plane);

/* ---- without serving ---- */

/* The OpenAPI document as YAML. */
as_status plane_openapi(struct strbuf *out) AS_NODISCARD;
/* What a file of engine-argument sets would change of the catalogue, for people. */
as_status plane_recipes_diff(const struct plane_settings *settings, const char *path, struct strbuf *out,
                             struct as_error *err) AS_NODISCARD;
/* A consistent copy of the store (SQLite). */
as_status plane_backup(const struct plane_settings *settings, const char *target, struct as_error *err) AS_NODISCARD;
/* Puts a copy in the place of the store, which must not exist, after checking it. */
as_status plane_restore(const struct plane_settings *settings, const char *source, struct as_error *err) AS_NODISCARD;
/* A new token of the first tenant's administrator, for who has lost all others. */
as_status plane_admin_token(const struct plane_settings *settings, struct strbuf *ret_token,
                            struct as_error *err) AS_NODISCARD;

#endif
