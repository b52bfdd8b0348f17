/* A connection matrix of htsim, on a fat tree where it has as many nodes. */
#include "tests/fuzz/harness/fuzz_import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_import_file(data, size, import_htsim, true);
    return 0;
}
