/* A sweep that goes on in its folder. */
#include "harness/run/sweep_inside.h"

#include "lib/document/json_file.h"
#include "lib/files.h"
#include "lib/folder/result_files.h"
#include "lib/log.h"
#include "lib/program/program.h"
#include <stdlib.h>
#include <string.h>

/* Its own name, not that of a link to it such as `latest`. */
char *sweep_resumed_folder(const struct sweep_request *request)
{
    return realpath(request->resume, NULL);
}

int sweep_check_resumed(const struct sweep *s, struct error *e)
{
    if (!s->request->resume || sweep_has_index(s))
        return 0;
    return error_set(e, "%s/request.json is of a single run, which has nothing to resume: run it anew",
                     s->request->resume);
}

int sweep_look_at_run(const struct sweep *s, size_t run, const char *folder, struct outcome *outcome,
                      struct error *e)
{
    struct folder f;
    bool there = folder_open(&f, folder, NULL) == 0 && folder_has(&f, "result.json");
    json_t *result = there ? json_file_load_in(&f, "result.json", DOCUMENT_RESULT, e) : NULL;
    struct error damage;
    bool damaged = result && result_files_check(&f, result, &damage) != 0;
    folder_close(&f);
    *outcome = (struct outcome){.ending = ENDING_NOT_STARTED, .verdict = VERDICT_INCOMPLETE};
    if (!result)
        return there ? -1 : 0;
    const char *version = json_string_value(json_object_get(result, "version"));
    bool whole = json_is_true(json_object_get(result, "complete"));
    const struct cell *cell = plan_cell(&s->plan, sweep_cell_of(s, run), e);
    if (!cell) {
        json_decref(result);
        return -1;
    }
    bool same = version && strcmp(version, HARNESS_VERSION) == 0 &&
                json_equal(json_object_get(result, "scenario"), cell->scenario_json) &&
                json_equal(json_object_get(result, "lab"), cell->lab_json) &&
                json_integer_value(json_object_get(result, "seed")) == (json_int_t)sweep_seed_of(s, run) &&
                json_integer_value(json_object_get(result, "repeat")) == (json_int_t)sweep_repeat_of(s, run);
    const char *reason = json_string_value(json_object_get(result, "reason"));
    *outcome = (struct outcome){whole && !damaged ? ENDING_WHOLE : ENDING_LAB_FAILED, verdict_said_by(result),
                                origin_of_result(result)};
    if (whole && damaged)
        error_set(e, "%s", damage.text);
    else if (!whole)
        error_set(e, "%s", reason ? reason : "its result does not say why it is not whole");
    json_decref(result);
    plan_release(&s->plan, cell);
    if (whole && !same)
        return error_set(
            e, "%s/result.json is not of this sweep: its version, scenario, lab or seed is another", folder);
    return whole && !damaged;
}

/* Keep what is whole, remove what is not. */
int sweep_keep_runs(struct sweep *s, struct error *e)
{
    for (size_t run = 0; run < sweep_run_count(s); run++) {
        struct outcome outcome = {0};
        char *folder = sweep_folder_of(s, run);
        int whole = folder ? sweep_look_at_run(s, run, folder, &outcome, e) : error_set(e, "out of memory");
        if (whole == 0 && files_remove_tree(folder, e) != 0)
            whole = -1;
        free(folder);
        if (whole < 0 || (whole && index_add(&s->index, run, sweep_entry(s, run, outcome), e) != 0))
            return -1;
        s->kept += whole;
    }
    return 0;
}

int sweep_resume(const struct sweep_request *request)
{
    struct kept_request kept;
    struct error e;
    int status = EXIT_USAGE;
    if (request_load(request, &kept, &e) == 0 && request_check_files(&kept, &e) == 0)
        status = sweep_run_planned(&kept.request, &kept.documents);
    else
        log_error("%s", e.text);
    request_free(&kept);
    return status;
}
