#!/usr/bin/env bash
# The report of a real (simulated) run: page, plots and data exist and show the run's numbers; damaged results are refused.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/../lib.sh"
cd "$BUILD" || exit 2

check_exit 0 "a short sweep runs" ./harness run scenarios/pfc-bidir.json --duration 1s --set phases.warmup=100ms --set phases.cooldown=50ms --out "$SCRATCH/results"
result=$(readlink -f "$SCRATCH/results/pfc-bidir/latest")
report=$result/report
check_says "run prints where the page is" 'report/index\.html' "$SCRATCH/out"

for name in sweep-goodput 02-throughput 02-paused 02-buffer 02-pcie 02-pause-cdf; do
    if [ -s "$report/$name.svg" ] && [ -s "$report/$name.tsv" ]; then
        ok "$name is drawn, with its data"
    else
        nok "$name is drawn, with its data" "$(ls "$report")"
    fi
done
check "every SVG is well-formed XML" xmllint --noout "$report"/*.svg
silent=$(grep -L simulated "$report"/*.svg)
if [ -z "$silent" ]; then ok "every picture says simulated"; else nok "every picture says simulated" "$silent"; fi
if grep -qE '(src|href)="(https?:|/)' "$report/index.html"; then
    nok "the page has no references outside its folder"
else
    ok "the page has no references outside its folder"
fi
check "and asks for nothing: pictures are in it, and its policy forbids requests" \
    grep -q "http-equiv=Content-Security-Policy content=\"default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'sha256-" "$report/index.html"
check "... all of them" test "$(grep -c '<img src="data:image/svg+xml;base64,' "$report/index.html")" = "$(grep -c '<img ' "$report/index.html")"
missing=$(grep -oE 'href="[^"#]+"' "$report/index.html" | sed -E 's/^[a-z]+="(.*)"$/\1/' | while read -r f; do
    [ -e "$report/$f" ] || echo "$f"
done)
if [ -z "$missing" ]; then ok "all files that the page refers to exist"; else nok "all files that the page refers to exist" "$missing"; fi
check_says "the page says simulated" 'class="pill simulated"' "$report/index.html"
check_says "the page compares the run with published figures" '5[^0-9]*296|5295\.75' "$report/index.html"
sed -n '/<section class=first>/,/<.section>/p' "$report/index.html" >"$SCRATCH/first"
check_says "its first screen says what was run" '<p class=lead>2 runs, which differ in <code>flows[.][*][.]memory</code>, on 2 hosts, measured for 1s: <b>a-to-b</b> from a to b; <b>b-to-a</b> from b to a[.]' "$SCRATCH/first"
check_says "... how many expectations passed, with those of the sweep's end" "<b>$(jq -s '[.[].expectations[] | select(.verdict == "passed")] | length' "$result"/0[12]/result.json | awk '{ print $1 + 1 }') expectations passed</b>" "$SCRATCH/first"
others=$(jq -s '[.[].expectations[] | select(.verdict == "skipped" and (.reason | startswith("only when ") | not))] | length' "$result"/0[12]/result.json)
check "... and that $others others were not judged, without those that \`when\` leaves to the other run" test "$(grep -oE '[0-9]+ (was|were) not judged' "$SCRATCH/first" | grep -oE '^[0-9]+' || echo 0)" = "$((others > 0 ? others - 1 : 0))"
check_says "... the cause of each run, in a line" '<li><b>memory gpu:</b> b takes less than its line carries' "$SCRATCH/first"
check "... figures, six at most, with the published value" test "$(grep -c '^<div><span class=soft>' "$SCRATCH/first") $(grep -c 'published 5&#8239;296' "$SCRATCH/first")" = "6 1"
check "... and one picture, of the run with a cause: its pauses over its rates, which are not drawn again" test "$(grep -c '<figure>' "$SCRATCH/first") $(grep -c 'href="02-timeline.svg"' "$SCRATCH/first") $(grep -c 'href="02-timeline.svg"' "$report/index.html")" = "1 1 1"
check "what tells of a cause, and where the time of flows went, is folded for each run" test "$(grep -c '^<details><summary><b>memory \(host\|gpu\):</b>' "$report/index.html")" = 2
ratio=$(jq -r '.repeated[].expectations[].reason' "$result/index.json")
check "the page has what was judged beside another cell, with the index's numbers" grep -qF "<td>beside memory host</td><td><span class=\"pill passed\">passed</span><br><span class=soft>${ratio/>/"&gt;"}<" "$report/index.html"
check "a published figure of two cells is compared once, with the index's numbers" test "$(grep -cE '<td>GPU memory to host memory ' "$report/index.html") $(grep -c 'not compared: it reads another cell' "$report/index.html")" = "1 0"
value=$(jq '.repeated[].published[].value' "$result/index.json")
check "  $value" grep -q "GPU memory to host memory .*<td class=number>$(printf %.4f "$value")</td>" "$report/index.html"
check_says "documents of one of several runs name it" '<summary>Scenario as run: memory host</summary>' "$report/index.html"
check_says "the page lists what is fitted" '<td>fitted' "$report/index.html"
check_says "the page shows the thresholds" '91.{0,8}392' "$report/index.html"

caption() { grep -oP "<img [^>]*alt=\"PCIe rates: memory $1\".*?<figcaption>\K[^<]*" <(tr -d '\n' <"$report/index.html" | sed 's/<figure>/\n/g'); }
check "what PCIe rates tell depends on the flows: no word of GPUs where none is drawn" test "$(caption host)" = "What comes into a device (rx) and goes out of it (tx) over PCIe. "
check "... and in both directions both rates are high" grep -q 'Flows go into and out of the GPU of a and b: both of its rates are near' <<<"$(caption gpu)"

# The throughput curve is the samples' counters differenced: its mean is the counter's increase divided by the time.
mean=$(awk -F '\t' '/^# .*a tx_prio0_bytes/ { on = 1; next } on && /^$/ { exit } on && !/^#/ { s += $2; n++ } END { printf "%.3f", s / n }' \
    "$report/02-throughput.tsv")
wanted=$(jq '.hosts.a.counters.tx_prio0_bytes | .rate_per_s * 8 / 1e9' "$result/02/result.json")
if awk -v a="$mean" -v b="$wanted" 'BEGIN { exit !(b > 0 && a / b > 0.98 && a / b < 1.02) }'; then
    ok "the throughput curve agrees with the counters ($mean Gb/s)"
else
    nok "the throughput curve agrees with the counters" "curve $mean, counters $wanted"
fi
pauses=$(jq -s 'map(select(.[0] == "a")) | length' "$result/02/pauses.jsonl")
if [ "$pauses" -gt 0 ] && grep -q "a is paused" "$report/02-pause-cdf.tsv"; then
    ok "the pause lengths come from $pauses single pauses"
else
    nok "the pause lengths come from single pauses" "$pauses"
fi

# A report of one cell, in another folder.
check_exit 0 "a report of one cell, in another folder" ./harness report "$result/02" --out "$SCRATCH/elsewhere"
check "and is in that folder" test -s "$SCRATCH/elsewhere/index.html"

# A run that was measured beside a simulated one: neither gets the word of the other.
cp -r "$result/02" "$SCRATCH/measured"
jq '.simulated = false | .origin = "measured" | .lab.driver = "ssh"' "$result/02/result.json" >"$SCRATCH/measured/result.json"
check_exit 0 "a simulated and a measured run on one page" ./harness report "$result/01" "$SCRATCH/measured" --out "$SCRATCH/mixed"
sed -n '/<h2>Comparison/,/<.table>/p' "$SCRATCH/mixed/index.html" >"$SCRATCH/compared"
check "the column of published figures has no word for both" grep -q '<th class=number>this run<th' "$SCRATCH/compared"
check "  but the simulated run's rows" test "$(grep -c '<tr><td>[^<]*<span class="pill simulated"' "$SCRATCH/compared")" = \
    "$(jq '[.published[] | select(.over | not)] | length' "$result/01/result.json")"

# Finite flows: a curve of ten points for each quantile, the same numbers as in the result; two runs are compared.
check_exit 0 "flows of many sizes" ./harness run scenarios/web-search.json --out "$SCRATCH/results"
web=$SCRATCH/results/web-search/latest
check_says "the page counts finite flows" '<h3>Finite flows' "$web/report/index.html"
wanted=$(jq -r '.flows.web.by_size[] | .up_to_bytes, .slowdown.p99' "$web/result.json" | paste - - | awk '{printf "%.4g %.4g\n", $1, $2}')
drawn=$(awk -F '\t' '/^# slowdown: web, p99/ {on = 1} NF == 2 && on && !/^#/ {printf "%.4g %.4g\n", $1, $2}' "$web/report/sweep-slowdown.tsv")
check "the drawn slowdown by size equals the computed one" test "$(wc -l <<<"$wanted") $drawn" = "10 $wanted"
check_exit 0 "another run to compare with" ./harness run scenarios/web-search.json --seed 2 --no-report --out "$SCRATCH/other"
# three runs of one second that differ in nothing: each has its folder in its name
for copy in one two three; do cp -rL "$web" "$SCRATCH/copy-$copy"; done
check_exit 0 "three runs that nothing tells apart" ./harness report "$SCRATCH"/copy-{one,two,three} --out "$SCRATCH/alike"
check "... are named by their folders, all three" test "$(sed -n '/<h2>Measurements/,/<.table>/p' "$SCRATCH/alike/index.html" | grep -oE '<tr><td>[^<]*copy-(one|two|three)<' | sort -u | wc -l)" = 3
check_exit 0 "a run that is named twice, once as the latest" ./harness report "$web" "$(readlink -f "$web")" --out "$SCRATCH/once"
check "... is drawn once" test -e "$SCRATCH/once/01-throughput.svg" -a ! -e "$SCRATCH/once/02-throughput.svg"
check_exit 0 "two runs on one page" ./harness report "$web" "$SCRATCH/other/web-search/latest" --out "$SCRATCH/both"
check_says "which shows the differing settings" '<code>seed</code></td><td>1</td><td>2</td></tr>' "$SCRATCH/both/index.html"
check_says "and names the curves by them" '^# slowdown: seed 2 web, p99' "$SCRATCH/both/sweep-slowdown.tsv"
check "have two curves each" test "$(grep -c '^# slowdown: ' "$SCRATCH/both/sweep-slowdown.tsv")" = 4

check_exit 0 "runs of different scenarios on one page" ./harness report "$result/01" "$result/02" "$web" --out "$SCRATCH/different"
check "are named by them" test "$(sed -n '/<h2>Measurements/,/<.table>/p' "$SCRATCH/different/index.html" | grep -oP '^<tr><td>\K[^<]*' | paste -sd:)" = "pfc-bidir, memory host:pfc-bidir, memory gpu:web-search"

cp -r "$result/01" "$SCRATCH/slow"
jq '.flows[] |= (.goodput_bps = 50 | del(.duration_ns))' "$result/01/result.json" >"$SCRATCH/slow/result.json"
check_exit 0 "a run that moves 100 b/s" ./harness report "$SCRATCH/slow" --out "$SCRATCH/slow-page"
check "is not one that moves nothing" test "$(grep -c '<td class=number>1.00e-07</td>' "$SCRATCH/slow-page/index.html") $(grep -c '<td class=number>5.00e-08</td>' "$SCRATCH/slow-page/index.html")" = "1 2"

# What a sweep's end judged, beside another cell or over repetitions, is in no run: a page of several sweeps, or of one cell, status and browse
# know it. The second sweep is judged over repetitions, and in the runs themselves that expectation holds.
judged='{name: "moves", check: "min(flows.*.bytes) > 0"}, {name: "as fast", when: {"flows.*.memory": "gpu"}, check: "sum(flows.*.goodput_bps) / other(sum(flows.*.goodput_bps)) > 99%", against: {"flows.*.memory": "host"}}'
check_exit 1 "a sweep fails at its end" ./harness run pfc-bidir --set phases.warmup=100ms --duration 4ms --set phases.cooldown=2ms --no-report --out "$SCRATCH/failed" --set "expect=$(jq -nc "[$judged]")"
one=$(readlink -f "$SCRATCH/failed/pfc-bidir/latest")
check_exit 1 "... and one with repetitions" ./harness run incast-dcqcn --duration 200us --repeat 2 --no-report --out "$SCRATCH/failed" --set 'expect=[{"name":"moves","check":"sum(flows.*.bytes) > 0","over":"repeats"},{"name":"much","check":"sum(flows.*.bytes) > 1TB","over":"repeats"}]'
two=$(readlink -f "$SCRATCH/failed/incast-dcqcn/latest")
check "their runs did not fail" test "$(jq -r .verdict "$one"/0?/result.json "$two"/0?/result.json | sort | uniq -c | xargs)" = "2 passed 2 skipped"
check_exit 0 "both on one page" ./harness report "$one" "$two" --out "$SCRATCH/both"
check "... which says failed" test "$(grep -oE '</h1>|^<p><span class="pill [a-z]+"' "$SCRATCH/both/index.html" | paste -sd' ')" = '</h1> <p><span class="pill failed"'
for reason in $(jq -r '.repeated[].expectations[] | "\(.verdict)\">\(.verdict)</span><br><span class=soft>\(.reason | gsub(">"; "&gt;"))<" | @base64' "$one/index.json" "$two/index.json"); do
    check "... and has $(base64 -d <<<"$reason" | cut -d'>' -f4-)" grep -qF "$(base64 -d <<<"$reason")" "$SCRATCH/both/index.html"
done
check "... nowhere that it is judged at the end of the sweep" test "$(grep -c 'at the end of the sweep' "$SCRATCH/both/index.html")" = 0
check_exit 0 "a page of the cell alone" ./harness report "$one/02" --out "$SCRATCH/one-cell"
check "... says failed" grep -q '^<p><span class="pill failed">' "$SCRATCH/one-cell/index.html"
check_exit 0 "status: all runs are whole" ./harness status "$one"
check_says "... the sweep failed" '^the sweep: failed$' "$SCRATCH/out"
check_says "... and counts the cell that failed then" '^ *2 whole: 1 passed, 1 failed$' "$SCRATCH/out"
for sweep in "$one" "$two"; do
    ./harness status --json "$sweep" | jq -c .verdicts >"$SCRATCH/counts"
    check "... as browse does ($(cat "$SCRATCH/counts"))" test "$(./harness browse "$sweep" --json | jq -cS '[.runs[].verdict] | group_by(.) | map({key: .[0], value: length}) | from_entries')" = "$(jq -cS . "$SCRATCH/counts")"
done
for sweep in "$one" "$two"; do
    ./harness export "$sweep" --out "$SCRATCH/of-sweep" --format csv --tables runs --force >"$SCRATCH/err" 2>&1
    check "... and an export ($(./harness status --json "$sweep" | jq -c .verdicts))" test "$(python3 -c 'import collections, csv, json, sys
print(json.dumps(collections.Counter(row["verdict"] for row in csv.DictReader(open(sys.argv[1]))), sort_keys=True, separators=(",", ":")))' "$SCRATCH/of-sweep/runs.csv")" = "$(./harness status --json "$sweep" | jq -cS .verdicts)"
done
check "... with the expectation as the reason" grep -q 'failed at the end of the sweep: much' "$SCRATCH/of-sweep/runs.csv"
check "the page's table of runs has the same verdicts" test "$(sed -n '/<h2>Measurements/,/<.table>/p' "$SCRATCH/both/index.html" | grep -o 'pill [a-z]*' | sort | uniq -c | xargs)" = "3 pill failed 1 pill passed"
check_says "... in which expectation" "^ failed memory gpu: as fast \($(jq -r '.repeated[0].expectations[0].reason' "$one/index.json")\)$" "$SCRATCH/out"
check "... for programs" test "$(./harness status --json "$one" | jq -r .verdict)" = failed
check "browse finds the cells" test "$(./harness browse "$SCRATCH/failed" --verdict failed --json | jq -r '.runs[] | "\(.folder | sub("/[^/]*/"; "/")) \(.expectations.failed)"' | sort | xargs)" = "incast-dcqcn/01 1 incast-dcqcn/02 1 pfc-bidir/02 1"
check_exit 0 "traces of the sweep" ./harness trace "$one"
check "... have it" grep -q 'failed, 1 expectation failed' "$one/02/trace.pftrace"
check "... and a cell by itself" test "$(./harness browse "$one/02" --json | jq -r '.runs[].verdict')" = failed

