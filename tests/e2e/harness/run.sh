#!/bin/bash
# harness run in the simulated lab, through the program: folders, exit codes, options, Ctrl-C, where files are found.
# shellcheck disable=SC2016,SC2317 # what is quoted is for jq and eval
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/../lib.sh"
H=$BUILD/harness
OUT=$SCRATCH/results
cd "$BUILD" || exit 1
# holds FILTER FILE: the file is there, is JSON, and the filter holds (jq takes an empty file for well).
# shellcheck disable=SC2317 # called through check
holds() { [ -s "$2" ] && jq -e "$1" "$2"; }

# ---- the command of the README, from build/
check_exit 0 "./harness run scenarios/pfc-bidir.json, in build/" ./harness run scenarios/pfc-bidir.json --duration 200ms --out "$OUT" --no-report
check_says "it prints which lab it uses, and that it is simulated" 'lab sim-geforce-pair .*simulated' "$SCRATCH/err"
check_says "it prints the outcome" '^pfc-bidir, memory gpu: passed \(simulated\)' "$SCRATCH/out"
LATEST=$OUT/pfc-bidir/latest
check "latest points at it" test -f "$LATEST/index.json"
check "the index names both cells" test "$(jq -r '[.cells[] | .cell["flows.*.memory"] + " " + .verdict] | join(",")' "$LATEST/index.json")" = "host passed,gpu passed"
for file in result.json samples.jsonl flows.jsonl pauses.jsonl settings.json run.log; do
    check "a cell has $file" test -s "$LATEST/02/$file" -o "$file" = pauses.jsonl
done
check "every sample line is JSON" jq -es 'length > 40' "$LATEST/02/samples.jsonl"
check "every flow line is JSON" jq -es 'length > 10' "$LATEST/02/flows.jsonl"
check "the result says it is simulated and complete" holds '.simulated and .complete and .schema == 1' "$LATEST/02/result.json"
check "thresholds are computed: xoff 91392, xon 81408" holds '.hosts.a.buffers[] | select(.buffer == 1) | .xoff_bytes == 91392 and .xon_bytes == 81408' "$LATEST/02/result.json"
check "the result has the sources of the lab's values" holds '.sources | length > 10' "$LATEST/02/result.json"
check "phases have their times" holds '[.phases[] | .end_ns - .start_ns] == [1000000000, 200000000, 500000000]' "$LATEST/02/result.json"

# ---- an experiment to begin with
mkdir "$SCRATCH/own" && cd "$SCRATCH/own" || exit 1
for options in "" "--hosts 3" "--hosts 128" "--pattern permutation --hosts 2" "--pattern permutation" "--pattern all-to-all --hosts 2" "--pattern all-to-all" "--network leaf-spine --hosts 8" "--network leaf-spine --hosts 64" "--network leaf-spine --pattern permutation --hosts 32" "--network leaf-spine --pattern all-to-all" "--network rails" "--network rails --hosts 16" "--network rails --pattern permutation" "--network rails --pattern all-to-all" "--pattern pair"; do
    name=n${options//[^a-z0-9]/}
    read -ra words <<<"$options"
    check_exit 0 "harness new $name $options" "$H" new "$name" "${words[@]}"
    check_says "... says how it is run" "^to run it: harness run $name.json\$" "$SCRATCH/out"
    check_exit 0 "... which is good" "$H" check "$name.json" "$name-lab.json"
    check_exit 0 "... and passes as it is" "$H" run "$name.json" --no-report -q
    check "... by two expectations and more, none of which was skipped" holds '[.expectations[].verdict] | length > 1 and all(. == "passed")' "results/$name/latest/result.json"
done
check "... with the hosts that were asked for" jq -e '.hosts | has("h127") and (has("h128") | not)' results/nhosts128/latest/result.json
check_exit 0 "harness new, without a name" "$H" new -q
check "... prints nothing with -q" test ! -s "$SCRATCH/out"
check "... it is called after its pattern" test "$(jq -r .name my-incast.json),$(jq -r '.name + " " + (.topology.hosts | tostring)' my-incast-lab.json)" = "my-incast,my-incast-lab 4"
echo mine >my-incast.json && rm my-incast-lab.json
check_exit 2 "a scenario that is there" "$H" new
check_says "... is not overwritten" 'my-incast.json is there already and stays as it is' "$SCRATCH/err"
check "... and no lab is written beside it" test "$(cat my-incast.json)" = mine -a ! -e my-incast-lab.json
echo mine >other-lab.json
check_exit 2 "a lab that is there" "$H" new other
check "... is not overwritten, and no scenario is written" test "$(cat other-lab.json)" = mine -a ! -e other.json
full=$(ulimit -f 0 && "$H" new full 2>&1)
check "a disk without room for the files: neither is left" test "$(grep -c 'writing .*full-lab.json' <<<"$full")" = 1 -a ! -e full.json -a ! -e full-lab.json
ln -s nowhere linked.json
check_exit 2 "a link is taken for a file that is there" "$H" new linked
for words in "../up" "$(printf '%061d' 0)" ".hidden" 'a"b' ""; do
    check_exit 2 "a name that cannot be one: ${words:0:20}" "$H" new "$words"
    check_says "... what is one" 'is not a valid name: expected at most 60 letters' "$SCRATCH/err"
done
check_exit 2 "an incast of two hosts" "$H" new two --hosts 2
check_says "... how many it has" 'a pattern incast has 3 to 128 hosts' "$SCRATCH/err"
check_exit 2 "a pair of three hosts" "$H" new three --hosts 3 --pattern pair
check_exit 2 "a leaf and a half" "$H" new two --hosts 5 --network leaf-spine
check_exit 2 "more than leaves and spines have" "$H" new two --hosts 66 --network leaf-spine
check_says "... how many they have" "has 3 to 64 hosts on a network leaf-spine" "$SCRATCH/err"
check_exit 2 "a pair at leaves and spines" "$H" new two --pattern pair --network leaf-spine
check "... nothing was written by these" test ! -e two.json -a ! -e three.json -a ! -e linked-lab.json -a ! -e ../up.json
cd "$BUILD" || exit 1

# ---- determinism and seeds
run_seed() { "$H" run pfc-bidir --set 'sweep={}' --duration 100ms --set phases.warmup=50ms --set phases.cooldown=50ms --seed "$1" --out "$SCRATCH/$2" --quiet --no-report; }
run_seed 7 one; run_seed 7 two; run_seed 8 three
check "the same seed gives the same bytes" cmp "$SCRATCH/one/pfc-bidir/latest/samples.jsonl" "$SCRATCH/two/pfc-bidir/latest/samples.jsonl"
if cmp -s "$SCRATCH/one/pfc-bidir/latest/samples.jsonl" "$SCRATCH/three/pfc-bidir/latest/samples.jsonl"; then nok "another seed gives others"; else ok "another seed gives others"; fi
check "the files of a run without a sweep are in the run's own folder" test -f "$SCRATCH/one/pfc-bidir/latest/result.json" -a ! -e "$SCRATCH/one/pfc-bidir/latest/index.json"

# ---- a run that nothing judges
# shellcheck disable=SC2317 # called through check_exit
run_unjudged() { "$H" run pfc-bidir --set phases.warmup=1ms --duration 2ms --set phases.cooldown=1ms --set expect=null --set published=null --out "$SCRATCH/unjudged" "$@"; }
check_exit 4 "a run without expectations has not passed" run_unjudged --set sweep=null
check_says "... its verdict is a word of its own" '^pfc-bidir: unjudged \(simulated\)$' "$SCRATCH/out"
check_says "... and the reason" '^  nothing was judged: the scenario has no expectations$' "$SCRATCH/out"
R=$(readlink -f "$SCRATCH/unjudged/pfc-bidir/latest")
check "... in the result" jq -e '.verdict == "unjudged" and .complete and .reason == "nothing was judged: the scenario has no expectations"' "$R/result.json"
check_says "... on the page" '<span class="pill unjudged">unjudged</span>' "$R/report/index.html"
check_says "... with the reason" '<p class=unjudged>nothing was judged: the scenario has no expectations</p>' "$R/report/index.html"
check_exit 0 "... for who looks for it" "$H" browse "$SCRATCH/unjudged" --verdict unjudged --json
check "... it is found" holds '[.runs[].verdict] == ["unjudged"]' "$SCRATCH/out"
check_exit 0 "... in an export" "$H" export "$R" --format=csv --out "$SCRATCH/tables"
check "... of its run" grep -rq unjudged "$SCRATCH/tables"
check_exit 4 "so is a sweep whose runs nothing judges" run_unjudged --set 'sweep={"flows.*.memory":["host","gpu"]}' --no-report
R=$(readlink -f "$SCRATCH/unjudged/pfc-bidir/latest")
check "... by its index" jq -e '.verdict == "unjudged" and [.cells[].verdict] == ["unjudged", "unjudged"]' "$R/index.json"
check_exit 0 "... and by its status" "$H" status "$R"
check_says "... in numbers" '^ *2 whole: 2 unjudged$' "$SCRATCH/out"
check_exit 4 "... also when nothing is left to run" "$H" run --resume "$R" --no-report
check_says "... by the lab that the scenario chose" '^harness: lab sim-geforce-pair \(.*, chosen by the scenario\)' "$SCRATCH/err"
check_says "... in the count of runs" '^2 runs: 2 unjudged \(all were there\)$' "$SCRATCH/out"

# ---- a run in which nothing worked: four hosts to one, PFC on another priority than the flows'
jq -n '{schema: 1, name: "four", driver: "sim", topology: {kind: "star", hosts: 5}, defaults: {host: {nic: {model: "ideal"}},
    switch: {buffer: "4MiB", ecn: {kmin: "40KB", kmax: "160KB", pmax: 0.2}}, link: {rate: "25Gb/s", length: "3m"}}}' >"$SCRATCH/four.json"
jq -n '{schema: 1, name: "incast4", roles: ["h[0-4]", "s0"], phases: {warmup: "5ms", measure: "20ms", cooldown: "500ms"}, settings: {pfc: [3]}, sample: {every: "100us"},
    flows: [{name: "f{}", from: "h[0-3]", to: "h4", op: "write", message: "64KiB", priority: 3}],
    expect: [{name: "something arrives", check: "sum(flows.*.bytes) > 0"}]}' >"$SCRATCH/incast4.json"
incast4() { "$H" run "$SCRATCH/incast4.json" --lab "$SCRATCH/four.json" --out "$SCRATCH/incast4" "$@"; }
foretold() { { incast4 --dry-run "$@" >/dev/null; } 2>&1; } # what is said before a run
unused='PFC is on for priority 4 \(settings.pfc\), and no flow has it: the flows are on priority 3; list the priorities of the flows'
check_exit 0 "a run whose flows starve passes, as it is told to" incast4 --set 'settings.pfc=[4]'
check_says "... before it begins, what is wrong is said" "^harness: warning: $unused\$" "$SCRATCH/err"
R=$(readlink -f "$SCRATCH/incast4/incast4/latest")
dropped=$(jq .hosts.s0.counters.buffer_discards.first "$R/result.json")
check "... packets are lost in the warm-up alone" jq -e '.hosts.s0.counters.buffer_discards | .total > 10000 and .delta == 0' "$R/result.json"
early="packets were lost in the warm-up, before the measured phase, whose figures do not show these: s0 buffer_discards: $dropped before, 0 in it"
resent="flows f[0-9] and f[0-9] sent [0-9.]+ MB again \\([1-9][0-9]* packets\\), and [0-9.]+ MB arrived, in the whole run"
still='flows f[0-9], f[0-9] and f[0-9] moved nothing in the measured phase'
for words in "$early" "$resent" "$still"; do
    check_says "... after it, what came of it: ${words:0:30}" "^  warning: $words\$" "$SCRATCH/out"
    check_says "... the page says it too" "<li>$words" "$R/report/index.html"
    # shellcheck disable=SC2016 # jq's variables, here and below
    check "... and the result" jq -e --arg words "^$words\$" 'any(.warnings[]; test($words))' "$R/result.json"
