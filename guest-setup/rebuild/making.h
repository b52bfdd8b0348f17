/* The inputs of a host's domain. */
#ifndef GUEST_SETUP_REBUILD_MAKING_H
#define GUEST_SETUP_REBUILD_MAKING_H

#include "guest-setup/rebuild/context.h"
#include "guest-setup/guest/profile.h"
#include "guest-setup/guest/storage.h"

/* The inputs of a host's domain; volumes are named by host and image. */
struct making {
    struct context *context;
    const struct lab_host *host;
    struct profile profile;
    struct storage *storage; /* the lab's, shared by its hosts */
    char *image_id;
    struct pci_address nics[WIRING_MAX_PORTS];
    size_t nic_count;
    struct pci_address gpu[8];
    size_t gpu_count;
    const char *type; /* "kvm" or "qemu" */
    int result;       /* of this host */
    struct error error;
};

/* Load the profile, find and check the devices that are passed through. Free with making_free. */
int making_open(struct context *c, const struct lab_host *host, struct storage *storage, struct making *m,
                struct error *e);
void making_free(struct making *m);
/* The XML that the host's domain is defined with; `disk`: the volume it runs on ("a.qcow2"). The caller frees. */
char *making_xml(const struct making *m, const char *disk, struct error *e);

/* Is the lab on this machine? */
bool making_is_local(const struct lab *lab);
/* May the devices be passed through? (Only for this machine; libvirt checks the devices of another machine
 * when the guest starts.) */
int making_check_devices(const struct making *m, struct error *e);
/* Bind them to vfio-pci, or return them to the machine. */
int making_bind_devices(const struct making *m, bool to_vfio, struct error *e);
/* Names of volumes: the host's (".qcow2", ".work.qcow2", ".seed", ".console"), the image's (".qcow2",
 * ".vmlinuz", ".initrd"). The caller frees. */
char *volume_of_host(const struct making *m, const char *suffix);
char *volume_of_image(const struct making *m, const char *suffix);

#endif
