/* SPDX-License-Identifier: Apache-2.0 */
#include "brief/model_results.h"

#include "brief/model_fields.h"

static const struct model_field statistics_fields[] = {
    CHOICE("units", model_units, "Unit of all values.", REQUIRED),
    FLOAT("mean", "Arithmetic mean.", REQUIRED),
    ROW("mode", FIELD_NUMBER, "Most frequent value.", OPTIONAL),
    FLOAT("stddev", "Standard deviation.", MIN(0)),
    QUANTILES,
};
const struct model_object model_statistics = {"Statistics",
                                              "One property in figures; members that are not known are dropped.",
                                              FIELDS(statistics_fields), EXTRA_DROPPED, RULE_NONE};
#define statistics model_statistics

static const struct model_field point_fields[] = {
    TIME("ts", "When.", REQUIRED),
    ROW("value", FIELD_POINT, "The value.", OPTIONAL),
    FLOAT("mean", "Arithmetic mean.", OPTIONAL),
    ROW("mode", FIELD_NUMBER, "Most frequent value.", OPTIONAL),
    FLOAT("stddev", "Standard deviation.", MIN(0)),
    QUANTILES,
};
const struct model_object model_point = {"TimeSeriesPoint", "One point of a series.", FIELDS(point_fields),
                                         EXTRA_REFUSED, RULE_NONE};

static const struct model_field series_fields[] = {
    CHOICE("units", model_units, "Unit of all values.", REQUIRED),
    OBJECT("series", model_point, "The points, may be none.", REQUIRED, LIST),
};
const struct model_object model_series = {"TimeSeriesData", "Values over time.", FIELDS(series_fields), EXTRA_REFUSED,
                                          RULE_NONE};
#define series model_series

static const struct model_field image_payload_fields[] = {
    STAT("count", QUANTITY, "Media of this kind in a request.", OPTIONAL),
    STAT("filesize", MEMORY, "Encoded size of one.", OPTIONAL),
    STAT("pixels", QUANTITY, "Width times height of one, over all its frames.", OPTIONAL),
    STAT("aspect_ratio", RATIO, "Width over height of one.", OPTIONAL),
};
const struct model_object model_image_payload = {"ImagePayloadStats", "Images sent.", FIELDS(image_payload_fields),
                                                 EXTRA_REFUSED, RULE_NONE};

static const struct model_field video_payload_fields[] = {
    STAT("count", QUANTITY, "Media of this kind in a request.", OPTIONAL),
    STAT("filesize", MEMORY, "Encoded size of one.", OPTIONAL),
    STAT("pixels", QUANTITY, "Width times height of one, over all its frames.", OPTIONAL),
    STAT("aspect_ratio", RATIO, "Width over height of one.", OPTIONAL),
    STAT("frames", QUANTITY, "Frames of one.", OPTIONAL),
};
const struct model_object model_video_payload = {"VideoPayloadStats", "Videos sent.", FIELDS(video_payload_fields),
                                                 EXTRA_REFUSED, RULE_NONE};

static const struct model_field audio_payload_fields[] = {
    STAT("count", QUANTITY, "Media of this kind in a request.", OPTIONAL),
    STAT("filesize", MEMORY, "Encoded size of one.", OPTIONAL),
    STAT("duration", TIME, "Length of one.", OPTIONAL),
};
const struct model_object model_audio_payload = {"AudioPayloadStats", "Audio sent.", FIELDS(audio_payload_fields),
                                                 EXTRA_REFUSED, RULE_NONE};

static const struct model_field multimodal_fields[] = {
    OBJECT("image", model_image_payload, "Images sent.", OPTIONAL),
    OBJECT("video", model_video_payload, "Videos sent.", OPTIONAL),
    OBJECT("audio", model_audio_payload, "Audio sent.", OPTIONAL),
};
const struct model_object model_multimodal = {"MultiModalRequests", "Media sent, by kind.", FIELDS(multimodal_fields),
                                              EXTRA_REFUSED, RULE_NONE};

static const struct model_field aggregate_requests_fields[] = {
    INT("total", "Requests sent.", REQUIRED, MIN(0)),
    INT("failures", "Requests answered with an error.", MIN(0)),
    INT("incomplete", "Requests that did not complete.", MIN(0)),
    STAT("input_length", QUANTITY, "Tokens sent in a request.", OPTIONAL),
    STAT("output_length", QUANTITY, "Tokens received for a request.", OPTIONAL),
    STAT("request_size", MEMORY, "Encoded size of a request, media included.", SINCE_0_2_1),
    OBJECT("multimodal", model_multimodal, "Media sent, by kind.", SINCE_0_2_1),
};
const struct model_object model_aggregate_requests = {"AggregateRequests", "Request counts and sizes.",
                                                      FIELDS(aggregate_requests_fields), EXTRA_REFUSED, RULE_NONE};

