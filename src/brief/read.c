/* SPDX-License-Identifier: Apache-2.0 */
#include "brief/read.h"

#include "brief/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char BYTE_ORDER_MARK[] = "\xEF\xBB\xBF";
#define BYTE_ORDER_MARK_BYTES 3

size_t source_next(struct source *source, const char **ret)
{
    if (source->fd < 0) {
        size_t len = source->len - source->at;
        *ret = source->text + source->at;
        source->at += len;
        return len;
    }
    ssize_t len;
    do
        len = read(source->fd, source->buffer, READER_PIECE_BYTES);
    while (len < 0 && errno == EINTR);
    if (len < 0) {
        source->status = AS_E_IO;
        source->errnum = errno;
        return 0;
    }
    *ret = source->buffer;
    if (source->at == 0 && len >= BYTE_ORDER_MARK_BYTES &&
        memcmp(source->buffer, BYTE_ORDER_MARK, BYTE_ORDER_MARK_BYTES) == 0) {
        *ret += BYTE_ORDER_MARK_BYTES;
        source->at += (size_t)len;
        return (size_t)len - BYTE_ORDER_MARK_BYTES;
    }
    source->at += (size_t)len;
    return (size_t)len;
}

static void add_pattern(struct builder *builder, const char *text)
{
    struct pattern *pattern = &builder->patterns[builder->pattern_count];
    for (pattern->count = 0; pattern->count < READER_STEPS_MAX; text++) {
        size_t len = strcspn(text, ".");
        pattern->steps[pattern->count] = text;
        pattern->lens[pattern->count++] = len;
        text += len;
        if (*text == '\0')
            break;
    }
    builder->alive[0] |= (uint32_t)1 << builder->pattern_count++;
}

void builder_init(struct builder *builder, struct tree *tree, read_skip_list skip)
{
    *builder = (struct builder){.tree = tree, .rest = tree};
    for (; skip && *skip && builder->pattern_count < READER_PATTERNS_MAX; skip++)
        add_pattern(builder, *skip);
    builder->next_alive = builder->alive[0];
}

/* The patterns whose step at this depth is `key` (NULL: an item); *ret_ends when one ends here. */
static uint32_t match_step(const struct builder *builder, const char *key, size_t len, bool *ret_ends)
{
    uint32_t left = builder->alive[builder->depth], matched = 0;
    size_t step = builder->depth - 1;
    for (size_t i = 0; left >> i != 0 && i < builder->pattern_count; i++) {
        const struct pattern *pattern = &builder->patterns[i];
        if (!(left >> i & 1) || step >= pattern->count)
            continue;
        bool is_any = pattern->lens[step] == 1 && pattern->steps[step][0] == '*';
        if (!is_any && !(key && pattern->lens[step] == len && memcmp(pattern->steps[step], key, len) == 0))
            continue;
        matched |= (uint32_t)1 << i;
        *ret_ends = *ret_ends || pattern->count == step + 1;
    }
    return matched;
}

/* A copy of the key, the same one for equal keys as long as no other takes its place; NULL without memory. */
static const char *keep_key(struct builder *builder, const char *key, size_t len)
{
    uint32_t hash = 2166136261; /* FNV-1a */
    for (size_t i = 0; i < len; i++)
        hash = (hash ^ (unsigned char)key[i]) * 16777619;
    size_t slot = hash % READER_KEYS;
    if (builder->keys[slot].text && builder->keys[slot].len == len && memcmp(builder->keys[slot].text, key, len) == 0)
        return builder->keys[slot].text;
    builder->keys[slot].text = tree_strndup(builder->rest, key, len);
    builder->keys[slot].len = len;
    return builder->keys[slot].text;
}

bool builder_key(struct builder *builder, const char *key, size_t len)
{
    bool ends = false;
    builder->next_alive = builder->alive[builder->depth] ? match_step(builder, key, len, &ends) : 0;
    if (ends)
        return true;
    builder->key = keep_key(builder, key, len);
    builder->key_len = len;
    return false;
}

/* Begins a list whose items are given away. */
static void open_items(struct builder *builder, struct value *list)
{
    if (value_get(builder->root, builder->items->list) != list)
        builder->items->restart(builder->items->context);
    builder->list = list;
    builder->tree = builder->items->tree;
}

