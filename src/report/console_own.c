/* SPDX-License-Identifier: Apache-2.0 */
#include "report/console_own.h"

#include "report/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* A number of the block; NAN when it is null or absent. */
static double number(const struct json_value *own, const char *path)
{
    double value;
    return json_double(json_path(own, path), &value) ? value : (double)NAN;
}

static int64_t count(const struct json_value *own, const char *path)
{
    int64_t value;
    return json_int64(json_path(own, path), &value) ? value : 0;
}

/* "512 B", "1.46 MiB"; "-" when undefined. */
static const char *text_bytes(double bytes, char ret[REPORT_NUMBER_BYTES])
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    size_t unit = 0;
    if (isnan(bytes))
        return "-";
    for (; bytes >= 1024 && unit + 1 < sizeof units / sizeof *units; unit++)
        bytes /= 1024;
    snprintf(ret, REPORT_NUMBER_BYTES, unit ? "%.2f %s" : "%.0f %s", bytes, units[unit]);
    return ret;
}

static void add_vlm(const struct json_value *own, struct strbuf *out)
{
    char a[REPORT_NUMBER_BYTES], b[REPORT_NUMBER_BYTES], c[REPORT_NUMBER_BYTES];
    strbuf_addf(out, "\nimages      %" PRId64 " sent, %s each on average, %s a request", count(own, "images"),
                text_bytes(number(own, "image_bytes.mean"), a), text_bytes(number(own, "payload_bytes.mean"), b));
    if (count(own, "images_by_url"))
        strbuf_addf(out, ", %" PRId64 " as URLs", count(own, "images_by_url"));
    if (count(own, "images_resized"))
        strbuf_addf(out, ", %" PRId64 " made smaller", count(own, "images_resized"));
    strbuf_addf(out, "\n            prepared before the run in %s ms each (p50), %s ms (p99)\n",
                text_ms(number(own, "image_processing_ms.p50"), a), text_ms(number(own, "image_processing_ms.p99"), c));
}

static void add_imagegen(const struct json_value *own, struct strbuf *out)
{
    char a[REPORT_NUMBER_BYTES], b[REPORT_NUMBER_BYTES];
    strbuf_addf(out, "\nimages      %s images/s, %s megapixels/s\n", text_rate(number(own, "images_per_second"), a),
                text_rate(number(own, "megapixels_per_second"), b));
    strbuf_addf(out, "            %" PRId64 " asked for, %" PRId64 " came, %" PRId64 " saved, %s each on average",
                count(own, "images_requested"), count(own, "images_returned"), count(own, "images_saved"),
                text_bytes(number(own, "image_bytes.mean"), a));
    if (count(own, "images_by_url"))
        strbuf_addf(out, ", %" PRId64 " as URLs, not fetched", count(own, "images_by_url"));
    strbuf_addc(out, '\n');
}

static const char *text_of(const struct json_value *own, const char *path)
{
    const char *text;
    return json_string(json_path(own, path), &text) ? text : "";
}

static void add_figure(struct strbuf *out, const char *before, double value, const char *after)
{
    if (isnan(value))
        strbuf_addf(out, "%s-%s", before, after);
    else
        strbuf_addf(out, "%s%.4g%s", before, value, after);
}

static void add_accuracy(const struct json_value *own, struct strbuf *out)
{
    add_figure(out, "accuracy    WER ", number(own, "wer_corpus.rate_percent"), " % of all words");
    add_figure(out, " (transcripts: p50 ", number(own, "wer_percent.p50"), " %");
    add_figure(out, ", p95 ", number(own, "wer_percent.p95"), " %)");
    add_figure(out, ", CER ", number(own, "cer_corpus.rate_percent"), " %");
    strbuf_addf(out, ", by normalizer %s", text_of(own, "normalizer"));
    add_figure(out, "; raw WER ", number(own, "wer_raw_corpus.rate_percent"), " %\n");
    if (count(own, "unscored"))
        strbuf_addf(out, "            %" PRId64 " transcripts compared, %" PRId64 " not\n", count(own, "scored"),
                    count(own, "unscored"));
}

static void add_asr(const struct json_value *own, struct strbuf *out)
{
    char a[REPORT_NUMBER_BYTES], b[REPORT_NUMBER_BYTES], c[REPORT_NUMBER_BYTES];
    strbuf_addf(out, "\naudio       %s s/s, %s words/s, %s/s\n", text_rate(number(own, "audio_seconds_per_second"), a),
                text_rate(number(own, "words_per_second"), b), text_bytes(number(own, "bytes_per_second"), c));
    add_figure(out, "            RTF p50 ", number(own, "rtf.p50"), "");
    add_figure(out, ", p95 ", number(own, "rtf.p95"), "");
    add_figure(out, ", all together ", number(own, "rtf_pooled"), "");
    add_figure(out, " (RTFx ", number(own, "rtfx_pooled"), ")");
    strbuf_addf(out, ", inference times from the %s", text_of(own, "inference_time_source"));
    if (count(own, "without_duration"))
        strbuf_addf(out, "; %" PRId64 " without a duration", count(own, "without_duration"));
    strbuf_addc(out, '\n');
    if (count(own, "scored") + count(own, "unscored"))
        add_accuracy(own, out);
}

void console_own(const struct summary *summary, struct strbuf *ret)
{
    static const struct {
        const char *tool;
        void (*add)(const struct json_value *own, struct strbuf *out);
    } tools[] = {{"vlm", add_vlm}, {"imagegen", add_imagegen}, {"asr", add_asr}};
    const char *tool = summary->facts->tool;
    for (size_t i = 0; tool && i < sizeof tools / sizeof *tools; i++)
        if (strcmp(tools[i].tool, tool) == 0)
            tools[i].add(summary->total.own, ret);
}
