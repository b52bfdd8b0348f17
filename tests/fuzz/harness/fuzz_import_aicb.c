/* A workload of AICB, on one switch. */
#include "tests/fuzz/harness/fuzz_import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct reader file;
    struct import_job job = fuzz_import_job();
    struct import import;
    struct error e;
    if (reader_open_text(&file, "input", (const char *)data, size, &e) != 0)
        return 0;
    if (import_aicb(&file, &job, &import, &e) == 0)
        fuzz_import_check(&import);
    reader_close(&file);
    return 0;
}
