/* Answers of RTM_GETLINK about a VLAN interface, as nic-config reads them. */
#include "nic-config/device/vlan.h"
#include "tests/fuzz/netlink_input.h"
#include <linux/rtnetlink.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct nlmsghdr *m = netlink_input(RTM_NEWLINK, data, size);
    struct vlan_answer answer = {.egress = json_object()};
    if (m)
        (void)vlan_parse(m, &answer);
    json_decref(answer.egress);
    free(m);
    return 0;
}
