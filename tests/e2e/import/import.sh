#!/bin/bash
# Cases of other simulators, in files written for this test: what becomes of them as a lab and a scenario, what the run of these says, and
# what is refused.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/../lib.sh"
cd "$SCRATCH" || exit 1
H=$BUILD/harness

# run_of FOLDER: the result of its scenario
run_of() {
    "$H" run "$1/scenario.json" --out "$1/results" --no-report -q >"$1.out" 2>&1
    cat "$1"/results/*/latest/result.json
}
# is WHAT FILTER FILE: the jq filter holds
is() { check "$1" jq -e "$2" "$3"; }

# ---- the HPCC simulator: three networks in one file. The completion times are those that its ns-3 has for a flow alone (docs/simulator-reference.md)
cat >topology.txt <<'E1'
13 5 10
6 7 10 11 12
0 6 100Gbps 1000ns 0
1 6 100Gb/s 0.001ms 0.000000
2 6 12.5GB/s 1us 0
3 7 25Gbps 1us 0
4 7 25Gbps 1us 0
5 7 25Gbps 0.000001 0
8 10 100Gbps 1us 0
9 11 100Gbps 1us 0
10 12 100Gbps 1us 0
11 12 100Gbps 1us 0
E1
cat >flow.txt <<'E1'
9
0 2 3 100 1 2
3 5 3 100 1000 2
8 9 3 100 1001 2
0 2 3 100 1000000 2.001
3 5 3 100 1000000 2.001
8 9 3 100 1000000 2.001
1 2 3 100 10000000 2.002000000
3 5 3 100 10000 2.002
8 9 3 100 10000 2.002
the rest is not read
E1
check_exit 0 "a case of the HPCC simulator is imported" "$H" import hpcc topology.txt flow.txt -o hpcc --physics sim-hpcc-star
check_says "what is left out is said" '^note: flow.txt: what follows the last of 9 flows, on line 10, is not read$' "$SCRATCH/out"
check_says "and that the times begin at 0" '^note: flows start 2000000000 ns earlier than in flow.txt' "$SCRATCH/out"
"$H" lab show hpcc/lab.json >shown.json
is "it has the hosts and switches" '(.hosts | keys) == (["h0","h1","h2","h3","h4","h5","h8","h9"]) and (.switches | keys) == (["s10","s11","s12","s6","s7"])' shown.json
is "the links, in their order" '[.links[] | .between | join(" ")] == ["h0 s6","h1 s6","h2 s6","h3 s7","h4 s7","h5 s7","h8 s10","h9 s11","s10 s12","s11 s12"]' shown.json
is "their rates" '[.links[].rate] == ["100Gb/s","100Gb/s","100Gb/s","25Gb/s","25Gb/s","25Gb/s","100Gb/s","100Gb/s","100Gb/s","100Gb/s"] and all(.links[]; .delay == "1us")' shown.json
is "the physics of the lab that is named, with their sources" '.framing.ack == 46 and .framing.ack_minimum == 60 and .truncate_to_ns and .udp_port == 100 and (.sources["defaults.*"] | test("High-Precision"))' hpcc/lab.json
is "the lab says where it comes from" '.sources.links == "topology.txt, a file of the HPCC simulator" and (.title | test("topology.txt"))' hpcc/lab.json
is "the flows and their starts" '[.flows[] | [.from, .to, .size, .priority, .start // "0"]][3:5] == [["h0","h2","1MB",3,"1ms"],["h3","h5","1MB",3,"1ms"]] and (.title | test("flow.txt"))' hpcc/scenario.json
is "it has the name of its files" '.name == "topology-flow"' hpcc/scenario.json
is "and so has its lab" '.name == "topology-flow"' hpcc/lab.json
mkdir edited
for file in topology.txt flow.txt; do { printf '\xef\xbb\xbf' && sed 's/$/\r/' $file; } >edited/$file; done
check_exit 0 "the same files with a byte order mark and the ends of lines of another system" "$H" import hpcc edited/topology.txt edited/flow.txt -o marked --physics sim-hpcc-star
check "  are the same case" diff <(jq 'del(.title, .sources)' hpcc/scenario.json) <(jq 'del(.title, .sources)' marked/scenario.json)
mkdir odd
cp topology.txt odd/.net.v2.txt
cp flow.txt "odd/-é flows $(printf '%090d' 0).txt"
check_exit 0 "files of any name" "$H" import hpcc odd/.net.v2.txt odd/-é* -o odd/case --physics sim-hpcc-star -q
is "a name has the characters that it may have, and is not too long" '.name | test("^net.v2--_flows_0*$") and length == 64' odd/case/scenario.json
check_exit 0 "--name gives another" "$H" import hpcc topology.txt flow.txt -o named --name mine --physics sim-hpcc-star -q
is "to both" '.name == "mine"' named/scenario.json
check "both are good" "$H" check hpcc/lab.json hpcc/scenario.json
run_of hpcc >result.json
is "every flow takes as long as there, to the nanosecond" '[.flows[].completion_ns.max] == [4014, 4708, 8352, 87091, 339373, 91265, 834091, 7723, 9095]' result.json
is "all flows have ended" '.verdict == "passed" and .expectations[0].left == 9' result.json

# ---- the 400 flows of many sizes between 17 hosts of tests/data/hpcc, with PFC alone: 374 take as long as there, and the others as long within three
# frames, as in tests/unit/sim/test_sim_reference_hpcc.c
grep -v '^#' "$ROOT/tests/data/hpcc/star-flows.tsv" >flows.tsv
{ echo 400 && awk '{ printf "%d %d 3 100 %d %.9f\n", $1, $2, $3, 2 + $4 / 1e9 }' flows.tsv; } >star-flow.txt
{ printf '18 1 17\n17\n' && for i in {0..16}; do echo "$i 17 25Gbps 1us 0"; done; } >star.txt
check_exit 0 "400 flows between 17 hosts" "$H" import hpcc star.txt star-flow.txt -o star --physics sim-hpcc-star
"$H" run star/scenario.json --set 'settings.ecn=[]' --set lab.defaults.switch.buffer=8MiB --out star/results --no-report -q >out 2>&1
jq -r '.flows[].completion_ns.max' star/results/*/latest/result.json | paste - flows.tsv >both.tsv
# shellcheck disable=SC2016 # awk expands them
check "their completion times are those of the HPCC simulator" \
    awk '{ d = $1 > $6 ? $1 - $6 : $6 - $1; same += !d; most = d > most ? d : most } END { print same, NR, most; exit !(same >= 374 && NR == 400 && most <= 1006) }' both.tsv

# ---- line ends, and a trace
sed 's/$/\r/' topology.txt | head -c -2 >crlf.txt
check "CRLF and no last line feed make no difference" eval "$H import hpcc crlf.txt flow.txt -o crlf -q && jq -e --slurpfile a crlf/lab.json '.links == \$a[0].links' hpcc/lab.json"
printf '5\n0 6\n12 13 347\n' >trace.txt
check_exit 0 "with a trace" "$H" import hpcc topology.txt flow.txt trace.txt -o traced
check_says "numbers beyond the topology are left out, as HPCC's reader does" '^note: trace.txt: 2 numbers are above those of topology.txt, 0 to 12' "$SCRATCH/out"
is "the traced switches are sampled" '.roles == ["h[0-3]","h5","s6","h[8-9]","s12"]' traced/scenario.json
is "without --physics the values are those of sim-leaf-spine" '.defaults.host.nic.model == "ideal" and (.framing | not)' traced/lab.json

# ---- hosts with two ports: the NICs of each flow, and how long it takes, are those of the HPCC simulator
two=$ROOT/tests/data/hpcc/two-port-flows.tsv
{
    echo "34 10 72" && echo {24..33}
    for h in {0..23}; do for k in 0 1; do echo "$h $((24 + 2 * (h / 8) + k)) 25Gbps 1000ns 0"; done; done
    for t in {24..29}; do for s in {30..33}; do echo "$t $s 100Gbps 1000ns 0"; done; done
} >two.txt
grep -v '^#' "$two" >two.tsv
{ wc -l <two.tsv && awk '{ printf "%d %d 3 100 %d %.9f\n", $1, $2, $3, 2 + NR * 2e-4 }' two.tsv; } >two-flow.txt
check_exit 0 "a case whose hosts have two links each" "$H" import hpcc two.txt two-flow.txt -o two --physics sim-hpcc-star
check_says "NICs are nodes of the lab" '^lab: two/lab.json, 58 nodes$' "$SCRATCH/out"
check_says "how NICs are chosen is said" '^note: the NICs of each flow are those that the HPCC simulator selects by a hash' "$SCRATCH/out"
is "hosts have two NICs" '.hosts == {"h[0-23]": {nics: {"port[0-1]": {}}}} and .ecmp_numbers == "names"' two/lab.json
is "ranges stand for links" '[.links[].between | join(" ")][0:3] == ["h[0-7].port0 s24","h[0-7].port1 s25","h[8-15].port0 s26"] and (.links | length) == 10' two/lab.json
check "each flow leaves by the port that it has there" diff <(cut -f 4 two.tsv) <(jq -r '.flows[].from | .[-1:]' two/scenario.json)
check "and arrives from the switch from which it does there" diff <(awk '{ print $5 % 2 }' two.tsv) <(jq -r '.flows[].to | .[-1:]' two/scenario.json)
run_of two >result.json
check "each takes as long as there, to the nanosecond" diff <(cut -f 6 two.tsv) <(jq -r '.flows[].completion_ns.max' result.json)
{ echo "36 10 74" && echo {26..35} && awk 'NR > 2 { for (i = 1; i < 3; i++) if ($i > 23) $i += 2; print }' two.txt && echo "24 26 25Gbps 1us 0" && echo "25 28 25Gbps 1us 0"; } >mixed.txt
printf '2\n24 0 3 100 1000 2\n0 25 3 100 1000 2\n' >mixed-flow.txt
check_exit 0 "beside hosts with one link" "$H" import hpcc mixed.txt mixed-flow.txt -o mixed --physics sim-hpcc-star
is "... which have no name of their own for it" '[.flows[] | [.from, .to]] | .[0][0] == "h24" and .[1][1] == "h25" and (.[0][1] | test("^h0.port0$"))' mixed/scenario.json
check "the files are good" "$H" check mixed/lab.json mixed/scenario.json

# ---- SimAI: NVSwitches are left out where no flow stays within their servers
cat >simai.txt <<'E1'
7 2 1 2 6 H100
4 5 6
0 4 2880Gbps 0.000025ms 0
1 4 2880Gbps 0.000025ms 0
0 5 400Gbps 0.0005ms 0
1 6 400Gbps 0.0005ms 0
2 5 400Gbps 0.0005ms 0.000001
3 6 400Gbps 0.0005ms 0
E1
printf '1\n0 2 3 100 1000 0\n' >simai-flow.txt
check_exit 0 "a topology of SimAI" "$H" import hpcc simai.txt simai-flow.txt -o simai
check_says "the lab's nodes are counted without them" '^lab: simai/lab.json, 6 nodes$' "$SCRATCH/out"
check_says "NVSwitches are named" 'NVSwitches: 1 of 1 are left out with their NVLinks \(2\), as no flow stays within their servers' "$SCRATCH/out"
is "only the network is left" '.switches == {"s[5-6]": {}} and ([.links[] | .between | join(" ")] == ["h[0-1] s[5-6]","h2 s5","h3 s6"]) and .links[1].loss == 1e-6' simai/lab.json

printf '3\n4 5 0\n' >trace.txt
check_exit 0 "a trace that names one" "$H" import hpcc simai.txt simai-flow.txt trace.txt -o simai-traced
check_says "... samples the others" 'trace.txt: 1 node is an NVSwitch, which is left out' "$SCRATCH/out"

printf '2\n0 1 3 100 1000000 0\n2 0 3 100 1000 0\n' >within.txt
check_exit 0 "flows within a server" "$H" import hpcc simai.txt within.txt -o within
check_says "... take its NVSwitch in, and what differs is said" 'NVSwitches: 1 of 1 pause and mark as other switches do; in SimAI they do neither' "$SCRATCH/out"
is "... its GPUs have a NIC for it" '.hosts == {"h[0-1]": {nics: {port0: {}, nvlink0: {}}}, "h[2-3]": {}} and [.links[].between | join(" ")] == ["h[0-1].nvlink0 s4","h[0-1].port0 s[5-6]","h2 s5","h3 s6"]' within/lab.json
is "... by which the flow goes; others do not" '[.flows[] | [.from, .to]] == [["h0.nvlink0","h1.nvlink0"],["h2","h0.port0"]]' within/scenario.json
run_of within >result.json
is "... at its rate: 1 MB take 2.8 us at 2.88 Tb/s, 20 us at 400 Gb/s" '.flows.f0.completion_ns.max < 4000 and .verdict == "passed"' result.json
# two rails' switches and two planes, as AlibabaHPN has them: each GPU on two leaves, whose spines are their own
{
    echo "24 2 4 12 40 H100" && echo {8..23}
    for i in {0..7}; do echo "$i $((8 + i / 2)) 2880Gbps 0.000025ms 0" && for p in 0 1; do echo "$i $((12 + 2 * p + i % 2)) 200Gbps 0.0005ms 0"; done; done
    for p in 0 1; do for l in 0 1; do for s in 0 1 2 3; do echo "$((12 + 2 * p + l)) $((16 + 4 * p + s)) 400Gbps 0.0005ms 0"; done; done; done
} >planes.txt
{ echo 56 && for i in {0..7}; do for k in {0..7}; do [ $((i / 2)) = $((k / 2)) ] || echo "$i $k 3 100 1000 0"; done; done | head -n 48 && for i in {0..7}; do echo "$i $((i ^ 1)) 3 100 1000 0"; done; } >planes-flow.txt
check_exit 0 "two planes" "$H" import hpcc planes.txt planes-flow.txt -o planes
is "... no flow changes its plane" '[.flows[] | [.from, .to] | map(sub("h[0-9]+.";""))] | all(.[0] == .[1]) and (map(.[0]) | unique) == ["nvlink0","port0","port1"]' planes/scenario.json
run_of planes >result.json
is "... and all of them end" '.verdict == "passed"' result.json

# ---- ConWeave: flows without a port
printf '2\n0 2 3 1000 2.000000001\n1 2 3 70000 2.000000002\n' >conweave-flow.txt
check_exit 0 "flows of ConWeave, which have no port" "$H" import hpcc topology.txt conweave-flow.txt -o conweave --physics sim-hpcc-star
is "... have their bytes and starts" '[.flows[] | [.from, .to, .size, .priority, .start // "0"]] == [["h0","h2","1kB",3,"0"],["h1","h2","70kB",3,"1ns"]]' conweave/scenario.json
is "... and the port of the physics" '.udp_port == 100' conweave/lab.json

# its UDP ports count up at each host: hashed by hand
printf '%s\n' 6 "0 9 3 1000 2" "0 17 3 1000 2" "1 9 3 1000 2" "3 9 3 1000 2" "3 9 3 1000 2" "0 1 3 1000 2" >conweave-two.txt
check_exit 0 "flows of ConWeave between hosts with two links" "$H" import hpcc two.txt conweave-two.txt -o conweave-two --physics sim-hpcc-star
is "... have the NICs that it selects" '[.flows[] | "\(.from) \(.to)"] == ["h0.port0 h9.port0","h0.port0 h17.port1","h1.port0 h9.port1","h3.port1 h9.port1","h3.port1 h9.port1","h0.port0 h1.port0"]' conweave-two/scenario.json

# ---- ns3-datacenter: four words, or six; rates in bits per second, flows of 64 bits with a UDP port each
links='0 3 25000000000.0 1us 0\n1 3 25000000000 1us 0\n2 4 25Gib/s 1us 0\n3 4 100000000000 5us 0\n'
printf '%b' "5 2 1 4\n3 4\n$links" >powertcp.txt
printf '%b' "5 2 2 4 25000000000 100000000000\n3 4\n$links" >reverie.txt
printf '2\n0 2 3 10000 1000000000000 0.13\n1 2 3 10001 1000 0.15\n' >long-flow.txt
for file in powertcp reverie; do
    check_exit 0 "a topology of ns3-datacenter ($file)" "$H" import hpcc $file.txt long-flow.txt -o $file
    check_says "... with the ports that differ" '1 flow has another UDP port than the first, 10000' "$SCRATCH/out"
    is "... its links and rates" '[.links[] | [.between[0], .rate]] == [["h[0-1]","25Gb/s"],["h2","26843.5456Mb/s"],["s3","100Gb/s"]] and (.sources.links | test("ns3-datacenter"))' $file/lab.json
done
is "a flow of 1 TB" '.flows[0] | .size == "1TB" and .depth == 1000' powertcp/scenario.json

# ---- what HPCC's own generator makes of its example has 70,130 flows. These are as many, and smaller
awk 'BEGIN { print 70130; for (i = 0; i < 70130; i++) printf "%d %d 3 100 %d %.9f\n", i % 8, 8 + i % 8, 1 + i % 1000, 2 + i * 2e-8 }' >many-flow.txt
{ printf '17 1 16\n16\n' && for i in {0..15}; do echo "$i 16 100Gbps 1us 0"; done; } >many.txt
if skip_reason sanitized "$H" >/dev/null; then
    skip "70,130 flows" sanitized "$H"
else
    check_exit 0 "70,130 flows are imported" "$H" import hpcc many.txt many-flow.txt -o many --physics sim-hpcc-star -q
    check_exit 0 "... and run" "$H" run many/scenario.json --out many/results --no-report
    check_says "... all of them, to a result that can be read" 'passed +every flow that has a size ends \(70130, expected == 70130\)' "$SCRATCH/out"
    rm -rf many
fi

# ---- htsim
cat >case.cm <<'E1'
# a comment
Nodes 16
Connections 6
Triggers 2
0->13 id 1 start 0 size 2000000 send_done_trigger 1
13->0 id 2 start 1500500 size 0
0->2 id 3 trigger 1 size 1000
3->5 id 4 start 0 size 1000000 recv_done_trigger 2
4->5 id 5 start 0 size 1000 send_done_trigger 2
5->6 id 6 trigger 2 size 1000
trigger id 2 barrier count 2
trigger id 1 oneshot
E1
check_exit 0 "a connection matrix of htsim" "$H" import htsim case.cm -o htsim
check_says "a start is cut" 'the start of 1 flow is cut to whole nanoseconds' "$SCRATCH/out"
check_says "a start that differs from htsim's is named" '1 flow begins when the data of the one before has arrived' "$SCRATCH/out"
printf 'Nodes 16\nConnections 2\n0->1 start 100 size 1000\n1->2 start 250 size 1000\n' >old.cm
check_exit 0 "starts of an older htsim" "$H" import htsim old.cm -o old
check_says "... may be microseconds" '^note: all flows start within 250 ps, .*are these the microseconds of htsim before 2024' "$SCRATCH/out"
is "its nodes are htsim's fat tree" '.topology == {"kind": "fat_tree", "k": 4} and .defaults.link == {"rate": "100Gb/s", "delay": "1us"}' htsim/lab.json
is "flows without size are endless, triggers are waits" '.flows[1] == {"name": "f1", "from": "h13", "to": "h0", "start": "1.5us"} and .flows[2].after == [{"flows": ["f0"]}] and .flows[5].after == [{"flows": ["f3", "f4"]}]' htsim/scenario.json
run_of htsim >result.json
is "waiting flows begin after the others" '.verdict == "passed" and (.flows | .f2.completion_ns.begin == .f0.completion_ns.end and .f5.completion_ns.begin > .f4.completion_ns.begin and .f5.completion_ns.begin < .f3.completion_ns.end)' result.json
sed -i 's/^Nodes 16/Nodes 32/' case.cm
check_exit 0 "two tiers" "$H" import htsim case.cm -o tiers --tiers 2 --rate 25Gb/s --delay 500ns
is "k leaves with k/2 hosts and spines" '.topology == {"kind": "leaf_spine", "hosts": 4, "leaves": 8, "spines": 4} and .defaults.link.rate == "25Gb/s"' tiers/lab.json
check_exit 0 "on a lab that there is" "$H" import htsim case.cm -o own --lab sim-leaf-spine
check "of which no copy is written" eval '[ ! -e own/lab.json ] && jq -e ".lab == \"sim-leaf-spine\"" own/scenario.json'
cp "$ROOT/labs/sim-leaf-spine.json" spine.json
check_exit 0 "on a lab of the current folder" "$H" import htsim case.cm -o elsewhere/own --lab spine.json
# shellcheck disable=SC2016 # eval expands it
check "what is imported names its lab from where it lies" eval '[ "$(jq -r .lab htsim/scenario.json elsewhere/own/scenario.json | paste -sd " ")" = "lab.json $PWD/spine.json" ]'
check_exit 0 "... and is run from anywhere" env -C / "$H" check "$SCRATCH/htsim/scenario.json" "$SCRATCH/elsewhere/own/scenario.json"

# ---- GOAL: two steps of a ring, with 5 us of computation between them
{
    echo "num_ranks 4"
    for r in 0 1 2 3; do
        echo "rank $r {"
        echo "a: send 1000000b to $(((r + 1) % 4)) tag 0 // to the next"
        echo "b: recv 1000000b from $(((r + 3) % 4)) tag 0"
        printf 'c: calc 5000 cpu 0\nc requires b\n'
        echo "d: send 1000000b to $(((r + 1) % 4)) tag 1"
        printf 'd requires c\nd requires a\n'
        echo "recv 1000000b from $(((r + 3) % 4)) tag 1"
        echo "}"
    done
} >ring.goal
check_exit 0 "a schedule of GOAL" "$H" import goal ring.goal -o goal --physics sim-hpcc-star --name ring
is "a job plays it" '.jobs == [{"name": "job", "schedule": "schedule.goal"}] and .name == "ring" and (has("flows") | not)' goal/scenario.json
run_of goal >result.json
is "the whole takes two steps, with the computation between them" '.jobs.job | .end_ns == 184974 and .operations == 20 and .unfinished == 0' result.json
is "each rank computed, and waited otherwise" '.jobs.job.ranks | length == 4 and all(.calc_ns == 5000 and .exposed_ns == 179974 and .sent_bytes == 2000000 and .received_bytes == 2000000)' result.json

# ---- an expectation reads the end of the last operation
jq '.expect += [{"name": "makespan", "check": "max(jobs.job.end_ns) < 185us"}]' goal/scenario.json >goal/makespan.json
check "the makespan can be expected" "$H" run goal/makespan.json --out makespan --no-report -q

# ---- real hosts do not wait
cat >ssh.json <<'E1'
{ "schema": 1, "name": "real", "driver": "ssh", "hosts": { "h0": { "ssh": "root@192.0.2.1" }, "h1": { "ssh": "root@192.0.2.2" }, "h2": { "ssh": "root@192.0.2.3" }, "h3": { "ssh": "root@192.0.2.4" } } }
E1
check_exit 2 "a lab of real hosts refuses it" "$H" check goal/scenario.json --lab ssh.json
check_says "and says why" 'jobs: job job runs on simulated labs: lab real has real hosts' "$SCRATCH/err"

# ---- what is refused: with line and value, and nothing is written
# refuse WHAT PATTERN FORMAT FILE...
refuse() {
    local what=$1 pattern=$2 code
    shift 2
    timeout 20 "$H" import "$@" -o no/where >out 2>err </dev/null
    code=$?
    if [ "$code" != 2 ]; then
        nok "$what" "exit code $code: $(cat err)"
    elif ! grep -qE -- "$pattern" err; then
        nok "$what" "no /$pattern/ in: $(cat err)"
    elif [ -e no ]; then
        nok "$what" "something was written"
    else
        ok "$what"
    fi
}
good='4 1 3\n3\n0 3 100Gbps 1us 0\n1 3 100Gbps 1us 0\n2 3 100Gbps 1us 0\n'
printf '%b' "$good" >t
printf '1\n0 2 3 100 1000 2\n' >f
topology() { printf '%b' "$3" >bad && refuse "$1" "bad$2" hpcc bad f; }
flows() { printf '%b' "$3" >bad && refuse "$1" "bad$2" hpcc t bad; }
matrix() { printf '%b' "$3" >bad && refuse "$1" "bad$2" htsim bad; }
schedule() { printf '%b' "$3" >bad && refuse "$1" "bad$2" goal bad; }

topology "an empty file" ':1: the file ends here: expected the number of nodes' ''
topology "a topology that ends early" ':4: the file ends here: expected an end of the link' '4 1 3\n3\n0 3 100Gbps 1us 0\n'
topology "a rate of zero" ':3: the rate is "0Gbps"' "${good/100Gbps/0Gbps}"
topology "a rate without a unit" ':3: the rate is "100"' "${good/100Gbps/100}"
topology "a delay that is none" ':3: the delay is "1parsec"' "${good/1us/1parsec}"
topology "a loss above 1" ':3: the share of frames lost is "1.5"' "${good/1us 0/1us 1.5}"
topology "a node that is not there" ':5: an end of the link is "9": .* 0 to 3' "${good/2 3/9 3}"
topology "2^32 nodes" ':1: the number of nodes is "4294967296"' '4294967296 1 3\n'
topology "2^31 links" ':1: the number of links is "2147483648"' '4 1 2147483648\n'
topology "two links of a host to one switch" ':6: a second link between 0 and 3' '4 1 4\n3\n0 3 100Gbps 1us 0\n1 3 100Gbps 1us 0\n2 3 100Gbps 1us 0\n0 3 100Gbps 1us 0\n'
topology "a host without a link" ': host 2 has no link' '4 1 2\n3\n0 3 100Gbps 1us 0\n1 3 100Gbps 1us 0\n'
topology "two links between two switches" ':4: a second link between 2 and 1' '4 2 4\n1 2\n1 2 100Gbps 1us 0\n2 1 100Gbps 1us 0\n0 1 100Gbps 1us 0\n3 2 100Gbps 1us 0\n'
topology "a header that is nobody's" ':1: 5 words: expected 3 of the HPCC simulator' '9 5 2 4 7\n3 4\n'
topology "a link of a node with itself" ':3: both ends of the link are node 3' "${good/0 3/3 3}"
topology "a host that no path leads to" '|f:2: no path leads from host 0 to host 2' '5 2 3\n3 4\n0 3 100Gbps 1us 0\n1 3 100Gbps 1us 0\n2 4 100Gbps 1us 0\n'
head -c 4096 /dev/urandom >random
refuse "random bytes" 'random:[0-9]+: ' hpcc random f
printf '4 1\0 3\n' >zero
refuse "a zero byte" 'zero:1: a byte is zero, which is not text' hpcc zero f
head -c 70000000 /dev/zero | tr '\0' ' ' >large
refuse "70 MB of blanks" 'large' hpcc large f
rm large
refuse "a folder" "$SCRATCH" hpcc "$SCRATCH" f
refuse "a file that is not there" 'nowhere' hpcc t nowhere

flows "2^31 flows" ':1: the number of flows is "2147483648": .* 1 to 100000' '2147483648\n'
flows "fewer flows than the file says" ':3: the file ends here: expected the sender' '2\n0 2 3 100 1000 2\n'
flows "flows with a word more, as of a fork" ':2: 7 words: expected 6 of a flow' '2\n0 2 3 100 1000 0 2\n0 2 3 100 1000 1 2\n'
flows "a flow with a word more than the first" ':3: 7 words: expected 6, as the first flow has' '2\n0 2 3 100 1000 2\n0 2 3 100 1000 2 9\n'
flows "a flow of no bytes" ':2: the size in bytes is "0"' '1\n0 2 3 100 0 2\n'
flows "a size that is not whole" ':2: the size in bytes is "1e3"' '1\n0 2 3 100 1e3 2\n'
flows "a flow from a switch" ':2: the sender is node 3, which is a switch' '1\n3 2 3 100 1000 2\n'
flows "a flow to itself" ':2: host 2 sends to itself' '1\n2 2 3 100 1000 2\n'
flows "priority 8" ':2: the priority is "8"' '1\n0 2 8 100 1000 2\n'
flows "flows that are not in order" ':3: the flow starts before the one above it' '2\n0 2 3 100 1000 2\n0 2 3 100 1000 1\n'
flows "a start between nanoseconds" ':2: the start is "2.0000000001"' '1\n0 2 3 100 1000 2.0000000001\n'
flows "a size that makes no equal messages" ':2: 4294967291 bytes are not a sum' '1\n0 2 3 100 4294967291 2\n'
printf '2\n0 x\n' >bad
refuse "a trace of a node that is not a number" 'bad:2: a node that is sampled is "x"' hpcc t f bad
{ printf '901 1 900\n900\n' && for i in {0..899}; do echo "$i 900 100Gbps 1us 0"; done; } >wide
refuse "a switch whose buffer is too small" '^harness: error: f: nothing is written, as the case cannot be simulated: lab wide-f: switch s900: reserves and headroom of 900 ports' hpcc wide f --physics sim-hpcc-star
printf '5 2 2 1 4 H100\n2 3 4\n0 2 1000Gbps 1us 0\n1 3 1000Gbps 1us 0\n0 4 1Gbps 1us 0\n1 4 1Gbps 1us 0\n' >apart.txt
printf '1\n0 1 3 100 1000 0\n' >bad
refuse "GPUs of a server that have no NVSwitch in common" 'bad:2: GPUs 0 and 1 of one server have no NVSwitch in common' hpcc apart.txt bad
printf '4 2 1 1 3 H100\n2 3\n0 2 1000Gbps 1us 0\n1 3 1Gbps 1us 0\n2 3 1Gbps 1us 0\n' >apart.txt
refuse "an NVSwitch on a switch" 'apart.txt:5: a link between NVSwitch 2 and switch 3: expected one with a GPU' hpcc apart.txt bad
printf '5 2 4\n3 4\n0 3 1Gbps 1us 0\n0 4 1Gbps 1us 0\n1 3 1Gbps 1us 0\n2 4 1Gbps 1us 0\n' >apart.txt
printf '1\n1 2 3 100 1000 0\n' >bad
refuse "a way that leads through a host alone" 'bad:2: no path leads from host 1 to host 2: hosts with several links do not forward' hpcc apart.txt bad
{ printf '68 66 66\n' && echo {1..66} && for i in {1..65}; do echo "0 $i 1Gbps 1us 0"; done && echo "67 1 1Gbps 1us 0"; } >apart.txt
printf '1\n0 67 3 100 1000 0\n' >bad
refuse "a host with more links than a host may have NICs" 'apart.txt: host 0 has 65 links: expected at most 64' hpcc apart.txt bad

matrix "a second connection of one id" ':4: a second connection 1, as on line 3' 'Nodes 16\nConnections 2\n0->1 id 1 start 0 size 1000\n2->3 id 1 start 0 size 1000\n'
matrix "a size twice" ':3: the line has "size" twice' 'Nodes 16\nConnections 1\n0->1 start 0 size 1000 size 2000\n'
matrix "a node that is not there" ':3: the receiver is "16"' 'Nodes 16\nConnections 1\n0->16 start 0 size 1\n'
matrix "no start" ':3: expected either "start" or "trigger"' 'Nodes 16\nConnections 1\n0->1 size 1\n'
matrix "no size" ':3: expected "size BYTES"' 'Nodes 16\nConnections 1\n0->1 start 0\n'
matrix "a word that is not known" ':3: "addon" is unknown here' 'Nodes 16\nConnections 1\n0->1 start 0 size 1 addon\n'
matrix "two numbers of nodes" ':2: "Nodes" comes twice in the header' 'Nodes 16\nNodes 128\nConnections 1\n0->1 start 0 size 1\n'
matrix "2^31 connections" ':2: Connections is "2147483648"' 'Nodes 16\nConnections 2147483648\n'
matrix "fewer connections than the header says" ':4: the file ends after 1 of 2 connections' 'Nodes 16\nConnections 2\n0->1 start 0 size 1\n'
matrix "a trigger that is not there" ':3: there is no trigger 5' 'Nodes 16\nConnections 1\n0->1 trigger 5 size 1\n'
matrix "a trigger that nobody fires" ':5: trigger 5 is fired by 0 flows' 'Nodes 16\nConnections 1\nTriggers 1\n0->1 trigger 5 size 1\ntrigger id 5 oneshot\n'
matrix "an end that the sender does not see" ':5: node 1 does not see the end of the flow on line 4' 'Nodes 16\nConnections 2\nTriggers 1\n2->3 start 0 size 1 send_done_trigger 5\n1->0 trigger 5 size 1\ntrigger id 5 oneshot\n'
matrix "flows that wait for each other" ':4: this flow never begins' 'Nodes 16\nConnections 2\nTriggers 2\n0->1 trigger 1 size 1 recv_done_trigger 2\n1->0 trigger 2 size 1 recv_done_trigger 1\ntrigger id 1 oneshot\ntrigger id 2 oneshot\n'
matrix "multishot" ':4: trigger 5 is multishot' 'Nodes 16\nConnections 1\nTriggers 1\ntrigger id 5 multishot\n0->1 start 0 size 1\n'
matrix "failures" ':3: Failures is "1"' 'Nodes 16\nConnections 1\nFailures 1\n'
matrix "nodes of a fat tree of two tiers" ': 18 nodes do not make a fat tree of 3 tiers, but one of 2: give --tiers 2' 'Nodes 18\nConnections 1\n0->1 start 0 size 1\n'
matrix "nodes that are no fat tree" ': 17 nodes do not make a fat tree of 2 or 3 tiers, .*: give a lab with at least' 'Nodes 17\nConnections 1\n0->1 start 0 size 1\n'
printf 'Nodes 64\nConnections 1\n0->1 start 0 size 1\n' >bad
refuse "a lab that is too small" 'sim-leaf-spine.json has 32 hosts: bad needs 64' htsim bad --lab sim-leaf-spine
refuse "a lab of real hosts" 'expected a simulated lab' htsim bad --lab geforce-pair
refuse "a rate for a lab that has its own" '--rate: the lab' htsim bad --lab sim-leaf-spine --rate 1Gb/s
refuse "physics of real hosts" 'expected a simulated lab' hpcc t f --physics geforce-pair

schedule "a send without a recv" ':3: no recv of rank 1 from rank 0' 'num_ranks 2\nrank 0 {\nsend 1b to 1\n}\nrank 1 {\n}\n'
schedule "a NIC that no rank has" ': .* schedule.goal, line 4, is of nic 1: role h0, rank 0, has 1 in lab' 'num_ranks 2\nrank 0 {\nsend 1b to 1 nic 1\n}\nrank 1 {\nrecv 1b from 0\n}\n'
schedule "ranks that wait for each other" ':[0-9]+: this operation requires itself, by way of the one on line' 'num_ranks 2\nrank 0 {\na: recv 1b from 1\n\nb: send 1b to 1\nb requires a\n}\nrank 1 {\na: recv 1b from 0\nb: send 1b to 0\nb requires a\n}\n'
schedule "a recv from anybody" ':3: -1: a recv from any rank' 'num_ranks 2\nrank 0 {\nrecv 1b from -1\n}\n'

refuse "a format that is not known" '"omnet" is unknown: expected hpcc, htsim, goal, chakra or aicb' omnet t
refuse "too few files" 't: no key of a configuration is in it: expected CONFIG .* or TOPOLOGY FLOW \[TRACE\]' hpcc t
check_exit 2 "what is there is not replaced" "$H" import hpcc t f -o hpcc
check_says "and named" 'hpcc/lab.json is there already' "$SCRATCH/err"
finish
