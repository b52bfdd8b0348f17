#include "traffic/memory/nvidia_rm.h"

#include "lib/files.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- layouts, checked by the compiler */

#define SIZE_IS(type, bytes)        _Static_assert(sizeof(struct type) == (bytes), #type)
#define OFFSET_IS(type, member, at) _Static_assert(offsetof(struct type, member) == (at), #type "." #member)

SIZE_IS(rm_free, 16);
SIZE_IS(rm_alloc, 32);
OFFSET_IS(rm_alloc, class, 12);
OFFSET_IS(rm_alloc, params, 16);
OFFSET_IS(rm_alloc, params_size, 24);
OFFSET_IS(rm_alloc, status, 28);
SIZE_IS(rm_alloc_rights, 48);
OFFSET_IS(rm_alloc_rights, rights, 24);
OFFSET_IS(rm_alloc_rights, params_size, 32);
OFFSET_IS(rm_alloc_rights, flags, 36);
OFFSET_IS(rm_alloc_rights, status, 40);
SIZE_IS(rm_control_call, 32);
OFFSET_IS(rm_control_call, command, 8);
OFFSET_IS(rm_control_call, params, 16);
OFFSET_IS(rm_control_call, status, 28);
SIZE_IS(rm_map, 56);
OFFSET_IS(rm_map, offset, 16);
OFFSET_IS(rm_map, address, 32);
OFFSET_IS(rm_map, status, 40);
OFFSET_IS(rm_map, flags, 44);
OFFSET_IS(rm_map, fd, 48);
SIZE_IS(rm_device_params, 56);
OFFSET_IS(rm_device_params, va_mode, 48);
SIZE_IS(rm_memory_params, 128);
OFFSET_IS(rm_memory_params, attr, 24);
OFFSET_IS(rm_memory_params, size, 64);
OFFSET_IS(rm_memory_params, alignment, 72);
OFFSET_IS(rm_memory_params, numa_node, 120); /* absent in 535 */
SIZE_IS(rm_va_space_params, 56);
OFFSET_IS(rm_va_space_params, big_page_bytes, 32);
OFFSET_IS(rm_va_space_params, va_base, 40);
OFFSET_IS(rm_va_space_params, pasid, 48); /* absent in 570 and earlier */
SIZE_IS(rm_gpu_id_info, 32);
OFFSET_IS(rm_gpu_id_info, device_instance, 8);
OFFSET_IS(rm_gpu_id_info, subdevice_instance, 12);
SIZE_IS(rm_card, 72);
OFFSET_IS(rm_card, domain, 4);
OFFSET_IS(rm_card, gpu_id, 16);
OFFSET_IS(rm_card, minor, 56);
SIZE_IS(rm_register_va_space, 16);
OFFSET_IS(rm_register_va_space, token, 8);
SIZE_IS(rm_register_vidmem, 32);
OFFSET_IS(rm_register_vidmem, address, 8);
OFFSET_IS(rm_register_vidmem, size, 16);
OFFSET_IS(rm_register_vidmem, offset, 24);
SIZE_IS(rm_export_535, 2600);
OFFSET_IS(rm_export_535, total_size, 24);
OFFSET_IS(rm_export_535, handles, 32);
OFFSET_IS(rm_export_535, offsets, 544);
OFFSET_IS(rm_export_535, sizes, 1568);
OFFSET_IS(rm_export_535, status, 2592);
SIZE_IS(rm_export_570, 2608);
OFFSET_IS(rm_export_570, total_size, 24);
OFFSET_IS(rm_export_570, handles, 36);
OFFSET_IS(rm_export_570, offsets, 552);
OFFSET_IS(rm_export_570, sizes, 1576);
OFFSET_IS(rm_export_570, status, 2600);
_Static_assert(_IOWR(RM_IOCTL_TYPE, RM_ESCAPE_ALLOC, struct rm_alloc) == 0xC020462B, "RM_ALLOC's number");
_Static_assert(_IOWR(RM_IOCTL_TYPE, RM_ESCAPE_CONTROL, struct rm_control_call) == 0xC020462A,
               "RM_CONTROL's number");
_Static_assert(_IOWR(RM_IOCTL_TYPE, RM_ESCAPE_EXPORT_TO_DMABUF_FD, struct rm_export_570) == 0xCA3046D9,
               "EXPORT_TO_DMABUF_FD's number");

/* ---- families */

