#include "guest-setup/rebuild/guest_build.h"

#include "guest-setup/guest/image.h"
#include "guest-setup/guest/processor.h"
#include "guest-setup/guest/seed.h"
#include "lib/clock.h"
#include "lib/text.h"
#include "remote/mark.h"
#include "remote/virt_error.h"
#include <libvirt/virterror.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- inputs: profile and devices */

bool guest_build_is_local(const struct lab *lab)
{
    return !strstr(lab->uri, "://") || strstr(lab->uri, ":///");
}

static int add_nic(struct guest_build *build, const char *pci, const char *key, struct error *e)
{
    if (build->nic_count == WIRING_MAX_PORTS)
        return error_set(e, "hosts.%s.%s: too many", lab_guest_name(build->host), key);
    if (pci_parse(pci, &build->nics[build->nic_count], e) != 0)
        return error_prefix(e, "hosts.%s.%s.pci", lab_guest_name(build->host), key);
    build->nic_count++;
    return 0;
}

/* A GPU's functions: their number is from the lab, else from the machine. key: of the host in the lab. */
static int add_gpu(struct guest_build *build, const struct lab_gpu *gpu, const char *key, struct error *e)
{
    struct pci_address first, functions[8], *to = build->gpus + build->gpu_count;
    if (pci_parse(gpu->pci, &first, e) != 0)
        return error_prefix(e, "hosts.%s.%s.pci", lab_guest_name(build->host), key);
    first.function = 0;
    size_t shown = guest_build_is_local(&build->context->lab) ? pci_functions("/sys", &first, functions) : 0;
    size_t said = gpu->functions == FIELD_UNSET ? 0 : (size_t)gpu->functions;
    if (said && shown && said != shown)
        return error_set(e, "hosts.%s.%s.functions: %zu, but the machine has %zu at %s",
                         lab_guest_name(build->host), key, said, shown, gpu->pci);
    size_t count = said ? said : shown ? shown : 1;
    if (build->gpu_count + count > GUEST_GPU_FUNCTIONS)
        return error_set(e, "hosts.%s.%s: too many GPUs for a guest", lab_guest_name(build->host), key);
    for (size_t i = 0; i < count; i++) {
        to[i] = shown ? functions[i] : first;
        if (!shown)
            to[i].function = (unsigned)i;
    }
    build->gpu_count += count;
    return 0;
}

/* All of the host's GPUs, whichever is nearest to which NIC. */
static int add_gpus(struct guest_build *build, struct error *e)
{
    const struct lab_host *host = build->host;
    const struct lab_gpu *gpus = host->gpus.items;
    for (size_t i = 0; i < host->gpus.count; i++) {
        char key[80];
        snprintf(key, sizeof key, "gpus.%.60s", gpus[i].name);
        if (gpus[i].pci && add_gpu(build, &gpus[i], key, e) != 0)
            return -1;
    }
    return host->gpus.count == 0 && host->gpu && host->gpu->pci ? add_gpu(build, host->gpu, "gpu", e) : 0;
}

static int add_nics_of(struct guest_build *build, const struct lab_host *node, struct error *e)
{
    const struct lab_nic *extra = node->extra_nics.items;
    if (node->nic.pci && add_nic(build, node->nic.pci, "nic", e) != 0)
        return -1;
    for (size_t i = 0; i < node->extra_nics.count; i++)
        if (extra[i].pci && add_nic(build, extra[i].pci, "extra_nics", e) != 0)
            return -1;
    return 0;
}

static int find_devices(struct guest_build *build, struct error *e)
{
    size_t nodes = wiring_nodes(&build->context->lab, build->host);
    for (size_t i = 0; i < nodes; i++)
        if (add_nics_of(build, build->host + i, e) != 0)
            return -1;
    return add_gpus(build, e);
}

