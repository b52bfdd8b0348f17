#!/usr/bin/env bash
# harness browse: real (simulated) runs, and what is not a whole result, as a table, as JSON and as a page.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/../lib.sh"
skip_unless "runs are listed" jq script
H=$BUILD/harness
cd "$SCRATCH" || exit 2

check_exit 2 "a folder that does not exist" "$H" browse
check_says "  is named" 'results' err
mkdir results
check_exit 0 "an empty folder has no runs" "$H" browse
check_says "  which is said" '^no runs in results$' out
"$H" run "$ROOT/scenarios/pfc-bidir.json" --duration 50ms --no-report --quiet >run.log 2>&1
"$H" run "$ROOT/scenarios/incast-pfc.json" --duration 1ms --set sample.every=200us --no-report --quiet >>run.log 2>&1
"$H" run "$ROOT/scenarios/incast-pfc.json" --duration 1ms --set sample.every=200us --no-report --quiet --set settings.pfc=[] --set 'expect=[{"name": "n", "check": "sum(flows.*.goodput_bps) < 0"}]' --set 'capture={"limit": "1MB"}' --set 'verify=["icrc", "pfc"]' >>run.log 2>&1
pair=$(cd results && echo pfc-bidir/2*Z)
single=$(basename "$(find results/incast-pfc -maxdepth 1 -name '2*' | sort | head -n 1)")
if ! [ -s "results/$pair/02/result.json" ] || ! [ -s "results/incast-pfc/$single/result.json" ]; then
    nok "results" "$(cat run.log)"
    finish
