/* SPDX-License-Identifier: Apache-2.0 */
#include "brief/value.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Chunks grow with the tree: most documents are small, some are not. */
#define FIRST_CHUNK_BYTES ((size_t)8 * 1024)
#define CHUNK_BYTES       ((size_t)256 * 1024)

void tree_init(struct tree *tree, size_t max_bytes)
{
    *tree = (struct tree){.failed = false};
    arena_init(&tree->arena, FIRST_CHUNK_BYTES, max_bytes);
}

void tree_done(struct tree *tree)
{
    arena_done(&tree->arena);
}

void tree_empty(struct tree *tree)
{
    arena_reset(&tree->arena);
    tree->nodes = 0;
    tree->failed = false;
}

as_status tree_status(const struct tree *tree, struct as_error *err)
{
    if (!tree->failed)
        return AS_OK;
    size_t max = tree->arena.max_bytes;
    if (max != 0 && tree->arena.used_bytes + CHUNK_BYTES >= max)
        return error_set(err, AS_E_LIMIT, "the document needs more than %zu MiB of memory", max >> 20);
    return error_set(err, AS_E_NOMEM, "out of memory");
}

char *tree_strndup(struct tree *tree, const char *text, size_t len)
{
    char *copy = arena_strndup(&tree->arena, text, len);
    if (!copy)
        tree->failed = true;
    return copy;
}

char *tree_strdup(struct tree *tree, const char *text)
{
    return tree_strndup(tree, text, strlen(text));
}

struct value *value_new(struct tree *tree, enum value_type type)
{
    struct value *value = arena_alloc(&tree->arena, sizeof *value);
    if (!value) {
        tree->failed = true;
        return NULL;
    }
    if (tree->arena.chunk_bytes < CHUNK_BYTES && tree->arena.used_bytes > 2 * tree->arena.chunk_bytes)
        tree->arena.chunk_bytes *= 2;
    *value = (struct value){.type = (uint8_t)type};
    tree->nodes++;
    return value;
}

struct value *value_map(struct tree *tree)
{
    return value_new(tree, VALUE_MAP);
}

struct value *value_list(struct tree *tree)
{
    return value_new(tree, VALUE_LIST);
}

struct value *value_null(struct tree *tree)
{
    return value_new(tree, VALUE_NULL);
}

struct value *value_bool(struct tree *tree, bool boolean)
{
    struct value *value = value_new(tree, VALUE_BOOL);
    if (value)
        value->boolean = boolean;
    return value;
}

struct value *value_int(struct tree *tree, int64_t integer)
{
    struct value *value = value_new(tree, VALUE_INT);
    if (value)
        value->integer = integer;
    return value;
}

struct value *value_float(struct tree *tree, double number)
{
    struct value *value = value_new(tree, VALUE_FLOAT);
    if (value)
        value->number = number;
    return value;
}

struct value *value_textn(struct tree *tree, const char *text, size_t len)
{
    struct value *value = value_new(tree, VALUE_TEXT);
    char *copy = value && len < UINT32_MAX ? arena_strndup(&tree->arena, text, len) : NULL;
    if (!copy) {
        tree->failed = true;
        return NULL;
    }
    value->text = copy;
    value->len = (uint32_t)len;
    return value;
}

struct value *value_text(struct tree *tree, const char *text)
{
    return text ? value_textn(tree, text, strlen(text)) : NULL;
}

struct value *value_textf(struct tree *tree, const char *fmt, ...)
{
    va_list args;
    char *text = NULL;
    va_start(args, fmt);
    int len = vasprintf(&text, fmt, args);
    va_end(args);
    if (len < 0) {
        tree->failed = true;
        return NULL;
    }
    struct value *value = value_textn(tree, text, (size_t)len);
    free(text);
    return value;
}

struct value *value_share(struct tree *tree, const struct value *value)
{
    struct value *copy = value ? value_new(tree, (enum value_type)value->type) : NULL;
    if (!copy)
        return NULL;
    *copy = *value;
    copy->next = NULL;
    copy->key = NULL;
    copy->key_len = 0;
    return copy;
}

static bool has_text(const struct value *value)
{
    return value->type == VALUE_TEXT || value->type == VALUE_TIME || (value->type == VALUE_INT && value->text);
}

