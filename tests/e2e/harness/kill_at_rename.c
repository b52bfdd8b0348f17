/* Preloaded into harness: SIGKILL at the Nth rename (KILL_AT), before it is done. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static int renames; /* so far */

static int renamed(int from, const char *old, int to, const char *new, unsigned flags)
{
    const char *at = getenv("KILL_AT");
    if (at && ++renames == atoi(at))
        kill(getpid(), SIGKILL);
    return (int)syscall(SYS_renameat2, from, old, to, new, flags);
}

/* NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name): the C library's are reserved */
int renameat2(int from, const char *old, int to, const char *new, unsigned flags)
{
    return renamed(from, old, to, new, flags);
}

/* NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name) */
int renameat(int from, const char *old, int to, const char *new)
{
    return renamed(from, old, to, new, 0);
}

/* NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name) */
int rename(const char *old, const char *new)
{
    return renamed(-100, old, -100, new, 0); /* AT_FDCWD */
}
