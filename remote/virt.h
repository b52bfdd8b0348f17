/* libvirt: connection, domains, addresses, events. A struct virt may be used by several threads. */
#ifndef REMOTE_VIRT_H
#define REMOTE_VIRT_H

#include "lib/error.h"
#include "lib/formats/lab.h"
#include "remote/ssh.h"
#include <libvirt/libvirt.h>

struct virt;

/* Connect to `uri`. The sentence tells a wrong URI from a daemon that is not there from a missing permission.
 */
struct virt *virt_open(const char *uri, struct error *e);
void virt_close(struct virt *v);
virConnectPtr virt_connection(struct virt *v);
/* Fill e with "CONTEXT: what libvirt said last in this thread"; returns -1. */
int virt_error(struct error *e, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- domains */

enum virt_state { VIRT_ABSENT, VIRT_OFF, VIRT_RUNNING, VIRT_PAUSED, VIRT_CRASHED };
extern const char *const virt_state_names[];
/* VIRT_ABSENT is not an error. Returns -1 when libvirt cannot be asked. */
int virt_domain_state(struct virt *v, const char *name, enum virt_state *state, struct error *e);
/* Start a defined domain; one that runs is fine. When there is none, the sentence says to rebuild it. */
int virt_domain_start(struct virt *v, const char *name, struct error *e);
/* Ask the guest to shut down (agent, then ACPI); power off after grace_ns. One that does not run, or is
 * absent, is fine. */
int virt_domain_stop(struct virt *v, const char *name, int64_t grace_ns, struct error *e);

/* How to reach a lab's host over ssh: user, pinned key, the lab's key pair, and the address - that in our metadata, else what a
 * DHCP lease, the agent or ARP says of its management interface. A host without a domain is reached as the lab says. Returns 0; 1 with a
 * sentence when the guest has no address yet; -1. Free with ssh_target_free. */
int virt_domain_target(struct virt *v, const struct lab *lab, const struct lab_host *host,
                       struct ssh_target *target, struct error *e);
/* Start the host when it is off, and wait until it can be said how to reach it. */
int virt_host_target(struct virt *v, const struct lab *lab, const struct lab_host *host, int64_t timeout_ns,
                     struct ssh_target *target, struct error *e);
/* Start the host when it is off, wait for its address and for ssh, and open a session: what "bring up" needs,
 * in one call. */
struct ssh_session *virt_host_open(struct virt *v, const struct lab *lab, const struct lab_host *host,
                                   int64_t timeout_ns, struct error *e);

/* ---- events */

struct virt_event {
    char domain[128];
    char what[160]; /* "was destroyed", "shut down", "crashed", "was paused (I/O error)", "libvirtd went
                       away", ... */
    bool gone;      /* the guest no longer runs (or libvirt can no longer tell) */
};
/* Collect lifecycle events from here on. */
int virt_watch(struct virt *v, struct error *e);
/* Readable when an event waits: for poll. */
int virt_event_fd(const struct virt *v);
/* The next event, if any. */
bool virt_next_event(struct virt *v, struct virt_event *event);

#endif
