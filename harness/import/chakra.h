/*
 * Execution traces of Chakra (mlcommons/chakra, schema/protobuf/et_def.proto of May 2026 and 0.0.4; how
 * ASTRA-sim takes them: astra-sim/workload/Workload.cc): protobuf, a file of each rank, NAME.RANK.et, which
 * has a GlobalMetadata message and then Node messages, each behind its length.
 */
#ifndef HARNESS_IMPORT_CHAKRA_H
#define HARNESS_IMPORT_CHAKRA_H

#include "harness/import/job.h"

#define CHAKRA_MOST_DEPENDENCIES 4000000 /* of all ranks */

/* With the schema's numbers. */
enum chakra_type {
    CHAKRA_INVALID,
    CHAKRA_METADATA,
    CHAKRA_MEM_LOAD,
    CHAKRA_MEM_STORE,
    CHAKRA_COMP,
    CHAKRA_SEND,
    CHAKRA_RECV,
    CHAKRA_COLL,
};

#define CHAKRA_UNSAID (-1)

struct chakra_node {
    uint64_t id;
    int64_t duration_us, operations;
    int64_t comm_type, comm_size, from, to, tag, root; /* CHAKRA_UNSAID */
    int64_t entry, exit; /* operations: what waits for others, what others wait for */
    size_t first_dependency, dependencies;
    uint32_t type, group; /* the group's number in chakra.groups */
    bool is_cpu, some_dimensions;
};

struct chakra_trace {
    const char *path;
    struct chakra_node *nodes;
    size_t node_count;
    uint64_t *dependencies; /* ids */
    size_t dependency_count;
};

struct chakra {
    struct chakra_trace *traces; /* of each rank */
    size_t ranks;
    json_t *groups; /* name: number */
    size_t nodes, dependencies;
};

/* Add the nodes of a file to the trace. */
int chakra_parse(struct chakra *chakra, struct chakra_trace *trace, const unsigned char *bytes, size_t length,
                 struct error *e);
/* The case of traces that were read. */
int chakra_import(struct chakra *chakra, const char *path, struct import_job *job, struct import *import,
                  struct error *e);
void chakra_free(struct chakra *chakra);
/* "PATH: node 7: ..."; returns -1. */
int chakra_error(const struct chakra_trace *trace, uint64_t node, struct error *e, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif
