#include "lib/document/json_text.h"
#include "lib/output/print.h"
#include "lib/output/verdicts.h"
#include "lib/program/program.h"
#include "harness/doctor/gid.h"
#include "harness/doctor/doctor.h"
#include "harness/doctor/priority.h"
#include "harness/doctor/probe/probe.h"
#include "harness/labs/hosts/visit.h"
#include "harness/labs/hosts/settings/vlan.h"
#include "harness/labs/hosts/virtual/gpu.h"
#include "harness/labs/hosts/faults/faults.h"
#include "harness/plan/decidable.h"
#include "harness/labs/hosts/capture/ports.h"
#include "harness/labs/hosts/ports.h"
#include "harness/labs/hosts/programs/programs.h"
#include "harness/doctor/switches/switches.h"
#include "harness/labs/hosts/remote_sampler.h"
#include "harness/labs/hosts/collectives/collectives.h"
#include "harness/labs/hosts/tools.h"
#include "lib/clock.h"
#include "lib/log.h"
#include "lib/text.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CLOCK_BOUND_NS \
    (10 * NS_PER_MS) /* more than a sampling interval: curves of two hosts no longer line up */

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

/* The lab under examination, and what was found. */
struct examination {
    const struct lab *lab;
    const char *lab_path;
    const struct doctor_options *said;
    const struct plan *plan;                 /* NULL without a scenario */
    json_t *entries, *seen, *columns, *nics; /* the latter three by role, as preflight.h says */
};

/* ---- one host */

/* host-facts' own checks. Where the lab has no GPU, the checks of the GPU are left out: all would only say that there is none. */
static void take_checks(json_t *entries, const struct lab_host *host, const json_t *facts)
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
        preflight_say(entries, host->name, name ? name : "?", verdict ? verdict : "unknown",
                      json_string_value(json_object_get(check, "fix")), "%s%s%s", subject ? subject : "",
                      subject ? ": " : "", reason ? reason : "");
        const char *evidence = json_string_value(json_object_get(check, "evidence"));
        preflight_read(entries, "%s", evidence ? evidence : "host-facts");
        json_object_set_new(json_array_get(entries, json_array_size(entries) - 1), "program",
                            json_text("host-facts"));
    }
}

/* A check of ours that failed with an error. */
static void say_failed(json_t *entries, const struct lab_host *host, const char *check, const char *fix,
                       const char *from, const struct error *e)
{
    preflight_say(entries, host->name, check, "failure", fix, "%s", e->text);
    preflight_read(entries, "%s", from);
}

static void examine_clock(struct examination *x, struct remote_host *h)
{
    struct error e;
    struct clock_steady here = clock_steady_start();
    int64_t offset_ns, error_ns;
    if (remote_clock(h, &here, &offset_ns, &error_ns, &e) != 0)
        preflight_say(x->entries, h->lab->name, "clock", "failure",
                      "install bash on the host: it answers with its time", "%s", e.text);
    else
        preflight_say(x->entries, h->lab->name, "clock", error_ns > CLOCK_BOUND_NS ? "warning" : "ok", NULL,
                      "offset %+.3f ms, error at most %.3f ms", (double)offset_ns / 1e6,
                      (double)error_ns / 1e6);
    preflight_read(x->entries, "the host's time, asked for several times over ssh");
}

/* Cell i of the scenario; NULL after the last. Give it back with plan_release. */
static const struct cell *cell_at(const struct examination *x, size_t i)
{
    struct error e;
    if (!x->plan || i >= x->plan->cell_count)
        return NULL;
    const struct cell *cell = plan_cell(x->plan, i, &e);
    if (!cell)
        log_error("%s", e.text);
    return cell;
}

/* What the settings of each cell would do on the host. */
static void plan_settings(struct examination *x, struct remote_host *h, const char *role)
{
    json_t *planned = json_array();
    const struct cell *cell;
    for (size_t i = 0; (cell = cell_at(x, i)); i++) {
        json_t *wanted = scenario_role_settings(cell->scenario_json, role), *found = json_array();
        size_t before = json_array_size(planned);
        h->priorities = vlan_priorities(&cell->scenario, role);
        preflight_add_new(planned, json_make("[[O,i]]", wanted, h->priorities));
        if (json_array_size(planned) > before && !h->lab->forwarding)
            remote_settings_plan(h, wanted, found);
        preflight_add_new(x->entries, found);
        json_decref(wanted);
        plan_release(x->plan, cell);
    }
    json_decref(planned);
}

