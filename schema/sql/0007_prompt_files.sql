-- SPDX-License-Identifier: Apache-2.0
-- The file of a prompt source, byte for byte as it was sent, and what is known of it.

CREATE TABLE prompt_source_files (
    prompt_source_id {int} PRIMARY KEY REFERENCES prompt_sources (id) ON DELETE CASCADE,
    digest {text} NOT NULL,                     -- SHA-256 of the bytes, hex
    size_bytes {int} NOT NULL,
    local_places {int} NOT NULL,                -- references whose bytes lie in the restic snapshot
    words_total {int},                          -- white-space-separated words of the prompts
    words_min {int},
    words_p50 {int},                            -- nearest rank
    words_p95 {int},
    words_max {int},
    with_expected_tokens {int} NOT NULL,        -- rows with expected_output_tokens
    received_ns {int} NOT NULL
) {strict};

CREATE TABLE prompt_source_chunks (
    id {id},
    prompt_source_id {part prompt_sources},
    ordinal {int} NOT NULL,                     -- 0, 1, ... within the file
    bytes {blob} NOT NULL,
    CONSTRAINT prompt_source_chunks_key UNIQUE (prompt_source_id, ordinal)
) {strict};
