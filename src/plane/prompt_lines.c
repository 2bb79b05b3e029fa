/* SPDX-License-Identifier: Apache-2.0 */
#include "plane/prompt_lines.h"

#include "base/strbuf.h"
#include "workload/words.h"

#include <string.h>
#include <strings.h>

#define READ_BYTES   ((size_t)64 * 1024)
#define FORMAT_BYTES 16
#define SIZE_MAX_LEN 16
#define ID_BYTES     64
#define DIGEST_LEN   64
#define REMEDY       "; correct it and send the file again, nothing of it was stored"

struct reading {
    enum prompt_kind kind;
    const struct prompt_visitor *visitor;
    struct arena arena; /* of one line */
    int64_t line, rows;
};

bool prompt_kind_from(const char *source_type, enum prompt_kind *ret)
{
    static const char *const names[] = {"prompt_library", "metrumbench_vlm_snapshot", "metrumbench_asr_snapshot",
                                        "metrumbench_imagegen_snapshot"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(names[i], source_type) != 0)
            continue;
        *ret = (enum prompt_kind)i;
        return true;
    }
    return false;
}

/* ---- members ---- */

static bool is_given(const struct json_value *value)
{
    return value && value->type != JSON_NULL;
}

/* A text without NUL; NULL where it may be left out and is. */
static as_status read_text(const struct json_value *tree, const char *name, bool is_required, const char **ret,
                           struct as_error *err)
{
    const struct json_value *value = json_get(tree, name);
    *ret = NULL;
    if (!is_given(value))
        return is_required ? error_set(err, AS_E_INVALID, "the member \"%s\" is missing", name) : AS_OK;
    if (value->type != JSON_STRING)
        return error_set(err, AS_E_INVALID, "\"%s\" is a JSON %s: it must be a string", name,
                         json_type_name(value->type));
    if (memchr(value->text, '\0', value->len))
        return error_set(err, AS_E_INVALID, "\"%s\" holds a NUL character, which no store keeps", name);
    *ret = value->text;
    return AS_OK;
}

static as_status read_prompt(struct prompt_row *row, struct as_error *err)
{
    as_status status = read_text(row->tree, "prompt", true, &row->prompt, err);
    if (status != AS_OK)
        return status;
    row->prompt_bytes = json_get(row->tree, "prompt")->len;
    row->words = words_count(row->prompt, row->prompt_bytes);
    return row->words > 0 ? AS_OK
                          : error_set(err, AS_E_INVALID,
                                      "\"prompt\" is empty: it needs at least one character that is no white space");
}

static as_status read_expected(struct prompt_row *row, struct as_error *err)
{
    const struct json_value *value = json_get(row->tree, "expected_output_tokens");
    if (!is_given(value))
        return AS_OK;
    if (!json_int64(value, &row->expected_output_tokens) || row->expected_output_tokens < 1)
        return error_set(err, AS_E_INVALID, "\"expected_output_tokens\" must be a whole number of at least 1");
    return AS_OK;
}

static bool is_web(const char *place)
{
    return strncasecmp(place, "http://", strlen("http://")) == 0 ||
           strncasecmp(place, "https://", strlen("https://")) == 0;
}

static bool is_digest(const struct json_value *value)
{
    return value->type == JSON_STRING && value->len == DIGEST_LEN &&
           strspn(value->text, "0123456789abcdef") == DIGEST_LEN;
}

static as_status read_images(struct prompt_row *row, struct as_error *err)
{
    const struct json_value *list = json_get(row->tree, "image_urls"), *one = json_get(row->tree, "image_url"),
                            *digests = json_get(row->tree, "image_digests");
    if (is_given(list) == is_given(one))
        return error_set(err, AS_E_INVALID, "give either \"image_urls\" (a list of references) or \"image_url\"");
    const struct json_value *first = is_given(one) ? one : list->first;
    if ((is_given(list) && list->type != JSON_ARRAY) || !first)
        return error_set(err, AS_E_INVALID, "\"image_urls\" must be a list with at least one reference");
    size_t count = 0;
    for (const struct json_value *image = first; image; image = is_given(one) ? NULL : image->next, count++) {
        if (image->type != JSON_STRING || image->len == 0 || memchr(image->text, '\0', image->len))
            return error_set(err, AS_E_INVALID, "a reference to an image must be a text");
        row->local_places += !is_web(image->text);
    }
    if (!is_given(digests))
        return AS_OK;
    if (digests->type != JSON_ARRAY || digests->len != count)
        return error_set(err, AS_E_INVALID, "\"image_digests\" must be a list with one digest an image");
    for (const struct json_value *digest = digests->first; digest; digest = digest->next)
        if (!is_digest(digest))
            return error_set(err, AS_E_INVALID, "an image's digest must be SHA-256: 64 lower-case hexadecimal digits");
    return AS_OK;
}

