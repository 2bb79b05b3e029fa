/* SPDX-License-Identifier: Apache-2.0 */
#include "report/console.h"
#include "report/vllm_block.h"

#include "unit/summary/made_run.h"

#include <stdlib.h>

static char *render(const struct summary *summary, bool has_colour)
{
    struct strbuf text;
    strbuf_init(&text, 0);
    assert_int_equal(console_table(summary, has_colour, &text), AS_OK);
    return text.data;
}

static void test_all_failed_shows_dashes_and_the_verdict(void **state)
{
    (void)state;
    struct run_facts facts = made_facts(1);
    struct request_record record = made_error(0, 0, 10, OUTCOME_FAILED, ERROR_TYPE_AUTH, 401);
    record.error_message = (struct record_text){"no such key", 11};
    struct summary s = made_summary(&facts, &record, 1);
    char *text = render(&s, false);
    assert_non_null(strstr(text, "1 measured: 0 ok, 1 failed"));
    assert_non_null(strstr(text, "1 (100.00 %): auth 1; HTTP 401 × 1"));
    assert_non_null(strstr(text, "first: no such key"));
    assert_non_null(strstr(text, "- req/s"));
    assert_non_null(strstr(text, "valid       NO"));
    assert_non_null(strstr(text, "invalid no_success:"));
    assert_null(strstr(text, "nan"));
    assert_null(strstr(text, "TTFT"));
    assert_null(strstr(text, "no usage"));
    assert_null(strstr(text, "\033"));
    free(text);
    text = render(&s, true);
    assert_non_null(strstr(text, "\033[31m"));
    free(text);
    summary_done(&s);
}

static void test_spec_ttft_only_without_a_stream(void **state)
{
    (void)state;
    struct run_facts facts = made_facts(1);
    struct request_record record = made_ok(0, 0, 100);
    struct summary s = made_summary(&facts, &record, 1);
    char *text = render(&s, false);
    assert_non_null(strstr(text, "TTFT  "));
    assert_null(strstr(text, "TTFT (spec)"));
    assert_non_null(strstr(text, "100.00*"));
    assert_non_null(strstr(text, "* too few samples"));
    free(text);
    summary_done(&s);
    record_derive(&record, false);
    s = made_summary(&facts, &record, 1);
    text = render(&s, false);
    assert_null(strstr(text, "TTFT  "));
    assert_non_null(strstr(text, "TTFT (spec)"));
    free(text);
    summary_done(&s);
}

static void test_messages_do_not_steer_the_terminal(void **state)
{
    (void)state;
    static const char hostile[] = "a\033[2Jb\xc2\x9b"
                                  "c\nd\x7f"
                                  "e";
    char longer[400] = "";
    struct run_facts facts = made_facts(1);
    struct request_record record = made_error(0, 0, 10, OUTCOME_FAILED, ERROR_TYPE_AUTH, 401);
    record.error_message = (struct record_text){hostile, sizeof hostile - 1};
    struct summary s = made_summary(&facts, &record, 1);
    char *text = render(&s, false);
    assert_non_null(strstr(text, "first: a [2Jb c d e\n"));
    free(text);
    summary_done(&s);
    for (size_t i = 1; i < 200; i += 2)
        memcpy(longer + i, "\xc3\xa4", 3); /* ä from an odd byte on: byte 160 is inside one */
    longer[0] = 'x';
    record.error_message = (struct record_text){longer, strlen(longer)};
    s = made_summary(&facts, &record, 1);
    text = render(&s, false);
    const char *first = strstr(text, "first: ");
    assert_non_null(first);
    assert_int_equal(strcspn(first, "\n"), 7 + 159);
    free(text);
    summary_done(&s);
}

static void test_colour(void **state)
{
    (void)state;
    assert_int_equal(unsetenv("NO_COLOR"), 0);
    assert_int_equal(setenv("TERM", "xterm", 1), 0);
    assert_true(console_wants_colour(true));
    assert_false(console_wants_colour(false));
    assert_int_equal(setenv("NO_COLOR", "", 1), 0);
    assert_true(console_wants_colour(true));
    assert_int_equal(setenv("NO_COLOR", "1", 1), 0);
    assert_false(console_wants_colour(true));
    assert_int_equal(unsetenv("NO_COLOR"), 0);
    assert_int_equal(setenv("TERM", "dumb", 1), 0);
    assert_false(console_wants_colour(true));
}

