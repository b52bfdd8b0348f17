#!/usr/bin/env bash
# What a setting takes with it comes back: addresses with their attributes, nexthops, routes of all tables, rules, permanent
# neighbours and the settings of IP. Journals that are cut or changed, a disk that is full, a kernel whose lists change while they are
# read, and kills: after each change of the machine, and at any time (KILLS=1000 for a long run).
# shellcheck disable=SC2317,SC2016,SC2015 # functions are called by name, also in eval; the loop ends on either
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/../lib.sh"

if [ "${1:-}" != --inside ]; then
    if ! unshare --net --mount true 2>/dev/null; then
        skip "what is put back" no-namespaces
        finish
    fi
    trap - EXIT
    rm -rf "$SCRATCH"
    exec unshare --net --mount --fork --kill-child "$0" --inside
fi
JOURNAL=$SCRATCH/state/journal
mkdir -p "$SCRATCH/state" "$SCRATCH/root/sys/class/net/mlx0" "$SCRATCH/root/sys/devices/0000:41:00.0" "$SCRATCH/root/sys/bus/pci/drivers/mlx5_core"
mount -t tmpfs tmpfs "$SCRATCH/state" # the journal is synced often
at_exit umount "$SCRATCH/state"
ln -s ../../../devices/0000:41:00.0 "$SCRATCH/root/sys/class/net/mlx0/device"
ln -s ../../bus/pci/drivers/mlx5_core "$SCRATCH/root/sys/devices/0000:41:00.0/driver"
echo 25000 >"$SCRATCH/root/sys/class/net/mlx0/speed"

PRELOAD=
nic_config() { LD_PRELOAD=$PRELOAD "$BUILD/nic-config" --journal "$JOURNAL" --root "$SCRATCH/root" "$@"; }
say() { echo "{\"schema\":1,\"interfaces\":{\"mlx0\":$1}}" >"$SCRATCH/doc.json"; }

# ---- the machine

ip link add mlx0 type veth peer name mlx1
# as with NetworkManager: the kernel makes no link-local addresses by itself; no duplicate address detection
for setting in addr_gen_mode=1 accept_dad=0 accept_ra=2 hop_limit=33; do
    sysctl -qw "net.ipv6.conf.mlx0.$setting" net.ipv6.conf.mlx1.addr_gen_mode=1
done
ip link set mlx0 up
ip link set mlx1 up
ip -batch - <<'IP'
address add 10.0.0.1/24 dev mlx0 label mlx0:lab
address add 10.0.0.7/24 dev mlx0 valid_lft 5000 preferred_lft 4000
address add 10.5.0.1 peer 10.5.0.9/32 dev mlx0
address add 10.6.0.1/24 dev mlx0 noprefixroute metric 77 scope link
address add fe80::1/64 dev mlx0
address add 2001:db8:1::1/64 dev mlx0 noprefixroute
address add 2001:db8:2::1/64 dev mlx0 metric 33
address add 2001:db8:3::1/64 dev mlx0 home
IP
# The kernel takes an IPv6 address as a route's source once it is unique, which it decides later, even when it does not look.
for _ in {1..600}; do
    ip -6 address show dev mlx0 tentative | grep -q . || break
    sleep 0.1
done
ip -batch - <<'IP'
route add 10.9.0.0/16 via 10.0.0.2 dev mlx0 metric 5
route add 10.10.0.0/16 via 10.9.0.2 dev mlx0 onlink table 100 src 10.0.0.1 mtu 1400
route add 10.11.0.0/16 nexthop via 10.0.0.2 dev mlx0 weight 2 nexthop via 10.0.0.3 dev mlx0
route add 2001:db8:1::/64 dev mlx0 proto static metric 50
route add 2001:db8:9::/48 via 2001:db8:1::2 dev mlx0 metric 9
route add 2001:db8:a::/48 via 2001:db8:2::2 dev mlx0 table 100 src 2001:db8:2::1
nexthop add id 5 via 10.0.0.4 dev mlx0
nexthop add id 6 via 10.0.0.5 dev mlx0
nexthop add id 3 group 5/6
route add 10.12.0.0/16 nhid 5
route add 10.13.0.0/16 nhid 3
rule add iif mlx0 lookup 100 pref 500
neighbour add 10.0.0.2 lladdr 02:00:00:00:00:09 dev mlx0 nud permanent
neighbour add 2001:db8:1::2 lladdr 02:00:00:00:00:09 dev mlx0 nud permanent
neighbour add proxy 10.0.0.77 dev mlx0
IP
ip -6 rule add oif mlx0 lookup 100 pref 501

