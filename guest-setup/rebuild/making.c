/* The inputs of a host's domain. */
#include "guest-setup/rebuild/making.h"

#include "guest-setup/guest/image.h"
#include "guest-setup/guest/processor.h"
#include "lib/text.h"
#include <stdlib.h>
#include <string.h>

bool making_is_local(const struct lab *lab)
{
    return !strstr(lab->uri, "://") || strstr(lab->uri, ":///");
}

static int add_nic(struct making *m, const char *pci, const char *key, struct error *e)
{
    if (m->nic_count == WIRING_MAX_PORTS)
        return error_set(e, "hosts.%s.%s: too many", m->host->name, key);
    if (pci_parse(pci, &m->nics[m->nic_count], e) != 0)
        return error_prefix(e, "hosts.%s.%s.pci", m->host->name, key);
    m->nic_count++;
    return 0;
}

/* The GPU's functions: their number is from the lab, else from the machine. */
static int add_gpu(struct making *m, struct error *e)
{
    const struct lab_gpu *gpu = m->host->gpu;
    struct pci_address first;
    if (pci_parse(gpu->pci, &first, e) != 0)
        return error_prefix(e, "hosts.%s.gpu.pci", m->host->name);
    first.function = 0;
    size_t shown = making_is_local(&m->context->lab) ? pci_functions("/sys", &first, m->gpu) : 0;
    size_t said = gpu->functions == FIELD_UNSET ? 0 : (size_t)gpu->functions;
    if (said && shown && said != shown)
        return error_set(e, "hosts.%s.gpu.functions: %zu, but the machine has %zu at %s", m->host->name, said,
                         shown, gpu->pci);
    m->gpu_count = said ? said : shown ? shown : 1;
    for (size_t i = 0; i < m->gpu_count && !shown; i++) {
        m->gpu[i] = first;
        m->gpu[i].function = (unsigned)i;
    }
    return 0;
}

static int find_devices(struct making *m, struct error *e)
{
    const struct lab_nic *extra = m->host->extra_nics.items;
    if (m->host->nic.pci && add_nic(m, m->host->nic.pci, "nic", e) != 0)
        return -1;
    for (size_t i = 0; i < m->host->extra_nics.count; i++)
        if (extra[i].pci && add_nic(m, extra[i].pci, "extra_nics", e) != 0)
            return -1;
    return m->host->gpu && m->host->gpu->pci ? add_gpu(m, e) : 0;
}

int making_check_devices(const struct making *m, struct error *e)
{
    struct pci_address ours[WIRING_MAX_PORTS + 8];
    size_t count = 0;
    if (!making_is_local(&m->context->lab))
        return 0;
    for (size_t i = 0; i < m->nic_count; i++)
        ours[count++] = m->nics[i];
    for (size_t i = 0; i < m->gpu_count; i++)
        ours[count++] = m->gpu[i];
    for (size_t i = 0; i < count; i++)
        if (pci_check("/sys", &ours[i], ours, count, e) != 0)
            return error_prefix(e, "host %s", m->host->name);
    return 0;
}

int making_bind_devices(const struct making *m, bool to_vfio, struct error *e)
{
    int (*bind)(const char *, const struct pci_address *, struct error *) =
        to_vfio ? pci_bind_vfio : pci_unbind_vfio;
    for (size_t i = 0; i < m->nic_count; i++)
        if (bind("/sys", &m->nics[i], e) != 0)
            return -1;
    for (size_t i = 0; i < m->gpu_count; i++)
        if (bind("/sys", &m->gpu[i], e) != 0)
            return -1;
    return 0;
}

int making_open(struct context *c, const struct lab_host *host, struct storage *storage, struct making *m,
                struct error *e)
{
    *m = (struct making){.context = c, .host = host, .storage = storage, .type = "qemu"};
    if (profile_load(host->profile, host->bundle, &m->profile, e) != 0)
        return error_prefix(e, "host %s", host->name);
    if (find_devices(m, e) == 0)
        return 0;
    making_free(m);
    return -1;
}

void making_free(struct making *m)
{
    profile_free(&m->profile);
    free(m->image_id);
    m->image_id = NULL;
}

/* ---- names of volumes */

static char *name(const char *first, const char *second)
{
    struct text text = {0};
    text_add(&text, "%s%s", first, second);
    return text_take(&text);
}

char *volume_of_host(const struct making *m, const char *suffix)
{
    return name(m->host->name, suffix);
}

char *volume_of_image(const struct making *m, const char *suffix)
{
    return name(m->image_id ? m->image_id : m->profile.name, suffix);
}

static char *path_of(const struct making *m, char *volume)
{
    char *path = volume ? storage_path(m->storage, volume) : NULL;
    free(volume);
    return path;
}

/* The profile's; a guest that is emulated on this machine is told the rate of its counter. The caller frees. */
static char *kernel_arguments(const struct making *m)
{
    char clock[64], *folder = image_cache(NULL);
    bool emulated_here = strcmp(m->type, "qemu") == 0 && making_is_local(&m->context->lab);
    struct text text = {0};
    text_add(&text, "%s%s", m->profile.cmdline ? m->profile.cmdline : "",
             processor_clock_arguments(emulated_here ? processor_clock_khz(folder) : 0, clock, sizeof clock));
    free(folder);
    return text_take(&text);
}

char *making_xml(const struct making *m, const char *disk, struct error *e)
{
    bool direct = m->profile.boot == BOOT_KERNEL;
    char *kernel = path_of(m, volume_of_image(m, ".vmlinuz")),
         *initrd = path_of(m, volume_of_image(m, ".initrd"));
    char *seed = path_of(m, volume_of_host(m, ".seed")), *console = path_of(m, volume_of_host(m, ".console"));
    char *disk_path = storage_path(m->storage, disk), *xml = NULL;
    char *arguments = direct ? kernel_arguments(m) : NULL;
    struct domain_parts parts = {.type = m->type,
                                 .user = m->profile.user,
                                 .boot = (enum boot_kind)m->profile.boot,
                                 .kernel = kernel,
                                 .initrd = initrd,
                                 .cmdline = arguments,
                                 .disk = disk_path,
                                 .seed = seed,
                                 .console = console,
                                 .safe_disk = !direct,
                                 .nic = m->nics,
                                 .nic_count = m->nic_count,
                                 .gpu = m->gpu,
                                 .gpu_count = m->gpu_count};
    if (kernel && initrd && seed && console && disk_path && (arguments || !direct))
        xml = domain_xml(&m->context->lab, m->host, &parts, e);
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
