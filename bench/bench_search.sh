#!/bin/bash
# `harness search` against Paraleon's annealing (ICNP 2024) on Paraleon's network, traffic, parameters and budget, simulated here: 128
# hosts on 8 leaves and 4 spines of 100 Gb/s and 5 us; web-search and Hadoop flows at shares of the line, all-to-all of 20 workers; 13
# parameters of DCQCN and ECN; 72 candidates. Its utility is w1 throughput + w2 base RTT / RTT + w3 (1 - pauses), with .3/.5/.2; pauses
# are here the share of time that switches pause their neighbours, there that of links that saw one.
#   bench_search.sh                   SEEDS=3 CASES="web-search-60 ..." CANDIDATES=72 JOBS=2 change what is run; with KEPT=FOLDER the
#                                     figures are kept there, and what it has is not run again
# Exit code 1 if the default strategy does not have the larger utility and hypervolume in the median of the seeds.
set -uo pipefail
ROOT=$(cd "$(dirname "$0")/.." && pwd)
PATH=$ROOT/build:$PATH
SEEDS=${SEEDS:-3} CANDIDATES=${CANDIDATES:-72}
CASES=${CASES:-web-search-50 web-search-60 web-search-70 hadoop-50 hadoop-60 hadoop-70 all-to-all}
work=$(mktemp -d /tmp/bench-search.XXXXXX)
trap 'rm -rf "$work"' EXIT
KEPT=${KEPT:-$work/kept}
mkdir -p "$KEPT"
status=0

jq '.name = "paraleon" | .title = "Paraleon'"'"'s network" | del(.sources) | .topology = {kind: "leaf_spine", hosts: 16, leaves: 8, spines: 4}
    | .defaults.switch.buffer = "12MB" | .defaults.link.delay = "5us"' "$ROOT/labs/sim-hpcc-leaf-spine.json" >"$work/lab.json"

traffic() { # case
    case $1 in
    all-to-all) echo '{"name": "load", "pattern": "all-to-all", "from": ["h[0-2,16-18,32-34,48-50,64-65,80-81,96-97,112-113]"], "size": "12MiB", "count": 1, "priority": 3}' ;;
    *) echo '{"name": "load", "pattern": "poisson", "sizes": "'"${1%-*}"'", "load": 0.'"${1##*-}"', "from": ["h[0-127]"], "priority": 3}' ;;
    esac
}

scenario() { # case, objectives
    jq -n --argjson traffic "$(traffic "$1")" --argjson objectives "$2" --arg candidates "$CANDIDATES" '{
        schema: 1, name: "paraleon", lab: "lab.json", roles: ["h[0-127]", "leaf[0-7]", "spine[0-3]"],
        phases: {warmup: "1ms", measure: "3ms", cooldown: "1ms"}, settings: {mtu: 4200, pfc: [3], ecn: [3],
            dcqcn: {rp: {rpg_time_reset: 300, rpg_ai_rate: 5, rpg_hai_rate: 50, rate_to_set_on_first_cnp: 50000, rpg_min_dec_fac: 50, rpg_min_rate: 1,
                rpg_gd: 11, rate_reduce_monitor_period: 4, dce_tcp_g: 1020, initial_alpha_value: 1023}}},
        flows: [{name: "probe-{}", from: "h[0-15]", to: "h[16-31]", mode: "latency", message: "64B", priority: 3}],
        traffic: [$traffic], sample: {every: "500us", groups: ["pfc", "ecn", "drops"]}, expect: [],
        search: {
            over: {
                "settings.dcqcn.rp.rpg_time_reset": {from: 50, to: 600}, "settings.dcqcn.rp.rpg_ai_rate": {from: 5, to: 100},
                "settings.dcqcn.rp.rpg_hai_rate": {from: 30, to: 600}, "settings.dcqcn.rp.rate_to_set_on_first_cnp": {from: 30000, to: 80000},
                "settings.dcqcn.rp.rpg_min_dec_fac": {from: 30, to: 80}, "settings.dcqcn.rp.rpg_min_rate": {from: 1, to: 5000},
                "settings.dcqcn.rp.rpg_gd": {from: 11, to: 13}, "settings.dcqcn.rp.rate_reduce_monitor_period": {from: 4, to: 128},
                "settings.dcqcn.rp.dce_tcp_g": {from: 960, to: 1020}, "settings.dcqcn.rp.initial_alpha_value": {from: 1, to: 1023},
                "lab.defaults.switch.ecn.kmin": {from: "40KB", to: "1600KB"}, "lab.defaults.switch.ecn.kmax": {from: "480KB", to: "6400KB"},
                "lab.defaults.switch.ecn.pmax": {from: 0.1, to: 0.4}},
            only: [{"lab.defaults.switch.ecn.kmin": "< lab.defaults.switch.ecn.kmax"}], objectives: $objectives,
            baselines: {paraleon_expert: {"settings.dcqcn.rp.rpg_ai_rate": 50, "settings.dcqcn.rp.rpg_hai_rate": 150, "settings.dcqcn.rp.rate_reduce_monitor_period": 80,
                "lab.defaults.switch.ecn.kmin": "1600KB", "lab.defaults.switch.ecn.kmax": "6400KB"}},
            runs: ($candidates | tonumber + 9), seeds: 1}}'
}

