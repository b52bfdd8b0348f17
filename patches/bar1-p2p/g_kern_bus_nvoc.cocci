// The table of chip functions: use the BAR1 functions written for GH100 for every chip. The generator names a function
// that does nothing with six hexadecimal digits, which differ between drivers: match their form.

@@
expression table;
identifier nothing =~ "_[0-9a-f]{6}$";
@@
(
  table->__kbusGetBar1P2PDmaInfo__ =
- &nothing
+ &kbusGetBar1P2PDmaInfo_GH100
|
  table->__kbusCreateP2PMappingForBar1P2P__ =
- &nothing
+ &kbusCreateP2PMappingForBar1P2P_GH100
|
  table->__kbusRemoveP2PMappingForBar1P2P__ =
- &nothing
+ &kbusRemoveP2PMappingForBar1P2P_GH100
|
  table->__kbusHasPcieBar1P2PMapping__ =
- &nothing
+ &kbusHasPcieBar1P2PMapping_GH100
|
  table->__kbusIsPcieBar1P2PMappingSupported__ =
- &nothing
+ &kbusIsPcieBar1P2PMappingSupported_GH100
)