/* Has the host means for what each cell injects there? */
static void examine_faults(struct examination *x, struct remote_host *h)
{
    struct error e;
    const struct cell *cell;
    for (size_t i = 0; (cell = cell_at(x, i)); i++) {
        json_t *found = json_array();
        int result = host_faults_examine(h, cell, &e);
        if (result < 0)
            preflight_say(found, h->lab->name, "inject", "failure",
                          "do what it says, or leave the faults out: --set inject=[]", "%s", e.text);
        else if (result > 0)
            preflight_say(found, h->lab->name, "inject", "ok", NULL, "it can have the scenario's faults");
        if (result != 0)
            preflight_read(found, "a check of nft's rules, or of the virtual ConnectX, on the host");
        preflight_add_new(x->entries, found);
        plan_release(x->plan, cell);
    }
}

/* The role's interface as nic-config sees it. */
static void note_seen(struct examination *x, const struct remote_host *h, const char *role)
{
    static const char *const keys[] = {"places", "missing", "unread", "speed_Mbps"};
    json_t *settings = json_object_get(json_object_get(h->nic, "interfaces"), h->netdev);
    json_t *facts = json_object_get(json_object_get(h->nic, "facts"), h->netdev);
    json_t *seen = settings ? json_make("{s:O}", "settings", settings) : NULL;
    for (size_t i = 0; seen && i < sizeof keys / sizeof *keys; i++)
        json_object_set(seen, keys[i], json_object_get(facts, keys[i]));
    json_object_set_new(x->seen, role, seen);
}

static void examine_for_scenario(struct examination *x, struct remote_host *h, const char *role)
{
    struct error e;
    json_t *names = remote_sampler_columns(h, &x->plan->first, &e);
    note_seen(x, h, role);
    if (names)
        json_object_set_new(x->columns, role, names);
    else
        say_failed(x->entries, h->lab, "sampler",
                   "nic-sampler --netdev INTERFACE --count 1, as root on the host, says why",
                   "nic-sampler on the host", &e);
    plan_settings(x, h, role);
}

/* Check our programs on the host. Returns true if they can be used. */
static bool examine_programs(struct examination *x, struct remote_host *h)
{
    struct error e;
    struct text fix = {0};
    int result = remote_programs_check(h, &e);
    text_add(&fix, "harness install %s --lab %s", h->lab->name, x->lab_path);
    if (result == 0)
        preflight_say(x->entries, h->lab->name, "programs", "ok", NULL, "%s in %s", HARNESS_VERSION,
                      h->lab->programs);
    else
        preflight_say(x->entries, h->lab->name, "programs", result > 0 ? "warning" : "failure",
                      text_string(&fix), "%s", e.text);
    preflight_read(x->entries, "the programs' --version in %s on the host", h->lab->programs);
    text_free(&fix);
    return result >= 0;
}

static void say_left(struct examination *x, const char *host, const char *what, const char *from)
{
    struct text fix = {0};
    text_add(&fix, "harness restore --lab %s", x->lab_path);
    preflight_say(x->entries, host, "settings", "warning", text_string(&fix),
                  "%s of an earlier run were not restored", what);
    preflight_read(x->entries, "%s", from);
    text_free(&fix);
}

/* A bit for each memory (enum flow_memory) that flows of the role use in a cell. */
static unsigned int memories_of(const struct cell *cell, const char *role)
{
    const struct scenario_flow *flows = cell->scenario.flows.items;
    unsigned int bits = 0;
    for (size_t i = 0; i < cell->scenario.flows.count; i++)
        if (strcmp(flows[i].from, role) == 0 || strcmp(flows[i].to, role) == 0)
            bits |= 1U << flows[i].memory;
    return bits;
}

/* host-facts' checks depend on the route to GPU memory that the role's flows use; without a scenario on any. */
static void examine_facts(struct examination *x, struct remote_host *h, const char *role)
{
    unsigned int bits = role ? 0 : 1U << MEMORY_GPU;
    const struct cell *cell;
    for (size_t i = 0; role && (cell = cell_at(x, i)); i++) {
        bits |= memories_of(cell, role);
        plan_release(x->plan, cell);
    }
    if (bits >> MEMORY_GPU == 0)
        bits = 1U << MEMORY_HOST;
    for (int memory = bits >> MEMORY_GPU ? MEMORY_GPU : MEMORY_HOST; flow_memory_names[memory]; memory++) {
        struct error e;
        json_t *facts = bits >> memory & 1 ? remote_facts(h, memory, &e) : NULL, *found = json_array();
        if (facts) {
            take_checks(found, h->lab, facts);
            gid_examine(h->lab, facts, found);
            json_object_set(x->nics, role ? role : "", json_object_get(facts, "nics"));
        }
        if (!facts && bits >> memory & 1)
            say_failed(found, h->lab, "facts", "host-facts, as root on the host, says why",
                       "host-facts on the host", &e);
        preflight_add_new(x->entries, found);
        json_decref(facts);
    }
}

