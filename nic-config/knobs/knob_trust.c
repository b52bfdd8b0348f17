/*
 * Trust and the DSCP map. Upstream has no setting for trust: a driver such as mlx5 trusts DSCP from the first
 * DSCP entry of the application table to the last (linux drivers/net/ethernet/mellanox/mlx5/core/en_dcbnl.c,
 * mlx5e_dcbnl_ieee_setapp and _delapp). MLNX_OFED also has qos/trust and qos/dscp2prio in sysfs; if these
 * exist, they are used.
 */
#include "lib/document/json_text.h"
#include "nic-config/device/dcb.h"
#include "nic-config/knobs/knob.h"

#include "lib/files.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DSCPS 64
#define NONE  0xff

struct trust {
    bool sysfs;
    bool dscp;
    uint8_t priority[DSCPS]; /* NONE: no entry */
};

static char *sysfs_path(const struct device *d, const char *file)
{
    return host_path(d->host, "/sys/class/net/%s/qos/%s", d->name, file);
}

/* Lines "dscp priority" after a heading. */
static void read_sysfs_map(const struct device *d, struct trust *t)
{
    char *path = sysfs_path(d, "dscp2prio");
    char *all = path ? files_read(path, 65536, NULL, NULL) : NULL;
    char *rest = all, *line;
    while (rest && (line = strsep(&rest, "\n"))) {
        unsigned int dscp, priority;
        if (sscanf(line, "%u %u", &dscp, &priority) == 2 && dscp < DSCPS && priority < 8)
            t->priority[dscp] = (uint8_t)priority;
    }
    free(all);
    free(path);
}

/* KNOB_MISSING: there is no such file. */
static enum knob_answer read_sysfs(const struct device *d, struct trust *t, struct error *e)
{
    char *path = sysfs_path(d, "trust");
    t->sysfs = path && files_exist(path);
    char *line = t->sysfs ? files_read_line(path, e) : NULL;
    t->dscp = line && strcmp(line, "dscp") == 0;
    bool known = t->dscp || (line && strcmp(line, "pcp") == 0);
    if (known)
        read_sysfs_map(d, t);
    else if (line)
        error_set(e, "%s: \"%.40s\" is neither \"dscp\" nor \"pcp\"", path, line);
    free(line);
    free(path);
    return known ? KNOB_READ : t->sysfs ? KNOB_FAILED : KNOB_MISSING;
}

static void read_apps(const struct dcb *dcb, struct trust *t)
{
    for (size_t i = 0; i < dcb->app_count; i++) {
        const struct dcb_app *app = &dcb->apps[i];
        if (app->selector != IEEE_8021QAZ_APP_SEL_DSCP || app->protocol >= DSCPS)
            continue;
        uint8_t *priority = &t->priority[app->protocol];
        t->dscp = true;
        /* of several entries for one DSCP, the highest priority applies (IEEE 802.1Qaz) */
        if (*priority == NONE || (app->priority & 7) > *priority)
            *priority = app->priority & 7;
    }
}

/* The application table, all of it: what was not read could not be restored. */
static int read_table(const struct device *d, struct dcb *dcb, int *number, struct error *e)
{
    if (dcb_read(d, dcb, number, e) != 0)
        return -1;
    *number = E2BIG;
    return dcb->more_apps ? error_set(e, "%s has more than %d entries in its DCB application table", d->name,
                                      DCB_MAX_APPS)
                          : 0;
}

static enum knob_answer read_all(const struct device *d, struct trust *t, struct error *e)
{
    struct dcb dcb;
    int number;
    memset(t, 0, sizeof *t);
    memset(t->priority, NONE, sizeof t->priority);
    enum knob_answer answer = read_sysfs(d, t, e);
    if (answer != KNOB_MISSING)
        return answer;
    if (read_table(d, &dcb, &number, e) != 0)
        return knob_answer_of(number);
    read_apps(&dcb, t);
    return KNOB_READ;
}

static enum knob_answer read_trust(struct device *d, json_t *settings, struct text *place, struct error *e)
{
    struct trust t;
    enum knob_answer answer = read_all(d, &t, e);
    if (answer != KNOB_READ)
        return answer;
    json_t *map = json_object();
    for (int dscp = 0; dscp < DSCPS; dscp++) {
        char key[4];
        snprintf(key, sizeof key, "%d", dscp);
        if (t.priority[dscp] != NONE)
            json_object_set_new(map, key, json_integer(t.priority[dscp]));
    }
    json_object_set_new(settings, "trust", json_text(t.dscp ? "dscp" : "pcp"));
    json_object_set_new(settings, "dscp_to_prio", map);
    if (t.sysfs)
        text_add(place, "/sys/class/net/%s/qos/trust and dscp2prio (MLNX_OFED)", d->name);
    else
        text_add(place, "DCB netlink, application table (upstream)");
    return KNOB_READ;
}

/* Without sysfs, trust and map are one setting: trust pcp is an empty map, and trust dscp needs a map. The
 * map that is used when none is given is mlx5's default: the upper three bits of the DSCP. */
