/* Checks of who is in control of a NIC: its congestion control, its DCB settings; and of what a container
 * sees of it. */
#include "collectors/facts/judge.h"
#include "collectors/facts/nic/firmware_config.h"

#include "lib/document/json_text.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The NIC of the facts that is this one's master and has its RDMA: a bond or a team. NULL: there is none. */
static const json_t *rdma_of_master(const struct judge *j, const json_t *nic)
{
    const char *master = fact_word(nic, "master", NULL);
    size_t i;
    const json_t *other;
    json_array_foreach(json_object_get(j->facts, "nics"), i, other)
    {
        if (master[0] && strcmp(fact_word(other, "netdev", NULL), master) == 0 &&
            strcmp(fact_word(other, "kind", NULL), "bridge") != 0 &&
            json_is_object(json_object_get(other, "rdma")) && !json_is_object(json_object_get(nic, "rdma")))
            return other;
    }
    return NULL;
}

/* ---- the port: what it speaks, whether it is up, whose its settings are */

#define SETTINGS "PFC, buffers, DCQCN and pause counters"

/* "ens1f0np0, ens1f1np1" */
static void name_all(const json_t *list, char *names, size_t size)
{
    size_t i, used = 0;
    const json_t *name;
    names[0] = '\0';
    json_array_foreach(list, i, name)
    {
        if (json_is_string(name) && used + json_string_length(name) + 3 < size)
            used += (size_t)snprintf(names + used, size - used, "%s%s", used ? ", " : "",
                                     json_string_value(name));
    }
}

static bool has_port(const struct judge *j, const json_t *nic)
{
    return json_is_object(json_object_get(nic, "rdma")) || rdma_of_master(j, nic);
}

/* Is the link of any RDMA port up, or not known? One that is down beside others may have no cable. */
static bool any_up(const struct judge *j)
{
    size_t i;
    const json_t *nic;
    json_array_foreach(json_object_get(j->facts, "nics"), i, nic)
    {
        if (has_port(j, nic) && fact_link(nic) != LINK_DOWN)
            return true;
    }
    return false;
}

static void judge_state(struct judge *j, const json_t *nic)
{
    const char *name = judge_nic_name(nic), *port = fact_word(nic, "rdma", "state"),
               *state = fact_word(nic, "state", NULL), *physical = fact_word(nic, "rdma", "phys_state");
    const char *transport = fact_word(nic, "rdma", "transport");
    bool waits = strcmp(transport, "InfiniBand") == 0 && (port[0] == '2' || port[0] == '3');
    char fix[160];
    snprintf(fix, sizeof fix, "ip link set %s up; else look at the cable, its modules and the other end",
             name);
    if (fact_link(nic) == LINK_DOWN)
        judge_say(j, any_up(j) ? VERDICT_WARNING : VERDICT_FAILURE, name,
                  waits ? "start a subnet manager on the fabric (opensm)" : fix,
                  "its port is down: it neither sends nor receives (RDMA port %s%s%s; interface %s)",
                  port[0] ? port : "not shown", physical[0] ? ", " : "", physical,
                  state[0] ? state : "not shown");
    else if (fact_link(nic) == LINK_UNKNOWN)
        judge_say(j, VERDICT_UNKNOWN, name, NULL, "whether its port is up is not shown");
    else
        judge_say(j, VERDICT_OK, name, NULL, "its port is up%s%s", transport[0] ? ": " : "", transport);
}

static void judge_transport(struct judge *j, const json_t *nic)
{
    const char *transport = fact_word(nic, "rdma", "transport"), *driver = fact_word(nic, "pci", "driver");
    char fix[200];
    snprintf(
        fix, sizeof fix,
        "for RoCE: mstconfig -d %s set LINK_TYPE_P1=2 (ETH), and reboot, if the card can be either (VPI)",
        fact_word(nic, "pci", "address"));
    if (judge_speaks_roce(nic))
        return;
    judge_say(j, VERDICT_WARNING, judge_nic_name(nic),
              strcmp(transport, "InfiniBand") == 0 && strcmp(driver, "mlx5_core") == 0 ? fix : NULL,
              "the port of %s speaks %s, not RoCE: it has no PFC, DCQCN, DSCP or RoCE GID to judge",
              fact_word(nic, "rdma", "device"),
              strcmp(transport, "other") == 0 ? "another protocol" : transport);
}

