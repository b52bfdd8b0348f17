/*
 * A lab: where things are done - hosts, NICs, GPUs, links, and the driver that reaches them. docs/lab.md.
 * What its hosts are depends on its kind (lib/formats/lab_kinds.h); the physics of a simulated lab are in
 * lib/physics/.
 */
#ifndef LIB_LAB_H
#define LIB_LAB_H

#include "lib/document/table.h"
#include <stdbool.h>

/* A NIC of a real host. */
struct lab_nic {
    char *pci;           /* "0000:41:00.0": passed through to the guest; NULL: a link's virtual NIC */
    char *netdev;        /* inside the host; NULL: found by its address, MAC or PCI device */
    char *rdma;          /* RDMA device; NULL: found by its netdev */
    char *address;       /* "10.0.0.1/24" */
    char *mac;           /* NULL: made from the lab's and host's name */
    int64_t gid_index;   /* unset: chosen by type and address */
    int64_t ack_timeout; /* local ACK timeout of its queue pairs, 4.096 us * 2^n; unset: the traffic tool's */
};

struct lab_gpu {
    char *pci;         /* its first function */
    int64_t functions; /* unset: as many as the machine shows */
    int64_t index;     /* inside the host */
};

/* Placement of a guest on its machine. */
struct lab_pin {
    char *vcpus;            /* "2-15,34-47": virtual CPU i runs on the i-th of these */
    char *emulator;         /* CPUs of the emulator's threads */
    char *memory;           /* NUMA nodes, strictly: "0,2" */
    int64_t hugepage_bytes; /* unset: none */
};

/* A host that is reached over ssh: one that libvirt runs, or one that is simply there. */
struct lab_host {
    char *name; /* in the lab: the role, unless the lab's "roles" bind it */
    /* libvirt: guests; the machine itself is reached by ssh */
    char *domain;
    char *profile;
    char *bundle; /* versions that the profile installs; NULL: the profile's own */
    int64_t vcpus;
    int64_t memory_bytes;
    int64_t disk_bytes;
    struct lab_pin pin;
    /* ssh */
    char *ssh; /* "user@host" or a name of the user's ssh configuration */
    int64_t port;
    char *identity; /* file with the private key */
    char *known_hosts;
    /* both */
    char *programs; /* folder of our programs there */
    int sudo;       /* run them through sudo -n */
    struct lab_nic nic;
    struct list_of extra_nics; /* struct lab_nic: a forwarding host's other ports */
    struct lab_gpu *gpu;
};

/* A cable between two hosts or switches. */
struct lab_link {
    struct list_of between; /* char *: two names */
    int64_t rate_bps;
    int64_t length_mm;
    int64_t delay_ps; /* unset: by the length */
    double loss;      /* share of frames lost at random */
    int64_t mtu;
};

/* Many nodes by a helper: names are h0.., s0.., leaf0.., spine0.., edge0.., agg0.., core0... */
enum lab_topology_kind { TOPOLOGY_STAR, TOPOLOGY_DUMBBELL, TOPOLOGY_LEAF_SPINE, TOPOLOGY_FAT_TREE };
struct lab_topology {
    int kind;               /* enum lab_topology_kind */
    int64_t hosts;          /* star; dumbbell: a side; leaf_spine: a leaf */
    int64_t leaves, spines; /* leaf_spine */
    int64_t k;              /* fat_tree: ports of a switch */
    char *uplink;           /* rate of links between switches; unset: as the others */
};

/* The network over which guests are reached: one that libvirt has (addresses by DHCP), or a network of the
 * lab's own. */
struct lab_management {
    char *network; /* name of a libvirt network; NULL with a subnet */
    char *subnet;  /* "198.51.100.0/26": the machine gets .1, guests .11, .12, ... in the lab's order */
};

struct lab {
    int64_t schema;
    char *name;
    char *title;
    int driver; /* index into lab_kinds */
    char *uri;  /* libvirt */
    char *pool; /* libvirt: folder of disks on the machine; NULL: chosen by the lab's name */
    struct lab_management management; /* libvirt */
    struct list_of
        roles; /* struct named_string: role -> host; without an entry a role is the host of its name */
    struct list_of hosts;            /* read with lab_host_at or lab_sim_host_at */
    struct list_of switches;         /* read with lab_switch_at: sim */
    struct physics_framing *framing; /* sim */
    int truncate_to_ns;              /* sim */
    int64_t udp_port;                /* sim */
    struct list_of links;            /* read with lab_link_at */
    struct lab_topology *topology;   /* written out by lab_expand, as are the defaults */
    json_t *defaults;
    json_t *scaled;  /* path into a scenario -> what replaces the value there, where there is one */
    json_t *sources; /* path pattern -> where the values come from */
};

/* What a kind of lab is, and what it can do: the rest of the program asks this, never which kind a lab is. */
struct lab_kind {
    const char *name;   /* the word for "driver" */
    struct table table; /* of its document */
    size_t host_size;   /* of an item of lab.hosts */
    bool simulated;     /* nothing real: no host to reach, lock, change or restore */
    bool guests;        /* its hosts may be guests of the libvirt at lab.uri */
    bool bridges;       /* a host that forwards is a host with more than one NIC, not a switch of the lab */
    bool forces_traffic_class; /* settings.traffic_class replaces that of flows */
};
extern const struct lab_kind lab_kinds[]; /* ended by a row without name */
/* The kind of this name, or NULL. */
const struct lab_kind *lab_kind_named(const char *name);
const struct lab_kind *lab_kind(const struct lab *lab);

extern const struct table lab_topology_table;

/* Parse a lab document and check what tables cannot say. The document has its topology and defaults written
 * out already (lab_expand). On error nothing is left allocated. */
int lab_parse(const json_t *json, struct lab *lab, struct error *e);
/* Load, expand and parse a file; sentences begin with its path. */
int lab_load(const char *path, struct lab *lab, struct error *e);
void lab_free(struct lab *lab);
/* A copy of the document with "topology" drawn as hosts, switches and links, and "defaults" merged into each.
 */
json_t *lab_expand(const json_t *json, struct error *e);

/* ---- hosts, switches and links: item i, NULL after the last */

/* A real host; a simulated lab has none. */
const struct lab_host *lab_host_at(const struct lab *lab, size_t i);
/* A simulated host; a real lab has none. */
const struct physics_host *lab_sim_host_at(const struct lab *lab, size_t i);
const struct physics_switch *lab_switch_at(const struct lab *lab, size_t i);
const struct lab_link *lab_link_at(const struct lab *lab, size_t i);
/* Hosts of either kind, then switches: the name of node i. */
const char *lab_node_name(const struct lab *lab, size_t i);

/* ---- roles */

/* The name of the host or switch that plays a role: what "roles" says, else the role itself. */
const char *lab_node_of(const struct lab *lab, const char *role);
/* The host that plays a role: its index, or -1. */
int lab_host_of(const struct lab *lab, const char *role);
/* The switch that plays a role in a simulated lab: its index, or -1. */
int lab_switch_of(const struct lab *lab, const char *role);
/* The real host that plays a role, or NULL. */
const struct lab_host *lab_real_host(const struct lab *lab, const char *role);

#endif
