#include "harness/doctor/hosts/host.h"
#include "harness/doctor/probe/probe.h"
#include "harness/doctor/switches/switch.h"
#include "harness/labs/hosts/parallel.h"
#include "harness/plan/decidable.h"
#include "lib/document/json_text.h"
#include "lib/output/print.h"
#include "lib/output/verdicts.h"
#include "lib/program/program.h"
#include <stdlib.h>
#include <string.h>

struct doctor_options {
    const char *lab, *scenario, *out;
    struct list_of sets;
    int probe;
    int json;
};

static const struct field fields[] = {
    {.name = "lab",
     .letter = 'l',
     .kind = FIELD_STRING,
     .offset = offsetof(struct doctor_options, lab),
     .argument = "LAB",
     .help = "The lab to check (otherwise HARNESS_LAB, or the lab of the configuration file)."},
    {.name = "for",
     .kind = FIELD_STRING,
     .offset = offsetof(struct doctor_options, scenario),
     .argument = "SCENARIO",
     .help = "Check whether the lab fits this scenario. For each cell of the sweep: whether both ends of "
             "each flow agree "
             "on PFC, trust, MTU and ECN, whether packets get their flow's priority, whether packets are "
             "ECN-capable where something marks them, which "
             "xoff and xon thresholds result from the buffer sizes, whether the counters that "
             "expectations read exist, and whether a traffic tool that flows name is on the hosts."},
    {.name = "set",
     .kind = FIELD_LIST,
     .item = FIELD_STRING,
     .offset = offsetof(struct doctor_options, sets),
     .argument = "KEY=VALUE",
     .help = "With --for: change a value of the scenario first; lab.KEY changes the lab. May be given "
             "several times."},
    {.name = "probe",
     .kind = FIELD_BOOL,
     .offset = offsetof(struct doctor_options, probe),
     .help = "Send for two seconds, with the settings as they are: at most 100 Mb/s for each direction, "
             "priority and "
             "traffic class of the scenario's flows (of its first cell), without --for a flow each way "
             "between hosts "
             "that are linked. Check which priority the bytes had at both ends. Between three hosts or more, "
             "two of them "
             "then send to a third one for two seconds, as fast as they can: were they held by pauses or "
             "marks, or was "
             "something lost?"},
    {.name = "out",
     .letter = 'o',
     .kind = FIELD_STRING,
     .offset = offsetof(struct doctor_options, out),
     .argument = "FOLDER",
     .help = "With --probe: keep its results in this folder (otherwise they are removed)."},
    {.name = "json",
     .kind = FIELD_BOOL,
     .offset = offsetof(struct doctor_options, json),
     .help = "Print one JSON document."},
    {0},
};
static const struct table options = {
    .name = "doctor", .size = sizeof(struct doctor_options), .fields = fields};

/* Entries that are not decided and are not host-facts'. */
static size_t undecided(const json_t *entries)
{
    size_t i, count = 0;
    json_t *entry;
    json_array_foreach(entries, i, entry)
    {
        const char *verdict = json_string_value(json_object_get(entry, "verdict"));
        count += strcmp(verdict, "unknown") == 0 && !json_object_get(entry, "program");
    }
    return count;
}

#define BELOW 33 /* columns before an entry's reason */

static void print_entry(const json_t *entry)
{
    const char *verdict = json_string_value(json_object_get(entry, "verdict"));
    print_out("%-8s %-10s %-12s %s\n", verdict, json_string_value(json_object_get(entry, "host")),
              json_string_value(json_object_get(entry, "check")),
              json_string_value(json_object_get(entry, "reason")));
    verdict_print_below(entry, BELOW, strcmp(verdict, "warning") == 0 || strcmp(verdict, "failure") == 0);
}

/* host-facts' checks of a guest are never all decided: a guest does not see its machine. */
static int print_entries(const json_t *entries, bool as_json)
{
    struct verdict_counts counts = verdicts_count(entries);
    size_t i;
    json_t *entry;
    if (as_json) {
        json_print(stdout, entries, 17);
    } else {
        json_array_foreach(entries, i, entry) print_entry(entry);
        verdicts_print_counts(&counts);
    }
    return counts.failures ? EXIT_LAB : undecided(entries) ? EXIT_SKIPPED : EXIT_DONE;
}

