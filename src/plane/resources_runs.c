/* SPDX-License-Identifier: Apache-2.0 */
#include "plane/resources.h"
#include "plane/runs.h"

static const char *const RUN_STATES[] = {"created",    "checking",  "stopped", "queued",    "running",
                                         "cancelling", "succeeded", "failed",  "cancelled", NULL};
static const char *const JOB_STATES[] = {"queued",    "leased", "starting",  "running", "uploading", "cancelling",
                                         "succeeded", "failed", "cancelled", "lost",    NULL};
static const char *const ORIGINS[] = {"measured", "imported", NULL};
static const char *const KINDS[] = {"benchmark", "calibration", NULL};
static const char *const VERDICTS[] = {"pass", "warn", "stop", "unknown", NULL};

#define GIVEN_TIME(member, stored, sentence)                                                                           \
    {                                                                                                                  \
        .name = (member), .type = FIELD_TIME, .column = (stored), .flags = FIELD_GIVEN | FIELD_NULLABLE | FIELD_SORT,  \
        .about = (sentence)                                                                                            \
    }
#define GIVEN_COUNT(member, sentence)                                                                                  \
    {                                                                                                                  \
        .name = (member), .type = FIELD_INT, .flags = FIELD_GIVEN, .about = (sentence)                                 \
    }
#define GIVEN_TEXT(member, sentence)                                                                                   \
    {                                                                                                                  \
        .name = (member), .type = FIELD_TEXT, .flags = FIELD_GIVEN | FIELD_NULLABLE, .about = (sentence)               \
    }

/* ---- checks ---- */

static const struct field CHECK_FIELDS[] = {
    {.name = "check_code",
     .type = FIELD_KEY,
     .flags = FIELD_GIVEN,
     .about = "Which check; codes do not change their meaning."},
    {.name = "subject", .type = FIELD_TEXT, .flags = FIELD_GIVEN, .about = "Scenario it is about."},
    {.name = "verdict",
     .type = FIELD_ENUM,
     .flags = FIELD_GIVEN,
     .choices = VERDICTS,
     .about = "stop: the run does not start."},
    {.name = "can_override",
     .type = FIELD_BOOL,
     .flags = FIELD_GIVEN,
     .about = "Whether a named user may start all the same."},
    {.name = "compared", .type = FIELD_JSON, .flags = FIELD_GIVEN, .about = "What was found and what is needed."},
    {.name = "message", .type = FIELD_TEXT, .flags = FIELD_GIVEN, .about = "What it asks."},
    GIVEN_TEXT("remedy", "What to do."),
    GIVEN_TEXT("overridden_by", "Who started all the same."),
    GIVEN_TEXT("override_reason", "Why."),
};
const struct shape shape_check_result = {.name = "Check", .about = "A readiness check.", SHAPE_FIELDS(CHECK_FIELDS)};

/* ---- runs ---- */

static const struct field RUN_FIELDS[] = {
    {.name = "run_code", .type = FIELD_CODE, .flags = FIELD_GIVEN | FIELD_SORT, .about = "Natural key of the run."},
    {.name = "workload_code",
     .type = FIELD_CODE,
     .flags = FIELD_REQUIRED | FIELD_FIXED | FIELD_FILTER,
     .about = "What is run."},
    {.name = "state",
     .type = FIELD_ENUM,
     .flags = FIELD_GIVEN | FIELD_FILTER,
     .choices = RUN_STATES,
     .about = "stopped: a readiness check refused."},
    GIVEN_TEXT("reason_code", "Why it is in that state, as a code."),
    GIVEN_TEXT("reason", "The same as a sentence."),
    {.name = "note", .type = FIELD_PROSE, .flags = FIELD_NULLABLE, .max = 4000, .about = "Remark of who started it."},
    {.name = "settings",
     .type = FIELD_JSON,
     .flags = FIELD_FIXED | FIELD_DETAIL,
     .initial = "{}",
     .about = "Placeholders set for this run."},
    {.name = "cloned_from", .type = FIELD_CODE, .flags = FIELD_GIVEN | FIELD_NULLABLE, .about = "The run it repeats."},
    {.name = "requested_by", .type = FIELD_LOGIN, .flags = FIELD_GIVEN | FIELD_NULLABLE, .about = "Who started it."},
    GIVEN_COUNT("jobs_total", "Jobs in all."),
    GIVEN_COUNT("jobs_succeeded", "Jobs that succeeded."),
    GIVEN_COUNT("jobs_failed", "Jobs that failed or were lost."),
    GIVEN_TIME("started_at", "started_ns", "When its first job began."),
    GIVEN_TIME("finished_at", "finished_ns", "When its last job ended."),
    FIELDS_OF_LIFE,
    {.name = "checks",
     .type = FIELD_LIST,
     .shape = &shape_check_result,
     .flags = FIELD_GIVEN | FIELD_VIRTUAL,
     .about = "Readiness, as seen at the start."},
};
static const struct reference RUN_REFERENCES[] = {
    {"workload_id", "workloads", {"workload_code"}},
    {"cloned_from_run_id", "runs", {"cloned_from"}},
    {"requested_by_user_id", "users", {"requested_by"}},
};
static const struct resource_hooks RUN_HOOKS = {.put = runs_put_checks};

