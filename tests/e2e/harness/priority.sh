#!/bin/bash
# A flow whose packets would not get its priority on real NICs is refused before any host is reached.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/../lib.sh"
cd "$SCRATCH" || exit 1
H=$BUILD/harness
jq '.flows[].priority = 3 | .settings.pfc = [3] | .settings.prio_to_buffer = {"3": 1} | del(.settings.trust)' "$ROOT/scenarios/pfc-bidir.json" >prio.json
jq '.hosts |= with_entries(.value.ssh = "root@" + .key + ".invalid")' "$ROOT/labs/ssh-pair.example.json" >pair.json
jq '.hosts.a.nic.vlan = {id: 100, address: "10.0.1.1/24"} | .hosts.b.nic.vlan = {id: 100, address: "10.0.1.2/24"}' pair.json >tagged.json
jq '.hosts.b.nic.vlan.id = 101' tagged.json >apart.json

check_exit 2 "check: priority 3 without trust in DSCP or a tag" "$H" check prio.json --lab pair.json
check_says "... says what becomes of the packets" 'flow a-to-b: its packets do not get priority 3: the NIC of b receives them with priority 0, because they have no VLAN tag' "$SCRATCH/err"
check_says "... and what to do" 'set settings.trust to "dscp", or give the NICs of both hosts a vlan in lab' "$SCRATCH/err"
check_exit 2 "run refuses it before anything starts" "$H" run prio.json --lab pair.json --out results
check_says "... with the same sentence" 'do not get priority 3' "$SCRATCH/err"
check "... and leaves no result" test ! -e results
check_exit 2 "so does a dry run" "$H" run --dry-run prio.json --lab pair.json --out results
check_exit 0 "trust in DSCP is a way" "$H" check prio.json --lab pair.json --set settings.trust=dscp
check_exit 2 "a traffic class of another priority is none" "$H" check prio.json --lab pair.json --set settings.trust=dscp --set 'flows.*.traffic_class=42'
check_says "... with the DSCP and its priority" 'DSCP 10 \(traffic class 42\) is priority 1 there; .*map DSCP 10 to priority 3 in settings.dscp_to_prio' "$SCRATCH/err"
check_exit 0 "a VLAN is a way" "$H" check prio.json --lab tagged.json
check_exit 2 "two VLANs are none" "$H" check prio.json --lab apart.json
check_says "... with both" 'VLAN 100, that of role b VLAN 101' "$SCRATCH/err"
check_exit 0 "simulated NICs need neither" "$H" check prio.json --lab "$ROOT/labs/sim-geforce-pair.json"
wrong_address() { # WHAT ADDRESS PATTERN
    check_exit 2 "$1" "$H" check prio.json --lab tagged.json --set "lab.hosts.a.nic.vlan.address=$2"
    check_says "... is named" "$3" "$SCRATCH/err"
}
wrong_address "a VLAN in the NIC's own network" "$(jq -r .hosts.a.nic.address pair.json)" 'hosts.a.nic.vlan.address: .* is in the network of nic.address'
wrong_address "a VLAN's address without prefix length" 10.0.1.1 '"10.0.1.1" is not an address with a prefix length'
jq '.hosts.a.extra_nics = [{netdev: "eth2"}]' tagged.json >forwards.json
check_exit 2 "a VLAN of a host that forwards" "$H" check prio.json --lab forwards.json
check_says "... is refused" 'hosts.a: a host with extra_nics passes tagged frames on as they are' "$SCRATCH/err"
check_exit 2 "a VLAN out of range" "$H" check prio.json --lab tagged.json --set lab.hosts.a.nic.vlan.id=4095
check_says "... is named" 'hosts.a.nic.vlan.id: 4095 is out of range' "$SCRATCH/err"
finish
