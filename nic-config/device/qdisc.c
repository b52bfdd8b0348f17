#include "nic-config/device/qdisc.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/pkt_cls.h>
#include <linux/rtnetlink.h>
#include <linux/tc_act/tc_mirred.h>
#include <math.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

/* ---- parameters of the kernel's RED, computed from the user's values like tc(8) */

/* The kernel's packet schedulers count in ticks of 64 ns (PSCHED_SHIFT 6): 15.625 a microsecond. iproute2 up
 * to 6.1 cuts the time of a packet to whole microseconds, which leaves the table of idle times empty above
 * about 12 Gb/s; newer ones, and this, round ticks up. */
#define TICKS_PER_US 15.625

/* Time that `bytes` take at a rate, in ticks of the kernel's packet schedulers (64 ns,
 * /proc/net/psched). */
static uint32_t red_ticks(int64_t bytes, int64_t rate_bps)
{
    double ticks = ceil((double)bytes * 8e6 / (double)rate_bps * TICKS_PER_US);
    return ticks >= UINT32_MAX ? UINT32_MAX : (uint32_t)ticks;
}

int red_compute(const struct settings_red *red, struct red_parameters *out, struct error *e)
{
    memset(out, 0, sizeof *out);
    if (red_derive(red, red_ticks(red->avpkt_bytes, red->bandwidth_bps), &out->derived, e) != 0)
        return -1;
    out->qopt = (struct tc_red_qopt){.limit = (uint32_t)red->limit_bytes,
                                     .qth_min = (uint32_t)red->min_bytes,
                                     .qth_max = (uint32_t)red->max_bytes,
                                     .Wlog = out->derived.wlog,
                                     .Plog = out->derived.plog,
                                     .Scell_log = out->derived.scell_log,
                                     .flags = red->ecn == 1 ? TC_RED_ECN : 0};
    return 0;
}

bool red_same(const struct settings_red *a, const struct settings_red *b)
{
    if (!a || !b)
        return a == b;
    return a->at == b->at && a->limit_bytes == b->limit_bytes && a->min_bytes == b->min_bytes &&
           a->max_bytes == b->max_bytes && (a->ecn == 1) == (b->ecn == 1) && a->roce_only == b->roce_only &&
           a->shape_bps == b->shape_bps && red_max_p(a->probability) == red_max_p(b->probability) &&
           a->wlog == b->wlog && a->plog == b->plog && a->scell_log == b->scell_log;
}

/* ---- reading */

struct reading {
    int ifindex;
    struct qdisc_state *state;
};

/* The header of a message about our interface, else false. */
static bool about_us(const struct nlmsghdr *message, const struct reading *reading, struct tcmsg *tc)
{
    if (mnl_nlmsg_get_payload_len(message) < sizeof *tc)
        return false;
    memcpy(tc, mnl_nlmsg_get_payload(message), sizeof *tc);
    return tc->tcm_ifindex == reading->ifindex;
}

static void keep_red(const struct nlattr *options, struct qdisc_state *state)
{
    const struct nlattr *table[TCA_RED_FLAGS + 1];
    struct nla_bitfield32 flags;
    netlink_parse_nested(options, table, TCA_RED_FLAGS + 1);
    state->has_red = netlink_struct(table[TCA_RED_PARMS], &state->red, sizeof state->red);
    (void)netlink_u32(table[TCA_RED_MAX_P], &state->red_max_p);
    if (netlink_struct(table[TCA_RED_FLAGS], &flags, sizeof flags))
        state->red.flags = (unsigned char)flags.value;
}

/* The kernel's own qdiscs have no handle. */
static void keep_default(const char *kind, const struct nlattr *options, struct qdisc_state *state)
{
    const struct nlattr *fq_codel[TCA_FQ_CODEL_QUANTUM + 1], *fq[TCA_FQ_QUANTUM + 1];
    if (strcmp(kind, "fq_codel") == 0) {
        netlink_parse_nested(options, fq_codel, TCA_FQ_CODEL_QUANTUM + 1);
        state->default_packets = 1;
        (void)netlink_u32(fq_codel[TCA_FQ_CODEL_QUANTUM], &state->default_quantum);
    } else if (strcmp(kind, "fq") == 0) {
        netlink_parse_nested(options, fq, TCA_FQ_QUANTUM + 1);
        state->default_packets = 2;
        (void)netlink_u32(fq[TCA_FQ_QUANTUM], &state->default_quantum);
    }
}