static const struct model_field aggregate_latency_fields[] = {
    STAT("time_to_first_token", TIME, "From the request to the first token (TTFT).", OPTIONAL),
    STAT("normalized_time_per_output_token", GENERATION_LATENCY,
         "Request latency per output token, the first included (NTPOT).", OPTIONAL),
    STAT("time_per_output_token", GENERATION_LATENCY,
         "Time per output token after the first (TPOT); tools differ in how it relates to ITL.", OPTIONAL),
    STAT("inter_token_latency", GENERATION_LATENCY,
         "Gap between tokens after the first (ITL); tools differ in how it relates to TPOT.", OPTIONAL),
    STAT("request_latency", TIME, "From the request to its last token.", OPTIONAL),
};
const struct model_object model_aggregate_latency = {"AggregateLatency", "Latencies.", FIELDS(aggregate_latency_fields),
                                                     EXTRA_REFUSED, RULE_NONE};

static const struct model_field aggregate_throughput_fields[] = {
    STAT("input_token_rate", GENERATION_THROUGHPUT, "Input tokens a second.", OPTIONAL),
    STAT("output_token_rate", GENERATION_THROUGHPUT, "Output tokens a second.", OPTIONAL),
    STAT("total_token_rate", GENERATION_THROUGHPUT, "Input and output tokens a second.", OPTIONAL),
    STAT("request_rate", REQUEST_THROUGHPUT, "Requests a second.", OPTIONAL),
    STAT("image_rate", MEDIA_THROUGHPUT, "Images a second.", SINCE_0_2_1),
    STAT("video_rate", MEDIA_THROUGHPUT, "Videos a second.", SINCE_0_2_1),
    STAT("audio_rate", MEDIA_THROUGHPUT, "Audio clips a second.", SINCE_0_2_1),
};
const struct model_object model_aggregate_throughput = {"AggregateThroughput", "Rates.",
                                                        FIELDS(aggregate_throughput_fields), EXTRA_REFUSED, RULE_NONE};

static const struct model_field aggregate_performance_fields[] = {
    OBJECT("requests", model_aggregate_requests, "Request counts and sizes.", OPTIONAL),
    OBJECT("latency", model_aggregate_latency, "Latencies.", OPTIONAL),
    OBJECT("throughput", model_aggregate_throughput, "Rates.", OPTIONAL),
};
const struct model_object model_aggregate_performance = {"AggregateRequestPerformance", "Figures over all requests.",
                                                         FIELDS(aggregate_performance_fields), EXTRA_REFUSED,
                                                         RULE_NONE};

static const struct model_field series_latency_fields[] = {
    SERIES("time_to_first_token", TIME, "From the request to the first token (TTFT).", OPTIONAL),
    SERIES("normalized_time_per_output_token", GENERATION_LATENCY,
           "Request latency per output token, the first included (NTPOT).", OPTIONAL),
    SERIES("time_per_output_token", GENERATION_LATENCY,
           "Time per output token after the first (TPOT); tools differ in how it relates to ITL.", OPTIONAL),
    SERIES("inter_token_latency", GENERATION_LATENCY,
           "Gap between tokens after the first (ITL); tools differ in how it relates to TPOT.", OPTIONAL),
    SERIES("request_latency", TIME, "From the request to its last token.", OPTIONAL),
};
const struct model_object model_series_latency = {"TimeSeriesLatency", "Latencies over time.",
                                                  FIELDS(series_latency_fields), EXTRA_REFUSED, RULE_NONE};

static const struct model_field series_throughput_fields[] = {
    CHOICE("units", model_units, "Unit, also where no rate is given.", INITIAL("tokens/s")),
    SERIES("input_token_rate", GENERATION_THROUGHPUT, "Input tokens a second.", OPTIONAL),
    SERIES("output_token_rate", GENERATION_THROUGHPUT, "Output tokens a second.", OPTIONAL),
    SERIES("total_token_rate", GENERATION_THROUGHPUT, "Input and output tokens a second.", OPTIONAL),
    SERIES("request_rate", REQUEST_THROUGHPUT, "Requests a second.", OPTIONAL),
};
const struct model_object model_series_throughput = {"TimeSeriesThroughput", "Rates over time.",
                                                     FIELDS(series_throughput_fields), EXTRA_REFUSED, RULE_NONE};

