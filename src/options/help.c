/* SPDX-License-Identifier: Apache-2.0 */
#include "options/internal.h"

#define NAME_COLUMN 2
#define TEXT_COLUMN 30
#define WIDTH_MIN   50

static const char SOURCES_TEXT[] = "Each option is also read from the environment (ASSAY_ and its name in capitals) "
                                   "and, where there is --job, from a job file. "
                                   "The command line comes first, then the environment, the job file, the default. "
                                   "Times take a unit: 50ms, 2s, 1m30s.";
static const char FOREIGN_TEXT[] =
    "Flags of other tools (vLLM, SGLang, AIPerf, GuideLLM, …) are listed in the manual page.";

static void add_option(struct strbuf *out, const struct opt_command *command, const struct opt *opt, size_t width)
{
    struct strbuf left AS_AUTO_STRBUF, right AS_AUTO_STRBUF;
    strbuf_init(&left, 0);
    strbuf_init(&right, 0);
    bool is_on = opt->type == OPT_FLAG && opt->initial && strcmp(opt->initial, "true") == 0;
    strbuf_addf(&left, "%*s--%s%s%s", NAME_COLUMN, "", is_on ? "[no-]" : "", opt->name,
                opt->type == OPT_FLAG ? "" : " ");
    add_value_name(&left, opt);
    strbuf_adds(&right, opt->sentence);
    if (opt->is_list)
        strbuf_adds(&right, " May be repeated.");
    add_default_sentence(&right, opt);
    add_conditions(&right, command, opt);
    if (opt->environment)
        strbuf_addf(&right, " Environment: %s.", opt->environment);
    add_aliases(&right, command, opt);
    strbuf_adds(out, strbuf_text(&left));
    size_t column = text_columns(strbuf_text(&left), left.len);
    if (column + 2 > TEXT_COLUMN)
        strbuf_addf(out, "\n%*s", TEXT_COLUMN, "");
    else
        strbuf_addf(out, "%*s", (int)(TEXT_COLUMN - column), "");
    add_wrapped(out, strbuf_text(&right), TEXT_COLUMN, TEXT_COLUMN, width);
    strbuf_addc(out, '\n');
}

/* Paragraphs separated by blank lines, each wrapped. */
static void add_paragraphs(struct strbuf *out, const char *text, size_t width)
{
    while (*text) {
        const char *end = strstr(text, "\n\n");
        size_t len = end ? (size_t)(end - text) : strlen(text);
        struct strbuf paragraph AS_AUTO_STRBUF;
        strbuf_init(&paragraph, 0);
        for (size_t i = 0; i < len; i++)
            strbuf_addc(&paragraph, text[i] == '\n' ? ' ' : text[i]);
        strbuf_addc(out, '\n');
        add_wrapped(out, strbuf_text(&paragraph), 0, 0, width);
        strbuf_addc(out, '\n');
        text += len + (end ? 2 : 0);
    }
}

static void add_exits(struct strbuf *out, const struct opt_command *command, size_t width)
{
    if (command->exit_count)
        strbuf_adds(out, "\nExit status:\n");
    for (size_t i = 0; i < command->exit_count; i++) {
        strbuf_addf(out, "  %3d  ", command->exits[i].code);
        add_wrapped(out, command->exits[i].meaning, 7, 7, width);
        strbuf_addc(out, '\n');
    }
}

void options_help(const struct opt_command *command, size_t width, struct strbuf *out)
{
    size_t count = command_option_count(command);
    const char *group;
    width = width < WIDTH_MIN ? WIDTH_MIN : width;
    struct strbuf summary AS_AUTO_STRBUF;
    strbuf_init(&summary, 0);
    strbuf_addf(&summary, "%s.", command->summary);
    strbuf_addf(out, "usage: %s%s%s%s%s\n", command->is_own_program ? "" : "assay ", command->name,
                count ? " [options]" : "", command->operands ? " " : "", command->operands ? command->operands : "");
    add_paragraphs(out, strbuf_text(&summary), width);
    if (command->description)
        add_paragraphs(out, command->description, width);
    for (size_t g = 0; (group = command_group(command, g)) != NULL; g++) {
        strbuf_addf(out, "\n%s:\n", group);
        for (size_t i = 0; i < count; i++) {
            const struct opt *opt = command_option(command, i, NULL);
            if (strcmp(opt->group, group) == 0 && !opt->is_hidden)
                add_option(out, command, opt, width);
        }
    }
    if (count && !command->is_command_line_only)
        add_paragraphs(out, SOURCES_TEXT, width);
    if (command->foreign)
        add_paragraphs(out, FOREIGN_TEXT, width);
    add_exits(out, command, width);
    if (command->examples)
        strbuf_addf(out, "\nExamples:\n%s", command->examples);
}
