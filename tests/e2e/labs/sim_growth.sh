#!/bin/bash
# Large simulated networks: what planning costs grows with the hosts, not with their square; the result lists some of the roles, its totals
# cover all, and the report says so; what is too large, or cannot be, is refused before the run.
# shellcheck disable=SC2016 # the inner shell expands it
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/../lib.sh"
cd "$SCRATCH" || exit 1
H=$BUILD/harness

# fat_tree K: the lab lab.json and the scenario K.json, a permutation with DCQCN over its k^3/4 hosts.
fat_tree() {
    local hosts=$(($1 * $1 * $1 / 4))
    cat >"lab$1.json" <<-LAB
	{ "schema": 1, "name": "fat-tree-$1", "driver": "sim", "topology": { "kind": "fat_tree", "k": $1 },
	  "defaults": { "link": { "rate": "100Gb/s", "length": "20m" },
	                "switch": { "buffer": "32MiB", "ecn": { "kmin": "40KB", "kmax": "160KB", "pmax": 0.2 } } } }
	LAB
    cat >"$1.json" <<-SCENARIO
	{ "schema": 1, "name": "permutation-$1", "lab": "lab$1.json", "roles": ["h[0-$((hosts - 1))]"],
	  "phases": { "warmup": "10us", "measure": "40us", "cooldown": "0" },
	  "settings": { "mtu": 4200, "pfc": [3], "ecn": [3], "trust": "dscp" },
	  "traffic": [{ "name": "permutation", "pattern": "permutation", "shift": $((hosts / 2 + 1)), "from": ["h[0-$((hosts - 1))]"],
	                "message": "100KB", "depth": 16, "priority": 3 }],
	  "sample": { "every": "10us" },
	  "expect": [{ "name": "the last host receives", "check": "delta(h$((hosts - 1)).rx_prio3_bytes) > 0", "needs": ["pfc"] },
	             { "name": "all receive", "check": "delta(h*.rx_prio3_bytes) > 0", "needs": ["pfc"] }] }
	SCENARIO
}
fat_tree 10 # 250 hosts
fat_tree 16 # 1024
fat_tree 24 # 3456

# ---- growth
# cpu_ms COMMAND...: its processor time, the least of three.
cpu_ms() {
    local TIMEFORMAT='%U %S' least=1000000000 i spent
    for i in 1 2 3; do
        spent=$({ time "$@" >/dev/null 2>&1; } 2>&1 | awk '{ printf "%d", ($1 + $2) * 1000 + 1 }')
        [ "$spent" -ge "$least" ] || least=$spent
    done
    echo "$least"
}
few=$(cpu_ms "$H" run 10.json -n)
many=$(cpu_ms "$H" run 24.json -n)
echo "# to plan: 250 hosts $few ms, 3456 hosts $many ms"
# 14 times the hosts, 191 times their square
check "to plan 14 times the hosts costs at most 50 times the time" test "$many" -le $((50 * few))

# ---- what is listed
"$H" run 16.json -d 20us --out few >few.out 2>err
check_exit 0 "1024 hosts run" "$H" report few/permutation-16/latest
processors=$(nproc)
if [ "$processors" -gt 1 ]; then
    check_says "... on all processors, up to one for 32 hosts" "on $((processors < 32 ? processors : 32)) threads" few/permutation-16/latest/run.log
    "$H" run 16.json -d 20us --threads 1 --out alone --quiet --no-report >/dev/null 2>&1
    check "... with the result of one thread" cmp few/permutation-16/latest/samples.jsonl alone/permutation-16/latest/samples.jsonl
    check "... which its log does not mention" test "$(grep -L threads alone/permutation-16/latest/run.log | wc -l)" = 1
    "$H" run 16.json -d 20us --repeat "$processors" --out side --quiet --no-report >/dev/null 2>&1
    check "runs that go side by side have one each" test "$(grep -L threads side/permutation-16/latest/*/run.log | wc -l)" = "$processors"
