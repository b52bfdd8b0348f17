#!/bin/bash
# Ranges of names in labs and scenarios are what they stand for, and defaults are merged under the hosts of every kind of lab.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/../lib.sh"
cd "$SCRATCH" || exit 1
H=$BUILD/harness

# ---- a lab and a scenario with ranges, and the same written out
cat >ranges.json <<'END'
{ "schema": 1, "name": "x", "driver": "sim",
  "hosts": { "h[00-03]": { "nic": { "model": "card {}", "tx_latency": "{+5}ns" } }, "h02": { "nic": { "tx_latency": "9ns" } } },
  "switches": { "s[0-1]": {} },
  "links": [ { "between": ["h[00-01]", "s0"] }, { "between": ["h[02-03]", "s1"] }, { "between": ["s0", "s1"] } ],
  "roles": { "a[0-3]": "h[00-03]" }, "defaults": { "link": { "rate": "25Gb/s" } } }
END
cat >written.json <<'END'
{ "schema": 1, "name": "x", "driver": "sim",
  "hosts": { "h00": { "nic": { "model": "card 00", "tx_latency": "5ns" } }, "h01": { "nic": { "model": "card 01", "tx_latency": "6ns" } },
             "h02": { "nic": { "model": "card 02", "tx_latency": "9ns" } }, "h03": { "nic": { "model": "card 03", "tx_latency": "8ns" } } },
  "switches": { "s0": {}, "s1": {} },
  "links": [ { "between": ["h00", "s0"] }, { "between": ["h01", "s0"] }, { "between": ["h02", "s1"] }, { "between": ["h03", "s1"] },
             { "between": ["s0", "s1"] } ],
  "roles": { "a0": "h00", "a1": "h01", "a2": "h02", "a3": "h03" }, "defaults": { "link": { "rate": "25Gb/s" } } }
END
jq -n '{schema: 1, name: "x", roles: ["a[0-3]"], phases: {warmup: "10us", measure: "1ms", cooldown: "10us"}, sample: {every: "100us"},
    settings: {pfc: [0]}, settings_of: {"a[0-1]": {mtu: 1500}, a1: {mtu: 4200}},
    flows: [{name: "up-{}", from: "a[0-2]", to: "a3", start: "{+1}us"}, {name: "side-{}", from: "a[0-1]", to: "a[1-2]"}],
    storms: [{role: "a[2-3]", start: "500us", stop: "510us"}],
    expect: [{name: "all arrive", check: "min(flows.up-*.goodput_bps) > 1Mb/s"}]}' >short.json
jq '.roles = ["a0", "a1", "a2", "a3"] | .settings_of = {a0: {mtu: 1500}, a1: {mtu: 4200}} |
    .flows = [{name: "up-0", from: "a0", to: "a3", start: "1us"}, {name: "up-1", from: "a1", to: "a3", start: "2us"},
              {name: "up-2", from: "a2", to: "a3", start: "3us"}, {name: "side-0", from: "a0", to: "a1"},
              {name: "side-1", from: "a1", to: "a2"}] |
    .storms = [{role: "a2", start: "500us", stop: "510us"}, {role: "a3", start: "500us", stop: "510us"}]' short.json >long.json
check "a lab with ranges, and one without, are good" "$H" check ranges.json written.json
"$H" lab show ranges.json >shown-ranges.json
"$H" lab show written.json >shown-written.json
check "they are the same lab" cmp shown-ranges.json shown-written.json
check "which is a lab itself" "$H" check shown-ranges.json
check "a scenario with ranges runs" "$H" run -q --no-report short.json --lab ranges.json --out one
check "and the one that is written out" "$H" run -q --no-report long.json --lab written.json --out two
for folder in one two; do
    jq 'del(.files, .scenario_file, .lab_file, .started, .finished, .cost, .phases, .host, .controller)' $folder/x/latest/result.json >$folder.json
done
check "their results have the same scenario, lab and figures" \
    test "$(jq -S '[.scenario, .lab, .flows, .expect, .summary]' one.json)" = "$(jq -S '[.scenario, .lab, .flows, .expect, .summary]' two.json)"
check "and the same samples" cmp <(sed 1d one/x/latest/samples.jsonl) <(sed 1d two/x/latest/samples.jsonl)

# ---- paths: [...] is a glob there
check_exit 0 "a path's brackets match single hosts" \
    "$H" run -n --json short.json --lab ranges.json --set 'lab.hosts.h0[0-1].nic.tx_latency=1ns'
jq -c '[.lab.hosts[].nic.tx_latency]' out >latencies
check_says "of which each is set" '^\["1ns","1ns","9ns","8ns"\]$' latencies
check_exit 0 "a path finds an item of a scenario that is a range by its own name, and what the brackets match" \
    "$H" run -n --json short.json --lab ranges.json --set 'settings_of.a[0-1].mtu=2000' --set 'flows.up-{}.depth=3'
