-- SPDX-License-Identifier: Apache-2.0
-- Who may do what, and what can be benchmarked: tenants, users, projects, models, frameworks, GPUs, servers, prompt sources,
-- engine arguments, command templates, workloads, scenarios.
--
-- One source for SQLite and PostgreSQL. Words in braces are expanded by src/store/schema.c:
--   {id}          the internal key; never leaves the database        {text} {int} {real} {bool} {blob}   column types
--   {code NAME}   a natural key: lower case, [a-z0-9][a-z0-9._-]*, at most 100 characters; {version NAME} also '+',
--                 {login NAME} also '+' and '@'; {key NAME} may begin with '_'; {path NAME}: a model's, [A-Za-z0-9._:/+@-], 200
--   {ref T}       a row of T that must exist; {ref? T} or none; {part T} a part of it: goes when that row goes
--   {life}        created_ns, updated_ns, retired_ns (null: in use) and row_version (1, 2, ...: for "changed meanwhile?")
-- Times are nanoseconds since 1970 UTC and end in _ns. What is called JSON below is text.
-- Rows of the tenant `shared` are the shipped catalogue: every tenant reads them, nobody but migrations and seeding writes them.

CREATE TABLE tenants (
    id {id},
    {code tenant_code},
    name {text} NOT NULL,
    {life},
    CONSTRAINT tenants_key UNIQUE (tenant_code)
) {strict};

INSERT INTO tenants (tenant_code, name, created_ns, updated_ns) VALUES ('shared', 'Shipped with the program', 0, 0);

CREATE TABLE users (
    id {id},
    tenant_id {ref tenants},
    {login user_name},
    display_name {text},
    role {text} NOT NULL CONSTRAINT users_role CHECK (role IN ('admin', 'member', 'viewer', 'agent')),
    password_hash {text},                       -- Argon2id in its own text form; null: cannot log in with a password
    password_changed_ns {int},
    is_disabled {bool} NOT NULL DEFAULT {false},
    last_login_ns {int},
    {life},
    CONSTRAINT users_key UNIQUE (tenant_id, user_name)
) {strict};

CREATE TABLE api_tokens (
    id {id},
    tenant_id {ref tenants},
    user_id {ref users},
    {code token_code},
    token_hash {blob} NOT NULL,                 -- SHA-256 of the token, which is shown once
    token_hint {text} NOT NULL,                 -- its first characters, to recognise it by
    role {text} NOT NULL CONSTRAINT api_tokens_role CHECK (role IN ('admin', 'member', 'viewer', 'agent')),
    scopes {text} NOT NULL DEFAULT '[]',        -- JSON array of texts
    server_id {int},                            -- an agent's token: the server it speaks for
    expires_ns {int},
    last_used_ns {int},
    revoked_ns {int},
    {life},
    CONSTRAINT api_tokens_key UNIQUE (tenant_id, token_code),
    CONSTRAINT api_tokens_hash UNIQUE (token_hash)
) {strict};
CREATE INDEX api_tokens_user ON api_tokens (user_id);

CREATE TABLE sessions (
    id {id},
    tenant_id {ref tenants},
    user_id {ref users},
    session_hash {blob} NOT NULL,               -- SHA-256 of the cookie
    csrf_hash {blob},
    created_ns {int} NOT NULL,
    last_seen_ns {int} NOT NULL,
    expires_ns {int} NOT NULL,
    ended_ns {int},
    remote_address {text},
    user_agent {text},
    CONSTRAINT sessions_hash UNIQUE (session_hash)
) {strict};
CREATE INDEX sessions_user ON sessions (user_id);

CREATE TABLE secrets (
    id {id},
    tenant_id {ref tenants},
    {code secret_code},                         -- hf-token, endpoint-key, ...
    reference {text},                           -- where the worker finds it (env:NAME, file:PATH); or null and:
    ciphertext {blob},
    nonce {blob},
    key_hint {text},                            -- which key encrypts it
    {life},
    CONSTRAINT secrets_key UNIQUE (tenant_id, secret_code),
    CONSTRAINT secrets_one_form CHECK ((reference IS NULL) <> (ciphertext IS NULL))
) {strict};