fi
R=few/permutation-16/latest/result.json
check "the result is small enough to be read again" test "$(wc -c <$R)" -le $((8 << 20))
check "some of its roles are listed" jq -e '.totals | .roles == 1024 and .listed > 100 and .listed < 400' $R
check "... those are in samples.jsonl" test "$(jq -r 'select(type == "object" and .type == "header") | .host' few/permutation-16/latest/samples.jsonl | wc -l)" = "$(jq .totals.listed $R)"
check "what an expectation reads of another role is there" jq -e '.hosts.h1023 | .listed == false and (.counters | keys) == ["rx_prio3_bytes"]' $R
check "both expectations pass" jq -e '[.expectations[].verdict] == ["passed", "passed"]' $R
check_says "the summary says how many" '[0-9]+ of 1024 roles are listed' few.out
check_says "... and so does the page" '[0-9]+ of 1&#8239;024 roles are listed' few/permutation-16/latest/report/index.html
check_says "... with the totals" 'Counters of all roles together' few/permutation-16/latest/report/index.html

"$H" run 10.json --out some --no-report >/dev/null 2>&1
"$H" run 10.json --out all --no-report --set 'sample.roles=["h[0-249]"]' >/dev/null 2>&1
"$H" run 10.json --out one --no-report --set 'sample.roles=["h7","h[100-101]"]' >/dev/null 2>&1
for run in some all one; do ln -s "$run/permutation-10/latest/result.json" $run.json; done
check "roles that are named are all listed" jq -e '(has("totals") | not) and ([.hosts[] | .listed] | unique) == [null]' all.json
check "... or only they" jq -e '.totals.listed == 3 and .hosts.h100.counters.rx_prio3_packets.delta > 0 and .hosts.h0.listed == false' one.json
# sums over all hosts of a run that lists all, by counter
jq -S '[.hosts[].counters | to_entries[] | select(.value.kind == "counter")] | group_by(.key)
    | map({ key: .[0].key, value: [(map(.value.delta) | add), (map(.value.total) | add)] }) | from_entries' all.json >sums
for run in some one; do
    jq -S '.totals.counters | map_values([.delta, .total])' $run.json >totals
    check "the totals are exact ($run)" cmp sums totals
done
# shellcheck disable=SC2016 # variables of jq
check "... and name who has the most" jq -e --slurpfile all all.json '.totals.counters.rx_prio3_bytes.most as $most |
    ($most.delta == ([$all[0].hosts[].counters.rx_prio3_bytes.delta] | max)) and $all[0].hosts[$most.role].counters.rx_prio3_bytes.delta == $most.delta' one.json
check "expectations are decided by the same numbers" test "$(jq -c '[.expectations[] | .left]' one.json)" = "$(jq -c '[.expectations[] | .left]' all.json)"

# ---- what flows have
check "a flow's bytes are counted to the packet" jq -e '.flows.permutation | .delivered_bytes > .bytes and .delivered_bytes % 100000 != 0' one.json
# shellcheck disable=SC2016
check "marks are counted by flow" jq -e '([.hosts[].counters.np_ecn_marked_roce_packets.delta] | add) as $marks |
    $marks > 0 and ([.flows | to_entries[] | select(.key | test("/")) | .value.marked_packets] | add) == $marks and .flows.permutation.marked_packets == $marks' all.json
check "decreases and increases are counted by flow" jq -e '.flows.permutation.decreases > 0 and .flows.permutation.increases > 0' all.json

# ---- many short flows: one message each, one after the other
jq '[range(2000)] as $all | del(.traffic, .expect) | .phases = {"warmup":"0","measure":"2ms","cooldown":"0"} |
    .flows = [$all[] | {"name":"f\(.)","from":"h\(. % 250)","to":"h\((. + 125) % 250)","size":"20KB","message":"20KB","depth":1,"start":"\(. * 900)ns"}]' 10.json >short.json
