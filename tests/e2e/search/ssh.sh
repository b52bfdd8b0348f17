#!/bin/bash
# `harness search` on two hosts over ssh, network namespaces whose roce-traffic sends nothing: what the hosts had is tried too, and put back.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/e2e/harness/ssh_hosts.bash
. "$ROOT/tests/e2e/harness/ssh_hosts.bash"
STAND_IN=$SCRATCH/stand-in
check_exit 0 "programs are installed on hosts" "$H" install --lab "$LAB"
mkdir "$STAND_IN"
ln "$SCRATCH/bin/nic-sampler" "$SCRATCH/bin/nic-config" "$SCRATCH/bin/host-facts" "$STAND_IN/"
stand_in_traffic "$STAND_IN"
jq 'del(.sweep, .published) | .name = "mtus" | .phases = {warmup: "0s", measure: "500ms", cooldown: "100ms"} | .flows[].memory = "host" | .settings = {mtu: 1400}
    | .sample = {every: "50ms", groups: ["throughput", "drops"]} | .expect = []
    | .search = {over: {"settings.mtu": [1400, 1450, 1500]}, objectives: [{name: "dropped", min: "total(a.link_rx_dropped)"}], runs: 10, seeds: 1}' "$ROOT/scenarios/pfc-bidir.json" > "$SCRATCH/mtus.json"
FOLDER=$OUT/mtus/latest
answer() { jq -r "$1" "$FOLDER/search.json"; }
ip -n a link set data0 mtu 1500
before=$(mtus)

check_exit 0 "the plan of a search on hosts" "$H" search "$SCRATCH/mtus.json" --lab "$SCRATCH/stand-in.json" -n
check_says "has what the hosts will say" 'what is in force on the hosts, read by the first run' "$SCRATCH/out"
check_exit 2 "a budget without that run" "$H" search "$SCRATCH/mtus.json" --lab "$SCRATCH/stand-in.json" --set search.runs=4 -n
check_says "is refused" 'search.runs: 2 known settings' "$SCRATCH/err"
check_exit 0 "a search on hosts" "$H" search "$SCRATCH/mtus.json" --lab "$SCRATCH/stand-in.json" --out "$OUT"
check "tries what they had before" [ "$(answer '[.known[] | [.known, .values["settings.mtu"]]] | tojson')" = '[["as written",null],["in force on the hosts",1500]]' ]
check "puts everything back" [ "$(mtus)" = "$before" ]
check "files for nic-config name the hosts' interface" [ "$(answer '[.use.files[] | select(.is == "nic-config") | [.file, .roles]] | tojson')" = '[["winner-nic-config.json",["a","b"]]]' ]
check "... and are what it takes" ip netns exec a "$BUILD/nic-config" plan "$FOLDER/winner-nic-config.json"
check_exit 0 "the scenario is good for these hosts" "$H" check "$FOLDER/winner.json" --lab "$SCRATCH/stand-in.json"
ip -n b link set data0 mtu 1480
before=$(mtus)
check_exit 0 "hosts that differ" "$H" search "$SCRATCH/mtus.json" --lab "$SCRATCH/stand-in.json" --out "$OUT"
check_says "have nothing in common to try" 'in force on the hosts cannot be tried: ' "$SCRATCH/out"
check "each has its own again" [ "$(mtus)" = "$before" ]

# ---- what concerns others
jq '.name = "guarded" | .expect = [{name: "others lose nothing", check: "total(a.link_rx_dropped) > 5"}, {name: "b answers", check: "total(b.link_rx_dropped) >= 0"}]
    | .search += {guard: ["others *"], constraints: ["b answers"], seeds: 2, runs: 20}' "$SCRATCH/mtus.json" > "$SCRATCH/guarded.json"
FOLDER=$OUT/guarded/latest
check_exit 1 "a run that breaks what concerns others" "$H" search "$SCRATCH/guarded.json" --lab "$SCRATCH/stand-in.json" --out "$OUT"
check_says "ends the search" 'search: ended, as a run concerns others: "others lose nothing": .*; as written; settings are put back' "$SCRATCH/err"
check "after that run" [ "$(ls -d "$FOLDER"/*/2*/result.json | wc -l)" = 1 ]
check "with what is known so far" [ "$(answer '[.complete, .runs, .known[0].feasible] | tojson')" = '[false,1,false]' ]
check "each has its own again, too" [ "$(mtus)" = "$before" ]
check_exit 2 "a guard that there is not" "$H" search "$SCRATCH/guarded.json" --lab "$SCRATCH/stand-in.json" --set 'search.guard=["nosuch"]' -n
check_says "is refused" 'guard.0.: there is no expectation "nosuch"' "$SCRATCH/err"
close_hosts
finish
