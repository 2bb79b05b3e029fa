/* SPDX-License-Identifier: Apache-2.0 */
/* Templates: what is refused when they are read, and what words, environment and files become. */
#include "facts.h"

static as_status read_one(struct fixture *fixture, const char *members, struct recipe_templates *ret,
                          struct as_error *err)
{
    char *text =
        arena_printf(&fixture->arena, "{\"schema\":\"assay.command-templates.v1\",\"templates\":[{%s}]}", members);
    struct recipe_text input = text_of(text);
    return recipe_read_templates(&input, &fixture->arena, ret, err);
}

#define TOOL "\"code\":\"t\",\"kind\":\"tool\",\"tool\":\"x\","

static void test_refused(void **state)
{
    static const char *const cases[][2] = {
        {"\"code\":\"t\",\"kind\":\"tol\",\"argv\":[\"a\"]", "kind is server or tool"},
        {"\"code\":\"t\",\"kind\":\"server\",\"argv\":[\"a\"]", "a server has a framework_code"},
        {TOOL "\"framework_code\":\"f\",\"argv\":[\"a\"]", "a server has a framework_code"},
        {TOOL "\"argv\":[]", "argv is an array whose first word"},
        {TOOL "\"argv\":\"a b\"", "argv is an array whose first word"},
        {TOOL "\"argv\":[\"{model}\"]", "the program is named"},
        {TOOL "\"argv\":[\"a\",\"{modle}\"]", "nearest is {model}"},
        {TOOL "\"argv\":[\"a\",\"{zzzz}\"]", "one of your own is declared in \"defaults\""},
        {TOOL "\"argv\":[\"a\",\"{item}\"]", "{item} is no placeholder"},
        {TOOL "\"argv\":[\"a\",\"x{\"]", "a lone brace"},
        {TOOL "\"argv\":[\"a\",\"}x\"]", "a lone brace"},
        {TOOL "\"argv\":[\"a\",\"{Model}\"]", "a lone brace"},
        {TOOL "\"argv\":[\"a\",[]]", "an empty group"},
        {TOOL "\"argv\":[\"a\",[[\"b\"]]]", "a word is a text"},
        {TOOL "\"argv\":[\"a\",7]", "a word, [words] or {"},
        {TOOL "\"argv\":[\"a\",{\"if\":\"model\",\"argv\":[\"b\"]}]", "a word, [words] or {"},
        {TOOL "\"argv\":[\"a\",{\"when\":\"modl\",\"argv\":[\"b\"]}]", "nearest is {model}"},
        {TOOL "\"argv\":[\"a\",\"--api-key\",\"{model}\"]", "puts a secret on the command line"},
        {TOOL "\"argv\":[\"a\",\"--token=x\"]", "puts a secret on the command line"},
        {TOOL "\"argv\":[\"a\"],\"env\":{\"HF_TOKEN\":\"{model}\"}", "HF_TOKEN holds a secret"},
        {TOOL "\"argv\":[\"a\"],\"env\":{\"A-B\":\"x\"}", "no name of an environment variable"},
        {TOOL "\"argv\":[\"a\"],\"secrets\":[\"A B\"]", "no name of an environment variable"},
        {TOOL "\"argv\":[\"a\"],\"defaults\":{\"api_key\":\"x\"}", "no name of a placeholder"},
        {TOOL "\"argv\":[\"a\"],\"defaults\":{\"A\":\"x\"}", "no name of a placeholder"},
        {TOOL "\"argv\":[\"a\"],\"defaults\":{\"a\":{}}", "is an object"},
        {TOOL "\"argv\":[\"a\"],\"files\":{\"../x\":{}}", "no plain file name"},
        {TOOL "\"argv\":[\"a\"],\"files\":{\"x\":{\"a\":[\"{modle}\"]}}", "nearest is {model}"},
        {TOOL "\"argv\":[\"a\"],\"files\":{\"x\":[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]}", "nest deeper"},
        {TOOL "\"argv\":[\"a\"],\"refuses\":[\"modle\"]", "nearest is {model}"},
        {TOOL "\"argv\":[\"a\"],\"runtime\":\"vm\"", "process or container"},
        {TOOL "\"argv\":[\"a\"],\"shell\":true", "the member \"shell\" is not known"},
    };
    struct recipe_templates templates = {0};
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct as_error err = {0};
        if (read_one(*state, cases[i][0], &templates, &err) == AS_OK)
            fail_msg("passes: %s", cases[i][0]);
        if (!strstr(err.message, cases[i][1]))
            fail_msg("%s: \"%s\" does not say \"%s\"", cases[i][0], err.message, cases[i][1]);
    }
}

