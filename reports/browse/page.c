/* The list of runs as a page and as JSON. */
#include "reports/browse/browse.h"

#include "lib/document/json_text.h"
#include "reports/page/html.h"
#include "reports/page/page_parts.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- JSON */

static json_t *run_json(const struct browse_run *run)
{
    return json_make("{s:s,s:s,s:s*,s:s*,s:s*,s:s*,s:s*,s:O*,s:s*,s:f,s:f,s:f,s:f,s:f,s:{s:I,s:I,s:I},s:b}",
                     "folder", run->folder, "verdict", run->verdict, "reason",
                     *run->reason ? run->reason : NULL, "started", *run->started ? run->started : NULL,
                     "scenario", *run->scenario ? run->scenario : NULL, "lab", *run->lab ? run->lab : NULL,
                     "origin", *run->origin ? run->origin : NULL, "cell", run->cell, "varied",
                     *run->varied ? run->varied : NULL, "delivered_bps", run->delivered_bps, "goodput_bps",
                     run->goodput_bps, "pauses", run->pauses, "cnps", run->cnps, "latency_p99_us",
                     run->latency_p99_us, "expectations", "passed", (json_int_t)run->passed, "failed",
                     (json_int_t)run->failed, "skipped", (json_int_t)run->skipped, "page", run->has_page);
}

json_t *browse_json(const struct browse_list *list)
{
    json_t *runs = json_array();
    for (size_t i = 0; runs && i < list->count; i++)
        json_array_append_new(runs, run_json(&list->runs[i]));
    json_t *lacks = json_array();
    for (size_t i = 0; lacks && i < list->lack_count; i++) {
        const struct browse_lack *lack = &list->lacks[i];
        json_array_append_new(lacks, json_make("{s:s,s:s,s:s,s:I,s:I}", "folder", lack->folder, "verdict",
                                               lack->verdict, "reason", lack->reason, "runs",
                                               (json_int_t)lack->runs, "found", (json_int_t)lack->found));
    }
    return json_make("{s:o,s:o,s:I}", "runs", runs, "not_whole", lacks, "left_out",
                     (json_int_t)list->left_out);
}

/* ---- the page */

static void add_link(const struct browse_run *run, const char *results, bool beside, const char *words,
                     struct text *out)
{
    text_add(out, "<a href=\"");
    if (!beside) {
        text_add(out, "file://");
        html_address(out, results);
        text_add(out, "/");
    } else {
        text_add(out, "./"); /* a name with a colon is not a scheme */
    }
    html_address(out, run->folder);
    text_add(out, "%s\">", run->has_page ? "/report/index.html" : "/");
    html_escaped(out, words);
    text_add(out, "</a>");
}

enum browse_column {
    COLUMN_STARTED,
    COLUMN_VERDICT,
    COLUMN_SCENARIO,
    COLUMN_LAB,
    COLUMN_VARIED,
    COLUMN_REASON,
    COLUMN_DELIVERED,
    COLUMN_GOODPUT,
    COLUMN_PAUSES,
    COLUMN_CNPS,
    COLUMN_LATENCY,
    COLUMN_FOLDER,
};
#define COLUMNS (COLUMN_FOLDER + 1)

static const struct {
    const char *title;
    bool number;
} columns[COLUMNS] = {
    [COLUMN_STARTED] = {"started, UTC", false},
    [COLUMN_VERDICT] = {"verdict", false},
    [COLUMN_SCENARIO] = {"scenario", false},
    [COLUMN_LAB] = {"lab", false},
    [COLUMN_VARIED] = {"varied", false},
    [COLUMN_REASON] = {"reason", false},
    [COLUMN_DELIVERED] = {"delivered, Gb/s", true},
    [COLUMN_GOODPUT] = {"goodput, Gb/s", true},
    [COLUMN_PAUSES] = {"PFC frames received", true},
    [COLUMN_CNPS] = {"CNPs obeyed", true},
    [COLUMN_LATENCY] = {"latency p99, us", true},
    [COLUMN_FOLDER] = {"folder", false},
};

/* NAN for a column of words, and for what is unknown. */
static double number_of(const struct browse_run *run, enum browse_column column)
{
    switch (column) {
    case COLUMN_DELIVERED:
        return run->delivered_bps / 1e9;
    case COLUMN_GOODPUT:
        return run->goodput_bps / 1e9;
    case COLUMN_PAUSES:
        return run->pauses;
    case COLUMN_CNPS:
        return run->cnps;
    case COLUMN_LATENCY:
        return run->latency_p99_us;
    default:
        return NAN;
    }
}

