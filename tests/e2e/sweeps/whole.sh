#!/usr/bin/env bash
# A result is published when all that it speaks of is on the disk, and says which files those are: one whose files were cut, emptied, removed
# or grown since is not whole, for whoever reads it.
# shellcheck disable=SC2317 # functions are called by name
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/../lib.sh"
skip_unless "whole results" jq
H=$BUILD/harness
cd "$SCRATCH" || exit 2
RUN=("$ROOT/scenarios/incast-pfc.json" --duration 1ms --set 'capture={"limit": "1MB"}' --no-report --quiet)

# ---- the list
"$H" run "${RUN[@]}" --repeat 2 --out made >run.out 2>&1
good=$(readlink -f made/incast-pfc/latest)
[ -s "$good/02/result.json" ] || { nok "a sweep of two runs" "$(cat run.out)" && finish; }
sizes() { (cd "$1" && stat -c '%n %s' ./* | sed 's,^\./,,' | grep -v '^result.json ' | LC_ALL=C sort); }
listed() { jq -r '.files[] | "\(.name) \(.bytes)"' "$1/result.json"; }
check "a result lists each file of its run with its size" diff <(listed "$good/01") <(sizes "$good/01")
check "  and they are those that the documents name" test "$(listed "$good/01" | cut -d' ' -f1 | xargs)" = \
    "capture.pcapng flows.jsonl pauses.jsonl run.log samples.jsonl settings.json"
check_exit 0 "its sweep is whole" "$H" status "$good"

# ---- readers
damaged() { # WHAT SENTENCE: of the file in case/01
    check_exit 1 "$1: the sweep is not whole" "$H" status case
    check_says "  status says which run" '^ *1 broken' out
    check_says "  and why" "case/01: $2" out
    check "  also in its document" test "$("$H" status case --json | jq -r '.runs.broken, .broken' | grep -cE "^1$|case/01: $2")" = 2
    check_exit 1 "  a report is drawn, and says it" "$H" report case/01 --out page
    check_says "  on the terminal" "case/01: $2: the run is not whole" err
    check_says "  and on the page" "is incomplete:.*$2" page/index.html
    check_exit 1 "  a trace says it" "$H" trace case/01 --out trace
    check_says "  with the same sentence" "case/01: $2" err
    check_exit 1 "  an export says it" "$H" export case --tables runs --format csv --out rows --force
    check_says "  with the same sentence" "case/01: $2" err
    check "  and so does its table of runs" test "$(grep -cE ",incomplete,.*$2" rows/runs.csv)" = 1
    check "  browse lists it as incomplete" test "$("$H" browse case --json | jq -r '.runs[] | select(.verdict == "incomplete") | .reason' | grep -cE "$2")" = 1
}
fresh_case() {
    rm -rf case
    cp -r "$good" case
}
bytes=$(stat -c %s "$good/01/samples.jsonl")
fresh_case
truncate -s -1 case/01/samples.jsonl
damaged "samples that were cut" "samples.jsonl has $((bytes - 1)) bytes, and had $bytes when the run ended"
fresh_case
: >case/01/samples.jsonl
damaged "samples that are empty" "samples.jsonl has 0 bytes, and had $bytes when the run ended"
fresh_case
rm case/01/samples.jsonl
damaged "samples that are missing" "samples.jsonl is missing: the run wrote $bytes bytes of it"
fresh_case
tail -n 1 "$good/01/samples.jsonl" >>case/01/samples.jsonl
damaged "samples that grew" "samples.jsonl has [0-9]+ bytes, and had $bytes when the run ended"
for file in flows.jsonl pauses.jsonl settings.json run.log capture.pcapng; do
    fresh_case
    rm "case/01/$file"
    check_exit 1 "without $file a sweep is not whole either" "$H" status case
    check_says "  and the sentence names it" "$file is missing" out
done
fresh_case
jq '.files[0].name = "../../precious"' "$good/01/result.json" >case/01/result.json
check_exit 1 "a list that names what is not in the folder" "$H" status case
check_says "  is said" 'files\[0\]: expected the name of a file and its bytes' out

edited() { # WHAT FILTER SENTENCE: of result.json
    fresh_case
    jq "$2" "$good/01/result.json" >case/01/result.json
    damaged "$1" "$3"
}
edited "a list without files" '.files = []' 'result.json: files: run.log is not among them, and is in the folder'
edited "a list without the samples" '.files |= map(select(.name != "samples.jsonl"))' 'result.json: files: samples.jsonl is not among them, and is in the folder'
edited "a completeness that is a text" '.complete = "yes"' 'result.json: complete: expected true or false'
edited "no completeness" 'del(.complete)' 'result.json: complete: expected true or false'
edited "a phase that begins before the one before it ends" '.phases[1].start_ns -= 1' 'result.json: phases\[1\] starts at [0-9]+ ns, and what is before it ends at [0-9]+ ns'
edited "a phase that ends before it starts" '.phases[1].end_ns = .phases[1].start_ns - 1' 'result.json: phases\[1\] is from [0-9]+ to [0-9]+ ns: it ends before it starts'

# ---- a file of the size that it had: its end is zeros, or a line in it is damaged
for file in samples flows pauses; do
    fresh_case
    end=$(stat -c %s "case/01/$file.jsonl")
    dd if=/dev/zero of="case/01/$file.jsonl" bs=1 seek=$((end - 40)) count=40 conv=notrunc status=none
    check_exit 1 "a $file.jsonl that ends in zeros: the sweep is not whole" "$H" status case
    check_says "  which is said" "case/01: $file.jsonl: its last line, at byte $end, has no end" out
done
damaged "pauses that end in zeros" "pauses.jsonl: its last line, at byte $end, has no end"
check_exit 0 "a resume makes the run again" "$H" run --resume case --no-report --quiet
check_exit 0 "  and the sweep is whole" "$H" status case
damaged_line() { # FILE SENTENCE: of the file in case/02, for all that read it
    check_exit 1 "explain of a sweep with a damaged $1" "$H" explain case
    check_says "  says it" "case/02: $1:$2.*: the run is not whole" err
    check_says "  of that run alone" '^not known: the run is not complete' out
    for command in "report case --out page" "report case/02 --out page" "trace case" "trace case/02" "export case --format csv --out rows --force"; do
        # shellcheck disable=SC2086 # words of a command
        check_exit 1 "  so does $command" "$H" $command
        check_says "  with the same sentence" "case/02: $1:$2.*: the run is not whole" err
    done
    check "  all of the other run is exported" test "$(grep -c ^1, rows/samples.csv)" = "$samples"
    check "  whose row has its verdict" test "$(cut -d, -f1-14 rows/runs.csv | grep -c ',incomplete')" = 1
}
"$H" export "$good" --format csv --out rows --force >out 2>&1
samples=$(grep -c ^1, rows/samples.csv)
fresh_case
line=$(grep -n '^\["' case/02/samples.jsonl | sed -n '3s/:.*//p')
sed -i "${line}s/[0-9]]/x]/" case/02/samples.jsonl
check "a byte of samples.jsonl changed" test "$(stat -c %s case/02/samples.jsonl)" = "$(stat -c %s "$good/02/samples.jsonl")"
damaged_line samples.jsonl "$line: a sample"
fresh_case
sed -i '2s/./[/' case/02/flows.jsonl
damaged_line flows.jsonl '2: '
fresh_case
sed -i '3s/,/;/' case/02/pauses.jsonl
damaged_line pauses.jsonl '3: a pause is damaged'
fresh_case
truncate -s 300 case/02/settings.json
check_exit 1 "torn settings do not stop an export" "$H" export case --format csv --out rows --force
check_says "  which names them" 'case/02: settings.json has 300 bytes' err
check "  and has both runs" test "$(wc -l <rows/runs.csv)" = 3
check_exit 1 "  nor a trace" "$H" trace case/02

# ---- samples in another order: each reader says so
fresh_case
awk '/^\["h0"/ && !held && n++ == 1 { held = $0; next } { print } /^\["h0"/ && held && !done { print held; done = 1 }' "$good/01/samples.jsonl" >case/01/samples.jsonl
check "two samples are exchanged" test "$(stat -c %s case/01/samples.jsonl) $(cmp -s case/01/samples.jsonl "$good/01/samples.jsonl"; echo $?)" = "$bytes 1"
for command in "report case/01 --out page" "export case/01 --out back.sqlite" "trace case/01 --out back.pftrace"; do
    # shellcheck disable=SC2086 # words of a command
    "$H" $command >out 2>err
    check_says "${command%% *} says that one is earlier than the one before it" '1 samples (that )?are earlier than the sample of their host before them' err
done
check "  also the page" grep -q '1 samples are not drawn: they are earlier than the sample of their host before them' page/index.html

# ---- values of the wrong type, by hand or by another version: each costs itself, and is said
fresh_case
jq '(.flows | keys[0]) as $flow | .flows[$flow].goodput_bps = "12" | .flows[$flow].bytes = 1.5 | .flows[$flow].messages = 3.0 | .hosts.h0.counters = [1] |
    .phases[1].start_ns = {} | .warnings = "none" | .expectations[0].left = "much"' "$good/02/result.json" >case/02/result.json
jq '.cells[1].repeat = "2" | .repeated[0].figures.goodput_bps.mean = []' "$good/index.json" >case/index.json
flow=$(jq -r '.flows | keys[0]' "$good/02/result.json")
wrong=("flows.$flow.goodput_bps is \"12\", expected a number from 0" "flows.$flow.bytes is 1.5, expected a whole number from 0" "hosts.h0.counters is [1], expected an object"
    'phases[1].start_ns is {}, expected a whole number from 0' 'warnings is "none", expected a list' 'expectations[0].left is "much", expected a number or null')
said() { # WHAT FILE: all of the sentences, and no other of values
    check "$1" test "$(grep -oE 'case/02/result.json: .* is left out$' "$2" | sort)" = "$(printf 'case/02/result.json: %s: it is left out\n' "${wrong[@]}" | sort)"
}
check_exit 1 "values of the wrong type make a run broken" "$H" status case
check_says "  status says the first" 'case/02: result.json: (flows|phases|hosts).* is .*, expected .*: it is left out' out
check_exit 1 "  a report is drawn" "$H" report case --out page
said "  and says each" err
check_says "  those of the index, too" 'case/index.json: cells\[1\].repeat is "2", expected a whole number from 0: it is left out$' err
check_says "  ... and" 'case/index.json: repeated\[0\].figures.goodput_bps.mean is \[\], expected a number or null' err
check "  its page has them among the warnings" test "$(grep -oE "<li>[^<]*result.json: [^<]* is left out" page/index.html | wc -l)" = 6
check_exit 1 "  one beside another run, too" "$H" report case/01 case/02 --out both
said "  ... each" err
check "  ... also its page" test "$(grep -oE "result.json: [^<]* is left out" both/index.html | sort -u | wc -l)" = 6
check_exit 1 "  an export says it" "$H" export case --tables runs,flows,warnings --format csv --out rows --force
said "  ... each" err
check "  ... its other values are there" test "$(awk -F, -v f="$flow" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i } $at["run"] == 2 && $at["flow"] == f { print $at["messages"] "," $at["bytes"] "," $at["goodput_bps"] }' rows/flows.csv)" = "3,,"
check "  ... and the sentences are among its warnings" test "$(grep -c 'result.json: .* is left out' rows/warnings.csv)" = 6
check_exit 1 "  a trace says it" "$H" trace case/02 --out trace
said "  ... each" err
check "  browse gives one as the reason" test "$("$H" browse case --json | jq -r '.runs[] | select(.folder == "02") | .reason' | grep -c '^result.json: .* is left out$')" = 1
jq '.a.wanted = 3' "$good/02/settings.json" >case/02/settings.json
"$H" export case/02 --tables settings --format csv --out rows --force >out 2>err
check_says "  of settings, too" 'case/02/settings.json: a.wanted is 3, expected an object: it is left out' err
fresh_case
jq '.seed = "1"' "$good/02/result.json" >case/02/result.json
"$H" status case >out 2>err
check_says "a seed that is a text makes its run broken, and no other" '^ *1 broken' out
check_says "  for that reason" 'case/02: result.json: seed is "1", expected a whole number from 0: it is left out' out
# ---- values that cannot be, or that others contradict: each reader names them, and takes what follows from the others
contradicted() { # FILTER SENTENCE: of the second run's result.json, whose sweep is then not whole
    fresh_case
    jq "$1" "$good/02/result.json" >case/02/result.json
    check_exit 1 "$1" "$H" status case
    check_says "  status names it" "case/02: result.json: $2" out
    check_exit 1 "  an export ends with 1" "$H" export case --tables runs,flows,expectations --format csv --out rows --force
    check_says "  and names it" "case/02/result.json: $2" err
}
by_all() { # The same of the other readers of the case.
    for command in "report case --out page" "trace case/02 --out trace" "report case/01 case/02 --out both"; do
        # shellcheck disable=SC2086 # words of a command
        check_exit 1 "  ${command%% --out*} ends with 1" "$H" $command
        check_says "  and names it" "case/02/result.json: $1" err
    done
    check "  browse gives it as the reason" test "$("$H" browse case --json | jq -r '.runs[] | select(.folder == "02") | .reason' | grep -cE "^result.json: $1")" = 1
}
browsed() { "$H" browse case --json | jq -r '.runs[] | select(.folder == "02") | .verdict'; }
follow='its expectations and captured packets make it'
contradicted '.verdict = "great"' 'verdict is "great", expected unjudged, skipped, passed, failed or incomplete: it is left out'
by_all 'verdict is "great"'
check "  the verdict is that of the expectations" test "$(browsed)" = passed
contradicted '.expectations[0].verdict = "failed"' 'expectations\[0\].verdict is "failed", and its numbers, [0-9.e+]+ and [0-9.e+]+, make it passed: it is taken as that'
contradicted '.expectations[0].left = -1' 'expectations\[0\].verdict is "passed", and its numbers, -1 and [0-9.e+]+, make it failed: it is taken as that'
by_all 'expectations\[0\].verdict is "passed"'
check "  the run failed" test "$(browsed)" = failed
check "  also in the table" grep -q ',02,.*,failed,' rows/runs.csv
contradicted '.expectations = []' "verdict is \"passed\", and $follow unjudged: it is taken as that"
contradicted '.verdict = "failed"' "verdict is \"failed\", and $follow passed: it is taken as that"
contradicted 'del(.verdict)' 'verdict is missing'
contradicted 'del(.seed)' 'seed is missing'
contradicted '.simulated = false' 'origin is "simulated", and the lab was not: it is left out'
contradicted '.origin = "measured"' 'origin is not "simulated", and the lab was: it is taken as that'
contradicted ".flows.$flow.goodput_bps *= 2" "flows[.]${flow}[.]goodput_bps is [0-9.e+]+, and its amount and duration make [0-9.e+]+: it is taken as that"
by_all "flows[.]${flow}[.]goodput_bps is "
contradicted ".flows.$flow.goodput_bps = -1" "flows[.]${flow}[.]goodput_bps is -1([.]0)?, expected a number from 0: it is left out"
contradicted '.hosts.h0.pauses["3"].p99 = 1' 'hosts[.]h0[.]pauses[.]3[.]p99 is less than its p90: it is left out'
contradicted '.hosts.h0.counters.tx_prio3_bytes.delta = -5' 'hosts[.]h0[.]counters[.]tx_prio3_bytes[.]delta is -5, expected a whole number from 0: it is left out'
contradicted ".flows.$flow.priority = 9" "flows[.]${flow}[.]priority is 9, expected a whole number from 0 to 7: it is left out"
contradicted '.published = [{name: "p", of: "1", published: 10, value: 12, difference_percent: 5, unit: "", source: "x"}]' \
    'published\[0\].difference_percent is 5, and the two figures make 20: it is taken as that'
check_exit 4 "verify of its capture leaves open what it would judge by such settings" "$H" verify case/02 pfc
check_says "  and says why" "result.json, which has the settings, was changed" out
for key in schema finished flows hosts warnings; do
    fresh_case
    jq "del(.$key)" "$good/02/result.json" >case/02/result.json
    check_exit 1 "a result without $key" "$H" status case
    check_says "  is not whole" "case/02: result.json: $key is missing" out
done
fresh_case
jq '.verdict = "failed"' "$good/index.json" >case/index.json
check_exit 1 "an index whose verdict is not that of its cells" "$H" report case --out page
check_says "  is named" 'case/index.json: verdict is "failed", and its cells make it passed: it is taken as that' err
fresh_case
jq '.cells[0].verdict = "failed" | .verdict = "failed"' "$good/index.json" >case/index.json
check_exit 1 "an index whose cell has another verdict than its result" "$H" report case --out page
check_says "  is named" 'case/01: the index says failed, and its result passed: it is taken as that' err
check "  the sweep is not failed by it" test "$("$H" browse case --json | jq -r '[.runs[].verdict] | unique | join(" ")')" = passed
for text in '"goodput_bps": NaN' '"repeat": 2, "repeat": 2'; do
    fresh_case
    sed -E "0,/\"(goodput_bps|repeat)\": [0-9.e+]+/s//$text/" "$good/02/result.json" >case/02/result.json
    for command in "status case" "report case/02 --out page" "trace case/02 --out trace" "export case/02 --out x.sqlite --force" "verify case/02 pfc"; do
        # shellcheck disable=SC2086 # words of a command
        "$H" $command >out 2>err
        check "${command%% *} does not take a result with $text" test $? != 0
        check "  and names the place" grep -qE 'case/02/result.json:[0-9]+:[0-9]+: ' out err
    done
done
for key in set working_folder seed repeat; do
    fresh_case
    jq --arg key $key '.[$key] = (if $key == "seed" or $key == "repeat" then "1" else {} end)' "$good/request.json" >case/request.json
    check_exit 2 "a request whose $key is of another type" "$H" status case
    check_says "  is refused by its place" "case/request.json: $key: expected a " err
done
fresh_case
jq '.schema = "1"' "$good/02/result.json" >case/02/result.json
check_exit 2 "a schema that is not a number" "$H" report case/02 --out page
check_says "  is not called a newer one" 'has no number as its schema: expected 1$' err

# ---- the hint names what is left to do
fresh_case
check_exit 0 "of a whole sweep" "$H" status case
check "  nothing is to be run" test "$(grep -c 'resume' out)" = 0
rm case/index.json
check_exit 0 "of whole runs without an index" "$H" status case
check "  nothing is missing, and they are to be judged together" test "$(grep -B1 -E 'resume' out)" = "this judges the runs together; all of them are whole:
    $H run --resume case"
rm case/02/result.json
"$H" status case >out 2>err
check "  of a run that is broken the hint is how to run it" test "$(grep -B1 -E 'resume' out)" = "this runs what is missing or broken:
    $H run --resume case"

# ---- resume
fresh_case
: >case/01/samples.jsonl
stat -c %i case/02/result.json >kept
check_exit 0 "resume makes the damaged run again" "$H" run --resume case --no-report
check_says "  and keeps the other" '1 of 2 runs are kept' err
check "  which is as it was" test "$(stat -c %i case/02/result.json)" = "$(cat kept)"
check "  the samples are there again" test "$(stat -c %s case/01/samples.jsonl)" = "$bytes"
check_exit 0 "  and the sweep is whole" "$H" status case
jq '.scenario_file = "/dev/stdin"' case/request.json >piped.json && mv piped.json case/request.json
rm case/01/result.json
check_exit 0 "a scenario that came from a pipe is the one that was kept" "$H" run --resume case --no-report </dev/null

# ---- results of versions that listed nothing
fresh_case
for run in 01 02; do jq 'del(.files)' "$good/$run/result.json" >case/$run/result.json; done
check_exit 0 "a result without the list is whole" "$H" status case
check_exit 0 "  and is drawn" "$H" report case/01 --out page

# ---- the order in which it comes to the disk
if skip_reason sanitized "$H" >/dev/null; then
    skip "the order of writing" sanitized "$H"
elif ! compile_preload order.so "$ROOT/tests/e2e/sweeps/sync_order.c"; then
    skip "the order of writing" no-compiler
else
    check_exit 0 "a sweep whose writing is watched" env SYNC_LOG="$SCRATCH/order" LD_PRELOAD="$SCRATCH/order.so" "$H" run "${RUN[@]}" --repeat 2 --jobs 1 --out watched
    place=$SCRATCH/watched/incast-pfc
    result=$(readlink -f watched/incast-pfc/latest)
    in_order() { # WHAT LINE...: these lines are in the log one after the other
        if awk -v lines="$(printf '%s\n' "${@:2}")" 'BEGIN { wanted = split(lines, line, "\n"); at = 1 } at <= wanted && $0 == line[at] { at++ } END { exit at <= wanted }' order; then
            ok "$1"
        else
            nok "$1" "$(printf '%s\n' "${@:2}" "--- in:" && cat order)"
        fi
    }
    begun="rename $result/request.json"
    in_order "the results' folder has the scenario's, and that the sweep's, before it begins" "sync $SCRATCH" "sync $SCRATCH/watched" "sync $place" "$begun"
    in_order "the request and the first line of the index are on the disk before a run" "$begun" "sync $result" "sync $result/index.jsonl" "sync $result" "rename $result/01/result.json"
    for run in 01 02; do
        while read -r file _; do
            in_order "$run/$file is on the disk before its result is" "$begun" "sync $result/$run/$file" "rename $result/$run/result.json"
        done < <(listed "$result/$run")
        in_order "the folder $run has its name before, and its result after" "$begun" "sync $result" "rename $result/$run/result.json" "sync $result/$run"
        begun="rename $result/$run/result.json"
    done
    in_order "the index is on the disk before latest points to it, and latest at last" "rename $result/index.json" "sync $result" "rename $place/latest" "sync $place"
fi

# ---- one of two results cannot be read, or is gone: it runs again, and readers leave it out
"$H" run "${RUN[@]}" --repeat 3 --out made3 >run.out 2>&1
three=$(readlink -f made3/incast-pfc/latest)
left_out() { # WHAT SENTENCE BROKEN MISSING COMMAND...: of three/02, changed by the command
    local what=$1 sentence=$2 broken=$3 missing=$4 said="case: 1 of 3 runs are left out, as their results cannot be read or are others': $2"
    shift 4
    rm -rf case page rows
    cp -r "$three" case
    (cd case && "$@")
    check_exit 1 "$what: the sweep is not whole" "$H" status case --json
    # shellcheck disable=SC2016 # variables of jq
    check "  two runs are, and one is broken or missing" jq -e --argjson broken "$broken" --argjson missing "$missing" '.runs | .whole == 2 and .broken == $broken and .missing == $missing' out
    check_exit 1 "  a report of the others is drawn" "$H" report case --out page
    check_says "  and says how many are left out, and why" "$said" err
    check_says "  on the page, too" "The sweep is incomplete.*1 of 3 runs are left out.*$(head -c 30 <<<"$sentence")" page/index.html
    check_exit 1 "  an export has the others" "$H" export case --tables runs --format csv --out rows
    check_says "  says the same" "$said" err
    check "  and has two runs" test "$(wc -l <rows/runs.csv)" = 3
    check_exit 0 "  a resume makes it again" "$H" run --resume case --no-report
    check_says "  and it alone" '2 of 3 runs are kept' err
    check "  and the sweep is as it was" test "$("$H" status case --json | jq .runs.whole)" = 3
}
half() { truncate -s "$(($(stat -c %s "$1") / 2))" "$1"; }
not_a_result() { echo "$2" >"$1"; }
linked() { rm -r 02 && ln -s "$three/02" 02; }
fifo() { rm 02/result.json && mkfifo 02/result.json; }
left_out "a result that is empty" 'case/02/result.json:' 1 0 truncate -s 0 02/result.json
left_out "a result that was cut" 'case/02/result.json:' 1 0 half 02/result.json
left_out "a result of zeros" 'case/02/result.json:' 1 0 dd if=/dev/zero of=02/result.json bs=100 count=1 status=none
left_out "a result that is a list" 'case/02/result.json is not the result of a run' 1 0 not_a_result 02/result.json '[]'
left_out "a result that is gone" 'opening case/02/result.json: No such file' 0 1 rm 02/result.json
left_out "a run that is gone" 'opening the folder case/02: No such file' 0 1 rm -r 02
left_out "a result that is a FIFO" 'case/02/result.json is not a regular file' 1 0 fifo
left_out "a run that is a link to another" 'case/02 is not a folder \(a link is not followed\)' 1 0 linked
check "  whose target was not touched" test -s "$three/02/result.json"
rm -r case/02
check_exit 1 "a trace of the others is made" "$H" trace case
check_says "  and says how many are left out" 'case: 1 of 3 runs are left out' err
rm -rf case
cp -r "$three" case
mv case/01 case/x && mv case/02 case/01 && mv case/x case/02
for command in "report case --out page" "export case --out rows.sqlite" "trace case"; do
    # shellcheck disable=SC2086 # words
    check_exit 1 "a ${command%% *} of a sweep whose folders were exchanged leaves these out" "$H" $command
    check_says "  and says whose results are there" "2 of 3 runs are left out, .* the first: case/01/result.json is of repetition 2, and the index has 1 there" err
done
check_exit 2 "... and is not gone on with" "$H" status case
rm -rf case
cp -r "$three" case
rm case/0?/result.json
for command in report export trace; do
    check_exit 2 "a $command of a sweep without any result" "$H" "$command" case
    check_says "  says what is wrong with all" "case: 3 of 3 runs are left out, as their results cannot be read or are others': the first: opening case/01/result.json" err
done
finish
