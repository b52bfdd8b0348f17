#include "harness/plan/borrow.h"
#include "harness/plan/paths.h"
#include <string.h>

bool borrow_lab(struct cell *cell, const struct cell *first)
{
    if (paths_any_in_lab(cell->choice))
        return false;
    cell->lab = first->lab;
    cell->lab_json = json_incref(first->lab_json);
    cell->borrows_lab = true;
    return true;
}

/* ---- expressions */

static bool same(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool same_roles(const struct scenario *a, const struct scenario *b)
{
    bool equal = a->roles.count == b->roles.count;
    for (size_t i = 0; equal && i < a->roles.count; i++)
        equal = same(scenario_role(a, i), scenario_role(b, i));
    return equal;
}

static bool same_flows(const struct scenario *a, const struct scenario *b)
{
    const struct scenario_flow *flows = a->flows.items, *others = b->flows.items;
    const struct scenario_traffic *traffic = a->traffic.items, *other_traffic = b->traffic.items;
    bool equal = a->flows.count == b->flows.count && a->traffic.count == b->traffic.count;
    for (size_t i = 0; equal && i < a->flows.count; i++)
        equal = same(flows[i].name, others[i].name);
    for (size_t i = 0; equal && i < a->traffic.count; i++)
        equal = same(traffic[i].name, other_traffic[i].name);
    return equal;
}

static bool same_texts(const struct scenario *a, const struct scenario *b)
{
    const struct scenario_expect *expect = a->expect.items, *other = b->expect.items;
    const struct scenario_published *published = a->published.items, *figures = b->published.items;
    bool equal = a->expect.count == b->expect.count && a->published.count == b->published.count;
    for (size_t i = 0; equal && i < a->expect.count; i++)
        equal = same(expect[i].check, other[i].check) && !expect[i].against == !other[i].against;
    for (size_t i = 0; equal && i < a->published.count; i++)
        equal = same(published[i].of, figures[i].of) && same(published[i].unit, figures[i].unit) &&
                !published[i].against == !figures[i].against;
    return equal;
}

bool borrow_expressions(struct cell *cell, const struct cell *first)
{
    const struct scenario *a = &cell->scenario, *b = &first->scenario;
    if (!same_texts(a, b) || !same_roles(a, b) || !same_flows(a, b))
        return false;
    cell->checks = first->checks;
    cell->published = first->published;
    cell->borrows_expressions = true;
    return true;
}
