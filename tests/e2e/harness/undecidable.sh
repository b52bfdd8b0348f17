#!/bin/bash
# What no run could ever decide or do is an error of `harness check`, and of a run before anything starts: slips in conditions, sweeps,
# counters, flows, settings and times that would otherwise be skipped without a word.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/../lib.sh"
cd "$SCRATCH" || exit 1
H=$BUILD/harness
PFC=$ROOT/scenarios/pfc-bidir.json
SWEEP=$ROOT/scenarios/write-sweep.json
INCAST=$ROOT/scenarios/incast-pfc.json
BRIDGE=$ROOT/scenarios/dcqcn-red-bridge.json

# refused WHAT PATTERN SCENARIO FILTER [OPTION...]: after the jq filter, check exits with 2 and an error that matches PATTERN.
refused() {
    local what=$1 pattern=$2 from=$3 filter=$4
    shift 4
    jq "$filter" "$from" >case.json || exit 1
    check_exit 2 "$what" "$H" check case.json "$@"
    check_says "... by name" "error: (case|.*/sim-[a-z-]*)\.json(, with lab.* of the sweep)?: (.*: )?$pattern" err
}
good() {
    local what=$1 from=$2 filter=$3
    shift 3
    jq "$filter" "$from" >case.json || exit 1
    check_exit 0 "$what" "$H" check case.json "$@"
}
# The scenario with this as its only expectation.
expecting() { printf '.expect=[{"name":"x","check":"%s"}]|del(.published)' "$1"; }

# ---- comparisons that what they read decides, whatever happens
warned() { # CHECK, HOW it is warned of, "" if it is not
    jq "$(expecting "$1")" "$PFC" >case.json || exit 1
    "$H" check -q case.json >out 2>err
    check "${2:-no warning of}: $1" test "$? $(grep -oE '(always|never) holds: it cannot (fail|pass)$' err)" = "0 ${2:-}"
}
warned 'delta(b.tx_prio0_pause) >= 0' 'always holds: it cannot fail'
warned '0 <= delta(b.tx_prio0_pause)' 'always holds: it cannot fail'
warned 'rate(a.rx_prio0_pause_duration) < 0' 'never holds: it cannot pass'
warned 'rate(a.rx_prio0_pause_duration) > 100%' 'never holds: it cannot pass'
warned 'rate(a.rx_prio0_pause_duration) <= 1' 'always holds: it cannot fail'
warned 'jain(flows.*.goodput_bps) > 1' 'never holds: it cannot pass'
warned 'sum(flows.*.errors) + delta(a.rx_prio0_pause) > -1' 'always holds: it cannot fail'
warned 'sum(flows.*.goodput_bps) / sum(flows.*.bytes) < 0' 'never holds: it cannot pass'
warned 'delta(b.tx_prio0_pause) == -1' 'never holds: it cannot pass'
for open in 'delta(b.tx_prio0_pause) == 0' 'rate(*.rx_prio0_pause_duration) > 100%' 'delta(a.rx_prio0_pause) - delta(b.rx_prio0_pause) >= 0' 'rate(a.rx_prio0_pause_duration) >= 1'; do
    warned "$open" ''
done

