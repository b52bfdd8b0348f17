#include "reports/page/html.h"
#include "reports/page/page_parts.h"

#include "lib/clock.h"
#include <math.h>

#define CAUSES_SHOWN 3
#define FLOWS_SHOWN  24
#define FLOWS_NAMED  4

/* "flows: a (lost 10 % of its line), b (lost nothing)" */
static void add_flows(const char *what, const json_t *flows, struct text *out)
{
    const json_t *flow;
    size_t i;
    if (!json_array_size(flows))
        return;
    text_add(out, "<p>%s: ", what);
    json_array_foreach(flows, i, flow)
    {
        double cost = json_number_value(json_object_get(flow, "cost"));
        if (i == FLOWS_NAMED)
            break;
        text_add(out, "%s", i ? ", " : "");
        html_escaped(out, run_member(flow, "flow"));
        if (cost >= 0.01)
            text_add(out, " (lost %.0f %% of its line)", 100 * cost);
        else
            text_add(out, " (lost nothing)");
    }
    if (json_array_size(flows) > FLOWS_NAMED)
        text_add(out, " and %zu %s", json_array_size(flows) - FLOWS_NAMED,
                 THINGS(json_array_size(flows) - FLOWS_NAMED, "other"));
    text_add(out, "</p>\n");
}

/* Where the plots of the run show the time of its cause (script/link.js), with a little room on both sides.
 */
static void add_time(const struct run *run, const json_t *cause, struct text *out)
{
    double from = json_number_value(json_object_get(cause, "from_ns")) / NS_PER_MS,
           to = json_number_value(json_object_get(cause, "to_ns")) / NS_PER_MS, room = (to - from) / 20;
    text_add(out, "<p><a href=\"#run=");
    html_address(out, run_label(run));
    text_add(
        out,
        "&amp;t=%.6f,%.6f\">From %.3f to %.3f ms</a>, where 0 is the beginning of the measure phase.</p>\n",
        from - room, to + room, from, to);
}

static void add_cause(const struct run *run, const json_t *cause, struct text *out)
{
    const json_t *line;
    size_t i;
    text_add(out, "<div class=cause><p>");
    html_escaped(out, run_member(cause, "text"));
    text_add(out, " <span class=soft>(%s)</span></p>\n<p>", run_member(cause, "sureness"));
    json_array_foreach(json_object_get(cause, "evidence"), i, line)
    {
        text_add(out, "%s", i ? "; " : "");
        html_escaped(out, json_string_value(line));
    }
    text_add(out, ".</p>\n");
    if (json_object_get(cause, "from_ns"))
        add_time(run, cause, out);
    add_flows("Flows", json_object_get(cause, "flows"), out);
    add_flows("Victims, which go elsewhere", json_object_get(cause, "victims"), out);
    if (json_object_get(cause, "help")) {
        text_add(out, "<p class=soft>Perhaps: ");
        html_escaped(out, run_member(cause, "help"));
        if (json_object_get(cause, "set")) {
            text_add(out, "; to see it, run with <code>--set '");
            html_escaped(out, run_member(cause, "set"));
            text_add(out, "'</code>");
        }
        text_add(out, "</p>\n");
    }
    text_add(out, "</div>\n");
}

static void add_bar(const json_t *flow, const json_t *words, struct text *out)
{
    const char *name;
    const json_t *share;
    text_add(out, "<tr><td>");
    html_escaped(out, run_member(flow, "flow"));
    text_add(out, "<td class=number>%.2f Gb/s<td><div class=parts>",
             json_number_value(json_object_get(flow, "delivered_bps")) / 1e9);
    json_object_foreach((json_t *)(uintptr_t)json_object_get(flow, "shares"), name, share)
    {
        text_add(out, "<i class=of-%s style=\"width:%.2f%%\" title=\"%.1f %% ", name,
                 100 * json_number_value(share), 100 * json_number_value(share));
        html_escaped(out, run_member(words, name));
        text_add(out, "\"></i>");
    }
    text_add(out, "</div>\n");
}

/* The colours that are drawn. */
static void add_keys(const json_t *flows, const json_t *words, struct text *out)
{
    const char *name;
    const json_t *word, *flow;
    size_t i;
    text_add(out, "<p class=keys>");
    json_object_foreach((json_t *)(uintptr_t)words, name, word)
    {
        bool drawn = false;
        json_array_foreach(flows, i, flow) drawn |=
            json_number_value(json_object_get(json_object_get(flow, "shares"), name)) >= 0.005;
        if (drawn)
            text_add(out, "<span><i class=of-%s></i>%s</span>", name, json_string_value(word));
    }
    text_add(out, "</p>\n");
}

