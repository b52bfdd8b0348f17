#!/bin/bash
# An ssh lab without guests: two hosts that are network namespaces with an sshd each, a cable between them. Hosts that cannot be reached
# are reported at once; a run in which traffic cannot flow, and one in which a host falls silent, end with the reason and restore
# settings.
# There is no RDMA here: tests/e2e/guests/ssh.sh tests that traffic flows.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/../lib.sh"
export PATH=$PATH:/usr/sbin:/sbin
if [ -z "${HARNESS_SSH_INSIDE:-}" ]; then
    skip_unless "an ssh lab" sshd
    unshare --mount --net --pid --fork true 2> /dev/null || { skip "an ssh lab" no-namespaces && finish; }
    rm -rf "$SCRATCH"
    HARNESS_SSH_INSIDE=1 exec unshare --mount --net --pid --fork --kill-child --mount-proc "$0"
fi
H=$BUILD/harness
LAB=$SCRATCH/pair.json
OUT=$SCRATCH/results
JOURNAL=/var/lib/nic-config
mount -t tmpfs tmpfs /run && mkdir /run/sshd
[ -d $JOURNAL ] || { mkdir -p $JOURNAL && at_exit rmdir $JOURNAL; }

# ---- the hosts: each has its own network, sysfs and nic-config journal
for key in host key stranger; do ssh-keygen -q -t ed25519 -N '' -f "$SCRATCH/$key"; done
make_host() { # NAME ADDRESS
    mkdir -p "$SCRATCH/$1/journal"
    printf '%s\n' "ListenAddress $2" "HostKey $SCRATCH/host" 'PidFile none' "AuthorizedKeysFile $SCRATCH/key.pub" 'StrictModes no' 'UsePAM no' \
        'PasswordAuthentication no' 'MaxSessions 64' > "$SCRATCH/$1/sshd_config"
    ip netns add "$1"
    ip link add "to-$1" type veth peer name mgmt0 netns "$1"
    ip addr add 192.0.2.1 peer "$2" dev "to-$1"
    ip link set "to-$1" up
    ip -n "$1" addr add "$2" peer 192.0.2.1 dev mgmt0
    ip -n "$1" link set mgmt0 up
    # shellcheck disable=SC2016 # the inner shell expands it
    ip netns exec "$1" bash -c 'mount --bind "$1/journal" "$2" && exec "$(command -v sshd)" -D -f "$1/sshd_config"' host "$SCRATCH/$1" $JOURNAL \
        2> "$SCRATCH/$1/said" &
    echo "$2 $(cut -d' ' -f1,2 "$SCRATCH/host.pub")" >> "$SCRATCH/known_hosts"
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
RUN=(run pfc-bidir --set 'sweep={}' --set 'flows.*.memory=host' --set settings.mtu=1400 --set sample.every=50ms --no-report --out "$OUT")
mtus() { echo "$(ip -n a -j link show data0 | jq '.[0].mtu') $(ip -n b -j link show data0 | jq '.[0].mtu')"; }

# ---- programs
check_exit 0 "programs are installed on hosts" "$H" install --lab "$LAB"
check_says "... on both" '^b: nic-sampler, host-facts, nic-config, roce-traffic [0-9.]+ in ' "$SCRATCH/out"

check_exit 3 "doctor on hosts without RDMA" "$H" doctor --lab "$LAB"
check_says "... says so" 'failure +b +nic +network device data0, RDMA device none' "$SCRATCH/out"
check "... and prints nothing about GPUs, as this lab has none" test -z "$(grep gpu "$SCRATCH/out")"

# ---- settings that only simulated labs support
check_exit 3 "a congestion control that NICs do not have" "$H" "${RUN[@]}" --set settings.congestion_control=none --lab "$LAB"
check_says "... is refused before the run" 'host a: settings.congestion_control: "none" is simulated only: .*"dcqcn"' "$SCRATCH/err"
check "... and nothing is changed" test "$(mtus)" = "1500 1500"
rm -rf "$OUT"

# ---- hosts that cannot be reached: an error at once, without waiting
refused() { # WHAT FILTER PATTERN
    jq "$2" "$LAB" > "$SCRATCH/wrong.json"
    check_exit 3 "$1" "$H" "${RUN[@]}" --lab "$SCRATCH/wrong.json"
    check_says "... is reported" "$3" "$SCRATCH/err"
}
sed "s|[^ ]*$|$(cut -d' ' -f2 "$SCRATCH/stranger.pub")|" "$SCRATCH/known_hosts" > "$SCRATCH/known_wrong"
refused "a host with another key than in known_hosts" ".hosts.b.known_hosts = \"$SCRATCH/known_wrong\"" 'connecting to host b \(.*\): .*Host key verification failed'
refused "a host with an unknown key" '.hosts.b.known_hosts = "/dev/null"' 'connecting to host b \(.*\): .*Host key verification failed'
refused "a host that refuses the login" ".hosts.b.identity = \"$SCRATCH/stranger\"" 'connecting to host b \(.*\): root@192.0.2.12: Permission denied'
refused "a host name that cannot be resolved" '.hosts.b.ssh = "root@rack-b.invalid"' 'connecting to host b \(.*\): .*Could not resolve hostname rack-b.invalid'
refused "a host where no sshd listens" '.hosts.b.port = 9' 'connecting to host b \(.*\): .*port 9: Connection refused'
refused "a host without the NIC's address" '.hosts.b.nic.address = "10.9.0.9/24"' 'host b: no network device has address 10.9.0.9/24: give the NIC.s netdev, mac or address'
refused "a host without the NIC's PCI device" '.hosts.b.nic = {pci: "0000:ee:1f.7", address: "10.9.0.2/24"}' 'host b: PCI device 0000:ee:1f.7 has no network device'
refused "a host without the programs" '.hosts.b.programs = "/nowhere"' 'host b has no /nowhere/nic-config .*harness install'
check "none left a result" test -z "$(find "$OUT" -name '*.json')"

# ---- traffic that cannot flow; a host that falls silent
reason() { jq -r .reason "$OUT/pfc-bidir/latest/result.json" > "$SCRATCH/reason"; }
check_exit 3 "a run whose traffic cannot flow" "$H" "${RUN[@]}" --lab "$LAB"
reason
check_says "... says why" 'host [ab]: roce-traffic drive exited with 3: .*RDMA' "$SCRATCH/reason"
check "... settings are restored" test "$(mtus)" = "1500 1500"

# ---- flows that the programs cannot run are refused before the run
jq '.flows = [range(65) as $i | {name: "flow-\($i)", from: "a", to: "b"}] | del(.sweep, .expect, .published)' "$ROOT/scenarios/pfc-bidir.json" \
    > "$SCRATCH/too-many.json"
check_exit 2 "too many flows to one host are refused" "$H" check "$SCRATCH/too-many.json" --lab "$LAB"
check_says "... by the limit" 'more than 64 flows to role b' "$SCRATCH/err"
jq 'del(.flows, .sweep, .expect, .published) | .traffic = [{name: "t", pattern: "incast", from: ["a"], to: ["b"]}]' \
    "$ROOT/scenarios/pfc-bidir.json" > "$SCRATCH/pattern.json"
check_exit 2 "traffic patterns are refused" "$H" run "$SCRATCH/pattern.json" --dry-run --lab "$LAB"
check_says "... because only simulated labs support it" 'only simulated labs support' "$SCRATCH/err"

# ---- connections that are cut, and a program that is killed: a stand-in for roce-traffic serves and drives for ever, and fails when the
# server of its peer ends, as roce-traffic does
mkdir "$SCRATCH/stand-in"
ln "$SCRATCH/bin"/{nic-sampler,host-facts,nic-config} "$SCRATCH/stand-in/"
cat > "$SCRATCH/stand-in/roce-traffic" << 'END'
#!/bin/bash
servers=${0%/*}/servers
echo '{"type":"hello"}'
[ "$1" = drive ] || { echo $$ >> "$servers"; exec sleep 1000; }
cat > "${0%/*}/job.$$"
while :; do
    for server in $(cat "$servers"); do
        [ -d "/proc/$server" ] || { echo "roce-traffic: error: the peer closed the connection" >&2; exit 3; }
    done
    sleep 0.01
done
END
chmod +x "$SCRATCH/stand-in/roce-traffic"
jq --arg programs "$SCRATCH/stand-in" '.hosts[].programs = $programs' "$LAB" > "$SCRATCH/stand-in.json"
begin() { # ends in the measure phase
    rm -rf "$OUT" "$SCRATCH/stand-in/servers"
    "$H" "${RUN[@]}" --set phases.measure=30s --lab "$SCRATCH/stand-in.json" > "$SCRATCH/out" 2> "$SCRATCH/err" &
    run=$!
    until grep -qs 'phase measure' "$OUT"/pfc-bidir/2*/run.log || ! kill -0 $run 2> /dev/null; do sleep 0.05; done
    sleep 0.2
}
ended() { # WHAT PATTERN
    wait $run
    check "$1: exit code 3" test $? = 3
    reason
    check_says "... says why" "$2" "$SCRATCH/reason"
    check "... settings are restored" test "$(mtus)" = "1500 1500"
}
served() { for p in $(ip netns pids b); do grep -qsz '^sshd[^/]*: root' "/proc/$p/cmdline" && echo "$p"; done; } # b's end of the connection
begin
pkill -KILL -P $run -f ControlMaster=yes
ended "both connections are cut on this side" 'the ssh connection to host [ab] .* has ended: was killed'
begin
master=$(pgrep -P $run -f 'ControlMaster=yes.*192.0.2.12')
kill -STOP "$master"
served | xargs kill -KILL
sleep 1.5
kill -CONT "$master"
ended "a connection is cut, and the other host reports the consequence first" 'the ssh connection to host b .* has ended'
# more flows than fit on a command line
jq '.flows = [range(64) as $i | {name: "flow-\($i)", from: "a", to: "b", depth: ($i + 1)}] | del(.sweep, .expect, .published)' \
    "$ROOT/scenarios/pfc-bidir.json" > "$SCRATCH/many.json"
RUN[1]=$SCRATCH/many.json
rm -f "$SCRATCH"/stand-in/job.*
begin
check "64 flows reach the program" jq -e '.flows | length == 64 and .[63].depth == 64' "$SCRATCH"/stand-in/job.*
RUN[1]=pfc-bidir
head -n 1 "$SCRATCH/stand-in/servers" | xargs kill -KILL
ended "a program is killed" 'host [ab]: roce-traffic (serve was killed on the host|drive exited with 3: the peer closed)'
rm -rf "$OUT"

"$H" "${RUN[@]}" --lab "$LAB" > "$SCRATCH/out" 2> "$SCRATCH/err" &
run=$!
until grep -qs 'b: .*roce-traffic serve' "$OUT"/pfc-bidir/2*/run.log; do
    kill -0 $run 2> /dev/null || break
    sleep 0.02
done
mapfile -t processes < <(ip netns pids b)
kill -STOP "${processes[@]}"
wait $run
check "a run in which a host falls silent: exit code 3" test $? = 3
kill -CONT "${processes[@]}"
reason
check_says "... says which" 'host b(: no output for 15 s| has sent nothing since|: .* was not ready within|.*not responding)' "$SCRATCH/reason"
jq -r '.warnings[]' "$OUT/pfc-bidir/latest/result.json" > "$SCRATCH/warnings"
check_says "... and that its settings are still to be restored" '^settings of b were not restored: .*harness restore' "$SCRATCH/warnings"
check "... the other's are" test "$(mtus)" = "1500 1400"
check "... samples are complete lines" jq -es '[.[] | select(type == "array")] | length > 0' "$OUT/pfc-bidir/latest/samples.jsonl"
check_exit 0 "harness restore, once the host answers again" "$H" restore --lab "$LAB"
check_says "... prints what it did" 'b: data0 mtu is 1500 again' "$SCRATCH/out"
check "... and the settings are restored" test "$(mtus)" = "1500 1500"
left() { for host in a b; do ip netns pids $host; done | xargs -r ps -o comm= -p | grep -vE '^sshd$'; }
for _ in $(seq 100); do [ -n "$(left)" ] || break; sleep 0.1; done
check "none of our programs runs on either host" test -z "$(left)"
for host in a b; do ip netns pids $host | xargs -r kill; done
finish
