#!/bin/bash
# `harness search` on two hosts over ssh, network namespaces whose roce-traffic sends nothing: what the hosts had is tried too, and put back.
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

# ---- a run that fails on its hosts is made once more, is then not known of its candidate, and settings stay between runs that want the same
cp "$STAND_IN/roce-traffic" "$SCRATCH/whole"
fails_if() { sed "s|^read -r _ # the start|&\nif $1; then echo 'roce-traffic: error: the NIC gave up' >\&2; exit 3; fi|" "$SCRATCH/whole" > "$STAND_IN/roce-traffic"; }
fails_if "[ \"\$(cat /sys/class/net/data0/mtu)\" = 1450 ] \|\| rm $SCRATCH/once 2> /dev/null"
touch "$SCRATCH/once"
ip -n b link set data0 mtu 1500
before=$(mtus)
check_exit 0 "a search in which one value makes traffic fail" "$H" search "$SCRATCH/mtus.json" --lab "$SCRATCH/stand-in.json" --out "$OUT" --set 'search.baselines={"again": {"settings.mtu": 1400}}' \
    --set search.runs=12
check_says "makes it once more" 'warning: .*/round-1/.*: the run is not complete, and is made once more: .*roce-traffic' "$SCRATCH/err"
check_says "says that it failed again" 'warning: .*/round-1/.*: the run is not complete, and what it would show stays unknown: .*roce-traffic' "$SCRATCH/err"
check "goes on to its end" [ "$(answer '[.complete, [.tried[] | [.values["settings.mtu"], .feasible, .runs, .not_run]], .candidates, .feasible, .not_run] | tojson')" = '[true,[[1450,null,0,1]],1,0,1]' ]
check "says why that is not known" [ "$(answer '.tried[0].why | test("a run is not complete, nor was it when made once more: .*the NIC gave up")')" = true ]
check_says "counts it" '^1 of the runs did not run, nor when they were made once more' "$SCRATCH/out"
check_says "names it" '^  1 of 1 candidates, of which it is not known whether they meet the constraints, as .*the NIC gave up' "$SCRATCH/out"
check_says "so does the page" '1 of the runs did not run, nor when' "$FOLDER/index.html"
check_says "with its candidate" 'not known: a run is not complete.*the NIC gave up' "$FOLDER/index.html"
check_says "a run that failed once was made once more, too" 'warning: .*/known-1/.*: the run is not complete, and is made once more' "$SCRATCH/err"
check "and counts" [ "$(answer '.known[0] | [.feasible, .runs, .not_run] | tojson')" = '[true,1,null]' ]
check "the same settings were not set twice in a row" jq -e '.a.kept' "$FOLDER"/known-1/2*/settings.json
check "... nor is that told" [ "$(answer '[.known[].warnings[]? | select(test("restored"))] | length')" = 0 ]
check "each has its own again, after that" [ "$(mtus)" = "$before" ]
fails_if true
check_exit 3 "a search in which nothing runs" "$H" search "$SCRATCH/mtus.json" --lab "$SCRATCH/stand-in.json" --out "$OUT" --no-report
check_says "does not say that constraints are not met" 'search: it is not known whether a known setting meets the constraints: "as written": a run is not complete' "$SCRATCH/err"
jq '.name = "deep" | .flows[].depth = 4 | .search = {over: {"settings.mtu": [1400, 1500], "flows.*.depth": [4, 8]}, find: "max(flows.*.bytes) > 1450B", findings: 1, reduce: false, runs: 8, seeds: 1}' \
    "$SCRATCH/mtus.json" > "$SCRATCH/deep.json"
