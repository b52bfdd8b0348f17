#include "nic-config/device/dcb.h"

#include <errno.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <sys/socket.h>

static void parse_apps(const struct nlattr *table, struct dcb *dcb)
{
    const struct nlattr *entry;
    if (!table)
        return;
    mnl_attr_for_each_nested(entry, table)
    {
        struct dcb_app app;
        if (mnl_attr_get_type(entry) != DCB_ATTR_IEEE_APP || !netlink_struct(entry, &app, sizeof app))
            continue;
        if (dcb->app_count < DCB_MAX_APPS)
            dcb->apps[dcb->app_count++] = app;
        else
            dcb->more_apps = true;
    }
}

void dcb_parse(const struct nlmsghdr *message, struct dcb *dcb)
{
    const struct nlattr *top[DCB_ATTR_DCBX + 1], *ieee[DCB_ATTR_DCB_BUFFER + 1];
    netlink_parse(message, sizeof(struct dcbmsg), top, DCB_ATTR_DCBX + 1);
    netlink_parse_nested(top[DCB_ATTR_IEEE], ieee, DCB_ATTR_DCB_BUFFER + 1);
    memset(dcb, 0, sizeof *dcb);
    dcb->has_pfc = netlink_struct(ieee[DCB_ATTR_IEEE_PFC], &dcb->pfc, sizeof dcb->pfc);
    dcb->has_ets = netlink_struct(ieee[DCB_ATTR_IEEE_ETS], &dcb->ets, sizeof dcb->ets);
    dcb->has_buffer = netlink_struct(ieee[DCB_ATTR_DCB_BUFFER], &dcb->buffer, sizeof dcb->buffer);
    dcb->has_dcbx = netlink_u8(top[DCB_ATTR_DCBX], &dcb->dcbx);
    dcb->has_peer_pfc = netlink_struct(ieee[DCB_ATTR_IEEE_PEER_PFC], &dcb->peer_pfc, sizeof dcb->peer_pfc);
    parse_apps(ieee[DCB_ATTR_IEEE_APP_TABLE], dcb);
}

static int keep_dcb(const struct nlmsghdr *message, void *data)
{
    dcb_parse(message, data);
    return MNL_CB_OK;
}

static struct nlmsghdr *prepare(union netlink_request *r, uint16_t type, uint8_t command, const char *name)
{
    struct nlmsghdr *m = netlink_prepare(r, type, 0);
    struct dcbmsg *dcb = mnl_nlmsg_put_extra_header(m, sizeof *dcb);
    dcb->dcb_family = AF_UNSPEC;
    dcb->cmd = command;
    mnl_attr_put_strz(m, DCB_ATTR_IFNAME, name);
    return m;
}

int dcb_read(const struct device *d, struct dcb *dcb, int *number, struct error *e)
{
    struct netlink *n = host_route(d->host, e);
    union netlink_request r;
    *number = 0;
    if (!n)
        return -1;
    struct nlmsghdr *m = prepare(&r, RTM_GETDCB, DCB_CMD_IEEE_GET, d->name);
    memset(dcb, 0, sizeof *dcb);
    if (netlink_call(n, m, keep_dcb, dcb, e) == 0)
        return 0;
    *number = netlink_errno(n);
    return error_prefix(e, "reading the DCB settings of %s", d->name);
}

/* The kernel answers a set with the driver's error number as one signed byte in DCB_ATTR_IEEE. */
static int keep_status(const struct nlmsghdr *message, void *data)
{
    const struct nlattr *top[DCB_ATTR_IEEE + 1];
    uint8_t status = 0;
    netlink_parse(message, sizeof(struct dcbmsg), top, DCB_ATTR_IEEE + 1);
    (void)netlink_u8(top[DCB_ATTR_IEEE], &status);
    *(int *)data = -(int8_t)status;
    return MNL_CB_OK;
}

static int send_change(const struct device *d, struct nlmsghdr *m, const char *what, struct error *e)
{
    struct netlink *n = host_route(d->host, e);
    int status = 0;
    if (!n || host_change(n, m, keep_status, &status, what, NULL, e) != 0)
        return -1;
    return status == 0 ? 0 : error_set_errno(e, status, "%s: the driver refused", what);
}

int dcb_write(const struct device *d, uint16_t attribute, const void *data, size_t size, const char *what,
              struct error *e)
{
    union netlink_request r;
    struct nlmsghdr *m = prepare(&r, RTM_SETDCB, DCB_CMD_IEEE_SET, d->name);
    struct nlattr *ieee = mnl_attr_nest_start(m, DCB_ATTR_IEEE);
    mnl_attr_put(m, attribute, size, data);
    mnl_attr_nest_end(m, ieee);
    return send_change(d, m, what, e);
}

int dcb_write_apps(const struct device *d, uint8_t command, const struct dcb_app *apps, size_t count,
                   const char *what, struct error *e)
{
    union netlink_request r;
    struct nlmsghdr *m = prepare(&r, RTM_SETDCB, command, d->name);
    struct nlattr *ieee = mnl_attr_nest_start(m, DCB_ATTR_IEEE);
    struct nlattr *table = mnl_attr_nest_start(m, DCB_ATTR_IEEE_APP_TABLE);
    for (size_t i = 0; i < count; i++)
        mnl_attr_put(m, DCB_ATTR_IEEE_APP, sizeof apps[i], &apps[i]);
    mnl_attr_nest_end(m, table);
    mnl_attr_nest_end(m, ieee);
    return send_change(d, m, what, e);
}
