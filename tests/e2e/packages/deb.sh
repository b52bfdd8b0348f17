#!/bin/bash
# Packages of Debian, made of the programs in build/: the same bytes whenever and wherever they are made, lintian, what is in them, and installed,
# upgraded and removed in a root of their own, and by `harness install` with apt on a host that has this machine's files. tests/package-check compiles
# them, and installs them with apt in a clean Debian.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/e2e/packages/packages.bash
source "$(dirname "$0")/packages.bash"
# shellcheck source=tests/e2e/packages/hosts.bash
source "$(dirname "$0")/hosts.bash"
skip_unless "packages of Debian" make git dh dpkg-deb dpkg-shlibdeps lintian

FIRST=$SCRATCH/first
check "what is packaged is laid out" lay_out_stage
mkdir "$FIRST"
touch "$FIRST/harness_0.0.1-1_all.deb" # of an older version: it goes
check_exit 0 "packages are made" packages deb "$FIRST"
DEB=$FIRST/harness-host_$UNRELEASED-1_$(dpkg --print-architecture).deb
check "one each, of the version in the Makefile" test "$(cd "$FIRST" && echo *)" = \
    "$(for p in harness-host harness-virt harness; do printf '%s_%s-1_%s.deb ' "$p" "$UNRELEASED" "$(dpkg --print-architecture)"; done | sed 's/ $//')"

contents() {
    local deb package files=$SCRATCH/files
    for deb in "$FIRST"/*.deb; do dpkg-deb --fsys-tarfile "$deb" | tar -t; done | grep -v '/$' | sed 's,^\./,,' | LC_ALL=C sort >"$files"
    check "no file is in two packages" test -z "$(uniq -d "$files")"
    (cd "$STAGE" && find . ! -type d -printf 'usr/%P\n') | sed -E '/doc.*LICENSE$/d; s,usr/lib/systemd,lib/systemd,; s,zsh/site-functions,zsh/vendor-completions,; s,(share/man/.*),\1.gz,' | LC_ALL=C sort >"$SCRATCH/installed"
    check "all that make install has is in them, and only their own documents beside it" diff "$SCRATCH/installed" \
        <(grep -vE '^usr/share/(doc/harness[a-z-]*/(changelog.Debian.gz|copyright)|lintian/overrides/harness.*)$' "$files")
    check "documents are not compressed: they cite each other" grep -qx usr/share/doc/harness/counters.md "$files"
    for package in harness harness-host harness-virt; do
        dpkg-deb -f "$FIRST/${package}_"* Depends Recommends >"$SCRATCH/needs"
        check "$package does not need CUDA or NVML" bash -c "! grep -qiE 'cuda|nvidia|nvml' '$SCRATCH/needs'"
    done
    dpkg-deb -f "$DEB" Depends >"$SCRATCH/needs"
    check_says "libraries are found by the tools" 'libibverbs1 .*libmnl0' "$SCRATCH/needs"
    dpkg-deb -f "$FIRST"/harness_* Depends >"$SCRATCH/needs"
    check_says "programs, and the library that is loaded when a guest is reached, come from deps/install-packages" 'libvirt0.*openssh-client' "$SCRATCH/needs"
    dpkg-deb --fsys-tarfile "$DEB" | tar -xO ./usr/share/doc/harness-host/copyright >"$SCRATCH/copyright"
    check "the copyright has the whole licence" diff <(sed '1,/^License/d; /^Files: usr/,$d' "$SCRATCH/copyright" | sed '${/^$/d}' | tr -s ' .\n' '\n') <(sed '1,/^Copyright/d' "$ROOT/LICENSE" | tr -s ' .\n' '\n')
    dpkg-deb --fsys-tarfile "$DEB" | tar -xO ./usr/share/doc/harness-host/changelog.Debian.gz | gunzip >"$SCRATCH/changelog"
    check "the changelog is of that version and time" test "$(dpkg-parsechangelog -l "$SCRATCH/changelog" -S Version) $(dpkg-parsechangelog -l "$SCRATCH/changelog" -S Timestamp)" = "$UNRELEASED-1 $SOURCE_DATE_EPOCH"
    check "it has each entry of CHANGELOG.md's newest section" test "$(sed '/^ -- /q' "$SCRATCH/changelog" | grep -c '^  \* ')" = "$(newest_entries)"
}
contents

