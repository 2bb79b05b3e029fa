/* SPDX-License-Identifier: Apache-2.0 */
/* prompts list, show, upload, download, store, restore. */
#include "base/file.h"
#include "ctl/prompt_files.h"
#include "ctl/shell.h"
#include "restic/restic.h"
#include "workload/digest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILE_MAX   ((size_t)256 * 1024 * 1024)
#define COLUMNS    "source_code source_type state row_count words_p50 words_max file_bytes is_shipped"
#define SOURCES    "/api/v1/prompt-sources"
#define DIGEST_LEN (DIGEST_TEXT_BYTES - 1)
#define TAG_BYTES  160

as_status verb_prompts_list(struct shell *shell)
{
    const struct json_value *rows = NULL;
    as_status status = shell_list(shell, SOURCES, &rows);
    if (status != AS_OK)
        return status;
    return shell->settings->is_json ? shell_write_json(shell, rows) : shell_write_table(shell, rows, COLUMNS);
}

/* The address of the source that the second word names, with `end` behind it. */
static const char *address(const struct shell *shell, const char *end)
{
    struct strbuf url AS_AUTO_STRBUF;
    strbuf_init(&url, 0);
    strbuf_adds(&url, SOURCES);
    kind_add_segment(&url, shell->words[1]);
    strbuf_adds(&url, end);
    return strbuf_status(&url) == AS_OK ? arena_strndup(shell->arena, url.data, url.len) : NULL;
}

static as_status look(struct shell *shell, struct client_answer *ret)
{
    const struct client_call call = {.path = address(shell, "")};
    return call.path ? client_look(&shell->client, &call, ret, shell->err) : shell_no_memory(shell);
}

/* The source, which must be there. */
static as_status find(struct shell *shell, struct client_answer *ret)
{
    const struct client_call call = {.path = address(shell, "")};
    return call.path ? client_run(&shell->client, &call, ret, shell->err) : shell_no_memory(shell);
}

as_status verb_prompts_show(struct shell *shell)
{
    struct client_answer answer = {0};
    as_status status = find(shell, &answer);
    return status == AS_OK ? shell_write_object(shell, answer.json) : status;
}

/* ---- upload ---- */

static as_status create(struct shell *shell)
{
    struct client_answer answer = {0};
    struct strbuf body AS_AUTO_STRBUF;
    struct json_writer json;
    strbuf_init(&body, 0);
    json_writer_init(&json, &body, 0);
    json_open_object(&json);
    json_member_string(&json, "source_code", shell->words[1]);
    json_member_string(&json, "source_type",
                       shell->settings->source_type ? shell->settings->source_type : "prompt_library");
    json_member_string(&json, "name", shell->words[1]);
    json_close_object(&json);
    return shell_post(shell, SOURCES, &body, &answer);
}

/* Makes the source when there is none. */
static as_status ensure(struct shell *shell)
{
    struct client_answer answer = {0};
    const char *type = NULL, *wanted = shell->settings->source_type;
    as_status status = look(shell, &answer);
    if (status != AS_OK || answer.status == 404)
        return status == AS_OK ? create(shell) : status;
    if (!wanted || (json_string(json_get(answer.json, "source_type"), &type) && strcmp(type, wanted) == 0))
        return AS_OK;
    return error_set(shell->err, AS_E_STATE, "%.100s is there already, as %s", shell->words[1], type ? type : "?");
}

/* "CODE: 3 rows, 120 bytes, ready"; a source with --json. */
static as_status write_source(struct shell *shell, const struct json_value *source)
{
    struct strbuf text AS_AUTO_STRBUF;
    const char *state = "", *digest = "";
    int64_t rows = 0, bytes = 0;
    if (shell->settings->is_json)
        return shell_write_json(shell, source);
    (void)json_string(json_get(source, "state"), &state);
    (void)json_string(json_get(source, "file_digest"), &digest);
    (void)json_int64(json_get(source, "row_count"), &rows);
    (void)json_int64(json_get(source, "file_bytes"), &bytes);
    strbuf_init(&text, 0);
    strbuf_addf(&text, "%s: %lld rows, %lld bytes, sha256 %s, %s\n", shell->words[1], (long long)rows, (long long)bytes,
                digest, state);
    return shell_write(shell, &text);
}