const struct resource resource_runs = {
    .shape = {.name = "Run", .about = "One execution of a workload's scenarios.", SHAPE_FIELDS(RUN_FIELDS)},
    .path = "runs",
    .singular = "run",
    .table = "runs",
    .key = {"run_code"},
    .references = RUN_REFERENCES,
    .reference_count = 3,
    .scope = RESOURCE_OWN,
    .read = RIGHT_READ,
    .change = RIGHT_WRITE,
    .sort = "-created_at",
    .hooks = &RUN_HOOKS,
};

/* ---- jobs ---- */

static const struct field COMMAND_FIELDS[] = {
    {.name = "kind", .type = FIELD_TEXT, .flags = FIELD_GIVEN, .about = "server or tool."},
    GIVEN_COUNT("ordinal", "Replica of the server."),
    {.name = "argv",
     .type = FIELD_LIST,
     .item = FIELD_TEXT,
     .flags = FIELD_GIVEN,
     .about = "Words; no shell reads them."},
    {.name = "environment", .type = FIELD_JSON, .flags = FIELD_GIVEN, .about = "Variables; secrets by name only."},
    {.name = "devices", .type = FIELD_LIST, .item = FIELD_INT, .flags = FIELD_GIVEN, .about = "GPU indices."},
    {.name = "port", .type = FIELD_INT, .flags = FIELD_GIVEN | FIELD_NULLABLE, .about = "Port of the server."},
    {.name = "command_text", .type = FIELD_PROSE, .flags = FIELD_GIVEN, .about = "Quoted for a shell, for people."},
    {.name = "digest", .type = FIELD_TEXT, .flags = FIELD_GIVEN, .about = "SHA-256 of what is executed."},
};
const struct shape shape_command = {.name = "Command", .about = "A resolved command.", SHAPE_FIELDS(COMMAND_FIELDS)};

static const struct field PLAN_FIELDS[] = {
    GIVEN_TEXT("set_code", "Engine-argument set."),
    {.name = "set_revision", .type = FIELD_INT, .flags = FIELD_GIVEN | FIELD_NULLABLE, .about = "Its revision."},
    GIVEN_TEXT("set_digest", "SHA-256 of what it launches."),
    GIVEN_TEXT("server_template_code", "Command template of the server."),
    {.name = "server_template_revision",
     .type = FIELD_INT,
     .flags = FIELD_GIVEN | FIELD_NULLABLE,
     .about = "Its revision."},
    GIVEN_TEXT("tool_template_code", "Command template of the tool."),
    {.name = "tool_template_revision",
     .type = FIELD_INT,
     .flags = FIELD_GIVEN | FIELD_NULLABLE,
     .about = "Its revision."},
    {.name = "source_code",
     .column = "prompt_source_code",
     .type = FIELD_TEXT,
     .flags = FIELD_GIVEN | FIELD_NULLABLE,
     .about = "Prompt source."},
    {.name = "source_digest",
     .column = "prompt_source_digest",
     .type = FIELD_TEXT,
     .flags = FIELD_GIVEN | FIELD_NULLABLE,
     .about = "SHA-256 of its rows."},
    {.name = "replicas", .type = FIELD_INT, .flags = FIELD_GIVEN | FIELD_NULLABLE, .about = "Servers on the host."},
    {.name = "gpus_per_replica", .type = FIELD_INT, .flags = FIELD_GIVEN | FIELD_NULLABLE, .about = "GPUs of one."},
    {.name = "request_count",
     .type = FIELD_INT,
     .flags = FIELD_GIVEN | FIELD_NULLABLE,
     .about = "Requests, as given or derived."},
    {.name = "placeholders",
     .type = FIELD_JSON,
     .flags = FIELD_GIVEN,
     .about = "Every placeholder, its value and where it came from."},
    GIVEN_TEXT("workload_digest", "Equal for jobs whose results may be compared."),
    GIVEN_TEXT("commands_digest", "SHA-256 over the commands."),
};
const struct shape shape_plan = {.name = "JobPlan", .about = "What a job pins.", SHAPE_FIELDS(PLAN_FIELDS)};

