# shellcheck shell=bash
# Hosts with a system of their own, for tests of `harness install`, after tests/e2e/lib.sh: a root that is thrown away over the files of
# another, and an sshd in it.
#   start_host NAME ADDRESS LOWER    the host: its root is over LOWER ("/": this machine's files), its sshd on ADDRESS, one of 127.0.0.0/8
#   on NAME COMMAND...                 as root in it
#   put_on NAME FOLDER FILE...         copies into a folder of it, which is made
#   host_of NAME ADDRESS             what a lab says of it, as JSON
HOSTS_KEYS=$SCRATCH/keys
mkdir -p "$HOSTS_KEYS" && chmod 755 "$SCRATCH"
for key in host key; do ssh-keygen -q -t ed25519 -N '' -f "$HOSTS_KEYS/$key"; done
PORT=${PORT:-2222}
declare -A HOST_PID

start_host() {
    local name=$1 address=$2 lower=$3 store=$SCRATCH/$1
    mkdir -p "$store"/{over,root}
    printf '%s\n' "ListenAddress $address:$PORT" 'HostKey /run/lab/host' 'PidFile none' 'AuthorizedKeysFile /run/lab/key.pub' 'StrictModes no' 'UsePAM no' \
        'PasswordAuthentication no' >"$store/sshd_config"
    # shellcheck disable=SC2016 # the inner shell's
    unshare --mount --pid --fork --kill-child bash -c '
        mount --make-rprivate / && mount -t tmpfs tmpfs "$1/over" && mkdir "$1"/over/{upper,work} &&
        mount -t overlay overlay -o lowerdir="$2",upperdir="$1/over/upper",workdir="$1/over/work" "$1/root" &&
        mount -t proc proc "$1/root/proc" && mount --rbind /dev "$1/root/dev" && mount -t tmpfs tmpfs "$1/root/tmp" &&
        mount -t tmpfs tmpfs "$1/root/run" && mkdir "$1"/root/run/{sshd,lab} && cp "$1/sshd_config" "$3"/* "$1/root/run/lab/" &&
        chmod 644 "$1/root/run/lab/key.pub" && touch "$1/ready" && exec chroot "$1/root" /usr/sbin/sshd -D -f /run/lab/sshd_config' \
        host "$store" "$lower" "$HOSTS_KEYS" >"$store/said" 2>&1 &
    at_exit kill -KILL $!
    disown
    until_true 10 test -e "$store/ready" || { cat "$store/said" && return 1; }
    until_true 10 pgrep -P $! -x sshd || { cat "$store/said" && return 1; }
    HOST_PID[$name]=$(pgrep -P $! -x sshd)
    echo "[$address]:$PORT $(cut -d' ' -f1,2 "$HOSTS_KEYS/host.pub")" >>"$HOSTS_KEYS/known_hosts"
}

on() {
    local name=$1
    shift
    nsenter --target "${HOST_PID[$name]}" --mount --pid chroot "$SCRATCH/$name/root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root \
        LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"
}

put_on() { # NAME FOLDER FILE...
    local name=$1 folder=$2
    shift 2
    tar -c --transform='s,.*/,,' -P "$@" | on "$name" sh -c 'mkdir -p "$0" && tar -x -C "$0"' "$folder"
}

host_of() { # NAME ADDRESS
    jq -n --arg name "$1" --arg address "$2" --argjson port $PORT --arg keys "$HOSTS_KEYS" \
        '{($name): {ssh: "root@\($address)", port: $port, identity: "\($keys)/key", known_hosts: "\($keys)/known_hosts", programs: "/usr/bin", nic: {address: "192.0.2.\($address | split(".")[3])/24"}}}'
}
