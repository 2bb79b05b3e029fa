/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_MODALITY_CHAT_H
#define ASSAY_MODALITY_CHAT_H

/*
 * Reads one JSON text of a chat or completions API: an event of a stream or a whole answer. Takes bytes, gives places
 * in them; keeps nothing, allocates nothing, walks the text once. Reads what it needs and steps over everything else,
 * at any depth, whatever it is called there.
 *
 * Duplicate members: the last one counts. Inside members that are stepped over, only strings and nesting are checked;
 * trailing bytes after the object, a cut text and anything malformed on the way to what is read are refused.
 * Any thread.
 */

#include "base/json.h"
#include "base/strbuf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Choice indexes at or above this one count as the last below it. */
#define CHAT_CHOICES_MAX 128
/* Nesting beyond this is no JSON that a server sends. */
#define CHAT_DEPTH_MAX 65536

/* Where the text of an answer may be found: in `delta` (events) or in `message` (whole answers); `text` in both. */
enum chat_form { CHAT_EVENT, CHAT_BODY };

/* One entry of `choices`. Texts are raw (still escaped); at NULL = absent, null or of another type. */
struct chat_choice {
    uint32_t index; /* `index`, else the place in the list; < CHAT_CHOICES_MAX */
    struct json_raw role;
    struct json_raw content;   /* delta.content, or `text` when that is absent or empty; of a list of parts the first
                                  text that is not empty */
    struct json_raw reasoning; /* delta.reasoning_content, or delta.reasoning when that is absent or empty */
    struct json_raw refusal;
    struct json_raw finish_reason;
    const char *more_content; /* where further texts of that list follow (chat_next_part); NULL = none */
    const char *tools;        /* value of tool_calls or function_call; NULL = none that names or fills a call */
};

/* Token counts; -1 = absent, null, negative or not an integer. */
struct chat_usage {
    int64_t prompt_tokens, completion_tokens, total_tokens;
    int64_t reasoning_tokens; /* completion_tokens_details.reasoning_tokens */
    int64_t cached_tokens;    /* prompt_tokens_details.cached_tokens */
};

struct chat_reading {
    bool has_choices; /* `choices` is a list */
    bool has_usage;   /* `usage` is an object */
    uint32_t choice_count;
    struct chat_choice first; /* the first choice, when there is one */
    const char *choices;      /* the list, for chat_choices_next */
    struct chat_usage usage;
    const char *end;       /* of the text */
    enum chat_form form;   /* as it was read */
    struct json_raw error; /* the whole value of a non-null top-level `error`; at NULL = none */
};

/* False when the text is no JSON object. */
bool chat_read(const char *text, size_t len, enum chat_form form, struct chat_reading *ret);

/* Walks all choices of a reading that succeeded. */
struct chat_walk {
    struct json_cursor cursor;
    enum chat_form form;
    uint32_t place;
    bool is_first;
};
void chat_walk_init(struct chat_walk *walk, const struct chat_reading *reading);
bool chat_walk_next(struct chat_walk *walk, struct chat_choice *ret);

/*
 * The next text of a content that is a list of parts, behind `content`; false after the last one. Texts are those of
 * parts of the type text, output_text or none, and bare strings; empty ones and other parts are left out. Moves
 * choice->more_content; `end` is the end of the JSON text.
 */
bool chat_next_part(struct chat_choice *choice, const char *end, struct json_raw *ret);

/*
 * Appends the `arguments` texts of the choice's calls, still escaped, one after the other, while out->len ≤ max_bytes;
 * false when not all fitted. `end` is the end of the text.
 */
bool chat_append_arguments(const struct chat_choice *choice, const char *end, size_t max_bytes, struct strbuf *out);

/* True when `text` begins with a JSON object that has a non-null top-level `error`, cut off or not; *ret is what there
 * is of it. */
bool chat_find_error(const char *text, size_t len, struct json_raw *ret);

#endif
