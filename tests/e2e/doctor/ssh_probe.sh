#!/bin/bash
# harness doctor --probe on two hosts over ssh: nothing on them is changed, and no program stays behind. There is no RDMA here: a stand-in says that data moved, and
# where the test is about counters of priorities, another one what a NIC counted.
# shellcheck disable=SC2317 # functions are called by name
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/e2e/harness/ssh_hosts.bash
. "$ROOT/tests/e2e/harness/ssh_hosts.bash"
export TMPDIR=$SCRATCH/tmp
mkdir "$TMPDIR"
"$H" install --lab "$LAB" > "$SCRATCH/out"
jq '.flows[].priority = 3 | .settings.trust = "dscp" | .settings.pfc = [3] | .settings.mtu = 1400 | .sweep = {} | .expect = [] | .published = [] | .flows[].memory = "host"' \
    "$ROOT/scenarios/pfc-bidir.json" > "$SCRATCH/prio.json"
PROBE=(doctor --for "$SCRATCH/prio.json" --probe)
# shellcheck disable=SC2016 # jq's
verdicts() { jq -r --arg check "$1" '[.[] | select(.check == $check) | "\(.verdict) \(.host)"] | join(", ")' "$SCRATCH/out"; }
journals() { find "$SCRATCH"/[ab]/journal -type f ! -name lock -size +0; }

# ---- traffic that does not start
"$H" "${PROBE[@]}" --lab "$LAB" > "$SCRATCH/out" 2> "$SCRATCH/err"
check_says "without RDMA the probe says why it cannot be" '^failure +pair +probe +.*this host has no RDMA device' "$SCRATCH/out"
check "... and leaves nothing" test -z "$(find "$TMPDIR" -mindepth 1)"

