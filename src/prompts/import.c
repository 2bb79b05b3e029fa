/* SPDX-License-Identifier: Apache-2.0 */
#include "prompts/import.h"

#include "prompts/import_text.h"
#include "prompts/sharegpt.h"
#include "workload/words.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PIECE_BYTES 65536

struct import {
    struct import_options options;
    struct library library;
    struct import_counts counts;
    struct digest digest;
    char source_digest[DIGEST_TEXT_BYTES];
    struct sharegpt sharegpt;
    struct text_lines text;
    struct strbuf whole; /* JSONL */
};

const char *import_format_name(enum import_format format)
{
    static const char *const names[] = {"sharegpt", "text", "paragraphs", "jsonl"};
    return names[format];
}

const char *import_skip_name(enum import_skip skip)
{
#define IMPORT_SKIP_NAME(name, text, sentence) text,
    static const char *const names[] = {IMPORT_SKIP_MAP(IMPORT_SKIP_NAME)};
#undef IMPORT_SKIP_NAME
    return names[skip];
}

const char *import_skip_sentence(enum import_skip skip)
{
#define IMPORT_SKIP_SENTENCE(name, text, sentence) sentence,
    static const char *const sentences[] = {IMPORT_SKIP_MAP(IMPORT_SKIP_SENTENCE)};
#undef IMPORT_SKIP_SENTENCE
    return sentences[skip];
}

static bool is_utf8(const char *text, size_t len)
{
    const char *at = text, *end = text + len;
    bool valid = true;
    uint32_t code;
    while (at < end)
        at += words_decode(at, end, &code, &valid);
    return valid;
}

/* Takes a record's prompt, or counts why not. */
static as_status take_row(struct import *import, const struct library_row *row)
{
    const struct import_options *options = &import->options;
    int64_t words = words_count(row->text, row->len), *skipped = import->counts.skipped;
    if (words == 0)
        skipped[IMPORT_SKIP_BLANK]++;
    else if (!is_utf8(row->text, row->len))
        skipped[IMPORT_SKIP_DAMAGED]++;
    else if (words < options->min_words)
        skipped[IMPORT_SKIP_SHORT]++;
    else if (options->max_words && words > options->max_words)
        skipped[IMPORT_SKIP_LONG]++;
    else if (options->max_prompts && import->library.count >= options->max_prompts)
        skipped[IMPORT_SKIP_BEYOND]++;
    else
        return library_add(&import->library, row);
    return AS_OK;
}

static as_status take_text(void *context, const char *text, size_t len)
{
    struct import *import = context;
    struct library_row row = {.text = text, .len = len, .expected_output_tokens = -1};
    import->counts.records++;
    return take_row(import, &row);
}

static as_status take_conversation(void *context, const struct sharegpt_conversation *conversation)
{
    struct import *import = context;
    import->counts.records++;
    if (!conversation->prompt) {
        enum import_skip skip = !conversation->has_turns       ? IMPORT_SKIP_NO_TURNS
                                : conversation->has_blank_turn ? IMPORT_SKIP_BLANK
                                                               : IMPORT_SKIP_NO_HUMAN;
        import->counts.skipped[skip]++;
        return AS_OK;
    }
    struct library_row row = {.text = conversation->prompt,
                              .len = conversation->prompt_len,
                              .id = conversation->id,
                              .id_len = conversation->id_len,
                              .expected_output_tokens = -1};
    if (conversation->answer_words > 0) {
        double tokens = round((double)conversation->answer_words * import->options.tokens_per_word);
        row.expected_output_tokens = tokens < 1 ? 1 : (int64_t)tokens;
    }
    int64_t before = import->library.count;
    as_status status = take_row(import, &row);
    import->counts.without_answer += import->library.count > before && conversation->answer_words < 1;
    return status;
}

as_status import_new(const struct import_options *options, struct import **ret)
{
    struct import *import = calloc(1, sizeof *import);
    if (!import)
        return AS_E_NOMEM;
    import->options = *options;
    if (!import->options.name)
        import->options.name = "the input";
    if (!(import->options.tokens_per_word > 0))
        import->options.tokens_per_word = IMPORT_TOKENS_PER_WORD;
    strbuf_init(&import->whole, PROMPTS_FILE_MAX_BYTES);
    sharegpt_init(&import->sharegpt, &(struct sharegpt_sink){import, take_conversation});
    text_lines_init(&import->text, options->format == IMPORT_PARAGRAPHS, &(struct text_sink){import, take_text});
    as_status status = library_init(&import->library);
    if (status == AS_OK)
        status = digest_init(&import->digest);
    if (status != AS_OK) {
        import->digest.context = NULL;
        import_free(import);
        return status;
    }
    *ret = import;
    return AS_OK;
}

void import_free(struct import *import)
{
    if (!import)
        return;
    if (import->digest.context)
        digest_abandon(&import->digest);
    sharegpt_done(&import->sharegpt);
    text_lines_done(&import->text);
    strbuf_done(&import->whole);
    library_done(&import->library);
    free(import);
}

static as_status too_much(const struct import *import, as_status status, struct as_error *err)
{
    if (status == AS_E_LIMIT)
        return error_set(err, status, "%s: a prompt or the library grows beyond what a prompt file may have (%zu MiB)",
                         import->options.name, PROMPTS_FILE_MAX_BYTES / 1024 / 1024);
    return error_set(err, status, "%s: %s", import->options.name, status_sentence(status));
}

