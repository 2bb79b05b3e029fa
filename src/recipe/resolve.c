/* SPDX-License-Identifier: Apache-2.0 */
/* Filling of templates. */
#include "recipe/template.h"
#include "recipe/words.h"

#include <stdio.h>
#include <stdlib.h>

enum { BUILTIN_ENGINE_ARGS, BUILTIN_ENV, BUILTIN_ENV_NAMES, BUILTIN_SECRETS, BUILTIN_COUNT };

struct resolver {
    const struct recipe_job *job;
    struct arena *arena;
    struct as_error *err;
    struct recipe_value builtins[BUILTIN_COUNT];
    struct recipe_value item; /* {item} inside an each group; no name outside */
    bool collects;            /* unresolved names go to `missing` instead of being an error */
    struct words missing;
    struct recipe_pair *env;
    size_t env_count;
    size_t env_capacity;
    const struct recipe_value **used;
    size_t used_count;
    size_t used_capacity;
};

static bool has_value(const struct recipe_value *value)
{
    return value && (value->kind == RECIPE_LIST ? value->list.count > 0 : value->text != NULL);
}

static bool is_called(const struct recipe_value *value, const char *name, size_t len)
{
    return value->name && strlen(value->name) == len && memcmp(value->name, name, len) == 0;
}

/* The value of the first layer that has one; an empty list is kept when nothing better is there. */
static const struct recipe_value *find_value(const struct resolver *resolver, const char *name, size_t len)
{
    const struct recipe_value *best = NULL;
    const struct recipe_values *layers[] = {&resolver->job->values, &resolver->job->item->defaults};
    if (is_called(&resolver->item, name, len))
        return &resolver->item;
    for (size_t i = 0; i < BUILTIN_COUNT; i++)
        if (is_called(&resolver->builtins[i], name, len))
            return &resolver->builtins[i];
    for (size_t i = 0; i < sizeof(layers) / sizeof(layers[0]); i++) {
        for (size_t j = 0; j < layers[i]->count; j++) {
            const struct recipe_value *value = &layers[i]->items[j];
            bool counts = has_value(value) || (value->kind == RECIPE_LIST && !best);
            if (is_called(value, name, len) && counts && (!best || !has_value(best) || value->layer < best->layer))
                best = value;
        }
    }
    return best;
}

static as_status note_use(struct resolver *resolver, const struct recipe_value *value)
{
    if (value == &resolver->item)
        return AS_OK;
    for (size_t i = 0; i < resolver->used_count; i++)
        if (resolver->used[i] == value)
            return AS_OK;
    if (resolver->used_count == resolver->used_capacity) {
        size_t capacity = resolver->used_capacity ? 2 * resolver->used_capacity : 32;
        const struct recipe_value **used = arena_calloc(resolver->arena, capacity, sizeof(const struct recipe_value *));
        if (!used)
            return error_set(resolver->err, AS_E_NOMEM, "no memory");
        for (size_t i = 0; i < resolver->used_count; i++)
            used[i] = resolver->used[i];
        resolver->used = used;
        resolver->used_capacity = capacity;
    }
    resolver->used[resolver->used_count++] = value;
    return AS_OK;
}

static as_status note_missing(struct resolver *resolver, const char *name)
{
    for (size_t i = 0; i < resolver->missing.count; i++)
        if (strcmp(resolver->missing.items[i], name) == 0)
            return AS_OK;
    words_add(&resolver->missing, arena_strdup(resolver->arena, name));
    return resolver->missing.status;
}

