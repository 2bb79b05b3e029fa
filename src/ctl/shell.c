/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/shell.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define INDENT   2
#define PAGE_MAX 500

as_status shell_no_memory(const struct shell *shell)
{
    return error_set(shell->err, AS_E_NOMEM, "out of memory");
}

as_status shell_write(const struct shell *shell, const struct strbuf *text)
{
    as_status status = strbuf_status(text);
    if (status != AS_OK)
        return error_set(shell->err, status, "what is to be shown: %s", status_sentence(status));
    if (shell->output->write(shell->output->context, strbuf_text(text), text->len) != AS_OK)
        return error_set(shell->err, AS_E_IO, "standard output cannot be written");
    return AS_OK;
}

void shell_note(const struct shell *shell, const char *fmt, ...)
{
    char sentence[512];
    va_list args;
    va_start(args, fmt);
    vsnprintf(sentence, sizeof sentence, fmt, args);
    va_end(args);
    shell->output->note(shell->output->context, sentence);
}

as_status shell_write_json(const struct shell *shell, const struct json_value *value)
{
    struct strbuf text AS_AUTO_STRBUF;
    struct json_writer writer;
    strbuf_init(&text, 0);
    json_writer_init(&writer, &text, INDENT);
    json_put_value(&writer, value);
    strbuf_addc(&text, '\n');
    return shell_write(shell, &text);
}

as_status shell_write_table(const struct shell *shell, const struct json_value *rows, const char *columns)
{
    struct strbuf text AS_AUTO_STRBUF;
    struct table_columns shown = {.count = 0};
    as_status status = AS_OK;
    strbuf_init(&text, 0);
    for (size_t i = 0; status == AS_OK && i < shell->settings->columns.count; i++)
        status = table_columns_add(&shown, shell->settings->columns.items[i], shell->arena);
    if (status == AS_OK && shown.count == 0)
        status = table_columns_add(&shown, columns, shell->arena);
    if (status == AS_OK)
        status = table_write(&text, rows, &shown, shell->settings->width, shell->arena);
    return status == AS_OK ? shell_write(shell, &text) : shell_no_memory(shell);
}

as_status shell_write_object(const struct shell *shell, const struct json_value *object)
{
    struct strbuf text AS_AUTO_STRBUF;
    strbuf_init(&text, 0);
    if (!object || object->type != JSON_OBJECT)
        return error_set(shell->err, AS_E_NETWORK, "the server's answer is no JSON object");
    if (shell->settings->is_json)
        return shell_write_json(shell, object);
    table_write_object(&text, object);
    return shell_write(shell, &text);
}

as_status shell_kind(const struct shell *shell, const char *name, const struct ctl_kind **ret)
{
    const struct ctl_kind *kind = kind_find(name);
    if (!kind)
        return error_set(shell->err, AS_E_USAGE, "%.60s is no kind of thing; \"assay ctl kinds\" lists them", name);
    *ret = kind;
    return AS_OK;
}

/* One word that holds all keys, "/" between them; only the last may hold one itself. */
static as_status split_keys(const struct shell *shell, const char *word, size_t count, const char *ret[KIND_KEYS_MAX])
{
    for (size_t i = 0; i < count; i++) {
        const size_t len = i + 1 < count ? strcspn(word, "/") : strlen(word);
        ret[i] = arena_strndup(shell->arena, word, len);
        if (!ret[i])
            return shell_no_memory(shell);
        word += len;
        word += *word == '/';
    }
    return AS_OK;
}

as_status shell_keys(const struct shell *shell, const struct ctl_kind *kind, size_t *ret_at,
                     const char *ret[KIND_KEYS_MAX])
{
    const size_t count = kind_key_count(kind);
    size_t given = 0;
    as_status status = AS_OK;
    while (*ret_at + given < shell->count && given < count && !strchr(shell->words[*ret_at + given], '='))
        given++;
    if (given == 1 && count > 1)
        status = split_keys(shell, shell->words[*ret_at], count, ret);
    else
        for (size_t i = 0; i < given; i++)
            ret[i] = shell->words[*ret_at + i];
    if (status == AS_OK && given > 1 && given + 1 == count && kind->key_default)
        ret[given] = kind->key_default;
    else if (status == AS_OK && given != count && given != 1)
        given = 0;
    bool is_complete = given > 0;
    for (size_t i = 0; is_complete && i < count; i++)
        is_complete = ret[i] && *ret[i];
    if (status == AS_OK && !is_complete) {
        struct strbuf names AS_AUTO_STRBUF;
        strbuf_init(&names, 0);
        for (size_t i = 0; i < count; i++)
            strbuf_addf(&names, "%s%s", i ? " " : "", kind->keys[i]);
        return error_set(shell->err, AS_E_USAGE, "a %s is named by: %s", kind->singular, strbuf_text(&names));
    }
    *ret_at += given;
    return status;
}

