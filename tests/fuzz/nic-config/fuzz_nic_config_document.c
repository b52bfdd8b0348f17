/* Documents that nic-config is given, and what it makes of them before it touches anything. */
#include "nic-config/document.h"
#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error e;
    const char *name;
    json_t *settings, *document = json_loadb((const char *)data, size, 0, NULL);
    json_t *interfaces = document ? document_interfaces(document, "input", &e) : NULL;
    json_object_foreach(interfaces, name, settings)
    {
        struct settings parsed;
        json_t *merged = document_merge(settings, settings);
        if (document_settings(merged, &parsed, &e) == 0)
            table_free(&settings_table, &parsed);
        json_decref(merged);
    }
    json_decref(interfaces);
    json_decref(document);
    return 0;
}
