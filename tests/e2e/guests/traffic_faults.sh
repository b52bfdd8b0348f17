#!/bin/bash
# roce-traffic when things go wrong, between two guests with Soft-RoCE: links, ports, packets and processes really fail.
# shellcheck disable=SC2016 # what is quoted is for the guests' shells
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/e2e/lib.sh
. "$here/../lib.sh"
# shellcheck source=tests/e2e/guests/softlab.bash
. "$here/softlab.bash"
softlab_require "$0" "$@"
# shellcheck source=tests/e2e/guests/traffic.bash
. "$here/traffic.bash"

# Start a driver on a in the background, and wait until it has sent: /tmp/drive.out has its lines.
start_drive() { # ARGUMENTS
    softlab_ssh a "rm -f /tmp/drive.*; (exec roce-traffic drive -i 200ms --ack-timeout 21 $* >/tmp/drive.out 2>/tmp/drive.err </dev/null &)" </dev/null
    await_messages 0
}

# Wait for an interval line with messages in it after the first $1 lines.
await_messages() {
    softlab_ssh a "for i in \$(seq 600); do
        tail -n +$(($1 + 1)) /tmp/drive.out | grep -qE '\"interval\".*\"messages\":[1-9]' && exit 0
        sleep 0.1
    done; exit 1" </dev/null
}

# Wait until the shell condition $2 holds on host $1; prints the milliseconds. Fails after some 60 s.
until_holds() {
    softlab_ssh "$1" "s=\$(date +%s%N); for i in \$(seq 1200); do $2 && break; sleep 0.05; done; echo \$(((\$(date +%s%N) - s) / 1000000)); $2" </dev/null
}

dead_peer() {
    local how took
    for how in tcp rdma; do
        start_drive "10.0.0.2 -c $how -s 4KiB -b"
        softlab_ssh b 'pkill -9 -x roce-traffic' </dev/null
        took=$(until_holds a '! pgrep -x roce-traffic >/dev/null')
        echo "# the driver ended after $took ms"
        softlab_ssh a 'cat /tmp/drive.out' </dev/null >"$SCRATCH/out"
        if grep -q '"status":"PEER".*the other side (10.0.0.2).* has disconnected' "$SCRATCH/out" &&
            [ "$(summaries flow .complete)" = false ]; then
            ok "kill -9 of the server over $how: the driver says so"
        else
            nok "kill -9 of the server over $how" "$took ms: $(shown)"
        fi
        serve 10.0.0.2
        start_drive "10.0.0.2 -c $how -s 4KiB -b"
        softlab_ssh a 'pkill -9 -x roce-traffic' </dev/null
        took=$(until_holds b 'grep -q session-end /tmp/serve.out')
        echo "# the server knew after $took ms"
        softlab_ssh b 'cat /tmp/serve.out' </dev/null >"$SCRATCH/out"
        if grep -q '"status":"PEER".*the other side (10.0.0.1).* has disconnected' "$SCRATCH/out"; then
            ok "kill -9 of the driver over $how: the server says so"
        else
            nok "kill -9 of the driver over $how" "$took ms: $(shown)"
        fi
        drive "-c $how -s 1KiB -n 3"
        check "and the server serves the next driver" test $? = 0
    done
}

link_down_and_up() {
    local lines
    # the control connection goes over the management network, so only RDMA meets the broken link
    start_drive "198.51.100.12 --address 10.0.0.1 -s 1KiB --peer-timeout 60s"
    softlab_ssh b 'ip link set data0 down; sleep 1; ip link set data0 up' </dev/null
    lines=$(softlab_ssh a 'wc -l </tmp/drive.out' </dev/null)
    # the first interval after may still hold messages of before
    if await_messages $((lines + 1)); then
        ok "a link that goes down and comes up: traffic continues"
    else
        softlab_ssh a 'cat /tmp/drive.out' </dev/null >"$SCRATCH/out"
        nok "a link that goes down and comes up: traffic continues" "$(shown)"
    fi
    softlab_ssh a 'pkill -INT -x roce-traffic; while pgrep -x roce-traffic >/dev/null; do sleep 0.1; done; cat /tmp/drive.out' </dev/null >"$SCRATCH/out"
    check "and ends without an error" test "$(summaries flow '"\(.complete) \(.errors)"')" = "true 0"
    softlab_ssh b 'ip link set data0 down' </dev/null
    softlab_ssh a "roce-traffic drive 198.51.100.12 --address 10.0.0.1 -n 1" >"$SCRATCH/out" 2>"$SCRATCH/err" </dev/null
    check "a port that is down at the start ends the driver with 3" test $? = 3
    check_says "and is named, from the other side" 'the other side \(198.51.100.12\).*rxe0 port 1 down' "$SCRATCH/err"
    softlab_ssh b 'ip link set data0 up' </dev/null
    softlab_ssh a 'for i in $(seq 50); do ping -c1 -W1 10.0.0.2 >/dev/null && break; done' </dev/null
}

