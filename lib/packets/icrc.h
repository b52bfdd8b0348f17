/* The invariant CRC of RoCEv2 packets (InfiniBand Architecture Specification, annex A17.3.3). */
#ifndef LIB_ICRC_H
#define LIB_ICRC_H

#include <stddef.h>
#include <stdint.h>

/* Over a packet from its IP header to the end of its pad: as its last four bytes on the wire, first byte lowest. `ip_bytes` is the length
 * of the IP header; behind it are at least the 20 bytes of the UDP and base transport headers. */
uint32_t icrc(const uint8_t *packet, size_t ip_bytes, size_t bytes);
/* The same of a packet that ends with so many zero bytes more than `bytes`, at most 65535: they need not be there. */
uint32_t icrc_with_zeros(const uint8_t *packet, size_t ip_bytes, size_t bytes, uint32_t zeros);

#endif
