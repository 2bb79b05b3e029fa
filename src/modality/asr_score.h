/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_MODALITY_ASR_SCORE_H
#define ASSAY_MODALITY_ASR_SCORE_H

/*
 * Compares transcripts with their references, off the clock: in the thread that writes records, just before a record's
 * line is written (docs/decisions/0007-transcript-scores.md). Adds to the record's block `asr`, for successes whose
 * sample has a reference:
 *
 *   normalizer                                         what both texts went through first
 *   wer, wer_percent                                   word errors / reference words
 *   word_hits, word_substitutions, word_deletions, word_insertions, reference_words
 *   cer, cer_percent                                   the same by Unicode code point
 *   char_substitutions, char_deletions, char_insertions, reference_chars
 *   cer_grapheme, cer_grapheme_percent                 the same by extended grapheme cluster
 *   grapheme_substitutions, grapheme_deletions, grapheme_insertions, reference_graphemes
 *   wer_raw, wer_raw_percent, cer_raw, cer_raw_percent     without normaliser
 *   word_edits_raw, reference_words_raw, char_edits_raw, reference_chars_raw
 *
 * A success that could not be compared (no reference, no whole transcript, no memory) has "wer": null alone.
 *
 * Ties: substitution, then deletion, then insertion (accuracy/edit_distance.h). An empty reference: no error when the
 * transcript is empty too, else as many as it has words (1 per word, so the rate is their number). One thread a scorer.
 */

#include "accuracy/normalize.h"
#include "engine/record.h"
#include "modality/asr_text.h"
#include "workload/audio.h"
#include "workload/audio_truth.h"

struct asr_score_options {
    const struct audio_set *set;     /* NULL = unknown: records of refused requests get no block */
    const struct audio_truth *truth; /* NULL = nothing is compared */
    enum normalizer normalizer;
    enum asr_format format;
    bool keeps_content;       /* the record's content stays in it: else it was there for the comparison alone */
    size_t content_max_bytes; /* of it that stays, escaped; more is cut and flagged */
};

struct asr_scorer;

as_status asr_scorer_new(const struct asr_score_options *options, struct asr_scorer **ret) AS_NODISCARD;
/* Takes NULL. */
void asr_scorer_free(struct asr_scorer *scorer);

/*
 * Completes a record: scores and, when the request was refused, the block itself. What it puts in lives until the next
 * call.
 */
void asr_score_record(struct asr_scorer *scorer, struct request_record *record);

/* Successes without a reference or a whole transcript, while there is a ground truth. */
int64_t asr_scorer_unscored(const struct asr_scorer *scorer);

#endif
