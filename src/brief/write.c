/* SPDX-License-Identifier: Apache-2.0 */
#include "brief/write.h"

#include "brief/scalar.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The code point at *at, which is moved past it; U+FFFD for bytes that are no UTF-8. */
static uint32_t take_code(const unsigned char **at, const unsigned char *end)
{
    unsigned char lead = *(*at)++;
    int more = lead < 0x80 ? 0 : lead >= 0xF0 && lead < 0xF5 ? 3 : lead >= 0xE0 ? 2 : lead >= 0xC2 ? 1 : -1;
    if (more <= 0)
        return more == 0 ? lead : 0xFFFD;
    uint32_t code = lead & (0x3F >> more);
    for (; more > 0; more--, (*at)++) {
        if (*at == end || (**at & 0xC0) != 0x80)
            return 0xFFFD;
        code = code << 6 | (**at & 0x3F);
    }
    return code;
}

static void put_letter_escape(struct strbuf *out, char letter)
{
    strbuf_addc(out, '\\');
    strbuf_addc(out, letter);
}

static bool put_common_escape(struct strbuf *out, uint32_t code)
{
    static const char from[] = "\"\\\n\r\t\b\f", to[] = "\"\\nrtbf";
    const char *found = code > 0 && code < 0x80 ? strchr(from, (int)code) : NULL;
    if (found)
        put_letter_escape(out, to[found - from]);
    return found != NULL;
}

static void put_json_text(const struct value *value, struct strbuf *out)
{
    const unsigned char *at = (const unsigned char *)value->text, *end = at + value->len;
    strbuf_addc(out, '"');
    while (at < end) {
        uint32_t code = take_code(&at, end);
        if (put_common_escape(out, code))
            continue;
        if (code >= 0x10000)
            strbuf_addf(out, "\\u%04x\\u%04x", 0xD800 + ((code - 0x10000) >> 10), 0xDC00 + ((code - 0x10000) & 0x3FF));
        else if (code < 0x20 || code >= 0x7F)
            strbuf_addf(out, "\\u%04x", code);
        else
            strbuf_addc(out, (char)code);
    }
    strbuf_addc(out, '"');
}

static void put_integer(const struct value *value, struct strbuf *out)
{
    if (value->text)
        strbuf_add(out, value->text, value->len);
    else
        strbuf_addf(out, "%" PRId64, value->integer);
}

static void put_line(struct strbuf *out, int spaces)
{
    static const char blanks[] = "\n                                                                ";
    int some = spaces < (int)sizeof blanks - 2 ? spaces : (int)sizeof blanks - 2;
    strbuf_add(out, blanks, (size_t)some + 1);
    for (; some < spaces; some++)
        strbuf_addc(out, ' ');
}

static int compare_keys(const void *left, const void *right)
{
    const struct value *a = *(const struct value *const *)left, *b = *(const struct value *const *)right;
    size_t shorter = a->key_len < b->key_len ? a->key_len : b->key_len;
    int order = memcmp(a->key, b->key, shorter);
    return order != 0 ? order : a->key_len < b->key_len ? -1 : a->key_len > b->key_len;
}

/* The children of a map by key, or those of a list in order. */
#define FEW_CHILDREN 24
struct children {
    const struct value **items; /* NULL without memory */
    size_t count;
    const struct value *few[FEW_CHILDREN];
};

/* Keys of a report come in an order that is nearly that of its model: few moves. */
static void sort_few(const struct value **items, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        const struct value *item = items[i];
        size_t at = i;
        for (; at > 0 && compare_keys(&items[at - 1], &item) > 0; at--)
            items[at] = items[at - 1];
        items[at] = item;
    }
}