static const struct model_field series_performance_fields[] = {
    OBJECT("latency", model_series_latency, "Latencies.", OPTIONAL),
    OBJECT("throughput", model_series_throughput, "Rates.", OPTIONAL),
};
const struct model_object model_series_performance = {"TimeSeriesRequestPerformance", "Figures over time.",
                                                      FIELDS(series_performance_fields), EXTRA_REFUSED, RULE_NONE};

static const struct model_field request_performance_fields[] = {
    OBJECT("aggregate", model_aggregate_performance, "Figures over all requests.", OPTIONAL),
    OBJECT("time_series", model_series_performance, "Figures over time.", OPTIONAL),
};
const struct model_object model_request_performance = {"RequestPerformance", "Results by request.",
                                                       FIELDS(request_performance_fields), EXTRA_REFUSED, RULE_NONE};

static const struct model_field sessions_fields[] = {
    INT("total", "Sessions.", REQUIRED, MIN(0)),
    INT("succeeded", "Sessions that completed.", MIN(0)),
    INT("failed", "Sessions that failed.", MIN(0)),
    INT("total_events", "Requests of all sessions.", MIN(0)),
    INT("total_events_completed", "Those that completed.", MIN(0)),
    INT("total_events_cancelled", "Those that were cancelled.", MIN(0)),
    STAT("session_rate", REQUEST_THROUGHPUT, "Sessions completed a second.", OPTIONAL),
    STAT("session_duration", TIME, "Length of a session.", OPTIONAL),
    STAT("events_per_session", QUANTITY, "Requests of a session.", OPTIONAL),
    STAT("events_cancelled_per_session", QUANTITY, "Requests of a session that were cancelled.", OPTIONAL),
    STAT("input_tokens_per_session", QUANTITY, "Input tokens of a session.", OPTIONAL),
    STAT("output_tokens_per_session", QUANTITY, "Output tokens of a session.", OPTIONAL),
};
const struct model_object model_sessions = {"SessionRequests", "Session counts and sizes.", FIELDS(sessions_fields),
                                            EXTRA_REFUSED, RULE_NONE};

static const struct model_field session_performance_fields[] = {
    OBJECT("sessions", model_sessions, "Session counts and sizes.", OPTIONAL),
};
const struct model_object model_session_performance = {"SessionPerformance", "Results by session.",
                                                       FIELDS(session_performance_fields), EXTRA_REFUSED, RULE_NONE};

static const struct model_field resources_fields[] = {
    STAT("kv_cache_usage", PORTION, "KV cache in use.", OPTIONAL),
    STAT("cache_hit_rate", PORTION, "Prefix cache lookups that hit.", OPTIONAL),
    STAT("gpu_cache_usage", PORTION, "GPU cache in use.", OPTIONAL),
    STAT("cpu_cache_usage", PORTION, "CPU cache in use.", OPTIONAL),
    STAT("gpu_memory_usage", MEMORY, "GPU memory in use.", OPTIONAL),
    STAT("cpu_memory_usage", MEMORY, "Main memory in use.", OPTIONAL),
    STAT("storage_usage", MEMORY, "Storage in use.", OPTIONAL),
    STAT("gpu_utilization", PORTION, "GPU time in use.", OPTIONAL),
    STAT("cpu_utilization", PORTION, "CPU time in use.", OPTIONAL),
    STAT("power_consumption", POWER, "Power drawn.", OPTIONAL),
    STAT("running_requests", QUANTITY, "Requests being worked on.", OPTIONAL),
    STAT("waiting_requests", QUANTITY, "Requests in the queue.", OPTIONAL),
    STAT("swapped_requests", QUANTITY, "Requests swapped out.", OPTIONAL),
    STAT("preemptions", QUANTITY, "Requests preempted for want of memory.", OPTIONAL),
};
const struct model_object model_resources = {"ResourceMetrics", "What a component used.", FIELDS(resources_fields),
                                             EXTRA_REFUSED, RULE_NONE};

