/* The state of a host's rebuild, saved after every change: an interrupted rebuild continues from it, status
 * shows it. */
#ifndef GUEST_SETUP_REBUILD_RECORD_H
#define GUEST_SETUP_REBUILD_RECORD_H

#include "guest-setup/guest/profile.h"
#include "lib/formats/lab.h"

struct record {
    char *path;
    json_t *json;
};

/* Load the host's record, or begin an empty one. Free with record_free. */
int record_open(const struct lab *lab, const struct lab_host *host, struct record *r, struct error *e);
void record_free(struct record *r);
int record_save(const struct record *r, struct error *e);
/* Forget everything (a fresh start). */
void record_clear(struct record *r);

const char *record_string(const struct record *r, const char *key); /* "" when it is not there */
void record_set(struct record *r, const char *key, const char *value);
bool record_complete(const struct record *r);
void record_set_complete(struct record *r, bool complete);

/* Was this step, with this text, done? */
bool record_step_done(const struct record *r, const struct profile_step *step);
void record_step(struct record *r, const struct profile_step *step, double seconds, const char *found);
/* What its check printed last; NULL when it is not done. */
const char *record_step_found(const struct record *r, const struct profile_step *step, double *seconds);
void record_forget_step(struct record *r, const struct profile_step *step);

#endif
