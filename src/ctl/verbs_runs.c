/* SPDX-License-Identifier: Apache-2.0 */
/* check, resolve, run …, export run, trace, events. */
#include "ctl/shell.h"

#include <string.h>

static bool is_text(const struct json_value *object, const char *member, const char *text)
{
    const char *found = NULL;
    return json_string(json_get(object, member), &found) && strcmp(found, text) == 0;
}

/* ---- bodies ---- */

static void put_scenarios(const struct shell *shell, struct json_writer *body)
{
    const struct opt_list *list = &shell->settings->scenarios;
    if (!list->count)
        return;
    json_key(body, "scenario_codes");
    json_open_array(body);
    for (size_t i = 0; i < list->count; i++)
        json_put_string(body, list->items[i]);
    json_close_array(body);
}

static void put_overrides(const struct shell *shell, struct json_writer *body)
{
    const struct opt_list *list = &shell->settings->overrides;
    if (!list->count)
        return;
    json_key(body, "overrides");
    json_open_array(body);
    for (size_t i = 0; i < list->count; i++) {
        const char *colon = strstr(list->items[i], ": ");
        const size_t len = colon ? (size_t)(colon - list->items[i]) : strlen(list->items[i]);
        json_open_object(body);
        json_key(body, "check_code");
        json_put_stringn(body, list->items[i], len);
        json_member_string(body, "reason", colon ? colon + 2 : "");
        json_close_object(body);
    }
    json_close_array(body);
}

/* What a body may hold. */
enum { WITH_TRY = 1, WITH_OVERRIDES = 2, WITH_NOTE = 4, WITH_REASON = 8 };

static as_status post_body(struct shell *shell, const char *path, const char *workload, unsigned with,
                           struct client_answer *ret)
{
    struct strbuf text AS_AUTO_STRBUF;
    struct json_writer body;
    const struct ctl_settings *settings = shell->settings;
    strbuf_init(&text, 0);
    json_writer_init(&body, &text, 0);
    json_open_object(&body);
    if (workload)
        json_member_string(&body, "workload_code", workload);
    if (with & WITH_TRY)
        put_scenarios(shell, &body);
    if ((with & WITH_TRY) && settings->set) {
        json_key(&body, "settings");
        json_put_raw(&body, settings->set, strlen(settings->set));
    }
    if (with & WITH_OVERRIDES)
        put_overrides(shell, &body);
    if ((with & (WITH_NOTE | WITH_REASON)) && settings->note)
        json_member_string(&body, with & WITH_NOTE ? "note" : "reason", settings->note);
    json_close_object(&body);
    if (json_writer_status(&body) != AS_OK)
        return shell_no_memory(shell);
    return shell_post(shell, path, &text, ret);
}

/* Posts to "/api/v1/KIND/CODE/ACT". */
static as_status post_act(struct shell *shell, const char *kind, const char *act, unsigned with,
                          struct client_answer *ret)
{
    struct strbuf path AS_AUTO_STRBUF;
    const bool is_workload = strcmp(kind, "workloads") == 0;
    strbuf_init(&path, 0);
    strbuf_addf(&path, "/api/v1/%s", kind);
    kind_add_segment(&path, shell->words[is_workload ? 0 : 1]);
    strbuf_addf(&path, "/%s", act);
    if (strbuf_status(&path) != AS_OK)
        return shell_no_memory(shell);
    return post_body(shell, path.data, NULL, with, ret);
}

/* ---- readiness ---- */

/* "found F, needed N", or the value as it is. */
static void add_compared(struct strbuf *out, const struct json_value *compared)
{
    const char *found = NULL, *needed = NULL;
    (void)json_string(json_get(compared, "found"), &found);
    (void)json_string(json_get(compared, "needed"), &needed);
    if (!found && !needed)
        return;
    strbuf_adds(out, " (");
    if (found) {
        strbuf_adds(out, "found ");
        table_add_text(out, found, strlen(found));
    }
    if (needed) {
        strbuf_adds(out, found ? ", needed " : "needed ");
        table_add_text(out, needed, strlen(needed));
    }
    strbuf_addc(out, ')');
}

static void add_check(struct strbuf *out, const struct json_value *check)
{
    const char *verdict = "", *code = "", *subject = "", *message = "", *remedy = NULL;
    bool can_override = false;
    (void)json_string(json_get(check, "verdict"), &verdict);
    (void)json_string(json_get(check, "check_code"), &code);
    (void)json_string(json_get(check, "subject"), &subject);
    (void)json_string(json_get(check, "message"), &message);
    (void)json_string(json_get(check, "remedy"), &remedy);
    (void)json_bool(json_get(check, "can_override"), &can_override);
    strbuf_addf(out, "%-7s  %s  %s: ", verdict, subject, code);
    table_add_text(out, message, strlen(message));
    add_compared(out, json_get(check, "compared"));
    strbuf_addc(out, '\n');
    if (strcmp(verdict, "pass") == 0)
        return;
    if (remedy && *remedy) {
        strbuf_adds(out, "         -> ");
        table_add_text(out, remedy, strlen(remedy));
        strbuf_addc(out, '\n');
    }
    if (can_override && strcmp(verdict, "stop") == 0)
        strbuf_addf(out, "         -> or: --override %s=REASON\n", code);
}

