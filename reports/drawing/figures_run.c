/* Drawings of one run over time. */
#include "reports/drawing/curves.h"
#include "reports/drawing/figures.h"

#include "lib/clock.h"
#include "lib/text.h"
#include "lib/xalloc.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The PFC frames of the hosts whose throughput is drawn, in the same colours; of others if none of those was
 * paused. */
static void add_pauses(const struct run *run, struct plot *plot)
{
    struct curves_selection pauses = {
        .pattern = "rx_prio[0-7]_pause", .group = CURVES_ANY_GROUP, .kind = COLUMN_COUNTER, .extremes = true};
    struct plot_panel *panel = plot_add_panel(plot, "PFC frames/s");
    const struct plot_panel *sent = &plot->panels[0];
    pauses.hosts = sent->note ? sent : NULL; /* all are drawn */
    bool any = curves_add(run, &pauses, 1, PLOT_STEPS, panel);
    if (!any && pauses.hosts) {
        pauses.hosts = NULL;
        any = curves_add(run, &pauses, 1, PLOT_STEPS, panel);
    }
    if (!any) { /* lines at zero show less than a sentence; not even these: PFC frames are not counted */
        pauses.even_flat = true;
        bool counted = curves_add(run, &pauses, 1, PLOT_STEPS, panel);
        const char *of_run = strstr(plot->title, ": ");
        char *title = xasprintf("Throughput%s", of_run ? of_run : "");
        plot_drop_panel(plot);
        free(plot->title);
        plot->title = title;
        plot->caption = xasprintf("Wire rate at which each host sends.%s",
                                  counted ? " None of them received a PFC frame meanwhile." : "");
        return;
    }
    plot_match_colours(panel, sent);
}

/* The line of a virtual NIC that stands for a faster one. */
static bool on_slow_line(const struct run *run)
{
    double line = json_number_value(json_object_get(run_get(run, "scaled"), "line_bps"));
    return line > 0 && line < 1e9;
}

/* The largest mean size of the frames that a host sent on a priority; 0: no packets are counted. */
static double frame_bytes(const struct run *run)
{
    const char *role;
    json_t *host;
    double most = 0;
    json_object_foreach((json_t *)(uintptr_t)run_get(run, "hosts"), role, host)
    {
        const json_t *counters = json_object_get(host, "counters");
        for (int priority = 0; priority < 8; priority++) {
            char bytes[24], packets[24];
            snprintf(bytes, sizeof bytes, "tx_prio%d_bytes", priority);
            snprintf(packets, sizeof packets, "tx_prio%d_packets", priority);
            double sent = json_number_value(json_object_get(json_object_get(counters, bytes), "delta")),
                   of = json_number_value(json_object_get(json_object_get(counters, packets), "delta"));
            most = of > 0 && sent / of > most ? sent / of : most;
        }
    }
    return most;
}

/* The shortest time between two samples of what hosts sent; 0: there are no two. */
static int64_t least_between_samples(const struct run *run)
{
    int64_t least_ns = 0;
    for (const struct series *s = NULL; (s = run_find(run, s, "tx_prio[0-7]_bytes"));)
        for (size_t i = 1; i < s->count; i++) {
            int64_t passed_ns = s->time_ns[i] - s->time_ns[i - 1];
            if (passed_ns > 0 && (!least_ns || passed_ns < least_ns))
                least_ns = passed_ns;
        }
    return least_ns;
}

static double highest_drawn(const struct plot_panel *panel)
{
    double most = 0;
    for (size_t i = 0; i < panel->series_count; i++) {
        const struct plot_series *s = &panel->series[i];
        for (size_t k = 0; k < s->points; k++)
            most = s->rows[k].y > most ? s->rows[k].y : most;
        for (size_t k = 0; k < s->detail.count; k++)
            most = s->detail.y[k] > most ? s->detail.y[k] : most;
    }
    return most;
}

#define FRAME_SEEN 0.02 /* of the highest rate: a frame more or less shows */

/* A rate of one sample may be above the line's. `unit`: of a byte a second on the panel. */
static void say_frames(const struct run *run, double unit, struct plot_panel *panel)
{
    int64_t least_ns = least_between_samples(run);
    double bytes = frame_bytes(run), one = least_ns ? bytes * unit * NS_PER_S / (double)least_ns : 0;
    struct text length = {0};
    curves_add_length(least_ns, &length);
    if (one > FRAME_SEEN * highest_drawn(panel))
        plot_say(
            panel,
            "Frames count as a whole: one of %.0f B in a sample of %s is %.3g %s, by which the rate of a "
            "single sample may be above or below that of the line",
            bytes, text_string(&length), one, strchr(panel->y_label, ' ') + 1);
    text_free(&length);
}

