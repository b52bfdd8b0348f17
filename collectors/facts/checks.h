/* Checks of a host's facts: the conditions for GPUDirect RDMA and lossless RoCE. */
#ifndef COLLECTORS_CHECKS_H
#define COLLECTORS_CHECKS_H

#include <jansson.h>
#include <stdint.h>

struct checks_wanted {
    int64_t buffer_bytes;  /* how much GPU memory will be registered with the NIC */
    int memory;            /* enum flow_memory: the route by which flows register GPU memory */
    const json_t *policy;  /* NVIDIA GPU operator's ClusterPolicy; NULL: none */
    const json_t *bundle;  /* bundle of versions to compare with; NULL: none */
    const json_t *traffic; /* rates measured by traffic_probe, NULL when not measured */
};

/* A list of {"check","subject","verdict","reason","fix","evidence"}; verdicts: ok, warning, failure, unknown
 * (what was not read); fix is null when there is nothing to do; evidence is where the facts were read.
 * `facts` is a document of facts_gather, perhaps read from a file: anything in it may be missing. A new
 * reference. */
json_t *checks_run(const json_t *facts, const struct checks_wanted *wanted);

/* What they say together: {"for": "GPUDirect RDMA", or "RDMA with host memory"; "answer": "yes", "no",
 * "unknown"; "why": the reasons of "no", or the checks that are unknown}. `judged`: the list of checks_run. A
 * new reference. */
json_t *checks_answer(const json_t *facts, const json_t *judged, const struct checks_wanted *wanted);

#endif
