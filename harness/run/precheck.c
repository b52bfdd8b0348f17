/* Before a run begins: can the lab run it, will it have what the expectations read, do the hosts have what it
 * needs? */
#include "harness/run/precheck.h"
#include "harness/doctor/check.h"
#include "harness/plan/decidable.h"
#include "harness/judge/verdict.h"
#include "lib/document/json_text.h"
#include "lib/formats/lab_kinds.h"
#include "lib/xalloc.h"
#include <stdlib.h>
#include <string.h>

/* What a result will say of the lab by which needs are judged: its name, and hosts with their
 * capabilities. */
static json_t *known_of_lab(const struct lab_opened *lab, struct error *e)
{
    const struct cell *cell = lab->run.cell;
    size_t count = cell->scenario.roles.count;
    struct host_description *hosts = xcalloc(count + 1, sizeof *hosts);
    json_t *known = json_make("{s:{s:s},s:{}}", "lab", "name", cell->lab.name, "hosts");
    if (lab->driver->describe(lab->state, hosts, e) != 0) {
        json_decref(known);
        known = NULL;
    }
    for (size_t i = 0; i < count; i++) {
        json_object_set_new(json_object_get(known, "hosts"), scenario_role(&cell->scenario, i),
                            json_make("{s:O}", "capabilities", hosts[i].capabilities));
        host_description_free(&hosts[i]);
    }
    free(hosts);
    return known;
}

/* Which judgements can the lab decide in its cell? What it lacks by its capabilities is skipped by name;
 * anything else that it can never have is a slip. */
static int note_what_lab_decides(struct decisions *decisions, const struct lab_opened *lab, struct error *e)
{
    struct judgement j;
    json_t *known = NULL;
    int result = 0;
    for (size_t i = 0; result == 0 && i < decisions->count; i++) {
        struct error why_not;
        if (!decisions_lack(decisions, lab->run.cell, i, &j))
            continue;
        if (j.needs->count && !known && !(known = known_of_lab(lab, e)))
            result = -1;
        else
            decisions_note(decisions, i,
                           (known && verdict_lacking(j.needs, known)) ||
                               lab->driver->check_expression(lab->state, j.expr, &why_not) == 0,
                           &why_not);
    }
    json_decref(known);
    return result;
}

/* Can the lab run the cell? A simulated lab is built for that. `decisions`: what it can decide. */
static int precheck_cell(const struct cell *cell, struct decisions *decisions, struct precheck *found,
                         struct error *e)
{
    const struct lab_driver *driver = lab_driver_of(&cell->lab);
    if (doctor_refuse_run(cell, e) != 0)
        return -1;
    if (driver->simulated) {
        struct lab_opened *lab = lab_opened_make(cell, found->seed, found->threads, e);
        uint64_t bytes = lab && driver->needs_bytes ? driver->needs_bytes(lab->state) : 0;
        int result = !lab ? -1 : driver->check_expression ? note_what_lab_decides(decisions, lab, e) : 0;
        found->bytes = bytes > found->bytes ? bytes : found->bytes;
        found->written += lab && driver->writes_bytes ? driver->writes_bytes(lab->state) : 0;
        if (found->keep && result == 0)
            found->lab = lab;
        else
            lab_opened_close(lab);
        if (result != 0)
            return -1;
    }
    if (found->warnings)
        doctor_warn_of_run(cell, found->warnings);
    return 0;
}

int precheck_alone(const struct cell *cell, uint64_t seed, struct error *e)
{
    struct decisions none = {0};
    struct precheck found = {.seed = seed, .threads = 1};
    return precheck_cell(cell, &none, &found, e);
}

int precheck_reads(const struct cell *cell, uint64_t seed, const struct expr *const *exprs, size_t count,
                   size_t *which, struct error *e)
{
    const struct lab_driver *driver = lab_driver_of(&cell->lab);
    struct lab_opened *lab =
        driver->simulated && driver->check_expression ? lab_opened_make(cell, seed, 1, e) : NULL;
    int result = driver->simulated && driver->check_expression && !lab ? -1 : 0;
    *which = lab ? 0 : count;
    while (*which < count && (result = driver->check_expression(lab->state, exprs[*which], e)) == 0)
        ++*which;
    lab_opened_close(lab);
    return result;
}

/* Is there a judgement that no cell could decide so far? */
static bool any_lacks(const struct decisions *d)
{
    bool any = false;
    for (size_t i = 0; i < d->count; i++)
        any |= !d->items[i].decided;
    return any;
}

int precheck_plan(const struct plan *plan, struct precheck *found, struct error *e)
{
    struct decidable decidable;
    struct decisions decisions;
    struct error refused;
    int result = 0;
    bool runs = !found->candidates,
         done = false; /* the lab can run all cells so far; what is asked is told */
    decidable_open(&decidable, plan);
    decisions_open(&decisions, &plan->first);
    size_t count = found->first_alone && lab_kind(&plan->first.lab)->simulated ? 1 : plan->cell_count;
    for (size_t i = 0; result == 0 && i < count; i++) {
        const struct cell *cell = plan_cell(plan, i, e);
        if (!cell) {
            result = -1;
            break;
        }
        decidable_note(&decidable, cell);
        if (cell->lab_json && (found->candidates ? !done : runs)) {
            bool can = precheck_cell(cell, &decisions, found, &refused) == 0;
            runs = found->candidates ? runs || can : can;
            done = runs && !any_lacks(&decisions);
        }
        plan_release(plan, cell);
    }
    bool made = result == 0; /* a cell that cannot be made says itself where */
    if (made && !found->judged)
        result = decidable_end_planned(&decidable, e);
    if (result == 0 && !runs) {
        *e = refused;
        result = -1;
    }
    if (result == 0 && !found->judged)
        result = decisions_end(&decisions, plan, e);
    decisions_close(&decisions);
    decidable_close(&decidable);
    return result == 0 || !made ? result : error_prefix(e, "%s", plan->scenario_path);
}

