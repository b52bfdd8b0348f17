#include "reports/drawing/map.h"

#include "lib/clock.h"
#include "lib/text.h"
#include "lib/units.h"
#include "lib/xalloc.h"
#include "reports/drawing/link_marks.h"
#include "reports/drawing/svg.h"
#include "reports/results/run.h"
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the network, laid out: nodes in layers, and links with the pauses of their ends */

#define REPORTS_MAP_LAYOUT_H

/* In order of their names. */
struct map_node {
    const char *name;
    const char *machine; /* of a NIC of a host with several; NULL: the node is a host or a switch */
    bool host;
    uint32_t layer;  /* hosts 0, switches by their distance from the nearest one */
    double x;        /* 0..1 */
    double sum;      /* of x, over its neighbours one layer below */
    uint32_t number; /* number of these neighbours */
    uint32_t index;  /* in the result */
    uint32_t ports;  /* of its links, which have the numbers of ports */
    bool drawn;      /* one of its links is */
    bool named;      /* its layer has room for names */
};

/* NICs of one host, which are drawn as one box. */
struct map_box {
    const char *name;
    double left, right; /* 0..1 */
};

/* One end of a link: `from` was paused and could not send on it. */
struct map_end {
    double share;    /* of the measured time, in per cent */
    int64_t time_ns; /* of the pause that gives the order; INT64_MAX: never held */
    uint32_t rank;   /* rank of time_ns among all, from 1; equal times have equal ranks; 0: never held */
};

struct map_link {
    uint32_t node[2], port[2];
    struct map_end end[2];
    bool marked; /* something befell it */
};

struct map {
    struct map_node *nodes;
    struct map_link *links;
    struct map_box *boxes; /* from left to right */
    uint32_t node_count, link_count, layers, held, box_count;
    double nic_width;  /* 0..1 */
    bool by_longest;   /* order by the start of each end's longest pause, as for storms; else by the start of
                          its first pause */
    int64_t *times_ns; /* by rank, from the second element on */
    uint32_t ranks;
    size_t drawn; /* ends of links in the drawing */
    size_t nodes_left_out, links_left_out;
    bool priorities; /* an end was held on several priorities */
    struct link_marks marks;
};

#define MOST_NODES 20000
#define UNKNOWN    UINT32_MAX

/* ---- reading the result */

/* Sorts nodes by name, for find_node: results list the ends of a link by name. */
static int by_name(const void *left, const void *right)
{
    const struct map_node *a = left, *b = right;
    return strcmp(a->name, b->name);
}

static uint32_t find_node(const struct map *map, const char *name)
{
    const struct map_node key = {.name = name};
    const struct map_node *found =
        name ? bsearch(&key, map->nodes, map->node_count, sizeof key, by_name) : NULL;
    return found ? (uint32_t)(found - map->nodes) : UNKNOWN;
}

static int take_nodes(struct map *map, const json_t *nodes)
{
    size_t count = json_array_size(nodes), i;
    json_t *object;
    map->nodes = calloc(count + 1, sizeof *map->nodes);
    if (!map->nodes)
        return -1;
    json_array_foreach((json_t *)(uintptr_t)nodes, i, object)
    {
        const char *name = json_string_value(json_object_get(object, "name"));
        const char *kind = json_string_value(json_object_get(object, "kind"));
        if (!name || !kind || map->node_count == MOST_NODES) {
            map->nodes_left_out++;
            continue;
        }
        map->nodes[map->node_count++] =
            (struct map_node){.name = name,
                              .machine = json_string_value(json_object_get(object, "machine")),
                              .host = strcmp(kind, "host") == 0,
                              .layer = UNKNOWN,
                              .index = (uint32_t)i};
    }
    qsort(map->nodes, map->node_count, sizeof *map->nodes, by_name);
    return 0;
}

/* An end of a link, with the pauses of the priority that was paused longest. */
static struct map_end take_end(struct map *map, const json_t *held, double measured_ns)
{
    struct map_end end = {-1, INT64_MAX, 0};
    const char *time_key = map->by_longest ? "longest_ns" : "first_ns";
    const char *priority;
    json_t *object;
    json_object_foreach((json_t *)(uintptr_t)held, priority, object)
    {
        double share = json_number_value(json_object_get(object, "held_ns")) / measured_ns * 100;
        const json_t *time = json_object_get(object, time_key);
        if (share <= end.share || !json_is_integer(time))
            continue;
        end.share = share > 100 ? 100 : share;
        end.time_ns = json_integer_value(time);
    }
    map->priorities |= json_object_size(held) > 1;
    return end;
}

