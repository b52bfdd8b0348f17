#!/bin/bash
# The configuration of the HPCC simulator and of its forks: a case that is imported by it is the same as one whose physics is set by hand, each
# key does what docs/import.md says, and what cannot be followed is said.
# shellcheck disable=SC2016 # jq's variables
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/../lib.sh"
cd "$SCRATCH" || exit 1
H=$BUILD/harness
is() { check "$1" jq -e "${@:2}"; }

# ---- a case: three hosts send to a fourth, which sends to one of them
mkdir -p sim/mix
printf '5 1 4\n4\n0 4 100Gbps 1000ns 0\n1 4 100Gbps 1000ns 0\n2 4 100Gbps 1000ns 0\n3 4 100Gbps 1000ns 0\n' >sim/mix/topology.txt
printf '4\n0 3 3 100 2000000 2\n1 3 3 100 2000000 2\n2 3 3 100 2000000 2\n3 0 3 100 100000 2.00002\n' >sim/mix/flow.txt
printf '1\n4\n' >sim/mix/trace.txt
cat >base.txt <<'E1'
ENABLE_QCN 1 {0: switches do not mark}
USE_DYNAMIC_PFC_THRESHOLD 1

PACKET_PAYLOAD_SIZE 1000
TOPOLOGY_FILE mix/topology.txt
FLOW_FILE mix/flow.txt
TRACE_FILE mix/trace.txt
TRACE_OUTPUT_FILE mix/mix.tr
FCT_OUTPUT_FILE mix/fct.txt
SIMULATOR_STOP_TIME 4.00
CC_MODE 1
ALPHA_RESUME_INTERVAL 1
RATE_DECREASE_INTERVAL 4
CLAMP_TARGET_RATE 0
RP_TIMER 30
EWMA_GAIN 0.00390625
FAST_RECOVERY_TIMES 1
RATE_AI 100Mb/s
RATE_HAI 400Mb/s
MIN_RATE 1000Mb/s
DCTCP_RATE_AI 1000Mb/s
ERROR_RATE_PER_LINK 0.0000
L2_CHUNK_SIZE 4000
L2_ACK_INTERVAL 1
L2_BACK_TO_ZERO 0
HAS_WIN 0
GLOBAL_T 1
VAR_WIN 1
FAST_REACT 1
U_TARGET 0.95
MI_THRESH 0
INT_MULTI 4
MULTI_RATE 0
SAMPLE_FEEDBACK 0
PINT_LOG_BASE 1.05
RATE_BOUND 1
ACK_HIGH_PRIO 0
LINK_DOWN 0 0 0
ENABLE_TRACE 1
KMAX_MAP 2 25000000000 100 100000000000 400
KMIN_MAP 2 25000000000 25 100000000000 100
PMAX_MAP 2 25000000000 0.2 100000000000 0.2
BUFFER_SIZE 32
QLEN_MON_FILE mix/qlen.txt
E1
# config [KEY VALUE]...: the case's configuration, with other values; a value of "-" takes the key away
config() {
    local text i
    text=$(cat base.txt)
    for ((i = 1; i < $#; i += 2)); do
        text=$(sed "/^${!i} /d" <<<"$text")
        local value=$((i + 1))
        [ "${!value}" = - ] || text+=$'\n'"${!i} ${!value}"
    done
    echo "$text" >sim/mix/config.txt
}
# run_with NAME [KEY VALUE]...: the figures of the run, NAME.json, and of the import, NAME.out
run_with() {
    local name=$1
    shift
    config "$@"
    rm -rf case results
    "$H" import hpcc sim/mix/config.txt -o case >"$name.out" 2>&1 || { cat "$name.out" >&2 && return 1; }
    "$H" run case/scenario.json --set sample.every=100us --out results --no-report -q >>"$name.out" 2>&1 || [[ $? = [14] ]] || { cat "$name.out" >&2 && return 1; }
    jq '{ends: [.flows[].completion_ns.end], bytes: [.flows[].delivered_bytes], marks: ([.flows[].marked_packets] | add), retransmitted: ([.flows[].retransmitted_packets] | add),
         cnps: (.hosts.h0.counters.rp_cnp_handled.delta), packets: .hosts.h0.counters.tx_prio3_packets.delta,
         pauses: (.hosts.s4.counters.tx_pause.delta // 0), drops: (.hosts.s4.counters.buffer_discards.delta // 0),
         peak: .hosts.s4.counters.shared_peak_bytes.max}' results/*/latest/result.json >"$name.json"
    cp case/scenario.json "$name.scenario"
    cp case/lab.json "$name.lab"
}
# differs WHAT FILTER BASE [KEY VALUE]...: with these values the run is not that of BASE ($base), and the filter holds; $scenario, $lab: the documents
differs() {
    local what=$1 filter=$2 base=$3
    shift 3
    if ! run_with this "$@" 2>why; then
        nok "$what" "$(cat why)"
    else
        is "$what" --slurpfile base "$base.json" --slurpfile scenario this.scenario --slurpfile lab this.lab \
            "\$base[0] as \$base | \$scenario[0] as \$scenario | \$lab[0] as \$lab | . != \$base and ($filter)" this.json
    fi
}

# ---- it is what the same files are with the physics set by hand
check "a configuration is imported and run" run_with dcqcn
check_says "which files are read is said" "^note: sim/mix/config.txt: mix/topology.txt is $(realpath "$SCRATCH")/sim/mix/topology.txt$" dcqcn.out
check_says "what is without effect is listed" '^note: .*: MULTI_RATE, SAMPLE_FEEDBACK, DCTCP_RATE_AI, U_TARGET, MI_THRESH, FAST_REACT, INT_MULTI: without effect with CC_MODE 1$' dcqcn.out
check_says "... and what is not read, with a reason" ': TRACE_OUTPUT_FILE, FCT_OUTPUT_FILE, QLEN_MON_FILE: not read, outputs$' dcqcn.out
check_says "... each" ': PINT_LOG_BASE: not read, of PINT' dcqcn.out
check_says "... PFC's thresholds are dynamic" ': USE_DYNAMIC_PFC_THRESHOLD: not read, thresholds of PFC are dynamic there whatever it says$' dcqcn.out
check_says "... chunks are not asked for" ': L2_CHUNK_SIZE: not read, of L2_BACK_TO_ZERO$' dcqcn.out
is "values of the lab say where they are from" '.sources["defaults.switch.buffer"] == "sim/mix/config.txt:43: BUFFER_SIZE" and (.sources["defaults.*"] | test("High-Precision"))' dcqcn.lab
check "both documents are good" "$H" check case/lab.json case/scenario.json
# shellcheck disable=SC2317 # called by check
# by_hand KMIN KMAX TOPOLOGY FLOW OPTION...: the files without the configuration, on values of the parity lab that are edited here
by_hand() {
    jq --arg kmin "$1" --arg kmax "$2" '.defaults.switch.ecn += {kmin: $kmin, kmax: $kmax} | .defaults.host.nic.dcqcn.rp += {rpg_time_reset: 30, rpg_ai_rate: 100, rpg_hai_rate: 400}' \
        "$ROOT/labs/sim-hpcc-star.json" >byhand.json
    rm -rf hand hand-results
    "$H" import hpcc "$3" "$4" -o hand --physics byhand.json -q && "$H" run hand/scenario.json "${@:5}" --out hand-results --no-report -q
}
# shellcheck disable=SC2317 # called by check
same_as_by_hand() { diff <(jq -S '.flows, .hosts' hand-results/*/latest/result.json) <(jq -S '.flows, .hosts' results/*/latest/result.json); }
"$H" import hpcc sim/mix/config.txt -o whole -q && rm -rf results && "$H" run whole/scenario.json --out results --no-report -q
check "by hand" by_hand 100KB 400KB sim/mix/topology.txt sim/mix/flow.txt --set 'roles=["h[0-3]","s4"]'
check "all figures of four hosts are the same" same_as_by_hand

# ---- 32 hosts over four leaves and two spines, with HPCC
{
    echo "38 6 40" && echo {32..37}
    for i in {0..31}; do echo "$i $((32 + i / 8)) 100Gbps 1us 0"; done
    for i in {32..35}; do for k in 36 37; do echo "$i $k 400Gbps 1us 0"; done; done
} >sim/mix/wide.txt
{ echo 32 && for i in {0..31}; do echo "$i $(((i * 5 + 8) % 32 == i ? (i + 1) % 32 : (i * 5 + 8) % 32)) 3 100 $((100000 + 5000 * i)) 2"; done; } >sim/mix/wide-flow.txt
config CC_MODE 3 HAS_WIN 1 TOPOLOGY_FILE mix/wide.txt FLOW_FILE mix/wide-flow.txt KMAX_MAP '2 100000000000 400 400000000000 1600' KMIN_MAP '2 100000000000 100 400000000000 400' \
    PMAX_MAP '2 100000000000 0.2 400000000000 0.2' TRACE_FILE -
check_exit 0 "32 hosts" "$H" import hpcc sim/mix/config.txt -o wide
rm -rf results && "$H" run wide/scenario.json --out results --no-report -q
check "by hand" by_hand 100KB 400KB sim/mix/wide.txt sim/mix/wide-flow.txt --set settings.congestion_control=hpcc --set settings.window.base_rtt=8200ns \
    --set 'settings.hpcc={"rate_ai":"100Mb/s","min_rate":"1Gb/s","u_target":0.95,"mi_thresh":0,"fast_react":true,"int_multi":4}'
check "all figures of 32 hosts are the same" same_as_by_hand
is "the longest base round-trip time is that of third.cc: 8 us of delays, 200 ns of sending" '.settings.window == {var_win: true, base_rtt: "8.2us"}' wide/scenario.json

# ---- with the values of its run.py at 100 Gb/s the times are those of the HPCC simulator (tests/unit/congestion/test_sim_reference_controls.c)
{ echo 18 1 17 && echo 17 && for i in {0..16}; do echo "$i 17 100Gbps 1us 0"; done; } >sim/mix/star.txt
{ echo 16 && for i in {0..15}; do echo "$i 16 3 100 1000000 2"; done; } >sim/mix/incast.txt
printf '5\n0 1 3 100 1 2\n2 3 3 100 1000 2\n4 5 3 100 10000 2\n6 7 3 100 1000000 2\n8 9 3 100 10000000 2\n' >sim/mix/alone.txt
# takes WHAT NANOSECONDS [KEY VALUE]...: each flow
takes() {
    local what=$1 times=$2
    if run_with this TOPOLOGY_FILE mix/star.txt TRACE_FILE - "${@:3}" 2>why; then
        check "$what" diff <(tr ' ' '\n' <<<"$times") <(jq '.flows[].completion_ns.max' results/*/latest/result.json)
    else
        nok "$what" "$(cat why)"
    fi
}
takes "16 flows to one host, DCTCP" "1266936 1267019 1274240 1274489 1274738 1275236 1324289 1324704 1325036 1331593 1331676 1331759 1332008 1332091 1322795 1322048" \
    FLOW_FILE mix/incast.txt CC_MODE 8 HAS_WIN 1 EWMA_GAIN 0.0625 DCTCP_RATE_AI 615Mb/s KMIN_MAP '1 100000000000 300' KMAX_MAP '1 100000000000 300' PMAX_MAP '1 100000000000 1.00'
takes "... TIMELY" "1348092 1346664 1343808 1339524 1333812 1326672 1318188 1308276 1296936 1286604 1286688 1286772 1286856 1286940 1287024 1287108" \
    FLOW_FILE mix/incast.txt CC_MODE 7 RATE_AI 100Mb/s RATE_HAI 500Mb/s
takes "each flow alone, HPCC" "4028 4188 4971 95735 921111" FLOW_FILE mix/alone.txt CC_MODE 3 HAS_WIN 1 RATE_AI 40Mb/s
takes "... TIMELY with a window" "4016 4176 4932 88092 844092" FLOW_FILE mix/alone.txt CC_MODE 7 HAS_WIN 1 RATE_AI 100Mb/s RATE_HAI 500Mb/s

# ---- each key. With DCQCN
differs "ENABLE_QCN 0: no marks, no CNPs" '.marks == 0 and .cnps == 0 and $base.marks > 0 and $base.cnps > 0' dcqcn ENABLE_QCN 0
differs "KMIN_MAP: marks sooner, a shorter queue" '.peak < $base.peak' dcqcn KMIN_MAP '1 100000000000 10'
differs "KMAX_MAP" '.marks > $base.marks' dcqcn KMAX_MAP '1 100000000000 150'
differs "PMAX_MAP" '.marks > $base.marks' dcqcn PMAX_MAP '1 100000000000 1'
differs "BUFFER_SIZE: pauses, with PFC's dynamic threshold" '.pauses > 0 and $base.pauses == 0 and $lab.defaults.switch.buffer == "1MiB"' dcqcn BUFFER_SIZE 1
check "CC_MODE 0: none" run_with free CC_MODE 0 BUFFER_SIZE 1
is "... but marks and pauses" '.cnps == 0 and .marks > 0 and .pauses > 0' free.json
differs "ACK_HIGH_PRIO: a host that is paused sends its ACKs" '$lab.defaults.host.nic.ack_unpaused and .ends[3] < $base.ends[3]' free CC_MODE 0 BUFFER_SIZE 1 ACK_HIGH_PRIO 1
differs "ENABLE_PFC 0" '.pauses == 0 and .drops > 0 and .retransmitted > 0' free CC_MODE 0 BUFFER_SIZE 1 ENABLE_PFC 0
differs "PACKET_PAYLOAD_SIZE" '.packets > 1.9 * $base.packets' dcqcn PACKET_PAYLOAD_SIZE 500
for change in "ALPHA_RESUME_INTERVAL 8" "RATE_DECREASE_INTERVAL 20" "RP_TIMER 100" "EWMA_GAIN 0.0625" "FAST_RECOVERY_TIMES 5" "RATE_AI 1Gb/s" "RATE_HAI 4000Mbps" "MIN_RATE 20Gb/s" \
    "CLAMP_TARGET_RATE 1" "RATE_ON_FIRST_CNP 0.5"; do
    # shellcheck disable=SC2086 # a key and a value
    differs "${change% *}" true dcqcn $change
done
is "a share of the line is set on the first CNP" '.settings.dcqcn.rp.rate_to_set_on_first_cnp == 50000' this.scenario
differs "HAS_WIN: a window" '.peak < $base.peak and $scenario.settings.congestion_control == "dcqcn_vwin"' dcqcn HAS_WIN 1
cp this.json window.json
differs "VAR_WIN 0: which does not fall" '$scenario.settings.window.var_win == false' window HAS_WIN 1 VAR_WIN 0
differs "NO_CC_NODE: a host that nothing slows" '.ends[0] < 0.7 * .ends[1] and $scenario.settings_of.h0.congestion_control == "none"' dcqcn NO_CC_NODE '1 0'
differs "... whose window stays" '.ends[0] < .ends[1] and $scenario.settings_of.h0.congestion_control == "dcqcn_vwin"' window HAS_WIN 1 NO_CC_NODE '1 0'
differs "ERROR_RATE_PER_LINK" '.retransmitted > 0 and $base.retransmitted == 0 and all($lab.links[]; .loss == 0.001)' dcqcn ERROR_RATE_PER_LINK 0.001
differs "LINK_DOWN: from 2 s and so many us on" '.ends[2] == null and .bytes[2] > 0 and $scenario.faults == [{link: ["h2", "s4"], kind: "down", start: "20us"}] and $lab.defaults.switch.convergence == "0"' dcqcn LINK_DOWN '20 2 4'
check "... after the end" run_with late LINK_DOWN '500000 2 4'
is "... is left out" --slurpfile other dcqcn.json '. == $other[0]' late.json
check_says "... as is said" '^note: the link goes down when all flows should have ended: that is left out$' late.out
differs "SIMULATOR_STOP_TIME" '.ends == [null, null, null, null] and $scenario.phases.measure == "25us"' dcqcn SIMULATOR_STOP_TIME 2.000025
is "... flows that it leaves too little time are not waited for" '.expect == []' this.scenario

# ---- with HPCC, TIMELY and DCTCP
check "CC_MODE 3: HPCC" run_with hpcc CC_MODE 3 HAS_WIN 1 MI_THRESH 5
is "... with its window" '.settings.congestion_control == "hpcc" and .settings.window == {var_win: true, base_rtt: "4.16us"}' hpcc.scenario
for change in "U_TARGET 0.5" "MI_THRESH 0" "FAST_REACT 0" "INT_MULTI 1" "RATE_AI 1000Mb/s" "MIN_RATE 40Gb/s"; do
    # shellcheck disable=SC2086 # a key and a value
    differs "${change% *}" true hpcc CC_MODE 3 HAS_WIN 1 MI_THRESH 5 $change
done
sed 's/2000000 2$/8000000 2/' sim/mix/flow.txt >sim/mix/long.txt
check "CC_MODE 7: TIMELY" run_with timely CC_MODE 7 FLOW_FILE mix/long.txt
is "... without a window" '.settings.congestion_control == "timely" and (.settings | has("window") | not)' timely.scenario
for change in "RATE_AI 5Gb/s" "RATE_HAI 20Gb/s" "MIN_RATE 50Gb/s"; do
    # shellcheck disable=SC2086 # a key and a value
    differs "${change% *}" true timely CC_MODE 7 FLOW_FILE mix/long.txt $change
done
differs "HAS_WIN: a window" '.peak < $base.peak and $scenario.settings.congestion_control == "timely_vwin"' timely CC_MODE 7 HAS_WIN 1 FLOW_FILE mix/long.txt
check "CC_MODE 8: DCTCP" run_with dctcp CC_MODE 8 HAS_WIN 1 KMIN_MAP '1 100000000000 30' KMAX_MAP '1 100000000000 30'
for change in "EWMA_GAIN 0.5" "DCTCP_RATE_AI 5Gb/s" "MIN_RATE 30Gb/s"; do
    # shellcheck disable=SC2086 # a key and a value
    differs "${change% *}" true dctcp CC_MODE 8 HAS_WIN 1 KMIN_MAP '1 100000000000 30' KMAX_MAP '1 100000000000 30' $change
done
differs "HAS_WIN 0: none" '.peak > $base.peak' dctcp CC_MODE 8 KMIN_MAP '1 100000000000 30' KMAX_MAP '1 100000000000 30'

# ---- files
# imported WHAT [KEY VALUE]...: only the import; its words are in out
imported() {
    local what=$1
    shift
    config "$@"
    rm -rf case
    check_exit 0 "$what" "$H" import hpcc sim/mix/config.txt -o case "${OPTIONS[@]}"
}
OPTIONS=()
imported "ENABLE_TRACE 0" ENABLE_TRACE 0
is "... no switch is sampled" '.roles == ["h[0-3]"]' case/scenario.json
imported "a trace that is not there" TRACE_FILE mix/none.txt
check_says "... is said" 'mix/none.txt is not there: the hosts of flows alone are sampled' out
cp -r sim/mix deep
config TOPOLOGY_FILE "$SCRATCH/deep/topology.txt" FLOW_FILE mix/none.txt
rm -rf case
check_exit 0 "files behind the configuration take the place of those that it names" "$H" import hpcc sim/mix/config.txt sim/mix/topology.txt sim/mix/flow.txt -o case
is "... a link's rate and all the rest is theirs" '.links[0].rate == "100Gb/s" and .sources.links == "sim/mix/topology.txt, a file of the HPCC simulator"' case/lab.json
OPTIONS=(--physics sim-leaf-spine)
imported "values of another lab, over which those of the configuration are"
is "... has both" '.defaults.host.nic.model == "ideal" and .defaults.switch.buffer == "32MiB"' case/lab.json
OPTIONS=()
sed 's/$/\r/; 1i # a comment CC_MODE 10' base.txt >sim/mix/marked.txt
rm -rf case && check_exit 0 "comments, and ends of lines of another system" "$H" import hpcc sim/mix/marked.txt -o case -q
is "... change nothing" --slurpfile other dcqcn.scenario '. == $other[0]' case/scenario.json

# ---- marking by rate
printf '6 2 5\n4 5\n0 4 100Gbps 1us 0\n1 4 100Gbps 1us 0\n2 5 25Gbps 1us 0\n3 5 25Gbps 1us 0\n4 5 100Gbps 2us 0\n' >sim/mix/two.txt
TWO=(TOPOLOGY_FILE mix/two.txt TRACE_FILE - KMIN_MAP '2 25000000000 25 100000000000 100' KMAX_MAP '2 25000000000 100 100000000000 400')
imported "thresholds in proportion to rates" "${TWO[@]}"
is "... have a rate that they are of" '.defaults.switch.ecn | .reference == "100Gb/s" and .kmin == "100kB" and .kmax == "400kB"' case/lab.json
imported "thresholds that are all the same" "${TWO[@]}" KMIN_MAP '2 25000000000 50 100000000000 50' KMAX_MAP '3 25000000000 1 25000000000 90 100000000000 90'
is "... have none; of a rate that is there twice the last counts" '.defaults.switch.ecn | .reference == "0" and .kmin == "50kB" and .kmax == "90kB"' case/lab.json
printf '1\n0 1 3 100 1000 2\n' >sim/mix/one.txt
printf '6 2 4\n4 5\n0 4 100Gbps 1us 0\n1 4 100Gbps 1us 0\n2 5 25Gbps 1us 0\n3 5 25Gbps 1us 0\n' >sim/mix/apart.txt
APART=(TOPOLOGY_FILE mix/apart.txt FLOW_FILE mix/one.txt TRACE_FILE - KMAX_MAP '2 25000000000 300 100000000000 400')
imported "others are each switch's" "${APART[@]}"
is "... own" '[.switches[] | .ecn.kmax] == ["400kB","300kB"]' case/lab.json
check "... and good" "$H" check case/lab.json case/scenario.json

# ---- round-trip times
printf '2\n0 1 3 100 1000 2\n1 0 3 100 1000 2\n' >sim/mix/near.txt
imported "GLOBAL_T 0, where all flows have one" HAS_WIN 1 GLOBAL_T 0 "${TWO[@]}" FLOW_FILE mix/near.txt
is "... is theirs" '.settings.window.base_rtt == "4.16us"' case/scenario.json
imported "GLOBAL_T 1" HAS_WIN 1 "${TWO[@]}" FLOW_FILE mix/near.txt
# from host 0 to host 2 it is 8.48 us, at 25 Gb/s 26500 bytes; from 0 to 1 4.16 us, at 100 Gb/s 52000
is "... is that of the largest window" '.settings.window.base_rtt == "4.16us"' case/scenario.json
printf '2\n0 1 3 100 1000 2\n2 3 3 100 1000 2\n' >sim/mix/pairs.txt
imported "senders of several rates" HAS_WIN 1 "${TWO[@]}" FLOW_FILE mix/pairs.txt
is "... have windows of one size" '.settings.window.base_rtt == "4.16us" and .settings_of == {h2: {window: {base_rtt: "16.64us"}}}' case/scenario.json
imported "... not with HPCC" CC_MODE 3 HAS_WIN 1 "${TWO[@]}" FLOW_FILE mix/pairs.txt
check_says "... as is said" 'the window of host 0 is 106000 bytes, that of its own rate; there all have 52000 bytes' out

# ---- forks
imported "SimAI's" GLOBAL_T 0 HAS_WIN 1 BW_MON_FILE bw.txt NIC_TOTAL_PAUSE_TIME 3 SIMULATOR_STOP_TIME 40000000000000.00 PACKET_PAYLOAD_SIZE 9000 "${TWO[@]}"
check_says "... have one round-trip time whatever they say" 'GLOBAL_T counts as 1, as in SimAI' out
check_says "... unused keys" 'NIC_TOTAL_PAUSE_TIME: not read, without effect there' out
is "... packets above the largest MTU of InfiniBand, and its name" '.settings.mtu == 9104 and (.title | test("of SimAI$"))' case/scenario.json
check "... run" "$H" run case/scenario.json --out simai-results --no-report -q
imported "attributes by their names in ns-3" RATE_AI - RP_TIMER - CLAMP_TARGET_RATE - ns3::RdmaHw::RateAI 7Mb/s ns3::MellanoxDcqcn::RPTimer 33.0 ns3::MellanoxDcqcn::ClampTargetRate true
is "... are the same keys" '.settings.dcqcn.rp | [.rpg_ai_rate, .rpg_time_reset, .clamp_tgt_rate] == [7, 33, true]' case/scenario.json
imported "ConWeave's" SIMULATOR_STOP_TIME - FLOWGEN_STOP_TIME 2.1 LB_MODE 0 ENABLE_IRN 0 ENABLE_PFC 1 CONWEAVE_TX_EXPIRY_TIME 1 RANDOM_SEED 1 LOAD 50 VOQ_MON_FILE x
check_says "... load balancing is not read" 'CONWEAVE_TX_EXPIRY_TIME: not read, of load balancing that is not simulated' out
check_says "... what differs is said" "ConWeave's switches are approximated" out
is "... their thresholds" '.defaults.switch | .xoff_alpha == 0.0625 and .reserve == "2096B"' case/lab.json
imported "Hawkeye's" DIR mix/data AGENT_NODE '1 2' AGENT_THRESHOLD 50
check_says "... agents are not read" 'AGENT_NODE, AGENT_THRESHOLD: not read, of agents' out
imported "Paraleon's" RATE_ON_FIRST_CNP 0.5 PARAMETER_TUNING_START 1 SKETCH_MON_INTERVAL 1
check_says "... the tuner is not read" 'PARAMETER_TUNING_START: not read, of the tuner' out
is "... its packets have a time stamp" '.framing.data == 56 and .framing.ack == 54 and .defaults.switch.xon_offset == "10KiB"' case/lab.json
imported "keys that nobody knows" FOO 'bar CC_MODE' ns3::RealDcqcn::F 1
check_says "... are named, and what is behind them is not read" ': unknown, so without effect: FOO \(line [0-9]+\), ns3::RealDcqcn::F \(line [0-9]+\)$' out
imported "flows after the end" SIMULATOR_STOP_TIME 2.00001
check_says "... are left out" 'flow.txt: 1 flows start after the end, so they are left out' out
imported "a share that has no parameter" EWMA_GAIN 0.005
check_says "... is rounded, which is said" 'EWMA_GAIN 0.005 is 5 of 1024 here' out

# ---- what is refused: the line, the key, the value; and nothing is written
# refuse WHAT PATTERN [KEY VALUE]...
refuse() {
    local what=$1 pattern=$2 code
    shift 2
    config "$@"
    "$H" import hpcc sim/mix/config.txt -o no/where >out 2>err </dev/null
    code=$?
    if [ "$code" != 2 ] || [ -e no ]; then
        nok "$what" "exit code $code: $(cat err)"
    else
        check_says "$what" "$pattern" err
    fi
}
LAST=$(wc -l <base.txt)
refuse "PINT" "config.txt:$LAST: CC_MODE is 10: this congestion control is not simulated: expected 1 .DCQCN.*; 10 is HPCC with PINT" CC_MODE 10
refuse "a congestion control of a fork" "config.txt:$LAST: CC_MODE is 13: this congestion control is not simulated" CC_MODE 13
refuse "a rate for each hop" "config.txt:$LAST: MULTI_RATE is 1: expected 0 with CC_MODE 3, as a sender has one rate for all hops" CC_MODE 3 HAS_WIN 1 MULTI_RATE 1
refuse "... which is what is meant without the key" "config.txt: MULTI_RATE is not there, so it is 1: expected 0 with CC_MODE 3" CC_MODE 3 HAS_WIN 1 MULTI_RATE -
refuse "telemetry of some packets" "SAMPLE_FEEDBACK is 1: expected 0 with CC_MODE 3" CC_MODE 3 HAS_WIN 1 SAMPLE_FEEDBACK 1
refuse "HPCC without a window" "HAS_WIN is 0: expected 1 with CC_MODE 3" CC_MODE 3 HAS_WIN 0
refuse "senders without a rate" "config.txt:$LAST: RATE_BOUND is \"0\": expected 1, as senders keep to their rate" RATE_BOUND 0
refuse "going back to zero" "L2_BACK_TO_ZERO is \"1\": expected 0, as what is lost is sent again from there on" L2_BACK_TO_ZERO 1
refuse "fewer ACKs" "L2_ACK_INTERVAL is \"4000\": expected 1, as each packet has an ACK" L2_ACK_INTERVAL 4000
refuse "load balancing" "LB_MODE is \"9\": expected 0, as a hash selects a flow's path" LB_MODE 9
refuse "IRN" "ENABLE_IRN is \"1\": expected 0, as IRN is not simulated" ENABLE_IRN 1
refuse "a rate that is none" "config.txt:$LAST: RATE_AI is \"fast\": expected a rate, 0b/s to 131071Mb/s" RATE_AI fast
refuse "a rate that a parameter does not have" "config.txt:$LAST: RATE_AI is 1500kb/s: expected whole Mb/s" RATE_AI 1500kb/s
refuse "a fraction of a microsecond" "RP_TIMER is \"0.5\": expected a whole number, 1 to 131071" RP_TIMER 0.5
refuse "a share above 1" "U_TARGET is \"1.5\": expected a number, 0.01 to 1" U_TARGET 1.5
refuse "a switch of three positions" "ENABLE_QCN is \"2\": expected a whole number, 0 to 1" ENABLE_QCN 2
refuse "a map that ends early" "config.txt:$((LAST + 1)): the file ends here: expected KMIN_MAP" KMIN_MAP '2 100000000000 100 25000000000'
refuse "a map that is too long" 'KMIN_MAP is "65": expected a whole number, 0 to 64' KMIN_MAP '65 1 1'
refuse "a map without a link's rate" "KMAX_MAP is 1: there is nothing for 100000000000, that is 100Gb/s, the rate of the link on line 3 of .*topology.txt" KMAX_MAP '1 25000000000 100'
refuse "no map" "config.txt: KMAX_MAP is missing: CC_MODE 1 needs it" KMAX_MAP -
refuse "no rate" "config.txt: RATE_AI is missing: CC_MODE 1 needs it" RATE_AI -
refuse "thresholds in no proportion, at one switch" "KMIN_MAP is 2: the links of switch 5 on lines 5 and 7 have thresholds that are not in proportion" "${TWO[@]}" KMIN_MAP '2 25000000000 50 100000000000 100'
refuse "round-trip times of their own" "GLOBAL_T is 0: the flows from .* have different round-trip times or bandwidths: expected 1" HAS_WIN 1 GLOBAL_T 0 "${TWO[@]}" FLOW_FILE mix/flow.txt
refuse "a link that is not there" "LINK_DOWN is 5: no link is between 0 and 1" LINK_DOWN '5 0 1'
refuse "an end before the first flow" "SIMULATOR_STOP_TIME is 1.5: the first flow starts at 2 s" SIMULATOR_STOP_TIME 1.5
printf '1\n0 1 3 100 1000 12.2\n' >sim/mix/late.txt
refuse "... of ConWeave, 10 s after it makes no more" "FLOWGEN_STOP_TIME is 2.1: the first flow starts at 12.2 s" FLOWGEN_STOP_TIME 2.1 FLOW_FILE mix/late.txt
refuse "times that are none" "SIMULATOR_STOP_TIME is \"soon\": expected seconds" SIMULATOR_STOP_TIME soon
refuse "hosts without control beside HPCC" "NO_CC_NODE is 1: expected CC_MODE 1 or 8" CC_MODE 3 HAS_WIN 1 NO_CC_NODE '1 0'
refuse "no topology" "config.txt: TOPOLOGY_FILE is missing: give the file behind the configuration" TOPOLOGY_FILE -
refuse "a file that is nowhere" "config.txt:$LAST: FLOW_FILE is mix/none.txt: there is no such file in the configuration's folder or above it" FLOW_FILE mix/none.txt
refuse "a path that leads nowhere" "FLOW_FILE is /nowhere/flow.txt: there is no such file: give it" FLOW_FILE /nowhere/flow.txt
mkdir -p sim/mix/mix && cp sim/mix/flow.txt sim/mix/mix/
refuse "two files that may be meant" "FLOW_FILE is mix/flow.txt: .*/sim/mix/mix/flow.txt and .*/sim/mix/flow.txt: which one is meant is not clear" FLOW_FILE mix/flow.txt
rm -r sim/mix/mix
sed 's/1000ns/100us/' sim/mix/topology.txt >sim/mix/far.txt
refuse "a switch that has no room" "nothing is written, as the case cannot be simulated: .* a port needs 3750000 B of headroom" BUFFER_SIZE 1 TOPOLOGY_FILE mix/far.txt
# ---- the document's keys are those of the table, and each is tried above
sed -n '/^## hpcc CONFIG/,/^## hpcc TOPOLOGY/p' "$ROOT/docs/import.md" | grep -oE '`[A-Z][A-Z0-9]*_[A-Z0-9_]+`' | tr -d '`' | sort -u >in_document
sed '/what means nothing here/,$d' "$ROOT/harness/import/hpcc_keys.c" | grep -oE '\{"[A-Z0-9_]+"' | tr -d '{"' | sort -u >in_table
check "docs/import.md has the keys that mean something" diff in_document in_table
check "each is given a value here" eval 'while read -r key; do grep -qE "^[^#].*\b$key [^-]" "$0" || { echo "$key"; false; break; }; done <in_table'

printf 'hello world\n' >words.txt
check_exit 2 "a file that is neither" "$H" import hpcc words.txt -o no
check_says "... is said to be" 'words.txt: no key of a configuration is in it: expected CONFIG \[TOPOLOGY \[FLOW \[TRACE\]\]\] or TOPOLOGY FLOW \[TRACE\]' err
finish
