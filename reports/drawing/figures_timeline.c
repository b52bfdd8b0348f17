/* The pauses of each port and priority as bars over time, above queues and rates. */
#include "reports/drawing/curves.h"
#include "reports/drawing/figures.h"

#include "lib/clock.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_ROWS        16
#define MOST_DETAIL_ROWS 64  /* on the interactive page */
#define COLUMNS          400 /* of the picture: pauses that are closer are drawn as one */

/* A host or port, and a priority of it. */
struct row {
    const struct pause *pauses; /* sorted by their start */
    size_t count;
    int64_t paused_ns; /* in the measure phase */
};

static int by_place_and_start(const void *left, const void *right)
{
    const struct pause *a = left, *b = right;
    int order = strverscmp(a->host, b->host);
    order = order ? order : a->priority - b->priority;
    return order ? order : (a->start_ns > b->start_ns) - (a->start_ns < b->start_ns);
}

static int by_time_paused(const void *left, const void *right)
{
    const struct row *a = left, *b = right;
    int order = (a->paused_ns < b->paused_ns) - (a->paused_ns > b->paused_ns);
    return order ? order : by_place_and_start(a->pauses, b->pauses);
}

static int by_place(const void *left, const void *right)
{
    const struct row *a = left, *b = right;
    return by_place_and_start(a->pauses, b->pauses);
}

/* The part of a pause that is in the measure phase: its length, 0 if there is none. Times are since the phase
 * began. */
static int64_t clipped(const struct run *run, int64_t start_ns, int64_t end_ns, int64_t *from_ns)
{
    int64_t whole_ns = run->end_ns - run->start_ns;
    *from_ns = start_ns < 0 ? 0 : start_ns;
    end_ns = end_ns > whole_ns ? whole_ns : end_ns;
    return end_ns > *from_ns ? end_ns - *from_ns : 0;
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
        int64_t length_ns = clipped(run, start_ns, end_ns, &from_ns);
        bars += length_ns > 0;
        if (length_ns && out && detail)
            plot_add_detail(out, curves_x(run, from_ns), (double)row, curves_x(run, length_ns));
        else if (length_ns && out)
            plot_add_segment(out, curves_x(run, from_ns), (double)row, curves_x(run, length_ns));
    }
    return bars;
}

/* The least gap with which there are not too many bars. *pauses: how many there are in the measure phase. */
static int64_t find_gap(const struct run *run, const struct row *lines, size_t count, size_t most,
                        size_t *pauses)
{
    int64_t gap_ns = 0, from_ns;
    *pauses = 0;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < lines[i].count; k++) {
            const struct pause *p = &lines[i].pauses[k];
            *pauses += clipped(run, p->start_ns, p->start_ns + p->duration_ns, &from_ns) > 0;
        }
    for (;;) {
        size_t bars = 0;
        for (size_t i = 0; i < count; i++)
            bars += add_bars(run, &lines[i], i, gap_ns, NULL, false);
        if (bars <= most || gap_ns > (run->end_ns - run->start_ns) / COLUMNS)
            return gap_ns;
        gap_ns = gap_ns ? 2 * gap_ns : (run->end_ns - run->start_ns) / (64 * COLUMNS) + 1;
    }
}

static void name_of(const struct row *line, char *name, size_t size)
{
    snprintf(name, size, "%s priority %d", line->pauses->host, line->pauses->priority);
}

/* More lines, and single pauses where the picture has one bar for several. */
static void add_details(const struct run *run, struct row *lines, size_t count, struct plot_panel *panel)
{
    size_t shown = count < MOST_DETAIL_ROWS ? count : MOST_DETAIL_ROWS, pauses;
    struct plot_series *bars = plot_add_more(panel, "", PLOT_SEGMENTS);
    struct text words = {0};
    qsort(lines, count, sizeof *lines, by_time_paused);
    qsort(lines, shown, sizeof *lines, by_place);
    int64_t gap_ns = find_gap(run, lines, shown, panel->detail / 3, &pauses);
    for (size_t i = 0; i < shown; i++) {
        char name[96];
        name_of(&lines[i], name, sizeof name);
        plot_name_detail_row(panel, name);
        add_bars(run, &lines[i], i, gap_ns, bars, true);
    }
    text_add(&words, "%zu pauses", pauses);
    if (shown < count)
        text_add(&words, " of the %zu rows of %zu that were paused for the longest time", shown, count);
    if (gap_ns)
        text_add(&words, "; those closer together than %.3g us are one bar", (double)gap_ns / NS_PER_US);
    bars->colour = 1;
    panel->kept = text_take(&words);
}

/* The lines of sorted pauses, which were paused in the measure phase. */
static size_t find_lines(const struct run *run, const struct pause *sorted, struct row *lines)
{
    size_t count = 0;
    for (size_t i = 0, from = 0; i < run->pause_count; i++) {
        struct row *line = &lines[count];
        int64_t from_ns, end_ns = sorted[i].start_ns + sorted[i].duration_ns;
        if (i == from)
            *line = (struct row){.pauses = &sorted[i]};
        line->count++;
        line->paused_ns += clipped(run, sorted[i].start_ns, end_ns, &from_ns);
        if (i + 1 < run->pause_count && strcmp(sorted[i + 1].host, sorted[i].host) == 0 &&
            sorted[i + 1].priority == sorted[i].priority)
            continue;
        from = i + 1;
        count += line->paused_ns > 0;
    }
    return count;
}

static void add_lines(const struct run *run, struct row *lines, size_t count, struct plot *plot)
{
    size_t shown = count < MOST_ROWS ? count : MOST_ROWS;
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
        char name[96];
        name_of(&lines[i], name, sizeof name);
        plot_name_row(panel, name);
        add_bars(run, &lines[i], i, (run->end_ns - run->start_ns) / COLUMNS, bars, false);
    }
    if (panel->detail)
        add_details(run, lines, count, panel);
}

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
    if (!curves_add(run, &queues, 1.0 / 1024, PLOT_LINES, plot_add_panel(plot, "queue, KiB"))) {
        plot_drop_panel(plot);
        if (!curves_add(run, &buffers, 1.0 / 1024, PLOT_LINES, plot_add_panel(plot, "receive buffer, KiB")))
            plot_drop_panel(plot);
    }
    if (!curves_add(run, &sent, 8e-9, PLOT_LINES, plot_add_panel(plot, "sent, Gb/s")))
        plot_drop_panel(plot);
}

static void fill_timeline(const struct run *run, struct plot *plot)
{
    struct pause *sorted = calloc(run->pause_count + 1, sizeof *sorted);
    struct row *lines = calloc(run->pause_count + 1, sizeof *lines);
    if (sorted && lines && run->pause_count) {
        memcpy(sorted, run->pauses, run->pause_count * sizeof *sorted);
        qsort(sorted, run->pause_count, sizeof *sorted, by_place_and_start);
        size_t count = find_lines(run, sorted, lines);
        if (count) {
            curves_limit_x(run, plot);
            add_lines(run, lines, count, plot);
            add_curves(run, plot);
        }
    }
    free(sorted);
    free(lines);
}

const struct figure figures_timeline[] = {
    {"timeline", "Pauses, queues and rates", "time, s",
     "Above, a bar from XOFF to XON for each pause of a port and priority; pauses closer together than a "
     "pixel or two "
     "are one bar. Below, on the same time axis, the queues that cause them and the rates at which hosts "
     "send.",
     .run = fill_timeline},
    {0},
};
