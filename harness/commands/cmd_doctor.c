#include "lib/program/program.h"
#include "harness/preflight/preflight.h"
#include "harness/labs/hosts/visit.h"
#include "harness/labs/hosts/programs.h"
#include "harness/labs/hosts/remote_sampler.h"
#include "lib/clock.h"
#include "lib/formats/lines.h"
#include "lib/log.h"
#include "lib/text.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CLOCK_BOUND_NS \
    (10 * NS_PER_MS) /* more than a sampling interval: curves of two hosts no longer line up */

struct doctor_options {
    const char *lab, *scenario;
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
             "on PFC, trust, MTU and ECN, whether packets are ECN-capable where something marks them, which "
             "xoff and xon thresholds result from the buffer sizes, and whether the counters that "
             "expectations read exist."},
    {.name = "json",
     .kind = FIELD_BOOL,
     .offset = offsetof(struct doctor_options, json),
     .help = "Print one JSON document."},
    {0},
};
static const struct table options = {
    .name = "doctor", .size = sizeof(struct doctor_options), .fields = fields};

/* The lab under examination, and what was found. */
struct examination {
    const struct lab *lab;
    const char *lab_path;
    const struct cell *cells; /* NULL without a scenario */
    size_t cell_count;
    json_t *entries, *in_force, *columns; /* the latter two by role */
};

/* ---- one host */

/* host-facts' own checks. Where the lab has no GPU, the checks of the GPU are left out: all would only say that there is none. */
static void take_checks(struct examination *x, const struct lab_host *host, const json_t *facts)
{
    size_t i;
    json_t *check;
    json_array_foreach(json_object_get(facts, "checks"), i, check)
    {
        const char *name = json_string_value(json_object_get(check, "check"));
        const char *verdict = json_string_value(json_object_get(check, "verdict"));
        const char *subject = json_string_value(json_object_get(check, "subject"));
        const char *reason = json_string_value(json_object_get(check, "reason"));
        if (!host->gpu && subject && strcmp(subject, "gpu") == 0)
            continue;
        preflight_say(x->entries, host->name, name ? name : "?", verdict ? verdict : "unknown",
                      json_string_value(json_object_get(check, "fix")), "%s%s%s", subject ? subject : "",
                      subject ? ": " : "", reason ? reason : "");
    }
}

static void examine_clock(struct examination *x, struct remote_host *h)
{
    struct error e;
    int64_t offset_ns, error_ns;
    if (remote_clock(h, &offset_ns, &error_ns, &e) != 0)
        preflight_say(x->entries, h->lab->name, "clock", "failure", NULL, "%s", e.text);
    else
        preflight_say(x->entries, h->lab->name, "clock", error_ns > CLOCK_BOUND_NS ? "warning" : "ok", NULL,
                      "offset %+.3f ms, error at most %.3f ms", (double)offset_ns / 1e6,
                      (double)error_ns / 1e6);
}

/* Names of the columns that the sampler prints on this host. */
static json_t *sample_columns(struct remote_host *h, const struct cell *cell, struct error *e)
{
    struct words w = {0};
    struct text out = {0};
    json_t *names = NULL;
    remote_sampler_words(cell, h, &w);
    words_add(&w, "--count");
    words_add(&w, "1");
    if (ssh_must(h->ssh, (const char *const *)w.items, NULL, &out, REMOTE_COMMAND_NS, e) == 0) {
        json_t *header = json_loadb(text_string(&out), strcspn(text_string(&out), "\n"), 0, NULL), *column;
        size_t i;
        names = json_array();
        json_array_foreach(json_object_get(header, "columns"), i, column)
        {
            json_t *name = json_object_get(column, "name");
            if (json_is_string(name))
                json_array_append(names, name);
        }
        json_decref(header);
    }
    text_free(&out);
    words_free(&w);
    return names;
}

/* Add only entries that are not in the list yet: most cells of a sweep yield the same entries. */
static void add_new(json_t *entries, json_t *found)
{
    size_t i, k;
    json_t *entry, *there;
    json_array_foreach(found, i, entry)
    {
        bool known = false;
        json_array_foreach(entries, k, there)
        {
            known = known || json_equal(there, entry);
        }
        if (!known)
            json_array_append(entries, entry);
    }
    json_decref(found);
}

