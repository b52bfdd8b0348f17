#!/bin/bash
# What a work request that fails says between two guests with a virtual ConnectX, beside what was measured on ConnectX-5 and ConnectX-6:
# statuses, vendor's bytes, flushes by the doorbell record, counters, events, states, bytes placed, and when a silent peer is noticed
# (fault_rows.c; docs/virtual-connectx.md, "Errors"); as many and as large objects as
# programs ask of cards (object_limits.c); and connections that take packets in any order. The guests' ConnectX-4 Lx are ConnectX-6 for the time being.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/e2e/guests/softlab.bash
. "$(dirname "$0")/softlab.bash"
softlab_require "$0" "$@"
softlab_module "errors of a virtual ConnectX"
softlab_begin virtual-pair

for program in fault_rows object_limits; do
    ${CC:-cc} -std=c11 -D_GNU_SOURCE -O1 -Wall -Wextra -Werror -I"$ROOT" -o "$SCRATCH/$program" "$ROOT/tests/e2e/guests/$program.c" -libverbs -lmlx5 2>> "$SCRATCH/err"
done
if [ -s "$SCRATCH/err" ]; then
    nok "the programs are built" "$(cat "$SCRATCH/err")"
    finish
fi
for host in a b; do check "$host has the programs" softlab_put $host "$SCRATCH/fault_rows" "$SCRATCH/object_limits"; done

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
# ROCE_ACCL as mstreg reads and sets it: by words of the vendor's PCI capability, an operation and a register in a mailbox, and their answer.
cat > "$SCRATCH/accl_script" <<'END'
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
for word in 0x08040000 $((0x402c0001 | $1 << 8)) 0 0 0x18030000 $(($2)) $(($3)); do
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
# accl HOST METHOD SELECTED ENABLED: 1 reads, 2 sets the switches that are selected
accl() { softlab_ssh "$1" "sh -s $2 $3 $4" < "$SCRATCH/accl_script" | tr -d '\n'; }
check "ROCE_ACCL of a ConnectX-6 is read by its PCI capability" test "$(accl a 1 0 0)" = " 0000020f 90010000 08040000 00000075 00000005"
# What of the Ethernet interface counts errors.
errors() { softlab_ssh a 'ethtool -S roce0' < /dev/null | grep -E 'err|crc|symbol|discard|drop|missed|out_of_buffer|link_down|signal_integrity|stalled'; }
errors > "$SCRATCH/before"
# shellcheck disable=SC2016 # the guest expands it
softlab_ssh b 'fault_rows mlx5_0 > /tmp/fault_rows.out 2>&1 & for _ in $(seq 100); do grep -q waits /tmp/fault_rows.out && exit; sleep 0.1; done; exit 1'
softlab_ssh a 'timeout 600 fault_rows mlx5_0 10.0.2.2 2>&1' > "$SCRATCH/rows"
check "all rows ran" test "$(grep -cE '^(ok|differs)' "$SCRATCH/rows")" = 41
# The lines below, without "# ", are tests/data/silicon/virtual.tsv.
while IFS=$'\t' read -r verdict row what seen measured; do
    case $verdict in
    ok | differs)
        check "$row, $what: as measured" test "$verdict" = ok
        printf '# %s\t%s\t%s\t%s\n' "$row" "$what" "$measured" "$seen"
        ;;
    *) echo "# $verdict" ;;
    esac
done < "$SCRATCH/rows"
errors > "$SCRATCH/after"
check "S-6.14, all of these: none of $(wc -l < "$SCRATCH/after") error counters of ethtool moved" test -s "$SCRATCH/after" -a -z "$(diff "$SCRATCH/before" "$SCRATCH/after")"
diff "$SCRATCH/before" "$SCRATCH/after" | sed 's/^/# /'
softlab_ssh a 'object_limits mlx5_0' > "$SCRATCH/limits"
while IFS=$'\t' read -r verdict what; do check "as many as a card has: $what" test "$verdict" = ok; done < "$SCRATCH/limits"
check "... of three kinds" test "$(wc -l < "$SCRATCH/limits")" = 3
softlab_ssh b 'cat /tmp/fault_rows.out' | sed 's/^/# b: /'

