// The table of chip functions: the BAR1 functions written for GH100 serve every chip. The generator marks a function
// that does nothing by six hexadecimal digits, which change with the driver: match their form.

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
