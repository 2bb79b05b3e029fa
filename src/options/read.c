/* SPDX-License-Identifier: Apache-2.0 */
#include "base/url.h"
#include "options/internal.h"

#define NOTES_MAX 64

const char *opt_origin_name(enum opt_origin origin)
{
    static const char *const names[] = {"default", "job file", "environment", "command line", "run"};
    return names[origin];
}

static struct opt_state *state_find(const struct opt_parsed *parsed, const char *name, size_t len)
{
    for (size_t i = 0; i < parsed->state_count; i++) {
        const struct opt *opt = parsed->states[i].option;
        if ((strlen(opt->name) == len && memcmp(opt->name, name, len) == 0) || word_in(opt->aliases, name, len))
            return &parsed->states[i];
    }
    return NULL;
}

static const struct opt_foreign *foreign_find(const struct opt_command *command, const char *name, size_t len)
{
    for (const struct opt_foreign *foreign = command->foreign; foreign && foreign->name; foreign++)
        if (strlen(foreign->name) == len && memcmp(foreign->name, name, len) == 0)
            return foreign;
    return NULL;
}

struct opt_found reader_find(struct opt_reader *reader, const char *name, size_t len)
{
    struct opt_found found = {.state = state_find(reader->parsed, name, len)};
    if (!found.state)
        found.foreign = foreign_find(reader->parsed->command, name, len);
    if (!found.state && !found.foreign && len > 3 && memcmp(name, "no-", 3) == 0) {
        struct opt_state *state = state_find(reader->parsed, name + 3, len - 3);
        if (state && state->option->type == OPT_FLAG)
            found = (struct opt_found){.state = state, .negated = true};
    }
    return found;
}

/* Copies at most 100 bytes of a value into a message, control characters as "?". */
static void add_shown_value(struct strbuf *out, const char *value)
{
    strbuf_addc(out, '"');
    size_t len = strlen(value), shown = len > 100 ? 100 : len;
    while (shown < len && shown > 0 && ((unsigned char)value[shown] & 0xc0) == 0x80)
        shown--;
    for (size_t i = 0; i < shown; i++)
        strbuf_addc(out, (unsigned char)value[i] < 0x20 || value[i] == 0x7f ? '?' : value[i]);
    strbuf_adds(out, shown < len ? "…\"" : "\"");
}

/* The sentence for a value that was refused for `reason`. */
static as_status refuse_value(const struct opt_reader *reader, const struct opt *opt, const char *value,
                              const struct as_error *reason, struct as_error *err)
{
    struct strbuf out AS_AUTO_STRBUF, shown AS_AUTO_STRBUF;
    strbuf_init(&out, 4096);
    strbuf_init(&shown, 0);
    if (opt->secrecy == OPT_URL)
        url_add_query_shown(&shown, value);
    else
        strbuf_adds(&shown, value);
    strbuf_addf(&out, "%s: ", reader->spelled ? reader->spelled : opt->name);
    if (opt->secrecy == OPT_SECRET || opt->secrecy == OPT_SECRET_VALUE)
        strbuf_adds(&out, "the value");
    else if (opt->secrecy == OPT_URL && strchr(value, '@'))
        strbuf_adds(&out, "the URL");
    else
        add_shown_value(&out, strbuf_text(&shown));
    strbuf_addf(&out, " %s; allowed is ", reason->message);
    value_allowed(opt, &out);
    strbuf_addf(&out, ", for example --%s", opt->name);
    if (opt->type != OPT_FLAG) {
        strbuf_addc(&out, ' ');
        value_example(opt, &out);
    }
    return error_set(err, reason->status == AS_E_NOMEM ? AS_E_NOMEM : AS_E_USAGE, "%s", strbuf_text(&out));
}

