/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_BRIEF_READER_H
#define ASSAY_BRIEF_READER_H

/* What the JSON and YAML readers share: a source of bytes and the tree under construction. Not for use outside read*.c.
 */

#include "base/strbuf.h"
#include "brief/read.h"

#define READER_PATTERNS_MAX 32
#define READER_STEPS_MAX    6
#define READER_KEYS         256 /* a power of two */
#define READER_PIECE_BYTES  ((size_t)256 << 10)

/* Bytes in memory, or a file read in pieces. */
struct source {
    bool is_json;     /* it begins like JSON */
    bool may_be_yaml; /* and is small enough to be tried as YAML then */
    read_skip_list skip;
    const struct read_items *items; /* NULL = all of it goes into one tree */
    int fd;                         /* -1 = memory */
    const char *text;
    size_t len;
    size_t at; /* bytes given out so far */
    char *buffer;
    as_status status;
    int errnum;
};

/*
 * Non-finite numbers as Python writes them into JSON (NaN, Infinity, -Infinity): between strings each is replaced by a
 * text that read_json takes back for the number.
 */
struct word_filter {
    bool in_string, is_escaped;
    char held[16]; /* the beginning of a word, or "-" */
    size_t held_len;
    struct strbuf out;
};
#define WORD_FILTER_MARK "\\u0000\\u0001"
/* The filtered piece, valid until the next call; `len` 0 = the input ended. */
void word_filter_feed(struct word_filter *filter, const char *piece, size_t len);

/* The next piece, valid until the next call; 0 bytes at the end or on an error (then status is set). */
size_t source_next(struct source *source, const char **ret);

struct pattern {
    const char *steps[READER_STEPS_MAX];
    size_t lens[READER_STEPS_MAX];
    size_t count;
};

struct builder {
    struct tree *tree; /* what comes next goes there */
    struct tree *rest; /* all but the items given away, and the keys */
    const struct read_items *items;
    struct value *list; /* of items, while it is open */
    as_status status;   /* of items->take */
    struct as_error *err;
    struct value *root;
    size_t depth; /* open containers */
    struct value *open[READ_DEPTH_MAX + 1];
    uint32_t alive[READ_DEPTH_MAX + 1]; /* patterns that match so far, by depth */
    uint32_t next_alive;                /* those of the value that comes next */
    bool is_skipped_item;               /* the latest value is an item that a pattern names: only its place is kept */
    const char *key;                    /* of the value that comes next in a map */
    size_t key_len;
    /* Keys seen lately, by hash: documents repeat theirs. */
    struct {
        const char *text;
        size_t len;
    } keys[READER_KEYS];
    struct pattern patterns[READER_PATTERNS_MAX];
    size_t pattern_count;
};

void builder_init(struct builder *builder, struct tree *tree, read_skip_list skip);
/* Takes a key (copied); true when its value is to be skipped. */
bool builder_key(struct builder *builder, const char *key, size_t len);
/* Puts a value where it belongs; a container is then open. */
void builder_value(struct builder *builder, struct value *value, uint32_t line);
void builder_close(struct builder *builder);
/* Nothing more is to be read: memory or an item failed. */
static inline bool builder_has_failed(const struct builder *builder)
{
    return builder->tree->failed || builder->rest->failed || builder->status != AS_OK;
}

/* `with_words`: NaN, Infinity and -Infinity are numbers. */
as_status read_json(struct source *source, bool with_words, struct builder *builder, struct as_error *err) AS_NODISCARD;
as_status read_yaml(struct source *source, struct builder *builder, struct as_error *err) AS_NODISCARD;

#endif
