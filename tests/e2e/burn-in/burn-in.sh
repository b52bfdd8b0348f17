#!/usr/bin/env bash
# `harness burn-in`: its plan, what it skips, its document and page, its exit status, and how it goes on after Ctrl-C and a kill.
# shellcheck disable=SC2016,SC2086 # what is quoted is for jq; a command is words
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/../lib.sh"
cd "$SCRATCH" || exit 2
PATH=$BUILD:$PATH
lab='{"schema": 1, "name": "four", "driver": "sim", "topology": {"kind": "star", "hosts": 4}, "defaults": {"link": {"rate": "25Gb/s", "length": "2m"}}}'
echo "$lab" >four.json
jq '.name = "slow" | .hosts.h2 = {pcie: {generation: 3, lanes: 1}}' four.json >slow.json
jq '.name = "two" | .topology.hosts = 2' four.json >two.json
document() { jq -r "$2" "results/burn-in-$1/latest/burn-in.json"; }

# ---- the plan
check_exit 0 "the plan is printed" harness burn-in four.json -n
check_says "with runs and time" '^  pairs +3 runs, together 2.7 ms: ' out
check_says "and what is skipped, and why" '^  gpus +skipped: 4 of 4 NICs have no GPU in the lab, such as h0' out
check_says "" '^  soak +skipped: no time was given' out
check "nothing is run" [ ! -e results ]
check_exit 2 "a stage that there is not" harness burn-in four.json --stages pears
check_says "is named, with those that there are" '"pears": expected some of doctor, nics, gpus, nvbandwidth, pairs, lossless, nccl, soak' err
check_exit 2 "a value that a stage does not take" harness burn-in four.json --set traffic.*.size=x
check_says "names the stage" 'stage nics: ' err
harness burn-in two.json -n >out
check_says "an incast needs three" '^  lossless +skipped: the lab has 2 hosts, and this needs three' out

check_exit 2 "a value that makes a host without a link" harness burn-in four.json -n --set lab.hosts.nosuch.pcie.lanes=4
check_says "is told before anything runs" '--set lab.hosts.nosuch.pcie.lanes=4: .*there is no host nosuch' err
jq '.hosts.alone = {}' four.json >alone.json
check_exit 2 "a NIC without a link" harness check alone.json
check_says "is refused as a lab" 'NIC alone has no link: expected one in "links"' err
harness lab show four.json | jq '.links += [{between: ["h1", "h2"], rate: "25Gb/s"}]' >twice.json
check_exit 2 "a NIC with two" harness check twice.json
check_says "too" 'NIC h1 has 2 links: expected one' err

