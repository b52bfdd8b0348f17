/* clang's libFuzzer over one of the fuzzers: fuzz NAME [OPTION...] [FOLDER|FILE...]. Processes that libFuzzer
 * starts itself have the name in FUZZER. */
#include "tests/fuzz/table.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* libFuzzer's functions take no argument of ours */
static fuzz_function *chosen;

static fuzz_function *find(const char *name)
{
    const struct fuzz_entry *entry = fuzz_table;
    while (entry->name && (!name || strcmp(entry->name, name) != 0))
        entry++;
    return entry->run;
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    chosen = *argc > 1 ? find((*argv)[1]) : NULL;
    if (chosen) {
        setenv("FUZZER", (*argv)[1], 1);
        (*argv)[1] = (*argv)[0]; /* libFuzzer does not see the name */
        *argv += 1;
        *argc -= 1;
    } else {
        chosen = find(getenv("FUZZER"));
    }
    if (!chosen) {
        fprintf(stderr, "fuzz: needs the name of a fuzzer, a file of tests/fuzz/*/ without its .c\n");
        exit(2);
    }
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return chosen(data, size);
}
