#!/usr/bin/env bash
# PFC and 802.3x global pause on a port that behaves as mlx5 drivers do (mlx5_port.c): wanted PFC turns pause off first and restore
# turns it on again last; what the driver's arithmetic would refuse is refused by plan; a refusal that is half done is undone.
# shellcheck disable=SC2317 # functions are called by name
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/../lib.sh"

if [ "${1:-}" != --inside ]; then
    if ! unshare --net --mount true 2> /dev/null; then
        skip "PFC and global pause" no-namespaces
        finish
    fi
    trap - EXIT
    rm -rf "$SCRATCH"
    exec unshare --net --mount --fork --kill-child "$0" --inside
fi
if skip_reason sanitized "$BUILD/nic-config" >/dev/null; then
    skip "PFC and global pause" sanitized "$BUILD/nic-config"
    finish
fi
if ! has_compiler; then
    skip "PFC and global pause" no-compiler
    finish
fi
check "the library of the port is built" compile_preload "$SCRATCH/port.so" \
    "$ROOT/tests/e2e/nic-config/mlx5_port.c" -lmnl

mkdir -p "$SCRATCH/state" "$SCRATCH/root/sys/class/net/mlx0" "$SCRATCH/root/sys/devices/0000:41:00.0" "$SCRATCH/root/sys/bus/pci/drivers/mlx5_core"
mount -t tmpfs tmpfs "$SCRATCH/state" # the journal is synced often
at_exit umount "$SCRATCH/state"
ln -s ../../../devices/0000:41:00.0 "$SCRATCH/root/sys/class/net/mlx0/device"
ln -s ../../bus/pci/drivers/mlx5_core "$SCRATCH/root/sys/devices/0000:41:00.0/driver"
echo 25000 > "$SCRATCH/root/sys/class/net/mlx0/speed"
ip link add mlx0 type veth peer name mlx1
ip link set mlx0 up
ip link set mlx1 up
export PORT_NAME=mlx0 PORT_STATE=$SCRATCH/port

nic_config() { LD_PRELOAD=$SCRATCH/port.so "$BUILD/nic-config" --journal "$SCRATCH/state/journal" --root "$SCRATCH/root" "$@"; }
say() { echo "{\"schema\":1,\"interfaces\":{\"mlx0\":$1}}" > "$SCRATCH/doc.json"; }
# PFC, pause, map and sizes, on one line.
settings() {
    nic_config get mlx0 | jq -c '.interfaces.mlx0 | [.pfc, .rx_pause, .tx_pause, .cable, .prio_to_buffer["0"], .buffer_bytes[0:2]]'
}
# A port as the driver left it at boot; variables of mlx5_port.c may precede.
new_port() {
    rm -f "$PORT_STATE" "$PORT_STATE.log"
    : > "$PORT_STATE.log"
    settings > "$SCRATCH/first"
}
writes() { cut -d' ' -f1-2 "$PORT_STATE.log" | paste -sd,; }
is_as_before() { settings | diff "$SCRATCH/first" -; }

published='{"mtu":4200,"pfc":[0],"prio_to_buffer":{"0":1},"buffer_bytes":[0,114944],"cable":"1m"}'

# ---- wanted PFC

PORT_PAUSE=1 new_port
say "$published"
PORT_PAUSE=1 check_exit 0 "the published document is planned where pause is on" nic_config plan "$SCRATCH/doc.json"
check "plan lists the change of pause" jq -e '[.changes[] | select(.setting | test("^[rt]x_pause$")) | .to] == [false, false]' "$SCRATCH/out"
check "... and says why" jq -e '.warnings | any(test("mlx0: global pause .*is turned off.* PFC"))' "$SCRATCH/out"
PORT_PAUSE=1 check_exit 0 "it is set" nic_config set "$SCRATCH/doc.json"
check "PFC is on, pause is off" test "$(settings)" = '[[0],false,false,"1m",1,[0,114944]]'
check "pause was turned off before all else, PFC was written last" test "$(sed -n '1p' "$PORT_STATE.log") $(tail -n 1 "$PORT_STATE.log")" = "pause rx 0 tx 0 -> 0 pfc 0x01 cable 1 -> 0"
: > "$PORT_STATE.log"
check_exit 0 "it is restored" nic_config restore
check "all is as before" is_as_before
check "pause was turned on last" test "$(tail -n 1 "$PORT_STATE.log")" = "pause rx 1 tx 1 -> 0"

