/*
 * The connection matrices of htsim (Broadcom/csg-htsim, sim/datacenter/connection_matrix.cpp of March 2026),
 * FILE.cm:
 *
 *   Nodes N, Connections N, Triggers N, Failures N     the header; triggers and failures may be missing
 *   A->B [id N] start PS | trigger ID [size BYTES] [send_done_trigger ID] [recv_done_trigger ID]
 *        [prio N] [addon]
 *   trigger id N oneshot | multishot | barrier [count N]
 *   failure ...
 *
 * A line that begins with # is a comment. Times are picoseconds in this version; until 2023 they were
 * microseconds.
 */
#include "harness/import/import.h"
#include "lib/text.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MOST_ID    INT32_MAX
#define NO_TRIGGER 0

struct trigger {
    int64_t id, count;
    enum { NONE, ONESHOT, MULTISHOT, BARRIER } type;
    unsigned line;
};

struct connection {
    int64_t id, trigger;             /* the trigger that it waits for */
    int64_t send_done, receive_done; /* triggers that it fires */
};

struct matrix {
    struct reader *in;
    struct import *import;
    int64_t nodes, connections_said, triggers_said;
    struct connection *connections; /* as many as flows */
    struct trigger *triggers;
    size_t trigger_count;
    size_t cut_starts, early_starts, priorities;
    int64_t last_start_ps;
};

/* ---- the header */

static int read_after(struct matrix *m, const char *what, int64_t min, int64_t max, int64_t *value,
                      struct error *e)
{
    struct word word;
    if (*value)
        return reader_error(m->in, m->in->line, e, "\"%s\" comes twice in the header", what);
    if (!reader_word_in_line(m->in, &word))
        return reader_error(m->in, m->in->line, e, "the line ends after \"%s\": expected a number", what);
    return word_integer(m->in, &word, what, min, max, value, e);
}

static int check_room(struct matrix *m, struct error *e)
{
    m->connections = calloc((size_t)m->connections_said + 1, sizeof *m->connections);
    m->triggers = calloc((size_t)m->triggers_said + 1, sizeof *m->triggers);
    if (!m->connections || !m->triggers) {
        error_set(e, "out of memory");
        return -1;
    }
    return import_nodes(m->import, (size_t)m->nodes, e);
}

/* "Connections 4" and the like; false: the header is over. */
static int read_header(struct matrix *m, struct error *e)
{
    int64_t failures = 0;
    for (;;) {
        struct reader line = *m->in;
        struct word word;
        int result = 0;
        if (!reader_word_in_line(m->in, &word) || word.at[0] == '#')
            result = 0;
        else if (word_is(&word, "Nodes"))
            result = read_after(m, "Nodes", 2, IMPORT_MOST_NODES, &m->nodes, e);
        else if (word_is(&word, "Connections"))
            result = read_after(m, "Connections", 1, IMPORT_MOST_FLOWS, &m->connections_said, e);
        else if (word_is(&word, "Triggers"))
            result = read_after(m, "Triggers", 0, IMPORT_MOST_WAITS, &m->triggers_said, e);
        else if (word_is(&word, "Failures"))
            result = read_after(m, "Failures", 0, 0, &failures, e);
        else {
            *m->in = line;
            break;
        }
        if (result != 0)
            return -1;
        if (!reader_next_line(m->in))
            break;
    }
    if (!m->nodes || !m->connections_said) {
        reader_error(m->in, m->in->line, e, "expected \"%s\" in the header",
                     m->nodes ? "Connections N" : "Nodes N");
        return -1;
    }
    return check_room(m, e);
}

/* ---- a connection */

static int read_ends(struct matrix *m, const struct word *word, struct import_flow *flow, struct error *e)
{
    size_t arrow = 0;
    int64_t from = 0, to = 0;
    while (arrow + 1 < word->length && (word->at[arrow] != '-' || word->at[arrow + 1] != '>'))
        arrow++;
    const struct word a = {word->at, arrow, word->line},
                      b = {word->at + arrow + 2, word->length - arrow - 2, word->line};
    if (word_integer(m->in, &a, "the sender", 0, m->nodes - 1, &from, e) != 0 ||
        word_integer(m->in, &b, "the receiver", 0, m->nodes - 1, &to, e) != 0)
        return -1;
    if (from == to)
        return reader_error(m->in, word->line, e, "node %" PRId64 " sends to itself", from);
    flow->from = (uint32_t)from;
    flow->to = (uint32_t)to;
    flow->line = word->line;
    return 0;
}