static const char *const TWO[] = {"u1", "u 2"};
static const struct recipe_value VALUES[] = {
    {.name = "model", .kind = RECIPE_TEXT, .text = "org/m", .layer = RECIPE_FROM_WORKLOAD, .origin = "workload w"},
    {.name = "concurrency", .kind = RECIPE_NUMBER, .text = "4", .layer = RECIPE_FROM_SCENARIO},
    {.name = "concurrency", .kind = RECIPE_NUMBER, .text = "9", .layer = RECIPE_FROM_RUN, .origin = "run r"},
    {.name = "seed", .kind = RECIPE_NUMBER, .text = NULL, .layer = RECIPE_FROM_RUN},
    {.name = "streaming", .kind = RECIPE_FLAG, .text = "false", .layer = RECIPE_FROM_RUN},
    {.name = "ignore_eos", .kind = RECIPE_FLAG, .text = "true", .layer = RECIPE_FROM_RUN},
    {.name = "urls", .kind = RECIPE_LIST, .list = {TWO, 2}, .layer = RECIPE_FROM_PLAN},
    {.name = "devices", .kind = RECIPE_LIST, .list = {NULL, 0}, .layer = RECIPE_FROM_PLAN},
    {.name = "extra_body", .kind = RECIPE_TEXT, .text = "{model} {{x}} $(y)", .layer = RECIPE_FROM_RUN},
    {.name = "node_rank", .kind = RECIPE_NUMBER, .text = "1", .layer = RECIPE_FROM_PLAN},
    {.name = "head_ip", .kind = RECIPE_TEXT, .text = "10.0.0.1", .layer = RECIPE_FROM_PLAN},
};

static struct recipe_job job_of(struct fixture *fixture, const char *members)
{
    struct recipe_templates templates = {0};
    struct as_error err = {0};
    if (read_one(fixture, members, &templates, &err) != AS_OK)
        fail_msg("%s", err.message);
    return (struct recipe_job){.item = &templates.items[0], .values = {VALUES, ARRAY_COUNT(VALUES)}};
}

static void expect_argv(struct fixture *fixture, const char *members, const char *expected)
{
    struct recipe_job job = job_of(fixture, members);
    struct recipe_command command = {0};
    struct as_error err = {0};
    char line[512] = "";
    if (recipe_resolve(&job, &fixture->arena, &command, &err) != AS_OK)
        fail_msg("%s", err.message);
    for (size_t i = 0; i < command.argv.count; i++)
        (void)snprintf(line + strlen(line), sizeof(line) - strlen(line), "%s%s", i ? "|" : "", command.argv.items[i]);
    assert_string_equal(line, expected);
}

