/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"
#include "modality/artifact_folder.h"
#include "support/check.h"
#include "support/temp_dir.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void expect_file(const struct temp_dir *dir, const char *name, const char *text)
{
    char path[PATH_MAX];
    struct strbuf found AS_AUTO_STRBUF;
    strbuf_init(&found, 0);
    temp_dir_join(dir, name, path);
    assert_int_equal(file_read(path, &found, NULL), AS_OK);
    assert_string_equal(strbuf_text(&found), text);
}

static void files_are_written_once(void **state)
{
    (void)state;
    TEMP_DIR_AUTO struct temp_dir dir = {""};
    struct artifact_folder folder;
    struct as_error err;
    char path[PATH_MAX];
    temp_dir_make(&dir);
    temp_dir_join(&dir, "a/b", path);
    assert_int_equal(artifact_folder_open(path, false, &folder, &err), AS_OK);
    assert_int_equal(artifact_folder_write(&folder, "x.png", "one", 3, &err), AS_OK);
    expect_file(&dir, "a/b/x.png", "one");
    assert_int_equal(artifact_folder_write(&folder, "x.png", "two", 3, &err), AS_E_EXISTS);
    expect_file(&dir, "a/b/x.png", "one");
    temp_dir_join(&dir, "a/b/.x.png.new", path);
    assert_false(file_exists(path));
    artifact_folder_close(&folder);
    temp_dir_join(&dir, "a/b", path);
    assert_int_equal(artifact_folder_open(path, false, &folder, &err), AS_E_EXISTS);
    assert_int_equal(artifact_folder_open(path, true, &folder, &err), AS_OK);
    assert_int_equal(artifact_folder_write(&folder, "x.png", "two", 3, &err), AS_OK);
    expect_file(&dir, "a/b/x.png", "two");
    artifact_folder_close(&folder);
}

static void names_stay_in_the_folder(void **state)
{
    (void)state;
    static const char *const names[] = {"", ".", "..", "../x", "/x", "a/b", ".hidden"};
    TEMP_DIR_AUTO struct temp_dir dir = {""};
    struct artifact_folder folder;
    struct as_error err;
    char path[PATH_MAX];
    temp_dir_make(&dir);
    temp_dir_join(&dir, "in", path);
    assert_int_equal(artifact_folder_open(path, false, &folder, &err), AS_OK);
    for (size_t i = 0; i < ARRAY_COUNT(names); i++)
        assert_int_equal(artifact_folder_write(&folder, names[i], "x", 1, &err), AS_E_INVALID);
    artifact_folder_close(&folder);
}

/* A link that waits under the name, or under the one it is written by, leads nowhere. */
static void links_are_not_followed(void **state)
{
    (void)state;
    TEMP_DIR_AUTO struct temp_dir dir = {""};
    struct artifact_folder folder;
    struct as_error err;
    char path[PATH_MAX], outside[PATH_MAX];
    temp_dir_make(&dir);
    temp_dir_join(&dir, "in", path);
    temp_dir_join(&dir, "outside", outside);
    assert_int_equal(artifact_folder_open(path, true, &folder, &err), AS_OK);
    temp_dir_join(&dir, "in/x.png", path);
    assert_int_equal(symlink(outside, path), 0);
    temp_dir_join(&dir, "in/.y.png.new", path);
    assert_int_equal(symlink(outside, path), 0);
    assert_int_equal(artifact_folder_write(&folder, "x.png", "one", 3, &err), AS_OK);
    assert_int_equal(artifact_folder_write(&folder, "y.png", "two", 3, &err), AS_OK);
    assert_false(file_exists(outside));
    expect_file(&dir, "in/x.png", "one");
    expect_file(&dir, "in/y.png", "two");
    artifact_folder_close(&folder);
}

static void a_folder_that_went_away_is_an_error(void **state)
{
    (void)state;
    TEMP_DIR_AUTO struct temp_dir dir = {""};
    struct artifact_folder folder;
    struct as_error err;
    char path[PATH_MAX];
    temp_dir_make(&dir);
    temp_dir_join(&dir, "in", path);
    assert_int_equal(artifact_folder_open(path, false, &folder, &err), AS_OK);
    assert_int_equal(rmdir(path), 0);
    assert_int_not_equal(artifact_folder_write(&folder, "x.png", "x", 1, &err), AS_OK);
    assert_non_null(strstr(err.message, "x.png"));
    artifact_folder_close(&folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_are_written_once),
        cmocka_unit_test(names_stay_in_the_folder),
        cmocka_unit_test(links_are_not_followed),
        cmocka_unit_test(a_folder_that_went_away_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
