#include "reports/page/page_burn_in.h"

#include "reports/page/html.h"
#include "reports/page/page_parts.h"
#include "reports/page/page.h"
#include "lib/files.h"
#include <math.h>
#include <stdint.h>
#include <string.h>

#define MATRIX_MOST 32 /* NICs of a rail whose pairs are drawn as a matrix */

/* ---- the first screen */

static void add_heading(const json_t *d, struct text *out)
{
    size_t found = json_array_size(json_object_get(d, "findings"));
    bool simulated = json_is_true(json_object_get(d, "simulated"));
    text_add(out, "<h1>Burn-in of ");
    html_escaped(out, run_member(d, "lab"));
    text_add(out, "</h1>\n<p>");
    html_verdict(out, run_member(d, "verdict"));
    text_add(out, "%s <span class=soft>",
             simulated ? " <span class=\"pill simulated\">simulated</span>" : "");
    html_escaped(out, run_member(d, "started"));
    text_add(out, ", harness ");
    html_escaped(out, run_member(d, "version"));
    text_add(out, "</span></p>\n");
    if (simulated)
        text_add(out,
                 "<p class=simulated><strong>All values were computed by the built-in simulator; none was "
                 "measured on hardware.</strong></p>\n");
    text_add(out, "<p class=lead>%zu %s of %zu NICs%s.</p>\n", found, THINGS(found, "finding"),
             json_object_size(json_object_get(d, "figures")),
             json_is_true(json_object_get(d, "complete")) ? "" : "; not all stages are whole");
}

static void add_finding(const json_t *finding, struct text *out)
{
    const json_t *line;
    size_t i;
    text_add(out, "<div class=cause><p>");
    html_escaped(out, run_member(finding, "culprit"));
    text_add(out, ": ");
    html_escaped(out, run_member(finding, "says"));
    text_add(out, "%s</p><ul>\n", json_is_true(json_object_get(finding, "sure")) ? "" : " (likely)");
    json_array_foreach(json_object_get(finding, "evidence"), i, line)
    {
        text_add(out, "<li>");
        html_escaped(out, json_string_value(line) ? json_string_value(line) : "");
    }
    if (*run_member(finding, "source")) {
        text_add(out, "<li>expected: ");
        html_escaped(out, run_member(finding, "source"));
    }
    text_add(out, "</ul></div>\n");
}

static void add_sentences(const char *head, const json_t *lines, struct text *out)
{
    const json_t *line;
    size_t i;
    if (json_array_size(lines))
        text_add(out, "<div class=notice>%s:<ul>\n", head);
    json_array_foreach(lines, i, line)
    {
        text_add(out, "<li>");
        html_escaped(out, json_string_value(line) ? json_string_value(line) : "");
    }
    if (json_array_size(lines))
        text_add(out, "</ul></div>\n");
}

static void add_findings(const json_t *d, struct text *out)
{
    const json_t *finding;
    size_t i;
    json_array_foreach(json_object_get(d, "findings"), i, finding) add_finding(finding, out);
    add_sentences("Not known", json_object_get(d, "unknown"), out);
    add_sentences("Notes", json_object_get(d, "notes"), out);
    add_sentences("Warnings", json_object_get(d, "warnings"), out);
}

/* ---- stages */

static void add_stages(const json_t *d, struct text *out)
{
    const json_t *stage;
    size_t i;
    text_add(out, "<h2>Stages</h2>\n<table><tr><th>stage<th>verdict<th class=number>runs<th>what, and why "
                  "not</tr>\n");
    json_array_foreach(json_object_get(d, "stages"), i, stage)
    {
        const char *folder = run_member(stage, "folder");
        text_add(out, "<tr><td>");
        if (*folder && json_object_get(stage, "runs")) {
            text_add(out, "<a href=\"");
            html_address(out, folder);
            text_add(out, "/report/index.html\">");
            html_escaped(out, run_member(stage, "name"));
            text_add(out, "</a>");
        } else {
            html_escaped(out, run_member(stage, "name"));
        }
        text_add(out, "<td>");
        html_verdict(out, run_member(stage, "verdict"));
        html_number_cell(out, html_value(json_object_get(stage, "runs")));
        text_add(out, "<td>");
        html_escaped(out, run_member(stage, "about"));
        if (*run_member(stage, "reason")) {
            text_add(out, "<br><span class=soft>");
            html_escaped(out, run_member(stage, "reason"));
            text_add(out, "</span>");
        }
        text_add(out, "</tr>\n");
    }
    text_add(out, "</table>\n");
}

/* ---- figures of NICs, and of pairs */

/* The part behind the dot: "rail0" of h3.rail0, "" of h3. */
static const char *nic_of(const char *node)
{
    const char *dot = strchr(node, '.');
    return dot ? dot + 1 : "";
}

/* Is it a finding's: the NIC, or an end of the link? */
static bool is_bad(const json_t *d, const char *node)
{
    const json_t *finding, *end;
    size_t i, k;
    json_array_foreach(json_object_get(d, "findings"), i, finding)
    {
        if (strcmp(run_member(finding, "culprit"), node) == 0)
            return true;
        json_array_foreach(json_object_get(finding, "link"), k, end)
        {
            if (json_is_string(end) && strcmp(json_string_value(end), node) == 0)
                return true;
        }
    }
    return false;
}

static void add_name(const json_t *d, const char *node, struct text *out)
{
    text_add(out, is_bad(d, node) ? "<strong class=failed>" : "<span>");
    html_escaped(out, node);
    text_add(out, is_bad(d, node) ? "</strong>" : "</span>");
}

