/* State of a subcommand: the lab, the selected hosts, the connection to libvirt, the options. */
#ifndef GUEST_SETUP_REBUILD_CONTEXT_H
#define GUEST_SETUP_REBUILD_CONTEXT_H

#include "remote/virt.h"
#include "lib/interrupt.h"
#include "lib/formats/lab.h"
#include <pthread.h>
#include <stdatomic.h>

struct options {
    const char *lab;
    const char *from;
    int fresh;
    int dry_run;
    int adopt;
    int json;
    int check;
    int quiet;
    int discard_settings;
};

struct context {
    struct options options;
    struct lab lab;
    bool has_lab;
    bool reached; /* the machine was contacted: failures from now on are the lab's, not wrong input */
    const struct lab_host **hosts; /* the selected guests */
    size_t host_count;
    struct virt *virt;
    struct interrupt interrupt;
    atomic_bool cancelled; /* the hosts' threads check it between and during steps */
    int64_t begin_ns;
};

/* Load the lab and pick its guests by `names` (all when there are none). Does not connect. */
int context_load(struct context *c, const char *const *names, size_t count, struct error *e);
int context_connect(struct context *c, struct error *e);
void context_free(struct context *c);

/* "virt-provision: HOST: TEXT" on stderr unless --quiet. Threads may call it. */
void context_report(const struct context *c, const struct lab_host *host, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
