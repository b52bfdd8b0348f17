#!/bin/bash
# A NIC that fails during a run, by the virtual ConnectX's faults: damaged traffic ends in verdicts, a link that flaps in a warning or a
# reason, a firmware that stops and a device that is pulled out in a reason that names host and cause; settings are restored, or it is
# said that they are not, and `harness restore` finishes once the NIC is there again.
# shellcheck disable=SC2016,SC2317 # what stands in single quotes is the guest's or jq's; functions are called by name
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/e2e/guests/softlab.bash
. "$(dirname "$0")/softlab.bash"
softlab_require "$0" "$@"
H=$BUILD/harness
OUT=$SCRATCH/results
LAB=$ROOT/labs/virtual-pair.json
FAULT=/sys/kernel/debug/virtual-connectx/0/fault

headers=/usr/src/linux-headers-$(cat "$("$ROOT/guest-setup/build-image" debian-12-softroce)/kernel-release")
if [ ! -d "$headers" ]; then
    skip "guests with a virtual ConnectX" no-file "$headers" linux-headers-amd64
    finish
fi
check_exit 0 "the module is built for the guests' kernel" "$ROOT/guest-setup/build-module"
softlab_begin virtual-pair

# nothing that needs a lossless link is skipped
jq '.expect += [{"name": "no retransmission", "check": "delta(*.packet_seq_err) == 0"}]' "$ROOT/scenarios/pfc-bidir.json" > "$SCRATCH/scenario.json"

in_force() { softlab_ssh "$1" nic-config get roce0 | jq -S .interfaces; }
for host in a b; do in_force $host > "$SCRATCH/$host.before"; done
is_as_before() { in_force "$1" | diff "$SCRATCH/$1.before" -; }
fault() { softlab_ssh b "for line in $*; do echo \"\$line\" > $FAULT || exit; done"; }
RUN=
end_run() { [ -z "$RUN" ] || ! kill -TERM "$RUN" 2> /dev/null || wait "$RUN"; }
at_exit end_run
# A run in the background; its folder is $R once its traffic runs.
start() { # DURATION
    rm -rf "$OUT"
    "$H" run "$SCRATCH/scenario.json" --lab "$LAB" --duration "$1" --out "$OUT" --no-report --set 'sweep={}' --set 'flows.*.memory=host' \
        > "$SCRATCH/out" 2> "$SCRATCH/err" &
    RUN=$!
    until R=$(dirname "$(grep -ls 'phase measure' "$OUT"/pfc-bidir/*/run.log | head -n 1)") && [ "$R" != . ]; do
        kill -0 $RUN 2> /dev/null || return 1
        sleep 0.2
    done
    until grep -qs '"bytes":[1-9]' "$R/flows.jsonl" || ! kill -0 $RUN 2> /dev/null; do sleep 0.2; done
}
# ended WHAT CODE REASON: the run ended so, and says why
ended() {
    local code
    wait "$RUN"
    code=$?
    check "$1: exit code $2" test $code = "$2"
    jq -r '.reason // "", .warnings[]?' "$R/result.json" > "$SCRATCH/said"
    check_says "$1: ... and says why" "$3" "$SCRATCH/said"
    sed "s/^/# $1: /" "$SCRATCH/said"
}
holds() { jq -e "$1" "$R/result.json"; }
# The NIC as after a boot, with its name and address.
mend() {
    softlab_ssh b "echo off > $FAULT 2> /dev/null; [ -d /sys/class/net/roce0 ] || { rmmod mlx5_ib mlx5_core; rmmod virtual_connectx; /etc/lab/boot.d/20-virtual-connectx > /dev/null; }" 2> /dev/null
}

# ---- frames
fault "'drop data every 97'" "'corrupt data every 101'" "'mark every 11'" "'delay data every 103 20'" "'duplicate data every 107'" "'drop cnp every 2'" "'drop pause every 2'"
start 4s
wait $RUN
code=$?
fault off
check "lost and damaged frames: a verdict, exit code 1" test "$code" = 1
check "... the run is complete, and its flows end without errors" holds '.complete and ([.flows[] | select(.bytes > 0 and .errors == 0)] | length == 2)'
check "... the expectation about losses failed" holds '[.. | objects | select(.name == "no retransmission" and .verdict == "failed")] | length == 1'
check "... marks were answered with CNPs, of which the sender saw fewer" holds '.hosts.b.counters | .np_ecn_marked_roce_packets.total > 0 and .np_cnp_sent.total > 0'
for host in a b; do check "... $host is as before" is_as_before $host; done

# ---- the link
start 20s
fault "'flap 1500'"
wait $RUN
jq -c '{reason, warnings, verdict}' "$R/result.json" | sed 's/^/# flap: /'

# ---- the firmware stops, and the driver finds out by its health counter
start 60s
fault internal-error
ended "the firmware stops" 3 'host b: (roce0 is gone|mlx5_0 does not answer): the NIC or its driver has failed.*; noticed by: '
check_says "... its settings are to be restored later, with what" 'settings of b were not restored: .*harness restore --lab' "$SCRATCH/said"
check "... a is as before" is_as_before a
mend
check_exit 0 "... harness restore" "$H" restore --lab "$LAB"
check "... b is as before" is_as_before b

# ---- the device is pulled out
start 60s
softlab_ssh b 'echo 1 > /sys/bus/pci/devices/0001:00:00.0/remove'
# what is noticed first depends on how far the driver has come with its end
ended "the NIC is pulled out" 3 'host b: .*(roce0 is gone|mlx5_0 does not answer|there is no interface roce0)'
check_says "... its settings are to be restored later, with what" 'settings of b were not restored: .*harness restore --lab' "$SCRATCH/said"
check "... a is as before" is_as_before a
mend
check_exit 0 "... harness restore" "$H" restore --lab "$LAB"
check "... b is as before" is_as_before b
finish
