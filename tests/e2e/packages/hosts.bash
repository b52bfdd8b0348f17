# shellcheck shell=bash
# Hosts for tests of `harness install` with packages, after packages.bash: an sshd in a root that is thrown away, over the files of another system.
# They reach no network.
#   hosts_possible WHAT          whether they can be made here; else the check WHAT is skipped
#   start_host LOWER             $HOST, over the root LOWER ("/": this machine's files); $LAB is a lab of it
#   on_host COMMAND...           as root on it
#   put_on_host FOLDER FILE...   copies files into a folder of it, which is made
#   install ARGUMENT...          harness install, of $LAB
#   installed_as WHAT TEXT       the check that harness printed so of it
HOST=$SCRATCH/host
LAB=$HOST/lab.json

hosts_possible() {
    local tool
    for tool in sshd jq nsenter; do
        [[ -n $(PATH=$PATH:/usr/sbin command -v $tool) ]] || { skip "$1" no-command $tool && return 1; }
    done
    [[ $(id -u) == 0 ]] || { skip "$1" no-root && return 1; }
    unshare --mount --net --pid --fork true 2>/dev/null || { skip "$1" no-namespaces && return 1; }
    grep -qw overlay /proc/filesystems || { skip "$1" no-overlayfs && return 1; }
}

start_host() {
    mkdir -p "$HOST"/{over,root,keys}
    chmod 755 "$SCRATCH"
    for key in host key; do ssh-keygen -q -t ed25519 -N '' -f "$HOST/keys/$key"; done
    # without what the user's shell does when it starts
    printf '%s\n' 'ListenAddress 127.0.0.1:2222' 'HostKey /run/lab/host' 'PidFile none' 'AuthorizedKeysFile /run/lab/key.pub' 'StrictModes no' \
        'UsePAM no' 'PasswordAuthentication no' 'KexAlgorithms curve25519-sha256' 'SetEnv HOME=/run/lab' >"$HOST/keys/sshd_config"
    # shellcheck disable=SC2016 # the inner shell's
    unshare --mount --pid --net --fork --kill-child bash -c '
        mount --make-rprivate / && mount -t tmpfs tmpfs "$1/over" && mkdir "$1"/over/{upper,work} &&
        mount -t overlay overlay -o lowerdir="$2",upperdir="$1/over/upper",workdir="$1/over/work" "$1/root" &&
        mount -t proc proc "$1/root/proc" && mount --rbind /dev "$1/root/dev" && mount -t tmpfs tmpfs "$1/root/tmp" &&
        mount -t tmpfs tmpfs "$1/root/run" && mkdir "$1"/root/run/{sshd,lab} && cp "$1/keys"/* "$1/root/run/lab/" && ip link set lo up &&
        exec chroot "$1/root" /usr/sbin/sshd -D -f /run/lab/sshd_config' host "$HOST" "$1" >"$HOST/said" 2>&1 &
    at_exit kill -KILL $!
    disown
    until_true 20 pgrep -P $! -x sshd || { cat "$HOST/said" && return 1; }
    HOST_PID=$(pgrep -P $! -x sshd)
    echo "[127.0.0.1]:2222 $(cut -d' ' -f1,2 "$HOST/keys/host.pub")" >"$HOST/known_hosts"
    jq -n --arg host "$HOST" '{schema: 1, name: "packaged", driver: "ssh", hosts: {a: {ssh: "root@127.0.0.1", port: 2222, programs: "/usr/bin",
        identity: "\($host)/keys/key", known_hosts: "\($host)/known_hosts", nic: {address: "192.0.2.1/24"}}}}' >"$LAB"
}

on_host() {
    nsenter --target "$HOST_PID" --mount --pid --net chroot "$HOST/root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/run/lab LC_ALL=C.UTF-8 \
        DEBIAN_FRONTEND=noninteractive "$@"
}

put_on_host() {
    local folder=$1
    shift
    # shellcheck disable=SC2016 # the inner shell's
    tar -c --transform='s,.*/,,' -P "$@" | on_host sh -c 'mkdir -p "$0" && tar -x -C "$0"' "$folder"
}

install() { nsenter --target "$HOST_PID" --net "$BUILD/harness" install --lab "$LAB" "$@"; }

installed_as() { check "$1" grep -qxF "a: nic-sampler, host-facts, nic-config, roce-traffic $VERSION in $2" "$SCRATCH/out"; }

# On a host that has the package of $FIRST: a program is put back, and revisions replace each other.
revisions() { # WHAT FOLDER_OF_THE_SECOND BEHIND_A_REVISION
    local package="/usr/bin, package harness-host" first=$UNRELEASED-1$3 second=$UNRELEASED-2$3
    on_host sh -c 'echo x >/usr/bin/nic-config'
    check_exit 0 "a program that was overwritten is put back" install --packages "$FIRST"
    installed_as "  by the package" "$package $first"
    check_exit 0 "$1" install --packages "$2"
    installed_as "  in place of the first" "$package $second in place of $first"
    check_exit 0 "the older one" install --packages "$FIRST"
    installed_as "  in place of the newer" "$package $first in place of $second"
}
