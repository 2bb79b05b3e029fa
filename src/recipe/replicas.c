/* SPDX-License-Identifier: Apache-2.0 */
#include "recipe/replicas.h"

#include "recipe/words.h"

#include <ctype.h>
#include <inttypes.h>

#define FIRST_PORT 8000
#define PORT_MAX   65535

static int64_t gpus_per_node(const struct recipe_replica_request *request)
{
    return request->gpus_per_replica / request->node_count;
}

int64_t recipe_replica_count(const struct recipe_replica_request *request)
{
    if (request->gpus_per_replica < 1 || request->node_count < 1 || request->host_count < 1)
        return 0;
    int64_t count = 0;
    if (request->node_count == 1) {
        count = (int64_t)request->hosts[0].device_count / request->gpus_per_replica;
    } else if ((int64_t)request->host_count >= request->node_count &&
               request->gpus_per_replica % request->node_count == 0) {
        count = 1;
        for (int64_t i = 0; i < request->node_count; i++)
            if ((int64_t)request->hosts[i].device_count < gpus_per_node(request))
                count = 0;
    }
    if (request->replicas_max > 0 && count > request->replicas_max)
        count = request->replicas_max;
    return count < RECIPE_REPLICAS_MAX ? count : RECIPE_REPLICAS_MAX;
}

/* An address that can stand in a URL: a name, IPv4, or IPv6 (which gets brackets). */
static bool is_address(const char *text)
{
    if (!text || !*text || strlen(text) > 255)
        return false;
    for (; *text; text++)
        if (!isalnum((unsigned char)*text) && !strchr(".-_:", *text))
            return false;
    return true;
}

static as_status check_request(const struct recipe_replica_request *request, struct as_error *err)
{
    if (request->gpus_per_replica < 1 || request->gpus_per_replica > RECIPE_DEVICES_MAX || request->node_count < 1)
        return error_set(err, AS_E_INVALID,
                         "a replica needs %" PRId64 " GPUs on %" PRId64 " hosts: both are at least 1",
                         request->gpus_per_replica, request->node_count);
    if (request->first_port < 0 || request->first_port > PORT_MAX)
        return error_set(err, AS_E_INVALID, "the first port is %" PRId64 "; it is from 1 to %d", request->first_port,
                         PORT_MAX);
    if ((int64_t)request->host_count < request->node_count)
        return error_set(err, AS_E_LIMIT,
                         "a replica spans %" PRId64 " hosts and %zu are given: add hosts, or choose a set for fewer",
                         request->node_count, request->host_count);
    if (request->gpus_per_replica % request->node_count != 0)
        return error_set(err, AS_E_INVALID, "%" PRId64 " GPUs cannot be shared equally by %" PRId64 " hosts",
                         request->gpus_per_replica, request->node_count);
    for (int64_t i = 0; i < request->node_count; i++) {
        if (!is_address(request->hosts[i].address))
            return error_set(err, AS_E_INVALID, "\"%.64s\" is no address of a host",
                             request->hosts[i].address ? request->hosts[i].address : "");
        if (request->hosts[i].device_count > RECIPE_DEVICES_MAX)
            return error_set(err, AS_E_LIMIT, "more than %d GPUs on %.64s", RECIPE_DEVICES_MAX,
                             request->hosts[i].address);
    }
    if (request->bind_host && !is_address(request->bind_host))
        return error_set(err, AS_E_INVALID, "\"%.64s\" is no address to listen on", request->bind_host);
    return AS_OK;
}

static as_status none_fits(const struct recipe_replica_request *request, struct as_error *err)
{
    for (int64_t i = 0; i < request->node_count; i++) {
        const struct recipe_host *host = &request->hosts[i];
        if ((int64_t)host->device_count < gpus_per_node(request))
            return error_set(err, AS_E_LIMIT,
                             "no replica fits: it needs %" PRId64
                             " GPUs of %.64s, which has %zu free; choose a set with a "
                             "smaller tensor-parallel size, or another server",
                             gpus_per_node(request), host->address, host->device_count);
    }
    return error_set(err, AS_E_INTERNAL, "no replica fits");
}