static as_status assign_state(struct opt_reader *reader, struct opt_state *state, const char *value,
                              struct as_error *err)
{
    const struct opt *opt = state->option;
    struct as_error reason = {.status = AS_E_USAGE};
    bool is_again = state->origin == reader->origin && reader->origin != OPT_FROM_DEFAULT;
    if (is_again && !opt->is_list && reader->origin != OPT_FROM_RUN && strcmp(state->text, value) != 0)
        return error_set(err, AS_E_USAGE, "%s: --%s is given twice with different values; give it once",
                         reader->spelled, opt->name);
    if (!is_again && opt->is_list)
        value_clear(opt, state->field);
    as_status status = value_parse(opt, value, state->field, reader->parsed->arena, &reason);
    if (status != AS_OK)
        return refuse_value(reader, opt, value, &reason, err);
    state->origin = reader->origin;
    state->spelled = reader->spelled;
    state->text = value;
    return AS_OK;
}

char *options_copy(struct opt_reader *reader, const char *text, size_t len)
{
    return arena_strndup(reader->parsed->arena, text, len);
}

static as_status add_note(struct opt_reader *reader, const char *note)
{
    struct opt_parsed *parsed = reader->parsed;
    for (size_t i = 0; i < parsed->note_count; i++)
        if (strcmp(parsed->notes[i], note) == 0)
            return AS_OK;
    if (parsed->note_count == NOTES_MAX)
        return AS_OK;
    ((const char **)parsed->notes)[parsed->note_count++] = note;
    return AS_OK;
}

as_status options_note(struct opt_reader *reader, const char *sentence)
{
    const char *note = arena_printf(reader->parsed->arena, "%s: %s", reader->spelled, sentence);
    return note ? add_note(reader, note) : AS_E_NOMEM;
}

/* A refusal by the map itself is completed with the flag's name. */
static as_status map_value(struct opt_reader *reader, const struct opt_foreign *foreign, const char *value,
                           struct as_error *err)
{
    struct as_error inner = {0};
    as_status status = foreign->map(reader, value, &inner);
    if (status != AS_OK) {
        *err = inner;
        if (strncmp(inner.message, reader->spelled, strlen(reader->spelled)) != 0)
            error_prefix(err, "%s", reader->spelled);
    }
    return status;
}

static as_status assign_foreign(struct opt_reader *reader, const struct opt_foreign *foreign, const char *value,
                                struct as_error *err)
{
    switch (foreign->kind) {
    case OPT_SAME:
        return options_assign(reader, foreign->target, value, err);
    case OPT_MAPPED:
        return map_value(reader, foreign, value, err);
    case OPT_ALWAYS:
        if (options_note(reader, foreign->sentence) != AS_OK)
            return error_set(err, AS_E_NOMEM, "out of memory");
        return AS_OK;
    case OPT_REFUSED:
        break;
    }
    return error_set(err, AS_E_USAGE, "%s: %s%s%s%s", reader->spelled, foreign->sentence,
                     foreign->target ? " Nearest here: --" : "", foreign->target ? foreign->target : "",
                     foreign->target ? "." : "");
}

as_status reader_assign(struct opt_reader *reader, const struct opt_found *found, const char *value,
                        struct as_error *err)
{
    if (found->foreign)
        return assign_foreign(reader, found->foreign, value, err);
    return assign_state(reader, found->state, value, err);
}

as_status options_assign(struct opt_reader *reader, const char *name, const char *value, struct as_error *err)
{
    struct opt_found found = reader_find(reader, name, strlen(name));
    if (!found.state)
        return error_set(err, AS_E_INTERNAL, "there is no option --%s", name);
    return assign_state(reader, found.state, value, err);
}

/* ---- environment ---- */

static const char *environment_value(char *const *environment, const char *name, size_t len)
{
    for (; *environment; environment++)
        if (strncmp(*environment, name, len) == 0 && (*environment)[len] == '=')
            return *environment + len + 1;
    return NULL;
}

