/* SPDX-License-Identifier: Apache-2.0 */
#include "summary/prompt_set.h"

#include <stdlib.h>

/* FNV-1a, never 0. */
static uint64_t hash_text(const char *text)
{
    uint64_t hash = UINT64_C(14695981039346656037);
    for (const unsigned char *at = (const unsigned char *)text; *at; at++)
        hash = (hash ^ *at) * UINT64_C(1099511628211);
    hash ^= hash >> 32;
    return hash ? hash : 1;
}

static struct prompt_use *find(struct prompt_use *table, size_t capacity, uint64_t hash)
{
    size_t at = (size_t)hash & (capacity - 1);
    while (table[at].hash && table[at].hash != hash)
        at = (at + 1) & (capacity - 1);
    return &table[at];
}

static as_status grow(struct prompt_set *set)
{
    size_t capacity = set->capacity ? set->capacity * 2 : 64;
    struct prompt_use *table = calloc(capacity, sizeof *table);
    if (!table)
        return AS_E_NOMEM;
    for (size_t i = 0; i < set->capacity; i++) {
        if (set->table[i].hash)
            *find(table, capacity, set->table[i].hash) = set->table[i];
    }
    free(set->table);
    set->table = table;
    set->capacity = capacity;
    return AS_OK;
}

as_status prompt_set_take(struct prompt_set *set, const char *id)
{
    if (set->is_full || !id[0])
        return AS_OK;
    if (set->used * 2 >= set->capacity) {
        as_status status = grow(set);
        if (status != AS_OK)
            return status;
    }
    uint64_t hash = hash_text(id);
    struct prompt_use *use = find(set->table, set->capacity, hash);
    if (!use->hash) {
        if (set->used == PROMPT_SET_MAX) {
            prompt_set_done(set);
            set->is_full = true;
            return AS_OK;
        }
        use->hash = hash;
        set->used++;
    }
    use->count++;
    return AS_OK;
}

void prompt_set_done(struct prompt_set *set)
{
    free(set->table);
    *set = (struct prompt_set){0};
}
