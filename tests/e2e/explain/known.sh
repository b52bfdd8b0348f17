#!/usr/bin/env bash
# `harness explain` on the scenarios that come with the program and whose cause is known, on an incast that looks like a storm, on runs
# with a cause and shares that follow from what the scenario says, and on results that are not whole.
# shellcheck disable=SC2016 # what is quoted is for jq and eval
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/../lib.sh"

H=$BUILD/harness OUT=$SCRATCH/results

run() { "$H" run "$@" --out "$OUT" --no-report --quiet >"$SCRATCH/said" 2>&1; }
first() { "$H" explain --json "$@" | jq -r '.causes[0] // {kind: "none", culprit: "-"} | "\(.kind) \(.culprit)"'; }

# scenario, its run ("" for one that is no sweep), cause with all samples, with what hosts count
known='incast-pfc||incast h16|incast h16
incast-dcqcn||incast h16|incast h16
victim-flow|/01|incast h8|incast h8
pfc-storm-victim|/01|storm h16|storm h16
pfc-storm-watchdog|/01|storm h31|storm h31
pfc-deadlock|/01|deadlock s0:1 -> s1:2 -> s2:2 -> s3:2 -> s4:2|network h0
pfc-deadlock-failover||deadlock spine0:1 -> leaf1:5 -> spine1:2 -> leaf2:4|network h13
lossy-link|/01|none -|none -
lossy-link|/03|link-damages h4 - leaf1|link-damages h4 - leaf1
link-flap|/02|link-down h4 - leaf1|link-down h4 - leaf1
hpcc-two-to-one||incast h2|incast h2
ecmp-failover|/01|none -|none -
ecmp-failover|/03|link-down leaf0 - spine0|loss h5
sonic-roce-incast|/01|incast h3|incast h3
sonic-roce-baseline|/01|none -|none -
dcqcn-fairness||incast h4|incast h4
pfc-stall||slow-receiver b|slow-receiver b'
ran=
while IFS='|' read -r scenario cell cause hosts; do
    [ "$ran" = "$scenario" ] || run "$scenario"
    ran=$scenario
    is=$(first "$OUT/$scenario/latest$cell")
    check "$scenario$cell: $cause" test "$is" = "$cause"
    is=$(first "$OUT/$scenario/latest$cell" --hosts-only)
    check "  with what hosts count: $hosts" test "$is" = "$hosts"
done <<<"$known"
check "pfc-storm-watchdog: beside the storm no line is accused that is far from full" test "$("$H" explain --json "$OUT/pfc-storm-watchdog/latest/01" | jq -r '[.causes[].kind] | unique | join(" ")')" = storm
run link-flap --set sweep=null --set 'flows.*.rate=3Gb/s'
check "link-flap at 3 of 100 Gb/s: 1.2 of 30 ms are no cause, and what was sent again is not asked for" test "$("$H" explain --json "$OUT/link-flap/latest" | jq -r .text | sed 's/ [0-9]*\(,\|$\)/\1/g')" = \
    "nothing took 5 % or more from a flow: each has at least 95 % of what its sender's line carries, or the scenario asks for; but there were faults: h4 link_down_events_phy, leaf1 link_down_events, leaf1 link_discards, leaf1 route_discards"
run link-flap --set sweep=null --set 'flows.*.rate=3Gb/s' --set faults.0.duty=0.1
check "  of which it is down for 2.4: the link took a tenth of what the flow asks for, though little of its line" test "$(first "$OUT/link-flap/latest")" = "link-down h4 - leaf1"
run link-flap --set sweep=null --set 'flows.*.rate=3Gb/s' --set faults.0.duty=0.05 --set faults.0.count=1
least=$("$H" explain --json "$OUT/link-flap/latest" | jq '[.flows[].delivered_bps / 3e9] | min * 100 | floor')
# shellcheck disable=SC2016 # jq's variables
check "  and a flow with $least % of what it asks for is said to have that" jq -e --arg least "at least $least %" '.causes == [] and (.text | contains($least))' <("$H" explain --json "$OUT/link-flap/latest")
run headroom-sweep --set 'sweep={"lab.defaults.switch.headroom": ["0"]}' --set expect=null
check "a headroom of 0: that of s0 is too short" test "$(first "$OUT/headroom-sweep/latest/01")" = "headroom s0"
run pfc-bidir --set phases.warmup=10ms -d 100ms --set phases.cooldown=10ms
check "pfc-bidir: nothing is wrong with host memory" test "$(first "$OUT/pfc-bidir/latest/01")" = "none -"
check "  and b is a slow receiver with GPU memory, though its memory stood still for 2 ms at a time" test "$(first "$OUT/pfc-bidir/latest/02")" = "slow-receiver b"

run rails-ring --set expect=null --set phases.measure=300us --set 'settings.ecn=[]' \
    --set 'traffic=[{"name": "in", "pattern": "incast", "from": ["h[1-3].rail2", "h3.rail0"], "to": ["h0.rail2"], "priority": 3}]'
check "an incast on one rail: the NIC is named" test "$(first "$OUT/rails-ring/latest") $(first "$OUT/rails-ring/latest" --hosts-only)" = "incast h0.rail2 incast h0.rail2"
check "  and its senders are counted as NICs of their hosts" jq -e '.causes[0].evidence[0] | startswith("4 NICs of 3 hosts have flows through leaf2:0 (to h0.rail2), ")' <("$H" explain --json "$OUT/rails-ring/latest")

