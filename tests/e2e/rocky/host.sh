#!/bin/bash
# The machine under the guests: guest-setup/host/prepare and what it installs, on a tree laid out like the published lab's host
# (machine.bash).
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/e2e/rocky/machine.bash
source "$(dirname "$0")/machine.bash"
skip_unless "the machine under the guests" jq

PREPARE=$ROOT/guest-setup/host/prepare
LAB=$ROOT/labs/geforce-pair.json
export HARNESS_ROOT=$SCRATCH/machine HARNESS_PROGRAMS=$BUILD

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

applying() {
    machine_stand_ins "$SCRATCH/bin" "$SCRATCH/asked"
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

# deps/install-packages rocky-lab on a machine that has none of its packages: with package programs $2... that only note what they are asked.
asks_for() {
    local system=$1 bin=$SCRATCH/$1 program
    shift
    mkdir "$bin"
    for program in bash cat awk sort tr grep id env; do ln -s "$(command -v "$program")" "$bin/"; done
    for program in "$@"; do
        # shellcheck disable=SC2016
        printf '#!/bin/bash\necho "%s $*" >>"%s"\n[[ %s != rpm && %s != dpkg-query ]]\n' "$program" "$SCRATCH/$system.asked" "$program" "$program" >"$bin/$program"
        chmod +x "$bin/$program"
    done
    PATH=$bin check_exit 0 "packages of a machine for Rocky guests, on $system" "$ROOT/deps/install-packages" rocky-lab
}
packages() {
    local package
    asks_for debian sudo apt-get dpkg-query
    for package in libvirt-daemon-system libvirt-clients qemu-system-x86 qemu-utils xorriso guestfish coccinelle; do
        check_says "  $package" "^deps: installing .*$package( |\$)" "$SCRATCH/out"
    done
    asks_for rocky sudo dnf rpm
    for package in libvirt libvirt-client qemu-kvm qemu-img xorriso /usr/bin/virt-copy-out; do
        check_says "  $package" "^deps: installing .*$package( |\$)" "$SCRATCH/out"
    done
}

# What a lab from elsewhere may try with a script that runs as root: COMMANDS in values, lines in the file that is read at boot.
# shellcheck disable=SC2016 # the attack is written as it is
attack() { # WHAT PATTERN JQ_FILTER
    jq --arg run 'bad[$(>ran)]' "$3" "$LAB" >"$SCRATCH/attack.json"
    check_exit 2 "$1 is refused" "$PREPARE" apply --host --lab "$SCRATCH/attack.json"
    check_says "... with a sentence" "$2" "$SCRATCH/err"
}
# shellcheck disable=SC2016 # the attack is written as it is; $run is jq's
hostile_labs() {
    machine
    : >"$SCRATCH/asked"
    cd "$SCRATCH" || exit 1
    attack "a memory with a command" 'hosts.a.memory: ".*" is not a size' '.hosts.a.memory = $run'
    attack "a list of nodes with a command" 'hosts.a.pin.memory: ".*" is not a list of CPUs' '.hosts.a.pin.memory = $run'
    attack "a list of CPUs with a command" 'hosts.a.pin.vcpus: ".*" is not a list of CPUs' '.hosts.a.pin.vcpus = $run'
    attack "a number of functions with a command" 'hosts.a.gpu.functions: ' '.hosts.a.gpu.functions = $run'
    attack "a device with a command" 'hosts.a.nic.pci: ".*" is not a PCI address' '.hosts.a.nic.pci = $run'
    attack "a host with a command as its name" 'hosts: ".*" is not a range of names' '.hosts[$run] = .hosts.a'
    attack "a name with a line for the file that is read at boot" 'name: "x\\ndevices=.*" is not a valid name' '.name = "x\ndevices=0000:40:01.1"'
    check "no command of a lab was run" test ! -e ran
    check "nothing was asked of the machine" test ! -s "$SCRATCH/asked"
    check "what is read at boot is as before" diff "$HARNESS_ROOT/etc/harness/host.conf" "$SCRATCH/host.conf"
}

checks
applying
packages
bad_input
hostile_labs
finish
