#!/bin/bash
# What a sweep says over its repetitions and between its cells: the index against figures that are computed here from the results, expectations
# that differ between a run and the mean of all, ratios of cells, and the same again after kills.
# shellcheck disable=SC2016,SC2317 # the variables are of jq; functions are called by name
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/../lib.sh"
skip_unless "statistics of a sweep" jq
H=$BUILD/harness
cd "$SCRATCH" || exit 2

cat > pair.json << END
{ "schema": 1, "name": "pair", "title": "Two directions", "lab": "$ROOT/labs/sim-geforce-pair.json", "roles": ["a", "b"],
  "phases": { "warmup": "1ms", "measure": "10ms", "cooldown": "1ms" },
  "settings": { "mtu": 4200, "pfc": [0], "prio_to_buffer": { "0": 1 }, "buffer_bytes": [0, 114944], "cable": "1m", "trust": "pcp" },
  "flows": [ { "name": "f", "from": "a", "to": "b", "memory": "gpu" }, { "name": "g", "from": "b", "to": "a", "memory": "gpu", "depth": 16 } ],
  "sample": { "every": "50us", "groups": ["throughput", "pfc", "buffer"] },
  "sweep": { "flows.*.memory": ["host", "gpu"], "flows.f.message": ["16KiB", "64KiB"] },
  "expect": [ { "name": "data moves", "check": "sum(flows.*.bytes) > 0" } ] }
END
run() { "$H" run "$1.json" --no-report --repeat 5 --out "$1" "${@:2}"; }
only() { echo "$1"/*/2*; }
repeated() { jq "${@:2}" "$(only "$1")/index.json"; } # NAME OPTION... FILTER

# ---- figures
jq '.expect += [{"name": "the mean", "over": "repeats", "check": "jain(flows.*.goodput_bps) > 0.5"}]
    | .published = [{"name": "fairness", "of": "jain(flows.*.goodput_bps)", "value": 0.9, "unit": "", "source": "x"}]' pair.json > figures.json
check_exit 0 "four cells, five times" run figures
check "each run is printed with its folder, repetition and seed" test "$(grep -oE '^[0-9]+: pair, .*, run [1-5] of 5, seed [0-9]+: ' out | sed -E 's/^([0-9]+): .*run ([0-9]) of 5, seed ([0-9]+): /\1 \2 \3/' | sort)" = \
    "$(jq -r '"\(input_filename | split("/")[-2]) \(.repeat) \(.seed)"' "$(only figures)"/[0-9]*/result.json | sort)"
check "an entry for each cell, in their order" test "$(repeated figures -c '[.repeated[].cell]')" = "$(jq -c '[.cells[] | select(.repeat == 1) | .cell]' "$(only figures)/index.json")" \
    -a "$(repeated figures '.repeated | length')" = 4
