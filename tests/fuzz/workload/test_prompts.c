/* SPDX-License-Identifier: Apache-2.0 */
/* Prompt files: whatever is read as a prompt can be sent, and skipping bad lines changes no good one. */
#include "workload/prompts.h"
#include "workload/words.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
    if (!holds)
        abort();
}

static void check(const struct prompts *prompts)
{
    must(prompts->count > 0);
    must(prompts->lines == (int64_t)prompts->count + prompts->blank_lines + prompts->bad_lines);
    for (size_t i = 0; i < prompts->count; i++) {
        const struct prompt *prompt = &prompts->items[i];
        must(prompt->words > 0 && prompt->words == words_count(prompt->text, prompt->len));
        must(prompt->expected_output_tokens == -1 || prompt->expected_output_tokens >= 1);
        must(prompt->id[0] && strlen(prompt->id) < PROMPTS_ID_BYTES);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct prompts_options skipping = {.skip_bad_lines = true};
    struct prompts strict, lenient;
    struct as_error err;
    const char *text = (const char *)data;
    bool is_strict = prompts_parse(text, size, NULL, &strict, &err) == AS_OK;
    bool is_lenient = prompts_parse(text, size, &skipping, &lenient, &err) == AS_OK;
    must(is_lenient || !is_strict);
    if (is_lenient)
        check(&lenient);
    if (is_strict) {
        check(&strict);
        must(strict.count == lenient.count && lenient.bad_lines == 0);
        prompts_done(&strict);
    }
    if (is_lenient)
        prompts_done(&lenient);
    return 0;
}
