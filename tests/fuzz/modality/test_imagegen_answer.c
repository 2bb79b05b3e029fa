/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answers of image generation: what is read agrees with the tree of base/json where that accepts the text, and every
 * item that is walked to can be decoded or has a sentence.
 */
#include "modality/imagegen_answer.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
    if (!holds)
        abort();
}

static void check_item(const struct imagegen_item *item)
{
    struct as_error err = {.message = ""};
    AS_AUTO_STRBUF struct strbuf bytes;
    strbuf_init(&bytes, 0);
    if (!item->base64.at)
        return;
    as_status status = imagegen_decode(item, &bytes, &err);
    must(status == AS_OK ? bytes.len > 0 : bytes.len == 0 && err.message[0]);
    must(bytes.len <= item->base64.len);
}

static void check_with_tree(const char *text, size_t len, const struct imagegen_reading *reading)
{
    const struct json_value *root;
    struct arena arena;
    arena_init(&arena, 0, 0);
    if (json_parse(text, len, &(struct json_limits){.max_depth = 512, .lossy = true}, &arena, &root, NULL) == AS_OK) {
        const struct json_value *list = json_get(root, "data");
        bool is_list = root->type == JSON_OBJECT && list && list->type == JSON_ARRAY;
        must(is_list == (reading->data != NULL));
        must(!is_list || list->len == reading->items);
        must((root->type == JSON_OBJECT) == (reading->form != IMAGEGEN_ANSWER_NO_JSON));
    }
    arena_done(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    struct imagegen_reading reading;
    struct imagegen_walk walk;
    struct imagegen_item item;
    size_t walked = 0;
    imagegen_read(text, size, &reading);
    must(reading.input_tokens >= -1 && reading.output_tokens >= -1 && reading.total_tokens >= -1);
    must(reading.form != IMAGEGEN_ANSWER_SOUND || reading.data);
    check_with_tree(text, size, &reading);
    if (!reading.data)
        return 0;
    imagegen_walk_init(&walk, &reading);
    for (; walked < reading.items && imagegen_walk_next(&walk, &item); walked++)
        check_item(&item);
    return 0;
}
