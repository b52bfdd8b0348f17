/* A schedule of GOAL, on one switch. */
#include "tests/fuzz/harness/fuzz_import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_import_file(data, size, import_goal, false);
    return 0;
}
