/* Who is in control of a role's NIC: is it DCQCN where the scenario sets or needs it, and has the other end
 * of the cable the scenario's PFC? By what host-facts says of the NIC; a role that is not there was not
 * seen. */
#include "harness/doctor/check.h"

#include "lib/document/json_text.h"
#include "lib/text.h"
#include <stdlib.h>
#include <string.h>

static const char *word(const json_t *object, const char *key)
{
    const char *value = json_string_value(json_object_get(object, key));
    return value ? value : "";
}

/* ---- DCQCN */

static bool sets_dcqcn(const struct cell *cell, const char *role)
{
    static const char *const lists[] = {"ecn", "ecn_rp", "ecn_np"};
    json_t *settings = scenario_role_settings(cell->scenario_json, role);
    bool any = json_object_size(json_object_get(settings, "dcqcn")) > 0;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        any = any || json_array_size(json_object_get(settings, lists[i])) > 0;
    json_decref(settings);
    return any;
}

static const char *const legacy[] = {"mstconfig -d ", " set ROCE_CC_LEGACY_DCQCN=1, and reboot", NULL};
static const char *const other[] = {"end the program of DOCA PCC, or mstconfig -d ",
                                    " set USER_PROGRAMMABLE_CC=0, and reboot", NULL};
static const char *const ask_again[] = {
    "install mstflint on the host and ask again as root: host-facts reads mstconfig -d ",
    " -e query; or mlxreg -d ", " --reg_name PPCC", NULL};

#define DOES_NOTHING "; what the scenario sets of ecn and dcqcn does nothing"

/* By host-facts' word for what is in control. The reason in between is host-facts' own. */
static const struct control {
    const char *word; /* NULL, the last: any other */
    const char *verdict;
    const char *const *fix; /* pieces with the NIC's PCI address between them */
    const char *before, *after;
} controls[] = {
    {"dcqcn", "ok", NULL, "DCQCN is in control", ""},
    {"rtt", "failure", legacy, "RTTCC of Zero Touch RoCE is in control, not DCQCN", DOES_NOTHING},
    {"programmable", "failure", other, "a program of DOCA PCC may be in control, and not DCQCN",
     DOES_NOTHING " then"},
    {"negotiated", "warning", legacy,
     "connections whose ends agree on RTTCC of Zero Touch RoCE do without DCQCN", DOES_NOTHING " for those"},
    {NULL, "unknown", ask_again, "whether DCQCN is in control is not known", ""},
};

static void report_control(const struct doctor_subject *x, const char *role, const json_t *nic)
{
    const json_t *found = json_object_get(nic, "congestion_control");
    const char *control_word = word(found, "control"),
               *address = word(json_object_get(nic, "pci"), "address");
    const struct control *control = controls;
    struct text fix = {0};
    while (control->word && strcmp(control->word, control_word) != 0)
        control++;
    for (size_t i = 0; control->fix && control->fix[i]; i++)
        text_add(&fix, "%s%s", i ? address : "", control->fix[i]);
    doctor_add(x->entries, role, "dcqcn", control->verdict, control->fix ? text_string(&fix) : NULL,
               "%s: %s%s", control->before, word(found, "why"), control->after);
    doctor_add_evidence(x->entries,
                        "host-facts on the host of %s: congestion_control and firmware_config of %s", role,
                        word(nic, "netdev"));
    text_free(&fix);
}

static void examine_control(const struct doctor_subject *x)
{
    const char *role;
    bool cnps = doctor_interest_of(x->cell).cnps;
    for (size_t i = 0; (role = scenario_role(&x->cell->scenario, i)); i++) {
        const json_t *nic = json_object_get(x->seen->nics, role);
        if (doctor_is_end(x->cell, role) && json_is_object(json_object_get(nic, "congestion_control")) &&
            (cnps || sets_dcqcn(x->cell, role)))
            report_control(x, role, nic);
    }
}

const struct doctor_check doctor_dcqcn = {.name = "dcqcn",
                                          .scope = DOCTOR_CELL,
                                          .when = DOCTOR_EXAMINES,
                                          .needs = DOCTOR_NEEDS_REAL,
                                          .examine = examine_control};

/* ---- PFC of the other end */

static void add_list(const json_t *list, struct text *out)
{
    char *words = json_dumps(list, JSON_COMPACT);
    text_add(out, "%.80s", words ? words : "?");
    free(words);
}

/* What the other end said, by LLDP or to the driver; NULL: nothing of PFC. */
static const json_t *peer_of(const json_t *nic)
{
    const json_t *lldp = json_object_get(nic, "lldp"),
                 *driver = json_object_get(json_object_get(nic, "dcbx"), "peer");
    return json_is_array(json_object_get(lldp, "pfc"))     ? lldp
           : json_is_array(json_object_get(driver, "pfc")) ? driver
                                                           : NULL;
}

/* " (leaf-1 Ethernet8)" */
static void add_name(const json_t *peer, struct text *out)
{
    const char *name = word(peer, "name"), *port = word(peer, "port");
    if (name[0] || port[0])
        text_add(out, " (%.60s%s%.60s)", name, name[0] && port[0] ? " " : "", port);
}

static void report_peer(const struct doctor_subject *x, const char *role, const json_t *nic)
{
    const json_t *peer = peer_of(nic), *theirs = json_object_get(peer, "pfc");
    json_t *settings = scenario_role_settings(x->cell->scenario_json, role);
    const json_t *wanted = json_object_get(settings, "pfc");
    struct text ours = {0}, there = {0}, name = {0};
    if (peer && json_is_array(wanted)) {
        add_list(wanted, &ours);
        add_list(theirs, &there);
        bool same = json_equal(wanted, theirs);
        add_name(peer, &name);
        doctor_add(x->entries, role, "peer-pfc", same ? "ok" : "warning",
                   same ? NULL : "give the other end PFC on the same priorities, or change settings.pfc",
                   "the scenario sets PFC on priorities %s; the other end of the cable%s has %s%s",
                   text_string(&ours), text_string(&name), text_string(&there),
                   same ? "" : ": one end would ignore the other's pauses");
        doctor_add_evidence(x->entries, "host-facts on the host of %s: lldp or dcbx.peer of %s", role,
                            word(nic, "netdev"));
    }
    text_free(&ours);
    text_free(&there);
    text_free(&name);
    json_decref(settings);
}

static void examine_peers(const struct doctor_subject *x)
{
    const char *role;
    for (size_t i = 0; (role = scenario_role(&x->cell->scenario, i)); i++) {
        const json_t *nic = json_object_get(x->seen->nics, role);
        if (nic && doctor_is_end(x->cell, role))
            report_peer(x, role, nic);
    }
}

const struct doctor_check doctor_peer_pfc = {.name = "peer-pfc",
                                             .scope = DOCTOR_CELL,
                                             .when = DOCTOR_EXAMINES,
                                             .needs = DOCTOR_NEEDS_REAL,
                                             .examine = examine_peers};
