/* A scenario's faults as the simulator's configuration: the states that links have one after the other,
 * and rules for single frames. */
#include "harness/labs/sim/faults.h"
#include "lib/document/nearest.h"
#include "lib/text.h"
#include "lib/xalloc.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_STATES 1000000
#define MOST_NAMED  12

/* ---- the link that a fault names */

static int refuse_unknown_node(const struct lab *lab, const char *path, const char *name, struct error *e)
{
    size_t count = lab->hosts.count + lab->switches.count;
    int machine = lab_machine_index(lab, lab_node_of(lab, name));
    if (machine >= 0) {
        struct text nics = {0};
        lab_add_nics(lab, (size_t)machine, name, &nics);
        error_set(e, "%s: host \"%.60s\" has several NICs: expected one of %s", path, name,
                  text_string(&nics));
        text_free(&nics);
        return -1;
    }
    const char **words = xcalloc(count + 1, sizeof *words);
    for (size_t i = 0; i < count; i++)
        words[i] = lab_node_name(lab, i);
    const char *near = nearest_word(name, words);
    error_set(e, "%s: lab %s has no node \"%.60s\"%s%s%s", path, lab->name, name,
              near ? "; did you mean \"" : "", near ? near : "",
              near ? "\"?" : ": expected a host, a switch, or a role");
    free(words);
    return -1;
}

int sim_link_end_parse(const struct lab *lab, const char *path, const char *text, struct sim_link_end *end,
                       struct error *e)
{
    char name[80];
    if (link_fault_end(text, name, sizeof name, &end->port) != 0)
        return error_set(e, "%s: \"%.80s\": expected a node, or NODE:PORT", path, text);
    end->node = lab_node_index(lab, lab_node_of(lab, name));
    return end->node >= 0 ? 0 : refuse_unknown_node(lab, path, name, e);
}

/* Ports of nodes count up in the order of the links: `next` has those of all nodes so far. */
static bool link_ends_at(const struct lab *lab, const struct sim_link_end *end, const char *name,
                         const uint32_t *next)
{
    int node = lab_node_index(lab, name);
    return node == end->node && (end->port < 0 || end->port == next[node]);
}

/* `second`: the port of the first link found, 2 * link + end, that is its second end. */
static size_t find_links(const struct lab *lab, const struct sim_link_end ends[2], uint32_t *next,
                         uint32_t *second)
{
    const struct lab_link *link;
    size_t found = 0;
    for (size_t i = 0; (link = lab_link_at(lab, i)); i++) {
        char *const *names = link->between.items;
        bool along =
            link_ends_at(lab, &ends[0], names[0], next) && link_ends_at(lab, &ends[1], names[1], next);
        bool is = along || (link_ends_at(lab, &ends[0], names[1], next) &&
                            link_ends_at(lab, &ends[1], names[0], next));
        if (is && !found++)
            *second = (uint32_t)(2 * i + along);
        next[lab_node_index(lab, names[0])]++;
        next[lab_node_index(lab, names[1])]++;
    }
    return found;
}

static int refuse_unknown_link(const struct lab *lab, const char *path, char *const *texts,
                               const struct sim_link_end *from, struct error *e)
{
    const char *name = lab_node_name(lab, (size_t)from->node);
    const struct lab_link *link;
    struct text known = {0};
    uint32_t ports = 0;
    for (size_t i = 0; (link = lab_link_at(lab, i)); i++) {
        char *const *names = link->between.items;
        bool first = strcmp(names[0], name) == 0;
        if ((first || strcmp(names[1], name) == 0) && ports++ < MOST_NAMED)
            text_add(&known, "%s%s (port %u)", ports > 1 ? ", " : "", names[first], ports - 1);
    }
    error_set(e, "%s.link: lab %s has no link between \"%s\" and \"%s\": %s has links to %s%s", path,
              lab->name, texts[0], texts[1], name, ports ? text_string(&known) : "nothing",
              ports > MOST_NAMED ? ", ..." : "");
    text_free(&known);
    return -1;
}

/* The link between two ends, which a fault's `link` names: the port, 2 * link + end, that is the second of
 * them. */