done
# shellcheck disable=SC2016
check "... which has all of them in one list, and no other" jq -e --arg unused "^$unused\$" '(.warnings | length == 4) and (.warnings[0] | test($unused))' "$R/result.json"
check "... what was said before is not said again" test "$(cat "$SCRATCH/out" "$SCRATCH/err" | grep -c 'no flow has it')" = 1
check_exit 0 "... in a sweep that only warns" incast4 --quiet --no-report --set 'settings.pfc=[4]' --set 'sweep={"phases.measure":["20ms","21ms"]}'
check "... each run is named" test "$(grep -cE "^harness: warning: 0[12]: $still\$" "$SCRATCH/err")" = 2
check "... and its index has their number" jq -e '[.cells[].warnings] == [4, 4]' "$SCRATCH/incast4/incast4/latest/index.json"
check_exit 0 "... of many runs" incast4 --no-report --set 'settings.pfc=[4]' --set phases.measure=2ms --set phases.cooldown=0s --repeat 21
check_says "... their number is told" '^21 of them have warnings, in result.json and in the report$' "$SCRATCH/out"
check_says "... and each warning once" "^  01: warning: $still\$" "$SCRATCH/out"
check "... up to six" test "$(grep -cE '^  [0-9]+: warning: ' "$SCRATCH/out")" -le 6
# without PFC the switch drops in the measured phase, and the figures have it: what was lost, and what was sent again
# shellcheck disable=SC2317 # called through check_exit
lossy() { incast4 --set settings.pfc=[] --set phases.warmup=0us "$@"; }
check_exit 0 "a run that loses packets in the measured phase passes, as it is told to" lossy
R=$(readlink -f "$SCRATCH/incast4/incast4/latest")
dropped=$(jq .hosts.s0.counters.buffer_discards.delta "$R/result.json")
again=$(jq '[.flows[].retransmitted_packets] | add' "$R/result.json")
check "... many of them" test "$dropped" -gt 1000 -a "$again" -gt 1000
check_says "... which it warns of, with the switch's counter alone" "^  warning: packets were lost in the measured phase: s0 buffer_discards: $dropped\$" "$SCRATCH/out"
check_exit 0 "... not where an expectation looks at that counter" lossy --no-report --set 'expect=[{"name": "it loses", "check": "delta(s*.buffer_*) > 1000"}]'
check "... of losses" jq -e 'any(.warnings[]; test("lost")) | not' "$SCRATCH/incast4/incast4/latest/result.json"
check "the page's table has packets lost and packets sent again, $dropped and $again" \
    test "$(sed -n '/<h2>Measurements/,/<.table>/p' "$R/report/index.html" | sed -n 's/&#8239;//g; /^<tr><td/p' | grep -oE '[0-9]+<' | tail -n 3 | sed -n '1s/<//p; 3s/<//p' | paste -sd,)" = "$dropped,$again"
incast4 --no-report >"$SCRATCH/out" 2>"$SCRATCH/err"
incast4 --no-report --set 'published=[{"name":"p","of":"sum(flows.*.errors)","value":0,"unit":"","source":"x"},{"name":"q","of":"count(flows.*.errors)","value":5,"unit":"flows","source":"x"}]' >"$SCRATCH/out" 2>"$SCRATCH/err"
check_says "a published 0, from which nothing differs in per cent, is shown" '^  published p: 0, simulated 0$' "$SCRATCH/out"
check_says "... beside another one" '^  published q: 5 flows, simulated 4 \(-20[.]0 %\)$' "$SCRATCH/out"
# one flow that ends, and rates and times of all sizes
incast4 --no-report --set expect=null --set 'flows=[{"name":"one","from":"h0","to":"h4","priority":3,"message":"1KiB","size":"1KiB"}]' --set 'phases={"warmup":"0","measure":"100ms"}' >"$SCRATCH/out" 2>"$SCRATCH/err"
check_says "a single flow that ends has words of its own, and units that show it" '^  the flow: 81[.]92 kb/s delivered in the measure phase, 81[.]92 kb/s by messages that completed then; its rate above is over its own time$' "$SCRATCH/out"
check_says "... and its time" '^  one .*ended after [0-9.]+ (us|ns)$' "$SCRATCH/out"
incast4 --no-report --set expect=null --set 'flows=[{"name":"few","from":"h0","to":"h4","priority":3,"message":"4KiB","size":"1kB","queue_pairs":4},
    {"name":"many","from":"h1","to":"h4","priority":3,"message":"4KiB","size":"100kB","queue_pairs":4}]' >"$SCRATCH/out" 2>"$SCRATCH/err"
check "a size is rounded up to whole messages, which its queue pairs share" jq -e '.flows | map_values([.messages, .bytes, .errors]) == {few: [1, 1000, 0], many: [25, 102400, 0]}' "$SCRATCH/incast4/incast4/latest/result.json"
incast4 --no-report --set expect=null --set flows=null --set 'traffic=[{"name":"one","pattern":"incast","from":["h0"],"to":["h4"],"size":"64KiB","priority":3}]' >"$SCRATCH/out" 2>"$SCRATCH/err"
check_says "... so has a pattern of one" '^  one .* the flow that began has finished   1 flow over the measure phase$' "$SCRATCH/out"
incast4 --no-report >"$SCRATCH/out" 2>"$SCRATCH/err"
check "with PFC for the flows' priority nothing is warned of" jq -e '.warnings == []' "$SCRATCH/incast4/incast4/latest/result.json"
check "... nor with DCQCN and its parameters" test -z "$(foretold --set 'settings.ecn=[3]' --set 'settings.dcqcn={"rp": {"rpg_ai_rate": 40}}' | grep warning)"
check "parameters of DCQCN where ecn is off" grep -q 'warning: settings.dcqcn has no effect: ecn is off at the senders .* the figures are those without DCQCN; list' \
    <<<"$(foretold --set 'settings.dcqcn={"rp": {"rpg_ai_rate": 40}}')"
check "... of one role" grep -q 'warning: settings_of.h1.dcqcn has no effect' <<<"$(foretold --set 'settings.ecn=[3]' --set 'settings_of.h1={"ecn": [], "dcqcn": {"rp": {"rpg_ai_rate": 40}}}')"
check "... of the receiver's CNPs" grep -q 'settings.dcqcn has no effect: ecn is off at the receivers .* without CNPs' <<<"$(foretold --set 'settings.dcqcn={"np": {"min_time_between_cnps": 8}}')"
check "... another control" grep -q 'settings.congestion_control has no effect: .* without congestion control' <<<"$(foretold --set settings.congestion_control=hpcc)"
check "... but not where a sweep varies ecn, whose cell without it is meant" \
    test -z "$(foretold --set 'settings.dcqcn={"rp": {"rpg_ai_rate": 40}}' --set 'sweep={"settings.ecn": [[], [3]]}' | grep warning)"
check "marks are wished for where nothing marks" grep -q 'flows f0, f1, f2 and 1 other: nothing on their way marks packets, .* on at h0 never reduces their rate: the figures are those without it' \
    <<<"$(foretold --set 'settings.ecn=[3]' --set lab.defaults.switch.ecn=null)"
check "... also with a NIC that sends CNPs where packets are lost" grep -q \
    'nothing on their way marks .* on at h0 reduces their rate only when packets are lost (nic.unmarked_cnps): without losses the figures are those without it' \
    <<<"$(foretold --set 'settings.ecn=[3]' --set lab.defaults.switch.ecn=null --set lab.defaults.host.nic.model=connectx-5)"
check "... also where a NIC notifies itself when it sends again, which it does only after losses" grep -q \
    'flows f0, f1, f2 and 1 other: nothing on their way marks .* on at h0 reduces their rate only when packets are sent again (nic.slow_restart): without losses the figures are those without it' \
    <<<"$(foretold --set 'settings.ecn=[3]' --set lab.defaults.switch.ecn=null --set lab.defaults.host.nic.slow_restart=true)"
check "... not where the scenario loses frames" test -z "$(foretold --set 'settings.ecn=[3]' --set lab.defaults.switch.ecn=null --set lab.defaults.host.nic.slow_restart=true --set 'inject=[{"flow":"f0","do":"drop"}]' | grep 'on their way marks')"
check "... nor of NICs that send CNPs without marks" test -z "$(foretold --set 'settings.ecn=[3]' --set lab.defaults.switch.ecn=null --set lab.defaults.host.nic.unmarked_cnps=loss --set 'inject=[{"flow":"f0","do":"drop"}]' | grep 'on their way marks')"
for rule in '"flow":"f0","do":"cnp"' '"flow":"f0","do":"mark","every":3' '"link":["h0","s0"],"do":"mark"'; do
    check "... of no flow that a rule of the scenario marks, or has answered with a CNP: $rule" test -z "$(foretold --set 'settings.ecn=[3]' --set lab.defaults.switch.ecn=null \
        --set 'flows=[{"name":"f0","from":"h0","to":"h4","priority":3}]' --set "inject=[{$rule}]" | grep 'on its way marks')"
done
check "... of the others it is" grep -q 'warning: flows f1, f2 and f3: nothing on their way marks' \
    <<<"$(foretold --set 'settings.ecn=[3]' --set lab.defaults.switch.ecn=null --set 'inject=[{"flow":"f0","do":"cnp"}]')"
check "... not for a control without marks" test -z "$(foretold --set 'settings.ecn=[3]' --set settings.congestion_control=timely --set lab.defaults.switch.ecn=null | grep warning)"
incast4 --no-report --set phases.measure=1ms --set 'capture={"priorities": [5]}' >"$SCRATCH/out" 2>"$SCRATCH/err"
check_says "a capture that chooses frames of which there are none" '^  warning: capture.pcapng has no frame: none passed that ports, flows, priorities and phase of capture choose$' "$SCRATCH/out"
incast4 --no-report --set phases.measure=1ms --set 'capture={"priorities": [3], "limit": "1MB"}' >"$SCRATCH/out" 2>"$SCRATCH/err"
check "... not where there are some" test -z "$(grep 'has no frame' "$SCRATCH/out")"
check "PFC that is on at the hosts and off at their switch" grep -q 'warning: PFC on priority 3 is on at h0, h1, h2 and 2 others and off at s0: it pauses nobody, and what does not fit into its buffer is lost; list' \
    <<<"$(foretold --set 'settings_of={"s0": {"pfc": []}}')"
check "... and the other way round" grep -q 'warning: PFC on priority 3 is off at h0 and h4 and on at s0: its pauses are ignored there' \
    <<<"$(foretold --set 'settings_of={"h0": {"pfc": []}, "h4": {"pfc": []}}' --set 'flows=[{"name":"f","from":"h0","to":"h4","priority":3}]')"
check "... but not where a sweep varies it, nor where both lack it" test -z "$({ foretold --set 'settings_of={"s0": {"pfc": []}}' --set 'sweep={"settings_of.s0.pfc": [[], [3]]}'; foretold --set 'settings.pfc=[]'; } | grep warning)"
# a port obeys pauses of a priority only where its PFC is on for it (IEEE 802.1Q, 36)
obeyed() { [ "$(jq -r --slurp 'map("\(.[0]) \(.[1])") | unique | join(", ")' "$SCRATCH/incast4/incast4/latest/pauses.jsonl")" = "$1" ]; }
incast4 --no-report --set expect=null --set phases.measure=2ms --set 'settings_of={"h0": {"pfc": []}}' >"$SCRATCH/out" 2>"$SCRATCH/err"
check "a host whose PFC is off sends on: the switch loses its frames, and no other's" \
    jq -e '.hosts.s0.counters | .port0_tx_prio3_pause.total > 0 and .port0_discards.total > 1000 and .port0_discards.total == .buffer_discards.total' "$SCRATCH/incast4/incast4/latest/result.json"
