#!/bin/bash
# perftest and roce-traffic between two guests with a virtual ConnectX: what a result says is what perftest printed; NUMA nodes and relaxed
# ordering as a flow asks for them. UCX and datagrams of 4 KiB, whose buffers are not aligned to pages. (Options and errors of perftest, with a
# stand-in: tests/e2e/traffic/perftest.sh.)
# shellcheck disable=SC2016 # what is quoted is for jq
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/e2e/guests/softlab.bash
. "$(dirname "$0")/softlab.bash"
softlab_require "$0" "$@"
softlab_module "guests with a virtual ConnectX"
softlab_begin virtual-pair
H=$BUILD/harness
OUT=$SCRATCH/results
LAB=$ROOT/labs/virtual-pair.json
R=$OUT/relaxed-ordering/latest
jq '.phases = {warmup: "1s", measure: "3s", cooldown: "0"} | .flows[0] += {memory: "host", message: "4KiB", depth: 8, queue_pairs: 1, tool: "perftest"} | del(.sweep)' \
    "$ROOT/scenarios/relaxed-ordering.json" > "$SCRATCH/tools.json"
# shellcheck disable=SC2317 # called through check
holds() { [ -s "$2" ] && jq -e "${@:3}" "$1" "$2"; }
go() { check_exit 0 "$1" "$H" run "$SCRATCH/tools.json" --lab "$LAB" --out "$OUT" --no-report "${@:2}"; }
# the row of the last run's table: bytes, messages, ...
row() { sed -n 's/^.*a: perftest:  *\([0-9][0-9]*  *[0-9].*\)$/\1/p' "$R/run.log"; }

check_exit 0 "doctor finds perftest on the guests" "$H" doctor --lab "$LAB" --for "$SCRATCH/tools.json" --json
check "... its version" holds '[.[] | select(.check == "tool" and .verdict == "ok" and (.reason | test("^perftest 6[.]06 has what flow a-to-b needs$")))] | length == 2' "$SCRATCH/out"

# perftest prints MiB/s with two digits, and the rate that the result has from 1 message of 4 KiB a second on: half a digit of each.
for op in write read send; do
    go "ib_${op}_bw between two guests" --set "flows.*.op=$op"
    # on a busy machine perftest can print rates of 0 with its messages: the result has no rate then
    read -r _ messages _ average rate <<< "$(row)"
    echo "# ib_${op}_bw printed: $(row)"
    check "... its messages and its average are the result's" holds '.complete and .origin == "virtual" and (.flows["a-to-b"] | .messages == $n and .bytes == $n * 4096 and (if $average == 0 and $rate == 0 then .goodput_MiBps == null else .goodput_MiBps - $average | fabs <= 0.007 end))' \
        "$R/result.json" --argjson n "${messages:-0}" --argjson average "${average:--1}" --argjson rate "${rate:--1}"
    # the sender of the data; its counters see a little more than the measured time, or a little less
    sender=a
    [ $op != read ] || sender=b
    sent=$(jq -s --arg host $sender '(map(objects | select(.host == $host and .columns))[0].columns | map(.name) | index("tx_vport_rdma_unicast_bytes")) as $i | map(arrays | select(.[0] == $host) | .[3 + $i]) | .[-1] - .[0]' "$R/samples.jsonl")
    check "... the driver counts these bytes as RDMA ($sent)" test "${sent:-0}" -ge $((4096 * ${messages:-1000000000}))
done
check "strict ordering was asked for, by the NIC's own GID" holds '.flows["a-to-b"] | .relaxed_ordering == false and (.tool_used | .client, .server | test("--disable_pcie_relaxed --ib-dev=[a-z0-9_]+ --ib-port=1 --gid-index=[0-9]+$"))' "$R/result.json"
order() { grep -c "a: perftest:.*PCIe relax order: $1" "$R/run.log"; }
check "... and perftest says so" test "$(order OFF) $(order ON)" = "1 0"
go "ib_send_lat, a number of messages" --set 'flows.*.mode=latency' --set 'flows.*.op=send' --set 'flows.*.message=64B' --set 'flows.*.size=6400B'
check "... has the quantiles that it printed" holds '.flows["a-to-b"].latency_ns | .min > 0 and .min <= .p50 and .p50 <= .p99 and .p99 <= .max' "$R/result.json"
go "ib_write_lat, for a time" --set 'flows.*.mode=latency' --set 'flows.*.message=64B'
check "... has the mean alone" holds '.flows["a-to-b"].latency_ns | keys == ["mean"] and .mean > 0' "$R/result.json"

# ---- relaxed ordering: the driver takes it where the configuration space allows it
go "perftest with relaxed ordering" --set 'flows.*.relaxed_ordering=true'
check "... by its own default" holds '.flows["a-to-b"] | .relaxed_ordering and (.tool_used.client | test("disable_pcie_relaxed") | not)' "$R/result.json"
check "... and perftest says so" test "$(order OFF) $(order ON)" = "0 1"
go "roce-traffic with relaxed ordering" --set 'flows.*.tool=roce' --set 'flows.*.relaxed_ordering=true'
check "... registered its memory so" holds '.flows["a-to-b"].memory_used == {kind: "host", route: "host", relaxed_ordering: true}' "$R/result.json"
# Device Control is 8 bytes into the capability with number 16, in a list that begins at the place that byte 52 names.
# shellcheck disable=SC2016 # the guest expands it
flip='config=/sys/class/net/roce0/device/config
    byte() { od -An -tu1 -j"$1" -N1 $config | tr -d " "; }
    at=$(byte 52)
    until [ "$(byte "$at")" = 16 ]; do at=$(byte $((at + 1))); done
    printf "\\$(printf %o $(($(byte $((at + 8))) ^ 16)))" | dd of=$config bs=1 seek=$((at + 8)) conv=notrunc status=none'
