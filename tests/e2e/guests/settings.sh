#!/usr/bin/env bash
# shellcheck disable=SC2016  # what stands in single quotes is the guest's, or jq's
# nic-config in guests with real kernels: what it sets is read back and compared with ip, tc, dcb, ethtool and devlink; the driver
# refuses; RED marks on the switch guest what arrives marked at the receiver.
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/e2e/lib.sh
. "$here/../lib.sh"
# shellcheck source=tests/e2e/guests/softlab.bash
. "$here/softlab.bash"
softlab_require "$0" "$@"
# shellcheck source=tests/e2e/guests/settings.bash
. "$here/settings.bash"
settings_guests_up sw

to_sw() { hand_to sw "$1" "$2"; }
get() { softlab_ssh sw "cat /tmp/$1" >"$SCRATCH/$1"; }

# ---- everything at once -----------------------------------------------------------------------------------------------

# What the system's own programs say, in the guest; handles of filters and indexes of interfaces do not matter.
picture_script() {
    cat <<'SH'
picture() {
    for d in data0 data1 br-cp ifb-data1; do
        ip -d link show $d 2>&1 | sed 's/^[0-9]*: //; s/qdisc .* state/state/; s/ bridge_id.*//; s/ bridge_slave.*//'
        [ -d /sys/class/net/$d ] || continue
        ip -o addr show dev $d scope global | sed 's/^[0-9]*: //; s/ valid_lft.*//; s/ tentative//'
        tc -d qdisc show dev $d | sed 's/refcnt [0-9]*//'
        tc class show dev $d; tc filter show dev $d
    done
    tc filter show dev data1 parent ffff:
    for part in pfc buffer ets app; do dcb $part show dev data0; done
    ethtool -g data0; ethtool -c data0; ethtool -a data0; ethtool --get-tunable data0 pfc-prevention-tout
    devlink dev param show; cat /sys/module/testdevlink/parameters/roce
}
SH
}

load_modules() {
    load_module sw testnic data0 && load_module sw testdevlink data1 &&
        softlab_ssh sw 'modprobe ifb numifbs=0 && echo 0 > /proc/sys/net/ipv6/conf/data1/disable_ipv6 &&
            ip addr add 192.0.2.9/24 dev data1 && ip addr add 2001:db8::9/64 dev data1'
}

# shellcheck disable=SC2317  # called at exit
unload_modules() { softlab_ssh sw 'nic-config restore > /dev/null; ip addr flush dev data1; echo 1 > /proc/sys/net/ipv6/conf/data1/disable_ipv6; rmmod testdevlink testnic ifb 2>/dev/null; rm -f /tmp/*.ko'; }

ask_tools() {
    softlab_ssh sw 'cd /tmp
        for part in pfc buffer ets app; do dcb -j $part show dev data0 > dcb-$part; done
        for d in br-cp data0 data1; do ip -j -d link show $d > ip-$d; done
        tc -j -d qdisc show dev data1 > qdisc; tc -j filter show dev data1 > filter; tc class show dev data1 > class
        # ethtool 6.1 has no JSON of -g and -c, and that of -a says true whatever it is
        ethtool -a data0 > pause; ethtool -g data0 > ring; ethtool -c data0 > coalesce
        ethtool --get-tunable data0 pfc-prevention-tout > stall; devlink -j dev param show > devlink; cat /sys/module/testdevlink/parameters/roce > roce; ip -j addr show dev data1 > addresses
        tar -cf - dcb-* ip-* qdisc filter class pause ring coalesce stall devlink roce addresses' | tar -C "$SCRATCH" -xf -
}

