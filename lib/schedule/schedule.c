/* A schedule as it is built: what is added, in which order, and which recv takes which send. */
#include "lib/schedule/schedule.h"
#include "lib/grow.h"
#include "lib/schedule/parts.h"
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- sentences */

uint32_t schedule_rank_of(const struct schedule *s, uint32_t operation)
{
    uint32_t low = 0, high = s->rank_count;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        *(s->first[middle] <= operation ? &low : &high) = middle;
    }
    return low;
}

void schedule_where(const struct schedule *s, uint32_t operation, char *out, size_t size)
{
    uint32_t rank = schedule_rank_of(s, operation), line = s->operations[operation].line;
    if (line)
        snprintf(out, size, "line %u", line);
    else
        snprintf(out, size, "operation %u of rank %u", operation - s->first[rank], rank);
}

void schedule_what(const struct schedule *s, uint32_t operation, char *out, size_t size)
{
    const struct schedule_operation *op = &s->operations[operation];
    if (op->type == SCHEDULE_CALC)
        snprintf(out, size, "calc of %" PRId64 " ns", op->size);
    else
        snprintf(out, size, "%s of %" PRId64 " B %s rank %u, tag %u",
                 op->type == SCHEDULE_SEND ? "send" : "recv", op->size,
                 op->type == SCHEDULE_SEND ? "to" : "from", op->peer, op->tag);
}

int schedule_error(const struct schedule *s, uint32_t operation, struct error *e, const char *format, ...)
{
    char words[400], where[60];
    va_list list;
    va_start(list, format);
    vsnprintf(words, sizeof words, format, list);
    va_end(list);
    schedule_where(s, operation, where, sizeof where);
    if (s->operations[operation].line)
        return error_set(e, "%.160s:%u: %s", s->name, s->operations[operation].line, words);
    return error_set(e, "%.160s: %s: %s", s->name, where, words);
}

static int refuse(const struct schedule *s, int64_t rank, uint32_t line, struct error *e, const char *what)
{
    if (line)
        return error_set(e, "%.160s:%u: %s", s->name, line, what);
    return error_set(e, "%.160s: rank %" PRId64 ": %s", s->name, rank, what);
}

/* ---- adding */

int schedule_begin(struct schedule *s, const char *name, int64_t ranks, struct error *e)
{
    *s = (struct schedule){.name = name, .rank_count = (uint32_t)ranks};
    if (ranks < 2 || ranks > SCHEDULE_MOST_RANKS)
        return error_set(e, "%.160s: %" PRId64 " ranks: expected 2 to %d", name, ranks, SCHEDULE_MOST_RANKS);
    s->first = calloc((size_t)ranks + 2, sizeof *s->first);
    return s->first ? 0 : error_set(e, "%.160s: out of memory", name);
}

static int check_operation(const struct schedule *s, int64_t rank, const struct schedule_operation *op,
                           struct error *e)
{
    char what[200];
    bool calc = op->type == SCHEDULE_CALC;
    int64_t most = calc ? SCHEDULE_MOST_CALC_NS : SCHEDULE_MOST_BYTES;
    if (rank < 0 || rank >= s->rank_count)
        return error_set(e, "%.160s: rank %" PRId64 ": there are %u", s->name, rank, s->rank_count);
    if (op->type < SCHEDULE_SEND || op->type > SCHEDULE_CALC)
        return refuse(s, rank, op->line, e, "an operation is neither send, recv nor calc");
    if (op->size < 0 || op->size > most) {
        snprintf(what, sizeof what, "%s of %" PRId64 " %s: expected 0 to %" PRId64,
                 calc ? "a calc" : "a message", op->size, calc ? "ns" : "bytes", most);
        return refuse(s, rank, op->line, e, what);
    }
    if (!calc && op->peer >= s->rank_count) {
        snprintf(what, sizeof what, "the other rank is %u: expected 0 to %u", op->peer, s->rank_count - 1);
        return refuse(s, rank, op->line, e, what);
    }
    if (!calc && op->peer == rank) {
        snprintf(what, sizeof what, "rank %" PRId64 " sends to itself", rank);
        return refuse(s, rank, op->line, e, what);
    }
    if (s->operation_count < SCHEDULE_MOST_OPERATIONS)
        return 0;
    snprintf(what, sizeof what, "more than %d operations", SCHEDULE_MOST_OPERATIONS);
    return refuse(s, rank, op->line, e, what);
}