check "... the others stop" obeyed "h1 3, h2 3, h3 3"
incast4 --no-report --set expect=null --set phases.measure=2ms --set 'settings_of={"s0": {"pfc": []}}' --set 'flows=[{"name":"f","from":"h0","to":"h4","priority":3}]' \
    --set 'lab.hosts.h4.pcie={"generation":4,"lanes":16}' --set 'lab.hosts.h4.memory={"write":"10Gb/s"}' >"$SCRATCH/out" 2>"$SCRATCH/err"
check "a switch whose PFC is off counts pauses and sends on: the receiver loses frames" jq -e '.hosts | .h4.counters.rx_discards_phy.total > 100 and
    (.s0.counters | .port4_rx_prio3_pause.total > 1 and .port4_rx_prio3_pause_duration.total == 0)' "$SCRATCH/incast4/incast4/latest/result.json"
check "... and no port stops" obeyed ""
strict='["strict","strict","strict","strict","strict"]'
incast4 --no-report --set expect=null --set phases.measure=2ms --set 'settings.pfc=[3,4]' --set 'flows=[{"name":"low","from":"h0","to":"h4","priority":3},{"name":"high","from":"h1","to":"h4","priority":4}]' \
    --set "settings_of.s0.ets={\"weights\": [0,0,0,80,20,0,0,0], \"selection\": $strict}" >"$SCRATCH/out" 2>"$SCRATCH/err"
check "classes of a switch whose selection is strict go first, whatever their weights" jq -e '.flows | .high.delivered_bps > 23e9 and .low.delivered_bps == 0' "$SCRATCH/incast4/incast4/latest/result.json"
check "... another selection is refused" grep -q 'settings_of.s0.ets.selection\[1\]: "vendor" is not simulated: expected strict, or ets with a weight' \
    <<<"$(foretold --set 'settings_of.s0.ets={"weights": [100], "selection": ["ets", "vendor"]}')"
check "... and ets of a class without a weight, in common settings too" grep -q 'settings.ets.selection\[1\]: "ets" without a weight is not simulated' \
    <<<"$(foretold --set 'settings.ets={"weights": [100], "selection": ["ets", "ets"]}')"
check_exit 1 "a run that has a reason for one warning at four pairs of hosts" incast4 --no-report --set phases.measure=1ms --set 'settings_of={"h4": {"ecn": []}}' --set 'settings.ecn=[3]' --set 'expect=[{"name":"CNPs","check":"delta(h*.rp_cnp_handled) > 0"}]'
check "... has it once" jq -e '[.warnings[] | select(test("the notification point is off"))] | length == 1' "$SCRATCH/incast4/incast4/latest/result.json"
asked='[{"flow":"f","do":"cnp","every":100}]'
for rule in "$asked" "${asked/\"flow\":\"f\"/\"link\":[\"s0\",\"h4\"]}"; do
    check_exit 0 "a rule of inject makes a host send CNPs: $rule" incast4 --no-report --set phases.measure=1ms --set 'settings.ecn=[3]' --set 'flows=[{"name":"f","from":"h0","to":"h4","priority":3}]' --set "inject=$rule"
    check "... which is not laid to NICs" jq -e '.hosts.h4.counters.np_cnp_sent.total > 20 and .injected[0].injected > 20 and all(.warnings[]; test("CNPs in the run") | not)' "$SCRATCH/incast4/incast4/latest/result.json"
done
check "points of DCQCN that have lists of their own are not off" test -z "$(foretold --set 'settings.ecn_rp=[3]' --set 'settings.ecn_np=[3]' --set 'expect=[{"name":"CNPs","check":"delta(h4.np_cnp_sent) > 0"}]' | grep warning)"
check "a flow on a priority with neither PFC nor DCQCN beside flows that have them" \
    grep -q 'flow bare is on priority 0, which has neither PFC nor DCQCN, while flows on priority 3 have: what does not fit into buffers is lost' \
    <<<"$(foretold --set 'flows=[{"name":"f","from":"h0","to":"h4","priority":3},{"name":"bare","from":"h1","to":"h4","priority":0}]')"
check "a rate above the line's limits nothing" grep -q 'warning: flow a-to-b: the rate limits nothing: a-to-b has 30 Gb/s, and the line of a 25 Gb/s; give a rate below' \
    <<<"$("$H" run -n pfc-bidir --set sweep=null --set 'flows.a-to-b.rate=30Gb/s' --set 'flows.b-to-a.rate=25Gb/s' 2>&1)"
check "a size that is not whole messages says what is sent" grep -q 'warning: flows f0, f1, f2 and 1 other: the size is rounded up to whole messages of each queue pair: f0 sends 10092544 B, not 10000000 B; ' \
    <<<"$(foretold --set 'flows.*.size=10MB' --set 'flows.*.queue_pairs=2' --set 'flows.*.message=64KiB')"
check "... not one that is" test -z "$(foretold --set 'flows.*.size=640KiB' --set 'flows.*.queue_pairs=2' | grep warning)"
# keys that a form of flows does not use, or that simulated flows do not: said if they are given, else not in the result
forms='traffic=[{"name":"sized","pattern":"incast","from":["h[0-1]"],"to":["h4"],"size":"1MB","message":"4KiB","depth":16,"load":0.3,"priority":3},
    {"name":"few","pattern":"poisson","from":["h[0-1]"],"to":["h4"],"size":"10kB","load":0.9,"count":3,"priority":3},
    {"name":"endless","pattern":"incast","from":["h[0-1]"],"to":["h4"],"message":"8KiB","depth":4,"priority":3}]'
pings='flows=[{"name":"ping","from":"h0","to":"h1","mode":"latency","message":"64B","depth":64,"numa":"near","tool":"perftest","validate":true,"priority":3},
    {"name":"pong","from":"h1","to":"h0","mode":"latency","message":"64B","depth":1,"priority":3},
    {"name":"short","from":"h1","to":"h0","message":"64KiB","size":"10kB","priority":3},{"name":"plain","from":"h1","to":"h0","size":"10kB","priority":3}]'
check_exit 0 "flows of all forms run" incast4 --no-report --set "$forms" --set "$pings" --set phases.warmup=0us --set phases.measure=2ms
check "... what they do not use is said, of those alone that have it" test "$(grep -o 'warning: flow.*has no effect.*' "$SCRATCH/err")" = \
"warning: flow sized: message has no effect: what a message of the pattern has follows from its size
warning: flow sized: depth has no effect: a flow of a pattern that has a size sends one message at a time
warning: flow sized: load has no effect: only Poisson arrivals have a load
warning: flow short: message has no effect: a flow with a smaller size is one message of that size
warning: flow ping: depth has no effect: mode latency sends one message at a time
warning: flow ping: tool has no effect: simulated flows need no program
warning: flow ping: numa has no effect: simulated hosts have no NUMA nodes
warning: flow ping: validate has no effect: simulated packets carry no data that could be checked"
check "... also of collectives, and by check" test "$("$H" check <(jq -n '{schema: 1, name: "c", roles: ["a", "b"], collectives: [{name: "g", op: "all-gather", root: 1, reduction: "max"}, {name: "r", op: "reduce", root: 1}]}') \
    --lab "$ROOT/labs/ssh-pair.example.json" 2>&1 | grep -o 'collective.*')" = "collective g: reduction has no effect: the operation reduces nothing
collective g: root has no effect: the operation has no root"
R=$SCRATCH/incast4/incast4/latest/result.json
check "... in the result, too" test "$(jq '[.warnings[] | select(test("has no effect"))] | length' "$R")" = 8
check "... which has no default that nothing uses" test "$(jq -c '[.scenario.traffic[] | [.message, .depth, .load, .count]], [.scenario.flows[] | [.message, .depth]]' "$R" | xargs -d '\n')" = \
    '[["4KiB",16,0.3,null],[null,null,0.9,3],["8KiB",4,null,null]] [["64B",64],["64B",1],["64KiB",128],[null,128]]'
check "... an amount below a message is one message of it, and as many flows arrive as count says" \
    jq -e '[.flows.short, .flows.plain | .bytes, .messages] == [10000, 1, 10000, 1] and .flows.few.flows.started == 3' "$R"
jq --arg lab "$SCRATCH/four.json" '.lab = $lab | .settings.pfc = [4]' "$SCRATCH/incast4.json" >"$SCRATCH/named.json"
check "check warns of the lab that the scenario names as of one that is given" \
    test "$("$H" check "$SCRATCH/named.json" 2>&1)" = "$("$H" check "$SCRATCH/named.json" --lab "$SCRATCH/four.json" 2>&1)"
check "... by the sentence of a run" grep -qE "warning: $unused" <<<"$("$H" check "$SCRATCH/named.json" 2>&1)"
check "both ends are compared before the run" grep -q "PFC on priority 3 is on at h4 and off at h0: one end would ignore the other's pauses" <<<"$(foretold --set 'settings_of.h0={"pfc": []}')"
check "... and their MTUs, one of which is the default" grep -q 'MTUs differ: 4200 at h1, 1500 at h4' <<<"$(foretold --set 'settings_of.h1={"mtu": 4200}')"
check "... not the default that is given by name" test -z "$(foretold --set 'settings_of.h1={"mtu": 1500}' | grep warning)"
check "a bridge does not do what is set for it alone" test "$("$H" run dcqcn-red-bridge --set sweep=null --set 'settings_of={"switch": {"mtu": 1500, "pfc": [0], "ecn": [], "red": {"limit": "2MB", "min": "50kB", "max": "200kB", "ecn": true}}}' --dry-run 2>&1 |
    sed -n 's/.*switch: the simulator does not model the setting //p' | xargs)" = "mtu pfc ecn"
check "... nor a switch with an MTU" grep -q 's0: the simulator does not model the setting mtu' <<<"$(foretold --set 'settings_of.s0={"mtu": 1400}')"
check "the map of DSCPs is not modelled" grep -q 'h0, h1, h2 and 2 others: the simulator does not model the setting dscp_to_prio' <<<"$(foretold --set 'settings.dscp_to_prio={"24":3}')"
check_exit 2 "a watchdog that the simulator would not have" incast4 --set 'settings.watchdog={"detect": "100ns"}'
check_says "... is refused as one of a lab" 'settings.watchdog.detect: 100 ns is out of range: expected 0 for no watchdog, or at least 1us' "$SCRATCH/err"

