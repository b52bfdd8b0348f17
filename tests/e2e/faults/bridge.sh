#!/bin/bash
# Faults of single frames on a Linux bridge between two hosts of an ssh lab: exactly the frames that the scenario names are met, whatever the
# host has of its own stays, and nothing remains of a run that was killed. RoCEv2 packets of a stand-in for roce-traffic, as there is no RDMA.
# shellcheck disable=SC2317  # functions are called by name
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/../lib.sh"
skip_unless "faults of a bridge" nft python3
unshare --net nft add table netdev x 2> /dev/null || { skip "faults of a bridge" no-nf-tables && finish; }
# shellcheck source=tests/e2e/harness/ssh_hosts.bash
. "$ROOT/tests/e2e/harness/ssh_hosts.bash"

# ---- a third host, which the lab says forwards; a cable to each of the others
make_host sw 192.0.2.13
ip -n a link delete data0
for host in a b; do
    ip -n $host link add data0 type veth peer name "to-$host" netns sw
    ip -n sw link set "to-$host" up
done
ip -n a addr add 10.9.0.1/24 dev data0
ip -n b addr add 10.9.0.2/24 dev data0
ip -n a addr add fd00:9::1/64 dev data0 nodad
ip -n b addr add fd00:9::2/64 dev data0 nodad
for host in a b; do ip -n $host link set data0 up; done
jq '.name = "bridge" | .hosts.sw = (.hosts.a | .ssh = "root@192.0.2.13" | .nic = {netdev: "to-a"} | .extra_nics = [{netdev: "to-b"}])
    | (.hosts.a, .hosts.b).nic.netdev = "data0" | .links = [{between: ["a", "sw"]}, {between: ["sw", "b"]}]' "$LAB" > "$SCRATCH/bridge.json"
jq '.hosts.a.nic.address = "fd00:9::1/64" | .hosts.b.nic.address = "fd00:9::2/64"' "$SCRATCH/bridge.json" > "$SCRATCH/bridge6.json"
jq '.links = [{between: ["a", "b"]}] | del(.hosts.sw)' "$SCRATCH/bridge.json" > "$SCRATCH/none.json"
LAB=$SCRATCH/bridge.json
inside() { ip netns exec sw "$@"; }
in_sw() { nsenter -t "$(ip netns pids sw | head -n 1)" -m -n "$@"; } # what its sshd sees

# ---- packets: a sends 20 of data and 3 requests for reads, b answers data with ACKs, each fifth one with a NAK, each tenth with a CNP too
cat > "$SCRATCH/packets" << 'END'
import socket, sys, time
v6, what, to = ":" in sys.argv[3], sys.argv[1], sys.argv[3]
s = socket.socket(socket.AF_INET6 if v6 else socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("::" if v6 else "", 4791))
if v6:
    s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_TCLASS, 2)
    s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_RECVTCLASS, 1)
else:
    s.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, 2)
    s.setsockopt(socket.IPPROTO_IP, socket.IP_RECVTOS, 1)
def send(opcode, psn, rest=b""):
    s.sendto(bytes([opcode, 0, 255, 255, 0, 0, 0, 1, 0x80, 0, 0, psn]) + rest, (to, 4791))
log = open(sys.argv[2], "a", 1)
if what == "drive":
    for psn in range(1, 21):
        send(4, psn, bytes(64))
        time.sleep(0.002)
    for psn in range(1, 4):
        send(12, psn, bytes(16))
    send(255, 0)  # of no kind: when its answer is there, so is all before it
    s.settimeout(0.5)
else:
    print('{"type":"event","source":"roce-traffic","what":"listening","text":"stand-in","time_ns":1}', flush=True)
