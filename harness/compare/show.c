/* A comparison for people, in rows of a terminal. */
#include "harness/compare/compare.h"

#include "lib/document/json_text.h"
#include "lib/formats/verdicts.h"
#include "lib/output/columns.h"
#include "lib/output/print.h"
#include "lib/statistics/spread.h"
#include "lib/text.h"
#include "lib/words.h"
#include "reports/results/run.h"
#include "reports/results/sweep_table.h"
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROWS_SHOWN  20 /* of a table, and of rules that were not met */
#define CELLS_NAMED 5
#define PATH_FITS   40

/* Rows of cells that own their words. */
struct rows {
    struct words cells;
    size_t columns;
};

static size_t rows_count(const struct rows *rows)
{
    return rows->cells.count / rows->columns;
}

static void rows_print(struct rows *rows, const struct columns_style *styles, size_t width, size_t more,
                       const char *what)
{
    if (rows_count(rows))
        columns_print(stdout, styles, rows->columns, (const char *const *)rows->cells.items, rows_count(rows),
                      width);
    if (more)
        print_out("  %zu more %s: --json has all\n", more, what);
    words_free(&rows->cells);
}

static void rows_add_value(struct rows *rows, const json_t *value)
{
    char *shown = value && !json_is_null(value) ? json_bare(value) : NULL;
    words_add(&rows->cells, "%s", shown ? shown : "none");
    free(shown);
}

/* ---- the sides, their settings and versions */

static void print_head(const char *word, const json_t *head)
{
    print_out_line("%s  %s", word, run_member(head, "folder"));
    print_out_line("     %s, %s, %s, harness %s", run_member(head, "origin"), run_member(head, "verdict"),
                   run_member(head, "started"), run_member(head, "version"));
}

/* Without the word that most have; of a long one the end, which tells it from others. */
static void add_path(const char *path, struct rows *rows)
{
    static const char most[] = "scenario.";
    const char *shown = strncmp(path, most, sizeof most - 1) == 0 ? path + sizeof most - 1 : path;
    size_t length = strlen(shown), cut = length > PATH_FITS ? length - PATH_FITS + 2 : 0;
    while (cut && cut < length && ((unsigned char)shown[cut] & 0xc0) == 0x80)
        cut++;
    words_add(&rows->cells, "%s%s", cut ? ".." : "", shown + cut);
}

static void print_settings(const json_t *settings, size_t width)
{
    static const struct columns_style styles[] = {
        {.title = "setting"}, {.title = "OLD", .least = 8}, {.title = "NEW", .least = 8}};
    struct rows rows = {.columns = 3};
    const char *path;
    json_t *item;
    size_t more = 0;
    json_object_foreach((json_t *)(uintptr_t)settings, path, item)
    {
        if (rows_count(&rows) >= ROWS_SHOWN) {
            more++;
            continue;
        }
        add_path(path, &rows);
        rows_add_value(&rows, json_object_get(item, "old"));
        rows_add_value(&rows, json_object_get(item, "new"));
    }
    print_out(json_object_size(settings) ? "\n" : "\nsettings: the same\n");
    rows_print(&rows, styles, width, more, "settings differ");
}

static void add_hosts(const json_t *hosts, struct rows *rows)
{
    struct text_names names = {0};
    struct text words = {0};
    const json_t *host;
    size_t i;
    json_array_foreach(hosts, i, host)
    {
        text_names_add(&names, json_string_value(host));
    }
    if (names.count)
        text_add_names(&words, "", &names);
    const char *shown = text_string(&words);
    words_add(&rows->cells, "%s", shown + strspn(shown, " "));
    text_free(&words);
}

static void print_versions(const json_t *versions, size_t width)
{
    static const struct columns_style styles[] = {{.title = "version", .least = 12},
                                                  {.title = "hosts", .least = 6},
                                                  {.title = "OLD", .least = 8},
                                                  {.title = "NEW", .least = 8}};
    struct rows rows = {.columns = 4};
    const json_t *item;
    size_t i, more = 0;
    json_array_foreach(versions, i, item)
    {
        if (i >= ROWS_SHOWN) {
            more++;
            continue;
        }
        words_add(&rows.cells, "%s", run_member(item, "what"));
        add_hosts(json_object_get(item, "hosts"), &rows);
        rows_add_value(&rows, json_object_get(item, "old"));
        rows_add_value(&rows, json_object_get(item, "new"));
    }
    print_out(json_array_size(versions) ? "\n" : "versions: the same\n");
    rows_print(&rows, styles, width, more, "versions differ");
}

