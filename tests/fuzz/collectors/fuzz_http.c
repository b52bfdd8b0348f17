/* Requests to nic-sampler --prometheus. */
#include "collectors/sampler/http_server.h"
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    bool head_only;
    (void)http_request_parse((const char *)data, size, &head_only);
    return 0;
}
