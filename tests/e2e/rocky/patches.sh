#!/bin/bash
# The driver patches: the rules of patches/apply on a small generated tree, and on the real trees if they are present.
# Real trees: HARNESS_DRIVER_TREES (else ~/.cache/harness/driver-trees) holds one folder a version, e.g. 570.133.20/, with
# that tag of NVIDIA's open-gpu-kernel-modules; HARNESS_DRIVER_KERNEL is the kernel build folder to compile against
# (else the newest below /usr/src and /lib/modules that 570.133.20 builds with: 6.1.0-47 of Debian, el9_5 of Rocky).
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/../lib.sh"

APPLY=$ROOT/patches/apply
TREES=${HARNESS_DRIVER_TREES:-${XDG_CACHE_HOME:-$HOME/.cache}/harness/driver-trees}

# shellcheck source=tests/e2e/rocky/driver-tree.bash
source "$ROOT/tests/e2e/rocky/driver-tree.bash"

small_kernel() {
    mkdir -p "$1/include/config"
    touch "$1/Makefile"
    echo 5.14.0-503.14.1.el9_5.x86_64 >"$1/include/config/kernel.release"
}

# shellcheck disable=SC2317 # called through check_exit
apply() { "$APPLY" --kernel-output "$SCRATCH/kernel" "$@"; }

rules() {
    local tree=$SCRATCH/tree before
    small_kernel "$SCRATCH/kernel"

    small_tree "$tree" 570.133.20
    before=$(find "$tree" -type f -exec sha256sum {} + | sort)
    check_exit 0 "a plain patch is written" apply --plain "$SCRATCH/plain" "$tree"
    check "and the tree stays as it was" test "$before" = "$(find "$tree" -type f -exec sha256sum {} + | sort)"
    cp -r "$tree" "$SCRATCH/plainly"
    check "the plain patch applies with patch -p1" patch -s -p1 -d "$SCRATCH/plainly" -i "$SCRATCH/plain"
    check_exit 0 "both patches apply" apply "$tree"
    check "and give what the plain patch gives" diff -r -x '.applied-*' "$tree/src" "$SCRATCH/plainly/src"
    check "peermem: the probe uses the persistent pair only" \
        bash -c "grep -c persistent '$tree/kernel-open/nvidia-peermem/nvidia-peermem.c' | grep -qx 2"
    before=$(find "$tree" -type f -exec sha256sum {} + | sort)
    check_exit 0 "a second time is fine" apply "$tree"
    check_says "and says that they are there" 'already applied' "$SCRATCH/err"
    check "and changes nothing" test "$before" = "$(find "$tree" -type f -exec sha256sum {} + | sort)"

    echo '// touched' >>"$tree/kernel-open/nvidia-peermem/nvidia-peermem.c"
    check_exit 3 "a file changed after patching is noticed" apply --patch peermem-persistent "$tree"
    check_says "by the counts" 'has 0 places to change where 3 were expected' "$SCRATCH/err"

    rm -rf "$tree" && small_tree "$tree" 570.133.20
    sed -i '/forceP2PType/d' "$tree/src/nvidia/src/kernel/gpu/bif/kernel_bif.c"
    check_exit 3 "a missing hunk stops everything" apply "$tree"
    check_says "by file and count" 'kernel_bif.c has 1 places to change where 2 were expected' "$SCRATCH/err"
    check "before any file was changed" grep -q BIF_P2P_NOT_OVERRIDEN "$tree/src/nvidia/src/kernel/gpu/bif/kernel_bif.c"

    rm -rf "$tree" && small_tree "$tree" 570.133.20
    echo 'does not compile' >"$tree/src/nvidia/generated/broken.h"
    check_exit 3 "an object that does not compile stops everything" apply "$tree"
    check_says "by name" 'kernel_bif.o does not compile' "$SCRATCH/err"
    check "and the tree stays" grep -q BIF_P2P_NOT_OVERRIDEN "$tree/src/nvidia/src/kernel/gpu/bif/kernel_bif.c"

    rm -rf "$tree" && small_tree "$tree" 570.133.20
    check_exit 3 "no kernel headers: refused, with what to install" "$APPLY" --kernel-output "$SCRATCH/none" "$tree"
    check_says "by package" 'install kernel-devel' "$SCRATCH/err"
    rm "$tree/src/nvidia/src/kernel/rmapi/nv_gpu_ops.c"
    check_exit 3 "a tree without a file is refused" apply "$tree"

    small_tree "$tree" 571.00
    check_exit 2 "an unknown driver version is refused" apply "$tree"
    check_exit 0 "and can be tried" apply --any-version "$tree"
    small_tree "$tree" 580.142
    check_exit 4 "580.142: peermem-persistent is not needed" apply --patch peermem-persistent "$tree"
    check_exit 3 "580.142: bar1-p2p is refused" apply --patch bar1-p2p "$tree"
    check_exit 2 "an unknown patch is named" apply --patch bar2 "$tree"
    check_says "with the available patches" 'bar1-p2p peermem-persistent' "$SCRATCH/err"
    check_exit 2 "a folder that is not a driver tree" apply "$SCRATCH"
    check_exit 2 "no tree" apply
    check_exit 2 "an unknown option" apply --fast "$tree"
}

