#!/bin/bash
# Faults of single frames (`inject`): a capture shows which frame was met, the result how many; the bytes do not depend on threads;
# rules that cannot hold are refused.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/../lib.sh"
H=$BUILD/harness
cd "$ROOT" || exit 2

simulate() { # FOLDER SCENARIO OPTION...: without its sweep; $result and $capture are its files
    local folder=$SCRATCH/$1
    "$H" run "scenarios/$2.json" --quiet --no-report --out "$folder" --set sweep=null --set expect=null --set published=null \
        --set phases.warmup=100us --set phases.measure=1ms --set phases.cooldown=100us "${@:3}" >"$SCRATCH/out" 2>&1
    [ $? = 4 ] || nok "$2 runs" "$(cat "$SCRATCH/out")" # nothing judges it
    result=$folder/$2/latest/result.json capture=$folder/$2/latest/capture.pcapng
}

# ---- what is refused
refused() { # INJECT PATTERN
    check_exit 2 "refused: $1" "$H" run -n scenarios/pfc-bidir.json --set "inject=[$1]"
    check_says "and why: $1" "$2" "$SCRATCH/err"
}
refused '{"do": "drop"}' 'inject\[0\]: it has no place: give "flow", or "link"'
refused '{"flow": "a-to-b", "link": ["a", "b"], "do": "drop"}' 'inject\[0\].link: .* give one of "flow" and "link"'
refused '{"flow": "a-to-c", "do": "drop"}' 'inject\[0\].flow: there is no flow "a-to-c"'
refused '{"link": ["a", "c"], "do": "drop"}' 'inject\[0\].link: lab sim-geforce-pair has no node "c"'
refused '{"link": ["a"], "do": "drop"}' 'inject\[0\].link: 1 names: expected the two ends'
refused '{"flow": "a-to-b", "packet": "pfc", "do": "drop"}' 'inject\[0\].packet: PFC frames belong to a link'
refused '{"flow": "a-to-b", "packet": "ack", "do": "mark"}' 'inject\[0\].do: only data packets are marked'
refused '{"flow": "a-to-b", "do": "drop", "nth": 0}' 'inject\[0\].nth: 0 is out of range'
refused '{"flow": "a-to-b", "do": "drop", "nth": 2, "probability": 0.1}' 'inject\[0\].probability: .* give "probability", or "nth"'
refused '{"flow": "a-to-b", "do": "drop", "probability": 2}' 'inject\[0\].probability: 2 is out of range'
refused '{"flow": "a-to-b", "do": "delay"}' 'inject\[0\].delay is missing'
refused '{"flow": "a-to-b", "do": "drop", "delay": "1us"}' 'inject\[0\].delay belongs to "delay" and "duplicate": found to "drop"'
refused '{"flow": "a-to-b", "do": "drop", "start": "2ms", "stop": "1ms"}' 'inject\[0\].stop: the rule would end before it starts, at 2'
refused '{"flow": "a-to-b", "do": "reorder"}' 'inject\[0\].behind is missing: to "reorder" needs it'
refused '{"flow": "a-to-b", "do": "drop", "behind": 2}' 'inject\[0\].behind belongs to "reorder": found to "drop"'
refused '{"flow": "a-to-b", "do": "reorder", "behind": 2000}' 'inject\[0\].behind: 2000 is out of range'
refused '{"flow": "a-to-b", "do": "pause"}' 'inject\[0\].lasts is missing: to "pause" needs it'
refused '{"flow": "a-to-b", "do": "stall"}' 'inject\[0\].lasts is missing: to "stall" needs it'
refused '{"flow": "a-to-b", "do": "cnp", "lasts": "1us"}' 'inject\[0\].lasts belongs to "pause" and "stall": found to "cnp"'
refused '{"flow": "a-to-b", "do": "mark", "pause_priority": 3}' 'inject\[0\].pause_priority belongs to "pause": found to "mark"'
refused '{"flow": "a-to-b", "packet": "ack", "do": "cnp"}' 'inject\[0\].do: hosts "cnp" for data packets only: found the packets "ack"'
refused '{"link": ["b", "a"], "packet": "pfc", "do": "stall", "lasts": "1us"}' 'inject\[0\].do: hosts "stall" for data packets only: found the packets "pfc"'
refused '{"flow": "a-to-b", "do": "rnr"}' 'injection 0: only sends need a receive at their receiver'
refused '{"flow": "a-to-b", "packet": "ack", "do": "rnr"}' 'inject\[0\].do: hosts "rnr" for data packets only: found the packets "ack"'
refused '{"flow": "a-to-b", "do": "drop", "priority": 8}' 'inject\[0\].priority: 8 is out of range'
refused '{"link": ["h[0-1]", "h[2-4]"], "do": "drop"}' 'inject\[0\]: '
refused '{"name": "one", "link": ["h[0-1]", "s0"], "do": "drop"}' 'inject\[0\]: '
check_exit 2 "refused: a switch that pauses" "$H" run -n scenarios/incast-dcqcn.json --set 'inject=[{"link": ["h0", "s0"], "do": "pause", "lasts": "1us"}]'
check_says "and why: a switch that pauses" 'inject\[0\].do: "pause" is for frames that come to a host: found s0 as the second end' "$SCRATCH/err"
refused '{"flow": "a-to-b", "do": "burn"}' 'inject\[0\].do: "burn" is unknown'
real() { # LAB INJECT PATTERN
    check_exit 2 "refused of $1: $2" "$H" run -n scenarios/pfc-bidir.json --lab "labs/$1.json" --set "inject=[$2]"
    check_says "and why: of $1, $2" "$3" "$SCRATCH/err"
}
real geforce-pair '{"flow": "a-to-b", "do": "drop"}' 'inject\[0\]: nothing between hosts a and b of lab geforce-pair can do it'
real virtual-pair '{"flow": "a-to-c", "do": "drop"}' 'inject\[0\].flow: there is no flow "a-to-c"'
real virtual-pair '{"link": ["a", "c"], "do": "drop"}' 'inject\[0\].link: lab virtual-pair has no link between hosts "a" and "c"'
real virtual-pair '{"flow": "a-to-b", "do": "drop", "probability": 0.5}' 'inject\[0\].probability: a virtual ConnectX does not draw frames'
real virtual-pair '{"flow": "a-to-b", "do": "reorder", "behind": 2}' 'inject\[0\].do: "reorder" is simulated only: a virtual ConnectX drops'
real virtual-pair '{"flow": "a-to-b", "do": "drop", "priority": 3}' 'inject\[0\].priority: frames of a priority are simulated only'
real virtual-pair '{"flow": "a-to-b", "do": "drop", "start": "1ms"}' 'inject\[0\]: a virtual ConnectX knows no times of a run'
real virtual-pair '{"flow": "a-to-b", "do": "drop", "nth": 2000000000}' 'inject\[0\]: a virtual ConnectX counts to 1000000000: found 2000000000'
real virtual-pair '{"flow": "a-to-b", "do": "delay", "delay": "20us"}' 'inject\[0\].delay: .* by whole milliseconds: found 20000 ns'
real virtual-pair '{"flow": "a-to-b", "do": "duplicate", "delay": "1ms"}' 'inject\[0\].delay: a virtual ConnectX sends a copy right behind the frame'
check_exit 0 "what a virtual ConnectX can do is planned" "$H" run -n scenarios/pfc-bidir.json --lab labs/virtual-pair.json \
    --set 'inject=[{"flow": "a-to-b", "do": "drop", "nth": 3}, {"flow": "a-to-b", "packet": "ack", "do": "delay", "delay": "2ms"}, {"link": ["b", "a"], "packet": "pfc", "do": "drop"}]'
