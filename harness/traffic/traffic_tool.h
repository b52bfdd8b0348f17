/*
 * The interface for programs that generate traffic between real hosts. To add one, write its const struct
 * traffic_tool, traffic_tool_NAME, in a new file in this folder, and add NAME to lib/formats/traffic_tools.h;
 * no other file names a tool.
 */
#ifndef HARNESS_TRAFFIC_TOOL_H
#define HARNESS_TRAFFIC_TOOL_H

#include "lib/formats/lab.h"
#include "lib/formats/scenario.h"
#include "lib/formats/traffic_tools.h"
#include "lib/words.h"

/* One host of a flow. */
struct traffic_end {
    const struct lab_host *lab;
    const char *device; /* its RDMA device; NULL: unknown */
};

#define TRAFFIC_VERSION_SIZE 32

/* The flows of one driving process: all go from one host to one other. */
struct traffic_job {
    const struct traffic_tool *tool;
    const struct scenario *scenario;
    const struct scenario_flow **flows; /* of the scenario */
    size_t count;
    size_t from, to;  /* roles */
    size_t number;    /* of this job in the run, from 0: selects its ports */
    int64_t start_ns; /* when the warm-up begins, by the clock of `from`; 0: not known yet */
    /* of a tool that does not come with harness, as the hosts said */
    char version_from[TRAFFIC_VERSION_SIZE], version_to[TRAFFIC_VERSION_SIZE];
};

#define TRAFFIC_RAN "ran: "

/* A program to start on a host. */
struct traffic_command {
    struct words
        words; /* the first is the program; if it comes with harness, it is in the host's "programs" folder */
    bool secret; /* its standard input begins with a line, the run's secret */
    char *input; /* its standard input (after the secret), one line; NULL: none */
};

struct traffic_tool {
    const char *name;    /* of the tool, and of its program */
    bool ours;           /* the program comes with harness, and harness install copies it to hosts */
    const char *serving; /* the programs in messages: "NAME serve" */
    const char *driving;
    int64_t port; /* on which the server listens for TCP connections; of a server for each job the first */
    size_t most_flows;  /* to one host */
    size_t flows_a_job; /* 0: all from one host to another; 1 for a tool that runs one flow per process */
    bool server_for_each_job; /* it ends with its driver; else there is one server on each receiving host */
    /* The driver connects, prints a "ready" event (docs/lines.md), and reads the time of its start as a line
     * of standard input. One of another tool gets start_ns, and a tool without a start option waits in its
     * command. */
    bool awaits_start;
    int64_t lead_ns; /* to the first packet, from telling the start to a driver that awaits it, else from
                        starting the driver */

    /* Can the tool run this flow? Called before the run: 0, or -1 with an error message that begins with
     * path. */
    int (*check)(const struct scenario *scenario, const struct lab *lab, const struct scenario_flow *flow,
                 const char *path, struct error *e);
    /* The server on job->to, for this job or (by the first such job) for all that go there. It prints a line
     * when it is ready. */
    int (*serve)(const struct traffic_job *job, const struct traffic_end *here, struct traffic_command *out,
                 struct error *e);
    int (*drive)(const struct traffic_job *job, const struct traffic_end *from, const struct traffic_end *to,
                 struct traffic_command *out, struct error *e);

    /* The rest is of a tool that does not come with harness and prints no flow lines; else NULL. */
    const char *install; /* the commands that install it on a host */
    const char *cannot;  /* what a result of its flows lacks, for the result */
    /* What to run on both hosts of a job before anything is changed, and what its answer says: the version,
     * and 0 if the job can run there, else -1 with why not. `host` is its name. */
    int (*ask)(const struct traffic_job *job, struct words *command, struct error *e);
    int (*judge)(const struct traffic_job *job, const char *host, const char *answer,
                 char version[TRAFFIC_VERSION_SIZE], struct error *e);
    /* Convert what a driver that ended well has printed, whole lines, to flow lines (docs/lines.md), which
     * are appended to `out`. time_ns: of its end, by the clock of `from`. The first line of a driver, and of
     * a server, is TRAFFIC_RAN and the command that ran. */
    int (*read)(const struct traffic_job *job, const char *printed, size_t length, int64_t time_ns,
                struct text *out, struct error *e);
    /* Does its reading need a line that it has printed? A line for each queue pair would be too many to keep.
     * NULL: all. */
    bool (*needs)(const char *line, size_t length);
    /* When a program has failed: what its messages and the lines that it printed mean, the causes first. */
    void (*explain)(const struct traffic_job *job, const char *said, const char *printed, struct text *out);
};

#define DECLARE_TRAFFIC_TOOL(name) extern const struct traffic_tool traffic_tool_##name;
TRAFFIC_TOOLS(DECLARE_TRAFFIC_TOOL)
#undef DECLARE_TRAFFIC_TOOL

extern const struct traffic_tool *const traffic_tools[]; /* all of them, ended by NULL */

/* The one that the flow names, or the first. */
const struct traffic_tool *traffic_tool_of(const struct scenario_flow *flow);

/* Can the tools run this scenario between the hosts of this lab? */
int traffic_check(const struct scenario *scenario, const struct lab *lab, struct error *e);

/* The jobs of a scenario, in the order of roles; start_ns is left to the caller. Free with
 * traffic_jobs_free. */
struct traffic_job *traffic_jobs(const struct scenario *scenario, size_t *count);
void traffic_jobs_free(struct traffic_job *jobs, size_t count);
/* The longest lead_ns of the jobs. */
int64_t traffic_lead_ns(const struct traffic_job *jobs, size_t count);
/* Does this job start a server? If not, an earlier job has started it. */
bool traffic_needs_server(const struct traffic_job *jobs, size_t i);
void traffic_command_free(struct traffic_command *command);

#endif
