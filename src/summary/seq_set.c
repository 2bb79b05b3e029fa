/* SPDX-License-Identifier: Apache-2.0 */
#include "summary/seq_set.h"

#include <stdlib.h>
#include <string.h>

#define PAGE_WORDS ((size_t)1 << (SEQ_SET_PAGE_BITS - 6))

static as_status grow(struct seq_set *set, size_t page)
{
    size_t count = set->page_count ? set->page_count : 16;
    while (count <= page)
        count *= 2;
    uint64_t **pages = realloc(set->pages, count * sizeof *pages);
    if (!pages)
        return AS_E_NOMEM;
    memset(pages + set->page_count, 0, (count - set->page_count) * sizeof *pages);
    set->pages = pages;
    set->page_count = count;
    return AS_OK;
}

/* Where the number is, or would be put; there is a free place. */
static size_t far_place(const struct seq_set *set, int64_t seq)
{
    uint64_t hash = (uint64_t)seq * UINT64_C(0x9E3779B97F4A7C15);
    size_t at = (size_t)(hash >> 32) & (set->far_capacity - 1);
    while (set->far[at] && set->far[at] != seq)
        at = (at + 1) & (set->far_capacity - 1);
    return at;
}

/* Half of the places stay free. */
static as_status far_grow(struct seq_set *set)
{
    struct seq_set old = *set;
    size_t capacity = old.far_capacity ? old.far_capacity * 2 : 64;
    int64_t *far = calloc(capacity, sizeof *far);
    if (!far)
        return AS_E_NOMEM;
    set->far = far;
    set->far_capacity = capacity;
    for (size_t i = 0; i < old.far_capacity; i++)
        if (old.far[i])
            far[far_place(set, old.far[i])] = old.far[i];
    free(old.far);
    return AS_OK;
}

static as_status far_take(struct seq_set *set, int64_t seq, bool *ret_seen)
{
    if (set->far_count * 2 >= set->far_capacity) {
        as_status status = far_grow(set);
        if (status != AS_OK)
            return status;
    }
    size_t at = far_place(set, seq);
    *ret_seen = set->far[at] == seq;
    set->far_count += !*ret_seen;
    set->far[at] = seq;
    return AS_OK;
}

as_status seq_set_take(struct seq_set *set, int64_t seq, bool *ret_seen)
{
    if (seq >= SEQ_SET_MAX)
        return far_take(set, seq, ret_seen);
    if (seq < 0) {
        *ret_seen = false;
        return AS_OK;
    }
    size_t page = (size_t)(seq >> SEQ_SET_PAGE_BITS);
    if (page >= set->page_count) {
        as_status status = grow(set, page);
        if (status != AS_OK)
            return status;
    }
    if (!set->pages[page] && !(set->pages[page] = calloc(PAGE_WORDS, sizeof **set->pages)))
        return AS_E_NOMEM;
    size_t bit = (size_t)seq & (((size_t)1 << SEQ_SET_PAGE_BITS) - 1);
    uint64_t mask = UINT64_C(1) << (bit & 63);
    *ret_seen = set->pages[page][bit >> 6] & mask;
    set->pages[page][bit >> 6] |= mask;
    return AS_OK;
}

void seq_set_done(struct seq_set *set)
{
    for (size_t i = 0; i < set->page_count; i++)
        free(set->pages[i]);
    free(set->pages);
    free(set->far);
    *set = (struct seq_set){0};
}
