/*
 * A SONiC switch of the lab: its databases over ssh, or a recorded config_db.json. Databases are read by a
 * script that redis runs (EVAL, through redis-cli on the switch), so that a reading is of one moment, and a
 * change is whole.
 */
#ifndef HARNESS_LABS_SONIC_REDIS_H
#define HARNESS_LABS_SONIC_REDIS_H

#include "lib/formats/lab.h"
#include "lib/text.h"
#include "lib/words.h"
#include "remote/locks.h"
#include <jansson.h>

/* SONiC's databases in redis (sonic-net/sonic-swss-common, common/database_config.json). */
enum sonic_database { SONIC_ASIC_DB = 1, SONIC_COUNTERS_DB = 2, SONIC_CONFIG_DB = 4, SONIC_STATE_DB = 6 };

/* Connect to a switch that is reached over ssh. */
struct ssh_session *sonic_open(const struct lab_switch *s, const atomic_bool *cancelled, struct error *e);
/* The same, and lock it: its settings will be changed or put back. That it cannot be locked goes to
 * `warnings` (NULL: nowhere). */
struct ssh_session *sonic_open_locked(const struct lab_switch *s, const struct lab_lock *lock,
                                      const atomic_bool *cancelled, json_t *warnings, struct error *e);
/* Its answer to a script with these arguments (`count` of them): an object. A new reference, or NULL. */
json_t *sonic_ask(const struct lab_switch *s, struct ssh_session *session, enum sonic_database database,
                  const char *script, const char *const arguments[], size_t count, struct error *e);
/* The command that asks it; with every_ns it is repeated until it is ended, and each answer is a line. */
void sonic_words(const struct lab_switch *s, enum sonic_database database, int64_t every_ns,
                 const char *script, const char *const arguments[], size_t count, struct words *command);
/* The tables of the running CONFIG_DB that are looked at. A new reference, or NULL. */
json_t *sonic_tables(const struct lab_switch *s, struct ssh_session *session, struct error *e);

#endif
