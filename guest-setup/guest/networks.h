/* The networks of a lab: created with its first guest, deleted with its last. */
#ifndef GUEST_NETWORKS_H
#define GUEST_NETWORKS_H

#include "remote/virt.h"
#include "lib/formats/lab.h"

int networks_make(struct virt *v, const struct lab *lab, struct error *e);
/* Delete the networks that have virt-provision's mark. */
int networks_remove(struct virt *v, const struct lab *lab, struct error *e);

#endif
