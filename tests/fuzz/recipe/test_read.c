/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as each of the data files: read, or refused with a sentence that names the file. What was read as sets can
 * be compared with itself; sets that pass their check can be rendered and have a digest.
 */
#include "recipe/diff.h"
#include "recipe/engine_args.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define DEMAND(condition)                                                                                              \
    do {                                                                                                               \
        if (!(condition))                                                                                              \
            abort();                                                                                                   \
    } while (0)

static const struct recipe_flag FLAGS[] = {
    {.key = "a", .type = RECIPE_INT, .flag = "--a"},
    {.key = "b", .type = RECIPE_BOOL, .flag = "--b", .false_flag = "--no-b"},
    {.key = "c", .type = RECIPE_ARRAY, .flag = "--c"},
    {.key = "d", .type = RECIPE_JSON, .flag = "--d"},
    {.key = "e", .type = RECIPE_STRING, .flag = "--e"},
    {.key = "f", .type = RECIPE_FLOAT, .flag = "--f"},
    {.key = "g", .type = RECIPE_BOOL, .flag = "--g", .writes_bool = true},
};
static const struct recipe_pair PARALLEL[] = {{"tensor", "a"}};
static const struct recipe_framework FRAMEWORK = {.code = "x",
                                                  .name = "X",
                                                  .parallel = {PARALLEL, 1},
                                                  .flags = FLAGS,
                                                  .flag_count = sizeof(FLAGS) / sizeof(FLAGS[0])};

static void use_set(const struct recipe_set *set, struct arena *arena)
{
    struct as_error err = {0};
    struct recipe_list words = {0};
    struct recipe_parallel parallel = {0};
    char digests[2][RECIPE_DIGEST_BYTES];
    if (recipe_set_check(&FRAMEWORK, set->framework_version_min, set, &err) != AS_OK) {
        DEMAND(err.message[0] != '\0');
        return;
    }
    as_status status = recipe_set_render(&FRAMEWORK, set, arena, &words, &err);
    if (status == AS_E_LIMIT)
        return; /* a list of more words than a command has */
    DEMAND(status == AS_OK);
    DEMAND(recipe_set_parallel(&FRAMEWORK, set, &parallel, &err) == AS_OK && parallel.gpus >= 1);
    if (recipe_set_digest(&FRAMEWORK, set, digests[0], &err) == AS_OK) {
        DEMAND(recipe_set_digest(&FRAMEWORK, set, digests[1], &err) == AS_OK);
        DEMAND(strcmp(digests[0], digests[1]) == 0);
    }
}

static void use_sets(const struct recipe_data *data, struct arena *arena)
{
    struct recipe_diff diff = {0};
    struct strbuf text AS_AUTO_STRBUF;
    strbuf_init(&text, 0);
    for (size_t i = 0; i < data->set_count; i++)
        use_set(&data->sets[i], arena);
    DEMAND(recipe_diff_sets(data, data, arena, &diff) == AS_OK);
    DEMAND(diff.same == data->set_count && diff.set_count == 0);
    struct recipe_data none = {0};
    DEMAND(recipe_diff_sets(data, &none, arena, &diff) == AS_OK && diff.removed == data->set_count);
    recipe_diff_text(&diff, &text);
    DEMAND(strbuf_status(&text) == AS_OK);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct recipe_text input = {"fuzz.json", (const char *)bytes, size};
    as_status (*const readers[])(const struct recipe_text *, struct arena *, struct recipe_data *,
                                 struct as_error *) = {recipe_read_models, recipe_read_gpus, recipe_read_frameworks,
                                                       recipe_read_sets};
    for (size_t i = 0; i < sizeof(readers) / sizeof(readers[0]); i++) {
        struct recipe_data data = {0};
        struct as_error err = {0};
        struct arena arena;
        arena_init(&arena, 0, 0);
        as_status status = readers[i](&input, &arena, &data, &err);
        DEMAND(status == AS_OK || strncmp(err.message, "fuzz.json", 9) == 0);
        if (status == AS_OK && data.set_count > 0)
            use_sets(&data, &arena);
        arena_done(&arena);
    }
    return 0;
}
