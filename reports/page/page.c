#include "reports/page/page.h"

#include "reports/page/html.h"
#include "reports/page/page_parts.h"
#include "lib/formats/origin.h"
#include <stdint.h>
#include <string.h>

static const char style[] =
    ":root{--ink:#1b1f24;--soft:#5b6470;--line:#e1e4e8;--back:#fff;--panel:#f7f8fa;--good:#1a7f37;--bad:#"
    "c62828;--skip:#8a6d00;"
    "--mark:#b35900}\n"
    "*{box-sizing:border-box}body{margin:0;background:var(--back);color:var(--ink);font:15px/1.5 "
    "system-ui,sans-serif}\n"
    "main{max-width:1040px;margin:0 auto;padding:28px 20px 60px}\n"
    "h1{font-size:26px;margin:0 0 4px}h2{font-size:19px;margin:34px 0 10px;padding-top:10px;border-top:1px "
    "solid var(--line)}\n"
    "h3{font-size:16px;margin:22px 0 8px}p{margin:6px 0}.soft{color:var(--soft)}\n"
    ".pill{display:inline-block;padding:1px "
    "10px;border-radius:11px;font-size:13px;font-weight:600;border:1px solid}\n"
    ".passed{color:var(--good)}.failed,.incomplete{color:var(--bad)}.skipped{color:var(--skip)}.simulated,."
    "virtual,.mixed{"
    "color:var(--mark)}\n"
    ".scroll{overflow-x:auto}table{border-collapse:collapse;width:100%;font-size:14px}\n"
    "th{text-align:left;font-weight:600;color:var(--soft);border-bottom:2px solid var(--line);padding:5px "
    "10px}\n"
    "td{border-bottom:1px solid var(--line);padding:5px 10px;vertical-align:top}\n"
    ".number{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}"
    "th.number{white-space:normal;vertical-align:bottom}td:first-child{min-width:150px}\n"
    "code{font:13px ui-monospace,monospace;background:var(--panel);padding:0 "
    "4px;border-radius:3px;overflow-wrap:anywhere}\n"
    "figure{margin:14px 0 22px}figure img{width:100%;height:auto;border:1px solid "
    "var(--line);border-radius:6px}\n"
    "figcaption{color:var(--soft);font-size:13.5px;padding:4px 2px}a{color:#0b5cad}\n"
    ".notice{margin:18px 0;padding:10px 16px;border-left:4px solid "
    "var(--mark);background:var(--panel);border-radius:0 6px 6px 0}"
    ".notice ul{margin:6px 0;padding-left:20px}.notice li{margin:4px 0}\n"
    "details{margin:10px 0;border:1px solid var(--line);border-radius:6px;background:var(--panel)}\n"
    "summary{cursor:pointer;padding:8px 12px;font-weight:600}details>div{padding:0 12px "
    "12px;background:var(--back)}\n"
    "pre{overflow:auto;font:12.5px/1.45 "
    "ui-monospace,monospace;background:var(--panel);padding:10px;margin:0}\n"
    "@media(prefers-color-scheme:dark){:root{--ink:#e6e8eb;--soft:#9aa4b0;--line:#333a44;--back:#14171b;--"
    "panel:#1c2127;"
    "--good:#4ac26b;--bad:#ff7b72;--skip:#d8b13c;--mark:#f0a34f}a{color:#6cb0ff}figure "
    "img{background:#fff}}\n";

/* The worst verdict of all runs: the order is that of harness/verdict. */
static const char *worst_verdict(const struct runs *runs)
{
    static const char *const order[] = {"skipped", "passed", "failed", "incomplete"};
    size_t worst = 0;
    for (size_t i = 0; i < runs->count; i++)
        for (size_t j = worst; j < sizeof order / sizeof *order; j++)
            if (strcmp(run_text(&runs->items[i], "verdict"), order[j]) == 0)
                worst = j;
    return order[worst];
}

/* Scenario, lab and start of a run. */
static void add_origin(const struct run *run, const char *label, struct text *out)
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
        add_origin(&runs->items[0], "", out);
    for (size_t i = 0; runs->results > 1 && i < runs->count; i++) {
        text_add(out, "<br>");
        add_origin(&runs->items[i], run_label(&runs->items[i]), out);
    }
}

static size_t count_of(const struct runs *runs, enum origin origin)
{
    size_t count = 0;
    for (size_t i = 0; i < runs->count; i++)
        count += origin_of_result(runs->items[i].result) == origin;
    return count;
}

static void add_pills(const struct runs *runs, struct text *out)
{
    for (int origin = 0; origin_names[origin]; origin++)
        if (origin_word((enum origin)origin) && count_of(runs, (enum origin)origin))
            text_add(out, " <span class=\"pill %s\">%s</span> ", origin_names[origin],
                     origin_word((enum origin)origin));
}

