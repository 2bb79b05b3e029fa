/* SPDX-License-Identifier: Apache-2.0 */
#include "modality/asr_score.h"

#include "accuracy/transcript.h"
#include "base/json_write.h"
#include "modality/asr.h"
#include "modality/text.h"

#include <stdlib.h>
#include <string.h>

/* The scores of the last transcript of a sample: samples are sent again and again, mostly with the same answer. */
struct score_memo {
    char *transcript;
    size_t len;
    struct transcript_errors normalized, raw;
};

struct asr_scorer {
    struct asr_score_options options;
    struct score_memo *memos; /* by place of the reference in the truth */
    struct strbuf transcript, block, content;
    int64_t unscored;
};

as_status asr_scorer_new(const struct asr_score_options *options, struct asr_scorer **ret)
{
    struct asr_scorer *scorer = calloc(1, sizeof *scorer);
    size_t count = options->truth ? options->truth->count : 0;
    if (scorer)
        scorer->memos = calloc(count + 1, sizeof *scorer->memos);
    if (!scorer || !scorer->memos) {
        free(scorer);
        return AS_E_NOMEM;
    }
    scorer->options = *options;
    *ret = scorer;
    return AS_OK;
}

void asr_scorer_free(struct asr_scorer *scorer)
{
    if (!scorer)
        return;
    for (size_t i = 0; scorer->options.truth && i < scorer->options.truth->count; i++)
        free(scorer->memos[i].transcript);
    free(scorer->memos);
    strbuf_done(&scorer->transcript);
    strbuf_done(&scorer->block);
    strbuf_done(&scorer->content);
    free(scorer);
}

int64_t asr_scorer_unscored(const struct asr_scorer *scorer)
{
    return scorer->unscored;
}

/* ---- what is written ---- */

static void put_rate(struct json_writer *writer, const char *name, const char *percent_name,
                     const struct edit_counts *counts)
{
    json_member_double(writer, name, error_rate(counts));
    json_member_double(writer, percent_name, 100 * error_rate(counts));
}

static int64_t edits(const struct edit_counts *counts)
{
    return counts->substitutions + counts->deletions + counts->insertions;
}

static void put_normalized(struct json_writer *writer, const struct transcript_errors *errors)
{
    put_rate(writer, "wer", "wer_percent", &errors->words);
    json_member_int(writer, "word_hits", errors->words.hits);
    json_member_int(writer, "word_substitutions", errors->words.substitutions);
    json_member_int(writer, "word_deletions", errors->words.deletions);
    json_member_int(writer, "word_insertions", errors->words.insertions);
    json_member_int(writer, "reference_words", errors->words.reference);
    put_rate(writer, "cer", "cer_percent", &errors->characters);
    json_member_int(writer, "char_substitutions", errors->characters.substitutions);
    json_member_int(writer, "char_deletions", errors->characters.deletions);
    json_member_int(writer, "char_insertions", errors->characters.insertions);
    json_member_int(writer, "reference_chars", errors->characters.reference);
    put_rate(writer, "cer_grapheme", "cer_grapheme_percent", &errors->graphemes);
    json_member_int(writer, "grapheme_substitutions", errors->graphemes.substitutions);
    json_member_int(writer, "grapheme_deletions", errors->graphemes.deletions);
    json_member_int(writer, "grapheme_insertions", errors->graphemes.insertions);
    json_member_int(writer, "reference_graphemes", errors->graphemes.reference);
}

static void put_raw(struct json_writer *writer, const struct transcript_errors *errors)
{
    put_rate(writer, "wer_raw", "wer_raw_percent", &errors->words);
    json_member_int(writer, "word_edits_raw", edits(&errors->words));
    json_member_int(writer, "reference_words_raw", errors->words.reference);
    put_rate(writer, "cer_raw", "cer_raw_percent", &errors->characters);
    json_member_int(writer, "char_edits_raw", edits(&errors->characters));
    json_member_int(writer, "reference_chars_raw", errors->characters.reference);
}

/* The record's block with these behind its members ("…}"); it is left alone when memory runs out. */
static void add_members(struct asr_scorer *scorer, const char *members, struct request_record *record)
{
    struct strbuf *block = &scorer->block;
    strbuf_reset(block);
    strbuf_add(block, record->modality_json.at, record->modality_json.len - 1);
    strbuf_addc(block, ',');
    strbuf_adds(block, members);
    if (strbuf_status(block) == AS_OK)
        record->modality_json = (struct record_text){block->data, block->len};
}

