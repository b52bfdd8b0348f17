#include "reports/page/page.h"

#include "reports/page/files.h"
#include "reports/page/html.h"
#include "reports/page/page_parts.h"
#include "lib/formats/origin.h"
#include "lib/formats/verdicts.h"
#include <stdint.h>
#include <string.h>

void page_add_origin(const struct run *run, const char *label, struct text *out)
{
    text_add(out, "<span class=soft>");
    html_escaped(out, label);
    text_add(out, "%sscenario <code>", *label ? ": " : "");
    html_escaped(out, run_text(run, "scenario.name"));
    text_add(out, "</code>, lab <code>");
    html_escaped(out, run_text(run, "lab.name"));
    text_add(out, "</code>, ");
    html_escaped(out, run_text(run, "started"));
    text_add(out, ", harness ");
    html_escaped(out, run_text(run, "version"));
    text_add(out, "</span>");
}

/* One for a run or a sweep, one for each run of a comparison. */
static void add_origins(const struct runs *runs, struct text *out)
{
    if (runs->results < 2)
        page_add_origin(&runs->items[0], "", out);
    for (size_t i = 0; runs->results > 1 && i < runs->count; i++) {
        text_add(out, "<br>");
        page_add_origin(&runs->items[i], run_label(&runs->items[i]), out);
    }
}

void page_add_pills(const struct origins *origins, struct text *out)
{
    for (int origin = 0; origin_names[origin]; origin++)
        if (origin_word((enum origin)origin) && origins->with[origin])
            text_add(out, " <span class=\"pill %s\">%s</span> ", origin_names[origin],
                     origin_word((enum origin)origin));
}

void page_add_what_it_is(const struct origins *origins, struct text *out)
{
    size_t simulated = origins->with[ORIGIN_SIMULATED], virtual = origins->with[ORIGIN_VIRTUAL];
    if (simulated)
        text_add(out, "<p class=simulated><strong>%s</strong></p>\n",
                 simulated < origins->runs ? "Some of these runs were computed by the built-in simulator."
                 : origins->runs > 1       ? "All values of these runs were computed by the built-in "
                                             "simulator; none was measured on hardware."
                                           : "All values of this run were computed by the built-in "
                                             "simulator; none was measured on hardware.");
    if (!virtual && !origins->with[ORIGIN_MIXED])
        return;
    text_add(out, "<p class=virtual><strong>%s: the kernel's own drivers work on a model of the device.",
             virtual < origins->runs ? "Some of the NICs are virtual ConnectX"
                                     : "The NICs are virtual ConnectX");
    text_add(out, " Counters and settings are the drivers'; rates and times are no hardware's.");
    if (origins->nominal_bps > 0)
        text_add(out, " The line carries %.6g Mb/s and stands for %.6g Gb/s (1:%.6g).",
                 origins->line_bps / 1e6, origins->nominal_bps / 1e9,
                 origins->nominal_bps / origins->line_bps);
    if (origins->virtual_gpu)
        text_add(out, " GPU memory is memory of the same model, no GPU's.");
    text_add(out, "</strong></p>\n");
}

/* Once, with the reason of the first. */
static void add_unjudged(const struct runs *runs, struct text *out)
{
    for (size_t i = 0; i < runs->count; i++) {
        if (run_verdict(&runs->items[i]) != VERDICT_UNJUDGED)
            continue;
        text_add(out, "<p class=unjudged>");
        html_escaped(out, run_text(&runs->items[i], "reason"));
        text_add(out, "</p>\n");
        return;
    }
}

static void add_heading(const struct runs *runs, struct text *out)
{
    bool one = runs->results == 1 && runs->index;
    struct origins origins = {0};
    for (size_t i = 0; i < runs->count; i++)
        run_count_origin(&runs->items[i], &origins);
    text_add(out, "<h1>");
    html_escaped(out, runs->title);
    text_add(out, "</h1>\n<p>");
    html_verdict(out, one ? run_member(runs->index, "verdict") : verdict_names[runs_verdict(runs)]);
    text_add(out, " ");
    page_add_pills(&origins, out);
    add_origins(runs, out);
    text_add(out, "</p>\n");
    page_add_what_it_is(&origins, out);
    add_unjudged(runs, out);
    if (one)
        page_add_unfinished(runs->index, out);
    for (size_t i = 0; i < runs->count; i++) {
        if (!json_is_false(run_get(&runs->items[i], "complete")))
            continue;
        text_add(out, "<p class=incomplete><strong>");
        html_escaped(out, run_label(&runs->items[i]));
        text_add(out, " is incomplete:</strong> ");
        html_escaped(out, run_text(&runs->items[i], "reason"));
        text_add(out, "</p>\n");
    }
}

