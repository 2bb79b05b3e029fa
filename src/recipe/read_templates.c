/* SPDX-License-Identifier: Apache-2.0 */
#include "recipe/template.h"
#include "recipe/version.h"
#include "recipe/words.h"

#include "base/json_write.h"

#include <stdio.h>

static const struct member TEMPLATE_MEMBERS[] = {
    {"code", MEMBER_TEXT, offsetof(struct recipe_template, code), true},
    {"kind", MEMBER_OTHER, 0, true},
    {"framework_code", MEMBER_TEXT, offsetof(struct recipe_template, framework_code), false},
    {"tool", MEMBER_TEXT, offsetof(struct recipe_template, tool), false},
    {"runtime", MEMBER_TEXT, offsetof(struct recipe_template, runtime), false},
    {"since", MEMBER_TEXT, offsetof(struct recipe_template, since), false},
    {"until", MEMBER_TEXT, offsetof(struct recipe_template, until), false},
    {"results", MEMBER_TEXT, offsetof(struct recipe_template, results), false},
    {"argv", MEMBER_OTHER, 0, true},
    {"env", MEMBER_OTHER, 0, false},
    {"files", MEMBER_OTHER, 0, false},
    {"secrets", MEMBER_LIST, offsetof(struct recipe_template, secrets), false},
    {"refuses", MEMBER_LIST, offsetof(struct recipe_template, refuses), false},
    {"defaults", MEMBER_OTHER, 0, false},
    {"help", MEMBER_TEXT, offsetof(struct recipe_template, help), false},
};

struct template_reader {
    struct reader *reader;
    const struct recipe_template *item;
    bool is_inside_each;
    size_t words;
};

static bool is_known_name(const struct template_reader *at, const char *name)
{
    if (recipe_placeholder(name) || (at->is_inside_each && strcmp(name, "item") == 0))
        return true;
    for (size_t i = 0; i < at->item->defaults.count; i++)
        if (strcmp(at->item->defaults.items[i].name, name) == 0)
            return true;
    return false;
}

static as_status check_name(struct template_reader *at, const struct json_value *value, const char *name)
{
    struct nearest nearest;
    size_t count = 0;
    if (recipe_is_secret_name(name))
        return reader_fail(at->reader, value,
                           "{%.64s} would put a secret on the command line; list the variable's name in \"secrets\"",
                           name);
    if (is_known_name(at, name))
        return AS_OK;
    nearest_init(&nearest, name);
    const struct recipe_placeholder *known = recipe_placeholders(&count);
    for (size_t i = 0; i < count; i++)
        nearest_try(&nearest, known[i].name);
    if (nearest.best)
        return reader_fail(at->reader, value,
                           "{%.64s} is no placeholder; nearest is {%s}; one of your own is declared in \"defaults\"",
                           name, nearest.best);
    return reader_fail(at->reader, value, "{%.64s} is no placeholder; one of your own is declared in \"defaults\"",
                       name);
}

static as_status check_word(struct template_reader *at, const struct json_value *value)
{
    const char *word = value->text;
    if (value->type != JSON_STRING || strlen(word) != value->len)
        return reader_fail(at->reader, value, "a word is a text without NUL");
    if (value->len > RECIPE_WORD_BYTES_MAX || ++at->words > TEMPLATE_WORDS_MAX)
        return reader_fail(at->reader, value, "more than %d words, or one of more than %d bytes", TEMPLATE_WORDS_MAX,
                           RECIPE_WORD_BYTES_MAX);
    for (;;) {
        struct piece piece = piece_next(&word);
        if (piece.kind == PIECE_END)
            return AS_OK;
        if (piece.kind == PIECE_BAD)
            return reader_fail(at->reader, value, "a lone brace in \"%.64s\"; {{ and }} are braces as such",
                               value->text);
        char name[RECIPE_KEY_BYTES_MAX + 1];
        if (piece.kind != PIECE_NAME)
            continue;
        (void)snprintf(name, sizeof(name), "%.*s", (int)(piece.len < sizeof(name) ? piece.len : sizeof(name) - 1),
                       piece.text);
        as_status status = check_name(at, value, name);
        if (status != AS_OK)
            return status;
    }
}

/* A flag such as --api-key: its value would be in the process list. */
static bool is_secret_flag(const char *word)
{
    char flag[RECIPE_KEY_BYTES_MAX];
    const char *name = word + strspn(word, "-");
    size_t len = strcspn(name, "=");
    if (name == word || len >= sizeof(flag))
        return false;
    (void)snprintf(flag, sizeof(flag), "%.*s", (int)len, name);
    return recipe_is_secret_name(flag);
}

static as_status check_argv_word(struct template_reader *at, const struct json_value *value)
{
    if (value->type == JSON_STRING && is_secret_flag(value->text))
        return reader_fail(at->reader, value,
                           "%.64s puts a secret on the command line; list the variable's name in \"secrets\"",
                           value->text);
    return check_word(at, value);
}

