/* SPDX-License-Identifier: Apache-2.0 */
/* Test vectors of FIPS 180-4 and RFC 9562, and configuration hashes that Python's json and hashlib give. */
#include "brief/hash.h"
#include "brief/read.h"
#include "brief/write.h"

#include "support/check.h"

#include <string.h>

static void test_sha(void **state)
{
    (void)state;
    static const char long_text[] = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
    static const uint8_t sha1_abc[] = {0xa9, 0x99, 0x3e, 0x36, 0x47, 0x06, 0x81, 0x6a, 0xba, 0x3e,
                                       0x25, 0x71, 0x78, 0x50, 0xc2, 0x6c, 0x9c, 0xd0, 0xd8, 0x9d};
    char hex[SHA256_HEX_BYTES], many[1000];
    uint8_t sha1[20];
    sha256_hex("", 0, hex);
    assert_string_equal(hex, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    sha256_hex("abc", 3, hex);
    assert_string_equal(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    sha256_hex(long_text, strlen(long_text), hex);
    assert_string_equal(hex, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    memset(many, 'a', sizeof many);
    sha256_hex(many, sizeof many, hex);
    assert_string_equal(hex, "41edece42d63e8d9bf515a9ba6932e1c20cbc9f5a5d134645adb5db1b9737ea3");
    sha1_digest("abc", 3, sha1);
    assert_memory_equal(sha1, sha1_abc, sizeof sha1);
}

static void test_uuids(void **state)
{
    (void)state;
    char a[UUID_TEXT_BYTES], b[UUID_TEXT_BYTES];
    uuid5_text(UUID_DNS, "www.example.com", 15, a);
    assert_string_equal(a, "2ed6657d-e927-568b-95e1-2665a8aea6a2");
    uuid5_text(UUID_URL, "inference-perf-conc32-1786024743-hipkpq", 39, a);
    assert_string_equal(a, "ed0f1afe-001b-5483-b582-b747527d3da9");
    assert_int_equal(uuid4_text(a), AS_OK);
    assert_int_equal(uuid4_text(b), AS_OK);
    assert_int_equal(a[14], '4');
    assert_string_not_equal(a, b);
}

static void check_canonical(const char *json, const char *expected)
{
    struct tree tree;
    struct value *value;
    struct strbuf text AS_AUTO_STRBUF;
    tree_init(&tree, 0);
    strbuf_init(&text, 0);
    assert_int_equal(read_text(json, strlen(json), &tree, &value, NULL), AS_OK);
    write_canonical(value, &text);
    assert_string_equal(text.data, expected);
    tree_done(&tree);
}

static void test_canonical(void **state)
{
    (void)state;
    char hex[SHA256_HEX_BYTES];
    check_canonical("{}", "{}");
    check_canonical("{\"b\": [1, 2.0, null], \"a\": {\"z\": true, \"Z\": 1e-7}}",
                    "{\"a\": {\"Z\": 1e-07, \"z\": true}, \"b\": [1, 2.0, null]}");
    check_canonical("{\"\xC3\xA9\": \"\xF0\x9F\x98\x80\\n\\u0007\"}", "{\"\\u00e9\": \"\\ud83d\\ude00\\n\\u0007\"}");
    check_canonical("[99999999999999999999, -0.0, 1e16]", "[99999999999999999999, -0.0, 1e+16]");
    sha256_hex("{}", 2, hex);
    assert_string_equal(hex, "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_sha), cmocka_unit_test(test_uuids),
                                       cmocka_unit_test(test_canonical)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
