/*
 * The seam for programs that make traffic between real hosts. To add one, write its const struct traffic_tool in a file of its own in
 * this folder, and name it in TRAFFIC_TOOLS below; nothing else knows a tool.
 */
#ifndef HARNESS_TRAFFIC_TOOL_H
#define HARNESS_TRAFFIC_TOOL_H

#include "lib/formats/lab.h"
#include "lib/formats/scenario.h"
#include "lib/words.h"

/* One host of a flow. */
struct traffic_end {
    const struct lab_host *lab;
    const char *device; /* its RDMA device; NULL: not known */
};

/* The flows of one driving process: all go from one host to one other. */
struct traffic_job {
    const struct traffic_tool *tool;
    const struct scenario *scenario;
    const struct scenario_flow **flows; /* of the scenario */
    size_t count;
    size_t from, to;  /* roles */
    size_t number;    /* of this job in the run, from 0: for ports */
    int64_t start_ns; /* of the warm-up, by the clock of `from` */
};

/* A program to be started on a host. */
struct traffic_command {
    struct words
        words;   /* the first is the program: one of the tool's own lies in the host's "programs" folder */
    char *input; /* its standard input, one line; NULL: none */
};

struct traffic_tool {
    const char *name;    /* of the tool, and of its program */
    bool ours;           /* the program comes with harness, which puts it on hosts */
    const char *serving; /* the programs in messages: "NAME serve" */
    const char *driving;
    size_t most_flows;        /* towards one host */
    size_t flows_a_job;       /* 0: all from one host to another; 1 for a tool that runs one flow a process */
    bool server_for_each_job; /* else one server on each host that flows go to */
    int64_t
        lead_ns; /* from starting drivers to the first packet; a tool that takes no start time waits in its command */
    int64_t lead_gpu_ns; /* the same with GPU memory, whose driver takes time to start */

    /* What it cannot do, said before the run: 0, or -1 with a sentence that begins with path. */
    int (*check)(const struct scenario_flow *flow, const char *path, struct error *e);
    /* The server on job->to, for this job or (by the first such job) for all that go there. It prints a line when it is ready. */
    int (*serve)(const struct traffic_job *job, const struct traffic_end *here, struct traffic_command *out,
                 struct error *e);
    int (*drive)(const struct traffic_job *job, const struct traffic_end *from, const struct traffic_end *to,
                 struct traffic_command *out, struct error *e);
    /* Append the flow line (docs/lines.md) that a line of the driver stands for, or nothing. NULL: it prints flow lines. */
    int (*flow_line)(const struct traffic_job *job, const char *line, size_t length, struct text *out);
};

/* All of them; the first is taken for flows that name none. */
#define TRAFFIC_TOOLS(X) X(traffic_tool_roce)

#define DECLARE_TRAFFIC_TOOL(tool) extern const struct traffic_tool tool;
TRAFFIC_TOOLS(DECLARE_TRAFFIC_TOOL)
#undef DECLARE_TRAFFIC_TOOL

extern const struct traffic_tool *const traffic_tools[]; /* ended by NULL */

const struct traffic_tool *traffic_tool_of(const struct scenario_flow *flow);

/* Can the tools run this scenario between the hosts of this lab? */
int traffic_check(const struct scenario *scenario, const struct lab *lab, struct error *e);

/* The jobs of a scenario, in the order of roles; start_ns is left to the caller. Free with traffic_jobs_free. */
struct traffic_job *traffic_jobs(const struct scenario *scenario, size_t *count, struct error *e);
void traffic_jobs_free(struct traffic_job *jobs, size_t count);
/* From starting the drivers to the first packet: the longest of the jobs. */
int64_t traffic_lead_ns(const struct traffic_job *jobs, size_t count);
/* Does this job start a server? Else an earlier one has. */
bool traffic_needs_server(const struct traffic_job *jobs, size_t i);
void traffic_command_free(struct traffic_command *command);

#endif
