#!/bin/bash
# The Rocky profile's steps, unmodified, by virt-provision in a real guest with real reboots: a Debian 12 guest of the soft lab with dnf and rpm, made
# to look like Rocky 9.5, against the stand-in packages of tests/e2e/rocky/rehearsal.sh. HARNESS_ROCKY_GUEST=faults has things go wrong on the way,
# which takes two minutes more without KVM.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/e2e/guests/softlab.bash
source "$(dirname "$0")/softlab.bash"
what="the Rocky profile in a real guest"
faults=${HARNESS_ROCKY_GUEST:-}
skip_unless "$what" dnf rpmbuild rpmsign createrepo_c gpg git jq gcc mmdebstrap spatch
unset SUDO_USER

# A tree of its own: the Debian image with dnf and rpm in it, a step that makes it look like Rocky, then the profile's own steps.
make_tree() {
    local profile=$TREE/guest-setup/profiles/debian-as-rocky from=$ROOT/guest-setup/profiles
    mkdir -p "$TREE/build" "$profile/files" "$TREE/guest-setup/profiles" "$TREE/programs"
    cp "$BUILD/virt-provision" "$TREE/build/"
    cp -r "$ROOT"/guest-setup/{build-image,scratch.bash,rocky,host,bundles} "$TREE/guest-setup/"
    cp -r "$ROOT/patches" "$TREE/"
    cp -r "$from/debian-12-softroce/image" "$profile/"
    sed -i 's/^packages=linux-image-amd64/&,dnf,rpm,gnupg,make,patch,python3/' "$profile/image/build"
    cp -rL "$from/rocky-9.5-gpudirect/steps" "$profile/"
    stand_in_files "$profile/files"
    cat >"$profile/steps/01-become-rocky" <<END
#!/bin/bash
# A Debian guest that looks like Rocky 9.5 to the steps that follow.
case \$1 in
check) grep -q 'VERSION_ID="9.5"' /etc/os-release && [ -d /sys/module/mlx5_core ] && echo "stand-ins are there" ;;
apply)
    bash "\$LAB_FILES/files/become-rocky" $KERNEL
    mkdir -p /etc/lab/boot.d && ln -sf /usr/local/sbin/lab-boot /etc/lab/boot.d/90-boot
    lab-boot
    ;;
esac
END
    chmod +x "$profile/steps/01-become-rocky"
    [[ $faults != faults ]] || make_faults "$profile/steps"
    # four programs whose "build" is a copy; host-facts finds nothing wrong
    printf 'build/%%: program\n\tmkdir -p build && cp program $@ && chmod 755 $@\n' >"$TREE/programs/Makefile"
    # shellcheck disable=SC2016 # $0 is the program's
    printf '#!/bin/sh\necho "ok nothing $(basename $0) 0.1.0"\n' >"$TREE/programs/program"
    jq '.name = "debian-as-rocky" | .programs = [] | .step = "15min" | .ready = "10min" | .bundle = {name: "rehearsal"} | .put = [{from: "guest-setup/rocky", to: "/usr/local/share/lab/rocky"},
        {from: "programs", to: "/usr/local/src/harness"}]' "$from/debian-12-softroce/profile.json" >"$profile/profile.json"
    jq '.name = "rehearsal" | .management.subnet = "198.51.100.192/26" | .links = [] | .hosts = {a: (.hosts.a + {domain: "rehearsal-a", profile: "debian-as-rocky",
        memory: "768MiB", nic: {address: "10.0.0.1/24"}})}' "$ROOT/labs/soft-pair.json" >"$TREE/lab.json"
}

# A file that is damaged on its way; an update of the kernel, and a reboot into it, behind the bundle's back.
make_faults() {
    cat >"$1/02-damage" <<'END'
#!/bin/sh
case $1 in
check) [ -e /var/lib/stand-ins/damaged ] ;;
apply) printf X >>"$LAB_FILES/packages/modules.tar" && touch /var/lib/stand-ins/damaged ;;
esac
END
    cat >"$1/25-another-kernel" <<'END'
#!/bin/sh
case $1 in
check) [ -e /var/lib/stand-ins/updated ] ;;
apply) echo 5.14.0-503.40.1.el9_5.x86_64 >/var/lib/stand-ins/kernel && touch /var/lib/stand-ins/updated ;;
esac
END
    chmod +x "$1"/{02-damage,25-another-kernel}
}