# ---- a goodput that no line carries, and gauges of few samples: messages of 4 MiB, of which a part arrived in the warm-up
carried() { # OPTION...
    incast4 --no-report --set settings.mtu=4200 --set phases.warmup=4800us --set phases.measure=4ms --set phases.cooldown=1ms --set 'flows.*.message=4MiB' --set 'flows.*.depth=2' \
        --set 'expect=[{"name":"fast","check":"sum(flows.*.goodput_bps) > 25Gb/s"},{"name":"level","check":"max(s0.port4_prio3_queue_bytes) < 1B"},
            {"name":"peak","check":"max(s0.port4_prio3_queue_peak_bytes) > 1B"},{"name":"frames","check":"delta(s0.buffer_discards) == 0"}]' "$@"
}
check_exit 1 "more than a line carries" carried
check_says "... the expectation says so" '^  passed   fast \(33[.]5544 Gb/s, expected > 25 Gb/s; flows[.][*]: goodput above what a line carries, see the warnings\)$' "$SCRATCH/out"
check_says "... and the warning why" '^  warning: flows f0, f1, f2 and 1 other: goodput above what the line carries \(into h4 33[.]554 Gb/s, of at most 24[.]509\): messages that began before the measured phase count in full; a longer' "$SCRATCH/out"
check "... the result has the line" jq -e '[.flows[].above_line_bps | round] == [24509334610, 24509334610, 24509334610, 24509334610] and (.warnings | length == 1)' "$SCRATCH/incast4/incast4/latest/result.json"
check_says "... many samples need no word" '^  failed   level \([0-9]+ bytes, expected < 1 bytes\)$' "$SCRATCH/out"
check_exit 1 "... by a pattern" carried --set 'flows=[]' --set 'traffic=[{"name":"p","pattern":"incast","from":["h0","h1","h2","h3"],"to":["h4"],"message":"4MiB","depth":2,"priority":3}]'
check_says "... too" '^  warning: flow p: goodput above what the line carries \(into h4 33[.]554 Gb/s, of at most 24[.]509\)' "$SCRATCH/out"
check_exit 0 "... out of a host" carried --set 'flows=[{"name":"f0","from":"h0","to":"h1","message":"4MiB","depth":2,"priority":3},{"name":"f1","from":"h0","to":"h2","message":"4MiB","depth":2,"priority":3},
    {"name":"f2","from":"h0","to":"h3","message":"4MiB","depth":2,"priority":3},{"name":"f3","from":"h0","to":"h4","message":"4MiB","depth":2,"priority":3}]'
check_says "... too" '^  warning: flows .* \(out of h0 33[.]554 Gb/s, of at most 24[.]509\)' "$SCRATCH/out"
check_exit 1 "... over repetitions" carried --repeat 2 --set expect.0.over=repeats
check_says "... too" '^  passed   fast \(33[.]5544 Gb/s in all 2 runs, expected > 25 Gb/s; flows[.][*]: goodput above' "$SCRATCH/out"
carried --set settings.mtu=1500 >"$SCRATCH/out" 2>"$SCRATCH/err"
check "... of a smaller MTU, whose packets have a larger part of headers" jq -e '[.flows[].above_line_bps | round] | unique == [23146473779]' "$SCRATCH/incast4/incast4/latest/result.json"
check_exit 1 "... and less, in messages of another size" carried --set 'flows.*.message=64KiB'
check_says "... has no word of it" '^  failed   fast \(24[.][0-9]+ Gb/s, expected > 25 Gb/s\)$' "$SCRATCH/out"
check "... and no warning" jq -e '.warnings == [] and all(.flows[]; has("above_line_bps") | not)' "$SCRATCH/incast4/incast4/latest/result.json"

# ---- a rate over a phase in which a flow stood still for most of the time, or a line carries a few packets
cat >"$SCRATCH/pair.json" <<'END'
{ "schema": 1, "name": "pair", "driver": "sim", "topology": { "kind": "star", "hosts": 2 }, "defaults": { "link": { "rate": "100Gb/s", "length": "5m" } } }
END
cat >"$SCRATCH/still.json" <<'END'
{ "schema": 1, "name": "still", "lab": "pair.json", "roles": ["h[0-1]"], "settings": { "pfc": [], "mtu": 4200 },
  "phases": { "warmup": "100us", "measure": "10ms", "cooldown": "100us" },
  "flows": [{ "name": "f", "from": "h1", "to": "h0", "op": "write", "message": "64KiB", "depth": 4 }],
  "faults": [{ "link": ["h0", "s0"], "kind": "down", "start": "2ms", "stop": "2.2ms" }] }
END
warned_of() { # OPTION...
    "$H" run "$SCRATCH/still.json" --no-report --quiet --out "$OUT" "$@" >"$SCRATCH/out" 2>&1
    jq -r '.warnings[]' "$OUT/still/latest/result.json"
}
stood='^flow f completed no message for 8\.10[0-9]* of the 10 ms of the measured phase, from its 1\.89[0-9]* ms on, and 355 in the rest'
check "a flow that waits for a time-out until the end stood still for most of the phase" grep -qE "$stood" <<<"$(warned_of)"
check_says "... on the terminal" 'warning: flow f completed no message for 8' "$SCRATCH/out"
check "... also where its intervals show it" grep -qE "$stood" <<<"$(warned_of --set sample.every=1ms)"
check "a fault that lost nothing, in the cooldown" grep -q '^faults.0. met nothing: of [0-9]* frames .link between h1 and s0, while the fault lasted. it damaged none$' \
    <<<"$(warned_of --set 'faults=[{"link":["h1","s0"],"kind":"loss","loss":1e-9,"phase":"cooldown"},{"link":["h0","s0"],"kind":"loss","loss":0.01}]')"
check "... is the only one, beside another that did" test "$(jq '[.warnings[] | select(test("met nothing"))] | length' "$OUT/still/latest/result.json")" = 1
# one of each kind on a link that no flow uses, and on one that a flow uses
faults_at() { echo "faults=[{\"link\":[\"$1\",\"s0\"],\"kind\":\"down\",\"start\":\"1ms\",\"stop\":\"1.1ms\"},{\"link\":[\"$1\",\"s0\"],\"kind\":\"flap\",\"start\":\"2ms\",\"period\":\"100us\",\"count\":2},{\"link\":[\"$1\",\"s0\"],\"kind\":\"rate\",\"rate\":\"10Gb/s\",\"start\":\"3ms\",\"stop\":\"4ms\"}]"; }
storms_at() { echo "storms=[{\"role\":\"$1\",\"priority\":0,\"start\":\"5ms\",\"stop\":\"5.1ms\"}]"; }
met_nothing() { # OPTION...: with three hosts, and a flow from h1 to h0 on priority 0
    warned_of --set lab.topology.hosts=3 --set 'roles=["h[0-2]"]' --set lab.defaults.host.nic.ack_timeout=100us "$@" | sed -n 's/ me*t* nothing: .*//p' | tr '\n' ' '
}
check "faults and a storm on a link without a flow met nothing, each" \
    test "$(met_nothing --set "$(faults_at h2)" --set "$(storms_at h2)" --set settings.pfc='[0]')" = "faults[0] faults[1] faults[2] storms[0] "
check_says "... on the terminal" 'warning: faults\[0\] met nothing: while the link between h2 and s0 was down, no frame was lost there, waited, or took another way' "$SCRATCH/out"
check "... faults on a link with one met it" test -z "$(met_nothing --set "$(faults_at h0)")"
check "... so do storms, also where only acknowledgements wait" \
    test -z "$(for host in h0 h1; do met_nothing --set faults=null --set "$(storms_at "$host")" --set settings.pfc='[0]'; done)"
storm=$(warned_of --set faults=null --set "$(storms_at h0)")
check "a storm without PFC is warned of before the run" \
    grep -q 'storms.0. will meet nothing: PFC on priority 0 is off at s0, and the pauses of h0 are ignored there' "$SCRATCH/out"
check "... and after it" grep -q '^storms.0. met nothing: while h0 paused priority 0, no frame waited for it at the other end of the link$' <<<"$storm"
check "an injected pause, too" grep -q 'inject.0. will meet nothing: PFC on priority 5 is off at s0' \
    <<<"$(warned_of --set faults=null --set 'inject=[{"link":["s0","h0"],"do":"pause","lasts":"3us","pause_priority":5}]')"
check "... and not where it goes on" test -z "$(warned_of --set faults=null)"
check "a phase of a few packets has no rate" grep -q '^the measured phase of 1.5 us has the time of 4.4 packets of 4196 bytes at 98.04 Gb/s of payload: one more or less is 23 % of a rate' \
    <<<"$(warned_of --set faults=null --set 'flows.*.message=4KiB' --set phases.measure=1500ns)"
check "... of small packets a line carries less payload" grep -q 'the time of 9.3 packets of 1500 bytes at 92.59 Gb/s of payload' <<<"$(warned_of --set faults=null --set settings.mtu=1500 --set phases.measure=1200ns)"
check "... one of many has" test -z "$(warned_of --set faults=null --set 'flows.*.message=4KiB' --set phases.measure=100us)"
fewer='expect\[1\] reads max\(s0.port4_prio3_queue_bytes\), of which fewer than 5 samples lie in the measured phase: sample.every is 10ms, and phases.measure 4ms; shorten sample.every or lengthen phases.measure'
check_exit 1 "a gauge of two samples" carried --set sample.every=10ms
check_says "... has their number in the reason" '^  failed   level \([0-9]+ bytes, expected < 1 bytes; of 2 samples\)$' "$SCRATCH/out"
check_says "... is warned of before the run" "^harness: warning: $fewer\$" "$SCRATCH/err"
check "... once, and not for a gauge that keeps its largest value, or a counter" test "$(grep -c 'fewer than' "$SCRATCH/err")" = 1 -a "$(grep -c 'of 2 samples' "$SCRATCH/out")" = 1
check "... also without one" grep -qE "warning: $fewer\$" <<<"$({ carried -n --set sample.every=10ms >/dev/null; } 2>&1)"

# ---- an expectation that cannot be judged does not pass in silence, whatever the others say
undecided='[{"name":"moves","check":"min(flows.*.bytes) > 0"},{"name":"ratio","check":"delta(a.rx_prio0_pause) / delta(b.rx_prio0_pause) < 2"}]'
check_exit 0 "a ratio of nothing beside what moves" "$H" run pfc-bidir -d 1ms --no-report --out "$SCRATCH/undecided" --set sweep=null --set published=null --set expect="$undecided"
check_says "... is a warning" '^  warning: expectation "ratio" was not judged: column [0-9]+: division by zero$' "$SCRATCH/out"
check "... in the result too" holds '[.warnings[] | select(test("\"ratio\" was not judged"))] | length == 1' "$SCRATCH/undecided/pfc-bidir/latest/result.json"

# ---- quantiles of fewer values than they take, which are only the largest of them
# shellcheck disable=SC2317 # called through check_exit
quantiles() { # CHECK OPTION...
    local check=$1
    shift
    "$H" run pfc-bidir -d 1ms --no-report --out "$SCRATCH/quantiles" --set sweep=null --set published=null --set phases.warmup=1ms --set 'expect=[{"name":"y","check":"'"$check"'"}]' "$@"
}
few_warned() { # SENTENCE
    local result="$SCRATCH/quantiles/pfc-bidir/latest/result.json"
    check_says "... its reason says so" "^  passed   y \\(.*; $1\\)\$" "$SCRATCH/out"
    check_says "... and a warning" "^  warning: expectation \"y\": $1\$" "$SCRATCH/out"
    check "... once, in the result too" test "$(jq --arg said "$1" '[.warnings[] | select(test($said))] | length' "$result")" = 1
}
check_exit 0 "the p99.99 of 63 messages decides" quantiles 'max(flows.*.latency_p99_99_ns) < 10ms' --set 'flows.*.message=1MiB'
few_warned 'the p99[.]99 of flows[.][*][.]latency_p99_99_ns is of [0-9]+ messages and takes 10000: it is only the largest'
check_exit 0 "the p99.9 of a gauge of 20 samples decides" quantiles 'p99_9(b.rx_buffer1_bytes) >= 0' --set sample.every=50us
few_warned 'the p99[.]9 of b[.]rx_buffer1_bytes is of [12][0-9] samples and takes 1000: it is only the largest'
check_exit 0 "the p90 of two flows decides" quantiles 'p90(flows.*.goodput_bps) > 1Gb/s'
few_warned 'the p90 of flows[.][*][.]goodput_bps is of 2 flows and takes 10: it is only the largest'
check_exit 0 "a quantile beside that of another cell" quantiles 'max(flows.*.latency_p99_99_ns) < 10 * other(max(flows.*.latency_p99_99_ns))' --set 'expect.0.against={"flows.*.depth":16}' --set 'sweep={"flows.*.depth":[16,32]}'
check "... is warned of in both runs" test "$(grep -c '^  warning: expectation "y": the p99[.]99 of flows' "$SCRATCH/out")" = 2
check_exit 0 "the median of two flows, and quantiles of enough values" quantiles 'p50(flows.*.goodput_bps) + 0 * p90(b.rx_buffer1_bytes) / 1B * 1b/s + 0 * min(flows.*.latency_p99_ns) / 1ns * 1b/s > 1Gb/s' --set sample.every=50us --set "flows.*.message=4KiB"
check "... need no word" test "$(grep -c 'only the largest' "$SCRATCH/out")" = 0

