/* SPDX-License-Identifier: Apache-2.0 */
#include "summary/shards.h"

#include "base/json.h"
#include "base/json_write.h"

#include <string.h>

/* Members of the configuration that say where a shard runs, writes and shows, not what it measures. */
static const char *const local_members[] = {
    "shard",   "result-dir",    "data-log",      "quiet",         "console",         "progress-interval",
    "threads", "job",           "origins",       "body-template", "run-description", "run-keywords",
    "dry-run", "fail-on-error", "require-valid", "api-key-file", "disk-wait",
};

#define GROUP_DEPTH 2 /* objects within objects of a configuration */

/* Equal but for '_' and '-'. */
static bool same_name(const char *a, const char *b)
{
    for (; *a && *b; a++, b++) {
        char x = (char)(*a == '_' ? '-' : *a), y = (char)(*b == '_' ? '-' : *b);
        if (x != y)
            return false;
    }
    return *a == *b;
}

static bool is_local(const char *name)
{
    for (size_t i = 0; i < sizeof local_members / sizeof *local_members; i++) {
        if (same_name(name, local_members[i]))
            return true;
    }
    return false;
}

static void put_value(struct strbuf *text, const struct json_value *value)
{
    struct json_writer writer;
    strbuf_init(text, 0);
    json_writer_init(&writer, text, 0);
    if (value)
        json_put_value(&writer, value);
}

static as_status same_value(const struct json_value *a, const struct json_value *b, bool *ret)
{
    AS_AUTO_STRBUF struct strbuf x, y;
    put_value(&x, a);
    put_value(&y, b);
    as_status status = strbuf_status(&x) != AS_OK ? strbuf_status(&x) : strbuf_status(&y);
    if (status == AS_OK)
        *ret = x.len == y.len && strcmp(strbuf_text(&x), strbuf_text(&y)) == 0;
    return status;
}

/* The first member of object `a` that object `b` has otherwise or not at all; NULL when there is none. Groups are
 * looked into. */
static as_status first_difference(const struct json_value *a, const struct json_value *b, int depth, const char **ret)
{
    *ret = NULL;
    for (const struct json_value *member = a->first; member; member = member->next) {
        const struct json_value *other = json_get(b, member->key);
        bool is_same = false,
             is_group = depth > 0 && other && member->type == JSON_OBJECT && other->type == JSON_OBJECT;
        if (is_local(member->key))
            continue;
        as_status status =
            is_group ? first_difference(member, other, depth - 1, ret) : same_value(member, other, &is_same);
        if (status != AS_OK || *ret)
            return status;
        if (is_group || is_same)
            continue;
        *ret = member->key;
        return AS_OK;
    }
    return AS_OK;
}

