/* Settings that the runs of a sweep leave to each other: to set and restore them takes longer than many a run. */
#include "harness/run/sweep_inside.h"
#include "lib/formats/lab_kinds.h"

void sweep_keeps_settings(struct sweep *s)
{
    if (!lab_kind(&s->plan.first.lab)->simulated && s->todo_count > 1)
        s->left = json_object();
}

static bool same_settings(const struct cell *a, const struct cell *b)
{
    const char *role;
    bool same = a->scenario.roles.count == b->scenario.roles.count;
    for (size_t i = 0; same && (role = scenario_role(&a->scenario, i)); i++) {
        json_t *of_a = scenario_role_settings(a->scenario_json, role),
               *of_b = scenario_role_settings(b->scenario_json, role);
        same = scenario_role_index(&b->scenario, role) == (int)i && json_equal(of_a, of_b);
        json_decref(of_a);
        json_decref(of_b);
    }
    return same;
}

bool sweep_next_wants_same(const struct sweep *s, const struct cell *cell)
{
    struct error ignored; /* every cell was made before */
    if (!s->left || s->next == SIZE_MAX)
        return false;
    const struct cell *next = plan_cell(&s->plan, sweep_cell_of(s, s->next), &ignored);
    bool same = next && same_settings(cell, next);
    plan_release(&s->plan, next);
    return same;
}

void sweep_restore_kept(struct sweep *s)
{
    const struct experiment x = {.plan = &s->plan,
                                 .cell = &s->plan.first,
                                 .interrupt = &s->interrupt,
                                 .progress = &s->progress,
                                 .kept = s->left};
    experiment_restore_kept(&x);
    json_decref(s->left);
    s->left = NULL;
}