ended, tries = False, 0
while True:
    try:
        packet, ancillary, _, _ = s.recvmsg(2000, 100)
    except socket.timeout:
        tries += 1
        if ended or tries > 120:
            break  # what comes late had half a second
        send(255, 0)
        continue
    opcode, psn = packet[0], packet[11]
    if opcode == 255:
        ended = True
        if what == "serve":
            send(255, 0)
        continue
    kind = {4: "data", 12: "read", 0x81: "cnp"}.get(opcode) or ("nak" if packet[12] & 0x60 else "ack")
    log.write(f"{kind} {psn} ecn={ancillary[0][2][0] & 3 if ancillary else 0} reserved={packet[8] & 0x7f}\n")
    if what == "serve" and opcode == 4:
        send(0x11, psn, bytes([0x60 if psn % 5 == 0 else 0x1f, 0, 0, 1]))
        if psn % 10 == 0:
            send(0x81, psn, bytes(16))
END
check_exit 0 "programs are installed on hosts" "$H" install --lab "$LAB"
rm "$SCRATCH/bin/roce-traffic"
cat > "$SCRATCH/bin/roce-traffic" << 'STANDIN'
#!/bin/bash
[ "$1" != --version ] || { echo "roce-traffic VERSION"; exit; }
read -r _
read -r job
six=$([ -e SCRATCH/six ] && echo fd00:9::)
if [ "$1" = serve ]; then
    exec python3 SCRATCH/packets serve SCRATCH/at-b "${six:-10.9.0.}1"
fi
echo '{"type":"event","time_ns":1,"source":"roce-traffic","what":"ready","text":"stand-in"}'
read -r _
[ ! -e SCRATCH/wait ] || exec sleep 1000
python3 SCRATCH/packets drive SCRATCH/at-a "${six:-10.9.0.}2" > /dev/null
jq -c --argjson now "$(date +%s%N)" '.flows[] | {type: "summary", flow: .name, message_bytes: 64, time_ns: $now, duration_ns: 1000000000, bytes: 64,
    messages: 1, goodput_bps: 512, messages_per_s: 1, errors: 0, complete: true, memory: {kind: "host", route: "host"}}' <<< "$job"
STANDIN
sed -i -e "s|SCRATCH|$SCRATCH|g" -e "s|VERSION|$("$H" --version | cut -d' ' -f2)|" "$SCRATCH/bin/roce-traffic"
chmod +x "$SCRATCH/bin/roce-traffic"
jq -n '{schema: 1, name: "lossy", roles: ["a", "b", "sw"], flows: [{name: "f", from: "a", to: "b"}], phases: {warmup: "100ms", measure: "300ms", cooldown: "0"},
    sample: {every: "100ms", groups: ["throughput"]}, expect: [{name: "something is sent", check: "sum(flows.f.bytes) > 0"}]}' > "$SCRATCH/lossy.json"
inject() { # RULES [LAB [OPTION...]]
    rm -rf "$OUT" "$SCRATCH"/at-?
    "$H" run "$SCRATCH/lossy.json" --lab "${2:-$LAB}" --set "inject=$1" --out "$OUT" --no-report "${@:3}" > "$SCRATCH/out" 2> "$SCRATCH/err"
}
result() { jq -e "$1" "$OUT/lossy/latest/result.json" > /dev/null || { jq '.injected, .warnings, .reason' "$OUT/lossy/latest/result.json" && false; }; }
got() { # HOST KIND EXPECTED: the numbers of the packets that arrived there
    local found
    found=$(awk -v kind="$2" '$1 == kind { printf "%s%s", n++ ? " " : "", $2 }' "$SCRATCH/at-$1")
    [ "$found" = "$3" ] || { echo "$found" && false; }
}
marked() { awk -v field="$1" '$1 == "data" && index($0, field) { printf "%s ", $2 }' "$SCRATCH/at-b"; }
table() { inside nft list table netdev harness_inject > /dev/null 2>&1; }
# the interfaces with their queueing disciplines and all tables, without counts and what changes by itself
state() { inside ip -o link | sed 's/^[0-9]*: //; s/state [A-Z]* //; s/NO-CARRIER,//'; inside tc qdisc show; inside nft list ruleset; in_sw ls /run; }