"$H" run short.json --out short --quiet --no-report >/dev/null 2>err
check_exit 0 "2000 flows of one message run" test -e short/permutation-10/latest/result.json
R=short/permutation-10/latest
check "all end" jq -e '[.flows[] | select(.completion_ns.count == 1)] | length == 2000' $R/result.json
check "their latency is their completion time" jq -e 'all(.flows[]; .latency_ns.count == 1 and .latency_ns.max == .completion_ns.max)' $R/result.json
jq -sc 'map(select(.type == "interval")) | group_by(.flow)[] | sort_by(.time_ns) | [length, (map(.bytes) | add), last.bytes, ([.[] | select(.latency_ns)] | length), (.[0].bytes + .[1].bytes)]' \
    $R/flows.jsonl >lines
check "each has its bytes, and its latency once, in its intervals" jq -se 'length == 2000 and all(.[]; .[1] == 20000 and .[3] == 1)' lines
check "... from its start" jq -se 'all(.[]; .[4] > 0)' lines
check "... to the first one without any, and no more" jq -se '([.[] | select(.[2] == 0)] | length) > 1900 and all(.[]; .[0] <= 4)' lines

# ---- one message in flight: the next one is posted when the program has seen the completion, and after the gap
for model in ideal connectx-4-lx connectx-5 connectx-7; do
    jq -n --arg model $model '{schema: 1, name: "pair", driver: "sim", hosts: {"h[0-1]": {nic: {model: $model}}}, links: [{between: ["h0", "h1"], rate: "100Gb/s", length: "3m"}]}' >pair.json
    for gap in 0 10; do
        jq -n --argjson gap $gap '{schema: 1, name: "turns", roles: ["h0", "h1"], phases: {warmup: "100us", measure: "2ms", cooldown: "0"}, settings: {mtu: 4200}, sample: {every: "1ms"},
            flows: [{name: "f", from: "h0", to: "h1", message: "4KiB", depth: 1} + if $gap > 0 then {gap: "\($gap)us"} else {} end]}' >turns.json
        "$H" run turns.json --lab pair.json --out "turns-$model-$gap" --no-report -q >out 2>err
        # shellcheck disable=SC2016 # jq's
        check "$model, a gap of $gap us: a message takes the time from one to the next, less the gap" jq -e --argjson gap $gap \
            '.flows.f | (.duration_ns / .messages - $gap * 1000) as $turn | (.latency_ns.mean - $turn | fabs) < 0.01 * .duration_ns / .messages' "turns-$model-$gap/turns/latest/result.json"
    done
done

# ---- links on which a frame takes less than the clock's nanosecond: HPCC's from 400 Gb/s, Ethernet's from 672
for rate in 400 800; do
    cat >fast.json <<-LAB
	{ "schema": 1, "name": "fast", "driver": "sim", "topology": { "kind": "star", "hosts": 33 }, "truncate_to_ns": true,
	  "defaults": { "link": { "rate": "${rate}Gb/s", "delay": "1us" }, "switch": { "buffer": "64MiB" } },
	  "framing": { "gap": 0, "data": 48, "pad": 1, "reth": 0, "aeth": 0, "ack": 46, "ack_minimum": 60, "cnp": 60, "pfc": 43, "minimum": 1 } }
	LAB
    [ "$rate" = 400 ] || sed -i '/"framing"/d; s/"64MiB" } },/"64MiB" } } }/' fast.json
    jq -n '{schema: 1, name: "fast", roles: ["h[0-32]"], phases: {warmup: "0", measure: "100us", cooldown: "0"}, sample: {every: "20us"},
        settings: {mtu: 4200, pfc: [3], trust: "dscp"}, flows: [{name: "large", from: "h0", to: "h1", priority: 3},
        {name: "small", from: "h2", to: "h3", priority: 3, message: "1B"}]}' >frames.json
    check "a lab of 66 ports at $rate Gb/s is good" "$H" check frames.json --lab fast.json
    "$H" run frames.json --lab fast.json --out "fast$rate" --no-report -q >out 2>err
    # shellcheck disable=SC2016 # jq's
    check "... it runs, and no flow is faster than its link" jq -e --argjson most "$rate" '.flows |
        .large.goodput_bps > $most * 9e8 and .large.goodput_bps < $most * 1e9 and .small.messages > 1000 and .small.messages < 100000' "fast$rate/fast/latest/result.json"
done

