#!/bin/bash
# Choices of a sweep: the examples of docs/scenario.md do what it says, and cells have what their choice says.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/../lib.sh"
cd "$SCRATCH" || exit 1
H=$BUILD/harness
DOC=$ROOT/docs/scenario.md
PFC=$ROOT/scenarios/pfc-bidir.json

# The cells that a dry run prints, a line each: "PATH VALUE, PATH VALUE".
cells() { sed -n 's/^  [0-9][0-9]* //p' out; }
dry() { "$H" run "$PFC" -n "$@" >out 2>err; }

# ---- the first block: a whole scenario, wherever it is copied to
awk '/^```json$/ {on = 1; next} /^```$/ {exit} on' "$DOC" >two-into-one.json
check_exit 0 "the document's first block is a scenario" "$H" check two-into-one.json
check_exit 0 "... that runs as it is, and passes" "$H" run two-into-one.json --no-report
check "... in two runs" test "$(jq -r '[.cells[].verdict] | join(" ")' results/two-into-one/latest/index.json)" = "passed passed"

# ---- the table of values
n=0
while IFS='|' read -r _ sweep values _; do
    sweep=${sweep#*\`} values=${values# }
    n=$((n + 1))
    path=$(jq -r 'keys[0]' <<<"{${sweep%\`*}}")
    dry --set "sweep={${sweep%\`*}}"
    check "the document's ${sweep%\`*}" test "$(cells | sed "s/^\(.*\) \([^ ]*\)\$/\2/" | paste -sd , | sed 's/,/, /g')" = "${values% }"
    check "... is of ${path##*.}, the end of $path" test "$(cells | awk '{print $1}' | sort -u)" = "${path##*.}"
done < <(grep '^| `"' "$DOC")
check "the document has examples" test "$n" -ge 8

# ---- the examples beside it: each is a sweep that can be run
awk '/^    "sweep": \{ "(zip|draw|flows)/ {on = 1} on && !/^    / {on = 0; print ""} on' "$DOC" | grep -v '"host", "gpu"' >examples
awk -v RS= '{print > ("example." NR)}' examples
check "the document has sweeps" test "$(cat example.* | grep -c '"sweep"')" = 3
for example in example.*; do
    check_exit 0 "the document's $(head -c 60 "$example" | xargs -0)" "$H" run "$PFC" -n --set "sweep=$(jq -c .sweep <<<"{$(cat "$example")}")"
done
check_exit 0 "a zip" dry --set 'sweep={"zip":[{"flows.*.message":["1KiB","64KiB"],"flows.*.depth":[1024,16]}]}'
check "... has as many cells as values" test "$(cells | paste -sd ';')" = 'message 1KiB, depth 1024;message 64KiB, depth 16'
check_exit 0 "an exception" dry --set 'sweep={"flows.*.depth":[1,2,3],"flows.*.message":["1KiB","64KiB"],"except":[{"flows.*.message":"> 32KiB","flows.*.depth":">= 2"}]}'
check "... leaves its combinations out" test "$(cells | wc -l)" = 4
jq '.flows[0].rate="5Gb/s" | .sweep={"flows.a-to-b.rate":["1Gb/s","5Gb/s"],"flows.b-to-a":[{"rate":"2Gb/s"}],"except":[{"flows.a-to-b.rate":"< flows.b-to-a.rate"}]} | del(.expect, .published)' "$PFC" >paths.json
check_exit 0 "an exception between two paths, one of which an object sets" "$H" run paths.json -n
check "... leaves one cell" test "$(cells | paste -sd ';')" = 'rate 5Gb/s, b-to-a (rate 2Gb/s)'

# ---- cells that would be identical are refused
refused() { # WHAT SWEEP PATTERN ARGUMENTS
    check_exit 2 "$1 is refused" "$H" run "$PFC" -n --set "sweep=$2" "${@:4}"
    check_says "... and named" "$3" err
}
refused "a value that comes again" '{"flows.*.depth":[16,1024,16]}' 'sweep: flows\.\*\.depth: value 3, 16, is value 1, 16, again: their cells would be identical'
refused "... in another form" '{"flows.*.message":["64KiB","65536B"]}' 'flows\.\*\.message: value 2, "65536B", is value 1, "64KiB", again'
refused "... as another number" '{"flows.*.depth":[20,20.0]}' 'value 2, 20\.0, is value 1, 20, again'
refused "an axis that a later one overwrites" '{"flows.a-to-b.depth":[1,2],"flows.*.depth":[3,4]}' 'sweep: flows\.a-to-b\.depth changes nothing: flows\.\*\.depth, later in the sweep, sets it again'
refused "... that later ones overwrite together" '{"flows.*.depth":[1,2],"flows.a-to-b.depth":[3,4],"flows.b-to-a.depth":[5]}' 'sweep: flows\.\*\.depth changes nothing: flows\.b-to-a\.depth, later'
refused "... as a whole" '{"settings.pfc":[[0],[1]],"settings":[{"pfc":[2]},{"pfc":[3]}]}' 'sweep: settings\.pfc changes nothing: settings, later'
refused "... as an object" '{"flows.*":[{"message":"64KiB"},{"message":"65536B"}]}' 'flows\.\*: value 2, \{"message":"65536B"\}, is value 1, \{"message":"64KiB"\}, again'
refused "... in the lab" '{"lab.links.*":[{"rate":"25Gb/s"},{"rate":"25000Mb/s"}]}' 'lab\.links\.\*: value 2, .*, is value 1, .*, again'
refused "... of a part of a document" '{"sample":[{"every":"10ms"},{"every":"10000us"}]}' 'sample: value 2, .*, is value 1, .*, again'
refused "the default and its value" '{"flows.*.depth":[128,null]}' 'flows\.\*\.depth: value 2, null, is value 1, 128, again'
refused "... the other way round" '{"flows.*.queue_pairs":[null,1]}' 'flows\.\*\.queue_pairs: value 2, 1, is value 1, null, again'
refused "a set that names an item twice" '{"settings.pfc":[[0],[0,0]]}' 'settings\.pfc: value 2, \[0,0\], is value 1, \[0\], again'
refused "... in another order" '{"settings.pfc":[[1,0],[2],[0,1]]}' 'settings\.pfc: value 3, \[0,1\], is value 1, \[1,0\], again'
refused "one value that a later one overwrites" '{"flows.a-to-b.depth":[16],"flows.0.depth":[17]}' 'sweep: flows\.a-to-b\.depth changes nothing: flows\.0\.depth, later in the sweep, sets it again'
refused "... also beside it, in a zip" '{"zip":[{"flows.a-to-b.depth":[16,32],"flows.0.depth":[17,18]}]}' 'sweep: flows\.a-to-b\.depth changes nothing: flows\.0\.depth'
check_exit 0 "a list whose order counts may come in another" dry --set 'sweep={"settings":[{"ets":{"weights":[60,40]}},{"ets":{"weights":[40,60]}}]}'
check_exit 0 "an axis that is overwritten in part has cells of its own" dry --set 'sweep={"flows.*.depth":[1,2],"flows.a-to-b.depth":[3,4]}'
check "... four of them" test "$(cells | wc -l)" = 4
refused "what the document has already" '{"flows.*":[{"depth":1024},{"depth":1024,"op":"write"}],"flows.*.message":["1KiB","2KiB"]}' 'flows\.\*: value 2, .*, is value 1, .*, again'
check_exit 0 "a value that changes nothing by itself is not overwritten" dry --set 'sweep={"flows.*":[{"op":"write"},{"op":"send"}],"flows.*.message":["1KiB","2KiB"]}'
check_exit 0 "a value of a zip may come again beside others" dry --set 'sweep={"zip":[{"flows.*.message":["1KiB","1KiB"],"flows.*.depth":[1024,16]}]}'

# ---- a lab replaces what the scenario sets, neither what the request sets nor silently what is varied
jq '.scaled = {"flows.*.depth": 4}' "$ROOT/labs/sim-geforce-pair.json" >scaled.json
jq 'del(.sweep, .expect, .published) | .phases = {warmup: "10us", measure: "100us", cooldown: "1us"} | .flows[].depth = 16' "$PFC" >plain.json
used() { # ARGUMENTS: depths that the runs have, by message
    rm -rf used
    "$H" run plain.json --lab scaled.json --no-report --quiet --out used "$@" >/dev/null 2>err
    find used/*/latest/ -name result.json -exec cat {} + | jq -s -c '[.[].scenario.flows | [.[].depth, .[0].message]] | sort'
}
message=$(jq '.flows[0].message' plain.json)
check "a lab's scaled value is used" test "$(used)" = "[[4,4,$message]]"
check "... but for what --set sets within it" test "$(used --set flows.a-to-b.depth=9)" = "[[9,4,$message]]"
check "... or wider" test "$(used --set 'flows.*={"depth":9}')" = "[[9,9,$message]]"
check "... which a sweep still changes" test "$(used --set 'flows.*.message=8KiB' --set 'sweep.flows.*.message=["1KiB","2KiB"]')" = '[[4,4,"1KiB"],[4,4,"2KiB"]]'
check "... and which is not of its cells" test "$(find used/*/latest/ -name result.json -exec cat {} + | jq -c .scenario.sweep | sort -u)" = null
PFC=plain.json refused "a sweep of values that the lab makes the same" '{"flows.a-to-b.depth":[1,9]}' \
    'sweep\.flows\.a-to-b\.depth: lab .*scaled.json makes different values of it the same' --lab scaled.json
PFC=plain.json refused "... also drawn" '{"draw":{"count":3,"over":{"flows.*.depth":{"from":1,"to":600}}}}' 'makes different values of it the same' --lab scaled.json
check_exit 0 "... runs without scaled" "$H" run plain.json -n --lab scaled.json --set 'sweep.flows.*.depth=[1,9]' --set lab.scaled=null

# ---- draws
draw='{"draw":{"count":6,"seed":SEED,"over":{"flows.*.depth":{"from":1,"to":600},"flows.*.message":{"from":"1KiB","to":"1MiB","scale":"log"}}}}'
dry --set "sweep=${draw/SEED/4}"
cells >first
dry --set "sweep=${draw/SEED/4}"
check "a draw is the same for its seed" diff first <(cells)
check "... with as many cells as it counts" test "$(wc -l <first)" = 6
dry --set "sweep=${draw/SEED/5}"
check "... and another for another seed" test "$(cells)" != "$(cat first)"
few() { dry --set "sweep={\"draw\":{\"count\":$1,\"seed\":$2,\"method\":\"$3\",\"over\":{\"flows.*.depth\":{\"from\":1,\"to\":3},\"flows.*.op\":[\"write\",\"send\"]}}}"; }
check "no sample of few comes twice, whatever the method and seed" \
    test "$(for seed in 1 2 3 4 5; do for method in random latin-hypercube; do few 6 $seed $method && cells | sort -u | wc -l; done; done | sort | uniq -c | tr -s ' ')" = " 10 6"
few 5 7 random; cells >few; few 5 7 random
check "... and the same seed gives the same" diff few <(cells)
refused "more samples than there are" '{"draw":{"count":4,"over":{"flows.*.depth":{"from":1,"to":3}}}}' 'sweep.draw: count: 4 samples are wanted, and no more than 3 different ones were found in the ranges'
check "each sixth of the range has one" test "$(awk -F '[ ,]+' '{print int(($2 - 1) / 100)}' first | sort -n | paste -sd ' ')" = "0 1 2 3 4 5"

# ---- merging: what the cell ran with
check_exit 0 "objects of a sweep and of --set" "$H" run dcqcn-choices --set 'sweep={"settings.dcqcn.rp":[{"rpg_ai_rate":1},null,{"rpg_min_rate":null}]}' \
    --set 'settings.dcqcn={"np":{"min_time_between_cnps":7}}' --out "$SCRATCH/results" --no-report
settings() { jq -c '.scenario.settings.dcqcn' "$SCRATCH/results/dcqcn-choices/latest/$1/result.json"; }
check "are merged" test "$(settings 01 | jq -c '[.rp.rpg_ai_rate, .rp.rpg_min_rate, .np.min_time_between_cnps]')" = '[1,100,7]'
check "null removes an object" test "$(settings 02 | jq -c '[.rp.rpg_ai_rate, .rp.rpg_min_rate]')" = '[null,null]'
check "null in an object removes a key" test "$(settings 03 | jq -c '[.rp.rpg_ai_rate, .rp.rpg_min_rate]')" = '[20,null]'
check_exit 0 "--set sweep={} leaves nothing to vary" "$H" run dcqcn-choices -n --set 'sweep={}'
check "... one cell" test "$(cells)" = "without changes"

# ---- the scenario that has each kind, and conditions that compare
check_exit 0 "each kind of choice" "$H" run dcqcn-choices --out "$SCRATCH/each" --no-report
"$H" run dcqcn-choices -n >out 2>err
check "the cells that -n prints are those of the index" test "$(jq '.cells | length' each/dcqcn-choices/latest/index.json)" = "$(cells | wc -l)"
verdicts() { jq -r --arg depth "$1" '.cells[] | select(.cell["traffic.pair.depth"] == ($depth | tonumber)) | .folder' each/dcqcn-choices/latest/index.json |
    while read -r folder; do jq -r '.expectations[2] | "\(.verdict) \(.reason)"' "each/dcqcn-choices/latest/$folder/result.json"; done | sort -u; }
check "a comparison holds for what it says" grep -q '^passed' <(verdicts 24)
check "... and for nothing else" test "$(verdicts 8)" = "skipped only when traffic.pair.message is 16KiB, and traffic.pair.depth > 16"

# ---- settings of all hosts, of one by its place, and of one by its name, which is the most exact
mtus() { # settings_of
    dry --json --set 'sweep=null' --set 'roles=["*"]' --set "settings_of=$1"
    jq -c '.scenario.settings_of | map_values(.mtu)' out
}
check "* in settings_of is every host" test "$(mtus '{"*": {"mtu": 1500}}')" = '{"a":1500,"b":1500}'
check "... less exact than a place, and this than a name" test "$(mtus '{"a": {"mtu": 1024}, "*0": {"mtu": 2048}, "*1": {"mtu": 4096}, "*": {"mtu": 1500}}')" = '{"a":1024,"b":4096}'
check_exit 2 "a place that the lab does not have" dry --set 'settings_of={"*7": {"mtu": 1500}}'
check_says "... is named" 'settings_of: "[*]7": lab .* has 2 hosts that can send' err
# ---- a million runs: repetitions count
check_exit 2 "10^7 runs of 1000 cells are asked about" dry --set 'sweep={"flows.*.depth": {"from": 1, "to": 1000, "step": 1}}' --repeat 10000
check_says "... by their number" '10000000 runs, of 1000 cells 10000 times, are more than 1000000: if they are meant, add --yes' err

finish
