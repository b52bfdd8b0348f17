#include "lib/document/json_text.h"
#include "lib/log.h"
#include "lib/output/print.h"
#include "lib/program/program.h"
#include "reports/explain/explain.h"
#include <stdio.h>

struct explain_arguments {
    int hosts_only;
    int json;
};

static const struct field fields[] = {
    {.name = "hosts-only",
     .kind = FIELD_BOOL,
     .offset = offsetof(struct explain_arguments, hosts_only),
     .help = "Use only what real hosts count: nothing of switches, and no single pauses."},
    {.name = "json",
     .kind = FIELD_BOOL,
     .offset = offsetof(struct explain_arguments, json),
     .help = "Print JSON (docs/explain.md): of a sweep a list."},
    {0},
};
static const struct table options = {
    .name = "explain", .size = sizeof(struct explain_arguments), .fields = fields};

static void print_one(const json_t *explanation)
{
    struct text words = {0};
    explain_add_words(explanation, false, &words);
    print_out("%s (%s):\n%s", json_string_value(json_object_get(explanation, "folder")),
              json_string_value(json_object_get(explanation, "origin")), text_string(&words));
    text_free(&words);
}

static int run_explain(const struct call *call)
{
    const struct explain_arguments *said = call->options;
    struct error e;
    struct damaged damaged = {0};
    json_t *explained = explain_result(call->arguments[0], said->hosts_only, &damaged, &e);
    const json_t *one;
    size_t i;
    int status = EXIT_USAGE;
    if (!explained)
        log_error("%s", e.text);
    else if (said->json)
        json_print(stdout, explained, 12);
    else if (json_is_array(explained))
        json_array_foreach(explained, i, one) print_one(one);
    else
        print_one(explained);
    if (explained)
        status = damaged_warn(&damaged) ? EXIT_FAILED : EXIT_DONE;
    damaged_free(&damaged);
    json_decref(explained);
    return status;
}

const struct command command_explain = {
    .name = "explain",
    .arguments = "RESULT",
    .about = "Say what happened in a run, and why.",
    .options = &options,
    .least = 1,
    .most = 1,
    .run = run_explain,
};
