/* SPDX-License-Identifier: Apache-2.0 */
/* How servers share a host: counts, devices, ports, environment by vendor, endpoints. */
#include "facts.h"

#include "recipe/replicas.h"

static const int64_t EIGHT[] = {0, 1, 2, 3, 4, 5, 6, 7};
static const int64_t SOME[] = {1, 3, 6};

static struct recipe_replica_request request_of(const struct recipe_host *host, int64_t gpus)
{
    return (struct recipe_replica_request){
        .hosts = host, .host_count = 1, .vendor = RECIPE_NVIDIA, .gpus_per_replica = gpus, .node_count = 1};
}

static struct recipe_plan plan_of(struct fixture *fixture, const struct recipe_replica_request *request)
{
    struct recipe_plan plan = {0};
    struct as_error err = {0};
    if (recipe_plan_replicas(request, &fixture->arena, &plan, &err) != AS_OK)
        fail_msg("%s", err.message);
    return plan;
}

static const char *value_of(const struct recipe_values *values, const char *name)
{
    for (size_t i = 0; i < values->count; i++)
        if (strcmp(values->items[i].name, name) == 0)
            return values->items[i].text;
    return NULL;
}

static void test_counts(void **state)
{
    static const int64_t cases[][2] = {{1, 8}, {2, 4}, {3, 2}, {4, 2}, {5, 1}, {8, 1}, {9, 0}, {0, 0}, {-1, 0}};
    struct recipe_host host = {.address = "h", .devices = EIGHT, .device_count = 8};
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct recipe_replica_request request = request_of(&host, cases[i][0]);
        assert_int_equal(recipe_replica_count(&request), cases[i][1]);
        request.replicas_max = 2;
        assert_int_equal(recipe_replica_count(&request), cases[i][1] < 2 ? cases[i][1] : 2);
    }
}

static void test_ports_and_devices(void **state)
{
    static const int64_t in_use[] = {8001, 8000, 8003, 9000};
    struct recipe_host host = {.address = "10.0.0.5",
                               .devices = EIGHT,
                               .device_count = 8,
                               .ports_in_use = in_use,
                               .port_in_use_count = ARRAY_COUNT(in_use)};
    struct recipe_replica_request request = request_of(&host, 3);
    struct recipe_plan plan = plan_of(*state, &request);
    assert_int_equal(plan.replica_count, 2);
    assert_int_equal(plan.gpus_idle, 2);
    assert_int_equal(plan.instance_count, 2);
    assert_int_equal(plan.instances[0].port, 8002);
    assert_int_equal(plan.instances[1].port, 8004);
    assert_int_equal(plan.instances[0].devices[0], 0);
    assert_int_equal(plan.instances[1].devices[0], 3);
    assert_int_equal(plan.instances[1].device_count, 3);
    assert_string_equal(recipe_pairs_get(&plan.instances[0].env, "CUDA_VISIBLE_DEVICES"), "0,1,2");
    assert_string_equal(recipe_pairs_get(&plan.instances[1].env, "CUDA_VISIBLE_DEVICES"), "3,4,5");
    assert_string_equal(plan.urls.items[0], "http://10.0.0.5:8002");
    assert_string_equal(plan.urls.items[1], "http://10.0.0.5:8004");
    assert_string_equal(plan.instances[1].readiness_url, "http://10.0.0.5:8004/health");
    assert_string_equal(plan.instances[1].metrics_url, "http://10.0.0.5:8004/metrics");
    assert_string_equal(value_of(&plan.instances[1].values, "port"), "8004");
    assert_string_equal(value_of(&plan.instances[1].values, "host"), "10.0.0.5");
    assert_string_equal(value_of(&plan.instances[1].values, "is_worker_node"), "false");
    assert_null(value_of(&plan.tool_values, "url"));
    assert_string_equal(value_of(&plan.tool_values, "replica_count"), "2");
}

static void test_one_url(void **state)
{
    struct recipe_host host = {.address = "fe80::1", .devices = SOME, .device_count = 3};
    struct recipe_replica_request request = request_of(&host, 2);
    request.bind_host = "127.0.0.1";
    request.first_port = 30000;
    struct recipe_plan plan = plan_of(*state, &request);
    assert_string_equal(value_of(&plan.tool_values, "url"), "http://[fe80::1]:30000");
    assert_string_equal(value_of(&plan.instances[0].values, "host"), "127.0.0.1");
    assert_string_equal(recipe_pairs_get(&plan.instances[0].env, "CUDA_VISIBLE_DEVICES"), "1,3");
    assert_int_equal(plan.gpus_idle, 1);
}

