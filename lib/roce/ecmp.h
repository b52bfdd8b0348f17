/* How simulated switches choose among equal paths, and hosts with several ports among these: a hash of a
 * packet's addresses and UDP ports, as in the HPCC simulator (alibaba-edu/High-Precision-Congestion-Control,
 * SwitchNode::EcmpHash and node_id_to_ip of scratch/third.cc). */
#ifndef LIB_ROCE_ECMP_H
#define LIB_ROCE_ECMP_H

#include <stdint.h>

#define ECMP_FIRST_SOURCE_PORT 10000 /* UDP, of a pair's first connection; the next ones count up */

/* The 32-bit MurmurHash3 (Appleby, public domain) of three words: the sender's address, the receiver's, the
 * ports (that of the sender in the lower half). */
uint32_t ecmp_hash(const uint32_t words[3], uint32_t seed);
/* The IPv4 address of host number n: 11.0.n.1. */
uint32_t ecmp_address(uint32_t number);

#endif
