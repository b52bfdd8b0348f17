#!/bin/bash
# A lab that is found: harness lab discover asks hosts over ssh for their NICs, GPUs and whom each NIC reaches. What it writes is a lab, which
# check and doctor take.
# The hosts have no RDMA: a stand-in of host-facts says of their interfaces what one says of ConnectX.
# shellcheck disable=SC2317 # functions are called by name
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/e2e/harness/ssh_hosts.bash
. "$ROOT/tests/e2e/harness/ssh_hosts.bash"
ip -n a link add data1 type veth peer name data1 netns b
ip -n a addr add 10.9.1.1/24 dev data1
ip -n b addr add 10.9.1.2/24 dev data1
for host in a b; do ip -n $host link set data1 up; done
STAND_IN=$SCRATCH/stand-in
mkdir "$STAND_IN" && check_exit 0 "programs are installed" "$H" install --lab "$LAB"
ln "$SCRATCH/bin"/{nic-sampler,nic-config,roce-traffic} "$STAND_IN/"
echo null > "$SCRATCH/lldp"
cat > "$STAND_IN/host-facts" << END
#!/bin/bash
[ "\$1" != --version ] || exec $SCRATCH/bin/host-facts --version
n=1
! ip -4 addr show data0 | grep -q 10.9.0.2/ || n=2
jq -n --argjson n \$n --slurpfile lldp "$SCRATCH/lldp" '{schema: 1, host: "node\(\$n)", checks: [], nics: ([0, 1 | . as \$rail | {
    netdev: "data\(\$rail)", kind: null, master: null, lower: [], state: "up", speed_Mbps: 100000, lldp: (if \$rail == 1 then \$lldp[0] else null end),
    pci: {address: "0000:1\(\$rail):00.0"}, rdma: {device: "mlx5_\(\$rail)", transport: "RoCE", link_layer: "Ethernet", firmware: "22.41.1000",
        gids: [{index: 3, address: "10.9.\(\$rail).\(\$n)", type: "RoCE v2"}]}, settings: {addresses: ["10.9.\(\$rail).\(\$n)/24"]}}]
    + [{netdev: "bond0", kind: "bond", lower: ["eth0", "eth1"], rdma: {device: "mlx5_bond_0", transport: "RoCE"}}]),
    gpus: [{index: 0, pci: {address: "0000:20:00.0"}}, {index: 1, pci: {address: "0000:21:00.0"}}],
    pairs: [{netdev: "data0", gpu: "0000:21:00.0", relation: "PIX"}, {netdev: "data1", gpu: "0000:20:00.0", relation: "PIX"},
        {netdev: "data0", gpu: "0000:20:00.0", relation: "SYS"}, {netdev: "data1", gpu: "0000:21:00.0", relation: "SYS"}]}'
END
chmod +x "$STAND_IN/host-facts"
FOUND=$SCRATCH/found.json
DISCOVER=("$H" lab discover --identity "$SCRATCH/key" --known-hosts "$SCRATCH/known_hosts" --programs "$STAND_IN")
says() { jq -e "$1" "$FOUND"; }