compare_with_tools() {
    check "dcb: PFC and cable" jq -e '.prio_pfc == [true,false,false,true,false,false,false,false] and .delay == 1' "$SCRATCH/dcb-pfc"
    check "dcb: buffers" jq -e '.prio_buffer == [1,0,0,1,0,0,0,0] and .buffer_size == [65536,114944,0,0,0,0,0,0]' "$SCRATCH/dcb-buffer"
    check "dcb: ETS" jq -e '.tc_bw == [40,60,0,0,0,0,0,0] and .tc_tsa[0:3] == ["ets","ets","strict"] and .prio_tc[3] == 1' "$SCRATCH/dcb-ets"
    check "dcb: DSCP map" jq -e '.dscp_prio | sort == [[26,3],[48,6]] or sort == [["AF31",3],["CS6",6]]' "$SCRATCH/dcb-app"
    check "ip: bridge without spanning tree, up" jq -e '.[0] | .mtu == 4200 and .linkinfo.info_data.stp_state == 0 and (.flags | index("UP"))' "$SCRATCH/ip-br-cp"
    check "ip: ports and MTU" jq -es 'map(.[0]) | all(.master == "br-cp" and .mtu == 4200)' "$SCRATCH/ip-data0" "$SCRATCH/ip-data1"
    check "ethtool: rings" test "$(awk '/^(RX|TX):/ {print $2}' "$SCRATCH/ring" | tail -2 | paste -sd,)" = 8192,2048
    check "ethtool: coalescing" test "$(awk '/^rx-(usecs|frames):/ {print $2}' "$SCRATCH/coalesce" | paste -sd,)" = 32,64
    check "ethtool: pause" test "$(awk '/^(Autoneg|RX|TX)/ {print $2}' "$SCRATCH/pause" | paste -sd,)" = off,off,off
    check_says "ethtool: PFC stall prevention" "100" "$SCRATCH/stall"
    check "devlink: enable_roce" jq -e '[.. | .values? // empty | .[].value] == [false]' "$SCRATCH/devlink"
    check_says "and the reload took it over" N "$SCRATCH/roce"
    check "what the reload took is there again: up, addresses" jq -es '.[0][0] | (.flags | index("UP")) and ([.addr_info[] | select(.scope == "global") | .local] |
        sort == ["192.0.2.9", "2001:db8::9"])' "$SCRATCH/addresses"
    check "tc: htb with red below" jq -e 'map(select(.kind == "red"))[0] | .handle == "4792:" and .parent == "4791:10" and
        .options.limit == 1000000 and .options.min == 30000 and .options.max == 150000 and .options.ecn == true and
        .options.ewma == 5 and .options.Scell_log == 14' "$SCRATCH/qdisc"
    check_says "tc: the shaped class" "htb 4791:10 .*rate 20Mbit ceil 20Mbit" "$SCRATCH/class"
    check "tc: RoCE alone goes there, with and without VLAN" jq -e '[.[] | select(.options.handle) | .options] |
        length == 4 and all(.classid == "4791:10" and .keys.dst_port == 4791)' "$SCRATCH/filter"
}

test_everything() {
    say "{$bridge_part, \"data0\": {\"bridge\": \"br-cp\", $host_part}, \"data1\": {$switch_part}}" >"$SCRATCH/doc.json"
    to_sw "$SCRATCH/doc.json" doc.json
    picture_script >"$SCRATCH/picture.sh"
    to_sw "$SCRATCH/picture.sh" picture.sh
    check "one document sets it all" softlab_ssh sw '. /tmp/picture.sh; picture > /tmp/first; nic-config set /tmp/doc.json > /tmp/set.json'
    get set.json
    check "what is read back is what was wanted" jq -e '. as $o | [$o.wanted.interfaces | paths(scalars)] |
        all(. as $p | ($p[1] == "red") or ($o.wanted.interfaces | getpath($p)) == ($o.read_back.interfaces | getpath($p)))' "$SCRATCH/set.json"
    ask_tools
    compare_with_tools
    check "diff finds nothing" softlab_ssh sw 'nic-config diff /tmp/doc.json > /dev/null'
    check "restore: everything as it was" softlab_ssh sw '. /tmp/picture.sh; nic-config restore > /tmp/restore.json && picture | diff /tmp/first -'
}