/* "The line carries 20 Mb/s and stands for 100 Gb/s (1:5000)." Of the first run that has such a line. */
static void add_scaled(const struct runs *runs, struct text *out)
{
    for (size_t i = 0; i < runs->count; i++) {
        const json_t *scaled = run_get(&runs->items[i], "scaled");
        double line = json_number_value(json_object_get(scaled, "line_bps"));
        double nominal = json_number_value(json_object_get(scaled, "nominal_bps"));
        if (!(line > 0) || !(nominal > 0))
            continue;
        text_add(out, " The line carries %.6g Mb/s and stands for %.6g Gb/s (1:%.6g).", line / 1e6,
                 nominal / 1e9, nominal / line);
        return;
    }
}

/* Does a flow use memory that stands for a GPU's? */
static bool in_virtual_gpu(const struct run *run)
{
    const char *name;
    json_t *flow;
    json_object_foreach((json_t *)(uintptr_t)run_get(run, "flows"), name, flow)
    {
        if (strcmp(run_member(json_object_get(flow, "memory_used"), "route"), "virtual-dmabuf") == 0)
            return true;
    }
    return false;
}

static void add_virtual_gpu(const struct runs *runs, struct text *out)
{
    for (size_t i = 0; i < runs->count; i++)
        if (in_virtual_gpu(&runs->items[i])) {
            text_add(out, " GPU memory is memory of the same model, no GPU's.");
            return;
        }
}

/* What the readers of a page have to know of runs that were not measured on hardware. */
static void add_what_it_is(const struct runs *runs, struct text *out)
{
    size_t simulated = count_of(runs, ORIGIN_SIMULATED), virtual = count_of(runs, ORIGIN_VIRTUAL);
    size_t mixed = count_of(runs, ORIGIN_MIXED);
    if (simulated)
        text_add(out, "<p class=simulated><strong>%s</strong></p>\n",
                 simulated < runs->count ? "Some of these runs were computed by the built-in simulator."
                 : runs->results > 1
                     ? "All values of these runs were computed by the built-in simulator; none was "
                       "measured on hardware."
                     : "All values of this run were computed by the built-in simulator; none was "
                       "measured on hardware.");
    if (virtual || mixed) {
        text_add(out, "<p class=virtual><strong>%s: the kernel's own drivers work on a model of the device.",
                 virtual < runs->count ? "Some of the NICs are virtual ConnectX"
                                       : "The NICs are virtual ConnectX");
        text_add(out, " Counters and settings are the drivers'; rates and times are no hardware's.");
        add_scaled(runs, out);
        add_virtual_gpu(runs, out);
        text_add(out, "</strong></p>\n");
    }
}

static void add_heading(const struct runs *runs, struct text *out)
{
    bool one = runs->results == 1 && runs->index;
    text_add(out, "<h1>");
    html_escaped(out, runs->title);
    text_add(out, "</h1>\n<p>");
    html_verdict(out, one ? run_member(runs->index, "verdict") : worst_verdict(runs));
    add_pills(runs, out);
    add_origins(runs, out);
    text_add(out, "</p>\n");
    add_what_it_is(runs, out);
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

static void add_drawing(const struct drawing *drawing, struct text *out)
{
    text_add(out, "<figure><img loading=lazy src=\"%s.svg\" alt=\"", drawing->name);
    html_escaped(out, drawing->title);
    text_add(out, "\"><figcaption>");
    html_escaped(out, drawing->caption);
    text_add(out,
             " <a href=\"%s.svg\">SVG</a> <a href=\"%s.png\">PNG</a> <a href=\"%s.tsv\">data</a> <a "
             "href=\"%s.gp\">script</a>"
             "</figcaption></figure>\n",
             drawing->name, drawing->name, drawing->name, drawing->name);
}

static void add_drawings(const struct runs *runs, const struct drawing *drawings, size_t count,
                         struct text *out)
{
    size_t last = SIZE_MAX - 1;
    for (size_t i = 0; i < count; i++) {
        size_t run = runs->count == 1 ? 0 : drawings[i].run; /* there is only this run */
        if (run != last) {
            text_add(out, "<h2>");
            html_escaped(out, run == SIZE_MAX ? "All runs" : run_label(&runs->items[run]));
            text_add(out, "</h2>\n");
        }
        last = run;
        add_drawing(&drawings[i], out);
    }
}

void page_write(const struct runs *runs, const struct drawing *drawings, size_t count, struct text *out)
{
    text_add(out, "<!doctype html>\n<html lang=en><meta charset=utf-8><meta name=viewport "
                  "content=\"width=device-width\">\n<title>");
    html_escaped(out, runs->title);
    text_add(out, "</title>\n<style>\n%s</style>\n<main>\n", style);
    add_heading(runs, out);
    page_add_summary(runs, out);
    page_add_warnings(runs, out);
    page_add_differences(runs, out);
    page_add_ratios(runs, out);
    page_add_published(runs, out);
    page_add_expectations(runs, out);
    add_drawings(runs, drawings, count, out);
    page_add_details(runs, out);
    text_add(out, "</main>\n</html>\n");
}
