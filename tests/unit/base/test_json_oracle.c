/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Generated documents and the lists of valid and invalid texts, read by us and by jansson: both must say the same.
 * jansson is opened at run time: it has a json_string too, so no program may be linked to both.
 */
#include "base/json_write.h"
#include "base/rng.h"

#include "json_cases.h"
#include "support/check.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#define DOCUMENTS 400
#define DEPTH_MAX 6
/* Flags of jansson 2.14. */
#define LOAD_FLAGS ((size_t)0x4 | 0x10)
#define DUMP_FLAGS ((size_t)0x20 | 0x200)
#define DUMP_ASCII ((size_t)0x40)

struct oracle {
    void *library;
    void *(*load)(const char *text, size_t len, size_t flags, void *error);
    char *(*dump)(const void *value, size_t flags);
    void (*free_value)(void *value);
};

static void generate_string(struct rng *rng, char *text, size_t *ret_len)
{
    static const char *const pieces[] = {"a",
                                         "0",
                                         " ",
                                         "\"",
                                         "\\",
                                         "/",
                                         "\n",
                                         "\t",
                                         "\x01",
                                         "\x7F",
                                         "\xC3\xA9",
                                         "\xE2\x82\xAC",
                                         "\xF0\x9F\x98\x80",
                                         "token",
                                         "a longer piece of plain text"};
    *ret_len = 0;
    for (uint64_t count = rng_below(rng, 8); count > 0; count--) {
        const char *piece = pieces[rng_below(rng, ARRAY_COUNT(pieces))];
        memcpy(text + *ret_len, piece, strlen(piece));
        *ret_len += strlen(piece);
    }
}

static void generate(struct rng *rng, struct json_writer *writer, int depth)
{
    char text[256];
    size_t len;
    uint64_t kinds = depth < DEPTH_MAX ? 8 : 6;
    uint64_t kind = depth == 0 ? 6 + rng_below(rng, 2) : rng_below(rng, kinds);
    switch (kind) {
    case 0:
        json_put_null(writer);
        return;
    case 1:
        json_put_bool(writer, rng_below(rng, 2) == 1);
        return;
    case 2:
        json_put_int(writer, (int64_t)(rng_u64(rng) >> rng_below(rng, 64)) * (rng_below(rng, 2) ? 1 : -1));
        return;
    case 3:
        json_put_double(writer, rng_normal(rng) * (rng_below(rng, 2) ? 1e-9 : 1e9) + 0.5);
        return;
    case 4:
    case 5:
        generate_string(rng, text, &len);
        json_put_stringn(writer, text, len);
        return;
    case 6:
        json_open_array(writer);
        for (uint64_t count = rng_below(rng, 6); count > 0; count--)
            generate(rng, writer, depth + 1);
        json_close_array(writer);
        return;
    default:
        json_open_object(writer);
        for (uint64_t count = rng_below(rng, 6); count > 0; count--) {
            generate_string(rng, text, &len);
            json_keyn(writer, text, len);
            generate(rng, writer, depth + 1);
        }
        json_close_object(writer);
    }
}

static void oracle_symbol(void *library, const char *name, void *ret, size_t size)
{
    void *symbol = dlsym(library, name);
    assert_non_null(symbol);
    memcpy(ret, &symbol, size);
}

static int oracle_open(void **state)
{
    static struct oracle oracle;
    oracle.library = dlopen("libjansson.so.4", RTLD_NOW | RTLD_LOCAL);
    if (!oracle.library) {
        print_message("libjansson.so.4 is not there: nothing to compare with\n");
        *state = NULL;
        return 0;
    }
    oracle_symbol(oracle.library, "json_loadb", &oracle.load, sizeof oracle.load);
    oracle_symbol(oracle.library, "json_dumps", &oracle.dump, sizeof oracle.dump);
    oracle_symbol(oracle.library, "json_delete", &oracle.free_value, sizeof oracle.free_value);
    *state = &oracle;
    return 0;
}

static int oracle_close(void **state)
{
    const struct oracle *oracle = *state;
    return oracle ? dlclose(oracle->library) : 0;
}

static void compare_numbers(const struct json_value *one, const struct json_value *two)
{
    int64_t whole_one = 0, whole_two = 0;
    double real_one = 0, real_two = 0;
    assert_true(json_double(one, &real_one));
    assert_true(json_double(two, &real_two));
    assert_true(real_one == real_two); /* jansson reads -0 as 0 */
    if (strpbrk(one->text, ".eE"))
        return;
    assert_int_equal(json_int64(one, &whole_one), json_int64(two, &whole_two));
    assert_true(whole_one == whole_two);
}

