/* SPDX-License-Identifier: Apache-2.0 */
#include "options/internal.h"

/* Text inside a table cell. */
static void add_cell(struct strbuf *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '|')
            strbuf_adds(out, "\\|");
        else if (*text == '<')
            strbuf_adds(out, "&lt;");
        else if (*text == '\n')
            strbuf_addc(out, ' ');
        else
            strbuf_addc(out, *text);
    }
}

static void add_option(struct strbuf *out, const struct opt_command *command, const struct opt *opt)
{
    struct strbuf text AS_AUTO_STRBUF;
    strbuf_init(&text, 0);
    strbuf_addf(&text, "`--%s%s", opt->name, opt->type == OPT_FLAG ? "" : " ");
    add_value_name(&text, opt);
    strbuf_addc(&text, '`');
    strbuf_adds(out, "| ");
    add_cell(out, strbuf_text(&text));
    strbuf_adds(out, " | ");
    strbuf_reset(&text);
    strbuf_adds(&text, opt->sentence);
    if (opt->is_list)
        strbuf_adds(&text, " May be repeated.");
    add_default_sentence(&text, opt);
    add_conditions(&text, command, opt);
    add_aliases(&text, command, opt);
    add_cell(out, strbuf_text(&text));
    strbuf_adds(out, " | ");
    strbuf_reset(&text);
    value_allowed(opt, &text);
    add_cell(out, strbuf_text(&text));
    strbuf_adds(out, " | ");
    strbuf_reset(&text);
    add_environment(&text, opt);
    add_cell(out, strbuf_text(&text));
    strbuf_adds(out, " |\n");
}

/* Options that are there for the sake of other tools. */
static void add_hidden(struct strbuf *out, const struct opt_command *command)
{
    size_t count = command_option_count(command);
    for (size_t i = 0; i < count; i++) {
        const struct opt *opt = command_option(command, i, NULL);
        if (!opt->is_hidden)
            continue;
        strbuf_addf(out, "| `--%s` | works as there | ", opt->name);
        add_cell(out, opt->sentence);
        strbuf_adds(out, " |\n");
    }
}

static void add_foreign(struct strbuf *out, const struct opt_command *command)
{
    static const char *const words[] = {"the same as", "becomes", "always so", "refused"};
    if (command->foreign)
        strbuf_adds(out, "\n### Flags of other tools\n\n| flag | here | |\n|---|---|---|\n");
    for (const struct opt_foreign *foreign = command->foreign; foreign && foreign->name; foreign++) {
        strbuf_addf(out, "| `--%s` | %s", foreign->name, words[foreign->kind]);
        if (foreign->target)
            strbuf_addf(out, "%s `--%s`", foreign->kind == OPT_REFUSED ? "; nearest is" : "", foreign->target);
        strbuf_adds(out, " | ");
        add_cell(out, foreign->sentence ? foreign->sentence : "");
        strbuf_adds(out, " |\n");
    }
    add_hidden(out, command);
}

void options_markdown(const struct opt_command *command, struct strbuf *out)
{
    size_t count = command_option_count(command);
    const char *group;
    strbuf_addf(out, "## assay %s\n\n%s.\n\n```\nassay %s%s%s%s\n```\n", command->name, command->summary, command->name,
                count ? " [options]" : "", command->operands ? " " : "", command->operands ? command->operands : "");
    if (command->description)
        strbuf_addf(out, "\n%s\n", command->description);
    for (size_t g = 0; (group = command_group(command, g)) != NULL; g++) {
        strbuf_addf(out, "\n### %s\n\n| option | what it does | allowed | environment |\n|---|---|---|---|\n", group);
        for (size_t i = 0; i < count; i++) {
            const struct opt *opt = command_option(command, i, NULL);
            if (strcmp(opt->group, group) == 0 && !opt->is_hidden)
                add_option(out, command, opt);
        }
    }
    add_foreign(out, command);
    if (command->exit_count)
        strbuf_adds(out, "\n### Exit status\n\n| status | meaning |\n|---|---|\n");
    for (size_t i = 0; i < command->exit_count; i++) {
        strbuf_addf(out, "| %d | ", command->exits[i].code);
        add_cell(out, command->exits[i].meaning);
        strbuf_adds(out, " |\n");
    }
    if (command->examples)
        strbuf_addf(out, "\n### Examples\n\n```\n%s```\n", command->examples);
}
