#!/bin/bash
# Traffic patterns over verbs between two guests: all-to-all with its sum, a flow that starts and stops within the window, and one
# that ends by its size. (Who sends to whom in each pattern: tests/e2e/harness/patterns.sh.)
# shellcheck disable=SC2016 # what is quoted is for jq
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/e2e/guests/softlab.bash
. "$(dirname "$0")/softlab.bash"
softlab_require "$0" "$@"
softlab_begin soft-pair
H=$BUILD/harness
OUT=$SCRATCH/results
cat > "$SCRATCH/patterns.json" << 'SCENARIO'
{ "schema": 1, "name": "patterns", "roles": ["a", "b"], "phases": {"warmup": "500ms", "measure": "4s", "cooldown": "0"},
  "flows": [ { "name": "later", "from": "a", "to": "b", "op": "send", "message": "4KiB", "depth": 4, "start": "1500ms", "stop": "3s" } ],
  "traffic": [ { "name": "all", "pattern": "all-to-all", "from": ["a", "b"], "message": "4KiB", "depth": 8 },
               { "name": "some", "pattern": "incast", "from": ["b"], "to": ["a"], "size": "16KiB", "count": 3, "start": "1s" } ],
  "sample": {"every": "100ms", "groups": ["throughput"]},
  "expect": [ { "name": "each sends", "check": "min(flows.all/*.bytes) > 0" } ] }
SCENARIO
check_exit 0 "patterns between two guests" "$H" run "$SCRATCH/patterns.json" --lab "$ROOT/labs/soft-pair.json" --out "$OUT" --no-report
R=$OUT/patterns/latest/result.json
# shellcheck disable=SC2317 # called through check
holds() { [ -s "$2" ] && jq -e "$1" "$2"; }
check "every flow ended well" holds '[.flows[] | select(.complete and .errors == 0)] | length == 6' "$R"
check "the sum has the bytes of both directions" holds '.flows.all.bytes == .flows["all/0"].bytes + .flows["all/1"].bytes and .flows.all.bytes > 0' "$R"
check "a flow with a size sent exactly that, and says how long it took" \
    holds '.flows["some/0"] | .bytes == 3 * 16384 and .messages == 3 and .completion_ns.count == 1 and .completion_ns.max > 0' "$R"
check "its pattern counts it as finished" holds '.flows.some | .flows == {"started": 1, "finished": 1} and .completion_ns.count == 1' "$R"
START=$(jq '.phases[0].start_ns' "$R")
later() { jq -s --argjson start "$START" "map(select(.type == \"interval\" and .flow == \"later\")) | $1" "$OUT/patterns/latest/flows.jsonl"; }
# an interval that ended before the start shows nothing; the window begins 500 ms after the common start
check "a flow that starts later sends nothing before" \
    test "$(later '[.[] | select(.time_ns <= $start + 1500000000) | .messages] | length > 0 and add == 0')" = true
check "... sends then" test "$(later '[.[].messages] | add > 0')" = true
check "... and nothing after its stop" test "$(later 'last | .messages == 0 and .time_ns > $start + 4000000000')" = true
check "its figures are those of the whole window" holds '.flows.later.duration_ns >= 4000000000' "$R"
finish
