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
finish
