#include "reports/drawing/curves.h"

#include "lib/clock.h"
#include "lib/physics/fabric.h"
#include "lib/units.h"
#include "lib/xalloc.h"
#include "reports/results/network.h"
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

int64_t curves_clipped(const struct run *run, int64_t start_ns, int64_t end_ns, int64_t *from_ns)
{
    int64_t whole_ns = run->end_ns - run->start_ns;
    *from_ns = start_ns < 0 ? 0 : start_ns;
    end_ns = end_ns > whole_ns ? whole_ns : end_ns;
    return end_ns > *from_ns ? end_ns - *from_ns : 0;
}

void curves_add_length(int64_t ns, struct text *out)
{
    double s = seconds(ns);
    if (s < 1e-3)
        text_add(out, "%.3g us", s * 1e6);
    else if (s < 1)
        text_add(out, "%.3g ms", s * 1e3);
    else
        text_add(out, "%.3g s", s);
}

void curves_say_pauses(const struct run *run, struct plot_panel *panel)
{
    if (run->pauses_left_out)
        plot_lack(panel, "%zu lines of pauses.jsonl are left out: more than can be drawn",
                  run->pauses_left_out);
}

void curves_say_bars(const struct run *run, size_t pauses, size_t bars, int64_t gap_ns,
                     struct plot_panel *panel)
{
    struct text gap = {0};
    curves_add_length(gap_ns, &gap);
    if (bars < pauses)
        plot_say(panel, "%zu pauses are %zu %s: those closer together than %s are one", pauses, bars,
                 THINGS(bars, "bar"), text_string(&gap));
    text_free(&gap);
    curves_say_pauses(run, panel);
}

/* ---- what happens in a run */

#define EVENTS_DRAWN 24
#define EVENTS_OF    64 /* of one fault: a link that flaps */

struct event {
    int64_t time_ns; /* since the measure phase began */
    size_t order;
    char *words;
};

struct events {
    struct event *items;
    size_t count, capacity;
};

static int by_time(const void *left, const void *right)
{
    const struct event *a = left, *b = right;
    int order = (a->time_ns > b->time_ns) - (a->time_ns < b->time_ns);
    return order ? order : (a->order > b->order) - (a->order < b->order);
}

/* One within the measure phase; the words become its own. */
static void add_event(const struct run *run, struct events *events, int64_t time_ns, char *words)
{
    if (time_ns <= 0 || time_ns >= run->end_ns - run->start_ns) {
        free(words);
        return;
    }
    if (events->count == events->capacity) {
        events->capacity = events->capacity ? 2 * events->capacity : 16;
        events->items = xreallocarray(events->items, events->capacity, sizeof *events->items);
    }
    events->items[events->count] = (struct event){time_ns, events->count, words};
    events->count++;
}

static bool read_quantity(const json_t *value, enum unit unit, int64_t *quantity)
{
    const char *words = json_string_value(value);
    return words && units_parse(unit, words, quantity, NULL) == 0;
}

static bool read_time(const json_t *item, const char *key, int64_t *ns)
{
    return read_quantity(json_object_get(item, key), UNIT_TIME_NS, ns);
}

/* At the item's "start" or "stop", if it has one. The words become the event's own. */
static void add_event_of(const struct run *run, const json_t *item, const char *key, int64_t begin_ns,
                         char *words, struct events *events)
{
    int64_t ns;
    if (read_time(item, key, &ns))
        add_event(run, events, begin_ns + ns, words);
    else
        free(words);
}

/* Where the item begins and ends. Both words become those of the events. */
static void add_span(const struct run *run, const json_t *item, int64_t begin_ns, char *begins, char *ends,
                     struct events *events)
{
    add_event_of(run, item, "start", begin_ns, begins, events);
    add_event_of(run, item, "stop", begin_ns, ends, events);
}

/* When the phase (that of the warm-up if it is unset) began, since the measure phase did. */
static int64_t phase_ns(const struct run *run, const char *name)
{
    const json_t *phase;
    size_t i;
    json_array_foreach(run_get(run, "phases"), i, phase)
    {
        if (strcmp(run_member(phase, "name"), *name ? name : "warmup") == 0)
            return json_integer_value(json_object_get(phase, "start_ns")) - run->start_ns;
    }
    return 0;
}

