#include "harness/judge/capture.h"
#include "verify/verify.h"

#include "lib/document/json_text.h"
#include "lib/faults/link_fault.h"
#include "lib/files.h"
#include "lib/folder/folder.h"
#include "lib/text.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the run's settings */

#define MOST_AGREED 3
/* Ports may have settings of their own, but for what says which priority a packet has: that is the sender's
 * all the way. */
static const char *const agreed[CAPTURE_CHECK_COUNT][MOST_AGREED] = {
    [CHECK_CNP] = {"trust", "dscp_to_prio"},
    [CHECK_DCQCN] = {"trust", "dscp_to_prio"},
    [CHECK_PFC] = {"trust", "dscp_to_prio"},
    [CHECK_ECN] = {"trust", "dscp_to_prio"},
};

/* What a real host read back of its first interface, as far as a scenario has such settings; of the simulator
 * all. */
static void merge_read_back(json_t *flat, json_t *read_back, bool simulated)
{
    json_t *interface = simulated ? read_back : json_object_iter_value(json_object_iter(read_back));
    for (const struct field *f = settings_table.fields; !simulated && f->name; f++)
        if (!json_is_null(json_object_get(interface, f->name)))
            json_object_set(flat, f->name, json_object_get(interface, f->name));
    if (simulated)
        json_merge_deep(flat, interface);
}

/* What a simulated NIC does beside go-back-N as the specification has it. */
static json_t *recovery_of(const struct physics_nic *nic)
{
    const bool does[RECOVERIES] = {
        [RECOVERY_ADAPTIVE] = nic->adaptive_retransmission || nic->min_ack_timeout_limit_disabled,
        [RECOVERY_SELECTIVE] = nic->recovery == PHYSICS_SELECTIVE_REPEAT,
        [RECOVERY_OUT_OF_ORDER] = nic->out_of_order_placement,
    };
    json_t *list = json_array();
    for (size_t i = 0; i < RECOVERIES; i++)
        if (does[i])
            json_array_append_new(list, json_text(verify_recovery_names[i]));
    return list;
}

/* A host's settings in one level: those of the scenario under those that were read back, "dcqcn.rp" and
 * "dcqcn.np", and what a simulated lab says of its NIC (`host`; NULL: it is real). */
static json_t *flat_settings(const json_t *role, const struct physics_host *host)
{
    json_t *flat = json_make("{s:s}", "trust", "pcp");
    json_merge_deep(flat, json_object_get(role, "wanted"));
    merge_read_back(flat, json_object_get(role, "read_back"), host);
    json_t *dcqcn = json_object_get(flat, "dcqcn");
    json_object_set(flat, "dcqcn.rp", json_object_get(dcqcn, "rp"));
    json_object_set(flat, "dcqcn.np", json_object_get(dcqcn, "np"));
    json_object_del(flat, "dcqcn");
    json_object_del(flat, "addresses"); /* no checker asks for them, and no two hosts have the same */
    if (!host)
        return flat;
    json_object_set_new(flat, "ack_timeout",
                        json_textf("%lldns", (long long)host->nic.ack_timeout_ps / 1000));
    json_object_set_new(flat, "nak_delay", json_textf("%lldns", (long long)host->nic.nak_delay_ps / 1000));
    if (host->nic.nak_again_ps)
        json_object_set_new(flat, "nak_again",
                            json_textf("%lldns", (long long)host->nic.nak_again_ps / 1000));
    json_t *rp = json_copy(json_object_get(flat, "dcqcn.rp")), *reset = json_object_get(rp, "rpg_byte_reset");
    if (host->nic.byte_reset_bytes != FIELD_UNSET && reset) { /* more than the setting may have */
        json_object_set_new(flat, "byte_reset", json_textf("%lldB", (long long)json_integer_value(reset)));
        json_object_del(rp, "rpg_byte_reset");
        json_object_set(flat, "dcqcn.rp", rp);
    }
    json_decref(rp);
    json_object_set_new(flat, "cnp_pacing", json_text(physics_pacing_names[host->nic.cnp_pacing]));
    json_object_set_new(flat, "unmarked_cnps", json_boolean(host->nic.unmarked_cnps != UNMARKED_CNPS_NEVER));
    json_object_set_new(flat, "recovery", recovery_of(&host->nic));
    return flat;
}

/* Note the keys of `a` whose value `b` has not. */
static void note_differing(json_t *a, json_t *b, json_t *differ)
{
    const char *key;
    json_t *value;
    json_object_foreach(a, key, value)
    {
        const json_t *other = json_object_get(b, key);
        if (!other || !json_same(value, other))
            json_put(differ, key, json_true());
    }
}

