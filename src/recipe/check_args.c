/* SPDX-License-Identifier: Apache-2.0 */
/* What an engine argument may be. */
#include "recipe/engine_args.h"
#include "recipe/reader.h"
#include "recipe/version.h"
#include "recipe/words.h"

#include <stdio.h>
#include <stdlib.h>

const char *recipe_flag_nearest(const struct recipe_framework *framework, const char *key)
{
    struct nearest nearest;
    nearest_init(&nearest, key);
    for (size_t i = 0; i < framework->flag_count; i++)
        nearest_try(&nearest, framework->flags[i].key);
    return nearest.best;
}

static const struct recipe_flag *any_flag(const struct recipe_framework *framework, const char *key)
{
    for (size_t i = 0; i < framework->flag_count; i++)
        if (strcmp(framework->flags[i].key, key) == 0)
            return &framework->flags[i];
    return NULL;
}

/* Why a key is not there: another version, another tool, or nowhere. */
static as_status refuse_key(const struct recipe_framework *framework, const struct recipe_flag_query *query,
                            struct as_error *err)
{
    struct recipe_flag_query any_version = {.key = query->key, .tool = query->tool};
    const struct recipe_flag *flag = recipe_flag(framework, &any_version);
    if (flag && flag->until && recipe_version_compare(query->version, flag->until) >= 0)
        return error_set(err, AS_E_INVALID, "%.128s (%s) is gone from %s since %s; the version is %.32s: remove it",
                         query->key, recipe_type_name(flag->type), framework->name, flag->until, query->version);
    if (flag)
        return error_set(err, AS_E_INVALID, "%.128s (%s) is in %s from %s on; the version is %.32s", query->key,
                         recipe_type_name(flag->type), framework->name, flag->since, query->version);
    flag = any_flag(framework, query->key);
    if (flag && flag->tool)
        return error_set(err, AS_E_INVALID, "%.128s (%s) is an argument of %s only for %s", query->key,
                         recipe_type_name(flag->type), framework->name, flag->tool);
    if (flag)
        return error_set(err, AS_E_INVALID, "%.128s (%s) is an argument of %s's text servers, not for %s", query->key,
                         recipe_type_name(flag->type), framework->name, query->tool ? query->tool : "this tool");
    const char *near = recipe_flag_nearest(framework, query->key);
    const struct recipe_flag *near_flag = near ? any_flag(framework, near) : NULL;
    if (near_flag)
        return error_set(err, AS_E_INVALID, "%.128s is no argument of %s; nearest is %s (%s)", query->key,
                         framework->name, near, recipe_type_name(near_flag->type));
    return error_set(err, AS_E_INVALID, "%.128s is no argument of %s; the flags it knows are listed with its framework",
                     query->key, framework->name);
}

static bool list_is_valid(const char *text, size_t len)
{
    struct json_cursor cursor;
    struct json_raw raw;
    bool first = true;
    if (!json_cursor_validate(text, len, NULL))
        return false;
    json_cursor_init(&cursor, text, len);
    if (!json_enter_array(&cursor))
        return false;
    while (json_next_item(&cursor, &first)) {
        if (!json_take_string(&cursor, &raw) && !json_take_number(&cursor, &raw))
            return false;
        if (raw.escaped && memmem(raw.at, raw.len, "\\u0000", 6))
            return false;
    }
    return !cursor.failed;
}

static bool text_is_of_type(enum recipe_type type, const char *text)
{
    size_t len = strlen(text), name_len = 0;
    int64_t whole = 0;
    double number = 0;
    bool has_placeholder = type != RECIPE_JSON && type != RECIPE_ARRAY && find_placeholder(text, &name_len);
    switch (type) {
    case RECIPE_INT:
        return has_placeholder || (json_text_int64(text, len, &whole) && !strpbrk(text, ".eE"));
    case RECIPE_FLOAT:
        return has_placeholder || json_text_double(text, len, &number);
    case RECIPE_BOOL:
        return has_placeholder || strcmp(text, "true") == 0 || strcmp(text, "false") == 0;
    case RECIPE_STRING:
        return true;
    case RECIPE_JSON:
        return json_cursor_validate(text, len, NULL);
    case RECIPE_ARRAY:
        return list_is_valid(text, len);
    case RECIPE_TYPE_COUNT:
        break;
    }
    return false;
}

