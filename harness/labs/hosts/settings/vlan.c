#include "harness/labs/hosts/settings/vlan.h"

#include "harness/doctor/check.h"
#include "lib/document/json_text.h"
#include <inttypes.h>
#include <string.h>

#define KERNEL_PRIORITIES 8 /* skb priorities that get an entry; rdma_cm uses 0, 2, 4 and 6 (below) */

/* ---- priorities */

uint8_t vlan_priorities(const struct scenario *scenario, const char *role)
{
    const struct scenario_flow *flows = scenario->flows.items;
    uint8_t priorities = 0;
    for (size_t i = 0; i < scenario->flows.count; i++)
        if (strcmp(flows[i].from, role) == 0 || strcmp(flows[i].to, role) == 0)
            priorities |= (uint8_t)(1u << flows[i].priority);
    return priorities;
}

/* ---- the interface */

void vlan_name(const char *netdev, int64_t id, char name[VLAN_NAME])
{
    char suffix[8];
    int length = snprintf(suffix, sizeof suffix, ".%d", (int)(id & 0xfff));
    size_t room = VLAN_NAME - 1 - (size_t)length, whole = strlen(netdev);
    snprintf(name, VLAN_NAME, "%s%s", netdev + (whole > room ? whole - room : 0), suffix);
}

/*
 * The queue pairs of roce-traffic do not use the egress map: mlx5 takes the tag's priority from their
 * service level. Queue pairs of rdma_cm do: their type of service gives one of the kernel's priorities 0,
 * 2, 4, 6 (linux net/ipv4/route.c, ip_tos2prio), and the map the tag's. So one priority is that of all
 * packets; several are each that of the kernel's packets with the same number.
 */
json_t *vlan_egress(uint8_t priorities)
{
    json_t *egress = json_object();
    bool one = (priorities & (priorities - 1)) == 0;
    int only = 0;
    char key[16];
    while (one && only < 7 && !(priorities & (1u << only)))
        only++;
    for (int i = 0; i < KERNEL_PRIORITIES; i++) {
        snprintf(key, sizeof key, "%d", i);
        if (one && priorities > 1)
            json_object_set_new(egress, key, json_integer(only));
        else if (i > 0 && priorities & (1u << i))
            json_object_set_new(egress, key, json_integer(i));
    }
    return egress;
}

void vlan_add(const struct remote_host *h, const json_t *wanted, json_t *interfaces)
{
    const struct lab_vlan *vlan = h->lab->nic.vlan;
    char name[VLAN_NAME];
    if (!vlan)
        return;
    json_t *settings = json_make("{s:s,s:{s:s,s:I,s:o},s:b,s:[s]}", "kind", "vlan", "vlan", "of", h->netdev,
                                 "id", (json_int_t)vlan->id, "egress", vlan_egress(h->priorities), "up", 1,
                                 "addresses", vlan->address);
    if (json_object_get(wanted, "mtu"))
        json_object_set(settings, "mtu", json_object_get(wanted, "mtu"));
    vlan_name(h->netdev, vlan->id, name);
    json_object_set_new(interfaces, name, settings);
}

/* "0:3, 1:3" */
static void add_egress(const json_t *egress, struct text *out)
{
    const char *priority, *between = "";
    json_t *tag;
    json_object_foreach((json_t *)(uintptr_t)egress, priority, tag)
    {
        text_add(out, "%s%s:%" JSON_INTEGER_FORMAT, between, priority, json_integer_value(tag));
        between = ", ";
    }
    if (json_object_size(egress) == 0)
        text_add(out, "without entries");
}

void vlan_say(const struct remote_host *h, const json_t *plan, json_t *entries)
{
    const struct lab_vlan *vlan = h->lab->nic.vlan;
    char name[VLAN_NAME];
    struct text map = {0};
    if (!vlan)
        return;
    vlan_name(h->netdev, vlan->id, name);
    const json_t *before =
        json_object_get(json_object_get(json_object_get(plan, "before"), "interfaces"), name);
    const char *kind = json_string_value(json_object_get(before, "kind"));
    const json_t *there = json_object_get(json_object_get(before, "vlan"), "egress");
    json_t *egress = vlan_egress(h->priorities);
    add_egress(egress, &map);
    if (kind && strcmp(kind, "vlan") == 0) {
        text_add(&map, " (now ");
        add_egress(there, &map);
        text_add(&map, ")");
        doctor_add(entries, h->lab->name, "vlan", "ok", NULL,
                   "%s, VLAN %" PRId64 " of %s, is there; a run gives it %s and the egress map %s", name,
                   vlan->id, h->netdev, vlan->address, text_string(&map));
    } else {
        doctor_add(entries, h->lab->name, "vlan", "ok", NULL,
                   "a run makes %s, VLAN %" PRId64 " of %s, with %s and the egress map %s", name, vlan->id,
                   h->netdev, vlan->address, text_string(&map));
    }
    doctor_add_evidence(entries, "nic.vlan in the lab, nic-config get on the host");
    json_decref(egress);
    text_free(&map);
}
