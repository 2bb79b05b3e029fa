/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/profile.h"

#include "sim/sim_options.h"

#include <string.h>

bool sim_model_is_usable(const char *name)
{
    size_t len = strlen(name);
    for (size_t i = 0; i < len; i++)
        if ((unsigned char)name[i] < ' ' || name[i] == '"' || name[i] == '\\' || name[i] == 0x7f)
            return false;
    return len > 0 && len <= SIM_MODEL_BYTES_MAX;
}

static as_status read_faults(const struct opt_list *texts, struct arena *arena, struct sim_profile *profile,
                             struct as_error *err)
{
    struct sim_fault *faults = arena_calloc(arena, texts->count + 1, sizeof(*faults));
    if (!faults)
        return AS_E_NOMEM;
    for (size_t i = 0; i < texts->count; i++)
        if (sim_fault_parse(texts->items[i], &faults[i], err) != AS_OK)
            return error_prefix(err, "--fault");
    profile->faults = faults;
    profile->fault_count = texts->count;
    return AS_OK;
}

static as_status read_freezes(const struct opt_list *texts, struct arena *arena, struct sim_profile *profile,
                              struct as_error *err)
{
    struct sim_freeze *freezes = arena_calloc(arena, texts->count + 1, sizeof(*freezes));
    if (!freezes)
        return AS_E_NOMEM;
    for (size_t i = 0; i < texts->count; i++)
        if (sim_freeze_parse(texts->items[i], &freezes[i], err) != AS_OK)
            return error_prefix(err, "--freeze");
    profile->pace.freezes = freezes;
    profile->pace.freeze_count = texts->count;
    return sim_freeze_order(freezes, texts->count, err);
}

static as_status read_distributions(const struct sim_settings *settings, struct sim_profile *profile,
                                    struct as_error *err)
{
    const struct {
        const char *option, *text;
        enum sim_dist_unit unit;
        struct sim_dist *ret;
    } rows[] = {
        {"--ttft", settings->ttft, SIM_DIST_DURATION, &profile->ttft},
        {"--itl", settings->itl, SIM_DIST_DURATION, &profile->itl},
        {"--image-delay", settings->image_delay, SIM_DIST_DURATION, &profile->image_delay},
        {"--tokens", settings->tokens, SIM_DIST_COUNT, &profile->tokens},
        {"--tokens-per-chunk", settings->tokens_per_chunk, SIM_DIST_COUNT, &profile->tokens_per_chunk},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (sim_dist_parse(rows[i].text, rows[i].unit, rows[i].ret, err) != AS_OK)
            return error_prefix(err, "%s", rows[i].option);
    return AS_OK;
}

as_status sim_profile_init(const struct sim_settings *settings, struct arena *arena, struct sim_profile *ret,
                           struct as_error *err)
{
    static const char *const fields[] = {"reasoning_content", "reasoning"};
    struct sim_profile profile = {
        .ttft_per_token_ns = settings->ttft_per_token_ns,
        .itl_per_running_ns = settings->itl_per_running_ns,
        .reasoning_tokens = settings->reasoning,
        .tool_calls = settings->tool_calls,
        .tokens_per_word = settings->tokens_per_word,
        .image_tokens = settings->image_tokens,
        .image_format = settings->image_format,
        .image_check = (enum sim_image_check)settings->image_check,
        .audio_rtf = settings->audio_rtf,
        .word_errors = settings->word_errors,
        .tells_inference_time = settings->inference_time,
        .usage = (enum sim_usage)settings->usage,
        .reasoning_field = fields[settings->reasoning_field == 1],
        .ignore_max_tokens = settings->ignore_max_tokens,
        .strict_model = settings->strict_model,
        .late_head = settings->head == 1,
        .model = settings->model,
        .slots = (uint32_t)settings->slots,
        .queue_limit = settings->queue == OPT_ABSENT ? -1 : settings->queue,
        .pace = {.grid_ns = settings->burst_grid_ns},
        .seed = (uint64_t)settings->seed,
    };
    as_status status = read_distributions(settings, &profile, err);
    if (status == AS_OK)
        status = read_faults(&settings->faults, arena, &profile, err);
    if (status == AS_OK)
        status = read_freezes(&settings->freezes, arena, &profile, err);
    if (status == AS_OK && settings->transcripts) {
        status = sim_transcripts_load(settings->transcripts, arena, &profile.transcripts, err);
        if (status != AS_OK)
            error_prefix(err, "--transcripts");
    }
    if (status == AS_OK && settings->slots == 0 && settings->queue != OPT_ABSENT)
        status = error_set(err, AS_E_USAGE, "--queue has no effect with --slots 0, which has no limit: give --slots N");
    if (status == AS_OK && settings->slots > 0 && settings->threads > 1)
        status = error_set(err, AS_E_USAGE, "--slots needs --threads 1: the batch belongs to one thread");
    if (status == AS_OK)
        *ret = profile;
    return status;
}
