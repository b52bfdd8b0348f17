#!/bin/bash
# A NIC that fails during a run, by the virtual ConnectX's faults: damaged traffic and a link that flaps end in verdicts; a firmware that
# stops, a device that is pulled out and a command that is lost in a reason that names the host and what was seen. Settings are restored, or
# it is said that they are not, and `harness restore` finishes once the NIC is there again.
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

softlab_module "guests with a virtual ConnectX"
softlab_begin virtual-pair
softlab_ofed a

# nothing that needs a lossless link is skipped, and the link's own counters are sampled
jq '.expect += [{"name": "no retransmission", "check": "delta(*.packet_seq_err) == 0"}, {"name": "links stay up", "check": "delta(*.link_carrier_changes) == 0"}]
    | .sample.groups += ["link"]' "$ROOT/scenarios/pfc-bidir.json" > "$SCRATCH/scenario.json"

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
# The NIC as after a boot, with its name and address, once its driver has given it up.
mend() {
    softlab_ssh b "for _ in \$(seq 240); do [ -d /sys/class/net/roce0 ] || break; sleep 0.5; done
        echo off > $FAULT; [ -d /sys/class/net/roce0 ] || { rmmod mlx5_ib mlx5_core; rmmod virtual_connectx; /etc/lab/boot.d/20-virtual-connectx > /dev/null; }" 2> /dev/null
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

# ---- the link is down for 1.5 s, at both ends: what was on its way is sent again by the time-out, 2 s later, and the run has counted it
start 15s
fault "'flap 1500'"
wait $RUN
code=$?
check "a link that flaps: a verdict, exit code 1" test "$code" = 1
check "... the run is complete, and its flows end without errors" holds '.complete and ([.flows[] | select(.bytes > 0 and .errors == 0)] | length == 2)'
check "... the expectation about links failed" holds '[.. | objects | select(.name == "links stay up" and .verdict == "failed")] | length == 1'
check "... the ports of both ends went down once, and their kernels saw it go and come" holds \
    '[.hosts[].counters | .link_down_events_phy.total, .link_carrier_changes.total] == [1, 2, 1, 2]'
check "... what was lost was sent again" holds '[.hosts[].counters | .local_ack_timeout_err.total + .packet_seq_err.total] | add > 0'
for host in a b; do check "... $host is as before" is_as_before $host; done

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

# ---- a command that is not answered: its driver waits for a minute, and does without that slot. It comes last, for Linux 6.1's driver does
# not end after that: unloaded, or given up, it waits for the slot for ever
softlab_ssh b 'echo virtual_faults: a command is lost > /dev/kmsg'
driver_said() { softlab_ssh b dmesg | sed '1,/virtual_faults: a command is lost/d' | grep "$1"; }
start 60s
fault "'command-timeout 1'"
ended "a command is lost" 3 'host b: no output for 15 s: the host or the connection hangs'
for _ in $(seq 180); do
    driver_said 'timeout. Will cause a leak of a command resource' > "$SCRATCH/lost" && break
    sleep 1
done
sed 's/^/# a command is lost: /' "$SCRATCH/lost"
check_says "... its driver gave the command up" 'timeout. Will cause a leak of a command resource' "$SCRATCH/lost"
check_exit 0 "... harness restore" "$H" restore --lab "$LAB"
for host in a b; do check "... $host is as before" is_as_before $host; done
finish
