/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/profile.h"
#include "sim/sim_options.h"

#include "support/check.h"

#include <string.h>

static const struct opt_table *const tables[] = {&sim_option_table};
static const struct opt_command line = {.name = "sim", .summary = "Simulate", .tables = tables, .table_count = 1};

static as_status read_words(char *const *words, int count, struct arena *arena, struct sim_profile *profile,
                            struct as_error *err)
{
    struct sim_settings settings = {0};
    struct opt_parsed parsed;
    const struct opt_input input = {count, words, NULL, &settings, arena};
    as_status status = options_read(&line, &input, &parsed, err);
    return status == AS_OK ? sim_profile_init(&settings, arena, profile, err) : status;
}

static void test_defaults(void **state)
{
    (void)state;
    char *words[] = {"sim"};
    struct arena arena;
    struct sim_profile profile;
    struct as_error err = {0};
    arena_init(&arena, 0, 0);
    assert_int_equal(read_words(words, 1, &arena, &profile, &err), AS_OK);
    assert_int_equal(sim_dist_mean(&profile.ttft), 50000000);
    assert_int_equal(sim_dist_mean(&profile.itl), 10000000);
    assert_int_equal(sim_dist_mean(&profile.tokens), 40);
    assert_int_equal(sim_dist_mean(&profile.tokens_per_chunk), 1);
    assert_string_equal(profile.model, "sim-model");
    assert_string_equal(profile.reasoning_field, "reasoning_content");
    assert_int_equal(profile.usage, SIM_USAGE_ON);
    assert_int_equal(profile.queue_limit, -1);
    assert_int_equal(profile.slots, 0);
    assert_int_equal(profile.seed, 1);
    assert_int_equal(profile.pace.grid_ns, 0);
    assert_false(profile.late_head || profile.strict_model || profile.ignore_max_tokens);
    arena_done(&arena);
}

static void test_all_given(void **state)
{
    (void)state;
    char *words[] = {"sim",
                     "--ttft",
                     "normal:80ms,10ms",
                     "--itl",
                     "0ms",
                     "--tokens",
                     "uniform:1,9",
                     "--usage",
                     "every",
                     "--reasoning",
                     "4",
                     "--reasoning-field",
                     "reasoning",
                     "--head",
                     "late",
                     "--slots",
                     "16",
                     "--queue",
                     "7",
                     "--seed",
                     "9",
                     "--burst-grid",
                     "50ms",
                     "--fault",
                     "429:2@0.1",
                     "--fault",
                     "reset@every=9",
                     "--freeze",
                     "9s+1s",
                     "--freeze",
                     "5s+1.4s",
                     "--tool-calls",
                     "2",
                     "--strict-model",
                     "--ignore-max-tokens",
                     "--itl-per-running",
                     "100us",
                     "--ttft-per-token",
                     "20us",
                     "--tokens-per-word",
                     "1.3",
                     "--model",
                     "m"};
    struct arena arena;
    struct sim_profile profile;
    struct as_error err = {0};
    arena_init(&arena, 0, 0);
    if (read_words(words, (int)ARRAY_COUNT(words), &arena, &profile, &err) != AS_OK)
        fail_msg("%s", err.message);
    assert_int_equal(profile.ttft.kind, SIM_DIST_NORMAL);
    assert_true(sim_dist_is_zero(&profile.itl));
    assert_int_equal(profile.usage, SIM_USAGE_EVERY);
    assert_string_equal(profile.reasoning_field, "reasoning");
    assert_true(profile.late_head && profile.strict_model && profile.ignore_max_tokens);
    assert_int_equal(profile.slots, 16);
    assert_int_equal(profile.queue_limit, 7);
    assert_int_equal(profile.fault_count, 2);
    assert_int_equal(profile.faults[1].kind, SIM_FAULT_RESET);
    assert_int_equal(profile.pace.freeze_count, 2);
    assert_int_equal(profile.pace.freezes[0].start_ns, 5000000000);
    assert_int_equal(profile.pace.grid_ns, 50000000);
    assert_int_equal(profile.itl_per_running_ns, 100000);
    assert_int_equal(profile.ttft_per_token_ns, 20000);
    assert_true(profile.tokens_per_word > 1.29 && profile.tokens_per_word < 1.31);
    arena_done(&arena);
}

static void test_refused(void **state)
{
    (void)state;
    static const struct {
        const char *option, *value, *word;
    } cases[] = {
        {"--ttft", "fast", "--ttft"},           {"--ttft", "50", "--ttft"},         {"--itl", "normal:1ms", "--itl"},
        {"--tokens", "5ms", "--tokens"},        {"--fault", "teapot@1", "--fault"}, {"--fault", "429", "--fault"},
        {"--freeze", "5s", "--freeze"},         {"--model", "a\"b", "--model"},     {"--queue", "5", "--slots"},
        {"--tls-key", "key.pem", "--tls-cert"}, {"--port", "70000", "--port"},      {"--usage", "maybe", "--usage"},
    };
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        char *words[] = {"sim", (char *)(uintptr_t)cases[i].option, (char *)(uintptr_t)cases[i].value};
        struct arena arena;
        struct sim_profile profile;
        struct as_error err = {0};
        arena_init(&arena, 0, 0);
        if (read_words(words, 3, &arena, &profile, &err) != AS_E_USAGE)
            fail_msg("%s %s was taken", cases[i].option, cases[i].value);
        if (!strstr(err.message, cases[i].word))
            fail_msg("%s %s: '%s' does not name %s", cases[i].option, cases[i].value, err.message, cases[i].word);
        arena_done(&arena);
    }
    char *overlap[] = {"sim", "--freeze", "5s+2s", "--freeze", "6s+1s"},
         *threads[] = {"sim", "--slots", "2", "--threads", "2"};
    struct arena arena;
    struct sim_profile profile;
    struct as_error err = {0};
    arena_init(&arena, 0, 0);
    assert_int_equal(read_words(overlap, 5, &arena, &profile, &err), AS_E_USAGE);
    assert_int_equal(read_words(threads, 5, &arena, &profile, &err), AS_E_USAGE);
    arena_done(&arena);
}

static void test_table(void **state)
{
    (void)state;
    struct strbuf problems;
    strbuf_init(&problems, 0);
    options_check_tables(&line, &problems);
    assert_string_equal(strbuf_text(&problems), "");
    strbuf_done(&problems);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_all_given),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
