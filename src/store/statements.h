/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_STORE_STATEMENTS_H
#define ASSAY_STORE_STATEMENTS_H

/*
 * Prepared statements of one connection, by text. What a backend prepared hangs at `prepared`; it is told to drop it when the
 * cache is full or done. One thread.
 */

#include <stdbool.h>
#include <stdint.h>

#define STATEMENT_BUCKETS 256
#define STATEMENTS_MAX    400 /* idle ones beyond this are dropped, the longest unused first */

struct statement {
    struct statement *next; /* in its bucket */
    uint64_t hash;
    uint64_t used_at; /* tick of the last use */
    bool is_busy;     /* rows of it are being read */
    void *prepared;
    char sql[];
};

struct statements {
    struct statement *bucket[STATEMENT_BUCKETS];
    uint32_t count;
    uint64_t tick;
    void (*drop)(void *context, void *prepared);
    void *context;
};

void statements_init(struct statements *cache, void (*drop)(void *context, void *prepared), void *context);
/* Drops all; the cache may be used again. */
void statements_clear(struct statements *cache);
/* The next idle one with this text behind `after` (NULL: the first); NULL when there is none. */
struct statement *statements_find(struct statements *cache, const char *sql, struct statement *after);
/* Takes `take_prepared` over; NULL without memory (then it is dropped). The new one is busy. */
struct statement *statements_add(struct statements *cache, const char *sql, void *take_prepared);
void statements_use(struct statements *cache, struct statement *statement);
void statements_release(struct statement *statement);
/* Drops one that is busy or idle. */
void statements_remove(struct statements *cache, struct statement *statement);

#endif