# ---- readers have room for the longest names of roles and nodes
role=$(printf 'r%.0s' {1..100}) node=$(printf 's%.0s' {1..64})
jq -n --arg role "$role" --arg node "$node" '{schema: 1, name: "long", driver: "sim", hosts: {"h[0-2]": {}}, switches: {($node): {}}, roles: {"h[0-2]": "h[0-2]", ($role): $node},
    links: [{between: ["h[0-2]", $node]}], defaults: {link: {rate: "25Gb/s", delay: "1us"}}}' >long-lab.json
jq -n --arg role "$role" '{schema: 1, name: "long", roles: ["h[0-2]", $role], phases: {warmup: "0", measure: "100us", cooldown: "0"}, sample: {every: "20us"},
    settings: {mtu: 4200, pfc: [0]}, flows: [{name: "f", from: "h0", to: "h1"}], storms: [{role: "h1", priority: 0, start: "20us", stop: "60us"}]}' >long.json
check_exit 4 "roles with names of 100 bytes run, with a page" "$H" run long.json --lab long-lab.json --out long -q
R=long/long/latest
check "... which has them, and the pauses of ports of nodes with names of 64" sh -c 'grep -q "$2" "$1" && grep -q "$3:1" "$1"' sh "$R/report/index.html" "$role" "$node"
"$H" export $R --format csv --out exported >out 2>&1
check "... an export, too" sh -c 'grep -q "$1" exported/series.csv && grep -q ",$2:1," exported/pauses.csv' sh "$role" "$node"
check "... and a trace" sh -c '"$1" trace "$2" --out traced && grep -q "$3" traced' sh "$H" $R "$role"

# ---- a switch of many ports has a column of each counter for each of them
jq -n '{schema: 1, name: "wide", roles: ["h[0-1]", "s0"], phases: {warmup: "0", measure: "60us", cooldown: "0"}, sample: {every: "20us"},
    settings: {mtu: 4200, pfc: [3], trust: "dscp"}, flows: [{name: "f", from: "h0", to: "h1", priority: 3}], expect: [{name: "the last port is idle", check: "delta(s0.port204_tx_bytes) == 0"}]}' >wide.json
jq '.name = "wide" | .topology.hosts = 205 | del(.framing, .truncate_to_ns) | .defaults.link.rate = "100Gb/s" | .defaults.switch.buffer = "512MiB"' fast.json >wide-lab.json
check_exit 0 "a switch of 205 ports is sampled" "$H" run wide.json --lab wide-lab.json --out wide
check "... in a result that can be read" "$H" report wide/wide/latest
check "... with its more than 4096 columns" test "$(jq -r 'select(type == "object" and .type == "header" and .host == "s0") | .columns | length' wide/wide/latest/samples.jsonl)" = 4110

# ---- refused before the run
# refused WHAT PATTERN FILTER [FILTER of the lab]
refused() {
    jq "$3 | .lab=\"case-lab.json\"" 10.json >case.json && jq "${4:-.}" lab10.json >case-lab.json || exit 1
    check_exit 2 "$1" "$H" run case.json --out refused --no-report
    check_says "... by name" "error: case(-lab)?\.json: (.*: )?$2" err
    check "... before anything is made" test ! -e refused
}
refused "more memory than there is" 'the simulation needs [0-9.]+ GB of memory, [0-9.]+ (GB|kB|MB) are free' \
    '.flows=[{"name":"f-{}","from":"h[1-249]","to":"h0","queue_pairs":1024,"depth":16384}] | del(.traffic)' '.topology.k=10'
refused "more flows than can be" '10000 senders and 10000 receivers: expected at most 10000000 flows' \
    '.roles=["h[0-9999]"] | .traffic=[{"name":"a","pattern":"all-to-all","from":["h[0-9999]"],"depth":1}] | .expect=[]' '.topology={"kind":"star","hosts":10000}'
refused "a host that cannot be reached" 'flow f: no path of lab [a-z0-9-]* leads from h0 to x' \
    '.roles=["h0","x"] | .traffic=[] | .flows=[{"name":"f","from":"h0","to":"x"}] | .expect=[]' '.hosts={"x":{}} | .switches={"y":{}} | .links=[{"between":["x","y"]}]'
