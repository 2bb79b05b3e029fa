/* SPDX-License-Identifier: Apache-2.0 */
#include "recipe/template.h"

#include "recipe/words.h"

struct piece piece_next(const char **at)
{
    const char *start = *at;
    if (*start == '\0')
        return (struct piece){PIECE_END, start, 0};
    if ((start[0] == '{' && start[1] == '{') || (start[0] == '}' && start[1] == '}')) {
        *at += 2;
        return (struct piece){PIECE_TEXT, start, 1};
    }
    if (*start == '}')
        return (struct piece){PIECE_BAD, start, 1};
    if (*start != '{') {
        size_t len = strcspn(start, "{}");
        *at += len;
        return (struct piece){PIECE_TEXT, start, len};
    }
    size_t len = strcspn(start + 1, "{}");
    if (start[1 + len] != '}' || !is_placeholder_name(start + 1, len))
        return (struct piece){PIECE_BAD, start, 1};
    *at += len + 2;
    return (struct piece){PIECE_NAME, start + 1, len};
}

const char *sole_placeholder(const char *word, size_t *ret_len)
{
    struct piece piece = piece_next(&word);
    if (piece.kind != PIECE_NAME || *word != '\0')
        return NULL;
    *ret_len = piece.len;
    return piece.text;
}

struct element element_of(const struct json_value *value)
{
    struct element element = {.kind = ELEMENT_BAD};
    if (value->type == JSON_STRING) {
        element.kind = ELEMENT_WORD;
        element.word = value->text;
    } else if (value->type == JSON_ARRAY) {
        element.kind = ELEMENT_OPTIONAL;
        element.words = value;
    } else if (value->type == JSON_OBJECT && value->len == 2) {
        static const struct {
            const char *member;
            enum element_kind kind;
        } groups[] = {{"when", ELEMENT_WHEN}, {"unless", ELEMENT_UNLESS}, {"each", ELEMENT_EACH}};
        element.words = json_get(value, "argv");
        for (size_t i = 0; element.words && element.words->type == JSON_ARRAY && i < 3; i++)
            if (json_string(json_get(value, groups[i].member), &element.name))
                element.kind = groups[i].kind;
    }
    return element;
}

static bool is_container(const struct json_value *value)
{
    return value->type == JSON_ARRAY || value->type == JSON_OBJECT;
}

as_status tree_walk(const struct json_value *root, tree_visit *visit, void *context)
{
    const struct json_value *open[TEMPLATE_DEPTH_MAX], *next = root;
    size_t depth = 0;
    as_status status = AS_OK;
    while (status == AS_OK && (next || depth > 0)) {
        if (!next) {
            const struct json_value *closed = open[--depth];
            status = visit(context, closed, TREE_CLOSE);
            next = depth > 0 ? closed->next : NULL;
            continue;
        }
        if (!is_container(next)) {
            status = visit(context, next, TREE_LEAF);
            next = depth > 0 ? next->next : NULL;
            continue;
        }
        if (depth == TEMPLATE_DEPTH_MAX)
            return AS_E_LIMIT;
        open[depth++] = next;
        status = visit(context, next, TREE_OPEN);
        next = next->first;
    }
    return status;
}