/* Lack of memory is noted in `out`. */
static void children_take(const struct value *value, bool is_sorted, struct strbuf *out, struct children *ret)
{
    size_t count = 0;
    ret->count = 0;
    ret->items = value->len <= FEW_CHILDREN ? ret->few : malloc(value->len * sizeof *ret->items);
    if (!ret->items) {
        out->status = AS_E_NOMEM;
        return;
    }
    for (const struct value *child = value->first; child; child = child->next)
        ret->items[count++] = child;
    ret->count = count;
    if (is_sorted && value->type == VALUE_MAP && count <= FEW_CHILDREN)
        sort_few(ret->items, count);
    else if (is_sorted && value->type == VALUE_MAP)
        qsort(ret->items, count, sizeof *ret->items, compare_keys);
}

static void children_done(struct children *children)
{
    if (children->items != children->few)
        free(children->items);
}

/* How JSON is laid out. */
struct layout {
    int indent; /* 0 = one line with ", " */
    bool is_sorted;
};

static void put_json(const struct value *value, const struct layout *layout, int depth, struct strbuf *out);

static void put_json_container(const struct value *value, const struct layout *layout, int depth, struct strbuf *out)
{
    bool is_map = value->type == VALUE_MAP;
    struct children children;
    children_take(value, layout->is_sorted, out, &children);
    strbuf_addc(out, is_map ? '{' : '[');
    for (size_t i = 0; i < children.count; i++) {
        const struct value *item = children.items[i];
        if (i > 0)
            strbuf_adds(out, layout->indent ? "," : ", ");
        if (layout->indent)
            put_line(out, layout->indent * (depth + 1));
        if (is_map) {
            struct value key = {.text = item->key, .len = item->key_len, .type = VALUE_TEXT};
            put_json_text(&key, out);
            strbuf_adds(out, ": ");
        }
        put_json(item, layout, depth + 1, out);
    }
    if (layout->indent && value->len > 0)
        put_line(out, layout->indent * depth);
    strbuf_addc(out, is_map ? '}' : ']');
    children_done(&children);
}

static void put_json(const struct value *value, const struct layout *layout, int depth, struct strbuf *out)
{
    switch ((enum value_type)value->type) {
    case VALUE_NULL:
        strbuf_adds(out, "null");
        break;
    case VALUE_BOOL:
        strbuf_adds(out, value->boolean ? "true" : "false");
        break;
    case VALUE_INT:
        put_integer(value, out);
        break;
    case VALUE_FLOAT:
        double_put_python(out, value->number);
        break;
    case VALUE_TEXT:
    case VALUE_TIME:
        put_json_text(value, out);
        break;
    case VALUE_LIST:
    case VALUE_MAP:
        put_json_container(value, layout, depth, out);
        break;
    }
}

void write_json(const struct value *value, int indent, struct strbuf *out)
{
    put_json(value, &(struct layout){indent, false}, 0, out);
}

void write_canonical(const struct value *value, struct strbuf *out)
{
    put_json(value, &(struct layout){0, true}, 0, out);
}

static bool is_printable(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (text[i] < 0x20 || text[i] >= 0x7F)
            return false;
    return true;
}