/* Depth is bounded by that of the readers and of our own construction. */
struct value *value_copy(struct tree *tree, const struct value *value)
{
    struct value *copy = value_share(tree, value);
    if (!copy)
        return NULL;
    if (has_text(value)) {
        copy->text = arena_strndup(&tree->arena, value->text, value->len);
        if (!copy->text) {
            tree->failed = true;
            return NULL;
        }
        return copy;
    }
    if (value->type != VALUE_LIST && value->type != VALUE_MAP)
        return copy;
    copy->first = copy->last = NULL;
    copy->len = 0;
    for (const struct value *child = value->first; child && !tree->failed; child = child->next) {
        struct value *twin = value_copy(tree, child);
        if (value->type == VALUE_LIST) {
            value_add(copy, twin);
            continue;
        }
        char *key = arena_strndup(&tree->arena, child->key, child->key_len);
        if (key)
            value_putn(copy, key, child->key_len, twin);
        else
            tree->failed = true;
    }
    return copy;
}

static void append(struct value *container, struct value *child)
{
    child->next = NULL;
    if (container->last)
        container->last->next = child;
    else
        container->first = child;
    container->last = child;
    container->len++;
}

void value_putn(struct value *map, const char *key, size_t key_len, struct value *take_member)
{
    if (!map || !take_member)
        return;
    take_member->key = key;
    take_member->key_len = (uint32_t)key_len;
    append(map, take_member);
}

void value_put(struct value *map, const char *key, struct value *take_member)
{
    value_putn(map, key, strlen(key), take_member);
}

static bool has_key(const struct value *member, const char *key, size_t key_len)
{
    return member->key_len == key_len && memcmp(member->key, key, key_len) == 0;
}

void value_remove(struct value *map, const char *key)
{
    size_t key_len = strlen(key);
    struct value *kept = NULL, *last = NULL;
    if (!value_is(map, VALUE_MAP))
        return;
    struct value *member = map->first;
    map->len = 0;
    while (member) {
        struct value *next = member->next;
        if (!has_key(member, key, key_len)) {
            member->next = NULL;
            if (last)
                last->next = member;
            else
                kept = member;
            last = member;
            map->len++;
        }
        member = next;
    }
    map->first = kept;
    map->last = last;
}

void value_set(struct value *map, const char *key, struct value *take_member)
{
    if (!map || !take_member)
        return;
    value_remove(map, key);
    value_put(map, key, take_member);
}

void value_add(struct value *list, struct value *take_item)
{
    if (list && take_item)
        append(list, take_item);
}

/* By key, of equal ones the later in the text first. */
struct place {
    struct value *member;
    size_t index;
};

static int compare_places(const void *left, const void *right)
{
    const struct place *a = left, *b = right;
    size_t shorter = a->member->key_len < b->member->key_len ? a->member->key_len : b->member->key_len;
    int order = memcmp(a->member->key, b->member->key, shorter);
    if (order != 0)
        return order;
    if (a->member->key_len != b->member->key_len)
        return a->member->key_len < b->member->key_len ? -1 : 1;
    return a->index > b->index ? -1 : 1;
}

#define FEW 12

static bool has_later_twin_among_few(const struct value *member)
{
    for (const struct value *later = member->next; later; later = later->next)
        if (has_key(later, member->key, member->key_len))
            return true;
    return false;
}

static void keep_marked(struct value *map, const bool *is_kept)
{
    struct value *member = map->first;
    size_t index = 0;
    map->first = map->last = NULL;
    map->len = 0;
    while (member) {
        struct value *next = member->next;
        if (is_kept[index++])
            append(map, member);
        member = next;
    }
}

void value_drop_duplicates(struct tree *tree, struct value *map)
{
    bool few[FEW];
    size_t count = map->len, index = 0, kept = 0;
    if (count <= FEW) {
        for (struct value *member = map->first; member; member = member->next, index++)
            kept += few[index] = !has_later_twin_among_few(member);
        if (kept < count)
            keep_marked(map, few);
        return;
    }
    struct place *places = malloc(count * sizeof *places);
    bool *is_kept = malloc(count * sizeof *is_kept);
    if (!places || !is_kept) {
        tree->failed = true;
        goto out;
    }
    for (struct value *member = map->first; member; member = member->next, index++)
        places[index] = (struct place){member, index};
    qsort(places, count, sizeof *places, compare_places);
    for (size_t i = 0; i < count; i++) {
        bool is_first = i == 0 || !has_key(places[i].member, places[i - 1].member->key, places[i - 1].member->key_len);
        is_kept[places[i].index] = is_first;
        kept += is_first;
    }
    if (kept < count)
        keep_marked(map, is_kept);
out:
    free(places);
    free(is_kept);
}

struct value *value_submap(struct tree *tree, struct value *map, const char *key)
{
    struct value *member = value_get(map, key);
    if (value_is(member, VALUE_MAP))
        return member;
    member = value_map(tree);
    value_set(map, key, member);
    return member;
}

