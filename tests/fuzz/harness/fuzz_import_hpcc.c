/* The HPCC simulator's files: a topology, flows and a trace, with a line of "=" between them. */
#include "tests/fuzz/harness/fuzz_import.h"
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[3] = {"topology.txt", "flow.txt", "trace.txt"};
    struct reader files[3] = {0};
    struct import import;
    struct error e;
    const char *at = (const char *)data, *end = at + size;
    bool opened = true;
    for (int i = 0; i < 3; i++) {
        const char *mark = i < 2 && at ? memmem(at, (size_t)(end - at), "\n=\n", 3) : NULL;
        if (at && reader_open_text(&files[i], names[i], at, (size_t)((mark ? mark : end) - at), &e) != 0)
            opened = false;
        at = mark ? mark + 3 : NULL;
    }
    if (opened && !files[1].text)
        reader_open_text(&files[1], names[1], "", 0, &e);
    if (opened && import_hpcc(files, &import, &e) == 0)
        fuzz_import_check(&import);
    for (int i = 0; i < 3; i++)
        reader_close(&files[i]);
    return 0;
}
