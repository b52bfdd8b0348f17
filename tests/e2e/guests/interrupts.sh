#!/bin/bash
# Runs on real guests that do not come to their end: interrupted, killed, out of disk, two at once, with a guest that libvirt destroys or
# pauses. Settings are put back, by the run itself, by harness restore or by the next run. (Cut connections, killed programs, silent hosts:
# tests/e2e/harness/ssh_faults.sh.)
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/e2e/guests/softlab.bash
. "$(dirname "$0")/softlab.bash"
softlab_require "$0" "$@"
softlab_begin soft-pair
# shellcheck source=tests/e2e/guests/runs.bash
. "$(dirname "$0")/runs.bash"

# ---- Ctrl-C twice
start 30s
reach measure
kill -INT "$RUN"
sleep 0.5
kill -INT "$RUN"
ended "Ctrl-C twice" 130 'interrupted'

# ---- libvirtd restarted meanwhile
start 6s
reach warmup
kill "$(cat /run/libvirtd.pid)"
while pgrep -x libvirtd >/dev/null; do sleep 0.1; done
libvirtd -d -p /run/libvirtd.pid
for _ in $(seq 100); do
    ! virsh -q -c qemu:///system version >/dev/null 2>&1 || break
    sleep 0.1
done
wait "$RUN"
check "libvirtd restarted: the run comes to its end" test $? -le 1 # a busy machine may lose packets, which an expectation then says
check "... and is complete, with a warning" jq -e '.complete and ([.warnings[] | select(test("libvirt"))] | length == 1)' "$R/result.json"

# ---- a second run at the same time; killed with -9: nothing runs on, restore puts back; so does the next run
start 60s
reach measure
check_exit 3 "a second run on the lab is refused" "$H" run "${ONE[@]}" --duration 1s
check_says "... and told who works there" 'host a is in use by harness \(process [0-9]+, run pfc-bidir' "$SCRATCH/err"
kill -KILL "$RUN"
wait "$RUN" 2>/dev/null
check "kill -9: nothing is taken for a result" test ! -e "$R/result.json"
check "... settings stayed behind" test "$(mtu a)" = 4000
left_behind() { softlab_ssh a 'pgrep -x nic-sampler; pgrep -x roce-traffic'; }
for _ in $(seq 50); do [ -n "$(left_behind)" ] || break; sleep 0.2; done
check "... no program of ours stayed behind" test -z "$(left_behind)"
check_exit 0 "harness restore" "$H" restore --lab "$LAB"
check_says "... says what it did" "a: data0 mtu is $MTU again" "$SCRATCH/out"
check "... and it is so" test "$(mtu a) $(mtu b)" = "$MTU $MTU"
start 30s
reach measure
kill -KILL "$RUN"
wait "$RUN" 2>/dev/null

# ---- a full disk; the killed run before it is cleaned up first
mkdir "$SCRATCH/small"
mount -t tmpfs -o size=48k none "$SCRATCH/small"
at_exit umount "$SCRATCH/small"
check_exit 3 "disk full: exit code 3" "$H" run "${ONE[@]}" --duration 20s --out "$SCRATCH/small"
check_says "... by name" 'No space left on device' "$SCRATCH/err"
check "... nothing is taken for a result" test -z "$(find "$SCRATCH/small" -name result.json)"
check "... samples are whole lines" jq -es 'length > 10' "$(find "$SCRATCH/small" -name samples.jsonl)"
check "... settings are as before, those of the killed run too" test "$(mtu a) $(mtu b)" = "$MTU $MTU"

# ---- a guest is destroyed in the warm-up, and in the measure phase; one is paused
for phase in warmup measure; do
    start 30s
    check "phase $phase is reached" reach $phase
    sleep 0.5
    virsh -q -c qemu:///system destroy soft-pair-b
    ended "guest destroyed in $phase" 3 'soft-pair-b .*was destroyed'
    check "... and it can be started again" softlab_provision start b
done
start 30s
reach measure
sleep 1
virsh -q -c qemu:///system suspend soft-pair-b
ended "guest paused" 3 'soft-pair-b .*was paused'
check "... its settings are still to be restored" jq -e '[.warnings[] | select(test("settings of b were not restored: guest soft-pair-b .* is paused"))] | length == 1' "$R/result.json"
check_exit 0 "... which harness restore does" "$H" restore --lab "$LAB"
check_says "... because the guest continues then" "b: data0 mtu is $MTU again" "$SCRATCH/out"

# ---- after all that
check_exit 0 "the lab is usable" "$H" run "${ONE[@]}" --duration 5s
check_exit 0 "nothing was left to put back" "$H" restore --lab "$LAB"
check_says "... on either host" 'b: nothing to restore' "$SCRATCH/out"
finish
