#!/usr/bin/env bash
# `harness search` for what makes an expression true: kinds that are known, their least scenarios, and that it is the same for any number of jobs and after kills.
# shellcheck disable=SC2016 # what is quoted is for jq and eval
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/../lib.sh"
cd "$SCRATCH" || exit 2
PATH=$BUILD:$PATH
cat >two.json <<'END'
{"schema": 1, "name": "two", "driver": "sim", "topology": {"kind": "star", "hosts": 4}, "defaults": {"link": {"rate": "25Gb/s", "length": "2m"}, "switch": {"buffer": "1MiB"}}}
END
# h3 is overloaded if a and b together send more than its line, whatever c sends to another host.
cat >rates.json <<'END'
{"schema": 1, "name": "rates", "lab": "two.json", "roles": ["h[0-3]", "s0"],
 "phases": {"warmup": "20us", "measure": "200us", "cooldown": "1us"}, "settings": {"mtu": 4200, "pfc": [3], "trust": "dscp"},
 "flows": [{"name": "a", "from": "h0", "to": "h3", "message": "16KiB", "depth": 8, "priority": 3, "rate": "1Gb/s"},
           {"name": "b", "from": "h1", "to": "h3", "message": "16KiB", "depth": 8, "priority": 3, "rate": "10Gb/s"},
           {"name": "c", "from": "h2", "to": "h1", "message": "16KiB", "depth": 8, "priority": 3, "rate": "1Gb/s"}],
 "sample": {"every": "20us", "groups": ["pfc", "drops", "queue"]},
 "search": {
   "over": {"flows.a.rate": {"from": "1Gb/s", "to": "24Gb/s"}, "flows.c.rate": {"from": "1Gb/s", "to": "24Gb/s"}, "flows.c.message": ["4KiB", "16KiB", "64KiB"]},
   "find": "max(s0.port3_prio3_queue_bytes) > 100KB", "led_by": ["mean(s0.port3_prio3_queue_bytes)"],
   "runs": 40, "seeds": 1}}
END
answer() { jq -r "$2" "results/$1/latest/search.json"; }
same() { jq -S '{findings, runs, tried: [.tried[].values]}' "$1/search.json" && cat "$1"/finding-*/scenario.json; }
check_exit 0 "the plan is printed" harness search rates.json -n
check_exit 0 "and as JSON" harness search rates.json -n --json
check "alone" jq -e '(.over | length) == 3 and .runs == 40 and .known == ["as written"]' out
check_exit 0 "a search for what overloads a host" harness search rates.json --jobs 1
cp out told
one=$(readlink -f results/rates/latest)
check "finds one kind" [ "$(answer rates '.findings | length')" = 1 ]
check "by the rate that matters alone" [ "$(answer rates '.findings[0].features | keys | tojson')" = '["flows.a.rate"]' ]
check_says "it is told when, and with the scenario's own value" '^found after [0-9]+ runs: .* It passes with flows.a.rate = 1Gb/s' told
check_says "and at the end" '^1 kind of "max\(s0.port3_prio3_queue_bytes\) > 100KB" in [0-9]+ runs:' told
check "its scenario has the two flows that it takes" [ "$(jq -c '[.flows[].name]' "$one/finding-1/scenario.json")" = '["a","b"]' ]
check "and an expectation that fails" [ "$(jq -r '.expect[0].check | test("^max.s0.port[0-3]_prio3_queue_bytes. <= 100KB$")' "$one/finding-1/scenario.json")" = true ]
check_exit 1 "which it does" harness run "$one/finding-1/scenario.json" --no-report --quiet --out again

# ---- the same for any number of jobs, and after kills
check_exit 0 "with two jobs" harness search rates.json --jobs 2 --out two --quiet
check "it is the same" diff <(same "$one") <(same "$(readlink -f two/rates/latest)")
harness search rates.json --out killed --quiet --jobs 2 >log 2>&1 &
for part in part-1 finding-1/tries; do
    until_true 300 eval '[ "$(ls -d killed/rates/*/'$part' 2>/dev/null)" ] || ! kill -0 $!'
    kill -KILL $! 2>/dev/null
    wait $! 2>/dev/null
    harness search --resume killed/rates/2* --quiet --jobs 2 >log 2>&1 &
done
wait $!
check "after two kills it is the same" diff <(same "$one") <(same killed/rates/2*)

# ---- a finding that has not been reduced to its end
cp -r "$one" "part of it" && jq '.complete = false' "$one/finding-1/finding.json" >"part of it/finding-1/finding.json"
check_exit 2 "it is not gone on with alone" harness reduce --resume "part of it/finding-1"
check_says "but with its search" "finding-1 is a part of a search, which goes on as a whole: harness search --resume '.*/part of it'$" err
check_exit 1 "its status" harness status "part of it/finding-1"
check "says so, too" [ "$(tail -n 1 out)" = "    harness search --resume 'part of it'" ]
check_exit 2 "a folder that is no reduction" harness reduce --resume .
check_says "is called so" 'is not the folder of a reduction: it has no request.json' err