say '{"pfc":[0]}'
for exclusive in 0 1; do
    export PORT_EXCLUSIVE=$exclusive PORT_PAUSE=1
    new_port
    check_exit 0 "PFC alone, a write of pause turning PFC off: $exclusive" nic_config set "$SCRATCH/doc.json"
    check "... PFC is on, pause is off" test "$(settings)" = '[[0],false,false,"7m",0,[131072,0]]'
    check "... with one write of each" test "$(writes)" = "pause rx,pfc 0x01"
    check_exit 0 "... restore" nic_config restore
    check "... all is as before" is_as_before
done
unset PORT_EXCLUSIVE

new_port
say '{"pfc":[0],"rx_pause":true}'
check_exit 3 "a document that wants both is refused" nic_config plan "$SCRATCH/doc.json"
check_says "... with what to change" 'mlx0: .*global pause and PFC.*rx_pause' "$SCRATCH/err"
say '{"pfc":[]}'
check_exit 0 "a document without PFC" nic_config set "$SCRATCH/doc.json"
check "... leaves pause on" is_as_before
nic_config keep > "$SCRATCH/out"

# ---- what the driver's arithmetic refuses

say '{"prio_to_buffer":{"0":1},"buffer_bytes":[0,114944]}'
check_exit 3 "with pause on, a map to a buffer that is still empty is refused by plan" nic_config plan "$SCRATCH/doc.json"
check_says "... by the driver's reason and the remedy" 'mlx0: buffer 1: .*global pause .*0 bytes.*rx_pause' "$SCRATCH/err"
check_exit 3 "... and by set" nic_config set "$SCRATCH/doc.json"
check "... which writes nothing" test -z "$(writes)"
say '{"rx_pause":false,"tx_pause":false,"prio_to_buffer":{"0":1},"buffer_bytes":[0,114944]}'
check_exit 0 "with pause off it is set" nic_config set "$SCRATCH/doc.json"
check_exit 0 "... and restored" nic_config restore
check "... all is as before" is_as_before
say '{"pfc":[3],"buffer_bytes":[20000]}'
check_exit 3 "a lossless buffer below the formula's least is refused by plan" nic_config plan "$SCRATCH/doc.json"
check_says "... with the least size" 'mlx0: buffer 0: 20000 bytes are too small' "$SCRATCH/err"

# ---- from one lossless buffer to another

lossless() { od -An -v -tu4 -j84 -N96 "$PORT_STATE"; } # mlx5_port.h: lossless, xoff and xon of each buffer
unset PORT_PAUSE
new_port
say '{"pfc":[3],"prio_to_buffer":{"3":3},"buffer_bytes":[0,0,0,119936]}'
nic_config set "$SCRATCH/doc.json" > "$SCRATCH/out" && nic_config keep > "$SCRATCH/out"
settings > "$SCRATCH/first"
lossless > "$SCRATCH/lossless"
say '{"pfc":[0],"prio_to_buffer":{"0":1},"buffer_bytes":[0,119936,0,0]}'
: > "$PORT_STATE.log"
check_exit 0 "a priority loses PFC and its buffer" nic_config set "$SCRATCH/doc.json"
check_exit 0 "... restore" nic_config restore
check "... PFC and buffers are as before" is_as_before
check "... and the buffer is lossless in the driver, with its thresholds" diff "$SCRATCH/lossless" <(lossless)
echo 400000 > "$SCRATCH/root/sys/class/net/mlx0/speed"
check_exit 0 "settings that the driver would refuse now can still be read" nic_config get mlx0
echo 25000 > "$SCRATCH/root/sys/class/net/mlx0/speed"

