/* SPDX-License-Identifier: Apache-2.0 */
/* apply: first everything is read, checked against the contract and compared with what is there; only then is written. */
#include "base/file.h"
#include "ctl/contract.h"
#include "ctl/difference.h"
#include "ctl/shell.h"

#include <string.h>

#define FILE_MAX ((size_t)64 * 1024 * 1024)

enum act { ACT_CREATE, ACT_CHANGE, ACT_NOTHING, ACT_START, ACT_SKIP };
static const char *const DONE[] = {"created", "changed", "unchanged", "started", "not started"};
static const char *const PLANNED[] = {"to create", "to change", "unchanged", "to start", "not started"};

struct step {
    const struct definition_object *object;
    enum act act;
    const char *etag;
    struct strbuf body;    /* what will be sent */
    const char *members;   /* that change, joined with ", " */
    const char *result;    /* code of the run */
};

struct plan {
    struct shell *shell;
    struct definition definition;
    const struct json_value *contract;
    struct step *steps; /* one an object */
};

static as_status fail_at(const struct plan *plan, const struct step *step)
{
    struct strbuf key AS_AUTO_STRBUF;
    strbuf_init(&key, 0);
    definition_add_key(&key, step->object);
    if (step->object->kind)
        (void)error_prefix(plan->shell->err, "%s %s", step->object->kind->singular, strbuf_text(&key));
    else
        (void)error_prefix(plan->shell->err, "run");
    return definition_error(&plan->definition, step->object, plan->shell->err);
}

/* ---- planning ---- */

static as_status make_create_body(struct step *step)
{
    struct json_writer writer;
    json_writer_init(&writer, &step->body, 0);
    definition_write(&writer, step->object);
    return json_writer_status(&writer);
}

static bool is_key(const struct ctl_kind *kind, const char *member)
{
    for (size_t i = 0; i < kind_key_count(kind); i++)
        if (strcmp(kind->keys[i], member) == 0)
            return true;
    return false;
}

/* What differs becomes the body of the change. Inherited keys of a parent that are no key here (a workload's project)
 * are members like any other. */
static as_status make_change_body(struct plan *plan, struct step *step, const struct json_value *current)
{
    struct strbuf all AS_AUTO_STRBUF, names AS_AUTO_STRBUF;
    struct json_writer writer;
    const struct json_value *wanted = NULL;
    struct arena *arena = plan->shell->arena;
    strbuf_init(&all, 0);
    strbuf_init(&names, 0);
    json_writer_init(&writer, &all, 0);
    definition_write(&writer, step->object);
    char *copy = json_writer_status(&writer) == AS_OK ? arena_strndup(arena, all.data, all.len) : NULL;
    if (!copy || json_parse(copy, all.len, NULL, arena, &wanted, plan->shell->err) != AS_OK)
        return AS_E_NOMEM;
    json_writer_init(&writer, &step->body, 0);
    json_open_object(&writer);
    for (const struct json_value *member = wanted->first; member; member = member->next) {
        if (is_key(step->object->kind, member->key) || difference_is_same(member, json_get(current, member->key)))
            continue;
        json_keyn(&writer, member->key, member->key_len);
        json_put_value(&writer, member);
        strbuf_addf(&names, "%s%s", names.len ? ", " : "", member->key);
    }
    json_close_object(&writer);
    step->act = names.len ? ACT_CHANGE : ACT_NOTHING;
    step->members = arena_strdup(arena, strbuf_text(&names));
    return step->members ? json_writer_status(&writer) : AS_E_NOMEM;
}

