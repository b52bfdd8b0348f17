/* Drawings of one run over time. */
#include "reports/drawing/curves.h"
#include "reports/drawing/figures.h"

#include "lib/clock.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void fill_throughput(const struct run *run, struct plot *plot)
{
    static const struct curves_selection sent = {"tx_prio[0-7]_bytes", CURVES_ANY_GROUP, COLUMN_COUNTER, NULL,
                                                 false};
    static const struct curves_selection sent_soft = {"tx_bytes", CURVES_ANY_GROUP, COLUMN_COUNTER, NULL,
                                                      false};
    static const struct curves_selection pauses = {"rx_prio[0-7]_pause", CURVES_ANY_GROUP, COLUMN_COUNTER,
                                                   NULL, false};
    static const struct curves_selection all_pauses = {"rx_prio[0-7]_pause", CURVES_ANY_GROUP, COLUMN_COUNTER,
                                                       NULL, true};
    curves_limit_x(run, plot);
    struct plot_panel *panel = plot_add_panel(plot, "sent, Gb/s");
    if (!curves_add(run, &sent, 8e-9, PLOT_LINES, panel))
        curves_add(run, &sent_soft, 8e-9, PLOT_LINES, panel);
    bool moves = run_moves(run, "rx_prio[0-7]_pause");
    if (!moves && !run_find(run, NULL, "rx_prio[0-7]_pause"))
        return;
    panel = plot_add_panel(plot, "PFC frames/s");
    curves_add(run, moves ? &pauses : &all_pauses, 1, PLOT_STEPS, panel);
    if (!moves)
        panel->y_max = 1;
}

static void fill_paused(const struct run *run, struct plot *plot)
{
    /* microseconds a second, so 1e-4 makes it per cent */
    static const struct curves_selection durations = {"rx_prio[0-7]_pause_duration", CURVES_ANY_GROUP,
                                                      COLUMN_COUNTER, NULL, false};
    curves_limit_x(run, plot);
    struct plot_panel *panel = plot_add_panel(plot, "share of time paused, %");
    curves_add(run, &durations, 1e-4, PLOT_STEPS, panel);
}

/* Horizontal lines at the thresholds, once each. */
static void add_thresholds(const struct run *run, struct plot_panel *panel)
{
    const char *role;
    json_t *host;
    double seen[16] = {0};
    size_t count = 0;
    json_object_foreach((json_t *)(uintptr_t)run_get(run, "hosts"), role, host)
    {
        size_t i;
        json_t *buffer;
        json_array_foreach(json_object_get(host, "buffers"), i, buffer)
        {
            static const char *const keys[] = {"xoff_bytes", "xon_bytes"};
            for (size_t k = 0; k < 2; k++) {
                double bytes = json_number_value(json_object_get(buffer, keys[k]));
                bool known = bytes <= 0 || count == sizeof seen / sizeof *seen;
                for (size_t j = 0; j < count; j++)
                    known |= seen[j] == bytes;
                if (known || !json_array_size(json_object_get(buffer, "priorities")))
                    continue;
                char label[48];
                seen[count++] = bytes;
                snprintf(label, sizeof label, "%s %.0f B", k ? "xon" : "xoff", bytes);
                plot_add_level(panel, bytes / 1024, label);
            }
        }
    }
}

static void fill_buffer(const struct run *run, struct plot *plot)
{
    static const struct curves_selection fill = {"rx_buffer[0-7]_bytes", CURVES_ANY_GROUP, COLUMN_GAUGE, NULL,
                                                 false};
    curves_limit_x(run, plot);
    struct plot_panel *panel = plot_add_panel(plot, "receive buffer, KiB");
    if (curves_add(run, &fill, 1.0 / 1024, curves_short(run) ? PLOT_STEPS : PLOT_IMPULSES, panel))
        add_thresholds(run, panel);
}

/* Byte counters as rates, or else gauges that are rates already. */
static void add_pcie_panel(const struct run *run, const char *pattern, const char *y_label, struct plot *plot)
{
    const struct curves_selection rates = {pattern, COUNTER_GROUP_PCIE, COLUMN_COUNTER, "bytes", false};
    const struct curves_selection gauges = {pattern, COUNTER_GROUP_PCIE, COLUMN_GAUGE, "bytes/s", false};
    struct plot_panel *panel = plot_add_panel(plot, y_label);
    if (!curves_add(run, &rates, 1e-9, PLOT_LINES, panel) &&
        !curves_add(run, &gauges, 1e-9, PLOT_LINES, panel))
        plot_drop_panel(plot);
}