static int find_link(const struct lab *lab, const struct list_of *link, const char *path, uint32_t *second,
                     struct error *e)
{
    char *const *texts = link->items;
    struct sim_link_end ends[2];
    char at[48];
    snprintf(at, sizeof at, "%s.link", path);
    if (sim_link_end_parse(lab, at, texts[0], &ends[0], e) != 0 ||
        sim_link_end_parse(lab, at, texts[1], &ends[1], e) != 0)
        return -1;
    uint32_t *next = xcalloc(lab->hosts.count + lab->switches.count, sizeof *next);
    size_t found = find_links(lab, ends, next, second);
    free(next);
    if (found == 0)
        return refuse_unknown_link(lab, path, texts, &ends[0], e);
    if (found > 1)
        return error_set(
            e,
            "%s.link: lab %s has %zu links between \"%s\" and \"%s\": name one of them by its port, "
            "as in \"%s:0\"",
            path, lab->name, found, texts[0], texts[1], texts[0]);
    return 0;
}

/* ---- faults of links */

/* A fault on its link. */
struct link_fault_placed {
    const struct link_fault *fault;
    size_t index, link;
    int64_t start_ns, end_ns; /* with the time to retrain */
};

static size_t count_states(const struct link_fault *f)
{
    if (f->kind == LINK_FLAP)
        return 2 * (size_t)link_fault_flaps(f);
    return f->kind == LINK_RATE ? 4 : 2;
}

/* States in the order in which they are added. */
struct state_list {
    struct sim_link_state *items;
    size_t count;
};

static struct sim_link_state *add_state(struct state_list *list, const struct link_fault_placed *p,
                                        int64_t at_ns, bool up, int64_t rate_bps)
{
    struct sim_link_state *state = &list->items[list->count++];
    *state = (struct sim_link_state){.link = (uint32_t)p->link,
                                     .at_ps = at_ns * SIM_PS_PER_NS,
                                     .up = up,
                                     .rate_bps = rate_bps,
                                     .fault = (uint32_t)p->index};
    return state;
}

static void add_flaps(struct state_list *list, const struct link_fault_placed *p)
{
    const struct link_fault *f = p->fault;
    int64_t down_ns = link_fault_flap_down_ns(f);
    for (int64_t i = 0; i < link_fault_flaps(f); i++) {
        add_state(list, p, p->start_ns + i * f->period_ns, false, 0);
        add_state(list, p, p->start_ns + i * f->period_ns + down_ns, true, 0);
    }
}

/* The link is down while it takes another rate. */
static void add_rate(struct state_list *list, const struct link_fault_placed *p)
{
    const struct link_fault *f = p->fault;
    add_state(list, p, p->start_ns, false, f->rate_bps);
    add_state(list, p, p->start_ns + link_fault_retrain_ns(f), true, f->rate_bps);
    if (f->stop_ns == FIELD_UNSET)
        return;
    add_state(list, p, p->end_ns - link_fault_retrain_ns(f), false, 0);
    add_state(list, p, p->end_ns, true, 0)->fault = UINT32_MAX; /* it is over */
}

static void add_loss(struct state_list *list, const struct link_fault_placed *p)
{
    const struct link_fault *f = p->fault;
    struct sim_link_loss *loss = &add_state(list, p, p->start_ns, true, 0)->loss;
    if (f->bursts)
        *loss = (struct sim_link_loss){f->bursts->loss_good, f->bursts->loss_bad, f->bursts->to_bad,
                                       f->bursts->to_good};
    else
        loss->good = f->loss;
    if (f->stop_ns != FIELD_UNSET)
        add_state(list, p, p->end_ns, true, 0)->fault = UINT32_MAX; /* it is over */
}

static void add_states(struct state_list *list, const struct link_fault_placed *p)
{
    switch ((enum link_fault_kind)p->fault->kind) {
    case LINK_FLAP:
        add_flaps(list, p);
        break;
    case LINK_RATE:
        add_rate(list, p);
        break;
    case LINK_LOSS:
        add_loss(list, p);
        break;
    case LINK_DOWN:
        add_state(list, p, p->start_ns, false, 0);
        if (p->fault->stop_ns != FIELD_UNSET)
            add_state(list, p, p->end_ns, true, 0);
        break;
    }
}

/* How long the link is down at a time; its key. */
static int64_t down_time(const struct link_fault_placed *p, const char **key)
{
    const struct link_fault *f = p->fault;
    int64_t flap_down_ns = link_fault_flap_down_ns(f), flap_up_ns = f->period_ns - flap_down_ns;
    *key = f->kind == LINK_FLAP ? "duty" : f->kind == LINK_RATE ? "retrain" : "stop";
    if (f->kind == LINK_FLAP)
        return flap_down_ns < flap_up_ns ? flap_down_ns : flap_up_ns;
    return f->kind == LINK_RATE ? link_fault_retrain_ns(f) : p->end_ns - p->start_ns;
}

