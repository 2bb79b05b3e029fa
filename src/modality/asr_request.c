/* SPDX-License-Identifier: Apache-2.0 */
#include "modality/asr_request.h"

#include "base/json_write.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define GRANULARITIES "timestamp_granularities[]"

/* What is written with one boundary. */
struct maker {
    const struct asr_config *config;
    const struct json_value *extra; /* object or NULL */
    const char *boundary;
    struct strbuf out;
};

static as_status check_extra(const struct json_value *extra, struct as_error *err)
{
    static const struct {
        const char *member, *instead;
    } reserved[] = {{"file", "--input"}, {"stream", "--streaming"}, {"response_format", "--response-format"}};
    if (extra->type != JSON_OBJECT)
        return error_set(err, AS_E_USAGE,
                         "--extra-body is a JSON %s: give an object, for example '{\"prompt\":\"names\"}'",
                         json_type_name(extra->type));
    for (size_t i = 0; i < sizeof reserved / sizeof reserved[0]; i++)
        if (json_get(extra, reserved[i].member))
            return error_set(err, AS_E_USAGE, "--extra-body may not hold \"%s\": use %s", reserved[i].member,
                             reserved[i].instead);
    return AS_OK;
}

static as_status parse_extra(struct maker *maker, struct arena *arena, struct as_error *err)
{
    const char *text = maker->config->extra_body;
    if (!text)
        return AS_OK;
    as_status status = json_parse(text, strlen(text), NULL, arena, &maker->extra, err);
    if (status != AS_OK) {
        error_prefix(err, "--extra-body");
        return status == AS_E_INVALID ? AS_E_USAGE : status;
    }
    return check_extra(maker->extra, err);
}

static bool is_replaced(const struct maker *maker, const char *name)
{
    return maker->extra && json_get(maker->extra, name);
}

static void put(struct maker *maker, const char *name, const char *value)
{
    if (value && !is_replaced(maker, name))
        multipart_add_field(&maker->out, maker->boundary, name, value, strlen(value));
}

/* Strings as they are, everything else as its JSON text. */
static void put_value(struct maker *maker, const char *name, const struct json_value *value)
{
    struct strbuf text AS_AUTO_STRBUF;
    struct json_writer writer;
    strbuf_init(&text, 0);
    if (value->type == JSON_STRING) {
        multipart_add_field(&maker->out, maker->boundary, name, value->text, value->len);
        return;
    }
    json_writer_init(&writer, &text, 0);
    json_put_value(&writer, value);
    if (json_writer_status(&writer) == AS_OK)
        multipart_add_field(&maker->out, maker->boundary, name, strbuf_text(&text), text.len);
    else
        maker->out.status = AS_E_NOMEM;
}

/* The last member of each name; a list is a field for each of its items, null leaves the field out. */
static void put_extra(struct maker *maker)
{
    const struct json_value *member = maker->extra ? maker->extra->first : NULL;
    for (; member; member = member->next) {
        if (json_get(maker->extra, member->key) != member || json_is_null(member))
            continue;
        if (member->type != JSON_ARRAY)
            put_value(maker, member->key, member);
        for (const struct json_value *item = member->type == JSON_ARRAY ? member->first : NULL; item; item = item->next)
            put_value(maker, member->key, item);
    }
}

static void put_fields(struct maker *maker)
{
    const struct asr_config *config = maker->config;
    char temperature[DOUBLE_TEXT_BYTES];
    put(maker, "model", config->model);
    if (config->language && strcmp(config->language, "auto") != 0)
        put(maker, "language", config->language);
    put(maker, "prompt", config->prompt);
    put(maker, "response_format", asr_format_name(config->format));
    if (!isnan(config->temperature)) {
        double_format(config->temperature, temperature);
        put(maker, "temperature", temperature);
    }
    if (asr_format_is_json(config->format))
        put(maker, GRANULARITIES, config->granularity);
    put(maker, "stream", config->streaming ? "true" : NULL);
    put_extra(maker);
}

static bool is_apart(const char *boundary, const struct audio_set *set)
{
    for (size_t i = 0; i < set->count; i++)
        if (set->items[i].data && !multipart_is_apart(boundary, set->items[i].data, set->items[i].bytes))
            return false;
    return true;
}

/* The first boundary that is in no file and no option. */
static void choose_boundary(const struct asr_config *config, const struct audio_set *set, char *ret)
{
    const char *texts[] = {config->model, config->language, config->prompt, config->extra_body};
    bool is_fine = false;
    for (uint64_t number = 0; !is_fine; number++) {
        multipart_boundary(config->seed, number, ret);
        is_fine = is_apart(ret, set);
        for (size_t i = 0; i < sizeof texts / sizeof texts[0] && is_fine; i++)
            is_fine = !texts[i] || multipart_is_apart(ret, texts[i], strlen(texts[i]));
    }
}

/* What was written since the last call, in the arena. */
static as_status take(struct maker *maker, struct arena *arena, struct asr_part *ret)
{
    if (strbuf_status(&maker->out) != AS_OK)
        return AS_E_NOMEM;
    char *copy = arena_strndup(arena, strbuf_text(&maker->out), maker->out.len);
    if (!copy)
        return AS_E_NOMEM;
    *ret = (struct asr_part){copy, maker->out.len};
    strbuf_reset(&maker->out);
    return AS_OK;
}

static as_status make(struct maker *maker, const struct audio_set *set, struct arena *arena,
                      struct asr_requests *requests)
{
    requests->heads = arena_calloc(arena, set->count, sizeof *requests->heads);
    if (!requests->heads)
        return AS_E_NOMEM;
    put_fields(maker);
    as_status status = take(maker, arena, &requests->fields);
    for (size_t i = 0; i < set->count && status == AS_OK; i++) {
        const struct audio_sample *sample = &set->items[i];
        const char *name = sample->file_name[0] ? sample->file_name : sample->id;
        multipart_add_file(&maker->out, maker->boundary, "file", name, audio_mime(sample->format));
        status = take(maker, arena, &requests->heads[i]);
    }
    if (status != AS_OK)
        return status;
    multipart_add_end(&maker->out, maker->boundary);
    return take(maker, arena, &requests->tail);
}

as_status asr_requests_make(const struct asr_config *config, const struct audio_set *set, struct arena *arena,
                            struct asr_requests *ret, struct as_error *err)
{
    struct maker maker = {.config = config};
    struct asr_requests requests = {0};
    as_status status = parse_extra(&maker, arena, err);
    if (status != AS_OK)
        return status;
    choose_boundary(config, set, requests.boundary);
    snprintf(requests.content_type, sizeof requests.content_type, "multipart/form-data; boundary=%s",
             requests.boundary);
    maker.boundary = requests.boundary;
    strbuf_init(&maker.out, 0);
    status = make(&maker, set, arena, &requests);
    strbuf_done(&maker.out);
    if (status != AS_OK)
        return error_set(err, status, "no memory for the requests");
    *ret = requests;
    return AS_OK;
}
