/* SPDX-License-Identifier: Apache-2.0 */
#include "../../unit/options/sample.h"
#include "support/temp_dir.h"

struct job_file {
    struct temp_dir dir;
    char file[PATH_MAX];
};

static void job_remove(struct job_file *job)
{
    temp_dir_remove(&job->dir);
}
#define TEMP_JOB __attribute__((cleanup(job_remove)))

static void write_job(struct job_file *job, const char *text)
{
    temp_dir_make(&job->dir);
    temp_dir_join(&job->dir, "job.yaml", job->file);
    FILE *file = fopen(job->file, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void a_job_file_sets_options(void **state)
{
    (void)state;
    struct job_file job TEMP_JOB;
    struct reading r;
    char wanted[PATH_MAX];
    write_job(
        &job,
        "# a job\nmodel: m\nnum_requests: 10\nurl: [http://a, http://b]\nheader:\n  X-A: one\n  X-B: 2\nstreaming: "
        "true\n"
        "verify: false\nthink-time: 2s\nextra-body: {top_p: 0.90, stop: [a]}\nprompts: data/p.jsonl\nrequest-count:\n");
    read_all(&r, &SAMPLE, WORDS("--job", job.file, "--num-requests", "11"),
             ENVIRONMENT("ASSAY_MODEL=from-environment"));
    assert_int_equal(r.status, AS_OK);
    assert_string_equal(r.value.model, "from-environment");
    assert_int_equal(r.value.count, 11);
    assert_int_equal(r.value.urls.count, 2);
    assert_int_equal(r.value.headers.count, 2);
    assert_string_equal(r.value.headers.items[1], "X-B: 2");
    assert_true(r.value.streaming);
    assert_false(r.value.verify);
    assert_int_equal(r.value.wait_ns, 2000000000);
    assert_string_equal(r.value.body, "{\"top_p\":0.90,\"stop\":[\"a\"]}");
    snprintf(wanted, sizeof wanted, "%s/data/p.jsonl", job.dir.path);
    assert_string_equal(r.value.prompts, wanted);
    assert_int_equal(options_state(&r.parsed, "streaming")->origin, OPT_FROM_FILE);
    arena_done(&r.arena);
    read_all(&r, &SAMPLE, NO_WORDS, ENVIRONMENT("ASSAY_JOB=/nowhere/job.yaml"));
    assert_int_equal(r.status, AS_E_NOTFOUND);
    arena_done(&r.arena);
}

static void expect_job_refused(const char *text, const char *place_and_sentence)
{
    struct job_file job TEMP_JOB;
    struct reading r;
    char wanted[2 * PATH_MAX];
    write_job(&job, text);
    read_all(&r, &SAMPLE, WORDS("--job", job.file), NULL);
    assert_int_not_equal(r.status, AS_OK);
    snprintf(wanted, sizeof wanted, "%s%s", job.file, place_and_sentence);
    assert_string_equal(r.err.message, wanted);
    arena_done(&r.arena);
}

static void mistakes_in_job_files_have_a_place(void **state)
{
    (void)state;
    expect_job_refused("model: m\nnum-request: 1\n",
                       ":2: num-request: is no option of assay sample; did you mean num-requests?");
    expect_job_refused(
        "model: m\n\nnum-requests: few\n",
        ":3: num-requests: \"few\" is not a whole number; allowed is a whole number from 1 to 1000000, for example "
        "--num-requests 8");
    expect_job_refused("model: [a, b]\n", ":1: model: takes a single value, no list");
    expect_job_refused("model: {a: b}\n", ":1: model: takes a single value here");
    expect_job_refused("job: other.yaml\n", ":1: job: a job file does not name another one");
    expect_job_refused("no-verify: true\n", ":1: no-verify: is written without \"no-\" in a job file, as name: false");
    expect_job_refused("- model\n", ": a job file is a mapping of option names to values");
    expect_job_refused("model: m\n\tx: 1\n", ": line 2: found a tab character that violates indentation");
}

static void pairs_are_checked_over_all_sources(void **state)
{
    (void)state;
    struct job_file job TEMP_JOB;
    struct reading r;
    write_job(&job, "num-requests: 4\n");
    read_all(&r, &SAMPLE, WORDS("--job", job.file, "--stop-after-seconds", "3"), NULL);
    assert_int_equal(r.status, AS_E_USAGE);
    assert_non_null(strstr(r.err.message, "job.yaml:1: num-requests and --stop-after-seconds exclude each other"));
    arena_done(&r.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_file_sets_options),
        cmocka_unit_test(mistakes_in_job_files_have_a_place),
        cmocka_unit_test(pairs_are_checked_over_all_sources),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
