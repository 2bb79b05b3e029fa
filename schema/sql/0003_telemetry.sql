-- SPDX-License-Identifier: Apache-2.0
-- Hardware telemetry. Samples lie in chunks of one minute and device: the raw values packed (`codec` says how), beside
-- them their typed roll-up; one roll-up more for the whole attempt. A batch writes all three in one transaction; views read
-- roll-ups only, so that dropping old raw samples changes no figure.
--
--   {roll NAME}      NAME_n, NAME_sum, NAME_min, NAME_max: a mean is sum / n; all but n null while n = 0
--   {define BLOCK} ... {end}  names a piece of text, {use BLOCK} puts it in, here and in later files
--   {partitioned C}  PostgreSQL: partitions by ranges of C, made by the store ahead of time
-- A ratio runs from 0 to 1. A device that reports no value leaves n as it is.

CREATE TABLE telemetry_batches (
    id {id},
    job_attempt_id {part job_attempts},
    batch_key {text} NOT NULL,                  -- the sender's; a repeat adds nothing
    received_ns {int} NOT NULL,
    samples_accepted {int} NOT NULL,
    samples_rejected {int} NOT NULL,
    samples_repeated {int} NOT NULL DEFAULT 0,
    rejections {text} NOT NULL DEFAULT '{}',    -- JSON: count per reason code
    CONSTRAINT telemetry_batches_key UNIQUE (job_attempt_id, batch_key)
) {strict};

CREATE TABLE telemetry_gpu_rollups (
    id {id},
    job_attempt_id {part job_attempts},
    gpu_index {int} NOT NULL,
    gpu_uuid {text} NOT NULL DEFAULT '',        -- '' while not known
    gpu_name {text},
    source {text},                              -- nvml, amdgpu, dcgm, external, ...
    samples {int} NOT NULL DEFAULT 0,
    first_ns {int},
    last_ns {int},
    max_gap_ns {int},
    {roll power_w},
    {roll utilization},
    {roll memory_used_bytes},
    {roll memory_total_bytes},
    {roll memory_ratio},
    {roll memory_utilization},
    {roll temperature_c},
    {roll sm_clock_mhz},
    throttled_samples {int} NOT NULL DEFAULT 0,
    energy_counter_first_j {real},
    energy_counter_last_j {real},
    CONSTRAINT telemetry_gpu_rollups_key UNIQUE (job_attempt_id, gpu_index, gpu_uuid)
) {strict};

CREATE TABLE telemetry_gpu_chunks (
    rollup_id {int} NOT NULL REFERENCES telemetry_gpu_rollups (id) ON DELETE CASCADE,
    minute_ns {int} NOT NULL,                   -- start of the minute
    samples {int} NOT NULL,
    first_ns {int} NOT NULL,
    last_ns {int} NOT NULL,
    {roll power_w},
    {roll utilization},
    {roll memory_used_bytes},
    {roll memory_ratio},
    {roll temperature_c},
    codec {int} NOT NULL,                       -- how raw is packed
    raw {blob} NOT NULL,
    CONSTRAINT telemetry_gpu_chunks_key PRIMARY KEY (rollup_id, minute_ns)
) {partitioned minute_ns};
CREATE INDEX telemetry_gpu_chunks_time ON telemetry_gpu_chunks (minute_ns);

CREATE TABLE telemetry_cpu_rollups (
    id {id},
    job_attempt_id {part job_attempts},
    socket_index {int} NOT NULL,
    cpu_name {text},
    source {text},
    samples {int} NOT NULL DEFAULT 0,
    first_ns {int},
    last_ns {int},
    max_gap_ns {int},
    {roll utilization},
    {roll power_w},
    {roll temperature_c},
    CONSTRAINT telemetry_cpu_rollups_key UNIQUE (job_attempt_id, socket_index)
) {strict};

CREATE TABLE telemetry_cpu_chunks (
    rollup_id {int} NOT NULL REFERENCES telemetry_cpu_rollups (id) ON DELETE CASCADE,
    minute_ns {int} NOT NULL,
    samples {int} NOT NULL,
    first_ns {int} NOT NULL,
    last_ns {int} NOT NULL,
    {roll utilization},
    {roll power_w},
    codec {int} NOT NULL,
    raw {blob} NOT NULL,
    CONSTRAINT telemetry_cpu_chunks_key PRIMARY KEY (rollup_id, minute_ns)
) {partitioned minute_ns};
CREATE INDEX telemetry_cpu_chunks_time ON telemetry_cpu_chunks (minute_ns);

