#include "lib/formats/verdicts.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

const char *const verdict_names[] = {[VERDICT_NONE] = "",
                                     [VERDICT_UNJUDGED] = "unjudged",
                                     [VERDICT_SKIPPED] = "skipped",
                                     [VERDICT_PASSED] = "passed",
                                     [VERDICT_FAILED] = "failed",
                                     [VERDICT_INCOMPLETE] = "incomplete",
                                     NULL};

enum verdict verdict_of(const char *word)
{
    for (enum verdict v = VERDICT_UNJUDGED; word && verdict_names[v]; v++)
        if (strcmp(word, verdict_names[v]) == 0)
            return v;
    return VERDICT_NONE;
}

enum verdict verdict_with(enum verdict verdict, const json_t *judged)
{
    size_t i;
    const json_t *entry;
    json_array_foreach(judged, i, entry)
    {
        enum verdict one = verdict_of(json_string_value(json_object_get(entry, "verdict")));
        verdict = one > verdict ? one : verdict;
    }
    return verdict;
}

enum verdict verdict_of_result(const json_t *result)
{
    if (json_is_false(json_object_get(result, "complete")) &&
        !json_is_true(json_object_get(result, "stopped_early"))) /* that was judged */
        return VERDICT_INCOMPLETE;
    return verdict_with(verdict_with(VERDICT_NONE, json_object_get(result, "expectations")),
                        json_object_get(result, "verify"));
}

bool verdict_holds(const char *sign, double left, double right)
{
    bool or_equal = *sign && sign[1] == '=';
    switch (*sign) {
    case '<':
        return left < right || (or_equal && left == right);
    case '>':
        return left > right || (or_equal && left == right);
    case '!':
        return left != right;
    default:
        return left == right;
    }
}

const char *verdict_percents(double percent, char shown[32])
{
    snprintf(shown, 32, fabs(percent) < 0.05 ? "0.0 %%" : "%+.1f %%", percent);
    return shown;
}