fi
forget_files results/*/2*Z/0? "results/incast-pfc/$single"

# ---- figures
check_exit 0 "runs are listed" "$H" browse --json
cp out list.json
check "each once: links are not followed" jq -e '.runs | length == 4 and (map(.folder) | unique | length) == 4' list.json
wrong=
while IFS= read -r folder; do
    judged=$(jq -c --arg name "$(basename "$folder")" '[.repeated[]? | select(.folders | index($name)) | .expectations[]]' "results/$(dirname "$folder")/index.json" 2>/dev/null)
    jq -e --arg folder "$folder" --slurpfile list list.json --argjson judged "${judged:-[]}" '
        ($list[0].runs[] | select(.folder == $folder)) as $run |
        $run.verdict == .verdict and $run.scenario == .scenario.name and $run.lab == .lab.name and $run.started == .started and
        $run.origin == "simulated" and $run.cell == .cell and
        $run.pauses == ([.hosts[].counters | to_entries[] | select(.key | test("^rx_prio[0-7]_pause$")) | .value.delta] | add) and
        $run.expectations.failed == ([.expectations[], .verify[]?, $judged[] | select(.verdict == "failed")] | length) and
        $run.expectations.passed == ([.expectations[], .verify[]?, $judged[] | select(.verdict == "passed")] | length) and
        $run.goodput_bps > 1e9 and ([.flows[].latency_ns.p99 // empty] | max as $p99 |
            if $p99 then ($run.latency_p99_us * 1000 - $p99 | fabs) < 1 else $run.latency_p99_us == null end)' \
        "results/$folder/result.json" >/dev/null || wrong+="$folder "
done < <(jq -r '.runs[].folder' list.json)
if [ -z "$wrong" ]; then ok "their figures are those of the results"; else nok "their figures are those of the results" "$wrong: $(cat list.json)"; fi
# shellcheck disable=SC2016 # jq's variables
check "goodput is that of all flows" jq -e --slurpfile result "results/$pair/02/result.json" --arg folder "$pair/02" '(.runs[] | select(.folder == $folder).goodput_bps) as $sum | ([$result[0].flows[].goodput_bps] | add) - $sum | fabs < 1' list.json

# A flow that ends has the rate of its own time: what it moved in the measure phase counts here as elsewhere.
"$H" run "$ROOT/scenarios/pfc-bidir.json" --out ends --duration 2ms --no-report --json --set phases.warmup=0ms --set sweep=null --set expect=null --set published=null --set flows.a-to-b.size=1MiB >index.json 2>>run.log
# shellcheck disable=SC2016 # jq's variables
check "a flow that ends counts by what it moved in the measure phase" jq -e --slurpfile index index.json '.runs[0].goodput_bps as $sum |
    ($index[0].cells[0] | .total.goodput_bps == $sum and .flows["a-to-b"].goodput_bps > 2 * (1048576 * 8 / 0.002) and $sum < .flows["a-to-b"].goodput_bps + .flows["b-to-a"].goodput_bps)' <("$H" browse ends --json)

check "the verdicts of checkers are counted with the expectations'" jq -e '[.runs[].expectations | .passed + .failed + .skipped] | index(3) != null' list.json

# ---- filters and orders
mkdir two
jq '.cell = {"flows.x.memory": "host", "flows.y.memory": "gpu"}' "results/$pair/01/result.json" >two/result.json
folders() { "$H" browse "$@" --json | jq -r '[.runs[].folder] | join(" ")'; }
is() { # what, WANTED, ARGUMENT...
    local what=$1 wanted=$2 found
    shift 2
    found=$(folders "$@")
    if [ "$found" = "$wanted" ]; then ok "$what"; else nok "$what" "$found, expected $wanted"; fi
}
is "of a scenario" "$pair/01 $pair/02" --scenario 'pfc-*'
is "of a lab" "$pair/01 $pair/02" --lab 'sim-geforce*'
is "with a choice" "$pair/02" --where memory=gpu
is "with a choice by its whole path" "$pair/01" --where 'flows.*.memory=host'
is "with a value in another unit" "$pair/02" --where memory=gpu --where settings.cable=100cm
check "either of two choices whose paths end alike" test "$(for m in host gpu none; do "$H" browse two --where memory=$m --json | jq '.runs | length'; done | tr -d '\n')" = 110
is "with a value of the scenario" "$pair/02" --where memory=gpu --where settings.cable=1m
is "with another" "" --where memory=gpu --where settings.cable=2m
is "with a number in another form" "$pair/02" --where memory=gpu --where 'flows.*.depth=1.28e2'
check "with a list as JSON and as the column of choices shows it" test "$(for v in none '[]' 3 '[3]' '3 and 4' 4; do
    jq --argjson ecn "$([[ $v == *3* ]] && { [[ $v == *4* ]] && echo '[3, 4]' || echo '[3]'; } || echo '[]')" '.cell = {"settings.ecn": $ecn}' "results/$pair/01/result.json" >two/result.json
    "$H" browse two --where "ecn=$v" --json | jq '.runs | length'
done | tr -d '\n')" = 111110
is "with a value of one flow" "$pair/02" --where memory=gpu --where flows.a-to-b.depth=128
is "with a value of all flows" "$pair/02" --where memory=gpu --where 'flows.*.message=65536B'
is "with a value of the lab" "$pair/02" --where memory=gpu --where 'lab.defaults.link.rate=25000Mb/s'
is "with another of it" "" --where memory=gpu --where 'lab.defaults.link.rate=40Gb/s'
is "with one that not all have" "" --where memory=gpu --where 'flows.*.from=a'
check_exit 2 "a comparison, which --where has not" "$H" browse two --where 'message=>= 4KiB'
check_says "  is not taken for a value" 'a value is expected, not a comparison' "$SCRATCH/err"
check "with a verdict" test "$("$H" browse --verdict failed --json | jq -r '[.runs[].verdict] | unique | join(" ")')" = failed
check "one of two verdicts" test "$("$H" browse --verdict failed --verdict passed --json | jq '.runs | length')" -ge 2
is "since a day that is to come" "" --since 2999-01-01
check "since a while ago" test "$("$H" browse --since 1h --json | jq '.runs | length')" = 4
check "the newest first" jq -e '.runs | map(.started) | . == (sort | reverse)' list.json
for folder in 20260301T120000Z 20260301T120000Z-2 20260301T120000Z-10; do
    mkdir -p "second/same/$folder" && jq '.started = "2026-03-01T12:00:00Z"' "results/$pair/02/result.json" >"second/same/$folder/result.json"
done
check "also of those that began in the same second" test "$("$H" browse second --json | jq -r '[.runs[].folder | ltrimstr("same/20260301T120000Z")] | join(" ")')" = "-10 -2 "
check "by pauses, the most first" jq -e '.runs | map(.pauses) | . == (sort | reverse)' <("$H" browse --sort pauses --json)
check "by goodput, the least first" jq -e '.runs | map(.goodput_bps) | . == sort' <("$H" browse --sort goodput --reverse --json)
check "a run alone" test "$("$H" browse "results/$pair/01" --json | jq -r '.runs[0].folder')" = .
is "a sweep alone" "01 02" "results/$pair"
mkdir later && cp -rL "results/$pair" later/20260301T120000Z
jq '.started = "2099-01-01T00:00:00Z"' "results/$pair/02/result.json" >later/20260301T120000Z/02/result.json
check "the runs of a sweep are in its order, also where one began much later" test "$("$H" browse later --json | jq -r '[.runs[].folder] | join(" ")')" = "20260301T120000Z/01 20260301T120000Z/02"
check_exit 0 "few of them" "$H" browse --limit 1
check_says "  and how many more there are" '3 more runs: --limit is 1' err
check_exit 2 "an unknown verdict" "$H" browse --verdict pased
check_says "  is named" '--verdict: "pased" is unknown: expected one of "passed", .*did you mean "passed"' err
check_exit 2 "a setting without a value" "$H" browse --where memory
check_exit 2 "a time that is none" "$H" browse --since yesterday
check_exit 2 "two kinds of output" "$H" browse --json --html x.html

# ---- what is not a whole result is listed with its reason
mkdir -p odd/pfc-bidir/20260301T120000Z/07 odd/other/a odd/broken odd/newer odd/cut odd/fifo odd/link odd/report-with-x odd/deep/1/2/3/4/5/6/7
cp "results/$pair/02/run.log" odd/pfc-bidir/20260301T120000Z/07/
echo '{"a": 1}' >odd/other/a/result.json
echo '[' >odd/broken/result.json
jq '.schema = 2' "results/$pair/02/result.json" >odd/newer/result.json
head -c 3000 "results/$pair/02/result.json" >odd/cut/result.json
mkfifo odd/fifo/result.json
ln -s "$SCRATCH/results/$pair/02/result.json" odd/link/result.json
cp "results/$pair/02/result.json" odd/report-with-x/
cp "results/$pair/02/result.json" odd/deep/1/2/3/4/5/6/7/
ln -s "$SCRATCH/results/pfc-bidir" odd/elsewhere
name=$(printf 'x\xff<b>&"\033[2J')
mkdir -p "odd/$name"
jq --arg esc $'\x1b[31m<script>alert(1)</script>"\n' '.scenario.name = $esc | .lab.name = "javascript:\($esc)" | .cell = {($esc): $esc} | .verdict = "passed"' "results/$pair/02/result.json" >"odd/$name/result.json"
jq '.hosts = 1 | .flows = [] | .cell = "x" | .expectations = 7 | .started = 5 | .scenario = {"name": []}' "results/$pair/02/result.json" >odd/types.json
mkdir odd/types && mv odd/types.json odd/types/result.json
check_exit 0 "odd results do not end the list" timeout 60 "$H" browse odd --json
jq -r '.runs[] | "\(.folder) \(.verdict) \(.reason // "") \(.started // "")"' out >odd.list
check_says "  unfinished, with the time of its folder" '^pfc-bidir/20260301T120000Z/07 unfinished there is no result.json.* 2026-03-01T12:00:00Z$' odd.list
check_says "  foreign" '^other/a broken .*has no scenario' odd.list
check_says "  no document" '^broken broken .*result\.json' odd.list
check_says "  of a newer program" '^newer broken .*newer harness' odd.list
check_says "  cut" '^cut broken ' odd.list
check_says "  a FIFO" '^fifo broken .*not a regular file' odd.list
check_says "  a link" '^link broken .*not a regular file' odd.list
check_says "  values of other types" '^types passed ' odd.list
check "  and nothing behind links, in pages and very deep" bash -c "! grep -E '^(elsewhere|report-with-x|deep)' odd.list"
check "a scenario's filter knows the unfinished by its folder" test "$("$H" browse odd --scenario pfc-bidir --verdict unfinished --json | jq '.runs | length')" = 1

# ---- why a run has no figures, beside what it was
"$H" run numa-near-far --no-report --quiet --out skipped >>run.log 2>&1
check_exit 0 "a sweep whose lab lacks what it needs" "$H" browse skipped
check_says "... says why in its line" ' 6 runs: 3 passed, 3 skipped .* 0[1-6]: lab sim-geforce-pair lacks numa: ' out
check_exit 0 "... and its runs" "$H" browse skipped --cells
check "its skipped rows have their choices, and the reason" test "$(grep -c ' numa far  .*lab sim-geforce-pair lacks numa: ' out) $(grep -oE 'mode [a-z]+, message [0-9A-Za-z]+, numa far' out | sort -u | wc -l)" = "3 3"
"$H" browse skipped --html skipped.html >/dev/null
check "... on the page too" grep -q 'numa far</td><td data-t="reason">lab sim-geforce-pair lacks numa: ' skipped.html
check_exit 0 "a run that was skipped has a page" "$H" browse skipped --verdict skipped --cells --page 1

check_exit 0 "the page of the sweep" "$H" report skipped/numa-near-far/latest
check "... has the reason once, with how many runs have it" grep -q '<li>lab sim-geforce-pair lacks numa: .* <span class=soft>(skipped: mode bandwidth, message 4KiB, numa far, and 2 more runs)</span></li>' skipped/numa-near-far/latest/report/index.html
check "... and sweep.csv in each row" test "$(python3 -c 'import csv, sys; print(sum("lacks numa" in r["reason"] for r in csv.DictReader(open(sys.argv[1]))))' skipped/numa-near-far/latest/report/sweep.csv)" = 3
check "... and the index in each cell" jq -e '[.cells[] | select(.verdict == "skipped") | .reason | startswith("lab sim-geforce-pair lacks numa: ")] == [true, true, true]' skipped/numa-near-far/latest/index.json

# ---- a table for terminals
check_exit 0 "a table" "$H" browse odd
check "has no escape sequences, and a line for each run" bash -c "! grep -qP '[\x00-\x08\x0b-\x1f]' out && [ \$(wc -l <out) = \$((\$(wc -l <odd.list) + 1)) ]"
wide=
for columns in 60 80 100 132 200; do
    script -qec "stty cols $columns && '$H' browse results --cells" /dev/null </dev/null | tr -d '\r' >table
    [ "$(wc -l <table)" = 5 ] || wide+="$columns: $(wc -l <table) lines; "
    awk -v most="$columns" 'length($0) > most { exit 1 }' table || wide+="$columns: $(awk '{ print length($0) }' table | sort -n | tail -n 1); "
    [ "$columns" != 80 ] || grep -q 'N .*STARTED.*VERDICT.*SCENARIO.*LAB.*VARIED.*GOODPUT.*PAUSES' table || wide+="80: $(head -n 1 table)"
    [ "$columns" != 200 ] || grep -q "FOLDER" table || wide+="200: $(head -n 1 table)"
done
if [ -z "$wide" ]; then ok "fits 60, 80, 100, 132 and 200 columns"; else nok "fits 60, 80, 100, 132 and 200 columns" "$wide"; fi

# ---- a sweep is a line
for columns in 80 200; do
    script -qec "stty cols $columns && '$H' browse results" /dev/null </dev/null | tr -d '\r' >table
    check "at $columns columns the runs of a sweep are one line, with their verdicts" test "$(wc -l <table) $(grep -cE ' 2 runs: 2 passed ' table)" = "5 1"
    check "... which says how its runs are listed" grep -qx "harness: runs of sweep 3: harness browse results/$pair" table
    # shellcheck disable=SC2016 # awk's
    check "... and fits" awk -v most="$columns" 'length($0) > most { exit 1 }' table
done
mkdir "it's" && cp -r "results/${pair%%/*}" "it's"
"$H" browse "it's" >listed 2>&1
check "in words that a shell reads" test "$(sed -n 's/^harness: runs of sweep [0-9]*: //p' listed)" = "harness browse 'it'\\''s/$pair'"
check_exit 0 "its runs" "$H" browse "results/$pair"
check "... are all there" test "$(grep -cE ' memory (host|gpu) ' out)" = 2
check_exit 0 "what is asked by a setting is its runs" "$H" browse results --where memory=gpu
check "... and no sweep" test "$(grep -c ' memory gpu ' out) $(grep -c 'runs:' out)" = "1 0"
"$H" run pfc-bidir --set phases.warmup=100ms --duration 4ms --set phases.cooldown=2ms --no-report --quiet --out ended --set "expect=[{\"name\": \"moves\", \"check\": \"min(flows.*.bytes) > 0\"}, {\"name\": \"as fast\", \"when\": {\"flows.*.memory\": \"gpu\"}, \"check\": \"sum(flows.*.goodput_bps) / other(sum(flows.*.goodput_bps)) > 99%\", \"against\": {\"flows.*.memory\": \"host\"}}]" >>run.log 2>&1
ended=$(readlink -f ended/pfc-bidir/latest)
check_exit 0 "a sweep that failed at its end" "$H" browse ended
check "... counts as harness status does" test "$(grep -oE '2 runs: 1 failed, 1 passed  .* 02: failed at the end of the sweep: as fast ' out | cut -c1-26) $("$H" status --json "$ended" | jq -c '[.verdicts.failed, .verdicts.passed]')" = "2 runs: 1 failed, 1 passed [1,1]"
check_exit 0 "its page is the sweep's" "$H" browse ended --page 1
check "... which is drawn in its folder" test "$(realpath "$(tail -n 1 out)")" = "$ended/report/index.html"

# ---- a sweep that is not whole
"$H" run pfc-bidir --repeat 1000 --jobs 1 --set sweep=null --set published=null --set 'expect=[{"name": "moves", "check": "min(flows.*.bytes) > 0"}]' --duration 4ms --set phases.warmup=2ms --set phases.cooldown=2ms --no-report --quiet --out broken-off >>run.log 2>&1 &
victim=$!
for _ in $(seq 1000); do
    [ -z "$(find broken-off -path '*/02/result.json' 2>/dev/null)" ] || break
    sleep 0.02
