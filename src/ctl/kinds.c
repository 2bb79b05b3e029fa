/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/kinds.h"

#include <string.h>
#include <strings.h>

static const struct ctl_kind KINDS[] = {
    {"models", "model", "Model", {"model_code"}, NULL, "model_code family is_shipped", false, true},
    {"gpu-classes", "gpu-class", "GpuClass", {"gpu_class_code"}, NULL, "gpu_class_code marketing_name vendor memory_gib is_shipped", false, true},
    {"frameworks", "framework", "Framework", {"framework_code"}, NULL, "framework_code display_name is_shipped", false, true},
    {"framework-versions", "framework-version", "FrameworkVersion", {"framework_code", "version", "build"}, "cuda",
     "framework_code version build is_default image", false, true},
    {"engine-args-templates", "engine-args-template", "EngineArgsTemplate",
     {"framework_code", "version", "build", "arg_key"}, NULL, "framework_code version build arg_key value_type", false,
     true},
    {"engine-args-sets", "engine-args-set", "EngineArgsSet", {"set_code"}, NULL,
     "set_code framework_code model_code gpus_per_replica current_revision is_shipped", false, true},
    {"command-templates", "command-template", "CommandTemplate", {"template_code"}, NULL,
     "template_code kind is_shipped", false, true},
    {"providers", "provider", "Provider", {"provider_code"}, NULL, "provider_code kind give_up_s", false, true},
    {"server-configs", "server-config", "ServerConfig", {"config_code"}, NULL,
     "config_code location gpu_class_code gpu_count", false, true},
    {"servers", "server", "Server", {"config_code", "hostname"}, NULL,
     "config_code hostname state agent_version last_seen_at", false, true},
    {"prompt-sources", "prompt-source", "PromptSource", {"source_code"}, NULL, "source_code source_type name", false,
     true},
    {"projects", "project", "Project", {"project_code"}, NULL, "project_code name created_at", false, true},
    {"workloads", "workload", "Workload", {"workload_code"}, NULL,
     "workload_code project_code tool model_code framework_code framework_version set_code config_code", false, true},
    {"scenarios", "scenario", "Scenario", {"workload_code", "scenario_code"}, NULL,
     "workload_code scenario_code concurrency request_rate_per_s isl_tokens osl_tokens request_count", false, true},
    {"runs", "run", "Run", {"run_code"}, NULL,
     "run_code workload_code state reason jobs_total jobs_succeeded jobs_failed created_at", false, false},
    {"jobs", "job", "Job", {"job_code"}, NULL, "job_code run_code scenario_code state attempt hostname reason", true,
     false},
    {"tenants", "tenant", "Tenant", {"tenant_code"}, NULL, "tenant_code name created_at", false, false},
    {"users", "user", "User", {"user_name"}, NULL, "user_name display_name role is_disabled last_login_at", false,
     false},
    {"tokens", "token", "Token", {"token_code"}, NULL, "token_code user_name role scopes token_hint expires_at", false,
     false},
    {"secrets", "secret", "Secret", {"secret_code"}, NULL, "secret_code reference is_stored", false, false},
    {"audit-log", "audit-entry", "AuditEntry", {NULL}, NULL, "at actor action object_type object_code remote_address",
     true, false},
};

const struct ctl_kind *kind_list(size_t *ret_count)
{
    *ret_count = sizeof KINDS / sizeof KINDS[0];
    return KINDS;
}

static bool is_named(const char *name, const char *given)
{
    for (; *name && *given; name++, given++) {
        char one = *name == '-' ? '_' : *name;
        char other = *given == '-' ? '_' : *given;
        if (strncasecmp(&one, &other, 1) != 0)
            return false;
    }
    return *name == *given;
}

const struct ctl_kind *kind_find(const char *name)
{
    for (size_t i = 0; i < sizeof KINDS / sizeof KINDS[0]; i++)
        if (is_named(KINDS[i].path, name) || is_named(KINDS[i].singular, name))
            return &KINDS[i];
    return NULL;
}

size_t kind_key_count(const struct ctl_kind *kind)
{
    size_t count = 0;
    while (count < KIND_KEYS_MAX && kind->keys[count])
        count++;
    return count;
}

void kind_add_escaped(struct strbuf *out, const char *text)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
    for (; *text; text++) {
        if (strchr(plain, *text))
            strbuf_addc(out, *text);
        else
            strbuf_addf(out, "%%%02X", (unsigned)(unsigned char)*text);
    }
}

void kind_add_segment(struct strbuf *out, const char *part)
{
    strbuf_addc(out, '/');
    /* A server or proxy would take dots alone for steps. */
    if (strcmp(part, ".") == 0 || strcmp(part, "..") == 0)
        strbuf_adds(out, part[1] ? "%2E%2E" : "%2E");
    else
        kind_add_escaped(out, part);
}

void kind_add_path(struct strbuf *out, const struct ctl_kind *kind, const char *const *keys, size_t count)
{
    strbuf_addf(out, "/api/v1/%s", kind->path);
    for (size_t i = 0; i < count; i++)
        kind_add_segment(out, keys[i]);
}
