/* Queueing disciplines, classes and filters over rtnetlink: only those that a RED congestion point needs. */
#ifndef NIC_CONFIG_QDISC_H
#define NIC_CONFIG_QDISC_H

#include "lib/error.h"
#include "lib/formats/settings.h"
#include "nic-config/device/device.h"
#include <linux/pkt_sched.h>
#include <stdint.h>

/* ---- parameters of the kernel's RED, computed from the user's values like tc(8) */

/* Parameters of the kernel's RED, computed from the user's values like tc(8). */

struct red_parameters {
    struct tc_red_qopt qopt;
    struct red_derived derived;
};

/* Fails as red_derive does. */
int red_compute(const struct settings_red *red, struct red_parameters *out, struct error *e);
/* Whether two parameter sets are equal in all values that can be read back from the kernel. */
bool red_same(const struct settings_red *a, const struct settings_red *b);

/* The qdiscs of nic-config have these handles, from RoCE's UDP port. */
#define QDISC_ROOT 0x47910000u /* 4791: */
#define QDISC_RED  0x47920000u /* 4792: under a class of the root */
#define ROCE_PORT  4791

/* The qdiscs, classes and filters of an interface that matter here. */
struct qdisc_state {
    char root_kind[32];
    uint32_t root_handle; /* 0: the kernel's default */
    /* of the kernel's default qdisc; 0: it has none, or does not exist */
    uint32_t default_quantum, default_packets; /* bytes; the same in packets of the MTU */
    bool has_ingress;                          /* an ingress or clsact qdisc */
    bool has_red;                              /* a RED that is our root, or our RED under it */
    struct tc_red_qopt red;
    uint32_t red_max_p;
    uint64_t class_rate_Bps; /* of class 4791:10 of an htb; 0: none */
    int filters;             /* flower filters at our root, or at ingress */
};

int qdisc_read(struct host *host, int ifindex, struct qdisc_state *state, struct error *e);

/* Each function makes one write. Errors name the interface. */
int qdisc_add_red(struct host *host, const struct device *d, uint32_t parent, uint32_t handle,
                  const struct red_parameters *red, struct error *e);
/* Two bands; packets that match no filter go to the first. */
int qdisc_add_prio(struct host *host, const struct device *d, struct error *e);
int qdisc_add_htb(struct host *host, const struct device *d, uint16_t default_class, struct error *e);
int qdisc_add_htb_class(struct host *host, const struct device *d, uint16_t minor, uint64_t rate_Bps,
                        struct error *e);
/* A plain queue as root, which replaces the kernel's default. */
int qdisc_add_fifo(struct host *host, const struct device *d, struct error *e);
int qdisc_add_ingress(struct host *host, const struct device *d, struct error *e);
int qdisc_remove(struct host *host, const struct device *d, uint32_t parent, const char *name,
                 struct error *e);

/* The forms of a RoCEv2 packet: IPv4 or IPv6, with or without a VLAN tag. */
#define QDISC_ROCE_FILTERS 4
/* Filter number 0..3 at our root: RoCE to class 4791:minor. */
int qdisc_add_roce_filter(struct host *host, const struct device *d, int number, uint16_t minor,
                          struct error *e);
/* Filter number 0..3 at ingress: RoCE (or, with everything, all packets) to another interface. */
int qdisc_add_redirect(struct host *host, const struct device *d, int number, bool everything, int to_ifindex,
                       struct error *e);

#endif
