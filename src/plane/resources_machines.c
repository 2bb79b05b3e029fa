/* SPDX-License-Identifier: Apache-2.0 */
#include "plane/parts.h"
#include "plane/resources.h"

#define OPTIONAL_COUNT(member, sentence)                                                                               \
    {                                                                                                                  \
        .name = (member), .type = FIELD_INT, .flags = FIELD_NULLABLE, .min = 0, .max = 9e15, .about = (sentence)       \
    }
#define ARGV(member, sentence)                                                                                         \
    {                                                                                                                  \
        .name = (member), .type = FIELD_LIST, .item = FIELD_TEXT, .max = 200, .initial = "[]", .about = (sentence)     \
    }

static const char *const PROVIDER_KINDS[] = {"slurm", "kubernetes", "aws", "gcloud", "command", NULL};
static const struct field PROVIDER_FIELDS[] = {
    {.name = "provider_code",
     .type = FIELD_CODE,
     .flags = FIELD_REQUIRED | FIELD_FIXED | FIELD_SORT,
     .about = "Natural key."},
    {.name = "kind",
     .type = FIELD_ENUM,
     .flags = FIELD_REQUIRED | FIELD_FILTER,
     .choices = PROVIDER_KINDS,
     .about = "What brings workers up."},
    ARGV("provision_argv", "Words of the command that brings one up, with {placeholders}."),
    ARGV("wait_argv", "Words of the command that says how far it is."),
    ARGV("release_argv", "Words of the command that gives it back."),
    {.name = "environment", .type = FIELD_JSON, .initial = "{}", .about = "Environment of the commands; no secrets."},
    {.name = "give_up_s",
     .type = FIELD_INT,
     .min = 1,
     .max = 604800,
     .initial = "1800",
     .about = "Seconds until a worker that does not come is given up."},
    {.name = "settings", .type = FIELD_JSON, .initial = "{}", .about = "Values of placeholders."},
    FIELDS_OF_LIFE,
};

const struct resource resource_providers = {
    .shape = {.name = "Provider", .about = "How workers are brought up on demand.", SHAPE_FIELDS(PROVIDER_FIELDS)},
    .path = "providers",
    .singular = "provider",
    .table = "providers",
    .key = {"provider_code"},
    .scope = RESOURCE_OWN,
    .read = RIGHT_READ,
    .create = RIGHT_ADMIN,
    .change = RIGHT_ADMIN,
    .sort = "provider_code",
};

static const char *const LOCATIONS[] = {"on_prem", "cloud", NULL};
static const struct field CONFIG_FIELDS[] = {
    {.name = "config_code",
     .type = FIELD_CODE,
     .flags = FIELD_REQUIRED | FIELD_FIXED | FIELD_SORT,
     .about = "Natural key of the hardware."},
    {.name = "name", .type = FIELD_TEXT, .flags = FIELD_NULLABLE | FIELD_SORT, .about = "What people call it."},
    {.name = "location",
     .type = FIELD_ENUM,
     .flags = FIELD_REQUIRED | FIELD_FILTER,
     .choices = LOCATIONS,
     .about = "Whose machine it is."},
    {.name = "provider_code",
     .type = FIELD_CODE,
     .flags = FIELD_NULLABLE | FIELD_FILTER,
     .about = "Who brings it up; null: it is there."},
    {.name = "sku", .type = FIELD_TEXT, .flags = FIELD_NULLABLE | FIELD_FILTER, .about = "The cloud's name of it."},
    {.name = "gpu_class_code",
     .type = FIELD_CODE,
     .flags = FIELD_NULLABLE | FIELD_FILTER,
     .about = "Class of its GPUs."},
    {.name = "gpu_count", .type = FIELD_INT, .min = 0, .max = 4096, .initial = "0", .about = "GPUs of one host."},
    {.name = "cpu_model", .type = FIELD_TEXT, .flags = FIELD_NULLABLE, .about = "Processor."},
    OPTIONAL_COUNT("cpu_sockets", "Sockets."),
    OPTIONAL_COUNT("cpu_cores", "Cores in all."),
    OPTIONAL_COUNT("memory_bytes", "Main memory."),
    OPTIONAL_COUNT("disk_bytes", "Local disk."),
    {.name = "price_per_hour",
     .type = FIELD_NUMBER,
     .flags = FIELD_NULLABLE,
     .min = 0,
     .max = 1e6,
     .about = "Price of one host."},
    {.name = "price_currency", .type = FIELD_TEXT, .flags = FIELD_NULLABLE, .max = 8, .about = "Its currency."},
    {.name = "facts", .type = FIELD_JSON, .flags = FIELD_DETAIL, .initial = "{}", .about = "Whatever else is known."},
    FIELDS_OF_LIFE,
};
static const struct reference CONFIG_REFERENCES[] = {
    {"provider_id", "providers", {"provider_code"}},
    {"gpu_class_id", "gpu-classes", {"gpu_class_code"}},
};

const struct resource resource_server_configs = {
    .shape = {.name = "ServerConfig",
              .about = "A kind of host: its GPUs, processors, memory.",
              SHAPE_FIELDS(CONFIG_FIELDS)},
    .path = "server-configs",
    .singular = "server config",
    .table = "server_configs",
    .key = {"config_code"},
    .references = CONFIG_REFERENCES,
    .reference_count = 2,
    .scope = RESOURCE_OWN,
    .read = RIGHT_READ,
    .create = RIGHT_WRITE,
    .change = RIGHT_WRITE,
    .sort = "config_code",
};