# ---- a whole one, and one with a fault
check_exit 0 "a healthy lab passes" harness burn-in four.json --soak 300us
check "burn-in.json is as its schema says, which reads it" harness burn-in four.json -n --baseline results/burn-in-four/latest
check "all four NICs have figures" [ "$(document four '.figures | length')" = 4 ]
check "each stage's result is an ordinary one" harness explain "results/burn-in-four/latest/$(document four '.stages[] | select(.name == "pairs").folder')"
check_says "the page has the matrix of pairs" '<h2>Pairs</h2>' results/burn-in-four/latest/index.html
check "what was warned of is in the document" [ "$(document four '.warnings | length > 0')" = true ]
harness burn-in four.json --no-report >out 2>err
check "and is said once" [ "$(sort err | uniq -d | wc -l)$(grep -c warning err)" = "0$(document four '.warnings | length')" ]
check_says "DCQCN, which the lab cannot have, is not tested" '^note: DCQCN was not tested' out
check "no stage is missing in the document" [ "$(document four '[.stages[].name] | join(" ")')" = "doctor nics gpus nvbandwidth pairs lossless nccl soak" ]
check_exit 1 "a lab with a fault fails" harness burn-in slow.json --json --no-report
check "the culprit is in the document" [ "$(jq -r '.findings[0] | .kind + " " + .culprit' out)" = "nic-slow h2" ]
check "the stage that showed it has failed, others have passed" [ "$(jq -r '[.stages[] | select(.runs) | .name + " " + .verdict] | join(", ")' out)" = "nics passed, pairs failed, lossless passed" ]
check "with its source" [ "$(jq -r '.findings[0].source | test("of the median of 4 NICs")' out)" = true ]
check_exit 1 "a stage that fails without a culprit" harness burn-in four.json --no-report --stages pairs --set 'expect=[{"name": "much", "check": "sum(flows.*.messages) > 1e9"}, {"name": "nothing", "check": "sum(flows.*.messages) == 0"}]'
check_says "says all that failed, and where" '^stage pairs: "much" failed in 5-pairs/.*/01: sum.flows.*messages. > 1e9 is [0-9.]+, expected > 1000000000 .and in 2 more runs.; "nothing" failed in [^;]* .and in 2 more runs.$' out
check "in the document, too" [ "$(document four '.stages[] | select(.name == "pairs") | .reason | test("much. failed in")')" = true ]
check_says "and what tells more" '^    harness explain tells more of 5-pairs/' out
check "which is a finding" [ "$(document four '[.findings[] | .kind + " " + .stage] | join(", ")')" = "stage pairs" ]
check_exit 4 "runs that are too short for a message" harness burn-in four.json --no-report --stages nics --stages pairs --set traffic.*.message=512KiB --set phases.measure=1us
check "fail, and nothing is said to be bad" [ "$(document four '"\(.verdict) \(.findings | length) " + ([.stages[] | select(.runs).verdict] | join(" "))')" = "undecided 0 failed failed" ]
check "but that they were too short" [ "$(document four '[.unknown[] | capture("^stage (?<s>[a-z]+) measured for 1 us, which is too short").s] | join(" ")')" = "nics pairs" ]
check_exit 0 "a rule that no NIC breaks" harness burn-in four.json --no-report --stages pairs --fail-if 'host_tx < 1Gb/s'
check_exit 4 "a rule of which no NIC has the figure" harness burn-in four.json --no-report --stages pairs --fail-if 'gpu_tx < 1Gb/s'
check_says "is undecided" '^burn-in of four: undecided' out
check_says "with the rule" '^skipped +gpu_tx < 1Gb/s .no NIC has the figure' out
check "in the document, too" [ "$(document four '.verdict')" = undecided ]
check_exit 2 "a rule over a baseline that is not there" harness burn-in four.json --fail-if 'host_tx < 97% of old'
check_says "is refused" 'there is no old one: expected --baseline' err
check_exit 4 "where no stage can be had nothing is decided" harness burn-in four.json --stages nccl
check_exit 2 "a baseline without figures" harness burn-in four.json --baseline results/burn-in-four/latest
check_says "is refused" 'has no figures, as its stages were skipped' err

# ---- cables of which the length is stated: what waits for ACKs is no less than the line carries
harness lab show four.json | jq '.name = "far" | .links[].rate = "100Gb/s" | .links[0].length = "40km"' >far.json
check_exit 0 "a cable of 40 km" harness burn-in far.json --no-report
check "is as fast as the others" [ "$(document far '[.figures[] | .host_tx_bps, .host_rx_bps] | min > 0.97 * max')" = true ]

