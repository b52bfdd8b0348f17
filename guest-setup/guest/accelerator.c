#include "guest-setup/guest/accelerator.h"

#include "guest-setup/guest/kept.h"
#include "lib/clock.h"
#include "remote/virt_error.h"
#include <libvirt/virterror.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LIMIT_NS  (30 * NS_PER_S)   /* emulation on a crowded machine */
#define HEAD_ROOM (300 * NS_PER_MS) /* time by which KVM may be slower than emulation because of its set-up */

/* A guest whose firmware finds no disk and resets at once (rebootTimeout 0), which destroys it. */
static const char probe_format[] =
    "<domain type='%s'><name>harness-probe-%s-%d</name><memory unit='MiB'>64</memory><vcpu>1</vcpu>"
    "<os><type arch='x86_64' machine='q35'>hvm</type><bios "
    "rebootTimeout='0'/></os><on_reboot>destroy</on_reboot>"
    "<devices><controller type='usb' model='none'/><memballoon model='none'/></devices></domain>";

/* How long the firmware took, or -1: the guest did not start, or the firmware did not end in time. */
static int64_t time_firmware(virConnectPtr connection, const char *type, int64_t limit_ns, struct error *e)
{
    char xml[sizeof probe_format + 64];
    snprintf(xml, sizeof xml, probe_format, type, type, (int)getpid());
    virDomainPtr domain = virDomainCreateXML(connection, xml, VIR_DOMAIN_START_AUTODESTROY);
    if (!domain)
        return virt_error(e, "starting a guest under %s", type);
    int64_t begin = clock_monotonic_ns(), took;
    int active;
    do {
        clock_sleep_until_ns(clock_monotonic_ns() + 5 * NS_PER_MS);
        active = virDomainIsActive(domain);
        took = clock_monotonic_ns() - begin;
    } while (active == 1 && took < limit_ns);
    if (active == 1)
        virDomainDestroy(domain);
    virDomainFree(domain);
    return active == 1 ? error_set(e, "under %s a guest's firmware did not end within %lld s", type,
                                   (long long)(limit_ns / NS_PER_S))
                       : took;
}

/* ---- what was found before */

#define KEPT_NAME "accelerator"

static const char *const types[] = {"kvm", "qemu"};

const char *accelerator_recall(const char *folder)
{
    char *kept = kept_recall(folder, KEPT_NAME);
    const char *found = NULL;
    for (size_t i = 0; kept && i < sizeof types / sizeof *types; i++)
        if (strcmp(kept, types[i]) == 0)
            found = types[i];
    free(kept);
    return found;
}

void accelerator_keep(const char *folder, const char *found)
{
    kept_keep(folder, KEPT_NAME, found);
}

/* ---- the test */

static bool offers_kvm(virConnectPtr connection)
{
    char *capabilities = virConnectGetDomainCapabilities(connection, NULL, "x86_64", "q35", "kvm", 0);
    bool offered = capabilities;
    free(capabilities);
    return offered;
}

static const char *try_both(virConnectPtr connection, const char **why, struct error *e)
{
    int64_t emulated = time_firmware(connection, "qemu", LIMIT_NS, e);
    int64_t limit = emulated < 0 ? LIMIT_NS : 3 * emulated + HEAD_ROOM;
    int64_t with_kvm = time_firmware(connection, "kvm", limit < LIMIT_NS ? limit : LIMIT_NS, e);
    *why = with_kvm >= 0
               ? "KVM works"
               : "KVM is offered, but a guest under KVM is slower than under emulation or does not start";
    if (with_kvm >= 0)
        return "kvm";
    return emulated >= 0 ? "qemu" : NULL;
}

const char *accelerator_try(struct virt *v, const char *folder, const char **why, struct error *e)
{
    const char *said = getenv("HARNESS_ACCELERATOR");
    virConnectPtr connection = virt_connection(v);
    *why = "HARNESS_ACCELERATOR selects it";
    if (said && strcmp(said, "qemu") == 0)
        return "qemu";
    if (said && strcmp(said, "kvm") == 0)
        return "kvm";
    *why = "libvirt offers no KVM on this machine";
    if (!connection) {
        error_set(e, "the connection to libvirt was lost");
        return NULL;
    }
    if (!offers_kvm(connection))
        return "qemu";
    const char *found = accelerator_recall(folder);
    *why = "a test since this machine booted found it (kept as `accelerator` beside the images)";
    if (found)
        return found;
    found = try_both(connection, why, e);
    if (found)
        accelerator_keep(folder, found);
    return found;
}
