/* The lab's network as its flows meet it: what a host's link carries, and which NICs reach each other. */
#include "harness/labs/sim/sim_config.h"
#include "lib/joined.h"
#include "lib/text.h"
#include "lib/xalloc.h"
#include <stdlib.h>

int64_t *sim_setup_link_rates(const struct sim_setup *setup)
{
    int64_t *rates = xcalloc(setup->config.host_count + 1, sizeof *rates);
    for (size_t i = setup->config.link_count; i-- > 0;) {
        const struct sim_link_config *link = &setup->links[i];
        if (link->a.kind == SIM_HOST)
            rates[link->a.index] = link->rate_bps;
        if (link->b.kind == SIM_HOST)
            rates[link->b.index] = link->rate_bps;
    }
    return rates;
}

/* ---- who is reached */

static uint32_t number_of(const struct sim_setup *setup, struct sim_node node)
{
    size_t before = node.kind == SIM_HOST     ? 0
                    : node.kind == SIM_SWITCH ? setup->config.host_count
                                              : setup->config.host_count + setup->config.switch_count;
    return (uint32_t)before + node.index;
}

/* Rails and planes that nothing joins: what a flow could have in their place. */
static int not_reached(const struct lab *lab, uint32_t *joined, const struct sim_flow_config *flow,
                       struct error *e)
{
    struct text reached = {0};
    size_t first = lab_machine_first(lab, flow->to), count = 0;
    for (size_t i = first; i < lab->hosts.count && lab_same_machine(lab, first, i); i++)
        if (joined_are(joined, flow->from, (uint32_t)i) && count++ < 8)
            text_add(&reached, "%s%.100s", count > 1 ? ", " : "", lab_node_name(lab, i));
    const char *from = lab_node_name(lab, flow->from), *to = lab_node_name(lab, flow->to);
    if (count)
        error_set(e,
                  "flow %.100s: no path of lab %.100s leads from %.100s to %.100s: %.100s reaches %s%s of "
                  "this host",
                  flow->name, lab->name, from, to, from, text_string(&reached), count > 8 ? ", ..." : "");
    else
        error_set(e, "flow %.100s: no path of lab %.100s leads from %.100s to %.100s%s", flow->name,
                  lab->name, from, to,
                  lab_nic_name(lab, flow->to) ? ", nor to another NIC of this host" : "");
    text_free(&reached);
    return -1;
}

int sim_setup_check_reached(const struct lab *lab, const struct sim_setup *setup, struct error *e)
{
    const struct sim_config *c = &setup->config;
    uint32_t *joined = joined_make(c->host_count + c->switch_count + c->bridge_count);
    int result = joined ? 0 : error_set(e, "out of memory");
    for (size_t i = 0; result == 0 && i < c->link_count; i++)
        joined_link(joined, number_of(setup, setup->links[i].a), number_of(setup, setup->links[i].b));
    for (size_t i = 0; result == 0 && i < c->flow_count; i++)
        if (!joined_are(joined, setup->flows[i].from, setup->flows[i].to))
            result = not_reached(lab, joined, &setup->flows[i], e);
    free(joined);
    return result;
}
