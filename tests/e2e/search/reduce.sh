#!/usr/bin/env bash
# `harness reduce`: what is left where the cause is known, that it is the same for any number of jobs and after kills, and what it refuses.
# shellcheck disable=SC2016 # what is quoted is for jq
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/../lib.sh"
cd "$SCRATCH" || exit 2
PATH=$BUILD:$PATH
cat >star.json <<'END'
{"schema": 1, "name": "star", "driver": "sim", "topology": {"kind": "star", "hosts": 8},
 "defaults": {"link": {"rate": "25Gb/s", "length": "2m"}, "switch": {"buffer": "1MiB", "xoff_alpha": 0.125, "latency": "500ns"}, "host": {"nic": {"ack_every": 16}}}}
END
# PFC stops two of five senders to one host; the other flow has nothing to do with it.
cat >pauses.json <<'END'
{"schema": 1, "name": "pauses", "lab": "star.json", "roles": ["h[2-7]", "h0", "s0"],
 "phases": {"warmup": "100us", "measure": "600us", "cooldown": "20us"}, "settings": {"mtu": 4200, "pfc": [3], "trust": "dscp", "ecn": [3]},
 "traffic": [{"name": "many", "pattern": "incast", "from": ["h[2-6]"], "to": ["h7"], "message": "32KiB", "depth": 16, "priority": 3}],
 "flows": [{"name": "aside", "from": "h0", "to": "h2", "message": "16KiB", "depth": 4, "priority": 0}],
 "sample": {"every": "20us", "groups": ["pfc", "drops", "queue", "throughput"]},
 "expect": [{"name": "nobody is paused", "check": "total(h*.rx_prio3_pause) == 0"},
            {"name": "aside has enough", "check": "sum(flows.aside.goodput_bps) > 1Gb/s"},
            {"name": "much arrives", "check": "sum(flows.*.goodput_bps) > 1Tb/s"}]}
END
check_exit 1 "a run in which two expectations fail" harness run pauses.json --no-report --quiet
run=results/pauses/latest
found() { jq -r "$2" "$1/finding.json"; }
same() { jq -S 'del(.from, .expectation.reason)' "$1/finding.json" && cat "$1/scenario.json" "$1/lab.json"; }
check_exit 0 "one is reduced" harness reduce "$run" --expect "nobody is paused" --jobs 1
cp out told
one=$(readlink -f results/pauses-reduced/latest)
check_says "it says what fails" '^"nobody is paused" fails: [0-9]+, expected == 0' told
check_says "and when it passes" 'passes' told
check_says "and that it is simulated" ', simulated$' told
check "three roles are left: with fewer nobody has to wait" [ "$(jq -c '.roles | length' "$one/scenario.json")" = 3 ]
check "and no other flow" [ "$(jq -c '[.flows, (.traffic[0].from | length)]' "$one/scenario.json")" = '[null,2]' ]
check "the switch's buffer and pfc alone differ from the defaults, besides the links" [ "$(found "$one" '.differs | keys - ["lab.defaults.link.rate"] | tojson')" = '["lab.defaults.switch.buffer","settings.pfc"]' ]
check "with the buffer's default it passes" [ "$(found "$one" '.passes_without | tojson')" = '["lab.defaults.switch.buffer"]' ]
check "the lab has three hosts" [ "$(jq .topology.hosts "$one/lab.json")" = 3 ]
check "it is shorter" [ "$(jq -r .phases.measure "$one/scenario.json")" != 600us ]
check "it has the one expectation" [ "$(jq -c '[.expect[].name]' "$one/scenario.json")" = '["nobody is paused"]' ]
check "the scenario has few lines" [ "$(wc -l <"$one/scenario.json")" -le 12 ]
check_exit 1 "and fails, by itself and elsewhere" env -C "$one" harness run scenario.json --repeat 3 --no-report --quiet --out "$SCRATCH/again"
check_says "the README says how to run it" '^    harness run scenario.json --repeat 3 --seed 1$' "$one/README.md"
check "its last runs are there" harness explain "$one/result"
check "and no tries" [ ! -e "$one/tries" ]