int64_t schedule_add(struct schedule *s, int64_t rank, const struct schedule_operation *operation,
                     struct error *e)
{
    if (check_operation(s, rank, operation, e) != 0)
        return -1;
    struct schedule_operation *operations =
        grow_by_one(s->operations, s->operation_count, sizeof *operations);
    s->operations = operations ? operations : s->operations;
    uint32_t *rank_of = operations ? grow_by_one(s->rank_of, s->operation_count, sizeof *rank_of) : NULL;
    s->rank_of = rank_of ? rank_of : s->rank_of;
    if (!rank_of)
        return error_set(e, "%.160s: out of memory", s->name);
    operations[s->operation_count] = *operation;
    rank_of[s->operation_count] = (uint32_t)rank;
    return s->operation_count++;
}

int64_t schedule_add_send(struct schedule *s, int64_t rank, int64_t to, int64_t bytes, uint32_t tag,
                          struct error *e)
{
    return schedule_add(
        s, rank,
        &(struct schedule_operation){.type = SCHEDULE_SEND, .peer = (uint32_t)to, .size = bytes, .tag = tag},
        e);
}

int64_t schedule_add_recv(struct schedule *s, int64_t rank, int64_t from, int64_t bytes, uint32_t tag,
                          struct error *e)
{
    return schedule_add(s, rank,
                        &(struct schedule_operation){
                            .type = SCHEDULE_RECV, .peer = (uint32_t)from, .size = bytes, .tag = tag},
                        e);
}

int64_t schedule_add_calc(struct schedule *s, int64_t rank, int64_t ns, struct error *e)
{
    return schedule_add(s, rank, &(struct schedule_operation){.type = SCHEDULE_CALC, .size = ns}, e);
}

int schedule_add_wait(struct schedule *s, int64_t operation, int64_t before, bool on_start, struct error *e)
{
    if (operation < 0 || before < 0 || operation >= s->operation_count || before >= s->operation_count ||
        s->rank_of[operation] != s->rank_of[before])
        return error_set(e, "%.160s: operation %" PRId64 " waits for %" PRId64 ", which is not of its rank",
                         s->name, operation, before);
    if (s->waits_added == SCHEDULE_MOST_WAITS)
        return error_set(e, "%.160s: more than %d dependencies", s->name, SCHEDULE_MOST_WAITS);
    struct schedule_wait *waits = grow_by_one(s->waits, s->waits_added, sizeof *waits);
    if (!waits)
        return error_set(e, "%.160s: out of memory", s->name);
    s->waits = waits;
    waits[s->waits_added++] = (struct schedule_wait){(uint32_t)operation, (uint32_t)before, on_start};
    return 0;
}

/* ---- in the order of ranks */

/* first[r + 1] counts rank r's, then is where it begins. */
static bool count_ranks(struct schedule *s)
{
    bool in_order = true;
    for (uint32_t i = 0; i < s->operation_count; i++) {
        s->first[s->rank_of[i] + 1]++;
        in_order = in_order && (!i || s->rank_of[i - 1] <= s->rank_of[i]);
    }
    for (uint32_t r = 0; r < s->rank_count; r++)
        s->first[r + 1] += s->first[r];
    return in_order;
}

static int sort_by_rank(struct schedule *s, struct error *e)
{
    if (count_ranks(s))
        return 0;
    size_t n = s->operation_count;
    struct schedule_operation *sorted = calloc(n + 1, sizeof *sorted);
    uint32_t *place = calloc(n + 1, sizeof *place), *next = calloc((size_t)s->rank_count + 1, sizeof *next);
    int result = sorted && place && next ? 0 : error_set(e, "%.160s: out of memory", s->name);
    if (result == 0) {
        memcpy(next, s->first, s->rank_count * sizeof *next);
        for (uint32_t i = 0; i < n; i++)
            sorted[place[i] = next[s->rank_of[i]]++] = s->operations[i];
        for (size_t d = 0; d < s->waits_added; d++) {
            s->waits[d].operation = place[s->waits[d].operation];
            s->waits[d].before = place[s->waits[d].before];
        }
        struct schedule_operation *unsorted = s->operations;
        s->operations = sorted;
        sorted = unsorted;
    }
    free(sorted);
    free(place);
    free(next);
    return result;
}

static int list_waits(struct schedule *s, struct error *e)
{
    size_t n = s->operation_count;
    s->wait_count = calloc(n + 1, sizeof *s->wait_count);
    s->first_after = calloc(n + 2, sizeof *s->first_after);
    s->after = calloc(s->waits_added + 1, sizeof *s->after);
    if (!s->wait_count || !s->first_after || !s->after)
        return error_set(e, "%.160s: out of memory", s->name);
    for (size_t d = 0; d < s->waits_added; d++) {
        s->wait_count[s->waits[d].operation]++;
        s->first_after[s->waits[d].before + 1]++;
    }
    for (size_t i = 0; i < n; i++)
        s->first_after[i + 1] += s->first_after[i];
    /* from the last one on, so that first_after[i + 1] ends where list i begins */
    for (size_t d = s->waits_added; d > 0; d--) {
        const struct schedule_wait *wait = &s->waits[d - 1];
        s->after[--s->first_after[wait->before + 1]] = 2 * wait->operation + wait->on_start;
    }
    for (size_t i = 0; i < n; i++)
        s->first_after[i] = s->first_after[i + 1];
    s->first_after[n] = (uint32_t)s->waits_added;
    return 0;
}