/* Switches, and hosts that play no role, have lossless priorities, too: those of the common settings, or
 * their own. */
static void note_pfc(json_t *common, const json_t *pfc, json_t *differ)
{
    const json_t *here = json_object_get(common, "pfc");
    if (pfc && here && !json_same(here, pfc))
        json_object_set_new(differ, "pfc", json_true());
}

static json_t *common_settings(const struct cell *cell, const json_t *settings, json_t *differ)
{
    json_t *common = NULL;
    const char *role;
    for (size_t i = 0; (role = scenario_role(&cell->scenario, i)); i++) {
        const json_t *mine = json_object_get(settings, role);
        int host = lab_host_of(&cell->lab, role);
        json_t *flat = host < 0 ? NULL : flat_settings(mine, lab_sim_host_at(&cell->lab, (size_t)host));
        if (flat && common) {
            note_differing(common, flat, differ);
            note_differing(flat, common, differ);
        } else if (flat) {
            common = json_incref(flat);
        }
        json_decref(flat);
    }
    for (size_t i = 0; (role = scenario_role(&cell->scenario, i)); i++)
        if (lab_host_of(&cell->lab, role) < 0)
            note_pfc(common,
                     json_object_get(json_object_get(json_object_get(settings, role), "wanted"), "pfc"),
                     differ);
    note_pfc(common, json_object_get(json_object_get(cell->scenario_json, "settings"), "pfc"), differ);
    return common ? common : json_object();
}

/* The members of a document for checkers that follow from a host's settings in one level. A new reference. */
static json_t *document_of(const json_t *flat)
{
    static const char *const elsewhere[] = {"dcqcn.rp",  "dcqcn.np",   "ack_timeout",
                                            "nak_again", "cnp_pacing", "unmarked_cnps",
                                            "recovery",  "nak_delay",  "byte_reset"};
    json_t *settings = json_copy((json_t *)flat);
    json_object_set_new(settings, "dcqcn",
                        json_make("{s:O*,s:O*}", "rp", json_object_get(flat, "dcqcn.rp"), "np",
                                  json_object_get(flat, "dcqcn.np")));
    for (size_t i = 0; i < sizeof elsewhere / sizeof *elsewhere; i++)
        json_object_del(settings, elsewhere[i]);
    return json_make("{s:O*,s:O*,s:O*,s:O*,s:O*,s:O*,s:O*,s:o}", "ack_timeout",
                     json_object_get(flat, "ack_timeout"), "nak_again", json_object_get(flat, "nak_again"),
                     "nak_delay", json_object_get(flat, "nak_delay"), "cnp_pacing",
                     json_object_get(flat, "cnp_pacing"), "unmarked_cnps",
                     json_object_get(flat, "unmarked_cnps"), "recovery", json_object_get(flat, "recovery"),
                     "byte_reset", json_object_get(flat, "byte_reset"), "settings", settings);
}

/* A switch has lossless priorities; packets have the priorities that they have everywhere. */
static json_t *switch_settings(const json_t *common, const json_t *role, const json_t *of_all)
{
    const json_t *pfc = json_object_get(json_object_get(role, "wanted"), "pfc");
    return json_make("{s:O*,s:O*,s:O*}", "trust", json_object_get(common, "trust"), "dscp_to_prio",
                     json_object_get(common, "dscp_to_prio"), "pfc",
                     pfc ? pfc : json_object_get(of_all, "pfc"));
}

/* The ports of each role with its settings. */
static json_t *settings_of_ports(const struct cell *cell, const json_t *settings, const json_t *common)
{
    const json_t *of_all = json_object_get(cell->scenario_json, "settings");
    json_t *ports = json_array();
    const char *role;
    for (size_t i = 0; (role = scenario_role(&cell->scenario, i)); i++) {
        const json_t *mine = json_object_get(settings, role);
        int host = lab_host_of(&cell->lab, role);
        json_t *flat = host < 0 ? switch_settings(common, mine, of_all)
                                : flat_settings(mine, lab_sim_host_at(&cell->lab, (size_t)host));
        json_t *port = document_of(flat);
        json_object_set_new(port, "interfaces",
                            json_make("[o]", json_textf("%s:*", lab_node_of(&cell->lab, role))));
        json_array_append_new(ports, port);
        json_decref(flat);
    }
    return ports;
}

/* What the scenario's capture leaves out, and whether its faults hold senders back. */
static void add_circumstances(const struct cell *cell, json_t *document)
{
    const struct capture *capture = cell->scenario.capture;
    const struct link_fault *faults = cell->scenario.faults.items;
    const json_t *said = json_object_get(cell->scenario_json, "capture");
    if (capture && capture->flows.count)
        json_object_set_new(document, "some_flows", json_true());
    if (capture && capture->priorities.count)
        json_object_set(document, "priorities", json_object_get(said, "priorities"));
    for (size_t i = 0; i < cell->scenario.faults.count; i++)
        if (faults[i].kind != LINK_LOSS)
            json_object_set_new(document, "links_down", json_true());
}