# ---- the host has a table of its own on a port, and a queueing discipline
inside nft 'table netdev mine { chain c { type filter hook ingress device "to-a" priority 0; ip saddr 203.0.113.1 drop; }; }'
inside tc qdisc add dev to-b root tbf rate 1gbit burst 64kb latency 50ms
state > "$SCRATCH/before"

# ---- each action and each kind, by number
inject '[{"name": "losses", "flow": "f", "do": "drop", "nth": 3, "every": 4, "count": 2},
    {"link": ["sw", "b"], "do": "mark", "nth": 2, "every": 5},
    {"flow": "f", "do": "corrupt", "nth": 8},
    {"link": ["a", "sw"], "do": "duplicate", "nth": 17, "count": 2},
    {"flow": "f", "packet": "ack", "do": "drop", "count": 2},
    {"flow": "f", "packet": "nak", "do": "drop", "nth": 2},
    {"flow": "f", "packet": "cnp", "do": "duplicate", "nth": 2},
    {"link": ["a", "sw"], "packet": "read-request", "do": "drop", "nth": 2, "every": 1}]'
check "a run with faults of a bridge ends" test $? = 0
check "the third packet of data is lost, and of those behind it the fourth: no other" got b data "1 2 4 5 6 8 9 10 11 12 13 14 15 16 17 18 19 19 20 20"
check "... these have CE" test "$(marked ecn=3)" = "2 9 14 19 19 "
check "... one has a reserved bit, which its ICRC covers" test "$(marked reserved=1)" = "10 "
check "... two ACKs are lost" got a ack "4 6 8 9 11 12 13 14 16 17 18 19 19"
check "... the second NAK, which is for the first of two" got a nak "5 15 20 20"
check "... a CNP comes twice" got a cnp "10 20 20 20"
check "... the second request for a read is lost, and all behind it" got b read "1"
check "the result has what each rule saw and met" result '[.injected[] | [.seen, .injected]] == [[20, 2], [18, 4], [18, 1], [18, 2], [15, 2], [5, 1], [3, 1], [3, 2]]'
check "... and the names" result '.injected[0].name == "losses" and .injected[1].at == "link from sw to b"'
check "the host is as it was" diff "$SCRATCH/before" <(state)

# ---- IPv6, and at random
touch "$SCRATCH/six"
inject '[{"flow": "f", "do": "drop", "nth": 5}, {"flow": "f", "do": "mark", "probability": 1, "count": 3}, {"flow": "f", "do": "corrupt", "probability": 0.5},
    {"flow": "f", "packet": "nak", "do": "drop", "nth": 100}]' "$SCRATCH/bridge6.json"
check "IPv6: the fifth packet is lost" got b data "1 2 3 4 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20"
check "... three have CE" test "$(marked ecn=3)" = "1 2 3 "
check "... some are corrupted, as many as the result says" result "[.injected[2].seen, .injected[2].injected] == [19, $(marked reserved=1 | wc -w)] and .injected[2].injected > 0 and .injected[2].injected < 19"
check "... a rule that met nothing is a warning" result '[.warnings[] | select(test("met nothing: of 3 frames"))] | length == 1'
rm "$SCRATCH/six"

# ---- late packets take netem
inject '[{"flow": "f", "do": "delay", "delay": "200ms", "nth": 4}, {"flow": "f", "do": "duplicate", "delay": "200ms", "nth": 6}]'
status=$?
if inside unshare --net sh -c 'ip link add x type dummy && tc qdisc add dev x root netem delay 1ms' 2> /dev/null; then
    check "a packet comes later, and a copy of another" got b data "1 2 3 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 4 7"
else
    check "without netem a run with late packets is refused" test $status = 3
    check_says "... with what to install" 'inject: .*no netem.*sch_netem; on Rocky in kernel-modules-extra' "$SCRATCH/err"
fi
check "... the host is as it was" diff "$SCRATCH/before" <(state)