static bool is_in_use(const struct recipe_host *host, int64_t port)
{
    for (size_t i = 0; i < host->port_in_use_count; i++)
        if (host->ports_in_use[i] == port)
            return true;
    return false;
}

/* The next free port of the host from *port on, which is moved past it; 0 when there is none. */
static int64_t take_port(const struct recipe_host *host, int64_t *port)
{
    while (*port <= PORT_MAX && is_in_use(host, *port))
        (*port)++;
    return *port <= PORT_MAX ? (*port)++ : 0;
}

/* "0,1,2". */
static const char *join_devices(struct arena *arena, const int64_t *devices, size_t count)
{
    struct strbuf out AS_AUTO_STRBUF;
    strbuf_init(&out, 0);
    for (size_t i = 0; i < count; i++)
        strbuf_addf(&out, "%s%" PRId64, i ? "," : "", devices[i]);
    return strbuf_status(&out) == AS_OK ? arena_strdup(arena, strbuf_text(&out)) : NULL;
}

/* Shape of a slice of a TPU host as libtpu wants it; NULL where the number of chips has none. */
static const char *tpu_bounds(size_t chips)
{
    switch (chips) {
    case 1:
        return "1,1,1";
    case 2:
        return "1,2,1";
    case 4:
        return "2,2,1";
    case 8:
        return "2,4,1";
    default:
        return NULL;
    }
}

static as_status device_env(enum recipe_vendor vendor, struct arena *arena, struct recipe_instance *instance)
{
    static const char *const names[RECIPE_VENDOR_COUNT] = {"CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES",
                                                           "TPU_VISIBLE_CHIPS", "HABANA_VISIBLE_MODULES"};
    const char *devices = join_devices(arena, instance->devices, instance->device_count);
    struct recipe_pair *env = arena_calloc(arena, 3, sizeof(*env));
    const char *bounds = tpu_bounds(instance->device_count);
    size_t count = 0;
    if (!devices || !env)
        return AS_E_NOMEM;
    env[count++] = (struct recipe_pair){names[vendor], devices};
    if (vendor == RECIPE_GOOGLE && bounds) {
        env[count++] = (struct recipe_pair){"TPU_CHIPS_PER_PROCESS_BOUNDS", bounds};
        env[count++] = (struct recipe_pair){"TPU_PROCESS_BOUNDS", "1,1,1"};
    }
    instance->env = (struct recipe_pairs){env, count};
    return AS_OK;
}

/* All devices are given to the container; the environment above says which of them the server takes. */
static struct recipe_list container_words(enum recipe_vendor vendor, const char *engine)
{
    static const char *const docker_nvidia[] = {"--gpus", "all"};
    static const char *const podman_nvidia[] = {"--device", "nvidia.com/gpu=all"};
    static const char *const amd[] = {"--device", "/dev/kfd", "--device", "/dev/dri", "--group-add", "video"};
    static const char *const tpu[] = {"--privileged"};
    static const char *const gaudi[] = {"--runtime", "habana"};
    switch (vendor) {
    case RECIPE_NVIDIA:
        return strcmp(engine, "podman") == 0 ? (struct recipe_list){podman_nvidia, 2}
                                             : (struct recipe_list){docker_nvidia, 2};
    case RECIPE_AMD:
        return (struct recipe_list){amd, 6};
    case RECIPE_GOOGLE:
        return (struct recipe_list){tpu, 1};
    case RECIPE_INTEL:
        return (struct recipe_list){gaudi, 2};
    case RECIPE_VENDOR_COUNT:
        break;
    }
    return (struct recipe_list){0};
}