as_status verb_prompts_upload(struct shell *shell)
{
    struct client_answer answer = {0};
    struct strbuf text AS_AUTO_STRBUF;
    strbuf_init(&text, FILE_MAX);
    as_status status = file_read(shell->words[2], &text, shell->err);
    if (status == AS_OK)
        status = ensure(shell);
    if (status != AS_OK)
        return status;
    const struct client_call call = {.method = "PUT",
                                     .path = address(shell, "/content"),
                                     .body = strbuf_text(&text),
                                     .body_len = text.len,
                                     .media = "application/jsonl"};
    if (!call.path)
        return shell_no_memory(shell);
    status = client_run(&shell->client, &call, &answer, shell->err);
    return status == AS_OK ? write_source(shell, answer.json) : error_prefix(shell->err, "%s", shell->words[2]);
}

/* ---- download ---- */

struct download {
    struct shell *shell; /* NULL: to `text` */
    struct strbuf *text;
    struct digest digest;
};

static as_status take_piece(void *context, const char *data, size_t len)
{
    struct download *download = context;
    as_status status = digest_add(&download->digest, data, len);
    if (status == AS_OK && download->shell)
        return download->shell->output->write(download->shell->output->context, data, len);
    if (status != AS_OK)
        return status;
    strbuf_add(download->text, data, len);
    return strbuf_status(download->text);
}

/* The file as the server has it, held against the digest that it names; to the output when `text` is NULL. */
static as_status fetch(struct shell *shell, struct strbuf *text)
{
    struct download download = {.shell = text ? NULL : shell, .text = text};
    const struct client_sink sink = {.context = &download, .write = take_piece};
    const struct client_call call = {.path = address(shell, "/content"), .sink = &sink};
    struct client_answer answer = {0};
    char digest[DIGEST_TEXT_BYTES];
    if (!call.path || digest_init(&download.digest) != AS_OK)
        return shell_no_memory(shell);
    as_status status = client_run(&shell->client, &call, &answer, shell->err);
    if (status != AS_OK) {
        digest_abandon(&download.digest);
        return status;
    }
    if (digest_finish(&download.digest, digest) != AS_OK)
        return shell_no_memory(shell);
    const bool is_whole = strlen(answer.etag) == DIGEST_LEN + 2 && strncmp(answer.etag + 1, digest, DIGEST_LEN) == 0;
    return is_whole
               ? AS_OK
               : error_set(shell->err, AS_E_NETWORK, "what arrived does not have the digest that the server names");
}

as_status verb_prompts_download(struct shell *shell)
{
    return fetch(shell, NULL);
}

/* ---- bytes in a restic repository ---- */

static as_status repository_of(const struct shell *shell, const struct json_value *source,
                               struct restic_repository *ret)
{
    const char *known = NULL, *environment = getenv("RESTIC_REPOSITORY");
    (void)json_string(json_get(source, "restic_repository"), &known);
    const char *given = shell->settings->repository ? shell->settings->repository : environment;
    *ret =
        (struct restic_repository){.address = given ? given : known, .password_file = shell->settings->password_file};
    return ret->address ? AS_OK : error_set(shell->err, AS_E_USAGE, "give --repository, or set RESTIC_REPOSITORY");
}

