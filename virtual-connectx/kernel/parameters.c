// SPDX-License-Identifier: GPL-2.0 OR MIT
/* The module's parameters. Each is checked before anything is made; what is refused is named with what was
 * expected. */
#include "virtual-connectx/kernel/front.h"

#include <linux/etherdevice.h>
#include <linux/module.h>

#define MEGABIT    1000000ull
#define MOST_WIRES 16
#define MOST_LINK  400000u     /* Mbit/s */
#define MOST_CABLE 1000000000u /* ns */

static ulong memory;
module_param(memory, ulong, 0444);
MODULE_PARM_DESC(memory, "physical address that memmap=SIZE$ADDRESS reserved: 4 MiB for each function");

static uint functions = 2;
module_param(functions, uint, 0444);
MODULE_PARM_DESC(
    functions, "1 to 4; without wire= and switch= a cable connects the first two, and another the other two");

static char *device = "connectx5";
module_param(device, charp, 0444);
MODULE_PARM_DESC(device, "connectx5, connectx6 or connectx4lx");

static char *wire[MOST_WIRES];
static uint wires;
module_param_array(wire, charp, &wires, 0444);
MODULE_PARM_DESC(
    wire,
    "interfaces that carry the frames, one for each function; with switch=1 further ports of the switch");

static bool with_switch;
module_param_named(switch, with_switch, bool, 0444);
MODULE_PARM_DESC(switch, "1: a switch that the functions and the interfaces of wire= are connected to");

static bool enclose[MOST_WIRES];
static uint encloses;
module_param_array(enclose, bool, &encloses, 0444);
MODULE_PARM_DESC(enclose,
                 "put each frame on wire= into a broadcast frame of type 0x88b5, for another virtual "
                 "ConnectX: bridges drop pause frames; one value, or one for each interface");

static uint link = 100;
module_param(link, uint, 0444);
MODULE_PARM_DESC(link, "what the line carries, in Mbit/s; pauses and times of congestion control follow it");

static uint nominal;
module_param(nominal, uint, 0444);
MODULE_PARM_DESC(nominal, "speed that the driver reads, in Mbit/s; 100000, or 25000 of a ConnectX-4 Lx");

static uint timeout_scale;
module_param(timeout_scale, uint, 0444);
MODULE_PARM_DESC(timeout_scale,
                 "time-outs and waits for receivers last so many times as long as on a card; 0: as many "
                 "times as the line is slower than nominal, and 100 at least");

static uint cable;
module_param(cable, uint, 0444);
MODULE_PARM_DESC(cable, "how long a frame is on its way to the function, in ns");

static ulong seed = 1;
module_param(seed, ulong, 0444);
MODULE_PARM_DESC(seed, "of what happens by chance: stalls of memory and marks");

static char *mac;
module_param(mac, charp, 0444);
MODULE_PARM_DESC(mac, "address of the first function; the others count on from it");

static uint id;
module_param(id, uint, 0444);
MODULE_PARM_DESC(
    id, "makes the addresses of this machine's functions its own: another number, 0 to 65535, on each");

static const struct kind {
    const char *name;
    u16 device_id;
    u32 nominal; /* Mbit/s */
} kinds[] = {
    {"connectx4lx", 0x1015, 25000},
    {"connectx5", 0x1017, 100000},
    {"connectx6", 0x101b, 100000},
};

static const struct kind *kind_of(const char *name)
{
    for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
        if (strcmp(kinds[i].name, name) == 0)
            return &kinds[i];
    return NULL;
}

#define REFUSE(...)                               \
    do {                                          \
        pr_err("virtual ConnectX: " __VA_ARGS__); \
        return -EINVAL;                           \
    } while (0)

static int check_wires(void)
{
    if (with_switch && functions + wires < 2)
        REFUSE("switch=1: a switch has two ports or more, functions= and interfaces of wire=\n");
    if (!with_switch && wires && wires != functions)
        REFUSE("wire= names %u interfaces for functions=%u; name one for each\n", wires, functions);
    if (!with_switch && !wires && functions % 2)
        REFUSE("functions=%u without wire=: a cable has two ends; give an even number, or interfaces\n",
               functions);
    if (encloses > 1 && encloses != wires)
        REFUSE("enclose= has %u values for %u interfaces of wire=; give one, or one for each\n", encloses,
               wires);
    for (uint i = 0; i < wires; i++)
        for (uint k = 0; k < i; k++)
            if (strcmp(wire[i], wire[k]) == 0)
                REFUSE("wire= names %s twice\n", wire[i]);
    return 0;
}

static int check_address(void)
{
    u8 address[ETH_ALEN];
    if (id > U16_MAX)
        REFUSE("id=%u: 0 to 65535\n", id);
    if (mac && id)
        REFUSE("mac= and id= both say what the addresses are; give one of them\n");
    if (mac && (!mac_pton(mac, address) || !is_valid_ether_addr(address)))
        REFUSE("mac=%s is not a unicast MAC address, such as 02:15:b3:00:00:01\n", mac);
    if (mac && address[ETH_ALEN - 1] > U8_MAX - functions + 1)
        REFUSE("mac=%s: no room in the last byte for %u functions\n", mac, functions);
    return 0;
}

int vcx_parameters_check(void)
{
    if (functions && !memory)
        REFUSE("memory= is missing: boot with memmap=%uM$ADDRESS and give memory=ADDRESS\n", functions * 4);
    if (memory % VCX_BAR_BYTES)
        REFUSE("memory=0x%lx is not a multiple of 4 MiB\n", memory);
    if (functions < !with_switch || functions > VCX_MOST_FUNCTIONS)
        REFUSE("functions=%u: 1 to %u, or 0 with switch=1\n", functions, VCX_MOST_FUNCTIONS);
    if (!kind_of(device))
        REFUSE("device=%s: connectx5, connectx6 or connectx4lx\n", device);
    if (link < 1 || link > MOST_LINK)
        REFUSE("link=%u: 1 to %u Mbit/s\n", link, MOST_LINK);
    nominal = nominal ? nominal : kind_of(device)->nominal;
    if (nominal < link || nominal > MOST_LINK)
        REFUSE("nominal=%u: from link=%u to %u Mbit/s\n", nominal, link, MOST_LINK);
    if (timeout_scale > VCX_MOST_TIMEOUT_SCALE)
        REFUSE("timeout_scale=%u: up to %u\n", timeout_scale, VCX_MOST_TIMEOUT_SCALE);
    if (cable > MOST_CABLE)
        REFUSE("cable=%u: up to %u ns\n", cable, MOST_CABLE);
    vcx_functions = functions;
    return check_wires() ? -EINVAL : check_address();
}

phys_addr_t vcx_parameter_memory(void)
{
    return memory;
}

bool vcx_parameter_enclose(unsigned int index)
{
    return enclose[encloses > 1 ? index : 0];
}

const char *vcx_parameter_wire(unsigned int index)
{
    return index < wires ? wire[index] : NULL;
}

bool vcx_parameter_switch(void)
{
    return with_switch;
}

struct vcx_configuration vcx_parameter_configuration(unsigned int index)
{
    struct vcx_configuration configuration = {
        .device_id = kind_of(device)->device_id,
        .mac = {0x02, 0x15, 0xb3, id >> 8, id, 1},
        .nominal_bps = nominal * MEGABIT,
        .line_bps = link * MEGABIT,
        .timeout_scale = timeout_scale,
        .cable_ns = cable,
        .seed = seed + index,
    };
    if (mac)
        mac_pton(mac, configuration.mac);
    configuration.mac[ETH_ALEN - 1] += index;
    return configuration;
}
