/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The shape cache gives what reading every event in full gives: random streams are taken in twice, with the cache and
 * with it emptied before each event, and the two answers compared.
 */
#include "base/rng.h"
#include "modality/chat_answer.h"
#include "modality_compare.h"
#include "support/check.h"

#include <stdio.h>
#include <string.h>

#define EVENTS 60

/* Shapes of events; %s is a text. */
static const char *const shapes[] = {
    "{\"id\":\"1\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"%s\"},\"logprobs\":null,\"finish_reason\":null}]"
    "}",
    "{\"id\":\"1\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"%s\"},\"finish_reason\":"
    "null}],\"usage\":null}",
    "{\"choices\":[{\"index\":1,\"delta\":{\"content\":\"%s\"}}]}",
    "{\"choices\":[{\"index\":0,\"delta\":{\"content\":null,\"reasoning_content\":\"%s\"}}]}",
    "{\"choices\":[{\"index\":0,\"delta\":{\"reasoning_content\":\"%s\",\"reasoning\":\"other\"}}]}",
    "{\"choices\":[{\"index\":0,\"delta\":{\"content\":\"%s\"},\"text\":\"instead\"}]}",
    "{\"choices\":[{\"index\":0,\"delta\":{\"content\":\"\"},\"text\":\"%s\"}]}",
    "{\"choices\":[{\"index\":0,\"delta\":{\"content\":\"first\",\"content\":\"%s\"}}]}",
    "{\"choices\":[{\"index\":0,\"delta\":{\"content\":\"%s\",\"content\":\"second\"}}]}",
    "{\"choices\":[{\"index\":0,\"delta\":{\"content\":\"%s\"},\"finish_reason\":\"stop\"}]}",
    "{\"choices\":[{\"index\":0,\"delta\":{\"content\":\"x\"},\"finish_reason\":\"%s\"}]}",
    "{\"choices\":[{\"index\":0,\"delta\":{\"content\":\"%s\",\"refusal\":\"no\"}}]}",
    "{\"choices\":[{\"index\":0,\"delta\":{\"content\":\"%s\"}}],\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":"
    "4}}",
    "{\"choices\":[{\"index\":0,\"delta\":{\"content\":\"%s\"}}],\"error\":null}",
    "{\"choices\":[{\"index\":0,\"delta\":{\"content\":\"%s\"}}],\"error\":{\"message\":\"no\"}}",
    "{\"choices\":[{\"index\":0,\"delta\":{\"content\":\"%s\"}},{\"index\":1,\"delta\":{\"content\":\"b\"}}]}",
    "{\"choices\":[{\"index\":0,\"text\":\"%s\"}]} ",
    "{\"choices\":[{\"index\":0,\"delta\":{\"content\":[{\"type\":\"text\",\"text\":\"%s\"}]}}]}",
    "{\"choices\":[{\"index\":0,\"delta\":{\"content\":[{\"text\":\"%s\",\"type\":\"text\"},\"\",\"b\"]}}]}",
    "{\"choices\":[{\"index\":0,\"delta\":{\"content\":[{\"type\":\"text\",\"text\":\"a\"},{\"type\":\"text\","
    "\"text\":\"%s\"}]}}]}",
    "{\"choices\":[{\"index\":0,\"delta\":{\"content\":[{\"type\":\"%s\",\"text\":\"a\"},{\"text\":\"\"}]}}]}",
    "{\"choices\":[{\"index\":0,\"delta\":{\"content\":\"%s\"}}]",
};

/* Texts, sound and not; some end the string early or leave it open. */
static const char *const texts[] = {
    "",
    " ",
    "a",
    " word",
    "two words",
    "\\n",
    "\\\"",
    "\\\\",
    "caf\xC3\xA9",
    "\\ud83e\\udd89",
    "\\ud83e",
    "\xE6\xAD",
    "\\u0020",
    "\\u00",
    "\\x",
    "a\nb",
    "\"},\"x\":{\"y\":\"",
    "\"",
    "\\",
    "\"}}],\"error\":{\"message\":\"",
    "a\"",
    "\\\\\"",
    "long long long long long long long text",
};

static void make_event(struct rng *rng, size_t favourite, char ret[512])
{
    size_t shape = rng_below(rng, 3) ? favourite : (size_t)rng_below(rng, ARRAY_COUNT(shapes));
    const char *text = texts[rng_below(rng, ARRAY_COUNT(texts))];
    const char *place = strstr(shapes[shape], "%s");
    snprintf(ret, 512, "%.*s%s%s", (int)(place - shapes[shape]), shapes[shape], text, place + 2);
}

static void test_the_cache_changes_nothing(void **state)
{
    (void)state;
    struct compare compare;
    size_t taken_by_shape = 0;
    for (uint64_t stream = 0; stream < 3000; stream++) {
        struct rng rng;
        rng_init(&rng, stream, 1);
        compare_begin(&compare);
        size_t favourite = (size_t)rng_below(&rng, ARRAY_COUNT(shapes));
        for (int i = 0; i < EVENTS; i++) {
            char event[512];
            make_event(&rng, favourite, event);
            if (!compare_event(&compare, event, strlen(event)))
                fail_msg("stream %llu, event %d: %s: %s", (unsigned long long)stream, i, event, compare.differs);
        }
        taken_by_shape += compare.taken_by_shape;
        compare_end(&compare);
    }
    assert_true(taken_by_shape > 10000); /* the cache was at work */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_the_cache_changes_nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
