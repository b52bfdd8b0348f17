/*
 * Checks of what registers GPU memory with the NIC. Routes by dma-buf need no nvidia_peermem, and NVIDIA's
 * GPU operator guide recommends dma-buf and leaves the module out then; the other routes need it. Sources:
 * NVIDIA/open-gpu-kernel-modules, kernel-open/nvidia-peermem/nvidia-peermem.c, and the driver's README,
 * chapter "GPUDirect RDMA Peer Memory Client".
 */
#include "collectors/facts/checks.h"
#include "collectors/facts/judge.h"

#include "lib/formats/flow.h"
#include <stdio.h>
#include <string.h>

bool judge_by_dmabuf(const struct judge *j)
{
    return j->wanted->memory == MEMORY_RM_DMABUF || j->wanted->memory == MEMORY_CUDA_DMABUF;
}

bool judge_by_peermem(const struct judge *j)
{
    return j->wanted->memory > MEMORY_GPU && !judge_by_dmabuf(j);
}

static const char *peermem_parameter(const struct judge *j, const char *name)
{
    return fact_word(fact_at(fact_at(j->facts, "modules", "nvidia_peermem"), "parameters", NULL), name, NULL);
}

/* ---- the registered clients */

/* nvidia-peermem registers nv_mem, up to driver 555 also nv_mem_nc; the deprecated nv_peer_mem registers
 * nv_mem too. */
static const char *const client_names[] = {"nv_mem", "nv_mem_nc", "nvidia-peermem"};

enum { CLIENTS = sizeof client_names / sizeof client_names[0] };

static const json_t *first_client(const struct judge *j, const char **name)
{
    for (size_t i = 0; i < CLIENTS; i++) {
        const json_t *client = fact_at(j->facts, "memory_peers", client_names[i]);
        if (!client)
            continue;
        *name = client_names[i];
        return client;
    }
    return NULL;
}

static void judge_client(struct judge *j, const char *name, const json_t *client)
{
    const char *version = fact_word(client, "version", NULL),
               *driver = fact_word(j->facts, "versions", "nvidia");
    if (judge_has_module(j, "nv_peer_mem"))
        judge_say(j, VERDICT_WARNING, name, "modprobe -r nv_peer_mem; modprobe nvidia-peermem",
                  "the deprecated nv_peer_mem registered it, version %s", version[0] ? version : "unknown");
    else if (version[0] == '\0' || driver[0] == '\0')
        judge_say(j, VERDICT_UNKNOWN, name, NULL, "its version, or the NVIDIA driver's, is not known");
    else if (strcmp(version, driver) == 0)
        judge_say(j, VERDICT_OK, name, NULL, "it is registered, in the driver's version %s", version);
    else
        judge_say(
            j, VERDICT_FAILURE, name, "modprobe -r nvidia-peermem; depmod; modprobe nvidia-peermem",
            "it is registered in version %s, but the NVIDIA driver is %s: the module is of another driver",
            version, driver);
    judge_show(j, "/sys/kernel/mm/memory_peers/%s/version: \"%s\"; /proc/driver/nvidia/version: \"%s\"", name,
               version, driver);
}

/* The registration itself, which a loaded module does not prove. Without a module and a client there is
 * nothing to judge. */
void check_peer_client(struct judge *j)
{
    const json_t *peers = json_object_get(j->facts, "memory_peers");
    const char *name;
    bool loaded = judge_has_module(j, "nvidia_peermem");
    if (judge_no_gpu(j))
        return;
    for (size_t i = 0; i < CLIENTS; i++) {
        const json_t *client = json_object_get(peers, client_names[i]);
        if (client)
            judge_client(j, client_names[i], client);
    }
    if (first_client(j, &name))
        return;
    if (!peers || !judge_saw_modules(j))
        judge_say(j, VERDICT_UNKNOWN, "clients", NULL, "the registered clients were not read");
    else if (loaded && json_is_null(peers))
        judge_say(j, VERDICT_UNKNOWN, "nvidia_peermem", NULL,
                  "it is loaded, but this kernel does not list its peer memory clients");
    else if (loaded)
        judge_say(
            j, VERDICT_FAILURE, "nvidia_peermem",
            "install the NVIDIA driver after MLNX_OFED; modprobe -r nvidia-peermem; modprobe nvidia-peermem",
            "it is loaded, but not registered as a peer memory client: ibv_reg_mr does not ask it");
}

/* ---- can GPU memory be registered */

/* dma-buf memory regions came with Linux 5.12. -1: the version is not known. */
static int kernel_has_dmabuf(const struct judge *j)
{
    int major = 0, minor = 0;
    if (sscanf(fact_word(j->facts, "versions", "kernel"), "%d.%d", &major, &minor) != 2)
        return -1;
    return major > 5 || (major == 5 && minor >= 12);
}

