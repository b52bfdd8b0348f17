/* search.json: its keys, and how it is read. */
#include "harness/search/document.h"

#include "lib/document/json_file.h"
#include "lib/files.h"
#include "lib/formats/search.h"
#include "reports/results/run.h"
#include <stdlib.h>
#include <string.h>

struct document_objective {
    char *name, *of, *unit;
    int goal;
};

struct document_entry {
    json_t *values, *has, *objectives, *left_out;
    char *known, *source, *why;
    int64_t round, runs, not_run;
    int feasible, knee;
    struct list_of folders, warnings; /* char * */
};

struct document {
    int64_t schema, seed, rounds, runs, candidates, feasible, with_all_seeds, seeds;
    char *program, *version, *build, *scenario, *title, *lab, *note, *scenario_file, *lab_file, *find, *why;
    int64_t stopped_early, not_run, refused;
    char *refusal;
    int simulated, complete, strategy;
    json_t *parameters, *absent, *trials, *importance, *use, *findings;
    struct list_of objectives, known, front, tried, unexplored;
};

#define COUNT .min = 0, .max = SEARCH_MOST_RUNS * 2

static const char *const goals[] = {"max", "min", NULL};

#define AT(member) offsetof(struct document_objective, member)
static const struct field objective_fields[] = {
    {"name", FIELD_STRING, AT(name), .required = true, .form = &form_any, .help = "What tables call it."},
    {"goal", FIELD_CHOICE, AT(goal), .choices = goals, .required = true, .help = "What is wanted of it."},
    {"of", FIELD_STRING, AT(of), .form = &form_any, .help = "The expression."},
    {"unit", FIELD_STRING, AT(unit), .form = &form_any,
     .help = "Of its values: b/s, ns, bytes, /s, or none."},
    {0},
};
#undef AT
static const struct table objective_table = {
    .name = "search.objective", .size = sizeof(struct document_objective), .fields = objective_fields};

#define AT(member) offsetof(struct document_entry, member)
static const struct field entry_fields[] = {
    {"values", FIELD_JSON, AT(values), .required = true,
     .help = "Path: value; of a known setting what it sets."},
    {"has", FIELD_JSON, AT(has),
     .help = "Of a known setting: path: value of what is varied, null where none is set, absent where flows, "
             "hosts or others of one path differ."},
    {"known", FIELD_STRING, AT(known), .form = &form_any, .help = "The name of a known setting."},
    {"source", FIELD_STRING, AT(source), .form = &form_any, .help = "Where a known setting is from."},
    {"left_out", FIELD_JSON, AT(left_out),
     .help = "What else belongs to it, as PART.NAME=VALUE: why it has no place here."},
    {"knee", FIELD_BOOL, AT(knee), .help = "Of the front: the winner."},
    {"round", FIELD_INTEGER, AT(round), COUNT, .help = "That it was proposed in; 0: a known setting."},
    {"runs", FIELD_INTEGER, AT(runs), COUNT, .help = "That it had."},
    {"feasible", FIELD_BOOL, AT(feasible),
     .help = "Did each meet the constraints? Absent: that is not known, as runs did not run."},
    {"not_run", FIELD_INTEGER, AT(not_run), COUNT, .help = "These, which were made once more."},
    {"why", FIELD_STRING, AT(why), .form = &form_any, .help = "Why not."},
    {"objectives", FIELD_JSON, AT(objectives), .required = true,
     .help = "NAME: mean, ci95, stddev and count, in the unit of the objective."},
    {"folders", FIELD_LIST, AT(folders), .item = FIELD_STRING, .form = &form_any,
     .help = "The results of its runs, below the folder of the search."},
    {"warnings", FIELD_LIST, AT(warnings), .item = FIELD_STRING, .form = &form_any,
     .help = "What its runs warn of."},
    {0},
};
#undef AT
static const struct table entry_table = {
    .name = "search.entry", .size = sizeof(struct document_entry), .fields = entry_fields};

