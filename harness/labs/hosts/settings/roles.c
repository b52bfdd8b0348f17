#include "harness/labs/hosts/settings/roles.h"

#include "harness/labs/hosts/parallel.h"
#include "harness/labs/hosts/settings/vlan.h"
#include "harness/labs/hosts/sonic/switches.h"
#include "harness/labs/hosts/virtual.h"
#include "lib/document/json_text.h"
#include "lib/log.h"
#include "lib/words.h"
#include "lib/xalloc.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define RECONNECT_NS \
    (60 * NS_PER_S) /* reconnecting to a host whose connection was cut, to restore its settings */
#define ENDED_NS  (3 * NS_PER_S)  /* to find out whether a connection still carries commands */
#define SILENT_NS (10 * NS_PER_S) /* the same when it has been silent already */

static const char *role_name(const struct remote_lab *lab, size_t role)
{
    return scenario_role(&lab->run->cell->scenario, role);
}

static const json_t *in_force(const struct remote_host *h)
{
    return json_object_get(h->nic, "interfaces");
}

/* What the last run kept of the role; NULL: nothing, or it was taken over or restored. */
static const json_t *left_of(const struct remote_lab *lab, size_t role)
{
    return lab->hosts[role].settled ? NULL : json_object_get(lab->left, role_name(lab, role));
}

/* ---- when a host is brought up */

/* The next role of a machine's. */
static size_t next_role(const struct remote_lab *lab, size_t first, size_t role)
{
    return machine_next(lab, first, role, lab->host_count);
}

/* What an earlier run has left: the journal is that of all NICs of the machine, which are looked for again.
 */
static int restore_left(struct remote_lab *lab, size_t first, bool *restored, struct error *e)
{
    *restored = false;
    if (!remote_journal_open(&lab->hosts[first]))
        return 0;
    json_t *answer = remote_settings_restore(&lab->hosts[first], e);
    if (!answer)
        return error_prefix(e, "restoring settings of an earlier run");
    *restored = true;
    json_decref(answer);
    for (size_t role = first; role != SIZE_MAX; role = next_role(lab, first, role))
        if (remote_find_nic(&lab->hosts[role], e) != 0)
            return -1;
    return 0;
}

/* Does this run want what the last one kept? */
static bool is_wanted(const struct remote_lab *lab, size_t role, const json_t *left)
{
    const struct cell *cell = lab->run->cell;
    json_t *wanted = scenario_role_settings(cell->scenario_json, role_name(lab, role));
    bool is = json_same(json_object_get(left, "wanted"), wanted) &&
              json_integer_value(json_object_get(left, "priorities")) ==
                  vlan_priorities(&cell->scenario, role_name(lab, role));
    json_decref(wanted);
    return is;
}

/* What was kept of the roles of a machine, all in one journal. */
enum left { LEFT_NOTHING, LEFT_UNWANTED, LEFT_CHANGED, LEFT_IN_FORCE };

static enum left what_is_left(const struct remote_lab *lab, size_t first)
{
    enum left found = LEFT_IN_FORCE;
    bool any = false;
    for (size_t role = first; role != SIZE_MAX; role = next_role(lab, first, role)) {
        const struct remote_host *h = &lab->hosts[role];
        const json_t *left = left_of(lab, role);
        any = any || left;
        if (!left || !is_wanted(lab, role, left))
            found = LEFT_UNWANTED;
        else if (found == LEFT_IN_FORCE &&
                 !(remote_journal_open(h) && json_equal(json_object_get(left, "read_back"), in_force(h))))
            found = LEFT_CHANGED;
    }
    return any ? found : LEFT_NOTHING;
}

