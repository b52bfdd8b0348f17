#!/usr/bin/env bash
# harness export: a database and CSV files with the values of real (simulated) results, and the lines of docs/export.md.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/../lib.sh"
skip_unless "exports are compared" python3 jq
HERE=$(dirname "$(realpath "$0")")
H=$BUILD/harness
cd "$SCRATCH" || exit 2

"$H" run "$ROOT/scenarios/pfc-bidir.json" --duration 100ms --no-report --quiet --out results >run.log 2>&1
"$H" run "$ROOT/scenarios/incast-pfc.json" --duration 1ms --set sample.every=200us --repeat 2 --no-report --quiet --out results >>run.log 2>&1
"$H" run "$ROOT/scenarios/incast-pfc.json" --duration 1ms --set sample.every=200us --set 'capture={"limit": "1MB"}' --set 'verify=["icrc", "pfc"]' --no-report --quiet --out single >>run.log 2>&1
pair=$(readlink -f results/pfc-bidir/latest) incast=$(readlink -f results/incast-pfc/latest) single=$(readlink -f single/incast-pfc/latest)
if ! [ -s "$pair/02/result.json" ] || ! [ -s "$incast/02/pauses.jsonl" ] || ! [ -s "$single/result.json" ]; then
    nok "results" "$(cat run.log)"
    finish
fi

# ---- the values
check_exit 0 "three results become a database" "$H" export "$pair" "$incast" "$single" --out all.sqlite
check "its path is printed" [ "$(cat out)" = all.sqlite ]
check_says "the rest is said on standard error" '^harness: 5 runs, [0-9]+ samples$' err
check_says "also which samples are left out" '^harness: [1-9][0-9]* of [0-9]+ counters and gauges never change: of their samples, the first and the last are there$' err
check_exit 0 "and CSV files" "$H" export "$pair" "$incast" "$single" --format csv --out csv/
check "both have the values of the results" python3 "$HERE/compare.py" all.sqlite csv "$pair" "$incast" "$single"
check "lines of CSV end with CR LF" bash -c "! grep -qvP '\r$' csv/*.csv"
check "nothing is left in the making" [ -z "$(find . -name '.*.new-*')" ]
check "everybody whom the umask lets may read" [ "$(stat -c %a csv csv/runs.csv all.sqlite | tr '\n' ' ')" = "755 644 644 " ]
check_exit 0 "a result that is named twice, once through a link" "$H" export "$incast" results/incast-pfc/latest --out twice.sqlite
check_says "is exported once" '^harness: 1 result was named more than once, and exported once$' err
check_exit 0 "a run that is named beside its sweep" "$H" export "$incast/01" "$incast" "$incast/02" --out beside.sqlite --tables flows
check_says "is exported once" '^harness: 2 runs, 0 samples$' err

