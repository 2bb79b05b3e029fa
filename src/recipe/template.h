/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_RECIPE_TEMPLATE_H
#define ASSAY_RECIPE_TEMPLATE_H

/* Words of templates cut into pieces; what reader and resolver share. Private to the module. */

#include "recipe/command.h"
#include "recipe/reader.h"

#define TEMPLATE_DEPTH_MAX 16  /* nesting of files */
#define TEMPLATE_WORDS_MAX 512 /* words of argv, groups included */

enum piece_kind { PIECE_END, PIECE_TEXT, PIECE_NAME, PIECE_BAD };

struct piece {
    enum piece_kind kind;
    const char *text; /* the text, or the placeholder's name */
    size_t len;
};

/* Takes the next piece of a word and moves *at past it. PIECE_BAD: a lone brace or no name in braces, *at stays. */
struct piece piece_next(const char **at);
/* The name when the word is exactly one placeholder, else NULL; the length in *ret_len. */
const char *sole_placeholder(const char *word, size_t *ret_len);

/* An element of argv, or of a group. */
enum element_kind { ELEMENT_WORD, ELEMENT_OPTIONAL, ELEMENT_WHEN, ELEMENT_UNLESS, ELEMENT_EACH, ELEMENT_BAD };
struct element {
    enum element_kind kind;
    const char *word;               /* ELEMENT_WORD */
    const char *name;               /* ELEMENT_WHEN, ELEMENT_UNLESS, ELEMENT_EACH */
    const struct json_value *words; /* array of the group */
};
struct element element_of(const struct json_value *value);

/*
 * Walks the leaves of a JSON tree without recursion: visit gets each one that is no array or object, and the opening
 * and closing of those. Stops at the first status that is not AS_OK. AS_E_LIMIT below TEMPLATE_DEPTH_MAX.
 */
enum tree_event { TREE_LEAF, TREE_OPEN, TREE_CLOSE };
typedef as_status tree_visit(void *context, const struct json_value *value, enum tree_event event);
as_status tree_walk(const struct json_value *root, tree_visit *visit, void *context) AS_NODISCARD;

#endif
