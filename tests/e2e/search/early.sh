#!/bin/bash
# `harness search` with stop_early on two hosts over ssh, network namespaces whose roce-traffic sends nothing: a run that concerns others ends before its end.
# shellcheck disable=SC2016 # what is quoted is for jq and eval
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/e2e/harness/ssh_hosts.bash
. "$ROOT/tests/e2e/harness/ssh_hosts.bash"
STAND_IN=$SCRATCH/stand-in
check_exit 0 "programs are installed on hosts" "$H" install --lab "$LAB"
mkdir "$STAND_IN"
ln "$SCRATCH/bin/nic-sampler" "$SCRATCH/bin/nic-config" "$SCRATCH/bin/host-facts" "$STAND_IN/"
stand_in_traffic "$STAND_IN"
jq 'del(.sweep, .published) | .name = "mtus" | .phases = {warmup: "0s", measure: "3s", cooldown: "100ms"} | .flows[].memory = "host" | .settings = {mtu: 1400}
    | .sample = {every: "50ms", groups: ["throughput", "drops", "link"]} | .expect = [{name: "no storm", check: "delta(a.link_rx_packets) < 200"}]
    | .search = {over: {"settings.mtu": [1400, 1450, 1500]}, objectives: [{name: "dropped", min: "total(a.link_rx_dropped)"}], runs: 10, seeds: 1, stop_early: true,
                 guard: ["no storm"]}' "$ROOT/scenarios/pfc-bidir.json" > "$SCRATCH/mtus.json"
ip -n a link set data0 mtu 1500
before=$(mtus)

# packets of somebody else's come once a candidate runs
to=$(ip -n a -br -4 addr show data0 | awk '{ sub("/.*", "", $3); print $3 }')
(
    until [ "$(ls -d "$OUT"/mtus/2*/round-1 2> /dev/null)" ]; do sleep 0.1; done
    exec ip netns exec b bash -c "while :; do echo x > /dev/udp/$to/9; done"
) 2> /dev/null &
storm=$!
at_exit eval "kill $storm 2> /dev/null"
check_exit 1 "a run that concerns others" "$H" search "$SCRATCH/mtus.json" --lab "$SCRATCH/stand-in.json" --out "$OUT" --no-report
check_says "ends the search" 'ended, as a run concerns others: "no storm": [0-9]+, expected < 200; with .*; settings are put back' "$SCRATCH/err"
check "and is not said to be broken" eval '! grep -q "not complete" "$SCRATCH/err"'
kill $storm && wait $storm 2> /dev/null
result=$(ls "$OUT"/mtus/2*/round-1/2*/01/result.json)
check "it ended before its time" [ "$(jq -c '[.complete, .stopped_early, .verdict, (.phases[-1] | .name, .end_ns - .start_ns < 3e9)]' "$result")" = '[false,true,"failed","measure",true]' ]
check "and says why" [ "$(jq '.reason | test("^stopped early: \"no storm\" was broken in the first [0-9.]+m?s of the measure phase: [0-9]+, expected < 200$")' "$result")" = true ]
check "it has no figures in the answer" [ "$(jq -c '.stopped_early, [.tried[].objectives]' "$OUT"/mtus/2*/search.json | tr '\n' ' ')" = '1 [{}] ' ]
check "settings are put back" [ "$(mtus)" = "$before" ]
finish
