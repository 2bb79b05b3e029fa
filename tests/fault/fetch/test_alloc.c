/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"
#include "fetch/wire.h"
#include "support/check.h"
#include "support/faults.h"

/* A request and a result, written and read back. */
static as_status talk(void *context)
{
    (void)context;
    static const char *const headers[] = {"A: b"};
    struct fetch_request request = {.url = "http://host.invalid", .headers = headers, .header_count = 1, .bearer = "k"},
                         got;
    struct fetch_result result = {.status_code = AS_OK, .message = "m"}, got_result;
    struct as_error err;
    struct strbuf line, text;
    struct arena arena;
    strbuf_init(&line, 0);
    strbuf_init(&text, 0);
    arena_init(&arena, 0, 0);
    as_status status = fetch_write_request(&request, &line);
    if (status == AS_OK)
        status = fetch_read_request(line.data, line.len, &arena, &got, &err);
    if (status == AS_OK)
        status = fetch_write_result(&result, &text);
    if (status == AS_OK)
        status = fetch_read_result(text.data, text.len, &got_result);
    arena_done(&arena);
    strbuf_done(&line);
    strbuf_done(&text);
    return status;
}

static void test_every_allocation(void **state)
{
    (void)state;
    assert_true(fault_each(FAULT_ALLOC, AS_E_NOMEM, talk, NULL) >= 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_allocation)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
