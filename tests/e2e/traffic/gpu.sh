#!/bin/bash
# The routes to GPU memory on a real GPU: each is tried, what the driver answers is shown, and a pattern must survive where
# memory could be had. Skipped, by name, where there is no GPU. A NIC is not needed; where there is one, registration counts too.
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/e2e/lib.sh
. "$here/../lib.sh"
traffic=$BUILD/roce-traffic

if ! [ -e /dev/nvidia0 ]; then
    skip "routes to GPU memory: rm-dmabuf, cuda-dmabuf, cuda-peermem, rm-peermem, cuda-nv503c" no-gpu
    finish
fi

"$traffic" routes --output json >"$SCRATCH/out" 2>"$SCRATCH/err"
code=$?
jq -r '"# \(.what) \(.route // ""): \(.text)"' "$SCRATCH/out"
route() { jq -r "select(.route == \"$1\") | .$2" "$SCRATCH/out"; }

check "at least one route works" test $code = 0
for name in rm-dmabuf cuda-dmabuf cuda-peermem rm-peermem cuda-nv503c; do
    if [ "$(route $name allocated)" = true ]; then
        # memory that was had must hold a pattern, whatever the driver says of the rest
        check "$name: memory is taken, a pattern written and checked, a flipped byte found" test "$(route $name pattern)" = true
    elif [ -n "$(route $name error)" ]; then
        skip "$name: memory on this GPU" gpu "$(route $name error)"
    else
        nok "$name: says why it does not work" "$(cat "$SCRATCH/out")"
    fi
    case $(route $name registered) in
    true) ok "$name: registered with the NIC" ;;
    false) skip "$name: registered with the NIC" gpu "$(route $name error)" ;;
    *) skip "$name: registered with the NIC" no-rdma-device ;;
    esac
done
# libcuda is there: then at least plain CUDA memory must work, or our use of it is wrong
if ldconfig -p | grep -q libcuda.so.1; then
    check "with a CUDA driver, CUDA memory holds a pattern" test "$(route cuda-peermem pattern)" = true
fi
finish
