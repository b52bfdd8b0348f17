/* A lab of real hosts during a run: what the driver's files share. */
#ifndef HARNESS_LABS_HOSTS_LAB_H
#define HARNESS_LABS_HOSTS_LAB_H

#include "harness/labs/hosts/remote_stream.h"
#include "remote/locks.h"

struct remote_lab {
    const struct lab_run *run;
    struct lab_lock *lock;
    struct virt *virt;
    struct remote_host *hosts; /* one a role */
    size_t host_count;
    struct traffic_job *jobs;
    size_t job_count;
    struct stream *streams;
    size_t stream_count;
    bool started, failed; /* failed: programs do not end by themselves */
    bool virt_lost;
    json_t *warnings;
};

#endif
