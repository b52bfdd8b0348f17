#!/bin/bash
# pfc-bidir on two guests with virtual ConnectX: mlx5 drivers (the kernel's own, or those of HARNESS_MLX5_MODULES) take the settings and
# count; a slow receiver pauses its sender with PFC and loses packets without it; memory that stands for a GPU's is as slow as the lab says
# while a run uses it; a killed run is put back.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/e2e/guests/softlab.bash
. "$(dirname "$0")/softlab.bash"
softlab_require "$0" "$@"
H=$BUILD/harness
OUT=$SCRATCH/results
LAB=$ROOT/labs/virtual-pair.json
R=$OUT/pfc-bidir/latest

softlab_module "guests with a virtual ConnectX"
softlab_begin virtual-pair

# holds FILTER FILE: the file is there, is JSON, and the filter holds (jq takes an empty file for well).
# shellcheck disable=SC2317 # called through check
holds() { [ -s "$2" ] && jq -e "$1" "$2"; }
in_force() { softlab_ssh "$1" nic-config get roce0 | jq -S .interfaces; }
# What writes into a host's memory may carry; the receive buffer drains no faster.
pace() { softlab_ssh "$1" "echo '$2' > /sys/kernel/debug/virtual-connectx/0/pace"; }
# Stops the machines of both guests by turns while a new run measures, as a busy machine does: in 100 ms the line carries 62 KB, more than
# the headroom.
stand_still() {
    local host
    declare -A machine
    for host in a b; do machine[$host]=$(pgrep -f "guest=virtual-pair-$host,") || return; done
    until [ -n "$(find "$OUT" -name run.log -newer "$SCRATCH/before" -exec grep -l 'phase measure' {} + 2> /dev/null)" ]; do sleep 0.1; done
    for _ in $(seq 8); do
        for host in b a; do
            kill -STOP "${machine[$host]}"
            sleep 0.1
            kill -CONT "${machine[$host]}"
            sleep 0.1
        done
    done
    touch "$SCRATCH/stood"
}
# What a run exits with is not judged here: expectations about losses may fail on a busy machine.
DURATION=3s
run() { # FOLDER MEMORY OPTION...
    rm -rf "${SCRATCH:?}/$1"
    "$H" run "$ROOT/scenarios/pfc-bidir.json" --lab "$LAB" --duration $DURATION --out "$OUT" --no-report --set 'sweep={}' --set "flows.*.memory=$2" \
        "${@:3}" > "$SCRATCH/out" 2> "$SCRATCH/err"
    cp -rL "$R" "$SCRATCH/$1" 2> /dev/null || nok "$1: a result" "$(cat "$SCRATCH/err")"
}
# There is something to draw: on a busy machine a sample takes seconds.
is_sampled() { # FOLDER
    jq -se '(map(select(.phases?))[0].phases[] | select(.name == "measure")) as $m
        | [.[] | arrays | select(.[1] >= $m.start_ns and .[1] <= $m.end_ns)[0]] | group_by(.) | length == 2 and all(length >= 4)' "$1"/{result.json,samples.jsonl}
}
for host in a b; do in_force $host > "$SCRATCH/$host.before"; done

# ---- what is there
check_exit 0 "doctor finds nothing wrong" "$H" doctor --lab "$LAB" --for pfc-bidir --json
check "... says of both NICs what they are" holds '[.[] | select(.check == "virtual" and (.reason | test("not hardware.*its line carries 5 Mb/s")))] | length == 2' "$SCRATCH/out"
check "... and of their GPUs" holds '[.[] | select(.check == "virtual" and (.reason | test("virtual GPU.*not hardware")))] | length == 2' "$SCRATCH/out"
check "... PFC will be on at both ends" holds '[.[] | select(.check == "pfc" and .verdict == "ok")] | length == 2' "$SCRATCH/out"
check_exit 0 "a probe with the settings as they are" "$H" doctor --lab "$LAB" --for pfc-bidir --probe --json
check "... the driver counts its bytes on the priority of the flows, at both ends" holds '[.[] | select(.check | IN("tx-class", "rx-class")) | .verdict] == ["ok", "ok", "ok", "ok"] and any(.[]; .check == "same-class" and .verdict == "ok")' "$SCRATCH/out"
check_exit 3 "flows of a priority that the NICs do not give them" "$H" doctor --lab "$LAB" --for pfc-bidir --probe --json --set 'flows.*.priority=3' --set 'sweep={}' --set 'expect=[]' --set 'published=[]'
check "... leave with it, by their queue pairs, and the receivers take them for another" holds '[.[] | select(.check | IN("tx-class", "rx-class")) | "\(.host) \(.check) \(.verdict)"] == ["a tx-class ok", "a rx-class failure", "b tx-class ok", "b rx-class failure"]
    and all(.[] | select(.check == "rx-class"); (.reason | test("rx_prio3_bytes rose by .*, and rx_prio0_bytes by .*trust mode is pcp")) and (.fix | test("^set settings.trust"))) and any(.[]; .check == "same-class" and .verdict == "failure")' "$SCRATCH/out"