check_exit 0 "... and what a bridge can do between NICs that implement RoCE" "$H" run -n scenarios/dcqcn-red-bridge.json --lab labs/geforce-bridge.json \
    --set 'inject=[{"flow": "a-to-b", "do": "drop", "nth": 3}, {"link": ["switch", "b"], "do": "duplicate", "probability": 0.1}]'
check_exit 0 "... and a receiver with Soft-RoCE" "$H" run -n scenarios/pfc-bidir.json --lab labs/soft-pair.json --set 'inject=[{"flow": "a-to-b", "do": "corrupt", "nth": 3}]'

jq '.inject = [{"flow": "a-to-b", "do": "drop", "start": "1000s"}]' scenarios/pfc-bidir.json >"$SCRATCH/late.json"
check_exit 2 "a rule after the end of the run is refused" "$H" check "$SCRATCH/late.json" --lab labs/sim-geforce-pair.json
check_says "and why: after the end" 'inject\[0\].start: 1000s of the run is not before the end of the run, at 11500ms' "$SCRATCH/err"

# ---- what the result says
# shellcheck disable=SC2317 # called by check
of_rule() { jq -e --arg name "$1" ".injected[] | select(.name == \$name) | $2" "$result"; }
simulate met pfc-bidir --set 'inject=[{"name": "third", "flow": "a-to-b", "do": "duplicate", "nth": 3}, {"link": ["b", "a"], "packet": "nak", "do": "drop"}]'
check "a rule says where it looked, and how many frames it met" \
    of_rule third '.at == "flow a-to-b" and .packet == "data" and .do == "duplicate" and .seen > 100 and .injected == 1'
