/* Counters of one run as curves over time, for the figures of a run. */
#ifndef REPORTS_CURVES_H
#define REPORTS_CURVES_H

#include "lib/roce/counters.h"
#include "reports/drawing/plot.h"
#include "reports/results/run.h"

#define CURVES_MAX       10 /* curves in one panel */
#define CURVES_ANY_GROUP (-1)

/* Which series become curves. */
struct curves_selection {
    const char *pattern; /* of the counter's name, with @(a|b) */
    int group;           /* enum counter_group, or CURVES_ANY_GROUP */
    enum column_kind kind;
    const char *unit; /* or NULL */
    bool even_flat;   /* also those that do not change in the measure phase */
    bool stalled;     /* also those that changed only before or after it: a sender that is stopped */
    bool extremes;    /* of too many, those with the lowest and the highest mean; else the highest */
    const struct plot_panel *hosts; /* NULL, or only series of the hosts that this panel's curves are of */
};

/* Each selected series becomes a curve "host name", or "host" where all have the same name; at most
 * CURVES_MAX, and the panel says which of how many, and how their points come from samples. What one port of
 * a switch counts is left out beside the switch's sum. A counter is drawn as its rise per second; values are
 * multiplied by `scale`. Returns how many there are. */
size_t curves_add(const struct run *run, const struct curves_selection *wanted, double scale,
                  enum plot_style style, struct plot_panel *panel);

/* Remove the last panel, to which curves_add added nothing; with a word if what was selected was sampled, and
 * never changes. */
void curves_leave_out(const struct run *run, const struct curves_selection *wanted, struct plot *plot);

/* The lengths of egress queues from and up to which the switches of the panel's curves mark, where the result
 * has them, as lines at KiB. */
void curves_add_marking(const struct run *run, struct plot_panel *panel);
/* xoff and xon of the hosts' receive buffers as lines at KiB, each value once. */
void curves_add_xoff(const struct run *run, struct plot_panel *panel);
/* A panel of what simulated switches with a fixed xoff hold of their ingress ports, with xoff and xon; false,
 * and none, where the free part of the buffer sets it, or where nothing is held. */
bool curves_add_held(const struct run *run, struct plot *plot);

/* The x axis is the measure phase, with marks where flows begin and end and faults do, in seconds, or in
 * milliseconds for a run of less than a second. */
void curves_limit_x(const struct run *run, struct plot *plot);
bool curves_short(const struct run *run);
/* A time since the beginning of the measure phase as the x axis shows it. */
double curves_x(const struct run *run, int64_t ns);
bool curves_in_measure(const struct run *run, int64_t time_ns);
/* The part of a time that is in the measure phase: its length, 0 if there is none. Times are since the phase
 * began. */
int64_t curves_clipped(const struct run *run, int64_t start_ns, int64_t end_ns, int64_t *from_ns);
/* A length of time as a reader would say it. */
void curves_add_length(int64_t ns, struct text *out);
/* That pauses are missing, if they are. */
void curves_say_pauses(const struct run *run, struct plot_panel *panel);
/* The same under bars, and how many pauses they are of: those closer together than the gap are one. */
void curves_say_bars(const struct run *run, size_t pauses, size_t bars, int64_t gap_ns,
                     struct plot_panel *panel);

#endif
