#!/bin/bash
# Traffic patterns between real hosts, from the words of simulated labs: who sends to whom, the flows' names and the pattern's sum. The
# hosts have no RDMA: a stand-in for roce-traffic prints the lines of the flows that its job names (docs/lines.md), and keeps the job.
# tests/e2e/guests/run.sh runs patterns over verbs.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/e2e/harness/ssh_hosts.bash
. "$ROOT/tests/e2e/harness/ssh_hosts.bash"
make_host c 192.0.2.13
ip -n c link add data0 type veth peer name data1
ip -n c addr add 10.9.0.3/24 dev data0
for device in data0 data1; do ip -n c link set $device up; done
at_exit eval 'ip netns pids c | xargs -r kill'
jq '.hosts.c = (.hosts.a | .ssh = "root@192.0.2.13" | .nic.address = "10.9.0.3/24")' "$LAB" > "$SCRATCH/three.json"
LAB=$SCRATCH/three.json
jq -n '{schema: 1, name: "star", driver: "sim", hosts: {a: {}, b: {}, c: {}}, switches: {s: {}},
        links: [("a", "b", "c") | {between: [., "s"], rate: "1Gb/s", length: "1m"}]}' > "$SCRATCH/star.json"

# ---- the stand-in: flow number i sends 1000 * (i + 1) messages
check_exit 0 "programs are installed on three hosts" "$H" install --lab "$LAB"
rm "$SCRATCH/bin/roce-traffic"
cat > "$SCRATCH/bin/roce-traffic" << 'STANDIN'
#!/bin/bash
case $1 in
--version) echo "roce-traffic VERSION" ;;
serve)
    echo '{"type":"event","source":"roce-traffic","what":"listening","text":"stand-in","time_ns":1}'
    sleep 1000 &
    trap 'kill $!; exit 0' TERM
    wait
    ;;
drive)
    read -r _ # the run's secret
    read -r job
    echo "$job" >> JOBS
    echo '{"type":"event","time_ns":1,"source":"roce-traffic","what":"ready","text":"stand-in"}'
    read -r start
    sleep "$(jq -n --argjson start "$start" --argjson now "$(date +%s%N)" '($start - $now) / 1e9 + 1.2 | if . > 0 then . else 0 end')"
    jq -c --argjson now "$(date +%s%N)" '.flows[] | (.name | split("/")[1] // "0" | tonumber + 1) as $n | (.message | tonumber? // 65536) as $size |
        {type: "summary", flow: .name, message_bytes: $size, time_ns: $now, duration_ns: 1000000000, bytes: (65536 * 1000 * $n),
         messages: (1000 * $n), goodput_bps: (65536 * 8000 * $n), messages_per_s: (1000 * $n), errors: 0, complete: true,
         memory: {kind: "host", route: "host"}}' <<< "$job"
    ;;
esac
STANDIN
sed -i -e "s|JOBS|$SCRATCH/jobs|" -e "s|VERSION|$("$H" --version | cut -d' ' -f2)|" "$SCRATCH/bin/roce-traffic"
chmod +x "$SCRATCH/bin/roce-traffic"

scenario() { # TRAFFIC...: a scenario with this traffic
    jq -n --argjson traffic "$(printf '%s\n' "$@" | jq -s .)" '{schema: 1, name: "patterns", roles: ["a", "b", "c"], traffic: $traffic, settings: {trust: "dscp"},
        phases: {warmup: "100ms", measure: "1s", cooldown: "0"}, sample: {every: "100ms", groups: ["throughput"]},
        expect: [{name: "something is sent", check: "sum(flows.t/*.goodput_bps) > 0"}]}' > "$SCRATCH/patterns.json"
}
R=$OUT/patterns/latest/result.json
go() { # WHAT LAB ARG...: run it
    local what=$1 lab=$2
    shift 2
    rm -f "$SCRATCH/jobs"
    check_exit 0 "$what" "$H" run "$SCRATCH/patterns.json" --lab "$lab" --out "$OUT" --no-report "$@"
}
# From the jobs: "t/0 1>2" is a flow from host 10.9.0.1 to 10.9.0.2.
sent() { jq -r '. as $job | .flows[] | "\(.name) \($job.common.local.address | split(".")[3])>\($job.host | split(".")[3])"' "$SCRATCH/jobs" | sort | xargs; }
sends() { if [ "$(sent)" = "$2" ]; then ok "$1"; else nok "$1" "$(sent), expected $2"; fi; }
names() { jq -c '.flows | keys' "$1"; }

