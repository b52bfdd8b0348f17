/* Traces of Chakra of 2 to 5 ranks: a byte that says how many, and for each the rest's length, of two bytes.
 */
#include "tests/fuzz/harness/fuzz_import.h"
#include "harness/import/chakra.h"
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t ranks = size ? 2 + *data % 4 : 2, at = 1;
    struct chakra chakra = {.traces = calloc(ranks, sizeof *chakra.traces), .ranks = ranks};
    struct import_job job = fuzz_import_job();
    struct import import;
    struct error e;
    int result = chakra.traces ? 0 : -1;
    for (size_t i = 0; result == 0 && i < ranks; i++) {
        size_t length = size > at + 1 ? (size_t)data[at] << 8 | data[at + 1] : 0;
        at += 2;
        length = size < at ? 0 : length < size - at ? length : size - at;
        chakra.traces[i].path = "input";
        /* a copy, whose end is that of its memory */
        unsigned char *copy = malloc(length ? length : 1);
        if (copy && length)
            memcpy(copy, data + at, length);
        result = copy ? chakra_parse(&chakra, &chakra.traces[i], copy, length, &e) : -1;
        free(copy);
        at += length;
    }
    if (result == 0 && chakra_import(&chakra, "input", &job, &import, &e) == 0)
        fuzz_import_check(&import);
    chakra_free(&chakra);
    return 0;
}
