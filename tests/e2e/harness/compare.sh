#!/bin/bash
# harness compare, and harness run --against: what differs between two results, and rules that fail. The figures are held against
# result.json and index.json; what was not simulated (versions, origins, damage) is written into copies of results.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/../lib.sh"
skip_unless "comparisons" jq script
H=$BUILD/harness
cd "$SCRATCH" || exit

runs() { # NAME ARG...: the folder NAME is the result
    local name=$1
    shift
    "$H" run "$ROOT/scenarios/pfc-bidir.json" --no-report --quiet --out runs --set phases.warmup=5ms --duration 20ms "$@" >"$name.said" 2>&1
    local code=$?
    cp -rL runs/pfc-bidir/latest "$name"
    return $code
}
edited() { # NAME FROM FILTER: a copy with a changed result.json
    cp -r "$2" "$1"
    jq "$3" "$2/result.json" >"$1/result.json"
}
compare() { check_exit "$1" "$2" "$H" compare "${@:3}"; }
says() { check_says "  $1" "$2" out; }
json_says() { # WHAT FILTER
    if jq -es ".[0] | $2" out >/dev/null; then ok "  $1"; else nok "  $1" "$(jq -c . out)"; fi
}

runs gpu --set 'sweep={}'
runs again --set 'sweep={}'
runs host --set 'sweep={}' --set 'flows.*.memory=host'
G=$(jq '[.flows[].goodput_bps] | add' gpu/result.json) H_BPS=$(jq '[.flows[].goodput_bps] | add' host/result.json)

# ---- what the end of a sweep judged of a run is in its head and below
runs beside --set 'sweep={"flows.*.memory": ["host", "gpu"]}' --set 'expect=[{"name": "as with host memory", "when": {"flows.*.memory": "gpu"}, "against": {"flows.*.memory": "host"}, "check": "sum(flows.*.goodput_bps) > 0.999 * other(sum(flows.*.goodput_bps))"}]'
compare 0 "two cells, of which one failed beside the other" beside/01 beside/02
says "it failed" '^     simulated, failed, '
says "and does below" '^expectations.*: skipped in OLD, failed in NEW$'

# ---- what differs
compare 0 "the same again" gpu again
says "settings are the same" '^settings: the same$'
says "versions are the same" '^versions: the same$'
says "figures are the same" '^[0-9]+ figures are the same$'
compare 0 "another memory" host gpu
says "it is a setting" '^flows\.a-to-b\.memory +host +gpu$'
compare 0 "the same for programs" host gpu --json
json_says "goodput is that of both results" ".cells[0].figures[\"goodput of all flows\"] | .old.mean == $H_BPS and .new.mean == $G and .difference == $G - $H_BPS"
json_says "the change is in percents of OLD" ".cells[0].figures[\"goodput of all flows\"].change_percent - ($G - $H_BPS) / $H_BPS * 100 | fabs < 1e-9"
json_says "pauses, CNPs, losses, resends and latencies are among the figures" \
    '.cells[0].figures | has("rx_prio0_pause") and has("rp_cnp_handled") and has("packets sent again in the whole run") and has("latency p99 of a-to-b") and has("latency p50 of a-to-b")'
json_says "one run has no spread" '[.cells[].figures[] | has("apart")] | any | not'
compare 2 "a result with itself is refused" gpu ./gpu
compare 2 "what is no result is refused" gpu "$ROOT/docs"
compare 2 "what is not there is refused" gpu nothing
check_says "  with the place of a baseline" 'no baseline .*/harness/baselines/nothing' err

