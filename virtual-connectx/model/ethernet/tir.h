/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Transport interface receive: how a frame that steering sends there finds its receive queue. */
#ifndef VCX_TIR_H
#define VCX_TIR_H

#include "virtual-connectx/model/ethernet/wq.h"

#define VCX_MOST_QUEUES_OF_TABLE 256
#define VCX_HASH_KEY_BYTES       40
#define VCX_TIR_CONTEXT_BYTES    240

struct vcx_rqt {
    struct vcx_object object;
    uint32_t most, count;
    uint32_t rq[VCX_MOST_QUEUES_OF_TABLE];
};

/* mlx5's MLX5_RX_HASH_FN_* */
enum vcx_hash_function { VCX_HASH_NONE = 0, VCX_HASH_XOR8 = 1, VCX_HASH_TOEPLITZ = 2 };

/* bits of a selection (mlx5's MLX5_RX_HASH_FIELD_SELECT_SELECTED_FIELDS_*) */
enum vcx_hash_field {
    VCX_HASH_SIP = 1,
    VCX_HASH_DIP = 2,
    VCX_HASH_SPORT = 4,
    VCX_HASH_DPORT = 8,
    VCX_HASH_SPI = 16, /* of IPsec: taken, and the packet hashed over its addresses */
};

/* Over which fields a hash is taken. */
struct vcx_hash_selection {
    enum vcx_hash_function function;
    bool v6, udp;
    bool symmetric; /* the lesser address and the lesser port come first, so that both directions are alike */
    uint32_t fields;
    uint8_t key[VCX_HASH_KEY_BYTES];
};

/* As a completion has them; the type says of IP in bits 3:2 (1: IPv4, 2: IPv6) and of L4 in bits 7:6 (1: TCP, 2: UDP). */
struct vcx_hash {
    uint32_t result;
    uint8_t type;
};

/* A frame that is not of the selected IP version is not hashed; one without the selected ports is hashed over its addresses. */
struct vcx_hash vcx_hash(const struct vcx_hash_selection *selection, const struct vcx_headers *headers,
                         const uint8_t *frame);
/* Microsoft's receive side scaling: the key has to be 4 bytes longer than the input. */
uint32_t vcx_toeplitz(const uint8_t *key, const uint8_t *input, uint32_t bytes);

struct vcx_tir {
    struct vcx_object object;
    bool indirect;
    uint32_t rq, rqt;
    struct vcx_hash_selection hash;
    uint8_t own_frames; /* bit 0: unicast that this function sent itself is taken, bit 1: multicast */
    uint8_t context[VCX_TIR_CONTEXT_BYTES];
};

extern const struct vcx_kind_of_object vcx_kind_rqt, vcx_kind_tir;

#endif
