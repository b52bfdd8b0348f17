#!/usr/bin/env bash
# `harness search`: what it finds where the best is known, that it is the same for any number of jobs and after kills, and what it refuses.
# shellcheck disable=SC2016,SC2317 # what is quoted is for jq and eval
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/../lib.sh"
cd "$SCRATCH" || exit 2
PATH=$BUILD:$PATH
cat >two.json <<'END'
{"schema": 1, "name": "two", "driver": "sim", "topology": {"kind": "star", "hosts": 3}, "defaults": {"link": {"rate": "25Gb/s", "length": "2m"}}}
END
# Goodput is the flows' rates together; both flows share one link of 25 Gb/s: more than that is paused.
cat >rates.json <<'END'
{"schema": 1, "name": "rates", "lab": "two.json", "roles": ["h[0-2]", "s0"],
 "phases": {"warmup": "20us", "measure": "200us", "cooldown": "1us"}, "settings": {"mtu": 4200, "pfc": [3], "trust": "dscp"},
 "flows": [{"name": "a", "from": "h0", "to": "h2", "message": "16KiB", "depth": 8, "priority": 3, "rate": "1Gb/s"},
           {"name": "b", "from": "h1", "to": "h2", "message": "16KiB", "depth": 8, "priority": 3, "rate": "1Gb/s"}],
 "sample": {"every": "20us", "groups": ["pfc", "drops", "queue"]},
 "expect": [{"name": "a has enough", "check": "flows.a"}],
 "search": {
   "over": {"flows.a.rate": {"from": "1Gb/s", "to": "24Gb/s"}, "flows.b.rate": {"from": "1Gb/s", "to": "24Gb/s"}},
   "objectives": [{"name": "b", "max": "sum(flows.b.delivered_bps)"}],
   "runs": 40, "seeds": 1}}
END
jq '.expect = [{name: "a has enough", check: "sum(flows.a.delivered_bps) > 0.5Gb/s"}, {name: "the queue is short", check: "max(s0.port2_prio3_queue_bytes) < 200KB"}]' rates.json >r && mv r rates.json
answer() { jq -r "$2" "results/$1/latest/search.json"; }
# everything but when it ran and which runs were made again
same() { jq -S 'del(.started, .finished) | walk(if type == "object" then del(.folders) else . end)' "$1/search.json"; }
same_answers() { diff <(same "$1") <(same "$2"); }

# ---- what is searched
check_exit 0 "the plan is printed" harness search rates.json -n
check_says "with what is varied" '^  flows.a.rate: ' out
check_says "and what is wanted" '^  max: b$' out
check "nothing is run" [ ! -e results ]

# ---- what runs warned of stands beside their figures: messages that began before the measured phase count in full
jq '.flows[].message = "256KiB" | .expect = [] | .search.objectives = [{name: "goodput", max: "sum(flows.*.goodput_bps)"}] | .search.runs = 12' rates.json >warned.json
check_exit 0 "a search of runs that warn" harness search warned.json --out warned
check "says so of its best" [ "$(jq '[.front[].warnings | length] | max > 0' warned/rates/latest/search.json)" = true ]
check_says "in the terminal" '^ +warning: flow.* goodput ' out
check_says "and on the page" '<li>best 1: flow.* goodput ' warned/rates/latest/index.html

# ---- values that make a valid scenario, which the lab cannot run: not the first one of a round, nor any
jq '.flows[1] += {mode: "latency", op: "write"} | .search += {over: {"flows.a.rate": .search.over["flows.a.rate"], "flows.b.op": ["write", "send", "read"]}, runs: 30,
    objectives: [{name: "b", min: "max(flows.b.latency_mean_ns)"}], strategy: "random"}' rates.json >reads.json
check_exit 0 "a search of which the lab cannot run one value" harness search reads.json --out reads
check_says "counts it, with why" '^[0-9]+ proposals were not tried, as the lab cannot run them: flow b: the simulator measures latency of writes and sends, not of reads' out
check_says "on the page" 'proposals were not tried, as the lab cannot run them: flow b: ' reads/rates/latest/index.html
check "and tries all others" [ "$(jq -c '[.complete, .runs, .refused > 0, ([.tried[].values["flows.b.op"]] | unique)]' reads/rates/latest/search.json)" = '[true,30,true,["send","write"]]' ]
jq '.search.baselines = {reads: {"flows.b.op": "read"}}' reads.json >bad.json
check_exit 2 "a known setting that the lab cannot run" harness search bad.json --out bad
check_says "is refused" 'baselines.reads: .*not of reads' err
check "before anything runs" [ ! -e bad ]

