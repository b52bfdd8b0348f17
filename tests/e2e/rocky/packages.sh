#!/bin/bash
# The cache of packages that Rocky guests are served from: real dnf, rpm, gpg and git against stand-in repositories.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/../lib.sh"
skip_unless "cache of packages" dnf rpmbuild rpmsign rpmkeys createrepo_c gpg git jq curl python3
# shellcheck source=tests/e2e/rocky/stand-ins.bash
source "$ROOT/tests/e2e/rocky/stand-ins.bash"

BUNDLE=$SCRATCH/bundle.json
export HARNESS_PACKAGES=$SCRATCH/cache HARNESS_IMAGES=$SCRATCH/images
unset HARNESS_MIRROR SUDO_USER
IMAGE=$HARNESS_IMAGES/any-069493fdc807300a.qcow2

# The image's package database: a stand-in for virt-copy-out, which takes it out of the real image.
image_reader() {
    mkdir -p "$SCRATCH/bin" "$HARNESS_IMAGES"
    touch "$IMAGE" "$SCRATCH/read"
    chmod 666 "$SCRATCH/read"
    cat >"$SCRATCH/bin/virt-copy-out" <<END
#!/bin/bash
echo "\$*" >>"$SCRATCH/read"
[[ "\$1 \$2 \$3" == "-a $IMAGE /var/lib/rpm" ]] && cp -r "$SCRATCH/image/rpm" "\$4/"
END
    chmod +x "$SCRATCH/bin/virt-copy-out"
    PATH=$SCRATCH/bin:$PATH
}
# shellcheck disable=SC2317 # called through check_exit
plain_packages() { timeout 900 "$ROOT/guest-setup/host/packages" "$@"; }
# shellcheck disable=SC2317
packages() { plain_packages --bundle "$BUNDLE" --mirror "file://$MIRROR" "$@"; }
repository() { echo "$MIRROR/dl.rockylinux.org/vault/rocky/9.5/$1/x86_64/os"; }

# One edit of a bundle that makes versions disagree, and what is said about it.
incoherent() {
    local filter=$1 says=$2
    make_bundle | jq "$filter" >"$SCRATCH/edited.json"
    check_exit 2 "incoherent: $says" plain_packages --bundle "$SCRATCH/edited.json" --dry-run
    check_says "  and why" "$says" "$SCRATCH/err"
}
coherence() {
    incoherent '.driver = "570.144"' 'packages.driver: .* is not a package of driver 570.144'
    incoherent '.modules.tag = "580.142"' 'modules.tag 580.142 is not the driver'
    incoherent '.kernel = "5.14.0-427.13.1.el9_4.x86_64"' 'kernel 5.14.0-427.13.1.el9_4.x86_64 is not a kernel of rocky 9.5'
    incoherent '.packages.build.names |= map(select(startswith("kernel-devel") | not))' 'no kernel-devel-5.14.0-503'
    incoherent '.ofed = "23.10-0.5.5.0"' 'mlnx_ofed is not the repository of OFED 23.10-0.5.5.0'
    incoherent '.image.sha256 = "1234"' 'image.sha256 is not 64 hex digits'
    incoherent '.os = "rocky 9.4"' 'image.url is not an image of rocky 9.4'
    incoherent '.patches = ["faster"]' 'there is no faster'
    incoherent 'del(.repositories.cuda)' 'taken from cuda, which is not listed under repositories'
    incoherent 'del(.keys.nvidia)' 'there is no key nvidia'
    incoherent '.schema = 2' 'schema is not 1'
    incoherent '.title = "a\nkernel 6"' 'title has a line break or another control character'
    incoherent '.packages.build.names -= ["gcc-c++"]' 'packages.build has no gcc-c.*: a build of the driver needs g'
    incoherent '.packages.build.names -= ["elfutils-libelf-devel"]' 'packages.build has no elfutils-libelf-devel: a build of the driver needs .libelf.h'
    echo '{' >"$SCRATCH/edited.json"
    check_exit 2 "a bundle that is not JSON" plain_packages --bundle "$SCRATCH/edited.json" --dry-run
    check_exit 2 "a bundle that is not there" plain_packages --bundle none --dry-run
    check_says "and which there are" 'rocky-9.5-570.133.20' "$SCRATCH/err"
    check_exit 2 "an unknown option" plain_packages --fast
}