static as_status read_environment_option(struct opt_reader *reader, struct opt_state *state, struct as_error *err)
{
    struct strbuf names AS_AUTO_STRBUF;
    strbuf_init(&names, 0);
    environment_name(state->option->name, &names);
    if (state->option->environment)
        strbuf_addf(&names, " %s", state->option->environment);
    if (strbuf_status(&names) != AS_OK)
        return error_set(err, AS_E_NOMEM, "out of memory");
    const char *at = strbuf_text(&names), *word;
    size_t len;
    while (next_word(&at, &word, &len)) {
        const char *value = environment_value(reader->input->environment, word, len);
        if (!value || !*value)
            continue;
        reader->spelled = arena_strndup(reader->parsed->arena, word, len);
        if (!reader->spelled)
            return error_set(err, AS_E_NOMEM, "out of memory");
        return assign_state(reader, state, value, err);
    }
    return AS_OK;
}

/* Notes a variable that looks like a misspelt option. */
static as_status note_stray_variable(struct opt_reader *reader, const char *variable)
{
    char name[64];
    size_t len = strcspn(variable, "=");
    if (strncmp(variable, "ASSAY_", 6) != 0 || len - 6 >= sizeof name || len < 10)
        return AS_OK;
    for (size_t i = 6; i < len; i++)
        name[i - 6] = variable[i] == '_'
                          ? '-'
                          : (char)(variable[i] >= 'A' && variable[i] <= 'Z' ? variable[i] + 32 : variable[i]);
    name[len - 6] = '\0';
    const char *nearest = options_nearest(reader->parsed->command, name);
    if (reader_find(reader, name, len - 6).state || !nearest)
        return AS_OK;
    struct strbuf meant AS_AUTO_STRBUF;
    strbuf_init(&meant, 0);
    environment_name(nearest, &meant);
    if (strbuf_status(&meant) != AS_OK)
        return strbuf_status(&meant);
    const char *note =
        arena_printf(reader->parsed->arena, "%.*s is set, but no option of this command reads it; did you mean %s?",
                     (int)len, variable, strbuf_text(&meant));
    return note ? add_note(reader, note) : AS_E_NOMEM;
}

static as_status read_environment(struct opt_reader *reader, struct as_error *err)
{
    if (!reader->input->environment)
        return AS_OK;
    reader->origin = OPT_FROM_ENVIRONMENT;
    for (size_t i = 0; i < reader->parsed->state_count; i++) {
        as_status status = read_environment_option(reader, &reader->parsed->states[i], err);
        if (status != AS_OK)
            return status;
    }
    for (char *const *each = reader->input->environment; *each; each++)
        if (note_stray_variable(reader, *each) != AS_OK)
            return error_set(err, AS_E_NOMEM, "out of memory");
    return AS_OK;
}

/* ---- command line ---- */

static bool takes_value(const struct opt_found *found)
{
    if (found->foreign)
        return !found->foreign->is_flag;
    return found->state->option->type != OPT_FLAG;
}

static bool takes_many(const struct opt_found *found)
{
    return found->foreign ? found->foreign->takes_many : found->state->option->takes_many;
}

static const char *where_all_are(const struct opt_reader *reader)
{
    const struct opt_command *command = reader->parsed->command;
    const char *text = command->is_own_program
                           ? arena_printf(reader->parsed->arena, "\"%s --help\" lists them all", command->name)
                           : arena_printf(reader->parsed->arena, "\"assay help %s\" lists them all", command->name);
    return text ? text : "";
}

static as_status unknown_option(const struct opt_reader *reader, const char *name, size_t len, struct as_error *err)
{
    char *copy = arena_strndup(reader->parsed->arena, name, len < 64 ? len : 64);
    const char *nearest = copy ? options_nearest(reader->parsed->command, copy) : NULL;
    return error_set(err, AS_E_USAGE, "unknown option --%s; %s%s%s%s", copy ? copy : "",
                     nearest ? "did you mean --" : "", nearest ? nearest : "", nearest ? "? " : "",
                     where_all_are(reader));
}

static bool looks_like_option(const char *word)
{
    return word[0] == '-' && word[1] == '-' && word[2] != '\0';
}

