# shellcheck shell=bash disable=SC2034 # steps use the names that are set here
# Common part of the Rocky profiles' steps. A step sources this file, defines `check` and `apply`, and ends with `step "$@"`.
# With pipefail a pipe fails if any of its commands fails: do not end one with `grep -q`, which stops reading and makes the writer fail.
# Steps read the versions that they install from the folder that the controller serves (guest-setup/host/packages).
set -euo pipefail
export LC_ALL=C

SERVED=${LAB_FILES:-/usr/local/share/lab}/packages
STAMPS=/var/lib/lab
KERNEL=$(uname -r)
REBOOT=100

say() { printf '%s\n' "$*" >&2; }
fail() {
    say "$*"
    exit 1
}

# Report incomplete or damaged served files; without SHA256SUMS the next rebuild serves them again.
not_whole() {
    rm -f "$SERVED/SHA256SUMS"
    fail "$*: the next rebuild copies it again"
}

step() {
    case ${1-} in
    check) check ;;
    apply) apply ;;
    *) fail "usage: ${0##*/} check|apply" ;;
    esac
}

# ---- the bundle of versions
bundle() { awk -v key="$1" '$1 == key { sub("^[^ ]* ", ""); print }' "$SERVED/bundle"; }
# The items of the bundle's list $1, one per line.
bundle_list() { awk -v key="$1." 'index($1, key) == 1 { print $2 }' "$SERVED/bundle"; }

# ---- packages
# The installed packages, in each form in which a bundle may name them: NAME, NAME-VERSION-RELEASE.ARCH, NAME-EPOCH:VERSION-RELEASE.ARCH.
installed_packages() {
    rpm -qa --queryformat '%{NAME}\n%{NAME}-%{VERSION}-%{RELEASE}.%{ARCH}\n%{NAME}-%{EPOCH}:%{VERSION}-%{RELEASE}.%{ARCH}\n'
}
# The packages of group $1 that are not installed. One rpm call for all of them, because each call is slow.
missing_packages() { grep -vxFf <(installed_packages) <(bundle_list "packages.$1.names") || true; }
# dnf with the served repositories only, with signatures checked (set in lab.repo).
lab_dnf() { dnf --assumeyes --quiet --disablerepo='*' --enablerepo='lab-*' --setopt=install_weak_deps=False "$@"; }

# ---- modules
is_loaded() { [[ -d /sys/module/${1//-/_} ]]; }
# Field $1 of module $2 on disk; empty if there is no such module.
of_module() { modinfo -k "$KERNEL" -F "$1" "$2" 2>/dev/null || true; }
# Whether the loaded module $1 is the one on disk.
is_current() {
    local loaded=/sys/module/${1//-/_}/srcversion
    [[ -f $loaded && $(cat "$loaded") == "$(of_module srcversion "$1")" ]]
}

# ---- files
# is_file: whether file $1 equals standard input. put_file: write standard input to file $1.
is_file() { cmp -s - "$1"; }
put_file() {
    mkdir -p "$(dirname "$1")"
    cat >"$1.new"
    sync "$1.new" && mv "$1.new" "$1" && sync "$(dirname "$1")" # a power cut leaves the old file or the new one
}
