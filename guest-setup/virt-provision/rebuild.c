#include "guest-setup/virt-provision/rebuild.h"

#include "guest-setup/guest/accelerator.h"
#include "guest-setup/guest/bundle.h"
#include "guest-setup/guest/image.h"
#include "guest-setup/guest/networks.h"
#include "guest-setup/virt-provision/record.h"
#include "guest-setup/guest/seed.h"
#include "guest-setup/virt-provision/steps.h"
#include "remote/mark.h"
#include "remote/places.h"
#include "lib/clock.h"
#include "lib/files.h"
#include "lib/document/json_file.h"
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BASE ".qcow2"
#define WORK ".work.qcow2"

/* ---- the domain */

/* Nothing that virt-provision did not make for this host is touched, unless told so. 1: ours (or to be adopted), 0: there is none. */
static int check_domain(struct making *m, struct error *e)
{
    virConnectPtr connection = virt_connection(m->context->virt);
    struct mark mark;
    if (!connection)
        return error_set(e, "the connection to libvirt is gone");
    virDomainPtr domain = virDomainLookupByName(connection, m->host->domain);
    if (!domain)
        return 0;
    int marked = mark_read(domain, &mark, e);
    virDomainFree(domain);
    if (marked < 0)
        return -1;
    bool ours =
        marked && strcmp(mark.lab, m->context->lab.name) == 0 && strcmp(mark.host, m->host->name) == 0;
    if (ours || m->context->options.adopt)
        return 1;
    if (marked)
        return error_set(e, "domain %s is host %s of lab %s: destroy it there, or take it with --adopt",
                         m->host->domain, mark.host, mark.lab);
    return error_set(e,
                     "domain %s was not made by virt-provision: it is left as it is; --adopt replaces it "
                     "(its disks stay where "
                     "they are)",
                     m->host->domain);
}

static int remove_domain(struct making *m, int64_t grace_ns, struct error *e)
{
    int there = check_domain(m, e);
    if (there <= 0)
        return there;
    if (virt_domain_stop(m->context->virt, m->host->domain, grace_ns, e) != 0)
        return -1;
    virDomainPtr domain = virDomainLookupByName(virt_connection(m->context->virt), m->host->domain);
    int result = 0;
    /* snapshots' and managed saves' leftovers of an adopted domain go with it; its disks do not */
    if (domain && virDomainUndefineFlags(domain, VIR_DOMAIN_UNDEFINE_MANAGED_SAVE |
                                                     VIR_DOMAIN_UNDEFINE_SNAPSHOTS_METADATA |
                                                     VIR_DOMAIN_UNDEFINE_NVRAM) < 0)
        result = virt_error(e, "forgetting domain %s", m->host->domain);
    if (domain)
        virDomainFree(domain);
    return result;
}

static int define_domain(struct making *m, const char *suffix, struct error *e)
{
    char *disk = volume_of_host(m, suffix), *xml = disk ? making_xml(m, disk, e) : NULL;
    virConnectPtr connection = virt_connection(m->context->virt);
    virDomainPtr domain =
        xml && connection ? virDomainDefineXMLFlags(connection, xml, VIR_DOMAIN_DEFINE_VALIDATE) : NULL;
    if (xml && !domain)
        virt_error(e, "defining domain %s", m->host->domain);
    if (domain)
        virDomainFree(domain);
    free(xml);
    free(disk);
    return domain ? 0 : -1;
}

/* ---- disks */

static int delete_volume(struct making *m, const char *suffix, struct error *e)
{
    char *volume = volume_of_host(m, suffix);
    int result = volume ? storage_delete(m->storage, volume, e) : error_set(e, "out of memory");
    free(volume);
    return result;
}

static int overlay(struct making *m, const char *suffix, char *base, int64_t bytes, struct error *e)
{
    char *volume = volume_of_host(m, suffix);
    int result =
        volume && base ? storage_overlay(m->storage, volume, base, bytes, e) : error_set(e, "out of memory");
    free(volume);
    free(base);
    return result;
}