static as_status check_group(struct template_reader *at, const struct element *element)
{
    if (!element->words->first)
        return reader_fail(at->reader, element->words, "an empty group");
    for (const struct json_value *word = element->words->first; word; word = word->next) {
        as_status status = check_argv_word(at, word);
        if (status != AS_OK)
            return status;
    }
    return AS_OK;
}

static as_status check_element(struct template_reader *at, const struct json_value *value)
{
    struct element element = element_of(value);
    if (element.kind == ELEMENT_BAD)
        return reader_fail(
            at->reader, value,
            "a word, [words] or {\"when\", \"unless\" or \"each\": name, \"argv\": [words]} is expected");
    if (element.kind == ELEMENT_WORD)
        return check_argv_word(at, value);
    if (element.name) {
        as_status status = check_name(at, value, element.name);
        if (status != AS_OK)
            return status;
    }
    at->is_inside_each = element.kind == ELEMENT_EACH;
    as_status status = check_group(at, &element);
    at->is_inside_each = false;
    return status;
}

static as_status check_refuses(struct template_reader *at, const struct json_value *object)
{
    const struct recipe_list *names = &at->item->refuses;
    for (size_t i = 0; i < names->count; i++) {
        as_status status = check_name(at, json_get(object, "refuses"), names->items[i]);
        if (status != AS_OK)
            return status;
    }
    return AS_OK;
}

static as_status check_argv(struct template_reader *at)
{
    const struct json_value *argv = at->item->argv;
    size_t len = 0;
    if (argv->type != JSON_ARRAY || !argv->first || argv->first->type != JSON_STRING || argv->first->len == 0)
        return reader_fail(at->reader, argv, "argv is an array whose first word is the program");
    const char *program = argv->first->text, *name = sole_placeholder(program, &len);
    bool is_engine = name && len == strlen("container_engine") && memcmp(name, "container_engine", len) == 0;
    if (!is_engine && strpbrk(program, "{}"))
        return reader_fail(at->reader, argv->first,
                           "the program is named, or {container_engine}; no other value names it");
    for (const struct json_value *value = argv->first; value; value = value->next) {
        as_status status = check_element(at, value);
        if (status != AS_OK)
            return status;
    }
    return AS_OK;
}

static as_status check_env(struct template_reader *at)
{
    const struct json_value *env = at->item->env;
    if (!env)
        return AS_OK;
    if (env->type != JSON_OBJECT || env->len > RECIPE_ARGS_MAX)
        return reader_fail(at->reader, env, "env is an object of at most %d texts", RECIPE_ARGS_MAX);
    for (const struct json_value *value = env->first; value; value = value->next) {
        if (!is_environment_name(value->key) || strlen(value->key) != value->key_len)
            return reader_fail(at->reader, value, "\"%.64s\" is no name of an environment variable", value->key);
        if (recipe_is_secret_name(value->key))
            return reader_fail(at->reader, value, "%.64s holds a secret; list its name in \"secrets\"", value->key);
        bool is_optional = value->type == JSON_ARRAY && value->len == 1;
        as_status status = check_word(at, is_optional ? value->first : value);
        if (status != AS_OK)
            return status;
    }
    return AS_OK;
}

static as_status check_leaf(void *context, const struct json_value *value, enum tree_event event)
{
    struct template_reader *at = context;
    return event == TREE_LEAF && value->type == JSON_STRING ? check_word(at, value) : AS_OK;
}

static as_status check_files(struct template_reader *at)
{
    const struct json_value *files = at->item->files;
    if (!files)
        return AS_OK;
    if (files->type != JSON_OBJECT)
        return reader_fail(at->reader, files, "files is an object: name and JSON");
    for (const struct json_value *file = files->first; file; file = file->next)
        if (file->key_len == 0 || strlen(file->key) != file->key_len || strchr(file->key, '/') || file->key[0] == '.')
            return reader_fail(at->reader, file, "\"%.64s\" is no plain file name", file->key);
    as_status status = tree_walk(files, check_leaf, at);
    return status == AS_E_LIMIT ? reader_fail(at->reader, files, "files nest deeper than %d", TEMPLATE_DEPTH_MAX)
                                : status;
}

static bool default_kind(const struct json_value *value, enum recipe_kind *ret)
{
    switch (value->type) {
    case JSON_NULL:
    case JSON_STRING:
        *ret = RECIPE_TEXT;
        return true;
    case JSON_NUMBER:
        *ret = RECIPE_NUMBER;
        return true;
    case JSON_BOOL:
        *ret = RECIPE_FLAG;
        return true;
    case JSON_ARRAY:
        *ret = RECIPE_LIST;
        return true;
    case JSON_OBJECT:
        break;
    }
    return false;
}

static as_status read_default(struct reader *reader, const struct json_value *value, struct recipe_value *ret)
{
    *ret = (struct recipe_value){.name = value->key, .layer = RECIPE_FROM_TEMPLATE};
    if (!is_placeholder_name(value->key, value->key_len) || value->key_len > RECIPE_KEY_BYTES_MAX ||
        recipe_is_secret_name(value->key) || strcmp(value->key, "item") == 0)
        return reader_fail(reader, value, "\"%.64s\" is no name of a placeholder: a-z, 0-9 and _, no secret",
                           value->key);
    if (!default_kind(value, &ret->kind))
        return reader_fail(reader, value, "the default of %.64s is an object", value->key);
    if (ret->kind == RECIPE_LIST)
        return reader_list(reader, value, &ret->list);
    if (value->type == JSON_NULL)
        return AS_OK;
    ret->text = reader_value_text(reader->arena, value);
    return ret->text ? AS_OK : reader_fail(reader, value, "the default of %.64s holds NUL", value->key);
}

