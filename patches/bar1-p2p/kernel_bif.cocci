// Allow peer-to-peer over PCIe, through BAR1, unless the registry sets something else.
// The same without a patch (535 to 570): NVreg_RegistryDwords="ForceP2P=17;RMForceP2PType=2".

@@
expression bif;
@@
- bif->p2pOverride = BIF_P2P_NOT_OVERRIDEN;
+ bif->p2pOverride = DRF_DEF(_REG_STR, _CL_FORCE_P2P, _READ, _ENABLE) |
+                    DRF_DEF(_REG_STR, _CL_FORCE_P2P, _WRITE, _ENABLE);

@@
expression bif;
@@
- bif->forceP2PType = NV_REG_STR_RM_FORCE_P2P_TYPE_DEFAULT;
+ bif->forceP2PType = NV_REG_STR_RM_FORCE_P2P_TYPE_BAR1P2P;
