#!/bin/bash
# host-facts on trees of hosts that are laid out from tests/data/hosts (each names its sources), and on this host.
# shellcheck disable=SC2016,SC2317 # jq, awk and the guest expand what stands in single quotes; functions are called by name
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/../lib.sh"
FACTS=$BUILD/host-facts

host() { # name: lay it out and gather; $DOCUMENT is the document
    if [ ! -d "$SCRATCH/$1" ]; then
        mkdir "$SCRATCH/$1"
        "$ROOT/tests/data/hosts/lay-out" "$ROOT/tests/data/hosts/$1.tree" "$SCRATCH/$1" || nok "$1 is laid out"
    fi
    DOCUMENT=$SCRATCH/$1.json
    check_exit 0 "$1: a document" timeout 20 "$FACTS" --root "$SCRATCH/$1" "${@:2}"
    cp "$SCRATCH/out" "$DOCUMENT"
}
fact() { check "$1" jq -e "$2" "$DOCUMENT"; }
# check, subject (or part of it), verdict
verdict() { fact "$1 of $2 is $3" "any(.checks[]; .check == \"$1\" and (.subject | contains(\"$2\")) and .verdict == \"$3\" and (.reason | length > 5))"; }
fixes() { fact "$1: a command that fixes it" "any(.checks[]; .check == \"$1\" and .verdict != \"ok\" and .fix != null and (.fix | contains(\"$2\")))"; }

# ---- ConnectX-4 Lx and RTX 3090 in a guest
host geforce-guest
fact "versions of the published bundle" '.versions == {kernel: "5.14.0-503.14.1.el9_5.x86_64", mlnx_ofed: "24.10-4.1.4", nvidia: "570.133.20", nvidia_open: true, cuda: null}'
fact "the machine" '.system | .os == "Rocky Linux 9.5 (Blue Onyx)" and .hypervisor == "QEMU" and .numa_nodes == 1 and .huge_pages == [{size_bytes: 1073741824, total: 4, free: 3}]'
fact "the NIC with its path and link" '.nics[0] | .netdev == "eth1" and .firmware == "14.32.1900" and .mtu_bytes == 4200 and .pci.path == ["pci0000:00", "0000:00:02.5", "0000:06:00.0"] and .pci.id == "15b3:1015" and .pci.link == {speed_MTps: 8000, width_lanes: 8, max_speed_MTps: 8000, max_width_lanes: 8}'
fact "MTU 4200 carries RoCE packets of 4096" '.nics[0].rdma.path_mtu_bytes == 4096'
fact "GIDs that are set, with types" '.nics[0].rdma.gids | length == 4 and .[3] == {index: 3, gid: "0000:0000:0000:0000:0000:ffff:0a00:0001", address: "10.0.0.1", type: "RoCE v2", netdev: "eth1"}'
fact "DCQCN from MLNX_OFED's places" '.nics[0].settings.dcqcn | .rp.rpg_ai_rate == 5 and .rp.rpg_byte_reset == 32767 and .np.cnp_dscp == 48'
fact "its VLAN with the priorities in the tag, not that of another NIC" '.nics[0].vlans == [{netdev: "eth1.100", id: 100, egress: {"0": 3, "3": 3}}]'
fact "without MLNX_OFED's file no traffic class is known" '.nics[0].rdma.traffic_class == null'
fact "the GPU, its audio function left out" '.gpus | length == 1 and (.[0] | .model == "NVIDIA GeForce RTX 3090" and .bar1_bytes == 268435456 and .pci.driver == "nvidia")'
fact "their relation" '.pairs[0] | .relation == "PHB" and .shared == "pci0000:00" and (.bridges | length == 2)'
forced=$SCRATCH/geforce-guest/sys/class/infiniband/mlx5_0/tc/1/traffic_class
mkdir -p "$(dirname "$forced")"
: > "$forced"
check "MLNX_OFED's file is empty until a class is set: -1" test "$("$FACTS" --root "$SCRATCH/geforce-guest" | jq '.nics[0].rdma.traffic_class')" = -1
printf 'Global tclass=106\ntclass=3 dst_ip=192.0.2.1\n' > "$forced"
check "... then it names the number" test "$("$FACTS" --root "$SCRATCH/geforce-guest" | jq '.nics[0].rdma.traffic_class')" = 106
rm "$forced"
verdict relaxed-ordering 0000:06:00.0 unknown
config=$SCRATCH/geforce-guest/sys/bus/pci/devices/0000:06:00.0/config
ordering() { "$FACTS" --root "$SCRATCH/geforce-guest" | jq -c '[.nics[0].pci.relaxed_ordering, (.checks[] | select(.check == "relaxed-ordering") | .verdict)]'; }
head -c 4096 /dev/zero > "$config"
# a list of capabilities from 0x60 on, PCI Express there; Device Control is at 0x68
for put in '6 \020' '52 \140' '96 \020' '104 \020'; do printf '%b' "${put#* }" | dd of="$config" bs=1 seek="${put% *}" conv=notrunc status=none; done
check "the NIC may send writes with relaxed ordering, by Device Control" test "$(ordering)" = '[true,"ok"]'
printf '\0' | dd of="$config" bs=1 seek=104 conv=notrunc status=none
check "... or may not" test "$(ordering)" = '[false,"warning"]'
truncate -s 64 "$config"
check "... which is not known where only 64 bytes are shown" test "$(ordering)" = '[null,"unknown"]'
rm "$config"
verdict gpu-nic-path 0000:07:00.0 ok
verdict acs 0000:00:02.5 ok
verdict acs hypervisor unknown
verdict iommu guest ok
verdict bar1 0000:07:00.0 ok
verdict peer-memory dma-buf ok
verdict peer-client nv_mem ok
verdict peer-lock nvidia_peermem ok
fact "of gdrdrv, which is not loaded and not needed, nothing is said" 'all(.checks[]; .check != "gdrcopy")'
verdict iommu-groups hypervisor unknown
verdict irq-affinity eth1 unknown
fact "the client is registered, in the driver's version" '.memory_peers.nv_mem == {version: "570.133.20", num_alloc_mrs: 2, num_reg_bytes: 131072, num_free_callbacks: 0}'
fact "every verdict names what was read" 'all(.checks[]; .evidence | length > 5)'
verdict bundle versions unknown
verdict gpu-counters gpu unknown
verdict pcie-link "gpu 0000:07:00.0" warning
verdict resizable-bar 0000:07:00.0 ok
verdict numa numa ok
verdict governor cpus unknown
verdict roce-gid mlx5_0 ok
host geforce-guest --buffer 512MiB
verdict bar1 0000:07:00.0 failure
fixes bar1 "Resizable BAR"
host geforce-guest --bundle "$ROOT/guest-setup/bundles/rocky-9.5-570.133.20.json"
verdict bundle kernel ok
verdict bundle mlnx_ofed ok
verdict bundle nvidia ok
verdict bundle "nic firmware" warning

