/*
 * What a lab says of its simulated NICs and what does not come of it: a slip in a model's name makes it a
 * title, and the host an ideal one; a model's values are those of its own line; a property may need another
 * one that is off.
 */
#include "harness/doctor/check.h"
#include "lib/document/json_text.h"
#include "lib/physics/host.h"
#include "lib/physics/nic_models.h"
#include <inttypes.h>
#include <string.h>

/* ---- lines */

/* Of each model the hosts whose link is faster than the model's line. */
static void check_lines(const struct doctor_subject *x)
{
    static const char *const keys[] = {"model", "rate", NULL};
    const struct lab_link *link;
    struct text_names hosts[NIC_MODEL_COUNT] = {0};
    int64_t rates_bps[NIC_MODEL_COUNT] = {0};
    if (x->cell && doctor_varies(x->cell, keys, true))
        return;
    for (size_t i = 0; (link = lab_link_at(x->lab, i)); i++) {
        char *const *ends = link->between.items;
        for (size_t k = 0; k < 2; k++) {
            int at = lab_node_index(x->lab, ends[k]);
            const struct physics_host *host = at < 0 ? NULL : lab_sim_host_at(x->lab, (size_t)at);
            int model = host ? nic_model_named(host->nic.model) : -1;
            if (model < 0 || !nic_model_lines_bps[model] || link->rate_bps <= nic_model_lines_bps[model])
                continue;
            text_names_add(&hosts[model], host->name);
            rates_bps[model] = link->rate_bps > rates_bps[model] ? link->rate_bps : rates_bps[model];
        }
    }
    for (int i = 0; i < NIC_MODEL_COUNT; i++) {
        struct text names = {0};
        if (!hosts[i].count)
            continue;
        text_add_names(&names, "", &hosts[i]);
        doctor_add(x->entries, hosts[i].names[0], "nic-model", "warning", NULL,
                   "%s: %s is a NIC of %" PRId64 " Gb/s, where its values were measured, and the link has %g "
                   "Gb/s: nothing was measured there",
                   text_string(&names), nic_model_names[i], nic_model_lines_bps[i] / 1000000000,
                   (double)rates_bps[i] / 1e9);
        doctor_add_evidence(x->entries, "nic.model and links of the lab");
        text_free(&names);
    }
}

/* ---- properties without effect */

static bool is_ideal(const struct physics_host *h)
{
    return h->pcie.generation == 0;
}

static bool restarts_fast(const struct physics_host *h)
{
    return !h->nic.slow_restart;
}

static bool sends_marked_cnps(const struct physics_host *h)
{
    return h->nic.unmarked_cnps == UNMARKED_CNPS_NEVER;
}

static bool keeps_order(const struct physics_host *h)
{
    return h->nic.recovery != PHYSICS_SELECTIVE_REPEAT && !h->nic.out_of_order_placement;
}

static bool times_out_exactly(const struct physics_host *h)
{
    return !h->nic.adaptive_retransmission && !h->nic.min_ack_timeout_limit_disabled;
}

static bool limits_its_timer(const struct physics_host *h)
{
    return h->nic.min_ack_timeout_limit_disabled;
}

static bool takes_in_everything(const struct physics_host *h)
{
    return !h->nic.ingress.rate_bps;
}

static bool takes_in_one_rate(const struct physics_host *h)
{
    return h->nic.ingress.rate_bps && !h->nic.ingress.sending_bps;
}

static bool memory_never_stalls(const struct physics_host *h)
{
    return h->memory.stalls_per_s == 0;
}

static bool gpu_never_stalls(const struct physics_host *h)
{
    return h->gpu && h->gpu->stalls_per_s == 0;
}

static bool memory_has_no_banks(const struct physics_host *h)
{
    return h->memory.banks == 0;
}

static bool gpu_has_no_banks(const struct physics_host *h)
{
    return h->gpu && h->gpu->banks == 0;
}

static bool software_has_no_spikes(const struct physics_host *h)
{
    return h->software.spikes_per_turn == 0;
}

