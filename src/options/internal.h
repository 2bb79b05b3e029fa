/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_OPTIONS_INTERNAL_H
#define ASSAY_OPTIONS_INTERNAL_H

/* Shared by the files of this module. */

#include "options/options.h"

#include <string.h>

/* One reading of all sources. Functions give err->message as a whole sentence unless said otherwise. */
struct opt_reader {
    struct opt_parsed *parsed;
    const struct opt_input *input;
    enum opt_origin origin; /* of what is being assigned */
    const char *spelled;    /* how the option being assigned was written */
};

/* What a name stands for: an option, or a foreign name. `negated` for --no-x. */
struct opt_found {
    struct opt_state *state;
    const struct opt_foreign *foreign;
    bool negated;
};

/* The number of options over all tables. */
size_t command_option_count(const struct opt_command *command);
/* The i-th option over all tables and the offset of its table's struct. */
const struct opt *command_option(const struct opt_command *command, size_t i, size_t *ret_base);
/* True when `word` is one of the words in `words` (separated by spaces; NULL = none). */
bool word_in(const char *words, const char *word, size_t len);
/* Steps through words separated by spaces; *at moves; false after the last. */
bool next_word(const char **at, const char **ret_word, size_t *ret_len);
/* "ASSAY_NUM_REQUESTS" */
void environment_name(const char *option, struct strbuf *out);
/* "num_requests", "request_timeout_s", "buffer_bytes" */
void echo_name(const struct opt *opt, struct strbuf *out);
/* Lines of at most `width` columns, all but the first indented; `column` is where the first begins. */
void add_wrapped(struct strbuf *out, const char *text, size_t column, size_t indent, size_t width);
/* Columns of UTF-8 text. */
size_t text_columns(const char *text, size_t len);
/* What stands for the value in help: "N", "SECONDS", "chat|completion". */
void add_value_name(struct strbuf *out, const struct opt *opt);
/* The groups' names in order of first use; returns the next different from all before, or NULL. `seen` counts. */
const char *command_group(const struct opt_command *command, size_t index);
/* "Default: 1." and the like, "" when there is nothing to say. */
void add_default_sentence(struct strbuf *out, const struct opt *opt);
/* "Only with --synthetic-isl." "Not with --duration." "Only in an open loop." */
void add_conditions(struct strbuf *out, const struct opt_command *command, const struct opt *opt);

/* " Also --base-url, --target." */
void add_aliases(struct strbuf *out, const struct opt_command *command, const struct opt *opt);
/* "ASSAY_API_KEY, OPENAI_API_KEY" */
void add_environment(struct strbuf *out, const struct opt *opt);

/* Sets the field to "no value". */
void value_clear(const struct opt *opt, void *field);
/* Parses and checks `text`; err->message is only the reason ("is not a whole number"). */
as_status value_parse(const struct opt *opt, const char *text, void *field, struct arena *arena,
                      struct as_error *err) AS_NODISCARD;
/* "a whole number from 1 to 65536" */
void value_allowed(const struct opt *opt, struct strbuf *out);
/* A value that is allowed. */
void value_example(const struct opt *opt, struct strbuf *out);
/* Writes the field's value as JSON (lists as arrays), secrets hidden. */
void value_echo(const struct opt_state *state, struct json_writer *writer);

struct opt_found reader_find(struct opt_reader *reader, const char *name, size_t len);
as_status reader_assign(struct opt_reader *reader, const struct opt_found *found, const char *value,
                        struct as_error *err) AS_NODISCARD;
as_status reader_job_file(struct opt_reader *reader, const char *path, struct as_error *err) AS_NODISCARD;

#endif
