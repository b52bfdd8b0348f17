#include "harness/labs/hosts/faults/rules.h"

#include "harness/labs/hosts/faults/rules_filter.h"
#include "harness/labs/hosts/faults/rules_nic.h"
#include "lib/clock.h"
#include <inttypes.h>
#include <string.h>

/* ---- whose frames they are */

bool fault_sends(const struct scenario_flow *flow, const char *role, int packet)
{
    const char *requester = flow->from, *responder = flow->to;
    bool read = flow->op == OP_READ;
    const char *of_data = read ? responder : requester, *other = read ? requester : responder;
    if (flow->mode == MODE_LATENCY && !read)
        return strcmp(role, requester) == 0 || strcmp(role, responder) == 0;
    return strcmp(role, packet == INJECT_DATA ? of_data : other) == 0;
}

static bool are_linked(const struct lab *lab, const struct lab_host *a, const struct lab_host *b)
{
    const struct lab_link *link;
    for (size_t i = 0; (link = lab_link_at(lab, i)); i++) {
        char *const *ends = link->between.items;
        if ((strcmp(ends[0], a->name) == 0 && strcmp(ends[1], b->name) == 0) ||
            (strcmp(ends[0], b->name) == 0 && strcmp(ends[1], a->name) == 0))
            return true;
    }
    return false;
}

static int find_flow(struct fault_request *q, struct error *e)
{
    const struct scenario_flow *flows = q->scenario->flows.items, *flow = NULL;
    for (size_t i = 0; i < q->scenario->flows.count && !flow; i++)
        if (strcmp(flows[i].name, q->rule->flow) == 0)
            flow = &flows[i];
    if (!flow)
        return error_set(e, "%s.flow: there is no flow \"%.80s\"", q->path, q->rule->flow);
    bool data = q->rule->packet == INJECT_DATA, read = flow->op == OP_READ;
    q->from = data == read ? flow->to : flow->from;
    q->to = data == read ? flow->from : flow->to;
    return 0;
}

static int find_ends(struct fault_request *q, struct error *e)
{
    char *const *ends = q->rule->link.items;
    if (q->rule->flow && find_flow(q, e) != 0)
        return -1;
    q->from = q->rule->flow ? q->from : ends[0];
    q->to = q->rule->flow ? q->to : ends[1];
    q->source = lab_real_host(q->lab, q->from);
    q->destination = lab_real_host(q->lab, q->to);
    if (!q->source || !q->destination || (!q->rule->flow && !are_linked(q->lab, q->source, q->destination))) {
        if (q->rule->flow)
            error_set(e, "%s.flow: lab %s has no host for its ends", q->path, q->lab->name);
        else
            error_set(e, "%s.link: lab %s has no link between hosts \"%.60s\" and \"%.60s\"", q->path,
                      q->lab->name, ends[0], ends[1]);
        return -1;
    }
    if (q->source != q->destination)
        return 0;
    error_set(e, "%s: %s and %s are host %s of lab %s: such frames pass no link", q->path, q->from, q->to,
              q->source->name, q->lab->name);
    return -1;
}

/* ---- who can have the fault */

/* By its RDMA device's name in the lab; the host is asked when it is reached. */
static bool is_soft(const struct lab_host *host)
{
    return host->nic.rdma && strncmp(host->nic.rdma, "rxe", 3) == 0;
}

static bool is_bridge(const struct lab_host *host)
{
    return host->extra_nics.count > 0 && !host->forwarding;
}

/* Guests whose NICs are neither passed through nor Soft-RoCE have virtual ConnectX. */
static bool has_virtual_nic(const struct lab_host *host)
{
    return host->domain && !host->nic.pci && !lab_forwards(host) && !is_soft(host);
}

static bool may_be_soft(const struct lab_host *host)
{
    return !lab_forwards(host) && (is_soft(host) || (!host->domain && !host->nic.rdma && !host->nic.pci));
}

/* The bridge that is an end of the link, or that the flow passes next to its receiver, else to its sender; NULL: none. */
static const struct lab_host *bridge_of(const struct fault_request *q)
{
    const struct lab_host *ends[] = {q->destination, q->source}, *host;
    for (int end = 0; end < 2; end++)
        if (is_bridge(ends[end]))
            return ends[end];
    if (are_linked(q->lab, q->source, q->destination))
        return NULL;
    for (int end = 0; end < 2; end++)
        for (size_t i = 0; (host = lab_host_at(q->lab, i)); i++)
            if (is_bridge(host) && are_linked(q->lab, host, ends[end]))
                return host;
    return NULL;
}