/* `run`: its name, where the figures of several can be laid over one another. */
void page_add_drawing(const struct drawing *drawing, const char *run, struct text *out)
{
    text_add(out, "<figure><div class=\"scroll picture\"><img src=\"data:image/svg+xml;base64,");
    html_base64(out, drawing->picture, drawing->picture_length);
    text_add(out, "\" alt=\"");
    html_escaped(out, drawing->title);
    text_add(out, "\"></div>");
    if (drawing->data.length) {
        text_add(out, "<script type=\"application/json\" class=plot data-run=\"");
        html_escaped(out, run);
        text_add(out, "\">");
        text_add_bytes(out, drawing->data.data, drawing->data.length);
        text_add(out, "</script>\n");
    }
    text_add(out, "<figcaption>");
    html_escaped(out, drawing->caption);
    if (drawing->note) {
        text_add(out, " <span class=picture-note>");
        html_escaped(out, drawing->note);
        text_add(out, "</span>");
    }
    text_add(out, " <a href=\"%s.svg\">SVG</a>", drawing->name);
    if (drawing->png)
        text_add(out, " <a href=\"%s.png\">PNG</a>", drawing->name);
    text_add(out, " <a href=\"%s.tsv\">data</a></figcaption></figure>\n", drawing->name);
}

/* The times of figures are not those of the scenario and of sentences about the run. */
static void add_beginning(const struct run *run, struct text *out)
{
    text_add(out, "<p class=soft>Times in the figures count from the beginning of the measure phase");
    if (json_is_true(run_get(run, "simulated")) && run->start_ns > 0)
        text_add(out,
                 ", which was %.6g ms after that of the run, from which "
                 "times in warnings count",
                 (double)run->start_ns / 1e6);
    text_add(out, ".</p>\n");
}

static void add_drawings(const struct runs *runs, const struct drawing *drawings, size_t count,
                         size_t explaining, struct text *out)
{
    size_t last = SIZE_MAX - 1;
    for (size_t i = 0; i < count; i++) {
        if (i == explaining) /* stands on the first screen */
            continue;
        size_t run = runs->count == 1 ? 0 : drawings[i].run; /* there is only this run */
        if (run != last) {
            text_add(out, "<h2>");
            html_escaped(out, run == SIZE_MAX ? "All runs" : run_label(&runs->items[run]));
            text_add(out, "</h2>\n");
            if (run != SIZE_MAX)
                add_beginning(&runs->items[run], out);
        }
        last = run;
        page_add_drawing(&drawings[i], run == SIZE_MAX ? "" : run_label(&runs->items[run]), out);
    }
    if (runs->count > runs_drawn(runs))
        text_add(out,
                 "<p class=soft>Curves over time are drawn of up to %zu runs, and these are %zu: name fewer "
                 "folders.</p>\n",
                 runs_drawn(runs), runs->count);
}

/* Nothing is loaded, and no script runs but the page's own and the library: text of results that became
 * markup by a mistake of ours would do nothing. */
static void add_policy(const struct page_library *library, struct text *out)
{
    text_add(out,
             PAGE_BEGINS
             "style-src 'unsafe-inline'; script-src '%s'%s; base-uri 'none'; form-action 'none'\">\n",
             page_script_digest, library && library->script ? " '" PAGE_LIBRARY_DIGEST "'" : "");
}

void page_begin(const char *title, const struct page_library *library, struct text *out)
{
    add_policy(library, out);
    text_add(out, "<meta name=viewport content=\"width=device-width\">\n<title>");
    html_escaped(out, title);
    text_add(out, "</title>\n<style>\n%s%s</style>\n<main>\n",
             library && library->style ? library->style : "", page_style);
}

void page_end(const struct page_library *library, struct text *out)
{
    if (library && library->script) {
        text_add(out,
                 "<details><summary>Licence of uPlot, which draws the interactive figures</summary><pre>");
        html_escaped(out, library->licence);
        text_add(out, "</pre></details>\n");
    }
    text_add(out, "</main>\n");
    if (library && library->script)
        text_add(out, "<script>%s</script>\n", library->script);
    text_add(out, "<script>%s</script>\n</html>\n", page_script);
}

void page_write(const struct runs *runs, const struct drawing *drawings, size_t count, bool table,
                const struct page_library *library, struct text *out)
{
    size_t explaining = page_explaining(runs, drawings, count);
    page_begin(runs->title, library, out);
    add_heading(runs, out);
    page_add_first(runs, drawings, explaining, out);
    page_add_differences(runs, out);
    page_add_warnings(runs, out);
    page_add_why(runs, out);
    page_add_summary(runs, out);
    page_add_listed(runs, out);
    page_add_flows(runs, out);
    page_add_ratios(runs, out);
    page_add_published(runs, out);
    page_add_expectations(runs, out);
    page_add_repeated(runs, out);
    add_drawings(runs, drawings, count, explaining, out);
    if (table)
        text_add(out, "<p>All figures of each run, for a spreadsheet or a program: <a "
                      "href=\"sweep.csv\">sweep.csv</a>.</p>\n");
    page_add_details(runs, out);
    page_end(library, out);
}
