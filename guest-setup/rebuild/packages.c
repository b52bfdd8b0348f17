#include "guest-setup/rebuild/packages.h"

#include "lib/output/print.h"
#include "remote/places.h"
#include "lib/clock.h"
#include "lib/files.h"
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define FETCH_NS (4 * 3600 * NS_PER_S)
#define PRINT_NS (60 * NS_PER_S)
#define PIECE    (1 << 16)
#define SUMS_MAX (1u << 20)

/* ---- the cache */

/* Run guest-setup/host/packages for this profile; its messages go to stderr, its output to *out. */
static int run_packages(const struct profile *p, bool dry_run, struct text *out, int64_t timeout_ns,
                        struct error *e)
{
    char *program = places_project("guest-setup/host/packages", e);
    const char *argv[8] = {program, "--bundle", p->bundle.name};
    size_t n = 3;
    if (p->bundle.rdma_only == 1)
        argv[n++] = "--rdma-only";
    if (dry_run)
        argv[n++] = "--dry-run";
    int status = program ? process_run(argv, NULL, out, NULL, timeout_ns, e) : -1;
    free(program);
    if (status > 0)
        return error_set(e,
                         "the packages of bundle %s could not be fetched: the messages of "
                         "guest-setup/host/packages above say why",
                         p->bundle.name);
    return status;
}

int packages_fetch(struct profile *p, struct error *e)
{
    struct text out = {0};
    int result = run_packages(p, false, &out, FETCH_NS, e);
    if (result == 0) {
        free(p->served);
        p->served = text_take(&out);
        if (p->served)
            p->served[strcspn(p->served, "\n")] = '\0';
        else
            result = error_set(e, "out of memory");
    }
    text_free(&out);
    return result;
}

int packages_print(const struct profile *p, const char *indent, struct error *e)
{
    struct text out = {0};
    int result = run_packages(p, true, &out, PRINT_NS, e);
    const char *line = text_string(&out);
    while (result == 0 && *line) {
        size_t length = strcspn(line, "\n");
        print_out("%s%.*s\n", indent, (int)length, line);
        line += length + (line[length] == '\n');
    }
    text_free(&out);
    return result;
}

/* ---- onto a guest */

/* Does the guest have exactly these packages? Then its list of checksums equals ours. */
static bool is_served(struct guest *g, const char *to)
{
    const char *const argv[] = {"sh", "-c", "cat \"$1/SHA256SUMS\"", "sums", to, NULL};
    struct text theirs = {0};
    char *path = files_join(g->profile->served, "SHA256SUMS");
    char *ours = path ? files_read(path, SUMS_MAX, NULL, NULL) : NULL;
    bool same = ours && ssh_must(g->ssh, argv, NULL, &theirs, 60 * NS_PER_S, NULL) == 0 &&
                strcmp(ours, text_string(&theirs)) == 0;
    text_free(&theirs);
    free(ours);
    free(path);
    return same;
}

static int write_all(int fd, const char *bytes, size_t count)
{
    while (count) {
        ssize_t done = write(fd, bytes, count);
        if (done < 0 && errno == EAGAIN) {
            struct pollfd ready = {.fd = fd, .events = POLLOUT};
            poll(&ready, 1, 1000);
        } else if (done < 0 && errno != EINTR) {
            return -1;
        } else if (done > 0) {
            bytes += done;
            count -= (size_t)done;
        }
    }
    return 0;
}

/* Copy from the packer's output to the unpacker's input until one of them ends; which of them failed is
 * determined later. The packages may not fit into memory. */
static int pump_packages(struct guest *g, struct process *from, struct process *to, struct error *e)
{
    char *buffer = malloc(PIECE);
    int result = buffer ? 0 : error_set(e, "out of memory");
    while (result == 0) {
        struct pollfd ready = {.fd = from->out, .events = POLLIN};
        poll(&ready, 1, 200);
        ssize_t got = read(from->out, buffer, PIECE);
        if (got == 0 || (got > 0 && write_all(to->in, buffer, (size_t)got) != 0))
            break;
        if (got < 0 && errno != EAGAIN && errno != EINTR)
            result = error_set_errno(e, errno, "reading the packages for host %s", lab_guest_name(g->host));
        else if (atomic_load(&g->context->cancelled))
            result = error_set(e, "interrupted: the next rebuild continues from here");
    }
    free(buffer);
    return result;
}

/* An unpacker that ended early must not end this program by SIGPIPE. */
static int pump_without_sigpipe(struct guest *g, struct process *from, struct process *to, struct error *e)
{
    sigset_t pipe_signal, old;
    struct timespec now = {0};
    sigemptyset(&pipe_signal);
    sigaddset(&pipe_signal, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe_signal, &old);
    int result = pump_packages(g, from, to, e);
    sigtimedwait(&pipe_signal, NULL, &now); /* remove a SIGPIPE that a write has left pending */
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return result;
}

static int must_end_well(struct guest *g, struct process *p, const char *what, const char *where,
                         struct error *e)
{
    int status = 0, ended = process_wait(p, g->profile->step_ns, &status, e);
    if (ended < 0)
        return -1;
    if (ended == 0)
        return error_set(e, "%s the packages for host %s did not end", what, lab_guest_name(g->host));
    /* if the packer failed because its reader ended early, the reader's error has the reason */
    if ((WIFEXITED(status) && WEXITSTATUS(status) == 0) ||
        (WIFSIGNALED(status) && WTERMSIG(status) == SIGPIPE))
        return 0;
    return error_set(e, "%s the packages for host %s failed: look at %s", what, lab_guest_name(g->host),
                     where);
}

int packages_serve(struct guest *g, const char *to, struct error *e)
{
    const char *const unpack[] = {
        "sh",    "-c", "rm -rf \"$1\" && mkdir -p \"$1\" && tar -C \"$1\" --no-same-owner -xf - && sync",
        "serve", to,   NULL};
    const char *const pack[] = {"tar", "--create", "--file=-", "-C", g->profile->served, "--", ".", NULL};
    struct process packer, unpacker;
    if (is_served(g, to))
        return 0;
    guest_log(g, "serving %s", g->profile->served);
    if (process_start(&packer, pack, PROCESS_OUT, e) != 0)
        return -1;
    int result = ssh_start(g->ssh, unpack, PROCESS_IN, &unpacker, e);
    if (result == 0) {
        result = pump_without_sigpipe(g, &packer, &unpacker, e);
        close(packer.out);
        close(unpacker.in);
        packer.out = unpacker.in = -1;
        if (result == 0)
            result = must_end_well(g, &packer, "packing", g->profile->served, e);
        if (result == 0)
            result = must_end_well(g, &unpacker, "unpacking", to, e);
        process_stop(&unpacker, NS_PER_S);
    }
    process_stop(&packer, NS_PER_S);
    return result;
}
