#include "harness/doctor/probe/probe.h"

#include "harness/run/experiment.h"
#include "harness/run/results.h"
#include "lib/document/json_file.h"
#include "lib/files.h"
#include "lib/folder/fresh.h"
#include <inttypes.h>
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
    const char *folder = getenv("TMPDIR");
    if (folder_open(&place->parent, folder && *folder ? folder : "/tmp", e) != 0)
        return -1;
    fresh_clear(&place->parent);
    if (fresh_folder(&place->fresh, &place->parent, "harness-probe", e) != 0)
        return -1;
    place->path = files_join(place->parent.path, place->fresh.name);
    return 0;
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

struct probing {
    const struct doctor_check *check;
    const struct doctor_subject *x; /* its lab is that of the probe */
    const char *out;
    struct interrupt *interrupt;
    struct progress *progress;
    json_t *lab; /* its document */
};

static void report_not_run(const struct probing *p, const char *verdict, const char *fix, const char *from,
                           const struct error *e)
{
    doctor_add(p->x->entries, p->x->lab->name, "probe", verdict, fix, "%s", e->text);
    doctor_add_evidence(p->x->entries, "%s", from);
}

static int judge_result(const struct probing *p, const struct cell *cell, const char *folder, struct error *e)
{
    char *path = files_join(folder, "result.json");
    json_t *result = json_file_load(path, DOCUMENT_RESULT, e);
    free(path);
    if (!result)
        return -1;
    const struct probed probed = {cell, result, p->out ? folder : NULL};
    struct doctor_subject x = *p->x;
    x.probed = &probed;
    p->check->examine(&x);
    json_decref(result);
    return 0;
}

static int run_in_folder(const struct probing *p, const struct plan *plan, const char *folder,
                         struct error *e)
{
    const struct experiment experiment = {.plan = plan,
                                          .cell = &plan->first,
                                          .folder = folder,
                                          .seed = 1,
                                          .threads = 1,
                                          .repeat = 1,
                                          .repeats = 1,
                                          .interrupt = p->interrupt,
                                          .progress = p->progress,
                                          .as_is = !lab_kind(&plan->first.lab)->simulated};
    struct outcome outcome = experiment_run(&experiment, e);
    progress_clear(p->progress);
    if (outcome.ending == ENDING_INTERRUPTED || interrupt_count(p->interrupt) > 0)
        return 1;
    if (outcome.ending == ENDING_WHOLE)
        return judge_result(p, &plan->first, folder, e);
    report_not_run(p, "failure",
                   "mend what the other checks name; harness run shows in run.log what the programs said",
                   "what the run of the probe said", e);
    return 0;
}

/* A run would make interfaces that flows need. */
static bool needs_other_interfaces(const struct cell *cell, struct error *e)
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

static int run_plan(const struct probing *p, const struct plan *plan, struct error *e)
{
    struct place place;
    if (needs_other_interfaces(&plan->first, e)) {
        report_not_run(p, "unknown", "harness run shows the priority in its counters",
                       "nic.vlan and extra_nics of the lab", e);
        return 0;
    }
    int result = open_place(&place, p->out, plan->first.scenario.name, e) == 0
                     ? run_in_folder(p, plan, place.path, e)
                     : -1;
    close_place(&place);
    return result;
}

/* As doctor_walk_probes(). */
static int run_probe(const struct probing *p, json_t *scenario, struct error *e)
{
    const struct plan_documents documents = {.scenario = scenario,
                                             .lab = p->lab,
                                             .scenario_path = "the probe's scenario",
                                             .lab_path = p->x->lab_path,
                                             .lab_why = "--lab"};
    const struct plan_request request = {.documents = &documents, .duration_ns = FIELD_UNSET, .seed = 1};
    struct plan plan;
    if (plan_load(&request, &plan, e) != 0) {
        report_not_run(p, "unknown", NULL, "the scenario and the lab", e);
        return 0;
    }
    int result = run_plan(p, &plan, e);
    plan_free(&plan);
    return result;
}

/* ---- all probes */