static int complete_trust(struct device *d, const json_t *wanted, json_t *target, struct error *e)
{
    struct trust t;
    json_t *map = json_object_get(target, "dscp_to_prio");
    const char *trust = json_string_value(json_object_get(wanted, "trust"));
    if (read_all(d, &t, e) != KNOB_READ)
        return -1;
    if (t.sysfs)
        return 0;
    if (trust && strcmp(trust, "pcp") == 0) {
        if (json_object_size(json_object_get(wanted, "dscp_to_prio")) > 0)
            return error_set(
                e,
                "%s: dscp_to_prio with trust pcp: this driver trusts DSCP as soon as its table has an entry; "
                "remove one of the two settings",
                d->name);
        json_object_clear(map);
    }
    for (int dscp = 0; trust && strcmp(trust, "dscp") == 0 && dscp < DSCPS && json_object_size(map) < DSCPS;
         dscp++) {
        char key[4];
        snprintf(key, sizeof key, "%d", dscp);
        if (!json_object_get(wanted, "dscp_to_prio") && !json_object_get(map, key))
            json_object_set_new(map, key, json_integer(dscp >> 3));
    }
    json_object_set_new(target, "trust", json_text(json_object_size(map) > 0 ? "dscp" : "pcp"));
    return 0;
}

/* ---- writing */

static int write_sysfs(struct device *d, const struct trust *t, const struct settings *target,
                       struct error *e)
{
    char *map_path = sysfs_path(d, "dscp2prio"), *trust_path = sysfs_path(d, "trust");
    int result = map_path && trust_path ? 0 : error_set(e, "out of memory");
    for (int dscp = 0; result == 0 && dscp < DSCPS; dscp++) {
        int64_t priority = knob_map_value(&target->dscp_to_prio, dscp, t->priority[dscp]);
        char pair[16];
        snprintf(pair, sizeof pair, "%d %d", dscp, (int)priority);
        if (priority != t->priority[dscp])
            result = files_write(map_path, pair, e);
    }
    if (result == 0 && (target->trust == TRUST_DSCP) != t->dscp)
        result = files_write(trust_path, target->trust == TRUST_DSCP ? "dscp" : "pcp", e);
    free(map_path);
    free(trust_path);
    return result;
}

static bool is_wanted(const struct dcb_app *app, const struct settings *target)
{
    return knob_map_value(&target->dscp_to_prio, app->protocol, NONE) == app->priority;
}

static bool is_there(const struct dcb *dcb, int dscp, int64_t priority)
{
    for (size_t i = 0; i < dcb->app_count; i++)
        if (dcb->apps[i].selector == IEEE_8021QAZ_APP_SEL_DSCP && dcb->apps[i].protocol == dscp &&
            dcb->apps[i].priority == priority)
            return true;
    return false;
}

static int add_wanted(struct device *d, const struct dcb *dcb, const struct settings *target, struct error *e)
{
    struct dcb_app apps[DSCPS];
    size_t count = 0;
    char what[96];
    for (int dscp = 0; dscp < DSCPS; dscp++) {
        int64_t priority = knob_map_value(&target->dscp_to_prio, dscp, NONE);
        if (priority != NONE && !is_there(dcb, dscp, priority))
            apps[count++] = (struct dcb_app){.selector = IEEE_8021QAZ_APP_SEL_DSCP,
                                             .priority = (uint8_t)priority,
                                             .protocol = (uint16_t)dscp};
    }
    snprintf(what, sizeof what, "setting %zu DSCP entries of %s", count, d->name);
    return count > 0 ? dcb_write_apps(d, DCB_CMD_IEEE_SET, apps, count, what, e) : 0;
}

static int remove_others(struct device *d, const struct dcb *dcb, const struct settings *target,
                         struct error *e)
{
    struct dcb_app apps[DCB_MAX_APPS];
    size_t count = 0;
    char what[96];
    for (size_t i = 0; i < dcb->app_count; i++)
        if (dcb->apps[i].selector == IEEE_8021QAZ_APP_SEL_DSCP && !is_wanted(&dcb->apps[i], target))
            apps[count++] = dcb->apps[i];
    snprintf(what, sizeof what, "removing %zu DSCP entries of %s", count, d->name);
    return count > 0 ? dcb_write_apps(d, DCB_CMD_IEEE_DEL, apps, count, what, e) : 0;
}

/* Add new entries first: trust would change for a moment if the last entry were removed. The entries to
 * remove are read again in between, because on mlx5 a new entry replaces an old one of the same DSCP, while
 * other drivers keep both. */
static int write_netlink(struct device *d, const struct settings *target, struct error *e)
{
    struct dcb dcb;
    int number;
    if (read_table(d, &dcb, &number, e) != 0 || add_wanted(d, &dcb, target, e) != 0 ||
        read_table(d, &dcb, &number, e) != 0)
        return -1;
    return remove_others(d, &dcb, target, e);
}

static int write_trust(struct device *d, const struct settings *now, const struct settings *target,
                       struct error *e)
{
    struct trust t;
    (void)now;
    if (read_all(d, &t, e) != KNOB_READ)
        return -1;
    return t.sysfs ? write_sysfs(d, &t, target, e) : write_netlink(d, target, e);
}

static const char *const keys[] = {"trust", "dscp_to_prio", NULL};

const struct knob knob_trust = {
    .name = "trust", .keys = keys, .read = read_trust, .complete = complete_trust, .write = write_trust};
