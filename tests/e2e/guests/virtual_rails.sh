#!/bin/bash
# Hosts with several NICs: three guests with two virtual ConnectX each, of which each is a node of the lab with counters and settings of its own,
# and a guest for each rail that is its switch. A slow receiver pauses its own rail and no other; a burn-in names what is bad, and nothing else;
# a killed run is put back at all NICs; a bond of them is refused. Then two rails with Soft-RoCE.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/e2e/guests/softlab.bash
. "$(dirname "$0")/softlab.bash"
softlab_require "$0" "$@"
H=$BUILD/harness
OUT=$SCRATCH/results
LAB=$ROOT/labs/virtual-rails.json

softlab_module "guests with virtual ConnectX"
softlab_begin virtual-rails

# shellcheck disable=SC2317 # called through check
holds() { [ -s "$2" ] && jq -e "$1" "$2"; } # FILTER FILE
in_force() { softlab_ssh "$1" nic-config get roce0 roce1 < /dev/null | jq -S .interfaces; }
# shellcheck disable=SC2317 # called through check
slowed() { softlab_ssh "$1" '[ -e /run/harness-virtual-gpu ]' < /dev/null; }
# Counters by node, from before traffic to after it.
# shellcheck disable=SC2317 # called through check
counted() { holds ".hosts | map_values(.counters | map_values(.total)) | $1" "$2"; } # FILTER RESULT
hosts=(a b c)
for host in "${hosts[@]}"; do in_force "$host" > "$SCRATCH/$host.before"; done

# ---- what is there
softlab_provision status --quiet --json > "$SCRATCH/status"
check "a guest with two NICs is one domain" holds '[.hosts[] | [.host, .domain, .complete]] == [("a", "b", "c", "s0", "s1") | [., "virtual-rails-" + ., true]]' "$SCRATCH/status"
check "... of that name to itself" test "$(softlab_ssh b hostname < /dev/null)" = b
check "... which virt-provision finds by the name of a NIC, too" test "$(softlab_provision ssh b.rail1 -- hostname)" = b
number=0
for host in "${hosts[@]}"; do
    number=$((number + 1))
    check "$host: each NIC has its address" softlab_ssh "$host" "for i in 0 1; do ip -br address show roce\$i | grep -q ' 10.2.'\$i'.$number/24 ' || exit 1; done" < /dev/null
done
# shellcheck disable=SC2016 # the guest expands it
check "packets go from rail to rail" softlab_ssh a 'for i in 0 1; do for to in 2 3; do ping -c 1 -W 20 -I roce$i 10.2.$i.$to || exit 1; done; done' < /dev/null
check_exit 0 "doctor finds nothing wrong" "$H" doctor --lab "$LAB" --for pfc-bidir-rails --json
check "... and looks at each NIC and each rail" holds '([.[] | select(.check == "nic" and .verdict == "ok").host] | sort) == [(("a", "b", "c") | . + (".rail0", ".rail1")), "s0", "s1"]
    and ([.[] | select(.check == "pfc" and .verdict == "ok").host] | sort) == ["a.rail0->b.rail0", "a.rail1->b.rail1", "b.rail0->a.rail0", "b.rail1->a.rail1"]' "$SCRATCH/out"

# ---- both rails at once; what stands for a GPU's memory is slow at b.rail1
check_exit 0 "pfc-bidir-rails passes in host memory, and in GPU memory" "$H" run "$ROOT/scenarios/pfc-bidir-rails.json" --lab "$LAB" --out "$OUT" --no-report
for cell in 01 02; do cp -rL "$OUT/pfc-bidir-rails/latest/$cell" "$SCRATCH/$cell"; done
host=$SCRATCH/01/result.json
gpu=$SCRATCH/02/result.json
for memory in host gpu; do
    result=${!memory}
    check "in $memory memory it is complete, and virtual" holds '.complete and .origin == "virtual"' "$result"
    check "... each NIC is a node of its machine" holds '[.hosts | to_entries[] | .key] == ["a.rail0", "a.rail1", "b.rail0", "b.rail1"]' "$result"
    check "... each rail carries its own flows, both ways" holds '[.flows[] | select(.bytes > 0 and .errors == 0)] | length == 4' "$result"
    # what a NIC receives is what the other end of its rail sent, and no other
    check "... what one end of a rail sent the other received, but for what was on the way" counted \
        '[[.["a.rail0"], .["b.rail0"]], [.["a.rail1"], .["b.rail1"]] | [.[0].tx_prio3_bytes, .[1].rx_prio3_bytes], [.[1].tx_prio3_bytes, .[0].rx_prio3_bytes]] | all(.[0] > 0 and (.[1] / .[0] - 1 | fabs) < 0.1)' "$result"
    check "... nothing is lost" counted 'all(.rx_prio3_discards == 0 and .out_of_sequence == 0 and .packet_seq_err == 0)' "$result"
    jq -r '.flows | to_entries[] | "# \(.key): \(.value.goodput_bps / 1e6 * 100 | round / 100) Mb/s"' "$result"