/* The placeholder has no value. */
static as_status unresolved(struct resolver *resolver, const char *name, size_t len, const char *word)
{
    char text[RECIPE_KEY_BYTES_MAX + 1];
    (void)snprintf(text, sizeof(text), "%.*s", (int)(len < sizeof(text) ? len : sizeof(text) - 1), name);
    const struct recipe_placeholder *known = recipe_placeholder(text);
    if (resolver->collects)
        return note_missing(resolver, text);
    if (known)
        return error_set(resolver->err, AS_E_INVALID,
                         "{%s} in \"%.80s\" of %.64s has no value: it comes from the %s (%s)", text, word,
                         resolver->job->item->code, recipe_layer_name(known->layer), known->sentence);
    return error_set(
        resolver->err, AS_E_INVALID,
        "{%s} in \"%.80s\" of %.64s has no value: it comes from the run's settings or the template's defaults", text,
        word, resolver->job->item->code);
}

static as_status add_value(struct resolver *resolver, struct piece name, const char *word, struct strbuf *out)
{
    const struct recipe_value *value = find_value(resolver, name.text, name.len);
    if (!has_value(value))
        return unresolved(resolver, name.text, name.len, word);
    if (value->kind == RECIPE_LIST)
        return error_set(resolver->err, AS_E_INVALID,
                         "{%.64s} is a list: it is a word of its own, not a part of \"%.80s\"", value->name, word);
    strbuf_adds(out, value->text);
    return note_use(resolver, value);
}

static as_status finish_text(struct resolver *resolver, const struct strbuf *out, const char *word, const char **ret)
{
    if (strbuf_status(out) == AS_E_LIMIT)
        return error_set(resolver->err, AS_E_LIMIT, "\"%.80s\" becomes longer than %d bytes", word,
                         RECIPE_WORD_BYTES_MAX);
    *ret = strbuf_status(out) == AS_OK ? arena_strndup(resolver->arena, strbuf_text(out), out->len) : NULL;
    return *ret ? AS_OK : error_set(resolver->err, AS_E_NOMEM, "no memory");
}

/* A word of the template with its placeholders filled. */
static as_status fill_word(struct resolver *resolver, const char *word, const char **ret)
{
    struct strbuf out AS_AUTO_STRBUF;
    const char *at = word;
    strbuf_init(&out, RECIPE_WORD_BYTES_MAX);
    for (;;) {
        struct piece piece = piece_next(&at);
        as_status status = AS_OK;
        if (piece.kind == PIECE_END)
            return finish_text(resolver, &out, word, ret);
        if (piece.kind == PIECE_BAD)
            return error_set(resolver->err, AS_E_INVALID, "a lone brace in \"%.80s\"", word);
        if (piece.kind == PIECE_TEXT)
            strbuf_add(&out, piece.text, piece.len);
        else
            status = add_value(resolver, piece, word, &out);
        if (status != AS_OK)
            return status;
    }
}

/* A word of an engine-argument set: {name} is replaced, other braces stay. */
static as_status fill_set_word(struct resolver *resolver, const char *word, const char **ret)
{
    struct strbuf out AS_AUTO_STRBUF;
    size_t len = 0;
    const char *rest = word;
    strbuf_init(&out, RECIPE_WORD_BYTES_MAX);
    for (const char *at = find_placeholder(rest, &len); at; at = find_placeholder(rest, &len)) {
        struct piece name = {PIECE_NAME, at + 1, len};
        strbuf_add(&out, rest, (size_t)(at - rest));
        as_status status = add_value(resolver, name, word, &out);
        if (status != AS_OK)
            return status;
        rest = at + len + 2;
    }
    strbuf_adds(&out, rest);
    return finish_text(resolver, &out, word, ret);
}

/* Adds a word, or the words of a list. */
static as_status add_word(struct resolver *resolver, const char *word, struct words *words)
{
    const char *text = NULL;
    size_t len = 0;
    const char *name = sole_placeholder(word, &len);
    const struct recipe_value *value = name ? find_value(resolver, name, len) : NULL;
    if (value && value->kind == RECIPE_LIST) {
        for (size_t i = 0; i < value->list.count; i++)
            words_add(words, value->list.items[i]);
        return note_use(resolver, value);
    }
    as_status status = fill_word(resolver, word, &text);
    if (status == AS_OK && text && text[0] == '-' && word[0] != '-' && !(value && value->kind == RECIPE_NUMBER))
        return error_set(resolver->err, AS_E_INVALID,
                         "the value in \"%.80s\" of %.64s begins with a dash: it would be read as an option", word,
                         resolver->job->item->code);
    if (status == AS_OK)
        words_add(words, text);
    return status;
}