static const struct model_field series_resources_fields[] = {
    SERIES("kv_cache_usage", PORTION, "KV cache in use.", OPTIONAL),
    SERIES("gpu_cache_usage", PORTION, "GPU cache in use.", OPTIONAL),
    SERIES("cpu_cache_usage", PORTION, "CPU cache in use.", OPTIONAL),
    SERIES("gpu_memory_usage", MEMORY, "GPU memory in use.", OPTIONAL),
    SERIES("cpu_memory_usage", MEMORY, "Main memory in use.", OPTIONAL),
    SERIES("storage_usage", MEMORY, "Storage in use.", OPTIONAL),
    SERIES("gpu_utilization", PORTION, "GPU time in use.", OPTIONAL),
    SERIES("cpu_utilization", PORTION, "CPU time in use.", OPTIONAL),
    SERIES("power_consumption", POWER, "Power drawn.", OPTIONAL),
    SERIES("num_requests_running", QUANTITY, "Requests being worked on.", SINCE_0_2_1),
    SERIES("num_requests_waiting", QUANTITY, "Requests in the queue.", SINCE_0_2_1),
    SERIES("num_preemptions", QUANTITY, "Preemptions since the start.", SINCE_0_2_1),
    SERIES("prefix_cache_queries", QUANTITY, "Tokens looked up in the prefix cache since the start.", SINCE_0_2_1),
    SERIES("prefix_cache_hits", QUANTITY, "Tokens found in it since the start.", SINCE_0_2_1),
    SERIES("prefix_cache_hit_rate", PORTION, "Share that was found.", SINCE_0_2_1),
    SERIES("external_prefix_cache_queries", QUANTITY, "Tokens looked up in the external prefix cache since the start.",
           SINCE_0_2_1),
    SERIES("external_prefix_cache_hits", QUANTITY, "Tokens found in it since the start.", SINCE_0_2_1),
    SERIES("external_prefix_cache_hit_rate", PORTION, "Share that was found.", SINCE_0_2_1),
    SERIES("prompt_tokens", QUANTITY, "Prompt tokens since the start.", SINCE_0_2_1),
    SERIES("generation_tokens", QUANTITY, "Generated tokens since the start.", SINCE_0_2_1),
    SERIES("pool_avg_kv_cache_utilization", PORTION, "Mean KV cache in use over the pool, as the router sees it.",
           SINCE_0_2_1),
    SERIES("pool_avg_queue_size", QUANTITY, "Mean queue over the pool.", SINCE_0_2_1),
    SERIES("pool_avg_running_requests", QUANTITY, "Mean requests being worked on over the pool.", SINCE_0_2_1),
    SERIES("pool_ready_pods", QUANTITY, "Endpoints that the router takes for ready.", SINCE_0_2_1),
};
const struct model_object model_series_resources = {"TimeSeriesResourceMetrics", "What a component used, over time.",
                                                    FIELDS(series_resources_fields), EXTRA_REFUSED, RULE_NONE};

static const struct model_field component_observability_fields[] = {
    TEXT("component_label", "Label of the component in the stack.", REQUIRED),
    TEXT("replica_id", "The replica, where it is about one.", OPTIONAL),
    OBJECT("aggregate", model_resources, "What it used.", OPTIONAL),
    OBJECT("time_series", model_series_resources, "What it used, over time.", OPTIONAL),
    TEXT("raw_data_path", "Where the samples are.", OPTIONAL),
    TEXT("graph_path", "Where a graph is.", OPTIONAL),
};
const struct model_object model_component_observability = {
    "ComponentObservability", "What was observed of one component.", FIELDS(component_observability_fields),
    EXTRA_REFUSED, RULE_NONE};

static const struct model_field pod_startup_fields[] = {
    TEXT("name", "Name of the pod.", REQUIRED),
    TEXT("model", "Model.", OPTIONAL),
    TEXT("role", "Role.", OPTIONAL),
    TEXT("node", "Node that it ran on.", OPTIONAL),
    TIME("creation_timestamp", "When it was created.", OPTIONAL),
    TIME("ready_timestamp", "When it was ready.", OPTIONAL),
    FLOAT("startup_seconds", "Seconds between.", MIN(0)),
};
const struct model_object model_pod_startup = {"PodStartupInfo", "Start of one pod.", FIELDS(pod_startup_fields),
                                               EXTRA_REFUSED, RULE_NONE};

static const struct model_field pod_startup_times_fields[] = {
    TIME("collected_at", "When this was collected.", OPTIONAL),
    OBJECT("pods", model_pod_startup, "One entry a pod.", LIST),
    STAT("aggregate", ANY, "Figures over all pods.", OPTIONAL),
    TEXT("graph_path", "Where a graph is.", OPTIONAL),
};
const struct model_object model_pod_startup_times = {"PodStartupTimes", "Start of the pods.",
                                                     FIELDS(pod_startup_times_fields), EXTRA_REFUSED, RULE_NONE};

