#include "harness/search/known.h"

#include "lib/document/json_file.h"
#include "lib/document/json_text.h"
#include "lib/document/paths.h"
#include "lib/files.h"
#include "lib/physics/host.h"
#include "lib/roce/dcqcn.h"
#include "lib/text.h"
#include "lib/units.h"
#include "lib/xalloc.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- what was published */

/* A value of mlx5's DCQCN ("rp", "np"), or of a switch's ECN ("ecn": kmin and kmax in bytes, pmax). */
struct published_value {
    const char *part, *name;
    double value;
    bool per_rate; /* it grows with the rate of the link */
};

static const struct published {
    const char *name, *source;
    int64_t rate_bps; /* of the links that it was published for */
    struct published_value values[16];
} all_published[] = {
    /* its values are those of lib/roce/dcqcn.h */
    {"driver default", "NVIDIA's DCQCN parameters of ConnectX-4 and later", 0, {{0}}},
    /* As others state the paper's section 5.3 and use it: kmin, kmax, the 55 us timers, 10 MB, F = 5, 40 Mb/s
     * and g = 1/256 in github.com/lirong-lirong/dcqcn-fluid-model, 50 and 55 us, F, 40 Mb/s and g in the
     * configuration of the authors' own simulator (github.com/bobzhuyb/ns3-rdma), pmax in
     * github.com/sc20anonymous/DCQCN-validation, which runs on it. */
    {"DCQCN paper",
     "Zhu et al., SIGCOMM 2015, at 40 Gb/s",
     40000000000,
     {{"ecn", "kmin", 5e3, true},
      {"ecn", "kmax", 200e3, true},
      {"ecn", "pmax", 0.01, false},
      {"rp", "rpg_time_reset", 55, false},
      {"rp", "rpg_byte_reset", 10e6, false},
      {"rp", "rpg_threshold", 5, false},
      {"rp", "rpg_ai_rate", 40, false},
      {"rp", "dce_tcp_g", 1020, false},
      {"rp", "dce_tcp_rtt", 55, false},
      {"rp", "rate_reduce_monitor_period", 50, false},
      {"np", "min_time_between_cnps", 50, false}}},
    {"HPCC",
     "Li et al., SIGCOMM 2019, and its simulator's DCQCN, at 100 Gb/s",
     100000000000,
     {{"ecn", "kmin", 400e3, true},
      {"ecn", "kmax", 1600e3, true},
      {"ecn", "pmax", 0.2, false},
      {"rp", "rpg_time_reset", 300, false},
      {"rp", "rpg_threshold", 1, false},
      {"rp", "rpg_ai_rate", 20, true},
      {"rp", "rpg_hai_rate", 200, true},
      {"rp", "rpg_min_rate", 1000, false},
      {"rp", "dce_tcp_g", 1020, false},
      {"rp", "dce_tcp_rtt", 1, false},
      {"rp", "rate_reduce_monitor_period", 4, false},
      {"rp", "clamp_tgt_rate", 0, false}}},
    {"expert",
     "the expert's values of Paraleon, ICNP 2024, at 100 Gb/s",
     100000000000,
     {{"ecn", "kmin", 1600e3, true},
      {"ecn", "kmax", 6400e3, true},
      {"ecn", "pmax", 0.2, false},
      {"rp", "rpg_ai_rate", 50, false},
      {"rp", "rpg_hai_rate", 150, false},
      {"rp", "rate_reduce_monitor_period", 80, false},
      {"np", "min_time_between_cnps", 96, false}}},
};

/* "settings.dcqcn.rp.rpg_ai_rate", "lab.defaults.switch.ecn.kmin" and "settings_of.tor.ecn_threshold.kmin"
 * are places of a value. */
static bool is_place_of(const char *path, const struct published_value *v)
{
    const char *name = strrchr(path, '.'), *part = name;
    if (!name || strcmp(name + 1, v->name) != 0)
        return false;
    while (part > path && part[-1] != '.')
        part--;
    return strncmp(part, v->part, strlen(v->part)) == 0;
}

