#!/usr/bin/env bash
# `harness explain` on the scenarios that come with the program and whose cause is known, on an incast that looks like a storm, and on
# results that are not whole.
source "$(dirname "$0")/../lib.sh"

H=$BUILD/harness OUT=$SCRATCH/results

run() { "$H" run "$@" --out "$OUT" --no-report --quiet >"$SCRATCH/said" 2>&1; }
first() { "$H" explain --json "$@" | jq -r '.causes[0] // {kind: "none", culprit: "-"} | "\(.kind) \(.culprit)"'; }

# scenario, its run ("" for one that is no sweep), cause with all samples, with what hosts count
known='incast-pfc||incast h16|incast h16
incast-dcqcn||incast h16|network h13
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
run headroom-sweep --set 'sweep={"lab.defaults.switch.headroom": ["0"]}' --set expect=null
check "a headroom of 0: that of s0 is too short" test "$(first "$OUT/headroom-sweep/latest/01")" = "headroom s0"
run pfc-bidir --set phases.warmup=10ms -d 100ms --set phases.cooldown=10ms
check "pfc-bidir: nothing is wrong with host memory" test "$(first "$OUT/pfc-bidir/latest/01")" = "none -"
check "  and b is a slow receiver with GPU memory, though its memory stood still for 2 ms at a time" test "$(first "$OUT/pfc-bidir/latest/02")" = "slow-receiver b"

# ---- what else is said
victim=$OUT/victim-flow/latest/01
"$H" explain --json "$victim" >"$SCRATCH/victim.json"
check "the victim of an incast is one, and the flows that feed it are not" jq -e '.causes[0] | [.victims[].flow] == ["victim"] and ([.flows[].flow] | sort) == [range(7) | "incast/\(.)"]' "$SCRATCH/victim.json"
stood=$(jq '([.topology.links[] | select(.a == "h7") | .a_held["3"].held_ns] | add) / (.phases[1].end_ns - .phases[1].start_ns)' "$victim/result.json")
check "what pauses took from the victim is the share of time in which its host stood: $stood" jq -e "(.flows[] | select(.flow == \"victim\") | .shares.paused) - $stood | fabs < 0.03" "$SCRATCH/victim.json"
check_exit 0 "for people" "$H" explain "$OUT/victim-flow/latest"
check_says "  each run of a sweep" 'victim-flow/.*/01 \(simulated\):$' "$SCRATCH/out"
check_says "  the cause, and how sure that is" '^  more is sent to h8 than its line carries \(an incast\) \(sure\)$' "$SCRATCH/out"
check_says "  what would show whether DCQCN helps" "run with --set 'settings.ecn=\[3\]'" "$SCRATCH/out"
check "  not where it is on" test "$(sed -n '/02 (simulated)/,$p' "$SCRATCH/out" | grep -c settings.ecn)" = 0
check "no line has a share of more than the whole" test -z "$(grep -oE '[0-9]+ %' "$SCRATCH/out" | awk '$1 > 100')"
"$H" run victim-flow --set 'sweep={}' --set expect=null -d 1ms --out "$OUT" >"$SCRATCH/out" 2>"$SCRATCH/err"
check_says "a run ends with its first cause" '^more is sent to h8 than its line carries \(an incast\)$' "$SCRATCH/out"
page=$OUT/victim-flow/latest/report/index.html
check_says "  and its page has it" 'What happened, and why</h2>' "$page"
sed -n '/<section class=first>/,/<.section>/p' "$page" >"$SCRATCH/first"
check_says "  on the first screen" 'On 16 hosts and 2 switches, measured for 1ms: <b>victim</b> from h7 to h15; <b>incast</b> from 7 hosts to h8[.] .*Why: <b>more is sent to h8 than its line carries \(an incast\)</b>' "$SCRATCH/first"
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
jq 'del(.topology)' "$SCRATCH/sampled/result.json" >"$SCRATCH/real" && mv "$SCRATCH/real" "$SCRATCH/sampled/result.json"
check "  as real hosts and switches tell it, by the lab's links and the pauses that ports counted" test "$(first "$SCRATCH/sampled")" = "incast h3"
check "  with the same victim" test "$("$H" explain --json "$SCRATCH/sampled" | jq -r '.causes[0].victims | map(.flow) | join(" ")')" = long-2

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