/* Reads the option at argv[*index] and its values; moves *index to the last word used. */
static as_status read_word(struct opt_reader *reader, int *index, struct as_error *err)
{
    char *const *argv = reader->input->argv;
    const char *name = argv[*index] + 2;
    size_t len = strcspn(name, "=");
    const char *value = name[len] == '=' ? name + len + 1 : NULL;
    struct opt_found found = reader_find(reader, name, len);
    if (!found.state && !found.foreign)
        return unknown_option(reader, name, len, err);
    reader->spelled = arena_strndup(reader->parsed->arena, argv[*index], len + 2);
    if (!reader->spelled)
        return error_set(err, AS_E_NOMEM, "out of memory");
    if (!takes_value(&found)) {
        if (value && found.negated)
            return error_set(err, AS_E_USAGE, "%s takes no value", reader->spelled);
        return reader_assign(reader, &found, value ? value : found.negated ? "false" : "true", err);
    }
    bool is_joined = value != NULL;
    if (!is_joined) {
        bool has_next = *index + 1 < reader->input->argc;
        bool is_refused = found.foreign && found.foreign->kind == OPT_REFUSED;
        if (!is_refused && (!has_next || looks_like_option(argv[*index + 1])))
            return error_set(err, AS_E_USAGE, "%s needs a value; one that begins with -- is written %s=--…",
                             reader->spelled, reader->spelled);
        value = is_refused ? "" : argv[++*index];
    }
    as_status status = reader_assign(reader, &found, value, err);
    while (status == AS_OK && takes_many(&found) && !is_joined && *index + 1 < reader->input->argc &&
           argv[*index + 1][0] != '-')
        status = reader_assign(reader, &found, argv[++*index], err);
    return status;
}

static as_status add_operand(struct opt_reader *reader, const char *word, struct as_error *err)
{
    struct opt_parsed *parsed = reader->parsed;
    if (!parsed->command->operands)
        return error_set(err, AS_E_USAGE,
                         "unexpected word \"%.100s\": assay %s takes options only, each as --name value", word,
                         parsed->command->name);
    ((const char **)parsed->operands)[parsed->operand_count++] = word;
    return AS_OK;
}

static as_status read_argv(struct opt_reader *reader, struct as_error *err)
{
    as_status status = AS_OK;
    bool is_over = false;
    reader->origin = OPT_FROM_ARGV;
    for (int i = 1; i < reader->input->argc && status == AS_OK; i++) {
        const char *word = reader->input->argv[i];
        if (is_over || word[0] != '-' || word[1] == '\0')
            status = add_operand(reader, word, err);
        else if (strcmp(word, "--") == 0)
            is_over = true;
        else if (word[1] != '-')
            status = error_set(err, AS_E_USAGE, "unknown option %.20s; options are written --name, and %s", word,
                               where_all_are(reader));
        else
            status = read_word(reader, &i, err);
    }
    return status;
}

static bool asks_for_help(const struct opt_input *input)
{
    for (int i = 1; i < input->argc && strcmp(input->argv[i], "--") != 0; i++)
        if (strcmp(input->argv[i], "--help") == 0 || strcmp(input->argv[i], "-h") == 0)
            return true;
    return false;
}

/* The job file's path from the command line, else from the environment, else NULL. */
static const char *job_path(const struct opt_reader *reader)
{
    const struct opt_input *input = reader->input;
    if (!state_find(reader->parsed, "job", 3))
        return NULL;
    for (int i = 1; i < input->argc && strcmp(input->argv[i], "--") != 0; i++) {
        if (strcmp(input->argv[i], "--job") == 0 && i + 1 < input->argc)
            return input->argv[i + 1];
        if (strncmp(input->argv[i], "--job=", 6) == 0)
            return input->argv[i] + 6;
    }
    const char *value = input->environment ? environment_value(input->environment, "ASSAY_JOB", 9) : NULL;
    return value && *value ? value : NULL;
}