int roles_bring_up_settings(struct remote_lab *lab, size_t first, json_t *warnings, struct error *e)
{
    bool restored;
    int memory = 0;
    for (size_t role = first; role != SIZE_MAX; role = next_role(lab, first, role)) {
        if (!lab->hosts[role].nic) /* it was not found, which ends the run */
            return 0;
        int one = memory == 0 ? virtual_gpu_restore(&lab->hosts[role], e) : 0;
        if (one < 0)
            return error_prefix(e, "restoring settings of an earlier run");
        memory |= one;
    }
    enum left left = what_is_left(lab, first);
    if (left == LEFT_IN_FORCE)
        return 0;
    if (restore_left(lab, first, &restored, e) != 0)
        return -1;
    for (size_t role = first; role != SIZE_MAX; role = next_role(lab, first, role))
        lab->hosts[role].settled = true;
    if (restored && left == LEFT_CHANGED)
        json_array_append_new(warnings,
                              json_textf("%s: the settings that the last run kept for this one were "
                                         "changed meanwhile: they were restored, and set again",
                                         machine_name(lab, first)));
    else if ((restored && left == LEFT_NOTHING) || memory > 0)
        json_array_append_new(warnings,
                              json_textf("%s: settings that an earlier run had left were restored first",
                                         machine_name(lab, first)));
    return 0;
}

/* ---- saving and applying */

int roles_save_settings(void *state, struct role_settings roles[], struct error *e)
{
    struct remote_lab *lab = state;
    for (size_t role = 0; role < lab->host_count; role++) {
        if (lab->hosts[role].sonic)
            continue;
        const json_t *left = left_of(lab, role);
        /* read when the NIC was found; nothing has been changed since then */
        roles[role].before =
            json_deep_copy(left ? json_object_get(left, "before") : in_force(&lab->hosts[role]));
        if (!roles[role].before)
            return error_set(e, "host %s: nic-config get has shown no interfaces",
                             lab->hosts[role].lab->name);
    }
    return switch_roles_save(lab, roles, e);
}

/* What the lab says of memory that stands for a GPU's, where this cell uses it. Takes over `read_back`,
 * and adds what was set. */
static json_t *slow_gpu_memory(struct remote_lab *lab, size_t role, json_t *read_back, struct error *e)
{
    struct remote_host *h = &lab->hosts[role];
    if (!virtual_gpu_wanted(&lab->run->cell->scenario, role_name(lab, role), h->lab))
        return read_back;
    json_t *taken = virtual_gpu_set(h, e);
    if (taken && json_object_set_new(read_back, "virtual_gpu", taken) == 0)
        return read_back;
    if (taken)
        error_set(e, "out of memory");
    json_decref(read_back);
    return NULL;
}

/* The settings stand; what the last run was told of them is told again. */
static json_t *take_over(struct remote_lab *lab, size_t role, const json_t *left, json_t *warnings)
{
    struct remote_host *h = &lab->hosts[role];
    json_decref(h->warnings);
    h->warnings = json_deep_copy(json_object_get(left, "warnings"));
    json_array_extend(warnings, h->warnings);
    json_decref(h->thresholds);
    h->thresholds = json_deep_copy(json_object_get(left, "thresholds"));
    h->settled = true;
    return json_deep_copy(json_object_get(left, "read_back"));
}

/* Settings of NICs whose machine has one journal, set together; what stands is taken over. */
static int set_nics(struct remote_lab *lab, size_t first, struct role_settings roles[], struct error *e)
{
    struct machine_settings *all = xcalloc(lab->host_count + 1, sizeof *all);
    size_t *role_of = xcalloc(lab->host_count + 1, sizeof *role_of), count = 0;
    for (size_t role = first; role != SIZE_MAX; role = next_role(lab, first, role)) {
        struct remote_host *h = &lab->hosts[role];
        const json_t *left = left_of(lab, role);
        json_t *warnings = lab->results[role].warnings;
        if (h->lab->forwarding)
            continue;
        h->priorities = vlan_priorities(&lab->run->cell->scenario, role_name(lab, role));
        if (left) {
            roles[role].read_back = take_over(lab, role, left, warnings);
            continue;
        }
        role_of[count] = role;
        all[count++] =
            (struct machine_settings){.host = h, .wanted = roles[role].wanted, .warnings = warnings};
    }
    int result = count ? remote_settings_set(all, count, e) : 0;
    for (size_t i = 0; i < count; i++) {
        roles[role_of[i]].read_back = all[i].read_back;
        json_decref(all[i].host->warnings);
        all[i].host->warnings = json_deep_copy(all[i].warnings);
    }
    free(all);
    free(role_of);
    return result;
}