/* True when every placeholder of the words has a value. */
static bool group_has_values(const struct resolver *resolver, const struct json_value *group)
{
    for (const struct json_value *word = group->first; word; word = word->next) {
        const char *at = word->text;
        for (struct piece piece = piece_next(&at); piece.kind == PIECE_NAME || piece.kind == PIECE_TEXT;
             piece = piece_next(&at))
            if (piece.kind == PIECE_NAME && !has_value(find_value(resolver, piece.text, piece.len)))
                return false;
    }
    return true;
}

static as_status add_group(struct resolver *resolver, const struct json_value *group, struct words *words)
{
    as_status status = AS_OK;
    for (const struct json_value *word = group->first; word && status == AS_OK; word = word->next)
        status = add_word(resolver, word->text, words);
    return status;
}

static bool is_on(const struct recipe_value *value)
{
    if (!has_value(value))
        return false;
    return value->kind == RECIPE_LIST ||
           (value->text[0] != '\0' && strcmp(value->text, "0") != 0 && strcmp(value->text, "false") != 0);
}

static as_status add_each(struct resolver *resolver, const struct element *element, struct words *words)
{
    const struct recipe_value *value = find_value(resolver, element->name, strlen(element->name));
    if (!value)
        return unresolved(resolver, element->name, strlen(element->name), "each");
    struct recipe_list one = {&value->text, 1};
    const struct recipe_list *list = value->kind == RECIPE_LIST ? &value->list : &one;
    as_status status = note_use(resolver, value);
    for (size_t i = 0; i < list->count && status == AS_OK; i++) {
        resolver->item = (struct recipe_value){.name = "item", .kind = RECIPE_TEXT, .text = list->items[i]};
        status = add_group(resolver, element->words, words);
    }
    resolver->item = (struct recipe_value){0};
    return status;
}

static as_status add_element(struct resolver *resolver, const struct json_value *json, struct words *words)
{
    struct element element = element_of(json);
    const struct recipe_value *value = NULL;
    switch (element.kind) {
    case ELEMENT_WORD:
        return add_word(resolver, element.word, words);
    case ELEMENT_OPTIONAL:
        return group_has_values(resolver, element.words) ? add_group(resolver, element.words, words) : AS_OK;
    case ELEMENT_WHEN:
    case ELEMENT_UNLESS:
        value = find_value(resolver, element.name, strlen(element.name));
        if (is_on(value) != (element.kind == ELEMENT_WHEN))
            return AS_OK;
        if (value && note_use(resolver, value) != AS_OK)
            return AS_E_NOMEM;
        return add_group(resolver, element.words, words);
    case ELEMENT_EACH:
        return add_each(resolver, &element, words);
    case ELEMENT_BAD:
        break;
    }
    return error_set(resolver->err, AS_E_INVALID, "%.64s holds something that is no word", resolver->job->item->code);
}

/* An entry that is there already stays. */
static as_status put_env(struct resolver *resolver, const char *name, const char *value)
{
    if (!is_environment_name(name))
        return error_set(resolver->err, AS_E_INVALID, "\"%.64s\" is no name of an environment variable", name);
    if (recipe_is_secret_name(name))
        return error_set(resolver->err, AS_E_INVALID,
                         "the environment variable %.64s is a secret: list its name in the template's secrets", name);
    for (size_t i = 0; i < resolver->env_count; i++)
        if (strcmp(resolver->env[i].name, name) == 0)
            return AS_OK;
    resolver->env[resolver->env_count++] = (struct recipe_pair){name, value};
    return AS_OK;
}

