/*
 * DCQCN of mlx5: the priorities that use it, and the parameters. MLNX_OFED has both in sysfs (ecn/roce_rp and
 * ecn/roce_np of the interface), but for the mode of the CNPs' priority; upstream has only the parameters, in
 * debugfs (linux drivers/infiniband/hw/mlx5/cong.c), where MLNX_OFED has them too.
 */
#include "nic-config/knobs/knob.h"

#include "lib/document/json_text.h"
#include "lib/files.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PRIORITIES 8

/* ---- which priorities */

static char *enable_path(const struct device *d, const char *point, int priority)
{
    return host_path(d->host, "/sys/class/net/%s/ecn/%s/enable/%d", d->name, point, priority);
}

static bool path_exists(char *path)
{
    bool there = path && files_exist(path);
    free(path);
    return there;
}

static bool has_ofed(const struct device *d)
{
    return path_exists(host_path(d->host, "/sys/class/net/%s/ecn/roce_rp", d->name));
}

static bool has_upstream(const struct device *d)
{
    return d->pci[0] != '\0' &&
           path_exists(host_path(d->host, "/sys/kernel/debug/mlx5/%s/cc_params", d->pci));
}

/* A file with one number. MLNX_OFED's file is empty when the driver could not ask the firmware. */
static int read_number(char *path, int64_t *value, struct error *e)
{
    char *line = path ? files_read_line(path, e) : NULL, *end = NULL;
    int result = -1;
    if (line && !*line) {
        error_set(e, "%s is empty: the driver could not read the value", path);
    } else if (line) {
        errno = 0;
        *value = strtoll(line, &end, 10);
        result = end != line && *end == '\0' && errno == 0 && *value >= 0
                     ? 0
                     : error_set(e, "%s: \"%.40s\" is not a number that a parameter can have", path, line);
    }
    free(line);
    free(path);
    return result;
}

static int read_point(const struct device *d, const char *point, uint8_t *mask, struct error *e)
{
    *mask = 0;
    for (int priority = 0; priority < PRIORITIES; priority++) {
        int64_t on;
        if (read_number(enable_path(d, point, priority), &on, e) != 0)
            return -1;
        if (on != 0)
            *mask |= (uint8_t)(1u << priority);
    }
    return 0;
}

static enum knob_answer read_ecn(struct device *d, json_t *settings, struct text *place, struct error *e)
{
    uint8_t rp, np;
    if (!has_ofed(d)) {
        error_set(e,
                  "%s has no /sys/class/net/%s/ecn (MLNX_OFED); upstream's mlx5 cannot switch the reaction "
                  "and notification points, "
                  "only its firmware does "
                  "(mlxconfig ROCE_CC_PRIO_MASK_P1)",
                  d->name, d->name);
        return KNOB_MISSING;
    }
    if (read_point(d, "roce_rp", &rp, e) != 0 || read_point(d, "roce_np", &np, e) != 0)
        return KNOB_FAILED;
    json_object_set_new(settings, "ecn", knob_mask_list(rp & np));
    json_object_set_new(settings, "ecn_rp", knob_mask_list(rp));
    json_object_set_new(settings, "ecn_np", knob_mask_list(np));
    text_add(place, "/sys/class/net/%s/ecn (MLNX_OFED)", d->name);
    return KNOB_READ;
}

static uint8_t mask_of(const json_t *list)
{
    uint8_t mask = 0;
    size_t i;
    const json_t *item;
    json_array_foreach(list, i, item) mask |= (uint8_t)(1u << (json_integer_value(item) & 7));
    return mask;
}

/* ecn sets both points; a key for one point overrides it. */
static int complete_ecn(struct device *d, const json_t *wanted, json_t *target, struct error *e)
{
    const json_t *both = json_object_get(wanted, "ecn");
    (void)d;
    (void)e;
    uint8_t rp =
        mask_of(both && !json_object_get(wanted, "ecn_rp") ? both : json_object_get(target, "ecn_rp"));
    uint8_t np =
        mask_of(both && !json_object_get(wanted, "ecn_np") ? both : json_object_get(target, "ecn_np"));
    json_object_set_new(target, "ecn_rp", knob_mask_list(rp));
    json_object_set_new(target, "ecn_np", knob_mask_list(np));
    json_object_set_new(target, "ecn", knob_mask_list(rp & np));
    return 0;
}

