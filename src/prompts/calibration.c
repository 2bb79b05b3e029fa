/* SPDX-License-Identifier: Apache-2.0 */
#include "prompts/calibration.h"

#include "base/file.h"
#include "base/json.h"
#include "base/json_write.h"
#include "stats/sort.h"
#include "workload/words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FILE_MAX_BYTES ((size_t)1024 * 1024)

/* ---- measuring ---- */

/* Appends the first half of a text's words, at least one. */
static void add_half(const struct prompt *prompt, struct strbuf *out)
{
    const char *at = prompt->text, *end = prompt->text + prompt->len;
    int64_t wanted = prompt->words / 2, words = 0;
    bool in_word = false, valid = true;
    while (at < end) {
        uint32_t code;
        size_t used = words_decode(at, end, &code, &valid);
        bool is_word = !words_is_space(code);
        if (in_word && !is_word && words == wanted)
            break;
        words += is_word && !in_word;
        in_word = is_word;
        at += used;
    }
    strbuf_add(out, prompt->text, (size_t)(at - prompt->text));
}

static as_status ask(const struct token_counter *counter, const char *text, int64_t words,
                     struct calibration *calibration, struct as_error *err)
{
    struct token_probe *probe = &calibration->probes[calibration->probe_count];
    as_status status = counter->count(counter->context, text, &probe->prompt_tokens, err);
    if (status != AS_OK)
        return status;
    probe->words = words;
    calibration->probe_count++;
    return AS_OK;
}

/* A prompt whole, then its first half. */
static as_status ask_both(const struct token_counter *counter, const struct prompt *prompt,
                          struct calibration *calibration, struct as_error *err)
{
    struct strbuf half AS_AUTO_STRBUF;
    strbuf_init(&half, 0);
    add_half(prompt, &half);
    if (strbuf_status(&half) != AS_OK)
        return error_set(err, AS_E_NOMEM, "out of memory");
    as_status status = ask(counter, prompt->text, prompt->words, calibration, err);
    return status == AS_OK ? ask(counter, strbuf_text(&half), prompt->words / 2, calibration, err) : status;
}

static double deviation(const struct calibration *calibration)
{
    double sum = 0, square = 0, count = (double)calibration->probe_count;
    for (size_t i = 0; i < calibration->probe_count; i++) {
        const struct token_probe *probe = &calibration->probes[i];
        double ratio = ((double)probe->prompt_tokens - calibration->ratio.overhead_tokens) / (double)probe->words;
        sum += ratio;
        square += ratio * ratio;
    }
    double variance = square / count - sum / count * (sum / count);
    return variance > 0 ? sqrt(variance) : 0;
}

/* Numbers of the usable prompts, by length: each value is words × 2^32 + index. */
static size_t sort_usable(const struct prompts *library, int64_t *values)
{
    size_t usable = 0;
    for (size_t i = 0; i < library->count; i++)
        if (library->items[i].words >= 2)
            values[usable++] = library->items[i].words << 32 | (int64_t)i;
    sort_int64(values, usable);
    return usable;
}

static as_status ask_all(const struct prompts *library, size_t samples, const struct token_counter *counter,
                         struct calibration *calibration, struct as_error *err)
{
    int64_t *values = malloc((library->count + 1) * sizeof *values);
    as_status status = AS_OK;
    if (!values)
        return error_set(err, AS_E_NOMEM, "out of memory");
    size_t usable = sort_usable(library, values);
    size_t count = samples < usable ? samples : usable;
    if (count == 0)
        status = error_set(err, AS_E_INVALID, "no prompt has two words or more: its tokens a word cannot be measured");
    for (size_t i = 0; status == AS_OK && i < count; i++) {
        size_t place = count == 1 ? usable / 2 : i * (usable - 1) / (count - 1);
        status = ask_both(counter, &library->items[values[place] & UINT32_MAX], calibration, err);
    }
    free(values);
    return status;
}

