#include "lib/formats/search.h"

const char *const search_strategies[] = {"model", "annealing", "latin-hypercube", "random", NULL};

#define AT(member) .offset = offsetof(struct search_objective, member)
static const struct field objective_fields[] = {
    {"name", FIELD_STRING, AT(name), .help = "What tables call it; otherwise its expression."},
    {"min", FIELD_STRING, AT(min), .help = "The expression whose value is to be small."},
    {"max", FIELD_STRING, AT(max), .help = "The expression whose value is to be large."},
    {0},
};
#undef AT

static int check_objective(const void *object, const char *path, struct error *e)
{
    const struct search_objective *o = object;
    return !o->min != !o->max ? 0 : error_set(e, "%s: expected one of \"min\" and \"max\"", path);
}

static const struct table objective_table = {"scenario.search.objective", "What is wanted.",
                                             sizeof(struct search_objective), objective_fields,
                                             check_objective};

static int check_search(const void *object, const char *path, struct error *e)
{
    const struct scenario_search *s = object;
    if (!s->find == (s->objectives.count == 0))
        return error_set(e, "%s: expected one of \"objectives\" and \"find\"", path);
    if ((s->led_by.count || s->findings != FIELD_UNSET) && !s->find)
        return error_set(e, "%s.%s: expected \"find\" too", path, s->led_by.count ? "led_by" : "findings");
    return s->runs == FIELD_UNSET && s->time_ns == FIELD_UNSET
               ? error_set(e, "%s: without an end: expected \"runs\", \"time\" or both", path)
               : 0;
}

#define AT(member) .offset = offsetof(struct scenario_search, member)
static const struct field search_fields[] = {
    {"over", FIELD_JSON, AT(over), .required = true,
     .help =
         "Map of path to a list of values, or to {\"from\": VALUE, \"to\": VALUE, \"scale\": \"linear\" or "
         "\"log\"}: what is varied."},
    {"except", FIELD_JSON, AT(except),
     .help = "List of conditions: values for which one holds are not tried."},
    {"only", FIELD_JSON, AT(only), .help = "List of conditions: only values for which one holds are tried."},
    {"objectives", FIELD_LIST, AT(objectives), .item = FIELD_OBJECT, .sub = &objective_table, .min = 1,
     .max = SEARCH_MOST_OBJECTIVES, .help = "What is wanted of the values."},
    {"find", FIELD_STRING, AT(find),
     .help = "In place of objectives: a comparison (<, <=, >, >=) that some values are to make true. Each "
             "kind of "
             "them is reduced to a scenario whose expectation fails."},
    {"led_by", FIELD_LIST, AT(led_by), .item = FIELD_STRING, .min = 0, .max = SEARCH_MOST_OBJECTIVES - 1,
     .help =
         "With find: expressions, such as counters of pauses, whose values are driven up on the way there."},
    {"findings", FIELD_INTEGER, AT(findings), .min = 1, .max = SEARCH_MOST_RUNS,
     .help = "With find: so many kinds of values that make it true, at most."},
    {"reduce", FIELD_BOOL, AT(reduce), .fallback = "true",
     .help =
         "With find: take away what a finding does not need, in many further runs. false: it is as it was "
         "found, and harness reduce of its result can do that later."},
    {"constraints", FIELD_LIST, AT(constraints), .item = FIELD_STRING, .min = 0, .max = 1000,
     .any_order = true, .help = "Names of expectations that must pass; a name may be a glob. Default: all."},
    {"guard", FIELD_LIST, AT(guard), .item = FIELD_STRING, .min = 0, .max = 1000, .any_order = true,
     .help =
         "Names of expectations that concern others, such as pauses or losses of priorities that this "
         "traffic does not use; a name may be a glob. They are constraints; on real hosts the first run that "
         "fails one ends the search, and settings are put back after each."},
    {"baselines", FIELD_JSON, AT(baselines),
     .help = "Map of name to a map of path to value: known settings, which the answer is compared with. The "
             "scenario as it is written always is one."},
    {"other", FIELD_JSON, AT(other),
     .help =
         "Map of name to a map of path to value: other traffic, on which the answer is tried at the end."},
    {"runs", FIELD_INTEGER, AT(runs), .min = 1, .max = SEARCH_MOST_RUNS,
     .help = "So many runs at most, those of baselines and of further seeds among them."},
    {"time", FIELD_QUANTITY, AT(time_ns), .unit = UNIT_TIME_NS, .min = 1000000000, .max = 604800000000000,
     .help = "No round is begun after this time."},
    {"seeds", FIELD_INTEGER, AT(seeds), .min = 1, .max = SEARCH_MOST_SEEDS, .fallback = "3",
     .help =
         "So many runs of one candidate: a further seed, or on real hosts a repetition, only while it may "
         "still be among the best."},
    {"at_once", FIELD_INTEGER, AT(at_once), .min = 1, .max = 1000, .fallback = "8",
     .help = "Candidates of a round, which know nothing of each other."},
    {"strategy", FIELD_CHOICE, AT(strategy), .choices = search_strategies, .fallback = "\"model\"",
     .help = "How candidates are chosen."},
    {"stop_early", FIELD_BOOL, AT(stop_early), .fallback = "false",
     .help = "End a candidate's run as soon as a constraint is broken for good: one in which an increase "
             "(delta, total) or a largest value (max) of hosts or switches is compared with a number, as in "
             "delta(s0.buffer_discards) == 0. It is looked for ten times in the measure phase."},
    {0},
};
#undef AT

const struct table scenario_search_table = {"scenario.search", "A search for the best values.",
                                            sizeof(struct scenario_search), search_fields, check_search};
