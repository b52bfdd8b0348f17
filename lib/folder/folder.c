#include "lib/folder/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char *folder_path_of(const struct folder *f, const char *name)
{
    char *path = NULL;
    return asprintf(&path, "%s/%s", f->path, name) < 0 ? NULL : path;
}

int folder_open(struct folder *f, const char *path, struct error *e)
{
    *f = (struct folder){open(*path ? path : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), strdup(path)};
    if (f->fd >= 0 && f->path)
        return 0;
    return error_set_errno(e, f->fd < 0 ? errno : ENOMEM, "opening the folder %s", path);
}

int folder_open_in(struct folder *f, const struct folder *in, const char *name, bool make, struct error *e)
{
    *f = (struct folder){-1, folder_path_of(in, name)};
    if (!f->path)
        return error_set(e, "opening the folder %s: out of memory", name);
    if (make && mkdirat(in->fd, name, 0777) != 0 && errno != EEXIST)
        return error_set_errno(e, errno, "creating the folder %s", f->path);
    f->fd = openat(in->fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (f->fd >= 0)
        return 0;
    if (errno == ELOOP || errno == ENOTDIR)
        return error_set(e, "%s is not a folder (a link is not followed)", f->path);
    return error_set_errno(e, errno, "opening the folder %s", f->path);
}

void folder_close(struct folder *f)
{
    if (f->fd >= 0)
        close(f->fd);
    free(f->path);
    *f = (struct folder){.fd = -1};
}

int folder_open_file(const struct folder *f, const char *name, struct error *e)
{
    struct stat status = {0};
    int fd = openat(f->fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    int number = errno;
    if (fd >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode))
        return fd;
    if (fd >= 0)
        close(fd);
    if (fd >= 0 || number == ELOOP || number == ENXIO)
        error_set(e, "%s/%s is not a regular file (a link is not followed)", f->path, name);
    else
        error_set_errno(e, number, "opening %s/%s", f->path, name);
    errno = fd >= 0 ? EINVAL : number;
    return -1;
}

bool folder_has(const struct folder *f, const char *name)
{
    struct stat status;
    return fstatat(f->fd, name, &status, AT_SYMLINK_NOFOLLOW) == 0;
}

int folder_check_place(const struct folder *f, const char *name, struct error *e)
{
    struct stat status;
    if (fstatat(f->fd, name, &status, AT_SYMLINK_NOFOLLOW) != 0 || S_ISREG(status.st_mode) ||
        S_ISLNK(status.st_mode))
        return 0;
    return error_set(e, "%s/%s is a %s, which is not replaced: expected the name of a file", f->path, name,
                     S_ISDIR(status.st_mode)    ? "folder"
                     : S_ISFIFO(status.st_mode) ? "FIFO"
                     : S_ISSOCK(status.st_mode) ? "socket"
                                                : "device");
}

static int write_all(int fd, const char *data, size_t length)
{
    while (length) {
        ssize_t written = write(fd, data, length);
        if (written < 0 && errno != EINTR)
            return -1;
        data += written > 0 ? written : 0;
        length -= written > 0 ? (size_t)written : 0;
    }
    return 0;
}

int folder_fill(int fd, const char *path, const char *data, size_t length, bool sync, struct error *e)
{
    return write_all(fd, data, length) == 0 && (!sync || fsync(fd) == 0)
               ? 0
               : error_set_errno(e, errno, "writing %s", path);
}

int folder_create(const struct folder *f, const char *name, const char *data, size_t length, struct error *e)
{
    char *path = folder_path_of(f, name);
    if (!path)
        return error_set(e, "writing %s: out of memory", name);
    int fd = openat(f->fd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    int result = fd < 0 ? error_set_errno(e, errno, "creating %s", path)
                        : folder_fill(fd, path, data, length, true, e);
    if (fd >= 0 && close(fd) != 0 && result == 0)
        result = error_set_errno(e, errno, "writing %s", path);
    if (fd >= 0 && result != 0)
        unlinkat(f->fd, name, 0);
    free(path);
    return result;
}

/* -1: the name is not that of a regular file, and there is nothing to write. */
static int open_to_sync(const struct folder *f, const char *name)
{
    struct stat status;
    int fd = openat(f->fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd >= 0 && (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode))) {
        close(fd);
        return -1;
    }
    return fd;
}

static int is_plain_name(const struct dirent *entry)
{
    return entry->d_name[0] != '.' && (entry->d_type == DT_REG || entry->d_type == DT_UNKNOWN);
}

/* First all are begun, then all are waited for: the file system has one transaction for them, where files
 * that are written one by one would have one each. What cannot be begun, fsync says. */
int folder_sync_files(const struct folder *f, struct error *e)
{
    struct dirent **names = NULL;
    int count = scandirat(f->fd, ".", &names, is_plain_name, NULL), result = 0;
    if (count < 0)
        return error_set_errno(e, errno, "reading the folder %s", f->path);
    for (int wait = 0; wait < 2; wait++)
        for (int i = 0; i < count && result == 0; i++) {
            int fd = open_to_sync(f, names[i]->d_name);
            if (fd >= 0 && !wait)
                (void)sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WRITE);
            else if (fd >= 0 && fsync(fd) != 0)
                result = error_set_errno(e, errno, "writing %s/%s", f->path, names[i]->d_name);
            if (fd >= 0)
                close(fd);
        }
    for (int i = 0; i < count; i++)
        free(names[i]);
    free(names);
    return result;
}

int folder_sync(const struct folder *f, const char *which, struct error *e)
{
    int fd = openat(f->fd, which, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int number = fd < 0 || fsync(fd) != 0 ? errno : 0;
    if (fd >= 0)
        close(fd);
    return number == 0 || number == EINVAL || number == EACCES
               ? 0
               : error_set_errno(e, number, "writing the folder %s/%s", f->path, which);
}
