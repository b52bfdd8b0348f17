/*
 * Preloaded into nic-config: the interface PORT_NAME is an mlx5 port (tests/kmod/mlx5_port.h) for DCB netlink
 * and ethtool's global pause; everything else goes to the kernel. The port is kept in the file PORT_STATE,
 * which the first process creates from the other variables; each write is a line in PORT_STATE.log, with the
 * error number that it was answered with.
 *
 *   PORT_PAUSE=1      global pause is on at first
 *   PORT_EXCLUSIVE=1  a write of pause turns PFC off
 *   PORT_SPEED=25000  as the driver sees it, in Mb/s
 *   PORT_DEAF=1       PFC writes are answered with 0 and not done
 *   PORT_PEER=mlx1    this end of the cable goes down for 0.2 s when the PFC mask changes
 */
#include "tests/kmod/mlx5_port.h"

#include <fcntl.h>
#include <libmnl/libmnl.h>
#include <linux/dcbnl.h>
#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The next answer on a socket; length 0: none. */
static union {
    struct nlmsghdr header;
    char bytes[4096];
} answer;
static size_t answer_length;
static int answer_on = -1;

/* ---- the port's file */

static unsigned int number_of(const char *variable, unsigned int otherwise)
{
    const char *value = getenv(variable);
    return value ? (unsigned int)strtoul(value, NULL, 10) : otherwise;
}

static void load(struct mlx5_port *port)
{
    const char *path = getenv("PORT_STATE");
    FILE *file = fopen(path ? path : "/dev/null", "re");
    if (!file || fread(port, sizeof *port, 1, file) != 1) {
        unsigned int pause = number_of("PORT_PAUSE", 0);
        *port = (struct mlx5_port){.pause_rx = pause,
                                   .pause_tx = pause,
                                   .cable_m = 7,
                                   .size = {131072},
                                   .total = 262016,
                                   .speed_Mbps = number_of("PORT_SPEED", 25000),
                                   .max_mtu = 65535,
                                   .exclusive = number_of("PORT_EXCLUSIVE", 0)};
    }
    if (file)
        fclose(file);
    char *line = NULL, name[64];
    size_t size = 0;
    snprintf(name, sizeof name, "/sys/class/net/%s/mtu", getenv("PORT_NAME"));
    file = fopen(name, "re");
    port->mtu = file && getline(&line, &size, file) > 0 ? (unsigned int)strtoul(line, NULL, 10) : 1500;
    if (file)
        fclose(file);
    free(line);
}

/* At once, so that a kill leaves the port before or after a write, as it would leave the hardware. */
static void store(const struct mlx5_port *port)
{
    char path[512];
    snprintf(path, sizeof path, "%s.new", getenv("PORT_STATE"));
    FILE *file = fopen(path, "we");
    if (!file || fwrite(port, sizeof *port, 1, file) != 1 || fclose(file) != 0 ||
        rename(path, getenv("PORT_STATE")) != 0)
        abort();
}

static void note(const char *what, int result)
{
    char path[512];
    snprintf(path, sizeof path, "%s.log", getenv("PORT_STATE"));
    FILE *file = fopen(path, "ae");
    if (!file || fprintf(file, "%s -> %d\n", what, result) < 0 || fclose(file) != 0)
        abort();
}

/* ---- the cable */

static void set_up(const char *name, bool up)
{
    struct ifreq request = {0};
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    snprintf(request.ifr_name, sizeof request.ifr_name, "%s", name);
    if (fd < 0 || ioctl(fd, SIOCGIFFLAGS, &request) != 0)
        abort();
    request.ifr_flags = (short)(up ? request.ifr_flags | IFF_UP : request.ifr_flags & ~IFF_UP);
    if (ioctl(fd, SIOCSIFFLAGS, &request) != 0)
        abort();
    close(fd);
}

/* The driver toggles the link when the mask changes. */
static void flap(void)
{
    const char *peer = getenv("PORT_PEER");
    if (!peer)
        return;
    set_up(peer, false);
    if (fork() != 0)
        return;
    usleep(200000);
    set_up(peer, true);
    _exit(0);
}

/* ---- DCB */

static const struct nlattr *find(const struct nlmsghdr *message, size_t header, uint16_t type)
{
    const struct nlattr *a;
    mnl_attr_for_each(a, message, (unsigned int)header) if (mnl_attr_get_type(a) == type) return a;
    return NULL;
}

