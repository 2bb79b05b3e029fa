/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any JSON as command templates: read and checked, or refused. What passed is filled with fixed values: resolved or
 * refused with a sentence; every placeholder that is missing is found; words hold no value of a secret; the canonical
 * form is JSON and stays what it is when it is read again.
 */
#include "recipe/command.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define DEMAND(condition)                                                                                              \
    do {                                                                                                               \
        if (!(condition))                                                                                              \
            abort();                                                                                                   \
    } while (0)

static const char *const URLS[] = {"http://a:1", "{model}"};
static const struct recipe_value VALUES[] = {
    {.name = "model", .kind = RECIPE_TEXT, .text = "{urls} {{", .layer = RECIPE_FROM_WORKLOAD},
    {.name = "urls", .kind = RECIPE_LIST, .list = {URLS, 2}, .layer = RECIPE_FROM_PLAN},
    {.name = "isl", .kind = RECIPE_NUMBER, .text = "512", .layer = RECIPE_FROM_SCENARIO},
    {.name = "streaming", .kind = RECIPE_FLAG, .text = "true", .layer = RECIPE_FROM_RUN},
    {.name = "node_rank", .kind = RECIPE_NUMBER, .text = "0", .layer = RECIPE_FROM_PLAN},
};
static const struct recipe_flag FLAGS[] = {{.key = "r", .type = RECIPE_INT, .flag = "--r"},
                                           {.key = "j", .type = RECIPE_JSON, .flag = "--j"}};
static const struct recipe_framework FRAMEWORK = {.code = "x", .name = "X", .flags = FLAGS, .flag_count = 2};
static const struct recipe_arg ARGS[] = {{.key = "r", .text = "{node_rank}"}, {.key = "j", .text = "{\"a\":{}}"}};
static const struct recipe_pair ENV[] = {{"E", "{node_rank}{"}};
static const struct recipe_set SET = {.code = "s", .framework_code = "x", .args = {ARGS, 2}, .env = {ENV, 1}};

static void check_command(const struct recipe_command *command)
{
    struct strbuf text AS_AUTO_STRBUF, json AS_AUTO_STRBUF;
    struct json_writer writer;
    char digest[RECIPE_DIGEST_BYTES];
    strbuf_init(&text, 0);
    strbuf_init(&json, 0);
    DEMAND(command->argv.count >= 1 && command->argv.count <= RECIPE_WORDS_MAX);
    for (size_t i = 1; i < command->env.count; i++)
        DEMAND(strcmp(command->env.items[i - 1].name, command->env.items[i].name) < 0);
    for (size_t i = 0; i < command->files.count; i++)
        DEMAND(json_cursor_validate(command->files.items[i].value, strlen(command->files.items[i].value), NULL));
    recipe_command_text(command, &text);
    DEMAND(strbuf_status(&text) == AS_OK);
    json_writer_init(&writer, &json, 0);
    recipe_command_json(command, &writer);
    DEMAND(json_writer_status(&writer) == AS_OK);
    DEMAND(json_cursor_validate(strbuf_text(&json), json.len, NULL));
    DEMAND(recipe_command_digest(command, digest) == AS_OK);
}

static void check_canonical(const struct recipe_template *item, struct arena *arena)
{
    struct strbuf first AS_AUTO_STRBUF, second AS_AUTO_STRBUF;
    const struct json_value *root = NULL;
    struct recipe_template again = {0};
    struct as_error err = {0};
    strbuf_init(&first, 0);
    strbuf_init(&second, 0);
    DEMAND(recipe_template_canonical(item, &first) == AS_OK);
    DEMAND(json_parse(strbuf_text(&first), first.len, NULL, arena, &root, &err) == AS_OK);
    DEMAND(recipe_read_template(root, "again", arena, &again, &err) == AS_OK);
    DEMAND(recipe_template_canonical(&again, &second) == AS_OK);
    DEMAND(strcmp(strbuf_text(&first), strbuf_text(&second)) == 0);
}

static void use(const struct recipe_template *item, struct arena *arena)
{
    struct recipe_job job = {
        .item = item, .values = {VALUES, sizeof(VALUES) / sizeof(VALUES[0])}, .framework = &FRAMEWORK, .set = &SET};
    struct recipe_command command = {0};
    struct recipe_list open = {0};
    struct as_error err = {0};
    check_canonical(item, arena);
    as_status resolved = recipe_resolve(&job, arena, &command, &err);
    DEMAND(resolved == AS_OK || err.message[0] != '\0');
    as_status listed = recipe_unresolved(&job, arena, &open, &err);
    if (resolved == AS_OK) {
        DEMAND(listed == AS_OK && open.count == 0);
        check_command(&command);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct recipe_text input = {"fuzz.json", (const char *)bytes, size};
    struct recipe_templates templates = {0};
    struct as_error err = {0};
    struct arena arena;
    arena_init(&arena, 0, 0);
    as_status status = recipe_read_templates(&input, &arena, &templates, &err);
    DEMAND(status == AS_OK || strncmp(err.message, "fuzz.json", 9) == 0);
    for (size_t i = 0; status == AS_OK && i < templates.count; i++)
        use(&templates.items[i], &arena);
    arena_done(&arena);
    return 0;
}