static int take_links(struct map *map, const json_t *links, double measured_ns)
{
    size_t i;
    json_t *object;
    map->links = calloc(json_array_size(links) + 1, sizeof *map->links);
    if (!map->links)
        return -1;
    json_array_foreach((json_t *)(uintptr_t)links, i, object)
    {
        static const char *const names[] = {"a", "b"}, *const held[] = {"a_held", "b_held"};
        struct map_link *link = &map->links[map->link_count];
        for (unsigned k = 0; k < 2; k++) {
            link->node[k] = find_node(map, json_string_value(json_object_get(object, names[k])));
            link->port[k] = link->node[k] == UNKNOWN ? 0 : map->nodes[link->node[k]].ports++;
            link->end[k] = take_end(map, json_object_get(object, held[k]), measured_ns);
        }
        if (link->node[0] == UNKNOWN || link->node[1] == UNKNOWN) {
            map->links_left_out++;
            continue;
        }
        map->link_count++;
        map->held += (link->end[0].time_ns != INT64_MAX) + (link->end[1].time_ns != INT64_MAX);
    }
    return 0;
}

static int by_time(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

static int rank_ends(struct map *map)
{
    int64_t *times = map->times_ns = calloc(map->held + 2, sizeof *times);
    size_t count = 0;
    if (!times)
        return -1;
    for (uint32_t i = 0; i < map->link_count * 2; i++)
        if (map->links[i / 2].end[i % 2].time_ns != INT64_MAX)
            times[++count] = map->links[i / 2].end[i % 2].time_ns;
    qsort(times + 1, count, sizeof *times, by_time);
    for (size_t i = 1; i <= count; i++)
        if (!map->ranks || times[i] != times[map->ranks])
            times[++map->ranks] = times[i];
    for (uint32_t i = 0; i < map->link_count * 2; i++) {
        struct map_end *end = &map->links[i / 2].end[i % 2];
        const int64_t *found = bsearch(&end->time_ns, times + 1, map->ranks, sizeof *times, by_time);
        end->rank = found ? (uint32_t)(found - times) : 0;
    }
    return 0;
}

/* ---- layout */

/* Hosts are layer 0. Each following layer has the nodes that are linked to the layer before and have no layer
 * yet. */
static void find_layers(struct map *map)
{
    bool more = true;
    for (uint32_t i = 0; i < map->node_count; i++)
        map->nodes[i].layer = map->nodes[i].host ? 0 : UNKNOWN;
    for (uint32_t layer = 0; more; layer++) {
        more = false;
        for (uint32_t i = 0; i < map->link_count * 2; i++) {
            const struct map_link *link = &map->links[i / 2];
            struct map_node *to = &map->nodes[link->node[!(i % 2)]];
            if (map->nodes[link->node[i % 2]].layer != layer || to->layer != UNKNOWN)
                continue;
            to->layer = layer + 1;
            more = true;
        }
        map->layers = layer + 1;
    }
    for (uint32_t i = 0; i < map->node_count; i++)
        if (map->nodes[i].layer == UNKNOWN)
            map->nodes[i].layer = map->layers - 1;
}

/* The mean place of the neighbours one layer below. */
static void place_over(struct map *map, uint32_t layer)
{
    for (uint32_t i = 0; i < map->link_count * 2; i++) {
        const struct map_link *link = &map->links[i / 2];
        const struct map_node *below = &map->nodes[link->node[i % 2]];
        struct map_node *node = &map->nodes[link->node[!(i % 2)]];
        if (node->layer != layer || below->layer + 1 != layer)
            continue;
        node->sum += below->x;
        node->number++;
    }
}

static int compare_places(const struct map_node *a, const struct map_node *b)
{
    double x = a->number ? a->sum / a->number : 0.5, y = b->number ? b->sum / b->number : 0.5;
    if (x != y)
        return x < y ? -1 : 1;
    return (a->index > b->index) - (a->index < b->index);
}

static bool same_machine(const struct map_node *a, const struct map_node *b)
{
    return a->machine && b->machine && strcmp(a->machine, b->machine) == 0;
}

#define BETWEEN_BOXES 0.6 /* widths of a NIC */

/* Give each node the same width, with room between hosts of several NICs, around each of which there is a
 * box. */
static int spread_nodes(struct map *map, struct map_node *const *nodes, uint32_t count)
{
    double place = 0;
    for (uint32_t i = 0; i < count; i++) {
        bool apart =
            i && (nodes[i]->machine || nodes[i - 1]->machine) && !same_machine(nodes[i - 1], nodes[i]);
        place += apart ? 1 + BETWEEN_BOXES : 1;
        nodes[i]->x = place - 0.5;
    }
    for (uint32_t i = 0; i < count; i++)
        nodes[i]->x /= place;
    if (!count || !nodes[0]->host)
        return 0;
    map->nic_width = 1 / place;
    map->boxes = calloc(count + 1, sizeof *map->boxes);
    for (uint32_t i = 0; map->boxes && i < count; i++) {
        if (!nodes[i]->machine)
            continue;
        if (!i || !same_machine(nodes[i - 1], nodes[i]))
            map->boxes[map->box_count++] = (struct map_box){nodes[i]->machine, nodes[i]->x, 0};
        map->boxes[map->box_count - 1].right = nodes[i]->x;
    }
    return map->boxes ? 0 : -1;
}

/* Sort a layer from left to right. Not by qsort, which passes no context; layers are small. */
static int spread_layer(struct map *map, uint32_t layer)
{
    struct map_node **nodes = calloc(map->node_count + 1, sizeof(struct map_node *));
    uint32_t count = 0;
    if (!nodes)
        return -1;
    for (uint32_t i = 0; i < map->node_count; i++) {
        if (map->nodes[i].layer != layer)
            continue;
        uint32_t at = count++;
        for (; at && compare_places(nodes[at - 1], &map->nodes[i]) > 0; at--)
            nodes[at] = nodes[at - 1];
        nodes[at] = &map->nodes[i];
    }
    int result = spread_nodes(map, nodes, count);
    free(nodes);
    return result;
}

static int by_index(const void *left, const void *right)
{
    const struct map_node *const *a = left, *const *b = right;
    return ((*a)->index > (*b)->index) - ((*a)->index < (*b)->index);
}

/* The NICs of a host, which follow each other in the result, have the place of the host: the mean of theirs.
 */
static int gather_machines(struct map *map)
{
    struct map_node **nodes = calloc(map->node_count + 1, sizeof(struct map_node *));
    if (!nodes)
        return -1;
    for (uint32_t i = 0; i < map->node_count; i++)
        nodes[i] = &map->nodes[i];
    qsort(nodes, map->node_count, sizeof(struct map_node *), by_index);
    for (uint32_t i = 0, end; i < map->node_count; i = end) {
        double sum = 0;
        for (end = i; end == i || (end < map->node_count && same_machine(nodes[i], nodes[end])); end++)
            sum += nodes[end]->sum;
        for (uint32_t k = i; nodes[i]->machine && k < end; k++) {
            nodes[k]->sum = sum / (end - i);
            nodes[k]->number = 1;
        }
    }
    free(nodes);
    return 0;
}

/* Hosts in the order of their switches, which are in the order of the result; then layer by layer. */
static int lay_out(struct map *map)
{
    find_layers(map);
    for (uint32_t i = 0; i < map->link_count * 2; i++) {
        struct map_node *host = &map->nodes[map->links[i / 2].node[i % 2]];
        const struct map_node *other = &map->nodes[map->links[i / 2].node[!(i % 2)]];
        if (!host->host || host->number)
            continue;
        host->sum = other->index;
        host->number = 1;
    }
    if (gather_machines(map) != 0)
        return -1;
    for (uint32_t layer = 0; layer < map->layers; layer++) {
        if (layer)
            place_over(map, layer);
        if (spread_layer(map, layer) != 0)
            return -1;
    }
    return 0;
}

/* 0 at the bottom, 1 at the top. */
static double map_height(const struct map *map, uint32_t layer)
{
    return map->layers > 1 ? (double)layer / (map->layers - 1) : 0.5;
}

/* Links between nodes of one layer that are not neighbours pass above the nodes between them. */
/* The point where the halves of a link meet. */
static void map_middle(const struct map *map, const struct map_link *link, double *x, double *y)
{
    const struct map_node *a = &map->nodes[link->node[0]], *b = &map->nodes[link->node[1]];
    *x = (a->x + b->x) / 2;
    *y = (map_height(map, a->layer) + map_height(map, b->layer)) / 2;
    if (a->layer != b->layer)
        return;
    for (uint32_t i = 0; i < map->node_count; i++)
        if (map->nodes[i].layer == a->layer && (map->nodes[i].x - a->x) * (map->nodes[i].x - b->x) < -1e-9) {
            *y += 0.19;
            return;
        }
}

/* ---- what befell links */

static bool is_marked(const struct map *map, const struct map_link *link, const struct link_mark *mark)
{
    for (unsigned turned = 0; turned < 2; turned++) {
        bool same = true;
        for (unsigned k = 0; k < 2; k++) {
            unsigned end = turned ? !k : k;
            same = same && strcmp(map->nodes[link->node[k]].name, mark->node[end]) == 0 &&
                   (mark->port[end] < 0 || mark->port[end] == link->port[k]);
        }
        if (same)
            return true;
    }
    return false;
}

static void mark_links(struct map *map, const struct run *run)
{
    map->marks = link_marks_of(run);
    for (size_t m = 0; m < map->marks.count; m++)
        for (uint32_t i = 0; i < map->link_count; i++)
            if (is_marked(map, &map->links[i], &map->marks.items[m]))
                map->links[i].marked = true;
}

/* ---- the whole */

/* From result.json's "topology"; if it is missing there are no nodes. Names belong to the result. -1: out of
 * memory. */
static int map_load(struct map *map, const struct run *run)
{
    double measured_ns = (double)(run->end_ns - run->start_ns);
    map->by_longest = json_array_size(run_get(run, "scenario.storms")) > 0;
    if (take_nodes(map, run_get(run, "topology.nodes")) != 0 ||
        take_links(map, run_get(run, "topology.links"), measured_ns > 0 ? measured_ns : 1) != 0)
        return -1;
    mark_links(map, run);
    return rank_ends(map) != 0 || lay_out(map) != 0 ? -1 : 0;
}

static void map_free(struct map *map)
{
    free(map->nodes);
    free(map->links);
    free(map->boxes);
    link_marks_free(&map->marks);
    free(map->times_ns);
}

#define ENDS_FIT     6000 /* the most ends of links of which all are drawn */
#define ENDS_HELD    2000 /* the most that are drawn of a larger network */
#define NAMES_FIT    26   /* the most names in a layer that fit next to each other */
#define UPRIGHT_FIT  12   /* the most hosts' names that need no rotation */
#define LAYER        118  /* pixels */
#define MARGIN       150
#define LEFT         20
#define TITLE_FITS   70 /* characters, beside the origin */
#define COLOUR_STEPS 40
#define MARKS_TOLD   6 /* in the legend */

/* ---- data */

/* The unit in which times since the first pause are easy to read. */
struct time_unit {
    const char *name;
    double ns;
};

static struct time_unit unit_of(const struct map *map)
{
    int64_t span_ns = map->times_ns[map->ranks] - map->times_ns[1];
    struct time_unit unit;
    unit.name = units_of_time((double)span_ns / 2, &unit.ns);
    return unit;
}

struct half {
    const struct map_link *link;
    unsigned end;
};

/* Ends that were never held first, the longest held last: they are drawn over the others. */
static int by_share(const void *left, const void *right)
{
    const struct half *a = left, *b = right;
    const struct map_end *x = &a->link->end[a->end], *y = &b->link->end[b->end];
    bool held_x = x->rank > 0, held_y = y->rank > 0;
    if (held_x != held_y)
        return held_x - held_y;
    if (x->share != y->share)
        return x->share < y->share ? -1 : 1;
    return a->link != b->link ? (a->link > b->link) - (a->link < b->link) : (int)a->end - (int)b->end;
}

static void add_half(const struct map *map, const struct half *half, const struct time_unit *unit,
                     struct text *out)
{
    const struct map_end *end = &half->link->end[half->end];
    const struct map_node *from = &map->nodes[half->link->node[half->end]];
    double x, y, height = map_height(map, from->layer);
    map_middle(map, half->link, &x, &y);
    text_add(out, "%.5f\t%.5f\t%.5f\t%.5f", from->x, height, x - from->x, y - height);
    if (end->rank) {
        text_add(out, "\t%.4g\t%.6g\t%u\t", end->share, (double)(end->time_ns - map->times_ns[1]) / unit->ns,
                 end->rank);
        svg_data_column(out, from->name);
        text_add(out, "\t");
        svg_data_column(out, map->nodes[half->link->node[!half->end]].name);
    }
    text_add(out, "\n");
}

/* In a network with more links than that, only ends that were held are drawn: those that were held longest.
 */
static size_t first_drawn(const struct map *map, const struct half *halves)
{
    size_t count = (size_t)map->link_count * 2, i = 0;
    if (count <= ENDS_FIT)
        return 0;
    while (i < count && !halves[i].link->end[halves[i].end].rank)
        i++;
    return count - i > ENDS_HELD ? count - ENDS_HELD : i;
}

/* The halves of links that are drawn, in order; the caller frees *halves. */
static size_t choose_halves(struct map *map, struct half **halves)
{
    size_t count = (size_t)map->link_count * 2;
    *halves = xcalloc(count + 1, sizeof **halves);
    for (size_t i = 0; i < count; i++)
        (*halves)[i] = (struct half){&map->links[i / 2], i % 2};
    qsort(*halves, count, sizeof **halves, by_share);
    size_t first = first_drawn(map, *halves);
    map->drawn = count - first;
    memmove(*halves, *halves + first, map->drawn * sizeof **halves);
    for (size_t k = 0; k < map->drawn; k++)
        map->nodes[(*halves)[k].link->node[0]].drawn = map->nodes[(*halves)[k].link->node[1]].drawn = true;
    for (uint32_t i = 0; i < map->link_count; i++)
        if (map->links[i].marked)
            map->nodes[map->links[i].node[0]].drawn = map->nodes[map->links[i].node[1]].drawn = true;
    return map->drawn;
}

/* Two blocks of halves of links: those that were never held, and those that were. */
static void add_halves(const struct map *map, const struct half *halves, size_t count,
                       const struct time_unit *unit, struct text *out)
{
    size_t i = 0;
    text_add(out, "# never held\n# x\ty\tdx\tdy\nnan\tnan\tnan\tnan\n");
    for (; i < count && !halves[i].link->end[halves[i].end].rank; i++)
        add_half(map, &halves[i], unit, out);
    text_add(out, "\n\n# held\n# x\ty\tdx\tdy\theld, %%\ttime, %s\torder\tfrom\tto\n", unit->name);
    for (; i < count; i++)
        add_half(map, &halves[i], unit, out);
    text_add(out, "\n\n");
}

static uint32_t count_layer(const struct map *map, uint32_t layer)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < map->node_count; i++)
        count += map->nodes[i].layer == layer;
    return count;
}

