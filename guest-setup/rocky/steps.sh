# shellcheck shell=bash disable=SC2034 # steps use the names that are set here
# What the steps of the Rocky profiles share. A step sources this, defines `check` and `apply`, and ends with `step "$@"`.
# A pipe fails with any of its commands: no `grep -q` at its end, which stops reading and lets the writer fail.
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

# What was served is not whole: without its list of checksums it is served again.
not_whole() {
    rm -f "$SERVED/SHA256SUMS"
    fail "$*: the next rebuild serves it again"
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
# The items of the bundle's list $1, one a line.
bundle_list() { awk -v key="$1." 'index($1, key) == 1 { print $2 }' "$SERVED/bundle"; }

# ---- packages
# What is installed, as a bundle may name it: NAME, NAME-VERSION-RELEASE.ARCH, NAME-EPOCH:VERSION-RELEASE.ARCH.
installed_packages() {
    rpm -qa --queryformat '%{NAME}\n%{NAME}-%{VERSION}-%{RELEASE}.%{ARCH}\n%{NAME}-%{EPOCH}:%{VERSION}-%{RELEASE}.%{ARCH}\n'
}
# Those of group $1 that are not installed. One question for all: a question to rpm takes longer than its answer.
missing_packages() { grep -vxFf <(installed_packages) <(bundle_list "packages.$1.names") || true; }
# dnf with the served repositories only, signatures checked (lab.repo says so).
lab_dnf() { dnf --assumeyes --quiet --disablerepo='*' --enablerepo='lab-*' --setopt=install_weak_deps=False "$@"; }

# ---- modules
is_loaded() { [[ -d /sys/module/${1//-/_} ]]; }
# Field $1 of module $2 on disk; nothing when there is none.
of_module() { modinfo -k "$KERNEL" -F "$1" "$2" 2>/dev/null || true; }
# The loaded module $1 is the one on disk.
is_current() {
    local loaded=/sys/module/${1//-/_}/srcversion
    [[ -f $loaded && $(cat "$loaded") == "$(of_module srcversion "$1")" ]]
}

# ---- files
# Is file $1 exactly the standard input? / Make it so.
is_file() { cmp -s - "$1"; }
put_file() {
    mkdir -p "$(dirname "$1")"
    cat >"$1.new"
    mv "$1.new" "$1"
}
