#!/bin/bash
# Profiles as virt-provision finds them: heads, steps, and what rebuild would do for the published lab.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/../lib.sh"

PLAN=$SCRATCH/out

steps() {
    local step name
    for step in "$ROOT"/guest-setup/profiles/*/steps/*; do
        name=${step#"$ROOT/guest-setup/profiles/"}
        check "$name can be run" test -x "$step"
        check "$name states its purpose in its first comment" bash -c "sed -n 2p '$step' | grep -q '^# [A-Z\`n]'"
        check "$name has check and apply" bash -c "grep -qE '^check(\(\)|\))' '$step' && grep -qE '^apply(\(\)|\))' '$step'"
        if command -v shellcheck >/dev/null; then
            check "$name passes shellcheck" bash -c "cd '$ROOT' && shellcheck -x '$step'"
        else
            skip "$name passes shellcheck" no-command shellcheck
        fi
    done
}

planned() { check_says "planned: $1" "$2" "$PLAN"; }

published_lab() {
    local host
    check_exit 0 "rebuild --dry-run of the published lab" "$BUILD/virt-provision" rebuild --lab "$ROOT/labs/geforce-pair.json" --dry-run
    planned "nothing is done" 'nothing is changed'
    planned "image" 'image: fetch https://dl.rockylinux.org/vault/rocky/9.5/images/x86_64/Rocky-9-GenericCloud-Base-9.5-20241118.0.x86_64.qcow2'
    planned "its checksum" 'SHA-256: 069493fdc807300a22176540e9171fcff2227a92b40a7985a0c1c9e21aeebf57'
    planned "keys" 'key +rocky +21CB256AE16FC54C6E652949702D426D350D275D'
    planned "a key that is not known, as such" 'key +mellanox +not known: refused until accepted with --accept'
    planned "kernel-devel of the image's kernel" 'kernel-devel-5.14.0-503.14.1.el9_5.x86_64'
    planned "OFED" 'mlnx_ofed/24.10-4.1.4.0/rhel9.5/x86_64/'
    planned "driver packages" 'nvidia-driver-cuda-libs-3:570.133.20-1.el9.x86_64'
    planned "the driver's sources" 'commit e8113f665d936d9f30a6d508f3bacd1e148539be'
    planned "the modules as released, which the first route needs" 'patches: none'
    planned "a C++ compiler, which they are built with" '^ +gcc-c[+][+]$'
    planned "the proof" 'prove-path run --lab'
    for host in vm00 vm01; do planned "domain $host" "<name>$host</name>"; done
    check "two domains with 28 virtual CPUs" test "$(grep -c '<vcpu>28</vcpu>' "$PLAN")" = 2
    check "two NICs and four GPU functions are passed through" test "$(grep -c '<hostdev ' "$PLAN")" = 6
    for step in "$ROOT"/guest-setup/profiles/rocky-9.5-gpudirect/steps/*; do planned "step $(basename "$step")" "^ +$(basename "$step") +[A-Za-z]"; done
    check "nothing was made" test ! -e "$XDG_STATE_HOME/harness/labs/geforce-pair"
    jq '.hosts[].bundle = "rocky-9.5-570.133.20-published"' "$ROOT/labs/geforce-pair.json" >"$SCRATCH/lab.json"
    check_exit 0 "with the bundle of the published experiment" "$BUILD/virt-provision" rebuild --lab "$SCRATCH/lab.json" --dry-run
    planned "its patches" 'patches: bar1-p2p peermem-persistent'
    jq '.hosts[].bundle = "rocky-9.5-1.2.3"' "$ROOT/labs/geforce-pair.json" >"$SCRATCH/lab.json"
    check_exit 2 "a bundle that is not there" "$BUILD/virt-provision" rebuild --lab "$SCRATCH/lab.json" --dry-run
    check_says "the missing bundle is named" 'bundle "rocky-9.5-1.2.3"' "$SCRATCH/err"
    sed 's/"profile": "debian-12-softroce"/& , "bundle": "rocky-9.5-570.133.20"/' "$ROOT/labs/soft-pair.json" >"$SCRATCH/lab.json"
    check_exit 2 "a bundle for a profile that has none" "$BUILD/virt-provision" rebuild --lab "$SCRATCH/lab.json" --dry-run
    check_says "the error names the profile without a bundle" 'profile debian-12-softroce installs no bundle' "$SCRATCH/err"
}

virtual_lab() {
    check_exit 0 "rebuild --dry-run of guests with a virtual ConnectX" "$BUILD/virt-provision" rebuild --lab "$ROOT/labs/virtual-pair.json" --dry-run
    planned "another profile's image" 'image: built by guest-setup/profiles/debian-12-softroce/image/build'
    planned "the module" 'build/virtual-connectx/virtual_connectx.ko -> /usr/local/share/lab/modules'
    planned "mlx5 drivers that the user names" 'build/virtual-connectx/mlx5-modules.tar -> /usr/local/share/lab/modules'
    planned "memory for its registers" '<cmdline>.* memmap=16M[$]0x8000000</cmdline>'
    planned "its step" '20-virtual-connectx +A virtual ConnectX on each data interface'
    check "the lab says of links and NICs what a lab of real ones says" \
        test "$(jq -c '.hosts | map_values(keys)' "$ROOT/labs/virtual-pair.json")" = '{"a":["domain","gpu","memory","nic","profile","vcpus"],"b":["domain","gpu","memory","nic","profile","vcpus"]}'
}

rdma_lab() {
    jq '.name = "rdma-pair" | .hosts |= map_values(.profile = "rocky-9.5-rdma" | del(.gpu, .bundle))' "$ROOT/labs/geforce-pair.json" >"$SCRATCH/lab.json"
    check_exit 0 "the same without GPUs" "$BUILD/virt-provision" rebuild --lab "$SCRATCH/lab.json" --dry-run
    check "no driver then" bash -c "! grep -q nvidia-driver '$PLAN'"
    check "no proof of GPUs then" bash -c "! grep -q prove-path '$PLAN'"
}

steps
skip_unless "rebuild --dry-run" jq
published_lab
virtual_lab
rdma_lab
finish
