#include "traffic/connection/device.h"

#include "lib/kernel/sysfs.h"
#include "lib/roce/mlx5.h"
#include "lib/text.h"
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <rdma/rdma_cma.h>
#include <stdlib.h>
#include <string.h>

/* ---- small conversions */

char *gid_text(const union ibv_gid *gid, char *text, size_t size)
{
    const struct in6_addr *address = (const void *)gid->raw;
    if (IN6_IS_ADDR_V4MAPPED(address))
        inet_ntop(AF_INET, gid->raw + 12, text, (socklen_t)size);
    else
        inet_ntop(AF_INET6, gid->raw, text, (socklen_t)size);
    return text;
}

int gid_parse(const char *text, union ibv_gid *gid, struct error *e)
{
    memset(gid, 0, sizeof *gid);
    if (inet_pton(AF_INET, text, gid->raw + 12) == 1) {
        gid->raw[10] = gid->raw[11] = 0xff;
        return 0;
    }
    if (inet_pton(AF_INET6, text, gid->raw) == 1)
        return 0;
    return error_set(e, "\"%.60s\" is not a GID: expected an IPv4 or IPv6 address", text);
}

int mtu_bytes(enum ibv_mtu mtu)
{
    return mtu >= IBV_MTU_256 && mtu <= IBV_MTU_4096 ? 128 << mtu : 0;
}

enum ibv_mtu mtu_code(int bytes)
{
    for (enum ibv_mtu mtu = IBV_MTU_256; mtu <= IBV_MTU_4096; mtu++)
        if (mtu_bytes(mtu) == bytes)
            return mtu;
    return 0;
}

static uint32_t wanted_gid_type(int type)
{
    static const uint32_t types[] = {IBV_GID_TYPE_ROCE_V2, IBV_GID_TYPE_ROCE_V1, IBV_GID_TYPE_IB};
    return types[type];
}

/* ---- opening */

static int open_all(struct device *device, struct error *e)
{
    int count = 0;
    struct ibv_device **found = ibv_get_device_list(&count);
    device->list = found ? calloc((size_t)count + 1, sizeof(struct ibv_context *)) : NULL;
    for (int i = 0; device->list && i < count; i++) {
        struct ibv_context *context = ibv_open_device(found[i]);
        if (context)
            device->list[device->list_count++] = context;
    }
    if (found)
        ibv_free_device_list(found);
    if (device->list_count)
        return 0;
    if (count > 0)
        return error_set(
            e,
            "none of the %d RDMA devices can be opened: are /dev/infiniband/uverbs* readable by this user?",
            count);
    return error_set(
        e, "this host has no RDMA device (ibv_devices lists them): is the driver loaded (mlx5_ib), or for "
           "Soft-RoCE: rdma link add rxe0 type rxe netdev NAME");
}

/* rdma_cm opens its own contexts, and queue pairs for its connections must be created on those. */
static int open_all_of_rdma_cm(struct device *device, struct error *e)
{
    int count = 0;
    errno = 0;
    device->list = rdma_get_devices(&count);
    device->list_from_rdma_cm = device->list;
    device->list_count = device->list ? (size_t)count : 0;
    if (device->list_count)
        return 0;
    return error_set_errno(e, errno ? errno : ENODEV, "rdma_cm finds no RDMA device (is rdma_ucm loaded?)");
}

void rdma_device_close(struct device *device)
{
    if (device->list_from_rdma_cm) {
        rdma_free_devices(device->list);
    } else {
        for (size_t i = 0; device->list && i < device->list_count; i++)
            ibv_close_device(device->list[i]);
        free(device->list);
    }
    *device = (struct device){0};
}

bool rdma_device_virtual(const struct device *device)
{
    char board[64];
    return sysfs_text(board, sizeof board, "", "/sys/class/infiniband/%s/board_id", device->name) > 0 &&
           is_virtual_board(board);
}

/* ConnectX-3 and earlier have the same vendor, and smaller part numbers: those of mlx5 begin with
 * Connect-IB's (linux drivers/net/ethernet/mellanox/mlx5/core/main.c, mlx5_core_pci_table). */
#define VENDOR_MELLANOX 0x2c9
#define PART_CONNECT_IB 0x1011

bool rdma_device_mlx5(const struct device *device)
{
    return device->attributes.vendor_id == VENDOR_MELLANOX &&
           device->attributes.vendor_part_id >= PART_CONNECT_IB;
}

/* ---- choosing */

/* A suitable port and GID of one device. */
struct candidate {
    struct ibv_context *context;
    struct ibv_port_attr port_attributes;
    uint8_t port;
    struct ibv_gid_entry gid;
    int score; /* higher is better; 0: none */
};

enum { SCORE_ACTIVE = 1, SCORE_IPV4 = 2, SCORE_ADDRESS = 4, SCORE_TOLD = 8 };

static int score_gid(const struct local_options *options, const union ibv_gid *address,
                     const struct ibv_gid_entry *entry)
{
    char text[GID_TEXT_MAX];
    bool same = address && memcmp(entry->gid.raw, address->raw, sizeof address->raw) == 0;
    if (options->gid_index >= 0) /* if several devices have this index: the one with the address */
        return (int64_t)entry->gid_index == options->gid_index ? SCORE_TOLD + (same ? SCORE_ADDRESS : 0) : 0;
    if (entry->gid_type != wanted_gid_type(options->gid_type) && entry->gid_type != IBV_GID_TYPE_IB)
        return 0;
    if (same)
        return SCORE_ADDRESS + SCORE_ACTIVE;
    /* An IPv4 address is more often reachable than a link-local one. */
    return strchr(gid_text(&entry->gid, text, sizeof text), '.') ? SCORE_IPV4 + SCORE_ACTIVE : SCORE_ACTIVE;
}

