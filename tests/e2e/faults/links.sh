#!/bin/bash
# Faults of links in the simulated lab: the scenarios' expectations hold, with every number of threads; what failed is said by name; bad
# faults are refused with their place and value.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/../lib.sh"
H=$BUILD/harness
scenarios=(link-flap lossy-link ecmp-failover adaptive-routing pfc-deadlock pfc-deadlock-failover silicon-timeout)

for name in "${scenarios[@]}"; do
    check_exit 0 "$name passes" "$H" run "$name" --out "$SCRATCH/1" --no-report
    cp "$SCRATCH/out" "$SCRATCH/$name.said"
done

results() { # scenario, folder: of all its cells
    find "$SCRATCH/$2/$1/latest/" -name result.json | sort
}

# The same, bit by bit, on as many threads as there are processors; tests/unit/sim/test_sim_threads.c has 2, 3 and 7.
plain() { jq -S '.flows, .hosts, .deadlocks' "$@"; }
for name in link-flap ecmp-failover pfc-deadlock-failover; do
    "$H" run "$name" --out "$SCRATCH/threads" --threads "$(nproc)" --quiet --no-report >/dev/null 2>&1
    mapfile -t one < <(results "$name" 1)
    mapfile -t other < <(results "$name" threads)
    plain "${one[@]}" >"$SCRATCH/one"
    plain "${other[@]}" >"$SCRATCH/other"
    check "$name is the same on all processors" cmp "$SCRATCH/one" "$SCRATCH/other"
done

mapfile -t flap < <(results link-flap 1)
check "a flow that gave up says when" \
    jq -e '.flows.flapping.error | test("^transport retry counter exceeded at [0-9.]+ ms of the run")' "${flap[1]}"
check "and there is a warning with the verbs name" jq -e '.warnings[] | select(test("flapping: IBV_WC_RETRY_EXC_ERR"))' "${flap[1]}"
check "one that survived has no error" jq -e '.flows.flapping | has("error") | not' "${flap[0]}"
check "the run says it" grep -q 'warning: flow flapping: IBV_WC_RETRY_EXC_ERR: transport retry counter exceeded' "$SCRATCH/link-flap.said"

check_exit 0 "a flow with an end that gives up" "$H" run link-flap --set sweep=null --set faults.0.duty=0.8 --set flows.flapping.size=1GB --set expect=null --set 'verify=["go-back-n"]' \
    --set 'capture={"limit": "1MB"}' --out "$SCRATCH/ends" --no-report
check_says "... has not just not ended" '^  flapping .*   gave up(; in the measure phase .*)?$' "$SCRATCH/out"

# A NIC with measured time-outs says its error as mlx5 has it, for how long nothing came, and what counted.
mapfile -t silent < <(results silicon-timeout 1)
check "a silent peer: status, vendor error, time and time-outs" jq -e '.flows.request | .errors == 1 and .completion.silent_ns > 3660e6 and .completion.silent_ns < 3663.2e6 and
    .completion.vendor_error == 129 and .completion.counters.a.local_ack_timeout_err == 6 and
    (.error | test("completion error 12 \\(IBV_WC_RETRY_EXC_ERR\\), vendor error 0x81: .*; given up at 366[0-9.]+ ms of the run, after 366[0-9.]+ ms without an answer \\([4-7] adaptive retransmissions, then 6 time-outs\\)"))' "${silent[0]}"
check "CNPs that slow restart made are named, by their counter" jq -e '.warnings[] | select(test("^[1-9][0-9]* CNPs were handled in the run .rp_cnp_handled., 0 sent .np_cnp_sent.: the others are those of slow restart, .*; a roce_slow_restart_cnps [1-9]"))' "${silent[0]}"
"$H" export "${silent[0]%/*}" --out "$SCRATCH/silent" --format csv --tables flows >/dev/null 2>&1
check "an export has it by number" grep -qE ',IBV_WC_RETRY_EXC_ERR,129,366[0-9]{7},' "$SCRATCH/silent/flows.csv"

