/* SPDX-License-Identifier: Apache-2.0 */
#include "workload/endpoints.h"
#include "base/file.h"
#include "base/json.h"
#include "base/url.h"
#include "options/yaml_tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A file being read. */
struct source {
    struct endpoint_list *list;
    const char *name;
    const char *text;
    size_t len;
    int64_t first_line; /* line of the text's start in the file */
};

/* A copy of `len` bytes and a NUL; NULL without memory. */
static char *copy_bytes(const char *text, size_t len)
{
    char *copy = malloc(len + 1);
    if (!copy)
        return NULL;
    memcpy(copy, text, len);
    copy[len] = '\0';
    return copy;
}

/* Two pieces joined. */
static char *join(const char *first, size_t first_len, const char *second)
{
    size_t second_len = strlen(second);
    char *joined = malloc(first_len + second_len + 1);
    if (!joined)
        return NULL;
    memcpy(joined, first, first_len);
    memcpy(joined + first_len, second, second_len + 1);
    return joined;
}

/* Frees a text that may be a key. */
static void free_secret(char *text)
{
    if (!text)
        return;
    explicit_bzero(text, strlen(text));
    free(text);
}

static void spec_done(struct endpoint_spec *spec)
{
    free_secret(spec->url); /* its query may hold a key */
    free(spec->name);
    free(spec->api_key_env);
    free_secret(spec->api_key);
    *spec = (struct endpoint_spec){0};
}

void endpoints_init(struct endpoint_list *list)
{
    *list = (struct endpoint_list){0};
}

static void truncate_list(struct endpoint_list *list, size_t count)
{
    while (list->count > count)
        spec_done(&list->items[--list->count]);
}

void endpoints_done(struct endpoint_list *list)
{
    if (!list)
        return;
    truncate_list(list, 0);
    free(list->items);
    free_secret(list->path);
    *list = (struct endpoint_list){0};
}

static as_status no_memory(struct as_error *err)
{
    return error_set(err, AS_E_NOMEM, "no memory for the endpoints");
}

/* Takes over the spec's strings, also on failure. */
static as_status add_spec(struct endpoint_list *list, struct endpoint_spec *take_spec, struct as_error *err)
{
    if (list->count == ENDPOINTS_MAX) {
        spec_done(take_spec);
        return error_set(err, AS_E_LIMIT, "more than %d endpoints", ENDPOINTS_MAX);
    }
    if (list->count == list->capacity) {
        size_t capacity = list->capacity ? list->capacity * 2 : 8;
        struct endpoint_spec *items = realloc(list->items, capacity * sizeof *items);
        if (!items) {
            spec_done(take_spec);
            return no_memory(err);
        }
        list->items = items;
        list->capacity = capacity;
    }
    list->items[list->count++] = *take_spec;
    return AS_OK;
}

/* Where the host begins: behind the scheme and the user-info. */
static const char *host_of(const char *url, const char **ret_authority)
{
    const char *scheme_end = strstr(url, "://");
    const char *authority = scheme_end ? scheme_end + 3 : url;
    const char *at = memrchr(authority, '@', strcspn(authority, "/?#"));
    *ret_authority = authority;
    return at ? at + 1 : authority;
}

static bool is_url_text(const char *url)
{
    const char *authority, *host = host_of(url, &authority);
    if (!url[0] || (host > authority && (!*host || strchr("/?#", *host))))
        return false;
    for (const char *at = url; *at; at++)
        if ((unsigned char)*at <= 0x20 || *at == 0x7F)
            return false;
    return true;
}

as_status endpoints_add_url(struct endpoint_list *list, const char *url, struct as_error *err)
{
    if (!is_url_text(url))
        return error_set(err, AS_E_USAGE,
                         "a URL is empty, or has white space or no host in it: give for example http://127.0.0.1:8000");
    struct endpoint_spec spec = {.url = copy_bytes(url, strlen(url)), .weight = 1};
    if (!spec.url)
        return no_memory(err);
    return add_spec(list, &spec, err);
}

as_status endpoints_add_value(struct endpoint_list *list, const char *value, struct as_error *err)
{
    if (value[0] != '/')
        return endpoints_add_url(list, value, err);
    if (!is_url_text(value))
        return error_set(err, AS_E_USAGE, "\"%.200s\" is no path: white space is not possible in it", value);
    char *path = copy_bytes(value, strlen(value));
    if (!path)
        return no_memory(err);
    free_secret(list->path);
    list->path = path;
    return AS_OK;
}

