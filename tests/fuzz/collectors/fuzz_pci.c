/* What sysfs shows of PCI devices: configuration space, paths, resources, link speeds, error counts. */
#include "collectors/facts/pci.h"
#include "collectors/sources/slow_files.h"
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pci_config config;
    struct pci_chain a, b = {0};
    uint64_t bars[PCI_BARS];
    uint8_t *bytes = malloc(size + 1);
    if (!bytes)
        return 0;
    memcpy(bytes, data, size);
    bytes[size] = '\0';
    pci_config_parse(data, size, &config);
    (void)pci_address_valid((char *)bytes);
    if (pci_chain_parse((char *)bytes, &a, NULL) == 0 && (a.count == 0 || pci_chain_common(&a, &b) > 0))
        abort();
    pci_bars_parse((char *)bytes, bars);
    (void)slow_text_value(SLOW_NUMBER, (char *)bytes, size);
    (void)slow_text_value(SLOW_PORT_SPEED, (char *)bytes, size);
    (void)slow_text_value(SLOW_LINK_SPEED, (char *)bytes, size);
    (void)slow_text_value(SLOW_AER_TOTAL, (char *)bytes, size);
    free(bytes);
    return 0;
}