static const struct field TRANSITION_FIELDS[] = {
    GIVEN_COUNT("attempt", "Attempt of the job."),
    GIVEN_TEXT("from_state", "Before."),
    {.name = "to_state", .type = FIELD_TEXT, .flags = FIELD_GIVEN, .about = "After."},
    GIVEN_TEXT("reason_code", "Why, as a code."),
    GIVEN_TEXT("reason", "Why."),
    GIVEN_TEXT("actor", "Who."),
    {.name = "at", .type = FIELD_TIME, .column = "at_ns", .flags = FIELD_GIVEN, .about = "When."},
};
const struct shape shape_transition = {
    .name = "Transition", .about = "A change of a job's state.", SHAPE_FIELDS(TRANSITION_FIELDS)};

static const struct field JOB_FIELDS[] = {
    {.name = "job_code", .type = FIELD_CODE, .flags = FIELD_GIVEN | FIELD_SORT, .about = "Natural key of the job."},
    {.name = "run_code", .type = FIELD_CODE, .flags = FIELD_GIVEN | FIELD_FILTER, .about = "Its run."},
    {.name = "workload_code", .type = FIELD_CODE, .flags = FIELD_GIVEN | FIELD_FILTER, .about = "Its workload."},
    {.name = "scenario_code", .type = FIELD_CODE, .flags = FIELD_GIVEN | FIELD_FILTER, .about = "Its scenario."},
    GIVEN_COUNT("repetition", "Which of the scenario's repetitions."),
    {.name = "origin",
     .type = FIELD_ENUM,
     .flags = FIELD_GIVEN | FIELD_FILTER,
     .choices = ORIGINS,
     .about = "imported: measured elsewhere."},
    {.name = "kind",
     .type = FIELD_ENUM,
     .flags = FIELD_GIVEN | FIELD_FILTER,
     .choices = KINDS,
     .about = "What it does."},
    {.name = "state",
     .type = FIELD_ENUM,
     .flags = FIELD_GIVEN | FIELD_FILTER,
     .choices = JOB_STATES,
     .about = "Final ones never change."},
    GIVEN_TEXT("reason_code", "Why it is in that state, as a code."),
    GIVEN_TEXT("reason", "The same as a sentence."),
    GIVEN_COUNT("attempt", "Present or last attempt; 0: none yet."),
    GIVEN_COUNT("priority", "Higher ones are leased first."),
    {.name = "config_code",
     .type = FIELD_CODE,
     .flags = FIELD_GIVEN | FIELD_NULLABLE | FIELD_FILTER,
     .about = "Hardware of the attempt."},
    {.name = "hostname",
     .type = FIELD_CODE,
     .flags = FIELD_GIVEN | FIELD_NULLABLE | FIELD_FILTER,
     .about = "Host of the attempt."},
    GIVEN_TIME("started_at", "started_ns", "When its attempt began."),
    GIVEN_TIME("finished_at", "finished_ns", "When it ended."),
    {.name = "created_at",
     .type = FIELD_TIME,
     .column = "created_ns",
     .flags = FIELD_GIVEN | FIELD_SORT | FIELD_FILTER,
     .about = "When it was made."},
    {.name = "updated_at",
     .type = FIELD_TIME,
     .column = "updated_ns",
     .flags = FIELD_GIVEN | FIELD_SORT,
     .about = "When it was last changed."},
    {.name = "revision", .type = FIELD_INT, .column = "row_version", .flags = FIELD_GIVEN, .about = "Counts changes."},
    {.name = "plan",
     .type = FIELD_OBJECT,
     .shape = &shape_plan,
     .flags = FIELD_GIVEN | FIELD_VIRTUAL | FIELD_NULLABLE,
     .about = "What it pins."},
    {.name = "commands",
     .type = FIELD_LIST,
     .shape = &shape_command,
     .flags = FIELD_GIVEN | FIELD_VIRTUAL,
     .about = "What is executed."},
    {.name = "transitions",
     .type = FIELD_LIST,
     .shape = &shape_transition,
     .flags = FIELD_GIVEN | FIELD_VIRTUAL,
     .about = "Its states so far."},
};
static const struct reference JOB_REFERENCES[] = {
    {"run_id", "runs", {"run_code"}},
    {"workload_id", "workloads", {"workload_code"}},
    {"scenario_id", "scenarios", {"workload_code", "scenario_code"}},
    {"server_id", "servers", {"config_code", "hostname"}},
};
static const struct resource_hooks JOB_HOOKS = {.put = runs_put_job};

const struct resource resource_jobs = {
    .shape = {.name = "Job", .about = "One scenario of a run, once.", SHAPE_FIELDS(JOB_FIELDS)},
    .path = "jobs",
    .singular = "job",
    .table = "jobs",
    .key = {"job_code"},
    .references = JOB_REFERENCES,
    .reference_count = 4,
    .scope = RESOURCE_OWN,
    .read = RIGHT_READ,
    .is_permanent = true,
    .is_fixed = true,
    .sort = "-created_at",
    .hooks = &JOB_HOOKS,
};
