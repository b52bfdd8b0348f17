/*
 * VLAN interfaces over rtnetlink: made, read, and their egress map changed. The egress map gives the priority
 * in the tag (PCP) for each priority of the kernel's packets (skb priority); rdma_cm reads it too (linux
 * drivers/infiniband/core/cma.c, iboe_tos_to_sl).
 */
#ifndef NIC_CONFIG_VLAN_H
#define NIC_CONFIG_VLAN_H

#include "nic-config/device/device.h"

/* The VLAN interface `d` as settings.vlan: {"of", "id", "egress"}. A new reference; NULL with a sentence. */
json_t *vlan_read(const struct device *d, struct error *e);
/* Make the interface `d`, which does not exist. */
int vlan_make(struct device *d, const struct settings_vlan *vlan, struct error *e);
/* Change the egress map of the interface `d`. */
int vlan_map(struct device *d, const struct settings_vlan *now, const struct settings_vlan *target,
             struct error *e);
/* Are they the same VLAN of the same interface? */
bool vlan_same_place(const struct settings_vlan *a, const struct settings_vlan *b);
/* And are their egress maps the same? A priority without an entry has priority 0 in the tag. */
bool vlan_same(const struct settings_vlan *a, const struct settings_vlan *b);

/* ---- messages, for tests */

/* IFLA_LINKINFO of a request: the kind, `id` unless it is 0, and egress mappings that differ from those of
 * `now` (may be NULL). */
void vlan_put(struct nlmsghdr *m, int64_t id, const struct list_of *now, const struct list_of *egress);

struct vlan_answer {
    int of; /* index of the interface below; 0: not a VLAN */
    uint16_t id;
    json_t *egress;
};
/* From an answer to RTM_GETLINK; `data` is a struct vlan_answer, to whose egress the map's entries are
 * added. */
int vlan_parse(const struct nlmsghdr *message, void *data);

#endif
