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
fact "the GPU, its audio function left out" '.gpus | length == 1 and (.[0] | .model == "NVIDIA GeForce RTX 3090" and .bar1_bytes == 268435456 and .pci.driver == "nvidia")'
fact "their relation" '.pairs[0] | .relation == "PHB" and .shared == "pci0000:00" and (.bridges | length == 2)'
verdict gpu-nic-path 0000:07:00.0 ok
verdict acs 0000:00:02.5 ok
verdict acs hypervisor unknown
verdict iommu guest ok
verdict bar1 0000:07:00.0 ok
verdict peer-memory nvidia_peermem ok
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
check_exit 0 "NCCL settings follow" "$FACTS" --root "$SCRATCH/geforce-guest" --nccl-env
for line in 'NCCL_IB_HCA==mlx5_0:1' 'NCCL_IB_GID_INDEX=3' 'NCCL_SOCKET_IFNAME==eth1' 'NCCL_NET_GDR_LEVEL=PHB' 'NCCL_IB_TC=106' 'NCCL_IB_TIMEOUT=23' 'NCCL_IB_RETRY_CNT=7'; do
    check_says "with $line" "^export $line\$" "$SCRATCH/out"
done
check "a shell runs the NCCL settings" bash -eu "$SCRATCH/out"

# ---- two sockets, ACS on
host two-socket-acs
fact "ACS as it is" '.pairs[] | select(.nic == "0000:3e:00.0") | .relation == "PIX" and .shared == "0000:3b:00.0" and all(.bridges[]; .acs.request_redirect and .acs.source_validation and .acs.upstream_forwarding and (.acs.translation_blocking | not))'
verdict gpu-nic-path 0000:af:00.0 failure
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
verdict numa 0000:af:00.0 failure
verdict numa 0000:3e:00.0 ok
verdict bar1 0000:3d:00.0 ok
verdict pcie-link "gpu 0000:3d:00.0" ok
verdict roce-gid mlx5_0 failure
fixes roce-gid "ip address add"
verdict governor cpus warning
fixes governor "cpupower"
fact "isolated CPUs and proprietary modules" '.system.cpus_isolated == "2-15" and .versions.nvidia_open == false and .versions.mlnx_ofed == null and .versions.nvidia == "550.163.01"'
check_exit 1 "a failure makes the exit code of --check 1" "$FACTS" --root "$SCRATCH/two-socket-acs" --check
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

verdict gpu-nic-path 0000:1b:00.0 ok
verdict bar1 0000:1b:00.0 ok
verdict resizable-bar 0000:1b:00.0 ok
verdict pcie-link "gpu 0000:1b:00.0" ok
verdict numa 0000:1b:00.0 ok
verdict roce-gid mlx5_0 ok

# ---- no GPU
host no-gpu
verdict numa numa ok
verdict pcie-link nic ok
verdict roce-gid mlx5_0 ok
verdict governor cpus ok
for check in gpu-nic-path acs bar1 peer-memory gpu-counters resizable-bar; do verdict $check gpu unknown; done
verdict iommu machine ok
fact "DCQCN from upstream's debugfs" '.nics[0].settings.dcqcn | .rp.rpg_ai_rate == 7 and .np.cnp_dscp == 48'

# ---- what no host looks like
host hostile
verdict acs 0000:00:01.0 failure
verdict bar1 0000:01:00.0 unknown
verdict iommu machine unknown
verdict pcie-link "gpu 0000:01:00.0" unknown
verdict roce-gid mlx5_0 failure
verdict governor cpus warning
fact "is still one document with every check" '[.checks[].check] | unique | length == 12'
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
check_exit 2 "--measure without --netdev and --gpu" "$FACTS" --measure
finish
