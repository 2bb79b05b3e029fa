/* SPDX-License-Identifier: Apache-2.0 */
#include "options/internal.h"

#include <assert.h>

const struct opt_state *options_state(const struct opt_parsed *parsed, const char *name)
{
    for (size_t i = 0; i < parsed->state_count; i++)
        if (strcmp(parsed->states[i].option->name, name) == 0)
            return &parsed->states[i];
    assert(0 && "an option of this command");
    return NULL;
}

bool options_is_given(const struct opt_parsed *parsed, const char *name)
{
    const struct opt_state *state = options_state(parsed, name);
    return state && state->origin != OPT_FROM_DEFAULT && state->origin != OPT_FROM_RUN;
}

as_status options_put(struct opt_parsed *parsed, const char *name, const char *text, struct as_error *err)
{
    struct opt_input input = {.arena = parsed->arena};
    struct opt_reader reader = {.parsed = parsed, .input = &input, .origin = OPT_FROM_RUN};
    const char *copy = arena_strdup(parsed->arena, text);
    reader.spelled = arena_printf(parsed->arena, "--%s", name);
    if (!copy || !reader.spelled)
        return error_set(err, AS_E_NOMEM, "out of memory");
    return options_assign(&reader, name, copy, err);
}

static const struct opt_mode *mode_in(const struct opt_command *command, uint32_t bits)
{
    for (size_t i = 0; i < command->mode_count; i++)
        if (command->modes[i].bit & bits)
            return &command->modes[i];
    return NULL;
}

/* The mode that keeps the option without effect, NULL when there is none; *ret_wanted is one in which it has. */
static const struct opt_mode *mode_against(const struct opt_command *command, const struct opt *opt, uint32_t active,
                                           const struct opt_mode **ret_wanted)
{
    for (size_t i = 0; i < command->mode_count; i++) {
        const struct opt_mode *mode = &command->modes[i];
        uint32_t wanted = opt->modes & mode->axis;
        if (wanted && (active & mode->bit) && !(wanted & mode->bit)) {
            *ret_wanted = mode_in(command, wanted);
            return mode;
        }
    }
    return NULL;
}

as_status options_check_modes(const struct opt_parsed *parsed, uint32_t active, struct as_error *err)
{
    for (size_t i = 0; i < parsed->state_count; i++) {
        const struct opt_state *state = &parsed->states[i];
        if (state->origin == OPT_FROM_DEFAULT || state->origin == OPT_FROM_RUN)
            continue;
        const struct opt_mode *wanted = NULL;
        const struct opt_mode *mode = mode_against(parsed->command, state->option, active, &wanted);
        if (mode)
            return error_set(err, AS_E_USAGE, "%s has no effect in %s (%s); it works in %s (%s)", state->spelled,
                             mode->name, mode->because, wanted->name, wanted->because);
    }
    return AS_OK;
}