# ---- a virtual ConnectX says what it is, by its board and by where its registers lie: one of them is enough
host virtual-guest
fact "the NIC is virtual, with the evidence and its line" '.nics | map(select(.netdev == "data0").virtual) == [{evidence: ["board VCX0000000001", "its registers are memory of the module virtual_connectx"], scaled: {line_bps: 20000000, nominal_bps: 100000000000, scale: 5000}}]'
fact "... its wire is a virtio interface, and no such NIC" '.nics | map(select(.netdev == "wire0") | has("virtual") and .virtual == null) == [true]'
verdict virtual data0 ok
fact "... the verdict says what it is not" 'any(.checks[]; .check == "virtual" and (.reason | test("not hardware .board VCX0000000001.; its line carries 20 Mb/s and stands for 100 Gb/s")))'
fact "memory of its module is a GPU, as a virtual one and nothing else" '.gpus | map(del(.virtual)) == [{index: null, model: "virtual GPU: memory of a virtual ConnectX, not hardware", vbios: null, pci: null, bar1_bytes: null, bar1_used_bytes: null, resizable_bar: null}]'
fact "... with the evidence" '.gpus[0].virtual.evidence == ["/sys/class/misc/virtual-gpu of the module virtual_connectx"] and .pairs == []'
verdict virtual gpu ok
fact "... no check of a card is for it" '[.checks[] | select(.check | IN("bar1", "resizable-bar", "peer-memory", "gpu-nic-path", "gpu-counters"))] == [] and all(.checks[]; .check != "pcie-link" or (.subject | startswith("nic")))'
echo MT_0000000008 > "$SCRATCH/virtual-guest/sys/class/infiniband/mlx5_0/board_id"
host virtual-guest
fact "... another board's name does not hide it" '.nics | map(select(.virtual).virtual.evidence) == [["its registers are memory of the module virtual_connectx"]]'
rm -r "$SCRATCH/virtual-guest/sys/module/virtual_connectx"
host virtual-guest
fact "without its module nothing is a virtual GPU" '.gpus == []'
fact "without either it is a NIC as any other" '.nics | map(.virtual) == [null, null]'
fact "... of which nothing is said" 'all(.checks[]; .check != "virtual")'
echo VCX0000000001 > "$SCRATCH/virtual-guest/sys/class/infiniband/mlx5_0/board_id"
host virtual-guest
fact "the board alone is enough; nothing is known of its line" '.nics | map(select(.virtual).virtual) == [{evidence: ["board VCX0000000001"], scaled: null}]'

# ---- a NIC whose RDMA device says less
rdma=$SCRATCH/geforce-guest/sys/class/infiniband/mlx5_0
mv "$rdma/fw_ver" "$SCRATCH/fw_ver"
check "without its firmware's version it is a NIC that can do RDMA" test "$("$FACTS" --root "$SCRATCH/geforce-guest" | jq -r '[.checks[] | select(.check == "gpu-nic-path") | .verdict] | join(" ")')" = ok
mv "$SCRATCH/fw_ver" "$rdma/fw_ver"
port() { "$FACTS" --root "$SCRATCH/geforce-guest" | jq -r '[.checks[] | select(.check == "port") | .verdict] | join(" ")'; }
gid() { "$FACTS" --root "$SCRATCH/geforce-guest" | jq -r '[.checks[] | select(.check == "roce-gid") | .verdict] | join(" ")'; }
cp "$rdma/ports/1/gids/3" "$SCRATCH/gid"
: >"$rdma/ports/1/gids/3"
check "a GID that cannot be read is not one that is not there" test "$(gid)" = unknown
echo 0000:0000:0000:0000:0000:0000:0000:0000 >"$rdma/ports/1/gids/3"
check "... zeros are none" test "$(gid)" = failure
cp "$SCRATCH/gid" "$rdma/ports/1/gids/3"
cp "$rdma/ports/1/state" "$SCRATCH/state"
echo "?" >"$rdma/ports/1/state"
check "a state of the port that is none is not known" test "$(port)" = unknown
echo "2: INIT" >"$rdma/ports/1/state"
check "... INIT is down" test "$(port)" = failure
cp "$SCRATCH/state" "$rdma/ports/1/state"