/* Whose are settings and counters, if not the interface's own? */
static void judge_whose(struct judge *j, const json_t *nic)
{
    const char *name = judge_nic_name(nic), *kind = fact_word(nic, "kind", NULL),
               *device = fact_word(nic, "rdma", "device"), *address = fact_word(nic, "pci", "address");
    const json_t *master = rdma_of_master(j, nic);
    char lower[200];
    name_all(json_object_get(nic, "lower"), lower, sizeof lower);
    if (master)
        judge_say(j, VERDICT_WARNING, name, "set it on every port of the bond, and count on every one",
                  "it is a port of %s, which has the RDMA device %s: " SETTINGS
                  " of %s alone are not those of "
                  "the bond's traffic",
                  fact_word(master, "netdev", NULL), fact_word(master, "rdma", "device"), name);
    else if (json_is_true(json_object_get(nic, "bonded")) && device[0])
        judge_say(
            j, VERDICT_WARNING, name, "take it out of the bond, or let the driver join its ports (RoCE LAG)",
            "it is a port of %s, and keeps its RDMA device %s (no RoCE LAG): what that sends leaves by %s "
            "alone, also with the bond's address, while the bond's peers answer at any port",
            fact_word(nic, "master", NULL), device, name);
    else if (strcmp(kind, "bond") == 0)
        judge_say(j, VERDICT_WARNING, name, "set it on every port of the bond, and count on every one",
                  "%s is the RDMA device of a bond upon %s: " SETTINGS " are each port's own", device,
                  lower[0] ? lower : "ports that are not shown here");
    else if (kind[0])
        judge_say(j, VERDICT_WARNING, name, "set it, and count, where the NIC's own interface is",
                  "it is a %s upon %s: " SETTINGS " are those of the NIC's own interface (%s%s%s)", kind,
                  lower[0] ? lower : "an interface of another network namespace", device,
                  address[0] ? ", " : "", address);
    if (json_is_true(fact_at(nic, "pci", "virtual_function")))
        judge_say(
            j, VERDICT_WARNING, name,
            "set PFC and buffers on the physical function, on the machine that has it, and count pauses "
            "there; or pass the physical function through",
            "%s is a virtual function: PFC, buffers and the port's pause counters belong to the physical "
            "function",
            address);
}

void check_port(struct judge *j)
{
    size_t i;
    const json_t *nic;
    json_array_foreach(json_object_get(j->facts, "nics"), i, nic)
    {
        if (!has_port(j, nic))
            continue;
        judge_state(j, nic);
        judge_transport(j, nic);
        judge_whose(j, nic);
    }
}

/* ---- congestion control */

/* Commands that tell, where host-facts could not: as root, with mstflint or NVIDIA's MFT. */
static void how_to_find_out(const json_t *nic, char *fix, size_t size)
{
    snprintf(fix, size,
             "install mstflint and run host-facts as root: it reads mstconfig -d %s -e query "
             "(ROCE_CC_LEGACY_DCQCN, USER_PROGRAMMABLE_CC)",
             fact_word(nic, "pci", "address"));
}

static void judge_congestion(struct judge *j, const json_t *nic)
{
    const json_t *found = json_object_get(nic, "congestion_control");
    const char *control = fact_word(found, "control", NULL), *why = fact_word(found, "why", NULL);
    const char *netdev = fact_word(nic, "netdev", NULL);
    char fix[256];
    how_to_find_out(nic, fix, sizeof fix);
    if (strcmp(control, "dcqcn") == 0)
        judge_say(j, VERDICT_OK, netdev, NULL, "DCQCN (%s)", why);
    else if (strcmp(control, "rtt") == 0)
        judge_say(j, VERDICT_OK, netdev, NULL, "RTTCC of Zero Touch RoCE (%s): settings of DCQCN do nothing",
                  why);
    else if (strcmp(control, "programmable") == 0)
        judge_say(j, VERDICT_OK, netdev, NULL,
                  "what a program of DOCA PCC says, while one runs (%s): settings of DCQCN do nothing then",
                  why);
    else if (strcmp(control, "negotiated") == 0)
        judge_say(j, VERDICT_OK, netdev, NULL,
                  "DCQCN, or RTTCC of Zero Touch RoCE for connections whose ends agree on it (%s): settings "
                  "of DCQCN do "
                  "nothing for those",
                  why);
    else
        judge_say(j, VERDICT_UNKNOWN, netdev, fix,
                  "which congestion control its firmware uses is not known: %s", why);
    judge_show(j, "firmware settings: %s%s; PCI %s", fact_word(nic, "firmware_config", "from"),
               fact_word(nic, "firmware_config", "missing"), fact_word(nic, "pci", "id"));
}

