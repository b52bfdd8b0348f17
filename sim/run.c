/* The loop: window after window, each island processes its events of the window. */
#include "sim/model.h"
#include "sim/fabric/bridge.h"
#include "sim/fabric/switch.h"
#include "sim/islands/team.h"
#include "sim/islands/link.h"
#include <stdlib.h>
#include <string.h>

/* ---- a window */

/* Tell this thread's islands of the frames that were sent to them in the last window. */
static void deliver_letters(struct member *member)
{
    struct sim *sim = member->view;
    const struct team *team = sim->team;
    for (uint32_t t = 0; t < team->count; t++) {
        const struct mail *mail = &team->members[t].view->mail[sim->window & 1][sim->thread];
        for (uint32_t i = 0; i < mail->count; i++) {
            const struct letter *letter = &mail->letters[i];
            struct port *in = &sim->ports[letter->port];
            struct island *island = &sim->islands[in->island];
            ring_tell(&island->queue, in, letter);
            int64_t next_ps = events_next_ps(&island->queue);
            const struct event *due = &member->due.events[island->event];
            if (due->place == EVENT_IDLE || due->time_ps > next_ps)
                event_reschedule(&member->due, island->event, next_ps);
        }
    }
}

/* What the others need to know of the window that ends. */
static void seal_window(struct member *member)
{
    struct sim *sim = member->view;
    for (uint32_t t = 0; t < sim->team->count; t++) {
        struct mail *mail = &sim->mail[sim->window & 1][t];
        for (uint32_t i = 0; i < mail->count; i++) {
            uint32_t port = mail->letters[i].port;
            const struct outbox *out = &sim->ports[sim->ports[port].peer].out;
            mail->letters[i] =
                (struct letter){.port = port, .ring = out->ring, .mask = out->mask, .end = out->tail};
        }
    }
    int64_t next_ps = events_next_ps(&member->due);
    member->next_ps[sim->window & 1] = next_ps < sim->first_sent_ps ? next_ps : sim->first_sent_ps;
}

static int64_t earliest_event_ps(const struct team *team, uint32_t window)
{
    int64_t next_ps = INT64_MAX;
    for (uint32_t t = 0; t < team->count; t++)
        if (team->members[t].next_ps[window & 1] < next_ps)
            next_ps = team->members[t].next_ps[window & 1];
    return next_ps;
}

static void begin_window(struct sim *sim)
{
    sim->window++;
    sim->first_sent_ps = INT64_MAX;
    sim->keeps_pauses = sim->pause_count < sim->team->pause_capacity - sim->team->pause_count;
    for (uint32_t t = 0; t < sim->team->count; t++)
        sim->mail[sim->window & 1][t].count = 0;
}

/* Those that have something to do before until_ps. While one is run, the state of the next ones is
 * fetched. */
static void run_window(struct member *member, int64_t until_ps)
{
    struct sim *sim = member->view;
    uint32_t count = 0, id, *batch = member->batch;
    while ((id = events_pop(&member->due, until_ps)) != EVENT_NONE)
        batch[count++] = id;
    for (uint32_t i = 0; i < count && !sim->out_of_memory; i++) {
        const struct event *events = member->due.events;
        if (i + 2 < count)
            island_prefetch(sim, &sim->islands[events[batch[i + 2]].object]);
        if (i + 1 < count)
            island_prefetch_links(sim, &sim->islands[events[batch[i + 1]].object]);
        struct island *island = &sim->islands[events[batch[i]].object];
        island_run(sim, island, until_ps);
        int64_t next_ps = events_next_ps(&island->queue);
        if (next_ps < INT64_MAX)
            event_schedule(&member->due, batch[i], next_ps);
    }
}

static void run_until(struct member *member, int64_t until_ps)
{
    struct sim *sim = member->view;
    struct team *team = sim->team;
    for (;;) {
        seal_window(member);
        barrier_wait(&team->barrier);
        int64_t start_ps = earliest_event_ps(team, sim->window);
        deliver_letters(member);
        begin_window(sim);
        if (start_ps >= until_ps)
            break;
        int64_t end_ps = sim->window_ps < until_ps - start_ps ? start_ps + sim->window_ps : until_ps;
        run_window(member, end_ps);
    }
}

void island_post(struct sim *sim, uint32_t port, int64_t arrive_ps)
{
    struct mail *mail = &sim->mail[sim->window & 1][sim->islands[sim->ports[port].island].thread];
    mail->letters[mail->count++].port = port;
    if (arrive_ps < sim->first_sent_ps)
        sim->first_sent_ps = arrive_ps;
}

void *team_work(void *argument)
{
    struct member *member = argument;
    struct team *team = member->view->team;
    for (;;) {
        barrier_wait(&team->barrier);
        if (team->leaving)
            return NULL;
        run_until(member, team->until_ps);
        barrier_wait(&team->barrier);
    }
}

/* ---- a run */

static int compare_pauses(const void *a, const void *b)
{
    const struct sim_pause *x = a, *y = b;
    const int64_t keys[][2] = {{x->end_ps, y->end_ps},         {(int64_t)x->node.kind, (int64_t)y->node.kind},
                               {x->node.index, y->node.index}, {x->port, y->port},
                               {x->priority, y->priority},     {x->start_ps, y->start_ps}};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (keys[i][0] != keys[i][1])
            return keys[i][0] < keys[i][1] ? -1 : 1;
    return 0;
}

/* Room for the pauses of all threads; NULL when memory ran out. */
static struct sim_pause *room_for_pauses(struct team *team, size_t count)
{
    if (count <= team->unsorted_capacity)
        return team->unsorted;
    struct sim_pause *all = realloc(team->unsorted, 2 * count * sizeof *all);
    if (!all)
        return NULL;
    team->unsorted = all;
    team->unsorted_capacity = 2 * count;
    team->members[0].view->allocations++;
    return all;
}

