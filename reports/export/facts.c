/* What result.json and settings.json say of a run. */
#include "reports/export/rows.h"

#include "lib/document/json_file.h"
#include "lib/document/json_text.h"
#include "lib/formats/origin.h"
#include "lib/formats/result_flows.h"
#include "lib/text.h"
#include "lib/units.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

/* The members of an object by path, none if it is something else. */
static json_t *members(const struct rows *rows, const char *path)
{
    const json_t *object = run_get(rows->run, path);
    return json_is_object(object) ? (json_t *)(uintptr_t)object : NULL;
}

/* ---- the run */

static int add_run(struct rows *rows, struct error *e)
{
    const struct run *run = rows->run;
    const enum verdict verdict = run_verdict(run);
    char *reason = run_reason(run);
    const struct export_value given[] = {
        export_integer(rows->number),
        export_text(run->result_folder),
        export_text(run->cell),
        export_text(origin_names[origin_of_result(run->result)]),
        export_text(run->label),
        export_text(verdict == VERDICT_NONE ? NULL : verdict_names[verdict]),
        export_text(*reason ? reason : NULL),
        run->end_ns > run->start_ns ? export_integer(run->start_ns) : export_text(NULL),
        run->end_ns > run->start_ns ? export_integer(run->end_ns) : export_text(NULL),
        export_real(run_sum_flows(run, "goodput_bps")),
        export_real(run_sum_flows(run, "delivered_bps")),
    };
    int result = rows_add(rows, EXPORT_RUNS, given, sizeof given / sizeof *given, run->result, e);
    free(reason);
    return result;
}

/* "64KiB" is 65536 bytes. */
static void number_of(const json_t *value, struct export_value *number, struct export_value *unit)
{
    static const struct {
        enum unit unit;
        const char *name;
        double scale;
    } units[] = {{UNIT_BYTES, "bytes", 1},
                 {UNIT_TIME_NS, "ns", 1},
                 {UNIT_RATE_BPS, "b/s", 1},
                 {UNIT_LENGTH_MM, "mm", 1},
                 {UNIT_PERCENT_MILLI, "%", 1e-3}};
    int64_t parsed;
    *number = export_real(json_is_number(value) ? json_number_value(value) : NAN);
    *unit = export_text(NULL);
    for (size_t i = 0; json_is_string(value) && i < sizeof units / sizeof *units; i++) {
        if (units_parse(units[i].unit, json_string_value(value), &parsed, NULL) == 0) {
            *number = export_real((double)parsed * units[i].scale);
            *unit = export_text(units[i].name);
            return;
        }
    }
}

static int add_choices(struct rows *rows, struct error *e)
{
    const char *path;
    json_t *value;
    json_object_foreach(members(rows, "cell"), path, value)
    {
        char *shown = json_bare(value);
        struct export_value given[5] = {export_integer(rows->number), export_text(path), export_text(shown)};
        if (json_is_integer(value))
            given[2] = export_integer(json_integer_value(value));
        else if (json_is_real(value))
            given[2] = export_real(json_real_value(value));
        number_of(value, &given[3], &given[4]);
        int result = shown ? rows_add(rows, EXPORT_CHOICES, given, 5, NULL, e)
                           : error_set(e, "out of memory for the choice %s", path);
        free(shown);
        if (result != 0)
            return -1;
    }
    return 0;
}

/* A row for each object of a list. */
static int add_list(struct rows *rows, enum export_table table, const char *path, struct error *e)
{
    const struct export_value run = export_integer(rows->number);
    const json_t *item;
    size_t i;
    json_array_foreach(run_get(rows->run, path), i, item)
    {
        if (json_is_object(item) && rows_add(rows, table, &run, 1, item, e) != 0)
            return -1;
    }
    return 0;
}

static int add_warnings(struct rows *rows, struct error *e)
{
    struct export_value given[2] = {export_integer(rows->number)};
    const json_t *item;
    size_t i;
    json_array_foreach(run_get(rows->run, "warnings"), i, item)
    {
        given[1] = export_text(json_string_value(item));
        if (given[1].known && rows_add(rows, EXPORT_WARNINGS, given, 2, NULL, e) != 0)
            return -1;
    }
    return 0;
}

/* ---- hosts and flows */

static int add_counters(struct rows *rows, const char *host, const json_t *counters, struct error *e)
{
    struct export_value given[] = {export_integer(rows->number), export_text(host), {0}};
    const char *name;
    json_t *counter;
    json_object_foreach((json_t *)(uintptr_t)counters, name, counter)
    {
        given[2] = export_text(name);
        if (rows_add(rows, EXPORT_COUNTERS, given, 3, counter, e) != 0)
            return -1;
    }
    return 0;
}

