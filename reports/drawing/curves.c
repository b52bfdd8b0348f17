#include "reports/drawing/curves.h"

#include "lib/clock.h"
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BINS        240  /* points of a rate over the run: more would only show noise */
#define GROUPS      1000 /* of a gauge's samples in a picture: more than it has columns */
#define DETAIL_BINS 2000 /* of a rate on the interactive page */
#define DETAIL_LEAST                                                                                         \
    64 /* points of a curve on the interactive page: with more curves than that allows, the rest is left out \
          \ */

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

/* Where points go: into the picture or, finer, onto the interactive page. */
struct pen {
    struct plot_series *to;
    bool detail;
    size_t most; /* points, about */
};

static void pen_to(const struct pen *pen, double x, double y)
{
    if (pen->detail)
        plot_add_detail(pen->to, x, y, 0);
    else
        plot_add_point(pen->to, x, y);
}

/* The counter's rise per second times `scale`, over bins of the measure phase. */
static void add_rate(const struct run *run, const struct series *s, double scale, const struct pen *pen)
{
    int64_t bin =
        s->count > pen->most || !pen->detail ? (run->end_ns - run->start_ns) / (int64_t)pen->most : 0;
    size_t from = 0;
    while (from < s->count && !curves_in_measure(run, s->time_ns[from]))
        from++;
    for (size_t i = from + 1; i < s->count && curves_in_measure(run, s->time_ns[i]); i++) {
        int64_t passed = s->time_ns[i] - s->time_ns[from];
        if (passed < bin || passed <= 0)
            continue;
        double middle = curves_x(run, s->time_ns[from] + passed / 2);
        pen_to(pen, middle, (double)(s->value[i] - s->value[from]) * scale / seconds(passed));
        from = i;
    }
}

/* The samples, or of each group of them the least and the greatest. Returns the samples of a group, 0 if
 * there are no groups. */
static size_t add_gauge(const struct run *run, const struct series *s, double scale, const struct pen *pen)
{
    size_t count = 0, held = 0, low = 0, high = 0;
    for (size_t i = 0; i < s->count; i++)
        count += curves_in_measure(run, s->time_ns[i]);
    size_t group = count > pen->most ? (2 * count + pen->most - 1) / pen->most : 1;
    for (size_t i = 0; i < s->count; i++) {
        if (!curves_in_measure(run, s->time_ns[i]))
            continue;
        low = !held || s->value[i] < s->value[low] ? i : low;
        high = !held || s->value[i] >= s->value[high] ? i : high;
        count--;
        if (++held < group && count)
            continue;
        size_t first = low < high ? low : high, last = low < high ? high : low;
        pen_to(pen, curves_x(run, s->time_ns[first]), (double)s->value[first] * scale);
        if (last != first)
            pen_to(pen, curves_x(run, s->time_ns[last]), (double)s->value[last] * scale);
        held = 0;
    }
    return group > 1 ? group * (s->of ? s->of / 2 : 1) : s->of;
}

/* In the measure phase or, if `ever`, at any time. */
static bool changes(const struct run *run, const struct series *s, bool ever)
{
    const int64_t *first = NULL;
    for (size_t i = 0; i < s->count; i++) {
        if (!ever && !curves_in_measure(run, s->time_ns[i]))
            continue;
        if (first && s->value[i] != *first)
            return true;
        first = first ? first : &s->value[i];
    }
    return false;
}

/* Is it a port's part ("port3_ecn_marked") of what the same switch counts in all ("ecn_marked")? */
static bool is_part(const struct run *run, const struct series *s)
{
    const char *rest = strncmp(s->name, "port", 4) == 0 ? s->name + 4 : NULL;
    size_t digits = rest ? strspn(rest, "0123456789") : 0;
    if (!digits || rest[digits] != '_')
        return false;
    return run_series(run, s->host, rest + digits + 1);
}

/* Is the host one of those that the panel's curves are of? Their labels begin with it. */
static bool is_drawn(const struct plot_panel *panel, const char *host)
{
    size_t length = strlen(host);
    for (size_t i = 0; i < panel->series_count; i++) {
        const char *label = panel->series[i].label;
        if (strncmp(label, host, length) == 0 && (label[length] == ' ' || !label[length]))
            return true;
    }
    return false;
}

static bool selected(const struct run *run, const struct series *s, const struct curves_selection *wanted)
{
    return fnmatch(wanted->pattern, s->name, FNM_EXTMATCH) == 0 && s->kind == wanted->kind &&
           (wanted->group == CURVES_ANY_GROUP || strcmp(counter_group_names[wanted->group], s->group) == 0) &&
           (!wanted->unit || strcmp(wanted->unit, s->unit) == 0) &&
           (wanted->even_flat || changes(run, s, wanted->stalled)) &&
           (!wanted->hosts || is_drawn(wanted->hosts, s->host)) && !is_part(run, s);
}

