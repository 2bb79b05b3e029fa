/* SPDX-License-Identifier: Apache-2.0 */
/* get, create, set, retire, kinds, token create, whoami, version. */
#include "base/file.h"
#include "ctl/shell.h"
#include "options/yaml_tree.h"

#include <string.h>

#define FILE_MAX ((size_t)16 * 1024 * 1024)

/* Adds a "MEMBER=TEXT" or "MEMBER:=JSON" word as a member. */
static as_status add_member(const struct shell *shell, struct json_writer *body, const char *word)
{
    const char *equals = strchr(word, '=');
    if (!equals || equals == word)
        return error_set(shell->err, AS_E_USAGE, "\"%.80s\" is neither MEMBER=TEXT nor MEMBER:=JSON", word);
    const bool is_json = equals[-1] == ':';
    const size_t len = (size_t)(equals - word) - is_json;
    json_keyn(body, word, len);
    if (!is_json) {
        json_put_string(body, equals + 1);
        return AS_OK;
    }
    if (!json_cursor_validate(equals + 1, strlen(equals + 1), NULL))
        return error_set(shell->err, AS_E_USAGE, "%.*s: what follows := is no JSON", (int)len, word);
    json_put_raw(body, equals + 1, strlen(equals + 1));
    return AS_OK;
}

/* Members of the file given with --file. */
static as_status add_file(const struct shell *shell, struct json_writer *body)
{
    struct strbuf text AS_AUTO_STRBUF;
    const struct json_value *root = NULL;
    strbuf_init(&text, FILE_MAX);
    as_status status = file_read(shell->settings->file, &text, shell->err);
    if (status == AS_OK) {
        status = yaml_parse(strbuf_text(&text), text.len, shell->arena, &root, shell->err);
        if (status != AS_OK)
            return error_prefix(shell->err, "%s", shell->settings->file);
        if (root->type != JSON_OBJECT)
            return error_set(shell->err, AS_E_INVALID, "%s: is no mapping of members", shell->settings->file);
        for (const struct json_value *member = root->first; member; member = member->next) {
            json_keyn(body, member->key, member->key_len);
            json_put_value(body, member);
        }
    }
    return status;
}

static as_status make_body(const struct shell *shell, size_t at, struct strbuf *ret)
{
    struct json_writer body;
    as_status status = AS_OK;
    json_writer_init(&body, ret, 0);
    json_open_object(&body);
    if (shell->settings->file)
        status = add_file(shell, &body);
    for (; status == AS_OK && at < shell->count; at++)
        status = add_member(shell, &body, shell->words[at]);
    json_close_object(&body);
    if (status == AS_OK && json_writer_status(&body) != AS_OK)
        return shell_no_memory(shell);
    return status;
}

as_status verb_kinds(struct shell *shell)
{
    struct strbuf text AS_AUTO_STRBUF;
    size_t count;
    const struct ctl_kind *kinds = kind_list(&count);
    strbuf_init(&text, 0);
    for (size_t i = 0; i < count; i++) {
        strbuf_addf(&text, "%-23s", kinds[i].path);
        for (size_t k = 0; k < kind_key_count(&kinds[i]); k++)
            strbuf_addf(&text, "%s%s", k ? " / " : "", kinds[i].keys[k]);
        strbuf_addc(&text, '\n');
    }
    return shell_write(shell, &text);
}

as_status verb_get(struct shell *shell)
{
    struct strbuf path AS_AUTO_STRBUF;
    const struct ctl_kind *kind = NULL;
    const struct json_value *rows = NULL;
    const char *keys[KIND_KEYS_MAX] = {NULL};
    struct client_answer answer = {0};
    size_t at = 1;
    strbuf_init(&path, 0);
    as_status status = shell_kind(shell, shell->words[0], &kind);
    if (status != AS_OK)
        return status;
    if (shell->count == 1) {
        kind_add_path(&path, kind, NULL, 0);
        status = strbuf_status(&path) == AS_OK ? shell_list(shell, path.data, &rows) : shell_no_memory(shell);
        if (status != AS_OK)
            return status;
        return shell->settings->is_json ? shell_write_json(shell, rows) : shell_write_table(shell, rows, kind->columns);
    }
    status = shell_keys(shell, kind, &at, keys);
    if (status == AS_OK && at < shell->count)
        status = error_set(shell->err, AS_E_USAGE, "\"%.80s\" is one word too many", shell->words[at]);
    if (status != AS_OK)
        return status;
    kind_add_path(&path, kind, keys, kind_key_count(kind));
    status = client_run(&shell->client, &(struct client_call){.path = strbuf_text(&path)}, &answer, shell->err);
    return status == AS_OK ? shell_write_object(shell, answer.json) : status;
}

static as_status create(struct shell *shell, const struct ctl_kind *kind, const struct strbuf *body)
{
    struct strbuf path AS_AUTO_STRBUF;
    struct client_answer answer = {0};
    strbuf_init(&path, 0);
    kind_add_path(&path, kind, NULL, 0);
    as_status status = shell_post(shell, strbuf_text(&path), body, &answer);
    return status == AS_OK ? shell_write_object(shell, answer.json) : status;
}

