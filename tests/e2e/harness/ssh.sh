#!/bin/bash
# An ssh lab without guests: hosts that cannot be reached are reported at once; what hosts cannot run is refused before the run; a run in
# which traffic cannot flow ends with the reason and restores settings.
# There is no RDMA here: tests/e2e/guests/ssh.sh tests that traffic flows.
# shellcheck disable=SC2317 # functions are called by name
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

# ---- what doctor could not see is unknown
check_says "... counts verdicts" '^[0-9]+ ok, [0-9]+ warnings?, 2 failures, [0-9]+ unknown$' "$SCRATCH/out"
jq '.hosts.b.port = 9' "$LAB" > "$SCRATCH/half.json"
check_exit 3 "doctor for a scenario, with a host that cannot be reached" "$H" doctor --lab "$SCRATCH/half.json" --for pfc-bidir
check_says "... names the host" 'failure +b +connection .*Connection refused' "$SCRATCH/out"
check_says "... and the command that reaches it as the lab does" "-> ssh -p 9 -i $(jq -r '.hosts.b.identity // .defaults.host.identity' "$LAB") .*true$" "$SCRATCH/out"
check_says "... PFC of its flows is unknown" 'unknown +a->b +pfc .*b: its settings were not read' "$SCRATCH/out"
check "... no check of both ends is ok" test -z "$(grep -E '^ok +(a->b|b->a)' "$SCRATCH/out")"
check_exit 3 "... as JSON" "$H" doctor --lab "$SCRATCH/half.json" --for pfc-bidir --json
check "... every entry has evidence" jq -e 'all(.[]; .evidence | length > 5) and ([.[] | select(.host == "a->b" and .check == "mtu")] | all(.verdict == "unknown"))' "$SCRATCH/out"
check_exit 3 "doctor for a scenario, with both hosts" "$H" doctor --lab "$LAB" --for pfc-bidir --json
check "... MTUs are known then, with the place where they were read" jq -e 'any(.[]; .host == "a->b" and .check == "mtu" and .verdict == "ok" and (.evidence | test("by the scenario, now 1500 \\(")))' "$SCRATCH/out"
check "... nothing is unknown but what host-facts cannot see" jq -e '[.[] | select(.verdict == "unknown" and .program == null)] == []' "$SCRATCH/out"
check "... hosts without PFC are no agreement on PFC" jq -e '[.[] | select(.check == "pfc") | .verdict] | length > 0 and all(. == "warning")' "$SCRATCH/out"

# nothing is wrong, but an MTU cannot be read: stand-ins for a NIC with RDMA, and for a nic-config that was not allowed to read it
mkdir "$SCRATCH/half-seen"
ln "$SCRATCH/bin"/{host-facts,roce-traffic} "$SCRATCH/half-seen/"
cat > "$SCRATCH/half-seen/nic-config" << END
#!/bin/bash
[ \$1 = get ] || exec $SCRATCH/bin/nic-config "\$@"
$SCRATCH/bin/nic-config "\$@" | jq -c 'del(.interfaces[].mtu) | .facts[].unread.mtu = "Permission denied"'
END
cat > "$SCRATCH/half-seen/nic-sampler" << END
#!/bin/bash
[ \$1 = --version ] && exec $SCRATCH/bin/nic-sampler --version
echo '{"columns": []}'
END
chmod 755 "$SCRATCH/half-seen"/nic-*
jq --arg programs "$SCRATCH/half-seen" '.hosts[] |= . + {programs: $programs} | .hosts[].nic.rdma = "mlx5_0"' "$LAB" > "$SCRATCH/half.json"
jq 'del(.settings, .settings_of, .sweep, .published, .expect) | .flows[].memory = "host"' "$ROOT/scenarios/pfc-bidir.json" > "$SCRATCH/plain.json"
check_exit 4 "doctor that finds nothing wrong, but could not see all" "$H" doctor --lab "$SCRATCH/half.json" --for "$SCRATCH/plain.json"
check_says "... names what, and why" 'unknown +a->b +mtu .*a: mtu could not be read: Permission denied' "$SCRATCH/out"
check_says "... and counts no failure" ' 0 failures, [0-9]+ unknown$' "$SCRATCH/out"
check_exit 3 "doctor for what a run would refuse" "$H" doctor --lab "$SCRATCH/half.json" --for "$SCRATCH/plain.json" --set 'capture={"priorities":[3]}'
check_says "... says so in the run's words" '^failure +[^ ]+ +lab +capture.priorities: frames are chosen in simulated labs only' "$SCRATCH/out"
check_exit 2 "... which refuses it before a host is reached" "$H" run "$SCRATCH/plain.json" --lab "$SCRATCH/half.json" --set 'capture={"priorities":[3]}' --out "$SCRATCH/refused"
check_says "... with the same" 'error: .*plain.json: capture.priorities: frames are chosen in simulated labs only' "$SCRATCH/err"

