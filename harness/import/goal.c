/*
 * A schedule as flows that wait for flows. A send is a flow. What a send waits for is in its own rank: flows
 * that the rank receives (recv), flows that it sends, and computations (calc), which are time after these.
 */
#include "harness/import/goal.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Entries of all sets: 160 MB. */
#define MOST_ENTRIES 10000000

/* When something is over: at the latest of base_ns after the beginning, and, for each entry, its delay after
 * the end of its flow. */
struct set {
    size_t first, count; /* of order.entries, sorted by flow */
    int64_t base_ns;
};

struct order {
    struct goal *goal;
    size_t *first;      /* of each operation its dependencies: list[first[i]] up to list[first[i + 1]] */
    uint32_t *list;     /* indices of dependencies */
    uint32_t *sequence; /* operations, each after those that it depends on */
    struct set *ready, *done;
    struct import_wait *entries;
    size_t entry_count, entry_room;
    struct import_wait *merged; /* scratch, by flow */
    size_t merged_room;
};

/* ---- the order of operations */

static void list_dependencies(struct order *o)
{
    const struct goal *goal = o->goal;
    for (size_t d = 0; d < goal->dependency_count; d++)
        o->first[goal->dependencies[d].operation + 2]++;
    for (size_t i = 2; i < goal->operation_count + 2; i++)
        o->first[i] += o->first[i - 1];
    for (size_t d = 0; d < goal->dependency_count; d++)
        o->list[o->first[goal->dependencies[d].operation + 1]++] = (uint32_t)d;
}

/* Depth first without recursion; state 1: its dependencies are looked at, 2: it is in the sequence. */
static int order_visit(struct order *o, uint32_t from, unsigned char *state, uint32_t *stack, size_t *next,
                       size_t *count, struct error *e)
{
    size_t depth = 0;
    if (state[from])
        return 0;
    state[from] = 1;
    stack[depth++] = from;
    while (depth) {
        uint32_t at = stack[depth - 1];
        if (o->first[at] + next[at] == o->first[at + 1]) {
            state[at] = 2;
            o->sequence[(*count)++] = at;
            depth--;
            continue;
        }
        uint32_t before = o->goal->dependencies[o->list[o->first[at] + next[at]++]].before;
        if (state[before] == 1)
            return reader_error(o->goal->in, o->goal->operations[before].line, e,
                                "this operation requires itself, by way of the one on line %u",
                                o->goal->operations[at].line);
        if (!state[before]) {
            state[before] = 1;
            stack[depth++] = before;
        }
    }
    return 0;
}

static int put_in_order(struct order *o, struct error *e)
{
    size_t n = o->goal->operation_count, count = 0;
    unsigned char *state = calloc(n + 1, sizeof *state);
    uint32_t *stack = calloc(n + 1, sizeof *stack);
    size_t *next = calloc(n + 1, sizeof *next);
    int result = state && stack && next ? 0 : -1;
    if (result != 0)
        error_set(e, "out of memory");
    for (uint32_t i = 0; result == 0 && i < n; i++)
        result = order_visit(o, i, state, stack, next, &count, e);
    free(state);
    free(stack);
    free(next);
    return result;
}

/* ---- computations share CPUs */

/* Operations of a rank are in a row of the sequence, as none depends on another rank's. Along the row, each
 * computation on the CPU must come after all before it: `place` is how many of them an operation comes
 * after. */
