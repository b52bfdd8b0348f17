// SPDX-License-Identifier: GPL-2.0 OR MIT
/* MCIA: the memory of the module in the cage, a passive copper cable of 1 m (SFF-8472 in SFP28, SFF-8636 in QSFP28). */
#include "virtual-connectx/model/register/link_modes.h"
#include "virtual-connectx/model/register/register.h"

#define PAGE_BYTES   256
#define MOST_BYTES   128 /* in one answer */
#define ADDRESS_LOW  0x50
#define ADDRESS_HIGH 0x51

enum mcia_status { MODULE_GOOD = 0, MODULE_I2C_ERROR = 9 };

/* Bytes of a page; texts are filled with spaces. */
struct span {
    uint8_t at, bytes;
    const char *text;
};

static const uint8_t sfp_bytes[][2] = {
    {0, 0x03},  /* SFP */
    {1, 0x04},  /* by its two-wire interface */
    {2, 0x21},  /* copper pigtail */
    {8, 0x04},  /* passive cable */
    {12, 0xff}, /* nominal rate: in byte 66 */
    {18, 1},    /* m of copper */
    {36, 0x0b}, /* 25GBASE-CR CA-L */
    {60, 0x01}, /* SFF-8431 appendix E */
    {66, 103},  /* 250 MBd */
};
static const struct span sfp_texts[] = {
    {20, 16, "Virtual"}, {40, 16, "VCX-SFP28-1M"}, {56, 4, "A"}, {68, 16, "VCX0000000001"}, {84, 8, "240101"},
};

static const uint8_t qsfp_bytes[][2] = {
    {0, 0x11},                /* QSFP28 */
    {1, 0x08},                /* SFF-8636 revision 2.8 */
    {2, 0x04},                /* flat memory: page 0 only */
    {128, 0x11}, {130, 0x23}, /* no separable connector */
    {131, 0x88},              /* 40GBASE-CR4, and byte 192 */
    {139, 0x05},              /* 64B/66B */
    {140, 0xff},              /* nominal rate: in byte 222 */
    {146, 1},                 /* m of copper */
    {147, 0xa0},              /* copper, not equalized */
    {192, 0x0b},              /* 100GBASE-CR4 */
    {222, 103},               /* 250 MBd */
};
static const struct span qsfp_texts[] = {
    {148, 16, "Virtual"},       {168, 16, "VCX-QSFP28-1M"}, {184, 2, "A"},
    {196, 16, "VCX0000000001"}, {212, 8, "240101"},
};

static void fill(uint8_t *page, const uint8_t (*bytes)[2], size_t count, const struct span *texts,
                 size_t text_count)
{
    for (size_t i = 0; i < count; i++)
        page[bytes[i][0]] = bytes[i][1];
    for (size_t i = 0; i < text_count; i++)
        for (size_t j = 0, ended = 0; j < texts[i].bytes; j++) {
            ended = ended || !texts[i].text[j];
            page[texts[i].at + j] = ended ? ' ' : (uint8_t)texts[i].text[j];
        }
}

/* The low byte of the sum of [from, to) stands at `to`. */
static void add_checksum(uint8_t *page, size_t from, size_t to)
{
    uint8_t sum = 0;
    for (size_t i = from; i < to; i++)
        sum = (uint8_t)(sum + page[i]);
    page[to] = sum;
}

static void write_sfp(uint8_t *page)
{
    fill(page, sfp_bytes, VCX_COUNT(sfp_bytes), sfp_texts, VCX_COUNT(sfp_texts));
    add_checksum(page, 0, 63);
    add_checksum(page, 64, 95);
}

static void write_qsfp(uint8_t *page)
{
    fill(page, qsfp_bytes, VCX_COUNT(qsfp_bytes), qsfp_texts, VCX_COUNT(qsfp_texts));
    add_checksum(page, 128, 191);
    add_checksum(page, 192, 223);
}

/* An SFP's second address holds diagnostics, which a passive cable has not. A QSFP's further pages read as zeros. */
static enum mcia_status read_page(const struct vcx_device *device, uint64_t address, uint64_t number,
                                  uint8_t *page)
{
    bool sfp = vcx_link_lanes(device) == 1;
    if (address != ADDRESS_LOW || (sfp && number != 0))
        return MODULE_I2C_ERROR;
    if (sfp)
        write_sfp(page);
    else if (number == 0)
        write_qsfp(page);
    return MODULE_GOOD;
}

static enum vcx_status mcia(struct vcx_register_call *call)
{
    uint8_t page[PAGE_BYTES] = {0};
    uint64_t room = vcx_least(MOST_BYTES, call->out_bytes - vcx_offset(mcia_reg, dwords));
    uint64_t address = vcx_get(call->in, mcia_reg, i2c_device_address),
             number = vcx_get(call->in, mcia_reg, page_number),
             from = vcx_get(call->in, mcia_reg, device_address), size = vcx_get(call->in, mcia_reg, size);
    if (vcx_get(call->in, mcia_reg, module) != 0 || size > room || from + size > PAGE_BYTES)
        return VCX_BAD_PARAMETER;
    if (address != ADDRESS_LOW && address != ADDRESS_HIGH)
        return VCX_BAD_PARAMETER;
    enum mcia_status status = read_page(call->device, address, number, page);
    vcx_set(call->out, mcia_reg, status, status);
    vcx_set(call->out, mcia_reg, i2c_device_address, address);
    vcx_set(call->out, mcia_reg, page_number, number);
    vcx_set(call->out, mcia_reg, device_address, from);
    vcx_set(call->out, mcia_reg, size, size);
    if (status == MODULE_GOOD)
        memcpy(vcx_at(call->out, mcia_reg, dwords), page + from, size);
    return VCX_OK;
}

const struct vcx_register vcx_registers_module[] = {
    {0x9014, vcx_offset(mcia_reg, dwords), 0, mcia},
    {0},
};