/* `context`: settings by role. */
static int apply_to_machine(struct remote_lab *lab, size_t first, void *context, json_t *warnings,
                            struct error *e)
{
    struct role_settings *roles = context;
    (void)warnings;
    if (!machine_is_first(lab, first))
        return 0;
    if (set_nics(lab, first, roles, e) != 0)
        return -1;
    for (size_t role = first; role != SIZE_MAX; role = next_role(lab, first, role)) {
        struct role_settings *r = &roles[role];
        struct remote_host *h = &lab->hosts[role];
        if (h->lab->forwarding)
            r->read_back = virtual_switch_set(h, &lab->run->cell->lab, r->wanted, e);
        if (r->read_back)
            r->read_back = slow_gpu_memory(lab, role, r->read_back, e);
        if (!r->read_back)
            return -1;
    }
    return 0;
}

int roles_apply_settings(void *state, struct role_settings roles[], struct error *e)
{
    struct remote_lab *lab = state;
    for (size_t role = 0; role < lab->host_count; role++) {
        const struct lab_host *host = lab->hosts[role].lab;
        lab->changed |= !lab->hosts[role].sonic && !left_of(lab, role) && !host->forwarding &&
                        (json_object_size(roles[role].wanted) > 0 || host->extra_nics.count > 0);
    }
    lab->changed |= switch_roles_changed(lab);
    return switch_roles_apply(lab, roles, e) != 0
               ? -1
               : hosts_in_parallel(lab, lab->host_count, apply_to_machine, roles, e);
}

/* ---- restoring */

/* The settings of a guest that was stopped are lost with it; a paused guest still has them. */
static int look_at_guest(const struct remote_lab *lab, const struct remote_host *h, enum virt_state *now,
                         struct error *e)
{
    if (!lab->virt || !h->lab->domain || virt_domain_state(lab->virt, h->lab->domain, now, NULL) != 0)
        *now = VIRT_RUNNING;
    return *now == VIRT_PAUSED ? error_set(e, "guest %s (host %s) is paused", h->lab->domain, h->lab->name)
                               : 0;
}

/* Before anything is put back the machine is locked again. 1: it cannot be, with the sentence. */
static int lock_again(const struct remote_lab *lab, size_t role, struct ssh_session *session, struct error *e)
{
    return lab_lock_reached(lab->lock, session, "host", machine_name(lab, role), e);
}

/* All hosts of the machine have the new connection. */
static void take_connection(struct remote_lab *lab, struct ssh_session *before, struct ssh_session *now)
{
    for (size_t i = 0; i < lab->all_count; i++)
        if (lab->hosts[i].ssh == before)
            lab->hosts[i].ssh = now;
    ssh_close(before);
}

static int reconnect(struct remote_lab *lab, size_t role, json_t *warnings, struct error *e)
{
    struct remote_host again, *h = &lab->hosts[role];
    if (!lab->failed || !machine_is_first(lab, role) || !ssh_ended(h->ssh, ENDED_NS, NULL))
        return 0;
    if (remote_host_open(&again, lab->virt, &lab->run->cell->lab, h->lab,
                         h->silent ? SILENT_NS : RECONNECT_NS, e) != 0)
        return -1;
    int locked = lock_again(lab, role, again.ssh, e);
    if (locked < 0) {
        remote_host_close(&again);
        return -1;
    }
    if (locked == 1)
        json_array_append_new(warnings, json_text(e->text));
    take_connection(lab, h->ssh, again.ssh);
    return 0;
}

static void warn_of_change(const struct remote_lab *lab, size_t role, const char *netdev, const char *key,
                           const json_t *ours, const json_t *found, json_t *warnings)
{
    char *set = json_dumps(ours, JSON_ENCODE_ANY | JSON_COMPACT),
         *now = json_dumps(found, JSON_ENCODE_ANY | JSON_COMPACT);
    json_array_append_new(
        warnings, json_textf("%s: another program changed %s of %.40s during the run: it was %.200s, and is "
                             "%.200s at the end; figures may be those of either",
                             role_name(lab, role), key, netdev, set ? set : "?", now ? now : "?"));
    free(set);
    free(now);
}

