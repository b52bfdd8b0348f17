#include "reports/page/page_search.h"

#include "lib/document/json_text.h"
#include "reports/page/html.h"
#include "reports/page/page_parts.h"
#include "reports/results/sweep_table.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TRIED_MOST 500 /* rows of the table of all that was tried */

static long long count_of(const json_t *object, const char *key)
{
    return (long long)json_integer_value(json_object_get(object, key));
}

/* ---- values */

/* "93.1 ± 0.4 Gb/s" */
static void add_value(const json_t *entry, const json_t *objective, struct text *out)
{
    const json_t *spread =
        json_object_get(json_object_get(entry, "objectives"), run_member(objective, "name"));
    double mean = html_value(json_object_get(spread, "mean")),
           ci95 = html_value(json_object_get(spread, "ci95"));
    struct sweep_unit unit = sweep_unit_near(run_member(objective, "unit"), mean);
    html_number(out, mean * unit.factor);
    if (isfinite(ci95) && ci95 > 0) {
        text_add(out, " &plusmn; ");
        html_number(out, ci95 * unit.factor);
    }
    text_add(out, " ");
    html_escaped(out, isfinite(mean) ? unit.name : "");
}

/* The last parts of a path, as far as no other parameter ends so: "ecn.kmin". */
static const char *short_path(const json_t *parameters, const char *path)
{
    const char *at = strrchr(path, '.');
    while (at) {
        const json_t *other;
        size_t i, same = 0;
        json_array_foreach((json_t *)(uintptr_t)parameters, i, other)
        {
            const char *is = run_member(other, "path");
            size_t length = strlen(is), end = strlen(at);
            same += length >= end && strcmp(is + length - end, at) == 0;
        }
        if (same < 2)
            return at + 1;
        const char *before = at;
        at = NULL;
        for (const char *k = path; k < before; k++)
            at = *k == '.' ? k : at;
    }
    return path;
}

static void add_head(const json_t *d, const char *first, struct text *out)
{
    const json_t *one, *parameters = json_object_get(d, "parameters");
    size_t i;
    text_add(out, "<div class=scroll><table class=wide><tr><th>%s", first);
    json_array_foreach(json_object_get(d, "objectives"), i, one)
    {
        text_add(out, "<th class=number>");
        html_escaped(out, run_member(one, "name"));
        text_add(out, " <span class=soft>(%s)</span>", run_member(one, "goal"));
    }
    json_array_foreach((json_t *)(uintptr_t)parameters, i, one)
    {
        text_add(out, "<th class=number title=\"");
        html_escaped(out, run_member(one, "path"));
        text_add(out, "\">");
        html_escaped(out, short_path(parameters, run_member(one, "path")));
    }
    text_add(out, "</tr>\n");
}

static void add_row(const json_t *d, const json_t *entry, const char *name, struct text *out)
{
    const json_t *one, *folder = json_array_get(json_object_get(entry, "folders"), 0);
    size_t i;
    bool known = *run_member(entry, "known");
    text_add(out, "<tr><td>");
    if (json_is_string(folder)) {
        text_add(out, "<a href=\"");
        html_address(out, json_string_value(folder));
        text_add(out, "/\">");
    }
    html_escaped(out, known ? run_member(entry, "known") : name);
    text_add(out, "%s%s", json_is_string(folder) ? "</a>" : "",
             json_is_true(json_object_get(entry, "knee")) ? " <strong>knee</strong>" : "");
    if (!json_is_true(json_object_get(entry, "feasible"))) {
        text_add(out,
                 "<br><span class=failed>not %s: ", json_object_get(entry, "feasible") ? "allowed" : "known");
        html_escaped(out, run_member(entry, "why"));
        text_add(out, "</span>");
    }
    json_array_foreach(json_object_get(d, "objectives"), i, one)
    {
        text_add(out, "<td class=number>");
        add_value(entry, one, out);
    }
    json_array_foreach(json_object_get(d, "parameters"), i, one)
    {
        const json_t *value =
            json_object_get(json_object_get(entry, known ? "has" : "values"), run_member(one, "path"));
        char *shown = value ? json_bare(value) : NULL;
        text_add(out, "<td class=number>");
        html_escaped(out, json_is_null(value) ? "not set" : shown ? shown : known ? "differs" : "");
        free(shown);
    }
    text_add(out, "</tr>\n");
}

