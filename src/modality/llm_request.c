/* SPDX-License-Identifier: Apache-2.0 */
#include "modality/llm_request.h"
#include "base/json_write.h"

#include <math.h>
#include <string.h>

/* What all bodies of a run share. */
struct maker {
    const struct llm_config *config;
    const struct json_value *extra; /* object or NULL */
    struct strbuf out;
    struct json_writer writer;
    int64_t seq;
    size_t *gaps; /* of the body being written: gap_count places, room for gap_max */
    uint32_t gap_count, gap_max;
};

/* True when the extra body gives the member itself. */
static bool is_replaced(const struct maker *maker, const char *name)
{
    return maker->extra && json_get(maker->extra, name);
}

as_status llm_check_extra(const struct json_value *extra, struct as_error *err)
{
    static const struct {
        const char *member, *instead;
    } reserved[] = {
        {"messages", "--prompts and --system-prompt"},
        {"prompt", "--prompts"},
        {"stream", "--streaming"},
    };
    if (extra->type != JSON_OBJECT)
        return error_set(err, AS_E_USAGE, "--extra-body is a JSON %s: give an object, for example '{\"top_k\":1}'",
                         json_type_name(extra->type));
    int64_t n;
    const struct json_value *choices = json_get(extra, "n");
    if (choices && (!json_int64(choices, &n) || n < 1 || n > CHAT_CHOICES_MAX))
        return error_set(err, AS_E_USAGE, "--extra-body holds an \"n\" that is no whole number from 1 to %d",
                         CHAT_CHOICES_MAX);
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
    return llm_check_extra(maker->extra, err);
}

static const char *limit_field(const struct llm_config *config)
{
    return config->max_tokens_field && config->max_tokens_field[0] ? config->max_tokens_field
                                                                   : LLM_MAX_TOKENS_FIELD_DEFAULT;
}

/* The limit that the request asks for; -1 when it asks for none. The extra body's wins, since it replaces ours. */
static int64_t token_limit(const struct maker *maker, const struct prompt *prompt)
{
    int64_t replaced;
    if (is_replaced(maker, limit_field(maker->config)))
        return json_int64(json_get(maker->extra, limit_field(maker->config)), &replaced) ? replaced : -1;
    if (prompt->expected_output_tokens > 0)
        return prompt->expected_output_tokens;
    return maker->config->max_tokens > 0 ? maker->config->max_tokens : -1;
}

static void put_message(struct json_writer *writer, const char *role, const char *text, size_t len)
{
    json_open_object(writer);
    json_member_string(writer, "role", role);
    json_key(writer, "content");
    json_put_stringn(writer, text, len);
    json_close_object(writer);
}

static void put_image(struct maker *maker)
{
    struct json_writer *writer = &maker->writer;
    json_open_object(writer);
    json_member_string(writer, "type", "image_url");
    json_key(writer, "image_url");
    json_open_object(writer);
    json_member_string(writer, "url", "");
    if (maker->gap_count < maker->gap_max && maker->out.len > 0)
        maker->gaps[maker->gap_count++] = maker->out.len - 1;
    if (maker->config->images->detail)
        json_member_string(writer, "detail", maker->config->images->detail);
    json_close_object(writer);
    json_close_object(writer);
}

/* The text, then places for images. */
static void put_mixed_message(struct maker *maker, const struct prompt *prompt)
{
    struct json_writer *writer = &maker->writer;
    json_open_object(writer);
    json_member_string(writer, "role", "user");
    json_key(writer, "content");
    json_open_array(writer);
    json_open_object(writer);
    json_member_string(writer, "type", "text");
    json_key(writer, "text");
    json_put_stringn(writer, prompt->text, prompt->len);
    json_close_object(writer);
    for (uint32_t i = 0; i < maker->gap_max; i++)
        put_image(maker);
    json_close_array(writer);
    json_close_object(writer);
}

/* Writes the prompt with whatever stands around it. */
static void put_prompt(struct maker *maker, const struct prompt *prompt)
{
    const struct llm_config *config = maker->config;
    struct json_writer *writer = &maker->writer;
    if (config->api == LLM_COMPLETION) {
        json_key(writer, "prompt");
        json_put_stringn(writer, prompt->text, prompt->len);
        return;
    }
    const char *system_prompt = config->system_prompt ? config->system_prompt : LLM_SYSTEM_PROMPT_DEFAULT;
    json_key(writer, "messages");
    json_open_array(writer);
    if (system_prompt[0])
        put_message(writer, "system", system_prompt, strlen(system_prompt));
    if (config->images)
        put_mixed_message(maker, prompt);
    else
        put_message(writer, "user", prompt->text, prompt->len);
    json_close_array(writer);
}

static void put_int(struct maker *maker, const char *name, int64_t value, bool is_wanted)
{
    if (is_wanted && !is_replaced(maker, name))
        json_member_int(&maker->writer, name, value);
}

static void put_bool(struct maker *maker, const char *name, bool is_wanted)
{
    if (is_wanted && !is_replaced(maker, name))
        json_member_bool(&maker->writer, name, true);
}