static as_status post_snapshot(struct shell *shell, const struct restic_repository *repository,
                               const struct restic_snapshot *snapshot, struct client_answer *ret)
{
    struct strbuf body AS_AUTO_STRBUF;
    struct json_writer json;
    const char *path = address(shell, "/snapshot");
    strbuf_init(&body, 0);
    json_writer_init(&json, &body, 0);
    json_open_object(&json);
    json_member_string(&json, "restic_repository", repository->address);
    json_member_string(&json, "restic_snapshot", snapshot->id);
    json_member_int(&json, "bytes_total", snapshot->bytes);
    json_close_object(&json);
    return path ? shell_post(shell, path, &body, ret) : shell_no_memory(shell);
}

static as_status back_up(struct shell *shell, const struct restic_repository *repository, const char *digest)
{
    char code[TAG_BYTES], content[TAG_BYTES];
    struct restic_snapshot snapshot = {.files = 0};
    struct client_answer answer = {0};
    const char *const tags[] = {"assay", code, content, NULL};
    bool is_new = false;
    (void)snprintf(code, sizeof code, "source=%.100s", shell->words[1]);
    (void)snprintf(content, sizeof content, "file=%.64s", digest);
    as_status status = restic_init(repository, &is_new, shell->err);
    if (status == AS_OK && is_new)
        shell_note(shell, "a new restic repository was made; without its password nothing in it can be read");
    if (status == AS_OK)
        status = restic_backup(repository, shell->words[2], tags, &snapshot, shell->err);
    if (status == AS_OK)
        status = post_snapshot(shell, repository, &snapshot, &answer);
    if (status == AS_OK)
        shell_note(shell, "snapshot %s: %lld files, %lld bytes", snapshot.id, (long long)snapshot.files,
                   (long long)snapshot.bytes);
    return status == AS_OK ? write_source(shell, answer.json) : status;
}

as_status verb_prompts_store(struct shell *shell)
{
    struct client_answer source = {0};
    struct restic_repository repository;
    struct prompt_files found;
    struct strbuf text AS_AUTO_STRBUF;
    const char *digest = "";
    strbuf_init(&text, FILE_MAX);
    as_status status = find(shell, &source);
    if (status == AS_OK)
        status = repository_of(shell, source.json, &repository);
    if (status == AS_OK && !json_string(json_get(source.json, "file_digest"), &digest))
        return error_set(shell->err, AS_E_STATE, "upload the file that names them first: prompts upload %.100s FILE",
                         shell->words[1]);
    if (status == AS_OK)
        status = fetch(shell, &text);
    if (status == AS_OK)
        status = prompt_files_check(strbuf_text(&text), text.len, shell->words[2], &found, shell->err);
    if (status == AS_OK && found.files == 0)
        return error_set(shell->err, AS_E_STATE, "the file of %.100s names no local images or recordings",
                         shell->words[1]);
    return status == AS_OK ? back_up(shell, &repository, digest) : status;
}

as_status verb_prompts_restore(struct shell *shell)
{
    struct client_answer source = {0};
    struct restic_repository repository;
    struct prompt_files found;
    struct strbuf text AS_AUTO_STRBUF, told AS_AUTO_STRBUF;
    const char *snapshot = "", *folder = shell->words[2];
    strbuf_init(&text, FILE_MAX);
    strbuf_init(&told, 0);
    as_status status = find(shell, &source);
    if (status == AS_OK && !json_string(json_get(source.json, "restic_snapshot"), &snapshot))
        return error_set(shell->err, AS_E_STATE, "no snapshot of %.100s was stored yet", shell->words[1]);
    if (status == AS_OK)
        status = repository_of(shell, source.json, &repository);
    if (status == AS_OK)
        status = fetch(shell, &text);
    if (status == AS_OK)
        status = restic_restore(&repository, snapshot, folder, shell->err);
    if (status == AS_OK)
        status = prompt_files_check(strbuf_text(&text), text.len, folder, &found, shell->err);
    if (status != AS_OK)
        return status;
    strbuf_addf(&told, "%s: %lld files, %lld of them held against their digest\n", folder, (long long)found.files,
                (long long)found.with_digest);
    return shell_write(shell, &told);
}
