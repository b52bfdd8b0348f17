# shellcheck shell=bash
# Did nic-sampler keep its deadlines? Other work on the machine takes the processor away, so each try has a witness (witness.c): more
# samples left out than twice what it explains are nic-sampler's own fault, fewer say nothing. Source it after lib.sh:
#
#   pace_witness                        builds $SCRATCH/witness; false if there is no compiler
#   pace_begin EVERY_NS
#   pace_try LINES WITNESS              of a run `witness EVERY_NS WITNESS nic-sampler ... > LINES`; true when nothing was left out
#   pace_verdict "what"                 ok, nok or skip: by all tries since pace_begin, with their figures
#   timed_rounds ROUNDS COMMAND...      prints a script for a shell, in which programs show that they work before they are timed
#   children_us TIMES ROUNDS            CPU time of a round in microseconds, from what that script printed
#   pace_accounted LINES WITNESS        every deadline that passed was a sample or an overrun, and none drifted

PACE_HERE=$(dirname "${BASH_SOURCE[0]}")

pace_witness() { compile -o "$SCRATCH/witness" "$PACE_HERE/witness.c"; }

pace_begin() {
    PACE_EVERY=$1
    PACE_CLEAN=
    PACE_OWN=0 # tries with overruns that nothing but nic-sampler explains
    PACE_STORY=
    PACE_MISSED=0 # deadlines that the witness explains
}

pace_try() {
    local overruns samples away missed
    if ! read -r samples overruns < <(tail -n 1 "$1" | jq -r 'select(.type == "end") | "\(.samples) \(.overruns)"') || ! read -r away missed < <(jq -r '"\(.worst_ns) \(.missed)"' "$2"); then
        PACE_STORY="${PACE_STORY:+$PACE_STORY; }it did not run to its end"
        PACE_OWN=2
        return 1
    fi
    PACE_STORY="${PACE_STORY:+$PACE_STORY; }$overruns of $((samples + overruns)) left out where the witness explains $missed, the processor away for up to $((away / 1000)) us"
    PACE_MISSED=$((PACE_MISSED + missed))
    if [ "$overruns" = 0 ]; then
        PACE_CLEAN=1
        return 0
    fi
    [ "$overruns" -le $((2 * missed)) ] || PACE_OWN=$((PACE_OWN + 1))
    return 1
}

pace_verdict() {
    if [ -n "$PACE_CLEAN" ]; then
        ok "$1"
    elif [ "$PACE_OWN" -ge 2 ]; then
        nok "$1" "$PACE_STORY"
    else
        skip "$1" busy "$PACE_MISSED" "$PACE_STORY"
    fi
}

# shellcheck disable=SC2016 # the shell that runs the script expands it
# Each command must succeed and print something, else the script says which one did not, and how it failed. Then ROUNDS of all of them, that
# first one included, and `times`.
timed_rounds() {
    local rounds=$1 command
    shift
    for command in "$@"; do
        printf 'said=$(%s 2>&1) && [ -n "$said" ] || { printf "%%s\\n" %q": ${said:-it prints nothing}" | head -n 1 >&2; exit 1; }\n' "$command" "$command"
    done
    printf 'for round in $(seq %d); do\n' $((rounds - 1))
    printf '%s\n' "$@"
    printf 'done >/dev/null\ntimes\n'
}

children_us() { tail -n 1 "$1" | awk -v n="$2" '{for (i = 1; i <= 2; i++) {split($i, t, /[ms]/); sum += t[1] * 60 + t[2]} printf "%d", sum / n * 1e6}'; }

# From the first sample to the last, as many intervals passed as deadlines were served or counted as overruns, to less than one
# interval and the time for which the processor was away: each error that adds up shows.
pace_accounted() {
    jq -e -s --argjson every "$PACE_EVERY" --argjson away "$(jq .worst_ns "$2")" '.[-1] as $stop | [.[] | arrays | .[0]] |
        (.[-1] - .[0] - ($stop.samples + $stop.overruns - 1) * $every) | fabs < $every + $away' "$1"
}
