/* Answers of RTM_GETDCB, as nic-config reads them. */
#include "nic-config/device/dcb.h"
#include "tests/fuzz/netlink_input.h"
#include <linux/rtnetlink.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct nlmsghdr *m = netlink_input(RTM_GETDCB, data, size);
    struct dcb dcb;
    if (!m)
        return 0;
    dcb_parse(m, &dcb);
    free(m);
    return 0;
}