check_exit 0 "two hosts are discovered" "${DISCOVER[@]}" -o "$FOUND" --name rack root@192.0.2.11 root@192.0.2.12
check_says "... what to do next is said" "^$FOUND: check it with harness check, and edit it" "$SCRATCH/out"
check "... they have the names that they call themselves" says '.hosts | keys == ["node1", "node2"] or has("node[1-2]")'
check_exit 0 "... it is a valid lab" "$H" check "$FOUND"
"$H" lab show "$FOUND" > "$SCRATCH/shown" 2> "$SCRATCH/err"
shown() { jq -e "$1" "$SCRATCH/shown"; }
check "... each NIC is a node, with its device and address" shown '.hosts | [.["node1.rail0", "node1.rail1", "node2.rail1"].nic | .netdev, .rdma, .address] == ["data0", "mlx5_0", "10.9.0.1/24", "data1", "mlx5_1", "10.9.1.1/24", "data1", "mlx5_1", "10.9.1.2/24"]'
check "... the nearest GPU is by PCI Express" shown '.hosts | [.["node1.rail0", "node1.rail1"].gpu.index] == [1, 0]'
check "... cables are those over which both answer" shown '[.links[] | .between + [.rate]] == [["node1.rail0", "node2.rail0", "100Gb/s"], ["node1.rail1", "node2.rail1", "100Gb/s"]]'
check "... what was left out has its reason" says '.["// remarks"] | any(.[]; test("^node1: left out: bond0 is a bond upon eth0, eth1 \\(RoCE LAG\\)")) and any(.[]; test("^link node1.rail0 to node2.rail0: they answer each other"))'
"$H" doctor --lab "$FOUND" > "$SCRATCH/out" 2> "$SCRATCH/err"
check_says "... doctor finds the NICs" '^ok +node2\.rail1 +nic +network device data1, RDMA device mlx5_1' "$SCRATCH/out"
check_says "... and the GPU near to each" '^ok +node1\.rail0 +near-gpu +GPU 1 is PIX away' "$SCRATCH/out"
"$H" lab show "$FOUND" | jq 'del(.hosts[].gpu) | .hosts[].gpu = {index: 0}' > "$SCRATCH/far.json"
"$H" doctor --lab "$SCRATCH/far.json" > "$SCRATCH/out" 2> "$SCRATCH/err"
check_says "... or that there is a nearer one" '^warning +node1\.rail0 +near-gpu +the lab has GPU 0 for data0, which is SYS away, and GPU 1 is PIX' "$SCRATCH/out"
check_exit 2 "a file that is there is not overwritten" "${DISCOVER[@]}" -o "$FOUND" root@192.0.2.11
check_says "... it says so" 'is there already' "$SCRATCH/err"
check_exit 2 "options are discover's" "$H" lab get "$FOUND" name --sudo
check_says "... it says so" 'options are those of lab discover' "$SCRATCH/err"

# ---- a rail that does not reach; a switch by LLDP
ip -n b link set data0 down
echo '{"name": "leaf-1", "port": "Ethernet0"}' > "$SCRATCH/lldp"
check_exit 0 "without a file it goes to standard output" "${DISCOVER[@]}" root@192.0.2.11 root@192.0.2.12
cp "$SCRATCH/out" "$FOUND"
check "... a NIC that nobody answers has no cable" says 'has("links") | not'
check "... which is said" says '.["// remarks"] | any(.[]; test("^node1.rail0: no LLDP: .*; no answer from node2.rail0"))'
check "... and a switch by its name" says '.["// remarks"] | any(.[]; . == "node1.rail1: its cable ends at leaf-1, port Ethernet0 (LLDP); it reaches node2.rail1")'
check_exit 0 "... it is a valid lab" "$H" check "$FOUND"
echo '{"name": "node2", "port": "data1"}' > "$SCRATCH/lldp"
"${DISCOVER[@]}" root@192.0.2.11 root@192.0.2.12 > "$FOUND" 2> "$SCRATCH/err"
check "a host by LLDP is at the other end" says '[.links[].between] == [["node1.rail1", "node2.rail1"]]'
ip -n b link set data0 up

# ---- hosts that do not answer
check_exit 3 "a host that does not answer" "${DISCOVER[@]}" root@192.0.2.11 root@192.0.2.99
check_says "... is named" 'host h1 \(root@192\.0\.2\.99\)' "$SCRATCH/err"
cp "$SCRATCH/out" "$FOUND"
check "... the others are in the lab" says '.hosts | keys == ["node1"]'
check "... which says that it is not" says '.["// remarks"] | any(.[]; . == "h1: it is not in the lab: it was not reached")'
check_exit 3 "no host that answers: no lab" "${DISCOVER[@]}" --port 9 root@192.0.2.11
check "... is printed" test ! -s "$SCRATCH/out"

# ---- a host without the programs, and without RoCE
check_exit 3 "a host without the programs is asked by a copy" "$H" lab discover --identity "$SCRATCH/key" --known-hosts "$SCRATCH/known_hosts" --programs /nowhere root@192.0.2.11
check_says "... and has no NIC for a lab" 'none of the hosts has a NIC that a lab can have' "$SCRATCH/err"
check "... nothing stays there" test -z "$(find /tmp -maxdepth 1 -name 'harness-discover.*')"
close_hosts
finish
