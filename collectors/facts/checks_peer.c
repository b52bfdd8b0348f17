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

bool judge_no_gpu(struct judge *j)
{
    if (j->wanted->memory == MEMORY_HOST)
        return true;
    if (json_array_size(judge_gpus(j)) > 0)
        return false;
    if (json_array_size(json_object_get(j->facts, "gpus")) == 0)
        judge_say(j, VERDICT_UNKNOWN, "gpu", NULL, "there is no NVIDIA GPU on this host");
    return true;
}

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

/* ---- GPUs by their model */

/* CUDA registers a GPU's memory for other devices, by nvidia_peermem or as a dma-buf, where the product has
 * GPUDirect RDMA: docs/gpudirect-routes.md. NVIDIA names data-centre and professional GPUs; GeForce and TITAN
 * are not among them, whatever modules are loaded. */
enum model { MODEL_UNKNOWN, MODEL_DATA_CENTRE, MODEL_PROFESSIONAL, MODEL_GEFORCE, MODEL_JETSON, MODEL_VGPU };

static bool has_any(const char *name, const char *const words[])
{
    for (size_t i = 0; words[i]; i++)
        if (strstr(name, words[i]))
            return true;
    return false;
}

/* "NVIDIA A40-48Q", "GRID T4-8C": a profile's size and kind are at the end. */
static bool is_vgpu(const char *name)
{
    const char *dash = strrchr(name, '-');
    size_t digits = dash ? strspn(dash + 1, "0123456789") : 0;
    return strstr(name, "GRID ") ||
           (digits > 0 && strchr("ABCQ", dash[1 + digits]) && dash[1 + digits] && !dash[2 + digits]);
}

static enum model model_of(const json_t *gpu)
{
    static const char *const geforce[] = {"GeForce", "TITAN", "Titan", " CMP ", NULL},
                             *const jetson[] = {"Jetson", "Tegra", "Orin", "Xavier", "Thor", NULL},
                             *const server[] = {"Tesla", "Server Edition", NULL},
                             *const professional[] = {"Quadro", "RTX", "NVS", NULL};
    /* those that are called by their number alone */
    static const char *const numbers[] = {"A2",    "A10",   "A10G",  "A10M", "A16",  "A30",  "A30X",  "A40",
                                          "A100",  "A100X", "A800",  "H20",  "H100", "H200", "H800",  "L2",
                                          "L4",    "L20",   "L40",   "L40G", "L40S", "B100", "B200",  "B300",
                                          "GB200", "GB300", "GH200", "T4",   "T4G",  "V100", "V100S", "P4",
                                          "P6",    "P40",   "P100",  "M60",  "K80",  NULL};
    const char *name = fact_word(gpu, "model", NULL), *number = name;
    if (has_any(name, geforce))
        return MODEL_GEFORCE;
    if (has_any(name, jetson))
        return MODEL_JETSON;
    if (is_vgpu(name))
        return MODEL_VGPU;
    if (has_any(name, server))
        return MODEL_DATA_CENTRE;
    if (has_any(name, professional))
        return MODEL_PROFESSIONAL;
    if (strncmp(name, "NVIDIA ", 7) == 0)
        number += 7;
    for (size_t i = 0; numbers[i]; i++)
        if (strlen(numbers[i]) == strcspn(number, " -") &&
            strncmp(numbers[i], number, strlen(numbers[i])) == 0)
            return MODEL_DATA_CENTRE;
    return MODEL_UNKNOWN;
}

bool gpus_are_geforce(const json_t *gpus)
{
    size_t i;
    const json_t *gpu;
    json_array_foreach(gpus, i, gpu)
    {
        if (model_of(gpu) != MODEL_GEFORCE)
            return false;
    }
    return json_array_size(gpus) > 0;
}

static bool judge_geforce_alone(const struct judge *j)
{
    return gpus_are_geforce(judge_gpus(j));
}

/* A loaded module may not be shown, as in a container: what it has bound shows it. */
static bool judge_has_driver(const struct judge *j)
{
    size_t i;
    const json_t *gpu;
    bool bound = judge_has_module(j, "nvidia");
    json_array_foreach(judge_gpus(j), i, gpu) bound =
        bound || strcmp(fact_word(gpu, "pci", "driver"), "nvidia") == 0;
    return bound;
}

