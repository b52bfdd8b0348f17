#!/bin/bash
# What a work request that fails says between two guests with a virtual ConnectX, beside what was measured on ConnectX-5 and ConnectX-6:
# statuses, vendor's bytes, flushes by the doorbell record, counters, events, states, bytes placed, and when a silent peer is noticed
# (fault_rows.c; docs/virtual-connectx.md, "Errors"); and as many and as large objects as programs ask of cards. The guests' ConnectX-4 Lx are ConnectX-6 for the time being.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/e2e/guests/softlab.bash
. "$(dirname "$0")/softlab.bash"
softlab_require "$0" "$@"
softlab_module "errors of a virtual ConnectX"
softlab_begin virtual-pair

if ! ${CC:-cc} -std=c11 -D_GNU_SOURCE -O1 -Wall -Wextra -Werror -o "$SCRATCH/fault_rows" "$ROOT/tests/e2e/guests/fault_rows.c" -libverbs -lmlx5 2> "$SCRATCH/err"; then
    nok "the program of the rows is built" "$(cat "$SCRATCH/err")"
    finish
fi
for host in a b; do check "$host has the program" softlab_put $host "$SCRATCH/fault_rows"; done

# load CARD: both guests' drivers and module are loaded anew.
# shellcheck disable=SC2317 # also at exit
load() {
    local host
    for host in a b; do
        softlab_ssh "$host" "rmmod mlx5_ib mlx5_core virtual_connectx && card=$1 /etc/lab/boot.d/20-virtual-connectx > /tmp/load.out 2>&1 || { cat /tmp/load.out; exit 1; }" < /dev/null || return 1
    done
}
at_exit load connectx4lx
check "the guests have a ConnectX-6" load connectx6
# What of the Ethernet interface counts errors.
errors() { softlab_ssh a 'ethtool -S roce0' < /dev/null | grep -E 'err|crc|symbol|discard|drop|missed|out_of_buffer|link_down|signal_integrity|stalled'; }
errors > "$SCRATCH/before"
# shellcheck disable=SC2016 # the guest expands it
softlab_ssh b 'fault_rows mlx5_0 > /tmp/fault_rows.out 2>&1 & for _ in $(seq 100); do grep -q waits /tmp/fault_rows.out && exit; sleep 0.1; done; exit 1'
softlab_ssh a 'timeout 600 fault_rows mlx5_0 10.0.2.2 2>&1' > "$SCRATCH/rows"
check "all rows ran" test "$(grep -cE '^(ok|differs)' "$SCRATCH/rows")" = 40
# The lines below are the table of docs/virtual-connectx.md.
while IFS=$'\t' read -r verdict row what seen measured; do
    case $verdict in
    ok | differs)
        check "$row, $what: as measured" test "$verdict" = ok
        echo "# | $row | $what | $measured | $seen |"
        ;;
    *) echo "# $verdict" ;;
    esac
done < "$SCRATCH/rows"
errors > "$SCRATCH/after"
check "S-6.14, all of these: none of $(wc -l < "$SCRATCH/after") error counters of ethtool moved" test -s "$SCRATCH/after" -a -z "$(diff "$SCRATCH/before" "$SCRATCH/after")"
diff "$SCRATCH/before" "$SCRATCH/after" | sed 's/^/# /'
softlab_ssh a 'fault_rows mlx5_0 limits' > "$SCRATCH/limits"
while IFS=$'\t' read -r verdict what; do check "as many as a card has: $what" test "$verdict" = ok; done < "$SCRATCH/limits"
check "... of three kinds" test "$(wc -l < "$SCRATCH/limits")" = 3
softlab_ssh b 'cat /tmp/fault_rows.out' | sed 's/^/# b: /'
finish
