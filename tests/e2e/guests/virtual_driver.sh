#!/bin/bash
# mlx5 drivers on a virtual ConnectX (the kernel's own, or MLNX_OFED's of HARNESS_MLX5_MODULES), and this project's programs on them: the sampler reads what ethtool, rdma, dcb, tc and ip
# read; each of nic-config's settings is taken, read back and restored, also after SIGKILL; PFC beside global pause; doctor's verdicts about
# a NIC in both outcomes; the model refused nothing that the drivers asked for but what a list here explains.
# shellcheck disable=SC2016,SC2317 # what stands in single quotes is the guest's or jq's; functions are called by name
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/e2e/guests/softlab.bash
. "$(dirname "$0")/softlab.bash"
softlab_require "$0" "$@"
LAB=$ROOT/labs/virtual-pair.json
DEBUG=/sys/kernel/debug/virtual-connectx/0

softlab_module "guests with a virtual ConnectX"
softlab_begin virtual-pair
OFED=
! softlab_ofed a || OFED=1

in_force() { softlab_ssh "$1" nic-config get roce0 | jq -S .interfaces; }
is_as_before() { in_force a | diff "$SCRATCH/a.before" -; }
# The document goes to host a; the other words are nic-config's.
configure() { softlab_ssh a "cat > /tmp/document.json; nic-config $* /tmp/document.json" < "$SCRATCH/document.json"; }
restore() { softlab_ssh a nic-config restore; }
say() { echo "{\"schema\":1,\"interfaces\":{\"roce0\":$1}}" > "$SCRATCH/document.json"; }
published='"mtu": 4200, "pfc": [0], "prio_to_buffer": {"0": 1}, "buffer_bytes": [0, 114944], "cable": "1m", "trust": "pcp"'
both() { for host in a b; do softlab_ssh $host "$1" || return 1; done; }
both 'echo virtual_driver begins > /dev/kmsg'
# connection management's settings, of which traffic_class is one
both 'modprobe rdma_cm; mountpoint -q /sys/kernel/config || mount -t configfs configfs /sys/kernel/config' || nok "rdma_cm is there"
for host in a b; do in_force $host > "$SCRATCH/$host.before"; done

# ---- the sampler, beside the tools of the distribution