/* ---- figures */

struct change {
    const char *cell, *name;
    const json_t *entry;
    double size; /* of the change: percents; infinite from 0 */
    bool of_all; /* flows */
};

#define LARGE 0.5 /* percents: changes of all flows together that come before those of single ones */

static double mean_of(const json_t *entry, const char *side)
{
    return json_number_value(json_object_get(json_object_get(entry, side), "mean"));
}

static int by_size(const void *a, const void *b)
{
    const struct change *x = a, *y = b;
    bool x_first = x->of_all && x->size >= LARGE, y_first = y->of_all && y->size >= LARGE;
    if (x_first != y_first)
        return x_first ? -1 : 1;
    return (y->size > x->size) - (y->size < x->size);
}

/* Figures that differ between the sides, in the order of the cells. The caller frees. */
static struct change *find_changes(const json_t *cells, size_t *count, size_t *same)
{
    size_t all = 0, i;
    const json_t *cell;
    const char *name;
    json_t *entry;
    json_array_foreach(cells, i, cell)
    {
        all += json_object_size(json_object_get(cell, "figures"));
    }
    struct change *changes = calloc(all + 1, sizeof *changes);
    *count = *same = 0;
    json_array_foreach(cells, i, cell)
    {
        json_object_foreach(json_object_get(cell, "figures"), name, entry)
        {
            const json_t *percent = json_object_get(entry, "change_percent");
            bool differs = mean_of(entry, "old") != mean_of(entry, "new");
            if (changes && differs)
                changes[(*count)++] = (struct change){run_member(cell, "name"), name, entry,
                                                      percent ? fabs(json_number_value(percent)) : INFINITY,
                                                      strstr(name, "all flows") != NULL};
            *same += !differs;
        }
    }
    return changes;
}

static void add_mean(struct rows *rows, const json_t *spread, struct sweep_unit in)
{
    const json_t *ci95 = json_object_get(spread, "ci95");
    double mean = json_number_value(json_object_get(spread, "mean")) * in.factor;
    if (json_number_value(ci95) > 0)
        words_add(&rows->cells, "%.5g +- %.6g", mean, spread_two_digits(json_number_value(ci95) * in.factor));
    else
        words_add(&rows->cells, mean == floor(mean) && fabs(mean) < 1e9 ? "%.0f" : "%.5g", mean);
}

static void add_change(struct rows *rows, const struct change *change, bool named, bool spread)
{
    const json_t *apart = json_object_get(change->entry, "apart"),
                 *percent = json_object_get(change->entry, "change_percent");
    struct sweep_unit in = sweep_unit_for(run_member(change->entry, "unit"), mean_of(change->entry, "old"),
                                          mean_of(change->entry, "new"));
    char shown[32];
    if (named)
        words_add(&rows->cells, "%s", change->cell);
    words_add(&rows->cells, "%s%s%s", change->name, *in.name ? ", " : "", in.name);
    add_mean(rows, json_object_get(change->entry, "old"), in);
    add_mean(rows, json_object_get(change->entry, "new"), in);
    words_add(&rows->cells, "%s", percent ? verdict_percents(json_number_value(percent), shown) : "from 0");
    if (spread)
        words_add(&rows->cells, "%s", apart ? json_is_true(apart) ? "yes" : "no" : "-");
}

/* Of one cell all that differ, of several the largest changes. */
static void print_figures(const json_t *cells, size_t width)
{
    static const struct columns_style styles[] = {{.title = "cell", .least = 10, .keep = 24},
                                                  {.title = "figure", .least = 14, .keep = 24},
                                                  {.title = "OLD", .right = true},
                                                  {.title = "NEW", .right = true},
                                                  {.title = "change", .right = true},
                                                  {.title = "apart", .leave = 1}};
    bool named = json_array_size(cells) > 1, spread = false;
    size_t count, same;
    struct change *changes = find_changes(cells, &count, &same);
    if (named && changes)
        qsort(changes, count, sizeof *changes, by_size);
    size_t shown = count < ROWS_SHOWN || !named ? count : ROWS_SHOWN;
    for (size_t i = 0; changes && i < shown; i++)
        spread = spread || json_object_get(changes[i].entry, "apart");
    struct rows rows = {.columns = 4 + named + spread};
    for (size_t i = 0; changes && i < shown; i++)
        add_change(&rows, &changes[i], named, spread);
    print_out("\n");
    rows_print(&rows, styles + !named, width, count - shown, "figures differ");
    if (same)
        print_out("%zu %s %s the same\n", same, THINGS(same, "figure"), same == 1 ? "is" : "are");
    free(changes);
}