static void fill_pcie(const struct run *run, struct plot *plot)
{
    curves_limit_x(run, plot);
    add_pcie_panel(run, "gpu*", "GPU, GB/s", plot);
    add_pcie_panel(run, "[!g]*", "NIC, GB/s", plot);
}

static int by_duration(const void *left, const void *right)
{
    const struct pause *a = left, *b = right;
    return (a->duration_ns > b->duration_ns) - (a->duration_ns < b->duration_ns);
}

/* The pauses of one host, sorted by length, as a cumulative share. */
static void add_pause_cdf(const struct run *run, const char *host, struct plot_panel *panel, int colour)
{
    struct pause *sorted = calloc(run->pause_count + 1, sizeof *sorted);
    size_t n = 0;
    for (size_t i = 0; sorted && i < run->pause_count; i++)
        if (strcmp(run->pauses[i].host, host) == 0 && curves_in_measure(run, run->pauses[i].start_ns))
            sorted[n++] = run->pauses[i];
    if (n) {
        char label[128];
        size_t step = n > 1000 ? n / 1000 : 1;
        qsort(sorted, n, sizeof *sorted, by_duration);
        snprintf(label, sizeof label, "%s is paused (%zu pauses)", host, n);
        struct plot_series *curve = plot_add_series(panel, label, PLOT_STEPS, colour);
        for (size_t i = 0; i < n; i += step)
            plot_add_point(curve, (double)sorted[i].duration_ns / NS_PER_US,
                           100.0 * (double)(i + 1) / (double)n);
        plot_add_point(curve, (double)sorted[n - 1].duration_ns / NS_PER_US, 100);
    }
    free(sorted);
}

static void fill_pause_cdf(const struct run *run, struct plot *plot)
{
    struct plot_panel *panel = plot_add_panel(plot, "pauses up to this length, %");
    int colour = 0;
    panel->y_max = 105;
    for (size_t i = 0; i < run->pause_count && panel->series_count < CURVES_MAX; i++) {
        bool seen = false;
        for (size_t j = 0; j < i && !seen; j++)
            seen = strcmp(run->pauses[j].host, run->pauses[i].host) == 0;
        if (!seen)
            add_pause_cdf(run, run->pauses[i].host, panel, colour++);
    }
}

#define MAX_PLACES    48  /* rows of the drawing of pauses by port */
#define PAUSE_COLUMNS 400 /* pauses closer than one of so many columns are drawn as one */

/* The row of a host or port, created when first needed; -1 if there are too many. */
static int row_of(const char *const places[], size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(places[i], name) == 0)
            return (int)i;
    return -1;
}

/* Hosts first, then switches' ports; numbers in names count as numbers. */
static int by_place(const void *left, const void *right)
{
    const char *a = *(const char *const *)left, *b = *(const char *const *)right;
    bool port_a = strchr(a, ':'), port_b = strchr(b, ':');
    return port_a != port_b ? port_a - port_b : strverscmp(a, b);
}

static int by_place_and_start(const void *left, const void *right)
{
    const struct pause *a = left, *b = right;
    int order = strcmp(a->host, b->host);
    return order ? order : (a->start_ns > b->start_ns) - (a->start_ns < b->start_ns);
}

/* The pauses of one row as segments; adjacent ones are drawn as one. */
static void add_segments(const struct run *run, const struct pause *pauses, size_t count, int row,
                         struct plot_series *out)
{
    int64_t gap = (run->end_ns - run->start_ns) / PAUSE_COLUMNS;
    for (size_t i = 0; i < count;) {
        int64_t start = pauses[i].start_ns, end = start + pauses[i].duration_ns;
        for (i++; i < count && pauses[i].start_ns <= end + gap; i++)
            end = pauses[i].start_ns + pauses[i].duration_ns > end
                      ? pauses[i].start_ns + pauses[i].duration_ns
                      : end;
        if (end > 0 && curves_in_measure(run, start < 0 ? 0 : start))
            plot_add_segment(out, curves_x(run, start < 0 ? 0 : start), row,
                             curves_x(run, end - (start < 0 ? 0 : start)));
    }
}

