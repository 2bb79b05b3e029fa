/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_RECIPE_WORDS_H
#define ASSAY_RECIPE_WORDS_H

/* A growing list of words in an arena, and what else the files of the module share. Private to the module. */

#include "base/json_write.h"
#include "recipe/engine_args.h"

#define RECIPE_TOOL_IMAGEGEN "metrumbench-imagegen"
#define RECIPE_TOOL_ASR      "metrumbench-asr"
#define RECIPE_TOOL_VLM      "metrumbench-vlm"
#define RECIPE_TOOL_LLM      "metrumbench-llm"

/* The first failure sticks and is told by words_finish. */
struct words {
    struct arena *arena;
    const char **items;
    size_t count;
    size_t capacity;
    as_status status;
};

void words_init(struct words *words, struct arena *arena);
/* Keeps the pointer. */
void words_add(struct words *words, const char *word);
void words_addf(struct words *words, const char *fmt, ...) AS_PRINTF(2, 3);
as_status words_finish(struct words *words, struct recipe_list *ret, struct as_error *err) AS_NODISCARD;

/* An array of texts; an object of texts sorted by name (false when memory is short). */
void put_list(struct json_writer *writer, const struct recipe_list *list);
bool put_sorted_pairs(struct json_writer *writer, struct arena *arena, const struct recipe_pairs *pairs);

/* True when the flag belongs to the query's tool and version; the key is not looked at. */
bool flag_is_for(const struct recipe_flag *flag, const struct recipe_flag_query *query);

/* Letters a to z, digits and _, first a letter. */
bool is_placeholder_name(const char *text, size_t len);
/* The first {name} in text; NULL when there is none, else its brace, and the length of the name. */
const char *find_placeholder(const char *text, size_t *ret_name_len);
/* A name of an environment variable: letters, digits and _, no digit first. */
bool is_environment_name(const char *text);

#endif
