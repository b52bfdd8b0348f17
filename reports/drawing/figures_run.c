/* Drawings of one run over time. */
#include "reports/drawing/figures.h"

#include "lib/roce/counters.h"
#include "lib/clock.h"
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BINS       240 /* points of a rate over the run: more would only show noise */
#define MAX_CURVES 10  /* curves in one panel */

static double seconds(int64_t ns)
{
    return (double)ns / NS_PER_S;
}

/* Runs of less than a second are shown in milliseconds. */
static bool is_short(const struct run *run)
{
    return run->end_ns - run->start_ns < NS_PER_S;
}

/* A time as the x axis shows it. */
static double on_axis(const struct run *run, int64_t ns)
{
    return is_short(run) ? (double)ns / NS_PER_MS : seconds(ns);
}

static bool in_measure(const struct run *run, int64_t time_ns)
{
    return time_ns >= 0 && time_ns <= run->end_ns - run->start_ns;
}

static void limit_x(const struct run *run, struct plot *plot)
{
    plot->x_min = 0;
    plot->x_max = on_axis(run, run->end_ns - run->start_ns);
    plot_relabel_x(plot, is_short(run) ? "time, ms" : "time, s");
}

/* The counter's rise per second times `scale`, over bins of the measure phase. */
static void add_rate(const struct run *run, const struct series *s, double scale, struct plot_series *out)
{
    int64_t bin = (run->end_ns - run->start_ns) / BINS;
    size_t from = 0;
    while (from < s->count && !in_measure(run, s->time_ns[from]))
        from++;
    for (size_t i = from + 1; i < s->count && in_measure(run, s->time_ns[i]); i++) {
        int64_t passed = s->time_ns[i] - s->time_ns[from];
        if (passed < bin || passed <= 0)
            continue;
        double middle = on_axis(run, s->time_ns[from] + passed / 2);
        plot_add_point(out, middle, (double)(s->value[i] - s->value[from]) * scale / seconds(passed));
        from = i;
    }
}

static void add_gauge(const struct run *run, const struct series *s, double scale, struct plot_series *out)
{
    for (size_t i = 0; i < s->count; i++)
        if (in_measure(run, s->time_ns[i]))
            plot_add_point(out, on_axis(run, s->time_ns[i]), (double)s->value[i] * scale);
}

static bool changes(const struct series *s)
{
    for (size_t i = 1; i < s->count; i++)
        if (s->value[i] != s->value[0])
            return true;
    return false;
}

#define ANY_GROUP (-1)

struct selection {
    const char *pattern; /* of the counter's name, with @(a|b) */
    int group;           /* enum counter_group, or ANY_GROUP */
    enum column_kind kind;
    const char *unit; /* or NULL */
    bool even_flat;   /* also those that never change */
};

static bool selected(const struct series *s, const struct selection *wanted)
{
    return fnmatch(wanted->pattern, s->name, FNM_EXTMATCH) == 0 && s->kind == wanted->kind &&
           (wanted->group == ANY_GROUP || strcmp(counter_group_names[wanted->group], s->group) == 0) &&
           (!wanted->unit || strcmp(wanted->unit, s->unit) == 0) && (wanted->even_flat || changes(s));
}

/* What decides which series are drawn: a gauge's largest value, a counter's increase. */
static double weight(const struct series *s)
{
    double most = 0;
    for (size_t i = 0; i < s->count; i++) {
        double value = (double)(s->kind == COLUMN_COUNTER ? s->value[i] - s->value[0] : s->value[i]);
        most = value > most ? value : most;
    }
    return most;
}

/* The selected series, at most MAX_CURVES: the most important ones, in the order of the columns. */
static size_t select_series(const struct run *run, const struct selection *wanted,
                            const struct series **chosen)
{
    double weights[MAX_CURVES];
    size_t n = 0;
    for (const struct series *s = run->series; s < run->series + run->series_count; s++) {
        if (!selected(s, wanted))
            continue;
        if (n == MAX_CURVES) { /* replace the least important series if this one is more important */
            size_t least = 0;
            for (size_t i = 1; i < n; i++)
                least = weights[i] < weights[least] ? i : least;
            if (weight(s) <= weights[least])
                continue;
            memmove(&chosen[least], &chosen[least + 1], (n - least - 1) * sizeof(const struct series *));
            memmove(&weights[least], &weights[least + 1], (n - least - 1) * sizeof *weights);
            n--;
        }
        weights[n] = weight(s);
        chosen[n++] = s;
    }
    return n;
}

