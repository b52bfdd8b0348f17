/* Descriptions of domains and networks that come from libvirt: the mark in them. */
#include "remote/mark.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *xml = malloc(size + 1);
    struct mark mark, again;
    struct error e;
    if (!xml)
        return 0;
    memcpy(xml, data, size);
    xml[size] = '\0';
    /* what was read can be written and read again */
    if (mark_parse(xml, &mark, &e) == 1) {
        char *written = mark_xml(&mark);
        if (!written || mark_parse(written, &again, &e) != 1 || again.port != mark.port)
            abort();
        free(written);
    }
    free(xml);
    return 0;
}
