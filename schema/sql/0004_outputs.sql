-- SPDX-License-Identifier: Apache-2.0
-- Results: the tool's summary byte for byte, how it was mapped, its typed columns, and the views that people query.
--
--   {dist NAME}     NAME_n, _avg, _std, _min, _max, _p50, _p90, _p95, _p99: a distribution of the summary; null when undefined
--   {amount NAME}   NAME_total, _min, _max, _avg, _p50, _p95
--   {select A BLOCK}  the columns' names of a block, of the table called A
-- Columns are the summary's members: latency.ttft_ms.p50 is ttft_ms_p50. ttft_spec_ms and tpot_spec_ms follow the spec's
-- definitions (a request without streaming counts its response time; divided by all completion tokens); ttft_ms and tpot_ms
-- the usual ones. Rates count over the measured window, spec_... over the time to the last completion.

CREATE TABLE summary_documents (
    id {id},
    tool_invocation_id {ref tool_invocations},
    schema_name {text} NOT NULL,                -- metrumbench-llm.summary.v1, benchmark_report 0.2.1, ...
    metric_definition_version {int} NOT NULL,
    bytes {blob} NOT NULL,                      -- as the agent sent them
    digest {text} NOT NULL,                     -- SHA-256, hex
    size_bytes {int} NOT NULL,
    received_ns {int} NOT NULL,
    CONSTRAINT summary_documents_key UNIQUE (tool_invocation_id, digest)
) {strict};

-- What an ingest did; repeating it writes one more.
CREATE TABLE ingest_receipts (
    id {id},
    tenant_id {ref tenants},
    {code receipt_code},
    job_attempt_id {ref job_attempts},
    summary_document_id {ref? summary_documents},
    kind {text} NOT NULL CONSTRAINT ingest_receipts_kind CHECK (kind IN ('ingest', 'reingest', 'import')),
    result {text} NOT NULL CONSTRAINT ingest_receipts_result CHECK (result IN ('accepted', 'superseded')),
    mapping_version {int} NOT NULL,
    files {text} NOT NULL DEFAULT '[]',         -- JSON: name, digest, size of each
    rows_written {text} NOT NULL DEFAULT '{}',  -- JSON: count per table
    members_ignored {text} NOT NULL DEFAULT '[]', -- JSON: paths that have no column
    created_ns {int} NOT NULL,
    CONSTRAINT ingest_receipts_key UNIQUE (tenant_id, receipt_code)
) {strict};
CREATE INDEX ingest_receipts_attempt ON ingest_receipts (job_attempt_id);

{define invocation_columns}
    tool_version {text},
    url {text},
    endpoint_count {int},
    model {text},
    concurrency {int},
    request_rate_per_s {real},
    arrival {text},
    request_count {int},
    warmup_requests {int},
    ramp_up_seconds {real},
    duration_s {real},
    timeout_s {real},
    connect_timeout_s {real},
    retries {int},
    seed {int},
    input_path {text},
    config {text} NOT NULL DEFAULT '{}'
{end}

CREATE TABLE metrumbench_llm_invocations (
    id {id},
    tool_invocation_id {ref tool_invocations},
    {use invocation_columns},
    is_streaming {bool},
    api_mode {text},                            -- chat, completion
    max_tokens {int},
    temperature {real},
    ignore_eos {bool},
    CONSTRAINT metrumbench_llm_invocations_key UNIQUE (tool_invocation_id)
) {strict};

CREATE TABLE metrumbench_vlm_invocations (
    id {id},
    tool_invocation_id {ref tool_invocations},
    {use invocation_columns},
    is_streaming {bool},
    max_tokens {int},
    temperature {real},
    num_images_batch {int},
    image_detail {text},
    image_mode {text},                          -- base64, url
    max_image_dimension {int},
    CONSTRAINT metrumbench_vlm_invocations_key UNIQUE (tool_invocation_id)
) {strict};

