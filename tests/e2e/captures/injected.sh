#!/bin/bash
# Checkers of captures over simulated runs with injected faults: each is found by the checker of its kind, at the packet that tshark shows, and
# by no other; what the protocol recovers from is not a finding.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/../lib.sh"
H=$BUILD/harness
cd "$BUILD" || exit 2

# pfc-bidir in host memory, short; $result and $capture are its files.
simulate() { # NAME OPTION...
    "$H" run scenarios/pfc-bidir.json --quiet --no-report --out "$SCRATCH/$1" --set sweep=null --set expect=null --set published=null \
        --set phases.warmup=100us --set phases.measure=1ms --set phases.cooldown=100us --set 'capture={"limit": "200MB"}' \
        --set 'verify=["go-back-n", "cnp", "dcqcn", "pfc", "ecn", "icrc"]' "${@:2}" >"$SCRATCH/out" 2>&1
    result=$SCRATCH/$1/pfc-bidir/latest/result.json capture=$SCRATCH/$1/pfc-bidir/latest/capture.pcapng
    [ -s "$result" ] || nok "$1 runs" "$(cat "$SCRATCH/out")"
}
packet_of() { # CHECKER KIND: the first
    jq -r --arg check "$1" --arg kind "$2" '.verify[] | select(.check == $check) | .findings[] | select(.kind == $kind) | .packets[0].packet' "$result"
}
first() { # FILTER [PACKETS before it that match]
    tshark -r "$capture" -Y "$1" -T fields -e frame.number 2>/dev/null | sed -n "$((${2:-0} + 1))p"
}
others_found() { # CHECKER: how many of the others found something
    jq --arg check "$1" '[.verify[] | select(.check != $check and .verdict == "failed")] | length' "$result"
}
found() { # WHAT CHECKER KIND FILTER [SKIP]
    local packet
    packet=$(packet_of "$2" "$3")
    check "$1: found as \"$3\": packet $packet" test -n "$packet" -a "$packet" != null
    check "... by no other checker" test "$(others_found "$2")" = 0
    if [ -n "$(command -v tshark)" ]; then
        check "... at the packet that tshark shows" test "$packet" = "$(first "$4" "${5:-0}")"
    else
        skip "the packet is that of tshark" no-command tshark
    fi
}
sent='frame.packet_flags_direction == 2' received='frame.packet_flags_direction == 1'

# ---- a NIC that sends again otherwise than the specification has it is judged by its own rules
inject='[{"flow": "a-to-b", "do": "drop", "nth": 50, "count": 3}, {"flow": "a-to-b", "do": "drop", "nth": 57, "count": 2}, {"flow": "a-to-b", "do": "drop", "nth": 90, "every": 2, "count": 30}]'
for placement in false true; do
    simulate "selective-$placement" --set "inject=$inject" --set lab.defaults.host.nic.recovery=selective-repeat --set "lab.defaults.host.nic.out_of_order_placement=$placement" \
        --set lab.defaults.host.nic.reorder_wait=50us
    check "selective repeat breaks no rule of its own (placement in any order: $placement)" test "$(jq '[.verify[] | select(.verdict == "failed")] | length' "$result")" = 0
    check "... and what was lost is sent again, hardly anything else" test "$(jq '.flows["a-to-b"].retransmitted_packets - ([.injected[].injected] | add) | . >= 0 and . < 8' "$result")" = true
done
jq -n '{schema: 1, name: "star", driver: "sim", hosts: {a: {}, b: {}, c: {}}, switches: {s0: {}}, links: [{between: ["a", "s0"]}, {between: ["b", "s0"]}, {between: ["c", "s0"]}],
    defaults: {host: {nic: {model: "connectx-6", recovery: "selective-repeat", out_of_order_placement: false}}, switch: {buffer: "4MiB"}, link: {rate: "25Gb/s", length: "3m"}}}' >"$SCRATCH/star.json"
# reads of 1 MiB, 16 at a time, whose answers lie 16,000 PSNs behind the last request, over a link that is down for 200 us
jq -n '{schema: 1, name: "reads", lab: "star.json", roles: ["a", "b", "c", "s0"], phases: {warmup: "100us", measure: "3ms"}, settings: {mtu: 1500}, sample: {every: "100us"},
    flows: [{name: "f", from: "a", to: "c", op: "read", message: "1MiB", depth: 16}], faults: [{link: ["a", "s0"], kind: "down", start: "500us", stop: "700us"}],
    capture: {ports: ["a", "c"]}, verify: ["go-back-n"]}' >"$SCRATCH/reads.json"
