# shellcheck shell=bash
# What the tests of roce-traffic between the guests of the soft pair share; source it after softlab.bash.

# shellcheck disable=SC2317 # called at the end
clean_up() {
    local host
    for host in a b; do
        softlab_ssh "$host" 'pkill -9 roce-traffic; tc qdisc del dev data0 clsact; ip link set data0 up
            sysctl -qw net.ipv6.conf.data0.disable_ipv6=1' >/dev/null 2>&1 </dev/null
    done
}

# Start the server on b with the RDMA address $1, and wait for its "ready" line.
serve() {
    softlab_ssh b "rm -f /tmp/serve.*; (exec roce-traffic serve --listen :: --address $1 >/tmp/serve.out 2>/tmp/serve.err </dev/null &)
        for i in \$(seq 100); do grep -qs '\"what\":\"ready\"' /tmp/serve.out && break; sleep 0.1; done" </dev/null
}

# Drive from a; lines to $SCRATCH/out, messages to $SCRATCH/err, the exit code is drive's. An acknowledgement has 8 s: a guest that
# waits for a processor is late with it, and Linux 6.1's Soft-RoCE may number packets wrongly when it sends again (completion error 9).
SERVER=10.0.0.2
drive() {
    softlab_ssh a "roce-traffic drive $SERVER --ack-timeout 21 --peer-timeout 60s $*" >"$SCRATCH/out" 2>"$SCRATCH/err" </dev/null
}

# A field of the summaries, a line each: summaries FLOW EXPRESSION
summaries() { jq -r "select(.type == \"summary\" and .flow == \"$1\") | $2" "$SCRATCH/out"; }

shown() { tail -n 3 "$SCRATCH/out" "$SCRATCH/err" | cut -c1-300; }

nothing_left_behind() {
    local host left
    for host in a b; do
        # the device's own pair for management (GSI) shows that the list is one
        left=$(softlab_ssh "$host" 'rdma resource show qp; rdma resource show mr; rdma resource show cq' </dev/null |
            awk '/type GSI/ { gsi = 1 } /comm roce-traffic/ { left++ } END { print gsi + 0 "/" left + 0 }')
        check "no queue pair, registration or completion queue of roce-traffic is left on $host" test "$left" = 1/0
    done
}

softlab_begin soft-pair
at_exit clean_up
softlab_mtu 1500 a b || nok "the links have an MTU of 1500"
at_exit softlab_mtu 4200 a b
softlab_put a "$BUILD/roce-traffic"
softlab_put b "$BUILD/roce-traffic"
serve 10.0.0.2
