#!/bin/bash
# Each row of tests/data/import/cases.txt is imported here, from a file of the same contents as the
# other simulator's, and what the row says of it is compared with what the programs say. A row without a case fails.
# shellcheck disable=SC2016 # names of files stand between backquotes in the table
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/../lib.sh"
cd "$SCRATCH" || exit 1
H=$BUILD/harness
grep "^| [^|]" "$ROOT/tests/data/import/cases.txt" | sed 1d >rows

# imported WORDS FORMAT FILE... [OPTION...]: the figures of `row`, for one import after the other
flows=() ends=()
declare -A last_end
imported() {
    local folder=case$((++number))
    "$H" import "$@" -o $folder -q >out 2>&1 || { echo "$*: $(cat out)" >>why && return; }
    "$H" check $folder/lab.json $folder/scenario.json >>why 2>&1 || return
    "$H" run $folder/scenario.json --out $folder/r --no-report -q >>why 2>&1 || return
    if [ -e $folder/schedule.goal ]; then
        flows+=("$(grep -c ': send' $folder/schedule.goal)")
    else
        flows+=("$(jq '[.flows[] | select(.completion_ns)] | length' $folder/r/*/latest/result.json)")
    fi
    ends+=("$(printf %.1f "$(jq -r '[.flows[].completion_ns.end, .jobs[]?.end_ns] | max / 1000' $folder/r/*/latest/result.json)")")
    last_end[$2]=${ends[-1]}
}
refused() {
    flows=("")
    "$H" import "$@" -o refused >out 2>>why
}
joined() {
    local all
    all=$(printf ', %s' "$@")
    echo "${all:2}"
}
# row NAME IMPORTED: what the cases before it gave is what the table says
row() {
    local line
    line="| $1 | $(joined "${flows[@]}") | $2 | $(joined "${ends[@]}") |"
    line=${line//|  |/| |}
    if grep -qxF -- "$line" rows; then
        ok "$1"
    else
        nok "$1" "found: $line
in the table: $(grep -F -- "| $1 |" rows)
$(tail -n 5 why)"
    fi
    grep -vF -- "| $1 |" rows >left
    mv left rows
    flows=() ends=()
    : >why
}
: >why
number=0
PHYSICS=(--physics sim-hpcc-star)

# ---- the HPCC simulator
{ echo "66 1 65" && echo 0 && for i in {1..65}; do echo "0 $i 100Gbps 0.001ms 0"; done; } >topology.txt
{
    echo "376 56 480" && echo {320..375}
    for i in {0..319}; do echo "$i $((320 + i / 16)) 100Gbps 1000ns 0.000000"; done
    for i in {320..339}; do for k in 0 1 2 3; do echo "$i $((340 + (i - 320) / 4 * 4 + k)) 400Gbps 1000ns 0.000000"; done; done
    for i in {340..359}; do for k in 0 1 2 3; do echo "$i $((360 + (i - 340) % 4 * 4 + k)) 400Gbps 1000ns 0.000000"; done; done
} >fat.txt
printf '2\n2 1 3 100 200000000 2\n3 1 3 100 200000000 2\n' >flow.txt
{ echo 320 && echo {0..319}; } >hosts.txt
imported hpcc topology.txt flow.txt "${PHYSICS[@]}"
printf '67\n' >trace.txt && echo {0..66} >>trace.txt
"$H" import hpcc topology.txt flow.txt trace.txt -o traced >out 2>err
check_says "a node that is not there is named" 'trace.txt: 1 numbers are above those of topology.txt, 0 to 65' out
row 'HPCC, `topology.txt` and `flow.txt`' 'yes; of `trace.txt`, which names node 66 of 66, 66 nodes'
printf '%s\n' "TOPOLOGY_FILE topology.txt" "FLOW_FILE flow.txt" "SIMULATOR_STOP_TIME 4.00" "CC_MODE 3" "RATE_AI 50Mb/s" "MIN_RATE 100Mb/s" "L2_ACK_INTERVAL 1" "HAS_WIN 1" "GLOBAL_T 1" \
    "VAR_WIN 1" "FAST_REACT 1" "U_TARGET 0.95" "MI_THRESH 0" "INT_MULTI 1" "MULTI_RATE 0" "SAMPLE_FEEDBACK 0" "BUFFER_SIZE 32" "KMAX_MAP 2 25000000000 400 100000000000 1600" \
    "KMIN_MAP 2 25000000000 100 100000000000 400" "PMAX_MAP 2 25000000000 0.2 100000000000 0.2" >config.txt
imported hpcc config.txt
row 'HPCC, `config.txt`, which names these' "yes: $(jq -r .settings.congestion_control case$number/scenario.json)"
imported hpcc fat.txt flow.txt hosts.txt "${PHYSICS[@]}"
is=$("$H" lab show case$number/lab.json | jq -r '"\(.hosts | length) hosts, \(.switches | length) switches, \(.links | length) links"')
row 'HPCC, `fat.txt`, `flow.txt` and `trace.txt`' "yes: $is"
{
    echo "348 28 800" && echo {320..347}
    for i in {0..319}; do for k in 0 1; do echo "$i $((320 + 2 * (i / 32) + k)) 25Gbps 1000ns 0.000000"; done; done
    for i in {320..339}; do for k in {340..347}; do echo "$i $k 100Gbps 1000ns 0.000000"; done; done
} >ali.txt
imported hpcc ali.txt flow.txt "${PHYSICS[@]}"
is=$("$H" lab show case$number/lab.json | jq -r '"\([.hosts[].machine] | unique | length) hosts of \(.hosts | length) NICs, \(.switches | length) switches, \(.links | length) links"')
row 'HPCC, `ali_32host_10rack.txt` and `flow.txt`' "yes: $is"

# ---- SimAI: GPUs on an NVSwitch each server, one NIC each, to a rail's switch; all of 400 Gb/s
{
    echo "84 8 8 12 160 H100" && echo {64..83}
    for i in {0..63}; do echo "$i $((64 + i / 8)) 2880Gbps 0.000025ms 0" && echo "$i $((72 + i % 8)) 400Gbps 0.0005ms 0"; done
    for i in {72..79}; do for k in {80..83}; do echo "$i $k 400Gbps 0.0005ms 0"; done; done
} >spectrum.txt
printf '2\n0 8 3 100 100000000 0\n1 17 3 100 100000000 0.000001\n' >simai.txt
imported hpcc spectrum.txt simai.txt "${PHYSICS[@]}"
row "SimAI's generator, 64 GPUs: Spectrum-X" "yes; NVSwitches: $("$H" import hpcc spectrum.txt simai.txt -o again | grep -oE '8 of 8 are left out')"
# hpn PLANES: 64 GPUs with two ports, each to a leaf of its rail; eight spines for both, or four for each plane
hpn() {
    echo "96 8 8 24 $((64 * 3 + 16 * 8 / $1)) H100" && echo {64..95}
    for i in {0..63}; do echo "$i $((64 + i / 8)) 2880Gbps 0.000025ms 0" && for k in 0 1; do echo "$i $((72 + 8 * k + i % 8)) 200Gbps 0.0005ms 0"; done; done
    for i in {72..87}; do for ((k = 0; k < 8 / $1; k++)); do echo "$i $((88 + k + ($1 - 1) * (i / 80) * 4)) 400Gbps 0.0005ms 0"; done; done
}
printf '3\n0 8 3 100 100000000 0\n1 17 3 100 100000000 0.000001\n3 5 3 100 100000000 0.000001\n' >hpn-flow.txt
for planes in 1 2; do
    hpn $planes >hpn.txt
    imported hpcc hpn.txt hpn-flow.txt "${PHYSICS[@]}"
done
flows=("${flows[0]}")
is=$("$H" import hpcc hpn.txt hpn-flow.txt "${PHYSICS[@]}" -o hpn | grep -oE '7 of 8 are left out')
row "SimAI's generator: AlibabaHPN, one plane and two" "yes; NVSwitches: $is"

# ---- htsim
# matrix NODES: of the pairs "sender receiver" of standard input
matrix() { awk -v nodes="$1" '!/^#/ { pair[n++] = $1 "->" $2 } END { print "Nodes", nodes; print "Connections", n; for (i = 0; i < n; i++) print pair[i], "start 0 size 2000000" }'; }
PERMUTATIONS=(perm_16n_16c_2MB.cm perm_1024n_1024c_0u_2000000b.cm)
echo 0 13 | matrix 16 >one.cm
printf '%s\n' "0 13" "13 0" | matrix 16 >bidir.cm
for i in {0..14}; do echo "$i 15"; done | matrix 16 >incast.cm
for i in {0..32} {34..127}; do echo "$i 33"; done | matrix 128 >incast_128.cm
{ echo 1 0 && echo 2 0 && printf '2 %s\n' {4..12} && echo 3 0 && printf '3 %s\n' {13..21}; } | matrix 128 >outcast_incast.cm
printf '%s\n' "7 5" "15 1" "0 13" "14 8" "1 3" "6 7" "5 11" "9 12" "11 4" "3 14" "12 15" "2 10" "13 2" "10 6" "4 0" "8 9" | matrix 16 >"${PERMUTATIONS[0]}"
matrix 1024 <"$ROOT/tests/data/htsim/permutation-1024.tsv" >"${PERMUTATIONS[1]}"
for file in one bidir incast; do imported htsim $file.cm; done
row 'htsim, `one.cm`, `bidir.cm`, `incast.cm`' yes
for file in incast_128 outcast_incast; do imported htsim $file.cm; done
single=$(printf %.1f "$(jq -r '.flows[] | select(.from == "h1").completion_ns.end / 1000' "case$number"/r/*/latest/result.json)")
row 'htsim, `incast_128.cm`, `outcast_incast.cm`' yes
for file in "${PERMUTATIONS[@]}"; do imported htsim "$file"; done
row 'htsim, `perm_16n_16c_2MB.cm`, `perm_1024n_1024c_0u_2000000b.cm`' yes
last_end[outcast_incast.cm]+="; $single"
# the targets that csg-htsim publishes, beside these figures
targets=0
while IFS='|' read -r _ file _ here _; do
    file=$(tr -d '` ' <<<"$file") here=${here%; seeds*}
    check "$file is beside its target as it runs" test "$(xargs <<<"$here")" = "${last_end[$file]-}"
    targets=$((targets + 1))
done < <(sed -n '/^| file | target there/,/^$/p' "$ROOT/docs/simulator-reference.md" | grep '^| `')
check "all targets were looked at" test $targets = 7
printf 'Nodes 16\nConnections 2\nTriggers 1\n0->1 id 1 start 0 size 1000 send_done_trigger 1\n0->2 id 2 trigger 1 size 1000\ntrigger id 1 multishot\n' >shots.cm
refused htsim shots.cm
check_says "multishot is named" 'shots.cm:6: trigger 1 is multishot' why
row "htsim's generator: serial all-to-all, several at a time" 'refused: multishot triggers'

# ---- GOAL
# ring RANKS BYTES: all-reduce, in 2(n-1) steps of an n-th
ring() {
    awk -v n="$1" -v bytes="$2" 'BEGIN { print "num_ranks", n; for (r = 0; r < n; r++) { print "rank", r, "{"; for (s = 0; s < 2 * n - 2; s++) {
        printf "s%d: send %db to %d tag %d\nr%d: recv %db from %d tag %d\n", s, bytes / n, (r + 1) % n, s, s, bytes / n, (r + n - 1) % n, s
        if (s) printf "s%d requires r%d\n", s, s - 1 } print "}" } }'
}
awk 'BEGIN { print "num_ranks 32"; for (r = 0; r < 32; r++) { print "rank", r, "{"; b = 0; while (2 ^ b <= r) b++
    if (r) printf "data: recv 1b from %d tag 0\n", r - 2 ^ (b - 1)
    for (k = b; k < 5; k++) { printf "l%d: send 1b to %d tag 0\n", k, r + 2 ^ k; if (r) printf "l%d requires data\n", k } print "}" } }' >tree.goal
imported goal tree.goal "${PHYSICS[@]}"
row 'LogGOPSim, `binary_tree_32.goal`' yes
ring 16 1000000 >ring.goal
imported goal ring.goal "${PHYSICS[@]}"
row 'GOAL, 16 ranks, 1 MB: all-reduce by ring' yes
awk 'BEGIN { print "num_ranks 16"; for (r = 0; r < 16; r++) { print "rank", r, "{"; for (k = 1; k < 16; k++) { to = (r + k) % 16; from = (r + 16 - k) % 16
    printf "send 1000000b to %d tag 0\nrecv 1000000b from %d tag 0\n", to, from } print "}" } }' >all.goal
imported goal all.goal "${PHYSICS[@]}"
row 'the same: all-to-all' yes
ring 64 64000000 >large.goal
imported goal large.goal "${PHYSICS[@]}"
row 'the same, all-reduce by ring of 64 ranks, 64 MB' yes
awk '/^recv/ { n++; print "r" n ": " $0; printf "c%d: calc 50000\nc%d requires r%d\n", n, n, n; next } { print }' all.goal >calc.goal
imported goal calc.goal "${PHYSICS[@]}"
row 'the same, all-to-all with computations in any order' yes
check "no row is left" test ! -s rows
finish