static void add_nodes(const struct map *map, bool hosts, struct text *out)
{
    text_add(out, "# %s\n# x\ty\n", hosts ? "hosts" : "switches");
    for (uint32_t i = 0; i < map->node_count; i++)
        if (map->nodes[i].host == hosts && (map->nodes[i].drawn || !hosts))
            text_add(out, "%.5f\t%.5f\n", map->nodes[i].x, map_height(map, map->nodes[i].layer));
    text_add(out, "\n\n");
}

/* Only in layers where names are readable; of NICs that of their host is. */
static void choose_names(struct map *map)
{
    uint32_t hosts = 0, *in_layer = xcalloc(map->layers + 1, sizeof *in_layer);
    for (uint32_t i = 0; i < map->node_count; i++) {
        in_layer[map->nodes[i].layer]++;
        hosts += map->nodes[i].host && !map->nodes[i].machine;
    }
    in_layer[0] = hosts + map->box_count;
    for (uint32_t i = 0; i < map->node_count; i++) {
        struct map_node *node = &map->nodes[i];
        node->named =
            (node->drawn || !node->host) && in_layer[node->layer] <= (node->host ? 2 * NAMES_FIT : NAMES_FIT);
    }
    free(in_layer);
}

static bool is_named(const struct map_node *node)
{
    return node->named && !node->machine;
}

