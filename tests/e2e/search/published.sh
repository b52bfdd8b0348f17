#!/usr/bin/env bash
# `harness search` on a published trade-off: HPCC (SIGCOMM 2019), figures 2 and 3. Simulated.
# shellcheck disable=SC2016 # what is quoted is for jq
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/../lib.sh"
cd "$SCRATCH" || exit 2
PATH=$BUILD:$PATH
check_exit 0 "scenarios/tune-timers.json" harness search "$ROOT/scenarios/tune-timers.json" --quiet
A=results/tune-timers/latest/search.json
known() { jq ".known[] | select(.known == \"$1\").objectives[\"$2\"].mean" "$A"; }
less() { # what, a smaller number, a larger one
    check "$1: $2 and $3" test "$(jq -n "$2 < $3")" = true
}
less "aggressive timers end large flows sooner" "$(known 'timers 55/50' 'large flows')" "$(known 'as written' 'large flows')"
less "conservative ones later" "$(known 'as written' 'large flows')" "$(known 'timers 900/4' 'large flows')"
less "aggressive timers pause more" "$(known 'as written' pauses)" "$(known 'timers 55/50' pauses)"
less "low thresholds pause less" "$(known 'thresholds 100/400' pauses)" "$(known 'as written' pauses)"
less "and end large flows later" "$(known 'as written' 'large flows')" "$(known 'thresholds 100/400' 'large flows')"
check "the front is this trade-off: three settings or more" jq -e '.front | length >= 3' "$A"
check "of which the fastest pauses twice as long as the slowest, or longer" jq -e '.front | first.objectives.pauses.mean > 2 * last.objectives.pauses.mean' "$A"
check "each setting on it is slower than the one before, and pauses less" \
    jq -e '[.front[].objectives | [.["large flows"].mean, .pauses.mean]] | . as $f | all(range(1; length); $f[.][0] > $f[. - 1][0] and $f[.][1] < $f[. - 1][1])' "$A"
check "timers matter for large flows" jq -e '[.importance[] | select(.path == "settings.dcqcn.rp.rpg_time_reset" and .objective == "large flows")] | any(.told)' "$A"
finish