# RED in its other forms, each compared with what tc makes of the same arguments.
test_red() {
    local same='map({kind, handle, parent, root, options}) | sort_by(.handle)'
    say '{"data1":{"red":{"limit":"400000B","min":"30000B","max":"90000B","avpkt":"1000B","burst":55,"bandwidth":"10Mb/s","probability":0.02}}}' >"$SCRATCH/bare.json"
    say '{"data1":{"red":{"limit":"400000B","min":"30000B","max":"90000B","avpkt":"1000B","burst":55,"bandwidth":"10Mb/s","probability":0.02,"roce_only":true}}}' >"$SCRATCH/prio.json"
    say '{"data1":{"red":{"at":"ingress","limit":"400000B","min":"30000B","max":"90000B","avpkt":"1000B","burst":55,"bandwidth":"10Mb/s","probability":0.02,"roce_only":true}}}' >"$SCRATCH/ingress.json"
    for name in bare prio ingress; do to_sw "$SCRATCH/$name.json" $name.json; done
    softlab_ssh sw 'cd /tmp; . /tmp/picture.sh
        red="red limit 400000 min 30000 max 90000 avpkt 1000 burst 55 bandwidth 10mbit probability 0.02 ecn"
        tc qdisc add dev data1 root handle 4791: $red; tc -j -d qdisc show dev data1 > bare-tc; tc qdisc del dev data1 root
        tc qdisc add dev data1 root handle 4791: prio bands 2 priomap 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
        tc qdisc add dev data1 parent 4791:2 handle 4792: $red; tc -j -d qdisc show dev data1 > prio-tc; tc qdisc del dev data1 root
        for name in bare prio; do nic-config set $name.json > /dev/null && tc -j -d qdisc show dev data1 > $name-ours; nic-config restore > /dev/null; done
        nic-config set ingress.json > /dev/null && tc -j filter show dev data1 ingress > ingress-filter && tc -j -d qdisc show dev ifb-data1 > ingress-ours
        nic-config restore > /dev/null; picture | diff first - > after-red; echo $? >> after-red
        tar -cf - bare-* prio-* ingress-filter ingress-ours after-red' | tar -C "$SCRATCH" -xf -
    for name in bare prio; do
        check "$name: the kernel has what tc makes" diff <(jq -S "$same" "$SCRATCH/$name-tc") <(jq -S "$same" "$SCRATCH/$name-ours")
    done
    check "ingress: RoCE is redirected to an ifb interface" jq -e '[.[] | select(.options.handle) | .options] |
        length == 4 and all(.actions[0].kind == "mirred" and .actions[0].to_dev == "ifb-data1")' "$SCRATCH/ingress-filter"
    check "ingress: RED is there" jq -e '.[0].kind == "red" and .[0].options.ewma == 5' "$SCRATCH/ingress-ours"
    check "nothing of it stays" test "$(cat "$SCRATCH/after-red")" = 0
}

# ---- the kernel's own qdisc -------------------------------------------------------------------------------------------