/* Does any of them say something there? */
static bool is_said(const struct browse_run *runs, size_t count, enum browse_column column)
{
    for (size_t i = 0; i < count; i++)
        if ((column == COLUMN_VARIED   ? *runs[i].varied != '\0'
             : column == COLUMN_REASON ? *runs[i].reason != '\0'
             : columns[column].number  ? isfinite(number_of(&runs[i], column)) != 0
                                       : true) ||
            is_said(runs[i].cells, runs[i].cell_count, column))
            return true;
    return false;
}

static void add_lab(const struct browse_run *run, struct text *out)
{
    html_escaped(out, run->lab);
    if (*run->origin && strcmp(run->origin, "measured") != 0) {
        text_add(out, " <span class=simulated>");
        html_escaped(out, run->origin);
        text_add(out, "</span>");
    }
}

/* The page of a run or a sweep, and what shows the runs of a sweep; of one of these its folder alone. */
static void add_beginning(const struct browse_run *run, const char *results, bool beside, struct text *out)
{
    char *started = browse_shown_time(run, 19);
    const char *name = strrchr(run->folder, '/');
    add_link(run, results, beside, *run->sweep && name ? name + 1 : started && *started ? started : "?", out);
    if (run->cell_count)
        text_add(out, "<br><label><input type=checkbox> show %zu %s</label>", run->cell_count,
                 THINGS(run->cell_count, "run"));
    free(started);
}

static void add_row(const struct browse_run *run, const bool *shown, bool is_cell, const char *results,
                    bool beside, struct text *out)
{
    text_add(out, is_cell ? "<tr class=cell>" : "<tr>");
    for (enum browse_column i = 0; i < COLUMNS; i++) {
        if (!shown[i])
            continue;
        text_add(out, "<td%s", columns[i].number ? " class=number" : "");
        if (i > COLUMN_SCENARIO)
            text_add(out, " data-t=\"%s\"", columns[i].title);
        text_add(out, ">");
        if (i == COLUMN_STARTED)
            add_beginning(run, results, beside, out);
        else if (i == COLUMN_VERDICT)
            html_verdict(out, run->verdict);
        else if (i == COLUMN_SCENARIO && !is_cell)
            html_escaped(out, run->scenario);
        else if (i == COLUMN_LAB && !is_cell)
            add_lab(run, out);
        else if (i == COLUMN_VARIED || i == COLUMN_REASON)
            html_escaped(out, i == COLUMN_VARIED ? run->varied : run->reason);
        else if (columns[i].number && !run->is_sweep)
            html_number(out, number_of(run, i));
        else if (i == COLUMN_FOLDER && !is_cell)
            html_escaped(out, run->folder);
        text_add(out, "</td>");
    }
    text_add(out, "</tr>\n");
}

void browse_page(const struct browse_list *list, const char *results, bool beside, struct text *out)
{
    bool shown[COLUMNS];
    page_begin("Runs", NULL, out);
    text_add(out, "<h1>Runs</h1><p class=soft>%zu of %zu runs below <code>", browse_count(list, 0),
             browse_count(list, 0) + list->left_out + list->beyond);
    html_escaped(out, results);
    text_add(out, "</code>%s%s</p><p id=filter></p>\n",
             list->left_out ? ", those that fit the options of the list" : "",
             list->beyond ? ", up to its limit" : "");
    text_add(out, "<div class=scroll><table class=runs><thead><tr>");
    for (enum browse_column i = 0; i < COLUMNS; i++) {
        shown[i] = is_said(list->runs, list->count, i);
        if (shown[i])
            text_add(out, "<th%s>%s", columns[i].number ? " class=number" : "", columns[i].title);
    }
    text_add(out, "</tr></thead>\n");
    for (size_t i = 0; i < list->count; i++) {
        const struct browse_run *run = &list->runs[i];
        text_add(out, "<tbody>\n");
        add_row(run, shown, false, results, beside, out);
        for (size_t k = 0; k < run->cell_count; k++)
            add_row(&run->cells[k], shown, true, results, beside, out);
        text_add(out, "</tbody>\n");
    }
    text_add(out, "</table></div>\n");
    page_end(NULL, out);
}