# ---- rules
compare 0 "goodput that is not below" gpu host --fail-if 'goodput < 97% of old'
says "both values are said" "^passed +goodput < 97% of old: 48\.9161 Gb/s, which is not < 43\.6344 Gb/s$"
compare 1 "goodput that is" host gpu --fail-if 'goodput < 97% of old'
says "both values are said" "^failed +goodput < 97% of old: 44\.9839 Gb/s, which is < 47\.4486 Gb/s$"
compare 1 "one rule of two that holds" host gpu --fail-if 'goodput < 50% of old' --fail-if 'latency_p99 > old + 5us'
compare 0 "a difference that is not as large" host gpu --fail-if 'latency_p99 > old + 2 ms'
compare 1 "an expression" host gpu --fail-if 'delta(b.rx_prio0_pause) + delta(a.rx_prio0_pause) >= old + 1'
compare 1 "several figures" host gpu --fail-if 'pauses + cnps > 2 * old'
compare 1 "a limit without OLD" host gpu --fail-if 'goodput < 45 Gb/s'
compare 0 "a rule that never holds" host gpu --fail-if 'pauses < 0'
check_says "is said to fail nothing" 'fail-if "pauses < 0" never holds, whatever is compared: it fails nothing' out
compare 1 "one that always does" host gpu --fail-if 'delta(b.rx_prio0_pause) >= 0'
check_says "is said to fail everything" 'fail-if "delta.b.rx_prio0_pause. >= 0" always holds, whatever is compared: it fails everything' out
compare 2 "a share that is added" host gpu --fail-if 'pauses > old + 10%'
check_says "  with what is meant" 'write old \* 1\.1$' err
compare 2 "... also of a latency, and before OLD" host gpu --fail-if 'latency_p99 > 10 % + old'
compare 0 "... of something" host gpu --fail-if 'goodput > old + 10% of old'
compare 4 "a count against a share" host gpu --fail-if 'pauses > 110%'
says "... is not judged" 'a plain number is compared with a share'
compare 4 "a count against a frequency" host gpu --fail-if 'pauses > 1k/s'
says "... is not judged" 'a plain number is compared with events per second'
compare 2 "an index above 1" host gpu --fail-if 'jain(flows.*.goodput_bps) > 95'
check_says "  with what is meant" 'jain is an index from 0 to 1, and is compared with 95: write 95% for that many per cent' err
compare 4 "different units in one sum" host gpu --fail-if 'delta(b.rx_prio0_pause*) > old'
says "... are named" 'b\.rx_prio0_pause\* has different units: rx_prio0_pause is in frames, rx_prio0_pause_duration in '
compare 4 "what neither has is not judged" host gpu --fail-if 'delta(*.nonsense) > old'
says "with the side" '^not judged +delta\(\*\.nonsense\) > old: OLD: there is no \*\.nonsense in the result$'
compare 1 "what fails is worse than what is not judged" host gpu --fail-if 'delta(*.nonsense) > old' --fail-if 'goodput < old'
compare 4 "what is not judged is worse than what is well" host gpu --fail-if 'goodput > 2 * old' --fail-if 'delta(*.nonsense) > old'
edited lacks gpu 'del(.flows[].latency_ns)'
compare 4 "what NEW lacks is not judged" gpu lacks --fail-if 'latency_p99 > old'
says "and said" 'NEW: there is no flows\.\*\.latency_p99_ns in the result'
says "it is a figure of OLD alone" '^figures in OLD alone: .*latency p99 of a-to-b'
compare 4 "units that do not go together are not judged" host gpu --fail-if 'goodput < old - 5'
says "and said" 'a rate and a plain number cannot be added'
edited few gpu '.flows[].latency_ns.count = 50'
compare 0 "a quantile of few values" gpu few --fail-if 'latency_p99 > old'
says "is said to be one" '^passed +latency_p99 > old: .*; NEW: the p99 of flows\.\*\.latency_p99_ns is of 50 messages and takes 100'
edited starved gpu '.flows["a-to-b"] |= (.messages = 0 | .bytes = 0 | del(.latency_ns))'
compare 4 "the latency of flows of which one completed nothing is not judged" gpu starved --fail-if 'latency_p99 > 2 * old'
says "with its name" '^not judged .*: NEW: flow a-to-b completed no message, and has no latency_p99_ns'
compare 1 "  but where those that did are enough" starved gpu --fail-if 'latency_p99 > 1ns'
edited unread gpu '.hosts.b.counters.rx_prio0_pause |= del(.delta, .rate_per_s)'
compare 4 "a counter that was not read at one of the hosts is not judged" gpu unread --fail-if 'delta(*.rx_prio0_pause) > 2 * old'
says "with how many" '^not judged .*rx_prio0_pause was not read in the measure phase at 1 of 2 places'
edited unlisted gpu '.hosts.b = {listed: false, name: "b", capabilities: .hosts.b.capabilities, counters: {}}'
compare 4 "counters that were not kept of all hosts are not judged" gpu unlisted --fail-if 'pauses > old'
says "and said" 'counters of b were not kept'
while IFS=$'\t' read -r rule sentence; do
    compare 2 "the rule \"$rule\" is refused" gpu host --fail-if "$rule"
    check_says "  and it is said why" "$sentence" err
done <<'RULES'
goodpt < old	no figure "goodpt" \(did you mean goodput\?\)
goodput	it has no sign
< old	expected a figure such as goodput before the sign
goodput = old	expected a comparison
goodput < 97 of old	"of" stands behind a share
goodput < 97% of ald	"ald": expected numbers with their units and old
goodput < max(a.b)	"max": expected numbers
goodput < other(goodput) 	"other": expected numbers
other(sum(flows.*.goodput_bps)) < 5	other\(\.\.\.\) is of the cells of one sweep
goodput <	it ends here
RULES