/* Every series that is selected becomes a curve "host name", or "host" if all have the same name. Returns how many
 * there are. */
static size_t add_curves(const struct run *run, const struct selection *wanted, double scale,
                         enum plot_style style, struct plot_panel *panel)
{
    const struct series *chosen[MAX_CURVES];
    size_t n = select_series(run, wanted, chosen);
    bool same = n > 4;
    for (size_t i = 1; i < n; i++)
        same &= strcmp(chosen[i]->name, chosen[0]->name) == 0;
    for (size_t i = 0; i < n; i++) {
        char label[160];
        snprintf(label, sizeof label, "%s%s%s", chosen[i]->host, same ? "" : " ",
                 same ? "" : chosen[i]->name);
        struct plot_series *curve = plot_add_series(panel, label, style, (int)i);
        if (chosen[i]->kind == COLUMN_COUNTER)
            add_rate(run, chosen[i], scale, curve);
        else
            add_gauge(run, chosen[i], scale, curve);
    }
    return n;
}

/* ---- the drawings */

static void fill_throughput(const struct run *run, struct plot *plot)
{
    static const struct selection sent = {"tx_prio[0-7]_bytes", ANY_GROUP, COLUMN_COUNTER, NULL, false};
    static const struct selection sent_soft = {"tx_bytes", ANY_GROUP, COLUMN_COUNTER, NULL, false};
    static const struct selection pauses = {"rx_prio[0-7]_pause", ANY_GROUP, COLUMN_COUNTER, NULL, false};
    static const struct selection all_pauses = {"rx_prio[0-7]_pause", ANY_GROUP, COLUMN_COUNTER, NULL, true};
    limit_x(run, plot);
    struct plot_panel *panel = plot_add_panel(plot, "sent, Gb/s");
    if (!add_curves(run, &sent, 8e-9, PLOT_LINES, panel))
        add_curves(run, &sent_soft, 8e-9, PLOT_LINES, panel);
    bool moves = run_moves(run, "rx_prio[0-7]_pause");
    if (!moves && !run_find(run, NULL, "rx_prio[0-7]_pause"))
        return;
    panel = plot_add_panel(plot, "PFC frames/s");
    add_curves(run, moves ? &pauses : &all_pauses, 1, PLOT_STEPS, panel);
    if (!moves)
        panel->y_max = 1;
}

static void fill_paused(const struct run *run, struct plot *plot)
{
    /* microseconds a second, so 1e-4 makes it per cent */
    static const struct selection durations = {"rx_prio[0-7]_pause_duration", ANY_GROUP, COLUMN_COUNTER, NULL,
                                               false};
    limit_x(run, plot);
    struct plot_panel *panel = plot_add_panel(plot, "share of time paused, %");
    add_curves(run, &durations, 1e-4, PLOT_STEPS, panel);
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
    static const struct selection fill = {"rx_buffer[0-7]_bytes", ANY_GROUP, COLUMN_GAUGE, NULL, false};
    limit_x(run, plot);
    struct plot_panel *panel = plot_add_panel(plot, "receive buffer, KiB");
    if (add_curves(run, &fill, 1.0 / 1024, is_short(run) ? PLOT_STEPS : PLOT_IMPULSES, panel))
        add_thresholds(run, panel);
}

/* Byte counters as rates, or else gauges that are rates already. */
static void add_pcie_panel(const struct run *run, const char *pattern, const char *y_label, struct plot *plot)
{
    const struct selection rates = {pattern, COUNTER_GROUP_PCIE, COLUMN_COUNTER, "bytes", false};
    const struct selection gauges = {pattern, COUNTER_GROUP_PCIE, COLUMN_GAUGE, "bytes/s", false};
    struct plot_panel *panel = plot_add_panel(plot, y_label);
    if (!add_curves(run, &rates, 1e-9, PLOT_LINES, panel) &&
        !add_curves(run, &gauges, 1e-9, PLOT_LINES, panel))
        plot_drop_panel(plot);
}