/* Properties that need another one; `why`: what is the case without it. */
static const struct need {
    const char *keys[24]; /* below a host, ended by NULL */
    const char *why;
    bool (*lacks)(const struct physics_host *h);
} needs[] = {
    {{"nic.tx_latency",
      "nic.rx_latency",
      "nic.tx_buffer",
      "pcie.lanes",
      "pcie.max_payload",
      "pcie.max_read_request",
      "pcie.completion",
      "pcie.tags",
      "pcie.posted_header_credits",
      "pcie.posted_data_credits",
      "pcie.latency",
      "memory.write",
      "memory.read",
      "memory.write_access",
      "memory.read_access",
      "memory.write_latency",
      "memory.read_latency",
      "memory.banks",
      "memory.interleave",
      "memory.bank",
      "memory.sector",
      NULL},
     "pcie.generation is 0, an ideal NIC",
     is_ideal},
    {{"nic.slow_restart_on_nak", NULL}, "nic.slow_restart is off", restarts_fast},
    {{"nic.unmarked_cnp_interval", "nic.unmarked_cnp_bytes", NULL},
     "nic.unmarked_cnps is never",
     sends_marked_cnps},
    {{"nic.reorder_wait", "nic.recovery_window", NULL},
     "nic.recovery is go-back-n, and nic.out_of_order_placement off",
     keeps_order},
    {{"nic.retransmission_firmware", NULL},
     "neither nic.adaptive_retransmission nor nic.min_ack_timeout_limit_disabled is on",
     times_out_exactly},
    {{"nic.adaptive_retransmission", NULL}, "nic.min_ack_timeout_limit_disabled is on", limits_its_timer},
    {{"nic.ingress.depth", "nic.ingress.loss", "nic.ingress.loss_time", "nic.ingress.sending",
      "nic.ingress.rate_when_sending", "nic.ingress.of_queue_pair", NULL},
     "nic.ingress.rate is 0, and the port takes in everything",
     takes_in_everything},
    {{"nic.ingress.rate_when_sending", NULL}, "nic.ingress.sending is 0", takes_in_one_rate},
    {{"memory.stall_mean", "memory.stall_window", NULL}, "memory.stalls_per_s is 0", memory_never_stalls},
    {{"gpu.stall_mean", "gpu.stall_window", NULL}, "gpu.stalls_per_s is 0", gpu_never_stalls},
    {{"memory.interleave", "memory.bank", NULL}, "memory.banks is 0", memory_has_no_banks},
    {{"gpu.interleave", "gpu.bank", NULL}, "gpu.banks is 0", gpu_has_no_banks},
    {{"software.spike", "software.spike_floor", NULL},
     "software.spikes_per_turn is 0",
     software_has_no_spikes},
};

/* The member at a path such as "nic.ingress.depth". */
static const json_t *at_path(const json_t *host, const char *path)
{
    const char *dot;
    for (; (dot = strchr(path, '.')); path = dot + 1)
        host = json_object_getn(host, path, (size_t)(dot - path));
    return json_object_get(host, path);
}

static const struct field *field_at(const char *path)
{
    const struct field *f = physics_host_table.fields;
    for (size_t length; f; path += length + 1) {
        length = strcspn(path, ".");
        while (f->name && (strncmp(f->name, path, length) != 0 || f->name[length]))
            f++;
        if (!f->name || !path[length])
            return f->name ? f : NULL;
        f = f->sub ? f->sub->fields : NULL;
    }
    return NULL;
}

/* Does the lab itself say something of the key: not the default, nor the model's value? */
static bool is_given(const json_t *host, const json_t *of_model, const char *path)
{
    const json_t *value = at_path(host, path);
    const struct field *field = field_at(path);
    if (!value || json_is_null(value) || json_is_false(value) || json_same(value, at_path(of_model, path)))
        return false;
    json_t *plain = field ? field_fallback(field) : NULL;
    bool same = plain && json_same(value, plain);
    json_decref(plain);
    return !same;
}

/* ---- names of models */

static void list_models(struct text *out)
{
    for (int i = 0; nic_model_names[i]; i++)
        text_add(out, "%s%s", i ? ", " : "", nic_model_names[i]);
}

/* Is the host an ideal one, of which the lab says nothing else that a model would? How often it acknowledges
 * is said of ideal ones, too. */
static bool is_bare(const struct physics_host *host, const json_t *said)
{
    bool bare = is_ideal(host);
    for (const struct nic_property *p = nic_properties; bare && p->path; p++)
        bare = strcmp(p->path, "nic.ack_every") == 0 || !is_given(said, NULL, p->path);
    return bare;
}

static void tell_name(const struct doctor_subject *x, const struct physics_host *host, bool slip,
                      const char *meant)
{
    struct text models = {0};
    list_models(&models);
    text_add(&models, "): it is a title, and ");
    if (meant)
        text_add(&models, "the values of %s are not used; write \"%s\" to have them", meant, meant);
    else if (slip)
        text_add(&models, "the values of no model are used");
    else
        text_add(&models, "as the lab says nothing else of the NIC, all values are those of an ideal one");
    doctor_add(x->entries, host->name, "nic-model", "warning", NULL,
               "hosts.%s.nic.model: \"%s\" is not in the table of NIC models (%s", host->name,
               host->nic.model, text_string(&models));
    text_free(&models);
}

