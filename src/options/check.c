/* SPDX-License-Identifier: Apache-2.0 */
#include "options/internal.h"

struct check {
    const struct opt_command *command;
    void *target;
    struct arena *arena;
    struct strbuf *out;
};

static void complain(struct check *check, const char *name, const char *what)
{
    strbuf_addf(check->out, "%s --%s: %s\n", check->command->name, name, what);
}

static size_t uses_of_name(const struct opt_command *command, const char *name, size_t len)
{
    size_t uses = 0, count = command_option_count(command);
    for (size_t i = 0; i < count; i++) {
        const struct opt *opt = command_option(command, i, NULL);
        uses += strlen(opt->name) == len && memcmp(opt->name, name, len) == 0;
        uses += word_in(opt->aliases, name, len);
    }
    for (const struct opt_foreign *foreign = command->foreign; foreign && foreign->name; foreign++)
        uses += strlen(foreign->name) == len && memcmp(foreign->name, name, len) == 0;
    return uses;
}

static bool is_option(const struct opt_command *command, const char *name, size_t len)
{
    size_t count = command_option_count(command);
    for (size_t i = 0; i < count; i++) {
        const struct opt *opt = command_option(command, i, NULL);
        if (strlen(opt->name) == len && memcmp(opt->name, name, len) == 0)
            return true;
    }
    return false;
}

static void check_words(struct check *check, const struct opt *opt, const char *words)
{
    const char *word;
    size_t len;
    while (next_word(&words, &word, &len))
        if (!is_option(check->command, word, len))
            complain(check, opt->name, "needs or conflicts with an option that is not in the tables");
}

static void check_sample(struct check *check, const struct opt *opt, const char *text, const char *what)
{
    struct as_error err = {0};
    const void *quoted = strchr(text, '\'');
    if (quoted)
        return;
    if (value_parse(opt, text, check->target, check->arena, &err) != AS_OK)
        complain(check, opt->name, what);
}

static void check_option(struct check *check, const struct opt *opt)
{
    struct strbuf example AS_AUTO_STRBUF;
    strbuf_init(&example, 0);
    if (!opt->group || !opt->sentence || !*opt->sentence || opt->sentence[strlen(opt->sentence) - 1] != '.')
        complain(check, opt->name, "has no group or no sentence with a full stop");
    if (uses_of_name(check->command, opt->name, strlen(opt->name)) != 1)
        complain(check, opt->name, "is defined more than once");
    const char *at = opt->aliases, *word;
    size_t len;
    while (next_word(&at, &word, &len))
        if (uses_of_name(check->command, word, len) != 1)
            complain(check, opt->name, "has an alias that is defined more than once");
    check_words(check, opt, opt->needs);
    check_words(check, opt, opt->conflicts);
    if (opt->type == OPT_ENUM && (!opt->choices || !opt->choices[0]))
        complain(check, opt->name, "has no choices");
    if (opt->is_list && opt->type != OPT_STRING && opt->type != OPT_FILE && opt->type != OPT_KEYVALUE)
        complain(check, opt->name, "cannot be a list");
    if ((opt->secrecy == OPT_SECRET) && opt->type != OPT_STRING)
        complain(check, opt->name, "is a secret of another type than text");
    value_example(opt, &example);
    value_clear(opt, check->target);
    if (opt->type != OPT_FLAG)
        check_sample(check, opt, strbuf_text(&example), "its example is refused");
    if (opt->initial && !opt->is_list)
        check_sample(check, opt, opt->initial, "its default is refused");
}

static void check_foreign(struct check *check, const struct opt_foreign *foreign)
{
    if (uses_of_name(check->command, foreign->name, strlen(foreign->name)) != 1)
        complain(check, foreign->name, "is defined more than once");
    if (foreign->target && !is_option(check->command, foreign->target, strlen(foreign->target)))
        complain(check, foreign->name, "its target is not in the tables");
    if (!foreign->target && (foreign->kind == OPT_SAME || foreign->kind == OPT_REFUSED))
        complain(check, foreign->name, "has no target");
    if (!foreign->sentence && foreign->kind != OPT_SAME)
        complain(check, foreign->name, "has no sentence");
    if ((foreign->kind == OPT_MAPPED) != (foreign->map != NULL))
        complain(check, foreign->name, "has a map and is not mapped, or the reverse");
}

void options_check_tables(const struct opt_command *command, struct strbuf *out)
{
    union {
        bool flag;
        int choice;
        int64_t number;
        double real;
        const char *text;
        struct opt_list list;
    } target;
    struct arena arena;
    arena_init(&arena, 0, 0);
    struct check check = {.command = command, .target = &target, .arena = &arena, .out = out};
    size_t count = command_option_count(command);
    for (size_t i = 0; i < count; i++)
        check_option(&check, command_option(command, i, NULL));
    for (const struct opt_foreign *foreign = command->foreign; foreign && foreign->name; foreign++)
        check_foreign(&check, foreign);
    arena_done(&arena);
}