static as_status instance_urls(const struct recipe_replica_request *request, struct arena *arena,
                               struct recipe_instance *instance)
{
    bool is_v6 = strchr(instance->address, ':') != NULL;
    if (instance->node_rank > 0)
        return AS_OK;
    instance->url = arena_printf(arena, "http://%s%s%s:%" PRId64, is_v6 ? "[" : "", instance->address, is_v6 ? "]" : "",
                                 instance->port);
    if (!instance->url)
        return AS_E_NOMEM;
    instance->readiness_url =
        arena_printf(arena, "%s%s", instance->url, request->readiness_path ? request->readiness_path : "/health");
    instance->metrics_url =
        arena_printf(arena, "%s%s", instance->url, request->metrics_path ? request->metrics_path : "/metrics");
    return instance->readiness_url && instance->metrics_url ? AS_OK : AS_E_NOMEM;
}

static struct recipe_value text_value(const char *name, enum recipe_kind kind, const char *text)
{
    return (struct recipe_value){
        .name = name, .kind = kind, .text = text, .layer = RECIPE_FROM_PLAN, .origin = "replica plan"};
}

static struct recipe_value list_value(const char *name, struct recipe_list list)
{
    return (struct recipe_value){
        .name = name, .kind = RECIPE_LIST, .list = list, .layer = RECIPE_FROM_PLAN, .origin = "replica plan"};
}

static struct recipe_value number_value(struct arena *arena, const char *name, int64_t number)
{
    return text_value(name, RECIPE_NUMBER, arena_printf(arena, "%" PRId64, number));
}

/* False when memory was short for one of them; two may have none. */
static bool has_texts(const struct recipe_values *values)
{
    for (size_t i = 0; i < values->count; i++) {
        const struct recipe_value *value = &values->items[i];
        bool may_lack = strcmp(value->name, "iface_name") == 0 || strcmp(value->name, "container_engine") == 0;
        if (value->kind != RECIPE_LIST && !value->text && !may_lack)
            return false;
    }
    return true;
}

#define INSTANCE_VALUES 13

static as_status instance_values(const struct recipe_replica_request *request, struct arena *arena,
                                 struct recipe_instance *instance)
{
    struct recipe_value *values = arena_calloc(arena, INSTANCE_VALUES, sizeof(*values));
    struct words devices;
    struct recipe_list list = {0};
    struct as_error ignored;
    words_init(&devices, arena);
    for (size_t i = 0; i < instance->device_count; i++)
        words_addf(&devices, "%" PRId64, instance->devices[i]);
    if (!values || words_finish(&devices, &list, &ignored) != AS_OK)
        return AS_E_NOMEM;
    size_t count = 0;
    values[count++] = text_value("host", RECIPE_TEXT, instance->bind_host);
    values[count++] = number_value(arena, "port", instance->port);
    values[count++] = number_value(arena, "replica", instance->replica);
    values[count++] = number_value(arena, "node_rank", instance->node_rank);
    values[count++] = number_value(arena, "node_count", request->node_count);
    values[count++] = text_value("head_ip", RECIPE_TEXT, request->hosts[0].address);
    values[count++] = text_value("iface_name", RECIPE_TEXT, request->hosts[instance->node_rank].interface);
    values[count++] = list_value("devices", list);
    values[count++] = number_value(arena, "device_count", (int64_t)instance->device_count);
    values[count++] = list_value("device_args", instance->container_args);
    values[count++] = text_value("container_engine", RECIPE_TEXT, request->container_engine);
    values[count++] =
        text_value("container_name", RECIPE_TEXT,
                   arena_printf(arena, "assay-%" PRId64 "-%" PRId64, instance->port, instance->node_rank));
    values[count++] = text_value("is_worker_node", RECIPE_FLAG, instance->node_rank > 0 ? "true" : "false");
    instance->values = (struct recipe_values){values, count};
    return has_texts(&instance->values) ? AS_OK : AS_E_NOMEM;
}

