/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_WORKLOAD_PROMPTS_H
#define ASSAY_WORKLOAD_PROMPTS_H

/*
 * The prompts of a run: read from JSONL or generated, shuffled with the seed, then taken in a cycle. Which prompt
 * request number `seq` gets depends on the prompts, the seed and `seq` alone.
 *
 * JSONL: one JSON object a line. `prompt` (string, with at least one character that is no white space) is required;
 * `expected_output_tokens` (integer ≥ 1) sets that request's token limit; `id` (string or integer) names the prompt in
 * records, else its line number does; other members are ignored, and the first unknown name is told; a known
 * member that is there twice makes a bad line. One byte order mark at the start, CR LF line ends and lines of white space are accepted. A last line without a line end is an
 * ordinary line: a cut one is bad JSON like any other bad line. A bad line is an error that names input, line and
 * remedy, unless bad lines are to be skipped: then they are counted, and the first one's error is kept.
 *
 * Memory: an arena in struct prompts. Read-only after prompts_shuffle; then any thread.
 */

#include "base/arena.h"
#include "base/json.h"
#include "base/status.h"
#include "workload/digest.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Largest prompt file, and the longest line of it. */
#define PROMPTS_FILE_MAX_BYTES ((size_t)1024 * 1024 * 1024)
#define PROMPTS_LINE_MAX_BYTES ((size_t)64 * 1024 * 1024)
#define PROMPTS_ID_BYTES       64

struct prompt {
    const char *text;               /* UTF-8, NUL-terminated; may hold NUL inside */
    size_t len;                     /* bytes of text */
    const char *id;                 /* < PROMPTS_ID_BYTES */
    int64_t words;                  /* white-space-separated (workload/words.h) */
    int64_t expected_output_tokens; /* -1 = not given */
};

/*
 * Reads what a tool adds to a line of prompts. `take` is called for each line whose own members are sound, with the index that its prompt
 * will have; a failure makes it a bad line, or with AS_E_NOMEM ends the reading. A line may be given that is then left out for no other
 * reason than memory.
 */
struct prompt_extension {
    const char *const *members; /* names it knows, ends with NULL */
    void *context;
    as_status (*take)(void *context, size_t index, const struct json_value *line, struct as_error *err);
};

struct prompts_options {
    const char *name; /* stands for the source in messages; NULL = the source itself, "the prompts" from memory */
    bool skip_bad_lines;
    /* For http(s) sources, see fetch/fetch.h. NULL = none. */
    const char *ca_cert;
    const char *proxy;
    bool insecure;
    int64_t timeout_ns; /* of the download, 0 = 120 s */
    const struct prompt_extension *extension; /* NULL = none */
};

struct prompts {
    struct arena arena;
    struct prompt *items; /* in order of the file */
    uint32_t *order;      /* shuffled indexes; NULL before prompts_shuffle: file order */
    size_t count;
    int64_t lines, blank_lines, bad_lines;
    struct as_error first_bad;             /* of skipped lines */
    char unknown_member[PROMPTS_ID_BYTES]; /* first member name without a meaning, "" = none */
    int64_t with_expected_tokens;          /* prompts that give expected_output_tokens */
    char digest[DIGEST_TEXT_BYTES];        /* SHA-256 of the file as read, or of the generated texts */
};

/*
 * Reads prompts from a file, "-" (standard input) or an http(s) URL. `options` may be NULL. AS_E_NOTFOUND, AS_E_IO,
 * AS_E_NETWORK: the source; AS_E_INVALID: a bad line, or no prompt at all; AS_E_LIMIT: too large; AS_E_NOMEM.
 */
as_status prompts_load(const char *source, const struct prompts_options *options, struct prompts *ret,
                       struct as_error *err) AS_NODISCARD;
/* The same from memory. */
as_status prompts_parse(const char *text, size_t len, const struct prompts_options *options, struct prompts *ret,
                        struct as_error *err) AS_NODISCARD;
void prompts_done(struct prompts *prompts);

/* Puts the prompts into a random order that depends on `seed` and their number alone. */
as_status prompts_shuffle(struct prompts *prompts, uint64_t seed) AS_NODISCARD;

/* The index into items of request number `seq` (≥ 0). */
static inline size_t prompts_index(const struct prompts *prompts, int64_t seq)
{
    size_t place = (size_t)((uint64_t)seq % prompts->count);
    return prompts->order ? prompts->order[place] : place;
}

/* How often the prompt used most is used by `requests` requests: the reuse that a server's prefix cache may see. */
int64_t prompts_reuse(const struct prompts *prompts, int64_t requests);

/* SHA-256 of what `requests` requests send, in order: for each distinct prompt used its length, text and expected
 * tokens. */
as_status prompts_sample_digest(const struct prompts *prompts, int64_t requests,
                                char ret_text[DIGEST_TEXT_BYTES]) AS_NODISCARD;

#endif