# ---- the same for any number of jobs, after kills, and with what is to stay
mv star.json away.json
check_exit 0 "with two jobs, and without the lab's file" harness reduce "$run" --expect "nobody is paused" --jobs 2 --out two --quiet
mv away.json star.json
check "it is the same" diff <(same "$one") <(same "$(readlink -f two/pauses-reduced/latest)")
harness reduce "$run" --expect "nobody is paused" --jobs 2 --out killed --quiet >log 2>&1 &
for tries in 3 12; do
    until_true 300 eval '[ "$(ls -d killed/pauses-reduced/*/tries/* 2>/dev/null | wc -l)" -ge '$tries' ] || ! kill -0 $!'
    kill -KILL $! 2>/dev/null
    wait $! 2>/dev/null
    harness reduce --resume killed/pauses-reduced/2* --quiet --jobs 2 >log 2>&1 &
done
until_true 300 eval '[ "$(ls -d killed/pauses-reduced/*/tries/* 2>/dev/null | wc -l)" -ge 16 ] || ! kill -0 $!'
kill -INT $! 2>/dev/null
wait $!
check "Ctrl-C ends it with 130" [ $? = 130 ]
check_says "and the command that goes on" '^    harness reduce --resume killed/pauses-reduced/2' log
check "the least so far is there" [ "$(found killed/pauses-reduced/2* .complete)" = false ]
check_exit 1 "and fails" harness run killed/pauses-reduced/2*/scenario.json --no-report --quiet --out again
check_exit 0 "it goes on" harness reduce --resume killed/pauses-reduced/2* --quiet
check "to the same end" diff <(same "$one") <(same killed/pauses-reduced/2*)
check_exit 0 "once more changes nothing" harness reduce --resume killed/pauses-reduced/2*
check_says "and says it again" '^"nobody is paused" fails' out

# ---- what was asked for is in request.json
harness reduce "$run" --expect "nobody is paused" --seeds 1 --keep settings.mtu --keep phases --keep 'traffic.*.from' --out kept --quiet >log 2>&1 &
until_true 300 eval '[ "$(ls -d kept/pauses-reduced/*/tries/* 2>/dev/null | wc -l)" -ge 3 ] || ! kill -0 $!'
kill -KILL $! 2>/dev/null
wait $! 2>/dev/null
cut=$(echo kept/pauses-reduced/2*)
for command in run search; do
    check_exit 2 "$command --resume does not take the folder of a reduction" harness $command --resume "$cut"
    check_says "and says what does" "is the folder of a reduction: harness reduce --resume goes on with it" err
done
check_exit 1 "its status" harness status "$cut"
check_says "is that it has not ended" '^a reduction, which has not ended; this goes on with it:$' out
rm "$cut/finding.json"
check_exit 0 "what is named is left, also after a kill that left no finding.json" harness reduce --resume "$cut" --quiet
check "whose request is then known" [ "$(found kept/pauses-reduced/latest '[.keep, (.from | length > 0)] | tojson')" = '[["settings.mtu","phases","traffic.*.from"],true]' ]
check "as it is" [ "$(jq -c '[.settings.mtu, .phases.measure, (.traffic[0].from | length)]' kept/pauses-reduced/latest/scenario.json)" = '[4200,"600us",5]' ]

