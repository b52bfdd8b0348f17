#!/bin/bash
# Hosts with several NICs over ssh: a machine has one connection, lock, clock, facts, journal and sampler, and each NIC its own settings,
# counters and traffic. Two machines of two rails, each rail a network; more programs than an sshd takes over one connection; doctor on rails
# of one network; a run that was killed is restored.
# There is no RDMA here: traffic is a stand-in's.
# shellcheck disable=SC2317 # functions are called by name
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/e2e/harness/ssh_hosts.bash
. "$ROOT/tests/e2e/harness/ssh_hosts.bash"

# ---- the second rail of both hosts, which an sshd takes ten sessions of as it does by itself
ip -n a link add data1 type veth peer name data1 netns b
ip -n a addr add 10.9.1.1/24 dev data1
ip -n b addr add 10.9.1.2/24 dev data1
for host in a b; do
    ip -n $host link set data1 up
    sed -i '/^MaxSessions/d' "$SCRATCH/$host/sshd_config"
    ip netns pids $host | head -n 1 | xargs kill -HUP
done
STAND_IN=$SCRATCH/stand-in NOTED=$SCRATCH/noted
mkdir "$STAND_IN" "$NOTED"
# The programs as they are, noted with their machine.
noted_program() { # NAME
    cat > "$STAND_IN/$1" << END
#!/bin/bash
[ "\$1" != --version ] || exec $SCRATCH/bin/$1 --version
host=a
! ip -4 addr show data0 | grep -q 10.9.0.2/ || host=b
echo "\$host \$*" >> $NOTED/$1
exec $SCRATCH/bin/$1 "\$@"
END
    chmod +x "$STAND_IN/$1"
}
rails() { # FILE: a lab of both rails from the lab $LAB
    jq --arg programs "$STAND_IN" 'def rails($n): {rail0: {netdev: "data0", address: "10.9.0.\($n)/24"}, rail1: {netdev: "data1", address: "10.9.1.\($n)/24"}};
        .name = "rails" | .hosts[] |= (del(.nic) + {programs: $programs})
        | .roles = {a0: "a.rail0", a1: "a.rail1", b0: "b.rail0", b1: "b.rail1"}
        | .hosts.a.nics = rails(1) | .hosts.b.nics = rails(2) | .links = [{between: ["a.rail0", "b.rail0"]}, {between: ["a.rail1", "b.rail1"]}]' "$LAB" > "$1"
}
RAILS=$SCRATCH/rails.json
rails "$RAILS"
check_exit 0 "a lab of hosts with two NICs is valid" "$H" check "$RAILS"
jq --arg programs "$SCRATCH/bin" '.hosts[].programs = $programs' "$RAILS" > "$SCRATCH/installed.json"
check_exit 0 "programs are installed" "$H" install --lab "$SCRATCH/installed.json"
check "... once a machine, by its name" test "$(cut -d: -f1 "$SCRATCH/out" | xargs)" = "a b"
check_exit 2 "... which may be given" "$H" install c --lab "$SCRATCH/installed.json"
for program in nic-sampler nic-config host-facts; do noted_program $program; done
stand_in_traffic "$STAND_IN"
times() { grep -c "^$2" "$NOTED/$1"; }

# ---- a run in both directions of both rails
jq '{schema, name: "rails", roles: ["a0", "a1", "b0", "b1"], phases: {warmup: "0s", measure: "1s", cooldown: "100ms"},
    settings: {mtu: 1400}, settings_of: {a1: {mtu: 1300}, b1: {mtu: 1300}}, sample: {every: "50ms"},
    flows: [(0, 1) as $n | {name: "there\($n)", from: "a\($n)", to: "b\($n)", memory: "host"}, {name: "back\($n)", from: "b\($n)", to: "a\($n)", memory: "host"}]}' \
    "$ROOT/scenarios/pfc-bidir.json" > "$SCRATCH/scenario.json"
