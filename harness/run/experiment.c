#include "harness/run/experiment.h"
#include "harness/doctor/check.h"
#include "harness/doctor/ect.h"
#include "harness/plan/traffic_class.h"
#include "harness/run/precheck.h"
#include "harness/run/results.h"
#include "harness/judge/capture.h"
#include "harness/judge/trouble.h"
#include "lib/clock.h"
#include "lib/document/json_text.h"
#include "lib/files.h"
#include "lib/folder/record_file.h"
#include "lib/folder/result_files.h"
#include "lib/document/json_file.h"
#include "lib/log.h"
#include "lib/output/print.h"
#include "lib/text.h"
#include "lib/units.h"
#include "lib/words.h"
#include "lib/xalloc.h"
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define PROGRESS_STEP_NS (200 * NS_PER_MS)

struct phase {
    const char *name;
    int64_t start_ns, end_ns;
};

/* The state of a run in progress. */
struct run {
    const struct experiment *x;
    const struct lab_driver *driver;
    struct lab_run context;
    struct record_file log; /* run.log, which context.log prints to */
    void *lab;
    struct host_description *hosts; /* one per role */
    struct role_settings *settings; /* one per role */
    struct phase phases[3];
    size_t phases_reached;
    char *started;
    json_t *warnings;
    size_t warning_count;
    json_t *found; /* what checks warn of (doctor_warnings_of_run) */
    bool restored; /* it was tried */
    bool kept;     /* settings stay for the next run */
    enum ending ending;
    struct error why; /* the first failure */
    json_t *broken;   /* the entry of the expectation that ended it early; NULL: none did */
    size_t broken_at; /* its number */
};

static size_t role_count(const struct run *run)
{
    return run->x->cell->scenario.roles.count;
}

static const char *role_name(const struct run *run, size_t role)
{
    return scenario_role(&run->x->cell->scenario, role);
}