# ---- what registers GPU memory depends on the route
host geforce-guest --memory rm-dmabuf
verdict peer-memory dma-buf ok
fact "dma-buf does without nvidia_peermem: it is not asked for" 'all(.checks[]; .check != "peer-lock") and all(.checks[] | select(.check == "peer-memory"); .fix == null)'
rm -r "$SCRATCH/geforce-guest/sys/module/nvidia_peermem" "$SCRATCH/geforce-guest/sys/kernel/mm/memory_peers"
host geforce-guest --memory rm-dmabuf
verdict peer-memory dma-buf ok
host geforce-guest
verdict peer-memory dma-buf ok
fact "without nvidia_peermem nothing warns of that" 'all(.checks[] | select(.check | startswith("peer-")); .verdict != "warning" and .verdict != "failure")'
host geforce-guest --memory rm-peermem
verdict peer-memory nvidia_peermem failure
fixes peer-memory "modprobe nvidia-peermem"
rm -rf "$SCRATCH/geforce-guest"

# ---- a client of another driver's module, a module that is not registered, GDRCopy without its device
host geforce-guest
echo 565.57.01 > "$SCRATCH/geforce-guest/sys/kernel/mm/memory_peers/nv_mem/version"
mkdir -p "$SCRATCH/geforce-guest/sys/module/gdrdrv"
echo 1 > "$SCRATCH/geforce-guest/sys/module/nvidia_peermem/parameters/peerdirect_support"
host geforce-guest
verdict peer-client nv_mem failure
fixes peer-client "modprobe -r nvidia-peermem"
verdict gdrcopy gdrdrv warning
fixes gdrcopy "mknod -m 666 /dev/gdrdrv"
verdict peer-lock nvidia_peermem warning
fixes peer-lock "peerdirect_support=0"
rm -r "$SCRATCH/geforce-guest/sys/kernel/mm/memory_peers/nv_mem"
host geforce-guest
verdict peer-client nvidia_peermem failure
rm -rf "$SCRATCH/geforce-guest"
host geforce-guest

# ---- NVIDIA GPU operator's ClusterPolicy
policy() { # JSON of spec, options
    jq -n --argjson spec "$1" '{kind: "List", items: [{kind: "ClusterPolicy", metadata: {name: "gpu-cluster-policy"}, spec: $spec}]}' > "$SCRATCH/policy.json"
    host geforce-guest --cluster-policy "$SCRATCH/policy.json" "${@:2}"
}
policy '{"driver": {"enabled": true, "kernelModuleType": "open", "rdma": {"enabled": true, "useHostMofed": true}}, "gdrcopy": {"enabled": true}}' --memory cuda-peermem
verdict cluster-policy driver.rdma.enabled ok
verdict cluster-policy driver.rdma.useHostMofed ok
verdict cluster-policy driver.kernelModuleType ok
verdict cluster-policy gdrcopy.enabled warning
policy '{"driver": {"kernelModuleType": "proprietary", "rdma": {"enabled": true}}}' --memory cuda-dmabuf
verdict cluster-policy driver.rdma.enabled warning
verdict cluster-policy driver.rdma.useHostMofed unknown
verdict cluster-policy driver.kernelModuleType failure
verdict cluster-policy gdrcopy.enabled unknown
fixes cluster-policy 'kubectl patch clusterpolicies.nvidia.com gpu-cluster-policy --type merge -p '"'"'{\"spec\":{\"driver\":{\"rdma\":{\"enabled\":false}}}}'
policy '{"driver": {"useOpenKernelModules": true, "rdma": {"enabled": false}}}' --memory rm-peermem
verdict cluster-policy driver.rdma.enabled failure
verdict cluster-policy driver.useOpenKernelModules warning
policy '5'
verdict cluster-policy spec unknown
check_exit 2 "no such policy" "$FACTS" --cluster-policy "$SCRATCH/none.json"

check_exit 0 "NCCL settings follow" "$FACTS" --root "$SCRATCH/geforce-guest" --nccl-env
for line in 'NCCL_IB_HCA==mlx5_0:1' 'NCCL_IB_GID_INDEX=3' 'NCCL_SOCKET_IFNAME==eth1' 'NCCL_NET_GDR_LEVEL=LOC' 'NCCL_IB_TC=106' 'NCCL_IB_TIMEOUT=23' 'NCCL_IB_RETRY_CNT=7'; do
    check_says "with $line" "^export $line\$" "$SCRATCH/out"
done
check "a shell runs the NCCL settings" bash -eu "$SCRATCH/out"

