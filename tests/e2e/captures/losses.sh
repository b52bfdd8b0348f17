#!/bin/bash
# Simulated NICs without a fault that lose frames in both directions: nothing is found, whatever they are, recover by, carry and wait for.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/../lib.sh"
cd "$SCRATCH" || exit 2
jq -n '{schema: 1, name: "two", driver: "sim", hosts: {a: {}, b: {}}, links: [{between: ["a", "b"]}],
    defaults: {host: {nic: {adaptive_retransmission: false}}, link: {rate: "100Gb/s", length: "3m"}}}' >two.json
# Times that are shorter than the queue of a NIC, NAKs that come when all has been answered, queue pairs that give up, resends in pairs.
jq -n '{schema: 1, name: "losses", lab: "two.json", roles: ["a", "b"], phases: {warmup: "0ms", measure: "3ms", cooldown: "1ms"}, settings: {mtu: 4200}, sample: {every: "1ms"},
    flows: [{name: "f", from: "a", to: "b", message: "1MiB", depth: 2}, {name: "r", from: "b", to: "a", message: "64KiB", depth: 4}],
    faults: [{link: ["a", "b"], kind: "loss", loss: 0.05}], capture: {limit: "20MB"}, verify: ["go-back-n"],
    sweep: {
        "lab.defaults.host.nic.model": ["ideal", "connectx-4-lx", "connectx-5", "connectx-6", "connectx-7"],
        zip: [{
            "flows.f.message": ["64B", "1MiB", "64KiB", "64KiB", "4KiB", "1MiB", "1MiB", "64KiB"],
            "settings.mtu": [4200, 4200, 4200, 4200, 4200, 4200, 1500, 4200],
            "flows.f.op": ["write", "write", "read", "write", "read", "write", "write", "write"],
            "faults.0.loss": [0.15, 0.15, 0.15, 0.15, 0.01, 0.01, 0.2, 0.05],
            "lab.defaults.host.nic.recovery": ["go-back-n", "selective-repeat", "go-back-n", "selective-repeat", "go-back-n", "go-back-n", "selective-repeat", "go-back-n"],
            "lab.defaults.host.nic.out_of_order_placement": [false, false, false, true, true, true, true, true],
            "lab.defaults.host.nic.reorder_wait": ["100us", "10us", "10us", "10us", "100us", "100us", "1us", "10us"],
            "lab.defaults.host.nic.ack_timeout": ["200us", "16384ns", "16384ns", "16384ns", "200us", "200us", "67ms", "200us"]}]}}' >losses.json
"$BUILD/harness" run losses.json --quiet --no-report --yes >log 2>&1
check "all are judged" test "$(jq -s 'map(select(.verify[0].verdict == "passed")) | length' results/losses/latest/*/result.json)" -ge 36
check "and nothing is found" test "$(jq -c '.verify[] | select(.verdict == "failed") | [input_filename, .findings[].kind]' results/losses/latest/*/result.json | tee found | wc -l)" = 0
[ ! -s found ] || sed 's/^/# /' found
finish
