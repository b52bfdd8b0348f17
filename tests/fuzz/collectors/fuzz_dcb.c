/* Answers of RTM_GETDCB. */
#include "collectors/sources/source_dcb.c"
#include "tests/fuzz/netlink_input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct nlmsghdr *m = netlink_input(RTM_GETDCB, data, size);
    if (!m)
        return 0;
    struct reading r = {0};
    (void)each_answer(m, &r);
    free(m);
    return 0;
}
