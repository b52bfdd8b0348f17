// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Each row of model/layout/ is what the kernel's own description of the interface says, or the module does
 * not compile. The rows are those of Linux 6.1; later, fields grew at their upper ends (mkc.log_page_size,
 * ppcnt_reg.prio_tc in 6.12), so that only their lower ends agree.
 */
#include <linux/mlx5/driver.h>
#include <linux/mlx5/mlx5_ifc.h>
#include <linux/version.h>

#define BITS(structure) struct mlx5_ifc_##structure##_bits
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 2, 0)
#define CHECK(structure, path, offset, width)                                         \
    static_assert(offsetof(BITS(structure), path) == (offset), #structure "." #path); \
    static_assert(sizeof_field(BITS(structure), path) == (width), #structure "." #path);
#else
#define dwords dword_0 /* of mcia_reg */
#define CHECK(structure, path, offset, width)                                                      \
    static_assert(offsetofend(BITS(structure), path) == (offset) + (width), #structure "." #path); \
    static_assert(sizeof_field(BITS(structure), path) >= (width), #structure "." #path);
#endif

#define F(structure, field, offset, width)       CHECK(structure, field, offset, width)
#define P(structure, field, path, offset, width) CHECK(structure, path, offset, width)
#define S(structure, field, offset) \
    static_assert(offsetof(BITS(structure), field) == (offset), #structure "." #field);

#include "virtual-connectx/model/layout/capabilities.def"
#include "virtual-connectx/model/layout/commands.def"
#include "virtual-connectx/model/layout/contexts.def"
#include "virtual-connectx/model/layout/registers.def"
