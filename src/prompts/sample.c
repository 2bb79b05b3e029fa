/* SPDX-License-Identifier: Apache-2.0 */
#include "prompts/sample.h"

#include "base/rng.h"
#include "stats/sort.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SAMPLE_STREAM UINT64_C(0x73616d706c652121) /* "sample!!" */

static int64_t tokens_of(const struct token_ratio *ratio, int64_t words)
{
    return llround(ratio->overhead_tokens + ratio->tokens_per_word * (double)words);
}

static bool is_near(int64_t value, int64_t wanted, double tolerance)
{
    /* One part in 10^9 on top: 10 % of 640 is 64, whatever the rounding of 0.1. */
    return fabs((double)(value - wanted)) <= tolerance * (double)wanted * (1 + 1e-9);
}

/* Indexes of what fits into `ret`, which has room for all. */
static void find_fitting(const struct prompts *from, const struct sample_spec *spec, uint32_t *ret,
                         struct sample_report *report)
{
    report->shortest_tokens = INT64_MAX;
    for (size_t i = 0; i < from->count; i++) {
        int64_t tokens = tokens_of(&spec->ratio, from->items[i].words), output = from->items[i].expected_output_tokens;
        if (tokens < report->shortest_tokens)
            report->shortest_tokens = tokens;
        if (tokens > report->longest_tokens)
            report->longest_tokens = tokens;
        if (!is_near(tokens, spec->isl, spec->tolerance))
            continue;
        report->input_fits++;
        if (spec->osl == 0 || output < 1 || is_near(output, spec->osl, spec->tolerance))
            ret[report->fits++] = (uint32_t)i;
    }
}

static as_status check_enough(const struct sample_report *report, struct as_error *err)
{
    const struct sample_spec *spec = &report->spec;
    if (report->fits == 0 && report->input_fits > 0)
        return error_set(err, AS_E_INVALID,
                         "%" PRId64 " prompts are %" PRId64 " tokens long within %g %%, but the answers expected of them "
                         "are none of %" PRId64 " tokens; widen --tolerance or leave --osl out",
                         report->input_fits, spec->isl, spec->tolerance * 100, spec->osl);
    if (report->fits == 0)
        return error_set(err, AS_E_INVALID,
                         "no prompt is %" PRId64 " tokens long within %g %%: the library's are %" PRId64 " to %" PRId64
                         " tokens (%.3g a word); widen --tolerance or take another library",
                         spec->isl, spec->tolerance * 100, report->shortest_tokens, report->longest_tokens,
                         spec->ratio.tokens_per_word);
    if (report->fits < spec->count && !spec->allow_fewer)
        return error_set(err, AS_E_INVALID,
                         "only %" PRId64 " of %" PRId64 " prompts wanted fit; widen --tolerance, ask for fewer, or take "
                         "those with --allow-fewer",
                         report->fits, spec->count);
    return AS_OK;
}

/* Adds those taken and measures them; `values` has room for three times as many. */
static as_status take(const struct prompts *from, const uint32_t *chosen, struct library *library,
                      struct sample_report *report, int64_t *values)
{
    const struct sample_spec *spec = &report->spec;
    int64_t *words = values, *tokens = words + report->taken, *output = tokens + report->taken;
    size_t with_output = 0;
    for (int64_t i = 0; i < report->taken; i++) {
        const struct prompt *prompt = &from->items[chosen[i]];
        int64_t expected = prompt->expected_output_tokens > 0 ? prompt->expected_output_tokens : spec->osl ? spec->osl : -1;
        struct library_row row = {prompt->text, prompt->len, prompt->id, strlen(prompt->id), expected};
        as_status status = library_add(library, &row);
        if (status != AS_OK)
            return status;
        words[i] = prompt->words;
        tokens[i] = tokens_of(&spec->ratio, prompt->words);
        if (expected > 0)
            output[with_output++] = expected;
    }
    sort_int64(words, (size_t)report->taken);
    sort_int64(tokens, (size_t)report->taken);
    sort_int64(output, with_output);
    report->words = distribution_of_sorted(words, report->taken, PERCENTILE_NEAREST_RANK);
    report->tokens = distribution_of_sorted(tokens, report->taken, PERCENTILE_NEAREST_RANK);
    report->output_tokens = distribution_of_sorted(output, (int64_t)with_output, PERCENTILE_NEAREST_RANK);
    return library_finish(library);
}

