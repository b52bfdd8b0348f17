#include "harness/doctor/probe/probe.h"

#include "harness/doctor/doctor.h"
#include "harness/doctor/probe/classes.h"
#include "harness/doctor/probe/documents.h"
#include "harness/doctor/probe/incast.h"
#include "harness/run/experiment.h"
#include "harness/run/results.h"
#include "lib/document/json_file.h"
#include "lib/files.h"
#include "lib/folder/fresh.h"
#include <stdlib.h>
#include <string.h>

/* ---- where the result is while it is judged */

struct place {
    struct folder parent; /* of a folder that is removed */
    struct fresh fresh;
    char *path;
};

static int open_temporary(struct place *place, struct error *e)
{
    const char *said = getenv("TMPDIR");
    if (folder_open(&place->parent, said && *said ? said : "/tmp", e) != 0)
        return -1;
    fresh_clear(&place->parent);
    if (fresh_folder(&place->fresh, &place->parent, "harness-probe", e) != 0)
        return -1;
    place->path = files_join(place->parent.path, place->fresh.name);
    return place->path ? 0 : error_set(e, "out of memory");
}

static int open_place(struct place *place, const char *out, const char *scenario, struct error *e)
{
    *place = (struct place){.parent = {.fd = -1}, .fresh = {.fd = -1}};
    if (!out)
        return open_temporary(place, e);
    place->path = results_make_folder(out, scenario, e);
    return place->path ? 0 : -1;
}

static void close_place(struct place *place)
{
    fresh_remove(&place->fresh, &place->parent);
    folder_close(&place->parent);
    free(place->path);
}

/* ---- a run */

typedef void (*probe_judge)(const struct probed *p, json_t *entries);

struct probing {
    const struct probe *probe;
    struct interrupt *interrupt;
    struct progress *progress;
    json_t *lab, *entries;
    const char *lab_name;
};

static void say_failed(const struct probing *x, const char *verdict, const char *fix, const char *from,
                       const struct error *e)
{
    preflight_say(x->entries, x->lab_name, "probe", verdict, fix, "%s", e->text);
    preflight_read(x->entries, "%s", from);
}

static int judge_result(const struct probing *x, const struct cell *cell, const char *folder,
                        probe_judge judge, struct error *e)
{
    char *path = files_join(folder, "result.json");
    json_t *result = path ? json_file_load(path, DOCUMENT_RESULT, e) : NULL;
    const struct probed probed = {cell, result, x->probe->in_force, x->probe->out ? folder : NULL};
    if (result)
        judge(&probed, x->entries);
    else if (!path)
        error_set(e, "out of memory");
    json_decref(result);
    free(path);
    return result ? 0 : -1;
}

/* As probe_lab(). */
static int run_in(const struct probing *x, const struct plan *plan, const char *folder, probe_judge judge,
                  struct error *e)
{
    const struct experiment experiment = {.plan = plan,
                                          .cell = &plan->first,
                                          .folder = folder,
                                          .seed = 1,
                                          .threads = 1,
                                          .repeat = 1,
                                          .repeats = 1,
                                          .interrupt = x->interrupt,
                                          .progress = x->progress,
                                          .as_is = !lab_kind(&plan->first.lab)->simulated};
    struct outcome outcome = experiment_run(&experiment, e);
    progress_clear(x->progress);
    if (outcome.ending == ENDING_INTERRUPTED || interrupt_count(x->interrupt) > 0)
        return 1;
    if (outcome.ending == ENDING_WHOLE)
        return judge_result(x, &plan->first, folder, judge, e);
    say_failed(x, "failure",
               "mend what the other checks name; harness run shows in run.log what the programs said",
               "what the run of the probe said", e);
    return 0;
}

