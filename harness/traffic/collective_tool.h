/*
 * The interface for programs that run a collective operation between GPUs of real hosts. To add one, write
 * its const struct collective_tool, collective_tool_NAME, in a new file in this folder, and add NAME to
 * COLLECTIVE_TOOLS of lib/formats/traffic_tools.h.
 */
#ifndef HARNESS_COLLECTIVE_TOOL_H
#define HARNESS_COLLECTIVE_TOOL_H

#include "harness/traffic/nccl_debug.h"
#include "lib/formats/lab.h"
#include "lib/formats/scenario.h"
#include "lib/formats/traffic_tools.h"
#include "lib/words.h"

struct collective_tool;

#define COLLECTIVE_VERSION_SIZE 64

/* One host that takes part. */
struct collective_host {
    size_t role;                /* of the scenario; of several NICs that of the first that is used */
    const struct lab_host *lab; /* of this role */
    size_t *nics;               /* roles of all that are used */
    size_t nic_count;
    struct list_of env; /* struct named_string: of host-facts --nccl-env, if the scenario wants it */
};

/* A collective of a run. Its command starts on the first host. */
struct collective_job {
    const struct collective_tool *tool;
    const struct scenario_collective *collective;
    const struct lab *lab;
    struct collective_host *hosts;
    size_t host_count;
    bool mpirun;
    int64_t start_ns;                             /* by the clock of the first host */
    char mpirun_version[COLLECTIVE_VERSION_SIZE]; /* as the first host said; "" without mpirun */
};

struct collective_tool {
    const char *name;
    const char *install; /* how it gets onto hosts */
    const char *cannot;  /* what a result lacks, for the result */

    /* Can the tool run it in this lab? Before a host is reached. */
    int (*check)(const struct collective_job *job, struct error *e);
    /* What to run on a host before anything is changed, and what its answer says: 0 if the job can run there,
     * else -1 with why not; *missing: the whole tool is. */
    int (*ask)(const struct collective_job *job, size_t host, struct words *command, struct error *e);
    int (*judge)(struct collective_job *job, size_t host, const char *answer, bool *missing, struct error *e);
    /* The command, on the first host. It waits for start_ns; the first line of its output is COLLECTIVE_RAN
     * and what it ran. Messages go to its standard error. */
    int (*command)(const struct collective_job *job, struct words *command, struct error *e);
    /* The variables of the processes on a host, those of collective_env and the tool's own: a new object of
     * strings. */
    json_t *(*environment)(const struct collective_job *job, size_t host);
    /* Its figures (docs/result.md, collectives), of all that it printed and of what NCCL said. *failed: it
     * says itself that results are wrong, for which its exit status is not 0. Returns a new object, or
     * NULL. */
    json_t *(*read)(const struct collective_job *job, const char *printed, size_t length,
                    const struct nccl_debug *debug, bool *failed, struct error *e);
};

#define COLLECTIVE_RAN "ran: "

#define DECLARE_COLLECTIVE_TOOL(name, word) extern const struct collective_tool collective_tool_##name;
COLLECTIVE_TOOLS(DECLARE_COLLECTIVE_TOOL)
#undef DECLARE_COLLECTIVE_TOOL

/* Can the tools run the collectives of this scenario in this lab of real hosts? */
int collectives_check(const struct scenario *scenario, const struct lab *lab, struct error *e);
/* The jobs of a scenario, in its order. Free with collective_jobs_free. */
struct collective_job *collective_jobs(const struct scenario *scenario, const struct lab *lab, size_t *count,
                                       struct error *e);
void collective_jobs_free(struct collective_job *jobs, size_t count);
/* The variables that a host's processes get: its own, then those of the scenario over them. A new object of
 * strings, in this order. */
json_t *collective_env(const struct collective_job *job, size_t host);
/* Take "export NAME=VALUE" lines, as host-facts --nccl-env prints them, for a host. -1: there is something
 * else. */
int collective_take_env(struct collective_host *host, const char *printed, struct error *e);

#endif
