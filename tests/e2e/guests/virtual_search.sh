#!/bin/bash
# `harness search` for what makes a lossless link lose frames, between guests whose virtual ConnectX have two faults: pauses of b are lost, and so is
# a request of a's reads. No traffic as it is written meets one; the search finds both within 40 runs, and says which traffic does.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/e2e/guests/softlab.bash
. "$(dirname "$0")/softlab.bash"
softlab_require "$0" "$@"
H=$BUILD/harness
softlab_module "guests with a virtual ConnectX"
softlab_begin virtual-pair
jq '.hosts.b.gpu.write = "1Mb/s"' "$ROOT/labs/virtual-pair.json" > "$SCRATCH/slow.json" # slower than any line here, also on a busy machine
cat > "$SCRATCH/lost.json" << 'END'
{ "schema": 1, "name": "lost", "roles": ["a", "b"], "phases": { "warmup": "0", "measure": "1500ms", "cooldown": "0" }, "settings": { "pfc": [0] },
  "flows": [ { "name": "f", "from": "a", "to": "b", "message": "16KiB", "depth": 4 } ],
  "inject": [ { "link": ["b", "a"], "packet": "pfc", "do": "drop", "every": 1 }, { "link": ["a", "b"], "packet": "read-request", "do": "drop", "nth": 3 } ],
  "sample": { "every": "500ms", "groups": ["pfc", "drops"] },
  "search": {
    "over": { "flows.f.op": ["write", "send", "read"], "flows.f.memory": ["host", "gpu"], "flows.f.message": ["4KiB", "16KiB", "64KiB", "128KiB"],
              "flows.f.queue_pairs": [1, 2], "flows.f.validate": [false, true] },
    "find": "total(*.packet_seq_err) > 0", "led_by": ["total(*.tx_prio0_pause)"], "findings": 2, "reduce": false, "runs": 40, "at_once": 4, "seeds": 1 } }
END
in_force() { softlab_ssh "$1" nic-config get roce0 < /dev/null | jq -S .interfaces; }
for host in a b; do in_force $host > "$SCRATCH/$host.before"; done
# shellcheck disable=SC2317 # called through check
is_as_before() { in_force "$1" | diff "$SCRATCH/$1.before" -; }
check_exit 0 "a search of at most 40 runs" "$H" search "$SCRATCH/lost.json" --lab "$SCRATCH/slow.json" --out "$SCRATCH/results" --no-report
sed 's/^/# /' "$SCRATCH/out"
FOLDER=$SCRATCH/results/lost/latest
# shellcheck disable=SC2317 # called through check
found() { jq -e "$1" "$FOLDER/search.json"; }
check "reads are one kind, by themselves" found '[.findings[].features] | any(. == {"flows.f.op": "read"})'
check "a GPU's slow memory is another, with messages that are large enough" \
    found '[.findings[].features | select(.["flows.f.memory"] == "gpu" and .["flows.f.op"] != "read")] | length > 0'
check "what has nothing to do with them is not named" found '[.findings[].features | keys[]] | index("flows.f.validate") == null'
check "each is a scenario that fails, and passes as it was written" \
    jq -es 'all(.complete and .expectation.verdict == "failed" and (.sentence | test("It passes with ")))' "$FOLDER"/finding-*/finding.json
check "each was made by its fault" jq -es '[.[].injected[] | select(.injected > 0) | .packet] | unique == ["pfc", "read-request"]' "$FOLDER"/finding-*/result/result.json
check "settings stayed between runs" jq -e '.a.kept' "$FOLDER"/known-1/2*/settings.json
# shellcheck disable=SC2016 # the guest expands it
for host in a b; do
    check "$host has its own again" is_as_before $host
    check "... and no fault" softlab_ssh $host '[ ! -e /run/harness-virtual-faults ] && [ -z "$(cat /sys/kernel/debug/virtual-connectx/0/fault)" ]' < /dev/null
done
finish
