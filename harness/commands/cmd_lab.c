#include "lib/program/program.h"
#include "lib/document/table_get.h"
#include "lib/formats/find.h"
#include "lib/formats/lab.h"
#include "lib/log.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A host's values have a line each, because no value that a lab may have contains a line break (lib/document/form.h). */
static int get(const char *word, const char *const *paths, size_t count, struct text *out, struct error *e)
{
    struct lab lab;
    char *path = find_file(FIND_LAB, word, e);
    int result = path ? lab_load(path, &lab, e) : -1;
    free(path);
    if (result != 0)
        return -1;
    for (size_t i = 0; result == 0 && i < count; i++)
        result = table_get(&lab_kind(&lab)->table, &lab, paths[i], out, e);
    lab_free(&lab);
    return result;
}

static int run_lab(const struct call *call)
{
    struct text out = {0};
    struct error e;
    int result = strcmp(call->arguments[0], "get") == 0
                     ? get(call->arguments[1], call->arguments + 2, call->count - 2, &out, &e)
                     : error_set(&e, "lab: \"%.60s\" is unknown: expected get", call->arguments[0]);
    if (result == 0 && out.failed)
        result = error_set(&e, "out of memory");
    if (result == 0)
        fputs(text_string(&out), stdout);
    text_free(&out);
    return result == 0 ? EXIT_DONE : program_fail(EXIT_USAGE, &e);
}

const struct command command_lab = {
    .name = "lab",
    .arguments = "get LAB PATH...",
    .about = "Check a lab and print some of its values, one a line, for scripts.",
    .least = 3,
    .most = SIZE_MAX,
    .run = run_lab,
};