# Many results on one page: copies have their folders beside the time, and not every run's counters are on it.
for copy in $(seq 12); do
    mkdir -p "$SCRATCH/copies/$copy"
    jq 'del(.files) | .hosts.a.counters += ([range(4000) | {key: "c\(.)", value: {kind: "counter", unit: "packets", source: "s", group: "g", delta: 1, rate_per_s: 1}}] | from_entries)' \
        "$result/01/result.json" >"$SCRATCH/copies/$copy/result.json"
done
check_exit 0 "a dozen copies with thousands of counters" ./harness report "$SCRATCH"/copies/* --out "$SCRATCH/copied"
check "a copy is named by its folder, not by one time after the other" grep -q "Z, $SCRATCH/copies/11<" "$SCRATCH/copied/index.html"
check_says "counters that do not fit are said to be left out" '<p class=soft>Counters of [0-9]+ more runs are left out' "$SCRATCH/copied/index.html"
check "the page is below 10 MB: $(stat -c %s "$SCRATCH/copied/index.html")" test "$(stat -c %s "$SCRATCH/copied/index.html")" -lt 10000000

# Many flows: the slowest have rows, and what is left out is counted; so is a scenario of many megabytes.
jq 'del(.files) | .flows["a-to-b"] as $f | .flows = ([range(1000) | {key: "f\(.)", value: ($f + {goodput_bps: (10000 - .)} | del(.duration_ns))}] | from_entries) | .scenario.flows = [range(20000) | {name: "f\(.)", from: "a", to: "b"}]' \
    "$result/01/result.json" >"$SCRATCH/copies/1/result.json"
check_exit 0 "a thousand flows" ./harness report "$SCRATCH/copies/1" --out "$SCRATCH/many"
listed_flows() { grep -oE '<td>f[0-9]+</td><td>write' "$SCRATCH/many/index.html" | sed 's/<td>\(f[0-9]*\).*/\1/'; }
check "the slowest 200 are listed, the slowest first" test "$(listed_flows | wc -l) $(listed_flows | sed -n '1p;200p' | xargs)" = "200 f999 f800"
check_says "the others are counted, and where they are is said" '<p class=soft>800 more flows are left out: of a run with more than 200, the slowest are listed[.] <code>harness export --tables flows</code> has all[.]</p>' "$SCRATCH/many/index.html"
check_says "a scenario of megabytes is left out, too" '<p class=soft>Scenario as run: left out, as it has [0-9.]+ MB; result.json has it[.]</p>' "$SCRATCH/many/index.html"
check "the page stays small: $(stat -c %s "$SCRATCH/many/index.html")" test "$(stat -c %s "$SCRATCH/many/index.html")" -lt 1000000