static as_status put_template_env(struct resolver *resolver)
{
    const struct json_value *env = resolver->job->item->env;
    for (const struct json_value *entry = env ? env->first : NULL; entry; entry = entry->next) {
        const char *text = NULL;
        bool is_optional = entry->type == JSON_ARRAY;
        if (is_optional && !group_has_values(resolver, entry))
            continue;
        as_status status = fill_word(resolver, is_optional ? entry->first->text : entry->text, &text);
        if (status == AS_OK)
            status = put_env(resolver, entry->key, text);
        if (status != AS_OK)
            return status;
    }
    return AS_OK;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct recipe_pair *)a)->name, ((const struct recipe_pair *)b)->name);
}

/* The plan's entries go before the template's, these before the set's. */
static as_status make_env(struct resolver *resolver)
{
    const struct recipe_job *job = resolver->job;
    const struct recipe_pairs none = {0}, *of_set = job->set ? &job->set->env : &none;
    size_t capacity = job->env.count + of_set->count + (job->item->env ? job->item->env->len : 0);
    resolver->env = arena_calloc(resolver->arena, capacity + 1, sizeof(*resolver->env));
    if (!resolver->env)
        return error_set(resolver->err, AS_E_NOMEM, "no memory");
    as_status status = AS_OK;
    for (size_t i = 0; i < job->env.count && status == AS_OK; i++)
        status = put_env(resolver, job->env.items[i].name, job->env.items[i].value);
    if (status == AS_OK)
        status = put_template_env(resolver);
    for (size_t i = 0; i < of_set->count && status == AS_OK; i++) {
        const char *text = NULL;
        status = fill_set_word(resolver, of_set->items[i].value, &text);
        if (status == AS_OK)
            status = put_env(resolver, of_set->items[i].name, text);
    }
    if (resolver->env_count > 0)
        qsort(resolver->env, resolver->env_count, sizeof(*resolver->env), by_name);
    return status;
}

static as_status set_builtin(struct resolver *resolver, size_t index, const char *name, struct words *words)
{
    struct recipe_value *value = &resolver->builtins[index];
    bool is_of_set = index == BUILTIN_ENGINE_ARGS;
    *value = (struct recipe_value){.name = name,
                                   .kind = RECIPE_LIST,
                                   .layer = is_of_set ? RECIPE_FROM_SET : RECIPE_FROM_PLAN,
                                   .origin = is_of_set && resolver->job->set ? resolver->job->set->code : NULL};
    return words_finish(words, &value->list, resolver->err);
}

static as_status make_engine_args(struct resolver *resolver)
{
    const struct recipe_job *job = resolver->job;
    struct recipe_list rendered = {0};
    struct words words;
    words_init(&words, resolver->arena);
    as_status status = AS_OK;
    if (job->set && job->framework)
        status = recipe_set_render(job->framework, job->set, resolver->arena, &rendered, resolver->err);
    for (size_t i = 0; i < rendered.count && status == AS_OK; i++) {
        const char *text = NULL;
        status = fill_set_word(resolver, rendered.items[i], &text);
        words_add(&words, text ? text : "");
    }
    return status == AS_OK ? set_builtin(resolver, BUILTIN_ENGINE_ARGS, "engine_args", &words) : status;
}

static as_status make_builtins(struct resolver *resolver)
{
    const struct recipe_list *secrets = &resolver->job->item->secrets;
    struct words pairs, names;
    as_status status = make_engine_args(resolver);
    if (status == AS_OK)
        status = make_env(resolver);
    if (status != AS_OK)
        return status;
    words_init(&pairs, resolver->arena);
    words_init(&names, resolver->arena);
    for (size_t i = 0; i < resolver->env_count; i++) {
        words_addf(&pairs, "%s=%s", resolver->env[i].name, resolver->env[i].value);
        words_add(&names, resolver->env[i].name);
    }
    resolver->builtins[BUILTIN_SECRETS] =
        (struct recipe_value){.name = "secrets", .kind = RECIPE_LIST, .list = *secrets, .layer = RECIPE_FROM_TEMPLATE};
    status = set_builtin(resolver, BUILTIN_ENV, "env", &pairs);
    return status == AS_OK ? set_builtin(resolver, BUILTIN_ENV_NAMES, "env_names", &names) : status;
}

