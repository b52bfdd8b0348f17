/* A scenario's text: parsed, written out, checked. */
#include "lib/formats/scenario.h"
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct scenario scenario;
    struct error e;
    json_t *json = json_loadb((const char *)data, size, JSON_REJECT_DUPLICATES, NULL);
    json_t *expanded = json_is_object(json) ? scenario_expand(json, &e) : NULL;
    if (expanded && scenario_parse(expanded, &scenario, &e) == 0) {
        json_decref(scenario_resolve(expanded));
        json_decref(scenario_role_settings(expanded, "a"));
        scenario_free(&scenario);
    }
    json_decref(expanded);
    json_decref(json);
    return 0;
}