/* An error at a value of the source; `what` is a sentence. */
static as_status fault(const struct source *source, const struct json_value *at, struct as_error *err, const char *what,
                       const char *name)
{
    int64_t line = source->first_line + (int64_t)yaml_line(source->text, source->len, at) - 1;
    return error_set_at(err, AS_E_INVALID, line, at->offset, "%s, line %lld: %s%s", source->name, (long long)line, what,
                        name);
}

static as_status copy_text(const struct json_value *value, char **ret)
{
    char *copy = copy_bytes(value->text, value->len);
    if (!copy)
        return AS_E_NOMEM;
    free_secret(*ret);
    *ret = copy;
    return AS_OK;
}

/* A string without control characters, not empty. */
static bool is_plain_text(const struct json_value *value)
{
    if (value->type != JSON_STRING || value->len == 0 || strlen(value->text) != value->len)
        return false;
    for (const char *at = value->text; *at; at++)
        if ((unsigned char)*at < 0x20 || *at == 0x7F)
            return false;
    return true;
}

static as_status take_weight(const struct source *source, const struct json_value *value, struct endpoint_spec *spec,
                             struct as_error *err)
{
    int64_t weight;
    if (!json_int64(value, &weight) || weight < 1 || weight > ENDPOINT_WEIGHT_MAX)
        return fault(source, value, err, "weight must be a whole number from 1 to 1000000", "");
    spec->weight = (uint32_t)weight;
    return AS_OK;
}

static as_status take_key_env(const struct source *source, const struct json_value *value, struct endpoint_spec *spec,
                              struct as_error *err)
{
    const char *key = getenv(value->text);
    if (!key || !key[0])
        return fault(source, value, err,
                     "api_key_env is the NAME of an environment variable, and there is none, or an empty one, of that "
                     "name; set it",
                     "");
    char *copy = copy_bytes(key, strlen(key));
    if (!copy)
        return no_memory(err);
    free_secret(spec->api_key);
    spec->api_key = copy;
    return copy_text(value, &spec->api_key_env) == AS_OK ? AS_OK : no_memory(err);
}

static as_status take_member(const struct source *source, const struct json_value *member, struct endpoint_spec *spec,
                             struct as_error *err)
{
    bool is_url = strcmp(member->key, "url") == 0, is_name = strcmp(member->key, "name") == 0;
    bool is_key = strcmp(member->key, "api_key") == 0, is_key_env = strcmp(member->key, "api_key_env") == 0;
    if (strcmp(member->key, "weight") == 0)
        return take_weight(source, member, spec, err);
    if (!is_url && !is_name && !is_key && !is_key_env) {
        char shown[64];
        snprintf(shown, sizeof shown, "%s", member->key);
        return fault(source, member, err,
                     "an endpoint has the members url, name, weight, api_key and api_key_env, but no ", shown);
    }
    if (!is_plain_text(member))
        return fault(source, member, err, "it must be a text, not empty and without control characters: ", member->key);
    if (is_key_env)
        return take_key_env(source, member, spec, err);
    if (is_url && !is_url_text(member->text))
        return fault(source, member, err, "it is no URL: give for example http://127.0.0.1:8000", "");
    char **target = is_url ? &spec->url : is_name ? &spec->name : &spec->api_key;
    return copy_text(member, target) == AS_OK ? AS_OK : no_memory(err);
}

static as_status read_mapping(const struct source *source, const struct json_value *value, struct endpoint_spec *spec,
                              struct as_error *err)
{
    for (const struct json_value *member = value->first; member; member = member->next) {
        as_status status = take_member(source, member, spec, err);
        if (status != AS_OK)
            return status;
    }
    if (!spec->url)
        return fault(source, value, err, "the endpoint has no url", "");
    if (json_get(value, "api_key") && json_get(value, "api_key_env"))
        return fault(source, value, err, "the endpoint has api_key and api_key_env: give one of them", "");
    return AS_OK;
}

