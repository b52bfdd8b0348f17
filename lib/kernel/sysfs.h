/*
 * Small files of the kernel (sysfs, procfs, debugfs), read below a root: "" for the running machine, or a
 * folder with a tree for tests. Paths begin with a slash: "/sys/class/net/eth0/mtu". The contents are
 * untrusted: the tests include hostile trees.
 */
#ifndef LIB_SYSFS_H
#define LIB_SYSFS_H

#include "lib/error.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Read at most size-1 bytes of a file as text: the first line without white space at its end, other
 * unprintable bytes replaced by '?'. Returns its length, or -1 with errno. */
ssize_t sysfs_text(char *buffer, size_t size, const char *root, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Read at most `size` bytes unchanged. Returns how many, or -1 with errno. */
ssize_t sysfs_bytes(void *buffer, size_t size, const char *root, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* A whole number in decimal or with 0x, alone on its line. False with errno (EINVAL: the file contains
 * something else). */
bool sysfs_number(int64_t *value, const char *root, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The last part of a symbolic link's target. Returns its length, or -1 with errno. */
ssize_t sysfs_link(char *buffer, size_t size, const char *root, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* The final target of a symbolic link, as a path below root (without root). The caller frees; NULL with
 * errno. */
char *sysfs_resolve(const char *root, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool sysfs_exists(const char *root, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Names in a folder without "." and "..", sorted by number and letters (eth2 before eth10). At most 4096. */
struct sysfs_names {
    char **items;
    size_t count;
};
struct sysfs_names sysfs_list(const char *root, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void sysfs_names_free(struct sysfs_names *names);

/* Parse a whole number as sysfs_number does. */
bool sysfs_parse_number(const char *text, int64_t *value);
/* Is this word valid as one part of a path? Names of devices come from users and from the kernel. */
bool sysfs_safe_name(const char *name);

#endif