/* Picoseconds; a scenario has nanoseconds. */
static int read_start(struct matrix *m, struct import_flow *flow, struct error *e)
{
    struct word word;
    int64_t ps = 0;
    bool whole = false;
    if (!reader_word_in_line(m->in, &word))
        return reader_error(m->in, m->in->line, e, "the line ends after \"start\": expected picoseconds");
    if (decimal_parse(word.at, word.length, 0, &ps, &whole) != 0 || ps > INT64_C(86400000000000000))
        return reader_error(m->in, word.line, e,
                            "start is \"%.*s\": expected picoseconds, at most 8.64e16 (a day)",
                            (int)(word.length < 60 ? word.length : 60), word.at);
    m->cut_starts += !whole || ps % 1000 != 0;
    m->last_start_ps = ps > m->last_start_ps ? ps : m->last_start_ps;
    flow->start_ns = ps / 1000;
    return 0;
}

/* htsim's priorities order flows at a receiver of its NDP; PFC's are something else. */
static int read_priority(struct matrix *m, struct error *e)
{
    int64_t ignored = 0;
    m->priorities++;
    return read_after(m, "prio", 0, MOST_ID, &ignored, e);
}

static int unknown_word(const struct matrix *m, const struct word *word, struct error *e)
{
    return reader_error(m->in, word->line, e, "\"%.*s\" is unknown here",
                        (int)(word->length < 60 ? word->length : 60), word->at);
}

/* A word that a line had before would quietly count in place of the first. */
static int note_word(const struct matrix *m, const struct word *word, const char *const *known,
                     unsigned *seen, struct error *e)
{
    for (unsigned i = 0; known[i]; i++) {
        if (!word_is(word, known[i]))
            continue;
        if (*seen >> i & 1)
            return reader_error(m->in, word->line, e, "the line has \"%s\" twice", known[i]);
        *seen |= 1U << i;
    }
    return 0;
}

static int read_connection(struct matrix *m, const struct word *ends, struct error *e)
{
    struct import_flow flow = {0};
    struct connection c = {0};
    struct word word;
    static const char *const words[] = {
        "start", "size", "trigger", "id", "send_done_trigger", "recv_done_trigger", "prio", NULL};
    enum { HAS_START = 1, HAS_SIZE = 2 };
    unsigned seen = 0;
    int result = read_ends(m, ends, &flow, e);
    while (result == 0 && reader_word_in_line(m->in, &word)) {
        if (note_word(m, &word, words, &seen, e) != 0)
            result = -1;
        else if (word_is(&word, "start"))
            result = read_start(m, &flow, e);
        else if (word_is(&word, "size"))
            result = read_after(m, "size", 0, INT32_MAX, &flow.bytes, e);
        else if (word_is(&word, "id"))
            result = read_after(m, "id", 1, MOST_ID, &c.id, e);
        else if (word_is(&word, "trigger"))
            result = read_after(m, "trigger", 1, MOST_ID, &c.trigger, e);
        else if (word_is(&word, "send_done_trigger"))
            result = read_after(m, "send_done_trigger", 1, MOST_ID, &c.send_done, e);
        else if (word_is(&word, "recv_done_trigger"))
            result = read_after(m, "recv_done_trigger", 1, MOST_ID, &c.receive_done, e);
        else if (word_is(&word, "prio"))
            result = read_priority(m, e);
        else
            result = unknown_word(m, &word, e);
    }
    if (result != 0)
        return -1;
    if (((seen & HAS_START) != 0) == (c.trigger != NO_TRIGGER))
        return reader_error(m->in, flow.line, e, "expected either \"start\" or \"trigger\"");
    if (!(seen & HAS_SIZE))
        return reader_error(m->in, flow.line, e, "expected \"size BYTES\" (0: endless)");
    if ((int64_t)m->import->flow_count == m->connections_said)
        return reader_error(m->in, flow.line, e, "more connections than the %" PRId64 " of the header",
                            m->connections_said);
    m->connections[m->import->flow_count] = c;
    return import_add_flow(m->import, &flow, e);
}

/* ---- triggers */

