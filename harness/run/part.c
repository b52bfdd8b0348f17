#include "harness/run/part.h"

#include "harness/run/results.h"
#include "harness/run/sweep.h"
#include "lib/files.h"
#include "lib/folder/stamp.h"
#include "lib/program/program.h"
#include "reports/results/run.h"
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

static int is_run_folder(const struct dirent *entry)
{
    return stamp_is_name(entry->d_name);
}

char *part_last(const char *whole, const char *name)
{
    struct dirent **names = NULL;
    char *parent = files_join(whole, name), *last = NULL;
    int count = parent ? scandir(parent, &names, is_run_folder, versionsort) : -1;
    if (count > 0)
        last = files_join(parent, names[count - 1]->d_name);
    for (int i = 0; i < count; i++)
        free(names[i]);
    free(names);
    free(parent);
    return last;
}

static bool has_file(const char *folder, const char *name)
{
    char *path = files_join(folder, name);
    bool has = path && files_exist(path);
    free(path);
    return has;
}

/* A single run has nothing to resume: one that is whole is kept. Its exit status; -1: it is to be run. */
static int whole_run(const char *folder)
{
    static const char *const parts[] = {"schema",  "scenario", "files", "complete", "phases",
                                        "verdict", "version",  "build", NULL};
    struct run run = {0};
    struct error e;
    int status = -1;
    if (has_file(folder, "result.json") && run_load_parts(&run, folder, NULL, parts, &e) == 0 &&
        !run.damage && json_is_true(run_get(&run, "complete")) &&
        strcmp(run_text(&run, "version"), HARNESS_VERSION) == 0 &&
        strcmp(run_text(&run, "build"), results_build()) == 0) {
        enum verdict verdict = verdict_of(run_text(&run, "verdict"));
        status = verdict == VERDICT_PASSED   ? EXIT_DONE
                 : verdict == VERDICT_FAILED ? EXIT_FAILED
                                             : EXIT_SKIPPED;
    }
    run_free(&run);
    return status;
}

int part_run(const struct sweep_request *asked, const struct plan_documents *documents, const char *name,
             bool resume)
{
    struct sweep_request request = *asked;
    char *there = resume ? part_last(asked->out, name) : NULL;
    int status;
    if (there && has_file(there, "request.json")) {
        request.resume = there;
        request.scenario = request.lab = NULL;
        request.sets = (struct list_of){0};
        status = sweep_resume(&request, documents);
    } else {
        status = there ? whole_run(there) : -1;
        status = status >= 0 ? status : sweep_run(&request, documents);
    }
    free(there);
    return status;
}
