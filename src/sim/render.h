/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_SIM_RENDER_H
#define ASSAY_SIM_RENDER_H

/*
 * The bytes of answers: response heads, events in HTTP chunks, JSON bodies, errors. Each function appends to `out`; a
 * failure stays in the buffer's status. Nothing is allocated once the buffer has seen the largest answer.
 */

#include "sim/answer.h"

/* Writes `answer->prefix`: the event up to the choice's index. */
void sim_render_prefix(struct sim_answer *answer);

void sim_render_stream_head(const struct sim_answer *answer, struct strbuf *out);
/* The role of each choice, as chat streams begin. */
void sim_render_roles(const struct sim_answer *answer, struct strbuf *out);
/* `count` reasoning tokens from `from` of every choice. */
void sim_render_reasoning(const struct sim_answer *answer, int64_t from, int64_t count, struct strbuf *out);
/* `count` content tokens (or tool arguments) from `from` of every choice. */
void sim_render_content(const struct sim_answer *answer, int64_t from, int64_t count, struct strbuf *out);
/* Finish reasons, usage as asked for, [DONE] and the last HTTP chunk, as the answer's fate allows. */
void sim_render_stream_end(const struct sim_answer *answer, struct strbuf *out);
/* An error object as an event, then [DONE] and the last HTTP chunk. */
void sim_render_stream_error(struct strbuf *out);
/* An event whose JSON is cut. */
void sim_render_bad_event(struct strbuf *out);
/* The last HTTP chunk. */
void sim_render_last_chunk(struct strbuf *out);
/* The whole response to a request without a stream. */
void sim_render_body(const struct sim_answer *answer, struct strbuf *out);

/* The fate of a request that gets an error answer. */
void sim_render_status_fault(const struct sim_answer *answer, struct strbuf *out);

/* An OpenAI-style error object. `message` needs no JSON escape and has at most SIM_ERROR_MESSAGE_MAX bytes. */
#define SIM_ERROR_MESSAGE_MAX 512
void sim_render_error(struct strbuf *out, int status, const char *message);

#endif
