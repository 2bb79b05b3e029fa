/* SPDX-License-Identifier: Apache-2.0 */
#include "workload/prompts.h"
#include "base/file.h"
#include "base/json.h"
#include "base/rng.h"
#include "fetch/fetch.h"
#include "workload/words.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHUFFLE_STREAM      UINT64_C(0x70726f6d70747321) /* "prompts!" */
#define DOWNLOAD_TIMEOUT_NS (INT64_C(120) * 1000000000)

/* A file being read. */
struct reading {
    struct prompts *prompts;
    const struct prompts_options *options;
    const char *name;
    struct arena line_arena; /* the current line's tree */
    size_t capacity;         /* of prompts->items */
};

static const struct prompts_options default_options = {0};

static bool is_blank(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (text[i] != ' ' && text[i] != '\t' && text[i] != '\r')
            return false;
    return true;
}

/* The members of one line that count. */
struct fields {
    const struct json_value *prompt, *expected, *id;
};

static void note_unknown(struct prompts *prompts, const char *key)
{
    if (!prompts->unknown_member[0])
        snprintf(prompts->unknown_member, sizeof prompts->unknown_member, "%s", key);
}

static bool is_known(const struct reading *reading, const char *key)
{
    static const char *const ours[] = {"prompt", "expected_output_tokens", "id", NULL};
    const char *const *lists[] = {ours, reading->options->extension ? reading->options->extension->members : NULL};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        for (const char *const *name = lists[i]; name && *name; name++)
            if (strcmp(*name, key) == 0)
                return true;
    return false;
}

static as_status read_fields(struct reading *reading, const struct json_value *line, struct fields *ret,
                             struct as_error *err)
{
    if (line->type != JSON_OBJECT)
        return error_set(err, AS_E_INVALID, "the line is a JSON %s: it must be an object with a member \"prompt\"",
                         json_type_name(line->type));
    *ret = (struct fields){json_get(line, "prompt"), json_get(line, "expected_output_tokens"), json_get(line, "id")};
    for (const struct json_value *member = line->first; member; member = member->next) {
        if (!is_known(reading, member->key))
            note_unknown(reading->prompts, member->key);
        else if (json_get(line, member->key) != member)
            return error_set(err, AS_E_INVALID, "the member \"%s\" is there twice", member->key);
    }
    return AS_OK;
}

static as_status check_prompt(const struct fields *fields, struct prompt *ret, struct as_error *err)
{
    if (!fields->prompt)
        return error_set(err, AS_E_INVALID, "the member \"prompt\" is missing");
    if (fields->prompt->type != JSON_STRING)
        return error_set(err, AS_E_INVALID, "\"prompt\" is a JSON %s: it must be a string",
                         json_type_name(fields->prompt->type));
    ret->words = words_count(fields->prompt->text, fields->prompt->len);
    if (ret->words == 0)
        return error_set(err, AS_E_INVALID,
                         "\"prompt\" is empty: a prompt needs at least one character that is no white space");
    return AS_OK;
}

static as_status check_expected(const struct fields *fields, struct prompt *ret, struct as_error *err)
{
    ret->expected_output_tokens = -1;
    if (!fields->expected || json_is_null(fields->expected))
        return AS_OK;
    if (!json_int64(fields->expected, &ret->expected_output_tokens) || ret->expected_output_tokens < 1)
        return error_set(err, AS_E_INVALID, "\"expected_output_tokens\" must be a whole number of at least 1");
    return AS_OK;
}

/* The prompt's id: `id`, else the line number. */
static as_status read_id(struct reading *reading, const struct fields *fields, struct prompt *ret, struct as_error *err)
{
    struct arena *arena = &reading->prompts->arena;
    if (!fields->id || json_is_null(fields->id)) {
        ret->id = arena_printf(arena, "%" PRId64, reading->prompts->lines);
        return ret->id ? AS_OK : AS_E_NOMEM;
    }
    if (fields->id->type != JSON_STRING && fields->id->type != JSON_NUMBER)
        return error_set(err, AS_E_INVALID, "\"id\" must be a string or a number");
    if (fields->id->len == 0 || fields->id->len >= PROMPTS_ID_BYTES)
        return error_set(err, AS_E_INVALID, "\"id\" must have 1 to %d bytes", PROMPTS_ID_BYTES - 1);
    ret->id = arena_strndup(arena, fields->id->text, fields->id->len);
    return ret->id ? AS_OK : AS_E_NOMEM;
}

