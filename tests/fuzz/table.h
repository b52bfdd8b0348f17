/* All fuzzers: tests/fuzz/ROOM/NAME.c has a LLVMFuzzerTestOneInput(), which the build names NAME. The
 * Makefile writes the table. */
#ifndef TESTS_FUZZ_TABLE_H
#define TESTS_FUZZ_TABLE_H

#include <stddef.h>
#include <stdint.h>

typedef int fuzz_function(const uint8_t *data, size_t size);

struct fuzz_entry {
    const char *name;
    fuzz_function *run;
};

extern const struct fuzz_entry fuzz_table[]; /* ends with a NULL name */

#endif