/* What the settings of each cell would do on the host. */
static void plan_settings(struct examination *x, struct remote_host *h, const char *role)
{
    json_t *planned = json_array();
    for (size_t i = 0; i < x->cell_count; i++) {
        json_t *wanted = scenario_role_settings(x->cells[i].scenario_json, role), *found = json_array();
        size_t before = json_array_size(planned);
        add_new(planned, json_pack("[O]", wanted));
        if (json_array_size(planned) > before)
            remote_settings_plan(h, wanted, found);
        add_new(x->entries, found);
        json_decref(wanted);
    }
    json_decref(planned);
}

static void examine_for_scenario(struct examination *x, struct remote_host *h, const char *role,
                                 const json_t *settings)
{
    struct error e;
    json_t *names = sample_columns(h, &x->cells[0], &e);
    json_t *mine = json_object_get(settings, h->netdev);
    if (mine)
        json_object_set(x->in_force, role, mine);
    if (names)
        json_object_set_new(x->columns, role, names);
    else
        preflight_say(x->entries, h->lab->name, "sampler", "failure", NULL, "%s", e.text);
    plan_settings(x, h, role);
}

/* Check our programs on the host. Returns true if they can be used. */
static bool examine_programs(struct examination *x, struct remote_host *h)
{
    struct error e;
    int result = remote_programs_check(h, &e);
    if (result == 0)
        preflight_say(x->entries, h->lab->name, "programs", "ok", NULL, "%s in %s", HARNESS_VERSION,
                      h->lab->programs);
    else
        preflight_say(x->entries, h->lab->name, "programs", result > 0 ? "warning" : "failure",
                      "harness install copies them to the host", "%s", e.text);
    return result >= 0;
}

/* A host whose ports are bridged needs no RDMA device: RoCE passes through. */
static bool forwards(const struct lab_host *host)
{
    return host->extra_nics.count > 0;
}

static void say_left(struct examination *x, const char *host)
{
    struct text fix = {0};
    text_add(&fix, "harness restore --lab %s", x->lab_path);
    preflight_say(x->entries, host, "settings", "warning", text_string(&fix),
                  "settings of an earlier run were not restored");
    text_free(&fix);
}

/* What host-facts and nic-config find. */
static void examine_nic(struct examination *x, struct remote_host *h, const char *role)
{
    struct error e;
    json_t *facts = remote_facts(h, &e);
    if (facts)
        take_checks(x, h->lab, facts);
    else
        preflight_say(x->entries, h->lab->name, "facts", "failure", NULL, "%s", e.text);
    if (remote_find_nic(h, &e) != 0) {
        preflight_say(x->entries, h->lab->name, "nic", "failure", NULL, "%s", e.text);
    } else {
        bool good = h->rdma || forwards(h->lab);
        preflight_say(x->entries, h->lab->name, "nic", good ? "ok" : "failure",
                      good ? NULL : "load the NIC's RDMA driver", "network device %s, RDMA device %s%s",
                      h->netdev, h->rdma ? h->rdma : "none", forwards(h->lab) ? "; forwards packets" : "");
        if (remote_journal_open(h))
            say_left(x, h->lab->name);
        json_t *settings = remote_settings_get(h, &e);
        if (x->cell_count && role)
            examine_for_scenario(x, h, role, settings);
        json_decref(settings);
    }
    json_decref(facts);
}

/* ---- the lab */

static const char *role_of(const struct examination *x, const struct lab_host *host)
{
    const char *role = NULL;
    for (size_t i = 0; x->cell_count && (role = scenario_role(&x->cells[0].scenario, i)); i++)
        if (lab_real_host(x->lab, role) == host)
            break;
    return role;
}