# A warning changes what the figures mean: it comes before them.
"$BUILD/harness" run dcqcn-red-bridge --set 'flows.*.traffic_class=104' --duration 100ms --out "$SCRATCH/results" --quiet 2>/dev/null
red=$(readlink -f "$SCRATCH/results/dcqcn-red-bridge/latest")
early=$(jq '.hosts.switch.counters.qdisc_port1_early.total' "$red/02/result.json")
check "a traffic class that is not ECT: the page says so, and how many were dropped instead ($early)" \
    grep -q "<li>flow a-to-b is not ECN-capable (traffic class 104.*RED at switch drops.*: 0 packets marked, $early dropped early" "$red/report/index.html"
check "above the published figures and expectations" awk '/class=notice/ { seen = 1 } /<h2>(Comparison|Expectations)/ { exit !seen }' "$red/report/index.html"
check "and the drops are drawn" grep -q 'qdisc_port1_early' "$red/report/02-ecn.tsv"
check_says "a cell's choice is shown as text" 'switch \(rx_ring 8192, red\)' "$red/report/index.html"

# A storm on the map of its network: the broken host's port is paused all the time, those of switches and hosts further away later.
check_exit 0 "a storm spreads" ./harness run scenarios/pfc-storm-watchdog.json --out "$SCRATCH/results"
storm=$(readlink -f "$SCRATCH/results/pfc-storm-watchdog/latest")
map=$storm/report/01-map
check "a host that sends nothing in the measure phase is among the lowest" \
    test "$(jq .hosts.h23.counters.tx_prio3_bytes.delta "$storm/01/result.json") $(grep -c '^# sent, Gb/s: h23' "$storm/report/01-throughput.tsv")" = "0 1"
