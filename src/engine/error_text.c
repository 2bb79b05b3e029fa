/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/error_text.h"

#include "base/json.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* What is looked at of a text; far more than is kept, so that a secret is not cut in two at the limit. */
#define WORK_BYTES        4096
#define SECRET_BYTES_MIN  4
#define MESSAGE_DEPTH_MAX 4
#define MESSAGE_ITEMS_MAX 8
#define REPLACEMENT       "\xEF\xBF\xBD"
#define ELLIPSIS          "\xE2\x80\xA6"

struct work {
    char text[WORK_BYTES];
    size_t len;
    bool is_cut;
};

static void work_add(struct work *work, const char *text, size_t len)
{
    size_t room = WORK_BYTES - work->len;
    if (len > room) {
        len = room;
        work->is_cut = true;
    }
    memcpy(work->text + work->len, text, len);
    work->len += len;
}

static void work_adds(struct work *work, const char *text)
{
    work_add(work, text, strlen(text));
}

static void work_add_json(struct work *work, const struct json_raw *raw)
{
    char decoded[3 * WORK_BYTES];
    struct json_raw part = *raw;
    if (part.len > WORK_BYTES) {
        part.len = WORK_BYTES;
        work->is_cut = true;
    }
    work_add(work, decoded, json_raw_decode(&part, decoded));
}

/* ---- JSON ---- */

/* The last member `key` of the object at [at, end), as far as the text goes. */
static bool object_member(const char *at, const char *end, const char *key, const char **ret)
{
    struct json_cursor cursor;
    json_cursor_init(&cursor, at, (size_t)(end - at));
    bool is_found = false;
    struct json_raw name;
    if (!json_enter_object(&cursor))
        return false;
    while (json_next_member(&cursor, &name)) {
        if (json_raw_equals(&name, key)) {
            *ret = cursor.at;
            is_found = true;
        }
        if (!json_skip(&cursor))
            break;
    }
    return is_found;
}

static bool member_string(const char *at, const char *end, const char *key, struct json_raw *ret)
{
    const char *value;
    if (!object_member(at, end, key, &value))
        return false;
    struct json_cursor cursor;
    json_cursor_init(&cursor, value, (size_t)(end - value));
    return json_cursor_type(&cursor) == JSON_STRING && json_take_string(&cursor, ret) && ret->len > 0;
}

/* "body.messages: " from the `loc` of a validation detail. */
static void add_location(struct work *work, const char *at, const char *end)
{
    const char *value;
    struct json_cursor cursor;
    if (!object_member(at, end, "loc", &value))
        return;
    json_cursor_init(&cursor, value, (size_t)(end - value));
    if (json_cursor_type(&cursor) != JSON_ARRAY || !json_enter_array(&cursor))
        return;
    bool is_first = true, has_any = false;
    while (json_next_item(&cursor, &is_first)) {
        struct json_raw step;
        int type = json_cursor_type(&cursor);
        bool is_taken = type == JSON_STRING ? json_take_string(&cursor, &step)
                                            : type == JSON_NUMBER && json_take_number(&cursor, &step);
        if (!is_taken)
            return;
        if (has_any)
            work_adds(work, ".");
        work_add_json(work, &step);
        has_any = true;
    }
    if (has_any)
        work_adds(work, ": ");
}

static bool add_message(struct work *work, const char *at, const char *end, int depth);

static bool add_object_message(struct work *work, const char *at, const char *end, int depth)
{
    static const char *const keys[] = {"error",         "message",     "msg",   "detail", "errors",
                                       "error_message", "description", "title", "reason"};
    struct json_raw error, message;
    if (member_string(at, end, "error", &error) && member_string(at, end, "message", &message)) {
        work_add_json(work, &error);
        work_adds(work, ": ");
        work_add_json(work, &message);
        return true;
    }
    if (member_string(at, end, "msg", &message)) {
        add_location(work, at, end);
        work_add_json(work, &message);
        return true;
    }
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const char *value;
        if (object_member(at, end, keys[i], &value) && add_message(work, value, end, depth + 1))
            return true;
    }
    return false;
}

static bool add_list_message(struct work *work, struct json_cursor *cursor, int depth)
{
    bool is_first = true;
    size_t start = work->len;
    if (!json_enter_array(cursor))
        return false;
    for (int i = 0; i < MESSAGE_ITEMS_MAX && json_next_item(cursor, &is_first); i++) {
        const char *item = cursor->at;
        if (!json_skip(cursor))
            break;
        size_t before = work->len;
        if (before > start)
            work_adds(work, "; ");
        if (!add_message(work, item, cursor->at, depth + 1))
            work->len = before;
    }
    return work->len > start;
}

/* Appends what the value at [at, …) has to say; false when that is nothing. */
static bool add_message(struct work *work, const char *at, const char *end, int depth)
{
    struct json_cursor cursor;
    struct json_raw text;
    json_cursor_init(&cursor, at, (size_t)(end - at));
    int type = json_cursor_type(&cursor);
    if (depth > MESSAGE_DEPTH_MAX)
        return false;
    if (type == JSON_STRING && json_take_string(&cursor, &text) && text.len > 0) {
        work_add_json(work, &text);
        return true;
    }
    if (type == JSON_OBJECT)
        return add_object_message(work, cursor.at, end, depth);
    return type == JSON_ARRAY && add_list_message(work, &cursor, depth);
}