# ---- settings of receive buffers, which an ideal NIC does not have
ideal='h4: an ideal NIC has no receive buffers to fill: the setting'
foretold --set 'settings_of.h4={"cable": "300m", "buffer_bytes": [0, 10000], "prio_to_buffer": {"3": 1}}' >"$SCRATCH/err"
check "settings of an ideal NIC's buffers have no effect" test "$(sed -n "s/.*warning: $ideal \(.*\) has no effect.*/\1/p" "$SCRATCH/err" | sort | xargs)" = "buffer_bytes cable prio_to_buffer"
check "... at one that is not ideal they have" test -z "$(foretold --set 'settings_of.h4={"cable": "300m"}' --set 'lab.defaults.host.pcie={"generation": 4, "lanes": 16}' | grep 'ideal NIC')"

# ---- options
check_exit 0 "--repeat and --json" "$H" run write-latency --repeat 3 --duration 5ms --json --no-report --out "$OUT"
check "one JSON document on standard output, with three runs" holds '.cells | length == 3 and ([.[].repeat] == [1,2,3])' "$SCRATCH/out"
check "... each with goodput, the latency's statistics and verdicts" holds '[.cells[] |
    .flows["a-to-b"].goodput_bps > 0 and .flows["a-to-b"].latency_ns.p99 > 0 and .total.goodput_bps == .flows["a-to-b"].goodput_bps and
    (.expectations | length > 0 and all(.verdict == "passed"))] | all and length == 3' "$SCRATCH/out"
check "repeated runs have their own seeds" test "$(jq -s '[.[].seed] | unique | length' "$OUT"/write-latency/latest/*/result.json)" = 3
check_exit 0 "--json of a pattern" "$H" run incast-pfc --duration 1ms --json --no-report --out "$OUT"
check "... counts each byte of it once" holds '.cells[0] | (.total.goodput_bps - .flows.incast.goodput_bps | fabs) < 1 and
    (.total.goodput_bps - ([.flows[] | .goodput_bps] | add) / 2 | fabs) < 1e5' "$SCRATCH/out"
check "... and has the pauses of each host" holds '.cells[0].pauses | .h0.rx_prio3_pause.delta > 0 and .h0.rx_prio3_pause.rate_per_s > 0' "$SCRATCH/out"
check_exit 0 "the summary of a latency" "$H" run write-latency --duration 5ms --no-report --out "$OUT"
check_says "... says which statistic each figure is, in a unit that shows the rate" ' [0-9]{1,3}\.[0-9][0-9] Mb/s   latency p50 [0-9.]+ us, p99 [0-9.]+ us$' "$SCRATCH/out"
check_exit 0 "the summary of a pattern" "$H" run leaf-spine-permutation --set 'sweep={}' --duration 2ms --no-report --out "$OUT"
check_says "... has all its flows together, in the unit of the expectation" '^  permutation +[0-9.]+ MiB/s +[0-9]{4}\.[0-9]+ Gb/s   32 flows together; the 4 slowest and the 4 fastest:$' "$SCRATCH/out"
# shellcheck disable=SC2016 # it is awk's
check "... the slowest first, the fastest last" awk '/^  permutation\// { rate[n++] = $4 } END { exit !(n == 8 && rate[0] < 50 && rate[3] < 50 && rate[4] > 90) }' "$SCRATCH/out"
check_exit 0 "--dry-run" "$H" run pfc-bidir --dry-run --out "$SCRATCH/dry"
check "... creates nothing" test ! -e "$SCRATCH/dry"
check_exit 0 "--quiet" "$H" run write-latency --quiet --duration 5ms --no-report --out "$OUT"
check "... prints nothing" test ! -s "$SCRATCH/out" -a ! -s "$SCRATCH/err"
check_exit 0 "--set reaches the lab" "$H" run write-latency --lab sim-geforce-pair --set lab.links.0.length=20m --duration 5ms --no-report --out "$OUT"
check "... as the result says" test "$(jq -r '.lab.links[0].length' "$OUT/write-latency/latest/result.json")" = 20m
check_exit 2 "--set of a link that a topology draws is refused" "$H" run leaf-spine-permutation --dry-run --set lab.links.0.rate=5Gb/s
check_says "... with its path and what to change" '^harness: error: --set lab.links.0.rate=5Gb/s: lab.links.0.rate: the lab.s "topology" draws its links: change lab.topology, or lab.defaults for all of them$' "$SCRATCH/err"
check_exit 2 "... of a list that the scenario does not have" "$H" run pfc-bidir --dry-run --set storms.0.role=a
check_says "... too" 'storms.0.role: there is no list "storms" that it could change: give all of it, as a list$' "$SCRATCH/err"
HARNESS_LAB=sim-geforce-pair check_exit 0 "HARNESS_LAB" "$H" run write-latency --duration 5ms --no-report --out "$OUT"
check_says "... is named as the choice's reason" 'chosen by HARNESS_LAB' "$SCRATCH/err"

# ---- a cooldown that is not named
jq 'del(.phases.cooldown)' "$ROOT/scenarios/write-latency.json" >"$SCRATCH/x.json"
check_exit 0 "a scenario without a cooldown" "$H" run "$SCRATCH/x.json" --duration 1ms --no-report --out "$OUT"
check "... has a short one in a simulated lab" holds '.scenario.phases.cooldown == "1ms" and (.phases[2] | .name == "cooldown" and .end_ns - .start_ns == 1000000)' "$OUT/write-latency/latest/result.json"
for lab in soft-pair geforce-pair; do
    "$H" run "$SCRATCH/x.json" --lab "$ROOT/labs/$lab.json" -n --json >"$SCRATCH/dry.json"
    check "... and half a second in $lab" holds '.scenario.phases.cooldown == "500ms"' "$SCRATCH/dry.json"
done

# ---- flows that end: their own time and rate, also if it was before the measurement
mkdir -p "$SCRATCH/mine"
jq '.defaults.host.gpu = null | .hosts = {} | .topology = {"kind": "star", "hosts": 4} | .links = []' "$ROOT/labs/sim-geforce-pair.json" >"$SCRATCH/mine/ends-lab.json"
cat >"$SCRATCH/mine/ends.json" <<'END'
{ "schema": 1, "name": "ends", "lab": "ends-lab.json", "roles": ["h[0-3]"], "phases": { "warmup": "2ms", "measure": "20ms" },
  "flows": [ { "name": "early", "from": "h0", "to": "h1", "size": "4MB", "message": "1MB" },
             { "name": "late", "from": "h0", "to": "h2", "size": "4MB", "message": "1MB", "start": "10ms" },
             { "name": "long", "from": "h3", "to": "h0", "size": "1GB", "message": "1MB", "start": "12ms" },
             { "name": "endless", "from": "h1", "to": "h3" } ],
  "expect": [ { "name": "all", "check": "sum(flows.*.goodput_bps) > 1Gb/s" }, { "name": "two", "check": "sum(flows.[el]a*.goodput_bps) > 40Gb/s" } ] }