paused='(rate(h*.rx_prio3_pause_duration) + rate(*.port*_rx_prio3_pause_duration)) / (count(h*.rx_prio3_pause_duration) + count(*.port*_rx_prio3_pause_duration))'
utility="[{\"name\": \"utility\", \"max\": \"0.3 * sum(flows.load.delivered_bps) / 12800Gb/s + 0.5 * 20us / mean(flows.probe-*.latency_mean_ns) + 0.2 * (1 - $paused)\"}]"
both='[{"name": "small flows", "min": "max(flows.load.slowdown_p50)"}, {"name": "large flows", "min": "max(flows.load.completion_p99_ns)"}]'

median() { sort -g | awk '{ value[NR] = $1 } END { print NR % 2 ? value[(NR + 1) / 2] : (value[NR / 2] + value[NR / 2 + 1]) / 2 }'; }
search_by() { # strategy, seed, scenario: the folder of the study
    harness search "$3" --set "search.strategy=$1" --seed "$2" ${JOBS:+--jobs "$JOBS"} --no-report --quiet --out "$work/$1-$2" >/dev/null 2>"$work/error" ||
        { cat "$work/error" >&2 && return 1; }
    readlink -f "$work/$1-$2/paraleon/latest"
}
known() { jq ".known[] | select(.known == \"$1\").objectives.utility.mean" "$2/search.json"; }


measure() { # case, seed: figures, a line each
    local ours theirs
    rm -rf "$work"/{model,annealing}-*
    scenario "$1" "$utility" >"$work/paraleon.json"
    ours=$(search_by model "$2" "$work/paraleon.json") && theirs=$(search_by annealing "$2" "$work/paraleon.json") || return 1
    echo "default $(known 'as written' "$ours")"
    echo "expert $(known paraleon_expert "$ours")"
    echo "annealing $(jq '.front[0].objectives.utility.mean' "$theirs/search.json")"
    echo "model $(jq '.front[0].objectives.utility.mean' "$ours/search.json")"
    scenario "$1" "$both" >"$work/paraleon.json"
    ours=$(search_by model "$2" "$work/paraleon.json") && theirs=$(search_by annealing "$2" "$work/paraleon.json") || return 1
    harness compare "$theirs" "$ours" --json | jq -r '.fronts | "annealing-volume \(.old.dominated)\nmodel-volume \(.new.dominated)"'
}

for seed in $(seq "$SEEDS"); do
    for case in $CASES; do
        [ ! -e "$KEPT/$case.$seed" ] || continue
        began=$SECONDS
        measure "$case" "$seed" >"$work/figures" || exit 2
        echo "seconds $((SECONDS - began))" >>"$work/figures"
        mv "$work/figures" "$KEPT/$case.$seed"
    done
done

declare -A is
for case in $CASES; do
    for name in default expert annealing model annealing-volume model-volume seconds; do
        is[$name]=$(for seed in $(seq "$SEEDS"); do awk -v name="$name" '$1 == name { print $2 }' "$KEPT/$case.$seed"; done | median)
    done
    echo "   $case: utility ${is[model]} by model, ${is[annealing]} by annealing, ${is[expert]} expert, ${is[default]} default ($(awk -v a="${is[model]}" -v b="${is[default]}" 'BEGIN { printf "%+.1f %%", 100 * (a / b - 1) }')); hypervolume ${is[model-volume]} by model, ${is[annealing-volume]} by annealing; medians of $SEEDS seeds, ${is[seconds]} s for the four studies of one"
    awk -v a="${is[model]}" -v b="${is[annealing]}" -v c="${is[model-volume]}" -v d="${is[annealing-volume]}" -v e="${is[expert]}" -v f="${is[default]}" \
        'BEGIN { exit !(a >= b && c >= d && a >= e && a >= f) }' || { echo "   $case: MISSED" && status=1; }
done
exit $status
