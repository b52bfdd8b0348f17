/* A collective operation between the GPUs of hosts, as a scenario names it. docs/scenario.md, Collectives. */
#ifndef LIB_COLLECTIVE_H
#define LIB_COLLECTIVE_H

#include "lib/document/table.h"

enum collective_op {
    COLLECTIVE_ALL_REDUCE,
    COLLECTIVE_ALL_GATHER,
    COLLECTIVE_REDUCE_SCATTER,
    COLLECTIVE_ALL_TO_ALL,
    COLLECTIVE_BROADCAST,
    COLLECTIVE_REDUCE,
    COLLECTIVE_GATHER,
    COLLECTIVE_SCATTER,
    COLLECTIVE_SEND_RECV,
    COLLECTIVE_BARRIER, /* of schedules alone: it has no name here */
};
extern const char *const collective_op_names[]; /* by enum collective_op */

/* What starts the processes: the harness starts one on the only host, or mpirun one for each GPU of each
 * host. */
enum collective_launcher { LAUNCH_PROCESS, LAUNCH_MPIRUN };

#define COLLECTIVE_MOST_HOSTS 128 /* the command of all is one argument, of at most 128 KiB in Linux */

struct scenario_collective {
    char *name;
    int tool;             /* index into the tools (harness/traffic/collective_tool.h) */
    int op;               /* enum collective_op */
    struct list_of roles; /* char *; empty: all of the scenario */
    struct list_of nics;  /* char *: globs of names of NICs; empty: all of each host */
    int64_t gpus;         /* of each host */
    int launcher;         /* enum collective_launcher; -1: mpirun where there are several roles */
    int64_t min_bytes, max_bytes, factor;
    int64_t iterations, warmup_iterations;
    int validate;
    char *datatype, *reduction; /* as the tool names them */
    int64_t root;
    struct list_of env; /* struct named_string */
    int env_from_hosts; /* host-facts --nccl-env of each host goes before `env` */
};

extern const struct table collective_table;

/* How many sizes a collective has, each `factor` times the one before. */
int64_t collective_sizes(const struct scenario_collective *collective);

#endif
