#!/bin/bash
# harness on two real guests: doctor, pfc-bidir, patterns of traffic, captures, and faults of single packets. (Through a guest that forwards:

# run_bridge.sh; who sends to whom in each pattern: tests/e2e/harness/patterns.sh.)
# shellcheck disable=SC2016 # what is quoted is for jq
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/e2e/guests/softlab.bash
. "$(dirname "$0")/softlab.bash"
softlab_require "$0" "$@"
H=$BUILD/harness
OUT=$SCRATCH/results

# holds FILTER FILE: the file is there, is JSON, and the filter holds (jq takes an empty file for well).
# shellcheck disable=SC2317 # called through check
holds() { [ -s "$2" ] && jq -e "$1" "$2"; }

# ---- two guests
softlab_begin soft-pair
LAB=$ROOT/labs/soft-pair.json
check_exit 0 "doctor finds what the scenario lacks there" "$H" doctor --lab "$LAB" --for pfc-bidir --json
check "... PFC is reported as unavailable" holds '[.[] | select(.check == "settings" and (.reason | test("settings? ([a-z_]+, )*pfc.* left out")))] | length == 2' "$SCRATCH/out"
check "... clocks are known to a bound" holds '[.[] | select(.check == "clock" and (.reason | test("error at most")))] | length == 2' "$SCRATCH/out"
check "... the network and RDMA device are found" holds '[.[] | select(.check == "nic" and .verdict == "ok")] | length == 2' "$SCRATCH/out"

R=$OUT/pfc-bidir/latest
# shellcheck disable=SC2317 # called through check
both_ways() { holds '[.flows[] | select(.bytes > 0 and .complete and .from != .to)] | length == 2' "$R/01/result.json"; }
# shellcheck disable=SC2317 # called through check_exit
run_long_enough() { # guests on a busy machine may end no message in seconds
    local seconds status
    for seconds in 3 12 48; do
        "$H" run "$ROOT/scenarios/pfc-bidir.json" --lab "$LAB" --duration "${seconds}s" --out "$OUT"
        status=$?
        ! both_ways || break
    done
    return "$status"
}
check_exit 0 "harness run scenarios/pfc-bidir.json --lab labs/soft-pair.json" run_long_enough
verdicts() { jq -r '.expectations[] | .verdict + " " + .name + ": " + .reason' "$1" >"$SCRATCH/verdicts"; }
verdicts "$R/01/result.json"
check "it is not simulated" holds '.simulated | not' "$R/01/result.json"
check "traffic flowed both ways over verbs" both_ways
check "both hosts' counters were sampled" holds '[.hosts[] | select(.sampling.samples > 10 and .counters.rdma_sends)] | length == 2' "$R/01/result.json"
check_says "PFC expectations are skipped by name" '^skipped host memory causes no pauses: lab soft-pair lacks pfc' "$SCRATCH/verdicts"
check_says "losses are decided" '^(passed|failed) nothing arrives out of sequence' "$SCRATCH/verdicts"
verdicts "$R/02/result.json"
check_says "GPU expectations are skipped by name" '^skipped .*: lab soft-pair lacks gpu' "$SCRATCH/verdicts"
check "the cell with GPU memory did not run as something else" holds '.verdict == "skipped" and .flows == {}' "$R/02/result.json"
check "clock offsets and their bounds are stated" holds '[.hosts[].clock | select(.error_ns > 0 and .error_ns < 500000000 and (.offset_ns | type == "number"))] | length == 2' "$R/01/result.json"
check "settings are saved, read back, and kept for the next run" holds '[.[] | select(.before.data0.mtu and .read_back.data0.mtu and .kept)] | length == 2' "$R/01/settings.json"
check "... which is skipped: they are put back" test "$(for host in a b; do softlab_ssh $host cat /sys/class/net/data0/mtu; done | xargs)" = "$(jq -r '[.[].before.data0.mtu] | join(" ")' "$R/01/settings.json")"
check "what a guest has no place for is named" holds '[.warnings[] | select(test("settings? ([a-z_]+, )*pfc.* left out"))] | length == 2' "$R/01/result.json"
check "facts of the guests are there" holds '[.hosts[].facts.system] | length == 2' "$R/01/result.json"
check "a report was made" test -s "$R/report/index.html"
check "figures of a ConnectX are not compared with Soft-RoCE's" holds '.published | length == 1 and all((.difference_percent | not) and .reason == "lab soft-pair lacks roce-nic")' "$R/01/result.json"
check_says "... as the page says" 'not compared: lab soft-pair lacks roce-nic' "$R/report/index.html"