/* ---- HTML ---- */

static const char *find_ignoring_case(const char *at, const char *end, const char *what)
{
    size_t len = strlen(what);
    for (; end - at >= (ptrdiff_t)len; at++) {
        if (strncasecmp(at, what, len) == 0)
            return at;
    }
    return NULL;
}

/* Appends the text of an entity at `at` (an ampersand) and returns its end; an unknown one is text. */
static const char *add_entity(struct work *work, const char *at, const char *end)
{
    static const struct {
        const char *name, *text;
    } entities[] = {{"&amp;", "&"}, {"&lt;", "<"},   {"&gt;", ">"},  {"&quot;", "\""},
                    {"&#39;", "'"}, {"&apos;", "'"}, {"&nbsp;", " "}};
    for (size_t i = 0; i < sizeof entities / sizeof *entities; i++) {
        size_t len = strlen(entities[i].name);
        if ((size_t)(end - at) >= len && memcmp(at, entities[i].name, len) == 0) {
            work_adds(work, entities[i].text);
            return at + len;
        }
    }
    work_add(work, at, 1);
    return at + 1;
}

/* The end of the tag at `at` (a '<'), contents included for elements whose contents are no text. */
static const char *tag_end(const char *at, const char *end)
{
    static const char *const silent[][2] = {{"<script", "</script"}, {"<style", "</style"}, {"<!--", "-->"}};
    for (size_t i = 0; i < sizeof silent / sizeof *silent; i++) {
        size_t len = strlen(silent[i][0]);
        if ((size_t)(end - at) < len || strncasecmp(at, silent[i][0], len) != 0)
            continue;
        at = find_ignoring_case(at + len, end, silent[i][1]);
        if (!at)
            return end;
        break;
    }
    const char *close = memchr(at, '>', (size_t)(end - at));
    return close ? close + 1 : end;
}

/* Text between tags, each tag a space. */
static void add_html_text(struct work *work, const char *at, const char *end)
{
    while (at < end && !work->is_cut) {
        if (*at == '<') {
            work_adds(work, " ");
            at = tag_end(at, end);
        } else if (*at == '&') {
            at = add_entity(work, at, end);
        } else {
            work_add(work, at++, 1);
        }
    }
}

static bool is_blank(const struct work *work)
{
    for (size_t i = 0; i < work->len; i++) {
        if (!isspace((unsigned char)work->text[i]))
            return false;
    }
    return true;
}

/* A title that says no more than the status does (Express); what went wrong is then in the page. */
static bool is_empty_title(const struct work *work)
{
    return is_blank(work) || (work->len == 5 && strncasecmp(work->text, "error", 5) == 0);
}

static void add_html(struct work *work, const char *at, const char *end)
{
    const char *title = find_ignoring_case(at, end, "<title");
    const char *text = title ? memchr(title, '>', (size_t)(end - title)) : NULL;
    const char *stop = text ? find_ignoring_case(text, end, "</title") : NULL;
    if (stop)
        add_html_text(work, text + 1, stop);
    if (is_empty_title(work)) {
        work->len = 0;
        add_html_text(work, at, end);
    }
}

/* ---- cleaning ---- */

/* Bytes of the well-formed UTF-8 sequence at `at`, 0 = there is none (Unicode 15, table 3-7). */
static size_t utf8_bytes(const unsigned char *at, size_t left)
{
    unsigned char c = at[0];
    if (c < 0x80)
        return 1;
    size_t more = c >= 0xC2 && c <= 0xDF ? 1 : (c & 0xF0) == 0xE0 ? 2 : c >= 0xF0 && c <= 0xF4 ? 3 : 0;
    if (more == 0 || left <= more)
        return 0;
    unsigned char low = c == 0xE0 ? 0xA0 : c == 0xF0 ? 0x90 : 0x80;
    unsigned char high = c == 0xED ? 0x9F : c == 0xF4 ? 0x8F : 0xBF;
    if (at[1] < low || at[1] > high)
        return 0;
    for (size_t i = 2; i <= more; i++) {
        if ((at[i] & 0xC0) != 0x80)
            return 0;
    }
    return more + 1;
}

/* One line of valid UTF-8: runs of white space and control characters become one space, none at the ends. */
static void make_line(struct work *work)
{
    struct work line = {.len = 0, .is_cut = work->is_cut};
    const unsigned char *text = (const unsigned char *)work->text;
    bool is_space_due = false;
    for (size_t i = 0; i < work->len;) {
        if (text[i] <= 0x20 || text[i] == 0x7F) {
            is_space_due = line.len > 0;
            i++;
            continue;
        }
        if (is_space_due)
            work_add(&line, " ", 1);
        is_space_due = false;
        size_t bytes = utf8_bytes(text + i, work->len - i);
        if (bytes)
            work_add(&line, work->text + i, bytes);
        else
            work_adds(&line, REPLACEMENT);
        i += bytes ? bytes : 1;
    }
    *work = line;
}

