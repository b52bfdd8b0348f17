/* An expression: compiled, validated against a scenario, evaluated over a result. */
#include "harness/expression/expr.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char scenario_text[] = "{\"schema\":1,\"name\":\"x\",\"roles\":[\"a\",\"b\"],"
                                    "\"flows\":[{\"name\":\"f\",\"from\":\"a\",\"to\":\"b\"},"
                                    "{\"name\":\"g\",\"from\":\"b\",\"to\":\"a\"}]}";
static const char result_text[] =
    "{\"hosts\":{\"a\":{\"counters\":{\"rx_prio0_pause\":{\"unit\":\"frames\","
    "\"delta\":3,\"rate_per_s\":1.5},\"rx_buffer1_bytes\":{\"unit\":\"bytes\",\"p50\":7,\"p99_9\":9}}}},"
    "\"flows\":{\"f\":{\"goodput_bps\":1e10,\"latency_ns\":{\"p50\":5}},"
    "\"g\":{\"goodput_bps\":2e10}}}";
/* of another cell, in which one flow is missing */
static const char other_text[] = "{\"flows\":{\"f\":{\"goodput_bps\":3e10}}}";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error e;
    struct scenario scenario;
    struct expr_result out;
    char *text = strndup((const char *)data, size);
    json_t *json = json_loads(scenario_text, 0, NULL), *result = json_loads(result_text, 0, NULL),
           *other = json_loads(other_text, 0, NULL);
    if (text && scenario_parse(json, &scenario, &e) == 0) {
        for (int check = 0; check < 2; check++) {
            struct expr *expr = expr_compile(text, check, &e);
            if (expr) {
                if (expr_validate(expr, &scenario, &e) == 0)
                    expr_decidable(expr, &scenario, &e);
                expr_evaluate(expr, result, expr_reads_other(expr) ? other : NULL, &out);
                if (check)
                    expr_compare(expr, out.left, out.right);
            }
            expr_free(expr);
        }
        scenario_free(&scenario);
    }
    json_decref(result);
    json_decref(other);
    json_decref(json);
    free(text);
    return 0;
}