/* Is there room for the names of hosts with several NICs? */
static bool boxes_named(const struct map *map)
{
    for (uint32_t i = 0; i < map->node_count; i++)
        if (map->nodes[i].machine && map->nodes[i].named)
            return true;
    return false;
}

static void add_names(const struct map *map, bool hosts, struct text *out)
{
    text_add(out, "# names of %s\n# x\ty\tname\nnan\tnan\t\n", hosts ? "hosts" : "switches");
    for (uint32_t i = 0; i < map->node_count; i++) {
        const struct map_node *node = &map->nodes[i];
        if (node->host != hosts || !is_named(node))
            continue;
        text_add(out, "%.5f\t%.5f\t", node->x, map_height(map, node->layer));
        svg_data_column(out, node->name);
        text_add(out, "\n");
    }
    for (uint32_t i = 0; hosts && boxes_named(map) && i < map->box_count; i++) {
        text_add(out, "%.5f\t%.5f\t", (map->boxes[i].left + map->boxes[i].right) / 2, map_height(map, 0));
        svg_data_column(out, map->boxes[i].name);
        text_add(out, "\n");
    }
    text_add(out, "\n\n");
}

/* A row for each thing that befell a link, where its line is drawn. */
static void add_marks(const struct map *map, struct text *out)
{
    text_add(out, "# what befell links\n# x\ty\tdx\tdy\tlink, what, ms of the measure phase\n");
    for (size_t m = 0; m < map->marks.count; m++) {
        const struct link_mark *mark = &map->marks.items[m];
        uint32_t i = 0;
        while (i < map->link_count && !is_marked(map, &map->links[i], mark))
            i++;
        if (i == map->link_count)
            continue;
        const struct map_node *a = &map->nodes[map->links[i].node[0]],
                              *b = &map->nodes[map->links[i].node[1]];
        double y = map_height(map, a->layer);
        text_add(out, "%.5f\t%.5f\t%.5f\t%.5f\t", a->x, y, b->x - a->x, map_height(map, b->layer) - y);
        char *words = xasprintf("%s - %s %s", mark->node[0], mark->node[1], mark->words);
        svg_data_column(out, words);
        text_add(out, "\n");
        free(words);
    }
    text_add(out, "\n\n");
}