static int write_point(struct device *d, const char *point, uint8_t now, uint8_t target, struct error *e)
{
    int result = 0;
    for (int priority = 0; result == 0 && priority < PRIORITIES; priority++) {
        if (!((now ^ target) & (1u << priority)))
            continue;
        char *path = enable_path(d, point, priority);
        result = path ? files_write(path, target & (1u << priority) ? "1" : "0", e) : -1;
        free(path);
    }
    return result;
}

static int write_ecn(struct device *d, const struct settings *now, const struct settings *target,
                     struct error *e)
{
    if (write_point(d, "roce_np", knob_mask(&now->ecn_np), knob_mask(&target->ecn_np), e) != 0)
        return -1;
    return write_point(d, "roce_rp", knob_mask(&now->ecn_rp), knob_mask(&target->ecn_rp), e);
}

/* ---- parameters */

enum place { OFED, UPSTREAM };

/* NULL when the parameter does not exist here. What MLNX_OFED does not have in sysfs, it has in debugfs. */
static char *parameter_path(const struct device *d, const struct dcqcn_parameter *p, enum place place)
{
    char *path = place == OFED && p->ofed
                     ? host_path(d->host, "/sys/class/net/%s/ecn/%s", d->name, p->ofed)
                     : host_path(d->host, "/sys/kernel/debug/mlx5/%s/cc_params/%s", d->pci, p->upstream);
    if (path && files_exist(path))
        return path;
    free(path);
    return NULL;
}

static int read_parameter(const struct device *d, const struct dcqcn_parameter *p, enum place place,
                          json_t *dcqcn, struct error *e)
{
    char *path = parameter_path(d, p, place);
    int64_t value;
    if (!path)
        return 0;
    if (read_number(path, &value, e) != 0)
        return -1;
    json_t *point = json_object_get(dcqcn, p->point);
    json_object_set_new(point, p->name, dcqcn_value_json(p, value));
    return 0;
}

static enum knob_answer read_dcqcn(struct device *d, json_t *settings, struct text *place, struct error *e)
{
    if (!has_ofed(d) && !has_upstream(d)) {
        error_set(e,
                  "%s has neither /sys/class/net/%s/ecn (MLNX_OFED) nor /sys/kernel/debug/mlx5/%s/cc_params "
                  "(upstream mlx5_ib; "
                  "is debugfs mounted?)",
                  d->name, d->name, d->pci[0] ? d->pci : "PCI");
        return KNOB_MISSING;
    }
    enum place where = has_ofed(d) ? OFED : UPSTREAM;
    json_t *dcqcn = json_make("{s:{},s:{}}", "rp", "np");
    for (const struct dcqcn_parameter *p = dcqcn_parameters; p->name; p++)
        if (read_parameter(d, p, where, dcqcn, e) != 0) {
            json_decref(dcqcn);
            return KNOB_FAILED;
        }
    json_object_set_new(settings, "dcqcn", dcqcn);
    if (where == OFED)
        text_add(place, "/sys/class/net/%s/ecn (MLNX_OFED)", d->name);
    else
        text_add(place, "/sys/kernel/debug/mlx5/%s/cc_params (upstream)", d->pci);
    return KNOB_READ;
}

/* Requesting a parameter that this driver does not have is an error. */
static int check_dcqcn(struct device *d, const struct settings *now, const struct settings *target,
                       json_t *warnings, struct error *e)
{
    const struct dcqcn_np *was = &now->dcqcn.np, *np = &target->dcqcn.np;
    for (const struct dcqcn_parameter *p = dcqcn_parameters; p->name; p++)
        if (dcqcn_get(&target->dcqcn, p) != FIELD_UNSET && dcqcn_get(&now->dcqcn, p) == FIELD_UNSET)
            return error_set(e, "%s: dcqcn.%s.%s: the driver has no such parameter (looked in %s)", d->name,
                             p->point, p->name,
                             has_ofed(d) ? "MLNX_OFED's sysfs and debugfs" : "upstream's debugfs");
    if (np->cnp_802p_prio != was->cnp_802p_prio && was->cnp_prio_mode == FIELD_UNSET)
        json_array_append_new(
            warnings,
            json_textf("%s: writing cnp_802p_prio sets cnp_prio_mode to 0, which cannot be read here "
                       "(is debugfs mounted?) and so is not restored",
                       d->name));
    return 0;
}