static void test_words(void **state)
{
    expect_argv(*state, TOOL "\"argv\":[\"a\",\"{model}\",\"m={model},n={concurrency}\"]", "a|org/m|m=org/m,n=9");
    expect_argv(*state, TOOL "\"argv\":[\"a\",\"{{{model}}}\",\"{{}}\"]", "a|{org/m}|{}");
    expect_argv(*state, TOOL "\"argv\":[\"a\",\"{urls}\",\"{devices}\"]", "a|u1|u 2");
    expect_argv(*state, TOOL "\"argv\":[\"a\",{\"each\":\"urls\",\"argv\":[\"--url\",\"{item}/v1\"]}]",
                "a|--url|u1/v1|--url|u 2/v1");
    expect_argv(*state, TOOL "\"argv\":[\"a\",{\"each\":\"devices\",\"argv\":[\"{item}\"]}]", "a");
    expect_argv(*state, TOOL "\"argv\":[\"a\",{\"each\":\"model\",\"argv\":[\"{item}\"]}]", "a|org/m");
    expect_argv(*state, TOOL "\"argv\":[\"a\",[\"--seed\",\"{seed}\"],[\"--m\",\"{model}\"],[\"--d\",\"{devices}\"]]",
                "a|--m|org/m");
    expect_argv(*state,
                TOOL "\"argv\":[\"a\",{\"when\":\"streaming\",\"argv\":[\"--s\"]},{\"when\":\"ignore_eos\",\"argv\":"
                     "[\"--i\"]},{\"when\":\"seed\",\"argv\":[\"--x\"]},{\"when\":\"urls\",\"argv\":[\"--u\"]}]",
                "a|--i|--u");
    expect_argv(*state,
                TOOL "\"argv\":[\"a\",{\"unless\":\"streaming\",\"argv\":[\"--s\"]},{\"unless\":\"ignore_eos\","
                     "\"argv\":[\"--i\"]},{\"unless\":\"seed\",\"argv\":[\"--x\"]}]",
                "a|--s|--x");
    expect_argv(*state, TOOL "\"defaults\":{\"seed\":3,\"mine\":\"x\"},\"argv\":[\"a\",\"{seed}{mine}\"]", "a|3x");
    /* A value is never looked at again. */
    expect_argv(*state, TOOL "\"argv\":[\"a\",\"{extra_body}\"]", "a|{model} {{x}} $(y)");
    expect_argv(*state,
                TOOL "\"secrets\":[\"HF_TOKEN\"],\"argv\":[\"a\",{\"each\":\"secrets\",\"argv\":[\"-e\",\"{item}\"]}]",
                "a|-e|HF_TOKEN");
}

static void expect_error(struct fixture *fixture, const char *members, const char *says)
{
    struct recipe_job job = job_of(fixture, members);
    struct recipe_command command = {0};
    struct as_error err = {0};
    assert_int_equal(recipe_resolve(&job, &fixture->arena, &command, &err), AS_E_INVALID);
    if (!strstr(err.message, says))
        fail_msg("\"%s\" does not say \"%s\"", err.message, says);
    assert_int_equal(command.argv.count, 0);
}

static void test_errors(void **state)
{
    expect_error(*state, TOOL "\"argv\":[\"a\",\"--x={isl}\"]",
                 "{isl} in \"--x={isl}\" of t has no value: it comes from the scenario (tokens of a prompt)");
    expect_error(*state, TOOL "\"argv\":[\"a\",\"{seed}\"]", "comes from the run");
    expect_error(*state, TOOL "\"defaults\":{\"mine\":null},\"argv\":[\"a\",\"{mine}\"]", "the run's settings");
    expect_error(*state, TOOL "\"argv\":[\"a\",\"x{urls}\"]", "{urls} is a list");
    expect_error(*state, TOOL "\"argv\":[\"a\",{\"each\":\"secrets\",\"argv\":[\"{item}{isl}\"]}],\"secrets\":[\"A\"]",
                 "{isl}");
    expect_argv(*state, TOOL "\"refuses\":[\"streaming\"],\"argv\":[\"a\"]", "a"); /* false: nothing to honour */
    expect_error(*state, TOOL "\"refuses\":[\"concurrency\"],\"argv\":[\"a\"]",
                 "t cannot honour concurrency, which the scenario gives");
    expect_error(*state, TOOL "\"argv\":[\"a\"],\"env\":{\"X\":\"{osl}\"}", "{osl}");
    expect_error(*state, TOOL "\"argv\":[\"a\"],\"files\":{\"f\":{\"a\":[\"{osl}\"]}}", "{osl}");
}

