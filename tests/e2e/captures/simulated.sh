#!/bin/bash
# harness verify over captures of every simulated scenario: nothing is found but deadlocks that are there, and each checker has something to
# judge in some of them. With settings that the run did not have, that is found.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/../lib.sh"
H=$BUILD/harness
cd "$BUILD" || exit 2

capture() { # SCENARIO [OPTION...]: short runs, the beginning of each in a file
    shorten_cells "scenarios/$1.json"
    "$H" run "scenarios/$1.json" --duration 2ms "${CELLS[@]}" --set 'capture={"limit": "5MB"}' --no-report --yes --jobs 2 --out "$SCRATCH/results" "${@:2}" >"$SCRATCH/out.log" 2>&1
}
# The settings that runs had, as far as their scenarios and labs state them, with an expression over them: a document for each run, in lines.
settings() { # JQ RESULT...
    jq -c '((.lab.defaults.host.nic // {}) as $nic
        | {schema: 1, recovery: [if $nic.adaptive_retransmission or ($nic.model // "" | test("^connectx-[5-7]$")) then "adaptive-retransmission" else empty end,
              if $nic.recovery == "selective-repeat" then "selective-repeat" else empty end, if $nic.out_of_order_placement then "out-of-order-placement" else empty end], settings: ((.scenario.settings // {}) | del(.cable, .ecn_threshold) | .dcqcn.np.min_time_between_cnps //= 4
            | .ecn //= [] | .dcqcn.np.cnp_dscp //= 48 | .dcqcn.np.cnp_802p_prio //= 6 | .trust //= "pcp")}
        + (.lab.defaults.host.nic.ack_timeout // ([.lab.hosts[]?.nic.ack_timeout?] | first) | if . then {ack_timeout: .} else {} end)
        + {cnp_pacing: (.lab.defaults.host.nic.cnp_pacing // "queue-pair")}
        + {nak_again: ($nic.nak_again // if $nic.model == "connectx-5" then "800us" else "0us" end)}
        + {unmarked_cnps: (($nic.unmarked_cnps // (if $nic.model == "connectx-5" then "loss" else "never" end)) != "never")}
        + {ecn_thresholds: [.capture.ecn_thresholds[]? | {interfaces, kmin: "\(.kmin_bytes)B"}]}) | '"$1" "${@:2}"
}

# What may be found: of a run in a deadlock, this deadlock.
expected() { # VERDICT FOLDER
    jq -n --slurpfile verdict "$1" --slurpfile result "$2/result.json" '[$verdict[0].checks[].findings[].kind] == [$result[0].deadlocks // [] | .[] | "deadlock"]' | grep -qx true
}

mkdir "$SCRATCH/verdicts"
mapfile -t simulated < <(jq -r 'select(.lab) | input_filename' scenarios/*.json) # the others are for real hosts alone
for scenario in "${simulated[@]}"; do
    name=${scenario#*/}
    name=${name%.json}
    [ "$name" != silicon-checks ] || continue # many cells, and in some nic.nak_again has NAKs twice, which is a finding
    capture "$name"
    mapfile -t files < <(find "$SCRATCH/results/$name" -name capture.pcapng)
    check "$name: captures are judged" test ${#files[@]} -gt 0
    mapfile -t stated < <(settings . "${files[@]/%capture.pcapng/result.json}")
    for i in "${!files[@]}"; do
        echo "${stated[i]}" >"$SCRATCH/settings.json"
        "$H" verify "${files[i]}" --settings "$SCRATCH/settings.json" --json >"$SCRATCH/verdicts/$name.$i" 2>"$SCRATCH/err"
        status=$?
        [ "$status" = 0 ] || [ "$status" = 4 ] || expected "$SCRATCH/verdicts/$name.$i" "${files[i]%/*}" ||
            nok "$name: nothing is found" "$(cat "$SCRATCH/err"; jq -c '.checks[] | select(.count > 0)' "$SCRATCH/verdicts/$name.$i" | head -c 3000)"
    done
done
jq -r '(input_filename | split("/")[-1] | split(".")[0]) as $name | .checks[] | (select(.open) | "open \($name) \(.check) \(.open)"), (select(.verdict == "ok") | "judged \(.check)"),
    (select(.check == "ecn") | "queues \(.reason)")' "$SCRATCH"/verdicts/* >"$SCRATCH/lines"
for kind in open judged queues; do sed -n "s/^$kind //p" "$SCRATCH/lines" >"$SCRATCH/$kind"; done
check "all that is seen can be judged with the run's settings, but for marks at the ends of a capture and a silent peer" \
    test -z "$(grep -v -e ' ecn whether the queue was above the threshold for ' -e '^silicon-timeout go-back-n when and to which PSN ' "$SCRATCH/open")"
check "marks are held against their queues in some" grep -q '[1-9][0-9]* marks against a queue' "$SCRATCH/queues"
for checker in go-back-n cnp dcqcn pfc ecn icrc; do
    check "$checker has something to judge in some of them" grep -qx "$checker" "$SCRATCH/judged"
done

# ---- a deadlock: the same ports as the simulator's, which knows the buffers, and the same time
run=$SCRATCH/results/pfc-deadlock/latest/01
check_exit 1 "pfc-deadlock: a ring of ports is found" "$H" verify "$run/capture.pcapng" pfc --json
check "... once" jq -e '[.checks[].findings[] | .kind, .count] == ["deadlock", 1]' "$SCRATCH/out"
check "... with the ports that the result has" test "$(jq -r '.checks[0].findings[0].packets[0].text' "$SCRATCH/out" | grep -o 's[0-9]:[0-9]' | sort -u | xargs)" = \
    "$(jq -r '.deadlocks[0].ports[]' "$run/result.json" | sort -u | xargs)"
since() { jq '.checks[0].findings[0].packets[0] | .time_ns / 1000 - (.text | capture("since (?<us>[0-9.]+) us before").us | tonumber)' "$SCRATCH/out"; }
check "... since the same time" test "$(since | xargs printf %.0f)" = "$(jq '.deadlocks[0] | .since_ns / 1000' "$run/result.json" | xargs printf %.0f)"
settings . "$SCRATCH/results/pfc-deadlock/latest/02/result.json" >"$SCRATCH/settings.json"
check_exit 0 "... not in the run with two priorities" "$H" verify "$SCRATCH/results/pfc-deadlock/latest/02/capture.pcapng" pfc --settings "$SCRATCH/settings.json"
ln -s "$SCRATCH/results/pfc-deadlock/latest/02/capture.pcapng" "$SCRATCH/alone.pcapng"
check_exit 4 "... where it is not known which priorities may be paused that is not ok" "$H" verify "$SCRATCH/alone.pcapng" pfc

# ---- settings that the run did not have
differs() { # SCENARIO JQ CHECKER PATTERN
    local file
    file=$(find "$SCRATCH/results/$1" -name capture.pcapng | sort | head -n 1)
    settings "$2" "${file%/*}/result.json" >"$SCRATCH/settings.json"
    check_exit 1 "$1: other settings are found by $3" "$H" verify "$file" "$3" --settings "$SCRATCH/settings.json"
    check_says "... with the packet" "packet [0-9]+ at .*$4" "$SCRATCH/out"
}
differs incast-dcqcn '.settings.dcqcn.np.min_time_between_cnps = 50' cnp 'min_time_between_cnps is 50.000 us'
differs incast-dcqcn '.settings.dcqcn.np.cnp_dscp = 46' cnp 'DSCP 48, expected cnp_dscp 46'
differs incast-dcqcn '.settings.dcqcn.rp = {rpg_gd: 10, rpg_min_dec_fac: 1, rpg_time_reset: 100000, rpg_byte_reset: 0}' dcqcn 'bytes more than the rate machine allows'
differs incast-dcqcn '.ecn_thresholds[].kmin = "1500KB"' ecn 'the queue marks above 1500000'
differs incast-pfc '.settings.pfc = [4]' pfc 'pauses priority 3, which is not lossless'
differs incast-pfc '.storm = "1us"' pfc 'has been paused for'
differs incast-pfc '.paused_share = 0.1 | .paused_window = "500us"' pfc 'paused_share is 10.0 %'
differs incast-pfc '.pauses_per_s = 10 | .paused_window = "500us"' pfc 'pauses_per_s is 10'
rm -r "$SCRATCH/results/link-flap"
capture link-flap --duration 4ms --set 'capture={"limit": "20MB"}'
differs link-flap '.ack_timeout = "100ms"' go-back-n 'without a NAK; the time-out is 100000.000 us'
file=$(find "$SCRATCH/results/link-flap" -name capture.pcapng | sort | head -n 1)
settings '.ack_timeout = "100ms" | .times = false' "${file%/*}/result.json" >"$SCRATCH/settings.json"
check_exit 0 "... but not where the times of a capture are not those of the wire" "$H" verify "$file" go-back-n --settings "$SCRATCH/settings.json"
check_says "... which is said" 'not judged: +times of [0-9]+ packets: none is of the wire' "$SCRATCH/out"
differs incast-pfc '.settings.ecn = [3]' ecn 'DCQCN is on for its priority'
finish
