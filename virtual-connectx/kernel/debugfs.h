/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#ifndef VCX_KERNEL_DEBUGFS_H
#define VCX_KERNEL_DEBUGFS_H

#include "virtual-connectx/kernel/front.h"

#include <linux/seq_file.h>

/* A file: of a function, or of the switch, which passes NULL. The lock is held while it is shown, and
 * while it is set unless `set` takes what it needs. */
struct vcx_file {
    const char *name;
    void (*show)(struct seq_file *file, struct vcx_front *front); /* NULL: write only */
    int (*set)(struct vcx_front *front, char *text);              /* NULL: read only */
    bool locks;                                                   /* `set` takes the locks that it needs */
};

/* Each ends with a name of NULL. */
extern const struct vcx_file vcx_files_of_function[];
extern const struct vcx_file vcx_files_of_switch[];

#endif