static void test_dashes(void **state)
{
    static const char *const words[] = {"-x"};
    static const struct recipe_value values[] = {
        {.name = "model", .kind = RECIPE_TEXT, .text = "--trust-remote-code"},
        {.name = "seed", .kind = RECIPE_NUMBER, .text = "-1"},
        {.name = "device_args", .kind = RECIPE_LIST, .list = {words, 1}},
    };
    static const struct {
        const char *members;
        as_status status;
    } cases[] = {
        {TOOL "\"argv\":[\"a\",\"{model}\"]", AS_E_INVALID},
        {TOOL "\"argv\":[\"a\",\"{model}x\"]", AS_E_INVALID},
        {TOOL "\"argv\":[\"a\",[\"--m\",\"{model}\"]]", AS_E_INVALID},
        {TOOL "\"argv\":[\"a\",{\"each\":\"model\",\"argv\":[\"{item}\"]}]", AS_E_INVALID},
        {TOOL "\"argv\":[\"a\",\"--m={model}\"]", AS_OK},
        {TOOL "\"argv\":[\"a\",\"{seed}\",\"{device_args}\"]", AS_OK},
    };
    struct fixture *fixture = *state;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct recipe_job job = job_of(fixture, cases[i].members);
        struct recipe_command command = {0};
        job.values = (struct recipe_values){values, ARRAY_COUNT(values)};
        if (recipe_resolve(&job, &fixture->arena, &command, &fixture->err) != cases[i].status)
            fail_msg("%s", cases[i].members);
    }
}

static void test_all_unresolved(void **state)
{
    struct fixture *fixture = *state;
    struct recipe_job job = job_of(fixture, TOOL "\"argv\":[\"a\",\"{isl}{osl}\",\"{isl}\",[\"{image}\"],\"{port}\"],"
                                                 "\"env\":{\"X\":\"{host}\"}");
    struct recipe_list open = {0};
    assert_int_equal(recipe_unresolved(&job, &fixture->arena, &open, &fixture->err), AS_OK);
    assert_int_equal(open.count, 4);
    assert_true(recipe_list_has(&open, "isl") && recipe_list_has(&open, "osl") && recipe_list_has(&open, "port") &&
                recipe_list_has(&open, "host"));
}

static void test_secret_value(void **state)
{
    struct fixture *fixture = *state;
    struct recipe_job job = job_of(fixture, TOOL "\"argv\":[\"a\"]");
    struct recipe_value secret = {.name = "api_key", .kind = RECIPE_TEXT, .text = "s3cr3t"};
    struct recipe_pair env = {"HF_TOKEN", "s3cr3t"};
    struct recipe_command command = {0};
    struct as_error err = {0};
    job.values = (struct recipe_values){&secret, 1};
    assert_int_equal(recipe_resolve(&job, &fixture->arena, &command, &err), AS_E_INVALID);
    assert_null(strstr(err.message, "s3cr3t"));
    job = job_of(fixture, TOOL "\"argv\":[\"a\"]");
    job.env = (struct recipe_pairs){&env, 1};
    assert_int_equal(recipe_resolve(&job, &fixture->arena, &command, &err), AS_E_INVALID);
    assert_null(strstr(err.message, "s3cr3t"));
}

