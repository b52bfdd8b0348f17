#!/usr/bin/env bash
# What the text of each key with a unit says, by a simulated run: a row for each key of the schema. A key without a row here has the test
# that is named for it; a key that is new has none, and fails.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/../lib.sh"
cd "$SCRATCH" || exit 1
H=$BUILD/harness
cat >lab.json <<'END'
{ "schema": 1, "name": "star", "driver": "sim", "topology": { "kind": "star", "hosts": 3 },
  "defaults": { "host": { "nic": { "model": "ideal" } }, "switch": { "buffer": "4MiB" }, "link": { "rate": "25Gb/s", "length": "3m" } } }
END
cat >base.json <<'END'
{ "schema": 1, "name": "units", "lab": "lab.json", "roles": ["h[0-2]"], "phases": { "warmup": "0ms", "measure": "2ms", "cooldown": "10us" },
  "flows": [ { "name": "f", "from": "h0", "to": "h1", "message": "4KiB", "depth": 64 } ], "sample": { "every": "100us" } }
END
END_OF_F='.flows[0] += {size: "300kB", message: "100kB"}'
ENDS='[.flows | to_entries[] | select(.key | test("t/")) | .value.completion_ns.begin]'
PATTERN='.traffic = [{name: "t", pattern: "incast", from: ["h0"], to: ["h2"], size: "300kB", message: "100kB"}]'

# row KEY PATCH VALUE EXPECTED PERCENT: the scenario with this patch has this value in its result
row() {
    local said off
    rows+=("$1")
    jq "$2" base.json >case.json
    "$H" run case.json --no-report --quiet --out results >out 2>&1
    said=$(jq -r "$3" results/units/latest/result.json 2>&1)
    off=$(jq -n "(($said) / $4 - 1) * 100 | fabs <= $5" 2>&1)
    if [ "$off" = true ]; then ok "$1: $said"; else nok "$1 is $4 within $5 %" "$said $(cat out)"; fi
}
rows=()
row .phases.warmup '.phases.warmup = "3ms"' '.phases[1].start_ns' 3000000 0
row .phases.measure '.phases.measure = "1.5ms"' '.phases[1] | .end_ns - .start_ns' 1500000 0
row .phases.cooldown '.phases.cooldown = "30us"' '.phases[2] | .end_ns - .start_ns' 30000 0
row .sample.every '.sample.every = "50us"' '.hosts.h0.sampling.samples' 41 3
row '.flows[].message' '.flows[0].message = "12345B"' '.flows.f | .bytes / .messages' 12345 0
row '.flows[].size' "$END_OF_F" .flows.f.bytes 300000 0
row '.flows[].rate' '.flows[0] += {message: "64B", rate: "100Mb/s"}' .flows.f.goodput_bps 1e8 0.5
row '.flows[].rate' '.flows[0] += {message: "64B", rate: "10kb/s"} | .phases.measure = "600ms"' .flows.f.messages 12 0
row '.flows[].rate' '.flows[0] += {message: "100kB", rate: "3Gb/s"} | .phases.measure = "50ms"' .flows.f.goodput_bps 3e9 1
for rate in 5Gb/s 10Gb/s 13.9Gb/s; do # beside another one of its host, whose frames delay its own
    row '.flows[].rate' '.settings.mtu = 1500 | .flows[0].rate = "8Gb/s" | .flows += [{name: "g", from: "h0", to: "h2", rate: "'$rate'"}] | .phases.measure = "10ms"' \
        '[.flows[].delivered_bps] | add' "((8 + ${rate%Gb/s}) * 1e9)" 1
    check "  neither is missed" jq -e '.warnings == []' results/units/latest/result.json
done
row '.flows[].rate' '.flows[0] += {message: "256B", depth: 1, rate: "8Gb/s"}' '.warnings | map(select(test("flow f has [0-9.]+ Gb/s of its rate of 8 Gb/s, though"))) | length' 1 0
row '.flows[].gap' '.flows[0] += {gap: "90us", depth: 1}' '.flows.f | 2000 / .messages' 91 2
row '.flows[].start' "$END_OF_F"' | .flows[0].start = "700us"' .flows.f.completion_ns.begin 700000 0.1
row '.flows[].stop' '.flows[0] += {depth: 1, rate: "1Gb/s", stop: "1ms"}' .flows.f.bytes 125000 5
row '.flows[].after[].delay' "$END_OF_F"' | .flows += [.flows[0] + {name: "g", after: [{flows: ["f"], delay: "130us"}]}]' \
    '.flows.g.completion_ns.begin - .flows.f.completion_ns.end' 130000 0.1
row '.traffic[].size' "$PATTERN" '.flows["t/0"].bytes' 300000 0
row '.traffic[].message' "$PATTERN"' | .traffic[0] |= (.message = "60kB" | del(.size))' '.flows["t/0"] | .bytes / .messages' 60000 0
row '.traffic[].message' "$PATTERN" '.flows["t/0"].messages' 1 0
row '.traffic[].start' "$PATTERN"' | .traffic[0].start = "700us"' '.flows["t/0"].completion_ns.begin' 700000 0.1
row '.traffic[].stop' "$PATTERN"' | .traffic[0] += {pattern: "poisson", from: ["h0", "h1"], load: 0.5, count: 250, size: "20kB", stop: "1ms"}' \
    "$ENDS | max" 990000 1
