/* A lab's disks: a separate libvirt storage pool, accessed through libvirt's API, so that it may be on
 * another machine. Nothing outside the pool is read, written or deleted. */
#ifndef GUEST_STORAGE_H
#define GUEST_STORAGE_H

#include "remote/virt.h"
#include "lib/formats/lab.h"

struct storage {
    virStoragePoolPtr pool;
    char *folder; /* on the machine */
    char *name;
};

/* Compute where the pool is or will be, without a call to libvirt: pool stays NULL. Free with
 * storage_close. */
int storage_plan(const struct lab *lab, struct storage *s, struct error *e);
/* Open the lab's pool. If it does not exist, create it with `make`, else storage->pool stays NULL. Free with
 * storage_close. */
int storage_open(struct virt *v, const struct lab *lab, bool make, struct storage *s, struct error *e);
void storage_close(struct storage *s);
/* The path of a volume on the machine, whether or not it exists. The caller frees. */
char *storage_path(const struct storage *s, const char *volume);
bool storage_has(const struct storage *s, const char *volume);
/* Copy a local file into a new volume; a volume of that name is replaced. `format`: "raw" or "qcow2". */
int storage_upload(struct virt *v, const struct storage *s, const char *volume, const char *local,
                   const char *format, struct error *e);
/* Create a qcow2 volume with another volume as its backing file; a volume of that name is replaced. bytes:
 * its size, 0: that of the base. */
int storage_overlay(const struct storage *s, const char *volume, const char *base, int64_t bytes,
                    struct error *e);
/* Delete a volume; it is not an error when it is absent. */
int storage_delete(const struct storage *s, const char *volume, struct error *e);
/* Delete the pool with its remaining volumes, and its folder if that is then empty. */
int storage_remove(struct storage *s, struct error *e);

#endif
