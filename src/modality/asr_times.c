/* SPDX-License-Identifier: Apache-2.0 */
#include "modality/asr_times.h"

#include "base/json.h"
#include "base/json_write.h"
#include "modality/asr_text.h"

/* One entry of a list. */
struct entry {
    struct json_raw text;
    double start_s, end_s; /* < 0 = unknown */
};

static double take_seconds(struct json_cursor *cursor)
{
    struct json_raw raw;
    double seconds;
    if (!json_take_number(cursor, &raw) && !json_take_string(cursor, &raw)) {
        (void)json_skip(cursor);
        return -1;
    }
    return !raw.escaped && json_text_double(raw.at, raw.len, &seconds) && seconds >= 0 ? seconds : -1;
}

/* A word is called `word`, a segment's text `text`. False when the entry is no object. */
static bool take_entry(struct json_cursor *cursor, struct entry *ret)
{
    struct json_raw key;
    *ret = (struct entry){.start_s = -1, .end_s = -1};
    if (!json_enter_object(cursor)) {
        (void)json_skip(cursor);
        return false;
    }
    while (json_next_member(cursor, &key)) {
        bool is_text = json_raw_equals(&key, "word") || json_raw_equals(&key, "text");
        if (is_text && json_take_string(cursor, &ret->text))
            continue;
        if (json_raw_equals(&key, "start"))
            ret->start_s = take_seconds(cursor);
        else if (json_raw_equals(&key, "end"))
            ret->end_s = take_seconds(cursor);
        else
            (void)json_skip(cursor);
    }
    return !cursor->failed;
}

static void put_seconds(struct strbuf *out, const char *name, double seconds)
{
    char number[DOUBLE_TEXT_BYTES] = "null";
    if (seconds >= 0)
        double_format(seconds, number);
    strbuf_addf(out, ",\"%s\":%s", name, number);
}

static void put_entry(const struct entry *entry, struct strbuf *out)
{
    struct strbuf text AS_AUTO_STRBUF;
    strbuf_init(&text, 0);
    asr_add_raw(&text, &entry->text);
    strbuf_adds(out, "{\"text\":");
    if (entry->text.at) {
        strbuf_addc(out, '"');
        json_escape(out, strbuf_text(&text), text.len);
        strbuf_addc(out, '"');
    } else {
        strbuf_adds(out, "null");
    }
    put_seconds(out, "start_s", entry->start_s);
    put_seconds(out, "end_s", entry->end_s);
    strbuf_addc(out, '}');
    if (strbuf_status(&text) != AS_OK)
        out->status = strbuf_status(&text);
}

/* What is not at its end stays at `end` bytes. */
static void put_list(const struct asr_span *span, size_t end, struct strbuf *out, bool *ret_is_cut)
{
    struct json_cursor cursor;
    struct entry entry;
    bool is_first = true, is_empty = true;
    json_cursor_init(&cursor, span->at, span->len);
    if (!span->at || !json_enter_array(&cursor)) {
        strbuf_adds(out, "null");
        return;
    }
    strbuf_addc(out, '[');
    while (json_next_item(&cursor, &is_first)) {
        size_t before = out->len;
        if (!take_entry(&cursor, &entry))
            continue;
        if (!is_empty)
            strbuf_addc(out, ',');
        put_entry(&entry, out);
        if (strbuf_status(out) != AS_OK)
            return;
        if (out->len > end) {
            out->len = before;
            out->data[before] = '\0';
            *ret_is_cut = true;
            break;
        }
        is_empty = false;
    }
    strbuf_addc(out, ']');
}

void asr_times_add(const struct asr_spans *spans, size_t max_bytes, struct strbuf *out)
{
    size_t end = out->len + max_bytes;
    bool is_cut = false;
    strbuf_adds(out, ",\"segment_times\":");
    put_list(&spans->segments, end, out, &is_cut);
    strbuf_adds(out, ",\"word_times\":");
    put_list(&spans->words, end, out, &is_cut);
    strbuf_addf(out, ",\"times_cut\":%s", is_cut ? "true" : "false");
}