# ---- packets in any order: switches of ROCE_ACCL, with frames that are lost or overtaken
RDMA=/sys/class/infiniband/mlx5_0/ports/1/hw_counters
folder=/sys/kernel/debug/virtual-connectx/0
counters() { { softlab_ssh a "cat $RDMA/packet_seq_err $RDMA/local_ack_timeout_err $RDMA/roce_adp_retrans" && softlab_ssh b "cat $RDMA/out_of_sequence $RDMA/duplicate_request"; } < /dev/null | tr '\n' ' '; }
# both SCRIPT: in both guests
both() { for host in a b; do softlab_ssh $host "$1" < /dev/null || return 1; done; }
# writes WHAT ENABLED FAULT [CHECK...]: ib_write_bw from a to b, in connections made with these switches, while a has the fault;
# CHECK is of awk: what $1 packet_seq_err, $2 time-outs, $3 adaptive resends of a, $4 out_of_sequence, $5 duplicate_request of b moved by
writes() {
    local before after moved met
    for host in a b; do accl $host 2 0x60 "$2" > /dev/null; done
    check "... the switches are $2" test "$(accl a 1 0 0)" = " 0000020f 90010000 08040000 00000075 $(printf %08x $((5 | $2)))"
    before=$(counters)
    softlab_ssh a "echo $3 > $folder/fault" < /dev/null
    # shellcheck disable=SC2016
    softlab_ssh b 'pkill ib_write_bw; ib_write_bw -d mlx5_0 -x 1 -F -m 1024 -s 65536 -n 20 -u 14 > /tmp/write.out 2>&1 & for _ in $(seq 100); do ss -Hltn "sport = :18515" | grep -q . && exit; sleep 0.1; done; exit 1' < /dev/null
    check "$1: ib_write_bw" softlab_ssh a 'timeout 120 ib_write_bw -d mlx5_0 -x 1 -F -m 1024 -s 65536 -n 20 -u 14 10.0.2.2' < /dev/null
    met=$(softlab_ssh a "cat $folder/fault; echo off > $folder/fault" < /dev/null | awk '{ print $NF }')
    after=$(counters)
    moved=$(awk -v after="$after" '{ n = split(after, a); for (i = 1; i <= n; i++) printf "%d ", a[i] - $i }' <<< "$before")
    check "$1: frames were met" test "${met:-0}" -ge 5
    check "$1: $4 (moved: $moved)" awk "{ exit !($4) }" <<< "$moved"
}
both "echo 1000 > $folder/timeout_scale"
# shellcheck disable=SC2016 # awk's
writes "go-back-N, frames are lost" 0 'drop sent data 20 step 97 count 8' '$1 > 0 && $4 > 0'
# shellcheck disable=SC2016
writes "selective repeat, frames are lost" 0x40 'drop sent data 20 step 97 count 8' '$1 == 0 && $4 == 0 && $5 > 0 && $3 == 0'
# shellcheck disable=SC2016
writes "go-back-N, frames are overtaken" 0 'delay sent data 20 6 step 97 count 8' '$1 > 0 && $4 > 0'
# shellcheck disable=SC2016
writes "out-of-order placement, frames are overtaken" 0x20 'delay sent data 20 6 step 97 count 8' '$1 == 0 && $4 == 0 && $5 == 0 && $3 == 0'
# READs, WRITEs and SENDs, whose data rping compares; what nothing follows is sent again by time-outs
both "echo 10 > $folder/timeout_scale"
for enabled in 0x40 0x20 0x60; do
    for host in a b; do accl $host 2 0x60 $enabled > /dev/null; done
    both "echo 'drop sent data 7 step 41 count 10' > $folder/fault"
    softlab_ssh b 'pkill rping; rping -s -a 10.0.2.2 -C 12 -S 12000 -V > /tmp/rping.out 2>&1 & sleep 1' < /dev/null
    check "switches $enabled: READ, WRITE and SEND by rping, the data are right" softlab_ssh a 'timeout 120 rping -c -a 10.0.2.2 -C 12 -S 12000 -V' < /dev/null
    check "... though frames were lost" test "$(softlab_ssh a "cat $folder/fault" < /dev/null | awk '{ print $NF }')" -ge 3
    both "echo off > $folder/fault"
done
for host in a b; do accl $host 2 0x60 0 > /dev/null; done
both "echo 0 > $folder/timeout_scale"
finish