CREATE TABLE metrumbench_asr_invocations (
    id {id},
    tool_invocation_id {ref tool_invocations},
    {use invocation_columns},
    language {text},
    response_format {text},
    ground_truth_path {text},
    normalizer {text},
    CONSTRAINT metrumbench_asr_invocations_key UNIQUE (tool_invocation_id)
) {strict};

{define summary_columns}
    unique_id {text},
    human_readable_id {text},
    tool_version {text},
    tool_commit {text},
    compiler {text},
    reported_ns {int},
    metric_definition_version {int} NOT NULL,
    percentile_method {text},
    itl_percentile_method {text},
    token_source {text},
    workload_digest {text},
    environment_digest {text},
    is_partial {bool} NOT NULL DEFAULT {false},
    is_valid {bool},
    validity_reasons {text} NOT NULL DEFAULT '[]',
    shards {int},
    window_start_ns {int},
    window_duration_ms {real},
    window_elapsed_ms {real},
    requests_planned {int},
    requests_sent {int},
    requests_refused {int},
    requests_ok {int},
    requests_failed {int},
    requests_timed_out {int},
    requests_cancelled {int},
    requests_skipped {int},
    requests_lost {int},
    requests_duplicate {int},
    requests_warmup {int},
    requests_ramp_up {int},
    requests_boundary {int},
    attempts {int},
    measured_sent {int},
    measured_refused {int},
    measured_ok {int},
    measured_failed {int},
    measured_timed_out {int},
    measured_cancelled {int},
    measured_attempts {int},
    {dist response_time_ms},
    {dist response_latency_ms},
    {dist queue_delay_ms},
    {dist ttft_ms},
    {dist ttft_spec_ms},
    {dist ttfr_ms},
    {dist tpot_ms},
    {dist tpot_spec_ms},
    {dist itl_ms},
    {dist dns_ms},
    {dist connect_ms},
    {dist tls_ms},
    {dist first_byte_ms},
    {amount prompt_tokens},
    {amount completion_tokens},
    {amount reasoning_tokens},
    {amount total_tokens},
    prompt_cached_tokens {int},
    usage_missing {int},
    {amount prompt_words},
    {amount completion_words},
    requests_per_second {real},
    prompt_tokens_per_second {real},
    completion_tokens_per_second {real},
    total_tokens_per_second {real},
    prompt_words_per_second {real},
    completion_words_per_second {real},
    spec_requests_per_second {real},
    spec_prompt_tokens_per_second {real},
    spec_completion_tokens_per_second {real},
    spec_total_tokens_per_second {real},
    goodput_slo {text},
    goodput_from {text},
    goodput_good {int},
    goodput_undecided {int},
    goodput_requests_per_second {real},
    goodput_ratio {real},
    error_count {int},
    error_rate {real},
    error_rate_percent {real},
    error_attempt_rate {real},
    errors_by_type {text} NOT NULL DEFAULT '{}',
    errors_by_status {text} NOT NULL DEFAULT '{}',
    oom_detected {bool},
    oom_message {text},
    content_chunks {int},
    tokens_per_chunk {real},
    censored_chunks {int},
    censored_ratio {real},
    damaged_events {int},
    outputs_shorter {int},
    outputs_longer {int},
    outputs_zero_tokens {int},
    requested_output_tokens {int},
    output_length_ratio_p50 {real},
    output_length_ratio_min {real},
    bytes_sent {int},
    bytes_received {int},
    flags {text} NOT NULL DEFAULT '{}',
    steady_state_found {bool},
    steady_state_is_stationary {bool},
    steady_state_start_ms {real},
    steady_state_duration_ms {real},
    steady_state_window_share {real},
    client_cpu_ratio {real},
    {dist client_lag_us},
    client_read_lag_us_p99 {real},
    client_error_budget_ttft_ratio {real},
    client_error_budget_itl_ratio {real},
    client_error_budget_response_time_ratio {real},
    client_max_loop_lag_ms {real},
    client_clock_step_ms {real},
    client_stamps_kernel {int},
    client_stamps_user {int},
    client_stamps_censored {int},
    client_late_sends {int},
    client_late_send_ratio {real},
    client_send_rate_ratio {real},
    client_peak_in_flight {int},
    client_mean_in_flight {real},
    client_connections_opened {int},
    client_connect_failures {int},
    prompts_available {int},
    prompts_distinct {int},
    prompts_max_reuse {int},
    ntp_outcome {text},
    ntp_server {text},
    ntp_offset_ms {real},
    client_host {text},
    client_environment {text} NOT NULL DEFAULT '{}'
{end}