printf 'num_ranks 3\nrank 0 {\ncalc 100000\n}\nrank 1 {\n}\nrank 2 {\n}\n' >calc.goal
row '.jobs[].start' '.jobs = [{name: "j", schedule: "calc.goal", start: "700us"}]' .jobs.j.end_ns 800000 0
row '.faults[].start' '.faults = [{link: ["h1", "s0"], kind: "down", start: "1ms", stop: "2ms"}]' .flows.f.goodput_bps 11.7e9 5
# the local ACK time-out counts from the packet that has no answer: the second one leaves 512 us after the first
row 'lab.nic.ack_timeout' '.flows[0] += {message: "64B", depth: 1, rate: "1Mb/s"} | .phases.measure = "600ms" | .sample.every = "10ms" |
    .faults = [{link: ["h1", "s0"], kind: "down", start: "20us", stop: "600ms"}]' \
    '.flows.f.error | capture("exceeded at (?<ms>[0-9.]+) ms").ms | tonumber' '(0.512 + 8 * 67.108864)' 0.001
# a message without an ACK in its middle is no silence while it is sent, 8.2 ms; ACKs that queues hold back are late, and not losses
acks() { # ACK_TIMEOUT FLOWS
    jq --argjson flows "$2" '.flows = $flows | .settings = {mtu: 4200, pfc: [3]} | .phases.measure = "10ms"' base.json >acks.json
    "$H" run acks.json --set "lab.defaults.host.nic.ack_timeout=$1" --no-report --quiet --out results >out 2>&1
}
acks 1ms '[{"name": "long", "from": "h0", "to": "h1", "priority": 3, "message": "25MB", "size": "25MB"}]'
check "a message that takes longer than ack_timeout has no time-out" \
    jq -e '.warnings == [] and .hosts.h0.counters.local_ack_timeout_err.total == 0 and .flows.long.complete' results/units/latest/result.json
acks 200us '[{"name": "f-{}", "from": "h[0-1]", "to": "h2", "priority": 3, "message": "100kB", "depth": 4, "queue_pairs": 4}]'
check_says "... one whose ACK comes later has, and nothing was lost" 'ACKs came after ack_timeout, and packets that had arrived were sent again [(]duplicate_request [1-9]' out
check "... which nothing says" bash -c '! grep -q "packets were lost" out'

# ---- the others, with the test that has them
elsewhere() { # FILE KEY...
    local key
    for key in "${@:2}"; do
        rows+=("$key")
        check "$key is tested in $1" grep -q "${key##*.}" "$ROOT/tests/$1"
    done
}
elsewhere e2e/faults/links.sh '.faults[].stop' '.faults[].rate' '.faults[].period' '.faults[].retrain' .settings.watchdog.detect .settings.watchdog.restore '.storms[].start' '.storms[].stop'
elsewhere e2e/labs/inject.sh '.inject[].delay' '.inject[].lasts' '.inject[].start' '.inject[].stop'
elsewhere e2e/labs/capture.sh .capture.snap .capture.limit
elsewhere unit/harness/test_nccl_tests.c '.collectives[].min' '.collectives[].max'
elsewhere e2e/nic-config/put_back.sh .settings.cable
elsewhere unit/lib/test_congestion_values.c .settings.window.base_rtt .settings.hpcc.rate_ai .settings.dctcp.rate_ai .settings.timely.rate_ai .settings.timely.t_low .settings.timely.t_high .settings.timely.min_rtt
elsewhere unit/congestion/test_sim_reference_controls.c .settings.{hpcc,dctcp,timely}.min_rate
elsewhere e2e/search/search.sh .search.time
elsewhere unit/congestion/test_sim_timely.c .settings.timely.rate_hai
elsewhere e2e/guests/settings.sh .settings.red.{limit,min,max,avpkt,bandwidth,shape}
elsewhere e2e/captures/simulated.sh .settings.ecn_threshold.kmin
elsewhere e2e/labs/sim_growth.sh .settings.ecn_threshold.kmax
"$H" schema scenario >schema.json
unknown=$(python3 - schema.json "${rows[@]}" <<'END'
import json, sys
rows, found = set(sys.argv[2:]), set()
def walk(node, path):
    if node.get("pattern", "").startswith("^(0+"):  # a number with its unit
        found.add(path)
    for key, value in node.get("properties", {}).items():
        if key != "settings_of":  # the same as settings
            walk(value, path + "." + key)
    if isinstance(node.get("items"), dict):
        walk(node["items"], path + "[]")
walk(json.load(open(sys.argv[1])), "")
print(*sorted(found - rows), *(["no keys"] if len(found) < 40 else []))
END
)
if [ -z "$unknown" ]; then ok "every key of a scenario that has a unit has a test"; else nok "every key of a scenario that has a unit has a test" "$unknown"; fi
finish