static void fill_throughput(const struct run *run, struct plot *plot)
{
    static const struct curves_selection sent = {.pattern = "tx_prio[0-7]_bytes",
                                                 .group = CURVES_ANY_GROUP,
                                                 .kind = COLUMN_COUNTER,
                                                 .stalled = true,
                                                 .extremes = true};
    static const struct curves_selection sent_soft = {.pattern = "tx_bytes",
                                                      .group = CURVES_ANY_GROUP,
                                                      .kind = COLUMN_COUNTER,
                                                      .stalled = true,
                                                      .extremes = true};
    curves_limit_x(run, plot);
    bool slow = on_slow_line(run);
    double unit = slow ? 8e-6 : 8e-9; /* of a byte/s */
    struct plot_panel *panel = plot_add_panel(plot, slow ? "sent, Mb/s" : "sent, Gb/s");
    if (!curves_add(run, &sent, unit, PLOT_LINES, panel))
        curves_add(run, &sent_soft, unit, PLOT_LINES, panel);
    say_frames(run, unit, panel);
    add_pauses(run, plot);
}

static void fill_paused(const struct run *run, struct plot *plot)
{
    /* microseconds a second, so 1e-4 makes it per cent */
    static const struct curves_selection durations = {.pattern = "rx_prio[0-7]_pause_duration",
                                                      .group = CURVES_ANY_GROUP,
                                                      .kind = COLUMN_COUNTER,
                                                      .extremes = true};
    curves_limit_x(run, plot);
    struct plot_panel *panel = plot_add_panel(plot, "share of time paused, %");
    curves_add(run, &durations, 1e-4, PLOT_STEPS, panel);
}

static void fill_buffer(const struct run *run, struct plot *plot)
{
    static const struct curves_selection fill = {
        .pattern = "rx_buffer[0-7]_bytes", .group = CURVES_ANY_GROUP, .kind = COLUMN_GAUGE};
    curves_limit_x(run, plot);
    struct plot_panel *panel = plot_add_panel(plot, "receive buffer, KiB");
    if (curves_add(run, &fill, 1.0 / 1024, curves_short(run) ? PLOT_STEPS : PLOT_IMPULSES, panel))
        curves_add_xoff(run, panel);
}

/* Byte counters as rates, or else gauges that are rates already. False: there is nothing to draw. */
static bool add_pcie_panel(const struct run *run, const char *pattern, const char *y_label, struct plot *plot)
{
    const struct curves_selection rates = {
        .pattern = pattern, .group = COUNTER_GROUP_PCIE, .kind = COLUMN_COUNTER, .unit = "bytes"};
    const struct curves_selection gauges = {
        .pattern = pattern, .group = COUNTER_GROUP_PCIE, .kind = COLUMN_GAUGE, .unit = "bytes/s"};
    struct plot_panel *panel = plot_add_panel(plot, y_label);
    bool any =
        curves_add(run, &rates, 1e-9, PLOT_LINES, panel) || curves_add(run, &gauges, 1e-9, PLOT_LINES, panel);
    if (!any)
        plot_drop_panel(plot);
    return any;
}

/* Does data of a flow go into (or out of) the GPU of this host? That of a read comes from the other end. */
static bool gpu_takes_part(const struct run *run, const char *host, bool into)
{
    const char *name;
    json_t *flow;
    json_object_foreach((json_t *)(uintptr_t)run_get(run, "flows"), name, flow)
    {
        bool read = strcmp(run_member(flow, "op"), "read") == 0;
        if (strcmp(run_member(flow, "memory"), "gpu") == 0 &&
            strcmp(run_member(flow, into != read ? "to" : "from"), host) == 0)
            return true;
    }
    return false;
}

static const char pcie_rates[] = "What comes into a device (rx) and goes out of it (tx) over PCIe.";

/* What the rates of the GPUs tell, by the directions in which data goes here. */
static char *pcie_caption(const struct run *run, bool gpus)
{
    struct text_names receive = {0}, both = {0};
    struct text words = {0};
    const char *role;
    json_t *host;
    text_add(&words, "%s", pcie_rates);
    json_object_foreach((json_t *)(uintptr_t)run_get(run, "hosts"), role, host)
    {
        if (gpus && gpu_takes_part(run, role, true))
            text_names_add(gpu_takes_part(run, role, false) ? &both : &receive, role);
    }
    if (receive.count) {
        text_add(&words, " Flows only go into the GPU of ");
        text_add_names(&words, "", &receive);
        text_add(&words,
                 ": if its rx is near the wire rate and its tx near zero, data is not copied through host "
                 "memory.");
    }
    if (both.count) {
        text_add(&words, " Flows go into and out of the GPU of ");
        text_add_names(&words, "", &both);
        text_add(&words, ": both of its rates are near those of the wire if data is not copied through host "
                         "memory.");
    }
    return text_take(&words);
}