static int check_cpu(const struct order *o, size_t begin, size_t end, uint32_t cpu, uint32_t *ready,
                     uint32_t *done, struct error *e)
{
    const struct goal *goal = o->goal;
    uint32_t count = 0, latest = 0;
    for (size_t s = begin; s < end; s++) {
        uint32_t at = o->sequence[s];
        const struct goal_operation *op = &goal->operations[at];
        ready[at] = 0;
        for (size_t k = o->first[at]; k < o->first[at + 1]; k++) {
            const struct goal_dependency *d = &goal->dependencies[o->list[k]];
            uint32_t place = d->on_start ? ready[d->before] : done[d->before];
            ready[at] = place > ready[at] ? place : ready[at];
        }
        done[at] = ready[at];
        if (op->type != GOAL_CALC || op->cpu != cpu || !op->size)
            continue;
        if (ready[at] != count)
            return reader_error(
                goal->in, op->line, e,
                "this calc and the one on line %u of rank %u share CPU %u, and neither requires the "
                "other: which is first depends on the run",
                goal->operations[latest].line, op->rank, cpu);
        done[at] = ++count;
        latest = at;
    }
    return 0;
}

static int check_rank(const struct order *o, size_t begin, size_t end, uint32_t *ready, uint32_t *done,
                      struct error *e)
{
    size_t calcs[GOAL_MOST_CPUS] = {0};
    for (size_t s = begin; s < end; s++) {
        const struct goal_operation *op = &o->goal->operations[o->sequence[s]];
        calcs[op->cpu] += op->type == GOAL_CALC && op->size;
    }
    for (uint32_t cpu = 0; cpu < GOAL_MOST_CPUS; cpu++)
        if (calcs[cpu] > 1 && check_cpu(o, begin, end, cpu, ready, done, e) != 0)
            return -1;
    return 0;
}

static int check_cpus(const struct order *o, struct error *e)
{
    size_t n = o->goal->operation_count;
    uint32_t *ready = calloc(n + 1, sizeof *ready), *done = calloc(n + 1, sizeof *done);
    int result = ready && done ? 0 : -1;
    if (result != 0)
        error_set(e, "out of memory");
    for (size_t begin = 0, end; result == 0 && begin < n; begin = end) {
        uint32_t rank = o->goal->operations[o->sequence[begin]].rank;
        for (end = begin; end < n && o->goal->operations[o->sequence[end]].rank == rank;)
            end++;
        result = check_rank(o, begin, end, ready, done, e);
    }
    free(ready);
    free(done);
    return result;
}

/* ---- sets */

static int by_flow(const void *a, const void *b)
{
    const struct import_wait *x = a, *y = b;
    if (x->flow != y->flow)
        return x->flow < y->flow ? -1 : 1;
    return (x->delay_ns < y->delay_ns) - (x->delay_ns > y->delay_ns); /* the longest delay first */
}

static void *room_for(void *items, size_t *room, size_t needed, size_t size)
{
    size_t wanted = *room ? *room : 64;
    while (wanted < needed)
        wanted *= 2;
    if (items && wanted == *room)
        return items;
    void *grown = realloc(items, wanted * size);
    if (grown)
        *room = wanted;
    return grown;
}

static int too_long(const struct order *o, const struct goal_operation *op, struct error *e)
{
    return reader_error(o->goal->in, op->line, e, "the computations up to this one take more than a day");
}

static int add_merged(struct order *o, const struct goal_operation *op, size_t *count,
                      const struct import_wait *from, size_t n, int64_t delay_ns, struct error *e)
{
    struct import_wait *grown = room_for(o->merged, &o->merged_room, *count + n, sizeof *o->merged);
    if (!grown)
        return error_set(e, "out of memory");
    o->merged = grown;
    for (size_t i = 0; i < n; i++) {
        if (from[i].delay_ns + delay_ns > GOAL_MOST_CALC_NS)
            return too_long(o, op, e);
        o->merged[(*count)++] = (struct import_wait){from[i].flow, from[i].delay_ns + delay_ns};
    }
    return 0;
}

