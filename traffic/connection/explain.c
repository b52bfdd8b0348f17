#include "traffic/connection/explain.h"

#include "lib/files.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

/* ---- registration */

static bool module_loaded(const struct memory *memory, const char *name)
{
    char path[300];
    snprintf(path, sizeof path, "%s/sys/module/%s", memory->system->root, name);
    return files_exist(path);
}

static const char *peermem_cause(const struct memory *memory, int number, char *text, size_t size)
{
    if (!module_loaded(memory, "nvidia_peermem"))
        snprintf(
            text, size,
            "nvidia-peermem is not loaded: modprobe nvidia-peermem (it needs MLNX_OFED or DOCA, installed "
            "before the GPU driver)");
    else if (module_loaded(memory, "nv_peer_mem"))
        snprintf(text, size,
                 "the deprecated nv_peer_mem is loaded together with nvidia-peermem: stop its service and "
                 "unload it");
    else if (number == EFAULT)
        snprintf(text, size,
                 "nvidia-peermem is loaded but does not know this address: the GPU driver registers no "
                 "third-party P2P object for it (GeForce), or nvidia-peermem lacks the persistent calls "
                 "(patches/, drivers 560 to 575)");
    else
        snprintf(
            text, size,
            "BAR1 may be too small for the registered memory (nvidia-smi -q -d MEMORY shows it; 36 MiB are "
            "reserved), or IOMMU or topology checks refuse");
    return text;
}

static const char *dmabuf_cause(int number, char *text, size_t size)
{
    if (number == EOPNOTSUPP || number == ENOTTY || number == ENOSYS)
        snprintf(text, size,
                 "this NIC's driver cannot register dma-bufs: it needs Linux 5.12, mlx5 and "
                 "CONFIG_INFINIBAND_ON_DEMAND_PAGING");
    else if (number == ENOMEM || number == EINVAL)
        snprintf(
            text, size,
            "BAR1 may be too small for the registered memory (nvidia-smi -q -d MEMORY shows it; 36 MiB are "
            "reserved), or the IOMMU refuses peer-to-peer mappings (iommu=pt)");
    else
        snprintf(text, size, "the GPU driver refused to map the buffer for the NIC: look at dmesg");
    return text;
}

static const char *host_cause(int number, char *text, size_t size)
{
    struct rlimit limit = {0};
    getrlimit(RLIMIT_MEMLOCK, &limit);
    if (number == ENOMEM && limit.rlim_cur != RLIM_INFINITY)
        snprintf(
            text, size,
            "the limit on locked memory is %llu bytes: ulimit -l unlimited, or LimitMEMLOCK= of the service",
            (unsigned long long)limit.rlim_cur);
    else if (number == ENOMEM)
        snprintf(
            text, size,
            "the device or the host is out of resources: use fewer queue pairs, slots or smaller messages");
    else
        snprintf(text, size, "the device refuses these access rights or this memory");
    return text;
}

int explain_registration(struct error *e, int number, const struct memory *memory, const char *call)
{
    char cause[400];
    int kind = memory->back_end->kind;
    if (kind == MEMORY_HOST)
        host_cause(number, cause, sizeof cause);
    else if (kind == MEMORY_RM_DMABUF || kind == MEMORY_CUDA_DMABUF)
        dmabuf_cause(number, cause, sizeof cause);
    else
        peermem_cause(memory, number, cause, sizeof cause);
    return error_set(e, "%s of %" PRId64 " bytes of %s memory failed: %s (errno %d); %s", call, memory->bytes,
                     memory->back_end->name, strerror(number), number, cause);
}

/* ---- queue pairs */

int explain_modify(struct error *e, int number, const char *state, const char *peer_gid)
{
    const char *cause = "the device refuses the attributes";
    if (number == ETIMEDOUT || number == EHOSTUNREACH || number == ENETUNREACH || number == ENODEV)
        cause = "the address cannot be resolved: is it on this network, does it answer ping, is the right "
                "GID index used "
                "(RoCE v2) on both sides?";
    else if (number == EINVAL)
        cause = "wrong GID index for this port, a GID of another type than the other side's, or a path MTU "
                "above the "
                "active one";
    return error_set(e, "moving a queue pair to %s, peer GID %s: %s (errno %d); %s", state, peer_gid,
                     strerror(number), number, cause);
}
