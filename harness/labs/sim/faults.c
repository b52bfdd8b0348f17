/* A scenario's faults of links as the states that the links have one after the other. */
#include "harness/labs/sim/sim_setup.h"
#include "lib/text.h"
#include <stdlib.h>
#include <string.h>

#define MOST_STATES 1000000
#define MOST_NAMED  12

/* ---- which link */

/* Ports of nodes count up in the order of the links: `next` has those of all nodes so far. */
static bool is_end(const struct lab *lab, const struct sim_end *end, const char *name, const uint32_t *next)
{
    int node = lab_node_index(lab, name);
    return node == end->node && (end->port < 0 || end->port == next[node]);
}

/* `second`: the port of the first link found, 2 * link + end, that is its second end. */
static size_t find_links(const struct lab *lab, const struct sim_end ends[2], uint32_t *next,
                         uint32_t *second)
{
    const struct lab_link *link;
    size_t found = 0;
    for (size_t i = 0; (link = lab_link_at(lab, i)); i++) {
        char *const *names = link->between.items;
        bool along = is_end(lab, &ends[0], names[0], next) && is_end(lab, &ends[1], names[1], next);
        bool is = along || (is_end(lab, &ends[0], names[1], next) && is_end(lab, &ends[1], names[0], next));
        if (is && !found++)
            *second = (uint32_t)(2 * i + along);
        next[lab_node_index(lab, names[0])]++;
        next[lab_node_index(lab, names[1])]++;
    }
    return found;
}

static int no_such_link(const struct lab *lab, const char *path, char *const *texts,
                        const struct sim_end *from, struct error *e)
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

int sim_setup_link(const struct lab *lab, const struct list_of *link, const char *path, uint32_t *second,
                   struct error *e)
{
    char *const *texts = link->items;
    struct sim_end ends[2];
    char at[48];
    snprintf(at, sizeof at, "%s.link", path);
    if (sim_setup_end(lab, at, texts[0], &ends[0], e) != 0 ||
        sim_setup_end(lab, at, texts[1], &ends[1], e) != 0)
        return -1;
    uint32_t *next = calloc(lab->hosts.count + lab->switches.count, sizeof *next);
    if (!next)
        return error_set(e, "out of memory");
    size_t found = find_links(lab, ends, next, second);
    free(next);
    if (found == 0)
        return no_such_link(lab, path, texts, &ends[0], e);
    if (found > 1)
        return error_set(
            e,
            "%s.link: lab %s has %zu links between \"%s\" and \"%s\": name one of them by its port, "
            "as in \"%s:0\"",
            path, lab->name, found, texts[0], texts[1], texts[0]);
    return 0;
}

/* ---- its states */

/* A fault on its link. */
struct placed {
    const struct link_fault *fault;
    size_t index, link;
    int64_t start_ns, end_ns; /* with the time to retrain */
};

static size_t states_of(const struct link_fault *f)
{
    if (f->kind == LINK_FLAP)
        return 2 * (size_t)link_fault_flaps(f);
    return f->kind == LINK_RATE ? 4 : 2;
}

static void add(struct sim_setup *setup, const struct placed *p, int64_t at_ns, bool up, int64_t rate_bps)
{
    setup->link_states[setup->config.link_state_count++] = (struct sim_link_state){
        .link = (uint32_t)p->link, .at_ps = at_ns * SIM_PS_PER_NS, .up = up, .rate_bps = rate_bps};
}

static void add_flaps(struct sim_setup *setup, const struct placed *p)
{
    const struct link_fault *f = p->fault;
    int64_t down_ns = link_fault_flap_down_ns(f);
    for (int64_t i = 0; i < link_fault_flaps(f); i++) {
        add(setup, p, p->start_ns + i * f->period_ns, false, 0);
        add(setup, p, p->start_ns + i * f->period_ns + down_ns, true, 0);
    }
}

/* The link is down while it takes another rate. */
static void add_rate(struct sim_setup *setup, const struct placed *p)
{
    const struct link_fault *f = p->fault;
    add(setup, p, p->start_ns, false, f->rate_bps);
    add(setup, p, p->start_ns + link_fault_retrain_ns(f), true, f->rate_bps);
    if (f->stop_ns == FIELD_UNSET)
        return;
    add(setup, p, p->end_ns - link_fault_retrain_ns(f), false, 0);
    add(setup, p, p->end_ns, true, 0);
}

static void add_loss(struct sim_setup *setup, const struct placed *p)
{
    const struct link_fault *f = p->fault;
    add(setup, p, p->start_ns, true, 0);
    struct sim_link_loss *loss = &setup->link_states[setup->config.link_state_count - 1].loss;
    if (f->bursts)
        *loss = (struct sim_link_loss){f->bursts->loss_good, f->bursts->loss_bad, f->bursts->to_bad,
                                       f->bursts->to_good};
    else
        loss->good = f->loss;
    if (f->stop_ns != FIELD_UNSET)
        add(setup, p, p->end_ns, true, 0);
}

