/* The page of a sweep of many runs: what failed, the figures over the choices, all cells. */
#include "lib/formats/verdicts.h"
#include "lib/document/json_text.h"
#include "reports/page/html.h"
#include "reports/page/page_parts.h"
#include "reports/results/differences.h"
#include "lib/text.h"
#include <math.h>
#include <stdint.h>
#include <string.h>

/* ---- a row for each cell */

/* The table of a sweep's cells. */

#define CELLS_LISTED   1000
#define COLUMNS_LISTED 14

/* Expectations and figures that differ between runs have columns. Returns how many there would be. */
static size_t choose_columns(const struct sweep_table *t, size_t columns[COLUMNS_LISTED], size_t *chosen)
{
    size_t all = 0;
    *chosen = 0;
    for (size_t i = 0; i < t->figure_count; i++) {
        const struct sweep_figure *f = &t->figures[i];
        if (f->still || !f->known || !(f->high > f->low))
            continue;
        if (*chosen < COLUMNS_LISTED)
            columns[(*chosen)++] = i;
        all++;
    }
    return all;
}

/* A name that may be broken after each underscore: rx_prio3_pause. */
static void add_name(const char *name, struct text *out)
{
    while (*name) {
        size_t length = strcspn(name, "_");
        struct text part = {0};
        length += name[length] == '_';
        text_add_bytes(&part, name, length);
        html_escaped(out, text_string(&part));
        text_add(out, "%s", part.data && name[length - 1] == '_' ? "<wbr>" : "");
        text_free(&part);
        name += length;
    }
}

static void add_head(const struct sweep_table *t, const size_t *columns, size_t chosen, struct text *out)
{
    text_add(out, "<div class=scroll><table class=sortable><thead><tr><th>folder");
    for (size_t i = 0; i < t->axis_count; i++) {
        if (!t->axes[i].varies)
            continue;
        text_add(out, t->axes[i].words ? "<th>" : "<th class=number>");
        html_escaped(out, t->axes[i].label);
    }
    text_add(out, "<th>verdict");
    for (size_t i = 0; i < chosen; i++) {
        struct sweep_unit unit = sweep_unit_of(&t->figures[columns[i]]);
        text_add(out, "<th class=number>");
        add_name(t->figures[columns[i]].name, out);
        text_add(out, "%s", *unit.name ? ", " : "");
        html_escaped(out, unit.name);
    }
    text_add(out, "</tr></thead>\n<tbody>\n");
}

static void add_choice_cells(const struct sweep_table *t, size_t row, struct text *out)
{
    for (size_t i = 0; i < t->axis_count; i++) {
        const struct sweep_value *value = sweep_choice(t, row, i);
        if (!t->axes[i].varies)
            continue;
        if (t->axes[i].words)
            text_add(out, "<td class=choice>");
        else
            text_add(out, "<td class=number data-v=\"%.15g\">", value ? value->number : 0.0);
        html_escaped(out, value ? value->shown : "unset");
        text_add(out, "</td>");
    }
}

static void add_value(const struct sweep_table *t, size_t figure, size_t cell, struct text *out)
{
    struct sweep_unit unit = sweep_unit_of(&t->figures[figure]);
    struct spread spread = sweep_spread(t, figure, cell);
    if (!isfinite(spread.mean)) {
        text_add(out, "<td class=number data-v=\"\">&ndash;</td>");
        return;
    }
    text_add(out, "<td class=number data-v=\"%.9g\">", spread.mean);
    html_number(out, spread.mean * unit.factor);
    if (spread.ci95 > 0) { /* an interval of 0 is no evidence: the runs are the same in this */
        text_add(out, " <span class=soft>&plusmn;&#8239;");
        html_number(out, spread.ci95 * unit.factor);
        text_add(out, "</span>");
    }
    if (spread.count < t->cells[cell].count)
        text_add(out, " <span class=soft>(%zu of %zu runs)</span>", spread.count, t->cells[cell].count);
    if (sweep_failed(t, figure, cell))
        text_add(out, " <b class=failed title=\"the expectation failed\">&times;</b>");
    text_add(out, "</td>");
}

