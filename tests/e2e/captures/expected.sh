#!/bin/bash
# A scenario's `verify`: the run's own capture is judged with the run's own settings, and each checker counts for the verdict.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/../lib.sh"
H=$BUILD/harness
cd "$BUILD" || exit 2

# Two hosts behind a switch; JQ changes the scenario.
scenario() { # NAME [JQ]
    jq "${2:-.}" >"$SCRATCH/$1.json" <<EOF
{ "schema": 1, "name": "$1", "lab": "$BUILD/labs/sim-incast.json", "roles": ["h0", "h1", "h16", "s0"],
  "phases": { "warmup": "0", "measure": "300us", "cooldown": "0" }, "settings": { "mtu": 4200, "pfc": [3], "trust": "dscp" },
  "flows": [{ "name": "one", "from": "h0", "to": "h16", "message": "64KiB", "depth": 16, "priority": 3 },
            { "name": "two", "from": "h1", "to": "h16", "message": "64KiB", "depth": 16, "priority": 3 }],
  "verify": ["go-back-n", "pfc", "ecn"] }
EOF
}
run() { # EXIT-CODE WHAT NAME [OPTION...]
    check_exit "$1" "$2" "$H" run "$SCRATCH/$3.json" --no-report --yes --out "$SCRATCH/results" "${@:4}"
    RESULT=$(readlink -f "$SCRATCH/results/$3/latest")
}
holds() { # WHAT JQ [FILE]
    check "$1" jq -e "$2" "$RESULT/${3:-result.json}"
}

# ---- passed, without a `capture`
scenario whole
run 0 "a run whose packets keep the rules passes" whole
holds "... without capture all is captured" '.capture.frames > 1000 and (.capture | has("left_out_from_ns") | not)'
holds "... each checker has looked at packets" '.verdict == "passed" and [.verify[] | [.check, .verdict, .count]] ==
    [["go-back-n", "passed", 0], ["pfc", "skipped", 0], ["ecn", "passed", 0]] and all(.verify[] | select(.verdict == "passed"); .reason | test("^[1-9][0-9]* "))'
check_says "... and the summary says it" '^  passed   verify: go-back-n \([0-9]+ packets sent' "$SCRATCH/out"
jq -S 'del(.files, .verify, .capture, .verdict, .started, .finished, .scenario, .simulator)' "$RESULT/result.json" >"$SCRATCH/with.json"
run 4 "the same without the key" whole --set verify=null
holds "... judges nothing" '(has("verify") or has("capture") | not) and .verdict == "unjudged"'
check "... and the rest of the result is the same" cmp "$SCRATCH/with.json" <(jq -S 'del(.files, .verdict, .reason, .started, .finished, .scenario, .simulator)' "$RESULT/result.json")

# ---- a NIC whose byte counter is beyond what the setting may have
run 0 "a run of ConnectX-5" whole --set lab.defaults.host.nic.model=connectx-5 --set phases.measure=100us
holds "... is judged by the bytes that its NICs count" '.capture.settings.byte_reset == "130000B" and .verify[0].verdict == "passed"'
check_exit 0 "... also by harness verify" "$H" verify "$RESULT" go-back-n

# ---- a capture that leaves frames out
run 4 "marks whose CNPs have a priority that is not captured" whole --set 'verify=["cnp"]' --set 'capture={"priorities": [3]}' --set 'settings.ecn=[3]'
holds "... are not judged, with the reason" '.verify[0].verdict == "skipped" and (.verify[0].reason | test("the CNPs for [1-9][0-9]* marked packets: the capture has no frames of their priority"))'
check_exit 4 "... by harness verify neither" "$H" verify "$RESULT" cnp

# ---- a sender whose link is down sends again later than its time-out allows
run 0 "a link that is down for five time-outs" whole --set 'verify=["go-back-n"]' --set settings.pfc=[] --set phases.measure=2ms --set lab.defaults.host.nic.ack_timeout=120us \
    --set 'faults=[{"link": ["h0", "s0"], "kind": "down", "start": "200us", "stop": "900us"}]' --set 'flows.two.stop=100us'
