/* Interfaces, addresses, networks and names of a lab's guests, derived from the lab alone: the same lab gives
 * the same result. */
#ifndef GUEST_WIRING_H
#define GUEST_WIRING_H

#include "lib/error.h"
#include "lib/formats/lab.h"
#include "lib/formats/lab_words.h"
#include <stdbool.h>

#define WIRING_MAX_PORTS LAB_GUEST_PORTS

/* How an interface is connected. With qemu:///session, which may not create bridges, ssh uses a forwarded
 * port of the machine's loopback, and a link is a pair of UDP sockets there. */
enum plug { PLUG_NETWORK, PLUG_FORWARD, PLUG_UDP };

/* A virtual interface of a guest. */
struct wiring_port {
    enum plug plug;
    int local_port, peer_port; /* PLUG_FORWARD: the machine's port; PLUG_UDP: ours and the other end's */
    char name[16];             /* in the guest: mgmt0, data0, data1... */
    char mac[18];
    char network[96];         /* PLUG_NETWORK: the libvirt network */
    char address[64];         /* "10.0.0.1/24"; empty: none, or DHCP for mgmt0 */
    int64_t mtu;              /* 0: that of the network */
    int64_t rate_bps;         /* of the link; 0: the lab does not say */
    const char *peer_profile; /* of the guest at the other end; the lab owns it */
    const char *nic_address;  /* of the lab's NIC whose first link this is; NULL: none; the lab owns it */
};

struct wiring {
    struct wiring_port ports[WIRING_MAX_PORTS]; /* the first is mgmt0 */
    size_t count;
};

/* How many nodes of the lab the guest is: its NICs ("nics"), or 1. They follow each other in lab.hosts. */
size_t wiring_nodes(const struct lab *lab, const struct lab_host *host);
/* Fill the wiring of a guest (a host with a domain): the data interfaces of its NICs, one after the other. */
int wiring_of_guest(const struct lab *lab, const struct lab_host *host, struct wiring *wiring,
                    struct error *e);

/* A network of the lab that virt-provision creates. */
struct wiring_network {
    char name[96];
    char address[64]; /* the machine's address in it: "198.51.100.1"; empty: none */
    int prefix;
    int64_t mtu; /* 0: 1500 */
};
/* The lab's networks: its management network if it has a subnet, then one for each virtual link. The caller
 * frees *networks. */
int wiring_networks(const struct lab *lab, struct wiring_network **networks, size_t *count, struct error *e);

#endif
