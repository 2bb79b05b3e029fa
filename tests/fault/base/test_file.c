/* SPDX-License-Identifier: Apache-2.0 */
/* The file helpers on a real folder, and with reads, writes, fsync and rename failing. */
#include "base/file.h"

#include "support/check.h"
#include "support/faults.h"
#include "support/temp_dir.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static struct temp_dir folder;

static int folder_make(void **state)
{
    (void)state;
    temp_dir_make(&folder);
    return 0;
}

static int folder_remove(void **state)
{
    (void)state;
    fault_disarm();
    temp_dir_remove(&folder);
    return 0;
}

static void check_content(const char *path, const char *expected)
{
    AS_AUTO_STRBUF struct strbuf buf;
    struct as_error err;
    strbuf_init(&buf, 0);
    if (file_read(path, &buf, &err) != AS_OK)
        fail_msg("%s", err.message);
    assert_string_equal(strbuf_text(&buf), expected);
}

static size_t entries_of(const char *path)
{
    DIR *dir = opendir(path);
    assert_non_null(dir);
    size_t count = 0;
    for (struct dirent *entry; (entry = readdir(dir));)
        count += entry->d_name[0] != '.';
    closedir(dir);
    return count;
}

static void reads_up_to_the_limit(void **state)
{
    (void)state;
    char path[PATH_MAX];
    temp_dir_join(&folder, "ten", path);
    assert_int_equal(file_write_atomic(path, "0123456789", 10, NULL), AS_OK);
    static const struct {
        size_t max_bytes;
        as_status status;
    } cases[] = {{0, AS_OK}, {11, AS_OK}, {10, AS_OK}, {9, AS_E_LIMIT}, {1, AS_E_LIMIT}};
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        AS_AUTO_STRBUF struct strbuf buf;
        struct as_error err = {0};
        strbuf_init(&buf, cases[i].max_bytes);
        assert_int_equal(file_read(path, &buf, &err), cases[i].status);
        if (cases[i].status == AS_OK)
            assert_string_equal(buf.data, "0123456789");
        else
            assert_non_null(strstr(err.message, path));
    }
    AS_AUTO_STRBUF struct strbuf twice;
    strbuf_init(&twice, 0);
    assert_int_equal(file_read(path, &twice, NULL), AS_OK);
    assert_int_equal(file_read(path, &twice, NULL), AS_OK);
    assert_string_equal(twice.data, "01234567890123456789");
}

static void reads_files_of_unknown_length(void **state)
{
    (void)state;
    AS_AUTO_STRBUF struct strbuf buf;
    strbuf_init(&buf, 0);
    assert_int_equal(file_read("/proc/self/status", &buf, NULL), AS_OK);
    assert_non_null(strstr(buf.data, "Name:"));
    char path[PATH_MAX];
    temp_dir_join(&folder, "empty", path);
    assert_int_equal(file_write_atomic(path, "", 0, NULL), AS_OK);
    check_content(path, "");
    AS_AUTO_STRBUF struct strbuf small;
    strbuf_init(&small, 10);
    assert_int_equal(file_read("/proc/self/status", &small, NULL), AS_E_LIMIT);
}

static void reading_says_what_is_wrong(void **state)
{
    (void)state;
    AS_AUTO_STRBUF struct strbuf buf;
    struct as_error err;
    char path[PATH_MAX];
    strbuf_init(&buf, 0);
    temp_dir_join(&folder, "absent", path);
    assert_int_equal(file_read(path, &buf, &err), AS_E_NOTFOUND);
    assert_non_null(strstr(err.message, path));
    assert_int_equal(file_read(folder.path, &buf, &err), AS_E_IO);
    assert_false(file_exists(path));
    assert_true(file_exists(folder.path));
}

static as_status read_once(void *context)
{
    AS_AUTO_STRBUF struct strbuf buf;
    struct as_error err;
    strbuf_init(&buf, 0);
    return file_read(context, &buf, &err);
}

static void failing_reads_are_told(void **state)
{
    (void)state;
    char path[PATH_MAX];
    temp_dir_join(&folder, "read", path);
    assert_int_equal(file_write_atomic(path, "some text", 9, NULL), AS_OK);
    assert_int_equal(fault_each(FAULT_READ, AS_E_IO, read_once, path), 2);
    assert_int_equal(fault_each(FAULT_EINTR, AS_OK, read_once, path), 2);
    assert_in_range(fault_each(FAULT_ALLOC, AS_E_NOMEM, read_once, path), 1, 4);
}

static as_status replace_once(void *context)
{
    struct as_error err = {0};
    as_status status = file_write_atomic(context, "new content", 11, &err);
    check_content(context, status == AS_OK ? "new content" : "old");
    fault_disarm();
    assert_int_equal(entries_of(folder.path), 1);
    return status == AS_OK ? file_write_atomic(context, "old", 3, NULL) : status;
}