# ---- ended runs
touch "$SCRATCH/wait"
begin() { # a run whose traffic waits
    rm -rf "$OUT"
    "$H" run "$SCRATCH/lossy.json" --lab "$LAB" --set 'inject=[{"flow": "f", "do": "drop"}, {"flow": "f", "do": "duplicate"}]' --out "$OUT" --no-report --set phases.measure=30s \
        > "$SCRATCH/out" 2> "$SCRATCH/err" &
    run=$!
    for _ in $(seq 300); do
        grep -qs 'phase measure' "$OUT"/lossy/2*/run.log && break
        kill -0 $run 2> /dev/null || break
        sleep 0.1
    done
}
begin
check "a run that goes on has its table there" table
check "... and a port of the bridge" inside test -e /sys/class/net/inject1-out/brport
kill -INT $run
wait $run
check "Ctrl-C ends its faults" diff "$SCRATCH/before" <(state)
begin
kill -KILL $run
wait $run 2> /dev/null
check "kill -9 leaves them" table
"$H" doctor --lab "$LAB" > "$SCRATCH/out" 2>&1
check_says "doctor says so" 'warning +sw .*faults of an earlier run were not restored' "$SCRATCH/out"
check_exit 0 "harness restore" "$H" restore --lab "$LAB"
check_says "... says that it ended them" '^sw: the faults of its packet filter are ended' "$SCRATCH/out"
check "... the host is as it was" diff "$SCRATCH/before" <(state)
check_exit 0 "... once more" "$H" restore --lab "$LAB"
check_says "... there is nothing left" '^sw: nothing to restore' "$SCRATCH/out"
begin
kill -KILL $run
wait $run 2> /dev/null
rm "$SCRATCH/wait"
inject '[{"flow": "f", "do": "drop", "nth": 2}]'
check "the next run ends them too" result '[.warnings[] | select(test("faults that an earlier run had left were ended first"))] | length == 1'
check "... and has its own" got b data "1 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20"

# ---- tools that are missing or lie; what is in the way
one='[{"flow": "f", "do": "drop"}]'
refused() { # WHAT PATTERN [RULES [LAB [OPTION...]]]
    inject "${@:3}"
    check "$1: refused" test $? = 3
    check_says "... with the reason" "$2" "$SCRATCH/err"
}
nft=$(command -v nft)
in_sw mount --bind /dev/null "$nft"
refused "no nft" 'inject: .*host sw: .*nft is not there.*install nftables' "$one"
in_sw umount "$nft"
stand_in() { # a program in place of nft; the script's arguments come behind REAL
    printf '#!/bin/sh\n%s\nexec /tmp/real "$@"\n' "$1" | sed "s|/tmp/real|$SCRATCH/nft|" > "$SCRATCH/nft-stand-in"
    chmod +x "$SCRATCH/nft-stand-in"
    in_sw mount --bind "$SCRATCH/nft-stand-in" "$nft"
}
cp "$nft" "$SCRATCH/nft"
stand_in 'case "$*" in -c*) printf "\033[31mError: Operation not supported\nmore\n" >&2; exit 1;; esac'
refused "a kernel without nf_tables" 'inject: .*nf_tables with the family netdev.*Error: Operation not supported' "$one"
in_sw umount "$nft"
stand_in 'case "$*" in *counters*) printf "%s" "{\"nftables\": [{\"counter\": {\"name\": \"seen0\", \"packets\": \"many\"}}, 3, {\"counter\": {\"name\": {}}}]}"; exit;; esac'
inject "$one"
check "counts that are none are not in the result" result '.injected[0].seen == null and .injected[0].injected == null'
in_sw umount "$nft"
stand_in 'case "$*" in *counters*) head -c 100000 /dev/zero | tr "\0" "["; exit;; esac'
inject "$one"
check "an answer that is no JSON is a warning" result '[.warnings[] | select(test("what the faults of host sw met is not known"))] | length == 1'
check "... the faults have ended" test "$(table || echo gone)" = gone
in_sw umount "$nft"
inside nft add table netdev harness_inject
refused "a table of this name that no run has left" 'there is a table that no run has left: nft delete table netdev harness_inject' "$one"
inside nft delete table netdev harness_inject
inside ip link add inject0 type veth peer name inject0-mine
twice='[{"flow": "f", "do": "duplicate"}]'
refused "an interface of this name" 'there is an interface inject0 that no run has left' "$twice"
check "... it is still there" inside test -e /sys/class/net/inject0
inside ip link delete inject0
inside ip link add br-cp type bridge stp_state 1
refused "a bridge with a spanning tree" 'bridge br-cp has stp_state on.*turn it off' "$twice"
inside ip link delete br-cp
check "the host is as it was" diff "$SCRATCH/before" <(state)
refused "a host without Soft-RoCE that no bridge stands before" 'inject: .*host b: .*RDMA device of data0: none is not Soft-RoCE' "$one" "$SCRATCH/none.json" --set 'roles=["a","b"]'
jq --arg key data '.inject = [{"flow": "f", "do": "duplicate"}]' "$SCRATCH/lossy.json" > "$SCRATCH/with.json"
"$H" doctor --lab "$LAB" --for "$SCRATCH/with.json" > "$SCRATCH/out" 2>&1
check_says "doctor says that the bridge can do it" '^ok +sw +inject .*it can have' "$SCRATCH/out"
in_sw mount --bind /dev/null "$nft"
"$H" doctor --lab "$LAB" --for "$SCRATCH/with.json" > "$SCRATCH/out" 2>&1
check_says "... and that it cannot" '^failure +sw +inject .*install nftables' "$SCRATCH/out"
in_sw umount "$nft"

