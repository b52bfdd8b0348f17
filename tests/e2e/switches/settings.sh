#!/bin/bash
# A scenario with a role that a SONiC switch has: its settings are saved, set, verified and restored, and its counters are samples of the
# role. The switch is a stand-in: an sshd beside a redis-server with entries in SONiC's format.
# shellcheck disable=SC2317 # functions are called by name
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/e2e/switches/sonic_stand_in.bash
. "$ROOT/tests/e2e/switches/sonic_stand_in.bash"
db 4 HDEL 'PFC_WD|Ethernet0' restoration_time > /dev/null
db 4 HSET 'PFC_WD|Ethernet0' pfc_stat_history enable > /dev/null
dump() { for key in $(db 4 KEYS '*' | sort); do echo "$key $(db 4 HGETALL "$key" | paste - - | sort | paste -sd' ')"; done; db 6 KEYS '*'; }
dump > "$SCRATCH/before"

links='.links = [{between: ["a", "tor"], ports: {tor: "Ethernet0"}, length: "3m"}, {between: ["b", "tor"], ports: {tor: "Ethernet4"}, length: "3m"}]'
mkdir "$SCRATCH/moved"
cp "$SCRATCH"/bin/* "$SCRATCH/moved"
stand_in_traffic "$SCRATCH/moved"
jq --arg key "$SCRATCH/key" --arg known "$SCRATCH/known_hosts" --arg socket "$REDIS" --arg at "$SCRATCH/moved" \
    "$links"' | .hosts[].programs = $at | .switches = {tor: {ssh: "root@192.0.2.13", identity: $key, known_hosts: $known, socket: $socket}}' "$LAB" > "$SCRATCH/lab.json"
jq '.roles += ["s0"] | .settings = {mtu: 1400, pfc: [3]} | .flows[].priority = 0 | .sweep = {} | .sample.groups += ["queue"] | .published = [] | .flows[].memory = "host"
    | .settings_of = {s0: {ecn_threshold: {kmin: "100KB", kmax: "400KB", pmax: 0.2}, watchdog: {detect: "300ms", action: "forward"}}}
    | .expect = [{name: "pauses reached the switch", check: "total(s0.port0_rx_prio3_pause) == 42"},
                 {name: "at most six marks", check: "total(s0.ecn_marked) <= 6"},
                 {name: "by the port", check: "total(s0.port0_ecn_marked) == 7 "},
                 {name: "queues of the simulator", check: "max(s0.port0_prio3_queue_peak_bytes) < 1MB"},
                 {name: "headroom", check: "max(s0.port0_rx_group3_headroom_watermark) <= 30000B", needs: ["switch"]},
                 {name: "a GPU", check: "total(s0.rx_pause) > 0", needs: ["gpu"]}]' "$ROOT/scenarios/pfc-bidir.json" > "$SCRATCH/prio.json"
jq '.roles = {s0: "tor"}' "$SCRATCH/lab.json" > "$SCRATCH/live.json"
RUN=(run "$SCRATCH/prio.json" --lab "$SCRATCH/live.json" --set sample.every=50ms --set phases.warmup=300ms --set phases.measure=600ms --set phases.cooldown=300ms --no-report --out "$OUT")
result=$OUT/pfc-bidir/latest/result.json
settings=$OUT/pfc-bidir/latest/settings.json
says() { check "... $1" jq -e "$2" "$result"; }
restored() { # WHAT; everything is as it was, and no journal is left
    dump > "$SCRATCH/after"
    check "$1" diff "$SCRATCH/before" "$SCRATCH/after"
}
# what the traffic does at the switch
at_traffic() { # COMMAND
    cat > "$SCRATCH/at-switch" << END
#!/bin/bash
redis() { redis-cli -s $REDIS -n "\$@" > /dev/null; }
$1
END
    chmod +x "$SCRATCH/at-switch"
}
sed -i "s|^sleep 0.5|$SCRATCH/at-switch; sleep 0.5|" "$SCRATCH/moved/roce-traffic"
at_traffic "redis 2 HSET COUNTERS:oid:0x100000000000 SAI_PORT_STAT_PFC_3_RX_PKTS 1042
redis 2 HSET COUNTERS:oid:0x150000000003 SAI_QUEUE_STAT_WRED_ECN_MARKED_PACKETS 1007
redis 2 HSET USER_WATERMARKS:oid:0x1a0000000003 SAI_INGRESS_PRIORITY_GROUP_STAT_XOFF_ROOM_WATERMARK_BYTES 30000
redis-cli -s $REDIS -n 4 HGETALL 'WRED_PROFILE|AZURE_LOSSLESS' > $SCRATCH/wred-then
redis-cli -s $REDIS -n 4 HGETALL 'PFC_WD|Ethernet0' | paste -d' ' - - | sort | paste -sd' ' > $SCRATCH/watchdog-then
redis-cli -s $REDIS -n 4 HGET 'PORT_QOS_MAP|Ethernet4' pfc_enable > $SCRATCH/pfc-then"

# ---- before a run
check_exit 0 "the scenario and a lab whose switch has a role are good" "$H" check "$SCRATCH/prio.json" --lab "$SCRATCH/live.json"
check_exit 0 "a dry run" "$H" "${RUN[@]}" --dry-run
restored "... changes nothing"
"$H" doctor --json --lab "$SCRATCH/live.json" --for "$SCRATCH/prio.json" > "$SCRATCH/out" 2> "$SCRATCH/err"
says_doctor() { check "... $1" jq -e "any(.[]; .host == \"tor\" and $2)" "$SCRATCH/out"; }
says_doctor "doctor says what a run changes" '.check == "settings" and .reason == "WRED_PROFILE|AZURE_LOSSLESS: a run changes green_min_threshold from 250000 to 100000, and back"'
says_doctor "a field that is not there" '.check == "settings" and .reason == "PFC_WD|Ethernet0: a run changes restoration_time from none to 600, and back"'
says_doctor "and checks what the run will have" '.check == "wred" and (.reason | test("100000"))'
restored "... and changes nothing"

# ---- a run
"$H" "${RUN[@]}" > "$SCRATCH/out" 2> "$SCRATCH/err"
check "a run ends with a result" jq -e .complete "$result"
check "... during it the switch had the thresholds" grep -qx 100000 "$SCRATCH/wred-then"
check "... the watchdog, whose other fields stayed" test "$(cat "$SCRATCH/watchdog-then")" = "action forward detection_time 300 pfc_stat_history enable restoration_time 600"
check "... and PFC on the priorities of the scenario" grep -qx 3 "$SCRATCH/pfc-then"
restored "... and afterwards what it had before"
check "... settings.json has both" jq -e '.s0 | .before.Ethernet4.pfc == [3,4] and .before.CONFIG_DB["WRED_PROFILE|AZURE_LOSSLESS"].green_max_threshold == "2097152"
    and .read_back.Ethernet4.pfc == [3] and .read_back.Ethernet0.ecn_threshold == {kmin: 100000, kmax: 400000, pmax: 0.2} and .read_back.Ethernet0.watchdog.detect == "300ms" and .after.Ethernet4 == .before.Ethernet4 and .restored' "$settings"
says "it is said that nothing but CONFIG_DB is known" 'any(.warnings[]; test("its ASIC_DB has none of the lab.s ports"))'
says "the role has samples" '.hosts.s0 | .name == "tor" and .sampling.samples >= 5 and (.capabilities | index("switch") and index("ecn-mark"))'
says "an expectation passes" '.expectations[0] | .verdict == "passed"'
says "another fails by the switch's marks" '.expectations[1] | .verdict == "failed"'
says "the port's marks are those of its queues" '.expectations[2] | .verdict == "passed"'
says "one of a counter that the switch lacks is skipped by name" '.expectations[3] | .verdict == "skipped" and (.reason | test("port0_prio3_queue_peak_bytes"))'
says "a watermark is a gauge" '.expectations[4] | .verdict == "passed"'
says "one is skipped for what the lab lacks" '.expectations[5] | .verdict == "skipped" and (.reason | test("gpu"))'
# ---- the ASIC: a stand-in of orchagent does what CONFIG_DB says, and another one does not
cat > "$SCRATCH/orchagent.lua" << 'END'
local follows = ARGV[1] == 'yes'
for _, n in ipairs({'0', '4'}) do
  redis.call('SELECT', 4)
  local mask, wred = 0, redis.call('HGETALL', 'WRED_PROFILE|AZURE_LOSSLESS')
  for p in string.gmatch(redis.call('HGET', 'PORT_QOS_MAP|Ethernet' .. n, 'pfc_enable') or '', '%d') do mask = mask + 2 ^ tonumber(p) end
  redis.call('SELECT', 1)
  redis.call('HSET', 'ASIC_STATE:SAI_OBJECT_TYPE_PORT:oid:0x10000000000' .. n, 'SAI_PORT_ATTR_PRIORITY_FLOW_CONTROL', follows and string.format('%d', mask) or '24')
  for q = 3, 4 do redis.call('HSET', 'ASIC_STATE:SAI_OBJECT_TYPE_QUEUE:oid:0x150000000' .. n .. '0' .. q, 'SAI_QUEUE_ATTR_WRED_PROFILE_ID', 'oid:0x1') end
  local names = {green_min_threshold = 'SAI_WRED_ATTR_GREEN_MIN_THRESHOLD', green_max_threshold = 'SAI_WRED_ATTR_GREEN_MAX_THRESHOLD', green_drop_probability = 'SAI_WRED_ATTR_GREEN_DROP_PROBABILITY'}
  for i = 1, #wred, 2 do if names[wred[i]] then redis.call('HSET', 'ASIC_STATE:SAI_OBJECT_TYPE_WRED:oid:0x1', names[wred[i]], wred[i + 1]) end end
end
return 'ok'
END
orchagent() { # yes or no: does it follow?
    redis-cli -s "$REDIS" -r -1 -i 0.1 EVAL "$(cat "$SCRATCH/orchagent.lua")" 0 "$1" > "$SCRATCH/orchagent-said" &
    agent=$!
    until grep -qs ok "$SCRATCH/orchagent-said"; do sleep 0.05; done
}
no_orchagent() { kill $agent; wait $agent; db 1 FLUSHDB > /dev/null; } 2> /dev/null
orchagent yes
"$H" "${RUN[@]}" > "$SCRATCH/out" 2> "$SCRATCH/err"
check "with a switch that applies what CONFIG_DB says a run is complete" jq -e '.complete and (any(.warnings[]; test("ASIC_DB")) | not)' "$result"
restored "... and everything is put back"
no_orchagent
orchagent no
"$H" "${RUN[@]}" > "$SCRATCH/out" 2> "$SCRATCH/err"
check "with one that does not, a run is refused" jq -e '(.complete | not) and (.reason | test("switch tor has not applied its settings: Ethernet0: CONFIG_DB has PFC with the mask 0x8, the ASIC 0x18"))' "$result"
restored "... and everything is put back"
no_orchagent

# ---- a value that does not stick
redis-cli -s "$REDIS" -r -1 -i 0.001 -n 4 HSET 'WRED_PROFILE|AZURE_LOSSLESS' green_max_threshold 2097152 > "$SCRATCH/insisted" &
insists=$!
"$H" "${RUN[@]}" > "$SCRATCH/out" 2> "$SCRATCH/err"
check "a value that another program sets back ends the run" jq -e '(.complete | not) and (.reason | test("has not applied its settings: WRED_PROFILE.AZURE_LOSSLESS: green_max_threshold is 2097152 in CONFIG_DB, not 400000"))' "$result"
kill $insists
wait $insists 2> /dev/null
restored "... and everything is put back"

# ---- runs that end early
changed() { [ "$(db 4 HGET 'WRED_PROFILE|AZURE_LOSSLESS' green_min_threshold)" = 100000 ]; }
begin() { # returns when traffic is being sent
    rm -f "$SCRATCH/wred-then"
    "$H" "${RUN[@]}" --set phases.measure=60s > "$SCRATCH/out" 2> "$SCRATCH/err" &
    run=$!
    for _ in $(seq 300); do [ -s "$SCRATCH/wred-then" ] && changed && break; sleep 0.1; done
}
begin
kill -9 $run
wait $run 2> /dev/null
check "after kill -9 the switch has the run's settings" changed
"$H" doctor --json --lab "$SCRATCH/live.json" > "$SCRATCH/out" 2> "$SCRATCH/err"
says_doctor "doctor says so" '.check == "settings" and .verdict == "warning" and (.reason | test("earlier run were not restored"))'
"$H" run "$SCRATCH/prio.json" --lab "$SCRATCH/lab.json" --set 'roles=["a","b"]' --set settings_of=null --set 'expect=[]' --set phases.measure=200ms --no-report --out "$OUT" > "$SCRATCH/out" 2> "$SCRATCH/err"
says "a run that does not use them warns" 'any(.warnings[]; test("switch tor has settings that another run has changed"))'
check_exit 0 "harness restore" "$H" restore --lab "$SCRATCH/live.json"
check_says "... says what it found" 'tor: found settings that an interrupted run changed at 20[0-9-]+T' "$SCRATCH/out"
check_says "... and put back" 'tor: WRED_PROFILE\|AZURE_LOSSLESS green_min_threshold is 250000 again \(found 100000\)' "$SCRATCH/out"
check_says "... and removed" 'tor: PFC_WD\|Ethernet4 has no detection_time again' "$SCRATCH/out"
restored "... everything"
check_exit 0 "once more" "$H" restore --lab "$SCRATCH/live.json"
check_says "... there is nothing to restore" 'tor: nothing to restore' "$SCRATCH/out"

# ---- another controller holds the switch
at_tor() { ssh -Fnone -i "$SCRATCH/key" -o UserKnownHostsFile="$SCRATCH/known_hosts" root@192.0.2.13 "$@"; }
mkfifo "$SCRATCH/hold"
at_tor 'mkdir -p /run/harness && flock /run/harness/lock sh -c "printf \"x 1 tor\\nharness (process 7, of another)\\n\" > /run/harness/lock; cat"' < "$SCRATCH/hold" &
holder=$!
exec 7> "$SCRATCH/hold"
check "another holds the switch" until_true 20 at_tor '! flock -n /run/harness/lock true'
check_exit 3 "harness restore" "$H" restore --lab "$SCRATCH/live.json"
check_says "... is refused, and told by whom" 'switch tor is in use by harness \(process 7, of another\): wait for it or stop it' "$SCRATCH/err"
check_exit 3 "a run, too" "$H" "${RUN[@]}"
check_says "... in the same words" 'switch tor is in use by harness \(process 7, of another\): wait for it or stop it' "$SCRATCH/err"
restored "... and nothing was set"
exec 7>&-
wait $holder
begin
kill -9 $run
wait $run 2> /dev/null
"$H" "${RUN[@]}" > "$SCRATCH/out" 2> "$SCRATCH/err"
says "the next run restores them first" 'any(.warnings[]; test("tor: settings that an earlier run had left were restored first"))'
restored "... and puts back what was there before both"
begin
db 4 HSET 'WRED_PROFILE|AZURE_LOSSLESS' green_min_threshold 777 > /dev/null
kill -INT $run
wait $run
check "Ctrl-C ends a run" test $? = 130
restored "... and everything is put back, also what was changed meanwhile"
says "which is a warning" 'any(.warnings[]; test("switch tor: WRED_PROFILE.AZURE_LOSSLESS green_min_threshold was changed during the run, to 777"))'
begin
ip netns pids tor | tail -n +2 | xargs -r kill 2> /dev/null
wait $run
check "a run whose switch loses the connection is not complete" jq -e '(.complete | not) and (.reason | test("tor"))' "$result"
restored "... and everything is put back over a new one"

# ---- what is refused before anything is changed
refused() { # WHAT PATTERN LAB-FILTER ARG...
    jq "$3" "$SCRATCH/live.json" > "$SCRATCH/bad.json"
    rm -f "$SCRATCH/wred-then"
    "$H" "${RUN[@]}" --lab "$SCRATCH/bad.json" "${@:4}" > "$SCRATCH/out" 2> "$SCRATCH/err"
    check "$1 is refused" test ! -e "$SCRATCH/wred-then"
    check_says "... with the reason" "$2" "$SCRATCH/err"
    restored "... and nothing is changed"
}
refused "a profile that other ports use" 'WRED_PROFILE.AZURE_LOSSLESS is used by Ethernet4 too, which the lab does not name' 'del(.links[1].ports)'
refused "a recorded switch" 'switch tor of lab pair is a recorded file' '.switches.tor = {config: "config_db.json"}'
refused "a switch without named ports" 'no link of lab pair names a port of switch tor' 'del(.links[].ports)'
refused "a probability that SONiC has not" 'ecn_threshold.pmax is 0.125: SONiC takes whole per cent' . --set settings_of.s0.ecn_threshold.pmax=0.125
refused "a watchdog that is too fast" 'watchdog.detect is 20 ms: SONiC takes whole milliseconds from 100 to 5000' . --set settings_of.s0.watchdog.detect=20ms
refused "one that is faster than it is polled" 'neither may be below PFC_WD.GLOBAL POLL_INTERVAL, 200 ms' . --set settings_of.s0.watchdog.detect=150ms
refused "a setting of hosts" 'settings_of.s0.rx_ring: role "s0" is a switch that runs SONiC' . --set settings_of.s0.rx_ring=100
refused "a port that the switch has not" 'switch tor: the switch has no port Ethernet9' '.links[0].ports.tor = "Ethernet9"'
refused "traffic to a switch" 'flow a-to-b goes to role s0, which is not a host' . --set flows.a-to-b.to=s0
refused "a counter of a port that the lab has not" 'tor is a switch of lab pair with 2 ports, counted from 0, and has no counter port2_rx_prio3_pause' . --set 'expect=[{"name":"x","check":"total(s0.port2_rx_prio3_pause) > 0"}]'
refused "a switch without permission" 'Could not connect to Redis' '.switches.tor.socket = "/none/redis.sock"'
db 6 HSET 'HARNESS_JOURNAL|settings' journal '{"before": 7' > /dev/null
"$H" "${RUN[@]}" > "$SCRATCH/out" 2> "$SCRATCH/err"
check_says "a journal that is damaged ends a run" 'restoring settings of an earlier run: switch tor: redis answered' "$SCRATCH/err"
check_exit 3 "... and harness restore" "$H" restore --lab "$SCRATCH/live.json"
check_says "... which says how to remove it" 'DEL .HARNESS_JOURNAL.settings' "$SCRATCH/err"
db 6 DEL 'HARNESS_JOURNAL|settings' > /dev/null

# ---- more runs
jq '.switches.tor.shared = true | del(.links[1].ports)' "$SCRATCH/live.json" > "$SCRATCH/bad.json"
"$H" "${RUN[@]}" --lab "$SCRATCH/bad.json" > "$SCRATCH/out" 2> "$SCRATCH/err"
check "a lab may allow that ports outside of it are changed" grep -qx 100000 "$SCRATCH/wred-then"
says "with a warning" 'any(.warnings[]; test("WRED_PROFILE.AZURE_LOSSLESS is used by Ethernet4 too"))'
restored "... and everything is put back"
db 4 DEL 'PORT_QOS_MAP|Ethernet4' > /dev/null
db 4 HSET 'QUEUE|Ethernet4|3' wred_profile '[WRED_PROFILE|AZURE_LOSSLESS]' > /dev/null
dump > "$SCRATCH/before"
"$H" "${RUN[@]}" --set 'sweep={"settings_of.s0.ecn_threshold":[{"kmin":"100KB"},{"kmin":"0","kmax":"0","pmax":0}],"settings_of.s0.watchdog.detect":["0"]}' > "$SCRATCH/out" 2> "$SCRATCH/err"
restored "after a sweep everything is put back, and an entry that was not there is gone"
check "... without ECN the queues had no profile" jq -e '.s0.read_back | .Ethernet4.ecn_threshold.kmax == 0 and .CONFIG_DB["QUEUE|Ethernet4|3"] == {wred_profile: null} and .Ethernet0.watchdog.detect == "0"' "$OUT/pfc-bidir/latest/02/settings.json"
check "... cells have their own values" jq -e '.s0.read_back.Ethernet0.ecn_threshold.kmin == 100000' "$OUT/pfc-bidir/latest/01/settings.json"


# ---- the counters of the role elsewhere
"$H" "${RUN[@]}" > "$SCRATCH/out" 2> "$SCRATCH/err"
check_exit 0 "an export" "$H" export "$OUT/pfc-bidir/latest" --format=csv --out "$SCRATCH/csv"
check "... has the switch's counters" grep -qE '^1,s0,port0_rx_prio3_pause,' "$SCRATCH/csv/counters.csv"
check "... its samples" grep -qE '^1,s0,port0_rx_prio3_pause,.*,1042' "$SCRATCH/csv/samples.csv"
check "... and its settings" grep -qE '^1,s0,read_back,.*WRED_PROFILE' "$SCRATCH/csv/settings.csv"
jq -n '{schema: 1, name: "star", driver: "sim", hosts: {a: {}, b: {}}, switches: {s0: {buffer: "9MB"}}, defaults: {link: {rate: "100Gb/s", length: "3m"}}, links: [{between: ["a", "s0"]}, {between: ["b", "s0"]}]}' > "$SCRATCH/star.json"
"$H" run "$SCRATCH/prio.json" --lab "$SCRATCH/star.json" --set phases.warmup=0ms --set phases.measure=1ms --set phases.cooldown=0ms --set sample.every=100us --no-report --out "$SCRATCH/simulated" > "$SCRATCH/out" 2> "$SCRATCH/err"
result=$SCRATCH/simulated/pfc-bidir/latest/result.json
check "the same scenario runs in a simulated lab" jq -e '.complete and ([.expectations[:4][].verdict] == ["failed", "passed", "failed", "passed"])' "$result"
says "whose switch models both settings" '[.warnings[] | select(test("does not model"))] == []'
says "... and has no headroom watermarks, which is said" '[.warnings[] | select(test("s0"))] | length == 1 and (.[0] | test("\"headroom\" was not judged"))'
check_exit 2 "a simulated watchdog that does nothing to packets" "$H" check "$SCRATCH/prio.json" --lab "$SCRATCH/star.json" --set settings_of.s0.watchdog.action=alert
check_says "... is refused" 'settings_of.s0.watchdog.action: "alert" is of switches that run SONiC' "$SCRATCH/err"
ip netns pids tor | xargs -r kill
close_hosts
finish
