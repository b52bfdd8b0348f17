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
    ".sortable "
    "button{font:inherit;color:inherit;background:none;border:0;padding:0;text-align:inherit;cursor:"
    "pointer}.sortable button:after{content:' \\2195';opacity:.5}"
    "th[aria-sort=ascending] button:after{content:' \\2191';opacity:1}"
    "th[aria-sort=descending] button:after{content:' \\2193';opacity:1}"
    ".sortable th{vertical-align:bottom;overflow-wrap:anywhere;min-width:7em}.sortable "
    "td:first-child{min-width:0;white-space:nowrap}"
    ".choice{white-space:nowrap}.words{min-width:14em}.failures "
    "td{border-left:4px solid transparent}.failures td:first-child{border-left-color:var(--bad)}\n"
    "@media(max-width:700px){main{padding:16px 12px 40px}figure img{width:720px;max-width:none}"
    "td,th{padding:4px 7px}}\n"
    "@media print{main{max-width:none;padding:0}.scroll{overflow:visible}figure{break-inside:avoid}"
    "table{font-size:10px}td,th{padding:2px 4px}thead{display:table-header-group}.sortable "
    "button:after{content:''}}\n"
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

static void add_heading(const struct runs *runs, struct text *out)
{
    bool one = runs->results == 1 && runs->index;
    struct origins origins = {0};
    for (size_t i = 0; i < runs->count; i++)
        run_count_origin(&runs->items[i], &origins);
    text_add(out, "<h1>");
    html_escaped(out, runs->title);
    text_add(out, "</h1>\n<p>");
    html_verdict(out, one ? run_member(runs->index, "verdict") : worst_verdict(runs));
    page_add_pills(&origins, out);
    add_origins(runs, out);
    text_add(out, "</p>\n");
    page_add_what_it_is(&origins, out);
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

void page_add_drawing(const struct drawing *drawing, struct text *out)
{
    text_add(out, "<figure><div class=scroll><img loading=lazy src=\"%s.svg\" alt=\"", drawing->name);
    html_escaped(out, drawing->title);
    text_add(out, "\"></div><figcaption>");
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
        page_add_drawing(&drawings[i], out);
    }
}

void page_begin(const char *title, struct text *out)
{
    text_add(out, "<!doctype html>\n<html lang=en><meta charset=utf-8><meta name=viewport "
                  "content=\"width=device-width\">\n<title>");
    html_escaped(out, title);
    text_add(out, "</title>\n<style>\n%s</style>\n<main>\n", style);
}

void page_write(const struct runs *runs, const struct drawing *drawings, size_t count, bool table,
                struct text *out)
{
    page_begin(runs->title, out);
    add_heading(runs, out);
    page_add_summary(runs, out);
    page_add_listed(runs, out);
    page_add_warnings(runs, out);
    page_add_differences(runs, out);
    page_add_ratios(runs, out);
    page_add_published(runs, out);
    page_add_expectations(runs, out);
    add_drawings(runs, drawings, count, out);
    if (table)
        text_add(out, "<p>All figures of each run, for a spreadsheet or a program: <a "
                      "href=\"sweep.csv\">sweep.csv</a>.</p>\n");
    page_add_details(runs, out);
    text_add(out, "</main>\n</html>\n");
}
