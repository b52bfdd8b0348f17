/*
 * Plays schedules. What happens to a rank - a message complete or in memory, a computation over - is noted
 * with its time, and the rank has an event at the earliest, after everything else that happens at its host
 * then (its order is the last of all). So all that ends at one time is seen together, and what follows does
 * not depend on the order of events, nor on threads. A rank's NICs are one island, and so all of this is done
 * by one thread; the other end of a queue pair only reads which messages there are, at least a link's delay
 * after they were posted.
 */
#include "sim/jobs.h"
#include "sim/islands/island.h"
#include "sim/islands/team.h"
#include "sim/model.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Operations by time, then number: a binary heap. */
struct heap {
    struct entry {
        int64_t time_ps;
        uint32_t operation;
    } * entries;
    uint32_t count, room;
};

struct rank {
    uint32_t job, event;
    uint32_t unfinished, running; /* operations; computations */
    int64_t calc_ps, calc_since_ps, end_ps;
    int64_t sent_bytes, received_bytes;
    struct heap due;   /* what is known to end */
    struct heap ready; /* what may begin now */
    struct cpu {
        struct heap waiting; /* by the time at which they became ready */
        bool busy;
    } * cpus;
    uint32_t cpu_count;
};

struct job {
    struct sim_job_config config;
    uint32_t first_rank;
    uint32_t *left;       /* waits of each operation that are not over, and ARRIVED */
    uint32_t *queue_pair; /* of each send; flows and queue pairs of jobs are one to one */
    int64_t *begin_ps, *end_ps;
};

#define ARRIVED (UINT32_C(1) << 31) /* a recv's message is there */

struct jobs {
    struct sim_config config; /* with their flows */
    struct sim_flow_config *flows;
    size_t own_flows; /* before those of jobs */
    struct job *jobs;
    uint32_t job_count, rank_count;
    struct rank *ranks;
    struct message *messages; /* of all queue pairs */
    /* By flow of jobs: the ranks at its ends, and how many messages it has. */
    struct connection {
        uint32_t from_rank, to_rank, messages;
    } * connections;
    uint32_t connection_count;
};

/* ---- which queue pairs there are */

struct pair {
    uint32_t from, to, from_rank, to_rank, send;
};

static int by_hosts(const void *a, const void *b)
{
    const struct pair *x = a, *y = b;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    if (x->to != y->to)
        return x->to < y->to ? -1 : 1;
    return (x->send > y->send) - (x->send < y->send);
}

static uint32_t host_of(const struct sim_job_config *c, uint32_t rank, uint32_t nic)
{
    return nic < c->nics ? c->hosts[(size_t)rank * c->nics + nic] : NONE;
}

/* Each send with its NICs, those of a queue pair in a row. *pairs is NULL when memory ran out. */
static size_t list_pairs(const struct sim_job_config *c, struct pair **pairs)
{
    const struct schedule *s = c->schedule;
    size_t count = 0;
    *pairs = malloc(((size_t)s->operation_count + 1) * sizeof **pairs);
    for (uint32_t r = 0; *pairs && r < s->rank_count; r++)
        for (uint32_t i = s->first[r]; i < s->first[r + 1]; i++) {
            const struct schedule_operation *op = &s->operations[i];
            if (op->type == SCHEDULE_SEND)
                (*pairs)[count++] =
                    (struct pair){host_of(c, r, op->nic),
                                  host_of(c, op->peer, s->operations[s->match[i]].nic), r, op->peer, i};
        }
    if (*pairs)
        qsort(*pairs, count, sizeof **pairs, by_hosts);
    return count;
}

static bool is_first(const struct pair *pairs, size_t i)
{
    return !i || pairs[i].from != pairs[i - 1].from || pairs[i].to != pairs[i - 1].to;
}

static struct sim_flow_config flow_of(const struct sim_job_config *c, const struct pair *pair)
{
    const struct sim_flow_config *of = &c->of_sender[pair->from];
    struct sim_flow_config flow = c->flow;
    flow.name = c->name;
    flow.from = pair->from;
    flow.to = pair->to;
    flow.ect = of->ect;
    flow.payload_bytes = of->payload_bytes;
    flow.inline_bytes = 0;
    flow.queue_pairs = flow.depth = 1;
    flow.message_count = 0;
    flow.start_ps = SIM_FOREVER; /* its messages are posted one by one */
    flow.stop_ps = 0;
    return flow;
}

