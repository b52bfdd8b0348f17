# shellcheck shell=bash
# Real guests for a test, in a few lines. Source it after tests/e2e/lib.sh:
#
#   . "$(dirname "$0")/../lib.sh"
#   . "$(dirname "$0")/softlab.bash"
#   softlab_require "$0" "$@"         # skips with the reason if no soft lab can be created; else continues inside a private libvirt
#   softlab_begin soft-pair           # boots the hosts of labs/soft-pair.json, or takes them when they are up already;
#                                     # at exit they go, unless other tests share them
#   softlab_put a build/nic-sampler build/nic-config   # into /usr/local/bin of host a
#   softlab_ssh a 'nic-sampler --every 10ms --count 3 --netdev data0'
#
# Hosts: soft-pair has a (10.0.0.1) and b (10.0.0.2); soft-switch has a (10.0.1.1), sw (forwards between data0 and data1), b (10.0.1.2).
# virtual-pair has a (10.0.2.1) and b (10.0.2.2), with a virtual ConnectX, roce0, over data0 (softlab_module first).
# In a guest: data0 (and data1 on sw) is the test interface, mgmt0 carries ssh; rxe0 is Soft-RoCE on data0 of a and b. The
# programs of build/ that profile debian-12-softroce names are in /usr/local/bin already.
# Commands run as root through the guest's shell; `softlab_ssh HOST -n ...` style options are not taken: redirect stdin instead.
# Guests stay up between the parts that tests/e2e/guests/run-parts runs (tests/e2e/guests/*.sh), so leave them as you found them:
# no settings, qdiscs, links, modules or processes of yours may remain.
# $SOFTLAB_DIR is a scratch folder; serial logs are /var/lib/libvirt/images/harness-LAB/HOST.console.

SOFTLAB_ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)

# Go on in a soft lab: the script itself is run again inside. Skips the whole script where none can be made.
softlab_require() {
    local why
    [ -z "${SOFT_LAB:-}" ] || { softlab_enter; return 0; }
    why=$("$SOFTLAB_ROOT/guest-setup/soft-lab" --check)
    if [ -n "$why" ]; then
        echo "ok 1 - the soft lab # SKIP none can be made here: $why"
        echo "1..1"
        exit 0
    fi
    rm -rf "${SCRATCH:-}"
    exec "$SOFTLAB_ROOT/guest-setup/soft-lab" "$@"
}

# The image of another profile than the soft lab's own: made here before softlab_require, since inside there is no network to fetch packages from.
softlab_image() { # PROFILE
    [ -z "${SOFT_LAB:-}" ] && [ -z "$("$SOFTLAB_ROOT/guest-setup/soft-lab" --check)" ] || return 0
    "$SOFTLAB_ROOT/guest-setup/build-image" "$1" > /dev/null || {
        nok "the image of $1 is built"
        finish
    }
}

softlab_enter() {
    SOFTLAB_DIR=${SOFTLAB_DIR:-$SOFT_LAB_STATE/test}
    export XDG_STATE_HOME=$SOFT_LAB_STATE/state # shared between parts: it has the lab's keys
    mkdir -p "$SOFTLAB_DIR"
    # KVM is tried once, by the first part that makes guests
    [ ! -s "$SOFTLAB_DIR/accelerator" ] || HARNESS_ACCELERATOR=$(cat "$SOFTLAB_DIR/accelerator")
    export HARNESS_ACCELERATOR
}

softlab_ssh() {
    local host=$1
    shift
    ssh -F "$SOFTLAB_DIR/$SOFTLAB/ssh_config" -o BatchMode=yes -o LogLevel=ERROR -o ControlMaster=auto -o ControlPersist=300 \
        -o ControlPath="$SOFTLAB_DIR/$SOFTLAB/$host.ctl" "$host" "$@"
}

# Files into /usr/local/bin of a host, with their modes.
softlab_put() {
    local host=$1 file name mode
    shift
    for file in "$@"; do
        name=/usr/local/bin/${file##*/}
        mode=$(stat -Lc %a "$file") || return 1
        softlab_ssh "$host" "cat > $name.new && chmod $mode $name.new && mv $name.new $name" < "$file" || return 1
    done
}

softlab_up() {
    SOFTLAB=$1
    SOFTLAB_FILE=$SOFTLAB_ROOT/labs/$1.json
    [ ! -e "$SOFTLAB_DIR/$1/ssh_config" ] || return 0
    mkdir -p "$SOFTLAB_DIR/$1"
    softlab_provision rebuild --quiet && softlab_provision ssh-config > "$SOFTLAB_DIR/$1/ssh_config" || return 1
    softlab_provision status --quiet --json | jq -r '.hosts[0].type' > "$SOFTLAB_DIR/accelerator"
}

# The lab for the rest of the test: without it the test fails and ends.
softlab_begin() { # LAB
    at_exit softlab_down "$1"
    softlab_up "$1" || {
        nok "$1 is up"
        finish
    }
}

# The virtual ConnectX's module for the guests' kernel. Without that kernel's headers the test is skipped and ends.
softlab_module() { # WHAT: what needs it
    local headers
    headers=/usr/src/linux-headers-$(cat "$("$SOFTLAB_ROOT/guest-setup/build-image" debian-12-softroce)/kernel-release")
    if [ ! -d "$headers" ]; then
        skip "$1" no-file "$headers" linux-headers-amd64
        finish
    fi
    check_exit 0 "the module is built for the guests' kernel" "$SOFTLAB_ROOT/guest-setup/build-module"
}

# Prints the driver of a host's virtual ConnectX with its version, and succeeds if it is MLNX_OFED's (HARNESS_MLX5_MODULES).
softlab_ofed() { # HOST
    # shellcheck disable=SC2016  # the guest expands it
    softlab_ssh "$1" 'echo "# drivers: mlx5_core $(ethtool -i roce0 | sed -n "s/^version: //p") of $(modinfo -F filename mlx5_core)"
        [ -d /sys/module/mlx_compat ]' < /dev/null
}

# softlab_mtu MTU HOST...: the MTU of the hosts' data interfaces. The labs' links carry 4200; tests that count packets want 1500.
softlab_mtu() { # MTU HOST...
    local mtu=$1 host
    shift
    for host in "$@"; do
        # shellcheck disable=SC2016  # the guest expands it
        softlab_ssh "$host" "for d in /sys/class/net/data*; do ip link set \${d##*/} mtu $mtu; done" || return 1
    done
}
softlab_provision() { # COMMAND...: virt-provision on the lab
    "${BUILD:-$SOFTLAB_ROOT/build}/virt-provision" --lab "$SOFTLAB_FILE" "$@"
}

softlab_down() { # LAB
    local control SOFTLAB=$1 SOFTLAB_FILE=$SOFTLAB_ROOT/labs/$1.json
    [ -z "${SOFTLAB_SHARED:-}" ] || return 0
    for control in "$SOFTLAB_DIR/$SOFTLAB"/*.ctl; do
        [ ! -S "$control" ] || ssh -o ControlPath="$control" -O exit host 2> /dev/null
    done
    softlab_provision destroy --quiet
    rm -rf "${SOFTLAB_DIR:?}/$SOFTLAB"
}