static void run_log(struct run *run, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void run_log(struct run *run, const char *format, ...)
{
    char *now = results_time();
    va_list arguments;
    if (run->context.log) {
        print_to(run->context.log, "%s ", now ? now : "");
        va_start(arguments, format);
        print_list(run->context.log, format, arguments);
        va_end(arguments);
        print_to(run->context.log, "\n");
        fflush(run->context.log);
    }
    free(now);
}

/* Remember the first failure; later ones are consequences and go to the log alone. */
static int run_fail(struct run *run, enum ending ending, const struct error *e)
{
    run_log(run, "%s", e->text);
    if (run->ending == ENDING_WHOLE) {
        run->ending = ending;
        run->why = *e;
    }
    return -1;
}

static int run_is_interrupted(struct run *run)
{
    struct error e;
    if (interrupt_count(run->x->interrupt) == 0)
        return 0;
    error_set(&e, "interrupted");
    return run_fail(run, ENDING_INTERRUPTED, &e);
}

/* ---- before anything is changed */

static int run_describe_hosts(struct run *run, struct error *e)
{
    if (run->driver->describe(run->lab, run->hosts, e) != 0)
        return -1;
    for (size_t role = 0; role < role_count(run); role++) {
        const struct host_description *host = &run->hosts[role];
        recorder_clock(run->context.recorder, role, host->clock_offset_ns);
        run_log(run, "%s: host %s, address %s, clock offset %+lld ns, error at most %lld ns",
                role_name(run, role), host->name, host->address ? host->address : "unknown",
                (long long)host->clock_offset_ns, (long long)host->clock_error_ns);
    }
    return 0;
}

static void run_note_warnings(struct run *run)
{
    const struct doctor_seen seen = {.in_force = json_object()};
    for (size_t role = 0; role < role_count(run); role++)
        if (run->hosts[role].settings)
            json_object_set(seen.in_force, role_name(run, role), run->hosts[role].settings);
    run->found = doctor_warnings_of_run(run->x->cell, &seen);
    json_decref(seen.in_force);
}

static int run_open_log(struct run *run, struct error *e)
{
    int result = record_file_open(&run->log, run->x->folder, "run.log", e);
    run->context.log = run->log.stream;
    return result;
}

static int run_open_lab(struct run *run, struct error *e)
{
    struct lab_opened *opened = run->x->opened;
    if (!opened || !opened->state)
        return run->driver->open(&run->context, &run->lab, e);
    opened->run = run->context; /* from here on the driver knows the whole run */
    run->lab = opened->state;
    opened->state = NULL;
    return 0;
}

static int run_prepare(struct run *run, struct error *e)
{
    const struct experiment *x = run->x;
    if (run_open_log(run, e) != 0)
        return -1;
    run_log(run, "scenario %s, lab %s (%s), seed %llu", x->plan->scenario_path, x->plan->lab_path,
            run->driver->name, (unsigned long long)x->seed);
    if (x->threads > 1)
        run_log(run, "on %u threads", x->threads);
    run->context.recorder = recorder_open(x->folder, &x->cell->scenario, run->driver->simulated, e);
    if (!run->context.recorder)
        return -1;
    precheck_keep_columns(x->cell, run->context.recorder);
    progress_say(x->progress, "starting the lab");
    if (run_open_lab(run, e) != 0 || run->driver->bring_up(run->lab, e) != 0)
        return -1;
    progress_say(x->progress, "collecting host facts");
    if (run_describe_hosts(run, e) != 0)
        return -1;
    run_note_warnings(run);
    return 0;
}

/* ---- settings */

static json_t *settings_json(const struct run *run)
{
    json_t *json = json_object();
    for (size_t role = 0; role < role_count(run); role++) {
        const struct role_settings *r = &run->settings[role];
        json_t *restored = run->restored && r->before ? json_boolean(r->after) : NULL;
        json_t *kept = run->kept ? json_true() : NULL;
        json_t *mine =
            json_make("{s:O*,s:O,s:O*,s:o*,s:O*,s:o*}", "before", r->before, "wanted", r->wanted, "read_back",
                      r->read_back, "restored", restored, "after", r->after, "kept", kept);
        json_object_set_new(json, role_name(run, role), mine);
    }
    return json;
}

static bool is_soon(const struct run *run)
{
    return run->x->soon && run->driver->simulated;
}

static int write_settings(const struct run *run, struct error *e)
{
    char *path = files_join(run->x->folder, "settings.json");
    json_t *json = settings_json(run);
    int result = !path || !json ? error_set(e, "out of memory")
                                : (is_soon(run) ? json_file_save_soon : json_file_save)(path, json, e);
    json_decref(json);
    free(path);
    return result;
}

/* Write what restoring takes to disk; of a simulated lab nothing is restored, and settings.json is written
 * once, at the end: it takes longer than a simulation of 1 ms. */
static int record_settings(const struct run *run, struct error *e)
{
    return run->driver->simulated ? 0 : write_settings(run, e);
}

/* The old settings are on disk before the first change. */
static int run_save_settings(struct run *run, struct error *e)
{
    for (size_t role = 0; role < role_count(run); role++)
        run->settings[role].wanted =
            scenario_role_settings(run->x->cell->scenario_json, role_name(run, role));
    return run->driver->save_settings(run->lab, run->settings, e) != 0 ? -1 : record_settings(run, e);
}

static int run_apply_settings(struct run *run, struct error *e)
{
    return run->driver->apply_settings(run->lab, run->settings, e) != 0 ? -1 : record_settings(run, e);
}

static void run_restore_settings(struct run *run)
{
    struct error e;
    progress_say(run->x->progress, "restoring settings");
    run->driver->restore_settings(run->lab, run->settings);
    run->restored = true;
    for (size_t role = 0; role < role_count(run); role++) {
        const struct role_settings *r = &run->settings[role];
        if (!r->before || r->after)
            continue;
        run_fail(run, ENDING_LAB_FAILED, &r->why_not);
        char *path = shell_quoted(run->x->plan->lab_path);
        json_array_append_new(
            run->warnings, json_textf("settings of %s were not restored: %s; try `harness restore --lab %s`",
                                      role_name(run, role), r->why_not.text, path));
        free(path);
    }
    if (write_settings(run, &e) != 0)
        run_fail(run, ENDING_LAB_FAILED, &e);
}

/* Leave them to the next run, or restore them. */
static void run_end_settings(struct run *run)
{
    struct error e;
    const struct experiment *x = run->x;
    if (!x->keep || run->ending != ENDING_WHOLE || interrupt_count(x->interrupt) > 0 ||
        run->driver->keep_settings(run->lab, run->settings, &e) != 0) {
        run_restore_settings(run);
        return;
    }
    run_log(run, "settings are kept for the next run");
    run->kept = true;
    if (write_settings(run, &e) != 0)
        run_fail(run, ENDING_LAB_FAILED, &e);
}

static void run_free_settings(struct run *run)
{
    for (size_t role = 0; run->settings && role < role_count(run); role++) {
        json_t *all[] = {run->settings[role].wanted, run->settings[role].before,
                         run->settings[role].read_back, run->settings[role].after};
        for (size_t i = 0; i < sizeof all / sizeof *all; i++)
            json_decref(all[i]);
    }
    free(run->settings);
}

/* ---- the phases in time */

static void run_lay_out_phases(struct run *run, int64_t start_ns)
{
    const struct scenario_phases *p = &run->x->cell->scenario.phases;
    int64_t measure = start_ns + p->warmup_ns, cooldown = measure + p->measure_ns;
    run->phases[0] = (struct phase){"warmup", start_ns, measure};
    run->phases[1] = (struct phase){"measure", measure, cooldown};
    run->phases[2] = (struct phase){"cooldown", cooldown, cooldown + p->cooldown_ns};
    recorder_window(run->context.recorder, measure, cooldown);
}

/* Hosts' counters up to now, as in a result. */
static json_t *result_so_far(const struct run *run)
{
    json_t *hosts = json_object();
    for (size_t role = 0; role < role_count(run); role++) {
        json_t *host = json_object();
        recorder_host_summary(run->context.recorder, role, host);
        json_object_set_new(hosts, role_name(run, role), host);
    }
    return json_make("{s:o}", "hosts", hosts);
}

/* Is an expectation broken for good that ends the run? */
static bool run_is_lost(struct run *run, int64_t measured_ns)
{
    const struct experiment *x = run->x;
    const struct scenario_expect *expect = x->cell->scenario.expect.items;
    json_t *so_far = result_so_far(run);
    for (size_t i = 0; !run->broken && i < x->cell->scenario.expect.count; i++)
        if (x->stops(x->stops_for, expect[i].name) && (run->broken = verdict_broken(x->cell, i, so_far))) {
            struct error e;
            char after[32];
            run->broken_at = i;
            units_write(UNIT_TIME_NS, measured_ns, UNITS_DECIMAL, after, sizeof after);
            error_set(&e, "stopped early: \"%.100s\" was broken in the first %s of the measure phase: %.200s",
                      expect[i].name, after, json_string_value(json_object_get(run->broken, "reason")));
            run_fail(run, ENDING_EARLY, &e);
        }
    json_decref(so_far);
    return run->broken;
}

#define LOOKS 10 /* at what expectations read, in the measure phase */

static int run_walk_phase(struct run *run, const struct phase *phase)
{
    struct error e;
    int64_t look_ns = (phase->end_ns - phase->start_ns) / LOOKS, look_at_ns = phase->start_ns + look_ns;
    /* a simulated second may take much more or less real time: small steps keep the display up to date */
    int64_t step_ns = run->driver->simulated ? (phase->end_ns - phase->start_ns) / 200 + 1 : PROGRESS_STEP_NS;
    for (int64_t at_ns = phase->start_ns; at_ns < phase->end_ns;) {
        at_ns = at_ns + step_ns < phase->end_ns ? at_ns + step_ns : phase->end_ns;
        switch (run->driver->advance(run->lab, at_ns, &e)) {
        case ADVANCE_DONE:
            break;
        case ADVANCE_INTERRUPTED:
            error_set(&e, "interrupted while in phase %s", phase->name);
            return run_fail(run, ENDING_INTERRUPTED, &e);
        case ADVANCE_FAILED:
            error_prefix(&e, "phase %s", phase->name);
            return run_fail(run, ENDING_LAB_FAILED, &e);
        }
        if (run->x->stops && phase == &run->phases[1] && at_ns >= look_at_ns && at_ns < phase->end_ns) {
            look_at_ns += look_ns;
            if (run_is_lost(run, at_ns - phase->start_ns))
                return -1;
        }
        progress_show(run->x->progress, phase->name, at_ns, phase->start_ns, phase->end_ns,
                      run->context.recorder);
    }
    if (recorder_flush(run->context.recorder, &e) != 0)
        return run_fail(run, ENDING_LAB_FAILED, &e);
    return 0;
}

static void run_measure(struct run *run)
{
    struct error e;
    int64_t start_ns;
    progress_say(run->x->progress, "starting samplers and traffic");
    if (run->driver->start(run->lab, &start_ns, &e) != 0) {
        run_fail(run, interrupt_count(run->x->interrupt) ? ENDING_INTERRUPTED : ENDING_LAB_FAILED, &e);
    } else {
        run_lay_out_phases(run, start_ns);
        for (size_t i = 0; i < 3; i++) {
            run_log(run, "phase %s", run->phases[i].name);
            run->phases_reached = i + 1;
            if (run_walk_phase(run, &run->phases[i]) != 0) {
                run->phases[i].end_ns = run->driver->now_ns(run->lab);
                break;
            }
        }
    }
    progress_say(run->x->progress, "collecting results");
    if (run->driver->finish(run->lab, &e) != 0)
        run_fail(run, ENDING_LAB_FAILED, &e);
    if (recorder_flush(run->context.recorder, &e) != 0)
        run_fail(run, ENDING_LAB_FAILED, &e);
}

/* ---- the result */

static json_t *phases_json(const struct run *run)
{
    json_t *list = json_array();
    for (size_t i = 0; i < run->phases_reached; i++)
        json_array_append_new(list, json_make("{s:s,s:I,s:I}", "name", run->phases[i].name, "start_ns",
                                              (json_int_t)run->phases[i].start_ns, "end_ns",
                                              (json_int_t)run->phases[i].end_ns));
    return list;
}

/* The entry of a role that is not listed. */
static json_t *unlisted_json(const struct run *run, size_t role)
{
    const struct host_description *d = &run->hosts[role];
    json_t *host = json_make("{s:b,s:s?,s:s,s:O?}", "listed", 0, "name", d->name, "origin",
                             origin_names[d->origin], "capabilities", d->capabilities);
    recorder_host_summary(run->context.recorder, role, host);
    return host;
}

static json_t *host_json(const struct run *run, size_t role)
{
    const struct host_description *d = &run->hosts[role];
    if (!recorder_lists(run->context.recorder, role))
        return unlisted_json(run, role);
    const json_t *scaled = d->origin == ORIGIN_MEASURED ? NULL : origin_scaled(d->facts);
    json_t *host = json_make("{s:s?,s:s*,s:s,s:O*,s:O?,s:O?,s:{s:I,s:I}}", "name", d->name, "address",
                             d->address, "origin", origin_names[d->origin], "scaled", scaled, "capabilities",
                             d->capabilities, "facts", d->facts, "clock", "offset_ns",
                             (json_int_t)d->clock_offset_ns, "error_ns", (json_int_t)d->clock_error_ns);
    recorder_host_summary(run->context.recorder, role, host);
    return host;
}

/* The machine that a role's host is one of several nodes of; NULL: the host is all of it. */
static const char *machine_of(const struct run *run, size_t role)
{
    const struct lab *lab = &run->x->cell->lab;
    int host = lab_host_of(lab, role_name(run, role));
    size_t i = (size_t)host;
    bool several = host >= 0 && (lab_nic_name(lab, i) || lab_machine_first(lab, i) != i ||
                                 (i + 1 < lab->hosts.count && lab_same_machine(lab, i, i + 1)));
    return several ? lab_machine_name(lab, i) : NULL;
}

static json_t *hosts_json(const struct run *run)
{
    json_t *hosts = json_object();
    for (size_t role = 0; role < role_count(run); role++) {
        json_t *host = host_json(run, role);
        const char *machine = machine_of(run, role);
        if (machine)
            json_object_set_new(host, "machine", json_text(machine));
        json_object_set_new(hosts, role_name(run, role), host);
    }
    return hosts;
}

/* Sums over the roles of each machine that has several. */
static void add_machines(const struct run *run, json_t *result)
{
    json_t *machines = json_object(), *roles_of = json_object(), *list, *role;
    const char *name;
    size_t *roles = xcalloc(role_count(run) + 1, sizeof *roles), i;
    for (size_t k = 0; k < role_count(run); k++) {
        const char *machine = machine_of(run, k);
        if (machine && !json_object_get(roles_of, machine))
            json_object_set_new(roles_of, machine, json_array());
        if (machine)
            json_array_append_new(json_object_get(roles_of, machine), json_integer((json_int_t)k));
    }
    json_object_foreach(roles_of, name, list)
    {
        json_array_foreach(list, i, role) roles[i] = (size_t)json_integer_value(role);
        json_t *machine = json_array_size(list) > 1
                              ? recorder_machine(run->context.recorder, roles, json_array_size(list))
                              : NULL;
        if (machine)
            json_object_set_new(machines, name, machine);
    }
    if (json_object_size(machines))
        json_object_set(result, "machines", machines);
    json_decref(machines);
    json_decref(roles_of);
    free(roles);
}

/* What was said before the run comes first, with the packets that were counted since. */
/* One sentence may be found at several pairs of hosts, and names none of them. */
static void add_once(json_t *sentences, const char *words)
{
    size_t i;
    json_t *sentence;
    json_array_foreach(sentences, i, sentence)
    {
        if (strcmp(json_string_value(sentence), words) == 0)
            return;
    }
    json_array_append_new(sentences, json_text(words));
}

static json_t *warnings_json(const struct run *run, const json_t *hosts)
{
    json_t *warnings = json_array(), *entry;
    size_t i;
    json_array_foreach(run->found, i, entry)
    {
        const json_t *finding = json_object_get(entry, "finding");
        struct text words = {0}, counted = {0};
        doctor_say(entry, &words);
        if (finding)
            ect_describe_counted(finding, hosts, &counted);
        if (counted.length)
            text_add(&words, "; %s", text_string(&counted));
        add_once(warnings, text_string(&words));
        text_free(&words);
        text_free(&counted);
    }
    json_array_extend(warnings, run->warnings);
    recorder_warnings(run->context.recorder, warnings);
    return warnings;
}

static json_t *flows_json(const struct run *run)
{
    const struct scenario *scenario = &run->x->cell->scenario;
    const struct scenario_flow *flows = scenario->flows.items;
    json_t *json = recorder_flow_summary(run->context.recorder);
    for (size_t i = 0; i < scenario->flows.count; i++)
        json_object_set_new(json_object_get(json, flows[i].name), "traffic_class",
                            json_integer(flow_traffic_class(scenario, &flows[i])));
    return json;
}

/* The origin of all hosts together; hosts that were not described have said nothing. */
static enum origin origin_of_run(const struct run *run)
{
    enum origin origin = run->driver->simulated ? ORIGIN_SIMULATED : ORIGIN_MEASURED;
    bool any = false;
    for (size_t role = 0; role < role_count(run); role++) {
        const struct host_description *d = &run->hosts[role];
        if (!d->name)
            continue;
        origin = any ? origin_of_both(origin, d->origin) : d->origin;
        any = true;
    }
    return origin;
}

/* How the slowest line among virtual NICs is scaled; NULL: there is none. */
static const json_t *scaled_of_run(const struct run *run)
{
    const json_t *most = NULL;
    for (size_t role = 0; role < role_count(run); role++) {
        const struct host_description *d = &run->hosts[role];
        const json_t *one = d->origin == ORIGIN_MEASURED ? NULL : origin_scaled(d->facts);
        if (one && (!most || json_number_value(json_object_get(one, "scale")) >
                                 json_number_value(json_object_get(most, "scale"))))
            most = one;
    }
    return most;
}

static void add_totals(const struct run *run, json_t *result)
{
    bool all = true;
    for (size_t role = 0; all && role < role_count(run); role++)
        all = recorder_lists(run->context.recorder, role);
    if (!all)
        json_object_set_new(result, "totals", recorder_totals(run->context.recorder));
}

/* Where relative paths begin: the lab of real hosts has some. */
static void add_working_folder(const struct run *run, json_t *result)
{
    const char *of = run->x->plan->folder;
    char *folder = of ? xstrdup(of) : get_current_dir_name();
    if (!run->driver->simulated && folder)
        json_object_set_new(result, "working_folder", json_text(folder));
    free(folder);
}

static json_t *result_json(const struct run *run)
{
    const struct experiment *x = run->x;
    char *finished = results_time();
    const json_t *sources = json_object_get(x->cell->lab_json, "sources");
    json_t *hosts = hosts_json(run), *warnings = warnings_json(run, hosts);
    json_t *result = json_make(
        "{s:i,s:s,s:s,s:s,s:b,s:s,s:O*,s:b,s:s?,s:s?,s:I,s:I,s:O,s:O,s:s,s:s,s:O,s:o,s:o,s:o,s:o,s:o}",
        "schema", 1, "program", "harness", "version", HARNESS_VERSION, "build", results_build(), "simulated",
        run->driver->simulated, "origin", origin_names[origin_of_run(run)], "scaled", scaled_of_run(run),
        "complete", run->ending == ENDING_WHOLE, "started", run->started, "finished", finished, "seed",
        (json_int_t)x->seed, "repeat", (json_int_t)x->repeat, "cell", x->cell->choice, "scenario",
        x->cell->scenario_json, "scenario_file", x->plan->scenario_path, "lab_file", x->plan->lab_path, "lab",
        x->cell->lab_json, "sources", sources ? json_deep_copy(sources) : json_object(), "phases",
        phases_json(run), "hosts", hosts, "flows", flows_json(run), "warnings", warnings);
    free(finished);
    add_working_folder(run, result);
    add_machines(run, result);
    add_totals(run, result);
    if (result && run->ending != ENDING_WHOLE)
        json_object_set_new(result, "reason", json_text(run->why.text));
    if (result && run->driver->add_to_result)
        run->driver->add_to_result(run->lab, result);
    return result;
}

/* Keep what judges a capture, and judge it where the scenario says so. A capture that cannot be read makes
 * the run incomplete. */
static void run_verify_result(struct run *run, const char *why_not, json_t *result)
{
    struct error e;
    json_t *settings = settings_json(run);
    if (run->x->cell->scenario.verify.count)
        progress_say(run->x->progress, "judging the capture");
    if (judge_capture(run->x->cell, run->x->folder, settings,
                      run->ending == ENDING_WHOLE ? why_not : "the run is incomplete", result, &e) != 0) {
        run_fail(run, ENDING_LAB_FAILED, &e);
        json_object_set_new(result, "complete", json_false());
        json_object_set_new(result, "reason", json_text(e.text));
    }
    json_decref(settings);
}

/* What the result speaks of is on the disk before the result is, if that has to be, and is not written to any
 * more. */
static int close_files(struct run *run, json_t *result, struct error *e)
{
    recorder_end(run->context.recorder);
    run->context.log = NULL;
    if (record_file_close(&run->log, e) != 0)
        return -1;
    json_t *files = result_files_list(run->x->folder, !is_soon(run), e);
    return files && json_object_set_new(result, "files", files) == 0 ? 0 : -1;
}

static enum verdict run_write_result(struct run *run, const char *why_not)
{
    struct error e;
    if (record_file_flush(&run->log, &e) != 0)
        run_fail(run, ENDING_LAB_FAILED, &e);
    json_t *result = result_json(run);
    char *path = files_join(run->x->folder, "result.json");
    enum verdict verdict = VERDICT_INCOMPLETE;
    if (result && path) {
        if (!why_not && run->ending == ENDING_WHOLE) {
            json_t *losses = recorder_losses(run->context.recorder),
                   *evenness = recorder_evenness(run->context.recorder);
            trouble_find(run->x->cell, losses, evenness, result);
            json_decref(losses);
            json_decref(evenness);
        }
        const struct verdict_scope scope = {run->x->repeats, run->x->plan->cell_count};
        run_verify_result(run, why_not, result);
        verdict =
            verdict_judge(run->x->cell, &scope, result,
                          run->broken                           ? run->why.text
                          : !why_not && run->phases_reached < 2 ? "the run ended before its measure phase"
                                                                : why_not);
        if (run->broken) {
            verdict = VERDICT_FAILED;
            json_array_set(json_object_get(result, "expectations"), run->broken_at, run->broken);
            json_object_set_new(result, "verdict", json_text(verdict_names[verdict]));
            json_object_set_new(result, "stopped_early", json_true());
        }
        if (why_not) { /* nothing ran: leave figures out instead of writing zeros */
            json_object_set_new(result, "reason", json_text(why_not));
            json_object_set_new(result, "flows", json_object());
            json_object_del(result, "collectives");
            json_object_del(result, "jobs");
        }
    }
    run_log(run, "%s", verdict_names[verdict]);
    run->warning_count = json_array_size(json_object_get(result, "warnings"));
    if (!result || !path) {
        error_set(&e, "out of memory while writing the result");
        run_fail(run, ENDING_LAB_FAILED, &e);
    } else if (close_files(run, result, &e) != 0 ||
               json_file_save_readable(path, result, DOCUMENT_RESULT, is_soon(run), &e) != 0) {
        run_fail(run, ENDING_LAB_FAILED, &e);
        verdict = VERDICT_INCOMPLETE;
    } else if (run->x->result) {
        *run->x->result = json_incref(result);
    }
    json_decref(result);
    free(path);
    return verdict;
}

/* From here on settings of hosts are changed, and always restored; of a run as it is they are not touched. */
static enum verdict run_change_and_measure(struct run *run)
{
    struct error e;
    if (run->x->as_is) {
        run_measure(run);
        return run_write_result(run, NULL);
    }
    progress_say(run->x->progress, "applying settings");
    if (run_save_settings(run, &e) != 0 || run_apply_settings(run, &e) != 0)
        run_fail(run, interrupt_count(run->x->interrupt) ? ENDING_INTERRUPTED : ENDING_LAB_FAILED, &e);
    else if (!run_is_interrupted(run))
        run_measure(run);
    run_end_settings(run);
    return run_write_result(run, NULL);
}

static void run_close(struct run *run)
{
    if (run->lab)
        run->driver->close(run->lab);
    for (size_t role = 0; run->hosts && role < role_count(run); role++)
        host_description_free(&run->hosts[role]);
    free(run->hosts);
    recorder_close(run->context.recorder);
    struct error e;
    if (record_file_close(&run->log, &e) != 0)
        log_warning("%s", e.text);
    run_free_settings(run);
    json_decref(run->warnings);
    json_decref(run->found);
    json_decref(run->broken);
    free(run->started);
}

struct outcome experiment_run(const struct experiment *x, struct error *e)
{
    struct run run = {.x = x,
                      .driver = lab_driver_of(&x->cell->lab),
                      .context = {.cell = x->cell,
                                  .lab_path = x->plan->lab_path,
                                  .folder = x->folder,
                                  .interrupt = x->interrupt,
                                  .threads = x->threads,
                                  .seed = x->seed,
                                  .kept = x->kept,
                                  .as_is = x->as_is},
                      .hosts = calloc(x->cell->scenario.roles.count, sizeof(struct host_description)),
                      .settings = calloc(x->cell->scenario.roles.count, sizeof(struct role_settings)),
                      .warnings = json_array(),
                      .log = {.fd = -1},
                      .started = results_time()};
    struct outcome outcome = {.ending = ENDING_NOT_STARTED, .verdict = VERDICT_INCOMPLETE};
    struct text why_not = {0};
    if (!run.hosts || !run.settings) {
        error_set(e, "out of memory");
    } else if (run_prepare(&run, e) != 0) {
        run_log(&run, "%s", e->text);
    } else {
        if (precheck_lacking(run.x->cell, run.hosts, &why_not))
            outcome.verdict = run_write_result(&run, text_string(&why_not));
        else
            outcome.verdict = run_change_and_measure(&run);
        outcome.ending = run.ending;
        outcome.warnings = run.warning_count;
        *e = run.why;
    }
    if (run.hosts)
        outcome.origin = origin_of_run(&run);
    text_free(&why_not);
    run_close(&run);
    return outcome;
}

void experiment_restore_kept(const struct experiment *x)
{
    const struct lab_driver *driver = lab_driver_of(&x->cell->lab);
    const struct lab_run run = {.cell = x->cell,
                                .lab_path = x->plan->lab_path,
                                .interrupt = x->interrupt,
                                .seed = x->seed,
                                .kept = x->kept};
    void *lab;
    struct error e;
    if (json_object_size(x->kept) == 0)
        return;
    progress_say(x->progress, "restoring settings");
    if (driver->open(&run, &lab, &e) == 0)
        driver->close(lab);
    progress_clear(x->progress);
}