/* ---- what expectations read */

static void keep_column_of(void *recorder, const char *role, const char *counter, const char *key)
{
    if (key)
        recorder_keep(recorder, role, counter, key);
}

void precheck_keep_columns(const struct cell *cell, struct recorder *recorder)
{
    for (size_t i = 0; i < cell->scenario.expect.count; i++)
        expr_each_counter(cell->checks[i], keep_column_of, recorder);
    for (size_t i = 0; i < cell->scenario.published.count; i++)
        expr_each_counter(cell->published[i], keep_column_of, recorder);
}

/* ---- once the hosts are known */

static bool role_can(const struct host_description *host, const char *capability)
{
    size_t i;
    json_t *name;
    json_array_foreach(host->capabilities, i, name)
    {
        if (strcmp(json_string_value(name), capability) == 0)
            return true;
    }
    return false;
}

/* What traffic asks of the hosts at its ends, and what a host without it lacks. */
enum asked { ASKED_GPU, ASKED_FAR, ASKED_RELAXED, ASKED_KINDS };
static const struct {
    const char *capability, *use, *lack;
} asked_words[ASKED_KINDS] = {
    [ASKED_GPU] = {"gpu", "uses GPU memory", "has no usable GPU memory"},
    [ASKED_FAR] = {"numa", "has numa far", "has no other NUMA node than its NIC's, or that is not known"},
    [ASKED_RELAXED] = {"relaxed-ordering", "has relaxed_ordering",
                       "has no NIC whose PCIe configuration is seen to allow it"},
};

static bool flow_asks(const struct scenario_flow *flow, enum asked asked)
{
    return asked == ASKED_GPU   ? flow_in_gpu_memory(flow->memory)
           : asked == ASKED_FAR ? flow->numa == NUMA_FAR
                                : flow->relaxed_ordering > 0;
}

/* Does this role lack what a flow or a collective, `user` `name`, asks for? */
static bool role_lacks(const struct cell *cell, const struct host_description *hosts, const char *role,
                       const char *user, const char *name, enum asked asked, struct text *why)
{
    int i = scenario_role_index(&cell->scenario, role);
    if (i < 0 || role_can(&hosts[i], asked_words[asked].capability))
        return false;
    text_add(why, "lab %s lacks %s: %s %s %s, and host %s %s", cell->lab.name, asked_words[asked].capability,
             user, name, asked_words[asked].use, hosts[i].name, asked_words[asked].lack);
    return true;
}

static bool flow_lacks(const struct cell *cell, const struct host_description *hosts,
                       const struct scenario_flow *flow, struct text *why)
{
    for (int asked = 0; asked < ASKED_KINDS; asked++)
        if (flow_asks(flow, asked) && (role_lacks(cell, hosts, flow->from, "flow", flow->name, asked, why) ||
                                       role_lacks(cell, hosts, flow->to, "flow", flow->name, asked, why)))
            return true;
    return false;
}

static bool collective_lacks(const struct cell *cell, const struct host_description *hosts,
                             const struct scenario_collective *collective, struct text *why)
{
    const struct list_of *roles = collective->roles.count ? &collective->roles : &cell->scenario.roles;
    for (size_t i = 0; i < roles->count; i++)
        if (role_lacks(cell, hosts, ((char *const *)roles->items)[i], "collective", collective->name,
                       ASKED_GPU, why))
            return true;
    return false;
}

bool precheck_lacking(const struct cell *cell, const struct host_description *hosts, struct text *why)
{
    const struct scenario *scenario = &cell->scenario;
    const struct scenario_flow *flows = scenario->flows.items;
    const struct scenario_traffic *traffic = scenario->traffic.items;
    for (size_t i = 0; i < scenario->flows.count; i++)
        if (flow_lacks(cell, hosts, &flows[i], why))
            return true;
    for (size_t i = 0; i < scenario->traffic.count; i++)
        for (size_t k = 0;
             flow_in_gpu_memory(traffic[i].memory) && k < traffic[i].from.count + traffic[i].to.count; k++) {
            char *const *from = traffic[i].from.items, *const *to = traffic[i].to.items;
            if (role_lacks(cell, hosts, k < traffic[i].from.count ? from[k] : to[k - traffic[i].from.count],
                           "flow", traffic[i].name, ASKED_GPU, why))
                return true;
        }
    for (size_t i = 0; i < scenario->collectives.count; i++)
        if (collective_lacks(cell, hosts, (const struct scenario_collective *)scenario->collectives.items + i,
                             why))
            return true;
    return false;
}