/* What decides which series are drawn: a counter's increase; a gauge's largest value or, for extremes, its
 * mean. */
static double weight(const struct run *run, const struct series *s, bool mean)
{
    double most = 0, sum = 0;
    size_t count = 0;
    int64_t first = 0;
    for (size_t i = 0; i < s->count; i++) {
        if (!curves_in_measure(run, s->time_ns[i]))
            continue;
        first = count++ ? first : s->value[i];
        double value = (double)(s->kind == COLUMN_COUNTER ? s->value[i] - first : s->value[i]);
        most = value > most ? value : most;
        sum += value;
    }
    return mean && s->kind == COLUMN_GAUGE && count ? sum / (double)count : most;
}

struct candidate {
    const struct series *series;
    double weight;
};

static int by_weight(const void *left, const void *right)
{
    const struct candidate *a = left, *b = right;
    int order = (a->weight > b->weight) - (a->weight < b->weight);
    return order ? order : (a->series > b->series) - (a->series < b->series);
}

static int by_column(const void *left, const void *right)
{
    const struct candidate *a = left, *b = right;
    return (a->series > b->series) - (a->series < b->series);
}

/* All selected series, in the order of the columns; NULL when there are none. The caller frees them. */
static struct candidate *find_series(const struct run *run, const struct curves_selection *wanted,
                                     size_t *count)
{
    struct candidate *all = calloc(run->series_count + 1, sizeof *all);
    *count = 0;
    for (size_t i = 0; all && i < run->series_count; i++) {
        const struct series *s = &run->series[i];
        if (selected(run, s, wanted))
            all[(*count)++] = (struct candidate){s, weight(run, s, wanted->extremes)};
    }
    return all;
}

/* Less than a fiftieth of another curve of its host: CNPs and acknowledgements beside data. */
static bool is_minor(const struct candidate *all, size_t count, const struct candidate *one)
{
    for (size_t i = 0; i < count; i++)
        if (one->weight * 50 < all[i].weight && strcmp(all[i].series->host, one->series->host) == 0)
            return true;
    return false;
}

/* Where there are too many, the lowest are to be of a host's main curves. Returns how many are left. */
static size_t drop_minor(struct candidate *all, size_t count)
{
    size_t kept = 0;
    struct candidate *major = calloc(count + 1, sizeof *major);
    for (size_t i = 0; major && i < count; i++)
        if (!is_minor(all, count, &all[i]))
            major[kept++] = all[i];
    if (!major)
        return count;
    memcpy(all, major, kept * sizeof *all);
    free(major);
    return kept;
}

/* Keep at most CURVES_MAX: the highest, or half of them the lowest. Returns how many. */
static size_t choose(struct candidate *all, size_t count, bool extremes)
{
    size_t low = extremes ? CURVES_MAX / 2 : 0, high = CURVES_MAX - low;
    if (count <= CURVES_MAX)
        return count;
    qsort(all, count, sizeof *all, by_weight);
    memmove(all + low, all + count - high, high * sizeof *all);
    qsort(all, CURVES_MAX, sizeof *all, by_column);
    return CURVES_MAX;
}

static void note_choice(struct plot_panel *panel, size_t drawn, size_t all, bool extremes)
{
    char words[96];
    if (drawn == all)
        return;
    if (extremes)
        snprintf(words, sizeof words, "%zu of %zu: the %d lowest and the %d highest", drawn, all,
                 CURVES_MAX / 2, CURVES_MAX - CURVES_MAX / 2);
    else
        snprintf(words, sizeof words, "%zu of %zu: the highest", drawn, all);
    plot_note(panel, words);
}

/* ---- the interactive page */

/* A length of time as a reader would say it. */
static void add_length(double s, struct text *out)
{
    if (s < 1e-3)
        text_add(out, "%.3g us", s * 1e6);
    else if (s < 1)
        text_add(out, "%.3g ms", s * 1e3);
    else
        text_add(out, "%.3g s", s);
}

/* Say how points come from samples, if they are not the samples themselves, and which curves are missing.
 * `all` are drawn, `more` are beside them. */
static void note_kept(const struct run *run, const struct candidate *all, size_t count, size_t more,
                      size_t left_out, size_t each, size_t samples_of, struct plot_panel *panel)
{
    struct text words = {0};
    size_t rates = 0, samples = 0;
    for (size_t i = 0; i < count; i++) {
        const struct series *s = all[i].series;
        bool rate = s->kind == COLUMN_COUNTER;
        rates += rate;
        samples = s->count > samples ? s->count : samples;
        if (rate && s->count <= each && s->of > samples_of) /* they were thinned before */
            samples_of = s->of;
    }
    if (rates && samples > each) {
        text_add(&words, "Each rate is the mean over ");
        add_length(seconds(run->end_ns - run->start_ns) / (double)each, &words);
    } else if (rates) {
        text_add(&words, "Each rate is that from a sample to the next");
    }
    if (samples_of)
        text_add(&words,
                 "%sown-sampled: of each %zu samples of a curve, the smallest and the largest are kept",
                 words.length ? "; d" : "D", samples_of);
    if (left_out)
        text_add(&words, "%s%zu of %zu curves are here, those with the highest values",
                 words.length ? ". " : "", count + more, count + more + left_out);
    free(panel->kept);
    panel->kept = words.length ? text_take(&words) : NULL;
}

