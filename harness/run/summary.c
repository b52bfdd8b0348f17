#include "harness/run/summary.h"

#include "harness/run/figures.h"
#include "lib/document/json_text.h"
#include "lib/formats/origin.h"
#include "lib/formats/result_flows.h"
#include "lib/output/print.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

void summary_choice(const json_t *choice, struct text *out)
{
    const char *path;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)choice, path, value)
    {
        char *shown = json_bare(value);
        text_add(out, "%s%s %s", out->length ? ", " : "", path, shown ? shown : "?");
        free(shown);
    }
}

/* `later`: also those that are judged at the end of a sweep. */
static void print_expectations(const json_t *expectations, bool brief, bool later)
{
    size_t i;
    json_t *entry;
    json_array_foreach(expectations, i, entry)
    {
        const char *verdict = json_string_value(json_object_get(entry, "verdict"));
        const char *reason = json_string_value(json_object_get(entry, "reason"));
        if (json_object_get(entry, "over") && !later) /* at the end of the sweep */
            continue;
        if ((reason && strncmp(reason, "only when", 9) == 0) || (brief && strcmp(verdict, "failed") != 0))
            continue;
        print_out("  %-8s %s (%s)\n", verdict, json_string_value(json_object_get(entry, "name")),
                  reason ? reason : "");
    }
}

static void print_published(const json_t *published, bool later)
{
    size_t i;
    json_t *entry;
    json_array_foreach(published, i, entry)
    {
        if (json_object_get(entry, "over") && !later)
            continue;
        const json_t *difference = json_object_get(entry, "difference_percent");
        const char *reason = json_string_value(json_object_get(entry, "reason"));
        double percent = json_number_value(difference);
        const char *unit = json_string_value(json_object_get(entry, "unit"));
        if (reason)
            print_out("  published %s: not compared (%s)\n",
                      json_string_value(json_object_get(entry, "name")), reason);
        else if (difference)
            print_out("  published %s: %.6g%s%s, measured %.6g (%+.1f %%)\n",
                      json_string_value(json_object_get(entry, "name")),
                      json_number_value(json_object_get(entry, "published")), unit && *unit ? " " : "",
                      unit ? unit : "", json_number_value(json_object_get(entry, "measured")),
                      fabs(percent) < 0.05 ? 0.0 : percent);
    }
}

static void print_deadlocks(const json_t *deadlocks)
{
    size_t i;
    json_t *deadlock;
    json_array_foreach(deadlocks, i, deadlock)
        print_out("  %s\n", json_string_value(json_object_get(deadlock, "text")));
}

/* Connections that gave up, and how many. */
static void print_errors(const json_t *flows)
{
    const char *name;
    json_t *flow;
    json_object_foreach((json_t *)(uintptr_t)flows, name, flow)
    {
        json_int_t errors = json_integer_value(json_object_get(flow, "errors"));
        const char *text = json_string_value(json_object_get(flow, "error"));
        if (errors && text && !result_flow_is_part(flows, name))
            print_out("  flow %s: %s\n", name, text);
    }
}

void summary_print(const struct cell *cell, const char *folder, const json_t *result, enum verdict verdict,
                   bool brief)
{
    struct text label = {0};
    summary_choice(cell->choice, &label);
    const char *origin = origin_word(origin_of_result(result));
    if (brief) /* it is one of many */
        print_out("%s: ", strrchr(folder, '/') + 1);
    print_out("%s%s%s: %s%s%s%s\n", cell->scenario.name, label.length ? ", " : "", text_string(&label),
              verdict_names[verdict], origin ? " (" : "", origin ? origin : "", origin ? ")" : "");
    if (!brief) {
        figures_print_flows(result);
        figures_print_collectives(result);
        print_errors(json_object_get(result, "flows"));
    }
    print_deadlocks(json_object_get(result, "deadlocks"));
    const json_t *totals = json_object_get(result, "totals");
    if (totals && !brief)
        print_out("  %" JSON_INTEGER_FORMAT " of %" JSON_INTEGER_FORMAT
                  " roles are listed, the others are in the totals (sample.roles names which)\n",
                  json_integer_value(json_object_get(totals, "listed")),
                  json_integer_value(json_object_get(totals, "roles")));
    print_expectations(json_object_get(result, "expectations"), brief, false);
    print_expectations(json_object_get(result, "verify"), brief, false);
    if (!brief)
        print_published(json_object_get(result, "published"), false);
    const char *reason = json_string_value(json_object_get(result, "reason"));
    if (reason &&
        verdict != VERDICT_INCOMPLETE) /* an incomplete run ends the sweep, and its error is printed then */
        print_out("  %s\n", reason);
    text_free(&label);
}

void summary_print_repeated(const struct repeated_cell *judged, bool brief)
{
    struct text label = {0};
    const struct spread *goodput = &judged->goodput_bps;
    if (brief && judged->verdict <= VERDICT_PASSED)
        return;
    summary_choice(judged->cell->choice, &label);
    print_out("%s%s%s", judged->cell->scenario.name, label.length ? ", " : "", text_string(&label));
    if (goodput->count > 1) {
        print_out(", %zu runs: goodput ", goodput->count);
        figures_print_goodput(goodput->mean, goodput->ci95);
    }
    print_out("\n");
    print_expectations(judged->expectations, brief, true);
    if (!brief)
        print_published(judged->published, true);
    text_free(&label);
}
