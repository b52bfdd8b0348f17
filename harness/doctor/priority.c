#include "harness/doctor/priority.h"

#include "harness/doctor/check.h"
#include "harness/plan/traffic_class.h"
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

/* The priority of a DSCP. Without an entry it is that of mlx5's own map, which nic-config too uses where none
 * is given. */
int64_t priority_of_dscp(const json_t *settings, int64_t dscp)
{
    char key[24];
    snprintf(key, sizeof key, "%" PRId64, dscp);
    const json_t *entry = json_object_get(json_object_get(settings, "dscp_to_prio"), key);
    return entry ? json_integer_value(entry) : dscp >> 3;
}

/* The traffic class of the packets: MLNX_OFED, which alone shows where ECN is on, forces that of the sender's
 * settings on every queue pair. */
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
 * A NIC that does not trust DSCP sends with the priority of the queue pair, tag or not: in mlx5 its service
 * level (linux drivers/infiniband/hw/mlx5/qp.c, mlx5_set_path: eth_prio; MLNX_OFED's documentation, Quality
 * of Service: "the sl field in ibv_modify_qp command represents the UP"), which is the flow's priority. The
 * receiver knows only what the packet says: the tag's priority, and without a tag 0.
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
static void describe_way(const struct end *end, struct text *out)
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

static void describe_fix(const struct end *end, struct text *out)
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

/* ---- after packets were counted */

/* What changes the priority on its way, where the settings give the right one. */
static void describe_others(const struct end *end, struct text *fix)
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
        describe_way(&end, way);
    if (read && end.given != seen) {
        text_add(way, ", which does not explain it");
        describe_others(&end, fix);
    } else if (flow->priority == 0) {
        text_add(fix,
                 "leave out the flow's traffic_class, or map its DSCP %" PRId64 " to priority 0 in "
                 "settings.dscp_to_prio",
                 end.dscp);
    } else {
        describe_fix(&end, fix);
        text_add(fix,
                 end.by_dscp
                     ? "; now, on the host of %s: nic-config set with that \"dscp_to_prio\""
                     : "; now, on the host of %s: nic-config set with \"trust\": \"dscp\" (mlnx_qos -i "
                       "INTERFACE --trust dscp)",
                 role);
    }
}

/* ---- the check */

static int64_t vlan_of(const struct lab *lab, const char *role)
{
    const struct lab_host *host = lab_real_host(lab, role);
    return host && host->nic.vlan ? host->nic.vlan->id : 0;
}

/* A flow whose ends are in different VLANs carries nothing. */
static void examine_vlans(const struct doctor_subject *x, const struct scenario_flow *flow)
{
    int64_t from = vlan_of(x->lab, flow->from), to = vlan_of(x->lab, flow->to);
    struct text fix = {0};
    if (from == to)
        return;
    text_add(&fix, "give both NICs of lab %s the same nic.vlan.id", x->lab->name);
    doctor_add(x->entries, x->lab->name, "vlan", "failure", text_string(&fix),
               "flow %s: the NIC of role %s uses VLAN %" PRId64 ", that of role %s VLAN %" PRId64
               " (0: no tag): packets do not arrive",
               flow->name, flow->from, from, flow->to, to);
    doctor_add_evidence(x->entries, "nic.vlan.id of both hosts in the lab");
    text_free(&fix);
}

/* By the documents alone, before any host is reached. */
static void examine_stated(const struct doctor_subject *x, const struct end *end)
{
    struct text way = {0}, fix = {0};
    if (end->given == end->flow->priority)
        return;
    describe_way(end, &way);
    describe_fix(end, &fix);
    doctor_add(x->entries, end->role, "priority", "failure", text_string(&fix),
               "flow %s: its packets do not get priority %" PRId64
               ": %s; PFC and counters of that priority would see none of them",
               end->flow->name, end->flow->priority, text_string(&way));
    doctor_add_evidence(x->entries, "trust and dscp_to_prio of the scenario, the lab's VLANs");
    text_free(&way);
    text_free(&fix);
}

/* With the host's settings. A NIC that trusts DSCP sorts by its map: one that was not seen decides
 * nothing. */
static void examine_seen(const struct doctor_subject *x, const struct end *end)
{
    const json_t *seen = json_object_get(x->seen->in_force, end->role);
    bool good = end->given == end->flow->priority;
    struct text way = {0}, fix = {0};
    if (!json_object_get(seen, "trust")) {
        doctor_add(x->entries, end->role, "priority", "unknown", NULL,
                   seen
                       ? "the NIC of %s shows no trust mode: whether it sorts packets by priority %" PRId64
                         " is not known"
                       : "the trust mode of the NIC of %s was not seen: whether packets get priority %" PRId64
                         " is not known",
                   end->role, end->flow->priority);
        doctor_add_evidence(x->entries,
                            seen ? "nic-config get on the host of %s: no trust mode"
                                 : "nothing: the settings of %s were not read",
                            end->role);
        return;
    }
    if (end->by_dscp && !json_object_get(seen, "dscp_to_prio")) {
        doctor_add(
            x->entries, end->role, "priority", "unknown", NULL,
            "the NIC of %s trusts DSCP, but its map from DSCP was not seen: whether packets get priority "
            "%" PRId64 " is not known",
            end->role, end->flow->priority);
        doctor_add_evidence(x->entries, "nic-config get on the host of %s: no dscp_to_prio", end->role);
        return;
    }
    describe_way(end, &way);
    describe_fix(end, &fix);
    doctor_add(x->entries, end->role, "priority",
               !good                 ? "failure"
               : sends_untagged(end) ? "warning"
                                     : "ok",
               good && !sends_untagged(end) ? NULL : text_string(&fix), "packets of priority %" PRId64 ": %s",
               end->flow->priority, text_string(&way));
    doctor_add_evidence(x->entries,
                        "trust and dscp_to_prio by the scenario and nic-config get, the lab's VLANs");
    text_free(&way);
    text_free(&fix);
}

static void examine_end(const struct doctor_subject *x, const struct scenario_flow *flow, bool sends)
{
    const char *role = sends ? flow_sender(flow) : flow_receiver(flow);
    json_t *settings = doctor_settings_of(x->cell, x->seen, role);
    const struct end end = end_of(x->cell, flow, role, sends, settings, x->seen ? x->seen->in_force : NULL);
    if (x->seen)
        examine_seen(x, &end);
    else
        examine_stated(x, &end);
    json_decref(settings);
}

/* In a lab of real hosts the plan has made flows of all patterns. */
static void examine_priority(const struct doctor_subject *x)
{
    const struct scenario_flow *flows = x->cell->scenario.flows.items;
    size_t count = x->cell->scenario.flows.count;
    for (size_t i = 0; i < count; i++)
        examine_vlans(x, &flows[i]);
    for (size_t i = 0; i < count; i++)
        for (int sends = 1; sends >= 0 && flows[i].priority != 0; sends--)
            examine_end(x, &flows[i], sends);
}

const struct doctor_check doctor_priority = {.name = "priority",
                                             .scope = DOCTOR_CELL,
                                             .when = DOCTOR_REFUSES_RUN | DOCTOR_EXAMINES,
                                             .needs = DOCTOR_NEEDS_REAL,
                                             .examine = examine_priority};
