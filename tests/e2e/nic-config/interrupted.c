/*
 * Preloaded into nic-config: the first dump of each kind over rtnetlink was interrupted by a change of what
 * it lists. Its entries are marked so by the kernel (NLM_F_DUMP_INTR), and here they are missing too.
 */
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static bool done[RTM_MAX + 1]; /* kinds whose first dump has ended */
static unsigned int sequence;  /* of the dump that is being interrupted, and its kind */
static uint16_t kind;

static void interrupt(struct nlmsghdr *m)
{
    bool entry = m->nlmsg_type >= RTM_BASE && m->nlmsg_type <= RTM_MAX && (m->nlmsg_flags & NLM_F_MULTI);
    if (entry && !done[m->nlmsg_type]) {
        done[m->nlmsg_type] = true;
        sequence = m->nlmsg_seq;
        kind = m->nlmsg_type;
    }
    if (entry && m->nlmsg_seq == sequence && m->nlmsg_type == kind) {
        m->nlmsg_flags |= NLM_F_DUMP_INTR;
        m->nlmsg_type = NLMSG_NOOP;
    }
}

ssize_t recvmsg(int fd, struct msghdr *message, int flags)
{
    ssize_t length = syscall(SYS_recvmsg, fd, message, flags);
    struct nlmsghdr *m = message->msg_iov[0].iov_base;
    unsigned int left = length > 0 ? (unsigned int)length : 0;
    for (; NLMSG_OK(m, left); m = NLMSG_NEXT(m, left))
        interrupt(m);
    return length;
}