static int keep_qdisc(const struct nlmsghdr *message, void *data)
{
    const struct reading *reading = data;
    struct qdisc_state *state = reading->state;
    struct tcmsg tc;
    const struct nlattr *table[TCA_MAX + 1];
    if (!about_us(message, reading, &tc))
        return MNL_CB_OK;
    netlink_parse(message, sizeof tc, table, TCA_MAX + 1);
    const char *kind = netlink_string(table[TCA_KIND]);
    if (!kind)
        return MNL_CB_OK;
    if (tc.tcm_parent == TC_H_ROOT) {
        snprintf(state->root_kind, sizeof state->root_kind, "%s", kind);
        state->root_handle = tc.tcm_handle;
    }
    if (tc.tcm_handle == 0)
        keep_default(kind, table[TCA_OPTIONS], state);
    if (tc.tcm_parent == TC_H_INGRESS)
        state->has_ingress = true;
    if (strcmp(kind, "red") == 0 && (tc.tcm_handle == QDISC_ROOT || tc.tcm_handle == QDISC_RED))
        keep_red(table[TCA_OPTIONS], state);
    return MNL_CB_OK;
}

static int keep_class(const struct nlmsghdr *message, void *data)
{
    const struct reading *reading = data;
    struct tcmsg tc;
    struct tc_htb_opt parameters;
    const struct nlattr *table[TCA_MAX + 1], *options[TCA_HTB_MAX + 1];
    if (!about_us(message, reading, &tc) || tc.tcm_handle != (QDISC_ROOT | 0x10))
        return MNL_CB_OK;
    netlink_parse(message, sizeof tc, table, TCA_MAX + 1);
    netlink_parse_nested(table[TCA_OPTIONS], options, TCA_HTB_MAX + 1);
    if (netlink_struct(options[TCA_HTB_PARMS], &parameters, sizeof parameters))
        reading->state->class_rate_Bps = parameters.rate.rate;
    (void)netlink_u64(options[TCA_HTB_RATE64], &reading->state->class_rate_Bps);
    return MNL_CB_OK;
}

/* Handle 0 is the entry of a priority, not a filter. */
static int keep_filter(const struct nlmsghdr *message, void *data)
{
    const struct reading *reading = data;
    struct tcmsg tc;
    const struct nlattr *table[TCA_MAX + 1];
    if (!about_us(message, reading, &tc))
        return MNL_CB_OK;
    netlink_parse(message, sizeof tc, table, TCA_MAX + 1);
    const char *kind = netlink_string(table[TCA_KIND]);
    if (kind && strcmp(kind, "flower") == 0 && tc.tcm_handle != 0)
        reading->state->filters++;
    return MNL_CB_OK;
}

static int dump(struct host *host, struct reading *reading, uint16_t type, uint32_t parent, mnl_cb_t each,
                struct error *e)
{
    union netlink_request r;
    struct netlink *n = host_route(host, e);
    if (!n)
        return -1;
    struct nlmsghdr *m = netlink_prepare(&r, type, NLM_F_DUMP);
    struct tcmsg *tc = mnl_nlmsg_put_extra_header(m, sizeof *tc);
    tc->tcm_family = AF_UNSPEC;
    tc->tcm_ifindex = reading->ifindex;
    tc->tcm_parent = parent;
    return netlink_call(n, m, each, reading, e);
}

int qdisc_read(struct host *host, int ifindex, struct qdisc_state *state, struct error *e)
{
    struct reading reading = {.ifindex = ifindex, .state = state};
    memset(state, 0, sizeof *state);
    if (dump(host, &reading, RTM_GETQDISC, 0, keep_qdisc, e) != 0)
        return error_prefix(e, "reading the qdiscs");
    bool ours = state->root_handle == QDISC_ROOT, htb = ours && strcmp(state->root_kind, "htb") == 0;
    if (htb && dump(host, &reading, RTM_GETTCLASS, 0, keep_class, e) != 0)
        return error_prefix(e, "reading the classes");
    bool filtered = ours && (htb || strcmp(state->root_kind, "prio") == 0);
    if (filtered && dump(host, &reading, RTM_GETTFILTER, QDISC_ROOT, keep_filter, e) != 0)
        return error_prefix(e, "reading the filters");
    if (!ours && state->has_ingress && dump(host, &reading, RTM_GETTFILTER, 0xffff0000u, keep_filter, e) != 0)
        return error_prefix(e, "reading the ingress filters");
    return 0;
}

/* ---- writing */

static struct nlmsghdr *prepare(union netlink_request *r, uint16_t type, uint16_t flags,
                                const struct device *d, uint32_t parent, uint32_t handle, const char *kind)
{
    struct nlmsghdr *m = netlink_prepare(r, type, NLM_F_ACK | flags);
    struct tcmsg *tc = mnl_nlmsg_put_extra_header(m, sizeof *tc);
    tc->tcm_family = AF_UNSPEC;
    tc->tcm_ifindex = d->index;
    tc->tcm_parent = parent;
    tc->tcm_handle = handle;
    if (kind)
        mnl_attr_put_strz(m, TCA_KIND, kind);
    return m;
}

