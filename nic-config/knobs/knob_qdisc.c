/*
 * The quantum of the kernel's own root qdisc (fq_codel, fq; below mq in each queue). It follows from the MTU
 * at which the qdisc was made (linux net/sched/sch_fq_codel.c, sch_fq.c), which is when the interface came up
 * first, or when a RED of ours went; and it cannot be changed. So the qdisc is created again when the current
 * MTU gives the wanted quantum.
 */
#include "nic-config/knobs/knob.h"
#include "nic-config/device/qdisc.h"

#include <string.h>

static enum knob_answer read_quantum(struct device *d, json_t *settings, struct text *place, struct error *e)
{
    struct qdisc_state state;
    if (d->index == 0) {
        error_set(e, "there is no interface %s", d->name);
        return KNOB_MISSING;
    }
    if (qdisc_read(d->host, d->index, &state, e) != 0)
        return KNOB_FAILED;
    bool own = state.root_handle == 0, to_be_made = strcmp(state.root_kind, "noop") == 0;
    if (!own || (state.default_quantum == 0 && !to_be_made)) {
        error_set(e, "its root qdisc is %s, not a default qdisc of the kernel with a quantum",
                  state.root_kind[0] ? state.root_kind : "none");
        return KNOB_MISSING;
    }
    json_object_set_new(settings, "qdisc_quantum", json_integer(state.default_quantum));
    text_add(place, "rtnetlink, qdisc");
    return KNOB_READ;
}

static int read_back(struct device *d, int64_t *quantum, struct error *e)
{
    struct qdisc_state state;
    if (device_refresh(d, e) != 0 || qdisc_read(d->host, d->index, &state, e) != 0)
        return -1;
    *quantum = state.default_quantum;
    return 0;
}

/* Another root qdisc replaces the kernel's; when it is removed, the kernel creates its default again. */
static int make_anew(struct device *d, struct error *e)
{
    if (qdisc_add_fifo(d->host, d, e) != 0)
        return -1;
    return qdisc_remove(d->host, d, TC_H_ROOT, "root", e);
}

static int set_mtu(struct device *d, int64_t mtu, struct error *e)
{
    const struct settings link = {.mtu = mtu};
    return knob_mtu.write(d, NULL, &link, e);
}

static int set_up(struct device *d, bool up, struct error *e)
{
    const struct settings link = {.up = up};
    return knob_up.write(d, NULL, &link, e);
}

/* fq's quantum is two packets of the MTU, fq_codel's one. */
static int make_at_its_mtu(struct device *d, int64_t here, int64_t wanted, struct error *e)
{
    struct qdisc_state state;
    int64_t mtu = d->mtu;
    if (qdisc_read(d->host, d->index, &state, e) != 0)
        return -1;
    if (set_mtu(d, mtu + (wanted - here) / state.default_packets, e) != 0)
        return error_prefix(e, "the MTU at which the qdisc's quantum is %lld", (long long)wanted);
    int result = make_anew(d, e);
    struct error ignored;
    return set_mtu(d, mtu, result == 0 ? e : &ignored) == 0 ? result : -1;
}

static int write_quantum(struct device *d, const struct settings *now, const struct settings *target,
                         struct error *e)
{
    struct error ignored;
    int64_t quantum = now->qdisc_quantum, wanted = target->qdisc_quantum;
    bool down = !d->up; /* an interface that is down keeps its qdisc from when it was up: the kernel creates
                           one only for an interface that is up */
    if (down && set_up(d, true, e) != 0)
        return -1;
    int result = make_anew(d, e);
    if (result == 0)
        result = read_back(d, &quantum, e);
    if (result == 0 && quantum > 0 && quantum != wanted)
        result = make_at_its_mtu(d, quantum, wanted, e);
    if (down && set_up(d, false, result == 0 ? e : &ignored) != 0)
        result = -1;
    return result;
}

/* 0: the kernel has not created one yet. */
static bool same_quantum(const struct settings *now, const struct settings *target)
{
    return now->qdisc_quantum == target->qdisc_quantum || now->qdisc_quantum == 0 ||
           target->qdisc_quantum == 0;
}

static const char *const keys[] = {"qdisc_quantum", NULL};

const struct knob knob_quantum = {.name = "qdisc_quantum",
                                  .keys = keys,
                                  .follows = true,
                                  .flap_ns = FLAP_SOON_NS,
                                  .read = read_quantum,
                                  .write = write_quantum,
                                  .same = same_quantum};
