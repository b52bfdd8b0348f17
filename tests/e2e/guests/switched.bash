# Sourced by parts with guests that are switches: what all have counted.

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