/* What one side alone has. */
static void print_alone(const json_t *names, const char *what, const char *word)
{
    const json_t *name;
    size_t i, count = json_array_size(names);
    struct text words = {0};
    json_array_foreach(names, i, name)
    {
        const char *shown = json_is_string(name) ? json_string_value(name) : run_member(name, "name");
        if (i < CELLS_NAMED)
            text_add(&words, "%s%s", i ? "; " : "", *shown ? shown : "the run without choices");
    }
    if (count > CELLS_NAMED)
        text_add(&words, " and %zu more", count - CELLS_NAMED);
    if (count)
        print_out_line("%s in %s alone: %s", what, word, text_string(&words));
    text_free(&words);
}

static void print_alone_in_cells(const json_t *cells, const char *list, const char *word)
{
    json_t *names = json_array();
    const json_t *cell, *name;
    size_t i, k;
    json_t *known = json_object();
    json_array_foreach(cells, i, cell)
    {
        json_array_foreach(json_object_get(cell, list), k, name)
        {
            if (!json_object_get(known, json_string_value(name)))
                json_array_append(names, (json_t *)(uintptr_t)name);
            json_put(known, json_string_value(name), json_true());
        }
    }
    print_alone(names, "figures", word);
    json_decref(names);
    json_decref(known);
}

static void print_verdicts(const json_t *cells)
{
    const json_t *cell;
    size_t i, said = 0;
    json_array_foreach(cells, i, cell)
    {
        const json_t *verdicts = json_object_get(cell, "verdicts");
        const char *was = json_string_value(json_array_get(verdicts, 0)),
                   *is = json_string_value(json_array_get(verdicts, 1)), *name = run_member(cell, "name");
        if (was && is && strcmp(was, is) != 0 && said++ < ROWS_SHOWN)
            print_out_line("expectations%s%s: %s in OLD, %s in NEW", *name ? ", " : "", name, was, is);
    }
}

/* ---- rules */

static void print_rule(const json_t *cell, const json_t *rule)
{
    const char *name = run_member(cell, "name"), *verdict = run_member(rule, "verdict");
    print_out_line("%s  %s%s%s: %s", strcmp(verdict, "skipped") == 0 ? "not judged" : verdict,
                   run_member(rule, "rule"), *name ? ", " : "", name, run_member(rule, "reason"));
}

static void print_rules(const json_t *comparison, bool brief)
{
    static const char *const lists[] = {"cells", "only_old", "only_new"};
    size_t said = 0, more = 0, passed = 0, i, k;
    const json_t *cell, *rule;
    size_t one = json_array_size(json_object_get(comparison, "cells"));
    for (size_t l = 0; l < sizeof lists / sizeof *lists; l++)
        json_array_foreach(json_object_get(comparison, lists[l]), i, cell)
        {
            json_array_foreach(json_object_get(cell, "rules"), k, rule)
            {
                bool is_well = strcmp(run_member(rule, "verdict"), "passed") == 0;
                passed += is_well;
                if (is_well && (brief || one > 1))
                    continue;
                if (said++ < ROWS_SHOWN)
                    print_rule(cell, rule);
                else
                    more++;
            }
        }
    if (more)
        print_out("%zu more are not met or not judged: --json has all\n", more);
    if (passed && one > 1 && !brief)
        print_out("passed  %zu %s\n", passed, THINGS(passed, "time"));
}

static void print_notes(const json_t *notes)
{
    const json_t *sentence;
    size_t i;
    json_array_foreach(notes, i, sentence)
    {
        print_out_line("note: %s", json_string_value(sentence));
    }
}

void compare_print(const json_t *comparison, size_t width, bool brief)
{
    const json_t *cells = json_object_get(comparison, "cells");
    if (!brief) {
        print_head("OLD", json_object_get(comparison, "old"));
        print_head("NEW", json_object_get(comparison, "new"));
    }
    print_notes(json_object_get(comparison, "notes"));
    if (!brief) {
        print_settings(json_object_get(comparison, "settings"), width);
        print_versions(json_object_get(comparison, "versions"), width);
        print_figures(cells, width);
        print_alone_in_cells(cells, "only_old", "OLD");
        print_alone_in_cells(cells, "only_new", "NEW");
        print_alone(json_object_get(comparison, "only_old"), "cells", "OLD");
        print_alone(json_object_get(comparison, "only_new"), "cells", "NEW");
        print_verdicts(cells);
    }
    print_rules(comparison, brief);
}