/* What its caption says beside what it means. */
static void add_note(const struct map *map, struct text *note)
{
    size_t unnamed = 0;
    for (uint32_t i = 0; i < map->node_count; i++)
        unnamed += !map->nodes[i].named;
    if (map->marks.count)
        text_add(note, "Dashed and struck through: links that were down or slower, or lost frames.");
    if (map->priorities)
        text_add(note, "%sOf an end that was paused on several priorities, the longest counts.",
                 note->length ? " " : "");
    if (unnamed)
        text_add(note, "%s%zu of %u nodes have no name here, or are not drawn.", note->length ? " " : "",
                 unnamed, map->node_count);
    if (map->nodes_left_out || map->links_left_out)
        text_add(
            note,
            "%s%zu nodes and %zu links are left out: there is no room, or the result does not name them.",
            note->length ? " " : "", map->nodes_left_out, map->links_left_out);
}

/* ---- drawing */

/* A colour between those of a scale, whose places go from 0 to 1. */
struct stop {
    double at;
    unsigned rgb;
};
#define STOPS 4

struct panel {
    const char *words;
    struct stop colours[STOPS];
    bool order; /* the colour of a half follows its rank, not its share */
    double top, bottom, right;
};

static void colour_at(const struct stop *stops, double at, char text[8])
{
    size_t i = 0;
    unsigned rgb = 0;
    while (i + 2 < STOPS && at > stops[i + 1].at)
        i++;
    double part = fmin(fmax((at - stops[i].at) / (stops[i + 1].at - stops[i].at), 0), 1);
    for (int shift = 16; shift >= 0; shift -= 8) {
        double from = stops[i].rgb >> shift & 255, to = stops[i + 1].rgb >> shift & 255;
        rgb |= (unsigned)(from + (to - from) * part + 0.5) << shift;
    }
    snprintf(text, 8, "#%06x", rgb);
}

