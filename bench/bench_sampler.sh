#!/bin/bash
# Cost of a sample: nic-sampler compared with the usual commands (ethtool -S, rdma statistic, dcb pfc, tc -s qdisc).
# On this machine's kernel a veth with many queues has about 400 counters; a guest has every source (tests/kmod).
#   bench_sampler.sh [--namespace | --guest]    run one part; the script calls itself with these options
# Exit code 1 if a figure misses its limit.
set -uo pipefail
ROOT=$(cd "$(dirname "$0")/.." && pwd)
SAMPLER=$ROOT/build/nic-sampler
QUEUES=48
status=0

hold() { # what, figure, comparison, limit
    if awk -v a="$2" -v b="$4" "BEGIN {exit !(a $3 b)}"; then echo "   $1: $2 (required: $3 $4)"; else echo "   $1: $2 - MISSED, required: $3 $4" && status=1; fi
}
# pace.bash calls these functions
ok() { echo "   $1: met"; }
nok() { echo "   $1: MISSED, $2" && status=1; }
skip() { echo "   $1: not judged, $2"; }
# shellcheck source=tests/e2e/collectors/pace.bash
. "$ROOT/tests/e2e/collectors/pace.bash"

end_of() { tail -n 1 "$1"; }
cost_us() { end_of "$1" | jq '.cpu_ns / .samples / 1000 * 10 | round / 10'; }
# A sample beside the same by the usual commands, which have shown that they work
compare() { # COMMANDS TIMES ROUNDS COST LIMIT
    local processes cost
    cost=$(cost_us "$4") processes=$(children_us "$2" "$3")
    echo "   CPU of one sample, kernel and user: $cost us; $1: $processes us"
    if awk -v a="$processes" -v b="$cost" 'BEGIN { exit !(a > 0 && b > 0) }'; then
        hold "ratio" "$(awk -v a="$processes" -v b="$cost" 'BEGIN {printf "%.0f", a / b}')" ">=" "$5"
    else
        nok "ratio" "one of them took no time"
    fi
}

# User-space instructions of one sample: the difference of two counted runs, which excludes start and end.
instructions() {
    local count
    for count in 1 201; do
        valgrind --tool=none --log-file=/dev/null true 2> /dev/null || return 1
        valgrind --tool=callgrind --callgrind-out-file="$SCRATCH/callgrind.$count" "$SAMPLER" --netdev v0 --every 1ms --count $count > /dev/null 2>&1 || return 1
    done
    echo $((($(sed -n 's/^totals: //p' "$SCRATCH/callgrind.201") - $(sed -n 's/^totals: //p' "$SCRATCH/callgrind.1")) / 200))
}

namespace() {
    local columns figure
    mount -t sysfs sysfs /sys 2> /dev/null
    ip link add v0 numrxqueues $QUEUES numtxqueues $QUEUES type veth peer name v1 && ip link set v0 up && ip link set v1 up
    tc qdisc add dev v0 root handle 1: htb default 1 2> /dev/null
    pace_witness || return 1
    pace_begin 1000000
    for _ in 1 2 3 4 5; do
        "$SCRATCH/witness" 1000000 "$SCRATCH/away" "$SAMPLER" --netdev v0 --every 1ms --count 2000 --realtime 2> /dev/null | cat > "$SCRATCH/khz" # through a pipe, because a disk may be slow
        pace_try "$SCRATCH/khz" "$SCRATCH/away" && break
    done
    "$SAMPLER" --netdev v0 --every 1ms --count 2000 > "$SCRATCH/cost" 2> /dev/null
    columns=$(head -n 1 "$SCRATCH/khz" | jq '.columns | length')
    echo "   this kernel ($(uname -r)), veth: $columns counters, 1 kHz"
    pace_verdict "1 kHz without overruns"
    if timed_rounds 20 "ethtool -S v0" "tc -s -j qdisc show dev v0" | bash > "$SCRATCH/times" 2> "$SCRATCH/why"; then
        compare "ethtool -S, tc -s -j qdisc" "$SCRATCH/times" 20 "$SCRATCH/cost" 20
    else
        skip "what the usual commands take" "$(cat "$SCRATCH/why")"
    fi
    if figure=$(instructions); then
        # a core with one instruction per nanosecond is slower than any used with such NICs
        hold "instructions of one sample in user space, $columns counters" "$figure" "<=" 60000
    else
        echo "   instructions of one sample: not counted, valgrind is not installed"
    fi
}

guest() {
    # shellcheck source=tests/e2e/guests/softlab.bash
    . "$ROOT/tests/e2e/guests/softlab.bash"
    softlab_enter
    softlab_up soft-pair || return 1
    pace_witness && softlab_put a "$SAMPLER" "$SCRATCH/witness" || return 1
    make -s -C "$ROOT/tests/kmod" OUT="$SCRATCH/kmod" KDIR="/usr/src/linux-headers-$(softlab_ssh a uname -r)" > "$SCRATCH/kmod.log" 2>&1 ||
        { echo "   in a guest: not measured, no headers of its kernel here" && return 0; }
    softlab_ssh a 'cat > /tmp/testnic.ko && insmod /tmp/testnic.ko netdev=data0 channels=20 && dcb pfc set dev data0 prio-pfc 3:on &&
        tc qdisc add dev data0 root handle 1: red limit 1000000 min 30000 max 150000 avpkt 1000 burst 50 probability 0.2 bandwidth 20mbit ecn' < "$SCRATCH/kmod/testnic.ko"
    pace_begin 10000000
    for _ in 1 2 3; do
        softlab_ssh a 'witness 10000000 /tmp/away nic-sampler --netdev data0 --every 10ms --count 500 --realtime 2> /dev/null' > "$SCRATCH/guest"
        softlab_ssh a 'cat /tmp/away' > "$SCRATCH/away"
        pace_try "$SCRATCH/guest" "$SCRATCH/away" && break
    done
    softlab_ssh a 'nic-sampler --netdev data0 --every 10ms --count 300 2> /dev/null' > "$SCRATCH/cost"
    echo "   an emulated guest, every source: $(head -n 1 "$SCRATCH/guest" | jq '.columns | length') counters, 100 Hz for 5 s"
    pace_verdict "100 Hz without overruns"
    if softlab_ssh a "$(timed_rounds 10 "ethtool -S data0" "rdma -j statistic" "dcb -j -s pfc show dev data0" "tc -s -j qdisc show dev data0")" > "$SCRATCH/times" 2> "$SCRATCH/why"; then
        compare "ethtool -S, rdma -j statistic, dcb -j pfc, tc -s -j qdisc" "$SCRATCH/times" 10 "$SCRATCH/cost" 50
    else
        nok "what the usual commands take" "$(cat "$SCRATCH/why")"
    fi
    softlab_down soft-pair
}

SCRATCH=$(mktemp -d)
trap 'rm -rf "$SCRATCH"' EXIT
case ${1:-} in
--namespace) namespace ;;
--guest) guest ;;
*)
    if unshare --net true 2> /dev/null; then
        unshare --net --mount "$0" --namespace || status=1
    else
        echo "   on this kernel: not measured, network namespaces cannot be made here"
    fi
    why=$("$ROOT/guest-setup/soft-lab" --check)
    if [ -z "$why" ]; then "$ROOT/guest-setup/soft-lab" "$0" --guest || status=1; else echo "   in a guest: not measured, $why"; fi
    ;;
esac
exit $status