# ---- choices as numbers
"$H" run "$ROOT/scenarios/pfc-bidir.json" --duration 10ms --no-report --quiet --out sizes --set 'sweep={"flows.*.message": ["64KiB", "1MB"]}' >run.log 2>&1
sizes=$(readlink -f sizes/*/latest)
check_exit 0 "a sweep over sizes" "$H" export "$sizes" --tables choices --out sizes.sqlite
cat >sizes.py <<'END'
import sqlite3
db = sqlite3.connect("sizes.sqlite")
assert db.execute("SELECT value, number, unit FROM choices ORDER BY number").fetchall() == [("64KiB", 65536.0, "bytes"), ("1MB", 1e6, "bytes")], db.execute("SELECT * FROM choices").fetchall()
assert {name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")} == {"runs", "choices", "columns"}
END
check "has them in bytes too; other tables are left out" python3 sizes.py

# ---- whole numbers of 64 bits, and words of any kind
odd=$SCRATCH/odd
cp -r "$single" "$odd"
host=$(sed -n 's/^\["\([^"]*\)",.*/\1/p' "$odd/samples.jsonl" | head -n 1)
cat >>"$odd/samples.jsonl" <<END
{"type":"header","host":"$host","columns":[{"name":"=cmd|' /C calc'!A0","unit":"a \"b\", c","kind":"counter","source":"s","group":"g"},{"name":"-1+2","unit":"\u001b[31m\n","kind":"gauge","source":"@x","group":"+y"}]}
["$host",4611686018427387903,1,9223372036854775807,-9223372036854775807]
["$host",-4611686018427387903,1,9007199254740993,null]
END
printf '["h\xff\x1b",3,-4611686018427387903,4611686018427387903,true]\n' >>"$odd/pauses.jsonl"
jq --arg esc $'\x1b[2J' '.scenario.title = "=1+1,\"x\"\n" + $esc | .phases += [{"name": "measure", "start_ns": .phases[-1].end_ns, "end_ns": 9223372036854774784}] | .warnings += ["+w", "-w", "@w", "x;=1+1;-2", "\uff1d1", "x; \uff0b1", "\uff0d1\uff20", " \uff201", "plain, \"quoted\"", " space"] | .cell = {"a.=b": ["x", 1], "c": true, "d": null, "e": 3, "f": {"g": 0.5}}' \
    "$single/result.json" >"$odd/result.json"
forget_files "$odd"
check_exit 0 "odd words and the largest numbers: a database" "$H" export "$odd" --out odd.sqlite
check_exit 0 "odd words and the largest numbers: CSV" "$H" export "$odd" --out odd-csv --format csv
cat >odd.py <<'END'
import csv, sqlite3
db = sqlite3.connect("odd.sqlite")
one = lambda sql: db.execute(sql).fetchall()
rows = lambda table: list(csv.DictReader(open(f"odd-csv/{table}.csv", newline="")))
assert one("SELECT time_ns, value FROM samples WHERE counter LIKE '=cmd%' ORDER BY time_ns") == [(-4611686018427387903, 9007199254740993), (4611686018427387903, 9223372036854775807)]
assert one("SELECT time_ns, value FROM samples WHERE counter = '-1+2'") == [(4611686018427387903, -9223372036854775807)]
assert one("SELECT unit, source, counter_group FROM series WHERE counter = '-1+2'") == [("\\x1b[31m\n", "@x", "+y")], one("SELECT * FROM series")
assert one("SELECT host, start_ns, duration_ns, lasts FROM pauses WHERE host GLOB 'h*xff*'") == [("h\\xff\\x1b", -4611686018427387903, 4611686018427387903, 1)], one("SELECT DISTINCT host FROM pauses")
assert one("SELECT title FROM runs") == [('=1+1,"x"\n\\x1b[2J',)], one("SELECT title FROM runs")
assert one("SELECT measure_end_ns < 1e12 FROM runs") == [(1,)], one("SELECT measure_start_ns, measure_end_ns FROM runs")
assert one("SELECT path, value, number FROM choices") == [("a.=b", '["x",1]', None), ("c", "true", None), ("d", "null", None), ("e", 3, 3.0), ("f", '{"g":0.5}', None)], one("SELECT * FROM choices")
assert [r["value"] for r in rows("samples") if r["counter"].startswith("'=cmd")] == ["9223372036854775807", "9007199254740993"]
assert [(r["counter"], r["unit"], r["source"], r["counter_group"]) for r in rows("series")][-2:] == [("'=cmd|' /C calc'!A0", 'a "b", c', "s", "g"), ("'-1+2", "\\x1b[31m\\x0a", "'@x", "'+y")]
assert [r["warning"] for r in rows("warnings")][-10:] == ["'+w", "'-w", "'@w", "x;'=1+1;'-2", "'\uff1d1", "x; '\uff0b1", "'\uff0d1\uff20", " '\uff201", 'plain, "quoted"', " space"], rows("warnings")
assert rows("runs")[0]["title"] == "'=1+1,\"x\"\\x0a\\x1b[2J"
assert [r["value"] for r in rows("samples") if r["counter"] == "'-1+2"] == ["-9223372036854775807"]
for table in ("runs", "series", "samples", "pauses", "warnings", "choices"):
    for line in open(f"odd-csv/{table}.csv", "rb").read().split(b"\r\n"):
        assert not any(c < 32 or c == 127 for c in line), line
END
check "the database has the words and numbers as they are, CSV no formulas and no controls" python3 odd.py

# ---- the document
# shellcheck disable=SC2016 # a quote of the document
grep -o '^- `[a-z_]*`' "$ROOT/docs/export.md" | tr -d '` -' | sort >documented
python3 -c 'import sqlite3; print("\n".join(sorted(t for (t,) in sqlite3.connect("all.sqlite").execute("SELECT DISTINCT table_name FROM columns"))))' >there
check "docs/export.md names every table" cmp documented there
cat >meanings.py <<'END'
import sqlite3
db = sqlite3.connect("all.sqlite")
assert db.execute("SELECT COUNT(*) > 250 FROM columns").fetchone() == (1,)
assert not (bare := db.execute("SELECT table_name, column_name FROM columns WHERE meaning IS NULL OR trim(meaning) = ''").fetchall()), bare
for column, words in (("latency_p99_ns", "99th percentile: from posting a message to its completion"), ("slowdown_mean", "mean: a flow's completion time, divided by the time that links and switches alone need on an empty network: that of NICs, PCI Express and programs counts as slowdown"), ("latency_max_ns", "the largest: from posting a message to its completion")):
    assert db.execute("SELECT meaning FROM columns WHERE table_name = 'flows' AND column_name = ?", (column,)).fetchall() == [(words,)], column
END
check "every column has a meaning" python3 meanings.py
block() { # KIND N
    awk -v kind="$1" -v n="$2" '$0 == "```" kind { at++; take = at == n; next } /^```/ { take = 0 } take' "$ROOT/docs/export.md"
}
if command -v sqlite3 >/dev/null; then
    block sh 1 >lines.sh
    check "docs/export.md: its lines of SQL run" bash -e lines.sh
    bash lines.sh >sql.out
    check_says "they answer: verdicts and goodput" '^1\|pfc-bidir\|memory host\|(passed|failed)\|[0-9.]+$' sql.out
    check_says "they answer: pauses by memory" '^gpu\|b\|[1-9][0-9]*$' sql.out
    check_says "they answer: units and meanings" '^ns\|how long sending was stopped$' sql.out
else
    skip "docs/export.md: its lines of SQL run" no-command sqlite3
fi
block python 1 >lines.py
check "docs/export.md: its lines of Python run" python3 lines.py
python3 lines.py >lines.out
check_says "they answer" 'ms paused$' lines.out
block python 2 >frames.py # pandas.py would be what it imports
check "docs/export.md has lines for pandas" grep -q pandas.read_sql frames.py
for python in python3 /usr/bin/python3 ''; do "$python" -c 'import pandas' 2>/dev/null && break; done # the system's packages are for its own
if [ -n "$python" ]; then
    check_exit 0 "docs/export.md: its lines for pandas run" "$python" frames.py
    check_says "they answer: frames in a second" '^mean +[0-9.]+' out
else
    skip "docs/export.md: its lines for pandas run" no-module pandas
fi
finish
