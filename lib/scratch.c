#include "lib/scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* A fifo would block; O_NONBLOCK means nothing to a regular file. */
int scratch_open(const char *path, int flags, mode_t mode, struct error *e)
{
    struct stat status;
    int fd = open(path, (flags & ~O_TRUNC) | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, mode);
    if (fd < 0)
        return errno == ELOOP
                   ? error_set(e, "opening %s: it is a link, which may lead anywhere: remove it", path)
                   : error_set_errno(e, errno, "opening %s", path);
    if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == geteuid() &&
        status.st_nlink == 1)
        return fd;
    close(fd);
    return error_set(
        e, "opening %s: it is not a regular file of this user alone (owner, hard links): remove it", path);
}

bool scratch_is_own_folder(const char *path)
{
    struct stat status;
    return lstat(path, &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == geteuid() &&
           (status.st_mode & 022) == 0;
}
