/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_RUN_RESCORE_H
#define ASSAY_RUN_RESCORE_H

/*
 * Records that a killed `assay asr` had finished but not written yet come back from the journal without scores: they
 * are compared now, with the ground truth that the run named, as long as that file is still there and the same.
 */

#include "base/status.h"
#include "engine/record.h"
#include "summary/run_facts.h"

struct rescore;

/* *ret is NULL when nothing needs it. A ground truth that is gone or has changed leaves such records unscored, which is
 * counted. */
as_status rescore_open(const struct run_facts *facts, struct rescore **ret) AS_NODISCARD;
void rescore_close(struct rescore *rescore);
/* Adds scores to a success that has none; what it puts in lives until the next call. */
void rescore_record(struct rescore *rescore, struct request_record *record);

#endif
