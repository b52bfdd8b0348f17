# shellcheck shell=bash
# Two hosts without guests: network namespaces with an sshd each, a cable between them, and a lab file, $LAB. Source this after
# tests/e2e/lib.sh; the test runs again inside namespaces of its own.
export PATH=$PATH:/usr/sbin:/sbin
if [ -z "${HARNESS_SSH_INSIDE:-}" ]; then
    skip_unless "an ssh lab" sshd
    unshare --mount --net --pid --fork true 2> /dev/null || { skip "an ssh lab" no-namespaces && finish; }
    rm -rf "$SCRATCH"
    HARNESS_SSH_INSIDE=1 exec unshare --mount --net --pid --fork --kill-child --mount-proc "$0"
fi
# shellcheck disable=SC2034 # the tests use it
H=$BUILD/harness
LAB=$SCRATCH/pair.json
OUT=$SCRATCH/results
JOURNAL=/var/lib/nic-config
mount -t tmpfs tmpfs /run && mkdir /run/sshd
mount -t tmpfs tmpfs /var/lib && mkdir $JOURNAL

# ---- the hosts: each has its own network, sysfs, /run and nic-config journal
for key in host key stranger; do ssh-keygen -q -t ed25519 -N '' -f "$SCRATCH/$key"; done
# without what the user's shell does when it starts, and with a key exchange that takes 0.01 s of a processor for each connection: the default one takes 0.13
make_host() { # NAME ADDRESS
    mkdir -p "$SCRATCH/$1/journal" "$SCRATCH/$1/home"
    printf '%s\n' "ListenAddress $2" "HostKey $SCRATCH/host" 'PidFile none' "AuthorizedKeysFile $SCRATCH/key.pub" 'StrictModes no' 'UsePAM no' \
        'PasswordAuthentication no' 'KexAlgorithms curve25519-sha256' 'MaxSessions 64' "SetEnv HOME=$SCRATCH/$1/home" > "$SCRATCH/$1/sshd_config"
    ip netns add "$1"
    ip link add "to-$1" type veth peer name mgmt0 netns "$1"
    ip addr add 192.0.2.1 peer "$2" dev "to-$1"
    ip link set "to-$1" up
    ip -n "$1" addr add "$2" peer 192.0.2.1 dev mgmt0
    ip -n "$1" link set mgmt0 up
    # shellcheck disable=SC2016 # the inner shell expands it
    ip netns exec "$1" bash -c 'mount -t tmpfs tmpfs /run && mkdir /run/sshd && mount --bind "$1/journal" "$2" && exec "$(command -v sshd)" -D -f "$1/sshd_config"' host "$SCRATCH/$1" $JOURNAL \
        2> "$SCRATCH/$1/said" &
    echo "$2 $(cut -d' ' -f1,2 "$SCRATCH/host.pub")" >> "$SCRATCH/known_hosts"
}
# More for the sessions from now on; sshd takes the first SetEnv alone.
set_environment() { # HOST NAME=VALUE...
    local host=$1
    shift
    sed -i "s|^SetEnv .*|& $*|" "$SCRATCH/$host/sshd_config"
    ip netns pids "$host" | head -n 1 | xargs kill -HUP
}
make_host a 192.0.2.11
make_host b 192.0.2.12
ip -n a link add data0 type veth peer name data0 netns b
ip -n a addr add 10.9.0.1/24 dev data0
ip -n b addr add 10.9.0.2/24 dev data0
for host in a b; do ip -n $host link set data0 up; done
jq -n --arg key "$SCRATCH/key" --arg known "$SCRATCH/known_hosts" --arg programs "$SCRATCH/bin" '
    def host($n): {ssh: "root@192.0.2.1\($n)", identity: $key, known_hosts: $known, programs: $programs, nic: {address: "10.9.0.\($n)/24"}};
    {schema: 1, name: "pair", driver: "ssh", hosts: {a: host(1), b: host(2)}, links: [{between: ["a", "b"]}]}' > "$LAB"
# shellcheck disable=SC2034 # the tests use it
RUN=(run pfc-bidir --set 'sweep={}' --set 'flows.*.memory=host' --set settings.mtu=1400 --set sample.every=50ms --no-report --out "$OUT")
mtus() { echo "$(ip -n a -j link show data0 | jq '.[0].mtu') $(ip -n b -j link show data0 | jq '.[0].mtu')"; }

reason() { jq -r .reason "$OUT/pfc-bidir/latest/result.json" > "$SCRATCH/reason"; }

# A roce-traffic beside the other programs in FOLDER that says what a run waits for and sends nothing, and $SCRATCH/stand-in.json, a lab whose
# hosts have the programs of FOLDER.
stand_in_traffic() { # FOLDER
    cat > "$1/roce-traffic" << END
#!/bin/bash
[ \$1 = --version ] && exec $SCRATCH/bin/roce-traffic --version
[ \$1 = drive ] || { echo '{"type":"hello"}'; exec sleep 1000; }
read -r _ # the run's secret
read -r job
names=\$(jq -r '.flows[].name' <<< "\$job")
echo '{"type":"event","time_ns":1,"source":"roce-traffic","what":"ready","text":"stand-in"}'
read -r _ # the start
sleep 0.5
for name in \$names; do
    echo "{\"type\":\"summary\",\"flow\":\"\$name\",\"time_ns\":\${EPOCHREALTIME//./}000,\"duration_ns\":1,\"bytes\":1,\"messages\":1,\"errors\":0,\"complete\":true}"
done
END
    chmod +x "$1/roce-traffic"
    jq --arg programs "$1" '.hosts[].programs = $programs' "$LAB" > "$SCRATCH/stand-in.json"
}

# A host-facts in FOLDER that shows a host of tests/data/hosts, laid out in $SCRATCH/tree; for --nccl-env it prints $SCRATCH/nccl-env.
stand_in_facts() { # FOLDER TREE
    mkdir -p "$SCRATCH/tree"
    "$ROOT/tests/data/hosts/lay-out" "$ROOT/tests/data/hosts/$2" "$SCRATCH/tree"
    cat > "$1/host-facts" << END
#!/bin/sh
case \$1 in
--version) exec $SCRATCH/bin/host-facts --version ;;
--nccl-env) exec cat $SCRATCH/nccl-env ;;
esac
exec $SCRATCH/bin/host-facts --root $SCRATCH/tree "\$@"
END
    chmod +x "$1/host-facts"
}

close_hosts() {
    local host
    left() { for host in a b; do ip netns pids $host; done | xargs -r ps -o comm= -p | grep -vE '^sshd$'; }
    for _ in $(seq 100); do [ -n "$(left)" ] || break; sleep 0.1; done
    check "none of our programs runs on either host" test -z "$(left)"
    for host in a b; do ip netns pids $host | xargs -r kill; done
}
