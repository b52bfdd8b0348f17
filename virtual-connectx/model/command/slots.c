// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * The command queue: one page of slots in the driver's memory, the doorbell word in the BAR, and the chains
 * of mailboxes that carry what does not fit into a slot. Positions are those of mlx5's struct mlx5_cmd_layout
 * and mlx5_cmd_prot_block.
 */
#include "virtual-connectx/model/command/command.h"

#include "virtual-connectx/model/capability.h"
#include "virtual-connectx/model/faults/faults.h"
#include "virtual-connectx/model/queue/eq.h"

#define LOG_SLOTS    5
#define RING_LOST_NS 200000000u
#define LOG_STRIDE   6

/* the initialization segment, at the begin of the BAR */
#define SEGMENT_FW_REVISION     0x00 /* minor, major */
#define SEGMENT_CMD_REVISION    0x04 /* revision of the command interface, subminor of the firmware */
#define SEGMENT_QUEUE_HIGH      0x10
#define SEGMENT_QUEUE_LOW_SIZES 0x14
#define SEGMENT_DOORBELL        0x18
#define COMMAND_REVISION        5u    /* mlx5's CMD_IF_REV */
#define FIRMWARE_SUBMINOR       1000u /* the model's: no firmware has it */

/* a slot */
#define SLOT_TYPE        0
#define SLOT_IN_BYTES    4
#define SLOT_IN_MAILBOX  8
#define SLOT_IN          16
#define SLOT_OUT         32
#define SLOT_OUT_MAILBOX 48
#define SLOT_OUT_BYTES   56
#define SLOT_TOKEN       60
#define SLOT_STATUS      63
#define SLOT_BYTES       64
#define OWNED_BY_DEVICE  1
#define TYPE_PCI         7

/* a mailbox */
#define INLINE_BYTES 16u
#define LEAST_BYTES  8u /* opcode and modifier, status and syndrome */
#define BLOCK_DATA   512u
#define BLOCK_NEXT   560
#define BLOCK_NUMBER 568
#define BLOCK_TOKEN  573
#define BLOCK_BYTES  576

#define MOST_BYTES                                                                                        \
    (1u << 20) /* of a command's input or output; a key of 4 GiB in pages of 4 KiB is larger and comes in \
                  parts */

/* what the device says in a slot of the transfer itself (mlx5's MLX5_CMD_DELIVERY_STAT_*) */
enum delivery {
    DELIVERED = 0x0,
    BAD_TOKEN = 0x2,
    BAD_BLOCK_NUMBER = 0x3,
    BAD_OUTPUT_POINTER = 0x4,
    BAD_INPUT_POINTER = 0x5,
    FIRMWARE_ERROR = 0x6,
    BAD_INPUT_LENGTH = 0x7,
    BAD_OUTPUT_LENGTH = 0x8,
};

/* The slot as it was when it was taken: the driver may change its memory meanwhile. */
struct slot {
    uint8_t copy[SLOT_BYTES];
    uint32_t in_bytes, out_bytes;
    uint8_t *shared;
};

/* Copies between the linear buffer and the chain of mailboxes; `out` writes into the mailboxes. */
static enum delivery move_blocks(struct vcx_device *device, const struct slot *slot, uint64_t at,
                                 uint8_t *linear, uint32_t bytes, bool out)
{
    for (uint32_t number = 0, done = 0; done < bytes; number++) {
        uint8_t *block =
            at ? vcx_memory(device, at & ~0x1ffull, BLOCK_BYTES, out ? VCX_TO_WRITE : VCX_TO_READ) : NULL;
        uint32_t part = (uint32_t)vcx_least(bytes - done, BLOCK_DATA);
        if (!block)
            return out ? BAD_OUTPUT_POINTER : BAD_INPUT_POINTER;
        if (block[BLOCK_TOKEN] != slot->copy[SLOT_TOKEN])
            return BAD_TOKEN;
        if (vcx_be32(block + BLOCK_NUMBER) != number)
            return BAD_BLOCK_NUMBER;
        memcpy(out ? block : linear + done, out ? linear + done : block, part);
        done += part;
        at = vcx_be64(block + BLOCK_NEXT);
    }
    return DELIVERED;
}

static enum delivery slot_fetch_input(struct vcx_device *device, const struct slot *slot, uint8_t *in)
{
    uint32_t within = (uint32_t)vcx_least(slot->in_bytes, INLINE_BYTES);
    memcpy(in, slot->copy + SLOT_IN, within);
    return move_blocks(device, slot, vcx_be64(slot->copy + SLOT_IN_MAILBOX), in + within,
                       slot->in_bytes - within, false);
}

static enum delivery give_back(struct vcx_device *device, const struct slot *slot, uint8_t *out)
{
    uint32_t within = (uint32_t)vcx_least(slot->out_bytes, INLINE_BYTES);
    memcpy(slot->shared + SLOT_OUT, out, within);
    return move_blocks(device, slot, vcx_be64(slot->copy + SLOT_OUT_MAILBOX), out + within,
                       slot->out_bytes - within, true);
}

/* A slot has room for 16 bytes; some commands say that they are shorter (ENABLE_HCA's output: 12), and
 * none reads more of them. */
static uint32_t with_inline(uint32_t bytes)
{
    return (uint32_t)vcx_most(bytes, INLINE_BYTES);
}

static enum delivery slot_execute(struct vcx_device *device, const struct slot *slot, uint8_t *in,
                                  uint8_t *out)
{
    enum delivery delivery = slot_fetch_input(device, slot, in);
    if (delivery != DELIVERED)
        return delivery;
    struct vcx_call call = {device, in, out, with_inline(slot->in_bytes), with_inline(slot->out_bytes)};
    vcx_command_run(&call);
    return give_back(device, slot, out);
}