# ---- equally bad: by the line
echo "$lab" | jq '.name = "equal" | .defaults.host = {pcie: {generation: 3, lanes: 1}}' >equal.json
check_exit 4 "all NICs are slow" harness burn-in equal.json --no-report --stages pairs
check_says "which is not known to be wrong" '^not known: h[0-3] carries [67][.0-9]* of 25 Gb/s of its line, as all 4 of its kind do: h0, h1, h2, h3' out
echo "$lab" | jq '.name = "half" | .topology.hosts = 8' >eight.json
slower() { jq -cn --arg rate "$1" '[$ARGS.positional[] | {link: split("-"), kind: "rate", rate: $rate, retrain: "20us"}]' --args "${@:2}"; }
check_exit 1 "five links of eight at half the rate that the lab states" harness burn-in eight.json --no-report --stages pairs --set "faults=$(slower 12.5Gb/s h{0,1,2,4,6}-s0)" --set traffic.*.start=150us
check "are named" [ "$(document half '[.findings[] | .kind + " " + .culprit] | join(", ")')" = "link-slow h0 - s0, link-slow h1 - s0, link-slow h2 - s0, link-slow h4 - s0, link-slow h6 - s0" ]
harness lab show eight.json | jq '.name = "mixed" | (.links[] | select(.between[0] | IN("h2", "h5"))).rate = "10Gb/s"' >mixed.json
check_exit 0 "hosts whose links have a lower rate by the lab" harness burn-in mixed.json --no-report --stages nics --stages pairs
check_exit 1 "one of them whose link is slower than that" harness burn-in mixed.json --no-report --stages pairs --set "faults=$(slower 4Gb/s h5-s0)" --set traffic.*.start=150us
check "is named" [ "$(document mixed '[.findings[] | .kind + " " + .culprit] | join(", ")')" = "link-slow h5 - s0" ]
check_exit 1 "and one of the others" harness burn-in mixed.json --no-report --stages pairs --set "faults=$(slower 10Gb/s h3-s0)" --set traffic.*.start=150us
check "is, too" [ "$(document mixed '[.findings[] | .kind + " " + .culprit] | join(", ")')" = "link-slow h3 - s0" ]
echo "$lab" | jq '.name = "gpus" | .defaults.host = {pcie: {generation: 3, lanes: 16}, gpu: {write: "8Gb/s", read: "8Gb/s"}}' >gpus.json
check_exit 4 "GPU memory that is slow at all NICs" harness burn-in gpus.json --no-report --stages gpus
check_says "is not known, either" '^not known: memory of GPUs at 4 of 4 NICs carries less than 85 % of the line, down to [1-8][.0-9]* of 25 Gb/s' out

# ---- what runs warn of is said once, with how many do
check_exit 0 "runs that are too short for their messages" harness burn-in four.json --no-report --stages pairs --set traffic.*.message=1MiB
check "each warning is said once" [ "$(sort err | uniq -d | wc -l) $(grep -c 'warning: pairs: .*goodput' err)" = "0 1" ]
check_says "with how many runs have it" 'warning: pairs: .* .and in 2 more runs.$' err
check "in the document, too" [ "$(document four '.stages[] | select(.name == "pairs").warnings | map(select(test("and in 2 more runs"))) | length > 0')" = true ]

# ---- a lab that --set changes
jq '.topology.hosts = 3' four.json >three.json
check_says "GPUs of --set are those of the lab" '^  gpus +4 runs' <(harness burn-in three.json -n --set 'lab.defaults.host={"pcie": {"generation": 3, "lanes": 16}, "gpu": {}}' 2>&1)
check_says "hosts, too" '^burn-in of lab four: 5 hosts, 5 NICs' <(harness burn-in three.json -n --set lab.topology.hosts=5 2>&1)

# ---- a deadlock
check_exit 1 "a ring of switches" harness burn-in sim-ring --no-report --stages pairs
check "its deadlock is the finding" [ "$(document sim-ring '[.findings[] | .kind + " " + .culprit] | join(", ")')" = "deadlock s0 - s1 - s2 - s3 - s4" ]
check_says "with who waits for whom" '^    5-pairs/.*: deadlock on priority 3 since .*: s0:1 waits for s1:2, which waits for' out

# ---- commands that take results say what a burn-in is
for command in report explain "compare four.json"; do
    check_exit 2 "harness $command" harness $command results/burn-in-four/latest
done
check_exit 2 "harness report" harness report results/burn-in-four/latest
check_says "points to its page and to stages" 'it is a burn-in, which says what it found in its index.html and burn-in.json: expected a result of one of its stages, such as 5-pairs/' err