/* A lab whose traffic one probe cannot make has none for those after it. */
static int walk_probes(struct probing *p, const struct doctor_subject *x, struct error *e)
{
    int result = 0;
    p->x = x;
    for (const struct doctor_check *const *check = doctor_checks; result == 0 && *check; check++) {
        if ((*check)->scope != DOCTOR_PROBE)
            continue;
        p->check = *check;
        json_t *scenario = (*check)->traffic(x->cell, x->lab, e);
        if (!scenario) {
            report_not_run(p, "unknown", NULL, x->cell ? "the scenario" : "hosts and links of the lab", e);
            return 0;
        }
        if (json_is_object(scenario))
            result = run_probe(p, scenario, e);
        json_decref(scenario);
    }
    return result;
}

/* The lab's scaled values are of its scenarios: a probe's times and sizes are for any line. */
static json_t *without_scaled(const json_t *lab)
{
    json_t *copy = json_copy((json_t *)(uintptr_t)lab);
    json_object_del(copy, "scaled");
    return copy;
}

static int probe_scenario(struct probing *p, const struct doctor_subject *x, struct error *e)
{
    const struct cell *cell = &x->plan->first;
    struct doctor_subject of_cell = *x;
    of_cell.lab = &cell->lab;
    of_cell.cell = cell;
    p->lab = without_scaled(cell->lab_json);
    int result = walk_probes(p, &of_cell, e);
    p->x = x;
    json_decref(p->lab);
    return result;
}

static int probe_lab(struct probing *p, const struct doctor_subject *x, struct error *e)
{
    json_t *document = json_file_load(x->lab_path, DOCUMENT_LAB, e);
    if (!document)
        return -1;
    p->lab = without_scaled(document);
    int result = walk_probes(p, x, e);
    json_decref(p->lab);
    json_decref(document);
    return result;
}

int doctor_walk_probes(const struct doctor_subject *x, const char *out, bool quiet, struct error *e)
{
    struct interrupt interrupt;
    struct progress progress;
    struct probing p = {.out = out, .interrupt = &interrupt, .progress = &progress};
    if (interrupt_open(&interrupt, e) != 0)
        return -1;
    progress_open(&progress, quiet);
    int result = x->plan ? probe_scenario(&p, x, e) : probe_lab(&p, x, e);
    interrupt_close(&interrupt);
    return result;
}

/* ---- what a result says */

/* More than a probe of seconds can move on any line. Sums over all flows of a scenario, and multiples, fit
 * into 64 bits then. */
#define COUNTED_MOST INT64_C(1000000000000)

static int64_t bounded(int64_t count)
{
    return count < COUNTED_MOST ? count : COUNTED_MOST;
}

int64_t counted_total(const struct probed *p, const char *role, const char *counter)
{
    const json_t *host = json_object_get(json_object_get(p->result, "hosts"), role);
    const json_t *total =
        json_object_get(json_object_get(json_object_get(host, "counters"), counter), "total");
    return json_is_integer(total) && json_integer_value(total) >= 0 ? bounded(json_integer_value(total)) : -1;
}

int64_t counted_priority(const struct probed *p, const char *role, const char *before, int64_t priority,
                         const char *after)
{
    char counter[80];
    snprintf(counter, sizeof counter, "%s%" PRId64 "%s", before, priority, after);
    return counted_total(p, role, counter);
}

int64_t counted_of_flow(const struct probed *p, const char *flow, const char *key)
{
    const json_t *value = json_object_get(json_object_get(json_object_get(p->result, "flows"), flow), key);
    int64_t number = json_integer_value(value);
    return number > 0 ? bounded(number) : 0;
}

void counted_describe_bytes(struct text *out, int64_t bytes)
{
    if (bytes < 1000)
        text_add(out, "%" PRId64 " B", bytes);
    else if (bytes < 1000000)
        text_add(out, "%.1f kB", (double)bytes / 1e3);
    else
        text_add(out, "%.1f MB", (double)bytes / 1e6);
}

void counted_add(const struct doctor_subject *x, const char *host, const char *check, const char *verdict,
                 const char *fix, const struct text *reason, const char *read)
{
    const char *simulated =
        json_is_true(json_object_get(x->probed->result, "simulated")) ? "simulated: " : "";
    doctor_add(x->entries, host, check, verdict, fix, "%s%s", simulated, text_string(reason));
    doctor_add_evidence(x->entries, "%s%s%s%s", simulated, read, x->probed->folder ? "; result.json in " : "",
                        x->probed->folder ? x->probed->folder : "");
}