done
check "in host memory no NIC pauses" counted 'all(.tx_prio3_pause == 0)' "$host"
check "in GPU memory b.rail1 pauses its switch, and that a.rail1" counted '.["b.rail1"].tx_prio3_pause > 0 and .["a.rail1"].rx_prio3_pause > 0 and .["a.rail1"].rx_prio3_pause_duration > 0' "$gpu"
ports() { softlab_ssh s1 cat /sys/kernel/debug/virtual-connectx/switch/counters < /dev/null | awk -v name="$1" '$1 == name { print $2 }'; }
check "... as the switch counted, too" test "$(ports port1_rx_prio3_pause)" -gt 0 -a "$(ports port0_tx_prio3_pause)" -gt 0
check "... no other NIC pauses" counted '[.["a.rail0"], .["a.rail1"], .["b.rail0"] | .tx_prio3_pause] | all(. == 0)' "$gpu"
# a switch that waits for a processor may hold senders for a moment
check "... and the other rail is hardly paused" counted '(.["a.rail1"].rx_prio3_pause_duration > 5 * ([.["a.rail0"], .["b.rail0"], .["b.rail1"] | .rx_prio3_pause_duration] | max))' "$gpu"
check "... what b's NICs count together is what that one counts" holds '.machines.b.of == ["b.rail0", "b.rail1"] and .machines.b.counters.tx_prio3_pause.total == .hosts["b.rail1"].counters.tx_prio3_pause.total' "$gpu"
# in host memory the rails are of about equal speed
check "... which carries more than the slow one" holds '.flows | .["a-to-b.rail0"].bytes > .["a-to-b.rail1"].bytes' "$gpu"
check "... the lab's numbers were put into that NIC's model alone" holds '[to_entries[] | select(.value.read_back | has("virtual_gpu")).key] == ["b.rail1"]' "$SCRATCH/02/settings.json"
"$H" explain --json "$SCRATCH/02" > "$SCRATCH/causes"
check "explain: of all NICs b.rail1 is slow to take" holds '[.causes[] | select(.kind == "slow-receiver").culprit] == ["b.rail1"]' "$SCRATCH/causes"
for host in a b; do
    check "$host: both NICs are as before" test "$(in_force $host)" = "$(cat "$SCRATCH/$host.before")"
    check "... and memory" eval "! slowed $host"
done