static int64_t rate_at(const struct study *study, const char *path)
{
    json_t *values = plan_values(&study->plan.first, path);
    const char *text = json_string_value(json_array_get(values, 0));
    int64_t rate = 0;
    if (!text || units_parse(UNIT_RATE_BPS, text, &rate, NULL) != 0)
        rate = 0;
    json_decref(values);
    return rate;
}

/* The rate that the values at the path are for: that of thresholds which say so, else the links'; 0: the lab
 * does not say. */
static int64_t rate_of_place(const struct study *study, const char *path)
{
    const char *name = strrchr(path, '.');
    struct text reference = {0};
    text_add(&reference, "%.*s.reference", (int)(name - path), path);
    int64_t rate = paths_in_lab(path) ? rate_at(study, text_string(&reference)) : 0;
    text_free(&reference);
    return rate ? rate : rate_at(study, "lab.defaults.link.rate");
}

static const struct dcqcn_parameter *dcqcn_row(const struct published_value *v)
{
    for (const struct dcqcn_parameter *p = dcqcn_parameters; p->name; p++)
        if (strcmp(p->point, v->part) == 0 && strcmp(p->name, v->name) == 0)
            return p;
    return NULL;
}

static json_t *value_at(const struct study *study, const struct published *of,
                        const struct published_value *v, const char *path)
{
    char shown[32];
    const struct dcqcn_parameter *row = dcqcn_row(v);
    int64_t rate = v->per_rate ? rate_of_place(study, path) : 0;
    double value = rate && of->rate_bps ? v->value * (double)rate / (double)of->rate_bps : v->value;
    if (row)
        return dcqcn_value_json(row, llround(value));
    return strcmp(v->name, "pmax") == 0
               ? json_real(value)
               : json_text(units_write(UNIT_BYTES, llround(value), UNITS_DECIMAL, shown, sizeof shown));
}

/* Where a value that is not varied is set; NULL: nowhere, and `why`. The caller frees. */
static char *own_place(const struct study *study, const struct published_value *v, const char **why)
{
    static const char *const thresholds[] = {"lab.defaults.switch.ecn", "settings_of.*.ecn_threshold", NULL};
    const struct dcqcn_parameter *row = dcqcn_row(v);
    bool simulated = lab_kind(&study->plan.first.lab)->simulated, there = false;
    struct text path = {0};
    if (row)
        text_add(&path, "settings.dcqcn.%s.%s", v->part, v->name);
    for (size_t i = 0; !row && !there && thresholds[i]; i++) {
        text_free(&path);
        text_add(&path, "%s.%s", thresholds[i], v->name);
        json_t *values = plan_values(&study->plan.first, text_string(&path));
        there = json_array_size(values) > 0;
        json_decref(values);
    }
    if (row && simulated)
        there = row->simulated;
    else if (row) {
        json_t *values = plan_values(&study->plan.first, text_string(&path));
        there = json_array_size(values) > 0;
        json_decref(values);
    }
    *why = row && !simulated ? "it is not varied, and the hosts keep their own" : "the lab has no such value";
    if (!there)
        text_free(&path);
    return there ? text_take(&path) : NULL;
}

static void leave_out(struct known_settings *known, const struct published_value *v, const char *why)
{
    char what[80];
    snprintf(what, sizeof what, "%s.%s=%.15g", v->part, v->name, v->value);
    known->left_out = known->left_out ? known->left_out : json_object();
    json_put(known->left_out, what, json_text(why));
}

/* Returns whether it is a value of something that is varied. */
static bool place_value(const struct study *study, const struct published *of,
                        const struct published_value *v, struct known_settings *known)
{
    const struct dcqcn_parameter *row = dcqcn_row(v);
    bool varied = false;
    const char *why;
    if (row && ((int64_t)v->value < row->least || (int64_t)v->value > row->most)) {
        leave_out(known, v, "the NIC takes no such value");
        return false;
    }
    for (size_t i = 0; i < study->parameter_count; i++)
        if (is_place_of(study->parameters[i].path, v)) {
            json_put(known->values, study->parameters[i].path,
                     value_at(study, of, v, study->parameters[i].path));
            varied = true;
        }
    char *path = varied ? NULL : own_place(study, v, &why);
    if (path)
        json_put(known->values, path, value_at(study, of, v, path));
    else if (!varied)
        leave_out(known, v, why);
    free(path);
    return varied;
}