static void test_vendors(void **state)
{
    static const struct {
        enum recipe_vendor vendor;
        const char *engine, *variable, *first_word;
    } cases[] = {{RECIPE_NVIDIA, "docker", "CUDA_VISIBLE_DEVICES", "--gpus"},
                 {RECIPE_NVIDIA, "podman", "CUDA_VISIBLE_DEVICES", "--device"},
                 {RECIPE_AMD, "docker", "HIP_VISIBLE_DEVICES", "--device"},
                 {RECIPE_GOOGLE, "docker", "TPU_VISIBLE_CHIPS", "--privileged"},
                 {RECIPE_INTEL, "docker", "HABANA_VISIBLE_MODULES", "--runtime"}};
    struct recipe_host host = {.address = "h", .devices = EIGHT, .device_count = 8};
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct recipe_replica_request request = request_of(&host, 4);
        request.vendor = cases[i].vendor;
        assert_int_equal(plan_of(*state, &request).instances[1].container_args.count, 0);
        request.container_engine = cases[i].engine;
        struct recipe_plan plan = plan_of(*state, &request);
        assert_string_equal(recipe_pairs_get(&plan.instances[1].env, cases[i].variable), "4,5,6,7");
        assert_string_equal(plan.instances[1].container_args.items[0], cases[i].first_word);
        const char *bounds = recipe_pairs_get(&plan.instances[1].env, "TPU_CHIPS_PER_PROCESS_BOUNDS");
        if (cases[i].vendor != RECIPE_GOOGLE) {
            assert_null(bounds);
            continue;
        }
        assert_string_equal(bounds, "2,2,1");
        assert_string_equal(recipe_pairs_get(&plan.instances[1].env, "TPU_PROCESS_BOUNDS"), "1,1,1");
    }
}

static void test_nodes(void **state)
{
    static const int64_t in_use[] = {8000};
    struct recipe_host hosts[] = {{.address = "10.0.0.1", .devices = EIGHT, .device_count = 8, .interface = "eth0"},
                                  {.address = "10.0.0.2",
                                   .devices = EIGHT,
                                   .device_count = 8,
                                   .ports_in_use = in_use,
                                   .port_in_use_count = 1,
                                   .interface = "eth1"}};
    struct recipe_replica_request request = request_of(hosts, 16);
    request.host_count = 2;
    request.node_count = 2;
    struct recipe_plan plan = plan_of(*state, &request);
    assert_int_equal(plan.replica_count, 1);
    assert_int_equal(plan.instance_count, 2);
    assert_int_equal(plan.gpus_idle, 0);
    assert_int_equal(plan.urls.count, 1);
    assert_string_equal(plan.instances[0].url, "http://10.0.0.1:8000");
    assert_null(plan.instances[1].url);
    assert_int_equal(plan.instances[1].port, 8001);
    assert_string_equal(value_of(&plan.instances[1].values, "node_rank"), "1");
    assert_string_equal(value_of(&plan.instances[1].values, "head_ip"), "10.0.0.1");
    assert_string_equal(value_of(&plan.instances[1].values, "iface_name"), "eth1");
    assert_string_equal(value_of(&plan.instances[1].values, "is_worker_node"), "true");
}

static void expect_error(struct fixture *fixture, const struct recipe_replica_request *request, as_status status,
                         const char *says)
{
    struct recipe_plan plan = {.replica_count = -7};
    struct as_error err = {0};
    assert_int_equal(recipe_plan_replicas(request, &fixture->arena, &plan, &err), status);
    if (!strstr(err.message, says))
        fail_msg("\"%s\" does not say \"%s\"", err.message, says);
    assert_int_equal(plan.replica_count, -7);
}

static void test_errors(void **state)
{
    struct recipe_host host = {.address = "h", .devices = EIGHT, .device_count = 8};
    struct recipe_replica_request request = request_of(&host, 9);
    expect_error(*state, &request, AS_E_LIMIT, "it needs 9 GPUs of h, which has 8 free");
    request = request_of(&host, 0);
    expect_error(*state, &request, AS_E_INVALID, "at least 1");
    request = request_of(&host, 16);
    request.node_count = 2;
    expect_error(*state, &request, AS_E_LIMIT, "spans 2 hosts and 1 are given");
    request = request_of(&host, 1);
    request.first_port = 65530;
    expect_error(*state, &request, AS_E_LIMIT, "no free port is left on h for replica 6");
    request.first_port = 70000;
    expect_error(*state, &request, AS_E_INVALID, "it is from 1 to 65535");
    host.address = "h/../x";
    request = request_of(&host, 1);
    expect_error(*state, &request, AS_E_INVALID, "is no address of a host");
    struct recipe_host hosts[] = {{.address = "a", .devices = EIGHT, .device_count = 8},
                                  {.address = "b", .devices = EIGHT, .device_count = 4}};
    request = request_of(hosts, 16);
    request.host_count = 2;
    request.node_count = 2;
    expect_error(*state, &request, AS_E_LIMIT, "8 GPUs of b, which has 4 free");
    request.gpus_per_replica = 7;
    expect_error(*state, &request, AS_E_INVALID, "cannot be shared equally");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts),  cmocka_unit_test(test_ports_and_devices),
        cmocka_unit_test(test_one_url), cmocka_unit_test(test_vendors),
        cmocka_unit_test(test_nodes),   cmocka_unit_test(test_errors),
    };
    return cmocka_run_group_tests(tests, fixture_open, fixture_close);
}