# ---- the thresholds that the driver uses

# MLNX_OFED's file; the line of buffer 1 has these thresholds.
show_thresholds() { # XOFF XON
    mkdir -p "$SCRATCH/root/sys/class/net/mlx0/qos"
    { printf 'Port buffer size = 262016\nSpare buffer size = 147072\nBuffer\tSize\txoff_threshold\txon_threshold\n'
        for buffer in 0 1 2 3 4 5 6 7; do
            if [ $buffer = 1 ]; then printf '1\t114944\t%d\t\t%d\n' "$1" "$2"; else printf '%d\t0\t0\t\t0\n' $buffer; fi
        done; } > "$SCRATCH/root/sys/class/net/mlx0/qos/buffer_size"
}
new_port
say "$published"
check_exit 0 "without MLNX_OFED's file" nic_config set "$SCRATCH/doc.json"
check "... thresholds are the formula's" jq -e '.thresholds.mlx0 == [{buffer: 1, size_bytes: 114944, xoff_bytes: 91392, xon_bytes: 25856, headroom_bytes: 23544,
    priorities: [0], source: "formula"}]' "$SCRATCH/out"
nic_config restore > "$SCRATCH/out"
show_thresholds 91392 25856
check_exit 0 "where the driver shows them" nic_config set "$SCRATCH/doc.json"
check "... they are the driver's; equal ones cause no warning" jq -e '.thresholds.mlx0[0].source == "driver" and (.warnings | any(test("xoff")) | not)' "$SCRATCH/out"
nic_config restore > "$SCRATCH/out"
show_thresholds 73216 7680
check_exit 0 "others than the formula's" nic_config set "$SCRATCH/doc.json"
check "... are those in force" jq -e '.thresholds.mlx0[0] | .xoff_bytes == 73216 and .xon_bytes == 7680 and .formula == {xoff_bytes: 91392, xon_bytes: 25856}' "$SCRATCH/out"
check "... and a warning with both" jq -e '.warnings | any(test("mlx0: buffer 1: the driver uses xoff 73216 and xon 7680, the formula gives 91392 and 25856$"))' "$SCRATCH/out"
check "get shows the driver's too" test "$(nic_config get mlx0 | jq -c '.facts.mlx0.thresholds[0] | [.xoff_bytes, .source]')" = '[73216,"driver"]'
nic_config restore > "$SCRATCH/out"
rm -r "$SCRATCH/root/sys/class/net/mlx0/qos"

# ---- half done
export PORT_PAUSE=1

carrier() { cat /sys/class/net/mlx0/carrier; }
mount -t sysfs sysfs /sys
export PORT_SPEED=400000 PORT_PEER=mlx1
new_port
say "$published"
check_exit 0 "plan cannot know that the driver sees a faster link" nic_config plan "$SCRATCH/doc.json"
check_exit 3 "the driver refuses PFC for its buffers" nic_config set "$SCRATCH/doc.json"
link=$(carrier)
check_says "... with its reason" 'mlx0: pfc: setting PFC of mlx0 to mask 0x01: the driver refused: Cannot allocate memory' "$SCRATCH/err"
check "... PFC had been switched on and pause off" grep -q '^pfc 0x01 .*-> 12' "$PORT_STATE.log"
check "... which is undone" jq -e '.undone == true' "$SCRATCH/out"
check "... completely" is_as_before
check "... when it ends, the link that the writes took down is up" test "$link" = 1
unset PORT_SPEED PORT_PEER

PORT_DEAF=1 new_port
say '{"pfc":[0]}'
PORT_DEAF=1 check_exit 3 "a write that is answered with success and not done" nic_config set "$SCRATCH/doc.json"
check_says "... is not believed" 'mlx0: pfc was written but has another value when read back: .*read .*\[\]' "$SCRATCH/err"
check "... and undone" is_as_before
finish