CREATE TABLE telemetry_system_rollups (
    id {id},
    job_attempt_id {part job_attempts},
    node_index {int} NOT NULL DEFAULT 0,        -- of the host, when one job spans several
    source {text},
    power_scope {text},                         -- chassis_input, platform, package_and_dram; scopes are never added up
    samples {int} NOT NULL DEFAULT 0,
    first_ns {int},
    last_ns {int},
    max_gap_ns {int},
    {roll ram_used_bytes},
    {roll ram_total_bytes},
    {roll ram_ratio},
    {roll power_w},
    CONSTRAINT telemetry_system_rollups_key UNIQUE (job_attempt_id, node_index)
) {strict};

CREATE TABLE telemetry_system_chunks (
    rollup_id {int} NOT NULL REFERENCES telemetry_system_rollups (id) ON DELETE CASCADE,
    minute_ns {int} NOT NULL,
    samples {int} NOT NULL,
    first_ns {int} NOT NULL,
    last_ns {int} NOT NULL,
    {roll ram_used_bytes},
    {roll ram_ratio},
    {roll power_w},
    codec {int} NOT NULL,
    raw {blob} NOT NULL,
    CONSTRAINT telemetry_system_chunks_key PRIMARY KEY (rollup_id, minute_ns)
) {partitioned minute_ns};
CREATE INDEX telemetry_system_chunks_time ON telemetry_system_chunks (minute_ns);

CREATE TABLE telemetry_tpu_rollups (
    id {id},
    job_attempt_id {part job_attempts},
    chip_index {int} NOT NULL,
    chip_name {text},
    source {text},
    samples {int} NOT NULL DEFAULT 0,
    first_ns {int},
    last_ns {int},
    max_gap_ns {int},
    {roll duty_cycle_percent},
    {roll tensor_core_utilization_percent},
    {roll hbm_used_bytes},
    {roll hbm_total_bytes},
    {roll hbm_ratio},
    tensor_core_reason {text},                  -- why there is no tensor-core figure
    CONSTRAINT telemetry_tpu_rollups_key UNIQUE (job_attempt_id, chip_index)
) {strict};

CREATE TABLE telemetry_tpu_chunks (
    rollup_id {int} NOT NULL REFERENCES telemetry_tpu_rollups (id) ON DELETE CASCADE,
    minute_ns {int} NOT NULL,
    samples {int} NOT NULL,
    first_ns {int} NOT NULL,
    last_ns {int} NOT NULL,
    {roll duty_cycle_percent},
    {roll tensor_core_utilization_percent},
    {roll hbm_used_bytes},
    codec {int} NOT NULL,
    raw {blob} NOT NULL,
    CONSTRAINT telemetry_tpu_chunks_key PRIMARY KEY (rollup_id, minute_ns)
) {partitioned minute_ns};
CREATE INDEX telemetry_tpu_chunks_time ON telemetry_tpu_chunks (minute_ns);

-- Energy over the measured window, or why there is none.
CREATE TABLE telemetry_energy (
    id {id},
    job_attempt_id {part job_attempts},
    scope {text} NOT NULL,                      -- gpu_board, cpu_package, platform, chassis_input, tpu_chip
    device {text} NOT NULL DEFAULT '',          -- '' : all of the scope
    method {text} NOT NULL,                     -- integral, counter
    energy_j {real},
    mean_power_w {real},
    is_valid {bool} NOT NULL,
    reason_code {text},
    definition_version {int} NOT NULL,
    CONSTRAINT telemetry_energy_key UNIQUE (job_attempt_id, scope, device, method),
    CONSTRAINT telemetry_energy_reason CHECK (is_valid OR (energy_j IS NULL AND reason_code IS NOT NULL))
) {strict};

-- Monitoring data from elsewhere, as it came.
CREATE TABLE telemetry_external (
    id {id},
    job_attempt_id {part job_attempts},
    {key attachment_code},
    format {text} NOT NULL CONSTRAINT telemetry_external_format CHECK (format IN ('csv', 'jsonl', 'prometheus_range')),
    digest {text} NOT NULL,
    bytes {blob} NOT NULL,
    first_ns {int},
    last_ns {int},
    samples {int} NOT NULL DEFAULT 0,
    samples_rejected {int} NOT NULL DEFAULT 0,
    received_ns {int} NOT NULL,
    attached_by {text},
    CONSTRAINT telemetry_external_key UNIQUE (job_attempt_id, attachment_code)
) {strict};

