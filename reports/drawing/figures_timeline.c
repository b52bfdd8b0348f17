/* Pauses as bars over time: of each port and priority above queues and rates, and of all ports of a network.
 */
#include "reports/drawing/curves.h"
#include "reports/drawing/figures.h"

#include "lib/xalloc.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_PRIORITIES  16 /* rows */
#define MOST_PLACES      48
#define MOST_DETAIL_ROWS 64  /* on the interactive page */
#define COLUMNS          400 /* of the picture: pauses that are closer are drawn as one */

/* A host or port, or a priority of it. */
struct row {
    const struct pause *pauses; /* sorted by their start */
    size_t count;
    int64_t paused_ns; /* in the measure phase */
};

/* Hosts first, then switches' ports; numbers in names count as numbers. */
static int by_host(const struct pause *a, const struct pause *b)
{
    bool port_a = strchr(a->host, ':'), port_b = strchr(b->host, ':');
    return port_a != port_b ? port_a - port_b : strverscmp(a->host, b->host);
}

static int by_host_and_start(const void *left, const void *right)
{
    const struct pause *a = left, *b = right;
    int order = by_host(a, b);
    return order ? order : (a->start_ns > b->start_ns) - (a->start_ns < b->start_ns);
}

static int by_priority_and_start(const void *left, const void *right)
{
    const struct pause *a = left, *b = right;
    int order = by_host(a, b);
    order = order ? order : a->priority - b->priority;
    return order ? order : (a->start_ns > b->start_ns) - (a->start_ns < b->start_ns);
}

static int by_place(const void *left, const void *right)
{
    const struct row *a = left, *b = right;
    return by_priority_and_start(a->pauses, b->pauses);
}

static int by_time_paused(const void *left, const void *right)
{
    const struct row *a = left, *b = right;
    int order = (a->paused_ns < b->paused_ns) - (a->paused_ns > b->paused_ns);
    return order ? order : by_place(left, right);
}

/* The pauses of a line as bars, those closer than the gap as one. Without `out` they are only counted. */
static size_t add_bars(const struct run *run, const struct row *line, size_t row, int64_t gap_ns,
                       struct plot_series *out, bool detail)
{
    int64_t from_ns;
    size_t bars = 0;
    for (size_t i = 0; i < line->count;) {
        int64_t start_ns = line->pauses[i].start_ns, end_ns = start_ns + line->pauses[i].duration_ns;
        for (i++; i < line->count && line->pauses[i].start_ns <= end_ns + gap_ns; i++) {
            int64_t next_ns = line->pauses[i].start_ns + line->pauses[i].duration_ns;
            end_ns = next_ns > end_ns ? next_ns : end_ns;
        }
        int64_t length_ns = curves_clipped(run, start_ns, end_ns, &from_ns);
        bars += length_ns > 0;
        if (length_ns && out && detail)
            plot_add_detail(out, curves_x(run, from_ns), (double)row, curves_x(run, length_ns));
        else if (length_ns && out)
            plot_add_segment(out, curves_x(run, from_ns), (double)row, curves_x(run, length_ns));
    }
    return bars;
}

/* How many there are in the measure phase. */
static size_t count_pauses(const struct run *run, const struct row *lines, size_t count)
{
    int64_t from_ns;
    size_t pauses = 0;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < lines[i].count; k++) {
            const struct pause *p = &lines[i].pauses[k];
            pauses += curves_clipped(run, p->start_ns, p->start_ns + p->duration_ns, &from_ns) > 0;
        }
    return pauses;
}

/* The least gap with which there are not too many bars. */
static int64_t find_gap(const struct run *run, const struct row *lines, size_t count, size_t most)
{
    int64_t gap_ns = 0;
    for (;;) {
        size_t bars = 0;
        for (size_t i = 0; i < count; i++)
            bars += add_bars(run, &lines[i], i, gap_ns, NULL, false);
        if (bars <= most || gap_ns > (run->end_ns - run->start_ns) / COLUMNS)
            return gap_ns;
        gap_ns = gap_ns ? 2 * gap_ns : (run->end_ns - run->start_ns) / (64 * COLUMNS) + 1;
    }
}

static void name_row(const struct row *line, bool priorities, struct plot_panel *panel,
                     void add(struct plot_panel *panel, const char *name))
{
    char *name = priorities ? xasprintf("%s priority %d", line->pauses->host, line->pauses->priority)
                            : xstrdup(line->pauses->host);
    add(panel, name);
    free(name);
}

/* More lines, and single pauses where the picture has one bar for several. */
static void add_details(const struct run *run, bool priorities, struct row *lines, size_t count,
                        struct plot_panel *panel)
{
    size_t shown = count < MOST_DETAIL_ROWS ? count : MOST_DETAIL_ROWS;
    struct plot_series *bars = plot_add_more(panel, "", PLOT_SEGMENTS);
    struct text words = {0};
    qsort(lines, count, sizeof *lines, by_time_paused);
    qsort(lines, shown, sizeof *lines, by_place);
    int64_t gap_ns = find_gap(run, lines, shown, panel->detail / 3);
    for (size_t i = 0; i < shown; i++) {
        name_row(&lines[i], priorities, panel, plot_name_detail_row);
        add_bars(run, &lines[i], i, gap_ns, bars, true);
    }
    text_add(&words, "%zu pauses", count_pauses(run, lines, shown));
    if (shown < count)
        text_add(&words, " of the %zu rows of %zu that were paused for the longest time", shown, count);
    if (gap_ns) {
        text_add(&words, "; those closer together than ");
        curves_add_length(gap_ns, &words);
        text_add(&words, " are one bar");
    }
    bars->colour = 1;
    panel->kept = text_take(&words);
}

