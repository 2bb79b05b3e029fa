/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json_write.h"

#include "base/json_text.h"

#include <math.h>
#include <string.h>

#define INTEGER_BYTES 20

void json_writer_init(struct json_writer *writer, struct strbuf *out, int indent)
{
    *writer = (struct json_writer){.out = out, .indent = indent};
}

as_status json_writer_status(const struct json_writer *writer)
{
    if (writer->failed || writer->depth > 0)
        return AS_E_INTERNAL;
    return strbuf_status(writer->out);
}

static bool in_object(const struct json_writer *writer)
{
    int top = writer->depth - 1;
    return top >= 0 && (writer->object_bits[top / 64] >> (top % 64) & 1);
}

static void put_line_break(struct json_writer *writer)
{
    if (writer->indent <= 0)
        return;
    size_t spaces = (size_t)writer->indent * (size_t)writer->depth;
    if (!strbuf_reserve(writer->out, spaces + 1))
        return;
    char *at = writer->out->data + writer->out->len;
    *at = '\n';
    memset(at + 1, ' ', spaces);
    at[spaces + 1] = '\0';
    writer->out->len += spaces + 1;
}

/* What stands between the values of a container. */
static void put_separator(struct json_writer *writer)
{
    if (writer->need_comma)
        strbuf_addc(writer->out, ',');
    if (writer->depth > 0)
        put_line_break(writer);
}

/* Called before each value; false when none may stand here. */
static bool value_begin(struct json_writer *writer)
{
    bool is_top = writer->depth == 0;
    if (writer->failed || (is_top && writer->need_comma) || (in_object(writer) && !writer->have_key)) {
        writer->failed = true;
        return false;
    }
    if (!writer->have_key)
        put_separator(writer);
    writer->have_key = false;
    writer->need_comma = true;
    return true;
}

static void container_open(struct json_writer *writer, bool is_object)
{
    if (!value_begin(writer))
        return;
    if (writer->depth == JSON_WRITE_DEPTH_MAX) {
        writer->failed = true;
        return;
    }
    strbuf_addc(writer->out, is_object ? '{' : '[');
    uint64_t bit = UINT64_C(1) << ((unsigned)writer->depth % 64);
    uint64_t *word = &writer->object_bits[(unsigned)writer->depth / 64];
    *word = is_object ? *word | bit : *word & ~bit;
    writer->depth++;
    writer->need_comma = false;
}

static void container_close(struct json_writer *writer, bool is_object)
{
    if (writer->failed || writer->depth == 0 || writer->have_key || in_object(writer) != is_object) {
        writer->failed = true;
        return;
    }
    writer->depth--;
    if (writer->need_comma)
        put_line_break(writer);
    strbuf_addc(writer->out, is_object ? '}' : ']');
    writer->need_comma = true;
}

void json_open_object(struct json_writer *writer)
{
    container_open(writer, true);
}

void json_close_object(struct json_writer *writer)
{
    container_close(writer, true);
}

void json_open_array(struct json_writer *writer)
{
    container_open(writer, false);
}

void json_close_array(struct json_writer *writer)
{
    container_close(writer, false);
}

static void put_quoted(struct json_writer *writer, const char *text, size_t len)
{
    strbuf_addc(writer->out, '"');
    json_escape(writer->out, text, len);
    strbuf_addc(writer->out, '"');
}

void json_key(struct json_writer *writer, const char *key)
{
    json_keyn(writer, key, strlen(key));
}

void json_keyn(struct json_writer *writer, const char *key, size_t len)
{
    if (writer->failed || writer->have_key || !in_object(writer)) {
        writer->failed = true;
        return;
    }
    put_separator(writer);
    put_quoted(writer, key, len);
    strbuf_add(writer->out, ": ", writer->indent > 0 ? 2 : 1);
    writer->have_key = true;
}

void json_put_string(struct json_writer *writer, const char *text)
{
    if (text)
        json_put_stringn(writer, text, strlen(text));
    else
        json_put_null(writer);
}

void json_put_stringn(struct json_writer *writer, const char *text, size_t len)
{
    if (value_begin(writer))
        put_quoted(writer, text, len);
}

void json_put_int(struct json_writer *writer, int64_t value)
{
    char text[INTEGER_BYTES];
    json_put_raw(writer, text, (size_t)(int64_put(text, value) - text));
}