dry_run() {
    local name
    for name in rocky-9.5-570.133.20 rocky-9.5-570.133.20-published; do
        check_exit 0 "$name is coherent" plain_packages --bundle "$name" --dry-run
    done
    check_says "the published bundle has both patches" 'patches: bar1-p2p peermem-persistent' "$SCRATCH/out"
    check_says "the image's checksum is shown" 'sha256 069493fdc807300a22176540e9171fcff2227a92b40a7985a0c1c9e21aeebf57' "$SCRATCH/out"
    check_says "the driver's commit is shown" 'commit e8113f665d936d9f30a6d508f3bacd1e148539be' "$SCRATCH/out"
    check_says "a key with an unknown fingerprint is shown as such" 'mellanox  not known: refused' "$SCRATCH/out"
    check "nothing was made" test ! -e "$HARNESS_PACKAGES"
}

keys() {
    check_exit 3 "offline with an empty cache" packages --offline
    check_exit 3 "a key whose fingerprint the bundle lacks is refused" packages
    check_says "with the command that accepts it" "$ROOT/guest-setup/host/packages .*--accept mellanox=$(fingerprint "$SCRATCH/mellanox.asc")$" "$SCRATCH/err"
    grep -o "/[^ ]*/guest-setup/host/packages .*--accept.*" "$SCRATCH/err" >"$SCRATCH/accept"
    check_exit 3 "accepting another fingerprint does not help" packages --accept mellanox=0123456789ABCDEF0123456789ABCDEF01234567
    check_says "and the key file is renamed" 'mellanox.asc.rejected' "$SCRATCH/err"
    check_exit 0 "the command that was printed accepts it" bash "$SCRATCH/accept"
    rm "$HARNESS_PACKAGES/keys/mellanox.accepted" "$HARNESS_PACKAGES/keys/mellanox.asc"
    rm -r "$HARNESS_PACKAGES"/rocky-*
    cat "$SCRATCH/mellanox.asc" "$SCRATCH/nvidia.asc" >"$MIRROR/www.mellanox.com/downloads/ofed/RPM-GPG-KEY-Mellanox-SHA256"
    check_exit 3 "a file with a second key in it" packages --accept "mellanox=$(fingerprint "$SCRATCH/mellanox.asc")"
    check_says "is refused with both" "fingerprint $(fingerprint "$SCRATCH/mellanox.asc"),$(fingerprint "$SCRATCH/nvidia.asc"), expected" "$SCRATCH/err"
    cp "$SCRATCH/mellanox.asc" "$MIRROR/www.mellanox.com/downloads/ofed/RPM-GPG-KEY-Mellanox-SHA256"
    jq '.keys.rocky.fingerprint = "0000000000000000000000000000000000000000"' "$BUNDLE" >"$SCRATCH/edited.json"
    rm -rf "$HARNESS_PACKAGES"
    check_exit 3 "a key with another fingerprint than the bundle's" plain_packages --bundle "$SCRATCH/edited.json" --mirror "file://$MIRROR"
    check_says "is named with both" "rocky' has the fingerprint $(fingerprint "$SCRATCH/rocky.asc"), expected 0000" "$SCRATCH/err"
}

# The server cuts the largest served package in its middle, once.
interrupted() {
    local port log=$SCRATCH/requests
    head -c 3000000 /dev/urandom >"$SCRATCH/big"
    (cd "$SCRATCH" && mkdir -p content && cp big content/big && make_package libnvidia-ml 570.133.20-1.el9 \
        "$MIRROR/developer.download.nvidia.com/compute/cuda/repos/rhel9/x86_64" nvidia 3 '' "$SCRATCH/content" && rm -r content)
    createrepo_c --quiet "$MIRROR/developer.download.nvidia.com/compute/cuda/repos/rhel9/x86_64"
    git -C "$MIRROR/github.com/NVIDIA/open-gpu-kernel-modules.git" update-server-info
    "$ROOT/tests/e2e/rocky/cutting-server" "$MIRROR" libnvidia-ml "$log" >"$SCRATCH/port" &
    at_exit kill $!
    for _ in $(seq 50); do
        [[ ! -s $SCRATCH/port ]] || break
        sleep 0.1
    done
    port=$(cat "$SCRATCH/port")
    rm -rf "$HARNESS_PACKAGES"
    : >"$SCRATCH/read"
    # shellcheck disable=SC2317
    over_http() { timeout 900 "$ROOT/guest-setup/host/packages" --bundle "$BUNDLE" --mirror "http://127.0.0.1:$port" "$@"; }
    check_exit 3 "a download that is cut off is an error" over_http --accept "mellanox=$(fingerprint "$SCRATCH/mellanox.asc")"
    check_says "the file is named, and the next call continues" 'libnvidia-ml.*could not be fetched completely; the next call continues the download' "$SCRATCH/err"
    check_exit 0 "the next run continues" over_http
    check_says "where the last one stopped" '^206 .*libnvidia-ml' "$log"
    check "and the accepted key is remembered" test -f "$HARNESS_PACKAGES/keys/mellanox.accepted"
}