static void add_states(struct sim_setup *setup, const struct placed *p)
{
    switch ((enum link_fault_kind)p->fault->kind) {
    case LINK_FLAP:
        add_flaps(setup, p);
        break;
    case LINK_RATE:
        add_rate(setup, p);
        break;
    case LINK_LOSS:
        add_loss(setup, p);
        break;
    case LINK_DOWN:
        add(setup, p, p->start_ns, false, 0);
        if (p->fault->stop_ns != FIELD_UNSET)
            add(setup, p, p->end_ns, true, 0);
        break;
    }
}

/* ---- all */

/* How long the link is down at a time; its key. */
static int64_t down_of(const struct placed *p, const char **key)
{
    const struct link_fault *f = p->fault;
    int64_t flap_down_ns = link_fault_flap_down_ns(f), flap_up_ns = f->period_ns - flap_down_ns;
    *key = f->kind == LINK_FLAP ? "duty" : f->kind == LINK_RATE ? "retrain" : "stop";
    if (f->kind == LINK_FLAP)
        return flap_down_ns < flap_up_ns ? flap_down_ns : flap_up_ns;
    return f->kind == LINK_RATE ? link_fault_retrain_ns(f) : p->end_ns - p->start_ns;
}

static int check_down(const struct placed *p, int64_t nominal_bps, const char *path, struct error *e)
{
    const char *key;
    char down[40], least[40];
    int64_t down_ns = down_of(p, &key);
    int64_t least_ps = sim_link_least_down_ps(p->fault->kind == LINK_RATE ? p->fault->rate_bps : nominal_bps);
    if (p->fault->kind == LINK_LOSS || down_ns * SIM_PS_PER_NS >= least_ps)
        return 0;
    return error_set(
        e, "%s.%s: the link would change again after %s: expected at least %s, the time of its longest frame",
        path, key, units_format(UNIT_TIME_NS, down_ns, down, sizeof down),
        units_format(UNIT_TIME_NS, least_ps / SIM_PS_PER_NS + 1, least, sizeof least));
}

static int place(const struct cell *cell, const int64_t phase_ns[4], size_t i, struct placed *p,
                 struct error *e)
{
    const struct link_fault *f = (const struct link_fault *)cell->scenario.faults.items + i;
    char path[32], rate[40];
    snprintf(path, sizeof path, "faults[%zu]", i);
    *p = (struct placed){f, i, 0, link_fault_start_ns(f, phase_ns), link_fault_end_ns(f, phase_ns)};
    uint32_t second = 0;
    if (sim_setup_link(&cell->lab, &f->link, path, &second, e) != 0)
        return -1;
    p->link = second / 2;
    int64_t nominal_bps = lab_link_at(&cell->lab, p->link)->rate_bps;
    if (check_down(p, nominal_bps, path, e) != 0)
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
    const struct placed *x = a, *y = b;
    if (x->link != y->link)
        return x->link < y->link ? -1 : 1;
    return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

static int check_overlaps(const struct placed *placed, size_t count, struct error *e)
{
    char end[40], start[40];
    for (size_t i = 1; i < count; i++) {
        const struct placed *before = &placed[i - 1], *p = &placed[i];
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

static int take_placed(struct placed *placed, const struct cell *cell, struct sim_setup *setup,
                       struct error *e)
{
    size_t count = cell->scenario.faults.count, states = 0;
    int64_t phase_ns[4];
    scenario_phase_starts(&cell->scenario, phase_ns);
    for (size_t i = 0; i < count; i++) {
        if (place(cell, phase_ns, i, &placed[i], e) != 0)
            return -1;
        states += states_of(placed[i].fault);
    }
    qsort(placed, count, sizeof *placed, by_link);
    if (check_overlaps(placed, count, e) != 0)
        return -1;
    if (states > MOST_STATES)
        return error_set(e, "faults: links would change %zu times: expected at most %d", states, MOST_STATES);
    setup->link_states = calloc(states + 1, sizeof *setup->link_states);
    if (!setup->link_states)
        return error_set(e, "out of memory");
    for (size_t i = 0; i < count; i++)
        add_states(setup, &placed[i]);
    setup->config.link_states = setup->link_states;
    return 0;
}

int sim_setup_take_faults(const struct cell *cell, struct sim_setup *setup, struct error *e)
{
    if (!cell->scenario.faults.count)
        return 0;
    struct placed *placed = calloc(cell->scenario.faults.count, sizeof *placed);
    int result = placed ? take_placed(placed, cell, setup, e) : error_set(e, "out of memory");
    free(placed);
    return result;
}
