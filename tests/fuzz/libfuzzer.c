/* clang's libFuzzer over the fuzzer whose name the program was started by: a link to it is named fuzz_lab, and so on. */
#include "tests/fuzz/table.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* libFuzzer's functions take no argument of ours */
static fuzz_function *chosen;

/* NOLINTNEXTLINE(readability-non-const-parameter): libFuzzer says what it takes */
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    const char *slash = strrchr(**argv, '/'), *name = slash ? slash + 1 : **argv;
    (void)argc;
    for (const struct fuzz_entry *entry = fuzz_table; entry->name; entry++)
        if (strcmp(entry->name, name) == 0)
            chosen = entry->run;
    if (!chosen) {
        fprintf(stderr, "%s: there is no fuzzer with this name\n", name);
        exit(2);
    }
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return chosen(data, size);
}