/* Where known settings are from, and what of them has no place here. */
static void add_sources(const json_t *d, struct text *out)
{
    const json_t *entry;
    json_t *why;
    const char *what;
    size_t i;
    text_add(out, "<ul class=soft>\n");
    json_array_foreach(json_object_get(d, "known"), i, entry)
    {
        const char *between = "; without ";
        if (!*run_member(entry, "source"))
            continue;
        text_add(out, "<li>");
        html_escaped(out, run_member(entry, "known"));
        text_add(out, ": ");
        html_escaped(out, run_member(entry, "source"));
        json_object_foreach(json_object_get(entry, "left_out"), what, why)
        {
            text_add(out, "%s", between);
            html_escaped(out, what);
            text_add(out, " (");
            html_escaped(out, json_string_value(why) ? json_string_value(why) : "");
            text_add(out, ")");
            between = ", ";
        }
        text_add(out, "\n");
    }
    json_object_foreach(json_object_get(d, "absent"), what, why)
    {
        text_add(out, "<li>");
        html_escaped(out, what);
        text_add(out, " cannot be tried: ");
        html_escaped(out, json_string_value(why) ? json_string_value(why) : "");
        text_add(out, "\n");
    }
    text_add(out, "</ul>\n");
}

/* What the runs of settings warned of: of each the first, and how many more there are. */
static void add_warnings(const json_t *entries, const char *of, struct text *out)
{
    const json_t *entry;
    size_t i;
    json_array_foreach((json_t *)(uintptr_t)entries, i, entry)
    {
        const json_t *warnings = json_object_get(entry, "warnings");
        const char *first = json_string_value(json_array_get(warnings, 0));
        if (!first)
            continue;
        text_add(out, "<li>");
        if (*run_member(entry, "known"))
            html_escaped(out, run_member(entry, "known"));
        else
            text_add(out, "%s %zu", of, i + 1);
        text_add(out, ": ");
        html_escaped(out, first);
        if (json_array_size(warnings) > 1)
            text_add(out, " (and %zu more, in search.json)", json_array_size(warnings) - 1);
        text_add(out, "\n");
    }
}

/* Known settings of the front are among the known ones. */
static void add_warned(const json_t *d, struct text *out)
{
    struct text list = {0};
    json_t *best = json_array(), *entry;
    size_t i;
    json_array_foreach(json_object_get(d, "front"), i, entry)
    {
        json_array_append_new(best, *run_member(entry, "known") ? json_object() : json_incref(entry));
    }
    add_warnings(best, "best", &list);
    add_warnings(json_object_get(d, "known"), "known", &list);
    if (list.length)
        text_add(out, "<div class=notice>Runs of these settings warned:<ul>\n%s</ul></div>\n",
                 text_string(&list));
    json_decref(best);
    text_free(&list);
}

/* ---- parts of the page */

static void add_heading(const json_t *d, struct text *out)
{
    bool simulated = json_is_true(json_object_get(d, "simulated"));
    text_add(out, "<h1>Search: ");
    html_escaped(out, *run_member(d, "title") ? run_member(d, "title") : run_member(d, "scenario"));
    text_add(out, "</h1>\n<p>%s<span class=soft>lab ",
             simulated ? "<span class=\"pill simulated\">simulated</span> " : "");
    html_escaped(out, run_member(d, "lab"));
    text_add(out, ", harness ");
    html_escaped(out, run_member(d, "version"));
    text_add(out, "</span></p>\n");
    if (simulated)
        text_add(out,
                 "<p class=simulated><strong>All values were computed by the built-in simulator; none was "
                 "measured on hardware.</strong></p>\n");
    text_add(out, "<p class=lead>%lld candidates in %lld runs, by %s; %lld met the constraints%s.</p>\n",
             count_of(d, "candidates"), count_of(d, "runs"), run_member(d, "strategy"),
             count_of(d, "feasible"),
             json_is_true(json_object_get(d, "complete")) ? "" : "; <strong>it has not ended</strong>");
    if (count_of(d, "not_run"))
        text_add(out,
                 "<div class=notice>%lld of the runs did not run, nor when they were made once more.</div>\n",
                 count_of(d, "not_run"));
    if (count_of(d, "refused")) {
        text_add(out, "<div class=notice>%lld proposals were not tried, as the lab cannot run them: ",
                 count_of(d, "refused"));
        html_escaped(out, run_member(d, "refusal"));
        text_add(out, "</div>\n");
    }
    if (*run_member(d, "note")) {
        text_add(out, "<div class=notice>");
        html_escaped(out, run_member(d, "note"));
        text_add(out, "</div>\n");
    }
}

