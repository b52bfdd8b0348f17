#include "lib/packets/icrc.h"

#include "lib/crc32.h"
#include <string.h>

#define DUMMY_BYTES   8  /* in place of InfiniBand's local route header: all bits set */
#define MOST_IP_BYTES 60 /* IPv4 with all options */
#define HEADER_BYTES  20 /* UDP, base transport header */

/* Fields that change on the way count as if all of their bits were set. */
static void mask_ip(uint8_t *ip)
{
    if (ip[0] >> 4 == 6) {
        ip[0] |= 0x0f; /* traffic class, flow label */
        memset(ip + 1, 0xff, 3);
        ip[7] = 0xff; /* hop limit */
        return;
    }
    ip[1] = 0xff;             /* type of service */
    ip[8] = 0xff;             /* time to live */
    memset(ip + 10, 0xff, 2); /* checksum */
}

uint32_t icrc_with_zeros(const uint8_t *packet, size_t ip_bytes, size_t bytes, uint32_t zeros)
{
    uint8_t head[DUMMY_BYTES + MOST_IP_BYTES + HEADER_BYTES];
    size_t head_bytes = ip_bytes + HEADER_BYTES;
    memset(head, 0xff, DUMMY_BYTES);
    memcpy(head + DUMMY_BYTES, packet, head_bytes);
    mask_ip(head + DUMMY_BYTES);
    uint8_t *udp = head + DUMMY_BYTES + ip_bytes;
    memset(udp + 6, 0xff, 2); /* checksum */
    udp[8 + 4] = 0xff;        /* FECN, BECN, reserved */
    uint32_t crc = crc32_continue(UINT32_MAX, head, DUMMY_BYTES + head_bytes);
    crc = crc32_continue(crc, packet + head_bytes, bytes - head_bytes);
    return ~crc32_zeros(crc, zeros);
}

uint32_t icrc(const uint8_t *packet, size_t ip_bytes, size_t bytes)
{
    return icrc_with_zeros(packet, ip_bytes, bytes, 0);
}
