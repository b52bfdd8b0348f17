#include "reports/trace/places.h"

#include "lib/document/json_text.h"
#include "lib/text.h"
#include "lib/xalloc.h"
#include "reports/results/network.h"
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

/* A host with several links has one place: pauses.jsonl does not say of which link they are. */
static void add_ports(struct places *p, const struct network *network)
{
    size_t *place = xcalloc(network->port_count + 1, sizeof *place);
    for (size_t i = 0; i < network->port_count; i++) {
        const char *name = network->ports[i].name;
        place[i] = known(p, name);
        if (place[i] == PLACE_NONE && strlen(name) <= NAME_MOST)
            place[i] = add_place(p, name);
    }
    for (size_t i = 0; i < network->port_count; i++)
        if (place[i] != PLACE_NONE && network_port(network, network->ports[i].name) == i)
            p->items[place[i]].peer = place[network->ports[i].peer];
    free(place);
}

int places_open(struct places *p, const struct run *run, struct trace_writer *w, struct error *e)
{
    struct network network;
    *p = (struct places){.writer = w, .run = run, .index = json_object(), .nodes = json_object()};
    if (!p->index || !p->nodes)
        return error_set(e, "out of memory for the network");
    network_open(&network, run);
    add_ports(p, &network);
    network_free(&network);
    return 0;
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
