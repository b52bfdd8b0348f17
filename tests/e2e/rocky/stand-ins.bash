#!/bin/bash
# Stand-ins for what the Rocky profiles take from the network: packages with the real names and, where the bundle pins them, the
# real versions; the driver's sources; the keys they are signed with. Everything is made here and holds nothing of the real ones.
# Sourced by tests, after tests/e2e/lib.sh.
# shellcheck source=tests/e2e/rocky/driver-tree.bash
source "$ROOT/tests/e2e/rocky/driver-tree.bash"
KERNEL=5.14.0-503.14.1.el9_5.x86_64
MIRROR=$SCRATCH/mirror

# A key of our own, as $1.asc; packages are signed with it.
make_key() {
    local name=$1
    export GNUPGHOME=$SCRATCH/gnupg
    (umask 077 && mkdir -p "$GNUPGHOME")
    gpg --batch --quiet --passphrase '' --quick-generate-key "Stand-in $name <$name@example.org>" rsa2048 sign never 2>/dev/null
    gpg --batch --quiet --armor --export "$name@example.org" >"$SCRATCH/$name.asc"
}
fingerprint() { gpg --batch --quiet --show-keys --with-colons "$1" 2>/dev/null | awk -F: '$1 == "fpr" { print $10; exit }'; }

# An object file that modinfo, depmod and our steps take for kernel module $2 of version $3: an ELF file with that information.
make_module() {
    local file=$1 name=$2 version=$3 depends=${4:-}
    mkdir -p "$(dirname "$file")"
    {
        echo '#define INFO(n, text) static const char n[] __attribute__((section(".modinfo"), used)) = text;'
        echo "INFO(a, \"name=${name//-/_}\") INFO(b, \"version=$version\") INFO(c, \"vermagic=$KERNEL SMP\")"
        echo "INFO(d, \"depends=$depends\") INFO(e, \"srcversion=$(echo "$name $version $RANDOM" | md5sum | cut -c 1-23 | tr a-f A-F)\")"
    } >"$file.c"
    gcc -c -o "$file" "$file.c" && rm "$file.c"
}

# One package: NAME VERSION-RELEASE[:EPOCH] FOLDER KEY [spec lines of "Requires" or %files content from $CONTENT]
make_package() {
    local name=$1 version=$2 folder=$3 key=$4 epoch=${5:-0} requires=${6:-} content=${7:-} arch=${8:-x86_64}
    mkdir -p "$folder" "$SCRATCH/rpm"
    {
        printf 'Name: %s\nEpoch: %s\nVersion: %s\nRelease: %s\nSummary: stand-in\nLicense: none\nAutoReqProv: no\n' \
            "$name" "$epoch" "${version%-*}" "${version##*-}"
        [[ $arch == noarch ]] && echo 'BuildArch: noarch'
        [[ -z $requires ]] || echo "Requires: $requires"
        printf '%%description\nstand-in\n%%install\nmkdir -p %%{buildroot}\n'
        [[ -z $content ]] || printf 'cp -a %s/. %%{buildroot}\n' "$content"
        printf '%%files\n'
        [[ -z $content ]] || (cd "$content" && find . ! -type d | sed 's/^\.//')
    } >"$SCRATCH/rpm/$name.spec"
    rpmbuild -bb --quiet --target "$arch" --define "_topdir $SCRATCH/rpm" --define "_rpmdir $SCRATCH/rpm/out" --define '__os_install_post %{nil}' \
        --define '_build_id_links none' --define 'debug_package %{nil}' "$SCRATCH/rpm/$name.spec" >"$SCRATCH/rpm/log" 2>&1 ||
        { cat "$SCRATCH/rpm/log" >&2 && return 1; }
    mv "$SCRATCH"/rpm/out/*/*.rpm "$folder/"
    rpmsign --addsign --define "__gpg $(command -v gpg)" --define "_gpg_name $key@example.org" "$folder/$name-${version}"*.rpm >/dev/null 2>&1
}

# What a build of the driver needs of packages: "NEED PACKAGE", from the project's own list.
build_needs() { awk '!/^#/ && $3 == "build" { print $1, $2 }' "$ROOT/guest-setup/rocky/driver-needs"; }

# A package that brings the programs (guest-files/program) and headers that the list says: NAME VERSION FOLDER [REQUIRES]. The image has none
# of them (become-rocky).
make_build_package() {
    local content=$SCRATCH/content need package
    mkdir -p "$content"/usr/{bin,include}
    while read -r need package; do
        [[ $package == "$1" ]] || continue
        case $need in
        *.h\)) echo '/* stand-in */' >"$content/usr/include/$(tr -d '()' <<<"$need")" ;;
        *) install -m 755 "$ROOT/tests/e2e/rocky/guest-files/program" "$content/usr/bin/$need" ;;
        esac
    done < <(build_needs)
    make_package "$1" "$2" "$3" rocky 0 "${4:-}" "$content"
    rm -rf "$content"
}