/* From the layout's coordinates, with room for names below the hosts and above the switches. */
static double x_of(const struct panel *panel, double x)
{
    return LEFT + (panel->right - LEFT) * (x + 0.01) / 1.02;
}

static double y_of(const struct panel *panel, double y)
{
    return panel->bottom - (panel->bottom - panel->top) * (y + 0.28) / 1.52;
}

static double part_of(const struct map *map, const struct panel *panel, const struct map_end *end)
{
    return panel->order ? (end->rank - 1.0) / (map->ranks > 1 ? map->ranks - 1 : 1) : end->share / 100;
}

static void draw_half(const struct map *map, const struct panel *panel, const struct half *half,
                      struct text *out)
{
    const struct map_end *end = &half->link->end[half->end];
    const struct map_node *from = &map->nodes[half->link->node[half->end]];
    double x, y, x1 = x_of(panel, from->x), y1 = y_of(panel, map_height(map, from->layer));
    char colour[8];
    map_middle(map, half->link, &x, &y);
    if (!end->rank) {
        svg_line(out, x1, y1, x_of(panel, x), y_of(panel, y), "#d5d9de", 1, NULL);
        return;
    }
    colour_at(panel->colours, part_of(map, panel, end), colour);
    svg_arrow(out, x1, y1, x_of(panel, x), y_of(panel, y), colour, map->link_count > 200 ? 1.2 : 2.6);
}

/* Of the name below a host's node or box. */
static struct svg_font host_font(bool turned)
{
    return (struct svg_font){turned ? 11 : 12, "#333333", turned ? SVG_RIGHT : SVG_MIDDLE, turned, false};
}

/* Behind all else. */
static void draw_boxes(const struct map *map, const struct panel *panel, struct text *out)
{
    double y = y_of(panel, map_height(map, 0)), margin = map->nic_width * 0.4;
    bool named = boxes_named(map), turned = map->box_count > UPRIGHT_FIT;
    for (uint32_t i = 0; i < map->box_count; i++) {
        const struct map_box *box = &map->boxes[i];
        double left = x_of(panel, box->left - margin), right = x_of(panel, box->right + margin);
        svg_rectangle(out, left, y - 5, right - left, 10, "#eef1f4", "#8a94a0");
        if (named)
            svg_words(out, (left + right) / 2, y + (turned ? 11 : 15), host_font(turned), box->name);
    }
}

