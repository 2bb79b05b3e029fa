-- SPDX-License-Identifier: Apache-2.0
-- Runs, their jobs and attempts, leases, resolved commands, tool invocations, logs and evidence.

CREATE TABLE runs (
    id {id},
    tenant_id {ref tenants},
    workload_id {ref workloads},
    {code run_code},
    state {text} NOT NULL CONSTRAINT runs_state CHECK (state IN
        ('created', 'checking', 'stopped', 'queued', 'running', 'cancelling', 'succeeded', 'failed', 'cancelled')),
    reason_code {text},
    reason {text},
    note {text},
    settings {text} NOT NULL DEFAULT '{}',      -- JSON: placeholders set for this run
    cloned_from_run_id {ref? runs},
    requested_by_user_id {ref? users},
    jobs_total {int} NOT NULL DEFAULT 0,
    jobs_succeeded {int} NOT NULL DEFAULT 0,
    jobs_failed {int} NOT NULL DEFAULT 0,
    created_ns {int} NOT NULL,
    updated_ns {int} NOT NULL,
    started_ns {int},
    finished_ns {int},
    retired_ns {int},
    row_version {int} NOT NULL DEFAULT 1,
    CONSTRAINT runs_key UNIQUE (tenant_id, run_code)
) {strict};
CREATE INDEX runs_list ON runs (tenant_id, created_ns, id);
CREATE INDEX runs_workload ON runs (workload_id, created_ns);

-- Readiness before the first job. Overriding a code is an act of a named user.
CREATE TABLE run_checks (
    id {id},
    run_id {part runs},
    {key check_code},
    subject {text} NOT NULL DEFAULT '',         -- scenario_code or hostname it is about
    verdict {text} NOT NULL CONSTRAINT run_checks_verdict CHECK (verdict IN ('pass', 'warn', 'stop', 'unknown')),
    can_override {bool} NOT NULL DEFAULT {false},
    compared {text} NOT NULL DEFAULT '{}',      -- JSON: the values compared
    message {text} NOT NULL,
    remedy {text},
    checked_ns {int} NOT NULL,
    overridden_by_user_id {ref? users},
    overridden_ns {int},
    override_reason {text},
    CONSTRAINT run_checks_key UNIQUE (run_id, check_code, subject),
    CONSTRAINT run_checks_override CHECK (overridden_ns IS NULL OR (can_override AND overridden_by_user_id IS NOT NULL))
) {strict};

CREATE TABLE jobs (
    id {id},
    tenant_id {ref tenants},
    run_id {ref runs},
    workload_id {ref workloads},
    scenario_id {ref scenarios},
    {code job_code},
    repetition {int} NOT NULL DEFAULT 1,
    origin {text} NOT NULL DEFAULT 'measured' CONSTRAINT jobs_origin CHECK (origin IN ('measured', 'imported')),
    kind {text} NOT NULL DEFAULT 'benchmark' CONSTRAINT jobs_kind CHECK (kind IN ('benchmark', 'calibration')),
    state {text} NOT NULL CONSTRAINT jobs_state CHECK (state IN
        ('queued', 'leased', 'starting', 'running', 'uploading', 'cancelling', 'succeeded', 'failed', 'cancelled', 'lost')),
    reason_code {text},
    reason {text},
    attempt {int} NOT NULL DEFAULT 0,           -- of the present or last attempt; 0: none yet
    automatic_retries {int} NOT NULL DEFAULT 0,
    priority {int} NOT NULL DEFAULT 0,
    server_id {ref? servers},                   -- where the present or last attempt runs
    not_before_ns {int},
    created_ns {int} NOT NULL,
    updated_ns {int} NOT NULL,
    started_ns {int},
    finished_ns {int},
    row_version {int} NOT NULL DEFAULT 1,
    CONSTRAINT jobs_key UNIQUE (tenant_id, job_code),
    CONSTRAINT jobs_place UNIQUE (run_id, scenario_id, repetition)
) {strict};
-- Lists: the page's ids come from an index alone, joins follow for those ids.
CREATE INDEX jobs_list ON jobs (tenant_id, created_ns, id, state, workload_id);
CREATE INDEX jobs_by_state ON jobs (tenant_id, state, created_ns, id);
CREATE INDEX jobs_by_workload ON jobs (workload_id, created_ns, id, state);
CREATE INDEX jobs_by_scenario ON jobs (scenario_id, created_ns, id, state);
CREATE INDEX jobs_queue ON jobs (priority, created_ns, id) WHERE state = 'queued';
CREATE INDEX jobs_server ON jobs (server_id, state);

