/* IP networks, as addresses with prefix lengths say them: "10.0.0.1/24". */
#ifndef LIB_NETWORK_NETWORKS_H
#define LIB_NETWORK_NETWORKS_H

#include <stdbool.h>

/* Are two addresses with their prefix lengths of one network, IPv4 or IPv6? Not where one is NULL, or has no
 * prefix length. */
bool networks_same(const char *one, const char *other);

#endif
