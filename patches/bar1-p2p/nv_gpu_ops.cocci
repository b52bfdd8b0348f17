// Page-table entries for a peer reached through BAR1: non-coherent system memory at the peer's BAR1 bus address, in
// place of a peer number that no device has. What was decided for a peer before (volatility) is kept.

@@
type V, G, M;
identifier space, gpu, memory, addresses, count;
expression vol, aperture, encoder, fabric;
expression list decide;
@@
nvGpuOpsBuildExternalAllocPtes(V space, G gpu, M memory, ...)
{
...
  vol = nvGpuOpsGetExternalAllocVolatility(decide);
+ NvU64 peerBar1Address = 0, peerBar1Bytes = 0;
+ if (aperture == GMMU_APERTURE_PEER && memdescGetAddressSpace(memory) == ADDR_FBMEM &&
+     kbusHasPcieBar1P2PMapping_HAL(gpu, GPU_GET_KERNEL_BUS(gpu), memory->pGpu, GPU_GET_KERNEL_BUS(memory->pGpu)))
+ {
+     NV_ASSERT_OK_OR_RETURN(kbusGetBar1P2PDmaInfo_HAL(gpu, memory->pGpu, GPU_GET_KERNEL_BUS(memory->pGpu),
+                                                      &peerBar1Address, &peerBar1Bytes));
+     aperture = GMMU_APERTURE_SYS_NONCOH;
+ }
...
+ for (NvU64 page = 0; page < count; page++)
+     addresses[page] += peerBar1Address;
  kgmmuEncodePhysAddrs(encoder, aperture, addresses, fabric, count);
...
}
