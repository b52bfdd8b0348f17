#!/usr/bin/env bash
# harness export: what is not a whole result, places that take nothing, full disks, kill -9, and how much memory it takes.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/../lib.sh"
skip_unless "exports" python3 jq
H=$BUILD/harness
cd "$SCRATCH" || exit 2
"$H" run "$ROOT/scenarios/incast-pfc.json" --duration 1ms --set sample.every=200us --repeat 2 --no-report --quiet --out made >run.log 2>&1
good=$(readlink -f made/incast-pfc/latest)
[ -s "$good/02/result.json" ] || { nok "a result" "$(cat run.log)" && finish; }
forget_files "$good"/0?

fresh_case() {
    rm -rf case x.sqlite x
    cp -r "$good" case
}
refused() { # what, PATTERN, ARGUMENT...
    local what=$1 pattern=$2
    shift 2
    check_exit 2 "$what" "$H" export "$@"
    check_says "  and the sentence says why" "$pattern" err
    if [ -z "$(find . -name '.*.new-*')" ] && [ ! -e x.sqlite ] && [ ! -e x ]; then ok "  and nothing is left"; else nok "  and nothing is left" "$(find . -name '.*.new-*') $(ls)"; fi
}

# ---- options
refused "a result is needed" "RESULT" --out x.sqlite
refused "an unknown table" '"flow" is not a table: expected some of runs, choices' "$good" --out x.sqlite --tables runs,flow
refused "an empty table" '"" is not a table' "$good" --out x.sqlite --tables runs,,flows
refused "an unknown format" 'expected .*sqlite.*csv' "$good" --format xml
refused "several results without a place" 'out says which' "$good/01" "$good/02"
refused "a database that is called a CSV file" 'format=csv' "$good" --out x.csv
refused "CSV files are several" 'are several' "$good" --out x.csv --format csv
refused "a folder that is missing" 'missing' "$good" --out missing/x.sqlite
refused "a folder is no file" 'is a folder' "$good" --out "$SCRATCH/"
refused "nor is .." 'is a folder' "$good" --out .. --format csv
mkdir there
refused "a folder that exists" 'there exists: --force' "$good" --out there
refused "a folder is not replaced by a database" 'is a folder, and would be replaced by a database' "$good" --out there --force
refused "what is no result" 'there is not a result' there --out x.sqlite
refused "one of several is none" 'there is not a result' "$good" there --out x.sqlite
refused "one that is missing" 'gone is not a result' "$good" gone --out x --format csv

# ---- names are paths: not URIs of SQLite
python3 -c 'import sqlite3; sqlite3.connect("victim.sqlite").execute("CREATE TABLE mine(x)")'
cp victim.sqlite before.sqlite
for name in "file:${SCRATCH//\//%2f}%2fvictim.sqlite?x=1" 'file:e?mode=memory&x=1' ':memory:' '-odd'; do
    cp -r "$good/01" "./$name"
    check_exit 0 "a result called ${name/*%2f/file:...}" "$H" export -- "$name"
    check "  is exported into its folder" python3 -c 'import sqlite3, sys; assert sqlite3.connect(sys.argv[1]).execute("SELECT count(*) FROM runs").fetchone() == (1,)' "$SCRATCH/$name/export.sqlite"
    rm -r "./$name"
done
check "  and nowhere else" cmp victim.sqlite before.sqlite

# ---- what exists stays, unless it is to be replaced
echo mine >file
refused "a file that exists" 'file is not an export, and would be replaced' "$good" --out file
refused "... also with --force" 'file is not an export, and would be replaced' "$good" --out file --force
check "  and it stays" grep -qx mine file
python3 -c 'import sqlite3; sqlite3.connect("mine.sqlite").execute("create table mine (a)")'
refused "nor somebody's database" 'mine.sqlite is not an export' "$good" --out mine.sqlite --force
check_exit 0 "an export" "$H" export "$good" --out again.sqlite --tables runs
refused "... stays without --force" 'again.sqlite exists: --force replaces it' "$good" --out again.sqlite
check_exit 0 "... with it it is replaced" "$H" export "$good" --out again.sqlite --force
check "  by the new one" test "$(stat -c %s again.sqlite)" -gt 100000
echo target >target
ln -s target link
check_exit 0 "a link is replaced" "$H" export "$good" --out link --force
if [ ! -L link ] && grep -qx target target; then ok "  and what it leads to stays"; else nok "  and what it leads to stays"; fi
rm x.sqlite 2>/dev/null
fresh_case
for name in 01/samples.jsonl 01/result.json index.json; do
    cp "case/$name" before
    refused "$name is not replaced, also with --force" 'is a file of a result, which an export may not replace' "$good" --out "case/$name" --force
    check "  and stays" cmp "case/$name" before
