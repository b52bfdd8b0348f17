#!/bin/bash
# `harness install` with packages: a Debian 12 and a host that looks like Rocky 9, each this machine's files under an overlay with an sshd, and
# real apt-get, dpkg, dnf and rpm. tests/package-check does it in a clean Debian, with the system's package archive.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/e2e/packages/packages.bash
source "$(dirname "$0")/packages.bash"
skip_unless "harness install with packages" make git dh dpkg-deb apt-get rpmbuild rpm dnf createrepo_c dpkg-scanpackages sshd jq python3
[[ $(id -u) == 0 ]] || { skip "harness install with packages" no-root && finish; }
unshare --mount --net --pid --fork true 2>/dev/null || { skip "harness install with packages" no-namespaces && finish; }
grep -qw overlay /proc/filesystems || { skip "harness install with packages" no-overlayfs && finish; }
if [[ -z ${HARNESS_INSTALL_INSIDE:-} ]]; then
    rm -rf "$SCRATCH"
    HARNESS_INSTALL_INSIDE=1 exec unshare --net "$0" # ports of their own, and no way to a package archive
fi
ip link set lo up
# shellcheck source=tests/e2e/packages/hosts.bash
source "$(dirname "$0")/hosts.bash"

H=$BUILD/harness
FILES=$SCRATCH/files
ARCH=$(dpkg --print-architecture)
deb_file() { echo "$1/harness-host_$UNRELEASED-${2:-1}_$ARCH.deb"; }
rpm_file() { echo "$1/harness-host-$UNRELEASED-${2:-1}$(rpm --eval '%{?dist}').$(rpm --eval '%{_arch}').rpm"; }
check "what is packaged is laid out" lay_out_stage
DH_OPTIONS=-pharness-host check_exit 0 "a package of Debian" packages deb "$FILES"
check_exit 0 "those of Rocky" packages rpm "$FILES"
rm -f "$FILES"/harness-[0-9v]*.rpm

start_host debian 127.0.0.1 / && start_host rocky 127.0.0.2 / || nok "two hosts"
jq -n --argjson one "$(host_of debian 127.0.0.1)" --argjson two "$(host_of rocky 127.0.0.2)" '{schema: 1, name: "packaged", driver: "ssh", hosts: ($one + $two)}' >"$SCRATCH/lab.json"
install() { "$H" install --lab "$SCRATCH/lab.json" "$@"; }
# The machine's own packages may have what a host is to lack.
on debian dpkg --purge --force-depends harness-virt harness harness-host >/dev/null 2>&1

# A database of packages with one that provides what harness-host needs, but the library librdmacm, which has a repository of its own.
make_rocky() {
    local needs=$SCRATCH/needs
    rpm -qp --requires "$(rpm_file "$FILES")" | grep -v '^rpmlib' | sort -u >"$needs"
    stand_in base "$(grep -v librdmacm "$needs")"
    stand_in librdmacm "$(grep librdmacm "$needs")"
    on rocky sh -c 'rm -rf /var/lib/rpm /etc/yum.repos.d && mkdir -p /etc/yum.repos.d /repo && rm -f /etc/os-release && cat >/etc/os-release' \
        <<<$'ID="rocky"\nID_LIKE="rhel centos fedora"\nVERSION_ID="9.5"'
    put_on rocky /repo "$SCRATCH"/rpms/librdmacm-*.rpm
    put_on rocky /tmp "$SCRATCH"/rpms/base-*.rpm
    on rocky sh -c 'rpm -i --nosignature /tmp/base-*.rpm 2>/dev/null && rm /tmp/base-*.rpm'
}
stand_in() { # NAME PROVIDES
    mkdir -p "$SCRATCH/rpms"
    printf 'Name: %s\nVersion: 1\nRelease: 1\nSummary: stand-in\nLicense: none\nBuildArch: noarch\nAutoReqProv: no\n%s\n%%description\nstand-in\n%%files\n' \
        "$1" "$(sed 's/^/Provides: /' <<<"$2")" >"$SCRATCH/$1.spec"
    rpmbuild -bb --quiet --define "_topdir $SCRATCH/top" --define "_rpmdir $SCRATCH/rpms" --define '_build_name_fmt %%{NAME}-%%{VERSION}-%%{RELEASE}.%%{ARCH}.rpm' \
        "$SCRATCH/$1.spec" >/dev/null 2>&1
}
# Another revision of the packages, in a folder of its own.
revision() { # N
    mkdir -p "$SCRATCH/$1/tree"
    dpkg-deb -R "$(deb_file "$FILES")" "$SCRATCH/$1/tree"
    sed -i "s/$UNRELEASED-1/$UNRELEASED-$1/" "$SCRATCH/$1/tree/DEBIAN/control"
    dpkg-deb -Zgzip -z1 -b "$SCRATCH/$1/tree" "$(deb_file "$SCRATCH/$1" "$1")" >/dev/null
    packages rpm "$SCRATCH/$1" "$1" >/dev/null
    rm -r "$SCRATCH/$1"/{tree,harness-[0-9v]*.rpm}
}
make_rocky
revision 2