/* The lines of sorted pauses, which were paused in the measure phase. */
static size_t find_lines(const struct run *run, bool priorities, const struct pause *sorted,
                         struct row *lines)
{
    size_t count = 0;
    for (size_t i = 0, from = 0; i < run->pause_count; i++) {
        struct row *line = &lines[count];
        int64_t from_ns, end_ns = sorted[i].start_ns + sorted[i].duration_ns;
        if (i == from)
            *line = (struct row){.pauses = &sorted[i]};
        line->count++;
        line->paused_ns += curves_clipped(run, sorted[i].start_ns, end_ns, &from_ns);
        if (i + 1 < run->pause_count && strcmp(sorted[i + 1].host, sorted[i].host) == 0 &&
            (!priorities || sorted[i + 1].priority == sorted[i].priority))
            continue;
        from = i + 1;
        count += line->paused_ns > 0;
    }
    return count;
}

static void add_lines(const struct run *run, bool priorities, struct row *lines, size_t count,
                      struct plot *plot)
{
    int64_t gap_ns = (run->end_ns - run->start_ns) / COLUMNS;
    size_t most = priorities ? MOST_PRIORITIES : MOST_PLACES, shown = count < most ? count : most, drawn = 0;
    curves_limit_x(run, plot);
    struct plot_panel *panel = plot_add_panel(plot, "");
    struct plot_series *bars = plot_add_series(panel, "", PLOT_SEGMENTS);
    bars->colour = 1;
    if (count > shown) {
        char words[80];
        snprintf(words, sizeof words, "%zu of %zu: those paused for the longest time", shown, count);
        plot_note(panel, words);
    }
    qsort(lines, count, sizeof *lines, by_time_paused);
    qsort(lines, shown, sizeof *lines, by_place);
    for (size_t i = 0; i < shown; i++) {
        name_row(&lines[i], priorities, panel, plot_name_row);
        drawn += add_bars(run, &lines[i], i, gap_ns, bars, false);
    }
    curves_say_bars(run, count_pauses(run, lines, shown), drawn, gap_ns, panel);
    if (panel->detail)
        add_details(run, priorities, lines, count, panel);
}

/* Rows of `least` or more hosts and ports, or of their priorities, that were paused in the measure phase.
 * Returns whether there are. */
static bool add_pauses(const struct run *run, bool priorities, size_t least, struct plot *plot)
{
    struct pause *sorted = xcalloc(run->pause_count + 1, sizeof *sorted);
    struct row *lines = xcalloc(run->pause_count + 1, sizeof *lines);
    if (run->pause_count)
        memcpy(sorted, run->pauses, run->pause_count * sizeof *sorted);
    qsort(sorted, run->pause_count, sizeof *sorted, priorities ? by_priority_and_start : by_host_and_start);
    size_t count = find_lines(run, priorities, sorted, lines);
    if (count >= least)
        add_lines(run, priorities, lines, count, plot);
    free(sorted);
    free(lines);
    return count >= least;
}

static const char caption[] = "A bar from XOFF to XON for each pause of a port and priority.";

/* Below the bars. The caption names what is there. */
static void add_curves(const struct run *run, struct plot *plot)
{
    static const struct curves_selection queues = {.pattern = "@(*queue_bytes|qdisc_*_backlog)",
                                                   .group = COUNTER_GROUP_QUEUE,
                                                   .kind = COLUMN_GAUGE,
                                                   .unit = "bytes"};
    static const struct curves_selection buffers = {
        .pattern = "rx_buffer[0-7]_bytes", .group = CURVES_ANY_GROUP, .kind = COLUMN_GAUGE};
    static const struct curves_selection sent = {.pattern = "tx_prio[0-7]_bytes",
                                                 .group = CURVES_ANY_GROUP,
                                                 .kind = COLUMN_COUNTER,
                                                 .stalled = true,
                                                 .extremes = true};
    const char *above = "the queues that cause them", *rates = "the rates at which hosts send";
    struct plot_panel *panel = plot_add_panel(plot, "queue, KiB");
    if (curves_add(run, &queues, 1.0 / 1024, PLOT_LINES, panel)) {
        curves_add_marking(run, panel);
    } else {
        curves_leave_out(run, &queues, plot);
        above = "the receive buffers that cause them";
        panel = plot_add_panel(plot, "receive buffer, KiB");
        if (curves_add(run, &buffers, 1.0 / 1024, PLOT_LINES, panel)) {
            curves_add_xoff(run, panel);
        } else {
            curves_leave_out(run, &buffers, plot);
            above = NULL;
        }
    }
    if (!curves_add(run, &sent, 8e-9, PLOT_LINES, plot_add_panel(plot, "sent, Gb/s"))) {
        curves_leave_out(run, &sent, plot);
        rates = NULL;
    }
    if (above || rates)
        plot->caption = xasprintf("%s Below, on the same time axis, %s%s%s.", caption, above ? above : "",
                                  above && rates ? ", and " : "", rates ? rates : "");
}

static void fill_timeline(const struct run *run, struct plot *plot)
{
    if (add_pauses(run, true, 1, plot))
        add_curves(run, plot);
}

/* Who is paused when: how a storm spreads through the network. Only with more than two places. */
static void fill_spread(const struct run *run, struct plot *plot)
{
    add_pauses(run, false, 3, plot);
}

const struct figure figures_timeline[] = {
    {"timeline", "Pauses, queues and rates", "time, s", caption, .run = fill_timeline},
    {"spread", "Paused hosts and ports", "time, s",
     "Each row is a host or a switch port, coloured while one of its priorities is paused: shows how a pause "
     "storm "
     "spreads through the network.",
     .run = fill_spread},
    {0},
};
