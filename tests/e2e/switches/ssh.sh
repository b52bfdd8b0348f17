#!/bin/bash
# A lab with a SONiC switch: doctor checks its configuration, from a file and from its databases over ssh, and a run has its counters. The
# switch is a stand-in: an sshd beside a redis-server with entries in SONiC's format.
# shellcheck disable=SC2317 # functions are called by name
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/e2e/switches/sonic_stand_in.bash
. "$ROOT/tests/e2e/switches/sonic_stand_in.bash"

links='.links = [{between: ["a", "tor"], ports: {tor: "Ethernet0"}, length: "3m"}, {between: ["b", "tor"], ports: {tor: "Ethernet4"}, length: "3m"}]'
jq --arg key "$SCRATCH/key" --arg known "$SCRATCH/known_hosts" --arg socket "$REDIS" \
    "$links"' | .switches = {tor: {ssh: "root@192.0.2.13", identity: $key, known_hosts: $known, socket: $socket}}' "$LAB" > "$SCRATCH/live.json"
jq "$links"' | .switches = {tor: {config: "config_db.json"}}' "$LAB" > "$SCRATCH/file.json"
# What doctor says of the switch: "VERDICT CHECK" lines, with the reasons in out.
doctor() { # LAB [ARG...]
    "$H" doctor --json --lab "$@" > "$SCRATCH/out" 2> "$SCRATCH/err"
    jq -r '.[] | select(.host == "tor") | "\(.verdict) \(.check)"' "$SCRATCH/out" | sort | uniq -c | sed 's/^ *//' > "$SCRATCH/verdicts"
}
reason() { jq -r --arg check "$1" '.[] | select(.host == "tor" and .check == $check) | .reason' "$SCRATCH/out"; }

# ---- doctor
check_exit 0 "a lab with a switch is good" "$H" check "$SCRATCH/live.json"
doctor "$SCRATCH/live.json"
cp "$SCRATCH/verdicts" "$SCRATCH/of-databases"
check "doctor reads the switch's databases" grep -qx '1 ok config-db' "$SCRATCH/verdicts"
check "... and says what it is" test "$(reason config-db)" = "SONiC, Stand-In, x86_64-stand_in"
check "... both ports, whose speed is not that of these hosts' NICs" grep -qx '2 failure port' "$SCRATCH/verdicts"
check "... headroom of each lossless priority" grep -qx '4 ok headroom' "$SCRATCH/verdicts"
check "... WRED" grep -qx '4 ok wred' "$SCRATCH/verdicts"
check "... and the watchdog" grep -qx '2 ok pfc-watchdog' "$SCRATCH/verdicts"
check "... these hosts have no PFC: not compared" grep -qx '2 unknown pfc' "$SCRATCH/verdicts"
check "... every entry has evidence" jq -e 'all(.[]; .evidence | length > 5) and any(.[]; .check == "wred" and (.evidence | test("CONFIG_DB of tor, by redis-cli over ssh: QUEUE.Ethernet0.3, WRED_PROFILE.AZURE_LOSSLESS")))' "$SCRATCH/out"
doctor "$SCRATCH/file.json"
check "a recorded file is judged in the same way" diff "$SCRATCH/verdicts" "$SCRATCH/of-databases"
# shellcheck disable=SC2016 # a variable of jq
check "... with the file as evidence" jq -e --arg at "$SCRATCH/config_db.json" 'any(.[]; .check == "config-db" and .evidence == $at)' "$SCRATCH/out"
db 4 HSET 'PORT_QOS_MAP|Ethernet4' pfc_enable 4 > /dev/null
db 4 HSET 'BUFFER_PROFILE|pg_lossless_100000_5m_profile' xoff 2000 > /dev/null
db 4 HSET 'PFC_WD|Ethernet0' restoration_time 100 > /dev/null
jq '.settings = {trust: "dscp", pfc: [3], mtu: 1400} | .flows[].priority = 3 | .sweep = {} | .expect = [] | .published = [] | .flows[].memory = "host"' "$ROOT/scenarios/pfc-bidir.json" > "$SCRATCH/prio.json"
check_exit 3 "doctor for a scenario finds what was changed" "$H" doctor --lab "$SCRATCH/live.json" --for "$SCRATCH/prio.json"
check_says "... PFC on different priorities at both ends of a cable" 'failure +tor +pfc +Ethernet4 \(to b\): PFC on priorities 4, at b on 3: one end ignores' "$SCRATCH/out"
check_says "... headroom that is too small" 'failure +tor +headroom +Ethernet0 \(to a\), priority 3: .* keeps 2000 bytes .*packets are lost although PFC is on' "$SCRATCH/out"
check_says "... with the profile that needs more" 'xoff of at least [0-9]+ in BUFFER_PROFILE\|pg_lossless_100000_5m_profile' "$SCRATCH/out"
check_says "... a watchdog that cannot work" 'failure +tor +pfc-watchdog .*cannot be shorter than POLL_INTERVAL' "$SCRATCH/out"
check_says "... and the DSCP of flows is that of the class" 'ok +tor +dscp +Ethernet0 \(to a\): DSCP 24 is priority 3 at a, and traffic class 3 here' "$SCRATCH/out"
db 4 HSET 'DSCP_TO_TC_MAP|AZURE' 24 1 > /dev/null
check_exit 3 "a switch that maps it to another class" "$H" doctor --lab "$SCRATCH/live.json" --for "$SCRATCH/prio.json"
check_says "... is a failure" 'failure +tor +dscp +.*DSCP 24 is priority 3 at a, but traffic class 1 here' "$SCRATCH/out"
check_says "... with a DSCP that is right" 'or send with DSCP 25' "$SCRATCH/out"

