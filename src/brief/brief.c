/* SPDX-License-Identifier: Apache-2.0 */
#include "brief/brief.h"

#include "brief/write.h"

#include <stdlib.h>
#include <string.h>

void brief_init(struct brief_report *report)
{
    *report = (struct brief_report){.model = NULL};
    tree_init(&report->tree, READ_TREE_BYTES_MAX);
}

void brief_done(struct brief_report *report)
{
    tree_done(&report->tree);
}

static as_status refuse(const struct problems *problems, struct as_error *err)
{
    const struct problem *first = problems->first;
    if (!first)
        return error_set(err, AS_E_INVALID, "not a valid benchmark report");
    error_set_at(err, AS_E_INVALID, first->line, -1, "%s%s%s", first->path, first->path[0] ? ": " : "", first->message);
    return AS_E_INVALID;
}

as_status brief_adopt(struct brief_report *report, const struct model *model, const struct value *root,
                      struct as_error *err)
{
    report->problems = (struct problems){NULL, NULL, 0};
    if (report->tree.failed)
        return tree_status(&report->tree, err);
    if (!model)
        model = check_version(&report->tree, root, &report->problems);
    if (!model)
        return refuse(&report->problems, err);
    report->model = model;
    as_status status = check_report(&report->tree, model, root, &report->problems, &report->root);
    if (report->tree.failed)
        return tree_status(&report->tree, err);
    return status == AS_OK ? AS_OK : refuse(&report->problems, err);
}

as_status brief_read_path(struct brief_report *report, const char *path, struct as_error *err)
{
    struct value *root;
    as_status status = read_path(path, NULL, &report->tree, &root, err);
    if (status != AS_OK)
        return status;
    status = brief_adopt(report, NULL, root, err);
    return status == AS_OK ? status : error_prefix(err, "%s", path);
}

as_status brief_read_text(struct brief_report *report, const char *text, size_t len, struct as_error *err)
{
    struct value *root;
    as_status status = read_text(text, len, &report->tree, &root, err);
    return status == AS_OK ? brief_adopt(report, NULL, root, err) : status;
}

/* The container that the last step of the path names a member of; *ret_name that step. */
static struct value *find_parent(struct tree *tree, struct value *root, char *path, const char **ret_name)
{
    struct value *at = root;
    for (char *dot; at && (dot = strchr(path, '.')) != NULL; path = dot + 1) {
        *dot = '\0';
        struct value *next = value_at(at, path);
        if (!value_is(next, VALUE_MAP) && !value_is(next, VALUE_LIST))
            next = value_is(at, VALUE_MAP) ? value_submap(tree, at, path) : NULL;
        at = next;
    }
    *ret_name = path;
    return at;
}

static as_status put_at(struct tree *tree, struct value *root, char *path, const struct value *value,
                        struct as_error *err)
{
    const char *name;
    struct value *parent = find_parent(tree, root, path, &name), *old = value_at(parent, name);
    struct value *copy = value ? value_copy(tree, value) : NULL;
    if (value_is(parent, VALUE_MAP)) {
        value_remove(parent, name);
        value_put(parent, name, copy);
        return AS_OK;
    }
    if (!value_is(parent, VALUE_LIST) || !old || !copy)
        return error_set(err, AS_E_NOTFOUND, "%s: there is no such place in the report", name);
    copy->next = old->next;
    struct value *before = parent->first == old ? NULL : parent->first;
    while (before && before->next != old)
        before = before->next;
    if (before)
        before->next = copy;
    else
        parent->first = copy;
    if (parent->last == old)
        parent->last = copy;
    return AS_OK;
}

as_status brief_set(struct brief_report *report, const char *path, const struct value *value, struct as_error *err)
{
    struct brief_report changed;
    brief_init(&changed);
    struct value *root = report->root ? value_copy(&changed.tree, report->root) : value_map(&changed.tree);
    char *steps = arena_strdup(&changed.tree.arena, path);
    /* value_put keeps keys: they live in the copy's arena. */
    as_status status =
        steps && root ? put_at(&changed.tree, root, steps, value, err) : error_set(err, AS_E_NOMEM, "out of memory");
    if (status == AS_OK)
        status = brief_adopt(&changed, report->model, root, err);
    if (status == AS_OK) {
        brief_done(report);
        *report = changed;
        return AS_OK;
    }
    report->problems = (struct problems){NULL, NULL, 0};
    for (const struct problem *problem = changed.problems.first; problem; problem = problem->next)
        problems_add(&report->problems, &report->tree, problem->path, 0, "%s", problem->message);
    brief_done(&changed);
    return status;
}

void brief_write_yaml(const struct brief_report *report, struct strbuf *out)
{
    write_yaml(report->root, out);
}

void brief_write_json(const struct brief_report *report, struct strbuf *out)
{
    write_json(report->root, 2, out);
}