# ---- what else is said
victim=$OUT/victim-flow/latest/01
"$H" explain --json "$victim" >"$SCRATCH/victim.json"
check "the victim of an incast is one, and the flows that feed it are not" jq -e '.causes[0] | [.victims[].flow] == ["victim"] and ([.flows[].flow] | sort) == [range(7) | "incast/\(.)"]' "$SCRATCH/victim.json"
stood=$(jq '([.topology.links[] | select(.a == "h7") | .a_held["3"].held_ns] | add) / (.phases[1].end_ns - .phases[1].start_ns)' "$victim/result.json")
check "what pauses took from the victim is the share of time in which its host stood: $stood" jq -e "(.flows[] | select(.flow == \"victim\") | .shares.paused) - $stood | fabs < 0.03" "$SCRATCH/victim.json"
settles=$OUT/victim-flow/latest/02
change=$(jq -rs --slurpfile r "$settles/result.json" '$r[0].phases[1] as {$start_ns, $end_ns} | (($start_ns + $end_ns) / 2) as $half
    | map(select(.type == "interval" and .flow != "incast" and .time_ns - .duration_ns >= $start_ns and .time_ns <= $end_ns))
    | map(if .time_ns - .duration_ns / 2 <= $half then [.bytes, 0] else [0, .bytes] end) | transpose | map(add) | (.[1] / .[0] - 1) * 100 | round' "$settles/flows.jsonl")
# shellcheck disable=SC2016 # jq's variables
check "a run in which DCQCN was settling says so: $change % more in its second half" jq -e --arg change "$change % more goodput in the second half" '[.warnings[] | select(contains($change))] | length == 1' "$settles/result.json"
check "  not one in which nothing is marked" jq -e '[.warnings[] | select(test("settled"))] == []' "$OUT/victim-flow/latest/01/result.json"
check_exit 0 "for people" "$H" explain "$OUT/victim-flow/latest"
check_says "  each run of a sweep" 'victim-flow/.*/01 \(simulated\):$' "$SCRATCH/out"
check_says "  the cause, and how sure that is" '^  more is sent to h8 than its line carries \(an incast\) \(sure\)$' "$SCRATCH/out"
check_says "  what would show whether DCQCN helps" "run with --set 'settings.ecn=\[3\]'" "$SCRATCH/out"
check "  not where it is on" test "$(sed -n '/02 (simulated)/,$p' "$SCRATCH/out" | grep -c settings.ecn)" = 0
check "no line has a share of more than the whole" test -z "$(grep -oE '[0-9]+ %' "$SCRATCH/out" | awk '$1 > 100')"
"$H" run victim-flow --set 'sweep={}' --set expect=null -d 1ms --out "$OUT" >"$SCRATCH/out" 2>"$SCRATCH/err"
check_says "a run ends with its first cause and the victim" '^more is sent to h8 than its line carries \(an incast\); victim: victim \(lost 8[0-9] % of its line\)$' "$SCRATCH/out"
page=$OUT/victim-flow/latest/report/index.html
check_says "  and its page has it" 'What happened, and why</h2>' "$page"
sed -n '/<section class=first>/,/<.section>/p' "$page" >"$SCRATCH/first"
check_says "  on the first screen" 'On 16 hosts and 2 switches, measured for 1ms: <b>victim</b> from h7 to h15; <b>incast</b> from 7 hosts to h8[.] .*Why: <b>more is sent to h8 than its line carries \(an incast\); victim: victim \(lost 8[0-9] % of its line\)</b>' "$SCRATCH/first"
check "  with the map of pauses" grep -q 'href="01-map.svg"' "$SCRATCH/first"

# ---- an incast that looks like a storm: two long flows, and four bursts to the receiver of one of them
jq -n '{schema: 1, name: "chain", driver: "sim", hosts: {"h[1-8]": {}}, switches: {"s[0-3]": {}},
    defaults: {switch: {xoff: "60KB", ecn: {kmin: "2MB", kmax: "4MB", pmax: 0.1}}, link: {rate: "100Gb/s", length: "600m"}},
    links: ([{between: ["h[1-2]", "s0"], rate: "50Gb/s"}] + [["s0", "s1"], ["s1", "s2"], ["s1", "s3"], ["h3", "s3"], ["h4", "s2"]] +
            [range(5; 9) | ["h\(.)", "s3"]] | map(if type == "array" then {between: .} else . end))}' >"$SCRATCH/chain.json"
jq -n '{schema: 1, name: "burst", title: "t", lab: "chain.json", roles: ["h[1-8]", "s[0-3]"], phases: {warmup: "0", measure: "2ms", cooldown: "100us"},
    settings: {mtu: 4200, pfc: [3], trust: "dscp"}, sample: {every: "10us", groups: ["pfc", "queue", "throughput", "drops", "ecn"]},
    flows: (([["1", "3"], ["2", "4"]] | map({name: "long-\(.[0])", from: "h\(.[0])", to: "h\(.[1])", priority: 3})) +
           [range(5; 9) | {name: "burst-\(.)", from: "h\(.)", to: "h3", priority: 3, size: "2MB", message: "2MB", start: "500us"}])}' >"$SCRATCH/burst.json"
run "$SCRATCH/burst.json"
check "bursts whose pauses reach a host that sends elsewhere: the incast is named, not a storm" test "$(first "$OUT/burst/latest")" = "incast h3"
check "  with the flow that goes elsewhere as its victim" test "$("$H" explain --json "$OUT/burst/latest" | jq -r '.causes[0].victims | map(.flow) | join(" ")')" = long-2
cp -rL "$OUT/burst/latest" "$SCRATCH/sampled" && rm "$SCRATCH/sampled/pauses.jsonl"
forget_files "$SCRATCH/sampled"
jq 'del(.topology) | .hosts |= map_values(.name = "guest-\(.name)")' "$SCRATCH/sampled/result.json" >"$SCRATCH/real" && mv "$SCRATCH/real" "$SCRATCH/sampled/result.json"
check "  as real hosts and switches tell it, by the lab's links and the pauses that ports counted" test "$(first "$SCRATCH/sampled")" = "incast h3"
check "  with the same victim" test "$("$H" explain --json "$SCRATCH/sampled" | jq -r '.causes[0].victims | map(.flow) | join(" ")')" = long-2

# ---- what flows lack and what they do not, with four hosts at one switch
jq -n '{schema: 1, name: "four", driver: "sim", topology: {kind: "star", hosts: 4},
    defaults: {host: {nic: {model: "ideal"}}, switch: {buffer: "16MiB", xoff_alpha: 0.125}, link: {rate: "100Gb/s", delay: "500ns"}}}' >"$SCRATCH/four.json"
