#include "reports/drawing/map_layout.h"

#include <stdlib.h>
#include <string.h>

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
        if (!name || !kind || map->node_count == MOST_NODES)
            continue;
        map->nodes[map->node_count++] = (struct map_node){
            .name = name, .host = strcmp(kind, "host") == 0, .layer = UNKNOWN, .index = (uint32_t)i};
    }
    qsort(map->nodes, map->node_count, sizeof *map->nodes, by_name);
    return 0;
}

/* Of the priority that was paused longest. */
static struct map_end take_end(const json_t *held, double measured_ns, const char *time_key)
{
    struct map_end end = {-1, INT64_MAX, 0};
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
            link->end[k] = take_end(json_object_get(object, held[k]), measured_ns,
                                    map->by_longest ? "longest_ns" : "first_ns");
        }
        if (link->node[0] == UNKNOWN || link->node[1] == UNKNOWN)
            continue;
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

/* Hosts are layer 0. Each following layer has the nodes that are linked to the layer before and have no layer yet. */
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

/* Sort a layer from left to right and give each node the same width. Not by qsort, which passes no context; layers are small. */
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
    for (uint32_t i = 0; i < count; i++)
        nodes[i]->x = (i + 0.5) / count;
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
    for (uint32_t layer = 0; layer < map->layers; layer++) {
        if (layer)
            place_over(map, layer);
        if (spread_layer(map, layer) != 0)
            return -1;
    }
    return 0;
}

double map_height(const struct map *map, uint32_t layer)
{
    return map->layers > 1 ? (double)layer / (map->layers - 1) : 0.5;
}

/* Links between nodes of one layer that are not neighbours pass above the nodes between them. */
void map_middle(const struct map *map, const struct map_link *link, double *x, double *y)
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

/* ---- the whole */

int map_load(struct map *map, const struct run *run)
{
    double measured_ns = (double)(run->end_ns - run->start_ns);
    map->by_longest = json_array_size(run_get(run, "scenario.storms")) > 0;
    if (take_nodes(map, run_get(run, "topology.nodes")) != 0 ||
        take_links(map, run_get(run, "topology.links"), measured_ns > 0 ? measured_ns : 1) != 0)
        return -1;
    return rank_ends(map) != 0 || lay_out(map) != 0 ? -1 : 0;
}

void map_free(struct map *map)
{
    free(map->nodes);
    free(map->links);
    free(map->times_ns);
}