done
mkfifo fifo
refused "a FIFO is not replaced, also with --force" 'fifo is a FIFO, which is not replaced' "$good" --out fifo --force
check "  and stays" test -p fifo
refused "nor a link to a folder" 'latest is a link to a folder' "$good" --out made/incast-pfc/latest --force
mkdir folder && echo mine >folder/mine && echo old >folder/samples.csv && ln -s ../target folder/flows.csv && echo old >folder/pauses.csv
check_exit 0 "CSV files in a folder that exists" "$H" export "$good" --out folder --format csv --force --tables flows,pauses
if grep -qx mine folder/mine && [ ! -e folder/samples.csv ] && [ ! -L folder/flows.csv ] && grep -qx target target && grep -q '^run,host' folder/pauses.csv; then
    ok "  tables that are not wanted now are gone, other files stay"
else
    nok "  tables that are not wanted now are gone, other files stay" "$(ls -l folder)"
fi
refused "a file is not replaced by a folder" 'is not a folder, and would' "$good" --out target --format csv --force
fresh_case
check_exit 0 "without --out it is in the result" "$H" export case
check "  as export.sqlite" test -s case/export.sqlite
check_exit 0 "CSV files too" "$H" export case --format csv
check "  in export-csv" test -s case/export-csv/samples.csv
samples=$(wc -l <case/export-csv/samples.csv)
check_exit 0 "which is no run of the sweep" "$H" export case --out x.sqlite
rm x.sqlite

# ---- results from elsewhere
damaged() { # what, PATTERN: the rest is exported
    check_exit 1 "$1 is left out" "$H" export case --out x --format csv
    check_says "  with the file and the line" "$2.*: the run is not whole$" err
    check "  and the run is not whole" test "$(grep -c ',incomplete,.*jsonl\?:' x/runs.csv)" = 1
    check "  all other samples are there" test "$(wc -l <x/samples.csv)" -ge $((samples - 2000))
    rm -r x
}
fresh_case
sed -i '3s/.*/["a",3,/' case/02/samples.jsonl
damaged "a damaged sample" 'case/02: samples\.jsonl:3: '
fresh_case
sed -i '1s/.*/[1]/' case/01/flows.jsonl
damaged "a damaged line of flows" 'case/01: flows\.jsonl:1: '
fresh_case
echo '["h0",9,1,2]' >>case/02/pauses.jsonl
damaged "a damaged pause" 'case/02: pauses\.jsonl:[0-9]*: a pause is damaged'
fresh_case
truncate -s -9 case/02/samples.jsonl
check_exit 0 "a last line without its end is no line" "$H" export case --out x.sqlite
fresh_case
truncate -s 100 case/01/result.json
refused "a result that was cut" 'case/01/result\.json' case/01 --out x.sqlite
fresh_case
echo '{' >case/01/settings.json
damaged "settings that are no document" 'case/01: settings\.json:2:'
not_read() { # NAME WHAT
    if [ "$1" = 01/result.json ]; then
        refused "$1 is $2" "$1 is not a regular file" case/01 --out x.sqlite
    else
        check_exit 1 "$1 is $2: it is not read" "$H" export case/01 --out x.sqlite --force
        check_says "  which is said" "case/01: ${1#*/} is not a regular file.*: the run is not whole" err
        rm x.sqlite
    fi
}
for name in 01/result.json 01/samples.jsonl 01/settings.json; do
    fresh_case
    rm "case/$name" && ln -s "$good/$name" "case/$name"
    not_read "$name" "a link"
    rm "case/$name" && mkfifo "case/$name"
    not_read "$name" "a FIFO"
done
fresh_case
jq '.cells[1].folder = "../01"' "$good/index.json" >case/index.json
refused "a cell elsewhere" 'cell 1 does not name a folder of its own' case --out x.sqlite
fresh_case
rm case/0?/{samples,flows,pauses}.jsonl case/0?/settings.json
check_exit 0 "a result without its lines" "$H" export case --out x.sqlite
jq '.hosts = 3 | .flows = [1] | .expectations = {"a": 1} | .phases = "x" | .warnings = [1, {}] | .published = [null, []] | .cell = [1] | .verdict = 7 | .started = {} | .totals = {"counters": [{}]}' \
    "$good/01/result.json" >case/01/result.json