/* Flows that begin and end. */
static void add_flow_events(const struct run *run, const char *list, struct events *events)
{
    const json_t *flow;
    int64_t begin_ns = phase_ns(run, "");
    size_t i;
    json_array_foreach(run_get(run, list), i, flow)
    {
        const char *name = run_member(flow, "name");
        add_span(run, flow, begin_ns, xasprintf("%s begins", name), xasprintf("%s ends", name), events);
    }
}

/* A link that goes down and comes up again in each period. */
static void add_flaps(const struct run *run, const json_t *fault, const char *link, int64_t first_ns,
                      int64_t period_ns, struct events *events)
{
    const json_t *duty = json_object_get(fault, "duty");
    double down = json_is_number(duty) ? json_number_value(duty) : 0.5;
    int64_t count = json_integer_value(json_object_get(fault, "count"));
    for (int64_t k = 0; k < count && k < EVENTS_OF; k++) {
        int64_t begin_ns = first_ns + k * period_ns;
        add_event(run, events, begin_ns, xasprintf("%s down", link));
        add_event(run, events, begin_ns + (int64_t)(down * (double)period_ns), xasprintf("%s up", link));
    }
}

static void add_link_events(const struct run *run, const json_t *fault, struct events *events)
{
    const json_t *ends = json_object_get(fault, "link");
    const char *kind = run_member(fault, "kind"), *a = json_string_value(json_array_get(ends, 0)),
               *b = json_string_value(json_array_get(ends, 1));
    int64_t start_ns, period_ns, begin_ns = phase_ns(run, run_member(fault, "phase"));
    if (!a || !b || !read_time(fault, "start", &start_ns))
        return;
    char *link = xasprintf("%s - %s", a, b);
    if (strcmp(kind, "flap") == 0 && read_time(fault, "period", &period_ns))
        add_flaps(run, fault, link, begin_ns + start_ns, period_ns, events);
    else
        add_span(run, fault, begin_ns, xasprintf("%s %s", link, kind),
                 strcmp(kind, "down") == 0 ? xasprintf("%s up", link) : xasprintf("%s %s ends", link, kind),
                 events);
    free(link);
}

/* Faults of links, and storms. */
static void add_fault_events(const struct run *run, struct events *events)
{
    const json_t *fault;
    size_t i;
    json_array_foreach(run_get(run, "scenario.faults"), i, fault)
    {
        add_link_events(run, fault, events);
    }
    json_array_foreach(run_get(run, "scenario.storms"), i, fault)
    {
        const char *role = run_member(fault, "role");
        add_span(run, fault, phase_ns(run, run_member(fault, "phase")), xasprintf("storm of %s", role),
                 xasprintf("storm of %s ends", role), events);
    }
}

/* Rules of inject that begin or end within the run. */
static void add_injection_events(const struct run *run, struct events *events)
{
    const json_t *rule;
    size_t i;
    json_array_foreach(run_get(run, "scenario.inject"), i, rule)
    {
        const char *name = run_member(rule, "name"), *packet = run_member(rule, "packet");
        char *words =
            *name ? xstrdup(name) : xasprintf("%s of %s", run_member(rule, "do"), *packet ? packet : "data");
        add_span(run, rule, phase_ns(run, run_member(rule, "phase")), xasprintf("%s begins", words),
                 xasprintf("%s ends", words), events);
        free(words);
    }
}

/* A ring of ports is a deadlock from when the last of them waits. */
static void add_deadlock_events(const struct run *run, struct events *events)
{
    const json_t *ring;
    size_t i;
    json_array_foreach(run_get(run, "deadlocks"), i, ring)
    {
        add_event(run, events, json_integer_value(json_object_get(ring, "since_ns")) - run->start_ns,
                  xasprintf("deadlock of %zu ports", json_array_size(json_object_get(ring, "ports"))));
    }
}