check "a rule without a name has its place" of_rule 'inject[1]' '.at == "link from b to a" and .injected == 0 and .seen == 0'
check "a rule that met nothing is a warning, others are not" \
    jq -e '[.warnings[] | select(test("met nothing"))] == ["inject[1] met nothing: of 0 frames (nak, link from b to a) it was to act on none"]' "$result"
check "the receiver got a copy" jq -e '.hosts.b.counters.duplicate_request.total == 1' "$result"

# ---- many flows and links at a time, as ranges of names; frames of one priority
simulate ranges incast-dcqcn --set 'inject=[{"name": "lost-{}", "flow": "incast/[0-3]", "do": "drop", "nth": 5}, {"link": ["h[4-5]", "s0"], "do": "drop", "priority": 3},
        {"link": ["h4", "s0"], "do": "drop", "priority": 4}]'
check "a range of flows is a rule for each" jq -e '[.injected[:4][] | .name, .at, .injected] == ([range(4)] | map("lost-\(.)", "flow incast/\(.)", 1))' "$result"
check "a range of links, too" jq -e '[.injected[4:6][] | .at, .injected] == ["link from h4 to s0", 1, "link from h5 to s0", 1]' "$result"
check "frames of another priority are not the rule's" jq -e '.injected[6] | .seen == 0 and .injected == 0' "$result"

# ---- a slow receiver: its memory takes 3 us more for each packet, for 500 us
simulate fast pfc-bidir
fast=$(jq '[.flows[] | .messages] | add' "$result")
simulate slow pfc-bidir --set 'inject=[{"flow": "a-to-b", "do": "stall", "lasts": "3us", "start": "300us", "stop": "800us", "every": 1}]'
check "a slow receiver pauses its peer" jq -e '.injected[0].injected > 50 and .hosts.b.counters.tx_prio0_pause.total > 5 and .hosts.a.counters.tx_prio0_pause.total == 0' "$result"
# shellcheck disable=SC2016 # jq has this variable
check "... and takes less: $(jq '[.flows[] | .messages] | add' "$result") of $fast messages" jq -e --argjson fast "$fast" '([.flows[] | .messages] | add) < $fast' "$result"