# ---- traffic patterns over verbs: all-to-all with its sum, a flow that starts and stops within the window, one that ends by its size
cat > "$SCRATCH/patterns.json" << 'SCENARIO'
{ "schema": 1, "name": "patterns", "roles": ["a", "b"], "phases": {"warmup": "500ms", "measure": "4s", "cooldown": "0"},
  "flows": [ { "name": "later", "from": "a", "to": "b", "op": "send", "message": "4KiB", "depth": 4, "start": "1500ms", "stop": "3s" } ],
  "traffic": [ { "name": "all", "pattern": "all-to-all", "from": ["a", "b"], "message": "4KiB", "depth": 8 },
               { "name": "some", "pattern": "incast", "from": ["b"], "to": ["a"], "size": "16KiB", "count": 3, "start": "1s" } ],
  "sample": {"every": "100ms", "groups": ["throughput"]},
  "expect": [ { "name": "each sends", "check": "min(flows.all/*.bytes) > 0" } ] }
SCENARIO
check_exit 0 "patterns between two guests" "$H" run "$SCRATCH/patterns.json" --lab "$ROOT/labs/soft-pair.json" --out "$OUT" --no-report
R=$OUT/patterns/latest/result.json
check "every flow ended well" holds '[.flows[] | select(.complete and .errors == 0)] | length == 6' "$R"
check "the sum has the bytes of both directions" holds '.flows.all.bytes == .flows["all/0"].bytes + .flows["all/1"].bytes and .flows.all.bytes > 0' "$R"
check "a flow with a size sent exactly that, and says how long it took" \
    holds '.flows["some/0"] | .bytes == 3 * 16384 and .messages == 3 and .completion_ns.count == 1 and .completion_ns.max > 0' "$R"
check "its pattern counts it as finished" holds '.flows.some | .flows == {"started": 1, "finished": 1} and .completion_ns.count == 1' "$R"
START=$(jq '.phases[0].start_ns' "$R")
later() { jq -s --argjson start "$START" "map(select(.type == \"interval\" and .flow == \"later\")) | $1" "$OUT/patterns/latest/flows.jsonl"; }
# an interval that ended before the start shows nothing; the window begins 500 ms after the common start
check "a flow that starts later sends nothing before" \
    test "$(later '[.[] | select(.time_ns <= $start + 1500000000) | .messages] | length > 0 and add == 0')" = true
check "... sends then" test "$(later '[.[].messages] | add > 0')" = true
check "... and nothing after its stop" test "$(later 'last | .messages == 0 and .time_ns > $start + 4000000000')" = true
check "its figures are those of the whole window" holds '.flows.later.duration_ns >= 4000000000' "$R"

# ---- its packets; Soft-RoCE is in the kernel, and so are they
few=(--set 'sweep={}' --set 'flows.*.memory=host' --set 'flows.*.message=16KiB' --set 'flows.*.size=256KiB' --duration 2s --no-report --out "$OUT/packets")
"$H" run "$ROOT/scenarios/pfc-bidir.json" --lab "$LAB" "${few[@]}" --set 'capture={"snap": "64KiB", "limit": "20MB"}' --set 'verify=["go-back-n", "icrc"]' > "$SCRATCH/out" 2>&1
R=$OUT/packets/pfc-bidir/latest/result.json
check "packets of both hosts are captured at their network devices, all of them" holds '.complete and (.capture.ports | map([.port, .interface, .drops]) == [["a:0", "data0", 0], ["b:0", "data0", 0]])
    and .capture.frames > 100 and .capture.ports[0].frames == .capture.ports[1].frames' "$R"
check "... and judged: go-back-n, ICRCs" holds '[.verify[] | [.verdict, .count]] == [["passed", 0], ["passed", 0]]' "$R"
# the receiver's packet filter loses and marks them before Soft-RoCE has them
"$H" run "$ROOT/scenarios/pfc-bidir.json" --lab "$LAB" "${few[@]}" --set 'inject=[{"flow": "a-to-b", "do": "drop", "nth": 5}, {"flow": "a-to-b", "do": "mark", "nth": 7, "count": 3},
    {"flow": "b-to-a", "do": "corrupt", "nth": 9}]' > "$SCRATCH/out" 2>&1
injected() { jq -r '[.injected[] | if .seen > .injected then .injected else "\(.injected) of \(.seen)" end] | join(" ")' "$R"; }
check "a receiver with Soft-RoCE loses one packet, marks three, and its peer gets one with a wrong ICRC" test "$(injected)" = "1 3 1"
check "... it says that others came out of sequence, and counts the marks" holds '.complete and .hosts.b.counters.out_of_seq_request.total > 0 and .hosts.b.counters.IpExtInCEPkts.total == 3' "$R"
check "... so does its peer" holds '.hosts.a.counters.out_of_seq_request.total > 0 and .hosts.a.counters.IpExtInCEPkts.total == 0' "$R"
check_exit 2 "... it has no copies of packets" "$H" run "$ROOT/scenarios/pfc-bidir.json" --lab "$LAB" "${few[@]}" --set 'inject=[{"flow": "a-to-b", "do": "duplicate"}]'
check_says "... the reason" 'inject.*to "duplicate" takes a Linux bridge' "$SCRATCH/err"
finish