/* Links that went down by what was sampled, where no fault of the scenario says when. */
static void add_link_causes(const struct run *run, struct events *events)
{
    const json_t *cause;
    size_t i;
    if (json_array_size(run_get(run, "scenario.faults")))
        return;
    json_array_foreach(json_object_get(run->explanation, "causes"), i, cause)
    {
        const json_t *from_ns = json_object_get(cause, "from_ns");
        if (strcmp(run_member(cause, "kind"), "link-down") == 0 && json_is_integer(from_ns))
            add_event(run, events, json_integer_value(from_ns),
                      xasprintf("%s down", run_member(cause, "culprit")));
    }
}

static void mark_events(const struct run *run, struct plot *plot)
{
    struct events events = {0};
    add_flow_events(run, "scenario.flows", &events);
    add_flow_events(run, "scenario.traffic", &events);
    add_fault_events(run, &events);
    add_link_causes(run, &events);
    add_injection_events(run, &events);
    add_deadlock_events(run, &events);
    if (events.count)
        qsort(events.items, events.count, sizeof *events.items, by_time);
    for (size_t i = 0; i < events.count; i++) {
        if (i < EVENTS_DRAWN)
            plot_add_mark(plot, curves_x(run, events.items[i].time_ns), events.items[i].words);
        free(events.items[i].words);
    }
    if (events.count > EVENTS_DRAWN)
        text_add(&plot->left_out,
                 "Of %zu times at which flows begin or end, or faults do, the first %d are marked",
                 events.count, EVENTS_DRAWN);
    free(events.items);
}

void curves_limit_x(const struct run *run, struct plot *plot)
{
    mark_events(run, plot);
    plot->x_min = 0;
    plot->x_max = curves_x(run, run->end_ns - run->start_ns);
    plot_relabel_x(plot, curves_short(run) ? "time, ms" : "time, s");
}

/* How points came from samples. */
struct drawn {
    size_t rates;
    bool means;                /* a rate spans more than from a sample to the next */
    int64_t least_ns, most_ns; /* that rates span */
    size_t least_of,
        most_of; /* of this number of a gauge's samples the least and the greatest are kept; 1: all */
};

/* Where points go: into the picture or, finer, onto the interactive page. */
struct pen {
    struct plot_series *to;
    bool detail;
    size_t most; /* points, about */
    struct drawn *drawn;
};

static void note_rate(struct drawn *d, int64_t passed_ns, bool mean)
{
    d->least_ns = !d->rates || passed_ns < d->least_ns ? passed_ns : d->least_ns;
    d->most_ns = !d->rates || passed_ns > d->most_ns ? passed_ns : d->most_ns;
    d->means |= mean;
    d->rates++;
}

static void note_gauge(struct drawn *d, size_t of)
{
    d->least_of = !d->least_of || of < d->least_of ? of : d->least_of;
    d->most_of = of > d->most_of ? of : d->most_of;
}

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
        note_rate(pen->drawn, passed, s->of || i - from > 1);
        from = i;
    }
}

/* The samples, or of each group of them the least and the greatest. */
static void add_gauge(const struct run *run, const struct series *s, double scale, const struct pen *pen)
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
    note_gauge(pen->drawn, group > 1 ? group * (s->of ? s->of / 2 : 1) : s->of ? s->of : 1);
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

/* All selected series that are to be drawn, in the order of the columns; NULL when there are none. *still: so
 * many others do not change. The caller frees them. */
