#!/usr/bin/env bash
# On a full disk every program ends without success, names the file and the reason, and changes nothing that it could not put back.
# The disks are tmpfs of a few KiB in a mount namespace.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/../lib.sh"
if [ "${1:-}" != --inside ]; then
    if ! unshare --net --mount true 2>/dev/null; then
        skip "full disks" no-namespaces
        finish
    fi
    trap - EXIT
    rm -rf "$SCRATCH"
    exec unshare --net --mount --fork --kill-child "$0" --inside
fi
cd "$SCRATCH" || exit 2
H=$BUILD/harness
FULL='No space left on device'
mkdir small
small() { # SIZE
    umount small 2>/dev/null
    mount -t tmpfs -o "size=$1" tmpfs small
}
at_exit umount small

# ---- a run: where the disk is full depends on its size
reasons=
for size in 4k 40k 128k 512k 1m; do
    small $size
    "$H" run "$ROOT/scenarios/incast-pfc.json" --duration 1ms --no-report --out small >out 2>err
    code=$?
    reasons+=" $(sed -nE 's,.*writing small/.*/([a-z.]+): '"$FULL"'.*,\1,p' err | head -n 1)"
    [ "$code" = 3 ] || nok "a run on a disk of $size fails" "exit $code: $(cat err)"
    left=$(find small -name '.*' ! -path small)
    [ -z "$left" ] || nok "a run on a disk of $size leaves nothing in the making" "$left"
    for lines in small/*/*/*.jsonl; do
        [ ! -s "$lines" ] || [ -z "$(tail -c 1 "$lines")" ] || nok "a run on a disk of $size keeps whole lines" "$lines"
    done
done
if [ "$(wc -w <<<"$reasons")" = 5 ] && [[ $reasons == *result.json* && $reasons == *samples.jsonl* ]]; then
    ok "runs on disks of 4 KiB to 1 MiB name the file and the reason"
else
    nok "runs on disks of 4 KiB to 1 MiB name the file and the reason" "$reasons"
fi

# ---- a limit on the size of files: the samples reach it, and the result does not
(ulimit -f 100 && "$H" run "$ROOT/scenarios/incast-pfc.json" --duration 1ms --set sample.every=5us --no-report --out limited) >out 2>err
result=$(readlink -f limited/incast-pfc/latest)
check_says "samples that grow beyond a limit make a run incomplete" 'samples.jsonl: File too large' err
check "its result lists its files as they are" diff <(jq -r '.files[] | "\(.name) \(.bytes)"' "$result/result.json") \
    <(cd "$result" && stat -c '%n %s' [!r]* run.log | LC_ALL=C sort)
check "and none of them ends within a line" test -z "$(tail -qc 1 "$result"/*.jsonl | tr -d '\n')"

# ---- a capture: what was written before are whole blocks
small 3m
check_exit 3 "a run with a capture on a disk of 3 MiB fails" "$H" run "$ROOT/scenarios/incast-pfc.json" --duration 1ms --no-report --out small --set 'capture={"snap": "64KiB"}'
check_says "and says why" "writing small/.*/capture.pcapng: $FULL" "$SCRATCH/err"
if command -v tshark >/dev/null; then
    check "what is there can be read" tshark -r small/*/*/capture.pcapng -q -z io,stat,0
else
    skip "what is there can be read" no-command tshark
fi

# ---- a report
check_exit 0 "a run" "$H" run "$ROOT/scenarios/incast-pfc.json" --duration 1ms --no-report --out good
result=$(readlink -f good/incast-pfc/latest)
bad=
for size in 4k 64k 256k 400k; do
    small $size
    "$H" report "$result" --out small/report >out 2>err
    code=$?
    [ "$code" = 2 ] && grep -q "$FULL" err && [ -z "$(find small -type f)" ] && continue
    bad+="$size: exit $code: $(cat err) $(find small -type f); "
done
if [ -z "$bad" ]; then ok "a report on disks of 4 to 400 KiB is whole or not there"; else nok "a report on disks of 4 to 400 KiB is whole or not there" "$bad"; fi
small 8m
check_exit 0 "a report on a disk with room" "$H" report "$result" --out small/report

# ---- standard output
full_output() { # PROGRAM ARGUMENT...
    small 4k
    head -c 4096 /dev/zero >small/zeros 2>/dev/null
    "$@" >small/out 2>err
    local code=$?
    if [ "$code" != 0 ] && grep -qE "standard output.*$FULL" err; then
        ok "$(basename "$1") ${2:-}: its output does not fit"
    else
        nok "$(basename "$1") ${2:-}: its output does not fit" "exit $code: $(cat err)"
    fi
}
full_output "$BUILD/host-facts"
full_output "$BUILD/nic-sampler" --netdev lo --every 1ms --count 3
full_output "$BUILD/nic-config" get lo --journal "$SCRATCH/journal"
full_output "$H" list --json
full_output "$H" run "$ROOT/scenarios/incast-pfc.json" --duration 1ms --no-report --json --out good
full_output "$BUILD/roce-traffic" help drive
full_output "$BUILD/virt-provision" help rebuild

# ---- settings: the journal comes before the change
ip link add mlx0 type veth peer name mlx1
echo '{ "schema": 1, "interfaces": { "mlx0": { "mtu": 1400 } } }' >settings.json
small 4k
head -c 4096 /dev/zero >small/zeros 2>/dev/null
check_exit 3 "settings with no room for the journal" "$BUILD/nic-config" set settings.json --journal small/journal
check_says "the sentence names the journal and the reason" "journal small/journal.*$FULL" err
if ip link show mlx0 | grep -q 'mtu 1500 '; then ok "nothing is changed"; else nok "nothing is changed" "$(ip link show mlx0)"; fi
finish
