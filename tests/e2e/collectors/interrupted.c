/*
 * Preloaded: INTERRUPTED netlink dumps, after the first WHOLE ones, are answered as the kernel answers one
 * during which its list changed: entries are missing (here they are NLMSG_NOOP), and the end carries
 * NLM_F_DUMP_INTR.
 */
#include <linux/netlink.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static long dumps; /* so far */

static long number(const char *name)
{
    const char *text = getenv(name);
    return text ? strtol(text, NULL, 10) : 0;
}

static void damage(char *bytes, size_t length)
{
    for (struct nlmsghdr *m = (void *)bytes; NLMSG_OK(m, length); m = NLMSG_NEXT(m, length)) {
        bool now = dumps >= number("WHOLE") && dumps < number("WHOLE") + number("INTERRUPTED");
        if (m->nlmsg_type == NLMSG_DONE) {
            m->nlmsg_flags |= now ? NLM_F_DUMP_INTR : 0;
            dumps++;
        } else if (now && (m->nlmsg_flags & NLM_F_MULTI)) {
            m->nlmsg_type = NLMSG_NOOP;
        }
    }
}

ssize_t recvmsg(int fd, struct msghdr *message, int flags)
{
    ssize_t length = syscall(SYS_recvmsg, fd, message, flags);
    if (length > 0)
        damage(message->msg_iov[0].iov_base, (size_t)length);
    return length;
}