static const struct rm_family rm_families[] = {
    {"535", (const int[]){535, 0}, 120, 48, sizeof(struct rm_export_535)},
    {"545 to 565", (const int[]){545, 550, 555, 560, 565, 0}, 128, 48, sizeof(struct rm_export_535)},
    {"570 to 575", (const int[]){570, 575, 0}, 128, 48, sizeof(struct rm_export_570)},
    {"580 to 595", (const int[]){580, 590, 595, 0}, 128, 56, sizeof(struct rm_export_570)},
    {0},
};

const struct rm_family *rm_family_of(const char *version, struct error *e)
{
    int branch = atoi(version);
    for (const struct rm_family *f = rm_families; f->name; f++)
        for (const int *b = f->branches; *b; b++)
            if (*b == branch)
                return f;
    error_set(e,
              "NVIDIA driver %.30s belongs to a branch whose structures are unknown: known are 535, 545, "
              "550, 555, 560, "
              "565, 570, 575, 580, 590 and 595",
              version);
    return NULL;
}

static size_t version_length(const char *p)
{
    size_t digits = strspn(p, "0123456789");
    size_t length = strspn(p, "0123456789.");
    return digits == 3 && p[digits] == '.' && length > digits + 1 ? length : 0;
}

/* "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  595.45.04  Release Build ...": the first word of
 * that shape. */
int rm_parse_version(const char *text, char *version, size_t size, struct error *e)
{
    for (const char *p = text; *p && *p != '\n'; p++) {
        size_t length = p == text || p[-1] == ' ' ? version_length(p) : 0;
        if (length && length < size) {
            snprintf(version, size, "%.*s", (int)length, p);
            return 0;
        }
    }
    return error_set(e, "no driver version in \"%.80s\"", text);
}

int rm_identify(const char *root, char *version, size_t size, const struct rm_family **family,
                struct error *e)
{
    char path[300];
    snprintf(path, sizeof path, "%s/proc/driver/nvidia/version", root);
    char *text = files_exist(path) ? files_read(path, 4096, NULL, e) : NULL;
    if (!text && !files_exist(path))
        return error_set(e, "no NVIDIA driver is loaded (%s is missing)", path);
    int result = text ? rm_parse_version(text, version, size, e) : -1;
    free(text);
    if (result == 0)
        *family = rm_family_of(version, e);
    return result == 0 && *family ? 0 : -1;
}

/* ---- status */

/* src/common/sdk/nvidia/inc/nvstatuscodes.h: those that the calls here can return. */
static const struct {
    uint32_t code;
    const char *name;
} statuses[] = {
    {0x00, "NV_OK"},
    {0x03, "NV_ERR_BUSY_RETRY"},
    {0x05, "NV_ERR_CARD_NOT_PRESENT"},
    {0x0F, "NV_ERR_GPU_IS_LOST"},
    {0x17, "NV_ERR_IN_USE"},
    {0x1A, "NV_ERR_INSUFFICIENT_RESOURCES"},
    {0x1B, "NV_ERR_INSUFFICIENT_PERMISSIONS"},
    {0x1E, "NV_ERR_INVALID_ADDRESS"},
    {0x1F, "NV_ERR_INVALID_ARGUMENT"},
    {0x22, "NV_ERR_INVALID_CLASS"},
    {0x23, "NV_ERR_INVALID_CLIENT"},
    {0x24, "NV_ERR_INVALID_COMMAND"},
    {0x26, "NV_ERR_INVALID_DEVICE"},
    {0x29, "NV_ERR_INVALID_FLAGS"},
    {0x2E, "NV_ERR_INVALID_LIMIT"},
    {0x31, "NV_ERR_INVALID_OBJECT"},
    {0x33, "NV_ERR_INVALID_OBJECT_HANDLE"},
    {0x34, "NV_ERR_INVALID_OBJECT_NEW"},
    {0x36, "NV_ERR_INVALID_OBJECT_PARENT"},
    {0x37, "NV_ERR_INVALID_OFFSET"},
    {0x38, "NV_ERR_INVALID_OPERATION"},
    {0x3A, "NV_ERR_INVALID_PARAM_STRUCT"},
    {0x3B, "NV_ERR_INVALID_PARAMETER"},
    {0x3D, "NV_ERR_INVALID_POINTER"},
    {0x40, "NV_ERR_INVALID_STATE"},
    {0x51, "NV_ERR_NO_MEMORY"},
    {0x55, "NV_ERR_NOT_READY"},
    {0x56, "NV_ERR_NOT_SUPPORTED"},
    {0x57, "NV_ERR_OBJECT_NOT_FOUND"},
    {0x58, "NV_ERR_OBJECT_TYPE_MISMATCH"},
    {0x59, "NV_ERR_OPERATING_SYSTEM"},
    {0x5B, "NV_ERR_OUT_OF_RANGE"},
    {0x5E, "NV_ERR_PID_NOT_FOUND"},
    {0x5F, "NV_ERR_PROTECTION_FAULT"},
    {0x62, "NV_ERR_RESET_REQUIRED"},
    {0x63, "NV_ERR_STATE_IN_USE"},
    {0x65, "NV_ERR_TIMEOUT"},
    {0x6A, "NV_ERR_LIB_RM_VERSION_MISMATCH"},
    {0x6D, "NV_ERR_FEATURE_NOT_ENABLED"},
    {0xFFFF, "NV_ERR_GENERIC"},
};

