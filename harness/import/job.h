/* What formats of training jobs share: a schedule (lib/schedule/) is built, and becomes the case. */
#ifndef HARNESS_IMPORT_JOB_H
#define HARNESS_IMPORT_JOB_H

#include "harness/import/import.h"
#include "lib/schedule/collective.h"

#define IMPORT_MOST_OPERATIONS 1000000
/* Tags from here on are those of collectives. */
#define IMPORT_COLLECTIVE_TAGS (UINT32_C(1) << 30)

struct import_job {
    /* What the command line says. `network` adds the network of a case that has its nodes. */
    enum collective_algorithm algorithm;
    uint32_t channels;
    int64_t iterations;
    int (*network)(void *context, struct import *import, struct error *e);
    void *context;
    /* while it is built */
    struct schedule schedule;
    uint32_t tags;
};

/* Begin the case, its network and the schedule. `path` must last as long as the case. */
int import_job_begin(struct import_job *job, struct import *import, const char *format, const char *path,
                     size_t ranks, struct error *e);
/* As collective_add; the algorithm, channels, rate and tags are the job's. */
int import_job_collective(struct import_job *job, const struct import *import,
                          const struct collective *collective, const int64_t *begin, int64_t *end,
                          struct error *e);
/* The schedule is whole: make the case of it. Frees it, also on error. */
int import_job_end(struct import_job *job, struct import *import, struct error *e);

/* Traces of Chakra, a file of each rank, or a folder of them. */
int import_chakra(const char *const *paths, size_t count, struct import_job *job, struct import *import,
                  struct error *e);
/* A workload of AICB. */
int import_aicb(struct reader *file, struct import_job *job, struct import *import, struct error *e);

#endif
