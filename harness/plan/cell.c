#include "harness/plan/cell.h"
#include "harness/plan/condition.h"
#include "harness/plan/paths.h"
#include "lib/document/json_text.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* The document that a path leads into, and the path in it. */
static const json_t *document_of(const struct cell *cell, const char **path)
{
    const char *in_lab = paths_in_lab(*path);
    *path = in_lab ? in_lab : *path;
    return in_lab ? cell->lab_json : cell->scenario_json;
}

json_t *plan_values(const struct cell *cell, const char *path)
{
    json_t *chosen = json_object_get(cell->choice, path);
    const json_t *document = document_of(cell, &path);
    return chosen ? json_make("[O]", chosen) : document ? paths_values(document, path) : NULL;
}

static json_t *values_of_cell(const void *context, const char *path)
{
    return plan_values(context, path);
}

int plan_judge_when(const struct cell *cell, const json_t *when, struct error *e)
{
    return condition_holds(when, values_of_cell, cell, e);
}

bool plan_when(const struct cell *cell, const json_t *when)
{
    struct error ignored;
    return plan_judge_when(cell, when, &ignored) == 1;
}

/* ---- the cells by their choices */

int cell_places_make(struct cell_places *places, const struct plan *plan, struct error *e)
{
    places->by_choice = json_object();
    for (size_t i = 0; i < plan->cell_count; i++) {
        json_t *choice = choices_at(&plan->choices, i);
        char *key = choice ? json_dumps(choice, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
        int result = key && places->by_choice
                         ? json_object_set_new(places->by_choice, key, json_integer((json_int_t)i))
                         : -1;
        free(key);
        json_decref(choice);
        if (result != 0)
            return error_set(e, "out of memory for the places of %zu cells", plan->cell_count);
    }
    return 0;
}

void cell_places_free(struct cell_places *places)
{
    json_decref(places->by_choice);
    *places = (struct cell_places){0};
}

size_t cell_places_other(const struct cell_places *places, const struct cell *cell, const json_t *against)
{
    json_t *choice = json_copy(cell->choice), *value;
    const char *path;
    bool swept = choice;
    json_object_foreach((json_t *)(uintptr_t)against, path, value)
    {
        swept = swept && json_object_get(choice, path) && json_object_set(choice, path, value) == 0;
    }
    char *key = swept ? json_dumps(choice, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
    const json_t *place = key ? json_object_get(places->by_choice, key) : NULL;
    free(key);
    json_decref(choice);
    return place ? (size_t)json_integer_value(place) : NO_CELL;
}

/* ---- the end of a cell */

static void free_expressions(struct cell *cell)
{
    for (size_t i = 0; cell->checks && i < cell->scenario.expect.count; i++)
        expr_free(cell->checks[i]);
    for (size_t i = 0; cell->published && i < cell->scenario.published.count; i++)
        expr_free(cell->published[i]);
    free(cell->checks);
    free(cell->published);
}

void cell_free(struct cell *cell)
{
    if (!cell->borrows_expressions)
        free_expressions(cell);
    if (!cell->borrows_lab)
        lab_free(&cell->lab);
    scenario_free(&cell->scenario);
    json_decref(cell->choice);
    json_decref(cell->scenario_json);
    json_decref(cell->lab_json);
    memset(cell, 0, sizeof *cell);
}