# ---- conditions
refused "a condition on a key that flows lack" 'expect\[0\].when: flows.\*.memry: scenario.flow has no key "memry"; did you mean "memory"' "$PFC" '.expect[0].when={"flows.*.memry":"gpu"}'
refused "a condition of a published figure" 'published\[1\].when: flows.\*.memry: scenario.flow has no key "memry"' "$PFC" '.published[1].when={"flows.*.memry":"gpu"}'
refused "a condition on a parameter that does not exist" 'settings.dcqcn.rp has no key "rpg_ai_rte"; did you mean "rpg_ai_rate"' "$PFC" '.expect[0].when={"settings.dcqcn.rp.rpg_ai_rte":5}'
refused "a condition on a setting that is not set" 'expect\[0\].when: nothing in the scenario matches settings.rx_ring' "$PFC" '.expect[0].when={"settings.rx_ring":1024}'
refused "a condition on a flow that does not exist" 'nothing in the scenario matches flows.a-to-bb.depth; did you mean "flows.a-to-b.depth"' "$PFC" '.expect[0].when={"flows.a-to-bb.depth":128}'
refused "a condition on a key that the lab lacks" 'expect\[0\].when: nothing in the lab matches lab.hosts.b.gppu.write; did you mean "lab.hosts.b.gpu.write"' "$PFC" '.expect[0].when={"lab.hosts.b.gppu.write":"12GB/s"}'
refused "a value that the sweep does not have" 'expect\[0\].when: flows.\*.memory is "gpuu" in no run: it is "host", "gpu"' "$PFC" '.expect[0].when={"flows.*.memory":"gpuu"}'
refused "a value that the sweep lacks in any spelling" 'expect\[0\].when: flows.\*.message is "1025B" in no run: it is "2B", "4B", .* ... \(23\)' "$SWEEP" '.expect[0].when={"flows.*.message":"1025B"}'
refused "a number in quotes" 'expect\[0\].when: flows.\*.depth is "128" in no run: it is 128' "$SWEEP" '.expect[0].when={"flows.*.depth":"128"}'
refused "a comparison that holds in no run" 'expect\[0\].when: flows.\*.message is ">= 16MiB" in no run: it is "2B"' "$SWEEP" '.expect[0].when={"flows.*.message":">= 16MiB"}'
refused "a comparison in another unit" 'expect\[0\].when: flows.\*.message: ">= 10ms": "2B" and "10ms" have no order' "$SWEEP" '.expect[0].when={"flows.*.message":">= 10ms"}'
refused "a comparison with a path that matches nothing" 'expect\[0\].when: flows.\*.depth: "> flows.x.depth": nothing matches flows.x.depth' "$SWEEP" '.expect[0].when={"flows.*.depth":"> flows.x.depth"}'
good "a comparison that holds in a run" "$SWEEP" '.expect[0].when={"flows.*.message":">= 4096KiB and < 8MiB"}'
good "a value in another spelling" "$SWEEP" '.expect[0].when={"flows.*.message":"1024B"}'
good "another spelling, by its size" "$SWEEP" '.expect[0].when={"flows.*.message":"== 1024B"}'
refused "values that never come together" 'expect\[0\].when: each value occurs, but no run has all of them' "$PFC" '.sweep={"flows.*.memory":["host","gpu"],"flows.*.depth":[128]}|.expect[0].when={"flows.*.memory":"gpu","flows.a-to-b.memory":"host"}'

refused "two expectations of one name" 'expect\[1\].name: "x" is the name of expect\[0\], too, and both are of the same run' "$PFC" '.expect=[{"name":"x","check":"sum(flows.*.errors) == 0"},{"name":"x","check":"sum(flows.*.errors) < 0"}]'
refused "two published figures of one name" 'published\[1\].name: ' "$PFC" '.published=[.published[0],.published[0]]'
good "... of different runs" "$PFC" '.expect=[{"name":"x","when":{"flows.*.memory":"host"},"check":"sum(flows.*.errors) == 0"},{"name":"x","when":{"flows.*.memory":"gpu"},"check":"sum(flows.*.errors) < 1"}]'

# ---- sweeps
refused "a sweep over a key that the lab lacks" 'hosts.b: unknown key "gppu"; did you mean "gpu"' "$PFC" '.sweep={"lab.hosts.b.gppu.write":["12GB/s"]}'
refused "a sweep over defaults that the lab lacks" 'defaults: unknown key "swich"' "$PFC" '.sweep={"lab.defaults.swich.headroom":["12KB"]}'
refused "a sweep over a flow that does not exist" 'sweep: flows.a-to-c.depth: nothing in the document matches' "$PFC" '.sweep={"flows.a-to-c.depth":[1]}'
refused "a sweep over an expectation's cell" 'expect\[1\].when: flows.\*.memory is "host" in no run: it is "gpu"' "$PFC" '.sweep={"lab.hosts.*.gpu.stalls_per_s":[0]}'

