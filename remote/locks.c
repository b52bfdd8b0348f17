#include "remote/locks.h"

#include "remote/places.h"
#include "lib/clock.h"
#include "lib/files.h"
#include "lib/names/letters.h"
#include "lib/output/visible.h"
#include "lib/scratch.h"
#include "lib/text.h"
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define ID_LETTERS 20
#define HOLD_NS    (60 * NS_PER_S) /* for a machine to say whether it is locked */

struct locked {
    int fd;
    const char *name; /* of the host or switch */
};

struct lab_lock {
    const struct lab *lab;
    char id[ID_LETTERS + 1]; /* tells this lock from all others, on machines */
    char holder[400];        /* who holds it, for others */
    struct locked *all;
    size_t count;
};

/* What is locked. */
struct subject {
    const char *kind, *name;  /* "host", "a" */
    const char *domain, *ssh; /* of a guest; of anything else */
    int64_t port;             /* with ssh; 0 or less: ssh's own choice */
};

#define SSH_PORT    22
#define LOCK_FOLDER "/run/harness" /* of root, on the machines of a lab */

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

/* ---- who holds it */

static int say_holder(const struct subject *host, const char *holder, const char *where, struct error *e)
{
    return error_set(e, "%s %s is in use by %s: wait for it or stop it (the lock is %s)", host->kind,
                     host->name, *holder ? holder : "another program", where);
}

static void describe_holder(struct lab_lock *lock, const char *purpose)
{
    char when[32], machine[65] = "";
    time_t now = time(NULL);
    struct tm utc;
    const struct passwd *user = getpwuid(getuid());
    strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
    (void)gethostname(machine, sizeof machine - 1);
    snprintf(lock->holder, sizeof lock->holder,
             "%s (process %d, %.100s of lab %.60s, by %.40s on %s, since %s)", program_invocation_short_name,
             (int)getpid(), purpose, lock->lab->name, user ? user->pw_name : "a user without a name", machine,
             when);
}

static int say_twice(const struct lab_lock *lock, const char *one, const char *other, struct error *e)
{
    return error_set(e,
                     "%s and %s of lab %s are one machine: a lab names each machine once, its NICs in "
                     "\"nics\"; or both hosts say the same \"machine\"",
                     one, other, lock->lab->name);
}

/* ---- on this machine */

/* The holder of a lock of this machine, which may be this lock. */
static int say_locked(const struct lab_lock *lock, int fd, const struct subject *host, const char *path,
                      struct error *e)
{
    struct stat here, other;
    char holder[400];
    for (size_t i = 0; i < lock->count; i++)
        if (fstat(fd, &here) == 0 && fstat(lock->all[i].fd, &other) == 0 && here.st_ino == other.st_ino &&
            here.st_dev == other.st_dev)
            return say_twice(lock, lock->all[i].name, host->name, e);
    ssize_t got = pread(fd, holder, sizeof holder - 1, 0);
    holder[got > 0 ? got : 0] = '\0';
    holder[strcspn(holder, "\n")] = '\0';
    return say_holder(host, holder, path, e);
}

/* The lock lasts until the last process with the descriptor ends: close-on-exec keeps it from child
 * processes. */
static int lock_host(struct lab_lock *lock, const struct subject *host, struct error *e)
{
    struct locked *grown = realloc(lock->all, (lock->count + 1) * sizeof *grown);
    if (!grown)
        return error_set(e, "out of memory");
    lock->all = grown;
    char *path = lock_path(lock->lab, host, e);
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
            say_locked(lock, fd, host, path, e);
        else
            error_set_errno(e, errno, "locking %s", path);
        close(fd);
        fd = -1;
    }
    if (fd >= 0) {
        if (ftruncate(fd, 0) == 0) /* it only tells others who holds the lock */
            dprintf(fd, "%s\n", lock->holder);
        lock->all[lock->count++] = (struct locked){fd, host->name};
    }
    free(path);
    return fd >= 0 ? 0 : -1;
}

struct lab_lock *lab_lock(const struct lab *lab, const char *purpose, struct error *e)
{
    struct lab_lock *lock = calloc(1, sizeof *lock);
    const struct lab_host *host;
    if (!lock) {
        error_set(e, "out of memory");
        return NULL;
    }
    lock->lab = lab;
    letters_random(lock->id, ID_LETTERS);
    describe_holder(lock, purpose);
    for (size_t i = 0; (host = lab_host_at(lab, i)); i++) {
        const struct subject subject = {"host", lab_machine_name(lab, i), host->domain, host->ssh,
                                        host->port};
        if (lab_machine_first(lab, i) == i && lock_host(lock, &subject, e) != 0) {
            lab_unlock(lock);
            return NULL;
        }
    }
    return lock;
}

int lab_lock_switch(struct lab_lock *lock, const struct lab_switch *s, struct error *e)
{
    const struct subject subject = {"switch", s->name, NULL, s->ssh, s->port};
    return lock_host(lock, &subject, e);
}

