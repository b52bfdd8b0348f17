/* reset and destroy */
#include "guest-setup/guest/networks.h"
#include "guest-setup/rebuild/guest_build.h"
#include "guest-setup/rebuild/rebuild.h"
#include "guest-setup/rebuild/steps.h"
#include "lib/clock.h"
#include "lib/document/json_file.h"
#include "lib/files.h"
#include "remote/places.h"
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* ---- settings of NICs that are passed through */

#define RESTORE_NS (120 * NS_PER_S) /* it waits for links and reloads of the driver */

void reset_nic_settings_command(const char *program, const char *words[6])
{
    words[0] = "sh";
    words[1] = "-c";
    words[2] = "[ ! -x \"$1\" ] || exec \"$1\" restore";
    words[3] = "sh";
    words[4] = program;
    words[5] = NULL;
}

int reset_nic_settings_result(const char *host, int status, const char *printed, struct error *e)
{
    if (status == 0)
        return 0;
    json_t *answer = json_file_parse(printed, strlen(printed), "nic-config", DOCUMENT_ANSWER, NULL);
    const char *why = json_string_value(json_object_get(answer, "error"));
    error_set(e, "host %s: nic-config restore exited with %d: %.300s", host, status,
              why ? why : "it gave no reason");
    json_decref(answer);
    return -1;
}

static int restore_over_ssh(struct guest_build *build, struct ssh_session *ssh, struct error *e)
{
    const char *words[6];
    struct text path = {0}, out = {0};
    text_add(&path, "%s/nic-config", build->host->programs ? build->host->programs : "/usr/local/bin");
    reset_nic_settings_command(text_string(&path), words);
    int status = ssh_run(ssh, words, NULL, &out, NULL, RESTORE_NS, e);
    int result = status < 0
                     ? -1
                     : reset_nic_settings_result(lab_guest_name(build->host), status, text_string(&out), e);
    text_free(&path);
    text_free(&out);
    return result;
}

/* One whose build was not finished has set nothing. */
static bool was_built(const struct guest_build *build)
{
    struct record record;
    bool built =
        record_open(&build->context->lab, build->host, &record, NULL) != 0 || record_complete(&record);
    record_free(&record);
    return built;
}

int reset_nic_settings(struct guest_build *build, const char *what_next, struct error *e)
{
    struct guest guest = {.context = build->context, .host = build->host, .profile = &build->profile};
    enum virt_state state = VIRT_ABSENT;
    if (build->nic_count == 0 || build->context->options.discard_settings || !was_built(build))
        return 0;
    if (virt_domain_state(build->context->virt, build->host->domain, &state, e) != 0)
        return -1;
    if (state == VIRT_ABSENT)
        return 0;
    int result = guest_connect(&guest, e);
    if (result == 0)
        result = restore_over_ssh(build, guest.ssh, e);
    if (guest.ssh)
        ssh_close(guest.ssh);
    if (result != 0)
        error_prefix(
            e,
            "host %s is not %s, because the firmware of its NIC may keep settings of an earlier run, "
            "whose journal goes with the disk (--discard-settings does it all the same)",
            lab_guest_name(build->host), what_next);
    return result;
}

/* ---- reset */

/* Discard the guest's overlay and start the guest on a new one over the provisioned disk. */
static int reset_host(struct guest_build *build, struct error *e)
{
    struct record record;
    int64_t begin_ns = clock_monotonic_ns();
    struct guest guest = {
        .context = build->context, .host = build->host, .profile = &build->profile, .record = &record};
    if (record_open(&build->context->lab, build->host, &record, e) != 0)
        return -1;
    bool complete = record_complete(&record);
    build->type = strcmp(record_string(&record, "type"), "kvm") == 0 ? "kvm" : "qemu";
    build->image_id = strdup(record_string(&record, "image"));
    record_free(&record);
    if (!complete)
        return error_set(e,
                         "host %s has no snapshot because its rebuild was not finished: virt-provision "
                         "rebuild %s finishes it",
                         lab_guest_name(build->host), lab_guest_name(build->host));
    if (guest_build_check_domain(build, e) < 0 || reset_nic_settings(build, "reset", e) != 0 ||
        virt_domain_stop(build->context->virt, build->host->domain, 0, e) != 0 ||
        guest_build_delete_volume(build, DISK_WORK, e) != 0 ||
        guest_build_overlay(build, DISK_WORK, volume_of_host(build, DISK_BASE), 0, e) != 0 ||
        guest_build_define_domain(build, DISK_WORK, e) != 0 ||
        virt_domain_start(build->context->virt, build->host->domain, e) != 0 || guest_connect(&guest, e) != 0)
        return -1;
    ssh_close(guest.ssh);
    context_report(build->context, build->host, "reset in %.1f s",
                   (double)(clock_monotonic_ns() - begin_ns) / NS_PER_S);
    return 0;
}

static void *reset_thread(void *data)
{
    struct guest_build *build = data;
    build->result = reset_host(build, &build->error);
    return NULL;
}

int reset_hosts(struct context *c, struct error *e)
{
    struct storage storage = {0};
    struct guest_build *builds;
    int result = guest_builds_open(c, &storage, &builds, e);
    if (result == 0)
        result = storage_open(c->virt, &c->lab, false, &storage, e);
    if (result == 0 && !storage.pool)
        result = error_set(e, "lab %s has not been built yet: virt-provision rebuild", c->lab.name);
    if (result == 0)
        result = guest_builds_run(c, builds, reset_thread, e);
    guest_builds_close(c, builds);
    storage_close(&storage);
    return result;
}

/* ---- destroy */

static int destroy_host(struct guest_build *build, struct error *e)
{
    static const char *const suffixes[] = {DISK_WORK, DISK_BASE, ".seed", ".console"};
    char *place = places_of_host(&build->context->lab, build->host, NULL, e);
    int result =
        place && guest_build_check_domain(build, e) >= 0 ? reset_nic_settings(build, "destroyed", e) : -1;
    if (result == 0)
        result = guest_build_remove_domain(build, 0, e);
    for (size_t i = 0; result == 0 && i < sizeof suffixes / sizeof *suffixes; i++)
        result = guest_build_delete_volume(build, suffixes[i], e);
    if (result == 0)
        result = files_remove_tree(place, e);
    if (result == 0)
        context_report(build->context, build->host, "destroyed");
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
    struct guest_build *builds;
    int result = guest_builds_open(c, &storage, &builds, e);
    if (result == 0)
        result = storage_open(c->virt, &c->lab, false, &storage, e);
    for (size_t i = 0; result == 0 && i < c->host_count; i++)
        result = destroy_host(&builds[i], e);
    if (result == 0 && !any_left(c))
        result = remove_rest(c, &storage, e);
    guest_builds_close(c, builds);
    storage_close(&storage);
    return result;
}