# ---- an incast, on hosts and simulated
scenario '{"name": "t", "pattern": "incast", "from": ["a", "c"], "to": ["b"], "message": "64KiB", "priority": 3}'
go "an incast of two senders on an ssh lab" "$LAB"
sends "... each sends to the receiver" "t/0 1>2 t/1 3>2"
check "... with the pattern's message, depth and priority" test "$(jq -s -c 'map(.flows[] | [.message, .depth, .priority]) | unique' "$SCRATCH/jobs")" = '[["64KiB",128,3]]'
check "... the sum is under the pattern's name" test "$(jq -c '.flows.t | [.bytes, .messages, .duration_ns, .errors, .complete, .flows.started, .flows.finished]' "$R")" = \
    "[$((65536 * 3000)),3000,1000000000,0,true,2,0]"
check "... its goodput is that of the parts together" jq -e '.flows.t.goodput_bps == .flows["t/0"].goodput_bps + .flows["t/1"].goodput_bps' "$R"
check "... parts know their ends" test "$(jq -c '[.flows["t/0", "t/1"] | [.from, .to]]' "$R")" = '[["a","b"],["c","b"]]'
check "... each flow and the sum have a line" test "$(jq -r 'select(.type == "summary") | .flow' "$OUT/patterns/latest/flows.jsonl" | sort | xargs)" = "t t/0 t/1"
check_exit 0 "... a report shows them" "$H" report "$OUT/patterns/latest"
cp "$R" "$SCRATCH/hosts.json"
go "the same incast, simulated" "$SCRATCH/star.json"
check "... has the same flows" test "$(names "$R")" = "$(names "$SCRATCH/hosts.json")"
check "... and a sum with the same members" test "$(jq -c '.flows.t | del(.retransmitted_packets, .delivered_bytes, .delivered_bps, .marked_packets) | keys' "$R")" = "$(jq -c '.flows.t | keys' "$SCRATCH/hosts.json")"

# ---- the other patterns
scenario '{"name": "t", "pattern": "all-to-all", "from": ["a", "b", "c"]}'
go "all-to-all" "$LAB"
sends "... every host to every other" "t/0 2>1 t/1 3>1 t/2 1>2 t/3 3>2 t/4 1>3 t/5 2>3"
scenario '{"name": "t", "pattern": "ring-all-reduce", "from": ["a", "b", "c"]}'
go "a ring" "$LAB"
sends "... every host to the next one" "t/0 1>2 t/1 2>3 t/2 3>1"
go "the ring without a size, simulated" "$SCRATCH/star.json"
check "... streams on every link" jq -e '[.flows["t/0", "t/1", "t/2"].goodput_bps] | min > 0.8e9' "$R"
scenario '{"name": "t", "pattern": "permutation", "from": ["a", "b", "c"], "shift": 2}' \
    '{"name": "later", "pattern": "incast", "from": ["a"], "to": ["c"], "start": "200ms", "stop": "700ms"}' \
    '{"name": "some", "pattern": "incast", "from": ["a"], "to": ["b"], "size": "1MiB", "count": 3}'
go "several patterns" "$LAB"
sends "... a permutation by its shift" "later/0 1>3 some/0 1>2 t/0 1>3 t/1 2>1 t/2 3>2"
check "... start and stop are the flows'" test "$(jq -s -c '[.[].flows[] | select(.name == "later/0") | .start, .stop]' "$SCRATCH/jobs")" = '["200ms","700ms"]'
check "... a size is one message, sent count times" test "$(jq -s -c '[.[].flows[] | select(.name == "some/0") | .message, .depth, .size]' "$SCRATCH/jobs")" = '["1MiB",1,"3MiB"]'
scenario '{"name": "t", "pattern": "permutation", "from": ["a", "b", "c"]}'
go "a random permutation" "$LAB" --seed 3
first=$(sent)
go "... with the same seed" "$LAB" --seed 3
sends "... is the same" "$first"

close_hosts
finish