make_rocky_packages() {
    local appstream=$MIRROR/dl.rockylinux.org/vault/rocky/9.5/AppStream/x86_64/os base content=$SCRATCH/content item
    base=${appstream/AppStream/BaseOS}
    make_build_package gcc 11.5.0-2.el9 "$appstream" 'binutils, glibc-devel'
    make_build_package gcc-c++ 11.5.0-2.el9 "$appstream" 'gcc = 11.5.0-2.el9'
    make_build_package elfutils-libelf-devel 0.191-4.el9 "$appstream"
    for item in make=4.3-8.el9 binutils=2.35.2-54.el9 xz=5.2.5-8.el9_0 hostname=3.23-6.el9; do
        make_build_package "${item%%=*}" "${item#*=}" "$base"
    done
    for item in patch=2.7.6-16.el9 libnl3-devel=3.9.0-1.el9 zlib-devel=1.2.11-40.el9; do
        make_package "${item%%=*}" "${item#*=}" "$appstream" rocky
    done
    for item in pciutils=3.7.0-5.el9 lsof=4.94.0-3.el9 kmod=28-10.el9 tar=1.34-7.el9; do
        make_package "${item%%=*}" "${item#*=}" "$base" rocky
    done
    mkdir -p "$content/lib/modules/$KERNEL" "$content/usr/src/kernels/$KERNEL"
    touch "$content/usr/src/kernels/$KERNEL"/{Makefile,Module.symvers}
    ln -s "/usr/src/kernels/$KERNEL" "$content/lib/modules/$KERNEL/build"
    make_package kernel-devel "${KERNEL%.x86_64}" "$appstream" rocky 0 openssl-devel "$content"
    for item in jansson-devel=2.14-1.el9 libmnl-devel=1.0.4-16.el9; do
        make_package "${item%%=*}" "${item#*=}" "${appstream/AppStream/CRB}" rocky
    done
    rm -rf "$content"
}

