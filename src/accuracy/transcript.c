/* SPDX-License-Identifier: Apache-2.0 */
#include "accuracy/transcript.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

enum unit { UNIT_WORD, UNIT_CHARACTER, UNIT_GRAPHEME };

/* Spellings numbered in order of first use; equal bytes have equal numbers. */
struct spellings {
    struct spelling {
        const char *at;
        uint32_t len;
        uint32_t number;
    } *slots;
    size_t mask;
    uint32_t count;
};

static uint64_t spelling_hash(const char *at, size_t len)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325); /* FNV-1a */
    for (size_t i = 0; i < len; i++)
        h = (h ^ (unsigned char)at[i]) * UINT64_C(0x100000001b3);
    return h ^ h >> 29;
}

static uint32_t spelling_number(struct spellings *spellings, const char *at, size_t len)
{
    size_t slot = (size_t)spelling_hash(at, len) & spellings->mask;
    for (;; slot = (slot + 1) & spellings->mask) {
        struct spelling *s = &spellings->slots[slot];
        if (!s->at) {
            *s = (struct spelling){at, (uint32_t)len, spellings->count++};
            return s->number;
        }
        if (s->len == len && memcmp(s->at, at, len) == 0)
            return s->number;
    }
}

/* Bytes of the unit that begins at `at` (text is valid UTF-8 without double spaces). */
static size_t unit_bytes(enum unit unit, const char *at, const char *end)
{
    utf8proc_int32_t before, c, state = 0;
    if (unit == UNIT_WORD) {
        const char *space = memchr(at, ' ', (size_t)(end - at));
        return (size_t)((space ? space : end) - at);
    }
    utf8proc_ssize_t n = utf8proc_iterate((const utf8proc_uint8_t *)at, (utf8proc_ssize_t)(end - at), &before);
    size_t bytes = n > 0 ? (size_t)n : 1;
    while (unit == UNIT_GRAPHEME && at + bytes < end) {
        n = utf8proc_iterate((const utf8proc_uint8_t *)at + bytes, (utf8proc_ssize_t)(end - at) - (utf8proc_ssize_t)bytes, &c);
        if (n <= 0 || utf8proc_grapheme_break_stateful(before, c, &state))
            break;
        bytes += (size_t)n;
        before = c;
    }
    return bytes;
}

static size_t number_units(enum unit unit, const struct strbuf *text, struct spellings *spellings, uint32_t *ret)
{
    size_t count = 0;
    const char *at = strbuf_text(text), *end = at + text->len;
    while (at < end) {
        size_t bytes = unit_bytes(unit, at, end);
        ret[count++] = spelling_number(spellings, at, bytes);
        at += bytes + (unit == UNIT_WORD);
    }
    return count;
}

/* `known`: counts by a finer unit, or NULL; when this unit cuts both texts into as many pieces, the pieces are the same. */
static as_status compare_units(enum unit unit, const struct strbuf *reference, const struct strbuf *hypothesis,
                               const struct edit_counts *known, struct edit_counts *ret)
{
    size_t most = reference->len + hypothesis->len + 2;
    size_t capacity = 16;
    while (capacity < most)
        capacity *= 2;
    /* A word has at least one byte and a space: characters bound all three. */
    struct spellings spellings = {calloc(capacity, sizeof *spellings.slots), capacity - 1, 0};
    uint32_t *numbers = malloc(most * sizeof *numbers);
    as_status status = AS_E_NOMEM;
    if (spellings.slots && numbers) {
        size_t n = number_units(unit, reference, &spellings, numbers);
        size_t m = number_units(unit, hypothesis, &spellings, numbers + n);
        free(spellings.slots);
        spellings.slots = NULL;
        bool is_known = known && known->reference == (int64_t)n && known->hypothesis == (int64_t)m;
        if (is_known)
            *ret = *known;
        status = is_known ? AS_OK : edit_distance(numbers, n, numbers + n, m, ret);
    }
    free(spellings.slots);
    free(numbers);
    return status;
}

as_status transcript_compare(const char *reference, size_t reference_len, const char *hypothesis, size_t hypothesis_len,
                             enum normalizer normalizer, struct transcript_errors *ret)
{
    AS_AUTO_STRBUF struct strbuf r;
    AS_AUTO_STRBUF struct strbuf h;
    strbuf_init(&r, 0);
    strbuf_init(&h, 0);
    struct transcript_errors errors;
    as_status status = text_normalize(normalizer, reference, reference_len, &r);
    if (status == AS_OK)
        status = text_normalize(normalizer, hypothesis, hypothesis_len, &h);
    if (status == AS_OK)
        status = compare_units(UNIT_WORD, &r, &h, NULL, &errors.words);
    if (status == AS_OK)
        status = compare_units(UNIT_CHARACTER, &r, &h, NULL, &errors.characters);
    if (status == AS_OK)
        status = compare_units(UNIT_GRAPHEME, &r, &h, &errors.characters, &errors.graphemes);
    if (status == AS_OK)
        *ret = errors;
    return status;
}

double error_rate(const struct edit_counts *counts)
{
    double edits = (double)(counts->substitutions + counts->deletions + counts->insertions);
    return counts->reference ? edits / (double)counts->reference : edits;
}
