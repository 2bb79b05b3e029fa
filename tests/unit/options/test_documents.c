/* SPDX-License-Identifier: Apache-2.0 */
#include "base/url.h"
#include "sample.h"
#include "support/golden.h"

static void check_golden(const char *path, struct strbuf *text)
{
    assert_int_equal(strbuf_status(text), AS_OK);
    golden_check(path, strbuf_text(text), text->len);
    strbuf_done(text);
}

static void the_tables_have_no_mistakes(void **state)
{
    (void)state;
    struct strbuf out AS_AUTO_STRBUF;
    strbuf_init(&out, 0);
    options_check_tables(&SAMPLE, &out);
    assert_string_equal(strbuf_text(&out), "");
}

static void mistakes_in_tables_are_found(void **state)
{
    (void)state;
    static const struct opt bad[] = {
        {.name = "a", .aliases = "b", .type = OPT_INT, .group = "G", .sentence = "No stop", .initial = "x"},
        {.name = "b",
         .type = OPT_ENUM,
         .choices = SAMPLE_MODES,
         .group = "G",
         .sentence = "S.",
         .example = "z",
         .needs = "c",
         .conflicts = "a d"},
    };
    static const struct opt_foreign foreign[] = {
        {.name = "b", .kind = OPT_SAME, .target = "e"},
        {.name = "f", .kind = OPT_MAPPED},
        {.name = NULL},
    };
    static const struct opt_table table = OPT_TABLE(bad, 0);
    static const struct opt_table *const tables[] = {&table};
    struct opt_command command = {.name = "t", .tables = tables, .table_count = 1, .foreign = foreign};
    struct strbuf out AS_AUTO_STRBUF;
    strbuf_init(&out, 0);
    options_check_tables(&command, &out);
    assert_string_equal(strbuf_text(&out), "t --a: has no group or no sentence with a full stop\n"
                                           "t --a: has an alias that is defined more than once\n"
                                           "t --a: its example is refused\n"
                                           "t --a: its default is refused\n"
                                           "t --b: is defined more than once\n"
                                           "t --b: needs or conflicts with an option that is not in the tables\n"
                                           "t --b: needs or conflicts with an option that is not in the tables\n"
                                           "t --b: its example is refused\n"
                                           "t --b: is defined more than once\n"
                                           "t --b: its target is not in the tables\n"
                                           "t --f: has no sentence\n"
                                           "t --f: has a map and is not mapped, or the reverse\n");
}

static void help(void **state)
{
    (void)state;
    struct strbuf out;
    strbuf_init(&out, 0);
    options_help(&SAMPLE, 80, &out);
    for (const char *line = strbuf_text(&out); *line; line += strcspn(line, "\n") + 1)
        assert_true(strcspn(line, "\n") <= 82); /* columns; × is two bytes */
    check_golden("tests/golden/options/help.txt", &out);
    strbuf_init(&out, 0);
    options_help(&SAMPLE, 120, &out);
    check_golden("tests/golden/options/help-120.txt", &out);
}

static void man_page(void **state)
{
    (void)state;
    struct strbuf out;
    strbuf_init(&out, 0);
    options_man(&SAMPLE, "1.2.3", &out);
    check_golden("tests/golden/options/sample.1", &out);
}

static void markdown(void **state)
{
    (void)state;
    struct strbuf out;
    strbuf_init(&out, 0);
    options_markdown(&SAMPLE, &out);
    check_golden("tests/golden/options/sample.md", &out);
}

static void completion(void **state)
{
    (void)state;
    static const char *const words[] = {"first", "second", NULL};
    const struct opt_completed completed = {&SAMPLE, words};
    struct strbuf out;
    strbuf_init(&out, 0);
    options_completion(&completed, 1, &out);
    check_golden("tests/golden/options/sample.bash", &out);
}

static void schema(void **state)
{
    (void)state;
    struct strbuf out;
    strbuf_init(&out, 0);
    options_schema(&SAMPLE, &out);
    const struct json_value *root = NULL;
    struct arena arena;
    arena_init(&arena, 0, 0);
    assert_int_equal(json_parse(strbuf_text(&out), out.len, NULL, &arena, &root, NULL), AS_OK);
    assert_int_equal(json_get(root, "properties")->len, ARRAY_COUNT(SAMPLE_OPTIONS) - 1);
    arena_done(&arena);
    check_golden("tests/golden/options/sample.schema.json", &out);
}

static void echo(void **state)
{
    (void)state;
    struct reading r;
    struct strbuf out;
    struct json_writer writer;
    read_all(&r, &SAMPLE,
             WORDS("--url", "http://user:pa55@host/v1", "--api-key", "hunter2", "--header",
                   "Authorization: Bearer hunter2", "X-A=b", "--extra-body", "{\n\"a\":1.0}", "--request-rate", "inf",
                   "--num-requests", "9"),
             ENVIRONMENT("ASSAY_STREAMING=true"));
    assert_int_equal(r.status, AS_OK);
    assert_int_equal(options_put(&r.parsed, "model", "found", &r.err), AS_OK);
    strbuf_init(&out, 0);
    json_writer_init(&writer, &out, 1);
    json_open_object(&writer);
    options_echo(&r.parsed, &writer);
    json_close_object(&writer);
    assert_int_equal(json_writer_status(&writer), AS_OK);
    assert_null(strstr(strbuf_text(&out), "hunter2"));
    assert_null(strstr(strbuf_text(&out), "pa55"));
    arena_done(&r.arena);
    check_golden("tests/golden/options/echo.json", &out);
}

static void shown_line(const char *expected, char *const *words)
{
    struct strbuf out AS_AUTO_STRBUF;
    int argc = 0;
    while (words[argc])
        argc++;
    strbuf_init(&out, 0);
    options_command_line(&SAMPLE, argc, words, &out);
    assert_string_equal(strbuf_text(&out), expected);
}

static void command_lines_hide_secrets(void **state)
{
    (void)state;
    shown_line("assay sample --api-key '***' --model 'it'\\''s'", WORDS("--api-key", "k", "--model", "it's"));
    shown_line("assay sample '--api-key=***' --header 'A: ***' 'B: ***' --streaming",
               WORDS("--api-key=k", "--header", "A: s", "B=s", "--streaming"));
    shown_line("assay sample --url 'https://***@h/v1' '--host=***@h' --num-requests 4",
               WORDS("--url", "https://u:p@h/v1", "--host=u:p@h", "--num-requests", "4"));
    shown_line("assay sample --unknown x ''", WORDS("--unknown", "x", ""));
}

static void urls_lose_their_user_info(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"http://a/b@c", "http://a/b@c"},
        {"http://u:p@a/b@c", "http://***@a/b@c"},
        {"u@h:1", "***@h:1"},
        {"https://u:p@q@h?x=@", "https://***@h?x=@"},
        {"unix:/run/x", "unix:/run/x"},
    };
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct strbuf out AS_AUTO_STRBUF;
        strbuf_init(&out, 0);
        url_add_shown(&out, cases[i][0]);
        assert_string_equal(strbuf_text(&out), cases[i][1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_tables_have_no_mistakes),
        cmocka_unit_test(mistakes_in_tables_are_found),
        cmocka_unit_test(help),
        cmocka_unit_test(man_page),
        cmocka_unit_test(markdown),
        cmocka_unit_test(completion),
        cmocka_unit_test(schema),
        cmocka_unit_test(echo),
        cmocka_unit_test(command_lines_hide_secrets),
        cmocka_unit_test(urls_lose_their_user_info),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