static int place(const struct fault_request *q, struct fault *fault, struct error *e)
{
    const struct lab_host *bridge = bridge_of(q);
    if (has_virtual_nic(q->source))
        return fault_of_nic(q, fault, e);
    if (bridge)
        return fault_of_filter(q, bridge, fault, e);
    if (may_be_soft(q->destination))
        return fault_of_filter(q, q->destination, fault, e);
    return error_set(
        e,
        "%s: nothing between hosts %s and %s of lab %s can do it: frames are lost by their number in "
        "simulated labs, by a sender's virtual ConnectX, by a Linux bridge and by a receiver "
        "with Soft-RoCE; leave it out with --set inject=[]",
        q->path, q->source->name, q->destination->name, q->lab->name);
}

/* A run reaches hosts that have a role, and guests that forward. */
static int check_reached(const struct fault_request *q, const struct lab_host *host, struct error *e)
{
    const char *role;
    for (size_t i = 0; (role = scenario_role(q->scenario, i)); i++)
        if (lab_real_host(q->lab, role) == host)
            return 0;
    if (host->domain && lab_forwards(host))
        return 0;
    return error_set(
        e,
        "%s: host %s of lab %s would have this fault, but has no role, so that a run does not reach "
        "it: add it to the scenario's \"roles\"",
        q->path, host->name, q->lab->name);
}

static int fault_of_injection(const struct scenario *scenario, const struct lab *lab, size_t i,
                              struct fault *fault, struct error *e)
{
    struct fault_request q = {.scenario = scenario,
                              .lab = lab,
                              .rule = (const struct injection_rule *)scenario->injections.items + i,
                              .i = i};
    snprintf(q.path, sizeof q.path, "inject[%zu]", i);
    return find_ends(&q, e) != 0 || place(&q, fault, e) != 0 || check_reached(&q, fault->host, e) != 0 ? -1
                                                                                                       : 0;
}

/* ---- storms */

static int fault_of_storm(const struct scenario *scenario, const struct lab *lab, size_t i,
                          struct fault *fault, struct error *e)
{
    const struct scenario_storm *s = (const struct scenario_storm *)scenario->storms.items + i;
    const struct lab_host *host = lab_real_host(lab, s->role);
    if (!host || !has_virtual_nic(host))
        return error_set(e,
                         "storms: role \"%s\" pauses its peer without a reason, which only simulated hosts "
                         "and virtual ConnectX do: lab %s has real hosts",
                         s->role, lab->name);
    if (s->start_ns % NS_PER_MS || s->stop_ns % NS_PER_MS)
        return error_set(e,
                         "storms[%zu]: a virtual ConnectX knows whole milliseconds: found a start of %" PRId64
                         " ns and a stop of %" PRId64 " ns",
                         i, s->start_ns, s->stop_ns);
    fault->host = host;
    fault->storm = true;
    fault->start_ns = s->start_ns;
    text_add(&fault->line, "storm %lld priority %" PRId64, (s->stop_ns - s->start_ns) / NS_PER_MS,
             s->priority);
    return 0;
}

/* A NIC has one at a time. */
static int check_storms(const struct scenario *scenario, const struct lab *lab, struct error *e)
{
    const struct scenario_storm *storms = scenario->storms.items;
    for (size_t i = 0; i < scenario->storms.count; i++)
        for (size_t k = 0; k < i; k++)
            if (lab_real_host(lab, storms[i].role) == lab_real_host(lab, storms[k].role))
                return error_set(e,
                                 "storms[%zu]: a virtual ConnectX has one storm in a run, and \"%s\" has two",
                                 i, storms[i].role);
    return 0;
}

/* ---- */

size_t faults_count(const struct scenario *scenario)
{
    return scenario->injections.count + scenario->storms.count;
}

int faults_of_rule(const struct scenario *scenario, const struct lab *lab, size_t i, struct fault *fault,
                   struct error *e)
{
    size_t injections = scenario->injections.count;
    *fault = (struct fault){0};
    int result = i < injections ? fault_of_injection(scenario, lab, i, fault, e)
                                : fault_of_storm(scenario, lab, i - injections, fault, e);
    if (result == 0 && fault->line.failed)
        result = error_set(e, "out of memory");
    if (result != 0)
        text_free(&fault->line);
    return result;
}

int faults_check(const struct scenario *scenario, const struct lab *lab, struct error *e)
{
    int result = check_storms(scenario, lab, e);
    if (scenario->injections.count > FAULT_MOST_RULES)
        return error_set(e, "inject: real hosts have at most %d faults at once: found %zu rules",
                         FAULT_MOST_RULES, scenario->injections.count);
    for (size_t i = 0; result == 0 && i < faults_count(scenario); i++) {
        struct fault fault;
        result = faults_of_rule(scenario, lab, i, &fault, e);
        if (result == 0)
            text_free(&fault.line);
    }
    return result;
}
