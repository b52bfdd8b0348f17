// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Configuration space: IDs, BAR 0, and the capabilities PCI Express, MSI-X, power management and the
 * vendor's own. */
#include "virtual-connectx/kernel/front.h"

#define CAPABILITY_EXPRESS 0x40
#define CAPABILITY_MSIX    0x9c
#define CAPABILITY_POWER   0xb0
#define CAPABILITY_VENDOR  0xc0

/* The vendor's capability is a gateway to address spaces inside of the device, taken by a semaphore
 * (mlx5's pci_vsc.c). */
#define GATEWAY_BYTES     0x18
#define GATEWAY_SPACE     0x04 /* status bits 29 to 31 are 0 where there is no such space */
#define GATEWAY_COUNTER   0x08
#define GATEWAY_SEMAPHORE 0x0c
#define GATEWAY_ADDRESS   0x10 /* bit 31, written: 1 writes, 0 reads; it is the other one when that is done */
#define GATEWAY_DATA      0x14
#define GATEWAY_THERE     (1u << 29)
#define GATEWAY_WRITES    (1u << 31)

#define VENDOR_MELLANOX 0x15b3
#define SUBSYSTEM       0x0008

static void put8(struct vcx_front *front, int at, u8 value)
{
    front->config[at] = value;
}

static void put16(struct vcx_front *front, int at, u16 value, u16 writable)
{
    *(__le16 *)(front->config + at) = cpu_to_le16(value);
    *(__le16 *)(front->writable + at) = cpu_to_le16(writable);
}

static void put32(struct vcx_front *front, int at, u32 value, u32 writable)
{
    *(__le32 *)(front->config + at) = cpu_to_le32(value);
    *(__le32 *)(front->writable + at) = cpu_to_le32(writable);
}

static void put_header(struct vcx_front *front, bool several)
{
    put16(front, PCI_VENDOR_ID, VENDOR_MELLANOX, 0);
    put16(front, PCI_DEVICE_ID, front->configuration.device_id, 0);
    put16(front, PCI_COMMAND, 0,
          PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER | PCI_COMMAND_INTX_DISABLE | PCI_COMMAND_PARITY |
              PCI_COMMAND_SERR);
    put16(front, PCI_STATUS, PCI_STATUS_CAP_LIST, 0);
    put32(front, PCI_CLASS_REVISION, PCI_CLASS_NETWORK_ETHERNET << 16, 0);
    put8(front, PCI_CACHE_LINE_SIZE, 16);
    put8(front, PCI_HEADER_TYPE, several ? 0x80 : 0);
    put32(front, PCI_BASE_ADDRESS_0,
          lower_32_bits(front->bar) | PCI_BASE_ADDRESS_MEM_TYPE_64 | PCI_BASE_ADDRESS_MEM_PREFETCH,
          ~(VCX_BAR_BYTES - 1));
    put32(front, PCI_BASE_ADDRESS_1, upper_32_bits(front->bar), ~0u);
    put16(front, PCI_SUBSYSTEM_VENDOR_ID, VENDOR_MELLANOX, 0);
    put16(front, PCI_SUBSYSTEM_ID, SUBSYSTEM, 0);
    put8(front, PCI_CAPABILITY_LIST, CAPABILITY_EXPRESS);
}

void vcx_config_set_lanes(struct vcx_front *front, unsigned int lanes)
{
    put16(front, CAPABILITY_EXPRESS + PCI_EXP_LNKSTA,
          (u16)(PCI_EXP_LNKSTA_CLS_8_0GB | lanes << PCI_EXP_LNKSTA_NLW_SHIFT), 0);
}