static const struct nlattr *find_nested(const struct nlattr *nest, uint16_t type)
{
    const struct nlattr *a;
    if (nest)
        mnl_attr_for_each_nested(a, nest) if (mnl_attr_get_type(a) == type) return a;
    return NULL;
}

static struct nlmsghdr *begin(const struct nlmsghdr *request, uint16_t type)
{
    memset(&answer, 0, sizeof answer);
    struct nlmsghdr *m = mnl_nlmsg_put_header(answer.bytes);
    m->nlmsg_type = type;
    m->nlmsg_seq = request->nlmsg_seq;
    return m;
}

static struct nlmsghdr *begin_dcb(const struct nlmsghdr *request, uint16_t type)
{
    struct nlmsghdr *m = begin(request, type);
    const struct dcbmsg *asked = mnl_nlmsg_get_payload(request);
    *(struct dcbmsg *)mnl_nlmsg_put_extra_header(m, sizeof(struct dcbmsg)) = *asked;
    return m;
}

static void answer_dcb(const struct nlmsghdr *request)
{
    struct mlx5_port port;
    struct ieee_pfc pfc = {.pfc_cap = 8};
    struct dcbnl_buffer buffer = {0};
    load(&port);
    pfc.pfc_en = (uint8_t)port.pfc;
    pfc.delay = (uint16_t)port.cable_m;
    buffer.total_size = port.total;
    for (int i = 0; i < MLX5_PORT_BUFFERS; i++) {
        buffer.prio2buffer[i] = (uint8_t)port.buffer[i];
        buffer.buffer_size[i] = port.size[i];
    }
    struct nlmsghdr *m = begin_dcb(request, RTM_GETDCB);
    struct nlattr *ieee = mnl_attr_nest_start(m, DCB_ATTR_IEEE);
    mnl_attr_put(m, DCB_ATTR_IEEE_PFC, sizeof pfc, &pfc);
    mnl_attr_put(m, DCB_ATTR_DCB_BUFFER, sizeof buffer, &buffer);
    mnl_attr_nest_end(m, ieee);
    answer_length = m->nlmsg_len;
}

static int write_pfc(const struct ieee_pfc *pfc)
{
    struct mlx5_port port;
    char what[64];
    load(&port);
    bool changes = pfc->pfc_en != port.pfc;
    int result = getenv("PORT_DEAF") ? 0 : mlx5_port_set_pfc(&port, pfc->pfc_en, pfc->delay);
    store(&port);
    snprintf(what, sizeof what, "pfc 0x%02x cable %u", pfc->pfc_en, pfc->delay);
    note(what, result);
    if (changes)
        flap();
    return result;
}

static int write_buffers(const struct dcbnl_buffer *buffer)
{
    struct mlx5_port port;
    unsigned int map[MLX5_PORT_BUFFERS];
    load(&port);
    for (int i = 0; i < MLX5_PORT_BUFFERS; i++)
        map[i] = buffer->prio2buffer[i];
    int result = mlx5_port_set_buffers(&port, map, buffer->buffer_size);
    store(&port);
    note("buffers", result);
    return result;
}

/* The kernel answers with the driver's error as a signed byte. */
static void change_dcb(const struct nlmsghdr *request)
{
    const struct nlattr *ieee = find(request, sizeof(struct dcbmsg), DCB_ATTR_IEEE);
    const struct nlattr *pfc = find_nested(ieee, DCB_ATTR_IEEE_PFC),
                        *buffer = find_nested(ieee, DCB_ATTR_DCB_BUFFER);
    int result = pfc      ? write_pfc(mnl_attr_get_payload(pfc))
                 : buffer ? write_buffers(mnl_attr_get_payload(buffer))
                          : 95; /* EOPNOTSUPP */
    struct nlmsghdr *m = begin_dcb(request, RTM_SETDCB);
    mnl_attr_put_u8(m, DCB_ATTR_IEEE, (uint8_t)-result);
    answer_length = m->nlmsg_len;
}

/* ---- global pause */