# programs of build/ lack the options of make deb: hardening is judged by tests/package-check
check "lintian finds no error and nothing to warn of" lintian --allow-root --fail-on error,warning "$FIRST"/*.deb
DH_OPTIONS=-pharness-host check_exit 0 "one is made again, at another time, elsewhere, with another umask and locale" otherwise packages deb "$SCRATCH/second"
check "the same bytes" cmp "$DEB" "$SCRATCH/second/$(basename "$DEB")"

# A tree whose newest changes are a release's.
released() {
    local tree=$SCRATCH/released
    mkdir "$tree"
    cp -R "$ROOT/packaging" "$ROOT/deps" "$ROOT/LICENSE" "$tree/"
    printf '# Changelog\n\n## Unreleased\n\n## 0.3.0\n\n- [one](docs/one.md) of\n  two lines\n\n## 0.2.0 - 2027-01-31\n### Added\n- two: %s\n\n## 0.1.0\n- three\n' \
        "$(printf 'word %.0s' $(seq 40))" >"$tree/CHANGELOG.md"
    check_exit 0 "a changelog of releases" "$tree/packaging/changelog" deb 0.3.0-1 "$SOURCE_DATE_EPOCH" 'A B <a@example.org>'
    check "has those with a date" test "$(grep -E '^harness|^  [*] one' "$SCRATCH/out" | paste -sd:)" = \
        "harness (0.3.0-1) unstable; urgency=medium:  * one of two lines:harness (0.2.0-1) unstable; urgency=medium"
    check "that Debian can read" test "$(dpkg-parsechangelog -l "$SCRATCH/out" --all -S Version | head -n 1)" = 0.3.0-1
    check "in short lines" test "$(wc -L <"$SCRATCH/out")" -le 80
    check_exit 2 "a version that is not the changelog's" "$tree/packaging/build" deb "$STAGE" 0.2.0 1 "$SCRATCH/none"
    check_says "both are named" 'CHANGELOG.md are of "0.3.0": expected Unreleased, or 0.2.0' "$SCRATCH/err"
    check_exit 2 "a source tree without a commit, and no date" env -u SOURCE_DATE_EPOCH "$tree/packaging/build" deb "$STAGE" 0.3.0 1 "$SCRATCH/none"
    check_says "what to do" 'set SOURCE_DATE_EPOCH' "$SCRATCH/err"
}
released

refused() {
    check_exit 2 "no options" "$ROOT/packaging/build"
    check_exit 2 "a folder that was not installed" "$ROOT/packaging/build" deb "$SCRATCH" 1.0 1 "$SCRATCH/none"
    check_says "is named" "$SCRATCH is not what" "$SCRATCH/err"
    check_exit 2 "a version with a slash" "$ROOT/packaging/build" deb "$STAGE" ../1 1 "$SCRATCH/none"
    check_exit 2 "a revision with a word" "$ROOT/packaging/build" rpm "$STAGE" 1.0 '1%{nil}' "$SCRATCH/none"
    SOURCE_DATE_EPOCH=yesterday check_exit 2 "a date that is none" "$ROOT/packaging/build" deb "$STAGE" 1.0 1 "$SCRATCH/none"
    DEBFULLNAME=$'A\nB' check_exit 2 "a maintainer of two lines" packages deb "$SCRATCH/none"
    touch "$STAGE/share/stray"
    check_exit 1 "a file that belongs to no package" packages deb "$SCRATCH/none"
    check_says "is named" 'share/stray belongs to no package' "$SCRATCH/err"
    rm "$STAGE/share/stray"
    check "and nothing is left of these" test ! -e "$SCRATCH/none"
}
refused

# /run is empty there: maintainer scripts do not reach a systemd of this machine
# shellcheck disable=SC2317 # called through check_exit
in_root() {
    # shellcheck disable=SC2016 # the inner shell's
    unshare --mount sh -c 'mount -t tmpfs tmpfs /run && exec "$@"' sh \
        dpkg --root="$SCRATCH/root" --force-depends --force-script-chrootless --force-unsafe-io --no-triggers --log=/dev/null "$@"
}
installed() {
    local root=$SCRATCH/root package
    mkdir -p "$root"/var/lib/dpkg/{info,updates}
    touch "$root/var/lib/dpkg/status"
    # what a package manager's helpers keep in folders of their own stays empty
    mkdir -p "$root"/etc/systemd/system "$root"/var/lib/systemd
    tree "$root" >"$SCRATCH/before"
    check_exit 0 "installed" in_root --install "$FIRST"/*.deb
    program_of_packages "$root"
    mkdir -p "$root/etc/systemd/system/nic-sampler.target.wants" # systemctl enable nic-sampler@eth1
    ln -s /lib/systemd/system/nic-sampler@.service "$root/etc/systemd/system/nic-sampler.target.wants/nic-sampler@eth1.service"
    echo 'LISTEN=127.0.0.1:9102' >"$root/etc/nic-sampler/eth1.conf"
    for package in harness-host harness harness-virt; do
        mkdir "$SCRATCH/newer"
        dpkg-deb -R "$FIRST/${package}_"*.deb "$SCRATCH/newer"
        sed -i "s/$UNRELEASED-1/$UNRELEASED-2/" "$SCRATCH/newer/DEBIAN/control"
        rm -f "$SCRATCH"/newer/usr/share/doc/harness/trace.md
        dpkg-deb -Zgzip -z1 -b "$SCRATCH/newer" "$SCRATCH/$package-newer.deb" >/dev/null
        rm -r "$SCRATCH/newer"
    done
    check_exit 0 "a newer version over it" in_root --install "$SCRATCH"/*-newer.deb
    check "what it does not have any more is gone" test ! -e "$root/usr/share/doc/harness/trace.md"
    check "a configuration of the user's is kept" grep -q 9102 "$root/etc/nic-sampler/eth1.conf"
    check "a unit that was enabled is kept" test -L "$root/etc/systemd/system/nic-sampler.target.wants/nic-sampler@eth1.service"
    check_exit 0 "removed" in_root --remove harness-virt harness harness-host
    check "the user's configuration is kept" grep -q 9102 "$root/etc/nic-sampler/eth1.conf"
    rm "$root/etc/nic-sampler/eth1.conf"
    check_exit 0 "purged" in_root --purge harness-virt harness harness-host
    tree "$root" >"$SCRATCH/after"
    check "nothing is left" diff "$SCRATCH/before" "$SCRATCH/after"
}
if [[ $(id -u) != 0 ]]; then
    skip "installed, upgraded, removed" no-root
elif ! unshare --mount true 2>/dev/null; then
    skip "installed, upgraded, removed" no-namespaces
else
    installed
fi

# ---- harness install, with this machine's apt and dpkg

# Folders with a package file of harness-host each: another revision, and files that are none.
make_folders() {
    local name=${DEB##*/}
    mkdir "$SCRATCH"/{2,damaged,named,older,both}
    cp "$SCRATCH/harness-host-newer.deb" "$SCRATCH/2/${name/-1_/-2_}"
    head -c 20000 "$DEB" >"$SCRATCH/damaged/$name"
    cp "$SCRATCH/harness-host-newer.deb" "$SCRATCH/named/$name"
    touch "$SCRATCH/older/${name/$UNRELEASED/0.0.1}"
    cp "$DEB" "$SCRATCH"/2/*.deb "$SCRATCH/both/"
}
# shellcheck disable=SC2016 # dpkg-query's
state() { on_host dpkg-query -W -f='${Package} ${Version} ${db:Status-Status}\n' && on_host ls -A /tmp; }
unchanged() { check "  nothing is changed, and nothing is left" diff "$SCRATCH/before" <(state); }

# librdmacm1 and what needs it are purged, and only then is a repository there that has it: of this machine's files
without_library() {
    on_host sh -c 'rm -f /var/lib/man-db/auto-update; dpkg --purge harness-virt harness harness-host' >/dev/null 2>&1 # this machine may have them
    check_exit 0 "a host without librdmacm1" on_host sh -c 'apt-get -q -y -o Dpkg::Options::=--force-unsafe-io -o DPkg::Options::=--no-triggers purge librdmacm1 &&
        apt-get clean && rm -rf /etc/apt/sources.list*'
    state >"$SCRATCH/before"
    check_exit 3 "  a package is refused" install --packages "$FIRST"
    check_says "  with the reason" 'installing .*/harness-host_.* on host a: .*librdmacm1' "$SCRATCH/err"
    unchanged
}
# shellcheck disable=SC2317 # called through check
repository() {
    local tree=$SCRATCH/library
    mkdir -p "$tree/DEBIAN"
    (cd / && dpkg -L librdmacm1 | sed -n 's,^/\(.*\.so.*\),\1,p' | tar -c -T -) | tar -x -C "$tree"
    dpkg-query -s librdmacm1 | grep -E '^(Package|Version|Architecture|Maintainer|Depends|Description|Multi-Arch):' >"$tree/DEBIAN/control"
    dpkg-deb -Zgzip -z1 -b "$tree" "$SCRATCH/librdmacm1.deb" >/dev/null
    put_on_host /repo "$SCRATCH/librdmacm1.deb"
    on_host sh -c 'echo "deb [trusted=yes] file:/repo ./" >/etc/apt/sources.list && cd /repo && dpkg-scanpackages . >Packages 2>/dev/null && apt-get -q update'
}
with_library() {
    check "a repository that has it" repository
    check_exit 0 "  the package and the library are installed" install --packages "$FIRST"
    installed_as "  which is said" "/usr/bin, package harness-host $UNRELEASED-1"
    check "  nothing else came" test "$(state | diff "$SCRATCH/before" - | grep '^[<>]')" = \
        "> harness-host $UNRELEASED-1 installed"$'\n'"> librdmacm1 $(dpkg-query -W -f='${Version}' librdmacm1) installed"
    state >"$SCRATCH/before"
}
with_package() {
    on_host cp /var/log/dpkg.log /root/
    check_exit 0 "the same package again" install --packages "$FIRST"
    installed_as "  was there" "/usr/bin, package harness-host $UNRELEASED-1, which was there"
    check "  dpkg did nothing" on_host cmp /var/log/dpkg.log /root/dpkg.log
    revisions "another revision" "$SCRATCH/2" ""
    unchanged
}
odd_files() {
    check_exit 3 "a file that was cut" install --packages "$SCRATCH/damaged"
    check_says "  is named" 'installing .*/damaged/harness-host_.* on host a: .*the package file is damaged: ' "$SCRATCH/err"
    check_exit 3 "a file of another version than its name" install --packages "$SCRATCH/named"
    check_says "  both are named" "/named/harness-host_.*: the package file says: harness-host ${UNRELEASED/+/.}-2" "$SCRATCH/err"
    check_exit 0 "a file of another harness; what is there has this version" install --packages "$SCRATCH/older"
    installed_as "  which stays" "/usr/bin, package harness-host $UNRELEASED-1, which was there; no other was installed: $SCRATCH/older has harness-host 0.0.1-1, but this is harness $VERSION"
    check_exit 0 "two files of this version" install --packages "$SCRATCH/both"
    check_says "  none is chosen" 'no other was installed: .*/both has harness-host .* and .*: leave one of them there' "$SCRATCH/out"
    check_exit 2 "a folder that is not there" install --packages "$SCRATCH/nowhere"
    unchanged
}
lab_with() { jq "$1" "$HOST/root.json" >"$LAB"; }
copied() { # WHAT REASON
    check_exit 0 "$1: programs are copied" install --packages "$FIRST"
    check_says "  with the reason" ", copied, because $2\$" "$SCRATCH/out"
}
does_not_fit() {
    cp "$LAB" "$HOST/root.json"
    lab_with '.hosts.a.programs = "/opt/lab"'
    copied "a lab with another folder" 'the lab says "programs": "/opt/lab", and packages have theirs in /usr/bin'
    unchanged
    on_host sh -c 'useradd --create-home --password "*" user && echo x >/usr/bin/roce-traffic'
    lab_with '.hosts.a.ssh |= sub("root"; "user")'
    check_exit 3 "a login that is not root, and a package whose program was overwritten" install --packages "$FIRST"
    check_says "  the package's files are left alone" "has the package harness-host ${UNRELEASED/+/.}-1, whose files copies would overwrite; .*: its login is not root: \"sudo\": true in the lab" "$SCRATCH/err"
    on_host dpkg --purge harness-host >/dev/null 2>&1
    check_exit 3 "a login that is not root, without the package" install --packages "$FIRST"
    check_says "  it cannot write there" "copying /usr/bin/nic-sampler to host a: .*; a package was not installed: its login is not root" "$SCRATCH/err"
    lab_with .
    on_host sh -c 'rm -f /etc/os-release && printf "ID=ubuntu\nID_LIKE=debian\nVERSION_ID=\"22.04\"\n" >/etc/os-release'
    copied "another distribution" 'it runs ubuntu-22, and packages are for Debian 12, Rocky 9 and its kin'
    check "  there is no package" test -z "$(on_host dpkg-query -W harness-host 2>/dev/null)"
    on_host cp /usr/lib/os-release /etc/os-release
    check_exit 0 "where copies were" install --packages "$FIRST"
    check "  the package has its files" on_host dpkg --verify harness-host
    unchanged
}
# Another program holds the lock; the controller is killed meanwhile.
killed() {
    local pid release
    coproc LOCK { on_host python3 -c 'import fcntl, sys; f = open("/var/lib/dpkg/lock-frontend", "w"); fcntl.lockf(f, fcntl.LOCK_EX); print("held", flush=True); sys.stdin.read()'; }
    read -r _ <&"${LOCK[0]}"
    release=${LOCK[1]}
    nsenter --target "$HOST_PID" --net "$BUILD/harness" install --lab "$LAB" --packages "$SCRATCH/2" >/dev/null 2>&1 &
    pid=$!
    check "an installation waits for the lock" until_true 60 on_host pgrep -x apt-get
    kill -KILL $pid
    exec {release}>&-
    # shellcheck disable=SC2016 # the inner shells'
    check "  it ends well when the controller was killed" until_true 60 on_host sh -c '[ "$(dpkg-query -W -f="\${db:Status-Status} \${Version}" harness-host)" = "installed $0" ]' "$UNRELEASED-2"
    # shellcheck disable=SC2016
    check "  it leaves nothing" until_true 60 on_host sh -c '[ -z "$(ls -A /tmp)" ]'
}
by_harness() {
    make_folders
    if start_host /; then ok "a host"; else nok "a host" && return; fi
    without_library
    with_library
    with_package
    odd_files
    does_not_fit
    killed
}
if ! grep -qs '^VERSION_CODENAME=bookworm' /etc/os-release; then
    skip "harness install with packages" no-file /etc/debian_version "this machine runs no Debian 12"
elif hosts_possible "harness install with packages"; then
    by_harness
fi
finish
