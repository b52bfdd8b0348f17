/*
 * A scenario's faults of single frames (`inject`) and its storms of pauses on real hosts: which host has
 * each of them, by which means, and what a run does with them from its beginning to its end.
 * docs/scenario.md.
 */
#include "harness/labs/hosts/faults/faults.h"

#include "harness/labs/hosts/parallel.h"
#include "harness/labs/hosts/faults/means.h"
#include "lib/clock.h"
#include "lib/document/json_text.h"
#include "lib/xalloc.h"
#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_MARGIN_NS (500 * NS_PER_MS)
#define MOST_MARGIN_NS  (128 * NS_PER_S)
#define MOST_COUNTED    4294967295 /* a packet filter's numbers begin anew with the next frame */

static const struct fault_means *const means[] = {&fault_means_nic, &fault_means_filter};
#define MEANS (sizeof means / sizeof *means)

/* ---- whose frames they are */

/* Does this host send such packets of the flow? Those of a ping-pong are sent by both. */
static bool fault_sends(const struct scenario_flow *flow, const char *role, int packet)
{
    const char *requester = flow->from, *responder = flow->to;
    bool read = flow->op == OP_READ;
    const char *of_data = read ? responder : requester, *other = read ? requester : responder;
    if (flow->mode == MODE_LATENCY && !read)
        return strcmp(role, requester) == 0 || strcmp(role, responder) == 0;
    return strcmp(role, packet == INJECT_DATA ? of_data : other) == 0;
}

const char *fault_other_flow(const struct fault_request *q, const struct lab_host *to)
{
    const struct scenario_flow *flows = q->scenario->flows.items;
    for (size_t i = 0; q->rule->flow && i < q->scenario->flows.count; i++) {
        const char *ends[] = {flows[i].from, flows[i].to};
        for (int end = 0; end < 2; end++)
            if (strcmp(flows[i].name, q->rule->flow) != 0 && lab_real_host(q->lab, ends[end]) == q->source &&
                (!to || lab_real_host(q->lab, ends[!end]) == to) &&
                fault_sends(&flows[i], ends[end], q->rule->packet))
                return flows[i].name;
    }
    return NULL;
}

static bool are_linked(const struct lab *lab, const struct lab_host *a, const struct lab_host *b)
{
    const struct lab_link *link;
    for (size_t i = 0; (link = lab_link_at(lab, i)); i++) {
        char *const *ends = link->between.items;
        if ((strcmp(ends[0], a->name) == 0 && strcmp(ends[1], b->name) == 0) ||
            (strcmp(ends[0], b->name) == 0 && strcmp(ends[1], a->name) == 0))
            return true;
    }
    return false;
}

static int find_flow(struct fault_request *q, struct error *e)
{
    const struct scenario_flow *flows = q->scenario->flows.items, *flow = NULL;
    for (size_t i = 0; i < q->scenario->flows.count && !flow; i++)
        if (strcmp(flows[i].name, q->rule->flow) == 0)
            flow = &flows[i];
    if (!flow)
        return error_set(e, "%s.flow: there is no flow \"%.80s\"", q->path, q->rule->flow);
    bool data = q->rule->packet == INJECT_DATA, read = flow->op == OP_READ;
    q->from = data == read ? flow->to : flow->from;
    q->to = data == read ? flow->from : flow->to;
    return 0;
}

static int find_ends(struct fault_request *q, struct error *e)
{
    char *const *ends = q->rule->link.items;
    if (q->rule->flow && find_flow(q, e) != 0)
        return -1;
    q->from = q->rule->flow ? q->from : ends[0];
    q->to = q->rule->flow ? q->to : ends[1];
    q->source = lab_real_host(q->lab, q->from);
    q->destination = lab_real_host(q->lab, q->to);
    if (!q->source || !q->destination || (!q->rule->flow && !are_linked(q->lab, q->source, q->destination))) {
        if (q->rule->flow)
            error_set(e, "%s.flow: lab %s has no host for its ends", q->path, q->lab->name);
        else
            error_set(e, "%s.link: lab %s has no link between hosts \"%.60s\" and \"%.60s\"", q->path,
                      q->lab->name, ends[0], ends[1]);
        return -1;
    }
    if (q->source != q->destination)
        return 0;
    error_set(e, "%s: %s and %s are host %s of lab %s: such frames pass no link", q->path, q->from, q->to,
              q->source->name, q->lab->name);
    return -1;
}

