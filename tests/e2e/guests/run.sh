#!/bin/bash
# harness on real guests: pfc-bidir between two, dcqcn-red-bridge through a forwarding one; doctor before it; faults of single frames.
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

check_exit 0 "harness run scenarios/pfc-bidir.json --lab labs/soft-pair.json" \
    "$H" run "$ROOT/scenarios/pfc-bidir.json" --lab "$LAB" --duration 3s --out "$OUT"
R=$OUT/pfc-bidir/latest
verdicts() { jq -r '.expectations[] | .verdict + " " + .name + ": " + .reason' "$1" >"$SCRATCH/verdicts"; }
verdicts "$R/01/result.json"
check "it is not simulated" holds '.simulated | not' "$R/01/result.json"
check "traffic flowed both ways over verbs" holds '[.flows[] | select(.bytes > 0 and .complete and .from != .to)] | length == 2' "$R/01/result.json"
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

# ---- a forwarding guest with RED
softlab_begin soft-switch
LAB=$ROOT/labs/soft-switch.json
bridges() { softlab_ssh sw 'ip -o link show type bridge; tc qdisc show dev data1' | sed 's/^[0-9]*: //'; }
BEFORE=$(bridges)
filter() { softlab_ssh sw 'nft list ruleset; ip -o link show type veth; ls /run/harness* 2> /dev/null'; }

# ---- it forwards packets all but those that the scenario names; no role of the scenario is its
"$H" run "$ROOT/scenarios/pfc-bidir.json" --lab "$LAB" "${few[@]}" --set 'capture={"snap": "64KiB", "limit": "20MB"}' --set 'verify=["go-back-n", "icrc"]' --set 'inject=[{"flow": "a-to-b", "do": "drop", "nth": 5},
    {"link": ["sw", "b"], "do": "mark", "nth": 10, "every": 2, "count": 4}, {"flow": "b-to-a", "do": "delay", "nth": 8, "delay": "300ms"},
    {"flow": "b-to-a", "do": "duplicate", "nth": 20}, {"flow": "a-to-b", "packet": "ack", "do": "drop", "nth": 2}, {"flow": "a-to-b", "do": "corrupt", "nth": 30}]' > "$SCRATCH/out" 2>&1
R=$OUT/packets/pfc-bidir/latest/result.json
check "a bridge loses, marks, delays, doubles and corrupts just these packets" test "$(injected)" = "1 4 1 1 1 1"
check "... the receivers count what came out of sequence, a second time, and with CE" holds '.complete and .hosts.b.counters.out_of_seq_request.total > 0 and .hosts.a.counters.duplicate_request.total > 0
    and .hosts.b.counters.IpExtInCEPkts.total == 4' "$R"
check "... between the captures go-back-n finds no fault of the hosts', and one packet's ICRC is wrong" holds '[.verify[] | [.verdict, .count]] == [["passed", 0], ["failed", 1]]' "$R"
check "... the bridge is as before" test "$(bridges)" = "$BEFORE" -a -z "$(filter)"
"$H" run "$ROOT/scenarios/pfc-bidir.json" --lab "$LAB" "${few[@]}" --duration 60s --set 'inject=[{"flow": "a-to-b", "do": "delay", "delay": "1ms"}]' > "$SCRATCH/out" 2>&1 &
run=$!
for _ in $(seq 600); do [ "$(softlab_ssh sw "ls /run/harness-filter-faults 2> /dev/null")" = "" ] || break; sleep 0.2; done
sleep 1
kill -KILL $run
wait $run 2> /dev/null
check_exit 0 "after kill -9: harness restore" "$H" restore --lab "$LAB"
check_says "... says that it ended the faults" '^sw: the faults of its packet filter are ended' "$SCRATCH/out"
check "... the bridge is as before" test "$(bridges)" = "$BEFORE" -a -z "$(filter)"

check_exit 0 "doctor finds nothing wrong there" "$H" doctor --lab "$LAB" --for dcqcn-red-bridge
check_says "... a forwarding host needs no RDMA device" '^ok +sw +nic .*RDMA device none; forwards packets' "$SCRATCH/out"
check "... nor counters before RED is there that counts" test -z "$(grep 'no counter qdisc_' "$SCRATCH/out")"
check_exit 0 "harness run scenarios/dcqcn-red-bridge.json --lab labs/soft-switch.json" \
    "$H" run "$ROOT/scenarios/dcqcn-red-bridge.json" --lab "$LAB" --duration 3s --out "$OUT" --no-report
R=$OUT/dcqcn-red-bridge/latest/02/result.json
check "RED marked packets in a real queueing discipline" holds '[.expectations[] | select(.name == "RED marks")][0].left > 0' "$R"
check "its marks are the receiver's CE count" holds '[.expectations[] | select(.check | test("IpExtInCEPkts"))][0] | .verdict == "passed" and .left == .right and .left > 0' "$R"
check "nothing was dropped instead" holds '[.expectations[] | select(.name == "RED drops nothing")][0].verdict == "passed"' "$R"
check "CNP expectations are skipped by name" holds '[.expectations[] | select((.check | test("cnp")) and .verdict == "skipped" and (.reason | test("lacks cnp")))] | length == 2' "$R"
check "bridge and RED are taken away again" test "$(bridges)" = "$BEFORE"
# without ECT the packets are dropped; the flow suffers, the expectations are decided all the same
"$H" run "$ROOT/scenarios/dcqcn-red-bridge.json" --lab "$LAB" --duration 3s --out "$OUT" --quiet --set 'sweep={}' \
    --set 'settings_of={"switch":{"red":{"limit":"1MB","min":"30kB","max":"150kB"}}}' --set 'flows.*.traffic_class=0' \
    --set 'expect=[{"name":"drops","check":"total(switch.qdisc_*_early) + total(switch.qdisc_*_pdrop) > 0"},{"name":"marks nothing","check":"total(switch.qdisc_*_marked) == 0"}]' 2>"$SCRATCH/err"
R=$OUT/dcqcn-red-bridge/latest
check "a traffic class that is not ECT: dropped, not marked" holds '[.expectations[].verdict] == ["passed", "passed"]' "$R/result.json"
check_says "... as was said before" 'warning: flow a-to-b is not ECN-capable \(traffic class 0: .*RED at switch drops its packets' "$SCRATCH/err"
check "... the report was drawn" test -s "$R/report/index.html" -a -z "$(grep 'no report' "$SCRATCH/err")"
early=$(jq '[.hosts.switch.counters | to_entries[] | select(.key | test("^qdisc_.*_early$")) | .value.total] | add' "$R/result.json")
check_says "... and as the page says: 0 marked, $early dropped early" "<li>flow a-to-b is not ECN-capable.*: 0 packets marked, $early dropped early" "$R/report/index.html"
check "no CE reached the receiver" holds '.hosts.b.counters.IpExtInCEPkts.total == 0' "$R/result.json"
finish