as_status calibration_measure(const struct prompts *library, size_t samples, const struct token_counter *counter,
                              struct calibration *ret, struct as_error *err)
{
    struct calibration calibration = {0};
    samples = samples > CALIBRATION_PROMPTS_MAX ? CALIBRATION_PROMPTS_MAX : samples;
    as_status status = ask_all(library, samples, counter, &calibration, err);
    if (status == AS_OK)
        status = token_ratio_fit(calibration.probes, calibration.probe_count, &calibration.ratio, err);
    if (status == AS_OK && prompts_sample_digest(library, (int64_t)library->count, calibration.content_digest) != AS_OK)
        status = error_set(err, AS_E_NOMEM, "out of memory");
    if (status != AS_OK)
        return status;
    calibration.tokens_per_word_std = deviation(&calibration);
    *ret = calibration;
    return AS_OK;
}

/* ---- the file ---- */

as_status calibration_write(const struct calibration *calibration, const struct calibration_facts *facts,
                            struct strbuf *out)
{
    struct json_writer writer;
    char time[WALL_TEXT_BYTES];
    wall_format(facts->measured_at, time);
    json_writer_init(&writer, out, 2);
    json_open_object(&writer);
    json_member_string(&writer, "schema", CALIBRATION_SCHEMA);
    json_member_string(&writer, "model", facts->model);
    json_member_double(&writer, "tokens_per_word", calibration->ratio.tokens_per_word);
    json_member_double(&writer, "overhead_tokens", calibration->ratio.overhead_tokens);
    json_member_double(&writer, "tokens_per_word_std", calibration->tokens_per_word_std);
    json_member_string(&writer, "library", facts->library);
    json_member_string(&writer, "content_digest", calibration->content_digest);
    json_member_string(&writer, "measured_at", time);
    json_member_int(&writer, "samples", (int64_t)calibration->probe_count);
    json_key(&writer, "probes");
    json_open_array(&writer);
    for (size_t i = 0; i < calibration->probe_count; i++) {
        json_open_object(&writer);
        json_member_int(&writer, "words", calibration->probes[i].words);
        json_member_int(&writer, "prompt_tokens", calibration->probes[i].prompt_tokens);
        json_close_object(&writer);
    }
    json_close_array(&writer);
    json_close_object(&writer);
    strbuf_addc(out, '\n');
    return json_writer_status(&writer);
}

static as_status read_ratio(const struct json_value *root, struct token_ratio *ret, struct as_error *err)
{
    struct token_ratio ratio = {0};
    const char *schema;
    if (!json_string(json_get(root, "schema"), &schema) || strcmp(schema, CALIBRATION_SCHEMA) != 0)
        return error_set(err, AS_E_INVALID, "it is no calibration: \"schema\" must be \"" CALIBRATION_SCHEMA "\"");
    if (!json_double(json_get(root, "tokens_per_word"), &ratio.tokens_per_word) ||
        !(ratio.tokens_per_word >= TOKENS_PER_WORD_MIN && ratio.tokens_per_word <= TOKENS_PER_WORD_MAX))
        return error_set(err, AS_E_INVALID, "\"tokens_per_word\" must be a number from %g to %g", TOKENS_PER_WORD_MIN,
                         TOKENS_PER_WORD_MAX);
    if (!json_double(json_get(root, "overhead_tokens"), &ratio.overhead_tokens) ||
        !(ratio.overhead_tokens >= 0 && ratio.overhead_tokens <= TOKEN_OVERHEAD_MAX))
        return error_set(err, AS_E_INVALID, "\"overhead_tokens\" must be a number from 0 to %g", TOKEN_OVERHEAD_MAX);
    *ret = ratio;
    return AS_OK;
}

as_status calibration_parse(const char *text, size_t len, struct token_ratio *ret, struct as_error *err)
{
    struct arena arena;
    const struct json_value *root;
    arena_init(&arena, 0, FILE_MAX_BYTES * 16);
    as_status status = json_parse(text, len, NULL, &arena, &root, err);
    if (status == AS_OK)
        status = read_ratio(root, ret, err);
    arena_done(&arena);
    return status;
}

as_status calibration_load(const char *path, struct token_ratio *ret, struct as_error *err)
{
    struct strbuf text AS_AUTO_STRBUF;
    strbuf_init(&text, FILE_MAX_BYTES);
    as_status status = file_read(path, &text, err);
    if (status != AS_OK)
        return status;
    status = calibration_parse(strbuf_text(&text), text.len, ret, err);
    if (status != AS_OK)
        error_prefix(err, "%s", path);
    return status;
}
