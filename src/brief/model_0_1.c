/* SPDX-License-Identifier: Apache-2.0 */
#include "brief/model.h"

#include "brief/model_fields.h"

#define METADATA ROW("metadata", FIELD_ANY, "Anything that the format has no field for.", OPTIONAL)
/* Objects of 0.1 drop members that they do not know. */
#define DROPS .extra = EXTRA_DROPPED

static const char *const HOST_TYPE_WORDS[] = {"replica", "prefill", "decode", NULL};
static const struct model_choices host_types = {
    "HostType", "What an instance of the service does: all of it, or one phase.", HOST_TYPE_WORDS};
static const char *const GENERATOR_WORDS[] = {"aiperf", "guidellm", "inferencemax", "inference-perf", "vllm-benchmark",
                                              "nop",    NULL};
static const struct model_choices generators = {"WorkloadGenerator", "The program that made the load.",
                                                GENERATOR_WORDS};

static const struct model_field statistics_fields[] = {
    CHOICE("units", model_units, "Unit of all values.", REQUIRED),
    FLOAT("mean", "Arithmetic mean.", REQUIRED),
    ROW("mode", FIELD_NUMBER, "Most frequent value.", OPTIONAL),
    FLOAT("stddev", "Standard deviation.", OPTIONAL),
    QUANTILES,
};
static const struct model_object statistics = {"Statistics", "One property in figures.", FIELDS(statistics_fields),
                                               DROPS, RULE_NONE};

static const struct model_field parallelism_fields[] = {
    INT("dp", "Data parallelism.", INITIAL("1")),
    INT("tp", "Tensor parallelism.", INITIAL("1")),
    INT("pp", "Pipeline parallelism.", INITIAL("1")),
    INT("ep", "Expert parallelism.", INITIAL("1")),
};
static const struct model_object parallelism = {"Parallelism", "How a model is spread over accelerators.",
                                                FIELDS(parallelism_fields), DROPS, RULE_NONE};

static const struct model_field host_accelerator_fields[] = {
    TEXT("model", "Name of the hardware.", REQUIRED),
    ROW("memory", FIELD_NUMBER, "Memory of one accelerator, GB.", OPTIONAL),
    INT("count", "How many accelerators.", REQUIRED),
    OBJECT("parallelism", parallelism, "How the model is spread over them.", OPTIONAL),
    METADATA,
};
static const struct model_object host_accelerator = {"HostAccelerator", "The accelerators of one instance.",
                                                     FIELDS(host_accelerator_fields), DROPS, RULE_NONE};

static const struct model_field host_fields[] = {
    OBJECT("accelerator", host_accelerator, "One entry an instance.", REQUIRED, LIST),
    CHOICE("type", host_types, "One entry an instance; replica does not go with prefill or decode.", REQUIRED, LIST),
    METADATA,
};
static const struct model_object host = {"Host", "The hardware that the service runs on.", FIELDS(host_fields), DROPS,
                                         RULE_HOST_TYPES};

static const struct model_field engine_fields[] = {
    TEXT("name", "Name of the engine.", REQUIRED),
    TEXT("version", "Its version.", OPTIONAL),
    ROW("args", FIELD_ARGS, "Its arguments.", .initial = "{}"),
    METADATA,
};
static const struct model_object engine = {"EngineDetails", "One inference engine.", FIELDS(engine_fields), DROPS,
                                           RULE_NONE};

static const struct model_field platform_fields[] = {
    OBJECT("engine", engine, "One entry an instance.", REQUIRED, LIST),
    METADATA,
};
static const struct model_object platform = {"Platform", "The software that serves the model.", FIELDS(platform_fields),
                                             DROPS, RULE_NONE};

static const struct model_field served_model_fields[] = {
    TEXT("name", "Name of the model.", REQUIRED),
    TEXT("quantization", "How its weights are quantised.", OPTIONAL),
    ROW("adapters", FIELD_TEXT_PAIRS, "Adapters, kind to name.", LIST),
    METADATA,
};
static const struct model_object served_model = {"Model", "The model that is served.", FIELDS(served_model_fields),
                                                 DROPS, RULE_NONE};

static const struct model_field load_fields[] = {
    CHOICE("name", generators, "The load generator.", REQUIRED),
    TEXT("type", "Kind of load.", OPTIONAL),
    ROW("args", FIELD_ARGS, "Arguments of the generator.", OPTIONAL),
    METADATA,
};
static const struct model_object load = {"Load", "The load.", FIELDS(load_fields), DROPS, RULE_NONE};

static const struct model_field scenario_fields[] = {
    TEXT("description", "What was measured, in words.", OPTIONAL),
    OBJECT("host", host, "Hardware.", OPTIONAL),
    OBJECT("platform", platform, "Software.", OPTIONAL),
    OBJECT("model", served_model, "Model.", REQUIRED),
    OBJECT("load", load, "Load.", REQUIRED),
    METADATA,
};
static const struct model_object scenario = {"Scenario", "What was measured.", FIELDS(scenario_fields), DROPS,
                                             RULE_NONE};

static const struct model_field time_fields[] = {
    FLOAT("duration", "Seconds.", REQUIRED),
    FLOAT("start", "Unix seconds.", OPTIONAL),
    FLOAT("stop", "Unix seconds.", OPTIONAL),
    METADATA,
};
static const struct model_object time_object = {"Time", "When it was measured.", FIELDS(time_fields), DROPS, RULE_NONE};

