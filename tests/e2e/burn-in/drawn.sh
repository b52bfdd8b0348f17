#!/usr/bin/env bash
# `harness burn-in` on simulated clusters with one fault each, then with two, drawn at random: are the culprits named, and no healthy part accused?
# In 29 of 30, and where nothing is wrong nobody is.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/../lib.sh"

# draw SEED [KIND]: sets kind and culprit (a pattern of one), and SETS, and writes lab.json into $dir
# shellcheck disable=SC2016 # jq's own variables
draw() {
    RANDOM=$1
    local seed=$1
    local kinds=(link-slow link-errors nic-slow gpu-route pfc-off switch-pfc slow-receiver uplink-slow dcqcn-off none ecn-off port-pfc)
    kind=${2:-${kinds[$1 % ${#kinds[@]}]}}
    local hosts=$((4 + RANDOM % 5)) topology at i
    local rails=0 rail=
    case $((RANDOM % 3)) in
        0) topology="{\"kind\": \"star\", \"hosts\": $hosts}" switches=(s0) ;;
        1) hosts=$((2 * ((hosts + 1) / 2))) topology="{\"kind\": \"leaf_spine\", \"hosts\": $((hosts / 2)), \"leaves\": 2, \"spines\": 2}" switches=(leaf0 leaf1) ;;
        2) hosts=$((4 + RANDOM % 3)) rails=$((2 + RANDOM % 3)) topology="{\"kind\": \"rail_leaf_spine\", \"groups\": 1, \"hosts\": $hosts, \"rails\": $rails, \"spines\": $((seed / 11 % 2 * 2))}" switches=(leaf0) ;;
    esac
    [[ $kind != ecn-* || $rails != 0 ]] || rails=2 hosts=4 topology='{"kind": "rail_leaf_spine", "groups": 1, "hosts": 4, "rails": 2, "spines": 0}'
    [[ $kind != uplink-* ]] || rails=0 hosts=8 topology='{"kind": "leaf_spine", "hosts": 4, "leaves": 2, "spines": 2}' switches=(leaf0 leaf1)
    [[ $kind != uplink-* || $((seed / 11)) != 1 ]] || topology='{"kind": "rail_leaf_spine", "groups": 1, "hosts": 8, "rails": 2, "spines": 2}'
    i=$((RANDOM % hosts))
    local c=h$i filter=. level=$((RANDOM % 3)) ecn=''
    if [ "$kind" = dcqcn-off ] || [ "$kind" = ecn-off ] || [ $((RANDOM % 2)) = 0 ]; then ecn=', "ecn": {"kmin": "100KB", "kmax": "400KB", "pmax": 0.2}'; fi
    at=${switches[i * ${#switches[@]} / hosts]}
    if [ $rails != 0 ]; then # a NIC, on the leaf of its rail
        rail=$((RANDOM % rails)) switches=("leaf$rail")
        c=$c.rail$rail at=leaf$rail
    fi
    culprit=$c SETS=()
    case $kind in
        link-slow) # slower than the lab states
            culprit="$c - $at" rates=(50 40 25)
            SETS=(--set "faults=[{\"link\": [\"$c\", \"$at\"], \"kind\": \"rate\", \"rate\": \"${rates[level]}Gb/s\", \"retrain\": \"5us\"}]" "${SLOW[@]}") ;;
        link-errors) culprit="$c - $at" SETS=(--set "faults=[{\"link\": [\"$c\", \"$at\"], \"kind\": \"loss\", \"loss\": 0.00$((1 + RANDOM % 9))}]") ;;
        nic-slow) filter='.hosts[$c].pcie = {generation: 3, lanes: [8, 4, 2][$n], latency: "150ns"}' ;;
        gpu-route) filter='.hosts[$c].gpu = {write: "40Gb/s", read: (["30Gb/s", "50Gb/s", "60Gb/s"][$n])}' ;;
        pfc-off) SETS=(--set "settings_of.$c={\"pfc\": []}") ;;
        switch-pfc)
            culprit=${switches[RANDOM % ${#switches[@]}]}
            SETS=(--set "settings_of.$culprit={\"pfc\": [$((RANDOM % 2 ? 4 : 1))]}") ;;
        port-pfc) filter='(.links[] | select(.between == [$c, $at])).lossy_at = $at | .switches[$at].buffer = "2MiB"' culprit="$c - $at" kind=switch-pfc ;;
        uplink-slow) # likewise
            at=spine$((RANDOM % 2)) culprit="leaf$((i % 2)) - $at" rates=(50 40 25)
            SETS=(--set "faults=[{\"link\": [\"leaf$((i % 2))\", \"$at\"], \"kind\": \"rate\", \"rate\": \"${rates[level]}Gb/s\", \"retrain\": \"5us\"}]" --set traffic.*.start=150us) kind=link-slow ;;
        ecn-off) filter='.switches[$at].ecn = null' culprit=$at ;;
        dcqcn-off) SETS=(--set "settings_of.$c={\"ecn\": []}") ;;
        slow-receiver) filter='.hosts[$c].memory = {write: (["30Gb/s", "50Gb/s", "60Gb/s"][$n])}' ;;
    esac
    printf '{"schema": 1, "name": "drawn", "driver": "sim", "topology": %s, "defaults": {"host": {"nic": {"model": "connectx-5", "ack_timeout": "1ms"}, "gpu": {}}, "switch": {"convergence": "100us"%s}, "link": {"rate": "100Gb/s", "length": "20m"}}}\n' \
        "$topology" "$ecn" >"$dir/plain.json"
    "$BUILD/harness" lab show "$dir/plain.json" | jq --arg c "$c" --arg at "$at" --argjson n "$level" "$filter" >"$dir/lab.json"
}