# Something of each kind is to be counted. First pauses: each end takes 50 KB/s of a line that carries 625, and its peer has more
# outstanding than the receive buffer holds. Then marks and CNPs, and one frame of each kind of fault at both ends, in the midst of the
# 64 that the first drive writes: a loss is seen by the frames that follow it (what is lost last only ends with the time-out).
make_traffic() {
    say "{$published}"
    for host in a b; do softlab_ssh "$host" 'cat > /tmp/document.json; nic-config set /tmp/document.json' < "$SCRATCH/document.json" || return 1; done
    both "echo all write_bytes_per_s 50000 > $DEBUG/pace"
    serve
    drive -o write -b -s 64KiB -n 4 || return 1
    both "echo off > $DEBUG/pace
        for fault in 'mark every 7' 'drop data 20' 'duplicate data 30' 'fcs data 40'; do echo \$fault > $DEBUG/fault; done"
    drive --ecn ect0 -o write -b -s 32KiB -n 8 && drive -o read -b -s 4KiB -n 4 || return 1
    softlab_ssh b 'pkill -INT -x roce-traffic'
    both "echo off > $DEBUG/fault"
}
# hw_counters HOST NAME; by_ethtool HOST NAME...: the sum
hw_counter() { softlab_ssh "$1" "cat /sys/class/infiniband/mlx5_0/ports/1/hw_counters/$2"; }
by_ethtool() { softlab_ssh "$1" 'ethtool -S roce0' | awk -v names=" ${*:2} " 'index(names, " " substr($1, 1, length($1) - 1) " ") { n += $2 } END { print n }'; }
# Sixteen messages on their way, receives for two, or one: each packet that finds none is answered by a NAK that its sender counts.
# On a faster line, so that the sender waits for parts of a second.
lack_receives() {
    local sent received
    sent=$(hw_counter a rnr_nak_retry_err) received=$(hw_counter b out_of_buffer)
    both "echo 200 > $DEBUG/line_mbit"
    serve
    drive -o send -b -s 4KiB -n 32 --receive-depth 2 && drive -o send -s 4KiB -n 32 --receive-depth 1 || return 1
    softlab_ssh b 'pkill -INT -x roce-traffic'
    both "echo 5 > $DEBUG/line_mbit"
    sent=$(($(hw_counter a rnr_nak_retry_err) - sent)) received=$(($(hw_counter b out_of_buffer) - received))
    echo "# without a receive: b $received, its NAKs at a $sent"
    test "$received" -gt 0 -a "$received" = "$sent"
}
# A ring of 64 that the driver looks at every 2 s, and more frames than that.
# shellcheck disable=SC2016 # the guest expands it
lack_ring_entries() {
    local came=(rx_vport_unicast_packets rx_vport_multicast_packets rx_vport_broadcast_packets) ring lost went
    ring=$(softlab_ssh a "ethtool -g roce0 | awk '/^RX:/ { n = \$2 } END { print n }'")
    softlab_ssh a 'ethtool -G roce0 rx 64 && cd /sys/class/net/roce0 && echo 1000 > napi_defer_hard_irqs && echo 2000000000 > gro_flush_timeout' || return 1
    lost=$(by_ethtool a rx_out_of_buffer) went=$(($(by_ethtool a "${came[@]}") - $(by_ethtool a rx_packets)))
    both "echo 200 > $DEBUG/line_mbit"
    softlab_ssh b 'ping -f -q -c 300 -W 1 10.0.2.1 > /dev/null'
    both "echo 5 > $DEBUG/line_mbit"
    softlab_ssh a 'cd /sys/class/net/roce0 && echo 0 > gro_flush_timeout && echo 0 > napi_defer_hard_irqs && sleep 3' # its timer ends
    lost=$(($(by_ethtool a rx_out_of_buffer) - lost)) went=$(($(by_ethtool a "${came[@]}") - $(by_ethtool a rx_packets) - went))
    echo "# without an entry of the ring: $lost, missing of those that came: $went"
    softlab_ssh a "ethtool -G roce0 rx $ring" && test "$lost" -gt 0 -a "$lost" = "$went"
}
serve() {
    softlab_ssh b 'pkill -x roce-traffic; rm -f /tmp/serve.out; (exec roce-traffic serve --listen :: --address 10.0.2.2 > /tmp/serve.out 2>&1 < /dev/null &)
        until grep -qs ready /tmp/serve.out; do sleep 0.2; done'
}
drive() { softlab_ssh a "roce-traffic drive 10.0.2.2 --address 10.0.2.1 --depth 16 --ack-timeout 8 $*" < /dev/null; }
# What the others read before and after the sampler; counters stand still when both agree.
compare_script() {
    cat <<'SH'
tools() {
    ethtool -S roce0
    echo "@rdma"; rdma -j statistic show link mlx5_0/1
    echo "@dcb"; dcb -j -s pfc show dev roce0 requests indications
    echo "@standard"; ethtool --json -S roce0 --all-groups
    echo "@pause"; ethtool --json -I -a roce0
    echo "@qdisc"; tc -j -s qdisc show dev roce0
    echo "@link"; ip -j -s -s link show dev roce0
    echo "@snmp6"; cat /proc/net/dev_snmp6/roce0
    if cd /sys/class/net/roce0/ecn 2> /dev/null; then echo "@ecn"; grep -r . *; else echo "@cc"; cd /sys/kernel/debug/mlx5/0001:00:00.0/cc_params; grep . *; fi
}
for try in 1 2 3 4 5 6; do
    tools > /tmp/tools
    nic-sampler --netdev roce0 --rdma mlx5_0 --every 1s --count 1 > /tmp/samples
    tools > /tmp/tools.after
    cmp -s /tmp/tools /tmp/tools.after && break
    sleep 1
done
cmp /tmp/tools /tmp/tools.after >&2
cat /tmp/tools; echo @samples; cat /tmp/samples
SH
}
part() { awk -v part="@$1" '/^@/ { on = $0 == part; next } on' "$SCRATCH/tools"; }
# The tools' values, a line each: the sampler's source and name, and the value.
values_of_tools() {
    sed '/^@/,$d' "$SCRATCH/tools" | sed -n 's/^ *\([^:]*\): \([0-9]*\)$/ethtool \1 \2/p'
    part rdma | jq -r '.[0] | to_entries[] | select(.key != "port") | select(.value | type == "number") | "rdma \(.key) \(.value)"'
    part dcb | jq -r 'to_entries[] | .key as $k | .value | to_entries[] | "dcb pfc_prio\(.key)_\($k) \(.value)"'
    part standard | jq -r '.[0] | .[] | objects | to_entries[] | if (.value | type) == "number" then "standard \(.key) \(.value)"
        elif .key == "rx-pktsNtoM" then .value[] | "standard rx_packets_\(.low)_to_\(.high) \(.val)" else empty end'
    part pause | jq -r '.[0].statistics | to_entries[] | "standard \(.key) \(.value)"'
    part qdisc | jq -r '.[] | select(.root) | "bytes packets drops overlimits requeues backlog qlen" as $names | . as $q | $names | split(" ")[] | "qdisc qdisc_mq_\(.) \($q[.])"'
    part link | jq -r '.[0] | "link link_mtu \(.mtu)", "link link_carrier_changes \(.stats64.tx.carrier_changes)", "link link_carrier \(if .flags | index("LOWER_UP") then 1 else 0 end)",
        (.stats64 | to_entries[] | .key as $way | .value | to_entries[] | select(.key | IN("packets", "bytes", "errors", "dropped")) | "link link_\($way)_\(.key) \(.value)"),
        "link link_rx_missed \(.stats64.rx.missed_errors)", "link link_rx_crc_errors \(.stats64.rx.crc_errors)"'
    part snmp6 | awk '/^Ip6In(NoECT|ECT1|ECT0|CE)Pkts/ { print "link", $1, $2 }'
    part cc | sed 's/_prio:/_802p_prio:/; s/rp_clamp_tgt_rate_ati:/rp_clamp_tgt_rate_after_time_inc:/' | awk -F: '
        { name = $1; sub(/^rp_(time_reset|byte_reset|threshold|ai_rate|hai_rate|max_rate|min_dec_fac|min_rate|gd)$/, "rpg_&", name); sub(/^rpg_rp_/, "rp_rpg_", name); print "dcqcn dcqcn_" name, $2 }'
    part ecn | sed -E 's,^roce_(rp|np)/enable/,\1_enable_prio,; s,^roce_(rp|np)/,\1_,' | awk -F: '{ print "dcqcn dcqcn_" $1, $2 }'
}
values_of_sampler() {
    part samples | jq -rs '.[0].columns as $c | [.[] | select(type == "array")][0][2:] | to_entries[] | "\($c[.key].source) \($c[.key].name) \(.value)"'
}
check "traffic with marks, a slow receiver and faults" make_traffic
check "packets without a receive are out_of_buffer, and each NAK of them is rnr_nak_retry_err at the sender" lack_receives
check "frames without an entry of the receive ring are rx_out_of_buffer, no more and no less" lack_ring_entries
compare_script | softlab_ssh a bash > "$SCRATCH/tools" 2> "$SCRATCH/moving"
check "counters stand still while they are compared" test ! -s "$SCRATCH/moving"
values_of_tools | LC_ALL=C sort > "$SCRATCH/theirs"
# the host's own IP counters count the management link too; the slot's link is no counter
values_of_sampler | grep -vE '^(ip|pcie) ' | LC_ALL=C sort > "$SCRATCH/ours"
check "each value of the sampler is the other tools'" diff <(comm -13 "$SCRATCH/theirs" "$SCRATCH/ours") /dev/null
compared() { comm -12 "$SCRATCH/theirs" "$SCRATCH/ours" | grep -c "^$1 ${2:-}"; }
for source in ethtool rdma dcb standard qdisc link dcqcn; do echo "# compared: $source $(compared $source), not zero $(compared $source '.* [1-9][0-9]*$')"; done
for source in ethtool:300:60 rdma:22:6 dcb:16:2 standard:26:12 qdisc:7:2 link:15:5 dcqcn:20:15; do
    IFS=: read -r name least not_zero <<< "$source"
    check "... of $name at least $least, $not_zero not zero" test "$(compared "$name")" -ge "$least" -a "$(compared "$name" '.* [1-9][0-9]*$')" -ge "$not_zero"
