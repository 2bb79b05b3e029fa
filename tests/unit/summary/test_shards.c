/* SPDX-License-Identifier: Apache-2.0 */
/* Records of several runs together. */
#include "made_run.h"

#include "base/json_write.h"
#include "summary/prompt_set.h"
#include "summary/seq_set.h"

#include <stdio.h>

static struct run_facts shard_facts(int64_t shard, int64_t shard_count, int64_t epoch_offset_ms)
{
    static const char *const ids[] = {"run-a", "run-b", "run-c"};
    struct run_facts facts = made_facts(2);
    facts.run_id = ids[shard];
    facts.shard = shard;
    facts.shard_count = shard_count;
    facts.rules.concurrency = 1;
    facts.epoch_utc_ns += epoch_offset_ms * MS;
    return facts;
}

static struct summary merge(const struct run_facts *a, const struct run_facts *b, bool is_b_first)
{
    const struct run_facts *shards[] = {a, b};
    struct request_record records[2][2] = {{made_ok(0, 0, 100), made_ok(2, 101, 100)},
                                           {made_ok(1, 0, 100), made_ok(3, 101, 100)}};
    struct summary_builder *builder;
    struct summary summary;
    assert_int_equal(summary_builder_new(shards, 2, NULL, &builder), AS_OK);
    for (size_t i = 0; i < 2; i++) {
        size_t shard = is_b_first ? 1 - i : i;
        for (size_t r = 0; r < 2; r++)
            summary_add(builder, shard, &records[shard][r]);
    }
    assert_int_equal(summary_finish(builder, &summary, NULL), AS_OK);
    summary_builder_free(builder);
    assert_sound(&summary);
    return summary;
}

static void test_shards_are_put_on_one_time_line(void **state)
{
    (void)state;
    struct run_facts a = shard_facts(0, 2, 0), b = shard_facts(1, 2, 40);
    struct summary s = merge(&a, &b, false);
    assert_int_equal(s.shards, 2);
    assert_int_equal(s.counts.planned, 4);
    assert_int_equal(s.total.counts.ok, 4);
    assert_int_equal(s.window.start_ns, 0);
    assert_int_equal(s.window.duration_ns, 241 * MS);
    assert_int_equal(s.window.epoch_utc_ns, a.epoch_utc_ns);
    assert_int_equal(s.steady.target, 2);
    assert_int_equal(s.client.peak_in_flight, 2);
    assert_int_equal(s.client.reads, 80);
    assert_true(lacks_reason(&s, "shards_differ"));
    AS_AUTO_STRBUF struct strbuf one, two;
    strbuf_init(&one, 0);
    strbuf_init(&two, 0);
    assert_int_equal(summary_write_json(&s, 0, &one), AS_OK);
    summary_done(&s);
    s = merge(&a, &b, true);
    assert_int_equal(summary_write_json(&s, 0, &two), AS_OK);
    summary_done(&s);
    assert_string_equal(strbuf_text(&one), strbuf_text(&two));
}

static void test_one_run_given_twice_counts_once(void **state)
{
    (void)state;
    struct run_facts a = shard_facts(0, 1, 0);
    const struct run_facts *shards[] = {&a, &a};
    struct summary_builder *builder;
    struct summary s;
    assert_int_equal(summary_builder_new(shards, 2, NULL, &builder), AS_OK);
    for (size_t shard = 0; shard < 2; shard++) {
        for (int64_t seq = 0; seq < 2; seq++) {
            struct request_record record = made_ok(seq, seq * 101, 100);
            summary_add(builder, shard, &record);
        }
    }
    assert_int_equal(summary_finish(builder, &s, NULL), AS_OK);
    summary_builder_free(builder);
    assert_sound(&s);
    assert_int_equal(s.shards, 1);
    assert_int_equal(s.counts.planned, 2);
    assert_int_equal(s.counts.duplicates, 2);
    assert_int_equal(s.total.counts.ok, 2);
    summary_done(&s);
}