static void put_settings(struct maker *maker, int64_t limit)
{
    const struct llm_config *config = maker->config;
    struct json_writer *writer = &maker->writer;
    put_int(maker, limit_field(config), limit, limit > 0);
    put_int(maker, "min_tokens", config->min_tokens, config->min_tokens >= 0);
    put_bool(maker, "ignore_eos", config->ignore_eos);
    if (!isnan(config->temperature) && !is_replaced(maker, "temperature"))
        json_member_double(writer, "temperature", config->temperature);
    put_int(maker, "seed", config->seed, config->has_seed);
    put_int(maker, "n", config->choices, config->choices > 1);
    put_bool(maker, "stream", config->streaming);
    if (config->streaming && !is_replaced(maker, "stream_options")) {
        json_key(writer, "stream_options");
        json_open_object(writer);
        json_member_bool(writer, "include_usage", true);
        json_close_object(writer);
    }
}

/* The last member of each name: the one that json_get finds. */
static void put_extra(struct maker *maker)
{
    const struct json_value *member = maker->extra ? maker->extra->first : NULL;
    for (; member; member = member->next) {
        if (json_get(maker->extra, member->key) != member)
            continue;
        json_keyn(&maker->writer, member->key, member->key_len);
        json_put_value(&maker->writer, member);
    }
}

static as_status write_body(struct maker *maker, const struct prompt *prompt, int64_t limit)
{
    strbuf_reset(&maker->out);
    json_writer_init(&maker->writer, &maker->out, 0);
    json_open_object(&maker->writer);
    if (!is_replaced(maker, "model"))
        json_member_string(&maker->writer, "model", maker->config->model);
    put_prompt(maker, prompt);
    put_settings(maker, limit);
    put_extra(maker);
    json_close_object(&maker->writer);
    return json_writer_status(&maker->writer);
}

/* The place of the prompt's text, by what the writer puts before it: bare quotes, which no string before it can hold.
 */
static size_t text_place(const struct maker *maker, const struct strbuf *out)
{
    static const char user[] = "{\"role\":\"user\",\"content\":\"";
    static const char mixed[] = "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"";
    static const char prompt[] = "\"prompt\":\"";
    const char *mark = maker->config->images ? mixed : maker->config->api == LLM_CHAT ? user : prompt;
    const char *found = memmem(out->data, out->len, mark, strlen(mark));
    return found ? (size_t)(found - out->data) + strlen(mark) : 0;
}

static as_status make_one(struct maker *maker, const struct prompt *prompt, struct arena *arena,
                          struct llm_request *ret)
{
    const struct llm_images *images = maker->config->images;
    int64_t limit = token_limit(maker, prompt);
    maker->gap_count = 0;
    maker->gap_max = images ? images->count(images->context, maker->seq) : 0;
    maker->gaps = arena_calloc(arena, maker->gap_max + 1, sizeof *maker->gaps);
    if (!maker->gaps)
        return AS_E_NOMEM;
    as_status status = write_body(maker, prompt, limit);
    if (status != AS_OK)
        return status;
    size_t text_at = text_place(maker, &maker->out);
    if (text_at == 0)
        return AS_E_INTERNAL;
    char *body = arena_strndup(arena, maker->out.data, maker->out.len);
    char *id = arena_strdup(arena, prompt->id);
    if (!body || !id)
        return arena->max_bytes && arena->used_bytes + maker->out.len > arena->max_bytes ? AS_E_LIMIT : AS_E_NOMEM;
    *ret = (struct llm_request){body, maker->out.len, text_at, id, prompt->words, limit, maker->gaps, maker->gap_count};
    return AS_OK;
}

static as_status make_all(struct maker *maker, const struct prompts *prompts, struct arena *arena,
                          struct llm_request **ret, struct as_error *err)
{
    struct llm_request *requests = arena_calloc(arena, prompts->count, sizeof *requests);
    if (!requests)
        return error_set(err, AS_E_NOMEM, "no memory for %zu requests", prompts->count);
    for (size_t i = 0; i < prompts->count; i++) {
        const struct prompt *prompt = &prompts->items[prompts_index(prompts, (int64_t)i)];
        maker->seq = (int64_t)i;
        as_status status = make_one(maker, prompt, arena, &requests[i]);
        if (status == AS_E_LIMIT)
            return error_set(err, status, "the request bodies take more than %zu bytes: use fewer or shorter prompts",
                             LLM_BODIES_MAX_BYTES);
        if (status != AS_OK)
            return error_set(err, status, "the request body of prompt %s could not be made: %s", prompt->id,
                             status_sentence(status));
    }
    *ret = requests;
    return AS_OK;
}

as_status llm_requests_make(const struct llm_config *config, const struct prompts *prompts, struct arena *arena,
                            struct llm_requests *ret, struct as_error *err)
{
    struct maker maker = {.config = config};
    int64_t choices = config->choices ? config->choices : 1;
    as_status status = parse_extra(&maker, arena, err);
    if (status != AS_OK)
        return status;
    if (maker.extra)
        json_int64(json_get(maker.extra, "n"), &choices); /* checked before; left alone when there is none */
    struct llm_request *items = NULL;
    strbuf_init(&maker.out, 0);
    status = make_all(&maker, prompts, arena, &items, err);
    strbuf_done(&maker.out);
    if (status == AS_OK)
        *ret = (struct llm_requests){items, (uint32_t)choices};
    return status;
}
