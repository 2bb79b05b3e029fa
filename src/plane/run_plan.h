/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_PLANE_RUN_PLAN_H
#define ASSAY_PLANE_RUN_PLAN_H

/*
 * What a run of a workload would be: for each scenario the replicas, the resolved commands and the readiness checks.
 * Nothing is written here; starting a run, checking and showing commands all use it, so that they cannot differ.
 * Everything lives in the call's arena. Paths of a job are relative to its folder, so that equal definitions give equal
 * commands anywhere.
 */

#include "plane/facts.h"
#include "recipe/readiness.h"
#include "recipe/replicas.h"

#define RUN_SCENARIOS_MAX 500

/* The workload with what it names. */
struct run_workload {
    int64_t id;
    const char *code, *tool, *model_code, *framework_code, *version, *build, *image, *quantization;
    const char *settings; /* JSON object */
    int64_t set_revision, gpus;
    const struct recipe_model *model;
    const struct recipe_gpu *gpu;
    const char *gpu_class;
    const struct recipe_framework *framework;
    bool has_set;
    struct facts_set set;
    struct facts_template server_template, tool_template; /* item NULL = none fits */
    const char *source_code, *source_state, *source_digest, *source_command;
    int64_t server_id; /* 0 = none is chosen */
    const char *hostname, *server_state, *labels, *secrets_present;
    int64_t last_seen_ns, disk_free_bytes; /* < 0 = not known */
    const int64_t *devices;
    size_t device_count;
};

struct run_scenario {
    int64_t id;
    const char *code;
    int64_t repetitions;
    int64_t concurrency, isl, osl, num_requests, images; /* 0 = not given */
    struct recipe_values values;                         /* of the scenario, the workload, the server and the run */
};

/* What came of one scenario. */
struct run_planned {
    const struct run_scenario *scenario;
    struct recipe_plan plan;              /* replica_count 0 = no server can be started */
    const struct recipe_command *servers; /* one an instance */
    const struct recipe_command *tool;    /* NULL = not resolved */
    struct recipe_checks checks;
    const char *trouble; /* why there is no plan or command, beyond what the checks say; NULL = nothing */
};

/* "code" and "settings" of the run, both known before it is there. */
struct run_request {
    const char *run_code;
    const struct json_value *settings;  /* object or NULL */
    const struct json_value *scenarios; /* list of codes or NULL = all that are in use */
};

as_status run_load_workload(struct plane_call *call, int64_t id, struct run_workload *ret) AS_NODISCARD;
as_status run_load_scenarios(struct plane_call *call, const struct run_workload *workload,
                             const struct run_request *request, struct run_scenario **ret,
                             size_t *ret_count) AS_NODISCARD;
as_status run_plan(struct plane_call *call, const struct run_workload *workload, const struct run_scenario *scenario,
                   const char *job_code, struct run_planned *ret) AS_NODISCARD;

#endif