/* Raw text must say what the value says: it exists to keep 0.90 or True, not to say something else. */
static bool raw_means_text(enum recipe_type type, const char *raw, const char *text)
{
    double left = 0, right = 0;
    switch (type) {
    case RECIPE_INT:
    case RECIPE_FLOAT:
        return json_text_double(raw, strlen(raw), &left) && json_text_double(text, strlen(text), &right) &&
               left - right == 0;
    case RECIPE_BOOL:
        return strcmp(text, "true") == 0
                   ? strcmp(raw, "True") == 0 || strcmp(raw, "true") == 0 || strcmp(raw, "1") == 0
                   : strcmp(raw, "False") == 0 || strcmp(raw, "false") == 0 || strcmp(raw, "0") == 0;
    case RECIPE_JSON:
        return json_cursor_validate(raw, strlen(raw), NULL);
    case RECIPE_STRING:
    case RECIPE_ARRAY:
    case RECIPE_TYPE_COUNT:
        break;
    }
    return strcmp(raw, text) == 0;
}

static void list_choices(const struct recipe_list *choices, char *ret, size_t size)
{
    size_t len = 0;
    ret[0] = '\0';
    for (size_t i = 0; i < choices->count && len < size; i++) {
        int more = snprintf(ret + len, size - len, "%s%s", i ? ", " : "", choices->items[i]);
        len += more > 0 ? (size_t)more : 0;
    }
}

static const char *type_example(enum recipe_type type)
{
    static const char *const forms[RECIPE_TYPE_COUNT] = {"8", "0.9", "true or false", "auto", "{\"a\": 1}", "[1, 2]"};
    return type < RECIPE_TYPE_COUNT ? forms[type] : "none";
}

static as_status check_text(const struct recipe_flag *flag, const struct recipe_arg *arg, struct as_error *err)
{
    size_t name_len = 0;
    if (!arg->text)
        return error_set(err, AS_E_INVALID, "%.128s has no value; it is of the type %s", arg->key,
                         recipe_type_name(flag->type));
    if (strlen(arg->text) > RECIPE_TEXT_BYTES_MAX || (arg->raw && strlen(arg->raw) > RECIPE_TEXT_BYTES_MAX))
        return error_set(err, AS_E_LIMIT, "the value of %.128s is longer than %d bytes", arg->key,
                         RECIPE_TEXT_BYTES_MAX);
    if (!text_is_of_type(flag->type, arg->text))
        return error_set(err, AS_E_INVALID, "%.128s is \"%.64s\"; it is of the type %s, for example %s", arg->key,
                         arg->text, recipe_type_name(flag->type), type_example(flag->type));
    if (flag->choices.count > 0 && !recipe_list_has(&flag->choices, arg->text) &&
        !find_placeholder(arg->text, &name_len)) {
        char choices[256];
        list_choices(&flag->choices, choices, sizeof(choices));
        return error_set(err, AS_E_INVALID, "%.128s is \"%.64s\"; it is one of %s", arg->key, arg->text, choices);
    }
    if (arg->raw && !raw_means_text(flag->type, arg->raw, arg->text))
        return error_set(err, AS_E_INVALID, "%.128s is %.64s and is written \"%.64s\", which means something else",
                         arg->key, arg->text, arg->raw);
    return AS_OK;
}

/* A word that begins with a dash would be read as another option. */
static bool begins_with_dash(const struct recipe_flag *flag, const struct recipe_arg *arg)
{
    struct json_cursor cursor;
    struct json_raw raw;
    bool first = true;
    if (arg->join && arg->join[0] == '=')
        return false;
    if (flag->type == RECIPE_STRING)
        return arg->text[0] == '-';
    if (flag->type != RECIPE_ARRAY)
        return false;
    json_cursor_init(&cursor, arg->text, strlen(arg->text));
    for (bool in = json_enter_array(&cursor); in && json_next_item(&cursor, &first);) {
        if (json_take_string(&cursor, &raw)) {
            if (raw.len > 0 && (raw.at[0] == '-' || raw.escaped))
                return true;
        } else if (!json_skip(&cursor)) {
            return true;
        }
    }
    return false;
}

static as_status check_spelling(const struct recipe_flag *flag, const struct recipe_arg *arg, struct as_error *err)
{
    if (arg->join && strcmp(arg->join, "=") != 0 && strcmp(arg->join, " ") != 0)
        return error_set(err, AS_E_INVALID, "%.128s is joined by \"%.8s\": only \"=\" and \" \" are known", arg->key,
                         arg->join);
    if (begins_with_dash(flag, arg))
        return error_set(err, AS_E_INVALID, "the value of %.128s begins with a dash: join it to its flag with \"=\"",
                         arg->key);
    if (!arg->flag)
        return AS_OK;
    bool is_false_flag = flag->false_flag && strcmp(arg->flag, flag->false_flag) == 0;
    if (!is_false_flag && strcmp(arg->flag, flag->flag) != 0 && !recipe_list_has(&flag->aliases, arg->flag))
        return error_set(err, AS_E_INVALID, "%.128s is spelled \"%.64s\"; it is %s", arg->key, arg->flag, flag->flag);
    bool says_false = flag->type == RECIPE_BOOL && strcmp(arg->text, "false") == 0;
    if (flag->type == RECIPE_BOOL && !arg->raw && !flag->writes_bool && says_false != is_false_flag)
        return error_set(err, AS_E_INVALID, "%.128s is %s, but \"%.64s\" says %s: leave the flag out", arg->key,
                         arg->text, arg->flag, is_false_flag ? "false" : "true");
    return AS_OK;
}

