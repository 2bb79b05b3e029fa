/* SPDX-License-Identifier: Apache-2.0 */
#include "brief/model.h"

#include "brief/model_fields.h"
#include "brief/model_results.h"

static const char *const ROLE_WORDS[] = {"replica", "prefill", "decode", NULL};
static const struct model_choices roles = {"HostType", "What an engine does: all of the work, or one phase.",
                                           ROLE_WORDS};
static const char *const SOURCE_WORDS[] = {"random", "sampled", "unknown", NULL};
static const struct model_choices sources = {"LoadSource", "Where input tokens come from.", SOURCE_WORDS};
static const char *const DISTRIBUTION_WORDS[] = {"fixed", "gaussian", "uniform", "other", NULL};
static const struct model_choices distributions = {"Distribution", "How lengths are distributed.", DISTRIBUTION_WORDS};
static const char *const GENERIC_WORDS[] = {"generic", NULL};
static const struct model_choices generic_kind = {NULL, NULL, GENERIC_WORDS};
static const char *const ENGINE_WORDS[] = {"inference_engine", NULL};
static const struct model_choices engine_kind = {NULL, NULL, ENGINE_WORDS};

static const struct model_field time_fields[] = {
    TIME("start", "When the experiment began.", OPTIONAL),
    TIME("end", "When it ended.", OPTIONAL),
    TEXT("duration", "How long it took, as an ISO 8601 duration.", OPTIONAL),
};
static const struct model_object run_time = {"RunTime", "Times of the experiment.", FIELDS(time_fields), EXTRA_REFUSED,
                                             RULE_NONE};

static const struct model_field run_fields[] = {
    TEXT("uid", "Identity of this report.", REQUIRED),
    TEXT("eid", "Identity of the experiment, shared by its reports.", OPTIONAL),
    TEXT("cid", "Identity of the cluster.", OPTIONAL),
    TEXT("pid", "Identity of the pod that made the load or the report.", OPTIONAL),
    OBJECT("time", run_time, "Times of the experiment.", OPTIONAL),
    TEXT("user", "Who ran the experiment.", OPTIONAL),
    TEXT("description", "Label of the run for people.", OPTIONAL),
    TEXT("keywords", "Tags that the submitter gave.", LIST),
};
static const struct model_object run = {"Run", "The benchmark run.", FIELDS(run_fields), EXTRA_REFUSED, RULE_NONE};

#define NATIVE_FIELDS                                                                                                  \
    ROW("args", FIELD_ARGS, "Command line arguments.", OPTIONAL),                                                      \
        ROW("envars", FIELD_ARGS, "Environment variables.", OPTIONAL),                                                 \
        ROW("config", FIELD_ANY, "The configuration, as the tool has it.", OPTIONAL)

static const struct model_field component_metadata_fields[] = {
    TEXT("schema_version", "Version of the component's schema.", INITIAL("0.0.1")),
    TEXT("label", "Name of the component, unique in the stack.", REQUIRED),
    TEXT("cfg_id", "Hash of its configuration.", REQUIRED),
    TEXT("description", "The component, in words.", OPTIONAL),
};
static const struct model_object component_metadata = {"ComponentMetadata", "What identifies a component.",
                                                       FIELDS(component_metadata_fields), EXTRA_REFUSED, RULE_NONE};

static const struct model_field component_native_fields[] = {NATIVE_FIELDS};
static const struct model_object component_native = {"ComponentNative", "A component's configuration in its own form.",
                                                     FIELDS(component_native_fields), EXTRA_REFUSED, RULE_NONE};

#define KIND_FIELDS(list)                                                                                              \
    ROW("kind", FIELD_CONST, "Kind of component.", REQUIRED, .choices = &(list)),                                      \
        TEXT("tool", "The program.", REQUIRED), TEXT("tool_version", "Its version.", REQUIRED)

static const struct model_field generic_fields[] = {KIND_FIELDS(generic_kind)};
static const struct model_object generic = {"Generic",
                                            "A component of another kind; further members are kept as they are.",
                                            FIELDS(generic_fields), EXTRA_KEPT, RULE_NONE};

static const struct model_field engine_model_fields[] = {TEXT("name", "Name of the model.", REQUIRED)};
static const struct model_object engine_model = {"InferenceEngineModel", "The model that an engine serves.",
                                                 FIELDS(engine_model_fields), EXTRA_REFUSED, RULE_NONE};