# ---- two sockets, ACS on
host two-socket-acs
fact "ACS as it is" '.pairs[] | select(.nic == "0000:3e:00.0") | .relation == "PIX" and .shared == "0000:3b:00.0" and all(.bridges[]; .acs.request_redirect and .acs.source_validation and .acs.upstream_forwarding and (.acs.translation_blocking | not))'
verdict gpu-nic-path 0000:af:00.0 warning
verdict gpu-nic-path 0000:3e:00.0 ok
verdict acs 0000:3c:04.0 failure
fixes acs "setpci -s 0000:3c:04.0 ECAP_ACS+0x6.w=0000"
verdict acs 0000:ae:00.0 unknown
verdict iommu machine warning
fixes iommu "iommu=pt"
verdict peer-memory nv_peer_mem failure
fixes peer-memory "modprobe -r nv_peer_mem"
verdict resizable-bar 0000:3d:00.0 ok
verdict pcie-link "nic 0000:3e:00.0" warning
verdict numa 0000:af:00.0 warning
verdict numa 0000:3e:00.0 ok
verdict bar1 0000:3d:00.0 ok
verdict pcie-link "gpu 0000:3d:00.0" ok
verdict roce-gid mlx5_0 failure
fixes roce-gid "ip address add"
verdict governor cpus warning
fixes governor "cpupower"
fact "isolated CPUs and proprietary modules" '.system.cpus_isolated == "2-15" and .versions.nvidia_open == false and .versions.mlnx_ofed == null and .versions.nvidia == "550.163.01"'
check_exit 1 "a failure makes the exit code of --check 1" "$FACTS" --root "$SCRATCH/two-socket-acs" --check
# what cannot be read is unknown, never ok or off
verdict_now() { "$FACTS" --root "$SCRATCH/$1" | jq -r --arg check "$2" --arg subject "$3" '[.checks[] | select(.check == $check and (.subject | contains($subject))) | .verdict] | join(" ")'; }
there=$SCRATCH/two-socket-acs/sys/devices/pci0000:3a/0000:3a:00.0/0000:3b:00.0
cp "$there/0000:3c:04.0/config" "$SCRATCH/config"
head -c 4096 /dev/zero | tr '\0' '\377' >"$there/0000:3c:04.0/config"
check "a bridge that does not answer (its registers read as ones) is not one without ACS" test "$(verdict_now two-socket-acs acs 0000:3c:04.0)" = unknown
head -c 300 "$SCRATCH/config" >"$there/0000:3c:04.0/config"
check "... nor one whose list of capabilities is cut" test "$(verdict_now two-socket-acs acs 0000:3c:04.0)" = unknown
cp "$SCRATCH/config" "$there/0000:3c:04.0/config"
mv "$there/0000:3c:04.0/0000:3d:00.0/resource" "$SCRATCH/resource"
check "a GPU whose BARs cannot be read is not one whose BAR1 is not resizable" test "$(verdict_now two-socket-acs resizable-bar 0000:3d:00.0)" = unknown
mv "$SCRATCH/resource" "$there/0000:3c:04.0/0000:3d:00.0/resource"
check "... which it was before" test "$(verdict_now two-socket-acs resizable-bar 0000:3d:00.0)" = ok
mv "$there/0000:3c:04.0/0000:3d:00.0/class" "$SCRATCH/class"
check "GPUs that are not found are not of the NIC's node" test "$(verdict_now two-socket-acs numa numa)" = unknown
mv "$SCRATCH/class" "$there/0000:3c:04.0/0000:3d:00.0/class"
check_says "--check prints the failure with its reason" '^failure +acs +0000:3c:08.0: ACS redirects' "$SCRATCH/out"
check_exit 0 "GPUDirect is off for the NIC of the other socket" "$FACTS" --root "$SCRATCH/two-socket-acs" --nccl-env --netdev ens2
check_says "NCCL_NET_GDR_LEVEL=LOC" '^export NCCL_NET_GDR_LEVEL=LOC$' "$SCRATCH/out"
check_exit 3 "no GID of an address: no settings" "$FACTS" --root "$SCRATCH/two-socket-acs" --nccl-env --netdev ens1

# ---- like a DGX
host dgx-like
fact "PIX to the own NIC, PXB to the neighbour's" '[.pairs[] | [.netdev, .gpu, .relation]] == [["eth0","0000:1b:00.0","PIX"],["eth0","0000:1f:00.0","PXB"],["eth1","0000:1b:00.0","PXB"],["eth1","0000:1f:00.0","PIX"]]'
fact "a resizable BAR of 128 GiB" '.gpus[0] | .bar1_bytes == 137438953472 and .resizable_bar == {supported: true, current_bytes: 137438953472, largest_bytes: 137438953472}'
verdict iommu machine ok
verdict acs 0000:17:01.0 ok
verdict acs 0000:1d:01.0 warning
verdict peer-memory nvidia_peermem ok
verdict governor cpus ok
fact "CUDA's version" '.versions.cuda == "12.8.1"'
check_exit 0 "--check exits with 0 without failures" "$FACTS" --root "$SCRATCH/dgx-like" --check
check_exit 0 "NCCL settings of two NICs" "$FACTS" --root "$SCRATCH/dgx-like" --nccl-env
for line in 'NCCL_IB_HCA==mlx5_0:1,mlx5_1:1' 'NCCL_IB_GID_INDEX=3' 'NCCL_NET_GDR_LEVEL=PIX'; do
    check_says "with $line" "^export $line\$" "$SCRATCH/out"
done
check_exit 0 "NCCL settings of one of them" "$FACTS" --root "$SCRATCH/dgx-like" --nccl-env --netdev eth1
check_says "with that one alone" '^export NCCL_IB_HCA==mlx5_1:1$' "$SCRATCH/out"
check_exit 0 "NCCL settings of those that are named" "$FACTS" --root "$SCRATCH/dgx-like" --nccl-env --nccl-nic eth1 --nccl-nic eth0
check_says "with both" '^export NCCL_IB_HCA==mlx5_0:1,mlx5_1:1$' "$SCRATCH/out"
state=$SCRATCH/dgx-like/sys/class/infiniband/mlx5_0/ports/1/state
echo "1: DOWN" >"$state"
check_exit 0 "NCCL settings of two NICs, one of which is down" "$FACTS" --root "$SCRATCH/dgx-like" --nccl-env
for line in 'export NCCL_IB_HCA==mlx5_1:1' 'export NCCL_SOCKET_IFNAME==eth1' '# the port of mlx5_0, eth0, is down: it is left out'; do
    check_says "with $line" "^$line\$" "$SCRATCH/out"