/* Which priority CNPs have is no matter of rates. */
static bool is_of_rates(const struct dcqcn_parameter *p)
{
    return strncmp(p->name, "cnp_", 4) != 0;
}

static bool place_values(const struct study *study, const struct published *of, struct known_settings *known)
{
    bool varied = false;
    for (const struct published_value *v = of->values; v->name; v++)
        varied |= place_value(study, of, v, known);
    for (const struct dcqcn_parameter *p = dcqcn_parameters; !of->values->name && p->name; p++) {
        const struct published_value v = {p->point, p->name, (double)p->standard, false};
        varied |= is_of_rates(p) && place_value(study, of, &v, known);
    }
    return varied;
}

static bool is_known(const struct study *study, const char *name)
{
    bool known = false;
    for (size_t i = 0; i < study->baseline_count; i++)
        known = known || strcmp(study->baselines[i].name, name) == 0;
    return known;
}

static int try_known(const struct study *study, const struct known_settings *known, struct error *e)
{
    return study_can_run_known(study, "baselines", known->values, e) == 1 ? 0 : -1;
}

/* Take it into the table, or say why it is not there. */
static void add_or_say(struct study *study, const struct known_settings *known)
{
    struct error e;
    if (try_known(study, known, &e) == 0) {
        study->baselines =
            xreallocarray(study->baselines, study->baseline_count + 1, sizeof *study->baselines);
        study->baselines[study->baseline_count++] = *known;
        return;
    }
    json_put(study->absent, known->name, json_text(e.text));
    json_decref(known->values);
    json_decref(known->left_out);
}

void known_add_published(struct study *study)
{
    for (size_t i = 0; i < sizeof all_published / sizeof *all_published; i++) {
        const struct published *of = &all_published[i];
        struct known_settings known = {.name = of->name, .values = json_object(), .source = of->source};
        if (!is_known(study, of->name) && place_values(study, of, &known)) {
            add_or_say(study, &known);
            continue;
        }
        json_decref(known.values);
        json_decref(known.left_out);
    }
}

/* ---- the same in other words */

/* The value of a DCQCN parameter on all hosts of a simulated lab whose settings do not have it; NULL: it is
 * not one alone. A new reference. */
static json_t *value_of_nics(const struct study *study, const char *path)
{
    const struct lab *lab = &study->plan.first.lab;
    json_t *found = NULL;
    for (const struct dcqcn_parameter *p = dcqcn_parameters; p->name; p++) {
        char place[80];
        snprintf(place, sizeof place, "settings.dcqcn.%s.%s", p->point, p->name);
        for (size_t i = 0; strcmp(place, path) == 0 && lab_kind(lab)->simulated && i < lab->hosts.count;
             i++) {
            const struct physics_nic *nic = &lab_sim_host_at(lab, i)->nic;
            struct dcqcn_values values;
            dcqcn_profile_values((enum dcqcn_profile)nic->dcqcn_profile, &values);
            dcqcn_merge(&values, &nic->dcqcn);
            json_t *is =
                nic->byte_reset_bytes == FIELD_UNSET ? dcqcn_value_json(p, dcqcn_get(&values, p)) : NULL;
            bool other = !is || (found && !json_equal(found, is));
            json_decref(found);
            found = is;
            if (other) {
                json_decref(is);
                return NULL;
            }
        }
    }
    return found;
}

/* Of each path that one of both sets: is it one value, the same with both? */
static bool are_same(const struct study *study, const struct known_settings *a,
                     const struct known_settings *b)
{
    json_t *paths = json_object(), *value, *values, *all[2];
    const char *path;
    bool same = true;
    size_t i;
    json_object_update(paths, a->values);
    json_object_update(paths, b->values);
    all[0] = study_values(study, a->values, paths);
    all[1] = study_values(study, b->values, paths);
    json_object_foreach(paths, path, value)
    {
        json_t *first = NULL;
        for (size_t k = 0; k < 2; k++) {
            values = json_object_get(all[k], path);
            if (!json_array_size(values) && (value = value_of_nics(study, path)))
                json_put(all[k], path, values = json_make("[o]", value));
            same = same && json_array_size(values);
            first = first ? first : json_array_get(values, 0);
            json_array_foreach(values, i, value)
            {
                same = same && json_same(first, value);
            }
        }
    }
    json_decref(all[0]);
    json_decref(all[1]);
    json_decref(paths);
    return same;
}

