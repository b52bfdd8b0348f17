#!/bin/bash
# scenarios/victim-flow.json on five guests with virtual ConnectX behind two guests that are switches: an incast at a host of one switch
# pauses the link between them, and with it a flow to another host; DCQCN takes the pauses away. What one end counts the other has to
# have counted too; rates are compared between the two runs.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/e2e/guests/softlab.bash
. "$(dirname "$0")/softlab.bash"
# shellcheck source=tests/e2e/guests/switched.bash
. "$(dirname "$0")/switched.bash"
softlab_require "$0" "$@"

softlab_module "two guests that are switches"
softlab_begin virtual-dumbbell
run_both victim-flow virtual-dumbbell

for cell in 01 02; do
    name=$([ $cell = 01 ] && echo "PFC alone" || echo "with DCQCN")
    check "$name: the run is complete, and virtual" cell_holds '.complete and .origin == "virtual"' $cell
    check "... nothing is discarded or sent twice" cell_holds '([t.s0, t.s1 | .buffer_discards] + [t[] | .packet_seq_err // 0, .out_of_sequence // 0] | add) == 0' $cell
    check "... no flow has errors" cell_holds '[.flows[].errors] | add == 0' $cell
done
check "an incast behind the other switch pauses the link between them" cell_holds 't.s0.port3_rx_prio3_pause > 0' 01
check "... and the sender of a flow to another host" cell_holds 't.h7.rx_prio3_pause > 0 and t.h7.rx_prio3_pause_duration > 0' 01
check "... though that host pauses no one, and its port is free" cell_holds 't | .h15.tx_prio3_pause == 0 and .s1.port2_rx_prio3_pause == 0' 01
check "... nothing is marked" cell_holds '[t.s0, t.s1 | .ecn_marked] | add == 0' 01
check "with DCQCN the receiver's switch marks, and CNPs come back over both switches" cell_holds 't | .s1.port1_ecn_marked > 0 and .h0.rp_cnp_handled > 0 and .h1.rp_cnp_handled > 0' 02
paused() { jq '.hosts.h7.counters.rx_prio3_pause_duration.total' "$run/$1/result.json"; }
check "... its sender is paused for less than half as long ($(paused 02) us, $(paused 01) with PFC alone)" test $((2 * $(paused 02))) -lt "$(paused 01)"
victim() { jq '.flows.victim.bytes // 0' "$run/$1/result.json"; }
# Bytes a second of the time in which nobody paused the victim: what its guest could send.
unpaused_rate() { jq '(.flows.victim.bytes // 0) * 1e6 / (.flows.victim.duration_ns / 1e3 - .hosts.h7.counters.rx_prio3_pause_duration.delta) | floor' "$run/$1/result.json"; }
what="... and the victim sends at least a third more ($(victim 02) bytes, $(victim 01) with PFC alone)"
if [ $((3 * $(victim 02))) -gt $((4 * $(victim 01))) ]; then
    ok "$what"
elif [ $((3 * $(unpaused_rate 02))) -lt $((2 * $(unpaused_rate 01))) ] && cell_holds 't.h7.rp_cnp_handled == 0' 02 >/dev/null; then
    skip "$what" busy 1 "nothing cut the victim's rate, and it sent $(unpaused_rate 02) B/s while no one paused it, $(unpaused_rate 01) B/s in the other run"
else
    nok "$what"
fi

check "explain: the incast is the cause ($(caused_by 01))" test "$(caused_by 01)" = "incast h8"
check "... and the flow to the other host its victim" jq -e '.causes[0].victims | map(.flow) == ["victim"]' <("$BUILD/harness" explain --json "$run/01")

# of both runs
count "$SCRATCH/counted" "h0 h1 h7 h8 h15" "s0 s1"
check "each switch has counted the pauses that the other sent" counted \
    '.s1.port0_tx_prio3_pause > 0 and .s1.port0_tx_prio3_pause == .s0.port3_rx_prio3_pause and .s0.port3_tx_prio3_pause == .s1.port0_rx_prio3_pause' "$SCRATCH/counted"
check "... the senders those of their switch" counted \
    '[.h0, .h1, .h7 | .port_prio3_rx_pause] == [.s0.port0_tx_prio3_pause, .s0.port1_tx_prio3_pause, .s0.port2_tx_prio3_pause]' "$SCRATCH/counted"
check "... all that one switch sent the other has got" counted '.s0.port3_tx_prio3_bytes > 0 and .s0.port3_tx_prio3_bytes == .s1.port0_rx_prio3_bytes' "$SCRATCH/counted"
check "... each CNP was handled by a sender" counted \
    '.h8.np_cnp_sent > 0 and .h8.np_cnp_sent + .h15.np_cnp_sent == .h0.rp_cnp_handled + .h1.rp_cnp_handled + .h7.rp_cnp_handled' "$SCRATCH/counted"
finish
