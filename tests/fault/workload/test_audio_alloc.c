/* SPDX-License-Identifier: Apache-2.0 */
/* Manifests, references and files with every allocation failing once, and files that cannot be read. */
#include "base/file.h"
#include "support/check.h"
#include "support/faults.h"
#include "support/temp_dir.h"
#include "workload/audio.h"
#include "workload/audio_truth.h"

#include <string.h>

static const char manifest[] =
    "{\"id\":\"a\",\"path\":\"a.wav\",\"format\":\"wav\",\"duration\":2}\n{\"id\":2,\"url\":\"http://h/b.mp3\"}\n"
    "{\"id\":\"c\",\"path\":\"file:///c%20d.ogg\",\"more\":1}\n";

static as_status use_manifest(void *context)
{
    struct audio_text text = {manifest, sizeof manifest - 1, "m", false};
    struct audio_set set;
    struct as_error err;
    (void)context;
    as_status status = audio_set_parse(&text, "/folder", &set, &err);
    if (status == AS_OK)
        audio_set_done(&set);
    return status;
}

static void test_manifests(void **state)
{
    (void)state;
    assert_true(fault_each(FAULT_ALLOC, AS_E_NOMEM, use_manifest, NULL) >= 4);
}

static as_status use_truth(void *context)
{
    static const char lines[] = "{\"id\":\"a\",\"transcript\":\"one\"}\n{\"id\":\"b\",\"transcript\":\"\"}\n";
    struct audio_text text = {lines, sizeof lines - 1, "t", false};
    struct audio_truth truth;
    struct as_error err;
    (void)context;
    as_status status = audio_truth_parse(&text, &truth, &err);
    if (status == AS_OK)
        audio_truth_done(&truth);
    return status;
}

static void test_references(void **state)
{
    (void)state;
    assert_true(fault_each(FAULT_ALLOC, AS_E_NOMEM, use_truth, NULL) >= 3);
}

/* A set of two files, read into memory. */
static as_status use_files(void *context)
{
    static const char lines[] = "{\"id\":\"a\",\"path\":\"a.wav\"}\n{\"id\":\"b\",\"path\":\"b.ogg\"}\n";
    const struct temp_dir *dir = context;
    struct audio_text text = {lines, sizeof lines - 1, "m", false};
    struct audio_set set;
    struct as_error err;
    as_status status = audio_set_parse(&text, dir->path, &set, &err);
    if (status != AS_OK)
        return status;
    status = audio_set_read(&set, 1000000, NULL, &err);
    if (status == AS_OK)
        assert_true(set.items[0].data && set.items[0].bytes == 12);
    audio_set_done(&set);
    return status;
}

static void make_files(struct temp_dir *dir)
{
    char path[PATH_MAX];
    temp_dir_make(dir);
    temp_dir_join(dir, "a.wav", path);
    assert_int_equal(file_write_atomic(path, "RIFF....WAVE", 12, NULL), AS_OK);
    temp_dir_join(dir, "b.ogg", path);
    assert_int_equal(file_write_atomic(path, "OggS", 4, NULL), AS_OK);
}

static void test_files(void **state)
{
    (void)state;
    TEMP_DIR_AUTO struct temp_dir dir = {0};
    make_files(&dir);
    assert_true(fault_each(FAULT_ALLOC, AS_E_NOMEM, use_files, &dir) >= 6);
}

static void test_a_file_that_cannot_be_read(void **state)
{
    (void)state;
    TEMP_DIR_AUTO struct temp_dir dir = {0};
    make_files(&dir);
    static const char lines[] = "{\"id\":\"a\",\"path\":\"a.wav\"}\n{\"id\":\"b\",\"path\":\"b.ogg\"}\n";
    struct audio_text text = {lines, sizeof lines - 1, "m", false};
    struct audio_set set;
    struct as_error err;
    assert_int_equal(audio_set_parse(&text, dir.path, &set, &err), AS_OK);
    fault_arm(FAULT_READ, 1);
    assert_int_equal(audio_set_read(&set, 1000000, NULL, &err), AS_OK);
    fault_disarm();
    assert_non_null(strstr(set.items[0].failure, "Input/output error"));
    assert_null(set.items[1].failure);
    assert_int_equal(audio_set_count(&set).failed, 1);
    audio_set_done(&set);
    assert_int_equal(audio_set_parse(&text, dir.path, &set, &err), AS_OK);
    fault_arm_from(FAULT_READ, 1);
    assert_int_equal(audio_set_read(&set, 1000000, NULL, &err), AS_E_INVALID);
    fault_disarm();
    assert_non_null(strstr(err.message, "no sample can be sent; the first, line 1"));
    audio_set_done(&set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_manifests), cmocka_unit_test(test_references),
                                       cmocka_unit_test(test_files), cmocka_unit_test(test_a_file_that_cannot_be_read)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