/* Without a carrier nothing that is sent arrives, though all settings can be read. */
static void examine_link(struct examination *x, const struct remote_host *h)
{
    const json_t *facts = json_object_get(json_object_get(h->nic, "facts"), h->netdev);
    const json_t *carrier = json_object_get(facts, "carrier");
    struct text fix = {0};
    if (!json_is_boolean(carrier))
        return;
    text_add(
        &fix,
        "ip link set %s up, if it is down; else look at the cable, its modules and the port at the other end",
        h->netdev);
    if (json_is_true(carrier))
        preflight_say(x->entries, h->lab->name, "link", "ok", NULL, "%s has a carrier", h->netdev);
    else
        preflight_say(x->entries, h->lab->name, "link", "failure", text_string(&fix),
                      "%s has no carrier: it neither sends nor receives", h->netdev);
    preflight_read(x->entries, "nic-config get on the host");
    text_free(&fix);
}

/* What host-facts and nic-config find. */
static void examine_nic(struct examination *x, struct remote_host *h, const char *role)
{
    struct error e;
    int found = remote_find_nic(h, &e); /* its tools are asked about this one */
    examine_facts(x, h, role);
    if (found != 0) {
        say_failed(x->entries, h->lab, "nic", "nic-config get, as root on the host, lists its interfaces",
                   "nic-config get, ip address and /sys/bus/pci on the host", &e);
    } else {
        bool good = h->rdma || lab_forwards(h->lab); /* RoCE passes through a host that forwards */
        preflight_say(
            x->entries, h->lab->name, "nic", good ? "ok" : "failure",
            good ? NULL
                 : "modprobe mlx5_ib (without such a NIC: rdma link add rxe0 type rxe netdev INTERFACE)",
            "network device %s, RDMA device %s%s", h->netdev, h->rdma ? h->rdma : "none",
            lab_forwards(h->lab) ? "; forwards packets" : "");
        preflight_read(x->entries, "nic-config get on the host");
        examine_link(x, h);
        if (role)
            json_object_set(x->nics, role, preflight_nic(json_object_get(x->nics, role), h->netdev));
        if (remote_journal_open(h))
            say_left(x, h->lab->name, "settings", "nic-config's journal on the host");
        if (virtual_gpu_left(h))
            say_left(x, h->lab->name, "settings", "/run/harness-virtual-gpu on the host");
        if (host_faults_left(h))
            say_left(x, h->lab->name, "faults",
                     "/run/harness-virtual-faults and /run/harness-filter-faults on the host");
        else
            examine_faults(x, h);
        if (x->plan && role)
            examine_for_scenario(x, h, role);
        else if (!x->plan)
            note_seen(x, h, h->lab->name);
    }
}

static void examine_tools(struct examination *x, struct remote_host *h)
{
    json_t *asked = json_array();
    const struct cell *cell;
    for (size_t i = 0; (cell = cell_at(x, i)); i++) {
        json_t *found = json_array();
        size_t before = json_array_size(asked);
        preflight_add_new(asked, json_make("[o]", tools_asked_for(&cell->scenario)));
        if (json_array_size(asked) > before) {
            tools_examine(h, x->lab, &cell->scenario, found);
            collectives_examine(h, x->lab, &cell->scenario, found);
        }
        preflight_add_new(x->entries, found);
        plan_release(x->plan, cell);
    }
    json_decref(asked);
}

/* ---- the lab */

static const char *role_of(const struct examination *x, const struct lab_host *host)
{
    const char *role = NULL;
    for (size_t i = 0; x->plan && (role = scenario_role(&x->plan->first.scenario, i)); i++)
        if (lab_real_host(x->lab, role) == host)
            break;
    return role;
}

static void examine_host(struct examination *x, struct virt *virt, const struct lab_host *host)
{
    struct remote_host h;
    struct error e;
    if (remote_host_open(&h, virt, x->lab, host, 60 * NS_PER_S, &e) != 0) {
        struct text fix = {0};
        text_add(&fix, host->ssh ? "ssh %s true" : "virt-provision status --lab %s",
                 host->ssh ? host->ssh : x->lab_path);
        say_failed(x->entries, host, "connection", text_string(&fix), "what ssh and libvirt answered", &e);
        text_free(&fix);
        return;
    }
    preflight_say(x->entries, host->name, "connection", "ok", NULL, "ssh answers");
    preflight_read(x->entries, "a command that ran there");
    examine_clock(x, &h);
    remote_ports_examine(&h, x->lab, x->plan ? &x->plan->first.scenario : NULL, x->entries);
    examine_tools(x, &h);
    if (examine_programs(x, &h))
        examine_nic(x, &h, role_of(x, host));
    remote_host_close(&h);
}

/* An examination of one host, which runs beside the others'. */
static struct examination part_of(const struct examination *x)
{
    struct examination part = *x;
    part.entries = json_array();
    part.seen = json_object();
    part.columns = json_object();
    part.nics = json_object();
    return part;
}

