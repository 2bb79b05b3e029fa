/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_TESTS_SUPPORT_TEMP_DIR_H
#define ASSAY_TESTS_SUPPORT_TEMP_DIR_H

/* A folder of one test under $TMPDIR (/tmp), removed with all that is in it. Failures fail the test. */

#include <limits.h>

#define TEMP_DIR_AUTO __attribute__((cleanup(temp_dir_remove)))

struct temp_dir {
    char path[PATH_MAX / 4];
};

void temp_dir_make(struct temp_dir *dir);
/* Removes it; does nothing for one that was never made (zeroed). */
void temp_dir_remove(struct temp_dir *dir);
/* "path/name" in `ret`. */
void temp_dir_join(const struct temp_dir *dir, const char *name, char ret[PATH_MAX]);

#endif
