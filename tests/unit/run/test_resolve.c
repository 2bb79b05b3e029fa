/* SPDX-License-Identifier: Apache-2.0 */
#include "line.h"

#include <math.h>

static void the_tables_have_no_mistakes(void **state)
{
    (void)state;
    struct strbuf out AS_AUTO_STRBUF;
    strbuf_init(&out, 0);
    options_check_tables(&LLM_LINE, &out);
    assert_string_equal(strbuf_text(&out), "");
}

static void defaults(void **state)
{
    (void)state;
    struct line line;
    line_accept(&line, WORDS(BASE));
    assert_false(line.shape.is_open_loop);
    assert_int_equal(line.shape.concurrency, 1);
    assert_int_equal(line.config.load.num_requests, 4);
    assert_true(line.shape.is_bounded_by_count);
    assert_int_equal(line.config.request.api, RUN_CHAT);
    assert_int_equal(line.shape.shard, 0);
    assert_int_equal(line.shape.shard_count, 1);
    assert_int_equal(line.shape.threads, 1);
    assert_int_equal(line.config.connection.request_timeout_ns, 120 * NS_PER_S);
    assert_int_equal(line.config.connection.connect_timeout_ns, 30 * NS_PER_S);
    assert_int_equal(line.config.connection.retries, 0);
    assert_string_equal(line.config.request.system_prompt, "You are a helpful assistant.");
    assert_int_equal(options_state(&line.parsed, "num-requests")->origin, OPT_FROM_RUN);
    line_done(&line);
}

static void requests_follow_concurrency(void **state)
{
    (void)state;
    struct line line;
    line_accept(&line, WORDS(BASE, "--concurrency", "8"));
    assert_int_equal(line.config.load.num_requests, 32);
    line_done(&line);
    line_accept(&line, WORDS(BASE, "--concurrency", "8", "--duration", "10"));
    assert_true(line.config.load.num_requests == OPT_ABSENT);
    assert_false(line.shape.is_bounded_by_count);
    line_done(&line);
}

static void max_concurrency_without_a_rate_is_concurrency(void **state)
{
    (void)state;
    struct line line;
    line_accept(&line, WORDS(BASE, "--max-concurrency", "16"));
    assert_false(line.shape.is_open_loop);
    assert_int_equal(line.shape.concurrency, 16);
    line_done(&line);
    line_accept(&line, WORDS(BASE, "--max-concurrency", "16", "--request-rate", "inf"));
    assert_false(line.shape.is_open_loop);
    assert_int_equal(line.shape.concurrency, 16);
    line_done(&line);
    line_accept(&line, WORDS(BASE, "--max-concurrency", "16", "--request-rate", "5"));
    assert_true(line.shape.is_open_loop);
    assert_int_equal(line.shape.concurrency, 0);
    assert_int_equal(line.shape.max_concurrency, 16);
    line_done(&line);
    line_refuse(WORDS(BASE, "--max-concurrency", "16", "--concurrency", "8"),
                "--concurrency and --max-concurrency do not go together: without a rate they mean the same; give one");
    line_refuse(
        WORDS(BASE, "--concurrency", "8", "--request-rate", "5"),
        "--concurrency and --request-rate do not go together: with a rate, --max-concurrency N caps what is in flight");
}

static void all_at_once(void **state)
{
    (void)state;
    struct line line;
    line_accept(&line, WORDS(BASE, "--request-rate", "inf", "--num-prompts", "50"));
    assert_true(line.shape.is_open_loop);
    assert_true(isinf(line.config.load.rate_per_s));
    line_done(&line);
    line_refuse(WORDS(BASE, "--request-rate", "inf", "--duration", "5"),
                "--request-rate and --duration do not go together: with inf and no concurrency all requests are sent "
                "at once; --num-requests says how many");
    line_refuse(WORDS(BASE, "--request-rate", "inf", "--burstiness", "2"),
                "--burstiness and --request-rate do not go together: with inf all requests are due at once");
}

static void burstiness_means_gamma(void **state)
{
    (void)state;
    struct line line;
    line_accept(&line, WORDS(BASE, "--request-rate", "5", "--burstiness", "0.5"));
    assert_int_equal(line.config.load.arrival, RUN_ARRIVAL_GAMMA);
    line_done(&line);
    line_accept(&line, WORDS(BASE, "--request-rate", "5", "--arrival-pattern", "poisson", "--vllm-burstiness", "1"));
    assert_int_equal(line.config.load.arrival, RUN_ARRIVAL_POISSON);
    line_done(&line);
    line_refuse(WORDS(BASE, "--request-rate", "5", "--arrival", "constant", "--burstiness", "2"),
                "--burstiness and --arrival do not go together: burstiness is the shape of gamma gaps");
}

