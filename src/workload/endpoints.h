/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_WORKLOAD_ENDPOINTS_H
#define ASSAY_WORKLOAD_ENDPOINTS_H

/*
 * Which servers a run speaks to: from options and from a file (YAML, JSON or JSONL). Only text is handled here;
 * net/net.h reads the URLs. An endpoints file is a list of endpoints, or a mapping whose one member `endpoints` is that
 * list; JSONL has one endpoint a line. An endpoint is a URL, or a mapping of
 *
 *   url          required
 *   name         unique; default: the URL without user-info and with *** for keys in its query (with "#2", … when the
 * same URL comes again) weight       whole number from 1 to 1,000,000, default 1 api_key      the key itself, or
 *   api_key_env  the NAME of the environment variable that holds it: must be set and not empty
 *
 * Unknown members are refused. Keys never appear in a message, and the list clears them when it frees them. One thread.
 */

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

#define ENDPOINTS_MAX            4096
#define ENDPOINTS_FILE_MAX_BYTES ((size_t)4 * 1024 * 1024)
#define ENDPOINT_WEIGHT_MAX      1000000

/* Strings are owned by the list. */
struct endpoint_spec {
    char *url;
    char *name;
    char *api_key;     /* NULL = none of its own */
    char *api_key_env; /* where the key came from, for the echo; NULL = not from the environment */
    uint32_t weight;   /* ≥ 1 */
};

struct endpoint_list {
    struct endpoint_spec *items;
    size_t count, capacity;
    char *path; /* of --endpoint PATH; NULL = none */
};

void endpoints_init(struct endpoint_list *list);
void endpoints_done(struct endpoint_list *list);

/* Adds a URL, with weight 1 and no key. AS_E_USAGE: empty, or white space or control characters inside. */
as_status endpoints_add_url(struct endpoint_list *list, const char *url, struct as_error *err) AS_NODISCARD;
/* The value of --endpoint: a path when it begins with "/" (the last one counts), else a URL. */
as_status endpoints_add_value(struct endpoint_list *list, const char *value, struct as_error *err) AS_NODISCARD;
/* Adds the endpoints of a file ("-": standard input). AS_E_INVALID names file, line and remedy. */
as_status endpoints_load(struct endpoint_list *list, const char *path, struct as_error *err) AS_NODISCARD;
/* The same from memory; `name` stands for the file in messages. After a failure the list is as before. */
as_status endpoints_parse(struct endpoint_list *list, const char *text, size_t len, const char *name,
                          struct as_error *err) AS_NODISCARD;
/*
 * To be called once, after all were added: joins the path, if there is one, to every URL (a "/v1" that both have is
 * there once; a query of the URL stays behind the path, one of the path follows it), and gives every endpoint its
 * unique name. AS_E_USAGE when there is no endpoint.
 */
as_status endpoints_finish(struct endpoint_list *list, struct as_error *err) AS_NODISCARD;

#endif
