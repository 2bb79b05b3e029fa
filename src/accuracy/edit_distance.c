/* SPDX-License-Identifier: Apache-2.0 */
#include "accuracy/edit_distance.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define WORD_BITS 64
#define CACHE_BYTES_MAX ((size_t)16 * 1024 * 1024)
#define NO_SYMBOL UINT32_MAX

/*
 * Rows are the reference, columns the hypothesis. A column holds the vertical differences D(i, j) − D(i − 1, j) as bits:
 * plus[i − 1] for +1, minus[i − 1] for −1. Symbols are renumbered 0… by their order of first use in the reference;
 * one that only the hypothesis has is NO_SYMBOL.
 */
struct columns {
    uint64_t *bits; /* count columns of 2 × words */
    size_t words;
};

struct edit_work {
    size_t rows, cols, words;
    uint32_t *row_symbol, *col_symbol;
    uint32_t *first_row, *next_row; /* rows of a symbol: first_row[symbol], then next_row[row]; NO_SYMBOL ends */
    uint64_t *cache;                /* match words of the first cached_symbols symbols */
    size_t cached_symbols;
    uint64_t *scratch;              /* match words of another symbol */
    size_t step;                    /* columns between checkpoints */
    struct columns checkpoints;     /* column 0, step, 2·step, … */
    struct columns block;           /* column k·step … k·step + step */
};

static uint64_t *column_plus(const struct columns *columns, size_t index)
{
    return columns->bits + index * 2 * columns->words;
}

static bool columns_new(struct columns *columns, size_t count, size_t words)
{
    columns->words = words;
    columns->bits = calloc(count * 2 * words, sizeof *columns->bits);
    return columns->bits != NULL;
}

static uint32_t symbol_hash(uint32_t symbol, size_t mask)
{
    uint64_t h = symbol * UINT64_C(0x9e3779b97f4a7c15);
    return (uint32_t)((h >> 32) & mask);
}

struct symbol_slot {
    uint32_t key, number;
    bool used;
};

static struct symbol_slot *slot_of(struct symbol_slot *slots, size_t mask, uint32_t key)
{
    size_t at = symbol_hash(key, mask);
    while (slots[at].used && slots[at].key != key)
        at = (at + 1) & mask;
    return &slots[at];
}

/* Renumbers both sequences and links the rows of each symbol; *ret_symbols = distinct symbols of the reference. */
static as_status number_symbols(struct edit_work *work, const uint32_t *reference, const uint32_t *hypothesis, size_t *ret_symbols)
{
    size_t capacity = 16;
    while (capacity < work->rows * 2)
        capacity *= 2;
    struct symbol_slot *slots = calloc(capacity, sizeof *slots);
    if (!slots)
        return AS_E_NOMEM;
    uint32_t count = 0;
    for (size_t i = 0; i < work->rows; i++) {
        struct symbol_slot *slot = slot_of(slots, capacity - 1, reference[i]);
        if (!slot->used) {
            *slot = (struct symbol_slot){reference[i], count, true};
            work->first_row[count++] = NO_SYMBOL;
        }
        work->row_symbol[i] = slot->number;
        work->next_row[i] = work->first_row[slot->number];
        work->first_row[slot->number] = (uint32_t)i;
    }
    for (size_t j = 0; j < work->cols; j++) {
        struct symbol_slot *slot = slot_of(slots, capacity - 1, hypothesis[j]);
        work->col_symbol[j] = slot->used ? slot->number : NO_SYMBOL;
    }
    free(slots);
    *ret_symbols = count;
    return AS_OK;
}

static void mark_rows(const struct edit_work *work, uint32_t symbol, uint64_t *match)
{
    for (uint32_t row = work->first_row[symbol]; row != NO_SYMBOL; row = work->next_row[row])
        match[row / WORD_BITS] |= UINT64_C(1) << (row % WORD_BITS);
}

static void unmark_rows(const struct edit_work *work, uint32_t symbol, uint64_t *match)
{
    for (uint32_t row = work->first_row[symbol]; row != NO_SYMBOL; row = work->next_row[row])
        match[row / WORD_BITS] = 0;
}

