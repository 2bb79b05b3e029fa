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

as_status seq_set_take(struct seq_set *set, int64_t seq, bool *ret_seen)
{
    if (seq < 0 || seq >= SEQ_SET_MAX) {
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
    *set = (struct seq_set){0};
}