holds "... is no fault of its sender" '.verify[0].verdict == "passed" and (.verify[0].reason | test("after time-outs"))'
check_exit 0 "... for harness verify neither" "$H" verify "$RESULT" go-back-n

# ---- what was not judged, and why, is said wherever the verdicts are
check_exit 4 "a capture whose packets are cut" "$H" run "$SCRATCH/whole.json" --yes --out "$SCRATCH/results" --set 'verify=["icrc"]' --set 'capture={"snap": "100B"}'
RESULT=$(readlink -f "$SCRATCH/results/whole/latest")
note=$(jq -r '.verify[0].not_judged[0]' "$RESULT/result.json")
check "... its result has it" grep -qE '^[1-9][0-9]* packets not captured to the end \(snap length\)$' <<<"$note"
check_says "... the summary has it below the verdict" "^  skipped  verify: icrc \\([1-9][0-9]* sightings of whole packets; no verdict[.] Not judged: ${note//[()]/.}\\)$" "$SCRATCH/out"
check_says "... and so has the page" "ot judged: ${note//[()]/.}" "$RESULT/report/index.html"
check_exit 0 "five runs whose headers are cut" "$H" run "$SCRATCH/whole.json" --yes --repeat 5 --out "$SCRATCH/five" --set 'verify=["go-back-n", "dcqcn"]' --set 'capture={"snap": "64B"}'
check_says "... their page has once what no verdict says" '^<li>headers behind the transport header of [0-9]+ packets?, which are cut [(].*class=soft>[(]5 of 5 runs[)]' "$SCRATCH/five/whole/latest/report/index.html"

# ---- the settings are the run's own: those of the NIC, of the lab and the defaults
if run 1 "DCQCN whose rates are judged: it fails by an expectation alone" whole --set 'verify=["cnp", "dcqcn"]' --set 'settings.ecn=[3]' \
    --set 'settings.dcqcn={"np": {"min_time_between_cnps": 50, "cnp_dscp": 46}}' --set 'expect=[{"name": "never", "check": "sum(flows.*.messages) < 0"}]'; then
    holds "... the checkers passed" '.verdict == "failed" and [.verify[].verdict] == ["passed", "passed"] and .expectations[0].verdict == "failed"'
fi
cp "$RESULT/capture.pcapng" "$SCRATCH/other.pcapng"
jq -n '{schema: 1, settings: {ecn: [3], trust: "dscp", dcqcn: {np: {min_time_between_cnps: 200, cnp_dscp: 48}}}}' >"$SCRATCH/other.json"
check_exit 1 "... which other settings would not have" "$H" verify "$SCRATCH/other.pcapng" cnp --settings "$SCRATCH/other.json"

# ---- failed, in one cell of a sweep: a host pauses a priority that is not lossless
check_exit 0 "a JSON summary of the run" "$H" run "$SCRATCH/whole.json" --no-report --yes --out "$SCRATCH/results" --json
check "... has the verdicts, not what was found" jq -e '.cells[0].verify | length == 3 and all(.[]; (.reason | length > 0) and (has("findings") | not))' "$SCRATCH/out"
scenario storm '.storms = [{role: "h16", priority: 3, start: "100us", stop: "150us"}] | .sweep = {"storms.0.priority": [3, 5]} | .verify += ["cnp"]'
run 1 "one cell of two pauses a priority that is not lossless: the sweep fails" storm
check_says "... the summary names the first packet" '^  failed   verify: pfc \([0-9]+ findings, the first: packet [0-9]+: pauses priority 5, which is not lossless' "$SCRATCH/out"
holds "... the other passed" '[.cells[].verdict] == ["passed", "failed"]' index.json
holds "... each cell was judged" '.verify[1] | .check == "pfc" and .verdict == "passed" and .count == 0' 01/result.json
holds "... its result has what was found" '.verify[1] | .check == "pfc" and .count > 1 and .findings[0].packets[0].packet > 0 and
    (.findings[0].packets[0].text | test("priority 5"))' 02/result.json
