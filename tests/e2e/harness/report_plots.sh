#!/usr/bin/env bash
# Plots can be read: of many curves the extremes are drawn, and the plot says how many of how many; no words are cut off or lie on others;
# no two curves of a panel have the same colour; a page about two results leaves the pages of each alone.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/../lib.sh"
cd "$BUILD" || exit 2
H=$BUILD/harness
LABELS=$ROOT/tests/e2e/harness/svg-labels

report_of() { echo "$(readlink -f "$SCRATCH/$1/latest")/report"; }
# Colours that two curves of a panel have.
repeated() { awk '/<g class="panel"/ { split("", seen) } match($0, /data-colour="#[0-9a-f]+/) && seen[substr($0, RSTART, RLENGTH)]++ { print FILENAME, $0 }' "$@"; }
readable() { # what, folder
    check "$1: no words are cut off or lie on others" awk -f "$LABELS" "$2"/*.svg
    check "$1: every curve of a panel has its own colour" test -z "$(repeated "$2"/*.svg)"
}

check_exit 0 "a permutation runs" "$H" run leaf-spine-permutation --duration 2ms --out "$SCRATCH"
page=$(report_of leaf-spine-permutation)
check_says "the throughput of 32 hosts says what it shows" '>10 of 32: the 5 lowest and the 5 highest<' "$page/01-throughput.svg"
curves=$(awk -F '\t' '/^# sent, Gb\/s: / { if (n) print sum / n; n = sum = 0; on = 1; next } /^# / { on = on && /^# time/ } on && NF == 2 && !/^#/ { sum += $2; n++ }
    END { if (n) print sum / n }' "$page/01-throughput.tsv" | sort -n)
# shellcheck disable=SC2016 # it is awk's
check "five hosts whose paths collide and five that fill their links" \
    awk 'NR <= 5 && $1 > 60 || NR > 5 && $1 < 90 { bad = 1 } END { exit bad || NR != 10 }' <<<"$curves"
check_says "the lengths of pauses say so too" '>10 of [0-9]+: those paused for the longest time<' "$page/01-pause-cdf.svg"
check "a switch's marks are drawn once: not those of its ports beside them" \
    bash -c "grep -q '^# packets/s: leaf0 ecn_marked' '$page/02-ecn.tsv' && ! grep -q '^# packets/s: .*port[0-9]*_ecn_marked' '$page/02-ecn.tsv'"
host=$(grep -oE '^# PFC frames/s: h[0-9]+' "$page/01-throughput.tsv" | head -n 1 | sed 's/.* //')
colours=$(awk -v host="$host" '/^# (sent|PFC)/ { n++ } $NF == host && /^# (sent|PFC)/ { print n - 1 }' "$page/01-throughput.tsv" |
    while read -r i; do grep -o 'data-colour="#[0-9a-f]*' "$page/01-throughput.svg" | sed -n "$((i + 1))p"; done)
check "a host has the same colour in both panels ($host)" test "$(wc -l <<<"$colours") $(sort -u <<<"$colours" | wc -l)" = "2 1"
readable "a permutation" "$page"

# Names of runs of a sweep over four settings, as rows and as legend.
many='"flows.*.memory": ["host", "gpu"], "flows.*.queue_pairs": [1, 4]'
check_exit 0 "a sweep over settings with two values each" "$H" run write-sweep --duration 1ms --no-report --out "$SCRATCH/rows" \
    --set "sweep={$many, \"flows.*.message\": [\"64B\", \"4KiB\"], \"flows.*.depth\": [16, 128]}"
page=$SCRATCH/rows-page
check_exit 0 "its runs are compared" "$H" report "$SCRATCH"/rows/write-sweep/latest/[0-9]*/ --out "$page"
check "each of 16 runs has its row" test "$(grep -c '>memory [a-z]*, queue_pairs [0-9], message [0-9A-Za-z]*,<' "$page/sweep-goodput.svg")" = 16
readable "rows" "$page"
check_exit 0 "a sweep over sizes, with twelve curves" "$H" run write-sweep --duration 1ms --no-report --out "$SCRATCH/curves" \
    --set "sweep={$many, \"flows.*.message\": [\"64B\", \"512B\", \"4KiB\"], \"flows.*.depth\": [16, 64, 128]}"
page=$SCRATCH/curves-page
check_exit 0 "its runs are compared" "$H" report "$SCRATCH"/curves/write-sweep/latest/[0-9]*/ --out "$page"
check "the legend names all 24 curves of the latency" test "$(grep -c '>memory [a-z]*, queue_pairs [0-9], depth [0-9]*, latency p[0-9.]*<' "$page/sweep-latency.svg")" = 24
readable "many curves" "$page"
# Runs on which nothing arrived have no point on a logarithmic scale.
cp -rL "$SCRATCH/curves/write-sweep/latest" "$SCRATCH/nothing"
for result in "$SCRATCH"/nothing/*/result.json; do
    jq '.flows[] |= (.bytes = 0 | .messages = 0 | .goodput_bps = 0 | .goodput_MiBps = 0 | .messages_per_s = 0 | .latency_ns = (.latency_ns | map_values(0)))' "$result" > "$result.new"
    mv "$result.new" "$result"
done
check_exit 0 "a sweep on which nothing arrived has a report" "$H" report "$SCRATCH/nothing"
check_exit 0 "its runs are compared" "$H" report "$SCRATCH"/nothing/[0-9]*/ --out "$SCRATCH/nothing-page"
check "... without a plot of its latencies" test -s "$SCRATCH/nothing-page/sweep-goodput.svg" -a ! -e "$SCRATCH/nothing-page/sweep-latency.svg"
for name in incast-pfc web-search pfc-bidir; do
    check_exit 4 "$name runs" "$H" run $name --duration 3ms --set "expect=[]" --out "$SCRATCH"
    readable "$name" "$(report_of $name)"
done

# Where something happens there is a line through all panels; thresholds of marking are lines, where switches' queues reach them.
check_exit 4 "a link flaps" "$H" run link-flap --set sweep=null --duration 10ms --set "expect=[]" --out "$SCRATCH"
page=$(report_of link-flap)
check_says "when it does is marked in pictures" '>h4 - leaf1 down<' "$page/01-throughput.svg"
check_says "... below them" 'Lines across: h4 - leaf1 down at 2; h4 - leaf1 up at 2[.]6[.]' "$page/index.html"
check_says "... and on the page" '"marks":\[\{"x":2,"label":"h4 - leaf1 down"\},\{"x":2[.]6,"label":"h4 - leaf1 up"\}\]' "$page/index.html"
readable "marks" "$page"
check_exit 4 "flows come and go" "$H" run dcqcn-fairness --duration 30ms --set "expect=[]" --out "$SCRATCH"
page=$(report_of dcqcn-fairness)
check "flows that begin are marked, those that begin later are not" test "$(grep -oE '>flow-[0-9] (begins|ends)<' "$page/01-throughput.svg" | paste -sd,)" = '>flow-1 begins<'
check_says "from where its switch marks is a line at the queue" '>kmin 390[.]6 KiB<' "$page/01-queues.svg"
check_exit 4 "frames are marked by a fault, and switches pause at a fixed length" "$H" run incast-pfc --duration 1ms --set sample.every=5us --set lab.defaults.switch.xoff=200KB --set capture=null --set "expect=[]" \
    --set 'inject=[{"flow":"incast/3","do":"mark","count":9,"phase":"measure","start":"200us","stop":"700us"}]' --out "$SCRATCH/fixed"
page=$(readlink -f "$SCRATCH/fixed/incast-pfc/latest/report")
check_says "the fault is marked" '>mark of data begins<' "$page/01-queues.svg"
check_says "... at its times" 'Lines across: mark of data begins at 0[.]2; mark of data ends at 0[.]7[.]' "$page/index.html"
# 4 KiB of reserve and 200 KB, and 3 KiB less: the lab's, and the simulator's own
check_says "what a switch holds of a port has its xoff and xon" '"label":"held of a port, KiB".*"levels":\[\{"y":199[.]3125,"label":"xoff 199[.]3 KiB"\},\{"y":196[.]3125,"label":"xon 196[.]3 KiB"\}\]' "$page/index.html"
check_says "... both named below it, though they are close" 'Lines along: xoff 199[.]3 KiB; xon 196[.]3 KiB[.]' "$page/index.html"
check_says "... which the caption says" 'Below, what switches hold of their ingress ports, with xoff and xon' "$page/index.html"
check "... and not of those that have none" test -z "$(grep -o 'what switches hold' "$(report_of incast-pfc)/index.html")"
# shellcheck disable=SC2016 # awk's
check "... and pauses begin there" awk -F'\t' '!/^#/ && NF == 2 && $2 > 199 && $2 < 400 { found = 1 } END { exit !found }' "$page/01-queues.tsv"
check "where the free buffer sets it there is no such line" test -z "$(grep -o 'xoff [0-9.]* KiB' "$(report_of incast-pfc)/index.html")"
first() { sed -n '/<section class=first>/,/<.section>/p' "$1/index.html"; }
check "the first picture of flows that end, where nobody is paused, is of how long they took" test "$(first "$(report_of web-search)" | grep -oE 'href="[^"]*\.svg"')" = 'href="sweep-slowdown.svg"'
check_exit 4 "an incast has a victim" "$H" run victim-flow --set sweep=null --set settings.ecn=[] --duration 2ms --set "expect=[]" --out "$SCRATCH"
check "... which the first screen names, with the share of its line" grep -qE 'Why: <b>more is sent to h8 than its line carries \(an incast\); victim: victim \(lost [5-9][0-9] % of its line\)</b>\. <span class=soft>Flows on average: [0-9]+ % delivered, [0-9]+ % paused' <(first "$(report_of victim-flow)")
check_exit 4 "a receiver pauses" "$H" run pfc-bidir --set sweep=null --duration 30ms --set sample.every=100us --set "expect=[]" --set published=null --out "$SCRATCH/receiver"
check "receive buffers have xoff and xon, also below their pauses" test "$(grep -oE '"levels":\[\{"y":[0-9.]+,"label":"xoff [0-9.]+ KiB"\},\{"y":[0-9.]+,"label":"xon ' "$SCRATCH/receiver/pfc-bidir/latest/report/index.html" | wc -l)" = 2
check_says "lengths of pauses are on a logarithmic scale" 'data-x="logarithmic"' "$(report_of incast-pfc)/01-pause-cdf.svg"

# A comparison has a folder of its own.
check_exit 0 "another run" "$H" run incast-dcqcn --duration 3ms --set 'expect=[{"name": "in the second only", "check": "sum(flows.*.goodput_bps) > 1Gb/s"}]' --no-report --out "$SCRATCH"
page=$(report_of incast-pfc)
cp "$page/index.html" "$SCRATCH/before.html"
check_exit 0 "two results are compared" "$H" report "$SCRATCH/incast-pfc/latest" "$SCRATCH/incast-dcqcn/latest"
check "the first result's page is as before" cmp "$page/index.html" "$SCRATCH/before.html"
both=$(cat "$SCRATCH/out")
check "the comparison is elsewhere, named after the other result ($(basename "$(dirname "$both")"))" \
    test -s "$both" -a "$(basename "$(dirname "$both")")" = "report-with-incast-dcqcn-$(basename "$(readlink -f "$SCRATCH/incast-dcqcn/latest")")"
check_says "its title is of both" '<h1>16 hosts send to one: priority flow control only / 16 hosts send to one: DCQCN' "$both"
check_says "an expectation of the second alone is on it, without a verdict for the first" \
    'in the second only<br>.*</td><td class=soft>&ndash;</td><td><span class="pill passed">' "$both"
row() { sed -n '/<h2>Different settings/,/<\/table>/p' "$both" | sed 's/<\/*code>//g; s/<\/td>//g' | grep -F "<tr><td>$1<td>" | sed 's/<\/tr>//; s/^<tr><td>//; s/<td>/ | /g'; }
differ="$(row scenario)
$(row scenario.settings.ecn)"
check "what the two scenarios set differently is listed, also what only one of them sets" test -z "$(row scenario.settings.mtu)" -a "$differ" = "scenario | incast-pfc | incast-dcqcn
scenario.settings.ecn | unset | 3"
readable "the comparison" "$(dirname "$both")"
for name in incast-pfc hpcc-two-to-one; do
    "$H" run $name --set sweep=null --duration 1ms --set phases.warmup=0ms --repeat 3 --no-report --quiet --out "$SCRATCH/sweeps" >"$SCRATCH/said" 2>&1
done
check_exit 0 "two sweeps are compared" "$H" report "$SCRATCH"/sweeps/{incast-pfc,hpcc-two-to-one}/latest --out "$SCRATCH/both"
both=$SCRATCH/both/index.html
check "... by the settings of the first run of each" test "$(row scenario.settings.ecn)" = "scenario.settings.ecn | unset | 3" -a "$(grep -c 'Of the first run of each result' "$both")" = 1
check_exit 0 "many results are compared" "$H" report "$SCRATCH"/curves/write-sweep/latest/[0-9]*/
check "their folder's name fits" test -s "$(cat "$SCRATCH/out")"
finish
