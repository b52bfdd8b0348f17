/* Error messages of libvirt. */
#ifndef REMOTE_VIRT_ERROR_H
#define REMOTE_VIRT_ERROR_H

#include "lib/error.h"

/* Load libvirt's library: before this succeeds, none of its functions may be called. Returns -1 with what to
 * install. */
int virt_load(struct error *e);
/* Fill e with "CONTEXT: libvirt's last error message in this thread"; returns -1. */
int virt_error(struct error *e, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Why `uri` could not be opened, and what to do about it; returns -1. */
int virt_explain_open(const char *uri, struct error *e);
/* "user@machine:port" of a URI such as qemu+ssh://user@machine:port/system: guests are reached through that
 * machine. NULL: libvirt runs on this machine. The caller frees. */
char *virt_jump(const char *uri);

#endif