/* A set of what is in `merged`: of several waits for one flow the longest. */
static int order_keep_longest(struct order *o, const struct goal_operation *op, size_t count, struct set *to,
                              struct error *e)
{
    size_t kept = 0;
    if (count > 1)
        qsort(o->merged, count, sizeof *o->merged, by_flow);
    for (size_t i = 0; i < count; i++)
        if (!kept || o->merged[kept - 1].flow != o->merged[i].flow)
            o->merged[kept++] = o->merged[i];
    if (o->entry_count + kept > MOST_ENTRIES)
        return reader_error(o->goal->in, op->line, e,
                            "operations up to this one wait for %d flows in sum: more are not imported",
                            MOST_ENTRIES);
    struct import_wait *grown =
        room_for(o->entries, &o->entry_room, o->entry_count + kept, sizeof *o->entries);
    if (!grown)
        return error_set(e, "out of memory");
    o->entries = grown;
    if (kept)
        memcpy(&o->entries[o->entry_count], o->merged, kept * sizeof *o->merged);
    to->first = o->entry_count;
    to->count = kept;
    o->entry_count += kept;
    return 0;
}

static int find_ready(struct order *o, uint32_t at, struct error *e)
{
    const struct goal *goal = o->goal;
    const struct goal_operation *op = &goal->operations[at];
    size_t count = 0, dependencies = o->first[at + 1] - o->first[at];
    struct set *ready = &o->ready[at];
    for (size_t k = o->first[at]; k < o->first[at + 1]; k++) {
        const struct goal_dependency *d = &goal->dependencies[o->list[k]];
        const struct set *before = d->on_start ? &o->ready[d->before] : &o->done[d->before];
        if (dependencies == 1) {
            *ready = *before;
            return 0;
        }
        ready->base_ns = before->base_ns > ready->base_ns ? before->base_ns : ready->base_ns;
        if (before->count && add_merged(o, op, &count, &o->entries[before->first], before->count, 0, e) != 0)
            return -1;
    }
    return dependencies ? order_keep_longest(o, op, count, ready, e) : 0;
}

static int find_done(struct order *o, uint32_t at, struct error *e)
{
    const struct goal_operation *op = &o->goal->operations[at];
    const struct set *ready = &o->ready[at];
    const struct import_wait own = {.flow = op->flow};
    int64_t delay_ns = op->type == GOAL_CALC ? op->size : 0;
    size_t count = 0;
    o->done[at] = (struct set){0};
    if (op->type == GOAL_CALC && !delay_ns) {
        o->done[at] = *ready;
        return 0;
    }
    if (op->type != GOAL_SEND) {
        o->done[at].base_ns = ready->base_ns + delay_ns;
        if (o->done[at].base_ns > GOAL_MOST_CALC_NS)
            return reader_error(o->goal->in, op->line, e, "computations up to this one take more than a day");
        if (ready->count &&
            add_merged(o, op, &count, &o->entries[ready->first], ready->count, delay_ns, e) != 0)
            return -1;
    }
    if (op->type != GOAL_CALC && add_merged(o, op, &count, &own, 1, 0, e) != 0)
        return -1;
    return order_keep_longest(o, op, count, &o->done[at], e);
}

static int find_sets(struct order *o, struct error *e)
{
    for (size_t s = 0; s < o->goal->operation_count; s++)
        if (find_ready(o, o->sequence[s], e) != 0 || find_done(o, o->sequence[s], e) != 0)
            return -1;
    return 0;
}

/* ---- flows */

static int add_flow(const struct order *o, uint32_t at, struct import *import, struct error *e)
{
    const struct goal_operation *op = &o->goal->operations[at];
    const struct set *ready = &o->ready[at];
    int64_t longest_ns = 0;
    for (size_t i = 0; i < ready->count; i++)
        if (o->entries[ready->first + i].delay_ns > longest_ns)
            longest_ns = o->entries[ready->first + i].delay_ns;
    const struct import_flow flow = {.from = op->rank,
                                     .to = op->peer,
                                     .line = op->line,
                                     .bytes = op->size,
                                     .start_ns = ready->base_ns > longest_ns ? ready->base_ns : 0,
                                     .first_wait = import->wait_count,
                                     .waits = ready->count};
    if (import->wait_count + ready->count > IMPORT_MOST_WAITS)
        return reader_error(o->goal->in, op->line, e,
                            "sends up to this one wait for more than %d flows in sum", IMPORT_MOST_WAITS);
    for (size_t i = 0; i < ready->count; i++) {
        const struct import_wait *wait = &o->entries[ready->first + i];
        if (wait->delay_ns > FLOW_MAX_TIME_NS)
            return reader_error(o->goal->in, op->line, e,
                                "the computations before this send take more than a day");
        if (import_add_wait(import, wait, e) != 0)
            return -1;
    }
    return import_add_flow(import, &flow, e);
}