# ---- a disk that is full for some time
tries() { find full/pauses-reduced/*/tries -mindepth 1 -maxdepth 1 2>/dev/null | wc -l; }
harness reduce "$run" --expect "nobody is paused" --out full --quiet >log 2>&1 &
until_true 300 eval '[ "$(tries)" -ge 6 ] || ! kill -0 $!'
# shellcheck disable=SC2034 # eval reads it
had=$(tries)
prlimit --pid $! --fsize=3000:
until_true 300 eval '[ "$(tries)" -ge $((had + 12)) ] || ! kill -0 $!'
prlimit --pid $! --fsize=unlimited: 2>/dev/null
wait $!
check "what cannot be tried ends it" [ $? = 3 ]
check_says "with the reason" '^harness: error: .*File too large' log
check_exit 0 "it goes on when there is room" harness reduce --resume full/pauses-reduced/2* --quiet
check "to the same end" diff <(same "$one") <(same full/pauses-reduced/2*)

# ---- a cell of a sweep
check_exit 1 "a sweep of which one cell fails" harness run pauses.json --set 'sweep={"settings.pfc":[[],[3]]}' --set 'expect=[{"name":"nobody is paused","check":"total(h*.rx_prio3_pause) == 0"}]' --no-report --quiet --out sweep
before=$(ls -R sweep)
check_exit 2 "whose folder is not that of a reduction" harness reduce --resume sweep/pauses/latest
check_says "which is said" 'is the folder of a sweep: harness run --resume goes on with it' err
check "and it is as it was" [ "$before" = "$(ls -R sweep)" ]
check_exit 0 "is reduced by its first run that fails" harness reduce sweep/pauses/latest --seeds 1 --out sweep --quiet
check "which is named" [ "$(basename "$(found sweep/pauses-reduced/latest .from)")" = 02 ]

jq '.expect = [{name: "nobody is paused", check: "total(h*.rx_prio3_pause) == 0", when: {"settings.mtu": 4200}}, {name: "nobody is paused", check: "total(h7.tx_prio3_pause) + total(s0.port7_tx_prio3_pause) + total(h*.rx_prio3_pause) == 0", when: {"settings.mtu": 1500}}] |
    .sweep = {"settings.mtu": [4200, 1500]}' pauses.json >cells.json
check_exit 1 "a sweep whose cells give one name to different expectations" harness run cells.json --no-report --quiet --out cells
check_exit 2 "is not reduced by the first of them" harness reduce cells/pauses/latest --expect "nobody is paused" --out cells
check_says "but asks for one of the cells, by name" 'not the same in all of them: expected the folder of one of the cells, such as 01, mtu 4200; 02, mtu 1500$' err
check_exit 0 "which is reduced by its own" harness reduce cells/pauses/latest/02 --expect "nobody is paused" --seeds 1 --out cells --quiet
check "and not by the first of its name" [ "$(jq -r '.expect[0].check' cells/pauses-reduced/latest/scenario.json | grep -c port7)" = 1 ]
jq '.expect |= [.[0] | del(.when)]' cells.json >same.json
check_exit 1 "one expectation that several cells fail" harness run same.json --no-report --quiet --out same
check_exit 0 "is reduced by the first" harness reduce same/pauses/latest --seeds 1 --out same
check_says "which is said, with the others" '2 cells fail it, of which the first, same/pauses/latest/01, is reduced: .*: 01, mtu 4200; 02, mtu 1500$' err

# ---- paths of the lab begin where the run was made, wherever the reduction is
cp -rL "$run" from-hosts
jq --arg made "$SCRATCH" '.working_folder = $made | .lab = {schema: 1, name: "star", driver: "ssh", hosts: ([range(8) | {key: "h\(.)", value: {ssh: "127.0.0.\(. + 1)", port: 1, identity: "key", nic: {address: "10.0.0.\(. + 1)/24"}}}] | from_entries)} | .lab_file = "labs/star.json" |
    .scenario.roles |= map(select(startswith("h")))' "$run/result.json" >from-hosts/result.json
mkdir -p elsewhere
check_exit 3 "a run on hosts, of which none answers, is not reduced" env -C elsewhere harness reduce ../from-hosts --expect "nobody is paused" --out .
check "its key is looked for beside its lab" [ "$(jq -r '[.lab.hosts[].identity] | unique[]' elsewhere/pauses-reduced/latest/request.json elsewhere/pauses-reduced/2*/request.json 2>/dev/null | head -1)" = "$SCRATCH/labs/key" ]