static void add_checks(struct strbuf *out, const struct json_value *checks, bool with_passed)
{
    for (const struct json_value *check = checks ? checks->first : NULL; check; check = check->next)
        if (with_passed || !is_text(check, "verdict", "pass"))
            add_check(out, check);
}

as_status verb_check(struct shell *shell)
{
    struct strbuf text AS_AUTO_STRBUF;
    struct client_answer answer = {0};
    strbuf_init(&text, 0);
    as_status status = post_act(shell, "workloads", "check", WITH_TRY, &answer);
    if (status != AS_OK)
        return status;
    shell->is_good = false;
    if (!json_bool(json_get(answer.json, "is_ready"), &shell->is_good))
        return error_set(shell->err, AS_E_NETWORK, "the server's answer does not say whether it is ready");
    if (shell->settings->is_json)
        return shell_write_json(shell, answer.json);
    add_checks(&text, json_get(answer.json, "checks"), true);
    strbuf_adds(&text, shell->is_good ? "ready\n" : "not ready\n");
    return shell_write(shell, &text);
}

/* ---- resolve ---- */

static void add_lines(struct strbuf *out, const char *label, const struct json_value *list)
{
    for (const struct json_value *item = list ? list->first : NULL; item; item = item->next) {
        strbuf_addf(out, "  %-9s", label);
        table_add_value(out, item);
        strbuf_addc(out, '\n');
    }
}

static void add_resolved(struct strbuf *out, const struct json_value *scenario)
{
    table_add_value(out, json_get(scenario, "scenario_code"));
    strbuf_adds(out, ": replicas ");
    table_add_value(out, json_get(scenario, "replicas"));
    strbuf_adds(out, ", idle GPUs ");
    table_add_value(out, json_get(scenario, "gpus_idle"));
    strbuf_addc(out, '\n');
    add_lines(out, "endpoint", json_get(scenario, "urls"));
    add_lines(out, "server", json_get(scenario, "servers"));
    strbuf_adds(out, "  tool     ");
    table_add_value(out, json_get(scenario, "tool"));
    strbuf_addc(out, '\n');
    if (!json_is_null(json_get(scenario, "trouble"))) {
        strbuf_adds(out, "  trouble  ");
        table_add_value(out, json_get(scenario, "trouble"));
        strbuf_addc(out, '\n');
    }
}

as_status verb_resolve(struct shell *shell)
{
    struct strbuf text AS_AUTO_STRBUF;
    struct client_answer answer = {0};
    strbuf_init(&text, 0);
    as_status status = post_act(shell, "workloads", "resolve", WITH_TRY, &answer);
    const struct json_value *scenarios = status == AS_OK ? json_get(answer.json, "scenarios") : NULL;
    if (status != AS_OK)
        return status;
    for (const struct json_value *item = scenarios ? scenarios->first : NULL; item; item = item->next) {
        shell->is_good = shell->is_good && json_is_null(json_get(item, "trouble"));
        add_resolved(&text, item);
    }
    return shell->settings->is_json ? shell_write_json(shell, answer.json) : shell_write(shell, &text);
}

/* ---- runs ---- */

static as_status show_run(struct shell *shell, const struct json_value *run)
{
    struct strbuf text AS_AUTO_STRBUF;
    strbuf_init(&text, 0);
    shell->is_good = !is_text(run, "state", "stopped");
    if (shell->settings->is_json)
        return shell_write_json(shell, run);
    table_add_value(&text, json_get(run, "run_code"));
    strbuf_adds(&text, ": ");
    table_add_value(&text, json_get(run, "state"));
    if (!json_is_null(json_get(run, "reason")) && json_get(run, "reason")) {
        strbuf_adds(&text, ", ");
        table_add_value(&text, json_get(run, "reason"));
    }
    strbuf_addc(&text, '\n');
    if (!shell->is_good)
        add_checks(&text, json_get(run, "checks"), false);
    return shell_write(shell, &text);
}

as_status verb_run_start(struct shell *shell)
{
    struct client_answer answer = {0};
    as_status status =
        post_body(shell, "/api/v1/runs", shell->words[1], WITH_TRY | WITH_OVERRIDES | WITH_NOTE, &answer);
    return status == AS_OK ? show_run(shell, answer.json) : status;
}