void check_congestion(struct judge *j)
{
    size_t i;
    const json_t *nic;
    json_array_foreach(json_object_get(j->facts, "nics"), i, nic)
    {
        if (json_is_object(json_object_get(nic, "congestion_control")))
            judge_congestion(j, nic);
    }
}

/* ---- DCBX */

static bool has_agent(const struct judge *j, const char *name)
{
    size_t i;
    const json_t *agent;
    json_array_foreach(json_object_get(j->facts, "lldp_agents"), i, agent)
    {
        if (json_is_string(agent) && strcmp(json_string_value(agent), name) == 0)
            return true;
    }
    return false;
}

/* DCBX of the firmware needs its LLDP agent, which sends and receives all TLVs (mlxconfig_host.db,
 * lldp_nb_dcbx). 1: it is on, 0: off, -1: not known. */
static int firmware_negotiates(const json_t *nic)
{
    int64_t dcbx = firmware_config_port_value(nic, "LLDP_NB_DCBX"),
            rx = firmware_config_port_value(nic, "LLDP_NB_RX_MODE"),
            tx = firmware_config_port_value(nic, "LLDP_NB_TX_MODE");
    if (!firmware_config_known(nic))
        return -1;
    return dcbx > 0 && rx != 0 && rx != 1 && tx != 0 && tx != 1;
}

static void judge_firmware_dcbx(struct judge *j, const json_t *nic, int negotiates)
{
    const char *netdev = fact_word(nic, "netdev", NULL), *address = fact_word(nic, "pci", "address");
    char fix[256];
    snprintf(
        fix, sizeof fix,
        "dcb dcbx set dev %s host ieee (until the next boot; for good: mstconfig -d %s set LLDP_NB_DCBX_P1=0 "
        "LLDP_NB_DCBX_P2=0, and reboot)",
        netdev, address[0] ? address : "ADDRESS");
    if (negotiates > 0)
        judge_say(j, VERDICT_WARNING, netdev, fix,
                  "its firmware negotiates DCBX: PFC, ETS and priorities that are set by hand are "
                  "overwritten by what "
                  "the switch sends");
    else
        judge_say(j, VERDICT_WARNING, netdev, fix,
                  "DCBX is left to its firmware, and whether its LLDP agent is on is not known: what is set "
                  "by hand may "
                  "be overwritten");
}

static void judge_host_dcbx(struct judge *j, const json_t *nic)
{
    const char *netdev = fact_word(nic, "netdev", NULL);
    char fix[128];
    snprintf(fix, sizeof fix, "lldptool -T -i %s -V PFC willing=no, or systemctl stop lldpad", netdev);
    if (has_agent(j, "lldpad"))
        judge_say(j, VERDICT_WARNING, netdev, fix,
                  "lldpad runs and negotiates DCBX for the host: it overwrites what is set by hand by what "
                  "the switch "
                  "sends, where it is willing");
    else if (!json_is_array(json_object_get(j->facts, "lldp_agents")))
        judge_say(j, VERDICT_UNKNOWN, netdev, "pgrep -l lldpad",
                  "the host sets DCB; whether an agent on it negotiates was not read");
    else
        judge_say(j, VERDICT_OK, netdev, NULL,
                  "the host sets DCB, and no agent on it negotiates: settings stay");
}

static void judge_dcbx(struct judge *j, const json_t *nic)
{
    const json_t *mode = fact_at(nic, "dcbx", "mode");
    const char *netdev = fact_word(nic, "netdev", NULL);
    int negotiates = firmware_negotiates(nic);
    bool host = json_is_true(json_object_get(mode, "host")),
         known = json_is_boolean(json_object_get(mode, "host"));
    if (host || (!known && negotiates == 0))
        judge_host_dcbx(j, nic);
    else if (known && negotiates == 0)
        judge_say(j, VERDICT_OK, netdev, NULL,
                  "DCBX is left to its firmware, whose LLDP agent does not negotiate it: settings stay");
    else if (known || negotiates > 0)
        judge_firmware_dcbx(j, nic, negotiates);
    else
        judge_say(
            j, VERDICT_UNKNOWN, netdev,
            "dcb dcbx show dev INTERFACE; install mstflint and run host-facts as root: it reads LLDP_NB_DCBX",
            "who negotiates DCBX, host or firmware, is not known");
    judge_show(j, "DCB netlink: host %s; firmware settings: %s%s",
               !known ? "not shown"
               : host ? "yes"
                      : "no",
               fact_word(nic, "firmware_config", "from"), fact_word(nic, "firmware_config", "missing"));
}

