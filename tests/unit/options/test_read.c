/* SPDX-License-Identifier: Apache-2.0 */
#include "sample.h"

static void defaults(void **state)
{
    (void)state;
    struct reading r;
    read_words(&r, NO_WORDS);
    assert_int_equal(r.status, AS_OK);
    assert_false(r.value.streaming);
    assert_true(r.value.verify);
    assert_int_equal(r.value.mode, 0);
    assert_true(r.value.count == OPT_ABSENT);
    assert_true(r.value.stop_ns == OPT_ABSENT);
    assert_int_equal(r.value.wait_ns, 50000000);
    assert_true(isnan(r.value.rate));
    assert_true(r.value.share == 0.5);
    assert_int_equal(r.value.buffer_bytes, 65536);
    assert_null(r.value.model);
    assert_int_equal(r.value.urls.count, 0);
    assert_int_equal(r.value.servers.count, 2);
    assert_string_equal(r.value.servers.items[1], "b.example");
    assert_false(options_is_given(&r.parsed, "share"));
    assert_int_equal(r.parsed.note_count, 0);
    arena_done(&r.arena);
}

static void every_type(void **state)
{
    (void)state;
    struct reading r;
    read_words(&r, WORDS("--url", "http://a", "--target=http://b", "--base-url", "c", "--model", "m",
                         "--mode=completion", "--streaming", "--no-verify", "--extra-body", "{ \"n\" : 1.50 }",
                         "--num-prompts", "12", "--think-time", "9s", "--request-rate", "inf", "--share", "-0.25",
                         "--buffer", "2MB", "--prompts", "p.jsonl"));
    assert_int_equal(r.status, AS_OK);
    assert_int_equal(r.value.urls.count, 3);
    assert_string_equal(r.value.urls.items[0], "http://a");
    assert_string_equal(r.value.urls.items[1], "http://b");
    assert_string_equal(r.value.urls.items[2], "c");
    assert_string_equal(r.value.model, "m");
    assert_int_equal(r.value.mode, 1);
    assert_true(r.value.streaming);
    assert_false(r.value.verify);
    assert_string_equal(r.value.body, "{\"n\":1.50}");
    assert_int_equal(r.value.count, 12);
    arena_done(&r.arena);
    read_words(&r, WORDS("--think-time", "1.5s"));
    assert_int_equal(r.value.wait_ns, 1500000000);
    arena_done(&r.arena);
    read_words(&r, WORDS("--stop-after-seconds", "1m30s"));
    assert_int_equal(r.value.stop_ns, 90000000000);
    arena_done(&r.arena);
    read_words(&r, WORDS("--stop-after-seconds", "2.5"));
    assert_int_equal(r.value.stop_ns, 2500000000);
    arena_done(&r.arena);
    read_words(&r, WORDS("--request-rate", "inf", "--buffer", "2MB", "--share", "-0.25", "--model", "m"));
    assert_true(isinf(r.value.rate));
    assert_int_equal(r.value.buffer_bytes, 2000000);
    assert_true(r.value.share == -0.25);
    arena_done(&r.arena);
}

static void flags(void **state)
{
    (void)state;
    struct reading r;
    read_words(&r, WORDS("--stream", "--verify=false"));
    assert_true(r.value.streaming);
    assert_false(r.value.verify);
    arena_done(&r.arena);
    read_all(&r, &SAMPLE, WORDS("--verify=No"), ENVIRONMENT("ASSAY_STREAMING=TRUE"));
    assert_true(r.value.streaming);
    assert_false(r.value.verify);
    arena_done(&r.arena);
    read_words(&r, WORDS("--no-streaming", "--verify=on"));
    assert_false(r.value.streaming);
    assert_true(r.value.verify);
    assert_true(options_is_given(&r.parsed, "verify"));
    arena_done(&r.arena);
    expect_refused(WORDS("--no-verify=true"), NULL, "--no-verify takes no value");
    expect_refused(WORDS("--verify=maybe"), NULL,
                   "--verify: \"maybe\" is neither true nor false; allowed is true or false, for example --verify");
}

static void lists_that_take_many(void **state)
{
    (void)state;
    struct reading r;
    read_words(&r, WORDS("--goodput", "ttft:200", "e2el:5000", "--header", "A=b=c", "X-Y: d", "--streaming",
                         "--header=Z:", "--goodput=itl:3"));
    assert_int_equal(r.status, AS_OK);
    assert_int_equal(r.value.slo.count, 3);
    assert_string_equal(r.value.slo.items[2], "itl:3");
    assert_int_equal(r.value.headers.count, 3);
    assert_string_equal(r.value.headers.items[0], "A: b=c");
    assert_string_equal(r.value.headers.items[1], "X-Y: d");
    assert_string_equal(r.value.headers.items[2], "Z: ");
    assert_true(r.value.streaming);
    arena_done(&r.arena);
}