static int collect_pauses(struct team *team)
{
    size_t count = 0, at = 0;
    for (uint32_t t = 0; t < team->count; t++)
        count += team->members[t].view->pause_count;
    if (!count)
        return 0;
    struct sim_pause *all = room_for_pauses(team, count);
    if (!all)
        return -1;
    for (uint32_t t = 0; t < team->count; t++) {
        struct sim *view = team->members[t].view;
        if (view->pause_count)
            memcpy(all + at, view->pauses, view->pause_count * sizeof *all);
        at += view->pause_count;
        view->pause_count = 0;
    }
    qsort(all, count, sizeof *all, compare_pauses);
    for (size_t i = 0; i < count && team->pause_count < team->pause_capacity; i++)
        team->pauses[team->pause_count++] = all[i];
    return 0;
}

/* What the threads leave: the pauses that ended, and rings that are not in use any more. */
static int collect_from_threads(struct team *team)
{
    int rc = collect_pauses(team) || capture_collect(team->members[0].view) ? -1 : 0;
    for (uint32_t t = 0; t < team->count; t++) {
        struct sim *view = team->members[t].view;
        if (view->out_of_memory)
            rc = -1;
        for (size_t i = 0; i < view->retired_count; i++)
            free(view->retired[i]);
        view->retired_count = 0;
    }
    return rc;
}

int sim_run_until(struct sim *sim, int64_t until_ps, struct error *e)
{
    struct team *team = sim->team;
    if (until_ps < sim->now_ps)
        return error_set(e, "simulator: cannot run until %lld ps: the time is already %lld ps",
                         (long long)until_ps, (long long)sim->now_ps);
    if (team_start(team, e))
        return -1;
    capture_begin(sim);
    do {
        team->until_ps = until_ps;
        if (sim->stream && stream_let_in(sim, &team->until_ps))
            return error_set(e, "simulator: no memory for more flows at one time");
        barrier_wait(&team->barrier);
        run_until(&team->members[0], team->until_ps);
        barrier_wait(&team->barrier);
        sim->now_ps = team->until_ps;
        if (collect_from_threads(team) || (sim->stream && stream_let_out(sim)))
            return error_set(e, "simulator: no memory for more than %u packets", sim->packet_capacity);
    } while (team->until_ps < until_ps);
    return 0;
}

int64_t sim_now_ps(const struct sim *sim)
{
    return sim->now_ps;
}

void sim_work(const struct sim *sim, struct sim_work *out)
{
    *out = (struct sim_work){0};
    for (uint32_t t = 0; t < sim->team->count; t++) {
        const struct member *member = &sim->team->members[t];
        out->events += member->view->event_count;
        out->hops += member->view->hops;
        out->packets_in_pool += member->view->packet_capacity;
        out->bytes += member->view->bytes + events_bytes(&member->due);
        out->allocations += member->view->allocations;
    }
    for (uint32_t i = 0; i < sim->island_count; i++) {
        out->pending_events += events_pending(&sim->islands[i].queue);
        out->bytes += events_bytes(&sim->islands[i].queue);
    }
}

void sim_flow_stats(const struct sim *sim, size_t f, struct sim_flow_stats *out)
{
    const struct flow *flow = &sim->flows[f];
    *out = flow->stats;
    out->retransmitted_packets = out->requested_again = out->delivered_bytes = out->marked_packets =
        out->in_flight = 0;
    for (uint32_t q = flow->first_qp; q < flow->first_qp + flow->qp_count; q++) {
        const struct queue_pair *qp = &sim->qps[q];
        out->retransmitted_packets += qp->retransmitted;
        out->requested_again += qp->requested_again;
        out->marked_packets += qp->marked;
        out->in_flight += (int64_t)(qp->posted - qp->completed);
        /* of a ping-pong the bytes are those of the first host's messages */
        if (!flow->ping_pong || q == flow->first_qp)
            out->delivered_bytes += qp_bytes_before(qp, qp->delivered_psn);
    }
    out->in_flight = flow->ping_pong ? -1 : out->in_flight;
    if (!flow->has_left)
        congestion_changes(sim, (uint32_t)f, &out->decreases, &out->increases);
}

const struct histogram *sim_flow_latency(const struct sim *sim, size_t flow)
{
    return sim->flows[flow].latency;
}

void sim_flow_latency_clear(struct sim *sim, size_t flow)
{
    if (sim->flows[flow].latency)
        histogram_empty(sim->flows[flow].latency);
}

size_t sim_pauses(const struct sim *sim, const struct sim_pause **pauses)
{
    *pauses = sim->team->pauses;
    return sim->team->pause_count;
}

size_t sim_lasting_pauses(const struct sim *sim, uint32_t link, unsigned end,
                          struct sim_pause pauses[SIM_PRIORITIES])
{
    const struct port *at = &sim->ports[2 * link + end];
    size_t count = 0;
    for (unsigned priority = 0; priority < SIM_PRIORITIES; priority++)
        if (pfc_is_paused(at, priority))
            pauses[count++] = (struct sim_pause){.start_ps = at->pause_start_ps[priority],
                                                 .end_ps = sim->now_ps,
                                                 .node = {(enum sim_node_kind)at->node_kind, at->node},
                                                 .port = at->number,
                                                 .priority = priority};
    return count;
}

struct sim_thresholds sim_host_thresholds(const struct sim *sim, uint32_t host, unsigned buffer)
{
    const struct receive_buffer *b = &sim->hosts[host].buffers[buffer];
    return (struct sim_thresholds){.xoff_bytes = b->xoff_bytes, .xon_bytes = b->xon_bytes};
}
