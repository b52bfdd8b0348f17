#include "lib/formats/verdicts.h"

#include <stddef.h>
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
