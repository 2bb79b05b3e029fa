/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/metrics.h"

#include "base/clock.h"
#include "support/check.h"

#include <string.h>

static void has_line(const struct strbuf *text, const char *line)
{
    if (!strstr(strbuf_text(text), line))
        fail_msg("'%s' is not in:\n%s", line, strbuf_text(text));
}

static void test_sums_over_threads(void **state)
{
    (void)state;
    static struct sim_metrics a, b;
    const struct sim_metrics *const all[] = {&a, &b};
    struct strbuf text;
    strbuf_init(&text, 0);
    sim_metrics_add(&a.running, 3);
    sim_metrics_add(&b.running, 1);
    sim_metrics_add(&a.prompt_tokens, 100);
    sim_metrics_add(&b.finished[SIM_FINISH_LENGTH], 2);
    sim_metrics_observe(&a, SIM_DURATION_TTFT, 30 * NS_PER_MS);
    sim_metrics_observe(&b, SIM_DURATION_TTFT, 20 * NS_PER_MS); /* a bound belongs to its bucket */
    sim_metrics_observe(&b, SIM_DURATION_TTFT, 20 * NS_PER_S);
    sim_metrics_render(all, 2, "m", 8, &text);
    has_line(&text, "vllm:num_requests_running{model_name=\"m\"} 4\n");
    has_line(&text, "vllm:num_requests_waiting{model_name=\"m\"} 0\n");
    has_line(&text, "vllm:kv_cache_usage_perc{model_name=\"m\"} 0.5\n");
    has_line(&text, "vllm:prompt_tokens_total{model_name=\"m\"} 100\n");
    has_line(&text, "vllm:request_success_total{finished_reason=\"length\",model_name=\"m\"} 2\n");
    has_line(&text, "vllm:time_to_first_token_seconds_bucket{le=\"0.01\",model_name=\"m\"} 0\n");
    has_line(&text, "vllm:time_to_first_token_seconds_bucket{le=\"0.02\",model_name=\"m\"} 1\n");
    has_line(&text, "vllm:time_to_first_token_seconds_bucket{le=\"0.04\",model_name=\"m\"} 2\n");
    has_line(&text, "vllm:time_to_first_token_seconds_bucket{le=\"+Inf\",model_name=\"m\"} 3\n");
    has_line(&text, "vllm:time_to_first_token_seconds_count{model_name=\"m\"} 3\n");
    has_line(&text, "vllm:time_to_first_token_seconds_sum{model_name=\"m\"} 20.050000000\n");
    has_line(&text, "# TYPE vllm:e2e_request_latency_seconds histogram\n");
    strbuf_done(&text);
}

/* Every sample line has a family before it, as scrapers want. */
static void test_families(void **state)
{
    (void)state;
    static struct sim_metrics a;
    const struct sim_metrics *const all[] = {&a};
    struct strbuf text;
    char family[128] = "";
    int samples = 0;
    strbuf_init(&text, 0);
    sim_metrics_render(all, 1, "m", 0, &text);
    for (const char *at = strbuf_text(&text); *at; at = strchr(at, '\n') + 1) {
        if (strncmp(at, "# TYPE ", 7) == 0) {
            size_t len = strcspn(at + 7, " ");
            memcpy(family, at + 7, len);
            family[len] = '\0';
        } else if (*at != '#') {
            samples++;
            assert_int_equal(strncmp(at, family, strlen(family)), 0);
        }
    }
    assert_true(samples > 60);
    strbuf_done(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_sums_over_threads), cmocka_unit_test(test_families)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
