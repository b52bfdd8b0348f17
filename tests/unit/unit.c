/*
 * Runs groups of unit tests: unit [NAME...], all of them without names. Each runs in a process of its own, so
 * that a crash, a leak or a changed signal stays in its group.
 */
#include "tests/unit/unit.h"

#include "lib/files.h"
#include "lib/text.h"
#include "tests/unit/table.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

void unit_document_has(const char *path, const char *begin, const char *end, const char *rows)
{
    struct error e;
    struct text whole = {0};
    char *old = files_read(path, 1 << 20, NULL, &e);
    if (!old) {
        fail_msg("%s", e.text);
        return;
    }
    const char *first = strstr(old, begin), *last = strstr(old, end);
    assert_true(first && last && first < last);
    text_add(&whole, "%.*s%s%s%s", (int)(first - old), old, begin, rows, last);
    if (getenv("UPDATE_DOCS"))
        assert_int_equal(files_write_atomic(path, text_string(&whole), whole.length, &e), 0);
    else
        assert_string_equal(old, text_string(&whole));
    free(old);
    text_free(&whole);
}

static const struct unit_entry *find(const char *name)
{
    for (const struct unit_entry *entry = unit_table; entry->name; entry++)
        if (strcmp(entry->name, name) == 0)
            return entry;
    return NULL;
}

#define TESTS_FAILED 101 /* exit code of a group whose tests say which */

static int run(const struct unit_entry *entry)
{
    int status = 0;
    printf("# %s\n", entry->name);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0)
        exit(entry->run() != 0 ? TESTS_FAILED : 0);
    if (child < 0 || waitpid(child, &status, 0) < 0) {
        perror(entry->name);
        return 1;
    }
    if (WIFSIGNALED(status))
        printf("not ok 0 - %s ended by signal %d\n", entry->name, WTERMSIG(status));
    else if (WEXITSTATUS(status) != 0 && WEXITSTATUS(status) != TESTS_FAILED)
        printf("not ok 0 - %s ended with exit code %d\n", entry->name,
               WEXITSTATUS(status)); /* a sanitizer's */
    return status != 0;
}

int main(int argc, char **argv)
{
    int failed = 0;
    for (int i = 1; i < argc; i++) {
        const struct unit_entry *entry = find(argv[i]);
        if (!entry)
            fprintf(stderr, "%s: there is no group of unit tests with this name\n", argv[i]);
        failed |= !entry || run(entry);
    }
    for (const struct unit_entry *entry = unit_table; argc == 1 && entry->name; entry++)
        failed |= run(entry);
    fflush(NULL);
    _exit(failed); /* leaks are looked for where the groups ran */
}
