#!/usr/bin/env bash
# A result folder that somebody sent can do nothing: its links are not followed, what is no regular file is not read, and its documents
# take bounded memory. What a killed program leaves is removed by the next one.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/../lib.sh"
H=$BUILD/harness
cd "$SCRATCH" || exit 2

check_exit 0 "a sweep runs" "$H" run "$ROOT/scenarios/incast-pfc.json" --duration 1ms --repeat 2 --no-report --out made
good=$(readlink -f made/incast-pfc/latest)
mkdir precious
echo precious >precious/file
cp -r precious before

# A copy of the sweep in the folder "case", for damage.
fresh_case() {
    rm -rf case
    cp -r "$good" case
}
# What the report says about the case: it ends within 60 s with CODE, and nothing outside the case has changed.
report() { # CODE WHAT
    check_exit "$1" "$2" timeout 60 "$H" report case
    diff -r before precious >"$SCRATCH/diff" && return
    nok "$2: nothing outside is changed" "$(cat "$SCRATCH/diff")"
    rm -rf precious && cp -r before precious
}

# ---- links and what is no file
fresh_case
check_exit 0 "a report is drawn" "$H" report case
for file in case/report/*; do ln -sf "$SCRATCH/precious/file" "$file"; done
report 0 "a report over links to a file"
if [ -z "$(find case/report -type l)" ]; then ok "its files are in the place of the links"; else nok "its files are in the place of the links" "$(ls -l case/report)"; fi
if [ -z "$(find case -name '.*')" ]; then ok "nothing else is left in it"; else nok "nothing else is left in it" "$(ls -a case/report)"; fi
fresh_case
ln -s "$SCRATCH/precious" case/report
report 2 "a folder report that is a link is not written to"
check_says "the sentence says so" 'case/report is not a folder \(a link is not followed\)' err
for name in index.json 01/result.json 01/samples.jsonl 01/pauses.jsonl; do
    fresh_case
    [ $name = index.json ] && status=2 || status=1 # what is broken of a run is left out
    rm -f "case/$name" && mkfifo "case/$name"
    report "$status" "$name is a FIFO"
    check_says "the sentence names $name" "${name/\//(/|: )} is not a regular file" err
    rm -f "case/$name" && ln -s "$good/$name" "case/$name"
    report "$status" "$name is a link"
done
fresh_case
rm case/request.json && mkfifo case/request.json
for command in status "run --resume"; do
    # shellcheck disable=SC2086 # two words
    check_exit 2 "a $command of a folder whose request is a FIFO, which nobody opens" "$H" $command case
    check_says "  says so" 'opening case/request.json: it is a FIFO, and not a regular file' err
done
check_exit 0 "a pipe of the shell is read" "$H" lab show <(cat "$ROOT/labs/sim-incast.json")
fresh_case
rm -f case/index.json* && mkfifo case/index.jsonl
check_exit 2 "a resume does not write its lines into a FIFO" timeout 20 "$H" run --resume case --no-report
odd="case
harness: error: another line"
cp -r "$good" "$odd"
"$H" status "$odd" >out 2>err
check "a line break in a folder's name makes no line of its own" test "$(grep -c '^harness: error: another line' out) $(grep -c 'case.x0aharness: error: another line' out)" = "0 1"
"$H" report "$odd/nothing" >out 2>err
check "  nor in a sentence" test "$(grep -c 'case.x0aharness: error: another line' err) $(wc -l <err)" = "1 1"
rm -rf "$odd"
fresh_case
rm -rf case/02 && ln -s "$good/02" case/02
report 1 "a cell that is a link"
check_says "is left out" '1 of 2 runs are left out.*case/02 is not a folder \(a link is not followed\)' err
fresh_case
jq '.cells[1].folder = "01"' "$good/index.json" >case/index.json
report 1 "a cell with another's folder"
check_says "is left out" "1 of 2 runs are left out.*case/01/result.json is of repetition 1, and the index has 2 there" err
jq '.cells[1] = .cells[0]' "$good/index.json" >case/index.json
report 2 "one cell twice"
check_says "the sentence names the cell" ': the index: cell 1 does not name a folder of its own' err

# ---- sizes: each of these took gigabytes
list_of() { # ITEM COUNT
    yes "$1" | head -n "$2" | paste -sd,
}
bomb() { # BEGIN ITEM COUNT END
    printf '%s%s%s\n' "$1" "$(list_of "$2" "$3")" "$4"
}
fresh_case
bomb '{"schema":1,"scenario":{},"x":[' '{}' 5000000 ']}' >case/01/result.json
report 1 "15 MB of empty objects"
check_says "what they would take is said" 'result\.json: its values would take [0-9]+ MiB of memory: a result may take 2048 MiB' err
cp case/01/result.json bomb.json
check_exit 2 "the same as a scenario" "$H" check bomb.json
check_says "its memory is refused" 'values would take' err
if [ "$(id -u)" = 0 ]; then
    check_exit 2 "the same as settings" "$BUILD/nic-config" diff bomb.json --journal "$SCRATCH/journal"
    check_says "its memory is refused" 'values would take' err
    check_exit 2 "the same on standard input" "$BUILD/nic-config" diff - --journal "$SCRATCH/journal" <bomb.json
    check_says "its memory is refused" 'values would take' err
else
    skip "nic-config's documents" no-root
fi
check_exit 2 "the same as a job" "$BUILD/roce-traffic" drive --job bomb.json
check_says "its memory is refused" 'values would take' err
bomb '[' "$(printf '[%.0s' {1..70})$(printf ']%.0s' {1..70})" 2 ']' >bomb.json
check_exit 2 "lists 71 deep" "$H" check bomb.json
check_says "the depth is said" '71 deep: .* may have 64' err
jq -n '{ schema: 1, name: "x", driver: "sim", topology: { kind: "star", hosts: 10000 },
    defaults: { host: { title: ([range(20000) | { key: "k\(.)", value: {} }] | from_entries) } } }' >bomb.json
check_exit 2 "a value of a lab for each of 10000 hosts" timeout 60 "$H" check bomb.json
check_says "its memory is refused" 'defaults\.host: copied to each of the hosts it would take' err
jq '.title = ("x" * 1000000) | .sweep = { "phases.measure": [range(1; 1000) | "\(.)us"] }' "$ROOT/scenarios/incast-pfc.json" >bomb.json
if skip_reason sanitized "$H" >/dev/null; then
    skip "999 cells with a document of 1 MB in 200 MB of memory" sanitized "$H"
else
    check_exit 0 "999 cells with a document of 1 MB in 200 MB of memory" bash -c 'ulimit -v 200000 && exec "$@"' - \
        "$H" check bomb.json --lab "$ROOT/labs/sim-incast.json"
fi
{ head -n 1 "$good/01/samples.jsonl" && head -c 5000000 /dev/zero | tr '\0' 1 && echo; } >long
fresh_case
mv long case/01/samples.jsonl
forget_files case/01
report 1 "a line of 5 MB among the samples"
check_says "the sentence names the line" 'samples\.jsonl:2: a line has more than 4194304 bytes' err

# ---- files of others, named like those in the making, stay: nobody has them removed, least of all who only reads
fresh_case
mkdir -p others/incast-pfc case/report
for place in . case case/01 case/report others/incast-pfc; do
    mkdir $place/.vimrc.new-branch && echo work >$place/.vimrc.new-branch/notes
    for name in .bashrc.new-backup .notes.new-friday .result.json.new-abcdef .x.new-abcdefghijklmno; do echo precious >$place/$name; done
done
find . -path '*.new-*' -type f | sort >theirs
report 0 "a report of a folder with files that are named like those in the making"
check_exit 0 "an export beside them" "$H" export case --out x.sqlite --tables runs
check_exit 0 "a trace" "$H" trace case/01 --out x.trace
check_exit 0 "a list of runs" "$H" browse .
check_exit 0 "a resume" "$H" run --resume case --no-report
check_exit 0 "a run" "$H" run "$ROOT/scenarios/incast-pfc.json" --duration 1ms --no-report --out others
check "all of them are still there" diff theirs <(find . -path '*.new-*' -type f | sort)

if skip_reason sanitized "$H" >/dev/null; then
    skip "a kill at each rename" sanitized "$H"
elif ! compile_preload kill.so "$ROOT/tests/e2e/harness/kill_at_rename.c"; then
    skip "a kill at each rename" no-compiler
else
    rm -rf made theirs
    killed=0
    for at in 1 2 3 7; do # of settings.json, result.json and the link "latest", and of the report
        { (KILL_AT=$at LD_PRELOAD=$SCRATCH/kill.so "$H" run "$ROOT/scenarios/incast-pfc.json" --duration 1ms --out made); } >out 2>&1
        [ $? = 137 ] && killed=$((killed + 1))
    done
    { (KILL_AT=3 LD_PRELOAD=$SCRATCH/kill.so "$H" run "$ROOT/scenarios/incast-pfc.json" --set sweep=null --duration 1ms --repeat 2 --no-report --out again); } >out 2>&1
    check "a sweep is killed as it points at itself" test "$(find again -name '.latest.new-*' | wc -l)" = 1
    check_exit 0 "... its resume" "$H" run --resume again/incast-pfc/2* --no-report --quiet
    check "... removes what was left beside it, too" test "$(find again -name '.*' | wc -l)" = 0 -a -L again/incast-pfc/latest
    in_the_making() { find made -name '.*' -o -regextype posix-extended -regex '.*\.(json|html|tsv|gp)\..*'; }
    if [ "$killed" = 4 ]; then ok "4 runs are killed while they put files into place"; else nok "4 runs are killed while they put files into place" "$killed: $(cat out)"; fi
    left=$(in_the_making)
    if [ -n "$left" ]; then ok "files in the making are left"; else nok "files in the making are left" "$(find made)"; fi
    place=$(find made/incast-pfc -mindepth 1 -maxdepth 1 -name '2*' | head -n 1)
    cp -a "$place" copied
    # shellcheck disable=SC2016 # the inner shell expands it
    check "who reads removes nothing" bash -c '"$1" browse made; "$1" status "$2"; "$1" export "$2/01" --out read.sqlite --tables runs; diff <(find "$2" | sed "s#^$2##") <(find copied | sed "s#^copied##")' - "$H" "$place"
    check_exit 0 "the next run" "$H" run "$ROOT/scenarios/incast-pfc.json" --duration 1ms --no-report --out made
    left=$(in_the_making)
    if [ -z "$left" ]; then ok "nothing is left of them after it"; else nok "nothing is left of them after it" "$left"; fi
fi
finish
