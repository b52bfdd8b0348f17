#!/usr/bin/env bash
# `harness explain` charges a cause with what flows lost while it acted, and what remains with what held then.
# shellcheck disable=SC2016 # what is quoted is for jq
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/../lib.sh"

H=$BUILD/harness OUT=$SCRATCH/results
jq -n '{schema: 1, name: "star", driver: "sim", topology: {kind: "star", hosts: 4}, defaults: {host: {nic: {ack_every: 16}},
    switch: {buffer: "16MiB", reserve: "4KiB", xoff_alpha: 0.125, xon_offset: "3KiB"}, link: {rate: "100Gb/s", delay: "1us"}}}' >"$SCRATCH/star.json"
jq '.topology = {kind: "leaf_spine", hosts: 4, leaves: 2, spines: 2}' "$SCRATCH/star.json" >"$SCRATCH/leaves.json"
jq '.topology = {kind: "dumbbell", hosts: 4, uplink: "100Gb/s"}' "$SCRATCH/star.json" >"$SCRATCH/bell.json"
own() { # NAME JQ [OPTION...]: explains a run of the scenario that JQ changes
    local name=$1 change=$2
    shift 2
    jq -n "def flow(\$n; \$f; \$t): {name: \$n, from: \$f, to: \$t, priority: 3}; def leaves: .lab = \"leaves.json\" | .roles = [\"h[0-7]\", \"leaf[0-1]\", \"spine[0-1]\"];
        {schema: 1, name: \"$name\", title: \"t\", lab: \"star.json\", roles: [\"h[0-3]\", \"s0\"], phases: {warmup: \"2ms\", measure: \"5ms\"},
         settings: {pfc: [3]}, sample: {every: \"50us\"}} | $change" >"$SCRATCH/$name.json"
    "$H" run "$SCRATCH/$name.json" --out "$OUT" --no-report --quiet "$@" >"$SCRATCH/said" 2>&1
    "$H" explain --json "$OUT/$name/latest" >"$SCRATCH/own.json"
}
hosts() { # WHAT NAME CHECK: the same as hosts alone tell it
    "$H" explain --json --hosts-only "$OUT/$2/latest" >"$SCRATCH/own.json"
    said "$1" "$3"
}
# cost(KIND; CULPRIT; FLOW): what the cause took from the flow; 0: nothing, or it is not told
DEFS='def said: .causes | map("\(.kind) \(.culprit)"); def cost($k; $c; $f): [.causes[] | select(.kind == $k and .culprit == $c) | (.flows + .victims)[] | select(.flow == $f) | .cost] | add // 0;
    def about($is; $wanted; $by): $is - $wanted | fabs < $by; def of: .flows | map({key: .flow, value: .shares}) | from_entries;'
said() { check "$1" jq -es "$DEFS"' length == 1 and (.[0] | '"$2"')' "$SCRATCH/own.json"; }

# ---- pauses of a host beside more than its line carries
two='.flows = [flow("a"; "h0"; "h2"), flow("b"; "h1"; "h2")]'
own pauses "$two"' | .inject = [{flow: "a", do: "pause", nth: 100, every: 4000, count: 5, lasts: "30us", phase: "measure"}]'
said "a host that pauses its link for 3 % of the time is not charged with an incast of two" 'said[0] == "incast h2" and about(cost("incast"; "h2"; "a"); 0.48; 0.03) and cost("host-pauses"; "h2"; "a") < 0.06'
own storm "$two"' | .storms = [{role: "h2", priority: 3, start: "3ms", stop: "4ms"}]'
said "a storm for a fifth of the time has a fifth of it, and the incast half of the rest" 'about(cost("storm"; "h2"; "a"); 0.2; 0.04) and about(cost("incast"; "h2"; "a"); 0.4; 0.04)'
said "  with its own times" '.causes[] | select(.kind == "storm") | about(.from_ns; 1e6; 5e3) and about(.to_ns; 2e6; 5e3)'
own uplink 'leaves | .flows = [range(4) | flow("p\(.)"; "h\(.)"; "h\(. + 4)")] | .storms = [{role: "h5", priority: 3, start: "3ms", stop: "4ms"}]'
said "one whose pauses come to a full uplink: the uplink took most from all three" 'said == ["uplink leaf0 - spine0", "storm h5"] and ([.causes[0].flows[].cost] | length == 3 and min > 0.5)'
own both 'leaves | .settings.pfc = [3, 4] | .flows = [flow("a"; "h0"; "h4"), flow("b"; "h1"; "h4"), flow("c"; "h2"; "h5"), flow("d"; "h6"; "h5")] | .flows[2, 3].priority = 4 |
    .storms = [{role: "h5", priority: 4, start: "2ms", stop: "6ms"}]'
said "a storm for four fifths, and an incast to the same host in the rest" 'about(cost("storm"; "h5"; "c"); 0.8; 0.04) and about(cost("incast"; "h5"; "d"); 0.1; 0.03)'
own elsewhere '.flows = [flow("a"; "h0"; "h1"), flow("b"; "h2"; "h3"), flow("c"; "h0"; "h3")] | .storms = [{role: "h1", priority: 3, start: "3ms", stop: "5ms"}]'
said "a flow that a storm stops waits for nothing else meanwhile" 'about(cost("storm"; "h1"; "c"); 0.35; 0.02) and cost("incast"; "h3"; "c") == 0 and about(cost("incast"; "h3"; "b"); 0.33; 0.02)'
said "  and the storm's times are those of its pauses" '.causes[0] | .kind == "storm" and about(.from_ns; 1e6; 5e3) and about(.to_ns; 3e6; 5e3)'

# ---- a link that carries a fifth of its rate, and was down for 100 us for that before the measure phase
own slower 'leaves | .flows = [range(2) | flow("p\(.)"; "h\(.)"; "h\(. + 4)")] | .faults = [{link: ["leaf0", "spine0"], kind: "rate", rate: "20Gb/s"}]'
said "a slower link between switches is that, not the outage that its change was" 'said[0] == "slower-link leaf0 - spine0" and about(cost("slower-link"; "leaf0 - spine0"; "p1"); 0.8; 0.02) and cost("link-down"; "leaf0 - spine0"; "p1") < 0.02'
said "  and nothing is said to have gone by another link" '[.causes[].evidence[] | select(contains("what went there"))] == []'

# ---- two priorities of one host, of which the higher one filled the switch while it was paused
own priorities '.settings.pfc = [3, 4] | .flows = [flow("a"; "h0"; "h1"), flow("b"; "h0"; "h1") + {priority: 4}] | .storms = [{role: "h1", priority: 4, start: "3ms", stop: "3500us"}]'
said "a higher priority goes first: no line is slower, and the flow lost what it has less than half of its line" 'said[0] == "priorities s0:1" and (said | any(startswith("slower-link")) | not) and about(cost("priorities"; "s0:1"; "a"); 0.33; 0.03) and .causes[0].set == "settings_of.s0.ets={\"weights\": [12, 12, 12, 12, 13, 13, 13, 13]}"'
strict='.settings.pfc = [1, 2, 3] | .flows = [flow("a"; "h0"; "h3") + {priority: 1}, flow("b"; "h1"; "h3") + {priority: 2}, flow("c"; "h2"; "h3")] | .settings_of.s0.ets'
own strict "$strict"' = {weights: [0, 40, 60, 0], selection: ["strict", "ets", "ets", "strict"]}'
said "  with ETS a strict class does" 'said == ["incast h3"] and (.causes[0].evidence | any(test("those of this one 0 Mb/s: ETS serves strict classes first$")))'
own strict "$strict"' = {weights: [0, 40, 60, 0], selection: ["strict", "ets", "ets", "strict"]}' --set "$(jq -r '.causes[0].set' "$SCRATCH/own.json")"
said "    and weights for all, which are advised, help" '[of[].delivered] | max - min < 0.02'
own strict "$strict"' = {weights: [0, 0, 40, 60], prio_to_tc: {"2": 2, "3": 3}}'
said "    also one of a lower priority" '.causes[0].evidence | any(test("those of this one 0 Mb/s: ETS serves strict classes first$"))'
own strict "$strict"' = {weights: [0, 20, 30, 50]}'
said "    and none where all have weights" '(.causes[0].evidence | any(contains("ETS")) | not) and (.causes[0].help | contains("ETS") | not)'

# ---- losses of a switch whose PFC is on
own ignores "$two"' | .settings_of.h1.pfc = []'
said "a sender without PFC ignores pauses: it is named, not the headroom of the switch" 'said[0] == "not-lossless h1" and cost("not-lossless"; "h1"; "b") > 0.9 and (.causes[0].evidence | any(test("^it sent [1-9][0-9]* pauses to h1 [(]port1_tx_prio3_pause[)], which has no PFC on the priority")))'
set=$(jq -r '.causes[0].set' "$SCRATCH/own.json")
own obeys "$two"' | .settings_of.h1.pfc = []' --set "$set"
said "  and what is advised helps: $set" 'said == ["incast h2"]'
jq 'del(.topology) | .hosts = {"h[0-3]": {}} | .switches = {s0: {}} | .links = [{between: ["h1", "s0"], lossy_at: "s0"}, {between: ["h0", "s0"]}, {between: ["h[2-3]", "s0"]}]' "$SCRATCH/star.json" >"$SCRATCH/one-lossy.json"
own lossy "$two"' | .lab = "one-lossy.json"'
said "a port that sends no pauses is not lossless" 'any(.causes[]; .kind == "not-lossless" and .culprit == "priority 3 at s0:0" and .help == null) and (said | any(startswith("headroom")) | not)'
own spine 'leaves | .flows = [(range(3) | flow("i\(.)"; "h\(.)"; "h4")), (range(4) | flow("back\(.)"; "h\(. + 4)"; "h\(.)"))] | .settings_of.spine0.pfc = []'
said "a spine that does not obey, too" '(said | any(. == "not-lossless spine0")) and (said | any(startswith("headroom")) | not)'

# ---- what is advised helps, or is not advised
jq 'del(.topology) | .hosts = {"h[0-3]": {}} | .switches = {s0: {}} | .links = [{between: ["h1", "s0"], rate: "1Gb/s"}, {between: ["h0", "s0"]}, {between: ["h[2-3]", "s0"]}] |
    .defaults.switch = {buffer: "8MiB", reserve: "0B", xoff: "50KB", xon_offset: "10KB", headroom: "110KB"} | .defaults.link.delay = "5us"' "$SCRATCH/star.json" >"$SCRATCH/thin-lab.json"
narrow='.lab = "thin-lab.json" | .settings.mtu = 4200 | .phases = {warmup: "0s", measure: "1ms"} | .flows = [flow("a"; "h0"; "h1") + {message: "1MiB", depth: 8}]'
own narrow "$narrow"
said "a headroom that loses some frames is told of whatever that took, and that of its links is advised" '.causes | any(.kind == "headroom" and .culprit == "s0" and .set == "lab.defaults.switch.headroom=null")'
own narrow "$narrow" --set "$(jq -r '.causes[] | select(.kind == "headroom") | .set // "name=unset"' "$SCRATCH/own.json")"
check "  with which nothing is lost" jq -e '.hosts.s0.counters.buffer_discards.total == 0' "$OUT/narrow/latest/result.json"
spread='leaves | .flows = [range(4) | flow("p\(.)"; "h\(.)"; "h\(. + 4)") + {rate: "40Gb/s"}]'
own spread "$spread"
said "a full uplink beside one with room: adaptive routing is advised" 'said == ["uplink leaf0 - spine0"] and .causes[0].set == "lab.defaults.switch.routing=adaptive"'
own spread "$spread" --set "$(jq -r '.causes[0].set' "$SCRATCH/own.json")"
said "  and helps" 'said == []'
own spread "$spread"' | .flows[] |= (del(.rate) | .queue_pairs = 64)' --set lab.topology.uplink=40Gb/s
said "  but not where all uplinks are full" '(said | length > 0 and all(startswith("uplink leaf0"))) and all(.causes[]; .help == null)'

own acks '.flows = [flow("a"; "h0"; "h1"), flow("b"; "h2"; "h3")] | .storms = [{role: "h0", priority: 3, start: "3ms", stop: "4ms"}]'
said "the flow that a storming host sends, whose acknowledgements wait, is no victim that goes elsewhere" 'said == ["storm h0"] and .causes[0].victims == [] and [.causes[0].flows[].flow] == ["a"]'

# ---- a sender that is slow by itself, beside one that fills the line
own slow '.flows = [flow("a"; "h0"; "h1"), flow("b"; "h2"; "h1")]' --set 'lab.hosts.h0.nic={"messages": "10k/s"}'
said "one that could have its part of a full line and takes a tenth of that: its sender, not the others" 'said[0] == "sender h0" and cost("sender"; "h0"; "a") > 0.9 and cost("incast"; "h1"; "a") < 0.01'
own one "$two"' | .flows[0] += {message: "4KiB", depth: 1}'
said "one with a message in flight: what it would have beside an empty queue is that of the queue" 'said == ["sender h0", "incast h2"] and about(cost("sender"; "h0"; "a"); 0.92; 0.04) and about(cost("incast"; "h2"; "a"); 0.07; 0.04)'
hosts "  hosts alone do not tell both apart, which is said" one 'said == [] and of.a.unknown > 0.9'

# ---- what hosts tell
hosts "with what hosts count: a host that pauses its link for 3 % of the time, and an incast" pauses 'said[0] == "incast h2" and cost("incast"; "h2"; "a") > 0.4 and cost("host-pauses"; "h2"; "a") < 0.07'
hosts "  a storm and an incast at one host" storm 'about(cost("storm"; "h2"; "a"); 0.2; 0.04) and about(cost("incast"; "h2"; "a"); 0.4; 0.04)'
hosts "  a flow that is paused while another host does not storm" elsewhere 'cost("incast"; "h3"; "b") > 0.25 and about(cost("storm"; "h1"; "c"); 0.35; 0.02)'
own beside 'leaves | .flows = [flow("a"; "h0"; "h2"), flow("b"; "h1"; "h2"), flow("c"; "h4"; "h3")]' --set 'lab.hosts.h3={"pcie": {"generation": 3, "lanes": 8}, "memory": {"write": "30Gb/s"}}'
hosts "  a slow receiver to which no way leads that an incast's flows take: each has its own" beside '(said | sort) == ["incast h2", "slow-receiver h3"] and all(.causes[]; .victims == []) and about(cost("incast"; "h2"; "a"); 0.5; 0.03)'
own beside 'leaves | .flows = [flow("a"; "h0"; "h2"), flow("b"; "h1"; "h2"), flow("c"; "h4"; "h3")] | .storms = [{role: "h3", priority: 3, start: "3ms", stop: "5ms"}]'
hosts "  a storm" beside '(said | sort) == ["incast h2", "storm h3"] and all(.causes[]; .victims == [])'
slow=(--set 'lab.hosts.h5={"pcie": {"generation": 3, "lanes": 8}, "memory": {"write": "5Gb/s"}}')
full='.lab = "bell.json" | .roles = ["h[0-7]", "s[0-1]"] | .flows = [flow("a"; "h0"; "h4"), flow("b"; "h1"; "h5"), flow("c"; "h2"; "h6"), flow("local"; "h0"; "h3")] | .flows[] += {message: "64KiB"}'
own full "$full"' | .flows[].depth = 32' "${slow[@]}"
hosts "  a line between switches that is full though a slow receiver's packets pass there: the line, as all samples tell it" full 'said == ["slow-receiver h5", "uplink s0 - s1"] and .causes[0].victims == [] and cost("uplink"; "s0 - s1"; "c") > 0.4 and [.causes[1].victims[].flow] == ["local"]'
own full "$full"' | .flows[].depth = 128' "${slow[@]}"
hosts "  one that stands for it: all that pass there, and what stands behind them" full 'said == ["slow-receiver h5"] and [.causes[0].victims[].flow] == ["c", "a", "local"] and .causes[0].sureness == "sure"'

# ---- when a link was down
own twice 'leaves | .flows = [range(2) | flow("p\(.)"; "h\(.)"; "h\(. + 4)")] | .faults = [{link: ["leaf0", "spine0"], kind: "rate", rate: "20Gb/s", phase: "measure", start: "2ms", stop: "3ms"}]'
said "a link that went down twice: how often, beside the first time and the last" '.causes[] | select(.kind == "link-down") | .evidence[0] == "it went down 2 times in that"'
own silent 'leaves | .flows = [range(4) | flow("p\(.)"; "h\(.)"; "h\(. + 4)")] | .faults = [{link: ["leaf0", "spine0"], kind: "down", phase: "measure", start: "1ms", stop: "2ms"}]'
said "one over which nothing was sent since it was down: that is said" '.causes[] | select(.kind == "link-down") | .evidence[0] == "nothing was sent over it since: whether it is up again is not known"'
finish
