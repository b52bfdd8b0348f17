/*
 * A lab: where experiments run - hosts, NICs, GPUs, links, and the driver that accesses them. docs/lab.md.
 * The kind of its hosts depends on the kind of lab (lib/formats/lab_kinds.h); the physics of a simulated lab
 * are in lib/physics/.
 */
#ifndef LIB_LAB_H
#define LIB_LAB_H

#include "lib/document/table.h"
#include <stdbool.h>

/* Most bytes of a host's words: a folder of programs; an ssh destination (its lock is a file of this
 * name). */
#define LAB_MAX_PROGRAMS 400
#define LAB_MAX_SSH      190

/* A VLAN of a NIC, whose tag carries the priority of packets (IEEE 802.1Q, PCP). */
struct lab_vlan {
    int64_t id;
    char *address; /* of the VLAN interface: "10.0.1.1/24" */
};

/* A NIC of a real host. */
struct lab_nic {
    char *name;          /* in "nics"; NULL: of a node, which has its NIC alone (lab_expand) */
    char *pci;           /* "0000:41:00.0": passed through to the guest; NULL: a virtual NIC of a link */
    char *netdev;        /* inside the host; NULL: found by its address, MAC or PCI device */
    char *rdma;          /* RDMA device; NULL: found by its netdev */
    char *address;       /* "10.0.0.1/24" */
    char *mac;           /* NULL: derived from the names of lab and host */
    int64_t gid_index;   /* unset: chosen by type and address */
    int64_t ack_timeout; /* local ACK timeout of its queue pairs, 4.096 us * 2^n; unset: the traffic tool's */
    struct lab_vlan *vlan; /* flows use it; NULL: packets have no tag */
    char *gpu;             /* name of the nearest of the host's gpus; NULL: by their order */
};

struct lab_gpu {
    char *name;        /* in "gpus"; NULL: the node's own, the nearest */
    char *pci;         /* address of its first function; NULL: none is passed through */
    int64_t functions; /* unset: all that the machine has */
    int64_t index;     /* inside the host */
    /* Memory that a virtual ConnectX has in place of a GPU's; unset: it is as fast as the host's. Times are
     * those of the lab's line. */
    int64_t write_bps;
    int64_t stalls_per_s, stall_mean_ns, stall_window_ns;
};

/* Placement of a guest on its machine. */
struct lab_pin {
    char *vcpus;            /* "2-15,34-47": virtual CPU i runs on the i-th of these CPUs */
    char *emulator;         /* CPUs of the emulator's threads */
    char *memory;           /* NUMA nodes, strictly: "0,2" */
    int64_t hugepage_bytes; /* unset: none */
};

/* A host that is reached over ssh: a guest of libvirt, or a host that exists already. A host with several
 * NICs is as many of these, HOST.NIC, which are one machine: it has one connection, lock, journal and
 * sampler. */
struct lab_host {
    char *name;    /* name in the lab; also its role, unless the lab's "roles" assign another */
    char *machine; /* NULL: the host is all of its machine; read with lab_machine_name */
    /* libvirt: for guests; other hosts such as the machine itself have only ssh */
    char *domain;
    char *profile;
    char *bundle; /* versions that the profile installs; NULL: the profile's own */
    int64_t vcpus;
    int64_t memory_bytes;
    int64_t disk_bytes;
    struct lab_pin pin;
    /* ssh */
    char *ssh; /* "user@host" or a host name of the user's ssh configuration */
    int64_t port;
    char *identity; /* file with the private key */
    char *known_hosts;
    /* both */
    char *programs; /* folder of the harness's programs on the host */
    int sudo;       /* run them through sudo -n */
    struct lab_nic nic;
    struct list_of extra_nics;         /* struct lab_nic: a forwarding host's other ports */
    struct lab_gpu *gpu;               /* the nearest to the NIC */
    struct list_of nics;               /* empty: lab_expand has made nodes of them */
    struct list_of gpus;               /* struct lab_gpu: all of the machine; empty: `gpu` is the only one */
    struct physics_switch *forwarding; /* NULL: the guest is not a virtual switch */
};

/* A real switch that runs SONiC: reached over ssh, or recorded in files. */
struct lab_switch {
    char *name;
    char *ssh; /* "admin@tor"; NULL: files */
    int64_t port;
    char *identity, *known_hosts;
    int sudo;     /* run redis-cli through sudo -n */
    char *socket; /* Unix socket of the switch's redis; NULL: redis-cli's own choice, 127.0.0.1:6379 */
    char *config; /* file with its config_db.json; NULL: over ssh */
    int shared;   /* settings may reach ports that the lab does not name */
};