/* Requests are known by run and number, whatever file they stand in and however large the number is. */
static void test_records_count_once_by_run_and_number(void **state)
{
    (void)state;
    struct run_facts facts = shard_facts(0, 1, 0);
    const struct run_facts *shards[] = {&facts};
    struct summary_builder *builder;
    struct summary s;
    static const int64_t seqs[] = {0, 1, INT64_MAX};
    facts.has_result = false;
    facts.rules.planned_requests = -1;
    facts.run_id = NULL;
    assert_int_equal(summary_builder_new(shards, 1, NULL, &builder), AS_OK);
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < 3; i++) {
            struct request_record record = made_ok(seqs[i], (int64_t)i * 101, 100);
            summary_add_of(builder, 0, "one", &record);
            summary_add_of(builder, 0, "another", &record);
        }
    }
    assert_int_equal(summary_finish(builder, &s, NULL), AS_OK);
    summary_builder_free(builder);
    assert_sound(&s);
    assert_int_equal(s.total.counts.ok, 6);
    assert_int_equal(s.counts.duplicates, 6);
    assert_true(has_reason(&s, "duplicates", SEVERITY_WARNING));
    summary_done(&s);
}

static void assert_config(const struct summary *s, const char *expected)
{
    AS_AUTO_STRBUF struct strbuf text;
    struct json_writer writer;
    strbuf_init(&text, 0);
    json_writer_init(&writer, &text, 0);
    json_put_value(&writer, s->config);
    assert_string_equal(strbuf_text(&text), expected);
}

/* The configuration of several runs is what they have in common, and a list of them. */
static void test_configuration_of_several_runs(void **state)
{
    (void)state;
    struct run_facts a = shard_facts(0, 2, 0), b = shard_facts(1, 2, 0);
    a.input = "s0";
    a.config_json = "{\"model\":\"m\",\"shard\":\"0/2\",\"result_dir\":\"s0\",\"origins\":{\"model\":\"run\",\"seed\":\"default\"},\"url\":[1,2]}";
    b.config_json = "{\"model\":\"m\",\"shard\":\"1/2\",\"origins\":{\"model\":\"run\",\"seed\":\"job file\"},\"url\":[1,2],\"quiet\":true}";
    struct summary s = merge(&a, &b, false);
    assert_config(&s, "{\"model\":\"m\",\"shard\":null,\"result_dir\":null,\"origins\":{\"model\":\"run\",\"seed\":null},"
                      "\"url\":[1,2],\"quiet\":null,\"inputs\":[{\"path\":\"s0\",\"run_id\":\"run-a\",\"shard\":0,"
                      "\"shard_count\":2,\"result_dir\":\"s0\"},{\"path\":null,\"run_id\":\"run-b\",\"shard\":1,"
                      "\"shard_count\":2,\"result_dir\":null}]}");
    summary_done(&s);
    b.config_json = NULL;
    s = merge(&a, &b, false);
    assert_true(json_is_null(json_get(s.config, "model")));
    summary_done(&s);
}

static void assert_differ(const struct run_facts *a, const struct run_facts *b, const char *what)
{
    struct summary s = merge(a, b, false);
    assert_true(has_reason(&s, "shards_differ", SEVERITY_INVALID));
    for (size_t i = 0; i < s.validity.count; i++) {
        if (strcmp(s.validity.reasons[i].code, "shards_differ") == 0 && !strstr(s.validity.reasons[i].message, what))
            fail_msg("\"%s\" not in \"%s\"", what, s.validity.reasons[i].message);
    }
    summary_done(&s);
}