static void add_shares(const json_t *explanation, struct text *out)
{
    const json_t *flows = json_object_get(explanation, "flows"),
                 *words = json_object_get(explanation, "shares"), *flow;
    size_t i;
    if (!json_array_size(flows))
        return;
    text_add(out,
             "<p class=soft>Where the time of flows went: parts of what the sender's line carries.</p>\n");
    add_keys(flows, words, out);
    text_add(
        out,
        "<div class=scroll><table class=shares>\n<tr><th>flow<th class=number>delivered<th>where its time "
        "went\n");
    json_array_foreach(flows, i, flow)
    {
        if (i < FLOWS_SHOWN)
            add_bar(flow, words, out);
    }
    text_add(out, "</table></div>\n");
    if (json_array_size(flows) > FLOWS_SHOWN)
        text_add(out, "<p class=soft>And %zu other %s: <code>harness explain --json</code>.</p>\n",
                 json_array_size(flows) - FLOWS_SHOWN, THINGS(json_array_size(flows) - FLOWS_SHOWN, "flow"));
}

static void add_explanation(const struct run *run, struct text *out)
{
    const json_t *causes = json_object_get(run->explanation, "causes"), *one;
    size_t i;
    if (!json_array_size(causes)) {
        text_add(out, "<p>");
        html_escaped(out, run_member(run->explanation, "text"));
        text_add(out, ".</p>\n");
    }
    json_array_foreach(causes, i, one)
    {
        if (i < CAUSES_SHOWN)
            add_cause(run, one, out);
    }
    if (json_array_size(causes) > CAUSES_SHOWN)
        text_add(out, "<p class=soft>And %zu other %s: <code>harness explain</code>.</p>\n",
                 json_array_size(causes) - CAUSES_SHOWN,
                 THINGS(json_array_size(causes) - CAUSES_SHOWN, "cause"));
    json_array_foreach(json_object_get(run->explanation, "unknown"), i, one)
    {
        text_add(out, "<p class=soft>Not known: ");
        html_escaped(out, json_string_value(one));
        text_add(out, ".</p>\n");
    }
    add_shares(run->explanation, out);
}

void page_add_parts(const json_t *explanation, struct text *out)
{
    const json_t *flows = json_object_get(explanation, "flows"), *flow, *word;
    const char *name, *comma = " <span class=soft>Flows on average: ";
    size_t i;
    json_object_foreach((json_t *)(uintptr_t)json_object_get(explanation, "shares"), name, word)
    {
        double sum = 0;
        json_array_foreach(flows, i, flow) sum +=
            json_number_value(json_object_get(json_object_get(flow, "shares"), name));
        double percents = json_array_size(flows) ? 100 * sum / (double)json_array_size(flows) : 0;
        if (percents < 0.5)
            continue;
        text_add(out, "%s%.0f %% %s", comma, percents, json_string_value(word));
        comma = ", ";
    }
    text_add(out, *comma == ',' ? ".</span>" : "");
}

/* "memory gpu: b takes less than its line carries (sure)" */
static void add_line(const struct run *run, struct text *out)
{
    const json_t *causes = json_object_get(run->explanation, "causes");
    text_add(out, "<b>");
    html_escaped(out, run_label(run));
    text_add(out, ":</b> ");
    html_escaped(out, run_member(run->explanation, "text"));
    if (json_array_size(causes))
        text_add(out, " <span class=soft>(%s)</span>", run_member(json_array_get(causes, 0), "sureness"));
    if (json_array_size(causes) > 1)
        text_add(out, " <span class=soft>and %zu other %s</span>", json_array_size(causes) - 1,
                 THINGS(json_array_size(causes) - 1, "cause"));
    text_add(out, ".");
    page_add_parts(run->explanation, out);
}

void page_add_causes(const struct runs *runs, size_t most, struct text *out)
{
    size_t shown = 0;
    for (size_t i = 0; i < runs->count; i++) {
        if (!runs->items[i].explanation || shown++ >= most)
            continue;
        text_add(out, shown == 1 ? "<ul>\n<li>" : "<li>");
        add_line(&runs->items[i], out);
        text_add(out, "</li>\n");
    }
    text_add(out, "%s", shown ? "</ul>\n" : "");
    if (shown > most)
        text_add(out, "<p class=soft>Causes of %zu more runs are below.</p>\n", shown - most);
}

void page_add_why(const struct runs *runs, struct text *out)
{
    bool any = false;
    for (size_t i = 0; i < runs->count; i++) {
        const struct run *run = &runs->items[i];
        if (!run->explanation)
            continue;
        if (!any)
            text_add(out, "<h2>What happened, and why</h2>\n");
        any = true;
        if (runs->count > 1) {
            text_add(out, "<details><summary>");
            add_line(run, out);
            text_add(out, "</summary><div>\n");
        }
        add_explanation(run, out);
        text_add(out, "%s", runs->count > 1 ? "</div></details>\n" : "");
    }
}