uint64_t jobs_bytes(const struct sim_config *c,
                    uint64_t (*bytes_of_flow)(const struct sim_config *c, const struct sim_flow_config *f))
{
    uint64_t bytes = 0;
    for (size_t j = 0; j < c->job_count; j++) {
        const struct sim_job_config *job = &c->jobs[j];
        struct pair *pairs;
        size_t count = list_pairs(job, &pairs);
        bytes += job->schedule->operation_count * (uint64_t)(2 * sizeof(uint32_t) + 2 * sizeof(int64_t)) +
                 job->schedule->rank_count * sizeof(struct rank) + count * sizeof(struct message);
        for (size_t i = 0; pairs && i < count; i++)
            if (is_first(pairs, i) && pairs[i].from < c->host_count && pairs[i].to < c->host_count) {
                const struct sim_flow_config flow = flow_of(job, &pairs[i]);
                bytes += sizeof flow + sizeof(struct connection) + bytes_of_flow(c, &flow);
            }
        free(pairs);
    }
    return bytes;
}

static int check_nics(const struct sim_config *c, const struct sim_job_config *job, struct error *e)
{
    const struct schedule *s = job->schedule;
    for (uint32_t r = 0; r < s->rank_count; r++) {
        for (uint32_t n = 0; n < job->nics; n++)
            if (job->hosts[(size_t)r * job->nics + n] >= c->host_count && (!n || host_of(job, r, n) != NONE))
                return error_set(e, "simulator: job %s: rank %u has no host", job->name, r);
        for (uint32_t i = s->first[r]; i < s->first[r + 1]; i++)
            if (s->operations[i].type != SCHEDULE_CALC && host_of(job, r, s->operations[i].nic) == NONE)
                return error_set(e, "simulator: job %s: rank %u has no NIC %u", job->name, r,
                                 s->operations[i].nic);
    }
    return 0;
}

/* ---- building */

static int allocate_job(struct jobs *jobs, struct job *job, const struct sim_job_config *c)
{
    size_t n = (size_t)c->schedule->operation_count + 1;
    job->config = *c;
    job->first_rank = jobs->rank_count;
    jobs->rank_count += c->schedule->rank_count;
    job->left = malloc(n * sizeof *job->left);
    job->queue_pair = malloc(n * sizeof *job->queue_pair);
    job->begin_ps = malloc(n * sizeof *job->begin_ps);
    job->end_ps = malloc(n * sizeof *job->end_ps);
    return job->left && job->queue_pair && job->begin_ps && job->end_ps ? 0 : -1;
}

static int add_connections(struct jobs *jobs, struct job *job)
{
    struct pair *pairs;
    size_t count = list_pairs(&job->config, &pairs), added = 0;
    for (size_t i = 0; pairs && i < count; i++)
        added += is_first(pairs, i);
    size_t flows = jobs->own_flows + jobs->connection_count + added + 1;
    struct sim_flow_config *grown = pairs ? realloc(jobs->flows, flows * sizeof *grown) : NULL;
    jobs->flows = grown ? grown : jobs->flows;
    struct connection *connections =
        grown ? realloc(jobs->connections, (jobs->connection_count + added + 1) * sizeof *connections) : NULL;
    jobs->connections = connections ? connections : jobs->connections;
    for (size_t i = 0; connections && i < count; i++) {
        if (is_first(pairs, i)) {
            jobs->flows[jobs->own_flows + jobs->connection_count] = flow_of(&job->config, &pairs[i]);
            connections[jobs->connection_count++] = (struct connection){
                job->first_rank + pairs[i].from_rank, job->first_rank + pairs[i].to_rank, 0};
        }
        connections[jobs->connection_count - 1].messages++;
        job->queue_pair[pairs[i].send] = jobs->connection_count - 1; /* jobs_build adds the first one */
    }
    free(pairs);
    return connections ? 0 : -1;
}

static int add_job(struct jobs *jobs, const struct sim_config *c, size_t j, struct error *e)
{
    struct job *job = &jobs->jobs[j];
    jobs->job_count++;
    if (check_nics(c, &c->jobs[j], e))
        return -1;
    if (allocate_job(jobs, job, &c->jobs[j]) || add_connections(jobs, job))
        return error_set(e, "simulator: no memory for job %s", c->jobs[j].name);
    return 0;
}

