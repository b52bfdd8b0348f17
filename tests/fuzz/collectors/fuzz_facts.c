/* Documents of host-facts that are judged again: any JSON. */
#include "collectors/facts/checks.h"
#include "collectors/facts/nccl.h"
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    json_t *facts = json_loadb((const char *)data, size, 0, NULL);
    if (!facts)
        return 0;
    struct checks_wanted wanted = {.buffer_bytes = 1 << 26,
                                   .bundle = json_object_get(facts, "bundle"),
                                   .traffic = json_object_get(facts, "traffic")};
    struct text out = {0};
    json_decref(checks_run(facts, &wanted));
    (void)nccl_environment(facts, NULL, 0, &out, NULL);
    text_free(&out);
    json_decref(facts);
    return 0;
}
