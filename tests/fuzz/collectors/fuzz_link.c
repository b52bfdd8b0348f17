/* Answers of RTM_GETLINK. */
#include "collectors/sources/source_link.c"
#include "tests/fuzz/netlink_input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct nlmsghdr *m = netlink_input(RTM_NEWLINK, data, size);
    if (!m)
        return 0;
    int64_t values[STATES + STATISTICS + SIX];
    (void)each_answer(m, values);
    free(m);
    return 0;
}
