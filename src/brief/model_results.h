/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_BRIEF_MODEL_RESULTS_H
#define ASSAY_BRIEF_MODEL_RESULTS_H

/* The objects under `results` of model 0.2.1. Not for use outside model_*.c. */

#include "brief/model.h"

extern const struct model_object model_statistics;
extern const struct model_object model_point;
extern const struct model_object model_series;
extern const struct model_object model_image_payload;
extern const struct model_object model_video_payload;
extern const struct model_object model_audio_payload;
extern const struct model_object model_multimodal;
extern const struct model_object model_aggregate_requests;
extern const struct model_object model_aggregate_latency;
extern const struct model_object model_aggregate_throughput;
extern const struct model_object model_aggregate_performance;
extern const struct model_object model_series_latency;
extern const struct model_object model_series_throughput;
extern const struct model_object model_series_performance;
extern const struct model_object model_request_performance;
extern const struct model_object model_sessions;
extern const struct model_object model_session_performance;
extern const struct model_object model_resources;
extern const struct model_object model_series_resources;
extern const struct model_object model_component_observability;
extern const struct model_object model_pod_startup;
extern const struct model_object model_pod_startup_times;
extern const struct model_object model_controller;
extern const struct model_object model_replica_snapshot;
extern const struct model_object model_replica_status;
extern const struct model_object model_observability;
extern const struct model_object model_replica_health;
extern const struct model_object model_component_health;
extern const struct model_object model_results;

#define MODEL_RESULTS_OBJECTS                                                                                          \
    &model_statistics, &model_point, &model_series, &model_image_payload, &model_video_payload, &model_audio_payload,  \
        &model_multimodal, &model_aggregate_requests, &model_aggregate_latency, &model_aggregate_throughput,           \
        &model_aggregate_performance, &model_series_latency, &model_series_throughput, &model_series_performance,      \
        &model_request_performance, &model_sessions, &model_session_performance, &model_resources,                     \
        &model_series_resources, &model_component_observability, &model_pod_startup, &model_pod_startup_times,         \
        &model_controller, &model_replica_snapshot, &model_replica_status, &model_observability,                       \
        &model_replica_health, &model_component_health, &model_results

#endif