holds "... a checker without CNPs is skipped" '.verify[3] | .verdict == "skipped" and .reason == "nothing to judge: the capture has no CNPs"' 01/result.json
"$H" report "$RESULT/02" >"$SCRATCH/out" 2>&1 || nok "a report of the run" "$(cat "$SCRATCH/out")"
check_says "... the page shows it with the expectations" 'verify: pfc.*pauses priority 5' <(tr '\n' ' ' <"$RESULT/02/report/index.html")
"$H" report "$RESULT" >"$SCRATCH/out" 2>&1 || nok "a report of the sweep" "$(cat "$SCRATCH/out")"
check_says "... and so does the sweep's" 'verify: pfc.*pauses priority 5' <(tr '\n' ' ' <"$RESULT/report/index.html")

# ---- nothing to judge
run 4 "where all checkers have nothing to judge the run is skipped" whole --set 'verify=["cnp", "dcqcn"]'
holds "... for a reason" '.verdict == "skipped" and all(.verify[]; .verdict == "skipped" and (.reason | test("^nothing to judge: the capture has no (CNPs|packets of queue pairs with CNPs)$")))'
run 4 "what says which priority packets have is not guessed where roles differ" whole --set 'settings.ecn=[3]' --set 'settings_of={"h1": {"trust": "pcp"}}' --set 'verify=["dcqcn"]'
holds "... the reason names it" ".verify[0].reason == \"the roles' settings differ: trust\""
OWN='settings_of={"h1": {"dcqcn": {"rp": {"rpg_gd": 5}}}, "h16": {"dcqcn": {"np": {"min_time_between_cnps": 50}}}, "h0": {"pfc": [3, 4]}}'
run 0 "other settings that differ are those of each role's ports" whole --set 'settings.ecn=[3]' --set "$OWN" --set 'verify=["cnp", "dcqcn", "pfc", "ecn"]'
holds "... none is skipped for them" '[.verify[].verdict] == ["passed", "passed", "skipped", "passed"] and .verify[2].reason == "nothing to judge: the capture has no PFC frames"'

# ---- a packet that several ports saw is one
run 1 "a lost packet, seen at all ports" whole --set 'settings.ecn=[3]' --set 'inject=[{"flow": "one", "do": "drop", "nth": 50}]' --set 'verify=["go-back-n", "ecn"]' --set 'expect=[{"name": "never", "check": "sum(flows.*.messages) < 0"}]'
holds "... one NAK, which both ends saw" '.verify[0].reason | test(" 1 NAK, 1 time gone back, 1 of these for NAKs;")'
# shellcheck disable=SC2016 # $marked is the variable of jq
holds "... as many marked packets as arrived" '([.flows[].marked_packets] | add) as $marked | $marked > 0 and (.verify[1].reason | test("^[0-9]+ sightings of packets, [0-9]+ data packets at their sender, \($marked) marked"))'
acks=$(jq '.verify[0].reason | capture(" (?<n>[0-9]+) ACKs").n' "$RESULT/result.json")
run 1 "... at the receiver's port alone" whole --set 'settings.ecn=[3]' --set 'inject=[{"flow": "one", "do": "drop", "nth": 50}]' --set 'verify=["go-back-n", "ecn"]' --set 'capture={"ports": ["h16:0"]}' --set 'expect=[{"name": "never", "check": "sum(flows.*.messages) < 0"}]'
holds "... as many ACKs and NAKs, and packets that are not seen twice" "(.verify[0].reason | capture(\" (?<n>[0-9]+) ACKs, 1 NAK\").n) == $acks and (.verify[1].reason | test(\"^[0-9]+ packets, \"))"
run 0 "pauses that both ends of a link saw" whole --set 'storms=[{"role": "h16", "priority": 3, "start": "100us", "stop": "150us"}]' --set 'verify=["pfc"]'
# shellcheck disable=SC2016 # $sent is the variable of jq
holds "... are as many as were sent" '.hosts.h16.counters.tx_prio3_pause.total as $sent | $sent > 0 and (.verify[0].reason | test("^\($sent) PFC frames, "))'