/* Where nccl-tests is on the hosts; all have it in the same folder, as mpirun wants it. */
struct lab_nccl_tests {
    char *folder;          /* of its programs; NULL: in the PATH */
    char *suffix;          /* of their names, such as "_mpi"; NULL: none */
    char *library_path;    /* LD_LIBRARY_PATH of its processes; NULL: as it is */
    struct list_of mpirun; /* char *: more options of mpirun */
};

/* A cable between two hosts or switches. */
struct lab_link {
    struct list_of between; /* char *: two names */
    struct list_of ports;   /* struct named_string: real switch -> its port */
    int64_t rate_bps;
    int64_t length_mm;
    int64_t delay_ps; /* unset: from the length */
    double loss;      /* fraction of frames lost at random */
    char *lossy_at;   /* the switch at an end of it where its frames get a priority without PFC; NULL: none */
    int64_t mtu;
};

/* Nodes that are generated from a shape: names are h0.., s0.., leaf0.., spine0.., edge0.., agg0..,
 * core0... */
enum lab_topology_kind {
    TOPOLOGY_STAR,
    TOPOLOGY_DUMBBELL,
    TOPOLOGY_LEAF_SPINE,
    TOPOLOGY_FAT_TREE,
    TOPOLOGY_RAIL_LEAF_SPINE,
    TOPOLOGY_DUAL_PLANE,
};
struct lab_topology {
    int kind;               /* enum lab_topology_kind */
    int64_t hosts;          /* of a star; of each side of a dumbbell; of each leaf */
    int64_t leaves, spines; /* leaf_spine; of each plane */
    int64_t groups, rails;  /* rail_leaf_spine */
    int64_t k;              /* fat_tree: ports of a switch */
    char *uplink;           /* rate of links between switches; unset: as the other links */
};

/* The network for ssh connections to guests: an existing libvirt network (addresses by DHCP), or a private
 * network of the lab. */
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
    char *pool; /* libvirt: folder of disks on the machine; NULL: derived from the lab's name */
    struct lab_management management; /* libvirt */
    struct list_of
        roles; /* struct named_string: role -> host; a role without an entry is the host with its name */
    struct list_of hosts;              /* read with lab_host_at or lab_sim_host_at */
    struct list_of switches;           /* read with lab_switch_at or lab_real_switch_at */
    struct physics_framing *framing;   /* sim */
    int truncate_to_ns;                /* sim */
    int64_t udp_port;                  /* sim */
    int ecmp_numbers;                  /* sim: enum lab_ecmp_numbers */
    struct lab_nccl_tests *nccl_tests; /* real hosts; may be NULL */
    char *nvbandwidth;                 /* real hosts: the program; NULL: in the PATH */
    struct list_of links;              /* read with lab_link_at */
    struct lab_topology *topology;     /* expanded by lab_expand, like the defaults */
    json_t *defaults;
    json_t *scaled;  /* path into a scenario -> replacement, if the scenario has a value at that path */
    json_t *sources; /* path pattern -> where the values come from */
    json_t *node_index, *role_index,
        *machine_index; /* made by lab_parse: name -> number of the node; role -> item of roles; host with
                           several NICs -> number of its first node */
};

/* Which number stands for a node in the hash that selects among equal paths. */
enum lab_ecmp_numbers { ECMP_NUMBERS_ORDER, ECMP_NUMBERS_NAMES };

/* A kind of lab and its properties. The rest of the program checks these properties, never the kind
 * itself. */
struct lab_kind {
    const char *name;   /* the word for "driver" */
    struct table table; /* of its document */
    size_t host_size;   /* of an item of lab.hosts */
    bool simulated;     /* no real hosts: nothing to reach, lock, change or restore */
    bool guests;        /* its hosts may be guests of the libvirt at lab.uri */
    bool bridges;       /* a host that forwards is a host with more than one NIC, not a switch of the lab */
};
extern const struct lab_kind lab_kinds[]; /* ended by a row without name */
/* The kind of this name, or NULL. */
const struct lab_kind *lab_kind_named(const char *name);
const struct lab_kind *lab_kind(const struct lab *lab);

extern const struct table lab_topology_table;

/* Parse and check a lab document. Its topology and defaults are expanded already (lab_expand). The files that
 * it names begin at the folder of `path`, which it was read from; NULL: they stay as they are written. On
 * error nothing is left allocated. */
int lab_parse(const json_t *json, const char *path, struct lab *lab, struct error *e);
/* A copy of the document `path` in which the files that it names are as they are opened from here; NULL when
 * memory ran out. */
