/* The HPCC simulator's configuration, a topology, flows and a trace, with a line of "=" between them. Files
 * that the configuration names are not looked for: all are there. */
#include "tests/fuzz/harness/fuzz_import.h"
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[4] = {"config.txt", "topology.txt", "flow.txt", "trace.txt"};
    struct reader files[4] = {0};
    struct import import;
    struct error e;
    const char *at = (const char *)data, *end = at + size;
    bool opened = true;
    for (int i = 0; i < 4; i++) {
        const char *mark = i < 3 && at ? memmem(at, (size_t)(end - at), "\n=\n", 3) : NULL;
        size_t length = at ? (size_t)((mark ? mark : end) - at) : 0;
        opened = reader_open_text(&files[i], names[i], length ? at : "", length, &e) == 0 && opened;
        at = mark ? mark + 3 : NULL;
    }
    if (opened && import_is_hpcc_config(&files[0]) && import_hpcc_config(files, &import, &e) == 0)
        fuzz_import_check(&import);
    for (int i = 0; i < 4; i++)
        reader_close(&files[i]);
    return 0;
}
