/* What a guest is built of: the inputs of a host's domain, the domain, its disks. */
#ifndef GUEST_SETUP_REBUILD_GUEST_BUILD_H
#define GUEST_SETUP_REBUILD_GUEST_BUILD_H

#include "guest-setup/rebuild/context.h"
#include "guest-setup/guest/profile.h"
#include "guest-setup/guest/storage.h"

#define GUEST_GPU_FUNCTIONS 64

/* The inputs of a host's domain; volumes are named by host and image. */
struct guest_build {
    struct context *context;
    const struct lab_host *host;
    struct profile profile;
    struct storage *storage; /* the lab's, shared by its hosts */
    char *image_id;
    struct pci_address nics[WIRING_MAX_PORTS];
    size_t nic_count;
    struct pci_address gpus[GUEST_GPU_FUNCTIONS]; /* functions of the GPUs, card by card */
    size_t gpu_count;
    const char *type; /* "kvm" or "qemu" */
    int result;       /* of this host */
    struct error error;
};

/* Load the profile, find and check the devices that are passed through. Free with guest_build_free. */
int guest_build_open(struct context *c, const struct lab_host *host, struct storage *storage,
                     struct guest_build *build, struct error *e);
void guest_build_free(struct guest_build *build);
/* The XML that the host's domain is defined with; `disk`: the volume it runs on ("a.qcow2"). The caller
 * frees. */
char *guest_build_xml(const struct guest_build *build, const char *disk, struct error *e);

/* Is the lab on this machine? */
bool guest_build_is_local(const struct lab *lab);
/* May the devices be passed through? (Only for this machine; libvirt checks the devices of another machine
 * when the guest starts.) */
int guest_build_check_devices(const struct guest_build *build, struct error *e);
/* Bind them to vfio-pci, or return them to the machine. */
int guest_build_bind_devices(const struct guest_build *build, bool to_vfio, struct error *e);
/* Names of volumes: the host's (".qcow2", ".work.qcow2", ".seed", ".console"), the image's (".qcow2",
 * ".vmlinuz", ".initrd"). The caller frees. */
char *volume_of_host(const struct guest_build *build, const char *suffix);
char *volume_of_image(const struct guest_build *build, const char *suffix);

/* ---- the domain and its disks */

#define DISK_BASE ".qcow2"      /* volume of the provisioned disk, and of an image */
#define DISK_WORK ".work.qcow2" /* the overlay over it that the guest writes to */

/* A domain that virt-provision did not create for this host is an error, except with --adopt. 1: the domain
 * may be changed, 0: there is none. */
int guest_build_check_domain(struct guest_build *build, struct error *e);
int guest_build_remove_domain(struct guest_build *build, int64_t grace_ns, struct error *e);
/* Define the domain on the host's disk with this suffix. */
int guest_build_define_domain(struct guest_build *build, const char *suffix, struct error *e);

int guest_build_delete_volume(struct guest_build *build, const char *suffix, struct error *e);
/* Create a new overlay over volume `base`, which is freed. bytes: its size, 0: that of the base. */
int guest_build_overlay(struct guest_build *build, const char *suffix, char *base, int64_t bytes,
                        struct error *e);
/* Create an empty overlay over the image, and the seed. */
int guest_build_fresh_disks(struct guest_build *build, struct error *e);

/* ---- all selected hosts */

/* One for each of the context's hosts. Free with guest_builds_close, also after a failure. */
int guest_builds_open(struct context *c, struct storage *storage, struct guest_build **builds,
                      struct error *e);
void guest_builds_close(struct context *c, struct guest_build *builds);
/* Run `work` for every host in parallel, each in a thread; it sets result and error of its struct
 * guest_build. The error of the first host that failed is returned, the others are printed. */
int guest_builds_run(struct context *c, struct guest_build *builds, void *(*work)(void *), struct error *e);

#endif
