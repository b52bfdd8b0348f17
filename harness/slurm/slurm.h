/* Sweeps on a cluster with Slurm. The result.json of a run is the truth about it, never the scheduler's
 * word. */
#ifndef HARNESS_SLURM_H
#define HARNESS_SLURM_H

#include "harness/run/sweep.h"
#include "lib/program/config.h"

/* The runs of a sweep as an array of tasks. Without a profile: what earlier jobs still do is awaited, the
 * rest is run here. */
struct slurm_engine {
    struct sweep_engine engine;
    const struct slurm_profile *profile;
};

/* The profile that `on` names: "slurm" is the profile "default", if there is one, "slurm:NAME" the profile
 * NAME. -1: `on` is wrong. */
int slurm_profile_of(const char *on, const struct user_config *config, struct slurm_profile *profile,
                     struct error *e);
/* Who has the runs of a request made, as long as this stays. */
struct slurm_choice {
    struct slurm_profile profile;
    struct slurm_engine engine;
};
/* By --on; without it, what was begun on a cluster in the folder that is resumed, or in a part of it, is
 * awaited. Sets the request's engine, and without --out (`has_out`) the folder of the profile. -1: --on is
 * wrong. */
int slurm_choose(struct slurm_choice *choice, struct sweep_request *request, const struct user_config *config,
                 bool has_out, struct error *e);
/* Has the sweep in the folder, or one of the sweeps in its parts (harness/run/part.h), been on a cluster, and
 * is not whole yet? */
bool slurm_was_there(const char *folder);

/* A part of a sweep, on a node: the runs of one task of the folder's submission. The program's exit status;
 * messages have been written. */
int slurm_task(const char *folder, size_t submission, size_t task);

/* How a sweep stands, for people or as JSON. EXIT_DONE: all runs are whole. */
int slurm_status(const char *folder, bool json);

#endif