# ---- did each side run, and are they alike?
edited part gpu '.complete = false | .verdict = "incomplete" | .reason = "it was broken off"'
compare 4 "a run that is not whole" gpu part --fail-if 'goodput < 1% of old'
says "it is said" '^note: NEW is not whole, and its figures are not used: it was broken off'
says "no rule is well" '^not judged +goodput < 1% of old: NEW has 0 whole runs of 1'
cp -r gpu damaged
head -c 100 gpu/flows.jsonl >damaged/flows.jsonl
compare 4 "a damaged run" damaged gpu
says "it is said" '^note: OLD is not whole.*flows\.jsonl'
edited wrong gpu '.flows["a-to-b"].goodput_bps = -5'
compare 4 "a value of the wrong range" gpu wrong
says "it is said" '^note: NEW: .*goodput_bps'
edited measured gpu '.simulated = false | .origin = "measured" | .hosts[].origin = "measured" | .hosts[].facts = {versions: {kernel: "6.1.0-18", mlnx_ofed: null},
    nics: [{netdev: "data0", driver: "mlx5_core", firmware: "16.35.2000", pci: {id: "15b3:1019"}, rdma: {device: "mlx5_0"}}]}'
compare 4 "a simulated and a measured run" gpu measured --fail-if 'goodput < 1% of old'
says "it is said" '^note: OLD is simulated and NEW is measured: no rule is judged'
says "no rule is well" '^not judged +goodput'
edited upgraded measured '.hosts[].facts |= (.versions.mlnx_ofed = "5.8-3.0.7" | .nics[0].firmware = "16.35.3006") | .hosts.a.facts.versions.kernel = "6.1.0-20"'
compare 0 "another driver and firmware" measured upgraded --fail-if 'goodput < 97% of old'
says "the firmware, once for both hosts" '^data0 firmware +a and b +16\.35\.2000 +16\.35\.3006$'
says "the driver" '^mlnx_ofed +a and b +none +5\.8-3\.0\.7$'
says "the kernel of one host" '^kernel +a +6\.1\.0-18 +6\.1\.0-20$'
edited model measured '.hosts[].facts.nics[0].pci.id = "15b3:101d"'
compare 0 "other NICs" measured model
says "they are said" '^note: the NICs are of other models: 15b3:1019 in OLD, 15b3:101d in NEW'
edited factless measured 'del(.hosts.b.facts)'
compare 0 "a host without facts" measured factless
says "its versions are unknown" '^note: NEW has no facts of host b: whether its versions differ is not known'
runs longer --set 'sweep={}' --set phases.measure=40ms --duration 40ms
compare 0 "another duration" gpu longer
says "it is said" '^note: the measure phase had 0\.02 s in OLD and has 0\.04 s in NEW'
for rule in pauses cnps resends 'delta(*.tx_prio0_pause) + 1' 'sum(flows.*.bytes)'; do
    compare 4 "... with a rule on what is more in a longer time: $rule" gpu longer --fail-if "$rule > 2 * old"
    says "it is not judged" '^not judged .*: it counts over a measure phase of 0\.02 s in OLD and of 0\.04 s in NEW: take rate'
done
for rule in goodput latency_p99 'rate(*.tx_prio0_pause)' 'delta(*.rx_prio0_pause) / delta(*.tx_prio0_bytes)'; do
    compare 0 "... with a rule on what is not: $rule" gpu longer --fail-if "$rule > 20 * old"
done
compare 0 "... or on NEW alone" gpu longer --fail-if 'pauses > 1000000'