static struct candidate *find_series(const struct run *run, const struct curves_selection *wanted,
                                     size_t *count, size_t *still)
{
    struct candidate *all = calloc(run->series_count + 1, sizeof *all);
    *count = *still = 0;
    for (size_t i = 0; all && i < run->series_count; i++) {
        const struct series *s = &run->series[i];
        if (!selected(run, s, wanted))
            continue;
        if (!wanted->even_flat && !changes(run, s, wanted->stalled))
            ++*still;
        else
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

/* Which curves of how many these are: `main` are left without minor ones, of which `drawn` are drawn. */
static void note_choice(struct plot_panel *panel, const struct curves_selection *wanted, size_t drawn,
                        size_t main)
{
    struct text words = {0};
    if (wanted->hosts)
        text_add(&words, "of the hosts above");
    if (drawn < main)
        text_add(&words, "%s%zu of %zu: the ", words.length ? ", " : "", drawn, main);
    if (drawn < main && wanted->extremes)
        text_add(&words, "%d lowest and the %d highest", CURVES_MAX / 2, CURVES_MAX - CURVES_MAX / 2);
    else if (drawn < main)
        text_add(&words, "highest");
    if (words.length)
        plot_note(panel, text_string(&words));
    text_free(&words);
}

static void say_left_out(size_t minor, size_t still, struct plot_panel *panel)
{
    if (minor)
        plot_say(panel, "%zu curves below a fiftieth of another of their host are left out", minor);
    if (still)
        plot_say(panel,
                 still == 1 ? "%zu curve that never changes is left out"
                            : "%zu curves that never change are left out",
                 still);
}

/* How points come from samples, if they are not the samples themselves. */
static void add_drawn(const struct drawn *d, const char *verb, struct text *words)
{
    if (d->means) {
        text_add(words, "Each rate is the mean over ");
        curves_add_length(d->least_ns, words);
        if ((double)d->most_ns > 1.05 * (double)d->least_ns) {
            text_add(words, " to ");
            curves_add_length(d->most_ns, words);
        }
    } else if (d->rates) {
        text_add(words, "Each rate is that from a sample to the next");
    }
    if (d->most_of < 2)
        return;
    text_add(words, "%sown-sampled: of each ", words->length ? "; d" : "D");
    if (d->least_of < d->most_of)
        text_add(words, "%zu to ", d->least_of);
    text_add(words, "%zu samples of a curve, the smallest and the largest are %s", d->most_of, verb);
}

/* ---- the interactive page */

/* The same for it, and which curves are missing: of `all` there. */
static void note_kept(const struct drawn *d, size_t all, size_t left_out, size_t still,
                      struct plot_panel *panel)
{
    struct text words = {0};
    add_drawn(d, "kept", &words);
    if (left_out)
        text_add(&words, "%s%zu of %zu curves are here, those with the highest values",
                 words.length ? ". " : "", all - left_out, all);
    if (still)
        text_add(&words, "%s%zu curve%s left out", words.length ? ". " : "", still,
                 still == 1 ? " that never changes is" : "s that never change are");
    free(panel->kept);
    panel->kept = words.length ? text_take(&words) : NULL;
}

static void add_curve(const struct run *run, const struct series *s, double scale, const struct pen *pen)
{
    if (s->kind == COLUMN_COUNTER)
        add_rate(run, s, scale, pen);
    else
        add_gauge(run, s, scale, pen);
}

static char *label_of(const struct series *s, bool host_alone)
{
    return host_alone ? xstrdup(s->host) : xasprintf("%s %s", s->host, s->name);
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
                                   size_t *count, size_t *left_out, size_t *still)
{
    struct curves_selection all_hosts = *wanted;
    size_t all, kept = 0;
    all_hosts.hosts = NULL;
    struct candidate *more = find_series(run, &all_hosts, &all, still);
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
    size_t count, left_out, still, before = panel->series_count - drawn_count;
    struct drawn how = {0};
    struct candidate *more =
        find_more(run, wanted, drawn, drawn_count, panel->detail / DETAIL_LEAST, &count, &left_out, &still);
    size_t each = panel->detail / (drawn_count + count);
    struct pen pen = {.detail = true, .most = each < DETAIL_BINS ? each : DETAIL_BINS, .drawn = &how};
    if (drawn[0].series->kind == COLUMN_GAUGE)
        pen.most = each;
    for (size_t i = 0; i < drawn_count; i++) {
        pen.to = &panel->series[before + i];
        add_curve(run, drawn[i].series, scale, &pen);
    }
    for (size_t i = 0; more && i < count; i++) {
        const struct series *s = more[i].series;
        bool known = name && strcmp(name, s->name) == 0;
        char *label = label_of(s, known);
        pen.to = plot_add_more(panel, label, style);
        free(label);
        add_curve(run, s, scale, &pen);
    }
    note_kept(&how, drawn_count + count + left_out, left_out, still, panel);
    free(more);
}

/* ---- thresholds of switches */

#define LEVELS_DRAWN 8

/* A size of the simulated switch, by its key in the lab, or what it is without. */
static double size_of(const struct run *run, const char *node, const char *key)
{
    const json_t *own = json_object_get(json_object_get(run_get(run, "lab.switches"), node), key),
                 *common = json_object_get(run_get(run, "lab.defaults.switch"), key);
    const struct field *field = physics_switch_table.fields;
    while (field->name && strcmp(field->name, key) != 0)
        field++;
    json_t *otherwise = field->name ? json_loads(field->fallback, JSON_DECODE_ANY, NULL) : NULL;
    int64_t bytes;
    bool known = read_quantity(own ? own : common ? common : otherwise, UNIT_BYTES, &bytes);
    json_decref(otherwise);
    return known ? (double)bytes : 0;
}

/* A threshold of marking as the scenario sets it, else as the lab has it; 0: none is known. */
static int64_t threshold_of(const struct run *run, const char *node, const char *key, bool *scales)
{
    const json_t *set = json_object_get(json_object_get(run_get(run, "scenario.settings_of"), node),
                                        "ecn_threshold"),
                 *own = json_object_get(
                     json_object_get(json_object_get(run_get(run, "lab.switches"), node), "ecn"), key),
                 *common = json_object_get(run_get(run, "lab.defaults.switch.ecn"), key),
                 *value = set   ? json_object_get(set, key)
                          : own ? own
                                : common;
    int64_t bytes;
    *scales = !own || set;
    return read_quantity(value, UNIT_BYTES, &bytes) ? bytes : 0;
}

/* The rate of the port of the switch that the curve "s0 port16_prio3_queue_bytes" is of; 0: unknown. */
static double rate_of(const struct network *network, const char *node, const char *label)
{
    unsigned number;
    const char *at = strstr(label, " port");
    if (!at || sscanf(at, " port%u_", &number) != 1)
        return 0;
    char *name = xasprintf("%s:%u", node, number);
    size_t port = network_port(network, name);
    free(name);
    return port == NETWORK_NONE ? 0 : network->ports[port].rate_bps;
}

static void add_threshold(double bytes, const char *name, struct plot_panel *panel)
{
    char label[48];
    snprintf(label, sizeof label, "%s %.4g KiB", name, bytes / 1024);
    for (size_t i = 0; i < panel->level_count; i++) {
        char *known = panel->levels[i].label;
        if (panel->levels[i].y != bytes / 1024)
            continue;
        if (!strstr(known, name)) {
            panel->levels[i].label = xasprintf("%s, %s", name, known);
            free(known);
        }
        return;
    }
    if (panel->level_count < LEVELS_DRAWN)
        plot_add_level(panel, bytes / 1024, label);
    else if (!strstr(text_string(&panel->lacks), "more thresholds than"))
        plot_lack(panel, "more thresholds than the %d that are drawn are left out", LEVELS_DRAWN);
}

bool curves_add_held(const struct run *run, struct plot *plot)
{
    static const struct curves_selection held = {.pattern = "port*_prio[0-7]_ingress_bytes",
                                                 .group = COUNTER_GROUP_QUEUE,
                                                 .kind = COLUMN_GAUGE,
                                                 .unit = "bytes"};
    struct plot_panel *panel = plot_add_panel(plot, "held of a port, KiB");
    if (!curves_add(run, &held, 1.0 / 1024, PLOT_LINES, panel)) {
        plot_drop_panel(plot);
        return false;
    }
    bool known = false;
    for (size_t i = 0; i < panel->series_count; i++) {
        const char *label = panel->series[i].label;
        char *node = xasprintf("%.*s", (int)strcspn(label, " "), label);
        double xoff = size_of(run, node, "xoff"), reserve = size_of(run, node, "reserve");
        known = known || xoff > 0;
        if (xoff > 0) {
            add_threshold(reserve + xoff, "xoff", panel);
            add_threshold(reserve + xoff - size_of(run, node, "xon_offset"), "xon", panel);
        }
        free(node);
    }
    if (!known) /* by the free part of the buffer */
        plot_drop_panel(plot);
    return known;
}

/* xoff and xon of the receive buffers that lossless priorities go into, each value once. */
void curves_add_xoff(const struct run *run, struct plot_panel *panel)
{
    const char *role;
    json_t *host;
    json_object_foreach((json_t *)(uintptr_t)run_get(run, "hosts"), role, host)
    {
        size_t i;
        json_t *buffer;
        json_array_foreach(json_object_get(host, "buffers"), i, buffer)
        {
            double xoff = json_number_value(json_object_get(buffer, "xoff_bytes")),
                   xon = json_number_value(json_object_get(buffer, "xon_bytes"));
            if (!json_array_size(json_object_get(buffer, "priorities")))
                continue;
            if (xoff > 0)
                add_threshold(xoff, "xoff", panel);
            if (xon > 0)
                add_threshold(xon, "xon", panel);
        }
    }
}

void curves_add_marking(const struct run *run, struct plot_panel *panel)
{
    static const char *const keys[] = {"kmin", "kmax"};
    struct network network;
    int64_t reference_bps;
    const json_t *ecn = run_get(run, "scenario.settings.ecn");
    if (json_is_array(ecn) && !json_array_size(ecn)) /* no packet can be marked */
        return;
    if (!read_quantity(run_get(run, "lab.defaults.switch.ecn.reference"), UNIT_RATE_BPS, &reference_bps))
        reference_bps = 0;
    network_open(&network, run);
    for (size_t i = 0; i < panel->series_count; i++) {
        const char *label = panel->series[i].label;
        char *node = xasprintf("%.*s", (int)strcspn(label, " "), label);
        double rate = rate_of(&network, node, label);
        for (size_t k = 0; k < 2 && rate > 0; k++) {
            bool scales;
            double bytes = (double)threshold_of(run, node, keys[k], &scales);
            if (bytes > 0 && (scales || !reference_bps))
                add_threshold(bytes * (reference_bps ? rate / (double)reference_bps : 1), keys[k], panel);
        }
        free(node);
    }
    network_free(&network);
}

/* ---- both */

void curves_leave_out(const struct run *run, const struct curves_selection *wanted, struct plot *plot)
{
    size_t all, still;
    free(find_series(run, wanted, &all, &still));
    if (still)
        plot_leave_out(plot);
    else
        plot_drop_panel(plot);
}

size_t curves_add(const struct run *run, const struct curves_selection *wanted, double scale,
                  enum plot_style style, struct plot_panel *panel)
{
    size_t all, still;
    struct drawn how = {0};
    struct text words = {0};
    struct candidate *chosen = find_series(run, wanted, &all, &still);
    size_t main = chosen && wanted->extremes && all > CURVES_MAX ? drop_minor(chosen, all) : all;
    size_t n = chosen ? choose(chosen, main, wanted->extremes) : 0;
    bool same = n > 4;
    for (size_t i = 1; i < n; i++)
        same &= strcmp(chosen[i].series->name, chosen[0].series->name) == 0;
    for (size_t i = 0; i < n; i++) {
        const struct series *s = chosen[i].series;
        bool counter = s->kind == COLUMN_COUNTER;
        char *label = label_of(s, same);
        struct plot_series *curve = plot_add_series(panel, label, style);
        free(label);
        add_curve(run, s, scale,
                  &(struct pen){.to = curve, .most = counter ? BINS : 2 * GROUPS, .drawn = &how});
    }
    add_drawn(&how, "drawn", &words);
    if (words.length)
        plot_say(panel, "%s", text_string(&words));
    text_free(&words);
    if (n) {
        note_choice(panel, wanted, n, main);
        say_left_out(all - main, still, panel);
    }
    if (n && panel->detail)
        add_details(run, wanted, scale, style, chosen, n, same ? chosen[0].series->name : NULL, panel);
    free(chosen);
    return n;
}
