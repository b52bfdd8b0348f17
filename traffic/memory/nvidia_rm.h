/*
 * NVIDIA's resource manager, used with ioctls on /dev/nvidiactl and /dev/nvidiaN, without CUDA.
 *
 * Numbers, structures and offsets are those of NVIDIA/open-gpu-kernel-modules
 * (src/common/sdk/nvidia/inc/nvos.h, class/, ctrl/; src/nvidia/arch/nvalloc/unix/include/nv-ioctl*.h), the
 * same in the closed modules. They were compared with the headers of all 144 releases from 535.43.02 to
 * 595.45.04; three structures differ between them, which results in four families. Any other driver is
 * refused, because its structures may differ without an error.
 */
#ifndef TRAFFIC_NVIDIA_RM_H
#define TRAFFIC_NVIDIA_RM_H

#include "lib/error.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>

/* ---- ioctl numbers and structures */

#define RM_IOCTL_TYPE 'F'
enum rm_escape {
    RM_ESCAPE_FREE = 0x29,
    RM_ESCAPE_CONTROL = 0x2A,
    RM_ESCAPE_ALLOC = 0x2B,
    RM_ESCAPE_MAP_MEMORY = 0x4E,
    RM_ESCAPE_UNMAP_MEMORY = 0x4F,
    RM_ESCAPE_CARD_INFO = 0xC8,
    RM_ESCAPE_REGISTER_FD = 0xC9,
    RM_ESCAPE_EXPORT_TO_DMABUF_FD = 0xD9, /* on /dev/nvidiaN */
};

enum rm_class {
    RM_CLASS_CLIENT = 0x41,
    RM_CLASS_DEVICE = 0x80,
    RM_CLASS_SUBDEVICE = 0x2080,
    RM_CLASS_LOCAL_MEMORY = 0x40,
    RM_CLASS_VASPACE = 0x90F1,
    RM_CLASS_THIRD_PARTY_P2P = 0x503C,
};

enum rm_control {
    RM_CONTROL_GPU_ID_INFO = 0x205,
    RM_CONTROL_P2P_REGISTER_VA_SPACE = 0x503C0102,
    RM_CONTROL_P2P_UNREGISTER_VA_SPACE = 0x503C0103,
    RM_CONTROL_P2P_REGISTER_VIDMEM = 0x503C0104,
    RM_CONTROL_P2P_UNREGISTER_VIDMEM = 0x503C0105,
};

#define RM_P2P_TYPE_BAR1      1          /* NV503C_ALLOC_PARAMETERS_FLAGS_TYPE */
#define RM_P2P_ALIGN_BYTES    (64 << 10) /* address, size and offset of REGISTER_VIDMEM */
#define RM_ALLOC_ALIGNED      0x00000100 /* NVOS32_ALLOC_FLAGS_ALIGNMENT_FORCE */
#define RM_ALLOC_NO_MAPPING   0x00008000 /* NVOS32_ALLOC_FLAGS_MAP_NOT_REQUIRED */
#define RM_ATTR_PAGES_BIG     (2U << 23) /* NVOS32_ATTR_PAGE_SIZE_BIG: 64 KiB */
#define RM_ATTR_NONCONTIGUOUS (3U << 27) /* NVOS32_ATTR_PHYSICALITY_ALLOW_NONCONTIGUOUS */
#define RM_MAX_CARDS          32
#define RM_EXPORT_MAX         128

struct rm_free { /* NVOS00_PARAMETERS */
    uint32_t root, parent, object, status;
};

struct rm_alloc { /* NVOS21_PARAMETERS */
    uint32_t root, parent, object, class;
    uint64_t params;
    uint32_t params_size, status;
};

struct rm_alloc_rights { /* NVOS64_PARAMETERS: used by CUDA; the driver distinguishes the two by their size */
    uint32_t root, parent, object, class;
    uint64_t params, rights;
    uint32_t params_size, flags, status, padding;
};

struct rm_control_call { /* NVOS54_PARAMETERS */
    uint32_t client, object, command, flags;
    uint64_t params;
    uint32_t params_size, status;
};

struct rm_map { /* nv_ioctl_nvos33_parameters_with_fd */
    uint32_t client, device, memory, padding0;
    uint64_t offset, length, address;
    uint32_t status, flags;
    int32_t fd;
    uint32_t padding1;
};

struct rm_device_params { /* NV0080_ALLOC_PARAMETERS */
    uint32_t device_id, client_share, target_client, target_device, flags, padding0;
    uint64_t va_size, va_start, va_limit;
    uint32_t va_mode, padding1;
};

struct rm_memory_params { /* NV_MEMORY_ALLOCATION_PARAMS; the last member is missing in 535 */
    uint32_t owner, type, flags, width, height;
    int32_t pitch;
    uint32_t attr, attr2, format, compression, zcull, padding0;
    uint64_t range_low, range_high, size, alignment, offset, limit, address;
    uint32_t compression_tag, va_space, internal_flags, tag;
    int32_t numa_node;
    uint32_t padding1;
};

