#!/bin/bash
# Hosts with several NICs: a lab's "nics" are nodes, and a scenario's names are bound to them.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/../lib.sh"
cd "$SCRATCH" || exit 1
H=$BUILD/harness
newest() { find "$1" -name result.json | sort | sed -n "${2:-1}p"; }

# ---- a lab, and one that names the nodes itself
cat >rails.json <<'END'
{ "schema": 1, "name": "x", "driver": "sim", "roles": { "a": "h0", "b": "h1" },
  "hosts": { "h[0-1]": { "gpus": { "gpu[0-1]": {} } }, "h1": { "nics": { "rail3": { "tx_latency": "9ns" } } } },
  "switches": { "s": {} }, "links": [ { "between": ["h0.rail[0-3]", "s"] }, { "between": ["h1.rail[0-3]", "s"] } ],
  "defaults": { "host": { "nics": { "rail[0-3]": { "tx_latency": "{+5}ns" } } }, "link": { "rate": "25Gb/s" } } }
END
jq -n '{schema: 1, name: "x", driver: "sim", hosts: ([range(2) as $h | range(4) as $i | {key: "h\($h).rail\($i)",
      value: {machine: "h\($h)", nic: {tx_latency: (if $h == 1 and $i == 3 then "9ns" else "\($i + 5)ns" end)}, gpu: {}}}] | from_entries),
    switches: {s: {}}, links: [range(2) as $h | range(4) as $i | {between: ["h\($h).rail\($i)", "s"]}], defaults: {link: {rate: "25Gb/s"}},
    roles: {a: "h0", b: "h1"}}' >nodes.json
for lab in rails nodes; do "$H" lab show $lab.json | jq -S 'del(.hosts[].nic.model)' >shown-$lab.json; done
check "NICs are nodes" cmp shown-rails.json shown-nodes.json
check "a node's machine is named" test "$("$H" lab get rails.json hosts.h1.rail2.machine)" = h1

# ---- a scenario
jq -n '{schema: 1, name: "x", lab: "rails.json", roles: ["a", "b"], phases: {warmup: "10us", measure: "1ms", cooldown: "10us"}, sample: {every: "100us"},
    settings: {pfc: [0]}, settings_of: {a: {mtu: 1500}, "a.rail3": {mtu: 4200}}, storms: [{role: "a", start: "500us", stop: "510us"}],
    flows: [{name: "up", from: "a.rail*", to: "b.rail*", size: "64KiB"}, {name: "next", from: "b.*l?", to: "a.rail*", size: "64KiB", after: [{flows: ["up"]}]},
            {name: "down", from: "b", to: "a"}],
    traffic: [{name: "many", pattern: "incast", from: ["a.*1"], to: ["b.rail?"]}], inject: [{name: "loss", flow: "up", do: "drop", nth: 2}],
    expect: [{name: "each", check: "count(flows.up.goodput_bps) == 4"}, {name: "one", check: "count(flows.up.rail2.goodput_bps) == 1"},
             {name: "NIC", check: "delta(b.rail1.rx_prio0_bytes) > 0"}, {name: "patterns", check: "count(flows.many.rail1.goodput_bps) == 1"},
             {name: "sum", check: "delta(b.rx_prio0_bytes) == delta(b.rail0.rx_prio0_bytes) + delta(b.rail1.rx_prio0_bytes) + delta(b.rail2.rx_prio0_bytes) + delta(b.rail3.rx_prio0_bytes)"}]}' >s.json
check "it is good" "$H" check s.json
check "it is good without a lab" "$H" check <(jq 'del(.lab)' s.json)
check_exit 0 "it runs" "$H" run -q --no-report s.json --out one
R=$(newest one)
check "roles are NICs" test "$(jq -r '.hosts | keys_unsorted | join(" ")' "$R")" = "a.rail0 a.rail1 a.rail2 a.rail3 b.rail0 b.rail1 b.rail2 b.rail3"
check "a glob is a flow for each NIC" test "$(jq -r '[.flows | to_entries[] | select(.key | startswith("up")) | "\(.key) \(.value.from) \(.value.to)"] | join(", ")' "$R")" = \
    "up.rail0 a.rail0 b.rail0, up.rail1 a.rail1 b.rail1, up.rail2 a.rail2 b.rail2, up.rail3 a.rail3 b.rail3"