static void precedence(void **state)
{
    (void)state;
    struct reading r;
    char *const *environment = ENVIRONMENT("ASSAY_NUM_REQUESTS=5", "ASSAY_URL=http://env", "SAMPLE_KEY=k1",
                                           "ASSAY_MODEL=", "ASSAY_STREAMING=1");
    read_all(&r, &SAMPLE, WORDS("--num-requests", "7"), environment);
    assert_int_equal(r.status, AS_OK);
    assert_int_equal(r.value.count, 7);
    assert_int_equal(options_state(&r.parsed, "num-requests")->origin, OPT_FROM_ARGV);
    assert_int_equal(options_state(&r.parsed, "url")->origin, OPT_FROM_ENVIRONMENT);
    assert_string_equal(options_state(&r.parsed, "url")->spelled, "ASSAY_URL");
    assert_string_equal(r.value.key, "k1");
    assert_null(r.value.model);
    assert_true(r.value.streaming);
    arena_done(&r.arena);
    read_all(&r, &SAMPLE, WORDS("--url", "http://one", "--url", "http://two"), environment);
    assert_int_equal(r.value.urls.count, 2);
    assert_string_equal(r.value.urls.items[0], "http://one");
    arena_done(&r.arena);
    read_all(&r, &SAMPLE, NO_WORDS, ENVIRONMENT("ASSAY_API_KEY=first", "SAMPLE_KEY=second"));
    assert_string_equal(r.value.key, "first");
    arena_done(&r.arena);
}

static void wrong_values_say_what_is_allowed(void **state)
{
    (void)state;
    expect_refused(WORDS("--num-requests", "ten"), NULL,
                   "--num-requests: \"ten\" is not a whole number; allowed is a whole number from 1 to 1000000, for "
                   "example --num-requests 8");
    expect_refused(
        WORDS("--num-prompts=0"), NULL,
        "--num-prompts: \"0\" is too small; allowed is a whole number from 1 to 1000000, for example --num-requests 8");
    expect_refused(WORDS("--num-requests", "99999999999999999999"), NULL,
                   "--num-requests: \"99999999999999999999\" is out of range; allowed is a whole number from 1 to "
                   "1000000, for example "
                   "--num-requests 8");
    expect_refused(
        WORDS("--mode", "chatty"), NULL,
        "--mode: \"chatty\" is none of the choices; allowed is one of chat, completion, for example --mode chat");
    expect_refused(
        WORDS("--request-rate", "0"), NULL,
        "--request-rate: \"0\" is too small; allowed is a number above 0, or inf, for example --request-rate 0.5");
    expect_refused(
        WORDS("--request-rate", "nan"), NULL,
        "--request-rate: \"nan\" is not a number; allowed is a number above 0, or inf, for example --request-rate 0.5");
    expect_refused(WORDS("--think-time", "5"), NULL,
                   "--think-time: \"5\" has no unit; allowed is a duration with a unit (ns, us, ms, s, m, h) from 0 s "
                   "to 10 s, for example "
                   "--think-time 50ms");
    expect_refused(WORDS("--think-time", "11s"), NULL,
                   "--think-time: \"11s\" is too large; allowed is a duration with a unit (ns, us, ms, s, m, h) from 0 "
                   "s to 10 s, for example "
                   "--think-time 50ms");
    expect_refused(WORDS("--stop-after-seconds", "-3"), NULL,
                   "--stop-after-seconds: \"-3\" is negative; allowed is a duration with a unit (ns, us, ms, s, m, h), "
                   "or a plain number of "
                   "seconds, above 0 s, for example --stop-after-seconds 30s");
    expect_refused(WORDS("--buffer", "64 apples"), NULL,
                   "--buffer: \"64 apples\" is not a size; allowed is a number of bytes, with kB, MB, GB, KiB, MiB or "
                   "GiB if wanted, from 1 "
                   "bytes to 1000000000 bytes, for example --buffer 64KiB");
    expect_refused(WORDS("--extra-body", "[1]"), NULL,
                   "--extra-body: \"[1]\" is JSON, but no object; allowed is one JSON object, for example --extra-body "
                   "'{\"top_p\": 0.9}'");
    expect_refused(WORDS("--model", "a b"), NULL,
                   "--model: \"a b\" holds a space; allowed is a name without spaces, for example --model llama");
    expect_refused(WORDS("--prompts", ""), NULL,
                   "--prompts: \"\" is empty; allowed is the path of a file, for example --prompts file");
    expect_refused(WORDS("--header", "no separator"), NULL,
                   "--header: the value is neither KEY=VALUE nor KEY: VALUE; allowed is KEY=VALUE or KEY: VALUE, for "
                   "example --header X-Name=value");
    expect_refused(WORDS("--header", "A: b\r\nC: d"), NULL,
                   "--header: the value holds a control character; allowed is KEY=VALUE or KEY: VALUE, for example "
                   "--header X-Name=value");
}