struct jobs *jobs_open(const struct sim_config *c, struct error *e)
{
    if (c->capture) {
        error_set(e, "simulator: captures are of flows, not of jobs");
        return NULL;
    }
    struct jobs *jobs = calloc(1, sizeof *jobs);
    if (jobs) {
        jobs->own_flows = c->flow_count;
        jobs->flows = malloc((c->flow_count + 1) * sizeof *jobs->flows);
        jobs->jobs = calloc(c->job_count, sizeof *jobs->jobs);
    }
    if (!jobs || !jobs->flows || !jobs->jobs) {
        error_set(e, "simulator: no memory for jobs");
        jobs_free(jobs);
        return NULL;
    }
    if (c->flow_count)
        memcpy(jobs->flows, c->flows, c->flow_count * sizeof *jobs->flows);
    for (size_t j = 0; j < c->job_count; j++)
        if (add_job(jobs, c, j, e)) {
            jobs_free(jobs);
            return NULL;
        }
    jobs->config = *c;
    jobs->config.flows = jobs->flows;
    jobs->config.flow_count = jobs->own_flows + jobs->connection_count;
    return jobs;
}

const struct sim_config *jobs_config(const struct jobs *jobs)
{
    return &jobs->config;
}

static void heap_push(struct sim *sim, struct heap *heap, int64_t time_ps, uint32_t operation);

static int build_rank(struct sim *sim, const struct job *job, uint32_t r)
{
    const struct schedule *s = job->config.schedule;
    struct rank *rank = &sim->jobs->ranks[job->first_rank + r];
    *rank = (struct rank){
        .job = (uint32_t)(job - sim->jobs->jobs), .unfinished = s->first[r + 1] - s->first[r], .end_ps = -1};
    island_enter(sim, SIM_HOST, host_of(&job->config, r, 0));
    rank->event = events_add(sim->events, EVENT_RANK, job->first_rank + r);
    for (uint32_t i = s->first[r]; i < s->first[r + 1]; i++) {
        const struct schedule_operation *op = &s->operations[i];
        job->begin_ps[i] = job->end_ps[i] = -1;
        if (!(job->left[i] = s->wait_count[i]))
            heap_push(sim, &rank->ready, 0, i);
        if (op->type == SCHEDULE_CALC && op->cpu >= rank->cpu_count)
            rank->cpu_count = op->cpu + 1u;
    }
    rank->cpus = calloc(rank->cpu_count + 1, sizeof *rank->cpus);
    if (rank->event == EVENT_NONE || !rank->cpus || sim->out_of_memory)
        return -1;
    if (!rank->unfinished)
        rank->end_ps = job->config.start_ps;
    else
        event_schedule(sim->events, rank->event, job->config.start_ps);
    return 0;
}

static void furnish_queue_pairs(struct sim *sim)
{
    const struct jobs *jobs = sim->jobs;
    struct message *next = jobs->messages;
    for (uint32_t k = 0; k < jobs->connection_count; k++) {
        struct queue_pair *qp = &sim->qps[sim->flows[jobs->own_flows + k].first_qp];
        qp->messages = next;
        qp->complete_psn = UINT64_MAX;
        next += jobs->connections[k].messages;
    }
}

int jobs_build(struct sim *sim, struct error *e)
{
    struct jobs *jobs = sim->jobs;
    size_t messages = 1;
    if (!jobs)
        return 0;
    for (uint32_t k = 0; k < jobs->connection_count; k++)
        messages += jobs->connections[k].messages;
    jobs->messages = malloc(messages * sizeof *jobs->messages);
    jobs->ranks = calloc(jobs->rank_count, sizeof *jobs->ranks);
    if (!jobs->messages || !jobs->ranks)
        return error_set(e, "simulator: no memory for jobs");
    furnish_queue_pairs(sim);
    uint32_t first_qp = jobs->connection_count ? sim->flows[jobs->own_flows].first_qp : 0;
    for (uint32_t j = 0; j < jobs->job_count; j++) {
        struct job *job = &jobs->jobs[j];
        const struct schedule *s = job->config.schedule;
        for (uint32_t i = 0; i < s->operation_count; i++)
            if (s->operations[i].type == SCHEDULE_SEND)
                job->queue_pair[i] += first_qp;
        for (uint32_t r = 0; r < s->rank_count; r++)
            if (build_rank(sim, job, r))
                return error_set(e, "simulator: no memory for the ranks of job %s", job->config.name);
    }
    return 0;
}