{define output_keys}
    tool_invocation_id {ref tool_invocations},
    summary_document_id {ref? summary_documents},
    job_id {ref jobs},
    job_attempt_id {ref job_attempts},
    result {text} NOT NULL CHECK (result IN ('accepted', 'superseded')),
    ingested_ns {int} NOT NULL
{end}

{define text_error_columns}
    error_rate_limit {int},
    error_auth {int},
    error_bad_request {int},
    error_server_error {int},
    error_timeout {int},
    error_connection {int},
    error_body {int},
    error_decode {int},
    error_redirect {int},
    error_http_other {int},
    error_server_reported {int},
    error_schema {int}
{end}

{define endpoint_columns}
    ordinal {int} NOT NULL,
    name {text},
    url {text},
    weight {real},
    requests_sent {int},
    requests_ok {int},
    requests_failed {int},
    requests_timed_out {int},
    requests_refused {int},
    {dist response_time_ms},
    {dist ttft_ms},
    {dist ttft_spec_ms},
    {dist tpot_ms},
    {dist tpot_spec_ms},
    prompt_tokens_total {int},
    completion_tokens_total {int},
    requests_per_second {real},
    prompt_tokens_per_second {real},
    completion_tokens_per_second {real},
    total_tokens_per_second {real},
    error_count {int},
    error_rate {real},
    errors_by_type {text} NOT NULL DEFAULT '{}',
    errors_by_status {text} NOT NULL DEFAULT '{}'
{end}

CREATE TABLE metrumbench_llm_outputs (
    id {id},
    {use output_keys},
    {use summary_columns},
    {use text_error_columns},
    CONSTRAINT metrumbench_llm_outputs_key UNIQUE (tool_invocation_id)
) {strict};
CREATE INDEX metrumbench_llm_outputs_job ON metrumbench_llm_outputs (job_id, result);

CREATE TABLE metrumbench_llm_output_endpoints (
    id {id},
    output_id {part metrumbench_llm_outputs},
    {use endpoint_columns},
    CONSTRAINT metrumbench_llm_output_endpoints_key UNIQUE (output_id, ordinal)
) {strict};

{define vlm_columns}
    {dist images_per_request},
    {dist image_processing_ms},
    {dist image_load_ms},
    {dist image_bytes},
    {dist source_bytes},
    {dist image_width},
    {dist image_height},
    {dist payload_bytes},
    {dist preparation_wait_ms},
    images {int},
    images_by_url {int},
    images_resized {int},
    images_encoded_anew {int}
{end}

CREATE TABLE metrumbench_vlm_outputs (
    id {id},
    {use output_keys},
    {use summary_columns},
    {use text_error_columns},
    {use vlm_columns},
    CONSTRAINT metrumbench_vlm_outputs_key UNIQUE (tool_invocation_id)
) {strict};
CREATE INDEX metrumbench_vlm_outputs_job ON metrumbench_vlm_outputs (job_id, result);

CREATE TABLE metrumbench_vlm_output_endpoints (
    id {id},
    output_id {part metrumbench_vlm_outputs},
    {use endpoint_columns},
    images {int},
    CONSTRAINT metrumbench_vlm_output_endpoints_key UNIQUE (output_id, ordinal)
) {strict};

