/*
 * Settings of a run's roles: saved, applied, and restored when the run ends - or kept, where the next run
 * of a sweep wants the same. nic-config's journal stays open on the hosts meanwhile, so what was killed
 * between two runs is restored by the next one, or by `harness restore`.
 */
#ifndef HARNESS_LABS_HOSTS_SETTINGS_ROLES_H
#define HARNESS_LABS_HOSTS_SETTINGS_ROLES_H

#include "harness/labs/hosts/lab.h"

/* When the NICs of a machine, whose first role this is, are found: what an earlier run has left is restored,
 * unless it is what the last run kept and still stands. */
int roles_bring_up_settings(struct remote_lab *lab, size_t first, json_t *warnings, struct error *e);

/* As struct lab_driver says; `state` is the lab. */
int roles_save_settings(void *state, struct role_settings roles[], struct error *e);
int roles_apply_settings(void *state, struct role_settings roles[], struct error *e);
void roles_restore_settings(void *state, struct role_settings roles[]);
int roles_keep_settings(void *state, struct role_settings roles[], struct error *e);

/* Before the lab is closed: restore what the last run kept and this one has not taken over. A failure is a
 * warning. */
void roles_release_settings(struct remote_lab *lab);

#endif