/* Computations after which nothing is sent change no flow. */
static void note_ends(const struct order *o, struct import *import)
{
    size_t n = o->goal->operation_count, count = 0;
    bool *leads = calloc(n + 1, sizeof *leads);
    for (size_t s = n; leads && s > 0; s--) {
        uint32_t at = o->sequence[s - 1];
        const struct goal_operation *op = &o->goal->operations[at];
        leads[at] = leads[at] || op->type == GOAL_SEND;
        count += !leads[at] && op->type == GOAL_CALC && op->size;
        for (size_t k = o->first[at]; k < o->first[at + 1]; k++)
            if (leads[at])
                leads[o->goal->dependencies[o->list[k]].before] = true;
    }
    free(leads);
    if (count)
        import_note(import, "%zu %s left out", count,
                    count == 1 ? "computation after which its rank sends nothing is"
                               : "computations after which their rank sends nothing are");
}

static int make_flows(struct order *o, struct import *import, struct error *e)
{
    list_dependencies(o);
    if (put_in_order(o, e) != 0 || check_cpus(o, e) != 0 || find_sets(o, e) != 0)
        return -1;
    for (uint32_t i = 0; i < o->goal->operation_count; i++)
        if (o->goal->operations[i].type == GOAL_SEND && add_flow(o, i, import, e) != 0)
            return -1;
    note_ends(o, import);
    return 0;
}

/* A flow for each send, with its waits. */
static int goal_flows(struct goal *goal, struct import *import, struct error *e)
{
    size_t n = goal->operation_count;
    struct order o = {.goal = goal,
                      .first = calloc(n + 3, sizeof(size_t)),
                      .list = calloc(goal->dependency_count + 1, sizeof(uint32_t)),
                      .sequence = calloc(n + 1, sizeof(uint32_t)),
                      .ready = calloc(n + 1, sizeof(struct set)),
                      .done = calloc(n + 1, sizeof(struct set))};
    int result = o.first && o.list && o.sequence && o.ready && o.done ? make_flows(&o, import, e)
                                                                      : error_set(e, "out of memory");
    free(o.first);
    free(o.list);
    free(o.sequence);
    free(o.ready);
    free(o.done);
    free(o.entries);
    free(o.merged);
    return result;
}

int import_goal(struct reader *file, struct import *import, struct error *e)
{
    struct goal goal = {.in = file};
    size_t flows = 0;
    if (import_begin(import, "GOAL", e) != 0)
        return -1;
    import->flow_path = file->path;
    int result = goal_parse(&goal, e) != 0 || goal_match(&goal, &flows, e) != 0 ? -1 : 0;
    if (result == 0 && (flows < 1 || flows > IMPORT_MOST_FLOWS))
        result = error_set(e, "%s: the number of sends is %zu: expected 1 to %d", file->path, flows,
                           IMPORT_MOST_FLOWS);
    if (result == 0)
        result = import_nodes(import, (size_t)goal.ranks, e);
    if (result == 0)
        result = goal_flows(&goal, import, e);
    if (result == 0)
        import_note(import,
                    "a send has ended when its last ACK is back; the overheads of LogGOPS (o, O, g, S) are "
                    "not in the schedule, and not simulated");
    goal_free(&goal);
    if (result != 0)
        import_free(import);
    return result;
}
