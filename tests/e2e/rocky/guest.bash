#!/bin/bash
# A stand-in for a Rocky guest: this machine's own files under an overlay that is thrown away, in mount, network and process
# namespaces of its own, with Rocky's release files, its own /sys, an empty rpm database, and stand-ins for the few
# programs that would reach the real kernel: uname, modprobe, rmmod, dracut, grubby, nmcli. dnf, rpm, gpg, patch, make, modinfo, depmod, ip are real.
# Sourced by tests, after stand-ins.bash.
GUEST=$SCRATCH/guest

guest_possible() {
    [[ $(id -u) == 0 ]] || { echo "not root" && return 1; }
    unshare --mount --net --pid --fork true 2>/dev/null || { echo "no namespaces here" && return 1; }
    grep -qw overlay /proc/filesystems || { echo "the kernel has no overlayfs" && return 1; }
}

# Start one; it ends with the test.
guest_start() {
    mkdir -p "$GUEST"/{store,root}
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
guest_log() { guest cat /run/stand-ins.log; }

guest_program() { guest bash -c "cat >/usr/local/sbin/$1 && chmod 755 /usr/local/sbin/$1"; }

guest_install() {
    guest bash -c 'rm -rf /var/lib/rpm /etc/yum.repos.d /usr/src/kernels /usr/src/ofa_kernel /usr/local/share/lab /var/lib/lab
        rpm --initdb && mkdir -p /etc/yum.repos.d /etc/NetworkManager/system-connections && rm -f /etc/modprobe.d/* /etc/modules-load.d/*'
    guest bash -c 'cat >/etc/os-release' <<'END'
NAME="Rocky Linux"
VERSION="9.5 (Blue Onyx)"
ID="rocky"
ID_LIKE="rhel centos fedora"
VERSION_ID="9.5"
PLATFORM_ID="platform:el9"
END
    # the form that Rocky's own repository files have
    guest bash -c 'cat >/etc/yum.repos.d/rocky.repo' <<'END'
[baseos]
name=Rocky Linux $releasever - BaseOS
mirrorlist=https://mirrors.rockylinux.org/mirrorlist?arch=$basearch&repo=BaseOS-$releasever$rltype
#baseurl=http://dl.rockylinux.org/$contentdir/$releasever/BaseOS/$basearch/os/
gpgcheck=1
enabled=1
END
    guest_stand_ins
    # what the image brings: a kernel with its own mlx5 and nouveau, and a network device of the NIC
    local module
    for module in mlx5_core nouveau ib_uverbs; do
        make_module "$SCRATCH/inbox/$module.ko" "$module" "${KERNEL%.x86_64}"
    done
    guest_put "$SCRATCH/inbox" "/lib/modules/$KERNEL/kernel"
    guest bash -c "mkdir -p /boot && touch /boot/vmlinuz-$KERNEL /lib/modules/$KERNEL/modules.{order,builtin,builtin.modinfo} && depmod $KERNEL; echo $KERNEL >/run/kernel"
    guest bash -c 'ip link add ens1 type veth peer name wire && ip link set ens1 up && ip link set wire up'
    guest_boot
}

guest_stand_ins() {
    guest_program uname <<'END'
#!/bin/bash
[[ $1 != -r ]] || exec cat /run/kernel
exec /usr/bin/uname "$@"
END
    # the new module's place in /sys/module, as a kernel would make it
    guest_program modprobe <<'END'
#!/bin/bash
kernel=$(cat /run/kernel)
echo "modprobe $*" >>/run/stand-ins.log
load() {
    local name=${1//-/_} file dependency
    [[ ! -d /sys/module/$name ]] || return 0
    file=$(modinfo -k "$kernel" -F filename "$1" 2>/dev/null) || { echo "modprobe: FATAL: Module $1 not found" >&2 && return 1; }
    for dependency in $(modinfo -F depends "$file" | tr , ' '); do load "$dependency" || return 1; done
    mkdir -p "/sys/module/$name"
    modinfo -F srcversion "$file" >"/sys/module/$name/srcversion"
    modinfo -F version "$file" >"/sys/module/$name/version"
    if [[ $name == nvidia_peermem ]]; then
        mkdir -p /sys/kernel/mm/memory_peers/nv_mem && modinfo -F version "$file" >/sys/kernel/mm/memory_peers/nv_mem/version
    fi
}
load "$1"
END
    guest_program dracut <<'END'
#!/bin/bash
echo "dracut $*" >>/run/stand-ins.log
END
    guest_program grubby <<'END'
#!/bin/bash
echo "grubby $*" >>/run/stand-ins.log
[[ $1 != --set-default ]] || echo "${2#/boot/vmlinuz-}" >/run/next-kernel
END
    guest_program nmcli <<'END'
#!/bin/bash
echo "nmcli $*" >>/run/stand-ins.log
[[ "$1 $2" == "connection up" ]] || exit 0
file=/etc/NetworkManager/system-connections/$3.nmconnection
device=$(sed -n 's/^interface-name=//p' "$file")
ip address replace "$(sed -n 's/^address1=//p' "$file")" dev "$device"
sed -n 's/^mtu=//p' "$file" >"/sys/class/net/$device/mtu"
END
}

# What a boot does to what steps look at: modules are loaded afresh - the NIC's, nouveau where it is not off, those to load at boot.
guest_boot() {
    guest bash -c '
        [[ ! -s /run/next-kernel ]] || mv /run/next-kernel /run/kernel
        rm -rf /sys/*
        mkdir -p /sys/module /sys/class/infiniband/mlx5_0/device/net/ens1 /sys/class/net/ens1
        echo 1500 >/sys/class/net/ens1/mtu
        modprobe mlx5_core
        grep -qrs "^blacklist nouveau" /etc/modprobe.d || modprobe nouveau
        cat /etc/modules-load.d/*.conf 2>/dev/null | while read -r module; do modprobe "$module"; done
        for file in /etc/NetworkManager/system-connections/*; do [[ ! -e $file ]] || nmcli connection up "$(basename "$file" .nmconnection)"; done'
}

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
