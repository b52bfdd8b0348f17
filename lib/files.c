#include "lib/files.h"

#include "lib/folder/fresh.h"
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

char *files_join(const char *folder, const char *name)
{
    char *path = NULL;
    size_t length = strlen(folder);
    const char *slash = length && folder[length - 1] == '/' ? "" : "/";
    return asprintf(&path, "%s%s%s", folder, slash, name) < 0 ? NULL : path;
}

bool files_exist(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0;
}

bool files_are_one(const char *path, const char *other)
{
    struct stat a, b;
    return stat(path, &a) == 0 && stat(other, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/* Sizes that stat gives are wrong for sysfs and procfs. */
char *files_read_descriptor(int fd, const char *path, size_t limit, size_t *length, struct error *e)
{
    size_t used = 0, capacity = 4096;
    char *data = malloc(capacity + 1);
    while (data) {
        ssize_t got = read(fd, data + used, capacity - used);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0) {
            error_set_errno(e, errno, "reading %s", path);
            break;
        }
        used += (size_t)got;
        if (used > limit) {
            error_set(e, "reading %s: it is larger than the %zu bytes allowed", path, limit);
            break;
        }
        if (got == 0) {
            data[used] = '\0';
            if (length)
                *length = used;
            return data;
        }
        if (used == capacity) {
            capacity *= 2;
            char *larger = realloc(data, capacity + 1);
            if (!larger) {
                error_set(e, "reading %s: out of memory", path);
                break;
            }
            data = larger;
        }
    }
    if (!data)
        error_set(e, "reading %s: out of memory", path);
    free(data);
    return NULL;
}

/* A shell's <(...) is a pipe too, which has a writer. */
static bool is_named_pipe(int fd)
{
    struct stat status;
    struct statfs system;
    return fstat(fd, &status) == 0 && S_ISFIFO(status.st_mode) && fstatfs(fd, &system) == 0 &&
           system.f_type != PIPEFS_MAGIC;
}

int files_open(const char *path, struct error *e)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0)
        return error_set_errno(e, errno, "opening %s", path);
    if (is_named_pipe(fd)) {
        close(fd);
        return error_set(e, "opening %s: it is a FIFO, and not a regular file", path);
    }
    (void)fcntl(fd, F_SETFL, 0); /* a pipe is waited for */
    return fd;
}

char *files_read(const char *path, size_t limit, size_t *length, struct error *e)
{
    int fd = files_open(path, e);
    if (fd < 0)
        return NULL;
    char *data = files_read_descriptor(fd, path, limit, length, e);
    close(fd);
    return data;
}

char *files_read_line(const char *path, struct error *e)
{
    size_t length;
    char *data = files_read(path, 1 << 16, &length, e);
    if (!data)
        return NULL;
    while (length && isspace((unsigned char)data[length - 1]))
        data[--length] = '\0';
    return data;
}

static int write_all(int fd, const char *data, size_t length)
{
    while (length) {
        ssize_t written = write(fd, data, length);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return -1;
        data += written;
        length -= (size_t)written;
    }
    return 0;
}

int files_write(const char *path, const char *data, struct error *e)
{
    int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return error_set_errno(e, errno, "opening %s for writing", path);
    int result = write_all(fd, data, strlen(data));
    int number = errno;
    if (close(fd) != 0 && result == 0) {
        result = -1;
        number = errno;
    }
    return result == 0 ? 0 : error_set_errno(e, number, "writing \"%.60s\" to %s", data, path);
}

const char *files_split(const char *path, char **folder)
{
    const char *slash = strrchr(path, '/');
    *folder = slash ? strndup(path, slash == path ? 1 : (size_t)(slash - path)) : strdup(".");
    return slash ? slash + 1 : path;
}