# Dependencies are resolved for what the image has: an older glibc and a newer openssl than the repositories, each in two parts.
image() {
    local build=$HARNESS_PACKAGES/rocky-9.5-570.133.20/build none=$SCRATCH/none
    check "the image's package database was read once" test "$(wc -l <"$SCRATCH/read")" = 1
    check "its glibc is updated with all its parts" test "$(find "$build" -name 'glibc*-2.34-125.el9_5.8.x86_64.rpm' | wc -l)" = 3
    check "its openssl goes back with all its parts" test "$(find "$build" -name 'openssl*-3.2.2-6.el9_5.x86_64.rpm' | wc -l)" = 3
    mkdir "$SCRATCH/image-without-languages"
    rpm --dbpath "$SCRATCH/image-without-languages" --install --justdb --nosignature "$SCRATCH"/image/{glibc-2,openssl}*.rpm 2>/dev/null
    check_exit 0 "another image" packages --installed "$SCRATCH/image-without-languages"
    check "other packages are chosen" test -z "$(find "$build" -name 'glibc-langpack-en*')"
    mkdir "$none" "$SCRATCH/other"
    touch "$none/file"
    check_exit 3 "a folder that is no package database" packages --installed "$none"
    check_says "is named" "$none has no package database of rpm" "$SCRATCH/err"
    HARNESS_IMAGES=$SCRATCH/other HARNESS_PACKAGES=$SCRATCH/other HARNESS_MIRROR=file:///nowhere check_exit 3 "an image that cannot be fetched" \
        plain_packages --bundle "$BUNDLE" --mirror "file://$MIRROR" --accept "mellanox=$(fingerprint "$SCRATCH/mellanox.asc")"
    check_says "is an error" 'the image of rocky-9.5-570.133.20 could not be fetched' "$SCRATCH/err"
    check_exit 0 "again without it" packages
    check "the last one given is used" bash -c "! grep -q resolved '$SCRATCH/err'"
    check_exit 0 "the first image again" packages --installed "$SCRATCH/image/rpm"
}

served() {
    local folder=$HARNESS_PACKAGES/rocky-9.5-570.133.20 names
    check_exit 0 "again: everything is there" packages
    check "and nothing is fetched" bash -c "! grep -q fetching '$SCRATCH/err'"
    check "the folder is printed" grep -qx "$folder" "$SCRATCH/out"
    check "every file is in SHA256SUMS and right" bash -c "cd '$folder' && sha256sum --quiet -c SHA256SUMS"
    names=$(find "$folder/driver" -name '*.rpm' -printf '%f\n' | sort | paste -sd ' ')
    check "exactly the bundle's driver packages, not newer ones" test "$names" = \
        "libnvidia-ml-570.133.20-1.el9.x86_64.rpm nvidia-driver-cuda-570.133.20-1.el9.x86_64.rpm nvidia-driver-cuda-libs-570.133.20-1.el9.x86_64.rpm nvidia-kmod-common-570.133.20-1.el9.noarch.rpm nvidia-persistenced-570.133.20-1.el9.x86_64.rpm"
    check "OFED came with what it needs" test -n "$(find "$folder/ofed" -name 'kmod-mlnx-ofa_kernel-*.rpm')"
    check "no patch in the bundle, none served" test ! -e "$folder/modules.patch"
    check_exit 0 "offline with a full cache" plain_packages --bundle "$BUNDLE" --mirror file:///nowhere --offline
    check_exit 0 "without a GPU" packages --rdma-only
    check "no driver is served then" test ! -e "$folder-rdma/driver"
}

damaged() {
    local folder=$HARNESS_PACKAGES/rocky-9.5-570.133.20 rpm
    rpm=$(repository AppStream)/gcc-11.5.0-2.el9.x86_64.rpm
    cp "$rpm" "$SCRATCH/gcc.rpm"
    rm -rf "$folder/build"
    printf 'X' | dd of="$rpm" bs=1 seek=$(($(stat -c %s "$rpm") - 20)) conv=notrunc status=none
    check_exit 3 "a package that is not what its repository says" packages
    cp "$SCRATCH/gcc.rpm" "$rpm"
    rpmsign --delsign "$rpm" >/dev/null 2>&1
    createrepo_c --quiet "$(repository AppStream)"
    check_exit 3 "a package without a signature" packages
    check_says "by name" 'gcc' "$SCRATCH/err"
    check "is not kept" test -z "$(find "$folder/build" -name 'gcc-11*')"
    rpmsign --addsign --define "__gpg $(command -v gpg)" --define '_gpg_name nvidia@example.org' "$rpm" >/dev/null 2>&1
    createrepo_c --quiet "$(repository AppStream)"
    check_exit 3 "a package signed with a key for other packages" packages
    cp "$SCRATCH/gcc.rpm" "$rpm"
    createrepo_c --quiet "$(repository AppStream)"
    check_exit 0 "the right one again" packages
}

