#!/bin/bash
# Which priority packets get on real hosts: doctor sees the trust mode that is in force. A run on hosts whose NICs have a vlan in the lab makes the VLAN interfaces, tells traffic their address, and removes them; a killed run's
# are removed by harness restore. Where the kernel makes no VLANs, macvlans stand in for them (tests/e2e/nic-config/vlan.c).
# shellcheck disable=SC2317 # functions are called by name
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/e2e/harness/ssh_hosts.bash
. "$ROOT/tests/e2e/harness/ssh_hosts.bash"
if skip_reason sanitized "$BUILD/nic-config" >/dev/null; then
    skip "VLAN interfaces" sanitized "$BUILD/nic-config" && finish
elif ! has_compiler; then
    skip "VLAN interfaces" no-compiler && finish
fi

jq '.hosts |= with_entries(.value.nic.vlan = {id: 100, address: ("10.9.100." + (.value.nic.address | split("[./]"; "")[3]) + "/24")})' "$LAB" >"$SCRATCH/tagged.json"
check_exit 0 "programs are installed on hosts" "$H" install --lab "$LAB"
if ! ip -n a link add link data0 name data0.9 type vlan id 9 2>/dev/null; then
    mkdir -p "$SCRATCH/vlans"
    check "the stand-in for VLANs is built" compile_preload "$SCRATCH/vlan.so" \
        "$ROOT/tests/e2e/nic-config/vlan.c" -lmnl -ldl
    mv "$SCRATCH/bin/nic-config" "$SCRATCH/bin/nic-config.real"
    printf '#!/bin/sh\nVLANS=%s/vlans LD_PRELOAD=%s/vlan.so exec %s/bin/nic-config.real "$@"\n' "$SCRATCH" "$SCRATCH" "$SCRATCH" >"$SCRATCH/bin/nic-config"
    chmod +x "$SCRATCH/bin/nic-config"
else
    ip -n a link delete data0.9
fi
links() { for host in a b; do ip -n $host -j link show | jq -r '.[].ifname' | sort | paste -sd,; done; }
links >"$SCRATCH/first"
same_links() { links | diff "$SCRATCH/first" -; }
PRIORITY=(--set 'flows.*.priority=3' --set 'settings.pfc=[3]')

# ---- doctor
jq '.flows[].priority = 3 | .settings.pfc = [3] | .settings.mtu = 1400 | .sweep = {} | del(.expect[] | select(.against)) | del(.expect[].when, .published) | .flows[].memory = "host"' "$ROOT/scenarios/pfc-bidir.json" >"$SCRATCH/prio.json"
"$H" doctor --lab "$SCRATCH/tagged.json" --for "$SCRATCH/prio.json" >"$SCRATCH/doctor"
check_says "doctor says which VLAN a run makes" 'ok +a +vlan +a run makes data0.100, VLAN 100 of data0, with 10.9.100.1/24 and the egress map 0:3, 1:3, .*7:3' "$SCRATCH/doctor"
check_says "... and that the NICs show no trust mode" 'unknown +b +priority +the NIC of b shows no trust mode: whether it sorts packets by priority 3' "$SCRATCH/doctor"
check "doctor changes nothing" same_links
# a has a NIC that trusts the tag (a tree modelled on MLNX_OFED), b one that trusts DSCP and maps 0 to 3
for host in a b; do
    mkdir -p "$SCRATCH/$host/root/sys/class/net/data0/qos" "$SCRATCH/$host/bin"
    cp "$SCRATCH"/bin/* "$SCRATCH/$host/bin"
    printf '#!/bin/sh\nexec %s/bin/nic-config "$@" --root %s/%s/root\n' "$SCRATCH" "$SCRATCH" $host >"$SCRATCH/$host/bin/nic-config"
done
echo pcp >"$SCRATCH/a/root/sys/class/net/data0/qos/trust"
echo dscp >"$SCRATCH/b/root/sys/class/net/data0/qos/trust"
printf 'dscp2prio mapping:\n0 3\n8 1\n' >"$SCRATCH/b/root/sys/class/net/data0/qos/dscp2prio"
jq --arg at "$SCRATCH" '.hosts |= with_entries(.value.programs = "\($at)/\(.key)/bin")' "$LAB" >"$SCRATCH/trusts.json"
jq 'del(.settings.trust)' "$SCRATCH/prio.json" >"$SCRATCH/unset.json"
check_exit 3 "doctor fails a host that takes the packets for priority 0" "$H" doctor --lab "$SCRATCH/trusts.json" --for "$SCRATCH/unset.json"
check_says "... by its trust mode" 'failure +a +priority +packets of priority 3: the NIC of a receives them with priority 0, .* trust mode is pcp' "$SCRATCH/out"
check_says "... with what to do" '-> set settings.trust to "dscp"' "$SCRATCH/out"
check_says "a host that trusts DSCP and maps it is good" 'ok +b +priority +packets of priority 3: the NIC of b trusts DSCP, and DSCP 0 .* is priority 3' "$SCRATCH/out"

# ---- a run
check_exit 3 "a run (traffic cannot flow: there is no RDMA)" "$H" "${RUN[@]}" "${PRIORITY[@]}" --lab "$SCRATCH/tagged.json"
check_says "... which is why it ended" 'this host has no RDMA device' "$SCRATCH/err"
check "the VLAN of each host had its address, map and MTU" jq -e '[.[].read_back["data0.100"]] | length == 2 and all(.kind == "vlan" and .vlan.of == "data0" and
    .vlan.id == 100 and .vlan.egress["0"] == 3 and .mtu == 1400 and .up) and (map(.addresses[0]) | sort) == ["10.9.100.1/24", "10.9.100.2/24"]' \
    "$OUT/pfc-bidir/latest/settings.json"
check "flows use the VLAN's address" grep -q '"address":"10.9.100.[12]"' "$OUT/pfc-bidir/latest/run.log"
check "the VLANs are removed" same_links

# ---- a killed run
"$H" "${RUN[@]}" "${PRIORITY[@]}" --lab "$SCRATCH/tagged.json" >"$SCRATCH/out" 2>&1 &
pid=$!
until ip -n b link show data0.100 >"$SCRATCH/out.link" 2>&1 || ! kill -0 $pid 2>/dev/null; do sleep 0.02; done
{ kill -KILL $pid && wait $pid; } 2>/dev/null
check "a killed run leaves a VLAN" ip -n b link show data0.100
check_exit 0 "restore after it" "$H" restore --lab "$SCRATCH/tagged.json"
check "the VLANs are removed" same_links

close_hosts
finish