static enum delivery run_slot(struct vcx_device *device, const struct slot *slot)
{
    if (slot->in_bytes < LEAST_BYTES || slot->in_bytes > MOST_BYTES)
        return BAD_INPUT_LENGTH;
    if (slot->out_bytes < LEAST_BYTES || slot->out_bytes > MOST_BYTES)
        return BAD_OUTPUT_LENGTH;
    uint8_t *in = vcx_allocate(with_inline(slot->in_bytes)),
            *out = vcx_allocate(with_inline(slot->out_bytes));
    enum delivery delivery = in && out ? slot_execute(device, slot, in, out) : FIRMWARE_ERROR;
    vcx_release(in);
    vcx_release(out);
    return delivery;
}

/* false: the slot is the driver's. */
static bool take_slot(struct vcx_device *device, uint32_t index)
{
    struct slot slot = {.shared = vcx_memory(device, device->command_queue + (index << LOG_STRIDE),
                                             SLOT_BYTES, VCX_TO_WRITE)};
    if (!slot.shared || !(vcx_shared8(slot.shared + SLOT_STATUS) & OWNED_BY_DEVICE) ||
        slot.shared[SLOT_TYPE] != TYPE_PCI)
        return false;
    if (vcx_fault_command(device)) {
        slot.shared[SLOT_TYPE] = 0; /* not to be taken again */
        return true;
    }
    memcpy(slot.copy, slot.shared, SLOT_BYTES);
    slot.in_bytes = vcx_be32(slot.copy + SLOT_IN_BYTES);
    slot.out_bytes = vcx_be32(slot.copy + SLOT_OUT_BYTES);
    uint32_t eq = device->command_eq; /* the command that creates this queue is still polled for */
    enum delivery delivery = run_slot(device, &slot);
    if (delivery != DELIVERED)
        vcx_log(device, "command slot %u: delivery status 0x%x", index, delivery);
    vcx_share8(slot.shared + SLOT_STATUS, (uint8_t)(delivery << 1));
    if (eq)
        vcx_eq_command_done(device, eq, index);
    return true;
}

/* The driver writes the queue's address over the sizes that it read there: the low byte is zero then. */
static void find_queue(struct vcx_device *device)
{
    uint32_t low = device->ops->bar_read(device->front, SEGMENT_QUEUE_LOW_SIZES);
    if (low & 0xff)
        return;
    device->command_queue =
        (uint64_t)device->ops->bar_read(device->front, SEGMENT_QUEUE_HIGH) << 32 | (low & ~0xfffu);
    device->ops->bar_write(device->front, SEGMENT_QUEUE_LOW_SIZES, low | LOG_SLOTS << 4 | LOG_STRIDE);
}

/*
 * The doorbell says which slots were handed over. It is a word of memory, and a ring that comes before the
 * last one was seen overwrites it, so that a slot may be the device's without a ring; but so it also is just
 * before its driver rings, which then is not ready for the answer. Only time tells them apart.
 */
static bool is_handed_over(struct vcx_device *device, uint32_t index, bool rung)
{
    const uint8_t *slot =
        vcx_memory(device, device->command_queue + (index << LOG_STRIDE), SLOT_BYTES, VCX_TO_READ);
    uint64_t *since_ns = &device->slot_since_ns[index], now_ns = vcx_now_ns(device);
    if (!slot || !(vcx_shared8(slot + SLOT_STATUS) & OWNED_BY_DEVICE) || slot[SLOT_TYPE] != TYPE_PCI) {
        *since_ns = 0;
        return false;
    }
    if (!*since_ns)
        *since_ns = now_ns;
    return rung || now_ns - *since_ns >= RING_LOST_NS;
}

/* A slot was the device's when it last looked, however long ago that is: a device that is not scheduled
 * looks at nothing. */
static bool any_waits(const struct vcx_device *device)
{
    for (uint32_t i = 0; i < VCX_COMMAND_SLOTS; i++)
        if (device->slot_since_ns[i])
            return true;
    return false;
}

bool vcx_command_poll(struct vcx_device *device)
{
    bool busy = false;
    find_queue(device);
    if (!device->command_queue)
        return false;
    uint32_t rung = device->ops->bar_read(device->front, SEGMENT_DOORBELL);
    if (rung) {
        device->ops->bar_write(device->front, SEGMENT_DOORBELL, 0);
        device->looks_until_ns = vcx_now_ns(device) + 2 * RING_LOST_NS;
    }
    if (vcx_now_ns(device) >= device->looks_until_ns && !any_waits(device))
        return false; /* the queue may be gone */
    for (uint32_t i = 0; i < VCX_COMMAND_SLOTS; i++)
        if (is_handed_over(device, i, rung >> i & 1)) {
            device->slot_since_ns[i] = 0;
            busy |= take_slot(device, i);
        }
    return busy;
}

void vcx_command_start(struct vcx_device *device)
{
    const uint8_t *version = vcx_model(device)->firmware;
    memset(device->slot_since_ns, 0, sizeof device->slot_since_ns);
    device->ops->bar_write(device->front, SEGMENT_FW_REVISION, (uint32_t)version[1] << 16 | version[0]);
    device->ops->bar_write(device->front, SEGMENT_CMD_REVISION, COMMAND_REVISION << 16 | FIRMWARE_SUBMINOR);
    device->ops->bar_write(device->front, SEGMENT_QUEUE_LOW_SIZES, LOG_SLOTS << 4 | LOG_STRIDE);
}