static void answer_pause(const struct nlmsghdr *request)
{
    struct mlx5_port port;
    load(&port);
    struct nlmsghdr *m = begin(request, request->nlmsg_type);
    struct genlmsghdr *generic = mnl_nlmsg_put_extra_header(m, sizeof *generic);
    generic->cmd = ETHTOOL_MSG_PAUSE_GET_REPLY;
    mnl_attr_put_u8(m, ETHTOOL_A_PAUSE_AUTONEG, 0);
    mnl_attr_put_u8(m, ETHTOOL_A_PAUSE_RX, port.pause_rx != 0);
    mnl_attr_put_u8(m, ETHTOOL_A_PAUSE_TX, port.pause_tx != 0);
    answer_length = m->nlmsg_len;
}

static void change_pause(const struct nlmsghdr *request)
{
    const size_t header = sizeof(struct genlmsghdr);
    const struct nlattr *rx = find(request, header, ETHTOOL_A_PAUSE_RX),
                        *tx = find(request, header, ETHTOOL_A_PAUSE_TX);
    struct mlx5_port port;
    char what[64];
    load(&port);
    mlx5_port_set_pause(&port, rx ? mnl_attr_get_u8(rx) : port.pause_rx,
                        tx ? mnl_attr_get_u8(tx) : port.pause_tx);
    store(&port);
    snprintf(what, sizeof what, "pause rx %u tx %u", port.pause_rx, port.pause_tx);
    note(what, 0);
    struct nlmsghdr *m = begin(request, NLMSG_ERROR);
    struct nlmsgerr *done = mnl_nlmsg_put_extra_header(m, sizeof *done);
    done->msg = *request;
    m->nlmsg_flags = NLM_F_CAPPED;
    answer_length = m->nlmsg_len;
}

/* ---- the socket */

static int protocol_of(int fd)
{
    int value = 0;
    socklen_t size = sizeof value;
    if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &value, &size) != 0 || value != AF_NETLINK)
        return -1;
    size = sizeof value;
    return getsockopt(fd, SOL_SOCKET, SO_PROTOCOL, &value, &size) == 0 ? value : -1;
}

static bool is_port(const struct nlattr *name)
{
    const char *ours = getenv("PORT_NAME");
    return name && ours && strcmp(mnl_attr_get_str(name), ours) == 0;
}

/* Whether the request is about the port, and was answered. */
static bool take(int fd, const struct nlmsghdr *request)
{
    int protocol = protocol_of(fd);
    if (protocol == NETLINK_ROUTE && request->nlmsg_type == RTM_GETDCB &&
        is_port(find(request, sizeof(struct dcbmsg), DCB_ATTR_IFNAME)))
        answer_dcb(request);
    else if (protocol == NETLINK_ROUTE && request->nlmsg_type == RTM_SETDCB &&
             is_port(find(request, sizeof(struct dcbmsg), DCB_ATTR_IFNAME)))
        change_dcb(request);
    else if (protocol == NETLINK_GENERIC && request->nlmsg_type > GENL_ID_CTRL &&
             is_port(find_nested(find(request, sizeof(struct genlmsghdr), ETHTOOL_A_PAUSE_HEADER),
                                 ETHTOOL_A_HEADER_DEV_NAME))) {
        const struct genlmsghdr *generic = mnl_nlmsg_get_payload(request);
        if (generic->cmd == ETHTOOL_MSG_PAUSE_GET)
            answer_pause(request);
        else if (generic->cmd == ETHTOOL_MSG_PAUSE_SET)
            change_pause(request);
        else
            return false;
    } else
        return false;
    answer_on = fd;
    return true;
}

/* NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name): the C library's are reserved */
ssize_t sendto(int fd, const void *data, size_t size, int flags, const struct sockaddr *to, socklen_t to_size)
{
    if (size >= sizeof(struct nlmsghdr) && take(fd, data))
        return (ssize_t)size;
    return syscall(SYS_sendto, fd, data, size, flags, to, to_size);
}

ssize_t recvmsg(int fd, struct msghdr *message, int flags)
{
    if (fd != answer_on)
        return syscall(SYS_recvmsg, fd, message, flags);
    answer_on = -1;
    memcpy(message->msg_iov[0].iov_base, answer.bytes, answer_length);
    *(struct sockaddr_nl *)message->msg_name = (struct sockaddr_nl){.nl_family = AF_NETLINK};
    message->msg_namelen = sizeof(struct sockaddr_nl);
    message->msg_flags = 0;
    return (ssize_t)answer_length;
}