check "its map is drawn" test -s "$map.svg" -a -s "$map.tsv"
check "as well-formed XML" xmllint --noout "$map.svg"
check_says "which says simulated" simulated "$map.svg"
for name in h0 h31 leaf3 spine7; do check_says "and names $name" ">$name<" "$map.svg"; done
for side in a b; do # a line for each end of a link that was held, with what the result says of it
    jq -r --arg side $side '(.phases[] | select(.name == "measure") | .end_ns - .start_ns) as $time | .topology.links[] |
        .[$side + "_held"]["3"] as $held | select($held) |
        "\(.[$side]) \(if $side == "a" then .b else .a end) \($held.held_ns / $time * 100)"' "$storm/01/result.json"
done | awk '{printf "%s %s %.4g\n", $1, $2, $3}' | sort >"$SCRATCH/held"
awk -F '\t' 'NF == 9 && !/^#/ {printf "%s %s %s\n", $8, $9, $5}' "$map.tsv" | sort >"$SCRATCH/drawn"
check "every end of a link that was paused is on the map with its share" diff "$SCRATCH/held" "$SCRATCH/drawn"
check "more than 40 ends were paused" test "$(wc -l <"$SCRATCH/drawn")" -gt 40
check_says "the port of the broken host is paused all the time" '^leaf3 h31 (99\.[5-9]|100)' "$SCRATCH/drawn"
rank() { awk -F '\t' -v from="$1" -v to="$2" 'NF == 9 && $8 == from && $9 == to {print $7}' "$map.tsv"; }
check "the storm reaches its neighbours' port first, then other leaves' hosts" test "$(rank leaf3 h31)" -lt "$(rank h0 leaf0)"
check "all hosts and switches are on the map" \
    test "$(awk -F '\t' 'NF == 2 && !/^#/ && $1 != "nan"' "$map.tsv" | wc -l)" = 44