# In the guest: the default qdisc was made at one MTU, another is in force, a third is set together with RED; restore brings MTU and
# quantum back, also when it was killed after each of its writes. With one queue, and with mq over four.
default_qdisc_script() {
    cat <<'SH'
before=$(cat /proc/sys/net/core/default_qdisc)
look() { cat /sys/class/net/$1/mtu /sys/class/net/$1/flags; tc -d qdisc show dev $1; }
make_at() { ip link set $1 mtu $2; tc qdisc add dev $1 root handle 9: pfifo; tc qdisc del dev $1 root; }
kill_each() { # DEVICE: set, restore killed after its 1st, 2nd, ... write, restore
    step=0
    while :; do
        step=$((step + 1))
        nic-config set /tmp/qdisc.json > /dev/null
        { FAULT=$step:kill LD_PRELOAD=/tmp/fault.so nic-config restore > /tmp/qdisc-out 2>&1; } 2> /dev/null
        [ $? = 137 ] && [ $step -lt 20 ] || break
        nic-config restore > /dev/null || echo "restore after kill $step failed"
        look $1 | diff /tmp/qdisc-first - || echo "differs after kill $step"
    done
    echo "($((step - 1)) kills)"
}
try() { # DEVICE MADE-AT IN-FORCE SET
    make_at $1 $2
    ip link set $1 mtu $3
    look $1 > /tmp/qdisc-first
    echo '{"schema":1,"interfaces":{"'$1'":{"mtu":'$4',"red":{"limit":"400000B","min":"30000B","max":"90000B","bandwidth":"10Mb/s"}}}}' > /tmp/qdisc.json
    nic-config set /tmp/qdisc.json > /dev/null && nic-config restore > /dev/null || echo "failed"
    look $1 | diff /tmp/qdisc-first - && echo "same: $(tc -d qdisc show dev $1 | grep -oE '(^| )quantum [0-9]+' | uniq -c | xargs)"
}
use() { echo $1 > /proc/sys/net/core/default_qdisc 2> /dev/null || { echo "no $1"; exit; }; }
case $1 in
one) use $2; shift 2; try data1 "$@" ;;
kills) use fq_codel; try data1 1500 3000 4200; kill_each data1 ;;
many) use fq_codel; modprobe ifb numifbs=0; ip link add ifbmq numtxqueues 4 type ifb; ip link set ifbmq up
    try ifbmq 1500 1400 1300; ip link del ifbmq; rmmod ifb ;;
esac
echo $before > /proc/sys/net/core/default_qdisc
make_at data1 1500
rm -f /tmp/qdisc*
SH
}

# comes_back WHAT EXPECTED ARGUMENT...: what the script says of the case
comes_back() {
    local what=$1 expected=$2 said
    shift 2
    said=$(softlab_ssh sw "bash /tmp/default.sh $*" 2>&1 | paste -sd' ')
    case $said in
    "no "*) skip "$what comes back as it was" guest-kernel-lacks "sch_${said#no }" ;;
    *) check "$what comes back as it was: $said" grep -qxE "$expected" <<<"$said" ;;
    esac
}

test_default_qdisc() {
    build_faults || return
    hand_to sw "$SCRATCH/fault.so" fault.so
    default_qdisc_script | softlab_ssh sw 'cat > /tmp/default.sh'
    comes_back "fq_codel, made at the MTU in force," "same: 1 quantum 1514" one fq_codel 1500 1500 4200
    comes_back "fq_codel, made at a larger MTU than is set," "same: 1 quantum 4214" one fq_codel 4200 4200 1500
    comes_back "fq_codel, made before the MTU was changed," "same: 1 quantum 1514" one fq_codel 1500 4200 4200
    comes_back "fq, whose quantum is two packets," "same: 1 quantum 3028" one fq 1500 3000 4200
    comes_back "the default qdisc, restore killed after each of its writes," "same: 1 quantum 1514 \([5-9] kills\)" kills
    comes_back "mq over four queues" "same: 4 quantum 1514" many
    softlab_ssh sw 'rm /tmp/default.sh /tmp/fault.so'
}

# ---- the published PFC set-up -----------------------------------------------------------------------------------------