static const struct model_field controller_fields[] = {
    TEXT("kind", "Kind of controller.", REQUIRED),
    TEXT("name", "Its name.", REQUIRED),
    TEXT("model", "Model.", OPTIONAL),
    TEXT("role", "Role.", OPTIONAL),
    INT("desired_replicas", "Replicas asked for.", REQUIRED, MIN(0)),
    INT("available_replicas", "Replicas available.", REQUIRED, MIN(0)),
    INT("ready_replicas", "Replicas ready.", REQUIRED, MIN(0)),
    INT("updated_replicas", "Replicas updated.", MIN(0)),
};
const struct model_object model_controller = {"ControllerReplicaStatus", "Replicas of one controller.",
                                              FIELDS(controller_fields), EXTRA_REFUSED, RULE_NONE};

static const struct model_field replica_snapshot_fields[] = {
    TIME("timestamp", "When.", OPTIONAL),
    TEXT("namespace", "Namespace.", OPTIONAL),
    OBJECT("controllers", model_controller, "One entry a controller.", LIST),
};
const struct model_object model_replica_snapshot = {"ReplicaStatusSnapshot", "Replicas at one time.",
                                                    FIELDS(replica_snapshot_fields), EXTRA_REFUSED, RULE_NONE};

static const struct model_field replica_status_fields[] = {
    TEXT("namespace", "Namespace.", OPTIONAL),
    TIME("timestamp", "When it was last looked at.", OPTIONAL),
    OBJECT("controllers", model_controller, "One entry a controller, when last looked at.", LIST),
    OBJECT("time_series", model_replica_snapshot, "The same over time.", LIST),
    STAT("aggregate_ready_replicas", ANY, "Ready replicas over time.", OPTIONAL),
    TEXT("graph_path", "Where a graph is.", OPTIONAL),
};
const struct model_object model_replica_status = {"ReplicaStatus", "Replicas of the controllers.",
                                                  FIELDS(replica_status_fields), EXTRA_REFUSED, RULE_NONE};

static const struct model_field observability_fields[] = {
    OBJECT("components", model_component_observability, "One entry a component.", LIST),
    STAT("drop_rate", PORTION, "Requests dropped.", OPTIONAL),
    OBJECT("pod_startup_times", model_pod_startup_times, "Start of the pods.", OPTIONAL),
    OBJECT("replica_status", model_replica_status, "Replicas of the controllers.", OPTIONAL),
};
const struct model_object model_observability = {
    "Observability", "What was observed besides requests; further members are kept as they are.",
    FIELDS(observability_fields), EXTRA_KEPT, RULE_NONE};

static const struct model_field replica_health_fields[] = {
    TEXT("replica_id", "Name of the replica.", REQUIRED),
    INT("restarts", "Restarts during the run.", MIN(0)),
    ROW("healthy", FIELD_BOOL, "Healthy at the end.", OPTIONAL),
    TEXT("logs", "Where its logs are.", OPTIONAL),
};
const struct model_object model_replica_health = {"ReplicaHealth", "Health of one replica.",
                                                  FIELDS(replica_health_fields), EXTRA_REFUSED, RULE_NONE};

static const struct model_field component_health_fields[] = {
    TEXT("component_label", "Label of the component in the stack.", REQUIRED),
    INT("total_restarts", "Restarts of all replicas during the run.", MIN(0)),
    INT("failed_replicas", "Replicas that failed during the run.", MIN(0)),
    OBJECT("replica_health", model_replica_health, "One entry a replica.", LIST),
};
const struct model_object model_component_health = {"ComponentHealth", "Health of one component.",
                                                    FIELDS(component_health_fields), EXTRA_REFUSED, RULE_NONE};

static const struct model_field results_fields[] = {
    OBJECT("request_performance", model_request_performance, "Results by request.", OPTIONAL),
    OBJECT("session_performance", model_session_performance, "Results by session.", OPTIONAL),
    OBJECT("observability", model_observability, "What was observed besides requests.", OPTIONAL),
    ROW("profiling", FIELD_ANY, "Profiling results, in any form.", OPTIONAL),
    OBJECT("component_health", model_component_health, "Health of the components.", LIST),
};
const struct model_object model_results = {"Results", "Results.", FIELDS(results_fields), EXTRA_REFUSED, RULE_NONE};