END
check_exit 0 "flows with and without an end" "$H" run "$SCRATCH/mine/ends.json" --out "$OUT"
ENDS=$OUT/ends/latest
check "have their own bytes, time and rate" holds '.flows | [.early, .late] | all(.bytes == 4000000 and .duration_ns == (.completion_ns.max | floor) and .duration_ns < 1500000 and .goodput_bps > 22e9 and .goodput_bps < 25e9)' "$ENDS/result.json"
check "... and apart what they moved in the measure phase" holds '.flows | .early.phase.bytes == 0 and .late.phase.bytes == 4000000 and .late.phase.goodput_bps == 1.6e9 and (.endless | has("phase") | not)' "$ENDS/result.json"
check "one that has not ended has the rate of the time that it ran" holds '.flows.long | .duration_ns == 10000000 and .goodput_bps > 22e9 and .phase.goodput_bps * 2 == .goodput_bps' "$ENDS/result.json"
check_says "the summary says when they ended" '^  late .* 2[2-4][.][0-9]+ Gb/s .*ended after 1[.][0-9]+ ms$' "$SCRATCH/out"
check_says "... no quantile of fewer messages than it needs" '^  late .*  latency p50 [0-9.]+ us   ended' "$SCRATCH/out"
check_says "... and which have not" '^  long .*   has not ended$' "$SCRATCH/out"
total=$(jq -r '.flows | (.early.phase.goodput_bps + .late.phase.goodput_bps + .long.phase.goodput_bps + .endless.goodput_bps) / 1e9 * 100 | round / 100' "$ENDS/result.json")
arrived=$(jq -r '[.flows[] | .delivered_bytes * 8 / 20e6] | add * 100 | round / 100' "$ENDS/result.json")
check_says "... and what all moved in the measure phase" "^  all 4 flows: ${arrived/./[.]}0* Gb/s delivered in the measure phase, ${total/./[.]}0* Gb/s by messages that completed then; the rates of 3 that end are over their own time$" "$SCRATCH/out"
check_says "a sum of both kinds says so" '  passed   all \(.*; 3 of the 4 flows of flows[.][*] end, and their rates are over their own time\)' "$SCRATCH/out"
check_says "... and one of two that end: over different times" '  passed   two \(4[0-9.]+ Gb/s, expected > 40 Gb/s; 2 of the 2 flows of flows[.]\[el\]a[*] end, and their rates are over their own time\)' "$SCRATCH/out"
check_says "the page has the times" '<th class=number>ended after, ms' "$ENDS/report/index.html"
check_exit 1 "completion times where not all flows have finished" "$H" run web-search --set traffic.0.load=0.9 --set phases.cooldown=10us --no-report --out "$SCRATCH/unfinished"
R=$SCRATCH/unfinished/web-search/latest
counts=$(jq -r '.flows.web.flows | "\(.finished) \(.started)"' "$R/result.json")
check "... some have not" test "${counts% *}" -gt 500 -a "${counts% *}" -lt "${counts#* }"
check_says "... their line says how many did" "^  web .*   ${counts% *} of the ${counts#* } flows that began in the measure phase or later have finished, $(jq .flows.web.flows.earlier "$R/result.json") began before it\$" "$SCRATCH/out"
said="; of the ${counts% *} flows that have finished, of ${counts#* } that began in the measure phase or later"
# shellcheck disable=SC2016 # jq's variable
check "... what is judged over them says so" jq -e --arg said "$said" '.expectations[1:] | length == 2 and all(.reason | endswith($said))' "$R/result.json"
check "... the fastest flow is no faster than on an empty network" jq -e '.expectations[1].left == .flows.web.slowdown.min and .flows.web.slowdown.min < .flows.web.slowdown.p50' "$R/result.json"
check_says "... and says what rates are over" 'Rates of flows that end are over their own time' "$ENDS/report/index.html"
check "... and no PFC in the drawing of rates where nothing counts it" bash -c "grep -q 'Wire rate at which each host sends[.]' '$ENDS/report/index.html' && ! grep -q 'the PFC frames that it receives' '$ENDS/report/index.html'"
# Flows of a message each, many of which are longer than the phase: what arrived is the throughput, and flows that began in the warm-up are not lost.
check_exit 0 "flows as long as the phase" "$H" run congestion-controls --set sweep=null --set settings.congestion_control=dcqcn_vwin --out "$SCRATCH/controls"
R=$SCRATCH/controls/congestion-controls/latest
check "have the rate of what arrived, too" holds '.flows.web | .delivered_bps * 3e-3 / 8 - .delivered_bytes | fabs < 1' "$R/result.json"
check "... which is another than that of what completed" holds '.flows.web | .goodput_bps * 3e-3 / 8 - .bytes | fabs < 1' "$R/result.json"
web=$(jq -r '.flows.web | [.goodput_bps, .delivered_bps] | map(. / 1e9 * 100 | round / 100) | @tsv' "$R/result.json")
check "... and far from it: $web" holds '.flows.web | .goodput_bps < 0.8 * .delivered_bps' "$R/result.json"
began=$(jq '[.flows | to_entries[] | select(.key | test("^web/")) | .value.completion_ns.begin // 1e12 | select(. < 1e5)] | length' "$R/result.json")
check "... $began began in the warm-up" holds ".flows.web.flows | .earlier == $began and .earlier > 5 and .started == 233 - .earlier" "$R/result.json"
check_says "the terminal has both, and how many flows began when" "^  web .* ${web%$'\t'*}0* Gb/s completed, ${web#*$'\t'}0* Gb/s delivered .* of the $((233 - began)) flows that began in the measure phase or later have finished, $began began before it" "$SCRATCH/out"
check_says "... says that single flows are over their own times" '^  web .*   233 flows together over the measure phase; the [0-9]+ slowest and the [0-9]+ fastest over their own times, of the whole run:$' "$SCRATCH/out"
check_says "... and what these moved in the phase, where it differs" '^  web/[0-9]+ .*   (ended after [0-9.]+ [mnu]s|has not ended); in the measure phase [0-9.]+ [GMk]b/s completed, [0-9.]+ [GMk]b/s delivered$' "$SCRATCH/out"
check "... with no rate of another time beside" test -z "$(grep -E '^  web/[0-9]+ .*b/s completed, .*(ended|has not)' "$SCRATCH/out")"
check_says "... and a warning" '^  warning: flow web: the goodput of the messages that completed in the measured phase differs from what was delivered in it \([0-9.]+ Gb/s completed, [0-9.]+ delivered\)' "$SCRATCH/out"
all=$(jq '[.flows.web, .flows.burst | .delivered_bps] | add / 1e9 * 10 | round / 10' "$R/result.json")
check "the page has it first, and the warning" test "$(sed -n '/<h2>Measurements/,/<.table>/p' "$R/report/index.html" | grep -oE '<td class=number>[0-9.]+' | head -n 1) $(grep -c '<li>flow web: the goodput of the messages' "$R/report/index.html")" = "<td class=number>$all 1"
check "... and of which flows completion times are" grep -qE "<td>web</td><td class=number>$((233 - began))</td>.*<td class=number>$began</td></tr>" "$R/report/index.html"
check_exit 0 "an expectation of the goodput says so" "$H" run congestion-controls --set sweep=null --set 'expect=[{"name":"x","check":"sum(flows.web.goodput_bps) > 1Gb/s"},{"name":"y","check":"sum(flows.web.delivered_bps) > 1Gb/s"}]' --no-report --out "$SCRATCH/controls"
check_says "... with its words" '^  passed   x \(.*; flows[.]web: by completed messages, which differs from what was delivered, see the warnings\)$' "$SCRATCH/out"
check_says "... and one of what was delivered not" '^  passed   y \([0-9.]+ Gb/s, expected > 1 Gb/s\)$' "$SCRATCH/out"
check_exit 0 "a flow that stops before its size" "$H" run "$SCRATCH/mine/ends.json" --set flows.long.stop=13ms --set flows.long.depth=2 --no-report --out "$SCRATCH/stops"
check "... has the rate of the time until its last message" holds '.flows.long | .duration_ns > 1000000 and .duration_ns < 2000000 and .bytes > 3e6 and .bytes < 6e6 and .goodput_bps > 22e9 and .goodput_bps < 25e9' "$SCRATCH/stops/ends/latest/result.json"
check_exit 0 "... with more in flight" "$H" run "$SCRATCH/mine/ends.json" --set flows.long.stop=13ms --no-report --out "$SCRATCH/stops"
check "... sends what had begun" holds '.flows.long | .duration_ns == 10000000 and .goodput_bps > 22e9' "$SCRATCH/stops/ends/latest/result.json"
check_exit 0 "the export" "$H" export "$ENDS" --format csv --out "$SCRATCH/csv"
check "... has both, too" python3 - "$SCRATCH/csv/flows.csv" <<'END'
import csv, sys
late = next(row for row in csv.DictReader(open(sys.argv[1])) if row["flow"] == "late")
sys.exit(not (late["phase_bytes"] == "4000000" and 22e9 < float(late["goodput_bps"]) < 25e9))
END

# ---- what a published figure holds for
GPU=(--set 'sweep=null' --set phases.warmup=1ms --duration 20ms --set 'published.*.conditions=null')
compared() { # WHAT PATTERN OPTION...: pfc-bidir's line about its pauses
    check_exit 4 "published figures, $1" "$H" run pfc-bidir "${GPU[@]}" "${@:3}" --set 'expect=[]' --no-report --out "$OUT"
    check_says "... $2" "^  published pauses sent by the slow receiver: $2\$" "$SCRATCH/out"
    check "... nothing is called measured" bash -c "! grep -q measured '$SCRATCH/out' '$OUT/pfc-bidir/latest/result.json'"
}
compared "as they were" '422[.]23 frames/s, simulated [0-9.]+ \(.* %\)'
compared "the same in other words" '422[.]23 frames/s, simulated [0-9.]+ \(.* %\)' --set 'flows.*.message=65536B' --set settings.mtu=4200
compared "the same where no condition says it" '422[.]23 frames/s, simulated [0-9.]+ \(.* %\)' --set published_conditions=null --set 'flows.*.message=65536B' --set 'lab.links.*.rate=25000Mb/s'
compared "another message and MTU" 'not compared: flows[.][*][.]message is 4KiB, and settings[.]mtu is 1500' --set 'flows.*.message=4KiB' --set settings.mtu=1500
check "... in the result too, with what it holds for" holds '.published[] | select(.name == "pauses sent by the slow receiver") | .value == null and (has("difference_percent") | not)
    and .reason == "flows.*.message is 4KiB, and settings.mtu is 1500" and .conditions["settings.mtu"] == 4200' "$OUT/pfc-bidir/latest/result.json"
compared "a value of the lab that no condition names" 'not compared: lab[.]hosts[.]b[.]gpu[.]stalls_per_s is 0' --set lab.hosts.b.gpu.stalls_per_s=0
compared "a default of the lab's hosts" 'not compared: lab[.]hosts[.][*][.]pcie[.]lanes is 4' --set lab.defaults.host.pcie.lanes=4
compared "a default of the lab's links" 'not compared: lab[.]links[.][*][.]length is 2m' --set lab.defaults.link.length=2m
compared "all defaults of the lab's links" 'not compared: lab[.]defaults[.]link is [{]"rate":"25Gb/s","length":"2m"[}]' --set 'lab.defaults.link={"rate": "25Gb/s", "length": "2m"}'
compared "a value of one flow" 'not compared: flows[.][*][.]depth is 4 or 128' --set flows.a-to-b.depth=4
compared "a sweep of the command line" 'not compared: settings[.]cable is 7m' --set 'sweep={"settings.cable": ["7m"]}'
jq '.defaults.link.rate = "10Gb/s"' "$ROOT/labs/sim-geforce-pair.json" >"$SCRATCH/slow.json"
compared "another lab" 'not compared: lab[.]links[.][*][.]rate is 10Gb/s' --lab "$SCRATCH/slow.json"
for at in '.published_conditions' '.published[0].conditions'; do
    jq "$at = {\"flows.*.mesage\": \"4KiB\"}" "$ROOT/scenarios/pfc-bidir.json" >"$SCRATCH/x.json"
    check_exit 2 "a condition on a key that flows lack" "$H" check "$SCRATCH/x.json"
    check_says "... by name" 'x.json: published.*conditions: flows[.][*][.]mesage: scenario.flow has no key "mesage"; did you mean "message"[?]$' "$SCRATCH/err"
done

# ---- a path in a document begins at the document: here another lab of the same name is in the current folder
mkdir -p "$SCRATCH/here/labs" "$SCRATCH/mine/scenarios" "$SCRATCH/mine/labs"
jq '.name = "mine" | .links[0].length = "3m"' "$ROOT/labs/sim-geforce-pair.json" >"$SCRATCH/mine/mine.json"
jq '.links[0].length = "9m"' "$SCRATCH/mine/mine.json" >"$SCRATCH/here/labs/mine.json"
cp "$SCRATCH/here/labs/mine.json" "$SCRATCH/here/mine.json"
jq '.lab = "mine.json"' "$ROOT/scenarios/write-latency.json" >"$SCRATCH/mine/x.json"
# shellcheck disable=SC2317 # called through check_exit
from_here() { (cd "$SCRATCH/here" && "$H" "$@"); }
takes() { # WHAT LENGTH LAB SCENARIO...: the run's lab has this link, and the line says which file it is
    check_exit 0 "$1" from_here run "${@:4}" --duration 1ms --no-report --out "$OUT"
    check "... with its link" test "$(jq -r '.lab.links[0].length' "$OUT/write-latency/latest/result.json")" = "$2"
    check_says "... which the line names" "^harness: lab mine \\($3, chosen by .*\\): the results are simulated$" "$SCRATCH/err"
}
takes "a lab beside the scenario" 3m ../mine/mine.json ../mine/x.json
mv "$SCRATCH/mine/mine.json" "$SCRATCH/mine/labs"
takes "a lab under labs/ beside the scenario" 3m "$SCRATCH/mine/labs/mine.json" "$SCRATCH/mine/x.json"
mv "$SCRATCH/mine/x.json" "$SCRATCH/mine/scenarios"
takes "labs/ beside scenarios/" 3m ../mine/labs/mine.json ../mine/scenarios/x.json
takes "a lab that the command line names" 9m mine.json ../mine/scenarios/x.json --lab mine
jq '.lab = "labs/mine.json"' "$SCRATCH/mine/scenarios/x.json" >"$SCRATCH/mine/x.json"
takes "a path with a folder" 3m ../mine/labs/mine.json ../mine/x.json
mkdir -p "$SCRATCH/config/harness"
echo '{"schema": 1, "lab": "mine"}' >"$SCRATCH/config/harness/config.json"
check_exit 2 "the configuration's lab is not the current folder's" from_here run ../mine/x.json --duration 1ms --no-report --out "$OUT"
check_says "... by name" "config/harness/config.json: lab: there is no lab \"mine\": searched $SCRATCH/config/harness, " "$SCRATCH/err"
mv "$SCRATCH/mine/labs/mine.json" "$SCRATCH/config/harness"
takes "the configuration's lab" 3m "$SCRATCH/config/harness/mine.json" ../mine/x.json
rm -r "$SCRATCH/config/harness"
for command in check run; do
    check_exit 2 "$command: a lab that is not beside the scenario" from_here "$command" ../mine/scenarios/x.json
    check_says "... with the folders searched, of which the current one is none" "x.json: lab: there is no lab \"mine.json\": searched $SCRATCH/mine/scenarios, $SCRATCH/mine, /[^:]*, each also under labs/$" "$SCRATCH/err"
