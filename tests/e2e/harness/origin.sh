#!/bin/bash
# Where figures come from, on an ssh lab without guests: stand-ins for host-facts show the virtual ConnectX of tests/data/hosts on one host or
# on both. Result, index, page and what the run prints say it, whatever the lab is called. No traffic flows here.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/e2e/harness/ssh_hosts.bash
. "$ROOT/tests/e2e/harness/ssh_hosts.bash"
"$H" install --lab "$LAB" > "$SCRATCH/out" 2> "$SCRATCH/err" || nok "programs are installed" "$(cat "$SCRATCH/err")"

mkdir "$SCRATCH/virtual"
stand_in_facts "$SCRATCH/virtual" virtual-guest.tree
ln "$SCRATCH/bin"/{nic-sampler,nic-config,roce-traffic} "$SCRATCH/virtual/"
jq --arg programs "$SCRATCH/virtual" '.hosts.b.programs = $programs' "$LAB" > "$SCRATCH/half.json"
jq --arg programs "$SCRATCH/virtual" '.name = "geforce-pair" | .hosts[].programs = $programs' "$LAB" > "$SCRATCH/both.json"
R=$OUT/pfc-bidir/latest
# shellcheck disable=SC2317 # called through check
holds() { [ -s "$2" ] && jq -e "$1" "$2"; }
run_on() { # WHAT LAB OPTION...: a sweep, so that there is an index; they end as incomplete, for no traffic can flow
    "$H" run pfc-bidir --set 'sweep={"flows.*.memory": ["host"]}' --set settings.mtu=1400 --set sample.every=50ms --out "$OUT" --lab "$2" "${@:3}" \
        > "$SCRATCH/out" 2> "$SCRATCH/err"
    check "$1: a result" test -s "$R/01/result.json"
}

run_on "real hosts" "$LAB" --no-report
check "... are measured" holds '.origin == "measured" and .simulated == false and all(.hosts[]; .origin == "measured" and (has("scaled") | not)) and (has("scaled") | not)' "$R/01/result.json"
check "... in the index too" holds '.origin == "measured" and all(.cells[]; .origin == "measured")' "$R/index.json"
check "... no word says else" test -z "$(grep -iE 'virtual|simulated' "$SCRATCH/out")"

run_on "two virtual NICs, in a lab with a real one's name" "$SCRATCH/both.json"
check "... are virtual, by the hosts' facts" holds '.origin == "virtual" and .simulated == false and all(.hosts[]; .origin == "virtual")' "$R/01/result.json"
check "... the line's scale is stated" holds '.scaled == {line_bps: 20000000, nominal_bps: 100000000000, scale: 5000} and ([.hosts[].scaled] | unique) == [.scaled]' "$R/01/result.json"
check "... published figures of hardware are not compared with them" holds '.published | length > 0 and all(.value == null and (.difference_percent | not))' "$R/01/result.json"
check "... the index says it" holds '.origin == "virtual" and all(.cells[]; .origin == "virtual")' "$R/index.json"
check_says "... the run says it" 'pfc-bidir, .*: incomplete \(virtual\)' "$SCRATCH/out"
check_says "... the page says it" '<span class="pill virtual">virtual</span>' "$R/report/index.html"
check_says "... and how slow the line is" 'The line carries 20 Mb/s and stands for 100 Gb/s \(1:5000\)' "$R/report/index.html"
jq 'del(.origin)' "$R/01/result.json" > "$SCRATCH/edited" && cp "$SCRATCH/edited" "$R/01/result.json"
check_exit 0 "a report of a result whose own word was taken away" "$H" report "$R/01" --out "$SCRATCH/again"
check_says "... says it still: its hosts do" '<span class="pill virtual">virtual</span>' "$SCRATCH/again/index.html"
check "... its page has no GPU memory" test -z "$(grep 'GPU memory is' "$SCRATCH/again/index.html")"
jq '.flows |= map_values(.memory_used = {kind: "gpu", route: "virtual-dmabuf"})' "$R/01/result.json" > "$SCRATCH/edited" && cp "$SCRATCH/edited" "$R/01/result.json"
check_exit 0 "a report of flows in memory that stands for a GPU's" "$H" report "$R/01" --out "$SCRATCH/gpu"
check_says "... says what that is" 'GPU memory is memory of the same model, no GPU.s\.' "$SCRATCH/gpu/index.html"
check_exit 3 "doctor" "$H" doctor --lab "$SCRATCH/both.json"
check_says "... names both" 'ok +b +virtual +data0: virtual ConnectX, not hardware \(board VCX0000000001\); its line carries 20 Mb/s' "$SCRATCH/out"

run_on "one of each" "$SCRATCH/half.json"
check "... is mixed, and each host has its own word" holds '.origin == "mixed" and .hosts.a.origin == "measured" and .hosts.b.origin == "virtual" and (.hosts.a | has("scaled") | not)' "$R/01/result.json"
check_says "... the run says it" 'pfc-bidir, .*: incomplete \(partly virtual\)' "$SCRATCH/out"
check_says "... the page says it" '<span class="pill mixed">partly virtual</span>' "$R/report/index.html"

close_hosts
finish