{define asr_columns}
    {dist response_time_spec_ms},
    {dist file_read_ms},
    {dist inference_time_ms},
    {dist rtf},
    {dist rtfx},
    {dist words_per_inference_second},
    {dist chars_per_inference_second},
    {dist audio_duration_s},
    inference_time_source {text},
    inference_time_from_server {int},
    inference_time_from_client {int},
    rtf_pooled {real},
    rtfx_pooled {real},
    without_duration {int},
    audio_seconds {real},
    words {int},
    chars {int},
    cues {int},
    audio_bytes_sent {int},
    response_bytes {int},
    transferred_bytes {int},
    audio_seconds_per_second {real},
    words_per_second {real},
    chars_per_second {real},
    bytes_per_second {real},
    spec_audio_seconds_per_second {real},
    spec_words_per_second {real},
    spec_chars_per_second {real},
    spec_bytes_per_second {real},
    normalizer {text},
    scored {int},
    unscored {int},
    {dist wer},
    {dist wer_percent},
    {dist cer},
    {dist cer_percent},
    {dist cer_grapheme},
    {dist cer_grapheme_percent},
    {dist wer_raw},
    {dist wer_raw_percent},
    {dist cer_raw},
    {dist cer_raw_percent},
    wer_corpus_rate {real},
    wer_corpus_edits {int},
    wer_corpus_substitutions {int},
    wer_corpus_deletions {int},
    wer_corpus_insertions {int},
    wer_corpus_reference {int},
    cer_corpus_rate {real},
    cer_corpus_edits {int},
    cer_corpus_reference {int},
    cer_grapheme_corpus_rate {real},
    wer_raw_corpus_rate {real},
    cer_raw_corpus_rate {real}
{end}

CREATE TABLE metrumbench_asr_outputs (
    id {id},
    {use output_keys},
    {use summary_columns},
    {use text_error_columns},
    {use asr_columns},
    CONSTRAINT metrumbench_asr_outputs_key UNIQUE (tool_invocation_id)
) {strict};
CREATE INDEX metrumbench_asr_outputs_job ON metrumbench_asr_outputs (job_id, result);

CREATE TABLE metrumbench_asr_output_endpoints (
    id {id},
    output_id {part metrumbench_asr_outputs},
    {use endpoint_columns},
    {dist inference_time_ms},
    {dist rtf},
    audio_seconds {real},
    audio_seconds_per_second {real},
    CONSTRAINT metrumbench_asr_output_endpoints_key UNIQUE (output_id, ordinal)
) {strict};

CREATE TABLE metrumbench_asr_output_formats (
    id {id},
    output_id {part metrumbench_asr_outputs},
    {key audio_format},
    requests {int},
    ok {int},
    failed {int},
    timed_out {int},
    refused {int},
    cancelled {int},
    audio_seconds {real},
    audio_bytes_sent {int},
    CONSTRAINT metrumbench_asr_output_formats_key UNIQUE (output_id, audio_format)
) {strict};

{define imagegen_columns}
    images_per_second {real},
    megapixels_per_second {real},
    imagegen_requests_per_second {real},
    spec_images_per_second {real},
    spec_megapixels_per_second {real},
    success_rate {real},
    images_requested {int},
    images_returned {int},
    images_decoded {int},
    images_saved {int},
    images_by_url {int},
    requests_with_other_count {int},
    megapixels {real},
    timeout_count {int},
    {dist latency_ms},
    {dist image_bytes},
    {dist image_width},
    {dist image_height},
    {dist response_bytes},
    {dist post_ms},
    {dist post_wait_ms}
{end}

CREATE TABLE metrumbench_imagegen_outputs (
    id {id},
    {use output_keys},
    {use summary_columns},
    {use imagegen_columns},
    CONSTRAINT metrumbench_imagegen_outputs_key UNIQUE (tool_invocation_id)
) {strict};
CREATE INDEX metrumbench_imagegen_outputs_job ON metrumbench_imagegen_outputs (job_id, result);

CREATE TABLE metrumbench_imagegen_output_endpoints (
    id {id},
    output_id {part metrumbench_imagegen_outputs},
    {use endpoint_columns},
    images_returned {int},
    images_per_second {real},
    success_rate {real},
    {dist latency_ms},
    CONSTRAINT metrumbench_imagegen_output_endpoints_key UNIQUE (output_id, ordinal)
) {strict};

