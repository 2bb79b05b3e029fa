/* SPDX-License-Identifier: Apache-2.0 */
#include "run/image_report.h"

#include "base/json_write.h"

#include <string.h>

/* ---- one run ---- */

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
    int64_t counts[STATE_COUNT], unnamed; /* of verify */
};

static void tell_failure(struct report *report, const struct image_entry *entry, enum image_state state,
                         const char *digest)
{
    if (!report->is_json) {
        strbuf_addf(report->out, "%s: %s (request %lld, image %lld)\n", entry->path, STATES[state].text,
                    (long long)entry->seq, (long long)entry->index);
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

static void add_check_counts(const struct image_log *log, struct report *report)
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

static as_status report_check(const struct image_log *log, struct report *report)
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
    add_check_counts(log, report);
    if (!report->is_json)
        return status;
    json_close_object(writer);
    strbuf_addc(report->out, '\n');
    return status == AS_OK ? json_writer_status(writer) : status;
}

as_status image_report_check(const struct image_log *log, bool is_json, struct strbuf *out, bool *ret_is_sound)
{
    struct report report = {.is_json = is_json, .out = out};
    as_status status = report_check(log, &report);
    if (status == AS_OK)
        *ret_is_sound =
            report.counts[IMAGE_MISSING] + report.counts[IMAGE_DIFFERS] + report.counts[IMAGE_UNREADABLE] == 0;
    return status;
}

/* ---- two runs ---- */

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
            strbuf_addf(report->out, "request %lld and %lld, image %lld: different\n", (long long)a->seq,
                        (long long)b->seq, (long long)a->index);
        return;
    }
    json_open_object(&report->writer);
    json_member_int(&report->writer, "index", a->index);
    json_member_bool(&report->writer, "equal", is_equal);
    tell_side(&report->writer, "a", a);
    tell_side(&report->writer, "b", b);
    json_close_object(&report->writer);
}

static void add_pair_counts(const struct image_comparison *found, struct report *report)
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
    strbuf_addf(report->out,
                "A: %lld images, %lld of them distinct; B: %lld images, %lld of them distinct; %lld in both\n",
                (long long)found->images[0], (long long)found->distinct[0], (long long)found->images[1],
                (long long)found->distinct[1], (long long)found->shared);
    strbuf_addf(report->out, "pairs of the same request: %lld, of them equal: %lld\n", (long long)found->pairs,
                (long long)found->equal);
}

static as_status report_pairs(const struct image_log *a, const struct image_log *b, struct report *report,
                              struct image_comparison *found)
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
    add_pair_counts(found, report);
    if (!report->is_json)
        return AS_OK;
    json_close_object(writer);
    strbuf_addc(report->out, '\n');
    return json_writer_status(writer);
}

as_status image_report_compare(const struct image_log *a, const struct image_log *b, bool is_json, struct strbuf *out,
                               bool *ret_is_equal)
{
    struct report report = {.is_json = is_json, .out = out};
    struct image_comparison found;
    as_status status = report_pairs(a, b, &report, &found);
    if (status == AS_OK)
        *ret_is_equal = found.pairs > 0 && found.equal == found.pairs;
    return status;
}