static void put_scores(struct asr_scorer *scorer, const struct score_memo *memo, struct request_record *record)
{
    struct strbuf scores AS_AUTO_STRBUF;
    struct json_writer writer;
    strbuf_init(&scores, 0);
    json_writer_init(&writer, &scores, 0);
    json_open_object(&writer);
    json_member_string(&writer, "normalizer", normalizer_name(scorer->options.normalizer));
    put_normalized(&writer, &memo->normalized);
    put_raw(&writer, &memo->raw);
    json_close_object(&writer);
    if (json_writer_status(&writer) == AS_OK)
        add_members(scorer, scores.data + 1, record);
}

/* ---- comparing ---- */

static bool compare(const struct asr_scorer *scorer, const struct audio_reference *reference, struct score_memo *memo)
{
    const struct strbuf *text = &scorer->transcript;
    struct score_memo made = {.len = text->len};
    if (memo->transcript && memo->len == text->len && memcmp(memo->transcript, strbuf_text(text), text->len) == 0)
        return true;
    as_status status = transcript_compare(reference->text, reference->len, strbuf_text(text), text->len,
                                          scorer->options.normalizer, &made.normalized);
    made.raw = made.normalized;
    if (status == AS_OK && scorer->options.normalizer != NORMALIZER_NONE)
        status = transcript_compare(reference->text, reference->len, strbuf_text(text), text->len, NORMALIZER_NONE,
                                    &made.raw);
    made.transcript = status == AS_OK ? malloc(text->len + 1) : NULL;
    if (!made.transcript)
        return false;
    memcpy(made.transcript, strbuf_text(text), text->len);
    free(memo->transcript);
    *memo = made;
    return true;
}

/* The record's content, a JSON string, decoded; false when there is none or it is a part only. */
static bool take_transcript(struct asr_scorer *scorer, const struct request_record *record)
{
    struct json_cursor cursor;
    struct json_raw raw;
    strbuf_reset(&scorer->transcript);
    if (!record->content.at || (record->flags & RECORD_FLAG_CONTENT_CUT))
        return false;
    json_cursor_init(&cursor, record->content.at, record->content.len);
    if (!json_take_string(&cursor, &raw))
        return false;
    asr_add_raw(&scorer->transcript, &raw);
    return strbuf_status(&scorer->transcript) == AS_OK;
}

static bool has_block(const struct request_record *record)
{
    const struct record_text *block = &record->modality_json;
    return block->at && block->len > 2 && block->at[block->len - 1] == '}';
}

static void score(struct asr_scorer *scorer, struct request_record *record)
{
    const struct audio_truth *truth = scorer->options.truth;
    const struct audio_reference *reference = audio_truth_find(truth, record->prompt_id);
    struct score_memo *memo = reference ? &scorer->memos[reference - truth->items] : NULL;
    if (memo && has_block(record) && take_transcript(scorer, record) && compare(scorer, reference, memo)) {
        put_scores(scorer, memo, record);
        return;
    }
    scorer->unscored++;
    if (has_block(record))
        add_members(scorer, "\"wer\":null}", record);
}

/* ---- content ---- */

/* Content beyond the limit is cut at a character; content that nobody asked for goes. */
static void trim_content(struct asr_scorer *scorer, struct request_record *record)
{
    size_t max_bytes = scorer->options.content_max_bytes;
    if (!record->content.at)
        return;
    if (!scorer->options.keeps_content) {
        record->content = (struct record_text){0};
        return;
    }
    if (max_bytes == 0 || record->content.len <= max_bytes + 2)
        return;
    strbuf_reset(&scorer->content);
    strbuf_addc(&scorer->content, '"');
    (void)text_append(record->content.at + 1, record->content.len - 2, max_bytes + 1, &scorer->content);
    strbuf_addc(&scorer->content, '"');
    record->flags |= RECORD_FLAG_CONTENT_CUT;
    bool is_made = strbuf_status(&scorer->content) == AS_OK;
    record->content =
        is_made ? (struct record_text){scorer->content.data, scorer->content.len} : (struct record_text){0};
}

static void give_block(struct asr_scorer *scorer, struct request_record *record)
{
    const struct audio_set *set = scorer->options.set;
    if (!set || record->seq < 0)
        return;
    strbuf_reset(&scorer->block);
    asr_block_of_refused(audio_set_sample(set, record->seq), scorer->options.format, &scorer->block);
    if (strbuf_status(&scorer->block) == AS_OK)
        record->modality_json = (struct record_text){scorer->block.data, scorer->block.len};
}

void asr_score_record(struct asr_scorer *scorer, struct request_record *record)
{
    if (!record->modality_json.at && record->outcome == OUTCOME_REFUSED)
        give_block(scorer, record);
    if (scorer->options.truth && record->outcome == OUTCOME_OK)
        score(scorer, record);
    trim_content(scorer, record);
}