static as_status read_line(struct reading *reading, const char *line, size_t len, struct prompt *ret,
                           struct as_error *err)
{
    const struct json_value *value;
    struct fields fields = {0};
    as_status status = json_parse_line(line, len, &reading->line_arena, &value, err);
    if (status == AS_OK)
        status = read_fields(reading, value, &fields, err);
    if (status == AS_OK)
        status = check_prompt(&fields, ret, err);
    if (status == AS_OK)
        status = check_expected(&fields, ret, err);
    if (status == AS_OK)
        status = read_id(reading, &fields, ret, err);
    const struct prompt_extension *extension = reading->options->extension;
    if (status == AS_OK && extension)
        status = extension->take(extension->context, reading->prompts->count, value, err);
    if (status != AS_OK)
        return status;
    ret->len = fields.prompt->len;
    ret->text = arena_strndup(&reading->prompts->arena, fields.prompt->text, ret->len);
    return ret->text ? AS_OK : AS_E_NOMEM;
}

static as_status add_prompt(struct reading *reading, const struct prompt *prompt)
{
    struct prompts *prompts = reading->prompts;
    if (prompts->count == reading->capacity) {
        size_t capacity = reading->capacity ? reading->capacity * 2 : 256;
        struct prompt *items = realloc(prompts->items, capacity * sizeof *items);
        if (!items)
            return AS_E_NOMEM;
        prompts->items = items;
        reading->capacity = capacity;
    }
    prompts->items[prompts->count++] = *prompt;
    prompts->with_expected_tokens += prompt->expected_output_tokens > 0;
    return AS_OK;
}

/* A bad line: an error, or counted. `why` holds the reason alone. */
static as_status bad_line(struct reading *reading, struct as_error *why, struct as_error *err)
{
    struct prompts *prompts = reading->prompts;
    struct as_error told;
    as_status status = error_set_at(&told, AS_E_INVALID, prompts->lines, -1,
                                    "%s, line %" PRId64 ": %s; correct it, or skip bad lines with --skip-bad-lines",
                                    reading->name, prompts->lines, why->message);
    if (!reading->options->skip_bad_lines) {
        if (err)
            *err = told;
        return status;
    }
    if (prompts->bad_lines++ == 0)
        prompts->first_bad = told;
    return AS_OK;
}

static as_status take_line(struct reading *reading, const char *line, size_t len, struct as_error *err)
{
    struct prompt prompt = {0};
    struct as_error why = {0};
    reading->prompts->lines++;
    if (is_blank(line, len)) {
        reading->prompts->blank_lines++;
        return AS_OK;
    }
    as_status status = len > PROMPTS_LINE_MAX_BYTES
                           ? error_set(&why, AS_E_INVALID, "the line is longer than %zu bytes", PROMPTS_LINE_MAX_BYTES)
                           : read_line(reading, line, len, &prompt, &why);
    arena_reset(&reading->line_arena);
    if (status == AS_OK)
        status = add_prompt(reading, &prompt);
    if (status == AS_E_NOMEM)
        return error_set(err, status, "%s: no memory for its prompts", reading->name);
    return status == AS_OK ? AS_OK : bad_line(reading, &why, err);
}

static as_status take_lines(struct reading *reading, const char *text, size_t len, struct as_error *err)
{
    static const char mark[] = "\xEF\xBB\xBF";
    const char *at = text, *end = text + len;
    if (len >= 3 && memcmp(text, mark, 3) == 0)
        at += 3;
    while (at < end) {
        const char *line_end = memchr(at, '\n', (size_t)(end - at));
        const char *stop = line_end ? line_end : end;
        as_status status = take_line(reading, at, (size_t)(stop - at), err);
        if (status != AS_OK)
            return status;
        at = line_end ? line_end + 1 : end;
    }
    return AS_OK;
}

static as_status check_result(const struct reading *reading, struct as_error *err)
{
    const struct prompts *prompts = reading->prompts;
    if (prompts->count > UINT32_MAX)
        return error_set(err, AS_E_LIMIT, "%s: more than %u prompts", reading->name, UINT32_MAX);
    if (prompts->count > 0)
        return AS_OK;
    if (prompts->bad_lines > 0)
        return error_set(err, AS_E_INVALID, "%s: none of its %" PRId64 " lines is a prompt; the first: %.300s",
                         reading->name, prompts->lines, prompts->first_bad.message);
    return error_set(err, AS_E_INVALID,
                     "%s holds no prompt: give a file with one JSON object a line, for example {\"prompt\":\"Hello\"}",
                     reading->name);
}

