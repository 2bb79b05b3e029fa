/* SPDX-License-Identifier: Apache-2.0 */
#include "reports/internal.h"

#include "base/file.h"
#include "base/json_write.h"
#include "brief/schema.h"
#include "brief/show.h"

#include <string.h>
#include <sys/stat.h>

struct read_options {
    bool is_json;
    int form;
};
static const struct opt VALIDATE_OPTIONS[] = {
    {.name = "json",
     .type = OPT_FLAG,
     .at = offsetof(struct read_options, is_json),
     .group = "Output",
     .sentence = "Print a JSON list: file, valid, version, and errors with path, message and line."},
};
static const struct opt_table VALIDATE_TABLE = OPT_TABLE(VALIDATE_OPTIONS, 0);
static const struct opt_table *const VALIDATE_TABLES[] = {&VALIDATE_TABLE};
static const char *const FORMS[] = {"schema", "page", "rules", NULL};
static const struct opt SCHEMA_OPTIONS[] = {
    {.name = "form",
     .type = OPT_ENUM,
     .at = offsetof(struct read_options, form),
     .group = "Output",
     .choices = FORMS,
     .initial = "schema",
     .sentence = "As what: the JSON Schema, a page of tables in Markdown, or one line a rule."},
};
static const struct opt_table SCHEMA_TABLE = OPT_TABLE(SCHEMA_OPTIONS, 0);
static const struct opt_table *const SCHEMA_TABLES[] = {&SCHEMA_TABLE};
static const struct opt_exit EXITS[] = {{0, "Done; every report is valid."},
                                        {2, "The command line is wrong."},
                                        {65, "A report is not valid."},
                                        {66, "A file does not exist."},
                                        {74, "Reading or writing failed."}};
#define EXIT_LIST .exits = EXITS, .exit_count = sizeof EXITS / sizeof EXITS[0]

static const struct opt_command VALIDATE = {.name = "report validate",
                                            .summary = "Check reports and say all that is wrong with them",
                                            .operands = "FILE…",
                                            .tables = VALIDATE_TABLES,
                                            .table_count = 1,
                                            EXIT_LIST,
                                            .is_command_line_only = true,
                                            .examples = "  assay report validate benchmark_report.yaml\n"};
static const struct opt_command SHOW = {.name = "report show",
                                        .summary = "Print a report as a table",
                                        .operands = "FILE",
                                        EXIT_LIST,
                                        .is_command_line_only = true,
                                        .examples = "  assay report show benchmark_report.yaml\n"};
static const struct opt_command DIFF = {.name = "report diff",
                                        .summary = "Compare the figures of two reports, in the units of the first",
                                        .operands = "A B",
                                        EXIT_LIST,
                                        .is_command_line_only = true,
                                        .examples = "  assay report diff before.yaml after.yaml\n"};
static const struct opt_command SCHEMA = {.name = "report schema",
                                          .summary = "Print the JSON Schema of a version",
                                          .operands = "0.1|0.2.1",
                                          .tables = SCHEMA_TABLES,
                                          .table_count = 1,
                                          EXIT_LIST,
                                          .is_command_line_only = true,
                                          .examples = "  assay report schema 0.2.1\n"};

/* What all of them begin with. */
struct reading {
    struct arena arena;
    struct read_options options;
    struct opt_parsed parsed;
    struct reports_call *call;
};

/* False, with the exit status, when there is nothing more to do. */
static bool begin(struct reading *reading, struct reports_call *call, const struct opt_command *line, int *ret_exit)
{
    static const struct reports_letter letters[] = {{'h', false, "help"}, {'\0', false, NULL}};
    struct as_error err = {0};
    *reading = (struct reading){.call = call};
    arena_init(&reading->arena, 0, 0);
    bool is_rewritten = reports_long_form(call, line, letters, &reading->arena);
    const struct opt_input input = {call->argc, call->argv, NULL, &reading->options, &reading->arena};
    *ret_exit = 0;
    if (!is_rewritten || options_read(line, &input, &reading->parsed, &err) != AS_OK)
        *ret_exit = reports_fail(call, REPORTS_EXIT_USAGE, "%s", err.message);
    else if (reading->parsed.wants_help)
        call->help = line;
    else
        return true;
    arena_done(&reading->arena);
    return false;
}

static int wrong_operands(struct reading *reading, const char *what)
{
    arena_done(&reading->arena);
    return reports_fail(reading->call, REPORTS_EXIT_USAGE, "needs %s; --help explains", what);
}

static bool is_folder(const char *path)
{
    struct stat facts;
    return stat(path, &facts) == 0 && S_ISDIR(facts.st_mode);
}

/* A file, "-" for standard input, or a run's folder: then the report in it. */
static as_status read_report(struct brief_report *report, const char *path, struct as_error *err)
{
    struct strbuf text AS_AUTO_STRBUF;
    strbuf_init(&text, READ_YAML_BYTES_MAX);
    if (is_folder(path)) {
        strbuf_addf(&text, "%s/benchmark_report.yaml", path);
        return strbuf_status(&text) == AS_OK ? brief_read_path(report, strbuf_text(&text), err) : strbuf_status(&text);
    }
    if (strcmp(path, "-") != 0)
        return brief_read_path(report, path, err);
    as_status status = file_read("-", &text, err);
    if (status == AS_OK)
        status = brief_read_text(report, strbuf_text(&text), text.len, err);
    return status == AS_OK ? status : error_prefix(err, "standard input");
}

