#!/usr/bin/env bash
# shellcheck disable=SC2016  # what stands in single quotes is the guest's
# nic-config's transactions in guests with real kernels: every write is refused once, and followed once by SIGKILL; the guest must
# be as before. A host's settings on one guest, a congestion point's on another, at the same time.
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/e2e/lib.sh
. "$here/../lib.sh"
# shellcheck source=tests/e2e/guests/softlab.bash
. "$here/softlab.bash"
softlab_require "$0" "$@"
# shellcheck source=tests/e2e/guests/settings.bash
. "$here/settings.bash"
settings_guests_up sw b

# In the guest: errors in turn at every write, and SIGKILL after every write. Looks with nic-config itself, which was compared with
# the other programs above, and with tc: all of them at every step would take minutes here.
walk_script() {
    cat <<'SH'
look() { nic-config get $DEVICES 2>&1 | grep -v address; tc qdisc show; } 2>&1
look > /tmp/walk-first
errors="EOPNOTSUPP EPERM EBUSY ERANGE"
step=0
while :; do
    step=$((step + 1))
    error=${errors%% *}; errors="${errors#* } $error"
    FAULT=$step:$error LD_PRELOAD=/tmp/fault.so nic-config set /tmp/walk.json > /tmp/out 2> /tmp/err && break
    grep -q '"undone": true' /tmp/out || echo "step $step, $error: not undone: $(cat /tmp/err)"
    look | diff /tmp/walk-first - || echo "step $step, $error: the machine differs"
    [ $step -lt 80 ] || break
done
nic-config restore > /dev/null
last=$((step - 1))
for step in $(seq 1 $last); do
    { FAULT=$step:kill LD_PRELOAD=/tmp/fault.so nic-config set /tmp/walk.json > /tmp/out 2>&1; } 2> /dev/null
    nic-config restore > /tmp/out 2> /tmp/err || echo "kill $step: $(cat /tmp/err)"
    look | diff /tmp/walk-first - || echo "kill $step: the machine differs"
done
echo "steps $last"
SH
}

walk() { # HOST DEVICES
    { echo "DEVICES='$2'"; walk_script; } | softlab_ssh "$1" 'cat > /tmp/walk.sh; bash /tmp/walk.sh 2> /tmp/walk.err' >"$SCRATCH/walk-$1" 2>&1
}

judge_walk() { # HOST LEAST WHAT
    local steps
    steps=$(sed -n 's/^steps //p' "$SCRATCH/walk-$1")
    if [ "${steps:-0}" -ge "$2" ] && [ "$(wc -l <"$SCRATCH/walk-$1")" = 1 ]; then
        ok "$3: an error at each of $steps writes, SIGKILL after each of them, restore: as it was"
    else
        nok "$3: an error at each write, SIGKILL after each of them, restore: as it was" "$(head -c 3000 "$SCRATCH/walk-$1")"
    fi
}

# Two guests at once, to save time.
test_walks() {
    say "{\"data0\": {$host_part}}" | softlab_ssh b 'cat > /tmp/walk.json'
    say "{$bridge_part, \"data1\": {$switch_part}}" | softlab_ssh sw 'cat > /tmp/walk.json'
    walk b data0 &
    walk sw 'data0 data1'
    wait $!
    judge_walk b 9 "a host's settings"
    judge_walk sw 14 "a congestion point"
}

# shellcheck disable=SC2317  # called at exit
clean_guests() {
    softlab_ssh b 'nic-config restore > /dev/null; rmmod testnic; rm -f /tmp/testnic.ko /tmp/walk* /tmp/fault.so'
    softlab_ssh sw 'nic-config restore > /dev/null; rmmod testdevlink; rm -f /tmp/testdevlink.ko /tmp/walk* /tmp/fault.so'
}

build_faults || finish
modules_or_skip "a fault at every write in guests"
at_exit clean_guests
hand_to b "$SCRATCH/fault.so" fault.so
hand_to sw "$SCRATCH/fault.so" fault.so
check "a host's module is loaded" load_module b testnic data0
check "a congestion point's module is loaded" load_module sw testdevlink data1
test_walks
finish