json_t *judge_capture_settings(const struct cell *cell, const json_t *settings, json_t *differ)
{
    json_t *common = common_settings(cell, settings, differ), *value;
    const char *key;
    json_object_foreach(differ, key, value) json_object_del(common, key);
    json_t *document = document_of(common);
    json_object_set_new(document, "schema", json_integer(1));
    json_object_set_new(document, "times", json_boolean(lab_kind(&cell->lab)->simulated));
    add_circumstances(cell, document);
    if (json_object_size(differ))
        json_object_set_new(document, "ports", settings_of_ports(cell, settings, common));
    json_decref(common);
    return document;
}

/* The ports that mark, and from where on: what the capture has of them are whole queues, unless some flows
 * were chosen. */
static void add_thresholds(const struct cell *cell, const json_t *capture, json_t *document)
{
    const json_t *entry, *ports = json_object_get(capture, "ecn_thresholds");
    json_t *thresholds = json_array();
    size_t i;
    json_array_foreach(ports, i, entry)
    {
        json_int_t kmin_bytes = json_integer_value(json_object_get(entry, "kmin_bytes"));
        json_array_append_new(thresholds,
                              json_make("{s:O,s:o}", "interfaces", json_object_get(entry, "interfaces"),
                                        "kmin", json_textf("%lldB", (long long)kmin_bytes)));
    }
    if (ports && !cell->scenario.capture->flows.count)
        json_object_set(document, "ecn_thresholds", thresholds);
    json_decref(thresholds);
}

/* ---- verdicts */

static json_t *entry_of(int check, const char *verdict, const char *reason)
{
    struct text name = {0};
    text_add(&name, "verify: %s", capture_check_names[check]);
    json_t *entry =
        json_make("{s:s,s:s,s:s,s:i,s:[],s:s}", "name", text_string(&name), "check",
                  capture_check_names[check], "verdict", verdict, "count", 0, "findings", "reason", reason);
    text_free(&name);
    return entry;
}

static void skip_all(const struct list_of *checks, const char *why_not, json_t *entries)
{
    const int *items = checks->items;
    for (size_t i = 0; i < checks->count; i++)
        json_array_append_new(entries, entry_of(items[i], "skipped", why_not));
}

/* What a checker looks at: a capture that has none of it gives it nothing to judge. */
static const char *const looked_at[CAPTURE_CHECK_COUNT] = {
    [CHECK_GO_BACK_N] = "packets of reliable connections",
    [CHECK_CNP] = "CNPs",
    [CHECK_DCQCN] = "packets of queue pairs with CNPs",
    [CHECK_PFC] = "PFC frames",
    [CHECK_ECN] = "RoCEv2 packets",
    [CHECK_ICRC] = "whole RoCEv2 packets",
};

/* The first finding leads, then what was looked at, and how far the capture goes. */
static void add_reason(int check, const json_t *judged, int64_t cut_ns, struct text *out)
{
    const char *reason = json_string_value(json_object_get(judged, "reason"));
    bool none =
        strcmp(reason, "nothing to judge") == 0 && !json_array_size(json_object_get(judged, "not_judged"));
    const json_t *kind = json_array_get(json_object_get(judged, "findings"), 0);
    const json_t *first = json_array_get(json_object_get(kind, "packets"), 0);
    json_int_t count = json_integer_value(json_object_get(judged, "count"));
    if (first)
        text_add(out, "%lld %s, the first: packet %lld: %s; in ", (long long)count, THINGS(count, "finding"),
                 (long long)json_integer_value(json_object_get(first, "packet")),
                 json_string_value(json_object_get(first, "text")));
    text_add(out, "%s%s%s", reason, none ? ": the capture has no " : "", none ? looked_at[check] : "");
    const char *open = json_string_value(json_object_get(judged, "open"));
    if (open)
        text_add(out, "; not judged: %s", open);
    if (cut_ns >= 0)
        text_add(out, "; the capture ends at %.6f ms, where it reached its limit", (double)cut_ns / 1e6);
}

static const char *verdict_of(const json_t *judged)
{
    const char *verdict = json_string_value(json_object_get(judged, "verdict"));
    return strcmp(verdict, "ok") == 0 ? "passed" : strcmp(verdict, "failure") == 0 ? "failed" : "skipped";
}

