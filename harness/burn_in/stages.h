/* The stages of a burn-in: which scenario each runs, what it needs, and what is set for a lab. */
#ifndef HARNESS_BURN_IN_STAGES_H
#define HARNESS_BURN_IN_STAGES_H

#include "lib/error.h"
#include "lib/formats/lab.h"
#include "lib/text.h"
#include "lib/words.h"

/* What of a lab decides which stages it can have. */
struct stage_lab {
    const struct lab *lab;
    size_t hosts;       /* that can send */
    size_t nics;        /* of these */
    size_t without_gpu; /* of the NICs */
    const char *no_gpu; /* the first of these */
    size_t gpus;        /* 0, 1, ... that each host has by the lab's list; 0: there is no such list */
    bool simulated;
    int64_t soak_ns; /* FIELD_UNSET: no soak is wanted */
};

struct stage {
    const char *name; /* "pairs": as findings and --stages have it */
    const char *path; /* of the scenario that is run, "burn-in/5-pairs"; its last part is the folder's name */
    /* Instead of running one, ask the hosts (ask.h): the answer is kept in the folder, and is what was seen
     * as `name`. */
    json_t *(*ask)(const struct lab *lab, const char *lab_path, int *status, struct error *e);
    const char *about;
    bool light;                           /* what is lost there was lost by a link */
    const char *real_phases, *real_every; /* of real hosts; NULL: as the scenario has them */
    size_t hosts;                         /* that it needs, */
    const char *tests; /* and what nothing tests where a lab has fewer; NULL: it needs none */
    /* Add why it is no part of the lab's burn-in, a sentence; nothing: it is one. May be NULL. */
    void (*skip)(const struct stage_lab *lab, struct text *why);
    /* Add KEY=VALUE for its scenario. May be NULL. */
    void (*set)(const struct stage_lab *lab, struct words *sets);
};

/* Real hosts need seconds where simulated ones need fractions of a millisecond. */
#define BURN_IN_SECONDS "{\"warmup\":\"500ms\",\"measure\":\"2s\",\"cooldown\":\"500ms\"}", "100ms"

#define BURN_IN_STAGES(ROW)                                                                                  \
    ROW("doctor", "1-doctor", ask_doctor, "hosts and their settings, as harness doctor sees them", false,    \
        NULL, NULL, 0, NULL, skip_simulated, NULL)                                                           \
    ROW("nics", "burn-in/2-nics", NULL,                                                                      \
        "each NIC with so little traffic that nothing waits: links, errors, versions", true,                 \
        BURN_IN_SECONDS, 2, "links", NULL, set_nics)                                                         \
    ROW("gpus", "burn-in/3-gpus", NULL, "each NIC with host memory and with that of its nearest GPU", false, \
        BURN_IN_SECONDS, 2, "routes to GPUs", skip_without_gpus, set_gpus)                                   \
    ROW("nvbandwidth", "4-nvbandwidth", ask_bandwidth,                                                       \
        "copies between host and GPUs, and between GPUs, without a NIC", false, NULL, NULL, 0, NULL,         \
        skip_no_gpus, NULL)                                                                                  \
    ROW("pairs", "burn-in/5-pairs", NULL,                                                                    \
        "all NICs at once, in rounds that load each link once in each direction", false, BURN_IN_SECONDS, 2, \
        "rates", NULL, set_pairs)                                                                            \
    ROW("lossless", "burn-in/6-lossless", NULL, "an incast on each rail: PFC, DCQCN, nothing lost", false,   \
        BURN_IN_SECONDS, 3, "PFC and DCQCN", NULL, set_incasts)                                              \
    ROW("nccl", "burn-in/7-nccl", NULL, "NCCL's all-reduce over all GPUs", false, NULL, NULL, 2,             \
        "collectives", skip_nccl, NULL)                                                                      \
    ROW("soak", "burn-in/8-soak", NULL, "all NICs at once for long: errors, flaps, losses", false,           \
        "{\"warmup\":\"1s\",\"cooldown\":\"1s\"}", "1s", 2, "long loads", skip_without_time, set_soak)

extern const struct stage burn_in_stages[]; /* in the order of running; ended by one without a name */

/* Adds why the lab cannot have the stage; nothing: it can. True if the lab should, and has too few hosts. */
bool stage_is_skipped(const struct stage *stage, const struct stage_lab *lab, struct text *why);
struct stage_lab stage_lab_of(const struct lab *lab, int64_t soak_ns);
/* Everything that is set for the stage, besides what the user sets. */
void stage_sets(const struct stage *stage, const struct stage_lab *lab, struct words *sets);
/* The name of its folder: "5-pairs". */
const char *stage_folder(const struct stage *stage);

#endif