jq -c '[.scenario.settings_of.a0.mtu, .scenario.settings_of.a1.mtu, (.scenario.flows[] | .depth)]' out >values
check_says "and sets it for all of its roles" '^\[2000,2000,3,3,3,128,128\]$' values

# ---- hosts whose NIC has a model of the table
jq '.hosts["h[00-03]"].nic.model = "connectx-5" | .hosts.h02.nic.model = "connect-x-5"' ranges.json >models.json
jq '.phases.measure = "10us" | .storms = [] | .expect = []' short.json >models-run.json
"$H" check models.json >out 2>&1
check_says "check names a lab's models" '^NIC model connectx-5 \(3 hosts\): what the lab does not state comes from the table' out
check_says "... and warns of a name that looks like a slip" 'warning: hosts.h02.nic.model: "connect-x-5" is not in the table .*ideal, connectx-4-lx, connectx-5.*write "connectx-5"' out
jq '.hosts |= {"h[00-03]": {"nic": {"model": "card 8", "ack_every": 16}}, "h02": {"nic": {"rx_latency": "1ns"}}}' ranges.json >titles.json
"$H" check models-run.json --lab titles.json >out 2>&1
check_says "... and of a title beside which a lab says nothing of the NIC" '^harness: warning: hosts.h00.nic.model: "card 8" is not in the table .*says nothing else of the NIC, all values are those of an ideal one$' out
"$H" check models-run.json --lab ranges.json >out 2>&1
check "... not where it does" test "$(grep -c 'of an ideal one' out)" = 0
"$H" run -q --no-report models-run.json --lab models.json --out models >/dev/null 2>&1
check "a result has the values' sources, whose they are, and the warning" jq -e '
    (.sources["hosts.*.pcie.generation (connectx-5)"] | test("4 in the table of NIC models")) and
    (.hosts.a0.facts.nic | .model == "connectx-5" and (.values | test("table of NIC models"))) and
    (.hosts.a2.facts.nic.values | test("^unknown: the model is a title")) and ([.warnings[] | test("connect-x-5")] | any)' models/x/latest/result.json

# ---- what a lab says of its NICs, and what does not come of it
jq -n '{schema: 1, name: "pair", roles: ["a", "b"], phases: {warmup: "0", measure: "10us"}, flows: [{name: "f", from: "a", to: "b"}]}' >pair.json
said() { # HOST WANTED [OPTION...]: the warning before a run, of two such hosts at 100 Gb/s; "": none
    jq -n --argjson host "$1" '{schema: 1, name: "pair", driver: "sim", hosts: {a: $host, b: $host}, links: [{between: ["a", "b"], rate: "100Gb/s", length: "2m"}]}' >pair-lab.json
    "$H" run -n pair.json --lab pair-lab.json "${@:3}" 2>&1 >/dev/null | sed -n 's/^harness: warning: //p' >warned
    if [ "$(cat warned)" = "$2" ]; then ok "said of $1 ${*:3}: ${2:-nothing}"; else nok "said of $1 ${*:3}: $2" "$(cat warned)"; fi
}
said '{"nic":{"tx_latency":"5us"},"pcie":{"lanes":4},"memory":{"read_latency":"1us"}}' "a and b: nic.tx_latency, pcie.lanes and memory.read_latency have no effect: pcie.generation is 0, an ideal NIC"
said '{"nic":{"tx_latency":"5us"},"pcie":{"generation":4}}' ""
said '{"nic":{"tx_latency":"0"},"pcie":{"lanes":8}}' "" # the defaults
said '{"nic":{"slow_restart_on_nak":true}}' "a and b: nic.slow_restart_on_nak has no effect: nic.slow_restart is off"
said '{"nic":{"unmarked_cnp_interval":"10us"}}' "a and b: nic.unmarked_cnp_interval has no effect: nic.unmarked_cnps is never"
said '{"nic":{"reorder_wait":"10us","recovery_window":8}}' "a and b: nic.reorder_wait and nic.recovery_window have no effect: nic.recovery is go-back-n, and nic.out_of_order_placement off"
said '{"nic":{"reorder_wait":"10us","recovery":"selective-repeat"}}' ""
said '{"nic":{"recovery":"selective-repeat"}}' "flow f: nic.recovery selective-repeat has no effect: reads go back N" --set flows.f.op=read
said '{"nic":{"retransmission_firmware":"16.35"}}' "a and b: nic.retransmission_firmware has no effect: neither nic.adaptive_retransmission nor nic.min_ack_timeout_limit_disabled is on"
said '{"nic":{"ingress":{"depth":"1MB","loss":"1kB","sending":"50Gb/s"}}}' "a and b: nic.ingress.depth, nic.ingress.loss and nic.ingress.sending have no effect: nic.ingress.rate is 0, and the port takes in everything"
said '{"nic":{"ingress":{"of_queue_pair":true}}}' "a and b: nic.ingress.of_queue_pair has no effect: nic.ingress.rate is 0, and the port takes in everything"
said '{"nic":{"ingress":{"rate":"90Gb/s","depth":"1MB","loss":"1kB","rate_when_sending":"80Gb/s"}}}' "a and b: nic.ingress.rate_when_sending has no effect: nic.ingress.sending is 0"
said '{"nic":{"ingress":{"rate":"90Gb/s","depth":"1MB","loss":"1kB","sending":"50Gb/s","rate_when_sending":"80Gb/s"}}}' ""
said '{"nic":{"adaptive_retransmission":true,"min_ack_timeout_limit_disabled":true}}' "a and b: nic.adaptive_retransmission has no effect: nic.min_ack_timeout_limit_disabled is on"
said '{"pcie":{"generation":4},"memory":{"stall_mean":"1us","bank":"10ns"},"gpu":{"stall_mean":"1us"},"software":{"spike":"5us"}}' "a and b: memory.stall_mean has no effect: memory.stalls_per_s is 0
a and b: gpu.stall_mean has no effect: gpu.stalls_per_s is 0
a and b: memory.bank has no effect: memory.banks is 0
a and b: software.spike has no effect: software.spikes_per_turn is 0"
for not_real in 'lanes 3 no link has 3 lanes: expected 1, 2, 4, 8, 12 or 16' 'max_payload "300B" 300 is not a power of two' 'max_read_request "4095B" 4095 is not a power of two'; do
    read -r key value why <<<"$not_real"
    jq --arg key "$key" --argjson value "$value" '.hosts.a.pcie = {generation: 4, ($key): $value}' pair-lab.json >not-real.json
    check_exit 2 "pcie.$key $value" "$H" check not-real.json
    check_says "  is refused" "pcie.$key: $why" err