json_t *lab_from_elsewhere(const json_t *json, const char *path);
/* Load, expand and parse a file; sentences begin with its path. */
int lab_load(const char *path, struct lab *lab, struct error *e);
void lab_free(struct lab *lab);
/* A copy of the document in which ranges of names, such as "h[0-15]", are written out (lib/names/range.h). */
json_t *lab_expand_ranges(const json_t *json, struct error *e);
/* A copy in which, besides, "topology" is replaced by hosts, switches and links, and "defaults" are merged
 * into each of them, over the values of the NIC's model (lib/physics/nic_models.h), whose sources are added
 * to the lab's. Each NIC of a host with "nics" is a host of its own, HOST.NIC, with "machine": HOST; hosts of
 * one machine follow each other. */
json_t *lab_expand(const json_t *json, struct error *e);

/* ---- hosts, switches and links: item i, NULL after the last */

/* A real host; a simulated lab has none. */
const struct lab_host *lab_host_at(const struct lab *lab, size_t i);
/* A simulated host; a real lab has none. */
const struct physics_host *lab_sim_host_at(const struct lab *lab, size_t i);
/* A simulated switch; a real lab has none. */
const struct physics_switch *lab_switch_at(const struct lab *lab, size_t i);
/* A real switch; a simulated lab has none. */
const struct lab_switch *lab_real_switch_at(const struct lab *lab, size_t i);
const struct lab_link *lab_link_at(const struct lab *lab, size_t i);
/* The name of node i: first the hosts (real or simulated), then the switches. */
const char *lab_node_name(const struct lab *lab, size_t i);
size_t lab_node_count(const struct lab *lab);
/* The number of the node with this name, or -1. */
int lab_node_index(const struct lab *lab, const char *name);

/* ---- machines: a host with several NICs is several nodes, one after the other */

/* The name of a host's machine: "a" of a.rail0; the host's own where it is all of its machine. */
const char *lab_machine_name(const struct lab *lab, size_t host);
/* The first node of a host's machine. */
size_t lab_machine_first(const struct lab *lab, size_t host);
bool lab_same_machine(const struct lab *lab, size_t host, size_t other);
/* The first node of the host with several NICs that has this name, or -1: no such host, or one that is a node
 * itself. */
int lab_machine_index(const struct lab *lab, const char *name);
/* The name of a node's NIC: "rail0" of a.rail0; NULL: it is not one of several. */
const char *lab_nic_name(const struct lab *lab, size_t host);
/* "a.rail0, a.rail1, ..." of a machine, as they are called where `role` plays it: at most eight. */
void lab_add_nics(const struct lab *lab, size_t first, const char *role, struct text *out);

/* The port of a real switch at which a link ends; NULL: the link does not end there, or does not say at
 * which. */
const char *lab_link_port(const struct lab_link *link, const char *name);
/* The name at a link's other end; NULL: it does not end at `name`. */
const char *lab_link_peer(const struct lab_link *link, const char *name);
/* Propagation one way: what the lab says, or by the length; 0: it says neither. */
int64_t lab_link_delay_ps(const struct lab_link *link);

/* The name of the guest that a node is, or is a NIC of. */
const char *lab_guest_name(const struct lab_host *host);
/* Does the host forward, as a bridge or as a virtual switch? */
bool lab_forwards(const struct lab_host *host);
/* Does the lab say how slow the memory is that stands for the GPU's? */
bool lab_gpu_paced(const struct lab_gpu *gpu);
/* The address that flows use, with its prefix length: that of the NIC's VLAN, else the NIC's own; may be
 * NULL. */
const char *lab_flow_address(const struct lab_nic *nic);

/* The number in the name of a node, of a NIC that of its machine: 12 of "h12" and of "h12.port1". -1: there
 * is none up to 65535. */
int32_t lab_number_in_name(const char *name);

/* ---- roles */

/* The name of the host or switch that has a role: from "roles", else the role's own name. ROLE.NIC is that
 * NIC of the role's host. */
const char *lab_node_of(const struct lab *lab, const char *role);
/* The host that has a role: its index, or -1. */
int lab_host_of(const struct lab *lab, const char *role);
/* The switch that has a role in a simulated lab: its index, or -1. */
int lab_switch_of(const struct lab *lab, const char *role);
/* The real host that has a role, or NULL. */
const struct lab_host *lab_real_host(const struct lab *lab, const char *role);
/* The real switch that has a role, or NULL. */
const struct lab_switch *lab_real_switch(const struct lab *lab, const char *role);

/* The JSON Schema of a lab, which depends on its driver. The caller owns it. */
json_t *lab_schema(void);

#endif