done
check_exit 0 "... and named" "$FACTS" --root "$SCRATCH/dgx-like" --nccl-env --netdev eth0
for line in 'export NCCL_IB_HCA==mlx5_0:1' '# the port of mlx5_0, eth0, is down'; do check_says "with $line" "^$line\$" "$SCRATCH/out"; done
rm "$state"
mv "$SCRATCH/dgx-like/sys/module/nvidia" "$SCRATCH/module"
check "a driver that has a GPU is loaded, though its module is not shown" test "$(verdict_now dgx-like peer-memory nvidia | grep -c failure)" = 0
mv "$SCRATCH/module" "$SCRATCH/dgx-like/sys/module/nvidia"
check_exit 2 "an interface that is not there" "$FACTS" --root "$SCRATCH/dgx-like" --nccl-env --nccl-nic eth1 --nccl-nic eth9
check_says "is named" 'no network interface eth9' "$SCRATCH/err"
check_exit 2 "--nccl-nic without --nccl-env" "$FACTS" --root "$SCRATCH/dgx-like" --nccl-nic eth1

verdict gpu-nic-path 0000:1b:00.0 ok
verdict bar1 0000:1b:00.0 ok
verdict resizable-bar 0000:1b:00.0 ok
verdict pcie-link "gpu 0000:1b:00.0" ok
verdict numa 0000:1b:00.0 ok
verdict roce-gid mlx5_0 ok

# ---- the machine below two guests: GPU and NIC on different nodes work, at a cost
host geforce-machine
verdict gpu-nic-path "0000:41:00.1 - 0000:06:00.0" warning
fact "... with what it costs" 'any(.checks[]; .check == "gpu-nic-path" and (.reason | test("25 Gb/s .* 9 % in both")))'
verdict numa "0000:41:00.1 - 0000:06:00.0" warning
verdict iommu machine ok
verdict acs 0000:40:03.1 ok
verdict peer-memory guest unknown
verdict iommu-groups 0000:41:00.1 ok
verdict iommu-groups 0000:61:00.0 warning
fact "the group's other function is named, the bridge above is not" '.nics[] | select(.netdev == "enp97s0f0np0") | .pci.iommu_group == {number: "32", others: ["0000:61:00.1"]}'
fact "interrupts of queues, asynchronous events left out" '[.nics[].interrupts] == [{count: 1, cpus: "0", local_cpus: "16-23,48-55"}, {count: 2, cpus: "30-31", local_cpus: "24-31,56-63"}]'
fact "ports of a bridge" '[.nics[].bridge] == ["br-cp", "br-cp"]'
verdict irq-affinity enp65s0f1np1 warning
verdict irq-affinity enp97s0f0np0 ok
fixes irq-affinity 'echo 16-23,48-55 > /proc/irq/${i##*/}/smp_affinity_list'
check_exit 0 "the published machine has no failure" "$FACTS" --root "$SCRATCH/geforce-machine" --check
check_says "... and counts verdicts" '^[0-9]+ ok, [0-9]+ warnings, 0 failures, [0-9]+ unknown$' "$SCRATCH/out"

# ---- no GPU
host no-gpu
verdict numa numa ok
verdict pcie-link nic ok
verdict roce-gid mlx5_0 ok
verdict governor cpus ok
for check in gpu-nic-path acs bar1 peer-memory gpu-counters resizable-bar; do verdict $check gpu unknown; done
verdict iommu machine ok
fact "DCQCN from upstream's debugfs" '.nics[0].settings.dcqcn | .rp.rpg_ai_rate == 7 and .np.cnp_dscp == 48'