struct file_writer {
    struct resolver *resolver;
    struct json_writer writer;
    bool is_inside; /* below the file itself: members have keys */
};

/* A text that is one placeholder keeps the value's kind: numbers, flags and lists are no texts. */
static as_status put_file_text(struct resolver *resolver, const char *word, struct json_writer *writer)
{
    size_t len = 0;
    double number = 0;
    const char *name = sole_placeholder(word, &len), *text = NULL;
    const struct recipe_value *value = name ? find_value(resolver, name, len) : NULL;
    if (value && value->kind == RECIPE_LIST) {
        put_list(writer, &value->list);
        return note_use(resolver, value);
    }
    as_status status = fill_word(resolver, word, &text);
    if (status != AS_OK)
        return status;
    bool is_number = has_value(value) && value->kind == RECIPE_NUMBER && json_text_double(text, strlen(text), &number);
    bool is_flag =
        has_value(value) && value->kind == RECIPE_FLAG && (strcmp(text, "true") == 0 || strcmp(text, "false") == 0);
    if (is_number || is_flag)
        json_put_raw(writer, text, strlen(text));
    else
        json_put_string(writer, text);
    return AS_OK;
}

static as_status put_file_part(void *context, const struct json_value *value, enum tree_event event)
{
    struct file_writer *file = context;
    if (event == TREE_CLOSE) {
        if (value->type == JSON_OBJECT)
            json_close_object(&file->writer);
        else
            json_close_array(&file->writer);
        return AS_OK;
    }
    if (file->is_inside && value->key)
        json_keyn(&file->writer, value->key, value->key_len);
    file->is_inside = true;
    if (event == TREE_OPEN && value->type == JSON_OBJECT)
        json_open_object(&file->writer);
    else if (event == TREE_OPEN)
        json_open_array(&file->writer);
    else if (value->type == JSON_STRING)
        return put_file_text(file->resolver, value->text, &file->writer);
    else
        json_put_value(&file->writer, value);
    return AS_OK;
}

static as_status make_file(struct resolver *resolver, const struct json_value *json, struct recipe_pair *ret)
{
    struct strbuf out AS_AUTO_STRBUF;
    struct file_writer file = {.resolver = resolver};
    strbuf_init(&out, 0);
    json_writer_init(&file.writer, &out, 2);
    as_status status = tree_walk(json, put_file_part, &file);
    if (status != AS_OK)
        return status;
    strbuf_addc(&out, '\n');
    status = json_writer_status(&file.writer);
    if (status != AS_OK)
        return error_set(resolver->err, status, "the file %.64s of %.64s cannot be written", json->key,
                         resolver->job->item->code);
    ret->name = json->key;
    ret->value = arena_strndup(resolver->arena, strbuf_text(&out), out.len);
    return ret->value ? AS_OK : error_set(resolver->err, AS_E_NOMEM, "no memory");
}

static as_status make_files(struct resolver *resolver, struct recipe_pairs *ret)
{
    const struct json_value *files = resolver->job->item->files;
    if (!files)
        return AS_OK;
    struct recipe_pair *items = arena_calloc(resolver->arena, files->len + 1, sizeof(*items));
    size_t count = 0;
    if (!items)
        return error_set(resolver->err, AS_E_NOMEM, "no memory");
    for (const struct json_value *file = files->first; file; file = file->next) {
        as_status status = make_file(resolver, file, &items[count++]);
        if (status != AS_OK)
            return status;
    }
    qsort(items, count, sizeof(*items), by_name);
    *ret = (struct recipe_pairs){items, count};
    return AS_OK;
}