static int replace_file(const char *path, const char *data, size_t length, bool soon, struct error *e)
{
    char *parent;
    const char *name = files_split(path, &parent);
    struct folder folder = {.fd = -1};
    struct fresh fresh = {.fd = -1};
    int result = parent ? folder_open(&folder, parent, e) : error_set(e, "writing %s: out of memory", path);
    if (result == 0)
        result = fresh_file(&fresh, &folder, name, e);
    if (result == 0)
        result = folder_fill(fresh.fd, path, data, length, !soon, e);
    fresh.soon = soon;
    if (result == 0)
        result = fresh_publish(&fresh, &folder, name, true, e);
    fresh_remove(&fresh, &folder);
    folder_close(&folder);
    free(parent);
    return result;
}

int files_write_atomic(const char *path, const char *data, size_t length, struct error *e)
{
    return replace_file(path, data, length, false, e);
}

int files_write_soon(const char *path, const char *data, size_t length, struct error *e)
{
    return replace_file(path, data, length, true, e);
}

void files_remove_matching(const char *folder, const char *const *globs)
{
    DIR *entries = opendir(folder);
    for (const struct dirent *entry; entries && (entry = readdir(entries));)
        for (size_t i = 0; globs[i]; i++)
            if (fnmatch(globs[i], entry->d_name, 0) == 0)
                unlinkat(dirfd(entries), entry->d_name, 0);
    if (entries)
        closedir(entries);
}

int files_sync_name(const char *path, struct error *e)
{
    char *parent;
    struct folder folder = {.fd = -1};
    (void)files_split(path, &parent);
    int result = parent ? folder_open(&folder, parent, e) : error_set(e, "writing %s: out of memory", path);
    if (result == 0)
        result = folder_sync(&folder, ".", e);
    folder_close(&folder);
    free(parent);
    return result;
}

int files_publish(const char *from, const char *to, struct error *e)
{
    int fd = open(from, O_RDONLY | O_CLOEXEC | O_NOCTTY), number = fd < 0 || fsync(fd) != 0 ? errno : 0;
    if (fd >= 0)
        close(fd);
    if (number != 0)
        return error_set_errno(e, number, "writing %s", from);
    char *parent;
    struct folder folder = {.fd = -1};
    const char *name = files_split(to, &parent);
    int result = parent ? folder_open(&folder, parent, e) : error_set(e, "writing %s: out of memory", to);
    if (result == 0)
        result = folder_check_place(&folder, name, e);
    if (result == 0 && rename(from, to) != 0)
        result = error_set_errno(e, errno, "moving %s to %s", from, to);
    if (result == 0)
        result = folder_sync(&folder, ".", e);
    folder_close(&folder);
    free(parent);
    return result;
}

/* 1: it was made, 0: it was there. */
static int make_folder(const char *path, struct error *e)
{
    struct stat status;
    if (mkdir(path, 0777) == 0)
        return 1;
    if (errno == EEXIST && stat(path, &status) == 0 && S_ISDIR(status.st_mode))
        return 0;
    return error_set_errno(e, errno == EEXIST ? ENOTDIR : errno, "creating folder %s", path);
}

int files_make_folders(const char *path, struct error *e)
{
    char *copy = strdup(path);
    if (!copy)
        return error_set(e, "creating folder %s: out of memory", path);
    int result = 0;
    for (char *p = copy + 1; result == 0; p++) {
        if (*p != '/' && *p != '\0')
            continue;
        char saved = *p;
        *p = '\0';
        result = make_folder(copy, e);
        if (result > 0)
            result = files_sync_name(copy, e);
        *p = saved;
        if (saved == '\0')
            break;
    }
    free(copy);
    return result;
}

static int remove_entry(const char *path, const struct stat *status, int flag, struct FTW *place)
{
    (void)status;
    (void)flag;
    (void)place;
    return remove(path);
}

int files_remove_tree(const char *path, struct error *e)
{
    if (nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS) == 0 || errno == ENOENT)
        return 0;
    return error_set_errno(e, errno, "removing %s", path);
}