static as_status read_defaults(struct reader *reader, const struct json_value *object, struct recipe_template *item)
{
    const struct json_value *defaults = json_get(object, "defaults");
    if (!defaults || defaults->type == JSON_NULL)
        return AS_OK;
    if (defaults->type != JSON_OBJECT)
        return reader_fail(reader, defaults, "defaults is an object: name and value");
    struct recipe_value *values = arena_calloc(reader->arena, defaults->len + 1, sizeof(*values));
    size_t count = 0;
    if (!values)
        return reader_no_memory(reader);
    for (const struct json_value *value = defaults->first; value; value = value->next) {
        as_status status = read_default(reader, value, &values[count++]);
        if (status != AS_OK)
            return status;
    }
    item->defaults = (struct recipe_values){values, count};
    return AS_OK;
}

static as_status check_heads(struct reader *reader, const struct json_value *object, struct recipe_template *item)
{
    const char *kind = NULL;
    bool is_server = json_string(json_get(object, "kind"), &kind) && strcmp(kind, "server") == 0;
    if (!kind || (!is_server && strcmp(kind, "tool") != 0))
        return reader_fail(reader, json_get(object, "kind"), "kind is server or tool");
    item->kind = is_server ? RECIPE_SERVER : RECIPE_TOOL;
    if (!item->runtime)
        item->runtime = "process";
    if (strcmp(item->runtime, "process") != 0 && strcmp(item->runtime, "container") != 0)
        return reader_fail(reader, json_get(object, "runtime"), "runtime is process or container");
    if (is_server != (item->framework_code != NULL) || (!is_server && !item->tool))
        return reader_fail(reader, object, "a server has a framework_code, a tool has a tool and none");
    if ((item->since && !recipe_version_is_valid(item->since)) ||
        (item->until && !recipe_version_is_valid(item->until)))
        return reader_fail(reader, object, "since and until are versions such as 0.24.0");
    for (size_t i = 0; i < item->secrets.count; i++)
        if (!is_environment_name(item->secrets.items[i]))
            return reader_fail(reader, object, "\"%.64s\" is no name of an environment variable",
                               item->secrets.items[i]);
    return AS_OK;
}

static const struct json_value *not_null(const struct json_value *value)
{
    return value && value->type != JSON_NULL ? value : NULL;
}

static as_status read_template(struct reader *reader, const struct json_value *object, struct recipe_template *item)
{
    as_status status = reader_members(reader, object, MEMBERS(TEMPLATE_MEMBERS), item);
    if (status == AS_OK)
        status = check_heads(reader, object, item);
    if (status == AS_OK)
        status = read_defaults(reader, object, item);
    if (status != AS_OK)
        return status;
    struct template_reader at = {.reader = reader, .item = item};
    item->argv = json_get(object, "argv");
    item->env = not_null(json_get(object, "env"));
    item->files = not_null(json_get(object, "files"));
    status = check_refuses(&at, object);
    if (status == AS_OK)
        status = check_argv(&at);
    if (status == AS_OK)
        status = check_env(&at);
    return status == AS_OK ? check_files(&at) : status;
}

as_status recipe_read_template(const struct json_value *object, const char *name, struct arena *arena,
                               struct recipe_template *ret, struct as_error *err)
{
    struct recipe_text input = {name, "", 0};
    struct reader reader = {.input = &input, .arena = arena, .err = err};
    struct recipe_template item = {0};
    as_status status = read_template(&reader, object, &item);
    if (status == AS_OK)
        *ret = item;
    return status;
}

as_status recipe_read_templates(const struct recipe_text *input, struct arena *arena, struct recipe_templates *ret,
                                struct as_error *err)
{
    struct reader reader = {.input = input, .arena = arena, .err = err};
    const struct json_value *root = NULL, *array = NULL;
    as_status status = reader_open(&reader, "assay.command-templates.v1", &root);
    if (status == AS_OK)
        status = reader_array(&reader, root, "templates", &array);
    if (status != AS_OK)
        return status;
    struct recipe_template *items = arena_calloc(arena, array->len + 1, sizeof(*items));
    struct recipe_templates known = {items, 0};
    if (!items)
        return reader_no_memory(&reader);
    for (const struct json_value *value = array->first; value; value = value->next) {
        reader_at(&reader, "templates", known.count);
        status = read_template(&reader, value, &items[known.count]);
        if (status != AS_OK)
            return status;
        if (recipe_template(&known, items[known.count].code))
            return reader_fail(&reader, value, "the code %.64s is there twice", items[known.count].code);
        known.count++;
    }
    *ret = known;
    return AS_OK;
}