static void options_without_effect_are_refused(void **state)
{
    (void)state;
    line_refuse(WORDS(BASE, "--arrival", "constant"),
                "--arrival has no effect in a closed loop (no --request-rate, or inf with a concurrency); it works in "
                "an open loop (--request-rate R)");
    line_refuse(WORDS(BASE, "--request-rate", "5", "--ramp-up-seconds", "5"),
                "--ramp-up-seconds has no effect in an open loop (--request-rate R); it works in a closed loop (no "
                "--request-rate, or inf with a "
                "concurrency)");
    line_refuse(
        WORDS(BASE, "--mode", "completion", "--system-prompt", "x"),
        "--system-prompt has no effect in completion mode (--mode completion); it works in chat mode (--mode chat)");
    line_refuse(
        WORDS(BASE, "--save-gaps"),
        "--save-gaps has no effect in a run without streaming (no --streaming); it works in streaming (--streaming)");
    line_refuse(WORDS(BASE, "--load-balancer", "random"),
                "--load-balancer has no effect in a run with one server (one --url); it works in a run with several "
                "servers (several --url or "
                "--endpoints-file)");
    line_refuse(WORDS(BASE, "--insecure"), "--insecure has no effect in a run without TLS (no https:// URL); it works "
                                           "in a run over TLS (an https:// URL)");
    line_refuse(WORDS(BASE, "--calibrate"), "--calibrate has no effect in a run with a prompt file (--prompts FILE); "
                                            "it works in a run with generated prompts (--synthetic-isl N)");
    line_refuse(WORDS(BASE, "--warmup-requests", "0", "--warmup-barrier"),
                "--warmup-barrier has no effect without warm-up requests (--warmup-requests N)");
    line_refuse(WORDS(BASE, "--metric-percentiles", "50"),
                "--metric-percentiles has no effect in a run with another output (--console is not vllm); it works in "
                "a run with the vLLM block "
                "(--console vllm)");
    line_refuse(WORDS(BASE, "--threads", "3"),
                "--threads: more threads than the 1 requests in flight would have nothing to do");
}

static void the_url_may_say_the_api(void **state)
{
    (void)state;
    struct line line;
    line_accept(&line, WORDS("--url", "http://h/v1/completions", "--prompts", "p"));
    assert_int_equal(line.config.request.api, RUN_COMPLETION);
    line_done(&line);
    line_accept(&line, WORDS("--base-url", "http://h", "--endpoint", "/v1/completions", "--prompts", "p"));
    assert_int_equal(line.config.request.api, RUN_COMPLETION);
    assert_int_equal(line.targets.list.count, 1);
    assert_string_equal(line.targets.list.items[0].url, "http://h/v1/completions");
    line_done(&line);
    line_accept(&line, WORDS("--endpoint", "http://a", "--endpoint", "http://b", "--prompts", "p"));
    assert_int_equal(line.targets.list.count, 2);
    line_done(&line);
    line_refuse(WORDS("--url", "http://h/v1/completions", "--mode", "chat", "--prompts", "p"),
                "--mode asks for chat, but a server's URL ends in the path of completion: leave one of them out");
    line_refuse(WORDS("--url", "http://h/v1/completions", "--url", "http://i/v1/chat/completions", "--prompts", "p"),
                "one server's URL ends in /chat/completions, another's in /completions; a run speaks one of them");
}

static void host_and_port(void **state)
{
    (void)state;
    static const struct {
        char *host, *port, *url;
    } cases[] = {{"h", "81", "http://h:81"}, {"::1", "81", "http://[::1]:81"}};
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct line line;
        line_accept(&line, WORDS("--host", cases[i].host, "--port", cases[i].port, "--prompts", "p"));
        assert_string_equal(line.targets.list.items[0].url, cases[i].url);
        line_done(&line);
    }
    struct line line;
    line_accept(&line, WORDS("--port", "8001", "--prompts", "p"));
    assert_string_equal(line.targets.list.items[0].url, "http://127.0.0.1:8001");
    line_done(&line);
    line_accept(&line, WORDS("--host", "h", "--prompts", "p"));
    assert_string_equal(line.targets.list.items[0].url, "http://h:8000");
    line_done(&line);
}

