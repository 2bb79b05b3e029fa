/* SPDX-License-Identifier: Apache-2.0 */
#include "base/rng.h"
#include "http/form.h"
#include "modality/multipart.h"
#include "support/check.h"

#include <string.h>

static void test_the_bytes(void **state)
{
    (void)state;
    AS_AUTO_STRBUF struct strbuf out;
    strbuf_init(&out, 0);
    multipart_add_field(&out, "B", "model", "whisper", 7);
    multipart_add_file(&out, "B", "file", "a\"b\r\n\xC3\xA9.wav", "audio/wav");
    strbuf_add(&out, "RIFF\0\r\n--", 9);
    multipart_add_end(&out, "B");
    static const char want[] =
        "--B\r\nContent-Disposition: form-data; name=\"model\"\r\n\r\nwhisper\r\n"
        "--B\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a%22b%0D%0A\xC3\xA9.wav\"\r\n"
        "Content-Type: audio/wav\r\n\r\nRIFF\0\r\n--\r\n--B--\r\n";
    assert_int_equal(out.len, sizeof want - 1);
    assert_memory_equal(out.data, want, out.len);
}

static void test_boundaries_differ(void **state)
{
    (void)state;
    char one[MULTIPART_BOUNDARY_BYTES], again[MULTIPART_BOUNDARY_BYTES], other[MULTIPART_BOUNDARY_BYTES],
        seeded[MULTIPART_BOUNDARY_BYTES];
    multipart_boundary(1, 0, one);
    multipart_boundary(1, 0, again);
    multipart_boundary(1, 1, other);
    multipart_boundary(2, 0, seeded);
    assert_string_equal(one, again);
    assert_string_not_equal(one, other);
    assert_string_not_equal(one, seeded);
    assert_int_equal(strlen(one), MULTIPART_BOUNDARY_BYTES - 2);
    assert_int_equal(strspn(one, "assay-0123456789abcdef"), strlen(one));
    assert_false(multipart_is_apart(one, one, strlen(one)));
    assert_true(multipart_is_apart(one, one, strlen(one) - 1));
    assert_true(multipart_is_apart(one, "", 0));
}

/* Random parts, of bytes that like to look like delimiters, come back as they went in. */
static void test_round_trip(void **state)
{
    (void)state;
    struct rng rng;
    int rounds = 0;
    rng_init(&rng, 7, 1);
    for (int round = 0; round < 300; round++) {
        AS_AUTO_STRBUF struct strbuf out, data;
        strbuf_init(&out, 0);
        strbuf_init(&data, 0);
        char boundary[MULTIPART_BOUNDARY_BYTES];
        multipart_boundary((uint64_t)round, 0, boundary);
        size_t len = (size_t)rng_below(&rng, 300);
        for (size_t i = 0; i < len; i++) {
            if (rng_below(&rng, 12) == 0)
                strbuf_add(&data, boundary, (size_t)rng_below(&rng, strlen(boundary)));
            strbuf_addc(&data, "\r\n-a\0z"[rng_below(&rng, 6)]);
        }
        if (!multipart_is_apart(boundary, strbuf_text(&data), data.len))
            continue; /* the pieces made a boundary */
        rounds++;
        multipart_add_field(&out, boundary, "f", strbuf_text(&data), data.len);
        multipart_add_file(&out, boundary, "file", "n", "audio/ogg");
        strbuf_add(&out, strbuf_text(&data), data.len);
        multipart_add_end(&out, boundary);
        struct http_form form;
        assert_int_equal(http_form_read((struct http_text){boundary, strlen(boundary)},
                                        (struct http_text){out.data, out.len}, &form, NULL),
                         AS_OK);
        assert_int_equal(form.count, 2);
        for (size_t i = 0; i < 2; i++) {
            assert_int_equal(form.parts[i].data.len, data.len);
            assert_memory_equal(form.parts[i].data.at, strbuf_text(&data), data.len);
        }
    }
    assert_true(rounds > 250);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_the_bytes), cmocka_unit_test(test_boundaries_differ),
                                       cmocka_unit_test(test_round_trip)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