dir=$SCRATCH
# a link is slow from the beginning: nothing is sent while it is trained anew, and no NIC counts that it was
SLOW=(--set traffic.*.start=150us --set 'sample.groups=["pfc", "drops", "errors", "throughput", "ecn", "queue"]')

all=0 right=0 accused=0
for seed in $(seq "${2:-1}" "${1:-30}"); do
    draw "$seed"
    all=$((all + 1))
    rm -rf "$dir/out"
    "$BUILD/harness" burn-in "$dir/lab.json" "${SETS[@]}" --no-report --quiet --out "$dir/out" 2>"$dir/words"
    status=$?
    found=$(jq -r '[.findings[] | "\(.kind) \(.culprit)"] | join(", ")' "$dir/out/burn-in-drawn/latest/burn-in.json")
    wanted="$kind $culprit"
    [ "$kind" != none ] || wanted=
    if [ "$found" = "$wanted" ] && [ "$status" = "$(if [ "$kind" = none ]; then echo 0; else echo 1; fi)" ]; then
        right=$((right + 1))
    else
        echo "# seed $seed: drawn is $kind $culprit, said \"$found\" (status $status)"
        jq -c '.findings[], .unknown' "$dir/out/burn-in-drawn/latest/burn-in.json" | sed 's/^/#   /'
        # a part that is not the culprit
        [ -z "$found" ] || [ "${found#* }" = "$culprit" ] || accused=$((accused + 1))
    fi
done
check "the culprit, and what is wrong with it, is named in 29 of 30: $right of $all" [ $((30 * right)) -ge $((29 * all)) ]
check "no healthy part is accused: $accused" [ $accused = 0 ]