# ---- the real sampler, on a NIC without counters of priorities
mkdir "$SCRATCH/moved"
cp "$SCRATCH"/bin/* "$SCRATCH/moved"
stand_in_traffic "$SCRATCH/moved"
sed -i 's|bytes\\":1,\\"messages\\":1,|bytes\\":25000000,\\"messages\\":380,|; s|^sleep 0.5|touch '"$SCRATCH"'/gone; ip -j link show data0 \| jq ".[0].mtu" > '"$SCRATCH"'/mtu; sleep 0.5|' "$SCRATCH/moved/roce-traffic"
jq --arg at "$SCRATCH/moved" '.hosts[].programs = $at' "$LAB" > "$SCRATCH/moved.json"
"$H" "${PROBE[@]}" --lab "$SCRATCH/moved.json" --json > "$SCRATCH/out" 2> "$SCRATCH/err"
check "a NIC without counters of priorities: unknown" test "$(verdicts tx-class)/$(verdicts rx-class)" = "unknown a, unknown b/unknown a, unknown b"
check "... with the reason" jq -e 'any(.[]; .check == "tx-class" and (.reason | test("there is no tx_prio0_bytes; Soft-RoCE has none")))' "$SCRATCH/out"
check "... and no word of both ends" test -z "$(verdicts same-class)"
check "the probe ran with the settings as they were" test "$(cat "$SCRATCH/mtu")" = 1500
check "... and nothing was written on the hosts" test -z "$(journals)"
check "... nor left here" test -z "$(find "$TMPDIR" -mindepth 1)"

# ---- what a killed run left stays as it is
ssh -i "$SCRATCH/key" -o UserKnownHostsFile="$SCRATCH/known_hosts" root@192.0.2.11 "$SCRATCH/bin/nic-config set - > /dev/null" <<< '{"schema": 1, "interfaces": {"data0": {"mtu": 1300}}}'
check "a host has settings that are to be restored" test "$(mtus)" = "1300 1500" -a -n "$(journals)"
"$H" "${PROBE[@]}" --lab "$SCRATCH/moved.json" > "$SCRATCH/out" 2> "$SCRATCH/err"
check_says "... which doctor says" 'warning +a +settings +.*were not restored' "$SCRATCH/out"
check_says "... the probe takes place" 'unknown +a +tx-class' "$SCRATCH/out"
check "... and leaves them" test "$(mtus)" = "1300 1500" -a -n "$(journals)"
"$H" restore --lab "$LAB" > "$SCRATCH/out"

# ---- a sampler that says what a NIC counted: $SCRATCH/HOST/counted.json, from the end of the traffic on
mkdir "$SCRATCH/counted"
cp "$SCRATCH"/moved/* "$SCRATCH/counted"
cat > "$SCRATCH/counted/nic-sampler" << SAMPLER
#!/bin/bash
[ \$1 = --version ] && exec $SCRATCH/bin/nic-sampler --version
file=\$HOME/../counted.json
printf '{"type":"header","schema":1,"program":"nic-sampler","version":"0.1.0","every_ns":100000000,"host":"x","netdev":"data0","missing":[],"columns":%s}\n' \
    "\$(jq -c '[keys[] | {name: ., unit: "bytes", kind: "counter", source: "ethtool", group: "throughput"}]' "\$file")"
before=\$(jq -r '[keys[] | ",0"] | add' "\$file")
after=\$(jq -r '[keys[] as \$key | ",\\(.[\$key])"] | add' "\$file")
while true; do
    now=\${EPOCHREALTIME//./}000
    if [ -e $SCRATCH/gone ]; then echo "[\$now,1000\$after]"; else echo "[\$now,1000\$before]"; fi || exit
    case " \$* " in *" --count "*) exit ;; esac
    sleep 0.1
done
SAMPLER
jq --arg at "$SCRATCH/counted" '.hosts[].programs = $at' "$LAB" > "$SCRATCH/counted.json"
nic() { # HOST TX0 TX3 RX0 RX3
    jq -n --argjson n "[$2, $3, $4, $5]" '{rx_prio0_bytes: $n[2], rx_prio3_bytes: $n[3], tx_prio0_bytes: $n[0], tx_prio3_bytes: $n[1]}' > "$SCRATCH/$1/counted.json"
}
probe_counted() {
    rm -f "$SCRATCH/gone"
    "$H" "${PROBE[@]}" --lab "$SCRATCH/counted.json" "$@" > "$SCRATCH/out" 2> "$SCRATCH/err"
}
nic a 900 26000000 900 26000000
nic b 900 26000000 900 26000000
probe_counted --json
check "bytes on the priority that the flows have" test "$(verdicts tx-class)/$(verdicts rx-class)/$(verdicts same-class)" = "ok a, ok b/ok a, ok b/ok a->b"
nic b 26000000 900 26000000 900
probe_counted --json
check "one end on another priority: it fails, and so do both together" test "$(verdicts tx-class)/$(verdicts rx-class)/$(verdicts same-class)" = "ok a, failure b/ok a, failure b/failure a->b"
check "... with the way to mend it" jq -e 'any(.[]; .host == "b" and .check == "tx-class" and (.reason | test("25.0 MB of payload that should have priority 3, but tx_prio3_bytes rose by 900 B, and tx_prio0_bytes by 26.0 MB")) and (.fix | test("trust")))' "$SCRATCH/out"
nic b 900 900 900 900
probe_counted
check_says "no bytes at all: another interface" '^failure +b +tx-class +its flows sent 25.0 MB of payload, but .* rose by 1.8 kB: the traffic went over another interface' "$SCRATCH/out"

# ---- it ends early
start_probe() { # returns when the traffic was sent
    rm -f "$SCRATCH/gone"
    "$H" "${PROBE[@]}" --lab "$SCRATCH/counted.json" > "$SCRATCH/out" 2> "$SCRATCH/err" &
    pid=$!
    until [ -e "$SCRATCH/gone" ] || ! kill -0 $pid 2> "$SCRATCH/null"; do sleep 0.02; done
}
start_probe
kill -INT $pid
wait $pid
check "Ctrl-C ends it" test $? = 130
check "... without anything left here" test -z "$(find "$TMPDIR" -mindepth 1)"
start_probe
{ kill -KILL $pid && wait $pid; } 2> "$SCRATCH/null"
programs() { for host in a b; do ip netns pids $host; done | xargs -r ps -o comm= -p | grep -vE '^sshd$'; }
for _ in $(seq 100); do [ -n "$(programs)" ] || break; sleep 0.1; done
check "kill -9: no program stays on the hosts" test -z "$(programs)"
check "... nor a setting" test -z "$(journals)"
probe_counted
check "... and the next probe removes what is left here" test -z "$(find "$TMPDIR" -mindepth 1)"

# ---- flows that need an interface which a run makes
jq '.hosts |= with_entries(.value.nic.vlan = {id: 100, address: ("10.9.100." + (.value.nic.address | split("[./]"; "")[3]) + "/24")})' "$SCRATCH/counted.json" > "$SCRATCH/tagged.json"
"$H" "${PROBE[@]}" --lab "$SCRATCH/tagged.json" > "$SCRATCH/out" 2> "$SCRATCH/err"
check_says "a VLAN that a run makes: unknown, nothing was sent" '^unknown +pair +probe +flows of a pass a VLAN interface that a run makes' "$SCRATCH/out"

close_hosts
finish