static as_status take_endpoint(const struct source *source, const struct json_value *value, struct as_error *err)
{
    struct endpoint_spec spec = {.weight = 1};
    as_status status = AS_OK;
    if (value->type == JSON_STRING && is_plain_text(value) && is_url_text(value->text))
        status = copy_text(value, &spec.url) == AS_OK ? AS_OK : no_memory(err);
    else if (value->type == JSON_OBJECT)
        status = read_mapping(source, value, &spec, err);
    else
        status = fault(source, value, err, "an endpoint is a URL, or a mapping with a member url", "");
    if (status != AS_OK) {
        spec_done(&spec);
        return status;
    }
    return add_spec(source->list, &spec, err);
}

static as_status take_list(const struct source *source, const struct json_value *list, struct as_error *err)
{
    if (list->type != JSON_ARRAY)
        return fault(source, list, err, "a list of endpoints is expected", "");
    for (const struct json_value *item = list->first; item; item = item->next) {
        as_status status = take_endpoint(source, item, err);
        if (status != AS_OK)
            return status;
    }
    return AS_OK;
}

/* The whole document: a list, {endpoints: list}, or a single endpoint. */
static as_status take_document(const struct source *source, const struct json_value *root, struct as_error *err)
{
    if (root->type != JSON_OBJECT)
        return take_list(source, root, err);
    const struct json_value *list = json_get(root, "endpoints");
    if (!list)
        return take_endpoint(source, root, err);
    if (root->first->next)
        return fault(source, root, err, "beside endpoints nothing else is known here", "");
    return take_list(source, list, err);
}

static bool is_blank(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (text[i] != ' ' && text[i] != '\t' && text[i] != '\r')
            return false;
    return true;
}

/* One endpoint a line. */
static as_status take_json_lines(const struct source *whole, struct arena *arena, struct as_error *err)
{
    const char *at = whole->text, *end = at + whole->len;
    for (int64_t line = 1; at < end; line++) {
        const char *line_end = memchr(at, '\n', (size_t)(end - at));
        size_t len = (size_t)((line_end ? line_end : end) - at);
        struct source source = {whole->list, whole->name, at, len, line};
        const struct json_value *value;
        if (!is_blank(at, len)) {
            as_status status = json_parse_line(at, len, arena, &value, err);
            if (status != AS_OK)
                return error_prefix(err, "%s, line %lld", whole->name, (long long)line);
            status = take_endpoint(&source, value, err);
            if (status != AS_OK)
                return status;
        }
        at += len + (line_end != NULL);
    }
    return AS_OK;
}

/* True when the text is JSON lines: its first line alone is a JSON object and there is a second one. */
static bool is_json_lines(const char *text, size_t len)
{
    const char *line_end = memchr(text, '\n', len);
    if (len == 0 || text[0] != '{' || !line_end)
        return false;
    if (is_blank(line_end + 1, len - (size_t)(line_end + 1 - text)))
        return false;
    return json_cursor_validate(text, (size_t)(line_end - text), NULL);
}

static as_status read_source(const struct source *source, struct arena *arena, struct as_error *err)
{
    const struct json_value *root;
    if (is_json_lines(source->text, source->len))
        return take_json_lines(source, arena, err);
    bool is_json = source->len > 0 && (source->text[0] == '{' || source->text[0] == '[');
    as_status status = is_json ? json_parse(source->text, source->len, NULL, arena, &root, NULL) : AS_E_INVALID;
    if (status == AS_E_NOMEM)
        return no_memory(err);
    if (status != AS_OK)
        status = yaml_parse(source->text, source->len, arena, &root, err);
    if (status != AS_OK)
        return error_prefix(err, "%s", source->name);
    return take_document(source, root, err);
}

as_status endpoints_parse(struct endpoint_list *list, const char *text, size_t len, const char *name,
                          struct as_error *err)
{
    struct arena arena;
    size_t before = list->count;
    if (len >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) {
        text += 3;
        len -= 3;
    }
    struct source source = {list, name, text, len, 1};
    arena_init(&arena, 0, 16 * ENDPOINTS_FILE_MAX_BYTES);
    as_status status = read_source(&source, &arena, err);
    arena_done(&arena);
    if (status == AS_OK && list->count == before)
        status = error_set(err, AS_E_INVALID, "%s names no endpoint: give a list with at least one url", name);
    if (status != AS_OK)
        truncate_list(list, before);
    return status;
}