static as_status make_instance(const struct recipe_replica_request *request, struct arena *arena,
                               struct recipe_instance *instance)
{
    const struct recipe_host *host = &request->hosts[instance->node_rank];
    size_t share = (size_t)gpus_per_node(request);
    instance->address = host->address;
    instance->bind_host = request->bind_host ? request->bind_host : host->address;
    instance->devices = host->devices + (size_t)instance->replica * share;
    instance->device_count = share;
    if (request->container_engine)
        instance->container_args = container_words(request->vendor, request->container_engine);
    as_status status = device_env(request->vendor, arena, instance);
    if (status == AS_OK)
        status = instance_urls(request, arena, instance);
    return status == AS_OK ? instance_values(request, arena, instance) : status;
}

static as_status tool_values(struct arena *arena, struct recipe_plan *plan)
{
    struct recipe_value *values = arena_calloc(arena, 3, sizeof(*values));
    size_t count = 0;
    if (!values)
        return AS_E_NOMEM;
    values[count++] = list_value("urls", plan->urls);
    values[count++] = number_value(arena, "replica_count", plan->replica_count);
    if (plan->urls.count == 1)
        values[count++] = text_value("url", RECIPE_TEXT, plan->urls.items[0]);
    plan->tool_values = (struct recipe_values){values, count};
    return has_texts(&plan->tool_values) ? AS_OK : AS_E_NOMEM;
}

static as_status fill_plan(const struct recipe_replica_request *request, struct arena *arena, struct recipe_plan *plan,
                           struct as_error *err)
{
    size_t nodes = (size_t)request->node_count, total = (size_t)plan->replica_count * nodes;
    struct recipe_instance *instances = arena_calloc(arena, total, sizeof(*instances));
    const char **urls = arena_calloc(arena, (size_t)plan->replica_count, sizeof(*urls));
    int64_t next_port = request->first_port ? request->first_port : FIRST_PORT;
    if (!instances || !urls)
        return error_set(err, AS_E_NOMEM, "no memory");
    for (size_t i = 0; i < total; i++) {
        struct recipe_instance *instance = &instances[i];
        instance->replica = (int64_t)(i / nodes);
        instance->node_rank = (int64_t)(i % nodes);
        int64_t from = nodes > 1 ? (request->first_port ? request->first_port : FIRST_PORT) : next_port;
        instance->port = take_port(&request->hosts[instance->node_rank], &from);
        if (nodes == 1)
            next_port = from;
        if (instance->port == 0)
            return error_set(err, AS_E_LIMIT,
                             "no free port is left on %.64s for replica %" PRId64 ": begin lower than %d",
                             request->hosts[instance->node_rank].address, instance->replica,
                             (int)(request->first_port ? request->first_port : FIRST_PORT));
        if (make_instance(request, arena, instance) != AS_OK)
            return error_set(err, AS_E_NOMEM, "no memory");
        if (instance->node_rank == 0)
            urls[instance->replica] = instance->url;
    }
    plan->instances = instances;
    plan->instance_count = total;
    plan->urls = (struct recipe_list){urls, (size_t)plan->replica_count};
    return tool_values(arena, plan) == AS_OK ? AS_OK : error_set(err, AS_E_NOMEM, "no memory");
}

as_status recipe_plan_replicas(const struct recipe_replica_request *request, struct arena *arena,
                               struct recipe_plan *ret, struct as_error *err)
{
    as_status status = check_request(request, err);
    if (status != AS_OK)
        return status;
    struct recipe_plan plan = {.replica_count = recipe_replica_count(request)};
    if (plan.replica_count == 0)
        return none_fits(request, err);
    for (int64_t i = 0; i < request->node_count; i++)
        plan.gpus_idle += (int64_t)request->hosts[i].device_count - plan.replica_count * gpus_per_node(request);
    status = fill_plan(request, arena, &plan, err);
    if (status == AS_OK)
        *ret = plan;
    return status;
}
