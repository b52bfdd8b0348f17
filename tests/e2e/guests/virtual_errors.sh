#!/bin/bash
# What a work request that fails says between two guests with a virtual ConnectX, beside what was measured on ConnectX-5 and ConnectX-6:
# statuses, vendor's bytes, flushes by the doorbell record, counters, states, bytes placed (fault_rows.c; docs/virtual-connectx.md, "Errors").
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
# shellcheck disable=SC2016 # the guest expands it
softlab_ssh b 'fault_rows mlx5_0 > /tmp/fault_rows.out 2>&1 & for _ in $(seq 100); do grep -q waits /tmp/fault_rows.out && exit; sleep 0.1; done; exit 1'
softlab_ssh a 'timeout 600 fault_rows mlx5_0 10.0.2.2 2>&1' > "$SCRATCH/rows"
check "all rows ran" test "$(grep -cE '^(ok|differs)' "$SCRATCH/rows")" = 20
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
softlab_ssh b 'cat /tmp/fault_rows.out' | sed 's/^/# b: /'
finish