static const char *list_text(struct arena *arena, const struct recipe_list *list)
{
    struct strbuf out AS_AUTO_STRBUF;
    struct json_writer writer;
    strbuf_init(&out, 0);
    json_writer_init(&writer, &out, 0);
    put_list(&writer, list);
    return json_writer_status(&writer) == AS_OK ? arena_strndup(arena, strbuf_text(&out), out.len) : NULL;
}

static int by_binding(const void *a, const void *b)
{
    return strcmp(((const struct recipe_binding *)a)->name, ((const struct recipe_binding *)b)->name);
}

static as_status make_bindings(struct resolver *resolver, struct recipe_command *command)
{
    struct recipe_binding *items = arena_calloc(resolver->arena, resolver->used_count + 1, sizeof(*items));
    if (!items)
        return error_set(resolver->err, AS_E_NOMEM, "no memory");
    for (size_t i = 0; i < resolver->used_count; i++) {
        const struct recipe_value *value = resolver->used[i];
        const char *text = value->kind == RECIPE_LIST ? list_text(resolver->arena, &value->list) : value->text;
        if (!text)
            return error_set(resolver->err, AS_E_NOMEM, "no memory");
        items[i] = (struct recipe_binding){value->name, text, value->layer,
                                           value->origin ? value->origin : recipe_layer_name(value->layer)};
    }
    if (resolver->used_count > 0)
        qsort(items, resolver->used_count, sizeof(*items), by_binding);
    command->bindings = items;
    command->binding_count = resolver->used_count;
    return AS_OK;
}

static as_status check_values(const struct recipe_job *job, struct as_error *err)
{
    for (size_t i = 0; i < job->values.count; i++) {
        const struct recipe_value *value = &job->values.items[i];
        if (!is_placeholder_name(value->name, strlen(value->name)))
            return error_set(err, AS_E_INVALID, "\"%.64s\" is no name of a placeholder: a-z, 0-9 and _", value->name);
        if (recipe_is_secret_name(value->name))
            return error_set(err, AS_E_INVALID,
                             "%.64s is a secret: give the name of the environment variable that holds it", value->name);
        if (is_on(value) && recipe_list_has(&job->item->refuses, value->name))
            return error_set(err, AS_E_INVALID,
                             "%.64s cannot honour %.64s, which the %s gives: leave it out, or use another tool",
                             job->item->code, value->name, recipe_layer_name(value->layer));
    }
    return AS_OK;
}

static as_status resolve(struct resolver *resolver, struct recipe_command *command)
{
    const struct recipe_template *item = resolver->job->item;
    struct words words;
    words_init(&words, resolver->arena);
    words_init(&resolver->missing, resolver->arena);
    command->template_code = item->code;
    command->secrets = item->secrets;
    as_status status = check_values(resolver->job, resolver->err);
    if (status == AS_OK)
        status = make_builtins(resolver);
    for (const struct json_value *element = item->argv->first; element && status == AS_OK; element = element->next)
        status = add_element(resolver, element, &words);
    if (status == AS_OK)
        status = words_finish(&words, &command->argv, resolver->err);
    if (status == AS_OK)
        status = make_files(resolver, &command->files);
    command->env = (struct recipe_pairs){resolver->env, resolver->env_count};
    return status == AS_OK ? make_bindings(resolver, command) : status;
}

as_status recipe_resolve(const struct recipe_job *job, struct arena *arena, struct recipe_command *ret,
                         struct as_error *err)
{
    struct resolver resolver = {.job = job, .arena = arena, .err = err};
    struct recipe_command command = {0};
    as_status status = resolve(&resolver, &command);
    if (status == AS_OK)
        *ret = command;
    return status;
}

as_status recipe_unresolved(const struct recipe_job *job, struct arena *arena, struct recipe_list *ret,
                            struct as_error *err)
{
    struct resolver resolver = {.job = job, .arena = arena, .err = err, .collects = true};
    struct recipe_command command = {0};
    as_status status = resolve(&resolver, &command);
    return status == AS_OK ? words_finish(&resolver.missing, ret, err) : status;
}
