#!/bin/bash
# DCQCN's loop between two virtual ConnectX over a guest whose Linux bridge joins two more, with RoCE off, without and with RED: the ring loses
# nothing, what RED marks is what the receiver answers and the sender handles, and two flows come to equal rates.
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

# a second flow, in both cells
jq '.flows += [.flows[0] + {name: "a-to-b-2"}]' "$ROOT/scenarios/dcqcn-red-bridge.json" > "$SCRATCH/red.json"
check_exit 0 "the run passes" "$H" run "$SCRATCH/red.json" --lab "$ROOT/labs/virtual-red-bridge.json" --duration 15s --out "$OUT" --no-report
ring=$OUT/dcqcn-red-bridge/latest/01/result.json
result=$OUT/dcqcn-red-bridge/latest/02/result.json
check "without RED it is complete" holds '.complete' "$ring"
check "... the ring of the bridge loses nothing: the counters of its NICs say so" holds \
    '[.expectations[] | select(.name | startswith("a ring of")).verdict] == ["passed"] and .hosts.switch.counters.rx_out_of_buffer.total == 0' "$ring"
check "... RoCE is off at the ports meanwhile" holds '.switch.read_back | .roce0.roce == false and .roce1.roce == false' "${ring%result.json}settings.json"
check "with RED it is complete" holds '.complete' "$result"
check "marks, CNPs sent and CNPs handled are as many, and there are some" holds \
    '[([.hosts[].counters | to_entries[] | select(.key | test("^qdisc_.*_marked$")).value.total] | add),
      (.hosts.b.counters | .np_ecn_marked_roce_packets.total, .np_cnp_sent.total), .hosts.a.counters.rp_cnp_handled.total]
     | (unique | length) == 1 and .[0] > 0' "$result"
check "only what is about Soft-RoCE, or the other cell, is skipped" holds '[.expectations[] | select(.verdict == "skipped").name] | all(test("^(Soft-RoCE|a ring of)"))' "$result"
check "two flows get equal rates (Jain over 0.95)" holds \
    '[.flows[].bytes] | (add * add) / (length * (map(. * .) | add)) > 0.95' "$result"

# shellcheck disable=SC2016 # the guest expands it
check "afterwards the ports have RoCE again, their names and no bridge" softlab_ssh sw 'for i in 0 1; do
    devlink dev param show pci/0001:00:00.$i name enable_roce | grep -q "value true" && ! [ -e /sys/class/net/roce$i/master ] || exit 1; done'

# the guest that forwards has one processor
# shellcheck disable=SC2016 # the guest expands it
softlab_ssh sw 'ip link add br9 type bridge && for port in roce0 roce1; do ip link set $port master br9; done; host-facts --check; ip link del br9' > "$SCRATCH/facts"
check "host-facts: one processor serves both ports of a bridge" grep -qE '^warning +irq-affinity +br9: CPU 0 alone serves the interrupts of roce' "$SCRATCH/facts"
grep irq-affinity "$SCRATCH/facts" | sed 's/^/# /'
finish
