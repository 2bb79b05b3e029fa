/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_TESTS_UNIT_MODALITY_COMPARE_H
#define ASSAY_TESTS_UNIT_MODALITY_COMPARE_H

/* Two answers that take in the same events, one with the shape cache and one that reads every event in full. */

#include "modality/chat_answer.h"

#include <string.h>

struct compare {
    struct chat_wish wish;
    struct chat_answer cached, full;
    int64_t clock_ns;
    size_t taken_by_shape; /* events whose shape was known before */
    const char *differs;   /* what, after a difference */
};

static inline void compare_begin(struct compare *compare)
{
    struct http_response_head head = {.status = 200};
    *compare = (struct compare){.wish = {.choices = 2, .save_texts = true}};
    chat_answer_prepare(&compare->cached, true, 1, -1);
    chat_answer_prepare(&compare->full, true, 1, -1);
    chat_answer_begin(&compare->wish, &compare->cached, &head, true);
    chat_answer_begin(&compare->wish, &compare->full, &head, true);
}

static inline void compare_end(struct compare *compare)
{
    chat_answer_done(&compare->cached);
    chat_answer_done(&compare->full);
}

#define COMPARE_SAME(member)                                                                                           \
    if (a->member != b->member)                                                                                        \
    return #member

static inline const char *compare_progress(const struct chat_progress *a, const struct chat_progress *b)
{
    COMPARE_SAME(is_done);
    COMPARE_SAME(has_server_error);
    COMPARE_SAME(usage_shrank);
    COMPARE_SAME(is_unsound);
    COMPARE_SAME(is_cut);
    COMPARE_SAME(has_reasoning);
    COMPARE_SAME(has_tools);
    COMPARE_SAME(has_refusal);
    COMPARE_SAME(first_event_ns);
    COMPARE_SAME(role_ns);
    COMPARE_SAME(first_reasoning_ns);
    COMPARE_SAME(first_content_ns);
    COMPARE_SAME(first_tool_ns);
    COMPARE_SAME(last_content_ns);
    COMPARE_SAME(usage_ns);
    COMPARE_SAME(done_mark_ns);
    COMPARE_SAME(client_lag_ns);
    COMPARE_SAME(tail_is_content);
    COMPARE_SAME(read_chunks);
    COMPARE_SAME(events);
    COMPARE_SAME(content_chunks);
    COMPARE_SAME(ignored_events);
    COMPARE_SAME(broken_events);
    COMPARE_SAME(usage.prompt_tokens);
    COMPARE_SAME(usage.completion_tokens);
    COMPARE_SAME(usage.total_tokens);
    COMPARE_SAME(usage.reasoning_tokens);
    COMPARE_SAME(usage.cached_tokens);
    COMPARE_SAME(words);
    COMPARE_SAME(in_word[0]);
    COMPARE_SAME(in_word[1]);
    COMPARE_SAME(seen[0]);
    COMPARE_SAME(seen[1]);
    COMPARE_SAME(finished[0]);
    COMPARE_SAME(finished[1]);
    return strcmp(a->finish_reason, b->finish_reason) != 0 ? "finish_reason" : NULL;
}

static inline const char *compare_texts(const struct chat_answer *a, const struct chat_answer *b)
{
    COMPARE_SAME(gaps.len);
    COMPARE_SAME(shared.len);
    COMPARE_SAME(error.len);
    if (a->gaps.len > 0 && memcmp(a->gaps.bytes, b->gaps.bytes, a->gaps.len) != 0)
        return "gaps";
    if (a->shared.len > 0 && memcmp(a->shared.bytes, b->shared.bytes, a->shared.len) != 0)
        return "shared";
    if (memcmp(a->error.text, b->error.text, a->error.len) != 0)
        return "error";
    for (uint32_t i = 0; i < a->saved->choices * CHAT_CHANNEL_COUNT; i++) {
        const struct strbuf *one = &a->saved->texts[i], *other = &b->saved->texts[i];
        if (one->len != other->len || (one->len > 0 && memcmp(one->data, other->data, one->len) != 0))
            return "saved text";
    }
    return NULL;
}

/* Gives the event to both; false, and `differs` set, when they are not the same after it. */
static inline bool compare_event(struct compare *compare, const char *data, size_t len)
{
    struct sse_event event = {.data = data, .len = len, .name = ""};
    struct arrival arrival = {.ns = compare->clock_ns, .user_ns = compare->clock_ns + 7, .is_kernel = true};
    const struct chat_shape *shape = &compare->cached.shape;
    bool is_known = shape->before_bytes > 0 && len > (size_t)shape->before_bytes + shape->after_bytes &&
                    memcmp(data, shape->bytes, shape->before_bytes) == 0;
    compare->clock_ns += 1000;
    compare->taken_by_shape += is_known;
    compare->full.shape.before_bytes = 0;
    bool cached = chat_answer_event(&compare->wish, &compare->cached, &event, &arrival);
    bool full = chat_answer_event(&compare->wish, &compare->full, &event, &arrival);
    compare->differs = cached != full ? "return value" : compare_progress(&compare->cached.now, &compare->full.now);
    if (!compare->differs)
        compare->differs = compare_texts(&compare->cached, &compare->full);
    return !compare->differs;
}

#endif
