/* SPDX-License-Identifier: Apache-2.0 */
#include "made_records.h"

#include "base/file.h"

#include <pthread.h>
#include <sys/stat.h>

static char gaps[256], text[MADE_TEXT_MAX];

static void test_first_in_first_out_around_the_end(void **state)
{
    (void)state;
    char folder[64];
    struct journal *journal;
    struct request_record record, back;
    made_folder(folder);
    assert_int_equal(journal_open(folder, 2, 64 * 1024, &journal, NULL), AS_OK);
    struct journal_place place = journal_tail(journal, 1), other = journal_tail(journal, 0);
    int64_t put = 0, got = 0;
    for (int round = 0; round < 400; round++) {
        for (int i = 0; i < 1 + round % 15; i++) {
            made_record(put++, &record, gaps, text);
            journal_put(journal, 1, &record);
        }
        while (journal_next(journal, 1, &place, &back)) {
            assert_int_equal(back.seq, got++);
            struct gap_counter counter;
            assert_int_equal(gap_counter_init(&counter), AS_OK);
            back.gap_stats = gap_counter_count(&counter, &back.gaps);
            assert_true(made_record_is_sound(&back));
            gap_counter_done(&counter);
        }
        journal_release(journal, 1, place);
        assert_int_equal(got, put);
    }
    assert_false(journal_next(journal, 0, &other, &back));
    assert_int_equal(journal_full_waits(journal), 0);
    assert_int_equal(journal_damaged(journal), 0);
    journal_close(journal, true);
    assert_int_equal(rmdir(folder), 0);
}

static void *drain(void *argument)
{
    struct journal *journal = argument;
    struct journal_place place = journal_tail(journal, 0);
    struct request_record back;
    int64_t got = 0;
    while (got < 3000) {
        if (!journal_next(journal, 0, &place, &back)) {
            journal_wait(journal, NS_PER_MS);
            continue;
        }
        if (back.seq != got)
            return argument;
        got++;
        journal_release(journal, 0, place);
    }
    return NULL;
}

/* The producer is faster than its ring: it waits, and nothing is lost or out of order. */
static void test_full_ring_waits(void **state)
{
    (void)state;
    char folder[64];
    struct journal *journal;
    struct request_record record;
    pthread_t thread;
    void *failed;
    made_folder(folder);
    assert_int_equal(journal_open(folder, 1, 64 * 1024, &journal, NULL), AS_OK);
    /* Filled before anyone reads. */
    for (int64_t seq = 0; seq < 60; seq++) {
        made_record(seq, &record, gaps, text);
        record.content.at = NULL;
        record.content.len = 0;
        journal_put(journal, 0, &record);
    }
    assert_int_equal(journal_full_waits(journal), 0);
    assert_int_equal(pthread_create(&thread, NULL, drain, journal), 0);
    for (int64_t seq = 60; seq < 3000; seq++) {
        made_record(seq, &record, gaps, text);
        journal_put(journal, 0, &record);
    }
    assert_int_equal(pthread_join(thread, &failed), 0);
    assert_null(failed);
    journal_close(journal, true);
    assert_int_equal(rmdir(folder), 0);
}

static void test_texts_too_large_for_the_ring_are_left_out(void **state)
{
    (void)state;
    char folder[64];
    struct journal *journal;
    struct request_record record, back;
    char *huge = malloc(100000);
    made_folder(folder);
    assert_non_null(huge);
    memset(huge, 'x', 100000);
    assert_int_equal(journal_open(folder, 1, 64 * 1024, &journal, NULL), AS_OK);
    struct journal_place place = journal_tail(journal, 0);
    made_record(1, &record, gaps, text);
    record.content = (struct record_text){huge, 100000};
    record.reasoning = (struct record_text){huge, 20000};
    record.error_message = (struct record_text){"why", 3};
    journal_put(journal, 0, &record);
    assert_int_equal(record.content.len, 100000);
    assert_true(journal_next(journal, 0, &place, &back));
    assert_null(back.content.at);
    assert_int_equal(back.reasoning.len, 20000);
    assert_memory_equal(back.error_message.at, "why", 3);
    assert_true(back.flags & RECORD_FLAG_CONTENT_CUT);
    free(huge);
    journal_close(journal, true);
    assert_int_equal(rmdir(folder), 0);
}

static void test_open_errors(void **state)
{
    (void)state;
    char folder[64], path[128];
    struct journal *journal = NULL, *second = NULL;
    struct as_error err;
    made_folder(folder);
    assert_int_equal(journal_open_left(folder, &second, &err), AS_E_NOTFOUND);
    assert_int_equal(journal_open(folder, 1, 1000, &journal, &err), AS_E_INVALID);
    assert_int_equal(journal_open(folder, 0, 0, &journal, &err), AS_E_INVALID);
    assert_int_equal(journal_open(folder, 1, 0, &journal, &err), AS_OK);
    assert_int_equal(journal_open(folder, 1, 0, &second, &err), AS_E_EXISTS);
    assert_non_null(strstr(err.message, "journal"));
    journal_close(journal, true);
    snprintf(path, sizeof path, "%s/journal", folder);
    assert_false(file_exists(path));
    snprintf(path, sizeof path, "%s/none", folder);
    assert_int_equal(journal_open(path, 1, 0, &journal, &err), AS_E_NOTFOUND);
    assert_null(second);
    assert_int_equal(rmdir(folder), 0);
}

