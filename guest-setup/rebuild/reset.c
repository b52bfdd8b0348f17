/* reset and destroy. */
#include "guest-setup/rebuild/rebuild.h"

#include "guest-setup/guest/networks.h"
#include "guest-setup/rebuild/domain.h"
#include "guest-setup/rebuild/makings.h"
#include "guest-setup/rebuild/nic_settings.h"
#include "guest-setup/rebuild/steps.h"
#include "remote/places.h"
#include "lib/clock.h"
#include "lib/files.h"
#include <stdlib.h>
#include <string.h>

/* ---- reset */

/* Discard the guest's overlay and start the guest on a new one over the provisioned disk. */
static int reset_host(struct making *m, struct error *e)
{
    struct record record;
    int64_t begin_ns = clock_monotonic_ns();
    struct guest guest = {.context = m->context, .host = m->host, .profile = &m->profile, .record = &record};
    if (record_open(&m->context->lab, m->host, &record, e) != 0)
        return -1;
    bool complete = record_complete(&record);
    m->type = strcmp(record_string(&record, "type"), "kvm") == 0 ? "kvm" : "qemu";
    m->image_id = strdup(record_string(&record, "image"));
    record_free(&record);
    if (!complete)
        return error_set(e,
                         "host %s has no snapshot because its rebuild was not finished: virt-provision "
                         "rebuild %s finishes it",
                         m->host->name, m->host->name);
    if (making_check_domain(m, e) < 0 || nic_settings_restore(m, e) != 0 ||
        virt_domain_stop(m->context->virt, m->host->domain, 0, e) != 0 ||
        making_delete_volume(m, DISK_WORK, e) != 0 ||
        making_overlay(m, DISK_WORK, volume_of_host(m, DISK_BASE), 0, e) != 0 ||
        making_define_domain(m, DISK_WORK, e) != 0 ||
        virt_domain_start(m->context->virt, m->host->domain, e) != 0 || guest_connect(&guest, e) != 0)
        return -1;
    ssh_close(guest.ssh);
    say(m->context, m->host, "reset in %.1f s", (double)(clock_monotonic_ns() - begin_ns) / NS_PER_S);
    return 0;
}

static void *reset_thread(void *data)
{
    struct making *m = data;
    m->result = reset_host(m, &m->error);
    return NULL;
}

int reset_hosts(struct context *c, struct error *e)
{
    struct storage storage = {0};
    struct making *makings;
    int result = makings_open(c, &storage, &makings, e);
    if (result == 0)
        result = storage_open(c->virt, &c->lab, false, &storage, e);
    if (result == 0 && !storage.pool)
        result = error_set(e, "lab %s has not been built yet: virt-provision rebuild", c->lab.name);
    if (result == 0)
        result = makings_run(c, makings, reset_thread, e);
    makings_close(c, makings);
    storage_close(&storage);
    return result;
}

/* ---- destroy */

static int destroy_host(struct making *m, struct error *e)
{
    static const char *const suffixes[] = {DISK_WORK, DISK_BASE, ".seed", ".console"};
    char *place = places_of_host(&m->context->lab, m->host, NULL, e);
    int result = place ? making_remove_domain(m, 0, e) : -1;
    for (size_t i = 0; result == 0 && i < sizeof suffixes / sizeof *suffixes; i++)
        result = making_delete_volume(m, suffixes[i], e);
    if (result == 0)
        result = files_remove_tree(place, e);
    if (result == 0)
        say(m->context, m->host, "destroyed");
    free(place);
    return result;
}

/* Does any guest of the lab exist still? */
static bool any_left(struct context *c)
{
    const struct lab_host *host;
    for (size_t i = 0; (host = lab_host_at(&c->lab, i)); i++) {
        enum virt_state state = VIRT_ABSENT;
        if (host->domain &&
            (virt_domain_state(c->virt, host->domain, &state, NULL) != 0 || state != VIRT_ABSENT))
            return true;
    }
    return false;
}

/* With the last guest, the networks, the pool and the lab's keys are removed too. */
static int remove_rest(struct context *c, struct storage *storage, struct error *e)
{
    static const char *const names[] = {"id_ed25519", "id_ed25519.pub", "known_hosts", "uploads.json",
                                        "hosts"};
    if (networks_remove(c->virt, &c->lab, e) != 0 || storage_remove(storage, e) != 0)
        return -1;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char *place = places_in_lab(&c->lab, names[i], e);
        int result = place ? files_remove_tree(place, e) : -1;
        free(place);
        if (result != 0)
            return -1;
    }
    return 0;
}

int destroy_hosts(struct context *c, struct error *e)
{
    struct storage storage = {0};
    struct making *makings;
    int result = makings_open(c, &storage, &makings, e);
    if (result == 0)
        result = storage_open(c->virt, &c->lab, false, &storage, e);
    for (size_t i = 0; result == 0 && i < c->host_count; i++)
        result = destroy_host(&makings[i], e);
    if (result == 0 && !any_left(c))
        result = remove_rest(c, &storage, e);
    makings_close(c, makings);
    storage_close(&storage);
    return result;
}
