/*
 * Preloaded into nic-config: what becomes of its Nth change of the machine. FAULT is N:WHAT; WHAT is the name
 * of an error, which the change is answered with instead of being done, or "kill": it is done, then the
 * process dies of SIGKILL. Changes are files below a folder "sys" that are opened for writing, netlink
 * requests that are no queries, and the ioctl that sets a tunable.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/ethtool.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static int changes;        /* so far */
static int last_file = -1; /* the file whose close is followed by SIGKILL */
/* The request that is answered with an error, the socket whose next answer that is, and the error number. */
static struct nlmsghdr refused;
static int refused_on = -1, refused_number;

/* Of this change: 0: do it; -1: do it and die; else the error number. */
static int fault_of_change(void)
{
    static const struct {
        const char *name;
        int number;
    } errors[] = {{"EPERM", EPERM},           {"EIO", EIO}, {"EBUSY", EBUSY}, {"ERANGE", ERANGE},
                  {"EOPNOTSUPP", EOPNOTSUPP}, {"kill", -1}};
    const char *fault = getenv("FAULT");
    char *what;
    if (!fault || ++changes != strtol(fault, &what, 10))
        return 0;
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++)
        if (*what == ':' && strcmp(what + 1, errors[i].name) == 0)
            return errors[i].number;
    abort();
}

static void die_after(int fault)
{
    if (fault < 0)
        raise(SIGKILL);
}

/* NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name): the C library's are reserved */
int open(const char *path, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(arguments, mode_t) : 0;
    va_end(arguments);
    bool change = (flags & O_ACCMODE) != O_RDONLY && strstr(path, "/sys/");
    int fault = change ? fault_of_change() : 0;
    if (fault > 0) {
        errno = fault;
        return -1;
    }
    int fd = (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
    if (fault < 0 && fd < 0)
        die_after(fault);
    if (fault < 0)
        last_file = fd;
    return fd;
}

/* NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name) */
int open64(const char *path, int flags, ...) __attribute__((alias("open")));

int close(int fd)
{
    int result = (int)syscall(SYS_close, fd);
    if (fd == last_file)
        raise(SIGKILL);
    return result;
}

/* A query of rtnetlink is known by its type (linux/rtnetlink.h: NEW, DEL, GET, SET in turn); requests of
 * other families that change something ask for an acknowledgement. */
static bool is_change(int fd, const struct nlmsghdr *request)
{
    int family = 0;
    socklen_t size = sizeof family;
    if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &family, &size) != 0 || family != AF_NETLINK)
        return false;
    size = sizeof family;
    if (getsockopt(fd, SOL_SOCKET, SO_PROTOCOL, &family, &size) != 0)
        return false;
    return family == NETLINK_ROUTE ? (request->nlmsg_type - RTM_BASE) % 4 != 2
                                   : request->nlmsg_flags & NLM_F_ACK;
}

/* NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name) */
ssize_t sendto(int fd, const void *data, size_t size, int flags, const struct sockaddr *to, socklen_t to_size)
{
    bool change = size >= sizeof(struct nlmsghdr) && is_change(fd, data);
    int fault = change ? fault_of_change() : 0;
    if (fault > 0) {
        refused = *(const struct nlmsghdr *)data;
        refused_on = fd;
        refused_number = fault;
        return (ssize_t)size;
    }
    ssize_t result = syscall(SYS_sendto, fd, data, size, flags, to, to_size);
    die_after(fault);
    return result;
}

ssize_t recvmsg(int fd, struct msghdr *message, int flags)
{
    struct {
        struct nlmsghdr header;
        struct nlmsgerr error;
    } answer = {{sizeof answer, NLMSG_ERROR, NLM_F_CAPPED, refused.nlmsg_seq, 0}, {-refused_number, refused}};
    if (fd != refused_on)
        return syscall(SYS_recvmsg, fd, message, flags);
    refused_on = -1;
    memcpy(message->msg_iov[0].iov_base, &answer, sizeof answer);
    *(struct sockaddr_nl *)message->msg_name = (struct sockaddr_nl){.nl_family = AF_NETLINK};
    message->msg_namelen = sizeof(struct sockaddr_nl);
    message->msg_flags = 0;
    return sizeof answer;
}

/* NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name) */
int ioctl(int fd, unsigned long request, ...)
{
    va_list arguments;
    va_start(arguments, request);
    void *argument = va_arg(arguments, void *);
    va_end(arguments);
    uint32_t command = 0;
    if (request == SIOCETHTOOL)
        memcpy(&command, ((struct ifreq *)argument)->ifr_data, sizeof command);
    int fault = command == ETHTOOL_STUNABLE ? fault_of_change() : 0;
    if (fault > 0) {
        errno = fault;
        return -1;
    }
    int result = (int)syscall(SYS_ioctl, fd, request, argument);
    die_after(fault);
    return result;
}