done
for counter in rx_write_requests rx_read_requests out_of_sequence packet_seq_err np_cnp_sent rp_cnp_handled np_ecn_marked_roce_packets out_of_buffer rnr_nak_retry_err; do
    check "... $counter is not zero" grep -qE "^rdma $counter [1-9]" "$SCRATCH/ours"
done
check "... nor are pauses, frames with a wrong checksum and those without an entry of the ring" test \
    "$(grep -cE '^ethtool (tx_prio0_pause|rx_prio0_pause|rx_crc_errors_phy|rx_out_of_buffer) [1-9]' "$SCRATCH/ours")" = 4

check_exit 0 "PFC was on meanwhile; restore" both 'nic-config restore'
check "... everything is as before" is_as_before

# ---- settings

# Everything that nic-config writes with these drivers, with values that are not in force.
every_setting='{"mtu": 4200, "rx_ring": 512, "tx_ring": 256, "rx_coalesce_us": 32, "rx_coalesce_frames": 64, "rx_pause": false, "tx_pause": false,
    "pfc": [0, 3], "prio_to_buffer": {"0": 1, "3": 1}, "buffer_bytes": [65536, 114944], "cable": "1m", "trust": "dscp", "dscp_to_prio": {"26": 3, "48": 6},
    "pfc_stall_ms": 100, "ets": {"prio_to_tc": {"0": 0, "1": 1, "3": 1}, "weights": [40, 60]}, "traffic_class": 106,
    "dcqcn": {"rp": {"clamp_tgt_rate": true, "clamp_tgt_rate_after_time_inc": false, "rpg_time_reset": 600, "rpg_byte_reset": 1000, "rpg_threshold": 3,
            "rpg_ai_rate": 40, "rpg_hai_rate": 200, "rpg_max_rate": 20000, "rpg_min_dec_fac": 60, "rpg_min_rate": 2, "rpg_gd": 10,
            "rate_to_set_on_first_cnp": 1000, "dce_tcp_g": 900, "dce_tcp_rtt": 5, "rate_reduce_monitor_period": 10, "initial_alpha_value": 500},
        "np": {"min_time_between_cnps": 10, "cnp_dscp": 40, "cnp_802p_prio": 5}}}'
