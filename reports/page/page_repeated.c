/* What is judged when a sweep has ended: over the repetitions of a cell, and beside another cell. No single run has these. */
#include "reports/page/page_parts.h"

#include "reports/page/html.h"
#include "reports/results/choice.h"
#include <string.h>

#define LISTED 400

/* "memory gpu, message 64KiB" */
static void add_choices(const json_t *cell, const char *otherwise, struct text *out)
{
    struct text choices = {0};
    const char *path;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)cell, path, value)
    {
        choice_add(path, value, &choices);
    }
    html_escaped(out, choices.length ? text_string(&choices) : otherwise);
    text_free(&choices);
}

/* "beside memory host", "over 5 repetitions" */
static void add_over(const json_t *item, struct text *out)
{
    const json_t *count = json_object_get(item, "count");
    text_add(out, "<td>");
    if (strcmp(run_member(item, "over"), "cells") == 0) {
        text_add(out, "beside ");
        add_choices(json_object_get(item, "against"), "another cell", out);
        text_add(out, json_integer_value(count) > 1 ? ", " : "");
    }
    if (json_integer_value(count) > 1) {
        text_add(out, "over ");
        html_number(out, html_value(count));
        text_add(out, " repetitions");
    }
    text_add(out, "</td>");
}

/* Of a page that is about this sweep alone. */
static const json_t *repeated_of(const struct runs *runs)
{
    return runs->results == 1 ? json_object_get(runs->index, "repeated") : NULL;
}

static void add_row(const json_t *cell, const json_t *item, struct text *out)
{
    text_add(out, "<tr><td>");
    add_choices(cell, "all runs", out);
    text_add(out, "</td><td>");
    html_escaped(out, run_member(item, "name"));
    text_add(out, "<br><code>");
    html_escaped(out, run_member(item, "check"));
    text_add(out, "</code></td>");
    add_over(item, out);
    text_add(out, "<td>");
    html_verdict(out, run_member(item, "verdict"));
    text_add(out, "<br><span class=soft>");
    html_escaped(out, run_member(item, "reason"));
    text_add(out, "</span></td></tr>\n");
}

void page_add_repeated(const struct runs *runs, struct text *out)
{
    size_t i, j, count = 0;
    const json_t *entry, *item;
    json_array_foreach(repeated_of(runs), i, entry)
    {
        json_array_foreach(json_object_get(entry, "expectations"), j, item)
        {
            if (count++ >= LISTED)
                continue;
            if (count == 1)
                text_add(out, "<h2>Expectations over repetitions or beside another cell</h2>\n<div "
                              "class=scroll><table><tr><th>run<th>expectation<th>judged<th>verdict</tr>\n");
            add_row(json_object_get(entry, "cell"), item, out);
        }
    }
    if (count)
        text_add(out, "</table></div>\n");
    if (count > LISTED)
        text_add(out, "<p class=soft>%d of %zu are listed; all are in index.json.</p>\n", LISTED, count);
}

bool page_has_repeated(const struct runs *runs)
{
    return json_array_size(repeated_of(runs)) > 0;
}

void page_add_repeated_published(const struct runs *runs, page_take_published *take, struct text *out)
{
    size_t i, j;
    const json_t *entry, *item;
    json_array_foreach(repeated_of(runs), i, entry)
    {
        struct text label = {0};
        add_choices(json_object_get(entry, "cell"), "all runs", &label);
        json_array_foreach(json_object_get(entry, "published"), j, item)
        {
            take(text_string(&label), item, out);
        }
        text_free(&label);
    }
}
