#!/bin/bash
# Packages of Rocky, made of the programs in build/: the same bytes whenever and wherever they are made, rpmlint, what is in them, and installed,
# upgraded and removed in a root of their own, without their dependencies, which are compared with those of deps/install-packages;
# and by `harness install` with rpm and dnf on a host that has this machine's files, the names of Rocky, and stand-ins for its libraries' packages.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/e2e/packages/packages.bash
source "$(dirname "$0")/packages.bash"
# shellcheck source=tests/e2e/packages/hosts.bash
source "$(dirname "$0")/hosts.bash"
skip_unless "packages of Rocky" make git rpmbuild rpm

FIRST=$SCRATCH/first
ARCH=$(rpm --eval '%{_arch}')
DIST=$(rpm --eval '%{?dist}')
file_of() { echo "$1-$UNRELEASED-${2:-1}$DIST.$ARCH.rpm"; }
check "what is packaged is laid out" lay_out_stage
mkdir "$FIRST"
touch "$FIRST/harness-0.0.1-1.noarch.rpm" # of an older version: it goes
check_exit 0 "packages are made" packages rpm "$FIRST"
check "one each, of the version in the Makefile" test "$(cd "$FIRST" && echo *)" = "$(file_of harness) $(file_of harness-host) $(file_of harness-virt)"

