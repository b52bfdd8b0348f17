#!/bin/bash
# Poisson arrivals of more flows than a result lists: in the simulator they come and go, in memory for those that live at one time, with the
# figures of flows that stay (with a capture they do).
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/../lib.sh"
cd "$SCRATCH" || exit 1
H=$BUILD/harness

jq -n '{schema: 1, name: "star", driver: "sim", topology: {kind: "star", hosts: 8},
    defaults: {link: {rate: "25Gb/s", length: "10m"}, switch: {buffer: "8MiB", ecn: {kmin: "10KB", kmax: "100KB", pmax: 0.2}}}}' >star.json
jq -n '{schema: 1, name: "arrivals", lab: "star.json", roles: ["h[0-7]"], phases: {warmup: "200us", measure: "6ms", cooldown: "500us"},
    settings: {mtu: 4200, pfc: [3], ecn: [3], trust: "dscp"},
    traffic: [{name: "web", pattern: "poisson", sizes: "hadoop", load: 0.5, from: ["h[0-7]"], priority: 3},
              {name: "rpc", pattern: "poisson", size: "2KB", load: 0.05, from: ["h[0-3]"], to: ["h[4-7]"], priority: 3},
              {name: "burst", pattern: "incast", size: "100KB", from: ["h[1-5]"], to: ["h0"], start: "1ms", priority: 3}],
    sample: {every: "50us", groups: ["pfc", "ecn"]}, expect: []}' >arrivals.json

# run NAME OPTION...: its result is in NAME.json
run() {
    local name=$1
    shift
    "$H" run arrivals.json --no-report --quiet --out "$name" "$@" >"$name.out" 2>&1
    cp "$name"/arrivals/latest/result.json "$name.json"
}
run come
run seldom --set sample.every=1ms
run stay --set 'capture={"snap":"128B","limit":"1MB"}'
# What is counted of a flow's rate ends with a flow that goes, and not with one that stays.
figures() { jq -S '.flows | map_values(del(.increases, .decreases))' "$1.json"; }

check "more flows came than a result lists, of both patterns" jq -e '.flows | .web.flows.started > 256 and .rpc.flows.started > 256 and .["burst/0"].bytes == 100000' come.json
check "... some were marked" jq -e '.flows | .web.marked_packets > 0' come.json
figures stay >stay.figures
figures come >come.figures
check "flows that come and go do what flows that stay do" cmp stay.figures come.figures
check "... with the same frames on all links" test "$(jq .simulator.hops come.json)" = "$(jq .simulator.hops stay.json)"
check "... and with samples at other times: changes of rates, too" test "$(jq -S .flows come.json)" = "$(jq -S .flows seldom.json)"
run threads --threads 2
check "... and with two threads" test "$(jq -S .flows come.json)" = "$(jq -S .flows threads.json)"

# With none that began in the measure phase all count, and none is said to be earlier.
run early --set traffic.web.stop=2ms --set traffic.web.load=0.9 --set phases.warmup=2ms
check "flows that began before the measure phase are all there are" jq -e '.flows.web.flows | .started > 256 and (has("earlier") | not)' early.json

# ---- memory
small() { run "$1" --set 'traffic=[{"name":"rpc","pattern":"poisson","size":"1KB","load":0.1,"from":["h[0-7]"],"priority":3}]' --set phases.measure="$2"; }
small few 500us
small many 20ms
check "thousands of flows end" jq -e '.flows.rpc.flows | .started > 30000 and .finished == .started' many.json
check "... in the memory of $(jq .flows.rpc.flows.started few.json) ($(jq .simulator.memory_bytes few.json) bytes; $(jq .simulator.memory_bytes many.json))" \
    test "$(jq .simulator.memory_bytes many.json)" -le $(($(jq .simulator.memory_bytes few.json) * 11 / 10))

finish