picture() {
    local command
    for command in "-d address show dev mlx0" "-d route show table all" "-6 -d route show table all" rule "-6 rule" nexthop \
        "neighbour show nud permanent" "neighbour show proxy" "-d link show dev mlx0"; do
        # shellcheck disable=SC2086 # words of a command
        ip $command
    done | sed -E '/^multicast ff00::/d; s/(valid_lft|preferred_lft) [0-9]+sec/\1 limited/g; s/ (linkdown|tentative|refcnt [0-9]+)//g; s/ +$//'
    # the kernel's own, in the order in which links came up
    ip -6 -d route show table all type multicast | sed -E 's/ +$//' | LC_ALL=C sort
    grep -r . /proc/sys/net/ipv4/conf/mlx0 /proc/sys/net/ipv6/conf/mlx0 2>/dev/null | LC_ALL=C sort
}
# What nic-config sees may be behind: the kernel looks for duplicates of addresses and takes links up by itself.
same_picture() {
    local tries
    for ((tries = 0; tries < 100; tries++)); do
        picture >"$SCRATCH/now"
        diff "$SCRATCH/first" "$SCRATCH/now" && return 0
        sleep 0.03
    done
    return 1
}
picture >"$SCRATCH/first"
check "(the machine has what is to be put back)" test "$(grep -cE 'noprefixroute|limited|mlx0:lab|peer|nhid 3|table 100|02:00:00:00:00:09|onlink' "$SCRATCH/first")" -ge 11

# ---- what settings take with them

for settings in '{"up":false}' '{"mtu":1000}' '{"mtu":1000,"up":false}' '{"mtu":4000}' \
    '{"addresses":["10.99.0.1/24","2001:db8:99::1/64","10.0.0.7/24","10.0.0.1/24"]}'; do
    say "$settings"
    check_exit 0 "set $settings" nic_config set "$SCRATCH/doc.json"
    check_exit 0 "... restore" nic_config restore
    check "... and all is as it was" same_picture
done
check "restore lists what it removed and put back" jq -e '[.restored[] | select(.setting == "addresses") | .found] | index("10.99.0.1/24") and index("2001:db8:99::1/64")' "$SCRATCH/out"
say '{"up":false}'
check_exit 0 "plan says what will go" nic_config plan "$SCRATCH/doc.json"
check "... in a warning" jq -e '.warnings | any(test("mlx0: 2[0-9] of its addresses, routes and neighbours .*restore"))' "$SCRATCH/out"
say '{"addresses":["10.98.0.1/24"]}'
nic_config set "$SCRATCH/doc.json" >"$SCRATCH/out"
say '{"addresses":["10.97.0.1/24"],"mtu":2000}'
check_exit 0 "a second set adds another address" nic_config set --continue "$SCRATCH/doc.json"
ip address add 10.96.0.1/24 dev mlx0
check_exit 0 "restore" nic_config restore
check "the address of another program stays" bash -c "ip -o address show dev mlx0 | grep -q 10.96.0.1/24"
ip address del 10.96.0.1/24 dev mlx0
check "... those of both sets are removed" same_picture
say '{"mtu":1000,"up":false}'
nic_config set "$SCRATCH/doc.json" >"$SCRATCH/out"
ip route add 10.9.0.0/16 via 10.5.0.9 dev mlx1 onlink metric 6 2>/dev/null
check_exit 0 "a route that another program made meanwhile" nic_config restore
ip route del 10.9.0.0/16 dev mlx1 metric 6 2>/dev/null
check "... stays beside those that are put back" same_picture

# ---- interfaces upon it