# Outside of the soft lab, where there is a network: image, packages.
if [[ -z ${SOFT_LAB:-} ]]; then
    why=$("$ROOT/guest-setup/soft-lab" --check)
    [[ -z $why ]] || { skip "$what" no-soft-lab && finish; }
    rm -rf "$SCRATCH"
    TREE=$(mktemp -d "${TMPDIR:-/tmp}/harness-rocky.XXXXXX")
    at_exit rm -rf "$TREE" # not when the script goes on in the soft lab: there it is removed at its end
    SCRATCH=$TREE/scratch
    mkdir "$SCRATCH"
    # shellcheck source=tests/e2e/rocky/stand-ins.bash
    source "$ROOT/tests/e2e/rocky/stand-ins.bash"
    # shellcheck source=tests/e2e/rocky/guest.bash
    source "$ROOT/tests/e2e/rocky/guest.bash"
    make_mirror
    make_tree
    make_bundle | jq '.name = "rehearsal" | .patches = ["bar1-p2p", "peermem-persistent"] | del(.image)' >"$TREE/guest-setup/bundles/rehearsal.json"
    HARNESS_PACKAGES=$TREE/cache "$TREE/guest-setup/host/packages" --bundle rehearsal --mirror "file://$MIRROR" --installed "$SCRATCH/image/rpm" \
        --accept "mellanox=$(fingerprint "$SCRATCH/mellanox.asc")" >/dev/null || nok "packages are served"
    "$TREE/guest-setup/build-image" debian-as-rocky >/dev/null || nok "the image is built"
    unset GNUPGHOME
    rm -rf "$SCRATCH"
    [[ $TAP_FAILED == 0 ]] || finish
    export HARNESS_ROCKY_TREE=$TREE
fi
softlab_require "$0" "$@"

TREE=$HARNESS_ROCKY_TREE
at_exit rm -rf "$TREE"
export HARNESS_PACKAGES=$TREE/cache HARNESS_MIRROR=file:///nowhere
LOG=$XDG_STATE_HOME/harness/labs/rehearsal/hosts/a/log
KERNEL=$(jq -r .kernel "$TREE/guest-setup/bundles/rehearsal.json")
RPM=/usr/local/share/lab/packages/driver/nvidia-driver-cuda-libs-570.133.20-1.el9.x86_64.rpm
vp() { "$TREE/build/virt-provision" --lab "$TREE/lab.json" "$@"; }
guest() { vp --quiet ssh a -- sh -c "$1"; }
at_exit vp --quiet destroy

# rebuilds EXIT WHAT: what every rebuild says is in $SCRATCH/said.
rebuilds() {
    check_exit "$1" "$2" vp rebuild
    cat "$SCRATCH/err" >>"$SCRATCH/said"
}

# cut_power PATTERN: a few seconds after the host's log says PATTERN, from here on.
cut_power() {
    local from tries
    from=$(wc -l <"$LOG")
    for ((tries = 0; tries < 3000; tries++)); do
        if tail -n "+$((from + 1))" "$LOG" | grep -qE "$1"; then break; fi
        sleep 0.1
    done
    sleep 5
    virsh -q destroy rehearsal-a
}

# Failures on the way are reported, and the next rebuild continues from there.
go_wrong() {
    rebuilds 3 "a file that was damaged on its way ends the rebuild"
    check_says "in step 10, which says so" 'step 10-system failed on host a .*is damaged: the next rebuild copies it again' "$SCRATCH/err"
    rebuilds 3 "the next rebuild serves it again, and ends at a kernel without its kernel-devel"
    check_says "after step 20" '20-repositories: done' "$SCRATCH/err"
    check_says "in step 30, which says so" 'step 30-build-tools failed .*kernel 5.14.0-503.40.1.el9_5.x86_64 is running, but the bundle has no kernel-devel for it' "$SCRATCH/err"
    guest "echo $KERNEL >/var/lib/stand-ins/kernel; rm $RPM"
    cut_power '30-build-tools apply' &
    rebuilds 3 "the power fails while packages are being installed, and later one is missing"
    wait $!
    check_says "the first was in step 30" '30-build-tools apply: connection lost .*connecting and running it again' "$SCRATCH/err"
    check_says "which was then done" '30-build-tools: done' "$SCRATCH/err"
    check_says "and step 60 says what is missing" "step 60-driver-libraries failed .*${RPM##*/} is missing: the next rebuild copies it again" "$SCRATCH/err"
}

[[ ! -e $TREE/guest-setup/profiles/debian-as-rocky/steps/02-damage ]] || go_wrong
rebuilds 0 "rebuild: to the last step"
for step in "$ROOT"/guest-setup/profiles/rocky-9.5-gpudirect/steps/*; do
    check_says "$(basename "$step")" "$(basename "$step"): (done|was done already) in .*: [^ ]" "$SCRATCH/said"
done
for step in 40-nouveau 50-ofed; do check_says "$step had a real reboot" "$step requests a reboot" "$SCRATCH/said"; done
check "the guest was booted for each of them" test "$(grep -cE ' (rebooting|switching off and on)$' "$LOG")" = 2
check "the driver's packages are installed" guest 'rpm -q nvidia-driver-cuda-570.133.20 mlnx-ofed-basic >/dev/null'
check "no package is there twice" test -z "$(guest 'rpm -qa --queryformat "%{NAME}.%{ARCH}\n" | grep -v ^gpg-pubkey | sort | uniq -d')"
guest 'rm /etc/modprobe.d/lab-nouveau.conf'
check_exit 1 "status --check: a step whose check fails now" vp status --check
check_says "is shown" '40-nouveau +DRIFTED' "$SCRATCH/out"
check "and every other step holds" test "$(grep -cE '^ +[0-9]+-[a-z-]+ +(DRIFTED|to do)' "$SCRATCH/out")" = 1
finish
