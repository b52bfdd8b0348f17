/*
 * Work on hosts side by side: worker threads, one per host; the hosts of a run; and the hosts of a lab
 * outside a run, for commands such as doctor and restore.
 */
#ifndef HARNESS_LABS_HOSTS_PARALLEL_H
#define HARNESS_LABS_HOSTS_PARALLEL_H

#include "harness/labs/hosts/lab.h"
#include "lib/formats/lab.h"
#include "lib/text.h"
#include "remote/virt.h"

/* ---- workers A thread for each host, which stays until the workers are stopped. A process dies with the
 * thread that started it (lib/process.h): a connection that a thread opened can be used until then. */

struct workers;

/* `count` threads; they wait for work. */
struct workers *workers_start(size_t count, struct error *e);
/* Wait for all work, and end the threads. NULL is allowed. */
void workers_stop(struct workers *w);

/* ---- the hosts of a run */

/* What came of the work on a role's host. */
struct host_result {
    size_t machine; /* the first of the roles on this role's machine; a guest without a role has itself */
    size_t node;    /* the first of the roles that this role's host has, which is a NIC of the machine */
    json_t *warnings;
    bool failed;
    struct error e;
};

/* Is it the first of the roles of its machine? What a machine has once (connection, lock, clock, facts,
 * journal, sampler) is done for that one. */
static inline bool machine_is_first(const struct remote_lab *lab, size_t i)
{
    return lab->results[i].machine == i;
}
/* Is it the first of the roles of its host? What a NIC has once is done for that one. */
static inline bool node_is_first(const struct remote_lab *lab, size_t i)
{
    return lab->results[i].node == i;
}
/* The first of the roles of i's machine, which the machine's connection belongs to. */
static inline struct remote_host *machine_of_host(const struct remote_lab *lab, size_t i)
{
    return &lab->hosts[lab->results[i].machine];
}
/* The next role, after i, of the machine whose first role is `first`; SIZE_MAX: there is none below `count`.
 * Roles that are switches are left out. */
size_t machine_next(const struct remote_lab *lab, size_t first, size_t i, size_t count);
/* The name of the machine of role i, for what is said of it as a whole: of a host's only role the role's. */
const char *machine_name(const struct remote_lab *lab, size_t i);

/* Work on host i of the lab: 0, or -1 with `e` set. It runs in the host's thread, beside the work on other
 * hosts, and changes nothing that they share; `warnings` are its own. */
typedef int host_work(struct remote_lab *lab, size_t i, void *context, json_t *warnings, struct error *e);

/* Once, before the workers start: lab->results. */
void hosts_prepare(struct remote_lab *lab);
void hosts_release(struct remote_lab *lab);
/* Do the work for each host below `count`, and wait for all. Warnings go to the lab's in the order of the
 * hosts. Returns 0, or -1: the first failure in this order is in `e`, the others are in the log. Roles of
 * one machine are worked on one after the other, in their order. Ctrl-C ends connecting alone. Roles that are
 * switches are left out. */
int hosts_in_parallel(struct remote_lab *lab, size_t count, host_work *work, void *context, struct error *e);

/* ---- the hosts of a lab, for a command */

/* Load the lab `name`, or the user's default if that is NULL. Returns its file's path, which the caller
 * frees after lab_free. NULL: there is no such lab, or its file has an error. */
char *lab_hosts_load(const char *name, struct lab *lab, struct error *e);
/* What a command works with on a host of a lab: for remote_host_open_locked. */
struct host_way {
    struct virt *virt; /* NULL: the lab has no guests */
    const struct lab *lab;
    const struct lab_lock *lock;
    const struct lab_host *host; /* the first of the machine's */
    const char *name;            /* of the machine; a host's own where it is the only one */
};
/* What a command does on the machine of host i of a lab, which is its first. Text in `out` is for stdout.
 * Returns 0, or -1 with `e` set. It runs in a thread of its own, beside those of other machines. */
typedef int host_command(void *context, size_t i, const struct host_way *way, struct text *out,
                         struct error *e);
/* Connect to the host within a minute, and lock its machine. 1: connected, and it cannot be locked, as
 * lab_lock_reached has it. -1: it cannot be reached. REMOTE_HOST_IN_USE: it can, and the lock was refused. */
#define REMOTE_HOST_IN_USE (-2)
int remote_host_open_locked(struct remote_host *h, const struct host_way *way, struct error *e);

/* Run the command on the machines of all real hosts of a lab side by side, under the lab's lock. Its texts
 * are printed in the lab's order, failures as errors on stderr; *failures is their number. -1: the lab is in
 * use or cannot be reached, nothing was done. */
int lab_hosts_run(const struct lab *lab, const char *purpose, host_command *command, void *context,
                  size_t *failures, struct error *e);

#endif