/* NICs whose driver shows who negotiates, and those of mlx5. */
void check_dcbx(struct judge *j)
{
    size_t i;
    const json_t *nic;
    json_array_foreach(json_object_get(j->facts, "nics"), i, nic)
    {
        /* a bond's ports negotiate, each for itself */
        if (judge_speaks_roce(nic) && strcmp(fact_word(nic, "kind", NULL), "bond") != 0 &&
            (json_is_object(fact_at(nic, "dcbx", "mode")) ||
             json_is_object(json_object_get(nic, "firmware_config"))))
            judge_dcbx(j, nic);
    }
}

/* ---- what the other end says */

static void add_priorities(const json_t *list, char *words, size_t size)
{
    size_t i, used = 0;
    const json_t *item;
    snprintf(words, size, "none");
    json_array_foreach(list, i, item)
    {
        if (json_is_integer(item) && used + 4 < size)
            used += (size_t)snprintf(words + used, size - used, "%s%d", used ? ", " : "",
                                     (int)(json_integer_value(item) & 7));
    }
}

/* An application priority for a DSCP (IEEE 802.1Q: selector 5) that the host maps otherwise; -1: none. */
static int64_t other_dscp(const json_t *apps, const json_t *map)
{
    size_t i;
    const json_t *app;
    json_array_foreach(apps, i, app)
    {
        char key[24];
        int64_t dscp = fact_number(app, "protocol", NULL);
        snprintf(key, sizeof key, "%lld", (long long)dscp);
        if (fact_number(app, "selector", NULL) == 5 && json_is_integer(json_object_get(map, key)) &&
            json_integer_value(json_object_get(map, key)) != fact_number(app, "priority", NULL))
            return dscp;
    }
    return -1;
}

static void judge_peer_apps(struct judge *j, const json_t *nic, const json_t *lldp)
{
    int64_t dscp = other_dscp(json_object_get(lldp, "apps"), fact_at(nic, "settings", "dscp_to_prio"));
    if (dscp < 0)
        return;
    judge_say(j, VERDICT_WARNING, fact_word(nic, "netdev", NULL),
              "give both ends the same map: dscp_to_prio of nic-config, and the switch's",
              "the other end (%.60s %.60s) maps DSCP %lld to another priority than this NIC",
              fact_word(lldp, "name", NULL), fact_word(lldp, "port", NULL), (long long)dscp);
}

/* `peer` has a list "pfc", from LLDP or from the driver. */
static void judge_peer_pfc(struct judge *j, const json_t *nic, const json_t *peer)
{
    const json_t *ours = fact_at(nic, "settings", "pfc"), *theirs = json_object_get(peer, "pfc");
    const char *netdev = fact_word(nic, "netdev", NULL), *missing = fact_word(nic, "settings_missing", "pfc");
    char here[40], there[40], who[140];
    add_priorities(ours, here, sizeof here);
    add_priorities(theirs, there, sizeof there);
    snprintf(who, sizeof who, "%.60s%s%.60s", fact_word(peer, "name", NULL),
             fact_word(peer, "port", NULL)[0] ? " " : "", fact_word(peer, "port", NULL));
    if (!json_is_array(ours))
        judge_say(j, VERDICT_UNKNOWN, netdev, "nic-config get, as root on the host, says why",
                  "the other end (%s) has PFC on priorities: %s; this NIC's were not read%s%.200s", who,
                  there, missing[0] ? ": " : "", missing);
    else if (json_equal(ours, theirs))
        judge_say(j, VERDICT_OK, netdev, NULL, "the other end (%s) has PFC on the same priorities: %s", who,
                  there);
    else
        judge_say(
            j, VERDICT_WARNING, netdev,
            "give both ends PFC on the same priorities: pfc of nic-config, and the switch's",
            "the other end (%s) has PFC on priorities: %s; this NIC: %s: one end ignores the other's pauses",
            who, there, here);
}