# what MLNX_OFED's driver has besides: DCQCN by priority, and a traffic class that it forces on every queue pair
[ -z "$OFED" ] || every_setting=$(jq -c '. + {ecn_rp: [3], ecn_np: [0, 3]}' <<< "$every_setting")
say "$every_setting"
cp "$SCRATCH/document.json" "$SCRATCH/every.json"
check_exit 0 "every setting is set" configure set
cp "$SCRATCH/out" "$SCRATCH/set.json"
check "... each is read back as wanted" jq -e '. as $o | [$o.wanted.interfaces | paths(scalars)] |
    length > 40 and all(. as $p | ($o.wanted.interfaces | getpath($p)) == ($o.read_back.interfaces | getpath($p)))' "$SCRATCH/set.json"
softlab_ssh a 'dcb pfc show dev roce0; dcb buffer show dev roce0; dcb app show dev roce0; dcb ets show dev roce0; ethtool -g roce0 | tail -n +8; ethtool -a roce0; ethtool -c roce0
    cat /sys/class/net/roce0/mtu; cd /sys/kernel/config/rdma_cm; mkdir mlx5_0; cat mlx5_0/ports/1/default_roce_tos; rmdir mlx5_0
    grep . /sys/class/infiniband/mlx5_0/tc/1/traffic_class; cd /sys/class/net/roce0 && grep -r . ecn; grep . /sys/kernel/debug/mlx5/0001:00:00.0/cc_params/*' > "$SCRATCH/seen" 2>&1
seen_besides=('^106$')
[ -z "$OFED" ] || seen_besides=('^Global tclass=106$' 'ecn/roce_rp/enable/3:1$' 'ecn/roce_rp/enable/0:0$' 'ecn/roce_np/enable/0:1$' 'ecn/roce_rp/rpg_ai_rate:40$' 'ecn/roce_np/cnp_802p_prio:5$' 'np_cnp_prio_mode:0$')
for what in 'prio-pfc 0:on 1:off 2:off 3:on' 'delay 1 ' 'prio-buffer 0:1 1:0 2:0 3:1' 'buffer-size 0:64Kb 1:114944b' 'dscp-prio AF31:3 CS6:6' \
    'tc-bw 0:40 1:60' '^RX:\s*512$' '^TX:\s*256$' '^RX:\s*off$' 'rx-usecs:\s*32$' 'rx-frames:\s*64$' '^4200$' 'rp_ai_rate:40$' 'rp_initial_alpha_value:500$' 'np_cnp_prio:5$' "${seen_besides[@]}"; do
    check_says "... other programs see it: $what" "$what" "$SCRATCH/seen"
done
[ -z "$OFED" ] || check "... host-facts too: the traffic class" jq -e '.nics[] | select(.netdev == "roce0").rdma.traffic_class == 106' <(softlab_ssh a host-facts < /dev/null)
check "... two thresholds are the driver's" jq -e '.thresholds.roce0 | length == 1 and .[0].priorities == [0, 3] and .[0].xoff_bytes > .[0].xon_bytes' "$SCRATCH/set.json"
check_exit 0 "... restore" restore
check "... everything is as before" is_as_before

# ---- killed after some of its changes (tests/e2e/nic-config/fault.c), and its restore too

compile_preload "$SCRATCH/fault.so" "$ROOT/tests/e2e/nic-config/fault.c" || nok "the library of faults is built"
softlab_ssh a 'cat > /tmp/fault.so' < "$SCRATCH/fault.so"
killed() { # N COMMAND: prints the exit status
    softlab_ssh a "(FAULT=$1:kill LD_PRELOAD=/tmp/fault.so nic-config ${*:2} > /dev/null 2>&1); echo \$?" 2> /dev/null
}
softlab_ssh a 'cat > /tmp/document.json' < "$SCRATCH/every.json"
for moment in 1 7 14 30; do
    check "SIGKILL after change $moment" test "$(killed $moment set /tmp/document.json)" = 137
    [ $moment != 14 ] || check "... and again in the middle of the restore" test "$(killed 5 restore)" = 137
    check_exit 0 "... restore" restore
    check "... everything is as before" is_as_before
done

# ---- the mode of the CNPs' priority: with either driver a write of the priority sets it to 0

CNPS=/sys/kernel/debug/mlx5/0001:00:00.0/cc_params/np_cnp_prio
cnps() { softlab_ssh a "cat ${CNPS}_mode $CNPS" < /dev/null | tr '\n' ' '; }
softlab_ssh a "echo 1 > ${CNPS}_mode"
check "CNPs take the priority of what they answer" test "$(cnps | cut -c1)" = 1
say '{"dcqcn": {"np": {"cnp_802p_prio": 5}}}'
check_exit 0 "a priority of their own is set" configure set
check "... and used" test "$(cnps)" = "0 5 "
check_exit 0 "... restore" restore
check "... CNPs take the other's priority again" test "$(cnps | cut -c1)" = 1
softlab_ssh a "echo $(jq .roce0.dcqcn.np.cnp_802p_prio "$SCRATCH/a.before") > $CNPS"
check "everything is as before" is_as_before

# ---- refused, with the reason

refused() { # WHAT DOCUMENT REASON
    say "$2"
    check_exit 3 "refused: $1" configure set
    check_says "... with the reason" "$3" "$SCRATCH/err"
}
[ -n "$OFED" ] || refused "DCQCN by priority, which these drivers cannot switch" '{"ecn": [0]}' "ecn.*upstream's mlx5 cannot switch"
refused "a cable that the driver would ignore" '{"cable": "1000m"}' 'cable of 1000 m: expected 1 to 999 m'
refused "an MTU beyond the device's" '{"mtu": 20000}' 'mtu.*20000'
refused "a ring beyond the device's" '{"rx_ring": 65536}' 'rx_ring.*65536'
refused "more buffer than there is" '{"buffer_bytes": [200000, 200000]}' 'buffer.*(262016|total)'
refused "a lossless buffer below the driver's least" '{"pfc": [3], "buffer_bytes": [20000]}' 'buffer 0: 20000 bytes are too small'
refused "PFC and global pause" '{"pfc": [0], "rx_pause": true}' 'global pause and PFC.*rx_pause'
check "nothing of that was written" is_as_before

# ---- PFC beside global pause, which is on when the driver starts

state() { softlab_ssh a nic-config get roce0 | jq -c '.interfaces.roce0 | [.pfc, .rx_pause, .tx_pause, .prio_to_buffer["0"], .buffer_bytes[1]]'; }
check "pause is on and PFC is off" test "$(state)" = '[[],true,true,0,0]'
say "{$published}"
check_exit 0 "the published document where pause is on" configure set
check "... pause was turned off" test "$(state)" = '[[0],false,false,1,114944]'
check "... and nic-config says so" jq -e '.warnings | any(test("global pause .*turned off first"))' "$SCRATCH/out"
check_exit 0 "... restore" restore
check "... pause is on again" is_as_before
say '{"pfc": [0]}'
check_exit 0 "PFC alone where pause is on" configure set
check "... one of both is on, and the settings do not move each other" test "$(state)" = '[[0],false,false,0,0]'
check_exit 0 "... restore" restore
check "... everything is as before" is_as_before
say '{"prio_to_buffer": {"0": 1}, "buffer_bytes": [0, 114944]}'
check_exit 3 "with pause on, a map to a buffer that is still empty is refused by plan" configure plan
check_says "... by the driver's reason and the remedy" 'buffer 1: .*global pause .*0 bytes.*rx_pause' "$SCRATCH/err"
softlab_ssh a 'ethtool -A roce0 rx off tx off'
say "{$published}"
check_exit 0 "the published document where pause was turned off by hand" configure set
check "... the same end" test "$(state)" = '[[0],false,false,1,114944]'
check_exit 0 "... restore" restore
check "... pause stays off" test "$(state)" = '[[],false,false,0,0]'
softlab_ssh a 'ethtool -A roce0 rx on tx on'
check "everything is as before" is_as_before

# ---- doctor: what it says of a NIC, right and wrong

doctor() { "$BUILD/harness" doctor --lab "$LAB" --for "$1" --json > "$SCRATCH/doctor" 2> "$SCRATCH/err"; }
verdict() { jq -e --arg v "$1" --arg c "$2" --arg r "$3" 'any(.[]; .verdict == $v and .check == $c and (.reason | test($r)))' "$SCRATCH/doctor"; }
all_well() { # WHEN
    doctor "$ROOT/scenarios/pfc-bidir.json"
    for what in pfc mtu trust dscp_to_prio buffers roce-gid virtual pcie-link irq-affinity clock programs nic link port; do
        check "$1: $what is well" verdict ok $what .
    done
}
all_well "before"
# the same traffic with a receive buffer that has no size, CNPs expected, on hosts whose settings do not fit; b's card is in a bad slot, and
# far away
jq '.settings = {prio_to_buffer: {"0": 2}} | .name = "bad" | .expect += [{"name": "CNPs", "check": "delta(a.rp_cnp_handled) > 0"}]' "$ROOT/scenarios/pfc-bidir.json" > "$SCRATCH/bad.json"
unfit='{"pfc": [0], "mtu": 4200, "trust": "dscp", "dscp_to_prio": {"26": 3}}'
[ -z "$OFED" ] || unfit=$(jq -c '. + {ecn: []}' <<< "$unfit")
say "$unfit"
configure set > "$SCRATCH/out"
softlab_ssh b 'ip address del 10.0.2.2/24 dev roce0; mv /usr/local/bin/nic-sampler /tmp/
    printf "#!/bin/sh\n[ \"\$1\" != --version ] || exec echo nic-sampler 0.0.1\nexec /tmp/nic-sampler \"\$@\"\n" > /usr/local/bin/nic-sampler; chmod 755 /usr/local/bin/nic-sampler
    echo 4 > '$DEBUG'/pcie_lanes; tc qdisc add dev mgmt0 root netem delay 300ms'
doctor "$SCRATCH/bad.json"
check "PFC at one end is found" verdict failure pfc 'is on at a and off at b'
check "... MTUs that differ" verdict failure mtu 'MTUs differ: 4200 at a, 1500 at b'
check "... trust that differs" verdict failure trust 'differ'
check "... maps from DSCP that differ" verdict failure dscp_to_prio 'differ'
check "... a lossless priority without memory" verdict failure buffers 'lossless priority 0 uses receive buffer 2, which has size 0'
check "... a PCIe link that lacks lanes" verdict warning pcie-link 'on 4 lanes of 8'
check "... a clock that is not known well" verdict warning clock 'error at most 1[0-9][0-9]'
if [ -n "$OFED" ]; then
    check "... DCQCN that is off, where CNPs are expected" verdict failure ecn 'expectations count CNPs, but on priority 0 .*reaction'
else
    check "... DCQCN that these drivers cannot switch, where CNPs are expected" verdict warning ecn 'CNPs may be skipped'
fi
check "... an address that is missing" verdict failure roce-gid 'GID'
check "... settings that were left" verdict warning settings 'were not restored'
check "... a program of another version" verdict warning programs 'nic-sampler 0.0.1, but this is harness'
jq -r '.[] | select(.verdict | IN("ok", "unknown") | not) | "# \(.host): \(.check) \(.verdict): \(.reason)"' "$SCRATCH/doctor"
softlab_ssh b 'tc qdisc del dev mgmt0 root; ip address add 10.0.2.2/24 dev roce0; mv /tmp/nic-sampler /usr/local/bin/
    echo 8 > '$DEBUG'/pcie_lanes; echo 0 > '$DEBUG/cable
restore > "$SCRATCH/out"
doctor "$ROOT/scenarios/pfc-bidir.json"
check "a cable that is pulled out is found" verdict failure link 'roce0 has no carrier'
jq -r '.[] | select(.verdict | IN("ok", "unknown") | not) | "# \(.host): \(.check) \(.verdict): \(.reason)"' "$SCRATCH/doctor"
softlab_ssh b "echo 1 > $DEBUG/cable; until [ \$(cat /sys/class/net/roce0/carrier) = 1 ]; do sleep 0.2; done"
softlab_ssh a "until [ \$(cat /sys/class/net/roce0/carrier) = 1 ]; do sleep 0.2; done" # the cable's other end
all_well "after"

# ---- what the drivers asked for

# Refused commands and registers, with the reason why that is right:
explained='^none$'
for host in a b; do
    softlab_ssh $host "cat $DEBUG/usage" > "$SCRATCH/usage.$host"
    check "$host: the drivers asked for many commands and registers" test "$(grep -c '^command' "$SCRATCH/usage.$host")" -ge 40 -a "$(grep -c '^register' "$SCRATCH/usage.$host")" -ge 15
    check "... none was refused without a reason" test -z "$(awk '$NF != "0x0" && !/^interrupts/ { print $1, $2, $NF }' "$SCRATCH/usage.$host" | grep -vE "$explained")"
    awk '$NF != "0x0" && !/^interrupts/ { print "# refused: " $0 }' "$SCRATCH/usage.$host"
done
for host in a b; do check "$host: all that was written was memory to be written to" grep -qx 'refused_writes 0' <(softlab_ssh $host cat $DEBUG/counters); done
check "no driver complained" test -z "$(for host in a b; do softlab_ssh $host dmesg | sed '1,/virtual_driver begins/d' | grep -E 'BUG|WARNING|Call Trace|mlx5_core.*(timeout|health)'; done)"
finish
