#include "reports/drawing/map.h"

#include "lib/clock.h"
#include "lib/text.h"
#include "reports/drawing/gnuplot.h"
#include "reports/drawing/map_layout.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ENDS_FIT    6000 /* the most ends of links of which all are drawn */
#define ENDS_HELD   2000 /* the most that are drawn of a larger network */
#define NAMES_FIT   26   /* the most names in a layer that fit next to each other */
#define UPRIGHT_FIT 12   /* the most hosts' names that need no rotation */
#define LAYER       118  /* pixels */
#define MARGIN      150

/* ---- data */

/* The unit in which times since the first pause are easy to read. */
struct unit {
    const char *name;
    double ns;
};

static struct unit unit_of(const struct map *map)
{
    int64_t span_ns = map->times_ns[map->ranks] - map->times_ns[1];
    if (span_ns < 2000)
        return (struct unit){"ns", 1};
    return span_ns < 2 * NS_PER_MS ? (struct unit){"us", 1e3} : (struct unit){"ms", 1e6};
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

static void add_half(const struct map *map, const struct half *half, const struct unit *unit,
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
        gnuplot_column(out, from->name);
        text_add(out, "\t");
        gnuplot_column(out, map->nodes[half->link->node[!half->end]].name);
    }
    text_add(out, "\n");
}

/* Of a network with more links than that only ends that were held are drawn, those that were held longest. */
static size_t first_drawn(const struct map *map, const struct half *halves)
{
    size_t count = (size_t)map->link_count * 2, i = 0;
    if (count <= ENDS_FIT)
        return 0;
    while (i < count && !halves[i].link->end[halves[i].end].rank)
        i++;
    return count - i > ENDS_HELD ? count - ENDS_HELD : i;
}