done
cp "$ROOT/labs/sim-geforce-pair.json" "$SCRATCH/mine/scenarios/mine-lab.json" && jq '.lab = "mine-lb.json"' "$SCRATCH/mine/scenarios/x.json" >"$SCRATCH/mine/scenarios/y.json"
check_exit 2 "a slip in the name of a lab beside the scenario" from_here check ../mine/scenarios/y.json
check_says "... has it proposed" 'each also under labs/; did you mean "mine-lab"[?]$' "$SCRATCH/err"
jq '.hosts |= map_values(.identity = "keys/lab") | .hosts.b.known_hosts = "~/known"' "$ROOT/labs/ssh-pair.example.json" >"$SCRATCH/mine/real.json"
check_exit 0 "files of a real lab" from_here lab get ../mine/real.json hosts.a.identity hosts.b.known_hosts
check "... begin there too, and ~ is ssh's" test "$(paste -sd ' ' "$SCRATCH/out")" = "../mine/keys/lab ~/known"

# ---- verdicts and exit codes
expectation() { jq --arg c "$1" '.expect=[{"name":"x","check":$c,"needs":$n}]' --argjson n "$2" "$ROOT/scenarios/write-latency.json" >"$SCRATCH/x.json"; }
expectation 'sum(flows.*.messages) == 0' '[]'
check_exit 1 "a failed expectation: exit code 1" "$H" run "$SCRATCH/x.json" --lab sim-geforce-pair --duration 5ms --no-report --out "$OUT"
expectation 'sum(flows.*.messages) > 0' '["switch"]'
check_exit 4 "everything skipped: exit code 4" "$H" run "$SCRATCH/x.json" --lab sim-geforce-pair --duration 5ms --no-report --out "$OUT"
check_says "... by name" 'lab sim-geforce-pair lacks switch' "$SCRATCH/out"
expectation 'sum(flows.*.messages) > 0' '["!roce-nic"]'
check_exit 4 "an expectation for labs without RoCE NICs is skipped where there are such" "$H" run "$SCRATCH/x.json" --lab sim-geforce-pair --duration 5ms --no-report --out "$OUT"
check_says "... by name" 'skipped  x \(lab sim-geforce-pair has roce-nic\)' "$SCRATCH/out"
expectation 'sum(flows.*.messages) > 0' '["roce-nic", "!switch"]'
check_exit 0 "... and decided where there are none" "$H" run "$SCRATCH/x.json" --lab sim-geforce-pair --duration 5ms --no-report --out "$OUT"
jq '.published[0].needs = ["!rdma"]' "$ROOT/scenarios/write-latency.json" >"$SCRATCH/x.json"
check_exit 0 "a published figure for other labs" "$H" run "$SCRATCH/x.json" --lab sim-geforce-pair --duration 5ms --no-report --out "$OUT"
check_says "... is not compared" 'not compared: lab sim-geforce-pair has rdma$' "$SCRATCH/out"
check_exit 0 "the RED bridge between RoCE NICs" "$H" run dcqcn-red-bridge --duration 100ms --no-report --out "$OUT"
RED=$OUT/dcqcn-red-bridge/latest/02/result.json
check "... the kernel's count of marks is not compared with them" holds '.expectations | map(select(.check | test("IpExtInCEPkts"))) | length == 1 and .[0].reason == "lab sim-red-bridge has roce-nic"' "$RED"
check "... marks, CNPs sent and CNPs handled are judged at the NICs" holds '.expectations | map(select(.check | test("np_ecn_marked_roce_packets|np_cnp_sent|rp_cnp_handled"))) | length == 4 and all(.verdict == "passed" and .left > 0)' "$RED"
check "... exactly, as on the published ConnectX-4 Lx" holds '[.hosts.b.counters.np_ecn_marked_roce_packets, .hosts.b.counters.np_cnp_sent, .hosts.a.counters.rp_cnp_handled] | map(.total) | unique | length == 1 and .[0] > 0' "$RED"
jq 'del(.defaults.host.gpu, .hosts.a.gpu, .hosts.b.gpu)' "$ROOT/labs/sim-geforce-pair.json" >"$SCRATCH/no-gpu.json"
check_exit 0 "a cell that the lab cannot run is skipped" "$H" run pfc-bidir --lab "$SCRATCH/no-gpu.json" --set phases.warmup=10ms --duration 50ms --set phases.cooldown=10ms --no-report --out "$OUT"
check_says "... by name, and never run as something else" 'lacks gpu: flow a-to-b uses GPU memory' "$SCRATCH/out"
check_says "a published figure is not compared if the lab lacks a capability, and the reason is printed" 'published GPU memory, both directions: not compared: lab sim-geforce-pair lacks gpu$' "$SCRATCH/out"
check_says "... the others are compared" 'published host memory, both directions: .*%' "$SCRATCH/out"
check "... and has no difference in the result" holds '.published | length == 5 and all(.value == null and (.difference_percent | not) and .reason == "lab sim-geforce-pair lacks gpu")' "$OUT/pfc-bidir/latest/02/result.json"

# ---- packets that are not ECN-capable although something marks
red_cell() { # TRAFFIC_CLASS OPTION...: one run through the bridge with RED
    local class=$1
    shift
    "$H" run dcqcn-red-bridge --set 'sweep={}' --set "flows.*.traffic_class=$class" --set \
        'settings_of={"switch":{"red":{"limit":"2MB","min":"50kB","max":"200kB","avpkt":"1500B","bandwidth":"25Gb/s","probability":0.5,"roce_only":true}}}' \
        --duration 200ms --no-report --out "$OUT" "$@"
}
red_cell 104 >"$SCRATCH/out" 2>"$SCRATCH/err"
check_says "a traffic class that is not ECT: RED drops; the warning comes before the run" \
    'warning: flow a-to-b is not ECN-capable \(traffic class 104: DSCP 26, ECN bits 00\): RED at switch drops its packets .* traffic_class 106 in flows' "$SCRATCH/err"
R=$OUT/dcqcn-red-bridge/latest/result.json
check "... which happens: nothing is marked" holds '.hosts.switch.counters | .qdisc_port1_marked.total == 0 and .qdisc_port1_early.total > 0' "$R"
# shellcheck disable=SC2016 # jq's variable
check "... the result says so, with the counters' figures" jq -e '(.hosts.switch.counters.qdisc_port1_early.total | tostring) as $early | .warnings[0] |
    test("not ECN-capable.*counted at switch during the whole run: 0 packets marked, \($early) dropped early, .*; 0 CNPs sent by b")' "$R"
check "... and the flow's class" holds '.flows["a-to-b"].traffic_class == 104' "$R"
red_cell 106 >"$SCRATCH/out" 2>"$SCRATCH/err"
check "with ECT(0) there is no warning, and packets are marked" holds '.hosts.switch.counters.qdisc_port1_marked.total > 0 and .hosts.switch.counters.qdisc_port1_early.total == 0 and ([.warnings[] | select(test("ECN"))] == [])' "$R"
check "... nor one on the terminal" test -z "$(grep ECN "$SCRATCH/err")"
check_exit 0 "doctor" "$H" doctor --lab sim-red-bridge --for <(jq '.flows[0].traffic_class = 0 | .sweep = {} | .settings_of = {switch: {red: {limit: "2MB", min: "50kB", max: "200kB"}}} | del(.expect[].when, .published)' "$ROOT/scenarios/dcqcn-red-bridge.json")
check_says "... prints it too, with the remedy" '^warning +a->b +ect .*not ECN-capable' "$SCRATCH/out"
said() { { "$H" run "$@" --dry-run >/dev/null; } 2>&1; }
check "a switch that marks other packets: all flows of the class are in one warning" grep -q \
    'flows flow-0, flow-1, flow-2 and 1 other are not ECN-capable (traffic class 0: .*): s0 does not mark their packets' <<<"$(said dcqcn-fairness --set 'flows.*.traffic_class=0')"
check "RED that is not on a flow's path is not named" grep -q 'flow direct is not .*: switches do not mark its packets: DCQCN' <<<"$(said red-bridge-throughput --set flows.direct.traffic_class=0)"
real() { said dcqcn-red-bridge --lab soft-switch --set 'sweep={}' --set settings.ecn=[] --set settings.dcqcn=null "$@"; }
red_at() { echo "settings_of={\"$1\":{\"red\":{\"limit\":\"2MB\",\"min\":\"50kB\",\"max\":\"200kB\"}}}"; }
check "a class of settings is that of flows without one" grep -q 'traffic class 104, forced by settings: .*RED at switch .*traffic_class 106 in settings' \
    <<<"$(jq 'del(.flows[].traffic_class)' "$ROOT/scenarios/dcqcn-red-bridge.json" >"$SCRATCH/unnamed.json"
        said "$SCRATCH/unnamed.json" --lab soft-switch --set 'sweep={}' --set settings.ecn=[] --set "$(red_at switch)" --set settings.traffic_class=104)"
check "... but not of flows that name one" test -z "$(real --set "$(red_at switch)" --set settings.traffic_class=104)"
check "on real hosts it depends on the NIC, which is not known before the run" grep -q 'unless its NIC writes the ECN bits itself, as mlx5 does for priorities with ECN, RED at switch' \
    <<<"$(real --set "$(red_at switch)" --set 'flows.*.traffic_class=104')"
check "RED at the receiver does not affect the flow" test -z "$(real --set "$(red_at b)" --set 'flows.*.traffic_class=0')"
check "... but it does affect the data of a read" grep -q 'not ECN-capable.*RED at b drops' <<<"$(real --set "$(red_at b)" --set 'flows.*.traffic_class=0' --set flows.0.op=read)"
check "without RED and DCQCN there is no warning for any class" test -z "$(said pfc-bidir --set 'flows.*.traffic_class=0')"
for case in '1=01, ECT(1): simulated NICs send 10, ECT(0), in their place' "3=11, the mark of a switch (CE): simulated NICs send 10"; do
    check "ECN bits that no NIC is meant to send are said: $case" grep -qF "the ECN bits of traffic_class ${case%%=*} are ${case#*=}" <<<"$(said pfc-bidir --set "flows.*.traffic_class=${case%%=*}")"
done
check "... on real hosts, too, with what NICs do" grep -q 'traffic_class 107 are 11, .*: Soft-RoCE sends them with every packet, mlx5 takes the DSCP alone' <<<"$(said pfc-bidir --lab soft-pair --set settings.traffic_class=107)"
check "a pattern is named as one" grep -q 'flow incast is not ECN-capable (traffic class 104, forced by settings: .*): s0 does not mark its packets' <<<"$(said incast-dcqcn --set settings.traffic_class=104)"

# the packets of a pattern have the ECN bits that those of a flow would have
marked_of() { # OPTION...
    "$H" run incast-dcqcn --set 'phases.warmup=1ms' --duration 1ms --no-report --quiet --out "$OUT" "$@" >/dev/null 2>&1
    jq .hosts.s0.counters.ecn_marked.total "$OUT/incast-dcqcn/latest/result.json"
}
check "a pattern's packets are not marked with a class of settings that is not ECT" test "$(marked_of --set settings.traffic_class=104)" = 0
check "... are marked with one that is" test "$(marked_of --set settings.traffic_class=106)" -gt 0
check "... of those of one sender only, if its class alone is ECT" test "$(marked_of --set settings.traffic_class=104 --set settings_of.h0.traffic_class=106)" -gt 0
check "... and where a switch that the scenario names marks them, without ECN at hosts" test "$(marked_of --set settings.ecn=[] --set settings_of.s0.ecn_threshold='{"kmin":"100kB","kmax":"400kB","pmax":0.2}')" -gt 0