static as_status work_init(struct edit_work *work, const uint32_t *reference, const uint32_t *hypothesis)
{
    work->words = (work->rows + WORD_BITS - 1) / WORD_BITS;
    work->step = 1;
    while (work->step * work->step < work->cols)
        work->step++;
    size_t blocks = work->cols / work->step + 1;
    work->row_symbol = malloc(work->rows * sizeof *work->row_symbol);
    work->next_row = malloc(work->rows * sizeof *work->next_row);
    work->first_row = malloc(work->rows * sizeof *work->first_row);
    work->col_symbol = malloc(work->cols * sizeof *work->col_symbol);
    work->scratch = calloc(work->words, sizeof *work->scratch);
    bool ok = work->row_symbol && work->next_row && work->first_row && work->col_symbol && work->scratch &&
              columns_new(&work->checkpoints, blocks, work->words) && columns_new(&work->block, work->step + 1, work->words);
    size_t symbols = 0;
    if (!ok || number_symbols(work, reference, hypothesis, &symbols) != AS_OK)
        return AS_E_NOMEM;
    size_t affordable = CACHE_BYTES_MAX / (work->words * sizeof(uint64_t));
    work->cached_symbols = symbols < affordable ? symbols : affordable;
    work->cache = calloc(work->cached_symbols * work->words + 1, sizeof *work->cache);
    if (!work->cache)
        return AS_E_NOMEM;
    for (size_t symbol = 0; symbol < work->cached_symbols; symbol++)
        mark_rows(work, (uint32_t)symbol, work->cache + symbol * work->words);
    return AS_OK;
}

static void work_done(struct edit_work *work)
{
    free(work->row_symbol);
    free(work->next_row);
    free(work->first_row);
    free(work->col_symbol);
    free(work->scratch);
    free(work->cache);
    free(work->checkpoints.bits);
    free(work->block.bits);
}

/* Column j (from 1) from column j − 1, in place allowed. match = rows equal to the column's symbol. */
static void next_column(const uint64_t *from, uint64_t *to, const uint64_t *match, size_t words)
{
    const uint64_t *plus_in = from, *minus_in = from + words;
    uint64_t *plus_out = to, *minus_out = to + words;
    uint64_t carry_plus = 1, carry_minus = 0; /* D(0, j) = j */
    for (size_t w = 0; w < words; w++) {
        uint64_t plus = plus_in[w], minus = minus_in[w];
        uint64_t equal = match[w] | carry_minus;
        uint64_t vertical = match[w] | minus;
        uint64_t diagonal = (((equal & plus) + plus) ^ plus) | equal;
        uint64_t right_plus = minus | ~(diagonal | plus);
        uint64_t right_minus = plus & diagonal;
        uint64_t shifted_plus = (right_plus << 1) | carry_plus;
        uint64_t shifted_minus = (right_minus << 1) | carry_minus;
        carry_plus = right_plus >> (WORD_BITS - 1);
        carry_minus = right_minus >> (WORD_BITS - 1);
        plus_out[w] = shifted_minus | ~(vertical | shifted_plus);
        minus_out[w] = shifted_plus & vertical;
    }
}

static void step_column(struct edit_work *work, size_t j, const uint64_t *from, uint64_t *to)
{
    uint32_t symbol = work->col_symbol[j - 1];
    if (symbol != NO_SYMBOL && symbol < work->cached_symbols) {
        next_column(from, to, work->cache + symbol * work->words, work->words);
        return;
    }
    if (symbol != NO_SYMBOL)
        mark_rows(work, symbol, work->scratch);
    next_column(from, to, work->scratch, work->words);
    if (symbol != NO_SYMBOL)
        unmark_rows(work, symbol, work->scratch);
}

/* Column 0: D(i, 0) = i. */
static void first_column(const struct edit_work *work, uint64_t *column)
{
    memset(column, 0xff, work->words * sizeof *column);
    memset(column + work->words, 0, work->words * sizeof *column);
}