static void fill_pcie(const struct run *run, struct plot *plot)
{
    curves_limit_x(run, plot);
    bool gpus = add_pcie_panel(run, "gpu*", "GPU, GB/s", plot);
    add_pcie_panel(run, "[!g]*", "NIC, GB/s", plot);
    plot->caption = pcie_caption(run, gpus);
}

static int by_duration(const void *left, const void *right)
{
    const struct pause *a = left, *b = right;
    return (a->duration_ns > b->duration_ns) - (a->duration_ns < b->duration_ns);
}

/* Did it begin in the measure phase, and end? */
static bool has_length(const struct run *run, const struct pause *pause)
{
    return !pause->lasts && curves_in_measure(run, pause->start_ns);
}

#define CDF_POINTS 1000

/* The pauses of one host, sorted by length, as a cumulative share, from 0 just before the shortest to 100 %
 * at the longest of all hosts: of one pause too there is a curve. */
static void add_pause_cdf(const struct run *run, const char *host, double longest, struct plot_panel *panel)
{
    struct pause *sorted = calloc(run->pause_count + 1, sizeof *sorted);
    size_t n = 0;
    for (size_t i = 0; sorted && i < run->pause_count; i++)
        if (strcmp(run->pauses[i].host, host) == 0 && has_length(run, &run->pauses[i]))
            sorted[n++] = run->pauses[i];
    if (n) {
        char label[128];
        size_t step = n > CDF_POINTS ? n / CDF_POINTS : 1;
        qsort(sorted, n, sizeof *sorted, by_duration);
        snprintf(label, sizeof label, "%s is paused (%zu %s)", host, n, THINGS(n, "pause"));
        struct plot_series *curve = plot_add_series(panel, label, PLOT_STEPS);
        plot_add_point(curve, (double)sorted[0].duration_ns / NS_PER_US * (1 - 1e-4), 0);
        for (size_t i = 0; i < n; i += step)
            plot_add_point(curve, (double)sorted[i].duration_ns / NS_PER_US,
                           100.0 * (double)(i + 1) / (double)n);
        plot_add_point(curve, (double)sorted[n - 1].duration_ns / NS_PER_US, 100);
        if (sorted[n - 1].duration_ns / (double)NS_PER_US < longest)
            plot_add_point(curve, longest, 100);
    }
    free(sorted);
}

struct paused_host {
    const char *name;
    int64_t held_ns; /* in the measure phase */
};

static int by_held(const void *left, const void *right)
{
    const struct paused_host *a = left, *b = right;
    int order = (a->held_ns < b->held_ns) - (a->held_ns > b->held_ns);
    return order ? order : strverscmp(a->name, b->name);
}

static int by_host(const void *left, const void *right)
{
    const struct paused_host *a = left, *b = right;
    return strverscmp(a->name, b->name);
}

/* Each host and port that was paused in the measure phase, and for how long together. The caller frees
 * them. */
static struct paused_host *find_paused(const struct run *run, size_t *count)
{
    struct paused_host *all = calloc(run->pause_count + 1, sizeof *all);
    size_t kept = 0;
    *count = 0;
    for (size_t i = 0; all && i < run->pause_count; i++)
        if (has_length(run, &run->pauses[i]))
            all[kept++] = (struct paused_host){run->pauses[i].host, run->pauses[i].duration_ns};
    if (kept)
        qsort(all, kept, sizeof *all, by_host);
    for (size_t i = 0; i < kept; i++) {
        if (*count && strcmp(all[*count - 1].name, all[i].name) == 0)
            all[*count - 1].held_ns += all[i].held_ns;
        else
            all[(*count)++] = all[i];
    }
    return all;
}

static void fill_pause_cdf(const struct run *run, struct plot *plot)
{
    struct plot_panel *panel = plot_add_panel(plot, "pauses up to this length, %");
    double longest = 0;
    plot->log_x = true;
    size_t all, shown, without_length = 0;
    struct paused_host *hosts = find_paused(run, &all);
    panel->y_max = 105;
    for (size_t i = 0; i < run->pause_count; i++)
        without_length += !has_length(run, &run->pauses[i]);
    if (without_length)
        plot_lack(panel,
                  "%zu pauses are left out, which began outside the measured time or had not ended when the "
                  "run did",
                  without_length);
    curves_say_pauses(run, panel);
    shown = all < CURVES_MAX ? all : CURVES_MAX;
    if (all > shown) {
        char words[64];
        snprintf(words, sizeof words, "%zu of %zu: those paused for the longest time", shown, all);
        plot_note(panel, words);
        qsort(hosts, all, sizeof *hosts, by_held);
        qsort(hosts, shown, sizeof *hosts, by_host);
    }
    for (size_t i = 0; i < run->pause_count; i++)
        if (has_length(run, &run->pauses[i]))
            longest = fmax(longest, (double)run->pauses[i].duration_ns / NS_PER_US);
    for (size_t i = 0; hosts && i < shown; i++)
        add_pause_cdf(run, hosts[i].name, longest, panel);
    free(hosts);
}