says() { jq -e "$1" "$2"; }
RUN=("$H" run "$SCRATCH/scenario.json" --lab "$RAILS" --no-report --out "$OUT")
RESULT=$OUT/rails/latest
check_exit 4 "a run on two machines of two rails" "${RUN[@]}"
check "... is complete" says .complete "$RESULT/result.json"
for host in a b; do
    check "... one sampler on $host for both NICs" test "$(times nic-sampler $host)" = 1
    check_says "... which names them" "^$host --nic data0 --nic data1 " "$NOTED/nic-sampler"
    check "... one question for facts" test "$(times host-facts $host)" = 1
    check "... one set" test "$(times nic-config "$host set ")" = 1
    check "... one restore" test "$(times nic-config "$host restore")" = 1
done
check "... settings of each NIC were its own" says '[.["a0", "a1", "b0", "b1"].read_back | to_entries[] | [.key, .value.mtu]] == [["data0", 1400], ["data1", 1300], ["data0", 1400], ["data1", 1300]]' "$RESULT/settings.json"
check "... and are restored" says 'all(.[]; .restored and .after == .before)' "$RESULT/settings.json"
mtu() { ip -n "$1" -j link show "$2" | jq '.[0].mtu'; }
check "... which the hosts show" test "$(mtu a data0) $(mtu a data1) $(mtu b data0) $(mtu b data1)" = "1500 1500 1500 1500"
check "... each NIC has samples, of its own interface" says '[.hosts[].sampling.samples > 5] | length == 4 and all' "$RESULT/result.json"
jq -cn '[inputs | select(type == "object" and .type == "header") | [.host, .netdev]] | unique' "$RESULT/samples.jsonl" > "$SCRATCH/headers"
check "... whose headers say so" test "$(cat "$SCRATCH/headers")" = '[["a0","data0"],["a1","data1"],["b0","data0"],["b1","data1"]]'
check "... what the machine has once is counted once" says '.hosts | [.a0, .a1 | .counters | has("IpExtInCEPkts")] == [true, false]' "$RESULT/result.json"
check "... all four flows ended" says '[.flows[].bytes] == [1, 1, 1, 1]' "$RESULT/result.json"
check "... the clock of a machine is read once" says '.hosts | .a0.clock == .a1.clock' "$RESULT/result.json"
check "... nothing was damaged" test "$(grep -c 'left out\|incomplete' "$RESULT/run.log")" = 0

# ---- a scenario names machines: their NICs come in their place
jq 'del(.settings_of) | .name = "bound" | .roles = ["a", "b"] | .settings_of = {"a.rail1": {mtu: 1300}} | .flows = [{name: "there", from: "a.rail*", to: "b.rail*", memory: "host"}]' \
    "$SCRATCH/scenario.json" > "$SCRATCH/bound.json"
check_exit 4 "a run of roles that are machines" "$H" run "$SCRATCH/bound.json" --lab "$RAILS" --no-report --out "$OUT"
BOUND=$OUT/bound/latest
check "... has a flow for each rail" says '.flows | keys == ["there.rail0", "there.rail1"] and all(.bytes == 1)' "$BOUND/result.json"
check "... and settings for each NIC" says '[.["a.rail0", "a.rail1", "b.rail1"].read_back[].mtu] == [1400, 1300, 1400]' "$BOUND/settings.json"
check "... NICs say whose they are" says '.hosts | [.["a.rail0", "b.rail1"].machine] == ["a", "b"]' "$BOUND/result.json"

# ---- a sampler that names a NIC that it was not asked for
cp "$STAND_IN/nic-sampler" "$SCRATCH/nic-sampler.noted"
sed -i "s|^exec |[ \$host = a ] \&\& echo '[\"data9\",1,2,3]'; &|" "$STAND_IN/nic-sampler"
check_exit 4 "lines of a NIC that is not sampled" "${RUN[@]}"
check "... are left out with a warning" says '.complete and any(.warnings[]; test("left out"))' "$RESULT/result.json"
check_says "... and named in the log" 'host a: nic-sampler: a line is of none of the NICs that are sampled: "..data9' "$RESULT/run.log"