const char *rm_status_name(uint32_t status)
{
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++)
        if (statuses[i].code == status)
            return statuses[i].name;
    return "an unlisted status";
}

static int status_error(struct error *e, const char *what, uint32_t status)
{
    return error_set(e, "%s: the resource manager returned %s (0x%X)", what, rm_status_name(status), status);
}

/* ---- calls */

#define RM_IOCTL(escape, bytes) _IOC(_IOC_READ | _IOC_WRITE, RM_IOCTL_TYPE, escape, bytes)

/* The ioctl itself, not through the function of nvidia_hook.c, which records CUDA's objects. */
static int call(int fd, unsigned escape, void *argument, size_t bytes, const char *what, struct error *e)
{
    int result;
    do
        result = (int)syscall(SYS_ioctl, fd, RM_IOCTL(escape, bytes), argument);
    while (result < 0 && errno == EINTR);
    return result < 0 ? error_set_errno(e, errno, "%s", what) : 0;
}

/* On any control descriptor, including CUDA's. `what` is for the sentence: "making a third-party P2P
 * object". */
static int rm_alloc_object(int fd, uint32_t client, uint32_t parent, uint32_t class, void *params,
                           uint32_t params_size, uint32_t *object, const char *what, struct error *e)
{
    struct rm_alloc a = {.root = client,
                         .parent = parent,
                         .class = class,
                         .params = (uintptr_t)params,
                         .params_size = params_size};
    if (call(fd, RM_ESCAPE_ALLOC, &a, sizeof a, what, e) != 0)
        return -1;
    if (a.status != 0)
        return status_error(e, what, a.status);
    *object = a.object;
    return 0;
}

static int rm_control(int fd, uint32_t client, uint32_t object, uint32_t command, void *params,
                      uint32_t params_size, const char *what, struct error *e)
{
    struct rm_control_call c = {.client = client,
                                .object = object,
                                .command = command,
                                .params = (uintptr_t)params,
                                .params_size = params_size};
    if (call(fd, RM_ESCAPE_CONTROL, &c, sizeof c, what, e) != 0)
        return -1;
    return c.status == 0 ? 0 : status_error(e, what, c.status);
}

static void rm_free_object(int fd, uint32_t client, uint32_t parent, uint32_t object)
{
    struct rm_free f = {.root = client, .parent = parent, .object = object};
    call(fd, RM_ESCAPE_FREE, &f, sizeof f, "freeing an object", NULL);
}

/* ---- opening a GPU */

/* /proc/driver/nvidia/gpus/0000:06:00.0/information has a line "Device Minor: \t 0". */
static int minor_of_address(const char *root, const char *address, int *minor, struct error *e)
{
    char path[400];
    snprintf(path, sizeof path, "%s/proc/driver/nvidia/gpus/%.60s/information", root, address);
    char *text = files_read(path, 8192, NULL, e);
    if (!text)
        return error_prefix(e, "--gpu %.60s is not the number or PCI address of a GPU on this host", address);
    const char *line = strstr(text, "Device Minor:");
    if (line)
        *minor = atoi(line + strlen("Device Minor:"));
    free(text);
    return line ? 0 : error_set(e, "%s contains no \"Device Minor\"", path);
}

static int find_minor(const char *root, const char *gpu, int *minor, struct error *e)
{
    *minor = gpu ? atoi(gpu) : 0;
    if (!gpu || (strspn(gpu, "0123456789") == strlen(gpu) && *minor >= 0 && *minor < 256))
        return 0;
    return minor_of_address(root, gpu, minor, e);
}