refused "a combination left out by a number in quotes" 'sweep.except\[0\]: settings.mtu is "1500" in no combination: it is 1500, 4200' "$PFC" '.sweep={"settings.mtu":[1500,4200],except:[{"settings.mtu":"1500"}]}'
refused "... by a sign that is none" 'settings.mtu is "=1500" in no combination' "$PFC" '.sweep={"settings.mtu":[1500,4200],except:[{"settings.mtu":"=1500"}]}'
refused "... by a number for a list" 'settings.pfc is 3 in no combination: it is \[\], \[3\]' "$PFC" '.sweep={"settings.pfc":[[],[3]],only:[{"settings.pfc":3}]}'
refused "... by a comparison that none meets" 'settings.mtu is "> 9000" in no combination' "$PFC" '.sweep={"settings.mtu":[1500,4200],except:[{"settings.mtu":"> 9000"}]}'
refused "... by what all are not" 'flows.\*.memory is "!= gpuu" in every combination: it is "host", "gpu"' "$PFC" '.sweep={"flows.*.memory":["host","gpu"],only:[{"flows.*.memory":"!= gpuu"}]}'
good "... by one that it has" "$PFC" '.sweep={"settings.mtu":[1500,4200],except:[{"settings.mtu":"> 1500"}]}|del(.expect,.published)'
good "... of a sweep that --set changes" "$PFC" '.sweep={"settings.mtu":[1500,4200],except:[{"settings.mtu":"> 1500"}]}|del(.expect,.published)' --set 'sweep.settings.mtu=[1000,1500]'
refused "a condition by what all are not" 'expect\[0\].when: flows.\*.memory is "!= gpuu" in every run: it is "host", "gpu"' "$PFC" '.expect[0].when={"flows.*.memory":"!= gpuu"}'

# ---- counters
refused "a counter whose group is not sampled" 'column 7: tx_prio0_pause is of group pfc, which is not sampled: add "pfc" to sample.groups' "$PFC" '.sample.groups=["throughput"]'
refused "counters whose groups are not sampled" 'column 7: \*_pause is of group pfc' "$PFC" "$(expecting 'delta(*.*_pause) > 0')|.sample.groups=[\"throughput\"]"
good "a counter of any sampled group" "$PFC" "$(expecting 'delta(*.*discard*) == 0')|.sample.groups=[\"drops\"]"
refused "a port that the switch does not have" 'expect\[0\].check: "delta\(s0.port40_tx_bytes\) > 0": s0 is a switch of lab sim-incast with ports 0 to 16 and has no counter port40_tx_bytes' "$INCAST" "$(expecting 'delta(s0.port40_tx_bytes) > 0')"
refused "ports that the switch does not have" 's0 is a switch .* ports 0 to 16 and has no counter port4\[0-9\]_tx_bytes' "$INCAST" "$(expecting 'delta(s0.port4[0-9]_tx_bytes) > 0')"
refused "counters of different units in one sum" '.*h0.rx_prio3_pause\* has different units: rx_prio3_pause is in frames, rx_prio3_pause_duration in ' "$INCAST" "$(expecting 'delta(h0.rx_prio3_pause*) > 1000')"
refused "... of several hosts" '.* has different units: ' "$INCAST" "$(expecting 'delta(*.*) > 0')"
good "... that are counted" "$INCAST" "$(expecting 'count(h0.rx_prio3_pause*) > 1')"
refused "a count as a frequency" 'a plain number is compared with events per second: compare a rate, such as rate\(a.rx_prio0_pause\), or write the number without a unit' "$INCAST" "$(expecting 'delta(h0.rx_prio3_pause) < 1k/s')"
refused "a count as a share" 'a plain number is compared with a share: write the number without a unit' "$INCAST" "$(expecting 'delta(h0.rx_prio3_pause) < 10%')"
refused "an index above 1" 'jain is an index from 0 to 1, and is compared with 95: write 95% for that many per cent' "$INCAST" "$(expecting 'jain(flows.incast/*.goodput_bps) < 95')"
good "the switch's last port" "$INCAST" "$(expecting 'delta(s0.port1[0-6]_tx_bytes) > 0B')"
refused "ports of a range that the switch does not have" '.* has no counter port\[17-20\]_tx_bytes' "$INCAST" "$(expecting 'delta(s0.port[17-20]_tx_bytes) > 0')"
good "the switch's last port" "$INCAST" "$(expecting 'delta(s0.port16_tx_bytes) > 0')"
refused "a port of a host" 'h0 is a host of lab sim-incast and has no counter port0_tx_bytes' "$INCAST" "$(expecting 'delta(h0.port0_tx_bytes) > 0')"
refused "a switch's counter of a host" 'h0 is a host of lab sim-incast and has no counter buffer_discards' "$INCAST" "$(expecting 'delta(h0.buffer_discards) == 0')"
refused "a host's counter of a switch" 's0 is a switch .* has no counter rx_prio3_pause' "$INCAST" "$(expecting 'delta(s0.rx_prio3_pause) > 0')"
good "a counter that only real hosts have" "$PFC" "$(expecting 'delta(a.link_carrier_changes) == 0')|.sample.groups=[\"link\"]"
refused "a switch's port in the lab of the command line" 'spine0 is a switch of lab sim-leaf-spine with ports 0 to 3 and has no counter port9_tx_bytes' "$ROOT/scenarios/leaf-spine-permutation.json" "$(expecting 'delta(spine0.port9_tx_bytes) > 0')|del(.lab)" --lab "$ROOT/labs/sim-leaf-spine.json"
good "... not judged without a lab" "$ROOT/scenarios/leaf-spine-permutation.json" "$(expecting 'delta(spine0.port9_tx_bytes) > 0')|del(.lab)"
good "... and skipped by name where the lab lacks a capability" "$INCAST" '.expect+=[{"name":"x","check":"delta(s0.port40_tx_bytes) > 0","needs":["!switch"]}]'

