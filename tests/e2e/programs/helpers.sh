#!/bin/bash
# The helpers of tests themselves: what lib.sh prints, and how a test ends, when checks pass, fail, are left out, or are not there.
# shellcheck disable=SC2016 # what is quoted is for the test in the test
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/../lib.sh"

# A test of its own, from standard input: its lines are in $SCRATCH/lines, its status in $status.
try() {
    { echo ". $ROOT/tests/e2e/lib.sh" && cat; } > "$SCRATCH/test.sh"
    env -u STOP_AT_FAILURE "$@" bash "$SCRATCH/test.sh" > "$SCRATCH/lines" 2> "$SCRATCH/errors"
    status=$?
}
# shellcheck disable=SC2317 # called through check
is() { diff <(grep -v '^#' "$SCRATCH/lines") -; }

try <<< 'check "holds" true; check "holds too" test 1 = 1; finish'
check "checks that pass are numbered, and the plan counts them" is <<< $'ok 1 - holds\nok 2 - holds too\n1..2'
check "... the test has passed" test "$status" = 0

try <<< 'check "holds" true; check "does not" sh -c "echo why; exit 3"; check "goes on" true; finish'
check "a check that fails is said, and the test goes on" is <<< $'ok 1 - holds\nnot ok 2 - does not\nok 3 - goes on\n1..3'
check "... with the command's output" grep -q 'why' "$SCRATCH/lines"
check "... the test has failed" test "$status" = 1

try STOP_AT_FAILURE=1 <<< 'check "does not" false; check "is not reached" true; finish'
check "with STOP_AT_FAILURE it ends there" is <<< 'not ok 1 - does not'
check "... and has failed" test "$status" = 1

try <<< 'check "no such command" no-such-command-here; finish'
check "a command that is not there fails" is <<< $'not ok 1 - no such command\n1..1'

try <<< 'check_exit 3 "as expected" sh -c "exit 3"; check_exit 0 "not" sh -c "exit 3"; finish'
check "an exit code is compared" is <<< $'ok 1 - as expected\nnot ok 2 - not\n1..2'

try <<< 'echo words > "$SCRATCH/said"; check_says "has it" "^wor" "$SCRATCH/said"; check_says "has not" "^ords" "$SCRATCH/said"; check_says "is not there" x "$SCRATCH/none"; finish'
check "a pattern is looked for" is <<< $'ok 1 - has it\nnot ok 2 - has not\nnot ok 3 - is not there\n1..3'

try <<< 'skip "left out" no-command no-such-command-here; skip "not for this" no-command sh; finish'
check "a check is left out for a reason that holds, else it fails" grep -qE '^ok 1 - left out # SKIP .' "$SCRATCH/lines"
check "... one that does not hold" grep -q '^not ok 2 - not for this' "$SCRATCH/lines"

try <<< 'skip_unless "needs it" no-such-command-here; check "is not reached" false; finish'
check "a test is left out as a whole" grep -qE '^ok 1 - needs it # SKIP .' "$SCRATCH/lines"
check "... without what follows" test "$(grep -c '^not ok' "$SCRATCH/lines")" = 0

# ---- other programs, with which ours are compared
# shellcheck source=tests/e2e/collectors/pace.bash
. "$ROOT/tests/e2e/collectors/pace.bash"
timed() { timed_rounds 2 "$@" | bash > "$SCRATCH/times" 2> "$SCRATCH/why"; }
check "programs that work are timed" timed "echo words" "seq 3"
check "... together" test "$(children_us "$SCRATCH/times" 2)" -ge 0
for broken in no-such-command-here "sh -c 'echo words; exit 3'" true; do
    if timed "echo words" "$broken"; then nok "$broken is not timed" "$(cat "$SCRATCH/times")"; else ok "$broken is not timed"; fi
    if grep -qF "$broken: " "$SCRATCH/why" && [ ! -s "$SCRATCH/times" ]; then ok "... and is named"; else nok "... and is named" "$(cat "$SCRATCH/why")"; fi
done

try <<< 'finish'
check "a test that made no check has failed" test "$status" = 1

try <<< 'at_exit echo last; at_exit echo first; echo "$SCRATCH" > '"$SCRATCH"'/of; check "holds" true; kill $$; sleep 5'
check "what is to be run at the end is, the last first, also after a signal" is <<< $'ok 1 - holds\nfirst\nlast'
check "... with the signal's status" test "$status" = 143
check "... the scratch folder is gone" test ! -e "$(cat "$SCRATCH/of")"
finish
