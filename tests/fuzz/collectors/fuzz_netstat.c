/* /proc/net/netstat. */
#include "collectors/sources/ip_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = {"IpExtInNoECTPkts", "IpExtInCEPkts", "UdpInErrors", "Ip", NULL};
    int64_t values[4];
    ip_text_values((const char *)data, size, names, values);
    return 0;
}