check "a host alone is its first NIC" test "$(jq -r '.flows.down | "\(.from) \(.to)"' "$R")" = "b.rail0 a.rail0"
check "settings of a NIC lie over those of its host" test "$(jq -c '[.scenario.settings_of[].mtu]' "$R")" = "[1500,1500,1500,4200]"
check "a flow waits for the one of its NIC" test "$(jq -c '[.scenario.flows[] | select(.name | startswith("next")).after[0].flows[]]' "$R")" = '["up.rail0","up.rail1","up.rail2","up.rail3"]'
check "storms and rules are for each NIC" test "$(jq -c '[[.scenario.storms[].role], [.scenario.inject[] | .name, .flow]]' "$R")" = \
    '[["a.rail0","a.rail1","a.rail2","a.rail3"],["loss.rail0","up.rail0","loss.rail1","up.rail1","loss.rail2","up.rail2","loss.rail3","up.rail3"]]'
check "expectations read one NIC, and all" test "$(jq -c '[.expectations[].verdict] | unique' "$R")" = '["passed"]'

# ---- from rail to rail
pairs() { "$H" run -q --no-report s.json --out "$1" --set 'flows=[]' --set 'inject=[]' --set 'expect=[]' --set "traffic=[$2]" >/dev/null 2>&1; jq -r '[.flows[] | select(.from) | .from + ">" + .to] | join(" ")' "$(newest "$1")"; }
across='"name": "across", "pattern": "permutation", "from": ["a.*", "b.*"], "nic_shift": 3'
check "NIC i sends to NIC i + nic_shift, round the NICs of the glob" test "$(pairs across "{$across, \"shift\": 1}")" = \
    "a.rail0>b.rail3 b.rail0>a.rail3 a.rail1>b.rail0 b.rail1>a.rail0 a.rail2>b.rail1 b.rail2>a.rail1 a.rail3>b.rail2 b.rail3>a.rail2"
check "... with receivers of its own, too" test "$(pairs ends "{$across, \"to\": [\"b.*\", \"a.*\"], \"shift\": 2}")" = \
    "a.rail0>b.rail3 b.rail0>a.rail3 a.rail1>b.rail0 b.rail1>a.rail0 a.rail2>b.rail1 b.rail2>a.rail1 a.rail3>b.rail2 b.rail3>a.rail2"

# ---- the same with nodes that the lab and the scenario write out
jq 'del(.storms, .inject, .traffic, .expect[3])' s.json >short.json
jq '.lab = "nodes.json" | .flows = ([range(4) | {name: "up.rail\(.)", from: "a.rail\(.)", to: "b.rail\(.)", size: "64KiB"}] +
    [range(4) | {name: "next.rail\(.)", from: "b.rail\(.)", to: "a.rail\(.)", size: "64KiB", after: [{flows: ["up.rail\(.)"]}]}] + [{name: "down", from: "b.rail0", to: "a.rail0"}])' short.json >long.json
check_exit 0 "without what the lab binds" "$H" run -q --no-report short.json --out short
check_exit 0 "... and written out" "$H" run -q --no-report long.json --out long
check "it is the same" cmp <(jq '.hosts, .flows' "$(newest short)") <(jq '.hosts, .flows' "$(newest long)")

# ---- paths
"$H" run -q --no-report s.json --out set --set settings_of.a.rail3.mtu=9000 --set settings_of.a.rail1.mtu=9000 --set lab.hosts.h0.nics.rail0.tx_latency=1us >/dev/null 2>&1
check "a path leads to the settings of a NIC" test "$(jq -c '[.scenario.settings_of[].mtu]' "$(newest set)")" = "[1500,9000,1500,9000]"
check "... and into a lab's NIC" test "$(jq -r .lab.hosts.h0.nics.rail0.tx_latency "$(newest set)")" = 1us
"$H" run -q --no-report s.json --out swept --set 'sweep={"settings_of.a.rail3.mtu": [1500, 4200]}' >/dev/null 2>&1
check "a sweep varies one NIC" test "$(jq -r '.scenario.settings_of["a.rail3"].mtu' "$(newest swept 1)") $(jq -r '.scenario.settings_of["a.rail3"].mtu' "$(newest swept 2)")" = "1500 4200"