CREATE TABLE projects (
    id {id},
    tenant_id {ref tenants},
    {code project_code},
    name {text} NOT NULL,
    description {text},
    {life},
    CONSTRAINT projects_key UNIQUE (tenant_id, project_code)
) {strict};

CREATE TABLE models (
    id {id},
    tenant_id {ref tenants},
    {path model_code},                          -- as its hub spells it; unique without regard to case
    base_model_code {text},
    family {text},
    display_name {text},
    architecture {text},                        -- dense, moe, ...
    parameter_count {real},
    active_parameter_count {real},
    context_length_tokens {int},
    layers {int},
    attention_heads {int},
    kv_heads {int},
    head_dim {int},
    is_gated {bool},
    tasks {text} NOT NULL DEFAULT '[]',         -- JSON array
    facts {text} NOT NULL DEFAULT '{}',         -- JSON: whatever else is known
    source_repository {text},
    source_commit {text},
    source_path {text},
    notes {text},
    {life}
) {strict};
CREATE UNIQUE INDEX models_key ON models (tenant_id, lower(model_code));

CREATE TABLE model_precisions (
    id {id},
    model_id {part models},
    precision_code {text} NOT NULL CONSTRAINT model_precisions_spelling CHECK (precision_code = lower(precision_code)), -- bf16, ...
    vram_minimum_gb {real},                     -- decimal GB
    is_derived {bool} NOT NULL DEFAULT {false},
    CONSTRAINT model_precisions_key UNIQUE (model_id, precision_code)
) {strict};

CREATE TABLE gpu_classes (
    id {id},
    tenant_id {ref tenants},
    {code gpu_class_code},
    aliases {text} NOT NULL DEFAULT '[]',
    vendor {text},
    marketing_name {text},
    architecture {text},
    compute_capability {text},
    memory_gib {real},
    memory_bandwidth_gb_s {real},
    max_power_w {real},
    supported_precisions {text} NOT NULL DEFAULT '[]',
    typical_gpus_per_node {int},
    facts {text} NOT NULL DEFAULT '{}',
    source {text},
    {life},
    CONSTRAINT gpu_classes_key UNIQUE (tenant_id, gpu_class_code)
) {strict};

CREATE TABLE frameworks (
    id {id},
    tenant_id {ref tenants},
    {code framework_code},
    display_name {text} NOT NULL,
    facts {text} NOT NULL DEFAULT '{}',
    {life},
    CONSTRAINT frameworks_key UNIQUE (tenant_id, framework_code)
) {strict};

CREATE TABLE framework_versions (
    id {id},
    framework_id {ref frameworks},
    {version version},                          -- 0.24.0, 0.5.15.post1, ...
    {code build},                               -- cuda, rocm, tpu, cpu
    image {text},
    is_default {bool} NOT NULL DEFAULT {false},
    gpu_classes {text} NOT NULL DEFAULT '[]',   -- JSON array of gpu_class_code; empty: not known
    facts {text} NOT NULL DEFAULT '{}',
    {life},
    CONSTRAINT framework_versions_key UNIQUE (framework_id, version, build)
) {strict};

-- How workers are brought up on demand. Its commands run on hosts: only admins write here.
CREATE TABLE providers (
    id {id},
    tenant_id {ref tenants},
    {code provider_code},
    kind {text} NOT NULL CONSTRAINT providers_kind CHECK (kind IN ('slurm', 'kubernetes', 'aws', 'gcloud', 'command')),
    provision_argv {text} NOT NULL DEFAULT '[]', -- JSON arrays of texts with {placeholders}
    wait_argv {text} NOT NULL DEFAULT '[]',
    release_argv {text} NOT NULL DEFAULT '[]',
    environment {text} NOT NULL DEFAULT '{}',
    give_up_s {int} NOT NULL DEFAULT 1800,
    settings {text} NOT NULL DEFAULT '{}',
    {life},
    CONSTRAINT providers_key UNIQUE (tenant_id, provider_code)
) {strict};

