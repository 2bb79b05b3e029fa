/* SPDX-License-Identifier: Apache-2.0 */
#include "brief/reader.h"

#include <string.h>

static const char *const WORDS[] = {"NaN", "Infinity", "-Infinity"};

static bool begins_a_word(const char *text, size_t len, bool *ret_is_whole)
{
    for (size_t i = 0; i < sizeof WORDS / sizeof WORDS[0]; i++) {
        if (len > strlen(WORDS[i]) || memcmp(WORDS[i], text, len) != 0)
            continue;
        *ret_is_whole = len == strlen(WORDS[i]);
        return true;
    }
    return false;
}

static void flush_held(struct word_filter *filter)
{
    strbuf_add(&filter->out, filter->held, filter->held_len);
    filter->held_len = 0;
}

/* One byte outside of strings. */
static void take_outside(struct word_filter *filter, char c)
{
    bool is_whole = false;
    filter->held[filter->held_len++] = c;
    if (begins_a_word(filter->held, filter->held_len, &is_whole)) {
        if (!is_whole)
            return;
        strbuf_adds(&filter->out, "\"" WORD_FILTER_MARK);
        flush_held(filter);
        strbuf_addc(&filter->out, '"');
        return;
    }
    flush_held(filter);
    filter->in_string = c == '"';
}

void word_filter_feed(struct word_filter *filter, const char *piece, size_t len)
{
    strbuf_reset(&filter->out);
    for (size_t i = 0; i < len; i++) {
        if (!filter->in_string) {
            take_outside(filter, piece[i]);
            continue;
        }
        strbuf_addc(&filter->out, piece[i]);
        filter->in_string = filter->is_escaped || piece[i] != '"';
        filter->is_escaped = !filter->is_escaped && piece[i] == '\\';
    }
    if (len == 0)
        flush_held(filter);
}
