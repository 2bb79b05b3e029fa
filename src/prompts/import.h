/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_PROMPTS_IMPORT_H
#define ASSAY_PROMPTS_IMPORT_H

/*
 * Makes a prompt library of what people have: ShareGPT conversations, plain text, JSONL. Bytes come in pieces of any
 * size (an upload, a file), the library grows in memory; ShareGPT and text are never held as a whole, JSONL is. What
 * cannot become a prompt is counted by reason, never dropped silently.
 *
 * ShareGPT: the first turn of a human; expected_output_tokens is the words of the answer that follows it times
 * `tokens_per_word`, at least 1. Text: a prompt a line, or a paragraph (lines up to a blank one), white space at both
 * ends removed. JSONL: workload/prompts.h; members that have no meaning there are left out. One thread an import.
 */

#include "base/json_write.h"
#include "prompts/library.h"

#include <stdbool.h>
#include <stdint.h>

#define IMPORT_TOKENS_PER_WORD 1.3 /* of English text with usual tokenisers */

enum import_format { IMPORT_SHAREGPT, IMPORT_TEXT, IMPORT_PARAGRAPHS, IMPORT_JSONL };
const char *import_format_name(enum import_format format); /* "sharegpt", "text", "paragraphs", "jsonl" */

/* Why something is no prompt: name in the report, and for people. */
#define IMPORT_SKIP_MAP(X)                                                                                             \
    X(NO_TURNS, "no_turns", "are no conversations: an object with a list of turns")                                    \
    X(NO_HUMAN, "no_human_turn", "have no turn of a human")                                                            \
    X(BLANK, "blank_prompt", "have a blank prompt")                                                                    \
    X(SHORT, "too_short", "are shorter than --min-words")                                                              \
    X(LONG, "too_long", "are longer than --max-words")                                                                 \
    X(DAMAGED, "not_utf8", "are no UTF-8 text")                                                                        \
    X(BAD_LINE, "bad_line", "are bad lines")                                                                           \
    X(BEYOND, "beyond_max", "come after the number wanted")
enum import_skip {
#define IMPORT_SKIP_ENUM(name, text, sentence) IMPORT_SKIP_##name,
    IMPORT_SKIP_MAP(IMPORT_SKIP_ENUM)
#undef IMPORT_SKIP_ENUM
    IMPORT_SKIPS
};
const char *import_skip_name(enum import_skip skip);
const char *import_skip_sentence(enum import_skip skip);

struct import_options {
    enum import_format format;
    const char *name;           /* of the source, for messages; NULL = "the input" */
    double tokens_per_word;     /* ShareGPT; 0 = IMPORT_TOKENS_PER_WORD */
    int64_t min_words;          /* of a prompt, 0 = 1 */
    int64_t max_words;          /* 0 = no limit */
    int64_t max_prompts;        /* 0 = no limit */
    bool skip_bad_lines;        /* JSONL: count them instead of refusing the file */
};

struct import_counts {
    int64_t records;                /* conversations, lines, paragraphs looked at; blank lines do not count */
    int64_t skipped[IMPORT_SKIPS];  /* records = prompts taken + all skipped */
    int64_t without_answer;         /* prompts taken from conversations that have no answer */
    int64_t bytes;                  /* read */
};

struct import;

/* `options` is copied, its name kept. AS_E_NOMEM. *ret needs import_free. */
as_status import_new(const struct import_options *options, struct import **ret) AS_NODISCARD;
void import_free(struct import *import);
/* AS_E_INVALID with the place: JSON that is none, a bad line; AS_E_LIMIT: larger than PROMPTS_FILE_MAX_BYTES; AS_E_NOMEM. */
as_status import_feed(struct import *import, const char *data, size_t len, struct as_error *err) AS_NODISCARD;
/* Reads all that a descriptor gives and finishes. Further: AS_E_IO. */
as_status import_fd(struct import *import, int fd, struct as_error *err) AS_NODISCARD;
/* The input ended. AS_E_INVALID also when no prompt was found; the sentence says how many were skipped why. */
as_status import_finish(struct import *import, struct as_error *err) AS_NODISCARD;

/* After import_finish; lives as long as the import. */
const struct library *import_library(const struct import *import);
const struct import_counts *import_counts(const struct import *import);
/* SHA-256 of all bytes read. */
const char *import_source_digest(const struct import *import);
/* Adds the member "import" with the counts: for library_origin.describe (the context is the import). */
void import_describe(struct json_writer *writer, const void *import);

#endif