as_status endpoints_load(struct endpoint_list *list, const char *path, struct as_error *err)
{
    struct strbuf text;
    strbuf_init(&text, ENDPOINTS_FILE_MAX_BYTES);
    as_status status = file_read(path, &text, err);
    if (status == AS_OK)
        status =
            endpoints_parse(list, strbuf_text(&text), text.len, strcmp(path, "-") == 0 ? "standard input" : path, err);
    if (text.data)
        explicit_bzero(text.data, text.capacity);
    strbuf_done(&text);
    return status;
}

static bool ends_with(const char *text, size_t len, const char *end)
{
    size_t end_len = strlen(end);
    return len >= end_len && memcmp(text + len - end_len, end, end_len) == 0;
}

/* url + path, with one slash between them and "/v1" once; then the queries of both. */
static as_status join_path(struct endpoint_spec *spec, const char *path)
{
    struct strbuf joined AS_AUTO_STRBUF;
    size_t before_query = strcspn(spec->url, "?#"), len = before_query, path_len = strcspn(path, "?#");
    const char *query = spec->url + before_query;
    strbuf_init(&joined, 0);
    while (len > 0 && spec->url[len - 1] == '/')
        len--;
    size_t skipped = ends_with(spec->url, len, "/v1") && strncmp(path, "/v1/", 4) == 0 ? 3 : 0;
    strbuf_add(&joined, spec->url, len);
    if (len >= 5 && memcmp(spec->url, "unix:", 5) == 0 && !memmem(spec->url + 5, len - 5, ":/", 2))
        strbuf_addc(&joined, ':'); /* unix:SOCKET:/PATH */
    strbuf_add(&joined, path + skipped, path_len - skipped);
    strbuf_adds(&joined, query);
    if (*query == '?' && path[path_len] == '?')
        strbuf_addf(&joined, "&%s", path + path_len + 1);
    else
        strbuf_adds(&joined, path + path_len);
    char *copy = strbuf_status(&joined) == AS_OK ? copy_bytes(strbuf_text(&joined), joined.len) : NULL;
    if (joined.data)
        explicit_bzero(joined.data, joined.len);
    if (!copy)
        return AS_E_NOMEM;
    free_secret(spec->url);
    spec->url = copy;
    return AS_OK;
}

/* The URL without user-info and keys. */
static char *shown_url(const char *url)
{
    struct strbuf shown AS_AUTO_STRBUF;
    const char *authority, *host = host_of(url, &authority);
    strbuf_init(&shown, 0);
    strbuf_add(&shown, url, (size_t)(authority - url));
    url_add_query_shown(&shown, host);
    return strbuf_status(&shown) == AS_OK ? copy_bytes(strbuf_text(&shown), shown.len) : NULL;
}

static bool name_is_taken(const struct endpoint_list *list, const char *name, size_t except)
{
    for (size_t i = 0; i < list->count; i++)
        if (i != except && list->items[i].name && strcmp(list->items[i].name, name) == 0)
            return true;
    return false;
}

/* Names a nameless endpoint by its URL. */
static as_status name_endpoint(struct endpoint_list *list, size_t index)
{
    char suffix[16] = "";
    char *shown = shown_url(list->items[index].url);
    if (!shown)
        return AS_E_NOMEM;
    char *name = join(shown, strlen(shown), suffix);
    for (int copy = 2; name && name_is_taken(list, name, index); copy++) {
        free(name);
        snprintf(suffix, sizeof suffix, "#%d", copy);
        name = join(shown, strlen(shown), suffix);
    }
    free(shown);
    list->items[index].name = name;
    return name ? AS_OK : AS_E_NOMEM;
}

as_status endpoints_finish(struct endpoint_list *list, struct as_error *err)
{
    if (list->count == 0)
        return error_set(err, AS_E_USAGE,
                         "no endpoint is given: give --url URL, for example --url http://127.0.0.1:8000");
    for (size_t i = 0; i < list->count; i++) {
        const char *name = list->items[i].name;
        if (name && name_is_taken(list, name, i))
            return error_set(err, AS_E_USAGE, "two endpoints are named \"%.100s\": give each its own name", name);
    }
    for (size_t i = 0; i < list->count; i++) {
        as_status status = list->path ? join_path(&list->items[i], list->path) : AS_OK;
        if (status == AS_OK && !list->items[i].name)
            status = name_endpoint(list, i);
        if (status != AS_OK)
            return no_memory(err);
    }
    return AS_OK;
}
