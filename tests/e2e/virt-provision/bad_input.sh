#!/bin/bash
# virt-provision with invalid input: the error names the object, the reason and the remedy; nothing is changed.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/../lib.sh"

# a separate tree with wrong profiles; the program finds it in its own folder
TREE=$SCRATCH/tree
mkdir -p "$TREE/build" "$TREE/guest-setup/profiles" "$SCRATCH/images"
cp "$BUILD/virt-provision" "$TREE/build/"
cp -r "$ROOT/guest-setup/profiles/debian-12-softroce" "$TREE/guest-setup/profiles/"
cp "$ROOT"/guest-setup/{build-image,scratch.bash} "$TREE/guest-setup/"
export HARNESS_IMAGES=$SCRATCH/images
LAB=$SCRATCH/lab.json

lab() { # JQ_FILTER: the soft pair, changed
    jq "$1" "$ROOT/labs/soft-pair.json" > "$LAB"
}

profile() { # NAME JQ_FILTER: the soft profile, changed
    rm -rf "$TREE/guest-setup/profiles/$1"
    cp -r "$ROOT/guest-setup/profiles/debian-12-softroce" "$TREE/guest-setup/profiles/$1"
    jq ".name = \"$1\" | $2" "$ROOT/guest-setup/profiles/debian-12-softroce/profile.json" > "$TREE/guest-setup/profiles/$1/profile.json"
}

PROGRAM=("$TREE/build/virt-provision")
says() { # EXIT WHAT PATTERN COMMAND...
    local code=$1 what=$2 pattern=$3
    shift 3
    check_exit "$code" "$what: exit status $code" "${PROGRAM[@]}" --lab "$LAB" "$@"
    check_says "$what: the error is printed" "$pattern" "$SCRATCH/err"
}

lab .
says 2 "an unknown command" 'unknown command "rebuidl"; did you mean "rebuild"\?' rebuidl
says 2 "an unknown option" 'unknown option --form' rebuild --form x
says 2 "an unknown host" 'lab soft-pair has no guest "c": its guests are a, b' rebuild c
says 3 "no daemon" 'libvirt at qemu\+unix:///system\?socket=/nowhere/s does not answer .*guest-setup/soft-lab' \
    status --lab <(jq '.uri = "qemu+unix:///system?socket=/nowhere/s"' "$ROOT/labs/soft-pair.json")
mkdir "$SCRATCH/broken" && : > "$SCRATCH/broken/libvirt.so.0"
LD_LIBRARY_PATH=$SCRATCH/broken says 3 "libvirt's library that does not load" 'libvirt cannot be loaded \(.*libvirt.so.0: file too short\): install libvirt0 \(Debian\) or libvirt-libs \(Rocky\)' status
LD_LIBRARY_PATH=$SCRATCH/broken check "... is not needed where no guest is reached" "${PROGRAM[@]}" xml a --lab "$LAB"
lab '.uri = "qemv:///system"'
says 2 "a wrong URI" '"qemv:///system" is not a URI of libvirt.s QEMU driver that a lab may have: expected one such as qemu:///system' status
lab '.driver = "ssh" | .hosts = {a: {ssh: "x"}, b: {ssh: "y"}} | del(.uri, .management)'
says 2 "a lab without guests" 'has the driver "ssh": virt-provision builds guests only for labs with the driver "libvirt"' rebuild
lab 'del(.hosts.a.profile)'
says 2 "a host without profile" 'hosts.a: profile is missing: a guest needs domain and profile' rebuild
lab '.hosts.b.domain = .hosts.a.domain'
says 2 "one domain for two hosts" 'hosts.b.domain: soft-pair-a is already the domain of host a' rebuild
lab '.hosts.a.profile = "debian-13"'
says 2 "an unknown profile" 'there is no profile "debian-13"' xml a
lab '.hosts.a.profile = "../x"'
says 2 "a profile that is a path" 'hosts.a.profile: "../x" is not a valid name' xml a
lab '.name = "../../etc"'
says 2 "a lab name that is a path" 'name: "../../etc" is not a valid name' rebuild

