/* What mstconfig, mstreg and lldpctl print: the first byte says which. */
#include "collectors/facts/nic/congestion.h"
#include "collectors/facts/nic/lldp.h"
#include "collectors/facts/nic/firmware_config.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char name[64], *text = size > 0 ? strndup((const char *)data + 1, size - 1) : NULL;
    if (!text)
        return 0;
    if (data[0] == 'c') {
        json_decref(firmware_config_parse(text));
    } else if (data[0] == 'r') {
        (void)ppcc_field(text, "value");
        ppcc_name(text, name, sizeof name);
    } else {
        json_t *document = json_loads(text, 0, NULL);
        json_decref(lldp_parse(document, "eth2"));
        json_decref(document);
    }
    free(text);
    return 0;
}
