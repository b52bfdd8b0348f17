/* The plan of a scenario and a lab that a test has as texts: plans are loaded from files. */
#ifndef TESTS_PLAN_OF_H
#define TESTS_PLAN_OF_H

#include "tests/unit/unit.h"

#include "harness/plan/plan.h"
#include "lib/error.h"
#include <unistd.h>

static inline void plan_of_write(char path[40], const char *text)
{
    snprintf(path, 40, "/tmp/test_plan.XXXXXX");
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
}

/* Free it with plan_free. */
static inline void plan_of(const char *scenario_text, const char *lab_text, struct plan *plan)
{
    char scenario[40], lab[40];
    struct error e = {{0}};
    plan_of_write(scenario, scenario_text);
    plan_of_write(lab, lab_text);
    const struct plan_request request = {.scenario = scenario, .lab = lab, .duration_ns = FIELD_UNSET};
    int result = plan_load(&request, plan, &e);
    unlink(scenario);
    unlink(lab);
    if (result != 0)
        fail_msg("%s", e.text);
}

/* A lab is refused, with a sentence that has `why`. */
static inline void refuse_lab(const char *lab_text, const char *why)
{
    struct lab lab;
    struct error e;
    json_t *json = json_loads(lab_text, 0, NULL);
    assert_non_null(json);
    assert_int_equal(lab_parse(json, NULL, &lab, &e), -1);
    if (!strstr(e.text, why))
        fail_msg("%s", e.text);
    json_decref(json);
}

#endif
