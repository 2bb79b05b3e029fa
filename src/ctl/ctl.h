/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_CTL_CTL_H
#define ASSAY_CTL_CTL_H

/*
 * `assay ctl`: the control plane's API from a shell. It takes words and settings (from ctl_command's options), makes
 * requests to one server (libcurl, linked directly: event streams are read while they arrive and one connection
 * serves many calls) and gives its output piece by piece to ctl_output. Nothing here prints or exits.
 *
 * Errors are as_status with one sentence: AS_E_USAGE for words; AS_E_NETWORK when the server cannot be reached, is busy
 * or breaks off; AS_E_DENIED, AS_E_NOTFOUND, AS_E_EXISTS, AS_E_STATE and AS_E_INVALID for what the server refuses
 * (401/403, 404, 409 exists, 409 state and 412, other 4xx), the member named; AS_E_IO for files and output.
 * Calls that write carry an Idempotency-Key and are repeated with it when the connection fails.
 * Everything belongs to the caller's arena; one call at a time.
 */

#include "options/options.h"

#include <stdbool.h>
#include <stdint.h>

enum ctl_format { CTL_CSV, CTL_JSON, CTL_REPORT, CTL_REPORT_JSON };

/* What the options fill. */
struct ctl_settings {
    const char *server;      /* URL of the server without /api/v1 */
    const char *unix_socket; /* path to connect to instead of the URL's host; NULL = none */
    const char *token_file;  /* NULL = none */
    const char *token;       /* NULL = none */
    const char *ca_cert;     /* NULL = the system's */
    int64_t timeout_ns;      /* of one call; streams have none */
    struct opt_list filters; /* "member: value" */
    struct opt_list columns; /* members shown */
    const char *sort;
    int64_t limit; /* rows of a list */
    bool is_json;
    const char *file; /* "-" = standard input */
    bool is_dry_run;
    bool starts_run; /* apply: also start what `run` says */
    struct opt_list scenarios;
    struct opt_list overrides; /* "check_code: reason" */
    const char *set; /* JSON object: run settings */
    const char *note;
    int format;   /* enum ctl_format */
    const char *source_type;   /* prompts upload: of a source that is made; NULL = prompt_library */
    const char *repository;    /* restic's address; NULL = its environment, else the source's */
    const char *password_file; /* of the repository; NULL = by restic's environment */
    size_t width; /* columns of the terminal, 0 = none: nothing is cut; set by the program */
};

extern const struct opt_command ctl_command;

struct ctl_output {
    void *context;
    /* Bytes for standard output. */
    as_status (*write)(void *context, const char *text, size_t len);
    /* A sentence for standard error. */
    void (*note)(void *context, const char *sentence);
};

/*
 * Does what parsed->operands say. *ret_is_good is false when all went well but the answer is a no: a workload that is
 * not ready, a run that a check stopped or that did not succeed.
 */
as_status ctl_run(const struct opt_parsed *parsed, const struct ctl_settings *settings, const struct ctl_output *output,
                  bool *ret_is_good, struct as_error *err) AS_NODISCARD;

#endif
