#include "remote/ssh.h"

#include "lib/clock.h"
#include "lib/files.h"
#include "lib/scratch.h"
#include "lib/words.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* sshd takes at most 10 sessions of a connection, unless it is told otherwise (MaxSessions in
 * sshd_config(5)): three are left for ssh_hold and for commands. */
#define STARTED_MOST 7

#define RETRY_NS   (5 * NS_PER_S)  /* time limit for connecting to a host that is not a guest */
#define MORE_NS    (30 * NS_PER_S) /* time limit for a further connection to a host that has answered */
#define RELEASE_NS (2 * NS_PER_S)  /* time limit for what ssh_hold started to end */
#define PUT_LIMIT  (64u << 20)     /* bytes in a file that is put on a host: programs are a few hundred KiB */

struct ssh_session {
    char *name;
    struct ssh_target target;
    char folder[64];           /* folder of the control socket, used only by this process */
    char socket[80];           /* short: a socket's path has 108 bytes at most */
    struct process master;     /* the connection */
    struct process holder;     /* ssh_hold's; its pid is -1: there is none */
    int held;                  /* the folder, locked: shows that it is in use */
    char *why;                 /* how the connection ended, once it has */
    int running[STARTED_MOST]; /* of what ssh_start started over it: pidfds; -1: free */
    struct ssh_session *more;  /* a further connection, for what has no room in this one; NULL: none yet */
};

/* ---- ssh's own arguments */

struct arguments {
    char **items;
    size_t count;
    bool failed;
};

static void add_argument(struct arguments *a, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add_argument(struct arguments *a, const char *format, ...)
{
    char *item = NULL;
    va_list values;
    va_start(values, format);
    if (vasprintf(&item, format, values) < 0)
        item = NULL;
    va_end(values);
    char **items = realloc(a->items, (a->count + 2) * sizeof *items);
    if (items)
        a->items = items;
    if (!items || !item) {
        a->failed = true;
        free(item);
        return;
    }
    a->items[a->count++] = item;
    a->items[a->count] = NULL;
}

void ssh_arguments_free(char **arguments)
{
    for (size_t i = 0; arguments && arguments[i]; i++)
        free(arguments[i]);
    free(arguments);
}

/* A path in an option of ssh, with tokens (%h) and blanks escaped. */
static void path_option(struct arguments *a, const char *option, const char *path)
{
    struct text escaped = {0};
    for (const char *c = path; *c; c++)
        text_add(&escaped, *c == '%' ? "%%%%" : *c == '"' || *c == '\\' ? "\\%c" : "%c", *c);
    add_argument(a, "-o");
    add_argument(a, "%s=\"%s\"", option, text_string(&escaped));
    text_free(&escaped);
}

/* Not ProxyJump: it would use this ssh's configuration, which is empty for guests, but the user's
 * configuration must apply to the jump host. */
char *ssh_proxy_command(const char *jump)
{
    struct text line = {0}, place = {0}, escaped = {0};
    text_add(&place, "ssh://%s", jump);
    text_add(&line, "ssh -oBatchMode=yes -oLogLevel=ERROR -W '[%%h]:%%p' -- ");
    shell_quote(&escaped, text_string(&place));
    for (const char *c = text_string(&escaped); *c; c++) /* ssh expands tokens in the whole value */
        text_add(&line, *c == '%' ? "%%%%" : "%c", *c);
    text_free(&place);
    text_free(&escaped);
    return text_take(&line);
}

static void trust_options(struct arguments *a, const struct ssh_target *t)
{
    if (t->identity) {
        path_option(a, "IdentityFile", t->identity);
        add_argument(a, "-oIdentitiesOnly=yes");
    }
    if (t->known_hosts) {
        path_option(a, "UserKnownHostsFile", t->known_hosts);
        add_argument(a, "-oGlobalKnownHostsFile=/dev/null");
        add_argument(a, "-oStrictHostKeyChecking=yes");
        add_argument(a, "-oUpdateHostKeys=no");
    }
    if (t->key_alias)
        add_argument(a, "-oHostKeyAlias=%s", t->key_alias);
}

static struct arguments arguments_of(const struct ssh_target *t, bool terminal, const char *log_level)
{
    struct arguments a = {0};
    add_argument(&a, "ssh");
    if (t->own_config)
        add_argument(&a, "-Fnone");
    trust_options(&a, t);
    if (t->user)
        add_argument(&a, "-oUser=%s", t->user);
    if (t->port)
        add_argument(&a, "-oPort=%lld", (long long)t->port);
    char *proxy = t->jump ? ssh_proxy_command(t->jump) : NULL;
    if (t->jump)
        add_argument(&a, "-oProxyCommand=%s", proxy ? proxy : "false");
    free(proxy);
    add_argument(&a, terminal ? "-t" : "-T");
    if (!terminal)
        add_argument(&a, "-oBatchMode=yes");
    add_argument(&a, "-oLogLevel=%s", log_level);
    return a;
}

char **ssh_arguments(const struct ssh_target *target, bool terminal)
{
    struct arguments a = arguments_of(target, terminal, "ERROR");
    add_argument(&a, "--");
    add_argument(&a, "%s", target->host);
    if (!a.failed)
        return a.items;
    ssh_arguments_free(a.items);
    return NULL;
}

void ssh_target_free(struct ssh_target *t)
{
    char *const owned[] = {t->host, t->user, t->identity, t->known_hosts, t->key_alias, t->jump};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++)
        free(owned[i]);
    *t = (struct ssh_target){0};
}