# Programs of this machine but spatch.
without_spatch() {
    mkdir "$SCRATCH/programs"
    cp -rs /usr/bin/. "$SCRATCH/programs"
    rm -f "$SCRATCH/programs/spatch"
}
# A recording of one machine is applied on another, which has no spatch.
recording() {
    local tree=$SCRATCH/recorded project=$SCRATCH/project
    small_tree "$tree" 570.133.20
    mkdir "$project" && cp -r "$ROOT/patches" "$project/"
    without_spatch
    # shellcheck disable=SC2317 # called through check_exit
    elsewhere() { PATH=$SCRATCH/programs "$project/patches/apply" --no-compile "$@"; }
    check_exit 2 "without spatch: a tree that is not recorded" elsewhere --plain "$SCRATCH/plain" "$tree"
    check_says "is refused with what to do" 'spatch is missing .*kernel_bif.c is not as recorded' "$SCRATCH/err"
    check_exit 0 "the changes are recorded" apply --no-compile --record "$project/patches/recorded/570.133.20" "$tree"
    check "and the tree stays as it was" grep -q BIF_P2P_NOT_OVERRIDEN "$tree/src/nvidia/src/kernel/gpu/bif/kernel_bif.c"
    check_exit 0 "without spatch: as recorded" elsewhere --plain "$SCRATCH/plain" "$tree"
    apply --no-compile --plain "$SCRATCH/by-spatch" "$tree" 2>/dev/null
    check "gives what spatch gives" cmp "$SCRATCH/plain" "$SCRATCH/by-spatch"
    sed -i '0,/^    if (FLD_TEST_DRF/s//    if (NOT_TEST_DRF/' "$project/patches/recorded/570.133.20"
    check_exit 3 "a damaged recording is refused" elsewhere --plain "$SCRATCH/plain" "$tree"
    check_says "by its checksum" 'kern_bus_gp100.c as recorded .* has another checksum than recorded' "$SCRATCH/err"
    echo '// touched' >>"$tree/src/nvidia/src/kernel/gpu/bif/kernel_bif.c"
    check_exit 2 "a tree that is not the recorded one is refused" elsewhere --plain "$SCRATCH/plain" "$tree"
    # shellcheck disable=SC2016 # the inner shell expands them
    check "each recorded version is one that both patches apply to" \
        bash -c 'cd "$1/recorded" && for version in *; do grep -qE "^$version .* applies +applies$" "$1/versions" || exit; done' - "$ROOT/patches"
}

find_kernel() {
    local build
    for build in ${HARNESS_DRIVER_KERNEL:+"$HARNESS_DRIVER_KERNEL"} /usr/src/kernels/*el9_5* /usr/src/linux-headers-6.1.0-47-amd64; do
        [[ -e $build/Makefile ]] && echo "$build" && return
    done
    return 1
}

real_trees() {
    local version kernel source
    for version in 535.288.01 550.163.01 570.133.20; do
        if [[ ! -d $TREES/$version ]]; then
            skip "patches on $version" no-file "$TREES/$version"
            continue
        fi
        check_exit 0 "$version: every expected hunk" "$APPLY" --no-compile --plain "$SCRATCH/plain" "$TREES/$version"
        check "$version: 11 and 3 hunks" bash -c "grep -oE '[0-9]+ of' '$SCRATCH/err' | paste -sd ' ' | grep -qx '2 of 2 of 5 of 2 of 3 of'"
    done
    for version in "$ROOT"/patches/recorded/*; do
        version=$(basename "$version")
        if [[ ! -d $TREES/$version ]]; then
            skip "recording of $version" no-file "$TREES/$version"
            continue
        fi
        check_exit 0 "$version: the recording is made again" "$APPLY" --no-compile --record "$SCRATCH/record" "$TREES/$version"
        check "$version: and is the project's" cmp "$SCRATCH/record" "$ROOT/patches/recorded/$version"
    done
    for version in 580.142 595.45.04; do
        if [[ ! -d $TREES/$version ]]; then
            skip "patches on $version" no-file "$TREES/$version"
            continue
        fi
        check_exit 4 "$version: peermem-persistent is not needed" "$APPLY" --patch peermem-persistent "$TREES/$version"
        check_exit 3 "$version: bar1-p2p is refused" "$APPLY" --patch bar1-p2p "$TREES/$version"
    done
    if [[ ! -d $TREES/570.133.20 ]]; then
        skip "570.133.20 compiles" no-file "$TREES/570.133.20"
    elif ! kernel=$(find_kernel); then
        skip "570.133.20 compiles" no-file /usr/src/linux-headers-6.1.0-47-amd64/Makefile "kernel headers that it builds with"
    else
        source=$kernel
        [[ $kernel != /usr/src/linux-headers-*-amd64 ]] || source=${kernel%-amd64}-common
        check_exit 0 "570.133.20: every touched object and nvidia-peermem compile" timeout 300 "$APPLY" \
            --kernel-output "$kernel" --kernel-source "$source" --plain "$SCRATCH/plain" "$TREES/570.133.20"
        check "all five of them" bash -c "grep -c compiled '$SCRATCH/err' | grep -qx 5"
    fi
}

if command -v spatch >/dev/null; then
    rules
    recording
    real_trees
else
    skip "patches" no-command spatch
fi
finish
