/* SPDX-License-Identifier: Apache-2.0 */
#include "modality/asr_subtitle.h"

#include <string.h>

/* A file being read. */
struct subtitle {
    struct strbuf *text;
    size_t start;      /* of what is ours in text */
    size_t last_start; /* where the last line was put, to take it back */
    bool is_vtt;
    bool in_cue;
    bool last_is_number; /* the last line was only digits */
    int64_t cues;
};

static bool is_space(char c)
{
    return c == ' ' || c == '\t';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

struct line {
    const char *at;
    size_t len;
};

static struct line trim(struct line line)
{
    while (line.len > 0 && is_space(line.at[0])) {
        line.at++;
        line.len--;
    }
    while (line.len > 0 && is_space(line.at[line.len - 1]))
        line.len--;
    return line;
}

/* The line at *at, which is moved past its end. */
static struct line take_line(const char **at, const char *end)
{
    const char *start = *at, *stop = start;
    while (stop < end && *stop != '\n' && *stop != '\r')
        stop++;
    *at = stop;
    if (*at < end)
        *at += *at + 1 < end && at[0][0] == '\r' && at[0][1] == '\n' ? 2 : 1;
    return (struct line){start, (size_t)(stop - start)};
}

/* "00:00:01,200 --> …": digits, colons, a point or a comma, then the arrow. */
static bool is_timing(struct line line)
{
    const char *arrow = memmem(line.at, line.len, "-->", 3);
    bool has_colon = false, has_digit = false;
    if (!arrow)
        return false;
    struct line before = trim((struct line){line.at, (size_t)(arrow - line.at)});
    for (size_t i = 0; i < before.len; i++) {
        has_colon = has_colon || before.at[i] == ':';
        has_digit = has_digit || is_digit(before.at[i]);
        if (!is_digit(before.at[i]) && !strchr(":.,", before.at[i]))
            return false;
    }
    return has_colon && has_digit;
}

static bool is_number(struct line line)
{
    for (size_t i = 0; i < line.len; i++)
        if (!is_digit(line.at[i]))
            return false;
    return line.len > 0;
}

/* Bytes of the tag at `at` ("<i>", "<v Ann>", "{\an8}"), 0 = none. */
static size_t tag_bytes(const char *at, const char *end)
{
    const char *stop = NULL;
    if (*at == '<')
        stop = memchr(at, '>', (size_t)(end - at));
    else if (*at == '{' && at + 1 < end && at[1] == '\\')
        stop = memchr(at, '}', (size_t)(end - at));
    return stop ? (size_t)(stop - at) + 1 : 0;
}

/* Bytes of the character reference at `at`, whose text goes to *ret; 0 = none. */
static size_t reference_bytes(const char *at, const char *end, const char **ret)
{
    static const struct {
        const char *name, *text;
    } references[] = {
        {"&amp;", "&"},           {"&lt;", "<"}, {"&gt;", ">"}, {"&nbsp;", "\xC2\xA0"}, {"&lrm;", "\xE2\x80\x8E"},
        {"&rlm;", "\xE2\x80\x8F"}};
    for (size_t i = 0; i < sizeof references / sizeof references[0]; i++) {
        size_t len = strlen(references[i].name);
        if ((size_t)(end - at) >= len && memcmp(at, references[i].name, len) == 0) {
            *ret = references[i].text;
            return len;
        }
    }
    return 0;
}

static void put_text(struct subtitle *subtitle, struct line line)
{
    struct strbuf *text = subtitle->text;
    const char *at = line.at, *end = at + line.len;
    subtitle->last_start = text->len;
    subtitle->last_is_number = is_number(line);
    if (text->len > subtitle->start)
        strbuf_addc(text, ' ');
    size_t before = text->len;
    while (at < end) {
        const char *decoded = NULL;
        size_t skipped = tag_bytes(at, end);
        if (skipped == 0 && subtitle->is_vtt && *at == '&')
            skipped = reference_bytes(at, end, &decoded);
        if (decoded)
            strbuf_adds(text, decoded);
        else if (skipped == 0)
            strbuf_addc(text, *at++);
        at += skipped;
    }
    bool is_nothing = text->len == before; /* tags alone */
    if (is_nothing && strbuf_status(text) == AS_OK)
        text->len = subtitle->last_start;
}

static void start_cue(struct subtitle *subtitle)
{
    /* Without a blank line before it, the number of this cue was taken for text of the one before. */
    if (subtitle->in_cue && subtitle->last_is_number && strbuf_status(subtitle->text) == AS_OK)
        subtitle->text->len = subtitle->last_start;
    subtitle->cues++;
    subtitle->in_cue = true;
    subtitle->last_is_number = false;
    subtitle->last_start = subtitle->text->len;
}

void asr_read_subtitle(const char *data, size_t len, bool is_vtt, struct strbuf *text, struct asr_subtitle *ret)
{
    struct subtitle subtitle = {.text = text, .start = text->len, .last_start = text->len, .is_vtt = is_vtt};
    const char *at = data, *end = data + len;
    if (len >= 3 && memcmp(at, "\xEF\xBB\xBF", 3) == 0)
        at += 3;
    ret->is_webvtt = end - at >= 6 && memcmp(at, "WEBVTT", 6) == 0;
    while (at < end) {
        struct line line = trim(take_line(&at, end));
        if (is_timing(line))
            start_cue(&subtitle);
        else if (line.len == 0)
            subtitle.in_cue = false;
        else if (subtitle.in_cue)
            put_text(&subtitle, line);
    }
    if (text->data && strbuf_status(text) == AS_OK)
        text->data[text->len] = '\0';
    ret->cues = subtitle.cues;
}
