#include "harness/burn_in/compare.h"
#include "harness/compare/compare.h"
#include "harness/search/compare.h"
#include "harness/search/search.h"
#include "lib/document/json_text.h"
#include "lib/output/columns.h"
#include "lib/program/program.h"
#include <stdlib.h>

struct compare_options {
    struct list_of fail_if; /* char * */
    int json;
};

static const struct field fields[] = {
    {.name = "fail_if",
     .kind = FIELD_LIST,
     .item = FIELD_STRING,
     .offset = offsetof(struct compare_options, fail_if),
     .argument = "RULE",
     .help = "Fail (exit status 1) if this holds, such as \"goodput < 97% of old\" or \"latency_p99 > old + "
             "5us\" (docs/compare.md). May be given several times."},
    {.name = "json",
     .kind = FIELD_BOOL,
     .offset = offsetof(struct compare_options, json),
     .help = "Print one JSON document."},
    {0},
};
static const struct table options = {
    .name = "compare", .size = sizeof(struct compare_options), .fields = fields};

static int compare_burn_ins(const char *old, const char *new, const struct compare_options *said)
{
    struct error e;
    json_t *comparison = burn_in_compare(old, new, &said->fail_if, &e);
    if (!comparison)
        return program_fail(EXIT_USAGE, &e);
    int status = burn_in_compare_status(comparison);
    if (said->json)
        json_print(stdout, comparison, 15);
    else
        burn_in_compare_print(comparison, columns_of_terminal(stdout));
    json_decref(comparison);
    return status;
}

static int compare_searches(const char *old, const char *new, const struct compare_options *said)
{
    struct error e;
    json_t *comparison = NULL;
    if (said->fail_if.count)
        error_set(&e, "--fail-if: rules are of results and burn-ins, and %s is a search", new);
    else
        comparison = search_compare(old, new, &e);
    if (!comparison)
        return program_fail(EXIT_USAGE, &e);
    int status = search_compare_status(comparison);
    if (said->json)
        json_print(stdout, comparison, 15);
    else
        search_compare_print(comparison, columns_of_terminal(stdout));
    json_decref(comparison);
    return status;
}

static int run_compare(const struct call *call)
{
    const struct compare_options *said = call->options;
    struct error e;
    json_t *comparison = NULL;
    char *old = compare_find(call->arguments[0], &e),
         *new = old ? compare_find(call->arguments[1], &e) : NULL;
    bool burn_ins = new &&burn_in_is(old) && burn_in_is(new),
         searches = new &&search_is_in(old) && search_is_in(new);
    if (burn_ins || searches) {
        int status = burn_ins ? compare_burn_ins(old, new, said) : compare_searches(old, new, said);
        free(old);
        free(new);
        return status;
    }
    if (new)
        comparison = compare_results(old, new, &said->fail_if, &e);
    free(old);
    free(new);
    if (!comparison)
        return program_fail(EXIT_USAGE, &e);
    int status = compare_status(comparison);
    if (said->json)
        json_print(stdout, comparison, 15);
    else
        compare_print(comparison, columns_of_terminal(stdout), false);
    json_decref(comparison);
    return status;
}

const struct command command_compare = {
    .name = "compare",
    .arguments = "OLD NEW",
    .about = "Compare two results, burn-ins or searches: settings, versions, figures.",
    .options = &options,
    .least = 2,
    .most = 2,
    .run = run_compare,
};