static void add_part(struct examination *x, struct examination *part)
{
    json_array_extend(x->entries, part->entries);
    json_object_update(x->seen, part->seen);
    json_object_update(x->columns, part->columns);
    json_object_update(x->nics, part->nics);
    json_decref(part->entries);
    json_decref(part->seen);
    json_decref(part->columns);
    json_decref(part->nics);
}

static int visit(void *context, size_t i, struct virt *virt, const struct lab_host *host, struct text *said,
                 struct error *e)
{
    struct examination *parts = context;
    (void)said;
    (void)e;
    examine_host(&parts[i], virt, host);
    return 0;
}

static int examine_hosts(struct examination *x, struct error *e)
{
    size_t count = x->lab->hosts.count, failures;
    struct examination *parts = calloc(count + 1, sizeof *parts);
    if (!parts)
        return error_set(e, "out of memory for %zu hosts", count);
    for (size_t i = 0; i < count; i++)
        parts[i] = part_of(x);
    int result = lab_hosts_visit(x->lab, "doctor", visit, parts, &failures, e);
    for (size_t i = 0; i < count; i++)
        add_part(x, &parts[i]);
    free(parts);
    return result;
}

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

/* The status that ends the program, or EXIT_DONE: entries were added. */
static int examine_traffic(struct examination *x)
{
    struct error e;
    json_t *in_force = preflight_in_force(x->seen);
    const struct probe probe = {.plan = x->plan,
                                .lab_path = x->lab_path,
                                .out = x->said->out,
                                .in_force = in_force,
                                .quiet = x->said->json};
    int result = probe_lab(&probe, x->entries, &e);
    json_decref(in_force);
    return result < 0 ? program_fail(EXIT_LAB, &e) : result > 0 ? EXIT_INTERRUPTED : EXIT_DONE;
}

static int examine(struct examination *x)
{
    struct error e;
    if (lab_kind(x->lab)->simulated) {
        preflight_say(x->entries, x->lab->name, "lab", "ok", NULL, "simulated: it has no hosts to check");
        preflight_read(x->entries, "driver in %s", x->lab_path);
    } else if (examine_hosts(x, &e) != 0) {
        log_error("%s", e.text);
        return EXIT_LAB;
    }
    const struct cell *cell;
    json_t *of_switches = json_array();
    sonic_examine_switches(x->lab, x->lab_path, x->plan, x->seen, x->columns, of_switches);
    for (size_t i = 0; (cell = cell_at(x, i)); i++) {
        json_t *found = json_array();
        json_t *in_force = preflight_in_force(x->seen);
        preflight_settings(cell, x->seen, found);
        priority_examine(cell, in_force, found);
        json_decref(in_force);
        if (!lab_kind(x->lab)->simulated) {
            preflight_counters(cell, x->columns, found);
            preflight_control(cell, x->nics, found);
        }
        preflight_add_new(x->entries, found);
        plan_release(x->plan, cell);
    }
    json_array_extend(x->entries, of_switches);
    json_decref(of_switches);
    int status = x->said->probe ? examine_traffic(x) : EXIT_DONE;
    return status ? status : print_entries(x->entries, x->said->json);
}

static int examine_lab(const struct lab *lab, const char *path, const struct plan *plan,
                       const struct doctor_options *said)
{
    struct examination x = {.lab = lab,
                            .said = said,
                            .lab_path = path,
                            .plan = plan,
                            .entries = json_array(),
                            .seen = json_object(),
                            .columns = json_object(),
                            .nics = json_object()};
    int status = examine(&x);
    json_decref(x.entries);
    json_decref(x.seen);
    json_decref(x.columns);
    json_decref(x.nics);
    return status;
}

/* What real hosts could never do to single frames is said before one is reached. */
static int check_frames(const struct plan *plan, struct error *e)
{
    for (size_t i = 0; !lab_kind(&plan->first.lab)->simulated && i < plan->cell_count; i++) {
        const struct cell *cell = plan_cell(plan, i, e);
        if (!cell)
            return -1;
        int result = packets_check(&cell->scenario, &cell->lab, e);
        if (result == 0)
            result = host_faults_check(&cell->scenario, &cell->lab, e);
        plan_release(plan, cell);
        if (result != 0)
            return error_prefix(e, "%s", plan->scenario_path);
    }
    return 0;
}

static int doctor_for_scenario(const struct doctor_options *said, struct error *e)
{
    struct plan plan;
    struct plan_request request = {.scenario = said->scenario,
                                   .lab = said->lab,
                                   .sets = said->sets.items,
                                   .set_count = said->sets.count,
                                   .duration_ns = FIELD_UNSET};
    if (decidable_as_written(&request, e) != 0 || plan_load(&request, &plan, e) != 0)
        return -1;
    int status = check_frames(&plan, e);
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