as_status shell_post(struct shell *shell, const char *path, const struct strbuf *body, struct client_answer *ret)
{
    if (strbuf_status(body) != AS_OK)
        return shell_no_memory(shell);
    const struct client_call call = {.method = "POST", .path = path, .body = strbuf_text(body), .body_len = body->len};
    return client_run(&shell->client, &call, ret, shell->err);
}

as_status shell_add_filters(const struct shell *shell, struct strbuf *path, bool *is_first)
{
    for (size_t i = 0; i < shell->settings->filters.count; i++) {
        const char *filter = shell->settings->filters.items[i];
        const char *value = strstr(filter, ": ");
        char *name = value ? arena_strndup(shell->arena, filter, (size_t)(value - filter)) : NULL;
        if (!name)
            return shell_no_memory(shell);
        strbuf_addc(path, *is_first ? '?' : '&');
        *is_first = false;
        kind_add_escaped(path, name);
        strbuf_addc(path, '=');
        kind_add_escaped(path, value + 2);
    }
    return strbuf_status(path) == AS_OK ? AS_OK : shell_no_memory(shell);
}

/* A page's address. */
static as_status page_path(const struct shell *shell, const char *path, const char *cursor, int64_t limit,
                           struct strbuf *ret)
{
    bool is_first = false;
    strbuf_addf(ret, "%s?limit=%lld", path, (long long)limit);
    if (shell->settings->sort) {
        strbuf_adds(ret, "&sort=");
        kind_add_escaped(ret, shell->settings->sort);
    }
    if (cursor) {
        strbuf_adds(ret, "&cursor=");
        kind_add_escaped(ret, cursor);
    }
    return shell_add_filters(shell, ret, &is_first);
}

/* Adds a page's rows; *ret_cursor is the next page's or NULL. */
static as_status add_page(struct shell *shell, const char *path, struct json_writer *rows, int64_t *left,
                          const char **ret_cursor)
{
    struct strbuf url AS_AUTO_STRBUF;
    struct client_answer answer = {0};
    strbuf_init(&url, 0);
    as_status status = page_path(shell, path, *ret_cursor, *left < PAGE_MAX ? *left : PAGE_MAX, &url);
    if (status != AS_OK)
        return status;
    status = client_run(&shell->client, &(struct client_call){.path = url.data}, &answer, shell->err);
    if (status != AS_OK)
        return status;
    const struct json_value *items = json_get(answer.json, "items");
    if (!items || items->type != JSON_ARRAY)
        return error_set(shell->err, AS_E_NETWORK, "the server's answer is no list: is it a control plane?");
    *ret_cursor = NULL;
    (void)json_string(json_get(answer.json, "next"), ret_cursor);
    for (const struct json_value *item = items->first; item && *left > 0; item = item->next, *left -= 1)
        json_put_value(rows, item);
    if (!items->first)
        *ret_cursor = NULL;
    return AS_OK;
}

as_status shell_list(struct shell *shell, const char *path, const struct json_value **ret)
{
    struct strbuf text AS_AUTO_STRBUF;
    struct json_writer rows;
    const char *cursor = NULL;
    int64_t left = shell->settings->limit;
    as_status status;
    strbuf_init(&text, 0);
    json_writer_init(&rows, &text, 0);
    json_open_array(&rows);
    do {
        status = add_page(shell, path, &rows, &left, &cursor);
    } while (status == AS_OK && cursor && left > 0);
    json_close_array(&rows);
    if (status != AS_OK)
        return status;
    if (cursor)
        shell_note(shell, "there are more than %lld; --limit shows more", (long long)shell->settings->limit);
    char *copy = json_writer_status(&rows) == AS_OK ? arena_strndup(shell->arena, text.data, text.len) : NULL;
    if (!copy)
        return shell_no_memory(shell);
    return json_parse(copy, text.len, NULL, shell->arena, ret, shell->err);
}
