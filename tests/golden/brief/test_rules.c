/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rule by rule: rules/full-*.json is a report with every field, rules/rules-*.txt says for each path what it takes, one
 * rule a line, written from the description of the formats and not from our tables. Each rule is tried on the full
 * report: what breaks it is refused with that path, what keeps it is accepted.
 *
 *     PATH required | optional         without the member
 *     PATH object | list | texts | args | any | text | int | number | bool | time | point | concurrency
 *     PATH choice WORD,…
 *     PATH min N | above N | unbounded
 *     PATH closed | dropping | open    members that are not known ("." = the report)
 *     PATH units CATEGORY              of a statistic or series
 */
#include "brief/brief.h"

#include "support/check.h"
#include "support/golden.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATH_BYTES 200
#define VALUES_MAX 8

/* Values as JSON, refused and accepted. */
static const struct {
    const char *kind;
    const char *bad[VALUES_MAX], *good[VALUES_MAX];
} KINDS[] = {
    {"object", {"\"text\"", "[]", "5"}, {NULL}},
    {"list", {"\"text\"", "{}", "5"}, {NULL}},
    {"args", {"\"text\"", "[]", "5"}, {"{}", "{\"a\":null}"}},
    {"any", {NULL}, {"\"text\"", "[]", "5", "{\"a\":[null]}"}},
    {"text", {"5", "true", "1.5", "[]", "{}"}, {"\"\"", "\"text\""}},
    {"int", {"1.5", "\"text\"", "\"1.5\"", "[]", "{}", "\"nan\""}, {"3", "\"3\"", "true"}},
    {"concurrency", {"5.0", "\"-inf\"", "0"}, {"\"inf\"", "7"}},
    {"number", {"\"text\"", "\"\"", "[]", "{}"}, {"3", "3.5", "\" 7 \"", "\"1_000\"", "\"1e-05\"", "true", "\"inf\""}},
    {"bool", {"\"maybe\"", "2", "[]", "\"\""}, {"true", "0", "1", "\"yes\"", "\"off\"", "\"T\"", "\"n\""}},
    {"time",
     {"\"\"", "\"yesterday\"", "[]", "{}", "\"2026-13-01\""},
     {"\"2026-01-01\"", "\"2026-01-01 10:00:00+02:00\"", "1760000000", "\"1760000000\"",
      "\"2026-01-01T00:00:00.1234567Z\""}},
    {"point", {"[]", "{}"}, {"\"text\"", "5", "1.5", "true"}},
    {"unbounded", {NULL}, {"-1000000"}},
};

static const struct {
    const char *unit, *category;
} UNITS[] = {{"count", "quantity"},
             {"pixels", "quantity"},
             {"percent", "portion"},
             {"fraction", "portion"},
             {"ratio", "ratio"},
             {"ms", "time"},
             {"s", "time"},
             {"bytes", "memory"},
             {"MB", "memory"},
             {"GB", "memory"},
             {"TB", "memory"},
             {"MiB", "memory"},
             {"GiB", "memory"},
             {"TiB", "memory"},
             {"Mbit/s", "bandwidth"},
             {"Gbit/s", "bandwidth"},
             {"Tbit/s", "bandwidth"},
             {"MB/s", "bandwidth"},
             {"GB/s", "bandwidth"},
             {"TB/s", "bandwidth"},
             {"ms/token", "generation_latency"},
             {"s/token", "generation_latency"},
             {"tokens/s", "generation_throughput"},
             {"queries/s", "request_throughput"},
             {"images/s", "media_throughput"},
             {"videos/s", "media_throughput"},
             {"audios/s", "media_throughput"},
             {"Watts", "power"},
             {"GiB/s", "none"}};

/* One rule under test. */
struct rule {
    char path[PATH_BYTES], kind[20], argument[120];
};

static char *full; /* the text of the report with every field */
static size_t full_len;

/* Sets `path` to a value as JSON (NULL: removes it) in the full report; "" when it is accepted, else where it is
 * refused. */
