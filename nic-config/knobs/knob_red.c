/*
 * RED as a congestion point. The tree on an interface (handles 4791: and 4792:, see qdisc.h):
 *
 *   all packets   red
 *   roce_only     prio - :1 everything else, :2 RoCE - red
 *   shape         htb  - :10 at the shaped rate - red, :20 the rest (with roce_only: only RoCE in :10)
 *
 * At ingress the packets are redirected to an ifb interface that nic-config creates; it has the tree without
 * the filters.
 */
#include "lib/document/json_text.h"
#include "nic-config/knobs/knob.h"
#include "lib/process.h"
#include "nic-config/device/qdisc.h"

#include <errno.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#define CLASS_SHAPED 0x10
#define CLASS_REST   0x20
#define BAND_ROCE    2
#define MODPROBE_NS  (10 * NS_PER_S)
/* The rate of the class that is not shaped: the highest that fits tc_ratespec's 32 bits, 32 Gb/s. */
#define REST_BPS 4000000000ULL

/* The ifb interface of an interface. */
static int open_ifb(const struct device *d, struct device *ifb, struct error *e)
{
    *ifb = (struct device){.host = d->host};
    snprintf(ifb->name, sizeof ifb->name, "ifb-%.11s", d->name);
    return device_refresh(ifb, e);
}

/* ---- reading */

struct view {
    struct device ifb;         /* index 0: does not exist */
    struct qdisc_state own;    /* of the interface */
    struct qdisc_state at_ifb; /* of the ifb interface */
    bool ours;                 /* nic-config created a part of it */
};

static int read_view(const struct device *d, struct view *v, struct error *e)
{
    memset(v, 0, sizeof *v);
    if (qdisc_read(d->host, d->index, &v->own, e) != 0 || open_ifb(d, &v->ifb, e) != 0)
        return -1;
    if (v->ifb.index != 0 && qdisc_read(d->host, v->ifb.index, &v->at_ifb, e) != 0)
        return -1;
    v->ours = v->own.root_handle == QDISC_ROOT || v->ifb.index != 0;
    return 0;
}

static void add_bytes(json_t *red, const char *key, uint32_t bytes)
{
    char text[32];
    json_object_set_new(red, key, json_text(units_format(UNIT_BYTES, bytes, text, sizeof text)));
}

/* A tree of ours that is incomplete: it is unequal to any RED that can be requested. */
static json_t *unfinished(bool ingress)
{
    return json_make("{s:s,s:s,s:s,s:s}", "at", ingress ? "ingress" : "egress", "limit", "2B", "min", "1B",
                     "max", "2B");
}

static json_t *describe(const struct view *v)
{
    bool ingress = v->ifb.index != 0;
    const struct qdisc_state *tree = ingress ? &v->at_ifb : &v->own;
    bool bare = strcmp(tree->root_kind, "red") == 0, shaped = tree->class_rate_Bps > 0;
    int filters = v->own.filters;
    /* a redirect of everything is one filter */
    bool roce_only = filters == QDISC_ROCE_FILTERS;
    bool whole = tree->root_handle == QDISC_ROOT && tree->has_red &&
                 (ingress ? v->own.has_ingress && (filters == 1 || roce_only)
                          : bare || roce_only || (shaped && filters == 0));
    if (!whole)
        return unfinished(ingress);
    json_t *red = json_make("{s:s}", "at", ingress ? "ingress" : "egress");
    add_bytes(red, "limit", tree->red.limit);
    add_bytes(red, "min", tree->red.qth_min);
    add_bytes(red, "max", tree->red.qth_max);
    json_object_set_new(red, "probability", json_real(tree->red_max_p / 4294967296.0));
    json_object_set_new(red, "ecn", json_boolean(tree->red.flags & TC_RED_ECN));
    json_object_set_new(red, "roce_only", json_boolean(roce_only));
    json_object_set_new(red, "wlog", json_integer(tree->red.Wlog));
    json_object_set_new(red, "plog", json_integer(tree->red.Plog));
    json_object_set_new(red, "scell_log", json_integer(tree->red.Scell_log));
    if (shaped) {
        char text[32];
        units_format(UNIT_RATE_BPS, (int64_t)tree->class_rate_Bps * 8, text, sizeof text);
        json_object_set_new(red, "shape", json_text(text));
    }
    return red;
}

static bool is_as_written(const struct qdisc_state *tree, const struct settings_red *written)
{
    return written && tree->has_red && tree->red.limit == written->limit_bytes &&
           tree->red.qth_min == written->min_bytes && tree->red.qth_max == written->max_bytes &&
           tree->red.Wlog == written->wlog && tree->red.Scell_log == written->scell_log;
}