ip link add link mlx0 name mac0 type macvlan
sysctl -qw net.ipv6.conf.mac0.addr_gen_mode=1 net.ipv6.conf.mac0.accept_dad=0
ip link set mac0 up
ip address add 2001:db8:7::1/64 dev mac0 noprefixroute
ip route add 2001:db8:8::/48 dev mac0 metric 44
# the kernel may still look for duplicates of an address
upon() { ip -d address show dev mac0 | sed 's/ tentative//'; ip -6 route show dev mac0; }
upon >"$SCRATCH/upon"
say '{"mtu":1000}'
check_exit 0 "set an MTU that an interface upon this one follows" nic_config set "$SCRATCH/doc.json"
check "(it follows)" bash -c "ip -j link show mac0 | jq -e '.[0].mtu == 1000'"
check "the output has only what the document names" jq -e '.before.interfaces | keys == ["mlx0"]' "$SCRATCH/out"
check_exit 0 "restore" nic_config restore
check "what the interface upon it has lost is put back" eval 'upon | diff "$SCRATCH/upon" -'
ip link delete mac0
check "... and all is as it was" same_picture

# ---- journals that are not whole

say '{"up":false,"mtu":1000,"addresses":["10.99.0.1/24"]}'
nic_config set "$SCRATCH/doc.json" >"$SCRATCH/out"
cp "$JOURNAL" "$SCRATCH/whole"
size=$(stat -c %s "$JOURNAL")
bad=""
# between records, within them, within the room, and to nothing
for cut in $(grep -abo $'\n' "$JOURNAL" | awk -F: 'NR < 5 { print $1 + 1 } NR == 2 { print $1 - 40 }') 0 100 4095 4096 $((size - 4096)) $((size - 1)); do
    head -c "$cut" "$SCRATCH/whole" >"$JOURNAL"
    nic_config restore >"$SCRATCH/out" 2>"$SCRATCH/err"
    status=$?
    [ $status = 3 ] || bad+="cut to $cut: exit $status; "
    grep -q "journal .* is damaged: .*nic-config keep" "$SCRATCH/err" || bad+="cut to $cut: $(cat "$SCRATCH/err"); "
    jq -e '.ok == false and (.damage | length > 0)' "$SCRATCH/out" >"$SCRATCH/jq" || bad+="cut to $cut: no damage in the output; "
    [ -e "$JOURNAL" ] || bad+="cut to $cut: the journal is gone; "
done
if [ -z "$bad" ]; then ok "a journal that was cut is known at each place: exit code 3, and the journal stays"; else nok "a journal that was cut is known at each place" "$bad"; fi
check_exit 3 "a set over a damaged journal is refused" nic_config set --continue "$SCRATCH/doc.json"
check_says "... with the reason" "journal .* is damaged: .*cut off" "$SCRATCH/err"
cp "$SCRATCH/whole" "$JOURNAL"
check_exit 0 "the whole journal restores the rest" nic_config restore
check "... and all is as it was" same_picture
nic_config set "$SCRATCH/doc.json" >"$SCRATCH/out"
at=$(grep -abo '"type":"write"' "$JOURNAL" | head -n 1 | cut -d: -f1)
printf X | dd of="$JOURNAL" bs=1 seek=$((at + 3)) conv=notrunc status=none
check_exit 3 "one changed byte in a record of a write" nic_config restore
check_says "... is named with its line" "line 3: its checksum is wrong" "$SCRATCH/err"
ip address del 10.99.0.1/24 dev mlx0 2>/dev/null
check "... what is certain was restored" same_picture
check_exit 0 "keep removes the journal" nic_config keep
check "... which is gone" test ! -e "$JOURNAL"

# ---- journals of versions without checksums

