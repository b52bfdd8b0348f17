#!/bin/bash
# Incast on three guests with virtual ConnectX behind a guest that is a switch: PFC alone, DCQCN alone, both; a storm of pauses and the
# watchdog. What one end counts the other has to have counted too; times and rates are not judged.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/e2e/guests/softlab.bash
. "$(dirname "$0")/softlab.bash"
# shellcheck source=tests/e2e/guests/switched.bash
. "$(dirname "$0")/switched.bash"
softlab_require "$0" "$@"
H=$BUILD/harness
OUT=$SCRATCH/results
LAB=$ROOT/labs/virtual-switch.json

softlab_module "a guest that is a switch"
softlab_begin virtual-switch

# holds FILTER FILE: the file is there, is JSON, and the filter holds. t: counters by host, from before traffic to after it.
# shellcheck disable=SC2317 # called through check
holds() { [ -s "$2" ] && jq -e "def t: .hosts | map_values(.counters | map_values(.total)); $1" "$2"; }
# A run; what it exits with is not judged here: expectations about rates may fail on a busy machine.
run() { # NAME SCENARIO DURATION OPTION...
    "$H" run "$ROOT/scenarios/$2.json" --lab "$LAB" --duration "$3" --set phases.warmup=3s --out "$OUT/$1" --no-report "${@:4}" \
        > "$SCRATCH/out" 2> "$SCRATCH/err"
    cp -L "$OUT/$1/$2/latest/result.json" "$SCRATCH/$1" 2> /dev/null || nok "$1: a result" "$(cat "$SCRATCH/err")"
    check "$1: the run is complete" holds '.complete and .origin == "virtual"' "$SCRATCH/$1"
}
# On a guest, from now on: as soon as CONDITION holds, COMMAND. The guest itself waits: a connection to a busy one takes long.
as_soon_as() { # HOST CONDITION COMMAND
    softlab_ssh "$1" "(until $2; do sleep 0.2; done; $3) > /dev/null 2>&1 < /dev/null & echo \$! > /run/as-soon-as"
}
no_more() { softlab_ssh "$1" 'xargs kill < /run/as-soon-as 2> /dev/null; rm /run/as-soon-as'; }
device=/sys/kernel/debug/virtual-connectx/0

# ---- PFC alone
run pfc incast-pfc 6s
count "$SCRATCH/pfc.counted" "h0 h1 h16" s0
pfc=$SCRATCH/pfc
check "the switch pauses both senders" holds 't.s0.port0_tx_prio3_pause > 0 and t.s0.port1_tx_prio3_pause > 0' "$pfc"
check "... they count as many pauses as it has sent" counted '.h0.port_prio3_rx_pause == .s0.port0_tx_prio3_pause and .h1.port_prio3_rx_pause == .s0.port1_tx_prio3_pause' "$SCRATCH/pfc.counted"
check "... and stop for them" holds 't.h0.rx_prio3_pause_duration > 0 and t.h1.rx_prio3_pause_duration > 0' "$pfc"
check "the receiver is fast enough: it pauses no one" holds 't.h16.tx_prio3_pause == 0' "$pfc"
check "nothing is discarded or sent twice" holds 't.s0.buffer_discards == 0 and t.h0.packet_seq_err == 0 and t.h1.packet_seq_err == 0 and t.h16.out_of_sequence == 0' "$pfc"
check "nothing is marked" holds 't.s0.ecn_marked == 0 and t.h16.np_ecn_marked_roce_packets == 0' "$pfc"
check "all that the switch sent to the receiver it got" counted '.s0.port2_tx_prio3_bytes > 0 and .s0.port2_tx_prio3_bytes == .h16.rx_prio3_bytes' "$SCRATCH/pfc.counted"

# ---- DCQCN alone
as_soon_as h0 "grep -qE ' rate_mbit ([1-9]|[0-9]{2,4}|1[0-9]{4}|2[0-4][0-9]{3}) ' $device/queue_pairs" 'echo yes > /run/reduced'
run dcqcn incast-dcqcn 6s --set 'settings.pfc=[]'
no_more h0
dcqcn=$SCRATCH/dcqcn
marks_come_back() { # NAME
    count "$SCRATCH/$1.counted" "h0 h1 h16" s0
    check "$1: packets are marked, and CNPs come back" holds 't.s0.port2_ecn_marked > 0 and t.h0.rp_cnp_handled > 0 and t.h1.rp_cnp_handled > 0' "$SCRATCH/$1"
    check "... each mark of the switch reached the receiver" counted '.s0.port2_ecn_marked == .h16.np_ecn_marked_roce_packets' "$SCRATCH/$1.counted"
    check "... each CNP was handled by a sender" counted '.h16.np_cnp_sent == .h0.rp_cnp_handled + .h1.rp_cnp_handled' "$SCRATCH/$1.counted"
}
marks_come_back dcqcn
check "... which reduces its rate below the line's" softlab_ssh h0 'rm /run/reduced'
check "without PFC there are no pauses" holds 't.s0.tx_pause == 0 and t.s0.rx_pause == 0' "$dcqcn"

# ---- both
run both incast-dcqcn 6s
marks_come_back both
check "with both nothing is discarded" holds 't.s0.buffer_discards == 0 and t.h16.out_of_sequence == 0' "$SCRATCH/both"
check "... and DCQCN spares the senders pauses" test \
    "$(jq '[.hosts.h0, .hosts.h1 | .counters.rx_prio3_pause_duration.total] | add' "$SCRATCH/both")" -lt \
    "$(jq '[.hosts.h0, .hosts.h1 | .counters.rx_prio3_pause_duration.total] | add' "$pfc")"

# ---- a storm: the receiver holds the switch for 5 s once data comes; detected after 1 s of its line, over 0.5 s after its end
frames=$(jq '.h16.port_prio3_rx_frames' "$SCRATCH/both.counted")
as_soon_as h16 "[ \"\$(sed -n 's/^priority 3 rx_frames \([0-9]*\) .*/\1/p' $device/counters)\" -gt $((frames + 100)) ]" "echo storm 5000 > $device/fault"
run storm incast-pfc 9s --set 'lab.hosts.s0.switch.watchdog={"detect": "200us", "restore": "100us"}'
no_more h16
storm=$SCRATCH/storm
count "$SCRATCH/storm.counted" "h0 h1 h16" s0
check "the switch counts the storm's pauses as its sender does" counted '.h16.port_prio3_tx_pause > 0 and .s0.port2_rx_prio3_pause == .h16.port_prio3_tx_pause' "$SCRATCH/storm.counted"
check "the watchdog finds it, and discards what waits for the port" holds 't.s0.watchdog_storms > 0 and t.s0.watchdog_discards > 0' "$storm"
check "no flow has errors: what was discarded is sent again" holds '[.flows[].errors] | add == 0' "$storm"
check "without a watchdog there was none" holds 't.s0.watchdog_storms == 0 and t.s0.watchdog_discards == 0' "$pfc"
check "the watchdog lets go of every storm that it found" counted '.s0.watchdog_restores == .s0.watchdog_storms' "$SCRATCH/storm.counted"
check "nothing stays in the buffer" counted '.s0.shared_bytes == 0' "$SCRATCH/storm.counted"
check "no driver complained" test -z "$(for host in h0 h1 h16 s0; do softlab_ssh $host dmesg | grep -E 'BUG|WARNING|Call Trace|mlx5_core.*(timeout|failed|health)'; done)"
finish