static void put_verdict(struct json_writer *writer, const char *path, const struct brief_report *report,
                        as_status status, const struct as_error *err)
{
    json_open_object(writer);
    json_member_string(writer, "file", path);
    json_member_bool(writer, "valid", status == AS_OK);
    json_member_string(writer, "version", value_string(value_get(report->root, "version")));
    json_key(writer, "errors");
    json_open_array(writer);
    for (const struct problem *problem = report->problems.first; problem; problem = problem->next) {
        json_open_object(writer);
        json_member_string(writer, "path", problem->path);
        json_member_string(writer, "message", problem->message);
        if (problem->line > 0)
            json_member_int(writer, "line", problem->line);
        json_close_object(writer);
    }
    if (status != AS_OK && !report->problems.first) {
        json_open_object(writer);
        json_member_string(writer, "path", "");
        json_member_string(writer, "message", err->message);
        if (err->line > 0)
            json_member_int(writer, "line", err->line);
        json_close_object(writer);
    }
    json_close_array(writer);
    json_close_object(writer);
}

static void print_verdict(const char *path, const struct brief_report *report, as_status status,
                          const struct as_error *err, struct strbuf *out)
{
    struct strbuf lines AS_AUTO_STRBUF;
    strbuf_init(&lines, 0);
    if (status == AS_OK) {
        strbuf_addf(out, "%s: valid, version %s\n", path, value_string(value_get(report->root, "version")));
        return;
    }
    if (!report->problems.first) {
        strbuf_addf(out, "%s\n", err->message);
        return;
    }
    problems_print(&report->problems, &lines);
    for (const char *at = strbuf_text(&lines), *end; *at; at = end + 1) {
        end = strchr(at, '\n');
        strbuf_addf(out, "%s: %.*s\n", path, (int)(end - at), at);
    }
}

int reports_validate(struct reports_call *call)
{
    struct reading reading;
    struct json_writer writer;
    int exit_code;
    if (!begin(&reading, call, &VALIDATE, &exit_code))
        return exit_code;
    if (reading.parsed.operand_count == 0)
        return wrong_operands(&reading, "at least one file");
    json_writer_init(&writer, &call->out, 2);
    if (reading.options.is_json)
        json_open_array(&writer);
    exit_code = 0;
    for (size_t i = 0; i < reading.parsed.operand_count; i++) {
        struct brief_report report;
        struct as_error err = {0};
        const char *path = reading.parsed.operands[i];
        brief_init(&report);
        as_status status = read_report(&report, path, &err);
        if (reading.options.is_json)
            put_verdict(&writer, path, &report, status, &err);
        else
            print_verdict(path, &report, status, &err, &call->out);
        exit_code = status != AS_OK && exit_code == 0 ? status_exit_code(status) : exit_code;
        brief_done(&report);
    }
    if (reading.options.is_json) {
        json_close_array(&writer);
        strbuf_addc(&call->out, '\n');
    }
    arena_done(&reading.arena);
    return exit_code;
}

static int refuse(const struct reading *reading, const struct brief_report *report, as_status status,
                  const struct as_error *err)
{
    (void)reports_fail(reading->call, 0, "%s", err->message[0] ? err->message : status_sentence(status));
    for (const struct problem *problem = report->problems.first ? report->problems.first->next : NULL; problem;
         problem = problem->next)
        strbuf_addf(&reading->call->err, "  %s: %s\n", problem->path, problem->message);
    return status_exit_code(status);
}

int reports_show(struct reports_call *call)
{
    struct reading reading;
    struct brief_report report;
    struct as_error err = {0};
    int exit_code;
    if (!begin(&reading, call, &SHOW, &exit_code))
        return exit_code;
    if (reading.parsed.operand_count != 1)
        return wrong_operands(&reading, "one file");
    brief_init(&report);
    as_status status = read_report(&report, reading.parsed.operands[0], &err);
    if (status == AS_OK) {
        show_report(&report, &call->out);
    } else {
        exit_code = refuse(&reading, &report, status, &err);
    }
    brief_done(&report);
    arena_done(&reading.arena);
    return exit_code;
}

int reports_diff(struct reports_call *call)
{
    struct reading reading;
    struct brief_report reports[2];
    struct as_error err = {0};
    int exit_code;
    as_status status = AS_OK;
    if (!begin(&reading, call, &DIFF, &exit_code))
        return exit_code;
    if (reading.parsed.operand_count != 2)
        return wrong_operands(&reading, "two files");
    brief_init(&reports[0]);
    brief_init(&reports[1]);
    exit_code = 0;
    for (size_t i = 0; i < 2 && status == AS_OK; i++) {
        status = read_report(&reports[i], reading.parsed.operands[i], &err);
        if (status != AS_OK)
            exit_code = refuse(&reading, &reports[i], status, &err);
    }
    if (status == AS_OK) {
        (void)show_difference(&reports[0], &reports[1], &call->out);
    }
    brief_done(&reports[0]);
    brief_done(&reports[1]);
    arena_done(&reading.arena);
    return exit_code;
}

int reports_schema(struct reports_call *call)
{
    struct reading reading;
    int exit_code;
    if (!begin(&reading, call, &SCHEMA, &exit_code))
        return exit_code;
    const struct model *model = reading.parsed.operand_count == 1 ? model_find(reading.parsed.operands[0]) : NULL;
    if (!model)
        return wrong_operands(&reading, "a version, 0.1 or 0.2.1");
    if (reading.options.form == 0)
        schema_write(model, &call->out);
    else if (reading.options.form == 1)
        schema_write_page(model, 3, &call->out);
    else
        schema_write_rules(model, &call->out);
    arena_done(&reading.arena);
    return exit_code;
}