static void user_names_in_urls_are_refused(void **state)
{
    (void)state;
    line_refuse(WORDS("--url", "http://user:secret@h", "--prompts", "p"),
                "http://***@h: a URL with a user name is not used; send it as --header \"Authorization: Basic …\"");
}

static void prompts_must_come_from_somewhere(void **state)
{
    (void)state;
    line_refuse(WORDS("--url", "http://h"),
                "no prompts: give --prompts FILE (JSONL, `prompt` a line) or --synthetic-isl N");
    line_refuse(WORDS(BASE, "--synthetic-isl", "9"),
                "--prompts and --synthetic-isl exclude each other; give one of them");
    line_refuse(WORDS("--url", "http://h", "--dataset-name", "custom"),
                "--dataset-name custom needs a file: --dataset-path FILE (here --prompts)");
    line_refuse(WORDS(BASE, "--dataset-name", "random"),
                "--dataset-name and --prompts do not go together: random prompts are generated, not read");
}

static void random_prompts_as_elsewhere(void **state)
{
    (void)state;
    struct line line;
    line_accept(&line, WORDS("--url", "http://h", "--dataset-name", "random"));
    assert_int_equal(line.shape.input.mean, 1024);
    assert_int_equal(line.shape.output.mean, 128);
    line_done(&line);
    line_accept(&line, WORDS("--url", "http://h", "--random-input-len", "100", "--random-output-len", "50",
                             "--random-range-ratio", "0.1"));
    assert_true(line.shape.is_synthetic);
    assert_int_equal(line.shape.input.spread, 10);
    assert_int_equal(line.shape.output.spread, 5);
    line_done(&line);
    line_accept(&line, WORDS("--url", "http://h", "--isl", "512±64", "--isl-stddev", "0"));
    assert_int_equal(line.shape.input.spread, 64);
    assert_int_equal(line.shape.output.mean, 0);
    line_done(&line);
    line_accept(&line, WORDS("--url", "http://h", "--data", "prompt_tokens=20,output_tokens=5"));
    assert_int_equal(line.shape.input.mean, 20);
    assert_int_equal(line.shape.output.mean, 5);
    line_done(&line);
    line_refuse(WORDS("--url", "http://h", "--isl", "100±5", "--random-range-ratio", "0.1"),
                "--random-range-ratio and a length with ±S say the same thing; give one");
    line_refuse(WORDS("--url", "http://h", "--isl", "100", "--isl-stddev", "5"),
                "--isl-stddev: lengths here are uniform within ±S, not normal; nearest: --synthetic-isl N±S, "
                "--synthetic-osl N±S");
}

static void backends(void **state)
{
    (void)state;
    struct line line;
    line_accept(&line, WORDS(BASE, "--backend", "openai-chat"));
    assert_int_equal(line.config.request.api, RUN_CHAT);
    line_done(&line);
    line_accept(&line, WORDS(BASE, "--endpoint-type", "completions"));
    assert_int_equal(line.config.request.api, RUN_COMPLETION);
    line_done(&line);
    line_accept(&line, WORDS("--prompts", "p", "--backend", "kind=openai_http,target=http://h:1,model=m"));
    assert_string_equal(line.targets.list.items[0].url, "http://h:1");
    assert_string_equal(line.config.request.model, "m");
    line_done(&line);
    line_refuse(WORDS(BASE, "--backend", "tgi"),
                "--backend: \"tgi\" is no API that assay llm speaks; nearest here: --mode chat or --mode completion");
    line_refuse(WORDS(BASE, "--backend", "kind=openai_http,verify=no"),
                "--backend: \"verify\" is not known here; nearest: --url, --model, --mode");
}

static void served_name_goes_before_the_model(void **state)
{
    (void)state;
    struct line line;
    line_accept(&line, WORDS(BASE, "--model", "org/model", "--served-model-name", "m"));
    assert_string_equal(line.config.request.model, "m");
    line_done(&line);
}

