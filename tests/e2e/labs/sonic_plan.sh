#!/bin/bash
# The scenarios of SONiC's RoCEv2 test plan on the simulator: every expectation of every cell is decided and passes; their captures are good;
# with lost frames, with buffers that are too small and without marks they fail, by name.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/../lib.sh"
H=$BUILD/harness
cd "$BUILD" || exit 2

# shellcheck disable=SC2317 # called through check_exit
run() { "$H" run "scenarios/$1.json" --no-report --yes --out "$SCRATCH/results" "${@:2}"; }
cells() { find "$SCRATCH/results/$1/latest/" -name result.json; }

for scenario in sonic-roce-baseline:6 sonic-roce-incast:8; do
    name=${scenario%:*}
    check_exit 0 "$name passes" run "$name"
    mapfile -t results < <(cells "$name")
    check "... all ${scenario#*:} cells" test "${#results[@]}" = "${scenario#*:}"
    check "... no expectation is left undecided but by its condition" test -z "$(jq -r '.expectations[] | select(.verdict == "skipped" and (.reason | startswith("only when") | not)) | .name' "${results[@]}")"
done

# each cell of the incast, captured: the pauses that the hosts received are those of the wire, and no checker finds anything
check_exit 0 "the incast passes while it is captured" run sonic-roce-incast --set 'capture={"limit": "200MB"}'
captures=0
for result in $(cells sonic-roce-incast); do
    folder=$(dirname "$result")
    jq '{schema: 1, settings: (.scenario.settings | .dcqcn.np += {cnp_dscp: 48, cnp_802p_prio: 6})}' "$result" > "$SCRATCH/settings.json"
    "$H" verify "$folder/capture.pcapng" go-back-n cnp pfc icrc --settings "$SCRATCH/settings.json" > "$SCRATCH/verdict" 2>&1 || nok "nothing is found in $folder" "$(cat "$SCRATCH/verdict")"
    captures=$((captures + 1))
done
check "the captures of all cells are judged" test $captures = 8

fails() { # WHAT SCENARIO PATTERN OPTION...
    check_exit 1 "$1" run "$2" "${@:4}"
    check_says "... by name" "failed +$3" "$SCRATCH/out"
}
fails "lost frames" sonic-roce-baseline 'nothing arrives out of sequence' --set 'faults=[{"link": ["h0", "s0"], "kind": "loss", "loss": 0.001}]' --set 'sweep={}'
fails "without PFC" sonic-roce-incast 'the switch drops nothing' --set 'settings.pfc=[]' --set 'sweep={}'
fails "a switch that does not mark" sonic-roce-incast 'DCQCN: the switch marks' --set 'lab.defaults.switch.ecn={"kmin": "14MB", "kmax": "15MB", "pmax": 0.2}' --set 'sweep={"settings.ecn": [[3, 4]]}'
finish