# ---- sweeps and repetitions
runs sweep --repeat 2 --set 'sweep={"flows.*.memory": ["host", "gpu"], "flows.*.message": ["64KiB", "16KiB"]}'
runs other --repeat 2 --seed 7 --set 'sweep={"flows.*.memory": ["gpu"], "flows.*.message": ["32KiB", "65536B"]}'
compare 4 "two sweeps" sweep other --fail-if 'goodput < 10% of old'
says "cells without a partner are named" '^cells in OLD alone: memory host, message 64KiB; memory host, message 16KiB; memory gpu, message 16KiB$'
says "of both sides" '^cells in NEW alone: memory gpu, message 32KiB$'
says "they are not judged" '^not judged +goodput < 10% of old, memory gpu, message 32KiB: OLD has no such cell$'
"$H" compare sweep other --json >out
json_says "choices are matched by their values" '.cells | length == 1 and .[0].cell["flows.*.message"] == "65536B"'
WANTED=$(jq -c '.repeated[] | select(.cell == {"flows.*.memory": "gpu", "flows.*.message": "64KiB"}) | .figures.goodput_bps | del(.unit)' sweep/index.json)
json_says "mean and interval are those of the index" ".cells[0].figures[\"goodput of all flows\"].old == $WANTED"
json_says "intervals that meet are not apart" '[.cells[].figures[] | .apart == ((.difference | fabs) > .old.ci95 + .new.ci95)] | all'
# A run that was repeated stands for its cell.
compare 0 "a run of each of two cells" sweep/07 sweep/06 --json
SMALL=$(jq -c '.repeated[] | select(.cell == {"flows.*.memory": "gpu", "flows.*.message": "16KiB"}) | .figures.goodput_bps | del(.unit)' sweep/index.json)
json_says "both sides have mean and interval of all repetitions" ".cells[0].figures[\"goodput of all flows\"] | .old == $SMALL and .new == $WANTED and has(\"apart\")"
json_says "... which is said" '.notes | index("OLD is one of 2 repetitions of its cell: all of them are compared") and index("NEW is one of 2 repetitions of its cell: all of them are compared")'
compare 0 "a run of the same cell in each of two sweeps" sweep/05 other/04 --json
json_says "... too" ".cells[0].figures[\"goodput of all flows\"] | .old == $WANTED and .new.count == 2 and has(\"apart\")"
compare 0 "two repetitions of one cell" sweep/05 sweep/06 --json
json_says "... are single runs" '([.cells[].figures[] | has("apart") or .old.count != 1] | any | not) and (.notes[0] | test("^OLD is one of 2 repetitions, with which it is compared"))'
compare 0 "a repeated run beside one that was not" sweep/05 gpu --json
json_says "... has the mean of that side" ".cells[0].figures[\"goodput of all flows\"] | .old == $WANTED and .new.count == 1"
compare 0 "the same sweep" sweep/ "$(cp -r sweep copy && echo copy)" --fail-if 'goodput < old'
says "a line for all cells" '^passed +4 times$'
says "repetitions that are all the same show no spread" '^note: repetitions that have the same value in every figure count as one'
cp -r copy whole
rm copy/03/result.json
compare 4 "a sweep that lacks a run" sweep copy --fail-if 'goodput < old'
says "it is said" '^note: NEW: .*03'
script -qec "stty cols 80 && '$H' compare sweep other" /dev/null </dev/null | tr -d '\r' | grep -v '^[a-zO]*[:N ] \|^cells\|^OLD\|^NEW' >out
if grep -q 'goodput of all' out && ! grep -q '.\{81\}' out; then ok "no row is wider than 80 columns"; else nok "no row is wider than 80 columns" "$(cat out)"; fi

# ---- at the end of a run
mkdir -p "$XDG_CONFIG_HOME/harness/baselines"
cp -r host "$XDG_CONFIG_HOME/harness/baselines/good"
RUN=("$H" run "$ROOT/scenarios/pfc-bidir.json" --no-report --out new --set phases.warmup=5ms --duration 20ms --set 'sweep={}')
check_exit 1 "a run that is worse than a baseline" "${RUN[@]}" --against good --fail-if 'goodput < 97% of old'
says "it is said" '^failed +goodput < 97% of old'
says "settings are said" '^flows\.a-to-b\.memory +host +gpu$'
check_exit 0 "one that is as good as the run before" "${RUN[@]}" --against new/pfc-bidir/latest --fail-if 'goodput < 97% of old'
says "the link is followed before the run" '^passed +goodput'
check_exit 4 "one that cannot be judged" "${RUN[@]}" --against good --fail-if 'delta(*.nonsense) > old' --quiet
check_exit 0 "without rules nothing fails" "${RUN[@]}" --against good --json
json_says "the comparison is in the document" '.against.settings["scenario.flows.a-to-b.memory"].new == "gpu" and .against.verdict == "unjudged"'
check_exit 0 "rules judge a run that has no expectations" "${RUN[@]}" --set 'expect=[]' --against good --fail-if 'goodput < 50% of old' --quiet
count() { find new/pfc-bidir -mindepth 1 -maxdepth 1 -type d | wc -l; }
rm sweep/03/result.json
check_exit 0 "a sweep that is resumed" "$H" run --resume sweep --against whole --fail-if 'goodput < old' --no-report
says "is compared, too" '^passed +4 times$'
BEFORE=$(count)
check_exit 2 "a baseline that is not there is refused" "${RUN[@]}" --against nothing
check_exit 2 "a rule that cannot be read is refused" "${RUN[@]}" --against good --fail-if 'goodput'
check_exit 2 "a rule without an earlier result is refused" "${RUN[@]}" --fail-if 'goodput < old'
check_exit 2 "nobody waits for the end with --detach" "${RUN[@]}" --against good --on slurm --detach
check "  all before anything runs" [ "$(count)" = "$BEFORE" ]
finish