# ---- who is in control: congestion control, DCBX, the switch
host connectx-6dx
verdict congestion-control eth2 ok
fact "the firmware negotiates congestion control" '.nics[0].congestion_control | .control == "negotiated" and .slots == null'
fact "its settings, those in force and those of the next boot" '.nics[0].firmware_config | .from == "mlxconfig/0000:41:00.0" and .values.ROCE_CC_LEGACY_DCQCN == {current: 0, next_boot: 0} and .values.LLDP_NB_RX_MODE_P1.current == 2 and (.values | has("MEMIC_SIZE_LIMIT") | not)'
verdict dcbx eth2 warning
fixes dcbx "mstconfig -d 0000:41:00.0 set LLDP_NB_DCBX_P1=0"
fact "what the switch says" '.nics[0].lldp | .name == "leaf-1" and .port == "Ethernet8" and .pfc == [3] and .willing == false and .ets.prio_to_tc["3"] == 1 and .apps == [{priority: 3, selector: 5, protocol: 26}]'
verdict lldp eth2 unknown
verdict counters mlx5_0 ok
firmware=$SCRATCH/connectx-6dx/mlxconfig/0000:41:00.0
control() { # WHAT SCRIPT CONTROL: after sed's script on the firmware's settings
    sed -i "$2" "$firmware"
    host connectx-6dx
    fact "$1" ".nics[0].congestion_control.control == $3"
}
control "a program of DOCA PCC may control" 's/\(USER_PROGRAMMABLE_CC\).*/\1 False(0) True(1) True(1)/' '"programmable"'
control "a value of the next boot is not in force" 's/\(USER_PROGRAMMABLE_CC\).*/\1 False(0) False(0) True(1)/' '"negotiated"'
control "firmware that is set to DCQCN alone" 's/\(ROCE_CC_LEGACY_DCQCN\).*/\1 True(1) True(1) True(1)/' '"dcqcn"'
control "older firmware shows the next boot alone" 's/Default .*/Next Boot/; s/\(ROCE_CC_LEGACY_DCQCN\).*/\1 False(0)/; s/\(USER_PROGRAMMABLE_CC\).*/\1 False(0)/' '"negotiated"'
control "a value that is none" 's/\(ROCE_CC_LEGACY_DCQCN\).*/\1 N\/A/' null
verdict congestion-control eth2 unknown
control "firmware without the setting has no other control" '/ROCE_CC_LEGACY_DCQCN/d; s/\(LLDP_NB_DCBX_P1\).*/\1 False(0)/' '"dcqcn"'
verdict dcbx eth2 ok
: >"$firmware"
host connectx-6dx
verdict congestion-control eth2 unknown
verdict dcbx eth2 unknown
fixes congestion-control "mstconfig -d 0000:41:00.0 -e query"
fact "... with what is known of the firmware" '.nics[0] | (.firmware_config.missing | test("no table")) and (.congestion_control.why | test("answers RTT requests"))'
mkdir -p "$SCRATCH/connectx-6dx/proc/net"
printf '0000: 00000002 00000000 00010000 0001 01 123 /run/lldpd.socket\n0000: 2 0 0 2 01 9 @/com/intel/lldpad\n' >"$SCRATCH/connectx-6dx/proc/net/unix"
echo 0x1015 >"$SCRATCH/connectx-6dx/sys/bus/pci/devices/0000:41:00.0/device"
rm "$firmware" "$SCRATCH/connectx-6dx/lldpctl"
host connectx-6dx
fact "a ConnectX-4 Lx has DCQCN alone" '.nics[0].congestion_control.control == "dcqcn" and .nics[0].lldp == null'
fact "agents of LLDP" '.lldp_agents == ["lldpd", "lldpad"]'
host virtual-guest
fact "a virtual ConnectX has DCQCN alone, and no firmware tool is asked" '[.nics[] | select(.virtual) | .congestion_control.control, .firmware_config] == ["dcqcn", null]'

# ---- a pod
host pod
fact "it is one of Kubernetes" '.namespaces == {container: "kubernetes", rdma: null} and .nics == []'
fact "NICs that are not its own" '.elsewhere == [{rdma: "mlx5_0", port: "1", netdev: "eth2", counters: false, pci: null}, {rdma: null, port: null, netdev: null, counters: null, pci: "0000:41:00.1"}]'
verdict counters mlx5_0 warning
verdict counters 0000:41:00.1 unknown
fixes counters "hostNetwork: true"
ln -s ../../devices/virtual/net/eth0 "$SCRATCH/pod/sys/class/net/eth2"
mkdir -p "$SCRATCH/pod/sys/bus/pci/devices/0000:41:00.1/net/eth3"
host pod
fact "interfaces that are here are not elsewhere" '.elsewhere == []'

# ---- RDMA devices behind other interfaces than the NIC's own
printed() { check_exit "$2" "$1" "$FACTS" --root "$SCRATCH/$3" "${@:4}"; } # WHAT, exit status, host, options: $SCRATCH/out
host lag
fact "a bond has the RDMA device, its function, and the ports that it is upon" '.nics[0] | .netdev == "bond0" and .kind == "bond" and .lower == ["eth0", "eth1"] and .rdma.device == "mlx5_bond_0" and .pci.address == "0000:41:00.0"'
fact "... its ports name it" '[.nics[1:][] | .netdev, .master, .rdma] == ["eth0", "bond0", null, "eth1", "bond0", null]'
verdict gpu-nic-path "0000:41:00.0 - 0000:42:00.0" ok
verdict roce-gid mlx5_bond_0 ok
for name in bond0 eth0 eth1; do verdict port $name warning; done
printed "NCCL settings of a bond" 0 lag --nccl-env
for line in 'NCCL_IB_HCA==mlx5_bond_0:1' 'NCCL_SOCKET_IFNAME==bond0' 'NCCL_NET_GDR_LEVEL=PHB'; do check_says "with $line" "^export $line\$" "$SCRATCH/out"; done
printed "one of its ports has none" 3 lag --nccl-env --netdev eth1
check_says "... and is told whose they are" 'it is a port of bond0' "$SCRATCH/err"
# without LAG each port has an RDMA device, whose GIDs have the bond's address
for i in 0 1; do
    mkdir -p "$SCRATCH/lag/sys/devices/pci0000:40/0000:40:03.1/0000:41:00.$i/infiniband"
    device=$SCRATCH/lag/sys/devices/pci0000:40/0000:40:03.1/0000:41:00.$i/infiniband/mlx5_$i
    cp -r "$SCRATCH/lag/sys/class/infiniband/mlx5_bond_0/." "$device"
    ln -sfn ../../../0000:41:00.$i "$device/device"
    ln -s "../../devices/pci0000:40/0000:40:03.1/0000:41:00.$i/infiniband/mlx5_$i" "$SCRATCH/lag/sys/class/infiniband/mlx5_$i"