# The state of both package managers, and whether anything is left of an installation.
state() {
    on debian dpkg-query -W -f='${Package} ${Version} ${db:Status-Status}\n'
    on rocky rpm -qa | sort
    on debian ls -A /tmp
    on rocky ls -A /tmp
}
unchanged() { check "... nothing is changed, and nothing is left" diff "$SCRATCH/before" <(state); }
said() { check "$1" grep -qxF "$2: nic-sampler, host-facts, nic-config, roce-traffic $VERSION in $3" "$SCRATCH/out"; }

# ---- hosts without the package
check_exit 3 "a library is missing, and no repository has it: Rocky" install rocky --packages "$FILES"
check_says "... which" 'installing .*harness-host-.* on host rocky: .*nothing provides librdmacm' "$SCRATCH/err"
check_exit 0 "... Debian, without the library" on debian sh -c 'apt-get -q -y -o Dpkg::Options::=--force-unsafe-io -o DPkg::Options::=--no-triggers purge librdmacm1 && apt-get clean'
state >"$SCRATCH/before"
check_exit 3 "... Debian" install debian --packages "$FILES"
check_says "... which" 'installing .*harness-host_.* on host debian: .*librdmacm1' "$SCRATCH/err"
unchanged

repositories() {
    on rocky createrepo_c -q /repo
    on rocky sh -c 'cat >/etc/yum.repos.d/one.repo' <<<$'[one]\nname=one\nbaseurl=file:///repo\ngpgcheck=0'
    # the library that was purged, as this machine has it, as a package
    local tree=$SCRATCH/librdmacm
    mkdir -p "$tree/DEBIAN"
    (cd / && dpkg -L librdmacm1 | sed -n 's,^/\(.*\.so.*\),\1,p' | tar -c -T -) | tar -x -C "$tree"
    dpkg-query -s librdmacm1 | grep -E '^(Package|Version|Architecture|Maintainer|Depends|Description|Multi-Arch):' >"$tree/DEBIAN/control"
    dpkg-deb -Zgzip -z1 -b "$tree" "$SCRATCH/librdmacm1.deb" >/dev/null
    put_on debian /repo "$SCRATCH/librdmacm1.deb"
    on debian sh -c 'rm -rf /etc/apt/sources.list* && echo "deb [trusted=yes] file:/repo ./" >/etc/apt/sources.list &&
        cd /repo && dpkg-scanpackages . >Packages 2>/dev/null && apt-get -q update'
}
check "repositories that have it" repositories
check_exit 0 "both hosts at once" install --packages "$FILES"
said "... Debian has the package" debian "/usr/bin, package harness-host $UNRELEASED-1"
said "... and Rocky" rocky "/usr/bin, package harness-host $UNRELEASED-1"
state >"$SCRATCH/after"
check "... that package and the library came, and nothing else" test "$(diff "$SCRATCH/before" "$SCRATCH/after" | grep '^[<>]')" = \
    "> harness-host $UNRELEASED-1 installed
> librdmacm1 $(dpkg-query -W -f='${Version}' librdmacm1) installed
> $(basename "$(rpm_file "$FILES")" .rpm)
> librdmacm-1-1.noarch"
state >"$SCRATCH/before"

# ---- hosts that have it
noted() { on debian cat /var/log/dpkg.log | wc -l; }
lines=$(noted)
check_exit 0 "the same package again" install --packages "$FILES"
said "... was there" debian "/usr/bin, package harness-host $UNRELEASED-1, which was there"
said "... and on Rocky" rocky "/usr/bin, package harness-host $UNRELEASED-1, which was there"
check "... dpkg did nothing" test "$(noted)" = "$lines"
for host in debian rocky; do on $host sh -c 'echo x >/usr/bin/nic-config'; done
check_exit 0 "a program that was overwritten is put back" install --packages "$FILES"
check "... on both" sh -c "! grep 'was there' '$SCRATCH/out'"
check_exit 0 "another revision" install --packages "$SCRATCH/2"
said "... in place of the first" debian "/usr/bin, package harness-host $UNRELEASED-2 in place of $UNRELEASED-1"
said "... and on Rocky" rocky "/usr/bin, package harness-host $UNRELEASED-2 in place of $UNRELEASED-1"
check_exit 0 "the older one, which is this controller's" install --packages "$FILES"
said "... in place of the newer" debian "/usr/bin, package harness-host $UNRELEASED-1 in place of $UNRELEASED-2"
said "... and on Rocky" rocky "/usr/bin, package harness-host $UNRELEASED-1 in place of $UNRELEASED-2"
unchanged

