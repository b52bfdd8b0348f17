#!/bin/bash
# The README's timeline of pauses is what its command gives today: docs/images/pause-timeline.tsv has the data that were drawn.
# To draw it again: the command, `harness report`, and 01-timeline.svg and .tsv of the report.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/../lib.sh"
H=$BUILD/harness
cd "$BUILD" || exit 2

# shellcheck disable=SC2016 # backquotes of the text
command=$(grep -o '`harness run victim-flow [^`]*`' "$ROOT/README.md" | tr -d '`')
check "the README has its command" test -n "$command"
read -ra words <<<"$command"
check_exit 4 "the command runs, and nothing judges it" "$H" "${words[@]:1}" --no-report --out "$SCRATCH/results"
result=$(readlink -f "$SCRATCH/results/victim-flow/latest")
check_exit 0 "a report is made of it" "$H" report "$result"
check "the picture in the README has these data" cmp "$result/report/01-timeline.tsv" "$ROOT/docs/images/pause-timeline.tsv"
check "... and is drawn so" cmp "$result/report/01-timeline.svg" "$ROOT/docs/images/pause-timeline.svg"
check "... and is light" test "$(stat -c %s "$ROOT/docs/images/pause-timeline.svg")" -lt 100000
if command -v rsvg-convert >/dev/null; then
    check_exit 0 "--png makes pictures of points too" "$H" report "$result" --png --out "$SCRATCH/png"
    check "... one of each drawing" test "$(find "$SCRATCH/png" -name '*.png' -size +1k | wc -l)" = "$(find "$SCRATCH/png" -name '*.svg' | wc -l)"
    check "... and the page leads to them" grep -q 'href="01-timeline.png">PNG' "$SCRATCH/png/index.html"
else
    skip "--png" no-command rsvg-convert
fi
PATH=/nowhere check_exit 2 "without rsvg-convert --png is refused" "$H" report "$result" --png --out "$SCRATCH/no-png"
check_says "... with its package" 'rsvg-convert \(package librsvg2-bin' "$SCRATCH/err"

# ---- what is drawn: a bar for each pause, joined where they are closer than a four-hundredth of the time
bars() { awk -F '\t' 'NF == 4 && !/^#/' "$result/report/01-timeline.tsv" | wc -l; }
pauses=$(wc -l <"$result/pauses.jsonl")
check "there are bars, not more than pauses: $(bars) of $pauses" test "$(bars)" -gt 20 -a "$(bars)" -le "$pauses"
check "... each with its host and priority, under words for the columns" test "$(grep -cP '^# time, ms\trow\tlength, ms\tname of the row$' "$result/report/01-timeline.tsv") $(awk -F '\t' 'NF == 4 && !/^#/ && $4 !~ /^[hs][0-9:]+.* priority [0-7]$/' "$result/report/01-timeline.tsv" | wc -l) $(grep -c '^# : *$' "$result/report/01-timeline.tsv")" = "1 0 0"
frame=$(jq '[.hosts[].counters | select(.tx_prio3_packets.delta > 0) | .tx_prio3_bytes.delta / .tx_prio3_packets.delta] | max' "$result/result.json")
every=$(jq -r '.scenario.sample.every' "$result/result.json")
check "a rate above the line's is explained where frames are few in a sample ($every)" grep -qF "Frames count as a whole: one of $(printf %.0f "$frame") B in a sample of 10 us is $(awk -v b="$frame" 'BEGIN { printf "%.3g", b * 8e-9 / 10e-6 }') Gb/s" "$result/report/index.html"
check "the page has an alternative text" test "$(grep -c '<img src="data:[^"]*" alt="[^"]' "$result/report/index.html")" -gt 3

# ---- bounded: the longest paused of many
check_exit 4 "a network with more ports" "$H" run scenarios/incast-pfc.json --set sweep=null --set expect=null --set phases.warmup=0us --set phases.measure=300us --no-report \
    --set "settings.pfc=[3, 4]" --set 'storms=[{"role": "h[0-15]", "priority": 4, "start": "10us", "stop": "200us"}]' --out "$SCRATCH/results"
check_exit 0 "... has a report" "$H" report "$SCRATCH/results/incast-pfc/latest"
check "... which says how many rows it leaves out" grep -rqE '16 of [0-9]+: those paused for the longest time' "$SCRATCH/results/incast-pfc/latest/report/"

# ---- hosts with several NICs: a box each, with its name, around their NICs
check_exit 4 "an incast on one rail of eight" "$H" run scenarios/rails-ring.json --set expect=null --set phases.measure=200us --set 'settings.ecn=[]' --no-report --out "$SCRATCH/results" \
    --set 'traffic=[{"name":"in","pattern":"incast","from":["h[1-3].rail2"],"to":["h0.rail2"],"priority":3}]'
check_exit 0 "... has a report" "$H" report "$SCRATCH/results/rails-ring/latest"
map=$SCRATCH/results/rails-ring/latest/report/01-map
check "its map has a box for each of eight hosts, in both panels" test "$(grep -c 'fill="#eef1f4"' "$map.svg")" = 16
check "... with its name" test "$(awk '/^# names of hosts/ { in_names = 1 } /^# names of switches/ { in_names = 0 } in_names && /\th/ { print $3 }' "$map.tsv" | xargs)" = "h0 h1 h2 h3 h4 h5 h6 h7"
check "... and its eight NICs in it" test "$(awk '/^# hosts/ { in_nodes = 1 } /^# switches/ { in_nodes = 0 } in_nodes && /^[0-9]/' "$map.tsv" | sort -n | awk '$1 - last > 0.018 || NR == 1 { groups++ } { last = $1; n++ } END { print n, groups }')" = "64 8"
check "a paused NIC is one of a host" grep -qP '^[^#]*\th1.rail2\tleaf2$' "$map.tsv"
finish
