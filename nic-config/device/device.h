/* The current state of one network interface. */
#ifndef NIC_CONFIG_DEVICE_H
#define NIC_CONFIG_DEVICE_H

#include "lib/error.h"
#include "lib/formats/settings.h"
#include "lib/kernel/netlink.h"
#include <jansson.h>
#include <net/if.h>
#include <stdbool.h>

/* ---- the machine: netlink sockets and trees of files */

/* The machine that nic-config runs on: its netlink sockets, its trees of files. */

struct host {
    const char *root;                       /* "" or the folder that holds sys */
    struct netlink *route, *generic, *rdma; /* opened when first needed */
    uint16_t ethtool_family, devlink_family;
};

/* Sockets, opened at the first call; NULL with a sentence. */
struct netlink *host_route(struct host *host, struct error *e);
struct netlink *host_rdma(struct host *host, struct error *e);
/* The generic netlink socket and the number of a family ("ethtool", "devlink"). */
struct netlink *host_family(struct host *host, const char *name, uint16_t *family, struct error *e);
void host_close(struct host *host);

/* Below the root: "%s/sys/class/net/%s/...". The caller frees; NULL when memory ran out. */
char *host_path(const struct host *host, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A request that changes the machine. -1 with a sentence that begins with `what`; *number (may be NULL) is
 * the error number. */
int host_change(struct netlink *n, struct nlmsghdr *request, mnl_cb_t each, void *data, const char *what,
                int *number, struct error *e);

#define DEVICE_ADDRESS 96 /* a hardware address in text: up to 32 bytes */

struct device {
    struct host *host;
    char name[IFNAMSIZ];
    /* read again by device_refresh */
    int index; /* 0: the interface does not exist */
    char kind[32];
    char address[DEVICE_ADDRESS];
    uint32_t mtu, min_mtu, max_mtu;
    int bridge; /* index of the interface it is a port of, or 0 */
    bool up, carrier;
    uint32_t carrier_changes;
    /* found once by device_open */
    char driver[64]; /* "mlx5_core"; "" for a virtual interface */
    char pci[64];    /* "0000:41:00.0" or "" */
    char rdma[64];   /* "mlx5_0", "rxe0" or "" */
    int rdma_port;
    char link_layer[16]; /* of the RDMA port: "Ethernet", "InfiniBand" or "" */
    /* RED as last written according to the journal (its bandwidth and packet size cannot be read back), or
     * NULL */
    const struct settings_red *red_written;
};

/* True when the name is a valid interface name. */
bool device_name_valid(const char *name);
/* An interface that does not exist can be opened too (index 0), because it may be created later. */
int device_open(struct device *d, struct host *host, const char *name, struct error *e);
int device_refresh(struct device *d, struct error *e);
/* The name of an interface by its index, "" when unknown; into a buffer of IFNAMSIZ. */
int device_name_of(struct host *host, int index, char *name, struct error *e);
/* Names of all interfaces but the loopback: a JSON list, a new reference. */
json_t *device_list(struct host *host, struct error *e);
/* Names of the VLANs, macvlans and ipvlans upon an interface, which follow its state and its MTU. A new
 * reference. */
json_t *device_list_upon(const struct device *d, struct error *e);

/* Is the interface a port of an mlx5 NIC? */
bool device_is_mlx5(const struct device *d);
/* Mb/s, or 0 when unknown. */
int64_t device_speed_Mbps(const struct device *d);
/* GIDs of the RDMA device's port that are in use; 0 without one. */
int device_gid_count(const struct device *d);
/* What is known about it: driver, pci, rdma, link_layer of that, address, carrier, speed_Mbps; kind, lower
 * (device_list_lower), bond, the one that it is a port of, and rdma_below: is the RDMA device that of a NIC
 * below (true), or Soft-RoCE's upon it (false)? A new reference. */
json_t *device_facts(const struct device *d);
/* Does it have no settings of a port because it is upon other interfaces? Their names: of a bond or team its
 * ports. A new reference; an empty list: it is upon none. */
json_t *device_list_lower(const struct device *d);
/* Is it a bond or a team, whose ports have settings and counters each? */
bool device_is_bond(const struct device *d);

/*
 * After a write that may take the link down: wait until the carrier is back and stays, and the GIDs are
 * there, if they were before. `before` is the previous state; a flap is expected to begin within flap_ns
 * after since_ns (monotonic), when it was written.
 */
int device_settle(struct device *d, const struct device *before, int gids_before, int64_t since_ns,
                  int64_t flap_ns, struct error *e);
/* Wait until the carrier of all of them is on and has stayed for flap_ns; GIDs are not waited for. */
int device_settle_all(struct device *all, size_t count, int64_t flap_ns, struct error *e);
/* After a reload: wait until the interface exists again, and its RDMA device if it is to have one; finds that
 * again. */
int device_wait_back(struct device *d, bool rdma, struct error *e);

#endif
