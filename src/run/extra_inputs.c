/* SPDX-License-Identifier: Apache-2.0 */
#include "run/extra_inputs.h"

#include "base/json.h"
#include "base/json_write.h"

#include <string.h>

/* Members read so far: the object that is written, and their names. */
struct members {
    struct json_writer *writer;
    struct strbuf names; /* each between two NUL bytes */
};

static as_status no_memory(struct as_error *err)
{
    return error_set(err, AS_E_NOMEM, "out of memory");
}

static bool is_known(const struct strbuf *names, const char *name, size_t len)
{
    const char *at = strbuf_text(names), *end = at + names->len;
    while (at < end) {
        size_t each = strlen(at);
        if (each == len && memcmp(at, name, len) == 0)
            return true;
        at += each + 1;
    }
    return false;
}

static as_status add_name(struct members *members, const char *name, size_t len, struct as_error *err)
{
    if (is_known(&members->names, name, len))
        return error_set(err, AS_E_USAGE, "--extra-inputs: the member \"%.*s\" is given twice (--extra-body counts too); give it once",
                         (int)(len < 60 ? len : 60), name);
    strbuf_add(&members->names, name, len);
    strbuf_addc(&members->names, '\0');
    json_keyn(members->writer, name, len);
    return AS_OK;
}

static as_status parse_object(const char *text, struct arena *arena, const struct json_value **ret, struct as_error *err)
{
    as_status status = json_parse_line(text, strlen(text), arena, ret, err);
    if (status == AS_E_NOMEM)
        return status;
    if (status != AS_OK || (*ret)->type != JSON_OBJECT)
        return error_set(err, AS_E_USAGE, "begins with { but is no JSON object");
    return AS_OK;
}

static as_status add_object(struct members *members, const struct json_value *object, struct as_error *err)
{
    as_status status = AS_OK;
    for (const struct json_value *member = object->first; member && status == AS_OK; member = member->next) {
        status = add_name(members, member->key, member->key_len, err);
        if (status == AS_OK)
            json_put_value(members->writer, member);
    }
    return status;
}

static as_status add_item(struct members *members, const char *item, struct arena *arena, struct as_error *err)
{
    const struct json_value *value;
    if (*item == '{') {
        as_status status = parse_object(item, arena, &value, err);
        return status == AS_OK ? add_object(members, value, err) : status;
    }
    const char *colon = strchr(item, ':');
    if (!colon)
        return error_set(err, AS_E_INTERNAL, "--extra-inputs was not checked");
    as_status status = add_name(members, item, (size_t)(colon - item), err);
    if (status != AS_OK)
        return status;
    if (json_parse_line(colon + 1, strlen(colon + 1), arena, &value, NULL) == AS_OK)
        json_put_value(members->writer, value);
    else
        json_put_string(members->writer, colon + 1);
    return AS_OK;
}

as_status extra_inputs_join(const struct opt_list *items, const char *body, struct arena *arena, const char **ret, struct as_error *err)
{
    struct json_writer writer;
    struct strbuf text AS_AUTO_STRBUF;
    struct members members = {.writer = &writer};
    const struct json_value *object = NULL;
    strbuf_init(&text, 0);
    strbuf_init(&members.names, 0);
    json_writer_init(&writer, &text, 0);
    json_open_object(&writer);
    as_status status = body ? parse_object(body, arena, &object, err) : AS_OK;
    if (status == AS_OK && object)
        status = add_object(&members, object, err);
    for (size_t i = 0; i < items->count && status == AS_OK; i++)
        status = add_item(&members, items->items[i], arena, err);
    json_close_object(&writer);
    if (status == AS_OK && (strbuf_status(&text) != AS_OK || strbuf_status(&members.names) != AS_OK))
        status = no_memory(err);
    strbuf_done(&members.names);
    const char *joined = status == AS_OK ? arena_strdup(arena, strbuf_text(&text)) : NULL;
    if (status == AS_OK && !joined)
        status = no_memory(err);
    if (status == AS_OK)
        *ret = joined;
    return status;
}

as_status extra_inputs_check(const char *item, struct as_error *err)
{
    if (*item == '{') {
        struct arena arena;
        const struct json_value *object;
        arena_init(&arena, 0, 0);
        as_status status = parse_object(item, &arena, &object, err);
        arena_done(&arena);
        return status;
    }
    const char *colon = strchr(item, ':');
    if (!colon || colon == item || !colon[1])
        return error_set(err, AS_E_USAGE, "is neither NAME:VALUE nor a JSON object");
    return AS_OK;
}