"$H" run "$SCRATCH/reads.json" --set lab.defaults.host.nic.ack_timeout=200us --set lab.defaults.host.nic.model=ideal --set lab.defaults.host.nic.recovery=go-back-n --set lab.defaults.link.rate=100Gb/s --quiet --no-report --out "$SCRATCH/reads" >/dev/null 2>&1
check "large reads in flight are judged" test "$(jq -r '.verify[0] | .verdict, (.reason | test("1 time gone back"))' "$SCRATCH/reads/reads/latest/result.json" | paste -sd' ')" = "passed true"
check "... after a link was down they wait for one time-out, and ask for what is missing once" \
    jq -e '.hosts.a.counters | .local_ack_timeout_err.total == 1 and .implied_nak_seq_err.total == 0' "$SCRATCH/reads/reads/latest/result.json"
jq -n '{schema: 1, name: "burst", lab: "star.json", roles: ["a", "b", "c", "s0"], phases: {warmup: "1ms", measure: "5ms", cooldown: "1ms"}, settings: {mtu: 4200}, sample: {every: "100us"},
    flows: [{name: "f", from: "a", to: "b", message: "64KiB", depth: 4, priority: 3}, {name: "g", from: "c", to: "b", message: "64KiB", depth: 4, priority: 3}],
    inject: [{flow: "f", packet: "data", do: "drop", nth: 100, count: 40}], capture: {ports: ["a", "c", "b"]}, verify: ["go-back-n"]}' >"$SCRATCH/burst.json"
"$H" run "$SCRATCH/burst.json" --quiet --no-report --out "$SCRATCH/burst" >/dev/null 2>&1
check "... nor do 40 packets lost in a row, whose many NAKs also come after what they ask for was sent again" test "$(jq -c '.verify[] | [.verdict, (.reason | test(" 40 NAKs"))]' "$SCRATCH/burst/burst/latest/result.json")" = '["passed",true]'
simulate one-end --set "inject=$inject" --set lab.hosts.a.nic.recovery=selective-repeat
check_says "selective repeat at one end is said to have no effect" 'flow a-to-b: nic.recovery selective-repeat of a has no effect: b goes back N' "$SCRATCH/out"

# ---- a read whose request is lost is not answered: the responder asks for the request, or, if its NAK is lost too, a time-out sends it again
lost='{"flow": "a-to-b", "packet": "read-request", "do": "drop", "nth": 10}'
lost_request() { # NAME RULES: counters of b and a, and of a flow that ends
    simulate "$1" --set 'flows=[{"name": "a-to-b", "from": "a", "to": "b", "op": "read", "message": "8KiB", "size": "160KiB", "depth": 4}]' \
        --set lab.defaults.host.nic.ack_timeout=200us --set phases.warmup=0ms --set "inject=[$2]"
    jq -c '[.hosts.b.counters.out_of_sequence.delta, (.hosts.a.counters | .packet_seq_err.delta, .local_ack_timeout_err.delta), .flows["a-to-b"].completion_ns.count,
        ([.verify[] | select(.verdict == "failed")] | length)]' "$result"
}
check "a lost request of a read is asked for, and sent again" test "$(lost_request request "$lost")" = "[1,1,0,1,0]"
check "... after a time-out, if it is not asked for" test "$(lost_request request-nak "$lost, {\"flow\": \"a-to-b\", \"packet\": \"nak\", \"do\": \"drop\"}")" = "[1,0,1,1,0]"

# ---- marks that ACKs carry back: those of a read's answers have none, and come back by CNPs
simulate echo --set 'flows=[{"name": "a-to-b", "from": "a", "to": "b", "op": "read", "message": "64KiB", "depth": 4}]' --set settings.ecn=[0] --set lab.defaults.host.nic.congestion_on_ack=true \
    --set phases.warmup=0ms --set 'inject=[{"flow": "a-to-b", "do": "mark", "nth": 50, "every": 50}]'
