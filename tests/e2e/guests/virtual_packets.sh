#!/bin/bash
# Packets of guests with virtual ConnectX: captured below the NICs, judged, lost on request; and beside those of the simulator, where the same
# scenario sends the same. docs/captures.md names what differs.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/e2e/guests/softlab.bash
. "$(dirname "$0")/softlab.bash"
softlab_require "$0" "$@"
# shellcheck source=tests/e2e/guests/simulated.bash
. "$(dirname "$0")/simulated.bash"
H=$BUILD/harness
# shellcheck disable=SC2034 # simulated.bash uses it
SCALE=5000 # of labs/virtual-pair.json: 25 Gb/s over 5 Mb/s
FAULT=/sys/kernel/debug/virtual-connectx/0/fault

softlab_module "guests with a virtual ConnectX"
softlab_begin virtual-pair

# Eight messages of four packets each, from a to b.
cat > "$SCRATCH/few.json" << 'END'
{ "schema": 1, "name": "few", "roles": ["a", "b"], "phases": { "warmup": "0", "measure": "4s", "cooldown": "0" }, "settings": { "mtu": 4200 },
  "flows": [{ "name": "few", "from": "a", "to": "b", "message": "16KiB", "depth": 1, "size": "128KiB" }],
  "capture": { "snap": "64KiB", "limit": "4MB" }, "verify": ["go-back-n", "ecn", "icrc"] }
END
jq '.scaled = {"flows.*.depth": 4}' "$ROOT/labs/virtual-pair.json" > "$SCRATCH/virtual.json"
simulated_lab
LOSS='inject=[{"name": "loss", "flow": "few", "do": "drop", "nth": 6}]'
few() { # FOLDER LAB OPTION...
    RESULT=$SCRATCH/$1/few/latest
    "$H" run "$SCRATCH/few.json" --lab "$SCRATCH/$2.json" --out "$SCRATCH/$1" --no-report --yes "${@:3}" > "$SCRATCH/out" 2> "$SCRATCH/err"
}
# shellcheck disable=SC2317 # called through check
result() { jq -e "$1" "$RESULT/result.json"; }

few plain-simulated simulated --duration 1ms
few plain-virtual virtual
check "on guests a run with a capture is complete, and passes" result '.complete and .verdict == "passed"'
check "... each checker has looked at packets" result '[.verify[] | [.check, .verdict, .count]] == [["go-back-n", "passed", 0], ["ecn", "passed", 0], ["icrc", "passed", 0]]'
check "... each port has what the other has; nothing was lost; the clocks are known" result '.capture | .ports | length == 2 and .[0].port == "a:0" and .[1].port == "b:0"
    and all(.[]; .interface == "data0" and .drops == 0 and (has("lacks") | not) and .clock.error_ns > 0 and .frames >= 33) and .[0].frames == .[1].frames'
few loss-simulated simulated --duration 1ms --set "$LOSS"
few loss-virtual virtual --set "$LOSS"
check "the NIC says how many frames a rule saw, and met" result '.injected == [{name: "loss", at: "flow few", packet: "data", do: "drop", seen: .injected[0].seen, injected: 1}] and .injected[0].seen >= 33'
for host in a b; do check "... it has no fault any more: $host" softlab_ssh $host "[ ! -e /run/harness-virtual-faults ] && [ -z \"\$(cat $FAULT)\" ]" < /dev/null; done

if [ -z "$(command -v tshark)" ]; then
    skip "tshark reads what guests captured" no-command tshark