check "two hosts on a cable have no map" test ! -e "$report/02-map.svg"
cp -r "$storm/01" "$SCRATCH/strange"
jq '.topology.nodes[0].name = "h\"0\t\n'"'"'; system \"touch '"$SCRATCH"'/broken\"" | .topology.nodes[1].kind = 7 |
    .topology.links[2] = {"a": "nobody", "b": "leaf0"} | .topology.links[3].a_held = {"3": {"held_ns": "x", "first_ns": {}, "longest_ns": -1}} |
    .topology.links[4].b = .topology.links[4].a' "$storm/01/result.json" >"$SCRATCH/strange/result.json"
check_exit 1 "the intact part of a damaged topology is drawn" ./harness report "$SCRATCH/strange"
check "and text is never run as a command" test ! -e "$SCRATCH/broken" -a -s "$SCRATCH/strange/report/01-map.svg"

# Hostile names end up as text.
cp -r "$result/02" "$SCRATCH/hostile"
jq '.scenario.title = "<script>alert(1)</script>\" & co" | .warnings = ["<img src=x>"]' "$result/02/result.json" >"$SCRATCH/hostile/result.json"
# shellcheck disable=SC2016 # none of it is for a shell
jq --arg run '`touch ran` "`touch ran`" it'"'"'s' '.cell = {"flows.*.note": $run}' "$SCRATCH/hostile/result.json" >"$SCRATCH/cell" &&
    mv "$SCRATCH/cell" "$SCRATCH/hostile/result.json"