check "marks of a read's answers slow its responder down, where ACKs carry marks" jq -e '.hosts.a.counters.np_cnp_sent.delta > 0 and .hosts.b.counters.rp_cnp_handled.delta > 0 and .flows["a-to-b"].decreases > 0
    and ([.verify[] | select(.verdict == "failed")] | length) == 0' "$result"

# ---- a NIC that asks again for what is lost twice
simulate naks --set 'inject=[{"flow": "a-to-b", "do": "drop", "nth": 50}, {"flow": "a-to-b", "do": "drop", "nth": 53, "count": 100}]' --set lab.defaults.host.nic.nak_again=30us
check "a NIC that asks again breaks no rule of its own" test "$(jq -r '.verify[0] | "\(.verdict) \(.reason | test("[1-9][0-9]* NAKs? that asked again"))"' "$result")" = "passed true"

# ---- what is found
simulate cnp --set 'inject=[{"flow": "a-to-b", "do": "cnp", "nth": 300}]'
found "a CNP that no mark asked for" cnp "CNP without a marked packet" "infiniband.bth.opcode == 129 && $sent && frame.interface_name == \"b:0\""
simulate pause --set 'inject=[{"flow": "a-to-b", "do": "pause", "lasts": "5us", "pause_priority": 5, "nth": 200}]'
found "a pause of a priority that is not lossless" pfc "pause of another priority" "macc.opcode == 0x0101 && $sent && frame.interface_name == \"b:0\""
simulate mark --set 'flows.*.traffic_class=0' --set 'inject=[{"flow": "a-to-b", "do": "mark", "nth": 41}]'
found "a mark of what is not ECN-capable" ecn "marked although not ECN-capable" "ip.dsfield.ecn == 3 && $received && frame.interface_name == \"b:0\""
simulate xon --set 'inject=[{"flow": "a-to-b", "do": "pause", "lasts": "20us", "nth": 200}, {"link": ["b", "a"], "packet": "pfc", "do": "delay", "delay": "2ms", "nth": 2}]' \
    --set phases.measure=4ms
found "an XON that comes late" pfc "pause ran out" "macc.opcode == 0x0101 && $received && frame.interface_name == \"a:0\"" 1
simulate xoff --set 'flows.*.memory=gpu' --set 'inject=[{"flow": "a-to-b", "do": "stall", "lasts": "300us", "nth": 100},
    {"link": ["b", "a"], "packet": "pfc", "do": "drop", "count": 100}]'
check "an XOFF that is lost overflows the headroom" test -n "$(packet_of pfc "more than the headroom")"

# ---- what is no fault of any end
recovers() { # WHAT INJECT [OPTION...]
    simulate recovers --set "inject=$2" "${@:3}"
    check "$1: injected, and nothing is found" jq -e '(.injected | all(.injected > 0)) and all(.verify[]; .verdict != "failed") and (.verify[] | select(.check == "go-back-n") | .verdict == "passed")' "$result"
}
recovers "lost data" '[{"flow": "a-to-b", "do": "drop", "nth": 20, "every": 97}]'
recovers "damaged data" '[{"flow": "a-to-b", "do": "corrupt", "probability": 0.02}]'
recovers "data that comes twice" '[{"flow": "a-to-b", "do": "duplicate", "every": 40}]'
recovers "late data" '[{"flow": "a-to-b", "do": "delay", "delay": "30us", "every": 90}]'
recovers "data in another order" '[{"flow": "a-to-b", "do": "reorder", "behind": 5, "every": 80}]'
recovers "lost ACKs" '[{"flow": "a-to-b", "packet": "ack", "do": "drop", "every": 3}]'
recovers "lost NAKs, too" '[{"flow": "a-to-b", "do": "drop", "nth": 100}, {"flow": "a-to-b", "packet": "nak", "do": "drop"}]' --set 'lab.hosts.*.nic.ack_timeout=100us'
recovers "a slow receiver" '[{"flow": "a-to-b", "do": "stall", "lasts": "3us", "every": 1, "count": 100}]'
recovers "lost answers of reads" '[{"flow": "a-to-b", "do": "drop", "nth": 20, "every": 97}]' --set 'flows.*.op=read' --set 'flows.*.message=32KiB' --set 'flows.*.depth=8'
recovers "a receiver that is not ready" '[{"flow": "a-to-b", "do": "rnr", "nth": 33, "every": 64}]' --set 'flows.*.op=send' --set lab.defaults.host.nic.rnr_timer=100us
finish
