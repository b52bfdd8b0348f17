/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Steering: tables of entries that match a frame's headers and say where it goes. */
#ifndef VCX_FLOW_H
#define VCX_FLOW_H

#include "virtual-connectx/model/command/command.h"
#include "virtual-connectx/model/ethernet/headers.h"
#include "virtual-connectx/model/front.h"

/* mlx5's enum fs_flow_table_type. Frames are steered by NIC_RECEIVE only; tables of the others are kept
 * and not walked. */
enum vcx_table_type {
    VCX_TABLE_NIC_RECEIVE = 0,
    VCX_TABLE_NIC_TRANSMIT = 1,
    VCX_TABLE_RDMA_RECEIVE = 7,
    VCX_TABLE_RDMA_TRANSMIT = 8,
    VCX_TABLE_TYPES
};

#define VCX_MATCH_BLOCK_BYTES 64
#define VCX_MATCH_BLOCKS \
    4 /* outer headers, miscellaneous, inner headers, miscellaneous 2: what masks may have bits in */
#define VCX_MATCH_BYTES       (VCX_MATCH_BLOCKS * VCX_MATCH_BLOCK_BYTES)
#define VCX_MATCH_WORDS       (VCX_MATCH_BYTES / 4)
#define VCX_MATCH_PARAM_BYTES 512 /* fte_match_param in commands */

enum vcx_destination_type { VCX_TO_TABLE = 1, VCX_TO_TIR = 2 };

struct vcx_destination {
    uint8_t type;
    uint32_t id;
};

/* mlx5's MLX5_FLOW_CONTEXT_ACTION_* */
enum vcx_flow_action {
    VCX_FLOW_ALLOW = 1,
    VCX_FLOW_DROP = 2,
    VCX_FLOW_FORWARD = 4,
    VCX_FLOW_COUNT = 8,
};

struct vcx_flow_counter {
    struct vcx_object object;
    uint64_t packets, octets;
};

/* The words of a frame's fields on which a group looks, and the bits of them. */
struct vcx_flow_mask {
    uint32_t words;
    uint8_t word[VCX_MATCH_WORDS];
    uint32_t bits[VCX_MATCH_WORDS];
};

struct vcx_flow_group {
    struct vcx_object object;
    uint32_t table, first, last; /* indices of its entries */
    uint32_t entries;
    uint8_t enabled; /* blocks; bit 0: outer headers */
    struct vcx_flow_mask mask;
    uint8_t criteria[VCX_MATCH_BYTES];
};

struct vcx_flow_entry {
    uint32_t index, group, tag;
    uint16_t action;
    uint32_t destinations, counters;
    struct vcx_destination *destination; /* owned */
    uint32_t *counter;                   /* in the same memory */
    uint32_t value[];                    /* a word for each of the group's mask */
};

struct vcx_flow_table {
    struct vcx_object object;
    uint8_t type, level, log_size;
    bool miss_forwards;
    uint32_t miss; /* the table that takes what no entry matches */
    uint32_t groups;
    uint32_t count, room;
    struct vcx_flow_entry **entry; /* by rising index */
};

extern const struct vcx_kind_of_object vcx_kind_flow_table, vcx_kind_flow_group, vcx_kind_flow_counter;

/* ---- matching */

/* From a whole fte_match_param and the blocks that are enabled. false: it has a bit that the model does
 * not match. */
bool vcx_match_mask(struct vcx_flow_mask *mask, const uint8_t *criteria, uint8_t enabled);
/* The words of a value under a mask. */
void vcx_match_value(const struct vcx_flow_mask *mask, const uint8_t *fields, uint32_t *value);

/* ---- entries of a table */

/* Where an entry with the index is, or would be. */

/* ---- where a frame goes */

#define VCX_MOST_TARGETS 64

struct vcx_steered {
    uint32_t count;
    struct {
        uint32_t tir, tag;
    } target[VCX_MOST_TARGETS];
};

/* Walks the tables from the root and counts what matches. */
void vcx_steer(struct vcx_device *device, const struct vcx_headers *headers, const struct vcx_frame *frame,
               struct vcx_steered *route);

#endif