/* A copy; every string of it is owned. Returns false when memory ran out. */
static bool copy_target(struct ssh_target *to, const struct ssh_target *from)
{
    const char *const sources[] = {from->host,        from->user,      from->identity,
                                   from->known_hosts, from->key_alias, from->jump};
    char **const copies[] = {&to->host,        &to->user,      &to->identity,
                             &to->known_hosts, &to->key_alias, &to->jump};
    bool whole = true;
    *to = *from;
    for (size_t i = 0; i < sizeof copies / sizeof *copies; i++) {
        *copies[i] = sources[i] ? strdup(sources[i]) : NULL;
        whole = whole && (!sources[i] || *copies[i]);
    }
    return whole;
}

/* ---- the connection */

/* The last line that a program printed on stderr, without control characters, as it comes from another
 * machine. */
static void last_line(const struct text *said, char *line, size_t size)
{
    const char *start = text_string(said), *end = start + strlen(start);
    while (end > start && (end[-1] == '\n' || end[-1] == '\r'))
        end--;
    const char *from = end;
    while (from > start && from[-1] != '\n')
        from--;
    size_t n = 0;
    for (; from < end && n + 1 < size; from++)
        if ((unsigned char)*from >= 0x20 && *from != 0x7f)
            line[n++] = *from;
    line[n] = '\0';
}

/* What the master has printed on stderr so far. */
static void read_said(const struct process *p, struct text *said)
{
    char buffer[4096];
    ssize_t got;
    while (p->err >= 0 && said->length < 65536 && (got = read(p->err, buffer, sizeof buffer)) > 0)
        text_add_bytes(said, buffer, (size_t)got);
}

static void note_end(struct ssh_session *s, int status)
{
    struct text said = {0}, why = {0};
    char line[400];
    read_said(&s->master, &said);
    last_line(&said, line, sizeof line);
    if (*line)
        text_add(&why, "%s", line);
    else
        process_describe(status, &why);
    s->why = text_take(&why);
    text_free(&said);
}

bool ssh_alive(struct ssh_session *s, struct error *e)
{
    int status;
    if (!s->why) {
        int ended = process_wait(&s->master, 0, &status, NULL);
        if (ended == 0)
            return !s->more || ssh_alive(s->more, e);
        note_end(s, ended == 1 ? status : 0);
    }
    error_set(e, "the ssh connection to host %s (%s) has ended: %s", s->name, s->target.host,
              s->why ? s->why : "out of memory");
    return false;
}

