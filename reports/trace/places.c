#include "reports/trace/places.h"

#include "lib/document/json_text.h"
#include "lib/text.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Names in pauses.jsonl that the topology has not. */
#define UNKNOWN_MOST 65536
#define NAME_MOST    300

/* Among the tracks of a node: its priorities, its ports, its counters (counters.c). */
enum { RANK_PRIORITY = 0, RANK_PORT = 100 };

/* ---- from the topology */

static size_t add_place(struct places *p, const char *name)
{
    if (p->count == p->capacity) {
        size_t larger = p->capacity ? 2 * p->capacity : 64;
        struct place *items = realloc(p->items, larger * sizeof *items);
        if (!items)
            return PLACE_NONE;
        p->items = items;
        p->capacity = larger;
    }
    char *copy = strdup(name);
    if (!copy || json_put(p->index, name, json_integer((json_int_t)p->count)) != 0) {
        free(copy);
        return PLACE_NONE;
    }
    p->items[p->count] = (struct place){.name = copy, .peer = PLACE_NONE};
    return p->count++;
}

static size_t known(const struct places *p, const char *name)
{
    const json_t *number = json_object_get(p->index, name);
    return number ? (size_t)json_integer_value(number) : PLACE_NONE;
}

/* The ends of links have no port: ports of a switch count in the order of the links. `ports` is how many of
 * each node came before. */
static size_t add_end(struct places *p, json_t *ports, const json_t *kinds, const char *node)
{
    char name[NAME_MOST + 24];
    json_int_t port = json_integer_value(json_object_get(ports, node));
    const char *kind = json_string_value(json_object_get(kinds, node));
    if (strlen(node) > NAME_MOST)
        return PLACE_NONE;
    if (kind && strcmp(kind, "host") == 0)
        snprintf(name, sizeof name, "%s", node);
    else
        snprintf(name, sizeof name, "%s:%lld", node, (long long)port);
    json_object_set_new(ports, node, json_integer(port + 1));
    size_t place = known(p, name);
    return place == PLACE_NONE ? add_place(p, name) : place;
}

/* A host with several links: pauses.jsonl does not say of which one. */
static void connect(struct places *p, size_t place, size_t peer)
{
    struct place *at = place == PLACE_NONE ? NULL : &p->items[place];
    if (at)
        at->peer = at->has_links ? PLACE_NONE : peer;
    if (at)
        at->has_links = true;
}

static void add_links(struct places *p, const json_t *kinds)
{
    json_t *ports = json_object(), *link;
    size_t i;
    json_array_foreach(run_get(p->run, "topology.links"), i, link)
    {
        const char *a = run_member(link, "a"), *b = run_member(link, "b");
        if (!*a || !*b)
            continue;
        size_t from = add_end(p, ports, kinds, a), to = add_end(p, ports, kinds, b);
        connect(p, from, to);
        connect(p, to, from);
    }
    json_decref(ports);
}

int places_open(struct places *p, const struct run *run, struct trace_writer *w, struct error *e)
{
    json_t *kinds = json_object(), *node;
    size_t i;
    *p = (struct places){.writer = w, .run = run, .index = json_object(), .nodes = json_object()};
    json_array_foreach(run_get(run, "topology.nodes"), i, node)
    {
        json_object_set(kinds, run_member(node, "name"), json_object_get(node, "kind"));
    }
    if (p->index && p->nodes && kinds)
        add_links(p, kinds);
    json_decref(kinds);
    return p->index && p->nodes && kinds ? 0 : error_set(e, "out of memory for the network");
}

void places_free(struct places *p)
{
    for (size_t i = 0; i < p->count; i++) {
        free(p->items[i].name);
        free(p->items[i].paused);
    }
    free(p->items);
    json_decref(p->index);
    json_decref(p->nodes);
    *p = (struct places){0};
}

size_t places_find(struct places *p, const char *name)
{
    size_t place = known(p, name);
    if (place != PLACE_NONE)
        return place;
    if (strlen(name) > NAME_MOST || p->left_out >= UNKNOWN_MOST)
        return PLACE_NONE;
    p->left_out++;
    return add_place(p, name);
}

/* ---- tracks */

/* "h0 (simulated)": like all that shows figures. */
uint64_t places_node_track(struct places *p, const char *node)
{
    const json_t *made = json_object_get(p->nodes, node);
    if (made)
        return (uint64_t)json_integer_value(made);
    struct text title = {0};
    const char *origin = run_origin(p->run);
    text_add(&title, "%s%s%s%s", node, origin ? " (" : "", origin ? origin : "", origin ? ")" : "");
    uint64_t track = trace_track(p->writer, 0, 0, text_string(&title));
    text_free(&title);
    json_put(p->nodes, node, json_integer((json_int_t)track));
    return track;
}

static uint64_t port_track(struct places *p, const struct place *at, const char *colon)
{
    char node[NAME_MOST + 24];
    struct text title = {0};
    snprintf(node, sizeof node, "%.*s", (int)(colon - at->name), at->name);
    text_add(&title, "port %s", colon + 1);
    if (at->peer != PLACE_NONE)
        text_add(&title, ", to %s", p->items[at->peer].name);
    long port = strtol(colon + 1, NULL, 10);
    uint64_t track =
        trace_track(p->writer, places_node_track(p, node),
                    RANK_PORT + (int)(port < 0 || port > 100000 ? 100000 : port), text_string(&title));
    text_free(&title);
    return track;
}

uint64_t places_track(struct places *p, size_t place)
{
    struct place *at = &p->items[place];
    const char *colon = strrchr(at->name, ':');
    if (!at->track)
        at->track = colon ? port_track(p, at, colon) : places_node_track(p, at->name);
    return at->track;
}

struct trace_lane *places_paused(struct places *p, size_t place, int priority)
{
    char title[60];
    uint64_t group = places_track(p, place);
    struct place *at = &p->items[place];
    if (!at->paused)
        at->paused = calloc(PLACE_PRIORITIES, sizeof *at->paused);
    if (!at->paused)
        return NULL;
    snprintf(title, sizeof title, "priority %d: paused", priority);
    if (!at->paused[priority].track)
        at->paused[priority].track = trace_track(p->writer, group, RANK_PRIORITY + 2 * priority, title);
    return &at->paused[priority];
}

uint64_t places_sends(struct places *p, size_t place, int priority)
{
    char title[60];
    uint64_t group = places_track(p, place);
    struct place *at = &p->items[place];
    snprintf(title, sizeof title, "priority %d: pauses its peer", priority);
    if (!at->sends[priority])
        at->sends[priority] = trace_track(p->writer, group, RANK_PRIORITY + 2 * priority + 1, title);
    return at->sends[priority];
}
