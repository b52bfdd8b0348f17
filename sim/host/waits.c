/* Flows that wait for other flows. Who waits is the sender; it receives the other flow, or sends it too. So all that a wait needs is at
 * one host. */
#include "sim/islands/island.h"
#include "sim/model.h"
#include <stdlib.h>

static bool is_stream(const struct sim_flow_config *f)
{
    return f->mode == SIM_STREAM && f->operation != SIM_READ;
}

static int check_wait(const struct sim_config *c, const struct sim_flow_config *f,
                      const struct sim_wait *wait, struct error *e)
{
    const struct sim_flow_config *before = wait->flow < c->flow_count ? &c->flows[wait->flow] : NULL;
    if (!before || before == f)
        return error_set(e, "simulator: flow %s should wait for flow %u, which does not exist", f->name,
                         wait->flow);
    if (!is_stream(f) || !is_stream(before) || !before->message_count || f->after >= 0)
        return error_set(
            e,
            "simulator: flow %s cannot wait for %s: this requires streams of writes or sends, and that "
            "the other has an end",
            f->name, before->name);
    if (before->from != f->from && before->to != f->from)
        return error_set(e, "simulator: flow %s cannot wait for %s, whose end its sender does not see",
                         f->name, before->name);
    if (wait->delay_ps < 0 || wait->delay_ps > SIM_FOREVER / 4)
        return error_set(e, "simulator: flow %s: a delay of %lld ps after %s is out of range", f->name,
                         (long long)wait->delay_ps, before->name);
    return 0;
}

static int count_waits(struct sim *sim, const struct sim_config *c, size_t *total, struct error *e)
{
    for (uint32_t i = 0; i < sim->flow_count; i++) {
        const struct sim_flow_config *f = &c->flows[i];
        for (size_t k = 0; k < f->wait_count; k++) {
            if (check_wait(c, f, &f->waits[k], e) != 0)
                return -1;
            struct flow *before = &sim->flows[f->waits[k].flow];
            if (c->flows[f->waits[k].flow].to == f->from)
                before->waits_at_receiver++;
            else
                before->waits_at_sender++;
        }
        *total += f->wait_count;
    }
    return 0;
}

/* Each flow's list: the waits of those who receive it come first. */
static void list_waits(struct sim *sim, const struct sim_config *c)
{
    uint32_t next = 0;
    for (uint32_t i = 0; i < sim->flow_count; i++) {
        struct flow *flow = &sim->flows[i];
        flow->first_wait = next;
        next += flow->waits_at_receiver + flow->waits_at_sender;
        flow->waits_at_receiver = flow->waits_at_sender = 0;
    }
    for (int at_sender = 0; at_sender < 2; at_sender++)
        for (uint32_t i = 0; i < sim->flow_count; i++) {
            const struct sim_flow_config *f = &c->flows[i];
            for (size_t k = 0; k < f->wait_count; k++) {
                struct flow *before = &sim->flows[f->waits[k].flow];
                if ((c->flows[f->waits[k].flow].to != f->from) != at_sender)
                    continue;
                uint32_t place = before->first_wait + before->waits_at_receiver + before->waits_at_sender;
                sim->waits[place] = (struct waiting){i, f->waits[k].delay_ps};
                *(at_sender ? &before->waits_at_sender : &before->waits_at_receiver) += 1;
            }
        }
}

int waits_build(struct sim *sim, const struct sim_config *c, struct error *e)
{
    size_t total = 0;
    if (count_waits(sim, c, &total, e) != 0)
        return -1;
    if (total >= UINT32_MAX || !(sim->waits = calloc(total + 1, sizeof *sim->waits)))
        return error_set(e, "simulator: no memory for %zu waits", total);
    sim->bytes += (total + 1) * sizeof *sim->waits;
    list_waits(sim, c);
    for (uint32_t i = 0; i < sim->flow_count; i++) {
        struct flow *flow = &sim->flows[i];
        flow->waits_left = (uint32_t)c->flows[i].wait_count;
        flow->ready_ps = c->flows[i].start_ps;
        island_enter(sim, SIM_HOST, c->flows[i].from);
        if (flow->waits_left)
            event_cancel(sim->events, flow->start_event);
    }
    return 0;
}

static void wait_is_over(struct sim *sim, const struct waiting *waiting, int64_t when_ps)
{
    struct flow *flow = &sim->flows[waiting->flow];
    int64_t ready_ps = when_ps + waiting->delay_ps;
    if (ready_ps > flow->ready_ps)
        flow->ready_ps = ready_ps;
    if (--flow->waits_left == 0)
        event_schedule(sim->events, flow->start_event, flow->ready_ps);
}

void waits_received(struct sim *sim, const struct flow *flow, int64_t when_ps)
{
    for (uint32_t i = 0; i < flow->waits_at_receiver; i++)
        wait_is_over(sim, &sim->waits[flow->first_wait + i], when_ps);
}

void waits_completed(struct sim *sim, const struct flow *flow, int64_t when_ps)
{
    for (uint32_t i = 0; i < flow->waits_at_sender; i++)
        wait_is_over(sim, &sim->waits[flow->first_wait + flow->waits_at_receiver + i], when_ps);
}