test_published() {
    say '{"data0":{"mtu":4200,"pfc":[0],"prio_to_buffer":{"0":1},"buffer_bytes":[0,114944,0,0,0,0,0,0],"cable":"1m"}}' >"$SCRATCH/pfc.json"
    to_sw "$SCRATCH/pfc.json" pfc.json
    # what the four mlnx_qos commands (--pfc, --prio2buffer, --buffer_size, --cable_len) leave, by dcb
    softlab_ssh sw 'cd /tmp; state() { dcb -j pfc show dev data0; dcb -j buffer show dev data0; dcb -j app show dev data0; }
        nic-config plan pfc.json > plan; state > untouched
        dcb buffer set dev data0 prio-buffer 0:1; dcb buffer set dev data0 buffer-size 0:0 1:114944
        dcb pfc set dev data0 prio-pfc 0:on; dcb pfc set dev data0 delay 1; state > by-commands
        dcb pfc set dev data0 prio-pfc all:off; dcb pfc set dev data0 delay 7
        dcb buffer set dev data0 buffer-size 0:131072 1:0; dcb buffer set dev data0 prio-buffer all:0; state > again
        nic-config set pfc.json > set.json; state > by-document; nic-config restore > /dev/null; state > after
        tar -cf - plan untouched by-commands again by-document after' | tar -C "$SCRATCH" -xf -
    check "the thresholds shown before applying are 91392 and 81408" jq -e '.thresholds.data0 == [{"buffer": 1, "size_bytes": 114944,
        "xoff_bytes": 91392, "xon_bytes": 81408, "headroom_bytes": 23544, "priorities": [0], "source": "formula"}]' "$SCRATCH/plan"
    check "(the commands were undone)" diff "$SCRATCH/untouched" "$SCRATCH/again"
    check "the document leaves what the four commands leave" diff "$SCRATCH/by-commands" "$SCRATCH/by-document"
    check "and restore nothing of it" diff "$SCRATCH/untouched" "$SCRATCH/after"
}

# ---- refusals, deaths -------------------------------------------------------------------------------------------------

# The driver itself refuses.
test_driver_refuses() {
    local pair bad=""
    for pair in ieee_setpfc=16 dcbnl_setbuffer=34 set_tunable=95 ieee_setapp=1; do
        echo "echo $pair > fail; nic-config set /tmp/doc.json > /tmp/out 2> /tmp/err; echo exit \$?; grep -o '\"undone\": true' /tmp/out
            echo ${pair%=*}=0 > fail; nic-config diff /tmp/first.json > /dev/null && echo same || cat /tmp/err"
    done >"$SCRATCH/refuse.sh"
    softlab_ssh sw 'nic-config get data0 data1 > /tmp/first.json; cd /sys/module/testnic/parameters; bash' <"$SCRATCH/refuse.sh" >"$SCRATCH/refused" 2>&1
    [ "$(sort "$SCRATCH/refused" | uniq -c | awk '{$1 = $1; print}' | paste -sd,)" = '4 "undone": true,4 exit 3,4 same' ] || bad=$(cat "$SCRATCH/refused")
    if [ -z "$bad" ]; then ok "the driver refuses (EBUSY, ERANGE, EOPNOTSUPP, EPERM in four calls): all is undone"; else nok "the driver refuses: all is undone" "$bad"; fi
}

test_flap() {
    say '{"data0":{"pfc":[5]}}' >"$SCRATCH/flap.json"
    to_sw "$SCRATCH/flap.json" flap.json
    softlab_ssh sw 'echo 900 > /sys/module/testnic/parameters/flap_ms; nic-config set /tmp/flap.json > /dev/null && cat /sys/class/net/data0/carrier
        nic-config restore > /dev/null && cat /sys/class/net/data0/carrier; echo 0 > /sys/module/testnic/parameters/flap_ms' >"$SCRATCH/carrier"
    check "a PFC change takes the link down: set and restore wait until it is back" test "$(paste -sd, "$SCRATCH/carrier")" = 1,1
}

# A ring that the driver rounds is not what was asked.
test_mismatch() {
    say '{"data0":{"mtu":3000,"rx_ring":1000}}' >"$SCRATCH/ring.json"
    to_sw "$SCRATCH/ring.json" ring.json
    softlab_ssh sw '. /tmp/picture.sh; nic-config set /tmp/ring.json > /tmp/out 2>/dev/null; echo $? > /tmp/code; picture | diff /tmp/first - >> /tmp/code; tar -C /tmp -cf - out code' | tar -C "$SCRATCH" -xf -
    check "a value that reads back as another: what was asked and read is told, and undone" jq -e '.undone and .asked.rx_ring == 1000 and .read.rx_ring == 1024' "$SCRATCH/out"
    check "and the machine is as it was" test "$(cat "$SCRATCH/code")" = 3
}

