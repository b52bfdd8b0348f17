/*
 * PFC frames by priority as DCB reports them: requests are sent, indications are received (struct ieee_pfc,
 * linux include/uapi/linux/dcbnl.h). mlx5 answers from a cache that a full read of the driver statistics
 * refreshes.
 */
#include "collectors/sources/source.h"

#include "lib/kernel/netlink.h"
#include <errno.h>
#include <linux/dcbnl.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <stdlib.h>

struct dcb {
    struct netlink *netlink;
    char netdev[IFNAMSIZ];
    union netlink_request get;
};

struct reading {
    struct ieee_pfc pfc;
    bool found;
};

static int each_answer(const struct nlmsghdr *message, void *data)
{
    struct reading *r = data;
    const struct nlattr *table[DCB_ATTR_IEEE + 1], *ieee[DCB_ATTR_IEEE_PFC + 1];
    netlink_parse(message, sizeof(struct dcbmsg), table, DCB_ATTR_IEEE + 1);
    netlink_parse_nested(table[DCB_ATTR_IEEE], ieee, DCB_ATTR_IEEE_PFC + 1);
    r->found = netlink_struct(ieee[DCB_ATTR_IEEE_PFC], &r->pfc, sizeof r->pfc);
    return MNL_CB_OK;
}

static int query_dcb(struct dcb *s, struct reading *r, struct error *e)
{
    if (netlink_call(s->netlink, &s->get.header, each_answer, r, e) == -1)
        return error_prefix(e, "%s: reading PFC over DCB", s->netdev);
    if (!r->found)
        return error_set(e, "%s: its driver has no PFC in DCB", s->netdev);
    return 0;
}

static int add_columns(struct column_set *columns, struct error *e)
{
    for (int i = 0; i < 2 * IEEE_8021QAZ_MAX_TCS; i++) {
        char name[40];
        snprintf(name, sizeof name, "pfc_prio%d_%s", i % IEEE_8021QAZ_MAX_TCS,
                 i < IEEE_8021QAZ_MAX_TCS ? "requests" : "indications");
        if (column_set_add(columns, name, e) == -1)
            return -1;
    }
    return 0;
}

static void dcb_close(void *state)
{
    struct dcb *s = state;
    if (s)
        netlink_close(s->netlink);
    free(s);
}

static void *dcb_open(const struct target *target, struct column_set *columns, struct error *e)
{
    struct dcb *s = calloc(1, sizeof *s);
    if (!s) {
        error_set(e, "out of memory for DCB");
        return NULL;
    }
    snprintf(s->netdev, sizeof s->netdev, "%s", target->netdev);
    struct nlmsghdr *m = netlink_prepare(&s->get, RTM_GETDCB, 0);
    struct dcbmsg *header = mnl_nlmsg_put_extra_header(m, sizeof *header);
    header->cmd = DCB_CMD_IEEE_GET;
    mnl_attr_put_strz(m, DCB_ATTR_IFNAME, s->netdev);
    struct reading r = {0};
    s->netlink = netlink_open(NETLINK_ROUTE, e);
    if (s->netlink && query_dcb(s, &r, e) == 0 && add_columns(columns, e) == 0)
        return s;
    dcb_close(s);
    return NULL;
}

static enum source_outcome dcb_read(void *state, int64_t *values, struct error *e)
{
    struct dcb *s = state;
    struct reading r = {0};
    if (query_dcb(s, &r, e) == -1)
        return SOURCE_GONE;
    for (int i = 0; i < IEEE_8021QAZ_MAX_TCS; i++) {
        values[i] = source_value(r.pfc.requests[i]);
        values[IEEE_8021QAZ_MAX_TCS + i] = source_value(r.pfc.indications[i]);
    }
    return SOURCE_OK;
}

const struct source_kind source_dcb = {
    .name = "dcb",
    .about = "PFC over DCB",
    .needs_netdev = true,
    .open = dcb_open,
    .read = dcb_read,
    .close = dcb_close,
};
