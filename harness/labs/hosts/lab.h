/* A lab of real hosts during a run: what the driver's files share. */
#ifndef HARNESS_LABS_HOSTS_LAB_H
#define HARNESS_LABS_HOSTS_LAB_H

#include "harness/labs/hosts/remote_stream.h"
#include "lib/clock.h"
#include "lib/network/secret.h"
#include "remote/locks.h"

struct remote_lab {
    const struct lab_run *run;
    struct clock_steady clock; /* the times of the run */
    struct secret secret;      /* of the run: its servers and drivers know it */
    struct lab_lock *lock;
    struct virt *virt;
    struct workers *workers;     /* parallel.h */
    struct host_result *results; /* one per host, of the work that workers did last */
    atomic_bool cancelled;       /* by Ctrl-C: connecting is given up */
    struct remote_host *hosts;   /* one per role, then guests without a role that forward */
    size_t host_count;           /* roles */
    size_t all_count;
    struct traffic_job *jobs;
    size_t job_count;
    struct collective_job *collectives;
    size_t collective_count;
    struct stream *streams;
    size_t stream_count;
    struct host_capture *capture;   /* NULL: none */
    struct host_faults *faults;     /* NULL: none */
    struct switch_counts *switches; /* NULL: not looked for yet */
    bool changed;                   /* settings were applied */
    int64_t traffic_ended_ns;       /* monotonic; 0: not yet */
    bool started, failed;           /* failed: programs do not end by themselves */
    bool virt_lost;
    json_t *warnings;
    json_t *left; /* what the last run of the sweep kept, by role (settings/roles.c); NULL: nothing */
};

#endif