static as_status config_difference(const struct run_facts *a, const struct run_facts *b, struct arena *arena,
                                   const char **ret)
{
    *ret = NULL;
    if (!a->config_json || !b->config_json) {
        if (a->config_json != b->config_json)
            *ret = "config";
        return AS_OK;
    }
    const struct json_value *x, *y;
    as_status status = json_parse(a->config_json, strlen(a->config_json), NULL, arena, &x, NULL);
    if (status == AS_OK)
        status = json_parse(b->config_json, strlen(b->config_json), NULL, arena, &y, NULL);
    if (status != AS_OK)
        return status;
    if (x->type != JSON_OBJECT || y->type != JSON_OBJECT) {
        *ret = "config";
        return AS_OK;
    }
    status = first_difference(x, y, GROUP_DEPTH, ret);
    return status == AS_OK && !*ret ? first_difference(y, x, GROUP_DEPTH, ret) : status;
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool same_endpoints(const struct run_facts *a, const struct run_facts *b)
{
    if (a->endpoint_count != b->endpoint_count)
        return false;
    for (size_t i = 0; i < a->endpoint_count; i++) {
        if (!same_text(a->endpoints[i].url, b->endpoints[i].url) ||
            !same_text(a->endpoints[i].name, b->endpoints[i].name))
            return false;
    }
    return true;
}

static as_status put(struct arena *arena, const char **ret, const char *what, const char *member, size_t index)
{
    *ret = arena_printf(arena, "%s%s: run 1 and run %zu", what, member, index + 1);
    return *ret ? AS_OK : AS_E_NOMEM;
}

static as_status pair_difference(const struct run_facts *const *shards, size_t index, struct arena *arena,
                                 const char **ret)
{
    const struct run_facts *first = shards[0], *other = shards[index];
    if (!same_text(first->tool, other->tool))
        return put(arena, ret, "the tool differs", "", index);
    if (!same_endpoints(first, other))
        return put(arena, ret, "the endpoints differ", "", index);
    if (first->shard_count != other->shard_count)
        return put(arena, ret, "the number of shards differs", "", index);
    const char *member;
    as_status status = config_difference(first, other, arena, &member);
    if (status != AS_OK || !member)
        return status;
    return put(arena, ret, "the configuration differs in ", member, index);
}

/* A shard of the plan that none of them is. One alone stands for itself. */
static as_status missing_shard(const struct run_facts *const *shards, size_t count, struct arena *arena,
                               const char **ret)
{
    if (count < 2)
        return AS_OK;
    for (int64_t wanted = 0; wanted < shards[0]->shard_count; wanted++) {
        size_t i = 0;
        while (i < count && shards[i]->shard != wanted)
            i++;
        if (i < count)
            continue;
        *ret = arena_printf(arena, "shard %lld of %lld is not among them", (long long)wanted,
                            (long long)shards[0]->shard_count);
        return *ret ? AS_OK : AS_E_NOMEM;
    }
    return AS_OK;
}

as_status shards_difference(const struct run_facts *const *shards, size_t count, struct arena *arena, const char **ret)
{
    *ret = NULL;
    for (size_t i = 1; i < count; i++) {
        as_status status = pair_difference(shards, i, arena, ret);
        if (status != AS_OK || *ret)
            return status;
        for (size_t j = 0; j < i; j++) {
            if (shards[j]->shard != shards[i]->shard)
                continue;
            *ret = arena_printf(arena, "run %zu and run %zu are the same shard, %lld of %lld", j + 1, i + 1,
                                (long long)shards[i]->shard, (long long)shards[i]->shard_count);
            return *ret ? AS_OK : AS_E_NOMEM;
        }
    }
    return missing_shard(shards, count, arena, ret);
}

/* ---- what they have in common ---- */

static as_status parse_configs(const struct run_facts *const *shards, size_t count, struct arena *arena,
                               const struct json_value **ret)
{
    for (size_t i = 0; i < count; i++) {
        const char *text = shards[i]->config_json ? shards[i]->config_json : "{}";
        as_status status = json_parse(text, strlen(text), NULL, arena, &ret[i], NULL);
        if (status != AS_OK)
            return status;
        if (ret[i]->type != JSON_OBJECT)
            return AS_E_INVALID;
    }
    return AS_OK;
}

/* Objects of the same place in each configuration. */
struct level {
    const struct json_value *const *objects;
    size_t count;
    int depth;
};

static as_status write_level(struct json_writer *writer, struct arena *arena, const struct level *level);

/* The member, or null when it is not the same everywhere; groups are looked into. */
static as_status write_member(struct json_writer *writer, struct arena *arena, const struct level *level,
                              const char *key)
{
    bool is_same = true, is_group = level->depth > 0;
    as_status status = AS_OK;
    const struct json_value **members = arena_calloc(arena, level->count, sizeof *members);
    if (!members)
        return AS_E_NOMEM;
    for (size_t i = 0; i < level->count && status == AS_OK; i++) {
        members[i] = json_get(level->objects[i], key);
        is_group = is_group && members[i] && members[i]->type == JSON_OBJECT;
        if (!members[0] || !members[i])
            is_same = false;
        else if (is_same)
            status = same_value(members[0], members[i], &is_same);
    }
    json_key(writer, key);
    if (is_group && status == AS_OK) {
        const struct level below = {members, level->count, level->depth - 1};
        json_open_object(writer);
        status = write_level(writer, arena, &below);
        json_close_object(writer);
    } else if (is_same) {
        json_put_value(writer, members[0]);
    } else {
        json_put_null(writer);
    }
    return status;
}

static as_status write_level(struct json_writer *writer, struct arena *arena, const struct level *level)
{
    for (size_t i = 0; i < level->count; i++) {
        for (const struct json_value *member = level->objects[i]->first; member; member = member->next) {
            bool is_known = false;
            for (size_t j = 0; j < i; j++)
                is_known = is_known || json_get(level->objects[j], member->key);
            as_status status = is_known ? AS_OK : write_member(writer, arena, level, member->key);
            if (status != AS_OK)
                return status;
        }
    }
    return AS_OK;
}

static void write_inputs(struct json_writer *writer, const struct run_facts *const *shards,
                         const struct json_value *const *configs, size_t count)
{
    json_key(writer, "inputs");
    json_open_array(writer);
    for (size_t i = 0; i < count; i++) {
        const char *folder = NULL;
        (void)json_string(json_get(configs[i], "result_dir"), &folder);
        json_open_object(writer);
        json_member_string(writer, "path", shards[i]->input);
        json_member_string(writer, "run_id", shards[i]->run_id);
        json_member_int(writer, "shard", shards[i]->shard);
        json_member_int(writer, "shard_count", shards[i]->shard_count);
        json_member_string(writer, "result_dir", folder);
        json_close_object(writer);
    }
    json_close_array(writer);
}

as_status shards_config(const struct run_facts *const *shards, size_t count, struct arena *arena,
                        const struct json_value **ret)
{
    AS_AUTO_STRBUF struct strbuf text;
    struct json_writer writer;
    const struct json_value **configs = arena_calloc(arena, count, sizeof *configs);
    as_status status = configs ? parse_configs(shards, count, arena, configs) : AS_E_NOMEM;
    if (status != AS_OK)
        return status;
    const struct level top = {configs, count, GROUP_DEPTH};
    strbuf_init(&text, 0);
    json_writer_init(&writer, &text, 0);
    json_open_object(&writer);
    status = write_level(&writer, arena, &top);
    write_inputs(&writer, shards, configs, count);
    json_close_object(&writer);
    if (status == AS_OK)
        status = json_writer_status(&writer);
    return status == AS_OK ? json_parse(strbuf_text(&text), text.len, NULL, arena, ret, NULL) : status;
}