done
rm -r "$SCRATCH"/lag/sys/class/infiniband/mlx5_bond_0 "$SCRATCH"/lag/sys/devices/pci0000:40/0000:40:03.1/0000:41:00.0/infiniband/mlx5_bond_0
host lag
fact "without LAG each port of a bond has its own RDMA device, and the bond none" '[.nics[] | .netdev, .rdma.device, .bonded] == ["eth0", "mlx5_0", true, "eth1", "mlx5_1", true]'
for i in 0 1; do
    verdict port eth$i warning
    verdict roce-gid mlx5_$i ok
done
fact "... which sends by that port alone" '[.checks[] | select(.check == "port" and (.reason | test("it is a port of bond0, and keeps its RDMA device mlx5_[01] \\(no RoCE LAG\\)")))] | length == 2'
host macvlan
fact "a macvlan in a pod has the function of its RDMA device" '.nics | map([.netdev, .kind, .rdma.device, .pci.address]) == [["net1", "macvlan", "mlx5_0", "0000:41:00.0"]]'
verdict port net1 warning
fact "... whose settings are those of the NIC's own interface" 'any(.checks[]; .check == "port" and (.reason | test("macvlan upon an interface of another network namespace")))'
printed "without a GPU nothing says how far one is" 0 macvlan --nccl-env
check "... and no level is set" bash -c '! grep -q "^export NCCL_NET_GDR" "$1"' - "$SCRATCH/out"

# ---- ports that are no Ethernet, that are down, that are virtual functions
host infiniband
fact "ports are known with and without an interface" '.nics | map([.netdev, .rdma.device, .rdma.transport, .pci.address, .congestion_control]) == [["ib0", "mlx5_0", "InfiniBand", "0000:41:00.0", null], [null, "mlx5_1", "InfiniBand", "0000:43:00.0", null]]'
fact "nothing of RoCE is judged" '[.checks[] | select(.check | IN("roce-gid", "congestion-control", "dcbx", "lldp"))] == []'
fact "... and it is said what they are" '[.checks[] | select(.check == "port" and (.reason | test("InfiniBand, not RoCE"))) | .verdict, .subject] == ["warning", "ib0", "warning", "mlx5_1"]'
fact "a port that no subnet manager has activated is down" 'any(.checks[]; .check == "port" and .subject == "mlx5_1" and (.reason | test("is down.*2: INIT")) and (.fix | test("opensm")))'
verdict gpu-nic-path "0000:43:00.0 - 0000:42:00.0" ok
echo '4: RNIC' >"$SCRATCH/infiniband/sys/class/infiniband/mlx5_0/node_type"
host infiniband
fact "iWARP is another thing" '.nics[0].rdma.transport == "iWARP" and any(.checks[]; .check == "port" and (.reason | test("speaks iWARP, not RoCE")))'
echo 'down' >"$SCRATCH/connectx-6dx/sys/class/net/eth2/operstate"
echo '1: DOWN' >"$SCRATCH/connectx-6dx/sys/class/infiniband/mlx5_0/ports/1/state"
echo 0x101e >"$SCRATCH/connectx-6dx/sys/bus/pci/devices/0000:41:00.0/device"
host connectx-6dx
verdict port eth2 failure
fact "... with what is read" 'any(.checks[]; .check == "port" and (.reason | test("RDMA port 1: DOWN; interface down")))'
for number in 15b3:1004 15b3:a2d3 14e4:1606 14e4:16e6 14e4:1809 14e4:181b 14e4:d800 8086:154c 8086:1889 8086:145c; do
    echo "0x${number%:*}" >"$SCRATCH/connectx-6dx/sys/bus/pci/devices/0000:41:00.0/vendor"
    echo "0x${number#*:}" >"$SCRATCH/connectx-6dx/sys/bus/pci/devices/0000:41:00.0/device"
    "$BUILD/host-facts" --root "$SCRATCH/connectx-6dx" >"$SCRATCH/vf.json"
    check "$number is a virtual function" jq -e '.nics[0].pci.virtual_function' "$SCRATCH/vf.json"
done
fact "a virtual function says whose PFC is" '.nics[0].pci.virtual_function and any(.checks[]; .check == "port" and .verdict == "warning" and (.reason | test("virtual function: PFC")))'

: >"$SCRATCH/connectx-6dx/sys/bus/pci/devices/0000:41:00.0/device"
host connectx-6dx
fact "a device's number that is not shown is not made up" '.nics[0].pci.id == null'