# ---- values of flows
refused "the slowdown of endless flows" 'column 5: flows.incast has no slowdown_p99, .*traffic patterns whose flows end: give it a "size"' "$INCAST" "$(expecting 'max(flows.incast.slowdown_p99) > 1')"
refused "the slowdown of a single flow of a pattern that ends" 'flows.incast/\* has no slowdown_p99, which is a value of traffic patterns whose flows end$' "$INCAST" "$(expecting 'max(flows.incast/*.slowdown_p99) > 1')|.traffic[0].size=\"1MiB\""
refused "the completion of endless flows of a pattern" 'flows.incast/\* has no completion_p99_ns, .*with an end: give it a "size"' "$INCAST" "$(expecting 'max(flows.incast/*.completion_p99_ns) > 1ms')"
refused "the completion of an endless flow" 'flows.a-to-b has no completion_max_ns' "$PFC" "$(expecting 'max(flows.a-to-b.completion_max_ns) > 1ms')"
good "the completion of a flow with an end" "$PFC" "$(expecting 'max(flows.a-to-b.completion_max_ns) > 1ms')|.flows[0].size=\"1MiB\""
good "the slowdown of flows with an end" "$INCAST" "$(expecting 'max(flows.incast.slowdown_p99) > 1')|.traffic[0].size=\"1MiB\""
refused "the slowdown of a single flow" 'flows.a-to-b has no slowdown_p99' "$PFC" "$(expecting 'max(flows.a-to-b.slowdown_p99) > 1')|.flows[0].size=\"1MiB\""
refused "the latency of a pattern" 'flows.incast has no latency_p99_ns' "$INCAST" "$(expecting 'max(flows.incast.latency_p99_ns) > 1ms')"
refused "a flow that the pattern does not have" 'no traffic has a flow "incast/16"' "$INCAST" "$(expecting 'max(flows.incast/16.goodput_bps) > 1Gb/s')"
good "the pattern's last flow" "$INCAST" "$(expecting 'max(flows.incast/15.goodput_bps) > 1Gb/s')"
refused "an expectation without a statistic" 'it reads no counter and no value of a flow' "$PFC" "$(expecting '1 > 0')"
refused "a division by zero" 'column 25: division by zero' "$PFC" "$(expecting 'delta(a.rx_prio0_pause) / 0 > 1')"
refused "a share of the time above 1" 'the rate of rx_prio0_pause_duration is a share of the time, from 0 to 1, and is compared with 10: write 10% for that many per cent' \
    "$PFC" "$(expecting 'rate(a.rx_prio0_pause_duration) < 10')"
good "... in per cent" "$PFC" "$(expecting 'rate(a.rx_prio0_pause_duration) < 10%')"
good "... of several hosts, which add up" "$PFC" "$(expecting 'rate(*.rx_prio0_pause_duration) < 1.5')"
refused "a published figure in Gb/s of MiB/s" 'published\[0\].unit: "Gb/s", but the value is in MiB/s: write "MiB/s"' "$PFC" '.published=[{"name":"x","of":"sum(flows.*.goodput_MiBps)","value":49,"unit":"Gb/s","source":"x"}]'
refused "a product without a unit" 'column 26: a rate times a rate has no unit that could be compared' "$PFC" "$(expecting 'sum(flows.*.goodput_bps) * 1Gb/s > 5')"
refused "a published figure in another unit" 'published\[0\].unit: "Gb/s", but the value is in b/s: divide it by 1Gb/s' "$PFC" '.published=[{"name":"x","of":"sum(flows.*.goodput_bps)","value":20,"unit":"Gb/s","source":"x"}]'

