/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/metrics.h"

static const struct histogram {
    const char *name, *help;
    int bucket_count;
    double bounds_s[SIM_BUCKETS_MAX];
} histograms[SIM_DURATION_COUNT] = {
    [SIM_DURATION_TTFT] = {"vllm:time_to_first_token_seconds",
                           "Time to the first token.",
                           15,
                           {0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 10}},
    [SIM_DURATION_ITL] = {"vllm:time_per_output_token_seconds",
                          "Time from one output to the next.",
                          13,
                          {0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1}},
    [SIM_DURATION_E2E] = {"vllm:e2e_request_latency_seconds",
                          "Time from the request to the end of its answer.",
                          13,
                          {0.1, 0.3, 0.5, 0.8, 1, 1.5, 2, 2.5, 5, 10, 20, 40, 60}},
    [SIM_DURATION_QUEUE] = {"vllm:request_queue_time_seconds",
                            "Time in the queue.",
                            13,
                            {0.001, 0.01, 0.1, 0.3, 0.5, 0.8, 1, 1.5, 2, 5, 10, 20, 60}},
};

static int64_t load(const _Atomic int64_t *value)
{
    return atomic_load_explicit(value, memory_order_relaxed);
}

void sim_metrics_observe(struct sim_metrics *metrics, enum sim_duration which, int64_t ns)
{
    const struct histogram *histogram = &histograms[which];
    double seconds = (double)ns / 1e9;
    int i = 0;
    while (i < histogram->bucket_count && seconds > histogram->bounds_s[i])
        i++;
    sim_metrics_add(&metrics->durations[which].buckets[i], 1);
    sim_metrics_add(&metrics->durations[which].sum_ns, ns);
    sim_metrics_add(&metrics->durations[which].count, 1);
}

/* One value over all threads, `at` bytes into the struct. */
static int64_t total(const struct sim_metrics *const *threads, size_t count, size_t at)
{
    int64_t sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += load((const _Atomic int64_t *)(const void *)((const char *)threads[i] + at));
    return sum;
}

static void put_family(struct strbuf *out, const char *name, const char *type, const char *help)
{
    strbuf_addf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void put_histogram(const struct sim_metrics *const *threads, size_t count, enum sim_duration which,
                          const char *model, struct strbuf *out)
{
    const struct histogram *histogram = &histograms[which];
    size_t base = offsetof(struct sim_metrics, durations) + (size_t)which * sizeof(threads[0]->durations[0]);
    size_t buckets = offsetof(struct sim_metrics, durations[0].buckets) - offsetof(struct sim_metrics, durations[0]);
    size_t sum = offsetof(struct sim_metrics, durations[0].sum_ns) - offsetof(struct sim_metrics, durations[0]);
    int64_t below = 0;
    put_family(out, histogram->name, "histogram", histogram->help);
    for (int i = 0; i < histogram->bucket_count; i++) {
        below += total(threads, count, base + buckets + (size_t)i * sizeof(int64_t));
        strbuf_addf(out, "%s_bucket{le=\"%g\",model_name=\"%s\"} %lld\n", histogram->name, histogram->bounds_s[i],
                    model, (long long)below);
    }
    below += total(threads, count, base + buckets + (size_t)histogram->bucket_count * sizeof(int64_t));
    strbuf_addf(out, "%s_bucket{le=\"+Inf\",model_name=\"%s\"} %lld\n", histogram->name, model, (long long)below);
    strbuf_addf(out, "%s_count{model_name=\"%s\"} %lld\n", histogram->name, model, (long long)below);
    strbuf_addf(out, "%s_sum{model_name=\"%s\"} %.9f\n", histogram->name, model,
                (double)total(threads, count, base + sum) / 1e9);
}

static void put_finished(const struct sim_metrics *const *threads, size_t count, const char *model, struct strbuf *out)
{
    static const char *const reasons[SIM_FINISH_COUNT] = {"stop", "length", "abort"};
    put_family(out, "vllm:request_success_total", "counter", "Requests that ended, by reason.");
    for (size_t i = 0; i < SIM_FINISH_COUNT; i++)
        strbuf_addf(out, "vllm:request_success_total{finished_reason=\"%s\",model_name=\"%s\"} %lld\n", reasons[i],
                    model,
                    (long long)total(threads, count, offsetof(struct sim_metrics, finished) + i * sizeof(int64_t)));
}

void sim_metrics_render(const struct sim_metrics *const *threads, size_t count, const char *model, uint32_t slots,
                        struct strbuf *out)
{
    static const struct {
        const char *name, *type, *help;
        size_t at;
    } plain[] = {
        {"vllm:num_requests_running", "gauge", "Requests that hold a batch slot.",
         offsetof(struct sim_metrics, running)},
        {"vllm:num_requests_waiting", "gauge", "Requests in the queue.", offsetof(struct sim_metrics, waiting)},
        {"vllm:prompt_tokens_total", "counter", "Prompt tokens read.", offsetof(struct sim_metrics, prompt_tokens)},
        {"vllm:generation_tokens_total", "counter", "Tokens given out.",
         offsetof(struct sim_metrics, generation_tokens)},
        {"assay_sim:http_errors_total", "counter", "Answers with a 4xx or 5xx status.",
         offsetof(struct sim_metrics, http_errors)},
    };
    for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++) {
        put_family(out, plain[i].name, plain[i].type, plain[i].help);
        strbuf_addf(out, "%s{model_name=\"%s\"} %lld\n", plain[i].name, model,
                    (long long)total(threads, count, plain[i].at));
    }
    put_family(out, "vllm:kv_cache_usage_perc", "gauge", "Share of the batch slots in use, 0 to 1.");
    double running = (double)total(threads, count, offsetof(struct sim_metrics, running));
    strbuf_addf(out, "vllm:kv_cache_usage_perc{model_name=\"%s\"} %g\n", model, slots ? running / slots : 0.0);
    put_finished(threads, count, model, out);
    for (int i = 0; i < SIM_DURATION_COUNT; i++)
        put_histogram(threads, count, (enum sim_duration)i, model, out);
}
