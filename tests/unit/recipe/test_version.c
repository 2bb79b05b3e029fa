/* SPDX-License-Identifier: Apache-2.0 */
/* Order of version texts, as PEP 440 has it; expected orders are those of Python's packaging.version. */
#include "recipe/version.h"

#include "support/check.h"

static void test_order(void **state)
{
    /* Ascending; each against each. */
    static const char *const ascending[] = {"0.5.15.dev1", "0.5.15a1", "0.5.15b2",     "0.5.15rc1.dev2", "0.5.15rc1",
                                            "0.5.15rc2",   "0.5.15",   "0.5.15.post1", "0.5.15.post2",   "0.5.16",
                                            "0.9.2",       "0.10.0",   "0.24.0",       "1.0.0",          "nightly"};
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(ascending); i++)
        for (size_t j = 0; j < ARRAY_COUNT(ascending); j++) {
            int order = recipe_version_compare(ascending[i], ascending[j]), expected = (i > j) - (i < j);
            if ((order > 0) - (order < 0) != expected)
                fail_msg("%s against %s gives %d", ascending[i], ascending[j], order);
        }
}

static void test_same(void **state)
{
    static const char *const pairs[][2] = {
        {"0.24", "0.24.0"},         {"v0.24.0", "0.24.0"},      {"0.12.0+cu130", "0.12.0"}, {"nightly", "main"},
        {"0.11.0RC1", "0.11.0rc1"}, {"1.0-post1", "1.0.post1"}, {"1.0.post", "1.0.post0"},  {"1.0rc.1", "1.0rc1"}};
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(pairs); i++)
        assert_int_equal(recipe_version_compare(pairs[i][0], pairs[i][1]), 0);
}

static void test_invalid(void **state)
{
    static const char *const bad[] = {"",
                                      "v",
                                      "0.",
                                      "0..1",
                                      "0.24.0 ",
                                      "rc1",
                                      "0.24.0.x",
                                      "1.0+",
                                      "1.2postx",
                                      "1.1.1.1.1.1.1.1.1",
                                      "0.5.15.post1.post2"};
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(bad); i++) {
        if (recipe_version_is_valid(bad[i]))
            fail_msg("\"%s\" passes", bad[i]);
        assert_true(recipe_version_compare(bad[i], "0.0.1") < 0);
    }
    assert_false(recipe_version_is_valid(NULL));
    assert_true(recipe_version_is_valid("99999999999999999999.0"));
}

static void test_within(void **state)
{
    (void)state;
    assert_true(recipe_version_within("0.12.0", NULL, NULL));
    assert_true(recipe_version_within("0.12.0", "0.12.0", "0.13.0"));
    assert_false(recipe_version_within("0.13.0", "0.12.0", "0.13.0"));
    assert_false(recipe_version_within("0.11.2", "0.12.0", NULL));
    assert_true(recipe_version_within("nightly", "0.12.0", NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_same),
        cmocka_unit_test(test_invalid),
        cmocka_unit_test(test_within),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