/* Once for each name: the hosts of a lab often have the same. Of a title that is no slip the first host alone
 * is looked into. */
static void check_names(const struct doctor_subject *x)
{
    json_t *told = json_object(), *lab = NULL;
    const struct physics_host *host;
    struct error ignored;
    for (size_t i = 0; (host = lab_sim_host_at(x->lab, i)); i++) {
        const char *meant, *name = host->nic.model;
        if (!name || nic_model_named(name) >= 0 || json_object_get(told, name))
            continue;
        json_object_set_new(told, name, json_true());
        bool slip = nic_model_is_slip(name, &meant);
        if (!slip && x->cell && !lab)
            lab = lab_expand(x->cell->lab_json, &ignored);
        if (slip || (lab && is_bare(host, json_object_get(json_object_get(lab, "hosts"), host->name))))
            tell_name(x, host, slip, meant);
    }
    json_decref(lab);
    json_decref(told);
}

/* ---- what has no effect */

static void check_need(const struct doctor_subject *x, const struct need *need, json_t *const models[],
                       const json_t *hosts)
{
    struct text_names names = {0}, keys = {0};
    const struct physics_host *host;
    bool given[sizeof need->keys / sizeof *need->keys] = {false};
    for (size_t i = 0; (host = lab_sim_host_at(x->lab, i)); i++) {
        int model = nic_model_named(host->nic.model);
        bool any = false;
        for (size_t k = 0; need->lacks(host) && need->keys[k]; k++)
            if (is_given(json_object_get(hosts, host->name), model < 0 ? NULL : models[model], need->keys[k]))
                any = given[k] = true;
        if (any)
            text_names_add(&names, host->name);
    }
    for (size_t k = 0; need->keys[k]; k++)
        if (given[k])
            text_names_add(&keys, need->keys[k]);
    if (!keys.count)
        return;
    struct text words = {0};
    text_add_names(&words, "", &names);
    text_add(&words, ": ");
    text_add_names(&words, "", &keys);
    doctor_add(x->entries, names.names[0], "nic-model", "warning", NULL, "%s %s no effect: %s",
               text_string(&words), keys.count == 1 ? "has" : "have", need->why);
    doctor_add_evidence(x->entries, "hosts of the lab, with its defaults and the values of their models");
    text_free(&words);
}

/* Does the lab as it is written have one of the keys? Most have none, and large ones need not be written out.
 */
static bool has_any(const json_t *lab)
{
    const char *name;
    json_t *host;
    const json_t *common = json_object_get(json_object_get(lab, "defaults"), "host");
    bool any = false;
    for (size_t i = 0; i < sizeof needs / sizeof *needs; i++)
        for (size_t k = 0; needs[i].keys[k]; k++) {
            any = any || at_path(common, needs[i].keys[k]);
            json_object_foreach(json_object_get(lab, "hosts"), name, host)
            {
                any = any || at_path(host, needs[i].keys[k]);
            }
        }
    return any;
}

static void check_needs(const struct doctor_subject *x)
{
    static const char *const keys[] = {"nic", "pcie", "memory", "host", NULL};
    struct error ignored;
    if (!x->cell || !has_any(x->cell->lab_json) || doctor_varies(x->cell, keys, true))
        return;
    json_t *lab = lab_expand(x->cell->lab_json, &ignored), *models[NIC_MODEL_COUNT];
    for (int i = 0; i < NIC_MODEL_COUNT; i++)
        models[i] = nic_model_document(i);
    for (size_t i = 0; i < sizeof needs / sizeof *needs; i++)
        check_need(x, &needs[i], models, json_object_get(lab, "hosts"));
    for (int i = 0; i < NIC_MODEL_COUNT; i++)
        json_decref(models[i]);
    json_decref(lab);
}

static void examine_nic_model(const struct doctor_subject *x)
{
    if (!lab_kind(x->lab)->simulated)
        return;
    check_names(x);
    check_lines(x);
    check_needs(x);
}

const struct doctor_check doctor_nic_model = {.name = "nic-model",
                                              .scope = DOCTOR_CELL,
                                              .when = DOCTOR_WARNS_OF_RUN | DOCTOR_EXAMINES,
                                              .examine = examine_nic_model};