static as_status feed_reader(struct import *import, const char *data, size_t len, struct as_error *err)
{
    if (import->options.format == IMPORT_SHAREGPT) {
        as_status status = sharegpt_feed(&import->sharegpt, data, len, err);
        if (status != AS_OK)
            error_prefix(err, "%s is no ShareGPT file", import->options.name);
        return status;
    }
    if (import->options.format == IMPORT_JSONL) {
        strbuf_add(&import->whole, data, len);
        as_status status = strbuf_status(&import->whole);
        return status == AS_OK ? AS_OK : too_much(import, status, err);
    }
    as_status status = text_lines_feed(&import->text, data, len);
    return status == AS_OK ? AS_OK : too_much(import, status, err);
}

as_status import_feed(struct import *import, const char *data, size_t len, struct as_error *err)
{
    static const char mark[] = "\xEF\xBB\xBF";
    as_status status = digest_add(&import->digest, data, len);
    if (status != AS_OK)
        return too_much(import, status, err);
    size_t skip = import->counts.bytes == 0 && len >= 3 && memcmp(data, mark, 3) == 0 ? 3 : 0;
    import->counts.bytes += (int64_t)len;
    return feed_reader(import, data + skip, len - skip, err);
}

as_status import_fd(struct import *import, int fd, struct as_error *err)
{
    char *piece = malloc(PIECE_BYTES);
    as_status status = AS_OK;
    if (!piece)
        return error_set(err, AS_E_NOMEM, "out of memory");
    while (status == AS_OK) {
        ssize_t len = read(fd, piece, PIECE_BYTES);
        if (len < 0 && errno == EINTR)
            continue;
        if (len < 0)
            status = error_set_errno(err, errno, "%s", import->options.name);
        if (len <= 0)
            break;
        status = import_feed(import, piece, (size_t)len, err);
    }
    free(piece);
    return status == AS_OK ? import_finish(import, err) : status;
}

static as_status take_rows(struct import *import, const struct prompts *prompts)
{
    import->counts.records = prompts->lines - prompts->blank_lines;
    import->counts.skipped[IMPORT_SKIP_BAD_LINE] = prompts->bad_lines;
    for (size_t i = 0; i < prompts->count; i++) {
        const struct prompt *prompt = &prompts->items[i];
        as_status status = take_row(import, &(struct library_row){prompt->text, prompt->len, prompt->id,
                                                                  strlen(prompt->id), prompt->expected_output_tokens});
        if (status != AS_OK)
            return status;
    }
    return AS_OK;
}

static as_status finish_jsonl(struct import *import, struct as_error *err)
{
    struct prompts prompts;
    struct prompts_options options = {.name = import->options.name, .skip_bad_lines = import->options.skip_bad_lines};
    as_status status = prompts_parse(strbuf_text(&import->whole), import->whole.len, &options, &prompts, err);
    if (status != AS_OK)
        return status;
    status = take_rows(import, &prompts);
    prompts_done(&prompts);
    return status == AS_OK ? AS_OK : too_much(import, status, err);
}

static as_status finish_reader(struct import *import, struct as_error *err)
{
    if (import->options.format == IMPORT_SHAREGPT) {
        as_status status = sharegpt_finish(&import->sharegpt, err);
        if (status != AS_OK)
            error_prefix(err, "%s is no ShareGPT file", import->options.name);
        return status;
    }
    if (import->options.format == IMPORT_JSONL)
        return finish_jsonl(import, err);
    as_status status = text_lines_finish(&import->text);
    return status == AS_OK ? AS_OK : too_much(import, status, err);
}

static as_status check_result(const struct import *import, struct as_error *err)
{
    char why[300] = "";
    size_t used = 0;
    if (import->library.count > 0)
        return AS_OK;
    for (int i = 0; i < IMPORT_SKIPS && used < sizeof why; i++) {
        if (import->counts.skipped[i] == 0)
            continue;
        int len = snprintf(why + used, sizeof why - used, "; %" PRId64 " %s", import->counts.skipped[i],
                           import_skip_sentence((enum import_skip)i));
        used += len > 0 ? (size_t)len : 0;
    }
    return error_set(err, AS_E_INVALID, "%s gives no prompt: %" PRId64 " records%s", import->options.name,
                     import->counts.records, why);
}

as_status import_finish(struct import *import, struct as_error *err)
{
    as_status status = finish_reader(import, err);
    if (status == AS_OK)
        status = check_result(import, err);
    if (status != AS_OK)
        return status;
    status = library_finish(&import->library);
    if (status == AS_OK) {
        status = digest_finish(&import->digest, import->source_digest);
        import->digest.context = NULL;
    }
    return status == AS_OK ? AS_OK : too_much(import, status, err);
}

const struct library *import_library(const struct import *import)
{
    return &import->library;
}

const struct import_counts *import_counts(const struct import *import)
{
    return &import->counts;
}

const char *import_source_digest(const struct import *import)
{
    return import->source_digest;
}

void import_describe(struct json_writer *writer, const void *context)
{
    const struct import *import = context;
    json_key(writer, "import");
    json_open_object(writer);
    json_member_int(writer, "records", import->counts.records);
    json_member_int(writer, "prompts", import->library.count);
    json_key(writer, "skipped");
    json_open_object(writer);
    for (int i = 0; i < IMPORT_SKIPS; i++)
        if (import->counts.skipped[i])
            json_member_int(writer, import_skip_name((enum import_skip)i), import->counts.skipped[i]);
    json_close_object(writer);
    if (import->options.format == IMPORT_SHAREGPT) {
        json_member_int(writer, "without_answer", import->counts.without_answer);
        json_member_double(writer, "tokens_per_word", import->options.tokens_per_word);
    }
    json_close_object(writer);
}