static int start_master(struct ssh_session *s, struct error *e)
{
    struct arguments a =
        arguments_of(&s->target, false, "INFO"); /* ERROR hides "Timeout, server not responding" */
    add_argument(&a, "-oControlMaster=yes");
    add_argument(&a, "-oControlPersist=no");
    path_option(&a, "ControlPath", s->socket);
    add_argument(&a, "-oConnectTimeout=30");
    /* a guest that hangs is noticed after 15 s; one that ends usually at once */
    add_argument(&a, "-oServerAliveInterval=5");
    add_argument(&a, "-oServerAliveCountMax=3");
    add_argument(&a, "-N");
    add_argument(&a, "--");
    add_argument(&a, "%s", s->target.host);
    int result = a.failed ? error_set(e, "out of memory")
                          : process_start(&s->master, (const char *const *)a.items, PROCESS_ERR, e);
    ssh_arguments_free(a.items);
    return result;
}

/* Wait until the master listens. An attempt ends by itself (ConnectTimeout) with a reason; the caller tries
 * again. */
static int wait_for_master(struct ssh_session *s, int64_t deadline_ns, struct error *e)
{
    while (access(s->socket, F_OK) != 0) {
        if (!ssh_alive(s, e))
            return -1;
        if (s->target.cancelled && atomic_load(s->target.cancelled))
            return error_set(e, "interrupted while connecting to host %s", s->name);
        if (clock_monotonic_ns() > deadline_ns)
            return error_set(e, "host %s (%s) did not answer ssh in time", s->name, s->target.host);
        clock_sleep_until_ns(clock_monotonic_ns() + 10 * NS_PER_MS);
    }
    return 0;
}

/* Errors that remain however long one waits: the wrong key on either side, an unknown name. */
static bool is_final(const char *why)
{
    static const char *const reasons[] = {"Host key verification failed", "Permission denied",
                                          "REMOTE HOST IDENTIFICATION",   "Could not resolve hostname",
                                          "Bad configuration option",     "host key is known"};
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        if (strstr(why, reasons[i]))
            return true;
    return false;
}

/* Why no attempt succeeded: the end of the last one or, if that had no time left, of the one before (NULL:
 * none). */
static int not_connected(const struct ssh_session *s, const char *before, struct error *e)
{
    if (s->why)
        return error_set(e, "connecting to host %s (%s): %s", s->name, s->target.host, s->why);
    struct error last = *e;
    return before ? error_set(e, "%s; before that: %s", last.text, before) : -1;
}

/* A running host answers at once, or a little later if its network is unreliable. */
static int connect_session(struct ssh_session *s, int64_t timeout_ns, struct error *e)
{
    char *before = NULL;
    int64_t now_ns = clock_monotonic_ns(), deadline_ns = now_ns + timeout_ns;
    int64_t retries_end_ns = s->target.boots ? deadline_ns : now_ns + RETRY_NS;
    for (;;) {
        int result = start_master(s, e);
        if (result != 0 || wait_for_master(s, deadline_ns, e) == 0) {
            free(before);
            return result;
        }
        bool final =
            (s->why && is_final(s->why)) || (s->target.cancelled && atomic_load(s->target.cancelled));
        process_stop(&s->master, NS_PER_S);
        now_ns = clock_monotonic_ns();
        if (final || now_ns + NS_PER_S / 4 > deadline_ns || now_ns > retries_end_ns) {
            not_connected(s, before, e);
            free(before);
            return -1;
        }
        free(before);
        before = s->why;
        s->why = NULL;
        clock_sleep_until_ns(clock_monotonic_ns() + NS_PER_S / 4);
    }
}

