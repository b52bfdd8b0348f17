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
    /* Add why the lab cannot have it, a sentence; nothing: it can. */
    void (*skip)(const struct stage_lab *lab, struct text *why);
    /* Add KEY=VALUE for its scenario. May be NULL. */
    void (*set)(const struct stage_lab *lab, struct words *sets);
};

extern const struct stage burn_in_stages[]; /* in the order of running; ended by one without a name */

struct stage_lab stage_lab_of(const struct lab *lab, int64_t soak_ns);
/* Everything that is set for the stage, besides what the user sets. */
void stage_sets(const struct stage *stage, const struct stage_lab *lab, struct words *sets);
/* The name of its folder: "5-pairs". */
const char *stage_folder(const struct stage *stage);

#endif
