#include "harness/doctor/priority.h"

#include "harness/doctor/ecn.h"
#include "harness/doctor/doctor.h"
#include "lib/document/json_text.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* One end of a flow: how its NIC sorts the flow's data. */
struct end {
    const struct cell *cell;
    const struct scenario_flow *flow;
    const char *role;
    bool sends;                  /* the data, rather than receive it */
    const json_t *settings;      /* that will be in force */
    const struct lab_vlan *vlan; /* NULL: packets have no tag */
    int64_t traffic_class, dscp;
    bool by_dscp;
    int64_t given; /* the priority that its NIC gives the packets */
};

/* ---- one end */

/* The priority of a DSCP. Without an entry it is that of mlx5's own map, which nic-config too uses where none is given. */
int64_t priority_of_dscp(const json_t *settings, int64_t dscp)
{
    char key[24];
    snprintf(key, sizeof key, "%" PRId64, dscp);
    const json_t *entry = json_object_get(json_object_get(settings, "dscp_to_prio"), key);
    return entry ? json_integer_value(entry) : dscp >> 3;
}

/* The traffic class of the packets: MLNX_OFED, which alone shows where ECN is on, forces that of the sender's settings on every queue
 * pair. */
int64_t priority_traffic_class(const struct cell *cell, const struct scenario_flow *flow,
                               const json_t *in_force)
{
    const json_t *there = json_object_get(in_force, flow_sender(flow));
    json_t *wanted = scenario_role_settings(cell->scenario_json, flow_sender(flow));
    const json_t *asked = json_object_get(wanted, "traffic_class"),
                 *forced = asked ? asked : json_object_get(there, "traffic_class");
    int64_t value = json_is_integer(forced) ? json_integer_value(forced) : -1;
    json_decref(wanted);
    return json_object_get(there, "ecn_rp") && value >= 0 ? value : flow_traffic_class(&cell->scenario, flow);
}

/*
 * A NIC that does not trust DSCP sends with the priority of the queue pair, tag or not: in mlx5 its service level (linux
 * drivers/infiniband/hw/mlx5/qp.c, mlx5_set_path: eth_prio; MLNX_OFED's documentation, Quality of Service: "the sl field in
 * ibv_modify_qp command represents the UP"), which is the flow's priority. The receiver knows only what the packet says: the tag's
 * priority, and without a tag 0.
 */
static struct end end_of(const struct cell *cell, const struct scenario_flow *flow, const char *role,
                         bool sends, const json_t *settings, const json_t *in_force)
{
    const char *trust = json_string_value(json_object_get(settings, "trust"));
    const struct lab_host *host = lab_real_host(&cell->lab, role);
    struct end end = {.cell = cell,
                      .flow = flow,
                      .role = role,
                      .sends = sends,
                      .settings = settings,
                      .vlan = host ? host->nic.vlan : NULL,
                      .traffic_class = priority_traffic_class(cell, flow, in_force),
                      .by_dscp = trust && strcmp(trust, "dscp") == 0};
    end.dscp = end.traffic_class >> 2;
    end.given = end.by_dscp ? priority_of_dscp(settings, end.dscp) : end.vlan || sends ? flow->priority : 0;
    return end;
}

/* What it sends has the flow's priority by the queue pair alone: answers to it come without one. */
static bool sends_untagged(const struct end *end)
{
    return end->sends && !end->by_dscp && !end->vlan;
}

/* "a trusts DSCP, and maps DSCP 24 to priority 3" */
static void say_way(const struct end *end, struct text *out)
{
    const char *trust = json_string_value(json_object_get(end->settings, "trust"));
    if (end->by_dscp) {
        text_add(out,
                 "the NIC of %s trusts DSCP, and DSCP %" PRId64 " (traffic class %" PRId64
                 ") is priority %" PRId64 " there",
                 end->role, end->dscp, end->traffic_class, end->given);
    } else if (end->vlan) {
        text_add(out, "packets of %s carry priority %" PRId64 " in the tag of VLAN %" PRId64, end->role,
                 end->given, end->vlan->id);
    } else {
        text_add(out,
                 end->sends ? "the NIC of %s sends them with the priority of their queue pair (its service "
                              "level), but takes answers to them for priority 0"
                            : "the NIC of %s receives them with priority 0",
                 end->role);
        text_add(out, ", because they have no VLAN tag and its trust mode %s%s",
                 trust ? "is " : "is not set to dscp", trust ? trust : "");
    }
}

