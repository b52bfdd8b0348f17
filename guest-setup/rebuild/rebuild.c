#include "guest-setup/rebuild/rebuild.h"

#include "guest-setup/guest/processor.h"
#include "guest-setup/guest/image.h"
#include "guest-setup/guest/networks.h"
#include "guest-setup/guest/seed.h"
#include "guest-setup/rebuild/domain.h"
#include "guest-setup/rebuild/makings.h"
#include "guest-setup/rebuild/packages.h"
#include "guest-setup/rebuild/record.h"
#include "guest-setup/rebuild/steps.h"
#include "remote/places.h"
#include "remote/virt_error.h"
#include "lib/clock.h"
#include "lib/document/json_file.h"
#include "lib/scratch.h"
#include "lib/text.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* ---- snapshot */

/* From now on the guest writes to a separate overlay over the provisioned disk, which reset discards. The
 * guest continues to run. The agent freezes its file systems first, if there is an agent. */
static int live_layer(struct making *m, struct error *e)
{
    static const unsigned flags = VIR_DOMAIN_SNAPSHOT_CREATE_DISK_ONLY |
                                  VIR_DOMAIN_SNAPSHOT_CREATE_NO_METADATA | VIR_DOMAIN_SNAPSHOT_CREATE_ATOMIC |
                                  VIR_DOMAIN_SNAPSHOT_CREATE_QUIESCE;
    char *volume = volume_of_host(m, DISK_WORK), *path = volume ? storage_path(m->storage, volume) : NULL;
    virDomainPtr domain = virDomainLookupByName(virt_connection(m->context->virt), m->host->domain);
    struct text xml = {0};
    /* the path needs no escaping in XML: this was checked when the pool was created */
    text_add(&xml,
             "<domainsnapshot><disks><disk name='vda' snapshot='external'><source file='%s'/></disk><disk "
             "name='vdb' "
             "snapshot='no'/></disks></domainsnapshot>",
             path ? path : "");
    virDomainSnapshotPtr snapshot =
        domain ? virDomainSnapshotCreateXML(domain, text_string(&xml), flags) : NULL;
    if (!snapshot)
        virt_error(e, "taking the snapshot of domain %s", m->host->domain);
    else
        virDomainSnapshotFree(snapshot);
    if (domain)
        virDomainFree(domain);
    text_free(&xml);
    free(path);
    free(volume);
    return snapshot ? 0 : -1;
}

/* The same with the guest switched off, when its file systems cannot be frozen. */
static int cold_layer(struct making *m, struct error *e)
{
    if (virt_domain_stop(m->context->virt, m->host->domain, 60 * NS_PER_S, e) != 0 ||
        making_delete_volume(m, DISK_WORK, e) != 0 ||
        making_overlay(m, DISK_WORK, volume_of_host(m, DISK_BASE), 0, e) != 0 ||
        making_define_domain(m, DISK_WORK, e) != 0)
        return -1;
    return virt_domain_start(m->context->virt, m->host->domain, e);
}

static int take_snapshot(struct guest *g, struct making *m, struct error *e)
{
    static const char *const sync_argv[] = {"sync", NULL};
    struct error live = {""};
    if (ssh_must(g->ssh, sync_argv, NULL, NULL, 120 * NS_PER_S, e) != 0)
        return -1;
    if (live_layer(m, &live) == 0)
        return 0;
    guest_log(g, "no snapshot is possible while it runs (%s): it is switched off for the snapshot",
              live.text);
    return cold_layer(m, e);
}

/* ---- one host */

/* Everything that determines the disk and the domain: an interrupted rebuild is not continued after a change. */
static char *definition_hash(const struct making *m, struct error *e)
{
    char hash[17], *xml = making_xml(m, "disk", e);
    if (!xml)
        return NULL;
    content_hash(xml, strlen(xml), hash);
    free(xml);
    return strdup(hash);
}

static bool can_continue(struct making *m, const struct record *r, const char *definition)
{
    char *disk = volume_of_host(m, DISK_BASE);
    enum virt_state state = VIRT_ABSENT;
    bool can = !m->context->options.fresh && !record_complete(r) &&
               strcmp(record_string(r, "definition"), definition) == 0 && disk &&
               storage_has(m->storage, disk) && making_check_domain(m, NULL) == 1 &&
               virt_domain_state(m->context->virt, m->host->domain, &state, NULL) == 0 &&
               state != VIRT_ABSENT;
    free(disk);
    return can;
}