int guest_build_check_devices(const struct guest_build *build, struct error *e)
{
    struct pci_address ours[WIRING_MAX_PORTS + GUEST_GPU_FUNCTIONS];
    size_t count = 0;
    if (!guest_build_is_local(&build->context->lab))
        return 0;
    for (size_t i = 0; i < build->nic_count; i++)
        ours[count++] = build->nics[i];
    for (size_t i = 0; i < build->gpu_count; i++)
        ours[count++] = build->gpus[i];
    for (size_t i = 0; i < count; i++)
        if (pci_check("/sys", &ours[i], ours, count, e) != 0)
            return error_prefix(e, "host %s", lab_guest_name(build->host));
    return 0;
}

int guest_build_bind_devices(const struct guest_build *build, bool to_vfio, struct error *e)
{
    int (*bind)(const char *, const struct pci_address *, struct error *) =
        to_vfio ? pci_bind_vfio : pci_unbind_vfio;
    for (size_t i = 0; i < build->nic_count; i++)
        if (bind("/sys", &build->nics[i], e) != 0)
            return -1;
    for (size_t i = 0; i < build->gpu_count; i++)
        if (bind("/sys", &build->gpus[i], e) != 0)
            return -1;
    return 0;
}

int guest_build_open(struct context *c, const struct lab_host *host, struct storage *storage,
                     struct guest_build *build, struct error *e)
{
    *build = (struct guest_build){.context = c, .host = host, .storage = storage, .type = "qemu"};
    if (profile_load(host->profile, host->bundle, &build->profile, e) != 0)
        return error_prefix(e, "host %s", lab_guest_name(host));
    if (find_devices(build, e) == 0)
        return 0;
    guest_build_free(build);
    return -1;
}

void guest_build_free(struct guest_build *build)
{
    profile_free(&build->profile);
    free(build->image_id);
    build->image_id = NULL;
}

/* ---- names of volumes */

static char *volume_name(const char *first, const char *second)
{
    struct text text = {0};
    text_add(&text, "%s%s", first, second);
    return text_take(&text);
}

char *volume_of_host(const struct guest_build *build, const char *suffix)
{
    return volume_name(lab_guest_name(build->host), suffix);
}

char *volume_of_image(const struct guest_build *build, const char *suffix)
{
    return volume_name(build->image_id ? build->image_id : build->profile.name, suffix);
}

/* ---- XML */

static char *path_of(const struct guest_build *build, char *volume)
{
    char *path = volume ? storage_path(build->storage, volume) : NULL;
    free(volume);
    return path;
}

/* The profile's; a guest that is emulated on this machine is told the rate of its counter. The caller
 * frees. */
static char *kernel_arguments(const struct guest_build *build)
{
    char clock[64], *folder = image_cache(NULL);
    bool emulated_here = strcmp(build->type, "qemu") == 0 && guest_build_is_local(&build->context->lab);
    struct text text = {0};
    text_add(&text, "%s%s", build->profile.cmdline ? build->profile.cmdline : "",
             processor_clock_arguments(emulated_here ? processor_clock_khz(folder) : 0, clock, sizeof clock));
    free(folder);
    return text_take(&text);
}

char *guest_build_xml(const struct guest_build *build, const char *disk, struct error *e)
{
    bool direct = build->profile.boot == BOOT_KERNEL;
    char *kernel = path_of(build, volume_of_image(build, ".vmlinuz")),
         *initrd = path_of(build, volume_of_image(build, ".initrd"));
    char *seed = path_of(build, volume_of_host(build, ".seed")),
         *console = path_of(build, volume_of_host(build, ".console"));
    char *disk_path = storage_path(build->storage, disk), *xml = NULL;
    char *arguments = direct ? kernel_arguments(build) : NULL;
    struct domain_parts parts = {.type = build->type,
                                 .user = build->profile.user,
                                 .boot = (enum boot_kind)build->profile.boot,
                                 .kernel = kernel,
                                 .initrd = initrd,
                                 .cmdline = arguments,
                                 .disk = disk_path,
                                 .seed = seed,
                                 .console = console,
                                 .safe_disk = !direct,
                                 .nic = build->nics,
                                 .nic_count = build->nic_count,
                                 .gpu = build->gpus,
                                 .gpu_count = build->gpu_count};
    if (kernel && initrd && seed && console && disk_path && (arguments || !direct))
        xml = domain_xml(&build->context->lab, build->host, &parts, e);
    else
        error_set(e, "out of memory");
    free(kernel);
    free(initrd);
    free(seed);
    free(console);
    free(disk_path);
    free(arguments);
    return xml;
}

