/* SPDX-License-Identifier: Apache-2.0 */
#include "report/console.h"

#include "report/console_own.h"
#include "report/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LABEL_WIDTH   12
#define FOREIGN_BYTES 160

struct console {
    const struct summary *summary;
    struct strbuf *out;
    bool has_colour, has_thin;
};

bool console_wants_colour(bool is_terminal)
{
    const char *no_colour = getenv("NO_COLOR"), *term = getenv("TERM");
    return is_terminal && !(no_colour && no_colour[0]) && !(term && strcmp(term, "dumb") == 0);
}

static const char *bold(const struct console *c)
{
    return c->has_colour ? "\033[1m" : "";
}

static const char *red(const struct console *c)
{
    return c->has_colour ? "\033[31m" : "";
}

static const char *yellow(const struct console *c)
{
    return c->has_colour ? "\033[33m" : "";
}

static const char *green(const struct console *c)
{
    return c->has_colour ? "\033[32m" : "";
}

static const char *plain(const struct console *c)
{
    return c->has_colour ? "\033[0m" : "";
}

static void put_label(const struct console *c, const char *label)
{
    strbuf_addf(c->out, "%-*s", LABEL_WIDTH, label);
}

/*
 * A text that came from a server or a user, up to `max_bytes`, whole characters only. Control characters become spaces:
 * an error message must not steer the terminal.
 */
static void put_foreign(const struct console *c, const char *text, size_t max_bytes)
{
    size_t len = strlen(text);
    if (len > max_bytes) {
        len = max_bytes;
        while (len > 0 && ((unsigned char)text[len] & 0xc0) == 0x80)
            len--;
    }
    for (size_t i = 0; i < len; i++) {
        unsigned char byte = (unsigned char)text[i], next = i + 1 < len ? (unsigned char)text[i + 1] : 0;
        bool is_c1 = byte == 0xc2 && next >= 0x80 && next < 0xa0;
        i += is_c1;
        strbuf_addc(c->out, byte < 0x20 || byte == 0x7f || is_c1 ? ' ' : (char)byte);
    }
}

static const char *config_text(const struct summary *s, const char *member)
{
    const char *text = NULL;
    (void)json_string(json_path(s->config, member), &text);
    return text;
}

static void put_run(const struct console *c)
{
    const struct summary *s = c->summary;
    const struct run_facts *facts = s->facts;
    const char *model = config_text(s, "model");
    if (!model)
        model = config_text(s, "request.model");
    strbuf_addf(c->out, "%sassay %s%s", bold(c), facts->tool ? facts->tool : "llm", plain(c));
    if (model) {
        strbuf_adds(c->out, "  ");
        put_foreign(c, model, FOREIGN_BYTES);
    }
    if (facts->scenario) {
        strbuf_adds(c->out, "  scenario ");
        put_foreign(c, facts->scenario, FOREIGN_BYTES);
    }
    if (facts->human_id)
        strbuf_addf(c->out, "  %s", facts->human_id);
    bool is_insecure = false;
    if (json_bool(json_path(s->config, "insecure"), &is_insecure) && is_insecure)
        strbuf_adds(c->out, "  (certificate not checked)");
    strbuf_adds(c->out, s->is_partial ? "  (partial)\n" : "\n");
}

static void put_requests(const struct console *c)
{
    const struct plan_counts *counts = &c->summary->counts;
    const struct request_counts *measured = &c->summary->total.counts;
    put_label(c, "requests");
    strbuf_addf(c->out,
                "%" PRId64 " measured: %" PRId64 " ok, %" PRId64 " failed, %" PRId64 " timed out, %" PRId64
                " refused, %" PRId64 " cancelled\n",
                measured->sent + measured->refused, measured->ok, measured->failed, measured->timed_out,
                measured->refused, measured->cancelled);
    put_label(c, "");
    if (counts->planned >= 0)
        strbuf_addf(c->out, "of %" PRId64 " planned: ", counts->planned);
    strbuf_addf(c->out, "%" PRId64 " sent", counts->all.sent);
    if (counts->warmup > 0)
        strbuf_addf(c->out, ", %" PRId64 " warm-up", counts->warmup);
    if (counts->ramp_up > 0)
        strbuf_addf(c->out, ", %" PRId64 " discarded in the ramp", counts->ramp_up);
    if (counts->boundary > 0)
        strbuf_addf(c->out, ", %" PRId64 " begun in the ramp and kept", counts->boundary);
    if (counts->skipped > 0)
        strbuf_addf(c->out, ", %" PRId64 " never begun", counts->skipped);
    if (counts->unrecorded > 0 && counts->cut_off >= 0)
        strbuf_addf(c->out, ", %" PRId64 " without a record (up to %" PRId64 " of them were in flight)", counts->unrecorded,
                    counts->cut_off);
    else if (counts->unrecorded > 0)
        strbuf_addf(c->out, ", %" PRId64 " without a record (in flight or never begun)", counts->unrecorded);
    if (counts->late_unsent > 0)
        strbuf_addf(c->out, " (%" PRId64 " of them due, the first for %.3f s)", counts->late_unsent,
                    (double)counts->late_unsent_wait_ns / 1e9);
    if (counts->lost > 0)
        strbuf_addf(c->out, ", %" PRId64 " lost", counts->lost);
    strbuf_addc(c->out, '\n');
}