# ---- a rate is one of many messages: the phase is not halved until one more or less decides, and links as they are explain nothing
cat >shared.json <<'END'
{"schema": 1, "name": "shared", "lab": "star.json", "roles": ["h[0-2]"], "phases": {"warmup": "1ms", "measure": "4ms"}, "settings": {"mtu": 4200, "pfc": [3]},
 "flows": [{"name": "side-{}", "from": "h[0-1]", "to": "h2", "message": "64KiB", "depth": 4, "priority": 3}],
 "expect": [{"name": "most of the line", "check": "sum(flows.side-0.goodput_bps) > 14Gb/s"}]}
END
harness run shared.json --no-report --quiet >log 2>&1
check_exit 0 "a rate is reduced" harness reduce results/shared/latest --expect "most of the line" --jobs 2
one=$(readlink -f results/shared-reduced/latest)
check "what is left completes messages enough for one" jq -e '.flows | length == 2 and all(.messages >= 20)' "$one/result/01/result.json"
check "the links' rate is not what makes it fail" bash -c '! grep -qE "with lab[.]defaults[.]link[.]rate|default of lab[.]defaults[.]link[.]rate" out'

# ---- what is refused
refused() { # what, words, argument...
    local what=$1 words=$2
    shift 2
    check_exit 2 "$what" harness reduce "$@" --out bad
    check_says "says so" "$words" err
}
refused "two that failed" 'several expectations failed: expected --expect with one of .*"much arrives"' "$run"
refused "one that passed" '"aside has enough" did not fail, it was passed' "$run" --expect "aside has enough"
refused "one that there is not" 'has no expectation "nobody is pausd": perhaps "nobody is paused"' "$run" --expect "nobody is pausd"
refused "a path to keep that there is not" '--keep phasez: there is nothing of that name in the scenario or its lab: perhaps "phases"' "$run" --expect "nobody is paused" --keep phases --keep phasez
refused "a part of one" '--keep lab.defaults.link.rat: .*: perhaps "lab.defaults.link.rate"' "$run" --expect "nobody is paused" --keep lab.defaults.link.rat
refused "no result" 'nosuch' nosuch
refused "nothing" 'expected a RESULT, or --resume FOLDER'
refused "a folder with options that it has" 'give no --seeds' --resume killed/pauses-reduced/2* --seeds 2
mkdir -p captured && jq 'del(.lab)' "$run/result.json" >captured/result.json && cp "$run"/*.jsonl "$run"/settings.json "$run"/run.log captured
refused "a result without a lab" 'has no scenario or no lab' captured --expect "nobody is paused"
jq '.name = "against" | .sweep = {"settings.pfc": [[], [3]]} | .expect = [{name: "as without", against: {"settings.pfc": []}, when: {"settings.pfc": [3]}, check: "sum(flows.*.goodput_bps) > 9 * other(sum(flows.*.goodput_bps))"}]' pauses.json >against.json
harness run against.json --no-report --quiet --out sweep >log 2>&1
refused "a comparison of cells" 'compares two cells of a sweep' sweep/against/latest
cp -r "$(readlink -f "$run")" flaky && jq '.scenario.expect[0].check = "total(h*.rx_prio3_pause) == 0" | .scenario.traffic[0].from = ["h2"]' flaky/result.json >r && mv r flaky/result.json
check_exit 1 "what does not fail again" harness reduce flaky --expect "nobody is paused" --out bad
check_says "is told so" '"nobody is paused" does not fail again with its own seed, 1: 0, expected == 0' err
check "nothing is left of these" eval '[ -z "$(find bad -name "*.json" 2>/dev/null)" ]'
finish