# ---- what is refused before a host is reached
never() { # WHAT PATTERN RULES [LAB [OPTION...]]
    check_exit 2 "$1 is refused" "$H" check "$SCRATCH/lossy.json" --lab "${4:-$LAB}" --set "inject=$3" "${@:5}"
    check_says "... with the reason" "$2" "$SCRATCH/err"
}
never "another order" 'inject\[0\].do: "reorder" is simulated only: .*of a bridge delays and duplicates' '[{"flow": "f", "do": "reorder", "behind": 2}]'
never "a pause" 'inject\[0\].packet: PFC frames pass neither a bridge' '[{"link": ["a", "sw"], "packet": "pfc", "do": "drop"}]'
never "a time" 'a packet filter knows no times of a run' '[{"flow": "f", "do": "drop", "start": "1ms"}]'
never "a count without end" 'a packet filter counts to 1000000000: found 5000000000' '[{"flow": "f", "do": "drop", "count": 5000000000}]'
never "a part of a microsecond" 'inject\[0\].delay: netem delays by whole microseconds: found 1500 ns' '[{"flow": "f", "do": "delay", "delay": "1500ns"}]'
never "too small a probability" 'probability of at least 2.4e-10: found 1e-12' '[{"flow": "f", "do": "drop", "probability": 1e-12}]'
never "one of two flows of the same hosts" 'does not tell apart flows of the same hosts, and a sends such packets of flow "g" to b too: give "link"' '[{"flow": "f", "do": "drop"}]' \
    "$LAB" --set 'flows=[{"name": "f", "from": "a", "to": "b"}, {"name": "g", "from": "a", "to": "b"}]'
never "a bridge without a role" 'host sw of lab bridge would have this fault, but has no role' '[{"flow": "f", "do": "drop"}]' "$LAB" --set 'roles=["a", "b"]'
never "a host without an address" 'host a of lab bridge has no nic.address' '[{"flow": "f", "do": "drop"}]' "$LAB" --set lab.hosts.a.nic.address=null
never "a copy at the receiver" 'inject\[0\].do: to "duplicate" takes a Linux bridge' '[{"flow": "f", "do": "duplicate"}]' "$SCRATCH/none.json" --set 'roles=["a", "b"]'
never "a NIC in hardware" 'nothing between hosts a and b of lab bridge can do it' '[{"flow": "f", "do": "drop"}]' "$SCRATCH/none.json" --set 'roles=["a", "b"]' --set 'lab.hosts.b.nic.rdma="mlx5_0"'
close_hosts
finish