void lab_unlock(struct lab_lock *lock)
{
    if (!lock)
        return;
    for (size_t i = 0; i < lock->count; i++)
        if (ftruncate(lock->all[i].fd, 0) == 0 || lock->all[i].fd >= 0)
            close(lock->all[i].fd);
    free(lock->all);
    free(lock);
}

/* ---- on the machine that was reached */

/*
 * $1 is the lock's id, $2 the name in the lab, which no two hosts or switches share, $3 the sentence for
 * others. The answer is "locked", or "held" with the holder's lines, or "refused" with the reason. The file
 * may have anything in it, and anything may be in its place: of the file two lines are read, and nothing else
 * is opened. A lock of this id and name is that of an earlier connection of this program, which was cut and
 * which the machine still believes in. The lock ends with standard input, which ends with the connection; a
 * line from time to time lets the machine notice that its other end has lost its power.
 */
static const char hold_script[] =
    "folder=" LOCK_FOLDER " lock=" LOCK_FOLDER "/lock; umask 077\n"
    "refuse() { printf 'refused\\n%s: remove it\\n' \"$1\"; exit 1; }\n"
    "[ $(id -u) = 0 ] || { echo 'the login is not root, and the lab says no \"sudo\": true'; exit 1; }\n"
    "[ ! -L $folder ] || refuse \"$folder there is a link, which may lead anywhere\"\n"
    "mkdir -p $folder 2>&1 || exit 1\n"
    "[ -O $folder ] || refuse \"$folder there belongs to another user than root\"\n"
    "[ ! -L $lock ] || refuse \"$lock there is a link, which may lead anywhere\"\n"
    "[ ! -e $lock ] || [ -f $lock ] || refuse \"$lock there is not a file\"\n"
    "{ exec 9<>$lock; } 2>&1 || exit 1\n"
    "flock -n 9 2>&1 || {\n"
    "  status=$?; [ $status = 1 ] || exit 1\n"
    "  said=$(head -c 1000 $lock | tr -d '\\000' | grep -a . | head -n 2)\n"
    "  read -r id process name <<< \"$said\"\n"
    "  [ \"$id $name\" != \"$1 $2\" ] || [[ ! $process =~ ^[1-9][0-9]+$ ]] || kill -KILL $process\n"
    "  flock -w 0.5 9 || { printf 'held\\n%s\\n' \"$said\"; exit 1; }\n"
    "}\n"
    "printf '%s %s %s\\n%s\\n' \"$1\" $$ \"$2\" \"$3\" > $lock && echo locked && echo &&\n"
    "while read -rt 60 _; [ $? -gt 128 ]; do echo; done\n";

/* Line `n` of an answer, as text for people. */
static void line_at(const struct text *answer, int n, char *out, size_t room)
{
    const char *at = text_string(answer);
    for (; n > 0 && *at; n--)
        at += strcspn(at, "\n") + (at[strcspn(at, "\n")] == '\n');
    visible_copy(out, room, at, strcspn(at, "\n"), VISIBLE_LINE);
}

/* "held": by another, or by this lock for another host of the lab. */
static int say_held(const struct lab_lock *lock, const struct subject *host, const struct text *answer,
                    struct error *e)
{
    char owner[200], holder[400];
    line_at(answer, 1, owner, sizeof owner);
    line_at(answer, 2, holder, sizeof holder);
    size_t length = strlen(lock->id);
    if (strncmp(owner, lock->id, length) != 0 || owner[length] != ' ')
        return say_holder(host, holder, LOCK_FOLDER "/lock there", e);
    const char *process = owner + length + 1, *name = process + strcspn(process, " ");
    return say_twice(lock, name + (*name == ' '), host->name, e);
}

int lab_lock_reached(const struct lab_lock *lock, struct ssh_session *session, const char *kind,
                     const char *name, struct error *e)
{
    const char *const argv[] = {"bash", "-c", hold_script, "harness", lock->id, name, lock->holder, NULL};
    const struct subject host = {.kind = kind, .name = name};
    struct text answer = {0};
    char first[300];
    int held = ssh_hold(session, argv, &answer, HOLD_NS, e);
    line_at(&answer, 0, first, sizeof first);
    if (held >= 0 && strcmp(first, "held") == 0) {
        held = say_held(lock, &host, &answer, e);
    } else if (held >= 0 && strcmp(first, "refused") == 0) {
        line_at(&answer, 1, first, sizeof first);
        held = error_set(e, "%s %s cannot be locked: %s", kind, name, first);
    } else if (held >= 0 && strcmp(first, "locked") != 0) {
        error_set(e, "%s %s is not locked against controllers of other users and machines: %s", kind, name,
                  *first ? first : "nothing was answered");
        held = 0;
    }
    text_free(&answer);
    return held < 0 ? -1 : held == 0;
}