static void add_best(const json_t *d, struct text *out)
{
    const json_t *entry;
    bool one = json_array_size(json_object_get(d, "objectives")) == 1;
    size_t i;
    text_add(out,
             "<h2>%s</h2>\n<p class=soft>%sMeans over the seeds with 95 %% confidence; a name leads to "
             "the first run.</p>\n",
             one ? "The best, and what was known" : "The best of all, and what was known",
             one ? "" : "No setting is better than another one of these in all objectives. ");
    add_head(d, "setting", out);
    json_array_foreach(json_object_get(d, "front"), i, entry)
    {
        struct text name = {0};
        text_add(&name, "best %zu", i + 1);
        add_row(d, entry, text_string(&name), out);
        text_free(&name);
    }
    json_array_foreach(json_object_get(d, "known"), i, entry)
    {
        add_row(d, entry, "", out);
    }
    text_add(out, "</table></div>\n");
    if (*run_member(d, "why")) {
        text_add(out, "<p>Why: ");
        html_escaped(out, run_member(d, "why"));
        text_add(out, ".</p>\n");
    }
    add_warned(d, out);
    add_sources(d, out);
}

/* Files that set the best. */
static void add_use(const json_t *d, struct text *out)
{
    const json_t *use = json_object_get(d, "use"), *file;
    const char *what;
    json_t *why;
    size_t i;
    if (!use)
        return;
    text_add(out, "<h2>To use it</h2>\n<ul>\n");
    json_array_foreach(json_object_get(use, "files"), i, file)
    {
        text_add(out, "<li><a href=\"");
        html_address(out, run_member(file, "file"));
        text_add(out, "\">");
        html_escaped(out, run_member(file, "file"));
        text_add(out, "</a>: ");
        html_escaped(out, run_member(file, "is"));
        text_add(out, "\n");
    }
    json_object_foreach(json_object_get(use, "not_made"), what, why)
    {
        text_add(out, "<li class=soft>no ");
        html_escaped(out, what);
        text_add(out, ": ");
        html_escaped(out, json_string_value(why) ? json_string_value(why) : "");
        text_add(out, "\n");
    }
    text_add(out, "</ul>\n");
}

static void add_trials(const json_t *d, struct text *out)
{
    const json_t *trial, *objective;
    size_t i, k;
    if (!json_array_size(json_object_get(d, "trials")))
        return;
    text_add(out,
             "<h2>On what the search has not seen</h2>\n<p class=soft>%s beside the scenario as it is "
             "written. Not told apart: the 95 %% intervals of the means meet.</p>\n<div class=scroll><table "
             "class=wide><tr><th>on<th>objective<th class=number>as written<th class=number>the "
             "winner<th>it is</tr>\n",
             json_array_size(json_object_get(d, "objectives")) == 1 ? "The best" : "The knee");
    json_array_foreach(json_object_get(d, "trials"), i, trial)
    {
        json_array_foreach(json_object_get(d, "objectives"), k, objective)
        {
            text_add(out, "<tr>");
            html_cell(out, k ? "" : run_member(trial, "on"));
            html_cell(out, run_member(objective, "name"));
            text_add(out, "<td class=number>");
            add_value(json_object_get(trial, "base"), objective, out);
            text_add(out, "<td class=number>");
            add_value(json_object_get(trial, "winner"), objective, out);
            html_cell(out, run_member(json_object_get(trial, "objectives"), run_member(objective, "name")));
            text_add(out, "</tr>\n");
        }
        if (!json_is_true(json_object_get(json_object_get(trial, "winner"), "feasible"))) {
            const json_t *winner = json_object_get(trial, "winner");
            text_add(out, "<tr><td><td colspan=4 class=failed>it %s the constraints there: ",
                     json_object_get(winner, "feasible") ? "does not meet" : "is not known to meet");
            html_escaped(out, run_member(winner, "why"));
            text_add(out, "</tr>\n");
        }
    }
    text_add(out, "</table></div>\n");
}