static as_status plan_kind(struct plan *plan, struct step *step)
{
    struct shell *shell = plan->shell;
    struct strbuf path AS_AUTO_STRBUF;
    struct client_answer answer = {0};
    const struct ctl_kind *kind = step->object->kind;
    strbuf_init(&path, 0);
    kind_add_path(&path, kind, step->object->keys, kind_key_count(kind));
    const struct client_call call = {.path = strbuf_text(&path)};
    as_status status = client_look(&shell->client, &call, &answer, shell->err);
    if (status != AS_OK)
        return fail_at(plan, step);
    const bool is_new = answer.status == 404;
    if (contract_check(plan->contract, step->object, is_new, shell->err) != AS_OK)
        return fail_at(plan, step);
    const struct json_value *retired = json_get(answer.json, "retired_at");
    if (!is_new && retired && !json_is_null(retired)) {
        (void)error_set(shell->err, AS_E_STATE, "it was retired; give the new one another code");
        return fail_at(plan, step);
    }
    step->etag = answer.etag;
    step->act = ACT_CREATE;
    status = is_new ? make_create_body(step) : make_change_body(plan, step, answer.json);
    return status == AS_OK ? AS_OK : shell_no_memory(shell);
}

static as_status plan_step(struct plan *plan, struct step *step)
{
    if (step->object->kind)
        return plan_kind(plan, step);
    if (contract_check(plan->contract, step->object, true, plan->shell->err) != AS_OK)
        return fail_at(plan, step);
    step->act = plan->shell->settings->starts_run ? ACT_START : ACT_SKIP;
    return make_create_body(step) == AS_OK ? AS_OK : shell_no_memory(plan->shell);
}

/* ---- writing ---- */

static as_status write_step(struct plan *plan, struct step *step)
{
    struct shell *shell = plan->shell;
    struct strbuf path AS_AUTO_STRBUF;
    struct client_answer answer = {0};
    const struct ctl_kind *kind = step->object->kind;
    strbuf_init(&path, 0);
    if (step->act == ACT_NOTHING || step->act == ACT_SKIP)
        return AS_OK;
    if (kind)
        kind_add_path(&path, kind, step->object->keys, step->act == ACT_CREATE ? 0 : kind_key_count(kind));
    else
        strbuf_adds(&path, "/api/v1/runs");
    struct client_call call = {
        .path = strbuf_text(&path), .body = strbuf_text(&step->body), .body_len = step->body.len, .method = "POST"};
    if (step->act == ACT_CHANGE) {
        call.method = "PATCH";
        call.if_match = *step->etag ? step->etag : NULL;
    }
    as_status status = client_run(&shell->client, &call, &answer, shell->err);
    if (status != AS_OK)
        return fail_at(plan, step);
    if (step->act == ACT_START) {
        const char *state = "";
        (void)json_string(json_get(answer.json, "run_code"), &step->result);
        (void)json_string(json_get(answer.json, "state"), &state);
        shell->is_good = shell->is_good && strcmp(state, "stopped") != 0;
    }
    return AS_OK;
}

/* ---- showing ---- */

static const char *key_text(const struct plan *plan, const struct step *step)
{
    struct strbuf key AS_AUTO_STRBUF;
    const char *workload = "";
    strbuf_init(&key, 0);
    definition_add_key(&key, step->object);
    if (!step->object->kind && !step->result)
        (void)json_string(json_get(step->object->value, "workload_code"), &workload);
    const char *text = step->object->kind ? strbuf_text(&key) : step->result ? step->result : workload;
    const char *copy = arena_strdup(plan->shell->arena, text);
    return copy ? copy : "";
}

static as_status show_line(const struct plan *plan, const struct step *step)
{
    struct strbuf text AS_AUTO_STRBUF;
    const char *const *words = plan->shell->settings->is_dry_run ? PLANNED : DONE;
    const char *key = key_text(plan, step);
    strbuf_init(&text, 0);
    strbuf_addf(&text, "%-11s  %s ", words[step->act], step->object->kind ? step->object->kind->singular : "run");
    table_add_text(&text, key, strlen(key));
    if (step->act == ACT_CHANGE) {
        strbuf_adds(&text, ": ");
        table_add_text(&text, step->members, strlen(step->members));
    }
    if (step->act == ACT_SKIP)
        strbuf_adds(&text, " (--start starts it)");
    strbuf_addc(&text, '\n');
    return shell_write(plan->shell, &text);
}