# ---- devices
lab '.hosts.a.nic.pci = "0000:ee:1f.7"'
says 3 "a device that is absent" 'host a: this machine has no PCI device 0000:ee:1f.7: lspci lists its devices' devices check a
lab '.hosts.a.nic.pci = "41:00"'
says 2 "an address that is none" 'hosts.a.nic.pci: "41:00" is not a PCI address: expected one such as 0000:41:00.0' devices check a


if unshare --mount true 2> /dev/null; then
    # the published machine's devices, as its sysfs would show them
    SYSFS=$SCRATCH/sys
    pci_function() { # ADDRESS CLASS GROUP DRIVER
        local at=$SYSFS/bus/pci/devices/$1
        mkdir -p "$at" "$SYSFS/kernel/iommu_groups/$3/devices/$1" "$SYSFS/bus/pci/drivers/$4"
        echo "$2" > "$at/class"
        ln -sfn "../../../../kernel/iommu_groups/$3" "$at/iommu_group"
        ln -sfn "../../../../bus/pci/drivers/$4" "$at/driver"
    }
    pci_function 0000:41:00.0 0x020000 30 mlx5_core
    pci_function 0000:06:00.0 0x030000 13 nouveau
    pci_function 0000:06:00.1 0x040300 13 snd_hda_intel
    mkdir -p "$SYSFS/bus/pci/devices/0000:41:00.0/net/enp65s0f0np0"
    echo down > "$SYSFS/bus/pci/devices/0000:41:00.0/net/enp65s0f0np0/operstate"
    jq . "$ROOT/labs/geforce-pair.json" > "$LAB"
    cp -r "$ROOT"/guest-setup/{profiles,bundles,rocky} "$TREE/guest-setup/"
    # shellcheck disable=SC2016 # the inner shell expands it
    PROGRAM=(unshare --mount sh -c 'mount --bind "$0" /sys && exec "$@"' "$SYSFS" "${PROGRAM[@]}")
    check_exit 0 "devices that are free" "${PROGRAM[@]}" --lab "$LAB" devices check a
    check_says "the functions that can be passed through are counted: the port and both functions of the GPU" 'a: 3 functions can be passed through' "$SCRATCH/err"
    echo up > "$SYSFS/bus/pci/devices/0000:41:00.0/net/enp65s0f0np0/operstate"
    says 3 "a port that the machine uses" '0000:41:00.0 is used by the machine itself, its interface enp65s0f0np0 is up: take the interface down' devices check a
    echo down > "$SYSFS/bus/pci/devices/0000:41:00.0/net/enp65s0f0np0/operstate"
    pci_function 0000:06:00.2 0x0c0330 13 xhci_hcd
    says 3 "a GPU with fewer functions in the lab than it has" 'hosts.a.gpu.functions: 2, but the machine has 3 at 0000:06:00.0' devices check a
    pci_function 0000:05:00.0 0x010802 30 nvme
    rm -r "$SYSFS/bus/pci/devices/0000:06:00.2" "$SYSFS/kernel/iommu_groups/13/devices/0000:06:00.2"
    says 3 "a port in a group with something that the machine uses" '0000:41:00.0 shares IOMMU group 30 with 0000:05:00.0, which the machine uses \(driver nvme\)' devices check a
    PROGRAM=("$TREE/build/virt-provision")
else
    skip "devices as another machine shows them" no-namespaces
fi

