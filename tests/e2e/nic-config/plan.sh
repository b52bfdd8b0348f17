#!/bin/bash
# What nic-config plan says when there is nothing that it could have planned.
# shellcheck disable=SC2317 # functions are called by name
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/../lib.sh"
skip_unless "plans of nothing" jq

plan() { "$BUILD/nic-config" --journal "$SCRATCH/journal" plan "$@"; }
unknown() { check "$1" jq -e '.ok == false and (has("thresholds") or has("changes") | not) and (.error | length > 10)' "$SCRATCH/out"; }

check_exit 2 "a document that is not there" plan "$SCRATCH/none.json"
unknown "no thresholds are printed of a document that is not there"
check_says "the error is for people too" 'none.json' "$SCRATCH/err"
echo '{"schema": 1, "interfaces": {"harness-none": {"mtu": 4200}}}' >"$SCRATCH/other.json"
check_exit 3 "an interface that is not there" plan "$SCRATCH/other.json"
unknown "no thresholds are printed of an interface that is not there"
echo '{"schema": 1, "interfaces": {"lo": {"mtu": 65536}}}' >"$SCRATCH/lo.json"
check_exit 0 "an interface without lossless buffers" plan "$SCRATCH/lo.json"
check "has no thresholds" jq -e '.thresholds == {} and .changes == []' "$SCRATCH/out"
check "and nothing is said" test ! -s "$SCRATCH/err"
echo '{"schema": 1, "interfaces": {}}' >"$SCRATCH/empty.json"
check_exit 0 "a document of no interface" plan "$SCRATCH/empty.json"
check_says "is named" 'names no interface' "$SCRATCH/err"
check_exit 2 "settle has no journal" "$BUILD/nic-config" settle --journal "$SCRATCH/journal" lo
check_says "... and says so" 'unknown option --journal' "$SCRATCH/err"
check_exit 0 "settle waits for a link" "$BUILD/nic-config" settle lo
check "... and counts its changes" jq -e '.ok and .carrier_changes.lo == 0' "$SCRATCH/out"

# ---- a bond has no settings of a port: its ports have them, each; the interfaces are this machine's, what sysfs says of them is laid out
bond=$SCRATCH/tree/sys/class/net
mkdir -p "$bond/lo/bonding" "$bond/eth8" "$bond/eth9"
echo 'eth8 eth9' >"$bond/lo/bonding/slaves"
echo '{"schema": 1, "interfaces": {"lo": {"pfc": [3]}}}' >"$SCRATCH/pfc.json"
for option in '' --skip-missing; do
    # shellcheck disable=SC2086 # no option is no word
    check_exit 3 "PFC of a bond $option" plan --root "$SCRATCH/tree" $option "$SCRATCH/pfc.json"
    check_says "... is refused, and its ports are named" 'lo: pfc cannot be set: it is a bond upon eth8, eth9, and pfc is a setting of each of them: name all in the document' "$SCRATCH/err"
done
check_exit 0 "its MTU is its own" plan --root "$SCRATCH/tree" "$SCRATCH/lo.json"
check_exit 0 "what it is" "$BUILD/nic-config" --journal "$SCRATCH/journal" get --root "$SCRATCH/tree" lo
check "... is told with its ports" jq -e '.facts.lo | .kind == "bond" and .lower == ["eth8", "eth9"]' "$SCRATCH/out"
rm -r "$bond/lo/bonding"
mkdir "$bond/lo/lower_eth8"
check_exit 0 "what an interface upon another does not have is left out" plan --root "$SCRATCH/tree" --skip-missing "$SCRATCH/pfc.json"
check "... with the one that has it" jq -e '.skipped | map(.why) == ["it is upon eth8, and pfc is a setting of that: name it in the document"]' "$SCRATCH/out"
finish