/* The routes by which CUDA itself registers its memory. */
static void judge_models(struct judge *j, const char *route)
{
    static const char *const why[] = {
        [MODEL_PROFESSIONAL] = "a professional GPU: NVIDIA has GPUDirect RDMA on such, not on every model",
        [MODEL_JETSON] = "a Jetson: its driver has another interface for other devices",
        [MODEL_VGPU] = "a virtual GPU: NVIDIA has GPUDirect RDMA on some of them",
        [MODEL_UNKNOWN] = "whether the model has GPUDirect RDMA is not known here",
    };
    size_t i;
    const json_t *gpu;
    json_array_foreach(judge_gpus(j), i, gpu)
    {
        enum model model = model_of(gpu);
        const char *name = fact_word(gpu, "model", NULL);
        if (model == MODEL_DATA_CENTRE)
            continue;
        if (model == MODEL_GEFORCE)
            judge_say(
                j, VERDICT_FAILURE, judge_gpu_name(gpu),
                "use rm-dmabuf, rm-peermem or cuda-nv503c: roce-traffic routes tries all",
                "%s: CUDA gives the memory of a GeForce to no other device: %s is for data-centre GPUs, "
                "and will fail",
                name, route);
        else
            judge_say(j, VERDICT_UNKNOWN, judge_gpu_name(gpu), "roce-traffic routes tries it", "%s: %s",
                      name[0] ? name : "its model was not read", why[model]);
        judge_show(j, "/proc/driver/nvidia/gpus/%s/information, or NVML: \"%s\"", judge_gpu_name(gpu), name);
    }
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
    bool by_cuda = j->wanted->memory == MEMORY_CUDA_DMABUF ||
                   (j->wanted->memory != MEMORY_RM_DMABUF && !judge_geforce_alone(j));
    bool needs_open = by_cuda, loaded = judge_has_module(j, "nvidia_peermem");
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
    /* what loaded modules say is CUDA's, which a GeForce does without */
    bool by_rm = judge_geforce_alone(j) && kernel_has_dmabuf(j) != 0;
    if (!by_rm && (judge_has_module(j, "nvidia_peermem") || first_client(j, &name)))
        judge_peermem(j);
    else if (!by_rm && (json_is_false(open) || kernel_has_dmabuf(j) == 0))
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
    bool by_cuda = j->wanted->memory == MEMORY_CUDA_PEERMEM || j->wanted->memory == MEMORY_CUDA_DMABUF;
    if (judge_no_gpu(j))
        return;
    if (!judge_saw_modules(j))
        judge_say(j, VERDICT_UNKNOWN, "modules", NULL, "the loaded modules were not read");
    else if (judge_given_to_guests(j))
        judge_say(j, VERDICT_UNKNOWN, "guest", "run host-facts --check in the guest",
                  "vfio-pci has the GPUs: a guest's driver registers their memory");
    else if (!judge_has_driver(j))
        judge_say(j, VERDICT_FAILURE, "nvidia", "install the NVIDIA driver, then modprobe nvidia",
                  "the NVIDIA driver is not loaded");
    else if (judge_has_module(j, "nv_peer_mem") && !judge_by_dmabuf(j))
        judge_say(
            j, VERDICT_FAILURE, "nv_peer_mem",
            "systemctl disable --now nv_peer_mem; modprobe -r nv_peer_mem; remove its package; modprobe "
            "nvidia-peermem",
            "the deprecated nv_peer_mem is loaded%s",
            judge_has_module(j, "nvidia_peermem") ? " together with nvidia_peermem: they conflict" : "");
    else if (by_cuda && judge_geforce_alone(j))
        judge_models(j, flow_memory_names[j->wanted->memory]);
    else if (judge_by_dmabuf(j))
        judge_dmabuf(j);
    else if (judge_by_peermem(j))
        judge_peermem(j);
    else
        judge_either(j);
    if (by_cuda && judge_saw_modules(j) && !judge_given_to_guests(j) && !judge_geforce_alone(j))
        judge_models(j, flow_memory_names[j->wanted->memory]);
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
    if (judge_by_dmabuf(j) || judge_no_gpu(j))
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