void value_merge(struct tree *tree, struct value *into, const struct value *from)
{
    if (!into || !value_is(from, VALUE_MAP))
        return;
    for (const struct value *member = from->first; member && !tree->failed; member = member->next) {
        struct value *old = value_get(into, member->key);
        bool is_map = value_is(old, VALUE_MAP);
        if (is_map && value_is(member, VALUE_MAP)) {
            value_merge(tree, old, member);
            continue;
        }
        if (is_map && !value_is_true(member))
            continue;
        value_set(into, member->key, value_copy(tree, member));
    }
}

static struct value *get_n(const struct value *map, const char *key, size_t key_len)
{
    if (!value_is(map, VALUE_MAP))
        return NULL;
    for (struct value *member = map->first; member; member = member->next)
        if (has_key(member, key, key_len))
            return member;
    return NULL;
}

struct value *value_get(const struct value *map, const char *key)
{
    return get_n(map, key, strlen(key));
}

struct value *value_have(const struct value *map, const char *key)
{
    struct value *member = value_get(map, key);
    return value_is(member, VALUE_NULL) ? NULL : member;
}

struct value *value_item(const struct value *list, size_t index)
{
    if (!value_is(list, VALUE_LIST))
        return NULL;
    struct value *item = list->first;
    while (item && index-- > 0)
        item = item->next;
    return item;
}

struct value *value_at(const struct value *root, const char *path)
{
    const struct value *value = root;
    while (value) {
        size_t len = strcspn(path, ".");
        if (value->type == VALUE_LIST) {
            char *end;
            unsigned long long index = strtoull(path, &end, 10);
            value = end == path + len && len > 0 && path[0] >= '0' && path[0] <= '9' ? value_item(value, index) : NULL;
        } else {
            value = get_n(value, path, len);
        }
        if (path[len] == '\0')
            break;
        path += len + 1;
    }
    return (struct value *)(uintptr_t)value;
}

bool value_is(const struct value *value, enum value_type type)
{
    return value && value->type == type;
}

bool value_is_text(const struct value *value, const char *text)
{
    return value_is(value, VALUE_TEXT) && value->len == strlen(text) && memcmp(value->text, text, value->len) == 0;
}

const char *value_string(const struct value *value)
{
    return value_is(value, VALUE_TEXT) ? value->text : NULL;
}

bool value_number(const struct value *value, double *ret)
{
    if (value_is(value, VALUE_FLOAT))
        *ret = value->number;
    else if (value_is(value, VALUE_INT))
        *ret = (double)value->integer;
    else
        return false;
    return true;
}

bool value_is_true(const struct value *value)
{
    if (!value)
        return false;
    switch ((enum value_type)value->type) {
    case VALUE_NULL:
        return false;
    case VALUE_BOOL:
        return value->boolean;
    case VALUE_INT:
        return value->integer != 0;
    case VALUE_FLOAT:
        return !(value->number <= 0 && value->number >= 0);
    case VALUE_TIME:
        return true;
    case VALUE_TEXT:
    case VALUE_LIST:
    case VALUE_MAP:
        break;
    }
    return value->len > 0;
}

const char *value_type_name(const struct value *value)
{
    static const char *const names[] = {"null", "a boolean", "an integer", "a number",
                                        "text", "a time",    "a list",     "a mapping"};
    return value ? names[value->type] : "nothing";
}

static bool equal_text(const struct value *a, const struct value *b)
{
    return a->len == b->len && memcmp(a->text, b->text, a->len) == 0;
}

static bool equal_children(const struct value *a, const struct value *b)
{
    if (a->len != b->len)
        return false;
    const struct value *twin = b->first;
    for (const struct value *child = a->first; child; child = child->next) {
        if (a->type == VALUE_MAP)
            twin = get_n(b, child->key, child->key_len);
        if (!value_equal(child, twin))
            return false;
        if (a->type == VALUE_LIST)
            twin = twin->next;
    }
    return true;
}

bool value_equal(const struct value *a, const struct value *b)
{
    if (!a || !b || a->type != b->type)
        return a == b;
    switch ((enum value_type)a->type) {
    case VALUE_NULL:
        return true;
    case VALUE_BOOL:
        return a->boolean == b->boolean;
    case VALUE_INT:
        return a->text && b->text ? equal_text(a, b) : !a->text && !b->text && a->integer == b->integer;
    case VALUE_FLOAT:
        return (isnan(a->number) && isnan(b->number)) ||
               !(a->number < b->number || a->number > b->number || isnan(a->number) || isnan(b->number));
    case VALUE_TEXT:
    case VALUE_TIME:
        return equal_text(a, b);
    case VALUE_LIST:
    case VALUE_MAP:
        break;
    }
    return equal_children(a, b);
}