/* What was set, or found where nothing was set, and is something else now: it was changed during the run. */
static void warn_of_changed(const struct remote_lab *lab, size_t role, const struct role_settings *r,
                            const json_t *now, json_t *warnings)
{
    const json_t *ours = json_object_size(r->read_back) ? r->read_back : r->before;
    const char *netdev, *key;
    json_t *settings, *value;
    json_object_foreach((json_t *)(uintptr_t)ours, netdev, settings)
    {
        const json_t *there = json_object_get(now, netdev);
        json_object_foreach(settings, key, value)
        {
            const json_t *found = json_object_get(there, key);
            if (json_is_object(there) && found && !json_equal(value, found))
                warn_of_change(lab, role, netdev, key, value, found, warnings);
        }
    }
}

/* Settings in force at the end of the run, which are looked at before they are put back. */
static int look_for_changed(const struct remote_lab *lab, size_t role, const struct role_settings *r,
                            json_t *warnings, struct error *e)
{
    struct remote_host *h = &lab->hosts[role];
    if (h->lab->forwarding || !r->before || (lab->changed && !r->read_back))
        return 0;
    json_t *now = remote_settings_get(h, e);
    warn_of_changed(lab, role, r, now, warnings);
    json_decref(now);
    return now ? 0 : -1;
}

/* Nothing of a guest that was stopped can be restored, and nothing need be. */
static json_t *of_stopped_guest(enum virt_state now)
{
    return json_make("{s:s}", "guest", virt_state_names[now]);
}

/* The journal on the machine is the best record of what was changed: what is left of all its NICs. */
static int restore_machine(struct remote_lab *lab, size_t first, struct role_settings roles[],
                           enum virt_state *now, json_t *warnings, struct error *e)
{
    if (look_at_guest(lab, &lab->hosts[first], now, e) != 0)
        return -1;
    if (*now != VIRT_RUNNING)
        return 0;
    if (reconnect(lab, first, warnings, e) != 0)
        return -1;
    for (size_t role = first; role != SIZE_MAX; role = next_role(lab, first, role))
        (void)look_for_changed(lab, role, &roles[role], lab->results[role].warnings,
                               e); /* what keeps it from being read, restoring says */
    json_t *answer = remote_settings_restore(&lab->hosts[first], e);
    int result = answer ? 0 : -1;
    for (size_t role = first; result == 0 && role != SIZE_MAX; role = next_role(lab, first, role))
        if (lab->hosts[role].slowed && virtual_gpu_restore(&lab->hosts[role], e) < 0)
            result = -1;
    json_decref(answer);
    return result;
}

static bool any_saved(const struct remote_lab *lab, size_t first, const struct role_settings roles[])
{
    for (size_t role = first; role != SIZE_MAX; role = next_role(lab, first, role))
        if (roles[role].before)
            return true;
    return false;
}

/* `context`: settings by role. */
static int restore_nics(struct remote_lab *lab, size_t first, void *context, json_t *warnings,
                        struct error *e)
{
    struct role_settings *roles = context;
    enum virt_state now = VIRT_RUNNING;
    if (!machine_is_first(lab, first) || !any_saved(lab, first, roles))
        return 0;
    int result = restore_machine(lab, first, roles, &now, warnings, e);
    for (size_t role = first; role != SIZE_MAX; role = next_role(lab, first, role)) {
        struct role_settings *r = &roles[role];
        if (!r->before)
            continue;
        if (result == 0)
            r->after =
                now == VIRT_RUNNING ? remote_settings_get(&lab->hosts[role], e) : of_stopped_guest(now);
        if (!r->after)
            r->why_not = *e;
        lab->hosts[role].settled = true;
    }
    return 0;
}