mapfile -t ring < <(results pfc-deadlock 1)
check "a deadlock is named by its ports" jq -e '.deadlocks[0] | .ports | length == 5' "${ring[0]}"
check "two priorities have none" jq -e 'has("deadlocks") | not' "${ring[1]}"
"$H" report "$SCRATCH/1/pfc-deadlock/latest" >/dev/null 2>&1
check "the page says it" grep -qE 'deadlock on priority 3 since [0-9.]+ ms of the run: s[0-4]:[0-9] waits for s' "$SCRATCH/1/pfc-deadlock/latest/report/index.html"
check "the run says it in a sentence" grep -qE 'deadlock on priority 3 since [0-9.]+ ms of the run: s[0-4]:[0-9] waits for s' "$SCRATCH/pfc-deadlock.said"
above=$(jq -r '.flows["ring-0"] | .goodput_bps / .delivered_bps * 100 | floor' "${ring[0]}")
check "messages that complete for $above % of what was delivered are warned of" grep -qE 'warning: flows? ring-0.* differs from what was delivered in it' "$SCRATCH/pfc-deadlock.said"
P=$SCRATCH/1/pfc-deadlock/latest
check "the pauses of a deadlock last when the run ends" jq -se 'map(select(.[4] == true)) | length == 10 and all(.[]; .[2] < 140000 and .[2] + .[3] >= 3199999)' "$P/01/pauses.jsonl"
# shellcheck disable=SC2016 # awk's
check "... are drawn to the end" awk '!/^#/ && $1 + $3 > 2.99999 { n++ } END { exit n != 10 }' "$P/report/01-spread.tsv"
check "... and have no length" test "$(jq '[.hosts[].pauses["3"].max // 0] | max < 100000' "$P/01/result.json")" = true

# A host whose only link is down: no path.
"$H" run link-flap --set 'faults=[{"link":["h4","leaf1"],"kind":"down","start":"2ms"}]' --set sweep={} --set 'expect=[]' \
    --out "$SCRATCH/cut" --quiet --no-report >/dev/null 2>&1
check "without any path the error says so" \
    jq -e '.flows.flapping.error | test("no path led to the other end")' "$SCRATCH/cut/link-flap/latest/result.json"
check "and the switches count packets without a path" \
    jq -e '.hosts.leaf1.counters.route_discards.total > 0' "$SCRATCH/cut/link-flap/latest/result.json"

# A fault that only changed ways met the flow that it led round; one of a way that the flow never had did not.
round() { # LINK
    "$H" run ecmp-failover --set sweep={} --set 'expect=[]' --set 'flows=[{"name":"f","from":"h0","to":"h4","priority":3,"rate":"1Gb/s","message":"1KiB","depth":1}]' --duration 1ms \
        --set "faults=[{\"link\":$1,\"kind\":\"down\",\"start\":\"100us\"}]" --set lab.defaults.switch.convergence=1us --out "$SCRATCH/round" --quiet --no-report >/dev/null 2>&1
    jq -r '.warnings[] | select(test("met nothing"))' "$SCRATCH/round/ecmp-failover/latest/result.json"
}
check "of two equal ways one is the flow's: only a fault of the other met nothing" \
    test "$(for spine in spine0 spine1; do round "[\"leaf1\",\"$spine\"]"; done | sed 's/ met.*between / /; s/ was .*//')" = "faults[0] leaf1 and spine0"

# A watchdog dissolves the ring before it is a deadlock.
"$H" run pfc-deadlock --set sweep={} --set 'expect=[]' --set 'lab.defaults.switch.watchdog={"detect":"50us","restore":"50us"}' \
    --out "$SCRATCH/watchdog" --quiet --no-report >/dev/null 2>&1
check "with a PFC watchdog there is no deadlock" \
    jq -e '(has("deadlocks") | not) and .hosts.s0.counters.watchdog_storms.total > 0' "$SCRATCH/watchdog/pfc-deadlock/latest/result.json"

# A lower rate, in both directions.
"$H" run link-flap --set 'faults=[{"link":["h4","leaf1"],"kind":"rate","rate":"10Gb/s","phase":"measure","start":"0s"}]' --set sweep={} \
    --set 'expect=[]' --set 'lab.defaults.switch.xoff=100KB' --out "$SCRATCH/rate" --quiet --no-report >/dev/null 2>&1
check "a slower link bounds its flow" \
    jq -e '.flows.flapping.goodput_bps | . > 7e9 and . < 10e9' "$SCRATCH/rate/link-flap/latest/result.json"