static int upload_seed(struct making *m, struct error *e)
{
    char *volume = volume_of_host(m, ".seed"), *local = seed_make(&m->context->lab, m->host, &m->profile, e);
    int result = local && volume ? storage_upload(m->context->virt, m->storage, volume, local, "raw", e) : -1;
    free(volume);
    free(local);
    return result;
}

static int fresh_disks(struct making *m, struct error *e)
{
    int64_t bytes = m->host->disk_bytes == FIELD_UNSET ? 0 : m->host->disk_bytes;
    if (delete_volume(m, WORK, e) != 0 || delete_volume(m, ".console", e) != 0)
        return -1;
    if (overlay(m, BASE, volume_of_image(m, BASE), bytes, e) != 0)
        return -1;
    return upload_seed(m, e);
}

/* ---- snapshot */

/* From now on the guest writes to a layer of its own over the provisioned disk: reset throws that layer away. The guest goes on running. The agent
 * quiets its file systems first where there is one. */
static int live_layer(struct making *m, struct error *e)
{
    static const unsigned flags = VIR_DOMAIN_SNAPSHOT_CREATE_DISK_ONLY |
                                  VIR_DOMAIN_SNAPSHOT_CREATE_NO_METADATA | VIR_DOMAIN_SNAPSHOT_CREATE_ATOMIC |
                                  VIR_DOMAIN_SNAPSHOT_CREATE_QUIESCE;
    char *volume = volume_of_host(m, WORK), *path = volume ? storage_path(m->storage, volume) : NULL;
    virDomainPtr domain = virDomainLookupByName(virt_connection(m->context->virt), m->host->domain);
    struct text xml = {0};
    /* the path is of letters that XML takes as they are: checked when the pool was made */
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

/* The same with the guest off for a moment, where it cannot be quieted. */
static int cold_layer(struct making *m, struct error *e)
{
    if (virt_domain_stop(m->context->virt, m->host->domain, 60 * NS_PER_S, e) != 0 ||
        delete_volume(m, WORK, e) != 0 || overlay(m, WORK, volume_of_host(m, BASE), 0, e) != 0 ||
        define_domain(m, WORK, e) != 0)
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
    guest_log(g, "no snapshot while it runs (%s): it is switched off for one", live.text);
    return cold_layer(m, e);
}

/* ---- one host */

/* Everything that decides what the disk and the domain look like: when it changed, nothing is continued. */
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
    char *disk = volume_of_host(m, BASE);
    enum virt_state state = VIRT_ABSENT;
    bool can = !m->context->options.fresh && !record_complete(r) &&
               strcmp(record_string(r, "definition"), definition) == 0 && disk &&
               storage_has(m->storage, disk) && check_domain(m, NULL) == 1 &&
               virt_domain_state(m->context->virt, m->host->domain, &state, NULL) == 0 &&
               state != VIRT_ABSENT;
    free(disk);
    return can;
}

static int start_afresh(struct making *m, struct record *r, const char *definition, struct error *e)
{
    record_clear(r);
    if (record_save(r, e) != 0 || remove_domain(m, 0, e) != 0 || fresh_disks(m, e) != 0 ||
        define_domain(m, BASE, e) != 0)
        return -1;
    record_set(r, "definition", definition);
    record_set(r, "image", m->image_id);
    record_set(r, "type", m->type);
    return record_save(r, e);
}