CREATE TABLE server_configs (
    id {id},
    tenant_id {ref tenants},
    {code config_code},
    name {text},
    location {text} NOT NULL CONSTRAINT server_configs_location CHECK (location IN ('on_prem', 'cloud')),
    provider_id {ref? providers},
    sku {text},                                 -- the cloud's name of it
    gpu_class_id {ref? gpu_classes},
    gpu_count {int} NOT NULL DEFAULT 0 CONSTRAINT server_configs_gpu_count CHECK (gpu_count BETWEEN 0 AND 4096),
    cpu_model {text},
    cpu_sockets {int},
    cpu_cores {int},
    memory_bytes {int},
    disk_bytes {int},
    price_per_hour {real},
    price_currency {text},
    facts {text} NOT NULL DEFAULT '{}',
    {life},
    CONSTRAINT server_configs_key UNIQUE (tenant_id, config_code)
) {strict};

CREATE TABLE servers (
    id {id},
    tenant_id {ref tenants},
    server_config_id {ref server_configs},
    {code hostname},
    state {text} NOT NULL DEFAULT 'registered'
        CONSTRAINT servers_state CHECK (state IN ('registered', 'online', 'silent', 'draining', 'out_of_service', 'released')),
    state_reason {text},
    labels {text} NOT NULL DEFAULT '{}',        -- JSON object of texts
    agent_version {text},
    protocol_version {int},
    driver_version {text},
    kernel {text},
    fingerprint {text} NOT NULL DEFAULT '{}',   -- JSON: what the agent found on the host
    fingerprint_digest {text},
    disk_free_bytes {int},
    secrets_present {text} NOT NULL DEFAULT '[]', -- JSON array of secret_code that the worker can resolve
    last_seen_ns {int},                         -- written at state changes, not at every heartbeat
    {life},
    CONSTRAINT servers_key UNIQUE (server_config_id, hostname)
) {strict};
CREATE INDEX servers_tenant ON servers (tenant_id, hostname);

CREATE TABLE server_gpus (
    id {id},
    server_id {part servers},
    gpu_index {int} NOT NULL,
    gpu_uuid {text},
    gpu_class_id {ref? gpu_classes},
    name {text},
    memory_bytes {int},
    power_limit_w {real},
    CONSTRAINT server_gpus_key UNIQUE (server_id, gpu_index)
) {strict};

CREATE TABLE prompt_sources (
    id {id},
    tenant_id {ref tenants},
    {code source_code},
    source_type {text} NOT NULL CONSTRAINT prompt_sources_type CHECK (source_type IN
        ('prompt_library', 'metrumbench_vlm_snapshot', 'metrumbench_asr_snapshot', 'metrumbench_imagegen_snapshot')),
    state {text} NOT NULL DEFAULT 'ready'
        CONSTRAINT prompt_sources_state CHECK (state IN ('ready', 'importing', 'bytes_missing')),
    name {text} NOT NULL,
    description {text},
    origin {text},                              -- where it comes from: an address or a seed
    licence {text},
    kind {text},                                -- random, fixed, medical, legal, code, long_context, own
    content_digest {text},                      -- SHA-256 over the rows in order, hex
    row_count {int} NOT NULL DEFAULT 0,
    restic_repository {text},
    restic_snapshot {text},
    bytes_total {int},
    import_command {text},                      -- what fills it, for the state bytes_missing
    {life},
    CONSTRAINT prompt_sources_key UNIQUE (tenant_id, source_code)
) {strict};

CREATE TABLE prompt_library_prompts (
    id {id},
    prompt_source_id {part prompt_sources},
    ordinal {int} NOT NULL,                     -- 0, 1, ... within the source
    prompt {text} NOT NULL,
    expected_output_tokens {int},
    words {int} NOT NULL,
    digest {text} NOT NULL,
    CONSTRAINT prompt_library_prompts_key UNIQUE (prompt_source_id, ordinal)
) {strict};
CREATE INDEX prompt_library_prompts_words ON prompt_library_prompts (prompt_source_id, words, ordinal);

CREATE TABLE metrumbench_vlm_snapshot_rows (
    id {id},
    prompt_source_id {part prompt_sources},
    ordinal {int} NOT NULL,
    prompt {text} NOT NULL,
    image_urls {text} NOT NULL,                 -- JSON array, as the tool's input has it
    image_digests {text} NOT NULL DEFAULT '[]', -- JSON array: SHA-256 of each, hex; empty while unknown
    width {int},
    height {int},
    size_bytes {int},
    CONSTRAINT metrumbench_vlm_snapshot_rows_key UNIQUE (prompt_source_id, ordinal)
) {strict};