static void say_fix(const struct end *end, struct text *out)
{
    int64_t priority = end->flow->priority;
    if (end->by_dscp)
        text_add(
            out,
            "map DSCP %" PRId64 " to priority %" PRId64
            " in settings.dscp_to_prio, or leave out traffic_class, so that the priority's own DSCP is used",
            end->dscp, priority);
    else
        text_add(out,
                 "set settings.trust to \"dscp\", or give the NICs of both hosts a vlan in lab %s, whose tag "
                 "carries the priority",
                 end->cell->lab.name);
}

/* ---- all ends */

/* What is done with each end of a flow of priority other than 0; -1 ends the walk. */
typedef int (*end_visit)(void *context, const struct end *end, struct error *e);

struct walk {
    const struct cell *cell;
    const json_t *in_force; /* may be NULL */
    end_visit visit;
    void *context;
};

static int visit_end(const struct walk *walk, const struct scenario_flow *flow, bool sends, struct error *e)
{
    const char *role = sends ? flow_sender(flow) : flow_receiver(flow);
    if (flow->priority == 0)
        return 0;
    json_t *there = json_object_get(walk->in_force, role);
    json_t *settings = there ? json_deep_copy(there) : json_object();
    json_t *wanted = scenario_role_settings(walk->cell->scenario_json, role);
    json_merge_deep(settings, wanted);
    struct end end = end_of(walk->cell, flow, role, sends, settings, walk->in_force);
    int result = walk->visit(walk->context, &end, e);
    json_decref(wanted);
    json_decref(settings);
    return result;
}

/* In a lab of real hosts the plan has made flows of all patterns. */
static int visit_all(const struct walk *walk, struct error *e)
{
    const struct scenario *scenario = &walk->cell->scenario;
    const struct scenario_flow *flows = scenario->flows.items;
    for (size_t i = 0; i < scenario->flows.count; i++)
        if (visit_end(walk, &flows[i], true, e) != 0 || visit_end(walk, &flows[i], false, e) != 0)
            return -1;
    return 0;
}

/* ---- VLANs of both ends */

static int64_t vlan_of(const struct lab *lab, const char *role)
{
    const struct lab_host *host = lab_real_host(lab, role);
    return host && host->nic.vlan ? host->nic.vlan->id : 0;
}

/* A flow whose ends are in different VLANs carries nothing. */
static int check_same_vlan(const struct lab *lab, const struct scenario_flow *flow, struct error *e)
{
    int64_t from = vlan_of(lab, flow->from), to = vlan_of(lab, flow->to);
    if (from == to)
        return 0;
    return error_set(e,
                     "flow %s: the NIC of role %s uses VLAN %" PRId64 ", that of role %s VLAN %" PRId64
                     " (0: no tag): packets do not arrive; give both NICs of lab %s the same nic.vlan.id",
                     flow->name, flow->from, from, flow->to, to, lab->name);
}

static int check_vlans(const struct cell *cell, struct error *e)
{
    const struct scenario_flow *flows = cell->scenario.flows.items;
    for (size_t i = 0; i < cell->scenario.flows.count; i++)
        if (check_same_vlan(&cell->lab, &flows[i], e) != 0)
            return -1;
    return 0;
}

/* ---- before a run */

static int refuse_wrong(void *context, const struct end *end, struct error *e)
{
    struct text way = {0}, fix = {0};
    (void)context;
    if (end->given == end->flow->priority)
        return 0;
    say_way(end, &way);
    say_fix(end, &fix);
    error_set(e,
              "flow %s: its packets do not get priority %" PRId64
              ": %s; PFC and counters of that priority would see none of them: %s",
              end->flow->name, end->flow->priority, text_string(&way), text_string(&fix));
    text_free(&way);
    text_free(&fix);
    return -1;
}

int priority_check(const struct cell *cell, struct error *e)
{
    const struct walk walk = {.cell = cell, .visit = refuse_wrong};
    return check_vlans(cell, e) != 0 ? -1 : visit_all(&walk, e);
}

/* ---- after packets were counted */

/* What changes the priority on its way, where the settings give the right one. */
static void say_others(const struct end *end, struct text *fix)
{
    text_add(
        fix,
        sends_untagged(end)
            ? "look for what sends with another service level: queue pairs that the GPU or another program "
              "makes, or rdma_cm, which derives it from the type of service"
            : "look for what changes the packets: a traffic class that is forced on queue pairs (cat "
              "/sys/class/infiniband/DEVICE/tc/1/traffic_class), tc filters, a switch that writes "
              "DSCP or tags");
}