static int check_down_time(const struct link_fault_placed *p, int64_t nominal_bps, const char *path,
                           struct error *e)
{
    const char *key;
    char down[40], least[40];
    int64_t down_ns = down_time(p, &key);
    int64_t least_ps = sim_link_least_down_ps(p->fault->kind == LINK_RATE ? p->fault->rate_bps : nominal_bps);
    if (p->fault->kind == LINK_LOSS || down_ns * SIM_PS_PER_NS >= least_ps)
        return 0;
    return error_set(
        e, "%s.%s: the link would change again after %s: expected at least %s, the time of its longest frame",
        path, key, units_format(UNIT_TIME_NS, down_ns, down, sizeof down),
        units_format(UNIT_TIME_NS, least_ps / SIM_PS_PER_NS + 1, least, sizeof least));
}

static int place_fault(const struct cell *cell, const int64_t phase_ns[4], size_t i,
                       struct link_fault_placed *p, struct error *e)
{
    const struct link_fault *f = (const struct link_fault *)cell->scenario.faults.items + i;
    char path[32], rate[40];
    snprintf(path, sizeof path, "faults[%zu]", i);
    *p =
        (struct link_fault_placed){f, i, 0, link_fault_start_ns(f, phase_ns), link_fault_end_ns(f, phase_ns)};
    uint32_t second = 0;
    if (find_link(&cell->lab, &f->link, path, &second, e) != 0)
        return -1;
    p->link = second / 2;
    int64_t nominal_bps = lab_link_at(&cell->lab, p->link)->rate_bps;
    if (check_down_time(p, nominal_bps, path, e) != 0)
        return -1;
    if (f->kind != LINK_RATE)
        return 0;
    if (f->rate_bps >= nominal_bps)
        return error_set(e, "%s.rate: expected less than the link's %s", path,
                         units_format(UNIT_RATE_BPS, nominal_bps, rate, sizeof rate));
    if (link_fault_retrain_ns(f) >= p->end_ns - p->start_ns)
        return error_set(e, "%s.retrain: the fault is over before the link has its new rate", path);
    p->end_ns += f->stop_ns == FIELD_UNSET ? 0 : link_fault_retrain_ns(f);
    return 0;
}

static int by_link(const void *a, const void *b)
{
    const struct link_fault_placed *x = a, *y = b;
    if (x->link != y->link)
        return x->link < y->link ? -1 : 1;
    return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

static int check_overlaps(const struct link_fault_placed *placed, size_t count, struct error *e)
{
    char end[40], start[40];
    for (size_t i = 1; i < count; i++) {
        const struct link_fault_placed *before = &placed[i - 1], *p = &placed[i];
        if (p->link != before->link || p->start_ns > before->end_ns)
            continue;
        return error_set(
            e,
            "faults[%zu]: it begins at %s, and faults[%zu] of the same link lasts until %s: a link has "
            "one fault at a time",
            p->index, units_format(UNIT_TIME_NS, p->start_ns, start, sizeof start), before->index,
            units_format(UNIT_TIME_NS, before->end_ns, end, sizeof end));
    }
    return 0;
}

int sim_link_states_make(const struct cell *cell, struct sim_link_state **states, size_t *count,
                         struct error *e)
{
    size_t faults = cell->scenario.faults.count, most = 0;
    struct state_list list = {0};
    int64_t phase_ns[4];
    int result = 0;
    *states = NULL;
    *count = 0;
    if (!faults)
        return 0;
    struct link_fault_placed *placed = xcalloc(faults, sizeof *placed);
    scenario_phase_starts(&cell->scenario, phase_ns);
    for (size_t i = 0; result == 0 && i < faults; i++) {
        result = place_fault(cell, phase_ns, i, &placed[i], e);
        most += result == 0 ? count_states(placed[i].fault) : 0;
    }
    if (result == 0) {
        qsort(placed, faults, sizeof *placed, by_link);
        result = check_overlaps(placed, faults, e);
    }
    if (result == 0 && most > MOST_STATES)
        result = error_set(e, "faults: links would change %zu times: expected at most %d", most, MOST_STATES);
    if (result == 0) {
        list.items = xcalloc(most + 1, sizeof *list.items);
        for (size_t i = 0; i < faults; i++)
            add_states(&list, &placed[i]);
    }
    free(placed);
    *states = list.items;
    *count = list.count;
    return result;
}

/* ---- faults of single frames */

static int find_flow(const struct sim_flow_config *flows, size_t count, const char *name, const char *path,
                     uint32_t *flow, struct error *e)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(flows[i].name, name) == 0) {
            *flow = (uint32_t)i;
            return 0;
        }
    return error_set(
        e,
        "%s.flow: there is no flow \"%.80s\": expected the name of a flow, or of one of a traffic's "
        "flows, as in \"NAME/0\"",
        path, name);
}

