#!/usr/bin/env bash
# `harness explain` accuses a sender, a headroom or an incast only where what was seen says so: what queues, receive buffers,
# acknowledgements, lost pauses and a link of another rate took is charged to them, and what cannot be told is not known.
# shellcheck disable=SC2016 # what is quoted is for jq
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/../lib.sh"

H=$BUILD/harness OUT=$SCRATCH/results
jq -n '{schema: 1, name: "star", driver: "sim", topology: {kind: "star", hosts: 4}, defaults: {host: {nic: {model: "ideal"}},
    switch: {buffer: "4MiB", reserve: "4KiB", xoff_alpha: 0.125, xon_offset: "3KiB", ecn: {kmin: "100KB", kmax: "400KB", pmax: 0.2}}, link: {rate: "25Gb/s", length: "3m"}}}' >"$SCRATCH/star.json"
jq '.topology = {kind: "dumbbell", hosts: 3, uplink: "25Gb/s"}' "$SCRATCH/star.json" >"$SCRATCH/dumbbell.json"
own() { # NAME JQ [OPTION...]: explains a run of the scenario that JQ changes
    local name=$1 change=$2
    shift 2
    jq -n "def flow(\$n; \$f; \$t; \$d): {name: \$n, from: \$f, to: \$t, priority: 3, message: \"64KiB\", depth: \$d};
        {schema: 1, name: \"$name\", title: \"t\", lab: \"star.json\", roles: [\"h[0-3]\", \"s0\"], phases: {warmup: \"1ms\", measure: \"4ms\"},
         settings: {mtu: 4200, pfc: [3], trust: \"dscp\"}, sample: {every: \"50us\"}} | $change" >"$SCRATCH/$name.json"
    "$H" run "$SCRATCH/$name.json" --out "$OUT" --no-report --quiet "$@" >"$SCRATCH/said" 2>&1
    "$H" explain --json "$OUT/$name/latest" >"$SCRATCH/own.json"
}
hosts() { # WHAT NAME CHECK: the same as hosts alone tell it
    "$H" explain --json --hosts-only "$OUT/$2/latest" >"$SCRATCH/own.json"
    said "$1" "$3"
}
DEFS='def said: .causes | map("\(.kind) \(.culprit)"); def accused($k): any(.causes[]; .kind == $k);
    def cost($k; $c; $f): [.causes[] | select(.kind == $k and .culprit == $c) | (.flows + .victims)[] | select(.flow == $f) | .cost] | add // 0;
    def about($is; $wanted; $by): $is - $wanted | fabs < $by; def of: .flows | map({key: .flow, value: .shares}) | from_entries;'
said() { check "$1" jq -es "$DEFS"' length == 1 and (.[0] | '"$2"')' "$SCRATCH/own.json"; }
incast='flow("i1"; "h1"; "h3"; 32), flow("i2"; "h2"; "h3"; 32)'

# ---- what stands in the way of a flow: queues, of its acknowledgements too, and its receiver's buffer
own acks '.flows = [flow("a"; "h0"; "h2"; 16) + {message: "256B", queue_pairs: 32}, flow("b"; "h2"; "h1"; 16)]'
said "a line that acknowledgements of what its host receives fill: the sender leaves nothing unused" '(accused("sender") | not) and about(of.b.delivered + of.b.others; 1; 0.01)'
own ackq ".flows = [flow(\"x\"; \"h3\"; \"h0\"; 2), $incast]"
said "acknowledgements that wait in an incast's queue: it is the incast's" 'said == ["incast h3"] and cost("incast"; "h3"; "x") > 0.8'
hosts "  which hosts do not count: it is not known" ackq '(accused("sender") | not) and of.x.unknown > 0.8'
own reads ".flows = [flow(\"x\"; \"h0\"; \"h3\"; 2) + {op: \"read\"}, $incast]"
said "  requests of a read, too" 'said == ["incast h3"] and cost("incast"; "h3"; "x") > 0.8'
own few ".flows = [flow(\"x\"; \"h0\"; \"h3\"; 1) + {message: \"16KiB\"}, $incast]"
said "of a message that stands in a queue for nearly all of its time: by its latency, not by how few were complete" 'cost("incast"; "h3"; "x") > 0.6'
own large ".flows = [flow(\"x\"; \"h0\"; \"h3\"; 1) + {message: \"256KiB\"}, flow(\"y\"; \"h1\"; \"h3\"; 2) + {message: \"256KiB\"}]"
said "  of a large one, which finds more in the queue than the mean: the rest is not known" 'said == ["incast h3"] and of.x.sender < 0.01 and of.x.unknown > 0.2'
own gap ".flows = [flow(\"x\"; \"h3\"; \"h0\"; 2) + {gap: \"100us\"}, $incast]"
said "  of bursts, what is not asked for without that" '(accused("sender") | not) and cost("incast"; "h3"; "x") > 0.15 and of.x.not_asked > 0.6'
own window '.flows = [flow("x"; "h3"; "h0"; 1) + {message: "4KiB"}, flow("y"; "h1"; "h2"; 16)]'
said "but one whose messages take no longer than their way is a sender, which more of them in flight help" 'said == ["sender h3"] and .causes[0].set == "flows.*.depth=128"'
own uplink '.lab = "dumbbell.json" | .roles = ["h[0-5]", "s[0-1]"] | .flows = [flow("x"; "h0"; "h3"; 1) + {message: "16KiB"}, flow("y"; "h1"; "h4"; 4) + {rate: "10Gb/s"}, flow("z"; "h2"; "h5"; 4) + {rate: "3Gb/s"}]'
said "  which waits for others at a line between switches: its part of that" 'said == ["sender h0", "uplink s0 - s1"] and about(cost("sender"; "h0"; "x"); 0.44; 0.06)'
hosts "  which hosts do not tell apart" uplink 'accused("sender") | not'
own slow '.flows = [flow("x"; "h3"; "h0"; 2) + {message: "4KiB"}]' --set 'lab.hosts.h3.nic={"messages": "10k/s"}'
said "  and one that is slow by itself is one, which they do not help" 'said == ["sender h3"] and .causes[0].help == null'
own idle ".flows = [flow(\"x\"; \"h0\"; \"h3\"; 4) + {message: \"4KiB\"}, $incast]" --set 'lab.hosts.h0.nic={"messages": "1k/s"}'
said "  also beside an incast, whose queue explains a tenth of the time" 'said == ["incast h3", "sender h0"] and cost("sender"; "h0"; "x") > 0.9'
own mouse ".flows = [flow(\"m\"; \"h0\"; \"h3\"; 1) + {message: \"4KiB\", size: \"4KiB\", start: \"3ms\"}, $incast]"
said "a short flow behind an incast's queue waits for that" 'said == ["incast h3"] and cost("incast"; "h3"; "m") > 0.9'
own poisson '.traffic = [{name: "p", pattern: "poisson", from: ["h[0-3]"], to: ["h[0-3]"], priority: 3, size: "100kB", load: 0.5}] | .phases = {warmup: "0s", measure: "2ms"}'
said "of short flows that wait for each other no sender is accused" '(.flows | length) > 100 and (accused("sender") | not) and accused("incast")'
own holds '.flows = [flow("x"; "h0"; "h1"; 32) + {message: "4KiB"}, flow("y"; "h2"; "h3"; 32)]' --set 'lab.hosts.h1={"pcie": {"generation": 3, "lanes": 8}, "memory": {"write": "15Gb/s"}}'
said "a window that stands in the receive buffer of a slow memory, which pauses nothing: its receiver" 'said == ["slow-receiver h1"] and cost("slow-receiver"; "h1"; "x") > 0.3'
hosts "  as hosts count it" holds 'said == ["slow-receiver h1"]'
own rate '.flows = [flow("x"; "h0"; "h1"; 8), flow("y"; "h2"; "h3"; 8)] | .phases.measure = "10ms" | .faults = [{link: ["h0", "s0"], kind: "rate", rate: "10Gb/s", start: "4ms", stop: "7ms"}]'
said "a link of another rate for a time: 3 of 10 ms in which it has 40 %" 'said[0] == "slower-link h0 - s0" and about(cost("slower-link"; "h0 - s0"; "x"); 0.17; 0.02) and (accused("sender") | not)'
hosts "  as hosts count it" rate 'said[0] == "slower-link h0 - s0" and (accused("network") | not)'

# ---- losses
two='.flows = [flow("x"; "h0"; "h1"; 16), flow("y"; "h2"; "h1"; 16) + {rate: "4Gb/s"}] | .phases.measure = "10ms"'
own drops "$two"' | .inject = [{flow: "x", do: "drop", nth: 100, every: 300}]'
said "beside losses, what an incast took: the loss has what was sent again" 'said == ["loss h1", "incast h1"] and about(cost("incast"; "h1"; "x"); 0.16; 0.02) and about(cost("loss"; "h1"; "x"); of.x.resent; 0.02)'
own xoff "$two"' | .faults = [{link: ["h0", "s0"], kind: "loss", loss: 0.003}]'
said "discards where XOFF was damaged on the way: the link, not the headroom" 'said[0] == "link-damages h0 - s0" and (accused("headroom") | not) and (.causes[0].evidence | any(test("^of [0-9]+ PFC frames of priority 3 that s0 sent to h0 [0-9]+ arrived")) and any(contains("lack of buffer")))'
said "  which lost all of it while one was missing, as samples of both ends tell" '.causes[0].evidence | any(test("^s0 lost (?<n>[0-9]+) packets from h0 for lack of buffer, \\k<n> of them when a PFC frame had not arrived: nothing says"))'
own short "$two"' | .inject = [{link: ["s0", "h0"], packet: "pfc", do: "drop", nth: 41, every: 200}]' --set lab.defaults.switch.headroom=5KB
said "  beside a headroom that is too short: what was lost while each arrived is charged to that, the rest to the link" '(said | contains(["link-damages h0 - s0", "headroom s0"])) and (.causes[] | select(.kind == "headroom") | .evidence | any(test("^[1-9][0-9]* of these were lost while each PFC frame arrived"))) and about(cost("link-damages"; "h0 - s0"; "x") + cost("headroom"; "s0"; "x"); of.x.resent + of.x.loss; 0.02)'
own xon "$two"' | .inject = [{link: ["s0", "h0"], packet: "pfc", do: "drop", nth: 40, every: 200}]'
said "pauses that last longer than was asked, where PFC frames were lost: the link, and the incast its part" 'said == ["link-damages h0 - s0", "incast h1"] and cost("link-damages"; "h0 - s0"; "x") > 4 * cost("incast"; "h1"; "x")'
own dead '.flows = [flow("x"; "h0"; "h1"; 16), flow("y"; "h0"; "h2"; 16)] | .phases.measure = "10ms" | .inject = [{flow: "x", do: "drop", phase: "measure", start: "1ms", nth: 1, every: 1, count: 300}]'
said "a flow that stands beside another one of its host has lost its half of their line, for 9 of 10 ms" 'said == ["loss h1"] and about(cost("loss"; "h1"; "x"); 0.45; 0.02)'
own watchdog '.flows = [flow("x"; "h0"; "h1"; 16), flow("y"; "h0"; "h2"; 16)] | .phases.measure = "10ms" | .settings.watchdog = {detect: "300us", restore: "300us"} | .storms = [{role: "h1", priority: 3, start: "3ms", stop: "6ms"}]'
said "  for 8, where a watchdog dropped what a storm held up" 'said == ["storm h1"] and about(cost("storm"; "h1"; "x"); 0.4; 0.02)'
said "    its half of the storm's 3 ms was paused, and of the 5 after that lost" 'about(of.x.paused; 0.15; 0.02) and about(of.x.loss; 0.25; 0.02)'

late() { own "$1" "$2" --set "lab.defaults.host.nic={\"model\": \"ideal\", \"ack_timeout\": \"$3\"}" "${@:4}"; }
late acks_late '.flows = [flow("x"; "h0"; "h3"; 1) + {message: "256KiB"}]' 16.384us --set 'lab.defaults.link={"rate": "25Gb/s", "delay": "10us"}'
said "time-outs alone are no loss: acknowledgements come late, and a longer ack_timeout is advised" 'said == ["late-acks h3"] and about(.causes[0].cost; of.x.resent + of.x.loss; 0.01) and (.causes[0].evidence | all(contains("noticed losses") | not))'
late acks_set '.flows = [flow("x"; "h0"; "h3"; 1) + {message: "256KiB"}]' 16.384us --set 'lab.defaults.link={"rate": "25Gb/s", "delay": "10us"}' --set "$(jq -r '.causes[0].set' "$SCRATCH/own.json")"
said "  which helps" 'accused("late-acks") | not'
late acks_queue ".flows = [flow(\"x\"; \"h0\"; \"h3\"; 1) + {message: \"4KiB\"}, $incast]" 131.072us
said "  of those that an incast's queue holds back the queue has its part" 'said == ["incast h3", "late-acks h3"] and cost("incast"; "h3"; "x") > 0.3'
late acks_tail '.flows = [flow("x"; "h0"; "h3"; 1) + {message: "256KiB"}] | .inject = [{flow: "x", do: "drop", nth: 100, every: 300}]' 131.072us
said "  and where a packet is missing it is a loss" 'said == ["loss h3"]'

# ---- flows have what they ask for, and something is broken all the same
fine='.flows = [flow("x"; "h0"; "h1"; 8)]'
own damages "$fine"' | .settings.mtu = 1500 | .phases.measure = "10ms"' --set 'lab.defaults.host.nic={"model": "ideal", "recovery": "selective-repeat"}' --set 'lab.defaults.link={"rate": "25Gb/s", "length": "3m", "loss": 5e-4}'
said "links that damage frames, which takes no more than 1 %: no cause, and not that nothing is wrong" 'said == [] and (.text | test("^each flow has .*; but there were faults: .*h1 rx_crc_errors_phy [1-9][0-9]*, .*s0 crc_errors [1-9][0-9]*$"))'
own flap "$fine"' | .faults = [{link: ["h3", "s0"], kind: "flap", start: "2ms", period: "1ms", duty: 0.1, count: 2}]'
said "  a link that no flow takes, and which goes down" '.text | endswith("; but there were faults: h3 link_down_events_phy 2, s0 link_down_events 2")'
own pauses "$fine"' | .storms = [{role: "h3", priority: 3, start: "2ms", stop: "4ms"}]'
said "  a host that no flow goes to, and which pauses its link" '.text | endswith("; but there were faults: h3 tx_prio3_pause_duration 2000 us")'
own fine "$fine"
said "  where there is none nothing is wrong" '.text | startswith("nothing is wrong: each flow has")'

# ---- what is not known
poisson='.traffic = [{name: "p", pattern: "poisson", from: ["h[0-3]"], to: ["h[0-3]"], priority: 3, size: "50kB", load: 0.4}] | .phases.measure = "20ms"'
own many "$poisson"
said "flows that took twice the time that they take alone: not that nothing is wrong" 'said == [] and about(of.p.unknown; 0.5; 0.05) and .text == "no cause was found; what kept flows from their rate is not known"'
own spread "$poisson"' | .traffic[0] += {from: ["h[0-2]"], to: ["h3"], load: 0.9}'
said "of a pattern that is not listed flow by flow that is why its ends are not known, and samples of queues that there are are not asked for" 'any(.causes[]; .kind == "network" and .help == null and (.evidence[0] | contains("it has them together")))'
own skipped '.flows = [flow("x"; "h0"; "h1"; 8) + {memory: "gpu"}]'
said "a run that was skipped: nothing ran, and why" '.causes == [] and .unknown == [] and (.text | test("^nothing ran [(]skipped[)]: .*no usable GPU memory"))'
finish