/* ---- the domain */

#define DEFINE_TRIES 5

int guest_build_check_domain(struct guest_build *build, struct error *e)
{
    virConnectPtr connection = virt_connection(build->context->virt);
    struct mark mark;
    if (!connection)
        return error_set(e, "the connection to libvirt was lost");
    virDomainPtr domain = virDomainLookupByName(connection, build->host->domain);
    if (!domain)
        return 0;
    int marked = mark_read(domain, &mark, e);
    virDomainFree(domain);
    if (marked < 0)
        return -1;
    bool ours = marked && strcmp(mark.lab, build->context->lab.name) == 0 &&
                strcmp(mark.host, lab_guest_name(build->host)) == 0;
    if (ours || build->context->options.adopt)
        return 1;
    if (marked)
        return error_set(
            e, "domain %s belongs to host %s of lab %s: destroy it there, or replace it with --adopt",
            build->host->domain, mark.host, mark.lab);
    return error_set(e,
                     "domain %s was not created by virt-provision and is not changed; --adopt replaces it "
                     "(its disks are "
                     "they are)",
                     build->host->domain);
}

int guest_build_remove_domain(struct guest_build *build, int64_t grace_ns, struct error *e)
{
    int there = guest_build_check_domain(build, e);
    if (there <= 0)
        return there;
    if (virt_domain_stop(build->context->virt, build->host->domain, grace_ns, e) != 0)
        return -1;
    virDomainPtr domain = virDomainLookupByName(virt_connection(build->context->virt), build->host->domain);
    int result = 0;
    /* the snapshot metadata and managed save of an adopted domain are removed with it; its disks are not */
    if (domain && virDomainUndefineFlags(domain, VIR_DOMAIN_UNDEFINE_MANAGED_SAVE |
                                                     VIR_DOMAIN_UNDEFINE_SNAPSHOTS_METADATA |
                                                     VIR_DOMAIN_UNDEFINE_NVRAM) < 0)
        result = virt_error(e, "undefining domain %s", build->host->domain);
    if (domain)
        virDomainFree(domain);
    return result;
}

/* One of the first two domains that a libvirtd validates at once may be refused: libxml2 2.9's
 * xmlSchemaInitTypes has no lock, so that a second thread replaces the table of data types that the first one
 * reads. Then it is tried again. */
static virDomainPtr define_domain(virConnectPtr connection, const char *xml)
{
    for (int tries = 1;; tries++) {
        virDomainPtr domain = virDomainDefineXMLFlags(connection, xml, VIR_DOMAIN_DEFINE_VALIDATE);
        const virError *why = domain ? NULL : virGetLastError();
        if (!why || !why->message || tries == DEFINE_TRIES ||
            !strstr(why->message, "is not exported by type library"))
            return domain;
        clock_sleep_until_ns(clock_monotonic_ns() + NS_PER_S);
    }
}

int guest_build_define_domain(struct guest_build *build, const char *suffix, struct error *e)
{
    char *disk = volume_of_host(build, suffix), *xml = disk ? guest_build_xml(build, disk, e) : NULL;
    virConnectPtr connection = virt_connection(build->context->virt);
    virDomainPtr domain = xml && connection ? define_domain(connection, xml) : NULL;
    if (xml && !domain)
        virt_error(e, "defining domain %s", build->host->domain);
    if (domain)
        virDomainFree(domain);
    free(xml);
    free(disk);
    return domain ? 0 : -1;
}

/* ---- disks */