-- Of attempt `a`, as subqueries, so that a page of rows costs its own rows only: a grouped join would read every roll-up.
-- Means are over all samples of all devices.
{define attempt_telemetry}
       coalesce((SELECT sum(g.samples) FROM telemetry_gpu_rollups g WHERE g.job_attempt_id = a.id), 0)
         + coalesce((SELECT sum(c.samples) FROM telemetry_cpu_rollups c WHERE c.job_attempt_id = a.id), 0)
         + coalesce((SELECT sum(s.samples) FROM telemetry_system_rollups s WHERE s.job_attempt_id = a.id), 0)
         + coalesce((SELECT sum(t.samples) FROM telemetry_tpu_rollups t WHERE t.job_attempt_id = a.id), 0) AS sample_count,
       (SELECT (max(e.last_ns) - min(e.first_ns)) / 1e9
          FROM (SELECT g.first_ns AS first_ns, g.last_ns AS last_ns FROM telemetry_gpu_rollups g WHERE g.job_attempt_id = a.id
                UNION ALL SELECT c.first_ns, c.last_ns FROM telemetry_cpu_rollups c WHERE c.job_attempt_id = a.id
                UNION ALL SELECT s.first_ns, s.last_ns FROM telemetry_system_rollups s WHERE s.job_attempt_id = a.id
                UNION ALL SELECT t.first_ns, t.last_ns FROM telemetry_tpu_rollups t WHERE t.job_attempt_id = a.id) e)
         AS collection_duration_s,
       (SELECT count(*) FROM telemetry_gpu_rollups g WHERE g.job_attempt_id = a.id) AS gpu_count,
       (SELECT sum(g.power_w_sum) / nullif(sum(g.power_w_n), 0) FROM telemetry_gpu_rollups g WHERE g.job_attempt_id = a.id)
         AS avg_gpu_power_w,
       (SELECT max(g.power_w_max) FROM telemetry_gpu_rollups g WHERE g.job_attempt_id = a.id) AS max_gpu_power_w,
       (SELECT sum(g.utilization_sum) / nullif(sum(g.utilization_n), 0) FROM telemetry_gpu_rollups g WHERE g.job_attempt_id = a.id)
         AS avg_gpu_utilization,
       (SELECT max(g.utilization_max) FROM telemetry_gpu_rollups g WHERE g.job_attempt_id = a.id) AS max_gpu_utilization,
       (SELECT 100.0 * sum(g.memory_ratio_sum) / nullif(sum(g.memory_ratio_n), 0)
          FROM telemetry_gpu_rollups g WHERE g.job_attempt_id = a.id) AS avg_gpu_memory_percent,
       (SELECT 100.0 * max(g.memory_ratio_max) FROM telemetry_gpu_rollups g WHERE g.job_attempt_id = a.id) AS max_gpu_memory_percent,
       (SELECT sum(c.utilization_sum) / nullif(sum(c.utilization_n), 0) FROM telemetry_cpu_rollups c WHERE c.job_attempt_id = a.id)
         AS avg_cpu_utilization,
       (SELECT 100.0 * sum(s.ram_ratio_sum) / nullif(sum(s.ram_ratio_n), 0)
          FROM telemetry_system_rollups s WHERE s.job_attempt_id = a.id) AS avg_system_ram_percent,
       (SELECT sum(s.power_w_sum) / nullif(sum(s.power_w_n), 0) FROM telemetry_system_rollups s WHERE s.job_attempt_id = a.id)
         AS avg_system_power_w,
       (SELECT max(s.power_w_max) FROM telemetry_system_rollups s WHERE s.job_attempt_id = a.id) AS max_system_power_w,
       (SELECT count(*) FROM telemetry_tpu_rollups t WHERE t.job_attempt_id = a.id) AS tpu_chip_count,
       (SELECT sum(t.duty_cycle_percent_sum) / nullif(sum(t.duty_cycle_percent_n), 0)
          FROM telemetry_tpu_rollups t WHERE t.job_attempt_id = a.id) AS avg_tpu_duty_cycle_percent,
       (SELECT max(t.duty_cycle_percent_max) FROM telemetry_tpu_rollups t WHERE t.job_attempt_id = a.id) AS max_tpu_duty_cycle_percent,
       (SELECT sum(t.tensor_core_utilization_percent_sum) / nullif(sum(t.tensor_core_utilization_percent_n), 0)
          FROM telemetry_tpu_rollups t WHERE t.job_attempt_id = a.id) AS avg_tpu_tensor_core_utilization_percent,
       (SELECT max(t.tensor_core_utilization_percent_max) FROM telemetry_tpu_rollups t WHERE t.job_attempt_id = a.id)
         AS max_tpu_tensor_core_utilization_percent,
       (SELECT 100.0 * max(t.hbm_ratio_max) FROM telemetry_tpu_rollups t WHERE t.job_attempt_id = a.id) AS max_tpu_hbm_percent
{end}