/* Two blocks of halves of links: those that were never held, and those that were. */
static int add_halves(struct map *map, const struct unit *unit, struct text *out)
{
    size_t count = (size_t)map->link_count * 2, i = 0;
    struct half *halves = calloc(count + 1, sizeof *halves);
    if (!halves)
        return -1;
    for (i = 0; i < count; i++)
        halves[i] = (struct half){&map->links[i / 2], i % 2};
    qsort(halves, count, sizeof *halves, by_share);
    text_add(out, "# never held\n# x\ty\tdx\tdy\nnan\tnan\tnan\tnan\n");
    i = first_drawn(map, halves);
    map->drawn = count - i;
    for (size_t k = i; k < count; k++)
        map->nodes[halves[k].link->node[0]].drawn = map->nodes[halves[k].link->node[1]].drawn = true;
    for (; i < count && !halves[i].link->end[halves[i].end].rank; i++)
        add_half(map, &halves[i], unit, out);
    text_add(out, "\n\n# held\n# x\ty\tdx\tdy\theld, %%\ttime, %s\torder\tfrom\tto\n", unit->name);
    for (; i < count; i++)
        add_half(map, &halves[i], unit, out);
    text_add(out, "\n\n");
    free(halves);
    return 0;
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

/* Only in layers where names are readable. */
static void add_names(const struct map *map, bool hosts, struct text *out)
{
    text_add(out, "# names of %s\n# x\ty\tname\nnan\tnan\t\n", hosts ? "hosts" : "switches");
    for (uint32_t i = 0; i < map->node_count; i++) {
        const struct map_node *node = &map->nodes[i];
        if (node->host != hosts || (hosts && !node->drawn) ||
            count_layer(map, node->layer) > (hosts ? 2 * NAMES_FIT : NAMES_FIT))
            continue;
        text_add(out, "%.5f\t%.5f\t", node->x, map_height(map, node->layer));
        gnuplot_column(out, node->name);
        text_add(out, "\n");
    }
    text_add(out, "\n\n");
}

/* ---- script */

struct panel {
    const char *words, *palette, *colours; /* colours: gnuplot's settings of the colour bar */
    int column;
};

static void add_panel(const struct map *map, const char *name, const struct panel *panel, struct text *out)
{
    bool turned = count_layer(map, 0) > UPRIGHT_FIT, many = map->node_count > 100;
    text_add(out, "set label 1 ");
    gnuplot_quoted(out, panel->words);
    text_add(
        out,
        " at graph 0, graph 1 left offset 0,0.6 font ',11' textcolor rgb '#333333'\n"
        "set palette defined (%s)\n%s"
        "plot '%s.tsv' index 0 using 1:2:3:4 with vectors nohead lw 1 lc rgb '#d5d9de' notitle, \\\n"
        "     '' index 1 using 1:2:3:4:%d with vectors filled head size screen 0.007,22 lw %s lc palette "
        "notitle, \\\n"
        "     '' index 2 using 1:2 with points pt 7 ps %s lc rgb '#555555' notitle, \\\n"
        "     '' index 3 using 1:2 with points pt 5 ps %s lc rgb '#1f2a36' notitle, \\\n"
        "     '' index 4 using 1:2:3 with labels %s font ',%d' textcolor rgb '#333333' notitle, \\\n"
        "     '' index 5 using 1:2:3 with labels boxed center offset 0,0.95 font ',10' textcolor rgb "
        "'#111111' notitle\n",
        panel->palette, panel->colours, name, panel->column, map->link_count > 200 ? "1.2" : "2.6",
        many ? "0.3" : "0.7", many ? "0.6" : "1.5",
        turned ? "rotate by 90 right offset 0,-0.6" : "offset 0,-0.9", turned ? 9 : 10);
}

/* Colours follow the rank, so that all can be distinguished; the colour bar shows some of the times. */
static void add_colours_of_order(const struct map *map, const struct unit *unit, struct text *out)
{
    uint32_t steps = map->ranks > 6 ? 6 : map->ranks;
    text_add(out,
             "set cbrange [1:%u]\nset cblabel 'began, %s after the earliest' textcolor rgb '#333333'\nset "
             "cbtics (",
             map->ranks > 1 ? map->ranks : 2, unit->name);
    for (uint32_t i = 0; i < steps; i++) {
        uint32_t rank = steps > 1 ? 1 + i * (map->ranks - 1) / (steps - 1) : 1;
        text_add(out, "%s'%.3g' %u", i ? ", " : "",
                 (double)(map->times_ns[rank] - map->times_ns[1]) / unit->ns, rank);
    }
    text_add(out, ")\n");
}

static void add_script(const struct map *map, const struct run *run, const char *name, const char *title,
                       struct text *out)
{
    int height = 2 * ((int)(map->layers > 1 ? map->layers - 1 : 1) * LAYER + MARGIN) + 30;
    struct unit unit = unit_of(map);
    struct text order = {0};
    char words[160];
    add_colours_of_order(map, &unit, &order);
    snprintf(words, sizeof words, "order: start of the %s pause of each end (the earliest at %.4g ms)",
             map->by_longest ? "longest" : "first", (double)(map->times_ns[1] - run->start_ns) / NS_PER_MS);
    char share_words[200];
    snprintf(share_words, sizeof share_words,
             "duration: the half of a link next to a node shows how long that node was paused");
    if (map->drawn < (size_t)map->link_count * 2)
        snprintf(share_words, sizeof share_words,
                 "duration: how long the node at each end was paused; %zu of %zu ends are drawn, those "
                 "paused longest",
                 map->drawn, (size_t)map->link_count * 2);
    const struct panel share = {share_words, "0 '#fde0b0', 0.25 '#f9a03f', 0.6 '#d7301f', 1 '#7a0010'",
                                "set cbrange [0:100]\nset cbtics autofreq\n"
                                "set cblabel '% of the measured time' textcolor rgb '#333333'\n",
                                5};
    const struct panel spread = {words, "0 '#4b0055', 0.35 '#006290', 0.7 '#00ac8e', 1 '#e2d84a'",
                                 text_string(&order), 7};
    gnuplot_begin(out, name);
    for (size_t i = 0; i < GNUPLOT_OUTPUTS; i++) {
        gnuplot_output(out, i, name, height);
        text_add(out, "unset border\nunset tics\nunset key\n"
                      "set cbtics nomirror textcolor rgb '#333333' font ',10'\n"
                      "set style textbox opaque noborder fillcolor rgb 'white' margins 0.4,0.4\n"
                      "set xrange [-0.01:1.01]\nset yrange [-0.28:1.24]\n");
        text_add(out, "set multiplot layout 2,1 margins 0.02,0.85,0.01,%.3f spacing 0.06\n",
                 1 - 62.0 / height);
        text_add(out, "set label 91 ");
        gnuplot_quoted(out, title);
        text_add(out, " at screen 0.02, screen %.4f left font ',14' textcolor rgb '#111111'\n",
                 1 - 16.0 / height);
        if (run_origin(run))
            text_add(out,
                     "set label 90 '%s' at screen 0.85, screen %.4f right textcolor rgb '#b35900' "
                     "font ',11'\n",
                     run_origin(run), 1 - 16.0 / height);
        add_panel(map, name, &share, out);
        text_add(out, "unset label 91\nunset label 90\n");
        add_panel(map, name, &spread, out);
        text_add(out, "unset multiplot\nset output\n");
    }
    text_free(&order);
}

/* ---- the whole */

int map_write(const struct run *run, const char *name, const char *title, const struct folder *folder,
              bool *drawn, struct error *e)
{
    struct map map = {0};
    struct text data = {0}, script = {0};
    int result = 0;
    *drawn = false;
    if (map_load(&map, run) != 0)
        result = error_set(e, "out of memory for the map %s", name);
    if (result == 0 && map.held && map.layers > 1) {
        struct unit unit = unit_of(&map);
        if (add_halves(&map, &unit, &data) != 0)
            data.failed = true;
        add_nodes(&map, true, &data);
        add_nodes(&map, false, &data);
        add_names(&map, true, &data);
        add_names(&map, false, &data);
        add_script(&map, run, name, title, &script);
        result = gnuplot_write(folder, name, &data, &script, e);
        *drawn = result == 0;
    }
    text_free(&data);
    text_free(&script);
    map_free(&map);
    return result;
}
