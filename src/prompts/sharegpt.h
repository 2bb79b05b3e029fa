/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_PROMPTS_SHAREGPT_H
#define ASSAY_PROMPTS_SHAREGPT_H

/*
 * Reads conversations as ShareGPT files hold them: a JSON array of objects, or one object after the other, each with
 * `id` and a list of turns (`conversations`, `conversation`, `items` or `messages`) whose turns say who speaks (`from` or
 * `role`) and what (`value` or `content`). Of each conversation the first turn of a human with at least one word is
 * taken, and how many words the answer has that follows it. Bytes come in pieces of any size; memory holds one
 * conversation's turn and prompt, never the file. One reader is for one thread.
 */

#include "base/json_stream.h"
#include "base/status.h"
#include "base/strbuf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sharegpt_conversation {
    const char *id; /* "" = none, or one that is too long */
    size_t id_len;
    const char *prompt; /* NULL = no human turn with a word */
    size_t prompt_len;
    bool has_turns;       /* a list of turns is there */
    bool has_blank_turn;  /* a human turn without a word */
    int64_t answer_words; /* -1 = no answer follows the prompt */
};

/* What is done with each conversation; texts live until it returns. Another status than AS_OK ends the reading. */
struct sharegpt_sink {
    void *context;
    as_status (*take)(void *context, const struct sharegpt_conversation *conversation);
};

enum sharegpt_place { SHAREGPT_TOP, SHAREGPT_CONVERSATION, SHAREGPT_TURNS, SHAREGPT_TURN };
enum sharegpt_member { SHAREGPT_OTHER, SHAREGPT_ID, SHAREGPT_LIST, SHAREGPT_ROLE, SHAREGPT_TEXT };
enum sharegpt_role { SHAREGPT_SOMEONE, SHAREGPT_HUMAN, SHAREGPT_MODEL };

struct sharegpt {
    struct json_stream stream;
    struct sharegpt_sink sink;
    enum sharegpt_place place;
    enum sharegpt_member member; /* whose value comes next */
    enum sharegpt_role role;     /* of the turn */
    struct strbuf id, turn, prompt;
    bool is_in_array, has_turns, has_prompt, has_blank_turn, is_awaiting;
    int64_t answer_words;
};

void sharegpt_init(struct sharegpt *reader, const struct sharegpt_sink *sink);
/* AS_E_INVALID, AS_E_LIMIT: bad JSON, with line and column; AS_E_NOMEM; what `take` returned. */
as_status sharegpt_feed(struct sharegpt *reader, const char *data, size_t len, struct as_error *err) AS_NODISCARD;
/* The input ended. */
as_status sharegpt_finish(struct sharegpt *reader, struct as_error *err) AS_NODISCARD;
void sharegpt_done(struct sharegpt *reader);

#endif
