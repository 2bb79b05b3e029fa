/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chat_read against the same reading made from a JSON tree. The first byte chooses the form. What the tree refuses
 * chat_read may accept (it steps over members without a full check), never the other way.
 */
#include "base/json.h"
#include "modality/chat.h"
#include "modality/text.h"
#include "workload/words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "%s differs\n", what);
    abort();
}

static const struct json_value *string_or_null(const struct json_value *value)
{
    return value && value->type == JSON_STRING ? value : NULL;
}

/* The raw text means what the tree's string holds, and has its words. */
static void same_text(const struct json_raw *raw, const struct json_value *value, const char *what)
{
    must((raw->at != NULL) == (value != NULL), what);
    if (!value)
        return;
    char *decoded = malloc(3 * raw->len + 1);
    struct text_state state = {0};
    if (!decoded)
        abort();
    size_t len = json_raw_decode(raw, decoded);
    must(len == value->len && memcmp(decoded, value->text, len) == 0, what);
    must(text_scan(raw->at, raw->at + raw->len + 1, &state) == raw->at + raw->len, "end of text");
    must(state.words == words_count(value->text, value->len), "words");
    free(decoded);
}

static const struct json_value *longer(const struct json_value *first, const struct json_value *second)
{
    return (first && first->len > 0) || !second ? first : second;
}

static bool is_call(const struct json_value *call)
{
    const struct json_value *name = string_or_null(json_get(call, "name")),
                            *arguments = string_or_null(json_get(call, "arguments"));
    return (name && name->len > 0) || (arguments && arguments->len > 0);
}

static bool has_calls(const struct json_value *tools)
{
    if (!tools || tools->type != JSON_ARRAY)
        return is_call(tools);
    for (const struct json_value *item = tools->first; item; item = item->next)
        if (is_call(json_get(item, "function")))
            return true;
    return false;
}

static uint32_t index_of(const struct json_value *choice, uint32_t place)
{
    int64_t index;
    const struct json_value *value = json_get(choice, "index");
    if (!value || value->type != JSON_NUMBER || !json_int64(value, &index) || index < 0)
        return place < CHAT_CHOICES_MAX ? place : CHAT_CHOICES_MAX - 1;
    return index < CHAT_CHOICES_MAX ? (uint32_t)index : CHAT_CHOICES_MAX - 1;
}

static void same_choice(const struct chat_choice *choice, const struct json_value *tree, enum chat_form form,
                        uint32_t place)
{
    const struct json_value *message = json_get(tree, form == CHAT_EVENT ? "delta" : "message");
    const struct json_value *content = string_or_null(json_get(message, "content"));
    const struct json_value *reasoning = string_or_null(json_get(message, "reasoning_content"));
    must(choice->index == index_of(tree, place), "index");
    same_text(&choice->role, string_or_null(json_get(message, "role")), "role");
    same_text(&choice->content, longer(content, string_or_null(json_get(tree, "text"))), "content");
    same_text(&choice->reasoning, longer(reasoning, string_or_null(json_get(message, "reasoning"))), "reasoning");
    same_text(&choice->refusal, string_or_null(json_get(message, "refusal")), "refusal");
    same_text(&choice->finish_reason, string_or_null(json_get(tree, "finish_reason")), "finish_reason");
    must((choice->tools != NULL) ==
             (has_calls(json_get(message, "tool_calls")) || has_calls(json_get(message, "function_call"))),
         "tools");
}

static int64_t count_of(const struct json_value *object, const char *name)
{
    int64_t count;
    const struct json_value *value = json_get(object, name);
    return value && value->type == JSON_NUMBER && json_int64(value, &count) && count >= 0 ? count : -1;
}

static void same_usage(const struct chat_reading *reading, const struct json_value *usage)
{
    must(reading->has_usage == (usage && usage->type == JSON_OBJECT), "has_usage");
    if (!reading->has_usage)
        return;
    must(reading->usage.prompt_tokens == count_of(usage, "prompt_tokens"), "prompt_tokens");
    must(reading->usage.completion_tokens == count_of(usage, "completion_tokens"), "completion_tokens");
    must(reading->usage.total_tokens == count_of(usage, "total_tokens"), "total_tokens");
    must(reading->usage.reasoning_tokens == count_of(json_get(usage, "completion_tokens_details"), "reasoning_tokens"),
         "reasoning_tokens");
    must(reading->usage.cached_tokens == count_of(json_get(usage, "prompt_tokens_details"), "cached_tokens"),
         "cached_tokens");
}

static void same_choices(const struct chat_reading *reading, const struct json_value *choices)
{
    struct chat_walk walk;
    struct chat_choice choice;
    uint32_t place = 0;
    must(reading->has_choices == (choices && choices->type == JSON_ARRAY), "has_choices");
    must(reading->choice_count == (reading->has_choices ? choices->len : 0), "choice_count");
    chat_walk_init(&walk, reading);
    const struct json_value *tree = reading->has_choices ? choices->first : NULL;
    for (; tree; tree = tree->next) {
        must(chat_walk_next(&walk, &choice), "walk");
        same_choice(&choice, tree, reading->form, place);
        if (place == 0)
            same_choice(&reading->first, tree, reading->form, place);
        place++;
    }
    must(!chat_walk_next(&walk, &choice), "end of walk");
}

static void append_arguments(const struct chat_reading *reading, const char *end)
{
    struct strbuf out;
    if (reading->choice_count == 0)
        return;
    strbuf_init(&out, 0);
    chat_append_arguments(&reading->first, end, 64, &out);
    must(out.len <= 64, "length of arguments");
    strbuf_done(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct json_limits limits = {.max_depth = JSON_DEPTH_MAX, .lossy = true};
    struct chat_reading reading;
    struct arena arena;
    struct json_raw error;
    const struct json_value *tree;
    if (size == 0)
        return 0;
    enum chat_form form = data[0] & 1 ? CHAT_BODY : CHAT_EVENT;
    const char *text = (const char *)data + 1;
    bool is_read = chat_read(text, size - 1, form, &reading);
    chat_find_error(text, size - 1, &error);
    if (is_read)
        append_arguments(&reading, text + size - 1);
    arena_init(&arena, 0, 0);
    if (json_parse(text, size - 1, &limits, &arena, &tree, NULL) == AS_OK) {
        must(is_read == (tree->type == JSON_OBJECT), "acceptance");
        const struct json_value *failure = json_get(tree, "error");
        if (is_read) {
            must((reading.error.at != NULL) == (failure && failure->type != JSON_NULL), "error");
            same_usage(&reading, json_get(tree, "usage"));
            same_choices(&reading, json_get(tree, "choices"));
        }
    }
    arena_done(&arena);
    return 0;
}
