#!/bin/bash
# Bad input never crashes and never runs: every case has its exit code, an error message that names the thing, and leaves no result.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/../lib.sh"
cd "$SCRATCH" || exit 1
H=$BUILD/harness
GOOD=$ROOT/scenarios/pfc-bidir.json
LAB=$ROOT/labs/sim-geforce-pair.json

# expect CODE PATTERN WHAT ARG...: the program prints a message that matches PATTERN, exits with CODE, and creates no result.
expect() {
    local wanted=$1 pattern=$2 what=$3 code
    shift 3
    timeout 20 "$H" "$@" >out 2>err </dev/null
    code=$?
    if [ "$code" != "$wanted" ]; then
        nok "$what" "exit code $code, expected $wanted; $(cat err)"
    elif ! grep -qE -- "$pattern" err; then
        nok "$what" "no /$pattern/ in: $(cat err)"
    elif [ -n "$(find . -name result.json -o -name index.json)" ]; then
        nok "$what" "a result was created"
    else
        ok "$what"
    fi
}

# The scenario (or lab) after a jq filter; checked with a run that must not begin, by the next judge_cases: one jq writes all of them.
WHAT=() SAYS=() FILTERS=()
scenario() { WHAT+=("$1") SAYS+=("case.json: $2") FILTERS+=("($3)"); }
lab() { WHAT+=("$1") SAYS+=("lab.json: $2") FILTERS+=("($3)"); }
judge_cases() { # DOCUMENT FILE ARG...: FILE is DOCUMENT after each filter
    local line filters i=0
    filters=$(IFS=, && echo "${FILTERS[*]}")
    while IFS= read -r line; do
        echo "$line" >"$2"
        expect 2 "${SAYS[i]}" "${WHAT[i]}" "${@:3}"
        i=$((i + 1))
    done < <(jq -c "$filters" "$1")
    [ $i = ${#WHAT[@]} ] || nok "each of ${#WHAT[@]} filters makes a document" "$i did"
    WHAT=() SAYS=() FILTERS=()
}
text() {
    printf '%b' "$3" >case.json
    expect 2 "$2" "$1" run case.json --lab "$LAB" --out results
}
check_of() { scenario "$1" "expect\[0\].check: .*$2" ".expect=[{\"name\":\"x\",\"check\":\"$3\"}]"; }

# ---- the text of a document
text "syntax error: line and column" 'case.json:2:[0-9]+: ' '{ "schema": 1,\n "name": oops }'
text "a document that ends early" 'case.json:1:[0-9]+: ' '{ "schema": 1'
text "a comma too many" 'case.json:1:[0-9]+: ' '{ "schema": 1, }'
text "an empty file" 'case.json' ''
text "not an object" 'case.json: expected an object' '[1, 2]'
text "not text" 'case.json' '\0377\0376\0001\0002'
text "not UTF-8 inside a string" 'case.json' '{ "schema": 1, "name": "\0377" }'
text "a zero byte in a name" 'case.json' '{ "schema": 1, "name": "a\\u0000b", "roles": ["a"] }'
text "the same key twice" 'case.json.*duplicate' '{ "schema": 1, "schema": 1 }'
text "two comments of one key" "case.json:1:[0-9]+: duplicate object key near '\"//\"': comments of one object have different keys, such as \"//\" and \"// 2\"" \
    '{ "schema": 1, "//": "one", "//": "two" }'
head -c 17000000 /dev/zero | tr '\0' ' ' >case.json
expect 2 'case.json.*(16 MiB|16777216|large)' "17 MiB of blanks" run case.json --lab "$LAB"
python3 -c 'print("[" * 100000)' >case.json 2>/dev/null || printf '[%.0s' {1..100000} >case.json
expect 2 'case.json' "a hundred thousand brackets" run case.json --lab "$LAB"
expect 2 'no scenario "scenarios/pfc-bidr.json".*did you mean "pfc-bidir"\?' "a scenario whose name is misspelled" run scenarios/pfc-bidr.json
expect 2 'no lab "sim-geforce-piar".*did you mean "sim-geforce-pair"\?' "a lab whose name is misspelled" check sim-geforce-piar
expect 2 'no scenario "nowhere.json"' "a scenario that does not exist" run nowhere.json
expect 2 'is a folder' "a folder" run "$SCRATCH"

# ---- keys, types, units, ranges
scenario "unknown key, with the nearest" 'document: unknown key "flow"; did you mean "flows"' '.flow=[]'
scenario "unknown key inside a list" 'flows\[0\]: unknown key "mesage"; did you mean "message"' '.flows[0].mesage="1KiB"'
scenario "unknown key in settings" 'settings: unknown key "pcf"; did you mean "pfc"' '.settings.pcf=[0]'
scenario "unknown DCQCN parameter" 'settings.dcqcn.rp: unknown key "rpg_ai_rte"; did you mean "rpg_ai_rate"' '.settings.dcqcn.rp.rpg_ai_rte=5'
scenario "a required key is missing" 'roles is missing' 'del(.roles)'
scenario "a flow without a name" 'flows\[1\].name is missing' 'del(.flows[1].name)'
scenario "a number where a list belongs" 'settings.pfc: 0 is a number: expected a list' '.settings.pfc=0'
scenario "a string where a number belongs" 'settings.mtu: "4200" is a string' '.settings.mtu="4200"'
scenario "a fraction where a whole number belongs" 'flows\[0\].depth: 1.5' '.flows[0].depth=1.5'
scenario "null" 'flows\[0\].op: null is null' '.flows[0].op=null'
scenario "a number without its unit" 'phases.measure: 10 is a number: expected a time' '.phases.measure=10'
scenario "a number in a string without its unit" 'phases.measure: "10"' '.phases.measure="10"'
scenario "a unit of another kind" 'phases.measure: "10KiB"' '.phases.measure="10KiB"'
scenario "a unit that does not exist" 'flows\[0\].message: "64Kib"' '.flows[0].message="64Kib"'
scenario "a negative time" 'phases.warmup: "-1s"' '.phases.warmup="-1s"'
scenario "a time of 0" 'phases.measure: "0" is out of range' '.phases.measure="0"'
scenario "a time that is too large" 'phases.measure: "99999999999999999999s"' '.phases.measure="99999999999999999999s"'
scenario "depth 0" 'flows\[0\].depth: 0 is out of range: expected a whole number from 1 to' '.flows[0].depth=0'
scenario "depth of a billion" 'flows\[0\].depth: 1000000000 is out of range' '.flows[0].depth=1000000000'
scenario "priority 8" 'flows\[0\].priority: 8 is out of range: expected a whole number from 0 to 7' '.flows[0].priority=8'
scenario "PFC on priority 8" 'settings.pfc\[0\]: 8 is out of range' '.settings.pfc=[8]'
scenario "a buffer for priority 9" 'settings.prio_to_buffer: "9" is not a priority' '.settings.prio_to_buffer={"9":1}'
scenario "buffer 8" 'settings.prio_to_buffer.0: 8 is out of range' '.settings.prio_to_buffer={"0":8}'
scenario "a buffer of negative size" 'settings.buffer_bytes\[1\]: -1 is out of range' '.settings.buffer_bytes=[0,-1]'
scenario "an operation that does not exist" 'flows\[0\].op: "wrote" is unknown: expected one of "write"' '.flows[0].op="wrote"'
scenario "a memory that does not exist" 'flows\[0\].memory: "disk" is unknown' 'del(.sweep)|.flows[0].memory="disk"'
scenario "a trust mode that does not exist" 'settings.trust: "vlan" is unknown: expected one of "pcp", "dscp"' '.settings.trust="vlan"'
scenario "RED with min above max" 'settings.red: min 300000 is not below max 200000' '.settings.red={"limit":"2MB","min":"300000B","max":"200000B"}'
scenario "ECN with kmin above kmax" 'settings.ecn_threshold: kmin' '.settings.ecn_threshold={"kmin":"2MB","kmax":"1MB","pmax":0.1}'
scenario "a probability above 1" 'settings.ecn_threshold.pmax: 1.5 is out of range' '.settings.ecn_threshold={"kmin":"1KB","kmax":"1MB","pmax":1.5}'
scenario "unknown congestion control" 'settings.congestion_control: "cubic" is unknown: expected one of "dcqcn", "dcqcn_vwin", "hpcc", "dctcp", "timely", "timely_vwin", "none"' '.settings.congestion_control="cubic"'
scenario "HPCC parameter out of range" 'settings.hpcc.u_target: 95 is out of range' '.settings.hpcc.u_target=95'
scenario "TIMELY with t_low above t_high" 'settings.timely: t_low 50.000 us is above t_high 5.000 us' '.settings.timely={"t_low":"50us","t_high":"5us"}'
scenario "DCQCN parameter out of range" 'settings.dcqcn.rp.dce_tcp_g: 4096 is out of range' '.settings.dcqcn.rp.dce_tcp_g=4096'
scenario "a misspelled key beside a comment" 'settings: unknown key "pfcc"; did you mean "pfc"' '.settings={"//":"PFC","pfcc":[3]}'
scenario "a comment that is a path" 'settings: unknown key "//": expected one of' '.sweep={"settings.//":[1,2]}'
scenario "a newer schema" 'schema: 2 is' '.schema=2'
scenario "a group of counters that does not exist" 'sample.groups\[0\]: "pcf" is unknown: expected one of "all", "pfc", .*"errors", .*"buffer"' '.sample.groups=["pcf"]'
scenario "a capability that must be there and not be there" 'expect\[0\].needs: "gpu" and "!gpu" exclude each other' '.expect[0].needs=["gpu","!gpu"]'
scenario "the absence of a capability that does not exist" 'expect\[0\].needs\[0\]: "!pfcc" is unknown.*"!pfc"' '.expect[0].needs=["!pfcc"]'
scenario "a capability that does not exist" 'expect\[0\].needs\[0\]: "pfcc" is unknown' '.expect[0].needs=["pfcc"]'

# ---- names and references
scenario "a name with a slash" 'name: "a/b" is not a valid name' '.name="a/b"'
scenario "a name with .. in it" 'name: "../../x" is not a valid name' '.name="../../x"'
scenario "a role twice" 'roles\[1\]: "a" occurs twice' '.roles=["a","a"]'
scenario "a role of a NIC that the host does not have" 'roles\[0\]: "a.b": the host of role a in lab .* has a single NIC: expected "a"' '.roles=["a.b","b"]'
scenario "a role with two dots" 'roles\[0\]: "a.b.c" is not a valid name' '.roles=["a.b.c","b"]'
scenario "a role called flows.x" 'roles\[0\]: "flows.x" cannot be the name of a role' '.roles=["flows.x","b"] | del(.lab)'
scenario "a role called flows" 'roles\[0\]: "flows" cannot be the name of a role' '.roles=["flows","b"]'
scenario "an invalid pattern of roles" 'roles: "h\[0-\]" is not a range of names' '.roles=["h[0-]"]'
scenario "a pattern of a million roles" 'roles: .*more than 100000 names' '.roles=["h[0-999999]"]'
scenario "a range of roles that runs backwards" 'roles: "h\[3-1\]" runs backwards: expected 1-3' '.roles=["h[3-1]"]'
scenario "a range of flows without a number in its name" 'flows\[0\]: name: "a-to-b" would be the name of 2: expected \{\} for the number, such as "a-to-b-\{\}"' '.flows[0].from="a[0-1]"'
scenario "flows between unequal ranges" 'flows\[0\]: "a\[0-1\]" has 2 names and "b\[0-2\]" has 3: expected equally many, or a single name' '.flows[0]+={"name":"x-{}","from":"a[0-1]","to":"b[0-2]"}'
scenario "a range in settings_of that is none" 'settings_of: "a\[1-\]" is not a range of names' '.settings_of={"a[1-]":{}}'
scenario "settings of two ranges with a role in common" 'settings_of: "a1" of "a\[1-2\]" is in another range too' '.settings_of={"a[0-1]":{},"a[1-2]":{}}'
scenario "settings of a range of unknown roles" 'settings_of: there is no role "a0"' '.settings_of={"a[0-1]":{"mtu":1500}}'
scenario "a storm from a range of unknown roles" 'storms: there is no role "a0"' '.storms=[{"role":"a[0-1]","stop":"1us"}]'
scenario "a flow from an unknown role" 'flows\[0\].from: there is no role "c"' '.flows[0].from="c"'
scenario "a flow to an unknown role" 'flows\[1\].to: there is no role "bb"; did you mean "b"' '.flows[1].to="bb"'
scenario "a flow to itself" 'flows\[0\]: role "a" sends to itself' '.flows[0].to="a"'
scenario "two flows with the same name" 'flows\[1\].name: "a-to-b" occurs twice' '.flows[1].name="a-to-b"'
scenario "no flows" 'flows: expected at least one flow' 'del(.flows,.sweep,.expect,.published)'
scenario "settings of an unknown role" 'settings_of: there is no role "c"' '.settings_of={"c":{"mtu":1500}}'
scenario "a sweep over an unknown path" 'sweep: flow.\*.memory' '.sweep={"flow.*.memory.x":["host"]}'
scenario "a sweep without values" 'sweep.flows.\*.memory: expected a list' '.sweep={"flows.*.memory":[]}'
scenario "a sweep between values of different kinds" 'sweep.flows.\*.message: from and to: "2B" and 8 have no unit in common' '.sweep={"flows.*.message":{"from":"2B","to":8,"factor":2}}'
scenario "a sweep that ends before it begins" 'sweep.flows.\*.message: to: expected a value that is not below from' '.sweep={"flows.*.message":{"from":"2KiB","to":"1KiB","factor":2}}'
scenario "a sweep from 0" 'sweep.flows.\*.depth: from: expected a value above 0' '.sweep={"flows.*.depth":{"from":0,"to":8,"factor":2}}'
scenario "a sweep by a factor of 1" 'sweep.flows.\*.depth: factor: it never arrives at a second value' '.sweep={"flows.*.depth":{"from":1,"to":8,"factor":1}}'
scenario "a sweep by a step of 0" 'sweep.flows.\*.depth: step: it never arrives at a second value' '.sweep={"flows.*.depth":{"from":1,"to":8,"step":0}}'
scenario "a range that does not say how it goes on" 'sweep.flows.\*.depth: expected one of "factor", "step" and "points"' '.sweep={"flows.*.depth":{"from":1,"to":8}}'
scenario "a range with the factor's old name" 'sweep.flows.\*.depth: times: it is called "factor"' '.sweep={"flows.*.depth":{"from":1,"to":8,"times":2}}'
scenario "more points than there are values" 'sweep.flows.\*.depth: points: there are not 20 different values' '.sweep={"flows.*.depth":{"from":1,"to":8,"points":20}}'
scenario "a sweep in no unit" 'sweep.phases.measure: from and to: "1" is neither a number nor a quantity' '.sweep={"phases.measure":{"from":"1","to":"8ms","factor":2}}'
scenario "a sweep with a key that does not exist" 'sweep.flows.\*.depth: .*unknown key "facto"; did you mean "factor"' '.sweep={"flows.*.depth":{"from":1,"to":8,"facto":2}}'
scenario "a zip of unequal lengths" 'sweep.zip\[0\]: flows.\*.depth has 2 values and flows.\*.memory has 1' '.sweep={"zip":[{"flows.*.depth":[1,2],"flows.*.memory":["host"]}]}'
scenario "a path in a sweep and its zip" 'sweep.zip\[0\]: flows.\*.depth: the sweep has this path twice' '.sweep={"flows.*.depth":[1],"zip":[{"flows.*.depth":[1],"flows.*.memory":["host"]}]}'
scenario "a draw of nothing" 'sweep.draw: over: expected an object' '.sweep={"draw":{"count":5,"over":{}}}'
scenario "a draw over a range with points" 'sweep.draw: over.flows.\*.depth: a sample is drawn from the whole range' '.sweep={"draw":{"count":5,"over":{"flows.*.depth":{"from":1,"to":8,"points":2}}}}'
scenario "exceptions that leave nothing" 'sweep: except and only leave none of 2 combinations' '.sweep={"flows.*.depth":[1,2],"except":[{"flows.*.depth":"< 3"}]}'
scenario "an exception of an unknown path" 'sweep.except\[0\]: nothing in the scenario as it is written matches flows.\*.dept' '.sweep={"flows.*.depth":[1,2],"except":[{"flows.*.dept":"< 3"}]}'
scenario "an exception that compares words by size" 'sweep.only\[0\]: flows.\*.memory: "< host": "gpu" and "host" have no order' '.sweep={"flows.*.depth":[1,2],"only":[{"flows.*.memory":"< host"}]}'
scenario "a sweep that removes an unknown key" 'sweep: settings.dcqcnn: .*no key "dcqcnn"; did you mean "dcqcn"' '.sweep={"settings.dcqcnn":[null]}'
scenario "a sweep to the largest number" 'flows\[0\].depth: 32768 is out of range' '.sweep={"flows.*.depth":{"from":1,"to":1000000000000000,"factor":2}}'
scenario "a sweep with a wrong value" 'flows\[0\].memory: "disk" is unknown' '.sweep={"flows.*.memory":["host","disk"]}'
scenario "a sweep with too many cells" 'sweep: 1001000 combinations are more than 1000000: if they are meant, add --yes' '.sweep={"flows.*.message":{"from":"1B","to":"1001B","step":"1B"},"flows.*.depth":{"from":1,"to":1000,"step":1}}'
scenario "a condition on an unknown path" 'expect\[0\].when' '.expect[0].when={"flows.nope.memory":"gpu"}'
scenario "a published figure without a source" 'published\[0\].source is missing' 'del(.published[0].source)'

# ---- expressions
check_of "an expression that ends early" 'column 1[0-9]: expected' 'delta(b.tx_pr'
check_of "no comparison" 'expected a comparison' 'delta(b.tx_prio0_pause)'
check_of "a comparison with nothing" 'but it ends here' 'delta(b.tx_prio0_pause) >'
check_of "a statistic that does not exist" 'column 1: expected "delta"' 'dleta(b.tx_prio0_pause) > 0'
check_of "a counter that does not exist" 'there is no counter "tx_prio0_pauses"; did you mean "tx_prio0_pause"' 'delta(b.tx_prio0_pauses) > 0'
check_of "a role that does not exist" 'column 7: there is no role "c"' 'delta(c.tx_prio0_pause) > 0'
check_of "a flow that does not exist" 'there is no flow "a-to-c"; did you mean "a-to-b"' 'sum(flows.a-to-c.bytes) > 0'
check_of "a flow value that does not exist" 'there is no flow value "goodput"; did you mean "goodput_' 'sum(flows.*.goodput) > 0'
check_of "a rate compared with a time" 'a rate is compared with a time' 'sum(flows.*.goodput_bps) > 10ms'
check_of "a size compared with a plain number" 'a size is compared with a plain number: write the unit' 'sum(flows.*.bytes) > 10'
check_exit 2 "a value of a sweep that real hosts' NICs have not" "$H" check scenarios/selective-repeat.json --lab labs/ssh-pair.example.json
check_says "... is laid to the sweep, not to the lab's file alone" 'labs/ssh-pair.example.json, with lab.defaults.host.nic.recovery .* of the sweep: hosts.a.nic: unknown key "recovery"' "$SCRATCH/err"
check_exit 2 "a value of --set that a NIC has not" "$H" run -n scenarios/incast-pfc.json --set lab.defaults.host.nic.recover=x
check_says "... is laid to --set" 'labs/sim-incast.json, with lab.defaults.host.nic.recover x of --set: hosts.h0.nic: unknown key "recover"; did you mean "recovery"' "$SCRATCH/err"
check_of "a plain number compared with a rate" 'a plain number is compared with a rate: write the number without a unit' 'sum(flows.*.goodput_MiBps) > 10MiB/s'
check_of "a size compared with a time" 'a size is compared with a time: write the unit of the other side' 'sum(flows.*.bytes) > 10ms'
check_of "two figures of different units" 'a size is compared with a rate: compare what has the same unit' 'sum(flows.*.bytes) > sum(flows.*.goodput_bps)'
check_of "a gauge that is counted" 'outbound_pci_stalled_wr is a gauge' 'delta(a.outbound_pci_stalled_wr) > 0'
check_of "a unit that does not exist in an expression" 'expected a unit' 'delta(a.tx_prio0_pause) > 10parsecs'
check_of "an expression nested without end" 'nested more than' "$(printf '(%.0s' {1..200})1 > 0"
check_of "words after the end" 'expected the end' 'delta(a.tx_prio0_pause) > 0 or so'
judge_cases "$GOOD" case.json run case.json --lab "$LAB" --out results

# ---- labs
expect 2 'no lab "nowhere"' "a lab that does not exist" run "$GOOD" --lab nowhere
printf '{ "schema": 1, "name": "x", "driver": ' >lab.json
expect 2 'lab.json:1:[0-9]+: ' "a lab that ends early" run "$GOOD" --lab lab.json
chmod 0 lab.json
if [ -r lab.json ]; then skip "a lab that may not be read" root; else expect 2 'lab.json.*Permission denied' "a lab that may not be read" run "$GOOD" --lab lab.json; fi
rm -f lab.json
lab "a lab without a driver" 'driver is missing' 'del(.driver)'
lab "a driver that does not exist" 'driver: "qemu" is unknown: expected "sim", "libvirt" or "ssh"' '.driver="qemu"'
lab "an unknown key of a host" 'hosts.a.nic: unknown key "tx_latancy"; did you mean "tx_latency"' '.hosts.a.nic.tx_latancy="1ns"'
lab "stalls so rare that the clock overflows" 'hosts.b.gpu.stalls_per_s: 1e-300 is out of range: expected 0, or 1e-05 to 1e6' '.hosts.b.gpu.stalls_per_s=1e-300'
lab "a header of 2 GiB" 'hosts.b.gpu.device_request_header: "2147483647B" is out of range: expected 0B to 4KiB' '.hosts.b.gpu.device_request_header="2147483647B"'
lab "a number of banks that is not a power of two" 'hosts.b.gpu.banks: 3 is not a power of two' '.hosts.b.gpu.banks=3'
lab "a host that is not an object" 'hosts.a' '.hosts.a=1'
lab "a link to an unknown host" 'links\[0\].between\[1\]: the lab has no host or switch "c"' '.links[0].between=["a","c"]'
lab "a link with one end" 'links\[0\].between: 1 items' '.links[0].between=["a"]'
lab "a link from a host to itself" 'links\[0\].between: both ends are "a"' '.links[0].between=["a","a"]'
lab "a link without a rate" 'links\[0\].rate is missing' 'del(.defaults.link.rate)'
lab "a rate that the simulator refuses" 'links\[0\].rate: "1Mb/s" is out of range: expected 2Mb/s to 10Tb/s' '.links[0].rate="1Mb/s"'
lab "a rate of a wrong unit" 'links\[0\].rate: "25GiB"' '.links[0].rate="25GiB"'
lab "a role assigned to an unknown host" 'roles.a: the lab has no host or switch "z"' '.roles={"a":"z"}'
lab "a role that the lab lacks" 'role "b" of the scenario has no host' 'del(.hosts.b,.links)'
lab "defaults of an unknown kind" 'defaults: unknown key "hosts"' '.defaults.hosts={}'
lab "a key of another topology" 'topology.hosts: kind fat_tree has no hosts: it has k, uplink' '.topology={"kind":"fat_tree","hosts":128}'
lab "leaves of a star" 'topology.leaves: kind star has no leaves: it has hosts$' '.topology={"kind":"star","leaves":2}'
lab "rails of leaves" 'topology.rails: kind leaf_spine has no rails' '.topology={"kind":"leaf_spine","rails":4}'
lab "groups of planes" 'topology.groups: kind dual_plane has no groups' '.topology={"kind":"dual_plane","groups":4}'
lab "a topology that does not exist" 'topology.*"ring" is unknown' '.topology={"kind":"ring"}'
lab "a topology that is too large" 'topology: 1000 leaves .* more than 100000 links' '.topology={"kind":"leaf_spine","hosts":10000,"leaves":1000,"spines":1000}'
lab "rails that are too many" 'topology: 1000 groups of 64 rails with 10000 hosts and 4 spines are more than 100000 links' '.topology={"kind":"rail_leaf_spine","hosts":10000,"groups":1000,"rails":64}'
lab "planes that are too large" 'topology: twice 1000 leaves with 60 hosts and 4 spines are more than 100000 links' '.topology={"kind":"dual_plane","hosts":60,"leaves":1000}'
lab "leaves without spines" 'topology.spines: 0: expected at least 1 of leaf_spine' '.topology={"kind":"leaf_spine","spines":0}'
lab "a host of rails that has a NIC of its own" 'hosts.h0: has nic and nics' '.topology={"kind":"rail_leaf_spine"}|.hosts.h0={"nic":{}}'
lab "a fat tree with an odd k" 'topology.k: 5 is odd' '.topology={"kind":"fat_tree","k":5}'
lab "a range of hosts that is none" 'hosts: "h\[0-\]" is not a range of names: expected one such as h\[0-31\]' '.hosts={"h[0-]":{}}'
lab "a million hosts" 'hosts: "h\[0-999999\]" stands for more than 100000 names' '.hosts={"h[0-999999]":{}}'
lab "large values for many hosts" 'hosts: "h\[0-99999\]": its value, copied for each name, would take more than 512 MiB' '.hosts["h[0-99999]"]={"nic":{"model":([range(10000)|"x"]|add)}}'
lab "a host in two ranges" 'hosts: "h3" of "h\[3-4\]" is in another range too' '.hosts+={"h[0-3]":{},"h[3-4]":{}}'
lab "a number that is no number of the name" 'hosts: h\[0-1\]: nic: model: "\{n\}": expected \{\}, \{\+1\} or \{2\+1\}' '.hosts["h[0-1]"]={"nic":{"model":"{n}"}}'
lab "a key that a range of hosts lacks" 'hosts.h0: unknown key "nci"; did you mean "nic"' '.hosts["h[0-1]"]={"nci":{}}'
lab "a switch in two ranges" 'switches: "s1" of "s\[1-2\]" is in another range too' '.switches={"s[0-1]":{},"s[1-2]":{}}'
lab "links between unequal ranges" 'links\[1\]: "h\[0-1\]" has 2 names and "s\[0-2\]" has 3: expected equally many, or a single name' '.links+=[{"between":["h[0-1]","s[0-2]"]}]'
lab "a link of a range to an unknown switch" 'links\[1\].between\[0\]: the lab has no host or switch "h0"' '.links+=[{"between":["h[0-1]","a"]}]'
lab "one role for two hosts" 'roles: "x" is one name: "h\[0-1\]" stands for 2' '.roles={"x":"h[0-1]"}'
lab "a role that occurs twice" 'roles: "x1" occurs twice' '.roles={"x[0-1]":"a","x1":"b"}'
judge_cases "$LAB" lab.json run "$GOOD" --lab lab.json --out results
# and of a lab of real hosts
lab "an address that is none" 'hosts.a.nic.address: "10.0.0.300/24" is not an IPv4 or IPv6 address' '.hosts.a.nic.address="10.0.0.300/24"'
lab "a prefix that is too long" 'hosts.a.nic.address: "10.0.0.1/99" is not an IPv4 or IPv6 address' '.hosts.a.nic.address="10.0.0.1/99"'
lab "a folder of programs that is too long" 'hosts.a.programs: has 501 characters: expected at most 400' '.hosts.a.programs="/"+"p"*500'
lab "an ssh destination that is too long" 'hosts.a.ssh: has 195 characters: expected at most 190' '.hosts.a.ssh=([range(5) | "h"*38] | join(".")) + "x"'
lab "one address for two hosts" 'hosts.b.nic.address: 10.0.0.1/24 is already the address of host a' '.hosts.b.nic.address="10.0.0.1/24"'
for key in netdev rdma mac; do
    lab "one $key for two NICs of a host" "hosts.a.rail1.nic.$key: 52:54:00:12:34:56 is already that of a.rail0: each NIC of a machine is a device of its own" ".hosts.a=(.hosts.a | del(.nic)) + {\"nics\":{\"rail[0-1]\":{\"$key\":\"52:54:00:12:34:56\"}}} | del(.links)"
done
lab "a MAC address that is none" 'hosts.a.nic.mac: "52:54:00:12:34" is not a MAC address' '.hosts.a.nic.mac="52:54:00:12:34"'
lab "a replacement for a key that flows lack" 'scaled.flows.\*.dpeth: scenario.flow has no key "dpeth"; did you mean "depth"' '.scaled={"flows.*.dpeth":8}'
lab "a replacement behind a value" 'scaled.flows.\*.depth.x: depth is a value and has no key "x"' '.scaled={"flows.*.depth.x":8}'

lab "defaults of switches, which a lab of hosts lacks" 'defaults.switch: the lab has no switches' '.defaults={"switch":{}}'
lab "an unknown key in the defaults" 'hosts.a.nic: unknown key "netdv"; did you mean "netdev"' '.defaults={"host":{"nic":{"netdv":"e"}}}'
lab "defaults that are no object" 'defaults: expected an object' '.defaults=[]'
for second in root@h1 h1; do
    lab "one machine for two hosts ($second)" "hosts.b.ssh: $second leads to the machine of host a already: each host and switch of a lab is a machine of its own" ".hosts.a.ssh=\"root@h1\" | .hosts.b.ssh=\"$second\" | .hosts.b.port=22"
done
lab "one address for a range of hosts" 'hosts.h1.nic.address: 10.0.1.1/24 is already the address of host h0' '.hosts["h[0-1]"]={"ssh":"h{}","nic":{"address":"10.0.1.1/24"}}'
lab "a range of addresses that leaves the network" 'hosts.h255.nic.address: "10.0.1.256/24" is not an IPv4 or IPv6 address' '.hosts["h[0-255]"]={"ssh":"h{}","nic":{"address":"10.0.1.{+1}/24"}}'
lab "a range of hosts of which none is reached" 'hosts.h0.ssh is missing' '.hosts["h[0-1]"]={}'
judge_cases "$ROOT/labs/ssh-pair.example.json" lab.json check lab.json

# ---- the command line
expect 2 'unknown command "rnu"; did you mean "run"' "a command that does not exist" rnu
expect 2 'unknown option --durtion; did you mean --duration' "an option that does not exist" run "$GOOD" --durtion 1s
expect 2 'run: expected a SCENARIO, or --resume FOLDER' "no scenario" run
expect 2 'usage: harness run' "two scenarios" run "$GOOD" "$GOOD"
expect 2 'repeat' "--repeat 0" run "$GOOD" --repeat 0
expect 2 'seed: 9223372036854775807 is out of range' "a seed whose repetitions have none" run "$GOOD" --seed 9223372036854775807 --repeat 2
expect 2 'duration' "--duration without a unit" run "$GOOD" --duration 5
expect 2 'duration' "--duration without a value" run "$GOOD" --duration
expect 2 'is not an assignment: expected KEY=VALUE' "--set without a value" run "$GOOD" --set phases.measure
expect 2 '"a..b" is not a path' "--set with a broken path" run "$GOOD" --set a..b=1
expect 2 'nothing in the document matches' "--set of an unknown path" run "$GOOD" --set flows.nope.depth=1
jq '.flows[0].name = "up-{}" | .roles = ["h[0-3]", "x"] | .flows = [.flows[0] | .from = "h[0-3]" | .to = "x"] | del(.expect, .published, .sweep, .lab)' "$ROOT/scenarios/pfc-bidir.json" >written.json
expect 2 'flows.up-1.depth: nothing in the document matches this path; up-1 is one of those that are written as up-\{\}: name flows.up-\{\}.depth' "... of a flow that another name stands for" run written.json --lab sim-incast --set flows.up-1.depth=1
expect 2 'unknown key "mesure"; did you mean "measure"' "--set of an unknown key" run "$GOOD" --set phases.mesure=1s
expect 2 'phases.measure: "soon"' "--set to a wrong value" run "$GOOD" --set phases.measure=soon
expect 2 'sim-geforce-pair.json, with lab.hosts.a.x 1 of --set: hosts.a: unknown key "x"' "--set of an unknown key of the lab" run "$GOOD" --lab "$LAB" --set lab.hosts.a.x=1
expect 2 'is not a document type' "a schema that does not exist" schema result
expect 2 'cannot be listed' "a list that does not exist" list results
expect 2 'harness: error: ' "a report of a folder that does not exist" report nowhere
mkdir half && : >half/samples.jsonl
expect 2 'half is not a result: .*harness browse. lists' "a report of a folder that is not a result" report half
HARNESS_LAB=nowhere expect 2 'no lab "nowhere"' "HARNESS_LAB names a lab that is not there" run "$GOOD"
mkdir -p config/harness
echo '{ "labb": "x" }' >config/harness/config.json
expect 2 'config.json.*unknown key "labb"; did you mean "lab"' "a config file with an unknown key" run "$GOOD"
rm -r config

# ---- where results go
: >file
expect 2 'file' "an output folder that is a file" run "$GOOD" --out file --duration 1ms
expect 2 'proc' "an output folder that cannot be written" run "$GOOD" --out /proc/nowhere --duration 1ms
if [ "$(id -u)" = 0 ] && mkdir small && mount -t tmpfs -o size=64k none small 2>/dev/null; then
    at_exit umount "$SCRATCH/small"
    check_exit 3 "a full disk" "$H" run "$GOOD" --out small --duration 100ms --no-report
    check_says "... is the reason" 'No space left on device' "$SCRATCH/err"
    check "... no incomplete file is taken for a result" test -z "$(find small -name '*.json' -size 0)"
    check "... nor a run for complete" test -z "$(find small -name result.json -exec jq 'select(.complete) | .cell' {} +)"
else
    skip "a full disk" no-root
fi
# ---- all errors of a document at once
jq -n '{schema: 1, name: "a b", title: "t", lab: "sim-incast", roles: ["h[0-2]"], phasess: {}, phases: {warmup: "0", measure: 5}, settings: {pfc: [9], mtu: "x"},
    flows: [{name: "f", from: "h0", to: "h1", prority: 3, depth: 0}, {name: "g", from: "h0", op: "wrte", rate: "3 apples"}]}' >"$SCRATCH/slips.json"
check_exit 2 "a scenario with ten slips" "$BUILD/harness" check "$SCRATCH/slips.json"
check "  each is told, once" test "$(sed -nE 's|^harness: error: [^ ]*/slips.json: ([^ :]*:? ?[a-z]+ ?[a-z]*).*|\1|p' "$SCRATCH/err" | wc -l)" = 10
for place in 'unknown key "phasess"' 'name: "a b"' 'phases.measure: 5' 'settings.mtu: "x"' 'settings.pfc\[0\]: 9' 'flows\[0\]: unknown key "prority"; did you mean "priority"' 'flows\[0\].depth: 0' \
    'flows\[1\].to is missing' 'flows\[1\].op: "wrte"' 'flows\[1\].rate: "3 apples"'; do
    check_says "  $place" "slips.json: .*$place" "$SCRATCH/err"
done
{ printf '\xef\xbb\xbf' && cat "$ROOT/scenarios/pfc-bidir.json"; } >"$SCRATCH/marked.json"
check_exit 0 "a byte order mark before a scenario is passed over" "$BUILD/harness" check "$SCRATCH/marked.json" --lab sim-geforce-pair
jq -n '{schema: 1, name: "l", driver: "sim", topology: {kind: "star", hosts: 2}, defaults: {link: {rate: 3, delay: "1"}, host: {nic: {ack_every: -1}}}}' >"$SCRATCH/lab-slips.json"
check_exit 2 "a lab with three slips" "$BUILD/harness" check "$SCRATCH/lab-slips.json"
check_says "  its links and hosts are told" 'links\[0\].rate: 3 is a number' "$SCRATCH/err"
check_says "  all of them" 'hosts.h1.nic.ack_every: -1' "$SCRATCH/err"
finish
