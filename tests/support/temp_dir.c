/* SPDX-License-Identifier: Apache-2.0 */
#include "support/temp_dir.h"

#include "support/check.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void temp_dir_make(struct temp_dir *dir)
{
    const char *base = getenv("TMPDIR");
    int len = snprintf(dir->path, sizeof dir->path, "%s/assay-test-XXXXXX", base && *base ? base : "/tmp");
    assert_in_range(len, 1, sizeof dir->path - 1);
    if (!mkdtemp(dir->path))
        fail_msg("cannot make %s", dir->path);
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *walk)
{
    (void)st;
    (void)type;
    (void)walk;
    return remove(path);
}

void temp_dir_remove(struct temp_dir *dir)
{
    if (dir->path[0] == '\0')
        return;
    int failed = nftw(dir->path, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    dir->path[0] = '\0';
    assert_int_equal(failed, 0);
}

void temp_dir_join(const struct temp_dir *dir, const char *name, char ret[PATH_MAX])
{
    int len = snprintf(ret, PATH_MAX, "%s/%s", dir->path, name);
    assert_in_range(len, 1, PATH_MAX - 1);
}