# ---- what is refused
refused() { # NAME PATTERN SETTING...
    local sets=()
    for set in "${@:3}"; do sets+=(--set "$set"); done
    check_exit 2 "$1" "$H" check s.json "${sets[@]}"
    check_says "... is refused" "$2" err
}
refused "a glob that no NIC matches" 'flows\[0\].from: "a.rial\*" is not a NIC of host h0: expected one of a.rail0, a.rail1, a.rail2, a.rail3' 'flows.up.from=a.rial*'
refused "a NIC that is not there" 'flows\[0\].to: "b.rail9" is not a NIC of host h1; did you mean "rail."\?: expected one of' 'flows.up.to=b.rail9'
refused "globs without a common NIC" 'flows\[0\]: no NIC has a name that all of a.\*0 and b.\*1 match' 'flows.up.from=a.*0' 'flows.up.to=b.*1'
refused "a setting of a NIC that is not there" 'settings_of: "a.rail7" is not a NIC of host h0' settings_of.a.rail7.mtu=1500
refused "a link of the whole host" 'host "a" has several NICs: expected one of a.rail0, a.rail1' 'faults=[{"link":["a","s"],"kind":"down","start":"10us","stop":"20us"}]'
refused "a port of the whole host" 'capture.ports\[0\]: "a:0": the host has several NICs, with a port each: expected one of a.rail0' 'capture.ports=["a:0"]'
refused "a counter of a NIC that is not there" 'role a has no NIC "rail9"; did you mean "a.rail.' 'expect=[{"name":"x","check":"delta(a.rail9.tx_bytes) > 0"}]'
check_exit 0 "a port of a NIC is taken" "$H" check s.json --set 'capture={"ports":["a.rail1:0", "b"]}'
jq '.flows = [range(26000) | {name: "f\(.)", from: "a.rail*", to: "b.rail*"}]' s.json >many.json
check_exit 2 "more flows than a scenario has" "$H" check many.json
check_says "... are refused" 'flows\[[0-9]*\]: with the NICs of their hosts more than 100000' err
jq '.driver = "ssh" | .hosts = {"h[0-1]": {ssh: "h{}", nics: {"rail[0-1]": {netdev: "e{}", address: "10.0.{2}.{1+1}/24"}}}} | del(.switches, .links, .defaults)' rails.json >ssh.json
jq 'del(.traffic, .inject, .storms, .expect, .settings_of) | .flows = [{name: "in", from: "a.rail0", to: "a.rail1"}]' s.json >inside.json
check_exit 2 "a flow inside of a machine on real hosts" "$H" check inside.json --lab ssh.json
check_says "... is refused" 'flow in: a.rail0 and a.rail1 are NICs of one machine, h0' err

jq '.expect = [{name: "x", when: {"lab.hosts.h0.nics.rail1.netdev": "e1", "lab.hosts.h0.ssh": "h0"}, check: "sum(flows.in.goodput_bps) > 0"}] | .flows[0].to = "b.rail0" | del(.lab)' inside.json >paths.json
check_exit 0 "paths into real labs lead to NICs as they are written" "$H" check paths.json --lab ssh.json
check_exit 2 "... and to no others" "$H" check paths.json --lab ssh.json --set 'expect.0.when={"lab.hosts.h0.nics.rail7.netdev": "e1"}'
jq '.hosts["h[0-1]"].gpus = {"gpu[0-3]": {}}' ssh.json >gpus.json
jq '.flows = [{name: "near", from: "a.rail1", to: "b.rail1", memory: "gpu"}, {name: "far", from: "a.rail1", to: "b.rail1", memory: "gpu", gpu: 3}]' inside.json >gpu.json
check_exit 0 "a flow names a GPU of the lab" "$H" check gpu.json --lab gpus.json
check_exit 2 "one that the lab does not have" "$H" check gpu.json --lab gpus.json --set flows.far.gpu=4
check_says "... is refused, with those that it has" 'flow far.gpu: host h0.rail1 of lab x has no GPU 4: expected one of 0, 1, 2, 3' err
check_exit 2 "a GPU of a flow in host memory" "$H" check gpu.json --lab gpus.json --set flows.far.memory=host
check_says "... is refused" 'flows\[1\].gpu: the flow.s memory is the host.s' err
"$H" check gpu.json --lab rails.json >/dev/null 2>err
check_says "a simulated NIC has its nearest GPU alone" 'flow far: gpu has no effect: a simulated NIC has the memory of its nearest GPU alone' err

# ---- the example
check_exit 0 "pfc-bidir-rails runs" "$H" run -q --no-report pfc-bidir-rails --out example
check "only the slow GPU's rail is paused" test "$(jq -c '[.hosts | to_entries[] | select((.value.counters.tx_prio3_pause.delta // 0) > 0).key]' "$(newest example 2)")" = '["b.rail3"]'