static bool is_letter_or_digit(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/* Plain only what no reader can take for anything else; the first character must be no indicator. */
static bool is_plain(const char *text, size_t len)
{
    if (len == 0 || scalar_is_ambiguous(text, len) || text[len - 1] == ' ' || text[len - 1] == ':')
        return false;
    if (!is_letter_or_digit(text[0]) && text[0] != '/' && text[0] != '_' && text[0] != '.')
        return false;
    if (text[0] == '.' && len > 1 && text[1] == '.')
        return false;
    for (size_t i = 0; i < len; i++) {
        if (!is_letter_or_digit(text[i]) && !strchr("/_.+-:()@;=^$~ ", text[i]))
            return false;
        if (text[i] == ':' && text[i + 1] == ' ')
            return false;
    }
    return true;
}

static void put_single_quoted(const char *text, size_t len, struct strbuf *out)
{
    strbuf_addc(out, '\'');
    for (size_t i = 0; i < len; i++) {
        if (text[i] == '\'')
            strbuf_addc(out, '\'');
        strbuf_addc(out, text[i]);
    }
    strbuf_addc(out, '\'');
}

static void put_double_quoted(const char *text, size_t len, struct strbuf *out)
{
    const unsigned char *at = (const unsigned char *)text, *end = at + len;
    strbuf_addc(out, '"');
    while (at < end) {
        uint32_t code = take_code(&at, end);
        if (put_common_escape(out, code))
            continue;
        if (code >= 0x20 && code < 0x7F)
            strbuf_addc(out, (char)code);
        else if (code < 0x100)
            strbuf_addf(out, "\\x%02X", code);
        else
            strbuf_addf(out, code < 0x10000 ? "\\u%04X" : "\\U%08X", code);
    }
    strbuf_addc(out, '"');
}

/* Most keys and words: no reader takes so many small letters for anything else. */
static bool is_long_word(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if ((text[i] < 'a' || text[i] > 'z') && (text[i] != '_' || i == 0))
            return false;
    return len > 5;
}

static void put_yaml_text(const char *text, size_t len, struct strbuf *out)
{
    if (is_long_word(text, len))
        strbuf_add(out, text, len);
    else if (!is_printable(text, len))
        put_double_quoted(text, len, out);
    else if (is_plain(text, len))
        strbuf_add(out, text, len);
    else
        put_single_quoted(text, len, out);
}

/* One line, without newline; empty containers included. */
static void put_yaml_scalar(const struct value *value, struct strbuf *out)
{
    switch ((enum value_type)value->type) {
    case VALUE_NULL:
        strbuf_adds(out, "null");
        break;
    case VALUE_BOOL:
        strbuf_adds(out, value->boolean ? "true" : "false");
        break;
    case VALUE_INT:
        put_integer(value, out);
        break;
    case VALUE_FLOAT:
        double_put_yaml(out, value->number);
        break;
    case VALUE_TEXT:
    case VALUE_TIME:
        put_yaml_text(value->text, value->len, out);
        break;
    case VALUE_LIST:
        strbuf_adds(out, "[]");
        break;
    case VALUE_MAP:
        strbuf_adds(out, "{}");
        break;
    }
}

static bool is_block(const struct value *value)
{
    return (value->type == VALUE_LIST || value->type == VALUE_MAP) && value->len > 0;
}

#define YAML_INDENT 2
/* Longer keys need the explicit form "? key". */
#define YAML_KEY_MAX 120

static void put_yaml(const struct value *value, int column, struct strbuf *out);

static void put_yaml_member(const struct value *member, int column, struct strbuf *out)
{
    bool is_long = member->key_len > YAML_KEY_MAX;
    strbuf_adds(out, is_long ? "? " : "");
    put_yaml_text(member->key, member->key_len, out);
    if (is_long)
        put_line(out, column);
    strbuf_addc(out, ':');
    if (!is_block(member)) {
        strbuf_addc(out, ' ');
        put_yaml_scalar(member, out);
        return;
    }
    int below = member->type == VALUE_MAP ? column + YAML_INDENT : column;
    put_line(out, below);
    put_yaml(member, below, out);
}

/* The cursor is at `column` already; no newline at the end. */
static void put_yaml(const struct value *value, int column, struct strbuf *out)
{
    if (!is_block(value)) {
        put_yaml_scalar(value, out);
        return;
    }
    struct children children;
    children_take(value, true, out, &children);
    for (size_t i = 0; i < children.count; i++) {
        if (i > 0)
            put_line(out, column);
        if (value->type == VALUE_MAP) {
            put_yaml_member(children.items[i], column, out);
            continue;
        }
        strbuf_adds(out, "- ");
        put_yaml(children.items[i], column + YAML_INDENT, out);
    }
    children_done(&children);
}

void write_yaml(const struct value *value, struct strbuf *out)
{
    put_yaml(value, 0, out);
    strbuf_addc(out, '\n');
}