as_status verb_create(struct shell *shell)
{
    struct strbuf body AS_AUTO_STRBUF;
    const struct ctl_kind *kind = NULL;
    strbuf_init(&body, 0);
    as_status status = shell_kind(shell, shell->words[0], &kind);
    if (status == AS_OK && kind->is_read_only)
        status = error_set(shell->err, AS_E_USAGE, "%s are only read", kind->path);
    if (status == AS_OK)
        status = make_body(shell, 1, &body);
    return status == AS_OK ? create(shell, kind, &body) : status;
}

as_status verb_token_create(struct shell *shell)
{
    struct strbuf body AS_AUTO_STRBUF;
    struct json_writer writer;
    as_status status = AS_OK;
    strbuf_init(&body, 0);
    json_writer_init(&writer, &body, 0);
    json_open_object(&writer);
    json_member_string(&writer, "token_code", shell->words[1]);
    for (size_t i = 2; status == AS_OK && i < shell->count; i++)
        status = add_member(shell, &writer, shell->words[i]);
    json_close_object(&writer);
    return status == AS_OK ? create(shell, kind_find("tokens"), &body) : status;
}

/* Reads kind and keys of words[0…]; the path is added to `path`. */
static as_status read_thing(struct shell *shell, const struct ctl_kind **ret_kind, size_t *ret_at, struct strbuf *path)
{
    const char *keys[KIND_KEYS_MAX] = {NULL};
    *ret_at = 1;
    as_status status = shell_kind(shell, shell->words[0], ret_kind);
    if (status == AS_OK && (*ret_kind)->is_read_only)
        status = error_set(shell->err, AS_E_USAGE, "%s are only read", (*ret_kind)->path);
    if (status == AS_OK)
        status = shell_keys(shell, *ret_kind, ret_at, keys);
    if (status == AS_OK)
        kind_add_path(path, *ret_kind, keys, kind_key_count(*ret_kind));
    return status;
}

as_status verb_set(struct shell *shell)
{
    struct strbuf path AS_AUTO_STRBUF, body AS_AUTO_STRBUF;
    const struct ctl_kind *kind = NULL;
    struct client_answer answer = {0};
    size_t at;
    strbuf_init(&path, 0);
    strbuf_init(&body, 0);
    as_status status = read_thing(shell, &kind, &at, &path);
    if (status == AS_OK && at == shell->count && !shell->settings->file)
        status = error_set(shell->err, AS_E_USAGE, "nothing to set: give MEMBER=TEXT or MEMBER:=JSON");
    if (status == AS_OK)
        status = make_body(shell, at, &body);
    if (status != AS_OK)
        return status;
    const struct client_call call = {
        .method = "PATCH", .path = strbuf_text(&path), .body = strbuf_text(&body), .body_len = body.len};
    status = client_run(&shell->client, &call, &answer, shell->err);
    return status == AS_OK ? shell_write_object(shell, answer.json) : status;
}

as_status verb_retire(struct shell *shell)
{
    struct strbuf path AS_AUTO_STRBUF;
    const struct ctl_kind *kind = NULL;
    struct client_answer answer = {0};
    size_t at;
    strbuf_init(&path, 0);
    as_status status = read_thing(shell, &kind, &at, &path);
    if (status == AS_OK && at < shell->count)
        status = error_set(shell->err, AS_E_USAGE, "\"%.80s\" is one word too many", shell->words[at]);
    if (status != AS_OK)
        return status;
    const struct client_call call = {.method = "DELETE", .path = strbuf_text(&path)};
    status = client_run(&shell->client, &call, &answer, shell->err);
    return status == AS_OK && answer.json ? shell_write_object(shell, answer.json) : status;
}

static as_status show_path(struct shell *shell, const char *path)
{
    struct client_answer answer = {0};
    as_status status = client_run(&shell->client, &(struct client_call){.path = path}, &answer, shell->err);
    return status == AS_OK ? shell_write_object(shell, answer.json) : status;
}

as_status verb_whoami(struct shell *shell)
{
    return show_path(shell, "/api/v1/me");
}

as_status verb_version(struct shell *shell)
{
    struct client_answer answer = {0};
    struct strbuf text AS_AUTO_STRBUF;
    const char *title = NULL, *version = NULL;
    strbuf_init(&text, 0);
    const struct client_call call = {.path = "/api/v1/openapi.json"};
    as_status status = client_run(&shell->client, &call, &answer, shell->err);
    if (status != AS_OK)
        return status;
    if (!json_string(json_path(answer.json, "info.title"), &title) ||
        !json_string(json_path(answer.json, "info.version"), &version))
        return error_set(shell->err, AS_E_NETWORK, "the server serves no contract: is it a control plane?");
    if (shell->settings->is_json)
        return shell_write_json(shell, json_get(answer.json, "info"));
    table_add_text(&text, title, strlen(title));
    strbuf_adds(&text, ", API version ");
    table_add_text(&text, version, strlen(version));
    strbuf_addc(&text, '\n');
    return shell_write(shell, &text);
}