/* Active, or active while its link is being recovered. */
static bool port_is_active(const struct ibv_port_attr *port)
{
    return port->state == IBV_PORT_ACTIVE || port->state == IBV_PORT_ACTIVE_DEFER;
}

static void consider_port(struct ibv_context *context, uint8_t port, const struct local_options *options,
                          const union ibv_gid *address, struct candidate *best)
{
    struct candidate here = {.context = context, .port = port};
    if (ibv_query_port(context, port, &here.port_attributes) != 0 ||
        (!port_is_active(&here.port_attributes) && options->device_port == 0))
        return;
    for (int i = 0; i < here.port_attributes.gid_tbl_len; i++) {
        if (ibv_query_gid_ex(context, port, (uint32_t)i, &here.gid, 0) != 0)
            continue;
        here.score = score_gid(options, address, &here.gid);
        if (here.score > best->score)
            *best = here;
    }
}

static void consider_device(struct ibv_context *context, const struct local_options *options,
                            const union ibv_gid *address, struct candidate *best)
{
    struct ibv_device_attr attributes;
    if (options->device && strcmp(ibv_get_device_name(context->device), options->device) != 0)
        return;
    if (ibv_query_device(context, &attributes) != 0)
        return;
    for (int port = 1; port <= attributes.phys_port_cnt; port++)
        if (options->device_port == 0 || options->device_port == port)
            consider_port(context, (uint8_t)port, options, address, best);
}

/* The available devices and ports, for the error sentence when none is suitable: "rxe0 port 1 DOWN; mlx5_0
 * port 1 ACTIVE". */
static void describe_ports(const struct device *device, struct text *text)
{
    for (size_t i = 0; device->list && i < device->list_count; i++) {
        struct ibv_device_attr attributes;
        struct ibv_port_attr port_attributes;
        if (ibv_query_device(device->list[i], &attributes) != 0)
            continue;
        for (int port = 1; port <= attributes.phys_port_cnt; port++)
            if (ibv_query_port(device->list[i], (uint8_t)port, &port_attributes) == 0)
                text_add(text, "%s%s port %d %s with %d GIDs", text->length ? "; " : "",
                         ibv_get_device_name(device->list[i]->device), port,
                         ibv_port_state_str(port_attributes.state), port_attributes.gid_tbl_len);
    }
}

static int nothing_found(const struct device *device, const struct local_options *options,
                         const char *address, struct error *e)
{
    struct text there = {0}, requested = {0};
    describe_ports(device, &there);
    if (options->gid_index >= 0)
        text_add(&requested, "index %" PRId64, options->gid_index);
    else
        text_add(&requested, "type %s%s%s", gid_type_names[options->gid_type], address ? ", address " : "",
                 address ? address : "");
    error_set(e,
              "%s%s has %sactive port with a suitable GID%s (requested: %s); available: %s. A port is active "
              "when its link is up; a GID needs an address on the interface",
              options->device ? "device " : "no RDMA device", options->device ? options->device : "",
              options->device ? "no " : "an ", options->device && options->gid_index >= 0 ? " index" : "",
              text_string(&requested), text_string(&there));
    text_free(&requested);
    text_free(&there);
    return -1;
}

static int choose(struct device *device, const struct local_options *options, const char *control_address,
                  struct error *e)
{
    union ibv_gid address;
    struct candidate best = {0};
    const char *wanted = options->address ? options->address : control_address;
    bool known = wanted && gid_parse(wanted, &address, NULL) == 0;
    if (options->address && !known)
        return error_set(e, "--address %.60s: expected an IPv4 or IPv6 address", options->address);
    for (size_t i = 0; device->list && i < device->list_count; i++)
        consider_device(device->list[i], options, known ? &address : NULL, &best);
    if (best.score == 0 || (options->address && options->gid_index < 0 && best.score < SCORE_ADDRESS))
        return nothing_found(device, options, options->address, e);
    device->context = best.context;
    device->name = ibv_get_device_name(best.context->device);
    device->port = best.port;
    device->lid = best.port_attributes.lid;
    device->ethernet = best.port_attributes.link_layer == IBV_LINK_LAYER_ETHERNET;
    device->mtu_bytes = mtu_bytes(best.port_attributes.active_mtu);
    device->gid_index = (int)best.gid.gid_index;
    device->gid = best.gid.gid;
    if (!port_is_active(&best.port_attributes))
        return error_set(e, "device %s port %d is %s: is the link up (ip link) and the cable connected?",
                         device->name, device->port, ibv_port_state_str(best.port_attributes.state));
    if (ibv_query_device(device->context, &device->attributes) != 0)
        return error_set_errno(e, errno, "querying device %s", device->name);
    return 0;
}

int rdma_device_open(struct device *device, const struct local_options *options, int connection,
                     const char *control_address, struct error *e)
{
    *device = (struct device){0};
    int result = connection == CONNECTION_RDMA ? open_all_of_rdma_cm(device, e) : open_all(device, e);
    if (result == 0)
        result = choose(device, options, control_address, e);
    if (result != 0)
        rdma_device_close(device);
    return result;
}
