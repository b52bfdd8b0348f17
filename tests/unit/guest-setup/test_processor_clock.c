/* The counter's rate: measured twice alike, and not at all where the kernel takes its time from elsewhere. */
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

#define SOURCES "sys/devices/system/clocksource/clocksource0"

static char folder[32];

static int make_folder(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/harness-unit.XXXXXX");
    assert_non_null(mkdtemp(folder));
    char *path = files_join(folder, SOURCES);
    assert_int_equal(files_make_folders(path, NULL), 0);
    free(path);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    return files_remove_tree(folder, NULL);
}

static void kernel_takes(const char *source)
{
    char *path = files_join(folder, SOURCES "/current_clocksource");
    assert_int_equal(files_write_atomic(path, source, strlen(source), NULL), 0);
    free(path);
}

static void another_source_has_no_rate(void **state)
{
    (void)state;
    assert_int_equal(processor_clock_khz_of(folder), 0);
    kernel_takes("hpet\n");
    assert_int_equal(processor_clock_khz_of(folder), 0);
}

/* 0: the machine is so busy that no reading was whole. */
static int64_t measured(void)
{
    int64_t khz = 0;
    kernel_takes("tsc\n");
    for (int i = 0; i < 50 && !khz; i++)
        khz = processor_clock_khz_of(folder);
    return khz;
}

static void two_measurements_agree(void **state)
{
    (void)state;
#ifndef __x86_64__
    skip();
#endif
    int64_t first = measured(), second = measured();
    assert_in_range(first, 100000, 10000000);
    assert_in_range(second, first - first / 500, first + first / 500);
}

/* A value as if it had been found since this machine booted. */
static void keep(const char *value)
{
    char line[128], *boot = files_read_line("/proc/sys/kernel/random/boot_id", NULL),
                    *path = files_join(folder, "processor-clock");
    int length = snprintf(line, sizeof line, "%s %s\n", value, boot);
    assert_int_equal(files_write_atomic(path, line, (size_t)length, NULL), 0);
    free(boot);
    free(path);
}

static void what_was_measured_is_kept(void **state)
{
    (void)state;
    keep("1234567");
    assert_int_equal(processor_clock_khz(folder), 1234567);
    static const char *const odd[] = {"", "12x", "-5", "0", "99999999999999999999"};
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        keep(odd[i]);
        int64_t khz = processor_clock_khz(folder);
        assert_true(khz == 0 || khz >= 100000); /* 0: this machine has no rate */
        assert_true(khz == 0 || processor_clock_khz(folder) == khz);
    }
}

static void a_guest_is_told_a_rate_that_is_known(void **state)
{
    (void)state;
    char text[64];
    assert_string_equal(processor_clock_arguments(2596138, text, sizeof text),
                        " tsc=reliable tsc_early_khz=2596138");
    assert_string_equal(processor_clock_arguments(0, text, sizeof text), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(another_source_has_no_rate, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(two_measurements_agree, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(what_was_measured_is_kept, make_folder, remove_folder),
        cmocka_unit_test(a_guest_is_told_a_rate_that_is_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