static as_status apply_defaults(struct opt_reader *reader, struct as_error *err)
{
    for (size_t i = 0; i < reader->parsed->state_count; i++) {
        struct opt_state *state = &reader->parsed->states[i];
        const struct opt *opt = state->option;
        struct as_error reason = {.status = AS_E_USAGE};
        as_status status = AS_OK;
        value_clear(opt, state->field);
        if (!opt->initial)
            continue;
        if (!opt->is_list)
            status = value_parse(opt, opt->initial, state->field, reader->parsed->arena, &reason);
        const char *at = opt->is_list ? opt->initial : NULL, *word;
        size_t len;
        while (status == AS_OK && next_word(&at, &word, &len)) {
            const char *item = arena_strndup(reader->parsed->arena, word, len);
            status = item ? value_parse(opt, item, state->field, reader->parsed->arena, &reason) : AS_E_NOMEM;
        }
        if (status != AS_OK)
            return error_set(err, AS_E_INTERNAL, "default of --%s %s", opt->name, reason.message);
    }
    return AS_OK;
}

static as_status parsed_init(struct opt_parsed *parsed, const struct opt_command *command,
                             const struct opt_input *input, struct as_error *err)
{
    struct arena *arena = input->arena;
    *parsed = (struct opt_parsed){.command = command, .arena = arena, .state_count = command_option_count(command)};
    parsed->states = arena_calloc(arena, parsed->state_count + 1, sizeof *parsed->states);
    parsed->notes = arena_calloc(arena, NOTES_MAX, sizeof *parsed->notes);
    parsed->operands = arena_calloc(arena, (size_t)input->argc + 1, sizeof *parsed->operands);
    if (!parsed->states || !parsed->notes || !parsed->operands)
        return error_set(err, AS_E_NOMEM, "out of memory");
    for (size_t i = 0; i < parsed->state_count; i++) {
        size_t base;
        const struct opt *opt = command_option(command, i, &base);
        parsed->states[i] = (struct opt_state){.option = opt, .field = (char *)input->target + base + opt->at};
    }
    return AS_OK;
}

static as_status check_pairs(const struct opt_parsed *parsed, const struct opt_state *state, struct as_error *err)
{
    const struct opt *opt = state->option;
    const char *at = opt->conflicts, *word;
    size_t len;
    while (next_word(&at, &word, &len)) {
        const struct opt_state *other = state_find(parsed, word, len);
        if (other && other->origin != OPT_FROM_DEFAULT)
            return error_set(err, AS_E_USAGE, "%s and %s exclude each other; give one of them", state->spelled,
                             other->spelled);
    }
    if (opt->needs) {
        const struct opt_state *other = state_find(parsed, opt->needs, strlen(opt->needs));
        if (other && other->origin == OPT_FROM_DEFAULT)
            return error_set(err, AS_E_USAGE, "%s has no effect without --%s; give both or neither", state->spelled,
                             opt->needs);
    }
    return AS_OK;
}

as_status options_read(const struct opt_command *command, const struct opt_input *input, struct opt_parsed *ret,
                       struct as_error *err)
{
    struct opt_parsed parsed;
    as_status status = parsed_init(&parsed, command, input, err);
    struct opt_reader reader = {.parsed = &parsed, .input = input};
    if (status == AS_OK)
        status = apply_defaults(&reader, err);
    if (status == AS_OK && asks_for_help(input)) {
        parsed.wants_help = true;
        *ret = parsed;
        return AS_OK;
    }
    const char *job = status == AS_OK ? job_path(&reader) : NULL;
    if (job) {
        reader.origin = OPT_FROM_FILE;
        status = reader_job_file(&reader, job, err);
    }
    if (status == AS_OK)
        status = read_environment(&reader, err);
    if (status == AS_OK)
        status = read_argv(&reader, err);
    for (size_t i = 0; i < parsed.state_count && status == AS_OK; i++)
        if (parsed.states[i].origin != OPT_FROM_DEFAULT)
            status = check_pairs(&parsed, &parsed.states[i], err);
    if (status == AS_OK)
        *ret = parsed;
    return status;
}