static void add_importance(const json_t *d, struct text *out)
{
    const json_t *entry;
    size_t i;
    if (!json_array_size(json_object_get(d, "importance")))
        return;
    text_add(out,
             "<h2>What matters</h2>\n<p class=soft>The share of an objective's variance, over all that was "
             "tried, that a parameter alone tells, less what chance would. The search looks most where it is "
             "good, so shares are not those of the whole ranges.</p>\n<div class=scroll><table "
             "class=wide><tr><th>parameter<th>objective<th class=number>share, %%<th>tried, and not told "
             "from the best</tr>\n");
    json_array_foreach(json_object_get(d, "importance"), i, entry)
    {
        const json_t *flat = json_object_get(entry, "flat");
        bool told = json_is_true(json_object_get(entry, "told"));
        text_add(out, "<tr>");
        html_cell(out, run_member(entry, "path"));
        html_cell(out, run_member(entry, "objective"));
        if (told)
            html_number_cell(out, round(100 * html_value(json_object_get(entry, "share"))));
        else
            text_add(out, "<td class=number><span class=soft>no more than chance</span>");
        text_add(out, "<td>");
        if (told && flat) {
            char *low = json_bare(json_array_get(flat, 0)), *high = json_bare(json_array_get(flat, 1));
            text_add(out, "from ");
            html_escaped(out, low ? low : "");
            text_add(out, " to ");
            html_escaped(out, high ? high : "");
            free(low);
            free(high);
        }
        text_add(out, "</tr>\n");
    }
    text_add(out, "</table></div>\n");
}

static void add_unexplored(const json_t *d, struct text *out)
{
    const json_t *sentence;
    size_t i;
    text_add(out, "<h2>What was not explored</h2>\n<ul>\n");
    json_array_foreach(json_object_get(d, "unexplored"), i, sentence)
    {
        text_add(out, "<li>");
        html_escaped(out, json_string_value(sentence) ? json_string_value(sentence) : "");
        text_add(out, "\n");
    }
    text_add(out, "</ul>\n");
}

static void add_tried(const json_t *d, struct text *out)
{
    const json_t *tried = json_object_get(d, "tried"), *entry;
    size_t i, all = json_array_size(tried);
    text_add(out, "<details><summary>All %zu candidates%s</summary>\n", all,
             all > TRIED_MOST ? ", of which the first 500 are shown; search.json has all" : "");
    add_head(d, "candidate", out);
    json_array_foreach((json_t *)(uintptr_t)tried, i, entry)
    {
        struct text name = {0};
        if (i == TRIED_MOST)
            break;
        text_add(&name, "%zu, round %lld", i + 1, count_of(entry, "round"));
        add_row(d, entry, text_string(&name), out);
        text_free(&name);
    }
    text_add(out, "</table></div></details>\n");
}

void page_search_write(const json_t *d, const struct drawing *drawings, size_t count, struct text *out)
{
    struct text title = {0};
    size_t first = json_array_size(json_object_get(d, "objectives")), i;
    first = first > 1 ? first - 1 : 1;
    text_add(&title, "Search: %s", run_member(d, "scenario"));
    page_begin(text_string(&title), NULL, out);
    add_heading(d, out);
    for (i = 0; i < count && i < first; i++)
        page_add_drawing(&drawings[i], "", out);
    add_best(d, out);
    add_trials(d, out);
    add_use(d, out);
    add_importance(d, out);
    add_unexplored(d, out);
    for (; i < count; i++)
        page_add_drawing(&drawings[i], "", out);
    add_tried(d, out);
    page_end(NULL, out);
    text_free(&title);
}