static const struct model_field requests_fields[] = {
    INT("total", "Requests.", REQUIRED),
    INT("failures", "Requests answered with an error.", OPTIONAL),
    INT("incomplete", "Requests that did not complete.", OPTIONAL),
    STAT("input_length", QUANTITY, "Tokens sent in a request.", REQUIRED),
    STAT("output_length", QUANTITY, "Tokens received for a request.", REQUIRED),
};
static const struct model_object requests = {"Requests", "Request counts and lengths.", FIELDS(requests_fields), DROPS,
                                             RULE_NONE};

static const struct model_field latency_fields[] = {
    STAT("time_to_first_token", TIME, "From the request to the first token (TTFT).", REQUIRED),
    STAT("normalized_time_per_output_token", GENERATION_LATENCY, "Request latency per output token (NTPOT).", OPTIONAL),
    STAT("time_per_output_token", GENERATION_LATENCY, "Time per output token without the first (TPOT).", OPTIONAL),
    STAT("inter_token_latency", GENERATION_LATENCY, "Gap between tokens (ITL).", OPTIONAL),
    STAT("request_latency", TIME, "From the request to its last token.", OPTIONAL),
};
static const struct model_object latency = {"Latency", "Latencies.", FIELDS(latency_fields), DROPS, RULE_NONE};

static const struct model_field throughput_fields[] = {
    FLOAT("input_tokens_per_sec", "Input tokens a second.", OPTIONAL),
    FLOAT("output_tokens_per_sec", "Output tokens a second.", OPTIONAL),
    FLOAT("total_tokens_per_sec", "Input and output tokens a second.", REQUIRED),
    FLOAT("requests_per_sec", "Requests a second.", OPTIONAL),
};
static const struct model_object throughput = {"Throughput", "Rates.", FIELDS(throughput_fields), DROPS, RULE_NONE};

static const struct model_field service_fields[] = {
    STAT("batch_size", QUANTITY, "Requests in a batch.", OPTIONAL),
    STAT("queue_size", QUANTITY, "Requests that wait.", OPTIONAL),
    STAT("kv_cache_size", QUANTITY, "Size of the KV cache.", OPTIONAL),
};
static const struct model_object service = {"Service", "What the service says of itself.", FIELDS(service_fields),
                                            DROPS, RULE_NONE};

static const struct model_field memory_fields[] = {
    STAT("consumption", MEMORY, "Memory in use.", OPTIONAL),
    STAT("utilization", PORTION, "Share of the memory in use.", OPTIONAL),
    STAT("bandwidth", BANDWIDTH, "Memory traffic.", OPTIONAL),
};
static const struct model_object memory = {"MemoryMetrics", "Accelerator memory.", FIELDS(memory_fields), DROPS,
                                           RULE_NONE};

static const struct model_field compute_fields[] = {
    STAT("utilization", PORTION, "Share of the time in use.", OPTIONAL),
};
static const struct model_object compute = {"ComputeMetrics", "Accelerator compute.", FIELDS(compute_fields), DROPS,
                                            RULE_NONE};

static const struct model_field accelerator_metrics_fields[] = {
    OBJECT("memory", memory, "Memory.", OPTIONAL),
    OBJECT("compute", compute, "Compute.", OPTIONAL),
    STAT("power", POWER, "Power drawn.", OPTIONAL),
};
static const struct model_object accelerator_metrics = {"AcceleratorMetrics", "One accelerator.",
                                                        FIELDS(accelerator_metrics_fields), DROPS, RULE_NONE};

static const struct model_field resource_fields[] = {
    OBJECT("accelerator", accelerator_metrics, "One entry an instance.", REQUIRED, LIST),
};
static const struct model_object resources = {"ResourceMetrics", "Hardware in use.", FIELDS(resource_fields), DROPS,
                                              RULE_NONE};

static const struct model_field metrics_fields[] = {
    OBJECT("time", time_object, "Times.", REQUIRED),         OBJECT("requests", requests, "Requests.", REQUIRED),
    OBJECT("latency", latency, "Latencies.", REQUIRED),      OBJECT("throughput", throughput, "Rates.", REQUIRED),
    OBJECT("service", service, "The service.", OPTIONAL),    OBJECT("resources", resources, "The hardware.", OPTIONAL),
    TEXT("description", "The results, in words.", OPTIONAL), METADATA,
};
static const struct model_object metrics = {"Metrics", "Results.", FIELDS(metrics_fields), DROPS, RULE_NONE};

static const char *const VERSION_WORDS[] = {"0.1", NULL};
static const struct model_choices version_words = {NULL, NULL, VERSION_WORDS};
static const struct model_field top_fields[] = {
    ROW("version", FIELD_TEXT, "Version of the format.", INITIAL("0.1"), .choices = &version_words),
    OBJECT("scenario", scenario, "What was measured.", REQUIRED),
    OBJECT("metrics", metrics, "Results.", REQUIRED),
    METADATA,
};
static const struct model_object top = {"BenchmarkReportV01", "A benchmark report 0.1.", FIELDS(top_fields), DROPS,
                                        RULE_ENGINE_COUNTS};

static const struct model_object *const OBJECTS[] = {&accelerator_metrics,
                                                     &compute,
                                                     &engine,
                                                     &host,
                                                     &host_accelerator,
                                                     &latency,
                                                     &load,
                                                     &memory,
                                                     &metrics,
                                                     &served_model,
                                                     &parallelism,
                                                     &platform,
                                                     &requests,
                                                     &resources,
                                                     &scenario,
                                                     &service,
                                                     &statistics,
                                                     &throughput,
                                                     &time_object,
                                                     NULL};
static const struct model_choices *const CHOICES[] = {&host_types, &model_units, &generators, NULL};

const struct model model_0_1 = {.version = "0.1",
                                .reads = VERSION_WORDS,
                                .title = "BenchmarkReportV01",
                                .top = &top,
                                .objects = OBJECTS,
                                .choices = CHOICES};