static void put_express(struct vcx_front *front)
{
    int at = CAPABILITY_EXPRESS;
    put8(front, at, PCI_CAP_ID_EXP);
    put8(front, at + PCI_CAP_LIST_NEXT, CAPABILITY_MSIX);
    put16(front, at + PCI_EXP_FLAGS, 2 | PCI_EXP_TYPE_ENDPOINT << 4, 0);
    /* payloads of up to 512 bytes */
    put32(front, at + PCI_EXP_DEVCAP, 2 | PCI_EXP_DEVCAP_EXT_TAG | PCI_EXP_DEVCAP_RBER | PCI_EXP_DEVCAP_FLR,
          0);
    put16(front, at + PCI_EXP_DEVCTL, PCI_EXP_DEVCTL_READRQ_512B | PCI_EXP_DEVCTL_RELAX_EN, 0x7fff);
    put32(front, at + PCI_EXP_LNKCAP, PCI_EXP_LNKCAP_SLS_8_0GB | VCX_LANES << 4, 0);
    vcx_config_set_lanes(front, VCX_LANES);
    put16(front, at + PCI_EXP_LNKCTL, 0, 0x01fb);
    put32(front, at + PCI_EXP_LNKCAP2,
          PCI_EXP_LNKCAP2_SLS_2_5GB | PCI_EXP_LNKCAP2_SLS_5_0GB | PCI_EXP_LNKCAP2_SLS_8_0GB, 0);
}

static void put_msix(struct vcx_front *front)
{
    int at = CAPABILITY_MSIX;
    put8(front, at, PCI_CAP_ID_MSIX);
    put8(front, at + PCI_CAP_LIST_NEXT, CAPABILITY_POWER);
    put16(front, at + PCI_MSIX_FLAGS, VCX_VECTORS - 1, PCI_MSIX_FLAGS_ENABLE | PCI_MSIX_FLAGS_MASKALL);
    put32(front, at + PCI_MSIX_TABLE, VCX_BAR_MSIX, 0);
    put32(front, at + PCI_MSIX_PBA, VCX_BAR_PENDING, 0);
}

static void put_gateway(struct vcx_front *front)
{
    int at = CAPABILITY_VENDOR;
    put8(front, at, PCI_CAP_ID_VNDR);
    put8(front, at + PCI_CAP_FLAGS, GATEWAY_BYTES);
    put32(front, at + GATEWAY_SPACE, 0, 0xffff);
    put32(front, at + GATEWAY_COUNTER, 1, 0);
    put32(front, at + GATEWAY_SEMAPHORE, 0, ~0u);
    put32(front, at + GATEWAY_ADDRESS, 0, ~0u);
    put32(front, at + GATEWAY_DATA, 0, ~0u);
}

static u32 gateway_word(const struct vcx_front *front, int word)
{
    return le32_to_cpu(*(const __le32 *)(front->config + CAPABILITY_VENDOR + word));
}

static void choose_space(struct vcx_front *front)
{
    u16 space = (u16)gateway_word(front, GATEWAY_SPACE);
    put32(front, CAPABILITY_VENDOR + GATEWAY_SPACE, space | (vcx_gateway_has(space) ? GATEWAY_THERE : 0),
          0xffff);
}

/* Words are read and written at once; what the mailbox asks for is done by the thread. */
static void access_space(struct vcx_front *front)
{
    u16 space = (u16)gateway_word(front, GATEWAY_SPACE);
    u32 address = gateway_word(front, GATEWAY_ADDRESS), at = address & ~(3u << 30);
    if (!(address & GATEWAY_WRITES))
        put32(front, CAPABILITY_VENDOR + GATEWAY_DATA,
              vcx_gateway_read(&front->gateway, front->configuration.device_id, space, at), ~0u);
    else if (vcx_gateway_write(&front->gateway, space, at, gateway_word(front, GATEWAY_DATA)))
        vcx_thread_wake();
    put32(front, CAPABILITY_VENDOR + GATEWAY_ADDRESS, address ^ GATEWAY_WRITES, ~0u);
}