-- What a job pins, resolved when its run starts; large text stays out of the list's table.
CREATE TABLE job_plans (
    job_id {int} PRIMARY KEY REFERENCES jobs (id) ON DELETE CASCADE,
    set_code {text},
    set_revision {int},
    set_digest {text},
    server_template_code {text},
    server_template_revision {int},
    tool_template_code {text},
    tool_template_revision {int},
    prompt_source_code {text},
    prompt_source_digest {text},
    prompt_sample_digest {text},                -- over the rows chosen, in order
    prompt_sample {text},                       -- JSON: targets, tolerance, what was achieved
    replicas {int},
    gpus_per_replica {int},
    request_count {int},                        -- as given, or derived
    overrides {text} NOT NULL DEFAULT '{}',     -- JSON: settings changed for this job
    placeholders {text} NOT NULL DEFAULT '{}',  -- JSON: every placeholder, its value and where it came from
    workload_digest {text},                     -- data, sample, shape, seed, sampling: equal digests may be compared
    commands_digest {text},                     -- over job_commands; sent with the lease
    resolved_ns {int} NOT NULL
) {strict};

CREATE TABLE job_commands (
    id {id},
    job_id {part jobs},
    kind {text} NOT NULL CONSTRAINT job_commands_kind CHECK (kind IN ('server', 'tool')),
    ordinal {int} NOT NULL DEFAULT 0,           -- of the replica
    argv {text} NOT NULL,                       -- JSON array of texts
    environment {text} NOT NULL DEFAULT '{}',   -- JSON; secrets as references
    devices {text} NOT NULL DEFAULT '[]',       -- JSON array of GPU indices
    port {int},
    command_text {text} NOT NULL,               -- for people: quoted for a shell
    digest {text} NOT NULL,
    CONSTRAINT job_commands_key UNIQUE (job_id, kind, ordinal)
) {strict};

CREATE TABLE job_attempts (
    id {id},
    job_id {ref jobs},
    attempt {int} NOT NULL CONSTRAINT job_attempts_number CHECK (attempt > 0),
    server_id {ref? servers},
    state {text} NOT NULL CONSTRAINT job_attempts_state CHECK (state IN
        ('leased', 'starting', 'running', 'uploading', 'succeeded', 'failed', 'cancelled', 'lost')),
    result {text} NOT NULL DEFAULT 'none'
        CONSTRAINT job_attempts_result CHECK (result IN ('none', 'accepted', 'superseded')),
    reason_code {text},
    reason {text},
    lease_nonce {text},                         -- renewals carry it
    leased_ns {int} NOT NULL,
    lease_term_s {int} NOT NULL DEFAULT 300,
    server_started_ns {int},                    -- agent's clock, as are the four below
    load_started_ns {int},                      -- first measured request
    load_finished_ns {int},
    ended_ns {int},
    window_start_ns {int},                      -- telemetry is accepted from here ...
    window_end_ns {int},                        -- ... to here (null: open)
    clock_offset_before_ns {int},               -- agent's clock - server's clock
    clock_offset_after_ns {int},
    agent_version {text},
    protocol_version {int},
    environment_digest {text},
    environment {text},                         -- JSON: engine version, image digest, driver, GPU, limits, host
    gpu_class_code {text},
    gpu_count {int},
    cancel_requested_ns {int},
    finished_ns {int},                          -- server's clock
    CONSTRAINT job_attempts_key UNIQUE (job_id, attempt)
) {strict};
CREATE INDEX job_attempts_server ON job_attempts (server_id, state);

