// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "virtual-connectx/model/ethernet/tir.h"

#define MOST_INPUT 36 /* two IPv6 addresses and two ports */

#define TYPE_IPV4 (1 << 2)
#define TYPE_IPV6 (2 << 2)
#define TYPE_TCP  (1 << 6)
#define TYPE_UDP  (2 << 6)

uint32_t vcx_toeplitz(const uint8_t *key, const uint8_t *input, uint32_t bytes)
{
    uint32_t result = 0, window = vcx_be32(key);
    for (uint32_t i = 0; i < bytes; i++)
        for (int bit = 7; bit >= 0; bit--) {
            if (input[i] >> bit & 1)
                result ^= window;
            window = window << 1 | (key[i + 4] >> bit & 1);
        }
    return result;
}

/* The exclusive or of all bytes, its bits in reverse order. */
static uint32_t inverted_xor8(const uint8_t *input, uint32_t bytes)
{
    uint8_t all = 0;
    uint32_t result = 0;
    for (uint32_t i = 0; i < bytes; i++)
        all ^= input[i];
    for (int bit = 0; bit < 8; bit++)
        result |= (uint32_t)(all >> bit & 1) << (7 - bit);
    return result;
}

/* Appends the selected ones of two fields that lie behind each other in a header, and returns how many bytes these are. */
static uint32_t append(uint8_t *input, const uint8_t *pair, uint32_t bytes, bool source, bool destination,
                       bool symmetric)
{
    bool swap = symmetric && source && destination && memcmp(pair, pair + bytes, bytes) > 0;
    uint32_t n = 0;
    if (source) {
        memcpy(input, swap ? pair + bytes : pair, bytes);
        n = bytes;
    }
    if (destination) {
        memcpy(input + n, swap ? pair : pair + bytes, bytes);
        n += bytes;
    }
    return n;
}

static bool has_ports(const struct vcx_hash_selection *s, const struct vcx_headers *h)
{
    return s->fields & (VCX_HASH_SPORT | VCX_HASH_DPORT) && h->l4 &&
           h->protocol == (s->udp ? VCX_PROTOCOL_UDP : VCX_PROTOCOL_TCP);
}

struct vcx_hash vcx_hash(const struct vcx_hash_selection *s, const struct vcx_headers *h,
                         const uint8_t *frame)
{
    uint8_t input[MOST_INPUT];
    struct vcx_hash hash = {0};
    if (s->function == VCX_HASH_NONE || h->version != (s->v6 ? 6 : 4))
        return hash;
    bool ports = has_ports(s, h);
    uint32_t bytes = append(input, frame + h->l3 + (s->v6 ? 8 : 12), s->v6 ? 16 : 4, s->fields & VCX_HASH_SIP,
                            s->fields & VCX_HASH_DIP, s->symmetric);
    if (bytes)
        hash.type = s->v6 ? TYPE_IPV6 : TYPE_IPV4;
    if (ports) {
        bytes += append(input + bytes, frame + h->l4, 2, s->fields & VCX_HASH_SPORT,
                        s->fields & VCX_HASH_DPORT, s->symmetric);
        hash.type |= s->udp ? TYPE_UDP : TYPE_TCP;
    }
    hash.result =
        s->function == VCX_HASH_TOEPLITZ ? vcx_toeplitz(s->key, input, bytes) : inverted_xor8(input, bytes);
    return hash;
}
