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

/* A list being written: what would go beyond `end` bytes is left out. */
struct list {
    struct strbuf *out;
    size_t end;
    bool is_open, is_empty, is_cut;
};

static void list_open(struct list *list)
{
    if (!list->is_open)
        strbuf_addc(list->out, '[');
    list->is_open = true;
}

static void list_close(struct list *list)
{
    strbuf_adds(list->out, list->is_open ? "]" : "null");
}

/* Takes the array at the cursor in; false when there is no room for more. */
static bool list_take(struct list *list, struct json_cursor *cursor)
{
    struct strbuf *out = list->out;
    struct entry entry;
    bool is_first = true;
    list_open(list);
    while (json_next_item(cursor, &is_first)) {
        size_t before = out->len;
        if (!take_entry(cursor, &entry))
            continue;
        if (!list->is_empty)
            strbuf_addc(out, ',');
        put_entry(&entry, out);
        if (strbuf_status(out) != AS_OK)
            return false;
        if (out->len > list->end) {
            out->len = before;
            out->data[before] = '\0';
            list->is_cut = true;
            return false;
        }
        list->is_empty = false;
    }
    return true;
}

/* The `words` inside a segment (whisper.cpp, faster-whisper); false when there is no room for more. */
static bool list_take_segment(struct list *list, struct json_cursor *cursor)
{
    struct json_raw key;
    if (!json_enter_object(cursor)) {
        (void)json_skip(cursor);
        return true;
    }
    while (json_next_member(cursor, &key)) {
        if (!json_raw_equals(&key, "words") || !json_enter_array(cursor))
            (void)json_skip(cursor);
        else if (!list_take(list, cursor))
            return false;
    }
    return true;
}

static void put_list(const struct asr_span *span, size_t end, struct strbuf *out, bool *ret_is_cut)
{
    struct json_cursor cursor;
    struct list list = {out, end, false, true, false};
    json_cursor_init(&cursor, span->at, span->len);
    if (span->at && json_enter_array(&cursor))
        (void)list_take(&list, &cursor);
    list_close(&list);
    *ret_is_cut |= list.is_cut;
}

static void put_words_of_segments(const struct asr_span *segments, size_t end, struct strbuf *out, bool *ret_is_cut)
{
    struct json_cursor cursor;
    struct list list = {out, end, false, true, false};
    bool is_first = true, has_room = true;
    json_cursor_init(&cursor, segments->at, segments->len);
    if (segments->at && json_enter_array(&cursor)) {
        while (has_room && json_next_item(&cursor, &is_first))
            has_room = list_take_segment(&list, &cursor);
    }
    list_close(&list);
    *ret_is_cut |= list.is_cut;
}

void asr_times_add(const struct asr_spans *spans, size_t max_bytes, struct strbuf *out)
{
    size_t end = out->len + max_bytes;
    bool is_cut = false;
    strbuf_adds(out, ",\"segment_times\":");
    put_list(&spans->segments, end, out, &is_cut);
    strbuf_adds(out, ",\"word_times\":");
    if (spans->words.at && spans->words.at[0] == '[')
        put_list(&spans->words, end, out, &is_cut);
    else
        put_words_of_segments(&spans->segments, end, out, &is_cut);
    strbuf_addf(out, ",\"times_cut\":%s", is_cut ? "true" : "false");
}
