/* SPDX-License-Identifier: Apache-2.0 */
#include "support/check.h"
#include "workload/audio.h"

#include <stdio.h>
#include <string.h>

static struct audio_set set;
static struct as_error err;

static as_status parse(const char *text, bool skip_bad_lines)
{
    return audio_set_parse(&(struct audio_text){text, strlen(text), "m.jsonl", skip_bad_lines}, "/folder", &set, &err);
}

static int teardown(void **state)
{
    (void)state;
    if (set.items)
        audio_set_done(&set);
    return 0;
}

static void expect_parsed(const char *text)
{
    if (parse(text, false) != AS_OK)
        fail_msg("%s", err.message);
}

static void test_lines_become_samples(void **state)
{
    (void)state;
    expect_parsed("\xEF\xBB\xBF{\"id\": \"sample-001\", \"path\": \"/path/to/audio.flac\", \"format\": \"flac\", "
                  "\"duration\": 12.5}\r\n\n"
                  "{\"id\": 2, \"url\": \"https://storage.example.com/a/b.mp3?key=x/y\", \"format\": \"MP3\", "
                  "\"duration\": null}\n"
                  "{\"id\": \"c\", \"path\": \"sub/one%20two.ogg\"}\n"
                  "{\"id\": \"d\", \"path\": \"file:///a%20b/c%2\"}");
    assert_int_equal(set.count, 4);
    const struct audio_sample *s = set.items;
    assert_string_equal(s[0].id, "sample-001");
    assert_string_equal(s[0].path, "/path/to/audio.flac");
    assert_string_equal(s[0].file_name, "audio.flac");
    assert_int_equal(s[0].format, AUDIO_FLAC);
    assert_true(s[0].has_format);
    assert_int_equal(s[0].duration_ns, INT64_C(12500000000));
    assert_int_equal(s[0].duration_source, AUDIO_DURATION_MANIFEST);
    assert_string_equal(s[1].id, "2");
    assert_null(s[1].path);
    assert_string_equal(s[1].file_name, "b.mp3");
    assert_int_equal(s[1].line, 3);
    assert_int_equal(s[1].duration_ns, -1);
    assert_int_equal(s[1].duration_source, AUDIO_DURATION_NONE);
    assert_string_equal(s[2].path, "/folder/sub/one%20two.ogg");
    assert_int_equal(s[2].format, AUDIO_OGG); /* by its name */
    assert_false(s[2].has_format);
    assert_string_equal(s[3].path, "/a b/c%2");
    assert_int_equal(s[3].format, AUDIO_UNKNOWN);
    assert_ptr_equal(audio_set_sample(&set, 0), &s[0]);
    assert_ptr_equal(audio_set_sample(&set, 7), &s[3]);
    assert_ptr_equal(audio_set_sample(&set, 8), &s[0]);
    assert_int_equal(strlen(set.manifest_digest), 64);
    assert_string_equal(set.audio_digest, "");
}

static void test_unknown_members_are_told(void **state)
{
    (void)state;
    expect_parsed("{\"id\":\"a\",\"path\":\"a.wav\",\"duration_s\":1}\n{\"id\":\"b\",\"path\":\"b.wav\",\"text\":\"x\","
                  "\"duration_s\":2}");
    assert_int_equal(set.lines.unknown.count, 2);
    assert_string_equal(set.lines.unknown.names[0], "duration_s");
    assert_int_equal(set.lines.unknown.lines[0], 1);
    assert_string_equal(set.lines.unknown.names[1], "text");
    assert_int_equal(set.lines.unknown.lines[1], 2);
    assert_int_equal(set.items[1].duration_ns, -1);
}