static int write_parameter(struct device *d, const struct dcqcn_parameter *p, enum place place, int64_t value,
                           struct error *e)
{
    char *path = parameter_path(d, p, place);
    char text[24];
    if (!path)
        return error_set(e, "%s: dcqcn.%s.%s no longer exists", d->name, p->point, p->name);
    snprintf(text, sizeof text, "%lld", (long long)value);
    int result = files_write(path, text, e);
    free(path);
    return result;
}

static int write_np(struct device *d, enum place place, const char *name, int64_t value, struct error *e)
{
    const struct dcqcn_parameter *p = dcqcn_parameters;
    while (p->name && strcmp(p->name, name) != 0)
        p++;
    return value == FIELD_UNSET ? 0 : write_parameter(d, p, place, value, e);
}

/*
 * One bit selects both fields of the CNPs' priority: a write of the priority sets the mode to 0 in both
 * drivers, a write of the mode sets the priority to 0. So the one that counts is written last: the mode if it
 * is 1, for which the priority is not used, else the priority.
 */
static int write_cnp_priority(struct device *d, enum place place, const struct dcqcn_np *now,
                              const struct dcqcn_np *target, struct error *e)
{
    bool mode = target->cnp_prio_mode != now->cnp_prio_mode,
         priority = target->cnp_802p_prio != now->cnp_802p_prio, unused = target->cnp_prio_mode == 1;
    if (!mode && (!priority || unused))
        return 0;
    if (unused && priority && write_np(d, place, "cnp_802p_prio", target->cnp_802p_prio, e) != 0)
        return -1;
    if (mode && write_np(d, place, "cnp_prio_mode", target->cnp_prio_mode, e) != 0)
        return -1;
    return unused ? 0 : write_np(d, place, "cnp_802p_prio", target->cnp_802p_prio, e);
}

static bool is_cnp_priority(const struct dcqcn_parameter *p)
{
    return strcmp(p->name, "cnp_802p_prio") == 0 || strcmp(p->name, "cnp_prio_mode") == 0;
}

static int write_dcqcn(struct device *d, const struct settings *now, const struct settings *target,
                       struct error *e)
{
    enum place place = has_ofed(d) ? OFED : UPSTREAM;
    for (const struct dcqcn_parameter *p = dcqcn_parameters; p->name; p++) {
        int64_t value = dcqcn_get(&target->dcqcn, p);
        if (value == FIELD_UNSET || value == dcqcn_get(&now->dcqcn, p) || is_cnp_priority(p))
            continue;
        if (write_parameter(d, p, place, value, e) != 0)
            return -1;
    }
    return write_cnp_priority(d, place, &now->dcqcn.np, &target->dcqcn.np, e);
}

/* A wanted priority is one that is used. */
static int complete_dcqcn(struct device *d, const json_t *wanted, json_t *target, struct error *e)
{
    const json_t *np = json_object_get(json_object_get(wanted, "dcqcn"), "np");
    json_t *all = json_object_get(json_object_get(target, "dcqcn"), "np");
    (void)d;
    (void)e;
    if (json_object_get(np, "cnp_802p_prio") && !json_object_get(np, "cnp_prio_mode") &&
        json_object_get(all, "cnp_prio_mode"))
        json_object_set_new(all, "cnp_prio_mode", json_integer(0));
    return 0;
}

/* A priority that is not used does not differ. */
static bool same_dcqcn(const struct settings *now, const struct settings *target)
{
    bool unused = now->dcqcn.np.cnp_prio_mode == 1 && target->dcqcn.np.cnp_prio_mode == 1;
    for (const struct dcqcn_parameter *p = dcqcn_parameters; p->name; p++) {
        int64_t a = dcqcn_get(&now->dcqcn, p), b = dcqcn_get(&target->dcqcn, p);
        if (a != b && a != FIELD_UNSET && b != FIELD_UNSET &&
            !(unused && strcmp(p->name, "cnp_802p_prio") == 0))
            return false;
    }
    return true;
}

static const char *const ecn_keys[] = {"ecn", "ecn_rp", "ecn_np", NULL}, *const dcqcn_keys[] = {"dcqcn",
                                                                                                NULL};

const struct knob knob_ecn = {
    .name = "ecn", .keys = ecn_keys, .read = read_ecn, .complete = complete_ecn, .write = write_ecn};
const struct knob knob_dcqcn = {.name = "dcqcn",
                                .keys = dcqcn_keys,
                                .read = read_dcqcn,
                                .complete = complete_dcqcn,
                                .check = check_dcqcn,
                                .write = write_dcqcn,
                                .same = same_dcqcn};