# ---- a program that a signal ends there: ssh has no exit status of it
mkdir "$SCRATCH/killed"
ln "$SCRATCH/bin"/{nic-sampler,host-facts,roce-traffic} "$SCRATCH/killed/"
cat > "$SCRATCH/killed/nic-config" << END
#!/bin/sh
case \$1 in --version) exec $SCRATCH/bin/nic-config --version ;; esac
printf 'its first line\nits second\n' >&2
kill -9 \$\$
END
chmod 755 "$SCRATCH/killed/nic-config"
jq --arg programs "$SCRATCH/killed" '.hosts[].programs = $programs' "$LAB" > "$SCRATCH/killed.json"
"$H" doctor --lab "$SCRATCH/killed.json" > "$SCRATCH/out" 2>&1
check_says "doctor says how a program ended, and all of its words" 'killed/nic-config: ssh has no exit status of it .*a signal ended it.*its first line;its second' "$SCRATCH/out"

# ---- what must register GPU memory depends on the route of the flows: a stand-in shows the host of tests/data/hosts, without nvidia_peermem
mkdir "$SCRATCH/with-gpu"
stand_in_facts "$SCRATCH/with-gpu" geforce-guest.tree
rm -r "$SCRATCH/tree/sys/module/nvidia_peermem" "$SCRATCH/tree/sys/kernel/mm/memory_peers"
ln "$SCRATCH/bin"/{nic-sampler,nic-config,roce-traffic} "$SCRATCH/with-gpu/"
jq --arg programs "$SCRATCH/with-gpu" '.hosts[] |= . + {programs: $programs, gpu: {}}' "$LAB" > "$SCRATCH/gpu.json"
doctor_by() { # ROUTES
    jq --argjson routes "$1" '.flows[].memory = "host" | .sweep = {"flows.*.memory": $routes} | del(.published, .expect)' "$ROOT/scenarios/pfc-bidir.json" > "$SCRATCH/by-route.json"
    check_exit 3 "doctor for flows by $1" "$H" doctor --lab "$SCRATCH/gpu.json" --for "$SCRATCH/by-route.json" --json
}
peer_memory() { check "... $1" jq -e "[.[] | select(.host == \"a\" and .check == \"peer-memory\") | .verdict] == $2" "$SCRATCH/out"; }
doctor_by '["host", "rm-dmabuf"]'
peer_memory "need no nvidia_peermem" '["ok"]'
doctor_by '["rm-peermem"]'
peer_memory "need nvidia_peermem" '["failure"]'
doctor_by '["rm-dmabuf", "rm-peermem"]'
peer_memory "are judged one by one" '["ok", "failure"]'
doctor_by '["host"]'
peer_memory "need nothing" '[]'
# ---- a GID index of the lab
index_of() { # INDEX: doctor for a lab with it
    jq --argjson index "$1" '.hosts.a.nic = {netdev: "eth1", address: "10.0.0.1/24", gid_index: $index} | del(.links)' "$SCRATCH/gpu.json" > "$SCRATCH/index.json"
    "$H" doctor --lab "$SCRATCH/index.json" > "$SCRATCH/out" 2> "$SCRATCH/err"
}
index_of 3
check_says "the lab's GID index is that of its address" '^ok +a +gid-index +index 3 is the RoCE v2 GID of 10\.0\.0\.1$' "$SCRATCH/out"
index_of 1
check_says "one that moved is found" '^failure +a +gid-index .* is 1, which is a RoCE v2 GID of fe80::ff:fe00:1 now; the RoCE v2 GID of 10\.0\.0\.1/24 has index 3$' "$SCRATCH/out"
check_says "... with what to do" '-> leave nic.gid_index out of the lab: .* or set it to 3$' "$SCRATCH/out"

# ---- the TCP port between the hosts
"$H" doctor --lab "$LAB" > "$SCRATCH/out" 2> "$SCRATCH/err"
check_says "doctor tries the port of roce-traffic: a refusal shows that it can be reached" '^ok +a +port +TCP port 18525 of b \(10\.9\.0\.2/24\) can be reached' "$SCRATCH/out"
check_says "... in both directions" '^ok +b +port +TCP port 18525 of a ' "$SCRATCH/out"
ip -n b route add prohibit 10.9.0.1/32 # b's answers to a are dropped, as a firewall drops what a sends
check_exit 3 "doctor where b does not answer a" "$H" doctor --lab "$LAB" --for pfc-bidir
check_says "... names the port, and what may be in the way" 'failure +a +port +TCP port 18525 of b \(10\.9\.0\.2/24\), where roce-traffic listens during a run: no answer within 3 s: a firewall' "$SCRATCH/out"
check_says "... and the rule that opens it" '-> let TCP port 18525 through on host b; with firewalld: firewall-cmd --add-port=18525/tcp' "$SCRATCH/out"
ip -n b route del prohibit 10.9.0.1/32
ip -n a route add unreachable 10.9.0.2/32 # as firewalld's rejection
"$H" doctor --lab "$LAB" > "$SCRATCH/out" 2> "$SCRATCH/err"
check_says "a rejection is told from a refusal" 'failure +a +port +.*: "No route to host": a firewall rejects' "$SCRATCH/out"
ip -n a route del unreachable 10.9.0.2/32