# ---- settings of what the lab does not have
THRESHOLD='{"kmin":"1KB","kmax":"2KB","pmax":0.1}'
RED='{"limit":"2000000B","min":"50000B","max":"200000B"}'
refused "marking thresholds of a host" 'settings_of.h0.ecn_threshold: role "h0" is a host in lab sim-incast, and ecn_threshold is a setting of switches' "$INCAST" ".settings_of={h0:{ecn_threshold:$THRESHOLD}}"
good "marking thresholds of a switch" "$INCAST" ".settings_of={s0:{ecn_threshold:$THRESHOLD}}"
refused "marking thresholds of a forwarding host" 'role "switch" is a forwarding host in lab sim-red-bridge' "$BRIDGE" ".sweep[\"settings_of.switch\"][1].ecn_threshold=$THRESHOLD"
refused "marking thresholds of everything, where there is no switch" 'settings.ecn_threshold: lab sim-geforce-pair has no node for it' "$PFC" ".settings.ecn_threshold=$THRESHOLD"
refused "RED at a host" 'settings_of.h0.red: role "h0" is a host .* a setting of forwarding hosts' "$INCAST" ".settings_of={h0:{red:$RED}}"
refused "a switch's ring" 'settings_of.s0.rx_ring: role "s0" is a switch .* a setting of hosts; a switch has mtu, pfc, ets, ecn_threshold and watchdog' "$INCAST" '.settings_of={s0:{rx_ring:1024}}'
refused "a ring of a guest that is a switch" 'settings_of.s0.rx_ring: role "s0" is a virtual switch in lab virtual-switch, and rx_ring is a setting of hosts; a virtual switch has pfc, trust, dscp_to_prio, ecn, ecn_rp and ecn_np' \
    "$INCAST" '.settings_of={s0:{rx_ring:1024}}|del(.lab)' --lab virtual-switch
refused "thresholds of a real host" 'settings_of.a.ecn_threshold: role "a" is a host in lab ssh-pair' "$PFC" ".settings_of={a:{ecn_threshold:$THRESHOLD}}|del(.lab)" --lab "$ROOT/labs/ssh-pair.example.json"
refused "an optional counter that does not exist" 'settings.optional_counters\[0\]: there is no counter "cc_rx_ce_pktss"; did you mean "cc_rx_ce_pkts"' "$PFC" '.settings.optional_counters=["cc_rx_ce_pktss"]'

# ---- traffic, times, the lab
refused "an incast's receiver among its senders" 'traffic\[0\].from\[16\]: role "h16" is the receiver of the incast' "$INCAST" '.traffic[0].from+=["h16"]'
refused "... within a pattern of roles" 'traffic\[0\].from\[16\]: role "h16" is the receiver' "$INCAST" '.traffic[0].from=["h[0-16]"]'
refused "nobody to send to" 'traffic\[0\].from: nobody is left to send to' "$INCAST" '.traffic[0]={name:"x",pattern:"all-to-all",from:["h0"]}|.expect=[]'
refused "a shift without a permutation" 'traffic\[0\].shift: pattern incast has no shift' "$INCAST" '.traffic[0].shift=3'
refused "receivers of a ring" 'traffic\[0\].to: a ring-all-reduce has no other receivers' "$INCAST" '.traffic[0].pattern="ring-all-reduce"'
refused "a size next to drawn sizes" 'traffic\[0\].size: sizes are drawn from web-search' "$INCAST" '.traffic[0].sizes="web-search"|.traffic[0].size="1MiB"'
refused "rounds of endless flows" 'traffic\[0\].count: endless flows have no rounds' "$INCAST" '.traffic[0].count=5'
refused "a permutation that sends to itself" 'traffic incast: .*would send host 0 of "from" to itself' "$INCAST" '.traffic[0].pattern="permutation"|del(.traffic[0].to)|.traffic[0].shift=16'
refused "traffic from a switch" 'role "s0" is a switch in lab sim-incast: only hosts can send' "$INCAST" '.traffic[0].from=["s0"]|.expect=[]'
refused "a flow that begins after the end" 'flows\[0\].start: 15min of the run is not before the end of the measure phase, at 11s' "$PFC" '.flows[0].start="15min"'
refused "a storm that begins after the end" 'storms\[0\].start: 15min of the run is not before the end of the run' "$PFC" '.storms=[{"role":"a","start":"15min","stop":"16min"}]'
refused "receive buffers larger than the port's" 'lab sim-geforce-pair: simulator: a: the receive buffers add up to 999999999 B' "$PFC" '.settings.buffer_bytes=[0,999999999]'
refused "an address that is none" 'settings_of.a.addresses\[0\]: "10.0.0.300/24" is not an address with a prefix length' "$PFC" '.settings_of={a:{addresses:["10.0.0.300/24"]}}'
refused "a lab that does not exist" 'lab: there is no lab "labs/sim-gefroce-pair.json"' "$PFC" '.lab="labs/sim-gefroce-pair.json"'