CREATE TABLE metrumbench_asr_snapshot_rows (
    id {id},
    prompt_source_id {part prompt_sources},
    ordinal {int} NOT NULL,
    sample_id {text} NOT NULL,
    path {text},
    url {text},
    format {text} NOT NULL,
    duration_s {real},
    transcript {text},
    digest {text},
    size_bytes {int},
    CONSTRAINT metrumbench_asr_snapshot_rows_key UNIQUE (prompt_source_id, ordinal),
    CONSTRAINT metrumbench_asr_snapshot_rows_sample UNIQUE (prompt_source_id, sample_id),
    CONSTRAINT metrumbench_asr_snapshot_rows_place CHECK ((path IS NULL) <> (url IS NULL))
) {strict};

CREATE TABLE metrumbench_imagegen_snapshot_rows (
    id {id},
    prompt_source_id {part prompt_sources},
    ordinal {int} NOT NULL,
    prompt {text} NOT NULL,
    negative_prompt {text},
    size {text},
    CONSTRAINT metrumbench_imagegen_snapshot_rows_key UNIQUE (prompt_source_id, ordinal)
) {strict};

-- Tokens per word of a model, learnt by a calibration job or given by hand.
CREATE TABLE model_calibrations (
    id {id},
    tenant_id {ref tenants},
    model_id {ref models},
    prompt_source_id {ref? prompt_sources},     -- null: over mixed text
    tokens_per_word {real} NOT NULL CONSTRAINT model_calibrations_ratio CHECK (tokens_per_word > 0),
    tokens_per_word_std {real},
    samples {int} NOT NULL DEFAULT 0,
    measured_ns {int} NOT NULL,
    job_code {text},                            -- the job that measured it
    CONSTRAINT model_calibrations_time CHECK (measured_ns > 0)
) {strict};
CREATE UNIQUE INDEX model_calibrations_key ON model_calibrations (tenant_id, model_id, coalesce(prompt_source_id, 0), measured_ns);

CREATE TABLE framework_engine_args_templates (
    id {id},
    framework_version_id {part framework_versions},
    {key arg_key},                              -- tensor_parallel_size, ...
    flag {text} NOT NULL,                       -- --tensor-parallel-size
    value_type {text} NOT NULL CONSTRAINT framework_engine_args_templates_type
        CHECK (value_type IN ('int', 'float', 'bool', 'string', 'json', 'list')),
    default_value {text},                       -- null: not known
    choices {text},                             -- JSON array or null
    description {text},
    CONSTRAINT framework_engine_args_templates_key UNIQUE (framework_version_id, arg_key)
) {strict};

CREATE TABLE framework_engine_args_sets (
    id {id},
    tenant_id {ref tenants},
    {code set_code},
    framework_id {ref frameworks},
    framework_version_id {ref? framework_versions}, -- null: a minimum only
    framework_version_min {text},
    tool_scope {text} NOT NULL DEFAULT 'llm'
        CONSTRAINT framework_engine_args_sets_scope CHECK (tool_scope IN ('llm', 'vlm', 'asr', 'imagegen')),
    model_id {ref? models},
    precision_code {text},
    model_variant {text},
    tensor_parallel_size {int} NOT NULL DEFAULT 1,
    pipeline_parallel_size {int} NOT NULL DEFAULT 1,
    data_parallel_size {int} NOT NULL DEFAULT 1,
    expert_parallel_size {int},
    ulysses_size {int},
    ring_size {int},
    node_count {int} NOT NULL DEFAULT 1,
    gpus_per_replica {int} NOT NULL DEFAULT 1,
    vram_minimum_gb {real},
    is_recommended {bool} NOT NULL DEFAULT {false},
    strategy {text},
    facts {text} NOT NULL DEFAULT '{}',
    source_repository {text},
    source_commit {text},
    source_path {text},
    current_revision {int} NOT NULL DEFAULT 1,
    {life},
    CONSTRAINT framework_engine_args_sets_key UNIQUE (tenant_id, set_code),
    CONSTRAINT framework_engine_args_sets_sizes CHECK (tensor_parallel_size > 0 AND pipeline_parallel_size > 0
        AND data_parallel_size > 0 AND node_count > 0 AND gpus_per_replica > 0)
) {strict};
CREATE INDEX framework_engine_args_sets_model ON framework_engine_args_sets (model_id);