static void add_curve(const struct run *run, const struct series *s, double scale, const struct pen *pen,
                      size_t *samples_of)
{
    size_t of = 0;
    if (s->kind == COLUMN_COUNTER)
        add_rate(run, s, scale, pen);
    else
        of = add_gauge(run, s, scale, pen);
    *samples_of = of > *samples_of ? of : *samples_of;
}

static bool among(const struct candidate *all, size_t count, const struct series *s)
{
    for (size_t i = 0; i < count; i++)
        if (all[i].series == s)
            return true;
    return false;
}

/* What is selected and not drawn, in the order of the columns: no more of them than
 * can have DETAIL_LEAST points each. */
static struct candidate *find_more(const struct run *run, const struct curves_selection *wanted,
                                   const struct candidate *drawn, size_t drawn_count, size_t most,
                                   size_t *count, size_t *left_out)
{
    struct curves_selection all_hosts = *wanted;
    size_t all, kept = 0;
    all_hosts.hosts = NULL;
    struct candidate *more = find_series(run, &all_hosts, &all);
    for (size_t i = 0; more && i < all; i++)
        if (!among(drawn, drawn_count, more[i].series))
            more[kept++] = more[i];
    most = most > drawn_count ? most - drawn_count : 0;
    *left_out = kept > most ? kept - most : 0;
    if (*left_out) {
        qsort(more, kept, sizeof *more, by_weight);
        memmove(more, more + kept - most, most * sizeof *more);
        kept = most;
        qsort(more, kept, sizeof *more, by_column);
    }
    *count = kept;
    return more;
}

/* The drawn curves in more detail, and the others. `name`: the counter that labels do not name, or NULL. */
static void add_details(const struct run *run, const struct curves_selection *wanted, double scale,
                        enum plot_style style, const struct candidate *drawn, size_t drawn_count,
                        const char *name, struct plot_panel *panel)
{
    size_t count, left_out, samples_of = 0, before = panel->series_count - drawn_count;
    struct candidate *more =
        find_more(run, wanted, drawn, drawn_count, panel->detail / DETAIL_LEAST, &count, &left_out);
    size_t each = panel->detail / (drawn_count + count);
    struct pen pen = {.detail = true, .most = each < DETAIL_BINS ? each : DETAIL_BINS};
    if (drawn[0].series->kind == COLUMN_GAUGE)
        pen.most = each;
    for (size_t i = 0; i < drawn_count; i++) {
        pen.to = &panel->series[before + i];
        add_curve(run, drawn[i].series, scale, &pen, &samples_of);
    }
    for (size_t i = 0; more && i < count; i++) {
        const struct series *s = more[i].series;
        bool known = name && strcmp(name, s->name) == 0;
        char label[160];
        snprintf(label, sizeof label, "%s%s%s", s->host, known ? "" : " ", known ? "" : s->name);
        pen.to = plot_add_more(panel, label, style);
        add_curve(run, s, scale, &pen, &samples_of);
    }
    note_kept(run, drawn, drawn_count, count, left_out, pen.most, samples_of, panel);
    free(more);
}

/* ---- both */

size_t curves_add(const struct run *run, const struct curves_selection *wanted, double scale,
                  enum plot_style style, struct plot_panel *panel)
{
    size_t all;
    struct candidate *chosen = find_series(run, wanted, &all);
    if (chosen && wanted->extremes && all > CURVES_MAX)
        all = drop_minor(chosen, all);
    size_t n = chosen ? choose(chosen, all, wanted->extremes) : 0;
    bool same = n > 4;
    for (size_t i = 1; i < n; i++)
        same &= strcmp(chosen[i].series->name, chosen[0].series->name) == 0;
    for (size_t i = 0; i < n; i++) {
        const struct series *s = chosen[i].series;
        bool counter = s->kind == COLUMN_COUNTER;
        char label[160];
        snprintf(label, sizeof label, "%s%s%s", s->host, same ? "" : " ", same ? "" : s->name);
        struct plot_series *curve = plot_add_series(panel, label, style);
        add_curve(run, s, scale, &(struct pen){.to = curve, .most = counter ? BINS : 2 * GROUPS},
                  &panel->samples_of);
    }
    note_choice(panel, n, n ? all : 0, wanted->extremes);
    if (n && panel->detail)
        add_details(run, wanted, scale, style, chosen, n, same ? chosen[0].series->name : NULL, panel);
    free(chosen);
    return n;
}