# ---- an answer that is known: all of the link that a leaves, and a at its least
check_exit 0 "a search ends" harness search rates.json --jobs 1
cp out told
check_says "each round is told" '^round 2, [0-9]+ runs: best b ' out
one=$(readlink -f results/rates/latest)
check "it used the runs that it may" [ "$(answer rates '.runs')" = 40 ]
check "it is complete, and says that it is simulated" [ "$(answer rates '[.complete, .simulated] | tojson')" = '[true,true]' ]
check "the best has 90 % of what is possible without a pause, or more" \
    [ "$(answer rates '.front[0].objectives.b.mean > 0.9 * 23.5e9')" = true ]
check "that is far more than the scenario itself has" [ "$(answer rates '.known[0].objectives.b.mean < 2e9')" = true ]
check "the best meets the constraints" [ "$(answer rates '.front[0].feasible')" = true ]
check "of candidates that do not, it is said which they miss" [ "$(answer rates '[.tried[] | select(.feasible | not).why] | length > 0 and all(test("the queue is short"))')" = true ]
check "b's rate matters for b" [ "$(answer rates '.importance[] | select(.path == "flows.b.rate") | .told and .share > 0.3')" = true ]
check "the winner is tried on new seeds" [ "$(answer rates '.trials[0].on')" = "new seeds" ]
check "each run is an ordinary result" harness explain "$one/$(answer rates '.front[0].folders[0]')"
check "whose values are those of the answer" \
    [ "$(jq -r '.scenario.flows[1].rate' "$one/$(answer rates '.front[0].folders[0]')/result.json")" = "$(answer rates '.front[0].values["flows.b.rate"]')" ]