refused "planes that nothing joins" 'flow f: no path of lab [a-z0-9-]* leads from h0.plane0 to h1.plane1: h0.plane0 reaches h1.plane0 of this host$' \
    '.roles=["h[0-1]"] | .traffic=[] | .flows=[{"name":"f","from":"h0.plane0","to":"h1.plane1"}] | .expect=[]' '.topology={"kind":"dual_plane"} | del(.hosts)'
refused "rails that no spine joins" 'flow f: no path of lab [a-z0-9-]* leads from h0.rail0 to h8.rail0, nor to another NIC of this host$' \
    '.roles=["h[0-15]"] | .traffic=[] | .flows=[{"name":"f","from":"h0.rail0","to":"h8.rail0"}] | .expect=[]' '.topology={"kind":"rail_leaf_spine","spines":0} | del(.hosts)'
refused "a limit whose share for a queue pair is nothing" 'lab fat-tree-10: simulator: flow f: 1 b/s on a queue pair: expected at least [0-9]+ b/s' \
    '.flows=[{"name":"f","from":"h1","to":"h0","queue_pairs":1024,"rate":"1kb/s"}] | del(.traffic)'
refused "a watchdog that would do nothing else" 'switches.core0.watchdog.detect: 999 ps is out of range' '.' '.defaults.switch.watchdog={"detect":"999ps"}'
refused "frames without a byte" 'framing.minimum: 0 is out of range' '.' '.framing={"minimum":0}'
refused "links without a rate" 'links\[0\].rate: "0b/s" is out of range' '.' '.defaults.link.rate="0b/s"'
refused "a role that is to be listed and is none" 'sample.roles\[1\]: there is no role "h250"' '.sample.roles=["h0","h250"]'
refused "more roles to be listed than a result has room for" 'lab fat-tree-10: sample.roles: the 1500 roles have [0-9]+ columns: a result has room for 98304' \
    '.roles=["h[0-1499]"] | .sample.roles=["h[0-1499]"] | .traffic[0].from=["h[0-1499]"] | .expect=[]' '.topology={"kind":"star","hosts":1500} | .defaults.switch.buffer="256MiB"'
# 250 ports with 8 priorities: 72 columns each; without those of queues and pauses it runs
wide='.name = "wide" | .topology = {"kind": "star", "hosts": 250} | .defaults.switch.buffer = "2000MiB"'
eight='.roles = ["h[0-249]", "s0"] | .settings.pfc = [range(8)] | .expect = [] | .phases.measure = "1us" | .phases.warmup = "0"'
refused "a switch with more columns than a line has room for" 'lab wide: role s0 has 17010 columns, a line of samples has room for 16384: leave groups out of sample.groups \(pfc 10004, ecn 251, throughput 500, drops 252, queue 6003\), or name' \
    "$eight" "$wide"
jq "$eight | .lab = \"case-lab.json\" | .sample.groups = [\"pfc\"]" 10.json >case.json
check_exit 4 "... it runs with fewer groups" "$H" run case.json --out fewer -q
check "... and can be read" test -s fewer/permutation-10/latest/report/index.html
jq "$eight | .lab = \"case-lab.json\" | .sample.roles = [\"h0\"]" 10.json >case.json
check_exit 4 "... or when it is not listed" "$H" run case.json --out unlisted --no-report -q
# runs side by side need their memory together
(ulimit -v 400000 && "$H" run 16.json -n --repeat 64 --jobs 64) >out 2>err
check "more runs at a time than there is memory for are refused" test $? = 2
check_says "... with what each needs" 'jobs 64: a run needs 0\.[0-9] GB of memory, 0\.[0-9] GB are free: expected at most [1-9]$' err
# shellcheck disable=SC2016 # what is quoted is for sh
check "as many as fit are not" sh -c 'ulimit -v 400000 && "$1" run 16.json -n --repeat 64 --jobs 1' sh "$H"
# shellcheck disable=SC2016
check "... and are taken without the option" sh -c 'ulimit -v 400000 && "$1" run 16.json -n --repeat 64' sh "$H"
finish
