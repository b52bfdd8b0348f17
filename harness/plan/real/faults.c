#include "harness/plan/real/faults.h"

#include "lib/clock.h"
#include "lib/faults/injection.h"
#include "lib/formats/flow.h"
#include <inttypes.h>
#include <math.h>
#include <string.h>

#define MOST_FRAMES 1000000000 /* a NIC counts no further */
#define MOST_RULES  16         /* of a NIC */

/* ---- what a NIC cannot do */

static int check_action(const struct injection_rule *r, const char *path, struct error *e)
{
    if (r->action > INJECT_DUPLICATE)
        return error_set(
            e,
            "%s.do: \"%s\" is simulated only: a virtual ConnectX drops, corrupts, marks, delays and "
            "duplicates frames",
            path, injection_action_name(r));
    if (r->priority != FIELD_UNSET)
        return error_set(e, "%s.priority: frames of a priority are simulated only: leave it out", path);
    return 0;
}

static int check_choice(const struct injection_rule *r, const char *path, struct error *e)
{
    struct injection_choice choice = injection_choice(r);
    if (!isnan(r->probability))
        return error_set(e, "%s.probability: simulated links only draw frames: give \"nth\" and \"every\"",
                         path);
    if (r->phase != 0 || r->start_ns != 0 || r->stop_ns != FIELD_UNSET)
        return error_set(e,
                         "%s: a virtual ConnectX knows no times of a run: leave out \"phase\", \"start\" and "
                         "\"stop\"; frames are counted from the first one on",
                         path);
    if (choice.first > MOST_FRAMES || choice.every > MOST_FRAMES)
        return error_set(e, "%s: a virtual ConnectX counts to %d: found %" PRId64, path, MOST_FRAMES,
                         choice.first > choice.every ? choice.first : choice.every);
    return 0;
}

static int check_delay(const struct injection_rule *r, const char *path, struct error *e)
{
    if (r->delay_ns == FIELD_UNSET)
        return 0;
    if (r->action == INJECT_DUPLICATE)
        return error_set(e, "%s.delay: a copy that arrives later is simulated only: leave it out", path);
    if (r->delay_ns % NS_PER_MS == 0)
        return 0;
    return error_set(e, "%s.delay: a virtual ConnectX delays by whole milliseconds: found %" PRId64 " ns",
                     path, r->delay_ns);
}

/* ---- whose frames they are */

/* Does this host send such packets of the flow? Those of a ping-pong are sent by both. */
static bool sends(const struct scenario_flow *flow, const char *role, int packet)
{
    const char *requester = flow->from, *responder = flow->to;
    bool read = flow->op == OP_READ;
    const char *of_data = read ? responder : requester, *other = read ? requester : responder;
    if (flow->mode == MODE_LATENCY && !read)
        return strcmp(role, requester) == 0 || strcmp(role, responder) == 0;
    return strcmp(role, packet == INJECT_DATA ? of_data : other) == 0;
}

/* The role that sends a flow's packets of this kind, if it sends them of this flow alone. */
static const char *sender(const struct scenario *scenario, const struct lab *lab,
                          const struct injection_rule *r, const char *path, struct error *e)
{
    const struct scenario_flow *flows = scenario->flows.items, *flow = NULL;
    for (size_t i = 0; i < scenario->flows.count && !flow; i++)
        if (strcmp(flows[i].name, r->flow) == 0)
            flow = &flows[i];
    if (!flow) {
        error_set(e, "%s.flow: there is no flow \"%.80s\"", path, r->flow);
        return NULL;
    }
    bool data = r->packet == INJECT_DATA, read = flow->op == OP_READ;
    const char *role = data == read ? flow->to : flow->from;
    for (size_t i = 0; i < scenario->flows.count; i++) {
        const char *ends[] = {flows[i].from, flows[i].to};
        for (int end = 0; end < 2; end++)
            if (&flows[i] != flow && lab_real_host(lab, ends[end]) == lab_real_host(lab, role) &&
                sends(&flows[i], ends[end], r->packet)) {
                error_set(
                    e,
                    "%s.flow: a NIC does not tell flows apart, and %s sends such packets of flow \"%.80s\" "
                    "too: give \"link\"",
                    path, role, flows[i].name);
                return NULL;
            }
    }
    return role;
}

