#!/usr/bin/env bash
# `harness explain` on simulated runs whose cause, culprit and load are drawn at random: is the first cause that it names the one
# that was drawn? With all samples in 95 % of the runs, with what hosts count in 85 % or "not known"; a run in which nothing is wrong
# is never accused.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/../lib.sh"

# draw SEED [KIND]: sets kind, culprit, and writes lab.json and run.json into $dir
draw() {
    RANDOM=$1
    local kinds=(slow-receiver incast storm link-down headroom not-lossless link-damages sender none)
    kind=${2:-${kinds[$1 % ${#kinds[@]}]}}
    local topology hosts switches
    case $((RANDOM % 3)) in
        0) hosts=12 topology='{"kind": "star", "hosts": 12}' switches='"s0"' ;;
        1) hosts=12 topology='{"kind": "dumbbell", "hosts": 6}' switches='"s0", "s1"' ;;
        2) hosts=12 topology='{"kind": "leaf_spine", "hosts": 4, "leaves": 3, "spines": 2}' switches='"leaf0", "leaf1", "leaf2", "spine0", "spine1"' ;;
    esac
    if [ "$kind" = link-down ]; then
        hosts=12 topology='{"kind": "leaf_spine", "hosts": 4, "leaves": 3, "spines": 2}' switches='"leaf0", "leaf1", "leaf2", "spine0", "spine1"'
    fi
    # a host order at random: the first is the culprit's, others send
    local order=() i j swap
    for ((i = 0; i < hosts; i++)); do order[i]=$i; done
    for ((i = hosts - 1; i > 0; i--)); do j=$((RANDOM % (i + 1))) swap=${order[i]} order[i]=${order[j]} order[j]=$swap; done
    local c=h${order[0]} flows=() model=connectx-5 host='{}' switch='' faults='' storms='' pfc='[3]' ecn='[]' actions=(drop forward) priority=3 rate=$((10 + RANDOM % 30))
    flow() { flows+=("{\"name\": \"$1\", \"from\": \"$2\", \"to\": \"$3\", \"message\": \"${5:-64KiB}\", \"depth\": ${6:-32}, \"priority\": ${7:-3}${4:+, \"rate\": \"$4Gb/s\"}}"); }
    # beside it, flows that have room: each with hosts of its own
    for ((i = 8; i < 8 + 2 * (1 + RANDOM % 2); i += 2)); do flow "beside-$i" "h${order[i]}" "h${order[i + 1]}" "$((5 + RANDOM % 10))"; done
    culprit=$c
    case $kind in
        slow-receiver*)
            [ "$kind" = slow-receiver-dcqcn ] && ecn='[3]' switch=', "ecn": {"kmin": "50KB", "kmax": "200KB", "pmax": 0.2}'
            [ "$kind" = slow-receiver-lossy ] && pfc='[]'
            [ "$kind" = slow-receiver-watchdog ] && switch=", \"watchdog\": {\"detect\": \"$((3 + RANDOM % 20))us\", \"restore\": \"$((5 + RANDOM % 50))us\", \"action\": \"${actions[RANDOM % 2]}\"}"
            kind=slow-receiver
            host="{\"$c\": {\"pcie\": {\"generation\": 3, \"lanes\": $((1 << RANDOM % 3))}}}"
            for ((i = 1; i <= 1 + RANDOM % 2; i++)); do flow "to-$i" "h${order[i]}" "$c"; done ;;
        incast) for ((i = 1; i <= 2 + RANDOM % 5; i++)); do flow "to-$i" "h${order[i]}" "$c"; done ;;
        storm)
            flow to "h${order[1]}" "$c" "$rate"
            flow other "h${order[1]}" "h${order[2]}" "$rate"
            storms="{\"role\": \"$c\", \"priority\": 3, \"start\": \"$((400 + RANDOM % 400))us\", \"stop\": \"$((1500 + RANDOM % 600))us\"}" ;;
        link-down)
            local leaf=$((RANDOM % 3)) spine=$((RANDOM % 2))
            for ((i = 0; i < 4; i++)); do flow "up-$i" "h$((4 * leaf + i))" "h$(((4 * leaf + 4 + i) % 12))" "$((35 + RANDOM % 10))"; done
            flows=("${flows[@]: -4}")
            faults="{\"link\": [\"leaf$leaf\", \"spine$spine\"], \"kind\": \"down\", \"start\": \"$((600 + RANDOM % 400))us\"}"
            culprit="leaf$leaf - spine$spine" ;;
        headroom)
            switch=", \"headroom\": \"$((RANDOM % 3))KB\""
            for ((i = 1; i <= 3 + RANDOM % 3; i++)); do flow "to-$i" "h${order[i]}" "$c" "" 64KiB 128; done
            culprit=switch ;;
        not-lossless)
            priority=$((4 + RANDOM % 2)) culprit="priority $priority"
            for ((i = 1; i <= 3 + RANDOM % 3; i++)); do flow "to-$i" "h${order[i]}" "$c" "" 64KiB 128 "$priority"; done ;;
        link-damages)
            flow to "h${order[1]}" "$c" "$rate"
            local at=s0
            [[ $topology = *dumbbell* ]] && at=s$((order[0] / 6))
            [[ $topology = *leaf* ]] && at=leaf$((order[0] / 4))
            faults="{\"link\": [\"$c\", \"$at\"], \"kind\": \"loss\", \"loss\": 0.00$((1 + RANDOM % 9))}" culprit="$c - $at" ;;
        sender) flow slow "$c" "h${order[1]}" "" 4KiB $((1 + RANDOM % 2)) ;;
        none) for ((i = 0; i < 6; i += 2)); do flow "free-$i" "h${order[i]}" "h${order[i + 1]}" "$((5 + RANDOM % 30))"; done ;;
    esac
    printf '{"schema": 1, "name": "drawn", "driver": "sim", "topology": %s, "hosts": %s, "defaults": {"host": {"nic": {"model": "%s", "ack_timeout": "1ms"}}, "switch": {"convergence": "100us"%s}, "link": {"rate": "100Gb/s", "length": "20m"}}}\n' \
        "$topology" "$host" "$model" "$switch" >"$dir/lab.json"
    local IFS=,
    printf '{"schema": 1, "name": "drawn", "title": "drawn", "lab": "lab.json", "roles": ["h[0-%d]", %s], "phases": {"warmup": "200us", "measure": "2ms", "cooldown": "100us"}, "settings": {"mtu": 4200, "pfc": %s, "ecn": %s, "trust": "dscp"}, "flows": [%s]%s%s, "sample": {"every": "20us", "groups": ["pfc", "drops", "errors", "queue", "throughput", "ecn", "buffer"]}}\n' \
        $((hosts - 1)) "$switches" "$pfc" "$ecn" "${flows[*]}" "${faults:+, \"faults\": [$faults]}" "${storms:+, \"storms\": [$storms]}" >"$dir/run.json"
}