jq 'del(.lab)' "$PFC" >case.json
check_exit 2 "a change of a lab where there is none" "$H" check case.json --set lab.hosts.a.nic.address=10.0.0.1
check_says "... by name" 'set lab.hosts.a.nic.address=10.0.0.1: the scenario names no lab' err
jq '.hosts.c = {}' "$ROOT/labs/sim-geforce-pair.json" >sim-unlinked.json
refused "a host without a link" 'flow a-to-b: no path of lab sim-geforce-pair leads from a to c' "$PFC" '.roles += ["c"] | .flows[0].to = "c"' --lab sim-unlinked.json

jq -n '{schema: 1, name: "star", driver: "sim", topology: {kind: "star", hosts: 3}, defaults: {link: {rate: "25Gb/s", length: "3m"}}}' >star.json
jq -n '{schema: 1, name: "two", lab: "star.json", roles: ["h0", "h1"], phases: {warmup: "0", measure: "10us"}, flows: [{name: "f", from: "h0", to: "h1"}]}' >two.json
check_exit 2 "a value of a switch that the topology does not draw" "$H" run -n two.json --set lab.switches.s1.buffer=1MiB
check_says "... by name" 'lab.switches.s1.buffer: there is no switch s1; did you mean s0\?: expected one of the lab, or a new one whole' err
check_exit 2 "... of a host" "$H" run -n two.json --set lab.hosts.hh2.nic.jitter=2ns
check_says "... by name" 'lab.hosts.hh2.nic.jitter: there is no host hh2; did you mean h2\?' err
check_exit 0 "... of the one that it draws" "$H" run -n two.json --set lab.switches.s0.buffer=1MiB
check_exit 0 "a host of a topology, by its name" "$H" run -n two.json --set lab.hosts.h0.nic.jitter=2ns
check_exit 2 "all hosts of a topology, by a pattern" "$H" run -n two.json --set 'lab.hosts.*.nic.jitter=2ns'
check_says "... what to change" 'lab.hosts.\*.nic.jitter: the lab.s "topology" makes its hosts: name one, such as h0, or change lab.defaults for all of them' err

jq '.hosts.h0 = {"nic": {"jitter": "1ns"}}' star.json >one-named.json
check_exit 2 "... also where the document names one of them, which alone would be changed" "$H" run -n two.json --lab one-named.json --set 'lab.hosts.*.nic.jitter=2ns'

# ---- documents from a pipe, which can be read once
# shellcheck disable=SC2317 # called through check_exit
piped() { jq "$1" "$PFC" | "$H" "${@:2}"; }
check_exit 0 "a scenario from a pipe" piped . check /dev/stdin
jq . "$ROOT/labs/sim-incast.json" >lab.json
check_exit 0 "... a lab" "$H" check <(cat lab.json)
check_exit 0 "... both" "$H" check <(jq . "$INCAST") --lab <(cat lab.json)
check_exit 0 "... with a change, which leaves its conditions without a match" piped . check /dev/stdin --set sweep=null
check_exit 2 "... is judged as it is written" piped '.expect[0].when={"flows.*.memory":"gpuu"}' check /dev/stdin --set sweep=null
check_says "... by name" 'error: /dev/stdin: expect\[0\].when: flows.\*.memory is "gpuu" in no run: it is "host", "gpu"' err
check_exit 2 "... also by doctor" piped '.expect[0].when={"flows.*.memory":"gpuu"}' doctor --lab sim-geforce-pair --for /dev/stdin --set sweep=null
check_says "... by name" 'error: /dev/stdin: expect\[0\].when: flows.\*.memory is "gpuu" in no run: it is "host", "gpu"' err

