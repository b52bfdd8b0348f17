#include "harness/search/trial.h"

#include "lib/document/json_text.h"
#include "lib/output/print.h"
#include "reports/results/run.h"
#include <stdlib.h>

static const char *word_for(const struct trial *t, const struct study *study, size_t objective)
{
    const struct spread base = spread_of_sums(&t->base->figures[objective]),
                        winner = spread_of_sums(&t->winner->figures[objective]);
    if (!base.count || !winner.count || !spread_apart(&base, &winner))
        return "not told apart";
    return (winner.mean > base.mean) == study->objectives[objective].max ? "better" : "worse";
}

json_t *trial_json(const struct trial *t, const struct study *study)
{
    json_t *objectives = json_object();
    for (size_t k = 0; k < study->objective_count; k++)
        json_put(objectives, study->objectives[k].name, json_text(word_for(t, study, k)));
    return json_make("{s:s,s:o,s:o,s:o}", "on", t->on, "base", candidate_json(t->base, study), "winner",
                     candidate_json(t->winner, study), "objectives", objectives);
}

void trial_print(const json_t *trial, const json_t *objectives)
{
    const json_t *objective, *winner = json_object_get(trial, "winner");
    struct text line = {0};
    size_t k;
    json_array_foreach((json_t *)(uintptr_t)objectives, k, objective)
    {
        text_add(&line, "%s%s ", k ? "; " : "", run_member(objective, "name"));
        candidate_add_value(winner, objective, &line);
        text_add(&line, ", as written ");
        candidate_add_value(json_object_get(trial, "base"), objective, &line);
        text_add(&line, ": %s",
                 run_member(json_object_get(trial, "objectives"), run_member(objective, "name")));
    }
    if (!json_is_true(json_object_get(winner, "feasible")))
        text_add(&line, "; it %s the constraints there: %s",
                 json_object_get(winner, "feasible") ? "does not meet" : "is not known to meet",
                 run_member(winner, "why"));
    print_out_line("  %-14s %s", run_member(trial, "on"), text_string(&line));
    text_free(&line);
}