static void add_cell(const struct sweep_table *t, size_t cell, const size_t *columns, size_t chosen,
                     struct text *out)
{
    const struct sweep_cell *c = &t->cells[cell];
    size_t row = t->members[c->first];
    text_add(out, "<tr><td><code>");
    html_escaped(out, t->rows[row].folder);
    text_add(out, "</code>");
    if (c->count > 1) {
        text_add(out, " &hellip; <code>");
        html_escaped(out, t->rows[t->members[c->first + c->count - 1]].folder);
        text_add(out, "</code>");
    }
    text_add(out, "</td>");
    add_choice_cells(t, row, out);
    text_add(out, "<td>");
    html_verdict(out, verdict_names[sweep_verdict(t, cell)]);
    text_add(out, "</td>");
    for (size_t i = 0; i < chosen; i++)
        add_value(t, columns[i], cell, out);
    text_add(out, "</tr>\n");
}

/* A row for each cell, which a reader can sort. */
static void page_add_cells(const struct sweep_table *t, struct text *out)
{
    size_t columns[COLUMNS_LISTED], chosen, all = choose_columns(t, columns, &chosen);
    size_t listed = t->cell_count < CELLS_LISTED ? t->cell_count : CELLS_LISTED;
    text_add(out, "<h2 id=cells>All cells</h2>\n");
    if (listed < t->cell_count)
        text_add(out, "<p>The first %zu of %zu cells; all are in <a href=\"sweep.csv\">sweep.csv</a>.</p>\n",
                 listed, t->cell_count);
    if (sweep_repeats(t) > 1)
        text_add(
            out,
            "<p class=soft>Values are means of a cell's runs, with the 95 %% confidence interval of the mean "
            "(Student's t); one without an interval is the same in all of them, or of one run.</p>\n");
    add_head(t, columns, chosen, out);
    for (size_t cell = 0; cell < listed; cell++)
        add_cell(t, cell, columns, chosen, out);
    text_add(out, "</tbody></table></div>\n");
    if (chosen < all)
        text_add(out,
                 "<p class=soft>The first %zu of %zu figures that differ between runs; all are in <a "
                 "href=\"sweep.csv\">sweep.csv</a>.</p>\n",
                 chosen, all);
    if (t->few)
        text_add(out,
                 "<p class=soft>%zu %s of too few values %s left out: a p99 of less than 100 is only the "
                 "largest.</p>\n",
                 t->few, THINGS(t->few, "quantile"), t->few == 1 ? "is" : "are");
    if (t->flows_left_out)
        text_add(out,
                 "<p class=soft>Figures of up to %zu more flows of a run are in its result.json alone.</p>\n",
                 t->flows_left_out);
    if (t->figures_left_out)
        text_add(out,
                 "<p class=soft>The results have %zu more figures than are read; they are in result.json of "
                 "each run.</p>\n",
                 t->figures_left_out);
}

#define FAILURES_IN_SIGHT 20
#define FAILURES_FOLDED   400 /* more are only in the table for spreadsheets */
#define WARNINGS_IN_SIGHT 6
#define WARNINGS_LISTED   50
#define VALUES_NAMED      16 /* of a choice; of more the first and the last */
#define PUBLISHED_LISTED  100

#define CSV "<a href=\"sweep.csv\">sweep.csv</a>"

/* ---- what it is */

static void add_counts(const struct sweep_table *t, struct text *out)
{
    const char *comma = "";
    size_t repeats = sweep_repeats(t);
    text_add(out, "<p><b>%zu runs</b>", t->row_count);
    if (t->cell_count == 1)
        text_add(out, " of one cell");
    else if (repeats > 1)
        text_add(out, ", %s%zu of each of %zu cells", repeats * t->cell_count == t->row_count ? "" : "up to ",
                 repeats, t->cell_count);
    text_add(out, ": ");
    for (enum verdict v = VERDICT_INCOMPLETE; v > VERDICT_NONE; v--) {
        if (!t->with[v])
            continue;
        text_add(out, "%s%zu %s", comma, t->with[v], verdict_names[v]);
        comma = ", ";
    }
    text_add(out, ". All figures of all runs: " CSV ".</p>\n");
}

