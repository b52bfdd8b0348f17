/* A schedule of GOAL, on one switch. */
#include "tests/fuzz/harness/fuzz_import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct reader file;
    struct import import;
    struct error e;
    if (reader_open_text(&file, "input", (const char *)data, size, &e) != 0)
        return 0;
    if (import_goal(&file, &import, &e) == 0) {
        import.rate_bps = 100000000000;
        import.delay_ps = 1000000;
        import_star(&import, &e);
        fuzz_import_check(&import);
    }
    reader_close(&file);
    return 0;
}