softlab_ssh a "$flip" < /dev/null
check_exit 4 "a NIC whose configuration forbids it" "$H" run "$SCRATCH/tools.json" --lab "$LAB" --out "$OUT" --no-report --set 'flows.*.relaxed_ordering=true'
check_says "... is skipped by name" 'lacks relaxed-ordering: flow a-to-b has relaxed_ordering, and host virtual-pair-a has no NIC' "$SCRATCH/out"
"$H" doctor --lab "$LAB" --json > "$SCRATCH/doctor" 2> /dev/null
check "... which doctor names too" holds '[.[] | select(.check == "relaxed-ordering") | "\(.host) \(.verdict)"] == ["a warning", "b ok"]' "$SCRATCH/doctor"
softlab_ssh a "$flip" < /dev/null

# ---- NUMA nodes: a guest has one
go "on the NIC's NUMA node" --set 'flows.*.tool=roce' --set 'flows.*.numa=near'
check "... where its memory was allocated" holds '.flows["a-to-b"] | .numa == "near" and .memory_used.numa_node == 0' "$R/result.json"
check_exit 4 "the farthest NUMA node" "$H" run "$SCRATCH/tools.json" --lab "$LAB" --out "$OUT" --no-report --set 'flows.*.tool=roce' --set 'flows.*.numa=far'
check_says "... is not there, which skips the run by name" 'lab virtual-pair lacks numa: flow a-to-b has numa far, and host virtual-pair-a has no other NUMA node' "$SCRATCH/out"

# ---- buffers at any address: a device that wrote beyond their pages corrupted the guest that receives, and its programs crashed
# the RDMA device and the index of its RoCEv2 GID for IPv4
# shellcheck disable=SC2016 # the guest expands it
roce='port=$(echo /sys/class/infiniband/*/ports/1)
    device=${port#/sys/class/infiniband/}
    device=${device%%/*}
    for at in "$port"/gids/*; do
        index=${at##*/}
        case $(cat "$at") in 0000:0000:0000:0000:0000:ffff:*)
            [ "$(cat "$port/gid_attrs/types/$index" 2> /dev/null)" != "RoCE v2" ] || break ;;
        esac
    done'
peer=$(softlab_ssh b 'ip -4 -o address show dev roce0' < /dev/null | sed -n 's|.* inet \([0-9.]*\)/.*|\1|p')
# packets of 4096 bytes need more than the default MTU
for host in a b; do softlab_ssh $host 'cat /sys/class/net/roce0/mtu > /run/mtu-before; ip link set roce0 mtu 4200; echo virtual_tools: unaligned > /dev/kmsg' < /dev/null; done
# A program between b, whose memory is written, and a: both ends say that all is well.
between() { # NAME SERVER CLIENT
    local server status
    softlab_ssh b "$roce; timeout 240 $2" > "$SCRATCH/server" 2>&1 < /dev/null &
    server=$!
    until_true 60 softlab_ssh b 'ss -Hltn | grep -q :18610' < /dev/null
    check "$1" softlab_ssh a "$roce; timeout 240 $3" < /dev/null
    wait $server
    status=$?
    if [ $status = 0 ]; then ok "... and its receiver ends well"; else nok "... and its receiver ends well" "exit code $status: $(tail -n 5 "$SCRATCH/server")"; fi
}
for transport in ud_verbs ud_mlx5; do
    # shellcheck disable=SC2016 # the guest expands it
    ucx='UCX_TLS='$transport' UCX_NET_DEVICES=$device:1 UCX_IB_GID_INDEX=$index ucx_perftest -p 18610'
    for i in 1 2 3; do
        between "UCX puts 64 KiB over $transport, $i" "env $ucx" "env $ucx $peer -t ucp_put_bw -s 65536 -n 20 -w 2"
    done
done
# shellcheck disable=SC2016 # the guest expands it
datagrams='ib_send_bw -c UD -s 4096 -n 200 -d "$device" -x "$index" -p 18610'
for i in 1 2 3 4 5; do
    between "ib_send_bw sends datagrams of 4096 bytes, $i" "$datagrams" "$datagrams $peer"
done
for host in a b; do softlab_ssh $host 'ip link set roce0 mtu "$(cat /run/mtu-before)"; rm /run/mtu-before' < /dev/null; done
check "no kernel complained" test -z "$(for host in a b; do softlab_ssh $host dmesg < /dev/null | sed '1,/virtual_tools: unaligned/d' | grep -E 'BUG|WARNING|Oops|Call Trace|general protection|segfault|mlx5_core.*(timeout|failed|health)'; done)"

left() { for host in a b; do softlab_ssh $host 'ps -e -o comm= | grep -xE "ib_(write|read|send)_(bw|lat)|roce-traffic|ucx_perftest"' < /dev/null; done; }
check "nothing of either is left on the guests" test -z "$(left)"
finish