static int read_trigger(struct matrix *m, struct error *e)
{
    static const char *const words[] = {"id", "count", NULL};
    struct trigger t = {.line = m->in->line};
    struct word word;
    unsigned seen = 0;
    int result = 0;
    while (result == 0 && reader_word_in_line(m->in, &word)) {
        if (note_word(m, &word, words, &seen, e) != 0)
            result = -1;
        else if (word_is(&word, "id"))
            result = read_after(m, "id", 1, MOST_ID, &t.id, e);
        else if (word_is(&word, "count"))
            result = read_after(m, "count", 1, MOST_ID, &t.count, e);
        else if (word_is(&word, "oneshot"))
            t.type = ONESHOT;
        else if (word_is(&word, "barrier"))
            t.type = BARRIER;
        else if (word_is(&word, "multishot"))
            t.type = MULTISHOT;
        else
            result = unknown_word(m, &word, e);
    }
    if (result != 0)
        return -1;
    if (!t.id || t.type == NONE)
        return reader_error(m->in, t.line, e, "expected \"id N\", and oneshot or barrier");
    if (t.type == MULTISHOT)
        return reader_error(m->in, t.line, e,
                            "trigger %" PRId64
                            " is multishot: which flow it starts depends on the run; a scenario's "
                            "flows wait for flows that it names",
                            t.id);
    if ((int64_t)m->trigger_count == m->triggers_said)
        return reader_error(m->in, t.line, e, "more triggers than the %" PRId64 " of the header",
                            m->triggers_said);
    m->triggers[m->trigger_count++] = t;
    return 0;
}

static int read_body(struct matrix *m, struct error *e)
{
    do {
        struct word word;
        int result = 0;
        if (!reader_word_in_line(m->in, &word) || word.at[0] == '#')
            continue;
        if (word_is(&word, "trigger"))
            result = read_trigger(m, e);
        else if (memmem(word.at, word.length, "->", 2))
            result = read_connection(m, &word, e);
        else if (word_is(&word, "failure"))
            result = reader_error(m->in, word.line, e, "failures of links are not imported");
        else
            result = unknown_word(m, &word, e);
        if (result != 0)
            return -1;
    } while (reader_next_line(m->in));
    if ((int64_t)m->import->flow_count != m->connections_said ||
        (int64_t)m->trigger_count != m->triggers_said)
        return reader_error(m->in, m->in->line, e,
                            "the file ends after %zu of %" PRId64 " connections and %zu of %" PRId64
                            " triggers",
                            m->import->flow_count, m->connections_said, m->trigger_count, m->triggers_said);
    return 0;
}

struct numbered {
    int64_t id;
    unsigned line;
};

static int by_number(const void *a, const void *b)
{
    const struct numbered *x = a, *y = b;
    if (x->id != y->id)
        return x->id < y->id ? -1 : 1;
    return (x->line > y->line) - (x->line < y->line);
}

/* No two connections have one id; 0: it has none. */
static int check_ids(const struct matrix *m, struct error *e)
{
    size_t count = m->import->flow_count;
    struct numbered *all = calloc(count + 1, sizeof *all);
    int result = 0;
    if (!all)
        return error_set(e, "out of memory");
    for (size_t i = 0; i < count; i++)
        all[i] = (struct numbered){m->connections[i].id, m->import->flows[i].line};
    qsort(all, count, sizeof *all, by_number);
    for (size_t i = 1; result == 0 && i < count; i++)
        if (all[i].id && all[i].id == all[i - 1].id)
            result = reader_error(m->in, all[i].line, e, "a second connection %" PRId64 ", as on line %u",
                                  all[i].id, all[i - 1].line);
    free(all);
    return result;
}

/* ---- who waits for whom */

/* That a flow's end fires a trigger. */
struct firing {
    int64_t trigger;
    uint32_t flow;
    bool at_receiver;
};

static int by_trigger(const void *a, const void *b)
{
    const struct firing *x = a, *y = b;
    if (x->trigger != y->trigger)
        return x->trigger < y->trigger ? -1 : 1;
    return (x->flow > y->flow) - (x->flow < y->flow);
}

static int by_id(const void *a, const void *b)
{
    const struct trigger *x = a, *y = b;
    return (x->id > y->id) - (x->id < y->id);
}

/* All firings, sorted by trigger. */
static struct firing *list_firings(const struct matrix *m, size_t *count)
{
    struct firing *all = calloc(2 * m->import->flow_count + 1, sizeof *all);
    *count = 0;
    for (uint32_t i = 0; all && i < m->import->flow_count; i++) {
        const struct connection *c = &m->connections[i];
        if (c->send_done)
            all[(*count)++] = (struct firing){c->send_done, i, false};
        if (c->receive_done)
            all[(*count)++] = (struct firing){c->receive_done, i, true};
    }
    if (all)
        qsort(all, *count, sizeof *all, by_trigger);
    return all;
}