static void close_items(struct builder *builder)
{
    builder->list = NULL;
    builder->tree = builder->rest;
}

static void give_item(struct builder *builder, const struct value *item)
{
    if (!builder->tree->failed)
        builder->status = builder->items->take(builder->items->context, item, builder->err);
    builder->list->first = builder->list->last = NULL;
    tree_empty(builder->tree);
}

static bool is_item_list(const struct builder *builder, const struct value *value)
{
    return builder->items && builder->depth == 1 && value->type == VALUE_LIST && value->key &&
           strcmp(value->key, builder->items->list) == 0;
}

void builder_value(struct builder *builder, struct value *value, uint32_t line)
{
    struct value *parent = builder->depth ? builder->open[builder->depth] : NULL;
    if (!value)
        return;
    value->line = line;
    builder->is_skipped_item = false;
    if (!parent) {
        builder->root = value;
    } else if (parent->type == VALUE_MAP) {
        if (builder->key)
            value_putn(parent, builder->key, builder->key_len, value);
    } else {
        bool ends = false;
        builder->next_alive = builder->alive[builder->depth] ? match_step(builder, NULL, 0, &ends) : 0;
        builder->is_skipped_item = ends;
        value_add(parent, value);
    }
    if (value->type != VALUE_MAP && value->type != VALUE_LIST) {
        if (parent && parent == builder->list)
            give_item(builder, value);
        return;
    }
    if (is_item_list(builder, value))
        open_items(builder, value);
    builder->open[++builder->depth] = value;
    builder->alive[builder->depth] = builder->depth == 1 ? builder->alive[0] : builder->next_alive;
}

void builder_close(struct builder *builder)
{
    struct value *closed = builder->open[builder->depth--];
    if (closed->type == VALUE_MAP)
        value_drop_duplicates(builder->tree, closed);
    if (closed == builder->list)
        close_items(builder);
    else if (builder->list && builder->open[builder->depth] == builder->list)
        give_item(builder, closed);
}

static bool begins_like_json(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (!strchr(" \t\r\n", text[i]) || text[i] == '\0')
            return text[i] == '{' || text[i] == '[';
    return false;
}

/* False when the bytes cannot be read a second time. */
static bool source_rewind(struct source *source)
{
    source->at = 0;
    return source->fd < 0 || lseek(source->fd, 0, SEEK_SET) == 0;
}

static as_status finish(struct source *source, struct builder *builder, as_status status, struct as_error *err)
{
    if (source->status != AS_OK)
        return error_set_errno(err, source->errnum, "reading failed");
    if (status == AS_OK && builder->tree->failed)
        return tree_status(builder->tree, err);
    if (status == AS_OK && builder->rest->failed)
        return tree_status(builder->rest, err);
    return status == AS_OK ? builder->status : status;
}

/* How a document is read; those that look like JSON are tried in this order. */
enum reading { READING_JSON, READING_JSON_WORDS, READING_YAML };

static as_status read_as(enum reading reading, struct source *source, struct builder *builder, struct as_error *err)
{
    as_status status = reading == READING_YAML ? read_yaml(source, builder, err)
                                               : read_json(source, reading == READING_JSON_WORDS, builder, err);
    return finish(source, builder, status, err);
}

static void begin(struct builder *builder, struct tree *tree, const struct source *source, struct as_error *err)
{
    builder_init(builder, tree, source->skip);
    builder->items = source->items;
    builder->err = err;
    if (source->items) {
        source->items->restart(source->items->context);
        tree_empty(source->items->tree);
    }
}