CREATE TABLE framework_engine_args_set_gpu_classes (
    id {id},
    set_id {part framework_engine_args_sets},
    gpu_class_id {ref gpu_classes},
    status {text} NOT NULL DEFAULT 'not_listed' CONSTRAINT framework_engine_args_set_gpu_classes_status
        CHECK (status IN ('verified', 'unverified', 'listed', 'not_listed')),
    CONSTRAINT framework_engine_args_set_gpu_classes_key UNIQUE (set_id, gpu_class_id)
) {strict};

-- A revision never changes once it is written; an edit makes the next one.
CREATE TABLE framework_engine_args_set_revisions (
    id {id},
    set_id {part framework_engine_args_sets},
    revision {int} NOT NULL,
    digest {text} NOT NULL,                     -- SHA-256 over values and environment in order, hex
    environment {text} NOT NULL DEFAULT '{}',   -- JSON object of texts
    images {text} NOT NULL DEFAULT '{}',        -- JSON: container image per gpu_class_code
    note {text},
    created_by {text},
    created_ns {int} NOT NULL,
    CONSTRAINT framework_engine_args_set_revisions_key UNIQUE (set_id, revision)
) {strict};

CREATE TABLE framework_engine_args_values (
    id {id},
    set_revision_id {part framework_engine_args_set_revisions},
    ordinal {int} NOT NULL,
    {key arg_key},
    value {text},                               -- as JSON
    value_type {text} NOT NULL CONSTRAINT framework_engine_args_values_type
        CHECK (value_type IN ('int', 'float', 'bool', 'string', 'json', 'list')),
    flag {text} NOT NULL,
    joiner {text},                              -- '=' writes flag=value
    raw_value {text},                           -- upstream's spelling where it differs
    origin {text},                              -- null: recipe; parallelism, feature, user
    CONSTRAINT framework_engine_args_values_order UNIQUE (set_revision_id, ordinal),
    CONSTRAINT framework_engine_args_values_key UNIQUE (set_revision_id, arg_key)
) {strict};

-- What is run on workers: only admins write here.
CREATE TABLE command_templates (
    id {id},
    tenant_id {ref tenants},
    {code template_code},
    kind {text} NOT NULL CONSTRAINT command_templates_kind CHECK (kind IN ('server', 'tool')),
    framework_id {ref? frameworks},             -- a server's
    tool {text},                                -- a tool's: metrumbench-llm, ..., vllm-bench, guidellm, inference-perf
    launcher {text} NOT NULL DEFAULT 'process' CONSTRAINT command_templates_launcher CHECK (launcher IN ('process', 'container')),
    description {text},
    current_revision {int} NOT NULL DEFAULT 1,
    {life},
    CONSTRAINT command_templates_key UNIQUE (tenant_id, template_code),
    CONSTRAINT command_templates_subject CHECK ((kind = 'tool') = (tool IS NOT NULL))
) {strict};

CREATE TABLE command_template_revisions (
    id {id},
    command_template_id {part command_templates},
    revision {int} NOT NULL,
    digest {text} NOT NULL,
    argv {text} NOT NULL,                       -- JSON array of texts with {placeholders}
    environment {text} NOT NULL DEFAULT '{}',
    settings {text} NOT NULL DEFAULT '{}',      -- JSON: health path, readiness limit, ...
    note {text},
    created_by {text},
    created_ns {int} NOT NULL,
    CONSTRAINT command_template_revisions_key UNIQUE (command_template_id, revision)
) {strict};

