#include "sim/workload.h"
#include <stdlib.h>
#include <string.h>

#define MOST_FLOWS 10000000

struct point {
    double bytes, share; /* share of flows up to this size; between points the share grows linearly */
};

static const struct point web_search[] = {
    {0, 0},      {10e3, .15},  {20e3, .2}, {30e3, .3}, {50e3, .4},  {80e3, .53},
    {200e3, .6}, {1000e3, .7}, {2e6, .8},  {5e6, .9},  {10e6, .97}, {30e6, 1},
};
static const struct point data_mining[] = {
    {1, 0},           {1460, .5},         {2 * 1460, .6},       {3 * 1460, .7},      {7 * 1460, .8},
    {267 * 1460, .9}, {2107 * 1460, .95}, {66667. * 1460, .99}, {666667. * 1460, 1},
};

static const struct point hadoop[] = {
    {0, 0},      {100, .01},  {200, .02},   {300, .05},  {350, .15}, {400, .2},   {500, .3},
    {600, .4},   {700, .5},   {1000, .6},   {2000, .67}, {7000, .7}, {30e3, .72}, {50e3, .82},
    {80e3, .87}, {120e3, .9}, {300e3, .95}, {1e6, .975}, {2e6, .99}, {10e6, 1},
};
static const struct point ali_storage[] = {
    {0, 0},        {4e3, .2293},   {8e3, .6921},   {16e3, .8061}, {32e3, .9047},
    {64e3, .9353}, {128e3, .9677}, {256e3, .9753}, {2e6, 1},
};

static const struct {
    const struct point *points;
    size_t count;
} distributions[] = {
    [SIM_SIZES_WEB_SEARCH] = {web_search, sizeof web_search / sizeof *web_search},
    [SIM_SIZES_DATA_MINING] = {data_mining, sizeof data_mining / sizeof *data_mining},
    [SIM_SIZES_HADOOP] = {hadoop, sizeof hadoop / sizeof *hadoop},
    [SIM_SIZES_ALI_STORAGE] = {ali_storage, sizeof ali_storage / sizeof *ali_storage},
};

double sim_sizes_mean(enum sim_sizes sizes)
{
    size_t count = distributions[sizes].count;
    const struct point *p = distributions[sizes].points;
    double mean = 0;
    for (size_t i = 1; i < count; i++)
        mean += (p[i].share - p[i - 1].share) * (p[i].bytes + p[i - 1].bytes) / 2;
    return mean;
}

int64_t sim_sizes_draw(enum sim_sizes sizes, struct random *random)
{
    size_t count = distributions[sizes].count, i = 1;
    const struct point *p = distributions[sizes].points;
    double u = random_unit(random);
    while (i + 1 < count && p[i].share < u)
        i++;
    double part = (u - p[i - 1].share) / (p[i].share - p[i - 1].share);
    int64_t bytes = (int64_t)(p[i - 1].bytes + part * (p[i].bytes - p[i - 1].bytes));
    return bytes > 0 ? bytes : 1;
}

/* ---- growing the list */

struct making {
    const struct sim_workload_config *w;
    struct random random;
    struct sim_flow_config *flows;
    size_t count, capacity;
    uint32_t first;
};

static void fill(const struct sim_workload_config *w, uint32_t from, uint32_t to, int64_t bytes,
                 int64_t start_ps, struct sim_flow_config *flow)
{
    *flow = w->flow;
    flow->from = from;
    flow->to = to;
    flow->start_ps = start_ps;
    if (bytes) {
        flow->message_bytes = bytes;
        flow->depth = 1;
        flow->message_count = w->rounds;
    }
}

static int add(struct making *m, const struct sim_flow_config *flow, struct error *e)
{
    if (m->count == m->capacity) {
        size_t capacity = m->capacity ? m->capacity * 2 : 64;
        struct sim_flow_config *flows =
            capacity <= 2 * MOST_FLOWS ? realloc(m->flows, capacity * sizeof *flows) : NULL;
        if (!flows)
            return error_set(e, "workload: %zu flows are too many", m->count);
        m->flows = flows;
        m->capacity = capacity;
    }
    m->flows[m->count++] = *flow;
    return 0;
}

static int64_t size_of(const struct sim_workload_config *w, struct random *random)
{
    return w->sizes == SIM_SIZES_FIXED ? w->size_bytes : sim_sizes_draw(w->sizes, random);
}

static struct traffic_ends ends_of(const struct sim_workload_config *w)
{
    return (struct traffic_ends){.from = w->from,
                                 .to = w->to,
                                 .from_count = w->from_count,
                                 .to_count = w->to_count,
                                 .shift = w->shift};
}

/* ---- patterns */

/* The rates of all senders' links together. *equal: each has the same. */
static double sum_links(const struct sim_workload_config *w, bool *equal)
{
    double sum = 0;
    *equal = true;
    for (size_t i = 0; i < w->from_count; i++) {
        if (w->link_bps[i] <= 0)
            return 0;
        *equal = *equal && w->link_bps[i] == w->link_bps[0];
        sum += (double)w->link_bps[i];
    }
    return sum;
}