for host in a b; do check "... $host is as before" test "$(in_force $host)" = "$(cat "$SCRATCH/$host.before")"; done

# ---- as it is
run plain host --set 'capture={"limit": "20MB"}' --set 'verify=["go-back-n", "pfc", "icrc"]'
plain=$SCRATCH/plain/result.json
check "the run is complete, and virtual by the hosts' facts" holds '.complete and .origin == "virtual" and .scaled == {line_bps: 5000000, nominal_bps: 25000000000, scale: 5000}' "$plain"
check "the driver is mlx5_core" holds '[.hosts[].facts.nics[] | select(.netdev == "roce0") | .driver == "mlx5_core" and .virtual] == [true, true]' "$plain"
of_ofed=null
! softlab_ofed a || of_ofed=string
check "... the kernel's own, or MLNX_OFED's where a folder of it is named: by the hosts' facts too" holds "[.hosts[].facts.versions.mlnx_ofed | type] == [\"$of_ofed\", \"$of_ofed\"]" "$plain"
check "data moved both ways, without errors" holds '[.flows[] | select(.bytes > 0 and .errors == 0)] | length == 2' "$plain"
check "the driver counted it, by priority" holds 'all(.hosts[]; (.counters.rx_prio0_bytes | .source == "ethtool" and .delta > 0) and .counters.tx_prio0_bytes.delta > 0)' "$plain"
check "... and as RDMA" holds 'all(.hosts[]; .counters.rx_vport_rdma_unicast_bytes.total > 0 and (.counters.out_of_sequence | .source == "rdma"))' "$plain"
check "no receiver was slow: no pauses" holds '[.hosts[].counters.tx_prio0_pause.total] == [0, 0]' "$plain"
# shellcheck disable=SC2016 # these are jq's
check "the packets of both NICs were captured, and keep the rules" holds '(.capture | .frames > 100 and .frames == ([.ports[].frames] | add) and ([.ports[] | .port, .drops]) == ["a:0", 0, "b:0", 0])
    and ([.verify[].verdict] == ["passed", "skipped", "skipped"])' "$plain"
check "the driver took the settings" holds 'all(.[]; .read_back.roce0 | .mtu == 4200 and .pfc == [0] and .prio_to_buffer."0" == 1 and .buffer_bytes[1] == 114944)' "$SCRATCH/plain/settings.json"
check "... and has its old ones again" holds 'all(.[]; .restored and .after == .before)' "$SCRATCH/plain/settings.json"
check "thresholds are those that the driver computes" holds 'all(.hosts[].buffers[]; .xoff_bytes > .xon_bytes and .xon_bytes > 0)' "$plain"

# ---- a slow receiver
pace b 'all write_bytes_per_s 200000'
touch "$SCRATCH/before"
stand_still &
STILL=$!
# in the cool-down the receiver writes what it still has, up to 256 KiB at 200 KB/s: no pause comes after the last sample
run slow host --set phases.cooldown=3s --set 'capture={"limit": "20MB"}' --set 'verify=["go-back-n", "pfc"]'
kill $STILL 2> /dev/null
slow=$SCRATCH/slow/result.json
check "the machines of both guests stood still now and then" test -e "$SCRATCH/stood"
check "a slow receiver sends pauses, and its peer counts them" holds '.hosts.b.counters.tx_prio0_pause.total > 0 and .hosts.a.counters.rx_prio0_pause.total > 0' "$slow"
# shellcheck disable=SC2016 # a variable of jq
check "... they are in the capture of both ends, for a priority that is lossless, and no packet breaks a rule" holds '[.hosts.b.counters.tx_prio0_pause.total] as [$pauses]
    | [.verify[] | [.verdict, .count]] == [["passed", 0], ["passed", 0]] and (.verify[1].reason | capture("^(?<n>[0-9]+) PFC frames").n | tonumber) == $pauses' "$slow"
check "... and stops for them" holds '.hosts.a.counters.rx_prio0_pause_duration.total > 0' "$slow"
lossless='all(.hosts[].counters; .rx_prio0_discards.total == 0 and .out_of_sequence.total == 0 and .packet_seq_err.total == 0)'
check "... nothing is lost: the cable stands still while an end does" holds "$lossless" "$slow"
for host in a b; do check "... nor between the guests, at $host" grep -qx 'lower_missing 0' <(softlab_ssh $host cat /sys/kernel/debug/virtual-connectx/0/counters); done
check "... data still moves both ways" holds '[.flows[] | select(.bytes > 0 and .errors == 0)] | length == 2' "$slow"
check "... the other receiver is not slow" holds '.hosts.a.counters.tx_prio0_pause.total == 0' "$slow"
# the driver's names of pause counters are those of what is on: per priority with PFC, else global
run lossy host --set 'settings.pfc=[]' --set settings.rx_pause=false --set settings.tx_pause=false
lossy=$SCRATCH/lossy/result.json
check "without PFC there are no pauses" holds '[.hosts[].counters | to_entries[] | select(.key | test("x_(prio0|global)_pause$")) | select(.value.delta > 0)] == []' "$lossy"
check "... but losses, which RDMA notices" holds '.hosts.b.counters | .rx_prio0_discards.total > 0 and .out_of_sequence.total > 0' "$lossy"
pace b off

