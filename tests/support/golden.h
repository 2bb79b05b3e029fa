/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_TESTS_SUPPORT_GOLDEN_H
#define ASSAY_TESTS_SUPPORT_GOLDEN_H

/*
 * Expected outputs kept as files. Tests run in the source folder: paths are "tests/golden/…". With ASSAY_BLESS=1 in
 * the environment the file is written instead of compared; review the difference before committing it.
 */

#include <stddef.h>

/* Fails the test, showing the first line that differs, unless the file at `path` holds exactly these bytes. */
void golden_check(const char *path, const char *actual, size_t len);
/* The whole file, NUL-terminated; free it. Fails the test when it cannot be read. */
char *golden_read(const char *path, size_t *ret_len);

#endif