# ---- what cannot be read
failing() { # WHAT PATTERN LAB-FILTER
    jq "$3" "$SCRATCH/live.json" > "$SCRATCH/bad.json"
    check_exit 3 "$1" "$H" doctor --lab "$SCRATCH/bad.json"
    check_says "... is said" "failure +tor +config-db +$2" "$SCRATCH/out"
}
failing "a switch that cannot be reached" '.*Connection refused' '.switches.tor.port = 9'
failing "a switch without its databases" '.*Could not connect to Redis at /none/redis.sock' '.switches.tor.socket = "/none/redis.sock"'
db 4 HSET 'WRED_PROFILE|AZURE_LOSSLESS' ecn sometimes > /dev/null
check_exit 3 "a value that SONiC does not know costs that value" "$H" doctor --lab "$SCRATCH/live.json"
check_says "... and is named" 'warning +tor +config-db +WRED_PROFILE\|AZURE_LOSSLESS: ecn is "sometimes"' "$SCRATCH/out"
check_says "... what depends on it is unknown" 'unknown +tor +wred +Ethernet0 ' "$SCRATCH/out"
db 4 HSET 'WRED_PROFILE|AZURE_LOSSLESS' ecn ecn_all "$(printf 'a\nb')" x > /dev/null
db 4 SET 'WRED_PROFILE|STRING' x > /dev/null
jq '.links[0].ports.tor = "Ethernet9"' "$SCRATCH/live.json" > "$SCRATCH/bad.json"
check_exit 3 "a port that the switch has not" "$H" doctor --lab "$SCRATCH/bad.json"
check_says "... is said" 'failure +tor +port +Ethernet9 \(to a\): the switch has no such port' "$SCRATCH/out"
for text in '' '{' '[]' '{"PORT":7}'; do
    printf %s "$text" > "$SCRATCH/config_db.json"
    check_exit 3 "a file with ${text:0:30}" "$H" doctor --lab "$SCRATCH/file.json"
    check_says "... is refused" "failure +tor +config-db +$SCRATCH/config_db.json" "$SCRATCH/out"
done
rm "$SCRATCH/config_db.json"
check_exit 3 "a file that is not there" "$H" doctor --lab "$SCRATCH/file.json"
check_says "... is named" "failure +tor +config-db +.*config_db.json: No such file" "$SCRATCH/out"