int guest_build_delete_volume(struct guest_build *build, const char *suffix, struct error *e)
{
    char *volume = volume_of_host(build, suffix);
    int result = volume ? storage_delete(build->storage, volume, e) : error_set(e, "out of memory");
    free(volume);
    return result;
}

int guest_build_overlay(struct guest_build *build, const char *suffix, char *base, int64_t bytes,
                        struct error *e)
{
    char *volume = volume_of_host(build, suffix);
    int result = volume && base ? storage_overlay(build->storage, volume, base, bytes, e)
                                : error_set(e, "out of memory");
    free(volume);
    free(base);
    return result;
}

static int upload_seed(struct guest_build *build, struct error *e)
{
    char *volume = volume_of_host(build, ".seed"),
         *local = seed_make(&build->context->lab, build->host, &build->profile, e);
    int result =
        local && volume ? storage_upload(build->context->virt, build->storage, volume, local, "raw", e) : -1;
    free(volume);
    free(local);
    return result;
}

int guest_build_fresh_disks(struct guest_build *build, struct error *e)
{
    int64_t bytes = build->host->disk_bytes == FIELD_UNSET ? 0 : build->host->disk_bytes;
    if (guest_build_delete_volume(build, DISK_WORK, e) != 0 ||
        guest_build_delete_volume(build, ".console", e) != 0)
        return -1;
    if (guest_build_overlay(build, DISK_BASE, volume_of_image(build, DISK_BASE), bytes, e) != 0)
        return -1;
    return upload_seed(build, e);
}

/* ---- all selected hosts */

int guest_builds_open(struct context *c, struct storage *storage, struct guest_build **builds,
                      struct error *e)
{
    *builds = calloc(c->host_count + 1, sizeof **builds);
    if (!*builds)
        return error_set(e, "out of memory");
    for (size_t i = 0; i < c->host_count; i++)
        if (guest_build_open(c, c->hosts[i], storage, &(*builds)[i], e) != 0)
            return -1;
    return 0;
}

void guest_builds_close(struct context *c, struct guest_build *builds)
{
    for (size_t i = 0; builds && i < c->host_count; i++)
        guest_build_free(&builds[i]);
    free(builds);
}

/* Wait for the threads; Ctrl-C cancels them. */
static void wait_for(struct context *c, pthread_t *threads, size_t count)
{
    struct timespec tick;
    for (size_t i = 0; i < count;) {
        if (interrupt_count(&c->interrupt) > 0 && !atomic_exchange(&c->cancelled, true))
            context_report(c, NULL, "interrupted: stopping");
        clock_gettime(CLOCK_REALTIME, &tick);
        tick.tv_nsec += 50 * NS_PER_MS;
        tick.tv_sec += tick.tv_nsec / NS_PER_S;
        tick.tv_nsec %= NS_PER_S;
        if (pthread_timedjoin_np(threads[i], NULL, &tick) == 0)
            i++;
    }
}

int guest_builds_run(struct context *c, struct guest_build *builds, void *(*work)(void *), struct error *e)
{
    pthread_t *threads = calloc(c->host_count + 1, sizeof *threads);
    size_t started = 0;
    int result = 0;
    if (!threads)
        return error_set(e, "out of memory");
    /* not earlier: while images are fetched, Ctrl-C simply ends the program */
    if (interrupt_open(&c->interrupt, e) != 0) {
        free(threads);
        return -1;
    }
    for (; started < c->host_count; started++)
        if (pthread_create(&threads[started], NULL, work, &builds[started]) != 0)
            break;
    wait_for(c, threads, started);
    interrupt_close(&c->interrupt);
    free(threads);
    if (started < c->host_count)
        return error_set(e, "cannot start a thread for host %s", lab_guest_name(builds[started].host));
    for (size_t i = 0; i < c->host_count; i++) {
        if (builds[i].result == 0)
            continue;
        if (result != 0)
            context_report(c, builds[i].host, "%s", builds[i].error.text);
        else
            *e = builds[i].error;
        result = -1;
    }
    return result;
}
