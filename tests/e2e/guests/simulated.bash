# shellcheck shell=bash
# A scenario on guests with virtual ConnectX beside the same in the simulator, whose lab is made from the guests': the same line, buffers and
# thresholds, with all times divided by the line's scale. Source it after softlab.bash, and set H, OUT and SCALE (nominal over line).
# Labs are $SCRATCH/virtual.json and $SCRATCH/simulated.json, figures $SCRATCH/virtual.figures and $SCRATCH/simulated.figures.

GUESTS_WAIT_MOST=60 # per cent

# The simulator's lab: an unhurried PCIe and memory, except for the rate of writes; a switch that marks what joins its queue, as the module's.
# shellcheck disable=SC2153 # SCALE is the test's
simulated_lab() {
    jq --argjson scale "$SCALE" '
        def nominal: capture("^(?<n>[0-9.]+)(?<unit>[kM])b/s$") | "\((.n | tonumber) * {k: 1e3, M: 1e6}[.unit] * $scale)b/s";
        def shorter: capture("^(?<n>[0-9.]+)(?<unit>m?s)$") | "\((.n | tonumber) * {ms: 1e6, s: 1e9}[.unit] / $scale)ns";
        {schema, name: "same-numbers", driver: "sim",
         scaled: (.scaled | with_entries(if .key | test("^(phases\\.|sample\\.every)") then .value |= shorter else . end)),
         hosts: (.hosts | with_entries(select(.value.switch | not)) | map_values({nic: {},
             pcie: {generation: 5, lanes: 16, latency: "0", max_payload: "4096B", max_read_request: "4096B", completion: "4096B",
                    posted_header_credits: 1, posted_data_credits: 256},
             gpu: {read: "40Tb/s", write: (if .gpu.write then .gpu.write | nominal else "40Tb/s" end)}})),
         switches: (.hosts | map_values(.switch | select(.)) | map_values(. + {reserve: "0", ecn: (.ecn + {at: "enqueue"})})),
         links: [.links[] | {between, length, rate: (.rate | nominal)}]}' "$SCRATCH/virtual.json" > "$SCRATCH/simulated.json"
}

# shellcheck disable=SC2317 # called through check
holds() { [ -s "$2" ] && jq -e "$1" "$2"; }
# How long the guests' threads have run, and have waited for a processor of this machine: two sums in ns.
guests_ran() {
    local task
    for task in /proc/[0-9]*/task/*; do
        case $(readlink "${task%/task/*}/exe") in */qemu-system-*) cat "$task/schedstat" ;; esac
    done 2> /dev/null | awk '{ ran += $1; waited += $2 } END { printf "%.0f %.0f\n", ran, waited }'
}

# A run; what it exits with is not judged: expectations of its scenario are about other numbers. For guests, $SCRATCH/virtual.waited has the share of the
# time, in per cent, that they wanted a processor and had none.
side() { # NAME LAB SCENARIO OPTION...
    local before
    before=$(guests_ran)
    "$H" run "$ROOT/scenarios/$3.json" --lab "$SCRATCH/$2.json" --out "$OUT/$1" --no-report "${@:4}" > "$SCRATCH/$1.out" 2>&1
    echo "$before $(guests_ran)" | awk '{ ran = $3 - $1; waited = $4 - $2; print (ran + waited > 0 ? int(100 * waited / (ran + waited)) : 0) }' > "$SCRATCH/$2.waited"
    check "$1: the run is complete" holds .complete "$OUT/$1/$3/latest/result.json"
}

# Figures of a side, by a filter that knows $scale and, in $seconds of the guests' time, how long was measured; of several results the mean.
figures() { # simulated|virtual FILTER RESULT...
    local scale=1
    [ "$1" = virtual ] || scale=$SCALE
    jq -s --argjson scale "$scale" 'map(((.phases[] | select(.name == "measure") | (.end_ns - .start_ns) / 1e9 * $scale) as $seconds | '"$2"') + {simulated})
        | . as $all | .[0] | with_entries(.key as $k | if .value | type == "number" then .value = ([$all[][$k]] | add / length) else . end)' \
        "${@:3}" > "$SCRATCH/$1.figures"
}
# shellcheck disable=SC2016  # these are jq's variables
beside() { # FILTER: a check of both sides' figures, $s and $v
    jq -ne --slurpfile simulated "$SCRATCH/simulated.figures" --slurpfile virtual "$SCRATCH/virtual.figures" \
        --arg name "${2:-}" --argjson most "${3:-0}" '$simulated[0] as $s | $virtual[0] as $v | '"$1"
}
# shellcheck disable=SC2016
show_both() {
    beside '$s | to_entries[] | select(.value | type == "number") | .key | select($s[.] > 0)
        | "# \(.): simulated \($s[.]), virtual \($v[.]), \((100 * ($v[.] / $s[.] - 1)) | round) %"' | jq -r .
    echo "# the guests waited $(cat "$SCRATCH/virtual.waited") % of the time for a processor of this machine"
    check "one is simulated, the other is not" beside '$s.simulated and ($v.simulated | not)'
}
# shellcheck disable=SC2016
agree() { # FIGURE PER-CENT: they differ by less; where they do not, the guests must have had their processors
    local waited what="$1: within $2 % of the simulator's"
    waited=$(cat "$SCRATCH/virtual.waited")
    # shellcheck disable=SC2016
    set -- '$s[$name] > 0 and ($v[$name] / $s[$name] - 1 | fabs) * 100 < $most' "$@"
    if [ "$waited" -gt "$GUESTS_WAIT_MOST" ] && ! beside "$@" > /dev/null; then
        skip "$what" busy "$((waited - GUESTS_WAIT_MOST))" "its guests waited $waited % of the time for a processor"
    else
        check "$what" beside "$@"
    fi
}