void vcx_config_start(struct vcx_front *front, bool several)
{
    put_header(front, several);
    put_express(front);
    put_msix(front);
    put8(front, CAPABILITY_POWER, PCI_CAP_ID_PM);
    put8(front, CAPABILITY_POWER + PCI_CAP_LIST_NEXT, CAPABILITY_VENDOR);
    put16(front, CAPABILITY_POWER + PCI_PM_PMC, 3, 0);
    put16(front, CAPABILITY_POWER + PCI_PM_CTRL, PCI_PM_CTRL_NO_SOFT_RESET, PCI_PM_CTRL_STATE_MASK);
    put_gateway(front);
}

/* Each reader of the counter gets a number of its own, and none is 0. */
static void count_reader(struct vcx_front *front)
{
    __le32 *counter = (__le32 *)(front->config + CAPABILITY_VENDOR + GATEWAY_COUNTER);
    u32 next = le32_to_cpu(*counter) + 1;
    *counter = cpu_to_le32(next ? next : 1);
}

/* A semaphore that is taken changes only when it is given back. */
static bool is_held(const struct vcx_front *front, int where, u32 value)
{
    const __le32 *semaphore = (const __le32 *)(front->config + CAPABILITY_VENDOR + GATEWAY_SEMAPHORE);
    return where == CAPABILITY_VENDOR + GATEWAY_SEMAPHORE && value && *semaphore;
}

int vcx_config_read(struct vcx_front *front, int where, int size, u32 *value)
{
    *value = 0;
    if (where + size <= VCX_CONFIG_BYTES)
        memcpy(value, front->config + where, size);
    if (where == CAPABILITY_VENDOR + GATEWAY_COUNTER)
        count_reader(front);
    return PCIBIOS_SUCCESSFUL;
}

/* What the bits stand for that are not kept: a function level reset. */
static void config_act_on_written(struct vcx_front *front)
{
    __le16 *control = (__le16 *)(front->config + CAPABILITY_EXPRESS + PCI_EXP_DEVCTL);
    if (!(le16_to_cpu(*control) & PCI_EXP_DEVCTL_BCR_FLR))
        return;
    *control &= ~cpu_to_le16(PCI_EXP_DEVCTL_BCR_FLR);
    put16(front, PCI_COMMAND, 0, le16_to_cpu(*(__le16 *)(front->writable + PCI_COMMAND)));
    put_msix(front);
    set_bit(0, &front->reset_asked);
    vcx_thread_wake();
}

int vcx_config_write(struct vcx_front *front, int where, int size, u32 value)
{
    const u8 *bytes = (const u8 *)&value;
    if (is_held(front, where, value))
        return PCIBIOS_SUCCESSFUL;
    for (int i = 0; i < size && where + i < VCX_CONFIG_BYTES; i++) {
        u8 mask = front->writable[where + i];
        front->config[where + i] = (front->config[where + i] & ~mask) | (bytes[i] & mask);
    }
    if (where == CAPABILITY_VENDOR + GATEWAY_SPACE)
        choose_space(front);
    if (where == CAPABILITY_VENDOR + GATEWAY_ADDRESS && size == 4)
        access_space(front);
    config_act_on_written(front);
    return PCIBIOS_SUCCESSFUL;
}

static u16 config16(const struct vcx_front *front, int at)
{
    return le16_to_cpu(READ_ONCE(*(const __le16 *)(front->config + at)));
}

unsigned int vcx_config_lanes(const struct vcx_front *front)
{
    return (config16(front, CAPABILITY_EXPRESS + PCI_EXP_LNKSTA) & PCI_EXP_LNKSTA_NLW) >>
           PCI_EXP_LNKSTA_NLW_SHIFT;
}

bool vcx_config_master(const struct vcx_front *front)
{
    return config16(front, PCI_COMMAND) & PCI_COMMAND_MASTER;
}

u16 vcx_config_msix(const struct vcx_front *front)
{
    return config16(front, CAPABILITY_MSIX + PCI_MSIX_FLAGS);
}
