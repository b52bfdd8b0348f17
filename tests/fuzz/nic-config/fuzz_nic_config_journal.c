/* Journals that a run left behind. */
#include "nic-config/journal.h"
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct journal j = {.fd = -1, .before = json_object(), .written = json_object()};
    struct error e;
    /* an allocation of its own, so that reading beyond the end is seen */
    char *text = malloc(size ? size : 1);
    if (!text)
        return 0;
    memcpy(text, data, size);
    (void)journal_parse(&j, text, size, &e);
    (void)journal_last(&j, "eth1", "mtu");
    (void)journal_unfinished(&j, "eth1", "mtu");
    free(text);
    journal_close(&j);
    return 0;
}