# ---- a burn-in: all stages that need no other programs; b.rail1's slow memory is all that is wrong
# burn_in NAME OPTION...: its document is $burn. Larger packets take less of the guests' processors.
burn_in() {
    "$H" burn-in "$LAB" --out "$OUT/$1" --no-report --set settings.mtu=4200 "${@:2}" > "$SCRATCH/said" 2> "$SCRATCH/warned"
    sed 's/^/# /' "$SCRATCH/said"
    burn=$OUT/$1/burn-in-virtual-rails/latest/burn-in.json
}
# The runs of the stage with incasts: without DCQCN, with it.
# shellcheck disable=SC2317 # called through check
incasts() { # FILTER-OF-RESULTS
    jq -es "$1" "$(dirname "$burn")"/6-lossless/latest/0?/result.json
}
cells='def cells(ecn): map(select(.scenario.settings.ecn == ecn)); def counted: .hosts | map_values(.counters | map_values(.total)); def nics: to_entries | map(select(.key | test("rail")).value);'
burn_in all
jq -r '.figures | to_entries[] | "# \(.key), Mb/s: \(.value | map_values(. / 1e6 * 100 | round / 100))"' "$burn"
check "burn-in: all stages but that of nvbandwidth are whole" holds '.complete and ([.stages[] | select(.verdict != "skipped") | .name] == ["doctor", "nics", "gpus", "pairs", "lossless"]) and ([.stages[] | select(.name == "nvbandwidth").reason] == ["no host has it"])' "$burn"
check "... six NICs have figures of host memory and of GPU memory" holds '(.figures | keys) == [("a", "b", "c") | . + (".rail0", ".rail1")] and all(.figures[]; length == 4)' "$burn"
check "... the NIC with the slow memory is named, and nothing else" holds '[.findings[] | .kind + " " + .culprit] == ["gpu-route b.rail1"]' "$burn"
check "... PFC and DCQCN were seen to work at all others: nothing is unknown" holds '.unknown == []' "$burn"
check "... incasts to each host were run, without DCQCN and with it" incasts "$cells "'[cells([]), cells([3]) | length] == [3, 3]'
check "... without DCQCN the switches pause senders on both rails" incasts "$cells "'cells([]) | all(counted | .s0.tx_pause > 0 and .s1.tx_pause > 0 and (nics | map(select(.rx_prio3_pause > 0)) | length) == 4)'
check "... and mark nothing" incasts "$cells "'cells([]) | all(counted | .s0.ecn_marked == 0 and .s1.ecn_marked == 0)'
check "... with it they mark, and CNPs come back" incasts "$cells "'cells([3]) | all(counted | .s0.ecn_marked > 0 and .s1.ecn_marked > 0 and (nics | (map(.np_cnp_sent) | add > 0) and (map(.rp_cnp_handled) | add > 0)))'
check "... nothing is lost" incasts "$cells "'all(counted | .s0.buffer_discards == 0 and .s1.buffer_discards == 0 and (nics | all(.packet_seq_err == 0 and .out_of_sequence == 0)))'
for host in "${hosts[@]}"; do check "$host: both NICs are as before" test "$(in_force "$host")" = "$(cat "$SCRATCH/$host.before")"; done

# ---- a cable that loses frames, and a NIC with PFC off: both are named, and nothing else
softlab_ssh c 'echo drop data every 20 > /sys/kernel/debug/virtual-connectx/1/fault' < /dev/null
burn_in faults --stages nics --stages lossless --set 'settings_of.a.rail0={"pfc": []}'
softlab_ssh c 'echo off > /sys/kernel/debug/virtual-connectx/1/fault' < /dev/null
check "burn-in: who is named for lost frames and for PFC" holds '[.findings[] | .kind + " " + .culprit] | sort == ["link-errors c.rail1 - s1", "pfc-off a.rail0"]' "$burn"
check "... by what the switch sent it" holds '.findings[] | select(.kind == "pfc-off") | .sure and (.evidence[0] | test("^s0 sent it [0-9]+ pauses, and it counted none$"))' "$burn"

# ---- killed
"$H" run "$ROOT/scenarios/pfc-bidir-rails.json" --lab "$LAB" --out "$OUT/killed" --no-report --set 'sweep={}' --set phases.measure=300s > /dev/null 2>&1 &
RUN=$!
until [ -n "$(find "$OUT"/killed -name run.log -exec grep -l 'phase measure' {} + 2> /dev/null)" ] || ! kill -0 $RUN; do sleep 0.1; done
for host in a b; do check "$host: one sampler samples both NICs" test "$(softlab_ssh $host 'pgrep -xc nic-sampler' < /dev/null)" = 1; done
kill -KILL $RUN
wait $RUN 2> /dev/null
for host in a b; do check "kill -9: at $host settings of both NICs stayed behind" test "$(in_force $host | jq -c 'map_values(.mtu)')" = '{"roce0":4200,"roce1":4200}'; done
check "... and b's memory slow" slowed b
check_exit 0 "harness restore" "$H" restore --lab "$LAB"
check "... makes that memory as fast as before" eval '! slowed b'
for host in a b; do check "... and both NICs of $host are as before" test "$(in_force $host)" = "$(cat "$SCRATCH/$host.before")"; done

# ---- a bond of both NICs. The model has no LAG, so the driver makes no device of two ports.
# shellcheck disable=SC2016 # the guest expands it
softlab_ssh a 'modprobe bonding max_bonds=0 && ip link add bond0 type bond mode 802.3ad miimon 100 &&
    for i in 0 1; do ip link set roce$i down && ip link set roce$i master bond0 || exit 1; done &&
    for name in bond0 roce0 roce1; do ip link set $name up || exit 1; done && ip address add 10.2.9.1/24 dev bond0' < /dev/null || nok "a bond is made"