check_says "the command that runs the best is told" "^to run it: harness run .*--set 'flows.b.rate=" out
check_exit 0 "and runs" eval "$(sed -n 's/^to run it: //p' out) --no-report --quiet --out its"
check "with its values" [ "$(jq -r '.scenario.flows[1].rate' its/rates/latest/result.json)" = "$(answer rates '.front[0].values["flows.b.rate"]')" ]
check_says "there is a page" '^page: .*/rates/2[0-9TZ]*/index.html$' told
check_says "with the scenario's title or name" '<h1>Search: rates</h1>' "$one/index.html"
check_says "that says where its values come from" 'computed by the built-in simulator' "$one/index.html"
check "a drawing for each parameter, and of the course" [ "$(grep -o '<figure>' "$one/index.html" | wc -l)" = 3 ]
check "each row leads to a run" [ -e "$one/$(grep -o 'href="round-[^"]*"' "$one/index.html" | head -1 | cut -d'"' -f2)result.json" ]

# ---- files that set it
check_exit 0 "the scenario with the best values is good" harness check "$one/winner.json"
check_exit 0 "it runs as it is" harness run "$one/winner.json" --no-report --quiet --out its
check "with the same figures as the search's own run" [ "$(jq -r '.flows[] | .delivered_bps' its/rates-winner/latest/result.json)" = "$(jq -r '.flows[] | .delivered_bps' "$one/$(answer rates '.front[0].folders[0]')/result.json")" ]
check "settings for nic-config are those of the scenario" [ "$(jq -c '.interfaces.INTERFACE | [.mtu, .pfc, .trust]' "$one/winner-nic-config.json")" = '[4200,[3],"dscp"]' ]
jq '.interfaces = {lo: .interfaces.INTERFACE}' "$one/winner-nic-config.json" >lo.json
nic-config plan --skip-missing lo.json >out 2>err
check "which nic-config reads" jq -e .ok out
check "they are named in the answer" [ "$(answer rates '[.use.files[].file] | join(" ")')" = "winner.json winner-lab.json winner-nic-config.json" ]
check_says "on the terminal" '/winner.json .scenario.$' told
check_says "and on the page" '<a href="winner.json">' "$one/index.html"

# ---- why, and what is not known
check_says "it is said why, by what explain says" "^why: of what the senders' lines carry, delivered 4(\.[0-9]+)? % as written, .*; not asked for by the scenario [0-9.]+ % as written, .*; as written: " told
check_says "and on the page" "<p>Why: of what the senders' lines carry" "$one/index.html"
check_says "candidates that failed are counted, with a reason" '^  [0-9]+ of [0-9]+ candidates, which did not meet the constraints, as .*the queue is short' told
check_says "and what ended it" '^  what more runs would have tried: the budget ended$' told
check_exit 0 "a range that ends too early" harness search rates.json --set 'search.over.flows.b.rate={"from": "1Gb/s", "to": "5Gb/s"}' --set 'search.over.flows.a.rate={"from": "0.1Gb/s", "to": "2Gb/s"}' --set search.runs=20 --out early
check_says "is to be widened" '^  flows.b.rate: the best value, [0-9.]+[GM]b/s, is at the upper end of its range: widen it' out
check_says "where the constraints cannot be met" '^  flows.a.rate from 100Mb/s to 57[0-9]Mb/s: none of [0-9]+ that were tried there meets the constraints$' out

# ---- the folder to other commands
check_exit 0 "status of a search" harness status "$one"
check "search.json is as its schema says, by which it is read" [ "$(harness schema search | jq -r '.properties.front.items.properties.knee.type')" = boolean ]
jq '.front[0].surprise = 1' "$one/search.json" >out && mkdir -p wrong && cp out wrong/search.json
check_exit 2 "one that is not" harness status wrong
check_says "is refused by the place" 'wrong/search.json: front.0.: unknown key .surprise' err
harness status "$one" >out
check "is its answer" cmp out <(sed -n '/^search of/,/^to run it/p' told)
check "as JSON, search.json" [ "$(harness status --json "$one" | jq -r .front[0].objectives.b.mean)" = "$(answer rates '.front[0].objectives.b.mean')" ]
cp "$one/index.html" page && rm "$one/index.html"
check_exit 0 "report of a search" harness report "$one"
check "draws its page anew" cmp page "$one/index.html"
check_says "and says where it is" "^$one/index.html" out
for command in explain trace compare\ "$one/known-1/latest"; do
    check_exit 2 "$command of a search" eval "harness $command $one"
    check_says "says what it is, and what has results" 'it is a search, which says what it found in its index.html and search.json: expected a result of one of its rounds, such as known-1/TIME' err
done
check_exit 2 "run --resume" harness run --resume "$one"
check_says "says what resumes it" 'is the folder of a search: harness search --resume goes on with it' err
check_exit 0 "browse" harness browse results
check_says "says which rows are of a search" 'results/rates/2[0-9TZ]* is a search, whose answer is its index.html' err

# ---- the same for any number of jobs, from any seed, and after kills
check_exit 0 "with two jobs" harness search rates.json --jobs 2 --out two --quiet
check "the answer is the same" same_answers "$one" "$(readlink -f two/rates/latest)"
check_exit 0 "with another seed" harness search rates.json --seed 2 --out other --quiet
check "other candidates are tried" eval '! same_answers "$one" "$(readlink -f other/rates/latest)" >/dev/null'
killed=0
harness search rates.json --out killed --quiet --jobs 2 >log 2>&1 &
for rounds in 1 2 4 6; do
    until_true 300 eval '[ "$(ls -d killed/rates/*/round-'$rounds' 2>/dev/null)" ] || ! kill -0 $!'
    kill -KILL $! 2>/dev/null && killed=$((killed + 1))
    wait $! 2>/dev/null
    harness search --resume killed/rates/2* --quiet --jobs 2 >log 2>&1 &
done
wait $!
check_exit 0 "after $killed kills it is gone on with" harness search --resume killed/rates/2* --quiet
check "and the answer is the same" same_answers "$one" killed/rates/2*
harness search rates.json --out "it's stopped" >stopped.log 2>&1 &
until_true 300 eval '[ "$(ls -d "it'\''s stopped"/rates/*/round-2 2>/dev/null)" ]'
kill -INT $! && wait $!
check "Ctrl-C ends it with 130" [ $? = 130 ]
check_says "and the command that goes on, for a shell" "^    harness search --resume 'it'\\\\''s stopped/rates/2" stopped.log
check "what was found so far is kept" [ "$(jq -r .complete "it's stopped"/rates/2*/search.json)" = false ]
check_exit 1 "its status" harness status "it's stopped"/rates/2*
check_says "is that it has not ended" '^a search of rates, which has not ended; this goes on with it:$' out
for folder in "it's stopped"/rates/2*; do touch "$folder/winner-nic-config-h9.json"; done
check "with that command" grep -qxF "$(grep '^    harness search' stopped.log)" out
check_exit 0 "which does so" bash -c "$(grep '^    harness search' out) --quiet"
check "files of an earlier winner are gone" [ "$(cd "it's stopped"/rates/2* && echo winner*)" = "$(cd "$one" && echo winner*)" ]
check "to the same answer" same_answers "$one" "it's stopped"/rates/2*
check "and the same drawings" cmp "it's stopped"/rates/2*/course.svg "$one/course.svg"

# ---- an answer stays until there is a new one that is whole
answered() { (cd "$1" && cat search.json winner*.json index.html && ls -A); }
cp -r "$one" ended && answered ended >before
timeout -s INT 0.1 harness search --resume ended --quiet >out 2>err
check "an interrupt leaves the answer of before, or the same one" eval 'answered ended | cmp - before || same_answers "$one" ended'
cp "$one"/{search,winner*}.json ended && answered ended >before
check "a search that ended is resumed where files cannot be written" eval '! (ulimit -f 1 && harness search --resume ended --quiet 2>err)'
check "its answer stays, with all files" cmp <(answered ended) before
check_says "which is said" 'the answer of before stays in .*ended$' err
truncate -s 1500 ended/round-1/2*/request.json
check_exit 2 "a part of it cannot be read" harness search --resume ended --quiet
check "its answer stays, with all files" cmp <(answered ended) before
cp "$one"/round-1/2*/request.json ended/round-1/2*/ && rm ended/winner.json && jq .surprise=1 ended/winner-lab.json >r && mv r ended/winner-lab.json
check_exit 0 "with that part again" harness search --resume ended --quiet
check "there is a new one" cmp <(cd "$one" && cat winner*.json) <(cd ended && cat winner*.json)
check "which is the same" same_answers "$one" ended
jq '.phases.measure = "300us"' rates.json >r && cp rates.json kept.json && mv r rates.json
check_exit 2 "a scenario that changed since" harness search --resume "it's stopped"/rates/2* --quiet
check_says "is refused, with what changed" 'phases.measure was "200us" and is "300us"' err
mv kept.json rates.json

jq '.name = "timed" | .search.over = {"flows.a.rate": {from: "1Gb/s", to: "24Gb/s"}, "flows.b.rate": {from: "1000Mb/s", to: "24000Mb/s"}} | del(.search.runs) | .search.time = "1s"' rates.json >timed.json
check_exit 0 "a search by time alone ends" harness search timed.json
check "with rounds that began before" [ "$(answer timed '.complete and .candidates > 0 and .candidates < 23000')" = true ]

jq '.name = "nothing" | .expect = [] | .search |= (.objectives = [{name: "errors", min: "sum(flows.a.errors)"}] | .runs = 20 | .strategy = "random")' rates.json >nothing.json
check_exit 0 "a search for what no parameter changes" harness search nothing.json --no-report
check_says "says so, and leaves no heading without a line" '^what matters: no parameter alone tells more' out
# ---- several objectives
jq '.name = "both" | .search.objectives += [{name: "a", max: "sum(flows.a.delivered_bps)"}] | .search.runs = 60' rates.json >both.json
check_exit 0 "two objectives" harness search both.json
check_says "have a front" '^none of these is better than another in all:' out
check "no point of it is better than another in both" [ "$(answer both '[.front[].objectives | [.a.mean, .b.mean]] as $f | [$f[] as $x | $f[] as $y | select($x != $y and $x[0] >= $y[0] and $x[1] >= $y[1])] | length')" = 0 ]
check "its ends are far apart" [ "$(answer both '[.front[].objectives.a.mean] | max > 3 * min')" = true ]
check_says "which the page draws" 'href="front-1.svg"' results/both/latest/index.html
check "it has one knee" [ "$(answer both '[.front[] | select(.knee)] | length')" = 1 ]
for strategy in random latin-hypercube annealing; do
    check_exit 0 "$strategy" harness search both.json --set search.strategy=$strategy --quiet
    check "ends with a front" [ "$(answer both '(.front | length > 1) and .strategy == "'$strategy'"')" = true ]
done
# ---- a constraint of some values
jq '.search.over["settings.mtu"] = [1500, 4200] | .search.runs = 12 | .search.strategy = "random" | .expect = [.expect[0], {name: "with small frames too", when: {"settings.mtu": 1500}, check: "sum(flows.a.delivered_bps) > 0.5Gb/s"}]' rates.json >when.json
check_exit 0 "an expectation that holds for some of the values" harness search when.json --quiet --out when
check "is none of the others" [ "$(jq -c '[.tried[] | [.values["settings.mtu"], .feasible]] | unique' when/rates/latest/search.json)" = '[[1500,true],[4200,true]]' ]

# ---- runs that end once a constraint is broken for good
check_exit 0 "runs that stop early" harness search rates.json --set search.stop_early=true --jobs 1 --out early
early=$(readlink -f early/rates/latest)
check "give no warning of each" eval '! grep -q "not complete" err'
check_says "the answer says how many there were" '^[1-9][0-9]* of the runs were stopped early, as a constraint was broken$' out
check "they are counted" [ "$(jq '.stopped_early == ([.tried[] | select(.feasible | not)] | length)' "$early/search.json")" = true ]
check "they say what broke, and when" [ "$(jq '[.tried[] | select(.feasible | not).why] | length > 0 and all(test("^stopped early: \"the queue is short\" was broken in the first [0-9.]+us of the measure phase: [0-9]+ bytes, expected < 200000 bytes$"))' "$early/search.json")" = true ]
check "they have no figures" [ "$(jq '[.tried[] | select(.feasible | not).objectives] | all(. == {})' "$early/search.json")" = true ]
check "the answer is that of whole runs" diff <(same "$one" | jq '[.front, .known, .trials, .importance, [.tried[].values]]') <(same "$early" | jq '[.front, .known, .trials, .importance, [.tried[].values]]')
stopped=$early/$(jq -r '[.tried[] | select(.feasible | not)][0].folders[0]' "$early/search.json")
check "their results say that they are not whole, and failed" [ "$(jq -c '[.complete, .stopped_early, .verdict, .phases[-1].name, ([.expectations[].verdict] | sort)]' "$stopped/result.json")" = '[false,true,"failed","measure",["failed","skipped"]]' ]
stopped_in() { jq -s 'map(select(.stopped_early)) | length' "$1"/0*/result.json; }
check_exit 0 "their round's status" harness status "$(dirname "$stopped")"
check_says "tells them from whole ones" "^ +$(stopped_in "$(dirname "$stopped")") stopped early, and failed: they broke a constraint of the search$" out
check_exit 0 "also" harness status "$(dirname "$stopped")" --json
check "as JSON" [ "$(jq -c '[.runs.stopped_early, .runs.whole + .runs.stopped_early == .count, (.verdicts | add // 0) == .runs.whole]' out)" = "[$(stopped_in "$(dirname "$stopped")"),true,true]" ]
check_exit 4 "they are not compared as whole ones" harness compare "$one/known-1/latest" "$stopped"
check_says "with the reason" '^note: NEW is not whole, and its figures are not used: stopped early: "the queue is short" was broken' out
check "and nothing is wrong with them" eval '! grep -q "taken as" out'
check "explain says that it is not whole" eval 'harness explain "$stopped" | grep -q "^not known: the run is not complete"'
check_exit 0 "browse" harness browse early
check "has them as they are" eval '! grep -q "taken as\|incomplete" out'
check_exit 0 "with two jobs" harness search rates.json --set search.stop_early=true --jobs 2 --out early-two --quiet
check "the answer is the same" same_answers "$early" "$(readlink -f early-two/rates/latest)"
rm "$early"/round-2/2*/index.json "$early"/round-3/2*/0[2-8]/result.json
ended=$(stat -c %i "$stopped/result.json")
cp -r "$early" early-again && check_exit 0 "resumed" harness search --resume early-again --quiet
check "it is the same, too" same_answers "$early" early-again
check_exit 0 "and where it is" harness search --resume "$early" --quiet
check "a run that was stopped early is not made again" [ "$(stat -c %i "$stopped/result.json")" = "$ended" ]
check_exit 2 "with Slurm" harness search rates.json --set search.stop_early=true --on slurm --out slurm
check_says "that is refused" 'stop_early: runs on slurm are not stopped early' err

# ---- two searches side by side: of the box from (0, 0) to (4, 4) the points (4, 1) and (1, 4) dominate 7/16, (3, 3) 9/16
answers() { jq --argjson points "$2" '.known |= [.[0] | .objectives |= map_values(.mean = 0)] | .front = [.front[0] as $f | $points[] as $p
    | $f | .objectives.a.mean = $p[0] | .objectives.b.mean = $p[1]]' results/both/latest/search.json >"$1/search.json"; }
mkdir two-ends middle
answers two-ends '[[4, 1], [1, 4]]' && answers middle '[[3, 3]]'
check_exit 0 "two searches are compared" harness compare two-ends middle
check_says "hypervolumes are those of the box of both" '^OLD: 2 best settings, 0 worse than one of NEW.s; hypervolume 43.8 %' out
check_says "of either" '^NEW: 1 best setting, 0 worse than one of OLD.s; hypervolume 56.2 %' out
answers middle '[[5, 2]]'
check "a setting that is nowhere better is told" [ "$(harness compare two-ends middle --json | jq -c '[.fronts.old.beaten, .fronts.new.beaten, (.objectives[] | select(.name == "a")).new.mean]')" = '[1,0,5]' ]
jq '.objectives[1].of = "1"' middle/search.json >m && mv m middle/search.json
check_exit 2 "searches for other things are not" harness compare two-ends middle
check_says "which is told" 'not for the same: objective 2 is "max .*" in .*two-ends and "max 1" in ' err
jq '.front = [] | .objectives = {}' two-ends/search.json >middle/search.json
check_exit 2 "nor is what no search wrote" harness compare two-ends middle
check_exit 2 "nor is a search with itself" harness compare two-ends two-ends
answers middle '[]'
check_exit 4 "one that found nothing is" harness compare two-ends middle
check_says "with a note" '^note: NEW found nothing that is allowed' out
check_exit 2 "rules are for results" harness compare two-ends middle --fail-if 'goodput < 1'

jq '.search.over = {"flows.a.rate": ["1Gb/s", "2Gb/s", "3Gb/s"]} | .name = "few"' rates.json >few.json
check_exit 0 "where there are few values" harness search few.json
check_says "that it has all is said" '^  nothing else: no more candidates were found$' out
check "each is tried once, and it ends" [ "$(answer few '.candidates')" -le 3 ]

# ---- seeds: two hosts send to one, and marks are drawn
jq '.name = "queue" | .settings.ecn = [3] | del(.flows[].rate) | .expect = [] | .sample.groups += ["ecn"] | .phases = {warmup: "100us", measure: "300us", cooldown: "1us"}
    | .search = {over: {"lab.defaults.switch.ecn.pmax": {from: 0.01, to: 1.0, scale: "log"}, "lab.defaults.switch.ecn.kmax": {from: "20KB", to: "400KB", scale: "log"}},
                 objectives: [{name: "queue", min: "mean(s0.port2_prio3_queue_bytes)"}], runs: 60, seeds: 3}' rates.json >queue.json
jq '.name = "marks" | .defaults.switch = {buffer: "16MiB", ecn: {kmin: "10KB", kmax: "400KB", pmax: 0.1}}' two.json >marks.json
check_exit 0 "a queue of marked packets" harness search queue.json --lab marks.json
cp out queue.out
check_exit 0 "its document is as the schema says, too" harness status results/queue/latest
check "the scenario itself ran with all seeds" [ "$(answer queue '.known[0].runs')" = 3 ]
check "so did the best" [ "$(answer queue '.front[0].runs')" = 3 ]
check "those that cannot win do not" [ "$(answer queue '[.tried[].runs] | any(. == 1)')" = true ]
check "its queue is shorter" [ "$(answer queue '.front[0].objectives.queue.mean < .known[0].objectives.queue.mean')" = true ]
check_exit 0 "where seeds change nothing" harness search both.json --set search.seeds=3
check_says "it is said" '^seeds change nothing here: every candidate ran once$' out

# ---- baselines, and conditions
jq '.name = "known" | .search.baselines = {"careful": {"flows.b.rate": "2Gb/s"}, "the same": {"flows.b.rate": "1Gb/s"}} | .search.other = {"small": {"flows.*.message": "4KiB"}}
    | .search.only = [{"flows.a.rate": "< flows.b.rate"}]' rates.json >known.json
check_exit 0 "known settings and other traffic" harness search known.json
check_says "what the conditions leave out is told" '^  about [345][0-9] % of the ranges: "only" and "except" leave it out' out
check "are in the answer" [ "$(answer known '[.known[].known] | tojson')" = '["as written","careful","the same"]' ]
check "what sets the same as another does not run again" [ "$(answer known '.known[0].folders == .known[2].folders and .known[2].runs == 1')-$(find results/known/latest/ -maxdepth 1 -name 'known-*' | wc -l)" = true-2 ]
check "the winner is tried on the other traffic" [ "$(answer known '[.trials[].on] | tojson')" = '["new seeds","small"]' ]
check "whose runs have it" [ "$(jq -r '.scenario.flows[0].message' "results/known/latest/$(answer known '.trials[1].winner.folders[0]')/result.json")" = 4KiB ]
check "only what the condition allows is tried" [ "$(answer known '[.tried[].values | map(rtrimstr("Gb/s") | rtrimstr("Mb/s") | tonumber)] | length > 0')" = true ]

check_says "what cannot be made is told, with the reason" 'no winner-sonic.json: no role of the scenario is a switch that runs SONiC' queue.out
jq '.name = "host" | .search.over = {"lab.defaults.host.nic.tx_latency": ["100ns", "200ns", "300ns"]} | .search.runs = 15' queue.json >host.json
check_exit 0 "a value of a simulated NIC" harness search host.json --lab marks.json
check_says "is none of nic-config's" 'no winner-nic-config.json: lab.defaults.host.nic.tx_latency is a value of the lab' out

# ---- what was published
jq '.name = "published" | .search.over += {"settings.dcqcn.rp.rpg_byte_reset": {from: 1000, to: 32767}, "settings.dcqcn.rp.rpg_ai_rate": {from: 5, to: 400}} | .search.baselines = {"expert": {"settings.dcqcn.rp.rpg_ai_rate": 77}}' queue.json >published.json
check_exit 0 "a search over values that were published" harness search published.json --lab marks.json
cp out told
known() { answer published ".known[] | select(.known == \"$1\") | $2"; }
check "has them in its table" [ "$(answer published '[.known[].known] | tojson')" = '["as written","expert","driver default","DCQCN paper","HPCC"]' ]
check "the user's own come before" [ "$(known expert '.values["settings.dcqcn.rp.rpg_ai_rate"]')" = 77 ]
check "the driver's default is what the scenario leaves as it is" [ "$(answer published '.known[0].folders == .known[2].folders')" = true ]
check "each ran with all seeds" [ "$(answer published '[.known[].runs] | unique | tojson')" = '[3]' ]
check "thresholds are those of the lab's rate, 25 Gb/s" [ "$(known HPCC '[.values["lab.defaults.switch.ecn.kmax"], .values["settings.dcqcn.rp.rpg_ai_rate"]] | tojson')" = '["400kB",5]' ]
check "the run had what was not varied, too" [ "$(jq -r '.scenario.settings.dcqcn.rp.rpg_min_rate' "results/published/latest/$(known HPCC '.folders[0]')/result.json")" = 1000 ]
check "it is said where they are from" [ "$(known 'DCQCN paper' .source)" = "Zhu et al., SIGCOMM 2015, at 40 Gb/s" ]
check_says "and what has no place" '^ +has no place here: rp.rpg_byte_reset=10000000$' told
check_says "on the page, with the reason" 'without rp.rpg_byte_reset=10000000 .the NIC takes no such value' results/published/latest/index.html

# ---- explain of a sweep is a list, also of one run
check_exit 4 "a sweep of one run" harness run rates.json --set search=null --set expect=null --set 'sweep={"flows.a.rate": ["2Gb/s"]}' --no-report --out swept
check "explained as JSON is a list" [ "$(harness explain swept/rates/latest --json | jq -r 'type, length' | xargs)" = "array 1" ]
check "its run is not" [ "$(harness explain swept/rates/latest/01 --json | jq -r type)" = object ]

# ---- what is refused before anything runs
refused() { # what, filter, words
    jq "$2" rates.json >bad.json
    check_exit 2 "$1" harness search bad.json --out bad
    check_says "says so" "$3" err
}
refused "no search" 'del(.search)' 'bad.json has no "search"'
refused "a parameter that does not exist" '.search.over["flows.c.rate"] = ["1Gb/s", "2Gb/s"]' 'over.flows.c.rate: .*flows.c.rate: nothing in the document matches this path'
refused "a parameter with one value" '.search.over["flows.a.rate"] = ["1Gb/s"]' 'over.flows.a.rate: it has one value alone'
refused "an objective that cannot be read" '.search.objectives[0].max = "sum(flows.b.nosuch)"' 'objectives\[0\]: .*nosuch'
refused "an objective that is not sampled" '.search.objectives[0].max = "delta(h0.np_cnp_sent)"' 'objectives\[0\]: '
refused "two objectives of one name" ".search.objectives += [.search.objectives[0]]" 'objectives\[1\]: "b" is the name of an earlier one'
refused "what its runs are called" '.search.over.name = ["a", "b"]' 'over.name: a search does not vary itself'
refused "how they are judged, by any name" '.search.over["e*.0.check"] = ["1 > 2", "2 > 1"]' 'over.e\*.0.check: a search does not vary itself'
refused "an objective with two goals" '.search.objectives[0].min = "1"' 'objectives\[0\]: expected one of "min" and "max"'
refused "a constraint that there is not" '.search.constraints = ["nosuch"]' 'constraints\[0\]: there is no expectation "nosuch": expected some of "a has enough"'
refused "contradictory conditions" '.search.only = [{"flows.a.rate": "> 3Gb/s and < 2Gb/s"}]' 'none of 1000 values that were drawn can be run; of the last one: .*only leave it out'
mixed='has different units: port2_discards is in packets, port2_rx_prio0_pause_duration in us'
refused "an objective whose glob mixes units" '.search.objectives[0] = {max: "delta(s0.port2_*)"}' "objectives\\[0\\]: s0.port2_[*] $mixed"
refused "such a find" '.search |= (del(.objectives) | .find = "delta(s0.port2_*) > 5")' "find: s0.port2_[*] $mixed"
refused "what leads to it" '.search |= (del(.objectives) | .find = "delta(s0.port2_discards) > 5" | .led_by = ["delta(s0.port2_*)"])' "led_by\\[0\\]: s0.port2_[*] $mixed"
refused "a constraint" '.expect[0].check = "delta(s0.port2_*) > 4"' "expect\\[0\\].check: .*$mixed"
refused "a condition that no values meet" '.search.except = [{"flows.a.rate": "> 30Gb/s"}]' 'search.except\[0\]: flows.a.rate is "> 30Gb/s" in no combination: it is "1Gb/s", '
refused "a value that does not occur" '.search |= (.over["settings.mtu"] = [1500, 4200] | .only = [{"settings.mtu": 4200}, {"settings.mtu": 1400}])' 'search.only\[1\]: settings.mtu is 1400 in no combination: it is 4200, 1500'
refused "nor in an expectation" '.search.over["settings.mtu"] = [1500, 4200] | .expect[0].when = {"settings.mtu": 1400}' 'expect\[0\].when: settings.mtu is 1400 in no run: it is 4200, 1500'
for when in '{"settings.mtu": 1500}' '{"flows.a.rate": "> 3Gb/s and < 3.1Gb/s"}' '{"flows.a.rate": "> flows.b.rate", "flows.b.rate": "5Gb/s"}'; do
    jq --argjson when "$when" '.search |= (.over["settings.mtu"] = [1500, 4200] | .except = [$when]) | .expect += [{name: "there", when: ($when | .["settings.mtu"] //= 4200), check: "sum(flows.a.delivered_bps) > 0.5Gb/s"}] |
        if $when["settings.mtu"] then .search.except = [{"settings.mtu": 1500, "flows.b.rate": "< 2Gb/s"}] else .search.except = [{"flows.a.rate": "> 3.05Gb/s and < 3.1Gb/s"}] end' rates.json >good.json
    check_exit 0 "conditions that some values meet: $when" harness search good.json -n
    check_exit 0 "... as check says, too" harness check good.json
done
refused "a condition on nothing" '.search.only = [{"flows.c.rate": "> 3Gb/s"}]' 'only\[0\]: nothing in the scenario'
refused "a budget of 0" '.search.runs = 0' 'search.runs: 0 is outside|expected .* from 1'
refused "a budget for less than the known settings" '.search.runs = 2' 'search.runs: 1 known setting'
refused "no end" 'del(.search.runs)' 'without an end: expected "runs", "time" or both'
refused "a sweep too" '.sweep = {"flows.a.rate": ["1Gb/s", "2Gb/s"]}' 'has a sweep and a search'
check "nothing was written" [ ! -e bad ]
jq '.expect[0].check = "sum(flows.a.delivered_bps) > 30Gb/s"' rates.json >bad.json
check_exit 2 "constraints that no known setting meets" harness search bad.json --quiet
check_says "are refused, with the one that fails" 'no known setting meets the constraints: "as written" fails "a has enough"' err
check_exit 2 "harness check says the same before" harness check <(jq '.search.over["flows.c.rate"] = ["1Gb/s", "2Gb/s"]' rates.json)
finish