# ---- sums over the NICs of a host
X=$(newest example 2)
check "a host's NICs say so" test "$(jq -r '[.hosts[].machine] | unique | join(" ")' "$X") $(jq -r '[.topology.nodes[].machine // empty] | unique | join(" ")' "$X")" = "a b a b"
check "machines have the sums of their NICs" test "$(jq '[.machines.b.counters.tx_prio3_bytes.delta, ([.hosts | to_entries[] | select(.key | startswith("b.")).value.counters.tx_prio3_bytes.delta] | add)] | unique | length' "$X")" = 1
check "... and name them" test "$(jq -r '.machines.b.of | join(" ")' "$X")" = "b.rail0 b.rail1 b.rail2 b.rail3"
check "... and where most was counted" test "$(jq -r '.machines.b.counters.tx_prio3_pause.most.role' "$X")" = b.rail3
check "a lab without such hosts has none" test "$(jq 'has("machines")' "$(cd "$SCRATCH" && "$H" run -q --no-report write-latency -d 1ms --out plain >/dev/null 2>&1; newest plain)")" = false
check_exit 0 "a page is made" "$H" report example/pfc-bidir-rails/latest
check_says "it counts hosts and NICs" '2 hosts with 8 NICs and 4 switches' example/pfc-bidir-rails/latest/report/index.html
check_says "its sums say that they are" 'Counters of hosts with several NICs, each the sum over its NICs' example/pfc-bidir-rails/latest/report/index.html
"$H" run --no-report pfc-bidir-rails --out shown >out 2>err
check_says "so do those of the terminal" '^  b, sums of 4 NICs: flows from it [0-9.]+ Gb/s, to it [0-9.]+ Gb/s; PFC frames sent [1-9][0-9]*, received 0$' out
"$H" run --no-report pfc-bidir-rails -d 100us --out uncounted --set sweep=null --set expect=null --set settings.pfc=[] >out 2>err
check_says "which say so where no NIC counts them" '; PFC frames sent unknown \(no NIC counts them\), received unknown \(no NIC counts them\)$' out
"$H" run --no-report pfc-bidir-rails -d 100us --out some --set sweep=null --set 'settings_of={"b.rail1": {"pfc": [3, 4]}}' \
    --set 'expect=[{"name":"most","check":"total(b.tx_prio*_pause) < 1000000"},{"name":"some","check":"total(b.tx_prio*_pause) >= 0"}]' >out 2>err
check "a sum over counters that only some NICs have is not theirs alone" \
    test "$(jq -r '.expectations | map(.verdict) | join(" ")' "$(newest some)")" = "skipped passed"
check_says "... which is said" 'b.tx_prio\*_pause: 1 of 4 NICs have all of them' out
check_exit 1 "a rule reads one NIC" "$H" compare example/pfc-bidir-rails/latest/01 example/pfc-bidir-rails/latest/02 --fail-if 'delta(b.rail3.tx_prio3_pause) > old'
check_exit 0 "... and not another" "$H" compare example/pfc-bidir-rails/latest/01 example/pfc-bidir-rails/latest/02 --fail-if 'delta(b.rail2.tx_prio3_pause) > old'

# ---- a NIC without the counter
jq '.settings.pfc = [3] | .settings_of = {"a.rail3": {pfc: []}} | del(.inject, .storms, .traffic) |
    .expect = [["NIC", "delta(a.rail3.rx_prio3_pause) == 0"], ["host", "delta(a.rx_prio3_pause) == 0"], ["glob", "delta(a.rail*.rx_prio3_pause) == 0"], ["rate", "rate(a.rx_prio3_pause) < 1/s"],
        ["all", "delta(*.rx_prio3_pause) == 0"], ["other", "delta(b.rx_prio3_pause) == 0"]] | .expect |= map({name: .[0], check: .[1]})' s.json >lacking.json
"$H" run --no-report lacking.json --out lacking >out 2>err
L=$(newest lacking)
check "a sum that lacks a NIC decides nothing" test "$(jq -r '[.expectations[] | "\(.name) \(.verdict)"] | join(", ")' "$L")" = \
    "NIC skipped, host skipped, glob skipped, rate skipped, all passed, other passed"
check "... and says of how many it is" test "$(jq -r '[.expectations[] | select(.name == "host" or .name == "glob").reason] | join(", ")' "$L")" = \
    "a.rx_prio3_pause: 3 of 4 NICs have it, a.rail*.rx_prio3_pause: 3 of 4 NICs have it"
