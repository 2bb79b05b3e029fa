/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as YAML: a tree or an error with a place, and a tree is well formed and can be written as JSON. */
#include "base/json_write.h"
#include "options/yaml_tree.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define DEMAND(condition)                                                                                              \
    do {                                                                                                               \
        if (!(condition))                                                                                              \
            abort();                                                                                                   \
    } while (0)

static void check_value(const struct json_value *value, int depth)
{
    size_t count = 0;
    DEMAND(depth <= YAML_DEPTH_MAX + 1);
    DEMAND(value->type == JSON_ARRAY || value->type == JSON_OBJECT || !value->text ||
           strlen(value->text) == value->len);
    for (const struct json_value *child = value->first; child; child = child->next, count++) {
        DEMAND((value->type == JSON_OBJECT) == (child->key != NULL));
        DEMAND(!child->key || strlen(child->key) == child->key_len);
        check_value(child, depth + 1);
    }
    DEMAND((value->type != JSON_ARRAY && value->type != JSON_OBJECT) || count == value->len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena;
    struct as_error err = {0};
    const struct json_value *root = NULL, *again = NULL;
    arena_init(&arena, 0, 0);
    if (yaml_parse((const char *)data, size, &arena, &root, &err) == AS_OK) {
        struct strbuf text AS_AUTO_STRBUF;
        struct json_writer writer;
        check_value(root, 1);
        DEMAND(yaml_line((const char *)data, size, root) >= 1);
        strbuf_init(&text, 0);
        json_writer_init(&writer, &text, 0);
        json_put_value(&writer, root);
        DEMAND(json_writer_status(&writer) == AS_OK);
        DEMAND(json_parse(strbuf_text(&text), text.len, NULL, &arena, &again, NULL) == AS_OK);
    } else {
        DEMAND(root == NULL && err.line >= 1 && err.message[0]);
    }
    arena_done(&arena);
    return 0;
}