/* `common`: what was not judged by any checker. */
static json_t *judged_entry(int check, const json_t *judged, const json_t *common, int64_t cut_ns)
{
    struct text reason = {0};
    add_reason(check, judged, cut_ns, &reason);
    json_t *entry = entry_of(check, verdict_of(judged), text_string(&reason));
    static const char *const kept[] = {"count", "findings", "not_judged"};
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        json_object_set(entry, kept[i], json_object_get(judged, kept[i]));
    json_array_extend(json_object_get(entry, "not_judged"), (json_t *)common);
    text_free(&reason);
    return entry;
}

/* Which of its settings differ between roles? Nothing: it can judge. */
static void add_differing(int check, const json_t *differ, struct text *out)
{
    for (size_t i = 0; i < MOST_AGREED && agreed[check][i]; i++)
        if (json_object_get(differ, agreed[check][i]))
            text_add(out, "%s%s", out->length ? ", " : "the roles' settings differ: ", agreed[check][i]);
}

/* ---- the capture */

static json_t *capture_judge_file(const char *folder, const struct verify_settings *settings,
                                  const struct checker *const *which, struct error *e)
{
    char *path = files_join(folder, CAPTURE_FILE);
    struct folder run = {.fd = -1};
    int fd = path && folder_open(&run, folder, e) == 0 ? folder_open_file(&run, CAPTURE_FILE, e) : -1;
    folder_close(&run);
    struct capture_reader *capture = NULL;
    json_t *judged = NULL;
    if (fd < 0 || !(capture = capture_read_of(fd, path, e)) ||
        !(judged = verify_capture(capture, settings, which, e)))
        error_prefix(e, "verify");
    capture_read_free(capture);
    if (fd >= 0)
        close(fd);
    free(path);
    return judged;
}

/* The verdicts of checkers whose settings the roles agree in. */
static json_t *capture_judge(const char *folder, const struct list_of *checks, const json_t *document,
                             const json_t *differ, struct error *e)
{
    const struct checker *which[CAPTURE_CHECK_COUNT + 1] = {0};
    const int *items = checks->items;
    struct verify_settings settings;
    size_t count = 0;
    for (size_t i = 0; i < checks->count; i++) {
        struct text why_not = {0};
        add_differing(items[i], differ, &why_not);
        if (!why_not.length)
            which[count++] = checkers[items[i]];
        text_free(&why_not);
    }
    if (verify_settings_parse(&settings, document, NULL, e) != 0) {
        error_prefix(e, "verify: the run's settings");
        return NULL;
    }
    settings.complete = settings.times; /* of a simulated run */
    json_t *judged = capture_judge_file(folder, &settings, which, e);
    verify_settings_free(&settings);
    return judged;
}

/* `start_ns`: of the warm-up. */
static void add_entries(const struct list_of *checks, const json_t *judged, const json_t *differ,
                        const json_t *capture, int64_t start_ns, json_t *entries)
{
    const int *items = checks->items;
    const json_t *cut = json_object_get(capture, "left_out_from_ns");
    int64_t after_ns = cut ? json_integer_value(cut) - start_ns : -1,
            cut_ns = cut && after_ns < 0 ? 0 : after_ns;
    size_t next = 0;
    for (size_t i = 0; i < checks->count; i++) {
        struct text why_not = {0};
        add_differing(items[i], differ, &why_not);
        json_array_append_new(
            entries, why_not.length
                         ? entry_of(items[i], "skipped", text_string(&why_not))
                         : judged_entry(items[i], json_array_get(json_object_get(judged, "checks"), next++),
                                        json_object_get(judged, "not_judged"), cut_ns));
        text_free(&why_not);
    }
}

int judge_capture(const struct cell *cell, const char *folder, const json_t *settings, const char *why_not,
                  json_t *result, struct error *e)
{
    const struct list_of *checks = &cell->scenario.verify;
    json_t *entries = json_array(), *differ = json_object(), *judged = NULL,
           *capture = json_object_get(result, "capture");
    int done = 0;
    if (json_is_object(capture) || (checks->count && !why_not)) {
        json_t *document = judge_capture_settings(cell, settings, differ);
        add_thresholds(cell, capture, document);
        json_object_set(capture, "settings", document);
        if (checks->count && !why_not)
            done = (judged = capture_judge(folder, checks, document, differ, e)) ? 0 : -1;
        json_decref(document);
    }
    if (judged)
        add_entries(checks, judged, differ, capture,
                    json_integer_value(
                        json_object_get(json_array_get(json_object_get(result, "phases"), 0), "start_ns")),
                    entries);
    else
        skip_all(checks, why_not ? why_not : e->text, entries);
    if (checks->count)
        json_object_set(result, "verify", entries);
    json_decref(judged);
    json_decref(differ);
    json_decref(entries);
    return done;
}