check "so does the sum of the machine" test "$(jq -c '[.machines.h0.counters.rx_prio3_pause.of, .machines.h0.counters.rx_prio3_bytes.of, .machines.h1.counters.rx_prio3_pause.of]' "$L")" = '[3,null,null]'
check_says "... the terminal" '^  h0, sums of 4 NICs: .*received 0 \(counted by 3 of 4 NICs\)$' out
check_exit 0 "a run with pauses, of which one NIC counts none" "$H" run -q pfc-bidir-rails --set 'settings_of={"b.rail0":{"pfc":[]}}' --set sweep=null --out fewer
check_says "... its page says so" '<td>b</td><td class=number>3 of 4</td><td [^>]*>tx_prio3_pause<' "$(dirname "$(newest fewer)")/report/index.html"

# ---- paths to what is not there, and null for what the defaults give
refused "a value of a role's name" 'lab.hosts.a.nics.rail3.tx_latency: there is no host a: role a is host h0 of the lab' lab.hosts.a.nics.rail3.tx_latency=1us
refused "a value of no host" 'lab.hosts.h7.nics.rail3.tx_latency: there is no host h7; did you mean h[01]\?: expected one of the lab, or a new one whole, lab.hosts.h7=\{...\}' lab.hosts.h7.nics.rail3.tx_latency=1us
refused "... of no switch" 'lab.switches.ss.buffer: there is no switch ss; did you mean s\?' lab.switches.ss.buffer=1MiB
jq '.links += [{between: ["h7.rail[0-3]", "s"]}]' rails.json >wider.json
check_exit 0 "a new host is given whole" "$H" check s.json --lab wider.json --set 'lab.hosts.h7={"nics":{"rail0":{}}}' --set lab.hosts.h7.nics.rail0.tx_latency=1us
jq '.links[0].between[0] = "h0.rail[0-2]"' rails.json >unlinked.json
jq '.flows = [{name: "up", from: "a.rail0", to: "b.rail0"}] | del(.inject, .storms, .traffic, .expect, .settings_of)' s.json >up.json
check_exit 2 "a NIC that no link reaches" "$H" run -n up.json --lab unlinked.json
check_exit 0 "null takes it away, also where the defaults give it" "$H" run -n up.json --lab unlinked.json --set lab.hosts.h0.nics.rail3=null
check_exit 0 "... in an object" "$H" run -n up.json --lab unlinked.json --set 'lab.hosts.h0.nics={"rail3":null}'
"$H" run -q --no-report up.json --set 'lab.hosts.*.nics.rail0.tx_latency=null' --out null >/dev/null 2>&1
check "... a value" test "$(jq -c '[.lab.hosts[].nics.rail0 | has("tx_latency"), .tx_latency]' "$(newest null)")" = '[true,null,true,null]'

# ---- values for scripts
check "a NIC is named as the file has it" test "$("$H" lab get rails.json hosts.h0.nics.rail2.tx_latency)" = "$("$H" lab get rails.json hosts.h0.rail2.nic.tx_latency)"
check "... and has a value" test "$("$H" lab get rails.json hosts.h0.nics.rail2.tx_latency)" = 7000
not_got() { # WHAT PATTERN PATH
    check_exit 2 "$1" "$H" lab get rails.json "$3"
    check_says "... is refused" "$2" err
}
not_got "an object" 'hosts.h0.rail3 is an object, not a value: expected one of its keys behind it: .*nic, .*pcie' hosts.h0.rail3
not_got "a host of several NICs" 'hosts.h0.pcie.lanes: host h0 has several NICs, each with values of its own: expected one of h0.rail0, h0.rail1, h0.rail2, h0.rail3' hosts.h0.pcie.lanes
not_got "a list of objects" 'links is a list of 8 objects: expected a number or "\*" behind it' links
not_got "a NIC that is not there" 'hosts.h0.nics.rail9.tx_latency: host h0 has several NICs' hosts.h0.nics.rail9.tx_latency

# ---- hints
refused "roles as a lab has them" 'roles: is an object: expected a list of names, such as \["a", "b"\]; which hosts these are is said by "roles" of the lab' 'roles={"a":"h0"}'
refused "a range of NICs in a flow" 'name: "up" would be the name of 2: expected \{\} for the number, such as "up-\{\}", or a glob of NICs in place of the range, such as "a.rail\*"' 'flows.up.from=a.rail[0-1]'
"$H" check s.json --set settings_of.a.rail3.trust=pcp >/dev/null 2>err
check_says "a trust mode of one NIC is told to change headers alone" "warning: .*a.rail3: simulated packets have their flow's priority: the setting trust changes their headers alone" err

finish
