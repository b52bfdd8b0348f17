/* A folder that the tests of a group share: cmocka_run_group_tests(tests, make_folder, remove_folder). */
#ifndef TESTS_GROUP_FOLDER_H
#define TESTS_GROUP_FOLDER_H

#include "lib/files.h"
#include "tests/unit/unit.h"

static char folder[] = "/tmp/harness-unit.XXXXXX";

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    return files_remove_tree(folder, NULL);
}

#endif
