/* Preloaded: appends to the file SYNC_LOG what the program brings to the disk and what it renames, in order:
 * "sync PATH", "rename PATH". */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static void note(const char *what, const char *path)
{
    char line[PATH_MAX + 16];
    const char *log = getenv("SYNC_LOG");
    int fd =
        log ? (int)syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644) : -1;
    if (fd < 0)
        return;
    int length = snprintf(line, sizeof line, "%s %s\n", what, path);
    if (write(fd, line, (size_t)length) != length)
        abort();
    close(fd);
}

/* The path of an open file or folder. */
static void path_of(int fd, char path[PATH_MAX])
{
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, PATH_MAX - 1);
    path[length > 0 ? length : 0] = '\0';
}

int fsync(int fd)
{
    char path[PATH_MAX];
    path_of(fd, path);
    note("sync", path);
    return (int)syscall(SYS_fsync, fd);
}

static int renamed(int from, const char *old, int to, const char *new, unsigned flags)
{
    char path[PATH_MAX] = "", whole[2 * PATH_MAX];
    if (to != AT_FDCWD)
        path_of(to, path);
    snprintf(whole, sizeof whole, "%s%s%s", path, *path ? "/" : "", new);
    note("rename", whole);
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
    return renamed(AT_FDCWD, old, AT_FDCWD, new, 0);
}