as_status prompts_parse(const char *text, size_t len, const struct prompts_options *options, struct prompts *ret,
                        struct as_error *err)
{
    struct prompts prompts = {0};
    struct reading reading = {.prompts = &prompts, .options = options ? options : &default_options};
    reading.name = reading.options->name ? reading.options->name : "the prompts";
    arena_init(&prompts.arena, 0, 0);
    arena_init(&reading.line_arena, 0, 0);
    as_status status = take_lines(&reading, text, len, err);
    arena_done(&reading.line_arena);
    if (status == AS_OK)
        status = check_result(&reading, err);
    if (status == AS_OK)
        status = digest_bytes(text, len, prompts.digest);
    if (status != AS_OK) {
        prompts_done(&prompts);
        return status;
    }
    *ret = prompts;
    return AS_OK;
}

static as_status download(const char *url, const struct prompts_options *options, struct strbuf *out,
                          struct as_error *err)
{
    struct fetch_request request = {
        .url = url,
        .timeout_ns = options->timeout_ns ? options->timeout_ns : DOWNLOAD_TIMEOUT_NS,
        .max_bytes = PROMPTS_FILE_MAX_BYTES,
        .ca_cert = options->ca_cert,
        .proxy = options->proxy,
        .insecure = options->insecure,
    };
    struct fetch_reply reply;
    as_status status = fetch_run(&request, &reply, err);
    if (status != AS_OK)
        return status;
    if (reply.status != 200)
        status = error_set(err, AS_E_NETWORK, "the server answered with status %d", reply.status);
    else
        strbuf_add(out, reply.body.data, reply.body.len);
    fetch_reply_done(&reply);
    return status == AS_OK ? strbuf_status(out) : status;
}

as_status prompts_load(const char *source, const struct prompts_options *options, struct prompts *ret,
                       struct as_error *err)
{
    if (!options)
        options = &default_options;
    AS_AUTO_STRBUF struct strbuf text;
    strbuf_init(&text, PROMPTS_FILE_MAX_BYTES);
    bool is_url = fetch_is_url(source);
    as_status status = is_url ? download(source, options, &text, err) : file_read(source, &text, err);
    if (status != AS_OK && is_url)
        error_prefix(err, "the prompts could not be fetched");
    if (status != AS_OK)
        return status;
    struct prompts_options named = *options;
    if (!named.name)
        named.name = is_url ? "the prompts fetched" : strcmp(source, "-") == 0 ? "standard input" : source;
    return prompts_parse(strbuf_text(&text), text.len, &named, ret, err);
}

void prompts_done(struct prompts *prompts)
{
    if (!prompts)
        return;
    free(prompts->items);
    free(prompts->order);
    prompts->items = NULL;
    prompts->order = NULL;
    prompts->count = 0;
    arena_done(&prompts->arena);
}

as_status prompts_shuffle(struct prompts *prompts, uint64_t seed)
{
    uint32_t *order = malloc(prompts->count * sizeof *order);
    if (!order)
        return AS_E_NOMEM;
    for (size_t i = 0; i < prompts->count; i++)
        order[i] = (uint32_t)i;
    struct rng rng;
    rng_init(&rng, seed, SHUFFLE_STREAM);
    rng_shuffle(&rng, order, prompts->count);
    free(prompts->order);
    prompts->order = order;
    return AS_OK;
}

int64_t prompts_reuse(const struct prompts *prompts, int64_t requests)
{
    if (requests <= 0 || prompts->count == 0)
        return 0;
    return (requests - 1) / (int64_t)prompts->count + 1;
}

static as_status digest_sample(const struct prompts *prompts, size_t used, struct digest *digest)
{
    for (size_t i = 0; i < used; i++) {
        const struct prompt *prompt = &prompts->items[prompts_index(prompts, (int64_t)i)];
        as_status status = digest_add_length(digest, prompt->len);
        if (status == AS_OK)
            status = digest_add(digest, prompt->text, prompt->len);
        if (status == AS_OK)
            status = digest_add_length(digest, (size_t)prompt->expected_output_tokens);
        if (status != AS_OK)
            return status;
    }
    return AS_OK;
}

as_status prompts_sample_digest(const struct prompts *prompts, int64_t requests, char ret_text[DIGEST_TEXT_BYTES])
{
    size_t used = requests < 0 ? 0 : (uint64_t)requests < prompts->count ? (size_t)requests : prompts->count;
    struct digest digest;
    as_status status = digest_init(&digest);
    if (status != AS_OK)
        return status;
    status = digest_sample(prompts, used, &digest);
    if (status != AS_OK) {
        digest_abandon(&digest);
        return status;
    }
    return digest_finish(&digest, ret_text);
}
