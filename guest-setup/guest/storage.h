/* A lab's disks on its machine: a libvirt storage pool of its own, through libvirt's API, so that it may be another machine.
 * Nothing outside the pool is read, written or deleted. */
#ifndef GUEST_STORAGE_H
#define GUEST_STORAGE_H

#include "remote/virt.h"
#include "lib/formats/lab.h"

struct storage {
    virStoragePoolPtr pool;
    char *folder; /* on the machine */
    char *name;
};

/* Where the pool is or will be, without asking libvirt: pool stays NULL. Free with storage_close. */
int storage_plan(const struct lab *lab, struct storage *s, struct error *e);
/* Open the lab's pool, made when it is not there (with `make`; else storage->pool stays NULL). Free with storage_close. */
int storage_open(struct virt *v, const struct lab *lab, bool make, struct storage *s, struct error *e);
void storage_close(struct storage *s);
/* The path of a volume on the machine, there or not. The caller frees. */
char *storage_path(const struct storage *s, const char *volume);
bool storage_has(const struct storage *s, const char *volume);
/* Copy a local file into a new volume; one of that name is replaced. `format`: "raw" or "qcow2". */
int storage_upload(struct virt *v, const struct storage *s, const char *volume, const char *local,
                   const char *format, struct error *e);
/* A fresh qcow2 volume over another volume; one of that name is replaced. bytes: its size, 0: that of the base. */
int storage_overlay(const struct storage *s, const char *volume, const char *base, int64_t bytes,
                    struct error *e);
/* Delete a volume; one that is absent is fine. */
int storage_delete(const struct storage *s, const char *volume, struct error *e);
/* Delete the pool with what is left in it, and its folder when that is empty then. */
int storage_remove(struct storage *s, struct error *e);

#endif