own() { # NAME JQ [OPTION...]: explains a run of the scenario that JQ changes
    local name=$1 change=$2
    shift 2
    jq -n "def flow(\$f; \$t): {name: (\$f + \$t), from: \$f, to: \$t, priority: 3, message: \"64KiB\", depth: 64};
        {schema: 1, name: \"$name\", title: \"t\", lab: \"four.json\", roles: [\"h[0-3]\", \"s0\"], phases: {warmup: \"1ms\", measure: \"4ms\", cooldown: \"100us\"},
         settings: {pfc: [3, 4]}, sample: {every: \"50us\", groups: [\"pfc\", \"throughput\", \"drops\"]}} | $change" >"$SCRATCH/$name.json"
    run "$SCRATCH/$name.json" "$@"
    "$H" explain --json "$OUT/$name/latest" >"$SCRATCH/own.json"
}
# jq takes an empty file for well: what one value of it says counts
said() { check "$1" jq -es "def said: .causes | map(\"\(.kind) \(.culprit)\"); def of: .flows | map({key: .flow, value: .shares}) | from_entries; length == 1 and (.[0] | $2)" "$SCRATCH/own.json"; }
own full '.flows = [flow("h0"; "h1")]'
said "a full line with Ethernet's own MTU, 92.5 Gb/s of payload: all of it is delivered" 'said == [] and of.h0h1.delivered > 0.999'
own small '.flows = [flow("h0"; "h1") + {message: "64B", depth: 512}] | .settings.mtu = 4200'
said "  and one with writes of 64 bytes, 39.5 Gb/s" 'said == [] and of.h0h1.delivered > 0.999'
own late '.flows = [flow("h0"; "h1") + {start: "3ms"}, flow("h2"; "h3") + {stop: "2ms"}]'
said "flows that the scenario starts late and stops early have what they ask for" 'said == [] and ([of[].delivered] | min) > 0.98'
said "  and the rates that the result has" '[.flows[].delivered_bps / 1e9 | round] == [46, 31]'
own ping '.flows = [flow("h0"; "h1") + {mode: "latency", message: "8B", depth: 1}]'
said "one that measures latency asks for no more" 'said == []'
own capped '.flows = [flow("h0"; "h1")] | .settings += {ecn: [3], dcqcn: {rp: {rpg_max_rate: 20000}}}'
said "nor does one that rpg_max_rate limits" 'said == [] and of.h0h1.not_asked > 0.78'
own slow '.flows = [flow("h0"; "h2"), flow("h1"; "h2"), flow("h1"; "h3") + {rate: "10Gb/s"}] | .settings.mtu = 4200'
said "a victim that asks for a tenth of the line lost no more than that to the pauses" 'said == ["incast h2"] and (of.h1h3 | (.paused // 0) < 0.06 and .not_asked > 0.3)'
said "  and DCQCN alone is not advised where switches have no thresholds" '.causes[0] | .set == null and (.help | contains("settings.ecn_threshold"))'
own acks '.flows = [flow("h0"; "h2"), flow("h1"; "h2"), flow("h3"; "h1") + {message: "4KiB", depth: 1}] | .settings.mtu = 4200'
said "one with a message in flight, whose acknowledgements wait for half of the time: not for more" 'said == ["incast h2", "sender h3"] and (of.h3h1.paused - 0.54 | fabs) < 0.05'
own strict '.flows = [flow("h0"; "h1"), flow("h2"; "h1") + {priority: 4}] | .settings.mtu = 4200'
said "a flow that starves behind a higher priority: too much for the receiver's line, which is not slower" 'said == ["incast h1"]'
own lossy '.flows = [flow("h0"; "h2"), flow("h1"; "h2"), flow("h0"; "h3") + {priority: 4}] | .settings.pfc = [4]'
said "losses of a priority without PFC: neither the headroom of another is too short, nor did its flow wait" '(said | any(startswith("headroom")) | not) and (of.h0h3 | (.loss // 0) == 0 and .delivered + .others > 0.95)'
said "  and PFC on it is advised beside that which is on" '.causes | any(.set == "settings.pfc=[3, 4]")'
said "  no more was sent again than the line can carry beside the flow of its sender" '(of.h0h2 | .delivered + .resent) < 0.6'
own switch-off '.flows = [flow("h0"; "h2"), flow("h1"; "h2")] | .settings.mtu = 4200 | .settings_of.s0.pfc = []' --set lab.defaults.switch.buffer=1MiB
said "PFC on at hosts and off at the switch: the priority is not lossless there, and headroom is not the matter" 'said | any(. == "not-lossless priority 3") and (any(startswith("headroom")) | not)'
said "  PFC is not advised where the scenario has it on" '.causes[] | select(.kind == "not-lossless") | .help == null and (.evidence[0] | endswith("and has no PFC on priority 3"))'
own damaged '.flows = [flow("h0"; "h1"), flow("h2"; "h1")] | .settings.mtu = 4200 | .faults = [{link: ["h1", "s0"], kind: "loss", loss: 1e-3}]'
said "damaged frames that no sampled counter tells of: not the headroom of a switch that lost none" 'said == ["incast h1", "loss h1"]'
said "  and what was not sampled is said" '.causes[1].evidence[0] | endswith("not sampled: damaged frames at its receiver (the group errors)")'
jq 'del(.topology) | .hosts = {"h[0-3]": {}} | .switches = {s0: {}} | .links = [{between: ["h0", "s0"], loss: 0.001}, {between: ["h[1-3]", "s0"]}]' "$SCRATCH/four.json" >"$SCRATCH/worn-lab.json"
own worn '.flows = [flow("h0"; "h1"), flow("h2"; "h3")] | .lab = "worn-lab.json" | .settings.mtu = 4200 | .sample.groups += ["errors"]'
said "a link of the lab that loses frames: its receiver counts them, and no queue is said to drop them" 'said == ["link-damages h0 - s0"] and (.causes[0] | .sureness == "sure" and [.flows[].flow] == ["h0h1"] and (.evidence[0] | test("^s0 counted [1-9][0-9]* [(]crc errors[)] at port 0")))'
check "  as many as were lost: the switch's sum is that of the port, and nothing was discarded" jq -e '.hosts.s0.counters | .crc_errors.total > 10 and .crc_errors.total == .port0_crc_errors.total and .buffer_discards.total == 0' "$OUT/worn/latest/result.json"
own slower '.flows = [flow("h0"; "h1"), flow("h2"; "h3")] | .faults = [{link: ["h1", "s0"], kind: "rate", rate: "25Gb/s", start: "0ms"}]'
said "a link that got slower, without samples of queues" 'said[0] == "slower-link h1 - s0"'
own later '.flows = [flow("h0"; "h1") + {depth: 4}] | .settings.mtu = 4200 | .sample.groups += ["link"] | .faults = [{link: ["h0", "s0"], kind: "rate", rate: "10Gb/s", start: "3ms"}]' --set lab.defaults.host.nic.ack_timeout=262144ns
said "one that takes a tenth of its rate in the run: not losses until the end, of which there was one" 'said[0] == "slower-link h0 - s0" and (.causes[0] | .sureness == "likely" and .cost > 0.35 and (.evidence[0] | test("carries 9[.0-9]* Gb/s all the time, before 9[0-9.]* Gb/s, and its rate is 100 Gb/s"))) and of.h0h1.loss < 0.15 and of.h0h1.sender == null'
own later '.flows = [flow("h0"; "h1") + {depth: 4}] | .settings.mtu = 4200 | .sample.groups += ["link"] | .faults = [{link: ["h0", "s0"], kind: "rate", rate: "10Gb/s", start: "0ms"}]' --set lab.defaults.host.nic.ack_timeout=262144ns
said "  and one that has it since before the first sample: what its link carries is not known, which is said" 'said[0] == "sender h0" and (.causes[0].evidence | any(startswith("the link of h0 was down (link_down_events_phy): whether it has its whole rate since is not known")))'
own marked '.flows = [range(3) | flow("h\(.)"; "h3") + {queue_pairs: 8}] | .settings += {ecn: [3], mtu: 4200} | .phases.measure = "6ms"' --set 'lab.defaults.switch.ecn={"kmin": "100KB", "kmax": "400KB", "pmax": 0.2}'
said "an incast with DCQCN whose first pauses are in the measure phase, and whose port is idle for a fifth of it" 'said == ["incast h3", "dcqcn s0:3"] and .causes[0].victims == [] and (.causes[1].cost - 0.2 | fabs) < 0.03'
own stalled '.flows = [flow("h0"; "h1"), flow("h0"; "h3"), flow("h2"; "h3")] | .inject = [{flow: "h0h1", do: "stall", every: 1000, lasts: "200us"}] | .settings.mtu = 4200' --set lab.defaults.host.nic.model=connectx-5 --set 'lab.defaults.switch.ecn={"kmin": "100KB", "kmax": "400KB", "pmax": 0.2}'
said "a slow receiver with two priorities in a buffer: its own flow is not a victim, and DCQCN is advised for the one that is used" '.causes[] | select(.kind == "slow-receiver") | .culprit == "h1" and .priority == 3 and ([.victims[].flow] | index("h0h1") | not) and .set == "settings.ecn=[3]"'
own not-ready '.flows = [flow("h0"; "h1") + {op: "send", message: "4KiB", depth: 8}] | .settings.mtu = 4200 | .inject = [{flow: "h0h1", do: "rnr", every: 50}]'
said "RNR: the receiver had no receive posted" 'said == ["no-receive h1"]'
own before '.flows = [flow("h0"; "h1")] | .inject = [{flow: "h0h1", do: "drop", nth: 100, every: 100, stop: "700us"}]'
said "losses in the warm-up took nothing from the measure phase" 'said == []'
own few '.flows = [flow("h0"; "h1"), flow("h2"; "h1")] | .flows[] += {message: "4KiB", depth: 4} | .settings.mtu = 4200'
said "an incast without pauses: DCQCN is not advised against them" 'said == ["incast h1"] and .causes[0].help == null'
own few '.flows = [flow("h0"; "h1") + {message: "64B", depth: 128}]' --set lab.defaults.host.nic.model=connectx-5
said "a sender with 128 messages in flight is not advised to have as many" 'said == ["sender h0"] and .causes[0].help == null'
own few '.traffic = [{name: "p", pattern: "incast", from: ["h0"], to: ["h1"], message: "64B", depth: 4, priority: 3}]' --set lab.defaults.host.nic.model=connectx-5
said "  one of a pattern to have as many, by a setting that it has" 'said == ["sender h0"] and .causes[0].set == "traffic.*.depth=128"'
jq '.topology = {kind: "dumbbell", hosts: 4}' "$SCRATCH/four.json" >"$SCRATCH/two-switches.json"
own bell '.flows = [flow("h0"; "h4"), flow("h1"; "h5")] | .lab = "two-switches.json" | .roles = ["h[0-7]", "s[0-1]"]'
said "two switches with one link between them: no other way is advised" 'said == ["uplink s0 - s1"] and .causes[0].help == null'
jq '.topology = {kind: "leaf_spine", hosts: 2, leaves: 2, spines: 1} | .defaults.switch = {buffer: "1MiB", reserve: "4KiB", xoff_alpha: 0.125, xon_offset: "3KiB"} |
    .hosts = {"h[0-1]": {nic: {model: "connectx-5"}}, "h[2-3]": {nic: {model: "connectx-6"}}}' "$SCRATCH/four.json" >"$SCRATCH/one-spine.json"
own all '.traffic = [{name: "a2a", pattern: "all-to-all", from: ["h[0-3]"], message: "64KiB", depth: 16, priority: 3}] | .lab = "one-spine.json" | .roles = ["h[0-3]", "leaf[0-1]", "spine0"] | .settings.mtu = 4200 | .sample.groups += ["queue"]'
said "all to all over one spine: not the receivers, which are at three quarters of their line" '(said | sort) == ["uplink leaf0 - spine0", "uplink leaf1 - spine0"]'

own storms '.flows = [flow("h0"; "h2"), flow("h1"; "h3")] | .storms = [{role: "h2", priority: 3, start: "1500us", stop: "2500us"}, {role: "h3", priority: 3, start: "3ms", stop: "3500us"}]'
"$H" explain --json --hosts-only "$OUT/storms/latest" >"$SCRATCH/own.json"
said "two storms, with what hosts count: each has its own flow, and no victims" 'said == ["storm h2", "storm h3"] and [.causes[] | [.flows[].flow], .victims] == [["h0h2"], [], ["h1h3"], []]'
own silent '.flows = [flow("h0"; "h1") + {depth: 1}] | .inject = [{flow: "h0h1", packet: "ack", do: "drop", nth: 1}]'
said "a flow whose only acknowledgement was lost waits for its time-out: not a slow sender" 'said == ["loss h1"] and of.h0h1.loss == 1'
own dropped '.flows = [flow("h0"; "h2"), flow("h0"; "h3")] | .storms = [{role: "h2", priority: 3, start: "2ms", stop: "3ms"}] | .settings.mtu = 4200' --set 'lab.defaults.switch.watchdog={"detect": "200us", "restore": "200us"}'
said "a storm of which a watchdog dropped packets: none is advised" 'said[0] == "storm h2" and .causes[0].help == null'
jq '.topology = {kind: "leaf_spine", hosts: 4, leaves: 2, spines: 2}' "$SCRATCH/four.json" >"$SCRATCH/leaves.json"
own apart '.flows = [range(4) | flow("h\(.)"; "h\(. + 4)") + {rate: "40Gb/s"}] | .lab = "leaves.json" | .roles = ["h[0-7]", "leaf[0-1]", "spine[0-1]"] | .settings.mtu = 4200 | .phases.measure = "6ms" |
    .faults = [{link: ["leaf0", "spine1"], kind: "down", start: "500us"}]'
said "a flow that stood on a link that went down, and three that never went there: they ask for more than the other link carries" 'said == ["link-down leaf0 - spine1", "uplink leaf0 - spine0"] and [.causes[].flows | map(.flow) | sort] == [["h0h4"], ["h1h5", "h2h6", "h3h7"]] and (.causes[0].evidence | any(contains("what went there")) | not)'
"$H" report "$OUT/apart/latest" >/dev/null
map() { sed -n '/^# what befell/,$p' "$1/report/01-map.tsv" | grep -v '^#' | cut -f5 | grep . | paste -sd';'; }
check "  on the map the link is dashed and struck through, in both panels, with what befell it" test "$(map "$OUT/apart/latest"), $(grep -c 'stroke-dasharray' "$OUT/apart/latest/report/01-map.svg"), $(grep -oE '>leaf0 - spine1 down [^<]*' "$OUT/apart/latest/report/01-map.svg")" = \
    "leaf0 - spine1 down from -0.5 ms on, 5, >leaf0 - spine1 down from -0.5 ms on (0: the beginning of the measure phase)"
cp -rL "$OUT/apart/latest" "$SCRATCH/befell"
jq 'del(.scenario.faults)' "$OUT/apart/latest/result.json" >"$SCRATCH/befell/result.json"
"$H" report "$SCRATCH/befell" >/dev/null
check "  also where nothing but samples say so" test "$(map "$SCRATCH/befell")" = "leaf0 - spine1 was down"
jq '.scenario.faults[0] += {link: ["leaf0:5", "spine1"], kind: "loss", loss: 0.1} | .scenario.faults[0] |= del(.start, .stop) | .scenario.faults += [{link: [7], kind: "down"}, {link: ["leaf9", "h0"], kind: "down"}]
    | .lab.links = [{between: ["h0", "leaf0"], loss: 0.01}, {between: ["h1", {}], loss: "x"}]' "$OUT/apart/latest/result.json" >"$SCRATCH/befell/result.json"
"$H" report "$SCRATCH/befell" >/dev/null
check "  frames that a link loses too, by its port and by the lab; damaged ones are left out" test "$(map "$SCRATCH/befell")" = "leaf0 - spine1 losing frames in the whole run;h0 - leaf0 loses 1 % of frames"
jq '.scenario.faults[0].link[0] = "leaf0:4"' "$OUT/apart/latest/result.json" >"$SCRATCH/befell/result.json"
"$H" report "$SCRATCH/befell" >/dev/null
check "  none at another port" test "$(map "$SCRATCH/befell")" = ""

own apart '.flows = [range(4) | flow("h\(.)"; "h\(. + 4)") + {rate: "40Gb/s"}] | .lab = "leaves.json" | .roles = ["h[0-7]", "leaf[0-1]", "spine[0-1]"] | .settings += {mtu: 4200, ecn: [3]} | .phases.measure = "20ms" | .sample.groups += ["ecn"] |
    .faults = [{link: ["leaf0", "spine1"], kind: "down", start: "3ms"}]' --set lab.defaults.switch.convergence=1ms --set lab.defaults.host.nic.ack_timeout=1048576ns --set 'lab.defaults.switch.ecn={"kmin": "100KB", "kmax": "400KB", "pmax": 0.2}'
stood=$(jq -s '[.[] | select(.type == "interval" and .flow == "h0h4" and .bytes == 0)] | (map(.duration_ns) | add) / 20e6 * 0.408' "$OUT/apart/latest/flows.jsonl")
said "a flow that stood still around a time-out waited after losses, and DCQCN has the rest: $stood of its line" "(of.h0h4.loss - $stood | fabs) < 0.01 and of.h0h4.rate > 0.01 and $stood > 0.01"
# shellcheck disable=SC2016 # the quotes of --set
said "  no flow is said to have lost more than it asked for and did not get" '[.flows[] as $f | .causes[].flows[] | select(.flow == $f.flow) | .cost - (40e9 / $f.most_bps - ($f.shares.delivered // 0)) < 1e-6] | all and length >= 4'
said "  from when the samples have it down, to their end, with who sent again and what may help" '.causes[0] | .from_ns == 2e6 and .to_ns >= 20e6 and (.evidence | any(. == "sent packets again: h0h4")) and (.set | contains("convergence")) and ([.flows[].cost] | . == (sort | reverse))'
own apart '.flows = [range(4) | flow("h\(.)"; "h\(. + 4)") + {rate: "40Gb/s"}] | .lab = "leaves.json" | .roles = ["h[0-7]", "leaf[0-1]", "spine[0-1]"] | .settings += {mtu: 4200, ecn: [3]} | .phases.measure = "10ms" | .sample.groups += ["ecn", "link"] |
    .faults = [{link: ["leaf0", "spine1"], kind: "down", start: "3ms", stop: "6ms"}]' --set lab.defaults.switch.routing=adaptive --set 'lab.defaults.switch.ecn={"kmin": "100KB", "kmax": "400KB", "pmax": 0.2}'
said "a dead link from which adaptive routing turned at once is why the other one is full" 'said[0] == "link-down leaf0 - spine1" and (.causes[0] | .from_ns == 2e6 and .to_ns >= 5e6 and .to_ns < 7e6)'
"$H" report "$OUT/apart/latest" >/dev/null
sed -n '/<section class=first>/,/<.section>/p' "$OUT/apart/latest/report/index.html" >"$SCRATCH/first"
check "  its page begins with the rates over time and when the link went down, not with a map of pauses" test "$(grep -c 'leaf0 - spine1 down"' "$SCRATCH/first") $(grep -c 'href="01-throughput.svg"' "$SCRATCH/first") $(grep -c 'href="01-map.svg"' "$SCRATCH/first")" = "1 1 0"
cp -rL "$OUT/apart/latest" "$SCRATCH/unsaid"
jq 'del(.scenario.faults)' "$OUT/apart/latest/result.json" >"$SCRATCH/unsaid/result.json"
"$H" report "$SCRATCH/unsaid" >/dev/null
check "  also where nothing but samples say so" test "$(sed -n '/<section class=first>/,/<.section>/p' "$SCRATCH/unsaid/report/index.html" | grep -cE 'leaf0 - spine1 down"|href="01-throughput.svg"')" = 2
own apart '.flows = [range(4) | flow("h\(.)"; "h\(. + 4)") + {rate: "20Gb/s"}] | .lab = "leaves.json" | .roles = ["h[0-7]", "leaf[0-1]", "spine[0-1]"] | .settings += {mtu: 4200, ecn: [3]} | .phases.measure = "8ms" | .sample.groups += ["ecn", "queue"] |
    .faults = [{link: ["leaf0", "spine1"], kind: "rate", rate: "10Gb/s", start: "3ms", stop: "6ms"}]' --set 'lab.defaults.switch.ecn={"kmin": "100KB", "kmax": "400KB", "pmax": 0.2}'
said "a link that was slower for 3 of 8 ms: since when and until when, and neither an idle port nor too much load" 'said[0] == "slower-link leaf0 - spine1" and (.causes[0] | (.from_ns - 2.1e6 | fabs) < 0.2e6 and (.to_ns - 5e6 | fabs) < 0.2e6 and (.evidence[0] | test("sent (9[.]|10)[0-9.]* Gb/s")))'
own rests '.flows = [range(3) | flow("h\(.)"; "h3") + {depth: 16, gap: "20us"}] | .settings += {mtu: 4200, ecn: [3]} | .sample.groups += ["ecn", "queue"]' --set 'lab.defaults.switch.ecn={"kmin": "100KB", "kmax": "400KB", "pmax": 0.2}'
said "flows with a gap of 20 us in a cycle of some 260: what DCQCN takes is not what they do not ask for" 'said[0] == "incast h3" and ([of[] | .not_asked > 0.03 and .not_asked < 0.1 and .rate > 0.4] | all)'
own rests '.flows = [flow("h0"; "h3") + {depth: 1, gap: "1ms"}]'
said "  and one alone has what it asks for" 'said == []'
own rests '.flows = [flow("h0"; "h3") + {depth: 1, gap: "5us", message: "4KiB"}] | .settings.mtu = 4200'
said "  also with a round trip of each burst that is half as long" 'said == [] and of.h0h3.not_asked < 0.7 and (.text | startswith("nothing is wrong"))'
own rests '.flows = [flow("h2"; "h3") + {rate: "50Gb/s"}, flow("h0"; "h3") + {depth: 16, gap: "200us"}] | .settings.mtu = 4200 | .sample.groups += ["queue"]'
said "bursts that queue behind another flow, on a line that is not full on the average: not a slow sender" '(said | any(startswith("sender")) | not) and (of.h0h3 | .sender == null and .queue > 0.08 and .not_asked > 0.4)'
own rests '.flows = [flow("h2"; "h3") + {rate: "50Gb/s"}, flow("h0"; "h3") + {depth: 16, gap: "200us"}] | .settings.mtu = 4200'
said "  without samples of the queue it is not known" '(said | any(startswith("sender")) | not) and of.h0h3.unknown > 0.08'
own beside '.flows = [flow("h0"; "h3"), flow("h1"; "h3"), flow("h1"; "h2")] | .settings.mtu = 4200 | .phases.warmup = "100us" | .phases.measure = "2ms"'
said "a flow whose sender sends all that its line carries, of another flow more than arrives: not a slow sender" '(said | any(startswith("sender")) | not) and (of.h1h2 | .sender == null and .delivered + .others > 0.97)'
own since '.flows = [flow("h0"; "h3"), flow("h1"; "h3") + {stop: "300us", depth: 16}, flow("h2"; "h3") + {stop: "300us", depth: 16}] | .settings += {mtu: 4200, ecn: [3]} | .sample.groups += ["ecn", "queue"]' --set 'lab.defaults.switch.ecn={"kmin": "20KB", "kmax": "80KB", "pmax": 1}'
said "a rate that DCQCN cut before the measure phase, in which nothing is marked: not a slow sender" 'said == ["dcqcn s0:3"] and of.h0h3.rate > 0.15 and of.h1h3.not_asked == 1 and (.causes[0].evidence | any(endswith("since before it")))'
own since '.flows = [flow("h0"; "h3") + {message: "64B", depth: 4}, flow("h1"; "h3") + {stop: "300us", depth: 16}, flow("h2"; "h3") + {stop: "300us", depth: 16}] | .settings += {mtu: 4200, ecn: [3]} | .sample.groups += ["ecn", "queue"]' --set 'lab.defaults.switch.ecn={"kmin": "20KB", "kmax": "80KB", "pmax": 1}'
said "  but a sender with too little in flight, which waits for nothing, is one" 'said == ["sender h0"]'
own part '.flows = [flow("h0"; "h3") + {start: "3ms", stop: "5ms"}, flow("h1"; "h3") + {start: "3ms", stop: "5ms"}] | .settings += {mtu: 4200, ecn: [3]} | .sample.groups += ["ecn", "queue"] | .phases.measure = "8ms"' --set 'lab.defaults.switch.ecn={"kmin": "1MB", "kmax": "4MB", "pmax": 0.01}'
said "a port is judged while its flows run, not over the whole phase: it was not idle" 'said == ["incast h3"] and (.causes[0].evidence[0] | test("sent 9[0-9.]* Gb/s from 2.000 to 4.[0-9]* ms, when h[01]h3 ran$"))'

# ---- what is said of a run is what was seen in it
check "a deadlock: the flows that are the ring are not its victims, and are listed as its flows" jq -e '.causes[0] | .victims == [] and (.flows | length) == 5' <("$H" explain --json "$OUT/pfc-deadlock/latest/01")
check "  nor are those that a failed link led into it, only those whose packets never pass it; and none lost more than it did not get" jq -e '.flows as $f | .causes[0] | ([.victims[].flow] | sort) == ["back-13", "middle-4", "middle-7", "middle-back-8", "up-0"] and (.flows | length) == 11 and all(.flows[]; . as $c | $f[] | select(.flow == $c.flow) | $c.cost + .shares.delivered < 1.001)' <("$H" explain --json "$OUT/pfc-deadlock-failover/latest")
own weighed '.flows = [flow("h0"; "h3"), flow("h1"; "h3") + {priority: 4}] | .settings.mtu = 4200' --set 'settings_of.s0.ets={"weights": [0, 0, 0, 70, 30, 0, 0, 0]}'
said "two priorities that have parts of a port: none of them goes elsewhere" 'said == ["incast h3"] and .causes[0].victims == [] and (.causes[0].flows | map(.flow) | sort) == ["h0h3", "h1h3"]'
own drains '.flows = [flow("h0"; "h3"), flow("h2"; "h3") + {stop: "1500us"}] | .sample.every = "20us"'
said "a flow that stops while much of it is in flight ran until that arrived: it had half of its line" 'said == ["incast h3"] and ([.causes[0].flows[].flow] | sort) == ["h0h3", "h2h3"] and (of.h2h3.delivered - 0.5 | fabs) < 0.02'
own short '.flows = [flow("h0"; "h3") + {size: "20KB", message: "20KB", depth: 1, start: "2ms"}]'
said "one message takes its way there and back: its sender is not slow" 'said == [] and of.h0h3.sender == null and (.text | startswith("nothing is wrong"))'
own waits '.flows = [flow("h0"; "h3") + {size: "4MB", message: "4KiB", depth: 1}] | .phases.warmup = "0"'
said "  but one that waits for each of its messages is, and more of them in flight are advised" 'said == ["sender h0"] and .causes[0].set == "flows.*.depth=128"'
own many '.traffic = [{name: "p", pattern: "poisson", from: ["h[0-3]"], priority: 3, size: "100KB", load: 0.2}]'
said "flows beyond those that the result has one by one, which took longer than they take alone: what is not known is said" 'said == [] and .flows[0].most_bps == 0 and (.text | startswith("no cause was found")) and (.unknown | any(contains("slowdown")))'
own ten '.flows = [flow("h0"; "h3") + {message: "4KiB", depth: 18}] | .settings.mtu = 4200' --set lab.defaults.link.delay=1500ns
said "a flow with nine tenths of its line: no cause, and it is not said that it lacks less than 5 %" 'said == [] and of.h0h3.sender > 0.05 and of.h0h3.sender < 0.15 and (.text | test("^no cause was found; a flow has [89][0-9] %"))'
own brief '.flows = [flow("h0"; "h1"), flow("h0"; "h2")] | .storms = [range(3) | {role: "h1", priority: 3, start: "\(. + 1)100us", stop: "\(. + 1)250us"}] | .sample.groups += ["buffer"]'
said "pauses that cost no flow anything are no cause" 'said == []'
own brief '.flows = [flow("h0"; "h1")] | .storms = [range(3) | {role: "h1", priority: 3, start: "\(. + 1)100us", stop: "\(. + 1)250us"}] | .sample.groups += ["buffer"]'
said "  and a host that pauses its link with an empty buffer, not for long, is not said to be slow" 'said == ["host-pauses h1"]'
marks=(--set 'lab.defaults.switch.ecn={"kmin": "100KB", "kmax": "400KB", "pmax": 0.1}')
three() { # WHAT JQ-CHECK JQ [OPTION...]: of three flows to h3 with ECN on
    local what=$1 wanted=$2 change=$3
    shift 3
    own three ".flows = [range(3) | flow(\"h\(.)\"; \"h3\")] | .settings = {pfc: [3], ecn: [3], mtu: 4200} | .sample.groups += [\"ecn\", \"queue\", \"dcqcn\"] | $change" "${marks[@]}" "$@"
    said "$what" "said[0] == \"incast h3\" and (.causes[0] | $wanted)"
}
three "packets that are not ECN-capable: no threshold is advised" '.set == "settings.traffic_class=98" and (.help | test("kmin") | not)' '.settings.traffic_class = 96'
three "a switch that marks nothing: that is said" '.set == null and (.help | contains("pmax of its ecn_threshold is 0"))' '.settings.ecn_threshold = {kmin: "0B", kmax: "0B", pmax: 0}'
three "no congestion control: DCQCN is not said to be on" '.set == null and (.help | contains("congestion_control is none"))' '.settings.congestion_control = "none"'
three "a receiver without ECN: more marks do not help" '.set == null and (.help | contains("needs ECN on at both ends"))' '.settings_of.h3.ecn = []'
three "a sender without ECN" '.set == null and (.help | contains("needs ECN on at both ends"))' '.settings_of["h[0-2]"].ecn = []'
three "CNPs that come too late" '.set == null and (.help | contains("CNPs of a receiver, which sent none"))' . --set lab.defaults.host.nic.cnp_delay=20ms
three "TIMELY: an incast, not three slow senders, without advice about DCQCN" '.help == null and (.flows | length) == 3' '.settings.congestion_control = "timely"'
said "  which holds the flows down" '[of[] | .rate > 0.4 and .sender == null] | all'
own three '.flows = [range(3) | flow("h\(.)"; "h3")] | .settings = {pfc: [3], ecn: [3], mtu: 4200, congestion_control: "timely"}'
said "  without its gauge what held them is not known" '[of[] | .sender == null] | all'
own three '.flows = [range(3) | flow("h\(.)"; "h3")] | .settings = {pfc: [3], ecn: [3], mtu: 4200, dcqcn: {rp: {rate_to_set_on_first_cnp: 100}}} | .sample.groups = ["queue", "ecn", "pfc", "dcqcn"]' "${marks[@]}"
said "a port whose bytes were not sampled: no figure is given of them" '[.causes[].evidence[] | select(test("nan"))] == []'
said "  but of its queue" '.causes[] | select(.kind == "dcqcn") | .evidence[0] | test("^s0:3 [(]to h3[)] had an empty queue in [0-9]+ of [0-9]+ samples")'
own injected '.flows = [flow("h0"; "h3")] | .settings = {pfc: [3], ecn: [3], mtu: 4200} | .sample.groups += ["ecn", "queue"] | .inject = [{flow: "h0h3", do: "mark", every: 20}]'
said "marks of no switch, all of which were sampled: samples of them are not asked for" 'any(.causes[]; .kind == "network" and .help == null and (.evidence[0] | contains("no switch on its way marked a packet")))'
run red-bridge-throughput --set expect=null --set phases.warmup=5ms -d 20ms
check "a host that forwards and loses what it has no room for: the counter that tells so is named" jq -e '.causes[0] | .kind == "slow-receiver" and .culprit == "cp-ring" and .help == null and (.evidence[0] | contains("rx_out_of_buffer"))' <("$H" explain --json "$OUT/red-bridge-throughput/latest")
check "  and one that marks" jq -e '[.causes[].evidence[] | select(contains("marks of cp-red:1 (to red-b)"))] | length == 1' <("$H" explain --json "$OUT/red-bridge-throughput/latest")

own spread '.flows = [range(4) | flow("h\(.)"; "h\(. + 4)")] | .lab = "leaves.json" | .roles = ["h[0-7]", "leaf[0-1]", "spine[0-1]"] | .settings.mtu = 4200 | .sample.groups += ["queue"]'
said "of two equal paths the one is known that a flow takes: it is a sure cause, of those that go there" '[.causes[] | select(.kind == "uplink")] | length > 0 and all(.[]; .sureness == "sure" and (.evidence[0] | test("^[23] hosts have flows through")) and all(.flows[]; .cost > 0.4))'
check "  as the result has it: each path leads to its receiver" jq -e '.topology.ways | keys == ["h0h4", "h1h5", "h2h6", "h3h7"] and all(.[]; (.data | length) == 3 and (has("some_data") | not)) and .h2h6.back[0] != null and (.h2h6.data | index("leaf1:2")) != null' "$OUT/spread/latest/result.json"
check "  ports of equal paths carry what the flows sent there, and no other flow is charged" \
    test "$(jq -rs '.[0] as $r | [.[1].causes[] | select(.kind == "uplink") | . as $c | $c.evidence[0] | capture("through (?<p>[a-z0-9:]+)").p as $p | ([$c.flows[].flow] | sort) == ([$r.topology.ways | to_entries[] | select(.value.data | index($p)) | .key] | sort)] | all' "$OUT/spread/latest/result.json" "$SCRATCH/own.json")" = true
own every '.flows = [range(4) | flow("h\(.)"; "h\(. + 4)")] | .lab = "leaves.json" | .roles = ["h[0-7]", "leaf[0-1]", "spine[0-1]"] | .settings.mtu = 4200 | .sample.groups += ["queue"]' --set lab.defaults.switch.routing=adaptive
said "where each packet may take another, a port of one of them is no sure cause" '[.causes[] | select(.kind == "uplink")] | length > 0 and all(.[]; .sureness == "possible" and (.evidence[0] | contains("flows that may go through")))'
own both '.flows = [range(4) | flow("h\(.)"; "h\(. + 4)") + {rate: "40Gb/s"}] | .lab = "leaves.json" | .roles = ["h[0-7]", "leaf[0-1]", "spine[0-1]"] | .settings.mtu = 4200 | .sample.groups += ["link"] |
    .faults = [{link: ["leaf0", "spine0"], kind: "down", start: "2ms", stop: "2500us"}, {link: ["leaf0", "spine1"], kind: "down", start: "4ms", stop: "4500us"}]'
said "two links that went down one after the other: both together took from a flow no more than it lost" '. as $all | ([.causes[] | select(.kind == "link-down") | .culprit] | unique | length) == 2 and all(.flows[]; . as $f | ([$all.causes[] | select(.kind == "link-down") | .flows[] | select(.flow == $f.flow) | .cost] | add // 0) <= (.shares.loss // 0) + 0.001)'

# ---- a receiver that takes 10 Gb/s of its 25, whatever keeps its pauses from stopping the sender; the way to it is shared
jq -n '{schema: 1, name: "slow-lab", driver: "sim", topology: {kind: "dumbbell", hosts: 2, uplink: "100Gb/s"}, hosts: {h3: {pcie: {generation: 3, lanes: 8}, memory: {write: "10Gb/s"}}},
    defaults: {host: {nic: {model: "ideal"}}, switch: {buffer: "4MiB", ecn: {kmin: "100KB", kmax: "400KB", pmax: 0.2}}, link: {rate: "25Gb/s", length: "3m"}}}' >"$SCRATCH/slow-lab.json"
slow() { # SETTINGS [OPTION...]
    local settings=$1
    shift
    own slow ".flows = [flow(\"h0\"; \"h3\"), flow(\"h1\"; \"h2\")] | .flows[] += {depth: 16} | .lab = \"slow-lab.json\" | .roles = [\"h[0-3]\", \"s[0-1]\"] | .settings = {pfc: [3]} | .sample.groups += [\"ecn\", \"queue\", \"buffer\"] |
        .phases.measure = \"10ms\" | $settings" "$@"
}
uplink=(--set lab.topology.uplink=25Gb/s --set lab.hosts.h3.memory.write=5Gb/s)
slow '.settings_of.s1.watchdog = {detect: "5us", action: "forward"}'
said "its pauses are overridden: the receiver, not its link, and what was sent again before what was paused" 'said == ["slow-receiver h3"] and .causes[0].sureness == "sure" and (.causes[0] | .set == null and (.evidence | any(contains("rx_discards_phy")) and any(contains("watchdog_storms")))) and of.h0h3.resent > 0.5 and (of.h0h3.paused // 0) < 0.1'
"$H" explain --json --hosts-only "$OUT/slow/latest" >"$SCRATCH/own.json"
said "  with what hosts count, too" 'said == ["slow-receiver h3"] and of.h0h3.resent > 0.5'
slow '.settings_of.s1.watchdog = {detect: "5us"}'
said "a watchdog drops what its pauses hold up" 'said == ["slow-receiver h3"] and (.causes[0].evidence | any(contains("watchdog_discards")))'
slow '.settings.pfc = []'
said "without PFC it loses what it has no room for" 'said == ["slow-receiver h3"] and .causes[0].sureness == "sure" and (.causes[0].text | contains("loses")) and .causes[0].set == "settings.pfc=[3]"'
"$H" explain --json --hosts-only "$OUT/slow/latest" >"$SCRATCH/own.json"
said "  with what hosts count, no switch is accused" 'said == ["slow-receiver h3"]'
slow '.settings.ecn = [3] | .phases += {warmup: "5ms", measure: "20ms"}'
said "with DCQCN, its port marks: the same cause, and DCQCN is not advised" 'said == ["slow-receiver h3"] and (.causes[0] | .set == null and (.help | contains("kmin")) and (.evidence | any(contains("s1:1 (to h3)") and contains("ecn_marked")))) and of.h0h3.rate > 0.01'
slow '.settings.ecn = [3]' "${uplink[@]}"
said "an uplink that marks while it is paused, and is not full: its victim" 'said == ["slow-receiver h3"] and ([.causes[0].victims[] | select(.cost > 0.3) | .flow] == ["h1h2"]) and (.text | contains("victim: h1h2 (lost "))'
slow '.settings.ecn = [3] | .settings_of.s1.ecn_threshold = {kmin: "0B", kmax: "0B", pmax: 0}' --set 'lab.hosts.h3.nic={"unmarked_cnps":"ingress"}'
said "an uplink that two hosts cannot fill is not overloaded" 'said == ["slow-receiver h3"]'
slow '.flows[1].priority = 4 | .settings.pfc = [3, 4]' "${uplink[@]}"
said "a priority that starves behind a higher one: that is said, and ETS advised" 'said == ["uplink s0 - s1"] and (.causes[0] | (.evidence | any(contains("the higher priority goes first"))) and (.set | startswith("settings_of.s0.ets=")))'
slow '.flows[1].priority = 4 | .settings.pfc = [3, 4]' "${uplink[@]}" --set 'settings_of.s0.ets={"weights": [12, 12, 12, 12, 13, 13, 13, 13]}'
said "  which helps, as far as the receiver goes" 'of.h0h3.delivered > 0.15 and (.causes[] | select(.kind == "uplink") | .set == null)'
slow '.flows[1].priority = 4 | .settings += {pfc: [3, 4], ecn: [3]}'
said "pauses of a priority that no flow to the receiver has" '.causes[0] | .priority == 3 and .set == null and (.evidence | any(contains("tx_prio4")) | not)'
slow . --set lab.hosts.h3.memory.write=22.5Gb/s
said "figures are of the measure phase, and the port is named whose pauses are felt" ".causes[0].evidence | any(contains(\"$(jq '.hosts.h3.counters.tx_prio3_pause.delta' "$OUT/slow/latest/result.json") (tx_prio3_pause) in the measure phase\")) and any(test(\"the port s1:1, .* XOFF for [23][0-9.]* % of the measure phase\"))"
slow '.flows[].start = "5ms" | .faults = [{link: ["s0", "s1"], kind: "down", start: "2ms"}] | .sample.groups += ["errors", "link"]'
said "a link that was down before any packet came: switches count those that had no way" 'said == ["link-down s0 - s1"] and (.causes[0].evidence | any(contains("route_discards")))'
slow '.flows[].start = "5ms" | .faults = [{link: ["s0", "s1"], kind: "down", start: "2ms"}]'
said "  and without the group that counts links, the switch is named" 'said == ["link-down s0"]'
slow '.settings.ecn = [3] | .faults = [{link: ["h3", "s1"], kind: "rate", rate: "10Gb/s", start: "0ms"}]' --set lab.hosts.h3.memory.write=25Gb/s
said "a link that got slower, with DCQCN" 'said[0] == "slower-link h3 - s1"'
slow '.storms = [{role: "h3", priority: 3, start: "6ms", stop: "9ms"}] | .settings_of.s1.watchdog = {detect: "200us", action: "forward"}' --set lab.hosts.h3.memory.write=25Gb/s
said "a storm that a watchdog cuts in pieces: its receive buffer is empty, so it is not slow" 'said[0] == "storm h3"'
slow '.flows[1].to = "h3" | .settings.pfc = []'
said "what a switch loses and what the receiver does: each its part" 'said == ["not-lossless priority 3"]'
slow '.flows = [flow("h0"; "h2"), flow("h1"; "h3"), flow("h2"; "h1"), flow("h3"; "h0")] | .settings = {pfc: [], mtu: 4200}' --set lab.topology.uplink=25Gb/s --set lab.defaults.switch.buffer=256KiB --set lab.defaults.host.nic.ack_timeout=131072ns --set lab.hosts.h3.memory.write=25Gb/s
said "what two switches lose is charged to the flows that came by the ports that lost it, once" '([.causes[] | select(.kind == "not-lossless") | .flows | map(.flow) | sort] | sort) == [["h0h2", "h1h3"], ["h2h1", "h3h0"]] and ([.causes[].flows[].cost] | add) <= 4 and (.causes[0].evidence | any(test("^of them [0-9]+ came from h[0-3]$")) and any(test("^its senders noticed losses [0-9]+ by ")))'
slow '.flows[1].to = "h3" | .settings.pfc = [] | .faults = [{link: ["h3", "s1"], kind: "down", start: "6ms", stop: "7ms"}] | .sample.groups += ["link"]' --set lab.defaults.switch.buffer=256KiB
lost=$(jq '[.hosts | to_entries[] | select(.value.counters.buffer_discards) | .value.counters | .buffer_discards.total + .link_discards.total] | add' "$OUT/slow/latest/result.json")
check "a port's losses are of what came in by it, but for those of its link ($lost)" test "$lost" = "$(jq '[.hosts[].counters | to_entries[] | select(.key | test("^port[0-9]+_discards$")) | .value.total] | add' "$OUT/slow/latest/result.json")" \
    -a "$(jq '[.hosts.s1.counters | .link_discards.total > 0, .port1_link_discards.total == .port1_discards.total] | all' "$OUT/slow/latest/result.json")" = true
said "  and nothing is said to have come from where it did not arrive" '[.causes[].evidence[] | select(test("came from h3"))] == []'
set=$("$H" explain --json "$OUT/lossy-link/latest/03" | jq -r '.causes[0].set')
check "what is advised against damages can be set: $set" "$H" check lossy-link --set "$set"
slow '.flows[1] += {to: "h3", priority: 4} | .settings.pfc = [3, 4]'
said "two priorities to it, of which one starves" '.causes[0] | .culprit == "h3" and (.evidence | any(contains("the higher priority goes first"))) and .set == "settings.ecn=[3, 4]"'
own three '.flows = [range(3) | flow("h\(.)"; "h3")] | .flows[] += {depth: 16} | .settings = {pfc: [3], ecn: [3], mtu: 4200} | .sample.groups += ["ecn", "queue"]' \
    --set lab.defaults.link.rate=25Gb/s --set lab.defaults.switch.xoff_alpha=0.03 --set lab.defaults.switch.ecn='{"kmin": "100KB", "kmax": "1600KB", "pmax": 0.01}'
said "thresholds that mark too little before XOFF" 'said == ["incast h3"] and (.causes[0] | .set == null and (.help | contains("pmax")))'
own three '.flows = [range(3) | flow("h\(.)"; "h3")] | .flows[] += {depth: 16} | .settings = {pfc: [3], ecn: [3], mtu: 4200} | .sample.groups += ["ecn", "queue"]' \
    --set lab.defaults.link.rate=25Gb/s --set lab.defaults.switch.xoff_alpha=0.03 --set lab.defaults.switch.ecn='{"kmin": "4MB", "kmax": "8MB", "pmax": 0.2}'
said "  or that are above what PFC lets a queue hold: nothing is marked" '.causes[0] | .set == null and (.help | contains("no packet was marked"))'

# ---- results that are not whole
check_exit 2 "a folder that is no result" "$H" explain "$SCRATCH"
check_exit 2 "a result is needed" "$H" explain
run sonic-roce-incast -d 1ms
cp -rL "$OUT/sonic-roce-incast/latest/01" "$SCRATCH/part"
forget_files "$SCRATCH/part"
odd() { # WHAT JQ: the result changed so is explained, or refused, and says something
    jq "$2" "$SCRATCH/part/result.json" >"$SCRATCH/changed" && cp -r "$SCRATCH/part" "$SCRATCH/odd" && cp "$SCRATCH/changed" "$SCRATCH/odd/result.json"
    "$H" explain "$SCRATCH/odd" >"$SCRATCH/out" 2>"$SCRATCH/err"
    check "$1" test $? -le 2 -a -s "$SCRATCH/out"
    rm -r "$SCRATCH/odd"
}
odd "without a network" 'del(.topology)'
check_says "  what that leaves open is said" '^not known: nothing of the switches was sampled' "$SCRATCH/out"
odd "without flows" '.flows = {}'
check_says "  it is not said that nothing is wrong" 'not known' "$SCRATCH/out"
odd "without hosts" '.hosts = {}'
odd "links to nodes that are not there, and to themselves" '.topology.links += [{a: "x", b: "s0"}, {a: "s0", b: "s0"}, {a: null, b: 3}, 7]'
odd "hosts with two links" '.topology.links += [.topology.links[0]]'
odd "a phase without a length" '.phases[1].end_ns = .phases[1].start_ns'
odd "flows from and to nobody" '.flows[] |= (.from = "nobody" | .to = "")'
odd "priorities beyond 7, huge rates" '.flows[] |= (.priority = 99 | .goodput_bps = 1e300)'
head -c 5000 "$SCRATCH/part/samples.jsonl" >"$SCRATCH/cut" && cp "$SCRATCH/cut" "$SCRATCH/part/samples.jsonl"
printf '["s0:99",3,1,1]\n["",3,-5,9223372036854775807]\nnot a line\n["h0",9,1,1]\n' >>"$SCRATCH/part/pauses.jsonl"
odd "lines that are cut, and pauses of ports that are not there" '.'
finish