# ---- marked = CE ------------------------------------------------------------------------------------------------------

congestion_document() {
    say '{"br-cp": {"kind": "bridge", "up": true}, "data0": {"bridge": "br-cp", "up": true},
          "data1": {"bridge": "br-cp", "up": true, "red": {"limit": "1000000B", "min": "30000B", "max": "150000B", "avpkt": "1000B", "burst": 50,
                    "bandwidth": "20Mb/s", "probability": 0.2, "roce_only": true, "shape": "20Mb/s"}}}'
}

ce_packets() { softlab_ssh b "awk '/^IpExt:/ { if (!n) { for (i = 2; i <= NF; i++) if (\$i == \"InCEPkts\") n = i } else print \$n }' /proc/net/netstat"; }

# Traffic from a to b through the marking bridge; leaves marked, dropped early and CE marks received in $SCRATCH/counts. Guests
# of a busy machine may send less than the bridge's line carries: then no queue grew, and RED had nothing to do. It is tried again.
congest() { # TRAFFIC_CLASS SECONDS
    local try
    for try in 1 2 3 4 5; do
        congest_once "$1" $((try * $2)) || return 1
        [ "$(cut -d ' ' -f 1,2 "$SCRATCH/counts")" = "0 0" ] || return 0
    done
}

congest_once() { # TRAFFIC_CLASS SECONDS
    local before after
    softlab_ssh sw 'nic-config set /tmp/congestion.json > /tmp/set.json' || return 1
    before=$(ce_packets)
    softlab_ssh b "timeout 60 ib_write_bw -d rxe0 -x 1 -F -D $2 -s 65536 --tclass=$1" >"$SCRATCH/server" 2>&1 </dev/null &
    sleep 1.5
    softlab_ssh a "timeout 60 ib_write_bw -d rxe0 -x 1 -F -D $2 -s 65536 --tclass=$1 10.0.1.2" >"$SCRATCH/client" 2>&1 </dev/null || cat "$SCRATCH/client" >&2
    wait $!
    after=$(ce_packets)
    softlab_ssh sw 'tc -j -s qdisc show dev data1' | jq -r '.[] | select(.kind == "red") | "\(.marked) \(.early)"' >"$SCRATCH/counts"
    softlab_ssh sw 'nic-config restore > /dev/null' || return 1
    echo "$(cat "$SCRATCH/counts") $((after - before))" >"$SCRATCH/counts"
}

test_marking() {
    local run marked early ce
    congestion_document >"$SCRATCH/congestion.json"
    to_sw "$SCRATCH/congestion.json" congestion.json
    for run in 1 2 3; do
        congest 106 2
        read -r marked early ce <"$SCRATCH/counts"
        check "run $run, ECT(0): RED marked $marked, the receiver counts $ce CE, $early dropped early" test "$marked" -gt 0 -a "$marked" = "$ce"
    done
    congest 104 2
    read -r marked early ce <"$SCRATCH/counts"
    check "not ECN-capable: $marked marked, $ce CE, $early dropped early" test "$marked" = 0 -a "$ce" = 0 -a "$early" -gt 0
}

test_default_qdisc
test_marking
modules_or_skip "DCB, ETS, buffers, rings, coalescing, devlink"
at_exit unload_modules
if load_modules >"$SCRATCH/load" 2>&1; then ok "the test modules are loaded"; else nok "the test modules are loaded" "$(cat "$SCRATCH/load")"; fi
test_published
test_everything
test_red
test_driver_refuses
test_flap
test_mismatch
finish