# twice SEED: of eight hosts two are bad, often neighbours of one switch: sets culprits and SETS, and writes lab.json into $dir
twice() {
    RANDOM=$1
    local i=$((RANDOM % 8)) j at kind name filter=. faults=''
    local shapes=('{"kind": "star", "hosts": 8}' '{"kind": "leaf_spine", "hosts": 4, "leaves": 2, "spines": 2}' '{"kind": "leaf_spine", "hosts": 2, "leaves": 4, "spines": 2}' '{"kind": "leaf_spine", "hosts": 1, "leaves": 8, "spines": 2}')
    local leaves=(0 2 4 8)
    local of=$((RANDOM % 4))
    j=$(((i + 1 + RANDOM % 3) % 8)) culprits=''
    for at in $i $j; do
        name=leaf$((leaves[of] * at / 8))
        [ $of != 0 ] || name=s0
        case $((RANDOM % 4)) in
            0) kind="link-slow h$at - $name" faults+="${faults:+, }{\"link\": [\"h$at\", \"$name\"], \"kind\": \"rate\", \"rate\": \"40Gb/s\", \"retrain\": \"5us\"}" ;;
            1) kind="link-errors h$at - $name" faults+="${faults:+, }{\"link\": [\"h$at\", \"$name\"], \"kind\": \"loss\", \"loss\": 0.00$((3 + RANDOM % 6))}" ;;
            2) kind="nic-slow h$at" filter+=" | .hosts.h$at.pcie = {generation: 3, lanes: 4, latency: \"150ns\"}" ;;
            3) kind="slow-receiver h$at" filter+=" | .hosts.h$at.memory = {write: \"30Gb/s\"}" ;;
        esac
        culprits+="$kind"$'\n'
    done
    SETS=(--set "faults=[$faults]" "${SLOW[@]}")
    printf '{"schema": 1, "name": "drawn", "driver": "sim", "topology": %s, "defaults": {"host": {"nic": {"model": "connectx-5", "ack_timeout": "1ms"}}, "link": {"rate": "100Gb/s", "length": "20m"}}}\n' \
        "${shapes[of]}" >"$dir/plain.json"
    "$BUILD/harness" lab show "$dir/plain.json" | jq "$filter" >"$dir/lab.json"
}
all=0 right=0 accused=0
for seed in $(seq 1 $((${1:-30} / 3))); do
    twice "$seed"
    all=$((all + 1))
    rm -rf "$dir/out"
    "$BUILD/harness" burn-in "$dir/lab.json" "${SETS[@]}" --stages nics --stages pairs --no-report --quiet --out "$dir/out" 2>"$dir/words"
    jq -r '.findings[] | "\(.kind) \(.culprit)"' "$dir/out/burn-in-drawn/latest/burn-in.json" | sort >"$dir/found"
    sort <<<"${culprits%?}" >"$dir/wanted"
    more=$(comm -23 "$dir/found" "$dir/wanted" | paste -sd,) less=$(comm -13 "$dir/found" "$dir/wanted" | paste -sd,)
    [ -n "$more$less" ] || right=$((right + 1))
    accused=$((accused + $(comm -23 <(grep -o 'h[0-9]' "$dir/found" | sort -u) <(grep -o 'h[0-9]' "$dir/wanted" | sort -u) | wc -l)))
    [ -z "$more$less" ] || echo "# of two, seed $seed: said too much \"$more\", not \"$less\": $(jq -c .unknown "$dir/out/burn-in-drawn/latest/burn-in.json")"
done
check "two culprits are named in nine of ten: $right of $all" [ $((10 * right)) -ge $((9 * all)) ]
check "and none of their neighbours is accused: $accused" [ $accused = 0 ]

# a pause storm: what its neighbours send, or what confirms it, waits at ports between switches that it stops
jq -n '{schema: 1, name: "drawn", driver: "sim", topology: {kind: "leaf_spine", hosts: 3, leaves: 2, spines: 2}, defaults: {host: {nic: {model: "ideal", ack_every: 16}},
    switch: {buffer: "16MiB", reserve: "4KiB", xoff_alpha: 0.125, xon_offset: "3KiB"}, link: {rate: "100Gb/s", delay: "1us"}}}' >"$dir/lab.json"
"$BUILD/harness" burn-in "$dir/lab.json" --set 'storms=[{"role": "h2", "priority": 3, "start": "100us", "stop": "2ms"}]' --stages nics --stages pairs --no-report --quiet --out "$dir/out" 2>"$dir/words"
found=$(jq -r '[.findings[] | "\(.kind) \(.culprit)"] | join(", ")' "$dir/out/burn-in-drawn/latest/burn-in.json")
check "a storm is named, and nobody whom it slows: $found" [ "$found" = "slow-receiver h2" ]
finish