# ---- rails with a leaf each: links between leaves and spines are crossed by rounds from rail to rail, and where no round does it is said
jq -n '{schema: 1, name: "rails4", driver: "sim", topology: {kind: "rail_leaf_spine", groups: 1, hosts: 3, rails: 2, spines: 1}, defaults: {link: {rate: "25Gb/s", length: "2m"}}}' >rails4.json
check_exit 0 "rails that are joined by a spine" harness burn-in rails4.json --no-report --stages nics --stages pairs
check "are measured rail by rail, and each with the other" [ "$(document rails4 '[.pairs["h0.rail0"], .pairs["h2.rail1"] | keys] | add | join(" ")')" = "h1.rail0 h1.rail1 h2.rail0 h2.rail1 h0.rail0 h0.rail1 h1.rail0 h1.rail1" ]
check_exit 1 "a link to the spine that loses frames" harness burn-in rails4.json --no-report --stages nics --set 'faults=[{"link": ["leaf1", "spine0"], "kind": "loss", "loss": 0.01}]'
check "is named" [ "$(document rails4 '[.findings[] | .kind + " " + .culprit] | join(", ")')" = "link-errors leaf1 - spine0" ]
check_says "rails that nothing joins have no such rounds" '^  pairs +2 runs' <(jq '.topology.spines = 0' rails4.json >only.json && harness burn-in only.json -n)
jq '.name = "spare" | .switches.s1 = {} | .links = [{between: ["s0", "s1"]}]' four.json >spare.json
check_exit 4 "a link that nothing crossed" harness burn-in spare.json --no-report --stages pairs
check_says "is not known" '^not known: 1 link between switches carried nothing: no flow crossed it: s0 - s1' out

# ---- a host with a single NIC has a flow with each rail of the others
jq -n '{schema: 1, name: "single", driver: "sim", hosts: {"h[0-2]": {nics: {"rail[0-1]": {}}}, h3: {nic: {}}}, switches: {s0: {}},
    links: [{between: ["h[0-2].rail0", "s0"]}, {between: ["h[0-2].rail1", "s0"]}, {between: ["h3", "s0"]}], defaults: {link: {rate: "25Gb/s", length: "2m"}}}' >single.json
check_exit 0 "a NIC whose line two flows share" harness burn-in single.json --no-report --stages pairs
check "is not slow" [ "$(document single '.findings | length')" = 0 ]

# ---- a link between switches that is down, past which all of its flows are lost
jq -n '{schema: 1, name: "leaves", driver: "sim", topology: {kind: "leaf_spine", hosts: 4, leaves: 2, spines: 2}, defaults: {host: {nic: {ack_timeout: "1ms"}}, link: {rate: "100Gb/s", length: "5m"}}}' >leaves.json
check_exit 1 "a link between switches is down" harness burn-in leaves.json --no-report --set 'faults=[{"link": ["leaf1", "spine0"], "kind": "down"}]'
check "it is named, and no link on the way to it" [ "$(document leaves '[.findings[] | .kind + " " + .culprit] | join(", ")')" = "link-errors leaf1 - spine0" ]
check "with the frames that were lost" [ "$(document leaves '.findings[0].figure > 0')" = true ]

# ---- an incast of two senders may end before its switch has to pause
jq '.name = "three" | .topology.hosts = 3' four.json >three.json
harness burn-in three.json --no-report --stages lossless >out
check "nobody is failed for it" [ "$(document three '.verdict | IN("passed", "undecided")')" = true ]

# ---- rails that not all hosts have are not tested
jq -n '{schema: 1, name: "unequal", driver: "sim", hosts: {"h[0-1]": {nics: {"rail[0-1]": {}}}, h2: {nics: {rail0: {}}}}, switches: {"s[0-1]": {}},
    links: [{between: ["h[0-1].rail0", "s0"]}, {between: ["h[0-1].rail1", "s1"]}, {between: ["h2.rail0", "s0"]}], defaults: {link: {rate: "25Gb/s", length: "2m"}}}' >unequal.json
check_exit 4 "a rail that one host lacks" harness burn-in unequal.json --no-report --stages pairs
check_says "is not known to be good" '^not known: 2 NICs sent nothing and were sent nothing, as on rails that not all hosts have; .*: h0.rail1, h1.rail1' out