void page_add_unfinished(const json_t *index, struct text *out)
{
    const json_t *complete = json_object_get(index, "complete");
    if (json_is_true(complete))
        return;
    text_add(out, "<p class=incomplete><strong>%s</strong> ",
             complete ? "The sweep is incomplete."
                      : "The sweep has not ended: these are the runs up to now.");
    html_escaped(out, run_member(index, "reason"));
    text_add(out, "</p>\n");
}

static void add_heading(const struct sweep_table *t, const char *title, struct text *out)
{
    const char *verdict = run_member(t->index, "verdict");
    text_add(out, "<h1>");
    html_escaped(out, title);
    text_add(out, "</h1>\n<p>");
    html_verdict(out, *verdict ? verdict : t->with[VERDICT_FAILED] ? "failed" : "incomplete");
    page_add_pills(&t->origins, out);
    page_add_origin(&t->first, "", out);
    text_add(out, "</p>\n");
    page_add_what_it_is(&t->origins, out);
    add_counts(t, out);
    page_add_unfinished(t->index, out);
}

/* ---- what was not judged */

#define REASONS_LISTED 20

/* Each reason once, with the first of its runs and how many there are. */
static void add_unjudged(const struct sweep_table *t, struct text *out)
{
    json_t *reasons = json_object(), *rows;
    const char *reason;
    size_t listed = 0;
    for (size_t row = 0; row < t->row_count; row++) {
        enum verdict verdict = t->rows[row].verdict;
        if (!*t->rows[row].reason || (verdict != VERDICT_SKIPPED && verdict != VERDICT_UNJUDGED))
            continue;
        if (!json_object_get(reasons, t->rows[row].reason))
            json_put(reasons, t->rows[row].reason, json_array());
        json_array_append_new(json_object_get(reasons, t->rows[row].reason), json_integer((json_int_t)row));
    }
    json_object_foreach(reasons, reason, rows)
    {
        struct text choices = {0};
        size_t first = (size_t)json_integer_value(json_array_get(rows, 0));
        if (listed++ >= REASONS_LISTED)
            continue;
        if (listed == 1)
            text_add(out, "<h2>What was not judged</h2>\n<ul>\n");
        sweep_describe_row(t, first, &choices);
        text_add(out, "<li>");
        html_escaped(out, reason);
        text_add(out, " <span class=soft>(%s: ", verdict_names[t->rows[first].verdict]);
        html_escaped(out, text_string(&choices));
        if (json_array_size(rows) > 1)
            text_add(out, ", and %zu more %s", json_array_size(rows) - 1,
                     THINGS(json_array_size(rows) - 1, "run"));
        text_add(out, ")</span></li>\n");
        text_free(&choices);
    }
    if (listed)
        text_add(out, "</ul>\n");
    if (listed > REASONS_LISTED)
        text_add(out, "<p class=soft>%d of %zu reasons are listed; all are in " CSV ".</p>\n", REASONS_LISTED,
                 listed);
    json_decref(reasons);
}

/* ---- what failed */

static void add_failure(const struct sweep_table *t, const struct sweep_failure *failure, struct text *out)
{
    struct text choices = {0};
    sweep_describe_row(t, failure->row, &choices);
    text_add(out, "<tr><td class=words>");
    html_escaped(out, text_string(&choices));
    text_add(out, "<br><code>");
    html_escaped(out, t->rows[failure->row].folder);
    text_add(out, "</code></td><td>");
    if (failure->figure == SIZE_MAX) {
        html_verdict(out, "incomplete");
    } else {
        html_verdict(out, "failed");
        text_add(out, "</td><td class=words>");
        html_escaped(out, t->figures[failure->figure].name);
        text_add(out, "<br><code>");
        html_escaped(out, t->figures[failure->figure].check);
        text_add(out, "</code>");
    }
    text_add(out, failure->figure == SIZE_MAX ? "</td><td></td><td class=words>" : "</td><td class=words>");
    html_escaped(out, failure->reason);
    text_add(out, "</td></tr>\n");
    text_free(&choices);
}

