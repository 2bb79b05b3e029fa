/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_CTL_SHELL_H
#define ASSAY_CTL_SHELL_H

/* What the verbs of ctl share: one invocation, and how its answers are shown. */

#include "ctl/client.h"
#include "ctl/kinds.h"
#include "ctl/table.h"

struct shell {
    struct client client;
    const struct ctl_settings *settings;
    const struct ctl_output *output;
    struct arena *arena;
    const char *const *words; /* the operands */
    size_t count;
    struct as_error *err;
    bool is_good; /* see ctl_run */
};

as_status shell_write(const struct shell *shell, const struct strbuf *text) AS_NODISCARD;
void shell_note(const struct shell *shell, const char *fmt, ...) AS_PRINTF(2, 3);
as_status shell_no_memory(const struct shell *shell) AS_NODISCARD;
/* Indented JSON. */
as_status shell_write_json(const struct shell *shell, const struct json_value *value) AS_NODISCARD;
/* A table of the settings' columns, else of these (separated by spaces). */
as_status shell_write_table(const struct shell *shell, const struct json_value *rows,
                            const char *columns) AS_NODISCARD;
/* One thing: JSON or a line a member. */
as_status shell_write_object(const struct shell *shell, const struct json_value *object) AS_NODISCARD;
/* A kind by name, or a sentence that says which there are. */
as_status shell_kind(const struct shell *shell, const char *name, const struct ctl_kind **ret) AS_NODISCARD;
/* Reads the keys at words[at…], "/" between them being allowed; *ret_at is moved behind them. */
as_status shell_keys(const struct shell *shell, const struct ctl_kind *kind, size_t *ret_at,
                     const char *ret[KIND_KEYS_MAX]) AS_NODISCARD;
/* POST with a JSON body; the answer is in *ret. */
as_status shell_post(struct shell *shell, const char *path, const struct strbuf *body,
                     struct client_answer *ret) AS_NODISCARD;
/* All rows of a list as an array, at most the settings' limit; a note when there are more. */
as_status shell_list(struct shell *shell, const char *path, const struct json_value **ret) AS_NODISCARD;
/* Adds "?" or "&" and the settings' filters. */
as_status shell_add_filters(const struct shell *shell, struct strbuf *path, bool *is_first) AS_NODISCARD;

/* The verbs. */
as_status verb_get(struct shell *shell) AS_NODISCARD;
as_status verb_create(struct shell *shell) AS_NODISCARD;
as_status verb_set(struct shell *shell) AS_NODISCARD;
as_status verb_retire(struct shell *shell) AS_NODISCARD;
as_status verb_kinds(struct shell *shell) AS_NODISCARD;
as_status verb_apply(struct shell *shell) AS_NODISCARD;
as_status verb_export_run(struct shell *shell) AS_NODISCARD;
as_status verb_check(struct shell *shell) AS_NODISCARD;
as_status verb_resolve(struct shell *shell) AS_NODISCARD;
as_status verb_run_start(struct shell *shell) AS_NODISCARD;
as_status verb_run_again(struct shell *shell) AS_NODISCARD;
as_status verb_run_cancel(struct shell *shell) AS_NODISCARD;
as_status verb_run_watch(struct shell *shell) AS_NODISCARD;
as_status verb_trace(struct shell *shell) AS_NODISCARD;
as_status verb_results_list(struct shell *shell) AS_NODISCARD;
as_status verb_results_show(struct shell *shell) AS_NODISCARD;
as_status verb_results_compare(struct shell *shell) AS_NODISCARD;
as_status verb_results_export(struct shell *shell) AS_NODISCARD;
as_status verb_prompts_list(struct shell *shell) AS_NODISCARD;
as_status verb_prompts_show(struct shell *shell) AS_NODISCARD;
as_status verb_prompts_upload(struct shell *shell) AS_NODISCARD;
as_status verb_prompts_download(struct shell *shell) AS_NODISCARD;
as_status verb_prompts_store(struct shell *shell) AS_NODISCARD;
as_status verb_prompts_restore(struct shell *shell) AS_NODISCARD;
as_status verb_events(struct shell *shell) AS_NODISCARD;
as_status verb_token_create(struct shell *shell) AS_NODISCARD;
as_status verb_whoami(struct shell *shell) AS_NODISCARD;
as_status verb_version(struct shell *shell) AS_NODISCARD;

#endif
