/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_BRIEF_READER_H
#define ASSAY_BRIEF_READER_H

/* What the JSON and YAML readers share: a source of bytes and the tree under construction. Not for use outside read*.c. */

#include "brief/read.h"

#define READER_PATTERNS_MAX 32
#define READER_STEPS_MAX    6
#define READER_PIECE_BYTES  ((size_t)256 << 10)

/* Bytes in memory, or a file read in pieces. */
struct source {
    int fd; /* -1 = memory */
    const char *text;
    size_t len;
    size_t at; /* bytes given out so far */
    char *buffer;
    as_status status;
    int errnum;
};

/* The next piece, valid until the next call; 0 bytes at the end or on an error (then status is set). */
size_t source_next(struct source *source, const char **ret);

struct pattern {
    const char *steps[READER_STEPS_MAX];
    size_t lens[READER_STEPS_MAX];
    size_t count;
};

struct builder {
    struct tree *tree;
    struct value *root;
    size_t depth; /* open containers */
    struct value *open[READ_DEPTH_MAX + 1];
    uint32_t alive[READ_DEPTH_MAX + 1]; /* patterns that match so far, by depth */
    uint32_t next_alive;                /* those of the value that comes next */
    const char *key;                    /* of the value that comes next in a map */
    size_t key_len;
    struct pattern patterns[READER_PATTERNS_MAX];
    size_t pattern_count;
};

void builder_init(struct builder *builder, struct tree *tree, read_skip_list skip);
/* Takes a key (copied); true when its value is to be skipped. */
bool builder_key(struct builder *builder, const char *key, size_t len);
/* Puts a value where it belongs; a container is then open. */
void builder_value(struct builder *builder, struct value *value, uint32_t line);
void builder_close(struct builder *builder);

as_status read_json(struct source *source, struct builder *builder, struct as_error *err) AS_NODISCARD;
/* `is_json`: NaN, Infinity and -Infinity are numbers. */
as_status read_yaml(struct source *source, bool is_json, struct builder *builder, struct as_error *err) AS_NODISCARD;

#endif
