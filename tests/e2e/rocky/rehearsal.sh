#!/bin/bash
# The whole Rocky profile, its steps unmodified, with real dnf, rpm, gpg, patch and make against stand-in packages: in
# namespaces over this machine's files (tests/e2e/rocky/guest.bash), not on Rocky, and with no NVIDIA or Mellanox software.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/../lib.sh"
skip_unless "rehearsal of the Rocky profile" dnf rpmbuild rpmsign rpmkeys createrepo_c gpg git jq gcc modinfo depmod patch unshare nsenter spatch
# shellcheck source=tests/e2e/rocky/stand-ins.bash
source "$ROOT/tests/e2e/rocky/stand-ins.bash"
# shellcheck source=tests/e2e/rocky/guest.bash
source "$ROOT/tests/e2e/rocky/guest.bash"
why=$(guest_possible) || { skip "rehearsal of the Rocky profile" "$why" && finish; }

STEPS=$ROOT/guest-setup/profiles/rocky-9.5-gpudirect/steps
export HARNESS_PACKAGES=$SCRATCH/cache
unset HARNESS_MIRROR

# Serve a bundle: FILTER is a jq filter over the project's.
serve() {
    local folder
    make_bundle | jq "$1" >"$SCRATCH/bundle.json"
    folder=$("$ROOT/guest-setup/host/packages" --bundle "$SCRATCH/bundle.json" --mirror "file://$MIRROR" --installed "$SCRATCH/image/rpm" \
        --accept "mellanox=$(fingerprint "$SCRATCH/mellanox.asc")" 2>"$SCRATCH/packages.log") || { cat "$SCRATCH/packages.log" && return 1; }
    guest rm -rf /usr/local/share/lab/packages
    guest_put "$folder" /usr/local/share/lab/packages
}

# Our own programs' sources, by the profile's list; the objects of this build are copied next to them, and make only links.
put_programs() {
    local from to
    while read -r from to; do
        [[ $to == /usr/local/src/harness* ]] || continue
        if [[ -d $ROOT/$from ]]; then guest_put "$ROOT/$from" "$to"; else guest bash -c "mkdir -p '$to' && cat >'$to/$from'" <"$ROOT/$from"; fi
    done < <(jq -r '.put[] | "\(.from) \(.to)"' "$ROOT/guest-setup/profiles/rocky-9.5-gpudirect/profile.json")
    if [[ -d $BUILD/o ]]; then guest_put "$BUILD/o" /usr/local/src/harness/build/o; fi
}

# host-facts would judge the machine under these namespaces: its answer is a stand-in's, which says what /run/verdict holds.
put_host_facts() {
    guest bash -c 'echo "ok bundle nvidia: 570.133.20, as the bundle says" >/run/verdict'
    guest bash -c 'mkdir -p /usr/local/judge && cat >/usr/local/judge/host-facts && chmod 755 /usr/local/judge/host-facts' <<'END'
#!/bin/bash
[[ $1 == --check && $2 == --bundle && -f $3 ]] || exit 2
cat /run/verdict
! grep -q ^failure /run/verdict
END
}

