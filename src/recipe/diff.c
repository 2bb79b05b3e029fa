/* SPDX-License-Identifier: Apache-2.0 */
#include "recipe/diff.h"

#include "recipe/words.h"

#include <inttypes.h>
#include <stdlib.h>

struct changes {
    struct arena *arena;
    struct recipe_change *items;
    size_t count;
    size_t capacity;
    bool is_launch;
    bool is_out_of_memory;
};

static bool same(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

/* The text, noting that memory was short when there is none. */
static const char *kept(struct changes *changes, const char *text)
{
    changes->is_out_of_memory = changes->is_out_of_memory || !text;
    return text;
}

static void note(struct changes *changes, const char *member, const char *before, const char *after)
{
    if (same(before, after))
        return;
    if (changes->count == changes->capacity) {
        size_t capacity = changes->capacity ? 2 * changes->capacity : 8;
        struct recipe_change *items = arena_calloc(changes->arena, capacity, sizeof(*items));
        if (!items) {
            changes->is_out_of_memory = true;
            return;
        }
        for (size_t i = 0; i < changes->count; i++)
            items[i] = changes->items[i];
        changes->items = items;
        changes->capacity = capacity;
    }
    changes->items[changes->count++] = (struct recipe_change){member,
                                                              !before  ? RECIPE_ADDED
                                                              : !after ? RECIPE_REMOVED
                                                                       : RECIPE_CHANGED,
                                                              before, after};
    changes->is_out_of_memory = changes->is_out_of_memory || !member;
}

static void note_number(struct changes *changes, const char *member, double before, double after)
{
    char texts[2][DOUBLE_TEXT_BYTES];
    (void)double_format(before, texts[0]);
    (void)double_format(after, texts[1]);
    if (before < after || before > after)
        note(changes, member, kept(changes, arena_strdup(changes->arena, texts[0])),
             kept(changes, arena_strdup(changes->arena, texts[1])));
}

static void note_flag(struct changes *changes, const char *member, bool before, bool after)
{
    note(changes, member, before ? "true" : "false", after ? "true" : "false");
}

static const char *list_text(struct changes *changes, const struct recipe_list *list)
{
    struct strbuf out AS_AUTO_STRBUF;
    strbuf_init(&out, 0);
    for (size_t i = 0; i < list->count; i++)
        strbuf_addf(&out, "%s%s", i ? ", " : "", list->items[i]);
    return kept(changes, strbuf_status(&out) == AS_OK ? arena_strdup(changes->arena, strbuf_text(&out)) : NULL);
}

static void note_pairs(struct changes *changes, const char *member, const struct recipe_pairs *before,
                       const struct recipe_pairs *after)
{
    for (size_t i = 0; i < before->count; i++)
        note(changes, arena_printf(changes->arena, "%s.%s", member, before->items[i].name), before->items[i].value,
             recipe_pairs_get(after, before->items[i].name));
    for (size_t i = 0; i < after->count; i++)
        if (!recipe_pairs_get(before, after->items[i].name))
            note(changes, arena_printf(changes->arena, "%s.%s", member, after->items[i].name), NULL,
                 after->items[i].value);
}

/* An argument with everything that decides how it is written. */
static const char *arg_text(struct changes *changes, const struct recipe_arg *arg)
{
    if (!arg)
        return NULL;
    if (!arg->flag && !arg->join && !arg->raw)
        return arg->text;
    return kept(changes,
                arena_printf(changes->arena, "%s%s%s%s%s%s%s", arg->text, arg->flag ? " as " : "",
                             arg->flag ? arg->flag : "", arg->join ? " joined by " : "", arg->join ? arg->join : "",
                             arg->raw ? " written " : "", arg->raw ? arg->raw : ""));
}

static const char *key_order(struct changes *changes, const struct recipe_args *args)
{
    struct strbuf out AS_AUTO_STRBUF;
    strbuf_init(&out, 0);
    for (size_t i = 0; i < args->count; i++)
        strbuf_addf(&out, "%s%s", i ? " " : "", args->items[i].key);
    return kept(changes, strbuf_status(&out) == AS_OK ? arena_strdup(changes->arena, strbuf_text(&out)) : NULL);
}

static void note_args(struct changes *changes, const struct recipe_set *before, const struct recipe_set *after)
{
    size_t count = changes->count;
    for (size_t i = 0; i < before->args.count; i++) {
        const struct recipe_arg *arg = &before->args.items[i];
        note(changes, arena_printf(changes->arena, "args.%s", arg->key), arg_text(changes, arg),
             arg_text(changes, recipe_set_arg(after, arg->key)));
    }
    for (size_t i = 0; i < after->args.count; i++) {
        const struct recipe_arg *arg = &after->args.items[i];
        if (!recipe_set_arg(before, arg->key))
            note(changes, arena_printf(changes->arena, "args.%s", arg->key), NULL, arg_text(changes, arg));
    }
    if (changes->count == count)
        note(changes, "args (order)", key_order(changes, &before->args), key_order(changes, &after->args));
}

static void note_texts(struct changes *changes, const struct recipe_set *before, const struct recipe_set *after)
{
    const struct {
        const char *member, *before, *after;
    } texts[] = {
        {"framework_version_min", before->framework_version_min, after->framework_version_min},
        {"model_code", before->model_code, after->model_code},
        {"base_model_code", before->base_model_code, after->base_model_code},
        {"variant", before->variant, after->variant},
        {"precision", before->precision, after->precision},
        {"strategy", before->strategy, after->strategy},
        {"tp_source", before->tp_source, after->tp_source},
        {"source", before->source, after->source},
        {"path", before->path, after->path},
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        note(changes, texts[i].member, texts[i].before, texts[i].after);
    note(changes, "gpu_classes", list_text(changes, &before->gpu_classes), list_text(changes, &after->gpu_classes));
}

static void note_numbers(struct changes *changes, const struct recipe_set *before, const struct recipe_set *after)
{
    const struct {
        const char *member;
        int64_t before, after;
    } numbers[] = {
        {"tensor_parallel_size", before->tensor_parallel_size, after->tensor_parallel_size},
        {"pipeline_parallel_size", before->pipeline_parallel_size, after->pipeline_parallel_size},
        {"data_parallel_size", before->data_parallel_size, after->data_parallel_size},
        {"expert_parallel_size", before->expert_parallel_size, after->expert_parallel_size},
        {"node_count", before->node_count, after->node_count},
        {"gpus_per_replica", before->gpus_per_replica, after->gpus_per_replica},
    };
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        note_number(changes, numbers[i].member, (double)numbers[i].before, (double)numbers[i].after);
    note_number(changes, "memory_floor_gb", before->memory_floor_gb, after->memory_floor_gb);
    note_flag(changes, "derived", before->is_derived, after->is_derived);
    note_flag(changes, "recommended", before->is_recommended, after->is_recommended);
    note_flag(changes, "default", before->is_default, after->is_default);
}

static void compare_sets(struct changes *changes, const struct recipe_set *before, const struct recipe_set *after)
{
    note(changes, "framework_code", before->framework_code, after->framework_code);
    note(changes, "tool", before->tool, after->tool);
    note_args(changes, before, after);
    note_pairs(changes, "env", &before->env, &after->env);
    note_pairs(changes, "images", &before->images, &after->images);
    changes->is_launch = changes->count > 0;
    note_texts(changes, before, after);
    note_numbers(changes, before, after);
    note_pairs(changes, "verified", &before->verified, &after->verified);
}

static int by_code(const void *a, const void *b)
{
    return strcmp((*(const struct recipe_set *const *)a)->code, (*(const struct recipe_set *const *)b)->code);
}

static const struct recipe_set **sort_sets(const struct recipe_data *data, struct arena *arena)
{
    const struct recipe_set **sorted = arena_calloc(arena, data->set_count + 1, sizeof(const struct recipe_set *));
    if (!sorted)
        return NULL;
    for (size_t i = 0; i < data->set_count; i++)
        sorted[i] = &data->sets[i];
    qsort(sorted, data->set_count, sizeof(const struct recipe_set *), by_code);
    return sorted;
}

static void put_whole(struct recipe_diff *diff, struct recipe_set_change *items, const struct recipe_set *set,
                      enum recipe_change_kind kind)
{
    items[diff->set_count++] =
        (struct recipe_set_change){.set_code = set->code, .kind = kind, .is_launch_changed = true};
    if (kind == RECIPE_ADDED)
        diff->added++;
    else
        diff->removed++;
}

static as_status put_pair(struct recipe_diff *diff, struct recipe_set_change *items, struct arena *arena,
                          const struct recipe_set *pair[2])
{
    struct changes changes = {.arena = arena};
    compare_sets(&changes, pair[0], pair[1]);
    if (changes.is_out_of_memory)
        return AS_E_NOMEM;
    if (changes.count == 0) {
        diff->same++;
        return AS_OK;
    }
    diff->changed++;
    items[diff->set_count++] = (struct recipe_set_change){.set_code = pair[0]->code,
                                                          .kind = RECIPE_CHANGED,
                                                          .changes = changes.items,
                                                          .change_count = changes.count,
                                                          .is_launch_changed = changes.is_launch};
    return AS_OK;
}

as_status recipe_diff_sets(const struct recipe_data *before, const struct recipe_data *after, struct arena *arena,
                           struct recipe_diff *ret)
{
    const struct recipe_set **old = sort_sets(before, arena), **new = sort_sets(after, arena);
    struct recipe_set_change *items = arena_calloc(arena, before->set_count + after->set_count + 1, sizeof(*items));
    struct recipe_diff diff = {.sets = items};
    size_t i = 0, j = 0;
    if (!old || !new || !items)
        return AS_E_NOMEM;
    while (i < before->set_count || j < after->set_count) {
        int order = i == before->set_count ? 1 : j == after->set_count ? -1 : strcmp(old[i]->code, new[j]->code);
        if (order < 0) {
            put_whole(&diff, items, old[i++], RECIPE_REMOVED);
        } else if (order > 0) {
            put_whole(&diff, items, new[j++], RECIPE_ADDED);
        } else {
            const struct recipe_set *pair[2] = {old[i++], new[j++]};
            if (put_pair(&diff, items, arena, pair) != AS_OK)
                return AS_E_NOMEM;
        }
    }
    *ret = diff;
    return AS_OK;
}

static const char *kind_name(enum recipe_change_kind kind)
{
    static const char *const names[] = {"added", "removed", "changed"};
    return names[kind];
}

void recipe_diff_text(const struct recipe_diff *diff, struct strbuf *out)
{
    for (size_t i = 0; i < diff->set_count; i++) {
        const struct recipe_set_change *set = &diff->sets[i];
        bool is_note = set->kind == RECIPE_CHANGED && !set->is_launch_changed;
        strbuf_addf(out, "%-7s  %s%s\n", kind_name(set->kind), set->set_code, is_note ? "  (same command)" : "");
        for (size_t j = 0; j < set->change_count; j++) {
            const struct recipe_change *change = &set->changes[j];
            strbuf_addf(out, "         %s: %s -> %s\n", change->member, change->before ? change->before : "(none)",
                        change->after ? change->after : "(none)");
        }
    }
    strbuf_addf(out, "%zu added, %zu removed, %zu changed, %zu the same\n", diff->added, diff->removed, diff->changed,
                diff->same);
}

void recipe_diff_json(const struct recipe_diff *diff, struct json_writer *writer)
{
    json_open_object(writer);
    json_member_int(writer, "added", (int64_t)diff->added);
    json_member_int(writer, "removed", (int64_t)diff->removed);
    json_member_int(writer, "changed", (int64_t)diff->changed);
    json_member_int(writer, "same", (int64_t)diff->same);
    json_key(writer, "sets");
    json_open_array(writer);
    for (size_t i = 0; i < diff->set_count; i++) {
        const struct recipe_set_change *set = &diff->sets[i];
        json_open_object(writer);
        json_member_string(writer, "set_code", set->set_code);
        json_member_string(writer, "change", kind_name(set->kind));
        json_member_bool(writer, "launch_changed", set->is_launch_changed);
        json_key(writer, "values");
        json_open_array(writer);
        for (size_t j = 0; j < set->change_count; j++) {
            json_open_object(writer);
            json_member_string(writer, "member", set->changes[j].member);
            json_member_string(writer, "before", set->changes[j].before);
            json_member_string(writer, "after", set->changes[j].after);
            json_close_object(writer);
        }
        json_close_array(writer);
        json_close_object(writer);
    }
    json_close_array(writer);
    json_close_object(writer);
}