static size_t first_firing(const struct firing *all, size_t count, int64_t trigger)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (all[middle].trigger < trigger)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* A flow waits at its sender, which is where the other flow ends that it waits for. */
static int add_wait(struct matrix *m, const struct import_flow *flow, const struct firing *firing,
                    struct error *e)
{
    const struct import_flow *before = &m->import->flows[firing->flow];
    const struct import_wait wait = {.flow = firing->flow};
    if (!before->bytes)
        return reader_error(m->in, flow->line, e, "the flow waits for the one on line %u, which is endless",
                            before->line);
    if (flow->from != before->to && (firing->at_receiver || flow->from != before->from))
        return reader_error(
            m->in, flow->line, e,
            "node %u does not see the end of the flow on line %u, which starts this one: expected a "
            "flow that it sends or receives",
            flow->from, before->line);
    m->early_starts += !firing->at_receiver && flow->from == before->to;
    if (m->import->wait_count == IMPORT_MOST_WAITS)
        return reader_error(m->in, flow->line, e, "flows wait more than %d times", IMPORT_MOST_WAITS);
    return import_add_wait(m->import, &wait, e);
}

static int bind(struct matrix *m, size_t i, const struct firing *all, size_t count, struct error *e)
{
    struct import_flow *flow = &m->import->flows[i];
    const struct trigger key = {.id = m->connections[i].trigger};
    if (key.id == NO_TRIGGER)
        return 0;
    const struct trigger *t = bsearch(&key, m->triggers, m->trigger_count, sizeof *t, by_id);
    if (!t)
        return reader_error(m->in, flow->line, e, "there is no trigger %" PRId64, key.id);
    size_t first = first_firing(all, count, key.id), end = first;
    while (end < count && all[end].trigger == key.id)
        end++;
    int64_t needed = t->type == BARRIER ? t->count : 1;
    if ((int64_t)(end - first) != needed)
        return reader_error(m->in, t->line, e,
                            "trigger %" PRId64
                            " is fired by %zu flows: expected as many as it needs, %" PRId64,
                            t->id, end - first, needed);
    flow->first_wait = m->import->wait_count;
    flow->waits = end - first;
    for (; first < end; first++)
        if (add_wait(m, flow, &all[first], e) != 0)
            return -1;
    return 0;
}

static int bind_triggers(struct matrix *m, struct error *e)
{
    size_t count = 0;
    struct firing *all = list_firings(m, &count);
    if (!all)
        return error_set(e, "out of memory");
    int result = 0;
    qsort(m->triggers, m->trigger_count, sizeof *m->triggers, by_id);
    for (size_t i = 1; result == 0 && i < m->trigger_count; i++)
        if (m->triggers[i].id == m->triggers[i - 1].id)
            result =
                reader_error(m->in, m->triggers[i].line, e, "a second trigger %" PRId64, m->triggers[i].id);
    for (size_t i = 0; result == 0 && i < m->import->flow_count; i++)
        result = bind(m, i, all, count, e);
    free(all);
    return result;
}

#define LAST_START_OF_US 1000000 /* below it starts are rather microseconds than parts of one */

static void add_notes(const struct matrix *m)
{
    if (m->cut_starts && m->last_start_ps < LAST_START_OF_US)
        import_note(
            m->import,
            "all flows start within %" PRId64
            " ps, of which the nanoseconds are left: are these the microseconds of htsim before 2024? "
            "Then each is to be multiplied by 1000000",
            m->last_start_ps);
    else if (m->cut_starts)
        import_note(m->import, "the start of %zu %s is cut to whole nanoseconds", m->cut_starts,
                    THINGS(m->cut_starts, "flow"));
    if (m->early_starts)
        import_note(m->import,
                    "%zu %s when the data of the one before has arrived; htsim starts them when its sender "
                    "has the last ACK",
                    m->early_starts, m->early_starts == 1 ? "flow begins" : "flows begin");
    if (m->priorities)
        import_note(m->import, "prio of %zu %s is left out: it is not a priority of PFC", m->priorities,
                    THINGS(m->priorities, "flow"));
}

int import_htsim(struct reader *file, struct import *import, struct error *e)
{
    struct matrix m = {.in = file, .import = import};
    if (import_begin(import, "htsim", e) != 0)
        return -1;
    import->flow_path = file->path;
    int result =
        read_header(&m, e) != 0 || read_body(&m, e) != 0 || check_ids(&m, e) != 0 || bind_triggers(&m, e) != 0
            ? -1
            : 0;
    if (result == 0)
        add_notes(&m);
    free(m.connections);
    free(m.triggers);
    if (result != 0)
        import_free(import);
    return result;
}