/* Who is paused when: how a storm spreads through the network. Only with more than two places. */
static void fill_spread(const struct run *run, struct plot *plot)
{
    const char *places[MAX_PLACES];
    size_t count = 0, from = 0;
    struct pause *sorted = calloc(run->pause_count + 1, sizeof *sorted);
    if (!sorted)
        return;
    if (run->pause_count)
        memcpy(sorted, run->pauses, run->pause_count * sizeof *sorted);
    qsort(sorted, run->pause_count, sizeof *sorted, by_place_and_start);
    for (size_t i = 0; i < run->pause_count && count < MAX_PLACES; i++)
        if (row_of(places, count, sorted[i].host) < 0)
            places[count++] = sorted[i].host;
    qsort(places, count, sizeof *places, by_place);
    if (count > 2) {
        curves_limit_x(run, plot);
        struct plot_panel *panel = plot_add_panel(plot, "");
        panel->rows = count;
        struct plot_series *segments = plot_add_series(panel, "", PLOT_SEGMENTS, 1);
        for (size_t i = 0; i < count; i++)
            plot_name_row(panel, (int)i, places[i]);
        for (size_t i = 1; i <= run->pause_count; i++) {
            if (i < run->pause_count && strcmp(sorted[i].host, sorted[from].host) == 0)
                continue;
            int row = row_of(places, count, sorted[from].host);
            if (row >= 0)
                add_segments(run, sorted + from, i - from, row, segments);
            from = i;
        }
    }
    free(sorted);
}

static void fill_queues(const struct run *run, struct plot *plot)
{
    static const struct curves_selection queues = {"@(*queue_bytes|qdisc_*_backlog)", COUNTER_GROUP_QUEUE,
                                                   COLUMN_GAUGE, "bytes", false};
    curves_limit_x(run, plot);
    curves_add(run, &queues, 1.0 / 1024, PLOT_LINES, plot_add_panel(plot, "queue, KiB"));
}

static void fill_dcqcn(const struct run *run, struct plot *plot)
{
    static const struct curves_selection rates = {"*rate*", COUNTER_GROUP_DCQCN, COLUMN_GAUGE, NULL, true};
    static const struct curves_selection alphas = {"*alpha*", COUNTER_GROUP_DCQCN, COLUMN_GAUGE, NULL, true};
    bool mega = false;
    for (const struct series *s = NULL; (s = run_find(run, s, "*rate*"));)
        mega |= strcmp(s->unit, "Mb/s") == 0;
    curves_limit_x(run, plot);
    struct plot_panel *panel = plot_add_panel(plot, "rate, Gb/s");
    if (!curves_add(run, &rates, mega ? 1e-3 : 1e-9, PLOT_LINES, panel))
        return;
    panel = plot_add_panel(plot, "alpha, of 1024");
    if (!curves_add(run, &alphas, 1, PLOT_LINES, panel))
        plot_drop_panel(plot);
}

static void fill_ecn(const struct run *run, struct plot *plot)
{
    static const struct curves_selection marks = {"*", COUNTER_GROUP_ECN, COLUMN_COUNTER, NULL, false};
    static const struct curves_selection drops = {"qdisc_*_@(early|pdrop)", CURVES_ANY_GROUP, COLUMN_COUNTER,
                                                  NULL, false};
    curves_limit_x(run, plot);
    if (!curves_add(run, &marks, 1, PLOT_STEPS, plot_add_panel(plot, "packets/s")))
        plot_drop_panel(plot);
    if (!curves_add(run, &drops, 1, PLOT_STEPS, plot_add_panel(plot, "dropped, packets/s")))
        plot_drop_panel(plot);
}

const struct figure figures_run[] = {
    {"throughput", "Throughput and PFC frames", "time, s",
     "Wire rate at which each host sends, and the PFC frames that it receives, on the same time axis.",
     .run = fill_throughput},
    {"paused", "Share of time paused", "time, s",
     "Share of time in which a host was paused, from its pause-duration counter.", .run = fill_paused},
    {"buffer", "Receive buffer against xoff and xon", "time, s",
     "The receiver sends XOFF when the buffer fills to xoff, and XON when it drains to xon.",
     .run = fill_buffer},
    {"pcie", "PCIe rates", "time, s",
     "If the receiving GPU's rx is near the wire rate and its tx is near zero, data is not copied through "
     "host memory.",
     .run = fill_pcie},
    {"pause-cdf", "Length of pauses", "length of a pause, us",
     "Cumulative distribution of the lengths of single pauses.", .run = fill_pause_cdf},
    {"spread", "Paused hosts and ports", "time, s",
     "Each row is a host or a switch port, coloured while it is paused: shows how a pause storm spreads "
     "through the network.",
     .run = fill_spread},
    {"queues", "Queues", "time, s", "Egress queues of switches and forwarding hosts.", .run = fill_queues},
    {"dcqcn", "DCQCN reaction point", "time, s", "Permitted rate and alpha of each flow.", .run = fill_dcqcn},
    {"ecn", "ECN marks and CNPs", "time, s",
     "Packets marked by the switch, marked packets seen by the notification point, CNPs sent, CNPs handled "
     "by the reaction point, and packets that RED dropped instead of marking.",
     .run = fill_ecn},
    {0},
};