/* As given, else the ending of the name. */
static as_status read_format(struct prompt_row *row, const char *place, struct as_error *err)
{
    as_status status = read_text(row->tree, "format", false, &row->format, err);
    if (status != AS_OK)
        return status;
    if (!row->format) {
        const char *dot = strrchr(place, '.');
        row->format = dot && !strchr(dot, '/') ? dot + 1 : "";
    }
    const size_t len = strlen(row->format);
    return len > 0 && len < FORMAT_BYTES
               ? AS_OK
               : error_set(err, AS_E_INVALID, "the name has no ending that says its format: give \"format\"");
}

static as_status read_audio(struct prompt_row *row, struct as_error *err)
{
    const struct json_value *name = json_get(row->tree, "id"), *duration = json_get(row->tree, "duration"),
                            *digest = json_get(row->tree, "digest");
    const char *path, *url, *transcript;
    double seconds = 0;
    if (!is_given(name) || (name->type != JSON_STRING && name->type != JSON_NUMBER) || name->len == 0 ||
        name->len >= ID_BYTES || memchr(name->text, '\0', name->len))
        return error_set(err, AS_E_INVALID, "\"id\" must be a string or number of 1 to %d bytes", ID_BYTES - 1);
    as_status status = read_text(row->tree, "path", false, &path, err);
    if (status == AS_OK)
        status = read_text(row->tree, "url", false, &url, err);
    if (status == AS_OK)
        status = read_text(row->tree, "transcript", false, &transcript, err);
    if (status != AS_OK)
        return status;
    if (!path == !url)
        return error_set(err, AS_E_INVALID, "give either \"path\" or \"url\"");
    if (url && !is_web(url))
        return error_set(err, AS_E_INVALID, "\"url\" must begin with http:// or https://; a file is a \"path\"");
    if (is_given(duration) && (!json_double(duration, &seconds) || seconds <= 0))
        return error_set(err, AS_E_INVALID, "\"duration\" must be seconds above 0");
    if (is_given(digest) && !is_digest(digest))
        return error_set(err, AS_E_INVALID, "\"digest\" must be SHA-256: 64 lower-case hexadecimal digits");
    row->local_places = path != NULL;
    return read_format(row, path ? path : url, err);
}

static as_status read_imagegen(struct prompt_row *row, struct as_error *err)
{
    const char *text;
    as_status status = read_text(row->tree, "negative_prompt", false, &text, err);
    if (status == AS_OK)
        status = read_text(row->tree, "size", false, &text, err);
    if (status != AS_OK || !text)
        return status;
    const size_t width = strspn(text, "0123456789"), height = text[width] ? strspn(text + width + 1, "0123456789") : 0;
    const bool is_pair = width > 0 && text[width] == 'x' && height > 0 && text[width + 1 + height] == '\0';
    return strlen(text) <= SIZE_MAX_LEN && (is_pair || strcmp(text, "auto") == 0)
               ? AS_OK
               : error_set(err, AS_E_INVALID, "\"size\" must be WIDTHxHEIGHT or auto");
}

static as_status read_members(enum prompt_kind kind, struct prompt_row *row, struct as_error *err)
{
    as_status status = kind == PROMPT_ASR ? AS_OK : read_prompt(row, err);
    if (status != AS_OK)
        return status;
    switch (kind) {
    case PROMPT_VLM:
        return read_images(row, err);
    case PROMPT_ASR:
        return read_audio(row, err);
    case PROMPT_IMAGEGEN:
        return read_imagegen(row, err);
    default:
        return read_expected(row, err);
    }
}

/* What a line is read by must not be there twice. */
static as_status check_twice(const struct json_value *tree, struct as_error *err)
{
    static const char *const known[] = {"prompt",        "expected_output_tokens",
                                        "image_urls",    "image_url",
                                        "image_digests", "id",
                                        "path",          "url",
                                        "format",        "duration",
                                        "digest",        "transcript",
                                        "size",          "negative_prompt"};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        size_t count = 0;
        for (const struct json_value *member = tree->first; member; member = member->next)
            count += strcmp(member->key, known[i]) == 0;
        if (count > 1)
            return error_set(err, AS_E_INVALID, "the member \"%s\" is there twice", known[i]);
    }
    return AS_OK;
}

