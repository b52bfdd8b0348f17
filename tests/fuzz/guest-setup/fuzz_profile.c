/* Profiles' heads. */
#include "guest-setup/guest/profile.h"
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct profile profile = {0};
    struct error e;
    json_t *json = json_loadb((const char *)data, size, 0, NULL);
    if (json && table_parse(&profile_table, json, &profile, &e) == 0)
        table_free(&profile_table, &profile);
    json_decref(json);
    return 0;
}