contents() {
    local package
    rpm -qpl "$FIRST"/*.rpm | LC_ALL=C sort >"$SCRATCH/files"
    check "no file is in two packages, only the folder of both" test "$(uniq -d "$SCRATCH/files")" = /usr/share/harness
    (cd "$STAGE" && find . \( ! -type d -o -path './share/harness*' -o -path ./share/doc/harness \) -printf '/usr/%P\n') | sed -E 's,(share/man/.*),\1.gz,' |
        sed '$a/etc/nic-sampler' | LC_ALL=C sort >"$SCRATCH/installed"
    check "they have exactly what make install has" diff "$SCRATCH/installed" <(uniq "$SCRATCH/files")
    for package in harness harness-host harness-virt; do
        rpm -qp --requires --recommends "$FIRST/$(file_of "$package")" >"$SCRATCH/needs"
        check "$package does not need CUDA or NVML" bash -c "! grep -qiE 'cuda|nvidia|nvml' '$SCRATCH/needs'"
        # words that are no library, no feature of rpm, no package of these and no path
        rpm -qp --requires "$FIRST/$(file_of "$package")" | grep -vE '^(lib|ld-|rpmlib|rtld|harness|/)' | LC_ALL=C sort -u >"$SCRATCH/named"
        case $package in
        harness) "$ROOT/deps/install-packages" --list rocky run ;;
        harness-host) ;;
        harness-virt) "$ROOT/deps/install-packages" --list rocky provision | grep -v / ;;
        esac | sed '/^lib/d' | LC_ALL=C sort -u >"$SCRATCH/expected"
        check "$package names what deps/install-packages has for Rocky" diff "$SCRATCH/expected" "$SCRATCH/named"
    done
    check "nothing is needed that only guests have" test "$(rpm -qp --requires "$FIRST/$(file_of harness-virt)" | grep '^/' | LC_ALL=C sort -u | xargs)" = "/bin/bash /usr/bin/curl"
    check "harness needs the library that it loads when it reaches a guest" grep -qx libvirt-libs <(rpm -qp --requires "$FIRST/$(file_of harness)")
    rpm -qp --requires "$FIRST/$(file_of harness-host)" >"$SCRATCH/needs"
    check_says "libraries are found by the tools" '^libibverbs.so.1' "$SCRATCH/needs"
    check "the licence is one" test "$(rpm -qp --licensefiles "$FIRST/$(file_of harness-host)")" = /usr/share/doc/harness/LICENSE
    rpm -qp --changelog "$FIRST/$(file_of harness)" >"$SCRATCH/changelog"
    check "the changelog has each entry of CHANGELOG.md's newest section" test "$(sed '/^$/q' "$SCRATCH/changelog" | grep -c '^- ')" = "$(newest_entries)"
    check "per cent signs are as written" test "$(grep -c '95 %' "$SCRATCH/changelog")" -gt 0
}
contents

if [[ -z $(command -v rpmlint) ]]; then
    skip "rpmlint" no-command rpmlint
else
    check "rpmlint finds nothing but what packaging/rpmlint.toml explains" bash -c \
        "rpmlint -c '$ROOT/packaging/rpmlint.toml' '$FIRST'/*.rpm | tee /dev/stderr | grep -q ' 0 errors, 0 warnings, '"
fi
check_exit 0 "made again, at another time, elsewhere, with another umask and locale" otherwise packages rpm "$SCRATCH/second"
for package in harness harness-host harness-virt; do check "the same bytes: $package" cmp "$FIRST/$(file_of $package)" "$SCRATCH/second/$(file_of $package)"; done

# Scripts of packages are run by tests/package-check: here there is no shell.
# shellcheck disable=SC2317 # called through check_exit
in_root() { rpm --root "$SCRATCH/root" --dbpath /var/lib/rpm --nodeps --noscripts --nosignature "$@"; }
installed() {
    local root=$SCRATCH/root
    mkdir -p "$root"/{usr/{bin,lib/systemd/system,share/{man/man1,man/man5,doc,bash-completion/completions,zsh/site-functions,fish/vendor_completions.d}},etc,var/lib/rpm}
    tree "$root" >"$SCRATCH/before"
    check_exit 0 "installed" in_root --install "$FIRST"/*.rpm
    program_of_packages "$root"
    echo 'LISTEN=127.0.0.1:9102' >"$root/etc/nic-sampler/eth1.conf"
    rm "$STAGE/share/doc/harness/trace.md"
    check_exit 0 "newer ones are made" packages rpm "$SCRATCH/newer" 2
    check_exit 0 "a newer version over it" in_root --upgrade "$SCRATCH"/newer/*.rpm
    check "what it does not have any more is gone" test ! -e "$root/usr/share/doc/harness/trace.md"
    check_exit 0 "all files are as packaged" in_root --verify --nomtime harness-host harness harness-virt
    check_exit 0 "removed" in_root --erase harness-virt harness harness-host
    check "the user's configuration is kept" grep -q 9102 "$root/etc/nic-sampler/eth1.conf"
    rm -r "$root/etc/nic-sampler"
    tree "$root" >"$SCRATCH/after"
    check "nothing is left" diff "$SCRATCH/before" "$SCRATCH/after"
}
if [[ $(id -u) != 0 ]]; then skip "installed, upgraded, removed" no-root; else installed; fi

# ---- harness install

# A package without files, as $SCRATCH/provided/NAME-1-1.noarch.rpm.
# shellcheck disable=SC2001,SC2317 # called through check
stand_in() { # NAME PROVIDES
    printf 'Name: %s\nVersion: 1\nRelease: 1\nSummary: stand-in\nLicense: none\nBuildArch: noarch\nAutoReqProv: no\n%s\n%%description\nstand-in\n%%files\n' \
        "$1" "$(sed 's/^/Provides: /' <<<"$2")" >"$SCRATCH/$1.spec"
    rpmbuild -bb --quiet --define "_topdir $SCRATCH/top" --define "_rpmdir $SCRATCH/provided" --define '_build_name_fmt %%{NAME}-%%{VERSION}-%%{RELEASE}.%%{ARCH}.rpm' \
        "$SCRATCH/$1.spec" >/dev/null 2>&1
}
# Its database has all that harness-host needs but librdmacm, which is in a folder.
# shellcheck disable=SC2317 # called through check
become_rocky() {
    rpm -qp --requires "$HOST_RPM" | grep -v '^rpmlib' | sort -u >"$SCRATCH/needs"
    stand_in base "$(grep -v librdmacm "$SCRATCH/needs")" && stand_in librdmacm "$(grep librdmacm "$SCRATCH/needs")" || return
    put_on_host /packages "$SCRATCH"/provided/*.rpm
    on_host sh -c 'rm -rf /var/lib/rpm /etc/yum.repos.d /etc/os-release && mkdir -p /etc/yum.repos.d && rpm -i --nosignature /packages/base-*.rpm &&
        rm /packages/base-*.rpm && createrepo_c -q /packages && cat >/etc/os-release' <<<$'ID="rocky"\nID_LIKE="rhel centos fedora"\nVERSION_ID="9.5"'
}
state() { on_host rpm -qa | LC_ALL=C sort && on_host ls -A /tmp; }
by_harness() {
    local name=${HOST_RPM##*/} newer
    newer=$SCRATCH/newer/$(file_of harness-host 2)
    mkdir "$SCRATCH"/{damaged,misnamed}
    head -c 20000 "$HOST_RPM" >"$SCRATCH/damaged/$name"
    cp "$newer" "$SCRATCH/misnamed/$name"
    if start_host /; then ok "a host"; else nok "a host" && return; fi
    check "  like Rocky" become_rocky
    state >"$SCRATCH/before"
    check_exit 3 "a package whose library no repository has is refused" install --packages "$FIRST"
    check_says "  with the reason" 'installing .*/harness-host-.* on host a: .*nothing provides librdmacm' "$SCRATCH/err"
    check "  nothing is changed, and nothing is left" diff "$SCRATCH/before" <(state)
    on_host sh -c 'cat >/etc/yum.repos.d/one.repo' <<<$'[one]\nname=one\nbaseurl=file:///packages\ngpgcheck=0'
    check_exit 0 "with the library in a repository, both are installed" install --packages "$FIRST"
    installed_as "  which is said" "/usr/bin, package harness-host $UNRELEASED-1$DIST"
    check "  nothing else came" test "$(state | diff "$SCRATCH/before" - | grep '^[<>]')" = "> ${name%.rpm}"$'\n'"> librdmacm-1-1.noarch"
    state >"$SCRATCH/before"
    on_host rm -r /etc/yum.repos.d
    check_exit 0 "the same package again" install --packages "$FIRST"
    installed_as "  was there" "/usr/bin, package harness-host $UNRELEASED-1$DIST, which was there"
    revisions "another revision, without a repository" "$SCRATCH/newer" "$DIST"
    check_exit 3 "a file that was cut" install --packages "$SCRATCH/damaged"
    check_says "  is named" 'installing .*/damaged/harness-host-.* on host a: .*: the package file (is damaged|says): ' "$SCRATCH/err"
    check_exit 3 "a file of another version than its name" install --packages "$SCRATCH/misnamed"
    check_says "  both are named" "/misnamed/harness-host-.*: the package file says: harness-host ${UNRELEASED/+/.}-2" "$SCRATCH/err"
    check "  nothing is changed, and nothing is left" diff "$SCRATCH/before" <(state)
}
HOST_RPM=$FIRST/$(file_of harness-host)
if [[ -z $(command -v dnf) || -z $(command -v createrepo_c) ]]; then
    skip "harness install with packages" no-command "$([[ -z $(command -v dnf) ]] && echo dnf || echo createrepo_c)"
elif hosts_possible "harness install with packages"; then
    by_harness
fi
finish
