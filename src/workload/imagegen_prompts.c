/* SPDX-License-Identifier: Apache-2.0 */
#include "workload/imagegen_prompts.h"

#include "base/json_write.h"

#include <stdlib.h>
#include <string.h>

bool imagegen_size_is_sound(const char *text)
{
    static const char digits[] = "0123456789";
    if (strcmp(text, "auto") == 0)
        return true;
    size_t width = strspn(text, digits);
    if (width < 1 || width > 5 || text[0] == '0' || text[width] != 'x')
        return false;
    text += width + 1;
    size_t height = strspn(text, digits);
    return height >= 1 && height <= 5 && text[0] != '0' && !text[height];
}

static as_status take_text(struct imagegen_prompts *prompts, const struct json_value *value, const char *name,
                           const char **ret, struct as_error *err)
{
    if (!value || json_is_null(value))
        return AS_OK;
    if (value->type != JSON_STRING)
        return error_set(err, AS_E_INVALID, "\"%s\" is a JSON %s: it must be a string", name,
                         json_type_name(value->type));
    *ret = arena_strndup(&prompts->arena, value->text, value->len);
    return *ret ? AS_OK : AS_E_NOMEM;
}

static as_status take_numbers(const struct json_value *line, struct imagegen_line *ret, struct as_error *err)
{
    const struct json_value *seed = json_get(line, "seed"), *count = json_get(line, "n");
    int64_t number;
    ret->has_seed = seed && !json_is_null(seed);
    if (ret->has_seed && !json_int64(seed, &ret->seed))
        return error_set(err, AS_E_INVALID, "\"seed\" must be a whole number");
    if (!count || json_is_null(count))
        return AS_OK;
    if (!json_int64(count, &number) || number < 1 || number > IMAGEGEN_COUNT_MAX)
        return error_set(err, AS_E_INVALID, "\"n\" must be a whole number from 1 to %d", IMAGEGEN_COUNT_MAX);
    ret->count = (uint32_t)number;
    return AS_OK;
}

static as_status keep(struct imagegen_prompts *prompts, size_t index, const struct imagegen_line *line)
{
    if (index >= prompts->capacity) {
        size_t capacity = prompts->capacity ? prompts->capacity * 2 : 256;
        struct imagegen_line *lines = realloc(prompts->lines, capacity * sizeof *lines);
        if (!lines)
            return AS_E_NOMEM;
        prompts->lines = lines;
        prompts->capacity = capacity;
    }
    prompts->lines[index] = *line;
    return AS_OK;
}

static as_status take(void *context, size_t index, const struct json_value *line, struct as_error *err)
{
    struct imagegen_prompts *prompts = context;
    struct imagegen_line ret = {0};
    as_status status = take_text(prompts, json_get(line, "size"), "size", &ret.size, err);
    if (status == AS_OK && ret.size && !imagegen_size_is_sound(ret.size))
        status = error_set(err, AS_E_INVALID, "\"size\" is \"%.40s\": WIDTHxHEIGHT or auto is possible", ret.size);
    if (status == AS_OK)
        status = take_text(prompts, json_get(line, "negative_prompt"), "negative_prompt", &ret.negative_prompt, err);
    if (status == AS_OK)
        status = take_numbers(line, &ret, err);
    return status == AS_OK ? keep(prompts, index, &ret) : status;
}

/* From memory, of `len` bytes, or with SIZE_MAX from the source of that name. */
static as_status read_prompts(const char *text, size_t len, const struct prompts_options *options,
                              struct imagegen_prompts *ret, struct as_error *err)
{
    static const char *const members[] = {"size", "negative_prompt", "seed", "n", NULL};
    struct imagegen_prompts prompts = {0};
    const struct prompt_extension extension = {members, &prompts, take};
    struct prompts_options reading = *options;
    arena_init(&prompts.arena, 0, 0);
    reading.extension = &extension;
    as_status status = len == SIZE_MAX ? prompts_load(text, &reading, &prompts.prompts, err)
                                       : prompts_parse(text, len, &reading, &prompts.prompts, err);
    if (status != AS_OK) {
        free(prompts.lines);
        arena_done(&prompts.arena);
        return status;
    }
    *ret = prompts;
    return AS_OK;
}

as_status imagegen_prompts_load(const char *source, const struct prompts_options *options, struct imagegen_prompts *ret,
                                struct as_error *err)
{
    return read_prompts(source, SIZE_MAX, options, ret, err);
}

as_status imagegen_prompts_parse(const char *text, size_t len, const struct prompts_options *options,
                                 struct imagegen_prompts *ret, struct as_error *err)
{
    return read_prompts(text, len, options, ret, err);
}

as_status imagegen_prompts_one(const char *prompt, struct imagegen_prompts *ret, struct as_error *err)
{
    struct strbuf text AS_AUTO_STRBUF;
    struct json_writer writer;
    strbuf_init(&text, 0);
    json_writer_init(&writer, &text, 0);
    json_open_object(&writer);
    json_member_string(&writer, "prompt", prompt);
    json_close_object(&writer);
    if (json_writer_status(&writer) != AS_OK)
        return error_set(err, AS_E_NOMEM, "no memory for the prompt");
    const struct prompts_options options = {.name = "--prompt"};
    return read_prompts(strbuf_text(&text), text.len, &options, ret, err);
}

void imagegen_prompts_done(struct imagegen_prompts *prompts)
{
    prompts_done(&prompts->prompts);
    free(prompts->lines);
    arena_done(&prompts->arena);
    *prompts = (struct imagegen_prompts){0};
}