/* --from: back to the provisioned disk without what was written since, then on from that step. */
static int go_back_to_step(struct making *m, struct record *r, int *from, struct error *e)
{
    char *disk = volume_of_host(m, BASE);
    bool there = disk && storage_has(m->storage, disk);
    free(disk);
    *from = profile_find_step(&m->profile, m->context->options.from, e);
    if (*from < 0)
        return -1;
    if (!there || check_domain(m, e) != 1)
        return error_set(e, "host %s was not built yet: --from needs one that was; leave it out",
                         m->host->name);
    for (size_t i = (size_t)*from; i < m->profile.step_count; i++)
        record_forget_step(r, &m->profile.steps[i]);
    record_set_complete(r, false);
    if (record_save(r, e) != 0 ||
        virt_domain_stop(m->context->virt, m->host->domain, 30 * NS_PER_S, e) != 0 ||
        delete_volume(m, WORK, e) != 0)
        return -1;
    return define_domain(m, BASE, e);
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
        say(m->context, m->host, "going on where it was interrupted");
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
    if (guest_put(g, e) != 0 || guest_run_steps(g, from, e) != 0 || guest_verify(g, e) != 0 ||
        take_snapshot(g, m, e) != 0)
        return -1;
    add_finish(g->record);
    say(m->context, m->host, "ready after %.1f s", (double)(clock_monotonic_ns() - begin_ns) / NS_PER_S);
    return record_save(g->record, e);
}