static void draw_nodes(const struct map *map, const struct panel *panel, struct text *out)
{
    bool turned = count_layer(map, 0) > UPRIGHT_FIT, many = map->node_count > 100;
    for (uint32_t i = 0; i < map->node_count; i++) {
        const struct map_node *node = &map->nodes[i];
        double x = x_of(panel, node->x), y = y_of(panel, map_height(map, node->layer));
        if (node->host && node->drawn)
            svg_marker(out, 0, x, y, many ? 1.2 : 2.6, "#555555");
        else if (!node->host)
            svg_marker(out, 1, x, y, many ? 2.4 : 5, "#1f2a36");
        if (!is_named(node))
            continue;
        if (!node->host)
            svg_words(out, x, y - 15, (struct svg_font){12, "#111111", SVG_MIDDLE, false, true}, node->name);
        else
            svg_words(out, x, y + (turned ? 9 : 14), host_font(turned), node->name);
    }
}

/* A bar of colours beside the panel, with numbers. Colours of the order follow the rank, so that all can be
 * distinguished; the bar shows some of the times. */
static void draw_colours(const struct map *map, const struct panel *panel, const struct time_unit *unit,
                         struct text *out)
{
    double x = panel->right + 14, height = panel->bottom - panel->top, step = height / COLOUR_STEPS;
    char *what = panel->order ? xasprintf("began, %s after the earliest", unit->name)
                              : xstrdup("% of the measure phase");
    for (int i = 0; i < COLOUR_STEPS; i++) {
        char colour[8];
        colour_at(panel->colours, (i + 0.5) / COLOUR_STEPS, colour);
        svg_rectangle(out, x, panel->bottom - (i + 1) * step, 14, step + 0.3, colour, NULL);
    }
    uint32_t numbers = !panel->order || map->ranks > 6 ? 6 : map->ranks;
    for (uint32_t i = 0; i < numbers; i++) {
        uint32_t rank = numbers > 1 ? 1 + i * (map->ranks - 1) / (numbers - 1) : 1;
        double part = panel->order ? (rank - 1.0) / (map->ranks > 1 ? map->ranks - 1 : 1) : i / 5.0;
        char number[32];
        if (panel->order)
            snprintf(number, sizeof number, "%.3g",
                     (double)(map->times_ns[rank] - map->times_ns[1]) / unit->ns);
        else
            snprintf(number, sizeof number, "%.0f", 100 * part);
        svg_words(out, x + 20, panel->bottom - part * height,
                  (struct svg_font){12, "#333333", SVG_LEFT, false, false}, number);
    }
    svg_words(out, x + 74, panel->top + height / 2, (struct svg_font){12, "#333333", SVG_MIDDLE, true, false},
              what);
    free(what);
}

/* Over the pauses of its ends, which show between the dashes. */
static void draw_marked(const struct map *map, const struct panel *panel, struct text *out)
{
    const char *const colour = "#111111";
    for (uint32_t i = 0; i < map->link_count; i++) {
        const struct map_link *link = &map->links[i];
        double x, y, cross = map->link_count > 200 ? 3 : 5;
        if (!link->marked)
            continue;
        map_middle(map, link, &x, &y);
        x = x_of(panel, x);
        y = y_of(panel, y);
        for (unsigned k = 0; k < 2; k++) {
            const struct map_node *node = &map->nodes[link->node[k]];
            svg_line(out, x_of(panel, node->x), y_of(panel, map_height(map, node->layer)), x, y, colour, 1.4,
                     "4,4");
        }
        svg_line(out, x - cross, y - cross, x + cross, y + cross, colour, 2, NULL);
        svg_line(out, x - cross, y + cross, x + cross, y - cross, colour, 2, NULL);
    }
}

/* Below the panels: what befell which link. Returns the height; `out` NULL: without drawing. */
static double draw_legend(const struct map *map, double y, struct text *out)
{
    const struct svg_font font = {12, "#333333", SVG_LEFT, false, false};
    size_t shown = map->marks.count < MARKS_TOLD ? map->marks.count : MARKS_TOLD;
    for (size_t m = 0; out && m < shown; m++) {
        const struct link_mark *mark = &map->marks.items[m];
        char *more = map->marks.count > shown && m + 1 == shown
                         ? xasprintf(", and %zu more", map->marks.count - shown)
                         : xstrdup("");
        char *words = xasprintf("%.60s - %.60s %s%s%s", mark->node[0], mark->node[1], mark->words,
                                m ? "" : " (0: the beginning of the measure phase)", more);
        svg_line(out, LEFT, y + 16 * (double)m, LEFT + 30, y + 16 * (double)m, "#111111", 1.4, "4,4");
        svg_words(out, LEFT + 38, y + 16 * (double)m, font, words);
        free(words);
        free(more);
    }
    return 16 * (double)shown;
}

