/* SPDX-License-Identifier: Apache-2.0 */
#include "audio_files.h"
#include "media/audio.h"
#include "support/check.h"

#include <string.h>

static struct strbuf file;
static struct audio_info info;
static struct as_error err;

static int setup(void **state)
{
    (void)state;
    strbuf_init(&file, 0);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    strbuf_done(&file);
    return 0;
}

static void expect_fine(enum audio_format format, int64_t duration_ns)
{
    if (audio_check(file.data, file.len, &info, &err) != AS_OK)
        fail_msg("%s", err.message);
    assert_int_equal(info.format, format);
    assert_int_equal(info.duration_ns, duration_ns);
    assert_int_equal(audio_sniff(file.data, file.len < 64 ? file.len : 64), format);
}

static void expect_bad(const char *reason)
{
    as_status status = audio_check(strbuf_text(&file), file.len, &info, &err);
    assert_true(status == AS_E_INVALID || status == AS_E_UNSUPPORTED);
    if (!strstr(err.message, reason))
        fail_msg("\"%s\" does not say \"%s\"", err.message, reason);
}

/* Every cut of the file is refused, but for those that still hold a whole smaller file. */
static size_t count_fine_cuts(void)
{
    size_t fine = 0;
    for (size_t len = 0; len < file.len; len++)
        fine += audio_check(file.data, len, &info, NULL) == AS_OK;
    return fine;
}

static void test_names_and_types(void **state)
{
    (void)state;
    assert_int_equal(audio_format_from_name("FLAC"), AUDIO_FLAC);
    assert_int_equal(audio_format_from_name(".m4a"), AUDIO_M4A);
    assert_int_equal(audio_format_from_name("aiff"), AUDIO_UNKNOWN);
    assert_int_equal(audio_format_from_name(""), AUDIO_UNKNOWN);
    assert_int_equal(audio_format_of_path("/a.b/c.MP3"), AUDIO_MP3);
    assert_int_equal(audio_format_of_path("https://h/x.ogg?v=1.wav#y.flac"), AUDIO_OGG);
    assert_int_equal(audio_format_of_path("noending"), AUDIO_UNKNOWN);
    static const char *const mimes[] = {"audio/mpeg", "audio/wav", "audio/webm", "audio/ogg",
                                        "audio/mp4",  "audio/mp4", "audio/flac"};
    for (int i = 0; i < AUDIO_FORMAT_COUNT; i++) {
        assert_string_equal(audio_mime((enum audio_format)i), mimes[i]);
        assert_true(audio_format_matches(audio_format_of_mime(mimes[i], strlen(mimes[i])), (enum audio_format)i));
    }
    assert_int_equal(audio_format_of_mime("Audio/X-WAV ; codecs=1", 22), AUDIO_WAV);
    assert_int_equal(audio_format_of_mime("text/plain", 10), AUDIO_UNKNOWN);
    assert_string_equal(audio_mime(AUDIO_UNKNOWN), "application/octet-stream");
}

static void test_wav(void **state)
{
    (void)state;
    make_wav(&file, 16000, 8000, 16000);
    expect_fine(AUDIO_WAV, 500000000);
    file.len -= 2;
    expect_bad("cut off");
    strbuf_reset(&file);
    make_wav(&file, 8000, 4000, UINT32_MAX); /* written to a pipe: size unknown */
    expect_fine(AUDIO_WAV, 500000000);
    strbuf_reset(&file);
    make_wav(&file, 8000, 0, 0);
    expect_bad("no sound");
    strbuf_reset(&file);
    make_wav(&file, 0, 10, 20);
    expect_bad("no sound format");
    strbuf_reset(&file);
    strbuf_add(&file, "RIFF\4\0\0\0WAVE", 12);
    expect_bad("no data chunk");
}

