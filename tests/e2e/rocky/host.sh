#!/bin/bash
# The machine under the guests: guest-setup/host/prepare and what it installs, on a tree laid out like the published lab's host
# (EPYC 7551P, four NUMA nodes, NICs 41:00 and 61:00, GPUs 06:00 and 21:00 with two functions each).
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/../lib.sh"
skip_unless "the machine under the guests" jq

PREPARE=$ROOT/guest-setup/host/prepare
LAB=$ROOT/labs/geforce-pair.json
PUBLISHED="iommu=pt isolcpus=2-29,34-61 nohz_full=2-29,34-61 rcu_nocbs=2-29,34-61 default_hugepagesz=1G hugepagesz=1G hugepages=64"
export HARNESS_ROOT=$SCRATCH/machine

# A device: address, class, driver, IOMMU group.
device() {
    local folder=$HARNESS_ROOT/sys/bus/pci/devices/$1 group=$HARNESS_ROOT/sys/kernel/iommu_groups/$4
    mkdir -p "$folder" "$group/devices" "$HARNESS_ROOT/sys/bus/pci/drivers/$3"
    echo "$2" >"$folder/class"
    echo >"$folder/driver_override"
    ln -sfn "$HARNESS_ROOT/sys/bus/pci/drivers/$3" "$folder/driver"
    ln -sfn "$group" "$folder/iommu_group"
    ln -sfn "$folder" "$group/devices/$1"
}
machine() {
    local node
    rm -rf "$HARNESS_ROOT"
    mkdir -p "$HARNESS_ROOT/proc" "$HARNESS_ROOT/sys/bus/pci"
    echo "BOOT_IMAGE=/vmlinuz root=/dev/sda1 ro $PUBLISHED" >"$HARNESS_ROOT/proc/cmdline"
    mkdir -p "$HARNESS_ROOT"/sys/devices/system/cpu/cpu{0..63}/cpufreq
    echo performance | tee "$HARNESS_ROOT"/sys/devices/system/cpu/cpu{0..63}/cpufreq/scaling_governor >/dev/null
    for node in 0 1 2 3; do
        mkdir -p "$HARNESS_ROOT/sys/devices/system/node/node$node/hugepages/hugepages-1048576kB"
        echo 16 >"$HARNESS_ROOT/sys/devices/system/node/node$node/hugepages/hugepages-1048576kB/nr_hugepages"
    done
    device 0000:40:01.1 0x060400 pcieport 10
    device 0000:41:00.0 0x020000 vfio-pci 10
    device 0000:61:00.0 0x020000 vfio-pci 11
    device 0000:06:00.0 0x030000 vfio-pci 12
    device 0000:06:00.1 0x040300 vfio-pci 12
    device 0000:21:00.0 0x030000 vfio-pci 13
    device 0000:21:00.1 0x040300 vfio-pci 13
    printf '# for lab geforce-pair\ncpus=2-29,34-61\ndevices=0000:41:00.0 0000:61:00.0 0000:06:00.0 0000:06:00.1 0000:21:00.0 0000:21:00.1\n' >"$SCRATCH/host.conf"
    mkdir -p "$HARNESS_ROOT/etc/harness" "$HARNESS_ROOT/etc/systemd/system"
    cp "$SCRATCH/host.conf" "$HARNESS_ROOT/etc/harness/host.conf"
    touch "$HARNESS_ROOT/etc/systemd/system/harness-host.service"
}
# problem WHAT PATTERN FIX: the check fails and says what and how to fix it.
problem() {
    check_exit 1 "$1" "$PREPARE" check --lab "$LAB"
    check_says "  said" "PROBLEM.*$2" "$SCRATCH/out"
    check_says "  with the command that fixes it" "$3" "$SCRATCH/out"
    machine
}

checks() {
    machine
    check_exit 0 "the published machine is as it should be" "$PREPARE" check --lab "$LAB"
    check_says "its kernel arguments are the published ones" "ok +kernel arguments: $PUBLISHED" "$SCRATCH/out"
    check "a bridge in a group does no harm" bash -c "! grep -q PROBLEM '$SCRATCH/out'"
    sed -i 's/ isolcpus=[^ ]*//; s/hugepages=64/hugepages=32/' "$HARNESS_ROOT/proc/cmdline"
    problem "kernel arguments" 'missing: isolcpus=2-29,34-61 hugepages=64' '(grubby|GRUB_CMDLINE_LINUX).*isolcpus=2-29,34-61 hugepages=64'
    echo 4 >"$HARNESS_ROOT/sys/devices/system/node/node3/hugepages/hugepages-1048576kB/nr_hugepages"
    problem "pages on one node" 'node 3: 4 pages of 1 GiB, 16 are needed' 'echo 16 > /sys/devices/system/node/node3'
    echo schedutil >"$HARNESS_ROOT/sys/devices/system/cpu/cpu17/cpufreq/scaling_governor"
    problem "governor" 'not performance on CPUs 17' 'echo performance'
    device 0000:41:00.1 0x020000 mlx5_core 10
    problem "a stranger in the NIC's IOMMU group" '0000:41:00.0: shares its IOMMU group with 0000:41:00.1' 'ACS'
    device 0000:06:00.0 0x030000 nouveau 12
    problem "a device in use" '0000:06:00.0: is used by nouveau' 'devices bind'
    rm -r "$HARNESS_ROOT/sys/bus/pci/devices/0000:61:00.0"
    problem "a device that is not there" '0000:61:00.0: is not in this machine' 'lspci'
    rm -r "$HARNESS_ROOT/sys/kernel/iommu_groups"
    problem "no IOMMU" 'the IOMMU is off' 'BIOS'
    rm "$HARNESS_ROOT/etc/harness/host.conf"
    problem "nothing at boot" 'devices and governor are not set after a reboot' 'apply --host'
}