static void secrets_are_not_repeated(void **state)
{
    (void)state;
    expect_refused(WORDS("--api-key", "se cret"), NULL,
                   "--api-key: the value holds a space; allowed is a text, for example --api-key text");
    expect_refused(NO_WORDS, ENVIRONMENT("SAMPLE_KEY=se cret"),
                   "SAMPLE_KEY: the value holds a space; allowed is a text, for example --api-key text");
}

static void values_from_the_environment_are_named(void **state)
{
    (void)state;
    expect_refused(NO_WORDS, ENVIRONMENT("ASSAY_NUM_REQUESTS=x"),
                   "ASSAY_NUM_REQUESTS: \"x\" is not a whole number; allowed is a whole number from 1 to 1000000, for "
                   "example --num-requests 8");
}

static void unknown_options(void **state)
{
    (void)state;
    expect_refused(WORDS("--num-request", "1"), NULL,
                   "unknown option --num-request; did you mean --num-requests? \"assay help sample\" lists them all");
    expect_refused(WORDS("--request-cuont", "1"), NULL,
                   "unknown option --request-cuont; did you mean --num-requests? \"assay help sample\" lists them all");
    expect_refused(WORDS("--zzzzzz"), NULL, "unknown option --zzzzzz; \"assay help sample\" lists them all");
    expect_refused(WORDS("--no-model"), NULL,
                   "unknown option --no-model; did you mean --model? \"assay help sample\" lists them all");
    expect_refused(WORDS("-n", "1"), NULL,
                   "unknown option -n; options are written --name, and \"assay help sample\" lists them all");
    expect_refused(WORDS("word"), NULL,
                   "unexpected word \"word\": assay sample takes options only, each as --name value");
    expect_refused(WORDS("--", "--model"), NULL,
                   "unexpected word \"--model\": assay sample takes options only, each as --name value");
}

static void missing_values(void **state)
{
    (void)state;
    expect_refused(WORDS("--model"), NULL, "--model needs a value; one that begins with -- is written --model=--…");
    expect_refused(WORDS("--model", "--streaming"), NULL,
                   "--model needs a value; one that begins with -- is written --model=--…");
    struct reading r;
    read_words(&r, WORDS("--model=--odd", "--share", "-1"));
    assert_int_equal(r.status, AS_OK);
    assert_string_equal(r.value.model, "--odd");
    arena_done(&r.arena);
}

static void contradictions(void **state)
{
    (void)state;
    expect_refused(WORDS("--num-requests", "5", "--num-prompts", "6"), NULL,
                   "--num-prompts: --num-requests is given twice with different values; give it once");
    expect_refused(WORDS("--num-requests", "5", "--stop-after-seconds", "6"), NULL,
                   "--num-requests and --stop-after-seconds exclude each other; give one of them");
    expect_refused(WORDS("--share", "0.1"), NULL, "--share has no effect without --model; give both or neither");
    struct reading r;
    read_words(&r, WORDS("--num-requests", "5", "--num-prompts", "5"));
    assert_int_equal(r.status, AS_OK);
    arena_done(&r.arena);
}

static void options_without_effect(void **state)
{
    (void)state;
    struct reading r;
    read_all(&r, &SAMPLE, WORDS("--request-rate", "3"), NULL);
    assert_int_equal(options_check_modes(&r.parsed, SAMPLE_OPEN, &r.err), AS_OK);
    assert_int_equal(options_check_modes(&r.parsed, SAMPLE_CLOSED, &r.err), AS_E_USAGE);
    assert_string_equal(r.err.message, "--request-rate has no effect in a closed loop (no --request-rate); it works in "
                                       "an open loop (--request-rate R)");
    arena_done(&r.arena);
    read_all(&r, &SAMPLE, NO_WORDS, ENVIRONMENT("ASSAY_LIMIT=3"));
    assert_int_equal(options_check_modes(&r.parsed, SAMPLE_OPEN, &r.err), AS_E_USAGE);
    assert_string_equal(
        r.err.message,
        "ASSAY_LIMIT has no effect in an open loop (--request-rate R); it works in a closed loop (no --request-rate)");
    arena_done(&r.arena);
}

