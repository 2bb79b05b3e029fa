/* SPDX-License-Identifier: Apache-2.0 */
#include "store/statements.h"

#include <stdlib.h>
#include <string.h>

void statements_init(struct statements *cache, void (*drop)(void *context, void *prepared), void *context)
{
    *cache = (struct statements){.drop = drop, .context = context};
}

static uint64_t hash_text(const char *text)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    return hash;
}

static void drop_statement(struct statements *cache, struct statement *statement)
{
    cache->drop(cache->context, statement->prepared);
    free(statement);
    cache->count--;
}

void statements_clear(struct statements *cache)
{
    for (uint32_t i = 0; i < STATEMENT_BUCKETS; i++) {
        while (cache->bucket[i]) {
            struct statement *statement = cache->bucket[i];
            cache->bucket[i] = statement->next;
            drop_statement(cache, statement);
        }
    }
}

struct statement *statements_find(struct statements *cache, const char *sql, struct statement *after)
{
    const uint64_t hash = after ? after->hash : hash_text(sql);
    struct statement *statement = after ? after->next : cache->bucket[hash % STATEMENT_BUCKETS];
    while (statement && (statement->hash != hash || statement->is_busy || strcmp(statement->sql, sql) != 0))
        statement = statement->next;
    return statement;
}

void statements_remove(struct statements *cache, struct statement *statement)
{
    struct statement **link = &cache->bucket[statement->hash % STATEMENT_BUCKETS];
    while (*link != statement)
        link = &(*link)->next;
    *link = statement->next;
    drop_statement(cache, statement);
}

static void drop_oldest(struct statements *cache)
{
    struct statement *oldest = NULL;
    for (uint32_t i = 0; i < STATEMENT_BUCKETS; i++)
        for (struct statement *at = cache->bucket[i]; at; at = at->next)
            if (!at->is_busy && (!oldest || at->used_at < oldest->used_at))
                oldest = at;
    if (oldest)
        statements_remove(cache, oldest);
}

struct statement *statements_add(struct statements *cache, const char *sql, void *take_prepared)
{
    const size_t len = strlen(sql);
    struct statement *statement = malloc(sizeof *statement + len + 1);
    if (!statement) {
        cache->drop(cache->context, take_prepared);
        return NULL;
    }
    const uint64_t hash = hash_text(sql);
    *statement = (struct statement){cache->bucket[hash % STATEMENT_BUCKETS], hash, 0, false, take_prepared};
    memcpy(statement->sql, sql, len + 1);
    cache->bucket[hash % STATEMENT_BUCKETS] = statement;
    cache->count++;
    statements_use(cache, statement);
    if (cache->count > STATEMENTS_MAX)
        drop_oldest(cache);
    return statement;
}

void statements_use(struct statements *cache, struct statement *statement)
{
    statement->used_at = ++cache->tick;
    statement->is_busy = true;
}

void statements_release(struct statement *statement)
{
    statement->is_busy = false;
}