/* ---- sends and recvs */

struct end {
    uint32_t from, to, tag, operation;
};

static int compare(uint32_t a, uint32_t b)
{
    return (a > b) - (a < b);
}

/* By sender, receiver, tag and place in the schedule. */
static int by_message(const void *a, const void *b)
{
    const struct end *x = a, *y = b;
    int order = compare(x->from, y->from);
    order = order ? order : compare(x->to, y->to);
    order = order ? order : compare(x->tag, y->tag);
    return order ? order : compare(x->operation, y->operation);
}

static size_t list_ends(const struct schedule *s, enum schedule_type type, struct end *ends)
{
    size_t count = 0;
    for (uint32_t r = 0; r < s->rank_count; r++)
        for (uint32_t i = s->first[r]; i < s->first[r + 1]; i++) {
            const struct schedule_operation *op = &s->operations[i];
            if (op->type == type)
                ends[count++] = (struct end){type == SCHEDULE_SEND ? r : op->peer,
                                             type == SCHEDULE_SEND ? op->peer : r, op->tag, i};
        }
    qsort(ends, count, sizeof *ends, by_message);
    return count;
}

static int unmatched(const struct schedule *s, const struct end *end, struct error *e)
{
    bool sends = s->operations[end->operation].type == SCHEDULE_SEND;
    return schedule_error(s, end->operation, e, "no %s of rank %u %s rank %u with tag %u matches this %s",
                          sends ? "recv" : "send", sends ? end->to : end->from, sends ? "from" : "to",
                          sends ? end->from : end->to, end->tag, sends ? "send" : "recv");
}

static int unequal(const struct schedule *s, uint32_t send, uint32_t recv, struct error *e)
{
    char where[60];
    schedule_where(s, send, where, sizeof where);
    return schedule_error(s, recv, e, "the recv has %" PRId64 " bytes, and its send on %s has %" PRId64,
                          s->operations[recv].size, where, s->operations[send].size);
}

static int match_ends(struct schedule *s, const struct end *sends, size_t send_count, const struct end *recvs,
                      size_t recv_count, struct error *e)
{
    for (size_t i = 0; i < send_count || i < recv_count; i++) {
        if (i == send_count)
            return unmatched(s, &recvs[i], e);
        if (i == recv_count)
            return unmatched(s, &sends[i], e);
        struct end send = sends[i], recv = recvs[i];
        send.operation = recv.operation = 0;
        int order = by_message(&send, &recv);
        if (order) /* the one that comes first has no other */
            return unmatched(s, order < 0 ? &sends[i] : &recvs[i], e);
        uint32_t a = sends[i].operation, b = recvs[i].operation;
        if (s->operations[a].size != s->operations[b].size)
            return unequal(s, a, b, e);
        s->match[a] = b;
        s->match[b] = a;
    }
    return 0;
}

static int match_all(struct schedule *s, struct error *e)
{
    size_t n = s->operation_count;
    struct end *ends = calloc(n + 1, sizeof *ends);
    s->match = calloc(n + 1, sizeof *s->match);
    int result = ends && s->match ? 0 : error_set(e, "%.160s: out of memory", s->name);
    if (result == 0) {
        size_t sends = list_ends(s, SCHEDULE_SEND, ends);
        size_t recvs = list_ends(s, SCHEDULE_RECV, ends + sends);
        result = match_ends(s, ends, sends, ends + sends, recvs, e);
    }
    free(ends);
    return result;
}

int schedule_finish(struct schedule *s, struct error *e)
{
    int result = sort_by_rank(s, e) != 0 || match_all(s, e) != 0 || list_waits(s, e) != 0 ||
                         schedule_check_order(s, e) != 0
                     ? -1
                     : 0;
    free(s->rank_of);
    free(s->waits);
    s->rank_of = NULL;
    s->waits = NULL;
    struct schedule_operation *fitting =
        realloc(s->operations, ((size_t)s->operation_count + 1) * sizeof *fitting);
    s->operations = fitting ? fitting : s->operations;
    return result;
}

void schedule_free(struct schedule *s)
{
    free(s->operations);
    free(s->first);
    free(s->match);
    free(s->wait_count);
    free(s->first_after);
    free(s->after);
    free(s->rank_of);
    free(s->waits);
    *s = (struct schedule){0};
}
