#include "harness/labs/sim/inject/inject.h"
#include "harness/labs/sim/sim_setup.h"
#include "lib/document/json_text.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- rules, as the simulator has them */

static int find_flow(const struct sim_setup *setup, const char *name, const char *path, uint32_t *flow,
                     struct error *e)
{
    for (size_t i = 0; i < setup->config.flow_count; i++)
        if (strcmp(setup->flows[i].name, name) == 0) {
            *flow = (uint32_t)i;
            return 0;
        }
    return error_set(
        e,
        "%s.flow: there is no flow \"%.80s\": expected the name of a flow, or of one of a traffic's "
        "flows, as in \"NAME/0\"",
        path, name);
}

/* Some actions are of hosts. */
static int check_host(const struct cell *cell, const struct injection_rule *r, const char *path,
                      struct error *e)
{
    struct sim_end end;
    const char *name = ((char *const *)r->link.items)[1];
    if (r->action < INJECT_CNP_SENT || sim_setup_end(&cell->lab, path, name, &end, e) != 0)
        return r->action < INJECT_CNP_SENT ? 0 : -1;
    if ((size_t)end.node < cell->lab.hosts.count)
        return 0;
    return error_set(
        e, "%s.do: \"%s\" is for frames that come to a host: found %s as the second end of the link", path,
        injection_action_name(r), name);
}

static uint8_t mask(int64_t priority)
{
    return priority == FIELD_UNSET ? 0 : (uint8_t)(1u << priority);
}

static int take(const struct cell *cell, const struct sim_setup *setup, size_t i, struct sim_injection *to,
                struct error *e)
{
    static const enum packet_kind kinds[] = {
        [INJECT_DATA] = PACKET_DATA, [INJECT_ACK] = PACKET_ACK,
        [INJECT_NAK] = PACKET_NAK,   [INJECT_READ_REQUEST] = PACKET_READ_REQUEST,
        [INJECT_CNP] = PACKET_CNP,   [INJECT_PFC] = PACKET_PFC};
    static const enum sim_injected_action actions[] = {
        [INJECT_DROP] = SIM_INJECT_DROP,           [INJECT_CORRUPT] = SIM_INJECT_CORRUPT,
        [INJECT_MARK] = SIM_INJECT_MARK,           [INJECT_DELAY] = SIM_INJECT_DELAY,
        [INJECT_DUPLICATE] = SIM_INJECT_DUPLICATE, [INJECT_REORDER] = SIM_INJECT_REORDER,
        [INJECT_CNP_SENT] = SIM_INJECT_CNP,        [INJECT_PAUSE] = SIM_INJECT_PAUSE,
        [INJECT_STALL] = SIM_INJECT_STALL};
    const struct injection_rule *r = (const struct injection_rule *)cell->scenario.injections.items + i;
    struct injection_choice choice = injection_choice(r);
    int64_t phase_ns[4];
    char path[32];
    snprintf(path, sizeof path, "inject[%zu]", i);
    scenario_phase_starts(&cell->scenario, phase_ns);
    int64_t start_ns = injection_start_ns(r, phase_ns), end_ns = injection_end_ns(r, phase_ns);
    /* a run that was made shorter ends before the rule begins: any end will do */
    *to = (struct sim_injection){.flow = SIM_NO_FLOW,
                                 .kind = kinds[r->packet],
                                 .action = actions[r->action],
                                 .from_ps = start_ns * SIM_PS_PER_NS,
                                 .until_ps = (end_ns > start_ns ? end_ns : start_ns + 1) * SIM_PS_PER_NS,
                                 .first = choice.first,
                                 .every = choice.every,
                                 .most = choice.most,
                                 .probability = isnan(r->probability) ? 0 : r->probability,
                                 .priorities = mask(r->priority),
                                 .pause_classes = mask(r->pause_priority),
                                 .behind = r->behind == FIELD_UNSET ? 0 : r->behind,
                                 .lasts_ps = r->lasts_ns == FIELD_UNSET ? 0 : r->lasts_ns * SIM_PS_PER_NS,
                                 .delay_ps = r->delay_ns == FIELD_UNSET ? 0 : r->delay_ns * SIM_PS_PER_NS};
    if (r->flow)
        return find_flow(setup, r->flow, path, &to->flow, e);
    if (sim_setup_link(&cell->lab, &r->link, path, &to->port, e) != 0)
        return -1;
    return check_host(cell, r, path, e);
}

int sim_setup_take_injections(const struct cell *cell, struct sim_setup *setup, struct error *e)
{
    size_t count = cell->scenario.injections.count;
    if (!count)
        return 0;
    setup->injections = calloc(count, sizeof *setup->injections);
    if (!setup->injections)
        return error_set(e, "out of memory");
    for (size_t i = 0; i < count; i++)
        if (take(cell, setup, i, &setup->injections[i], e) != 0)
            return -1;
    setup->config.injections = setup->injections;
    setup->config.injection_count = count;
    return 0;
}

/* ---- the result */

static void add_rule(const struct sim_lab *lab, size_t i, json_t *injected, json_t *warnings)
{
    const struct injection_rule *r =
        (const struct injection_rule *)lab->run->cell->scenario.injections.items + i;
    struct sim_injected count = sim_injected(lab->sim, i);
    json_t *entry = injection_json(r, i);
    json_object_set_new(entry, "seen", json_integer(count.seen));
    json_object_set_new(entry, "injected", json_integer(count.injected));
    if (!count.injected)
        json_array_append_new(warnings, injection_warning(entry));
    json_array_append_new(injected, entry);
}

void sim_inject_add_to_result(const struct sim_lab *lab, json_t *result)
{
    size_t count = lab->run->cell->scenario.injections.count;
    if (!count)
        return;
    json_t *injected = json_array();
    for (size_t i = 0; i < count; i++)
        add_rule(lab, i, injected, json_object_get(result, "warnings"));
    json_object_set_new(result, "injected", injected);
}
