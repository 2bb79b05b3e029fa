-- SPDX-License-Identifier: Apache-2.0
-- Checks after the run, baselines and alerts, audit log, idempotency keys, events, settings.

-- Flags never discard a result.
CREATE TABLE result_flags (
    id {id},
    job_attempt_id {part job_attempts},
    {key flag_code},
    subject {text} NOT NULL DEFAULT '',         -- metric, endpoint or device it is about
    severity {text} NOT NULL CONSTRAINT result_flags_severity CHECK (severity IN ('note', 'warn', 'invalid')),
    compared {text} NOT NULL DEFAULT '{}',      -- JSON: value, limit, where from
    message {text} NOT NULL,
    created_ns {int} NOT NULL,
    overridden_by_user_id {ref? users},
    overridden_ns {int},
    override_reason {text},
    CONSTRAINT result_flags_key UNIQUE (job_attempt_id, flag_code, subject),
    CONSTRAINT result_flags_override CHECK ((overridden_ns IS NULL) = (overridden_by_user_id IS NULL))
) {strict};

-- The keys whose results are compared over time: project, workload, scenario, hardware.
CREATE TABLE baselines (
    id {id},
    tenant_id {ref tenants},
    scenario_id {ref scenarios},
    server_config_id {ref? server_configs},
    slot {int} NOT NULL DEFAULT 0 CONSTRAINT baselines_slot CHECK (slot BETWEEN 0 AND 5), -- 0: the baseline; 1 to 5: pins
    job_id {ref jobs},
    pinned_by_user_id {ref? users},
    pinned_ns {int} NOT NULL,
    note {text}
) {strict};
CREATE UNIQUE INDEX baselines_key ON baselines (scenario_id, coalesce(server_config_id, 0), slot);

CREATE TABLE regression_alerts (
    id {id},
    tenant_id {ref tenants},
    {code alert_code},
    scenario_id {ref scenarios},
    server_config_id {ref? server_configs},
    job_id {ref jobs},
    metric {text} NOT NULL,                     -- column of the output view
    state {text} NOT NULL DEFAULT 'open' CONSTRAINT regression_alerts_state CHECK (state IN ('open', 'expected', 'fixed', 'ignored')),
    change_ratio {real},
    interval_low {real},
    interval_high {real},
    compared {text} NOT NULL DEFAULT '{}',
    note {text},
    changed_by_user_id {ref? users},
    created_ns {int} NOT NULL,
    updated_ns {int} NOT NULL,
    row_version {int} NOT NULL DEFAULT 1,
    CONSTRAINT regression_alerts_key UNIQUE (tenant_id, alert_code)
) {strict};
CREATE INDEX regression_alerts_list ON regression_alerts (tenant_id, state, created_ns);

CREATE TABLE audit_log (
    id {id},
    tenant_id {ref tenants},
    at_ns {int} NOT NULL,
    actor {text} NOT NULL,                      -- user_name, hostname of an agent, 'system'
    token_code {text},
    action {text} NOT NULL,                     -- create, change, retire, login, override, ...
    object_type {text} NOT NULL,
    object_code {text} NOT NULL,
    detail {text} NOT NULL DEFAULT '{}',        -- JSON; no secrets
    remote_address {text}
) {strict};
CREATE INDEX audit_log_list ON audit_log (tenant_id, at_ns, id);
CREATE INDEX audit_log_object ON audit_log (tenant_id, object_type, object_code, at_ns);

-- The first answer to a writing call, given again to its repeats.
CREATE TABLE idempotency_keys (
    id {id},
    tenant_id {ref tenants},
    actor {text} NOT NULL,
    idempotency_key {text} NOT NULL,
    request_digest {text} NOT NULL,             -- method, path, body
    http_status {int} NOT NULL,
    answer {blob},
    answer_headers {text},
    created_ns {int} NOT NULL,
    CONSTRAINT idempotency_keys_key UNIQUE (tenant_id, actor, idempotency_key)
) {strict};
CREATE INDEX idempotency_keys_age ON idempotency_keys (created_ns);

-- What is sent as server-sent events; `sequence` resumes a stream. Written by one process, in one order.
CREATE TABLE events (
    id {id},
    tenant_id {ref tenants},
    sequence {int} NOT NULL,
    topic {text} NOT NULL,                      -- run, job, server, alert
    object_code {text} NOT NULL,
    kind {text} NOT NULL,
    payload {text} NOT NULL DEFAULT '{}',       -- JSON
    created_ns {int} NOT NULL,
    CONSTRAINT events_key UNIQUE (tenant_id, sequence)
) {strict};
CREATE INDEX events_topic ON events (tenant_id, topic, object_code, sequence);
CREATE INDEX events_age ON events (created_ns);

CREATE TABLE settings (
    id {id},
    {key setting},
    value {text} NOT NULL,
    updated_ns {int} NOT NULL,
    CONSTRAINT settings_key UNIQUE (setting)
) {strict};