# ---- memory that stands for a GPU's: a dma-buf of the module
# shellcheck disable=SC2016  # the guest expands it
softlab_ssh b 'roce-traffic serve --listen 10.0.2.2 > /tmp/serve.log 2>&1 < /dev/null & echo $! > /tmp/serve.pid
    for _ in $(seq 600); do ! grep -q ready /tmp/serve.log || break; sleep 0.1; done' < /dev/null
softlab_ssh a roce-traffic drive 10.0.2.2 -s 16KiB -n 8 --depth 2 -m virtual-dmabuf --peer-memory virtual-dmabuf --validate < /dev/null > "$SCRATCH/dmabuf"
check "both ends register a dma-buf, and data goes from one into the other" jq -se 'map(select(.type == "summary"))
    | length == 1 and (.[0] | .complete and .errors == 0 and .messages == 8 and .memory.route == "virtual-dmabuf")' "$SCRATCH/dmabuf"
# shellcheck disable=SC2016  # the guest expands it
softlab_ssh b 'kill $(cat /tmp/serve.pid); rm /tmp/serve.pid /tmp/serve.log' < /dev/null
# the lab says how slow it is, of b alone
# shellcheck disable=SC2317 # called through eval too
slowed() { softlab_ssh "$1" '[ -e /run/harness-virtual-gpu ]' < /dev/null; }
for DURATION in 3s 15s 60s; do
    run gpu gpu
    if is_sampled "$SCRATCH/gpu" > "$SCRATCH/sampled" 2>&1; then break; fi
done
gpu=$SCRATCH/gpu/result.json
check "the guests' kernel was unpacked when their image was made" \
    test "$(head -c 4 "$("$ROOT/guest-setup/build-image" debian-12-softroce)/vmlinuz")" = $'\x7fELF'
check "the guests' clocks go as this machine's since the first run" jq -se 'map(.hosts | map_values(.clock.offset_ns))
    | [.[1].a - .[0].a, .[1].b - .[0].b] | all(fabs < 1e9)' "$plain" "$gpu"
check "in GPU memory the run is complete, and virtual" holds '.complete and .origin == "virtual" and ([.hosts[].capabilities | index("gpu")] | all)' "$gpu"
check "... flows use the module's memory at both ends" holds '[.flows[].memory_used | select(.kind == "gpu" and .route == "virtual-dmabuf")] | length == 2' "$gpu"
check "... every expectation of this cell is decided" holds '.expectations | map(select(.reason | startswith("only when") | not).verdict) | length == 9 and all(IN("passed", "failed"))' "$gpu"
check "... b's memory stalls: it pauses a, which is not asked to by a's" holds '.hosts.b.counters.tx_prio0_pause.total > 0 and .hosts.a.counters.tx_prio0_pause.total == 0' "$gpu"
check "... nothing is lost" holds "$lossless" "$gpu"
check "... the lab's numbers were put into b's model alone" holds '(.b.read_back.virtual_gpu | test("write_bytes_per_s 625000 stalls_per_s 4 stall_mean_ns 100000000 stall_window_ns 100000000$")) and (.a.read_back | has("virtual_gpu") | not)' "$SCRATCH/gpu/settings.json"
for host in a b; do check "... and taken back, at $host" eval "! slowed $host"; done

check_exit 0 "a report of it" "$H" report "$SCRATCH/gpu" --out "$SCRATCH/page"
check "... draws the driver's counters, in the line's unit" grep -q '^# sent, Mb/s: a tx_prio0_bytes' <(cat "$SCRATCH"/page/*throughput.tsv)
check "... and the share of time for which a was paused" grep -q 'a rx_prio0_pause_duration' <(cat "$SCRATCH"/page/*paused.tsv)

# ---- killed
"$H" run "$ROOT/scenarios/pfc-bidir.json" --lab "$LAB" --duration 60s --out "$OUT/killed" --no-report --set 'sweep={}' --set 'flows.*.memory=gpu' > /dev/null 2>&1 &
RUN=$!
for _ in $(seq 600); do
    [ -z "$(find "$OUT"/killed -name run.log -exec grep -l 'phase measure' {} + 2> /dev/null)" ] || break
    sleep 0.1
done
kill -KILL $RUN
wait $RUN 2> /dev/null
check "kill -9: settings stayed behind" test "$(in_force a | jq '.roce0.mtu')" = 4200
check "... and b's memory slow" slowed b
check_exit 0 "harness restore" "$H" restore --lab "$LAB"
check "... says that of the memory too" grep -q "^b: the memory that stands for a GPU's is as fast as the host's again" "$SCRATCH/out"
check "... which it is" eval '! slowed b'
for host in a b; do check "... $host is as before" test "$(in_force $host)" = "$(cat "$SCRATCH/$host.before")"; done
check "no driver complained" test -z "$(for host in a b; do softlab_ssh $host dmesg | grep -E 'BUG|WARNING|Call Trace|mlx5_core.*(timeout|failed|health)'; done)"
finish
