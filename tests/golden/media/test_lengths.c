/* SPDX-License-Identifier: Apache-2.0 */
/* The lengths of the samples that ship with the project, by the libraries that decode them and by our own walk. */
#include "base/file.h"
#include "media/audio_probe.h"
#include "support/check.h"
#include "support/temp_dir.h"

#include <stdlib.h>
#include <string.h>

#define MS INT64_C(1000000)

static const struct {
    const char *path;
    enum audio_format format;
    int64_t duration_ns;
    const char *library;
} samples[] = {
    {"data/audio/harbour-at-dawn.flac", AUDIO_FLAC, 4277125000, "libsndfile"},
    {"data/audio/seven-boats.flac", AUDIO_FLAC, 4711812500, "libsndfile"},
    {"data/audio/letter-to-the-mayor.ogg", AUDIO_OGG, 3639437500, "libsndfile"},
    {"data/audio/old-lighthouse.mp3", AUDIO_MP3, 4162062500, "libmpg123"},     /* with a Xing tag */
    {"data/audio/train-to-the-coast.mp3", AUDIO_MP3, 3420000000, "libmpg123"}, /* without */
    {"data/audio/short-answer.wav", AUDIO_WAV, 1850312500, "libsndfile"},
};

static void test_samples(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(samples); i++) {
        struct audio_probe probe;
        audio_probe_file(samples[i].path, &probe);
        assert_string_equal(probe.reason, "");
        assert_int_equal(probe.format, samples[i].format);
        assert_int_equal(probe.duration_ns, samples[i].duration_ns);
        assert_int_equal(probe.sample_rate_hz, 16000);
        assert_int_equal(probe.channels, 1);
        assert_string_equal(probe.library, samples[i].library);
    }
}

static void test_our_own_walk_agrees(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(samples); i++) {
        AS_AUTO_STRBUF struct strbuf file;
        struct audio_info info;
        struct as_error err;
        strbuf_init(&file, 0);
        assert_int_equal(file_read(samples[i].path, &file, &err), AS_OK);
        if (audio_check(file.data, file.len, &info, &err) != AS_OK)
            fail_msg("%s: %s", samples[i].path, err.message);
        assert_int_equal(info.format, samples[i].format);
        /* An encoder's padding is sound to those who only count frames. */
        int64_t tolerance_ns = info.format == AUDIO_MP3 ? 100 * MS : 0;
        assert_true(llabs(info.duration_ns - samples[i].duration_ns) <= tolerance_ns);
    }
}

static void expect_reason(const char *path, const char *reason)
{
    struct audio_probe probe;
    audio_probe_file(path, &probe);
    assert_int_equal(probe.duration_ns, -1);
    if (!strstr(probe.reason, reason))
        fail_msg("%s: \"%s\" does not say \"%s\"", path, probe.reason, reason);
}

static void test_what_has_no_length(void **state)
{
    (void)state;
    TEMP_DIR_AUTO struct temp_dir dir = {0};
    char path[PATH_MAX];
    temp_dir_make(&dir);
    expect_reason(dir.path, "no file");
    temp_dir_join(&dir, "gone.wav", path);
    expect_reason(path, "No such file");
    assert_int_equal(file_write_atomic(path, "", 0, NULL), AS_OK);
    expect_reason(path, "none of");
    assert_int_equal(file_write_atomic(path, "RIFF\4\0\0\0WAVEjunk", 16, NULL), AS_OK);
    expect_reason(path, " ");
    assert_int_equal(file_write_atomic(path, "\xFF\xF3\x68\xC4 a placeholder", 18, NULL), AS_OK);
    expect_reason(path, " ");
    assert_int_equal(file_write_atomic(path, "\x1A\x45\xDF\xA3\x80", 5, NULL), AS_OK);
    expect_reason(path, "the length of this format is not measured");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_samples), cmocka_unit_test(test_our_own_walk_agrees),
                                       cmocka_unit_test(test_what_has_no_length)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
