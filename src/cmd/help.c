/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/commands.h"
#include "cmd/front.h"
#include "cmd/help_part.h"
#include "cmd/version.h"

enum { HELP_TEXT, HELP_MAN, HELP_MARKDOWN, HELP_SCHEMA, HELP_BASH };

struct help_config {
    int format;
};

static const char *const FORMATS[] = {"text", "man", "markdown", "schema", "bash", NULL};
static const struct opt HELP_OPTIONS[] = {
    {.name = "format", .type = OPT_ENUM, .at = offsetof(struct help_config, format), .group = "Output", .choices = FORMATS, .initial = "text",
     .sentence = "As what: text for the terminal, the manual page, the options page of all commands, the JSON schema of the "
                 "command's job files, or the bash completion of all commands."},
};
static const struct opt_table HELP_TABLE = OPT_TABLE(HELP_OPTIONS, 0);
static const struct opt_table *const HELP_TABLES[] = {&HELP_TABLE};
static const struct opt_command HELP_LINE = {
    .name = "help",
    .summary = "Explain a command and its options",
    .operands = "[COMMAND [PART]]",
    .tables = HELP_TABLES,
    .table_count = 1,
};

static void add_page(struct strbuf *out)
{
    size_t count;
    const struct command *const *list = command_list(&count);
    strbuf_adds(out, "# Options\n\nWritten by `script/docs` from the option tables. Options come from the command line, then the environment, then "
                     "the job file\n(`--job FILE`, YAML with the same names), then the default. Durations take a unit: `50ms`, `2s`, `1m30s`.\n");
    for (size_t i = 0; i < count; i++) {
        strbuf_addc(out, '\n');
        options_markdown(list[i]->line, out);
    }
}

static void add_completion(struct strbuf *out)
{
    size_t count;
    const struct command *const *list = command_list(&count);
    const char *names[COMMANDS_MAX + 1] = {NULL};
    struct opt_completed completed[COMMANDS_MAX];
    for (size_t i = 0; i < count; i++) {
        names[i] = list[i]->line->name;
        completed[i] = (struct opt_completed){list[i]->line, list[i] == &command_help ? names : list[i]->parts};
    }
    options_completion(completed, count, out);
}

/* assay(1): what the commands are. */
static void add_front_page(struct strbuf *out)
{
    size_t count;
    const struct command *const *list = command_list(&count);
    strbuf_addf(out,
                ".TH ASSAY 1 \"\" \"assay %s\" \"Assay\"\n.SH NAME\nassay \\- measure how fast model servers work, and how far the numbers can "
                "be trusted\n.SH SYNOPSIS\n.B assay\nCOMMAND [options]\n.SH COMMANDS\n",
                version_info()->version);
    for (size_t i = 0; i < count; i++) /* help has no page of its own */
        strbuf_addf(out, list[i] == &command_help ? ".TP\n.B assay %s\n%s.\n" : ".TP\n.BR assay\\-%s (1)\n%s.\n", list[i]->line->name, list[i]->line->summary);
    strbuf_adds(out, ".PP\nCalled as\n.BR metrumbench\\-llm ,\n.BR metrumbench\\-vlm ,\n.B metrumbench\\-asr\nor\n.B metrumbench\\-imagegen\nit is the command of that name, as\n.BR benchmark\\-report (1)\n"
                     "it is\n.BR \"assay report convert\" .\n"
                     ".SH ENVIRONMENT\nEvery option is read from ASSAY_ and its name in capitals with _ for \\-, "
                     "unless the command line has it.\n");
}

/* Without a command: a document of all of them. */
static int print_document(int format, const struct command *command)
{
    struct strbuf text AS_AUTO_STRBUF;
    strbuf_init(&text, 0);
    if (format == HELP_MARKDOWN)
        add_page(&text);
    else if (format == HELP_BASH)
        add_completion(&text);
    else if (!command)
        add_front_page(&text);
    else if (format == HELP_MAN)
        options_man(command->line, version_info()->version, &text);
    else
        options_schema(command->line, &text);
    return command_print("help", &text);
}

static int help_run(int argc, char **argv)
{
    struct help_config config;
    struct opt_parsed parsed;
    struct as_error err = {0};
    struct arena arena;
    int exit_code = 0;
    arena_init(&arena, 0, 0);
    as_status status = options_read(&HELP_LINE, &(struct opt_input){argc, argv, NULL, &config, &arena}, &parsed, &err);
    const struct command *command = status == AS_OK && parsed.operand_count ? command_find(front_command_name(parsed.operands[0])) : NULL;
    bool is_of_all = status == AS_OK && config.format != HELP_SCHEMA;
    if (status != AS_OK)
        exit_code = command_fail("help", &err);
    else if (parsed.wants_help)
        exit_code = command_print_help(&HELP_LINE);
    else if (parsed.operand_count && !command)
        exit_code = front_unknown(parsed.operands[0]);
    else if (parsed.operand_count > 1)
        exit_code = help_part(command, &parsed, config.format == HELP_TEXT);
    else if (!command && config.format == HELP_TEXT)
        exit_code = front_print_commands();
    else if (!command && !is_of_all)
        exit_code = front_usage("help: --format schema needs the name of a command");
    else if (command && config.format == HELP_TEXT)
        exit_code = command_print_help(command->line);
    else
        exit_code = print_document(config.format, command);
    arena_done(&arena);
    return exit_code;
}

const struct command command_help = {.line = &HELP_LINE, .run = help_run};