static as_status show_json(const struct plan *plan)
{
    struct strbuf text AS_AUTO_STRBUF;
    struct json_writer writer;
    const char *const *words = plan->shell->settings->is_dry_run ? PLANNED : DONE;
    strbuf_init(&text, 0);
    json_writer_init(&writer, &text, 2);
    json_open_array(&writer);
    for (size_t i = 0; i < plan->definition.count; i++) {
        const struct step *step = &plan->steps[i];
        json_open_object(&writer);
        json_member_string(&writer, "action", words[step->act]);
        json_member_string(&writer, "kind", step->object->kind ? step->object->kind->singular : "run");
        json_member_string(&writer, "key", key_text(plan, step));
        json_member_string(&writer, "members", step->act == ACT_CHANGE ? step->members : NULL);
        json_close_object(&writer);
    }
    json_close_array(&writer);
    strbuf_addc(&text, '\n');
    return shell_write(plan->shell, &text);
}

static as_status read_all(struct plan *plan)
{
    struct shell *shell = plan->shell;
    struct strbuf text AS_AUTO_STRBUF;
    struct client_answer answer = {0};
    const char *name = shell->settings->file;
    strbuf_init(&text, FILE_MAX);
    as_status status = file_read(name, &text, shell->err);
    if (status != AS_OK)
        return status;
    name = strcmp(name, "-") == 0 ? "standard input" : name;
    char *copy = arena_strndup(shell->arena, strbuf_text(&text), text.len);
    if (!copy)
        return shell_no_memory(shell);
    plan->definition = (struct definition){.name = name, .arena = shell->arena};
    status = definition_read(&plan->definition, copy, text.len, shell->err);
    if (status != AS_OK)
        return status;
    const struct client_call call = {.path = "/api/v1/openapi.json"};
    status = client_run(&shell->client, &call, &answer, shell->err);
    if (status != AS_OK)
        return status;
    plan->contract = answer.json;
    plan->steps = arena_calloc(shell->arena, plan->definition.count, sizeof *plan->steps);
    return plan->steps ? AS_OK : shell_no_memory(shell);
}

static as_status write_all(struct plan *plan)
{
    struct shell *shell = plan->shell;
    size_t written = 0;
    as_status status = AS_OK;
    for (size_t i = 0; status == AS_OK && i < plan->definition.count; i++) {
        struct step *step = &plan->steps[i];
        if (!shell->settings->is_dry_run)
            status = write_step(plan, step);
        if (status != AS_OK && written)
            shell_note(shell, "%zu things before it were written and stay; apply goes on from there", written);
        written += status == AS_OK && step->act != ACT_NOTHING && step->act != ACT_SKIP;
        if (status == AS_OK && !shell->settings->is_json)
            status = show_line(plan, step);
    }
    return status == AS_OK && shell->settings->is_json ? show_json(plan) : status;
}

as_status verb_apply(struct shell *shell)
{
    struct plan plan = {.shell = shell};
    if (!shell->settings->file)
        return error_set(shell->err, AS_E_USAGE, "apply needs -f FILE");
    as_status status = read_all(&plan);
    const size_t count = status == AS_OK ? plan.definition.count : 0;
    for (size_t i = 0; i < count; i++) {
        plan.steps[i].object = plan.definition.items[i];
        strbuf_init(&plan.steps[i].body, 0);
    }
    for (size_t i = 0; status == AS_OK && i < count; i++)
        status = plan_step(&plan, &plan.steps[i]);
    if (status == AS_OK)
        status = write_all(&plan);
    for (size_t i = 0; i < count; i++)
        strbuf_done(&plan.steps[i].body);
    return status;
}
