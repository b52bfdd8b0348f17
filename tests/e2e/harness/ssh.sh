#!/bin/bash
# An ssh lab without guests: hosts that cannot be reached are reported at once; what hosts cannot run is refused before the run; a run in
# which traffic cannot flow ends with the reason and restores settings.
# There is no RDMA here: tests/e2e/guests/ssh.sh tests that traffic flows.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/e2e/harness/ssh_hosts.bash
. "$ROOT/tests/e2e/harness/ssh_hosts.bash"

# ---- programs
check_exit 0 "programs are installed on hosts" "$H" install --lab "$LAB"
check_says "... on both" '^b: nic-sampler, host-facts, nic-config, roce-traffic [0-9.]+ in ' "$SCRATCH/out"

check_exit 3 "doctor on hosts without RDMA" "$H" doctor --lab "$LAB"
check_says "... says so" 'failure +b +nic +network device data0, RDMA device none' "$SCRATCH/out"
check "... and prints nothing about GPUs, as this lab has none" test -z "$(grep gpu "$SCRATCH/out")"

# ---- settings that only simulated labs support
check_exit 3 "a congestion control that NICs do not have" "$H" "${RUN[@]}" --set settings.congestion_control=none --lab "$LAB"
check_says "... is refused before the run" 'host a: settings.congestion_control: "none" is simulated only: .*"dcqcn"' "$SCRATCH/err"
check "... and nothing is changed" test "$(mtus)" = "1500 1500"
rm -rf "$OUT"

# ---- hosts that cannot be reached: an error at once, without waiting
refused() { # WHAT FILTER PATTERN
    jq "$2" "$LAB" > "$SCRATCH/wrong.json"
    check_exit 3 "$1" "$H" "${RUN[@]}" --lab "$SCRATCH/wrong.json"
    check_says "... is reported" "$3" "$SCRATCH/err"
}
sed "s|[^ ]*$|$(cut -d' ' -f2 "$SCRATCH/stranger.pub")|" "$SCRATCH/known_hosts" > "$SCRATCH/known_wrong"
refused "a host with another key than in known_hosts" ".hosts.b.known_hosts = \"$SCRATCH/known_wrong\"" 'connecting to host b \(.*\): .*Host key verification failed'
refused "a host with an unknown key" '.hosts.b.known_hosts = "/dev/null"' 'connecting to host b \(.*\): .*Host key verification failed'
refused "a host that refuses the login" ".hosts.b.identity = \"$SCRATCH/stranger\"" 'connecting to host b \(.*\): root@192.0.2.12: Permission denied'
refused "a host name that cannot be resolved" '.hosts.b.ssh = "root@rack-b.invalid"' 'connecting to host b \(.*\): .*Could not resolve hostname rack-b.invalid'
refused "a host where no sshd listens" '.hosts.b.port = 9' 'connecting to host b \(.*\): .*port 9: Connection refused'
refused "a host without the NIC's address" '.hosts.b.nic.address = "10.9.0.9/24"' 'host b: no network device has address 10.9.0.9/24: give the NIC.s netdev, mac or address'
refused "a host without the NIC's PCI device" '.hosts.b.nic = {pci: "0000:ee:1f.7", address: "10.9.0.2/24"}' 'host b: PCI device 0000:ee:1f.7 has no network device'
refused "a host without the programs" '.hosts.b.programs = "/nowhere"' 'host b has no /nowhere/nic-config .*harness install'
check "none left a result" test -z "$(find "$OUT" -name '*.json')"

# ---- traffic that cannot flow
check_exit 3 "a run whose traffic cannot flow" "$H" "${RUN[@]}" --lab "$LAB"
reason
check_says "... says why" 'host [ab]: roce-traffic drive exited with 3: .*RDMA' "$SCRATCH/reason"
check "... settings are restored" test "$(mtus)" = "1500 1500"

# ---- flows that the programs cannot run are refused before the run
jq '.flows = [range(65) as $i | {name: "flow-\($i)", from: "a", to: "b"}] | del(.sweep, .expect, .published)' "$ROOT/scenarios/pfc-bidir.json" \
    > "$SCRATCH/too-many.json"
check_exit 2 "too many flows to one host are refused" "$H" check "$SCRATCH/too-many.json" --lab "$LAB"
check_says "... by the limit" 'more than 64 flows to role b' "$SCRATCH/err"
jq 'del(.flows, .sweep, .expect, .published) | .traffic = [{name: "t", pattern: "incast", from: ["a"], to: ["b"]}]' \
    "$ROOT/scenarios/pfc-bidir.json" > "$SCRATCH/pattern.json"
check_exit 2 "traffic patterns are refused" "$H" run "$SCRATCH/pattern.json" --dry-run --lab "$LAB"
check_says "... because only simulated labs support it" 'only simulated labs support' "$SCRATCH/err"

close_hosts
finish