void jobs_free(struct jobs *jobs)
{
    if (!jobs)
        return;
    for (uint32_t j = 0; j < jobs->job_count; j++) {
        free(jobs->jobs[j].left);
        free(jobs->jobs[j].queue_pair);
        free(jobs->jobs[j].begin_ps);
        free(jobs->jobs[j].end_ps);
    }
    for (uint32_t r = 0; jobs->ranks && r < jobs->rank_count; r++) {
        struct rank *rank = &jobs->ranks[r];
        for (uint32_t k = 0; rank->cpus && k < rank->cpu_count; k++)
            free(rank->cpus[k].waiting.entries);
        free(rank->cpus);
        free(rank->due.entries);
        free(rank->ready.entries);
    }
    free(jobs->jobs);
    free(jobs->ranks);
    free(jobs->messages);
    free(jobs->connections);
    free(jobs->flows);
    free(jobs);
}

/* ---- heaps */

static bool before(const struct entry *a, const struct entry *b)
{
    return a->time_ps != b->time_ps ? a->time_ps < b->time_ps : a->operation < b->operation;
}

static void heap_push(struct sim *sim, struct heap *heap, int64_t time_ps, uint32_t operation)
{
    if (heap->count == heap->room) {
        uint32_t room = heap->room ? 2 * heap->room : 8;
        struct entry *grown = realloc(heap->entries, room * sizeof *grown);
        if (!grown) {
            sim->out_of_memory = true;
            return;
        }
        heap->entries = grown;
        heap->room = room;
    }
    const struct entry entry = {time_ps, operation};
    uint32_t at = heap->count++;
    for (; at && before(&entry, &heap->entries[(at - 1) / 2]); at = (at - 1) / 2)
        heap->entries[at] = heap->entries[(at - 1) / 2];
    heap->entries[at] = entry;
}

static struct entry heap_pop(struct heap *heap)
{
    const struct entry first = heap->entries[0], last = heap->entries[--heap->count];
    uint32_t at = 0;
    for (uint32_t child; (child = 2 * at + 1) < heap->count; at = child) {
        if (child + 1 < heap->count && before(&heap->entries[child + 1], &heap->entries[child]))
            child++;
        if (!before(&heap->entries[child], &last))
            break;
        heap->entries[at] = heap->entries[child];
    }
    heap->entries[at] = last;
    return first;
}

/* ---- operations */

/* Behind everything else of its time. */
static void schedule_rank(struct sim *sim, uint32_t r)
{
    struct rank *rank = &sim->jobs->ranks[r];
    if (!rank->due.count)
        return;
    int64_t next_ps = rank->due.entries[0].time_ps;
    const struct event *event = &sim->events->events[rank->event];
    if (event->place != EVENT_IDLE && event->time_ps <= next_ps)
        return;
    event_cancel(sim->events, rank->event);
    event_schedule_as(sim->events, rank->event, next_ps, INT64_MAX, r);
}

static void note_due(struct sim *sim, uint32_t r, int64_t time_ps, uint32_t operation)
{
    heap_push(sim, &sim->jobs->ranks[r].due, time_ps, operation);
    schedule_rank(sim, r);
}

static void release_waiting(struct sim *sim, const struct job *job, struct rank *rank, uint32_t i,
                            bool on_start)
{
    const struct schedule *s = job->config.schedule;
    for (uint32_t k = s->first_after[i]; k < s->first_after[i + 1]; k++)
        if ((bool)(s->after[k] & 1) == on_start && !(--job->left[s->after[k] >> 1] & ~ARRIVED))
            heap_push(sim, &rank->ready, 0, s->after[k] >> 1);
}

static void begin_operation(struct sim *sim, const struct job *job, struct rank *rank, uint32_t i)
{
    job->begin_ps[i] = sim->now_ps;
    release_waiting(sim, job, rank, i, true);
}

static void end_operation(struct sim *sim, const struct job *job, struct rank *rank, uint32_t i)
{
    const struct schedule_operation *op = &job->config.schedule->operations[i];
    job->end_ps[i] = sim->now_ps;
    if (op->type != SCHEDULE_CALC)
        *(op->type == SCHEDULE_SEND ? &rank->sent_bytes : &rank->received_bytes) += op->size;
    if (--rank->unfinished == 0)
        rank->end_ps = sim->now_ps;
    release_waiting(sim, job, rank, i, false);
}