fails_if 'mtu=\$(cat /sys/class/net/data0/mtu); [ \"\$mtu\" = 1500 ] \&\& [ \"\$(jq ".flows[0].depth" <<< \"\$job\")\" = 4 ]'
sed -i 's/\\"bytes\\":1/\\"bytes\\":$mtu/' "$STAND_IN/roce-traffic"
check_exit 0 "a finding of which a part does not run" "$H" search "$SCRATCH/deep.json" --lab "$SCRATCH/stand-in.json" --out "$OUT" --no-report
check_says "says that it is not known whether less does it" '^found after .* \(not known: whether fewer values do, as 1 part of them did not run\)' "$SCRATCH/out"
check "so does its document" [ "$(jq -c '[.findings[] | [.not_run, (.features | keys)]]' "$OUT/deep/latest/search.json")" = '[[1,["flows.*.depth","settings.mtu"]]]' ]
mv "$SCRATCH/whole" "$STAND_IN/roce-traffic"

# ---- Ctrl-C, a kill, and going on, from other folders than the one that the lab's paths begin at
# shellcheck disable=SC2016 # eval expands it
jq '.hosts[] |= (.identity = "key" | .known_hosts = "known_hosts")' "$SCRATCH/stand-in.json" > "$SCRATCH/near.json"
cd "$SCRATCH" || exit 2
set -m # in a group of its own, as a shell starts it
"$H" search mtus.json --lab near.json --out cut --no-report > "$SCRATCH/log" 2>&1 &
set +m
search=$!
until_true 120 eval '[ "$(ls -d "$SCRATCH"/cut/mtus/2*/round-1/2*/01/samples.jsonl 2> /dev/null)" ] || ! kill -0 $search'
kill -INT -- -$search
wait $search
check "Ctrl-C ends it with 130" test $? = 130
check "each has its own again, when it ended" [ "$(mtus)" = "$before" ]
cd / || exit 2
FOLDER=$(echo "$SCRATCH"/cut/mtus/2*)
check_exit 1 "its status" "$H" status "$FOLDER"
"$H" search --resume "$FOLDER" --no-report > "$SCRATCH/log" 2>&1 &
search=$!
until_true 120 eval '[ "$(ls -d "$FOLDER"/round-1/2*/02/samples.jsonl 2> /dev/null)" ] || ! kill -0 $search'
kill -KILL $search
wait $search 2> /dev/null
check_exit 0 "it goes on after a kill" "$H" search --resume "$FOLDER" --no-report
check "with what was known" [ "$(answer '[.complete, (.known | length), (.tried | length)] | tojson')" = '[true,2,2]' ]
check "each has its own again, in the end" [ "$(mtus)" = "$before" ]
ip -n b link set data0 mtu 1480
before=$(mtus)
FOLDER=$OUT/mtus/latest

# ---- what concerns others
jq '.name = "guarded" | .expect = [{name: "others lose nothing", check: "total(a.link_rx_dropped) > 5"}, {name: "b answers", check: "total(b.link_rx_dropped) >= 0"}]
    | .search += {guard: ["others *"], constraints: ["b answers"], seeds: 2, runs: 20}' "$SCRATCH/mtus.json" > "$SCRATCH/guarded.json"
FOLDER=$OUT/guarded/latest
check_exit 1 "a run that breaks what concerns others" "$H" search "$SCRATCH/guarded.json" --lab "$SCRATCH/stand-in.json" --out "$OUT"
check_says "ends the search" 'search: ended, as a run concerns others: "others lose nothing": .*; as written; settings are put back' "$SCRATCH/err"
check "after that run" [ "$(compgen -G "$FOLDER/*/2*/result.json" | wc -l)" = 1 ]
check "with what is known so far" [ "$(answer '[.complete, .runs, .known[0].feasible] | tojson')" = '[false,1,false]' ]
check "each has its own again, too" [ "$(mtus)" = "$before" ]
check_exit 2 "a guard that there is not" "$H" search "$SCRATCH/guarded.json" --lab "$SCRATCH/stand-in.json" --set 'search.guard=["nosuch"]' -n
check_says "is refused" 'guard.0.: there is no expectation "nosuch"' "$SCRATCH/err"
close_hosts
finish
