# shellcheck shell=bash
# Real guests for a test, in a few lines. Source it after tests/e2e/lib.sh:
#
#   . "$(dirname "$0")/lib.sh"
#   . "$(dirname "$0")/softlab.sh"
#   softlab_require "$0" "$@"         # skips by name where no soft lab can be made; else goes on inside a private libvirt
#   softlab_up soft-pair              # boots the hosts of labs/soft-pair.json, or takes them when they are up already
#   softlab_put a build/nic-sampler build/nic-config   # into /usr/local/bin of host a
#   softlab_ssh a 'nic-sampler --every 10ms --count 3 --netdev data0'
#   softlab_down                      # does nothing when the guests are shared with other tests
#
# Hosts: soft-pair has a (10.0.0.1) and b (10.0.0.2); soft-switch has a (10.0.1.1), sw (forwards between data0 and data1), b (10.0.1.2).
# In a guest: data0 (and data1 on sw) is the test interface, mgmt0 carries ssh; rxe0 is Soft-RoCE on data0 of a and b.
# Commands run as root through the guest's shell; `softlab_ssh HOST -n ...` style options are not taken: redirect stdin instead.
# Guests stay up between the parts that tests/e2e/softlab_all.sh runs (softlab_*.sh), so leave them as you found them:
# no settings, qdiscs, links, modules or processes of yours may remain.
# $SOFTLAB_DIR is a scratch folder of the lab; serial logs are $SOFTLAB_DIR/LAB/HOST.console.

SOFTLAB_ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)

# Go on in a soft lab: the script itself is run again inside. Skips the whole script where none can be made.
softlab_require() {
    local why
    [ -z "${SOFT_LAB:-}" ] || { softlab_enter; return 0; }
    why=$("$SOFTLAB_ROOT/guest-setup/soft-lab" --check)
    if [ -n "$why" ]; then
        echo "1..0 # SKIP no soft lab here: $why"
        exit 0
    fi
    exec "$SOFTLAB_ROOT/guest-setup/soft-lab" "$@"
}

softlab_enter() {
    SOFTLAB_DIR=${SOFTLAB_DIR:-$SOFT_LAB_STATE/test}
    mkdir -p "$SOFTLAB_DIR"
}

softlab_ssh() {
    local host=$1
    shift
    ssh -F "$SOFTLAB_DIR/$SOFTLAB/ssh_config" "$host" "$@"
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
    local folder=$SOFTLAB_DIR/$1
    [ -e "$folder/up" ] && return 0
    mkdir -p "$folder"
    local image
    image=$("$SOFTLAB_ROOT/guest-setup/build-image" debian-12-softroce) || return 1
    ssh-keygen -q -t ed25519 -N '' -C "$1" -f "$folder/id_ed25519" || return 1
    case $1 in
    soft-pair)
        softlab_network pair-mgmt 198.51.100.1 && softlab_network pair-ab || return 1
        softlab_guest a 11 pair-mgmt pair-ab:10.0.0.1/24 || return 1
        softlab_guest b 12 pair-mgmt pair-ab:10.0.0.2/24 || return 1
        softlab_wait a b
        ;;
    soft-switch)
        softlab_network switch-mgmt 198.51.100.65 && softlab_network switch-a && softlab_network switch-b || return 1
        softlab_guest a 75 switch-mgmt switch-a:10.0.1.1/24 || return 1
        softlab_guest b 76 switch-mgmt switch-b:10.0.1.2/24 || return 1
        softlab_guest sw 77 switch-mgmt switch-a:- switch-b:- || return 1
        softlab_wait a b sw
        ;;
    esac || return 1
    touch "$folder/up"
}

softlab_down() {
    [ -z "${SOFTLAB_SHARED:-}" ] || return 0
    local name
    for name in $(virsh -q list --name | grep "^$SOFTLAB-"); do virsh -q destroy "$name"; done
    for name in $(virsh -q net-list --name | grep "^${SOFTLAB#soft-}-"); do virsh -q net-destroy "$name"; done
    rm -rf "${SOFTLAB_DIR:?}/$SOFTLAB"
}

softlab_network() { # NAME [ADDRESS]
    local ip=
    [ -z "${2:-}" ] || ip="<forward mode='open'/><dns enable='no'/><ip address='$2' prefix='26'/>"
    virsh -q net-create /dev/stdin <<< "<network><name>$1</name><bridge stp='off' delay='0'/>$ip</network>" > /dev/null
}