static void test_runs_that_do_not_belong_together(void **state)
{
    (void)state;
    struct run_facts a = shard_facts(0, 2, 0), b = shard_facts(1, 2, 0);
    b.config_json = "{\"model\":\"other\",\"num-requests\":4}";
    assert_differ(&a, &b, "model");
    b.config_json = "{\"model\":\"m\",\"num-requests\":4,\"seed\":3}";
    assert_differ(&a, &b, "seed");
    b.config_json = "{\"model\":\"m\",\"num-requests\":4,\"shard\":\"1/2\",\"result_dir\":\"/tmp/b\"}";
    struct summary s = merge(&a, &b, false);
    assert_true(lacks_reason(&s, "shards_differ"));
    summary_done(&s);
    a.config_json = "{\"load\":{\"shard\":\"0/2\",\"seed\":1}}";
    b.config_json = "{\"load\":{\"shard\":\"1/2\",\"seed\":2}}";
    assert_differ(&a, &b, "seed");
    b.config_json = a.config_json;
    b.endpoint_count = 2;
    assert_differ(&a, &b, "endpoints");
    b.endpoint_count = 1;
    b.shard_count = 3;
    assert_differ(&a, &b, "number of shards");
    a.shard_count = 3;
    assert_differ(&a, &b, "shard 2 of 3 is not among them");
    a.shard_count = b.shard_count = 2;
    b.shard = 0;
    assert_differ(&a, &b, "same shard");
    b.tool = "vlm";
    assert_differ(&a, &b, "tool");
}

static void test_broken_config_is_an_error(void **state)
{
    (void)state;
    struct run_facts facts = made_facts(0);
    facts.config_json = "{\"model\":";
    const struct run_facts *shards[] = {&facts};
    struct summary_builder *builder;
    struct summary summary = {.shards = -7};
    struct as_error err = {0};
    assert_int_equal(summary_builder_new(shards, 1, NULL, &builder), AS_OK);
    assert_int_equal(summary_finish(builder, &summary, &err), AS_E_INVALID);
    assert_non_null(strstr(err.message, "configuration"));
    assert_int_equal(summary.shards, -7);
    summary_builder_free(builder);
}

static void test_seq_set(void **state)
{
    (void)state;
    struct seq_set set = {0};
    static const int64_t seqs[] = {0, 1, 63, 64, 65535, 65536, 5000000, SEQ_SET_MAX - 1};
    bool is_seen;
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < sizeof seqs / sizeof *seqs; i++) {
            assert_int_equal(seq_set_take(&set, seqs[i], &is_seen), AS_OK);
            assert_int_equal(is_seen, pass);
        }
        for (int64_t i = 0; i < 500; i++) {
            assert_int_equal(seq_set_take(&set, i % 2 ? INT64_MAX - i : SEQ_SET_MAX + i * 4096, &is_seen), AS_OK);
            assert_int_equal(is_seen, pass);
        }
        assert_int_equal(seq_set_take(&set, -1, &is_seen), AS_OK);
        assert_false(is_seen);
    }
    seq_set_done(&set);
}

static void test_prompt_set_gives_up_when_full(void **state)
{
    (void)state;
    struct prompt_set set = {0};
    char id[32];
    assert_int_equal(prompt_set_take(&set, ""), AS_OK);
    assert_int_equal(set.used, 0);
    for (int i = 0; i < PROMPT_SET_MAX; i++) {
        (void)snprintf(id, sizeof id, "prompt-%d", i);
        assert_int_equal(prompt_set_take(&set, id), AS_OK);
    }
    assert_int_equal(set.used, PROMPT_SET_MAX);
    assert_int_equal(prompt_set_take(&set, "prompt-7"), AS_OK);
    assert_false(set.is_full);
    assert_int_equal(prompt_set_take(&set, "one more"), AS_OK);
    assert_true(set.is_full);
    assert_null(set.table);
    assert_int_equal(prompt_set_take(&set, "prompt-7"), AS_OK);
    assert_int_equal(set.used, 0);
    prompt_set_done(&set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shards_are_put_on_one_time_line),
        cmocka_unit_test(test_one_run_given_twice_counts_once),
        cmocka_unit_test(test_records_count_once_by_run_and_number),
        cmocka_unit_test(test_configuration_of_several_runs),
        cmocka_unit_test(test_runs_that_do_not_belong_together),
        cmocka_unit_test(test_broken_config_is_an_error),
        cmocka_unit_test(test_seq_set),
        cmocka_unit_test(test_prompt_set_gives_up_when_full),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