else
    sent_by_a='frame.interface_name == "a:0" && frame.packet_flags_direction == 2 && infiniband'
    answers='frame.interface_name == "a:0" && frame.packet_flags_direction == 1 && infiniband'
    fields() { # NAME FILTER FIELD...
        local name=$1 filter=$2 options=() field
        shift 2
        for field; do options+=(-e "$field"); done
        tshark -r "$SCRATCH/$name/few/latest/capture.pcapng" -Y "$filter" -T fields "${options[@]}" 2> /dev/null
    }
    first_psn() { fields "$1" "$sent_by_a" infiniband.bth.psn | head -n 1; }
    # OPCODE PSN, from the first PSN
    requests() { fields "$1" "$sent_by_a" infiniband.bth.opcode infiniband.bth.psn | awk 'NR == 1 { first = $2 } { print $1, ($2 - first + 2 ^ 24) % 2 ^ 24 }'; }
    naks() { fields "$1" "$answers && infiniband.aeth.syndrome.opcode == 3" infiniband.bth.psn | awk -v first="$(first_psn "$1")" '{ print ($1 - first + 2 ^ 24) % 2 ^ 24 }'; }
    acked() { fields "$1" "$answers && infiniband.aeth.syndrome.opcode == 0" infiniband.bth.psn infiniband.aeth.msn | tail -n 1 | awk -v first="$(first_psn "$1")" '{ print ($1 - first + 2 ^ 24) % 2 ^ 24, $2 }'; }
    for name in plain-simulated plain-virtual loss-simulated loss-virtual; do
        requests $name > "$SCRATCH/$name.requests"
        check "$name: tshark finds nothing malformed" test -z "$(fields $name '_ws.malformed || _ws.expert.severity == error' frame.number)"
        check "... all is acknowledged at last, eight messages" test "$(acked $name)" = "31 8"
        # a request has one opcode, also when it is sent again
        sort -n -k 2 -u "$SCRATCH/$name.requests" > "$SCRATCH/$name.opcodes"
        check "... the opcodes are those of messages of four packets" cmp "$SCRATCH/$name.opcodes" <(for psn in $(seq 0 31); do case $((psn % 4)) in 0) echo 6 ;; 3) echo 8 ;; *) echo 7 ;; esac | sed "s/$/ $psn/"; done)
    done
    check "without a loss both send the same packets in the same order" cmp "$SCRATCH/plain-simulated.requests" "$SCRATCH/plain-virtual.requests"
    for name in plain-simulated plain-virtual; do check "$name: no NAK" test -z "$(naks $name)"; done
    # After a loss: a NAK of the lost PSN, once; the sender goes back to it, and sends all from there once more. How many packets were on their way
    # until then is the timing of the NAK.
    # shellcheck disable=SC2016 # awk's
    back='{ if (NR > 1 && $2 < last) { print "back to", $2; tail = "" } tail = tail " " $1 ":" $2; last = $2 } END { print tail }'
    for name in loss-simulated loss-virtual; do
        check "$name: a NAK of the lost packet, once" test "$(naks $name)" = 5
        awk "$back" "$SCRATCH/$name.requests" > "$SCRATCH/$name.back"
    done
    check "both go back to it, and send the same from there on" cmp "$SCRATCH/loss-simulated.back" "$SCRATCH/loss-virtual.back"
    for name in simulated virtual; do
        echo "# $name: $(fields plain-$name "$answers && infiniband.aeth.syndrome.opcode == 0" frame.number | wc -l) ACKs without a loss; with one $(awk '$2 < last { exit } { last = $2 } END { print last - 5 }' "$SCRATCH/loss-$name.requests") packets behind the lost one before the sender went back"
    done
    # a NIC that loses a packet skips it on the wire, a link that loses one does not
    number=$(fields loss-virtual "$sent_by_a && infiniband.bth.psn == $((($(first_psn loss-virtual) + 6) % 16777216))" frame.number | head -n 1)
    check "go-back-n finds the loss at the packet behind it" result ".verify[0] | .verdict == \"failed\" and .count == 1 and (.findings[0] | .kind == \"skipped\" and .packets[0].packet == $number)"
fi

# ---- other faults, each found by its checker
few faults virtual --set 'inject=[{"flow": "few", "do": "mark", "nth": 3}, {"flow": "few", "do": "corrupt", "nth": 9, "every": 8, "count": 2}, {"flow": "few", "packet": "ack", "do": "drop"}]'
check "marks and damages are found, and a lost ACK is no fault of anyone" result '[.verify[] | [.check, .verdict]] == [["go-back-n", "passed"], ["ecn", "failed"], ["icrc", "failed"]]'
check "... as often as the NIC says" result '[.injected[].injected] == [1, 2, 1] and (.verify[1].findings[0] | .kind == "marked by its sender" and .count == 1)'
check "... damage is seen at both ends" result '.verify[2].count == 4'

# ---- limits and ends
few limit virtual --set 'capture={"limit": "4KB", "phase": "measure", "snap": "80B"}'
check "a limit is not exceeded" test "$(stat -Lc %s "$RESULT/capture.pcapng")" -le 4000
check "... and said" result '.complete and .capture.left_out_from_ns > 0 and all(.verify[]; .reason | test("the capture ends at [0-9]{1,4}\\.[0-9]+ ms, where it reached its limit"))'
# shellcheck disable=SC2016,SC2317 # the guest expands it; called through check
gone() { softlab_ssh "$1" 'for tries in $(seq 100); do pidof tcpdump > /dev/null || exit 0; sleep 0.1; done; exit 1' < /dev/null; }
long() { # FOLDER SIGNAL: ended during its measure phase
    RESULT=$SCRATCH/$1/few/latest
    "$H" run "$SCRATCH/few.json" --lab "$SCRATCH/virtual.json" --out "$SCRATCH/$1" --no-report --yes --duration 60s --set 'flows.*.size=null' --set 'inject=[{"flow": "few", "do": "duplicate", "every": 10}]' > "$SCRATCH/out" 2>&1 &
    local run=$!
    for _ in $(seq 900); do
        [ -z "$(find "$SCRATCH/$1" -name run.log -exec grep -l 'phase measure' {} + 2> /dev/null)" ] || break
        sleep 0.1
    done
    sleep 2
    kill "-$2" $run
    wait $run 2> /dev/null
}
long interrupted INT
check "Ctrl-C: what was captured is there" result '(.complete | not) and .capture.frames > 10 and all(.capture.ports[]; .drops == 0)'
check "... what the faults met is known, and they are ended" result '.injected[0].injected > 0'
for host in a b; do check "... nothing is left behind: $host" eval "gone $host && softlab_ssh $host '[ ! -e /run/harness-virtual-faults ] && [ -z \"\$(cat $FAULT)\" ]' < /dev/null"; done
long killed KILL
for host in a b; do check "kill -9: the capturer ends: $host" gone $host; done
check "... the fault is still there" softlab_ssh a "grep -q '^duplicate sent data' $FAULT" < /dev/null
check "... nothing is left in the result's folder" test -z "$(find "$SCRATCH/killed" -name '.capture*')"
check_exit 0 "harness restore" "$H" restore --lab "$SCRATCH/virtual.json"
check "... says that it ended the fault" grep -q '^a: the faults of its virtual ConnectX are ended$' "$SCRATCH/out"
check "... and has" softlab_ssh a "[ ! -e /run/harness-virtual-faults ] && [ -z \"\$(cat $FAULT)\" ]" < /dev/null
finish