/* ---- who can have the fault */

/* By its RDMA device's name in the lab; the host is asked when it is reached. */
static bool is_soft(const struct lab_host *host)
{
    return host->nic.rdma && strncmp(host->nic.rdma, "rxe", 3) == 0;
}

static bool is_bridge(const struct lab_host *host)
{
    return host->extra_nics.count > 0 && !host->forwarding;
}

/* Guests whose NICs are neither passed through nor Soft-RoCE have virtual ConnectX. */
static bool has_virtual_nic(const struct lab_host *host)
{
    return host->domain && !host->nic.pci && !lab_forwards(host) && !is_soft(host);
}

/* Both ends were found, and a fault that is made has a host. NOLINTBEGIN(clang-analyzer-core.NullDereference)
 */
static bool may_be_soft(const struct lab_host *host)
{
    return !lab_forwards(host) && (is_soft(host) || (!host->domain && !host->nic.rdma && !host->nic.pci));
}

/* The bridge that is an end of the link, or that the flow passes next to its receiver, else to its sender;
 * NULL: none. */
static const struct lab_host *bridge_of(const struct fault_request *q)
{
    const struct lab_host *ends[] = {q->destination, q->source}, *host;
    for (int end = 0; end < 2; end++)
        if (is_bridge(ends[end]))
            return ends[end];
    if (are_linked(q->lab, q->source, q->destination))
        return NULL;
    for (int end = 0; end < 2; end++)
        for (size_t i = 0; (host = lab_host_at(q->lab, i)); i++)
            if (is_bridge(host) && are_linked(q->lab, host, ends[end]))
                return host;
    return NULL;
}

static int choose_means(const struct fault_request *q, struct fault *fault, struct error *e)
{
    const struct lab_host *bridge = bridge_of(q);
    if (has_virtual_nic(q->source))
        return fault_means_nic.make(q, q->source, fault, e);
    if (bridge)
        return fault_means_filter.make(q, bridge, fault, e);
    if (may_be_soft(q->destination))
        return fault_means_filter.make(q, q->destination, fault, e);
    return error_set(
        e,
        "%s: nothing between hosts %s and %s of lab %s can do it: frames are lost by their number in "
        "simulated labs, by a sender's virtual ConnectX, by a Linux bridge and by a receiver "
        "with Soft-RoCE; leave it out with --set inject=[]",
        q->path, q->source->name, q->destination->name, q->lab->name);
}

/* A run reaches hosts that have a role, and guests that forward. */
static int check_reached(const struct fault_request *q, const struct lab_host *host, struct error *e)
{
    const char *role;
    for (size_t i = 0; (role = scenario_role(q->scenario, i)); i++)
        if (lab_real_host(q->lab, role) == host)
            return 0;
    if (host->domain && lab_forwards(host))
        return 0;
    return error_set(
        e,
        "%s: host %s of lab %s would have this fault, but has no role, so that a run does not reach "
        "it: add it to the scenario's \"roles\"",
        q->path, host->name, q->lab->name);
}

/* NOLINTEND(clang-analyzer-core.NullDereference) */

static int fault_of_injection(const struct scenario *scenario, const struct lab *lab, size_t i,
                              struct fault *fault, struct error *e)
{
    struct fault_request q = {.scenario = scenario,
                              .lab = lab,
                              .rule = (const struct injection_rule *)scenario->injections.items + i,
                              .i = i};
    snprintf(q.path, sizeof q.path, "inject[%zu]", i);
    return find_ends(&q, e) != 0 || choose_means(&q, fault, e) != 0 || check_reached(&q, fault->host, e) != 0
               ? -1
               : 0;
}

static int fault_of_storm(const struct scenario *scenario, const struct lab *lab, size_t i,
                          struct fault *fault, struct error *e)
{
    const struct scenario_storm *s = (const struct scenario_storm *)scenario->storms.items + i;
    const struct lab_host *host = lab_real_host(lab, s->role);
    if (!host || !has_virtual_nic(host))
        return error_set(e,
                         "storms: role \"%s\" pauses its peer without a reason, which only simulated hosts "
                         "and virtual ConnectX do: lab %s has real hosts",
                         s->role, lab->name);
    if (s->start_ns % NS_PER_MS || s->stop_ns % NS_PER_MS)
        return error_set(e,
                         "storms[%zu]: a virtual ConnectX knows whole milliseconds: found a start of %" PRId64
                         " ns and a stop of %" PRId64 " ns",
                         i, s->start_ns, s->stop_ns);
    fault->host = host;
    fault->storm = true;
    fault->start_ns = s->start_ns;
    text_add(&fault->line, "storm %lld priority %" PRId64, (s->stop_ns - s->start_ns) / NS_PER_MS,
             s->priority);
    return 0;
}

