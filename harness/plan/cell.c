#include "harness/plan/cell.h"
#include "harness/plan/paths.h"
#include "lib/document/json_text.h"
#include <stdlib.h>
#include <string.h>

/* The document that a path leads into, and the path in it. */
static const json_t *document_of(const struct cell *cell, const char **path)
{
    if (strncmp(*path, "lab.", 4) != 0)
        return cell->scenario_json;
    *path += 4;
    return cell->lab_json;
}

bool plan_value_is(const struct cell *cell, const char *path, const json_t *value)
{
    const json_t *chosen = json_object_get(cell->choice, path);
    const json_t *document = document_of(cell, &path);
    return chosen ? json_equal(chosen, value) : paths_all_equal(document, path, value);
}

json_t *plan_values(const struct cell *cell, const char *path)
{
    json_t *chosen = json_object_get(cell->choice, path);
    const json_t *document = document_of(cell, &path);
    return chosen ? json_make("[O]", chosen) : document ? paths_values(document, path) : NULL;
}

bool plan_when(const struct cell *cell, const json_t *when)
{
    const char *path;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)when, path, value)
    {
        if (!plan_value_is(cell, path, value))
            return false;
    }
    return true;
}

void cell_free(struct cell *cell)
{
    for (size_t i = 0; cell->checks && i < cell->scenario.expect.count; i++)
        expr_free(cell->checks[i]);
    for (size_t i = 0; cell->published && i < cell->scenario.published.count; i++)
        expr_free(cell->published[i]);
    free(cell->checks);
    free(cell->published);
    scenario_free(&cell->scenario);
    lab_free(&cell->lab);
    json_decref(cell->choice);
    json_decref(cell->scenario_json);
    json_decref(cell->lab_json);
    memset(cell, 0, sizeof *cell);
}
