/* The user's configuration, $XDG_CONFIG_HOME/harness/config.json (docs/sweeps.md). */
#ifndef LIB_CONFIG_H
#define LIB_CONFIG_H

#include "lib/document/table.h"

/* How jobs are submitted to Slurm. What is not set is left to the site: no option is given to sbatch. */
struct slurm_profile {
    char *name;
    char *partition, *account, *qos;
    int64_t time_ns, memory_bytes; /* of a task; FIELD_UNSET */
    int64_t cpus;                  /* of a task, which has as many runs at a time */
    struct list_of sbatch;         /* char *: more options of sbatch */
    char *program, *results;       /* NULL: this program, the command line's folder */
};

struct user_config {
    int64_t schema;
    char *lab;
    struct list_of slurm; /* struct slurm_profile */
};

/* Its path; NULL: there is no place for one. The caller frees. */
char *config_path(void);
/* The path that a baseline of this name has: a result in the folder baselines beside it (docs/compare.md).
 * NULL: it is not a plain name, or there is no place for one. The caller frees. */
char *config_baseline(const char *name);
/* Read it; the defaults if there is none. Free with config_free. */
int config_load(struct user_config *config, struct error *e);
void config_free(struct user_config *config);

#endif