static void begin_failures(struct text *out)
{
    text_add(
        out,
        "<div class=scroll><table class=failures><thead><tr><th>choices, folder<th>verdict<th>expectation<th>"
        "reason</tr></thead>\n");
}

/* Expectations that failed over the repetitions of a cell, or beside another one: no single run has
 * failed. */
static void add_failed_cells(const struct sweep_table *t, struct text *out)
{
    size_t i, j, shown = 0;
    json_t *entry, *item;
    json_array_foreach(json_object_get(t->index, "repeated"), i, entry)
    {
        json_array_foreach(json_object_get(entry, "expectations"), j, item)
        {
            struct text choices = {0};
            if (strcmp(run_member(item, "verdict"), "failed") != 0 || shown++ >= FAILURES_FOLDED)
                continue;
            if (shown == 1)
                text_add(
                    out,
                    "<h2>What failed over repetitions or beside another cell</h2>\n<div class=scroll><table "
                    "class=failures><thead><tr><th>choices<th>expectation<th>reason</tr></thead>\n");
            choices_add(json_object_get(entry, "cell"), &choices);
            text_add(out, "<tr>");
            html_cell(out, choices.length ? text_string(&choices) : "all runs");
            text_add(out, "<td class=words>");
            html_escaped(out, run_member(item, "name"));
            text_add(out, "<br><code>");
            html_escaped(out, run_member(item, "check"));
            text_add(out, "</code></td>");
            html_cell(out, run_member(item, "reason"));
            text_add(out, "</tr>\n");
            text_free(&choices);
        }
    }
    if (shown)
        text_add(out, "</table></div>\n<p class=soft>%zu of %zu are listed.</p>\n",
                 shown < FAILURES_FOLDED ? shown : (size_t)FAILURES_FOLDED, shown);
}

/* Incomplete runs first, then expectations that failed. */
static void add_failures(const struct sweep_table *t, struct text *out)
{
    size_t shown = 0, all = t->failure_count + t->failures_left_out;
    size_t listed = t->failure_count < FAILURES_FOLDED ? t->failure_count : FAILURES_FOLDED;
    if (!t->failure_count)
        return;
    text_add(out, "<h2>What failed</h2>\n");
    begin_failures(out);
    for (int expectation = 0; expectation < 2; expectation++)
        for (size_t i = 0; i < t->failure_count && shown < FAILURES_FOLDED; i++) {
            if ((t->failures[i].figure != SIZE_MAX) != (expectation != 0))
                continue;
            if (shown++ == FAILURES_IN_SIGHT) {
                text_add(out, "</table></div>\n<details><summary>and %zu more", listed - FAILURES_IN_SIGHT);
                if (listed < all)
                    text_add(out, " of %zu", all - FAILURES_IN_SIGHT);
                text_add(out, "</summary><div>");
                begin_failures(out);
            }
            add_failure(t, &t->failures[i], out);
        }
    text_add(out, listed > FAILURES_IN_SIGHT ? "</table></div></div></details>\n" : "</table></div>\n");
    if (listed < all)
        text_add(out,
                 "<p class=soft>%zu of %zu are listed; all are in " CSV ", in the columns of verdicts.</p>\n",
                 listed, all);
}