static void names_of_other_tools(void **state)
{
    (void)state;
    struct reading r;
    read_words(&r, WORDS("--request-count", "4", "--host", "h:1", "--save-result"));
    assert_int_equal(r.status, AS_OK);
    assert_int_equal(r.value.count, 4);
    assert_string_equal(options_state(&r.parsed, "num-requests")->spelled, "--request-count");
    assert_string_equal(r.value.urls.items[0], "http://h:1");
    assert_int_equal(r.parsed.note_count, 2);
    assert_string_equal(r.parsed.notes[0], "--host: taken as a URL");
    assert_string_equal(r.parsed.notes[1], "--save-result: results are always saved");
    free((void *)(uintptr_t)r.value.urls.items[0]);
    arena_done(&r.arena);
    expect_refused(WORDS("--tokenizer", "t"), NULL,
                   "--tokenizer: Token counts come from the server. Nearest here: --model.");
    expect_refused(WORDS("--tokenizer=t"), NULL,
                   "--tokenizer: Token counts come from the server. Nearest here: --model.");
}

static void misspelt_variables_are_noted(void **state)
{
    (void)state;
    struct reading r;
    read_all(&r, &SAMPLE, NO_WORDS, ENVIRONMENT("ASSAY_NUM_REQUEST=3", "ASSAY_BUILD_DIR=x", "OTHER=1"));
    assert_int_equal(r.status, AS_OK);
    assert_int_equal(r.parsed.note_count, 1);
    assert_string_equal(
        r.parsed.notes[0],
        "ASSAY_NUM_REQUEST is set, but no option of this command reads it; did you mean ASSAY_NUM_REQUESTS?");
    arena_done(&r.arena);
}

static void help_wins_over_errors(void **state)
{
    (void)state;
    struct reading r;
    read_words(&r, WORDS("--nonsense", "-h"));
    assert_int_equal(r.status, AS_OK);
    assert_true(r.parsed.wants_help);
    arena_done(&r.arena);
    read_words(&r, WORDS("--", "--help"));
    assert_int_equal(r.status, AS_E_USAGE);
    arena_done(&r.arena);
}

static void values_of_the_run(void **state)
{
    (void)state;
    struct reading r;
    read_words(&r, WORDS("--num-requests", "3"));
    assert_int_equal(options_put(&r.parsed, "model", "found", &r.err), AS_OK);
    assert_int_equal(options_put(&r.parsed, "model", "other", &r.err), AS_OK);
    assert_string_equal(r.value.model, "other");
    assert_false(options_is_given(&r.parsed, "model"));
    assert_int_equal(options_state(&r.parsed, "model")->origin, OPT_FROM_RUN);
    assert_int_equal(options_put(&r.parsed, "num-requests", "x", &r.err), AS_E_USAGE);
    arena_done(&r.arena);
}

static void operands(void **state)
{
    (void)state;
    struct opt_command command = SAMPLE;
    command.operands = "FILE…";
    struct reading r;
    read_all(&r, &command, WORDS("a", "--streaming", "-", "--", "--b"), NULL);
    assert_int_equal(r.status, AS_OK);
    assert_int_equal(r.parsed.operand_count, 3);
    assert_string_equal(r.parsed.operands[0], "a");
    assert_string_equal(r.parsed.operands[1], "-");
    assert_string_equal(r.parsed.operands[2], "--b");
    arena_done(&r.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults),
        cmocka_unit_test(every_type),
        cmocka_unit_test(flags),
        cmocka_unit_test(lists_that_take_many),
        cmocka_unit_test(precedence),
        cmocka_unit_test(wrong_values_say_what_is_allowed),
        cmocka_unit_test(secrets_are_not_repeated),
        cmocka_unit_test(values_from_the_environment_are_named),
        cmocka_unit_test(unknown_options),
        cmocka_unit_test(missing_values),
        cmocka_unit_test(contradictions),
        cmocka_unit_test(options_without_effect),
        cmocka_unit_test(names_of_other_tools),
        cmocka_unit_test(misspelt_variables_are_noted),
        cmocka_unit_test(help_wins_over_errors),
        cmocka_unit_test(values_of_the_run),
        cmocka_unit_test(operands),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