done
kill -STOP $victim
check_exit 0 "a sweep that has not ended" "$H" browse broken-off
check "... says so" grep -qE ' unfinished .* [0-9]+ of 1000 runs: .*  it has not ended: it is running, or it was killed$' out
kill -CONT $victim
kill -INT $victim
wait $victim
off=$(echo broken-off/pfc-bidir/2*Z)
there=$(find "$off" -mindepth 1 -maxdepth 1 -name '[0-9]*' | wc -l)
check_exit 0 "a sweep after Ctrl-C" "$H" browse broken-off
check "... is incomplete: how many of its runs are there, and why" grep -qE " incomplete .* $there of 1000 runs: .*[0-9]+ passed .*  interrupted( while in phase [a-z]+)?\$" out
check "... whichever verdict is asked for" test "$("$H" browse broken-off --verdict incomplete | grep -c ' of 1000 runs: ') $("$H" browse broken-off --verdict passed --verdict failed)" = "1 no runs in broken-off fit these options"
check "... on the page too" grep -qE ">$there of 1000 runs: .*>interrupted( while in phase [a-z]+)?<" <("$H" browse broken-off --html broken-off.html >/dev/null && tr -d '\n' <broken-off.html)
# shellcheck disable=SC2016 # jq's variables
check "... beside its runs in JSON" jq -e --argjson there "$there" '(.not_whole[].reason |= sub(" while in phase [a-z]+$"; "")) | .not_whole == [{folder: .runs[0].folder[:-3], verdict: "incomplete", reason: "interrupted", runs: 1000, found: $there}] and (.runs | length) == $there' <("$H" browse broken-off --json)
check_exit 0 "its runs stay what they are" "$H" browse broken-off --cells --verdict passed
check "... all that are whole" test "$(grep -c ' passed ' out)" -ge 2
check_exit 0 "the sweep's own folder" "$H" browse "$off"
check_says "... says it, too" "the sweep in $off is incomplete, with $there of 1000 runs: interrupted" err
rm -r "$off"/[0-9]*
check_exit 0 "a sweep without any run" "$H" browse broken-off
check_says "... is listed" ' incomplete .*pfc-bidir .* 0 of 1000 runs .* interrupted' out
cp -r ended less
rm -r less/pfc-bidir/*Z/02
check_exit 0 "a sweep whose run 02 is gone" "$H" browse less
check_says "... is incomplete, not passed" ' incomplete .* 1 of 2 runs: 1 passed .* 1 run is missing' out
jq 'del(.runs)' less/pfc-bidir/latest/index.json >index && cp index less/pfc-bidir/latest/index.json
check_exit 0 "one whose index does not say how many it has" "$H" browse less
check_says "... lists them" ' incomplete .* 1 of 2 runs: 1 passed .* 1 run is missing' out
echo '{' >less/pfc-bidir/latest/index.json
check_exit 0 "one whose index cannot be read" "$H" browse less
check_says "... is broken, and says why" ' broken .* 1 run: 1 passed .*/index\.json' out