/* ENOENT when creating an object means that the kernel does not support its kind. */
static int send_change(struct host *host, struct nlmsghdr *m, const char *kind, const struct device *d,
                       struct error *e)
{
    struct netlink *n = host_route(host, e);
    char what[96];
    int number = 0;
    snprintf(what, sizeof what, "adding %s to %s", kind, d->name);
    if (!n)
        return -1;
    if (host_change(n, m, NULL, NULL, what, &number, e) == 0)
        return 0;
    if (number == ENOENT)
        return error_prefix(e, "the kernel may lack the module %s_%s (on Rocky in kernel-modules-extra)",
                            m->nlmsg_type == RTM_NEWTFILTER ? "cls" : "sch", kind);
    return -1;
}

#define CREATE (NLM_F_CREATE | NLM_F_EXCL)

int qdisc_add_red(struct host *host, const struct device *d, uint32_t parent, uint32_t handle,
                  const struct red_parameters *red, struct error *e)
{
    union netlink_request r;
    struct nlmsghdr *m = prepare(&r, RTM_NEWQDISC, CREATE, d, parent, handle, "red");
    struct nlattr *options = mnl_attr_nest_start(m, TCA_OPTIONS);
    mnl_attr_put(m, TCA_RED_PARMS, sizeof red->qopt, &red->qopt);
    mnl_attr_put(m, TCA_RED_STAB, sizeof red->derived.stab, red->derived.stab);
    mnl_attr_put_u32(m, TCA_RED_MAX_P, red->derived.max_p);
    mnl_attr_nest_end(m, options);
    return send_change(host, m, "red", d, e);
}

int qdisc_add_prio(struct host *host, const struct device *d, struct error *e)
{
    union netlink_request r;
    const struct tc_prio_qopt prio = {.bands = 2};
    struct nlmsghdr *m = prepare(&r, RTM_NEWQDISC, CREATE, d, TC_H_ROOT, QDISC_ROOT, "prio");
    mnl_attr_put(m, TCA_OPTIONS, sizeof prio, &prio);
    return send_change(host, m, "prio", d, e);
}

int qdisc_add_htb(struct host *host, const struct device *d, uint16_t default_class, struct error *e)
{
    union netlink_request r;
    const struct tc_htb_glob htb = {.version = 3, .rate2quantum = 10, .defcls = default_class};
    struct nlmsghdr *m = prepare(&r, RTM_NEWQDISC, CREATE, d, TC_H_ROOT, QDISC_ROOT, "htb");
    struct nlattr *options = mnl_attr_nest_start(m, TCA_OPTIONS);
    mnl_attr_put(m, TCA_HTB_INIT, sizeof htb, &htb);
    mnl_attr_nest_end(m, options);
    return send_change(host, m, "htb", d, e);
}

/* The burst: a millisecond at the rate, but at least some frames. */
static uint32_t burst_ticks(uint64_t rate_Bps)
{
    int64_t bytes = (int64_t)(rate_Bps / 1000);
    return red_ticks(bytes > 20480 ? bytes : 20480, (int64_t)rate_Bps * 8);
}

int qdisc_add_htb_class(struct host *host, const struct device *d, uint16_t minor, uint64_t rate_Bps,
                        struct error *e)
{
    union netlink_request r;
    struct nlmsghdr *m = prepare(&r, RTM_NEWTCLASS, CREATE, d, QDISC_ROOT, QDISC_ROOT | minor, "htb");
    const struct tc_ratespec rate = {.rate = rate_Bps > UINT32_MAX ? UINT32_MAX : (uint32_t)rate_Bps,
                                     .linklayer = TC_LINKLAYER_ETHERNET};
    const struct tc_htb_opt parameters = {.rate = rate,
                                          .ceil = rate,
                                          .buffer = burst_ticks(rate_Bps),
                                          .cbuffer = burst_ticks(rate_Bps),
                                          .quantum = 60000};
    struct nlattr *options = mnl_attr_nest_start(m, TCA_OPTIONS);
    if (rate_Bps > UINT32_MAX) {
        mnl_attr_put_u64(m, TCA_HTB_RATE64, rate_Bps);
        mnl_attr_put_u64(m, TCA_HTB_CEIL64, rate_Bps);
    }
    mnl_attr_put(m, TCA_HTB_PARMS, sizeof parameters, &parameters);
    mnl_attr_nest_end(m, options);
    return send_change(host, m, "htb", d, e);
}

int qdisc_add_fifo(struct host *host, const struct device *d, struct error *e)
{
    union netlink_request r;
    return send_change(host, prepare(&r, RTM_NEWQDISC, CREATE, d, TC_H_ROOT, QDISC_ROOT, "pfifo"), "pfifo", d,
                       e);
}