size_t known_same(const struct study *study, size_t number)
{
    size_t i = 0;
    while (i < number && !are_same(study, &study->baselines[i], &study->baselines[number]))
        i++;
    return i;
}

/* ---- what the hosts had */

#define IN_FORCE "in force on the hosts"

bool known_reads_hosts(const struct study *study)
{
    return !study->margin && !lab_kind(&study->plan.first.lab)->simulated && !is_known(study, IN_FORCE);
}

/* All values at the path, which begins at the settings of a host, that these roles had before. */
static json_t *values_before(const json_t *settings, const char *role, const char *path)
{
    json_t *all = json_array(), *of_role, *of_interface;
    const char *name, *interface;
    json_object_foreach((json_t *)(uintptr_t)settings, name, of_role)
    {
        if (role && strcmp(role, name) != 0)
            continue;
        json_object_foreach(json_object_get(of_role, "before"), interface, of_interface)
        {
            json_t *values = json_is_object(of_interface) ? paths_values(of_interface, path) : NULL;
            json_array_extend(all, values);
            json_decref(values);
        }
    }
    return all;
}

/* The value that was in force at a path of the scenario; NULL, and `why`. A new reference. */
static json_t *value_before(const json_t *settings, const char *path, const char **why)
{
    char part[PATHS_PART], role[PATHS_PART];
    const char *rest = paths_first_part(path, part);
    bool of_all = strcmp(part, "settings") == 0, of_one = strcmp(part, "settings_of") == 0;
    if (of_one && rest)
        rest = paths_first_part(rest, role);
    if ((!of_all && !of_one) || !rest) {
        *why = "it is no setting of a host";
        return NULL;
    }
    json_t *values = values_before(settings, of_one ? role : NULL, rest);
    json_t *value = json_array_size(values) ? json_incref(json_array_get(values, 0)) : NULL;
    *why = "the hosts do not say what they have";
    for (size_t i = 1; i < json_array_size(values) && value; i++)
        if (!json_same(value, json_array_get(values, i))) {
            *why = "it differs between the hosts";
            json_decref(value);
            value = NULL;
        }
    json_decref(values);
    return value;
}

/* A switch says bytes where a scenario has a quantity. */
static json_t *as_written(const struct parameter *p, json_t *value)
{
    const char *like = json_string_value(p->range.list ? json_array_get(p->range.list, 0)
                                                       : json_object_get(p->written, "from"));
    enum unit unit;
    int64_t number;
    char shown[32];
    if (!json_is_integer(value) || !like || !units_find(like, &unit, &number))
        return value;
    units_write(unit, json_integer_value(value), UNITS_DECIMAL, shown, sizeof shown);
    json_decref(value);
    return json_text(shown);
}

void known_add_in_force(struct study *study, const char *folder)
{
    struct error e;
    char *path = files_join(folder, "settings.json");
    json_t *settings = path ? json_file_load(path, DOCUMENT_ANSWER, &e) : NULL;
    struct known_settings known = {
        .name = IN_FORCE, .values = json_object(), .source = "read before the first run"};
    for (size_t i = 0; settings && i < study->parameter_count; i++) {
        const char *at = study->parameters[i].path, *why;
        json_t *value = as_written(&study->parameters[i], value_before(settings, at, &why));
        if (value) {
            json_put(known.values, at, value);
        } else {
            known.left_out = known.left_out ? known.left_out : json_object();
            json_put(known.left_out, at, json_text(why));
        }
    }
    if (json_object_size(known.values)) {
        add_or_say(study, &known);
    } else {
        json_put(study->absent, IN_FORCE,
                 json_text(settings ? "of nothing that is varied the hosts say what they have" : e.text));
        json_decref(known.values);
        json_decref(known.left_out);
    }
    json_decref(settings);
    free(path);
}
