/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"

#include "support/check.h"

#include <string.h>

static void blocks_are_aligned_and_apart(void **state)
{
    (void)state;
    struct arena arena;
    arena_init(&arena, 256, 0);
    unsigned char *blocks[100];
    for (size_t i = 0; i < ARRAY_COUNT(blocks); i++) {
        blocks[i] = arena_alloc(&arena, i);
        assert_non_null(blocks[i]);
        assert_int_equal((uintptr_t)blocks[i] % 16, 0);
        memset(blocks[i], (int)i, i);
    }
    for (size_t i = 0; i < ARRAY_COUNT(blocks); i++) {
        for (size_t at = 0; at < i; at++)
            assert_int_equal(blocks[i][at], i);
    }
    assert_true(blocks[0] != blocks[1]);
    arena_done(&arena);
    assert_null(arena.chunks);
    assert_int_equal(arena.used_bytes, 0);
}

static void one_larger_than_a_chunk(void **state)
{
    (void)state;
    struct arena arena;
    arena_init(&arena, 64, 0);
    char *large = arena_alloc(&arena, 10000);
    assert_non_null(large);
    memset(large, 1, 10000);
    char *small = arena_alloc(&arena, 16);
    assert_non_null(small);
    assert_true(small >= large + 10000 || small + 16 <= large);
    arena_done(&arena);
}

static void the_limit_counts_what_was_handed_out(void **state)
{
    (void)state;
    struct arena arena;
    arena_init(&arena, 0, 64);
    assert_non_null(arena_alloc(&arena, 1));
    assert_int_equal(arena.used_bytes, 16);
    assert_null(arena_alloc(&arena, 49));
    assert_non_null(arena_alloc(&arena, 48));
    assert_int_equal(arena.used_bytes, 64);
    assert_null(arena_alloc(&arena, 1));
    assert_null(arena_alloc(&arena, 0));
    assert_null(arena_strdup(&arena, ""));
    arena_reset(&arena);
    assert_int_equal(arena.used_bytes, 0);
    assert_non_null(arena_alloc(&arena, 64));
    arena_done(&arena);
}

static void absurd_sizes_are_refused(void **state)
{
    (void)state;
    struct arena arena;
    arena_init(&arena, 0, 0);
    assert_null(arena_alloc(&arena, SIZE_MAX));
    assert_null(arena_alloc(&arena, SIZE_MAX - 7));
    assert_null(arena_calloc(&arena, SIZE_MAX / 2, 3));
    assert_int_equal(arena.used_bytes, 0);
    arena_done(&arena);
}

static void reset_starts_over(void **state)
{
    (void)state;
    struct arena arena;
    arena_init(&arena, 128, 0);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 50; i++)
            assert_non_null(arena_calloc(&arena, 3, 11));
        assert_int_equal(arena.used_bytes, 50 * 48);
        arena_reset(&arena);
    }
    arena_reset(&arena);
    arena_done(&arena);
    arena_reset(&arena);
    arena_done(&arena);
}

static void texts_are_copied(void **state)
{
    (void)state;
    struct arena arena;
    arena_init(&arena, 0, 0);
    char source[] = "hello";
    char *copy = arena_strdup(&arena, source);
    char *part = arena_strndup(&arena, source, 2);
    char *made = arena_printf(&arena, "%s %d", source, 7);
    source[0] = 'X';
    assert_string_equal(copy, "hello");
    assert_string_equal(part, "he");
    assert_string_equal(made, "hello 7");
    const unsigned char *zeros = arena_calloc(&arena, 4, 8);
    for (int i = 0; i < 32; i++)
        assert_int_equal(zeros[i], 0);
    char *empty = arena_printf(&arena, "%s", "");
    assert_string_equal(empty, "");
    arena_done(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_are_aligned_and_apart),
        cmocka_unit_test(one_larger_than_a_chunk),
        cmocka_unit_test(the_limit_counts_what_was_handed_out),
        cmocka_unit_test(absurd_sizes_are_refused),
        cmocka_unit_test(reset_starts_over),
        cmocka_unit_test(texts_are_copied),
    };
    return cmocka_run_group_tests_name("arena", tests, NULL, NULL);
}