check_exit 0 "a result with hostile text is drawn" ./harness report "$SCRATCH/hostile"
check "and none of them is run" test ! -e "$SCRATCH/hostile/report/ran"
check "but drawn as text" grep -q "touch ran.* it's" "$SCRATCH/hostile/report/01-throughput.svg"
if grep -qE '<script>alert|<img src=x' "$SCRATCH/hostile/report/index.html"; then
    nok "hostile text is escaped"
else
    ok "hostile text is escaped"
fi

# Damaged results.
refused() { # what, pattern
    check_exit 2 "$1" ./harness report "$SCRATCH/damaged"
    check_says "and says why: $2" "$2" "$SCRATCH/err"
}
mkdir "$SCRATCH/damaged"
refused "a folder without a result is refused" 'not a result'
echo '{"schema":1,' >"$SCRATCH/damaged/result.json"
refused "a truncated result is refused" 'result\.json:[0-9]+:[0-9]+'
echo '{"schema":7,"scenario":{}}' >"$SCRATCH/damaged/result.json"
refused "a result of another schema is refused" 'schema'
cp "$result/02/result.json" "$SCRATCH/damaged/"
forget_files "$SCRATCH/damaged"
printf '["a",1,2,3]\n[garbage\n' >"$SCRATCH/damaged/samples.jsonl"
check_exit 1 "damaged samples are left out" ./harness report "$SCRATCH/damaged"
check_says "... and named" 'samples\.jsonl:2: .*the run is not whole' "$SCRATCH/err"
head -c 20000 "$result/02/samples.jsonl" >"$SCRATCH/damaged/samples.jsonl"
check_exit 0 "samples with a truncated last line are drawn" ./harness report "$SCRATCH/damaged"
check_exit 2 "a folder that does not exist is refused" ./harness report "$SCRATCH/nothing"
check_exit 2 "a folder that cannot be written is refused" ./harness report "$result/02" --out /proc/nothing
# a page replaces no other page
mkdir "$SCRATCH/mine" && echo '<!doctype html><p>mine' >"$SCRATCH/mine/index.html"
one=$(find "$SCRATCH" -name result.json | sort | head -n 1)
check_exit 2 "a page of somebody else is not replaced by that of a report" "$BUILD/harness" report "$(dirname "$one")" --out "$SCRATCH/mine"
check_says "... which is said" 'mine/index.html is not a page of a report' "$SCRATCH/err"
mkdir "$SCRATCH/drawing"
one=$(find "$SCRATCH" -path '*/report/*.svg' | sort | head -n 1)
one=${one%/report/*}
check_exit 0 "a page" "$BUILD/harness" report "$one" --out "$SCRATCH/drawing"
rm "$SCRATCH/drawing/index.html"
file=$(find "$SCRATCH/drawing" -name '*.svg' | head -n 1)
echo mine >"$file"
check_exit 2 "nor a drawing of somebody else" "$BUILD/harness" report "$one" --out "$SCRATCH/drawing"
check_says "... which is said" "${file##*/} is not a drawing, and would be replaced" "$SCRATCH/err"
check "... and it stays alone" test "$(ls "$SCRATCH/mine")$(cat "$SCRATCH/mine/index.html")" = 'index.html<!doctype html><p>mine'
finish
