/* SPDX-License-Identifier: Apache-2.0 */
/* Choice of templates, and resolved commands as JSON, text and digest. */
#include "recipe/template.h"
#include "recipe/version.h"
#include "recipe/words.h"

#include <stdlib.h>

const struct recipe_template *recipe_template(const struct recipe_templates *templates, const char *code)
{
    for (size_t i = 0; i < templates->count; i++)
        if (strcmp(templates->items[i].code, code) == 0)
            return &templates->items[i];
    return NULL;
}

static bool same(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static bool serves_tool(const struct recipe_template *item, const char *tool)
{
    bool is_images = tool && strcmp(tool, RECIPE_TOOL_IMAGEGEN) == 0;
    return item->tool ? same(item->tool, tool) : !is_images;
}

const struct recipe_template *recipe_template_for(const struct recipe_templates *templates,
                                                  const struct recipe_template_query *query)
{
    const char *runtime = query->runtime ? query->runtime : "process";
    for (size_t i = templates->count; i-- > 0;) {
        const struct recipe_template *item = &templates->items[i];
        if (item->kind != query->kind || strcmp(item->runtime, runtime) != 0)
            continue;
        if (query->kind == RECIPE_TOOL
                ? same(item->tool, query->tool)
                : same(item->framework_code, query->framework_code) && serves_tool(item, query->tool) &&
                      (!query->version || recipe_version_within(query->version, item->since, item->until)))
            return item;
    }
    return NULL;
}

int64_t recipe_imagegen_requests(int64_t concurrency)
{
    if (concurrency > INT64_MAX / 4)
        return INT64_MAX;
    return concurrency * 4 > 4 ? concurrency * 4 : 4;
}

static int by_key(const void *a, const void *b)
{
    const struct json_value *left = *(const struct json_value *const *)a;
    const struct json_value *right = *(const struct json_value *const *)b;
    return strcmp(left->key, right->key);
}

/* A copy of the object's children in order, linked anew; the last of two with one key stays. */
static struct json_value *sorted_object(struct arena *arena, const struct json_value *object)
{
    const struct json_value **children = arena_calloc(arena, object->len + 1, sizeof(const struct json_value *));
    struct json_value *copies = arena_calloc(arena, object->len + 1, sizeof(*copies));
    size_t count = 0;
    if (!children || !copies)
        return NULL;
    for (const struct json_value *child = object->first; child; child = child->next)
        if (json_get(object, child->key) == child)
            children[count++] = child;
    qsort(children, count, sizeof(const struct json_value *), by_key);
    for (size_t i = 0; i < count; i++) {
        copies[i] = *children[i];
        copies[i].next = i + 1 < count ? &copies[i + 1] : NULL;
    }
    copies[object->len] = *object;
    copies[object->len].len = count;
    copies[object->len].first = count > 0 ? copies : NULL;
    return &copies[object->len];
}

struct pending {
    const struct json_value *next; /* sibling to go on with */
    bool is_object;
};

/* Writes `root` with members sorted; false when memory is short or it nests too deep. */
static bool put_sorted(struct json_writer *writer, struct arena *arena, const struct json_value *root)
{
    struct pending stack[TEMPLATE_DEPTH_MAX + 4];
    size_t depth = 0;
    const struct json_value *value = root;
    bool has_keys = false;
    for (;;) {
        if (!value) {
            if (depth == 0)
                return true;
            depth--;
            if (stack[depth].is_object)
                json_close_object(writer);
            else
                json_close_array(writer);
            value = stack[depth].next;
            has_keys = depth > 0 && stack[depth - 1].is_object;
            continue;
        }
        if (has_keys)
            json_keyn(writer, value->key, value->key_len);
        const struct json_value *sibling = depth > 0 ? value->next : NULL;
        if (value->type != JSON_OBJECT && value->type != JSON_ARRAY) {
            json_put_value(writer, value);
            value = sibling;
            continue;
        }
        if (depth == sizeof(stack) / sizeof(stack[0]))
            return false;
        has_keys = value->type == JSON_OBJECT;
        stack[depth++] = (struct pending){sibling, has_keys};
        const struct json_value *sorted = has_keys ? sorted_object(arena, value) : value;
        if (!sorted)
            return false;
        if (has_keys)
            json_open_object(writer);
        else
            json_open_array(writer);
        value = sorted->first;
    }
}

static bool put_json(struct json_writer *writer, struct arena *arena, const char *key, const struct json_value *value)
{
    json_key(writer, key);
    if (value)
        return put_sorted(writer, arena, value);
    json_put_null(writer);
    return true;
}

static void put_default(struct json_writer *writer, const struct recipe_value *value)
{
    json_key(writer, value->name);
    if (value->kind == RECIPE_LIST)
        put_list(writer, &value->list);
    else if (value->text && value->kind != RECIPE_TEXT)
        json_put_raw(writer, value->text, strlen(value->text));
    else
        json_put_string(writer, value->text);
}

static int by_value_name(const void *a, const void *b)
{
    return strcmp(((const struct recipe_value *)a)->name, ((const struct recipe_value *)b)->name);
}

static bool put_defaults(struct json_writer *writer, struct arena *arena, const struct recipe_values *defaults)
{
    struct recipe_value *sorted = arena_calloc(arena, defaults->count + 1, sizeof(*sorted));
    if (!sorted)
        return false;
    json_key(writer, "defaults");
    json_open_object(writer);
    for (size_t i = 0; i < defaults->count; i++)
        sorted[i] = defaults->items[i];
    if (defaults->count > 0)
        qsort(sorted, defaults->count, sizeof(*sorted), by_value_name);
    for (size_t i = 0; i < defaults->count; i++)
        put_default(writer, &sorted[i]);
    json_close_object(writer);
    return true;
}

as_status recipe_template_canonical(const struct recipe_template *item, struct strbuf *out)
{
    struct json_writer writer;
    struct arena arena;
    arena_init(&arena, 0, 0);
    json_writer_init(&writer, out, 0);
    json_open_object(&writer);
    bool is_whole = put_json(&writer, &arena, "argv", item->argv);
    json_member_string(&writer, "code", item->code);
    is_whole = is_whole && put_defaults(&writer, &arena, &item->defaults);
    is_whole = is_whole && put_json(&writer, &arena, "env", item->env);
    is_whole = is_whole && put_json(&writer, &arena, "files", item->files);
    json_member_string(&writer, "framework_code", item->framework_code);
    json_member_string(&writer, "help", item->help);
    json_member_string(&writer, "kind", item->kind == RECIPE_SERVER ? "server" : "tool");
    json_key(&writer, "refuses");
    put_list(&writer, &item->refuses);
    json_member_string(&writer, "results", item->results);
    json_member_string(&writer, "runtime", item->runtime);
    json_key(&writer, "secrets");
    put_list(&writer, &item->secrets);
    json_member_string(&writer, "since", item->since);
    json_member_string(&writer, "tool", item->tool);
    json_member_string(&writer, "until", item->until);
    json_close_object(&writer);
    arena_done(&arena);
    return is_whole ? json_writer_status(&writer) : AS_E_NOMEM;
}

static void put_pairs(struct json_writer *writer, const char *key, const struct recipe_pairs *pairs)
{
    json_key(writer, key);
    json_open_object(writer);
    for (size_t i = 0; i < pairs->count; i++)
        json_member_string(writer, pairs->items[i].name, pairs->items[i].value);
    json_close_object(writer);
}

static void put_bindings(struct json_writer *writer, const struct recipe_command *command)
{
    json_key(writer, "bindings");
    json_open_array(writer);
    for (size_t i = 0; i < command->binding_count; i++) {
        const struct recipe_binding *binding = &command->bindings[i];
        json_open_object(writer);
        json_member_string(writer, "name", binding->name);
        json_member_string(writer, "value", binding->text);
        json_member_string(writer, "layer", recipe_layer_name(binding->layer));
        json_member_string(writer, "origin", binding->origin);
        json_close_object(writer);
    }
    json_close_array(writer);
}

/* What decides the process: sorted members. */
static void put_launch(struct json_writer *writer, const struct recipe_command *command)
{
    json_key(writer, "argv");
    put_list(writer, &command->argv);
    put_pairs(writer, "env", &command->env);
    put_pairs(writer, "files", &command->files);
    json_key(writer, "secrets");
    put_list(writer, &command->secrets);
}

void recipe_command_json(const struct recipe_command *command, struct json_writer *writer)
{
    json_open_object(writer);
    json_member_string(writer, "template", command->template_code);
    put_launch(writer, command);
    put_bindings(writer, command);
    json_close_object(writer);
}

as_status recipe_command_digest(const struct recipe_command *command, char ret[RECIPE_DIGEST_BYTES])
{
    struct strbuf out AS_AUTO_STRBUF;
    struct json_writer writer;
    strbuf_init(&out, 0);
    json_writer_init(&writer, &out, 0);
    json_open_object(&writer);
    put_launch(&writer, command);
    json_close_object(&writer);
    as_status status = json_writer_status(&writer);
    return status == AS_OK ? recipe_digest(strbuf_text(&out), out.len, ret) : status;
}

static void add_quoted(struct strbuf *out, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-";
    if (*word && strspn(word, plain) == strlen(word)) {
        strbuf_adds(out, word);
        return;
    }
    strbuf_addc(out, '\'');
    for (; *word; word++) {
        if (*word == '\'')
            strbuf_adds(out, "'\\''");
        else
            strbuf_addc(out, *word);
    }
    strbuf_addc(out, '\'');
}

void recipe_command_text(const struct recipe_command *command, struct strbuf *out)
{
    for (size_t i = 0; i < command->env.count; i++) {
        strbuf_addf(out, "%s=", command->env.items[i].name);
        add_quoted(out, command->env.items[i].value);
        strbuf_addc(out, ' ');
    }
    for (size_t i = 0; i < command->argv.count; i++) {
        if (i > 0)
            strbuf_addc(out, ' ');
        add_quoted(out, command->argv.items[i]);
    }
}