# ---- a guest whose NIC is passed through, and that does not answer: what nic-config changed at the NIC stays there, and its journal is on the disk
# shellcheck disable=SC2317 # called through says and check_exit
whose_nic() { XDG_STATE_HOME=$SCRATCH/state "$TREE/build/virt-provision" "$@"; }
profile quick '.ready = "1s"'
lab '.uri = "test:///default" | .hosts.a.domain = "test" | .hosts.a.profile = "quick" | .hosts.a.nic.pci = "0000:ee:1f.7"'
mkdir -p "$SCRATCH/state/harness/labs/soft-pair/hosts/a"
record=$SCRATCH/state/harness/labs/soft-pair/hosts/a/record.json
echo '{"schema": 1, "complete": true, "type": "kvm", "image": "x"}' > "$record"
PROGRAM=(whose_nic)
why='because the firmware of its NIC may keep settings of an earlier run, whose journal goes with the disk .--discard-settings does it all the same.: host a did not answer ssh'
says 3 "a guest that was built is not rebuilt then" "host a is not rebuilt, $why" rebuild --adopt a
says 3 "... nor destroyed" "host a is not destroyed, $why" destroy --adopt a
check "... its record stays" test -s "$record"
says 3 "--discard-settings goes on, up to what libvirt's test driver cannot do" "undefining domain test: unsupported flags" destroy --adopt --discard-settings a
PROGRAM=("$TREE/build/virt-provision")

# ---- profiles
lab '.hosts.a.profile = "bad"'
profile bad '.boott = "disk"'
says 2 "an unknown key of a profile" 'profile.json: document: unknown key "boott"; did you mean "boot"\?' xml a
profile bad '.image = {url: "https://example.org/x.qcow2"}'
says 2 "an image without checksum" 'image.sha256 is missing: it is required for an image that is fetched' xml a
profile bad .
chmod -x "$TREE/guest-setup/profiles/bad/steps/10-programs"
says 2 "a step that cannot be run" 'steps/10-programs is not executable: chmod \+x it' xml a