static int open_node(const char *root, const char *name, struct error *e)
{
    char path[300];
    snprintf(path, sizeof path, "%s/dev/%s", root, name);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    return fd >= 0 ? fd : error_set_errno(e, errno, "opening %s (nvidia-modprobe creates it)", path);
}

/* A descriptor of the GPU that belongs to this client. */
static int open_device_node(const struct rm *rm, struct error *e)
{
    char name[20];
    int32_t control = rm->control_fd;
    snprintf(name, sizeof name, "nvidia%d", rm->minor);
    int fd = open_node(rm->root, name, e);
    if (fd >= 0 && call(fd, RM_ESCAPE_REGISTER_FD, &control, sizeof control,
                        "registering the GPU with the client", e) != 0) {
        close(fd);
        return -1;
    }
    return fd;
}

static int find_gpu_id(const struct rm *rm, uint32_t *gpu_id, struct error *e)
{
    struct rm_card cards[RM_MAX_CARDS];
    memset(cards, 0, sizeof cards);
    if (call(rm->control_fd, RM_ESCAPE_CARD_INFO, cards, sizeof cards, "listing GPUs", e) != 0)
        return -1;
    for (size_t i = 0; i < RM_MAX_CARDS; i++) {
        if (cards[i].valid && cards[i].minor == (uint32_t)rm->minor) {
            *gpu_id = cards[i].gpu_id;
            return 0;
        }
    }
    return error_set(e, "the driver reports no GPU with the minor number %d", rm->minor);
}

/* Client, device and subdevice of the GPU that is open. */
static int make_objects(struct rm *rm, struct error *e)
{
    struct rm_gpu_id_info info = {0};
    struct rm_device_params device = {0};
    uint32_t subdevice = 0;
    if (rm_alloc_object(rm->control_fd, 0, 0, RM_CLASS_CLIENT, NULL, 0, &rm->client, "creating a client",
                        e) != 0 ||
        (rm->device_fd = open_device_node(rm, e)) < 0 || find_gpu_id(rm, &info.gpu_id, e) != 0 ||
        rm_control(rm->control_fd, rm->client, rm->client, RM_CONTROL_GPU_ID_INFO, &info, sizeof info,
                   "reading the GPU's instance", e) != 0)
        return -1;
    device.device_id = info.device_instance;
    device.client_share = rm->client;
    subdevice = info.subdevice_instance;
    if (rm_alloc_object(rm->control_fd, rm->client, rm->client, RM_CLASS_DEVICE, &device, sizeof device,
                        &rm->device, "creating a device", e) != 0)
        return -1;
    return rm_alloc_object(rm->control_fd, rm->client, rm->device, RM_CLASS_SUBDEVICE, &subdevice,
                           sizeof subdevice, &rm->subdevice, "creating a subdevice", e);
}

int rm_open(struct rm *rm, const char *root, const char *gpu, struct error *e)
{
    *rm = (struct rm){.root = root, .control_fd = -1, .device_fd = -1};
    if (rm_identify(root, rm->version, sizeof rm->version, &rm->family, e) != 0 ||
        find_minor(root, gpu, &rm->minor, e) != 0 || (rm->control_fd = open_node(root, "nvidiactl", e)) < 0 ||
        make_objects(rm, e) != 0) {
        rm_close(rm);
        return -1;
    }
    return 0;
}

/* The kernel would free a client's objects when its descriptor is closed; here the client is freed
 * explicitly, with its children. */
void rm_close(struct rm *rm)
{
    if (rm->client)
        rm_free_object(rm->control_fd, rm->client, 0, rm->client);
    if (rm->device_fd >= 0)
        close(rm->device_fd);
    if (rm->control_fd >= 0)
        close(rm->control_fd);
    *rm = (struct rm){.control_fd = -1, .device_fd = -1};
}

/* ---- memory */

int rm_allocate_memory(struct rm *rm, uint64_t bytes, uint32_t *memory, struct error *e)
{
    struct rm_memory_params params = {.owner = rm->client,
                                      .flags = RM_ALLOC_ALIGNED | RM_ALLOC_NO_MAPPING,
                                      .attr = RM_ATTR_PAGES_BIG | RM_ATTR_NONCONTIGUOUS,
                                      .size = bytes,
                                      .alignment = RM_P2P_ALIGN_BYTES};
    return rm_alloc_object(rm->control_fd, rm->client, rm->device, RM_CLASS_LOCAL_MEMORY, &params,
                           rm->family->memory_params_bytes, memory, "allocating video memory", e);
}