softlab_guest() { # HOST LAST_OCTET MGMT_NETWORK NETWORK:ADDRESS...
    local host=$1 octet=$2 folder=$SOFTLAB_DIR/$SOFTLAB image interfaces network lines="" mac index=0
    local prefix
    prefix=$(printf '52:54:00:00:%02x' "$octet")
    image=$("$SOFTLAB_ROOT/guest-setup/build-image" debian-12-softroce)
    interfaces="<interface type='network'><mac address='$prefix:ff'/><source network='$3'/><model type='virtio'/></interface>"
    lines="$prefix:ff mgmt0 198.51.100.$octet/26 -"$'\n'
    shift 3
    for network in "$@"; do
        mac=$(printf '%s:%02x' "$prefix" $index)
        interfaces+="<interface type='network'><mac address='$mac'/><source network='${network%%:*}'/><model type='virtio'/></interface>"
        lines+="$mac data$index ${network#*:} -"$'\n'
        index=$((index + 1))
    done
    softlab_seed "$host" "$octet" "$lines" || return 1
    qemu-img create -q -f qcow2 -F qcow2 -b "$image/base.qcow2" "$folder/$host.qcow2" || return 1
    virsh -q create /dev/stdin > /dev/null <<XML
<domain type='qemu'><name>$SOFTLAB-$host</name><memory unit='MiB'>256</memory><vcpu>1</vcpu>
 <os><type arch='x86_64' machine='q35'>hvm</type><kernel>$image/vmlinuz</kernel><initrd>$image/initrd.img</initrd>
  <cmdline>console=ttyS0 quiet mitigations=off net.ifnames=0</cmdline></os>
 <features><acpi/><apic/></features><cpu mode='maximum'/>
 <devices>
  <disk type='file' device='disk'><driver name='qemu' type='qcow2' cache='unsafe'/><source file='$folder/$host.qcow2'/><target dev='vda' bus='virtio'/></disk>
  <disk type='file' device='disk'><driver name='qemu' type='raw'/><source file='$folder/$host.seed'/><target dev='vdb' bus='virtio'/><readonly/></disk>
  $interfaces
  <serial type='pty'><log file='$folder/$host.console' append='off'/></serial>
  <channel type='unix'><target type='virtio' name='org.qemu.guest_agent.0'/></channel>
  <rng model='virtio'><backend model='random'>/dev/urandom</backend></rng><memballoon model='none'/>
 </devices></domain>
XML
}

softlab_seed() { # HOST LAST_OCTET NETWORK_LINES
    local host=$1 folder=$SOFTLAB_DIR/$SOFTLAB seed
    seed=$folder/$host.seed.d
    mkdir -p "$seed/etc/lab" "$seed/etc/ssh" "$seed/root/.ssh"
    ssh-keygen -q -t ed25519 -N '' -C "$host" -f "$seed/etc/ssh/ssh_host_ed25519_key" || return 1
    echo "$host" > "$seed/etc/hostname"
    printf '%s' "$3" > "$seed/etc/lab/network"
    install -m 600 "$folder/id_ed25519.pub" "$seed/root/.ssh/authorized_keys"
    chmod 700 "$seed/root" "$seed/root/.ssh"
    tar -C "$seed" --owner=0 --group=0 -cf "$folder/$host.seed" etc/hostname etc/lab etc/ssh/ssh_host_ed25519_key etc/ssh/ssh_host_ed25519_key.pub root/.ssh
    echo "$SOFTLAB-$host $(cut -d' ' -f1,2 "$seed/etc/ssh/ssh_host_ed25519_key.pub")" >> "$folder/known_hosts"
    cat >> "$folder/ssh_config" <<CONFIG
Host $host
  HostName 198.51.100.$2
  HostKeyAlias $SOFTLAB-$host
  User root
  IdentityFile $folder/id_ed25519
  IdentitiesOnly yes
  UserKnownHostsFile $folder/known_hosts
  GlobalKnownHostsFile none
  StrictHostKeyChecking yes
  BatchMode yes
  LogLevel ERROR
  ConnectTimeout 10
  ControlMaster auto
  ControlPath $folder/$host.ctl
  ControlPersist 300
CONFIG
}

softlab_wait() { # HOST...: until each answers ssh and has its rxe device
    local host tries
    for host in "$@"; do
        tries=0
        until grep -qs 'lab: ready' "$SOFTLAB_DIR/$SOFTLAB/$host.console"; do
            tries=$((tries + 1))
            if [ $tries -gt 900 ]; then
                echo "# $host is not up after 90 s; its serial log ends:" >&2
                tail -n 5 "$SOFTLAB_DIR/$SOFTLAB/$host.console" >&2
                return 1
            fi
            sleep 0.1
        done
        [ "$host" = sw ] || softlab_ssh "$host" 'modprobe -a rdma_rxe rdma_ucm && rdma link add rxe0 type rxe netdev data0' || return 1
    done
}