static void judge_no_answer(struct judge *j, const json_t *nic)
{
    int64_t rx = firmware_config_port_value(nic, "LLDP_NB_RX_MODE");
    const char *netdev = fact_word(nic, "netdev", NULL);
    bool heard = json_is_object(json_object_get(nic, "lldp"));
    if (rx > 0)
        judge_say(j, VERDICT_UNKNOWN, netdev,
                  "mstconfig -d ADDRESS set LLDP_NB_RX_MODE_P1=0, and reboot: frames come to the host",
                  "its firmware keeps LLDP frames for itself (LLDP_NB_RX_MODE): what the other end has set "
                  "is not seen here");
    else if (heard)
        judge_say(j, VERDICT_UNKNOWN, netdev, "let the switch send the TLVs of DCBX (IEEE 802.1Qaz)",
                  "the other end (%.60s %.60s) sends LLDP, but not what PFC it has",
                  fact_word(nic, "lldp", "name"), fact_word(nic, "lldp", "port"));
    else
        judge_say(j, VERDICT_UNKNOWN, netdev,
                  has_agent(j, "lldpd") ? "let the switch send LLDP"
                                        : "install lldpd, and let the switch send LLDP",
                  "no LLDP of the other end was seen: what PFC it has is not known");
}

void check_lldp(struct judge *j)
{
    size_t i;
    const json_t *nic;
    json_array_foreach(json_object_get(j->facts, "nics"), i, nic)
    {
        const json_t *lldp = json_object_get(nic, "lldp"), *driver = fact_at(nic, "dcbx", "peer");
        bool port_of_bond = json_is_object(json_object_get(rdma_of_master(j, nic), "rdma"));
        if (!judge_speaks_roce(nic) || strcmp(fact_word(nic, "kind", NULL), "bond") == 0)
            continue; /* a bond's ports have a cable each */
        if (json_is_array(json_object_get(lldp, "pfc")))
            judge_peer_pfc(j, nic, lldp);
        else if (json_is_array(json_object_get(driver, "pfc")))
            judge_peer_pfc(j, nic, driver);
        else if (json_is_object(lldp) || json_is_object(json_object_get(nic, "rdma")) || port_of_bond)
            judge_no_answer(j, nic);
        else
            continue;
        if (json_is_object(lldp))
            judge_peer_apps(j, nic, lldp);
    }
}

/* ---- containers */

static const char *where_text(const struct judge *j)
{
    const char *container = fact_word(j->facts, "namespaces", "container");
    return container[0] ? container : "a network namespace of its own";
}

/* A device without counters: this is not the namespace that it belongs to. */
static void judge_hidden(struct judge *j, const char *device, const char *netdev)
{
    judge_say(
        j, VERDICT_WARNING, device,
        "run nic-sampler where the device belongs: on the node (a pod with hostNetwork: true), or give the "
        "pod the "
        "device: rdma system set netns exclusive on the node, before pods start, and the RDMA CNI plugin",
        "its counters are not shown here (%.60s): the device is shared with the host's network "
        "namespace%s%.60s%s",
        where_text(j), netdev[0] ? ", which has its interface " : "", netdev,
        netdev[0] ? ": pauses and bytes per priority cannot be read" : "");
    judge_show(
        j,
        "/sys/class/infiniband/%s/ports/*: neither counters nor hw_counters; RDMA devices by namespace: %s",
        device,
        fact_word(j->facts, "namespaces", "rdma")[0] ? fact_word(j->facts, "namespaces", "rdma")
                                                     : "not shown");
}

static void judge_elsewhere(struct judge *j, const json_t *o)
{
    const char *device = fact_word(o, "rdma", NULL), *netdev = fact_word(o, "netdev", NULL),
               *pci = fact_word(o, "pci", NULL);
    if (device[0] && json_is_false(json_object_get(o, "counters"))) {
        judge_hidden(j, device, netdev);
        return;
    }
    judge_say(
        j, VERDICT_UNKNOWN, device[0] ? device : pci,
        "run host-facts and nic-sampler there: ip netns exec NAME, or nsenter -t PID -n for a pod's process",
        "its interface%s%.60s belongs to another network namespace: its settings and counters cannot be read "
        "here",
        netdev[0] ? " " : "", netdev);
    judge_show(j,
               device[0] ? "/sys/class/infiniband/%s/ports/*/gid_attrs/ndevs; /sys/class/net"
                         : "/sys/bus/pci/devices/%s: it has a driver, and no interface",
               device[0] ? device : pci);
}

void check_counters(struct judge *j)
{
    size_t i;
    const json_t *o;
    json_array_foreach(json_object_get(j->facts, "nics"), i, o)
    {
        const char *device = fact_word(o, "rdma", "device");
        const json_t *counters = fact_at(o, "rdma", "counters");
        if (json_is_false(counters))
            judge_hidden(j, device, "");
        else if (json_is_true(counters))
            judge_say(j, VERDICT_OK, device, NULL, "its counters are shown");
    }
    json_array_foreach(json_object_get(j->facts, "elsewhere"), i, o) judge_elsewhere(j, o);
}