static void remove_secret(struct work *work, const char *secret, size_t len)
{
    char *at;
    size_t from = 0;
    while (work->len - from >= len && (at = memmem(work->text + from, work->len - from, secret, len)) != NULL) {
        size_t tail = work->len - (size_t)(at - work->text) - len;
        memcpy(at, "***", 3);
        memmove(at + 3, at + len, tail);
        work->len -= len - 3;
        from = (size_t)(at - work->text) + 3;
    }
    if (!work->is_cut)
        return;
    /* What was cut off may have completed a secret whose beginning is the end of the text. */
    for (size_t part = len - 1; part >= SECRET_BYTES_MIN; part--) {
        if (work->len >= part && memcmp(work->text + work->len - part, secret, part) == 0) {
            work->len -= part;
            break;
        }
    }
}

static void finish(struct work *work, const char *const *secrets, struct error_text *ret)
{
    make_line(work);
    for (; secrets && *secrets; secrets++) {
        size_t len = strlen(*secrets);
        if (len >= SECRET_BYTES_MIN)
            remove_secret(work, *secrets, len);
    }
    ret->is_oom = error_text_is_oom(work->text, work->len);
    size_t len = work->len;
    if (len > ERROR_TEXT_MAX) {
        len = ERROR_TEXT_MAX - strlen(ELLIPSIS);
        while (len > 0 && ((unsigned char)work->text[len] & 0xC0) == 0x80)
            len--;
        memcpy(work->text + len, ELLIPSIS, strlen(ELLIPSIS));
        len += strlen(ELLIPSIS);
    }
    memcpy(ret->text, work->text, len);
    ret->text[len] = '\0';
    ret->len = len;
}

void error_text_from_plain(const char *text, size_t len, const char *const *secrets, struct error_text *ret)
{
    struct work work = {.len = 0};
    work_add(&work, text, len);
    finish(&work, secrets, ret);
}

void error_text_from_body(const char *body, size_t len, const char *const *secrets, struct error_text *ret)
{
    struct work work = {.len = 0};
    const char *at = body, *end = body + len;
    if (len >= 3 && memcmp(at, "\xEF\xBB\xBF", 3) == 0)
        at += 3;
    while (at < end && isspace((unsigned char)*at))
        at++;
    const char *json = end - at >= 5 && memcmp(at, "data:", 5) == 0 ? at + 5 : at;
    if (!add_message(&work, json, end, 0)) {
        work.len = 0;
        if (at < end && *at == '<')
            add_html(&work, at, end);
        else
            work_add(&work, at, (size_t)(end - at));
    }
    finish(&work, secrets, ret);
}

/* ---- exhausted memory ---- */

static bool is_word_byte(char c)
{
    return isalnum((unsigned char)c) != 0;
}

/* The end of `phrase` at `at`, a space in it standing for one of " _-"; NULL when it is not there. */
static const char *match_phrase(const char *at, const char *end, const char *phrase)
{
    for (; *phrase; phrase++, at++) {
        if (at == end)
            return NULL;
        bool is_equal =
            *phrase == ' ' ? *at == ' ' || *at == '_' || *at == '-' : tolower((unsigned char)*at) == *phrase;
        if (!is_equal)
            return NULL;
    }
    return at;
}

bool error_text_is_oom(const char *text, size_t len)
{
    static const char *const phrases[] = {
        "oom",
        "oomkilled",
        "out of memory",
        "outofmemory",
        "outofmemoryerror",
        "out of device memory",
        "out of host memory",
        "cudaerroroutofmemory",
        "hiperroroutofmemory",
        "erroroutofdevicememory",
        "erroroutofhostmemory",
        "cudaerrormemoryallocation",
        "hiperrormemoryallocation",
        "alloc failed",
        "bad alloc",
        "memoryerror",
        "cannot allocate memory",
        "can't allocate memory",
        "could not allocate memory",
        "failed to allocate memory",
        "unable to allocate memory",
        "memory allocation failed",
        "memory allocation failure",
        "memory allocation error",
        "not enough memory",
        "insufficient memory",
        "memory exhausted",
    };
    const char *end = text + len;
    for (const char *at = text; at < end; at++) {
        if (at > text && is_word_byte(at[-1]))
            continue;
        for (size_t i = 0; i < sizeof phrases / sizeof *phrases; i++) {
            const char *after = match_phrase(at, end, phrases[i]);
            if (after && (after == end || !is_word_byte(*after)))
                return true;
        }
    }
    return false;
}

enum error_type error_type_of_status(int status)
{
    if (status == 429)
        return ERROR_TYPE_RATE_LIMIT;
    if (status == 401 || status == 403)
        return ERROR_TYPE_AUTH;
    if (status == 400)
        return ERROR_TYPE_BAD_REQUEST;
    if (status >= 500 && status <= 599)
        return ERROR_TYPE_SERVER_ERROR;
    if (status >= 300 && status <= 399)
        return ERROR_TYPE_REDIRECT;
    return ERROR_TYPE_HTTP_OTHER;
}