/* A NIC has one at a time. */
static int check_storms(const struct scenario *scenario, const struct lab *lab, struct error *e)
{
    const struct scenario_storm *storms = scenario->storms.items;
    for (size_t i = 0; i < scenario->storms.count; i++)
        for (size_t k = 0; k < i; k++)
            if (lab_real_host(lab, storms[i].role) == lab_real_host(lab, storms[k].role))
                return error_set(e,
                                 "storms[%zu]: a virtual ConnectX has one storm in a run, and \"%s\" has two",
                                 i, storms[i].role);
    return 0;
}

/* Each injection, then each storm. */
static size_t count_faults(const struct scenario *scenario)
{
    return scenario->injections.count + scenario->storms.count;
}

int fault_make(const struct scenario *scenario, const struct lab *lab, size_t i, struct fault *fault,
               struct error *e)
{
    size_t injections = scenario->injections.count;
    *fault = (struct fault){0};
    int result = i < injections ? fault_of_injection(scenario, lab, i, fault, e)
                                : fault_of_storm(scenario, lab, i - injections, fault, e);
    if (result == 0 && fault->line.failed)
        result = error_set(e, "out of memory");
    if (result != 0)
        text_free(&fault->line);
    return result;
}

/* A machine has one table of faults in its packet filter, and a record of it: for one of its NICs. */
static int check_one_filter(const struct lab *lab, const struct fault *fault, size_t i,
                            const struct lab_host *filtered[], struct error *e)
{
    const struct lab_host *all = lab->hosts.items;
    filtered[i] = fault->filter ? fault->host : NULL;
    for (size_t k = 0; k < i && filtered[i]; k++)
        if (filtered[k] && filtered[k] != filtered[i] &&
            lab_same_machine(lab, (size_t)(filtered[k] - all), (size_t)(filtered[i] - all)))
            return error_set(
                e,
                "inject[%zu] and inject[%zu]: host %s would have them in its packet filter, at %s and "
                "%s, and it can at one NIC: leave one out, or take a run for each",
                k, i, lab_machine_name(lab, (size_t)(filtered[i] - all)), filtered[k]->name,
                filtered[i]->name);
    return 0;
}

int host_faults_check(const struct scenario *scenario, const struct lab *lab, struct error *e)
{
    const struct lab_host *filtered[FAULT_MOST_RULES] = {NULL};
    int result = check_storms(scenario, lab, e);
    if (scenario->injections.count > FAULT_MOST_RULES)
        return error_set(e, "inject: real hosts have at most %d faults at once: found %zu rules",
                         FAULT_MOST_RULES, scenario->injections.count);
    for (size_t i = 0; result == 0 && i < count_faults(scenario); i++) {
        struct fault fault;
        result = fault_make(scenario, lab, i, &fault, e);
        if (result == 0)
            text_free(&fault.line);
        if (result == 0 && i < scenario->injections.count)
            result = check_one_filter(lab, &fault, i, filtered, e);
    }
    return result;
}

/* ---- before the run */

static bool has_faults(const struct host_faults *f, const struct remote_host *h, const struct fault_means *m)
{
    for (size_t i = 0; i < f->count; i++)
        if (fault_is_of(&f->rules[i], h, m->filter))
            return true;
    return false;
}

/* What of the scenario asks for them: injections come first. */
static const char *asked_by(const struct host_faults *f)
{
    return f->rules[0].fault.storm ? "storms" : "inject";
}

static struct host_faults *make_faults(const struct cell *cell, struct error *e)
{
    size_t count = count_faults(&cell->scenario);
    struct host_faults *f = xcalloc(1, sizeof *f);
    f->rules = xcalloc(count + 1, sizeof *f->rules);
    for (; f->count < count; f->count++)
        if (fault_make(&cell->scenario, &cell->lab, f->count, &f->rules[f->count].fault, e) != 0) {
            host_faults_free(f);
            return NULL;
        }
    return f;
}

