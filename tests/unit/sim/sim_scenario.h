/* A scenario's file and its lab's as a fixture: what is asserted is what `harness run` runs. */
#ifndef TESTS_SIM_SCENARIO_H
#define TESTS_SIM_SCENARIO_H

#include "harness/plan/plan.h"
#include "harness/labs/sim/sim_config.h"
#include "tests/unit/sim/sim_fixture.h"

struct scenario_fixture {
    struct plan plan;
    struct sim_setup setup;
    struct fixture f; /* borrows from the setup */
};

static inline void scenario_open(struct scenario_fixture *s, const char *path)
{
    struct error e = {""};
    const struct plan_request request = {.scenario = path, .duration_ns = FIELD_UNSET};
    memset(s, 0, sizeof *s);
    if (plan_load(&request, &s->plan, &e) || sim_setup_make(&s->plan.first, 1, &s->setup, &e))
        fail_msg("%s: %s", path, e.text);
    for (size_t i = 0; i < s->setup.config.flow_count; i++)
        s->setup.flows[i].stop_ps = SIM_FOREVER;
    s->f.config = s->setup.config;
}

static inline void scenario_close(struct scenario_fixture *s)
{
    sim_setup_free(&s->setup);
    plan_free(&s->plan);
}

#endif