# ---- a run
refuses_run() {
    local what=$1 filter=$2 from=$3
    shift 3
    jq "$filter" "$from" >case.json || exit 1
    check_exit 2 "$what" "$H" run case.json --out results "$@"
    check "... and nothing is left" test ! -e results
}
refuses_run "a run with a condition that holds nowhere" '.expect[0].when={"flows.*.memry":"gpu"}' "$PFC"
refuses_run "... also with changes, which are not part of the scenario" '.expect[0].when={"flows.*.memry":"gpu"}' "$PFC" --duration 1ms
refuses_run "... also in another lab" '.expect[0].when={"flows.*.memry":"gpu"}' "$PFC" --lab "$ROOT/labs/ssh-pair.example.json"
refuses_run "a run with a port that the switch does not have" "$(expecting 'delta(s0.port40_tx_bytes) > 0')" "$INCAST"
# ---- what --set, --duration and a sweep make of a document is held to the same
set_refused() {
    local what=$1 pattern=$2
    shift 2
    check_exit 2 "--set: $what" "$H" run "$@" --dry-run --out results
    check_says "... by name" "error: (.*\.json: |--set [^ ]*: )$pattern" err
}
NO_CHOICE='lab: the lab is not chosen by a value: give --lab LAB'
set_refused "a lab" "$NO_CHOICE" "$PFC" --set lab=sim-incast
set_refused "a lab that does not exist" "$NO_CHOICE" "$PFC" --set lab=nosuch.json
set_refused "no lab" "$NO_CHOICE" "$PFC" --set lab=null
set_refused "a sweep over labs" "sweep: $NO_CHOICE" "$PFC" --set 'sweep={"lab":["sim-incast","sim-geforce-pair"]}'
refused "a sweep over labs, in the file" "sweep: $NO_CHOICE" "$PFC" '.sweep={"lab":["sim-incast","sim-geforce-pair"]}|.expect=[]|del(.published)'
set_refused "a lab by what the lab replaces" "scaled: $NO_CHOICE" "$PFC" --set 'lab.scaled={"lab":"sim-incast"}'
set_refused "a sweep over the sweep" 'sweep: sweep.x: a sweep does not vary itself' "$PFC" --set 'sweep={"sweep.x":[1,2]}'
# ---- roles and keys that a path names by a slip: told first, and also where null would take away what is not there
NO_H99='settings_of.h99.mtu: there is no role "h99"; did you mean "h9"'
set_refused "a role of settings_of" "--set $NO_H99" "$INCAST" --set settings_of.h99.mtu=1500
set_refused "... by null" "--set $NO_H99" "$INCAST" --set settings_of.h99.mtu=null
set_refused "... in a sweep, before its values" "sweep: $NO_H99" "$INCAST" --set 'sweep={"settings_of.h99.mtu":[1024,"1KiB"]}'
set_refused "... of paths that go together" "sweep: $NO_H99" "$INCAST" --set 'sweep={"zip":[{"settings_of.h99.mtu":[1024,2048]}]}'
set_refused "... of a lab" '--set lab.roles.h99: there is no role "h99"; did you mean "h9"' "$INCAST" --set lab.roles.h99=h1
check_exit 2 "a role that the lab lacks" "$H" check "$INCAST" --set expect=null --set 'roles=["h[0-16]","s00"]'
check_says "... with the host that it may be" 'role "s00" of the scenario has no host in lab sim-incast; did you mean "s0"' err
set_refused "null at a key of a lab's switches" 'lab.defaults.switch.watchdgo: .*no key "watchdgo"; did you mean "watchdog"' "$INCAST" --set lab.defaults.switch.watchdgo=null
set_refused "... in a sweep" 'sweep: lab.defaults.switch.watchdgo: .*did you mean "watchdog"' "$INCAST" --set 'sweep={"lab.defaults.switch.watchdgo":[null,{}]}'
set_refused "... at what defaults are of" 'lab.defaults.swich.ecn: .*no key "swich"; did you mean "switch"' "$INCAST" --set lab.defaults.swich.ecn=null
set_refused "... at a key of one host" 'lab.hosts.h1.nic.modle: .*did you mean "model"' "$INCAST" --set lab.hosts.h1.nic.modle=null
set_refused "... at a host that there is not" 'lab.hosts.h77.nic: there is no "h77" in hosts to take away; did you mean "h7"' "$INCAST" --set lab.hosts.h77.nic=null
set_refused "... at an axis that there is not" 'sweep.settings.mut: there is no "settings.mut" in sweep to take away; did you mean "settings.mtu"' \
    "$INCAST" --set 'sweep={"settings.mtu":[1024,2048]}' --set sweep.settings.mut=null
