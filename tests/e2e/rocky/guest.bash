#!/bin/bash
# A stand-in for a Rocky guest: this machine's own files under an overlay that is thrown away, in mount, network and process
# namespaces of its own, with Rocky's release files, its own /sys, an empty rpm database, and stand-ins for the few
# programs that would reach the real kernel (guest-files/): uname, modprobe, dracut, grubby, nmcli, and what a boot does. dnf, rpm, gpg, patch, make, modinfo, depmod, ip are real.
# Sourced by tests, after stand-ins.bash.
GUEST=$SCRATCH/guest

guest_possible() { # else prints the reason, one of lib.sh
    [[ $(id -u) == 0 ]] || { echo no-root && return 1; }
    unshare --mount --net --pid --fork true 2>/dev/null || { echo no-namespaces && return 1; }
    grep -qw overlay /proc/filesystems || { echo no-overlayfs && return 1; }
}

# Start one; it ends with the test.
guest_start() {
    mkdir -p "$GUEST"/{store,root}
    # shellcheck disable=SC2016 # $1 is the inner shell's
    unshare --mount --net --pid --fork --kill-child bash -c '
        mount --make-rprivate / && mount -t tmpfs tmpfs "$1/store" && mkdir "$1"/store/{upper,work} &&
        mount -t overlay overlay -o lowerdir=/,upperdir="$1/store/upper",workdir="$1/store/work" "$1/root" &&
        mount -t proc proc "$1/root/proc" && mount -t tmpfs tmpfs "$1/root/sys" && mount -t tmpfs tmpfs "$1/root/tmp" &&
        mount -t tmpfs tmpfs "$1/root/run" && mount --rbind /dev "$1/root/dev" && ip link set lo up &&
        touch "$1/ready" && exec sleep infinity' guest "$GUEST" >/dev/null 2>&1 &
    at_exit kill -KILL $!
    GUEST_PID=$!
    disown # no word about its end
    for _ in $(seq 100); do
        [[ ! -e $GUEST/ready ]] || break
        sleep 0.1
    done
    GUEST_PID=$(pgrep -P "$GUEST_PID" -x sleep) || return 1
    guest_install
}

# Run a command in it.
guest() {
    nsenter --target "$GUEST_PID" --mount --net --pid chroot "$GUEST/root" /usr/bin/env -i \
        PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LAB=rehearsal LAB_HOST=a LAB_PROFILE=rocky-9.5-gpudirect \
        LAB_FILES=/usr/local/share/lab LAB_PROGRAMS="${STEP_PROGRAMS:-/usr/local/bin}" LAB_NIC_ADDRESS=10.0.0.1/24 LAB_NIC_PCI=0000:41:00.0 \
        LAB_GPU_PCI=0000:06:00.0 LAB_DATA_PORTS=0 "$@"
}
# Copy files in: FROM TO_FOLDER.
guest_put() {
    tar -C "$1" -c . | guest bash -c "mkdir -p '$2' && tar -x -C '$2'"
}
# What was run of the stand-ins.
guest_log() { guest cat /var/lib/stand-ins/log; }

# The stand-ins' files, with what the image brings: a kernel's own mlx5 and nouveau.
stand_in_files() {
    local folder=$1 module
    mkdir -p "$folder/inbox"
    cp "$ROOT"/tests/e2e/rocky/guest-files/* "$folder/"
    build_needs >"$folder/inbox/needs"
    mkdir "$folder/inbox/image" && cp "$SCRATCH"/image/*.rpm "$folder/inbox/image/"
    for module in mlx5_core nouveau ib_uverbs; do
        make_module "$folder/inbox/$module.ko" "$module" "${KERNEL%.x86_64}"
    done
}

guest_install() {
    guest rm -rf /usr/local/share/lab
    stand_in_files "$SCRATCH/guest-files"
    guest_put "$SCRATCH/guest-files" /usr/local/share/stand-ins
    guest bash /usr/local/share/stand-ins/become-rocky "$KERNEL"
    guest_boot
}
guest_boot() { guest lab-boot; }

# One step as virt-provision runs it: check; if not there, apply, with a reboot where it asks for one; check.
# Prints "there", "applied" or "applied after N reboots"; what the step says is in $SCRATCH/step.log.
run_step() {
    [[ $1 != 95-facts ]] || local STEP_PROGRAMS=/usr/local/judge
    local step=/usr/local/share/lab/steps/$1 reboots=0 code
    if guest "$step" check >"$SCRATCH/step.log" 2>&1; then echo there && return; fi
    while true; do
        guest "$step" apply >>"$SCRATCH/step.log" 2>&1
        code=$?
        [[ $code == 100 && $reboots -lt 3 ]] || break
        reboots=$((reboots + 1))
        guest_boot
        ! guest "$step" check >>"$SCRATCH/step.log" 2>&1 || break
    done
    if [[ $code != 0 && $code != 100 ]]; then echo "apply ended with $code" && return 1; fi
    guest "$step" check >>"$SCRATCH/step.log" 2>&1 || { echo "not there after apply" && return 1; }
    if [[ $reboots == 0 ]]; then echo applied; else echo "applied after $reboots reboots"; fi
}