static FILE *open_log(struct making *m, struct error *e)
{
    char *path = host_place(&m->context->lab, m->host, "log", e);
    FILE *log = path ? fopen(path, "ae") : NULL;
    if (path && !log)
        error_set_errno(e, errno, "opening the log %s", path);
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

/* Wait for the threads; Ctrl-C cancels them. */
static void wait_for(struct context *c, pthread_t *threads, size_t count)
{
    struct timespec tick;
    for (size_t i = 0; i < count;) {
        if (interrupt_count(&c->interrupt) > 0 && !atomic_exchange(&c->cancelled, true))
            say(c, NULL, "interrupted: stopping");
        clock_gettime(CLOCK_REALTIME, &tick);
        tick.tv_nsec += 50 * NS_PER_MS;
        tick.tv_sec += tick.tv_nsec / NS_PER_S;
        tick.tv_nsec %= NS_PER_S;
        if (pthread_timedjoin_np(threads[i], NULL, &tick) == 0)
            i++;
    }
}

/* Run `work` for every host side by side; the first sentence of a host that failed is returned, the others are said. */
static int side_by_side(struct context *c, struct making *makings, void *(*work)(void *), struct error *e)
{
    pthread_t *threads = calloc(c->host_count + 1, sizeof *threads);
    size_t started = 0;
    int result = 0;
    if (!threads)
        return error_set(e, "out of memory");
    /* only here: before, when images are fetched, Ctrl-C simply ends the program */
    if (interrupt_open(&c->interrupt, e) != 0) {
        free(threads);
        return -1;
    }
    for (; started < c->host_count; started++)
        if (pthread_create(&threads[started], NULL, work, &makings[started]) != 0)
            break;
    wait_for(c, threads, started);
    interrupt_close(&c->interrupt);
    free(threads);
    if (started < c->host_count)
        return error_set(e, "cannot start a thread for host %s", makings[started].host->name);
    for (size_t i = 0; i < c->host_count; i++) {
        if (makings[i].result == 0)
            continue;
        if (result != 0)
            say(c, makings[i].host, "%s", makings[i].error.text);
        else
            *e = makings[i].error;
        result = -1;
    }
    return result;
}

/* Names of what was copied whole into the pool: a copy that a killed program began is not among them. */
static json_t *open_uploads(struct context *c, char **path, struct error *e)
{
    *path = places_in_lab(&c->lab, "uploads.json", e);
    json_t *uploads = *path ? json_load_file(*path, 0, NULL) : NULL;
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
    int result = uploads && m->image_id ? upload_once(m, uploads, path, BASE, image.disk, "qcow2", e) : -1;
    if (result == 0 && image.kernel)
        result = upload_once(m, uploads, path, ".vmlinuz", image.kernel, "raw", e);
    if (result == 0 && image.initrd)
        result = upload_once(m, uploads, path, ".initrd", image.initrd, "raw", e);
    json_decref(uploads);
    free(path);
    image_free(&image);
    return result;
}

/* A host that is built from scratch gets a new host key; one that goes on keeps the one that its disk has. */
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
    const char *why, *type = accelerator_try(c->virt, &why, e);
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

/* What is done once, before hosts go their own ways. */
static int prepare_all(struct context *c, struct making *makings, struct storage *storage, struct error *e)
{
    for (size_t i = 0; i < c->host_count; i++)
        if (making_check_devices(&makings[i], e) != 0 || check_domain(&makings[i], e) < 0)
            return -1;
    if (choose_type(c, makings, e) != 0 || storage_open(c->virt, &c->lab, true, storage, e) != 0 ||
        networks_make(c->virt, &c->lab, e) != 0 || seed_lab_key(&c->lab, e) != 0)
        return -1;
    for (size_t i = 0; i < c->host_count; i++)
        if ((makings[i].profile.bundle.name && bundle_fetch(&makings[i].profile, e) != 0) ||
            prepare_image(&makings[i], e) != 0 || prepare_key(&makings[i], e) != 0)
            return -1;
    return seed_pin(&c->lab, e);
}

static int open_makings(struct context *c, struct storage *storage, struct making **makings, struct error *e)
{
    *makings = calloc(c->host_count + 1, sizeof **makings);
    if (!*makings)
        return error_set(e, "out of memory");
    for (size_t i = 0; i < c->host_count; i++)
        if (making_open(c, c->hosts[i], storage, &(*makings)[i], e) != 0)
            return -1;
    return 0;
}

static void close_makings(struct context *c, struct making *makings)
{
    for (size_t i = 0; makings && i < c->host_count; i++)
        making_free(&makings[i]);
    free(makings);
}

int rebuild_hosts(struct context *c, struct error *e)
{
    struct storage storage = {0};
    struct making *makings;
    int result = open_makings(c, &storage, &makings, e);
    if (result == 0)
        result = prepare_all(c, makings, &storage, e);
    if (result == 0)
        result = side_by_side(c, makings, rebuild_thread, e);
    if (result == 0)
        say(c, NULL, "lab %s is ready after %.1f s", c->lab.name,
            (double)(clock_monotonic_ns() - c->begin_ns) / NS_PER_S);
    close_makings(c, makings);
    storage_close(&storage);
    return result;
}

/* ---- reset */

/* Throw the guest's layer away and start it on a new one over the provisioned disk. */
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
        return error_set(
            e, "host %s has no snapshot: its rebuild was not finished; virt-provision rebuild %s finishes it",
            m->host->name, m->host->name);
    if (check_domain(m, e) < 0 || virt_domain_stop(m->context->virt, m->host->domain, 0, e) != 0 ||
        delete_volume(m, WORK, e) != 0 || overlay(m, WORK, volume_of_host(m, BASE), 0, e) != 0 ||
        define_domain(m, WORK, e) != 0 || virt_domain_start(m->context->virt, m->host->domain, e) != 0 ||
        guest_connect(&guest, e) != 0)
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
    int result = open_makings(c, &storage, &makings, e);
    if (result == 0)
        result = storage_open(c->virt, &c->lab, false, &storage, e);
    if (result == 0 && !storage.pool)
        result = error_set(e, "lab %s was not built yet: virt-provision rebuild", c->lab.name);
    if (result == 0)
        result = side_by_side(c, makings, reset_thread, e);
    close_makings(c, makings);
    storage_close(&storage);
    return result;
}

/* ---- destroy */

static int destroy_host(struct making *m, struct error *e)
{
    static const char *const suffixes[] = {WORK, BASE, ".seed", ".console"};
    char *place = host_place(&m->context->lab, m->host, NULL, e);
    int result = place ? remove_domain(m, 0, e) : -1;
    for (size_t i = 0; result == 0 && i < sizeof suffixes / sizeof *suffixes; i++)
        result = delete_volume(m, suffixes[i], e);
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

/* With the last guest go the networks, the pool and the lab's keys. */
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
    int result = open_makings(c, &storage, &makings, e);
    if (result == 0)
        result = storage_open(c->virt, &c->lab, false, &storage, e);
    for (size_t i = 0; result == 0 && i < c->host_count; i++)
        result = destroy_host(&makings[i], e);
    if (result == 0 && !any_left(c))
        result = remove_rest(c, &storage, e);
    close_makings(c, makings);
    storage_close(&storage);
    return result;
}