static void test_bad_lines(void **state)
{
    (void)state;
    static const struct {
        const char *line, *reason;
    } cases[] = {
        {"[]", "must be an object"},
        {"{\"id\":\"a\",\"path\":\"a.wav\",\"path\":\"b.wav\"}", "the member \"path\" is there twice"},
        {"{\"id\":\"a\"", "line 2: column 10: "},
        {"{\"path\":\"a.wav\"}", "\"id\" is missing"},
        {"{\"id\":\"\",\"path\":\"a.wav\"}", "1 to 63 bytes"},
        {"{\"id\":\"0123456789012345678901234567890123456789012345678901234567890123\",\"path\":\"a.wav\"}",
         "1 to 63 bytes"},
        {"{\"id\":true,\"path\":\"a.wav\"}", "string or a number"},
        {"{\"id\":\"a\"}", "neither \"path\" nor \"url\""},
        {"{\"id\":\"a\",\"path\":\"a.wav\",\"url\":\"http://h/a.wav\"}", "both given"},
        {"{\"id\":\"a\",\"path\":\"\"}", "non-empty string"},
        {"{\"id\":\"a\",\"path\":7}", "non-empty string"},
        {"{\"id\":\"a\",\"path\":\"a\\u0000b\"}", "non-empty string"},
        {"{\"id\":\"a\",\"path\":\"http://h/a.wav\"}", "give it as \"url\""},
        {"{\"id\":\"a\",\"path\":\"file://host/a.wav\"}", "another machine"},
        {"{\"id\":\"a\",\"url\":\"ftp://h/a.wav\"}", "http:// or https://"},
        {"{\"id\":\"a\",\"path\":\"a.wav\",\"format\":\"aiff\"}", "the format \"aiff\" is unknown"},
        {"{\"id\":\"a\",\"path\":\"a.wav\",\"format\":1}", "\"format\" must be a string"},
        {"{\"id\":\"a\",\"path\":\"a.wav\",\"duration\":0}", "seconds above 0"},
        {"{\"id\":\"a\",\"path\":\"a.wav\",\"duration\":-1}", "seconds above 0"},
        {"{\"id\":\"a\",\"path\":\"a.wav\",\"duration\":1e-12}", "seconds above 0"},
        {"{\"id\":\"a\",\"path\":\"a.wav\",\"duration\":1e300}", "seconds above 0"},
        {"{\"id\":\"a\",\"path\":\"a.wav\",\"duration\":\"2.5\"}", "seconds above 0"},
        {"{\"id\":\"first\",\"path\":\"b.wav\"}", "taken by line 1"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[512];
        snprintf(text, sizeof text, "{\"id\":\"first\",\"path\":\"a.wav\"}\n%s\n", cases[i].line);
        assert_int_equal(parse(text, false), AS_E_INVALID);
        if (!strstr(err.message, "m.jsonl, line 2: ") || !strstr(err.message, cases[i].reason))
            fail_msg("%s: \"%s\"", cases[i].line, err.message);
        assert_int_equal(err.line, 2);
        assert_int_equal(parse(text, true), AS_OK);
        assert_int_equal(set.count, 1);
        assert_int_equal(set.lines.bad_lines, 1);
        assert_non_null(strstr(set.lines.first_bad.message, cases[i].reason));
        audio_set_done(&set);
    }
}

static void test_a_manifest_of_nothing(void **state)
{
    (void)state;
    assert_int_equal(parse("\n \n", false), AS_E_INVALID);
    assert_non_null(strstr(err.message, "holds no sample"));
    assert_int_equal(parse("1\n2\n", true), AS_E_INVALID);
    assert_non_null(strstr(err.message, "none of its 2 lines is a sample"));
}

static void test_many_ids_are_unique(void **state)
{
    (void)state;
    AS_AUTO_STRBUF struct strbuf text;
    strbuf_init(&text, 0);
    for (int i = 0; i < 5000; i++)
        strbuf_addf(&text, "{\"id\":%d,\"path\":\"%d.wav\"}\n", i, i);
    expect_parsed(strbuf_text(&text));
    assert_int_equal(set.count, 5000);
    audio_set_done(&set);
    strbuf_adds(&text, "{\"id\":\"77\",\"path\":\"x.wav\"}\n");
    assert_int_equal(parse(strbuf_text(&text), false), AS_E_INVALID);
    assert_non_null(strstr(err.message, "line 5001: the id \"77\" is taken by line 78"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_lines_become_samples, teardown),
        cmocka_unit_test_teardown(test_unknown_members_are_told, teardown),
        cmocka_unit_test_teardown(test_bad_lines, teardown),
        cmocka_unit_test_teardown(test_a_manifest_of_nothing, teardown),
        cmocka_unit_test_teardown(test_many_ids_are_unique, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
