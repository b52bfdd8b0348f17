#include "harness/record/recorded.h"

#include "lib/clock.h"
#include "lib/document/json_text.h"
#include "lib/output/visible.h"
#include "lib/roce/counters.h"
#include "lib/xalloc.h"
#include <math.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int64_t recorded_sum(int64_t a, int64_t b)
{
    return a > INT64_MAX - b ? INT64_MAX : a + b;
}

/* ---- warnings and times */

#define MOST_SAID 1000 /* bytes of a host's text in a warning */

void recorder_warn(struct recorder *r, const char *format, ...)
{
    va_list arguments;
    if (json_array_size(r->warnings) >= MOST_WARNINGS)
        return;
    va_start(arguments, format);
    json_array_append_new(r->warnings, json_text_list(format, arguments));
    va_end(arguments);
}

int recorded_words(const char *text)
{
    return text ? (int)utf8_cut(text, strlen(text), MOST_SAID) : 0;
}

int recorded_host_to_run_clock(const struct recorded_host *host, int64_t *time_ns, struct error *e)
{
    int64_t shifted_ns = *time_ns - host->offset_ns; /* of two within LINES_MOST */
    if (!lines_fits(shifted_ns, -LINES_MOST))
        return error_set(e, "%s: a line's time_ns is %" PRId64 ", which is not a time by the run's clock",
                         host->role, *time_ns);
    *time_ns = shifted_ns;
    return 0;
}

int recorded_host_shift_time(const struct recorded_host *host, json_t *object, struct error *e)
{
    json_t *time = json_object_get(object, "time_ns");
    int64_t time_ns = json_integer_value(time);
    if (!json_is_integer(time))
        return 0;
    if (!lines_fits(time_ns, -LINES_MOST))
        return error_set(e, "%s: a header's time_ns is out of range", host->role);
    if (recorded_host_to_run_clock(host, &time_ns, e) != 0)
        return -1;
    json_object_set_new(object, "time_ns", json_integer(time_ns));
    return 0;
}

/* ---- single pauses */

int recorder_pause(struct recorder *r, const char *where, unsigned priority, int64_t start_ns,
                   int64_t duration_ns, bool lasts, struct error *e)
{
    fprintf(r->pauses_file.stream, "[\"%s\",%u,%" PRId64 ",%" PRId64 "%s]\n", where, priority, start_ns,
            duration_ns, lasts ? ",true" : "");
    if (record_file_check(&r->pauses_file, e) != 0)
        return -1;
    if (lasts || priority >= PRIORITIES || start_ns < r->start_ns || start_ns >= r->end_ns)
        return 0;
    int role = scenario_role_index(r->scenario, where);
    if (role < 0 || r->hosts[role].unlisted)
        return 0;
    struct histogram **h = &r->hosts[role].pauses[priority];
    if (!*h) {
        *h = xcalloc(1, sizeof **h);
        histogram_clear(*h);
    }
    histogram_add(*h, duration_ns);
    return 0;
}

/* ---- opening and closing */

static void host_free(struct recorded_host *host)
{
    for (size_t i = 0; i < host->count; i++) {
        lines_free_column(&host->gathered[i].column);
        tally_free(&host->gathered[i].tally);
    }
    free(host->gathered);
    for (size_t p = 0; p < PRIORITIES; p++)
        free(host->pauses[p]);
    json_decref(host->index);
    json_decref(host->names);
    free(host->slots);
    free(host->plain);
    free(host->first_damaged);
}

struct recorder *recorder_open(const char *folder, const struct scenario *scenario, bool pauses,
                               struct error *e)
{
    struct recorder *r = xcalloc(1, sizeof *r);
    const struct scenario_flow *flows = scenario->flows.items;
    char *const *listed = scenario->sample.roles.items;
    r->samples.fd = r->flows_file.fd = r->pauses_file.fd = -1;
    r->scenario = scenario;
    r->opened_ns = clock_monotonic_ns();
    r->start_ns = r->end_ns = INT64_MAX;
    r->flow_index = json_object();
    r->warnings = json_array();
    r->host_count = scenario->roles.count;
    r->hosts = xcalloc(r->host_count + 1, sizeof *r->hosts);
    if (record_file_open(&r->samples, folder, "samples.jsonl", e) != 0 ||
        record_file_open(&r->flows_file, folder, "flows.jsonl", e) != 0 ||
        (pauses && record_file_open(&r->pauses_file, folder, "pauses.jsonl", e) != 0)) {
        recorder_close(r);
        return NULL;
    }
    for (size_t i = 0; i < r->host_count; i++) {
        r->hosts[i].role = scenario_role(scenario, i);
        r->hosts[i].every_ns = scenario->sample.every_ns;
        r->hosts[i].index = json_object();
        r->hosts[i].names = json_object();
        if (listed)
            recorder_unlist(r, i);
    }
    for (size_t i = 0; listed && i < scenario->sample.roles.count; i++)
        r->hosts[scenario_role_index(scenario, listed[i])].unlisted = false;
    for (size_t i = 0; i < scenario->flows.count; i++)
        recorder_find_flow(r, flows[i].name)->of = &flows[i];
    return r;
}