# ---- the same on all processors; and a rule that met nothing changes nothing
rules='[{"flow": "incast/0", "do": "corrupt", "probability": 0.05}, {"link": ["h3", "s0"], "do": "delay", "delay": "3us", "every": 40},
        {"link": ["s0", "h5"], "packet": "pfc", "do": "drop", "every": 2}, {"flow": "incast/7", "packet": "cnp", "do": "drop", "nth": 2},
        {"flow": "incast/1", "do": "reorder", "behind": 4, "every": 20}, {"flow": "incast/2", "do": "cnp", "every": 9},
        {"flow": "incast/3", "do": "pause", "lasts": "2us", "every": 25}, {"flow": "incast/4", "do": "stall", "lasts": "1us", "every": 3}]'
for threads in 1 2; do
    simulate "threads$threads" incast-dcqcn --threads "$threads" --set "inject=$rules" --set 'capture={}'
    sha256sum <"$capture" >"$SCRATCH/sum$threads"
    jq -S 'del(.files, .simulator, .started, .finished)' "$result" >"$SCRATCH/plain$threads"
done
check "two threads capture the same bytes" cmp "$SCRATCH/sum1" "$SCRATCH/sum2"
check "two threads have the same result" cmp "$SCRATCH/plain1" "$SCRATCH/plain2"
check "every rule met frames" jq -e '.injected | length == 8 and all(.injected > 0)' "$result"
flows() { jq -S '.flows' "$result"; }
simulate none incast-dcqcn
flows >"$SCRATCH/flows0"
simulate idle incast-dcqcn --set 'inject=[{"flow": "incast/0", "do": "drop", "nth": 1000000}]'
check "a rule that meets nothing changes no flow" test "$(flows)" = "$(cat "$SCRATCH/flows0")"

if [ -z "$(command -v tshark)" ]; then
    skip "tshark reads what was injected" no-command tshark
    finish
fi

# ---- what tshark reads
sent='frame.packet_flags_direction == 2' received='frame.packet_flags_direction == 1'
numbers() { # FILTER: PSNs
    tshark -r "$capture" -Y "$1" -T fields -e infiniband.bth.psn 2>/dev/null
}
data='infiniband.bth.opcode < 13'
# Frames stay in their order on a link: the first one that was sent and not received is the one that is missing.
missing() { # FILTER FROM TO: its number among those that were sent, and its PSN
    numbers "$1 && $sent && frame.interface_name matches \"^$2\"" >"$SCRATCH/sent"
    numbers "$1 && $received && frame.interface_name matches \"^$3\"" >"$SCRATCH/received"
    paste -d ' ' "$SCRATCH/sent" "$SCRATCH/received" | awk '$1 != $2 { print NR, $1; exit }'
}
for action in drop corrupt; do
    simulate "$action" pfc-bidir --set "inject=[{\"flow\": \"a-to-b\", \"do\": \"$action\", \"nth\": 37}]" --set 'capture={"flows": ["a-to-b"]}'
    read -r place psn <<<"$(missing "$data" a: b:)"
    check "$action: the packet that is missing is the 37th" test "$place" = 37 -a -n "$psn"
    check "$action: one NAK asks for it" test "$(numbers "infiniband.aeth.syndrome.opcode == 3 && $received" | xargs)" = "$psn"
    check "$action: it is sent again, and received" test "$(grep -cx "$psn" "$SCRATCH/sent") $(grep -cx "$psn" "$SCRATCH/received")" = "2 1"
    check "$action: out_of_sequence" jq -e '.hosts.b.counters.out_of_sequence.total == 1' "$result"
done
simulate mark pfc-bidir --set 'inject=[{"flow": "a-to-b", "do": "mark", "nth": 5, "every": 100, "count": 3}]' --set 'capture={"ports": ["b"]}'
marked=$(tshark -r "$capture" -Y "$data && $received" -T fields -e ip.dsfield.ecn 2>/dev/null | awk '$1 == 3 { print NR }' | xargs)
check "mark: packets 5, 105 and 205 have CE, no others: $marked" test "$marked" = "5 105 205"
finish
