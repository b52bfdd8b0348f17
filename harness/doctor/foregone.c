/* Expectations that no run can fail, or none can pass: increases are never negative, shares never above 1. */
#include "harness/doctor/check.h"

static void examine_foregone(const struct doctor_subject *x)
{
    const struct scenario *scenario = &x->cell->scenario;
    const struct scenario_expect *expect = scenario->expect.items;
    for (size_t i = 0; i < scenario->expect.count; i++) {
        enum expr_foregone is = expr_foregone(x->cell->checks[i], scenario);
        if (is == EXPR_OPEN || !plan_when(x->cell, expect[i].when))
            continue;
        doctor_add(x->entries, x->lab->name, "foregone", "warning", NULL,
                   is == EXPR_ALWAYS ? "expect[%zu], \"%s\": %s always holds: it cannot fail"
                                     : "expect[%zu], \"%s\": %s never holds: it cannot pass",
                   i, expect[i].name, expect[i].check);
        doctor_add_evidence(x->entries, "expect[%zu].check", i);
    }
}

const struct doctor_check doctor_foregone = {.name = "foregone",
                                             .scope = DOCTOR_CELL,
                                             .when = DOCTOR_WARNS_OF_RUN | DOCTOR_EXAMINES,
                                             .examine = examine_foregone};
