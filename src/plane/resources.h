/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_PLANE_RESOURCES_H
#define ASSAY_PLANE_RESOURCES_H

/* The tables of all things (resource.h), a file a subject. */

#include "plane/resource.h"

/* resources_account.c */
extern const struct resource resource_tenants, resource_users, resource_tokens, resource_secrets, resource_audit_log;
/* resources_catalogue.c */
extern const struct resource resource_models, resource_gpu_classes, resource_frameworks, resource_framework_versions,
    resource_prompt_sources;
/* resources_machines.c */
extern const struct resource resource_providers, resource_server_configs, resource_servers;
extern const struct shape shape_server_gpu;
/* resources_engine.c */
extern const struct resource resource_engine_args_templates, resource_engine_args_sets, resource_command_templates;
/* resources_define.c */
extern const struct resource resource_projects, resource_workloads, resource_scenarios;
/* resources_runs.c */
extern const struct resource resource_runs, resource_jobs;

/* A token of role admin for a user, given in call->secret. */
as_status account_add_token(struct plane_call *call, int64_t tenant_id, int64_t user_id) AS_NODISCARD;

/* Texts of enumerations that several tables have. */
extern const char *const choices_tool[];

#endif