# ---- each switch that drops is named, beside what is wrong with a host
jq '.name = "drops" | .defaults.switch = {headroom: "2KB"}' leaves.json >drops.json
check_exit 1 "switches without headroom, and a slow link" harness burn-in drops.json --no-report --set "faults=$(slower 40Gb/s h6-leaf1)" --set traffic.*.start=150us --set 'sample.groups=["pfc", "drops", "errors", "throughput", "queue"]'
check "are all named" [ "$(document drops '[.findings[] | .kind + " " + .culprit] | sort | join(", ")')" = "link-slow h6 - leaf1, loss leaf0, loss leaf1, loss spine0, loss spine1" ]

# ---- planes that nothing joins
check_exit 0 "planes are measured each by itself" harness burn-in sim-dual-plane --no-report --stages nics --stages pairs
check "and no NIC with the other plane's" [ "$(document sim-dual-plane '[.pairs | to_entries[] | (.key | split(".")[1]) as $plane | .value | keys[] | select(endswith($plane) | not)] | length')" = 0 ]

# ---- one port of a switch with another map of DSCPs
jq '.name = "marks" | .topology.hosts = 5 | .defaults.switch.ecn = {kmin: "50KB", kmax: "200KB", pmax: 0.2}' four.json >marks.json
harness lab show marks.json | jq '(.links[] | select(.between[0] == "h2")).lossy_at = "s0" | .switches.s0.buffer = "1MiB"' >port.json
check_exit 1 "a port that takes packets for a priority without PFC" harness burn-in port.json --no-report --stages pairs --stages lossless
check "is named" [ "$(document marks '[.findings[] | .kind + " " + .culprit + " " + .switch] | join(", ")')" = "switch-pfc h2 - s0 s0" ]
check_exit 2 "such a port at a host" harness check <(jq '.links[0].lossy_at = "h0"' port.json)
check_says "is refused" 'lossy_at: "h0": expected the name of a simulated switch' err

# ---- a notification point is looked at of each host
check_exit 1 "a reaction point that is off, where no rates were measured" harness burn-in marks.json --no-report --stages lossless --set 'settings_of.h3.ecn_rp=[]'
check "is named" [ "$(document marks '[.findings[] | .kind + " " + .culprit] | join(", ")')" = "dcqcn-off h3" ]
check_exit 1 "one whose notification point is off" harness burn-in marks.json --no-report --stages lossless --set 'settings_of.h3.ecn_np=[]'
check "is named" [ "$(document marks '[.findings[] | .kind + " " + .culprit] | join(", ")')" = "dcqcn-off h3" ]

# ---- two hosts: by a baseline
check_exit 4 "two hosts are judged by their line, and not by incasts" harness burn-in two.json --no-report
check "which is all that is unknown" [ "$(document two '.unknown | join("; ")')" = "PFC and DCQCN were tested by nothing: the lab has 2 hosts, and this needs three (--stages can leave lossless out)" ]
check_exit 0 "without that stage they pass" harness burn-in two.json --no-report --stages nics --stages pairs
cp -rL results/burn-in-two/latest accepted
check_exit 4 "NICs that the baseline does not have" harness burn-in four.json --no-report --stages pairs --baseline accepted
check_says "are not known" '^not known: 2 NICs are without the same figures in the baseline: h2, h3' out
check_exit 4 "and those that only the baseline has" harness burn-in two.json --no-report --stages pairs --baseline results/burn-in-four/latest
check_says "too" '^not known: the baseline has figures of 2 NICs that have none here: h2, h3' out
harness compare results/burn-in-four/latest results/burn-in-two/latest >out
check_says "compare tells of them" '^note: 2 NICs have figures in OLD alone, such as h2' out
check_exit 1 "by a baseline they are" harness burn-in two.json --no-report --set 'lab.defaults.link.rate=10Gb/s' --baseline accepted
check "NICs that are slower are named" [ "$(document two '[.findings[] | .kind + " " + .culprit] | join(", ")')" = "slower h0, slower h1" ]
check_exit 1 "compare says what moved, and a rule that holds fails" harness compare accepted results/burn-in-two/latest --fail-if 'host_tx < 97% of old' --fail-if 'findings > 2'
check_says "figures" '^h0 +host_tx +23[.0-9]+ +9[.0-9]+ +-60[.0-9]* %' out
check_says "findings" '^found: h1: h1 sends ' out
check_says "the rule" '^failed +host_tx < 97% of old \(h0: 9[.0-9]+ Gb/s, the limit is 22[.0-9]+ Gb/s\)' out
check_says "one that does not hold" '^passed +findings > 2 \(2 findings\)' out
check_exit 2 "a rule that cannot be read" harness compare accepted results/burn-in-two/latest --fail-if 'goodput < 97% of old'
check_exit 4 "two that have no NIC in common" harness compare accepted results/burn-in-slow/latest --fail-if 'gpu_tx < 1Gb/s'
check_exit 1 "--fail-if with a baseline" harness burn-in two.json --no-report --baseline accepted --fail-if 'host_rx < 30Gb/s'
check_exit 2 "a baseline that is none" harness burn-in two.json --baseline two.json
check_says "is refused" 'two.json is not the document of a burn-in' err