static int add_hosts(struct rows *rows, struct error *e)
{
    const char *name;
    json_t *host;
    json_object_foreach(members(rows, "hosts"), name, host)
    {
        const struct export_value given[] = {export_integer(rows->number), export_text(name),
                                             export_integer(run_lists(host))};
        if (rows_add(rows, EXPORT_HOSTS, given, 3, host, e) != 0 ||
            add_counters(rows, name, json_object_get(host, "counters"), e) != 0 ||
            rows_add_leaves(rows, EXPORT_FACTS, given, 2, json_object_get(host, "facts"), e) != 0)
            return -1;
    }
    return 0;
}

static int add_totals(struct rows *rows, struct error *e)
{
    struct export_value given[2] = {export_integer(rows->number)};
    const char *name;
    json_t *counter;
    json_object_foreach(members(rows, "totals.counters"), name, counter)
    {
        given[1] = export_text(name);
        if (rows_add(rows, EXPORT_TOTALS, given, 2, counter, e) != 0)
            return -1;
    }
    return 0;
}

static int add_flows(struct rows *rows, struct error *e)
{
    const json_t *flows = members(rows, "flows");
    const char *name;
    json_t *flow;
    json_object_foreach((json_t *)(uintptr_t)flows, name, flow)
    {
        const struct export_value given[] = {export_integer(rows->number), export_text(name),
                                             export_integer((int64_t)result_flow_parts(flows, name))};
        if (rows_add(rows, EXPORT_FLOWS, given, 3, flow, e) != 0)
            return -1;
    }
    return 0;
}

static int add_sizes(struct rows *rows, const char *name, const json_t *collective, struct error *e)
{
    size_t i;
    const json_t *size;
    json_array_foreach(json_object_get(collective, "sizes"), i, size)
    {
        const struct export_value given[] = {export_integer(rows->number), export_text(name)};
        if (rows_add(rows, EXPORT_COLLECTIVE_SIZES, given, 2, size, e) != 0)
            return -1;
    }
    return 0;
}

static int add_collectives(struct rows *rows, struct error *e)
{
    const char *name;
    json_t *collective;
    json_object_foreach((json_t *)(uintptr_t)members(rows, "collectives"), name, collective)
    {
        const struct export_value given[] = {export_integer(rows->number), export_text(name)};
        if (rows_add(rows, EXPORT_COLLECTIVES, given, 2, collective, e) != 0 ||
            add_sizes(rows, name, collective, e) != 0)
            return -1;
    }
    return 0;
}

static int add_jobs(struct rows *rows, struct error *e)
{
    const char *name;
    json_t *job, *rank;
    size_t i;
    json_object_foreach((json_t *)(uintptr_t)members(rows, "jobs"), name, job)
    {
        json_array_foreach(json_object_get(job, "ranks"), i, rank)
        {
            const struct export_value given[] = {export_integer(rows->number), export_text(name),
                                                 export_integer((int64_t)i)};
            if (rows_add(rows, EXPORT_JOBS, given, 3, rank, e) != 0)
                return -1;
        }
    }
    return 0;
}

/* ---- settings.json, which results of some labs lack */

static int add_settings(struct rows *rows, struct error *e)
{
    static const char *const kinds[] = {"before", "wanted", "read_back", "after"};
    json_t *settings = rows_wanted(rows, EXPORT_SETTINGS) ? run_load_settings(rows->run) : NULL, *of;
    const char *host;
    int result = 0;
    json_object_foreach(settings, host, of)
    {
        for (size_t i = 0; result == 0 && i < sizeof kinds / sizeof *kinds; i++) {
            const struct export_value given[] = {export_integer(rows->number), export_text(host),
                                                 export_text(kinds[i])};
            result = rows_add_leaves(rows, EXPORT_SETTINGS, given, 3, json_object_get(of, kinds[i]), e);
        }
    }
    json_decref(settings);
    return result;
}

/* What is found to be broken is known before the run's row is written. */
int export_facts(struct rows *rows, struct error *e)
{
    const struct export_value run = export_integer(rows->number);
    if (add_settings(rows, e) != 0 || add_run(rows, e) != 0 || add_choices(rows, e) != 0 ||
        add_list(rows, EXPORT_PHASES, "phases", e) != 0 || add_hosts(rows, e) != 0 ||
        add_totals(rows, e) != 0 || add_flows(rows, e) != 0 || add_collectives(rows, e) != 0 ||
        add_jobs(rows, e) != 0 ||
        rows_add_leaves(rows, EXPORT_SCENARIO, &run, 1, run_get(rows->run, "scenario"), e) != 0 ||
        add_list(rows, EXPORT_EXPECTATIONS, "expectations", e) != 0 ||
        add_list(rows, EXPORT_EXPECTATIONS, "verify", e) != 0 ||
        add_list(rows, EXPORT_PUBLISHED, "published", e) != 0 || add_warnings(rows, e) != 0)
        return -1;
    return 0;
}
