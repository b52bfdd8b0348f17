#include "collectors/sampler/watch.h"

#include "lib/kernel/netlink.h"
#include <errno.h>
#include <linux/dcbnl.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

struct watch {
    struct mnl_socket *socket;
    char netdev[IFNAMSIZ];
    char buffer[32768] __attribute__((aligned(NLMSG_ALIGNTO)));
};

static void join(struct watch *w, int group)
{
    /* Without this multicast group the periodic check notices the change later. */
    (void)mnl_socket_setsockopt(w->socket, NETLINK_ADD_MEMBERSHIP, &group, sizeof group);
}

struct watch *watch_open(const char *netdev)
{
    struct watch *w = calloc(1, sizeof *w);
    if (!w)
        return NULL;
    snprintf(w->netdev, sizeof w->netdev, "%s", netdev);
    w->socket = mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (!w->socket || mnl_socket_bind(w->socket, 0, MNL_SOCKET_AUTOPID) == -1) {
        watch_close(w);
        return NULL;
    }
    join(w, RTNLGRP_LINK);
    join(w, RTNLGRP_DCB);
    return w;
}

void watch_close(struct watch *w)
{
    if (w && w->socket)
        mnl_socket_close(w->socket);
    free(w);
}

static bool concerns(const struct watch *w, const struct nlmsghdr *message)
{
    const struct nlattr *table[IFLA_IFNAME + 1];
    const char *name = NULL;
    if (message->nlmsg_type == RTM_NEWLINK || message->nlmsg_type == RTM_DELLINK) {
        netlink_parse(message, sizeof(struct ifinfomsg), table, IFLA_IFNAME + 1);
        name = netlink_string(table[IFLA_IFNAME]);
    } else if (message->nlmsg_type == RTM_SETDCB || message->nlmsg_type == RTM_GETDCB) {
        netlink_parse(message, sizeof(struct dcbmsg), table, DCB_ATTR_IFNAME + 1);
        name = netlink_string(table[DCB_ATTR_IFNAME]);
    }
    return name && strcmp(name, w->netdev) == 0;
}

bool watch_changed(struct watch *w)
{
    bool changed = false;
    for (;;) {
        ssize_t length = recv(mnl_socket_get_fd(w->socket), w->buffer, sizeof w->buffer, MSG_DONTWAIT);
        if (length <= 0)
            /* ENOBUFS: some messages were lost. */
            return changed || (length == -1 && errno == ENOBUFS);
        int left = (int)length;
        for (const struct nlmsghdr *m = (const void *)w->buffer; netlink_whole(m, left);
             m = mnl_nlmsg_next(m, &left))
            changed |= concerns(w, m);
    }
}