/* Every flag of the field's tools is an option, an alias, or refused with a name of ours. */
static void no_flag_of_other_tools_is_unknown(void **state)
{
    (void)state;
    static const char *const flags[] = {
        "base-url",
        "host",
        "port",
        "url",
        "target",
        "server.base_url",
        "endpoints",
        "endpoint",
        "backend",
        "endpoint-type",
        "api.type",
        "model",
        "served-model-name",
        "server.model_name",
        "max-concurrency",
        "concurrency",
        "request-rate",
        "target-qps",
        "burstiness",
        "arrival-pattern",
        "arrival-smoothness",
        "vllm-burstiness",
        "load.type",
        "load-pattern",
        "num-prompts",
        "request-count",
        "num-requests",
        "benchmark-duration",
        "duration",
        "num-warmups",
        "warmup-requests",
        "warmup-request-count",
        "dataset-name",
        "dataset-path",
        "public-dataset",
        "custom-dataset-type",
        "input-file",
        "data",
        "data.type",
        "random-input-len",
        "random-output-len",
        "random-range-ratio",
        "isl",
        "osl",
        "isl-stddev",
        "osl-stddev",
        "seed",
        "random-seed",
        "goodput",
        "extra-body",
        "extra-request-body",
        "extra-inputs",
        "header",
        "ignore-eos",
        "disable-ignore-eos",
        "percentile-metrics",
        "metric-percentiles",
        "save-result",
        "result-dir",
        "result-filename",
        "output-file",
        "artifact-dir",
        "output-artifact-dir",
        "output",
    };
    for (size_t i = 0; i < ARRAY_COUNT(flags); i++) {
        char word[64];
        struct line line;
        snprintf(word, sizeof word, "--%s", flags[i]);
        line_read(&line, WORDS(word, "1"));
        if (line.status == AS_E_USAGE && strstr(line.err.message, "unknown option"))
            fail_msg("%s", line.err.message);
        if (line.status == AS_E_USAGE && strstr(line.err.message, "Nearest here"))
            assert_non_null(strstr(line.err.message, "Nearest here: --"));
        line_done(&line);
    }
}

static void inputs_of_another_tool_reach_the_body(void **state)
{
    (void)state;
    struct line line;
    line_accept(&line, WORDS(BASE, "--extra-inputs", "top_p:0.9", "user:me", "--extra-body", "{\"k\":1}"));
    assert_string_equal(line.config.request.extra_body, "{\"k\":1,\"top_p\":0.9,\"user\":\"me\"}");
    line_done(&line);
}

static void a_limit_goes_before_the_usual_length(void **state)
{
    (void)state;
    struct line line;
    line_accept(&line, WORDS("--url", "http://h", "--dataset-name", "random", "--max-tokens", "10"));
    assert_int_equal(line.shape.output.mean, 0);
    assert_int_equal(line.config.request.max_tokens, 10);
    line_done(&line);
}

static void shards(void **state)
{
    (void)state;
    struct line line;
    line_accept(&line, WORDS(BASE, "--shard", "2/5"));
    assert_int_equal(line.shape.shard, 2);
    assert_int_equal(line.shape.shard_count, 5);
    line_done(&line);
    static char *const bad[] = {"5/5", "1", "/2", "1/0", "a/b", "-1/2", "1/2/3", "1/99999", "1 /2"};
    for (size_t i = 0; i < ARRAY_COUNT(bad); i++) {
        line_read(&line, WORDS(BASE, "--shard", bad[i]));
        assert_int_equal(line.status, AS_E_USAGE);
        assert_non_null(
            strstr(line.err.message,
                   "is not i/n with i below n; allowed is i/n with 0 ≤ i < n ≤ 65536, for example --shard 0/2"));
        line_done(&line);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_tables_have_no_mistakes),
        cmocka_unit_test(defaults),
        cmocka_unit_test(requests_follow_concurrency),
        cmocka_unit_test(max_concurrency_without_a_rate_is_concurrency),
        cmocka_unit_test(all_at_once),
        cmocka_unit_test(burstiness_means_gamma),
        cmocka_unit_test(options_without_effect_are_refused),
        cmocka_unit_test(the_url_may_say_the_api),
        cmocka_unit_test(host_and_port),
        cmocka_unit_test(user_names_in_urls_are_refused),
        cmocka_unit_test(prompts_must_come_from_somewhere),
        cmocka_unit_test(random_prompts_as_elsewhere),
        cmocka_unit_test(backends),
        cmocka_unit_test(served_name_goes_before_the_model),
        cmocka_unit_test(no_flag_of_other_tools_is_unknown),
        cmocka_unit_test(inputs_of_another_tool_reach_the_body), cmocka_unit_test(a_limit_goes_before_the_usual_length),
        cmocka_unit_test(shards),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
