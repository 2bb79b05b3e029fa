/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/imagegen_log.h"

#include "base/json_write.h"
#include "cmd/commands.h"
#include "run/image_log.h"

#include <unistd.h>

#define NAME "imagegen verify"
#define EXIT_DIFFERENT 1

struct verify_config {
    int format;
};

static const char *const FORMATS[] = {"text", "json", NULL};
static const struct opt OPTIONS[] = {
    {.name = "format", .type = OPT_ENUM, .at = offsetof(struct verify_config, format), .group = "Output", .choices = FORMATS,
     .initial = "text", .sentence = "Lines for people, or one JSON object."},
};
static const struct opt_table TABLE = OPT_TABLE(OPTIONS, 0);
static const struct opt_table *const TABLES[] = {&TABLE};
static const struct opt_exit EXITS[] = {
    {0, "Every image that was saved is there and has the digest of its record."},
    {EXIT_DIFFERENT, "An image is missing, cannot be read or has another digest."},
    {2, "The command line is wrong."},
    {65, "The records are damaged; file and line are named."},
    {66, "There is no such folder, or no records in it."},
    {74, "The records could not be read."},
};
static const struct opt_command LINE = {
    .name = NAME,
    .summary = "Hash the images of a run again and compare them with its records",
    .description = "Takes a result folder, or a file of records; relative paths in records are meant from its folder. Files beside the images "
                   "that no record names (a killed run leaves them) are listed and are no failure.",
    .operands = "FOLDER|FILE",
    .tables = TABLES,
    .table_count = 1,
    .exits = EXITS,
    .exit_count = sizeof EXITS / sizeof EXITS[0],
    .examples = "  assay imagegen verify assay-results/imagegen-20261130T190533Z-quiet-otter-3f2a\n",
};

static const struct {
    const char *member, *text;
} STATES[] = {
    [IMAGE_SAME] = {"same", "same"},
    [IMAGE_MISSING] = {"missing", "missing"},
    [IMAGE_DIFFERS] = {"different", "another digest"},
    [IMAGE_UNREADABLE] = {"unreadable", "cannot be read"},
    [IMAGE_NOT_SAVED] = {"not_saved", "not saved"},
};
#define STATE_COUNT (sizeof STATES / sizeof STATES[0])

struct report {
    bool is_json;
    struct strbuf *out;
    struct json_writer writer;
    int64_t counts[STATE_COUNT], unnamed;
};

static void tell_failure(struct report *report, const struct image_entry *entry, enum image_state state, const char *digest)
{
    if (!report->is_json) {
        strbuf_addf(report->out, "%s: %s (request %lld, image %lld)\n", entry->path, STATES[state].text, (long long)entry->seq,
                    (long long)entry->index);
        return;
    }
    json_open_object(&report->writer);
    json_member_string(&report->writer, "path", entry->path);
    json_member_int(&report->writer, "seq", entry->seq);
    json_member_int(&report->writer, "index", entry->index);
    json_member_string(&report->writer, "state", STATES[state].member);
    json_member_string(&report->writer, "sha256_recorded", entry->sha256);
    json_member_string(&report->writer, "sha256_found", digest[0] ? digest : NULL);
    json_close_object(&report->writer);
}

static void tell_unnamed(void *context, const char *path)
{
    struct report *report = context;
    report->unnamed++;
    if (report->is_json)
        json_put_string(&report->writer, path);
    else
        strbuf_addf(report->out, "%s: no record names it\n", path);
}

static void check_all(const struct image_log *log, struct report *report)
{
    char digest[DIGEST_TEXT_BYTES];
    for (size_t i = 0; i < log->count; i++) {
        enum image_state state = image_log_check(log, &log->entries[i], digest);
        report->counts[state]++;
        if (state != IMAGE_SAME && state != IMAGE_NOT_SAVED)
            tell_failure(report, &log->entries[i], state, digest);
    }
}

static void add_counts(const struct image_log *log, struct report *report)
{
    if (report->is_json) {
        json_member_int(&report->writer, "records", log->records);
        json_member_int(&report->writer, "images", (int64_t)log->count);
        for (size_t i = 0; i < STATE_COUNT; i++)
            json_member_int(&report->writer, STATES[i].member, report->counts[i]);
        json_member_int(&report->writer, "unnamed", report->unnamed);
        return;
    }
    strbuf_addf(report->out, "%zu images in %lld records:", log->count, (long long)log->records);
    for (size_t i = 0; i < STATE_COUNT; i++)
        strbuf_addf(report->out, "%s %lld %s", i ? "," : "", (long long)report->counts[i], STATES[i].text);
    strbuf_addf(report->out, "; %lld files without a record\n", (long long)report->unnamed);
}

static as_status make_report(const struct image_log *log, struct report *report)
{
    struct json_writer *writer = &report->writer;
    if (report->is_json) {
        json_writer_init(writer, report->out, 2);
        json_open_object(writer);
        json_key(writer, "failures");
        json_open_array(writer);
    }
    check_all(log, report);
    if (report->is_json) {
        json_close_array(writer);
        json_key(writer, "files_without_record");
        json_open_array(writer);
    }
    as_status status = image_log_find_unnamed(log, tell_unnamed, report);
    if (report->is_json)
        json_close_array(writer);
    add_counts(log, report);
    if (!report->is_json)
        return status;
    json_close_object(writer);
    strbuf_addc(report->out, '\n');
    return status == AS_OK ? json_writer_status(writer) : status;
}

static int verify(const struct verify_config *config, const char *place)
{
    struct strbuf out AS_AUTO_STRBUF;
    struct as_error err = {0};
    struct image_log log;
    strbuf_init(&out, 0);
    struct report report = {.is_json = config->format == 1, .out = &out};
    if (image_log_read(place, &log, &err) != AS_OK)
        return command_fail(NAME, &err);
    as_status status = make_report(&log, &report);
    image_log_done(&log);
    if (status != AS_OK) {
        error_set(&err, status, "out of memory");
        return command_fail(NAME, &err);
    }
    int exit_code = command_print(NAME, &out);
    bool is_sound = report.counts[IMAGE_MISSING] + report.counts[IMAGE_DIFFERS] + report.counts[IMAGE_UNREADABLE] == 0;
    return exit_code ? exit_code : is_sound ? 0 : EXIT_DIFFERENT;
}

int imagegen_verify(int argc, char **argv)
{
    struct verify_config config;
    struct opt_parsed parsed;
    struct as_error err = {0};
    struct arena arena;
    int exit_code;
    arena_init(&arena, 0, 0);
    struct opt_input input = {argc, argv, environ, &config, &arena};
    as_status status = options_read(&LINE, &input, &parsed, &err);
    if (status == AS_OK && !parsed.wants_help && parsed.operand_count != 1)
        status = error_set(&err, AS_E_USAGE, "give one result folder, or one file of records");
    if (status != AS_OK)
        exit_code = command_fail(NAME, &err);
    else
        exit_code = parsed.wants_help ? command_print_help(&LINE) : verify(&config, parsed.operands[0]);
    arena_done(&arena);
    return exit_code;
}
