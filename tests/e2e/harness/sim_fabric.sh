#!/bin/bash
# The scenarios of the fabric, each on its simulated lab: expectations hold, with another seed too; published figures are reproduced;
# time series of queues, rates and pauses are in the result.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/../lib.sh"
H=$BUILD/harness
scenarios=(dcqcn-red-bridge red-bridge-latency incast-pfc incast-dcqcn victim-flow pfc-storm-victim pfc-storm-watchdog dcqcn-fairness
    leaf-spine-permutation headroom-sweep hpcc-incast hpcc-two-to-one hpcc-incast-dcqcn hpcc-leaf-spine web-search ring-all-reduce rails-ring)

one() {
    "$H" run "$2" --seed "$1" --out "$SCRATCH/$1" --quiet --no-report > "$SCRATCH/$1/$2.out" 2>&1
    echo $? > "$SCRATCH/$1/$2.rc"
}

# run SEED: all scenarios, two at a time.
run() {
    mkdir -p "$SCRATCH/$1"
    for name in "${scenarios[@]}"; do
        while [ "$(jobs -r | wc -l)" -ge 2 ]; do wait -n; done
        one "$1" "$name" &
    done
    wait
}

for seed in 1 7; do
    run $seed
    for name in "${scenarios[@]}"; do
        if [ "$(cat "$SCRATCH/$seed/$name.rc")" = 0 ]; then
            ok "$name passes with seed $seed"
        else
            nok "$name passes with seed $seed" "$(grep -h failed "$SCRATCH/$seed/$name.out" || cat "$SCRATCH/$seed/$name.out")"
        fi
    done
done

# The simulator's counters are consistent: none decreases, is missing or reset.
find "$SCRATCH/1" "$SCRATCH/7" -name result.json -exec jq -r '.warnings[] | select(test("^flow incast sent .* MB again|: [a-z0-9]+ (watchdog|buffer)_discards: |DCQCN had not settled|^flows? permutation/.* in the measured phase|^flows? to-storming( and victim)? completed no message for |^flows? (web|permutation|to-broken)( and to-broken)?: the goodput of the messages that completed ") | not) | "\(input_filename): \(.)"' {} + > "$SCRATCH/warnings"
check "no result has a warning, but of what headroom-sweep and storms are to show, of flows as long as the phase, and of victim-flow with DCQCN" test ! -s "$SCRATCH/warnings"

# within LIMIT_PERCENT RESULT: every published figure. shellcheck does not see that check calls it.
# shellcheck disable=SC2317
within() {
    jq -e --argjson limit "$1" '[.published[] | select((.difference_percent // 1e9) | fabs > $limit)] == []' "$2"
}
latest() { echo "$SCRATCH/1/$1/latest/result.json"; }
check "the HPCC simulator's incast: every figure within 1.5 %" within 1.5 "$(latest hpcc-incast)"
for name in hpcc-two-to-one hpcc-incast-dcqcn hpcc-leaf-spine; do
    check "$name: goodput within 2.5 % of the HPCC simulator's" \
        jq -e '.published[] | select(.name == "goodput") | .difference_percent | fabs <= 2.5' "$(latest $name)"
done
check "latencies of the software bridge within 20 %" within 20 "$(latest red-bridge-latency)"

DCQCN=$(latest incast-dcqcn)
check "a switch has queue lengths" jq -e '.hosts.s0.counters.port16_prio3_queue_bytes.max > 0' "$DCQCN"
check "a sender has its flow's rate and alpha" \
    jq -e '.hosts.h0.counters | .["dcqcn_incast-0_rate"].max > 1e9 and .["dcqcn_incast-0_alpha"].max > 0' "$DCQCN"
"$H" run incast-dcqcn --set settings.congestion_control=none --set 'expect=[]' --out "$SCRATCH/none" --quiet --no-report > /dev/null 2>&1
NONE=$SCRATCH/none/incast-dcqcn/latest
check "congestion_control none: CNPs arrive and have no effect, and there is no rate gauge" \
    jq -e '.hosts.h0.counters | .rp_cnp_ignored.total > 0 and .rp_cnp_handled.total == 0 and ([keys[] | select(test("^dcqcn_"))] == [])' "$NONE/result.json"