CREATE TABLE metrumbench_imagegen_artifacts (
    id {id},
    tool_invocation_id {ref tool_invocations},
    request_seq {int} NOT NULL,
    image_index {int} NOT NULL,
    path {text},
    digest {text},                              -- SHA-256, hex
    size_bytes {int},
    width {int},
    height {int},
    mime_type {text},
    CONSTRAINT metrumbench_imagegen_artifacts_key UNIQUE (tool_invocation_id, request_seq, image_index)
) {strict};

CREATE TABLE metrumbench_imagegen_errors (
    id {id},
    output_id {part metrumbench_imagegen_outputs},
    error_type {text} NOT NULL CONSTRAINT metrumbench_imagegen_errors_type CHECK (error_type IN
        ('timeout', 'connection_error', 'http_error', 'schema_error', 'decode_error', 'artifact_error', 'request_error')),
    http_status {int} NOT NULL DEFAULT 0,       -- 0: none
    count {int} NOT NULL,
    CONSTRAINT metrumbench_imagegen_errors_key UNIQUE (output_id, error_type, http_status)
) {strict};

-- Results of other tools, and imported benchmark reports: what they have in common with ours.
CREATE TABLE external_outputs (
    id {id},
    {use output_keys},
    harness {text} NOT NULL,                    -- vllm-bench, guidellm, inference-perf, or the report's own word
    report_version {text},
    metric_definition_version {int} NOT NULL,
    percentile_method {text},
    requests_ok {int},
    requests_failed {int},
    window_duration_ms {real},
    {dist response_time_ms},
    {dist ttft_ms},
    {dist tpot_ms},
    {dist itl_ms},
    prompt_tokens_total {int},
    completion_tokens_total {int},
    requests_per_second {real},
    prompt_tokens_per_second {real},
    completion_tokens_per_second {real},
    total_tokens_per_second {real},
    is_imported {bool} NOT NULL DEFAULT {true},
    imported_by {text},
    CONSTRAINT external_outputs_key UNIQUE (tool_invocation_id)
) {strict};
CREATE INDEX external_outputs_job ON external_outputs (job_id, result);

{define chain}
       j.tenant_id AS tenant_id, j.id AS job_id, o.job_attempt_id AS job_attempt_id, p.project_code AS project_code,
       w.workload_code AS workload_code, w.tool AS tool, w.quantization AS quantization, sc.scenario_code AS scenario_code,
       r.run_code AS run_code, j.job_code AS job_code, j.state AS job_state, a.attempt AS attempt, j.repetition AS repetition,
       j.origin AS origin, j.created_ns AS job_created_ns, j.started_ns AS job_started_ns, j.finished_ns AS job_finished_ns,
       m.model_code AS model_code, m.family AS model_family, f.framework_code AS framework_code,
       fv.version AS framework_version, fv.build AS framework_build, jp.set_code AS set_code, jp.set_revision AS set_revision,
       jp.set_digest AS set_digest, jp.prompt_source_code AS prompt_source_code, jp.prompt_source_digest AS prompt_source_digest,
       jp.replicas AS replicas, jp.gpus_per_replica AS gpus_per_replica, sc.concurrency AS scenario_concurrency,
       sc.request_rate_per_s AS scenario_request_rate_per_s, sc.isl_tokens AS isl_tokens, sc.osl_tokens AS osl_tokens,
       sc.request_count AS scenario_request_count, sc.ramp_up_seconds AS ramp_up_seconds,
       sc.num_images_batch AS num_images_batch, sc.image_detail AS image_detail, sc.size AS size, sc.language AS language,
       cfg.config_code AS config_code, cfg.gpu_count AS config_gpu_count, s.hostname AS hostname, gc.gpu_class_code AS gpu_class_code,
       a.gpu_count AS gpus_used, ti.command_text AS command_text, ti.digest AS command_digest, o.result AS result,
       o.ingested_ns AS ingested_ns, d.digest AS summary_digest, d.schema_name AS summary_schema,
       {use attempt_telemetry}
{end}