/* What hosts and switches say first, then what follows for each cell. */
static int examine(const struct doctor_subject *x, struct error *e)
{
    if (lab_kind(x->lab)->simulated) {
        doctor_add(x->entries, x->lab->name, "lab", "ok", NULL, "simulated: it has no hosts to check");
        doctor_add_evidence(x->entries, "driver in %s", x->lab_path);
    } else if (doctor_walk_hosts(x, e) != 0) {
        return -1;
    }
    const struct cell *cell;
    struct doctor_subject of_switches = *x;
    of_switches.entries = json_array();
    struct doctor_switches *switches = doctor_switches_read(&of_switches);
    for (size_t i = 0; (cell = doctor_cell_at(x->plan, i)); i++) {
        struct doctor_subject of_cell = *x;
        of_cell.lab = &cell->lab;
        of_cell.cell = cell;
        of_cell.entries = json_array();
        doctor_walk(DOCTOR_CELL, DOCTOR_EXAMINES, &of_cell);
        doctor_add_new(x->entries, of_cell.entries);
        plan_release(x->plan, cell);
    }
    doctor_walk_switches(&of_switches, switches);
    doctor_switches_close(switches);
    json_array_extend(x->entries, of_switches.entries);
    json_decref(of_switches.entries);
    return 0;
}

static int examine_lab(const struct lab *lab, const char *path, const struct plan *plan,
                       const struct doctor_options *said)
{
    struct error e;
    struct doctor_seen seen = doctor_seen_open();
    const struct doctor_subject x = {
        .lab = lab, .lab_path = path, .plan = plan, .seen = &seen, .entries = json_array()};
    int result = examine(&x, &e);
    if (result == 0 && said->probe)
        result = doctor_walk_probes(&x, said->out, said->json, &e);
    int status = result < 0   ? program_fail(EXIT_LAB, &e)
                 : result > 0 ? EXIT_INTERRUPTED
                              : print_entries(x.entries, said->json);
    doctor_seen_close(&seen);
    json_decref(x.entries);
    return status;
}

static int doctor_for_scenario(const struct doctor_options *said, struct error *e)
{
    struct plan plan;
    struct plan_request request = {.scenario = said->scenario,
                                   .lab = said->lab,
                                   .sets = said->sets.items,
                                   .set_count = said->sets.count,
                                   .duration_ns = FIELD_UNSET};
    if (plan_load(&request, &plan, e) != 0)
        return -1;
    int status = decidable_as_written(&plan, e) != 0 || decidable_planned(&plan, e) != 0 ? -1 : 0;
    if (status == 0)
        status = examine_lab(&plan.first.lab, plan.lab_path, &plan, said);
    plan_free(&plan);
    return status;
}

static int doctor_alone(const struct doctor_options *said, struct error *e)
{
    struct lab lab;
    char *path = lab_hosts_load(said->lab, &lab, e);
    if (!path)
        return -1;
    int status = examine_lab(&lab, path, NULL, said);
    lab_free(&lab);
    free(path);
    return status;
}

static int run_doctor(const struct call *call)
{
    const struct doctor_options *said = call->options;
    struct error e;
    int status =
        said->out && !said->probe ? error_set(&e, "--out keeps the results of a probe: give --probe too")
        : said->sets.count && !said->scenario ? error_set(&e, "--set changes a scenario: give --for too")
        : said->scenario                      ? doctor_for_scenario(said, &e)
                                              : doctor_alone(said, &e);
    return status < 0 ? program_fail(EXIT_USAGE, &e) : status;
}

const struct command command_doctor = {
    .name = "doctor",
    .about = "Check a lab's hosts, optionally for a scenario and with small traffic; changes nothing.",
    .options = &options,
    .run = run_doctor,
};