static void put_errors(const struct console *c)
{
    const struct error_figures *errors = &c->summary->total.errors;
    put_label(c, "errors");
    if (errors->count == 0) {
        strbuf_adds(c->out, "none\n");
        return;
    }
    strbuf_addf(c->out, "%s%" PRId64 " (%.2f %%)%s:", red(c), errors->count, errors->rate * 100, plain(c));
    const char *comma = "";
    for (int type = 0; type < ERROR_TYPE_COUNT; type++) {
        if (errors->by_type[type] == 0)
            continue;
        const char *name = type == ERROR_TYPE_NONE ? "unclassified" : error_type_name((enum error_type)type);
        strbuf_addf(c->out, "%s %s %" PRId64, comma, name, errors->by_type[type]);
        comma = ",";
    }
    for (size_t i = 0; i < errors->status_count; i++)
        strbuf_addf(c->out, "%s %sHTTP %d × %" PRId64, i == 0 ? ";" : ",",
                    errors->by_status[i].http_status < 300 ? "after " : "", (int)errors->by_status[i].http_status,
                    errors->by_status[i].count);
    strbuf_adds(c->out, errors->oom_detected ? "; out of memory\n" : "\n");
    if (errors->example_count == 0 || !errors->examples[0].message)
        return;
    put_label(c, "");
    strbuf_adds(c->out, "first: ");
    put_foreign(c, errors->examples[0].message, FOREIGN_BYTES);
    strbuf_addc(c->out, '\n');
}

static void put_throughput(const struct console *c)
{
    const struct summary *s = c->summary;
    const struct rates *rates = &s->total.window_rates;
    char a[REPORT_NUMBER_BYTES], b[REPORT_NUMBER_BYTES], d[REPORT_NUMBER_BYTES];
    put_label(c, "throughput");
    strbuf_addf(c->out, "%s req/s", text_rate(rates->requests_per_second, a));
    if (s->total.tokens[TOKENS_COMPLETION].n > 0)
        strbuf_addf(c->out, ", %s output tok/s, %s total tok/s", text_rate(rates->completion_tokens_per_second, b),
                    text_rate(rates->total_tokens_per_second, d));
    else if (s->total.counts.ok > 0 && (!s->total.own || s->total.usage_missing > 0))
        strbuf_adds(c->out, ", tokens unknown (no usage)");
    double window_s = s->window.duration_ns < 0 ? -1 : (double)s->window.duration_ns / 1e9;
    strbuf_addf(c->out, ", over %s\n", text_duration(window_s, a));
    const struct goodput *goodput = &s->total.goodput;
    if (!goodput->has_slo)
        return;
    put_label(c, "goodput");
    strbuf_addf(c->out, "%s req/s, %s %% of the requests met every objective\n",
                text_rate(goodput->requests_per_second, a), text_rate(goodput->ratio * 100, b));
}

static const struct {
    enum latency_metric metric;
    const char *label;
    bool always; /* also when there are no values */
} rows[] = {
    {LATENCY_TTFT, "TTFT", false},
    {LATENCY_TTFT_SPEC, "TTFT (spec)", false},
    {LATENCY_TTFR, "TTFR (reasoning)", false},
    {LATENCY_TPOT, "TPOT", false},
    {LATENCY_TPOT_SPEC, "TPOT (spec)", false},
    {LATENCY_ITL, "ITL (chunk gap)", false},
    {LATENCY_RESPONSE_TIME, "Response time", true},
    {LATENCY_QUEUE_DELAY, "Queue delay", false},
    {LATENCY_RESPONSE_LATENCY, "Response latency", false},
    {LATENCY_CONNECT, "Connect", false},
    {LATENCY_TLS, "TLS handshake", false},
};

static void put_cell(struct console *c, const struct distribution *d, enum distribution_percentile which)
{
    char text[REPORT_NUMBER_BYTES];
    bool is_thin = d->n > 0 && distribution_is_thin(d, which);
    c->has_thin = c->has_thin || is_thin;
    strbuf_addf(c->out, " %10s%s", text_ms(d->percentile[which] / 1e6, text), is_thin ? "*" : " ");
}