void json_put_uint(struct json_writer *writer, uint64_t value)
{
    char text[INTEGER_BYTES];
    json_put_raw(writer, text, (size_t)(uint64_put(text, value) - text));
}

void json_put_double(struct json_writer *writer, double value)
{
    char text[DOUBLE_TEXT_BYTES];
    json_put_raw(writer, text, double_format(value, text));
}

void json_put_bool(struct json_writer *writer, bool value)
{
    json_put_raw(writer, value ? "true" : "false", value ? 4 : 5);
}

void json_put_null(struct json_writer *writer)
{
    json_put_raw(writer, "null", 4);
}

void json_put_raw(struct json_writer *writer, const char *json, size_t len)
{
    if (value_begin(writer))
        strbuf_add(writer->out, json, len);
}

/* Writes a scalar, or opens a container; true when its children are to follow. */
static bool put_value_begin(struct json_writer *writer, const struct json_value *value)
{
    switch (value->type) {
    case JSON_NULL:
        json_put_null(writer);
        return false;
    case JSON_BOOL:
        json_put_bool(writer, value->boolean);
        return false;
    case JSON_NUMBER:
        json_put_raw(writer, value->text, value->len);
        return false;
    case JSON_STRING:
        json_put_stringn(writer, value->text, value->len);
        return false;
    case JSON_ARRAY:
    case JSON_OBJECT:
        container_open(writer, value->type == JSON_OBJECT);
        return !writer->failed;
    }
    writer->failed = true;
    return false;
}

void json_put_value(struct json_writer *writer, const struct json_value *value)
{
    static const struct json_value null_value = {.type = JSON_NULL};
    const struct json_value *open[JSON_WRITE_DEPTH_MAX];
    const struct json_value *next[JSON_WRITE_DEPTH_MAX];
    int depth = 0;
    const struct json_value *at = value ? value : &null_value;
    while (!writer->failed) {
        if (at && put_value_begin(writer, at)) {
            open[depth] = at;
            next[depth++] = at->first;
        }
        while (depth > 0 && !next[depth - 1])
            container_close(writer, open[--depth]->type == JSON_OBJECT);
        if (depth == 0)
            return;
        at = next[depth - 1];
        next[depth - 1] = at->next;
        if (open[depth - 1]->type == JSON_OBJECT)
            json_keyn(writer, at->key, at->key_len);
    }
}

void json_member_string(struct json_writer *writer, const char *key, const char *text)
{
    json_key(writer, key);
    json_put_string(writer, text);
}

void json_member_int(struct json_writer *writer, const char *key, int64_t value)
{
    json_key(writer, key);
    json_put_int(writer, value);
}

void json_member_double(struct json_writer *writer, const char *key, double value)
{
    json_key(writer, key);
    json_put_double(writer, value);
}

void json_member_bool(struct json_writer *writer, const char *key, bool value)
{
    json_key(writer, key);
    json_put_bool(writer, value);
}

void json_member_null(struct json_writer *writer, const char *key)
{
    json_key(writer, key);
    json_put_null(writer);
}

static void escape_one(struct strbuf *out, char c)
{
    static const char HEX[] = "0123456789abcdef";
    static const char LETTERS[0x20] = {['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n', ['\f'] = 'f', ['\r'] = 'r'};
    unsigned char code = (unsigned char)c;
    char letter = code < 0x20 ? LETTERS[code] : c;
    if (letter) {
        strbuf_add(out, (char[]){'\\', letter}, 2);
        return;
    }
    strbuf_add(out, (char[]){'\\', 'u', '0', '0', HEX[code >> 4], HEX[code & 15]}, 6);
}

void json_escape(struct strbuf *out, const char *text, size_t len)
{
    if (len == 0)
        return;
    const char *at = text, *end = text + len;
    const char *plain = at;
    while (at < end) {
        at = json_scan_ascii(at, end);
        if (at == end)
            break;
        bool valid = true;
        const char *from = at;
        bool is_ascii = (unsigned char)*at < 0x80;
        at += is_ascii ? 1 : utf8_take(at, end, &valid);
        if (!is_ascii && valid)
            continue;
        strbuf_add(out, plain, (size_t)(from - plain));
        if (is_ascii)
            escape_one(out, *from);
        else
            strbuf_add(out, UTF8_REPLACEMENT, UTF8_REPLACEMENT_BYTES);
        plain = at;
    }
    strbuf_add(out, plain, (size_t)(end - plain));
}
