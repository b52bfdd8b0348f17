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
# ROCE_ACCL as mstreg reads it: by words of the vendor's PCI capability, an operation and a register in a mailbox, and their answer.
cat > "$SCRATCH/read_accl" <<'END'
cd /sys/bus/pci/devices/0001:00:00.0 || exit
put() { # OFFSET VALUE
    # shellcheck disable=SC2059 # the bytes
    printf "$(printf '\\%03o\\%03o\\%03o\\%03o' $(($2 & 255)) $(($2 >> 8 & 255)) $(($2 >> 16 & 255)) $(($2 >> 24 & 255)))" | dd of=config bs=4 seek=$(($1 / 4)) conv=notrunc 2> /dev/null
}
get() { # SPACE ADDRESS
    put 0xc4 "$1"
    put 0xd0 "$2"
    od -An -tx4 -j 212 -N 4 config
}
write() { # ADDRESS VALUE
    put 0xd4 "$2"
    put 0xd0 $((0x80000000 | $1))
}
get 2 0xf0014
put 0xc4 3
at=0x100000
for word in 0x08040000 0x402c0101 0 0 0x18030000 0 0; do
    write $((at)) $word
    at=$((at + 4))
done
write 0 0x90010001
for _ in $(seq 100); do
    case $(get 3 0) in *0) break ;; esac
    sleep 0.05
done
for at in 0 0x100000 0x100014 0x100018; do get 3 $((at)); done
END
check "ROCE_ACCL of a ConnectX-6 is read by its PCI capability" test "$(softlab_ssh a sh < "$SCRATCH/read_accl" | tr -d '\n')" = " 0000020f 90010000 08040000 00000075 00000005"
# What of the Ethernet interface counts errors.
errors() { softlab_ssh a 'ethtool -S roce0' < /dev/null | grep -E 'err|crc|symbol|discard|drop|missed|out_of_buffer|link_down|signal_integrity|stalled'; }
errors > "$SCRATCH/before"
# shellcheck disable=SC2016 # the guest expands it
softlab_ssh b 'fault_rows mlx5_0 > /tmp/fault_rows.out 2>&1 & for _ in $(seq 100); do grep -q waits /tmp/fault_rows.out && exit; sleep 0.1; done; exit 1'
softlab_ssh a 'timeout 600 fault_rows mlx5_0 10.0.2.2 2>&1' > "$SCRATCH/rows"
check "all rows ran" test "$(grep -cE '^(ok|differs)' "$SCRATCH/rows")" = 41
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
