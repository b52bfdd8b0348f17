#!/usr/bin/env bash
# `harness burn-in` judges what incasts show: who answers marks, who obeys CNPs and pauses, and what was not seen to work.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/../lib.sh"
cd "$SCRATCH" || exit 2
PATH=$BUILD:$PATH
jq -n '{schema: 1, name: "lab", driver: "sim", topology: {kind: "leaf_spine", hosts: 4, leaves: 2, spines: 2},
    defaults: {host: {nic: {ack_every: 16}}, switch: {buffer: "16MiB", reserve: "4KiB", xoff_alpha: 0.125, xon_offset: "3KiB", ecn: {kmin: "100KB", kmax: "400KB", pmax: 0.2}},
        link: {rate: "100Gb/s", delay: "1us"}}}' >lab.json
# incasts LAB ARG...: the exit status, findings, and how much is not known
incasts() {
    local file=$1 status
    shift
    harness burn-in "$file" --no-report --quiet --stages lossless "$@" >out 2>err
    status=$?
    jq -r --arg status $status '"\($status) " + ([.findings[] | "\(.kind) \(.culprit) \(.sure)"] | join(", ")) + " / \(.unknown | length)"' "results/burn-in-$(jq -r .name "$file")/latest/burn-in.json"
}
unknown() { jq -r '.unknown | join("; ")' results/burn-in-lab/latest/burn-in.json; }

check "where nothing is wrong nobody is accused" [ "$(incasts lab.json)" = "0  / 0" ]

# ---- who obeys CNPs
check "reaction points that are off at most hosts are named" [ "$(incasts lab.json --set 'settings_of={"h[0-4]": {"ecn_rp": []}}')" = "1 dcqcn-off h0 true, dcqcn-off h1 true, dcqcn-off h2 true, dcqcn-off h3 true, dcqcn-off h4 true / 0" ]
check "and at all" [ "$(incasts lab.json --set 'settings.ecn_rp=[]' | grep -o 'dcqcn-off h[0-7] true' | wc -l)" = 8 ]
check "a host whose CNPs are lost is named" [ "$(incasts lab.json --set 'inject=[{"link": ["h5", "leaf1"], "packet": "cnp", "do": "drop", "probability": 1}]')" = "1 dcqcn-off h5 false / 0" ]
all_cnps() { jq -c '[.links[] | select(.between[0] | startswith("h")) | {link: .between, packet: "cnp", do: "drop", probability: 1}]' <(harness lab show lab.json); }
check "where no CNP arrives DCQCN is not known to work" [ "$(incasts lab.json --set "inject=$(all_cnps)")" = "4  / 2" ]
check_says "of any host" 'DCQCN was not seen to slow 8 NICs, which obeyed no CNP in incasts: h0, h1, h2, h3, ...; DCQCN was not seen to work for 8 NICs: no CNP arrived' <(unknown)

# ---- a notification point that answers seldom, before anything is measured
check "who answers as it was set is not accused" [ "$(incasts lab.json --set settings.dcqcn.np.min_time_between_cnps=100000)" = "0  / 0" ]

# ---- who obeys pauses, and who is paused
check "a switch that does not stop is named, and not those that overflow for it" [ "$(incasts lab.json --set 'settings_of.spine0={"pfc": []}')" = "1 switch-pfc spine0 true / 0" ]
check "hosts are, if none of them stops" [ "$(incasts lab.json --set 'settings_of={"h[0-7]": {"pfc": []}}' | grep -o 'pfc-off h[0-7] true' | wc -l)" = 8 ]
harness lab show lab.json | jq '(.links[] | select(.between == ["leaf0", "spine1"])).lossy_at = "spine1"' >port.json
check "a port between switches that pauses nobody is named" [ "$(incasts port.json)" = "1 switch-pfc leaf0 - spine1 true / 0" ]
check "switches without headroom are named, whose pauses are obeyed" [ "$(incasts lab.json --set lab.defaults.switch.headroom=2KB)" = "1 loss leaf0 true, loss leaf1 true, loss spine0 true, loss spine1 true / 0" ]
harness lab show lab.json | jq '(.links[] | select(.between[0] == "h2")).lossy_at = "leaf0" | .switches.leaf0.buffer = "64MiB"' >ample.json
check "a NIC that was not paused, and lost nothing, is not known to be stopped" [ "$(incasts ample.json)" = "4  / 1" ]
check_says "which is said" '^PFC was not seen to stop 1 NIC, which no pause held in incasts: h2$' <(unknown)

# ---- switches where nothing waits
jq '.name = "rails" | .topology = {kind: "rail_leaf_spine", groups: 1, hosts: 4, rails: 2, spines: 1}' lab.json >rails.json
check "a spine that no incast crosses decides nothing" [ "$(incasts rails.json)" = "0  / 0" ]
check_says "it was not seen to pause" '^note: 1 switch paused nobody in incasts, as little waited there, so that whether it does was not looked at: spine0$' <(jq -r '"note: " + .notes[]' results/burn-in-rails/latest/burn-in.json)
check_says "nor to mark" '^note: 1 switch marked nothing in incasts, .*: spine0$' <(jq -r '"note: " + .notes[]' results/burn-in-rails/latest/burn-in.json)

# ---- a flow that DCQCN holds for longer than the phase
jq '.name = "tree" | .topology = {kind: "fat_tree", k: 4}' lab.json >tree.json
check "is no fault" [ "$(incasts tree.json)" = "0  / 0" ]
finish