# ---- a run's capture is judged again with the run's settings, which its result keeps
run 4 "a run that captures and judges nothing" whole --set 'settings.ecn=[3]' --set verify=null --set 'capture={}'
for named in "" /capture.pcapng; do
    check_exit 0 "... its ${named:-folder} is judged later" "$H" verify "$RESULT$named" go-back-n cnp ecn --json
    check_says "... by the run's settings, which is said" "^harness: judged by the settings of the run in $RESULT/? \(--settings names others\)\$" "$SCRATCH/err"
    check "... all by all rules" jq -e '[.checks[].verdict] == ["ok", "ok", "ok"] and (.checks[0].reason | test("the rules are those of go-back-N \\(set by recovery\\)")) and
        (.checks[2].reason | test("[1-9][0-9]* marks against a queue"))' "$SCRATCH/out"
done
cp "$RESULT/capture.pcapng" "$SCRATCH/elsewhere.pcapng"
check_exit 4 "... a copy elsewhere has none" "$H" verify "$SCRATCH/elsewhere.pcapng" go-back-n cnp ecn
for settings in "$RESULT/settings.json" "$RESULT/result.json" "$RESULT"; do
    check_exit 0 "... unless --settings names the run: $(basename "$settings")" "$H" verify "$SCRATCH/elsewhere.pcapng" go-back-n cnp ecn --settings "$settings"
done
cp -r "$RESULT/" "$SCRATCH/shortened"
truncate -s "-$(tail -c 4 "$RESULT/capture.pcapng" | od -An -tu4 | tr -d ' ')" "$SCRATCH/shortened/capture.pcapng" # its last block
check_exit 4 "... a capture that was cut between two packets, or is of another run, is not ok" "$H" verify "$SCRATCH/shortened" go-back-n ecn
check_says "... and what its result knows of it is said" 'not judged: .*capture.pcapng has [0-9]+ bytes, and had [0-9]+ when the run ended' "$SCRATCH/out"
cp "$RESULT/capture.pcapng" "$SCRATCH/shortened/"
jq '.schema = 2' "$RESULT/result.json" >"$SCRATCH/shortened/result.json"
check_exit 2 "... a result of another schema has no settings that are known" "$H" verify "$SCRATCH/elsewhere.pcapng" go-back-n --settings "$SCRATCH/shortened"
run 4 "a run without a capture" whole --set verify=null
check_exit 2 "... is not judged" "$H" verify "$RESULT" go-back-n
check_says "... which is said" 'has no capture.pcapng: name a run.s folder' "$SCRATCH/err"
check_exit 2 "... and judges no other" "$H" verify "$SCRATCH/elsewhere.pcapng" --settings "$RESULT/settings.json"
check_says "... for its result has no settings for it" 'the result has no settings to judge packets by: its run captured none' "$SCRATCH/err"

# ---- a limit that cut the capture
run 0 "a capture that its limit cut is judged as far as it goes" whole --set 'capture={"limit": "40KB"}'
# shellcheck disable=SC2016 # $until is the variable of jq
holds "... which each verdict says" '(.capture.left_out_from_ns / 1e6) as $until | all(.verify[]; .reason | match("the capture ends at ([0-9.]+) ms").captures[0].string | tonumber == $until)'

# ---- refused
check_exit 2 "an unknown checker is refused" "$H" run "$SCRATCH/whole.json" --set 'verify=["go-back"]' --no-report --yes --out "$SCRATCH/results"
check_says "... with a near one" 'verify\[0\]: "go-back" is unknown: expected one of "go-back-n", .*; did you mean "go-back-n"\?' "$SCRATCH/err"
check_exit 2 "a checker that is named twice is refused" "$H" check "$SCRATCH/whole.json" --set 'verify=["pfc", "pfc"]'
check_says "... with its place" 'verify\[1\]: "pfc" occurs twice' "$SCRATCH/err"
check_exit 0 "a lab of real hosts may be judged, too" "$H" check "$BUILD/scenarios/write-sweep.json" --lab "$BUILD/labs/soft-pair.json" --set 'verify=["pfc"]'
finish
