#include "harness/burn_in/blame.h"

#include "lib/document/json_text.h"
#include "lib/xalloc.h"
#include <fnmatch.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- reading what was seen */

const char *seen_text(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

double seen_number(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

void seen_add(double *sum, double value)
{
    if (!isnan(value))
        *sum = (isnan(*sum) ? 0 : *sum) + value;
}

void seen_most(double *most, double value)
{
    if (!isnan(value) && !(*most >= value))
        *most = value;
}

double seen_sum(const json_t *of, const char *node, const char *glob)
{
    double sum = NAN;
    const char *name;
    json_t *value;
    json_object_foreach(json_object_get(of, node), name, value)
    {
        if (json_is_number(value) && fnmatch(glob, name, 0) == 0)
            seen_add(&sum, json_number_value(value));
    }
    return sum;
}

double seen_counted(const json_t *run, const char *node, const char *glob)
{
    return seen_sum(json_object_get(run, "counters"), node, glob);
}

double seen_counted_in_run(const json_t *run, const char *node, const char *glob)
{
    double total = seen_sum(json_object_get(run, "totals"), node, glob);
    return isnan(total) ? seen_counted(run, node, glob) : total;
}

double seen_counted_over(const struct work *w, bool (*is)(const json_t *run), const char *node,
                         const char *glob)
{
    const json_t *run;
    double sum = NAN;
    size_t i;
    json_array_foreach(json_object_get(w->seen, "runs"), i, run)
    {
        seen_add(&sum, !is || is(run) ? seen_counted_in_run(run, node, glob) : NAN);
    }
    return sum;
}

struct node *seen_node(const struct work *w, const char *name)
{
    const json_t *place = json_object_get(w->index, name);
    return place ? &w->nodes[json_integer_value(place)] : NULL;
}

bool seen_alike(const struct node *a, const struct node *b)
{
    bool unstated = isnan(a->stated_bps) && isnan(b->stated_bps);
    return strcmp(a->class, b->class) == 0 && (unstated || a->stated_bps == b->stated_bps);
}

bool seen_is_stage(const json_t *run, const char *name)
{
    return strcmp(seen_text(run, "stage"), name) == 0;
}

bool seen_is_long(const json_t *run)
{
    return !(seen_number(run, "duration_ns") < LONG_ENOUGH_NS);
}

bool seen_is_judged(const json_t *run)
{
    return seen_is_long(run) && !json_array_size(json_object_get(run, "deadlocks"));
}

bool seen_at_full_rate(const json_t *run)
{
    return seen_is_judged(run) && !json_is_true(json_object_get(run, "light")) &&
           (seen_is_stage(run, "pairs") || seen_is_stage(run, "gpus"));
}

enum memory seen_memory(const json_t *flow)
{
    const json_t *gpu = json_object_get(flow, "gpu");
    json_int_t number = json_integer_value(gpu);
    if (strcmp(seen_text(flow, "memory"), "host") == 0)
        return HOST;
    return json_is_integer(gpu) && number >= 0 && number < MEMORIES - GPU_0 ? GPU_0 + (enum memory)number
                                                                            : GPU;
}

const json_t *seen_link_of_port(const struct work *w, const char *name, size_t port, const char **peer)
{
    const json_t *links = json_object_get(w->seen, "links"), *link;
    size_t i, k = 0;
    json_array_foreach(links, i, link)
    {
        bool a = strcmp(seen_text(link, "a"), name) == 0, b = strcmp(seen_text(link, "b"), name) == 0;
        if ((a || b) && k++ == port) {
            *peer = seen_text(link, a ? "b" : "a");
            return link;
        }
    }
    return NULL;
}

size_t seen_port_of_link(const struct work *w, const char *name, const json_t *wanted)
{
    const char *peer;
    const json_t *link;
    for (size_t port = 0; (link = seen_link_of_port(w, name, port, &peer)); port++)
        if (link == wanted)
            return port;
    return 0;
}

bool seen_is_switch(const struct work *w, const char *name)
{
    const json_t *switches = json_object_get(w->seen, "switches"), *one;
    size_t i;
    json_array_foreach(switches, i, one)
    {
        if (strcmp(json_string_value(one), name) == 0)
            return true;
    }
    return false;
}

enum crowd seen_crowd(const struct work *w, const json_t *run)
{
    const json_t *switches = json_object_get(w->seen, "switches"), *one;
    enum crowd crowd = CROWD_NONE;
    const char *peer;
    char glob[64];
    size_t i;
    json_array_foreach(switches, i, one)
    {
        const char *name = json_string_value(one);
        for (size_t port = 0; seen_link_of_port(w, name, port, &peer); port++) {
            snprintf(glob, sizeof glob, "port%zu_prio?_queue_bytes", port);
            if (!(seen_counted(run, name, glob) > QUEUE_BYTES) || !seen_is_switch(w, peer))
                continue;
            snprintf(glob, sizeof glob, "port%zu_rx_prio?_pause", port);
            if (!(seen_counted(run, name, glob) > 0))
                return CROWD_FULL;
            crowd = CROWD_HELD;
        }
    }
    return crowd;
}

/* On one switch, or on each other. */
static bool are_near(const struct node *a, const struct node *b)
{
    return a->peer && b->peer && (strcmp(a->peer, b->peer) == 0 || strcmp(a->peer, b->name) == 0);
}

/* Does another flow leave the switch of `from` for another one, or come to that of `to`? */
static bool is_shared(const struct work *w, const json_t *run, const struct node *from, const struct node *to)
{
    const json_t *flow;
    size_t i;
    json_array_foreach(json_object_get(run, "flows"), i, flow)
    {
        const struct node *a = seen_node(w, seen_text(flow, "from")),
                          *b = seen_node(w, seen_text(flow, "to"));
        if (a && b && (a != from || b != to) && a->peer && b->peer && strcmp(a->peer, b->peer) != 0 &&
            (strcmp(a->peer, from->peer) == 0 || strcmp(b->peer, to->peer) == 0))
            return true;
    }
    return false;
}

/* Of a run: a port that stood for longer delays what leaves by it. */
#define STOOD 0.1

/* Did the port of the switch stand, which leads to another switch? */
static bool stood_between(const struct work *w, const json_t *run, const char *name, size_t port)
{
    const char *peer;
    char glob[64];
    snprintf(glob, sizeof glob, "port%zu_rx_prio?_pause_duration", port);
    return seen_link_of_port(w, name, port, &peer) && seen_is_switch(w, peer) &&
           1e3 * seen_counted_in_run(run, name, glob) > STOOD * seen_number(run, "duration_ns");
}

/* Did a port stand by which frames leave the switch for others or, `into`, come to it from them? */
static bool stood_at(const struct work *w, const json_t *run, const char *name, bool into)
{
    const char *peer, *beyond;
    for (size_t port = 0; seen_link_of_port(w, name, port, &peer); port++) {
        if (!into && stood_between(w, run, name, port))
            return true;
        for (size_t back = 0; into && seen_is_switch(w, peer) && seen_link_of_port(w, peer, back, &beyond);
             back++)
            if (strcmp(beyond, name) == 0 && stood_between(w, run, peer, back))
                return true;
    }
    return false;
}

/* Do frames from one NIC to the other, on different switches, pass ports that stood, where those of a third
 * one go, too: out of the first switch, or into the second? */
static bool stands_behind(const struct work *w, const json_t *run, const struct node *from,
                          const struct node *to)
{
    bool out = stood_at(w, run, from->peer, false), in = stood_at(w, run, to->peer, true), any = false;
    const json_t *flow;
    size_t i;
    json_array_foreach(out || in ? json_object_get(run, "flows") : NULL, i, flow)
    {
        const struct node *a = seen_node(w, seen_text(flow, "from")),
                          *b = seen_node(w, seen_text(flow, "to"));
        if (!a || !b || !a->peer || !b->peer || strcmp(a->peer, b->peer) == 0)
            continue;
        any |= (out && a != from && strcmp(a->peer, from->peer) == 0) ||
               (in && b != to && strcmp(b->peer, to->peer) == 0);
    }
    return any;
}

bool seen_tells(const struct work *w, size_t run, const struct node *from, const struct node *to)
{
    const json_t *of = json_array_get(json_object_get(w->seen, "runs"), run);
    if (seen_counted(of, to->name, "rx_prio?_pause") > 0)
        return false;
    if (from->peer && to->peer && !are_near(from, to) &&
        (stands_behind(w, of, from, to) || stands_behind(w, of, to, from)))
        return false;
    return w->crowds[run] == CROWD_NONE || are_near(from, to) ||
           (w->crowds[run] == CROWD_HELD && from->peer && to->peer && !is_shared(w, of, from, to));
}

bool seen_is_incast(const json_t *run, bool ecn)
{
    return seen_is_stage(run, "lossless") && seen_is_judged(run) &&
           json_is_true(json_object_get(run, "ecn")) == ecn;
}

bool seen_is_paused_incast(const json_t *run)
{
    return seen_is_incast(run, false);
}

bool seen_is_marked_incast(const json_t *run)
{
    return seen_is_incast(run, true);
}

bool seen_was_in(const struct work *w, bool (*is)(const json_t *run), const struct node *n, const char *end)
{
    const json_t *run, *flow;
    size_t i, k;
    json_array_foreach(json_object_get(w->seen, "runs"), i, run)
    {
        json_array_foreach(is(run) ? json_object_get(run, "flows") : NULL, k, flow)
        {
            if (strcmp(seen_text(flow, end), n->name) == 0)
                return true;
        }
    }
    return false;
}

void seen_name_towards(const struct work *w, const struct node *n, const char *what, char name[64])
{
    const char *peer;
    size_t port = 0;
    while (seen_link_of_port(w, n->peer, port, &peer) && strcmp(peer, n->name) != 0)
        port++;
    snprintf(name, 64, "port%zu_%s", port, what);
}

double seen_counted_towards(const struct work *w, const json_t *run, const struct node *n, const char *what)
{
    char name[64];
    if (!n->peer)
        return NAN;
    seen_name_towards(w, n, what, name);
    return seen_counted_in_run(run, n->peer, name);
}

/* ---- findings */

#define NAMES_MOST 4 /* that a sentence has */

void blame_add_name(struct text *names, size_t *count, const char *name)
{
    if (++*count <= NAMES_MOST)
        text_add(names, "%s%s", *count > 1 ? ", " : "", name);
    else if (*count == NAMES_MOST + 1)
        text_add(names, ", ...");
}

json_t *blame_of(const struct work *w, const char *culprit)
{
    size_t i;
    json_t *finding;
    json_array_foreach(w->findings, i, finding)
    {
        if (strcmp(seen_text(finding, "culprit"), culprit) == 0)
            return finding;
    }
    return NULL;
}

json_t *blame_of_link(const struct work *w, const char *a, const char *b)
{
    char *name = xasprintf("%s - %s", a, b), *other = xasprintf("%s - %s", b, a);
    json_t *one = blame_of(w, name), *finding = one ? one : blame_of(w, other);
    free(name);
    free(other);
    return finding;
}

json_t *blame(struct work *w, const char *kind, const char *culprit, bool sure, const char *stage,
              const char *format, ...)
{
    va_list list;
    va_start(list, format);
    json_t *finding = json_make("{s:s,s:s,s:b,s:s,s:o,s:[]}", "kind", kind, "culprit", culprit, "sure", sure,
                                "stage", stage, "says", json_text_list(format, list), "evidence");
    va_end(list);
    json_array_append_new(w->findings, finding);
    return finding;
}

void blame_add(json_t *finding, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    json_array_append_new(json_object_get(finding, "evidence"), json_text_list(format, list));
    va_end(list);
}

void blame_figure(json_t *finding, double figure, double expected, const char *unit, const char *source)
{
    json_object_set_new(finding, "figure", json_real(figure));
    json_object_set_new(finding, "expected", json_real(expected));
    json_object_set_new(finding, "unit", json_text(unit));
    json_object_set_new(finding, "source", json_text(source));
}

void blame_link(json_t *finding, const char *a, const char *b)
{
    json_object_set_new(finding, "link", json_make("[s,s]", a, b));
}

void blame_switch(json_t *finding, const char *name)
{
    json_object_set_new(finding, "switch", json_text(name));
}

void blame_node(json_t *finding, struct node *n)
{
    json_object_set_new(finding, "host", json_text(n->machine));
    if (*n->nic)
        json_object_set_new(finding, "nic", json_text(n->nic));
    n->accused = true;
}

void blame_unknown(struct work *w, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    json_array_append_new(w->unknown, json_text_list(format, list));
    va_end(list);
}

void blame_note(struct work *w, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    json_array_append_new(w->notes, json_text_list(format, list));
    va_end(list);
}

bool blame_names(const struct work *w, const struct node *n)
{
    return n->accused || (n->peer && blame_of(w, n->peer));
}

void blame_note_idle(struct work *w, const char *did, const char *names, size_t count)
{
    if (count)
        blame_note(w,
                   "%zu %s %s in incasts, as little waited there, so that whether %s was not looked at: %s",
                   count, count == 1 ? "switch" : "switches", did, count == 1 ? "it does" : "they do", names);
}