# ---- settings that only simulated labs support
check_exit 2 "a congestion control that NICs do not have" "$H" "${RUN[@]}" --set settings.congestion_control=none --lab "$LAB"
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

# ---- a link that the last host's settings take down: b's nic-config takes the cable down for 4 s when it has set
mkdir "$SCRATCH/flapping"
cp "$SCRATCH"/bin/* "$SCRATCH/flapping"
cat > "$SCRATCH/flapping/nic-config" <<SH
#!/bin/bash
"$SCRATCH/bin/nic-config" "\$@"
status=\$?
if [ "\$1" = set ] && ip addr show dev data0 | grep -q 10.9.0.2/; then
    ip link set data0 down
    (sleep 4; ip link set data0 up) > "$SCRATCH/flap" 2>&1 < /dev/null &
fi
exit \$status
SH
cat > "$SCRATCH/flapping/nic-sampler" <<SH
#!/bin/bash
cat /sys/class/net/data0/operstate >> "$SCRATCH/link-at-start"
exec "$SCRATCH/bin/nic-sampler" "\$@"
SH
jq --arg programs "$SCRATCH/flapping" '.hosts[].programs = $programs' "$LAB" > "$SCRATCH/flapping.json"
check_exit 3 "a run whose last settings take the link down" "$H" "${RUN[@]}" --lab "$SCRATCH/flapping.json"
check "... has both links up when the samplers start" test "$(sort -u "$SCRATCH/link-at-start")" = up

# ---- flows that the programs cannot run are refused before the run
jq '.flows = [range(65) as $i | {name: "flow-\($i)", from: "a", to: "b"}] | del(.sweep, .expect, .published)' "$ROOT/scenarios/pfc-bidir.json" \
    > "$SCRATCH/too-many.json"
check_exit 2 "too many flows to one host are refused" "$H" check "$SCRATCH/too-many.json" --lab "$LAB"
check_says "... by the limit" 'more than 64 flows to role b' "$SCRATCH/err"
# ---- the hosts of a lab are the nodes of a job of Slurm
jq '.hosts.a.ssh = "root@elsewhere1" | .hosts.b.ssh = "root@elsewhere2"' "$LAB" > "$SCRATCH/nodes.json"
from_slurm() { SLURM_JOB_NODELIST=$1 "$H" "${RUN[@]}" --lab "$SCRATCH/nodes.json" --hosts-from slurm "${@:2}"; }
check_exit 2 "--hosts-from slurm outside of a job is refused" "$H" "${RUN[@]}" --lab "$SCRATCH/nodes.json" --hosts-from slurm
check_says "... with what to do" 'SLURM_JOB_NODELIST is not set: run this in a job of Slurm' "$SCRATCH/err"
check_exit 3 "a run on the nodes of a job (traffic cannot flow)" from_slurm '192.0.2.[11-12],spare[01-03]' --set 'sweep={"flows.*.depth": [1, 2]}'
check "... which reached both" grep -q 'b: host b, address 10.9.0.2' "$OUT/pfc-bidir/latest/01/run.log"
check "... as the users of the lab" jq -e '.lab.hosts | .a.ssh == "root@192.0.2.11" and .b.ssh == "root@192.0.2.12"' "$OUT/pfc-bidir/latest/01/result.json"
check "... and keeps their names for --resume" jq -e '.set | any(. == "lab.hosts.b.ssh=\"root@192.0.2.12\"")' "$OUT/pfc-bidir/latest/request.json"
check_exit 2 "too few nodes are refused" from_slurm '192.0.2.11'
check_says "... with both numbers" 'lab pair has 2 hosts, and this job of Slurm 1 nodes: ask for as many \(--nodes=2\)' "$SCRATCH/err"
for list in 'n[3-' 'n[2-1]' 'n1,,n2' 'n[1-999999]x[1-99]'; do
    check_exit 2 "a list of nodes that is none is refused: $list" from_slurm "$list"
    check_says "... and shown" "SLURM_JOB_NODELIST=n" "$SCRATCH/err"
done
check_exit 2 "a node that is no destination is refused" from_slurm 'a b,-oProxyCommand=x'
check_exit 2 "a simulated lab has no such hosts" from_slurm 'n[1-2]' --lab "$ROOT/labs/sim-geforce-pair.json"
check_says "... which is said" 'has no hosts that are reached over ssh alone' "$SCRATCH/err"
check_exit 2 "nodes of another scheduler are unknown" "$H" "${RUN[@]}" --lab "$SCRATCH/nodes.json" --hosts-from pbs

close_hosts
finish
