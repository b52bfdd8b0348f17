#!/bin/bash
# harness on real guests of which one forwards: faults of single frames in its bridge, and dcqcn-red-bridge through it. (Between two alone:
# run.sh.)
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
softlab_begin soft-switch
LAB=$ROOT/labs/soft-switch.json
few=(--set 'sweep={}' --set 'flows.*.memory=host' --set 'flows.*.message=16KiB' --set 'flows.*.size=256KiB' --duration 2s --no-report --out "$OUT/packets")
injected() { jq -r '[.injected[] | if .seen > .injected then .injected else "\(.injected) of \(.seen)" end] | join(" ")' "$R"; }
bridges() { softlab_ssh sw 'ip -o link show type bridge; tc qdisc show dev data1' | sed 's/^[0-9]*: //'; }
BEFORE=$(bridges)
filter() { softlab_ssh sw 'nft list ruleset; ip -o link show type veth; ls -I lock /run/harness* 2> /dev/null'; }

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