static void test_server(void **state)
{
    struct fixture *fixture = *state;
    const struct recipe_set *set = set_of(
        fixture, "\"args\":[{\"key\":\"node_rank\",\"value\":\"{node_rank}\"},{\"key\":\"master_addr\",\"value\":"
                 "\"{head_ip}:5\"},{\"key\":\"compilation_config\",\"value\":\"{\\\"a\\\":{}}\"}],"
                 "\"env\":{\"IF\":\"on {head_ip}\",\"A\":\"set\",\"B\":\"set\"}");
    struct recipe_job job = job_of(
        fixture, "\"code\":\"v\",\"kind\":\"server\",\"framework_code\":\"vllm\",\"secrets\":[\"HF_TOKEN\"],"
                 "\"env\":{\"B\":\"template\",\"C\":[\"{seed}\"],\"D\":[\"{model}\"]},"
                 "\"argv\":[\"vllm\",\"serve\",\"{engine_args}\",{\"each\":\"env\",\"argv\":[\"-e\",\"{item}\"]}]");
    struct recipe_pair plan[] = {{"A", "plan"}};
    struct recipe_command command = {0};
    struct strbuf text AS_AUTO_STRBUF;
    strbuf_init(&text, 0);
    job.set = set;
    job.framework = fixture->vllm;
    job.env = (struct recipe_pairs){plan, 1};
    if (recipe_resolve(&job, &fixture->arena, &command, &fixture->err) != AS_OK)
        fail_msg("%s", fixture->err.message);
    recipe_command_text(&command, &text);
    assert_string_equal(strbuf_text(&text),
                        "A=plan B=template D=org/m IF='on 10.0.0.1' vllm serve --node-rank 1 --master-addr 10.0.0.1:5 "
                        "--compilation-config '{\"a\":{}}' -e A=plan -e B=template -e D=org/m -e 'IF=on 10.0.0.1'");
    assert_int_equal(command.secrets.count, 1);
    bool found = false;
    for (size_t i = 0; i < command.binding_count; i++) {
        if (strcmp(command.bindings[i].name, "model") != 0)
            continue;
        assert_string_equal(command.bindings[i].origin, "workload w");
        assert_int_equal(command.bindings[i].layer, RECIPE_FROM_WORKLOAD);
        found = true;
    }
    assert_true(found);
}

static void test_files(void **state)
{
    struct fixture *fixture = *state;
    struct recipe_job job = job_of(
        fixture, TOOL "\"argv\":[\"a\"],\"files\":{\"c.json\":{\"n\":\"{concurrency}\",\"t\":\"c{concurrency}\",\"s\":"
                      "\"{streaming}\",\"u\":\"{urls}\",\"m\":\"{extra_body}\",\"k\":[1,true,null,{\"x\":{}}]}}");
    struct recipe_command command = {0};
    if (recipe_resolve(&job, &fixture->arena, &command, &fixture->err) != AS_OK)
        fail_msg("%s", fixture->err.message);
    assert_int_equal(command.files.count, 1);
    assert_string_equal(command.files.items[0].name, "c.json");
    const struct json_value *root = NULL, *value = NULL;
    const char *file = command.files.items[0].value, *text = NULL;
    int64_t number = 0;
    bool flag = true;
    assert_int_equal(json_parse(file, strlen(file), NULL, &fixture->arena, &root, &fixture->err), AS_OK);
    assert_true(json_int64(json_get(root, "n"), &number) && number == 9);
    assert_true(json_string(json_get(root, "t"), &text) && strcmp(text, "c9") == 0);
    assert_true(json_bool(json_get(root, "s"), &flag) && !flag);
    assert_true(json_string(json_get(root, "m"), &text) && strcmp(text, "{model} {{x}} $(y)") == 0);
    value = json_get(root, "u");
    assert_int_equal(value->len, 2);
    assert_int_equal(json_get(root, "k")->len, 4);
}

static void test_digest_and_canonical(void **state)
{
    struct fixture *fixture = *state;
    struct recipe_job one =
        job_of(fixture, TOOL "\"argv\":[\"a\",\"{concurrency}\"],\"env\":{\"B\":\"1\",\"A\":\"2\"}");
    struct recipe_job two =
        job_of(fixture, "\"env\":{\"A\":\"2\",\"B\":\"1\"},\"argv\":[\"a\",\"9\"]," TOOL "\"help\":\"h\"");
    struct recipe_command first = {0}, second = {0};
    char digests[2][RECIPE_DIGEST_BYTES];
    struct strbuf text AS_AUTO_STRBUF;
    strbuf_init(&text, 0);
    assert_int_equal(recipe_resolve(&one, &fixture->arena, &first, &fixture->err), AS_OK);
    assert_int_equal(recipe_resolve(&two, &fixture->arena, &second, &fixture->err), AS_OK);
    assert_int_equal(recipe_command_digest(&first, digests[0]), AS_OK);
    assert_int_equal(recipe_command_digest(&second, digests[1]), AS_OK);
    assert_string_equal(digests[0], digests[1]);
    assert_int_equal(recipe_template_canonical(one.item, &text), AS_OK);
    assert_string_equal(
        strbuf_text(&text),
        "{\"argv\":[\"a\",\"{concurrency}\"],\"code\":\"t\",\"defaults\":{},\"env\":{\"A\":\"2\",\"B\":\"1\"},"
        "\"files\":null,\"framework_code\":null,\"help\":null,\"kind\":\"tool\",\"refuses\":[],\"results\":null,"
        "\"runtime\":"
        "\"process\",\"secrets\":[],\"since\":null,\"tool\":\"x\",\"until\":null}");
}

