/* What a test of KVM found is kept until the machine boots again; anything else in its file is no finding. */
#include "guest-setup/guest/processor.h"
#include "lib/files.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

static char folder[32], *file;

static int make_folder(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/harness-unit.XXXXXX");
    assert_non_null(mkdtemp(folder));
    file = files_join(folder, "accelerator");
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    free(file);
    return files_remove_tree(folder, NULL);
}

static void what_was_found_is_known(void **state)
{
    (void)state;
    assert_null(accelerator_recall(folder));
    accelerator_keep(folder, "qemu");
    assert_string_equal(accelerator_recall(folder), "qemu");
    accelerator_keep(folder, "kvm");
    assert_string_equal(accelerator_recall(folder), "kvm");
}

static void without_a_folder_nothing_is_kept(void **state)
{
    (void)state;
    accelerator_keep(NULL, "kvm");
    assert_null(accelerator_recall(NULL));
    char *missing = files_join(folder, "missing");
    assert_non_null(missing);
    accelerator_keep(missing, "kvm");
    assert_null(accelerator_recall(missing));
    free(missing);
}

static void other_words_are_no_finding(void **state)
{
    (void)state;
    char *boot = files_read_line("/proc/sys/kernel/random/boot_id", NULL), right[64];
    assert_non_null(boot);
    snprintf(right, sizeof right, "kvm %s\n", boot);
    free(boot);
    assert_int_equal(files_write_atomic(file, right, strlen(right), NULL), 0);
    assert_string_equal(accelerator_recall(folder), "kvm");

    char long_line[400];
    memset(long_line, 'k', sizeof long_line - 1);
    long_line[sizeof long_line - 1] = '\0';
    const char *const wrong[] = {"", "kvm", "kvm 00000000-0000-0000-0000-000000000000\n", "xen 1\n",
                                 long_line};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(files_write_atomic(file, wrong[i], strlen(wrong[i]), NULL), 0);
        assert_null(accelerator_recall(folder));
    }
}

/* Another user could have made it. */
static void a_link_is_not_followed(void **state)
{
    (void)state;
    char *other = files_join(folder, "other");
    accelerator_keep(folder, "kvm");
    assert_int_equal(rename(file, other), 0);
    assert_int_equal(symlink(other, file), 0);
    assert_null(accelerator_recall(folder));
    free(other);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)
int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_was_found_is_known),
        TEST(without_a_folder_nothing_is_kept),
        TEST(other_words_are_no_finding),
        TEST(a_link_is_not_followed),
    };
    return cmocka_run_group_tests_name("accelerator", tests, NULL, NULL);
}