# a warning of what is not modelled is about nodes that have the setting
unmodelled() { # OPTION...
    "$H" run incast-dcqcn --duration 1ms --no-report --quiet --out "$OUT" "$@" >/dev/null 2>&1
    jq -r '.warnings[] | select(test("the simulator does not model"))' "$OUT/incast-dcqcn/latest/result.json"
}
check "a setting that the simulator does not model is named for hosts, and not for switches, which do not have it" \
    test "$(unmodelled --set settings.tx_ring=512)" = "h0, h1, h2 and 14 others: the simulator does not model the setting tx_ring"
check "... for hosts alone, where it models those of switches" \
    test "$(unmodelled --set 'settings.ets={"prio_to_tc":{"0":0}}')" = "h0, h1, h2 and 14 others: the simulator does not model the setting ets"
check "... and for none, where it is modelled wherever it exists" \
    test -z "$(unmodelled --set settings.traffic_class=106 --set settings.ecn_threshold='{"kmin":"100kB","kmax":"400kB","pmax":0.2}')"

# "Nothing is lost" of a run in which nothing moves is not passed.
lost='expect=[{"name": "no loss", "check": "delta(s0.buffer_discards) == 0"}, {"name": "no error", "check": "sum(flows.*.errors) == 0"}]'
all_dropped='inject=[{"flow": "f0", "do": "drop", "every": 1}, {"flow": "f1", "do": "drop", "every": 1}, {"flow": "f2", "do": "drop", "every": 1}, {"flow": "f3", "do": "drop", "every": 1}]'
idle() { check_exit "$1" "$2" incast4 --no-report --quiet --set phases.warmup=1ms --duration 2ms --set "$lost" --set "$all_dropped" "${@:3}"; }
idle 4 "nothing moves, and only that nothing is lost is expected: not passed"
# shellcheck disable=SC2317 # check calls it
idle_holds() { jq -e "$1" "$SCRATCH/incast4/incast4/latest/${2:-result.json}" >/dev/null; }
check "... each says why" idle_holds '.verdict == "skipped" and ([.expectations[] | .verdict, .reason] | unique) == ["nothing was moved, and it holds of any run without traffic", "skipped"]'
idle 0 "... one flow that moves decides" --set inject.3=null
idle 0 "... or an expectation of what is moved" --set 'expect.1.check=sum(flows.*.bytes) == 0'
idle 0 "... or of what is received" --set 'expect.1.check=delta(h4.rx_prio3_bytes) < 1kB'
idle 1 "... or one that fails" --set 'expect.1.check=delta(s0.buffer_discards) > 0'
check "... beside which the others stay" idle_holds '[.expectations[].verdict] == ["passed", "failed"]'
idle 4 "... over repetitions" --repeat 2 --set 'expect.*.over=repeats'
check "... at the end of the sweep" idle_holds '.verdict == "skipped" and [.repeated[].expectations[].verdict] == ["skipped", "skipped"]' index.json

# ---- Ctrl-C
sampling() { # wait until a run has sampled something
    for _ in $(seq 100); do
        [ -z "$(find "$1" -name samples.jsonl -size +0 2>/dev/null)" ] || return 0
        sleep 0.1
    done
}
"$H" run pfc-bidir --duration 600s --out "$SCRATCH/interrupted" --no-report >"$SCRATCH/out" 2>"$SCRATCH/err" &
victim=$!
sampling "$SCRATCH/interrupted"
sleep 0.5
kill -INT $victim
wait $victim
check "Ctrl-C: exit code 130" test $? = 130
check_says "... with how to go on" "this runs what is missing or broken:" "$SCRATCH/err"
check "... the command, with the options that the folder does not keep" grep -qE "^    $H run --resume $SCRATCH/interrupted/pfc-bidir/20[^/ ]* --no-report$" "$SCRATCH/err"
R=$SCRATCH/interrupted/pfc-bidir/latest
check "... the result is incomplete and says why" holds '(.complete | not) and .verdict == "incomplete" and (.reason | test("interrupted"))' "$R/01/result.json"
check "... the index too" holds '(.complete | not) and .verdict == "incomplete" and (.cells | length > 0 and all(.complete | not))' "$R/index.json"
check "... samples are complete lines" jq -es 'length > 5' "$R/01/samples.jsonl"
check "... flows have partial figures" holds '.flows["a-to-b"].complete == false' "$R/01/result.json"
# a flow that has ended, counters that nothing increased, and values that are 0 where nothing was measured
"$H" run pfc-bidir --out "$SCRATCH/warming" --no-report --set sweep=null --set published=null --set phases.warmup=600s --set flows.0.size=1MiB \
    --set 'expect=[{"name":"lost","check":"delta(*.rx_prio0_discards) == 0"},{"name":"all","check":"delta(*.tx_prio0_pause) >= 0"},{"name":"again","check":"sum(flows.*.retransmitted_packets) == 0"},{"name":"ended","check":"sum(flows.a-to-b.goodput_bps) > 0"}]' >"$SCRATCH/out" 2>"$SCRATCH/err" &
victim=$!
sampling "$SCRATCH/warming"
kill -INT $victim
wait $victim
R=$SCRATCH/warming/pfc-bidir/latest
check "Ctrl-C in the warm-up: nothing passes, and each expectation says why" holds '.verdict == "incomplete" and (.expectations | length == 4 and all(.verdict == "skipped" and .reason == "the run ended before its measure phase"))' "$R/result.json"
check "... counters have no increase in a measure phase that never began" holds '[.hosts[].counters[] | select(.kind == "counter")] | length > 0 and all((has("delta") or has("rate_per_s")) | not)' "$R/result.json"
check "... no flow is told to have moved something in it" test -z "$(grep -E 'MiB/s|in the measure phase$' "$SCRATCH/out")" -a -n "$(grep -x '  nothing was measured: the run ended before its measure phase' "$SCRATCH/out")"
"$H" browse --json "$SCRATCH/warming" >"$SCRATCH/browsed"
check "... and browse knows no figures of it" holds '.runs | length == 1 and all(.goodput_bps == null and .pauses == null and .cnps == null and .expectations.passed == 0)' "$SCRATCH/browsed"
"$H" run pfc-bidir --duration 600s --out "$SCRATCH/killed" --no-report >/dev/null 2>&1 &
victim=$!
sampling "$SCRATCH/killed"
kill -KILL $victim
wait $victim 2>/dev/null
check "kill -9: no folder is taken for a result" test ! -e "$SCRATCH/killed/pfc-bidir/latest" -a -z "$(find "$SCRATCH/killed" -name result.json)"

# ---- progress is for terminals
if command -v script >/dev/null; then
    script -qec "$H run write-latency --duration 200ms --no-report --out $OUT" /dev/null >"$SCRATCH/tty" 2>&1 </dev/null
    check_says "a terminal shows the phase, the time left and rates" 'measure +[0-9]+%, [0-9.]+ s left +[0-9.]+ Gb/s' "$SCRATCH/tty"
    # ---- nothing is wider than the terminal; elsewhere lines stay whole
    on_terminal() { # COLUMNS ARGUMENT...
        script -qec "stty cols $1 rows 50; $H ${*:2}" /dev/null <"/dev/null" | tr -d '\r' | sed -E 's/^.*\x1b\[J//' >"$SCRATCH/tty"
    }
    wide() { awk -v most="$1" 'length($0) > most' "$SCRATCH/tty"; }
    for columns in 80 44; do
        for command in "run incast-dcqcn --out $SCRATCH/w --set phases.measure=500us --set phases.warmup=1ms" "run web-search --out $SCRATCH/w --set phases.measure=500us -n" "list" \
            "list counters" "check $ROOT/scenarios/pfc-bidir.json" "doctor --lab sim-geforce-pair" "explain $SCRATCH/w/incast-dcqcn/latest" "status nowhere" "run pfc-bidir --set foo.bar=3"; do
            # shellcheck disable=SC2086 # words
            on_terminal $columns $command
            # names and paths have no place to break
            check "at $columns columns nothing of \"${command%% -*}\" is wider" test -s "$SCRATCH/tty" -a -z "$(wide $columns | grep -vE '^ *[^ ]+$|[^ ]{40}')"
        done
    done
    on_terminal 80 list
    check "... and the words are the same" diff <(tr -s ' \n' '\n' <"$SCRATCH/tty") <("$H" list | tr -s ' \n' '\n')
    check_says "... in their column" '^ {27}[a-z]' "$SCRATCH/tty"
    on_terminal 44 --completion zsh
    check "a script stays as it is" diff "$SCRATCH/tty" <("$H" --completion zsh)
    check "elsewhere a line has all of its words" test "$("$H" list | wc -L)" -gt 120
else
    skip "progress on a terminal" no-command script
fi

# ---- other commands
# A signal while the report is drawn: the run is whole, and ends as an interrupted one that says where it is.
"$H" run incast-pfc --out "$SCRATCH/drawn" >"$SCRATCH/out" 2>"$SCRATCH/err" &
while kill -0 $! 2>/dev/null && ! compgen -G "$SCRATCH/drawn/*/*/result.json" >/dev/null; do sleep 0.01; done
kill -TERM $! 2>/dev/null
wait $!
check "a signal while the report is drawn ends the run by its own exit code" test $? = 130 -o -n "$(grep '^report: ' "$SCRATCH/out")"
check_says "... which says where the result is" '^result: ' "$SCRATCH/out"

# all other scenarios: verdicts.sh
check_exit 0 "check" "$H" check "$ROOT"/scenarios/{pfc-bidir,nccl-*}.json "$ROOT"/labs/*.json
check_exit 0 "list --json" "$H" list --json
check "... is JSON and has the scenario" holds '.scenarios[] | select(.name == "pfc-bidir")' "$SCRATCH/out"
for type in scenario lab settings verify; do
    check_exit 0 "schema $type" "$H" schema $type
    check "... is a JSON Schema" holds 'to_entries[] | select(.key | test("schema")) | .value | test("2020-12")' "$SCRATCH/out"
done
check_exit 0 "schema scenario" "$H" schema scenario
check "... needs takes the absence of a capability" holds '[.. | objects | .needs? // empty | .items.enum] | length >= 1 and all(index("roce-nic") and index("!roce-nic"))' "$SCRATCH/out"
check "... roles take names, ranges and all hosts, and nothing that is refused" holds '.properties.roles.items.pattern as $is | (["a", "a.rail3", "h[0-31]", "*", "*3"] | all(test($is))) and (["-a", "a b", "", "**", "a+b"] | all(test($is) | not))' "$SCRATCH/out"
check_exit 0 "schema scenario --manual" "$H" schema scenario --manual
check_says "... names every field of a flow" 'It Cm queue_pairs' "$SCRATCH/out"
check_exit 0 "doctor on a simulated lab" "$H" doctor --lab sim-geforce-pair --for pfc-bidir
check_exit 2 "programs cannot be installed on simulated hosts" "$H" install --lab sim-geforce-pair
check_exit 2 "nor on hosts that are not in the lab" "$H" install c --lab ssh-pair.example
check_says "... which the error names" 'lab ssh-pair has no host "c"' "$SCRATCH/err"
check_exit 0 "restore on a simulated lab" "$H" restore --lab sim-geforce-pair
check_exit 0 "version" "$H" version

# ---- where it finds files when installed
mkdir -p "$SCRATCH/prefix/bin" "$SCRATCH/prefix/share/harness"
cp "$H" "$SCRATCH/prefix/bin/"
cp -R "$ROOT/scenarios" "$ROOT/labs" "$SCRATCH/prefix/share/harness/"
cd "$SCRATCH" || exit 1
check_exit 0 "an installed copy finds scenarios and labs" prefix/bin/harness run scenarios/write-latency.json --duration 5ms --no-report

finish
