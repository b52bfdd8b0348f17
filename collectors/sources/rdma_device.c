#include "collectors/sources/rdma_device.h"

#include "lib/text.h"
#include <rdma/rdma_netlink.h>
#include <stdlib.h>
#include <string.h>

#define MAX_PORTS 1024

struct collected {
    struct rdma_ports *ports;
    const struct rdma_port *device; /* whose ports are being read; NULL: devices */
};

static void copy(char *to, size_t size, const char *from)
{
    size_t length = from ? strnlen(from, size - 1) : 0;
    memcpy(to, from ? from : "", length);
    to[length] = '\0';
}

static int add_port(struct rdma_ports *ports, const struct rdma_port *port)
{
    if (ports->count == MAX_PORTS)
        return MNL_CB_ERROR;
    struct rdma_port *larger = realloc(ports->items, (ports->count + 1) * sizeof *larger);
    if (!larger)
        return MNL_CB_ERROR;
    ports->items = larger;
    larger[ports->count++] = *port;
    return MNL_CB_OK;
}

static int keep_device(const struct nlmsghdr *message, void *data)
{
    const struct nlattr *table[RDMA_NLDEV_ATTR_MAX];
    netlink_parse(message, 0, table, RDMA_NLDEV_ATTR_MAX);
    struct rdma_port device = {0};
    const char *name = netlink_string(table[RDMA_NLDEV_ATTR_DEV_NAME]);
    if (!name || !netlink_u32(table[RDMA_NLDEV_ATTR_DEV_INDEX], &device.device_index))
        return MNL_CB_OK;
    copy(device.device, sizeof device.device, name);
    copy(device.firmware, sizeof device.firmware, netlink_string(table[RDMA_NLDEV_ATTR_FW_VERSION]));
    return add_port(data, &device);
}

static int keep_port(const struct nlmsghdr *message, void *data)
{
    const struct collected *c = data;
    const struct nlattr *table[RDMA_NLDEV_ATTR_MAX];
    netlink_parse(message, 0, table, RDMA_NLDEV_ATTR_MAX);
    struct rdma_port port = *c->device;
    if (!netlink_u32(table[RDMA_NLDEV_ATTR_PORT_INDEX], &port.port))
        return MNL_CB_OK;
    (void)netlink_u32(table[RDMA_NLDEV_ATTR_NDEV_INDEX], &port.netdev_index);
    (void)netlink_u8(table[RDMA_NLDEV_ATTR_PORT_STATE], &port.state);
    copy(port.netdev, sizeof port.netdev, netlink_string(table[RDMA_NLDEV_ATTR_NDEV_NAME]));
    return add_port(c->ports, &port);
}

static int read_ports_of(struct netlink *n, const struct rdma_port *device, struct rdma_ports *ports,
                         struct error *e)
{
    union netlink_request r;
    struct nlmsghdr *m =
        netlink_prepare(&r, RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_PORT_GET), NLM_F_DUMP);
    mnl_attr_put_u32(m, RDMA_NLDEV_ATTR_DEV_INDEX, device->device_index);
    struct collected c = {.ports = ports, .device = device};
    return netlink_call(n, m, keep_port, &c, e);
}

int rdma_ports_read(struct netlink *n, struct rdma_ports *ports, struct error *e)
{
    struct rdma_ports devices = {0};
    union netlink_request r;
    struct nlmsghdr *m = netlink_prepare(&r, RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_GET), NLM_F_DUMP);
    *ports = (struct rdma_ports){0};
    error_set(e, "too many devices, or out of memory");
    int result = netlink_call(n, m, keep_device, &devices, e);
    for (size_t i = 0; result == 0 && i < devices.count; i++)
        result = read_ports_of(n, &devices.items[i], ports, e);
    rdma_ports_free(&devices);
    if (result == 0)
        return 0;
    rdma_ports_free(ports);
    return error_prefix(e, "listing the RDMA devices");
}

void rdma_ports_free(struct rdma_ports *ports)
{
    free(ports->items);
    *ports = (struct rdma_ports){0};
}

/* "rxe0/1 (eth1), mlx5_0/1 (eth2)" */
static void describe(const struct rdma_ports *ports, struct text *out)
{
    for (size_t i = 0; i < ports->count && i < 16; i++)
        text_add(out, "%s%s/%u (%s)", i > 0 ? ", " : "", ports->items[i].device, ports->items[i].port,
                 ports->items[i].netdev[0] != '\0' ? ports->items[i].netdev : "no interface");
    if (ports->count == 0)
        text_add(out, "none");
}

const struct rdma_port *rdma_ports_find(const struct rdma_ports *ports, const char *device, uint32_t port,
                                        uint32_t netdev_index, struct error *e)
{
    for (size_t i = 0; i < ports->count; i++) {
        const struct rdma_port *p = &ports->items[i];
        if (device[0] != '\0' ? strcmp(p->device, device) == 0 && p->port == port
                              : netdev_index != 0 && p->netdev_index == netdev_index)
            return p;
    }
    struct text there = {0};
    describe(ports, &there);
    if (device[0] != '\0')
        error_set(e, "there is no RDMA device %s with port %u; the devices are: %s", device, port,
                  text_string(&there));
    else
        error_set(e,
                  "no RDMA device belongs to the interface; the devices are: %s; that of one without an "
                  "interface may be "
                  "in another network namespace",
                  text_string(&there));
    text_free(&there);
    return NULL;
}
