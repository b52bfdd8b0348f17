#!/bin/bash
# Two models of an incast: two guests send to a third through a guest that is the switch, and the same in the simulator, whose lab is made
# from the guests'. DCQCN alone, then PFC alone. docs/virtual-connectx.md says what makes them differ.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/e2e/guests/softlab.bash
. "$(dirname "$0")/softlab.bash"
softlab_require "$0" "$@"
# shellcheck source=tests/e2e/guests/simulated.bash
. "$(dirname "$0")/simulated.bash"
H=$BUILD/harness
OUT=$SCRATCH/results
SCALE=12500 # 25 Gb/s over 2 Mb/s

softlab_module "a guest that is a switch"
softlab_begin virtual-switch

# A line that guests fill on a busy machine too.
# shellcheck disable=SC2317 # called through check
line() { # MBIT
    local host
    for host in h0 h1 h16; do softlab_ssh "$host" "echo $1 > /sys/kernel/debug/virtual-connectx/0/line_mbit"; done
    softlab_ssh s0 "echo line_bps ${1}000000 > /sys/kernel/debug/virtual-connectx/switch/setting"
}
at_exit line 5 # of labs/virtual-switch.json
check_exit 0 "the line carries 2 Mb/s" line 2
# DCQCN keeps the queue within the slope of the marks: a switch that was not scheduled for a while, and then finds frames of all that time,
# marks them with the chance that their queue has. PFC's turns last 0.8 s. 32 messages of 16 KiB are more than the switch holds of a sender.
labs() { # WARMUP MEASURE
    jq --arg warmup "$1" --arg measure "$2" '.links[].rate = "2Mb/s"
        | .hosts.s0.switch += {xon_offset: "64KiB", ecn: {kmin: "20KB", kmax: "160KB", pmax: 0.5}}
        | .scaled += {"flows.*.depth": 32, "traffic.*.depth": 32, "sample.every": "1s", "phases.warmup": $warmup, "phases.measure": $measure}' \
        "$ROOT/labs/virtual-switch.json" > "$SCRATCH/virtual.json"
    simulated_lab
}
message=(--set 'traffic.*.message=16KiB')

# ---- DCQCN alone. Its marks come by chance: the simulator's figures are means of five seeds. Increases by time alone, so that hundreds of
# CNPs belong to 90 s of this line.
dcqcn=("${message[@]}" --set settings.mtu=1500 --set 'settings.pfc=[]'
    --set 'settings.dcqcn.rp={"rpg_ai_rate": 100, "rpg_hai_rate": 100, "rpg_time_reset": 75, "rpg_byte_reset": 0, "rpg_min_rate": 100}')
labs 15s 90s
for seed in 1 2 3 4 5; do side dcqcn-simulated-$seed simulated incast-dcqcn --seed $seed "${dcqcn[@]}"; done
# In both senders, from now on: DCQCN's rate each second, while there is a queue pair that has one.
for host in h0 h1; do
    softlab_ssh $host '(while sleep 1; do sed -n "s/.* rate_mbit \([0-9]*\) .*/\1/p" /sys/kernel/debug/virtual-connectx/0/queue_pairs; done) \
        > /run/rates 2> /dev/null < /dev/null & echo $! > /run/rates.pid'
done
side dcqcn-virtual virtual incast-dcqcn "${dcqcn[@]}"
for host in h0 h1; do
    # shellcheck disable=SC2016 # the guest expands it
    # of the last 90 s: there is no queue pair before and after the flow
    softlab_ssh $host 'kill $(cat /run/rates.pid); tail -n 90 /run/rates; rm /run/rates /run/rates.pid' |
        jq -s 'add / length / '$SCALE' * 1000' > "$SCRATCH/$host.rate"
done
jq --slurpfile rates <(cat "$SCRATCH"/h[01].rate) '. + {rates: $rates}' "$OUT/dcqcn-virtual/incast-dcqcn/latest/result.json" > "$SCRATCH/dcqcn-virtual.json"
# Of the guests' time and line, not of the nominal ones.
# shellcheck disable=SC2016  # these are jq's variables
common='.hosts as {$h0, $h1, $h16, $s0} | def kbps: . / 1000 / $scale; def per_s: .rate_per_s / $scale; {
    lost: $s0.counters.buffer_discards.total,
    "h0, kb/s": (.flows["incast/0"].goodput_bps | kbps), "h1, kb/s": (.flows["incast/1"].goodput_bps | kbps),
    "queue, bytes": $s0.counters.shared_bytes.mean}'
# shellcheck disable=SC2016
filter=$common' + {
    "marks/s": ($s0.counters.ecn_marked | per_s), "CNPs sent/s": ($h16.counters.np_cnp_sent | per_s),
    "CNPs handled/s": ([$h0, $h1 | .counters.rp_cnp_handled | per_s] | add),
    "rate of h0, kb/s": (.rates[0] // $h0.counters["dcqcn_incast-0_rate"].mean / '$SCALE' / 1000),
    "rate of h1, kb/s": (.rates[1] // $h1.counters["dcqcn_incast-1_rate"].mean / '$SCALE' / 1000)}'
figures simulated "$filter" "$OUT"/dcqcn-simulated-?/incast-dcqcn/latest/result.json
figures virtual "$filter" "$SCRATCH/dcqcn-virtual.json"
show_both
# shellcheck disable=SC2016
check "nothing is lost" beside '$s.lost + $v.lost == 0'
for figure in "marks/s" "CNPs sent/s" "CNPs handled/s" "queue, bytes" "rate of h0, kb/s" "rate of h1, kb/s" "h0, kb/s" "h1, kb/s"; do agree "$figure" 15; done

# ---- PFC alone. A queue pair of the virtual ConnectX has at most 128 packets on the way: of this size more than the switch holds of a sender.
labs 5s 45s
for name in simulated virtual; do side pfc-$name $name incast-pfc "${message[@]}" --set settings.mtu=2200; done
# shellcheck disable=SC2016
filter=$common' + {
    "pauses/s": ($s0.counters.tx_pause | per_s),
    "turns of h0/s": ($h0.counters.rx_prio3_pause_transition | per_s), "turns of h1/s": ($h1.counters.rx_prio3_pause_transition | per_s),
    "share of time h0 paused": ($h0.counters.rx_prio3_pause_duration.rate_per_s / 1e6),
    "share of time h1 paused": ($h1.counters.rx_prio3_pause_duration.rate_per_s / 1e6)}'
for name in simulated virtual; do figures $name "$filter" "$OUT/pfc-$name/incast-pfc/latest/result.json"; done
show_both
# shellcheck disable=SC2016
check "nothing is lost" beside '$s.lost + $v.lost == 0'
for figure in "pauses/s" "share of time h0 paused" "share of time h1 paused" "queue, bytes" "h0, kb/s" "h1, kb/s"; do agree "$figure" 15; done

# ---- what happened, and why
for run in dcqcn-virtual/incast-dcqcn pfc-virtual/incast-pfc; do
    said=$("$H" explain --json "$OUT/$run/latest" | jq -r '.causes[0] // {kind: "none", culprit: "-"} | "\(.kind) \(.culprit)"')
    check "explain: $run is an incast into h16 ($said)" test "$said" = "incast h16"
done
finish