as_status verb_run_again(struct shell *shell)
{
    struct client_answer answer = {0};
    as_status status = post_act(shell, "runs", shell->words[0], WITH_OVERRIDES | WITH_NOTE, &answer);
    return status == AS_OK ? show_run(shell, answer.json) : status;
}

as_status verb_run_cancel(struct shell *shell)
{
    struct client_answer answer = {0};
    as_status status = post_act(shell, "runs", "cancel", WITH_REASON, &answer);
    return status == AS_OK ? show_run(shell, answer.json) : status;
}

static as_status get_act(struct shell *shell, const char *kind, const char *code, const char *act,
                         struct client_answer *ret)
{
    struct strbuf path AS_AUTO_STRBUF;
    strbuf_init(&path, 0);
    strbuf_addf(&path, "/api/v1/%s", kind);
    kind_add_segment(&path, code);
    strbuf_adds(&path, act);
    return client_run(&shell->client, &(struct client_call){.path = strbuf_text(&path)}, ret, shell->err);
}

as_status verb_export_run(struct shell *shell)
{
    struct strbuf text AS_AUTO_STRBUF;
    struct client_answer answer = {0};
    strbuf_init(&text, 0);
    as_status status = get_act(shell, "runs", shell->words[1], "/export", &answer);
    if (status != AS_OK)
        return status;
    strbuf_add(&text, answer.text, answer.len);
    return shell_write(shell, &text);
}

as_status verb_trace(struct shell *shell)
{
    struct strbuf text AS_AUTO_STRBUF;
    struct client_answer answer = {0};
    strbuf_init(&text, 0);
    as_status status = get_act(shell, "jobs", shell->words[0], "/trace", &answer);
    if (status != AS_OK || shell->settings->is_json)
        return status == AS_OK ? shell_write_json(shell, answer.json) : status;
    for (const struct json_value *link = answer.json ? answer.json->first : NULL; link; link = link->next) {
        size_t number = 0;
        for (const struct json_value *item = link->type == JSON_ARRAY ? link->first : NULL; item; item = item->next) {
            strbuf_addf(&text, "%s %zu\n", link->key, ++number);
            table_write_object(&text, item);
        }
        if (link->type == JSON_OBJECT) {
            strbuf_addf(&text, "%s\n", link->key);
            table_write_object(&text, link);
        }
        strbuf_addc(&text, '\n');
    }
    return shell_write(shell, &text);
}

/* ---- streams ---- */

static as_status show_event(const struct shell *shell, const struct client_event *event)
{
    struct strbuf text AS_AUTO_STRBUF;
    strbuf_init(&text, 0);
    table_add_text(&text, event->name, strlen(event->name));
    strbuf_addc(&text, ' ');
    table_add_text(&text, event->data, event->len);
    strbuf_addc(&text, '\n');
    return shell_write(shell, &text);
}

static as_status on_any_event(void *context, const struct client_event *event, bool *ret_is_done, struct as_error *err)
{
    (void)ret_is_done;
    (void)err;
    return show_event(context, event);
}

as_status verb_events(struct shell *shell)
{
    const struct client_listener listener = {.context = shell, .event = on_any_event};
    return client_listen(&shell->client, &listener, shell->err);
}

/* Shows the run's state; it is done when nothing more will happen to it. */
static as_status look_at_run(void *context, bool *ret_is_done, struct as_error *err)
{
    struct shell *shell = context;
    static const char *const ends[] = {"stopped", "succeeded", "failed", "cancelled"};
    struct client_answer answer = {0};
    (void)err;
    as_status status = get_act(shell, "runs", shell->words[1], "", &answer);
    if (status == AS_OK)
        status = show_run(shell, answer.json);
    if (status != AS_OK)
        return status;
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++)
        *ret_is_done = *ret_is_done || is_text(answer.json, "state", ends[i]);
    shell->is_good = !*ret_is_done || is_text(answer.json, "state", "succeeded");
    return AS_OK;
}

static as_status on_run_event(void *context, const struct client_event *event, bool *ret_is_done, struct as_error *err)
{
    struct shell *shell = context;
    const struct json_value *data = NULL;
    struct as_error ignored;
    if (json_parse(event->data, event->len, NULL, shell->arena, &data, &ignored) != AS_OK ||
        !is_text(data, "run_code", shell->words[1]))
        return AS_OK;
    return look_at_run(shell, ret_is_done, err);
}

/* The stream stands before the first look, so that nothing is missed between the two. */
as_status verb_run_watch(struct shell *shell)
{
    const struct client_listener listener = {.context = shell, .opened = look_at_run, .event = on_run_event};
    return client_listen(&shell->client, &listener, shell->err);
}