/* 1: the host has means for all its faults; 0: it is to have none. */
static int find_of_host(struct remote_host *h, const struct host_faults *f, struct error *e)
{
    int found = 0;
    for (size_t i = 0; i < MEANS; i++)
        if (has_faults(f, h, means[i])) {
            if ((!h->netdev && remote_find_nic(h, e) != 0) || means[i]->find(h, f, e) != 0)
                return error_prefix(e, "%s", asked_by(f));
            found = 1;
        }
    return found;
}

static int find_one(struct remote_lab *lab, size_t i, void *context, json_t *warnings, struct error *e)
{
    (void)warnings;
    return node_is_first(lab, i) && find_of_host(&lab->hosts[i], context, e) < 0 ? -1 : 0;
}

int host_faults_find(struct remote_lab *lab, struct error *e)
{
    if (!count_faults(&lab->run->cell->scenario))
        return 0;
    lab->faults = make_faults(lab->run->cell, e);
    return lab->faults ? hosts_in_parallel(lab, lab->all_count, find_one, lab->faults, e) : -1;
}

int host_faults_examine(struct remote_host *h, const struct cell *cell, struct error *e)
{
    struct host_faults *f = make_faults(cell, e);
    int result = f ? find_of_host(h, f, e) : -1;
    host_faults_free(f);
    return result;
}

/* ---- the run */

static int begin_one(struct remote_lab *lab, size_t i, void *context, json_t *warnings, struct error *e)
{
    (void)warnings;
    for (size_t k = 0; node_is_first(lab, i) && k < MEANS; k++)
        if (has_faults(context, &lab->hosts[i], means[k]) && means[k]->begin(&lab->hosts[i], context, e) != 0)
            return error_prefix(e, "%s", asked_by(context));
    return 0;
}

int host_faults_begin(struct remote_lab *lab, struct error *e)
{
    if (!lab->faults)
        return 0;
    lab->faults->begun = true;
    return hosts_in_parallel(lab, lab->all_count, begin_one, lab->faults, e);
}

static int end_one(struct remote_lab *lab, size_t i, void *context, json_t *warnings, struct error *e)
{
    struct remote_host *h = &lab->hosts[i];
    for (size_t k = 0; node_is_first(lab, i) && k < MEANS; k++) {
        if (!has_faults(context, h, means[k]))
            continue;
        int result = h->silent ? error_set(e, "it is silent") : means[k]->end(h, context, e);
        if (result != 0)
            json_array_append_new(
                warnings, json_textf("%s: what the faults of host %s met is not known, and they were not "
                                     "ended: %s; a run or `harness restore` ends them",
                                     asked_by(context), h->lab->name, e->text));
    }
    return 0;
}

void host_faults_end(struct remote_lab *lab)
{
    struct error ignored;
    if (lab->faults && lab->faults->begun)
        hosts_in_parallel(lab, lab->all_count, end_one, lab->faults, &ignored);
}

/* ---- when storms begin */

struct schedule {
    int64_t start_ns; /* 0: what the hosts were told is taken back */
    atomic_bool late;
};

static bool has_storms(const struct host_faults *f, const struct remote_host *h)
{
    for (size_t i = 0; f && i < f->count; i++)
        if (f->rules[i].fault.storm && (!h || fault_is_of(&f->rules[i], h, false)))
            return true;
    return false;
}

static int schedule_one(struct remote_lab *lab, size_t i, void *context, json_t *warnings, struct error *e)
{
    struct remote_host *h = &lab->hosts[i];
    struct schedule *s = context;
    (void)warnings;
    if (!node_is_first(lab, i) || !has_storms(lab->faults, h))
        return 0;
    int64_t zero_ns = s->start_ns + h->offset_ns;
    int result = fault_means_nic.schedule(h, lab->faults, s->start_ns ? &zero_ns : NULL, e);
    if (result > 0)
        atomic_store(&s->late, true);
    return result < 0 ? error_prefix(e, "storms") : 0;
}

/* Storms count from the beginning of the warm-up, as simulated ones do. A busy host takes seconds to be
 * told: how long is seen as earlier storms are taken back, and there is four times that before the start.
 * What it was told too late nevertheless is taken back, and told again with more time. */