# ---- samplers whose lines of one NIC end before the measured phase, and whose header of one NIC cannot be read: nothing is said of these
cat > "$SCRATCH/part" << 'END'
host == "a" && /^\["data1",/ && ++samples > 1 { next }
host == "b" && /^{"nic":"data1","type":"header"/ { sub(/"columns":\[/, "&{\"name\":\"x\",\"unit\":\"\",\"kind\":\"counter\",\"source\":\"y\",\"group\":\"z\"},{\"name\":\"x\",\"unit\":\"\",\"kind\":\"counter\",\"source\":\"y\",\"group\":\"z\"},") }
{ print; fflush() }
END
sed "s|^exec .*|& > >(exec awk -v host=\$host -f $SCRATCH/part)|" "$SCRATCH/nic-sampler.noted" > "$STAND_IN/nic-sampler"
jq '.roles = ["a", "b"] | del(.settings_of) | .flows = [{name: "there", from: "a.rail*", to: "b.rail*", memory: "host"}] | .phases.warmup = "500ms"
    | .expect = [("total(a.rail1.link_rx_dropped) == 0", "total(a.link_rx_dropped) == 0", "last(a.rail1.link_rx_dropped) == 0", "delta(*.*.link_rx_dropped) == 0",
        "delta(b.rail?.link_rx_dropped) == 0", "total(a.rail0.link_rx_dropped) == 0") | {name: ., check: .}]' "$SCRATCH/scenario.json" > "$SCRATCH/part.json"
check_exit 0 "samplers that tell nothing of one NIC" "$H" run "$SCRATCH/part.json" --lab "$RAILS" --no-report --out "$OUT"
check "... what they told nothing of is not judged" says '[.expectations[].verdict] == ["skipped", "skipped", "skipped", "skipped", "skipped", "passed"]' "$RESULT/result.json"
check "... nor is it for longer than the phase lasted" says '.hosts["a.rail1"].counters.link_rx_dropped.unread_ns == 1000000000' "$RESULT/result.json"
check "... and the sum of the machine says so" says '.machines.a.counters.link_rx_dropped | .unread_ns == 1000000000 and has("of") == false' "$RESULT/result.json"
check "... a header that has a column twice is refused" says 'any(.warnings[]; test("b.rail1: .*a header has the column x of y twice"))' "$RESULT/result.json"
check_exit 0 "... and not written: the result is exported" "$H" export "$RESULT" --out "$SCRATCH/part.sqlite"
sed -i '/^host == "b"/s/.*/host == "b" \&\& \/^{"nic":"data1","type":"header"\/ { sub(\/"schema":1\/, "\\"schema\\":7") }/' "$SCRATCH/part"
check_exit 0 "a sampler of another schema" "$H" run "$SCRATCH/part.json" --lab "$RAILS" --no-report --out "$OUT"
check "... is refused, too" says 'any(.warnings[]; test("b.rail1: .*a header line has another schema than 1"))' "$RESULT/result.json"
cp "$SCRATCH/nic-sampler.noted" "$STAND_IN/nic-sampler"

# ---- the nodes of a job of Slurm are machines
jq '.hosts.a.ssh = "root@elsewhere1" | .hosts.b.ssh = "root@elsewhere2"' "$RAILS" > "$SCRATCH/nodes.json"
check_exit 4 "two nodes of Slurm are two machines of two rails" env SLURM_JOB_NODELIST='192.0.2.[11-12]' "$H" run "$SCRATCH/scenario.json" --lab "$SCRATCH/nodes.json" --hosts-from slurm --no-report --out "$OUT"
check "... each NIC is reached by its machine's node" says '[.lab.hosts[].ssh] | unique == ["root@192.0.2.11", "root@192.0.2.12"]' "$RESULT/result.json"

# ---- more programs than an sshd takes over one connection: 8 roles that send and receive on each machine
for i in 2 3 4 5 6 7; do
    ip -n a link add data$i type veth peer name data$i netns b
    for host in a b; do ip -n $host link set data$i up; done
done
jq '.hosts |= with_entries((.key | explode[0] - 96) as $n | .value.nics |= . + ([range(2; 8) | {key: "rail\(.)", value: {netdev: "data\(.)", address: "10.9.\(.).\($n)/24"}}] | from_entries))
    | .roles = ([("a", "b") as $h | range(8) | {key: "\($h)\(.)", value: "\($h).rail\(.)"}] | from_entries)' "$RAILS" > "$SCRATCH/eight.json"
jq '.name = "eight" | .roles = [("a", "b") as $h | range(8) | "\($h)\(.)"] | del(.settings, .settings_of)
    | .flows = [range(8) | {name: "there\(.)", from: "a\(.)", to: "b\(.)", memory: "host"}, {name: "back\(.)", from: "b\(.)", to: "a\(.)", memory: "host"}]' "$SCRATCH/scenario.json" > "$SCRATCH/eight-scenario.json"
check_exit 4 "a run of eight rails starts 17 programs on a machine" "$H" run "$SCRATCH/eight-scenario.json" --lab "$SCRATCH/eight.json" --no-report --out "$OUT"
check "... and is complete" says '.complete and ([.flows[].bytes] | length == 16 and add == 16)' "$OUT/eight/latest/result.json"

# ---- a second program on the machine; one that was killed
rm -rf "$OUT/rails"
"${RUN[@]}" --set phases.measure=30s > "$SCRATCH/first.out" 2>&1 &
first=$!
samples() { grep -qs 'nic-sampler --nic' "$OUT"/rails/*/run.log; }
until_true 60 samples
check "settings of both NICs are in force" test "$(mtu a data0) $(mtu a data1)" = "1400 1300"
check_exit 3 "a second run" "${RUN[@]}"
check_says "... is refused in the machine's name" 'host a is in use by harness \(process [0-9]+, run rails of lab rails' "$SCRATCH/err"
kill -9 $first
wait $first 2> /dev/null
check "a run that was killed has restored nothing" test "$(mtu a data0) $(mtu a data1)" = "1400 1300"
check_exit 0 "restore" "$H" restore --lab "$RAILS"
check "... restores the machines, once each" test "$(grep -c '^a: found settings that an interrupted run changed' "$SCRATCH/out") $(grep -c '^b: found' "$SCRATCH/out")" = "1 1"
check "... all NICs of them" test "$(mtu a data0) $(mtu a data1) $(mtu b data0) $(mtu b data1)" = "1500 1500 1500 1500"
check "... one command did it" test "$(tail -n 2 "$NOTED/nic-config" | cut -d' ' -f2- | sort -u)" = restore

# ---- a sweep keeps the settings of all NICs of a machine from run to run, and restores them at its end
: > "$NOTED/nic-config"
"$H" run "$SCRATCH/scenario.json" --lab "$RAILS" --no-report --out "$OUT" --repeat 2 > "$SCRATCH/out" 2> "$SCRATCH/err"
check "a sweep of two runs sets once" test "$(times nic-config 'a set ') $(times nic-config 'b set ')" = "1 1"
check "... and restores at its end" test "$(mtu a data0) $(mtu a data1) $(mtu b data0) $(mtu b data1)" = "1500 1500 1500 1500"

# ---- NICs of a machine that cannot be reached
jq '.hosts.b.port = 9' "$RAILS" > "$SCRATCH/half.json"
check_exit 3 "a machine that does not answer" "$H" run "$SCRATCH/scenario.json" --lab "$SCRATCH/half.json" --no-report --out "$OUT"
check "... is told once" test "$(grep -c 'Connection refused' "$SCRATCH/err")" = 1
jq '.hosts.b.nics.rail1.netdev = "nosuch0"' "$RAILS" > "$SCRATCH/half.json"
check_exit 3 "a NIC that is not there" "$H" run "$SCRATCH/scenario.json" --lab "$SCRATCH/half.json" --no-report --out "$OUT"
check_says "... is named" 'host b\.rail1: nic-config get: .*nosuch0' "$SCRATCH/err"

# ---- doctor: what a machine has once is said once, of it; of each NIC what is its own
"$H" doctor --lab "$RAILS" > "$SCRATCH/out" 2> "$SCRATCH/err"
of() { awk -v check="$1" '$3 == check { print $2 }' "$SCRATCH/out" | xargs; }
for word in connection clock programs; do check "doctor says of machines: $word" test "$(of $word)" = "a b"; done
for word in nic link port route; do check "... of each NIC: $word" test "$(of $word)" = "a.rail0 a.rail1 b.rail0 b.rail1"; done
check_says "... a NIC reaches that of its own rail" '^ok +a\.rail1 +port +TCP port 18525 of b\.rail1 \(10\.9\.1\.2/24\) can be reached|^ok +a\.rail1 +port +TCP port 18525 of .*10\.9\.1\.2' "$SCRATCH/out"
check_says "... and packets take their own way" '^ok +a\.rail1 +route +' "$SCRATCH/out"
check_exit 3 "doctor for a scenario" "$H" doctor --lab "$RAILS" --for "$SCRATCH/scenario.json"
check "... says the same of routes" test "$(of route)" = "a.rail0 a.rail1 b.rail0 b.rail1"

# two rails in one network: packets leave by one of them, and both answer for both
ip -n a addr flush dev data1
ip -n b addr flush dev data1
ip -n a addr add 10.9.0.3/24 dev data1
ip -n b addr add 10.9.0.4/24 dev data1
jq '.hosts.a.nics.rail1.address = "10.9.0.3/24" | .hosts.b.nics.rail1.address = "10.9.0.4/24"' "$RAILS" > "$SCRATCH/one-network.json"
"$H" doctor --lab "$SCRATCH/one-network.json" > "$SCRATCH/out" 2> "$SCRATCH/err"
check_says "in one network, packets of one rail leave by another" '^failure +a\.rail1 +route +packets from 10\.9\.0\.3 to 10\.9\.0\.[24] leave by data0, not by data1' "$SCRATCH/out"
check_says "... and both answer ARP" '^failure +a\.rail1 +route +data1 and data0 are in one network \(10\.9\.0\.3/24, 10\.9\.0\.1/24\), and data1 answers ARP for both' "$SCRATCH/out"
check_says "... with what to do" '-> give each rail a network of its own, or: ip route add NETWORK dev data1 src 10\.9\.0\.3 table 102; ip rule' "$SCRATCH/out"
for host in a b; do
    n=1 m=3
    [ $host = a ] || { n=2 m=4; }
    # shellcheck disable=SC2016 # the inner shell expands it
    ip netns exec $host bash -c 'for i in 0 1; do
        echo 1 > /proc/sys/net/ipv4/conf/data$i/arp_ignore; address=$((i ? $2 : $1))
        ip route add 10.9.0.0/24 dev data$i src 10.9.0.$address table 10$i; ip rule add from 10.9.0.$address table 10$i; done' bash $n $m
done
"$H" doctor --lab "$SCRATCH/one-network.json" > "$SCRATCH/out" 2> "$SCRATCH/err"
check "... routes by source and arp_ignore are that" test "$(awk '$3 == "route" { print $1 }' "$SCRATCH/out" | sort -u)" = ok

# ---- two hosts of a lab that are one machine must say so
echo "3221225995 $(cut -d' ' -f1,2 "$SCRATCH/host.pub")" >> "$SCRATCH/known_hosts" # 192.0.2.11 as one number
jq '.hosts.c = .hosts.a | .hosts.c += {ssh: "root@3221225995", nics: {rail9: {netdev: "data1", address: "10.9.1.1/24"}}} | del(.hosts.a.nics.rail1, .links, .roles)' "$RAILS" > "$SCRATCH/twice.json"
jq '.roles = ["a", "c"] | del(.settings_of) | .flows = [{name: "f", from: "a.rail0", to: "c.rail9", memory: "host"}]' "$SCRATCH/scenario.json" > "$SCRATCH/two.json"
check_exit 3 "a machine that is named twice" "$H" run "$SCRATCH/two.json" --lab "$SCRATCH/twice.json" --no-report --out "$OUT"
check_says "... is refused, with what to say" '[ac] and [ac] of lab rails are one machine: a lab names each machine once, its NICs in "nics"; or both hosts say the same "machine"' "$SCRATCH/err"
close_hosts
finish