int recorder_flush(struct recorder *r, struct error *e)
{
    return record_file_flush(&r->samples, e) || record_file_flush(&r->flows_file, e) ||
                   record_file_flush(&r->pauses_file, e)
               ? -1
               : 0;
}

void recorder_end(struct recorder *r)
{
    record_file_close(&r->samples, NULL);
    record_file_close(&r->flows_file, NULL);
    record_file_close(&r->pauses_file, NULL);
}

void recorder_close(struct recorder *r)
{
    if (!r)
        return;
    recorder_end(r);
    for (size_t i = 0; i < r->host_count; i++)
        host_free(&r->hosts[i]);
    for (size_t i = 0; i < r->flow_count; i++) {
        free(r->flows[i].name);
        json_decref(r->flows[i].summary);
        json_decref(r->flows[i].failed);
        free(r->flows[i].said);
    }
    for (struct layout *layout = r->layouts, *next; layout; layout = next) {
        next = layout->next;
        lines_free_columns(layout->columns, layout->count);
        free(layout->places);
        free(layout);
    }
    for (size_t i = 0; i < r->kept_count; i++) {
        free(r->kept[i].role);
        free(r->kept[i].counter);
    }
    free(r->kept);
    free(r->hosts);
    free(r->flows);
    json_decref(r->flow_index);
    json_decref(r->warnings);
    free(r);
}

void recorder_clock(struct recorder *r, size_t role, int64_t offset_ns)
{
    r->hosts[role].offset_ns = offset_ns;
}

void recorder_window(struct recorder *r, int64_t start_ns, int64_t end_ns)
{
    r->start_ns = start_ns;
    r->end_ns = end_ns;
}

/* ---- which roles are listed */

void recorder_unlist(struct recorder *r, size_t role)
{
    r->hosts[role].unlisted = true;
}

bool recorder_lists(const struct recorder *r, size_t role)
{
    return !r->hosts[role].unlisted;
}

bool recorder_keeps(const struct recorder *r, size_t role)
{
    return !r->hosts[role].unlisted || r->hosts[role].count;
}

void recorder_keep(struct recorder *r, const char *role_glob, const char *counter_glob, const char *key)
{
    r->kept = xreallocarray(r->kept, r->kept_count + 1, sizeof *r->kept);
    r->kept[r->kept_count++] = (struct kept){xstrdup(role_glob), xstrdup(counter_glob), key};
}

/* ---- live figures */

/* PFC frames that a host receives per second, over its latest samples; NAN: it counts none. */
static double host_pauses_per_s(const struct recorded_host *host)
{
    double per_s = NAN;
    for (size_t i = 0; i < host->count; i++) {
        const struct recorded_column *g = &host->gathered[i];
        if (g->last_ns > g->first_ns && counters_pattern_matches("rx_prio#_pause", g->column.name))
            per_s = (isnan(per_s) ? 0 : per_s) + (double)g->delta * 1e9 / (double)(g->last_ns - g->first_ns);
    }
    return per_s;
}

void recorder_live(const struct recorder *r, struct recorder_live *live)
{
    *live = (struct recorder_live){.pauses_per_s = NAN};
    for (size_t i = 0; i < r->flow_count; i++) {
        live->goodput_bps += r->flows[i].live_bps;
        live->errors += (uint64_t)r->flows[i].errors;
    }
    for (size_t i = 0; i < r->host_count; i++) {
        const struct recorded_host *host = &r->hosts[i];
        double per_s = host_pauses_per_s(host);
        live->samples += host->samples;
        if (!isnan(per_s))
            live->pauses_per_s = (isnan(live->pauses_per_s) ? 0 : live->pauses_per_s) + per_s;
    }
}