/* Whatever fails, the target is whole: the old or the new, and nothing else lies beside it. */
static void replacing_is_all_or_nothing(void **state)
{
    (void)state;
    char path[PATH_MAX];
    temp_dir_join(&folder, "target", path);
    assert_int_equal(file_write_atomic(path, "old", 3, NULL), AS_OK);
    static const struct {
        enum fault_kind kind;
        as_status status;
    } cases[] = {{FAULT_WRITE, AS_E_IO}, {FAULT_RENAME, AS_E_DENIED}, {FAULT_SHORT, AS_OK}, {FAULT_EINTR, AS_OK}};
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++)
        assert_true(fault_each(cases[i].kind, cases[i].status, replace_once, path) > 0);
    fault_arm(FAULT_SYNC, 1);
    assert_int_equal(replace_once(path), AS_E_IO);
    check_content(path, "old");
}

/* A device as root, a link such as /dev/stdout: what it leads to is written, and it is still there afterwards. */
static void what_is_no_file_is_written_through(void **state)
{
    (void)state;
    char path[PATH_MAX], target[PATH_MAX];
    struct stat found;
    struct as_error err;
    temp_dir_join(&folder, "target", target);
    temp_dir_join(&folder, "link", path);
    assert_int_equal(file_write_atomic(target, "a longer text", 13, NULL), AS_OK);
    assert_int_equal(symlink(target, path), 0);
    assert_int_equal(file_write_atomic(path, "short", 5, NULL), AS_OK);
    check_content(target, "short");
    fault_arm(FAULT_SYNC, 1);
    assert_int_equal(file_write_atomic(path, "another", 7, NULL), AS_E_IO);
    fault_disarm();
    check_content(target, "short");
    assert_int_equal(lstat(path, &found), 0);
    assert_true(S_ISLNK(found.st_mode));

    assert_int_equal(unlink(path), 0);
    assert_int_equal(symlink("/dev/full", path), 0);
    assert_int_equal(file_write_atomic(path, "x", 1, &err), AS_E_IO);
    assert_non_null(strstr(err.message, path));
    assert_int_equal(lstat(path, &found), 0);
    assert_true(S_ISLNK(found.st_mode));

    char fifo[PATH_MAX];
    temp_dir_join(&folder, "fifo", fifo);
    assert_int_equal(mkfifo(fifo, 0600), 0);
    int fd = open(fifo, O_RDWR | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(file_write_atomic(fifo, "piped", 5, NULL), AS_OK);
    char got[8] = "";
    assert_int_equal(read(fd, got, sizeof got), 5);
    assert_memory_equal(got, "piped", 5);
    close(fd);
    assert_int_equal(lstat(fifo, &found), 0);
    assert_true(S_ISFIFO(found.st_mode));
    assert_int_equal(entries_of(folder.path), 3);
}

static void writing_where_nothing_can_be(void **state)
{
    (void)state;
    char path[PATH_MAX];
    struct as_error err;
    temp_dir_join(&folder, "no/such/folder", path);
    assert_int_equal(file_write_atomic(path, "x", 1, &err), AS_E_NOTFOUND);
    assert_int_equal(file_append_line(path, "x", 1, &err), AS_E_NOTFOUND);
    char long_path[PATH_MAX + 10];
    memset(long_path, 'a', sizeof long_path - 1);
    long_path[sizeof long_path - 1] = '\0';
    assert_int_equal(file_write_atomic(long_path, "x", 1, &err), AS_E_INVALID);
    assert_int_equal(file_make_dirs(long_path, &err), AS_E_INVALID);
    assert_int_equal(file_make_dirs("", &err), AS_E_INVALID);
}

static void appends_whole_lines(void **state)
{
    (void)state;
    char path[PATH_MAX];
    temp_dir_join(&folder, "log", path);
    assert_int_equal(file_append_line(path, "one", 3, NULL), AS_OK);
    assert_int_equal(file_append_line(path, "two", 3, NULL), AS_OK);
    check_content(path, "one\ntwo\n");
    assert_int_equal(file_write_atomic(path, "torn", 4, NULL), AS_OK);
    assert_int_equal(file_append_line(path, "three", 5, NULL), AS_OK);
    check_content(path, "torn\nthree\n");
}

static void a_failed_append_leaves_no_part(void **state)
{
    (void)state;
    char path[PATH_MAX];
    struct as_error err;
    temp_dir_join(&folder, "log", path);
    assert_int_equal(file_append_line(path, "one", 3, NULL), AS_OK);
    fault_arm(FAULT_WRITE, 1);
    assert_int_equal(file_append_line(path, "two", 3, &err), AS_E_IO);
    fault_arm(FAULT_SHORT, 1);
    assert_int_equal(file_append_line(path, "a longer line", 13, &err), AS_E_IO);
    check_content(path, "one\n");
}

static as_status append_once(void *context)
{
    return file_append_line(context, "x", 1, NULL);
}

static void signals_do_not_disturb_an_append(void **state)
{
    (void)state;
    char path[PATH_MAX];
    temp_dir_join(&folder, "log", path);
    assert_int_equal(file_write_atomic(path, "torn", 4, NULL), AS_OK);
    assert_int_equal(fault_each(FAULT_EINTR, AS_OK, append_once, path), 2);
    check_content(path, "torn\nx\nx\nx\n");
}

/* Two processes appending at a time: no line is torn or lost. */
static void appending_processes_do_not_mix(void **state)
{
    (void)state;
    char path[PATH_MAX];
    temp_dir_join(&folder, "shared", path);
    enum { LINES = 40, WRITERS = 2 };
    pid_t children[WRITERS];
    for (int w = 0; w < WRITERS; w++) {
        children[w] = fork();
        assert_true(children[w] >= 0);
        if (children[w] > 0)
            continue;
        char line[64];
        memset(line, 'a' + w, sizeof line);
        for (int i = 0; i < LINES; i++) {
            if (file_append_line(path, line, sizeof line, NULL) != AS_OK)
                _exit(1);
        }
        _exit(0);
    }
    for (int w = 0; w < WRITERS; w++) {
        int status = -1;
        assert_int_equal(waitpid(children[w], &status, 0), children[w]);
        assert_int_equal(status, 0);
    }
    AS_AUTO_STRBUF struct strbuf buf;
    strbuf_init(&buf, 0);
    assert_int_equal(file_read(path, &buf, NULL), AS_OK);
    assert_int_equal(buf.len, (size_t)LINES * WRITERS * 65);
    for (size_t at = 0; at < buf.len; at += 65) {
        for (size_t i = 1; i < 64; i++)
            assert_int_equal(buf.data[at + i], buf.data[at]);
        assert_int_equal(buf.data[at + 64], '\n');
    }
}

static void makes_folders(void **state)
{
    (void)state;
    char path[PATH_MAX], file[PATH_MAX];
    struct as_error err;
    temp_dir_join(&folder, "a/b//c/", path);
    assert_int_equal(file_make_dirs(path, &err), AS_OK);
    assert_int_equal(file_make_dirs(path, &err), AS_OK);
    assert_true(file_exists(path));
    temp_dir_join(&folder, "file", file);
    assert_int_equal(file_write_atomic(file, "x", 1, NULL), AS_OK);
    assert_int_equal(file_make_dirs(file, &err), AS_E_EXISTS);
    assert_int_equal(file_make_dirs("/", &err), AS_OK);
}

static void joins_and_parts_paths(void **state)
{
    (void)state;
    char text[16];
    assert_true(path_join(text, sizeof text, "/a", "b"));
    assert_string_equal(text, "/a/b");
    assert_true(path_join(text, sizeof text, "/a/", "b"));
    assert_string_equal(text, "/a/b");
    assert_true(path_join(text, sizeof text, "/a", "/b"));
    assert_string_equal(text, "/b");
    assert_true(path_join(text, sizeof text, "", "b"));
    assert_string_equal(text, "b");
    assert_false(path_join(text, 4, "/a", "b"));
    assert_true(path_dir(text, sizeof text, "/a/b"));
    assert_string_equal(text, "/a");
    assert_true(path_dir(text, sizeof text, "/b"));
    assert_string_equal(text, "/");
    assert_true(path_dir(text, sizeof text, "b"));
    assert_string_equal(text, ".");
    assert_true(path_dir(text, sizeof text, "a/b"));
    assert_string_equal(text, "a");
    assert_false(path_dir(text, 2, "/a/b"));
}

static as_status make_log_twice(void *context)
{
    as_status status = file_append_line(context, "x", 1, NULL);
    return status != AS_OK ? status : file_append_line(context, "y", 1, NULL);
}

static void a_failing_sync_is_told(void **state)
{
    (void)state;
    char path[PATH_MAX];
    temp_dir_join(&folder, "log", path);
    assert_int_equal(fault_each(FAULT_SYNC, AS_E_IO, make_log_twice, path), 2);
}

#define FOLDER_TEST(test) cmocka_unit_test_setup_teardown(test, folder_make, folder_remove)

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(reads_up_to_the_limit),
        FOLDER_TEST(reads_files_of_unknown_length),
        FOLDER_TEST(reading_says_what_is_wrong),
        FOLDER_TEST(failing_reads_are_told),
        FOLDER_TEST(replacing_is_all_or_nothing),
        FOLDER_TEST(what_is_no_file_is_written_through),
        FOLDER_TEST(writing_where_nothing_can_be),
        FOLDER_TEST(appends_whole_lines),
        FOLDER_TEST(a_failed_append_leaves_no_part),
        FOLDER_TEST(signals_do_not_disturb_an_append),
        FOLDER_TEST(appending_processes_do_not_mix),
        FOLDER_TEST(makes_folders),
        FOLDER_TEST(joins_and_parts_paths),
        FOLDER_TEST(a_failing_sync_is_told),
    };
    return cmocka_run_group_tests_name("file", tests, NULL, NULL);
}