static void test_choice(void **state)
{
    struct fixture *fixture = *state;
    struct recipe_text input = text_of(
        "{\"schema\":\"assay.command-templates.v1\",\"templates\":["
        "{\"code\":\"old\",\"kind\":\"server\",\"framework_code\":\"vllm\",\"argv\":[\"a\"],\"until\":\"0.10\"},"
        "{\"code\":\"new\",\"kind\":\"server\",\"framework_code\":\"vllm\",\"argv\":[\"a\"],\"since\":\"0.10\"},"
        "{\"code\":\"box\",\"kind\":\"server\",\"framework_code\":\"vllm\",\"runtime\":\"container\",\"argv\":[\"a\"]},"
        "{\"code\":\"img\",\"kind\":\"server\",\"framework_code\":\"vllm\",\"tool\":\"metrumbench-imagegen\",\"argv\":["
        "\"a\"]},"
        "{\"code\":\"first\",\"kind\":\"tool\",\"tool\":\"x\",\"argv\":[\"a\"]},"
        "{\"code\":\"tool\",\"kind\":\"tool\",\"tool\":\"x\",\"argv\":[\"a\"]}]}");
    static const struct {
        struct recipe_template_query query;
        const char *code;
    } cases[] = {
        {{RECIPE_SERVER, "vllm", "0.9.2", "metrumbench-llm", NULL}, "old"},
        {{RECIPE_SERVER, "vllm", "nightly", "metrumbench-asr", NULL}, "new"},
        {{RECIPE_SERVER, "vllm", "0.12", "metrumbench-llm", "container"}, "box"},
        {{RECIPE_SERVER, "vllm", "0.12", "metrumbench-imagegen", NULL}, "img"},
        {{RECIPE_SERVER, "vllm", "0.12", "metrumbench-imagegen", "container"}, NULL},
        {{RECIPE_SERVER, "sglang", NULL, "metrumbench-llm", NULL}, NULL},
        {{RECIPE_TOOL, NULL, NULL, "x", NULL}, "tool"},
        {{RECIPE_TOOL, NULL, NULL, "y", NULL}, NULL},
    };
    struct recipe_templates templates = {0};
    if (recipe_read_templates(&input, &fixture->arena, &templates, &fixture->err) != AS_OK)
        fail_msg("%s", fixture->err.message);
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        const struct recipe_template *item = recipe_template_for(&templates, &cases[i].query);
        if (cases[i].code)
            assert_string_equal(item->code, cases[i].code);
        else
            assert_null(item);
    }
}

static void test_image_requests(void **state)
{
    (void)state;
    assert_int_equal(recipe_imagegen_requests(1), 4);
    assert_int_equal(recipe_imagegen_requests(8), 32);
    assert_int_equal(recipe_imagegen_requests(0), 4);
    assert_int_equal(recipe_imagegen_requests(INT64_MAX), INT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_all_unresolved),
        cmocka_unit_test(test_dashes),
        cmocka_unit_test(test_secret_value),
        cmocka_unit_test(test_server),
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_digest_and_canonical),
        cmocka_unit_test(test_choice),
        cmocka_unit_test(test_image_requests),
    };
    return cmocka_run_group_tests(tests, fixture_open, fixture_close);
}