void roles_restore_settings(void *state, struct role_settings roles[])
{
    struct remote_lab *lab = state;
    hosts_in_parallel(lab, lab->host_count, restore_nics, roles, NULL);
    switch_roles_restore(lab, roles);
}

/* ---- keeping */

/* Memory that stands for a GPU's is not kept: the next cell may not use it. `context`: settings by role. */
static int ready_to_keep(struct remote_lab *lab, size_t role, void *context, json_t *warnings,
                         struct error *e)
{
    struct remote_host *h = &lab->hosts[role];
    if (!h->sonic && look_for_changed(lab, role, (struct role_settings *)context + role, warnings, e) != 0)
        return -1;
    return h->slowed && virtual_gpu_restore(h, e) < 0 ? -1 : 0;
}

/* A VLAN or a bridge, which the next run would not find among the lab's NICs. */
static bool makes_interfaces(const struct lab_host *host)
{
    return host->nic.vlan || (host->extra_nics.count > 0 && !host->forwarding);
}

int roles_keep_settings(void *state, struct role_settings roles[], struct error *e)
{
    struct remote_lab *lab = state;
    json_t *kept = lab->run->kept;
    if (switch_roles_changed(lab))
        return error_set(e, "settings of a switch are changed");
    for (size_t role = 0; role < lab->host_count; role++)
        if (makes_interfaces(lab->hosts[role].lab))
            return error_set(e, "%s has interfaces that a run makes", role_name(lab, role));
    if (hosts_in_parallel(lab, lab->host_count, ready_to_keep, roles, e) != 0)
        return -1;
    for (size_t role = 0; role < lab->host_count; role++) {
        const struct remote_host *h = &lab->hosts[role];
        if (h->sonic)
            continue;
        json_t *read_back = json_deep_copy(roles[role].read_back);
        json_object_del(read_back, "virtual_gpu");
        if (json_object_set_new(kept, role_name(lab, role),
                                json_make("{s:O,s:O,s:o,s:O*,s:O*,s:i}", "before", roles[role].before,
                                          "wanted", roles[role].wanted, "read_back", read_back, "thresholds",
                                          h->thresholds, "warnings", h->warnings, "priorities",
                                          (int)h->priorities)) != 0) {
            json_object_clear(kept);
            return error_set(e, "out of memory");
        }
    }
    return 0;
}

/* A host that was not connected to in this run is connected to now. */
static int restore_kept(struct remote_lab *lab, size_t role, struct error *e)
{
    struct remote_host *h = &lab->hosts[role];
    const struct lab *where = &lab->run->cell->lab;
    if (lab_kind(where)->guests && !lab->virt && !(lab->virt = virt_open(where->uri, e)))
        return -1;
    if (!h->ssh) {
        int locked = remote_host_open(h, lab->virt, where, h->lab, RECONNECT_NS, e) != 0
                         ? -1
                         : lock_again(lab, role, h->ssh, e);
        if (locked < 0)
            return -1;
        if (locked == 1)
            log_warning("%s", e->text);
    }
    json_t *answer = remote_settings_restore(h, e);
    json_decref(answer);
    return answer ? 0 : -1;
}

static bool any_left(const struct remote_lab *lab, size_t first)
{
    for (size_t role = first; role != SIZE_MAX; role = next_role(lab, first, role))
        if (left_of(lab, role))
            return true;
    return false;
}

void roles_release_settings(struct remote_lab *lab)
{
    const struct lab *where = &lab->run->cell->lab;
    struct error e;
    for (size_t role = 0; lab->results && role < lab->host_count; role++) {
        if (!machine_is_first(lab, role) || !any_left(lab, role))
            continue;
        if (!lab->lock)
            lab->lock = lab_lock(where, "restore", &e);
        if (lab->lock && restore_kept(lab, role, &e) == 0)
            continue;
        char *path = shell_quoted(lab->run->lab_path);
        log_warning("settings of %s that the last run kept were not restored: %s; try `harness restore "
                    "--lab %s`",
                    machine_name(lab, role), e.text, path);
        free(path);
    }
}
