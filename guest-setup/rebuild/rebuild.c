#include "guest-setup/rebuild/rebuild.h"

#include "guest-setup/guest/image.h"
#include "guest-setup/guest/networks.h"
#include "guest-setup/guest/processor.h"
#include "guest-setup/guest/profile.h"
#include "guest-setup/guest/seed.h"
#include "guest-setup/rebuild/guest_build.h"
#include "guest-setup/rebuild/packages.h"
#include "guest-setup/rebuild/rebuild.h"
#include "guest-setup/rebuild/record.h"
#include "guest-setup/rebuild/steps.h"
#include "lib/clock.h"
#include "lib/document/json_file.h"
#include "lib/formats/find.h"
#include "lib/process.h"
#include "lib/scratch.h"
#include "lib/text.h"
#include "lib/words.h"
#include "remote/places.h"
#include "remote/virt_error.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* ---- snapshot */

/* From now on the guest writes to a separate overlay over the provisioned disk, which reset discards. The
 * guest continues to run. The agent freezes its file systems first, if there is an agent. */
static int live_layer(struct guest_build *build, struct error *e)
{
    static const unsigned flags = VIR_DOMAIN_SNAPSHOT_CREATE_DISK_ONLY |
                                  VIR_DOMAIN_SNAPSHOT_CREATE_NO_METADATA | VIR_DOMAIN_SNAPSHOT_CREATE_ATOMIC |
                                  VIR_DOMAIN_SNAPSHOT_CREATE_QUIESCE;
    char *volume = volume_of_host(build, DISK_WORK),
         *path = volume ? storage_path(build->storage, volume) : NULL;
    virDomainPtr domain = virDomainLookupByName(virt_connection(build->context->virt), build->host->domain);
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
        virt_error(e, "taking the snapshot of domain %s", build->host->domain);
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
static int cold_layer(struct guest_build *build, struct error *e)
{
    if (virt_domain_stop(build->context->virt, build->host->domain, 60 * NS_PER_S, e) != 0 ||
        guest_build_delete_volume(build, DISK_WORK, e) != 0 ||
        guest_build_overlay(build, DISK_WORK, volume_of_host(build, DISK_BASE), 0, e) != 0 ||
        guest_build_define_domain(build, DISK_WORK, e) != 0)
        return -1;
    return virt_domain_start(build->context->virt, build->host->domain, e);
}

static int take_snapshot(struct guest *g, struct guest_build *build, struct error *e)
{
    static const char *const sync_argv[] = {"sync", NULL};
    struct error live = {""};
    if (ssh_must(g->ssh, sync_argv, NULL, NULL, 120 * NS_PER_S, e) != 0)
        return -1;
    if (live_layer(build, &live) == 0)
        return 0;
    guest_log(g, "no snapshot is possible while it runs (%s): it is switched off for the snapshot",
              live.text);
    return cold_layer(build, e);
}

/* ---- one host */

/* Everything that determines the disk and the domain: an interrupted rebuild is not continued after a
 * change. */
static char *definition_hash(const struct guest_build *build, struct error *e)
{
    char hash[17], *xml = guest_build_xml(build, "disk", e);
    if (!xml)
        return NULL;
    content_hash(xml, strlen(xml), hash);
    free(xml);
    return strdup(hash);
}

static bool can_continue(struct guest_build *build, const struct record *r, const char *definition)
{
    char *disk = volume_of_host(build, DISK_BASE);
    enum virt_state state = VIRT_ABSENT;
    bool can = !build->context->options.fresh && !record_complete(r) &&
               strcmp(record_string(r, "definition"), definition) == 0 && disk &&
               storage_has(build->storage, disk) && guest_build_check_domain(build, NULL) == 1 &&
               virt_domain_state(build->context->virt, build->host->domain, &state, NULL) == 0 &&
               state != VIRT_ABSENT;
    free(disk);
    return can;
}

static int start_afresh(struct guest_build *build, struct record *r, const char *definition, struct error *e)
{
    record_clear(r);
    if (record_save(r, e) != 0 || guest_build_remove_domain(build, 0, e) != 0 ||
        guest_build_fresh_disks(build, e) != 0 || guest_build_define_domain(build, DISK_BASE, e) != 0)
        return -1;
    record_set(r, "definition", definition);
    record_set(r, "image", build->image_id);
    record_set(r, "type", build->type);
    return record_save(r, e);
}

/* --from: return to the provisioned disk without later writes, then continue with that step. */
static int go_back_to_step(struct guest_build *build, struct record *r, int *from, struct error *e)
{
    char *disk = volume_of_host(build, DISK_BASE);
    bool there = disk && storage_has(build->storage, disk);
    free(disk);
    *from = profile_find_step(&build->profile, build->context->options.from, e);
    if (*from < 0)
        return -1;
    if (!there || guest_build_check_domain(build, e) != 1)
        return error_set(e, "host %s has not been built yet: --from needs a built host; leave it out",
                         lab_guest_name(build->host));
    for (size_t i = (size_t)*from; i < build->profile.step_count; i++)
        record_forget_step(r, &build->profile.steps[i]);
    record_set_complete(r, false);
    if (record_save(r, e) != 0 ||
        virt_domain_stop(build->context->virt, build->host->domain, 30 * NS_PER_S, e) != 0 ||
        guest_build_delete_volume(build, DISK_WORK, e) != 0)
        return -1;
    return guest_build_define_domain(build, DISK_BASE, e);
}

static int prepare_disk(struct guest_build *build, struct record *r, int *from, struct error *e)
{
    char *definition = definition_hash(build, e);
    int result;
    *from = -1;
    if (!definition)
        return -1;
    if (build->context->options.from) {
        result = go_back_to_step(build, r, from, e);
    } else if (can_continue(build, r, definition)) {
        context_report(build->context, build->host, "continuing the interrupted rebuild");
        result = 0;
    } else {
        result = start_afresh(build, r, definition, e);
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

static int provision_guest(struct guest_build *build, struct guest *g, struct error *e)
{
    int from;
    int64_t begin_ns = clock_monotonic_ns();
    if (prepare_disk(build, g->record, &from, e) != 0)
        return -1;
    if (virt_domain_start(build->context->virt, build->host->domain, e) != 0 || guest_connect(g, e) != 0)
        return -1;
    context_report(build->context, build->host, "answers ssh after %.1f s",
                   (double)(clock_monotonic_ns() - begin_ns) / NS_PER_S);
    if (guest_put(g, e) != 0 || (g->profile->served && packages_serve(g, GUEST_FILES "/packages", e) != 0) ||
        guest_run_steps(g, from, e) != 0 || guest_verify(g, e) != 0 || take_snapshot(g, build, e) != 0)
        return -1;
    add_finish(g->record);
    context_report(build->context, build->host, "ready after %.1f s",
                   (double)(clock_monotonic_ns() - begin_ns) / NS_PER_S);
    return record_save(g->record, e);
}

static FILE *open_log(struct guest_build *build, struct error *e)
{
    char *path = places_of_host(&build->context->lab, build->host, "log", e);
    int fd = path ? scratch_open(path, O_WRONLY | O_APPEND | O_CREAT, 0644, e) : -1;
    FILE *log = fd >= 0 ? fdopen(fd, "a") : NULL;
    if (fd >= 0 && !log) {
        error_set_errno(e, errno, "opening the log %s", path);
        close(fd);
    }
    free(path);
    return log;
}

static int rebuild_host(struct guest_build *build, struct error *e)
{
    struct record record;
    struct guest guest = {
        .context = build->context, .host = build->host, .profile = &build->profile, .record = &record};
    if (record_open(&build->context->lab, build->host, &record, e) != 0)
        return -1;
    guest.log = open_log(build, e);
    int result = guest.log ? provision_guest(build, &guest, e) : -1;
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
    struct guest_build *build = data;
    build->result = rebuild_host(build, &build->error);
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

static int upload_once(struct guest_build *build, json_t *uploads, const char *uploads_path,
                       const char *suffix, const char *local, const char *format, struct error *e)
{
    char *volume = volume_of_image(build, suffix);
    int result = 0;
    if (!volume)
        return error_set(e, "out of memory");
    if (!json_object_get(uploads, volume) || !storage_has(build->storage, volume)) {
        result = storage_upload(build->context->virt, build->storage, volume, local, format, e);
        json_object_set_new(uploads, volume, json_true());
        if (result == 0)
            result = json_file_save(uploads_path, uploads, e);
    }
    free(volume);
    return result;
}

static int prepare_image(struct guest_build *build, struct error *e)
{
    struct image image;
    char *path = NULL;
    if (image_prepare(&build->profile, false, &image, e) != 0)
        return -1;
    build->image_id = strdup(image.id);
    json_t *uploads = open_uploads(build->context, &path, e);
    int result = uploads && build->image_id
                     ? upload_once(build, uploads, path, DISK_BASE, image.disk, "qcow2", e)
                     : -1;
    if (result == 0 && image.kernel)
        result = upload_once(build, uploads, path, ".vmlinuz", image.kernel, "raw", e);
    if (result == 0 && image.initrd)
        result = upload_once(build, uploads, path, ".initrd", image.initrd, "raw", e);
    json_decref(uploads);
    free(path);
    image_free(&image);
    return result;
}

/* A host that is built from scratch gets a new host key; one whose rebuild is continued keeps the host key on
 * its disk. */
static int prepare_key(struct guest_build *build, struct error *e)
{
    struct record record;
    char *definition = definition_hash(build, e);
    if (!definition || record_open(&build->context->lab, build->host, &record, e) != 0) {
        free(definition);
        return -1;
    }
    bool keeps = build->context->options.from || can_continue(build, &record, definition);
    record_free(&record);
    free(definition);
    return keeps ? 0 : seed_host_key(&build->context->lab, build->host, e);
}

static int choose_type(struct context *c, struct guest_build *builds, struct error *e)
{
    char *folder = image_cache(NULL);
    const char *why, *type = accelerator_try(c->virt, folder, &why, e);
    free(folder);
    if (!type)
        return -1;
    context_report(c, NULL, "guests run under %s: %s", type, why);
    for (size_t i = 0; i < c->host_count; i++) {
        builds[i].type = type;
        if (builds[i].nic_count + builds[i].gpu_count && strcmp(type, "kvm") != 0)
            return error_set(e, "host %s has devices passed through, which needs KVM: %s",
                             lab_guest_name(builds[i].host), why);
    }
    return 0;
}

/* Done once, before the hosts are built in parallel. */
static int prepare_all(struct context *c, struct guest_build *builds, struct storage *storage,
                       struct error *e)
{
    for (size_t i = 0; i < c->host_count; i++)
        if (guest_build_check_domain(&builds[i], e) < 0)
            return -1;
    /* before guests get new keys, by which the old ones would not be reached */
    for (size_t i = 0; i < c->host_count; i++)
        if (reset_nic_settings(&builds[i], "rebuilt", e) != 0 ||
            guest_build_check_devices(&builds[i], e) != 0)
            return -1;
    if (choose_type(c, builds, e) != 0 || storage_open(c->virt, &c->lab, true, storage, e) != 0 ||
        networks_make(c->virt, &c->lab, e) != 0 || seed_lab_key(&c->lab, e) != 0)
        return -1;
    for (size_t i = 0; i < c->host_count; i++)
        if ((builds[i].profile.bundle.name && packages_fetch(&builds[i].profile, e) != 0) ||
            prepare_image(&builds[i], e) != 0 || prepare_key(&builds[i], e) != 0)
            return -1;
    return seed_pin(&c->lab, e);
}

int rebuild_hosts(struct context *c, struct error *e)
{
    struct storage storage = {0};
    struct guest_build *builds;
    int result = guest_builds_open(c, &storage, &builds, e);
    if (result == 0)
        result = prepare_all(c, builds, &storage, e);
    if (result == 0)
        result = guest_builds_run(c, builds, rebuild_thread, e);
    if (result == 0)
        context_report(c, NULL, "lab %s is ready after %.1f s", c->lab.name,
                       (double)(clock_monotonic_ns() - c->begin_ns) / NS_PER_S);
    guest_builds_close(c, builds);
    storage_close(&storage);
    return result;
}

/* ---- the joint test */

#define PROVE_NS (30 * 60 * NS_PER_S)

/* The program calls virt-provision and harness from this program's folder. */
static void name_programs(void)
{
    char self[4096];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    self[length < 0 ? 0 : length] = '\0';
    char *slash = strrchr(self, '/');
    if (!slash)
        return;
    *slash = '\0';
    setenv("HARNESS_PROGRAMS", self, 0);
}

static int run_program(struct context *c, const char *name, struct error *e)
{
    const char *why;
    char *program = places_project(name, e),
         *lab = program ? find_lab(c->options.lab, NULL, "soft-pair", &why, e) : NULL;
    const char *const argv[] = {program, "run", "--lab", lab, NULL};
    name_programs();
    if (lab) {
        char *path = shell_quoted(lab);
        context_report(c, NULL, "%s run --lab %s", name, path);
        free(path);
    }
    int status = lab ? process_run(argv, NULL, NULL, NULL, PROVE_NS, e) : -1;
    free(program);
    free(lab);
    if (status > 0)
        return error_set(
            e,
            "the guests of lab %s are built, but their joint test failed: the messages of %s above say why",
            c->lab.name, name);
    return status;
}

/* The hosts of one profile are tested together, once. */
static bool is_first(const struct context *c, size_t host)
{
    for (size_t i = 0; i < host; i++)
        if (strcmp(c->hosts[i]->profile, c->hosts[host]->profile) == 0)
            return false;
    return true;
}

int rebuild_prove(struct context *c, struct error *e)
{
    int result = 0;
    for (size_t i = 0; result == 0 && i < c->host_count; i++) {
        struct profile profile;
        if (!is_first(c, i))
            continue;
        result = profile_load(c->hosts[i]->profile, c->hosts[i]->bundle, &profile, e);
        if (result == 0 && profile.prove)
            result = run_program(c, profile.prove, e);
        if (result == 0 || profile.name)
            profile_free(&profile);
    }
    return result;
}
