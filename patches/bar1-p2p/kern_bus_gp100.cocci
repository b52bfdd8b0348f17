// The chips from Pascal to Ada dispatch peer mappings here and know NVLink and the mailbox only:
// check for the BAR1 connection type first.

@@
type G, B, P, A;
identifier gpu0, bus0, gpu1, bus1, peer0, peer1, attributes;
statement S;
@@
kbusCreateP2PMapping_GP100(G gpu0, B bus0, G gpu1, B bus1, P peer0, P peer1, A attributes)
{
+   if (FLD_TEST_DRF(_P2PAPI, _ATTRIBUTES, _CONNECTION_TYPE, _PCIE_BAR1, attributes))
+       return kbusCreateP2PMappingForBar1P2P_HAL(gpu0, bus0, gpu1, bus1, attributes);
    S
    ...
}

@@
type G, B, P, A;
identifier gpu0, bus0, gpu1, bus1, peer0, peer1, attributes;
statement S;
@@
kbusRemoveP2PMapping_GP100(G gpu0, B bus0, G gpu1, B bus1, P peer0, P peer1, A attributes)
{
+   if (FLD_TEST_DRF(_P2PAPI, _ATTRIBUTES, _CONNECTION_TYPE, _PCIE_BAR1, attributes))
+       return kbusRemoveP2PMappingForBar1P2P_HAL(gpu0, bus0, gpu1, bus1, attributes);
    S
    ...
}
