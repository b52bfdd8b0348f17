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
# CPU time per round in microseconds of a shell's children, from the last line of `times` and N rounds
children_us() { tail -n 1 "$1" | awk -v n="$2" '{for (i = 1; i <= 2; i++) {split($i, t, /[ms]/); sum += t[1] * 60 + t[2]} printf "%d", sum / n * 1e6}'; }

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
    local columns figure processes
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
    echo "   CPU of one sample, kernel and user: $(cost_us "$SCRATCH/cost") us"
    bash -c 'for i in $(seq 20); do ethtool -S v0; tc -s -j qdisc show dev v0; done > /dev/null; times' > "$SCRATCH/times"
    processes=$(children_us "$SCRATCH/times" 20)
    hold "ethtool -S and tc -s -j qdisc take $processes us; ratio" "$(awk -v a="$processes" -v b="$(cost_us "$SCRATCH/cost")" 'BEGIN {printf "%.0f", a / b}')" ">=" 20
    if figure=$(instructions); then
        # a core with one instruction per nanosecond is slower than any used with such NICs
        hold "instructions of one sample in user space, $columns counters" "$figure" "<=" 60000
    else
        echo "   instructions of one sample: not counted, valgrind is not installed"
    fi
}

guest() {
    local cost processes
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
    # shellcheck disable=SC2016 # the guest expands it
    softlab_ssh a 'for i in $(seq 10); do ethtool -S data0; rdma -j statistic; dcb -j -s pfc show dev data0; tc -s -j qdisc show dev data0; done > /dev/null; times' > "$SCRATCH/times"
    softlab_ssh a 'nic-sampler --netdev data0 --every 10ms --count 300 2> /dev/null' > "$SCRATCH/cost"
    cost=$(cost_us "$SCRATCH/cost")
    processes=$(children_us "$SCRATCH/times" 10)
    echo "   an emulated guest, every source: $(head -n 1 "$SCRATCH/guest" | jq '.columns | length') counters, 100 Hz for 5 s"
    pace_verdict "100 Hz without overruns"
    echo "   CPU of one sample: $cost us; ethtool -S, rdma -j statistic, dcb -j pfc, tc -s -j qdisc: $processes us"
    hold "ratio" "$(awk -v a="$processes" -v b="$cost" 'BEGIN {printf "%.0f", a / b}')" ">=" 50
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
