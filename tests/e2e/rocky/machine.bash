# shellcheck shell=bash
# The published lab's machine laid out as a tree, for guest-setup/host/prepare (HARNESS_ROOT names the tree): EPYC 7551P, four NUMA nodes,
# NICs 41:00 and 61:00, GPUs 06:00 and 21:00 with two functions each.
#   machine                 as `prepare apply --host` and a reboot leave it
#   machine_bare            as it was installed: no kernel arguments, no huge pages, devices with their own drivers
#   machine_bridge          the same with every device at the machine's own drivers, also the NICs' second ports
#   machine_reboots         what a reboot changes after `apply`: kernel arguments and huge pages as they were set
#   device ADDRESS CLASS DRIVER GROUP
#   machine_stand_ins FOLDER FILE    programs that apply runs, in FOLDER and first in PATH; they note in FILE what they were asked
PUBLISHED="iommu=pt isolcpus=2-29,34-61 nohz_full=2-29,34-61 rcu_nocbs=2-29,34-61 default_hugepagesz=1G hugepagesz=1G hugepages=64"

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

machine_bare() {
    machine
    echo "BOOT_IMAGE=/vmlinuz root=/dev/sda1 ro" >"$HARNESS_ROOT/proc/cmdline"
    echo schedutil | tee "$HARNESS_ROOT"/sys/devices/system/cpu/cpu{0..63}/cpufreq/scaling_governor >/dev/null
    echo 0 | tee "$HARNESS_ROOT"/sys/devices/system/node/node{0..3}/hugepages/hugepages-1048576kB/nr_hugepages >/dev/null
    device 0000:41:00.0 0x020000 mlx5_core 10
    device 0000:61:00.0 0x020000 mlx5_core 11
    device 0000:06:00.0 0x030000 nouveau 12
    device 0000:06:00.1 0x040300 snd_hda_intel 12
    device 0000:21:00.0 0x030000 nouveau 13
    device 0000:21:00.1 0x040300 snd_hda_intel 13
    rm -r "$HARNESS_ROOT/etc/harness" "$HARNESS_ROOT/etc/systemd"
}

machine_bridge() {
    local device
    machine
    for device in 0000:41:00.0,10 0000:41:00.1,14 0000:61:00.0,11 0000:61:00.1,15; do device "${device%,*}" 0x020000 mlx5_core "${device#*,}"; done
    for device in 0000:06:00,12 0000:21:00,13; do
        device "${device%,*}.0" 0x030000 nouveau "${device#*,}"
        device "${device%,*}.1" 0x040300 snd_hda_intel "${device#*,}"
    done
}

# The kernel gives each node its part of the pages; the unit gives the devices to vfio-pci.
machine_reboots() {
    local address
    echo "BOOT_IMAGE=/vmlinuz root=/dev/sda1 ro $PUBLISHED" >"$HARNESS_ROOT/proc/cmdline"
    echo 16 | tee "$HARNESS_ROOT"/sys/devices/system/node/node{0..3}/hugepages/hugepages-1048576kB/nr_hugepages >/dev/null
    while read -r address; do
        ln -sfn "$HARNESS_ROOT/sys/bus/pci/drivers/vfio-pci" "$HARNESS_ROOT/sys/bus/pci/devices/$address/driver"
    done < <(sed -n 's/^devices=//p' "$HARNESS_ROOT/etc/harness/host.conf" | tr ' ' '\n')
    touch "$HARNESS_ROOT/sys/bus/pci/drivers/vfio-pci/unbind" "$HARNESS_ROOT/sys/bus/pci/drivers_probe"
}

machine_stand_ins() {
    local name
    mkdir -p "$1"
    for name in systemctl update-grub grubby modprobe; do
        # shellcheck disable=SC2016
        printf '#!/bin/sh\necho "%s $*" >>"%s"\n' "$name" "$2" >"$1/$name"
        chmod +x "$1/$name"
    done
    PATH=$1:$PATH
}