CREATE TABLE workloads (
    id {id},
    tenant_id {ref tenants},
    project_id {ref projects},
    {code workload_code},
    name {text} NOT NULL,
    description {text},
    tool {text} NOT NULL,                       -- metrumbench-llm, metrumbench-vlm, metrumbench-asr, metrumbench-imagegen, vllm-bench, ...
    model_id {ref models},
    framework_version_id {ref framework_versions},
    quantization {text},                        -- precision_code: bf16, fp8, ...
    engine_args_set_id {ref? framework_engine_args_sets},
    engine_args_set_revision {int},             -- null: the current one when a run starts
    prompt_source_id {ref? prompt_sources},
    server_template_id {ref? command_templates},
    tool_template_id {ref? command_templates},
    server_config_id {ref? server_configs},     -- target hardware
    server_id {ref? servers},                   -- or one host of it
    gpus {int},                                 -- GPUs of the host to use; null: all
    server_labels {text} NOT NULL DEFAULT '{}', -- JSON: labels an agent must have
    settings {text} NOT NULL DEFAULT '{}',      -- JSON: placeholders set for all scenarios
    {life},
    CONSTRAINT workloads_key UNIQUE (tenant_id, workload_code)
) {strict};
CREATE INDEX workloads_project ON workloads (project_id);
CREATE INDEX workloads_model ON workloads (model_id);

CREATE TABLE scenarios (
    id {id},
    tenant_id {ref tenants},
    workload_id {ref workloads},
    {code scenario_code},
    name {text},
    tool {text} NOT NULL,                       -- the workload's
    concurrency {int} CONSTRAINT scenarios_concurrency CHECK (concurrency > 0),
    request_rate_per_s {real} CONSTRAINT scenarios_request_rate CHECK (request_rate_per_s > 0), -- open loop
    arrival {text},                             -- closed, poisson, constant, ...
    isl_tokens {int} CONSTRAINT scenarios_isl CHECK (isl_tokens > 0),
    osl_tokens {int} CONSTRAINT scenarios_osl CHECK (osl_tokens > 0),
    isl_tolerance_ratio {real},
    request_count {int} CONSTRAINT scenarios_request_count CHECK (request_count > 0),
    duration_s {real},
    warmup_requests {int},
    ramp_up_seconds {real} CONSTRAINT scenarios_ramp_up CHECK (ramp_up_seconds >= 0),
    timeout_s {real},
    temperature {real},
    seed {int},
    is_streaming {bool},
    num_images_batch {int} CONSTRAINT scenarios_images CHECK (num_images_batch > 0), -- VLM: images a request; images: n
    image_detail {text} CONSTRAINT scenarios_image_detail CHECK (image_detail IN ('low', 'high', 'auto')),
    size {text},                                -- images: 1024x1024
    language {text},                            -- ASR
    response_format {text},                     -- ASR: verbose_json, ...; images: b64_json, url
    num_inference_steps {int},
    guidance_scale {real},
    repetitions {int} NOT NULL DEFAULT 1 CONSTRAINT scenarios_repetitions CHECK (repetitions BETWEEN 1 AND 1000),
    retry {text} NOT NULL DEFAULT 'never' CONSTRAINT scenarios_retry CHECK (retry IN ('never', 'on_lost')),
    job_limit_s {int},                          -- longest a job may take
    slo {text},                                 -- JSON: goodput's limits
    settings {text} NOT NULL DEFAULT '{}',      -- JSON: further options of the tool
    {life},
    CONSTRAINT scenarios_key UNIQUE (workload_id, scenario_code),
    -- An image scenario's count is derived from its concurrency.
    CONSTRAINT scenarios_imagegen_count CHECK (tool <> 'metrumbench-imagegen' OR request_count IS NULL)
) {strict};
CREATE INDEX scenarios_tenant ON scenarios (tenant_id, created_ns, id);

CREATE VIEW v_prompt_libraries_with_prompt_count AS
SELECT p.tenant_id AS tenant_id, p.source_code AS library_code, p.name AS name, p.description AS description, p.kind AS kind,
       p.state AS state, p.origin AS origin, p.licence AS licence, p.content_digest AS content_digest,
       (SELECT count(*) FROM prompt_library_prompts l WHERE l.prompt_source_id = p.id) AS prompt_count,
       (SELECT min(l.words) FROM prompt_library_prompts l WHERE l.prompt_source_id = p.id) AS min_words,
       (SELECT max(l.words) FROM prompt_library_prompts l WHERE l.prompt_source_id = p.id) AS max_words,
       p.created_ns AS created_ns, p.retired_ns AS retired_ns
  FROM prompt_sources p
 WHERE p.source_type = 'prompt_library';