/* Remove the folders of this user whose lock is free: their program was killed. */
static void remove_stale(const char *runtime)
{
    DIR *entries = opendir(runtime);
    for (struct dirent *entry; entries && (entry = readdir(entries));) {
        struct stat status;
        if (strncmp(entry->d_name, "harness-ssh.", 12) != 0)
            continue;
        int fd = openat(dirfd(entries), entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (fd >= 0 && fstat(fd, &status) == 0 && status.st_uid == geteuid() &&
            flock(fd, LOCK_EX | LOCK_NB) == 0) {
            unlinkat(fd, "c", 0);
            unlinkat(dirfd(entries), entry->d_name, AT_REMOVEDIR);
        }
        if (fd >= 0)
            close(fd);
    }
    if (entries)
        closedir(entries);
}

/* The session's folder, locked. Another program may take a folder without a lock for a stale one, and remove
 * it: then there is none by this name any more. */
static int make_folder(struct ssh_session *s, const char *runtime)
{
    struct stat status;
    for (int attempt = 0; attempt < 100; attempt++) {
        snprintf(s->folder, sizeof s->folder, "%s/harness-ssh.XXXXXX", runtime);
        if (!mkdtemp(s->folder))
            break;
        s->held = open(s->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (s->held >= 0 && flock(s->held, LOCK_EX) == 0 && lstat(s->folder, &status) == 0)
            return 0;
        if (s->held >= 0)
            close(s->held);
        s->held = -1;
    }
    s->folder[0] = '\0';
    return -1;
}

static int make_session(struct ssh_session *s, const char *name, const struct ssh_target *target,
                        struct error *e)
{
    const char *runtime = getenv("XDG_RUNTIME_DIR");
    s->holder = s->master = (struct process){.pid = -1, .in = -1, .out = -1, .err = -1};
    s->held = -1;
    s->name = strdup(name);
    for (size_t i = 0; i < STARTED_MOST; i++)
        s->running[i] = -1;
    if (!copy_target(&s->target, target) || !s->name)
        return error_set(e, "out of memory");
    if (target->host[0] == '-' || !*target->host)
        return error_set(e, "host %s: \"%s\" is not a name or address that ssh accepts", name, target->host);
    if (!runtime || strlen(runtime) > 32 || !scratch_is_own_folder(runtime))
        runtime = "/tmp";
    remove_stale(runtime);
    if (make_folder(s, runtime) != 0)
        return error_set_errno(e, errno, "creating a folder for the ssh connection in %s", runtime);
    snprintf(s->socket, sizeof s->socket, "%s/c", s->folder);
    return 0;
}

struct ssh_session *ssh_open(const char *name, const struct ssh_target *target, int64_t timeout_ns,
                             struct error *e)
{
    struct ssh_session *s = calloc(1, sizeof *s);
    if (!s) {
        error_set(e, "out of memory");
        return NULL;
    }
    if (make_session(s, name, target, e) == 0 && connect_session(s, timeout_ns, e) == 0)
        return s;
    ssh_close(s);
    return NULL;
}

/* End what ssh_hold started, and wait until it has ended on the host, where the next may be waiting for it.
 */
static void release(struct ssh_session *s)
{
    int status;
    if (s->holder.pid < 0)
        return;
    close(s->holder.in);
    s->holder.in = -1;
    if (ssh_alive(s, NULL))
        process_wait(&s->holder, RELEASE_NS, &status, NULL);
    process_stop(&s->holder, 0);
    s->holder.pid = -1;
}

void ssh_close(struct ssh_session *s)
{
    if (!s)
        return;
    ssh_close(s->more);
    for (size_t i = 0; i < STARTED_MOST; i++)
        if (s->running[i] >= 0)
            close(s->running[i]);
    release(s);
    process_stop(&s->master, 2 * NS_PER_S);
    if (s->folder[0]) {
        unlink(s->socket);
        rmdir(s->folder);
    }
    if (s->held >= 0)
        close(s->held);
    ssh_target_free(&s->target);
    free(s->name);
    free(s->why);
    free(s);
}

/* ---- commands */

static char **command_arguments(const struct ssh_session *s, const char *const argv[])
{
    struct text line = {0};
    struct arguments a = {0};
    if (s->target.sudo)
        text_add(&line, "sudo -n -- ");
    shell_quote_all(&line, argv);
    /* everything goes through the master: read no configuration, open no other connection */
    add_argument(&a, "ssh");
    add_argument(&a, "-Fnone");
    add_argument(&a, "-T");
    path_option(&a, "ControlPath", s->socket);
    add_argument(&a, "-oControlMaster=no");
    add_argument(&a, "-oProxyCommand=false");
    add_argument(&a, "-oBatchMode=yes");
    add_argument(&a, "-oLogLevel=ERROR");
    add_argument(&a, "--");
    add_argument(&a, "%s", s->target.host);
    add_argument(&a, "%s", text_string(&line));
    bool failed = a.failed || line.failed;
    text_free(&line);
    if (!failed)
        return a.items;
    ssh_arguments_free(a.items);
    return NULL;
}

/* A place for one more program, where one has ended or none was: its index, or -1. */
static int free_place(struct ssh_session *s)
{
    for (int i = 0; i < STARTED_MOST; i++) {
        struct pollfd ended = {.fd = s->running[i], .events = POLLIN};
        if (s->running[i] >= 0 && poll(&ended, 1, 0) == 1) {
            close(s->running[i]);
            s->running[i] = -1;
        }
        if (s->running[i] < 0)
            return i;
    }
    return -1;
}

/* The connection that has room for one more program, made if there is none. */
static struct ssh_session *with_room(struct ssh_session *s, int *place, struct error *e)
{
    while ((*place = free_place(s)) < 0) {
        if (!s->more)
            s->more = ssh_open(s->name, &s->target, MORE_NS, e);
        if (!s->more) {
            error_prefix(e, "a further connection, as %d programs run over one", STARTED_MOST);
            return NULL;
        }
        s = s->more;
    }
    return s;
}

int ssh_start(struct ssh_session *s, const char *const argv[], int pipes, struct process *process,
              struct error *e)
{
    int place;
    if (!ssh_alive(s, e) || !(s = with_room(s, &place, e)))
        return -1;
    char **arguments = command_arguments(s, argv);
    int result = arguments ? process_start(process, (const char *const *)arguments, pipes, e)
                           : error_set(e, "out of memory");
    if (result == 0) /* without it (Linux before 5.3) the program is not counted */
        s->running[place] = (int)syscall(SYS_pidfd_open, process->pid, 0);
    ssh_arguments_free(arguments);
    return result;
}

static int run_bytes(struct ssh_session *s, const char *const argv[], const void *input, size_t length,
                     struct text *out, struct text *err, int64_t timeout_ns, struct error *e)
{
    if (!ssh_alive(s, e))
        return -1;
    char **arguments = command_arguments(s, argv);
    if (!arguments)
        return error_set(e, "out of memory");
    struct error inner;
    int status =
        process_run_bytes((const char *const *)arguments, input, length, out, err, timeout_ns, &inner);
    ssh_arguments_free(arguments);
    if (status < 0)
        return error_set(e, "running %s on host %s: %s", argv[0], s->name, inner.text);
    if (status == SSH_OWN_STATUS) {
        clock_sleep_until_ns(clock_monotonic_ns() + 50 * NS_PER_MS);
        if (!ssh_alive(s, e))
            return error_prefix(e, "running %s on host %s", argv[0], s->name);
    }
    return status;
}

int ssh_run(struct ssh_session *s, const char *const argv[], const char *input, struct text *out,
            struct text *err, int64_t timeout_ns, struct error *e)
{
    return run_bytes(s, argv, input, input ? strlen(input) : 0, out, err, timeout_ns, e);
}

/* An answer up to its empty line. 1: it is whole, 0: output ended. */
static int read_held(struct process *p, struct text *answer, int64_t deadline_ns, struct error *e)
{
    for (;;) {
        char buffer[512];
        ssize_t got = read(p->out, buffer, sizeof buffer);
        if (got > 0 && answer->length < 65536)
            text_add_bytes(answer, buffer, (size_t)got);
        if (got > 0 && strstr(text_string(answer), "\n\n"))
            return 1;
        if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
            return 0;
        struct pollfd fd = {.fd = p->out, .events = POLLIN};
        int64_t left_ns = deadline_ns - clock_monotonic_ns();
        if (left_ns <= 0 || answer->length >= 65536)
            return error_set(e, "it did not answer in time");
        if (got < 0)
            (void)poll(&fd, 1, (int)(left_ns / NS_PER_MS) + 1);
    }
}

int ssh_hold(struct ssh_session *s, const char *const argv[], struct text *answer, int64_t timeout_ns,
             struct error *e)
{
    struct error inner;
    char line[400];
    if (ssh_start(s, argv, PROCESS_IN | PROCESS_OUT | PROCESS_ERR, &s->holder, e) != 0)
        return -1;
    int held = read_held(&s->holder, answer, clock_monotonic_ns() + timeout_ns, &inner);
    if (held == 1)
        return 1;
    struct text said = {0};
    if (held == 0)
        read_said(&s->holder, &said);
    last_line(&said, line, sizeof line);
    if (!answer->length && *line)
        text_add(answer, "%s\n", line);
    text_free(&said);
    process_stop(&s->holder, 0);
    s->holder.pid = -1;
    if (!ssh_alive(s, e))
        return -1;
    return held == 0 ? 0 : error_set(e, "running %s on host %s: %s", argv[0], s->name, inner.text);
}

bool ssh_ended(struct ssh_session *s, int64_t timeout_ns, struct error *e)
{
    static const char *const nothing[] = {"true", NULL};
    int64_t deadline_ns = clock_monotonic_ns() + timeout_ns;
    struct text out = {0}, err = {0};
    if (!ssh_alive(s, e))
        return true;
    int status = run_bytes(s, nothing, NULL, 0, &out, &err, timeout_ns, NULL);
    text_free(&out);
    text_free(&err);
    if (status >= 0 && status != SSH_OWN_STATUS)
        return false;
    /* a killed process closes its sockets a little before waitpid reports its end */
    while (ssh_alive(s, e)) {
        if (clock_monotonic_ns() >= deadline_ns)
            return false;
        clock_sleep_until_ns(clock_monotonic_ns() + 10 * NS_PER_MS);
    }
    return true;
}

int ssh_must_bytes(struct ssh_session *s, const char *const argv[], const void *input, size_t length,
                   struct text *out, int64_t timeout_ns, struct error *e)
{
    struct text err = {0}, unwanted = {0};
    char line[400];
    int status = run_bytes(s, argv, input, length, out ? out : &unwanted, &err, timeout_ns, e);
    last_line(&err, line, sizeof line);
    text_free(&err);
    text_free(&unwanted);
    if (status > 0)
        return error_set(e, "running %s on host %s: exit status %d%s%s", argv[0], s->name, status,
                         *line ? ": " : "", line);
    return status;
}

int ssh_must(struct ssh_session *s, const char *const argv[], const char *input, struct text *out,
             int64_t timeout_ns, struct error *e)
{
    return ssh_must_bytes(s, argv, input, input ? strlen(input) : 0, out, timeout_ns, e);
}

/* A file or folder to the disk, before it gets its name and afterwards: a power cut finds the old file or the
 * new one. */
#define SYNC(path) "{ sync " path " 2> /dev/null || sync; }"

int ssh_put_bytes(struct ssh_session *s, const void *bytes, size_t length, const char *remote, int mode,
                  int64_t timeout_ns, struct error *e)
{
    /* hosts may share the folder: the new file has the connection's name; a connection that is cut only ends
     * cat's input */
    static const char script[] =
        "new=$1.new-$3 && umask 077 && trap 'rm -f \"$new\"' 0 && cat > \"$new\" && came=$(wc -c < \"$new\") "
        "&& "
        "{ [ \"$came\" -eq \"$4\" ] || { echo \"$came of $4 bytes came\" >&2; exit 1; }; } && "
        "chmod \"$2\" \"$new\" && " SYNC("\"$new\"") " && mv -f \"$new\" \"$1\" && " SYNC(
            "\"$(dirname \"$1\")\"");
    char octal[8], bytes_text[24];
    snprintf(octal, sizeof octal, "%o", (unsigned)mode & 07777);
    snprintf(bytes_text, sizeof bytes_text, "%zu", length);
    const char *const argv[] = {"sh",       "-c", script, "put", remote, octal, strrchr(s->folder, '.') + 1,
                                bytes_text, NULL};
    if (ssh_must_bytes(s, argv, length ? bytes : "", length, NULL, timeout_ns, e) != 0)
        return error_prefix(e, "copying %s to host %s", remote, s->name);
    return 0;
}

int ssh_put(struct ssh_session *s, const char *local, const char *remote, int mode, int64_t timeout_ns,
            struct error *e)
{
    size_t length;
    char *bytes = files_read(local, PUT_LIMIT, &length, e);
    if (!bytes)
        return -1;
    int result = ssh_put_bytes(s, bytes, length, remote, mode, timeout_ns, e);
    free(bytes);
    return result;
}