static const char *const SERVER_STATES[] = {"registered",     "online",   "silent", "draining",
                                            "out_of_service", "released", NULL};
static const struct field GPU_FIELDS[] = {
    {.name = "gpu_index",
     .type = FIELD_INT,
     .flags = FIELD_REQUIRED,
     .min = 0,
     .max = 4095,
     .about = "Index on the host."},
    {.name = "gpu_uuid", .type = FIELD_TEXT, .flags = FIELD_NULLABLE, .about = "UUID that the driver gives."},
    {.name = "gpu_class_code", .type = FIELD_CODE, .flags = FIELD_NULLABLE, .about = "Its class."},
    {.name = "name", .type = FIELD_TEXT, .flags = FIELD_NULLABLE, .about = "Name that the driver gives."},
    OPTIONAL_COUNT("memory_bytes", "Its memory."),
    {.name = "power_limit_w",
     .type = FIELD_NUMBER,
     .flags = FIELD_NULLABLE,
     .min = 0,
     .max = 1e5,
     .about = "Watts it may draw."},
};
const struct shape shape_server_gpu = {
    .name = "ServerGpu", .about = "One GPU of a server.", SHAPE_FIELDS(GPU_FIELDS)};
static const struct reference GPU_REFERENCES[] = {{"gpu_class_id", "gpu-classes", {"gpu_class_code"}}};
static const struct part SERVER_PARTS[] = {{"gpus", "server_gpus", "server_id", &shape_server_gpu, GPU_REFERENCES, 1, "gpu_index"}};

static const struct field SERVER_FIELDS[] = {
    {.name = "config_code",
     .type = FIELD_CODE,
     .flags = FIELD_REQUIRED | FIELD_FIXED | FIELD_FILTER,
     .about = "Its hardware."},
    {.name = "hostname",
     .type = FIELD_CODE,
     .flags = FIELD_REQUIRED | FIELD_FIXED | FIELD_FILTER | FIELD_SORT,
     .about = "Its host name."},
    {.name = "state",
     .type = FIELD_ENUM,
     .flags = FIELD_GIVEN | FIELD_FILTER,
     .choices = SERVER_STATES,
     .about = "Of its agent."},
    {.name = "state_reason",
     .type = FIELD_TEXT,
     .flags = FIELD_GIVEN | FIELD_NULLABLE,
     .about = "Why it is in that state."},
    {.name = "labels", .type = FIELD_JSON, .initial = "{}", .about = "Texts by name, for choosing servers."},
    {.name = "agent_version", .type = FIELD_TEXT, .flags = FIELD_GIVEN | FIELD_NULLABLE, .about = "Of its agent."},
    {.name = "driver_version", .type = FIELD_TEXT, .flags = FIELD_GIVEN | FIELD_NULLABLE, .about = "Of its GPUs."},
    {.name = "kernel", .type = FIELD_TEXT, .flags = FIELD_GIVEN | FIELD_NULLABLE, .about = "Operating system."},
    {.name = "fingerprint",
     .type = FIELD_JSON,
     .flags = FIELD_GIVEN | FIELD_DETAIL,
     .about = "What the agent found on it."},
    {.name = "fingerprint_digest",
     .type = FIELD_TEXT,
     .flags = FIELD_GIVEN | FIELD_NULLABLE,
     .about = "SHA-256 of it."},
    {.name = "disk_free_bytes",
     .type = FIELD_INT,
     .flags = FIELD_GIVEN | FIELD_NULLABLE,
     .about = "Free, as last told."},
    {.name = "secrets_present",
     .type = FIELD_LIST,
     .item = FIELD_CODE,
     .flags = FIELD_GIVEN,
     .about = "Secrets that its agent can resolve, by name."},
    {.name = "last_seen_at",
     .type = FIELD_TIME,
     .column = "last_seen_ns",
     .flags = FIELD_GIVEN | FIELD_NULLABLE,
     .about = "Last word of its agent that was noted."},
    {.name = "gpus", .type = FIELD_LIST, .shape = &shape_server_gpu, .flags = FIELD_VIRTUAL, .max = 4096, .about = "Its GPUs."},
    FIELDS_OF_LIFE,
};
static const struct reference SERVER_REFERENCES[] = {{"server_config_id", "server-configs", {"config_code"}}};

static as_status finish_server(struct plane_call *call, int64_t id, const struct row_values *row)
{
    (void)row;
    return parts_write(call, SERVER_PARTS, 1, id);
}

static as_status put_server(struct plane_call *call, int64_t id)
{
    return parts_put(call, SERVER_PARTS, 1, id);
}

static const struct resource_hooks SERVER_HOOKS = {.finish = finish_server, .put = put_server};

const struct resource resource_servers = {
    .shape = {.name = "Server", .about = "A host with an agent.", SHAPE_FIELDS(SERVER_FIELDS)},
    .path = "servers",
    .singular = "server",
    .table = "servers",
    .key = {"config_code", "hostname"},
    .references = SERVER_REFERENCES,
    .reference_count = 1,
    .scope = RESOURCE_OWN,
    .read = RIGHT_READ,
    .create = RIGHT_WRITE,
    .change = RIGHT_WRITE,
    .sort = "hostname",
    .hooks = &SERVER_HOOKS,
};
