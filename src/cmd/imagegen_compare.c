/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/imagegen_log.h"

#include "base/json_write.h"
#include "cmd/commands.h"
#include "run/image_log.h"

#include <string.h>
#include <unistd.h>

#define NAME "imagegen compare"
#define EXIT_DIFFERENT 1

struct compare_config {
    int format;
    bool require_equal;
};

static const char *const FORMATS[] = {"text", "json", NULL};
static const struct opt OPTIONS[] = {
    {.name = "format", .type = OPT_ENUM, .at = offsetof(struct compare_config, format), .group = "Output", .choices = FORMATS,
     .initial = "text", .sentence = "Lines for people, or one JSON object with every pair."},
    {.name = "require-equal", .type = OPT_FLAG, .at = offsetof(struct compare_config, require_equal), .group = "Output",
     .sentence = "Exit status 1 when there is no pair, or one whose images differ."},
};
static const struct opt_table TABLE = OPT_TABLE(OPTIONS, 0);
static const struct opt_table *const TABLES[] = {&TABLE};
static const struct opt_exit EXITS[] = {
    {0, "The runs were compared."},
    {EXIT_DIFFERENT, "With --require-equal: images of a pair differ, or there is no pair."},
    {2, "The command line is wrong."},
    {65, "Records are damaged; file and line are named."},
    {66, "There is no such folder, or no records in it."},
    {74, "Records could not be read."},
};
static const struct opt_command LINE = {
    .name = NAME,
    .summary = "Say which images two runs share",
    .description = "Compares the digests in the records of two runs; no image is read. Images are a pair when both runs got them as answer to "
                   "the same request body, the n-th time it was sent, at the same place of the answer.",
    .operands = "A B",
    .tables = TABLES,
    .table_count = 1,
    .exits = EXITS,
    .exit_count = sizeof EXITS / sizeof EXITS[0],
    .examples = "  assay imagegen compare assay-results/run-1 assay-results/run-2\n",
};

struct report {
    bool is_json;
    struct strbuf *out;
    struct json_writer writer;
};

static void tell_side(struct json_writer *writer, const char *name, const struct image_entry *entry)
{
    json_key(writer, name);
    json_open_object(writer);
    json_member_int(writer, "seq", entry->seq);
    json_member_string(writer, "path", entry->path);
    json_member_string(writer, "sha256", entry->sha256);
    json_close_object(writer);
}

static void tell_pair(void *context, const struct image_entry *a, const struct image_entry *b)
{
    struct report *report = context;
    bool is_equal = a->sha256 && b->sha256 && strcmp(a->sha256, b->sha256) == 0;
    if (!report->is_json) {
        if (!is_equal)
            strbuf_addf(report->out, "request %lld and %lld, image %lld: different\n", (long long)a->seq, (long long)b->seq,
                        (long long)a->index);
        return;
    }
    json_open_object(&report->writer);
    json_member_int(&report->writer, "index", a->index);
    json_member_bool(&report->writer, "equal", is_equal);
    tell_side(&report->writer, "a", a);
    tell_side(&report->writer, "b", b);
    json_close_object(&report->writer);
}

static void add_counts(const struct image_comparison *found, struct report *report)
{
    if (report->is_json) {
        struct json_writer *writer = &report->writer;
        json_member_int(writer, "images_a", found->images[0]);
        json_member_int(writer, "images_b", found->images[1]);
        json_member_int(writer, "distinct_a", found->distinct[0]);
        json_member_int(writer, "distinct_b", found->distinct[1]);
        json_member_int(writer, "shared", found->shared);
        json_member_int(writer, "pairs_compared", found->pairs);
        json_member_int(writer, "pairs_equal", found->equal);
        return;
    }
    strbuf_addf(report->out, "A: %lld images, %lld of them distinct; B: %lld images, %lld of them distinct; %lld in both\n",
                (long long)found->images[0], (long long)found->distinct[0], (long long)found->images[1], (long long)found->distinct[1],
                (long long)found->shared);
    strbuf_addf(report->out, "pairs of the same request: %lld, of them equal: %lld\n", (long long)found->pairs, (long long)found->equal);
}

static as_status make_report(const struct image_log *a, const struct image_log *b, struct report *report, struct image_comparison *found)
{
    struct json_writer *writer = &report->writer;
    if (report->is_json) {
        json_writer_init(writer, report->out, 2);
        json_open_object(writer);
        json_key(writer, "pairs");
        json_open_array(writer);
    }
    as_status status = image_log_compare(a, b, tell_pair, report, found);
    if (status != AS_OK)
        return status;
    if (report->is_json)
        json_close_array(writer);
    add_counts(found, report);
    if (!report->is_json)
        return AS_OK;
    json_close_object(writer);
    strbuf_addc(report->out, '\n');
    return json_writer_status(writer);
}

static int compare(const struct compare_config *config, const char *const *places)
{
    struct strbuf out AS_AUTO_STRBUF;
    struct as_error err = {0};
    struct image_log a, b;
    struct image_comparison found;
    strbuf_init(&out, 0);
    struct report report = {.is_json = config->format == 1, .out = &out};
    if (image_log_read(places[0], &a, &err) != AS_OK)
        return command_fail(NAME, &err);
    if (image_log_read(places[1], &b, &err) != AS_OK) {
        image_log_done(&a);
        return command_fail(NAME, &err);
    }
    as_status status = make_report(&a, &b, &report, &found);
    image_log_done(&a);
    image_log_done(&b);
    if (status != AS_OK) {
        error_set(&err, status, "out of memory");
        return command_fail(NAME, &err);
    }
    int exit_code = command_print(NAME, &out);
    bool is_equal = found.pairs > 0 && found.equal == found.pairs;
    return exit_code ? exit_code : config->require_equal && !is_equal ? EXIT_DIFFERENT : 0;
}

int imagegen_compare(int argc, char **argv)
{
    struct compare_config config;
    struct opt_parsed parsed;
    struct as_error err = {0};
    struct arena arena;
    int exit_code;
    arena_init(&arena, 0, 0);
    struct opt_input input = {argc, argv, environ, &config, &arena};
    as_status status = options_read(&LINE, &input, &parsed, &err);
    if (status == AS_OK && !parsed.wants_help && parsed.operand_count != 2)
        status = error_set(&err, AS_E_USAGE, "give two result folders, or files of records");
    if (status != AS_OK)
        exit_code = command_fail(NAME, &err);
    else
        exit_code = parsed.wants_help ? command_print_help(&LINE) : compare(&config, parsed.operands);
    arena_done(&arena);
    return exit_code;
}
