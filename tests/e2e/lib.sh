# shellcheck shell=bash
# Helpers for end-to-end tests: source this first. A test prints TAP, works in $SCRATCH, and leaves nothing behind.
#   ok "what holds"                    a passed check          nok "what should hold" ["why"]   a failed one
#   skip "what" "why"                  a check that cannot be made here
#   check "what" COMMAND ARG...        passes when the command succeeds; its output is shown when it does not
#   check_exit CODE "what" COMMAND...  passes on that exit code; output is kept in $SCRATCH/out and $SCRATCH/err
#   check_says "what" PATTERN FILE     passes when the extended regular expression is found in FILE
#   at_exit COMMAND ARG...             run when the test ends, however it ends (last first)
#   finish                             the plan line; the test's last command
set -uo pipefail

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
BUILD=${BUILD:-$ROOT/build}
SCRATCH=$(mktemp -d "${TMPDIR:-/tmp}/harness-test.XXXXXX")
TAP_COUNT=0
TAP_FAILED=0
AT_EXIT=()
export ROOT BUILD SCRATCH
# Tests never see the user's own configuration or choice of lab.
export XDG_CONFIG_HOME=$SCRATCH/config XDG_STATE_HOME=$SCRATCH/state
unset HARNESS_LAB

run_at_exit() {
    local status=$? i
    for ((i = ${#AT_EXIT[@]} - 1; i >= 0; i--)); do
        eval "${AT_EXIT[i]}" || true
    done
    rm -rf "$SCRATCH"
    exit "$status"
}
trap run_at_exit EXIT
trap 'exit 143' TERM
trap 'exit 130' INT

at_exit() { AT_EXIT+=("$(printf '%q ' "$@")"); }

ok() {
    TAP_COUNT=$((TAP_COUNT + 1))
    echo "ok $TAP_COUNT - $1"
}

nok() {
    TAP_COUNT=$((TAP_COUNT + 1))
    TAP_FAILED=$((TAP_FAILED + 1))
    echo "not ok $TAP_COUNT - $1"
    [ -z "${2:-}" ] || printf '%s\n' "$2" | tail -n 25 | sed 's/^/#   /'
}

skip() {
    TAP_COUNT=$((TAP_COUNT + 1))
    echo "ok $TAP_COUNT - $1 # SKIP $2"
}

check() {
    local what=$1 output
    shift
    if output=$("$@" 2>&1); then ok "$what"; else nok "$what" "$* -> $? : $output"; fi
}

check_exit() {
    local wanted=$1 what=$2 code
    shift 2
    "$@" >"$SCRATCH/out" 2>"$SCRATCH/err"
    code=$?
    if [ "$code" = "$wanted" ]; then
        ok "$what"
    else
        nok "$what" "exit code $code, expected $wanted: $*
$(tail -n 10 "$SCRATCH/out" "$SCRATCH/err")"
    fi
}

check_says() {
    local what=$1 pattern=$2 file=$3
    if grep -qE -- "$pattern" "$file"; then ok "$what"; else nok "$what" "no /$pattern/ in: $(tail -n 15 "$file")"; fi
}

finish() {
    echo "1..$TAP_COUNT"
    exit $((TAP_FAILED > 0))
}
