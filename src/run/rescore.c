/* SPDX-License-Identifier: Apache-2.0 */
#include "run/rescore.h"

#include "base/json.h"
#include "base/log.h"
#include "modality/asr_score.h"

#include <stdlib.h>
#include <string.h>

struct rescore {
    struct audio_truth truth;
    struct asr_scorer *scorer;
};

static enum normalizer normalizer_of(const struct json_value *config)
{
    enum normalizer normalizer = NORMALIZER_LOWERCASE;
    const char *name;
    if (json_string(json_get(config, "normalizer"), &name))
        (void)normalizer_from_name(name, &normalizer);
    return normalizer;
}

/* Loads the file that the run read; empty when it cannot be had any more. */
static void load_truth(const struct json_value *config, const char *path, struct audio_truth *truth)
{
    struct as_error err = {0};
    const char *digest = NULL;
    bool skips_bad = false;
    (void)json_bool(json_get(config, "skip_bad_lines"), &skips_bad);
    if (audio_truth_load(path, skips_bad, truth, &err) != AS_OK) {
        log_warning("transcripts that were not compared yet stay so: %s", err.message);
        return;
    }
    if (json_string(json_path(config, "ground_truth_source.sha256"), &digest) && strcmp(digest, truth->digest) == 0)
        return;
    log_warning("transcripts that were not compared yet stay so: %s has changed since the run", path);
    audio_truth_done(truth);
}

static as_status open_with(const struct json_value *config, const char *path, struct rescore **ret)
{
    struct rescore *rescore = calloc(1, sizeof *rescore);
    if (!rescore)
        return AS_E_NOMEM;
    load_truth(config, path, &rescore->truth);
    struct asr_score_options options = {
        .truth = &rescore->truth, .normalizer = normalizer_of(config), .keeps_content = true};
    as_status status = asr_scorer_new(&options, &rescore->scorer);
    if (status != AS_OK) {
        rescore_close(rescore);
        return status;
    }
    *ret = rescore;
    return AS_OK;
}

as_status rescore_open(const struct run_facts *facts, struct rescore **ret)
{
    const struct json_value *config = NULL;
    const char *path = NULL;
    struct arena arena;
    as_status status = AS_OK;
    *ret = NULL;
    if (!facts->tool || strcmp(facts->tool, "asr") != 0 || !facts->config_json || facts->has_result)
        return AS_OK;
    arena_init(&arena, 0, 0);
    if (json_parse(facts->config_json, strlen(facts->config_json), NULL, &arena, &config, NULL) == AS_OK &&
        json_string(json_get(config, "ground_truth"), &path))
        status = open_with(config, path, ret);
    arena_done(&arena);
    return status;
}

void rescore_close(struct rescore *rescore)
{
    if (!rescore)
        return;
    asr_scorer_free(rescore->scorer);
    if (rescore->truth.items)
        audio_truth_done(&rescore->truth);
    free(rescore);
}

void rescore_record(struct rescore *rescore, struct request_record *record)
{
    static const char scored[] = ",\"wer\":";
    const struct record_text *block = &record->modality_json;
    if (block->at && !memmem(block->at, block->len, scored, sizeof scored - 1))
        asr_score_record(rescore->scorer, record);
}
