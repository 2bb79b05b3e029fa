/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_BRIEF_CONVERT_H
#define ASSAY_BRIEF_CONVERT_H

/*
 * Results of load generators into benchmark reports. Members that a native file lacks are left out, with a warning, as
 * long as the model allows it; a required one gives AS_E_INVALID with its path. Per-request data is checked by
 * structure and not kept. The environment comes through a function, so that nothing here reads the process'. Not for
 * several threads at a time on one conversion.
 */

#include "brief/brief.h"

struct convert_request {
    const char *generator;   /* "guidellm"; see convert_generators */
    const char *version;     /* "0.1", "0.2" or "0.2.1" */
    const char *path;        /* the results file; its name matters for inference-perf ("stage_3_") */
    bool is_session;         /* an inference-perf session file, whatever the generator */
    bool has_index;          /* only the benchmark `index` of a guidellm file */
    int64_t index;           /* negative ones count from the end (0.1 only) */
    const char *description; /* submitted; NULL = by the environment */
    const char *keywords;    /* separated by commas; NULL = by the environment */
    /* The value of an environment variable, NULL when there is none; NULL = no variables at all. */
    const char *(*getenv)(void *context, const char *name);
    void *context;
};

/* Who gets the reports, each as soon as it is made; it is valid during the call only. */
struct convert_taker {
    as_status (*take)(void *context, const struct brief_report *report, struct as_error *err);
    /* `count` reports come; those so far, if any, are void. */
    void (*begin)(void *context, size_t count);
    void *context;
};

struct conversion {
    struct tree tree;             /* of the native file */
    struct tree item;             /* of the benchmark in hand, where a file holds many */
    struct tree scratch;          /* of the report under construction, and of what was refused */
    struct brief_report *reports; /* of convert_file and convert_text */
    size_t count, capacity;
    struct strbuf warnings;   /* lines */
    struct problems problems; /* of the first report that was refused */
};

/* Names, ends with NULL; "assay" included. */
extern const char *const convert_generators[];
/* False when there is no such generator. */
bool convert_is_generator(const char *name);

/* How the `schema` of our own summaries begins. */
#define CONVERT_OWN_SCHEMA "metrumbench-"

struct convert_kind {
    const char *generator; /* NULL = unknown */
    bool is_session;
};
/* What made the results at `path`, by the members at their root; unknown also where they cannot be read. */
struct convert_kind convert_recognise(const char *path);

void conversion_init(struct conversion *conversion);
void conversion_done(struct conversion *conversion);

/* Reads request->path. AS_E_USAGE unknown generator or version; AS_E_UNSUPPORTED nop in 0.2. */
as_status convert_file(const struct convert_request *request, struct conversion *ret,
                       struct as_error *err) AS_NODISCARD;
/*
 * The same with the reports given to `taker`, so that neither they nor the file are in memory as a whole. After a
 * failure what was taken is void.
 */
as_status convert_file_each(const struct convert_request *request, const struct convert_taker *taker,
                            struct conversion *ret, struct as_error *err) AS_NODISCARD;
/* convert_file for text; request->path may be NULL or name where it came from. */
as_status convert_text(const struct convert_request *request, const char *text, size_t len, struct conversion *ret,
                       struct as_error *err) AS_NODISCARD;

/*
 * The native report of one of our runs, version 0.2.1, of the summary.json at `path` and what lies beside it: appends
 * its YAML to `out` and lines about what was left out to `warnings` (may be NULL).
 */
as_status brief_from_summary(const char *path, struct strbuf *out, struct strbuf *warnings,
                             struct as_error *err) AS_NODISCARD;

#endif