check_exit 0 "null takes an axis away" "$H" run "$INCAST" --set 'sweep={"settings.mtu":[1024,2048]}' --set sweep.settings.mtu=null --dry-run
check "... which leaves one run" test "$(grep -c 'mtu 1024\|mtu 2048' out)" = 0
LATE='.start: .* is not before the end of the'
set_refused "a flow that begins after the end" "flows\[0\]$LATE measure phase, at 11s" "$PFC" --set flows.a-to-b.start=15min
set_refused "... in one run of a sweep" "flows\[0\]$LATE measure phase, at 11s" "$PFC" --set 'sweep={"flows.a-to-b.start":["0s","20s"]}'
check_exit 0 "... in a shorter run, which is meant" "$H" run dcqcn-fairness --duration 10ms --dry-run
check_says "... and warned of" "warning: flows\[1\]$LATE measure phase, at 10ms: it does nothing in this run" err
set_refused "... in a shorter run with a start of its own" "flows\[1\]$LATE measure phase, at 10ms" dcqcn-fairness --duration 10ms --set flows.1.start=30ms
set_refused "... in a sweep of starts" "flows\[0\]$LATE measure phase, at 11s" "$PFC" --set phases.measure=10s --set 'sweep={"flows.a-to-b.start":["0s","20s"]}'
set_refused "a pattern" "traffic\[0\]$LATE measure phase, at 6ms" "$INCAST" --set traffic.0.start=10min
set_refused "a storm" "storms\[0\]$LATE run, at 11500ms" "$PFC" --set 'storms=[{"role":"a","start":"15min","stop":"16min"}]'
set_refused "a fault" "faults\[0\]$LATE run, at 32ms" link-flap --set faults.0.start=1s
set_refused "a rule" "inject\[0\]$LATE run, at 11500ms" "$PFC" --set 'inject=[{"flow":"a-to-b","do":"drop","start":"1000s"}]'
check_exit 0 "a run may end within a fault" "$H" run link-flap --duration 4ms --dry-run
GPUU='when":{"flows.*.memory":"gpuu"}'
set_refused "a condition that holds nowhere" 'expect\[0\].when: flows.\*.memory is "gpuu" in no run: it is "gpu"' "$PFC" --set sweep=null --set "expect=[{\"name\":\"x\",\"check\":\"sum(flows.*.goodput_bps) > 0\",\"$GPUU}]"
set_refused "... by itself" 'expect\[1\].when: flows.\*.memory is "gpuu" in no run: it is "gpu"' "$PFC" --set sweep=null --set 'expect.1.when={"flows.*.memory":"gpuu"}'
set_refused "a counter that is not sampled" 'expect\[0\].check: .* tx_prio0_pause is of group pfc, which is not sampled' "$PFC" --set 'sample.groups=["throughput"]' \
    --set 'expect=[{"name":"x","check":"delta(a.tx_prio0_pause) > 0"}]'
set_refused "a port that the lab lacks" 'expect\[0\].check: .* has no counter port40_tx_bytes' "$INCAST" --set 'expect.0.check=delta(s0.port40_tx_bytes) > 0'
check "... and nothing is left" test ! -e results
check_exit 0 "a sweep that --set leaves out takes its conditions with it" "$H" run pfc-bidir --set 'sweep={}' --duration 1ms --dry-run

# ---- run, check and doctor ask the same of what --set makes
for change in 'flows.*.start=700s' 'expect.0.when={"flows.*.memory":"gpuu"}' 'storms=[{"role":"a","start":"800s","stop":"801s"}]' 'sweep={"flows.*.start":["0s","900s"]}'; do
    for command in "run --dry-run" check "doctor --for"; do
        # shellcheck disable=SC2086 # words
        "$H" $command "$ROOT/scenarios/pfc-bidir.json" --set "$change" >/dev/null 2>"$SCRATCH/said.${command%% *}"
        check "$change: refused by ${command%% *}" test $? = 2
    done
    check "... with one sentence" test "$(cat "$SCRATCH"/said.* | sort -u | wc -l)" = 1
done
finish