# ---- is the host ready?
last() { check_says "$1" "^$2\$" <(tail -n 1 "$SCRATCH/out"); } # WHAT, the last line as a pattern
printed "GPU and NIC, whose link is not shown" 0 dgx-like --check
last "... are not known to be ready" 'GPUDirect RDMA: not known whether it is ready: .*port of eth0.*'
echo '4: ACTIVE' | tee "$SCRATCH"/dgx-like/sys/class/infiniband/mlx5_{0,1}/ports/1/state >/dev/null
printed "all is seen" 0 dgx-like --check
last "... and it is ready" 'GPUDirect RDMA: ready'
echo '5: ACTIVE_DEFER' >"$SCRATCH/dgx-like/sys/class/infiniband/mlx5_0/ports/1/state"
printed "a port whose link is being recovered is active" 0 dgx-like --check
last "... and it is ready" 'GPUDirect RDMA: ready'
check_says "... its port is up" '^ok +port +[a-z0-9]+: its port is up' "$SCRATCH/out"
host dgx-like
fact "... which the document says too" '.ready == {"for": "GPUDirect RDMA", answer: "yes", why: []}'
for address in 0000:18:00.0 0000:1e:00.0; do ln -sfn ../../../../bus/pci/drivers/virtio-pci "$(readlink -f "$SCRATCH/dgx-like/sys/bus/pci/devices/$address")/driver"; done
rm -r "$SCRATCH/dgx-like/sys/class/infiniband"
printed "GPUs, and interfaces that cannot do RDMA" 1 dgx-like --check
last "... are not ready" 'GPUDirect RDMA: not ready: roce-gid of rdma: there is no RDMA device'
check_says "... a path to such an interface is not judged" '^unknown +gpu-nic-path +nic: there is no NIC that can do RDMA' "$SCRATCH/out"
printed "without a GPU" 1 no-gpu --check
last "... it is not ready for GPUDirect" 'GPUDirect RDMA: not ready: there is no NVIDIA GPU .*'
printed "... for RDMA with host memory its state decides" 0 no-gpu --check --memory host
last "... which is not shown" 'RDMA with host memory: not known whether it is ready: port of enp1s0'
check "... and checks of GPUs, which were not asked for, are left out" bash -c '! grep -E "^[a-z]+ +(gpu-nic-path|acs|bar1|peer-memory|peer-client|peer-lock|gdrcopy|gpu-counters|resizable-bar|numa) |gpu" "$1"' - "$SCRATCH/out"
printed "... also where there are some" 1 dgx-like --check --memory host
check "... nothing is said of them" bash -c '! grep -E "^[a-z]+ +(gpu-nic-path|acs|bar1|peer-memory|peer-client|peer-lock|gdrcopy|gpu-counters|resizable-bar|numa) |gpu" "$1"' - "$SCRATCH/out"

# ---- what no host looks like
host hostile
fact "an agent may be in the part of a long list that is not read" '.lldp_agents == null'
verdict acs bridges unknown
verdict bar1 0000:01:00.0 unknown
verdict iommu machine unknown
verdict pcie-link "gpu 0000:01:00.0" unknown
verdict roce-gid mlx5_0 unknown
verdict governor cpus warning
fact "is still one document with every check" '[.checks[].check] | unique | length == 20'
fact "nothing is read out of the tree" '[.gpus[].pci.address] == ["0000:00:02.0", "0000:01:00.0"]'
fact "numbers that do not fit are unknown" '.gpus[] | select(.pci.address == "0000:01:00.0") | .bar1_bytes == null and .pci.link.width_lanes == null and .pci.link.speed_MTps == null'
fact "a circle of capabilities ends" '.pairs[] | select(.nic == "0000:01:00.0" and .gpu == "0000:00:02.0") | .bridges[0].acs.present'
check "no control characters get through" bash -c "! jq -r '.. | strings' '$DOCUMENT' | grep -qP '[\\x00-\\x08\\x0b-\\x1f\\x7f]'"
for what in --check --nccl-env; do
    timeout 20 "$FACTS" --root "$SCRATCH/hostile" $what > "$SCRATCH/out" 2> "$SCRATCH/err"
    check "$what: no crash" [ $? -le 3 ]
done

# ---- this host, and wrong use
check_exit 0 "this host" "$FACTS"
check "its kernel is the running one" jq -e --arg k "$(uname -r)" '.system.kernel == $k and .host != null' "$SCRATCH/out"
check_exit 2 "no such folder" "$FACTS" --root "$SCRATCH/nowhere"
check_says "the missing folder is named" "nowhere/sys" "$SCRATCH/err"
check_exit 2 "no such interface" "$FACTS" --netdev nosuch0
check_says "the unknown interface is named" "nosuch0" "$SCRATCH/err"
check_exit 2 "an interface that is a path" "$FACTS" --netdev ../../etc
check_exit 2 "no such option" "$FACTS" --chek
check_says "the nearest is named" "--check" "$SCRATCH/err"
check_exit 2 "no such bundle" "$FACTS" --bundle "$SCRATCH/none.json"
# GDRCopy's own test, by a stand-in that prints what the real one prints
mkdir "$SCRATCH/path"
printf '%s\n' '#!/bin/sh' '[ "$*" = "-d 0" ] || exit 9' 'echo "write BW: 9638.5MB/s"' 'echo "read BW: 530.25MB/s"' > "$SCRATCH/path/gdrcopy_copybw"
chmod 755 "$SCRATCH/path/gdrcopy_copybw"
check_exit 0 "gdrcopy_copybw is measured" env PATH="$SCRATCH/path:$PATH" "$FACTS" --measure --netdev lo --gpu 0
check "... in bytes per second" jq -e '.gdrcopy.copybw == {write_bytes_per_s: 9638500000, read_bytes_per_s: 530250000}' "$SCRATCH/out"
printf '%s\n' '#!/bin/sh' 'echo "no device" >&2' 'exit 1' > "$SCRATCH/path/gdrcopy_copybw"
check_exit 0 "gdrcopy_copybw fails" env PATH="$SCRATCH/path:$PATH" "$FACTS" --measure --netdev lo --gpu 0
check "... is told with its reason" jq -e '.gdrcopy.copybw.missing | test("exited with 1: no device")' "$SCRATCH/out"
check_exit 2 "--measure without --netdev and --gpu" "$FACTS" --measure
finish
