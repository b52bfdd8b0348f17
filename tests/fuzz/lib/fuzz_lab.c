/* A lab's text: drawn, parsed, checked. */
#include "lib/formats/lab.h"
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct lab lab;
    struct error e;
    json_t *json = json_loadb((const char *)data, size, JSON_REJECT_DUPLICATES, NULL);
    json_t *expanded = json_is_object(json) ? lab_expand(json, &e) : NULL;
    if (expanded && lab_parse(expanded, NULL, &lab, &e) == 0) {
        lab_host_of(&lab, "a");
        lab_real_host(&lab, "b");
        lab_free(&lab);
    }
    json_decref(expanded);
    json_decref(json);
    return 0;
}