check "... with the folders of its runs" test "$(repeated figures '[.repeated[].folders[]] == [.cells[].folder]')" = true
# Mean, standard deviation and interval from the results; t of four degrees of freedom is 2.7764 (NIST/SEMATECH e-Handbook, 1.3.6.7.2).
computed() { # FOLDER: for each cell {NAME: [mean, stddev, ci95]}
    jq -s 'def spread: length as $n | (add / $n) as $m | (map((. - $m) * (. - $m)) | add / ($n - 1) | sqrt) as $s | [$m, $s, 2.7764 * $s / ($n | sqrt)];
        def figures: {"goodput_bps": ([.flows[].goodput_bps] | add), "flows.f.goodput_bps": .flows.f.goodput_bps, "flows.g.latency_p99_ns": .flows.g.latency_ns.p99,
                      "flows.g.messages": .flows.g.messages, "expectations.the mean": .expectations[1].left, "published.fairness": .published[0].value,
                      "pauses.b.tx_prio0_pause": .hosts.b.counters.tx_prio0_pause.delta};
        [_nwise(5) | map(figures) | . as $runs | .[0] | keys | map({key: ., value: (. as $k | $runs | map(.[$k]) | spread)}) | from_entries]' "$1"/[0-9]*/result.json
}
near() { # FOLDER: each computed figure is the index's, to five digits
    computed "$1" | jq -e --slurpfile index "$1/index.json" 'def close($a; $b): (($a - $b) | fabs) <= 1e-4 * ($b | fabs) + 1e-9;
        [range(length) as $i | .[$i] | to_entries[] | .value as $v | $index[0].repeated[$i].figures[.key]
         | .count == 5 and close(.mean; $v[0]) and close(.stddev; $v[1]) and close(.ci95; $v[2])] | length == 28 and all'
}
check "means, deviations and intervals are those of the results" near "$(only figures)"
check "... they differ from run to run" test "$(repeated figures '.repeated[3].figures["goodput_bps"].stddev > 1e6')" = true
few() { # of each cell and flow: how many runs have too few values for a p99_9, by the results and by the index
    jq -s --slurpfile index "$1/index.json" '[_nwise(5)] as $cells | [range($cells | length) as $i | ("f", "g") as $f |
        [([$cells[$i][] | select(.flows[$f].latency_ns | .count and .count < 1000)] | length), ($index[0].repeated[$i].figures["flows.\($f).latency_p99_9_ns"].few // 0)]]' "$1"/[0-9]*/result.json
}
check "... and one of quantiles of too few values says of how many: $(few "$(only figures)" | jq -c .)" jq -e 'all(.[]; .[0] == .[1]) and any(.[]; .[0] > 0)' <(few "$(only figures)")
check "... and have units" test "$(repeated figures -r '.repeated[3].figures | [.goodput_bps, .["flows.f.goodput_MiBps"], .["flows.f.latency_p50_ns"], .["pauses.b.tx_prio0_pause"]] | map(.unit) | join(" ")')" = "b/s MiB/s ns frames"
check_says "each cell has a line with its goodput" '^pair, memory gpu, message 64KiB, 5 runs: goodput [0-9.]+ \+- [0-9.]+ Gb/s, delivered [0-9.]+ \+- [0-9.]+ Gb/s$' out
check "jain is Jain's index" jq -e -s 'all(.[]; ([.flows[].goodput_bps] | (add * add) / (length * (map(. * .) | add))) as $jain | (.expectations[1].left - $jain | fabs) < 1e-9)' "$(only figures)"/[0-9]*/result.json
# Nearest rank over the gauge's samples of the measure phase
quantile() { # FOLDER KEY SHARE
    local column
    column=$(jq -c 'select(.type? == "header" and .host == "b") | [.columns[].name] | index("rx_buffer1_bytes")' "$1/samples.jsonl")
    jq -s --argjson c "$column" --argjson q "$3" --argjson found "$(jq ".hosts.b.counters.rx_buffer1_bytes.$2" "$1/result.json")" \
        --argjson from "$(jq '.phases[] | select(.name == "measure") | .start_ns' "$1/result.json")" --argjson to "$(jq '.phases[] | select(.name == "measure") | .end_ns' "$1/result.json")" \
        '[.[] | select(type == "array" and .[0] == "b" and .[1] >= $from and .[1] <= $to) | .[$c + 3]] | sort | .[(length * $q | ceil) - 1] == $found' "$1/samples.jsonl"
}
check "quantiles of a gauge are those of its samples" test "$(for q in p50/0.5 p90/0.9 p99/0.99 p99_9/0.999; do quantile "$(only figures)/16" "${q%/*}" "${q#*/}"; done | sort -u)" = true

# ---- repetitions that cannot differ are one measurement
jq 'del(.sweep) | .name = "same" | .flows = [.flows[0] | .rate = "1Gb/s"] | .flows[0].memory = "host"
    | .expect = [{"name": "all moves", "over": "repeats", "check": "sum(flows.*.bytes) > 0"}]' pair.json > same.json
same='run 01 and its 4 repetitions have the same value in every figure, as their seeds change nothing: they count as one, and a spread or an interval of 0 from them is no evidence'
check_exit 0 "a run whose seed changes nothing, five times" "$H" run same.json --repeat 5 --out same
check "... the results are the same in every figure" test "$(jq -c '[.flows, .expectations, (.hosts | map_values(.counters))]' same/same/2*/0*/result.json | sort -u | wc -l)" = 1
check_says "... it has no interval" '^same, 5 runs that are identical: goodput [0-9.]+ Gb/s, delivered [0-9.]+ Gb/s$' out
check "... and each of its flows a line, once" test "$(grep -cE '^  f +[0-9.]+ Gb/s   latency p50 [0-9.]+ us, p99 [0-9.]+ us$' out)" = 1
check_says "... nor has what is judged over them" '^  passed   all moves \([0-9]+ bytes in all 5 runs, expected > 0[;)]' out
check_says "... which is warned of" "^warning: $same\$" out
check "... in the index" test "$(repeated same -r '.warnings[], .repeated[0].identical')" = "$same
true"
check_says "... and on the page" "<li>$same</li>" "$(only same)/report/index.html"
check "... also of more runs than it draws" test "$("$H" report "$(only same)" --out page > /dev/null && grep -cF "<li>$same</li>" page/index.html)" = 1
check "... where no value has an interval" test "$(grep -c 'plusmn;&#8239;' page/index.html)" = 0
check "cells whose runs differ are not warned of" test "$(repeated figures -c '[(.warnings | length), (.warnings[0][0:14]), ([.repeated[].identical])]')" = '[1,"runs 01 and 06",[true,true,null,null]]'
check_exit 0 "of a sweep the cells are named" "$H" run same.json --set 'sweep={"flows.f.rate": ["1Gb/s", "2Gb/s"]}' --repeat 2 --no-report --quiet --out same-sweep
check_says "... on stderr, where it is quiet" 'warning: runs 01 and 03 and the 1 repetition of each have the same value in every figure' err

# ---- an expectation over repetitions is judged by the mean
sums=$(jq -s '[.[15:20][] | [.flows[].goodput_bps] | add]' "$(only figures)"/[0-9]*/result.json)
over() { # NAME THRESHOLD
    jq --argjson t "$2" '.sweep["flows.*.memory"] = ["gpu"] | .sweep["flows.f.message"] = ["64KiB"]
        | .expect += [{"name": "fast", "over": "repeats", "check": "sum(flows.*.goodput_bps) > \($t)b/s"}]' pair.json > "$1.json"
}
over below "$(jq '(add / length) as $m | ($m + min) / 2 | floor' <<< "$sums")"
over above "$(jq '(add / length) as $m | ($m + max) / 2 | floor' <<< "$sums")"
lefts() { jq -s "[.[].expectations[1] | .left $2 .right] | any" "$(only "$1")"/[0-9]*/result.json; }
check_exit 0 "an expectation that holds in the mean" run below
check "... passes although a run is below" test "$(lefts below '<=')" = true -a "$(repeated below -r '.repeated[0].expectations[0].verdict')" = passed
check "... no run is judged by it" test "$(jq -r '.expectations[1] | "\(.verdict) \(.over) \(.reason)"' "$(only below)"/*/result.json | sort -u)" = "skipped repeats judged over the repetitions, at the end of the sweep"
check "... both sides and the interval are in the index" test "$(repeated below '.repeated[0] | .figures.goodput_bps as $g | .expectations[0] | .count == 5 and (.left - $g.mean | fabs) < 1 and (.left_ci95 - $g.ci95 | fabs) < 1 and .right_ci95 == 0')" = true
check "... and so is what it says" test "$(repeated below -r '.repeated[0].expectations[0].reason' | grep -cE '^mean of 5 runs [0-9.]+ Gb/s \+- [0-9.]+ Gb/s, expected > [0-9.]+ Gb/s')" = 1
check "... also where the difference is within the interval" test "$(repeated below -r '.repeated[0].expectations[0] | (.left - .right | fabs) > .left_ci95')" = "$(repeated below -r '.repeated[0].expectations[0].reason | endswith("; the difference is within their spread") | not')"
check_exit 1 "an expectation that does not hold in the mean" run above
check "... fails although a run is above" test "$(lefts above '>')" = true -a "$(repeated above -r '.repeated[0].expectations[0].verdict')" = failed
check "... and with it the sweep, not its runs" test "$(repeated above -c '[.verdict, ([.cells[].verdict] | unique)]')" = '["failed",["passed"]]'
check_says "... which is printed" '^  failed   fast \(mean of 5 runs' out
check_says "... below the mean and interval of each flow" '^  f +[0-9.]+ \+- [0-9.]+ Gb/s   latency p50 [0-9.]+ \+- [0-9.]+ us, p99 ' out
check "... a run is a line with its goodput" test "$(grep -cE '^0[1-5]: .*run [1-5] of 5, seed [0-9]+: passed \(simulated\), [0-9.]+ Gb/s$' out)" = 5
check_exit 1 "... also with --quiet" run above --quiet --out quiet
check "... which prints nothing" test ! -s out
jq '.expect = [{"name": "more errors", "when": {"flows.*.memory": "gpu"}, "against": {"flows.*.memory": "host"}, "check": "sum(flows.*.errors) > other(sum(flows.*.errors))"}]' pair.json > unspread.json
check_exit 1 "... of one run each, whose figures have no spread" "$H" run unspread.json --no-report --repeat 1 --out unspread
check_says "... and are not said to have one" 'more errors \(0, expected > 0\)' out
check_exit 1 "... also of many runs" "$H" run above.json --no-report --repeat 21 --out many
check "... of which only the cell is printed, with what failed in it" test "$(grep -vc '^result:' out) $(grep -c '^fast failed in 1 of 1$' out)" = "9 1"
check_says "... with mean and interval" '^01 +failed +[0-9.]+ \+- [0-9.]+ ' out
check_says "... and how many cells did" '^1 cell, by what is judged over all runs: 1 failed$' out
cp out long.out
told=$(grep -oE '^[0-9]+ runs: .*' long.out)
"$H" status "$(readlink -f "$(sed -n 's/^result: //p' long.out)")" > out
check_says "... and runs are counted as status does: $told" "${told/ runs: / whole: }" out
cp long.out out
check_exit 1 "with --json" run above --json --out json
check "... the document has it" test "$(jq -r '.repeated[0].expectations[0].verdict' out)" = failed
jq '.expect[1].check |= sub("> .*"; "> 1b/s")' above.json > once.json
check_exit 0 "with one repetition" "$H" run once.json --no-report --out once --set 'sweep={}'
check "... it is judged in the run" test "$(jq -c '[.expectations[1] | .verdict, .over]' "$(only once)/result.json")" = '["passed",null]'

# ---- ratios between cells
ratio() { # NAME CHECK
    jq --arg check "$2" '.expect += [{"name": "ratio", "when": {"flows.*.memory": "gpu"}, "against": {"flows.*.memory": "host"}, "check": $check}]
        | .published = [{"name": "GPU to host", "of": "sum(flows.*.goodput_bps) / other(sum(flows.*.goodput_bps))", "against": {"flows.*.memory": "host"}, "value": 0.5, "unit": "", "source": "x"}]' pair.json > "$1.json"
}
R='sum(flows.*.goodput_bps) / other(sum(flows.*.goodput_bps))'
ratio slower "$R < 1.001"
ratio faster "$R > 1.5"
check_exit 0 "cells that are compared with others" run slower
ratios() { jq -s '[_nwise(5) | map([.flows[].goodput_bps] | add)] | [.[2:][]] as $gpu | .[:2] as $host | [range(2) as $i | [range(5) as $r | $gpu[$i][$r] / $host[$i][$r]] | add / 5]' "$1"/[0-9]*/result.json; }
check "... by the mean of the ratios of their runs" test "$(repeated slower --argjson r "$(ratios "$(only slower)")" '[.repeated[2:][] | .expectations[0].left] | [range(2) as $i | (.[$i] - $r[$i] | fabs) < 1e-9] | all')" = true
check "... with a published ratio" test "$(repeated slower '.repeated[2] | (.published[0].value - .expectations[0].left | fabs) < 1e-12 and .published[0].difference_percent > 1')" = true
"$H" export "$(only slower)" --format csv --tables repeated_published --out published >/dev/null 2>&1
check "... which an export has" test "$(cut -d, -f1 --complement published/repeated_published.csv | grep -c 'GPU to host.*,0\.5,cells,5,[01]\.')" = 2
check "... not those that they are compared with" test "$(repeated slower -c '[.repeated[0] | .expectations, (.published[0] | .value, .reason)]')" = '[null,null,"it is the cell that the others are compared with"]'
check_says "... which is printed" '^  passed   ratio \(mean of 5 runs 0\.9' out
check_says "... as the published ratio is" '^  published GPU to host: 0\.5, simulated 0\.9' out
check_exit 0 "... and on a page" "$H" report "$(only slower)"
check_says "... with what is the mean of a cell's runs called so, beside values of runs" ',"?mean over the repetitions of the left side of ratio: .*,"?delivered by all flows, ' "$(only slower)/report/sweep.csv"
check_exit 1 "a ratio that is another one" run faster
check "... is said in the index" test "$(repeated faster -c '[.verdict, [.repeated[].expectations[]?.verdict]]')" = '["failed",["failed","failed"]]'
check_exit 1 "a ratio without repetitions" "$H" run faster.json --no-report --out alone
check "... is that of two runs" test "$(repeated alone -c '[.repeated[2] | .folders, (.expectations[0] | .count, .left_ci95, .verdict), .figures]')" = '[["03"],1,null,"failed",null]'
jq --arg check "$R > 0" '.sweep.only = [{"flows.*.memory": "gpu"}, {"flows.f.message": "16384B"}]
    | .expect += [{"name": "spelled", "when": {"flows.f.message": "16384B"}, "against": {"flows.f.message": "65536B"}, "check": $check}]' slower.json > holes.json
check_exit 0 "a cell whose other one is left out" "$H" run holes.json --no-report --out holes
check "... is skipped with the reason" test "$(repeated holes -r '.repeated[] | select(.cell["flows.f.message"] == "64KiB").expectations[0] | "\(.verdict): \(.reason)"')" = 'skipped: the sweep has no cell with otherwise the same values where flows.*.memory is host'
check "... and a cell is found however its value is spelled" test "$(repeated holes -r '.repeated[] | select(.cell == {"flows.*.memory": "gpu", "flows.f.message": "16KiB"}).expectations[] | select(.name == "spelled").verdict')" = passed
check_exit 0 "alone it has no other cell" "$H" run slower.json --no-report --out single --set 'sweep={}'
check "... and is skipped in the run" test "$(jq -r '.expectations[1] | "\(.verdict): \(.reason)"' "$(only single)/result.json")" = 'skipped: other(...) is of another cell of the sweep, and this run has none'

# ---- what is refused before anything runs
refused() { # WHAT PATTERN FILTER
    jq "$3" slower.json > case.json
    check_exit 2 "$1" "$H" run case.json --out refused
    check_says "... by name" "$2" err
}
refused "other() without a cell" 'expect\[1\].check: ".*": other\(\) is of another cell: say which with "against"' 'del(.expect[1].against)'
refused "a cell that nothing reads" 'expect\[1\].check: .*"against" names another cell, and nothing reads it' '.expect[1].check = "sum(flows.*.bytes) > 0"'
refused "another cell without a sweep" 'expect\[1\].against: there is no sweep' 'del(.sweep) | del(.expect[1].when)'
refused "a path that is not varied" 'expect\[1\].against: flows.f.depth is not varied by the sweep' '.expect[1].against = {"flows.f.depth": 1}'
refused "a value that no cell has" 'expect\[1\].against: flows.\*.memory is "gpu0" in no cell: it is "host", "gpu"' '.expect[1].against = {"flows.*.memory": "gpu0"}'
refused "a cell with itself" 'expect\[1\].against: no cell of the sweep in which "when" holds has another one' '.expect[1].against = {"flows.*.memory": "gpu"}'
refused "a cell that does not exist" 'published\[0\].against: no cell of the sweep has another one' '.expect = [] | del(.sweep) | .sweep = {"zip": [{"flows.*.memory": ["host", "gpu"], "flows.f.message": ["16KiB", "64KiB"]}]}'
refused "something else than paths" 'expect\[1\].against: expected an object' '.expect[1].against = ["host"]'
refused "a word that is none" 'expect\[0\].over: .*"repeat".*' '.expect[0].over = "repeat"'
refused "fairness of one flow" 'column 6: jain of one value says nothing' '.expect[0].check = "jain(flows.f.bytes) > 0"'
refused "a value of a flow without a function" 'flows\.[^ ]* needs a function: write sum\(flows' '.expect[0].check = "flows.*.goodput_bps > 1Gb/s"'
refused "a quantile of a counter" 'column 5: tx_prio0_pause is a counter: expected delta, .*, not p99' '.expect[0].check = "p99(b.tx_prio0_pause) > 0"'
check "... and nothing is left" test ! -e refused

# ---- killed and resumed
ratio killed "$R < 1.001"
killed() {
    setsid "$H" run killed.json --no-report --quiet --repeat 5 --out killed --jobs 2 &
    local pid=$! enough=$((RANDOM % 20))
    while [ "$(find killed -name result.json 2> /dev/null | wc -l)" -lt $enough ]; do kill -0 $pid 2> /dev/null || break; done
    kill -KILL $pid 2> /dev/null
    wait $pid
    [ -f "$(only killed)/request.json" ] && [ ! -e "$(only killed)/index.json" ]
}
until killed 2> /dev/null; do rm -rf killed; done
check_exit 0 "a sweep that was killed is resumed" "$H" run --resume "$(only killed)" --no-report
check "... and says the same of its cells" test "$(repeated killed -S .repeated)" = "$(repeated slower -S .repeated)"

# ---- a run that is missing
broken=$(only slower)
rm -r "$broken/13"
echo '{"type": "no result"' > "$broken/14/result.json"
check_exit 0 "two runs anew, one of a result that cannot be read" "$H" run --resume "$broken" --no-report
check_says "... and the others are kept" '18 of 20 runs are kept' err
check "... and the same is said of the cells" test "$(repeated slower -S .repeated)" = "$(repeated killed -S .repeated)"
finish