done
said '{"nic":{"model":"connectx-5","slow_restart":false,"unmarked_cnps":"never","adaptive_retransmission":false}}' "" # what is left is the model's
said '{"nic":{"model":"connectx-4-lx"}}' "a and b: connectx-4-lx is a NIC of 25 Gb/s, where its values were measured, and the link has 100 Gb/s: nothing was measured there"
said '{"nic":{"model":"connectx-7"}}' ""
said '{"nic":{"model":"connectx-4-lx"}}' "" --set 'sweep={"lab.links.0.rate": ["25Gb/s", "100Gb/s"]}'

# ---- a rack over ssh
cat >rack.json <<'END'
{ "schema": 1, "name": "rack", "driver": "ssh",
  "defaults": { "host": { "identity": "/keys/lab", "sudo": true, "nic": { "netdev": "ens1f0np0", "gid_index": 3 } }, "link": { "rate": "100Gb/s" } },
  "hosts": { "r[1-2]h[0-3]": { "ssh": "root@r{1}h{2}.example.net", "nic": { "address": "10.0.{1}.{2+1}/16" } },
             "r2h3": { "sudo": false, "nic": { "netdev": "ens2", "gid_index": null } } },
  "links": [ { "between": ["r1h[0-3]", "r2h[0-3]"] } ] }
END
check "a rack is good" "$H" check rack.json
check_exit 0 "its hosts" "$H" lab get rack.json 'hosts.*.ssh' 'hosts.*.nic.address' hosts.r2h2.sudo hosts.r2h3.sudo hosts.r2h3.nic.netdev \
    hosts.r2h3.nic.gid_index hosts.r1h0.nic.gid_index 'links.*.rate'
cat >wanted <<'END'
root@r1h0.example.net
root@r1h1.example.net
root@r1h2.example.net
root@r1h3.example.net
root@r2h0.example.net
root@r2h1.example.net
root@r2h2.example.net
root@r2h3.example.net
10.0.1.1/16
10.0.1.2/16
10.0.1.3/16
10.0.1.4/16
10.0.2.1/16
10.0.2.2/16
10.0.2.3/16
10.0.2.4/16
true
false
ens2

3
100000000000
100000000000
100000000000
100000000000
END
check "have their names, addresses and the defaults" cmp wanted out

# ---- what it prints
check_exit 2 "an action that does not exist" "$H" lab shw rack.json
check_says "is named" 'lab: "shw" is unknown: expected get, show or discover' err
check_exit 2 "get without a path" "$H" lab get rack.json
check_says "says what it takes" 'lab: expected get LAB PATH' err
check_exit 2 "show with a path" "$H" lab show rack.json hosts
check_says "says what it takes" 'lab: expected show LAB' err
jq '.hosts.x = {}' rack.json >broken.json
check_exit 2 "a lab that is not good" "$H" lab show broken.json
check_says "is refused" 'broken.json: hosts.x.ssh is missing' err
if [ -w /dev/full ]; then check_exit 3 "a full disk" sh -c "'$H' lab show rack.json >/dev/full"; fi
finish