as_status sample_take(const struct prompts *from, const struct sample_spec *spec, struct library *library,
                      struct sample_report *ret, struct as_error *err)
{
    struct sample_report report = {.spec = *spec, .available = (int64_t)from->count};
    uint32_t *fitting = calloc(from->count + 1, sizeof *fitting);
    int64_t *values = NULL;
    as_status status = AS_E_NOMEM;
    if (!fitting)
        goto out;
    find_fitting(from, spec, fitting, &report);
    status = check_enough(&report, err);
    if (status != AS_OK)
        goto out;
    struct rng rng;
    rng_init(&rng, spec->seed, SAMPLE_STREAM);
    rng_shuffle(&rng, fitting, (size_t)report.fits);
    report.taken = spec->count && spec->count < report.fits ? spec->count : report.fits;
    values = calloc((size_t)report.taken * 3 + 1, sizeof *values);
    status = values ? take(from, fitting, library, &report, values) : AS_E_NOMEM;
out:
    if (status == AS_E_NOMEM || status == AS_E_LIMIT)
        error_set(err, status, "the sample cannot be made: %s", status_sentence(status));
    free(fitting);
    free(values);
    if (status == AS_OK)
        *ret = report;
    return status;
}

static void show_row(struct strbuf *out, const char *name, const struct distribution *d)
{
    if (d->n > 0)
        strbuf_addf(out, "%-14s %8.0f %10.1f %8.0f %8.0f %8.0f\n", name, d->min, d->mean,
                    d->percentile[DISTRIBUTION_P50], d->percentile[DISTRIBUTION_P95], d->max);
}

void sample_show(const struct sample_report *report, struct strbuf *out)
{
    const struct sample_spec *spec = &report->spec;
    strbuf_addf(out,
                "%" PRId64 " of %" PRId64 " prompts fit %" PRId64 " tokens ± %g %%", report->fits, report->available,
                spec->isl, spec->tolerance * 100);
    if (spec->osl)
        strbuf_addf(out, " and answers of %" PRId64, spec->osl);
    strbuf_addf(out, "; %" PRId64 " taken\n", report->taken);
    strbuf_addf(out, "%-14s %8s %10s %8s %8s %8s\n", "", "min", "mean", "p50", "p95", "max");
    show_row(out, "tokens (est.)", &report->tokens);
    show_row(out, "words", &report->words);
    show_row(out, "output tokens", &report->output_tokens);
}

void sample_describe(struct json_writer *writer, const void *context)
{
    const struct sample_report *report = context;
    const struct sample_spec *spec = &report->spec;
    json_key(writer, "sample");
    json_open_object(writer);
    json_member_int(writer, "isl", spec->isl);
    if (spec->osl)
        json_member_int(writer, "osl", spec->osl);
    json_member_double(writer, "tolerance", spec->tolerance);
    json_member_int(writer, "seed", (int64_t)spec->seed);
    json_member_double(writer, "tokens_per_word", spec->ratio.tokens_per_word);
    json_member_double(writer, "overhead_tokens", spec->ratio.overhead_tokens);
    json_member_int(writer, "available", report->available);
    json_member_int(writer, "input_fits", report->input_fits);
    json_member_int(writer, "fits", report->fits);
    json_member_int(writer, "wanted", spec->count);
    json_member_int(writer, "taken", report->taken);
    library_put_distribution(writer, "tokens", &report->tokens);
    library_put_distribution(writer, "words", &report->words);
    library_put_distribution(writer, "output_tokens", &report->output_tokens);
    json_close_object(writer);
}