static void outcome(const char *path, const char *json, struct brief_report *report, char ret_path[PATH_BYTES])
{
    struct tree tree;
    struct value *value = NULL;
    tree_init(&tree, 0);
    brief_init(report);
    assert_int_equal(brief_read_text(report, full, full_len, NULL), AS_OK);
    if (json)
        assert_int_equal(read_text(json, strlen(json), &tree, &value, NULL), AS_OK);
    as_status status = brief_set(report, path, value, NULL);
    (void)snprintf(ret_path, PATH_BYTES, "%s", status == AS_OK ? "" : report->problems.first->path);
    tree_done(&tree);
}

static void expect(const struct rule *rule, const char *path, const char *json, bool is_good)
{
    struct brief_report report;
    char refused_at[PATH_BYTES];
    outcome(path, json, &report, refused_at);
    if (strcmp(refused_at, is_good ? "" : path) != 0)
        fail_msg("%s %s %s: %s is %s%s", rule->path, rule->kind, rule->argument, json ? json : "nothing",
                 refused_at[0] ? "refused at " : "accepted", refused_at);
    brief_done(&report);
}

static void check_unknown_member(const struct rule *rule)
{
    struct brief_report report;
    char refused_at[PATH_BYTES], path[PATH_BYTES];
    (void)snprintf(path, sizeof path, "%.150s%sunknown_member", rule->path, rule->path[0] ? "." : "");
    if (strcmp(rule->kind, "closed") == 0) {
        expect(rule, path, "1", false);
        return;
    }
    outcome(path, "1", &report, refused_at);
    assert_string_equal(refused_at, "");
    assert_int_equal(value_at(report.root, path) != NULL, strcmp(rule->kind, "open") == 0);
    brief_done(&report);
}

static void check_choice(const struct rule *rule)
{
    char words[sizeof rule->argument], json[140];
    (void)snprintf(words, sizeof words, "%s", rule->argument);
    for (char *rest = words, *word; (word = strsep(&rest, ",")) != NULL;) {
        (void)snprintf(json, sizeof json, "\"%s\"", word);
        expect(rule, rule->path, json, true);
        json[1] = (char)(json[1] - 'a' + 'A');
        expect(rule, rule->path, json, false);
    }
    expect(rule, rule->path, "\"other word\"", false);
    expect(rule, rule->path, "5", false);
}

static void check_bound(const struct rule *rule)
{
    char json[40];
    int bound = (int)strtol(rule->argument, NULL, 10);
    bool is_above = strcmp(rule->kind, "above") == 0;
    (void)snprintf(json, sizeof json, "%d", bound);
    expect(rule, rule->path, json, !is_above);
    (void)snprintf(json, sizeof json, "%d", bound - 1);
    expect(rule, rule->path, json, false);
    (void)snprintf(json, sizeof json, "%d", bound + 1);
    expect(rule, rule->path, json, true);
    expect(rule, rule->path, "\"nan\"", false);
}

static void check_units(const struct rule *rule)
{
    char path[PATH_BYTES], json[40];
    bool is_any = strcmp(rule->argument, "any") == 0, is_known = is_any;
    (void)snprintf(path, sizeof path, "%.180s.units", rule->path);
    for (size_t i = 0; i < ARRAY_COUNT(UNITS); i++) {
        bool is_good = is_any || strcmp(UNITS[i].category, rule->argument) == 0;
        (void)snprintf(json, sizeof json, "\"%s\"", UNITS[i].unit);
        expect(rule, path, json, is_good);
        is_known = is_known || is_good;
    }
    assert_true(is_known);
    expect(rule, path, "\"furlongs\"", false);
    expect(rule, path, "\"Count\"", false);
}

static void check_texts(const struct rule *rule)
{
    char path[PATH_BYTES];
    (void)snprintf(path, sizeof path, "%.180s.0", rule->path);
    expect(rule, path, "5", false);
    expect(rule, path, "null", false);
    expect(rule, path, "\"text\"", true);
    expect(rule, rule->path, "[]", true);
}