{define chain_joins}
  JOIN jobs j ON j.id = o.job_id
  JOIN job_attempts a ON a.id = o.job_attempt_id
  JOIN tool_invocations ti ON ti.id = o.tool_invocation_id
  JOIN runs r ON r.id = j.run_id
  JOIN workloads w ON w.id = j.workload_id
  JOIN projects p ON p.id = w.project_id
  JOIN scenarios sc ON sc.id = j.scenario_id
  JOIN models m ON m.id = w.model_id
  JOIN framework_versions fv ON fv.id = w.framework_version_id
  JOIN frameworks f ON f.id = fv.framework_id
  LEFT JOIN job_plans jp ON jp.job_id = j.id
  LEFT JOIN servers s ON s.id = a.server_id
  LEFT JOIN server_configs cfg ON cfg.id = s.server_config_id
  LEFT JOIN gpu_classes gc ON gc.id = cfg.gpu_class_id
  LEFT JOIN summary_documents d ON d.id = o.summary_document_id
{end}

-- Accepted and superseded results both stand here: `result` tells them apart.
CREATE VIEW v_metrumbench_llm_outputs AS
SELECT {use chain},
       {select o summary_columns},
       {select o text_error_columns}
  FROM metrumbench_llm_outputs o
{use chain_joins};

CREATE VIEW v_metrumbench_vlm_outputs AS
SELECT {use chain},
       {select o summary_columns},
       {select o text_error_columns},
       {select o vlm_columns}
  FROM metrumbench_vlm_outputs o
{use chain_joins};

CREATE VIEW v_metrumbench_asr_outputs AS
SELECT {use chain},
       {select o summary_columns},
       {select o text_error_columns},
       {select o asr_columns}
  FROM metrumbench_asr_outputs o
{use chain_joins};

CREATE VIEW v_metrumbench_imagegen_outputs AS
SELECT {use chain},
       {select o summary_columns},
       {select o imagegen_columns}
  FROM metrumbench_imagegen_outputs o
{use chain_joins};

-- All results side by side: what every tool has.
{define common}
       o.metric_definition_version AS metric_definition_version, o.percentile_method AS percentile_method,
       o.requests_ok AS requests_ok, o.requests_failed AS requests_failed, o.window_duration_ms AS window_duration_ms,
       o.requests_per_second AS requests_per_second, o.prompt_tokens_per_second AS prompt_tokens_per_second,
       o.completion_tokens_per_second AS completion_tokens_per_second, o.total_tokens_per_second AS total_tokens_per_second,
       o.response_time_ms_avg AS response_time_ms_avg, o.response_time_ms_p50 AS response_time_ms_p50,
       o.response_time_ms_p95 AS response_time_ms_p95, o.response_time_ms_p99 AS response_time_ms_p99,
       o.ttft_ms_avg AS ttft_ms_avg, o.ttft_ms_p50 AS ttft_ms_p50, o.ttft_ms_p95 AS ttft_ms_p95, o.ttft_ms_p99 AS ttft_ms_p99,
       o.tpot_ms_avg AS tpot_ms_avg, o.tpot_ms_p50 AS tpot_ms_p50, o.tpot_ms_p95 AS tpot_ms_p95, o.tpot_ms_p99 AS tpot_ms_p99,
       o.itl_ms_p50 AS itl_ms_p50, o.itl_ms_p99 AS itl_ms_p99
{end}

CREATE VIEW v_outputs AS
SELECT 'metrumbench-llm' AS output_kind, {use chain},
       {use common}
  FROM metrumbench_llm_outputs o
{use chain_joins}
UNION ALL
SELECT 'metrumbench-vlm' AS output_kind, {use chain},
       {use common}
  FROM metrumbench_vlm_outputs o
{use chain_joins}
UNION ALL
SELECT 'metrumbench-asr' AS output_kind, {use chain},
       {use common}
  FROM metrumbench_asr_outputs o
{use chain_joins}
UNION ALL
SELECT 'metrumbench-imagegen' AS output_kind, {use chain},
       {use common}
  FROM metrumbench_imagegen_outputs o
{use chain_joins}
UNION ALL
SELECT o.harness AS output_kind, {use chain},
       {use common}
  FROM external_outputs o
{use chain_joins};