static void judge_dmabuf(struct judge *j)
{
    const json_t *open = fact_at(j->facts, "versions", "nvidia_open");
    const char *kernel = fact_word(j->facts, "versions", "kernel");
    bool needs_open = j->wanted->memory != MEMORY_RM_DMABUF, loaded = judge_has_module(j, "nvidia_peermem");
    int new_enough = kernel_has_dmabuf(j);
    if (new_enough < 0 || (needs_open && !json_is_boolean(open)))
        judge_say(j, VERDICT_UNKNOWN, "dma-buf", "roce-traffic routes",
                  "the kernel's version, or whether the NVIDIA modules are the open ones, is not known");
    else if (!new_enough)
        judge_say(j, VERDICT_FAILURE, "dma-buf", "boot Linux 5.12 or newer, or use a route by nvidia_peermem",
                  "Linux %s has no dma-buf memory regions: they came with 5.12", kernel);
    else if (needs_open && !json_is_true(open))
        judge_say(j, VERDICT_FAILURE, "dma-buf",
                  "install the open kernel modules, or use the route rm-dmabuf",
                  "the NVIDIA kernel modules are not the open ones: CUDA exports no dma-buf");
    else
        judge_say(j, VERDICT_OK, "dma-buf", NULL,
                  "Linux %s%s: nvidia_peermem is not needed%s; roce-traffic routes tries GPU and NIC", kernel,
                  needs_open ? " and the open modules have it" : " has it",
                  loaded ? ", though it is loaded" : "");
}

static void judge_peermem(struct judge *j)
{
    const char *name = NULL;
    if (!judge_has_module(j, "nvidia_peermem") && first_client(j, &name))
        judge_say(j, VERDICT_OK, name, NULL, "it is registered as a peer memory client");
    else if (!judge_has_module(j, "nvidia_peermem"))
        judge_say(j, VERDICT_FAILURE, "nvidia_peermem",
                  "modprobe nvidia-peermem (with MLNX_OFED installed before the NVIDIA driver)",
                  "it is not loaded: ibv_reg_mr will fail with EFAULT");
    else if (strcmp(peermem_parameter(j, "peerdirect_support"), "1") == 0)
        judge_say(j, VERDICT_WARNING, "nvidia_peermem",
                  "modprobe -r nvidia-peermem; modprobe nvidia-peermem peerdirect_support=0",
                  "it is loaded with the option for the old PeerDirect interface (MLNX_OFED 5.0 and older)");
    else
        judge_say(j, VERDICT_OK, "nvidia_peermem", NULL, "it is loaded, and nv_peer_mem is not");
}

/* Either of them registers the memory: roce-traffic's memory gpu tries dma-buf first. */
static void judge_either(struct judge *j)
{
    const json_t *open = fact_at(j->facts, "versions", "nvidia_open");
    const char *name;
    if (judge_has_module(j, "nvidia_peermem") || first_client(j, &name))
        judge_peermem(j);
    else if (json_is_false(open) || kernel_has_dmabuf(j) == 0)
        judge_say(j, VERDICT_FAILURE, "nvidia_peermem",
                  "modprobe nvidia-peermem (with MLNX_OFED installed before the NVIDIA driver)",
                  "it is not loaded, and there is no dma-buf either (%s): ibv_reg_mr will fail with EFAULT",
                  json_is_false(open) ? "the kernel modules are not the open ones"
                                      : "the kernel is older than 5.12");
    else
        judge_dmabuf(j);
}

void check_peer_memory(struct judge *j)
{
    if (j->wanted->memory == MEMORY_HOST || judge_no_gpu(j))
        return;
    if (!judge_saw_modules(j))
        judge_say(j, VERDICT_UNKNOWN, "modules", NULL, "the loaded modules were not read");
    else if (judge_given_to_guests(j))
        judge_say(j, VERDICT_UNKNOWN, "guest", "run host-facts --check in the guest",
                  "vfio-pci has the GPUs: a guest's driver registers their memory");
    else if (!judge_has_module(j, "nvidia"))
        judge_say(j, VERDICT_FAILURE, "nvidia", "install the NVIDIA driver, then modprobe nvidia",
                  "the NVIDIA driver is not loaded");
    else if (judge_has_module(j, "nv_peer_mem") && !judge_by_dmabuf(j))
        judge_say(
            j, VERDICT_FAILURE, "nv_peer_mem",
            "systemctl disable --now nv_peer_mem; modprobe -r nv_peer_mem; remove its package; modprobe "
            "nvidia-peermem",
            "the deprecated nv_peer_mem is loaded%s",
            judge_has_module(j, "nvidia_peermem") ? " together with nvidia_peermem: they conflict" : "");
    else if (judge_by_dmabuf(j))
        judge_dmabuf(j);
    else if (judge_by_peermem(j))
        judge_peermem(j);
    else
        judge_either(j);
}

/* ---- the lock inversion of MLNX_OFED 5.1 and newer */

/* "5.4-3.0.3", "24.10-4.1.4.0": their first five numbers as one. -1: another form. */
static int64_t ofed_release(const char *version)
{
    int n[5];
    if (sscanf(version, "%4d.%4d-%4d.%4d.%4d", &n[0], &n[1], &n[2], &n[3], &n[4]) != 5)
        return -1;
    int64_t release = 0;
    for (size_t i = 0; i < 5; i++) {
        if (n[i] < 0)
            return -1;
        release = release * 10000 + n[i];
    }
    return release;
}

