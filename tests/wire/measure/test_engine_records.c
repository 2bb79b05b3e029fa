/* SPDX-License-Identifier: Apache-2.0 */
/* Engine, transport and record writer together: what the engine put is what the file holds. */
#include "wire/engine/busy_server.h"

#include "base/rng.h"
#include "measure/records.h"
#include "measure/writer.h"
#include "support/temp_dir.h"

#include <limits.h>

#define REQUESTS 3000

static enum busy_answer mixed(int64_t seq, int try)
{
    uint64_t hash = rng_mix((uint64_t)seq, (uint64_t)try);
    return hash % 4 ? BUSY_STREAM : (enum busy_answer)(hash / 4 % BUSY_SILENT);
}

static void keep_from_writer(void *context, const struct request_record *record)
{
    keep(context, 0, record);
}

static as_status compare(void *context, const struct request_record *record)
{
    int64_t *compared = context;
    const struct request_record *expected = &kept[record->seq];
    assert_int_equal(record->outcome, expected->outcome);
    assert_int_equal(record->error_type, expected->error_type);
    assert_int_equal(record->sent_ns, expected->sent_ns);
    assert_int_equal(record->done_ns, expected->done_ns);
    assert_int_equal(record->response_time_ns, expected->response_time_ns);
    assert_int_equal(record->flags, expected->flags);
    assert_int_equal(record->attempt_count, expected->attempt_count);
    assert_int_equal(record->endpoint, 0);
    (*compared)++;
    return AS_OK;
}

static void test_file_holds_what_the_engine_put(void **state)
{
    (void)state;
    TEMP_DIR_AUTO struct temp_dir dir;
    char path[PATH_MAX];
    bool expects_stream = true;
    struct net_endpoint net;
    struct as_error err = {.message = ""};
    temp_dir_make(&dir);
    busy_start(mixed, 0);
    if (net_endpoint_parse(busy.url, &net, &err) != AS_OK || net_endpoint_resolve(&net, 10 * NS_PER_S, &err) != AS_OK)
        fail_msg("%s", err.message);
    const char *const names[] = {net.name};
    const struct record_context context = {.tool = "any", .run_id = "run", .endpoints = names, .endpoint_count = 1};
    struct writer_options writer_options = {
        .folder = dir.path, .threads = 3, .ring_bytes = 64 * 1024, .context = context, .on_record = keep_from_writer};
    struct writer *writer;
    assert_int_equal(writer_open(&writer_options, &writer, &err), AS_OK);

    struct engine_plan plan = {.request_count = REQUESTS, .concurrency = 24};
    struct engine_options options = {.threads = 3,
                                     .run_id = "run",
                                     .retries = 1,
                                     .retry_backoff_ns = NS_PER_MS,
                                     .request_timeout_ns = 60 * NS_PER_S,
                                     .net.connect_timeout_ns = 60 * NS_PER_S,
                                     .net.max_idle = 24};
    const struct engine_endpoint endpoint = {.net = &net, .weight = 1};
    const struct record_sink sink = writer_sink(writer);
    struct engine *engine;
    struct engine_result result;
    struct writer_result written;
    const struct engine_setup setup = {&plan, &options, &endpoint, 1, &any_modality, &expects_stream, sink};
    assert_int_equal(engine_prepare(&setup, &engine, &err), AS_OK);
    assert_int_equal(engine_run(engine, &result, &err), AS_OK);
    engine_free(engine);
    assert_int_equal(writer_close(writer, &written, &err), AS_OK);
    assert_int_equal(written.records, REQUESTS);
    assert_int_equal(written.lost, 0);

    struct records_found found;
    int64_t compared = 0;
    const struct record_consumer consumer = {&compared, compare};
    temp_dir_join(&dir, RECORD_FILE, path);
    if (records_read(path, &context, &consumer, &found, &err) != AS_OK)
        fail_msg("%s", err.message);
    assert_int_equal(compared, REQUESTS);
    for (int i = 0; i < REQUESTS; i++)
        assert_int_equal(kept_times[i], 1);
    net_endpoint_done(&net);
    busy_stop();
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_file_holds_what_the_engine_put)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