jq '.hosts |= map_values(.counters = {"a": 1, "b": {"delta": "x", "mean": [1], "unit": 5}, "c": null} | .facts = {"x": [[], {}, [1, [2]]]} | .sampling = []) | .flows = {"f": 1, "g": {"latency_ns": 5, "bytes": 1e300}}' \
    "$good/02/result.json" >case/02/result.json
rm -f x.sqlite
check_exit 1 "values of other types, which are said" "$H" export case --out x.sqlite
cat >types.py <<'END'
import sqlite3
db = sqlite3.connect("x.sqlite")
assert db.execute("SELECT run, verdict, started, measure_start_ns FROM runs WHERE run = 1").fetchall() == [(1, None, None, None)]
assert set(db.execute("SELECT counter, delta, mean, unit FROM counters WHERE run = 2")) == {("b", None, None, None), ("c", None, None, None)}
assert db.execute("SELECT flow, bytes FROM flows WHERE run = 2").fetchall() == [("g", None)]
assert set(db.execute("SELECT path, value FROM facts WHERE run = 2")) >= {("x.2.1", "[2]")}, db.execute("SELECT path, value FROM facts").fetchall()
END
check "  are none" python3 types.py

# ---- signals: a result that never ends, so that each of them comes in the middle
cat >endless.py <<'END'
import json, os, sys
header = json.dumps({"type": "header", "host": "h0", "columns": [{"name": f"c{i}", "unit": "packets", "kind": "counter", "source": "s", "group": "g"} for i in range(20)]}) + "\n"
with open(sys.argv[1], "w") as f:
    f.write(header)
    for i in range(int(sys.argv[2])):
        f.write(f'["h0",{i},1,' + ",".join([f"{i}", *"1" * 19]) + "]\n")
END
cp -r "$good/01" long
python3 endless.py long/samples.jsonl 40000
mkdir signals.d
while read -r signal what; do
    # shellcheck disable=SC2086 # words
    python3 - "$signal" "$H" $what long >out 2>err <<'END'
import os, signal, subprocess, sys, time
number = getattr(signal, "SIG" + sys.argv[1])
made = subprocess.Popen(sys.argv[2:], preexec_fn=lambda: signal.signal(number, signal.SIG_DFL))
while made.poll() is None and not any(name.startswith(".") for name in os.listdir("signals.d")):
    time.sleep(0.002)
made.send_signal(number)
print(made.wait() == -number)
END
    if grep -qx True out && [ -z "$(ls -A signals.d)" ]; then ok "$signal ends $what, which leaves nothing"; else nok "$signal ends $what, which leaves nothing" "$(cat out err; ls -A signals.d)"; fi
    find signals.d -mindepth 1 -delete
done <<'END'
INT export --out signals.d/x
TERM export --out signals.d/x
HUP export --format csv --out signals.d/x
INT trace --out signals.d/x
TERM report --out signals.d
END

# ---- large ones are asked about before anything is written
python3 - long/samples.jsonl <<'END'
import json, sys
lines = ["[\"h0\",0,1," + ",".join(str(i) * 2000) + "]\n" for i in range(2)]
with open(sys.argv[1], "w") as f:
    f.write(json.dumps({"type": "header", "host": "h0", "columns": [{"name": f"c{i}", "unit": "packets", "kind": "counter", "source": "s", "group": "g"} for i in range(2000)]}) + "\n")
    f.writelines(lines[i % 2] for i in range(13000))
END
rm -f x.sqlite
refused "more than 1 GB" 'would have about 1GB, more than 1GB, with 26000000 samples: --yes writes it' long --out x.sqlite
check_exit 0 "without samples it is small" "$H" export long --out small.sqlite --tables flows

# ---- kill -9 just before the name is given
if skip_reason sanitized "$H" >/dev/null; then
    skip "kill -9" sanitized "$H"
elif ! compile_preload kill.so "$ROOT/tests/e2e/harness/kill_at_rename.c"; then
    skip "kill -9" no-compiler
else
    mkdir out.d
    for format in sqlite csv; do
        { (KILL_AT=1 LD_PRELOAD=$SCRATCH/kill.so "$H" export "$good" --format $format --out out.d/killed); } >out 2>&1
        if [ ! -e out.d/killed ] && [ -n "$(find out.d -name '.killed.new-*')" ]; then ok "kill -9 of a $format export leaves nothing under its name"; else nok "kill -9 of a $format export leaves nothing under its name" "$(ls -a out.d; cat out)"; fi
    done
    check_exit 0 "the next export" "$H" export "$good" --out out.d/killed
    check "  removes what was left" [ -z "$(find out.d -name '.*.new-*')" ]
