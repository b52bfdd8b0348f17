#!/bin/bash
# Two models of the same thing: pfc-bidir in GPU memory on two guests with virtual ConnectX and in the simulator, whose lab is made from the
# guests' lab: the same line, buffers, thresholds and write rate, with all times divided by the line's scale. docs/virtual-connectx.md says
# what makes them differ.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/e2e/guests/softlab.bash
. "$(dirname "$0")/softlab.bash"
softlab_require "$0" "$@"
# shellcheck source=tests/e2e/guests/simulated.bash
. "$(dirname "$0")/simulated.bash"
H=$BUILD/harness
OUT=$SCRATCH/results
SCALE=5000 # of labs/virtual-pair.json: 25 Gb/s over 5 Mb/s

softlab_module "guests with a virtual ConnectX"
softlab_begin virtual-pair

# b's memory takes 150 kb/s, so that one turn of pause and transmission lasts most of a second, far longer than an emulated guest takes to
# notice a frame. What b sends is paced below what guests carry on a busy machine. Acknowledgements may wait for that long.
jq '.hosts.b.gpu = {write: "150kb/s"} | .hosts[].nic.ack_timeout = 10 | .scaled["flows.*.depth"] = 32
    | .scaled += {"sample.every": "1s", "phases.warmup": "1s", "phases.measure": "40s", "phases.cooldown": "500ms"}' \
    "$ROOT/labs/virtual-pair.json" > "$SCRATCH/virtual.json"
simulated_lab

# Messages of 16 KiB: each completes on its own (the programs ask for fewer completions of smaller ones, and then wait with less than their
# depth on the way; the simulator does not), 32 of them are more than b's buffer holds, and they need few acknowledgements: a's share its
# line with what a sends.
same() { # NAME PACE-OF-B: the cell in GPU memory, on the lab NAME
    side "$1" "$1" pfc-bidir --set 'sweep={}' --set 'flows.*.memory=gpu' --set 'flows.*.message=16KiB' --set "flows.b-to-a.rate=$2"
}
same simulated "$((250 * SCALE))kb/s"
same virtual 250kb/s

# per second of the guests' time; shares are of the time
# shellcheck disable=SC2016  # these are jq's variables
filter='{
    thresholds: [.hosts.b.buffers[] | [.xoff_bytes, .xon_bytes]],
    lost: ([.hosts[].counters | .rx_prio0_discards.total // 0] | add),
    "pauses/s": (.hosts.b.counters.tx_prio0_pause.delta / $seconds),
    "pauses/turn": (.hosts.b.counters.tx_prio0_pause.delta / .hosts.a.counters.rx_prio0_pause_transition.delta),
    "turns/s": (.hosts.a.counters.rx_prio0_pause_transition.delta / $seconds),
    "share of time paused": (.hosts.a.counters.rx_prio0_pause_duration.delta / 1e6 * $scale / $seconds),
    "a to b, kb/s": (.flows["a-to-b"].goodput_bps / 1000 / $scale), "b to a, kb/s": (.flows["b-to-a"].goodput_bps / 1000 / $scale)}'
for name in simulated virtual; do figures $name "$filter" "$OUT/$name/pfc-bidir/latest/result.json"; done
show_both
# shellcheck disable=SC2016  # these are jq's variables
check "the thresholds are the same, and nothing is lost" beside '$s.thresholds == $v.thresholds and $s.lost + $v.lost == 0'
agree "a to b, kb/s" 15
agree "b to a, kb/s" 15
agree "pauses/turn" 15
agree "share of time paused" 15
# a guest that is scheduled late sends for a while longer after each pause: turns are fewer and longer
agree "pauses/s" 30
finish
