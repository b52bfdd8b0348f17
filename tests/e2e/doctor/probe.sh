#!/bin/bash
# harness doctor --probe on simulated labs: which priority the traffic has, and whether an incast is held.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/../lib.sh"
H=$BUILD/harness
export TMPDIR=$SCRATCH/tmp
mkdir "$TMPDIR"
cd "$SCRATCH" || exit 1

check_exit 0 "a probe of a simulated pair" "$H" doctor --lab sim-geforce-pair --for pfc-bidir --probe
check_says "... says that it is simulated, and what was counted" '^ok +a +tx-class +simulated: priority 0: tx_prio0_bytes rose by [0-9.]+ kB, for [0-9.]+ kB of payload$' out
check_says "... at the receiver too" '^ok +b +rx-class +simulated: priority 0: rx_prio0_bytes rose' out
check_says "... and of both directions" '^ok +a->b +same-class +simulated: priority 0 at both ends, and on the way back$' out
check "... between two hosts there is no incast" test -z "$(grep incast out)"
check_exit 0 "an incast that PFC holds" "$H" doctor --lab sim-incast --for incast-pfc --probe --json
check "... was paused, and lost nothing" jq -e '[.[] | select(.check == "incast")] | length == 1 and (.[0] | .verdict == "ok" and .host == "h16" and (.reason | test("lost: none; paused: rx_prio3_pause of h0 rose by [0-9]+")))' out
check "... the receiver's answers have the priority" jq -e 'any(.[]; .check == "answers" and .verdict == "ok" and .host == "h16")' out
check_exit 0 "an incast that ECN holds" "$H" doctor --lab sim-incast --for incast-dcqcn --probe
check_says "... was marked" 'incast .*lost: none; .*marked: np_ecn_marked_roce_packets of h16 rose by' out
check_exit 3 "an incast that collapses though PFC is on" "$H" doctor --lab sim-incast --for headroom-sweep --probe
check_says "... says so" '^failure +h16 +incast .*lost: out_of_sequence of h16 rose by .*it collapses although PFC is on at the receiver$' out
check_says "... with what to do" '-> check that each hop pauses or marks this priority: PFC of the switch' out
check_exit 0 "a probe without a scenario" "$H" doctor --lab sim-leaf-spine --probe
check_says "... sends each way between hosts" '^ok +h31->h0 +same-class' out
check_says "... and warns of losses without PFC" '^warning +h1 +incast .*neither PFC nor ECN is known to be on' out
check_exit 0 "a value of the scenario can be changed" "$H" doctor --lab sim-geforce-pair --for pfc-bidir --set 'flows.*.priority=5' --set 'settings.pfc=[5]' --set 'settings.prio_to_buffer={"5": 1}' --set 'sweep=null' --set 'expect=null' --set 'published=null' --probe
check_says "... and is seen" 'tx-class .*priority 5: tx_prio5_bytes' out
check "nothing is left of them" test -z "$(find tmp -mindepth 1)"
check_exit 0 "results can be kept" "$H" doctor --lab sim-incast --for incast-pfc --probe --out kept --json
# shellcheck disable=SC2016 # a variable of jq
check "... and are named" jq -e --arg at "$(echo kept/probe-incast/*)" 'any(.[]; .check == "incast" and (.evidence | endswith("result.json in " + $at)))' out
check "... one of each run" test -s "$(echo kept/probe/*/result.json)" -a -s "$(echo kept/probe-incast/*/result.json)"

# ---- the ends of a traffic pattern
ends_of() { # PATTERN VERDICTS: those of PFC where h1 alone lacks it
    jq -n --argjson traffic "$1" '{schema: 1, name: "ends", roles: ["h[0-3]"], phases: {warmup: "0", measure: "1ms"}, settings: {pfc: [3]},
        settings_of: {h1: {pfc: []}}, traffic: [{name: "t", priority: 3} + $traffic]}' > ends.json
    "$H" doctor --lab sim-incast --for ends.json --json > out 2> err
    [[ $1 != *h1* ]] || check "... and their switch with the host that lacks it" jq -e '[.[] | select(.check == "pfc" and .host == "s0") | .reason] == ["PFC on priority 3 is off at h1 and on at s0: its pauses are ignored there"]' out
    check "doctor compares both ends of $1" test "$(jq -r '[.[] | select(.check == "pfc" and .host != "s0") | "\(.verdict) \(.host)"] | join(", ")' out)" = "$2"
}
ends_of '{"pattern": "incast", "from": ["h0", "h2", "h1"], "to": ["h3"], "size": "1kB"}' 'ok h0->h3, failure h1->h3'
ends_of '{"pattern": "poisson", "from": ["h1", "h2"], "to": ["h0", "h3"], "size": "1kB", "load": 0.5, "count": 9}' 'failure h1->h0, ok h2->h0'
ends_of '{"pattern": "all-to-all", "from": ["h0", "h1"], "size": "1kB"}' 'failure h0->h1, failure h1->h0'
ends_of '{"pattern": "ring-all-reduce", "from": ["h2", "h0", "h3", "h1"], "size": "1kB"}' 'ok h2->h0, failure h3->h1, failure h1->h2'
ends_of '{"pattern": "permutation", "from": ["h0", "h2", "h3"], "shift": 1, "size": "1kB"}' 'ok h0->h2'
jq 'del(.settings, .settings_of) | .expect = [{name: "pauses", check: "delta(h3.tx_prio3_pause) > 0"}]' ends.json > off.json
check_exit 3 "a pattern whose pauses are expected, without PFC" "$H" doctor --lab sim-incast --for off.json
check_says "... is named by a pair of its hosts" '^failure +h0->h2 +pfc +expectations count pauses, but PFC is off on priority 3' out

# ---- wrong use
check_exit 2 "--out without --probe" "$H" doctor --lab sim-incast --out kept
check_exit 2 "--set without --for" "$H" doctor --lab sim-incast --set 'flows.*.priority=3'
check_exit 2 "a path that is not in the scenario" "$H" doctor --lab sim-incast --for incast-pfc --probe --set 'flows.x.priority=3'
touch file
check_exit 3 "a folder that cannot be made" "$H" doctor --lab sim-incast --probe --out file
check_says "... is named" 'creating folder file: Not a directory' err
TMPDIR=$SCRATCH/none check_exit 3 "a temporary folder that is not there" "$H" doctor --lab sim-incast --probe
check_says "... is named" 'none' err
finish