# ---- bad input
refused() { # pattern, what, faults
    jq --argjson f "$3" '.faults = $f | .sweep = {} | .expect = []' "$ROOT/scenarios/link-flap.json" >"$SCRATCH/case.json"
    "$H" check "$SCRATCH/case.json" --lab sim-failures >"$SCRATCH/said" 2>&1
    local code=$?
    if [ $code = 2 ] && grep -qE -- "$1" "$SCRATCH/said"; then
        ok "$2"
    else
        nok "$2" "exit code $code: $(cat "$SCRATCH/said")"
    fi
}
L='"link":["h4","leaf1"]'
refused 'faults\[0\].link: .* no node "leaf9"; did you mean' "a node that is not there" '[{"link":["h4","leaf9"],"kind":"down"}]'
refused 'no link between "h4" and "leaf0": h4 has links to leaf1' "a link that is not there" '[{"link":["h4","leaf0"],"kind":"down"}]'
refused 'no link between "h4" and "leaf1:2"' "a port that has another link" '[{"link":["h4","leaf1:2"],"kind":"down"}]'
refused 'faults\[0\].link: 1 items: expected 2' "one end" '[{"link":["h4"],"kind":"down"}]'
refused 'faults\[0\].start: 40ms of the run is not before the end of the run, at 32ms' "a start after the end" "[{$L,\"kind\":\"down\",\"start\":\"40ms\"}]"
refused 'faults\[0\].stop: the fault lasts until 33ms, the run ends at 32ms' "a stop after the end" "[{$L,\"kind\":\"down\",\"stop\":\"33ms\"}]"
refused 'faults\[0\].count: the fault lasts until 90ms' "flaps after the end" "[{$L,\"kind\":\"flap\",\"period\":\"10ms\",\"count\":9}]"
refused 'faults\[0\].stop: the fault would end before it starts, at 10ms' "a stop before the start" "[{$L,\"kind\":\"down\",\"start\":\"10ms\",\"stop\":\"9ms\"}]"
refused 'faults\[0\].rate: "0" is out of range' "no rate" "[{$L,\"kind\":\"rate\",\"rate\":\"0\"}]"
refused 'faults\[0\].rate: expected less than the link.s 100Gb/s' "a rate that is not lower" "[{$L,\"kind\":\"rate\",\"rate\":\"100Gb/s\"}]"
refused 'faults\[0\].rate is missing' "rate without a rate" "[{$L,\"kind\":\"rate\"}]"
refused 'faults\[0\].period is missing' "flaps without a period" "[{$L,\"kind\":\"flap\"}]"
refused 'faults\[0\].loss is missing' "loss without a loss" "[{$L,\"kind\":\"loss\"}]"
refused 'faults\[0\].rate belongs to a fault of kind "rate": found the kind "loss"' "a key of another kind" "[{$L,\"kind\":\"loss\",\"loss\":0.1,\"rate\":\"10Gb/s\"}]"
refused 'faults\[0\].loss: 2 is out of range' "a probability above 1" "[{$L,\"kind\":\"loss\",\"loss\":2}]"
refused 'faults\[1\]: it begins at 5ms, and faults\[0\] of the same link lasts until 32ms' "two faults at a time" \
    "[{$L,\"kind\":\"down\"},{\"link\":[\"leaf1:0\",\"h4\"],\"kind\":\"loss\",\"loss\":0.1,\"start\":\"5ms\"}]"
refused 'faults\[0\].duty: the link would change again after 10ns: expected at least 746ns' "flaps too short" "[{$L,\"kind\":\"flap\",\"period\":\"1us\",\"duty\":0.01}]"
refused 'faults\[0\].retrain: the fault is over before' "no time for the rate" "[{$L,\"kind\":\"rate\",\"rate\":\"10Gb/s\",\"stop\":\"50us\"}]"
refused 'faults\[0\].kind' "an unknown kind" "[{$L,\"kind\":\"sideways\"}]"

jq '.faults = [{"link":["a","b"],"kind":"down"}] | .expect = []' "$ROOT/scenarios/pfc-bidir.json" >"$SCRATCH/case.json"
"$H" check "$SCRATCH/case.json" --lab "$ROOT/labs/soft-pair.json" >"$SCRATCH/said" 2>&1
check "real labs refuse faults" grep -q 'faults: the link between "a" and "b" would fail at a given time, which only simulated links do: lab soft-pair has real hosts' "$SCRATCH/said"
finish
