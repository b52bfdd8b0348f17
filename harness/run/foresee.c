#include "harness/run/foresee.h"
#include "harness/doctor/ecn.h"
#include "harness/plan/decidable.h"
#include "harness/judge/verdict.h"
#include "lib/document/json_text.h"
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

/* What the cells say, which are looked at one after the other. */
struct foreseen {
    const struct plan *plan;
    json_t *warnings;
    int result; /* -1: the lab cannot run a cell */
    uint64_t bytes;
    struct error why;
    struct decisions decisions;
    /* The cell whose lab is open: */
    const struct cell *cell;
    struct lab_run run;
    void *lab;
    json_t *known; /* of its result: the lab's name, and hosts with their capabilities */
};

static void close_lab(struct foreseen *f)
{
    if (f->lab)
        lab_driver_of(&f->cell->lab)->close(f->lab);
    json_decref(f->known);
    f->lab = NULL;
    f->known = NULL;
    f->cell = NULL;
}

static int add_hosts(struct foreseen *f, struct error *e)
{
    size_t count = f->cell->scenario.roles.count;
    struct host_description *hosts = calloc(count + 1, sizeof *hosts);
    if (!hosts)
        return error_set(e, "out of memory for %zu hosts", count);
    int result = lab_driver_of(&f->cell->lab)->describe(f->lab, hosts, e);
    for (size_t i = 0; i < count; i++) {
        json_object_set_new(json_object_get(f->known, "hosts"), scenario_role(&f->cell->scenario, i),
                            json_make("{s:O}", "capabilities", hosts[i].capabilities));
        host_description_free(&hosts[i]);
    }
    free(hosts);
    return result;
}

static int open_lab(struct foreseen *f, const struct cell *cell, struct error *e)
{
    if (f->cell)
        return 0;
    f->cell = cell;
    f->run = (struct lab_run){.cell = cell, .seed = 1};
    f->known = json_make("{s:{s:s},s:{}}", "lab", "name", cell->lab.name, "hosts");
    int result = lab_driver_of(&cell->lab)->open(&f->run, &f->lab, e);
    if (result == 0)
        result = add_hosts(f, e);
    if (result != 0)
        close_lab(f);
    return result;
}

/* A search for a counter among the roles that a glob matches. */
struct search {
    const struct foreseen *f;
    int result; /* -1: an expression reads a counter that no role can have */
    struct error *e;
};

static void look_for(void *context, const char *role_glob, const char *counter, const char *key)
{
    (void)key;
    struct search *s = context;
    const struct cell *cell = s->f->cell;
    const char *role;
    int found = -1;
    if (s->result != 0)
        return;
    for (size_t i = 0; found != 0 && (role = scenario_role(&cell->scenario, i)); i++)
        if (fnmatch(role_glob, role, 0) == 0)
            found = lab_driver_of(&cell->lab)->check_counter(s->f->lab, i, counter, s->e);
    s->result = found;
}

/* What the lab lacks by its capabilities is skipped by name; anything else that it can never have is a slip. */
static int decide(void *context, const struct cell *cell, const struct judgement *j, struct error *e)
{
    struct foreseen *f = context;
    if (open_lab(f, cell, e) != 0)
        return -1;
    if (verdict_lacking(j->needs, f->known))
        return 0;
    struct search search = {f, 0, e};
    expr_each_counter(j->expr, look_for, &search);
    return search.result;
}

static void judge(struct foreseen *f, const struct cell *cell)
{
    struct error e;
    if (f->plan->changed || !lab_driver_of(&cell->lab)->check_counter)
        return;
    if (f->decisions.items || decisions_open(&f->decisions, cell, decide, f, &e) == 0)
        decisions_note(&f->decisions, cell);
    close_lab(f);
}

static void look(void *context, const struct cell *cell)
{
    struct foreseen *f = context;
    const struct lab_driver *driver = cell->lab_json ? lab_driver_of(&cell->lab) : NULL;
    uint64_t bytes = 0;
    if (!driver || f->result != 0)
        return;
    if (driver->check)
        f->result = driver->check(cell, &bytes, &f->why);
    f->bytes = bytes > f->bytes ? bytes : f->bytes;
    if (f->result != 0)
        return;
    judge(f, cell);
    if (f->warnings)
        ecn_note(cell, f->warnings);
}

int foresee(const struct plan_request *request, struct plan *plan, json_t *warnings, struct error *e)
{
    struct foreseen f = {.plan = plan, .warnings = warnings};
    struct plan_request looking = *request;
    looking.each = look;
    looking.context = &f;
    if (plan_load(&looking, plan, e) != 0) {
        decisions_close(&f.decisions);
        return -1;
    }
    if (f.result != 0)
        *e = f.why;
    else
        f.result = decisions_end(&f.decisions, &plan->first, e);
    decisions_close(&f.decisions);
    plan->run_bytes = f.bytes;
    if (f.result == 0)
        return 0;
    error_prefix(e, "%s", plan->scenario_path);
    plan_free(plan);
    return -1;
}

/* ---- what expectations read */

struct keeping {
    struct recorder *recorder;
    int result;
    struct error *e;
};

static void keep_column(void *context, const char *role, const char *counter, const char *key)
{
    struct keeping *k = context;
    if (k->result == 0 && key)
        k->result = recorder_keep(k->recorder, role, counter, key, k->e);
}

int foresee_columns(const struct cell *cell, struct recorder *recorder, struct error *e)
{
    struct keeping k = {recorder, 0, e};
    for (size_t i = 0; i < cell->scenario.expect.count; i++)
        expr_each_counter(cell->checks[i], keep_column, &k);
    for (size_t i = 0; i < cell->scenario.published.count; i++)
        expr_each_counter(cell->published[i], keep_column, &k);
    return k.result;
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

static bool asks(const struct scenario_flow *flow, enum asked asked)
{
    return asked == ASKED_GPU   ? flow_in_gpu_memory(flow->memory)
           : asked == ASKED_FAR ? flow->numa == NUMA_FAR
                                : flow->relaxed_ordering > 0;
}

/* Does this role lack what a flow or a collective, `user` `name`, asks for? */
static bool lacks(const struct cell *cell, const struct host_description *hosts, const char *role,
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
        if (asks(flow, asked) && (lacks(cell, hosts, flow->from, "flow", flow->name, asked, why) ||
                                  lacks(cell, hosts, flow->to, "flow", flow->name, asked, why)))
            return true;
    return false;
}

static bool collective_lacks(const struct cell *cell, const struct host_description *hosts,
                             const struct scenario_collective *collective, struct text *why)
{
    const struct list_of *roles = collective->roles.count ? &collective->roles : &cell->scenario.roles;
    for (size_t i = 0; i < roles->count; i++)
        if (lacks(cell, hosts, ((char *const *)roles->items)[i], "collective", collective->name, ASKED_GPU,
                  why))
            return true;
    return false;
}

bool foresee_lacking(const struct cell *cell, const struct host_description *hosts, struct text *why)
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
            if (lacks(cell, hosts, k < traffic[i].from.count ? from[k] : to[k - traffic[i].from.count],
                      "flow", traffic[i].name, ASKED_GPU, why))
                return true;
        }
    for (size_t i = 0; i < scenario->collectives.count; i++)
        if (collective_lacks(cell, hosts, (const struct scenario_collective *)scenario->collectives.items + i,
                             why))
            return true;
    return false;
}