/* What was noted has come true. */
static void settle_operation(struct sim *sim, const struct job *job, struct rank *rank, uint32_t i)
{
    const struct schedule_operation *op = &job->config.schedule->operations[i];
    if (op->type == SCHEDULE_RECV) {
        job->left[i] |= ARRIVED;
        if (job->begin_ps[i] < 0)
            return;
    } else if (op->type == SCHEDULE_CALC) {
        rank->cpus[op->cpu].busy = false;
        if (--rank->running == 0)
            rank->calc_ps += sim->now_ps - rank->calc_since_ps;
    }
    end_operation(sim, job, rank, i);
}

/* All that it waits for is over. */
static void make_operation_ready(struct sim *sim, const struct job *job, struct rank *rank, uint32_t i)
{
    const struct schedule_operation *op = &job->config.schedule->operations[i];
    if (op->type == SCHEDULE_CALC && op->size) {
        heap_push(sim, &rank->cpus[op->cpu].waiting, sim->now_ps, i);
        return;
    }
    begin_operation(sim, job, rank, i);
    if (op->type == SCHEDULE_SEND)
        qp_post(sim, job->queue_pair[i], op->size, i);
    else if (op->type == SCHEDULE_CALC || job->left[i] & ARRIVED)
        end_operation(sim, job, rank, i);
}

/* Each CPU that is free takes the computation that has waited longest. */
static void start_computations(struct sim *sim, const struct job *job, struct rank *rank)
{
    for (uint32_t k = 0; k < rank->cpu_count; k++) {
        struct cpu *cpu = &rank->cpus[k];
        if (cpu->busy || !cpu->waiting.count)
            continue;
        uint32_t i = heap_pop(&cpu->waiting).operation;
        cpu->busy = true;
        if (rank->running++ == 0)
            rank->calc_since_ps = sim->now_ps;
        heap_push(sim, &rank->due, sim->now_ps + job->config.schedule->operations[i].size * SIM_PS_PER_NS, i);
        begin_operation(sim, job, rank, i);
    }
}

void rank_turn(struct sim *sim, uint32_t r)
{
    struct rank *rank = &sim->jobs->ranks[r];
    const struct job *job = &sim->jobs->jobs[rank->job];
    while (rank->due.count && rank->due.entries[0].time_ps <= sim->now_ps)
        settle_operation(sim, job, rank, heap_pop(&rank->due).operation);
    do {
        while (rank->ready.count)
            make_operation_ready(sim, job, rank, heap_pop(&rank->ready).operation);
        start_computations(sim, job, rank);
    } while (rank->ready.count);
    schedule_rank(sim, r);
}

static const struct connection *connection_of(const struct sim *sim, uint32_t q)
{
    return &sim->jobs->connections[sim->qps[q].flow - sim->jobs->own_flows];
}

void jobs_sent(struct sim *sim, uint32_t q, uint32_t operation, int64_t known_ps)
{
    note_due(sim, connection_of(sim, q)->from_rank, known_ps, operation);
}

void jobs_arrived(struct sim *sim, uint32_t q, uint32_t operation, int64_t visible_ps)
{
    const struct jobs *jobs = sim->jobs;
    uint32_t r = connection_of(sim, q)->to_rank;
    note_due(sim, r, visible_ps, jobs->jobs[jobs->ranks[r].job].config.schedule->match[operation]);
}

/* ---- what was done */

void sim_rank(const struct sim *sim, size_t j, uint32_t r, struct sim_rank *out)
{
    const struct job *job = &sim->jobs->jobs[j];
    const struct rank *rank = &sim->jobs->ranks[job->first_rank + r];
    int64_t until_ps = rank->end_ps >= 0 ? rank->end_ps : sim->now_ps;
    int64_t calc_ps = rank->calc_ps + (rank->running ? sim->now_ps - rank->calc_since_ps : 0);
    int64_t all_ps = until_ps - job->config.start_ps;
    *out = (struct sim_rank){.end_ps = rank->end_ps,
                             .calc_ps = calc_ps,
                             .exposed_ps = all_ps > calc_ps ? all_ps - calc_ps : 0,
                             .sent_bytes = rank->sent_bytes,
                             .received_bytes = rank->received_bytes,
                             .unfinished = rank->unfinished};
}

void sim_rank_operation(const struct sim *sim, size_t j, uint32_t operation, int64_t *begin_ps,
                        int64_t *end_ps)
{
    *begin_ps = sim->jobs->jobs[j].begin_ps[operation];
    *end_ps = sim->jobs->jobs[j].end_ps[operation];
}