/* A run would make interfaces that flows need. */
static bool lacks_interfaces(const struct cell *cell, struct error *e)
{
    const char *role;
    for (size_t i = 0; (role = scenario_role(&cell->scenario, i)); i++) {
        const struct lab_host *host = lab_real_host(&cell->lab, role);
        if (host && (host->nic.vlan || (host->extra_nics.count > 0 && !host->forwarding))) {
            error_set(
                e,
                "flows of %s pass a %s that a run makes and removes; a probe changes nothing, so nothing was "
                "sent",
                role, host->nic.vlan ? "VLAN interface" : "bridge");
            return true;
        }
    }
    return false;
}

static int run_plan(const struct probing *x, const struct plan *plan, probe_judge judge, struct error *e)
{
    struct place place;
    if (lacks_interfaces(&plan->first, e)) {
        say_failed(x, "unknown", "harness run shows the priority in its counters",
                   "nic.vlan and extra_nics of the lab", e);
        return 0;
    }
    int result = open_place(&place, x->probe->out, plan->first.scenario.name, e) == 0
                     ? run_in(x, plan, place.path, judge, e)
                     : -1;
    close_place(&place);
    return result;
}

static int run_document(const struct probing *x, json_t *scenario, probe_judge judge, struct error *e)
{
    const struct plan_documents documents = {.scenario = scenario,
                                             .lab = x->lab,
                                             .scenario_path = "the probe's scenario",
                                             .lab_path = x->probe->lab_path,
                                             .lab_why = "--lab"};
    const struct plan_request request = {.documents = &documents, .duration_ns = FIELD_UNSET, .seed = 1};
    struct plan plan;
    int result = 0;
    if (plan_load(&request, &plan, e) != 0) {
        say_failed(x, "unknown", NULL, "the scenario and the lab", e);
    } else {
        result = run_plan(x, &plan, judge, e);
        plan_free(&plan);
    }
    return result;
}

/* ---- both runs */

static int probe_both(const struct probing *x, const struct cell *cell, const struct lab *lab,
                      struct error *e)
{
    json_t *small = probe_flows_document(cell, lab, e);
    if (!small) {
        say_failed(x, "unknown", NULL, cell ? "the scenario" : "hosts and links of the lab", e);
        return 0;
    }
    int result = run_document(x, small, probe_judge_classes, e);
    json_t *incast = result == 0 ? probe_incast_document(cell, lab, small, e) : NULL;
    if (result == 0 && !incast)
        result = -1;
    else if (json_is_object(incast))
        result = run_document(x, incast, probe_judge_incast, e);
    json_decref(incast);
    json_decref(small);
    return result;
}

/* The lab's scaled values are of its scenarios: a probe's times and sizes are for any line. */
static json_t *without_scaled(const json_t *lab)
{
    json_t *copy = json_copy((json_t *)(uintptr_t)lab);
    json_object_del(copy, "scaled");
    return copy;
}

static int probe_scenario(struct probing *x, struct error *e)
{
    const struct cell *cell = &x->probe->plan->first;
    x->lab = without_scaled(cell->lab_json);
    x->lab_name = cell->lab.name;
    int result = probe_both(x, cell, &cell->lab, e);
    json_decref(x->lab);
    return result;
}

static int probe_alone(struct probing *x, struct error *e)
{
    struct lab lab;
    json_t *document = json_file_load(x->probe->lab_path, DOCUMENT_LAB, e);
    if (!document || lab_load(x->probe->lab_path, &lab, e) != 0) {
        json_decref(document);
        return -1;
    }
    x->lab = without_scaled(document);
    x->lab_name = lab.name;
    int result = probe_both(x, NULL, &lab, e);
    json_decref(x->lab);
    json_decref(document);
    lab_free(&lab);
    return result;
}

int probe_lab(const struct probe *probe, json_t *entries, struct error *e)
{
    struct interrupt interrupt;
    struct progress progress;
    struct probing x = {.probe = probe, .entries = entries, .interrupt = &interrupt, .progress = &progress};
    if (interrupt_open(&interrupt, e) != 0)
        return -1;
    progress_open(&progress, probe->quiet);
    int result = probe->plan ? probe_scenario(&x, e) : probe_alone(&x, e);
    interrupt_close(&interrupt);
    return result;
}