missing() {
    local rpm=kernel-devel-${KERNEL%.x86_64}.x86_64.rpm
    rm -rf "$HARNESS_PACKAGES/rocky-9.5-570.133.20/build"
    mv "$(repository AppStream)/$rpm" "$SCRATCH/"
    createrepo_c --quiet "$(repository AppStream)"
    check_exit 3 "a package that no repository has" packages
    check_says "by name" 'kernel-devel-5.14.0-503.14.1.el9_5' "$SCRATCH/err"
    mv "$SCRATCH/$rpm" "$(repository AppStream)/"
    createrepo_c --quiet "$(repository AppStream)"
    jq '.packages.driver.names += ["nvidia-driver-cuda-libs-3:570.133.20-9.el9.x86_64"]' "$BUNDLE" >"$SCRATCH/edited.json"
    check_exit 3 "an exact version that is not there" plain_packages --bundle "$SCRATCH/edited.json" --mirror "file://$MIRROR"
    check_says "by name" '570.133.20-9.el9.x86_64 is in none of the repositories cuda' "$SCRATCH/err"
}

# A user, and the same user under sudo: one cache, with one accepted key, that belongs to the user.
one_cache() {
    local home=$SCRATCH/home
    if [[ $(id -u) != 0 ]]; then skip "the cache under sudo" no-root && return; fi
    mkdir -p "$home" && chown nobody: "$home" && chmod 755 "$SCRATCH"
    printf '#!/bin/sh\necho "nobody:x:65534:65534::%s:/bin/sh"\n' "$home" >"$SCRATCH/bin/getent"
    chmod +x "$SCRATCH/bin/getent"
    # shellcheck disable=SC2317
    under_sudo() { env -u HARNESS_PACKAGES -u XDG_CACHE_HOME -u GNUPGHOME SUDO_USER=nobody "$ROOT/guest-setup/host/packages" --bundle "$BUNDLE" --mirror "file://$MIRROR" "$@"; }
    # shellcheck disable=SC2317
    as_user() { runuser -u nobody -- env -u HARNESS_PACKAGES -u XDG_CACHE_HOME -u GNUPGHOME HOME="$home" "$ROOT/guest-setup/host/packages" --bundle "$BUNDLE" --mirror "file://$MIRROR" "$@"; }
    check_exit 0 "under sudo: a key is accepted" under_sudo --rdma-only --accept "mellanox=$(fingerprint "$SCRATCH/mellanox.asc")"
    check "in the cache of the user who called sudo" grep -qx "$home/.cache/harness/packages/rocky-9.5-570.133.20-rdma" "$SCRATCH/out"
    check "nothing in it is root's" test -z "$(find "$home" -user root -print -quit)"
    check_exit 0 "the user finds everything there" as_user --rdma-only --offline
}

sources() {
    local served=$HARNESS_PACKAGES/rocky-9.5-570.133.20
    jq '.name = "moved" | .modules.commit = "1111111111111111111111111111111111111111"' "$BUNDLE" >"$SCRATCH/edited.json"
    check_exit 3 "a tag that is another commit" plain_packages --bundle "$SCRATCH/edited.json" --mirror "file://$MIRROR"
    check_says "by both" '570.133.20 does not point to commit 1111' "$SCRATCH/err"
    if ! command -v spatch >/dev/null; then
        skip "patched sources" no-command spatch
        return
    fi
    jq '.name = "patched" | .patches = ["bar1-p2p", "peermem-persistent"]' "$BUNDLE" >"$SCRATCH/edited.json"
    check_exit 0 "with patches" plain_packages --bundle "$SCRATCH/edited.json" --mirror "file://$MIRROR"
    mkdir "$SCRATCH/unpacked" && tar -x -C "$SCRATCH/unpacked" -f "$HARNESS_PACKAGES/patched/modules.tar"
    check "the served patch fits the served sources" patch -s -p1 -d "$SCRATCH/unpacked" -i "$HARNESS_PACKAGES/patched/modules.patch"
    check "the sources themselves stay as released" cmp "$HARNESS_PACKAGES/patched/modules.tar" "$served/modules.tar"
}

coherence_and_plan() { make_mirror && image_reader && make_bundle >"$BUNDLE" && coherence && dry_run; }
coherence_and_plan
keys
interrupted
image
served
damaged
missing
one_cache
sources
finish
