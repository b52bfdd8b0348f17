/* Without memory a controller ends with one sentence and the status of a lab that failed. */
#include "tests/unit/unit.h"

#include "lib/program/program.h"
#include "lib/xalloc.h"
#include <sys/wait.h>
#include <unistd.h>

static void memory_is_there_or_the_program_ends(void **state)
{
    (void)state;
    char *text = xasprintf("%d of %s", 3, "four"), *part = xstrndup(text, 4);
    assert_string_equal(text, "3 of four");
    assert_string_equal(part, "3 of");
    int *numbers = xcalloc(0, sizeof *numbers);
    numbers = xreallocarray(numbers, 5, sizeof *numbers);
    numbers[4] = 1;
    free(numbers);
    free(part);
    free(text);
#if !SANITIZED /* whose malloc ends the program itself */
    int both[2], status;
    assert_int_equal(pipe(both), 0);
    pid_t child = fork();
    if (child == 0) {
        dup2(both[1], STDERR_FILENO);
        free(xreallocarray(NULL, SIZE_MAX / 2, 4));
        _exit(0);
    }
    char said[200] = "";
    close(both[1]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(read(both[0], said, sizeof said - 1) > 0);
    close(both[0]);
    assert_int_equal(WEXITSTATUS(status), EXIT_LAB);
    assert_non_null(strstr(said, "out of memory: "));
#endif
}

int main(void)
{
    static const struct CMUnitTest tests[] = {cmocka_unit_test(memory_is_there_or_the_program_ends)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
