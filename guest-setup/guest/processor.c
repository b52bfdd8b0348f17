#include "guest-setup/guest/processor.h"

#include "lib/clock.h"
#include "lib/files.h"
#include "lib/scratch.h"
#include "remote/virt_error.h"
#include <fcntl.h>
#include <inttypes.h>
#include <libvirt/virterror.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- what was found out since this machine booted: FOLDER/NAME has "VALUE BOOT-ID" */

#define KEPT_LIMIT 256

/* The caller frees; NULL: unknown. */
static char *read_boot_id(void)
{
    return files_read_line("/proc/sys/kernel/random/boot_id", NULL);
}

/* Cuts " BOOT-ID\n" off; false: it is of another boot. */
static bool is_of_boot(char *kept, const char *boot)
{
    char *space = strchr(kept, ' ');
    size_t length = strlen(boot);
    if (!space || strncmp(space + 1, boot, length) != 0 || strcmp(space + 1 + length, "\n") != 0)
        return false;
    *space = '\0';
    return true;
}

/* The value that was kept since this machine booted; NULL: none. The caller frees. */
static char *recall_of_boot(const char *folder, const char *name)
{
    char *boot = read_boot_id();
    char *path = folder ? files_join(folder, name) : NULL;
    int fd = path ? scratch_open(path, O_RDONLY, 0, NULL) : -1;
    char *kept = fd >= 0 ? files_read_descriptor(fd, path, KEPT_LIMIT, NULL, NULL) : NULL;
    if (kept && (!boot || !is_of_boot(kept, boot))) {
        free(kept);
        kept = NULL;
    }
    free(boot);
    free(path);
    if (fd >= 0)
        close(fd);
    return kept;
}

/* It is not kept where the folder cannot be written. */
static void keep_of_boot(const char *folder, const char *name, const char *value)
{
    char line[KEPT_LIMIT], *boot = read_boot_id();
    char *path = folder ? files_join(folder, name) : NULL;
    int length = snprintf(line, sizeof line, "%s %s\n", value, boot ? boot : "");
    if (path && boot)
        (void)files_write_atomic(path, line, (size_t)length, NULL);
    free(boot);
    free(path);
}

/* ---- KVM or plain emulation */

#define LIMIT_NS (30 * NS_PER_S) /* emulation on a crowded machine */
#define HEAD_ROOM                                                                             \
    (300 * NS_PER_MS) /* time by which KVM may be slower than emulation because of its set-up \
                         \ */

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

static const char *const types[] = {"kvm", "qemu"};

const char *accelerator_recall(const char *folder)
{
    char *kept = recall_of_boot(folder, "accelerator");
    const char *found = NULL;
    for (size_t i = 0; kept && i < sizeof types / sizeof *types; i++)
        if (strcmp(kept, types[i]) == 0)
            found = types[i];
    free(kept);
    return found;
}

void accelerator_keep(const char *folder, const char *found)
{
    keep_of_boot(folder, "accelerator", found);
}

static bool offers_kvm(virConnectPtr connection)
{
    char *capabilities = virConnectGetDomainCapabilities(connection, NULL, "x86_64", "q35", "kvm", 0);
    bool offered = capabilities;
    free(capabilities);
    return offered;
}

static const char *time_both_accelerators(virConnectPtr connection, const char **why, struct error *e)
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
    found = time_both_accelerators(connection, why, e);
    if (found)
        accelerator_keep(folder, found);
    return found;
}

/* ---- the rate of the time stamp counter */

#define MEASURED_NS (20 * NS_PER_MS)
#define READINGS    8
#define TRIES       10 /* on a busy machine */
/* between two readings of the clock with one of the counter in their midst: of both ends, 0.1 % */
#define TOLERATED_NS (MEASURED_NS / 2000)
#define CLOCK_SOURCE "sys/devices/system/clocksource/clocksource0/current_clocksource"

static bool kernel_keeps_time_by_counter(const char *root)
{
    char *path = files_join(root, CLOCK_SOURCE), *source = path ? files_read_line(path, NULL) : NULL;
    bool takes = source && strcmp(source, "tsc") == 0;
    free(source);
    free(path);
    return takes;
}

#ifdef __x86_64__
struct reading {
    int64_t time_ns, uncertain_ns;
    uint64_t count;
};

/* The best of several: none of them was interrupted, most probably. */
static struct reading read_both(void)
{
    struct reading best = {.uncertain_ns = INT64_MAX};
    for (int i = 0; i < READINGS; i++) {
        int64_t before = clock_monotonic_ns();
        uint64_t count = __builtin_ia32_rdtsc();
        int64_t after = clock_monotonic_ns();
        if (after - before < best.uncertain_ns)
            best = (struct reading){before + (after - before) / 2, after - before, count};
    }
    return best;
}

static int64_t measure_counter_khz(void)
{
    struct reading first = read_both();
    clock_sleep_until_ns(first.time_ns + MEASURED_NS);
    struct reading last = read_both();
    if (first.uncertain_ns > TOLERATED_NS || last.uncertain_ns > TOLERATED_NS || last.count < first.count)
        return 0;
    return (int64_t)((last.count - first.count) * 1000000 / (uint64_t)(last.time_ns - first.time_ns));
}
#else
static int64_t measure_counter_khz(void)
{
    return 0;
}
#endif

int64_t processor_clock_khz_of(const char *root)
{
    return kernel_keeps_time_by_counter(root) ? measure_counter_khz() : 0;
}

/* The file may have been written by anybody; 0: not a rate. */
static int64_t parse_khz(const char *text)
{
    int64_t khz = 0;
    int used = 0;
    return sscanf(text, "%9" SCNd64 "%n", &khz, &used) == 1 && text[used] == '\0' && khz > 0 ? khz : 0;
}

int64_t processor_clock_khz(const char *folder)
{
    char text[24], *kept = recall_of_boot(folder, "processor-clock");
    int64_t khz = kept ? parse_khz(kept) : 0;
    free(kept);
    for (int i = 0; i < TRIES && khz == 0; i++) {
        khz = processor_clock_khz_of("/");
        snprintf(text, sizeof text, "%" PRId64, khz);
        if (khz > 0)
            keep_of_boot(folder, "processor-clock", text);
    }
    return khz;
}

const char *processor_clock_arguments(int64_t khz, char *buffer, int size)
{
    buffer[0] = '\0';
    if (khz > 0)
        snprintf(buffer, (size_t)size, " tsc=reliable tsc_early_khz=%" PRId64, khz);
    return buffer;
}