static as_status read_source(struct source *source, struct builder *builder, struct value **ret, struct as_error *err)
{
    struct tree *tree = builder->tree;
    struct as_error first = {0}, again = {0};
    begin(builder, tree, source, &first);
    as_status status = read_as(source->is_json ? READING_JSON : READING_YAML, source, builder, &first);
    for (enum reading reading = READING_JSON_WORDS;
         source->is_json && status == AS_E_INVALID && builder->status == AS_OK && reading <= READING_YAML; reading++) {
        if ((reading == READING_YAML && !source->may_be_yaml) || !source_rewind(source))
            break;
        begin(builder, tree, source, &again);
        status = read_as(reading, source, builder, &again);
        /* Of two syntax errors in JSON the one that is further on is the one to be told. */
        if (status != AS_E_INVALID || builder->status != AS_OK ||
            (reading == READING_JSON_WORDS && again.offset > first.offset))
            first = again;
    }
    tree->failed = tree->failed || status == AS_E_NOMEM;
    if (status == AS_OK)
        *ret = builder->root ? builder->root : value_null(tree);
    else if (err)
        *err = first;
    return status;
}

/* In the tree's arena; NULL without memory. */
static struct builder *new_builder(struct tree *tree)
{
    struct builder *builder = arena_alloc(&tree->arena, sizeof *builder);
    if (builder)
        builder->tree = tree;
    else
        tree->failed = true;
    return builder;
}

as_status read_parts(const struct read_parts *parts, struct tree *tree, struct value **ret, struct as_error *err)
{
    struct source source = {.fd = -1, .text = parts->text, .len = parts->len, .skip = parts->skip};
    struct builder *builder = new_builder(tree);
    if (!builder)
        return error_set(err, AS_E_NOMEM, "out of memory");
    if (parts->len >= BYTE_ORDER_MARK_BYTES && memcmp(parts->text, BYTE_ORDER_MARK, BYTE_ORDER_MARK_BYTES) == 0) {
        source.text += BYTE_ORDER_MARK_BYTES;
        source.len -= BYTE_ORDER_MARK_BYTES;
    }
    source.is_json = begins_like_json(source.text, source.len);
    source.may_be_yaml = source.len <= READ_YAML_BYTES_MAX;
    return read_source(&source, builder, ret, err);
}

as_status read_text(const char *text, size_t len, struct tree *tree, struct value **ret, struct as_error *err)
{
    return read_parts(&(struct read_parts){text, len, NULL}, tree, ret, err);
}

/* Without items->take all goes into one tree. */
static as_status read_fd(int fd, const struct read_items *items, struct tree *tree, struct value **ret,
                         struct as_error *err)
{
    char head[256];
    struct stat facts;
    bool is_file = fstat(fd, &facts) == 0 && S_ISREG(facts.st_mode);
    ssize_t head_len = is_file ? pread(fd, head, sizeof head, 0) : -1;
    if (head_len < 0)
        return is_file ? error_set_errno(err, errno, "reading failed")
                       : error_set(err, AS_E_INVALID, "not a regular file");
    bool has_mark = head_len >= BYTE_ORDER_MARK_BYTES && memcmp(head, BYTE_ORDER_MARK, BYTE_ORDER_MARK_BYTES) == 0;
    size_t from = has_mark ? BYTE_ORDER_MARK_BYTES : 0;
    struct builder *builder = new_builder(tree);
    struct source source = {.fd = fd, .buffer = arena_alloc(&tree->arena, READER_PIECE_BYTES), .skip = items->skip};
    if (!builder || !source.buffer)
        return error_set(err, AS_E_NOMEM, "out of memory");
    source.items = items->take ? items : NULL;
    source.is_json = begins_like_json(head + from, (size_t)head_len - from);
    source.may_be_yaml = !source.items && facts.st_size <= (off_t)READ_YAML_BYTES_MAX;
    if (source.items && !source.is_json)
        return error_set(err, AS_E_UNSUPPORTED, "not JSON");
    return read_source(&source, builder, ret, err);
}

as_status read_path_items(const char *path, const struct read_items *items, struct tree *tree, struct value **ret,
                          struct as_error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return error_set(err, errno == ENOENT ? AS_E_NOTFOUND : AS_E_IO, "%s: %s", path, strerror(errno));
    as_status status = read_fd(fd, items, tree, ret, err);
    (void)close(fd);
    return status == AS_OK ? status : error_prefix(err, "%s", path);
}

as_status read_path(const char *path, read_skip_list skip, struct tree *tree, struct value **ret, struct as_error *err)
{
    return read_path_items(path, &(struct read_items){.skip = skip}, tree, ret, err);
}
