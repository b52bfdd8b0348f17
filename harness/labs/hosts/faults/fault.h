/* One fault of single frames, or a storm of pauses, where hosts are real: who has it, and in which words. */
#ifndef HARNESS_LABS_HOSTS_FAULT_H
#define HARNESS_LABS_HOSTS_FAULT_H

#include "lib/faults/injection.h"
#include "lib/formats/lab.h"
#include "lib/formats/scenario.h"
#include "lib/text.h"

#define FAULT_MOST_FRAMES 1000000000 /* neither a NIC nor a filter counts further */
#define FAULT_MOST_RULES  16         /* of a run */

/* A rule of the scenario, on its way to a fault. */
struct fault_request {
    const struct scenario *scenario;
    const struct lab *lab;
    const struct injection_rule *rule;
    size_t i;              /* its place in the scenario */
    char path[32];         /* "inject[0]" */
    const char *from, *to; /* roles: who sends the frames, to whom */
    const struct lab_host *source, *destination;
};

/* Free `line` with text_free. */
struct fault {
    const struct lab_host *host; /* who has it */
    bool storm;                  /* of no single frame: nothing is counted */
    int64_t start_ns;            /* of a storm, from the beginning of the warm-up */
    bool filter;                 /* by the kernel's packet filter; false: by the host's virtual ConnectX */
    struct text line; /* what the NIC takes (virtual-connectx/model/faults/faults.h), or a rule of nft */
    bool detour;      /* of a filter: the frame, or its copy, takes a way of its own into the bridge, */
    int64_t delay_ns; /* which lasts so long */
};

/* Does this host send such packets of the flow? Those of a ping-pong are sent by both. */
bool fault_sends(const struct scenario_flow *flow, const char *role, int packet);

#endif