-- Tokens that die with the attempt.
CREATE TABLE attempt_tokens (
    id {id},
    job_attempt_id {part job_attempts},
    token_hash {blob} NOT NULL,
    created_ns {int} NOT NULL,
    revoked_ns {int},
    CONSTRAINT attempt_tokens_hash UNIQUE (token_hash)
) {strict};
CREATE INDEX attempt_tokens_attempt ON attempt_tokens (job_attempt_id);

CREATE TABLE job_transitions (
    id {id},
    job_id {part jobs},
    attempt {int} NOT NULL,
    ordinal {int} NOT NULL,
    from_state {text},
    to_state {text} NOT NULL,
    reason_code {text},
    reason {text},
    actor {text},                               -- user_name, hostname or 'system'
    at_ns {int} NOT NULL,
    CONSTRAINT job_transitions_key UNIQUE (job_id, ordinal)
) {strict};

-- Workers brought up by a provider.
CREATE TABLE provider_instances (
    id {id},
    tenant_id {ref tenants},
    provider_id {ref providers},
    {code instance_code},                       -- our own id: in the job's name and comment there, looked up before submitting again
    run_id {ref? runs},
    server_config_id {ref? server_configs},
    server_id {ref? servers},
    external_id {text},
    state {text} NOT NULL CONSTRAINT provider_instances_state CHECK (state IN
        ('requested', 'provisioning', 'waiting', 'ready', 'releasing', 'released', 'failed')),
    reason_code {text},
    reason {text},
    give_up_ns {int},
    created_ns {int} NOT NULL,
    updated_ns {int} NOT NULL,
    CONSTRAINT provider_instances_key UNIQUE (tenant_id, instance_code)
) {strict};

CREATE TABLE tool_invocations (
    id {id},
    job_attempt_id {ref job_attempts},
    ordinal {int} NOT NULL DEFAULT 0,
    tool {text} NOT NULL,
    tool_version {text},
    argv {text} NOT NULL,                       -- JSON array: exactly what was executed
    environment {text} NOT NULL DEFAULT '{}',   -- JSON; no secrets
    command_text {text} NOT NULL,
    digest {text} NOT NULL,                     -- SHA-256 of argv, hex
    started_ns {int},
    finished_ns {int},
    exit_code {int},
    term_signal {int},
    is_imported {bool} NOT NULL DEFAULT {false},
    CONSTRAINT tool_invocations_key UNIQUE (job_attempt_id, ordinal)
) {strict};

CREATE TABLE job_logs (
    id {id},
    job_attempt_id {part job_attempts},
    stream {text} NOT NULL,                     -- agent, tool, server-0, ...
    ordinal {int} NOT NULL,                     -- of the piece within the stream
    first_byte {int} NOT NULL,
    bytes {blob} NOT NULL,
    received_ns {int} NOT NULL,
    CONSTRAINT job_logs_key UNIQUE (job_attempt_id, stream, ordinal)
) {strict};

-- What was found on the system under test, and files that a job left.
CREATE TABLE job_evidence (
    id {id},
    job_attempt_id {part job_attempts},
    {key evidence_code},                        -- environment, nvidia_smi, server_models, benchmark_report, requests, ...
    name {text} NOT NULL,
    media_type {text} NOT NULL,
    size_bytes {int} NOT NULL,
    digest {text} NOT NULL,                     -- SHA-256, hex
    is_superseded {bool} NOT NULL DEFAULT {false},
    location {text},                            -- where the bytes are when they are not here
    received_ns {int} NOT NULL,
    CONSTRAINT job_evidence_key UNIQUE (job_attempt_id, evidence_code, name)
) {strict};

CREATE TABLE job_evidence_bytes (
    job_evidence_id {int} PRIMARY KEY REFERENCES job_evidence (id) ON DELETE CASCADE,
    bytes {blob} NOT NULL
) {strict};