int host_storms_schedule(struct remote_lab *lab, int64_t lead_ns, int64_t *start_ns, struct error *e)
{
    if (!has_storms(lab->faults, NULL)) {
        *start_ns = clock_steady_ns(&lab->clock) + lead_ns;
        return 0;
    }
    for (int64_t margin_ns = FIRST_MARGIN_NS; margin_ns <= MOST_MARGIN_NS; margin_ns *= 2) {
        struct schedule none = {0}, s = {0};
        int64_t began_ns = clock_steady_ns(&lab->clock);
        if (hosts_in_parallel(lab, lab->all_count, schedule_one, &none, e) != 0)
            return -1;
        int64_t told_ns = clock_steady_ns(&lab->clock);
        while (margin_ns < 4 * (told_ns - began_ns))
            margin_ns *= 2;
        s.start_ns = told_ns + lead_ns + margin_ns;
        if (hosts_in_parallel(lab, lab->all_count, schedule_one, &s, e) != 0)
            return -1;
        if (!atomic_load(&s.late) && clock_steady_ns(&lab->clock) + lead_ns <= s.start_ns) {
            *start_ns = s.start_ns;
            return 0;
        }
    }
    return error_set(e, "storms: telling the hosts when their storms begin took more than %lld s",
                     MOST_MARGIN_NS / NS_PER_S);
}

/* ---- the result */

static void add_rule(const struct remote_lab *lab, size_t i, json_t *injected, json_t *warnings)
{
    const struct injection_rule *r =
        (const struct injection_rule *)lab->run->cell->scenario.injections.items + i;
    const struct fault_rule *rule = &lab->faults->rules[i];
    json_t *entry = injection_json(r, i);
    if (rule->counted) {
        json_object_set_new(entry, "seen", json_integer(rule->seen));
        json_object_set_new(entry, "injected", json_integer(rule->met));
    }
    if (rule->counted && !rule->met)
        json_array_append_new(warnings, injection_warning(entry));
    if (rule->counted && rule->fault.filter && rule->seen > MOST_COUNTED)
        json_array_append_new(
            warnings, json_textf("inject[%zu]: more than %lld frames passed: from then on host %s counted "
                                 "anew from the first one",
                                 i, (long long)MOST_COUNTED, rule->fault.host->name));
    json_array_append_new(injected, entry);
}

void host_faults_add_to_result(const struct remote_lab *lab, json_t *result)
{
    if (!lab->faults || !lab->faults->begun)
        return;
    size_t injections = lab->run->cell->scenario.injections.count;
    if (!injections)
        return;
    json_t *injected = json_array();
    for (size_t i = 0; i < injections; i++)
        add_rule(lab, i, injected, json_object_get(result, "warnings"));
    json_object_set_new(result, "injected", injected);
}

void host_faults_free(struct host_faults *f)
{
    if (!f)
        return;
    for (size_t i = 0; i < f->count; i++)
        text_free(&f->rules[i].fault.line);
    free(f->rules);
    free(f);
}

/* ---- what a run has left */

int faults_ask(struct remote_host *h, const char *script, struct error *e)
{
    const char *const argv[] = {"sh", "-c", script, NULL};
    struct text out = {0};
    int result = ssh_must(h->ssh, argv, NULL, &out, REMOTE_COMMAND_NS, e);
    if (result == 0)
        result = out.length > 0;
    text_free(&out);
    return result;
}

/* 1: something is left; 0: nothing is, which is found out by one command for all means; -1 with `e` set. */
static int look_left(struct remote_host *h, struct error *e)
{
    return faults_ask(h, "if [ -e " FAULTS_LEFT_NIC " ] || [ -e " FAULTS_LEFT_FILTER " ]; then echo left; fi",
                      e);
}

bool host_faults_left(struct remote_host *h)
{
    return look_left(h, NULL) > 0;
}

int host_faults_restore(struct remote_host *h, struct text *said, struct error *e)
{
    int left = look_left(h, e);
    if (left < 0)
        return error_prefix(e, "looking for faults that a run left on host %s", remote_machine_name(h));
    for (size_t i = 0; left && i < MEANS; i++) {
        int result = means[i]->restore(h, e);
        if (result < 0)
            return error_prefix(e, "%s that a run left on host %s", means[i]->ended, remote_machine_name(h));
        if (result > 0)
            text_add(said, "%s: %s are ended\n", remote_machine_name(h), means[i]->ended);
    }
    return 0;
}