dir=$SCRATCH
all=0 right=0 accused=0 hosts_right=0 hosts_wrong=0 unequal=0
for seed in $(seq 1 "${1:-54}") 1-dcqcn 2-dcqcn 3-dcqcn 1-lossy 2-lossy 3-lossy 1-watchdog 2-watchdog 3-watchdog 4-watchdog; do
    variant=${seed#*-}
    [ "$variant" = "$seed" ] && variant=
    seed=${seed%-*}
    draw "$seed" ${variant:+"slow-receiver-$variant"}
    rm -rf "$dir/out"
    "$BUILD/harness" run "$dir/run.json" --seed "$seed" --no-report --quiet --out "$dir/out" >"$dir/said" 2>&1 || [ $? = 4 ] || sed "s/^/# seed $seed: /" "$dir/said"
    for view in "" --hosts-only; do
        # shellcheck disable=SC2086
        IFS=$'\t' read -r said sum < <("$BUILD/harness" explain --json $view "$dir/out/drawn/latest" | jq -r '[(.causes[0] // {kind: "none", culprit: "-"} | "\(.kind) \(.culprit)"), ([.flows[].shares | add] | map(. * 1000 | round) | unique | map(tostring) | join(","))] | @tsv')
        [ "$sum" = 1000 ] || { unequal=$((unequal + 1)) && echo "# seed $seed $view: shares add up to $sum thousandths"; }
        kind_said=${said%% *} culprit_said=${said#* }
        found=no
        case $kind in
            none) [ "$kind_said" = none ] && found=yes ;;
            headroom) [ "$kind_said" = headroom ] && { [[ $culprit_said = s* || $culprit_said = leaf* || $culprit_said = "a switch" ]] && found=yes; } ;;
            link-damages) [ "$kind_said" = "$kind" ] && [[ " $culprit_said " = *" ${culprit%% *} "* ]] && found=yes ;;
            *) [ "$said" = "$kind $culprit" ] && found=yes ;;
        esac
        [ $found = yes ] || echo "# seed $seed $variant $view: drawn is $kind $culprit, said $said"
        [ "$kind" = none ] && [ $found = no ] && accused=$((accused + 1))
        if [ -z "$view" ]; then
            all=$((all + 1))
            [ $found = yes ] && right=$((right + 1))
        elif [ $found = yes ]; then
            hosts_right=$((hosts_right + 1))
        elif [[ $kind_said != loss && $kind_said != network && $kind_said != host-pauses ]]; then
            hosts_wrong=$((hosts_wrong + 1))
        fi
    done
done
check "with all samples, the first cause is the drawn one in 95 % of $all runs: $right" [ $((100 * right)) -ge $((95 * all)) ]
check "with what hosts count, in 85 %: $hosts_right" [ $((100 * hosts_right)) -ge $((85 * all)) ]
check "otherwise it is said that it is not known: another cause is named in $hosts_wrong runs" [ $hosts_wrong = 0 ]
check "nothing is accused where nothing is wrong" [ $accused = 0 ]
check "the shares of each flow add up to 1" [ $unequal = 0 ]
finish
