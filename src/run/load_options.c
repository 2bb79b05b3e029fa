/* SPDX-License-Identifier: Apache-2.0 */
#include "run/config.h"
#include "run/shard.h"

static as_status check_shard(const char *text, struct as_error *err)
{
    int64_t index, count;
    return shard_parse(text, &index, &count) ? AS_OK : error_set(err, AS_E_USAGE, "is not i/n with i below n");
}

static const char *const ARRIVALS[] = {"constant", "poisson", "gamma", NULL};

#define GROUP .group = "Load"
#define AT(field) .at = offsetof(struct load_config, field)

static const struct opt OPTIONS[] = {
    {.name = "num-requests", .type = OPT_INT, AT(num_requests), GROUP, .min = 1, .max = 1e12, .example = "100",
     .initial_note = "max(4, concurrency × 4) when there is no time limit either",
     .sentence = "Requests to send, warm-up not counted."},
    {.name = "duration", .type = OPT_DURATION, AT(duration_ns), GROUP, .value = "SECONDS", .unit = "s", .positive = true, .max = 31536000,
     .example = "60", .sentence = "Length of the measured part: no new request after it, those in flight end."},
    {.name = "stop-after-seconds", .type = OPT_DURATION, AT(stop_after_ns), GROUP, .value = "SECONDS", .unit = "s", .positive = true,
     .max = 31536000, .example = "60", .sentence = "The same, counted from the start of the run."},
    {.name = "concurrency", .type = OPT_INT, AT(concurrency), GROUP, .initial = "1", .min = 1, .max = 1000000, .example = "8", .modes = RUN_CLOSED,
     .sentence = "Requests in flight; the next one begins when one has ended."},
    {.name = "request-rate", .type = OPT_DOUBLE, AT(rate_per_s), GROUP, .value = "R|inf", .unit = "requests/s", .positive = true, .max = 1e7,
     .allow_inf = true, .example = "10",
     .sentence = "Send at planned times, R a second, whatever the server does. inf with a concurrency is a closed loop, alone all at once."},
    {.name = "max-concurrency", .type = OPT_INT, AT(max_concurrency), GROUP, .min = 1, .max = 1000000, .example = "64",
     .sentence = "With a rate: most requests in flight, waiting shows as queue delay. Without one, or with inf: --concurrency."},
    {.name = "arrival", .type = OPT_ENUM, AT(arrival), GROUP, .choices = ARRIVALS, .initial = "poisson",
     .initial_note = "gamma where --burstiness is given", .modes = RUN_OPEN, .sentence = "How send times are spread."},
    {.name = "burstiness", .type = OPT_DOUBLE, AT(burstiness), GROUP, .value = "B", .initial = "1", .positive = true, .max = 1e6, .example = "0.5",
     .modes = RUN_OPEN, .sentence = "Shape of gamma gaps: 1 is Poisson, less is burstier, more is smoother."},
    {.name = "ramp-up-seconds", .type = OPT_DURATION, AT(ramp_up_ns), GROUP, .value = "SECONDS", .unit = "s", .initial = "0", .max = 86400,
     .example = "10", .modes = RUN_CLOSED,
     .sentence = "Raise the concurrency from 1 to its target in this time; what completes in it is not measured. 0 is no ramp."},
    {.name = "warmup-requests", .type = OPT_INT, AT(warmup_requests), GROUP, .initial = "0", .max = 1e9, .example = "10",
     .sentence = "The first N requests of the plan are sent and kept, but not measured."},
    {.name = "warmup-barrier", .type = OPT_FLAG, AT(warmup_barrier), GROUP, .needs = "warmup-requests",
     .sentence = "The first measured request waits for the last warm-up request."},
    {.name = "seed", .type = OPT_INT, AT(seed), GROUP, .initial = "0", .max = 9007199254740991, .example = "1",
     .sentence = "Decides order of prompts, generated prompts and send times. The same seed gives the same plan."},
    {.name = "shard", .type = OPT_STRING, AT(shard), GROUP, .value = "i/n", .check = check_shard, .allowed = "i/n with 0 ≤ i < n ≤ 65536",
     .example = "0/2", .sentence = "Send only requests i, i+n, i+2n, … of the plan; `assay summarize` joins the shards."},
    {.name = "drain-seconds", .type = OPT_DURATION, AT(drain_ns), GROUP, .value = "SECONDS", .unit = "s", .initial = "30", .max = 86400,
     .sentence = "How long requests in flight may go on after a stop by a signal."},
};
const struct opt_table LOAD_TABLE = OPT_TABLE(OPTIONS, offsetof(struct run_config, load));
