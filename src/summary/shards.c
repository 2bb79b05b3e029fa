/* SPDX-License-Identifier: Apache-2.0 */
#include "summary/shards.h"

#include "base/json.h"
#include "base/json_write.h"

#include <string.h>

/* Members of the configuration that say where a shard runs, writes and shows, not what it measures. */
static const char *const local_members[] = {
    "shard",   "result-dir",    "data-log",      "quiet",         "console",         "progress-interval",
    "threads", "job",           "origins",       "body-template", "run-description", "run-keywords",
    "dry-run", "fail-on-error", "require-valid", "api-key-file",
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