/* The kernel does not keep what its parameters were computed from; the journal does. */
static void recall(json_t *red, const struct settings_red *written)
{
    char text[32];
    json_object_set_new(red, "avpkt",
                        json_text(units_format(UNIT_BYTES, written->avpkt_bytes, text, sizeof text)));
    json_object_set_new(red, "bandwidth",
                        json_text(units_format(UNIT_RATE_BPS, written->bandwidth_bps, text, sizeof text)));
    if (written->burst != FIELD_UNSET)
        json_object_set_new(red, "burst", json_integer(written->burst));
}

static enum knob_answer read_red(struct device *d, json_t *settings, struct text *place, struct error *e)
{
    struct view v;
    if (d->index == 0) {
        error_set(e, "there is no interface %s", d->name);
        return KNOB_MISSING;
    }
    if (read_view(d, &v, e) != 0)
        return KNOB_FAILED;
    json_t *red = v.ours ? describe(&v) : json_null();
    if (v.ours && is_as_written(v.ifb.index ? &v.at_ifb : &v.own, d->red_written))
        recall(red, d->red_written);
    json_object_set_new(settings, "red", red);
    text_add(place, "rtnetlink, qdisc");
    return KNOB_READ;
}

/* ---- completing and checking */

/* Fill in the derived values: burst, and the parameters as the kernel stores them. */
static int complete_red(struct device *d, const json_t *wanted, json_t *target, struct error *e)
{
    json_t *red = json_object_get(target, "red"), *document = json_make("{s:O?}", "red", red);
    struct settings settings;
    struct red_parameters parameters;
    if (!json_is_object(json_object_get(wanted, "red"))) {
        json_decref(document);
        return 0;
    }
    if (table_parse(&settings_table, document, &settings, e) != 0) {
        json_decref(document);
        return error_prefix(e, "%s", d->name);
    }
    int result = red_compute(settings.red, &parameters, e);
    if (result == 0) {
        json_object_set_new(red, "burst", json_integer(red_burst(settings.red)));
        json_object_set_new(red, "wlog", json_integer(parameters.qopt.Wlog));
        json_object_set_new(red, "plog", json_integer(parameters.qopt.Plog));
        json_object_set_new(red, "scell_log", json_integer(parameters.qopt.Scell_log));
    } else {
        error_prefix(e, "%s", d->name);
    }
    table_free(&settings_table, &settings);
    json_decref(document);
    return result;
}

static int check_red(struct device *d, const struct settings *now, const struct settings *target,
                     json_t *warnings, struct error *e)
{
    struct view v;
    if (d->index == 0 || !target->red)
        return 0;
    if (read_view(d, &v, e) != 0)
        return -1;
    if (v.ours && !d->red_written && now->red)
        return error_set(e,
                         "%s: it has a RED that nic-config created, but the journal is lost: it could not be "
                         "restored; remove it "
                         "first: tc qdisc del dev %s root",
                         d->name, v.ifb.index ? v.ifb.name : d->name);
    if (!v.ours && target->red->at == RED_AT_EGRESS && v.own.root_handle != 0)
        return error_set(e,
                         "%s: its root qdisc is %s %x:, which nic-config did not create and could not "
                         "restore; remove it "
                         "first: tc qdisc del dev %s root",
                         d->name, v.own.root_kind, v.own.root_handle >> 16, d->name);
    if (!v.ours && target->red->at == RED_AT_INGRESS && v.own.has_ingress)
        return error_set(e,
                         "%s: it already has an ingress qdisc; remove it first: tc qdisc del dev %s ingress",
                         d->name, d->name);
    if (target->red->shape_bps != FIELD_UNSET && target->red->shape_bps % 8 != 0)
        return error_set(e, "%s: red.shape %lld b/s: the kernel uses whole bytes per second", d->name,
                         (long long)target->red->shape_bps);
    if (target->red->ecn == 1 && target->red->roce_only != 1)
        json_array_append_new(
            warnings,
            json_textf("%s: RED applies to all packets, not only RoCE: packets that are not ECN-capable "
                       "are dropped, especially TCP (use roce_only)",
                       d->name));
    return 0;
}

/* ---- writing */

static int link_change(struct device *d, struct nlmsghdr *m, const char *what, struct error *e)
{
    struct netlink *n = host_route(d->host, e);
    return !n ? -1 : host_change(n, m, NULL, NULL, what, NULL, e);
}

static struct nlmsghdr *prepare_link(union netlink_request *r, uint16_t type, uint16_t flags, int index,
                                     unsigned int up)
{
    struct nlmsghdr *m = netlink_prepare(r, type, NLM_F_ACK | flags);
    struct ifinfomsg *link = mnl_nlmsg_put_extra_header(m, sizeof *link);
    link->ifi_family = AF_UNSPEC;
    link->ifi_index = index;
    link->ifi_flags = link->ifi_change = up;
    return m;
}

/* Left to itself, the kernel loads ifb with two interfaces of its own. No harm where there is no modprobe or
 * ifb is built in. */
