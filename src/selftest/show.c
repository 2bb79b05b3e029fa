/* SPDX-License-Identifier: Apache-2.0 */
#include "selftest/selftest.h"

#include "base/json_write.h"

#include <math.h>
#include <stdio.h>

static void put_cell(struct strbuf *out, double value, int decimals)
{
    char cell[32];
    if (isnan(value))
        (void)snprintf(cell, sizeof(cell), "-");
    else
        (void)snprintf(cell, sizeof(cell), "%.*f", decimals, value);
    strbuf_addf(out, "%12s", cell);
}

static void put_costs(const struct selftest_report *report, struct strbuf *out)
{
    strbuf_addf(out, "%-12s%12s%12s%12s%12s%12s%12s\n", "cost", "connections", "requests/s", "chunks/s", "us/request",
                "us/chunk", "% of a CPU");
    for (size_t i = 0; i < report->load_count; i++) {
        const struct selftest_load *load = &report->loads[i];
        strbuf_addf(out, "%-12s%12lld", load->name, (long long)load->connections);
        put_cell(out, load->requests_per_s, 0);
        put_cell(out, load->chunks_per_s, 0);
        put_cell(out, load->chunks > 0 ? NAN : load->cpu_us_per_request, 2);
        put_cell(out, load->cpu_us_per_chunk, load->cpu_us_per_chunk < 1 ? 3 : 2);
        put_cell(out, 100 * load->cpu_ratio, 0);
        strbuf_addc(out, '\n');
    }
}

static void put_errors(const struct selftest_report *report, struct strbuf *out)
{
    strbuf_addf(out, "\n%-12s%12s%12s%12s%12s%12s%12s%12s\n", "error, us", "TTFT p50", "TTFT p99", "chunk p50",
                "chunk p99", "user p99", "lag p99", "shared %");
    for (size_t i = 0; i < report->load_count; i++) {
        const struct selftest_load *load = &report->loads[i];
        const struct timing *timing = &load->timing;
        if (!load->has_timing)
            continue;
        strbuf_addf(out, "%-12lld", (long long)load->connections);
        put_cell(out, timing->ttft_p50_us, 1);
        put_cell(out, timing->ttft_p99_us, 1);
        put_cell(out, timing->chunk_p50_us, 1);
        put_cell(out, timing->chunk_p99_us, 1);
        put_cell(out, timing->user_ttft_p99_us, 1);
        put_cell(out, load->read_lag_p99_us, 1);
        put_cell(out, timing->chunks ? 100.0 * (double)timing->shared / (double)timing->chunks : NAN, 2);
        strbuf_addc(out, '\n');
    }
}

static void put_limit(const struct selftest_report *report, struct strbuf *out)
{
    strbuf_adds(out, "\nlimit       ");
    if (!isnan(report->held_chunks_per_s))
        strbuf_addf(out, "one client thread held %.0f chunks/s as offered", report->held_chunks_per_s);
    else
        strbuf_adds(out, "one client thread held none of the rates");
    switch (report->limit) {
    case SELFTEST_LIMIT_NONE:
        strbuf_adds(out, ", the largest that was tried\n");
        break;
    case SELFTEST_LIMIT_CLIENT:
        strbuf_addf(out, "; at %.0f it was the bottleneck\n", report->over_chunks_per_s);
        break;
    case SELFTEST_LIMIT_SIMULATOR:
        strbuf_adds(out, "; beyond that the simulator was the bottleneck\n");
        break;
    }
}

void selftest_show(const struct selftest_report *report, struct strbuf *out)
{
    if (report->client_cpu >= 0)
        strbuf_addf(out, "%d CPUs: simulator on CPU %d, client on CPU %d, 1 thread each\n\n", report->cpu_count,
                    report->sim_cpu, report->client_cpu);
    else
        strbuf_adds(out, "one CPU for simulator and client: figures are of both together\n\n");
    put_costs(report, out);
    put_errors(report, out);
    put_limit(report, out);
    strbuf_adds(out, "\nCPU time is the client's, records and summary included. Errors are against the simulator's "
                     "truth log, by kernel stamps; \"user\" is\n"
                     "TTFT by the client's own clock, \"lag\" how far its reads are behind the kernel; \"shared\" "
                     "chunks came in one read with a later\n"
                     "one and have no time of their own. A row's rates count the whole run, its beginning and end "
                     "included: they are "
                     "below the offered ones.\n");
}

static void put_timing(struct json_writer *json, const struct timing *timing)
{
    json_key(json, "timing");
    json_open_object(json);
    json_member_int(json, "requests", timing->requests);
    json_member_int(json, "chunks", timing->chunks);
    json_member_int(json, "shared_chunks", timing->shared);
    json_member_double(json, "ttft_error_p50_us", timing->ttft_p50_us);
    json_member_double(json, "ttft_error_p99_us", timing->ttft_p99_us);
    json_member_double(json, "chunk_error_p50_us", timing->chunk_p50_us);
    json_member_double(json, "chunk_error_p99_us", timing->chunk_p99_us);
    json_member_double(json, "chunk_error_max_us", timing->chunk_max_us);
    json_member_double(json, "user_ttft_error_p99_us", timing->user_ttft_p99_us);
    json_member_double(json, "simulator_late_p99_us", timing->sim_late_p99_us);
    json_close_object(json);
}

static void put_load(struct json_writer *json, const struct selftest_load *load)
{
    json_open_object(json);
    json_member_string(json, "name", load->name);
    json_member_int(json, "connections", load->connections);
    json_member_int(json, "ok", load->ok);
    json_member_int(json, "failed", load->failed);
    json_member_int(json, "chunks", load->chunks);
    json_member_double(json, "requests_per_second", load->requests_per_s);
    json_member_double(json, "chunks_per_second", load->chunks_per_s);
    json_member_double(json, "client_cpu_ratio", load->cpu_ratio);
    json_member_double(json, "client_cpu_us_per_request", load->cpu_us_per_request);
    json_member_double(json, "client_cpu_us_per_chunk", load->cpu_us_per_chunk);
    json_member_double(json, "read_lag_p99_us", load->read_lag_p99_us);
    if (load->has_timing)
        put_timing(json, &load->timing);
    json_close_object(json);
}

void selftest_json(const struct selftest_report *report, struct strbuf *out)
{
    static const char *const limits[] = {"none", "client", "simulator"};
    struct json_writer json;
    json_writer_init(&json, out, 0);
    json_open_object(&json);
    json_member_string(&json, "schema", "assay-selftest.v1");
    json_member_int(&json, "cpus", report->cpu_count);
    json_member_int(&json, "simulator_cpu", report->sim_cpu);
    json_member_int(&json, "client_cpu", report->client_cpu);
    json_key(&json, "loads");
    json_open_array(&json);
    for (size_t i = 0; i < report->load_count; i++)
        put_load(&json, &report->loads[i]);
    json_close_array(&json);
    json_member_string(&json, "limit", limits[report->limit]);
    json_member_double(&json, "held_chunks_per_second", report->held_chunks_per_s);
    json_member_double(&json, "too_many_chunks_per_second", report->over_chunks_per_s);
    json_close_object(&json);
    strbuf_addc(out, '\n');
}
