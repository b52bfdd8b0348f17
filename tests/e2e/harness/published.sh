#!/bin/bash
# The published figures, with one lab file for all of them: as close as docs/simulator.md says.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/../lib.sh"
H=$BUILD/harness
LAB=$ROOT/labs/sim-geforce-pair.json
# 46 cells of 1 s take 17 s of a processor; a third of each has the same bandwidths to 0.05 %
for run in pfc-bidir "write-sweep --duration 300ms" write-latency; do
    # shellcheck disable=SC2086 # words
    "$H" run $run --lab "$LAB" --out "$SCRATCH" --quiet --no-report &
done
wait
result() { echo "$SCRATCH/$1/latest/${2:-}${2:+/}result.json"; }

# within LIMIT_PERCENT WHAT RESULT NAME-PATTERN: every published figure of that name is within the limit.
within() {
    local off
    off=$(jq -r --argjson limit "$1" --arg name "$4" '[.published[] | select(.name | test($name))] |
        if length == 0 then "there is no such figure" else
        .[] | select((.difference_percent // 1e9) | fabs > $limit) | "\(.name): published \(.published), here \(.value)" end' "$3")
    if [ -z "$off" ]; then ok "$2"; else nok "$2" "$off"; fi
}

count=0
for cell in "$SCRATCH"/write-sweep/latest/[0-9]*/result.json; do
    jq -e '.published != []' "$cell" >"$SCRATCH/out" || continue
    within 2.2 "$(jq -r '.published[0].name' "$cell"): bandwidth within 2.2 %" "$cell" .
    count=$((count + 1))
done
check "seven sizes from host and GPU memory" test "$count" = 14
check "the sweep has every power of two from 2 B to 8 MiB, from host and GPU memory" \
    jq -e '[.cells[].cell["flows.*.message"]] | length == 46 and .[:3] == ["2B", "4B", "8B"] and .[9:11] == ["1KiB", "2KiB"] and .[22] == "8MiB" and .[23] == "2B"' "$SCRATCH/write-sweep/latest/index.json"

LATENCY=$(result write-latency)
within 2.2 "typical latency within 2.2 %" "$LATENCY" typical
check "p99 and p99.9 are reported" jq -e '.flows["a-to-b"].latency_ns | .p99 > 0 and .p99_9 > .p99' "$LATENCY"

HOST=$(result pfc-bidir 01) GPU=$(result pfc-bidir 02)
within 1 "host memory, both directions, within 1 %" "$HOST" 'both directions'
check "host memory: 0 pauses" jq -e '[.hosts[].counters.tx_prio0_pause.delta] == [0, 0]' "$HOST"
within 1 "GPU memory, both directions, within 1 %" "$GPU" 'both directions'
check "each direction within 5 % of the other" jq -e '[.flows[].goodput_bps] | min / max > 0.95' "$GPU"
within 6 "pauses a second of the slow receiver within 6 %" "$GPU" 'slow receiver'
check "the other receiver sends under 5 % of that" jq -e '.hosts.a.counters.tx_prio0_pause.delta < 0.05 * .hosts.b.counters.tx_prio0_pause.delta' "$GPU"
within 3 "transitions a pause within 3 %" "$GPU" 'XOFF to XON'
for cell in "$HOST" "$GPU"; do
    check "nothing is dropped or retransmitted" jq -e '[.hosts[].counters | to_entries[] | select(.value.group == "drops") | .value.delta] | add == 0' "$cell"
    check "xoff 91392 and xon 81408 are computed" jq -e '[.hosts[].buffers[] | select(.buffer == 1) | [.xoff_bytes, .xon_bytes]] == [[91392, 81408], [91392, 81408]]' "$cell"
done
check "pauses that one host sends are received by the other" jq -e '.hosts.a.counters.rx_prio0_pause.delta - .hosts.b.counters.tx_prio0_pause.delta | fabs <= 2' "$GPU"
check "fitted values are marked as fitted" jq -e '[.sources[] | select(startswith("fitted:"))] | length > 0' "$GPU"
finish
