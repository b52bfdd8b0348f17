/* Drawings of a sweep's figures over its choices. */
#ifndef REPORTS_OVER_SWEEP_H
#define REPORTS_OVER_SWEEP_H

#include "lib/error.h"
#include "lib/folder/folder.h"
#include "lib/text.h"
#include "reports/results/sweep_table.h"

#define OVER_SWEEP_MOST 24 /* drawings of a page */

/* How figures are drawn, for the page; NULL: not at all, because no choice differs. */
const char *over_sweep_how(const struct sweep_table *t);
/* How many drawings a figure has: one, or one for each choice of those that cannot be shown together. */
size_t over_sweep_count(const struct sweep_table *t);
/* The choice that drawing `which` is about; NULL: all of them. */
const char *over_sweep_choice(const struct sweep_table *t, size_t which);
/* Is there something to see in a drawing of the figure: different values? */
bool over_sweep_wants(const struct sweep_table *t, size_t figure);
/* Which of several choices moves the mean of the figure most, in a sentence; nothing if none does. */
void over_sweep_say(const struct sweep_table *t, size_t figure, struct text *out);
/* Write FOLDER/NAME.tsv and FOLDER/NAME.svg of a figure. *drawn is false if it has nothing to show. `note`:
 * what is drawn of how much, for its caption. */
int over_sweep_draw(const struct sweep_table *t, size_t figure, size_t which, const char *name,
                    const char *title, const struct folder *folder, bool *drawn, struct text *note,
                    struct error *e);

#endif