/* `list`: as that of warnings. */
static void add_notice(const struct sweep_table *t, const char *title, const json_t *list, size_t left_out,
                       struct text *out)
{
    const char *words;
    json_t *known;
    size_t shown = 0, all = json_object_size(list);
    if (!all)
        return;
    text_add(out, "<div class=notice><b>%s</b><ul>\n", title);
    json_object_foreach((json_t *)(uintptr_t)list, words, known)
    {
        size_t runs = (size_t)json_integer_value(json_array_get(known, 0));
        struct text choices = {0};
        if (shown == WARNINGS_LISTED)
            break;
        if (shown++ == WARNINGS_IN_SIGHT)
            text_add(out, "</ul><details><summary>and %zu more</summary><div><ul>\n",
                     all - WARNINGS_IN_SIGHT);
        sweep_describe_row(t, (size_t)json_integer_value(json_array_get(known, 1)), &choices);
        text_add(out, "<li>");
        html_escaped(out, words);
        if (runs) {
            text_add(out, " <span class=soft>(%zu of %zu runs%s", runs, t->row_count,
                     runs < t->row_count ? ", first: " : "");
            html_escaped(out, runs < t->row_count ? text_string(&choices) : "");
            text_add(out, ")</span>");
        }
        text_add(out, "</li>\n");
        text_free(&choices);
    }
    text_add(out, "</ul>");
    if (shown < all || left_out)
        text_add(out, "<p class=soft>%zu of %s%zu are listed; the others are in result.json of the runs.</p>",
                 shown, left_out ? "more than " : "", all);
    text_add(out, all > WARNINGS_IN_SIGHT ? "</div></details></div>\n" : "</div>\n");
}

/* ---- choices, expectations */

static void add_dimension(const struct sweep_table *t, size_t i, struct text *out)
{
    const struct sweep_dimension *d = &t->dimensions[i];
    size_t count = sweep_positions(t, i);
    text_add(out, "<tr><td>");
    for (size_t j = 0; j < d->count; j++) {
        text_add(out, "%s<code>", j ? "<br>" : "");
        html_escaped(out, t->axes[d->axes[j]].path);
        text_add(out, "</code>");
    }
    text_add(out, "</td><td class=number>%zu</td><td class=words>", count);
    for (size_t at = 0; at < count; at++) {
        struct text name = {0};
        if (count > VALUES_NAMED && at == 3)
            at = count - 1;
        sweep_name_position(t, i, at, &name);
        text_add(out, "%s",
                 at == 0                                   ? ""
                 : count > VALUES_NAMED && at == count - 1 ? " &hellip; "
                 : d->count > 1                            ? "; "
                                                           : ", ");
        html_escaped(out, text_string(&name));
        text_free(&name);
    }
    text_add(out, "</td></tr>\n");
}

static void add_choices(const struct sweep_table *t, struct text *out)
{
    if (!t->dimension_count)
        return;
    text_add(out, "<h2>Choices</h2>\n<div class=scroll><table><thead><tr><th>choice<th "
                  "class=number>values<th></tr></thead>\n");
    for (size_t i = 0; i < t->dimension_count; i++)
        add_dimension(t, i, out);
    text_add(out, "</table></div>\n");
}

static void add_left_side(const struct sweep_figure *f, struct text *out)
{
    struct sweep_unit unit = sweep_unit_of(f);
    html_number_cell(out, f->known ? f->low * unit.factor : NAN);
    html_number_cell(out, f->known ? f->high * unit.factor : NAN);
    html_cell(out, unit.name);
}

/* {name and check: [passed, failed, skipped, entry]} of what was judged when the sweep had ended. */
static json_t *count_later(const struct sweep_table *t)
{
    static const enum verdict order[] = {VERDICT_PASSED, VERDICT_FAILED, VERDICT_SKIPPED};
    json_t *all = json_object(), *entry, *item;
    size_t i, j;
    json_array_foreach(json_object_get(t->index, "repeated"), i, entry)
    {
        json_array_foreach(json_object_get(entry, "expectations"), j, item)
        {
            struct text key = {0};
            text_add(&key, "%s\n%s", run_member(item, "name"), run_member(item, "check"));
            json_t *counts = json_object_get(all, text_string(&key));
            if (!counts &&
                json_put(all, text_string(&key), counts = json_make("[i,i,i,O]", 0, 0, 0, item)) != 0)
                counts = NULL;
            for (size_t v = 0; v < sizeof order / sizeof *order; v++)
                if (strcmp(run_member(item, "verdict"), verdict_names[order[v]]) == 0)
                    json_integer_set(json_array_get(counts, v),
                                     json_integer_value(json_array_get(counts, v)) + 1);
            text_free(&key);
        }
    }
    return all;
}

