#!/bin/bash
# What may go wrong while harness runs on real guests: after each fault the reason is told, the samples before it are there and
# whole, settings are as before, and the lab can be used again.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/e2e/guests/softlab.bash
. "$(dirname "$0")/softlab.bash"
softlab_require "$0" "$@"
softlab_begin soft-pair
# shellcheck source=tests/e2e/guests/runs.bash
. "$(dirname "$0")/runs.bash"

# ---- a guest is destroyed in the warm-up, and in the measure phase
for phase in warmup measure; do
    start 30s
    check "phase $phase is reached" reach $phase
    sleep 0.5
    virsh -q -c qemu:///system destroy soft-pair-b
    ended "guest destroyed in $phase" 3 'soft-pair-b .*was destroyed'
    check "... and it can be started again" softlab_provision start b
done

# ---- a guest is paused; one hangs: no event tells of it, it only says nothing any more
start 30s
reach measure
sleep 1
virsh -q -c qemu:///system suspend soft-pair-b
ended "guest paused" 3 'soft-pair-b .*was paused'
check "... its settings are still to be restored" jq -e '[.warnings[] | select(test("settings of b were not restored: guest soft-pair-b .* is paused"))] | length == 1' "$R/result.json"
check_exit 0 "... which harness restore does" "$H" restore --lab "$LAB"
check_says "... because the guest continues then" "b: data0 mtu is $MTU again" "$SCRATCH/out"

start 60s
reach measure
sleep 1
QEMU=$(pgrep -f 'qemu-system.*guest=soft-pair-b')
kill -STOP "$QEMU"
ended "guest hangs" 3 'host b(: no output for 15 s| has sent nothing since|.*not responding)'
check "... its settings are still to be restored" jq -e '[.warnings[] | select(test("settings of b were not restored"))] | length == 1' "$R/result.json"
check "... nothing runs on the other any more" test -z "$(softlab_ssh a 'pgrep -x nic-sampler; pgrep -x roce-traffic')"
kill -CONT "$QEMU"

# ---- the ssh connections are cut; this run puts back first what the one before left
start 30s
reach measure
sleep 1
pkill -KILL -P "$RUN" -f 'ControlMaster=yes'
ended "ssh connection cut" 3 'the ssh connection to host [ab] .* has ended'
check "... and what the hanging guest kept was restored by this run" jq -e '[.warnings[] | select(test("b: settings that an earlier run had left were restored first"))] | length == 1' "$R/result.json"
check "... on both hosts" test "$(mtu b)" = "$MTU"

# ---- the sampler is killed, the traffic is killed
start 30s
reach measure
softlab_ssh a pkill -KILL nic-sampler
ended "sampler killed" 3 'host a: nic-sampler'
start 30s
reach measure
softlab_ssh b pkill -KILL roce-traffic
ended "traffic killed" 3 'roce-traffic'

finish
