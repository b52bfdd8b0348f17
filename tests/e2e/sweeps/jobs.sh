#!/bin/bash
# A sweep's runs side by side, interrupted, killed and resumed: the results are those of an undisturbed sweep, byte for byte but for times.
# shellcheck disable=SC2317 # functions are called by name
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/../lib.sh"
H=$BUILD/harness
RANDOM=${SWEEP_SEED:=$RANDOM}
echo "# SWEEP_SEED=$SWEEP_SEED"
cd "$SCRATCH" || exit 2

# shellcheck source=tests/e2e/sweeps/same.bash
. "$ROOT/tests/e2e/sweeps/same.bash"
run() { "$H" run wide.json --no-report --quiet --repeat 4 --out "$@"; }
check_exit 1 "24 runs, one after the other, some of which fail" run one --jobs 1
undisturbed=$(only one)
check "... each has its folder and a whole result" test "$(jq -s 'map(select(.complete)) | length' "$undisturbed"/*/result.json)" = 24
check "... the index has all in their order" test "$(jq -c '[.complete, .verdict, ([.cells[].folder] | length, .[0], .[23])]' "$undisturbed/index.json")" = '[true,"failed",24,"01","24"]'
check "... its lines are gone" test ! -e "$undisturbed/index.jsonl"
check_exit 1 "the same, five at a time" run five --jobs 5
check "... gives the same bytes" same "$(only five)"

# ---- what it prints comes in the order of the runs
"$H" run wide.json --no-report --out printed1 --jobs 1 > printed1.out 2> /dev/null
"$H" run wide.json --no-report --out printed6 --jobs 6 > printed6.out 2> /dev/null
check "six runs print the same in any order" diff <(grep -v ^result: printed1.out) <(grep -v ^result: printed6.out)
check "... of each its verdict" test "$(grep -c '^wide, ' printed6.out)" = 6
check_exit 1 "of 24 runs a table is printed" "$H" run wide.json --no-report --repeat 4 --out brief
check_says "... with what failed, and where" '^small messages failed in 12 of 12$' out
check "... its cells by their choices, those that failed first" test "$(sed -n '/^run /,/^ *$/s/  */ /gp' out | head -4)" = "$(
    printf '%s\n' 'run depth message verdict goodput, Gb/s small messages data moves, MiB' '05 2 64KiB failed 23.069 176 ! 11' '13 4 64KiB failed 23.069 176 ! 11' '21 8 64KiB failed 23.069 176 ! 11'
)"
check_says "... how many" '^6 of 6 cells, those that failed first; !: an expectation that failed$' out
check_says "... and where all is" '^all runs: harness report brief/wide/2[^ ]* draws them, and writes sweep.csv$' out
check_says "... with a line of all" '^24 runs: 12 passed, 12 failed$' out

# ---- progress: one line that never wraps
check_progress 240 '2 running(, [0-9]+ s left)?' --repeat 40 --jobs 2

# ---- and a line for each run that goes on, which says what it does
has_no() { ! grep -qE "$1" "$2"; } # PATTERN FILE
two_depths() { # COLUMNS ROWS ARGUMENT...
    watched_until_drawn 500 16000 "$@" --set "'sweep={\"flows.*.depth\": [4, 8]}'"
}
if [ -n "$(command -v script)" ]; then
    wanted=()
    for cell in "01 depth 4" "02 depth 8"; do
        wanted+=("^$cell  measure +[0-9]+%, [0-9]+ s left  [0-9.]+ Gb/s(, [0-9]+ pauses/s)?$")
    done
    wanted+=($'\r\x1b\\[2A01 depth 4')
    two_depths 80 24 --jobs 2
    for line in 0 1; do
        check_says "progress has a line of the run: phase, time left, rate, pauses" "${wanted[line]}" lines
    done
    check "... drawn in place, above the sweep's: back by its two lines" grep -q "${wanted[2]}" typescript
    check "... and taken away before the runs are printed" grep -q $'\x1b\[J\r*wide, [a-z]' typescript
    check "... no line of it is as wide as the terminal" has_no '^0[12] .{77}' lines
    wanted=('^01 dep.*  measure +[0-9]+%')
    two_depths 40 24 --jobs 2
    check_says "of a narrow terminal the name is cut, and then the rest" "${wanted[0]}" lines
    check "... as wide as it is" has_no '^(0[12]|[0-9]+ of) .{37}' lines
    wanted=('^... and 3 more$')
    two_depths 80 4 --repeat 2 --jobs 4
    check_says "a terminal of four rows has a run, how many more, and the sweep" "${wanted[0]}" lines
    check "... no more" has_no $'\x1b\\[3A' typescript
    "$H" run wide.json --no-report --out piped --jobs 2 > /dev/null 2> err
    check "without a terminal nothing is drawn" has_no $'\r' err