static const struct model_field engine_parallelism_fields[] = {
    INT("tp", "Tensor parallelism.", MIN(0), INITIAL("1")),
    INT("dp", "Data parallelism.", MIN(0), INITIAL("1")),
    INT("dp_local", "Data parallelism within this instance.", MIN(0), INITIAL("1")),
    INT("workers", "Workers.", MIN(0), INITIAL("1")),
    INT("ep", "Expert parallelism.", MIN(1), INITIAL("1")),
    INT("pp", "Pipeline parallelism.", MIN(1), INITIAL("1")),
};
static const struct model_object engine_parallelism = {"InferenceEngineParallelism",
                                                       "How a model is spread over accelerators.",
                                                       FIELDS(engine_parallelism_fields), EXTRA_REFUSED, RULE_NONE};

static const struct model_field engine_accelerator_fields[] = {
    TEXT("model", "Name of the hardware.", REQUIRED),
    INT("count", "Accelerators in use, in all.", REQUIRED, MIN(0)),
    OBJECT("parallelism", engine_parallelism, "How the model is spread over them.", REQUIRED),
};
static const struct model_object engine_accelerator = {"InferenceEngineAccelerator", "The accelerators of an engine.",
                                                       FIELDS(engine_accelerator_fields), EXTRA_REFUSED, RULE_NONE};

static const struct model_field engine_fields[] = {
    KIND_FIELDS(engine_kind),
    CHOICE("role", roles, "What the engine does.", REQUIRED),
    INT("replicas", "Replicas.", REQUIRED, MIN(1)),
    OBJECT("model", engine_model, NULL, REQUIRED),
    OBJECT("accelerator", engine_accelerator, NULL, REQUIRED),
};
static const struct model_object inference_engine = {"InferenceEngine", "An inference engine.", FIELDS(engine_fields),
                                                     EXTRA_REFUSED, RULE_NONE};
static const struct model_object *const KINDS[] = {&generic, &inference_engine, NULL};

static const struct model_field component_fields[] = {
    OBJECT("metadata", component_metadata, NULL, REQUIRED),
    ROW("standardized", FIELD_VARIANT, "The configuration in the same form for every component of a kind.", REQUIRED,
        .variants = KINDS),
    OBJECT("native", component_native, NULL, REQUIRED),
};
static const struct model_object component = {"Component", "A part of the stack.", FIELDS(component_fields),
                                              EXTRA_REFUSED, RULE_NONE};

static const struct model_field load_metadata_fields[] = {
    TEXT("schema_version", "Version of the load's schema.", INITIAL("0.0.1")),
    TEXT("cfg_id", "Hash of the load's configuration.", OPTIONAL),
    TEXT("description", "The load, in words.", OPTIONAL),
    TEXT("treatment", "Treatment of the experiment that gave these results.", SINCE_0_2_1),
    TEXT("treatment_group", "Group whose treatments ran at the same time.", SINCE_0_2_1),
    TEXT("concurrent_with",
         "Treatments that ran at the same time against the same endpoint: the results then hold their load too.", LIST,
         SINCE_0_2_1),
};
static const struct model_object load_metadata = {"LoadMetadata", "What identifies a load.",
                                                  FIELDS(load_metadata_fields), EXTRA_REFUSED, RULE_NONE};

static const struct model_field load_native_fields[] = {NATIVE_FIELDS};
static const struct model_object load_native = {"LoadNative", "The generator's configuration in its own form.",
                                                FIELDS(load_native_fields), EXTRA_REFUSED, RULE_NONE};

static const struct model_field length_fields[] = {
    CHOICE("distribution", distributions, "How lengths are distributed.", REQUIRED),
    ROW("value", FIELD_INT_NUMBER, "Tokens; the mean where they vary.", REQUIRED, MIN(0), .is_min_unsaid = true),
    FLOAT("std_dev", "Standard deviation of a gaussian one, tokens.", MIN(0)),
    INT("min", "Least tokens.", MIN(0)),
    INT("max", "Most tokens.", MIN(1)),
};
static const struct model_object length = {"SequenceLength", "Length of a sequence.", FIELDS(length_fields),
                                           EXTRA_REFUSED, RULE_NONE};

