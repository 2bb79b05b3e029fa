/* SPDX-License-Identifier: Apache-2.0 */
#include "prompts/show.h"

#include "workload/words.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define BUCKETS       40 /* bucket i: 2^i … 2^(i+1) − 1 */
#define BAR_CHARS     40
#define PREVIEW_CHARS 100

/* How many prompts have a length in each bucket. */
struct buckets {
    int64_t counts[BUCKETS], most;
};

static int64_t length_of(const struct prompt *prompt, const struct token_ratio *ratio)
{
    if (!ratio)
        return prompt->words;
    return llround(ratio->overhead_tokens + ratio->tokens_per_word * (double)prompt->words);
}

static struct buckets count_lengths(const struct prompts *prompts, const struct token_ratio *ratio)
{
    struct buckets buckets = {0};
    for (size_t i = 0; i < prompts->count; i++) {
        int64_t length = length_of(&prompts->items[i], ratio);
        size_t bucket = 0;
        while (bucket + 1 < BUCKETS && length >= INT64_C(2) << bucket)
            bucket++;
        if (++buckets.counts[bucket] > buckets.most)
            buckets.most = buckets.counts[bucket];
    }
    return buckets;
}

static void show_buckets(const struct buckets *buckets, const char *unit, struct strbuf *out)
{
    strbuf_addf(out, "\n%s\n", unit);
    for (size_t i = 0; i < BUCKETS; i++) {
        if (buckets->counts[i] == 0)
            continue;
        strbuf_addf(out, "  %7" PRId64 " – %-7" PRId64 " %8" PRId64 " ", INT64_C(1) << i, (INT64_C(2) << i) - 1,
                    buckets->counts[i]);
        for (int64_t n = 0; n < (buckets->counts[i] * BAR_CHARS + buckets->most - 1) / buckets->most; n++)
            strbuf_addc(out, '#');
        strbuf_addc(out, '\n');
    }
}

static void put_buckets(const struct buckets *buckets, const char *key, struct json_writer *writer)
{
    json_key(writer, key);
    json_open_array(writer);
    for (size_t i = 0; i < BUCKETS; i++) {
        if (buckets->counts[i] == 0)
            continue;
        json_open_object(writer);
        json_member_int(writer, "from", INT64_C(1) << i);
        json_member_int(writer, "to", (INT64_C(2) << i) - 1);
        json_member_int(writer, "count", buckets->counts[i]);
        json_close_object(writer);
    }
    json_close_array(writer);
}

/* Controls, and what turns the direction of writing. */
static bool is_unsafe(uint32_t code)
{
    return code < 0x20 || (code >= 0x7F && code < 0xA0) || (code >= 0x200B && code <= 0x200F) ||
           (code >= 0x2028 && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069) || code == 0xFEFF;
}

void show_safely(const char *text, size_t len, size_t max_chars, struct strbuf *out)
{
    const char *at = text, *end = text + len;
    for (size_t chars = 0; at < end; chars++) {
        if (chars == max_chars) {
            strbuf_adds(out, "…");
            return;
        }
        uint32_t code;
        bool valid = true;
        size_t used = words_decode(at, end, &code, &valid);
        if (valid && (code == '\n' || code == '\t' || code == '\r'))
            strbuf_addc(out, ' ');
        else if (!valid || is_unsafe(code))
            strbuf_adds(out, "\xEF\xBF\xBD");
        else
            strbuf_add(out, at, used);
        at += used;
    }
}

static void show_row(struct strbuf *out, const char *name, const struct distribution *d)
{
    if (d->n > 0)
        strbuf_addf(out, "%-14s %8" PRId64 " %8.0f %10.1f %8.0f %8.0f %8.0f\n", name, d->n, d->min, d->mean,
                    d->percentile[DISTRIBUTION_P50], d->percentile[DISTRIBUTION_P95], d->max);
}

as_status show_text(const struct prompts *prompts, const struct show_spec *spec, struct strbuf *out)
{
    struct library_lengths lengths;
    char content[DIGEST_TEXT_BYTES];
    as_status status = library_measure(prompts, &lengths);
    if (status == AS_OK)
        status = prompts_sample_digest(prompts, (int64_t)prompts->count, content);
    if (status != AS_OK)
        return status;
    strbuf_addf(out, "%zu prompts, %" PRId64 " different; %" PRId64 " give expected_output_tokens\n", prompts->count,
                lengths.distinct, prompts->with_expected_tokens);
    strbuf_addf(out, "content digest %s\nfile SHA-256   %s\n\n", content, prompts->digest);
    strbuf_addf(out, "%-14s %8s %8s %10s %8s %8s %8s\n", "", "n", "min", "mean", "p50", "p95", "max");
    show_row(out, "words", &lengths.words);
    show_row(out, "output tokens", &lengths.output_tokens);
    show_row(out, "bytes", &lengths.bytes);
    struct buckets words = count_lengths(prompts, NULL), tokens = count_lengths(prompts, &spec->ratio);
    show_buckets(&words, "words a prompt", out);
    if (spec->has_ratio)
        show_buckets(&tokens, "tokens a prompt (estimated)", out);
    if (spec->first > 0)
        strbuf_addc(out, '\n');
    for (size_t i = 0; i < prompts->count && i < spec->first; i++) {
        show_safely(prompts->items[i].id, strlen(prompts->items[i].id), 16, out);
        strbuf_adds(out, ": ");
        show_safely(prompts->items[i].text, prompts->items[i].len, PREVIEW_CHARS, out);
        strbuf_addc(out, '\n');
    }
    return strbuf_status(out);
}

as_status show_json(const struct prompts *prompts, const struct show_spec *spec, struct strbuf *out)
{
    struct library_lengths lengths;
    struct json_writer writer;
    char content[DIGEST_TEXT_BYTES];
    as_status status = library_measure(prompts, &lengths);
    if (status == AS_OK)
        status = prompts_sample_digest(prompts, (int64_t)prompts->count, content);
    if (status != AS_OK)
        return status;
    struct buckets words = count_lengths(prompts, NULL), tokens = count_lengths(prompts, &spec->ratio);
    json_writer_init(&writer, out, 2);
    json_open_object(&writer);
    json_member_int(&writer, "count", (int64_t)prompts->count);
    json_member_int(&writer, "distinct", lengths.distinct);
    json_member_int(&writer, "with_expected_output_tokens", prompts->with_expected_tokens);
    json_member_string(&writer, "content_digest", content);
    json_member_string(&writer, "sha256", prompts->digest);
    library_put_distribution(&writer, "words", &lengths.words);
    library_put_distribution(&writer, "expected_output_tokens", &lengths.output_tokens);
    library_put_distribution(&writer, "bytes", &lengths.bytes);
    put_buckets(&words, "words_histogram", &writer);
    if (spec->has_ratio)
        put_buckets(&tokens, "tokens_histogram", &writer);
    json_close_object(&writer);
    strbuf_addc(out, '\n');
    return json_writer_status(&writer);
}
