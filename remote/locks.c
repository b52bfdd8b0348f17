#include "remote/locks.h"

#include "remote/places.h"
#include "lib/files.h"
#include "lib/scratch.h"
#include "lib/text.h"
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

struct lab_lock {
    int *fds;
    size_t count;
};

/* What is locked. */
struct subject {
    const char *kind, *name;  /* "host", "a" */
    const char *domain, *ssh; /* of a guest; of anything else */
    int64_t port;             /* with ssh; 0 or less: ssh's own choice */
};

#define SSH_PORT 22

/* The lock file of a host: the name is readable, and the same for every lab that names the host. A port tells
 * hosts behind one address apart; `+` is in no other part. */
static char *lock_path(const struct lab *lab, const struct subject *host, struct error *e)
{
    struct text name = {0};
    if (host->domain)
        text_add(&name, "locks/libvirt %s %s", lab->uri, host->domain);
    else
        text_add(&name, "locks/ssh %s", host->ssh);
    for (size_t i = strlen("locks/"); i < name.length; i++)
        if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.@_-", name.data[i]))
            name.data[i] = '_';
    if (!host->domain && host->port > 0 && host->port != SSH_PORT)
        text_add(&name, "+%" PRId64, host->port);
    char *path = NULL;
    if (name.length > NAME_MAX)
        error_set(e,
                  "%s %s: the name of its lock, of the uri and domain or of ssh, has %zu bytes: expected "
                  "at most %d",
                  host->kind, host->name, name.length, NAME_MAX);
    else if (!name.failed)
        path = places_state(name.data, e);
    else
        error_set(e, "out of memory");
    text_free(&name);
    return path;
}

static int say_holder(int fd, const struct subject *host, const char *path, struct error *e)
{
    char holder[400];
    ssize_t got = pread(fd, holder, sizeof holder - 1, 0);
    holder[got > 0 ? got : 0] = '\0';
    holder[strcspn(holder, "\n")] = '\0';
    return error_set(e, "%s %s is in use by %s: wait for it or stop it (the lock is %s)", host->kind,
                     host->name, *holder ? holder : "another program", path);
}

static void write_holder(int fd, const struct lab *lab, const char *purpose)
{
    char line[400], when[32];
    time_t now = time(NULL);
    struct tm local;
    strftime(when, sizeof when, "%Y-%m-%d %H:%M:%S", localtime_r(&now, &local));
    int length = snprintf(line, sizeof line, "%s (process %d, %s of lab %s, since %s)\n",
                          program_invocation_short_name, (int)getpid(), purpose, lab->name, when);
    if (ftruncate(fd, 0) == 0 && length > 0) {
        ssize_t written =
            pwrite(fd, line, (size_t)length < sizeof line ? (size_t)length : sizeof line - 1, 0);
        (void)written; /* it only tells others who holds the lock */
    }
}

/* The lock lasts until the last process with the descriptor ends: close-on-exec keeps it from child
 * processes. */
static int lock_host(const struct lab *lab, const struct subject *host, const char *purpose, struct error *e)
{
    char *path = lock_path(lab, host, e);
    if (!path)
        return -1;
    char *slash = strrchr(path, '/');
    *slash = '\0';
    int result = files_make_folders(path, e);
    *slash = '/';
    int fd = result == 0 ? scratch_open(path, O_RDWR | O_CREAT, 0644, e) : -1;
    if (result == 0 && fd < 0)
        error_prefix(e, "the lock of %s %s", host->kind, host->name);
    if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) != 0) {
        if (errno == EWOULDBLOCK)
            say_holder(fd, host, path, e);
        else
            error_set_errno(e, errno, "locking %s", path);
        close(fd);
        fd = -1;
    }
    if (fd >= 0)
        write_holder(fd, lab, purpose);
    free(path);
    return fd;
}

struct lab_lock *lab_lock(const struct lab *lab, const char *purpose, struct error *e)
{
    struct lab_lock *lock = calloc(1, sizeof *lock);
    const struct lab_host *host;
    if (lock)
        lock->fds = calloc(lab->hosts.count + 1, sizeof *lock->fds);
    if (!lock || !lock->fds) {
        error_set(e, "out of memory");
        free(lock);
        return NULL;
    }
    for (; (host = lab_host_at(lab, lock->count)); lock->count++) {
        const struct subject subject = {"host", host->name, host->domain, host->ssh, host->port};
        lock->fds[lock->count] = lock_host(lab, &subject, purpose, e);
        if (lock->fds[lock->count] < 0) {
            lab_unlock(lock);
            return NULL;
        }
    }
    return lock;
}

int lab_lock_switch(struct lab_lock *lock, const struct lab *lab, const struct lab_switch *s,
                    const char *purpose, struct error *e)
{
    const struct subject subject = {"switch", s->name, NULL, s->ssh, s->port};
    int *grown = realloc(lock->fds, (lock->count + 1) * sizeof *grown);
    if (!grown)
        return error_set(e, "out of memory");
    lock->fds = grown;
    int fd = lock_host(lab, &subject, purpose, e);
    if (fd >= 0)
        lock->fds[lock->count++] = fd;
    return fd >= 0 ? 0 : -1;
}

void lab_unlock(struct lab_lock *lock)
{
    if (!lock)
        return;
    for (size_t i = 0; i < lock->count; i++)
        if (ftruncate(lock->fds[i], 0) == 0 || lock->fds[i] >= 0)
            close(lock->fds[i]);
    free(lock->fds);
    free(lock);
}
