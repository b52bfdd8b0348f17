/* The list of runs as a page and as JSON. */
#include "reports/browse/browse.h"

#include "lib/document/json_text.h"
#include "reports/page/html.h"
#include "reports/page/page_parts.h"
#include <ctype.h>
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
    return json_make("{s:o,s:I}", "runs", runs, "left_out", (json_int_t)list->left_out);
}

/* ---- the page */

/* A path as a part of an address: every byte that could have a meaning there is %XX. */
static void add_address(struct text *out, const char *path)
{
    for (const unsigned char *c = (const unsigned char *)path; *c; c++)
        text_add(out, isalnum(*c) || strchr("/-_.~", *c) ? "%c" : "%%%02X", *c);
}

static void add_link(const struct browse_run *run, const char *results, bool beside, struct text *out)
{
    text_add(out, "<td><a href=\"");
    if (!beside) {
        text_add(out, "file://");
        add_address(out, results);
        text_add(out, "/");
    } else {
        text_add(out, "./"); /* a name with a colon is not a scheme */
    }
    char *started = browse_shown_time(run, 19);
    const char *time = started ? started : run->started;
    add_address(out, run->folder);
    text_add(out, "%s\">", run->has_page ? "/report/index.html" : "/");
    html_escaped(out, *time ? time : "?");
    text_add(out, "</a></td>");
    free(started);
}

static void add_row(const struct browse_run *run, const char *results, bool beside, struct text *out)
{
    text_add(out, "<tr>");
    add_link(run, results, beside, out);
    text_add(out, "<td>");
    html_verdict(out, run->verdict);
    text_add(out, "</td>");
    html_cell(out, run->scenario);
    text_add(out, "<td>");
    html_escaped(out, run->lab);
    if (*run->origin && strcmp(run->origin, "measured") != 0) {
        text_add(out, " <span class=\"pill simulated\">");
        html_escaped(out, run->origin);
        text_add(out, "</span>");
    }
    text_add(out, "</td>");
    html_cell(out, run->varied);
    html_cell(out, run->reason);
    html_number_cell(out, run->delivered_bps / 1e9);
    html_number_cell(out, run->goodput_bps / 1e9);
    html_number_cell(out, run->pauses);
    html_number_cell(out, run->cnps);
    html_number_cell(out, run->latency_p99_us);
    html_cell(out, run->folder);
    text_add(out, "</tr>\n");
}

void browse_page(const struct browse_list *list, const char *results, bool beside, struct text *out)
{
    page_begin("Runs", NULL, out);
    text_add(out, "<h1>Runs</h1><p class=soft>%zu of %zu runs below <code>", list->count,
             list->count + list->left_out + list->beyond);
    html_escaped(out, results);
    text_add(out, "</code>%s%s</p><p id=filter></p>\n",
             list->left_out ? ", those that fit the options of the list" : "",
             list->beyond ? ", up to its limit" : "");
    text_add(out,
             "<div class=scroll><table class=runs><thead><tr><th>started, UTC<th>verdict<th>scenario<th>lab"
             "<th>varied<th>reason<th class=number>delivered, Gb/s<th class=number>goodput, Gb/s<th "
             "class=number>pauses received<th "
             "class=number>CNPs obeyed<th class=number>latency p99, us<th>folder</tr></thead>"
             "<tbody>\n");
    for (size_t i = 0; i < list->count; i++)
        add_row(&list->runs[i], results, beside, out);
    text_add(out, "</tbody></table></div>\n");
    page_end(NULL, out);
}
