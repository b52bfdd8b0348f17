/* Reaching the hosts of a lab whose hosts may be guests. */
#ifndef REMOTE_REACH_H
#define REMOTE_REACH_H

#include "remote/ssh.h"
#include "remote/virt.h"
#include "lib/formats/lab.h"

/* How to reach a lab's host over ssh: user, pinned key, the lab's key pair, and the address, which is taken
 * from our metadata, else from a DHCP lease, the guest agent or ARP for its management interface. A host
 * without a domain is reached as the lab file says. Returns 0; 1 with `e` set if the guest has no address
 * yet; -1. Free with ssh_target_free. */
int virt_domain_target(struct virt *v, const struct lab *lab, const struct lab_host *host,
                       struct ssh_target *target, struct error *e);
/* Start the host if it is off, and wait until its address is known. */
int virt_host_target(struct virt *v, const struct lab *lab, const struct lab_host *host, int64_t timeout_ns,
                     struct ssh_target *target, struct error *e);
/* Start the host if it is off, wait for its address and for ssh, and open a session: all steps of "bring up"
 * in one call. It ends early when *cancelled becomes true; cancelled may be NULL. */
struct ssh_session *virt_host_open(struct virt *v, const struct lab *lab, const struct lab_host *host,
                                   int64_t timeout_ns, const atomic_bool *cancelled, struct error *e);

#endif