/* Of equal keys jansson keeps one, with the last value: members that are not the last of their key are passed over. */
static const struct json_value *next_effective(const struct json_value *object, const struct json_value *member)
{
    while (object->type == JSON_OBJECT && member && json_get(object, member->key) != member)
        member = member->next;
    return member;
}

static void compare(const struct json_value *one, const struct json_value *two);

static void compare_members(const struct json_value *one, const struct json_value *two)
{
    const struct json_value *left = next_effective(one, one->first);
    size_t count = 0;
    for (; left; left = next_effective(one, left->next), count++)
        compare(left, json_get(two, left->key));
    assert_int_equal(count, two->len);
}

static void compare_items(const struct json_value *one, const struct json_value *two)
{
    assert_int_equal(one->len, two->len);
    const struct json_value *right = two->first;
    for (const struct json_value *left = one->first; left; left = left->next, right = right->next)
        compare(left, right);
    assert_null(right);
}

static void compare(const struct json_value *one, const struct json_value *two)
{
    assert_non_null(two);
    assert_int_equal(one->type, two->type);
    switch (one->type) {
    case JSON_NULL:
        return;
    case JSON_BOOL:
        assert_int_equal(one->boolean, two->boolean);
        return;
    case JSON_NUMBER:
        compare_numbers(one, two);
        return;
    case JSON_STRING:
        assert_int_equal(one->len, two->len);
        assert_memory_equal(one->text, two->text, one->len);
        return;
    case JSON_ARRAY:
        compare_items(one, two);
        return;
    case JSON_OBJECT:
        compare_members(one, two);
    }
}

static const struct json_value *parse(struct arena *arena, const char *text, size_t len)
{
    const struct json_value *root = NULL;
    struct as_error err;
    if (json_parse(text, len, NULL, arena, &root, &err) != AS_OK)
        fail_msg("%s\n%s", err.message, text);
    return root;
}

/* What jansson read, written by jansson and read by us, is what we read. */
static void check_same(const struct oracle *oracle, const char *text, size_t len)
{
    char error[1024];
    void *theirs = oracle->load(text, len, LOAD_FLAGS, error);
    if (!theirs)
        fail_msg("jansson refuses %s", text);
    char *dumps[] = {oracle->dump(theirs, DUMP_FLAGS), oracle->dump(theirs, DUMP_FLAGS | DUMP_ASCII)};
    struct arena arena;
    arena_init(&arena, 0, 0);
    const struct json_value *ours = parse(&arena, text, len);
    for (size_t i = 0; i < ARRAY_COUNT(dumps); i++) {
        compare(ours, parse(&arena, dumps[i], strlen(dumps[i])));
        free(dumps[i]);
    }
    arena_done(&arena);
    oracle->free_value(theirs);
}

static void generated_documents(void **state)
{
    const struct oracle *oracle = *state;
    if (!oracle)
        skip();
    struct rng rng;
    rng_init(&rng, 20, 0);
    for (int i = 0; i < DOCUMENTS; i++) {
        AS_AUTO_STRBUF struct strbuf out;
        strbuf_init(&out, 0);
        struct json_writer writer;
        json_writer_init(&writer, &out, (int)rng_below(&rng, 3));
        generate(&rng, &writer, 0);
        assert_int_equal(json_writer_status(&writer), AS_OK);
        check_same(oracle, out.data, out.len);
    }
}

static void listed_texts(void **state)
{
    const struct oracle *oracle = *state;
    if (!oracle)
        skip();
    char error[1024];
    for (size_t i = 0; i < ARRAY_COUNT(JSON_VALID); i++) {
        void *theirs = oracle->load(JSON_VALID[i].text, JSON_VALID[i].len, LOAD_FLAGS, error);
        /* jansson refuses whole numbers beyond 64 bits; nothing else in the list. */
        bool is_beyond = strncmp(JSON_VALID[i].text, "9223372036854775808", 19) == 0;
        assert_int_equal(theirs != NULL, !is_beyond);
        if (!theirs)
            continue;
        oracle->free_value(theirs);
        check_same(oracle, JSON_VALID[i].text, JSON_VALID[i].len);
    }
    for (size_t i = 0; i < ARRAY_COUNT(JSON_INVALID); i++) {
        if (oracle->load(JSON_INVALID[i].text, JSON_INVALID[i].len, LOAD_FLAGS, error))
            fail_msg("jansson accepts %s", JSON_INVALID[i].text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(generated_documents),
        cmocka_unit_test(listed_texts),
    };
    return cmocka_run_group_tests_name("json_oracle", tests, oracle_open, oracle_close);
}
