#!/bin/bash
# `harness search` over the ECN thresholds of a SONiC switch: what it had before is tried too, the best has entries for CONFIG_DB, and
# everything is put back. The switch is a stand-in, as in tests/e2e/switches/settings.sh.
# shellcheck disable=SC2317 # functions are called by name
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/e2e/switches/sonic_stand_in.bash
. "$ROOT/tests/e2e/switches/sonic_stand_in.bash"
dump() { for key in $(db 4 KEYS '*' | sort); do echo "$key $(db 4 HGETALL "$key" | paste - - | sort | paste -sd' ')"; done; db 6 KEYS '*'; }
dump > "$SCRATCH/before"
mkdir "$SCRATCH/moved"
cp "$SCRATCH"/bin/* "$SCRATCH/moved"
stand_in_traffic "$SCRATCH/moved"
jq --arg key "$SCRATCH/key" --arg known "$SCRATCH/known_hosts" --arg socket "$REDIS" --arg at "$SCRATCH/moved" \
    '.links = [{between: ["a", "tor"], ports: {tor: "Ethernet0"}, length: "3m"}, {between: ["b", "tor"], ports: {tor: "Ethernet4"}, length: "3m"}]
    | .hosts[].programs = $at | .switches = {tor: {ssh: "root@192.0.2.13", identity: $key, known_hosts: $known, socket: $socket}} | .roles = {s0: "tor"}' "$LAB" > "$SCRATCH/live.json"
jq 'del(.sweep, .published) | .name = "marks" | .roles += ["s0"] | .settings = {mtu: 1400} | .flows[].memory = "host" | .phases = {warmup: "0s", measure: "500ms", cooldown: "100ms"}
    | .settings_of = {s0: {ecn_threshold: {kmin: "100KB", kmax: "2MiB", pmax: 0.05}}} | .sample = {every: "50ms", groups: ["throughput", "drops", "queue"]} | .expect = []
    | .search = {over: {"settings_of.s0.ecn_threshold.kmin": ["100KB", "200KB", "250KB"]}, objectives: [{name: "dropped", min: "total(a.link_rx_dropped)"}], runs: 12, seeds: 1}' "$ROOT/scenarios/pfc-bidir.json" > "$SCRATCH/marks.json"
FOLDER=$OUT/marks/latest
check_exit 0 "a search over a switch's thresholds" "$H" search "$SCRATCH/marks.json" --lab "$SCRATCH/live.json" --out "$OUT" --no-report
answer() { jq -r "$1" "$FOLDER/search.json"; }
check "tries what the switch had before" [ "$(answer '.known[] | select(.known == "in force on the hosts") | .values | tojson')" = '{"settings_of.s0.ecn_threshold.kmin":"250kB"}' ]
check "the best has entries for CONFIG_DB" [ "$(jq -r '.WRED_PROFILE.AZURE_LOSSLESS.green_min_threshold' "$FOLDER/winner-sonic-s0.json")" = 100000 ]
dump > "$SCRATCH/after"
check "everything is as it was" diff "$SCRATCH/before" "$SCRATCH/after"
close_hosts
finish