fi

# ---- full disks
if unshare --mount true 2>/dev/null; then
    mkdir small
    for size in 8k 64k 256k; do
        for format in sqlite csv; do
            cat >full.sh <<END
mount -t tmpfs -o size=$size tmpfs small || exit 9
'$H' export '$good' --format $format --out small/x
code=\$?
ls -A small
exit \$code
END
            check_exit 2 "a $format export on a disk of $size fails" unshare --mount bash full.sh
            check_says "  with the file and the reason" 'small/x.*No space left on device' err
            if [ ! -s out ]; then ok "  and leaves nothing"; else nok "  and leaves nothing" "$(cat out)"; fi
        done
    done
else
    skip "full disks" no-namespaces
fi
(ulimit -f 64 && "$H" export "$good" --out limited.sqlite) >out 2>err
if [ $? = 2 ] && grep -q 'limited.sqlite: File too large' err && [ ! -e limited.sqlite ]; then ok "so is the limit on the size of files"; else nok "so is the limit on the size of files" "$(cat err; ls -la)"; fi

# ---- a million samples take no more memory than a few
cat >many.py <<'END'
import json, sys
names = [f"counter_{i}" for i in range(100)]
with open(sys.argv[1], "w") as f:
    f.write(json.dumps({"type": "header", "host": "h0", "columns": [{"name": n, "unit": "packets", "kind": "counter", "source": "s", "group": "g"} for n in names]}) + "\n")
    for i in range(10000):
        f.write(f'["h0",{i * 1000},1,' + ",".join(str(i * 1000003 + k) for k in range(100)) + "]\n")
END
cat >memory.py <<'END'
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
END
cp -r "$good/01" many
python3 many.py many/samples.jsonl
few=$(python3 memory.py "$H" export "$good/01" --out few.sqlite)
check_exit 0 "a million samples" "$H" export many --out many.sqlite
cat >sum.py <<'END'
import sqlite3
db = sqlite3.connect("many.sqlite")
assert db.execute("SELECT count(*), sum(value) FROM samples").fetchone() == (1000000, sum(i * 1000003 + k for i in range(10000) for k in range(100)))
plan = " ".join(row[3] for row in db.execute("EXPLAIN QUERY PLAN SELECT value FROM samples WHERE run = 1 AND host = 'h0' AND counter = 'counter_7'"))
assert "samples_by_series" in plan and "series_by_counter" in plan, plan
END
check "  are all there, and found by an index" python3 sum.py
if skip_reason sanitized "$H" >/dev/null; then
    skip "  and take little memory" sanitized "$H"
else
    for format in sqlite csv; do
        much=$(python3 memory.py "$H" export many --format $format --out many-$format)
        if [ "$((much - few))" -lt 40000 ]; then ok "  and take little memory as $format"; else nok "  and take little memory as $format" "$much KB, of few samples $few KB"; fi
    done
fi

# ---- a run that ends between the two readings
what="a run that ends while its sweep is exported"
if skip_reason preloaded "$H" >/dev/null; then
    skip "$what" preloaded "$H"
elif ! compile_preload open.so "$ROOT/tests/e2e/export/at_open.c"; then
    nok "$what" "the preloaded library does not compile"
else
    for run in 01 02; do
        fresh_case
        mv case/$run/result.json .
        check_exit 2 "$what ($run)" env AT_OPEN="mv result.json case/$run/" LD_PRELOAD="$SCRATCH/open.so" "$H" export case --out x.sqlite
        check_says "  is refused" 'changed while they were exported: export again when no run is going on' err
        check "  and nothing is left" test -z "$(find . -name '.*.new-*')" -a ! -e x.sqlite
        check_exit 0 "  all samples are there afterwards" "$H" export case --out x.sqlite
    done
fi

# ---- a sweep of many runs
mkdir -p huge
jq -c '.cells = [range(1000) | {folder: "\(.)", cell: {}, verdict: "passed", complete: true}]' "$good/index.json" >huge/index.json
for i in $(seq 0 999); do mkdir "huge/$i"; done
jq -c 'del(.hosts, .lab, .topology)' "$good/01/result.json" >huge/0/result.json
for i in $(seq 999); do ln huge/0/result.json "huge/$i/"; done
check_exit 0 "a sweep of 1000 runs" "$H" export huge --out huge.sqlite
check_says "  is whole" '^harness: 1000 runs, 0 samples$' err
finish
