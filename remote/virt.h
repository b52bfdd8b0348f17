/* libvirt: connection, domains, addresses, events. A struct virt may be used by several threads. */
#ifndef REMOTE_VIRT_H
#define REMOTE_VIRT_H

#include "lib/error.h"
#include <libvirt/libvirt.h>
#include <stdbool.h>
#include <stdint.h>

struct virt;

/* Connect to `uri`. The error message distinguishes a wrong URI, a daemon that does not run, and a missing
 * permission.
 */
struct virt *virt_open(const char *uri, struct error *e);
void virt_close(struct virt *v);
virConnectPtr virt_connection(struct virt *v);
const char *virt_uri(const struct virt *v);

/* ---- domains */

enum virt_state { VIRT_ABSENT, VIRT_OFF, VIRT_RUNNING, VIRT_PAUSED, VIRT_CRASHED };
extern const char *const virt_state_names[];
/* VIRT_ABSENT is not an error. Returns -1 if libvirt cannot be reached. */
int virt_domain_state(struct virt *v, const char *name, enum virt_state *state, struct error *e);
/* Start a defined domain; a running one is not an error. If it is absent, the error message says to create
 * it. */
int virt_domain_start(struct virt *v, const char *name, struct error *e);
/* Ask the guest to shut down (agent, then ACPI); power off after grace_ns. A domain that does not run, or is
 * absent, is not an error. */
int virt_domain_stop(struct virt *v, const char *name, int64_t grace_ns, struct error *e);
/* The domain, which the caller frees; NULL: *absent is set, or an error. */
virDomainPtr virt_find(struct virt *v, const char *name, bool *absent, struct error *e);
/* Set the error message for an absent domain; returns -1. */
int virt_absent(struct virt *v, const char *name, struct error *e);

/* ---- events */

struct virt_event {
    char domain[256]; /* of a lab: at most 120 bytes (form_word) */
    char what[160];   /* "was destroyed", "shut down", "crashed", "was paused (I/O error)", "libvirtd went
                       away", ... */
    bool gone;        /* the guest no longer runs (or libvirt can no longer tell) */
};
/* Collect lifecycle events from here on. */
int virt_watch(struct virt *v, struct error *e);
/* A descriptor for poll: readable when there is an event. */
int virt_event_fd(const struct virt *v);
/* The next event, if any. */
bool virt_next_event(struct virt *v, struct virt_event *event);

#endif