static void fill_pcie(const struct run *run, struct plot *plot)
{
    limit_x(run, plot);
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
        if (strcmp(run->pauses[i].host, host) == 0 && in_measure(run, run->pauses[i].start_ns))
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
    for (size_t i = 0; i < run->pause_count && panel->series_count < MAX_CURVES; i++) {
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
        if (end > 0 && in_measure(run, start < 0 ? 0 : start))
            plot_add_segment(out, on_axis(run, start < 0 ? 0 : start), row,
                             on_axis(run, end - (start < 0 ? 0 : start)));
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
        limit_x(run, plot);
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
    static const struct selection queues = {"@(*queue_bytes|qdisc_*_backlog)", COUNTER_GROUP_QUEUE,
                                            COLUMN_GAUGE, "bytes", false};
    limit_x(run, plot);
    add_curves(run, &queues, 1.0 / 1024, PLOT_LINES, plot_add_panel(plot, "queue, KiB"));
}

static void fill_dcqcn(const struct run *run, struct plot *plot)
{
    static const struct selection rates = {"*rate*", COUNTER_GROUP_DCQCN, COLUMN_GAUGE, NULL, true};
    static const struct selection alphas = {"*alpha*", COUNTER_GROUP_DCQCN, COLUMN_GAUGE, NULL, true};
    bool mega = false;
    for (const struct series *s = NULL; (s = run_find(run, s, "*rate*"));)
        mega |= strcmp(s->unit, "Mb/s") == 0;
    limit_x(run, plot);
    struct plot_panel *panel = plot_add_panel(plot, "rate, Gb/s");
    if (!add_curves(run, &rates, mega ? 1e-3 : 1e-9, PLOT_LINES, panel))
        return;
    panel = plot_add_panel(plot, "alpha, of 1024");
    if (!add_curves(run, &alphas, 1, PLOT_LINES, panel))
        plot_drop_panel(plot);
}

static void fill_ecn(const struct run *run, struct plot *plot)
{
    static const struct selection marks = {"*", COUNTER_GROUP_ECN, COLUMN_COUNTER, NULL, false};
    static const struct selection drops = {"qdisc_*_@(early|pdrop)", ANY_GROUP, COLUMN_COUNTER, NULL, false};
    limit_x(run, plot);
    if (!add_curves(run, &marks, 1, PLOT_STEPS, plot_add_panel(plot, "packets/s")))
        plot_drop_panel(plot);
    if (!add_curves(run, &drops, 1, PLOT_STEPS, plot_add_panel(plot, "dropped, packets/s")))
        plot_drop_panel(plot);
}

const struct figure run_figures[] = {
    {"throughput", "Throughput and PFC frames", "time, s",
     "Wire rate at which each host sends, and the PFC frames that it receives, on the same time axis.",
     fill_throughput},
    {"paused", "Share of time paused", "time, s",
     "Share of time in which a host was paused, from its pause-duration counter.", fill_paused},
    {"buffer", "Receive buffer against xoff and xon", "time, s",
     "The receiver sends XOFF when the buffer fills to xoff, and XON when it drains to xon.", fill_buffer},
    {"pcie", "PCIe rates", "time, s",
     "If the receiving GPU's rx is near the wire rate and its tx is near zero, data is not copied through "
     "host memory.",
     fill_pcie},
    {"pause-cdf", "Length of pauses", "length of a pause, us",
     "Cumulative distribution of the lengths of single pauses.", fill_pause_cdf},
    {"spread", "Paused hosts and ports", "time, s",
     "Each row is a host or a switch port, coloured while it is paused. The plot shows how a pause storm "
     "spreads through the network.",
     fill_spread},
    {"queues", "Queues", "time, s", "Egress queues of switches and forwarding hosts.", fill_queues},
    {"dcqcn", "DCQCN reaction point", "time, s", "Permitted rate and alpha of each flow.", fill_dcqcn},
    {"ecn", "ECN marks and CNPs", "time, s",
     "Packets marked by the switch, marked packets seen by the notification point, CNPs sent, CNPs handled "
     "by the reaction point, and packets that RED dropped instead of marking.",
     fill_ecn},
    {0},
};
