// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "virtual-connectx/model/register/link_modes.h"

#include "virtual-connectx/model/capability.h"

/* Modes over copper (mlx5's enum mlx5e_link_mode), ascending. */
static const struct {
    uint16_t gbps;
    uint8_t bit, lanes;
} modes[] = {
    {1, 1, 1},   /* 1000BASE-KX */
    {10, 12, 1}, /* 10GBASE-CR */
    {25, 27, 1}, /* 25GBASE-CR */
    {40, 6, 4},  /* 40GBASE-CR4 */
    {50, 30, 2}, /* 50GBASE-CR2 */
    {100, 20, 4} /* 100GBASE-CR4 */
};

/* The last mode that the nominal rate and the device allow. */
static size_t nominal(const struct vcx_device *device)
{
    uint64_t gbps = vcx_least(vcx_model(device)->most_gbps, device->configuration.nominal_bps / 1000000000u);
    size_t i = VCX_COUNT(modes) - 1;
    while (i > 0 && modes[i].gbps > gbps)
        i--;
    return i;
}

uint32_t vcx_link_mode(const struct vcx_device *device)
{
    return 1u << modes[nominal(device)].bit;
}

uint16_t vcx_link_gbps(const struct vcx_device *device)
{
    return modes[nominal(device)].gbps;
}

uint8_t vcx_link_lanes(const struct vcx_device *device)
{
    return modes[nominal(device)].lanes == 1 ? 1 : 4;
}

uint32_t vcx_link_modes(const struct vcx_device *device)
{
    uint32_t all = 0;
    for (size_t i = 0; i <= nominal(device); i++)
        all |= 1u << modes[i].bit;
    return all;
}
