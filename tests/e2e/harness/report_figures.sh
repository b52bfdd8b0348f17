#!/usr/bin/env bash
# The figures of a page agree with each other and with the result: traffic of a pattern counts once, in tables, plots and expectations,
# in the same unit; every latency says its statistic; GPU memory stands beside host memory; a comparison has a page of its own.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/../lib.sh"
cd "$BUILD" || exit 2
H=$BUILD/harness

# cells PAGE HEADING COLUMN: that column of the rows of the table below a heading, one a line, without the separators of thousands.
cells() {
    awk -v heading="$2" -v column="$3" 'index($0, "<h2>" heading) { on = 1 } on && /<\/table>/ { exit }
        on && sub(/^<tr><td[^>]*>/, "") { n = split($0, cell, /<\/?td[^>]*>(<td[^>]*>)?/); gsub(/&#8239;|<[^>]*>/, "", cell[column]); print cell[column] }' "$1"
}
# shellcheck disable=SC2317 # called through check
near() { awk -v a="$1" -v b="$2" 'BEGIN { exit !(b > 0 && a / b > 0.999 && a / b < 1.001) }'; }

# ---- a pattern: 32 flows and their sum
check_exit 0 "a permutation runs" "$H" run leaf-spine-permutation --duration 2ms --out "$SCRATCH/results"
result=$(readlink -f "$SCRATCH/results/leaf-spine-permutation/latest")
page=$result/report/index.html
tabled=$(cells "$page" Measurements 4 | head -n 1)
said=$(grep -o '[0-9.]* Gb/s, expected &gt; 1400 Gb/s' "$page" | head -n 1 | cut -d ' ' -f 1)
drawn=$(awk -F '\t' '!/^#/ && NF > 1 { print ($1 > 1000 ? $1 : $2); exit }' "$result/report/sweep-goodput.tsv")
check "the table and the expectation on its page have the same goodput in the same unit ($tabled, $said Gb/s)" near "$tabled" "$said"
check "... and so has the plot ($drawn Gb/s)" near "$drawn" "$said"
check "... which is the pattern's" near "$said" "$(jq '.flows.permutation.goodput_bps / 1e9' "$result/01/result.json")"
mib=$(cells "$page" Measurements 5 | head -n 1)
check "goodput in MiB/s is the same ($mib)" near "$mib" "$(jq '.flows.permutation.goodput_MiBps' "$result/01/result.json")"
check_says "the table of flows says which of a pattern's flows it shows" '32 flows together; below, 10 of 32: the slowest and the fastest' "$page"
slowest=$(jq -r '[.flows | to_entries[] | select(.key | test("/"))] | min_by(.value.goodput_bps).key' "$result/01/result.json")
check "the slowest flow is among them ($slowest)" grep -q "<td>$slowest</td>" "$page"
check "ten flows of each run are" test "$(grep -cE '<td>permutation/[0-9]+</td>' "$page")" = 20

# ---- statistics of latencies
check_exit 0 "a latency" "$H" run write-latency --duration 5ms --out "$SCRATCH/results"
page=$(readlink -f "$SCRATCH/results/write-latency/latest")/report/index.html
for statistic in mean p50 p99; do check_says "latency $statistic has a column" "<th class=number>latency $statistic, us" "$page"; done
bare=$(grep -oE '<th[^>]*>[^<]*(latency|completion)[^<]*' "$page" | grep -vE 'mean|p50|p99')
check "no column has a latency without a statistic" test -z "$bare"
bare=$(cells "$page" 'Comparison with published' 2 | grep -vE 'median|percentile')
check "nor has a published figure" test -z "$bare"
few=$SCRATCH/few
cp -r "$(dirname "$(dirname "$page")")" "$few"
jq '.flows |= map_values(if .latency_ns then .latency_ns.count = 50 else . end) | .seed += 1' "$few/result.json" >"$SCRATCH/edited" && cp "$SCRATCH/edited" "$few/result.json"
check_exit 0 "a latency of 50 messages beside the other" "$H" report "$few" "$(dirname "$(dirname "$page")")" --out "$SCRATCH/both"
check_says "has no p99, and the table says so" '[0-9]+ quantiles? (is|are) left out \(&ndash;\): a p99 of less than 100 messages is only the largest' "$SCRATCH/both/index.html"
check_says "... nor has the figure a p99.9" 'latency p99.9 of 1 of 2 runs is left out: they measured too few messages for it' "$SCRATCH/both/index.html"

# ---- GPU memory beside host memory: from the cells of a sweep, and from two results
check_exit 0 "a sweep over memory and size" "$H" run write-sweep --set 'sweep={"flows.*.memory": ["host", "gpu"], "flows.*.message": ["64B", "4KiB"]}' \
    --duration 10ms --out "$SCRATCH/results"
sweep=$(readlink -f "$SCRATCH/results/write-sweep/latest")
page=$sweep/report/index.html
check "a row for each size" test "$(cells "$page" 'GPU memory beside host memory' 1 | paste -sd,)" = "message 64B,message 4KiB"
ratio() { jq -s '.[1].flows["a-to-b"].goodput_bps / .[0].flows["a-to-b"].goodput_bps' "$sweep/$1/result.json" "$sweep/$2/result.json"; }
check "the first row's ratio is that of the two results" near "$(cells "$page" 'GPU memory beside host memory' 5 | head -n 1)" "$(ratio 01 03)"
check "... and of what was delivered" near "$(cells "$page" 'GPU memory beside host memory' 8 | head -n 1)" "$(jq -s '.[1].flows["a-to-b"].delivered_bps / .[0].flows["a-to-b"].delivered_bps' "$sweep/01/result.json" "$sweep/03/result.json")"
check "the second row's too" near "$(cells "$page" 'GPU memory beside host memory' 5 | tail -n 1)" "$(ratio 02 04)"
check_exit 0 "two results are compared" "$H" report "$sweep/01" "$sweep/03" --out "$SCRATCH/pair"
check "the ratio is the same" near "$(cells "$SCRATCH/pair/index.html" 'GPU memory beside host memory' 5)" "$(ratio 01 03)"
check_exit 0 "results that differ in more" "$H" report "$sweep/01" "$sweep/04" --out "$SCRATCH/unlike"
check_exit 0 "three results without choices, two of GPU memory" "$H" report "$sweep/01" "$sweep/03" "$sweep/04" --out "$SCRATCH/three"
check "no two pairs have one name" test -z "$(cells "$SCRATCH/three/index.html" 'GPU memory beside host memory' 1 | sort | uniq -d)"
check "are no pair" test -z "$(cells "$SCRATCH/unlike/index.html" 'GPU memory beside host memory' 1)"
# ---- losses: counted once, where packets were dropped; a switch's ports are parts of it
check_exit 0 "a storm that a watchdog ends" "$H" run pfc-storm-watchdog --out "$SCRATCH/results"
sweep=$(readlink -f "$SCRATCH/results/pfc-storm-watchdog/latest")
page=$sweep/report/index.html
for column in $(sed -n '/<h2>Measurements/,/<.tr>/p' "$page" | grep -oP '<th class=number>\K[^<]*' | tr ' ' _); do
    check "the manual has the column ${column//_/ }" grep -qF -- "- ${column//_/ }: " "$ROOT/docs/report.md"
done
check "packets lost are those that its switches dropped" test "$(cells "$page" Measurements 9 | paste -sd,)" = \
    "$(jq -s '[.[] | [.hosts[].counters.watchdog_discards.delta // 0] | add] | join(",")' -r "$sweep"/0[12]/result.json)"
check "... of the watchdog alone" test "$(cells "$page" Measurements 9 | tail -n 1)" -gt 10000
check "NAKs and time-outs are the senders'" test "$(cells "$page" Measurements 10 | tail -n 1)" = \
    "$(jq '[.hosts[].counters | .packet_seq_err.delta // 0, .local_ack_timeout_err.delta // 0] | add' "$sweep/02/result.json")"
check "packets sent again are the flows'" test "$(cells "$page" Measurements 11 | tail -n 1)" = \
    "$(jq '[.flows.permutation, .flows["to-broken"] | .retransmitted_packets] | add' "$sweep/02/result.json")"
figure_of() { sed -n '/<section class=first>/,/<.section>/p' "$1" | grep -o "<div><span class=soft>$2</span>.*" | grep -oE '<b>[^<]*' | sed 's/<b>//; s/&#8239;//g' | paste -sd,; } # PAGE NAME
check_exit 0 "the page of one of its cells" "$H" report "$sweep/02" --out "$SCRATCH/storm-cell"
lost=$(jq '[.hosts[].counters | .watchdog_discards.total // 0] | add' "$sweep/02/result.json")
again=$(jq '[.flows.permutation, .flows["to-broken"] | .retransmitted_packets] | add' "$sweep/02/result.json")
check "its first screen counts losses and what was sent again over the same time, the whole run ($lost, $again)" test "$(for name in lost 'sent again'; do figure_of "$SCRATCH/storm-cell/index.html" "packets $name, whole run"; done | paste -sd' ')" = "$lost $again"
paced() { # NAME [OPTION...]: a run of two flows
    "$H" run "$ROOT/scenarios/pfc-bidir.json" --set sweep=null --set expect=null --set published=null --set phases.warmup=1ms --duration 5ms --set phases.cooldown=100us --set 'flows.*.message=4KiB' --quiet --out "$SCRATCH/paced" "${@:2}" >/dev/null 2>&1
    cp -rL "$SCRATCH/paced/pfc-bidir/latest" "$SCRATCH/paced-$1"
}
paced neither
paced one --set flows.0.rate=1Gb/s
paced both --set 'flows.*.rate=1Gb/s'
p99() { jq ".flows[\"$2\"].latency_ns.p99 / 1e3" "$SCRATCH/paced-$1/result.json"; } # RUN FLOW, in us
check "the slowest flow's p99 is its" near "$(figure_of "$SCRATCH/paced-neither/report/index.html" 'latency p99 of the slowest flow')" "$(jq '[.flows[].latency_ns.p99] | max / 1e3' "$SCRATCH/paced-neither/result.json")"
check "... a flow that waits for its own rate ($(p99 one a-to-b) us) is left out, which is said" near "$(figure_of "$SCRATCH/paced-one/report/index.html" 'latency p99 of the slowest flow without a rate of its own')" "$(p99 one b-to-a)"
check "... where all do, that is said" near "$(figure_of "$SCRATCH/paced-both/report/index.html" 'latency p99 of the slowest flow; its own rate holds messages back')" "$(jq '[.flows[].latency_ns.p99] | max / 1e3' "$SCRATCH/paced-both/result.json")"
check "the page warns of the losses, the largest first" grep -q "<li>.*packets were lost in the measured phase: leaf3 watchdog_discards: " "$page"
still=$(jq '[.flows | to_entries[] | select(.key | startswith("permutation/")) | select(.value.bytes == 0 and .value.delivered_bytes == 0)] | length' "$sweep/01/result.json")
check "... and of $still flows of the permutation that moved nothing" test "$still" -gt 1 -a "$(jq -r '.warnings[] | select(test("^flows permutation/.* moved nothing in the measured phase$"))' "$sweep/01/result.json" | grep -oE 'permutation/' | wc -l)" = "$still"
check_exit 0 "losses over a sweep of nine cells" "$H" run headroom-sweep --out "$SCRATCH/results"
sweep=$(readlink -f "$SCRATCH/results/headroom-sweep/latest")
column() { python3 -c 'import csv, sys; print(*[int(r[sys.argv[2]]) for r in csv.DictReader(open(sys.argv[1]))], sep=",")' "$sweep/report/sweep.csv" "$1"; }
check "its table has packets sent again" test "$(column 'packets sent again in the whole run, packets')" = "$(jq -s -r 'map(.flows.incast.retransmitted_packets) | join(",")' "$sweep"/0*/result.json)"
check "... which its drawing explains, and names by their unit once" bash -c "grep -q '<figcaption>Of all flows, with warm-up and cooldown[.]' '$sweep/report/index.html' && grep -q 'alt=\"packets sent again in the whole run\(, over [a-z]*\)\{0,1\}\"' '$sweep/report/index.html'"
check "... and those that the switch dropped" test "$(column 'buffer_discards, packets')" = "$(jq -s -r 'map(.hosts.s0.counters.buffer_discards.delta) | join(",")' "$sweep"/0*/result.json)"
check "losses are warned of in the cells whose expectations do not look at them" test \
    "$(jq -r '.cell["lab.defaults.switch.headroom"] as $h | .hosts.s0.counters.buffer_discards.delta as $n | select(.warnings | index("packets were lost in the measured phase: s0 buffer_discards: \($n)")) | $h' "$sweep"/0*/result.json | paste -sd,)" = 24KB,28KB,32KB
check_exit 0 "the page of one of its cells" "$H" report "$sweep/01" --out "$SCRATCH/cell"
check "... has the same" test "$(for c in 9 11; do cells "$SCRATCH/cell/index.html" Measurements $c; done | paste -sd,)" = "$(column 'buffer_discards, packets' | cut -d, -f1),$(column 'packets sent again in the whole run, packets' | cut -d, -f1)"
finish