static void examine_host(void *context, struct virt *virt, const struct lab_host *host)
{
    struct examination *x = context;
    struct remote_host h;
    struct error e;
    if (remote_host_open(&h, virt, x->lab, host, 60 * NS_PER_S, &e) != 0) {
        preflight_say(x->entries, host->name, "connection", "failure", NULL, "%s", e.text);
        return;
    }
    preflight_say(x->entries, host->name, "connection", "ok", NULL, "ssh answers");
    examine_clock(x, &h);
    if (examine_programs(x, &h))
        examine_nic(x, &h, role_of(x, host));
    remote_host_close(&h);
}

static int print_entries(const json_t *entries)
{
    size_t i;
    json_t *entry;
    int status = EXIT_DONE;
    json_array_foreach(entries, i, entry)
    {
        const char *verdict = json_string_value(json_object_get(entry, "verdict"));
        const char *fix = json_string_value(json_object_get(entry, "fix"));
        printf("%-8s %-10s %-12s %s\n", verdict, json_string_value(json_object_get(entry, "host")),
               json_string_value(json_object_get(entry, "check")),
               json_string_value(json_object_get(entry, "reason")));
        if (fix)
            printf("%-8s %-10s %-12s -> %s\n", "", "", "", fix);
        if (strcmp(verdict, "failure") == 0)
            status = EXIT_LAB;
    }
    return status;
}

static int examine(struct examination *x, bool as_json)
{
    struct error e;
    if (lab_kind(x->lab)->simulated) {
        preflight_say(x->entries, x->lab->name, "lab", "ok", NULL, "simulated: it has no hosts to check");
    } else if (lab_hosts_visit(x->lab, "doctor", examine_host, x, &e) != 0) {
        log_error("%s", e.text);
        return EXIT_LAB;
    }
    for (size_t i = 0; i < x->cell_count; i++) {
        json_t *found = json_array();
        preflight_settings(&x->cells[i], x->in_force, found);
        if (!lab_kind(x->lab)->simulated)
            preflight_counters(&x->cells[i], x->columns, found);
        add_new(x->entries, found);
    }
    if (!as_json)
        return print_entries(x->entries);
    int status = EXIT_DONE;
    for (size_t i = 0; i < json_array_size(x->entries); i++)
        if (strcmp(json_string_value(json_object_get(json_array_get(x->entries, i), "verdict")), "failure") ==
            0)
            status = EXIT_LAB;
    json_dumpf(x->entries, stdout, JSON_INDENT(2));
    printf("\n");
    return status;
}

static int examine_lab(const struct lab *lab, const char *path, const struct plan *plan, bool as_json)
{
    struct examination x = {.lab = lab,
                            .lab_path = path,
                            .cells = plan ? plan->cells : NULL,
                            .cell_count = plan ? plan->cell_count : 0,
                            .entries = json_array(),
                            .in_force = json_object(),
                            .columns = json_object()};
    int status = examine(&x, as_json);
    json_decref(x.entries);
    json_decref(x.in_force);
    json_decref(x.columns);
    return status;
}

static int doctor_for_scenario(const struct doctor_options *said, struct error *e)
{
    struct plan plan;
    struct plan_request request = {.scenario = said->scenario, .lab = said->lab, .duration_ns = FIELD_UNSET};
    if (plan_load(&request, &plan, e) != 0)
        return -1;
    int status = examine_lab(&plan.cells[0].lab, plan.lab_path, &plan, said->json);
    plan_free(&plan);
    return status;
}

static int doctor_alone(const struct doctor_options *said, struct error *e)
{
    struct lab lab;
    char *path = lab_hosts_load(said->lab, &lab, e);
    if (!path)
        return -1;
    int status = examine_lab(&lab, path, NULL, said->json);
    lab_free(&lab);
    free(path);
    return status;
}

static int run_doctor(const struct call *call)
{
    const struct doctor_options *said = call->options;
    struct error e;
    int status = said->scenario ? doctor_for_scenario(said, &e) : doctor_alone(said, &e);
    return status < 0 ? program_fail(EXIT_USAGE, &e) : status;
}

const struct command command_doctor = {
    .name = "doctor",
    .about = "Check a lab's hosts, optionally for a scenario; changes nothing.",
    .options = &options,
    .run = run_doctor,
};
