#include "lib/program/program.h"
#include "lib/document/json_file.h"
#include "lib/document/json_text.h"
#include "lib/formats/find.h"
#include "lib/formats/lab.h"
#include "lib/log.h"
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A host's values have a line each, because no value that a lab may have contains a line break
 * (lib/document/form.h). */
static int print_values(const char *word, const char *const *paths, size_t count, struct text *out,
                        struct error *e)
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

/* The document as it is parsed: each host, switch and link of ranges, topology and defaults. */
static int print_whole(const char *word, struct error *e)
{
    char *path = find_file(FIND_LAB, word, e);
    json_t *written = path ? json_file_load(path, DOCUMENT_LAB, e) : NULL, *whole = NULL;
    struct lab lab;
    int result = path && written ? 0 : -1;
    if (result == 0 && (!(whole = lab_expand(written, e)) || lab_parse(whole, path, &lab, e) != 0))
        result = error_prefix(e, "%s", path);
    else if (result == 0)
        lab_free(&lab);
    if (result == 0 && json_print(stdout, whole, 15) != 0)
        result = error_set_errno(e, errno, "printing lab %s", path);
    json_decref(whole);
    json_decref(written);
    free(path);
    return result;
}

static int run_action(const struct call *call, struct text *out, struct error *e)
{
    const char *action = call->arguments[0];
    bool shows = strcmp(action, "show") == 0;
    if (!shows && strcmp(action, "get") != 0)
        return error_set(e, "lab: \"%.60s\" is unknown: expected get or show", action);
    if (shows != (call->count == 2))
        return error_set(e, "lab: expected %s", shows ? "show LAB" : "get LAB PATH...");
    return shows ? print_whole(call->arguments[1], e)
                 : print_values(call->arguments[1], call->arguments + 2, call->count - 2, out, e);
}

static int run_lab(const struct call *call)
{
    struct text out = {0};
    struct error e;
    int result = run_action(call, &out, &e);
    if (result == 0 && out.failed)
        result = error_set(&e, "out of memory");
    if (result == 0)
        fputs(text_string(&out), stdout);
    text_free(&out);
    return result == 0 ? EXIT_DONE : program_fail(EXIT_USAGE, &e);
}

const struct command command_lab = {
    .name = "lab",
    .arguments = "get|show LAB [PATH...]",
    .about =
        "Check a lab and print some of its values, one per line, for scripts (get LAB PATH...), or all of "
        "it as JSON, with "
        "ranges of names, topology and defaults written out (show LAB).",
    .least = 2,
    .most = SIZE_MAX,
    .run = run_lab,
};
