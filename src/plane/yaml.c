/* SPDX-License-Identifier: Apache-2.0 */
#include "plane/yaml.h"

#include "base/json_write.h"

#include <string.h>

static const char *const NOT_PLAIN[] = {"true", "false", "null", "yes", "no", "on", "off", "y", "n", "nan", "inf"};

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* A word that no YAML reader takes for anything but a string. */
static bool is_plain(const char *text, size_t len)
{
    char lower[8] = "";
    if (len == 0 || !is_letter(text[0]))
        return false;
    for (size_t i = 0; i < len; i++)
        if (!is_letter(text[i]) && !(text[i] >= '0' && text[i] <= '9') && text[i] != '-' && text[i] != '.')
            return false;
    for (size_t i = 0; i < len && len < sizeof lower; i++)
        lower[i] = (char)(text[i] | 0x20);
    for (size_t i = 0; i < sizeof NOT_PLAIN / sizeof NOT_PLAIN[0]; i++)
        if (strcmp(lower, NOT_PLAIN[i]) == 0)
            return false;
    return true;
}

static void put_string(struct strbuf *out, const char *text, size_t len)
{
    if (is_plain(text, len)) {
        strbuf_add(out, text, len);
        return;
    }
    strbuf_addc(out, '"');
    json_escape(out, text, len);
    strbuf_addc(out, '"');
}

/* Readers of YAML 1.1 take 1e-6 for text: they want a point. */
static void put_number(struct strbuf *out, const char *text, size_t len)
{
    const char *exponent = memchr(text, 'e', len);
    if (!exponent || memchr(text, '.', len)) {
        strbuf_add(out, text, len);
        return;
    }
    strbuf_add(out, text, (size_t)(exponent - text));
    strbuf_adds(out, ".0");
    strbuf_add(out, exponent, len - (size_t)(exponent - text));
}

static void put_scalar(struct strbuf *out, const struct json_value *value)
{
    switch (value->type) {
    case JSON_STRING:
        put_string(out, value->text, value->len);
        break;
    case JSON_NUMBER:
        put_number(out, value->text, value->len);
        break;
    case JSON_BOOL:
        strbuf_adds(out, value->boolean ? "true" : "false");
        break;
    case JSON_ARRAY:
        strbuf_adds(out, "[]");
        break;
    case JSON_OBJECT:
        strbuf_adds(out, "{}");
        break;
    default:
        strbuf_adds(out, "null");
        break;
    }
}

static void indent(struct strbuf *out, int depth)
{
    for (int i = 0; i < depth; i++)
        strbuf_adds(out, "  ");
}

/* Where the walk is: the next child of each open container. */
struct level {
    const struct json_value *next;
    bool is_array;
};

/* A child's beginning: its dash or key; true when it is a container with children, which the walk then enters. */
static bool put_child(struct strbuf *out, const struct json_value *child, bool is_array)
{
    const bool is_container = (child->type == JSON_ARRAY || child->type == JSON_OBJECT) && child->first;
    if (is_array) {
        strbuf_adds(out, is_container ? "-" : "- ");
    } else {
        put_string(out, child->key, child->key_len);
        strbuf_adds(out, is_container ? ":" : ": ");
    }
    if (!is_container)
        put_scalar(out, child);
    strbuf_addc(out, '\n');
    return is_container;
}

void yaml_write(struct strbuf *out, const struct json_value *value)
{
    struct level levels[JSON_WRITE_DEPTH_MAX];
    int depth = 0;
    if ((value->type != JSON_ARRAY && value->type != JSON_OBJECT) || !value->first) {
        put_scalar(out, value);
        strbuf_addc(out, '\n');
        return;
    }
    levels[depth++] = (struct level){value->first, value->type == JSON_ARRAY};
    while (depth > 0) {
        struct level *level = &levels[depth - 1];
        const struct json_value *child = level->next;
        if (!child) {
            depth--;
            continue;
        }
        level->next = child->next;
        indent(out, depth - 1);
        if (put_child(out, child, level->is_array) && depth < JSON_WRITE_DEPTH_MAX)
            levels[depth++] = (struct level){child->first, child->type == JSON_ARRAY};
    }
}
