#!/bin/bash
# DCQCN's loop between two virtual ConnectX over a guest that forwards with a Linux bridge and RED: what RED marks is what the receiver
# answers and the sender handles, and two flows come to equal rates.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/e2e/guests/softlab.bash
. "$(dirname "$0")/softlab.bash"
softlab_require "$0" "$@"
H=$BUILD/harness
OUT=$SCRATCH/results

softlab_module "guests with a virtual ConnectX"
softlab_begin virtual-red-bridge

# shellcheck disable=SC2317 # called through check
holds() { [ -s "$2" ] && jq -e "$1" "$2"; }

check "a bridge gets frames as they are" test "$(softlab_ssh a cat /sys/module/virtual_connectx/parameters/enclose)" = N
# the cell with RED, and a second flow
jq '.sweep["settings_of.switch"] |= .[1:] | .flows += [.flows[0] + {name: "a-to-b-2"}]
    | (.expect, .published) |= map(select(.when == null or (.when | has("settings_of.switch") | not)))' \
    "$ROOT/scenarios/dcqcn-red-bridge.json" > "$SCRATCH/red.json"
check_exit 0 "the run passes" "$H" run "$SCRATCH/red.json" --lab "$ROOT/labs/virtual-red-bridge.json" --duration 15s --out "$OUT" --no-report
result=$(find "$OUT"/dcqcn-red-bridge/latest/ -name result.json | head -n 1)
check "it is complete" holds '.complete' "$result"
check "marks, CNPs sent and CNPs handled are as many, and there are some" holds \
    '[([.hosts[].counters | to_entries[] | select(.key | test("^qdisc_.*_marked$")).value.total] | add),
      (.hosts.b.counters | .np_ecn_marked_roce_packets.total, .np_cnp_sent.total), .hosts.a.counters.rp_cnp_handled.total]
     | (unique | length) == 1 and .[0] > 0' "$result"
check "only what is about Soft-RoCE is skipped" holds '[.expectations[] | select(.verdict == "skipped").name] | all(startswith("Soft-RoCE"))' "$result"
check "two flows get equal rates (Jain over 0.95)" holds \
    '[.flows[].bytes] | (add * add) / (length * (map(. * .) | add)) > 0.95' "$result"

# the guest that forwards has one processor
# shellcheck disable=SC2016 # the guest expands it
softlab_ssh sw 'ip link add br9 type bridge && for port in data0 data1; do ip link set $port master br9; done; host-facts --check; ip link del br9' > "$SCRATCH/facts"
check "host-facts: one processor serves both ports of a bridge" grep -qE '^warning +irq-affinity +br9: CPU 0 alone serves the interrupts of data' "$SCRATCH/facts"
grep irq-affinity "$SCRATCH/facts" | sed 's/^/# /'
finish