static void put_latency_row(struct console *c, const char *label, const struct distribution *d)
{
    char text[REPORT_NUMBER_BYTES];
    strbuf_addf(c->out, "%-18s %8" PRId64 " %10s ", label, d->n, text_ms(d->mean / 1e6, text));
    put_cell(c, d, DISTRIBUTION_P50);
    put_cell(c, d, DISTRIBUTION_P90);
    put_cell(c, d, DISTRIBUTION_P95);
    put_cell(c, d, DISTRIBUTION_P99);
    strbuf_addf(c->out, " %10s\n", text_ms(d->max / 1e6, text));
}

/* The spec knows a time to first token of text generation alone. */
static bool has_tokens(const char *tool)
{
    return !tool || strcmp(tool, "llm") == 0 || strcmp(tool, "vlm") == 0;
}

static void put_latencies(struct console *c)
{
    const struct summary *s = c->summary;
    strbuf_addf(c->out, "\n%s%-18s %8s %10s  %10s  %10s  %10s  %10s  %10s%s\n", bold(c), "ms", "n", "mean", "p50",
                "p90", "p95", "p99", "max", plain(c));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct distribution *d = &s->total.latency[rows[i].metric];
        if (d->n == 0 && !rows[i].always)
            continue;
        /* With a stream the spec's TTFT is the TTFT. */
        if (rows[i].metric == LATENCY_TTFT_SPEC && (s->total.latency[LATENCY_TTFT].n == d->n || !has_tokens(s->facts->tool)))
            continue;
        put_latency_row(c, rows[i].label, d);
    }
    if (c->has_thin)
        strbuf_adds(c->out, "* too few samples for this percentile: it is just the largest value\n");
}

static void put_endpoints(const struct console *c)
{
    const struct summary *s = c->summary;
    if (s->endpoint_count < 2)
        return;
    strbuf_addf(c->out, "\n%s%-24s %8s %8s %10s %10s %10s %10s%s\n", bold(c), "endpoint", "ok", "errors", "req/s",
                "TTFT p50", "time p50", "time p99", plain(c));
    for (size_t i = 0; i < s->endpoint_count; i++) {
        const struct summary_block *block = &s->endpoints[i];
        const char *name = i < s->facts->endpoint_count ? s->facts->endpoints[i].name : NULL;
        char a[REPORT_NUMBER_BYTES], b[REPORT_NUMBER_BYTES], d[REPORT_NUMBER_BYTES], e[REPORT_NUMBER_BYTES];
        const struct distribution *time = &block->latency[LATENCY_RESPONSE_TIME];
        strbuf_addf(c->out, "%-24.24s %8" PRId64 " %8" PRId64 " %10s %10s %10s %10s\n", name ? name : "-",
                    block->counts.ok, block->errors.count, text_rate(block->window_rates.requests_per_second, a),
                    text_ms(block->latency[LATENCY_TTFT].percentile[DISTRIBUTION_P50] / 1e6, b),
                    text_ms(time->percentile[DISTRIBUTION_P50] / 1e6, d),
                    text_ms(time->percentile[DISTRIBUTION_P99] / 1e6, e));
    }
}

static void put_client(const struct console *c)
{
    const struct client_figures *client = &c->summary->client;
    char a[REPORT_NUMBER_BYTES], b[REPORT_NUMBER_BYTES], d[REPORT_NUMBER_BYTES];
    strbuf_addc(c->out, '\n');
    put_label(c, "client");
    strbuf_addf(c->out, "%s of a core, lag p50 %s µs, p99 %s µs", text_rate(client->cpu_ratio, a),
                text_ms(client->lag.percentile[DISTRIBUTION_P50] / 1e3, b),
                text_ms(client->lag.percentile[DISTRIBUTION_P99] / 1e3, d));
    if (client->late_sends > 0)
        strbuf_addf(c->out, ", %" PRId64 " late send%s", client->late_sends, client->late_sends == 1 ? "" : "s");
    strbuf_addc(c->out, '\n');
}

static void put_verdict(const struct console *c)
{
    const struct validity *validity = &c->summary->validity;
    put_label(c, "valid");
    strbuf_addf(c->out, "%s%s%s\n", validity->is_valid ? green(c) : red(c), validity->is_valid ? "yes" : "NO",
                plain(c));
    for (size_t i = 0; i < validity->count; i++) {
        const struct validity_reason *reason = &validity->reasons[i];
        bool is_invalid = reason->severity == SEVERITY_INVALID;
        strbuf_addf(c->out, "  %s%s%s %s: %s\n", is_invalid ? red(c) : yellow(c), is_invalid ? "invalid" : "warning",
                    plain(c), reason->code, reason->message);
    }
}

as_status console_table(const struct summary *summary, bool has_colour, struct strbuf *ret)
{
    struct console console = {.summary = summary, .out = ret, .has_colour = has_colour};
    put_run(&console);
    put_requests(&console);
    put_errors(&console);
    put_throughput(&console);
    put_latencies(&console);
    if (summary->total.own)
        console_own(summary, ret);
    put_endpoints(&console);
    put_client(&console);
    put_verdict(&console);
    return strbuf_status(ret);
}
