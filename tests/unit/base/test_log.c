/* SPDX-License-Identifier: Apache-2.0 */
#include "base/log.h"

#include "support/check.h"

#include <string.h>
#include <unistd.h>

struct capture {
    int saved;
    int read_end;
};

static void capture_begin(struct capture *capture)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    capture->saved = dup(STDERR_FILENO);
    assert_true(capture->saved >= 0);
    assert_true(dup2(ends[1], STDERR_FILENO) >= 0);
    close(ends[1]);
    capture->read_end = ends[0];
}

/* What was written to stderr since, at most size - 1 bytes. */
static void capture_end(struct capture *capture, char *ret, size_t size)
{
    assert_true(dup2(capture->saved, STDERR_FILENO) >= 0);
    close(capture->saved);
    size_t len = 0;
    ssize_t got;
    while (len < size - 1 && (got = read(capture->read_end, ret + len, size - 1 - len)) > 0)
        len += (size_t)got;
    ret[len] = '\0';
    close(capture->read_end);
}

static void prints_its_level_and_those_above(void **state)
{
    (void)state;
    struct capture capture;
    char text[1024];
    capture_begin(&capture);
    log_error("e%d", 1);
    log_warning("w");
    log_info("i");
    log_debug("d");
    log_set_level(LOG_LEVEL_DEBUG);
    log_set_program("assay-test");
    log_debug("d%s", "2");
    log_set_level(LOG_LEVEL_ERROR);
    log_warning("none");
    log_error("last");
    log_set_program("assay");
    log_set_level(LOG_LEVEL_INFO);
    capture_end(&capture, text, sizeof text);
    assert_string_equal(text, "assay: error: e1\n"
                              "assay: warning: w\n"
                              "assay: i\n"
                              "assay-test: debug: d2\n"
                              "assay-test: error: last\n");
}

static void long_lines_are_cut_but_end(void **state)
{
    (void)state;
    struct capture capture;
    static char text[10000], words[6000];
    memset(words, 'x', sizeof words - 1);
    capture_begin(&capture);
    log_info("%s", words);
    log_info("next");
    capture_end(&capture, text, sizeof text);
    const char *newline = strchr(text, '\n');
    assert_non_null(newline);
    assert_in_range(newline - text, 4000, 4096);
    assert_string_equal(newline, "\nassay: next\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prints_its_level_and_those_above),
        cmocka_unit_test(long_lines_are_cut_but_end),
    };
    return cmocka_run_group_tests_name("log", tests, NULL, NULL);
}