/* Any byte of a ring may be wrong: reading ends there, says so, and never leaves the ring. */
static void test_damaged_rings(void **state)
{
    (void)state;
    char folder[64], path[128];
    struct journal *journal;
    struct request_record record, back;
    made_folder(folder);
    assert_int_equal(journal_open(folder, 1, 64 * 1024, &journal, NULL), AS_OK);
    for (int64_t seq = 0; seq < 8; seq++) {
        made_record(seq, &record, gaps, text);
        journal_put(journal, 0, &record);
    }
    journal_close(journal, false);
    snprintf(path, sizeof path, "%s/journal/0.ring", folder);
    FILE *file = fopen(path, "r+b");
    assert_non_null(file);
    for (long at = 4096; at < 4096 + 6000; at += 13) {
        assert_int_equal(fseek(file, at, SEEK_SET), 0);
        int old = fgetc(file);
        assert_int_equal(fseek(file, at, SEEK_SET), 0);
        fputc(old ^ 0x41, file);
        fflush(file);
        struct journal *left;
        assert_int_equal(journal_open_left(folder, &left, NULL), AS_OK);
        struct journal_place place = journal_tail(left, 0);
        int64_t got = 0;
        while (journal_next(left, 0, &place, &back))
            assert_int_equal(back.seq, got++);
        assert_true(got < 8 || journal_damaged(left) == 0);
        assert_int_equal(got < 8, journal_damaged(left) == 1);
        journal_close(left, false);
        assert_int_equal(fseek(file, at, SEEK_SET), 0);
        fputc(old, file);
        fflush(file);
    }
    fclose(file);
    remove_folder(folder);
}

/* Bytes of the head: of the magic, the layout, the capacity, the head's and the tail's place. */
static void test_a_ring_with_a_damaged_head_is_told_and_left_out(void **state)
{
    (void)state;
    static const struct {
        long at;
        const char *why;
    } places[] = {{0, "its head is damaged"}, {8, "another version"}, {16, "cut short, or its head"}, {64 + 7, "its head is damaged"},
                  {128, "its head is damaged"}};
    char folder[64], path[128];
    struct journal *journal, *left;
    struct request_record record, back;
    struct as_error err;
    made_folder(folder);
    assert_int_equal(journal_open(folder, 2, 64 * 1024, &journal, NULL), AS_OK);
    for (int64_t seq = 0; seq < 8; seq++) {
        made_record(seq, &record, gaps, text);
        assert_true(journal_put(journal, (uint32_t)(seq & 1), &record));
    }
    journal_close(journal, false);
    snprintf(path, sizeof path, "%s/journal/0.ring", folder);
    FILE *file = fopen(path, "r+b");
    assert_non_null(file);
    for (size_t i = 0; i <= sizeof places / sizeof *places; i++) {
        bool is_cut = i == sizeof places / sizeof *places;
        int old = 0;
        if (is_cut) {
            assert_int_equal(truncate(path, 4096), 0);
        } else {
            assert_int_equal(fseek(file, places[i].at, SEEK_SET), 0);
            old = fgetc(file);
            assert_int_equal(fseek(file, places[i].at, SEEK_SET), 0);
            fputc(old ^ 0x43, file);
            fflush(file);
        }
        assert_int_equal(journal_open_left(folder, &left, &err), AS_OK);
        assert_int_equal(journal_damaged(left), 1);
        assert_true(journal_damage(left, &err));
        assert_non_null(strstr(err.message, "journal/0.ring: "));
        assert_non_null(strstr(err.message, is_cut ? "it is cut short" : places[i].why));
        struct journal_place place = journal_tail(left, 0);
        assert_false(journal_next(left, 0, &place, &back));
        place = journal_tail(left, 1);
        for (int64_t seq = 1; seq < 8; seq += 2) {
            assert_true(journal_next(left, 1, &place, &back));
            assert_int_equal(back.seq, seq);
        }
        journal_close(left, false);
        if (is_cut)
            break;
        assert_int_equal(fseek(file, places[i].at, SEEK_SET), 0);
        fputc(old, file);
        fflush(file);
    }
    fclose(file);
    remove_folder(folder);
}

/* A quarter of a ring is kept for requests in flight; after giving up there is nothing to wait for. */
static void test_room_for_what_is_in_flight(void **state)
{
    (void)state;
    char folder[64], path[128];
    struct journal *journal;
    struct request_record record, back;
    made_folder(folder);
    assert_int_equal(journal_open(folder, 1, 64 * 1024, &journal, NULL), AS_OK);
    struct journal_place place = journal_tail(journal, 0);
    int64_t put = 0;
    while (journal_has_room(journal, 0)) {
        made_record(put++, &record, gaps, text);
        assert_true(journal_put(journal, 0, &record));
    }
    assert_false(journal_has_room(journal, 0));
    assert_int_equal(journal_full_waits(journal), 1);
    assert_true(put > 20);
    while (journal_next(journal, 0, &place, &back))
        continue;
    journal_release(journal, 0, place);
    assert_true(journal_has_room(journal, 0));
    snprintf(path, sizeof path, "%s/journal/reserve", folder);
    assert_true(file_exists(path));
    journal_give_up(journal);
    assert_false(file_exists(path));
    int64_t more = 0;
    for (bool is_kept = true; is_kept; more += is_kept) {
        made_record(put + more, &record, gaps, text);
        assert_true(journal_has_room(journal, 0));
        is_kept = journal_put(journal, 0, &record);
    }
    assert_true(more > 20);
    journal_close(journal, true);
    assert_int_equal(rmdir(folder), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_first_in_first_out_around_the_end),
        cmocka_unit_test(test_full_ring_waits),
        cmocka_unit_test(test_texts_too_large_for_the_ring_are_left_out),
        cmocka_unit_test(test_open_errors),
        cmocka_unit_test(test_damaged_rings),
        cmocka_unit_test(test_a_ring_with_a_damaged_head_is_told_and_left_out),
        cmocka_unit_test(test_room_for_what_is_in_flight),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