else
    skip "progress has a line of each run" no-command script
fi

# ---- disturbed at random moments, resumed, the same
survivors() { pgrep -s "$1"; }
begin_or_resume() { # FOLDER
    local folder
    folder=$(only "$1")
    if [ -f "$folder/request.json" ]; then
        set -- --resume "$folder"
    else
        rm -rf "$1" # it was killed before there was a sweep
        set -- wide.json --repeat 4 --out "$1"
    fi
    setsid "$H" run "$@" --no-report --quiet --jobs 3 > resumed.out 2>&1 &
    run=$!
}
# Waits for a random number of results, then for up to 20 ms; fails if the sweep ended before.
strike() { # SIGNAL FOLDER
    local there moment
    there=$(results_in "$2")
    [ "$there" -lt 24 ] || return 1
    local enough=$((there + RANDOM % (24 - there)))
    moment=$((RANDOM % 20))
    while [ "$(results_in "$2")" -lt "$enough" ]; do kill -0 "$run" 2> /dev/null || return 1; done
    sleep "0.0$(printf %02d "$moment")"
    kill -"$1" "$run" 2> /dev/null
}
# Strikes DISTURBED times, begins anew where nothing was left to do, and resumes until it is whole.
disturb() { # SIGNAL NAME
    local hits=0
    rm -rf "$2"
    while [ "$hits" -lt "$DISTURBED" ]; do
        [ "$(results_in "$2")" -lt 24 ] || rm -rf "$2"
        begin_or_resume "$2"
        ! strike "$1" "$2" || hits=$((hits + 1))
        wait "$run"
    done
    begin_or_resume "$2"
    wait "$run"
    status=$?
    for _ in $(seq 100); do survivors "$run" > /dev/null || break; sleep 0.1; done
    ! survivors "$run" && [ "$status" = 1 ]
}
DISTURBED=${DISTURBED:-4}
for signal in KILL INT TERM; do
    check "disturbed $DISTURBED times by SIG$signal, then resumed to its end" disturb $signal "by_$signal"
    check "... the results are those of the undisturbed sweep" same "$(only by_$signal)"
done

# ---- one process that dies ends the sweep, not the other run; it is named
"$H" run wide.json --no-report --quiet --set phases.measure=600s --out died --jobs 2 2> died.err &
run=$!
for _ in $(seq 600); do [ "$(pgrep -c -P $run)" != 2 ] || break; sleep 0.1; done
workers=$(pgrep -P $run)
kill -KILL "${workers%%$'\n'*}"
for _ in $(seq 600); do [ "$(pgrep -c -P $run)" = 1 ] || { sleep 0.1 && continue; }; break; done
check "the process of a run that is killed leaves the other" test "$(pgrep -c -P $run)" = 1
kill -INT $run
wait $run
check "... ends the sweep with 3" test $? = 3
check_says "... which says so" 'error: the process of run [12] was killed by signal 9' died.err
check "... the index too" jq -e '(.complete | not) and (.reason | test("signal 9")) and (.cells | length) == 2' died/wide/2*/index.json

