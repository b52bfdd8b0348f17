#!/bin/bash
# Two models of the same thing: pfc-bidir in GPU memory on two guests with virtual ConnectX and in the simulator, whose lab is made from the
# guests' lab: the same line, buffers, thresholds and write rate, with all times divided by the line's scale. docs/virtual-connectx.md has the
# figures and what makes them differ.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/e2e/guests/softlab.bash
. "$(dirname "$0")/softlab.bash"
softlab_require "$0" "$@"
H=$BUILD/harness
OUT=$SCRATCH/results
SCENARIO=$ROOT/scenarios/pfc-bidir.json
SCALE=5000 # of labs/virtual-pair.json: 25 Gb/s over 5 Mb/s

softlab_module "guests with a virtual ConnectX"
softlab_begin virtual-pair

# b's memory takes 150 kb/s, so that one turn of pause and transmission lasts most of a second, far longer than an emulated guest takes to
# notice a frame. What b sends is paced below what guests carry on a busy machine. Acknowledgements may wait for that long.
jq '.hosts.b.gpu = {write: "150kb/s"} | .hosts[].nic.ack_timeout = 10 | .scaled["flows.*.depth"] = 32
    | .scaled["sample.every"] = "1s" | .scaled["phases.measure"] = "40s"' \
    "$ROOT/labs/virtual-pair.json" > "$SCRATCH/virtual.json"
# its simulated counterpart: an unhurried PCIe and memory, except for the rate of writes
jq --argjson scale $SCALE '{schema, name: "same-numbers", driver: "sim",
    scaled: (.scaled + {"phases.warmup": "\(1e9 / $scale)ns", "phases.measure": "\(40e9 / $scale)ns", "phases.cooldown": "\(5e8 / $scale)ns",
                        "sample.every": "\(1e9 / $scale)ns"}),
    hosts: (.hosts | map_values({nic: {},
        pcie: {generation: 5, lanes: 16, latency: "0", max_payload: "4096B", max_read_request: "4096B", completion: "4096B",
               posted_header_credits: 1, posted_data_credits: 256},
        gpu: {read: "40Tb/s", write: (if .gpu.write then "\(.gpu.write | rtrimstr("kb/s") | tonumber * 1000 * $scale)b/s" else "40Tb/s" end)}})),
    links: [.links[] | {between, length, rate: "\(.rate | rtrimstr("Mb/s") | tonumber * 1e6 * $scale)b/s"}]}' \
    "$SCRATCH/virtual.json" > "$SCRATCH/simulated.json"

# shellcheck disable=SC2317 # called through check
holds() { [ -s "$2" ] && jq -e "$1" "$2"; }
# Messages of 16 KiB: each completes on its own (the programs ask for fewer completions of smaller ones, and then wait with less than their
# depth on the way; the simulator does not), 32 of them are more than b's buffer holds, and they need few acknowledgements: a's share its
# line with what a sends.
same() { # NAME PACE-OF-B: the cell in GPU memory, on the lab NAME
    "$H" run "$SCENARIO" --lab "$SCRATCH/$1.json" --out "$OUT/$1" --no-report --set 'sweep={}' --set 'flows.*.memory=gpu' \
        --set 'flows.*.message=16KiB' --set "flows.b-to-a.rate=$2" > "$SCRATCH/$1.out" 2>&1
    check "$1: the run is complete" holds .complete "$OUT/$1/pfc-bidir/latest/result.json"
}
same simulated "$((250 * SCALE))kb/s"
same virtual 250kb/s

# per second of the guests' time; shares are of the time
# shellcheck disable=SC2016  # these are jq's variables
figures='(.phases[] | select(.name == "measure") | (.end_ns - .start_ns) / 1e9 * $scale) as $seconds | {
    simulated: .simulated,
    thresholds: [.hosts.b.buffers[] | [.xoff_bytes, .xon_bytes]],
    lost: ([.hosts[].counters | .rx_prio0_discards.total // 0] | add),
    "pauses/s": (.hosts.b.counters.tx_prio0_pause.delta / $seconds),
    "pauses/turn": (.hosts.b.counters.tx_prio0_pause.delta / .hosts.a.counters.rx_prio0_pause_transition.delta),
    "turns/s": (.hosts.a.counters.rx_prio0_pause_transition.delta / $seconds),
    "share of time paused": (.hosts.a.counters.rx_prio0_pause_duration.delta / 1e6 * $scale / $seconds),
    "a to b, kb/s": (.flows["a-to-b"].goodput_bps / 1000 / $scale), "b to a, kb/s": (.flows["b-to-a"].goodput_bps / 1000 / $scale)}'
jq --argjson scale $SCALE "$figures" "$OUT/simulated/pfc-bidir/latest/result.json" > "$SCRATCH/simulated.figures"
jq --argjson scale 1 "$figures" "$OUT/virtual/pfc-bidir/latest/result.json" > "$SCRATCH/virtual.figures"
jq -n --slurpfile s "$SCRATCH/simulated.figures" --slurpfile v "$SCRATCH/virtual.figures" '$s[0] as $s | $v[0] as $v
    | $s | keys_unsorted[3:][] | "# \(.): simulated \($s[.]), virtual \($v[.]), \((100 * ($v[.] / $s[.] - 1)) | round) %"' -r
# shellcheck disable=SC2016  # these are jq's variables
agree() { # FIGURE PER-CENT: they differ by less
    check "$1: within $2 % of the simulator's" jq -ne --slurpfile s "$SCRATCH/simulated.figures" --slurpfile v "$SCRATCH/virtual.figures" \
        --arg name "$1" --argjson most "$2" '$s[0][$name] as $s | $v[0][$name] as $v | $s > 0 and ($v / $s - 1 | fabs) * 100 < $most'
}
# shellcheck disable=SC2016  # these are jq's variables
check "one is simulated, the other is not" jq -ne --slurpfile s "$SCRATCH/simulated.figures" --slurpfile v "$SCRATCH/virtual.figures" \
    '$s[0].simulated and ($v[0].simulated | not) and $s[0].thresholds == $v[0].thresholds and $s[0].lost + $v[0].lost == 0'
agree "a to b, kb/s" 15
agree "b to a, kb/s" 15
agree "pauses/turn" 15
agree "share of time paused" 15
# a guest that is scheduled late sends for a while longer after each pause: turns are fewer and longer
agree "pauses/s" 30
finish