as_status recipe_arg_check(const struct recipe_framework *framework, const struct recipe_flag_query *query,
                           const struct recipe_arg *arg, struct as_error *err)
{
    struct recipe_flag_query full = {.key = arg->key, .version = query->version, .tool = query->tool};
    if (!arg->key || !*arg->key || strlen(arg->key) > RECIPE_KEY_BYTES_MAX)
        return error_set(err, AS_E_INVALID, "a key is missing or longer than %d bytes", RECIPE_KEY_BYTES_MAX);
    if (recipe_is_secret_name(arg->key))
        return error_set(err, AS_E_INVALID,
                         "%.128s is a secret: it is never an argument, name the variable that holds it instead",
                         arg->key);
    const struct recipe_flag *flag = recipe_flag(framework, &full);
    if (!flag)
        return refuse_key(framework, &full, err);
    as_status status = check_text(flag, arg, err);
    return status == AS_OK ? check_spelling(flag, arg, err) : status;
}

/* Variables that decide which code runs; only templates, which admins write, may set them. */
static bool is_loader_name(const char *name)
{
    static const char *const names[] = {"PATH",     "PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP",
                                        "BASH_ENV", "ENV",        "SHELLOPTS"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return strncmp(name, "LD_", 3) == 0;
}

static as_status check_environment(const struct recipe_set *set, struct as_error *err)
{
    if (set->env.count > RECIPE_ARGS_MAX)
        return error_set(err, AS_E_LIMIT, "more than %d environment variables", RECIPE_ARGS_MAX);
    for (size_t i = 0; i < set->env.count; i++) {
        const struct recipe_pair *pair = &set->env.items[i];
        if (!is_environment_name(pair->name) || strlen(pair->name) > RECIPE_KEY_BYTES_MAX)
            return error_set(err, AS_E_INVALID, "\"%.64s\" is no name of an environment variable", pair->name);
        if (recipe_is_secret_name(pair->name))
            return error_set(err, AS_E_INVALID,
                             "the environment variable %.64s is a secret: list its name, the worker has its value",
                             pair->name);
        if (is_loader_name(pair->name))
            return error_set(err, AS_E_INVALID,
                             "%.64s decides which code runs: a set may not hold it, a command template may",
                             pair->name);
        if (strlen(pair->value) > RECIPE_TEXT_BYTES_MAX)
            return error_set(err, AS_E_LIMIT, "the value of %.64s is longer than %d bytes", pair->name,
                             RECIPE_TEXT_BYTES_MAX);
        for (size_t j = 0; j < i; j++)
            if (strcmp(set->env.items[j].name, pair->name) == 0)
                return error_set(err, AS_E_INVALID, "the environment variable %.64s is there twice", pair->name);
    }
    return AS_OK;
}

as_status recipe_set_check(const struct recipe_framework *framework, const char *version, const struct recipe_set *set,
                           struct as_error *err)
{
    struct recipe_flag_query query = {.version = version, .tool = set->tool};
    struct recipe_parallel parallel;
    if (strcmp(set->framework_code, framework->code) != 0)
        return error_set(err, AS_E_INVALID, "the set %.100s is for %s, not for %s", set->code, set->framework_code,
                         framework->code);
    if (set->args.count > RECIPE_ARGS_MAX)
        return error_set(err, AS_E_LIMIT, "more than %d arguments", RECIPE_ARGS_MAX);
    for (size_t i = 0; i < set->args.count; i++) {
        as_status status = recipe_arg_check(framework, &query, &set->args.items[i], err);
        if (status != AS_OK)
            return status;
        for (size_t j = 0; j < i; j++)
            if (strcmp(set->args.items[j].key, set->args.items[i].key) == 0)
                return error_set(err, AS_E_INVALID, "%.128s is there twice: keep one", set->args.items[i].key);
    }
    as_status status = check_environment(set, err);
    return status == AS_OK ? recipe_set_parallel(framework, set, &parallel, err) : status;
}