# ---- two hosts with two rails: four NICs of a kind, and whoever pauses is the slow one of two
echo "$lab" | jq '.name = "rails" | .topology = {kind: "rail_leaf_spine", groups: 1, hosts: 2, rails: 2, spines: 0} | .hosts = {"h1": {nics: {rail1: {pcie: {generation: 3, lanes: 1}}}}}' >rails.json
check_exit 2 "a baseline of other NICs" harness burn-in rails.json -n --baseline accepted
check_says "is refused" 'is of lab two, and none of its NICs is one of lab rails' err
check_exit 1 "one of two hosts" harness burn-in rails.json --no-report
check "is named with its NIC" [ "$(document rails '[.findings[] | .kind + " " + .culprit + " " + .host + " " + .nic] | join(", ")')" = "nic-slow h1.rail1 h1 rail1" ]

# ---- more nodes than are listed without being named: the switch's counters are there all the same
jq '.name = "many" | .topology.hosts = 70' four.json >many.json
check_exit 1 "of 70 hosts one without PFC" harness burn-in many.json --no-report --stages lossless --set 'settings_of.h33={"pfc": []}' --set phases.measure=400us
check "is named by the pauses that it was sent" [ "$(document many '[.findings[] | .kind + " " + .culprit + " " + (.sure | tostring)] | join(", ")')" = "pfc-off h33 true" ]

# ---- of more hosts than one may be sent to by, groups are formed on real hosts, too
jq -n '{schema: 1, name: "real", driver: "ssh", hosts: {"h[0-79]": {ssh: "h{}.invalid", nics: {"rail[0-7]": {netdev: "ens{2}", address: "10.{2}.0.{1+1}/16"}}}}}' >real.json
check_exit 0 "80 real hosts with 8 rails are planned" harness burn-in real.json -n
check_says "in groups" '^  lossless +10 runs, about 2 min' out