cat >"$JOURNAL" <<'JSON'
{"type":"begin","schema":1,"version":"0.1","time_ns":1760000000000000000,"boot":"of-another-time"}
{"type":"before","interface":"mlx0","pci":"0000:41:00.0","settings":{"kind":"device","mtu":1500,"up":true}}
{"type":"write","interface":"mlx0","knob":"mtu","settings":{"mtu":4000}}
{"type":"written","interface":"mlx0","kn
JSON
truncate -s -1 "$JOURNAL"
ip link set mlx0 mtu 4000
check_exit 0 "a journal of an older version is restored" nic_config restore
check_says "... which says what it lacks" "older nic-config: it has no checksums" "$SCRATCH/err"
check "... and all is as it was" same_picture

# ---- a full disk

mkdir "$SCRATCH/small"
mount -t tmpfs -o size=256k tmpfs "$SCRATCH/small"
at_exit umount "$SCRATCH/small"
JOURNAL=$SCRATCH/small/journal
fill() { dd if=/dev/zero of="$SCRATCH/small/fill" bs=4096 2>/dev/null; test "$(stat -f -c %a "$SCRATCH/small")" = 0; }
say '{"up":false,"mtu":1000,"addresses":["10.99.0.1/24"]}'
check_exit 0 "set on a small disk" nic_config set "$SCRATCH/doc.json"
check "(the disk is filled to the last byte)" fill
check_exit 0 "restore needs no room" nic_config restore
check "... and writes its journal without a warning" test ! -s "$SCRATCH/err"
check "... all is as it was" same_picture
fill
check_exit 3 "set on a full disk is refused" nic_config set "$SCRATCH/doc.json"
check_says "... with the reason" "journal .*No space left on device" "$SCRATCH/err"
check "... before it has changed anything" same_picture
check "... and leaves nothing" test ! -e "$JOURNAL"
truncate -s -8192 "$SCRATCH/small/fill"
check_exit 3 "set on a disk with too little room is refused" nic_config set "$SCRATCH/doc.json"
check_says "... with what the room is for" "bytes for the journal, which restore needs later.*No space left" "$SCRATCH/err"
check "... before it has changed anything" same_picture
check "... and leaves nothing" test ! -e "$JOURNAL"
rm "$SCRATCH/small/fill"
JOURNAL=$SCRATCH/state/journal

# ---- lists that change while they are read, and kills

if skip_reason sanitized "$BUILD/nic-config" >/dev/null; then
    skip "interrupted dumps and kills" sanitized "$BUILD/nic-config" && finish
elif ! has_compiler; then
    skip "interrupted dumps and kills" no-compiler && finish
fi
library() { compile_preload "$SCRATCH/$1.so" "$(dirname "$0")/$1.c" "${@:2}"; }
check "the libraries are built" eval 'library interrupted && library fault && library mlx5_port -lmnl'

PRELOAD=$SCRATCH/interrupted.so
say '{"up":false,"mtu":1000}'
check_exit 0 "a set while each list changes" nic_config set "$SCRATCH/doc.json"
PRELOAD=
check_exit 0 "restore" nic_config restore
check "nothing was overlooked" same_picture

faulty() { FAULT=$1 PRELOAD=$SCRATCH/fault.so nic_config "${@:2}"; } # N:WHAT ARGUMENT...
walk() { # COMMAND
    local step=0 status bad=""
    while :; do
        step=$((step + 1))
        [ "$1" = set ] || nic_config set "$SCRATCH/doc.json" >"$SCRATCH/out" 2>&1 || bad+="step $step: the set failed; "
        if [ "$1" = set ]; then (faulty "$step:kill" set "$SCRATCH/doc.json") else (faulty "$step:kill" restore) fi >"$SCRATCH/out" 2>&1
        status=$?
        nic_config restore >"$SCRATCH/out" 2>"$SCRATCH/err" || bad+="step $step: $(cat "$SCRATCH/err"); "
        same_picture >"$SCRATCH/diff" || bad+="step $step: $(cat "$SCRATCH/diff"); "
        [ $status != 0 ] && [ $step -lt 90 ] || break
    done
    if [ -z "$bad" ] && [ $status = 0 ] && [ $step -ge "$2" ]; then
        ok "$1 killed after each of its $((step - 1)) changes, then restore: as it was"
    else
        nok "$1 killed after each of its changes, then restore: as it was" "$step, exit $status; $bad"
    fi
}
say '{"up":false,"mtu":1000,"addresses":["10.99.0.1/24"]}'
walk set 4
walk restore 20

# At any time: a link, its MTU, addresses, PFC and buffers of a port that is as mlx5's (mlx5_port.c).
PRELOAD=$SCRATCH/mlx5_port.so
export PORT_NAME=mlx0 PORT_STATE=$SCRATCH/port
settings() { nic_config get mlx0 | jq -c '.interfaces.mlx0 | [.pfc, .rx_pause, .tx_pause, .cable, .prio_to_buffer["0"], .buffer_bytes[0:2]]'; }
kill_soon() { # ARGUMENT...
    (exec env LD_PRELOAD="$PRELOAD" "$BUILD/nic-config" --journal "$JOURNAL" --root "$SCRATCH/root" "$@" >"$SCRATCH/out" 2>&1) &
    sleep "0.$((RANDOM % 3))$((RANDOM % 10))$((RANDOM % 10))"
    kill -KILL $! 2>/dev/null && kills=$((kills + 1))
    wait $! 2>/dev/null
}
kill_at_any_time() { # TURNS
    local kills=0 turn bad="" first
    first=$(settings)
    for ((turn = 0; turn < $1 && ${#bad} < 2000; turn++)); do
        say "{\"up\":false,\"mtu\":$((1000 + turn % 2 * 3000)),\"addresses\":[\"10.99.0.1/24\"],\"pfc\":[0],\"prio_to_buffer\":{\"0\":1},\"buffer_bytes\":[0,114944],\"cable\":\"1m\"}"
        kill_soon set "$SCRATCH/doc.json"
        [ $((turn % 2)) = 0 ] || kill_soon restore
        nic_config restore >"$SCRATCH/out" 2>"$SCRATCH/err" || bad+="turn $turn: $(cat "$SCRATCH/err"); "
        [ "$(settings)" = "$first" ] || bad+="turn $turn: $(settings) instead of $first; "
        same_picture >"$SCRATCH/diff" || bad+="turn $turn: $(cat "$SCRATCH/diff"); "
        [ -z "$(ls "$SCRATCH/state")" ] || bad+="turn $turn: left: $(ls "$SCRATCH/state"); "
    done
    if [ -z "$bad" ] && [ $kills -gt 0 ]; then ok "$kills kills at any time in $1 transactions leave nothing"; else nok "kills at any time leave nothing" "$kills kills; $bad"; fi
}
kill_at_any_time "${KILLS:-30}"

# ---- several NICs: a knob is written to all before the links that it takes down are waited for, also by a restore
rails() { # RESULT: of interfaces rail0 to rail3
    jq -cn --argjson settings "$1" '{schema: 1, interfaces: ([range(4) | {key: "rail\(.)", value: $settings}] | from_entries)}' >"$SCRATCH/rails.json"
}
for i in 0 1 2 3; do ip link add rail$i type veth peer name leaf$i && ip link set rail$i up && ip link set leaf$i up; done
set_and_restore() { # COMMAND...: says which NICs were written, and when which one's link was waited for
    "$BUILD/nic-config" --journal "$JOURNAL" "$@" >"$SCRATCH/out" 2>"$SCRATCH/err"
    sed -n 's/^[^{]*//; /"knob":"mtu"/p' "$JOURNAL" 2>/dev/null | jq -r '"\(.type) \(.interface)"' | xargs
}
rails '{"mtu": 1400}'
check "four NICs are written, then their links are waited for" test "$(set_and_restore set "$SCRATCH/rails.json")" = "write rail0 write rail1 write rail2 write rail3 written rail0 written rail1 written rail2 written rail3"
mtus() { for i in 0 1 2 3; do cat "/proc/sys/net/ipv6/conf/rail$i/mtu" 2>/dev/null || ip -j link show rail$i | jq '.[0].mtu'; done | xargs; }
check "... all are set" test "$(mtus)" = "1400 1400 1400 1400"
ip link set rail2 mtu 1300
nic_config restore >"$SCRATCH/out" 2>"$SCRATCH/err"
check "... and restored" test "$(mtus)" = "1500 1500 1500 1500"
check "... as is said of each" jq -e '[.restored[] | select(.setting == "mtu") | [.interface, .found]] == [["rail3", 1400], ["rail2", 1300], ["rail1", 1400], ["rail0", 1400]]' "$SCRATCH/out"
jq -c '.interfaces.rail1.mtu = 65536' "$SCRATCH/rails.json" >"$SCRATCH/refused.json" # more than a veth takes
"$BUILD/nic-config" --journal "$JOURNAL" set "$SCRATCH/refused.json" >"$SCRATCH/out" 2>"$SCRATCH/err"
check "one that is refused is named" jq -e '.error | test("^rail1: mtu 65536: the device supports 68 to 65535")' "$SCRATCH/out"
check "... none is set" test "$(mtus)" = "1500 1500 1500 1500"
finish