static void test_flac(void **state)
{
    (void)state;
    make_flac(&file, 16000, 24000);
    expect_fine(AUDIO_FLAC, 1500000000);
    assert_int_equal(count_fine_cuts(), 4); /* behind the first frame's head nothing is looked at */
    strbuf_reset(&file);
    make_flac(&file, 16000, 0); /* a length that the encoder did not know */
    expect_fine(AUDIO_FLAC, -1);
    strbuf_reset(&file);
    make_flac(&file, 0, 10);
    expect_bad("sample rate is 0");
    strbuf_reset(&file);
    strbuf_adds(&file, "fLaC");
    expect_bad("stream information");
}

static void test_mp3(void **state)
{
    (void)state;
    make_mp3(&file, 10);
    expect_fine(AUDIO_MP3, 360000000);
    assert_int_equal(count_fine_cuts(), 9 + 9 * 3); /* whole frames, and less than a header behind them */
    strbuf_add(&file, "TAG", 3);
    put_zeros(&file, 125);
    expect_fine(AUDIO_MP3, 360000000);
    strbuf_reset(&file);
    strbuf_add(&file, "ID3\4\0\0\0\0\0\3abc", 13);
    make_mp3(&file, 2);
    expect_fine(AUDIO_MP3, 72000000);
    strbuf_adds(&file, "garbage");
    expect_bad("something else");
    strbuf_reset(&file);
    strbuf_add(&file, "\xFF\xF3\x68\xC4 a placeholder", 18);
    expect_bad("first frame is cut off");
}

static void test_an_information_frame_is_no_sound(void **state)
{
    (void)state;
    make_mp3(&file, 3);
    memcpy(file.data + 4 + 9, "Xing", 4); /* MPEG 2, mono */
    expect_fine(AUDIO_MP3, 72000000);
}

static void test_ogg(void **state)
{
    (void)state;
    make_opus(&file, 48000 + 312);
    expect_fine(AUDIO_OGG, 1000000000);
    assert_int_equal(count_fine_cuts(), 0);
    file.data[file.len - 1] ^= 1;
    expect_bad("checksum");
    strbuf_reset(&file);
    put_page(&file, 0, "no known codec", 14);
    expect_bad("no known codec");
    strbuf_reset(&file);
    make_opus(&file, 0);
    expect_bad("no sound");
}

static void test_mp4(void **state)
{
    (void)state;
    make_mp4(&file, 1000, 2500, true);
    expect_fine(AUDIO_M4A, 2500000000);
    assert_true(audio_format_matches(AUDIO_MP4, info.format));
    assert_int_equal(count_fine_cuts(), 0);
    strbuf_reset(&file);
    make_mp4(&file, 0, 2500, true);
    expect_fine(AUDIO_M4A, -1);
    strbuf_reset(&file);
    make_mp4(&file, 1000, 2500, false);
    expect_bad("no sound");
}

static void test_webm(void **state)
{
    (void)state;
    make_webm(&file, "webm", true);
    expect_fine(AUDIO_WEBM, 2500000000);
    strbuf_reset(&file);
    make_webm(&file, "webm", false);
    expect_bad("no sound");
    strbuf_reset(&file);
    make_webm(&file, "mpeg", true);
    expect_bad("document type");
}

static void test_other_bytes(void **state)
{
    (void)state;
    static const char *const others[] = {"This is no audio at all.", "\x89PNG\r\n\x1a\n0123456789",
                                         "MThd\0\0\0\6\0\1\0\1", "\xFF\xD8\xFF\xE0 JPEG   "};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        strbuf_reset(&file);
        strbuf_add(&file, others[i], 12);
        expect_bad("none of mp3, wav");
    }
    strbuf_reset(&file);
    expect_bad("empty");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names_and_types),
        cmocka_unit_test_setup_teardown(test_wav, setup, teardown),
        cmocka_unit_test_setup_teardown(test_flac, setup, teardown),
        cmocka_unit_test_setup_teardown(test_mp3, setup, teardown),
        cmocka_unit_test_setup_teardown(test_an_information_frame_is_no_sound, setup, teardown),
        cmocka_unit_test_setup_teardown(test_ogg, setup, teardown),
        cmocka_unit_test_setup_teardown(test_mp4, setup, teardown),
        cmocka_unit_test_setup_teardown(test_webm, setup, teardown),
        cmocka_unit_test_setup_teardown(test_other_bytes, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