-- One row per job, of its present attempt.
CREATE VIEW v_telemetry_job_summary AS
SELECT j.tenant_id AS tenant_id, j.id AS job_id, a.id AS job_attempt_id, j.job_code AS job_code, a.attempt AS attempt,
       {use attempt_telemetry}
  FROM jobs j
  JOIN job_attempts a ON a.job_id = j.id AND a.attempt = j.attempt;

-- One row per GPU and job.
CREATE VIEW v_telemetry_per_gpu_summary AS
SELECT j.tenant_id AS tenant_id, j.id AS job_id, a.id AS job_attempt_id, j.job_code AS job_code, a.attempt AS attempt,
       g.gpu_index AS gpu_index, g.gpu_uuid AS gpu_uuid, g.gpu_name AS gpu_name, g.source AS source, g.samples AS sample_count,
       (g.last_ns - g.first_ns) / 1e9 AS collection_duration_s, g.max_gap_ns / 1e9 AS max_gap_s,
       g.power_w_sum / nullif(g.power_w_n, 0) AS avg_gpu_power_w, g.power_w_max AS max_gpu_power_w, g.power_w_min AS min_gpu_power_w,
       g.utilization_sum / nullif(g.utilization_n, 0) AS avg_gpu_utilization, g.utilization_max AS max_gpu_utilization,
       g.memory_used_bytes_sum / nullif(g.memory_used_bytes_n, 0) AS avg_gpu_memory_used_bytes,
       g.memory_used_bytes_max AS max_gpu_memory_used_bytes, g.memory_total_bytes_max AS gpu_memory_total_bytes,
       100.0 * g.memory_ratio_sum / nullif(g.memory_ratio_n, 0) AS avg_gpu_memory_percent,
       100.0 * g.memory_ratio_max AS max_gpu_memory_percent,
       g.temperature_c_sum / nullif(g.temperature_c_n, 0) AS avg_gpu_temperature_c, g.temperature_c_max AS max_gpu_temperature_c,
       g.throttled_samples AS throttled_samples
  FROM telemetry_gpu_rollups g
  JOIN job_attempts a ON a.id = g.job_attempt_id
  JOIN jobs j ON j.id = a.job_id AND j.attempt = a.attempt;

-- Jobs with what they are about, where they ran and their telemetry.
CREATE VIEW v_job_with_telemetry AS
SELECT j.tenant_id AS tenant_id, j.id AS job_id, j.job_code AS job_code, j.state AS status, j.reason_code AS reason_code,
       j.attempt AS attempt, j.repetition AS repetition, j.origin AS origin, j.created_ns AS created_ns,
       j.started_ns AS started_ns, j.finished_ns AS finished_ns, r.run_code AS run_code, p.project_code AS project_code,
       w.workload_code AS workload_code, w.tool AS tool, w.quantization AS quantization, sc.scenario_code AS scenario_code,
       sc.concurrency AS concurrency, m.model_code AS model_code, f.framework_code AS framework_code,
       fv.version AS framework_version, fv.build AS framework_build, cfg.config_code AS config_code, s.hostname AS hostname,
       {use attempt_telemetry}
  FROM jobs j
  JOIN runs r ON r.id = j.run_id
  JOIN workloads w ON w.id = j.workload_id
  JOIN projects p ON p.id = w.project_id
  JOIN scenarios sc ON sc.id = j.scenario_id
  JOIN models m ON m.id = w.model_id
  JOIN framework_versions fv ON fv.id = w.framework_version_id
  JOIN frameworks f ON f.id = fv.framework_id
  LEFT JOIN servers s ON s.id = j.server_id
  LEFT JOIN server_configs cfg ON cfg.id = s.server_config_id
  LEFT JOIN job_attempts a ON a.job_id = j.id AND a.attempt = j.attempt;