/* Some actions happen at a host: the link must end there. */
static int check_ends_at_host(const struct cell *cell, const struct injection_rule *r, const char *path,
                              struct error *e)
{
    struct sim_link_end end;
    const char *name = ((char *const *)r->link.items)[1];
    if (r->action < INJECT_CNP_SENT || sim_link_end_parse(&cell->lab, path, name, &end, e) != 0)
        return r->action < INJECT_CNP_SENT ? 0 : -1;
    if ((size_t)end.node < cell->lab.hosts.count)
        return 0;
    return error_set(
        e, "%s.do: \"%s\" is for frames that come to a host: found %s as the second end of the link", path,
        injection_action_name(r), name);
}

static uint8_t priority_bit(int64_t priority)
{
    return priority == FIELD_UNSET ? 0 : (uint8_t)(1u << priority);
}

static int make_injection(const struct cell *cell, const struct sim_flow_config *flows, size_t flow_count,
                          size_t i, struct sim_injection *to, struct error *e)
{
    static const enum packet_kind kinds[] = {
        [INJECT_DATA] = PACKET_DATA, [INJECT_ACK] = PACKET_ACK,
        [INJECT_NAK] = PACKET_NAK,   [INJECT_READ_REQUEST] = PACKET_READ_REQUEST,
        [INJECT_CNP] = PACKET_CNP,   [INJECT_PFC] = PACKET_PFC};
    static const enum sim_injected_action actions[] = {
        [INJECT_DROP] = SIM_INJECT_DROP,           [INJECT_CORRUPT] = SIM_INJECT_CORRUPT,
        [INJECT_MARK] = SIM_INJECT_MARK,           [INJECT_DELAY] = SIM_INJECT_DELAY,
        [INJECT_DUPLICATE] = SIM_INJECT_DUPLICATE, [INJECT_REORDER] = SIM_INJECT_REORDER,
        [INJECT_CNP_SENT] = SIM_INJECT_CNP,        [INJECT_PAUSE] = SIM_INJECT_PAUSE,
        [INJECT_STALL] = SIM_INJECT_STALL,         [INJECT_NOT_READY] = SIM_INJECT_NOT_READY};
    const struct injection_rule *r = (const struct injection_rule *)cell->scenario.injections.items + i;
    struct injection_choice choice = injection_choice(r);
    int64_t phase_ns[4];
    char path[32];
    snprintf(path, sizeof path, "inject[%zu]", i);
    scenario_phase_starts(&cell->scenario, phase_ns);
    int64_t start_ns = injection_start_ns(r, phase_ns), end_ns = injection_end_ns(r, phase_ns);
    /* a rule that begins after the end is refused elsewhere: any end will do */
    *to = (struct sim_injection){.flow = SIM_NO_FLOW,
                                 .kind = kinds[r->packet],
                                 .action = actions[r->action],
                                 .from_ps = start_ns * SIM_PS_PER_NS,
                                 .until_ps = (end_ns > start_ns ? end_ns : start_ns + 1) * SIM_PS_PER_NS,
                                 .first = choice.first,
                                 .every = choice.every,
                                 .most = choice.most,
                                 .probability = isnan(r->probability) ? 0 : r->probability,
                                 .priorities = priority_bit(r->priority),
                                 .pause_classes = priority_bit(r->pause_priority),
                                 .behind = r->behind == FIELD_UNSET ? 0 : r->behind,
                                 .lasts_ps = r->lasts_ns == FIELD_UNSET ? 0 : r->lasts_ns * SIM_PS_PER_NS,
                                 .delay_ps = r->delay_ns == FIELD_UNSET ? 0 : r->delay_ns * SIM_PS_PER_NS};
    if (r->flow)
        return find_flow(flows, flow_count, r->flow, path, &to->flow, e);
    if (find_link(&cell->lab, &r->link, path, &to->port, e) != 0)
        return -1;
    return check_ends_at_host(cell, r, path, e);
}

int sim_injections_make(const struct cell *cell, const struct sim_flow_config *flows, size_t flow_count,
                        struct sim_injection **injections, size_t *count, struct error *e)
{
    *count = cell->scenario.injections.count;
    *injections = *count ? xcalloc(*count, sizeof **injections) : NULL;
    for (size_t i = 0; i < *count; i++)
        if (make_injection(cell, flows, flow_count, i, &(*injections)[i], e) != 0)
            return -1;
    return 0;
}
