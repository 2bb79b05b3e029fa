/* SPDX-License-Identifier: Apache-2.0 */
#include "options/internal.h"

/* Text for roff: backslashes and dashes escaped, no line begins with a control character. */
static void add_roff(struct strbuf *out, const char *text)
{
    bool at_start = true;
    for (; *text; text++) {
        if (at_start && (*text == '.' || *text == '\''))
            strbuf_adds(out, "\\&");
        if (*text == '\\')
            strbuf_adds(out, "\\e");
        else if (*text == '-')
            strbuf_adds(out, "\\-");
        else
            strbuf_addc(out, *text);
        at_start = *text == '\n';
    }
}

static void add_capitals(struct strbuf *out, const char *text)
{
    for (; *text; text++)
        strbuf_addc(out, (char)(*text >= 'a' && *text <= 'z' ? *text - 32 : *text));
}

static void add_option(struct strbuf *out, const struct opt_command *command, const struct opt *opt)
{
    struct strbuf text AS_AUTO_STRBUF;
    strbuf_init(&text, 0);
    strbuf_adds(out, ".TP\n\\fB");
    add_roff(out, opt->type == OPT_FLAG ? "--[no-]" : "--");
    add_roff(out, opt->name);
    strbuf_adds(out, "\\fR");
    if (opt->type != OPT_FLAG) {
        add_value_name(&text, opt);
        strbuf_adds(out, " \\fI");
        add_roff(out, strbuf_text(&text));
        strbuf_adds(out, "\\fR");
        strbuf_reset(&text);
    }
    strbuf_addc(out, '\n');
    strbuf_adds(&text, opt->sentence);
    if (opt->is_list)
        strbuf_adds(&text, " May be repeated.");
    strbuf_adds(&text, " Allowed: ");
    value_allowed(opt, &text);
    strbuf_addc(&text, '.');
    add_default_sentence(&text, opt);
    add_conditions(&text, command, opt);
    if (!command->is_command_line_only) {
        strbuf_adds(&text, " Environment: ");
        add_environment(&text, opt);
        strbuf_addc(&text, '.');
    }
    add_aliases(&text, command, opt);
    add_roff(out, strbuf_text(&text));
    strbuf_addc(out, '\n');
}

static void add_foreign(struct strbuf *out, const struct opt_command *command)
{
    static const char *const words[] = {"the same as ", "goes to ", "always so: ", "refused: "};
    bool is_first = true;
    for (const struct opt_foreign *foreign = command->foreign; foreign && foreign->name; foreign++) {
        if (foreign->kind == OPT_SAME)
            continue;
        if (is_first)
            strbuf_adds(out, ".SH FLAGS OF OTHER TOOLS\n");
        is_first = false;
        strbuf_adds(out, ".TP\n\\fB");
        add_roff(out, "--");
        add_roff(out, foreign->name);
        strbuf_adds(out, "\\fR\n");
        add_roff(out, words[foreign->kind]);
        if (foreign->kind == OPT_MAPPED && foreign->target) {
            add_roff(out, "--");
            add_roff(out, foreign->target);
            add_roff(out, ". ");
        }
        add_roff(out, foreign->sentence ? foreign->sentence : "");
        if (foreign->kind == OPT_REFUSED && foreign->target) {
            add_roff(out, " Nearest: --");
            add_roff(out, foreign->target);
            add_roff(out, ".");
        }
        strbuf_addc(out, '\n');
    }
}

/* Options that are there for the sake of other tools. */
static void add_hidden(struct strbuf *out, const struct opt_command *command)
{
    size_t count = command_option_count(command);
    for (size_t i = 0; i < count; i++)
        if (command_option(command, i, NULL)->is_hidden)
            add_option(out, command, command_option(command, i, NULL));
}

static void add_end(struct strbuf *out, const struct opt_command *command)
{
    if (command->exit_count)
        strbuf_adds(out, ".SH EXIT STATUS\n");
    for (size_t i = 0; i < command->exit_count; i++) {
        strbuf_addf(out, ".TP\n%d\n", command->exits[i].code);
        add_roff(out, command->exits[i].meaning);
        strbuf_addc(out, '\n');
    }
    if (command->examples) {
        size_t len = strlen(command->examples);
        strbuf_adds(out, ".SH EXAMPLES\n.nf\n");
        add_roff(out, command->examples);
        strbuf_adds(out, len > 0 && command->examples[len - 1] == '\n' ? ".fi\n" : "\n.fi\n");
    }
    strbuf_adds(out, ".SH SEE ALSO\n.BR assay (1)\n");
}

void options_man(const struct opt_command *command, const char *version, struct strbuf *out)
{
    size_t count = command_option_count(command);
    const char *group;
    bool is_own = command->is_own_program;
    strbuf_adds(out, is_own ? ".TH " : ".TH ASSAY\\-");
    add_capitals(out, command->name);
    strbuf_addf(out, " 1 \"\" \"assay %s\" \"Assay\"\n.nh\n.ad l\n.SH NAME\n%s", version, is_own ? "" : "assay\\-");
    add_roff(out, command->name);
    strbuf_adds(out, " \\- ");
    add_roff(out, command->summary);
    strbuf_addf(out, "\n.SH SYNOPSIS\n.B %s", is_own ? "" : "assay ");
    add_roff(out, command->name);
    strbuf_adds(out, count ? "\n[options]\n" : "\n");
    if (command->operands) {
        add_roff(out, command->operands);
        strbuf_addc(out, '\n');
    }
    if (command->description) {
        strbuf_adds(out, ".SH DESCRIPTION\n");
        for (const char *at = command->description; *at; at++) {
            char letter[2] = {*at, '\0'};
            if (at[0] == '\n' && at[1] == '\n') {
                strbuf_adds(out, "\n.PP\n");
                at++;
            } else {
                add_roff(out, letter);
            }
        }
        strbuf_addc(out, '\n');
    }
    for (size_t g = 0; (group = command_group(command, g)) != NULL; g++) {
        strbuf_adds(out, ".SH ");
        add_capitals(out, group);
        strbuf_addc(out, '\n');
        for (size_t i = 0; i < count; i++) {
            const struct opt *opt = command_option(command, i, NULL);
            if (strcmp(opt->group, group) == 0 && !opt->is_hidden)
                add_option(out, command, opt);
        }
    }
    add_foreign(out, command);
    add_hidden(out, command);
    add_end(out, command);
}
