/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_WORKLOAD_AUDIO_H
#define ASSAY_WORKLOAD_AUDIO_H

/*
 * The audio samples of a run: read from a manifest, fetched, measured and taken into memory, all before the first
 * request. Request number `seq` sends sample seq modulo their number, in the order of the manifest.
 *
 * Manifest: one JSON object a line with `id` (string or number, unique), `path` (a file, relative to the manifest's
 * folder, or a file:// URL) or `url` (http, https), `format` (see media/audio.h; without it the ending of the name,
 * then the bytes decide) and `duration` (seconds, > 0; without it the file is measured). Other members are noted. Bad
 * lines as in workload/audio_jsonl.h.
 *
 * The steps, in this order, each once: audio_set_load, audio_set_fetch, audio_set_measure, audio_set_read. What is
 * wrong with a single file (not there, empty, a failed download) is the sample's `failure`: its requests are refused,
 * the others go on.
 *
 * Memory: an arena in the set, and the samples' bytes up to a limit; the files beyond it are read when they are sent.
 * Read-only after audio_set_read; then any thread.
 */

#include "base/arena.h"
#include "base/status.h"
#include "base/strbuf.h"
#include "media/audio.h"
#include "workload/audio_jsonl.h"
#include "workload/digest.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define AUDIO_MANIFEST_MAX_BYTES ((size_t)1024 * 1024 * 1024)
#define AUDIO_FILE_MAX_BYTES     ((size_t)4 * 1024 * 1024 * 1024)
#define AUDIO_ID_BYTES           64

/* name in the output */
#define AUDIO_DURATION_SOURCE_MAP(X) X(NONE, "") X(MANIFEST, "manifest") X(FILE, "file")
enum audio_duration_source {
#define AUDIO_DURATION_SOURCE_ENUM(name, text) AUDIO_DURATION_##name,
    AUDIO_DURATION_SOURCE_MAP(AUDIO_DURATION_SOURCE_ENUM)
#undef AUDIO_DURATION_SOURCE_ENUM
};
const char *audio_duration_source_name(enum audio_duration_source source); /* "manifest" */

struct audio_sample {
    const char *id;             /* < AUDIO_ID_BYTES */
    const char *path;           /* of the file; of a download, its place in the cache */
    const char *url;            /* NULL = a local file */
    const char *file_name;      /* the last part of path or URL, what the upload is called */
    int64_t line;               /* in the manifest */
    enum audio_format format;   /* decides the MIME type */
    enum audio_format contents; /* by the bytes; AUDIO_UNKNOWN = not recognised */
    bool has_format;            /* the manifest gave it */
    int64_t duration_ns;        /* -1 = unknown */
    int64_t measured_ns;        /* length of the file, -1 = not measured or not measurable */
    enum audio_duration_source duration_source;
    bool is_mislabelled; /* format and contents differ */
    bool is_misstated;   /* stated and measured length differ by more than 1 % and 50 ms */
    bool is_from_cache;  /* the download was there already */
    size_t bytes;        /* of the file */
    const char *data;    /* its bytes, NULL = read it when it is sent */
    int64_t read_ns;     /* how long reading it took */
    const char *failure; /* why it cannot be sent, NULL = it can */
};

struct audio_set {
    struct arena arena;
    struct audio_sample *items; /* in the manifest's order */
    size_t count;
    struct audio_lines lines;
    const char *name;                        /* of the manifest */
    const char *folder;                      /* that relative paths start from */
    char manifest_digest[DIGEST_TEXT_BYTES]; /* SHA-256 of the manifest */
    char audio_digest[DIGEST_TEXT_BYTES];    /* SHA-256 of all files in order, each with its length; "" before
                                                audio_set_read */
    size_t held_bytes;                       /* of data */
    struct audio_store *stores;              /* what data points to */
};

struct audio_manifest_options {
    bool skip_bad_lines;
    /* For an http(s) manifest and the downloads, see fetch/fetch.h. NULL = none. */
    const char *ca_cert, *proxy;
    bool insecure;
};

/* Reads a manifest from a file, "-" or an http(s) URL. AS_E_NOTFOUND, AS_E_IO, AS_E_NETWORK, AS_E_INVALID, AS_E_LIMIT,
 * AS_E_NOMEM. */
as_status audio_set_load(const char *source, const struct audio_manifest_options *options, struct audio_set *ret,
                         struct as_error *err) AS_NODISCARD;
/* The same from memory; relative paths start from `folder`. */
as_status audio_set_parse(const struct audio_text *text, const char *folder, struct audio_set *ret,
                          struct as_error *err) AS_NODISCARD;
/* Takes a set that is all zero too. */
void audio_set_done(struct audio_set *set);

/* How a step goes on: `done` of `total` files. Called from one thread at a time. */
struct audio_progress {
    void *context;
    void (*show)(void *context, const char *what, size_t done, size_t total);
};

struct audio_fetch_options {
    const char *cache_folder; /* made when needed; files are named by the URL's digest. NULL = audio_cache_folder */
    const char *ca_cert, *proxy;
    bool insecure;
    int64_t timeout_ns; /* of each download, 0 = 600 s */
    size_t max_bytes;   /* of each, 0 = 4 GiB */
    uint32_t parallel;  /* 0 = 4 */
    struct audio_progress progress;
};

/* Downloads that are not in the cache; those that fail become failures of their samples. AS_E_IO: the cache;
 * AS_E_NOMEM. */
as_status audio_set_fetch(struct audio_set *set, const struct audio_fetch_options *options,
                          struct as_error *err) AS_NODISCARD;
/* $XDG_CACHE_HOME/assay/audio, else $HOME/.cache/assay/audio, else /tmp/assay-UID/audio; in the arena. NULL: no memory.
 */
const char *audio_cache_folder(struct arena *arena);

/*
 * Measures the files with assay-media: the duration of samples that state none, and a check of those that do. Not
 * calling it is the spec's strict rule (no stated duration, no RTF). Files that cannot be measured keep an unknown
 * duration. AS_E_NOTFOUND when assay-media is not installed, AS_E_NOMEM.
 */
as_status audio_set_measure(struct audio_set *set, const struct audio_progress *progress,
                            struct as_error *err) AS_NODISCARD;

/*
 * Reads each file once, in order: its bytes are kept while they fit into `memory_bytes` together, its format is looked
 * at, the digest taken. A file that cannot be read or is empty becomes a failure. AS_E_INVALID when no sample is left
 * (err names the first failure), AS_E_NOMEM.
 */
as_status audio_set_read(struct audio_set *set, size_t memory_bytes, const struct audio_progress *progress,
                         struct as_error *err) AS_NODISCARD;

/* The file of a sample into `ret`; AS_E_IO and the like with the reason, AS_E_INVALID when it is empty. */
as_status audio_file_read(const char *path, struct strbuf *ret, struct as_error *err) AS_NODISCARD;

static inline const struct audio_sample *audio_set_sample(const struct audio_set *set, int64_t seq)
{
    return &set->items[(uint64_t)seq % set->count];
}

/* What the samples have in common, for warnings and the summary. */
struct audio_set_counts {
    int64_t failed; /* cannot be sent */
    int64_t mislabelled, misstated;
    int64_t without_duration; /* of those that can be sent */
    int64_t downloaded, from_cache;
    int64_t read_when_sent;                                                        /* not in memory */
    const struct audio_sample *first_failed, *first_mislabelled, *first_misstated; /* NULL = none */
};
struct audio_set_counts audio_set_count(const struct audio_set *set);

#endif
