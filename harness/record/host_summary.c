#include "harness/record/recorded.h"

#include "lib/clock.h"
#include "lib/document/json_text.h"
#include "lib/names/range.h"
#include "lib/roce/counters.h"
#include "lib/statistics/distribution.h"
#include "lib/xalloc.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- summaries of hosts */

#define TALLY_HIGHEST 0.999

static void add_tally_quantiles(const struct tally *tally, json_t *json)
{
    static const struct {
        const char *key;
        double q;
    } kept[] = {{"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}, {"p99_9", TALLY_HIGHEST}};
    int64_t value;
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        if (tally_quantile(tally, kept[i].q, &value))
            json_object_set_new(json, kept[i].key, json_integer(value));
}

/* How long of the measure phase the column says nothing of; 0: of at most a tenth. */
static int64_t column_unread_ns(const struct recorder *r, const struct recorded_host *host,
                                const struct recorded_column *g)
{
    int64_t phase_ns = r->end_ns - r->start_ns, late_ns = recorded_later_ns(g->first_ns, r->start_ns),
            early_ns = recorded_later_ns(r->end_ns, g->last_ns),
            unread_ns = g->column.kind == COLUMN_COUNTER
                            ? recorded_sum(late_ns, early_ns)
                            : recorded_sum(g->unread_ns, recorded_long_gap_ns(r, host, early_ns));
    /* the clock of a sampler was set ahead: which values are those of the phase is unknown */
    if (unread_ns > phase_ns ||
        (host->says_end && g->last_ns - g->first_ns > clock_monotonic_ns() - r->opened_ns))
        return phase_ns;
    return unread_ns > phase_ns / 10 ? unread_ns : 0;
}

/* How much longer than the measure phase a counter counted, where the interval of samples does not explain
 * it; 0: it did not. */
static int64_t column_beyond_ns(const struct recorder *r, const struct recorded_host *host,
                                const struct recorded_column *g)
{
    int64_t before_ns = recorded_later_ns(r->start_ns, g->first_ns),
            after_ns = recorded_later_ns(g->last_ns, r->end_ns);
    if (g->column.kind != COLUMN_COUNTER || g->last_ns <= g->first_ns)
        return 0;
    return recorded_long_gap_ns(r, host, recorded_sum(before_ns, after_ns));
}

static json_t *column_summary(const struct recorder *r, const struct recorded_host *host,
                              const struct recorded_column *g)
{
    bool counter = g->column.kind == COLUMN_COUNTER;
    json_t *json =
        json_make("{s:s,s:s,s:s,s:s}", "unit", g->column.unit, "kind", counter ? "counter" : "gauge",
                  "source", g->column.source, "group", g->column.group);
    int64_t duration = g->last_ns - g->first_ns, unread_ns = column_unread_ns(r, host, g),
            beyond_ns = column_beyond_ns(r, host, g);
    if (counter) {
        if (duration > 0) { /* the measure phase began */
            json_object_set_new(json, "delta", json_integer(g->delta));
            json_object_set_new(json, "rate_per_s", json_real((double)g->delta * 1e9 / (double)duration));
        }
        json_object_set_new(json, "first", json_integer(g->first));
        json_object_set_new(json, "total", json_integer(g->total));
    } else {
        if (distribution_is_few(TALLY_HIGHEST, (double)g->inside, NULL))
            json_object_set_new(json, "samples", json_integer((json_int_t)g->inside));
        json_object_set_new(json, "min", json_integer(g->min));
        json_object_set_new(json, "mean", json_real(g->sum / (double)g->inside));
        add_tally_quantiles(&g->tally, json);
        json_object_set_new(json, "max", json_integer(g->max));
        json_object_set_new(json, "first", json_integer(g->first));
    }
    json_object_set_new(json, "last", json_integer(g->last));
    json_object_set_new(json, "duration_ns", json_integer(duration));
    if (unread_ns)
        json_object_set_new(json, "unread_ns", json_integer(unread_ns));
    if (beyond_ns)
        json_object_set_new(json, "beyond_ns", json_integer(beyond_ns));
    return json;
}

/* The members of a column's summary that are kept. A new reference. */
static json_t *column_kept_summary(const struct recorder *r, const struct recorded_host *host,
                                   const char *name, const json_t *whole)
{
    static const char *const always[] = {"unit", "samples", "unread_ns", "beyond_ns"};
    json_t *json = json_object();
    for (size_t i = 0; i < sizeof always / sizeof *always; i++)
        if (json_object_get(whole, always[i]))
            json_object_set(json, always[i], json_object_get(whole, always[i]));
    for (size_t i = 0; i < r->kept_count; i++)
        if (name_matches(r->kept[i].role, host->role) && glob_matches(r->kept[i].counter, name) &&
            json_object_get(whole, r->kept[i].key))
            json_object_set(json, r->kept[i].key, json_object_get(whole, r->kept[i].key));
    return json;
}

static json_t *host_columns_summary(const struct recorder *r, const struct recorded_host *h)
{
    json_t *counters = json_object();
    for (size_t i = 0; i < h->count; i++) {
        const struct recorded_column *g = &h->gathered[i];
        if (!g->any || g->second || (g->column.kind == COLUMN_GAUGE && !g->inside))
            continue;
        json_t *whole = column_summary(r, h, g);
        json_object_set_new(counters, g->column.name,
                            h->unlisted ? column_kept_summary(r, h, g->column.name, whole)
                                        : json_incref(whole));
        json_decref(whole);
    }
    return counters;
}

/* By priority; NULL: none was paused. */
static json_t *host_pause_summary(const struct recorded_host *host)
{
    json_t *json = NULL;
    for (size_t p = 0; p < PRIORITIES; p++) {
        char key[24];
        if (!host->pauses[p])
            continue;
        json = json ? json : json_object();
        snprintf(key, sizeof key, "%zu", p);
        json_object_set_new(json, key, histogram_json(host->pauses[p]));
    }
    return json;
}

void recorder_host_summary(const struct recorder *r, size_t role, json_t *host)
{
    const struct recorded_host *h = &r->hosts[role];
    json_object_set_new(host, "counters", host_columns_summary(r, h));
    if (h->unlisted)
        return;
    json_object_set_new(host, "sampling",
                        json_make("{s:I,s:I,s:f,s:I,s:I}", "samples", (json_int_t)h->samples, "overruns",
                                  (json_int_t)h->overruns, "read_ns_mean",
                                  h->samples ? h->read_sum_ns / (double)h->samples : 0.0, "read_ns_max",
                                  (json_int_t)h->read_max_ns, "cpu_ns", (json_int_t)h->cpu_ns));
    json_t *pauses = host_pause_summary(h);
    if (pauses)
        json_object_set_new(host, "pauses", pauses);
}

/* ---- totals */

/* A counter of all roles together. */
struct total {
    const struct column *column;
    int64_t delta, total, most;
    int64_t unread_ns; /* the most of any role */
    double rate_per_s;
    const char *most_at; /* the role with the largest increase; NULL: none increased */
    const char *last;    /* the role that was added last */
    size_t roles;        /* how many have it */
};

struct totals {
    const struct recorder *r;
    json_t *index; /* name -> place in items */
    struct total *items;
    size_t count;
    bool skip_shared; /* counters of the machine as a whole have been added */
};

/* NULL: it is a port's part of what its switch counts. */
static struct total *totals_find(struct totals *t, const struct column *column)
{
    const json_t *index = json_object_get(t->index, column->name);
    if (index)
        return &t->items[json_integer_value(index)];
    if (counters_of_port(column->name))
        return NULL;
    t->items = xreallocarray(t->items, t->count + 1, sizeof *t->items);
    t->items[t->count] = (struct total){.column = column};
    json_object_set_new(t->index, column->name, json_integer((json_int_t)t->count));
    return &t->items[t->count++];
}

static void total_add(struct total *t, const char *role, int64_t delta, int64_t total, int64_t duration_ns)
{
    t->delta = recorded_sum(t->delta, delta);
    t->total = recorded_sum(t->total, total);
    t->rate_per_s += duration_ns > 0 ? (double)delta * 1e9 / (double)duration_ns : 0;
    t->roles += t->last != role;
    t->last = role;
    if (delta <= t->most)
        return;
    t->most = delta;
    t->most_at = role;
}

/* Does it count on the machine as a whole? */
static bool is_of_machine(const struct column *column)
{
    return column->source && counters_of_machine(column->source);
}

/* Is the column another NIC's too? */
static bool is_shared(const struct totals *t, const struct column *column)
{
    return t->skip_shared && is_of_machine(column);
}

static void totals_add_listed(struct totals *t, const struct recorded_host *host)
{
    for (size_t i = 0; i < host->count; i++) {
        const struct recorded_column *g = &host->gathered[i];
        bool counts = g->any && !g->second && g->column.kind == COLUMN_COUNTER && !is_shared(t, &g->column);
        struct total *total = counts ? totals_find(t, &g->column) : NULL;
        int64_t unread_ns = total ? column_unread_ns(t->r, host, g) : 0;
        if (!total)
            continue;
        total_add(total, host->role, g->delta, g->total, g->last_ns - g->first_ns);
        total->unread_ns = unread_ns > total->unread_ns ? unread_ns : total->unread_ns;
    }
}

static int64_t increase_between(int64_t from, int64_t to)
{
    return to > from && from != LINES_NULL ? to - from : 0;
}

static void totals_add_unlisted(struct totals *t, const struct recorded_host *host)
{
    const struct layout *layout = host->layout;
    for (size_t i = 0; layout && i < layout->count; i++) {
        const struct plain *p = &host->plain[i];
        bool counts = p->seen_first != LINES_NULL && !is_shared(t, &layout->columns[i]);
        struct total *total = counts ? totals_find(t, &layout->columns[i]) : NULL;
        if (total)
            total_add(total, host->role, increase_between(p->first, p->last),
                      increase_between(p->seen_first, p->seen_last), host->last_ns - host->first_ns);
    }
}

static json_t *total_json(const struct total *t)
{
    json_t *json =
        json_make("{s:s,s:s,s:s,s:s,s:I,s:I,s:f}", "unit", t->column->unit, "kind", "counter", "source",
                  t->column->source, "group", t->column->group, "delta", (json_int_t)t->delta, "total",
                  (json_int_t)t->total, "rate_per_s", t->rate_per_s);
    if (t->unread_ns)
        json_object_set_new(json, "unread_ns", json_integer(t->unread_ns));
    if (t->most_at)
        json_object_set_new(json, "most",
                            json_make("{s:s,s:I}", "role", t->most_at, "delta", (json_int_t)t->most));
    return json;
}

static void totals_add(struct totals *t, const struct recorded_host *host)
{
    if (host->unlisted)
        totals_add_unlisted(t, host);
    else
        totals_add_listed(t, host);
}

/* By their names; the totals end. `nics`: how many there are, of which a counter says on how many it is where
 * that is not all; 0: it does not. */
static json_t *totals_json(struct totals *t, size_t nics)
{
    json_t *counters = json_object();
    for (size_t i = 0; i < t->count; i++) {
        const struct total *total = &t->items[i];
        json_t *json = total_json(total);
        if (total->roles < nics && !is_of_machine(total->column))
            json_object_set_new(json, "of", json_integer((json_int_t)total->roles));
        json_object_set_new(counters, total->column->name, json);
    }
    json_decref(t->index);
    free(t->items);
    return counters;
}

json_t *recorder_machine(const struct recorder *r, const size_t *roles, size_t count)
{
    struct totals t = {.r = r, .index = json_object()};
    json_t *names = json_array();
    bool listed = false;
    for (size_t i = 0; i < count; i++) {
        const struct recorded_host *host = &r->hosts[roles[i]];
        listed = listed || !host->unlisted;
        t.skip_shared = i > 0;
        totals_add(&t, host);
        json_array_append_new(names, json_text(host->role));
    }
    json_t *machine = json_make("{s:o,s:o}", "of", names, "counters", totals_json(&t, count));
    if (listed)
        return machine;
    json_decref(machine);
    return NULL;
}

json_t *recorder_totals(const struct recorder *r)
{
    struct totals t = {.r = r, .index = json_object()};
    size_t listed = 0;
    for (size_t i = 0; i < r->host_count; i++) {
        listed += !r->hosts[i].unlisted;
        totals_add(&t, &r->hosts[i]);
    }
    json_t *counters = totals_json(&t, 0);
    return json_make("{s:I,s:I,s:o}", "roles", (json_int_t)r->host_count, "listed", (json_int_t)listed,
                     "counters", counters);
}

/* ---- what is told of the whole run */

static void host_warn_of_left_out(const struct recorded_host *host, json_t *warnings)
{
    static const char *const what[ALLOWANCES][2] = {
        [ALLOW_SAMPLES] = {"samples", "twice as many as their interval has time for"},
        [ALLOW_OBJECTS] = {"headers and events of its sampler", "a run takes of a host"},
        [ALLOW_FLOWS] = {"lines of its traffic generator", "a run takes of a host"}};
    for (enum allowance kind = ALLOW_SAMPLES; kind < ALLOWANCES; kind++) {
        const struct left_out *l = &host->left_out[kind];
        if (l->lines)
            json_array_append_new(warnings,
                                  json_textf("%s: left out %" PRIu64 " %s (%.1f MB): it sent more than %s",
                                             host->role, l->lines, what[kind][0], (double)l->bytes / 1e6,
                                             what[kind][1]));
    }
}

static void warn_of_sampling(const struct recorder *r, const struct recorded_host *host, json_t *warnings)
{
    if (host->damaged)
        json_array_append_new(
            warnings, json_textf("%s: %" PRIu64 " %s left out, %s%.*s", host->role, host->damaged,
                                 host->damaged == 1 ? "line was" : "lines were",
                                 host->damaged == 1 ? "" : "the first: ", recorded_words(host->first_damaged),
                                 host->first_damaged));
    if (host->overruns)
        json_array_append_new(
            warnings,
            json_textf("%s: the sampler skipped %" PRIu64 " of %" PRIu64
                       " samples (overruns): one was due every %.6g ms, and reading took up to "
                       "%.6g ms",
                       host->role, host->overruns, host->samples + host->overruns,
                       (double)r->scenario->sample.every_ns / 1e6, (double)host->read_max_ns / 1e6));
    if (host->says_end && !host->ended)
        json_array_append_new(warnings, json_textf("%s: the sampler's last line is missing: samples may be "
                                                   "missing at the end, and overruns",
                                                   host->role));
}

static bool host_counts(const struct recorded_host *host, const char *name)
{
    if (!host->unlisted)
        return json_object_get(host->names, name);
    for (size_t i = 0; host->layout && i < host->layout->count; i++)
        if (strcmp(host->layout->columns[i].name, name) == 0)
            return true;
    return false;
}

static void losses_add(json_t *losses, const struct recorded_host *host, const char *name, int64_t before,
                       int64_t measured)
{
    const char *whole = NULL;
    if ((before <= 0 && measured <= 0) || counters_loss(name, &whole) == COUNTER_NO_LOSS)
        return;
    if (whole && host_counts(host, whole))
        return;
    json_object_set_new(
        losses, name, json_make("{s:I,s:I}", "before", (json_int_t)before, "measured", (json_int_t)measured));
}

json_t *recorder_losses(const struct recorder *r)
{
    json_t *roles = json_object();
    for (size_t k = 0; k < r->host_count; k++) {
        const struct recorded_host *host = &r->hosts[k];
        json_t *losses = json_object();
        for (size_t i = 0; !host->unlisted && i < host->count; i++) {
            const struct recorded_column *g = &host->gathered[i];
            if (g->any && !g->second && g->column.kind == COLUMN_COUNTER)
                losses_add(losses, host, g->column.name, g->before, g->delta);
        }
        for (size_t i = 0; host->unlisted && host->layout && i < host->layout->count; i++) {
            const struct plain *p = &host->plain[i];
            losses_add(losses, host, host->layout->columns[i].name, increase_between(p->seen_first, p->first),
                       increase_between(p->first, p->last));
        }
        if (json_object_size(losses))
            json_object_set(roles, host->role, losses);
        json_decref(losses);
    }
    return roles;
}

void recorder_warnings(const struct recorder *r, json_t *warnings)
{
    json_array_extend(warnings, r->warnings);
    for (size_t i = 0; i < r->flow_count; i++)
        if (r->flows[i].failed && json_array_size(warnings) < MOST_WARNINGS)
            recorded_flow_warn(r, &r->flows[i], warnings);
    for (size_t i = 0; i < r->host_count; i++) {
        host_warn_of_left_out(&r->hosts[i], warnings);
        warn_of_sampling(r, &r->hosts[i], warnings);
    }
}