/*
 * Invalidating a registration while memory is freed takes locks of the GPU driver and of ib_core in either
 * order, which can deadlock the kernel. From 5.4-3.0.3 on (MLNX_OFED 5.4-3.0.3.0, bug fixes, 2696789) a
 * client may unmap by itself; nvidia-peermem asks for that (PEER_MEM_INVALIDATE_UNMAPS) unless
 * peerdirect_support is 1, nv_peer_mem from version 1.2 on.
 */
void check_peer_lock(struct judge *j)
{
    const char *ofed = fact_word(j->facts, "versions", "mlnx_ofed");
    const char *mode = peermem_parameter(j, "peerdirect_support");
    int64_t release = ofed_release(ofed);
    if (judge_by_dmabuf(j) || j->wanted->memory == MEMORY_HOST || judge_no_gpu(j))
        return;
    if (!judge_saw_modules(j))
        judge_say(j, VERDICT_UNKNOWN, "modules", NULL, "the loaded modules were not read");
    else if (!judge_has_module(j, "nvidia_peermem"))
        return;
    else if (release < 0 || mode[0] == '\0')
        judge_say(j, VERDICT_UNKNOWN, "nvidia_peermem", NULL,
                  "whether its lock inversion is mitigated is not known: MLNX_OFED \"%s\", "
                  "peerdirect_support \"%s\"",
                  ofed, mode);
    else if (release < ofed_release("5.1-0.0.0") && strcmp(mode, "1") != 0)
        judge_say(j, VERDICT_WARNING, "nvidia_peermem",
                  "modprobe -r nvidia-peermem; modprobe nvidia-peermem peerdirect_support=1",
                  "MLNX_OFED %s has the old PeerDirect interface, which needs peerdirect_support=1", ofed);
    else if (release < ofed_release("5.1-0.0.0"))
        judge_say(j, VERDICT_OK, "nvidia_peermem", NULL, "MLNX_OFED %s is older than the lock inversion",
                  ofed);
    else if (release < ofed_release("5.4-3.0.3"))
        judge_say(j, VERDICT_WARNING, "nvidia_peermem",
                  "install MLNX_OFED 5.4-3.0.3 or newer, or use a dma-buf route",
                  "MLNX_OFED %s has a lock inversion that can deadlock the kernel when registered GPU memory "
                  "is freed",
                  ofed);
    else if (strcmp(mode, "0") != 0)
        judge_say(j, VERDICT_WARNING, "nvidia_peermem",
                  "modprobe -r nvidia-peermem; modprobe nvidia-peermem peerdirect_support=0",
                  "peerdirect_support=%s leaves out MLNX_OFED's mitigation of a lock inversion that can "
                  "deadlock the "
                  "kernel when registered GPU memory is freed",
                  mode);
    else
        judge_say(
            j, VERDICT_OK, "nvidia_peermem", NULL,
            "MLNX_OFED %s has the mitigation of the lock inversion, and peerdirect_support=0 asks for it",
            ofed);
}

/* ---- GDRCopy: the CPU's own small copies to and from GPU memory, which NCCL and UCX use if they find it */

static void judge_copybw(struct judge *j, const json_t *measured)
{
    const char *missing = fact_word(measured, "missing", NULL);
    double written = json_number_value(json_object_get(measured, "write_bytes_per_s"));
    double read = json_number_value(json_object_get(measured, "read_bytes_per_s"));
    if (written > 0 && read > 0)
        judge_say(j, VERDICT_OK, "gdrcopy_copybw", NULL,
                  "the CPU writes %.0f MB/s to the GPU and reads %.0f MB/s", written / 1e6, read / 1e6);
    else
        judge_say(j, VERDICT_WARNING, "gdrcopy_copybw",
                  "gdrcopy_sanity, as the user who runs NCCL, says more", "%s",
                  missing[0] ? missing : "it measured nothing");
    judge_show(j, "what gdrcopy_copybw printed");
}

void check_gdrcopy(struct judge *j)
{
    const json_t *device = fact_at(j->facts, "gdrcopy", "device"),
                 *measured = fact_at(j->facts, "gdrcopy", "copybw");
    if (judge_no_gpu(j))
        return;
    if (!judge_saw_modules(j) || !json_is_boolean(device))
        judge_say(j, VERDICT_UNKNOWN, "gdrdrv", NULL,
                  "the loaded modules, or /dev/gdrdrv, were not looked for");
    else if (!judge_has_module(j, "gdrdrv"))
        return; /* GPUDirect RDMA does without it: there is nothing to judge */
    else if (!json_is_true(device))
        judge_say(j, VERDICT_WARNING, "gdrdrv",
                  "mknod -m 666 /dev/gdrdrv c $(awk '/gdrdrv/ {print $1}' /proc/devices) 0",
                  "it is loaded, but there is no /dev/gdrdrv: GDRCopy fails");
    else if (measured)
        judge_copybw(j, measured);
    else
        judge_say(j, VERDICT_OK, "gdrdrv", NULL,
                  "it is loaded and has its device; gdrcopy_copybw measures it (--measure runs it)");
}
