/* How long flows take at least, and in which order they can begin. */
#include "harness/import/import.h"
#include <stdlib.h>
#include <string.h>

/* Time for switches on the way and the last ACK, besides what links state. */
#define HOPS 8

struct times {
    const struct import *import;
    double *ns_per_byte;         /* of each node's link */
    double delay_ns;             /* of the longest link */
    size_t *first_after, *after; /* of each flow the waits for it: after[first_after[f]] and on */
    size_t *owner;               /* of each wait the flow that waits */
    size_t *waits_left;
    double *ready_ns; /* when a flow begins */
};

static void take_rates(struct times *t)
{
    const struct import *import = t->import;
    double rate = import->rate_bps ? (double)import->rate_bps : 1e9;
    t->delay_ns = (double)import->delay_ps / 1e3;
    for (size_t i = 0; i < import->nodes; i++)
        t->ns_per_byte[i] = 8e9 / rate;
    for (size_t i = 0; i < import->link_count; i++) {
        const struct import_link *link = &import->links[i];
        double delay = (double)link->delay_ps / 1e3;
        t->ns_per_byte[link->a] = t->ns_per_byte[link->b] = 8e9 / (double)link->rate_bps;
        t->delay_ns = delay > t->delay_ns ? delay : t->delay_ns;
    }
}

static double busiest(const struct times *t, double *load)
{
    double most = 0;
    for (size_t i = 0; i < t->import->flow_count; i++) {
        const struct import_flow *flow = &t->import->flows[i];
        load[2 * flow->from] += (double)flow->bytes * t->ns_per_byte[flow->from];
        load[2 * flow->to + 1] += (double)flow->bytes * t->ns_per_byte[flow->to];
    }
    for (size_t i = 0; i < 2 * t->import->nodes; i++)
        most = load[i] > most ? load[i] : most;
    return most;
}

static void list_waits(struct times *t)
{
    const struct import *import = t->import;
    for (size_t i = 0; i < import->wait_count; i++)
        t->first_after[import->waits[i].flow + 2]++;
    for (size_t i = 2; i < import->flow_count + 2; i++)
        t->first_after[i] += t->first_after[i - 1];
    for (size_t f = 0; f < import->flow_count; f++)
        for (size_t k = 0; k < import->flows[f].waits; k++)
            t->owner[import->flows[f].first_wait + k] = f;
    for (size_t i = 0; i < import->wait_count; i++)
        t->after[t->first_after[import->waits[i].flow + 1]++] = i;
}

static double end_of(const struct times *t, size_t f)
{
    const struct import_flow *flow = &t->import->flows[f];
    double slow = t->ns_per_byte[flow->from] > t->ns_per_byte[flow->to] ? t->ns_per_byte[flow->from]
                                                                        : t->ns_per_byte[flow->to];
    return t->ready_ns[f] + (double)flow->bytes * slow + 2 * HOPS * t->delay_ns;
}

/* Flow by flow, each after all that it waits for. */
static int follow_chains(struct times *t, size_t *queue, double *last_ns, struct error *e)
{
    const struct import *import = t->import;
    size_t head = 0, tail = 0;
    for (size_t f = 0; f < import->flow_count; f++) {
        t->waits_left[f] = import->flows[f].waits;
        t->ready_ns[f] = (double)import->flows[f].start_ns;
        if (!t->waits_left[f])
            queue[tail++] = f;
    }
    while (head < tail) {
        size_t f = queue[head++];
        double end = end_of(t, f);
        *last_ns = end > *last_ns ? end : *last_ns;
        for (size_t i = t->first_after[f]; import->flows[f].bytes && i < t->first_after[f + 1]; i++) {
            size_t next = t->owner[t->after[i]];
            double ready = end + (double)import->waits[t->after[i]].delay_ns;
            t->ready_ns[next] = ready > t->ready_ns[next] ? ready : t->ready_ns[next];
            if (--t->waits_left[next] == 0)
                queue[tail++] = next;
        }
    }
    for (size_t f = 0; f < import->flow_count; f++)
        if (t->waits_left[f])
            return error_set(e,
                             "%s:%u: this flow never begins: it waits for flows that wait for it, or for one "
                             "that does not end",
                             import->flow_path, import->flows[f].line);
    return 0;
}

int import_times(const struct import *import, double *chain_ns, double *busiest_ns, struct error *e)
{
    size_t flows = import->flow_count, *queue = calloc(flows + 1, sizeof *queue);
    double *load = calloc(2 * import->nodes + 2, sizeof *load);
    struct times t = {.import = import,
                      .ns_per_byte = calloc(import->nodes + 1, sizeof(double)),
                      .first_after = calloc(flows + 3, sizeof(size_t)),
                      .after = calloc(import->wait_count + 1, sizeof(size_t)),
                      .owner = calloc(import->wait_count + 1, sizeof(size_t)),
                      .waits_left = calloc(flows + 1, sizeof(size_t)),
                      .ready_ns = calloc(flows + 1, sizeof(double))};
    int result = -1;
    *chain_ns = *busiest_ns = 0;
    if (!queue || !load || !t.ns_per_byte || !t.first_after || !t.after || !t.owner || !t.waits_left ||
        !t.ready_ns) {
        error_set(e, "out of memory");
    } else {
        take_rates(&t);
        *busiest_ns = busiest(&t, load);
        list_waits(&t);
        result = follow_chains(&t, queue, chain_ns, e);
    }
    free(queue);
    free(load);
    free(t.ns_per_byte);
    free(t.first_after);
    free(t.after);
    free(t.owner);
    free(t.waits_left);
    free(t.ready_ns);
    return result;
}
