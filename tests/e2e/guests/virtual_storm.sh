#!/bin/bash
# scenarios/pfc-storm-victim.json on the guests of virtual-switch, as it is: a host pauses its switch from 5 s to 14 s after the beginning of
# the warm-up; what another host sends to a third stands too, unless a watchdog discards. Times are those of the samples, which a busy
# machine does not move; rates are compared between the two runs.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/e2e/guests/softlab.bash
. "$(dirname "$0")/softlab.bash"
# shellcheck source=tests/e2e/guests/switched.bash
. "$(dirname "$0")/switched.bash"
softlab_require "$0" "$@"

softlab_module "a storm of pauses"
softlab_begin virtual-switch
run_both pfc-storm-victim virtual-switch

# shellcheck disable=SC2317 # called through check
# Samples of h16 as "BEGIN END PAUSES": when the counters were read, in milliseconds from the beginning of the warm-up.
pauses() { # RUN
    jq -r --slurpfile result "$run/$1/result.json" -n '
        $result[0].phases[0].start_ns as $zero
        | reduce inputs as $line ({};
            if ($line | type) == "object" then
                if $line.type == "header" and $line.host == "h16" then .at = ($line.columns | map(.name) | index("tx_prio3_pause")) else . end
            elif $line[0] == "h16" then .rows += [[(($line[1] - $zero) / 1e6 | floor), (($line[1] + $line[2] - $zero) / 1e6 | ceil), $line[3 + .at]]] else . end)
        | .rows[] | "\(.[0]) \(.[1]) \(.[2])"' "$run/$1/samples.jsonl"
}
# 10 ms are for the error with which the guest's clock is known.
# shellcheck disable=SC2317 # called through check
begins_in_time() { # RUN
    pauses "$1" | awk '{ print } NR == 1 { base = $3 } $1 > 0 && $2 < 4990 && $3 == base { quiet++ } $3 > base && $2 < 4990 { early++ } $3 > base && $1 > 5000 { late++ }
        END { exit !(quiet > 0 && early == 0 && late > 0) }'
}

for cell in 01 02; do
    name=$([ $cell = 01 ] && echo "without a watchdog" || echo "with a watchdog")
    check "$name: the run is complete, and virtual" cell_holds '.complete and .origin == "virtual"' $cell
    # what is of the other cell is skipped
    check "... its expectations are decided" cell_holds "[.expectations[] | select(.verdict != \"skipped\")] | length == $((10#$cell + 1))" $cell
    check "... h16 pauses from 5 s on, not before" begins_in_time $cell
    check "... for nine seconds" cell_holds '.hosts.h16.counters.tx_prio3_pause_duration.total | . > 8000000 and . < 9100000' $cell
    check "... which the switch counts" cell_holds '.hosts.s0.counters.port2_rx_prio3_pause.total == .hosts.h16.counters.tx_prio3_pause.total' $cell
    check "... no flow has errors" cell_holds '[.flows[].errors] | add == 0' $cell
done
check "without a watchdog the switch pauses the sender of both flows" cell_holds '.hosts.s0.counters.port0_tx_prio3_pause.total > 0 and .hosts.h0.counters.rx_prio3_pause_duration.delta > 5000000' 01
check "... and discards nothing" cell_holds '.hosts.s0.counters.watchdog_storms.total == 0 and .hosts.s0.counters.watchdog_discards.total == 0' 01
check "the watchdog finds the storm, and discards" cell_holds '.hosts.s0.counters.watchdog_storms.total > 0 and .hosts.s0.counters.watchdog_discards.total > 0' 02
victim() { jq '.flows.victim.bytes // 0' "$run/$1/result.json"; }
check "with it the victim sends at least twice as much ($(victim 02) bytes, $(victim 01) without)" test "$(victim 02)" -gt $((2 * $(victim 01)))
check "explain: the host that pauses is the cause ($(caused_by 01))" test "$(caused_by 01)" = "storm h16"
finish