static int start_afresh(struct making *m, struct record *r, const char *definition, struct error *e)
{
    record_clear(r);
    if (record_save(r, e) != 0 || making_remove_domain(m, 0, e) != 0 || making_fresh_disks(m, e) != 0 ||
        making_define_domain(m, DISK_BASE, e) != 0)
        return -1;
    record_set(r, "definition", definition);
    record_set(r, "image", m->image_id);
    record_set(r, "type", m->type);
    return record_save(r, e);
}

/* --from: return to the provisioned disk without later writes, then continue with that step. */
static int go_back_to_step(struct making *m, struct record *r, int *from, struct error *e)
{
    char *disk = volume_of_host(m, DISK_BASE);
    bool there = disk && storage_has(m->storage, disk);
    free(disk);
    *from = profile_find_step(&m->profile, m->context->options.from, e);
    if (*from < 0)
        return -1;
    if (!there || making_check_domain(m, e) != 1)
        return error_set(e, "host %s has not been built yet: --from needs a built host; leave it out",
                         m->host->name);
    for (size_t i = (size_t)*from; i < m->profile.step_count; i++)
        record_forget_step(r, &m->profile.steps[i]);
    record_set_complete(r, false);
    if (record_save(r, e) != 0 ||
        virt_domain_stop(m->context->virt, m->host->domain, 30 * NS_PER_S, e) != 0 ||
        making_delete_volume(m, DISK_WORK, e) != 0)
        return -1;
    return making_define_domain(m, DISK_BASE, e);
}

static int prepare_disk(struct making *m, struct record *r, int *from, struct error *e)
{
    char *definition = definition_hash(m, e);
    int result;
    *from = -1;
    if (!definition)
        return -1;
    if (m->context->options.from) {
        result = go_back_to_step(m, r, from, e);
    } else if (can_continue(m, r, definition)) {
        say(m->context, m->host, "continuing the interrupted rebuild");
        result = 0;
    } else {
        result = start_afresh(m, r, definition, e);
    }
    free(definition);
    return result;
}

static void add_finish(struct record *r)
{
    char when[32];
    time_t now = time(NULL);
    struct tm utc;
    strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
    record_set(r, "finished", when);
    record_set_complete(r, true);
}

static int serve_packages(struct guest *g, struct error *e)
{
    return g->profile->served ? packages_serve(g, GUEST_FILES "/packages", e) : 0;
}

static int provision(struct making *m, struct guest *g, struct error *e)
{
    int from;
    int64_t begin_ns = clock_monotonic_ns();
    if (prepare_disk(m, g->record, &from, e) != 0)
        return -1;
    if (virt_domain_start(m->context->virt, m->host->domain, e) != 0 || guest_connect(g, e) != 0)
        return -1;
    say(m->context, m->host, "answers ssh after %.1f s",
        (double)(clock_monotonic_ns() - begin_ns) / NS_PER_S);
    if (guest_put(g, e) != 0 || serve_packages(g, e) != 0 || guest_run_steps(g, from, e) != 0 ||
        guest_verify(g, e) != 0 || take_snapshot(g, m, e) != 0)
        return -1;
    add_finish(g->record);
    say(m->context, m->host, "ready after %.1f s", (double)(clock_monotonic_ns() - begin_ns) / NS_PER_S);
    return record_save(g->record, e);
}

static FILE *open_log(struct making *m, struct error *e)
{
    char *path = places_of_host(&m->context->lab, m->host, "log", e);
    int fd = path ? scratch_open(path, O_WRONLY | O_APPEND | O_CREAT, 0644, e) : -1;
    FILE *log = fd >= 0 ? fdopen(fd, "a") : NULL;
    if (fd >= 0 && !log) {
        error_set_errno(e, errno, "opening the log %s", path);
        close(fd);
    }
    free(path);
    return log;
}

static int rebuild_host(struct making *m, struct error *e)
{
    struct record record;
    struct guest guest = {.context = m->context, .host = m->host, .profile = &m->profile, .record = &record};
    if (record_open(&m->context->lab, m->host, &record, e) != 0)
        return -1;
    guest.log = open_log(m, e);
    int result = guest.log ? provision(m, &guest, e) : -1;
    if (guest.log && result != 0)
        guest_log(&guest, "failed: %s", e->text);
    ssh_close(guest.ssh);
    if (guest.log)
        fclose(guest.log);
    record_free(&record);
    return result;
}

static void *rebuild_thread(void *data)
{
    struct making *m = data;
    m->result = rebuild_host(m, &m->error);
    return NULL;
}

/* ---- all hosts */

