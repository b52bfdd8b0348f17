#!/bin/bash
# The README's timeline of pauses is what its command gives today: docs/images/pause-timeline.tsv has the data that were drawn.
# To draw it again: the command, `harness report`, and 01-timeline.png and .tsv of the report.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/../lib.sh"
H=$BUILD/harness
cd "$BUILD" || exit 2

# shellcheck disable=SC2016 # backquotes of the text
command=$(grep -o '`\./harness run scenarios/victim-flow[^`]*`' "$ROOT/README.md" | tr -d '`')
check "the README has its command" test -n "$command"
read -ra words <<<"$command"
check_exit 0 "the command runs" "$H" "${words[@]:1}" --no-report --out "$SCRATCH/results"
result=$(readlink -f "$SCRATCH/results/victim-flow/latest")
if ! command -v gnuplot >/dev/null; then
    skip "the picture is drawn" no-command gnuplot
    finish
fi
check_exit 0 "a report is made of it" "$H" report "$result"
check "the picture in the README has these data" cmp "$result/report/01-timeline.tsv" "$ROOT/docs/images/pause-timeline.tsv"
size() { od -An -j16 -N8 -tx1 "$1"; } # of a PNG: width and height
check "... and this size" test "$(size "$result/report/01-timeline.png")" = "$(size "$ROOT/docs/images/pause-timeline.png")"
check "... and is light" test "$(stat -c %s "$ROOT/docs/images/pause-timeline.png")" -lt 100000

# ---- what is drawn: a bar for each pause, joined where they are closer than a four-hundredth of the time
bars() { awk -F '\t' 'NF == 3 && !/^#/' "$result/report/01-timeline.tsv" | wc -l; }
pauses=$(wc -l <"$result/pauses.jsonl")
check "there are bars, not more than pauses: $(bars) of $pauses" test "$(bars)" -gt 20 -a "$(bars)" -le "$pauses"
check "the page has an alternative text" test "$(grep -c '<img src="data:[^"]*" alt="[^"]' "$result/report/index.html")" -gt 3

# ---- bounded: the longest paused of many
check_exit 0 "a network with more ports" "$H" run scenarios/incast-pfc.json --set sweep=null --set expect=null --set phases.warmup=0us --set phases.measure=300us --no-report \
    --set 'storms=[{"role": "h[0-15]", "priority": 4, "start": "10us", "stop": "200us"}]' --out "$SCRATCH/results"
check_exit 0 "... has a report" "$H" report "$SCRATCH/results/incast-pfc/latest"
check "... which says how many rows it leaves out" grep -rqE '16 of [0-9]+: those paused for the longest time' "$SCRATCH/results/incast-pfc/latest/report/"
finish