put_project() {
    mkdir -p "$SCRATCH/steps"
    cp -L "$STEPS"/* "$SCRATCH/steps/"
    guest_put "$SCRATCH/steps" /usr/local/share/lab/steps
    guest_put "$ROOT/guest-setup/rocky" /usr/local/share/lab/rocky
    put_programs
}

# step NAME EXPECTED: run it as virt-provision would.
step() {
    local result
    result=$(run_step "$1")
    if [[ $result == "$2" ]]; then ok "$1: $2"; else nok "$1: $2" "$result: $(cat "$SCRATCH/step.log")"; fi
}
says() { check_says "  $1" "$2" "$SCRATCH/step.log"; }
# fails NAME WHAT PATTERN: apply must fail and say so.
fails() {
    [[ $1 != 95-facts ]] || local STEP_PROGRAMS=/usr/local/judge
    if guest "/usr/local/share/lab/steps/$1" apply >"$SCRATCH/step.log" 2>&1; then nok "$1: $2"; else ok "$1: $2"; fi
    says "and says so" "$3"
}
# not_there NAME WHAT: the step's check fails, and does not say that all is well.
not_there() {
    [[ $1 != 95-facts ]] || local STEP_PROGRAMS=/usr/local/judge
    if guest "/usr/local/share/lab/steps/$1" check >"$SCRATCH/step.log" 2>&1; then nok "$1 notices: $2" "$(cat "$SCRATCH/step.log")"; else ok "$1 notices: $2"; fi
}

# Everything in the guest that a step may change: contents, not times.
state() {
    guest bash -c "cd / && { find etc/{yum.repos.d,modprobe.d,modules-load.d,NetworkManager} usr/local/{bin,src,share/lab} usr/src/{kernels,ofa_kernel} \
        var/lib/lab lib/modules/$KERNEL/extra sys -type f -print0 | sort -z | xargs -0 sha256sum; rpm -qa | sort; } 2>/dev/null | sha256sum"
}

first_time() {
    local name before
    for name in "$STEPS"/*; do
        before=$(state)
        not_there "$(basename "$name")" "nothing is done yet"
        [[ $before == "$(state)" ]] || nok "$(basename "$name") check changed something"
    done
    step 10-system applied
    step 20-repositories applied
    step 30-build-tools applied
    guest rpm -q glibc glibc-langpack-en openssl openssl-libs >"$SCRATCH/out" 2>&1
    check "an older package of the image was updated with all its parts" test "$(grep -c '2.34-125.el9_5.8' "$SCRATCH/out")" = 2
    check "a newer one went back to the release's, with all its parts" test "$(grep -c '3.2.2-6.el9_5.x86_64' "$SCRATCH/out")" = 2
    step 40-nouveau "applied after 1 reboots"
    step 50-ofed "applied after 1 reboots"
    says "which OFED" 'MLNX_OFED 24.10-4.1.4.0, mlx5_core 24.10-4.1.4'
    step 60-driver-libraries applied
    step 70-driver-modules applied
    says "where the modules are" "extra/nvidia.ko, patches: bar1-p2p peermem-persistent"
    step 80-load applied
    says "that the peer memory client is there" 'nvidia 570.133.20 loaded, peer memory client: 570.133.20'
    step 85-nic applied
    step 90-programs applied
    says "by their version" 'nic-sampler 0'
    put_host_facts
    step 95-facts there
    says "how many checks" '1 checks ok, 0 warnings, 0 unknown'
}

# shellcheck disable=SC2016 # $basearch is dnf's, $1 the inner shell's
results() {
    guest rpm -q nvidia-driver-cuda mlnx-ofed-basic kernel-devel >"$SCRATCH/out" 2>&1
    check_says "the exact driver is installed, not the newer one" '^nvidia-driver-cuda-570.133.20-1.el9' "$SCRATCH/out"
    guest rpm -qa --queryformat '%{NAME} %{SIGPGP:pgpsig} %{RSAHEADER:pgpsig}\n' 2>/dev/null | grep -v gpg-pubkey >"$SCRATCH/signatures"
    check "every installed package is signed" bash -c "[ -s '$SCRATCH/signatures' ] && ! grep '(none) (none)' '$SCRATCH/signatures'"
    check "the driver was built with the patch" guest grep -q nvidia_p2p_get_pages_persistent /usr/local/src/nvidia-modules-570.133.20/kernel-open/nvidia-peermem/nvidia-peermem.c
    check "Rocky's own repositories stay at 9.5" guest grep -qx 'baseurl=https://dl.rockylinux.org/vault/rocky/9.5/BaseOS/$basearch/os/' /etc/yum.repos.d/rocky.repo
    check "signatures are checked" bash -c "[ \$(grep -c '^gpgcheck=1' <<<\"\$1\") = 3 ]" - "$(guest cat /etc/yum.repos.d/lab.repo)"
    check "no option that this driver ignores" bash -c '! grep -q UnsupportedGpus <<<"$1"' - "$(guest cat /etc/modprobe.d/lab-nvidia.conf)"
    check "peerdirect_support as for this OFED" guest grep -qx 'options nvidia-peermem peerdirect_support=0' /etc/modprobe.d/lab-nvidia.conf
    check "the initial RAM disk was made again for nouveau" bash -c 'grep -q "^dracut --force" <<<"$1"' - "$(guest_log)"
}

second_time() {
    local name before
    before=$(state)
    for name in "$STEPS"/*; do step "$(basename "$name")" there; done
    for name in "$STEPS"/[1-8]*; do
        guest "/usr/local/share/lab/steps/$(basename "$name")" apply >"$SCRATCH/step.log" 2>&1 || nok "$(basename "$name"): apply once more" "$(cat "$SCRATCH/step.log")"
    done
    # the modules are built again when told to, from the same sources: their stamps stay
    check "a second run of everything changes nothing" test "$before" = "$(state)"
    guest_boot
    for name in "$STEPS"/*; do step "$(basename "$name")" there; done
}

# The kernel numbers devices as it finds them: another boot may give the NIC another name.
renamed() {
    guest bash -c 'echo eth1 >/var/lib/stand-ins/nic'
    guest ip address flush dev ens1
    guest_boot
    step 85-nic there
    says "under its new name" 'eth1 has 10.0.0.1/24, MTU 4200'
    guest rm /var/lib/stand-ins/nic
    guest ip address flush dev eth1
    guest_boot
    step 85-nic there
}

uninstall() { guest rpm -e --nodeps "$1" 2>/dev/null; }

drift() {
    guest bash -c 'echo drift >>/usr/local/share/lab/packages/bundle; echo x >>/usr/local/share/lab/packages/SHA256SUMS'
    not_there 10-system "what is served changed"
    serve '.patches = ["bar1-p2p", "peermem-persistent"]'
    guest sed -i 's/^#mirrorlist/mirrorlist/' /etc/yum.repos.d/rocky.repo
    not_there 20-repositories "repositories that follow the newest release"
    step 20-repositories applied
    uninstall gcc
    not_there 30-build-tools "a package is gone"
    step 30-build-tools applied
    guest rm /etc/modprobe.d/lab-nouveau.conf
    not_there 40-nouveau "nouveau may load again"
    step 40-nouveau applied
    guest bash -c "echo search updates built-in extra >/etc/depmod.d/dist.conf && depmod $KERNEL"
    not_there 50-ofed "the kernel's own mlx5_core is found before OFED's"
    fails 50-ofed "which installing OFED again would not fix" "mlx5_core is .*kernel/mlx5_core.ko"
    guest bash -c "echo search updates extra built-in weak-updates >/etc/depmod.d/dist.conf && depmod $KERNEL"
    step 50-ofed there
    uninstall nvidia-persistenced
    not_there 60-driver-libraries "a driver package is gone"
    step 60-driver-libraries applied
    guest bash -c 'echo "0x2 another_symbol ib_core EXPORT_SYMBOL" >>/usr/src/ofa_kernel/default/Module.symvers'
    not_there 70-driver-modules "OFED was installed again after the driver"
    step 70-driver-modules applied
    guest rm /etc/modules-load.d/lab-nvidia.conf
    not_there 80-load "modules are not loaded at boot"
    step 80-load applied
    guest ip address flush dev ens1
    not_there 85-nic "the address is gone"
    step 85-nic applied
    guest rm /usr/local/bin/host-facts
    not_there 90-programs "a program is gone"
    step 90-programs applied
}

# A module on disk that is newer than the loaded one: only a reboot makes it right.
module_replaced() {
    make_module "$SCRATCH/new/nvidia.ko" nvidia 570.133.20
    guest_put "$SCRATCH/new" "/lib/modules/$KERNEL/extra"
    not_there 80-load "the loaded module is not the one on disk"
    step 80-load "applied after 1 reboots"
}

faults() {
    local served=/usr/local/share/lab/packages rpm=nvidia-driver-cuda-libs-570.133.20-1.el9.x86_64.rpm
    guest bash -c 'printf X >>/usr/local/share/lab/packages/modules.tar; rm /var/lib/lab/served-checked'
    fails 10-system "a file that was damaged on its way" 'is damaged: the next rebuild copies it again'
    check "so that the next rebuild does" guest test ! -e /usr/local/share/lab/packages/SHA256SUMS
    guest bash -c "echo 5.14.0-503.40.1.el9_5.x86_64 >/var/lib/stand-ins/kernel"
    fails 30-build-tools "a kernel without its kernel-devel" 'kernel 5.14.0-503.40.1.el9_5.x86_64 is running, but the bundle has no kernel-devel for it'
    serve '.patches = ["bar1-p2p", "peermem-persistent"]'
    step 10-system "applied after 1 reboots"
    says "which kernel it goes back to" "changing the boot kernel from 5.14.0-503.40.1.* back to $KERNEL"
    guest bash -c "echo 5.14.0-503.40.1.el9_5.x86_64 >/var/lib/stand-ins/kernel; rm /boot/vmlinuz-$KERNEL"
    fails 10-system "a guest that has not the bundle's kernel" 'rebuild it from the bundle'
    guest bash -c "echo $KERNEL >/var/lib/stand-ins/kernel; touch /boot/vmlinuz-$KERNEL"
    guest sed -i 's/^VERSION_ID=.*/VERSION_ID="9.6"/' /etc/os-release
    fails 10-system "another release of the system" 'this system is rocky 9.6, but the bundle .* is for rocky 9.5'
    guest sed -i 's/^VERSION_ID=.*/VERSION_ID="9.5"/' /etc/os-release

    uninstall nvidia-driver-cuda-libs
    guest mv "$served/driver/$rpm" /tmp/kept.rpm
    fails 60-driver-libraries "a package that was not served" "$rpm is missing"
    guest bash -c "cp /tmp/kept.rpm $served/driver/$rpm && printf XXXX | dd of=$served/driver/$rpm bs=1 seek=\$((\$(stat -c %s $served/driver/$rpm) - 20)) conv=notrunc status=none"
    fails 60-driver-libraries "a package that is not as it was signed" 'not signed by NVIDIA.s key, or is damaged'
    guest mv /tmp/kept.rpm "$served/driver/$rpm"
    step 60-driver-libraries applied

    guest mv /usr/src/ofa_kernel/default/Module.symvers /tmp/symvers
    fails 70-driver-modules "the driver before OFED" 'MLNX_OFED must be installed first'
    guest bash -c 'grep -v ib_register_peer /tmp/symvers >/usr/src/ofa_kernel/default/Module.symvers; true'
    fails 70-driver-modules "an OFED without peer memory" 'exports ib_register_peer_memory_client'
    guest mv /tmp/symvers /usr/src/ofa_kernel/default/Module.symvers
    step 70-driver-modules there

    guest mv /usr/bin/g++ /tmp/
    fails 70-driver-modules "a guest without a C++ compiler" 'g[+][+]: (No such file|not found|command not found)'
    guest mv /tmp/g++ /usr/bin/
    step 70-driver-modules there

    make_module "$SCRATCH/old/nv_peer_mem.ko" nv_peer_mem 1.3
    guest_put "$SCRATCH/old" "/lib/modules/$KERNEL/extra/old" && guest depmod "$KERNEL"
    guest rm /etc/modprobe.d/lab-nvidia.conf
    fails 80-load "nv_peer_mem is installed" "deprecated predecessor.*|systemctl disable --now nv_peer_mem"
    guest bash -c "rm -r /lib/modules/$KERNEL/extra/old && depmod $KERNEL"
    step 80-load applied
    guest rm -r /sys/class/infiniband/mlx5_0
    fails 85-nic "no NIC" 'this guest has no mlx5 NIC'
    guest_boot
    guest bash -c 'echo "failure port eth1: its port is down" >>/run/verdict'
    step 95-facts there # the guest at the other end may not be up
    guest bash -c 'echo "failure acs bridge 0000:00:01.0: redirects requests" >>/run/verdict'
    not_there 95-facts "a check of host-facts fails"
    fails 95-facts "a failure that a step cannot fix" 'host-facts finds failures: acs bridge 0000:00:01.0: redirects requests'
    guest sed -i /failure/d /run/verdict
    step 95-facts there
    check_exit 1 "a step that is asked for something else" guest /usr/local/share/lab/steps/10-system remove
}

# A step cut off in its middle is done again from its beginning.
cut_off() {
    guest bash -c 'rm /var/lib/lab/driver-modules'
    guest bash -c 'cd /usr/local/src && mv nvidia-modules-570.133.20/version.mk /tmp/ && rm -rf nvidia-modules-570.133.20/kernel-open'
    not_there 70-driver-modules "a build that was cut off"
    step 70-driver-modules applied
    guest rm -rf /usr/local/src/harness/build /var/lib/lab/programs
    step 90-programs applied
}

rdma_profile() {
    local name
    for name in "$ROOT"/guest-setup/profiles/rocky-9.5-rdma/steps/*; do
        check "rocky-9.5-rdma: $(basename "$name") is the same step" cmp "$name" "$STEPS/$(basename "$name")"
    done
}

make_mirror || nok "stand-in repositories"
guest_start || nok "a stand-in guest"
serve '.patches = ["bar1-p2p", "peermem-persistent"]' || nok "packages are served"
put_project
first_time
results
second_time
renamed
drift
module_replaced
faults
cut_off
rdma_profile
finish
