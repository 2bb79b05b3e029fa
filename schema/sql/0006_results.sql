-- SPDX-License-Identifier: Apache-2.0
-- One flat view for the results of other tools, as each tool of ours has one. Pages of results read these five: SQLite makes
-- a view that is a union of joins (v_outputs) whole before it filters it.
-- What only our summaries hold is null here; names and types are those of the other views.

{define external_columns}
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
    is_imported {bool} NOT NULL,
    imported_by {text}
{end}

CREATE VIEW v_external_outputs AS
SELECT o.harness AS harness, {use chain},
       {select o external_columns},
       CAST(NULL AS text) AS token_source, CAST(NULL AS text) AS workload_digest, a.environment_digest AS environment_digest
  FROM external_outputs o
{use chain_joins};