# ---- images
head -c 100000 /dev/urandom > "$SCRATCH/disk.qcow2"
sum=$(sha256sum "$SCRATCH/disk.qcow2" | cut -d' ' -f1)
wrong=$(printf '%064d' 0)
profile fetched ".boot = \"disk\" | .image = {url: \"file://$SCRATCH/disk.qcow2\", sha256: \"$wrong\"}"
if command -v curl > /dev/null; then
    says 2 "a wrong checksum" "the checksum \(SHA-256\) of the image is $sum: expected $wrong; it was removed" image fetch fetched
    check "an image that fails its check is not kept" test -z "$(find "$SCRATCH/images" -name 'fetched*')"
    profile fetched ".boot = \"disk\" | .image = {url: \"file://$SCRATCH/disk.qcow2\", sha256: \"$sum\"}"
    if skip_reason sanitized "$BUILD/virt-provision" >/dev/null; then
        skip "an image is on the disk before it has its name" sanitized "$BUILD/virt-provision"
    elif ! compile_preload "$SCRATCH/order.so" "$ROOT/tests/e2e/sweeps/sync_order.c"; then
        skip "an image is on the disk before it has its name" no-compiler
    else
        SYNC_LOG=$SCRATCH/order LD_PRELOAD=$SCRATCH/order.so "$TREE/build/virt-provision" image fetch fetched > "$SCRATCH/out"
        place=$(cat "$SCRATCH/out")
        check "an image is on the disk before it has its name" test "$(tail -n 3 "$SCRATCH/order" | paste -sd,)" = "sync $place.part,rename $place,sync $(dirname "$place")"
        rm -f "$place"
    fi
    check_exit 0 "an image with the right checksum is kept" "$TREE/build/virt-provision" image fetch fetched
    check "the kept image is the fetched file" cmp "$SCRATCH/disk.qcow2" "$(cat "$SCRATCH/out")"
    place=$(cat "$SCRATCH/out")
    head -c 40000 "$SCRATCH/disk.qcow2" > "$place"
    check_exit 0 "an image that has lost bytes in the cache is fetched again" "$TREE/build/virt-provision" image fetch fetched
    check_says "... which is said" "$place is not whole and is fetched again: it has 40000 bytes of 100000" "$SCRATCH/err"
    check "... and is whole" cmp "$SCRATCH/disk.qcow2" "$place"
    check_exit 0 "a whole one is used" "$TREE/build/virt-provision" image fetch fetched
    check "... without a word" test ! -s "$SCRATCH/err"
    xz -k "$SCRATCH/disk.qcow2"
    sum=$(sha256sum "$SCRATCH/disk.qcow2.xz" | cut -d' ' -f1)
    profile packed ".boot = \"disk\" | .image = {url: \"file://$SCRATCH/disk.qcow2.xz\", sha256: \"$sum\"}"
    check_exit 0 "a packed image is unpacked" "$TREE/build/virt-provision" image fetch packed
    check "the unpacked image is complete" cmp "$SCRATCH/disk.qcow2" "$(cat "$SCRATCH/out")"
    profile fetched ".boot = \"disk\" | .image = {url: \"file://$SCRATCH/absent\", sha256: \"$wrong\"}"
    says 2 "an image that is not there" "fetching file://$SCRATCH/absent: " image fetch fetched
    if command -v python3 > /dev/null; then
        "$ROOT/tests/e2e/rocky/cutting-server" "$SCRATCH" disk.qcow2 "$SCRATCH/requests" > "$SCRATCH/port" &
        at_exit kill $!
        until [ -s "$SCRATCH/port" ]; do sleep 0.1; done
        sum=$(sha256sum "$SCRATCH/disk.qcow2" | cut -d' ' -f1)
        profile cut ".boot = \"disk\" | .image = {url: \"https://$(basename "$SCRATCH").example.org/disk.qcow2\", sha256: \"$sum\"}"
        ln -s . "$SCRATCH/$(basename "$SCRATCH").example.org"
        HARNESS_MIRROR=http://127.0.0.1:$(cat "$SCRATCH/port")/
        export HARNESS_MIRROR
        says 2 "an image that is cut off on its way" "fetching $HARNESS_MIRROR.*/disk.qcow2: .*; the next call continues the download" image fetch cut
        check_exit 0 "a download that was cut is continued" "$TREE/build/virt-provision" image fetch cut
        check "the continued download is complete" cmp "$SCRATCH/disk.qcow2" "$(cat "$SCRATCH/out")"
        check_says "the download continues where it was cut" '^206 .*/disk.qcow2' "$SCRATCH/requests"
        rm "$(cat "$SCRATCH/out")"
        cp "$SCRATCH/disk.qcow2" "$(cat "$SCRATCH/out").part"
        : > "$SCRATCH/requests"
        check_exit 0 "an image that was fetched completely before its program was killed" "$TREE/build/virt-provision" image fetch cut
        check "a complete image is not fetched again" test ! -s "$SCRATCH/requests"
        rm "$(cat "$SCRATCH/out")"
        head -c 200000 /dev/urandom > "$(cat "$SCRATCH/out").part"
        check_exit 0 "a partial file that is longer than the image is fetched again" "$TREE/build/virt-provision" image fetch cut
        check "the image that was fetched again is correct" cmp "$SCRATCH/disk.qcow2" "$(cat "$SCRATCH/out")"
        rm "$(cat "$SCRATCH/out")"
        head -c 50000 /dev/urandom > "$(cat "$SCRATCH/out").part"
        says 2 "a partial file with wrong content" 'the checksum \(SHA-256\) of the image is .*it was removed' image fetch cut
        check_exit 0 "a partial file with wrong content is removed, and the image fetched again" "$TREE/build/virt-provision" image fetch cut
        unset HARNESS_MIRROR
    else
        skip "an image that is cut off on its way" no-command python3
    fi
else
    skip "fetching images" no-command curl
fi
says 2 "fetching what is built" 'the image of profile debian-12-softroce is built' image fetch debian-12-softroce
check_exit 0 "images are listed" "$TREE/build/virt-provision" image list

finish
