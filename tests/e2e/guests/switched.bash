# Sourced by parts with guests that are switches: runs of two cells, and what all have counted.

# What has been counted since the guests booted, as one object by host: samples of a run end before its last packets.
count() { # FILE HOSTS SWITCHES
    local name
    {
        for name in $2; do
            softlab_ssh "$name" 'ethtool -S roce0 | tr -d :; cd /sys/class/infiniband/mlx5_0/ports/1/hw_counters && grep . *_cnp_* np_ecn* | tr : " "
                grep "^priority 3 " /sys/kernel/debug/virtual-connectx/0/counters | tr " " "\n" | paste -d " " - - | sed "s/^/port_prio3_/"' |
                sed "s/^ */$name /"
        done
        for name in $3; do softlab_ssh "$name" cat /sys/kernel/debug/virtual-connectx/switch/counters | sed "s/^/$name /"; done
    } | jq -nR '[inputs | split(" ") | select(length == 3 and (.[2] | test("^[0-9]+$")))] | reduce .[] as [$host, $name, $value] ({}; .[$host][$name] = ($value | tonumber))' > "$1"
}
# shellcheck disable=SC2317 # called through check
counted() { [ -s "$2" ] && jq -e "$1" "$2"; } # FILTER FILE

# A scenario's run of two cells on the lab of this name; expectations are not judged here. $run is its folder.
run_both() { # SCENARIO LAB
    "$BUILD/harness" run "$ROOT/scenarios/$1.json" --lab "$ROOT/labs/$2.json" --out "$SCRATCH/results" --no-report > "$SCRATCH/out" 2> "$SCRATCH/err"
    run=$(readlink -f "$SCRATCH/results/$1/latest")
    check "both runs are there" test -s "$run/02/result.json"
    [ -s "$run/02/result.json" ] || { nok "results" "$(cat "$SCRATCH/err")" && finish; }
}
# t: counters by host, from before traffic to after it.
# shellcheck disable=SC2317 # called through check
cell_holds() { jq -e "def t: .hosts | map_values(.counters | map_values(.total)); $1" "$run/$2/result.json"; } # FILTER CELL
# The first cause that `harness explain` finds in a run of the two, and its culprit.
# shellcheck disable=SC2317 # called through check
caused_by() { # CELL
    "$BUILD/harness" explain --json "$run/$1" | jq -r '.causes[0] // {kind: "none", culprit: "-"} | "\(.kind) \(.culprit)"'
}