check_exit 0 "its status" harness status "$one"
check "is what it found" cmp out <(sed -n '/^1 kind of/,$p' told | grep -E '^1 kind|^  finding-')

check_exit 0 "findings that are left as they were found" harness search rates.json --set search.reduce=false --out whole --quiet --no-report
check "have all that the scenario has" [ "$(jq -c '[.flows[].name]' whole/rates/latest/finding-1/scenario.json)" = '["a","b","c"]' ]
check "are of the same kind, with a sentence" [ "$(jq -c '[.findings[] | .features == {"flows.a.rate": .features["flows.a.rate"]}, (.sentence | test("It passes with flows.a.rate = 1Gb/s"))]' whole/rates/latest/search.json)" = '[true,true]' ]

# ---- a counter that there is not without the values that were found
jq '.settings.pfc = [] | .flows[0,1].rate = "24Gb/s"
    | .search = {over: {"settings.pfc": [[], [3]]}, find: "total(h*.rx_prio3_pause) > 0", runs: 4, seeds: 1, findings: 1}' rates.json >pfc.json
jq '.defaults.switch.xoff_alpha = 0.125' two.json >small.json
check_exit 0 "what cannot be judged as it is written" harness search pfc.json --lab small.json --out pfc --no-report
check "is reduced" [ "$(jq -c '[.complete, .unjudged_with]' pfc/rates/latest/finding-1/finding.json)" = '[true,{"settings.pfc":[]}]' ]
check_says "and told so" '^found .* fails: .* With settings.pfc = \[\] it is not judged: what it reads is not there' out

# ---- as written, and nothing
check_exit 0 "what holds as it is written" harness search rates.json --set 'search.find=max(s0.port3_prio3_queue_bytes) < 10MB' --out written
check "is one kind, without values" [ "$(jq -c '[.findings[].features]' written/rates/latest/search.json)" = '[{}]' ]
check_exit 0 "what never holds" harness search rates.json --set 'search.find=max(s0.port3_prio3_queue_bytes) > 1GB' --set search.runs=12 --out never
check_says "is not found" '^0 kinds of ' out
check_exit 0 "a search that is to end after one finding" harness search rates.json --set search.findings=1 --out enough
check "ends after it" [ "$(jq -c '[(.findings | length), .runs == .findings[0].runs + 2, .complete]' enough/rates/latest/search.json)" = '[1,false,true]' ]
# ---- what takes traffic and a setting: the setting is left
jq '.search = {over: {"flows.a.rate": .search.over["flows.a.rate"], "flows.b.rate": {from: "10Gb/s", to: "24Gb/s"}, "settings_of.s0.pfc": [[3], [4]]},
    find: "total(s0.buffer_discards) > 0", led_by: ["max(s0.port3_prio3_queue_bytes)"], runs: 40, seeds: 1}
    | .settings_of = {s0: {pfc: [3]}}' rates.json >pfc.json
check_exit 0 "a search for losses of a switch that may lack PFC" harness search pfc.json --set lab.defaults.switch.buffer=200KB --quiet --no-report --out pfc
check "finds that, with an incast" [ "$(jq -c '.findings[0].features | [keys, ."settings_of.s0.pfc"]' pfc/rates/latest/search.json)" = '[["flows.a.rate","settings_of.s0.pfc"],[4]]' ]
check "and no other kind with the same setting" [ "$(jq '.findings | length' pfc/rates/latest/search.json)" = 1 ]
check "with which it passes as the switch is written" [ "$(jq -c '.passes_with' pfc/rates/latest/finding-1/finding.json)" = '{"settings_of.s0.pfc":[3]}' ]
check "hosts keep the PFC without which the switch's would not help" [ "$(jq -c '.settings.pfc' pfc/rates/latest/finding-1/scenario.json)" = '[3]' ]
refused() { # what, filter, words
    jq "$2" rates.json >bad.json
    check_exit 2 "$1" harness search bad.json --out bad
    check_says "says so" "$3" err
}
refused "what and how" '.search.objectives = [{min: "1"}]' 'expected one of "objectives" and "find"'
refused "neither" 'del(.search.find)' 'expected one of "objectives" and "find"'
refused "a value" '.search.find = "1 + 2"' 'find: '
refused "equality" '.search.find = "max(s0.port3_prio3_queue_bytes) == 3"' 'find: expected a comparison with <, <=, > or >='
jq '.scaled = {"flows.*.rate": "2Gb/s"}' two.json >scaled.json
refused "what the lab replaces" '.lab = "scaled.json"' 'over.flows.a.rate: lab two replaces what is there, by its "scaled"'
check_exit 0 "unless that is taken away" harness search bad.json --set lab.scaled=null -n
refused "led by nothing" '.search.led_by = ["max(s0.nosuch)"]' 'led_by\[0\]: '
finish
