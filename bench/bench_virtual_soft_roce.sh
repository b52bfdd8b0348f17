#!/bin/bash
# The virtual ConnectX compared with Soft-RoCE in the same two guests: perftest's ib_write_bw with one queue pair, by turns, PFC and pause
# off, path MTU 4096. The guests are emulated: only the ratios are meaningful, because outside load affects both. ROUNDS turns of each
# (default 8); the ratio is the median of the rounds' ratios.
# Baseline: a ratio of at least 1, at 64 bytes (messages) and at 64 KiB (bytes).
here=$(cd "$(dirname "$0")/../tests/e2e" && pwd)
# shellcheck source=tests/e2e/lib.sh
. "$here/lib.sh"
# shellcheck source=tests/e2e/guests/softlab.bash
. "$here/guests/softlab.bash"
softlab_require "$0" "$@"
ROUNDS=${ROUNDS:-8}
DEBUG=/sys/kernel/debug/virtual-connectx/0

on_both() { softlab_ssh b "$1" </dev/null && softlab_ssh a "$1" </dev/null; }

# HOST's address moves with the device that has it.
virtual_connectx() {
    local host
    for host in "a 1" "b 2"; do
        # shellcheck disable=SC2086 # a name and a number
        set -- $host
        softlab_ssh "$1" "[ -d /sys/class/infiniband/rxe0 ] || exit 0
            rdma link delete rxe0 && ip address delete 10.0.2.$2/24 dev data0 &&
            echo data0 enclosed > $DEBUG/wire && ip link set roce0 up && ip address add 10.0.2.$2/24 dev roce0" </dev/null || return 1
    done
    reached
}
soft_roce() {
    local host
    for host in "a 1" "b 2"; do
        # shellcheck disable=SC2086 # a name and a number
        set -- $host
        softlab_ssh "$1" "ip address delete 10.0.2.$2/24 dev roce0; ip link set roce0 down; echo none > $DEBUG/wire && modprobe rdma_rxe &&
            ip address add 10.0.2.$2/24 dev data0 && rdma link add rxe0 type rxe netdev data0" </dev/null || return 1
    done
    reached
}
# shellcheck disable=SC2016 # the guest expands it
reached() { softlab_ssh a 'ip neigh flush all; for try in $(seq 20); do ! ping -c 2 -W 5 10.0.2.2 >/dev/null || exit 0; done; exit 1' </dev/null; }

# Messages per second, of the client's table
measure() { # DEVICE SIZE COUNT
    local command="ib_write_bw -d $1 -x 1 -F -s $2 -n $3 -Q 1 -t 64 -m 4096"
    softlab_ssh b "$command >/dev/null 2>&1 & for try in \$(seq 200); do [ -z \"\$(ss -Hltn 'sport = :18515')\" ] || break; sleep 0.1; done" </dev/null
    softlab_ssh a "timeout 300 $command 10.0.2.2 2>&1" </dev/null |
        awk -v s="$2" '/ Mtu / { mtu = $3 } $1 == s { rate = $5 * 1000000 } END { if (mtu == "4096[B]" && rate) print rate; else exit 1 }'
}

at_exit softlab_down virtual-pair
softlab_module "virtual ConnectX beside Soft-RoCE"
softlab_up virtual-pair || exit 3
on_both "echo 25000 > $DEBUG/line_mbit && ethtool -A roce0 rx off tx off && ip link set roce0 mtu 9000" || exit 3
virtual_connectx || exit 3
: >"$SCRATCH/runs"
for round in $(seq "$ROUNDS"); do
    for kind in virtual_connectx soft_roce; do
        $kind || { echo "$kind: the guests do not reach each other"; exit 3; }
        device=mlx5_0
        [ $kind = virtual_connectx ] || device=rxe0
        for size in "64 4000" "65536 200"; do
            # shellcheck disable=SC2086 # two numbers
            set -- $size
            rate=$(measure $device "$1" "$2") || { echo "$kind: ib_write_bw of $1 bytes failed"; exit 1; }
            echo "$1 $round $kind $rate" >>"$SCRATCH/runs"
        done
    done
done
[ -z "${RUNS:-}" ] || cp "$SCRATCH/runs" "$RUNS"
awk '
function median(v, n,    i, j, t) {
    for (i = 2; i <= n; i++) for (j = i; j > 1 && v[j] < v[j - 1]; j--) { t = v[j]; v[j] = v[j - 1]; v[j - 1] = t }
    return n % 2 ? v[(n + 1) / 2] : (v[n / 2] + v[n / 2 + 1]) / 2
}
{ rate[$1, $2, $3] = $4; if ($2 > rounds) rounds = $2; sizes[$1] }
END {
    for (size in sizes) {
        for (i = 1; i <= rounds; i++) {
            ours[i] = rate[size, i, "virtual_connectx"]; theirs[i] = rate[size, i, "soft_roce"]; ratio[i] = ours[i] / theirs[i]
        }
        by = median(ratio, rounds)
        printf "%s bytes: virtual ConnectX %.0f, Soft-RoCE %.0f messages/s, medians of %d: ratio by pairs %.2f (%.2f to %.2f; at least 1)\n",
            size, median(ours, rounds), median(theirs, rounds), rounds, by, ratio[1], ratio[rounds]
        bad += by < 1
    }
    exit bad > 0
}' "$SCRATCH/runs"
