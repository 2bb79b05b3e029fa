/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The models against what was released (model-*.txt, written by `assay report schema --form rules`): within a line no
 * field is removed, renamed, retyped or made stricter, and new fields of old objects are optional. Add the lines of new
 * fields to the file when they are released; never change one.
 */
#include "brief/schema.h"

#include "support/check.h"
#include "support/golden.h"

#include <stdlib.h>
#include <string.h>

static bool has_line(const char *text, const char *line, size_t len)
{
    for (const char *at = text; (at = strstr(at, "\n")) != NULL;) {
        at++;
        if (strncmp(at, line, len) == 0 && at[len] == '\n')
            return true;
    }
    return strncmp(text, line, len) == 0 && text[len] == '\n';
}

static void check_released(const struct model *model, const char *path)
{
    size_t len;
    char *released = golden_read(path, &len), prefix[80];
    struct strbuf now AS_AUTO_STRBUF;
    strbuf_init(&now, 0);
    schema_write_rules(model, &now);
    for (const char *line = released; *line; line += strcspn(line, "\n") + 1)
        if (!has_line(now.data, line, strcspn(line, "\n")))
            fail_msg("gone or changed: %.*s", (int)strcspn(line, "\n"), line);
    for (const char *line = now.data; *line; line += strcspn(line, "\n") + 1) {
        size_t line_len = strcspn(line, "\n"), object_len = strcspn(line, ".:");
        if (has_line(released, line, line_len) || object_len >= sizeof prefix - 2)
            continue;
        memcpy(prefix, line, object_len);
        memcpy(prefix + object_len, ": ", 3);
        bool is_old_object = strstr(released, prefix) != NULL;
        if (is_old_object && line_len > 10 && strncmp(line + line_len - 10, ", required", 10) == 0)
            fail_msg("a new field of an old object is required: %.*s", (int)line_len, line);
    }
    free(released);
}

static void test_released(void **state)
{
    (void)state;
    check_released(&model_0_1, "tests/golden/brief/model-0.1.txt");
    check_released(&model_0_2, "tests/golden/brief/model-0.2.txt");
}

/* Every reference of the tables leads to an object in the list, under one name. */
static void test_tables(void **state)
{
    (void)state;
    static const struct model *const models[] = {&model_0_1, &model_0_2};
    for (size_t m = 0; m < ARRAY_COUNT(models); m++) {
        for (const struct model_object *const *object = models[m]->objects; *object; object++) {
            for (const struct model_object *const *other = object + 1; *other; other++)
                assert_string_not_equal((*object)->name, (*other)->name);
            for (size_t i = 0; i < (*object)->count; i++) {
                const struct model_field *field = &(*object)->fields[i];
                const struct model_object *const *target = models[m]->objects;
                while (field->type == FIELD_OBJECT && *target && *target != field->object)
                    target++;
                assert_true(field->type != FIELD_OBJECT || *target);
                assert_true(field->sentence || field->object || field->variants);
                assert_true(!(field->is_required && field->initial));
                assert_ptr_equal(model_field(*object, field->name), field);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_released), cmocka_unit_test(test_tables)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
