#!/bin/bash
# small_tree FOLDER VERSION. Sourced by tests.
# A tree with as much of a driver as the patches look at, in our own words; its makefiles check syntax.
small_tree() {
    local tree=$1 version=$2
    local rm=$tree/src/nvidia
    mkdir -p "$rm"/{generated,src/kernel/rmapi,src/kernel/gpu/bif,src/kernel/gpu/bus/arch/pascal} "$tree/kernel-open/nvidia-peermem"
    echo "NVIDIA_VERSION = $version" >"$tree/version.mk"
    cat >"$rm/src/kernel/gpu/bif/kernel_bif.c" <<'C'
void settings(struct bif *b)
{
    b->p2pOverride = BIF_P2P_NOT_OVERRIDEN;
    read_registry(b);
    b->forceP2PType = NV_REG_STR_RM_FORCE_P2P_TYPE_DEFAULT;
}
C
    cat >"$rm/src/kernel/gpu/bus/arch/pascal/kern_bus_gp100.c" <<'C'
int kbusCreateP2PMapping_GP100(OBJGPU *g, KernelBus *b, OBJGPU *h, KernelBus *c, NvU32 *p, NvU32 *q, NvU32 how)
{
    if (how)
        return mailbox(g, b, h, c, p, q, how);
    return -1;
}
int kbusRemoveP2PMapping_GP100(OBJGPU *g, KernelBus *b, OBJGPU *h, KernelBus *c, NvU32 p, NvU32 q, NvU32 how)
{
    if (how)
        return no_mailbox(g, b, h, c, p, q, how);
    return -1;
}
C
    {
        echo 'void fill(struct bus *t) {'
        for name in GetBar1P2PDmaInfo CreateP2PMappingForBar1P2P RemoveP2PMappingForBar1P2P HasPcieBar1P2PMapping \
            IsPcieBar1P2PMappingSupported; do
            echo "    if (hopper)"
            echo "        t->__kbus${name}__ = &kbus${name}_GH100;"
            echo "    else"
            echo "        t->__kbus${name}__ = &kbus${name}_0123af;"
        done
        echo '}'
    } >"$rm/generated/g_kern_bus_nvoc.c"
    cat >"$rm/src/kernel/rmapi/nv_gpu_ops.c" <<'C'
int nvGpuOpsBuildExternalAllocPtes(VAS *s, OBJGPU *g, MEMORY *m, int more)
{
    vol = nvGpuOpsGetExternalAllocVolatility(m, ap, more);
    fill(pages, n);
    kgmmuEncodePhysAddrs(mmu, ap, pages, base, n);
    return vol;
}
C
    cat >"$tree/kernel-open/nvidia-peermem/nvidia-peermem.c" <<'C'
static void forget(void *data) { free(data); }
static int nv_mem_acquire(long address, long bytes)
{
    if (nvidia_p2p_get_pages(0, 0, address, bytes, &table, forget, context) < 0)
        return 0;
    if (nvidia_p2p_put_pages(0, 0, address, table) < 0)
        return 0;
    return 1;
}
C
    # an object "compiles" unless a header says otherwise
    printf '%%.o:\n\t@! grep -rl "does not compile" --include "*.h" .\n' >"$rm/Makefile"
    printf 'modules:\n\t@! grep -rl "does not compile" --include "*.h" .\n' >"$tree/kernel-open/Makefile"
}
