#!/bin/bash
# perftest as the tool of a flow between two guests with Soft-RoCE: what a result says is what ib_write_bw printed; roce-traffic beside it in
# a report. (Other tests of perftest, its options and errors: tests/e2e/traffic/perftest.sh.)
# shellcheck disable=SC2016 # what is quoted is for jq
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/e2e/guests/softlab.bash
. "$(dirname "$0")/softlab.bash"
softlab_require "$0" "$@"
softlab_begin soft-pair
H=$BUILD/harness
OUT=$SCRATCH/results
LAB=$ROOT/labs/soft-pair.json
jq '.phases = {warmup: "1s", measure: "3s", cooldown: "0"} | .flows[0] += {memory: "host", message: "4KiB", depth: 8, tool: "perftest"} | del(.sweep, .expect, .published)' \
    "$ROOT/scenarios/gpudirect-sweep.json" > "$SCRATCH/tools.json"
# shellcheck disable=SC2317 # called through check
holds() { [ -s "$2" ] && jq -e "${@:3}" "$1" "$2"; }
go() { check_exit 0 "$1" "$H" run "$SCRATCH/tools.json" --lab "$LAB" --out "$OUT" --no-report "${@:2}"; }

check_exit 0 "doctor finds perftest on the guests" "$H" doctor --lab "$LAB" --for "$SCRATCH/tools.json" --json
check "... its version" holds '[.[] | select(.check == "tool" and .verdict == "ok" and (.reason | test("^perftest 6[.]06 has what flow a-to-b needs$")))] | length == 2' "$SCRATCH/out"
go "ib_write_bw between two guests"
R=$(realpath "$OUT/gpudirect-sweep/latest")
# its row: bytes, messages, peak, average in MiB/s, million messages/s
read -r bytes messages _ average rate <<< "$(sed -n 's/^.*a: perftest:  *\(4096  *[0-9].*\)$/\1/p' "$R/run.log")"
echo "# ib_write_bw printed: $bytes $messages $average $rate"
check "its messages are the result's" holds '.flows["a-to-b"] | .messages == $n and .bytes == $n * 4096 and .message_bytes == 4096 and .complete' "$R/result.json" --argjson n "${messages:-0}"
check "... its average too, as both were rounded" holds '.flows["a-to-b"].goodput_MiBps - $average | fabs <= 0.007' "$R/result.json" --argjson average "${average:--1}"
check "... and the time of the measure phase" holds '.flows["a-to-b"].duration_ns / 1e9 | . > 2.9 and . < 3.2' "$R/result.json"
check "the GID of the address was found" holds '.flows["a-to-b"].tool_used | .client | test("^ib_write_bw 10[.]0[.]0[.]2 .*--ib-dev=rxe0 --ib-port=1 --gid-index=[0-9]+$")' "$R/result.json"
# by the first and the last sample, as perftest measures in times of its own
sent=$(jq -s '(map(objects | select(.host == "a" and .columns))[0].columns | map(.name) | index("link_tx_bytes")) as $i | map(arrays | select(.[0] == "a") | .[3 + $i]) | .[-1] - .[0]' "$R/samples.jsonl")
check "the sender's counter has at least these bytes ($sent)" test "${sent:-0}" -ge $((4096 * ${messages:-1000000000}))
go "ib_send_lat, a number of messages" --set 'flows.*.mode=latency' --set 'flows.*.op=send' --set 'flows.*.message=64B' --set 'flows.*.size=6400B'
check "... has the quantiles that it printed" holds '.flows["a-to-b"].latency_ns | .min > 0 and .min <= .p50 and .p50 <= .p99 and .p99 <= .max' "$OUT/gpudirect-sweep/latest/result.json"
go "ib_read_lat, for a time" --set 'flows.*.mode=latency' --set 'flows.*.op=read' --set 'flows.*.message=64B'
check "... has the mean alone" holds '.flows["a-to-b"].latency_ns | keys == ["mean"] and .mean > 0' "$OUT/gpudirect-sweep/latest/result.json"
check_exit 4 "relaxed ordering of a NIC without PCIe" "$H" run "$SCRATCH/tools.json" --lab "$LAB" --out "$OUT" --no-report --set 'flows.*.relaxed_ordering=true'
check_says "... is skipped by name" 'lab soft-pair lacks relaxed-ordering: flow a-to-b has relaxed_ordering, and host soft-pair-a has no NIC' "$SCRATCH/out"
go "the same with roce-traffic" --set 'flows.*.tool=roce'
check_exit 0 "a report of both" "$H" report "$R" "$OUT/gpudirect-sweep/latest"
page=$(find "$OUT" -path '*report-with-*' -name index.html)
check_says "... has their ratio in a table" 'Other traffic tools beside roce-traffic' "$page"
left() { for host in a b; do softlab_ssh $host 'ps -e -o comm= | grep -xE "ib_(write|read|send)_(bw|lat)|roce-traffic"' < /dev/null; done; }
check "nothing of either is left on the guests" test -z "$(left)"
finish