#define ENTRIES    .item = FIELD_OBJECT, .sub = &entry_table, .required = true
#define AT(member) offsetof(struct document, member)
static const struct field fields[] = {
    {"schema", FIELD_INTEGER, AT(schema), .required = true, .min = 1, .max = 1, .help = "1."},
    {"program", FIELD_STRING, AT(program), .help = "harness."},
    {"version", FIELD_STRING, AT(version), .help = "Its version,"},
    {"build", FIELD_STRING, AT(build), .help = "and its sources (harness --version)."},
    {"scenario", FIELD_STRING, AT(scenario), .required = true, .help = "The scenario's name,"},
    {"title", FIELD_STRING, AT(title), .form = &form_any, .help = "its title,"},
    {"scenario_file", FIELD_STRING, AT(scenario_file), .form = &form_any, .help = "and its file."},
    {"lab", FIELD_STRING, AT(lab), .required = true, .help = "The lab's name,"},
    {"lab_file", FIELD_STRING, AT(lab_file), .form = &form_any, .help = "and its file."},
    {"simulated", FIELD_BOOL, AT(simulated), .help = "Was it computed by the simulator?"},
    {"complete", FIELD_BOOL, AT(complete), .help = "false: it has not ended."},
    {"strategy", FIELD_CHOICE, AT(strategy), .choices = search_strategies,
     .help = "How candidates were chosen."},
    {"seed", FIELD_INTEGER, AT(seed), .min = 0, .max = INT64_MAX,
     .help = "Of the choice, and of the first run."},
    {"seeds", FIELD_INTEGER, AT(seeds), COUNT, .help = "Runs of a candidate, at most."},
    {"note", FIELD_STRING, AT(note), .form = &form_any, .help = "Why they are fewer than was asked for."},
    {"rounds", FIELD_INTEGER, AT(rounds), COUNT, .help = "Of proposals."},
    {"runs", FIELD_INTEGER, AT(runs), COUNT, .help = "All of them."},
    {"candidates", FIELD_INTEGER, AT(candidates), COUNT, .help = "That were tried,"},
    {"feasible", FIELD_INTEGER, AT(feasible), COUNT, .help = "that met the constraints,"},
    {"with_all_seeds", FIELD_INTEGER, AT(with_all_seeds), COUNT, .help = "and that had all their runs."},
    {"stopped_early", FIELD_INTEGER, AT(stopped_early), COUNT,
     .help = "Of the runs, those that ended as soon as a constraint was broken for good (stop_early): they "
             "have no figures."},
    {"not_run", FIELD_INTEGER, AT(not_run), COUNT,
     .help = "Of the runs, those that did not run, nor when they were made once more."},
    {"refused", FIELD_INTEGER, AT(refused), .min = 0, .max = INT64_MAX,
     .help = "Proposals that were not tried, as the lab cannot run them,"},
    {"refusal", FIELD_STRING, AT(refusal), .form = &form_any, .help = "and why not the first of them."},
    {"parameters", FIELD_JSON, AT(parameters),
     .help = "What was varied: path, over, as_written (as in has of a known setting)."},
    {"objectives", FIELD_LIST, AT(objectives), .item = FIELD_OBJECT, .sub = &objective_table,
     .required = true, .help = "What was wanted."},
    {"find", FIELD_STRING, AT(find), .form = &form_any, .help = "In its place: what was to be made true,"},
    {"findings", FIELD_JSON, AT(findings),
     .help = "and the kinds of values that do: folder, runs (so far), features, sentence, "
             "differs, not_reduced (why)."},
    {"known", FIELD_LIST, AT(known), ENTRIES, .help = "Known settings, the scenario as written first."},
    {"absent", FIELD_JSON, AT(absent), .help = "Known settings that could not be tried: NAME: why."},
    {"front", FIELD_LIST, AT(front), ENTRIES,
     .help = "Those that none is better than in all objectives, the best in the first one first."},
    {"trials", FIELD_JSON, AT(trials),
     .help = "The winner on what the search has not seen: on, base, winner, and of each objective better, "
             "worse or not told apart."},
    {"importance", FIELD_JSON, AT(importance),
     .help =
         "path, objective, share of the variance, told (more than chance), flat (from and to which values "
         "were tried and not told from the best)."},
    {"why", FIELD_STRING, AT(why), .form = &form_any, .help = "Why the winner is better, a sentence."},
    {"use", FIELD_JSON, AT(use),
     .help = "files (file, is, roles) that set the winner, and not_made: WHAT: why."},
    {"unexplored", FIELD_LIST, AT(unexplored), .item = FIELD_STRING, .form = &form_any,
     .help = "What it says nothing of."},
    {"tried", FIELD_LIST, AT(tried), ENTRIES, .help = "All candidates, in the order of proposing."},
    {0},
};
#undef AT
const struct table search_table = {.name = "search",
                                   .help = "What harness search found.",
                                   .size = sizeof(struct document),
                                   .fields = fields};

/* Of this version all keys are known; another one may have others. */
json_t *search_load(const char *folder, struct error *e)
{
    char *file = files_join(folder, SEARCH_DOCUMENT);
    json_t *document = file ? json_file_load(file, DOCUMENT_RESULT, e) : NULL;
    struct document parsed;
    int result = document ? 0 : -1;
    if (document && !json_is_object(document))
        result = error_set(e, "%s: expected an object", file);
    if (result == 0 && strcmp(run_member(document, "version"), HARNESS_VERSION) == 0) {
        result = table_parse(&search_table, document, &parsed, e);
        if (result == 0)
            table_free(&search_table, &parsed);
        else
            error_prefix(e, "%s", file);
    }
    if (result != 0) {
        json_decref(document);
        document = NULL;
    }
    free(file);
    return document;
}