int qdisc_add_ingress(struct host *host, const struct device *d, struct error *e)
{
    union netlink_request r;
    return send_change(host, prepare(&r, RTM_NEWQDISC, CREATE, d, TC_H_INGRESS, 0xffff0000u, "ingress"),
                       "ingress", d, e);
}

int qdisc_remove(struct host *host, const struct device *d, uint32_t parent, const char *name,
                 struct error *e)
{
    union netlink_request r;
    char what[96];
    struct netlink *n = host_route(host, e);
    snprintf(what, sizeof what, "removing the %s qdisc of %s", name, d->name);
    return !n ? -1
              : host_change(n, prepare(&r, RTM_DELQDISC, 0, d, parent, 0, NULL), NULL, NULL, what, NULL, e);
}

/* ---- filters */

/* The protocols of filter 0..3, as the classifier sees a frame: outer, and after a VLAN tag. */
static const uint16_t outer[QDISC_ROCE_FILTERS] = {ETH_P_IP, ETH_P_IPV6, ETH_P_8021Q, ETH_P_8021Q};
static const uint16_t inner[QDISC_ROCE_FILTERS] = {0, 0, ETH_P_IP, ETH_P_IPV6};

static void put_roce_match(struct nlmsghdr *m, int number)
{
    mnl_attr_put_u16(m, TCA_FLOWER_KEY_ETH_TYPE, htons(outer[number]));
    if (inner[number] != 0)
        mnl_attr_put_u16(m, TCA_FLOWER_KEY_VLAN_ETH_TYPE, htons(inner[number]));
    mnl_attr_put_u8(m, TCA_FLOWER_KEY_IP_PROTO, IPPROTO_UDP);
    mnl_attr_put_u16(m, TCA_FLOWER_KEY_UDP_DST, htons(ROCE_PORT));
    mnl_attr_put_u16(m, TCA_FLOWER_KEY_UDP_DST_MASK, 0xffff);
}

/* Filters of different protocols need different priorities. */
static struct nlmsghdr *prepare_filter(union netlink_request *r, const struct device *d, uint32_t parent,
                                       int number, uint16_t protocol)
{
    struct nlmsghdr *m = prepare(r, RTM_NEWTFILTER, CREATE, d, parent, 0, "flower");
    struct tcmsg *tc = mnl_nlmsg_get_payload(m);
    tc->tcm_info = TC_H_MAKE((uint32_t)(number + 1) << 16, htons(protocol));
    return m;
}

int qdisc_add_roce_filter(struct host *host, const struct device *d, int number, uint16_t minor,
                          struct error *e)
{
    union netlink_request r;
    struct nlmsghdr *m = prepare_filter(&r, d, QDISC_ROOT, number, outer[number]);
    struct nlattr *options = mnl_attr_nest_start(m, TCA_OPTIONS);
    mnl_attr_put_u32(m, TCA_FLOWER_CLASSID, QDISC_ROOT | minor);
    put_roce_match(m, number);
    mnl_attr_put_u32(m, TCA_FLOWER_FLAGS, TCA_CLS_FLAGS_SKIP_HW);
    mnl_attr_nest_end(m, options);
    return send_change(host, m, "flower", d, e);
}

static void put_redirect(struct nlmsghdr *m, int to_ifindex)
{
    const struct tc_mirred mirred = {
        .action = TC_ACT_STOLEN, .eaction = TCA_EGRESS_REDIR, .ifindex = (uint32_t)to_ifindex};
    struct nlattr *actions = mnl_attr_nest_start(m, TCA_FLOWER_ACT);
    struct nlattr *first = mnl_attr_nest_start(m, 1);
    mnl_attr_put_strz(m, TCA_ACT_KIND, "mirred");
    struct nlattr *options = mnl_attr_nest_start(m, TCA_ACT_OPTIONS);
    mnl_attr_put(m, TCA_MIRRED_PARMS, sizeof mirred, &mirred);
    mnl_attr_nest_end(m, options);
    mnl_attr_nest_end(m, first);
    mnl_attr_nest_end(m, actions);
}

int qdisc_add_redirect(struct host *host, const struct device *d, int number, bool everything, int to_ifindex,
                       struct error *e)
{
    union netlink_request r;
    struct nlmsghdr *m = prepare_filter(&r, d, 0xffff0000u, number, everything ? ETH_P_ALL : outer[number]);
    struct nlattr *options = mnl_attr_nest_start(m, TCA_OPTIONS);
    if (!everything)
        put_roce_match(m, number);
    mnl_attr_put_u32(m, TCA_FLOWER_FLAGS, TCA_CLS_FLAGS_SKIP_HW);
    put_redirect(m, to_ifindex);
    mnl_attr_nest_end(m, options);
    return send_change(host, m, "flower", d, e);
}