static void draw_panel(const struct map *map, const struct panel *panel, const struct half *halves,
                       size_t count, const struct time_unit *unit, struct text *out)
{
    svg_words(out, LEFT, panel->top - 12, (struct svg_font){13, "#333333", SVG_LEFT, false, false},
              panel->words);
    draw_boxes(map, panel, out);
    for (size_t i = 0; i < count; i++)
        draw_half(map, panel, &halves[i], out);
    draw_marked(map, panel, out);
    draw_nodes(map, panel, out);
    draw_colours(map, panel, unit, out);
}

static void draw_map(const struct map *map, const struct run *run, const char *title,
                     const struct half *halves, size_t count, const struct time_unit *unit, struct text *out)
{
    int panel_height = (int)(map->layers > 1 ? map->layers - 1 : 1) * LAYER + MARGIN - 30;
    double right = SVG_WIDTH * 0.85, first = 62, second = first + panel_height + 40;
    char *order = xasprintf(
        "order: start of the %s pause of each end (the earliest at %.4g ms of the measure phase)",
        map->by_longest ? "longest" : "first", (double)(map->times_ns[1] - run->start_ns) / NS_PER_MS);
    char *share =
        map->drawn < (size_t)map->link_count * 2
            ? xasprintf(
                  "duration: how long the node at each end was paused; %zu of %zu ends are drawn, those "
                  "%s",
                  map->drawn, (size_t)map->link_count * 2,
                  map->drawn < map->held ? "paused longest" : "that were paused")
            : xstrdup("duration: the half of a link next to a node shows how long that node was paused");
    const struct panel panels[] = {{share,
                                    {{0, 0xfde0b0}, {0.25, 0xf9a03f}, {0.6, 0xd7301f}, {1, 0x7a0010}},
                                    false,
                                    first,
                                    first + panel_height,
                                    right},
                                   {order,
                                    {{0, 0x4b0055}, {0.35, 0x006290}, {0.7, 0x00ac8e}, {1, 0xe2d84a}},
                                    true,
                                    second,
                                    second + panel_height,
                                    right}};
    double bottom = second + panel_height + 16, legend = draw_legend(map, 0, NULL);
    svg_begin(out, (int)(bottom + legend));
    size_t length = strlen(title); /* the run's name ends it, and is told apart by its end */
    char *shown = length > TITLE_FITS
                      ? xasprintf("%.*s...%s", TITLE_FITS / 2, title, title + length - TITLE_FITS / 2 + 3)
                      : xstrdup(title);
    svg_words(out, LEFT, 18, (struct svg_font){17, "#111111", SVG_LEFT, false, false}, shown);
    free(shown);
    if (run_origin(run))
        svg_words(out, right, 18, (struct svg_font){13, "#b35900", SVG_RIGHT, false, false}, run_origin(run));
    for (size_t i = 0; i < sizeof panels / sizeof *panels; i++)
        draw_panel(map, &panels[i], halves, count, unit, out);
    draw_legend(map, bottom, out);
    svg_end(out);
    free(order);
    free(share);
}

int map_write(const struct run *run, const char *name, const char *title, const struct folder *folder,
              double *most, struct text *note, struct error *e)
{
    struct map map = {0};
    struct text data = {0}, drawing = {0};
    struct half *halves = NULL;
    int result = 0;
    *most = NAN;
    if (map_load(&map, run) != 0)
        result = error_set(e, "out of memory for the map %s", name);
    if (result == 0 && map.held && map.layers > 1) {
        struct time_unit unit = unit_of(&map);
        size_t count = choose_halves(&map, &halves);
        choose_names(&map);
        add_halves(&map, halves, count, &unit, &data);
        add_nodes(&map, true, &data);
        add_nodes(&map, false, &data);
        add_names(&map, true, &data);
        add_names(&map, false, &data);
        add_marks(&map, &data);
        draw_map(&map, run, title, halves, count, &unit, &drawing);
        add_note(&map, note);
        result = svg_write(folder, name, &data, &drawing, e);
        *most = halves[count - 1].link->end[halves[count - 1].end].share;
    }
    free(halves);
    text_free(&data);
    text_free(&drawing);
    map_free(&map);
    return result;
}
