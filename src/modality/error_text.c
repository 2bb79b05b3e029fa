/* SPDX-License-Identifier: Apache-2.0 */
#include "modality/error_text.h"
#include "modality/chat.h"
#include "modality/text.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#define OOM_SCAN_BYTES ((size_t)64 * 1024)
/* Secrets are removed before the text is cut, so more than is kept is looked at. */
#define WINDOW_BYTES    4096
#define HTML_SCAN_BYTES ((size_t)16 * 1024)

/* A piece of the body: a JSON string's inside, or plain text. */
struct piece {
    const char *at;
    size_t len;
    bool is_json;
};

static bool is_string(const struct json_raw *value)
{
    return value->len >= 2 && *value->at == '"';
}

static bool string_piece(const struct json_raw *value, struct piece *ret)
{
    if (!is_string(value) || value->len == 2)
        return false;
    *ret = (struct piece){value->at + 1, value->len - 2, true};
    return true;
}

/* The text of one of the usual members of an object. */
static bool object_piece(const char *text, size_t len, struct piece *ret)
{
    static const char *const names[] = {"message", "msg", "detail", "error", "error_description", "reason", NULL};
    for (int i = 0; names[i]; i++) {
        struct json_raw value;
        if (chat_member(text, len, names[i], &value) && string_piece(&value, ret))
            return true;
    }
    return false;
}

/* The first item of a list of objects or strings. */
static bool list_piece(const struct json_raw *list, struct piece *ret)
{
    struct json_cursor cursor;
    struct json_raw value;
    bool is_first = true;
    json_cursor_init(&cursor, list->at, list->len);
    if (!json_enter_array(&cursor) || !json_next_item(&cursor, &is_first))
        return false;
    value.at = cursor.at;
    if (!json_skip(&cursor))
        return false;
    value.len = (size_t)(cursor.at - value.at);
    return string_piece(&value, ret) || object_piece(value.at, value.len, ret);
}

static bool json_piece(const char *text, size_t len, struct piece *ret)
{
    static const char *const names[] = {"error", "detail", "errors", NULL};
    for (int i = 0; names[i]; i++) {
        struct json_raw value;
        if (!chat_member(text, len, names[i], &value))
            continue;
        if (string_piece(&value, ret) || object_piece(value.at, value.len, ret) || list_piece(&value, ret))
            return true;
    }
    struct json_raw whole = {text, len, false};
    return object_piece(text, len, ret) || list_piece(&whole, ret) || string_piece(&whole, ret);
}

/* First place of `word` in any case, NULL when absent. */
static const char *find_nocase(const char *text, size_t len, const char *word)
{
    size_t word_len = strlen(word);
    for (size_t i = 0; i + word_len <= len; i++)
        if (strncasecmp(text + i, word, word_len) == 0)
            return text + i;
    return NULL;
}

static bool html_title(const char *text, size_t len, struct piece *ret)
{
    const char *end = text + len;
    const char *open = find_nocase(text, len, "<title");
    const char *start = open ? memchr(open, '>', (size_t)(end - open)) : NULL;
    const char *close = start ? find_nocase(start, (size_t)(end - start), "</title") : NULL;
    if (!close || close == start + 1)
        return false;
    *ret = (struct piece){start + 1, (size_t)(close - start - 1), false};
    return true;
}

/* The text between tags, each tag a space. */
static size_t html_strip(const char *text, size_t len, char *ret, size_t size)
{
    size_t used = 0;
    bool in_tag = false;
    for (size_t i = 0; i < len && used < size; i++) {
        if (text[i] == '<')
            in_tag = true;
        if (!in_tag)
            ret[used++] = text[i];
        if (in_tag && text[i] == '>') {
            in_tag = false;
            ret[used++] = ' ';
        }
    }
    return used;
}

/* Replaces every `count` bytes at `at` in the NUL-terminated line by "***"; returns what follows. */
static char *mask(char *at, size_t count)
{
    size_t rest = strlen(at + count) + 1;
    if (count >= 3) {
        memmove(at + 3, at + count, rest);
        memcpy(at, "***", 3);
        return at + 3;
    }
    memset(at, '*', count);
    return at + count;
}

