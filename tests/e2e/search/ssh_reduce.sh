#!/bin/bash
# `harness reduce` of a run on hosts over ssh, network namespaces whose roce-traffic says how many bytes it sent by the interface's MTU: what is
# left, also after Ctrl-C and a kill; settings of hosts are put back.
# shellcheck disable=SC2016,SC2034 # what is quoted is for jq and eval
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/e2e/harness/ssh_hosts.bash
. "$ROOT/tests/e2e/harness/ssh_hosts.bash"
STAND_IN=$SCRATCH/stand-in
check_exit 0 "programs are installed on hosts" "$H" install --lab "$LAB"
mkdir "$STAND_IN"
ln "$SCRATCH/bin/nic-sampler" "$SCRATCH/bin/nic-config" "$SCRATCH/bin/host-facts" "$STAND_IN/"
stand_in_traffic "$STAND_IN"
# shellcheck disable=SC2016 # the stand-in expands it
sed -i 's|\\"bytes\\":1,|\\"bytes\\":$(($(cat /sys/class/net/data0/mtu) > 1450 ? 1000 : 10)),|' "$STAND_IN/roce-traffic"
cd "$SCRATCH" || exit 2
jq 'del(.sweep, .published) | .name = "slow" | .phases = {warmup: "0s", measure: "500ms", cooldown: "0s"} | .flows |= [.[0]] | .flows[].memory = "host" | .settings = {mtu: 1400}
    | .sample = {every: "50ms", groups: ["throughput"]} | .expect = [{name: "enough", check: "sum(flows.*.bytes) > 500B"}, {name: "it sends", check: "sum(flows.*.bytes) > 0B"}]' \
    "$ROOT/scenarios/pfc-bidir.json" > slow.json
before=$(mtus)
jq '.hosts[] |= (.identity = "key" | .known_hosts = "known_hosts")' stand-in.json > near.json
check_exit 1 "a run of which an expectation fails" "$H" run slow.json --lab near.json --out results --no-report
check_exit 0 "is reduced, from another folder" env -C / "$H" reduce "$SCRATCH/results/slow/latest" --seeds 2 --out "$SCRATCH/results"
found=$(readlink -f results/slow-reduced/latest)
check_says "to the setting that it takes" '^"enough" fails: 10 bytes, .* with settings.mtu = 1400. It passes with ' out
check "its phases stay as long as they are: to halve them would save nothing" [ "$(jq -r .phases.measure "$found/scenario.json")" = 500ms ]
check "each has its own again" [ "$(mtus)" = "$before" ]
check_exit 1 "what is left fails there" env -C "$found" "$H" run scenario.json --lab lab.json --no-report --quiet --out "$SCRATCH/again"
check_says "it says that hosts were measured" '^Measured on the hosts of lab.json' "$found/README.md"

# ---- Ctrl-C, a kill
same() { jq -S 'del(.from, .expectation.reason)' "$1/finding.json" && cat "$1/scenario.json"; }
# shellcheck disable=SC2012 # names of ours
tries() { ls -d "$SCRATCH"/cut/slow-reduced/2*/tries/*/2*/run.log 2> /dev/null | wc -l; }
set -m # in a group of its own, as a shell starts it
"$H" reduce results/slow/latest --seeds 2 --out cut > cut.log 2>&1 &
set +m
run=$!
until_true 120 eval '[ "$(tries)" -ge 1 ] || ! kill -0 $run'
kill -INT -- -$run
wait $run
check "Ctrl-C ends it with 130" test $? = 130
check "each has its own again, when it ended" [ "$(mtus)" = "$before" ]
had=$(tries)
cd / || exit 2 # the lab's paths begin elsewhere
"$H" reduce --resume "$SCRATCH"/cut/slow-reduced/2* > "$SCRATCH/cut.log" 2>&1 &
run=$!
until_true 120 eval '[ "$(tries)" -gt "$had" ] || ! kill -0 $run'
kill -KILL $run
wait $run 2> /dev/null
check_exit 0 "it goes on after a kill" "$H" reduce --resume "$SCRATCH"/cut/slow-reduced/2*
check "... to the same" diff <(same "$found") <(same "$SCRATCH"/cut/slow-reduced/2*)
check "each has its own again, in the end" [ "$(mtus)" = "$before" ]
close_hosts
finish
