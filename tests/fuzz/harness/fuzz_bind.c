/* A scenario's text in a lab whose hosts have several NICs: bound, parsed, and its expectations told roles
 * from counters. */
#include "harness/expression/expr.h"
#include "harness/plan/bind.h"
#include "lib/formats/lab.h"
#include "lib/formats/scenario.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char text_of_lab[] = "{\"schema\":1,\"name\":\"l\",\"driver\":\"ssh\",\"roles\":{\"x\":\"a\","
                                  "\"y\":\"a.r1\"},\"hosts\":{\"a\":{\"ssh\":"
                                  "\"a\",\"nics\":{\"r[0-3]\":{},\"e\":{}}},\"b\":{\"ssh\":\"b\",\"nics\":{"
                                  "\"r[0-1]\":{}}},\"c\":{\"ssh\":\"c\"},\"d\":{"
                                  "\"ssh\":\"c\",\"machine\":\"c\"}}}";

static void try_expressions(const struct scenario *scenario)
{
    const struct scenario_expect *expect = scenario->expect.items;
    struct error e;
    for (size_t i = 0; i < scenario->expect.count && i < 10; i++) {
        struct expr *expr = expr_compile(expect[i].check, true, &e);
        if (!expr)
            continue;
        expr_name_roles(expr, scenario);
        expr_validate(expr, scenario, &e);
        expr_free(expr);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct lab lab;
    struct scenario scenario;
    struct error e;
    bool changed;
    json_t *json = json_loadb((const char *)data, size, JSON_REJECT_DUPLICATES, NULL);
    json_t *written = json_loads(text_of_lab, 0, NULL), *whole = lab_expand(written, &e);
    json_t *document = json_is_object(json) ? scenario_expand(json, &e) : NULL;
    if (!whole || lab_parse(whole, NULL, &lab, &e) != 0)
        abort();
    if (document && bind_scenario(document, &lab, &changed, &e) == 0 &&
        scenario_parse(document, &scenario, &e) == 0) {
        scenario.bound = true;
        try_expressions(&scenario);
        /* what is bound stays as it is */
        json_t *again = json_deep_copy(document);
        if (bind_scenario(again, &lab, &changed, &e) != 0 || !json_equal(again, document))
            abort();
        json_decref(again);
        scenario_free(&scenario);
    }
    lab_free(&lab);
    json_decref(document);
    json_decref(whole);
    json_decref(written);
    json_decref(json);
    return 0;
}
