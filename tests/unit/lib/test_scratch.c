/* Files that somebody else may have laid: none is opened, and nothing is written through it. */
#include "tests/unit/unit.h"

#include "lib/files.h"
#include "lib/scratch.h"
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64];

static int in_folder(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/test-scratch.XXXXXX");
    return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static int out_of_folder(void **state)
{
    (void)state;
    return chdir("/") == 0 && files_remove_tree(folder, NULL) == 0 ? 0 : -1;
}

static void refused(const char *path, const char *why)
{
    struct error e = {""};
    assert_int_equal(scratch_open(path, O_RDWR | O_CREAT | O_TRUNC, 0644, &e), -1);
    if (!strstr(e.text, why))
        fail_msg("%s: no \"%s\" in: %s", path, why, e.text);
}

static void only_own_files_are_opened(void **state)
{
    struct error e = {""};
    (void)state;
    int fd = scratch_open("lock", O_RDWR | O_CREAT, 0644, &e);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, "precious", 8), 8);
    close(fd);
    fd = scratch_open("lock", O_RDWR | O_TRUNC, 0, &e); /* nothing is truncated */
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(symlink("lock", "link"), 0);
    refused("link", "it is a link");
    assert_int_equal(mkfifo("fifo", 0600), 0);
    refused("fifo", "it is not a regular file of this user alone");
    assert_int_equal(link("lock", "second"), 0);
    refused("second", "hard links");
    assert_int_equal(unlink("second"), 0);
    if (geteuid() == 0) {
        assert_int_equal(chown("lock", 65534, 65534), 0);
        refused("lock", "it is not a regular file of this user alone");
        assert_int_equal(chown("lock", 0, 0), 0);
    }
    char *text = files_read_line("lock", &e);
    assert_non_null(text);
    assert_string_equal(text, "precious");
    free(text);
}

static void only_own_folders_are_ours(void **state)
{
    (void)state;
    assert_true(scratch_is_own_folder(folder));
    assert_false(scratch_is_own_folder("/tmp/no such folder"));
    assert_int_equal(symlink(folder, "to-folder"), 0);
    assert_false(scratch_is_own_folder("to-folder"));
    assert_int_equal(chmod(folder, 0777), 0);
    assert_false(scratch_is_own_folder(folder));
    assert_int_equal(chmod(folder, 0700), 0);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(only_own_files_are_opened, in_folder, out_of_folder),
        cmocka_unit_test_setup_teardown(only_own_folders_are_ours, in_folder, out_of_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
