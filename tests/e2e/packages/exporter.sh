#!/bin/bash
# The service nic-sampler@INTERFACE: what systemd says of its unit, and its command, run for several interfaces without any privilege. Its sandbox
# needs a systemd, which tests have not.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/e2e/packages/packages.bash
source "$(dirname "$0")/packages.bash"
skip_unless "the exporter's service" make systemd-analyze curl ip setpriv

UNITS=$SCRATCH/units
PROGRAM=$SCRATCH/nic-sampler
check "units are laid out" lay_out_stage
mkdir "$UNITS"
cp "$BUILD/nic-sampler" "$PROGRAM"
chmod 755 "$SCRATCH" "$PROGRAM"
# as installed, but that the program is here
for unit in "$STAGE"/lib/systemd/system/*; do sed "s|/usr/bin/nic-sampler|$PROGRAM|" "$unit" >"$UNITS/$(basename "$unit")"; done

check_exit 0 "systemd can read the units" systemd-analyze verify --man=no "$UNITS/nic-sampler@eth1.service" "$UNITS/nic-sampler.target"
check "and finds nothing to say" test ! -s "$SCRATCH/err"
# 15 is 1.5 of 10. Versions of systemd count differently.
check_exit 0 "its exposure is at most 1.5 (systemd-analyze security)" systemd-analyze security --offline=true --threshold=15 "$UNITS/nic-sampler@.service"
if [[ $(systemd-analyze --version | head -n 1) == "systemd 252 "* ]]; then
    figure=$(sed -n 's/.*Overall exposure level.*: \([0-9.]*\) .*/\1/p' "$SCRATCH/out")
    check "it is the documentation's: $figure" grep -q "exposure level of $figure of 10" "$ROOT/docs/packages.md"
fi
# shellcheck disable=SC2317 # called through check
unit_has() { grep -qxF "$1" "$UNITS/nic-sampler@.service"; }
for line in DynamicUser=yes CapabilityBoundingSet= NoNewPrivileges=yes ProtectSystem=strict PartOf=nic-sampler.target; do check "$line" unit_has "$line"; done

# Start the unit's command for interface $1 as systemd would: its variables, then those of the file, which is $2; words of $OPTIONS.
# shellcheck disable=SC2317 # called in the namespace
start() {
    local LISTEN='' OPTIONS='' words
    eval "$(sed -n 's/^Environment=//p' "$UNITS/nic-sampler@.service" | tr ' ' '\n')"
    eval "$(sed -E 's/=(.*)/="\1"/' "$2")"
    words=$(sed -n 's/^ExecStart=//p' "$UNITS/nic-sampler@.service" | sed "s/%i/$1/; s|\${LISTEN}|$LISTEN|; s|\$OPTIONS|$OPTIONS|")
    # shellcheck disable=SC2086 # words
    exec setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all --bounding-set=-all --no-new-privs $words
}
# In a network of its own, with two interfaces: SIGTERM ends both.
# shellcheck disable=SC2317
served() {
    ip link set lo up && ip link add lab0 type veth peer name lab1 && ip link set lab0 up && ip link set lab1 up || return
    : >"$SCRATCH/lo.conf"
    printf 'LISTEN=127.0.0.1:9102\nOPTIONS=--groups throughput,drops --every 100ms\n' >"$SCRATCH/lab0.conf"
    start lo "$SCRATCH/lo.conf" 2>"$SCRATCH/lo.log" &
    local first=$!
    start lab0 "$SCRATCH/lab0.conf" 2>"$SCRATCH/lab0.log" &
    local second=$!
    for address in 127.0.0.1:9101 127.0.0.1:9102; do
        curl --silent --show-error --fail --retry 40 --retry-delay 1 --retry-max-time 40 --retry-connrefused "http://$address/metrics" >"$SCRATCH/${address#*:}" || return
    done
    kill -TERM "$first" "$second"
    wait "$first" && wait "$second"
}
if [[ $(id -u) != 0 ]]; then
    skip "the service's command" no-root
elif ! unshare --mount --net --pid --fork true 2>/dev/null; then
    skip "the service's command" no-namespaces
else
    export -f start served
    export UNITS SCRATCH PROGRAM
    check_exit 0 "exporters of two interfaces run without privileges, and end by SIGTERM" unshare --net --mount --pid --fork --kill-child bash -c served
    check_says "one by the address of the unit" '^nic_[a-z_]+\{.*"lo"' "$SCRATCH/9101"
    check_says "one by the address of its file" '^nic_[a-z_]+\{.*"lab0"' "$SCRATCH/9102"
    check "with the options of its file" bash -c "! grep -q nic_ip_ext '$SCRATCH/9102' && grep -q nic_ip_ext '$SCRATCH/9101'"
fi
finish