failures_explained() {
    drive '-s 1KiB -o send --rnr-retries 0 --receive-depth 1 -n 500'
    check "a receiver that is not ready ends with 3" test $? = 3
    check_says "RNR: the status by name and what helps" 'IBV_WC_RNR_RETRY_EXC_ERR.*more receive buffers.*--receive-depth' "$SCRATCH/out"
    softlab_ssh b 'modprobe -a cls_flower sch_ingress act_gact; tc qdisc add dev data0 clsact' </dev/null
    start_drive '10.0.0.2 -s 1KiB --retries 2 --ack-timeout 12'
    softlab_ssh b 'tc filter add dev data0 ingress protocol ip pref 1 flower ip_proto udp dst_port 4791 action drop' </dev/null
    until_holds a '! pgrep -x roce-traffic >/dev/null' >/dev/null
    softlab_ssh a 'cat /tmp/drive.out' </dev/null >"$SCRATCH/out"
    check_says "retries exceeded: the status by name and what to look at" 'IBV_WC_RETRY_EXC_ERR.*no acknowledgement after all retries' "$SCRATCH/out"
    softlab_ssh b 'tc qdisc del dev data0 clsact' </dev/null
    drive '--gid-index 999 -n 1'
    check_says "a wrong GID index is named" 'no active port with a suitable GID|no RDMA device has an active port with a suitable GID.*index 999' "$SCRATCH/err"
    drive '--address 192.0.2.9 -n 1'
    check_says "an address that is no GID here is named" 'address 192.0.2.9.*rxe0 port 1 active' "$SCRATCH/err"
    drive '--mtu 4096 -n 1'
    check_says "a path MTU above the active one is named" 'path MTU mismatch: 4096 bytes are requested, but device rxe0 on this host has 1024' "$SCRATCH/err"
    drive '-m gpu -n 1'
    check "GPU memory where there is no GPU ends with 3, never on host memory" test $? = 3
    check_says "and every route says why" 'rm-dmabuf: no NVIDIA driver.*cuda-dmabuf: no CUDA driver.*cuda-peermem: .*cuda-nv503c: ' "$SCRATCH/err"
    drive '--peer-memory gpu -n 1'
    check_says "the server's too" 'the other side \(10.0.0.2\): no route to GPU memory works' "$SCRATCH/err"
    drive '--rate 1Gb/s --pacing hardware -n 1'
    check_says "pacing in hardware is refused where there is none" 'rxe0 cannot pace' "$SCRATCH/err"
}

told_to_stop() {
    softlab_ssh a 'rm -f /tmp/drive.*; roce-traffic drive 10.0.0.2 -s 1KiB -i 200ms >/tmp/drive.out 2>/tmp/drive.err </dev/null & pid=$!
        for i in $(seq 600); do grep -qs "interval.*\"messages\":[1-9]" /tmp/drive.out && break; sleep 0.1; done
        kill -INT $pid; wait $pid; echo $?' </dev/null >"$SCRATCH/code"
    softlab_ssh a 'cat /tmp/drive.out' </dev/null >"$SCRATCH/out"
    if [ "$(cat "$SCRATCH/code") $(summaries flow '.complete and .messages > 0')" = "0 true" ]; then
        ok "until told: SIGINT ends with the summary and 0"
    else
        nok "until told: SIGINT ends with the summary and 0" "$(cat "$SCRATCH/code") $(shown)"
    fi
    softlab_ssh a 'rm -f /tmp/drive.*
        (for i in $(seq 600); do grep -qs interval /tmp/drive.out && break; sleep 0.1; done) |
            roce-traffic drive 10.0.0.2 -s 1KiB -i 200ms -D 600s --while-stdin >/tmp/drive.out; echo $?' </dev/null >"$SCRATCH/code"
    softlab_ssh a 'cat /tmp/drive.out' </dev/null >"$SCRATCH/out"
    if [ "$(cat "$SCRATCH/code") $(summaries flow .complete)" = "130 false" ]; then
        ok "a closed standard input ends a run early, with 130 and a summary marked incomplete"
    else
        nok "a closed standard input ends a run early" "$(cat "$SCRATCH/code") $(shown)"
    fi
}

failures_explained
told_to_stop
link_down_and_up
dead_peer
nothing_left_behind
softlab_ssh b 'pkill -INT -x roce-traffic; while pgrep -x roce-traffic >/dev/null; do sleep 0.1; done; tail -n 1 /tmp/serve.out' </dev/null >"$SCRATCH/out"
check_says "SIGINT ends the server with its last line" '"type":"end".*"reason":"signal"' "$SCRATCH/out"
finish
