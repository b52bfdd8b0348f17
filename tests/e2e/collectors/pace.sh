#!/bin/bash
# Does nic-sampler keep 1 kHz on this machine's own kernel? It runs when little else does: tests/run starts it last, alone.
# shellcheck disable=SC2317 # functions are called by name
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/e2e/collectors/pace.bash
. "$(dirname "$0")/pace.bash"
if [ -z "${SAMPLER_NAMESPACE:-}" ]; then
    if ! unshare --net true 2> /dev/null; then
        skip "nic-sampler on a veth pair" no-namespaces
        finish
    fi
    rm -rf "$SCRATCH"
    SAMPLER_NAMESPACE=1 exec unshare --net --mount "$0" "$@"
fi
mount -t sysfs sysfs /sys 2> /dev/null # of the new namespace
SAMPLER=$BUILD/nic-sampler
ip link add v0 type veth peer name v1
ip link set v0 up && ip link set v1 up && ip address add 192.0.2.1/24 dev v0
tc qdisc add dev v0 root handle 1: htb default 1 2> /dev/null
tc class add dev v0 parent 1: classid 1:1 htb rate 1mbit 2> /dev/null

pace() { # how many tries, how many samples, PROGRAM...: 1 kHz
    local tries=$1 count=$2 try
    shift 2
    pace_begin 1000000
    for ((try = 0; try < tries; try++)); do
        timeout 100 "$SCRATCH/witness" 1000000 "$SCRATCH/away" "$@" --netdev v0 --every 1ms --count "$count" --realtime 2> /dev/null | cat > "$SCRATCH/pace" # a disk may take its time
        pace_try "$SCRATCH/pace" "$SCRATCH/away" && break
    done
}
slow_is_found() { # a source that takes three intervals has to fail; here the verdict's words count
    local verdict
    pace 5 200 env LD_PRELOAD="$SCRATCH/slow.so" SLOW_READ_US=3000 "$SAMPLER"
    verdict=$(pace_verdict "slow")
    case $verdict in
    "not ok "*) ok "a source that is too slow for 1 kHz fails that check" ;;
    *SKIP*) skip "a source that is too slow for 1 kHz fails that check" busy "$PACE_MISSED" "$PACE_STORY" ;;
    *) nok "a source that is too slow for 1 kHz fails that check" "$verdict" ;;
    esac
    check "skipped samples are counted as overruns" pace_accounted "$SCRATCH/pace" "$SCRATCH/away"
    check "three of four deadlines" jq -e -s '.[-1] | .overruns >= 2 * .samples' "$SCRATCH/pace"
}
if pace_witness; then
    pace 6 1500 "$SAMPLER"
    pace_verdict "1 kHz without overruns"
    check "every deadline is accounted for, and none drifts" pace_accounted "$SCRATCH/pace" "$SCRATCH/away"
    timeout 100 "$SAMPLER" --netdev v0 --every 1ms --count 500 > "$SCRATCH/cost" 2> /dev/null
    check "the CPU time and the reading time are reported" jq -e -s '.[-1].cpu_ns > 0 and all(.[] | arrays; .[1] > 0)' "$SCRATCH/cost"
    echo "# $(jq -s '.[0].columns | length' "$SCRATCH/cost") columns: $(tail -n 1 "$SCRATCH/cost" | jq '.cpu_ns / .samples / 1000 | floor') us of CPU a sample"
    if ! skip_reason sanitized "$SAMPLER" >/dev/null && compile_preload "$SCRATCH/slow.so" "$ROOT/tests/e2e/collectors/slow_read.c"; then
        slow_is_found
    else
        skip "a source that is too slow for 1 kHz fails that check" sanitized "$SAMPLER"
    fi
else
    skip "1 kHz without overruns" no-compiler
fi
finish