static void add_figures(const json_t *d, struct text *out)
{
    static const char *const keys[] = {"host_tx_bps", "host_rx_bps", "gpu_tx_bps", "gpu_rx_bps"};
    const json_t *figures = json_object_get(d, "figures"), *of;
    const char *node;
    if (!json_object_size(figures))
        return;
    text_add(out, "<h2>NICs</h2>\n<p class=soft>The best of all rounds, in Gb/s; a NIC of a finding is "
                  "red.</p>\n<div class=scroll><table class=wide><tr><th>NIC<th class=number>host memory, "
                  "out<th class=number>in<th class=number>GPU memory, out<th class=number>in</tr>\n");
    json_object_foreach((json_t *)(uintptr_t)figures, node, of)
    {
        text_add(out, "<tr><td>");
        add_name(d, node, out);
        for (size_t k = 0; k < sizeof keys / sizeof *keys; k++)
            html_number_cell(out, html_value(json_object_get(of, keys[k])) / 1e9);
        text_add(out, "</tr>\n");
    }
    text_add(out, "</table></div>\n");
}

/* Each NIC with each GPU, where they were measured by number. */
static void add_gpus(const json_t *d, struct text *out)
{
    const json_t *gpus = json_object_get(d, "gpus"), *of, *pair;
    json_t *numbers = json_object();
    const char *nic, *gpu;
    json_object_foreach((json_t *)(uintptr_t)gpus, nic, of)
    {
        json_object_foreach((json_t *)(uintptr_t)of, gpu, pair)
        {
            json_object_set_new(numbers, gpu, json_true());
        }
    }
    if (json_object_size(numbers))
        text_add(out,
                 "<h2>NICs and GPUs</h2>\n<p class=soft>From the GPU's memory and into it, the lower of "
                 "both, in Gb/s, and how they are connected.</p>\n<div class=scroll><table class=wide><tr>"
                 "<th>NIC");
    json_object_foreach(numbers, gpu, pair)
    {
        text_add(out, "<th class=number>GPU ");
        html_escaped(out, gpu);
    }
    json_object_foreach((json_t *)(uintptr_t)gpus, nic, of)
    {
        text_add(out, "</tr>\n<tr><td>");
        add_name(d, nic, out);
        json_object_foreach(numbers, gpu, pair)
        {
            const json_t *cell = json_object_get(of, gpu);
            text_add(out, "<td class=number>");
            if (cell)
                html_number(out, fmin(html_value(json_object_get(cell, "tx_bps")),
                                      html_value(json_object_get(cell, "rx_bps"))) /
                                     1e9);
            text_add(out, " <span class=soft>");
            html_escaped(out, run_member(cell, "relation"));
            text_add(out, "</span>");
        }
    }
    if (json_object_size(numbers))
        text_add(out, "</tr>\n</table></div>\n");
    json_decref(numbers);
}

/* The pairs of NICs of one name. */
static void add_matrix(const json_t *d, const char *nic, struct text *out)
{
    const json_t *pairs = json_object_get(d, "pairs"), *of, *other;
    const char *from, *to;
    size_t count = 0;
    json_object_foreach((json_t *)(uintptr_t)pairs, from, of)
    {
        count += strcmp(nic_of(from), nic) == 0;
    }
    text_add(out, "<h3>");
    html_escaped(out, *nic ? nic : "All NICs");
    text_add(out, "</h3>\n");
    if (count > MATRIX_MOST) {
        text_add(out, "<p class=soft>%zu NICs: their pairs are in burn-in.json.</p>\n", count);
        return;
    }
    text_add(out, "<div class=scroll><table class=wide><tr><th>from, to");
    json_object_foreach((json_t *)(uintptr_t)pairs, to, other)
    {
        if (strcmp(nic_of(to), nic) == 0) {
            text_add(out, "<th class=number>");
            html_escaped(out, to);
        }
    }
    text_add(out, "</tr>\n");
    json_object_foreach((json_t *)(uintptr_t)pairs, from, of)
    {
        if (strcmp(nic_of(from), nic) != 0)
            continue;
        text_add(out, "<tr><td>");
        add_name(d, from, out);
        json_object_foreach((json_t *)(uintptr_t)pairs, to, other)
        {
            if (strcmp(nic_of(to), nic) == 0 && json_object_get(of, to))
                html_number_cell(out, html_value(json_object_get(of, to)) / 1e9);
            else if (strcmp(nic_of(to), nic) == 0)
                text_add(out, "<td class=number>");
        }
        text_add(out, "</tr>\n");
    }
    text_add(out, "</table></div>\n");
}

static void add_pairs(const json_t *d, struct text *out)
{
    const json_t *pairs = json_object_get(d, "pairs"), *of;
    json_t *done = json_object();
    const char *from;
    if (json_object_size(pairs))
        text_add(out,
                 "<h2>Pairs</h2>\n<p class=soft>The best of all rounds with host memory, in Gb/s; empty: "
                 "not sent in any round, which each flow's own rate makes needless.</p>\n");
    json_object_foreach((json_t *)(uintptr_t)pairs, from, of)
    {
        const char *nic = nic_of(from);
        if (json_object_get(done, nic))
            continue;
        json_object_set_new(done, nic, json_true());
        add_matrix(d, nic, out);
    }
    json_decref(done);
}

int page_burn_in_write(const json_t *document, const char *path, struct error *e)
{
    struct text out = {0}, title = {0};
    text_add(&title, "Burn-in of %s", run_member(document, "lab"));
    page_begin(text_string(&title), NULL, &out);
    add_heading(document, &out);
    add_findings(document, &out);
    add_stages(document, &out);
    add_figures(document, &out);
    add_gpus(document, &out);
    add_pairs(document, &out);
    page_end(NULL, &out);
    int result = out.failed ? error_set(e, "out of memory for the page")
                            : files_write_atomic(path, out.data, out.length, e);
    text_free(&out);
    text_free(&title);
    return result;
}