static void load_ifb(void)
{
    static const char *const command[] = {"modprobe", "-q", "ifb", "numifbs=0", NULL};
    struct text ignored = {0};
    (void)process_run(command, NULL, &ignored, &ignored, MODPROBE_NS, NULL);
    text_free(&ignored);
}

static int make_ifb(struct device *ifb, struct error *e)
{
    load_ifb();
    union netlink_request r;
    char what[64];
    struct nlmsghdr *m = prepare_link(&r, RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, 0, IFF_UP);
    mnl_attr_put_strz(m, IFLA_IFNAME, ifb->name);
    struct nlattr *info = mnl_attr_nest_start(m, IFLA_LINKINFO);
    mnl_attr_put_strz(m, IFLA_INFO_KIND, "ifb");
    mnl_attr_nest_end(m, info);
    snprintf(what, sizeof what, "creating the interface %s", ifb->name);
    if (link_change(ifb, m, what, e) != 0)
        return -1;
    return device_refresh(ifb, e);
}

/* Packets enter the tree through the filters: remove these first. */
static int remove_ours(struct device *d, struct view *v, struct error *e)
{
    union netlink_request r;
    char what[64];
    if (v->own.root_handle == QDISC_ROOT && qdisc_remove(d->host, d, TC_H_ROOT, "root", e) != 0)
        return -1;
    if (v->ifb.index == 0)
        return 0;
    if (v->own.has_ingress && qdisc_remove(d->host, d, TC_H_INGRESS, "ingress", e) != 0)
        return -1;
    snprintf(what, sizeof what, "removing the interface %s", v->ifb.name);
    if (link_change(d, prepare_link(&r, RTM_DELLINK, 0, v->ifb.index, 0), what, e) != 0)
        return -1;
    v->ifb.index = 0;
    return 0;
}

static int add_filters(struct device *d, uint16_t minor, struct error *e)
{
    for (int i = 0; i < QDISC_ROCE_FILTERS; i++)
        if (qdisc_add_roce_filter(d->host, d, i, minor, e) != 0)
            return -1;
    return 0;
}

static int build_shaped(struct device *on, const struct settings_red *red, bool filtered,
                        const struct red_parameters *parameters, struct error *e)
{
    struct host *host = on->host;
    if (qdisc_add_htb(host, on, filtered ? CLASS_REST : CLASS_SHAPED, e) != 0 ||
        qdisc_add_htb_class(host, on, CLASS_SHAPED, (uint64_t)red->shape_bps / 8, e) != 0 ||
        (filtered && qdisc_add_htb_class(host, on, CLASS_REST, REST_BPS, e) != 0) ||
        qdisc_add_red(host, on, QDISC_ROOT | CLASS_SHAPED, QDISC_RED, parameters, e) != 0)
        return -1;
    return filtered ? add_filters(on, CLASS_SHAPED, e) : 0;
}

static int build_tree(struct device *on, const struct settings_red *red, bool filtered, struct error *e)
{
    struct red_parameters parameters;
    if (red_compute(red, &parameters, e) != 0)
        return -1;
    if (red->shape_bps != FIELD_UNSET)
        return build_shaped(on, red, filtered, &parameters, e);
    if (!filtered)
        return qdisc_add_red(on->host, on, TC_H_ROOT, QDISC_ROOT, &parameters, e);
    if (qdisc_add_prio(on->host, on, e) != 0 ||
        qdisc_add_red(on->host, on, QDISC_ROOT | BAND_ROCE, QDISC_RED, &parameters, e) != 0)
        return -1;
    return add_filters(on, BAND_ROCE, e);
}

/* The redirect into the tree is added last, when the tree is complete. */
static int build_ingress(struct device *d, struct device *ifb, const struct settings_red *red,
                         struct error *e)
{
    bool everything = red->roce_only != 1;
    if (make_ifb(ifb, e) != 0 || build_tree(ifb, red, false, e) != 0 || qdisc_add_ingress(d->host, d, e) != 0)
        return -1;
    for (int i = 0; i < (everything ? 1 : QDISC_ROCE_FILTERS); i++)
        if (qdisc_add_redirect(d->host, d, i, everything, ifb->index, e) != 0)
            return -1;
    return 0;
}

static int write_red(struct device *d, const struct settings *now, const struct settings *target,
                     struct error *e)
{
    struct view v;
    (void)now;
    if (read_view(d, &v, e) != 0 || (v.ours && remove_ours(d, &v, e) != 0))
        return -1;
    if (!target->red)
        return 0;
    return target->red->at == RED_AT_INGRESS ? build_ingress(d, &v.ifb, target->red, e)
                                             : build_tree(d, target->red, target->red->roce_only == 1, e);
}

static bool same_red(const struct settings *now, const struct settings *target)
{
    return red_same(now->red, target->red);
}

static const char *const keys[] = {"red", NULL};

const struct knob knob_red = {.name = "red",
                              .keys = keys,
                              .read = read_red,
                              .complete = complete_red,
                              .check = check_red,
                              .write = write_red,
                              .same = same_red};