static const struct model_field prefix_fields[] = {
    OBJECT("prefix_len", length, "Length of the common prefix.", REQUIRED),
    INT("num_groups", "Groups of users with a prefix in common.", REQUIRED, MIN(1)),
    INT("num_users_per_group", "Users of a group.", REQUIRED, MIN(1)),
    INT("num_prefixes", "Common prefixes of a group.", REQUIRED, MIN(1)),
};
static const struct model_object prefix = {"LoadPrefix", "What input sequences have in common.", FIELDS(prefix_fields),
                                           EXTRA_REFUSED, RULE_NONE};

static const struct model_field multi_turn_fields[] = {
    ROW("enabled", FIELD_BOOL, "Requests come in sessions of several turns.", INITIAL("true")),
    OBJECT("max_turns", length, "Most requests of a session.", OPTIONAL),
};
static const struct model_object multi_turn = {"MultiTurn", "Sessions of several requests.", FIELDS(multi_turn_fields),
                                               EXTRA_REFUSED, RULE_NONE};

static const struct model_field load_standardized_fields[] = {
    TEXT("tool", "The load generator.", REQUIRED),
    TEXT("tool_version", "Its version, empty when unknown.", REQUIRED),
    INT("parallelism", "Load generators at a time.", MIN(1), INITIAL("1")),
    CHOICE("source", sources, "Where input tokens come from.", REQUIRED),
    INT("stage", "Number of the stage in a load of several.", MIN(0), INITIAL("0")),
    OBJECT("input_seq_len", length, "Input length.", REQUIRED),
    OBJECT("output_seq_len", length, "Output length, where one was asked for.", OPTIONAL),
    OBJECT("prefix", prefix, "What inputs have in common.", OPTIONAL),
    OBJECT("multi_turn", multi_turn, "Sessions.", OPTIONAL),
    FLOAT("rate_qps", "Requests asked for a second.", MIN(0), .is_above_min = true),
    ROW("concurrency", FIELD_CONCURRENCY, "Requests in flight asked for, or infinite.", MIN(1), .is_min_unsaid = true),
};
static const struct model_object load_standardized = {"LoadStandardized",
                                                      "The load in the same form for every generator.",
                                                      FIELDS(load_standardized_fields), EXTRA_REFUSED, RULE_NONE};

static const struct model_field load_fields[] = {
    OBJECT("metadata", load_metadata, NULL, REQUIRED),
    OBJECT("standardized", load_standardized, NULL, REQUIRED),
    OBJECT("native", load_native, NULL, REQUIRED),
};
static const struct model_object load = {"Load", "The load.", FIELDS(load_fields), EXTRA_REFUSED, RULE_NONE};

static const struct model_field scenario_fields[] = {
    OBJECT("stack", component, "The parts of the system under test.", LIST),
    OBJECT("load", load, "The load.", OPTIONAL),
};
static const struct model_object scenario = {"Scenario", "What was measured.", FIELDS(scenario_fields), EXTRA_REFUSED,
                                             RULE_NONE};

static const struct model_field top_fields[] = {
    TEXT("version", "Version of the format.", INITIAL("0.2.1")),
    OBJECT("run", run, NULL, REQUIRED),
    OBJECT("scenario", scenario, "What was measured.", OPTIONAL),
    OBJECT("results", model_results, "Results.", REQUIRED),
};
static const struct model_object top = {"BenchmarkReportV02", "A benchmark report 0.2.", FIELDS(top_fields),
                                        EXTRA_REFUSED, RULE_NONE};

static const struct model_object *const OBJECTS[] = {&component,
                                                     &component_metadata,
                                                     &component_native,
                                                     &generic,
                                                     &inference_engine,
                                                     &engine_accelerator,
                                                     &engine_model,
                                                     &engine_parallelism,
                                                     &load,
                                                     &load_metadata,
                                                     &load_native,
                                                     &prefix,
                                                     &load_standardized,
                                                     &multi_turn,
                                                     &run,
                                                     &run_time,
                                                     &scenario,
                                                     &length,
                                                     MODEL_RESULTS_OBJECTS,
                                                     NULL};
static const struct model_choices *const CHOICES[] = {&distributions, &roles, &sources, &model_units, NULL};
static const char *const VERSION_WORDS[] = {"0.2", "0.2.1", NULL};

const struct model model_0_2 = {.version = "0.2.1",
                                .reads = VERSION_WORDS,
                                .title = "Benchmark Report v0.2.1",
                                .top = &top,
                                .objects = OBJECTS,
                                .choices = CHOICES};