static void mask_secrets(char *line, const struct error_secrets *secrets)
{
    for (size_t i = 0; secrets && i < secrets->count; i++) {
        const char *secret = secrets->items[i];
        size_t len = secret ? strlen(secret) : 0;
        if (len == 0)
            continue;
        for (char *at = strstr(line, secret); at; at = strstr(at, secret))
            at = mask(at, len);
    }
    for (char *at = strcasestr(line, "bearer "); at; at = strcasestr(at, "bearer ")) {
        at += strlen("bearer ");
        at = mask(at, strcspn(at, " \"',;"));
    }
}

/* Cuts to at most `max` bytes, at a character's start. */
static size_t cut(char *line, size_t len, size_t max)
{
    if (len <= max)
        return len;
    while (max > 0 && ((unsigned char)line[max] & 0xC0) == 0x80)
        max--;
    line[max] = '\0';
    return max;
}

size_t error_text_extract(const char *body, size_t len, const struct error_secrets *secrets, char ret[ERROR_TEXT_BYTES])
{
    char window[WINDOW_BYTES], stripped[WINDOW_BYTES];
    while (len > 0 && isspace((unsigned char)*body)) {
        body++;
        len--;
    }
    struct piece piece = {body, len, false};
    bool is_markup = len > 0 && *body == '<';
    size_t scanned = len < HTML_SCAN_BYTES ? len : HTML_SCAN_BYTES;
    if (is_markup && !html_title(body, scanned, &piece))
        piece = (struct piece){stripped, html_strip(body, scanned, stripped, sizeof stripped), false};
    else if (!is_markup && len > 0)
        json_piece(body, len, &piece);
    size_t line_len = text_to_line(piece.at, piece.len, piece.is_json, window, sizeof window);
    if (line_len > 0)
        mask_secrets(window, secrets);
    line_len = cut(window, strlen(window), ERROR_TEXT_BYTES - 1);
    memcpy(ret, window, line_len + 1);
    return line_len;
}

/* How a phrase has to stand in the text. */
enum standing { WHOLE_WORDS, INSIDE_NAMES };

struct phrase {
    const char *text;
    enum standing standing;
};

/* Names are unambiguous wherever they stand; words need a boundary on both sides ("layout of memory", "bloom"). */
static const struct phrase oom_phrases[] = {
    {"out of memory", WHOLE_WORDS},
    {"out-of-memory", WHOLE_WORDS},
    {"out_of_memory", WHOLE_WORDS},
    {"outofmemory", INSIDE_NAMES},
    {"oom", WHOLE_WORDS},
    {"oomkilled", WHOLE_WORDS},
    {"oom-killed", WHOLE_WORDS},
    {"cudaerrormemoryallocation", INSIDE_NAMES},
    {"status_alloc_failed", INSIDE_NAMES},
    {"bad_alloc", WHOLE_WORDS},
    {"cannot allocate memory", WHOLE_WORDS},
    {"failed to allocate memory", WHOLE_WORDS},
    {"memory allocation failed", WHOLE_WORDS},
    {"not enough memory", WHOLE_WORDS},
    {"insufficient memory", WHOLE_WORDS},
};

/* A letter or digit joins words; an underscore parts them, as in CUDA_OOM. */
static bool joins(char c)
{
    return isalnum((unsigned char)c) || (unsigned char)c >= 0x80;
}

static bool stands_at(const char *text, size_t len, size_t at, const struct phrase *phrase)
{
    size_t phrase_len = strlen(phrase->text);
    if (at + phrase_len > len || strncasecmp(text + at, phrase->text, phrase_len) != 0)
        return false;
    if (phrase->standing == INSIDE_NAMES)
        return true;
    return (at == 0 || !joins(text[at - 1])) && (at + phrase_len == len || !joins(text[at + phrase_len]));
}

bool error_text_is_oom(const char *text, size_t len)
{
    if (len > OOM_SCAN_BYTES)
        len = OOM_SCAN_BYTES;
    for (size_t at = 0; at < len; at++) {
        if (!strchr("oOcCsSbBfFmMnNiI", text[at]) || text[at] == '\0')
            continue;
        for (size_t i = 0; i < sizeof oom_phrases / sizeof oom_phrases[0]; i++)
            if (stands_at(text, len, at, &oom_phrases[i]))
                return true;
    }
    return false;
}
