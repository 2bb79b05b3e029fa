/* SPDX-License-Identifier: Apache-2.0 */
#include "plane/resources.h"

#include <string.h>

static const struct resource *const ALL[] = {
    &resource_tenants,
    &resource_users,
    &resource_tokens,
    &resource_secrets,
    &resource_audit_log,
    &resource_projects,
    &resource_models,
    &resource_gpu_classes,
    &resource_frameworks,
    &resource_framework_versions,
    &resource_providers,
    &resource_server_configs,
    &resource_servers,
    &resource_prompt_sources,
    &resource_engine_args_templates,
    &resource_engine_args_sets,
    &resource_command_templates,
    &resource_workloads,
    &resource_scenarios,
    &resource_runs,
    &resource_jobs,
};

const struct resource *const *resource_list(size_t *ret_count)
{
    *ret_count = sizeof ALL / sizeof ALL[0];
    return ALL;
}

const struct resource *resource_find(const char *path)
{
    for (size_t i = 0; i < sizeof ALL / sizeof ALL[0]; i++)
        if (strcmp(ALL[i]->path, path) == 0)
            return ALL[i];
    return NULL;
}