# ---- interrupted, killed, resumed
long=(--no-report --jobs 1 --set phases.measure=20ms)
harness burn-in four.json "${long[@]}" --out stopped >said 2>&1 &
burn=$!
until_true 60 grep -qs '^nics' said
kill -INT $burn
wait $burn
check "Ctrl-C ends it with 130" [ $? = 130 ]
check_says "and says how to go on" 'burn-in --resume ' said
check "what is whole stays" [ "$(jq -r '.stages[] | select(.name == "nics").verdict' stopped/burn-in-four/latest/burn-in.json)" = passed ]
rm said
harness burn-in four.json "${long[@]}" --out killed >said 2>&1 &
burn=$!
until_true 60 grep -qs '^nics' said
kill -KILL $burn
wait $burn 2>/dev/null
folder=$(echo killed/burn-in-four/2*)
check "a killed one is not complete" [ "$(jq -r .complete "$folder/burn-in.json")" = false ]
first=$(stat -c %Y.%i "$folder"/2-nics/2*/01/result.json)
cp four.json kept.json
jq '.defaults.link.rate = "50Gb/s"' kept.json >four.json
check_exit 2 "with another lab it does not" harness burn-in --resume "$folder" --no-report
check_says "go on" 'four.json was changed since the burn-in in .* was begun' err
cp kept.json four.json
check_exit 0 "it goes on" harness burn-in --resume "$folder" --no-report
check "and keeps what was whole" [ "$(stat -c %Y.%i "$folder"/2-nics/2*/01/result.json)" = "$first" ]
check "it is then complete" [ "$(jq -r '"\(.complete) \(.verdict)"' "$folder/burn-in.json")" = "true passed" ]
check "with the same figures as one that was not killed" [ "$(jq -cS .figures "$folder/burn-in.json")" = "$(harness burn-in four.json "${long[@]}" --json | jq -cS .figures)" ]
# shellcheck disable=SC2317 # check_exit calls it
bounded() { (ulimit -f 3 && harness burn-in --resume "$folder" -q); }
echo before >"$folder/index.html" && cp "$folder/burn-in.json" passed.json
check_exit 3 "an answer that cannot be written" bounded
check_says "is told of" 'error: .*burn-in.json: .*File too large' err
check_says "with how to go on" '^    harness burn-in --resume ' err
check "and the one of before stays, with its page" [ "$(cmp passed.json "$folder/burn-in.json" && cat "$folder/index.html")" = before ]
cp -r "$folder" cut && timeout -s INT 0.1 harness burn-in --resume cut --no-report >out 2>err
check "it also does when it is resumed and interrupted" [ "$(jq -r '"\(.complete) \(.verdict)"' cut/burn-in.json)" = "true passed" ]
truncate -s 1500 "$folder/burn-in.json"
check_exit 3 "where there is none" bounded
check "there is no page of before either" [ ! -e "$folder/index.html" ]
check_exit 0 "it can be gone on with" harness burn-in --resume "$folder" --no-report
check "to the same end" diff <(jq -S 'del(.finished, .started, .stages[].wall_s)' passed.json) <(jq -S 'del(.finished, .started, .stages[].wall_s)' "$folder/burn-in.json")
check_exit 2 "not as a sweep" harness run --resume "$folder"
check_says "which is said" 'is the folder of a burn-in: harness burn-in --resume goes on with it' err
whole=$(realpath results/burn-in-two/latest)
whole_runs() { find "$whole" -name result.json -exec stat -c '%i %n' {} + | sort; }
first=$(whole_runs)
check_exit 1 "a whole one is judged again" harness burn-in --resume "$whole" --no-report
check_says "by the rule that was given at first" '^failed +host_rx < 30Gb/s' out
check "single runs that are whole are kept, too" [ -n "$first" -a "$(whole_runs)" = "$first" ]

# ---- what lies in the folder may be of another burn-in, or of none
mkdir "$folder/5-pairs/99-copy" "$folder/5-pairs/20991231"
check_exit 0 "folders that are no results" harness burn-in --resume "$folder" --no-report
rmdir "$folder/5-pairs/99-copy" "$folder/5-pairs/20991231"
cp -r "$folder" other
rm -r other/5-pairs && cp -r other/2-nics other/5-pairs
check_exit 0 "a stage whose folder has another one's result" harness burn-in --resume other --no-report
check_says "runs anew" 'other/5-pairs/.* is not of stage pairs of this burn-in, which runs anew' err
check "with the figures of its own" [ "$(jq -cS .figures other/burn-in.json)" = "$(jq -cS .figures "$folder/burn-in.json")" ]
jq 'del(.lab_document)' "$folder/request.json" >other/request.json
check_exit 2 "a burn-in that does not say what its lab was" harness burn-in --resume other --no-report
mkdir "$folder/index.html"
check_exit 0 "a page that cannot be written" harness burn-in --resume "$folder"
check_says "is told of" 'no page: ' err
check "and not named" [ -z "$(grep '^page:' out)" ]
check_exit 2 "--resume with a lab" harness burn-in four.json --resume "$folder"
finish