static void forward(struct edit_work *work)
{
    uint64_t *now = column_plus(&work->block, 0);
    first_column(work, now);
    memcpy(column_plus(&work->checkpoints, 0), now, 2 * work->words * sizeof *now);
    for (size_t j = 1; j <= work->cols; j++) {
        step_column(work, j, now, now);
        if (j % work->step == 0)
            memcpy(column_plus(&work->checkpoints, j / work->step), now, 2 * work->words * sizeof *now);
    }
}

static void fill_block(struct edit_work *work, size_t index)
{
    size_t from = index * work->step;
    memcpy(column_plus(&work->block, 0), column_plus(&work->checkpoints, index), 2 * work->words * sizeof(uint64_t));
    for (size_t j = from + 1; j <= from + work->step && j <= work->cols; j++)
        step_column(work, j, column_plus(&work->block, j - from - 1), column_plus(&work->block, j - from));
}

/* D(i, j) − D(i − 1, j), i from 1. */
static int vertical_at(const struct edit_work *work, const uint64_t *column, size_t i)
{
    size_t w = (i - 1) / WORD_BITS, bit = (i - 1) % WORD_BITS;
    return (int)((column[w] >> bit) & 1) - (int)((column[work->words + w] >> bit) & 1);
}

/* D(i, j) from D(0, j) = j and the differences above. */
static int64_t distance_at(const struct edit_work *work, const uint64_t *column, size_t i, size_t j)
{
    int64_t d = (int64_t)j;
    size_t whole = i / WORD_BITS;
    for (size_t w = 0; w < whole; w++)
        d += __builtin_popcountll(column[w]) - __builtin_popcountll(column[work->words + w]);
    if (i % WORD_BITS) {
        uint64_t mask = (UINT64_C(1) << (i % WORD_BITS)) - 1;
        d += __builtin_popcountll(column[whole] & mask) - __builtin_popcountll(column[work->words + whole] & mask);
    }
    return d;
}

/* Walks back from (*row, j) to the block's first column or row 0, counting edits; returns the column reached. */
static size_t walk_block(const struct edit_work *work, size_t from, size_t *row, size_t j, struct edit_counts *counts)
{
    size_t i = *row;
    int64_t d = distance_at(work, column_plus(&work->block, j - from), i, j);
    while (i > 0 && j > from) {
        int64_t diagonal = distance_at(work, column_plus(&work->block, j - from - 1), i - 1, j - 1);
        bool equal = work->row_symbol[i - 1] == work->col_symbol[j - 1];
        if (equal || diagonal + 1 == d) {
            counts->hits += equal;
            counts->substitutions += !equal;
            i--;
            j--;
            d = diagonal;
        } else if (vertical_at(work, column_plus(&work->block, j - from), i) == 1) {
            counts->deletions++;
            i--;
            d--;
        } else {
            counts->insertions++;
            j--;
            d--;
        }
    }
    *row = i;
    return j;
}

as_status edit_distance(const uint32_t *reference, size_t reference_count, const uint32_t *hypothesis, size_t hypothesis_count,
                        struct edit_counts *ret)
{
    if (reference_count > EDIT_SYMBOLS_MAX || hypothesis_count > EDIT_SYMBOLS_MAX)
        return AS_E_LIMIT;
    struct edit_counts counts = {.reference = (int64_t)reference_count, .hypothesis = (int64_t)hypothesis_count};
    if (reference_count == 0 || hypothesis_count == 0) {
        counts.deletions = counts.reference;
        counts.insertions = counts.hypothesis;
        *ret = counts;
        return AS_OK;
    }
    struct edit_work work = {.rows = reference_count, .cols = hypothesis_count};
    as_status status = work_init(&work, reference, hypothesis);
    if (status == AS_OK) {
        forward(&work);
        size_t i = work.rows, j = work.cols;
        for (size_t block = (work.cols - 1) / work.step + 1; block-- > 0 && i > 0;) {
            fill_block(&work, block);
            j = walk_block(&work, block * work.step, &i, j, &counts);
        }
        counts.deletions += (int64_t)i;
        counts.insertions += (int64_t)j;
        *ret = counts;
    }
    work_done(&work);
    return status;
}