resumed_by() { grep -E '^    .* run --resume ' "$1" | sed -E 's/( --jobs [0-9]+| --no-report| --quiet)//g'; }
"$H" status died/wide/2* >died.out 2>&1
check "status prints the command that the end of the sweep printed: $(resumed_by died.out)" test -n "$(resumed_by died.out)" -a "$(resumed_by died.out)" = "$(resumed_by died.err)"
check "... from elsewhere too" test "$(cd / && "$H" status "$OLDPWD"/died/wide/2* | grep -oE 'resume .*')" = "resume $(echo "$PWD"/died/wide/2*)"

# ---- what is there is kept; of another sweep it is refused
killed=$(only by_KILL)
before=$(stat -c %Y%i "$killed"/01/result.json)
rm -rf "$killed/05/result.json" "$killed/07"
echo '{"complete": true' > "$killed/09/result.json"
check_exit 1 "a sweep without some of its results, one of which is no JSON" "$H" run --resume "$killed" --no-report
check_says "... keeps the others" '21 of 24 runs are kept' err
check "... does not touch them" test "$(stat -c %Y%i "$killed"/01/result.json)" = "$before"
check "... has the same results again" same "$killed"
check_exit 1 "a whole one has nothing to do, also by a link to it" "$H" run --resume by_KILL/wide/latest --no-report
check "... which points at it as before" test "$(readlink by_KILL/wide/latest)" = "$(basename "$killed")"
check_says "... and says so" '^24 runs: 12 passed, 12 failed \(all were there\)$' out
tampered() { # WHAT FILTER
    cp -r "$killed" tampered && jq "$2" "$killed/03/result.json" > tampered/03/result.json
    check_exit 2 "a result with another $1 is refused" "$H" run --resume tampered
    check_says "... by its name" 'tampered/03/result.json is not of this sweep' err
    rm -rf tampered
}
tampered version '.version = "0.0.9"'
tampered build '.build = "0123456789ab"'
tampered seed '.seed = 99'
tampered scenario '.scenario.phases.measure = "1s"'
tampered lab '.lab.name = "other"'

request() { # FILTER
    rm -rf changed && cp -r "$killed" changed && jq "$1" "$killed/request.json" > changed/request.json
}
request '.version = "0.0.9"'
check_exit 2 "a folder of another version is refused" "$H" run --resume changed
check_says "... with both versions" 'was written by harness 0.0.9, and this is [0-9]' err
request '.build = "0123456789ab"'
check_exit 2 "a folder of another build of this version is refused" "$H" run --resume changed
check_says "... with both builds" 'was written by build 0123456789ab of harness [0-9.]+, and this is build [0-9a-f]{12}, whose' err
check "... of which harness tells its own" test "$("$H" --version)" = "harness $(jq -r '"\(.version) (build \(.build))"' "$killed/request.json")"
request '.repeat = 0'
check_exit 2 "a request that cannot be is refused" "$H" run --resume changed
check_says "... with its key" 'changed/request.json: repeat: expected a whole number from 1' err
request '.set = [3]'
check_exit 2 "a set that is no text is refused" "$H" run --resume changed
request 'del(.lab)'
check_exit 2 "a request without a lab is refused" "$H" run --resume changed
request '.scenario.sweep["flows.*.depth"] = []'
check_exit 2 "a request whose scenario is not what its file has is refused" "$H" run --resume changed
request 'del(.scenario.sweep) | .repeat = 1 | .scenario_file = "nowhere.json"'
echo "notes" > changed/notes
check_exit 2 "a request of a single run, whose folder would be the run's, is refused" "$H" run --resume changed
check_says "... and says so" 'changed/request.json is of a single run' err
check "... the folder is as it was" test -s changed/notes -a -s changed/request.json -a -s changed/01/result.json
jq '.title = "other words"' wide.json > new && cp wide.json kept.json && mv new wide.json
check_exit 1 "another title in the scenario's file is no change" "$H" run --resume "$killed" --no-report --quiet
jq '.phases.measure = "5ms"' kept.json > wide.json
check_exit 2 "another phase in the scenario's file is" "$H" run --resume "$killed"
check_says "... and is refused with both names, what has changed, and how" 'wide.json is not what it was when by_KILL/wide/.* was begun: phases\.measure was "[0-9.]+.s" and is "5ms": undo' err
jq '.phases.measure = "5ms" | .flows[0].depth = 7 | del(.sample) | .roles += ["z"]' kept.json > wide.json
check_exit 2 "more changes" "$H" run --resume "$killed"
check_says "... are named up to three, and counted" 'was begun: .*; .*; .*; and 1 more: undo' err
sed 's/"depth": 16/"depth": 16.0/' kept.json > wide.json
check "16.0 in place of 16" grep -q '"depth": 16\.0' wide.json
check_exit 1 "... is no change" "$H" run --resume "$killed" --no-report --quiet
jq '.phases |= map_values(if test("^[0-9.]+s$") then "\(rtrimstr("s") | tonumber * 1000)ms" else . end)' kept.json > wide.json
check "milliseconds in place of seconds" grep -qE '"measure": "[0-9.]+ms"' wide.json
check_exit 1 "... are no change" "$H" run --resume "$killed" --no-report --quiet
mv kept.json wide.json
check_exit 2 "a folder that is no sweep is refused" "$H" run --resume "$SCRATCH"
check_says "... with a sentence" "is not the folder of a sweep: it has no request.json" err
above=$(dirname "$(dirname "$killed")")
check_exit 2 "one above a sweep too" "$H" status "$above"
check_says "... which is named" "no request.json; perhaps $above/.*/$(basename "$killed")" err
check_exit 2 "and to explain" "$H" explain "$(dirname "$killed")"
check_says "..." "perhaps $killed" err
check_exit 2 "--resume takes no scenario" "$H" run wide.json --resume "$killed"
check_exit 2 "... and nothing that the folder says" "$H" run --resume "$killed" --repeat 3
check_says "... which is named" 'give no --repeat' err
check_exit 2 "a scenario or a folder is needed" "$H" run
check_exit 2 "a lab of hosts has one run at a time" "$H" run wide.json --lab "$ROOT/labs/soft-pair.json" --jobs 2
check_says "... and says why" '^harness: error: --jobs 2: the runs of lab soft-pair follow one another' err