# ---- package files that are none
mkdir "$SCRATCH"/{damaged,named,older,none}
head -c 20000 "$(deb_file "$FILES")" >"$(deb_file "$SCRATCH/damaged")"
head -c 20000 "$(rpm_file "$FILES")" >"$(rpm_file "$SCRATCH/damaged")"
cp "$(deb_file "$SCRATCH/2" 2)" "$(deb_file "$SCRATCH/named")"
cp "$(rpm_file "$SCRATCH/2" 2)" "$(rpm_file "$SCRATCH/named")"
touch "$SCRATCH/older/harness-host_0.0.1-1_$ARCH.deb" "$SCRATCH/older/harness-host-0.0.1-1.x86_64.rpm"
cp "$(deb_file "$FILES")" "$(deb_file "$SCRATCH/2" 2)" "$SCRATCH/none/"
check_exit 3 "files that were cut" install --packages "$SCRATCH/damaged"
check "... both are named, with what is wrong" test "$(grep -cE 'installing .*/damaged/.* on host .*: the package file (is damaged|says): ' "$SCRATCH/err")" = 2
check_exit 3 "files of another version than their name" install --packages "$SCRATCH/named"
check "... both" test "$(grep -c "the package file says: harness-host $UNRELEASED-2" "$SCRATCH/err")" = 2
check_exit 0 "files of another harness: what is there has this version" install --packages "$SCRATCH/older"
said "... which stays" debian "/usr/bin, package harness-host $UNRELEASED-1, which was there; no other was installed: $SCRATCH/older has harness-host 0.0.1-1, but this is harness $VERSION"
check_exit 0 "two files of this version" install debian --packages "$SCRATCH/none"
check_says "... none is chosen" 'no other was installed: .* has harness-host .* and .*: leave one of them there' "$SCRATCH/out"
check_exit 2 "a folder that is not there" install --packages "$SCRATCH/nowhere"
unchanged

# ---- where packages do not fit
elsewhere() { # WHAT PATTERN FILTER: copies, and why
    jq "$3" "$SCRATCH/lab.json" >"$SCRATCH/elsewhere.json"
    check_exit 0 "$1: programs are copied" "$H" install debian --lab "$SCRATCH/elsewhere.json" --packages "$FILES"
    check_says "... and it says why" ", copied, because $2\$" "$SCRATCH/out"
}
elsewhere "a lab with another folder" 'the lab says "programs": "/opt/lab", and packages have theirs in /usr/bin' '.hosts.debian.programs = "/opt/lab"'
unchanged
on debian sh -c 'useradd --create-home --password "*" user && echo x >/usr/bin/roce-traffic'
jq '.hosts.debian.ssh |= sub("root"; "user")' "$SCRATCH/lab.json" >"$SCRATCH/user.json"
check_exit 3 "a login that is not root, and a package's program that is damaged" "$H" install debian --lab "$SCRATCH/user.json" --packages "$FILES"
check_says "... its files are not overwritten" "has the package harness-host ${UNRELEASED/+/.}-1, whose files copies would overwrite; .*: its login is not root: \"sudo\": true in the lab" "$SCRATCH/err"
on debian dpkg --purge harness-host >"$SCRATCH/out" 2>&1
check_exit 3 "a login that is not root, without the package" "$H" install debian --lab "$SCRATCH/user.json" --packages "$FILES"
check_says "... cannot write there either" "copying /usr/bin/nic-sampler to host debian: .*; a package was not installed: its login is not root" "$SCRATCH/err"
on debian sh -c 'rm -f /etc/os-release && printf "ID=ubuntu\nID_LIKE=debian\nVERSION_ID=\"22.04\"\n" >/etc/os-release'
elsewhere "another distribution" 'it runs ubuntu-22, and packages are for Debian 12, Rocky 9 and its kin' .
check "... nothing of the package is there" test -z "$(on debian dpkg-query -W harness-host 2>/dev/null)"
on debian sh -c 'cp /usr/lib/os-release /etc/os-release; rm -f /usr/bin/nic-config'
check_exit 0 "where copies were, the package has its files" install debian --packages "$FILES"
check "... all of them" test "$(on debian dpkg-query -S /usr/bin/nic-config)" = "harness-host: /usr/bin/nic-config"
unchanged

# ---- another program holds the package manager's lock; the controller is killed meanwhile
lock() { on debian python3 -c 'import fcntl, sys, time; f = open("/var/lib/dpkg/lock-frontend", "w"); fcntl.lockf(f, fcntl.LOCK_EX); print("held", flush=True); sys.stdin.read()'; }
coproc LOCK { lock; }
read -r _ <&"${LOCK[0]}"
install debian --packages "$SCRATCH/2" >"$SCRATCH/out" 2>"$SCRATCH/err" &
pid=$!
waits() { on debian pgrep -x apt-get; }
check "an installation waits for the lock" until_true 20 waits
kill -KILL $pid
exec {LOCK[1]}>&-
is_there() { test "$(on debian dpkg-query -W -f='${db:Status-Status} ${Version}' harness-host)" = "installed $UNRELEASED-2"; }
check "... and goes on to its end when the controller was killed" until_true 60 is_there
is_empty() { test -z "$(on debian ls -A /tmp)"; }
check "... and leaves nothing" until_true 20 is_empty
finish