static void add_rule(const char *name, const char *check, struct text *out)
{
    text_add(out, "<tr><td class=words>");
    html_escaped(out, name);
    text_add(out, "<br><code>");
    html_escaped(out, check);
    text_add(out, "</code></td>");
}

static void add_count(size_t count, bool bad, struct text *out)
{
    text_add(out,
             bad && count ? "<td class=number><b class=failed>%zu</b></td>" : "<td class=number>%zu</td>",
             count);
}

static void add_later(const struct sweep_table *t, struct text *out)
{
    json_t *all = count_later(t), *counts;
    const char *key;
    if (json_object_size(all))
        text_add(out,
                 "<h2>Expectations over repetitions or beside another cell</h2>\n<div class=scroll><table>"
                 "<thead><tr><th>expectation<th class=number>passed<th class=number>failed"
                 "<th class=number>skipped</tr></thead>\n");
    json_object_foreach(all, key, counts)
    {
        const json_t *item = json_array_get(counts, 3);
        add_rule(run_member(item, "name"), run_member(item, "check"), out);
        for (size_t v = 0; v < 3; v++)
            add_count((size_t)json_integer_value(json_array_get(counts, v)), v == 1, out);
        text_add(out, "</tr>\n");
    }
    if (json_object_size(all))
        text_add(out, "</table></div>\n");
    json_decref(all);
}

static void add_expectations(const struct sweep_table *t, struct text *out)
{
    bool any = false;
    for (size_t i = 0; i < t->figure_count; i++) {
        const struct sweep_figure *f = &t->figures[i];
        if (!f->check || (f->later && json_array_size(json_object_get(t->index, "repeated"))))
            continue;
        if (!any)
            text_add(out, "<h2>Expectations</h2>\n<div class=scroll><table><thead><tr><th>expectation<th "
                          "class=number>passed"
                          "<th class=number>failed<th class=number>skipped<th class=number>left side: "
                          "least<th class=number>"
                          "most<th>unit</tr></thead>\n");
        any = true;
        add_rule(f->name, f->check, out);
        add_count(f->with[VERDICT_PASSED], false, out);
        add_count(f->with[VERDICT_FAILED], true, out);
        add_count(f->with[VERDICT_SKIPPED], false, out);
        add_left_side(f, out);
        text_add(out, "</tr>\n");
    }
    if (any)
        text_add(out, "</table></div>\n");
}

/* ---- figures */

/* What is the same in all runs needs no drawing. */
static void add_constants(const struct sweep_table *t, struct text *out)
{
    const char *comma = "";
    for (size_t i = 0; i < t->figure_count; i++) {
        const struct sweep_figure *f = &t->figures[i];
        struct sweep_unit unit = sweep_unit_of(f);
        if (f->still || !f->known || f->high > f->low)
            continue;
        text_add(out, *comma ? "%s" : "<p class=soft>The same in all runs that have it:%s", comma);
        text_add(out, " ");
        html_escaped(out, f->name);
        text_add(out, " ");
        html_number(out, f->low * unit.factor);
        text_add(out, "%s", *unit.name ? " " : "");
        html_escaped(out, unit.name);
        comma = ";";
    }
    if (*comma)
        text_add(out, ".</p>\n");
}

static void add_left_out(const struct sweep_table *t, size_t left_out, struct text *out)
{
    size_t still = 0;
    for (size_t i = 0; i < t->figure_count; i++)
        still += t->figures[i].still;
    if (left_out)
        text_add(out,
                 "<p class=soft>%zu more drawings of figures that differ between runs are left out; all "
                 "values are in " CSV ".</p>\n",
                 left_out);
    text_add(out, "<p class=soft>Curves over time, counters and flows of single runs are left out here; "
                  "<code>harness report ");
    html_escaped(out, t->first.result_folder);
    text_add(out, "/");
    html_escaped(out, t->rows[0].folder);
    text_add(out,
             "</code> draws those of one run. A counter is the sum of its increases at all hosts; "
             "%zu counters that never changed are left out.</p>\n",
             still);
}

