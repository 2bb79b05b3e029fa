/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_RECIPE_REPLICAS_H
#define ASSAY_RECIPE_REPLICAS_H

/*
 * How many servers a host runs, on which GPUs and ports. A server on one host: replicas = GPUs free ÷ GPUs one needs,
 * rounded down. A server that spans hosts (node_count > 1) is one replica, with equal shares of its GPUs on every host.
 * Every port is checked against those in use; every endpoint is given to the tool. Pure; memory in the arena. Errors:
 * AS_E_INVALID, or AS_E_LIMIT when no replica fits, with both figures and the remedy.
 */

#include "recipe/command.h"

#define RECIPE_DEVICES_MAX  1024
#define RECIPE_REPLICAS_MAX 256

struct recipe_host {
    const char *address;    /* by which tool and other nodes reach it: "10.0.0.5", "127.0.0.1", "gpu1" */
    const int64_t *devices; /* indices of the GPUs that may be used, ascending */
    size_t device_count;
    const int64_t *ports_in_use;
    size_t port_in_use_count;
    const char *interface; /* network interface between nodes ("eth0"), NULL = unknown */
};

struct recipe_replica_request {
    const struct recipe_host *hosts; /* node_count of them, or one */
    size_t host_count;
    enum recipe_vendor vendor;
    int64_t gpus_per_replica; /* over all nodes */
    int64_t node_count;       /* hosts a server spans, ≥ 1 */
    int64_t first_port;       /* 0 = 8000 */
    int64_t replicas_max;     /* 0 = as many as fit */
    const char *bind_host;    /* address the servers listen on; NULL = the host's own address */
    const char *readiness_path;
    const char *metrics_path;
    const char *container_engine; /* "docker", "podman"; NULL = process */
};

/* One process: a replica's server on one node. */
struct recipe_instance {
    int64_t replica;   /* 0 … */
    int64_t node_rank; /* 0 … node_count - 1; only rank 0 has an endpoint */
    const char *address;
    const char *bind_host;
    int64_t port;
    const int64_t *devices;
    size_t device_count;
    struct recipe_pairs env;           /* CUDA_VISIBLE_DEVICES and the like, by vendor */
    struct recipe_list container_args; /* words that give a container its devices; empty for a process */
    const char *url;                   /* "http://10.0.0.5:8000", NULL unless rank 0 */
    const char *readiness_url;
    const char *metrics_url;
    /*
     * For command templates (layer plan): host, port, replica, node_rank, node_count, head_ip, iface_name, devices
     * (list), device_args, container_engine, container_name, is_worker_node.
     */
    struct recipe_values values;
};

struct recipe_plan {
    int64_t replica_count;
    int64_t gpus_idle;                       /* GPUs no replica uses */
    const struct recipe_instance *instances; /* by replica, then node */
    size_t instance_count;
    struct recipe_list urls; /* one a replica */
    /* For tool templates (layer plan): urls (list), url (only when there is exactly one), replica_count. */
    struct recipe_values tool_values;
};

as_status recipe_plan_replicas(const struct recipe_replica_request *request, struct arena *arena,
                               struct recipe_plan *ret, struct as_error *err) AS_NODISCARD;
/* GPUs of the host ÷ GPUs one replica needs; 0 when none fits or a server spans hosts and fewer are there. */
int64_t recipe_replica_count(const struct recipe_replica_request *request);

#endif