/* ---- lines ---- */

static bool is_blank(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (text[i] != ' ' && text[i] != '\t' && text[i] != '\r')
            return false;
    return true;
}

static as_status read_row(struct reading *reading, struct prompt_row *row, struct as_error *err)
{
    static const struct json_limits limits = {.max_depth = 32};
    as_status status = json_parse(row->raw, row->raw_bytes, &limits, &reading->arena, &row->tree, err);
    if (status == AS_E_LIMIT)
        return AS_E_INVALID;
    if (status == AS_OK && row->tree->type != JSON_OBJECT)
        return error_set(err, AS_E_INVALID, "the line is a JSON %s: it must be an object",
                         json_type_name(row->tree->type));
    if (status == AS_OK)
        status = check_twice(row->tree, err);
    return status == AS_OK ? read_members(reading->kind, row, err) : status;
}

static as_status take_line(struct reading *reading, const char *at, size_t len, struct as_error *err)
{
    struct as_error why = {0};
    reading->line++;
    if (reading->line == 1 && len >= 3 && memcmp(at, "\xEF\xBB\xBF", 3) == 0) {
        at += 3;
        len -= 3;
    }
    if (is_blank(at, len))
        return AS_OK;
    struct prompt_row row = {
        .line = reading->line, .ordinal = reading->rows, .raw = at, .raw_bytes = len, .expected_output_tokens = -1};
    as_status status = read_row(reading, &row, &why);
    if (status == AS_E_INVALID)
        return error_set_at(err, status, reading->line, -1, "line %lld: %s" REMEDY, (long long)reading->line,
                            why.message);
    if (status == AS_OK && ++reading->rows > PROMPT_ROWS_MAX)
        return error_set(err, AS_E_LIMIT, "line %lld: there are more than %lld rows; make several sources of them",
                         (long long)reading->line, (long long)PROMPT_ROWS_MAX);
    if (status == AS_OK)
        status = reading->visitor->take(reading->visitor->context, &row, err);
    arena_reset(&reading->arena);
    return status;
}

/* Takes the whole lines of what is there and keeps the rest. */
static as_status take_lines(struct reading *reading, struct strbuf *held, bool is_end, struct as_error *err)
{
    const char *at = strbuf_text(held), *end = at + held->len;
    as_status status = AS_OK;
    while (status == AS_OK && at < end) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        if (!stop && !is_end)
            break;
        status = take_line(reading, at, (size_t)((stop ? stop : end) - at), err);
        at = stop ? stop + 1 : end;
    }
    const size_t left = (size_t)(end - at);
    if (status != AS_OK || held->len == 0)
        return status;
    memmove(held->data, at, left);
    held->len = left;
    return left <= PROMPT_LINE_BYTES_MAX
               ? AS_OK
               : error_set_at(err, AS_E_LIMIT, reading->line + 1, -1, "line %lld is longer than %zu bytes" REMEDY,
                              (long long)reading->line + 1, PROMPT_LINE_BYTES_MAX);
}

static as_status read_all(struct reading *reading, const struct prompt_input *input, struct as_error *err)
{
    struct strbuf held AS_AUTO_STRBUF;
    as_status status = AS_OK;
    size_t got = 1;
    strbuf_init(&held, PROMPT_LINE_BYTES_MAX + 2 * READ_BYTES);
    while (status == AS_OK && got > 0) {
        if (!strbuf_reserve(&held, READ_BYTES))
            return error_set(err, AS_E_NOMEM, "out of memory");
        status = input->read(input->context, held.data + held.len, READ_BYTES, &got, err);
        if (status != AS_OK)
            break;
        held.len += got;
        status = take_lines(reading, &held, got == 0, err);
    }
    if (status == AS_OK && reading->rows == 0)
        return error_set(err, AS_E_INVALID, "the file holds no row: give one JSON object a line, for example %s",
                         reading->kind == PROMPT_ASR ? "{\"id\": \"1\", \"path\": \"1.flac\"}"
                                                     : "{\"prompt\": \"Hello\"}");
    return status;
}

as_status prompt_lines_read(enum prompt_kind kind, const struct prompt_input *input,
                            const struct prompt_visitor *visitor, struct as_error *err)
{
    struct reading reading = {.kind = kind, .visitor = visitor};
    arena_init(&reading.arena, 0, 0);
    as_status status = read_all(&reading, input, err);
    arena_done(&reading.arena);
    return status;
}
