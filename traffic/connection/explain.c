#include "traffic/connection/explain.h"

#include "lib/files.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

/* ---- work completions */

/* Meanings: InfiniBand Architecture Specification, volume 1, section 11.6.2 (completion return status). */
static const struct {
    const char *name, *cause;
} completions[] = {
#define STATUS(status, text) [status] = {#status, text}
    STATUS(IBV_WC_SUCCESS, "done"),
    STATUS(IBV_WC_LOC_LEN_ERR,
           "a message did not fit into the receive buffer, or exceeds the device's limit"),
    STATUS(IBV_WC_LOC_QP_OP_ERR, "the queue pair found its own work request inconsistent"),
    STATUS(IBV_WC_LOC_EEC_OP_ERR, "inconsistent end-to-end context"),
    STATUS(IBV_WC_LOC_PROT_ERR,
           "the local memory is not covered by the registration any more (GPU memory freed, or "
           "its driver reset?)"),
    STATUS(IBV_WC_WR_FLUSH_ERR, "the queue pair was closed before this work request was completed: the other "
                                "side disconnected or died, or an earlier error occurred"),
    STATUS(IBV_WC_MW_BIND_ERR, "memory window binding"),
    STATUS(IBV_WC_BAD_RESP_ERR, "the responder sent an answer that was not requested"),
    STATUS(IBV_WC_LOC_ACCESS_ERR, "the local registration does not permit the access"),
    STATUS(IBV_WC_REM_INV_REQ_ERR,
           "the responder finds the request invalid: a receive buffer too small, or too many reads "
           "at once"),
    STATUS(IBV_WC_REM_ACCESS_ERR,
           "the responder refuses the access: wrong remote key or address, or its registration has "
           "gone"),
    STATUS(IBV_WC_REM_OP_ERR, "the responder had an internal error: its memory could not be accessed"),
    STATUS(IBV_WC_RETRY_EXC_ERR,
           "no acknowledgement after all retries: the other side died, a link is down, packets are "
           "dropped (MTU of a switch too small, PFC or ECN not set up), or the GID or VLAN leads "
           "nowhere"),
    STATUS(IBV_WC_RNR_RETRY_EXC_ERR,
           "the receiver still had no receive posted (RNR) after all retries: raise --receive-depth, or "
           "--rnr-retries 7 to wait without limit"),
    STATUS(IBV_WC_LOC_RDD_VIOL_ERR, "reliable datagram domain"),
    STATUS(IBV_WC_REM_INV_RD_REQ_ERR, "the responder refuses the reliable datagram"),
    STATUS(IBV_WC_REM_ABORT_ERR, "the responder aborted"),
    STATUS(IBV_WC_INV_EECN_ERR, "invalid end-to-end context number"),
    STATUS(IBV_WC_INV_EEC_STATE_ERR, "invalid end-to-end context state"),
    STATUS(IBV_WC_FATAL_ERR, "the device reports a fatal error: look at dmesg"),
    STATUS(IBV_WC_RESP_TIMEOUT_ERR, "the responder took too long"),
    STATUS(IBV_WC_GENERAL_ERR, "the transport failed in another way: look at dmesg"),
#undef STATUS
};

#define KNOWN_COMPLETIONS (sizeof completions / sizeof *completions)

const char *completion_name(enum ibv_wc_status status)
{
    return (size_t)status < KNOWN_COMPLETIONS ? completions[status].name : "unknown status";
}

const char *completion_cause(enum ibv_wc_status status)
{
    return (size_t)status < KNOWN_COMPLETIONS ? completions[status].cause : "look at dmesg";
}

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
