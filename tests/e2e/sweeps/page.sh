#!/usr/bin/env bash
# The page of a sweep: what failed stands first, every figure is drawn over the choices with the values of the results, and the table for
# spreadsheets has them all. Many cells make a page that can be read, and results from elsewhere nothing but text.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/e2e/reports/browser.bash
source "$(dirname "$0")/../reports/browser.bash"
skip_unless "the pages of sweeps" jq python3 xmllint
H=$BUILD/harness
LAB=$ROOT/labs/sim-hpcc-star.json
LABELS=$ROOT/tests/e2e/harness/svg-labels
cd "$SCRATCH" || exit 2

jq 'del(.sweep, .published) | .phases.measure = "100us" | .expect = [
      { "name": "data moves", "check": "sum(flows.pair.bytes) > 0" },
      { "name": "few marks", "check": "delta(s0.ecn_marked) <= 20" }]' "$ROOT/scenarios/dcqcn-choices.json" >base.json
sweep() { # NAME SWEEP [OPTION...]
    local name=$1 choices=$2
    shift 2
    jq --arg name "$name" --argjson sweep "$choices" '.name = $name | .sweep = $sweep' base.json >"$name.json"
    "$H" run "$name.json" --lab "$LAB" --out . --quiet "$@"
    local code=$?
    if [ $code -le 1 ]; then ok "the sweep $name runs"; else nok "the sweep $name runs" "exit code $code"; fi
}
readable() { # WHAT FOLDER
    check "$1: every drawing is well-formed XML" xmllint --noout "$2"/*.svg
    check "$1: no words of a drawing are cut off or lie on others" awk -f "$LABELS" "$2"/*.svg
    silent=$(grep -L simulated "$2"/*.svg)
    check "$1: every drawing says simulated" test -z "$silent"
}
# shellcheck disable=SC2317 # called through check
line_of() { grep -n -m 1 -- "$2" "$1" | cut -d : -f 1; }
# shellcheck disable=SC2317 # called through check
first_of() { # BEFORE AFTER PAGE
    local before after
    before=$(line_of "$3" "$1") after=$(line_of "$3" "$2")
    [ -n "$before" ] && [ -n "$after" ] && [ "$before" -lt "$after" ]
}

cat >same.py <<'END'
"""same.py FOLDER csv|drawn: do sweep.csv and the drawings have the values of the results?"""
import csv, glob, json, os, statistics, sys
folder, what = sys.argv[1:]
index = json.load(open(folder + "/index.json"))
runs = [(c, json.load(open(f"{folder}/{c['folder']}/result.json"))) for c in index["cells"]]
T95 = {1: 12.706204736, 2: 4.302652730, 3: 3.182446305, 4: 2.776445105}
def total(r): return sum(f["goodput_bps"] for n, f in r["flows"].items() if "/" not in n)
def counter(r, name): return sum(h.get("counters", {}).get(name, {}).get("delta", 0) for h in r["hosts"].values())
checked = 0
def same(a, b, why):
    global checked
    checked += 1
    if a != b: sys.exit(f"{why}: {a!r}, the result has {b!r}")
def near(a, b, why):
    global checked
    checked += 1
    if abs(a - b) > 1e-9 * max(abs(a), abs(b), 1e-9): sys.exit(f"{why}: {a!r}, from the results {b!r}")
if what == "csv":
    raw = open(folder + "/report/sweep.csv", newline="").read()
    if raw.count("\r\n") != len(runs) + 1 or raw.count("\n") != len(runs) + 1: sys.exit("lines do not end with CR LF")
    rows = list(csv.DictReader(raw.splitlines()))
    same(len(rows), len(runs), "rows")
    for row, (cell, r) in zip(rows, runs):
        same(row["folder"], cell["folder"], "folder")
        same(int(row["repeat"]), cell["repeat"], "repeat")
        same(row["verdict"], r["verdict"], "verdict")
        for path, value in cell["cell"].items():
            same(row[path], value if isinstance(value, str) else json.dumps(value, separators=(",", ":")), path)
        same(float(row["goodput of all flows, b/s"]), total(r), "goodput")
        for e in r["expectations"]:
            name = f"{e['name']}: {e['check']}" + (f", {e['unit']}" if e.get("unit") else "")
            same(float(row["left side of " + name]), float(e["left"]), name)
            same(row[f"verdict of {e['name']}: {e['check']}"], e["verdict"], name)
        for name in row:
            if name.endswith(", packets") and not name.startswith("left"):
                same(float(row[name]), counter(r, name[:-9]), name)
else:
    cells = {}
    for c, r in runs: cells.setdefault(json.dumps(c["cell"]), []).append(r)
    def spread(of):
        got = {}
        for key, rs in cells.items():
            v = [of(r) for r in rs]
            half = T95[len(v) - 1] * statistics.stdev(v) / len(v) ** 0.5 if len(v) > 1 else None
            got[tuple(str(x) for x in json.loads(key).values())] = (statistics.fmean(v), half)
        return got
    for glob_name, of in (("*goodput-of-all-flows.tsv", lambda r: total(r) / 1e9), ("*-few-marks.tsv", lambda r: r["expectations"][1]["left"])):
        wanted = spread(of)
        (path,) = glob.glob(f"{folder}/report/{glob_name}")
        lines = open(path).read().split("\n")
        heads = [l for l in lines if l.startswith("# value in ")]
        if heads:                                       # a heat map: value, interval, failed, x, y, panel
            names = heads[0].split("\t")[3:]
            order = [p.split(".")[-1] for p in runs[0][0]["cell"]]
            drawn = [l.split("\t") for l in lines if l.count("\t") == 5 and not l.startswith("#")]
            same(len(drawn), len(cells), path)
            for d in drawn:
                named = dict(zip(names, d[3:]))
                mean, half = wanted[tuple(named[o] for o in order)]
                near(float(d[0]), mean, path)
                if half is not None: near(float(d[1]), half, path)
        else:                                           # a curve: x, mean, and both ends of the interval
            drawn = [l.split("\t") for l in lines if l.count("\t") == 3 and not l.startswith("#")]
            same(len(drawn), len(cells), path)
            for x, y, low, high in drawn:
                mean, half = wanted[(x.rstrip("0").rstrip(".") if "." in x else x,)]
                near(float(y), mean, path)
                near(float(high) - float(low), 2 * (half or 0), path)
print(f"{checked} values")
if checked < 10: sys.exit("too few values were compared")
END

# ---- what is judged beside another cell has no verdict in a run
jq '.name = "beside" | .sweep = {"traffic.pair.message": ["4KiB", "16KiB", "64KiB"], "traffic.pair.depth": [1, 8]} | .expect = [
    {name: "all is well", when: {"traffic.pair.depth": 1}, check: "sum(flows.*.delivered_bps) > 1Mb/s"},
    {name: "more at once", when: {"traffic.pair.depth": 8}, against: {"traffic.pair.depth": 1}, check: "sum(flows.*.delivered_bps) / other(sum(flows.*.delivered_bps)) > 1.5"}]' base.json >beside.json
check_exit 1 "a sweep with a cell that fails beside another one" "$H" run beside.json --lab "$LAB" --out .
sed -n '/<section class=first>/,/<.section>/p' beside/latest/report/index.html >first
check_says "an expectation that failed beside another cell is named first" '<b>more at once</b> <span class=failed>failed in 1 of 3</span>: all with message 64KiB, and no others' first
check "... and is the picture, not the one that passed wherever it was judged" grep -q '<figure>.*href="figure-002-more-at-once.svg"' first

# ---- two choices: heat maps
sweep two '{"traffic.pair.message": {"from": "4KiB", "to": "64KiB", "factor": 2}, "traffic.pair.depth": [1, 2, 4, 8]}'
two=$(readlink -f two/latest)
page=$two/report/index.html
failed=$(jq '[.cells[] | select(.verdict == "failed")] | length' "$two/index.json")
check "some of its 20 cells failed, others did not ($failed)" test "$failed" -gt 0 -a "$failed" -lt 20
check "what failed stands first" first_of '<h2>What failed' '<h2>Expectations' "$page"
check "... with each run that failed" test "$(sed -n '/<h2>What failed/,/<h2>/p' "$page" | grep -c '^<tr>')" = "$failed"
check_says "... after what those that failed have in common: of these, the same depths and sizes" \
    "<li><b>few marks</b> <span class=failed>failed in $failed of 20</span>: all with message 64KiB and depth &gt;= 4 or message 32KiB and depth 8, and no others</li>" "$page"
check "... before the first table, with the picture of it, which stands there alone" \
    test "$(sed -n '/<section class=first>/,/<.section>/p' "$page" | grep -c 'few-marks.svg')" = "$(grep -c 'few-marks.svg' "$page")"
check_says "... with its choices, the expectation and the reason" 'message 64KiB, depth 8<br><code>20</code>.*few marks<br>.*[0-9]+, expected &lt;= 20' "$page"
check "the drawings have the values of the results" python3 same.py "$two" drawn
check "sweep.csv has the values of the results" python3 same.py "$two" csv
check_says "... and is named on the page" '<a href="sweep.csv">' "$page"
crosses=$(grep -c $'>\xc3\x97' "$two"/report/*few-marks.svg)
check "each cell that failed has a cross on its map" test "$crosses" = "$failed"
check_says "... and below it is said how many have a frame" "The left side of the expectation\\. <span class=picture-note>$failed fields? (has|have) a frame: the expectation failed\\.</span>" "$page"
check "what is said of colours holds in each scheme" test "$(grep -c 'the darker' "$page")" = 0
readable "two choices" "$two/report"
missing=$(grep -oE 'href="[^"#]+"' "$page" | sed -E 's/^[a-z]+="(.*)"$/\1/' | while read -r f; do [ -e "$two/report/$f" ] || echo "$f"; done)
check "all files that the page refers to exist" test -z "$missing"
check "nothing of it comes from elsewhere" test -z "$(grep -E '(src|href)="(https?:|/)' "$page")"
check_says "the page says how curves over time are drawn" "harness report .*/01</code> draws those of one run" "$page"
check "... and has none" test -z "$(ls "$two"/report/*throughput* 2>/dev/null)"
check "the table of cells has a row for each" test "$(sed -n '/<h2 id=cells>/,/<\/table>/p' "$page" | grep -c '<tr><td')" = 20

# ---- numbers that read the same have one colour, and a scale with two ends is between two
cat >alike.json <<'END'
{ "schema": 1, "name": "alike", "roles": ["h[0-1]"], "phases": { "measure": "10ms" }, "flows": [ { "name": "f", "from": "h0", "to": "h1", "message": "4KiB", "rate": "3Gb/s" } ],
  "sweep": { "flows.f.rate": ["3Gb/s", "3.001Gb/s", "3.002Gb/s"], "flows.f.depth": [64, 65, 66, 67, 68, 69] },
  "expect": [ { "name": "data moves", "check": "sum(flows.f.bytes) > 0" } ] }
END
check_exit 0 "a sweep of rates that are nearly the same" "$H" run alike.json --lab "$LAB" --out . --quiet
alike=$(echo alike/latest/report/*-goodput-of-all-flows.svg)
check "its map has one number, $(grep -oE '>[0-9.]+ Gb/s<' $alike), and no other end of the scale" test "$(grep -c '>3[.]00<' $alike)" = 18
check "... and one colour" test "$(grep -oE 'fill="#[0-9a-f]{6}" stroke="#ffffff"' $alike | sort -u | wc -l)" = 1

# ---- one choice, repeated: intervals; numbers as they were written
sweep one '{"settings_of.s0.ecn_threshold.pmax": [0.1, 0.2, 0.3]}' --repeat 3
one=$(readlink -f one/latest)
check "the curves have the means and the 95 % intervals of the results" python3 same.py "$one" drawn
check "sweep.csv has each repetition" python3 same.py "$one" csv
check_says "the page has means with intervals" '[0-9]+ <span class=soft>&plusmn;' "$one/report/index.html"
check_says "0.1 is printed as 0.1" 'data-v="0.1">0\.1</td>' "$one/report/index.html"
check_says "... on the axis too" '>0\.1<' "$one"/report/*goodput*.svg
check "... and never with 17 digits" test -z "$(grep -rlE '0\.1000000000|0\.30000000000' "$one/report" --include='*.html' --include='*.csv' --include='*.svg')"
check_says "the page has the number of runs" '9 runs</b>, 3 of each of 3 cells' "$one/report/index.html"
readable "one choice" "$one/report"
# A figure that one of a cell's three runs lacks, or two: the mean says of how many runs it is.
cp -r "$one" some
for run in 01 04 05; do
    jq '.flows |= map_values(del(.delivered_bps, .delivered_bytes))' "$one/$run/result.json" >"some/$run/result.json"
done
check_exit 0 "a sweep of which some runs lack a figure" "$H" report some
check_says "... says it below the drawings" '2 of 3 cells are means of some of their runs: the others have no value' some/report/index.html
check "... and in the table" test "$(grep -oE '\([12] of 3 runs\)' some/report/index.html | sort -u | tr '\n' ' ')" = "(1 of 3 runs) (2 of 3 runs) "
check "... and not where all have it" test -z "$(grep -E 'of some of|\([0-9] of 3 runs\)' "$one/report/index.html")"
check "a logarithmic axis is for equal ratios alone" test -z "$(grep -h 'data-x="logarithmic"' "$one"/report/*.svg)"
sweep ratios '{"traffic.pair.message": ["1KiB", "4KiB", "16KiB", "64KiB", "256KiB"]}'
check_says "... as those of sizes" 'data-x="logarithmic"' ratios/latest/report/figure-*-goodput-of-all-flows.svg

cp -rL one/latest over && rm -rf over/report
jq '.repeated = [{"folders": [.cells[] | select(.verdict == "passed").folder][:1], "cell": {"x.pmax": 0.1}, "expectations": [{"name": "steady <b>", "check": "a > 1", "verdict": "failed", "reason": "mean of 3 runs 0.9"}, {"verdict": "passed"}, 7]}, 7]' \
    one/latest/index.json >over/index.json
check_exit 1 "an expectation that failed over repetitions alone" "$H" report over
check_says "... stands first too, with the cell and the reason" '<tr><td>pmax 0\.1</td><td class=words>steady &lt;b&gt;<br><code>a &gt; 1</code></td><td>mean of 3 runs 0\.9</td>' \
    over/report/index.html
failing=$(jq '[.cells[] | select(.verdict == "failed")] | length' one/latest/index.json)
check_says "... and its run counts as failed" "<b>[0-9]+ runs</b>.*[:,] $((failing + 1)) failed[,.]" over/report/index.html

# ---- three choices: small multiples; words: curves; more and samples: points
sweep three '{"traffic.pair.message": ["4KiB", "16KiB", "64KiB"], "traffic.pair.depth": [1, 4, 8], "settings_of.s0.ecn_threshold.kmin": ["50KB", "100KB"]}'
three=$(readlink -f three/latest)
check "the drawings have the values of the results" python3 same.py "$three" drawn
for kmin in 50KB 100KB; do check_says "there is a panel for $kmin" ">kmin $kmin<" "$three"/report/figure-*-goodput-of-all-flows.svg; done
readable "three choices" "$three/report"
sweep words '{"traffic.pair.message": ["4KiB", "16KiB", "64KiB"], "settings.ecn": [[], [3]]}'
check_says "a choice of words is a curve each" '>ecn none<' words/latest/report/figure-*-goodput-of-all-flows.svg
readable "words" words/latest/report
sweep rows '{"settings.dcqcn.rp": [{}, {"rpg_hai_rate": 200}, {"rpg_ai_rate": 5}, {"rpg_ai_rate": 50}, {"rpg_gd": 7}]}'
check_says "words alone are rows" '>rp .rpg_hai_rate 200.<' rows/latest/report/figure-*-goodput-of-all-flows.svg
readable "rows" rows/latest/report
sweep four '{"traffic.pair.message": ["4KiB", "64KiB"], "traffic.pair.depth": [1, 8], "settings_of.s0.ecn_threshold.kmin": ["50KB", "100KB"], "settings.ecn": [[], [3]]}'
cat >effects.py <<'END'
"""effects.py FOLDER: a row for each value of a choice, with mean, least and greatest of its runs; the largest effect first."""
import glob, json, re, statistics, sys
folder = sys.argv[1]
index = json.load(open(folder + "/index.json"))
groups = {}
for c in index["cells"]:
    r = json.load(open(f"{folder}/{c['folder']}/result.json"))
    for path, value in c["cell"].items():
        value = ("none" if value == [] else str(value[0])) if isinstance(value, list) else str(value)
        groups.setdefault(path.split(".")[-1], {}).setdefault(value, []).append(sum(f["goodput_bps"] for n, f in r["flows"].items() if "/" not in n) / 1e9)
size = {c: max(map(statistics.fmean, g.values())) - min(map(statistics.fmean, g.values())) for c, g in groups.items()}
(path,) = glob.glob(folder + "/report/figure-*-goodput-of-all-flows.tsv")
drawn = [l.rstrip("\n").split("\t") for l in open(path) if l.count("\t") >= 4 and not l.startswith("#")]
names = [d[-1] for d in drawn]
wanted = [f"{c} {v}" for c in groups for v in groups[c]]
if sorted(names) != sorted(wanted): sys.exit(f"rows {names}, expected {wanted}")
for d in drawn:
    c, v = d[-1].split(" ")
    g = groups[c][v]
    for has, is_ in zip(map(float, (d[0], d[2], d[3])), (statistics.fmean(g), min(g), max(g))):
        if abs(has - is_) > 1e-6 * is_: sys.exit(f"{d}: {g}")
order = list(dict.fromkeys(n.split(" ")[0] for n in names))
if any(size[a] < size[b] - 1e-9 for a, b in zip(order, order[1:])): sys.exit(f"order {order}, effects {size}")
page = open(folder + "/report/index.html").read()
said = re.search(r"The largest effect on &quot;.*?&quot; has (.*?): on average ([^ ]+).*? with (.*?), and ([^ ]+).*? with (.*?)\.</p>", page)
first = [l.rstrip("\n").split("\t") for l in open(f"{folder}/report/" + re.search(r'href="(figure[^"]*\.tsv)"', page)[1]) if l.count("\t") >= 4 and not l.startswith("#")]
mine = {d[-1]: f"{float(d[0]):.4g}" for d in first if d[-1].startswith(said[1])}
if not first[0][-1].startswith(said[1]) or mine[said[3]] != said[2] or mine[said[5]] != said[4]: sys.exit(f"{said[0]}: {first}")
END
check "of more choices there is a row for each value, with what its runs have, and a sentence on the largest effect" python3 effects.py "$(readlink -f four/latest)"
check_says "... which the page says" 'Each row is a value of a choice\. Other choices differ too' four/latest/report/index.html
readable "more choices" four/latest/report
check "... and their cells are in the table" test "$(sed -n '/<h2 id=cells>/,/<\/table>/p' four/latest/report/index.html | grep -c '<tr><td')" = 16
sweep drawn '{"draw": {"count": 12, "seed": 1, "over": {"settings.dcqcn.rp.rpg_ai_rate": {"from": 5, "to": 50}, "settings_of.s0.ecn_threshold.pmax": {"from": 0.01, "to": 0.2}}}}'
check "samples of two choices are points over each" \
    test "$(find drawn/latest/report/ -name 'figure-*-goodput-of-all-flows-over-*.svg' -printf '%f\n' | sed 's/.*-over-//' | sort | paste -sd,)" = "pmax.svg,rpg-ai-rate.svg"
points=$(jq -r '.cell["settings_of.s0.ecn_threshold.pmax"] as $p | ([.flows | to_entries[] | select(.key | test("/") | not).value.goodput_bps] | add / 1e9) as $g | "\($p) \($g)"' \
    drawn/latest/[0-9]*/result.json | awk '{ printf "%.6g %.6g\n", $1, $2 }' | sort)
check "... with the values of the results" test "$(awk -F '\t' 'NF == 2 && !/^#/ { printf "%.6g %.6g\n", $1, $2 }' drawn/latest/report/figure-*-over-pmax.tsv | sort -u | grep -cFxf - <(echo "$points"))" = 12
readable "samples" drawn/latest/report

# ---- few runs: drawn over time, with the table beside them
sweep few '{"traffic.pair.depth": [1, 8]}'
check "two runs have curves over time" test -s few/latest/report/01-dcqcn.svg
check_says "... and sweep.csv" 'href="sweep.csv"' few/latest/report/index.html
check "... with their values" python3 same.py few/latest csv

# ---- a sweep that was killed
cp -rL two/latest killed && rm -rf killed/report
jq -c 'del(.cells, .complete, .verdict)' killed/index.json >killed/index.jsonl && jq -c '.cells[:7][]' killed/index.json >>killed/index.jsonl
rm killed/index.json
for run in killed/[0-9]*; do [ "$((10#${run#killed/}))" -le 7 ] || rm -rf "$run"; done
check_exit 0 "a sweep that was killed has a page" "$H" report killed
check_says "... which says so" 'The sweep has not ended: these are the runs up to now' killed/report/index.html
check_says "... and has its seven runs" '<b>7 runs</b>' killed/report/index.html

# ---- results from elsewhere
# shellcheck disable=SC2016 # none of it is for a shell
evil='=cmd|" /C calc"!A0,<script>alert(1)</script>'$'\n''`touch pwned`"; system("touch pwned"); "{/=20 %s'"'"
make_hostile() { # SWEEP FOLDER: its names, units, reasons and some choices are replaced
    local result
    cp -rL "$1/latest" "$2" && rm -rf "$2/report"
    jq --arg evil "$evil" '.cells[:4] |= map(.cell |= map_values($evil)) | .reason = $evil | .complete = false' "$1/latest/index.json" >"$2/index.json"
    for result in "$2"/*/result.json; do
        jq --arg evil "$evil" --argjson run "$((10#$(basename "${result%/*}")))" 'if $run <= 4 then .cell |= map_values($evil) else . end | .scenario.title += $evil | .expectations[].name += $evil | .expectations[].reason += $evil | .expectations[].unit = $evil | .warnings = [$evil] |
            .flows[$evil] = .flows.pair | .hosts.s0.counters[$evil] = (.hosts.s0.counters.ecn_marked | .delta += 1 | .unit = $evil)' "$result" >"$result.new"
        mv "$result.new" "$result"
    done
}
for kind in two one ratios words drawn; do
    make_hostile $kind hostile-$kind
    check_exit 0 "a sweep with hostile text is drawn ($kind)" "$H" report hostile-$kind
    check "... nothing of it is run" test -z "$(find . -name pwned)"
    check "... and only the page's own script is one" \
        test "$(grep '<script' hostile-$kind/report/index.html | grep -cv '<script type="application/json" class=plot ') $(grep -c 'script>alert' hostile-$kind/report/index.html)" = \
        "$(grep -c "script-src 'sha256-[^;]*' 'sha256" hostile-$kind/report/index.html | awk '{ print $1 + 1 }') 0"
    check "... its drawings are well-formed XML" xmllint --noout hostile-$kind/report/*.svg
    check "... its data have no lines that are words" test -z "$(grep -hE '^[^#0-9n-]' hostile-$kind/report/*.tsv)"
    check "... its names of files are plain" test -z "$(find hostile-$kind/report -type f -regextype posix-extended -not -regex '.*/[a-z0-9.-]+')"
done
check "a field that a spreadsheet would execute is a text for it" python3 - hostile-two/report/sweep.csv <<'END'
import csv, sys
rows = list(csv.reader(open(sys.argv[1], newline="")))
assert len(rows) == 21 and len({len(r) for r in rows}) == 1, [len(r) for r in rows]
assert not [f for r in rows for f in r if f[:1] in "=+@" and f], rows
assert [r for r in rows if r[1].startswith("'=cmd|\" /C calc\"!A0,<script>")], rows[1]
END
# A page has the sources of the values of all its runs, not of the first alone.
sweep models '{"lab.defaults.host.nic.model": [null, "ideal", "connectx-5", "connectx-6", "connectx-7"]}' --set phases.measure=10us
sources_of() { grep -o 'nic.tx_latency (connectx-[567])</code></td><td>[a-z]*' "$1" | sed 's/.*(//; s/)<.*>/ /' | tr '\n' ,; }
check "the page of a sweep has the sources of all its runs' values" test "$(sources_of models/latest/report/index.html)" = 'connectx-5 fitted,connectx-6 assumed,connectx-7 assumed,'
check "... the one of some runs too" "$H" report --out models-some models/latest/0[245]
check "... of each of them" test "$(sources_of models-some/index.html)" = 'connectx-6 assumed,connectx-7 assumed,'
cp -rL two/latest odd && rm -rf odd/report
jq '.cells[0].cell = 7 | .cells[1].cell = {} | del(.cells[2].cell) | .cells[3].cell = {"traffic.pair.depth": {"a": [null, {"b": {}}]}}' two/latest/index.json >odd/index.json
jq '.flows = 7 | .hosts = {"a": [], "b": {"counters": {"x": 1}}} | .expectations = [1, {}, {"name": 7}] | .published = [{}] | .warnings = [7]' two/latest/05/result.json >odd/05/result.json
for run in 02 04; do jq --slurpfile index odd/index.json '.cell = $index[0].cells['$((10#$run - 1))'].cell' two/latest/$run/result.json >odd/$run/result.json; done
check_exit 1 "cells and results of odd shapes have a page" "$H" report odd
check "... with all of them" test "$(wc -l <odd/report/sweep.csv)" = 21
jq '.cells[3].folder = "../x"' odd/index.json >elsewhere.json && mv elsewhere.json odd/index.json
check_exit 2 "a cell that is elsewhere is refused" "$H" report odd
check_says "... by name" 'cell 3 does not name a folder of its own' err

# ---- many cells
python3 - two/latest many <<'END'
import json, os, sys
source, made = sys.argv[1:]
result = json.load(open(source + "/01/result.json"))
del result["files"]
index = json.load(open(source + "/index.json"))
index["cells"] = []
for i in range(1500):
    cell = {"traffic.pair.depth": i // 50 + 1, "settings_of.s0.ecn_threshold.pmax": (i % 50) / 100}
    result["cell"] = cell
    pair = result["flows"]["pair"]
    pair["bytes"] = (125000 + i * 1250) * pair["duration_ns"] // 1000000
    pair["goodput_bps"] = pair["bytes"] * 8e9 / pair["duration_ns"]
    pair["goodput_MiBps"] = pair["goodput_bps"] / 8 / 2**20
    result["flows"] = {"pair": pair}
    result["expectations"][1]["verdict"] = result["verdict"] = "failed" if i > 900 else "passed"
    result["expectations"][1]["left"] = 30 if i > 900 else 3
    os.makedirs(f"{made}/{i:04d}")
    json.dump(result, open(f"{made}/{i:04d}/result.json", "w"))
    index["cells"].append({"folder": f"{i:04d}", "cell": cell, "repeat": 1, "verdict": result["verdict"], "complete": True})
json.dump(index, open(made + "/index.json", "w"))
END
check_exit 0 "1500 cells have a page" "$H" report many
check_says "... which says what its table leaves out" 'The first 1000 of 1500 cells; all are in <a href="sweep.csv">' many/report/index.html
check_says "... and how many failures" '400 of 599 are listed' many/report/index.html
check "... has no more rows than that" test "$(sed -n '/<h2 id=cells>/,/<\/table>/p' many/report/index.html | grep -c '<tr><td')" = 1000
check "... is below 10 MB: $(stat -c %s many/report/index.html)" test "$(stat -c %s many/report/index.html)" -lt 10000000
check "sweep.csv has all of them" test "$(wc -l <many/report/sweep.csv)" = 1501
readable "many cells" many/report

# ---- in a browser: narrow, and sorted
if ! find_browser >/dev/null; then
    skip "the page in a browser" no-browser
    finish
fi
start_browser
browse open "$page" 390 800
page_is "nothing is wider than a narrow window" 'document.documentElement.scrollWidth <= 390'
page_is "a picture that is wider scrolls in its box, to its end, and fades where it goes on" '(box => (box.scrollLeft = 9999, box.scrollLeft + box.clientWidth === box.scrollWidth && box.scrollWidth >= 748 && getComputedStyle(box).maskImage !== "none"))(document.querySelector(".picture"))'
browse eval 'window.table = document.querySelector("table.sortable"), window.heads = Array.from(table.tHead.rows[0].cells),
    window.size = heads.findIndex(h => h.textContent.startsWith("message")), window.head = heads[size], head.querySelector("button").focus(), 1'
page_is "a heading can be focused" 'document.activeElement === head.querySelector("button")'
sorted() { echo "(head.getAttribute('aria-sort') + ' ' + Array.from(table.tBodies[0].rows).map(r => r.cells[size].textContent).join(' '))"; }
browse key Enter
page_is "it sorts by size, not by letters" "/^ascending (4KiB ){4}(8KiB ){4}(16KiB ){4}(32KiB ){4}64KiB/.test$(sorted)"
browse key Enter
page_is "... and again the other way" "/^descending (64KiB ){4}(32KiB ){4}(16KiB ){4}(8KiB ){4}4KiB/.test$(sorted)"
page_is "one heading says that it is sorted by" 'table.querySelectorAll("th[aria-sort]").length === 1'
quiet "the page of a sweep"
finish