check "each NIC in the bond keeps an RDMA device: the driver makes no LAG" test "$(softlab_ssh a 'rdma link show | grep -oE "mlx5_[^/]*|netdev .*" | xargs' < /dev/null)" = "mlx5_0 netdev roce0 mlx5_1 netdev roce1"
softlab_ssh a host-facts --check < /dev/null > "$SCRATCH/facts"
for i in 0 1; do check_says "host-facts: roce$i is a port of the bond, and sends what is its own" "^warning  port +roce$i: it is a port of bond0, and keeps its RDMA device mlx5_$i" "$SCRATCH/facts"; done
check_exit 3 "doctor refuses" "$H" doctor --lab "$LAB" --for pfc-bidir-rails --json
check "... both NICs, by the names of the bond and of its ports" holds '[.[] | select(.verdict == "failure") | .reason | capture("(?<port>roce[01]) is a port of bond0").port] | sort == ["roce0", "roce1"]' "$SCRATCH/out"
check_exit 3 "a run does, too" "$H" run "$ROOT/scenarios/pfc-bidir-rails.json" --lab "$LAB" --out "$OUT/bond" --no-report --set 'sweep={}'
check_says "... by the names of the bond and of a port" 'roce0 is a port of bond0, whose traffic goes through all its ports' "$SCRATCH/err"
# the bond in the place of its ports
jq 'del(.scaled) | .hosts.a.nics = {rail0: {netdev: "bond0", address: "10.2.9.1/24"}} | .links[0].between = ["a.rail0", "s0"]' "$LAB" > "$SCRATCH/bond.json"
check_exit 3 "the bond itself is refused" "$H" run "$ROOT/scenarios/pfc-bidir.json" --lab "$SCRATCH/bond.json" --out "$OUT/bond" --no-report --set 'sweep={}'
check_says "... by the names of its ports" 'bond0 is a bond upon (roce0, roce1|roce1, roce0)' "$SCRATCH/err"
# shellcheck disable=SC2016 # the guest expands it
softlab_ssh a 'ip link del bond0; rmmod bonding; for i in 0 1; do ip link set roce$i up; done' < /dev/null
check "without the bond both NICs are as before" until_true 30 eval "[ \"\$(in_force a)\" = \"\$(cat '$SCRATCH/a.before')\" ]"
check "no driver complained" test -z "$(for host in "${hosts[@]}" s0 s1; do softlab_ssh "$host" dmesg < /dev/null | grep -E 'BUG|WARNING|Call Trace|mlx5_core.*(timeout|failed|health)'; done)"

# ---- four NICs: as many as the memory is for that the guest's kernel reserves, a cable between the first two and another between the others
# shellcheck disable=SC2016 # the guest expands it
softlab_ssh a 'rmmod mlx5_ib mlx5_core virtual_connectx && insmod /lib/modules/$(uname -r)/extra/virtual_connectx.ko memory=0x8000000 functions=4 &&
    modprobe -a mlx5_core mlx5_ib' < /dev/null || nok "four NICs are made"
# shellcheck disable=SC2016 # the guest expands it
check "a guest has four NICs, each with a link" until_true 120 softlab_ssh a 'for i in 0 1 2 3; do ip link set roce$i up; done; [ $(rdma link show | grep -c "state ACTIVE.*netdev roce") = 4 ]'
softlab_down virtual-rails

# ---- Soft-RoCE
LAB=$ROOT/labs/soft-rails.json
softlab_begin soft-rails
check "each interface has a device of Soft-RoCE" test "$(softlab_ssh b 'rdma link show | grep -oE "rxe[01]|netdev .*" | xargs' < /dev/null)" = "rxe0 netdev data0 rxe1 netdev data1"
check_exit 0 "pfc-bidir-rails passes" "$H" run "$ROOT/scenarios/pfc-bidir-rails.json" --lab "$LAB" --out "$OUT" --no-report --set 'sweep={}' --set 'flows.*.memory=host'
result=$(readlink -f "$OUT/pfc-bidir-rails/latest")/result.json
check "... each rail carries its own flows, both ways" holds '[.flows[] | select(.bytes > 0 and .errors == 0)] | length == 4' "$result"
check "... and each NIC counts its own packets" counted '[.[] | .sent_pkts, .rcvd_pkts] | length == 8 and all(. > 0)' "$result"
finish