# ---- two at once: the second is refused by name
rm -rf "$killed"/{02,04,06,08}
exec 8> hold && flock 8
python3 - "$killed/request.json" 8>&- << 'END' &
import fcntl, sys, time
lock = open(sys.argv[1], "r+")
fcntl.lockf(lock, fcntl.LOCK_EX)
open("locked", "w").close()
fcntl.flock(open("hold"), fcntl.LOCK_EX)
END
holder=$!
for _ in $(seq 200); do [ ! -e locked ] || break; sleep 0.05; done
check_exit 2 "a folder on which another process works is refused" "$H" run --resume "$killed"
check_says "... with its number" "is being worked on by process $holder: wait for it or stop it" err
exec 8>&-
wait "$holder"
check_exit 1 "afterwards it is resumed" "$H" run --resume "$killed" --no-report --quiet
check "... to the same results" same "$killed"

# ---- while it runs: the report is of what is there
partly=partly
cp -r "$undisturbed" $partly
jq -c 'del(.cells) | .complete = false | .verdict = "incomplete"' "$undisturbed/index.json" > $partly/index.jsonl
jq -c '.cells[:3][]' "$undisturbed/index.json" >> $partly/index.jsonl
printf '{"folder": "04", "ce' >> $partly/index.jsonl
rm -r $partly/index.json $partly/{05,06,07,08,09,1?,2?}/result.json
check_exit 0 "a report of a sweep that was killed" "$H" report $partly
measurements() { sed -n '/<h2>Measurements/,/<\/table>/p' "$1/report/index.html" | grep -c '<tr><td'; }
check "... has the three runs of its lines, and one that has a result alone" test "$(measurements $partly)" = 4
check_exit 1 "it can be resumed then" "$H" run --resume $partly --quiet
check "... which is no scenario's latest" test ! -e latest
check_says "... and its page has all" '<b>24 runs</b>, 4 of each of 6 cells' $partly/report/index.html
finish
