/* SPDX-License-Identifier: Apache-2.0 */
#include "report/vllm_block.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define WIDTH     50
#define NO_FIGURE ((double)NAN)

static const struct {
    const char *option, *heading, *label;
    enum latency_metric metric;
} metrics[VLLM_METRICS] = {
    [VLLM_TTFT] = {"ttft", "Time to First Token", "TTFT", LATENCY_TTFT},
    [VLLM_TPOT] = {"tpot", "Time per Output Token (excl. 1st token)", "TPOT", LATENCY_TPOT},
    [VLLM_ITL] = {"itl", "Inter-token Latency", "ITL", LATENCY_ITL},
    [VLLM_E2EL] = {"e2el", "End-to-end Latency", "E2EL", LATENCY_RESPONSE_TIME},
};

static const struct {
    const char *option, *label;
} percentiles[DISTRIBUTION_PERCENTILES] = {
    [DISTRIBUTION_P50] = {"50", "P50"}, [DISTRIBUTION_P75] = {"75", "P75"}, [DISTRIBUTION_P90] = {"90", "P90"},
    [DISTRIBUTION_P95] = {"95", "P95"}, [DISTRIBUTION_P99] = {"99", "P99"}, [DISTRIBUTION_P99_9] = {"99.9", "P99.9"},
};

/* Cuts the next word off a list separated by commas; false at its end. */
static bool next_word(const char **at, const char **ret_word, size_t *ret_len)
{
    *at += strspn(*at, ", ");
    *ret_word = *at;
    *ret_len = strcspn(*at, ", ");
    *at += *ret_len;
    return *ret_len > 0;
}

static bool is_word(const char *word, size_t len, const char *name)
{
    return strlen(name) == len && memcmp(word, name, len) == 0;
}

static as_status choose_metrics(const char *list, struct vllm_choice *choice, struct as_error *err)
{
    const char *word;
    size_t len;
    while (next_word(&list, &word, &len)) {
        int found = 0;
        while (found < VLLM_METRICS && !is_word(word, len, metrics[found].option))
            found++;
        if (found == VLLM_METRICS)
            return error_set(err, AS_E_USAGE, "\"%.*s\" is none of ttft, tpot, itl, e2el", (int)(len < 40 ? len : 40),
                             word);
        choice->metrics[found] = true;
    }
    return AS_OK;
}

static as_status choose_percentiles(const char *list, struct vllm_choice *choice, struct as_error *err)
{
    const char *word;
    size_t len;
    while (next_word(&list, &word, &len)) {
        int found = 0;
        if (len > 2 && memcmp(word + len - 2, ".0", 2) == 0)
            len -= 2;
        while (found < DISTRIBUTION_PERCENTILES && !is_word(word, len, percentiles[found].option))
            found++;
        if (found == DISTRIBUTION_PERCENTILES)
            return error_set(err, AS_E_USAGE, "\"%.*s\" is none of the percentiles 50, 75, 90, 95, 99, 99.9",
                             (int)(len < 40 ? len : 40), word);
        bool is_new = true;
        for (size_t i = 0; i < choice->percentile_count; i++)
            is_new = is_new && choice->percentiles[i] != (enum distribution_percentile)found;
        if (is_new)
            choice->percentiles[choice->percentile_count++] = (enum distribution_percentile)found;
    }
    return AS_OK;
}

as_status vllm_choice_read(const char *metric_list, const char *percentile_list, struct vllm_choice *ret,
                           struct as_error *err)
{
    struct vllm_choice choice = {0};
    as_status status = choose_metrics(metric_list ? metric_list : "ttft,tpot,itl,e2el", &choice, err);
    if (status == AS_OK)
        status = choose_percentiles(percentile_list ? percentile_list : "99", &choice, err);
    if (status == AS_OK)
        *ret = choice;
    return status;
}

/* `text` in the middle of a line of `fill`; an odd space goes to the right, as Python centres. */
static void put_centred(struct strbuf *out, const char *text, char fill)
{
    size_t len = strlen(text), left = len < WIDTH ? (WIDTH - len) / 2 : 0;
    for (size_t i = 0; i < left; i++)
        strbuf_addc(out, fill);
    strbuf_adds(out, text);
    for (size_t i = left + len; i < WIDTH; i++)
        strbuf_addc(out, fill);
    strbuf_addc(out, '\n');
}

static void put_int(struct strbuf *out, const char *label, int64_t value)
{
    if (value < 0)
        strbuf_addf(out, "%-40s %-10s\n", label, "nan");
    else
        strbuf_addf(out, "%-40s %-10" PRId64 "\n", label, value);
}

static void put_number(struct strbuf *out, const char *label, double value)
{
    if (isnan(value))
        strbuf_addf(out, "%-40s %-10s\n", label, "nan");
    else
        strbuf_addf(out, "%-40s %-10.2f\n", label, value);
}

static void put_metric(struct strbuf *out, const struct summary *s, enum vllm_metric which,
                       const struct vllm_choice *choice)
{
    const struct distribution *d = &s->total.latency[metrics[which].metric];
    char label[40];
    put_centred(out, metrics[which].heading, '-');
    (void)snprintf(label, sizeof label, "Mean %s (ms):", metrics[which].label);
    put_number(out, label, d->mean / 1e6);
    (void)snprintf(label, sizeof label, "Median %s (ms):", metrics[which].label);
    put_number(out, label, d->percentile[DISTRIBUTION_P50] / 1e6);
    for (size_t i = 0; i < choice->percentile_count; i++) {
        enum distribution_percentile p = choice->percentiles[i];
        (void)snprintf(label, sizeof label, "%s %s (ms):", percentiles[p].label, metrics[which].label);
        put_number(out, label, d->percentile[p] / 1e6);
    }
}

as_status vllm_block(const struct summary *s, const struct vllm_choice *choice, struct strbuf *ret)
{
    const struct summary_block *all = &s->total;
    const struct run_rules *rules = &s->facts->rules;
    put_centred(ret, " Serving Benchmark Result ", '=');
    put_int(ret, "Successful requests:", all->counts.ok);
    put_int(ret, "Failed requests:", all->errors.count);
    if (rules->concurrency > 0)
        put_int(ret, "Maximum request concurrency:", rules->concurrency);
    if (isfinite(rules->request_rate_per_s))
        put_number(ret, "Request rate configured (RPS):", rules->request_rate_per_s);
    put_number(ret,
               "Benchmark duration (s):", s->window.elapsed_ns < 0 ? NO_FIGURE : (double)s->window.elapsed_ns / 1e9);
    put_int(ret, "Total input tokens:", all->tokens[TOKENS_PROMPT].total);
    put_int(ret, "Total generated tokens:", all->tokens[TOKENS_COMPLETION].total);
    put_number(ret, "Request throughput (req/s):", all->spec_rates.requests_per_second);
    if (all->goodput.has_slo && s->window.elapsed_ns > 0)
        put_number(ret, "Request goodput (req/s):", (double)all->goodput.good / ((double)s->window.elapsed_ns / 1e9));
    put_number(ret, "Output token throughput (tok/s):", all->spec_rates.completion_tokens_per_second);
    put_number(ret, "Total Token throughput (tok/s):", all->spec_rates.total_tokens_per_second);
    for (int i = 0; i < VLLM_METRICS; i++) {
        if (choice->metrics[i])
            put_metric(ret, s, (enum vllm_metric)i, choice);
    }
    put_centred(ret, "", '=');
    return strbuf_status(ret);
}
