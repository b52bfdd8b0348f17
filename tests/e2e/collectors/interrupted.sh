#!/usr/bin/env bash
# shellcheck disable=SC2317  # functions are called by name
# Netlink dumps during which the kernel's list changed (interrupted.c): they are asked for again, and a sample or a command that got no
# whole one says so.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/../lib.sh"

if [ "${1:-}" != --inside ]; then
    if ! unshare --net true 2>/dev/null; then
        skip "interrupted dumps" no-namespaces
        finish
    fi
    trap - EXIT
    rm -rf "$SCRATCH"
    exec unshare --net --fork --kill-child "$0" --inside
fi
if skip_reason sanitized "$BUILD/nic-config" >/dev/null; then
    skip "interrupted dumps" sanitized "$BUILD/nic-config" && finish
elif ! has_compiler; then
    skip "interrupted dumps" no-compiler && finish
fi
check "the library is built" compile_preload "$SCRATCH/interrupted.so" "$(dirname "$0")/interrupted.c"
interrupted() { INTERRUPTED=$1 LD_PRELOAD=$SCRATCH/interrupted.so "${@:2}"; } # TIMES COMMAND...
ip link add data0 type veth peer name data1
ip link set data1 up
ip link set data0 up
for n in 1 2 3; do ip addr add 192.0.2.$n/24 dev data0; done
tc qdisc add dev data0 root pfifo
mkdir "$SCRATCH/root"

config() { interrupted "$1" "$BUILD/nic-config" get --root "$SCRATCH/root" data0; }
config 0 >"$SCRATCH/whole"
check "all addresses are read" test "$(jq -c .interfaces.data0.addresses "$SCRATCH/whole" | grep -o 192.0.2 | wc -l)" = 3
config 3 >"$SCRATCH/again"
check "nic-config asks again after an interrupted dump" diff "$SCRATCH/whole" "$SCRATCH/again"
check_exit 0 "... and names what it could not read when none is whole" config 1000000
check_says "... with the reason" '"addresses": "what the kernel lists changed during each of 20 readings' "$SCRATCH/out"

sampled() { interrupted "$1" "$BUILD/nic-sampler" --netdev data0 --every 10ms --count 3 >"$SCRATCH/lines" 2>"$SCRATCH/err"; }
columns() { jq -c 'select(type == "object" and .type == "header") | [.columns[].name | select(startswith("qdisc_"))]' "$SCRATCH/lines"; }
sampled 0
columns >"$SCRATCH/whole"
check "qdiscs are columns" grep -q qdisc_pfifo_bytes "$SCRATCH/whole"
sampled 2
columns >"$SCRATCH/again"
check "nic-sampler asks again when it opens a source" diff "$SCRATCH/whole" "$SCRATCH/again"
opened() { jq -es '(first | [.columns[].name] | index("qdisc_pfifo_bytes")) as $i | [.[] | select(type == "array") | .[$i + 2]] | '"$1" "$SCRATCH/lines"; }
check "... and its samples have values" opened 'length == 3 and all(. != null)'
WHOLE=1 sampled 1000000
check "samples without a whole dump have none" opened 'length == 3 and all(. == null)'

# ---- more qdiscs than the sampler reads
ip link add many0 numtxqueues 300 type veth peer name many1
ip link set many0 up
{
    echo 'qdisc add dev many0 root handle 1: mq'
    for n in $(seq 300); do printf 'qdisc add dev many0 parent 1:%x pfifo\n' "$n"; done
} >"$SCRATCH/batch"
check "qdiscs are made" tc -batch "$SCRATCH/batch"
"$BUILD/nic-sampler" --netdev many0 --every 10ms --count 1 >"$SCRATCH/lines" 2>"$SCRATCH/err"
check_says "a warning says that not all qdiscs are read" 'many0 has more than 256 qdiscs: only the first are read' "$SCRATCH/err"
finish