static bool check_kind(const struct rule *rule)
{
    for (size_t i = 0; i < ARRAY_COUNT(KINDS); i++) {
        if (strcmp(KINDS[i].kind, rule->kind) != 0)
            continue;
        for (size_t j = 0; j < VALUES_MAX && KINDS[i].bad[j]; j++)
            expect(rule, rule->path, KINDS[i].bad[j], false);
        for (size_t j = 0; j < VALUES_MAX && KINDS[i].good[j]; j++)
            expect(rule, rule->path, KINDS[i].good[j], true);
        return true;
    }
    return false;
}

static void check_rule(const struct rule *rule)
{
    const char *kind = rule->kind;
    if (strcmp(kind, "required") == 0 || strcmp(kind, "optional") == 0) {
        bool is_optional = kind[0] == 'o';
        expect(rule, rule->path, NULL, is_optional);
        expect(rule, rule->path, "null", is_optional);
    } else if (strcmp(kind, "closed") == 0 || strcmp(kind, "dropping") == 0 || strcmp(kind, "open") == 0) {
        check_unknown_member(rule);
    } else if (strcmp(kind, "choice") == 0) {
        check_choice(rule);
    } else if (strcmp(kind, "min") == 0 || strcmp(kind, "above") == 0) {
        check_bound(rule);
    } else if (strcmp(kind, "units") == 0) {
        check_units(rule);
    } else if (strcmp(kind, "texts") == 0) {
        check_texts(rule);
    } else if (!check_kind(rule)) {
        fail_msg("no such rule: %s", kind);
    }
}

static size_t check_rules(const char *report_path, const char *rules_path)
{
    size_t len, count = 0;
    full = golden_read(report_path, &full_len);
    char *rules = golden_read(rules_path, &len);
    for (char *rest = rules, *line; (line = strsep(&rest, "\n")) != NULL; count++) {
        struct rule rule = {.argument = ""};
        if (line[0] == '\0')
            continue;
        assert_true(sscanf(line, "%199s %19s %119s", rule.path, rule.kind, rule.argument) >= 2);
        if (strcmp(rule.path, ".") == 0)
            rule.path[0] = '\0';
        check_rule(&rule);
    }
    free(rules);
    free(full);
    return count;
}

static void test_rules_0_1(void **state)
{
    (void)state;
    assert_true(check_rules("tests/golden/brief/rules/full-0.1.json", "tests/golden/brief/rules/rules-0.1.txt") > 250);
}

static void test_rules_0_2(void **state)
{
    (void)state;
    assert_true(check_rules("tests/golden/brief/rules/full-0.2.json", "tests/golden/brief/rules/rules-0.2.txt") > 1000);
}

/* The full report holds every field of the model: a new field needs rules. */
static void count_missing(const struct model_object *object, const struct value *value, const char *path,
                          size_t *missing)
{
    for (size_t i = 0; i < object->count; i++) {
        const struct model_field *field = &object->fields[i];
        const struct value *member = value_get(value, field->name);
        char below[2 * PATH_BYTES];
        (void)snprintf(below, sizeof below, "%.200s.%.60s", path, field->name);
        /* Statistics are given whole once for each of their kinds. */
        if (!member && strcmp(object->name, "Statistics") != 0 && !strstr(object->name, "Point") &&
            strcmp(object->name, "AcceleratorMetrics") != 0) {
            print_message("%s is missing\n", below);
            (*missing)++;
        }
        const struct value *item = field->is_list && member ? member->first : member;
        if (item && field->type == FIELD_OBJECT)
            count_missing(field->object, item, below, missing);
    }
}

static void test_every_field_is_there(void **state)
{
    (void)state;
    static const char *const paths[] = {"tests/golden/brief/rules/full-0.1.json",
                                        "tests/golden/brief/rules/full-0.2.json"};
    size_t missing = 0;
    for (size_t i = 0; i < ARRAY_COUNT(paths); i++) {
        struct brief_report report;
        struct as_error err = {0};
        brief_init(&report);
        if (brief_read_path(&report, paths[i], &err) != AS_OK)
            fail_msg("%s", err.message);
        count_missing(report.model->top, report.root, "", &missing);
        brief_done(&report);
    }
    assert_int_equal(missing, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_field_is_there), cmocka_unit_test(test_rules_0_1),
                                       cmocka_unit_test(test_rules_0_2)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