static void test_vllm_choice(void **state)
{
    (void)state;
    struct vllm_choice choice;
    struct as_error err = {0};
    assert_int_equal(vllm_choice_read(NULL, NULL, &choice, &err), AS_OK);
    assert_true(choice.metrics[VLLM_E2EL] && choice.metrics[VLLM_ITL]);
    assert_int_equal(choice.percentile_count, 1);
    assert_int_equal(choice.percentiles[0], DISTRIBUTION_P99);
    assert_int_equal(vllm_choice_read("tpot, ttft", "90,50.0,99.9,90", &choice, &err), AS_OK);
    assert_true(choice.metrics[VLLM_TPOT] && choice.metrics[VLLM_TTFT] && !choice.metrics[VLLM_ITL]);
    assert_int_equal(choice.percentile_count, 3);
    assert_int_equal(choice.percentiles[1], DISTRIBUTION_P50);
    choice.percentile_count = 77;
    assert_int_equal(vllm_choice_read("ttft,e2e", NULL, &choice, &err), AS_E_USAGE);
    assert_non_null(strstr(err.message, "\"e2e\""));
    assert_int_equal(vllm_choice_read(NULL, "42", &choice, &err), AS_E_USAGE);
    assert_non_null(strstr(err.message, "\"42\""));
    assert_int_equal(choice.percentile_count, 77);
}

/* As people's scripts read it: label up to the colon, then a number. */
static double figure(const char *block, const char *label)
{
    const char *at = strstr(block, label);
    assert_non_null(at);
    return strtod(at + strlen(label), NULL);
}

static void test_vllm_block_is_read_by_scripts(void **state)
{
    (void)state;
    struct run_facts facts = made_facts(3);
    facts.rules.request_rate_per_s = 4;
    facts.rules.slo.e2e_ns = 150 * MS;
    struct request_record records[] = {made_ok(0, 0, 100), made_ok(1, 100, 200),
                                       made_error(2, 200, 300, OUTCOME_FAILED, ERROR_TYPE_SERVER_ERROR, 500)};
    struct summary s = made_summary(&facts, records, 3);
    struct vllm_choice choice;
    assert_int_equal(vllm_choice_read(NULL, NULL, &choice, NULL), AS_OK);
    AS_AUTO_STRBUF struct strbuf text;
    strbuf_init(&text, 0);
    assert_int_equal(vllm_block(&s, &choice, &text), AS_OK);
    summary_done(&s);
    const char *block = strbuf_text(&text);
    assert_true(figure(block, "Successful requests:") == 2);
    assert_true(figure(block, "Failed requests:") == 1);
    assert_true(figure(block, "Maximum request concurrency:") == 2);
    assert_true(figure(block, "Request rate configured (RPS):") == 4);
    assert_true(figure(block, "Benchmark duration (s):") == 0.5);
    assert_true(figure(block, "Total input tokens:") == 14);
    assert_true(figure(block, "Total generated tokens:") == 20);
    assert_true(figure(block, "Request throughput (req/s):") == 4);
    assert_true(figure(block, "Request goodput (req/s):") == 2);
    assert_true(figure(block, "Output token throughput (tok/s):") == 40);
    assert_true(figure(block, "Total Token throughput (tok/s):") == 68);
    assert_true(figure(block, "Mean TTFT (ms):") == 15);
    assert_true(figure(block, "Median TTFT (ms):") == 10);
    assert_true(figure(block, "P99 TTFT (ms):") == 20);
    assert_true(figure(block, "Median TPOT (ms):") == 10);
    assert_true(figure(block, "P99 E2EL (ms):") == 200);
    assert_non_null(strstr(block, "Mean ITL (ms):                           nan"));
    /* Every heading is 50 columns wide. */
    for (const char *line = block; *line; line = strchr(line, '\n') + 1) {
        size_t len = strcspn(line, "\n");
        if (line[0] == '=' || line[0] == '-')
            assert_int_equal(len, 50);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_failed_shows_dashes_and_the_verdict),
        cmocka_unit_test(test_spec_ttft_only_without_a_stream),
        cmocka_unit_test(test_messages_do_not_steer_the_terminal),
        cmocka_unit_test(test_colour),
        cmocka_unit_test(test_vllm_choice),
        cmocka_unit_test(test_vllm_block_is_read_by_scripts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
