/* What a run would meet on hosts, and do there: what such a lab can run, what an earlier run left, faults,
 * counters, settings. */
#include "harness/doctor/hosts/host.h"

#include "harness/labs/hosts/capture/capture.h"
#include "harness/labs/hosts/faults/faults.h"
#include "harness/labs/hosts/sonic/switches.h"
#include "harness/labs/hosts/start.h"
#include "harness/labs/hosts/settings/vlan.h"
#include "harness/labs/hosts/virtual.h"
#include "harness/traffic/collective_tool.h"
#include "harness/traffic/traffic_tool.h"
#include "lib/document/json_text.h"
#include "lib/text.h"
#include "lib/words.h"

/* ---- can hosts of this lab run the cell? By the documents alone: a run is refused before one is reached */

static int check_settings(const struct cell *cell, struct error *e)
{
    const char *role;
    int result = 0;
    for (size_t i = 0; result == 0 && (role = scenario_role(&cell->scenario, i)); i++) {
        if (lab_real_switch(&cell->lab, role))
            continue;
        json_t *wanted = scenario_role_settings(cell->scenario_json, role);
        result = remote_settings_check(lab_real_host(&cell->lab, role), wanted, e);
        json_decref(wanted);
    }
    return result;
}

static void examine_lab(const struct doctor_subject *x)
{
    struct error e;
    const struct cell *cell = x->cell;
    if (host_capture_check(&cell->scenario, &cell->lab, &e) == 0 &&
        host_faults_check(&cell->scenario, &cell->lab, &e) == 0 && check_settings(cell, &e) == 0 &&
        switch_roles_check(cell, &e) == 0 && traffic_check(&cell->scenario, &cell->lab, &e) == 0 &&
        collectives_check(&cell->scenario, &cell->lab, &e) == 0)
        return;
    doctor_add(x->entries, cell->lab.name, "lab", "failure", NULL, "%s", e.text);
    doctor_add_evidence(x->entries, "the scenario and %s", x->lab_path ? x->lab_path : "its lab");
}

const struct doctor_check doctor_lab = {.name = "lab",
                                        .scope = DOCTOR_CELL,
                                        .when = DOCTOR_REFUSES_RUN | DOCTOR_EXAMINES,
                                        .needs = DOCTOR_NEEDS_REAL,
                                        .examine = examine_lab};

/* ---- what an earlier run left */

static void report_left(const struct doctor_subject *x, const char *what, const char *from)
{
    struct text fix = {0};
    text_add(&fix, "harness restore --lab ");
    shell_quote(&fix, x->lab_path);
    doctor_add(x->entries, x->host->machine, "settings", "warning", text_string(&fix),
               "%s of an earlier run were not restored", what);
    doctor_add_evidence(x->entries, "%s", from);
    text_free(&fix);
}

static void examine_left(const struct doctor_subject *x)
{
    struct remote_host *h = &x->host->remote;
    if (remote_journal_open(h))
        report_left(x, "settings", "nic-config's journal on the host");
    if (virtual_gpu_left(h))
        report_left(x, "settings", "/run/harness-virtual-gpu on the host");
}

const struct doctor_check doctor_left = {.name = "settings",
                                         .scope = DOCTOR_HOST,
                                         .when = DOCTOR_EXAMINES,
                                         .needs = DOCTOR_NEEDS_NIC | DOCTOR_NEEDS_FIRST,
                                         .examine = examine_left};

/* ---- faults: has the host means for what each cell injects there? */

static void examine_faults(const struct doctor_subject *x)
{
    struct remote_host *h = &x->host->remote;
    struct error e;
    const struct cell *cell;
    if (host_faults_left(h)) {
        if (*x->found & DOCTOR_NEEDS_FIRST)
            report_left(x, "faults",
                        "/run/harness-virtual-faults and /run/harness-filter-faults on the host");
        return;
    }
    for (size_t i = 0; (cell = doctor_cell_at(x->plan, i)); i++) {
        json_t *found = json_array();
        int result = host_faults_check(&cell->scenario, &cell->lab, &e) != 0 /* said by doctor_lab */
                         ? 0
                         : host_faults_examine(h, cell, &e);
        if (result < 0)
            doctor_add(found, h->lab->name, "inject", "failure",
                       "do what it says, or leave the faults out: --set inject=[]", "%s", e.text);
        else if (result > 0)
            doctor_add(found, h->lab->name, "inject", "ok", NULL, "it can have the scenario's faults");
        if (result != 0)
            doctor_add_evidence(found, "a check of nft's rules, or of the virtual ConnectX, on the host");
        doctor_add_new(x->entries, found);
        plan_release(x->plan, cell);
    }
}

const struct doctor_check doctor_inject = {.name = "inject",
                                           .scope = DOCTOR_HOST,
                                           .when = DOCTOR_EXAMINES,
                                           .needs = DOCTOR_NEEDS_NIC,
                                           .examine = examine_faults};

/* ---- the counters that it has */

static void examine_sampler(const struct doctor_subject *x)
{
    struct error e;
    json_t *names = remote_sampler_columns(&x->host->remote, &x->plan->first, &e);
    if (names) {
        json_object_set_new(x->seen->columns, x->host->role, names);
        return;
    }
    doctor_add(x->entries, x->host->remote.lab->name, "sampler", "failure",
               "nic-sampler --netdev INTERFACE --count 1, as root on the host, says why", "%s", e.text);
    doctor_add_evidence(x->entries, "nic-sampler on the host");
}

const struct doctor_check doctor_sampler = {.name = "sampler",
                                            .scope = DOCTOR_HOST,
                                            .when = DOCTOR_EXAMINES,
                                            .needs =
                                                DOCTOR_NEEDS_NIC | DOCTOR_NEEDS_SCENARIO | DOCTOR_NEEDS_ROLE,
                                            .examine = examine_sampler};

/* ---- what the settings of each cell would do */

/* Cells that want the same there need one answer. */
static void examine_planned(const struct doctor_subject *x)
{
    struct remote_host *h = &x->host->remote;
    json_t *planned = json_array();
    const struct cell *cell;
    for (size_t i = 0; (cell = doctor_cell_at(x->plan, i)); i++) {
        json_t *wanted = scenario_role_settings(cell->scenario_json, x->host->role), *found = json_array();
        size_t before = json_array_size(planned);
        h->priorities = vlan_priorities(&cell->scenario, x->host->role);
        doctor_add_new(planned, json_make("[[O,i]]", wanted, h->priorities));
        if (json_array_size(planned) > before && !h->lab->forwarding)
            remote_settings_plan(h, wanted, found);
        doctor_add_new(x->entries, found);
        json_decref(wanted);
        plan_release(x->plan, cell);
    }
    json_decref(planned);
}

const struct doctor_check doctor_planned = {.name = "settings",
                                            .scope = DOCTOR_HOST,
                                            .when = DOCTOR_EXAMINES,
                                            .needs =
                                                DOCTOR_NEEDS_NIC | DOCTOR_NEEDS_SCENARIO | DOCTOR_NEEDS_ROLE,
                                            .examine = examine_planned};
