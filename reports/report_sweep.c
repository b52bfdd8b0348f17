#include "reports/report_sweep.h"

#include "lib/roce/counters.h"
#include "reports/drawing/over_sweep.h"
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define NAME_FITS 40 /* of a figure's name in that of its files */

/* "figure-03-goodput-of-all-flows": letters, digits and hyphens alone. */
static void add_plain(const char *words, struct text *out)
{
    bool gap = true;
    size_t before = out->length;
    for (const char *c = words; *c && out->length < before + NAME_FITS; c++) {
        bool plain = isascii((unsigned char)*c) && isalnum((unsigned char)*c);
        if (plain)
            text_add(out, "%s%c", gap ? "-" : "", tolower((unsigned char)*c));
        gap = !plain;
    }
}

static void name_files(const struct sweep_table *t, size_t figure, size_t which, struct text *out)
{
    const char *choice = over_sweep_choice(t, which);
    text_add(out, "figure-%03zu", figure + 1);
    if (which)
        text_add(out, "-%zu", which + 1);
    add_plain(t->figures[figure].name, out);
    text_add(out, "%s", choice ? "-over" : "");
    add_plain(choice ? choice : "", out);
}

/* A figure's name and, of an expectation, its rule, whose left side is drawn. */
static void title_of(const struct sweep_table *t, size_t figure, size_t which, struct text *out)
{
    const char *choice = over_sweep_choice(t, which);
    const struct sweep_figure *f = &t->figures[figure];
    const char *unit = sweep_unit_of(f).name;
    text_add(out, "%s%s%s", f->name, f->check ? ": " : "", f->check ? f->check : "");
    if (!f->check && *unit && strncmp(f->name, unit, strlen(unit)) != 0)
        text_add(out, ", %s", unit);
    if (choice)
        text_add(out, ", over %s", choice);
}

static const char *caption_of(const struct sweep_figure *f)
{
    if (f->check)
        return "The left side of the expectation.";
    if (f->counter && strchr(f->name, ' ')) /* no counter of hosts, but of flows */
        return "Of all flows, with warm-up and cooldown.";
    const struct counter *counter = f->counter ? counters_find(f->name) : NULL;
    return counter ? counter->meaning : "";
}

static int draw_figure(const struct sweep_table *t, size_t figure, size_t which, const struct folder *fresh,
                       struct drawings *made, struct error *e)
{
    const char *caption = caption_of(&t->figures[figure]);
    struct text name = {0}, title = {0}, note = {0}, says = {0};
    bool drawn = false;
    name_files(t, figure, which, &name);
    title_of(t, figure, which, &title);
    int result = name.failed || title.failed ? error_set(e, "out of memory for the drawings")
                                             : over_sweep_draw(t, figure, which, text_string(&name),
                                                               text_string(&title), fresh, &drawn, &note, e);
    if (result == 0 && drawn) {
        drawings_keep(made, text_string(&name), text_string(&title), caption, figure);
        drawings_last(made)->note = note.length ? text_take(&note) : NULL;
        if (!which)
            over_sweep_say(t, figure, &says);
        drawings_last(made)->says = says.length ? text_take(&says) : NULL;
    }
    text_free(&note);
    text_free(&says);
    text_free(&name);
    text_free(&title);
    return result;
}

int report_sweep_draw(const struct sweep_table *t, const struct folder *fresh, struct drawings *made,
                      struct text *page, struct error *e)
{
    size_t left_out = 0, each = over_sweep_count(t);
    for (size_t which = 0; which < each; which++)
        for (size_t i = 0; i < t->figure_count; i++)
            if (!over_sweep_wants(t, i))
                continue;
            else if (made->count >= OVER_SWEEP_MOST)
                left_out++;
            else if (draw_figure(t, i, which, fresh, made, e) != 0)
                return -1;
    if (drawings_load(made, fresh, e) != 0)
        return -1;
    const char *how = made->count ? over_sweep_how(t)
                      : !each && t->dimension_count
                          ? "No choice is a number, and there are too many for a grid: the "
                            "table of cells has all figures."
                          : NULL;
    page_sweep_write(t, made->items, made->count, how, left_out, page);
    return 0;
}

int report_sweep_csv(const struct sweep_table *t, const struct folder *fresh, struct error *e)
{
    struct text csv = {0};
    sweep_table_csv(t, &csv);
    int result = csv.failed ? error_set(e, "out of memory for " SWEEP_CSV)
                            : folder_create(fresh, SWEEP_CSV, text_string(&csv), csv.length, e);
    text_free(&csv);
    return result;
}