/* Names of the files that were copied completely into the pool, unlike a copy that was interrupted. */
static json_t *open_uploads(struct context *c, char **path, struct error *e)
{
    *path = places_in_lab(&c->lab, "uploads.json", e);
    json_t *uploads = *path ? json_file_load(*path, DOCUMENT_ANSWER, NULL) : NULL;
    if (*path && !json_is_object(uploads)) {
        json_decref(uploads);
        uploads = json_object();
    }
    return uploads;
}

static int upload_once(struct making *m, json_t *uploads, const char *uploads_path, const char *suffix,
                       const char *local, const char *format, struct error *e)
{
    char *volume = volume_of_image(m, suffix);
    int result = 0;
    if (!volume)
        return error_set(e, "out of memory");
    if (!json_object_get(uploads, volume) || !storage_has(m->storage, volume)) {
        result = storage_upload(m->context->virt, m->storage, volume, local, format, e);
        json_object_set_new(uploads, volume, json_true());
        if (result == 0)
            result = json_file_save(uploads_path, uploads, e);
    }
    free(volume);
    return result;
}

static int prepare_image(struct making *m, struct error *e)
{
    struct image image;
    char *path = NULL;
    if (image_prepare(&m->profile, false, &image, e) != 0)
        return -1;
    m->image_id = strdup(image.id);
    json_t *uploads = open_uploads(m->context, &path, e);
    int result =
        uploads && m->image_id ? upload_once(m, uploads, path, DISK_BASE, image.disk, "qcow2", e) : -1;
    if (result == 0 && image.kernel)
        result = upload_once(m, uploads, path, ".vmlinuz", image.kernel, "raw", e);
    if (result == 0 && image.initrd)
        result = upload_once(m, uploads, path, ".initrd", image.initrd, "raw", e);
    json_decref(uploads);
    free(path);
    image_free(&image);
    return result;
}

/* A host that is built from scratch gets a new host key; one whose rebuild is continued keeps the host key on
 * its disk. */
static int prepare_key(struct making *m, struct error *e)
{
    struct record record;
    char *definition = definition_hash(m, e);
    if (!definition || record_open(&m->context->lab, m->host, &record, e) != 0) {
        free(definition);
        return -1;
    }
    bool keeps = m->context->options.from || can_continue(m, &record, definition);
    record_free(&record);
    free(definition);
    return keeps ? 0 : seed_host_key(&m->context->lab, m->host, e);
}

static int choose_type(struct context *c, struct making *makings, struct error *e)
{
    char *folder = image_cache(NULL);
    const char *why, *type = accelerator_try(c->virt, folder, &why, e);
    free(folder);
    if (!type)
        return -1;
    say(c, NULL, "guests run under %s: %s", type, why);
    for (size_t i = 0; i < c->host_count; i++) {
        makings[i].type = type;
        if (makings[i].nic_count + makings[i].gpu_count && strcmp(type, "kvm") != 0)
            return error_set(e, "host %s has devices passed through, which needs KVM: %s",
                             makings[i].host->name, why);
    }
    return 0;
}

/* Done once, before the hosts are built in parallel. */
static int prepare_all(struct context *c, struct making *makings, struct storage *storage, struct error *e)
{
    for (size_t i = 0; i < c->host_count; i++)
        if (making_check_devices(&makings[i], e) != 0 || making_check_domain(&makings[i], e) < 0)
            return -1;
    if (choose_type(c, makings, e) != 0 || storage_open(c->virt, &c->lab, true, storage, e) != 0 ||
        networks_make(c->virt, &c->lab, e) != 0 || seed_lab_key(&c->lab, e) != 0)
        return -1;
    for (size_t i = 0; i < c->host_count; i++)
        if ((makings[i].profile.bundle.name && packages_fetch(&makings[i].profile, e) != 0) ||
            prepare_image(&makings[i], e) != 0 || prepare_key(&makings[i], e) != 0)
            return -1;
    return seed_pin(&c->lab, e);
}

int rebuild_hosts(struct context *c, struct error *e)
{
    struct storage storage = {0};
    struct making *makings;
    int result = makings_open(c, &storage, &makings, e);
    if (result == 0)
        result = prepare_all(c, makings, &storage, e);
    if (result == 0)
        result = makings_run(c, makings, rebuild_thread, e);
    if (result == 0)
        say(c, NULL, "lab %s is ready after %.1f s", c->lab.name,
            (double)(clock_monotonic_ns() - c->begin_ns) / NS_PER_S);
    makings_close(c, makings);
    storage_close(&storage);
    return result;
}