static bool are_linked(const struct lab *lab, const char *a, const char *b)
{
    const struct lab_link *link;
    for (size_t i = 0; (link = lab_link_at(lab, i)); i++) {
        char *const *ends = link->between.items;
        if ((strcmp(ends[0], a) == 0 && strcmp(ends[1], b) == 0) ||
            (strcmp(ends[0], b) == 0 && strcmp(ends[1], a) == 0))
            return true;
    }
    return false;
}

/* The host of the link's first end. */
static const struct lab_host *first_end(const struct lab *lab, const struct injection_rule *r,
                                        const char *path, struct error *e)
{
    char *const *ends = r->link.items;
    const struct lab_host *from = lab_real_host(lab, ends[0]), *to = lab_real_host(lab, ends[1]);
    if (from && to && are_linked(lab, from->name, to->name))
        return from;
    error_set(e, "%s.link: lab %s has no link between hosts \"%.60s\" and \"%.60s\"", path, lab->name,
              ends[0], ends[1]);
    return NULL;
}

static const struct lab_host *host_of_rule(const struct scenario *scenario, const struct lab *lab,
                                           const struct injection_rule *r, const char *path, struct error *e)
{
    const char *role = r->flow ? sender(scenario, lab, r, path, e) : NULL;
    if (r->flow && !role)
        return NULL;
    const struct lab_host *host = role ? lab_real_host(lab, role) : first_end(lab, r, path, e);
    if (host && (!host->domain || host->nic.pci || lab_forwards(host) || host->extra_nics.count)) {
        error_set(e,
                  "%s: host %s of lab %s has no virtual ConnectX that ends a link: frames are lost by their "
                  "number in simulated labs and by a virtual ConnectX; leave it out with --set inject=[]",
                  path, host->name, lab->name);
        return NULL;
    }
    return host;
}

/* ---- the line */

static void write_line(const struct injection_rule *r, struct text *line)
{
    struct injection_choice choice = injection_choice(r);
    text_add(line, "%s sent %s %" PRId64, injection_action_name(r),
             r->packet == INJECT_PFC ? "pause" : injection_packet_name(r), choice.first);
    if (r->delay_ns != FIELD_UNSET)
        text_add(line, " %lld", r->delay_ns / NS_PER_MS);
    text_add(line, " step %" PRId64, choice.every);
    if (choice.most <= MOST_FRAMES)
        text_add(line, " count %" PRId64, choice.most);
}

int faults_of_rule(const struct scenario *scenario, const struct lab *lab, size_t i,
                   const struct lab_host **host, struct text *line, struct error *e)
{
    const struct injection_rule *r = (const struct injection_rule *)scenario->injections.items + i;
    char path[32];
    snprintf(path, sizeof path, "inject[%zu]", i);
    if (check_action(r, path, e) != 0)
        return -1;
    *host = host_of_rule(scenario, lab, r, path, e);
    if (!*host || check_choice(r, path, e) != 0 || check_delay(r, path, e) != 0)
        return -1;
    write_line(r, line);
    return 0;
}

int faults_check(const struct scenario *scenario, const struct lab *lab, struct error *e)
{
    int result = 0;
    if (scenario->injections.count > MOST_RULES)
        return error_set(e, "inject: a virtual ConnectX has at most %d faults at once: found %zu rules",
                         MOST_RULES, scenario->injections.count);
    for (size_t i = 0; result == 0 && i < scenario->injections.count; i++) {
        const struct lab_host *host;
        struct text line = {0};
        result = faults_of_rule(scenario, lab, i, &host, &line, e);
        text_free(&line);
    }
    return result;
}