/* A sender sends as often as its link is fast. */
static uint32_t draw_sender(struct sim_poisson *p)
{
    const struct sim_workload_config *w = p->w;
    size_t i = 0;
    if (p->equal)
        return w->from[random_next(&p->random) % w->from_count];
    for (double at = random_unit(&p->random) * p->sum_bps;
         i + 1 < w->from_count && at >= (double)w->link_bps[i]; i++)
        at -= (double)w->link_bps[i];
    return w->from[i];
}

/* Has each sender another host to send to? */
static int check_receivers(const struct sim_poisson *p, struct error *e)
{
    for (size_t i = 0; i < p->w->from_count; i++) {
        size_t k = 0;
        while (k < p->to_count && p->to[k] == p->w->from[i])
            k++;
        if (k == p->to_count)
            return error_set(e, "workload: host %u has no other host to send to", p->w->from[i]);
    }
    return 0;
}

int sim_poisson_begin(struct sim_poisson *p, const struct sim_workload_config *w, struct error *e)
{
    *p = (struct sim_poisson){.w = w, .at_ps = (double)w->flow.start_ps};
    random_seed(&p->random, w->seed);
    p->sum_bps = sum_links(w, &p->equal);
    double mean = w->sizes == SIM_SIZES_FIXED ? (double)w->size_bytes : sim_sizes_mean(w->sizes);
    if (!(w->load > 0 && w->load <= 10) || p->sum_bps <= 0 || mean < 1)
        return error_set(e, "workload: Poisson arrivals need a load above 0, a link rate and a size");
    if (w->flow.stop_ps == SIM_FOREVER && !w->most_flows)
        return error_set(e, "workload: Poisson arrivals need an end: a stop or a number of flows");
    p->gap_ps = mean * 8e12 / (w->load * (double)w->link_bps[0]) / (p->sum_bps / (double)w->link_bps[0]);
    const struct traffic_ends ends = ends_of(w);
    p->to = traffic_receivers(&ends, &p->to_count);
    return check_receivers(p, e);
}

bool sim_poisson_next(struct sim_poisson *p, struct sim_flow_config *flow)
{
    p->at_ps += random_exponential(&p->random, p->gap_ps);
    if (p->at_ps >= (double)p->w->flow.stop_ps || (p->w->most_flows && p->count == p->w->most_flows))
        return false;
    uint32_t from = draw_sender(p), to;
    do
        to = p->to[random_next(&p->random) % p->to_count];
    while (to == from);
    fill(p->w, from, to, size_of(p->w, &p->random), (int64_t)p->at_ps, flow);
    p->count++;
    return true;
}

static int make_poisson(struct making *m, struct error *e)
{
    struct sim_poisson p;
    struct sim_flow_config flow;
    int rc = sim_poisson_begin(&p, m->w, e);
    while (!rc && sim_poisson_next(&p, &flow))
        rc = add(m, &flow, e);
    return rc;
}

/* A flow for each pair of hosts. */
static int make_pairs(struct making *m, struct error *e)
{
    const struct traffic_ends ends = ends_of(m->w);
    struct traffic_pair *pairs;
    size_t to_count, count;
    const uint32_t *to = traffic_receivers(&ends, &to_count);
    if (traffic_pairs(m->w->pattern, &ends, &m->random, &pairs, &count, e) != 0)
        return error_prefix(e, "workload");
    int rc = 0;
    for (size_t i = 0; i < count && !rc; i++) {
        struct sim_flow_config flow;
        fill(m->w, m->w->from[pairs[i].from], to[pairs[i].to], size_of(m->w, &m->random), m->w->flow.start_ps,
             &flow);
        rc = add(m, &flow, e);
    }
    free(pairs);
    return rc;
}

/* Reduce-scatter, then all-gather: in each of 2(n-1) steps every host sends one n-th on, as soon as it has
 * received the one of the previous step. (Patarasuk and Yuan, "Bandwidth optimal all-reduce algorithms",
 * 2009) */
static int make_ring(struct making *m, struct error *e)
{
    const struct sim_workload_config *w = m->w;
    size_t n = w->from_count;
    if (w->sizes != SIM_SIZES_FIXED || (w->size_bytes && w->size_bytes < (int64_t)n))
        return error_set(e, "workload: a ring needs a size of at least one byte for each host, or none");
    if (make_pairs(m, e))
        return -1;
    for (size_t i = 0; i < n && w->size_bytes; i++) {
        m->flows[i].message_bytes = (w->size_bytes + (int64_t)n - 1) / (int64_t)n;
        m->flows[i].message_count = 2 * (int64_t)(n - 1) * w->rounds;
        m->flows[i].after = (int64_t)(m->first + (i + n - 1) % n);
    }
    return 0;
}

int sim_workload_make(const struct sim_workload_config *w, uint32_t first, struct sim_flow_config **flows,
                      size_t *count, struct error *e)
{
    struct making m = {.w = w, .first = first};
    int rc;
    if (!w->from_count || w->rounds < 1 || w->size_bytes < 0)
        return error_set(e, "workload: needs senders, at least one round, and a size that is not negative");
    random_seed(&m.random, w->seed);
    switch (w->pattern) {
    case PATTERN_POISSON:
        rc = make_poisson(&m, e);
        break;
    case PATTERN_RING_ALL_REDUCE:
        rc = make_ring(&m, e);
        break;
    default:
        rc = make_pairs(&m, e);
        break;
    }
    if (rc) {
        free(m.flows);
        return -1;
    }
    *flows = m.flows;
    *count = m.count;
    return 0;
}
