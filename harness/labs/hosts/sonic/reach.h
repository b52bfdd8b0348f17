/*
 * A SONiC switch of the lab: its databases over ssh, or a recorded config_db.json. Databases are read by a script that redis runs (EVAL,
 * through redis-cli on the switch), so that a reading is of one moment; nothing is written.
 * SONiC's databases in redis: 2 is COUNTERS_DB, 4 CONFIG_DB (sonic-net/sonic-swss-common, common/database_config.json).
 */
#ifndef HARNESS_LABS_SONIC_REACH_H
#define HARNESS_LABS_SONIC_REACH_H

#include "lib/formats/lab.h"
#include "lib/text.h"
#include "remote/ssh.h"
#include <jansson.h>

/* Connect to a switch that is reached over ssh. */
struct ssh_session *sonic_open(const struct lab_switch *s, const atomic_bool *cancelled, struct error *e);
/* Its answer to a script with these arguments (`count` of them): an object. A new reference, or NULL. */
json_t *sonic_ask(const struct lab_switch *s, struct ssh_session *session, int database, const char *script,
                  const char *const arguments[], size_t count, struct error *e);
/* The tables of CONFIG_DB that are looked at: a file's (`lab_path` is that of the lab), or those of the running switch. `from` says where
 * they were read. A new reference, or NULL. */
json_t *sonic_config_of(const struct lab_switch *s, const char *lab_path, struct text *from, struct error *e);

#endif