# ---- folders that cannot be opened
cp -r ended shut
shut=$(echo shut/pfc-bidir/*Z)
cp "$H" reader
chmod -R a+rX .
as_user=()
[ "$(id -u)" != 0 ] || as_user=(setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all --bounding-set=-all)
if [ "$(id -u)" != 0 ] || command -v setpriv >/dev/null; then
    for mode in 000 444; do
        chmod $mode "$shut/02"
        check_exit 0 "a run of a sweep with mode $mode" "${as_user[@]}" ./reader browse shut
        check_says "... is broken, with the reason" ' broken .* 2 runs: 1 broken, 1 passed .* 02: .*/02: Permission denied' out
        chmod 755 "$shut/02"
        chmod $mode "$shut"
        check_exit 1 "another folder with mode $mode" "${as_user[@]}" ./reader browse shut
        check_says "... is named" "warning: .*the folder $shut: Permission denied: runs in it are not listed" err
        chmod 755 "$shut"
    done
else
    skip "folders that cannot be opened" no-command setpriv
fi

# what was not counted in any run leaves its room to what was varied
"$H" run write-sweep --no-report --quiet --duration 100us --set phases.warmup=0s --set 'expect=[{"name": "it ran", "check": "sum(flows.*.bytes) >= 0"}]' --set published=null --set 'sweep={"flows.*.memory": ["host", "gpu"], "flows.*.message": ["64KiB", "1MiB"]}' --out uncounted >>run.log 2>&1
script -qec "stty cols 110 && '$H' browse uncounted --cells" /dev/null </dev/null | tr -d '\r' >table
check "columns without a value are left out before choices are cut" test "$(grep -coE ' memory (host|gpu), message (64KiB|1MiB) ' table) $(grep -c PAUSES table)" = "4 0"
"$H" browse results >/dev/full 2>err
check "a full disk is a failure" test $? != 0

# ---- a page
check_exit 0 "a page beside the results" "$H" browse results --html results/index.html
check "links them by their folders" grep -q "href=\"./$pair/02/\"" results/index.html
check "... and the sweep by its own, with what opens its runs without a script" grep -q "^<tr><td><a href=\"./$pair/\">[^<]*</a><br><label><input type=checkbox> show 2 runs</label>" results/index.html
check_exit 2 "it is not replaced" "$H" browse results --html results/index.html
echo mine >mine.html
check_exit 2 "nor is what is no page, also with --force" "$H" browse results --html mine.html --force
check "... and it stays" grep -qx mine mine.html
for time in 2026-02-31 2026-03-01T25:00 2026-13 2026-03-01T12:60; do
    check_exit 2 "no time: $time" "$H" browse results --since "$time"
done
check_exit 0 "a leap day" "$H" browse results --since 2024-02-29T23:59
check_exit 0 "a setting that no run has" "$H" browse results --where setings.pfc=3
check_says "... is named" '--where: no run has setings.pfc: .*did you mean "settings"' err
check_exit 0 "a setting with a value that no run has" "$H" browse results --where settings.mtu=9999
check "... is not" eval '! grep -q "no run has" err'
check_exit 0 "without --force" "$H" browse results --html results/index.html --force
check_exit 0 "a page elsewhere" "$H" browse odd --html odd.html
check "links by whole paths, quoted" grep -qF "href=\"file://$SCRATCH/odd/x%FF%3Cb%3E%26%22%1B%5B2J/\"" odd.html
check "has no markup and no controls of the results" bash -c "! grep -qE '<(b|script)>a|<b>|javascript:[^&]*\"' odd.html && ! grep -qP '[\x00-\x08\x0b-\x1f]' odd.html"
if command -v xmllint >/dev/null; then
    check "its links are those of the runs" test "$(xmllint --html --xpath 'count(//tbody/tr/td/a/@href)' odd.html 2>/dev/null)" = "$(wc -l <odd.list)"
else
    skip "its links are those of the runs" no-command xmllint
fi

check_exit 0 "a page of few of them" "$H" browse results --html few.html --limit 1
check "has no more" test "$(grep -c '<tr' few.html)" = 2
check_says "... and says of how many they are" '1 of 4 runs below <code>.*</code>, up to its limit' few.html
check_says "  and how many more there are is said" '3 more runs: --limit is 1' err

# ---- a run's page
first=$(folders | cut -d ' ' -f 1)
check_exit 0 "the page of the first run is drawn" "$H" browse results --page 1
check "  and its path printed" test "$(realpath "$(tail -n 1 out)")" = "$SCRATCH/results/$first/report/index.html"
check "  it is there" test -s "results/$first/report/index.html"
check "  and listed" jq -e '.runs[0].page' <("$H" browse results --json)
touch -d 2026-01-01 "results/$first/report/index.html"
check_exit 0 "it is not drawn again" "$H" browse results --page 1
check "  but shown" test "$(stat -c %Y "results/$first/report/index.html")" = "$(date -d 2026-01-01 +%s)"
mkdir bin
printf '#!/bin/sh\nprintf "%%s\\n" "$@" >"%s/opened"\n' "$SCRATCH" >bin/xdg-open
chmod +x bin/xdg-open
check "nothing is opened unless it is asked for" test ! -e opened
PATH=$SCRATCH/bin:$PATH check_exit 0 "--open opens it" "$H" browse results --open 1
check "  by its path alone" test "$(cat opened)" = "results/$first/report/index.html"
check_exit 2 "a number that is not in the list" "$H" browse results --page 99
check_says "  is named" 'no run 99 in the list: it has 3' err
check_exit 2 "an unfinished run has no page" "$H" browse odd --verdict unfinished --page 1
check_says "  and the sentence says why" 'is unfinished and has no page' err

# ---- many
mkdir -p many/incast-pfc/20260101T000000Z
for i in $(seq 1000); do mkdir "many/incast-pfc/20260101T000000Z/$i"; done
for i in $(seq 1000); do ln "results/incast-pfc/$single/result.json" "many/incast-pfc/20260101T000000Z/$i/"; done
few=$(python3 -c 'import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL); print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)' "$H" browse results)
much=$(python3 -c 'import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL); print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)' "$H" browse many)
if skip_reason sanitized "$H" >/dev/null; then
    skip "1000 runs take little memory" sanitized "$H"
elif [ "$((much - few))" -lt 20000 ]; then
    ok "1000 runs take little memory"
else
    nok "1000 runs take little memory" "$much KB, of 4 runs $few KB"
fi
finish