# ---- a run
mkdir "$SCRATCH/moved"
cp "$SCRATCH"/bin/* "$SCRATCH/moved"
stand_in_traffic "$SCRATCH/moved"
# what the traffic does at the switch
cat > "$SCRATCH/at-switch" << END
#!/bin/bash
redis-cli -s $REDIS -n 2 > /dev/null << COMMANDS
HSET COUNTERS:oid:0x100000000000 SAI_PORT_STAT_PFC_3_RX_PKTS 1042
HSET COUNTERS:oid:0x15000000000 unused 1
HSET COUNTERS:oid:0x150000000003 SAI_QUEUE_STAT_WRED_ECN_MARKED_PACKETS 1007
HSET COUNTERS:oid:0x150000000403 SAI_QUEUE_STAT_PACKETS 5
HSET USER_WATERMARKS:oid:0x1a0000000003 SAI_INGRESS_PRIORITY_GROUP_STAT_XOFF_ROOM_WATERMARK_BYTES 30000
COMMANDS
END
chmod +x "$SCRATCH/at-switch"
sed -i "s|^sleep 0.5|$SCRATCH/at-switch; sleep 0.5|" "$SCRATCH/moved/roce-traffic"
jq --arg at "$SCRATCH/moved" '.hosts[].programs = $at' "$SCRATCH/live.json" > "$SCRATCH/moved.json"
RUN=(run "$SCRATCH/prio.json" --set sample.every=50ms --set phases.warmup=100ms --set phases.measure=500ms --set phases.cooldown=100ms --no-report --out "$OUT")
"$H" "${RUN[@]}" --lab "$SCRATCH/moved.json" > "$SCRATCH/out" 2> "$SCRATCH/err"
result=$OUT/pfc-bidir/latest/result.json
says() { check "... $1" jq -e "$2" "$result"; }
check "a run ends with a result" jq -e .complete "$result"
says "which has the switch" '.switches.tor | .runs == "SONiC" and .hwsku == "Stand-In" and .after_ns - .before_ns >= 500000000'
says "at its ports" '[.switches.tor.ports | to_entries[] | "\(.key) \(.value.to)"] == ["Ethernet0 a", "Ethernet4 b"]'
says "pauses that the switch received" '.switches.tor.ports.Ethernet0.counters.rx_prio3_pause == {unit: "frames", kind: "counter", source: "SAI_PORT_STAT_PFC_3_RX_PKTS", before: 1000, after: 1042, delta: 42}'
says "packets that it marked" '.switches.tor.ports.Ethernet0.counters.tx_queue3_ecn_marked.delta == 7'
says "a watermark is no difference" '.switches.tor.ports.Ethernet0.counters.rx_group3_headroom_watermark | .kind == "gauge" and .before == 1000 and .after == 30000 and (has("delta") | not)'
says "what did not move is 0" '.switches.tor.ports.Ethernet4.counters.tx_prio3_pause.delta == 0'
says "a counter that was cleared has no difference" '.switches.tor.ports.Ethernet4.counters.tx_queue3_packets | has("delta") | not'
says "but a warning" 'any(.warnings[]; test("switch tor, Ethernet4: tx_queue3_packets decreased during the run, from 1000 to 5"))'
says "the interval that was waited for" '.switches.tor.settle_ns == 200000000'
check "nothing of the run's secret is at the switch" test -z "$(ls -A "$SCRATCH/tor/journal")"

# ---- runs whose switch fails
jq '.switches.tor.socket = "/none/redis.sock"' "$SCRATCH/moved.json" > "$SCRATCH/bad.json"
"$H" "${RUN[@]}" --lab "$SCRATCH/bad.json" > "$SCRATCH/out" 2> "$SCRATCH/err"
check "a run without the switch's databases is complete" jq -e '.complete and (has("switches") | not)' "$result"
says "and warns" 'any(.warnings[]; test("counters of switch tor are missing: .*Could not connect to Redis"))'
jq '.switches.tor.port = 9' "$SCRATCH/moved.json" > "$SCRATCH/bad.json"
"$H" "${RUN[@]}" --lab "$SCRATCH/bad.json" > "$SCRATCH/out" 2> "$SCRATCH/err"
check "a run without the switch is complete" jq -e '.complete and (has("switches") | not)' "$result"
says "and warns" 'any(.warnings[]; test("counters of switch tor are missing: .*Connection refused"))'
db 2 HDEL COUNTERS_PORT_NAME_MAP Ethernet4 > /dev/null
"$H" "${RUN[@]}" --lab "$SCRATCH/moved.json" > "$SCRATCH/out" 2> "$SCRATCH/err"
says "of a port without counters too" 'any(.warnings[]; test("switch tor, Ethernet4: COUNTERS_PORT_NAME_MAP has no such port")) and (.switches.tor.ports | keys) == ["Ethernet0"]'
ip netns pids tor | xargs -r kill
close_hosts
finish