# A package whose parts require each other in exactly one version: VERSION FOLDER... for the library, its second part, and its headers.
make_library() { # NAME OTHER DEVEL VERSION FOLDER [DEVEL_FOLDER]
    make_package "$1" "$4" "$5" rocky
    make_package "$2" "$4" "$5" rocky 0 "$1 = $4"
    [[ -z ${6:-} ]] || make_package "$3" "$4" "$6" rocky 0 "$1 = $4"
}
# The image has an older glibc than the repositories and a newer openssl; to add the headers of either, the image's other parts must
# change with it.
make_image_packages() {
    local base=$MIRROR/dl.rockylinux.org/vault/rocky/9.5/BaseOS/x86_64/os
    make_library glibc glibc-langpack-en glibc-devel 2.34-125.el9_5.8 "$base" "${base/BaseOS/AppStream}"
    make_library openssl-libs openssl openssl-devel 3.2.2-6.el9_5 "$base" "${base/BaseOS/AppStream}"
    make_library glibc glibc-langpack-en glibc-devel 2.34-125.el9_5.1 "$SCRATCH/image"
    make_library openssl-libs openssl openssl-devel 3.2.2-6.el9_5.1 "$SCRATCH/image"
    mkdir "$SCRATCH/image/rpm"
    rpm --dbpath "$SCRATCH/image/rpm" --install --justdb --nosignature "$SCRATCH"/image/*.rpm 2>/dev/null
}

make_ofed_packages() {
    local folder=$MIRROR/linux.mellanox.com/public/repo/mlnx_ofed/24.10-4.1.4.0/rhel9.5/x86_64 content=$SCRATCH/content
    make_module "$content/lib/modules/$KERNEL/extra/mlnx-ofa_kernel/mlx5_core.ko" mlx5_core 24.10-4.1.4
    make_module "$content/lib/modules/$KERNEL/extra/mlnx-ofa_kernel/ib_uverbs.ko" ib_uverbs 24.10-4.1.4
    make_package kmod-mlnx-ofa_kernel 24.10-OFED.24.10.4.1.4.1.rhel9u5 "$folder" mellanox 0 '' "$content"
    rm -rf "$content"
    mkdir -p "$content/usr/src/ofa_kernel/default"
    printf '0x00000001\tib_register_peer_memory_client\tib_uverbs\tEXPORT_SYMBOL\t\n' >"$content/usr/src/ofa_kernel/default/Module.symvers"
    make_package mlnx-ofa_kernel-devel 24.10-OFED.24.10.4.1.4.1.rhel9u5 "$folder" mellanox 0 '' "$content"
    rm -rf "$content"
    make_package rdma-core-devel 2410mlnx54-1.2410117 "$folder" mellanox
    make_package mlnx-ofed-basic 24.10-4.1.4.0.rhel9.5 "$folder" mellanox 0 'kmod-mlnx-ofa_kernel = 24.10' '' noarch
}

make_driver_packages() {
    local folder=$MIRROR/developer.download.nvidia.com/compute/cuda/repos/rhel9/x86_64 name
    make_package nvidia-driver-cuda-libs 570.133.20-1.el9 "$folder" nvidia 3
    make_package nvidia-driver-cuda 570.133.20-1.el9 "$folder" nvidia 3 'nvidia-kmod = 3:570.133.20'
    make_package libnvidia-ml 570.133.20-1.el9 "$folder" nvidia 3
    make_package nvidia-kmod-common 570.133.20-1.el9 "$folder" nvidia 3 'nvidia-kmod = 3:570.133.20' '' noarch
    make_package nvidia-persistenced 570.133.20-1.el9 "$folder" nvidia 3
    # a newer one beside it, which must not be taken
    make_package nvidia-driver-cuda 580.65.06-1.el9 "$folder" nvidia 3 'nvidia-kmod = 3:580.65.06'
}

# Sources with as much of a driver as patches and steps look at; `make modules` leaves modules of that version.
make_driver_sources() {
    local tree=$SCRATCH/sources repository=$MIRROR/github.com/NVIDIA/open-gpu-kernel-modules.git
    small_tree "$tree" 570.133.20
    make_module "$tree/prepared/nvidia.ko" nvidia 570.133.20
    make_module "$tree/prepared/nvidia-modeset.ko" nvidia-modeset 570.133.20 nvidia
    make_module "$tree/prepared/nvidia-uvm.ko" nvidia-uvm 570.133.20 nvidia
    make_module "$tree/prepared/nvidia-peermem.ko" nvidia-peermem 570.133.20 nvidia,ib_uverbs
    build_needs >"$tree/needs"
    echo '#define part 1' >"$tree/part.h"
    echo '#include "part.h"' | tee "$tree/core.c" >"$tree/display.cpp"
    cp "$ROOT/tests/e2e/rocky/driver-makefile" "$tree/Makefile"
    git init --quiet --bare "$repository"
    git init --quiet "$tree"
    git -C "$tree" add . && git -C "$tree" -c user.name=stand-in -c user.email=stand-in@example.org commit --quiet -m stand-in
    git -C "$tree" tag 570.133.20
    git -C "$tree" push --quiet "$repository" 570.133.20
    COMMIT=$(git -C "$tree" rev-parse HEAD)
}

# The whole mirror, laid out as --mirror expects it: MIRROR/HOST/PATH.
make_mirror() {
    local folder
    make_key rocky && make_key nvidia && make_key mellanox
    make_rocky_packages && make_image_packages && make_ofed_packages && make_driver_packages && make_driver_sources
    for folder in "$MIRROR"/dl.rockylinux.org/vault/rocky/9.5/*/x86_64/os "$MIRROR/developer.download.nvidia.com/compute/cuda/repos/rhel9/x86_64" \
        "$MIRROR/linux.mellanox.com/public/repo/mlnx_ofed/24.10-4.1.4.0/rhel9.5/x86_64"; do
        createrepo_c --quiet "$folder"
    done
    mkdir -p "$MIRROR/dl.rockylinux.org/pub/rocky" "$MIRROR/www.mellanox.com/downloads/ofed"
    cp "$SCRATCH/rocky.asc" "$MIRROR/dl.rockylinux.org/pub/rocky/RPM-GPG-KEY-Rocky-9"
    cp "$SCRATCH/nvidia.asc" "$MIRROR/developer.download.nvidia.com/compute/cuda/repos/rhel9/x86_64/D42D0685.pub"
    cp "$SCRATCH/mellanox.asc" "$MIRROR/www.mellanox.com/downloads/ofed/RPM-GPG-KEY-Mellanox-SHA256"
}

# The project's bundle $1 with nothing replaced but whose keys sign and which commit the sources are.
make_bundle() {
    jq --arg rocky "$(fingerprint "$SCRATCH/rocky.asc")" --arg nvidia "$(fingerprint "$SCRATCH/nvidia.asc")" --arg commit "$COMMIT" \
        '.keys.rocky.fingerprint = $rocky | .keys.nvidia.fingerprint = $nvidia | .modules.commit = $commit' \
        "$ROOT/guest-setup/bundles/rocky-9.5-570.133.20.json"
}
