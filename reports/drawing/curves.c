#include "reports/drawing/curves.h"

#include "lib/clock.h"
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#define BINS 240 /* points of a rate over the run: more would only show noise */

static double seconds(int64_t ns)
{
    return (double)ns / NS_PER_S;
}

bool curves_short(const struct run *run)
{
    return run->end_ns - run->start_ns < NS_PER_S;
}

double curves_x(const struct run *run, int64_t ns)
{
    return curves_short(run) ? (double)ns / NS_PER_MS : seconds(ns);
}

bool curves_in_measure(const struct run *run, int64_t time_ns)
{
    return time_ns >= 0 && time_ns <= run->end_ns - run->start_ns;
}

void curves_limit_x(const struct run *run, struct plot *plot)
{
    plot->x_min = 0;
    plot->x_max = curves_x(run, run->end_ns - run->start_ns);
    plot_relabel_x(plot, curves_short(run) ? "time, ms" : "time, s");
}

/* The counter's rise per second times `scale`, over bins of the measure phase. */
static void add_rate(const struct run *run, const struct series *s, double scale, struct plot_series *out)
{
    int64_t bin = (run->end_ns - run->start_ns) / BINS;
    size_t from = 0;
    while (from < s->count && !curves_in_measure(run, s->time_ns[from]))
        from++;
    for (size_t i = from + 1; i < s->count && curves_in_measure(run, s->time_ns[i]); i++) {
        int64_t passed = s->time_ns[i] - s->time_ns[from];
        if (passed < bin || passed <= 0)
            continue;
        double middle = curves_x(run, s->time_ns[from] + passed / 2);
        plot_add_point(out, middle, (double)(s->value[i] - s->value[from]) * scale / seconds(passed));
        from = i;
    }
}

static void add_gauge(const struct run *run, const struct series *s, double scale, struct plot_series *out)
{
    for (size_t i = 0; i < s->count; i++)
        if (curves_in_measure(run, s->time_ns[i]))
            plot_add_point(out, curves_x(run, s->time_ns[i]), (double)s->value[i] * scale);
}

static bool changes(const struct series *s)
{
    for (size_t i = 1; i < s->count; i++)
        if (s->value[i] != s->value[0])
            return true;
    return false;
}

static bool selected(const struct series *s, const struct curves_selection *wanted)
{
    return fnmatch(wanted->pattern, s->name, FNM_EXTMATCH) == 0 && s->kind == wanted->kind &&
           (wanted->group == CURVES_ANY_GROUP || strcmp(counter_group_names[wanted->group], s->group) == 0) &&
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

/* The selected series, at most CURVES_MAX: the most important ones, in the order of the columns. */
static size_t select_series(const struct run *run, const struct curves_selection *wanted,
                            const struct series **chosen)
{
    double weights[CURVES_MAX];
    size_t n = 0;
    for (const struct series *s = run->series; s < run->series + run->series_count; s++) {
        if (!selected(s, wanted))
            continue;
        if (n == CURVES_MAX) { /* replace the least important series if this one is more important */
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

size_t curves_add(const struct run *run, const struct curves_selection *wanted, double scale,
                  enum plot_style style, struct plot_panel *panel)
{
    const struct series *chosen[CURVES_MAX];
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