int rm_allocate_va_space(const struct rm *rm, uint32_t *va_space, struct error *e)
{
    struct rm_va_space_params params = {.index = 0}; /* a new one */
    return rm_alloc_object(rm->control_fd, rm->client, rm->device, RM_CLASS_VASPACE, &params,
                           rm->family->va_space_params_bytes, va_space, "creating an address space", e);
}

static const char export_what[] = "exporting video memory as a dma-buf";

static int export_535(const struct rm *rm, uint32_t memory, uint64_t bytes, struct error *e)
{
    struct rm_export_535 x = {
        .fd = -1, .client = rm->client, .total_objects = 1, .objects = 1, .total_size = bytes};
    x.handles[0] = memory;
    x.sizes[0] = bytes;
    if (call(rm->device_fd, RM_ESCAPE_EXPORT_TO_DMABUF_FD, &x, sizeof x, export_what, e) != 0)
        return -1;
    return x.status == 0 ? x.fd : status_error(e, export_what, x.status);
}

static int export_570(const struct rm *rm, uint32_t memory, uint64_t bytes, struct error *e)
{
    struct rm_export_570 x = {
        .fd = -1, .client = rm->client, .total_objects = 1, .objects = 1, .total_size = bytes};
    x.handles[0] = memory;
    x.sizes[0] = bytes;
    if (call(rm->device_fd, RM_ESCAPE_EXPORT_TO_DMABUF_FD, &x, sizeof x, export_what, e) != 0)
        return -1;
    return x.status == 0 ? x.fd : status_error(e, export_what, x.status);
}

int rm_export_dmabuf(struct rm *rm, uint32_t memory, uint64_t bytes, struct error *e)
{
    return rm->family->export_bytes == sizeof(struct rm_export_535) ? export_535(rm, memory, bytes, e)
                                                                    : export_570(rm, memory, bytes, e);
}

/* The mapping is prepared on a separate descriptor, which is then passed to mmap; the mapping keeps it
 * alive. */
void *rm_map(struct rm *rm, uint32_t memory, uint64_t bytes, struct error *e)
{
    int fd = open_device_node(rm, e);
    if (fd < 0)
        return NULL;
    struct rm_map m = {
        .client = rm->client, .device = rm->device, .memory = memory, .length = bytes, .fd = fd};
    void *address = MAP_FAILED;
    if (call(rm->control_fd, RM_ESCAPE_MAP_MEMORY, &m, sizeof m, "mapping video memory", e) == 0) {
        if (m.status != 0)
            status_error(e, "mapping video memory", m.status);
        else if ((address = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)) == MAP_FAILED)
            error_set_errno(e, errno, "mapping video memory");
    }
    close(fd);
    return address == MAP_FAILED ? NULL : address;
}

/* ---- the third-party P2P object */

int p2p_make(struct p2p *p, uint32_t va_space, struct error *e)
{
    uint32_t flags = RM_P2P_TYPE_BAR1;
    struct rm_register_va_space space = {.va_space = va_space};
    if (rm_alloc_object(p->fd, p->client, p->subdevice, RM_CLASS_THIRD_PARTY_P2P, &flags, sizeof flags,
                        &p->object, "creating a third-party P2P object (class 0x503C)", e) != 0)
        return -1;
    p->own = true;
    if (rm_control(p->fd, p->client, p->object, RM_CONTROL_P2P_REGISTER_VA_SPACE, &space, sizeof space,
                   "registering the address space with the third-party P2P object", e) == 0)
        return 0;
    p2p_release(p);
    return -1;
}

int p2p_register(const struct p2p *p, uint32_t memory, uint64_t address, uint64_t bytes, struct error *e)
{
    struct rm_register_vidmem vidmem = {.memory = memory, .address = address, .size = bytes};
    return rm_control(p->fd, p->client, p->object, RM_CONTROL_P2P_REGISTER_VIDMEM, &vidmem, sizeof vidmem,
                      "registering the memory with the third-party P2P object", e);
}

void p2p_unregister(const struct p2p *p, uint32_t memory)
{
    rm_control(p->fd, p->client, p->object, RM_CONTROL_P2P_UNREGISTER_VIDMEM, &memory, sizeof memory,
               "unregistering the memory", NULL);
}

void p2p_release(struct p2p *p)
{
    if (p->own)
        rm_free_object(p->fd, p->client, p->subdevice, p->object);
    *p = (struct p2p){.fd = -1};
}