static const char queues_caption[] = "Egress queues of switches and forwarding hosts.";

static void fill_queues(const struct run *run, struct plot *plot)
{
    static const struct curves_selection queues = {.pattern = "@(*queue_bytes|qdisc_*_backlog)",
                                                   .group = COUNTER_GROUP_QUEUE,
                                                   .kind = COLUMN_GAUGE,
                                                   .unit = "bytes"};
    curves_limit_x(run, plot);
    struct plot_panel *panel = plot_add_panel(plot, "queue, KiB");
    if (curves_add(run, &queues, 1.0 / 1024, PLOT_LINES, panel))
        curves_add_marking(run, panel);
    if (curves_add_held(run, plot))
        plot->caption = xasprintf("%s Below, what switches hold of their ingress ports, with xoff and xon.",
                                  queues_caption);
}

/* Pauses of real switches; a simulated one's are drawn one by one, as bars. */
static void fill_switch_pauses(const struct run *run, struct plot *plot)
{
    static const struct curves_selection pauses = {.pattern = "port*_[rt]x_prio[0-7]_pause",
                                                   .group = CURVES_ANY_GROUP,
                                                   .kind = COLUMN_COUNTER,
                                                   .extremes = true};
    if (json_is_true(run_get(run, "simulated")))
        return;
    curves_limit_x(run, plot);
    curves_add(run, &pauses, 1, PLOT_STEPS, plot_add_panel(plot, "PFC frames/s"));
}

static void fill_dcqcn(const struct run *run, struct plot *plot)
{
    static const struct curves_selection rates = {.pattern = "*rate*",
                                                  .group = COUNTER_GROUP_DCQCN,
                                                  .kind = COLUMN_GAUGE,
                                                  .even_flat = true,
                                                  .extremes = true};
    struct curves_selection alphas = {.pattern = "*alpha*",
                                      .group = COUNTER_GROUP_DCQCN,
                                      .kind = COLUMN_GAUGE,
                                      .even_flat = true,
                                      .extremes = true};
    bool mega = false;
    for (const struct series *s = NULL; (s = run_find(run, s, "*rate*"));)
        mega |= strcmp(s->unit, "Mb/s") == 0;
    curves_limit_x(run, plot);
    struct plot_panel *panel = plot_add_panel(plot, "rate, Gb/s");
    if (!curves_add(run, &rates, mega ? 1e-3 : 1e-9, PLOT_LINES, panel))
        return;
    panel = plot_add_panel(plot, "alpha, of 1024");
    alphas.hosts = plot->panels[0].note ? &plot->panels[0] : NULL;
    if (curves_add(run, &alphas, 1, PLOT_LINES, panel))
        plot_match_colours(panel, &plot->panels[0]);
    else
        plot_drop_panel(plot);
}

static const char ecn_caption[] = "Packets marked by the switch, marked packets seen by the notification "
                                  "point, CNPs sent, and CNPs handled "
                                  "by the reaction point.";

static void fill_ecn(const struct run *run, struct plot *plot)
{
    static const struct curves_selection marks = {
        .pattern = "*", .group = COUNTER_GROUP_ECN, .kind = COLUMN_COUNTER};
    static const struct curves_selection drops = {
        .pattern = "qdisc_*_@(early|pdrop)", .group = CURVES_ANY_GROUP, .kind = COLUMN_COUNTER};
    curves_limit_x(run, plot);
    if (!curves_add(run, &marks, 1, PLOT_STEPS, plot_add_panel(plot, "packets/s")))
        plot_drop_panel(plot);
    if (!curves_add(run, &drops, 1, PLOT_STEPS, plot_add_panel(plot, "dropped, packets/s")))
        curves_leave_out(run, &drops, plot);
    else
        plot->caption =
            xasprintf("%s Below, packets that RED dropped in place of marking them.", ecn_caption);
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
    {"pcie", "PCIe rates", "time, s", pcie_rates, .run = fill_pcie},
    {"pause-cdf", "Length of pauses", "length of a pause, us",
     "Cumulative distribution of the lengths of single pauses.", .run = fill_pause_cdf},
    {"queues", "Queues", "time, s", queues_caption, .run = fill_queues},
    {"switch-pauses", "Pauses at switch ports", "time, s",
     "PFC frames that ports of switches received and sent, as often as the switch copies its counters.",
     .run = fill_switch_pauses},
    {"dcqcn", "Reaction point", "time, s",
     "Permitted rate of each flow, and alpha where its congestion control has one.", .run = fill_dcqcn},
    {"ecn", "ECN marks and CNPs", "time, s", ecn_caption, .run = fill_ecn},
    {0},
};
