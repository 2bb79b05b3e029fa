/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_FAULT_MEASURE_MADE_RECORDS_H
#define TESTS_FAULT_MEASURE_MADE_RECORDS_H

/* Records that tell from their number what they must hold, and a folder to keep them in. */

#include "measure/gaps.h"
#include "measure/journal.h"
#include "measure/records.h"
#include "measure/writer.h"
#include "support/temp_dir.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static const char *const made_endpoints[] = {"one", "two"};
static const struct record_context made_context = {
    .tool = "llm", .run_id = "made", .endpoints = made_endpoints, .endpoint_count = 2};

#define MADE_TEXT_MAX 3000

/* `gaps` has room for 256 bytes, `text` for MADE_TEXT_MAX. */
static inline void made_record(int64_t seq, struct request_record *record, char *gaps, char *text)
{
    record_init(record);
    record->seq = seq;
    snprintf(record->prompt_id, sizeof record->prompt_id, "p%lld", (long long)(seq % 97));
    record->endpoint = (uint32_t)(seq & 1);
    record->sent_ns = seq * 1000;
    record->done_ns = seq * 1000 + 500;
    record->completion_tokens = seq % 50;
    record->attempt_count = 1 + (uint32_t)(seq % 3);
    for (uint32_t i = 0; i < record->attempt_count; i++)
        record->attempts[i] = (struct record_attempt){seq, seq + i, 200, 0, 1, (uint16_t)(seq & 1)};
    char *at = gaps;
    for (int64_t i = 0; i < seq % 20; i++)
        at = gaps_put(at, 1000 * i);
    if (seq % 4)
        record->gaps = (struct record_text){gaps, (size_t)(at - gaps)};
    size_t len = (size_t)(seq % 7 == 0 ? seq * 37 % (MADE_TEXT_MAX - 2) : 0);
    if (len > 0) {
        memset(text, 'a' + (char)(seq % 26), len + 2);
        text[0] = text[len + 1] = '"';
        record->content = (struct record_text){text, len + 2};
    }
    record_derive(record, false);
}

static inline bool made_record_is_sound(const struct request_record *record)
{
    static struct request_record expected;
    static char gaps[256], text[MADE_TEXT_MAX];
    made_record(record->seq, &expected, gaps, text);
    const struct record_text *content = &expected.content;
    int64_t gap_count = expected.gaps.at ? record->seq % 20 : -1;
    return record->sent_ns == expected.sent_ns && record->done_ns == expected.done_ns &&
           record->endpoint == expected.endpoint && record->attempt_count == expected.attempt_count &&
           strcmp(record->prompt_id, expected.prompt_id) == 0 &&
           memcmp(record->attempts, expected.attempts, expected.attempt_count * sizeof *expected.attempts) == 0 &&
           record->content.len == content->len &&
           (!content->at || memcmp(record->content.at, content->at, content->len) == 0) &&
           (record->gap_stats ? record->gap_stats->n : -1) == gap_count;
}

static inline void made_folder(char ret[64])
{
    struct temp_dir dir;
    temp_dir_make(&dir);
    assert_true((size_t)snprintf(ret, 64, "%s", dir.path) < 64);
}

static inline void remove_folder(const char *folder)
{
    struct temp_dir dir;
    snprintf(dir.path, sizeof dir.path, "%s", folder);
    temp_dir_remove(&dir);
}

#endif