static void add_figures(const struct sweep_table *t, const struct drawing *drawings, size_t count,
                        size_t explaining, const char *how, size_t left_out, struct text *out)
{
    text_add(out, "<h2>Figures%s</h2>\n", t->dimension_count ? " over the choices" : "");
    if (how)
        text_add(out, "<p class=soft>%s%s</p>\n", how,
                 sweep_repeats(t) > 1
                     ? " Values are means of a cell's runs, &plusmn; and bars the 95 % "
                       "confidence interval of the mean "
                       "(Student's t); one without it is the same in all of them, or of one run."
                     : "");
    for (size_t i = 0; i < count; i++)
        if (i != explaining) /* stands on the first screen */
            page_add_drawing(&drawings[i], "", out);
    add_constants(t, out);
    add_left_out(t, left_out, out);
}

static void add_published(const struct sweep_table *t, struct text *out)
{
    size_t listed = t->published_count < PUBLISHED_LISTED ? t->published_count : PUBLISHED_LISTED;
    if (!listed)
        return;
    text_add(out, "<h2>Comparison with published figures</h2>\n<div "
                  "class=scroll><table><thead><tr><th>run<th>figure<th class=number>"
                  "published<th class=number>this run<th class=number>difference<th>source</tr></thead>\n");
    for (size_t i = 0; i < listed; i++) {
        const struct sweep_published *p = &t->published[i];
        struct text choices = {0};
        char percents[32];
        sweep_describe_row(t, p->row, &choices);
        text_add(out, "<tr>");
        html_cell(out, text_string(&choices));
        text_add(out, "<td>");
        html_escaped(out, p->name);
        text_add(out, " <span class=soft>%s", *p->unit ? "in " : "");
        html_escaped(out, p->unit);
        text_add(out, "</span></td>");
        html_number_cell(out, p->published);
        if (isfinite(p->value)) {
            html_number_cell(out, p->value);
            text_add(out, "<td class=number>%s</td>",
                     isfinite(p->difference_percent) ? verdict_percents(p->difference_percent, percents)
                                                     : "");
        } else {
            text_add(out, "<td colspan=2 class=soft>not compared: ");
            html_escaped(out, p->reason);
            text_add(out, "</td>");
        }
        html_cell(out, p->source);
        text_add(out, "</tr>\n");
        text_free(&choices);
    }
    text_add(out, "</table></div>\n");
    if (listed < t->published_count + t->published_left_out)
        text_add(out,
                 "<p class=soft>%zu of %zu comparisons are listed; the others are in result.json of each "
                 "run.</p>\n",
                 listed, t->published_count + t->published_left_out);
}

void page_sweep_write(const struct sweep_table *t, const struct drawing *drawings, size_t count,
                      const char *how, size_t left_out, struct text *out)
{
    const char *title = run_text(&t->first, "scenario.title");
    title = *title ? title : run_text(&t->first, "scenario.name");
    size_t explaining = page_sweep_explaining(t, drawings, count);
    page_begin(title, NULL, out);
    add_heading(t, title, out);
    page_add_sweep_first(t, drawings, explaining, out);
    add_choices(t, out);
    add_failures(t, out);
    add_failed_cells(t, out);
    add_unjudged(t, out);
    add_notice(t, "Warnings", t->warnings, t->warnings_left_out, out);
    add_notice(t, "Not judged", t->not_judged, t->not_judged_left_out, out);
    add_expectations(t, out);
    add_later(t, out);
    add_figures(t, drawings, count, explaining, how, left_out, out);
    page_add_cell_ratios(t, out);
    add_published(t, out);
    page_add_cells(t, out);
    text_add(out, "<h2>Details</h2>\n");
    page_add_documents(&t->first, t->sources, "Scenario of the first run", false, out);
    page_end(NULL, out);
}