# Programs that apply would run, in front of the real ones: they note what they were asked.
stand_ins() {
    local name
    mkdir -p "$SCRATCH/bin"
    for name in systemctl update-grub grubby modprobe; do
        # shellcheck disable=SC2016
        printf '#!/bin/sh\necho "%s $*" >>"%s"\n' "$name" "$SCRATCH/asked" >"$SCRATCH/bin/$name"
        chmod +x "$SCRATCH/bin/$name"
    done
    PATH=$SCRATCH/bin:$PATH
}

applying() {
    stand_ins
    machine
    check_exit 2 "apply without --host is refused" "$PREPARE" apply --lab "$LAB"
    check "and asks nothing of the machine" test ! -e "$SCRATCH/asked"
    rm -r "$HARNESS_ROOT/etc/harness" "$HARNESS_ROOT/etc/systemd"
    echo powersave >"$HARNESS_ROOT/sys/devices/system/cpu/cpu2/cpufreq/scaling_governor"
    sed -i 's/ iommu=pt//' "$HARNESS_ROOT/proc/cmdline"
    check_exit 1 "apply --host: what needs a reboot is still a problem" "$PREPARE" apply --host --lab "$LAB"
    check_says "the kernel argument" 'PROBLEM  kernel arguments missing: iommu=pt$' "$SCRATCH/out"
    check_says "which was set" '^grubby --update-kernel=ALL --args=iommu=pt$' "$SCRATCH/asked"
    check_says "the unit is enabled" '^systemctl enable harness-host.service$' "$SCRATCH/asked"
    check "governor is performance now" grep -qx performance "$HARNESS_ROOT/sys/devices/system/cpu/cpu2/cpufreq/scaling_governor"
    check "the unit runs what was installed" grep -qx 'ExecStart=/usr/local/libexec/harness-host' "$HARNESS_ROOT/etc/systemd/system/harness-host.service"
    check "which is there" test -x "$HARNESS_ROOT/usr/local/libexec/harness-host"
    check "for these CPUs and devices" diff "$HARNESS_ROOT/etc/harness/host.conf" "$SCRATCH/host.conf"
    echo "$PUBLISHED" >"$HARNESS_ROOT/proc/cmdline"
    : >"$SCRATCH/asked"
    check_exit 0 "after a reboot all is well" "$PREPARE" apply --host --lab "$LAB"
    check "and no argument is set twice" bash -c "! grep -q grubby '$SCRATCH/asked'"

    # at boot: another driver took a device
    device 0000:06:00.0 0x030000 nouveau 12
    mkfifo "$HARNESS_ROOT/sys/bus/pci/drivers/nouveau/unbind"
    (timeout 5 cat "$HARNESS_ROOT/sys/bus/pci/drivers/nouveau/unbind" >"$SCRATCH/unbound") &
    check_exit 0 "at boot: devices are kept for guests" timeout 10 "$HARNESS_ROOT/usr/local/libexec/harness-host"
    wait $!
    check "taken from the driver that has it" grep -qx 0000:06:00.0 "$SCRATCH/unbound"
    check "for vfio-pci" grep -qx vfio-pci "$HARNESS_ROOT/sys/bus/pci/devices/0000:06:00.0/driver_override"
    check "and probed again" grep -qx 0000:06:00.0 "$HARNESS_ROOT/sys/bus/pci/drivers_probe"
    check "others are left alone" bash -c "! grep -q vfio '$HARNESS_ROOT/sys/bus/pci/devices/0000:40:01.1/driver_override'"
    device 0000:06:00.0 0x030000 vfio-pci 12
    rm -r "$HARNESS_ROOT/sys/bus/pci/devices/0000:21:00.1"
    check_exit 1 "at boot: a missing device is an error" timeout 10 "$HARNESS_ROOT/usr/local/libexec/harness-host"
    check_says "by its address" '0000:21:00.1 is not in this machine' "$SCRATCH/err"
}

bad_input() {
    check_exit 2 "no command" "$PREPARE"
    check_exit 2 "no lab" "$PREPARE" check
    check_exit 2 "a lab without guests" "$PREPARE" check --lab "$ROOT/labs/sim-geforce-pair.json"
    check_exit 2 "an unknown option" "$PREPARE" check --lab "$LAB" --fast
}

checks
applying
bad_input
finish
