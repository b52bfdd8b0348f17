/*
 * Settings of a SONiC switch for a run: which fields of CONFIG_DB a scenario's `pfc`, `ecn_threshold` and
 * `watchdog` change at the ports that the lab names, and what was there before. The fields are those that
 * SONiC's own commands write (sonic-net/sonic-utilities: `config interface pfc priority`, scripts/ecnconfig,
 * pfcwd); orchagent, which applies them, follows CONFIG_DB.
 */
#ifndef HARNESS_LABS_SONIC_CHANGES_H
#define HARNESS_LABS_SONIC_CHANGES_H

#include "harness/labs/hosts/sonic/config_db.h"
#include "lib/formats/settings.h"
#include "lib/text.h"

/* What is asked of a switch. */
struct sonic_request {
    const struct settings *settings;
    const char *const *ports;
    size_t count;
    bool shared; /* what other ports use may change too */
};

/*
 * {"WRED_PROFILE|AZURE": {"green_min_threshold": "100000"}, ...}: values by key and field, null where there
 * is none. Both have the same fields, in which the switch differs from the request: none if it has it
 * already.
 */
struct sonic_changes {
    json_t *before, *wanted;
};

/* `json` has the tables of CONFIG_DB, `config` is what was read of them. Warnings are of ports that the lab
 * does not name. On error nothing is left allocated. */
int sonic_settings_plan(const struct sonic_request *request, const json_t *json,
                        const struct sonic_config *config, struct sonic_changes *out, json_t *warnings,
                        struct error *e);
/* Put the values of `wanted` into CONFIG_DB's tables. */
void sonic_settings_put(json_t *tables, const json_t *wanted);
void sonic_changes_free(struct sonic_changes *changes);

/* The settings of the named ports in the words of a scenario, by port: {"Ethernet0": {"pfc", "ecn_threshold",
 * "watchdog"}}. What the queues of a port have in common; other thresholds are left out. A new reference. */
json_t *sonic_settings_json(const struct sonic_config *config);

/* What the ASIC has of a port's settings, by ASIC_DB; `asic` is the answer of sonic_asic_script for the port,
 * and `why` says what differs. A port that ASIC_DB does not have is SONIC_UNSEEN. */
enum sonic_applied { SONIC_APPLIED, SONIC_UNSEEN, SONIC_DIFFERS };
enum sonic_applied sonic_asic_has(const struct sonic_port *port, const json_t *asic, struct text *why);

/* What redis runs. ARGV of sonic_asic_script are ports. That of sonic_set_script: an object {"before",
 * "wanted", "run", "since_s"}, the journal; it answers {"set": true}, {"changed": KEY} where CONFIG_DB is not
 * as `before` says, or {"open": JOURNAL}. sonic_restore_script puts `before` of the journal back, removes the
 * journal, and answers {"open": false} without one, else {"open": true, "since_s", "restored":
 * [{"interface", "setting", "put_back", "found"}]}. */
extern const char sonic_asic_script[], sonic_set_script[], sonic_restore_script[];

#endif