void priority_explain(const struct cell *cell, const struct scenario_flow *flow, bool sent,
                      const json_t *in_force, int64_t seen, struct text *way, struct text *fix)
{
    const char *role = sent ? flow_sender(flow) : flow_receiver(flow);
    const json_t *settings = json_object_get(in_force, role);
    const struct end end = end_of(cell, flow, role, sent, settings, in_force);
    bool read =
        json_object_get(settings, "trust") && (!end.by_dscp || json_object_get(settings, "dscp_to_prio"));
    if (!read)
        text_add(way, "the NIC of %s shows no trust mode or no map from DSCP", role);
    else
        say_way(&end, way);
    if (read && end.given != seen) {
        text_add(way, ", which does not explain it");
        say_others(&end, fix);
    } else if (flow->priority == 0) {
        text_add(fix,
                 "leave out the flow's traffic_class, or map its DSCP %" PRId64 " to priority 0 in "
                 "settings.dscp_to_prio",
                 end.dscp);
    } else {
        say_fix(&end, fix);
        text_add(fix,
                 end.by_dscp
                     ? "; now, on the host of %s: nic-config set with that \"dscp_to_prio\""
                     : "; now, on the host of %s: nic-config set with \"trust\": \"dscp\" (mlnx_qos -i "
                       "INTERFACE --trust dscp)",
                 role);
    }
}

/* ---- with the hosts' settings */

struct report {
    const json_t *in_force;
    json_t *entries;
};

static void report_unseen(const struct report *report, const struct end *end, const json_t *seen)
{
    preflight_say(report->entries, end->role, "priority", "unknown", NULL,
                  seen ? "the NIC of %s shows no trust mode: whether it sorts packets by priority %" PRId64
                         " is not known"
                       : "the trust mode of the NIC of %s was not seen: whether packets get priority %" PRId64
                         " is not known",
                  end->role, end->flow->priority);
    preflight_read(report->entries,
                   seen ? "nic-config get on the host of %s: no trust mode"
                        : "nothing: the settings of %s were not read",
                   end->role);
}

/* A NIC that trusts DSCP sorts by its map: one that was not seen decides nothing. */
static void report_no_map(const struct report *report, const struct end *end)
{
    preflight_say(
        report->entries, end->role, "priority", "unknown", NULL,
        "the NIC of %s trusts DSCP, but its map from DSCP was not seen: whether packets get priority "
        "%" PRId64 " is not known",
        end->role, end->flow->priority);
    preflight_read(report->entries, "nic-config get on the host of %s: no dscp_to_prio", end->role);
}

static int report_end(void *context, const struct end *end, struct error *e)
{
    const struct report *report = context;
    const json_t *seen = json_object_get(report->in_force, end->role);
    bool good = end->given == end->flow->priority;
    struct text way = {0}, fix = {0};
    (void)e;
    if (!json_object_get(seen, "trust")) {
        report_unseen(report, end, seen);
        return 0;
    }
    if (end->by_dscp && !json_object_get(seen, "dscp_to_prio")) {
        report_no_map(report, end);
        return 0;
    }
    say_way(end, &way);
    say_fix(end, &fix);
    preflight_say(report->entries, end->role, "priority",
                  !good                 ? "failure"
                  : sends_untagged(end) ? "warning"
                                        : "ok",
                  good && !sends_untagged(end) ? NULL : text_string(&fix),
                  "packets of priority %" PRId64 ": %s", end->flow->priority, text_string(&way));
    preflight_read(report->entries,
                   "trust and dscp_to_prio by the scenario and nic-config get, the lab's VLANs");
    text_free(&way);
    text_free(&fix);
    return 0;
}

void priority_examine(const struct cell *cell, const json_t *in_force, json_t *entries)
{
    struct report report = {in_force, entries};
    const struct walk walk = {.cell = cell, .in_force = in_force, .visit = report_end, .context = &report};
    struct error e;
    if (lab_kind(&cell->lab)->simulated)
        return;
    if (check_vlans(cell, &e) != 0) {
        preflight_say(entries, cell->lab.name, "vlan", "failure", NULL, "%s", e.text);
        preflight_read(entries, "nic.vlan.id of both hosts in the lab");
    }
    (void)visit_all(&walk, NULL);
}