check "... it is read back" \
    jq -e '.h0.read_back.congestion_control == "none"' "$NONE/settings.json"
check "... and there is no warning" jq -e '.warnings == []' "$NONE/result.json"
"$H" run hpcc-two-to-one --set settings.congestion_control=hpcc --set settings.hpcc.u_target=0.9 --set phases.measure=1ms --set 'published=[]' --set 'expect=[]' \
    --out "$SCRATCH/hpcc" --quiet --no-report > /dev/null 2>&1
HPCC=$SCRATCH/hpcc/hpcc-two-to-one/latest
check "HPCC: the rates add up to less than the link, with no queue to speak of" \
    jq -e '(.hosts.h0.counters["hpcc_pair-0_rate"].mean + .hosts.h1.counters["hpcc_pair-1_rate"].mean | . > 70e9 and . < 100e9) and
        .hosts.s0.counters.port2_prio3_queue_bytes.mean < 10000 and .hosts.h0.counters["hpcc_pair-0_utilization"].max > 0' "$HPCC/result.json"
check "... its parameters are read back" jq -e '.h0.read_back | .congestion_control == "hpcc" and .hpcc == {"u_target": 0.9}' "$HPCC/settings.json"
check "... and there is no warning" jq -e '.warnings == []' "$HPCC/result.json"
"$H" run pfc-bidir --lab "$ROOT/labs/sim-geforce-pair.json" --set 'sweep={}' --set settings.congestion_control=dctcp --set 'settings.ecn=[0]' --set 'flows.*.op=read' --out "$SCRATCH" --quiet --no-report > /dev/null 2> "$SCRATCH/read.error"
check "DCTCP of a read, which has no ACKs, is refused" grep -q "dctcp needs ACKs, and a read's responses have none" "$SCRATCH/read.error"
check "single pauses of switch ports are in the result" \
    grep -q '^\["leaf0:' "$SCRATCH/1/pfc-storm-watchdog/latest/01/pauses.jsonl"
check "flows of a pattern have completion times and slowdowns" \
    jq -e '.flows.web | .completion_ns.p99 > .completion_ns.p50 and .slowdown.min >= 1 and (.by_size | length) == 10' \
    "$(latest web-search)"

# The same seed gives the same bytes.
"$H" run incast-dcqcn --seed 7 --out "$SCRATCH/again" --quiet --no-report > /dev/null 2>&1
check "the same seed gives the same samples" \
    cmp "$SCRATCH/7/incast-dcqcn/latest/samples.jsonl" "$SCRATCH/again/incast-dcqcn/latest/samples.jsonl"
"$H" run incast-dcqcn --seed 7 --threads "$(nproc)" --out "$SCRATCH/threads" --quiet --no-report > /dev/null 2>&1
check "... with every number of threads" \
    cmp "$SCRATCH/7/incast-dcqcn/latest/samples.jsonl" "$SCRATCH/threads/incast-dcqcn/latest/samples.jsonl"
check_exit 2 "more threads than processors" "$H" run incast-dcqcn --threads 4096 --out "$SCRATCH/many"
"$H" run pfc-bidir --lab labs/ssh-pair.example.json --threads 2 -n > /dev/null 2> "$SCRATCH/hosts.err"
check "threads for a lab of hosts are refused" test $? = 2
check_says "... with the reason" 'threads 2: lab .* is not simulated' "$SCRATCH/hosts.err"
"$H" run incast-dcqcn --on slurm --threads 2 -n > /dev/null 2> "$SCRATCH/slurm.err"
check "threads of a run that Slurm makes are refused" test $? = 2
check_says "... with the reason" 'with --on slurm each run has one thread' "$SCRATCH/slurm.err"
finish