struct rm_va_space_params { /* NV_VASPACE_ALLOCATION_PARAMETERS; the last member is new in 580 */
    uint32_t index, flags;
    uint64_t va_size, va_start, va_limit;
    uint32_t big_page_bytes, padding0;
    uint64_t va_base;
    uint32_t pasid, padding1;
};

struct rm_gpu_id_info { /* NV0000_CTRL_GPU_GET_ID_INFO_V2_PARAMS */
    uint32_t gpu_id, gpu_flags, device_instance, subdevice_instance, sli_status, board_id, gpu_instance;
    int32_t numa_id;
};

struct rm_card { /* nv_ioctl_card_info_t */
    uint8_t valid, padding0[3];
    uint32_t domain;
    uint8_t bus, slot, function, padding1;
    uint16_t vendor, device;
    uint32_t gpu_id;
    uint16_t interrupt_line, padding2;
    uint64_t registers_address, registers_size, frame_buffer_address, frame_buffer_size;
    uint32_t minor;
    uint8_t name[10], padding3[2];
};

struct rm_register_va_space { /* NV503C_CTRL_REGISTER_VA_SPACE_PARAMS */
    uint32_t va_space, padding;
    uint64_t token;
};

struct rm_register_vidmem { /* NV503C_CTRL_REGISTER_VIDMEM_PARAMS */
    uint32_t memory, padding;
    uint64_t address, size, offset;
};

struct rm_export_535 { /* nv_ioctl_export_to_dma_buf_fd_t, 535 to 565 */
    int32_t fd;
    uint32_t client, total_objects, objects, index, padding0;
    uint64_t total_size;
    uint32_t handles[RM_EXPORT_MAX];
    uint64_t offsets[RM_EXPORT_MAX], sizes[RM_EXPORT_MAX];
    uint32_t status, padding1;
};

struct rm_export_570 { /* the same with a mapping type, 570 on */
    int32_t fd;
    uint32_t client, total_objects, objects, index, padding0;
    uint64_t total_size;
    uint8_t mapping_type, padding1[3];
    uint32_t handles[RM_EXPORT_MAX], padding2;
    uint64_t offsets[RM_EXPORT_MAX], sizes[RM_EXPORT_MAX];
    uint32_t status, padding3;
};

/* ---- families of driver versions */

struct rm_family {
    const char *name;
    const int *branches; /* first numbers of the versions, ended by 0 */
    uint32_t memory_params_bytes, va_space_params_bytes, export_bytes;
};

/* The family of a version such as "570.133.20", or NULL with a sentence that names it. */
const struct rm_family *rm_family_of(const char *version, struct error *e);
/* The version in the text of /proc/driver/nvidia/version. */
int rm_parse_version(const char *text, char *version, size_t size, struct error *e);
/* "NV_ERR_NOT_SUPPORTED", or "an unlisted status". */
const char *rm_status_name(uint32_t status);

/* ---- calls */

/* A client of the resource manager with one GPU opened. */
struct rm {
    const char *root; /* prefix of /dev and /proc */
    const struct rm_family *family;
    char version[32];
    int control_fd, device_fd;
    int minor;
    uint32_t client, device, subdevice;
};

/* Read the running driver's version and its family. */
int rm_identify(const char *root, char *version, size_t size, const struct rm_family **family,
                struct error *e);
/* Open GPU `gpu` ("0", a PCI address, NULL: the first) and create client, device and subdevice. */
int rm_open(struct rm *rm, const char *root, const char *gpu, struct error *e);
void rm_close(struct rm *rm);

int rm_allocate_memory(struct rm *rm, uint64_t bytes, uint32_t *memory, struct error *e);
/* A dma-buf of the whole memory object: a file descriptor, or -1. */
int rm_export_dmabuf(struct rm *rm, uint32_t memory, uint64_t bytes, struct error *e);
/* An address space with the driver's default size and without mappings. */
int rm_allocate_va_space(const struct rm *rm, uint32_t *va_space, struct error *e);
/* The CPU's view through BAR1. */
void *rm_map(struct rm *rm, uint32_t memory, uint64_t bytes, struct error *e);

/* ---- the third-party P2P object */

/*
 * The third-party P2P object (class 0x503C, NV503C): with it nvidia-peermem finds, by process and address,
 * the video memory that a NIC may access. There is one per subdevice. One address space and every memory must
 * be registered with it. The kernel requires no mapping at the registered address
 * (src/nvidia/src/kernel/gpu/bus/third_party_p2p.c).
 */
struct p2p {
    int fd; /* a control descriptor of the client */
    uint32_t client, subdevice, object;
    bool own; /* created here; else CUDA's */
};

/* Create the object under a subdevice and register the address space. On failure nothing is left. */
int p2p_make(struct p2p *p, uint32_t va_space, struct error *e);
/* Register `bytes` of memory at `address`; both multiples of RM_P2P_ALIGN_BYTES. */
int p2p_register(const struct p2p *p, uint32_t memory, uint64_t address, uint64_t bytes, struct error *e);
void p2p_unregister(const struct p2p *p, uint32_t memory);
/* Free the object with its registrations, but not CUDA's object. */
void p2p_release(struct p2p *p);

#endif
