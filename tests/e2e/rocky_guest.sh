#!/bin/bash
# The Rocky profile's steps, unmodified, by virt-provision in a real guest with real reboots: a Debian 12 guest of the soft lab with dnf and rpm, made
# to look like Rocky 9.5, against the stand-in packages of rocky_rehearsal.sh. Takes some ten minutes where there is no KVM, so it is run on request.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"
# shellcheck source=tests/e2e/softlab.sh
source "$(dirname "$0")/softlab.sh"
what="the Rocky profile in a real guest"
[[ ${HARNESS_ROCKY_GUEST:-} == 1 ]] || { skip "$what" "ten minutes without KVM: HARNESS_ROCKY_GUEST=1 runs it" && finish; }
for tool in dnf rpmbuild rpmsign createrepo_c gpg git jq gcc mmdebstrap spatch; do
    command -v "$tool" >/dev/null || { skip "$what" "$tool is missing (deps/install-packages check soft-lab)" && finish; }
done

# A tree of its own: the Debian image with dnf and rpm in it, a step that makes it look like Rocky, then the profile's own steps.
make_tree() {
    local profile=$TREE/guest-setup/profiles/debian-as-rocky from=$ROOT/guest-setup/profiles
    mkdir -p "$TREE/build" "$profile/files" "$TREE/guest-setup/profiles" "$TREE/programs"
    cp "$BUILD/virt-provision" "$TREE/build/"
    cp -r "$ROOT"/guest-setup/{build-image,rocky,host,bundles} "$TREE/guest-setup/"
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
    exit 100
    ;;
esac
END
    chmod +x "$profile/steps/01-become-rocky"
    # four programs whose "build" is a copy; host-facts finds nothing wrong
    printf 'build/%%: program\n\tmkdir -p build && cp program $@ && chmod 755 $@\n' >"$TREE/programs/Makefile"
    # shellcheck disable=SC2016 # $0 is the program's
    printf '#!/bin/sh\necho "ok nothing $(basename $0) 0.1.0"\n' >"$TREE/programs/program"
    jq '.name = "debian-as-rocky" | .programs = [] | .step = "15min" | .ready = "10min" | .bundle = {name: "rehearsal"} | .put = [{from: "guest-setup/rocky", to: "/usr/local/share/lab/rocky"},
        {from: "programs", to: "/usr/local/src/harness"}]' "$from/debian-12-softroce/profile.json" >"$profile/profile.json"
    jq '.name = "rehearsal" | .management.subnet = "198.51.100.192/26" | .links = [] | .hosts = {a: (.hosts.a + {domain: "rehearsal-a", profile: "debian-as-rocky",
        memory: "768MiB", nic: {address: "10.0.0.1/24"}})}' "$ROOT/labs/soft-pair.json" >"$TREE/lab.json"
}

# Outside of the soft lab, where there is a network: image, packages.
if [[ -z ${SOFT_LAB:-} ]]; then
    why=$("$ROOT/guest-setup/soft-lab" --check)
    [[ -z $why ]] || { skip "$what" "no soft lab can be made here: $why" && finish; }
    TREE=$(mktemp -d "${TMPDIR:-/tmp}/harness-rocky.XXXXXX")
    SCRATCH=$TREE/scratch
    mkdir "$SCRATCH"
    # shellcheck source=tests/e2e/rocky/stand-ins.bash
    source "$ROOT/tests/e2e/rocky/stand-ins.bash"
    # shellcheck source=tests/e2e/rocky/guest.bash
    source "$ROOT/tests/e2e/rocky/guest.bash"
    make_mirror
    make_tree
    make_bundle | jq '.name = "rehearsal" | .patches = ["bar1-p2p", "peermem-persistent"] | del(.image)' >"$TREE/guest-setup/bundles/rehearsal.json"
    HARNESS_PACKAGES=$TREE/cache "$TREE/guest-setup/host/packages" --bundle rehearsal --mirror "file://$MIRROR" \
        --accept "mellanox=$(fingerprint "$SCRATCH/mellanox.asc")" >/dev/null || nok "packages are served"
    "$TREE/guest-setup/build-image" debian-as-rocky >/dev/null || nok "the image is built"
    unset GNUPGHOME
    rm -rf "$SCRATCH"
    [[ $TAP_FAILED == 0 ]] || { rm -rf "$TREE" && finish; }
    export HARNESS_ROCKY_TREE=$TREE
fi
softlab_require "$0" "$@"

TREE=$HARNESS_ROCKY_TREE
at_exit rm -rf "$TREE"
export HARNESS_PACKAGES=$TREE/cache HARNESS_MIRROR=file:///nowhere
vp() { "$TREE/build/virt-provision" --lab "$TREE/lab.json" "$@"; }
guest() { vp --quiet ssh a -- sh -c "$1"; }
at_exit vp --quiet destroy

check_exit 0 "rebuild: every step, with its reboots" vp rebuild
cp "$SCRATCH/err" "$SCRATCH/rebuild"
for step in "$ROOT"/guest-setup/profiles/rocky-9.5-gpudirect/steps/*; do
    check_says "$(basename "$step")" "$(basename "$step"): done|$(basename "$step"): was there" "$SCRATCH/rebuild"
done
for step in 40-nouveau 50-ofed; do check_says "$step had a real reboot" "$step asks for a reboot" "$SCRATCH/rebuild"; done
check "the real kernel booted three times" test "$(grep -c rebooting "$XDG_STATE_HOME/harness/labs/rehearsal/hosts/a/log")" = 3
check_exit 0 "status --check: every step holds" vp status --check
check "the driver's packages are installed" guest 'rpm -q nvidia-driver-cuda-570.133.20 mlnx-ofed-basic >/dev/null'
guest 'rm /etc/modprobe.d/lab-nouveau.conf'
check_exit 1 "status --check: a step that holds no longer" vp status --check
check_says "is shown" '40-nouveau +DRIFTED' "$SCRATCH/out"
check_exit 0 "rebuild --from that step mends it" vp rebuild --from 40-nouveau
check_exit 0 "and all is well" vp status --check
finish
