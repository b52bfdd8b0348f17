/* Fuzz input as a netlink message: what follows the header is the input. */
#ifndef TESTS_FUZZ_NETLINK_INPUT_H
#define TESTS_FUZZ_NETLINK_INPUT_H

#include <libmnl/libmnl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* A message of its own allocation, so that reading beyond its end is seen. NULL when the input is too
 * long. */
static inline struct nlmsghdr *netlink_input(uint16_t type, const uint8_t *data, size_t size)
{
    if (size > UINT16_MAX)
        return NULL;
    struct nlmsghdr *m = malloc(MNL_NLMSG_HDRLEN + size);
    if (!m)
        return NULL;
    *m = (struct nlmsghdr){.nlmsg_len = (uint32_t)(MNL_NLMSG_HDRLEN + size), .nlmsg_type = type};
    memcpy((char *)m + MNL_NLMSG_HDRLEN, data, size);
    return m;
}

#endif
